//! Transcripts of agents as the events that their hooks would have sent. A reader gets the lines of one file, in order,
//! and reports an [`ReadEvent`] for each thing that happened.
//!
//! Everything here is pure: other crates open files, and `agents` extracts the records. One file per agent.

mod aider;
mod claude_code;
mod codex;
mod cursor;
mod gemini_cli;
mod opencode;

use std::sync::LazyLock;

use memchr::memmem::Finder;
use model::json::Json;

pub use aider::Aider;
pub use claude_code::ClaudeCode;
pub use codex::Codex;
pub use cursor::Cursor;
pub use gemini_cli::GeminiCli;
pub use opencode::OpenCode;

/// An event as the agent's hook would have sent it.
#[derive(Debug)]
pub struct ReadEvent<'a> {
    /// The hook's name for it, for example `PostToolUse`.
    pub name: &'static str,
    pub payload: Json<'a>,
    /// When it happened, in milliseconds since 1970; `None` if the transcript does not say.
    pub at: Option<i64>,
    /// The position of an answer among those of its prompt, from 1.
    pub position: Option<u32>,
}

/// A member of the payload that no hook has: the id of the line of the event's prompt, if copies of the line keep it.
pub const PROMPT_LINE: &str = "prompt_line";

/// Facts about a session that are in the place of its file, and not in its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPlace {
    /// The working directory.
    pub cwd: Option<String>,
    /// The session that a subagent works for.
    pub parent: Option<String>,
    /// The agent's own id of the session, or the part of it that only the file's place tells.
    pub session: Option<String>,
}

/// Receives the events of a transcript.
pub type EventSink<'s> = dyn FnMut(ReadEvent<'_>) + 's;

/// Why a line was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// It is not one JSON object.
    NotJson,
    /// It lacks a member that its kind needs, or has one of another type.
    Malformed,
    /// A kind of line that no reader knows. New versions of agents bring new kinds, so it is counted and not named as a problem.
    UnknownKind,
}

/// Reads the transcript of one agent.
pub trait TranscriptReader {
    /// Reads the next line, without its line break, and reports what it completes.
    fn line(&mut self, line: &[u8], sink: &mut EventSink<'_>) -> Result<(), Unread>;

    /// Reports what can only be known at the end of the file. `is_over` says that the session does not continue, so
    /// that the last message is an answer even if nothing marks it as one.
    fn finish(&mut self, is_over: bool, sink: &mut EventSink<'_>);

    /// Whether a new reader that starts at the next line would report the same events from there on. A file that
    /// grows is read again from the last such line.
    fn can_start_here(&self, next: &[u8]) -> bool;

    /// Reads the first line of a file whose reading continues at a later line, without reporting anything.
    fn prime(&mut self, _first: &[u8]) {}

    /// Notes where the session was, as far as only the file's place tells it.
    fn place(&mut self, _place: Option<&SessionPlace>) {}

    /// The remote of the session's repository, if the file names it.
    fn remote(&self) -> Option<&str> {
        None
    }

    /// The title that the agent or the user gave to the session, if the file has one.
    fn title(&self) -> Option<&str>;
}

/// Bytes that lines are searched for. Most lines are only searched and never parsed, and for a short part of a line the
/// preparation of a search takes longer than the search.
struct LineMark(LazyLock<Finder<'static>>);

impl LineMark {
    /// The position of the first occurrence.
    fn find(&self, line: &[u8]) -> Option<usize> {
        self.0.find(line)
    }

    fn is_in(&self, line: &[u8]) -> bool {
        self.find(line).is_some()
    }
}

/// A [`LineMark`] of these bytes.
macro_rules! mark {
    ($bytes:literal) => {
        $crate::LineMark(std::sync::LazyLock::new(|| memchr::memmem::Finder::new($bytes)))
    };
}
use mark;
