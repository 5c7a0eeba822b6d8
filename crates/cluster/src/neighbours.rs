//! The nearest neighbours of every row.

use crate::Matrix;
use crate::matrix::Dot;

/// The nearest rows of each row, the nearest first; of equally near ones, the first.
pub(crate) fn nearest(matrix: &Matrix, count: usize) -> Vec<Vec<(Dot, usize)>> {
    let mut lists = vec![Vec::with_capacity(count + 1); matrix.rows()];
    // The similarity that a row must exceed to enter a full list. Few rows do, and this array stays in the cache.
    let mut least = vec![Dot::MIN; matrix.rows()];
    for row in 1..matrix.rows() {
        for other in 0..row {
            let dot = matrix.dot(row, other);
            for (of, listed) in [(row, other), (other, row)] {
                if dot > least[of] {
                    least[of] = add(&mut lists[of], count, dot, listed);
                }
            }
        }
    }
    lists
}

/// Adds a row to a list of at most `count`, and returns the similarity that the next one must exceed. Rows are added in
/// ascending order, so an equally near row belongs behind those that are listed.
fn add(list: &mut Vec<(Dot, usize)>, count: usize, dot: Dot, row: usize) -> Dot {
    let place = list.partition_point(|(listed, _)| *listed >= dot);
    list.insert(place, (dot, row));
    list.truncate(count);
    match list.last() {
        Some((least, _)) if list.len() == count => *least,
        _ => Dot::MIN,
    }
}

/// Every row moved halfway to the weighted mean of its nearest neighbours. Rows of a theme have neighbours in
/// common, so they meet; rows between two themes move to one of them.
pub(crate) fn moved_closer(matrix: &Matrix, weights: &[f64], count: usize) -> Matrix {
    let mut moved = Matrix::new(matrix.width(), matrix.rows());
    for (row, nearest) in nearest(matrix, count).iter().enumerate() {
        let total: f64 = nearest.iter().map(|(_, other)| weights[*other]).sum();
        let mut sum: Vec<f64> = matrix.cells(row).map(|cell| f64::from(*cell)).collect();
        for (_, other) in nearest {
            let share = weights[*other] / total;
            for (sum, cell) in sum.iter_mut().zip(matrix.cells(*other)) {
                *sum += share * f64::from(*cell);
            }
        }
        moved.push(&sum);
    }
    moved
}
