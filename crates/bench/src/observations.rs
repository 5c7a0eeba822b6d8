//! A generated store of observations of any size, and the measurements over it.

mod corpus;
pub(crate) mod ingest;
pub(crate) mod learning;
pub(crate) mod make;
pub(crate) mod read;
pub(crate) mod search;
pub(crate) mod transcripts;
mod words;
