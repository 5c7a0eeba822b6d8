//! Sources of records that are no transcripts: exports, repositories, and the memories of other tools.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use model::portable::PortableRecord;

use crate::git_log;
use crate::lines::{self, NextLine};
use crate::memory_files::MemoryPlaces;
use crate::record_report::{RecordReport, RecordSink, cursor_of};
use crate::rows::Problem;
use crate::tools::{self, MemoryTool};

/// How a file of `rekindle export` begins.
const EXPORT_MARK: &str = r#"{"type":"rekindle","#;

/// Whether a file is an export, by its beginning.
pub(crate) fn is_export(path: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let opened = regular::open(path);
    let read = opened.and_then(|file| file.take(64).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head).replace(' ', "");
    read.is_ok() && head.starts_with(EXPORT_MARK)
}

/// Reads a file of `rekindle export`, line by line. A last line without a line break is read too.
pub(crate) fn read_export(path: &Path, sink: &mut RecordSink<'_>) -> io::Result<RecordReport> {
    let mut report = RecordReport { cursor: Some(cursor_of(path)?), ..RecordReport::default() };
    let mut input = BufReader::with_capacity(256 * 1024, EndedLines::new(regular::open(path)?));
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        number += 1;
        match lines::next(&mut input, &mut line)? {
            NextLine::End => return Ok(report),
            NextLine::TooLong(_) => report.problem(Problem::TooLong, number),
            NextLine::Line(_) => export_line(&line, number, &mut report, sink)?,
        }
    }
}

fn export_line(
    line: &[u8],
    number: u64,
    report: &mut RecordReport,
    sink: &mut RecordSink<'_>,
) -> io::Result<()> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(());
    }
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else {
        report.problem(Problem::NotJson, number);
        return Ok(());
    };
    let known = ["rekindle", "project", "session", "prompt", "observation", "memory"];
    if value["type"].as_str().is_some_and(|kind| !known.contains(&kind)) {
        report.unknown += 1;
        return Ok(());
    }
    match serde_json::from_value::<PortableRecord>(value) {
        Ok(head @ PortableRecord::Rekindle { .. }) => {
            head.check().map_err(|error| io::Error::other(error.message))
        }
        Ok(record) if record.check().is_ok() => {
            sink(record);
            Ok(())
        }
        _ => {
            report.problem(Problem::Malformed, number);
            Ok(())
        }
    }
}

/// A file that is read as if it ended with a line break: another program may have written it without one.
struct EndedLines<R> {
    inner: R,
    last: u8,
    is_over: bool,
}

impl<R: io::Read> EndedLines<R> {
    fn new(inner: R) -> EndedLines<R> {
        EndedLines { inner, last: b'\n', is_over: false }
    }
}

impl<R: io::Read> io::Read for EndedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over || buffer.is_empty() {
            return Ok(0);
        }
        let count = self.inner.read(buffer)?;
        if count > 0 {
            self.last = buffer[count - 1];
            return Ok(count);
        }
        self.is_over = true;
        if self.last == b'\n' {
            return Ok(0);
        }
        buffer[0] = b'\n';
        Ok(1)
    }
}

/// A source of records that the user names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordInput {
    /// A file of `rekindle export`.
    Export(PathBuf),
    /// Commits of the repository of a directory since a time in milliseconds.
    Git { directory: PathBuf, since: i64 },
    /// Files of agents.
    MemoryFiles(MemoryPlaces),
    /// A file or folder of another tool. Memories without a project belong to the home directory.
    Tool { tool: MemoryTool, path: PathBuf, home: PathBuf },
}

impl RecordInput {
    /// The word for the source in lists of imports.
    pub fn source(&self) -> &'static str {
        match self {
            RecordInput::Export(_) => "rekindle",
            RecordInput::Git { .. } => "git",
            RecordInput::MemoryFiles(_) => "memories",
            RecordInput::Tool { tool, .. } => tool.name(),
        }
    }

    /// The file that is read, if it is one that need not be read again while it has not changed.
    pub fn file(&self) -> Option<&Path> {
        match self {
            RecordInput::Export(path) | RecordInput::Tool { path, .. } => Some(path),
            RecordInput::Git { .. } | RecordInput::MemoryFiles(_) => None,
        }
    }

    /// Reads the records.
    pub fn read(&self, sink: &mut RecordSink<'_>) -> io::Result<RecordReport> {
        match self {
            RecordInput::Export(path) => read_export(path, sink),
            RecordInput::Git { directory, since } => git_log::read(directory, *since, sink),
            RecordInput::MemoryFiles(places) => Ok(places.read(sink)),
            RecordInput::Tool { tool, path, home } => tool.read(path, home, sink),
        }
    }
}

/// The source of records that a file or folder is, by its content.
pub fn recognise_records(path: &Path, home: &Path) -> Option<RecordInput> {
    if is_export(path) {
        return Some(RecordInput::Export(path.to_owned()));
    }
    let tool = tools::recognise(path)?;
    Some(RecordInput::Tool { tool, path: path.to_owned(), home: home.to_owned() })
}
