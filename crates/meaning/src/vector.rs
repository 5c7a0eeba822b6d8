//! The stored embedding of a text: one byte per dimension, and the factor that normalises it.

use crate::cpu::{CpuLoop, dot, scaled};
use crate::table::DIMENSIONS;
use crate::tokens::Pieces;

/// The embedding of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector {
    cells: [i8; DIMENSIONS],
    /// One divided by the Euclidean length of the cells.
    reciprocal: f32,
}

impl Vector {
    /// Bytes of a stored vector.
    pub const BYTES: usize = DIMENSIONS + size_of::<f32>();

    /// The embedding of a text; `None` if it has no words.
    pub fn of(text: &str) -> Option<Self> {
        let sum = sum_of(text);
        let largest = sum.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        if largest == 0.0 {
            return None;
        }
        let scale = 127.0 / largest;
        Some(Self::with_cells(sum.map(|value| rounded(value * scale))))
    }

    fn with_cells(cells: [i8; DIMENSIONS]) -> Self {
        let square = dot(&cells, &cells) as f32;
        Self { cells, reciprocal: square.sqrt().recip() }
    }

    /// The components, for `scan`.
    pub fn cells(&self) -> &[i8; DIMENSIONS] {
        &self.cells
    }

    /// The factor that normalises the components, for `scan`.
    pub fn reciprocal(&self) -> f32 {
        self.reciprocal
    }

    /// The stored form: the cells, then the reciprocal as a little-endian f32.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (cells, reciprocal) = bytes.split_at_mut(DIMENSIONS);
        for (byte, cell) in cells.iter_mut().zip(self.cells) {
            *byte = cell.cast_unsigned();
        }
        reciprocal.copy_from_slice(&self.reciprocal.to_le_bytes());
        bytes
    }

    /// Parses the stored form. `None` if the length is wrong, or if the reciprocal is not a possible one: one bad row
    /// must not spoil the order of all others.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().ok()?;
        let (cells, reciprocal) = bytes.split_first_chunk::<DIMENSIONS>()?;
        let reciprocal = f32::from_le_bytes(reciprocal.try_into().ok()?);
        Self::from_parts(cells.map(u8::cast_signed), reciprocal)
    }

    /// The vector of these cells and the reciprocal of its length; `None` if that is not above 0 and at most 1.
    pub fn from_parts(cells: [i8; DIMENSIONS], reciprocal: f32) -> Option<Self> {
        (reciprocal > 0.0 && reciprocal <= 1.0).then_some(Self { cells, reciprocal })
    }
}

/// The cosine similarity of two texts: 1 for the same direction, and hardly ever below 0.
pub fn cosine(a: &Vector, b: &Vector) -> f32 {
    scaled(dot(&a.cells, &b.cells), a.reciprocal, b.reciprocal)
}

/// Writes the cosine of `query` with each of `cells` into `cosines`, with the best instructions of the CPU. The three
/// slices are parallel; the excess of a longer one is ignored. A large store is scanned in parts, so that the cosines
/// stay in the cache.
pub fn scan(query: &Vector, cells: &[[i8; DIMENSIONS]], reciprocals: &[f32], cosines: &mut [f32]) {
    CpuLoop::Scan { query, cells, reciprocals, cosines }.run();
}

/// The sum of the rows of a text's pieces.
pub(crate) fn sum_of(text: &str) -> [f32; DIMENSIONS] {
    let mut sum = [0f32; DIMENSIONS];
    CpuLoop::Sum { rows: Pieces::of(text).rows(), sum: &mut sum }.run();
    sum
}

/// The nearest whole number, for values between -127 and 127. Adding 1.5 · 2²³ leaves no bits for a fraction, so the
/// sum is rounded to a whole number, in its lowest bits.
pub(crate) fn rounded(value: f32) -> i8 {
    (value + 12_582_912.0).to_bits() as i8
}
