//! The text for an agent when an event allows one: collects the plugins' candidates, has the assembler build one
//! text, and stores its receipts. A session gets each entry once.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use contract::{BriefingForm, Candidate, EXCLUDED_PROJECTS, Moment, Occasion};
use model::hook::{Happening, HookEvent, ToldEntry};
use model::situation::Situation;
use model::{CallId, Code, OpError, limits};
use place::{NotCaptured, PlaceSource as _, Question, Wanted, began_in, listed, run_place};
use store::{Rx, Write, pauses, receipts, sessions};

use crate::assemble::budgets::{self, Budget};
use crate::assemble::{Assembled, assemble};
use crate::capture::keep_receipts;
use crate::runtime::{Runtime, RuntimeInner};

/// The occasion of an event, if the agent can get a text at it.
fn occasion(event: &HookEvent) -> Option<Occasion<'_>> {
    match &event.what {
        Happening::SessionStarted(source) => Some(Occasion::SessionStart(*source)),
        Happening::Prompted(text) => Some(Occasion::Prompt(text)),
        Happening::ToolStarting(tool) => Some(Occasion::BeforeTool(tool)),
        // A tool that the user interrupted neither failed nor worked.
        Happening::ToolUsed(tool) if tool.metadata["is_interrupt"] == true => None,
        Happening::ToolUsed(tool) => Some(Occasion::AfterTool { tool, failed: tool.failed }),
        _ => None,
    }
}

/// The deadline of the hook process for this event: the agent has its answer, or none, by then.
pub fn deadline(event: &HookEvent) -> Duration {
    match &event.what {
        Happening::ToolStarting(_) | Happening::ToolUsed(_) => limits::HOOK_TOOL_DEADLINE,
        Happening::Prompted(_) => limits::HOOK_PROMPT_DEADLINE,
        _ => limits::HOOK_DEADLINE,
    }
}

/// How long the agent's hook waits for the daemon.
pub(crate) fn patience(event: &HookEvent) -> Duration {
    match &event.what {
        Happening::ToolStarting(_) | Happening::ToolUsed(_) => limits::HOOK_TOOL_DEADLINE,
        Happening::Prompted(_) => limits::HOOK_PROMPT_PATIENCE,
        _ => limits::HOOK_PATIENCE,
    }
}

/// The situation of an agent in this directory of this machine.
pub(crate) fn situation(cwd: Option<&str>) -> Situation {
    let facts = cwd.and_then(|cwd| git::Facts::at(Path::new(cwd)));
    Situation {
        cwd: cwd.map(str::to_owned),
        os: Some(if cfg!(target_os = "macos") { "darwin" } else { "linux" }.to_owned()),
        repo: facts.as_ref().map(git::Facts::repo),
        branch: facts.and_then(|facts| facts.branch.branch().map(str::to_owned)),
        ..Situation::default()
    }
}

/// Locks by session, so that each session's texts are made one after the other. A few locks are enough: two sessions
/// that share one only wait a moment for each other.
#[derive(Default)]
pub(crate) struct SessionLocks([Mutex<()>; 16]);

impl SessionLocks {
    fn of(&self, session: &str) -> Option<MutexGuard<'_, ()>> {
        let sum =
            session.bytes().fold(0, |sum: usize, byte| sum.wrapping_mul(31) + usize::from(byte));
        // The lock guards no data of its own, so a panic leaves nothing inconsistent.
        let lock = self.0.get(sum % self.0.len())?;
        Some(lock.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How the receipt of a text is stored.
#[derive(Clone, Copy, PartialEq)]
enum ReceiptStorage {
    Needed,
    /// The caller writes the receipt to the spool.
    ByCaller,
}

/// The reply to an agent's event.
pub struct HookReply {
    pub text: String,
    /// The entries of the text.
    pub(crate) entries: Vec<ToldEntry>,
    /// The receipt as an event for the spool, if the store could not be written.
    pub receipt: Option<Box<HookEvent>>,
}

impl Runtime {
    /// The reply to an event that arrived at `started` and is in the spool, unless this process has already ingested
    /// it. Works with a read-only store too: then the caller puts the receipt into the spool.
    pub fn tell(&self, event: &HookEvent, started: Instant) -> Option<HookReply> {
        let until = started + deadline(event);
        if !self.inner.store.only_reads() {
            self.inner.ingest_first(event, until);
        }
        self.inner.told(event, Some(until), BriefingForm::Sections, ReceiptStorage::ByCaller)
    }
}

impl RuntimeInner {
    /// The occasion of an event, if its agent accepts text at this event and a plugin may have candidates for it.
    pub(crate) fn occasion_of<'e>(&self, event: &'e HookEvent) -> Option<Occasion<'e>> {
        let occasion = occasion(event).filter(|_| agents::takes_text(event))?;
        self.plugins
            .iter()
            .any(|plugin| plugin.may_have_candidates(&occasion, &self.config))
            .then_some(occasion)
    }

    /// The text for an agent after its event was recorded. Errors are only logged: a late or missing answer is no
    /// reason to disturb the agent.
    pub(crate) fn tell(
        &self,
        event: &HookEvent,
        until: Option<Instant>,
        form: BriefingForm,
    ) -> Option<HookReply> {
        self.told(event, until, form, ReceiptStorage::Needed)
    }

    fn told(
        &self,
        event: &HookEvent,
        until: Option<Instant>,
        form: BriefingForm,
        receipt: ReceiptStorage,
    ) -> Option<HookReply> {
        let occasion = self.occasion_of(event)?;
        // Tools run in parallel: without the lock, two hooks could show the same entry.
        let _telling = self.session_locks.of(&event.session);
        let cwd = event.cwd.as_ref().map(|cwd| cwd.as_str());
        let situation = situation(cwd);
        let place = self.places.at(cwd);
        let ran_in = run_place(&*self.places, &place, event);
        let moment = Moment {
            occasion,
            session: Some(&event.session),
            project: None,
            form,
            host: agents::host_limits(Some(&event.agent)),
            situation: &situation,
            place: &place,
            ran_in: &ran_in,
            now: (self.clock)(),
            config: &self.config,
            store: &self.store,
        };
        // The receipt is stored before the text is sent. A part of the time is kept for that: a text that comes too
        // late would count as seen, and the session would never get it.
        let until = until.map(|until| until - patience(event) / 4);
        let in_time = || until.is_none_or(|until| Instant::now() < until);
        let told = self.assemble(&moment).and_then(|made| {
            if made.text.is_empty() || !in_time() {
                return Ok(None);
            }
            let entries = entries(&made);
            let kept = match self.store.only_reads() {
                true => Err(OpError::unavailable("the store can only be read")),
                false => self.keep_receipt(&event.session, moment.now, entries.clone()),
            };
            let left = match kept {
                Ok(()) => None,
                // On a full disk a lost receipt must not keep the beginning of a session from the agent.
                Err(error) if receipt == ReceiptStorage::Needed => match moment.occasion {
                    Occasion::SessionStart(_) if error.code == Code::Unavailable => None,
                    _ => return Err(error),
                },
                Err(_) => Some(Box::new(spooled_receipt(event, moment.now, entries.clone()))),
            };
            Ok(Some(HookReply { text: made.text, entries, receipt: left }))
        });
        told.unwrap_or_else(|error| {
            self.log.warn("tell", format_args!("nothing told: {}", error.code.row().word));
            None
        })
    }

    /// Builds one text from the plugins' candidates, without those that the session has seen. A question and a handoff
    /// are answered like a read: also during a pause or in an excluded project, and with rows that the session has seen.
    pub(crate) fn assemble(&self, moment: &Moment<'_>) -> Result<Assembled, OpError> {
        let is_question =
            matches!(moment.occasion, Occasion::Question { .. } | Occasion::Handoff { .. });
        let not_captured = if is_question { None } else { self.not_captured(moment)? };
        if not_captured.is_some() {
            return Ok(Assembled { not_captured, ..Assembled::default() });
        }
        let mut candidates = Vec::new();
        for plugin in self.plugins.iter() {
            candidates.extend(plugin.candidates(moment)?);
        }
        if !is_question && !candidates.is_empty() {
            candidates = self.store.read(|rx| match moment.session {
                Some(session) => halved(rx, untold(rx, session, candidates)?),
                None => halved(rx, candidates),
            })?;
        }
        let (title, budget) = budgets::of(&moment.occasion, moment.config);
        Ok(assemble(title, candidates, Budget { host: moment.host, ..budget }))
    }

    /// Why the agent gets no text here; `None` if it may get one.
    fn not_captured(&self, moment: &Moment<'_>) -> Result<Option<NotCaptured>, OpError> {
        if is_excluded(moment)? {
            return Ok(Some(NotCaptured::Excluded));
        }
        Ok(self.is_paused(moment)?.then_some(NotCaptured::Paused))
    }

    /// Whether the user paused capture and briefings everywhere, or in the project of the agent's directory.
    fn is_paused(&self, moment: &Moment<'_>) -> Result<bool, OpError> {
        let cwd = moment.situation.cwd.as_ref();
        let here = Question::new(cwd.map(|_| moment.place), Wanted::Here);
        moment.store.read(|rx| {
            let here = here.scope(rx)?.ids().unwrap_or_default();
            pauses::holds(rx, here.first().copied(), moment.now)
        })
    }

    fn keep_receipt(&self, session: &str, at: i64, entries: Vec<ToldEntry>) -> Result<(), OpError> {
        let name = session.to_owned();
        let write = Write { at, ..Write::default() };
        let recorder = self.recorder();
        let kept = self.store.write(write, move |tx| {
            let Some(session) = sessions::id_of(tx, &name)? else {
                return Err(OpError::not_found("the session is not known"));
            };
            keep_receipts(tx, (session, at), &entries)?;
            recorder.delivered(tx, &name, &entries)
        });
        kept.map(drop)
    }
}

/// Whether the user excludes the project of the agent's directory, or the one where the session began. The store may know
/// the session nevertheless: a call that had no directory may have created it.
fn is_excluded(moment: &Moment<'_>) -> Result<bool, OpError> {
    let excluded = listed(moment.config.text(EXCLUDED_PROJECTS.key));
    match moment.session {
        _ if moment.is_excluded() => Ok(true),
        Some(session) => moment.store.read(|rx| began_in(rx, session, &excluded)),
        None => Ok(false),
    }
}

/// The entries of a text for its receipts. Merged candidates count as shown too.
fn entries(made: &Assembled) -> Vec<ToldEntry> {
    let entry = |told: &crate::assemble::ShownEntry| ToldEntry {
        path: told.path.clone(),
        stamp: told.stamp,
        reason: told.reasons.join("; "),
        tokens: told.tokens as u64,
    };
    made.told.iter().chain(&made.merged).map(entry).collect()
}

/// The receipt as an event of the same session. It is later than the answered event, which creates the
/// session and, after a compaction, makes earlier receipts outdated.
fn spooled_receipt(event: &HookEvent, now: i64, entries: Vec<ToldEntry>) -> HookEvent {
    HookEvent {
        id: CallId(event.id.0.map(|byte| !byte)),
        at: now.max(event.at.saturating_add(1)),
        tool_use_id: None,
        what: Happening::Told(entries),
        ..event.clone()
    }
}

/// The candidates, with half the score if several sessions got the entry and none used it.
fn halved(rx: &Rx<'_>, mut all: Vec<Candidate>) -> Result<Vec<Candidate>, OpError> {
    for candidate in &mut all {
        let scheme = candidate.path.split("://").next().unwrap_or_default();
        if receipts::RANKED_BY_USE.contains(&scheme)
            && receipts::is_ignored(rx, &candidate.path, limits::IGNORED_SESSIONS)?
        {
            candidate.score /= 2.0;
            candidate.reasons.push("no session used it so far".to_owned());
        }
    }
    Ok(all)
}

/// The candidates that this session has not seen, or not in their current version.
fn untold(rx: &Rx<'_>, session: &str, all: Vec<Candidate>) -> Result<Vec<Candidate>, OpError> {
    let Some(session) = sessions::id_of(rx, session)? else { return Ok(all) };
    let mut fresh = Vec::with_capacity(all.len());
    for candidate in all {
        let told = receipts::delivered(rx, session, &candidate.path)?;
        if told.is_none_or(|told| told.stamp != candidate.stamp) {
            fresh.push(candidate);
        }
    }
    Ok(fresh)
}
