//! The index in memory, without SQL and without I/O: the catalogue of passages, posting lists, BM25 over them, the
//! scan of the vectors, and the recipe that ranks documents. `store` reads and writes the rows.

pub mod bm25;
mod catalogue;
mod hit;
mod id_set;
mod kinds;
pub mod nearest;
mod passage_filter;
pub mod postings;
mod ranking;
pub mod recipe;
#[cfg(test)]
mod tests;
mod threads;

pub use catalogue::{PassageRow, Passages, SessionTable};
pub use hit::Hit;
pub use id_set::IdSet;
pub use kinds::{RecordKind, kind_of};
pub use passage_filter::PassageFilter;
pub use ranking::{Order, Ranking, Scored, added_up};
