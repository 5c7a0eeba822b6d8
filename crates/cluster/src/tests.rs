//! The tests of clustering: the quality set and generated vectors.

mod quality;
mod synthetic;

use crate::{Weighted, clusters};

/// Clusters vectors that all have the same weight.
fn clusters_of(vectors: &[Vec<f32>]) -> Vec<Option<usize>> {
    let input: Vec<Weighted<'_>> =
        vectors.iter().map(|vector| Weighted { vector, weight: 1.0 }).collect();
    clusters(&input)
}

/// Clusters that contain a vector.
fn count(labels: &[Option<usize>]) -> usize {
    labels.iter().flatten().max().map_or(0, |label| label + 1)
}

/// Vectors in a cluster.
fn placed(labels: &[Option<usize>]) -> usize {
    labels.iter().flatten().count()
}
