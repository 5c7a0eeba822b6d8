//! What is done once at the end of a group, just before COMMIT, however many of its writes ask for it:
//! rows that every event of a session changes, and its summary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::OpError;
use model::event::HookRecord;
use model::locations::paused_beside;
use model::project::Pauses;
use rusqlite::Connection;

use crate::error::StoreError;
use crate::memo::Memo;
use crate::tx::Tx;
use crate::{hook_events, pauses, prompts, record_ids, sessions};

/// What waits for the end of a group.
#[derive(Default)]
pub(crate) struct Late {
    /// The last event of each session.
    heard: BTreeMap<String, HookRecord>,
    /// Milliseconds since 1970 at which sessions were last active.
    touched: BTreeMap<i64, i64>,
    /// How many actions followed which prompts, and prompts whose actions were counted anew.
    acted: BTreeMap<i64, u32>,
    recounted: BTreeSet<i64>,
    summaries: BTreeSet<i64>,
    /// How many documents were noted that the full-text index does not know yet.
    unindexed: usize,
    /// Whether the index was brought up to date.
    indexed: bool,
    /// Whether it is known of all passages what they mean.
    worked_out: bool,
    /// Whether there are postings to be packed, if somebody has looked.
    loose: Option<bool>,
    /// Whether there are other pauses, or other ways to a project.
    pauses_changed: bool,
    /// Whether something was deleted that must not stay in the log either.
    wiped: bool,
}

impl Late {
    /// An event of a session; of several the latest is kept.
    pub(crate) fn hear(&mut self, record: HookRecord) {
        let session = record.session.as_deref().unwrap_or_default();
        match self.heard.get_mut(session) {
            Some(known) if known.at <= record.at => *known = record,
            Some(_) => {}
            None => drop(self.heard.insert(session.to_owned(), record)),
        }
    }

    pub(crate) fn touch(&mut self, session: i64, at: i64) {
        let last = self.touched.entry(session).or_insert(at);
        *last = at.max(*last);
    }

    /// One more action of a prompt.
    pub(crate) fn acted(&mut self, prompt: i64) {
        *self.acted.entry(prompt).or_default() += 1;
    }

    /// The actions of a prompt were counted, those of this group included.
    pub(crate) fn recounted(&mut self, prompt: i64) {
        self.acted.remove(&prompt);
        self.recounted.insert(prompt);
    }

    pub(crate) fn summarise(&mut self, session: i64) {
        self.summaries.insert(session);
    }

    pub(crate) fn unindexed(&mut self) {
        self.unindexed += 1;
    }

    pub(crate) fn indexed(&mut self) {
        self.indexed = true;
    }

    pub(crate) fn worked_out(&mut self) {
        self.worked_out = true;
    }

    pub(crate) fn loose(&mut self, is_loose: bool) {
        self.loose = Some(is_loose);
    }

    pub(crate) fn pauses_changed(&mut self) {
        self.pauses_changed = true;
    }

    pub(crate) fn wiped(&mut self) {
        self.wiped = true;
    }

    /// Adds what a later write of the group asks for.
    pub(crate) fn add(&mut self, later: Late) {
        later.heard.into_values().for_each(|record| self.hear(record));
        later.touched.into_iter().for_each(|(session, at)| self.touch(session, at));
        later.recounted.into_iter().for_each(|prompt| self.recounted(prompt));
        for (prompt, times) in later.acted {
            *self.acted.entry(prompt).or_default() += times;
        }
        self.summaries.extend(later.summaries);
        self.unindexed += later.unindexed;
        self.indexed |= later.indexed;
        self.worked_out |= later.worked_out;
        self.loose = later.loose.or(self.loose);
        self.pauses_changed |= later.pauses_changed;
        self.wiped |= later.wiped;
    }

    /// Does all of it, and says what follows.
    pub(crate) fn finish(self, db: &Connection, memo: &Memo) -> Result<Finished, StoreError> {
        let tx = Tx::new(db, memo);
        let Late { heard, touched, acted, summaries, .. } = &self;
        // These are notes about one session each. A note that fails is skipped, because the group contains
        // other sessions too; only a fault of the database itself fails the group.
        let unless_fault = |noted: Result<(), OpError>| match noted {
            Err(error) if tx.has_fault() => Err(error),
            _ => Ok(()),
        };
        let done = || -> Result<_, OpError> {
            for record in heard.values() {
                unless_fault(hook_events::heard(&tx, record))?;
            }
            for (session, at) in touched {
                unless_fault(sessions::was_active(&tx, *session, *at))?;
            }
            for (prompt, times) in acted {
                unless_fault(prompts::acted(&tx, *prompt, *times))?;
            }
            for session in summaries {
                unless_fault(sessions::summarise(&tx, *session))?;
            }
            record_ids::keep(&tx)?;
            self.pauses_changed.then(|| pauses::to_note(&tx)).transpose()
        };
        let pauses = match done() {
            Ok(pauses) => pauses,
            Err(error) => return Err(tx.take_fault().unwrap_or(StoreError::Io(error.message))),
        };
        let (drawn, _) = tx.into_rest();
        let index = Index {
            noted: self.unindexed + drawn.unindexed,
            is_whole: self.indexed,
            is_worked_out: self.worked_out,
            is_loose: self.loose,
        };
        Ok(Finished { index, pauses, wiped: self.wiped })
    }
}

/// What follows from a group of writes once it is committed.
pub(crate) struct Finished {
    pub(crate) index: Index,
    /// What is to be noted of pauses, if that is another thing than before.
    pauses: Option<Option<Pauses>>,
    /// Whether the log is to be emptied at once.
    pub(crate) wiped: bool,
}

impl Finished {
    /// Notes the pauses beside this database.
    pub(crate) fn note_pauses(&self, database: &Path) {
        if let Some(pauses) = &self.pauses {
            let _ = pauses::note(&paused_beside(database), pauses.as_ref());
        }
    }
}

/// What a group of writes did to the full-text index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Index {
    /// Documents that were noted because it does not know them yet.
    pub(crate) noted: usize,
    /// Whether it knew everything that was there before.
    pub(crate) is_whole: bool,
    /// Whether it is also known of all passages what they mean.
    pub(crate) is_worked_out: bool,
    /// Whether there are postings to be packed, if that may have changed.
    pub(crate) is_loose: Option<bool>,
}
