//! Sessions that are not one file: rows of a database, or several small files.

use std::io;
use std::path::{Path, PathBuf};

use crate::foreign_db::{DbProblem, ForeignDb};

/// Returns an environment variable.
pub type Environment<'e> = dyn Fn(&str) -> Option<String> + 'e;

/// Why a line was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    NotJson,
    Malformed,
    TooLong,
    /// The agent's hook would not have sent such an event.
    Refused,
    /// The file could not be read.
    Unreadable,
}

impl Problem {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Problem::NotJson => "not JSON",
            Problem::Malformed => "a member is missing or has another type",
            Problem::TooLong => "longer than 64 MiB",
            Problem::Refused => "no valid event",
            Problem::Unreadable => "a file could not be read",
        }
    }
}

/// Hands over the rows of a session that is kept in several files.
pub(crate) type FileRows = fn(&Path, &mut RowSink<'_>) -> io::Result<()>;

/// Receives the rows of a session as JSON, or the reason why one was skipped.
pub(crate) type RowSink<'s> = dyn FnMut(Result<&[u8], Problem>) + 's;

/// Sessions in a database.
pub(crate) struct RowSource {
    pub(crate) databases: fn(&Environment<'_>) -> Vec<PathBuf>,
    /// The tables by which such a database is recognised.
    pub(crate) tables: &'static [&'static str],
    pub(crate) sessions: fn(&mut ForeignDb) -> Result<Vec<DbSession>, DbProblem>,
    /// Hands over the rows of a session.
    pub(crate) rows: fn(&mut ForeignDb, &str, &mut RowSink<'_>) -> Result<(), DbProblem>,
}

/// A session in a database.
pub(crate) struct DbSession {
    /// The agent's own id of it.
    pub(crate) id: String,
    /// When it was last changed, in milliseconds since 1970.
    pub(crate) modified: i64,
    /// The session that a subagent works for.
    pub(crate) parent: Option<String>,
    /// The working directory, if the rows do not tell it.
    pub(crate) cwd: Option<String>,
}
