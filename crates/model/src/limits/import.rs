//! Bounds of imports.

use std::time::Duration;

/// Events of one call, which is one transaction; a call with more is refused.
pub const IMPORT_EVENTS_MAX: usize = 512;
/// Events that `rekindle import` sends in one call.
pub const IMPORT_EVENTS_SENT: usize = 256;
/// Events of a call that are stored although a hook or a search waits: about half a millisecond of the writer. The rest is
/// sent again, and fewer in one call.
pub const IMPORT_EVENTS_BESIDE: usize = 8;
/// Events of a call that are stored in one transaction within [`FOREGROUND_COMES`] of a hook or a search: the next hook
/// waits for no more than these, and the next search for no more than these to be indexed.
pub const IMPORT_EVENTS_IN_USE: usize = 32;
/// After a hook or a search, the next one is expected within this time.
pub const FOREGROUND_COMES: Duration = Duration::from_millis(500);
/// Documents of a batch that are indexed although a hook waits.
pub const INDEX_BATCH_BESIDE: usize = 8;
/// For this time after a search, bulk work is indexed as soon as it is stored, so that the next search need not wait
/// for the index.
pub const SEARCHES_COME: Duration = Duration::from_millis(200);
/// The niceness of an import's own threads.
pub const BACKGROUND_NICE: i32 = 10;
/// Threads that read transcripts ahead of the calls of an import. With more, the daemon would not keep up.
pub const IMPORT_READERS_MAX: usize = 4;
/// How many parts a reading thread may be ahead of the import before it waits. A part ends after [`IMPORT_PART_EVENTS`]
/// events or about [`IMPORT_PART_BYTES`].
pub const IMPORT_PARTS_AHEAD: usize = 16;
pub const IMPORT_PART_EVENTS: usize = 64;
pub const IMPORT_PART_BYTES: usize = 128 * 1024;
/// Files whose cursors one call asks for; a call with more is refused.
pub const IMPORT_CURSORS_MAX: usize = 5_000;
/// Bytes of one line of a transcript; a longer one is skipped.
pub const TRANSCRIPT_LINE_MAX: usize = 64 * 1024 * 1024;
/// First bytes of a file whose hash tells whether it was replaced.
pub const TRANSCRIPT_HEAD_BYTES: usize = 1024;
/// A session whose file was not changed for this long is over, in milliseconds.
pub const TRANSCRIPT_OVER_MS: i64 = 30 * 60 * 1000;
/// The last line of a file that was not changed for this long is read even without a line break, in milliseconds.
pub const TRANSCRIPT_QUIET_MS: i64 = 10 * 60 * 1000;
/// Files of one agent that are looked at; further ones are ignored.
pub const TRANSCRIPTS_MAX: usize = 200_000;
/// Depth of directories below an agent's folder that are looked at; deeper ones are ignored.
pub const TRANSCRIPTS_DEPTH_MAX: usize = 8;
/// Characters of a project's name in the report of an import.
pub const IMPORT_NAME_CHARS: usize = 40;
/// Lines with problems that are listed by file.
pub const IMPORT_PROBLEMS_SHOWN: usize = 10;
/// Seconds between two scans for transcripts that grew.
pub const IMPORT_FOLLOW_SECONDS: u64 = 60;
/// A session on disk that is newer than the last captured event by more than this was missed, in milliseconds.
pub const IMPORT_GAP_MS: i64 = 10 * 60 * 1000;
/// Files that `doctor` reads to tell whether an import would add something; for further files it assumes so.
pub const IMPORT_GAP_READ: usize = 200;
/// Days before an agent deletes a transcript at which `doctor` warns.
pub const IMPORT_DELETION_DAYS: u32 = 7;
/// Bytes of another program's database that may be copied, to be recovered without touching the original; a larger
/// database is not read.
pub const FOREIGN_DB_COPY_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// Bytes of a name in a line of an export: a path, an id of a session, the key of a project.
pub const PORTABLE_TEXT_MAX: usize = 4096;
/// Origins of one record in a line of an export: equal records are folded into one.
pub const PORTABLE_ORIGINS_MAX: usize = 100_000;
/// Records of one page of an export.
pub const EXPORT_PAGE_RECORDS: usize = 1_000;
/// Bytes of texts after which a page of an export ends.
pub const EXPORT_PAGE_BYTES: usize = 2 * 1024 * 1024;
/// Records of one call of `import_records`, which is one transaction; their projects and sessions included. A call with
/// more is refused.
pub const IMPORT_RECORDS_MAX: usize = 1_024;
/// Commits of a repository that are imported, the newest ones; how far they go back unless a time is given; and characters
/// of a message that are stored.
pub const IMPORT_COMMITS_MAX: usize = 5_000;
pub const IMPORT_COMMITS_MS: i64 = 180 * 86_400_000;
pub const IMPORT_COMMIT_CHARS: usize = 4_000;
/// Bytes of a file with memories; a longer one is not read. Files of one folder that are read; further ones are
/// ignored.
pub const MEMORY_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
pub const MEMORY_FILES_MAX: usize = 20_000;
/// The earliest time of an event in a transcript, in milliseconds since 1970: the start of 2000, before any agent. An
/// earlier time counts as missing; programs write some seconds after 1970 if they lack a clock.
pub const TRANSCRIPT_TIME_MIN_MS: i64 = 946_684_800_000;
