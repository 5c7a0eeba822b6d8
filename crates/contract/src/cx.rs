//! The context of a handler: the caller, the time, settings, the store, other operations, events.
//!
//! [`Cx`] gives access to these six things and does not grow.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use model::event::Event;
use model::project::ProjectFacts;
use model::{CallId, OpError, Reply, limits};
use serde::Serialize;
use serde_json::Value;
use store::{Rx, StartedWrite, Store, Tx, Write, Written, projects, receipts, sessions};

use crate::caller::KnownCaller;
use crate::config::Config;
use crate::job::RunningJob;

/// The context of one call.
pub struct Cx<'a> {
    /// The caller, with its project and session.
    pub caller: &'a KnownCaller<'a>,
    /// Milliseconds since 1970, UTC; constant during the call.
    pub now: i64,
    pub config: &'a Config,
    pub store: CallStore<'a>,
    caller_road: &'a dyn Fn(&str, Value) -> Reply,
}

impl<'a> Cx<'a> {
    pub fn new(
        caller: &'a KnownCaller<'a>,
        now: i64,
        config: &'a Config,
        store: CallStore<'a>,
        caller_road: &'a dyn Fn(&str, Value) -> Reply,
    ) -> Cx<'a> {
        Cx { caller, now, config, store, caller_road }
    }

    /// Calls another operation for the same caller.
    pub fn call(&self, op: &str, params: Value) -> Reply {
        (self.caller_road)(op, params)
    }

    /// Notes that a session read an entry: if a hook had shown the entry to that session, the read counts as its use.
    /// Only schemes whose entries are used by reading are noted, and a failure to note does not fail the read.
    pub fn note_read(&self, session: Option<&str>, path: &str) {
        let scheme = path.split("://").next().unwrap_or_default();
        let Some(name) = session.filter(|_| receipts::READ_IS_USE.contains(&scheme)) else {
            return;
        };
        let unread = self.store.read(|rx| match sessions::id_of(rx, name)? {
            Some(session) => Ok(receipts::is_unread(rx, session, path)?.then_some(session)),
            None => Ok(None),
        });
        if let Ok(Some(session)) = unread {
            let path = path.to_owned();
            let _ = self.store.write_unanswered(move |tx| receipts::mark_read(tx, session, &path));
        }
    }

    /// Notes an event of the next `store.write`, which is published after its COMMIT. A closure that needs the
    /// sequence number calls [`Tx::note`] itself.
    ///
    /// An event without a project gets that of the caller's directory, if it is in the store: subscribers filter by it.
    pub fn note(&self, event: Event) {
        if event.project.is_none() && self.caller.situation.cwd.is_some() {
            let facts = &self.caller.place().facts;
            // The home directory and the root directory are not projects.
            let facts = facts.root.is_some().then(|| facts.clone());
            self.store.facts.replace(facts);
        }
        self.store.events.borrow_mut().push(event);
    }
}

/// The store as one call sees it: a write commits the call's id and answer with its effect.
pub struct CallStore<'a> {
    store: &'a Store,
    /// The call whose repeat must find the stored answer; none for reads and nested calls.
    call: Option<CallId>,
    fingerprint: i64,
    now: i64,
    events: RefCell<Vec<Event>>,
    /// The project of events that name none.
    facts: RefCell<Option<ProjectFacts>>,
    repeated: RefCell<Option<String>>,
    job: Option<Arc<RunningJob>>,
}

/// A write of a call that has started.
pub struct CallWrite<'c, T> {
    started: StartedWrite<T>,
    repeated: &'c RefCell<Option<String>>,
}

impl<T> CallWrite<'_, T> {
    /// Waits for COMMIT and returns the output.
    pub fn wait(self) -> Result<T, OpError> {
        match self.started.wait()? {
            Written::Done(value) => Ok(value),
            Written::Repeated(answer) => {
                self.repeated.replace(Some(answer));
                Err(OpError::internal("this call was answered before"))
            }
        }
    }
}

impl<'a> CallStore<'a> {
    pub fn new(
        store: &'a Store,
        call: Option<CallId>,
        fingerprint: i64,
        now: i64,
    ) -> CallStore<'a> {
        CallStore {
            store,
            call,
            fingerprint,
            now,
            events: RefCell::default(),
            facts: RefCell::default(),
            repeated: RefCell::default(),
            job: None,
        }
    }

    /// The store of a call that runs as this job.
    #[must_use]
    pub fn of_job(self, job: Option<Arc<RunningJob>>) -> CallStore<'a> {
        CallStore { job, ..self }
    }

    /// Reports the progress of a step: units done, and units in all if known. An error if the job was cancelled, so
    /// that an operation ends between two steps. Does nothing for calls that are not jobs.
    pub fn progress(&self, step: &str, done: u64, total: Option<u64>) -> Result<(), OpError> {
        let Some(job) = &self.job else { return Ok(()) };
        job.report(step, done, total);
        job.check()
    }

    /// Runs `f` in a transaction and returns after COMMIT. A repeat of the call gets the stored return value, so it
    /// has to be the operation's own output. The writer may run `f` more than once; only the last run counts.
    pub fn write<T: Serialize + Send + 'static>(
        &self,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> Result<T, OpError> {
        self.write_as(self.call, f)
    }

    /// Starts such a write and returns at once, for an operation that adds to its output meanwhile. A repeat of the call
    /// gets the output without the addition.
    pub fn start_write<T: Serialize + Send + 'static>(
        &self,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> Result<CallWrite<'_, T>, OpError> {
        self.start_write_as(self.call, f)
    }

    /// Like [`CallStore::write`], for operations that recognise their own repeats: no answer is stored.
    pub fn write_unanswered<T: Serialize + Send + 'static>(
        &self,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> Result<T, OpError> {
        self.write_as(None, f)
    }

    fn write_as<T: Serialize + Send + 'static>(
        &self,
        call: Option<CallId>,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> Result<T, OpError> {
        self.start_write_as(call, f)?.wait()
    }

    fn start_write_as<T: Serialize + Send + 'static>(
        &self,
        call: Option<CallId>,
        mut f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> Result<CallWrite<'_, T>, OpError> {
        let (events, facts) = (self.events.take(), self.facts.take());
        let noted = move |tx: &Tx<'_>| {
            let written = f(tx)?;
            let known = facts.as_ref().map(|facts| projects::known(tx, facts)).transpose()?;
            let known = known.flatten().map(|project| project.id);
            for event in &events {
                let project = event.project.or(known);
                tx.note(Event { project, ..event.clone() })?;
            }
            Ok(written)
        };
        let fingerprint = self.fingerprint;
        let started = self.store.start_write(Write { call, fingerprint, at: self.now }, noted)?;
        Ok(CallWrite { started, repeated: &self.repeated })
    }

    /// Runs `f` in a transaction that is rolled back, for an operation that says what it would do.
    pub fn try_out<T: Send + 'static>(
        &self,
        mut f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> Result<T, OpError> {
        let output: Arc<Mutex<Option<T>>> = Arc::default();
        let slot = output.clone();
        let rolled_back = self.write_unanswered(move |tx| -> Result<(), OpError> {
            let output = f(tx)?;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
            Err(OpError::unavailable("a dry run stores nothing"))
        });
        let output = output.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (output, rolled_back) {
            (Some(output), _) => Ok(output),
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Err(OpError::internal("a dry run was not rolled back")),
        }
    }

    /// Runs `f` over a snapshot.
    pub fn read<T>(&self, f: impl FnOnce(&Rx<'_>) -> Result<T, OpError>) -> Result<T, OpError> {
        self.store.read(f)
    }

    /// Runs `f` over a snapshot with a complete index. The second value is false if the index could not be completed
    /// in time, or if embeddings are missing.
    pub fn search<T>(
        &self,
        f: impl FnOnce(&Rx<'_>) -> Result<T, OpError>,
    ) -> Result<(T, bool), OpError> {
        let whole = self.store.catch_up(limits::INDEX_PATIENCE);
        Ok((self.store.read(f)?, whole && self.store.is_worked_out()))
    }

    /// The id of this call, if it writes.
    pub fn call_id(&self) -> Option<CallId> {
        self.call
    }

    /// The store itself, for operations on the whole file: backup, restore, health.
    pub fn whole(&self) -> &Store {
        self.store
    }

    /// Rewrites the file, so that deleted and replaced texts can no longer be read in it.
    pub fn leave_no_trace(&self) -> Result<(), OpError> {
        self.store.compact().map_err(|error| {
            let message = format!(
                "the text was deleted, but traces may be left in the database file: {}",
                error.message
            );
            OpError { message, ..error }.hint("`rekindle maintain` rewrites the file.")
        })
    }

    /// The stored answer, if this call is a repeat. For dispatch only, not for handlers.
    pub fn take_repeated(&self) -> Option<String> {
        self.repeated.take()
    }
}
