//! Reads one transcript into events.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::PathBuf;
use std::rc::Rc;

use model::OpError;
use model::hook::{Happening, HookEvent, TranscriptFacts};
use model::import::FileCursor;
use model::limits;
use model::origin::Origin;
use model::wire::CallId;
use text::secrets::{Profile, Redacted, redact};
use transcripts::{ReadEvent, TranscriptReader, Unread};

use crate::bytes;
use crate::foreign_db::{DbProblem, ForeignDb};
use crate::lines::{self, NextLine};
use crate::rows::{Problem, RowSource};
use crate::sources::{Source, Transcript};

/// The result of reading a file.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// How far it was read.
    pub cursor: FileCursor,
    /// Lines that were skipped by reason: the number of the first, and how many.
    pub problems: BTreeMap<Problem, (u64, u64)>,
    /// Lines of kinds that are not known.
    pub unknown: u64,
    /// Sessions in the file, by the agent's own id.
    pub sessions: BTreeSet<String>,
    /// Whether the sessions will not continue.
    pub is_over: bool,
    /// Whether the last event is one only because the file ends there.
    pub is_unfinished: bool,
    /// Whether all events are those of a subagent, whose session has a transcript of its own.
    pub is_of_subagent: bool,
    pub title: Option<String>,
}

/// Reads transcripts. The database that was opened last stays open, because it has many sessions.
#[derive(Default)]
pub struct TranscriptFiles {
    database: Option<(PathBuf, ForeignDb)>,
    /// Bytes of the current file that were read so far.
    bytes: Rc<Cell<u64>>,
}

impl TranscriptFiles {
    /// How many bytes of the current file were read so far. Of a database none are counted.
    pub fn bytes_read(&self) -> Rc<Cell<u64>> {
        self.bytes.clone()
    }

    /// Reads a transcript from its cursor on, or all of it if it was replaced, and hands over the events that have a
    /// record.
    pub fn read(
        &mut self,
        source: &Source,
        file: &Transcript,
        from: Option<&FileCursor>,
        now: i64,
        sink: &mut dyn FnMut(HookEvent),
    ) -> io::Result<FileReport> {
        self.bytes.set(0);
        if let Some(rows) = source.database.as_ref().filter(|_| file.is_in_database) {
            let mut work = FileWork::new(source, file, 0, now);
            work.reader.place(source.origin_of(file).as_ref());
            self.rows(rows, file, &mut work, sink)
                .map_err(|error| io::Error::other(error.to_string()))?;
            return Ok(work.report(file, None, sink));
        }
        if let Some(rows) = source.file_rows {
            let mut work = FileWork::new(source, file, 0, now);
            rows(&file.path, &mut |row| work.row(row, sink))?;
            return Ok(work.report(file, None, sink));
        }
        read_lines((source, file), from, now, &self.bytes, sink)
    }

    fn rows(
        &mut self,
        rows: &RowSource,
        file: &Transcript,
        work: &mut FileWork<'_>,
        sink: &mut dyn FnMut(HookEvent),
    ) -> Result<(), DbProblem> {
        let db = match &mut self.database {
            Some((path, db)) if *path == file.path => db,
            other => {
                let opened = ForeignDb::open(&file.path)?;
                &mut other.insert((file.path.clone(), opened)).1
            }
        };
        match &file.session {
            Some(session) => (rows.rows)(db, session, &mut |row| work.row(row, sink)),
            // Its sessions could not be listed.
            None => (rows.sessions)(db).map(drop),
        }
    }
}

fn read_lines(
    (source, file): (&Source, &Transcript),
    from: Option<&FileCursor>,
    now: i64,
    count: &Rc<Cell<u64>>,
    sink: &mut dyn FnMut(HookEvent),
) -> io::Result<FileReport> {
    let mut first = Vec::new();
    let mut opened = bytes::open_counted(file, 0, count)?;
    opened.by_ref().take(limits::TRANSCRIPT_HEAD_BYTES as u64).read_to_end(&mut first)?;
    let head = Origin::of(&[&String::from_utf8_lossy(&first)]);
    let known = from.filter(|cursor| cursor.head == head.to_string());
    let known = known.filter(|cursor| cursor.position <= file.bytes || bytes::is_compressed(file));
    let start = known.map_or(0, |cursor| cursor.position);
    let mut work = FileWork::new(source, file, start, now);
    work.reader.place(source.origin_of(file).as_ref());
    if start > 0 {
        work.reader.prime(&agents::with_valid_encoding(&first_line(file)?));
    }
    match bytes::is_document(file) {
        true => work.document(file, sink)?,
        false => {
            // A compressed file is not decompressed twice for its first bytes.
            let rest: Box<dyn io::Read> = match start {
                0 => Box::new(io::Cursor::new(first).chain(opened)),
                _ => bytes::open_counted(file, start, count)?,
            };
            work.lines(&mut BufReader::with_capacity(BUFFER_BYTES, rest), sink)?;
        }
    }
    Ok(work.report(file, Some(head), sink))
}

/// Whether a transcript has an event that an import would store. It is read until the first one. A session of a database
/// and a file that cannot be read count as having one: an import names the problem.
pub fn has_event(source: &Source, file: &Transcript, now: i64) -> bool {
    let is_by_line = !file.is_in_database && source.file_rows.is_none();
    if !is_by_line || bytes::is_document(file) {
        return true;
    }
    let mut work = FileWork::new(source, file, 0, now);
    work.reader.place(source.origin_of(file).as_ref());
    let Ok(opened) = bytes::open(file, 0) else { return true };
    let mut input = BufReader::with_capacity(BUFFER_BYTES, opened);
    let (mut line, mut found) = (Vec::new(), false);
    while !found {
        match lines::next(&mut input, &mut line) {
            Ok(NextLine::Line(_)) => work.line(&line, &mut |_| found = true),
            Ok(NextLine::TooLong(_)) => {}
            Ok(NextLine::End) => {
                work.finish(true, &mut |_| found = true);
                return found;
            }
            Err(_) => return true,
        }
    }
    found
}

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// The first line of a file, which is about its session.
fn first_line(file: &Transcript) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    lines::next(&mut BufReader::new(bytes::open(file, 0)?), &mut line)?;
    Ok(line)
}

/// The hash by which the store knows a transcript.
pub fn path_hash(file: &Transcript) -> Origin {
    let path = file.path.to_string_lossy();
    match &file.session {
        None => Origin::of(&["file", &path]),
        Some(session) => Origin::of(&["file", &path, session]),
    }
}

/// A file that is being read.
struct FileWork<'s> {
    source: &'s Source,
    reader: Box<dyn TranscriptReader>,
    file: Origin,
    /// The byte from which the file is to be read again if it grows.
    position: u64,
    /// The beginning of the current line, and its number.
    offset: u64,
    number: u64,
    /// The time of the last event, for one without a time.
    last_at: i64,
    problems: BTreeMap<Problem, (u64, u64)>,
    unknown: u64,
    sessions: BTreeSet<String>,
    remote: Option<Redacted<String>>,
    now: i64,
    /// Whether a time is in the future. Then the session counts as over, whatever the other times say.
    has_wrong_times: bool,
    /// Whether the file was read to its end, and whether that made an event.
    is_at_end: bool,
    is_unfinished: bool,
    /// Whether an event is not that of a subagent.
    has_own_event: bool,
    /// When the file was last changed, and whether its last line lacks its line break.
    modified: i64,
    has_rest: bool,
    /// How many times each text without an id was read, by a hash of its session, kind and text.
    repeats: BTreeMap<[u8; 16], u32>,
}

impl<'s> FileWork<'s> {
    fn new(source: &'s Source, file: &Transcript, start: u64, now: i64) -> FileWork<'s> {
        FileWork {
            source,
            reader: (source.reader)(),
            file: path_hash(file),
            position: start,
            offset: start,
            number: 0,
            last_at: file.modified.min(now),
            problems: BTreeMap::new(),
            unknown: 0,
            sessions: BTreeSet::new(),
            remote: None,
            now,
            has_wrong_times: false,
            is_at_end: false,
            is_unfinished: false,
            has_own_event: false,
            modified: file.modified,
            has_rest: false,
            repeats: BTreeMap::new(),
        }
    }

    fn lines(
        &mut self,
        input: &mut impl BufRead,
        sink: &mut dyn FnMut(HookEvent),
    ) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            let next = lines::next(input, &mut line)?;
            self.number += 1;
            match next {
                NextLine::End => {
                    self.rest(&line, sink);
                    return Ok(());
                }
                NextLine::Line(bytes) => {
                    if self.reader.can_start_here(&line) {
                        self.position = self.offset;
                    }
                    self.line(&line, sink);
                    self.offset += bytes;
                }
                NextLine::TooLong(bytes) => {
                    self.problem(Problem::TooLong, self.number);
                    self.offset += bytes;
                }
            }
        }
    }

    /// Reads the last line of a file, which has no line break, if the line is whole and the file is no longer written.
    fn rest(&mut self, line: &[u8], sink: &mut dyn FnMut(HookEvent)) {
        let is_whole = || serde_json::from_slice::<serde_json::Value>(line).is_ok();
        if line.is_empty() || !line.starts_with(b"{") {
            return;
        }
        self.has_rest = true;
        if self.now.saturating_sub(self.modified) > limits::TRANSCRIPT_QUIET_MS && is_whole() {
            self.has_rest = false;
            if self.reader.can_start_here(line) {
                self.position = self.offset;
            }
            self.line(line, sink);
        }
    }

    /// Reads a file that is one JSON document.
    fn document(&mut self, file: &Transcript, sink: &mut dyn FnMut(HookEvent)) -> io::Result<()> {
        let mut whole = Vec::new();
        self.number = 1;
        bytes::open(file, 0)?
            .take(limits::TRANSCRIPT_LINE_MAX as u64 + 1)
            .read_to_end(&mut whole)?;
        match whole.len() > limits::TRANSCRIPT_LINE_MAX {
            true => self.problem(Problem::TooLong, 1),
            false => self.line(&whole, sink),
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8], sink: &mut dyn FnMut(HookEvent)) {
        if line.is_empty() {
            return;
        }
        let mut found = Vec::new();
        let (source, id, number) = (self.source, (self.file, self.offset), self.number);
        let extract = &mut |event: ReadEvent<'_>| found.push(extracted(source, id, &event));
        let mut read = self.reader.line(line, extract);
        // Only a line that no parser takes is repaired, as for hooks: nearly all are valid.
        if read == Err(Unread::NotJson)
            && let Cow::Owned(repaired) = agents::with_valid_encoding(line)
        {
            read = self.reader.line(&repaired, extract);
        }
        match read {
            Ok(()) => {}
            Err(Unread::UnknownKind) => self.unknown += 1,
            Err(Unread::NotJson) => self.problem(Problem::NotJson, number),
            Err(Unread::Malformed) => self.problem(Problem::Malformed, number),
        }
        if self.remote.is_none() {
            self.remote = self.reader.remote().map(|remote| redact(remote, Profile::Strict));
        }
        self.hand_over(found, sink);
    }

    /// Reads a row of a session that is not in one file.
    fn row(&mut self, row: Result<&[u8], Problem>, sink: &mut dyn FnMut(HookEvent)) {
        self.number += 1;
        match row {
            Ok(row) => self.line(row, sink),
            Err(problem) => self.problem(problem, self.number),
        }
        self.offset += 1;
    }

    /// Ends the file. `head` is the hash of its beginning, if it is read from a position on when it grows.
    fn report(
        mut self,
        file: &Transcript,
        head: Option<Origin>,
        sink: &mut dyn FnMut(HookEvent),
    ) -> FileReport {
        // The time of a copied file says nothing about its session.
        let quiet = self.now.saturating_sub(self.last_at);
        let is_over = self.has_wrong_times || quiet > limits::TRANSCRIPT_OVER_MS;
        self.finish(is_over, sink);
        // A file may grow whatever its times say: a tool call takes hours, or a copy is incomplete. So it is always
        // read again from its last turn.
        let is_read_whole = head.is_none() || bytes::is_document(file);
        let position = if is_read_whole { 0 } else { self.position };
        FileReport {
            cursor: FileCursor {
                file: self.file.to_string(),
                size: file.size(),
                // A session that may continue is read again, because its last answer is not known yet.
                modified: match is_over && !self.has_rest {
                    true => file.modified,
                    false => file.modified.saturating_sub(1),
                },
                position,
                head: head.unwrap_or(self.file).to_string(),
            },
            problems: self.problems,
            unknown: self.unknown,
            sessions: self.sessions,
            is_over,
            is_unfinished: self.is_unfinished,
            is_of_subagent: !self.has_own_event,
            title: self.reader.title().map(str::to_owned),
        }
    }

    fn finish(&mut self, is_over: bool, sink: &mut dyn FnMut(HookEvent)) {
        let mut found = Vec::new();
        self.is_at_end = true;
        let (source, id) = (self.source, (self.file, self.offset));
        self.reader.finish(is_over, &mut |event| found.push(extracted(source, id, &event)));
        self.hand_over(found, sink);
    }

    /// Hands over the events that have a record, with the facts that only the transcript has.
    fn hand_over(&mut self, found: Vec<Extracted>, sink: &mut dyn FnMut(HookEvent)) {
        for Extracted { event, at, position, line } in found {
            let latest = self.now.saturating_add(limits::EVENT_AHEAD_MAX_MS);
            self.has_wrong_times |= at.is_some_and(|at| at > latest);
            let at = at.filter(|at| (limits::TRANSCRIPT_TIME_MIN_MS..=latest).contains(at));
            self.last_at = at.unwrap_or(self.last_at);
            let Ok(mut event) = event else {
                self.problem(Problem::Refused, self.number);
                continue;
            };
            let has_record = matches!(
                event.what,
                Happening::Prompted(_) | Happening::ToolUsed(_) | Happening::Answered(_)
            );
            if !has_record {
                continue;
            }
            event.at = self.last_at;
            let remote = self.remote.clone();
            let estimated = at.is_none();
            let unfinished = self.is_at_end;
            self.is_unfinished |= unfinished;
            self.has_own_event |= event.agent_id.is_none();
            event.transcript = Some(TranscriptFacts {
                position,
                line,
                estimated,
                unfinished,
                remote,
                repeat: None,
            });
            self.count_repeat(&mut event);
            self.sessions.insert(event.session.clone());
            sink(event);
        }
    }

    /// Numbers the events with the same text, from 1, if the agent has no id of the event.
    fn count_repeat(&mut self, event: &mut HookEvent) {
        if Origin::of_event(event).is_some() {
            return;
        }
        let Some(text) = Origin::of_text(event, 0) else { return };
        let count = self.repeats.entry(text.0).or_default();
        *count += 1;
        if let Some(facts) = &mut event.transcript {
            facts.repeat = Some(*count);
        }
    }

    fn problem(&mut self, problem: Problem, line: u64) {
        self.problems.entry(problem).or_insert((line, 0)).1 += 1;
    }
}

/// An event of a reader in our own form, and its time.
struct Extracted {
    event: Result<HookEvent, OpError>,
    at: Option<i64>,
    position: Option<u32>,
    line: Option<String>,
}

/// Extracts an event. Its id is made of the file's, the beginning of its line, and its name.
fn extracted(source: &Source, (file, offset): (Origin, u64), event: &ReadEvent<'_>) -> Extracted {
    let id = Origin::of(&[&file.to_string(), &offset.to_string(), event.name]);
    let (agent, name, at) = (Some(source.name), Some(event.name), event.at.unwrap_or_default());
    let extracted = agents::extract(agent, name, &event.payload, CallId(id.0), at);
    let line = event.payload.get(transcripts::PROMPT_LINE).and_then(|id| id.as_str());
    let line = line.map(str::to_owned);
    Extracted { event: extracted, at: event.at, position: event.position, line }
}
