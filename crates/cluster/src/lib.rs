//! Groups embeddings by theme: density clustering (HDBSCAN) over vectors without their common direction. Pure: it
//! knows nothing of texts, and the result does not depend on the order of its input.
//!
//! Embeddings of short texts scatter so much that themes touch each other, and HDBSCAN alone merges them into one
//! cluster. So each vector first moves towards its nearest neighbours, which separates the themes, and the clusters are
//! then checked against the original vectors (`assign`). `docs/adr/0008-own-density-clustering.md` has the figures.

mod assign;
mod density;
mod matrix;
mod neighbours;
mod points;

#[cfg(test)]
mod tests;

use matrix::Matrix;
use points::Points;

/// The smallest cluster, in vectors.
pub const CLUSTER_MIN: usize = 3;
/// How many nearest vectors, the vector itself included, determine the density at a vector (`min_samples` in
/// scikit-learn).
const DENSITY_SAMPLES: usize = 2;
/// The most neighbours that a vector moves towards.
const NEIGHBOURS_MAX: usize = 12;
/// The least share of the vectors that clusters have to contain. With fewer, or with fewer than two clusters, nothing
/// separates themes, and the whole input is tested for being one theme.
const PLACED_LEAST: f64 = 0.25;

/// A vector and how much it counts.
#[derive(Clone, Copy, Debug)]
pub struct Weighted<'a> {
    pub vector: &'a [f32],
    /// Above 0; vectors of equal weight count alike.
    pub weight: f32,
}

/// The cluster of each vector, in the order of the input; `None` is noise. Clusters are numbered from 0, the heaviest
/// first.
pub fn clusters(input: &[Weighted<'_>]) -> Vec<Option<usize>> {
    if input.len() < CLUSTER_MIN {
        return vec![None; input.len()];
    }
    let points = Points::of(input);
    let centred = points.centred();
    let count = input.len().isqrt().min(NEIGHBOURS_MAX);
    let nearer = neighbours::moved_closer(&centred, &points.weights, count);
    let found = density::clusters(&nearer, &points.weights);
    let mut labels = assign::to_nearest(&centred, &points.weights, found);
    let placed = labels.iter().flatten().count() as f64;
    let has_themes = labels.contains(&Some(1)) && placed >= PLACED_LEAST * labels.len() as f64;
    if !has_themes {
        let one = assign::as_one_theme(&points.original(), &points.weights);
        labels = one.unwrap_or(labels);
    }
    points.in_order_of_input(&labels)
}
