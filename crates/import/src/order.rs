//! The order in which transcripts are read. A record that two files have belongs to the one that is read first, so a
//! session comes before its forks, which repeat its lines, and before its subagents, whose work belongs to its prompts.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::PathBuf;

use model::{limits, time};

use crate::bytes;
use crate::sources::{SOURCES, Source, Transcript};

/// The members of a transcript by which it is ordered, the most significant first.
type OrderKey = (bool, i64, bool, i64, i64, Option<OsString>, Option<String>, PathBuf);

/// Sorts the transcripts of an agent by names and times, the oldest first, without opening any.
pub(crate) fn by_listing(source: &Source, files: &mut [Transcript]) {
    files.sort_by_cached_key(|one| key(source, one, (one.modified, false)));
}

/// Sorts transcripts as they have to be read, by the first time in each. The time of a file is no measure: a session may
/// go on after it was forked.
pub fn in_reading_order<'p>(
    mut files: Vec<&'p (&'static Source, Transcript)>,
) -> Vec<&'p (&'static Source, Transcript)> {
    files.sort_by_cached_key(|(source, one)| {
        let begun = begun(source, one).unwrap_or((one.modified, false));
        (SOURCES.iter().position(|other| other.name == source.name), key(source, one, begun))
    });
    files
}

/// The position of a transcript among the others. `begun` has the first time in the file, and whether the file is a fork.
fn key(source: &Source, one: &Transcript, begun: (i64, bool)) -> OrderKey {
    let (begun, is_fork) = begun;
    let times = match source.is_ordered_by_name {
        true => (0, false, 0, 0),
        // A fork may begin with a line of its own, or with the first line of its session; the fork is the newer file.
        false => (begun, is_fork, one.created, one.modified),
    };
    let name = one.path.file_name().map(ToOwned::to_owned);
    (
        one.is_of_subagent,
        times.0,
        times.1,
        times.2,
        times.3,
        name,
        one.session.clone(),
        one.path.clone(),
    )
}

/// The first time in a file of lines, and whether its first lines say that it is a fork.
fn begun(source: &Source, file: &Transcript) -> Option<(i64, bool)> {
    const TIME: &str = r#""timestamp":""#;
    const FORK: &str = r#""forkedFrom":"#;
    let is_of_lines = source.file_rows.is_none() && !source.is_ordered_by_name;
    if !is_of_lines || file.session.is_some() || file.is_in_database {
        return None;
    }
    let mut head = Vec::new();
    let opened = bytes::open_path(&file.path).ok()?;
    opened.take(16 * limits::TRANSCRIPT_HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let (_, rest) = head.split_once(TIME)?;
    Some((time::parse_rfc3339(rest.split('"').next()?)?, head.contains(FORK)))
}
