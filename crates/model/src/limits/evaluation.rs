//! Limits of the evaluation of search.

use super::SEARCH_CANDIDATES;

/// Hits per question that are evaluated: all candidates of a search.
pub const EVAL_HITS: usize = SEARCH_CANDIDATES;
/// Documents that are written in one batch.
pub const EVAL_BATCH_DOCUMENTS: usize = 4_000;
/// A batch is also written once its texts have this many bytes.
pub const EVAL_BATCH_BYTES: usize = 8 * 1024 * 1024;
/// Bootstrap resamples of the questions for a confidence interval.
pub const EVAL_RESAMPLES: usize = 1_000;
