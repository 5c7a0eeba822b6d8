//! Vectors of equal length as fixed-point numbers: a cosine is a sum of integers, so it is exact, and equal in any
//! order. The compiler uses the CPU's multiply-add of 16-bit numbers for it.

/// The length of a stored vector. Its square fits into 32 bits, and so does every dot product.
const LENGTH: f64 = 16_384.0;

/// A cosine of 1 as a dot product.
pub(crate) const ONE: f64 = LENGTH * LENGTH;

/// The dot product of two rows, `ONE` times their cosine.
pub(crate) type Dot = i32;

/// Cells that are multiplied at a time. A row is padded with zeros to whole lanes.
pub(crate) type Lanes = [i16; 32];

/// Normalised rows.
pub(crate) struct Matrix {
    width: usize,
    /// Lanes of a row.
    stride: usize,
    lanes: Vec<Lanes>,
}

impl Matrix {
    pub(crate) fn new(width: usize, rows: usize) -> Self {
        let stride = width.div_ceil(size_of::<Lanes>() / size_of::<i16>()).max(1);
        Self { width, stride, lanes: Vec::with_capacity(stride * rows) }
    }

    /// Adds a vector, normalised. A vector without a direction becomes zeros, which are similar to nothing.
    pub(crate) fn push(&mut self, vector: &[f64]) {
        debug_assert_eq!(vector.len(), self.width, "rows have equal lengths");
        let length = length(vector);
        let scale = if length > 1e-9 { LENGTH / length } else { 0.0 };
        let start = self.lanes.len();
        self.lanes.resize(start + self.stride, [0; _]);
        let cells = self.lanes[start..].as_flattened_mut();
        for (cell, value) in cells.iter_mut().zip(vector) {
            *cell = (value * scale).round() as i16;
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.lanes.len() / self.stride
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn row(&self, at: usize) -> &[Lanes] {
        &self.lanes[at * self.stride..][..self.stride]
    }

    /// The cells of a row, without padding.
    pub(crate) fn cells(&self, at: usize) -> impl Iterator<Item = &i16> {
        self.row(at).as_flattened().iter().take(self.width)
    }

    pub(crate) fn dot(&self, a: usize, b: usize) -> Dot {
        dot(self.row(a), self.row(b))
    }
}

pub(crate) fn dot(a: &[Lanes], b: &[Lanes]) -> Dot {
    let lanes = a.iter().zip(b);
    lanes
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<Dot>())
        .sum()
}

/// The Euclidean length.
pub(crate) fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}
