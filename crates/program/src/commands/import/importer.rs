//! Sends the events of transcripts to the daemon, in the order in which [`Readers`] hand them over.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::thread;

use ::import::{FileReport, Source, Transcript};
use indicatif::{ProgressBar, ProgressStyle};
use model::import::FileCursor;
use model::origin::Origin;
use model::{Caller, OpError, Request, Road, limits};
use serde::Deserialize;
use serde_json::{Value, json};

use super::batches::{BATCH_BYTES, SentBatch, known_cursors};
use super::plan::ImportPlan;
use super::reading::{FilePart, PlannedFile, Readers, ReadyEvent};
use super::totals::ImportTotals;
use crate::calls;
use crate::progress::{IMPORT_BAR, import_message};

/// A bar that shows how far an import is.
pub(super) fn bar(plan: &ImportPlan) -> ProgressBar {
    let bar = ProgressBar::new(plan.files.iter().map(|(_, file)| file.bytes).sum());
    if let Ok(style) = ProgressStyle::with_template(IMPORT_BAR) {
        bar.set_style(style);
    }
    bar
}

/// Sends the events of files to the daemon.
pub(super) struct Importer<'w> {
    road: &'w dyn Road,
    plan: &'w ImportPlan,
    totals: ImportTotals,
    bar: ProgressBar,
    /// Bytes of the files that are done.
    done: u64,
    caller: Caller,
    /// The records of a dry run so far. It stores none, so that the daemon would count a copy again.
    counted: HashSet<Origin>,
    /// Whether the settings exclude an event of the current file.
    has_excluded: bool,
    /// How many events the next call has.
    most: usize,
    /// How far files without an event were read, and the agent of all of them. They are sent together.
    without_events: (&'static str, Vec<FileCursor>),
    /// In a dry run, the events of each agent that were not sent yet. They have no cursor, so a call may have those of
    /// many files.
    to_count: BTreeMap<&'static str, UnsentEvents>,
}

/// Events that were not sent yet, as JSON, in order.
#[derive(Default)]
struct UnsentEvents {
    events: VecDeque<String>,
    bytes: usize,
}

impl<'w> Importer<'w> {
    pub(super) fn new(road: &'w dyn Road, plan: &'w ImportPlan, bar: ProgressBar) -> Importer<'w> {
        Importer {
            road,
            plan,
            totals: ImportTotals::of(plan.batch),
            bar,
            done: 0,
            caller: calls::person(),
            counted: HashSet::new(),
            has_excluded: false,
            most: limits::IMPORT_EVENTS_SENT,
            without_events: ("", Vec::new()),
            to_count: BTreeMap::new(),
        }
    }

    pub(super) fn run(mut self) -> Result<ImportTotals, OpError> {
        let (plan, now) = (self.plan, client::clock::now_ms());
        // On a machine with few cores an import would slow down hooks and searches.
        server::platform::work_in_background();
        let cursors = self.cursors()?;
        let known = |file: &Transcript| cursors.get(&::import::path_hash(file).to_string());
        let is_unchanged = |file: &Transcript| {
            known(file).is_some_and(|cursor| file.is_unchanged(cursor)) && !plan.forgotten
        };
        let (unchanged, changed): (Vec<_>, Vec<_>) =
            plan.files.iter().partition(|(_, file)| is_unchanged(file));
        self.totals.unchanged = unchanged.len() as u64;
        self.advance(unchanged.iter().map(|(_, file)| file.bytes).sum());
        // Unchanged files take no time, so they must not count for the rate.
        self.bar.reset_eta();
        let planned = ::import::in_reading_order(changed).into_iter();
        let planned: Vec<PlannedFile<'_>> = planned
            .map(|(source, file)| PlannedFile { source, file, known: known(file) })
            .collect();
        thread::scope(|scope| {
            let readers = Readers::start(scope, plan, &planned, now)?;
            for (number, file) in planned.iter().enumerate() {
                let sent = self.file(&readers, number, *file);
                sent.map_err(|error| self.ended_by(error))?;
                self.advance(file.file.bytes);
                let sessions = self.totals.sessions.len() as u64;
                self.bar.set_message(import_message(sessions, self.bar.per_sec()));
            }
            let sent = self.send_cursors().and_then(|()| self.count_rest());
            sent.map_err(|error| self.ended_by(error))
        })?;
        self.bar.finish_and_clear();
        self.totals.settle();
        Ok(self.totals)
    }

    /// Adds these bytes to the progress.
    fn advance(&mut self, bytes: u64) {
        self.done += bytes;
        self.bar.set_position(self.done);
    }

    /// The error that ends an import, with a hint about the records that were added before.
    fn ended_by(&self, error: OpError) -> OpError {
        let added = match self.totals.counts.added() {
            0 => return error,
            added => text::counted(added, "record"),
        };
        let hint = error.hint.clone().unwrap_or_default();
        let more = format!("{hint} {added} were added before; run the command again to continue.");
        error.hint(more.trim_start())
    }

    /// How far the files were imported before.
    fn cursors(&self) -> Result<BTreeMap<String, FileCursor>, OpError> {
        let hashes: Vec<String> =
            self.plan.files.iter().map(|(_, file)| ::import::path_hash(file).to_string()).collect();
        let mut all = BTreeMap::new();
        for hashes in hashes.chunks(limits::IMPORT_CURSORS_MAX) {
            let known = known_cursors(self.road, hashes)?;
            all.extend(known.into_iter().map(|cursor| (cursor.file.clone(), cursor)));
        }
        Ok(all)
    }

    fn file(
        &mut self,
        readers: &Readers,
        number: usize,
        PlannedFile { source, file, known }: PlannedFile<'_>,
    ) -> Result<(), OpError> {
        let hash = ::import::path_hash(file);
        let mut pending = self.to_count.remove(source.name).unwrap_or_default();
        let mut of_others = pending.events.len();
        let mut has_event = false;
        self.has_excluded = false;
        let report = loop {
            match readers.next(number)? {
                FilePart::Events { events, bytes } => {
                    has_event = true;
                    for event in events {
                        self.event(source, hash, &mut pending, event)?;
                        of_others = of_others.min(pending.events.len());
                    }
                    self.bar.set_position(self.done + bytes.min(file.bytes));
                }
                FilePart::End(report) => break *report,
            }
        };
        match report {
            Ok(report) => {
                match has_event || known.is_some() {
                    _ if self.plan.is_dry => {}
                    true => self.send(source, hash, &mut pending, Some(&report))?,
                    false => self.read_without_event(source, &report)?,
                }
                self.totals.read(source.name, file.path.clone(), report);
            }
            Err(error) => {
                pending.truncate(of_others);
                self.totals.unreadable.push((file.path.clone(), error.to_string()));
            }
        }
        if self.plan.is_dry {
            self.to_count.insert(source.name, pending);
        }
        Ok(())
    }

    /// Notes how far a new file was read that has no event. There may be thousands, and a call for each would take most
    /// of the time.
    fn read_without_event(
        &mut self,
        source: &'static Source,
        report: &FileReport,
    ) -> Result<(), OpError> {
        if self.plan.is_partial() {
            return Ok(());
        }
        if self.without_events.0 != source.name
            || self.without_events.1.len() >= limits::IMPORT_EVENTS_SENT
        {
            self.send_cursors()?;
        }
        self.without_events.0 = source.name;
        self.without_events.1.push(report.cursor.clone());
        Ok(())
    }

    fn send_cursors(&mut self) -> Result<(), OpError> {
        let (source, cursors) = std::mem::take(&mut self.without_events);
        if cursors.is_empty() {
            return Ok(());
        }
        let params = json!({ "source": source, "events": "[]", "cursors": cursors });
        self.call(source, params).map(drop)
    }

    /// Sends the last events of a dry run.
    fn count_rest(&mut self) -> Result<(), OpError> {
        for (source, mut pending) in std::mem::take(&mut self.to_count) {
            while !pending.events.is_empty() {
                let count = pending.events.len().min(self.most);
                let params = json!({ "source": source, "events": pending.list(count), "dry_run": true,
                                     "forgotten": self.plan.forgotten });
                let left = self.call(source, params)?;
                self.sent(&mut pending, count, left);
            }
        }
        Ok(())
    }

    fn event(
        &mut self,
        source: &Source,
        file: Origin,
        pending: &mut UnsentEvents,
        event: ReadyEvent,
    ) -> Result<(), OpError> {
        // A copy of an event that this dry run has counted is a known record.
        if event.origin.is_some_and(|origin| !self.counted.insert(origin)) {
            self.totals.copied(source.name, &event.session);
            return Ok(());
        }
        pending.bytes += event.json.len();
        pending.events.push_back(event.json);
        self.totals.redact(source.name, &event.session, event.redacted);
        match self.is_full(pending) {
            true => self.send(source, file, pending, None),
            false => Ok(()),
        }
    }

    fn is_full(&self, pending: &UnsentEvents) -> bool {
        pending.events.len() >= self.most || pending.bytes >= BATCH_BYTES
    }

    /// Sends the events, and at the end of a file its cursor with the last of them.
    fn send(
        &mut self,
        source: &Source,
        file: Origin,
        pending: &mut UnsentEvents,
        end: Option<&FileReport>,
    ) -> Result<(), OpError> {
        loop {
            let count = pending.events.len().min(self.most);
            let is_end = count == pending.events.len();
            let params = self.params(source, file, pending.list(count), end.filter(|_| is_end));
            let left = self.call(source.name, params)?;
            self.sent(pending, count, left);
            let is_done = match end {
                Some(_) => is_end && left == 0,
                None => !self.is_full(pending),
            };
            if is_done {
                return Ok(());
            }
        }
    }

    /// Removes the events of a call, all but the last ones, which the daemon left.
    fn sent(&mut self, pending: &mut UnsentEvents, count: usize, left: usize) {
        let stored = count.saturating_sub(left);
        pending.remove(stored);
        // Few events at once while hooks and searches come first: the daemon reads the rest again.
        self.most = match left {
            0 => (2 * self.most).min(limits::IMPORT_EVENTS_SENT),
            _ => stored.max(limits::IMPORT_EVENTS_BESIDE),
        };
    }

    /// The parameters of a call with these events.
    fn params(
        &self,
        source: &Source,
        file: Origin,
        events: String,
        end: Option<&FileReport>,
    ) -> Value {
        let mut params = json!({
            "source": source.name,
            "file": file.to_string(),
            "events": events,
            "dry_run": self.plan.is_dry,
            "forgotten": self.plan.forgotten,
        });
        if let Some(report) = end
            && !self.plan.is_partial()
            && !self.has_excluded
        {
            params["cursors"] = json!([report.cursor]);
            params["end"] =
                json!({ "sessions": report.sessions, "unfinished": report.is_unfinished });
        }
        if let Some(report) = end {
            if report.is_over {
                params["over"] = json!(report.sessions);
                params["subagent"] = json!(report.is_of_subagent);
            }
            if let (Some(title), [session]) =
                (&report.title, report.sessions.iter().collect::<Vec<_>>().as_slice())
            {
                params["titles"] = json!({ session.as_str(): title });
            }
        }
        params
    }

    /// Makes a call. Returns how many of its last events have to be sent again.
    fn call(&mut self, source: &'static str, mut params: Value) -> Result<usize, OpError> {
        if let Some(batch) = self.totals.batch {
            params["batch"] = json!(batch);
        }
        let (call, caller) = (client::mint(), self.caller.clone());
        let reply =
            self.road.call(Request { call, op: "import_events".to_owned(), params, caller })?;
        let sent =
            SentBatch::deserialize(&reply).map_err(|error| OpError::internal(error.to_string()))?;
        self.has_excluded |= sent.counts.excluded > 0;
        let left = sent.left;
        self.totals.add(source, sent);
        Ok(left)
    }
}

impl UnsentEvents {
    /// The first events as a JSON list.
    fn list(&self, count: usize) -> String {
        let mut list = String::with_capacity(self.bytes + count + 2);
        for event in self.events.iter().take(count) {
            list.push(if list.is_empty() { '[' } else { ',' });
            list.push_str(event);
        }
        list.push_str(if list.is_empty() { "[]" } else { "]" });
        list
    }

    /// Removes the events after the first ones.
    fn truncate(&mut self, count: usize) {
        while self.events.len() > count {
            self.bytes -= self.events.pop_back().map_or(0, |event| event.len());
        }
    }

    /// Removes the first events.
    fn remove(&mut self, count: usize) {
        let removed = self.events.drain(..count);
        self.bytes -= removed.map(|event| event.len()).sum::<usize>();
    }
}
