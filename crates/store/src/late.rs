//! What is done once at the end of a group, just before COMMIT, however many of its writes ask for it:
//! rows that every event of a session changes, its summary, and the full-text index.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use model::OpError;
use model::event::HookRecord;
use rusqlite::Connection;

use crate::error::StoreError;
use crate::passages::{self, Change};
use crate::tx::Tx;
use crate::{hook_events, sessions};

/// What waits for the end of a group.
#[derive(Default)]
pub(crate) struct Late {
    /// The last event of each session.
    heard: BTreeMap<String, HookRecord>,
    /// Milliseconds since 1970 at which sessions were last active.
    touched: BTreeMap<i64, i64>,
    summaries: BTreeSet<i64>,
    indexing: Vec<Change>,
}

impl Late {
    /// An event of a session; of several the latest is kept.
    pub(crate) fn hear(&mut self, record: HookRecord) {
        match self.heard.entry(record.session.clone().unwrap_or_default()) {
            Entry::Occupied(mut known) if known.get().at <= record.at => {
                known.insert(record);
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(new) => drop(new.insert(record)),
        }
    }

    pub(crate) fn touch(&mut self, session: i64, at: i64) {
        let last = self.touched.entry(session).or_insert(at);
        *last = at.max(*last);
    }

    pub(crate) fn summarise(&mut self, session: i64) {
        self.summaries.insert(session);
    }

    pub(crate) fn index(&mut self, change: Change) {
        self.indexing.push(change);
    }

    pub(crate) fn take_indexing(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.indexing)
    }

    /// Adds what a later write of the group asks for.
    pub(crate) fn add(&mut self, later: Late) {
        later.heard.into_values().for_each(|record| self.hear(record));
        later.touched.into_iter().for_each(|(session, at)| self.touch(session, at));
        self.summaries.extend(later.summaries);
        self.indexing.extend(later.indexing);
    }

    /// Does all of it.
    pub(crate) fn finish(mut self, db: &Connection) -> Result<(), StoreError> {
        let tx = Tx::new(db);
        let Late { heard, touched, summaries, .. } = &self;
        let done = || -> Result<(), OpError> {
            heard.values().try_for_each(|record| hook_events::heard(&tx, record))?;
            touched
                .iter()
                .try_for_each(|(session, at)| sessions::was_active(&tx, *session, *at))?;
            summaries.iter().try_for_each(|session| sessions::summarise(&tx, *session))
        };
        if let Err(error) = done() {
            return Err(tx.take_fault().unwrap_or(StoreError::Io(error.message)));
        }
        let (summaries, _) = tx.into_rest();
        self.indexing.extend(summaries.indexing);
        passages::apply(db, self.indexing).map_err(|error| StoreError::of_any(&error))
    }
}
