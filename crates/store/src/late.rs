//! What is done once at the end of a group, just before COMMIT, however many of its writes ask for it:
//! rows that every event of a session changes, and its summary.

use std::collections::{BTreeMap, BTreeSet};

use model::OpError;
use model::event::HookRecord;
use rusqlite::Connection;

use crate::error::StoreError;
use crate::memo::Memo;
use crate::tx::Tx;
use crate::{hook_events, prompts, record_ids, sessions};

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
    }

    /// Does all of it, and says how the full-text index stands.
    pub(crate) fn finish(self, db: &Connection, memo: &Memo) -> Result<Index, StoreError> {
        let tx = Tx::new(db, memo);
        let Late { heard, touched, acted, summaries, .. } = &self;
        let done = || -> Result<(), OpError> {
            heard.values().try_for_each(|record| hook_events::heard(&tx, record))?;
            touched
                .iter()
                .try_for_each(|(session, at)| sessions::was_active(&tx, *session, *at))?;
            acted.iter().try_for_each(|(prompt, times)| prompts::acted(&tx, *prompt, *times))?;
            summaries.iter().try_for_each(|session| sessions::summarise(&tx, *session))?;
            record_ids::keep(&tx)
        };
        if let Err(error) = done() {
            return Err(tx.take_fault().unwrap_or(StoreError::Io(error.message)));
        }
        let (drawn, _) = tx.into_rest();
        Ok(Index {
            noted: self.unindexed + drawn.unindexed,
            is_whole: self.indexed,
            is_worked_out: self.worked_out,
        })
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
}
