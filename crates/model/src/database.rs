//! Classifies a file by its first bytes: whether it is an SQLite database, and of which application, and whether
//! a file beside a database is one that SQLite or Rekindle wrote.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// `RKDL`: marks a database as ours in SQLite's header.
pub const APPLICATION_ID: i32 = 0x524b_444c;
/// Where the application id begins in SQLite's header.
pub const APPLICATION_ID_AT: u64 = 68;
/// Length of SQLite's header in bytes.
pub const HEADER_BYTES: usize = 100;

const MAGIC: &[u8] = b"SQLite format 3\0";

/// The kind of a file according to its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileHead {
    /// An empty file, which SQLite turns into a database.
    Empty,
    /// An SQLite database.
    Database { application_id: i32, schema_version: i32 },
    /// Anything else, including a database that is truncated within its header.
    Other,
}

impl FileHead {
    /// Classifies a file by its first [`HEADER_BYTES`] bytes, or all of them if it has fewer.
    pub fn of(bytes: &[u8]) -> FileHead {
        let number = |at: usize| {
            let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(i32::from_be_bytes(bytes))
        };
        match (number(68), number(60)) {
            _ if bytes.is_empty() => FileHead::Empty,
            (Some(application_id), Some(schema_version)) if bytes.starts_with(MAGIC) => {
                FileHead::Database { application_id, schema_version }
            }
            _ => FileHead::Other,
        }
    }

    /// Whether it may be opened as a database of ours without further checks.
    pub fn is_ours_or_empty(self) -> bool {
        match self {
            FileHead::Empty => true,
            FileHead::Database { application_id, .. } => application_id == APPLICATION_ID,
            FileHead::Other => false,
        }
    }
}

/// A file that SQLite or Rekindle creates next to a database: the database's name with a suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Companion {
    Wal,
    /// The index of the WAL.
    Shm,
    Journal,
    /// The lock of the process that may write.
    Lock,
    /// The pauses, for hooks that do not open the database.
    Paused,
}

/// How many bytes of a companion decide whether it is ours; a lock file has no more than these.
pub const COMPANION_HEAD_BYTES: usize = 4200;

const WAL_MAGIC: u32 = 0x377f_0682;
/// Length of a WAL's header; without frames behind it a WAL is empty.
const WAL_HEADER_BYTES: usize = 32;
/// The version in the header of a WAL and of its index.
const WAL_VERSION: u32 = 3_007_000;
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

impl Companion {
    pub const ALL: [Companion; 5] =
        [Companion::Wal, Companion::Shm, Companion::Journal, Companion::Lock, Companion::Paused];

    pub const fn suffix(self) -> &'static str {
        match self {
            Companion::Wal => "-wal",
            Companion::Shm => "-shm",
            Companion::Journal => "-journal",
            Companion::Lock => ".lock",
            Companion::Paused => "-paused",
        }
    }

    /// The path of this companion of a database.
    pub fn beside(self, database: &Path) -> PathBuf {
        let mut name = OsString::from(database);
        name.push(self.suffix());
        PathBuf::from(name)
    }

    /// Refuses a file by its first [`COMPANION_HEAD_BYTES`] bytes unless SQLite or Rekindle wrote it, and names
    /// the fault. `is_new` says that the database is missing or empty: SQLite deletes the WAL and
    /// the journal beside such a file, and with them the last writes of a database that was moved away.
    pub fn check(self, head: &[u8], is_new: bool) -> Result<(), &'static str> {
        // An interrupted write leaves an empty file, or one of zero bytes after a power failure.
        if head.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let (is_ours, foreign) = match self {
            Companion::Wal => (is_wal(head), "is not a WAL of SQLite"),
            Companion::Shm => (is_shm(head), "is not a WAL index of SQLite"),
            Companion::Journal => (is_journal(head), "is not a journal of SQLite"),
            Companion::Lock => (is_lock(head), "is not a lock file of rekindle"),
            // Only the beginning is checked: a damaged list is rewritten later, and must not keep the database closed.
            Companion::Paused => (
                head.starts_with(b"{") || head.starts_with(b"["),
                "is not a list of pauses of rekindle",
            ),
        };
        match is_ours {
            false => Err(foreign),
            true if is_new && self.has_pages(head) => {
                Err("has the last writes of a database that is missing")
            }
            true => Ok(()),
        }
    }

    fn has_pages(self, head: &[u8]) -> bool {
        match self {
            Companion::Wal => head.len() > WAL_HEADER_BYTES,
            // The number of pages before the transaction. It is 0 while a database is being created.
            Companion::Journal => {
                head.starts_with(&JOURNAL_MAGIC) && be32(head, 16).is_some_and(|pages| pages > 0)
            }
            Companion::Shm | Companion::Lock | Companion::Paused => false,
        }
    }
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn is_wal(head: &[u8]) -> bool {
    be32(head, 0).is_some_and(|magic| magic & !1 == WAL_MAGIC) && be32(head, 4) == Some(WAL_VERSION)
}

/// SQLite cuts the index to three bytes when it is opened first, and extends it again.
fn is_shm(head: &[u8]) -> bool {
    let version = WAL_VERSION.to_ne_bytes();
    let head = head.get(..3).unwrap_or_default();
    head == &version[..3] || head == [0; 3]
}

/// SQLite writes the magic bytes of a journal when the rest is on the disk; until then they are zero.
fn is_journal(head: &[u8]) -> bool {
    head.starts_with(&JOURNAL_MAGIC) || head.starts_with(&[0; JOURNAL_MAGIC.len()])
}

/// The content of the lock file: the runtime directory of the daemon, and its pid. The pid has a fixed width, so that
/// a concurrent reader never sees the remainder of a longer text.
pub fn lock_text(runtime_dir: &Path, pid: u32) -> String {
    let dir = runtime_dir.display().to_string().replace(char::is_control, "?");
    let pid = format!("{pid})");
    format!("{dir} (pid {pid:<11}\n")
}

fn is_lock(head: &[u8]) -> bool {
    let text = head.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
    let text = text.and_then(|line| line.trim_end_matches(' ').strip_suffix(')'));
    let holder = text.filter(|text| text.starts_with('/') && !text.contains(char::is_control));
    let pid = holder.and_then(|holder| holder.rsplit_once(" (pid "));
    pid.is_some_and(|(_, pid)| pid.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_not_companions() {
        let texts: [&[u8]; 4] =
            [b"PRECIOUS\n", b"4711\n", b"/home/me/notes (pid four)\n", b"/a\n/b (pid 4)\n"];
        for companion in Companion::ALL {
            for text in texts {
                assert!(companion.check(text, false).is_err(), "{companion:?} {text:?}");
            }
            assert_eq!(companion.check(b"", true), Ok(()));
            assert_eq!(companion.check(&[0; 4096], true), Ok(()));
        }
        let lock = lock_text(Path::new("/run/user/7/a\nb"), 4711);
        assert_eq!(Companion::Lock.check(lock.as_bytes(), true), Ok(()));
    }

    #[test]
    fn lock_files_of_all_processes_of_a_runtime_directory_are_equally_long() {
        let of = |pid: u32| lock_text(Path::new("/run/user/7"), pid);
        assert_eq!(of(4711).trim_end(), "/run/user/7 (pid 4711)");
        for pid in [1, 4711, u32::MAX] {
            assert_eq!(of(pid).len(), of(1).len());
            assert_eq!(Companion::Lock.check(of(pid).as_bytes(), true), Ok(()), "{pid}");
        }
    }

    #[test]
    fn a_wal_or_journal_with_pages_is_refused_beside_a_new_database() {
        let mut wal = [WAL_MAGIC.to_be_bytes(), WAL_VERSION.to_be_bytes()].concat();
        wal.resize(WAL_HEADER_BYTES, 7);
        assert_eq!(Companion::Wal.check(&wal, true), Ok(()), "without frames");
        wal.push(7);
        assert_eq!(Companion::Wal.check(&wal, false), Ok(()));
        assert!(Companion::Wal.check(&wal, true).is_err());
        let mut journal = JOURNAL_MAGIC.to_vec();
        journal.resize(512, 0);
        assert_eq!(Companion::Journal.check(&journal, true), Ok(()), "of a database in creation");
        journal[19] = 5;
        assert_eq!(Companion::Journal.check(&journal, false), Ok(()));
        assert!(Companion::Journal.check(&journal, true).is_err());
    }

    fn header(application_id: i32) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..MAGIC.len()].copy_from_slice(MAGIC);
        header[60..64].copy_from_slice(&7_i32.to_be_bytes());
        header[68..72].copy_from_slice(&application_id.to_be_bytes());
        header
    }

    #[test]
    fn a_file_is_ours_by_its_application_id_alone() {
        let ours = FileHead::Database { application_id: APPLICATION_ID, schema_version: 7 };
        assert_eq!(FileHead::of(&header(APPLICATION_ID)), ours);
        assert!(ours.is_ours_or_empty() && FileHead::of(b"").is_ours_or_empty());
        for foreign in [0, 77] {
            assert!(!FileHead::of(&header(foreign)).is_ours_or_empty());
        }
    }

    #[test]
    fn text_and_a_truncated_database_are_not_databases() {
        let cut = &header(APPLICATION_ID)[..71];
        for bytes in [b"S" as &[u8], MAGIC, &MAGIC[..15], cut, b"#!/bin/sh\n", &[0; 4096]] {
            assert_eq!(FileHead::of(bytes), FileHead::Other, "{bytes:?}");
        }
    }
}
