//! The two loops that use the CPU's best instructions, chosen at run time: the sum of a text's rows and the scan of a
//! store. Every version gives bit-identical results: dot products are integers, and a sum is added in the order of
//! the rows.

use crate::table::{self, DIMENSIONS};
use crate::vector::Vector;

/// Lanes of a sum that fit into registers together.
const LANES: usize = 64;

/// A loop to run.
pub(crate) enum CpuLoop<'a> {
    /// Adds rows of the table to `sum`.
    Sum { rows: &'a [u16], sum: &'a mut [f32; DIMENSIONS] },
    /// Writes the cosine of `query` with each of `cells`.
    Scan {
        query: &'a Vector,
        cells: &'a [[i8; DIMENSIONS]],
        reciprocals: &'a [f32],
        cosines: &'a mut [f32],
    },
}

impl CpuLoop<'_> {
    pub(crate) fn run(self) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return self.run_with_avx2();
        }
        // NEON is part of every aarch64, so there the compiler uses it for this version.
        self.run_portably();
    }

    pub(crate) fn run_portably(self) {
        match self {
            Self::Sum { rows, sum } => add_rows(rows, sum),
            Self::Scan { query, cells, reciprocals, cosines } => {
                let cosines = cosines.iter_mut().zip(cells).zip(reciprocals);
                for ((cosine, cells), reciprocal) in cosines {
                    *cosine = scaled(dot(query.cells(), cells), query.reciprocal(), *reciprocal);
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        reason = "a function compiled for newer CPUs is called from code for any CPU"
    )]
    fn run_with_avx2(self) {
        // SAFETY: the called function only requires a CPU with AVX2, and `run`, the only caller, has just checked
        // that.
        unsafe { avx2::run(self) }
    }
}

/// A cosine from the dot product of two vectors and their reciprocals.
#[inline(always)]
pub(crate) fn scaled(dot: i32, a: f32, b: f32) -> f32 {
    dot as f32 * (a * b)
}

/// The dot product of two rows of cells.
#[inline]
pub(crate) fn dot(a: &[i8; DIMENSIONS], b: &[i8; DIMENSIONS]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// Adds rows of the table to a sum. Inlined into each version.
#[inline(always)]
fn add_rows(rows: &[u16], sum: &mut [f32; DIMENSIONS]) {
    for (part, sum) in sum.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut lanes = *sum;
        for row in rows {
            let Some((scale, cells)) = table::row(*row) else { continue };
            let Some(cells) = cells.as_chunks::<LANES>().0.get(part) else { continue };
            for (lane, cell) in lanes.iter_mut().zip(cells) {
                *lane += scale * f32::from(cell.cast_signed());
            }
        }
        *sum = lanes;
    }
}

/// The versions for AVX2, which most x86-64 CPUs since 2013 have.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_set_epi64x, _mm_shuffle_epi32,
        _mm256_add_epi32, _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256,
        _mm256_madd_epi16, _mm256_setzero_si256,
    };

    use super::{CpuLoop, DIMENSIONS, add_rows, scaled};

    /// Cells that fit into a register when they are widened for a product.
    const CELLS: usize = 16;

    #[target_feature(enable = "avx2")]
    pub(super) fn run(job: CpuLoop<'_>) {
        match job {
            CpuLoop::Sum { rows, sum } => add_rows(rows, sum),
            CpuLoop::Scan { query, cells, reciprocals, cosines } => {
                let mut wide = [_mm256_setzero_si256(); DIMENSIONS / CELLS];
                for (wide, cells) in wide.iter_mut().zip(query.cells().as_chunks().0) {
                    *wide = widened(cells);
                }
                let cosines = cosines.iter_mut().zip(cells).zip(reciprocals);
                for ((cosine, cells), reciprocal) in cosines {
                    *cosine = scaled(dot(&wide, cells), query.reciprocal(), *reciprocal);
                }
            }
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn dot(query: &[__m256i; DIMENSIONS / CELLS], cells: &[i8; DIMENSIONS]) -> i32 {
        let mut sums = _mm256_setzero_si256();
        for (query, cells) in query.iter().zip(cells.as_chunks().0) {
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(*query, widened(cells)));
        }
        let four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
        let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
        _mm_cvtsi128_si32(one)
    }

    /// Sixteen cells as i16. The compiler makes a single load of it.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn widened(cells: &[i8; CELLS]) -> __m256i {
        let bytes = u128::from_le_bytes(cells.map(i8::cast_unsigned));
        _mm256_cvtepi8_epi16(_mm_set_epi64x((bytes >> 64) as i64, bytes as i64))
    }
}
