//! The facts in a repository's own files: its location, its checked-out branch, its remote.
//!
//! Read in this order: `facts` (find the repository, read its head), `config` (git's format of settings), `remote`
//! (the many spellings of one URL), `tracked` (the paths in its index), `commits` (the history, from `objects`, which are
//! compressed: `inflate`). Only the files that are needed are read; nothing is run
//! and nothing is written, so that this takes microseconds where git itself would take milliseconds.

mod commits;
mod config;
mod facts;
mod inflate;
mod objects;
mod remote;
mod tracked;

#[cfg(test)]
mod tests;

pub use commits::Commit;
pub use facts::{FILE_BYTES_MAX, Facts, Head, LEVELS_MAX};
pub use remote::{REMOTE_BYTES_MAX, RepoName, normal_remote};
pub use tracked::INDEX_BYTES_MAX;
