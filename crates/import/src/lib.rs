//! Reads the files in which agents keep their sessions. No other crate opens them, and nothing here writes: no byte,
//! time or file of an agent changes.

mod bytes;
mod file;
pub mod foreign_db;
mod gemini_cli;
mod lines;
mod opencode;
mod sources;

pub use file::{FileReport, Problem, TranscriptFiles, path_hash};
pub use sources::{Environment, SOURCES, Source, Transcript, named, recognise, recognise_below};
