//! The input in an order that depends on the vectors only, so that ties and rounding do not depend on the caller's order.

use std::cmp::Ordering;

use crate::{Matrix, Weighted};

/// The vectors, sorted.
pub(crate) struct Points<'a> {
    vectors: Vec<&'a [f32]>,
    pub(crate) weights: Vec<f64>,
    /// The place of each vector in the input.
    places: Vec<usize>,
    width: usize,
}

impl<'a> Points<'a> {
    pub(crate) fn of(input: &[Weighted<'a>]) -> Self {
        let mut places: Vec<usize> = (0..input.len()).collect();
        places.sort_by(|a, b| compared(&input[*a], &input[*b]));
        Self {
            vectors: places.iter().map(|place| input[*place].vector).collect(),
            weights: places.iter().map(|place| usable(input[*place].weight)).collect(),
            width: input.iter().map(|one| one.vector.len()).max().unwrap_or_default().max(1),
            places,
        }
    }

    /// The vectors as they are.
    pub(crate) fn original(&self) -> Matrix {
        self.minus(&vec![0.0; self.width])
    }

    /// The vectors without their mean: the direction that all texts of a project share would otherwise hide the
    /// directions of its themes. Weights do not count here, since a heavy theme would become the common direction.
    pub(crate) fn centred(&self) -> Matrix {
        let mut mean = vec![0.0; self.width];
        for vector in &self.vectors {
            for (mean, value) in mean.iter_mut().zip(self.values(vector)) {
                *mean += value / self.vectors.len() as f64;
            }
        }
        self.minus(&mean)
    }

    fn minus(&self, mean: &[f64]) -> Matrix {
        let mut matrix = Matrix::new(self.width, self.vectors.len());
        for vector in &self.vectors {
            let values: Vec<f64> =
                self.values(vector).zip(mean).map(|(value, mean)| value - mean).collect();
            matrix.push(&values);
        }
        matrix
    }

    /// The components; missing ones and those that are no number are 0.
    fn values(&self, vector: &'a [f32]) -> impl Iterator<Item = f64> + use<'a> {
        let known = vector.iter().map(|value| f64::from(*value));
        let finite = known.map(|value| if value.is_finite() { value } else { 0.0 });
        finite.chain(std::iter::repeat(0.0)).take(self.width)
    }

    /// The labels in the order of the input. Equal vectors get the label of the first of them, since their order is not
    /// defined by the vectors.
    pub(crate) fn in_order_of_input(&self, labels: &[Option<usize>]) -> Vec<Option<usize>> {
        let mut ordered = vec![None; labels.len()];
        let mut first: Option<(&[f32], Option<usize>)> = None;
        for ((vector, label), place) in self.vectors.iter().zip(labels).zip(&self.places) {
            let label = match first {
                Some((equal, label)) if equal == *vector => label,
                _ => *label,
            };
            first = Some((vector, label));
            ordered[*place] = label;
        }
        ordered
    }
}

fn compared(a: &Weighted<'_>, b: &Weighted<'_>) -> Ordering {
    let values = a.vector.iter().zip(b.vector).map(|(a, b)| a.total_cmp(b));
    let vectors = values.reduce(|sum, next| sum.then(next)).unwrap_or(Ordering::Equal);
    vectors.then(a.vector.len().cmp(&b.vector.len())).then(a.weight.total_cmp(&b.weight))
}

/// A weight above 0: a vector without one would have no place in a mean.
fn usable(weight: f32) -> f64 {
    if weight.is_finite() { f64::from(weight).max(1e-3) } else { 1.0 }
}
