//! Classifies a file by its first bytes: whether it is an SQLite database, and of which application.

/// `RKDL`: marks a database as ours in SQLite's header.
pub const APPLICATION_ID: i32 = 0x524b_444c;
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

#[cfg(test)]
mod tests {
    use super::*;

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
