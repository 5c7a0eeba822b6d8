//! The parts that all sources of records share: the result of reading one, and the state of a file.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use model::import::FileCursor;
use model::limits;
use model::origin::Origin;
use model::portable::PortableRecord;

use crate::rows::Problem;
use crate::sources::{self, Transcript};

/// The result of reading a source of records.
#[derive(Clone, Debug, Default)]
pub struct RecordReport {
    /// The file that was read, if the source is one.
    pub cursor: Option<FileCursor>,
    /// Lines or rows that were skipped by reason: the number of the first, and how many.
    pub problems: BTreeMap<Problem, (u64, u64)>,
    /// Lines of kinds that are not known.
    pub unknown: u64,
    /// The origins of all memories of a file that is imported as a whole, by the hash of its path.
    pub complete: BTreeMap<String, Vec<String>>,
}

impl RecordReport {
    pub(crate) fn problem(&mut self, problem: Problem, line: u64) {
        self.problems.entry(problem).or_insert((line, 0)).1 += 1;
    }
}

/// Gets the records of a source, one after the other.
pub type RecordSink<'s> = dyn FnMut(PortableRecord) + 's;

/// Size, time and first bytes of a file. They show whether the file has changed.
pub fn cursor_of(path: &Path) -> io::Result<FileCursor> {
    use std::io::Read as _;
    let opened = regular::open(path)?;
    let meta = opened.metadata()?;
    let mut head = Vec::new();
    opened.take(limits::TRANSCRIPT_HEAD_BYTES as u64).read_to_end(&mut head)?;
    let listed = sources::of_file(path.to_owned(), &meta).ok_or(io::ErrorKind::InvalidData)?;
    let Transcript { bytes, modified, .. } = listed;
    Ok(FileCursor {
        file: file_hash(path).to_string(),
        size: bytes,
        modified,
        position: 0,
        head: Origin::of(&[&String::from_utf8_lossy(&head)]).to_string(),
    })
}

/// The hash by which the store knows a file.
pub(crate) fn file_hash(path: &Path) -> Origin {
    Origin::of(&["file", &path.to_string_lossy()])
}
