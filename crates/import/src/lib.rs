//! Reads the files in which agents keep their sessions. No other crate opens them, and nothing here writes: no byte,
//! time or file of an agent changes.

mod aider;
mod bytes;
mod claude_code;
mod cursor;
mod file;
pub mod foreign_db;
mod gemini_cli;
mod git_log;
mod lines;
mod markdown;
mod memory_files;
mod opencode;
mod order;
mod record_report;
mod records;
mod rows;
mod sources;
mod tools;

pub use file::{FileReport, TranscriptFiles, has_event, path_hash};
pub use memory_files::MemoryPlaces;
pub use order::in_reading_order;
pub use record_report::{RecordReport, RecordSink, cursor_of};
pub use records::{RecordInput, recognise_records};
pub use rows::{Environment, Problem};
pub use sources::{
    Recognised, SOURCES, Source, Transcript, Unreadable, named, recognise, recognise_below,
};
pub use tools::{MemoryTool, is_ours};
