//! What a repository's own files say: where it is, what is checked out, where it came from.
//!
//! Read in this order: `facts` (find the repository, read its head), `config` (git's notation for
//! settings), `remote` (the many spellings of one address), `tracked` (the paths in its index). Files are read, a few small ones;
//! nothing is run and nothing is written, so that asking costs microseconds where git itself would
//! take milliseconds.

mod config;
mod facts;
mod remote;
mod tracked;

#[cfg(test)]
mod tests;

pub use facts::{FILE_BYTES_MAX, Facts, Head, LEVELS_MAX};
pub use remote::{REMOTE_BYTES_MAX, RepoName, normal_remote};
pub use tracked::INDEX_BYTES_MAX;
