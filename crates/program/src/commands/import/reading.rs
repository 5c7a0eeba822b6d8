//! Reads transcripts on threads of their own, ahead of the calls to the daemon, so that command and daemon work at the
//! same time. Events leave in the order of the files: which session a record belongs to depends on it.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use ::import::{FileReport, Source, Transcript, TranscriptFiles};
use model::hook::HookEvent;
use model::import::FileCursor;
use model::origin::Origin;
use model::{OpError, limits};
use text::secrets;

use super::plan::ImportPlan;

/// A file that is to be read, and how far it was read before.
#[derive(Clone, Copy)]
pub(super) struct PlannedFile<'p> {
    pub(super) source: &'static Source,
    pub(super) file: &'p Transcript,
    pub(super) known: Option<&'p FileCursor>,
}

/// An event that is ready to be sent.
pub(super) struct ReadyEvent {
    pub(super) session: String,
    pub(super) json: String,
    /// The rules by which its text was redacted.
    pub(super) redacted: Vec<String>,
    /// The origin that copies of it share, in a dry run.
    pub(super) origin: Option<Origin>,
}

/// A part of a file.
pub(super) enum FilePart {
    Events {
        events: Vec<ReadyEvent>,
        /// Bytes of the file that were read so far.
        bytes: u64,
    },
    End(Box<io::Result<FileReport>>),
}

/// The threads that read. Each reads every n-th file, and waits when it is too far ahead, so that memory is bounded.
pub(super) struct Readers {
    parts: Vec<Receiver<FilePart>>,
}

impl Readers {
    pub(super) fn start<'s, 'p: 's>(
        scope: &'s Scope<'s, 'p>,
        plan: &'p ImportPlan,
        files: &'p [PlannedFile<'p>],
        now: i64,
    ) -> Result<Readers, OpError> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.min(limits::IMPORT_READERS_MAX).min(files.len());
        let start = |first: usize| {
            let (sender, parts) = sync_channel(limits::IMPORT_PARTS_AHEAD);
            let own = files.iter().skip(first).step_by(threads);
            let work = move || {
                let mut files = TranscriptFiles::default();
                for file in own {
                    if !read(&mut files, plan, *file, now, &sender) {
                        return;
                    }
                }
            };
            let thread = thread::Builder::new().name(format!("import-{first}"));
            let started = thread.spawn_scoped(scope, work).map(|_| parts);
            started.map_err(|_| OpError::unavailable("the system refuses a new thread"))
        };
        Ok(Readers { parts: (0..threads).map(start).collect::<Result<_, OpError>>()? })
    }

    /// The next part of the file with this number.
    pub(super) fn next(&self, number: usize) -> Result<FilePart, OpError> {
        let part = self.parts.get(number % self.parts.len().max(1)).map(Receiver::recv);
        // Only a panic ends a thread before its last file.
        part.and_then(Result::ok)
            .ok_or_else(|| OpError::internal("a transcript could not be read because of a bug"))
    }
}

/// Reads a file and sends its parts. Returns false if nothing receives them any more.
fn read(
    files: &mut TranscriptFiles,
    plan: &ImportPlan,
    PlannedFile { source, file, known }: PlannedFile<'_>,
    now: i64,
    parts: &SyncSender<FilePart>,
) -> bool {
    let from = known.filter(|_| !plan.forgotten);
    let mut ahead = PartAhead::of(parts, files.bytes_read());
    let report = files.read(source, file, from, now, &mut |event| {
        if plan.wants(&event) {
            ahead.push(plan, &event);
        }
    });
    ahead.send();
    ahead.is_wanted && parts.send(FilePart::End(Box::new(report))).is_ok()
}

/// The events that are sent next.
struct PartAhead<'a> {
    parts: &'a SyncSender<FilePart>,
    bytes: Rc<Cell<u64>>,
    events: Vec<ReadyEvent>,
    size: usize,
    is_wanted: bool,
}

impl<'a> PartAhead<'a> {
    fn of(parts: &'a SyncSender<FilePart>, bytes: Rc<Cell<u64>>) -> PartAhead<'a> {
        PartAhead { parts, bytes, events: Vec::new(), size: 0, is_wanted: true }
    }

    fn push(&mut self, plan: &ImportPlan, event: &HookEvent) {
        let Ok(json) = serde_json::to_string(event) else { return };
        if !self.is_wanted {
            return;
        }
        let origin = || Origin::of_line(event).or_else(|| Origin::of_event(event));
        self.size += json.len();
        self.events.push(ReadyEvent {
            session: event.session.clone(),
            redacted: redacted(&json),
            origin: plan.is_dry.then(origin).flatten(),
            json,
        });
        let is_full = self.events.len() >= limits::IMPORT_PART_EVENTS;
        if is_full || self.size >= limits::IMPORT_PART_BYTES {
            self.send();
        }
    }

    fn send(&mut self) {
        let events = std::mem::take(&mut self.events);
        self.size = 0;
        if !events.is_empty() {
            let part = FilePart::Events { events, bytes: self.bytes.get() };
            self.is_wanted &= self.parts.send(part).is_ok();
        }
    }
}

/// The rules by which texts of an event were redacted. Most events have no redaction.
fn redacted(json: &str) -> Vec<String> {
    if secrets::redacted_rules(json).is_empty() {
        return Vec::new();
    }
    // A member's name may have a redaction too, which does not count.
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    secrets::redacted_rules_json(&value).into_iter().map(str::to_owned).collect()
}
