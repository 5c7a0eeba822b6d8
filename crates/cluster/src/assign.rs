//! Assigns the original vectors to the clusters that were found, or to one theme.

use crate::matrix::{ONE, dot, length};
use crate::{CLUSTER_MIN, Matrix};

/// The least cosine between a vector and the mean of its cluster, both without the common direction. Measured with
/// `quality/ghaps.jsonl`: at 0.25, seven of eight vectors with a theme are assigned to a cluster, and one of five
/// without a theme.
const SIMILARITY_LEAST: f64 = 0.25;
/// Passes over all vectors. The means move with the assignments, and hardly any vector moves after the third.
const PASSES: usize = 3;

/// The least mean cosine between each vector of one theme and the mean of the others. The common direction is not
/// removed here. Eight themes of `quality/ghaps.jsonl` have 0.66 to 0.76, unrelated experiences 0.57.
const ONE_THEME_LEAST: f64 = 0.6;
/// The least cosine between a member of this theme and the mean of the others.
const ONE_THEME_MEMBER_LEAST: f64 = 0.5;

/// Assigns every vector to the nearest cluster. A vector that is too far from all of them is noise, and so is a cluster
/// that becomes too small.
pub(crate) fn to_nearest(
    matrix: &Matrix,
    weights: &[f64],
    mut labels: Vec<Option<usize>>,
) -> Vec<Option<usize>> {
    labels = numbered(&labels, weights);
    for _ in 0..PASSES {
        let means = means(matrix, weights, &labels);
        let assigned: Vec<Option<usize>> = (0..matrix.rows())
            .map(|row| {
                let mut best: Option<(f64, usize)> = None;
                for (label, mean) in means.iter().enumerate() {
                    let own = (labels[row] == Some(label)).then_some(weights[row]);
                    let cosine = mean.cosine(matrix, row, own);
                    if cosine >= SIMILARITY_LEAST && best.is_none_or(|(best, _)| cosine > best) {
                        best = Some((cosine, label));
                    }
                }
                best.map(|(_, label)| label)
            })
            .collect();
        labels = numbered(&assigned, weights);
    }
    labels
}

/// One cluster of all vectors that are like the others; `None` if the vectors are not alike on average.
pub(crate) fn as_one_theme(matrix: &Matrix, weights: &[f64]) -> Option<Vec<Option<usize>>> {
    let all = vec![Some(0); matrix.rows()];
    let means = means(matrix, weights, &all);
    let cosines: Vec<f64> = (0..matrix.rows())
        .map(|row| means.first().map_or(0.0, |mean| mean.cosine(matrix, row, Some(weights[row]))))
        .collect();
    let total: f64 = weights.iter().sum();
    let sum: f64 = cosines.iter().zip(weights).map(|(cosine, weight)| cosine * weight).sum();
    let member = |cosine: &f64| (*cosine >= ONE_THEME_MEMBER_LEAST).then_some(0);
    let labels: Vec<Option<usize>> = cosines.iter().map(member).collect();
    (sum >= ONE_THEME_LEAST * total).then(|| numbered(&labels, weights))
}

/// Labels from 0, the heaviest cluster first, then the one with the first row. Small clusters become noise.
fn numbered(labels: &[Option<usize>], weights: &[f64]) -> Vec<Option<usize>> {
    let end = labels.iter().flatten().max().map_or(0, |label| label + 1);
    let mut sizes = vec![(0usize, 0.0f64, usize::MAX); end];
    for (row, label) in labels.iter().enumerate() {
        if let Some(label) = label {
            let (rows, weight, first) = &mut sizes[*label];
            *rows += 1;
            *weight += weights[row];
            *first = row.min(*first);
        }
    }
    let mut order: Vec<usize> = (0..end).filter(|label| sizes[*label].0 >= CLUSTER_MIN).collect();
    order.sort_by(|a, b| sizes[*b].1.total_cmp(&sizes[*a].1).then(sizes[*a].2.cmp(&sizes[*b].2)));
    let mut new = vec![None; end];
    for (number, label) in order.into_iter().enumerate() {
        new[label] = Some(number);
    }
    labels.iter().map(|label| label.and_then(|label| new[label])).collect()
}

/// The mean of a cluster.
struct Mean {
    /// The weighted sum of its members.
    sum: Vec<f64>,
    /// Its direction, a matrix of one row.
    direction: Matrix,
}

impl Mean {
    /// The cosine with a row. A member, which has a weight in the cluster, is compared with the mean of the others.
    fn cosine(&self, matrix: &Matrix, row: usize, weight: Option<f64>) -> f64 {
        let Some(weight) = weight else {
            return f64::from(dot(self.direction.row(0), matrix.row(row))) / ONE;
        };
        let cells = || matrix.cells(row).map(|cell| f64::from(*cell));
        let others: Vec<f64> =
            self.sum.iter().zip(cells()).map(|(sum, cell)| sum - weight * cell).collect();
        let product: f64 = others.iter().zip(cells()).map(|(other, cell)| other * cell).sum();
        let lengths = length(&others) * ONE.sqrt();
        if lengths > 1.0 { product / lengths } else { 0.0 }
    }
}

fn means(matrix: &Matrix, weights: &[f64], labels: &[Option<usize>]) -> Vec<Mean> {
    let end = labels.iter().flatten().max().map_or(0, |label| label + 1);
    let mut sums = vec![vec![0.0; matrix.width()]; end];
    for (row, label) in labels.iter().enumerate() {
        let Some(label) = label else { continue };
        for (sum, cell) in sums[*label].iter_mut().zip(matrix.cells(row)) {
            *sum += weights[row] * f64::from(*cell);
        }
    }
    let mean = |sum: Vec<f64>| {
        let mut direction = Matrix::new(matrix.width(), 1);
        direction.push(&sum);
        Mean { sum, direction }
    };
    sums.into_iter().map(mean).collect()
}
