//! Bounds of imports.

/// Events of one call, which is one transaction.
pub const IMPORT_EVENTS_MAX: usize = 512;
/// Files whose cursors one call asks for.
pub const IMPORT_CURSORS_MAX: usize = 5_000;
/// Bytes of one line of a transcript; a longer one is skipped.
pub const TRANSCRIPT_LINE_MAX: usize = 64 * 1024 * 1024;
/// First bytes of a file whose hash tells whether it was replaced.
pub const TRANSCRIPT_HEAD_BYTES: usize = 1024;
/// A session whose file was not changed for this long is over, in milliseconds.
pub const TRANSCRIPT_OVER_MS: i64 = 30 * 60 * 1000;
/// Files of one agent that are looked at.
pub const TRANSCRIPTS_MAX: usize = 200_000;
/// Depth of directories below an agent's folder.
pub const TRANSCRIPTS_DEPTH_MAX: usize = 8;
/// Characters of a project's name in the report of an import.
pub const IMPORT_NAME_CHARS: usize = 40;
/// Lines with problems that are listed by file.
pub const IMPORT_PROBLEMS_SHOWN: usize = 10;
/// Bytes of another program's database that may be copied, to be recovered without touching the original.
pub const FOREIGN_DB_COPY_MAX: u64 = 4 * 1024 * 1024 * 1024;
