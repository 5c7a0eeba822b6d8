//! A plugin: a compiled-in crate of operations and schemes. It never sees another plugin.

use std::sync::Arc;

use model::OpError;
use model::event::Published;
use model::hook::{HookEvent, ToldEntry};
use model::wire::EnvNames;
use place::Captured;
use store::observations::Added;
use store::{Aggregate, Opened, Rx, Store, Tx};

use crate::asset::Asset;
use crate::candidate::{Candidate, Moment, Occasion};
use crate::config::{Config, ConfigKey};
use crate::feed::Feed;
use crate::op::Operation;
use crate::scheme::Scheme;

/// How the daemon shuts down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// For good: data that lives only as long as the daemon, such as session hints, is cleared.
    Clean,
    /// Other clients are attached: the next PRIMARY takes over everything.
    HandOver,
}

/// A crate of operations and schemes, and its part in the life of the daemon.
pub trait Plugin: Send + Sync {
    fn name(&self) -> &'static str;

    fn operations(&self) -> Vec<Operation>;

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        Vec::new()
    }

    /// Descriptions of its command groups: the first word and a line, without a full stop.
    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The settings this plugin reads.
    fn config(&self) -> &'static [ConfigKey] {
        &[]
    }

    /// Files of the web page, served to any browser on this machine.
    fn assets(&self) -> &'static [Asset] {
        &[]
    }

    /// Its part of the MCP server's instructions: a paragraph that tells an agent when to call its tools. Every agent
    /// reads it on every turn; all plugins together have `limits::MCP_INSTRUCTIONS_BYTES_MAX`.
    fn instructions(&self) -> &'static str {
        ""
    }

    /// Its aggregates, if the store does not list them itself: those of a plugin that is not in every build.
    fn aggregates(&self) -> &'static [&'static dyn Aggregate] {
        &[]
    }

    /// Called in a transaction whenever a database was opened: at the start, and again when the
    /// file vanished or was replaced while running.
    fn opened(&self, _tx: &Tx<'_>, _how: Opened) -> Result<(), OpError> {
        Ok(())
    }

    /// Stores its data about an agent's event, in the transaction that records the event. Not called for events of
    /// excluded projects or during a pause. The writer may call it more than once; only the last call counts.
    fn observe(
        &self,
        _event: &Captured<'_>,
        _tx: &Tx<'_>,
        _config: &Config,
    ) -> Result<(), OpError> {
        Ok(())
    }

    /// Whether it would store no record of an event of a transcript: retention would delete the record at once, or the
    /// settings turn such records off. A dry run of an import asks this instead of calling [`Plugin::observe`].
    fn leaves_out(
        &self,
        _event: &HookEvent,
        _rx: &Rx<'_>,
        _config: &Config,
    ) -> Result<bool, OpError> {
        Ok(false)
    }

    /// Stores its data beside the event's record, in the same transaction. Called after every plugin's `observe`, if
    /// the event has a record.
    fn recorded(
        &self,
        _event: &Captured<'_>,
        _record: Added,
        _tx: &Tx<'_>,
        _config: &Config,
    ) -> Result<(), OpError> {
        Ok(())
    }

    /// Keeps its other records of an event for the hook that reported it after an import had added them. `observe` is not
    /// called for such an event.
    fn reported_too(&self, _event: &Captured<'_>, _tx: &Tx<'_>) -> Result<(), OpError> {
        Ok(())
    }

    /// Whether it may have candidates on such an occasion. Called for every event on the writer's thread, so it must
    /// answer from memory; a plugin that would have to read the store answers yes.
    fn may_have_candidates(&self, _occasion: &Occasion<'_>, _config: &Config) -> bool {
        true
    }

    /// The rows that the agent could use now. Called after the event was committed; during a pause only for
    /// questions and handoffs.
    fn candidates(&self, _moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        Ok(Vec::new())
    }

    /// Called in the transaction that stores the receipts of a text which a session got.
    fn delivered(
        &self,
        _tx: &Tx<'_>,
        _session: &str,
        _entries: &[ToldEntry],
    ) -> Result<(), OpError> {
        Ok(())
    }

    /// Its feeds of events.
    fn feeds(&self) -> Vec<Arc<dyn Feed>> {
        Vec::new()
    }

    /// The kinds of events that [`Plugin::on_event`] gets: a kind, or a prefix that ends with a slash.
    fn listens_to(&self) -> &'static [&'static str] {
        &[]
    }

    /// Called on the pool after an event that it listens to was committed. A plugin that writes here notes events of
    /// other kinds than it listens to. Events of one transaction arrive in sequence; those of several may overlap.
    fn on_event(
        &self,
        _event: &Published,
        _store: &Store,
        _config: &Config,
    ) -> Result<(), OpError> {
        Ok(())
    }

    /// Its line of `rekindle status`: a title and a short text; none if there is nothing to report.
    fn status(&self, _rx: &Rx<'_>) -> Result<Option<(&'static str, String)>, OpError> {
        Ok(None)
    }

    /// Called in a transaction when the daemon ends.
    fn ended(&self, _tx: &Tx<'_>, _end: End) -> Result<(), OpError> {
        Ok(())
    }

    /// The environment variables that its scopes refer to. With a call, clients send these and no others. Called for
    /// every call, so the list must be in memory.
    fn asks_env(&self) -> Arc<EnvNames> {
        Arc::default()
    }

    /// Whether some of its data has expired. Called every few seconds, so the answer must be in memory.
    fn has_expired(&self, _now: i64) -> bool {
        false
    }

    /// Deletes expired data.
    fn sweep(&self, _tx: &Tx<'_>, _now: i64) -> Result<(), OpError> {
        Ok(())
    }

    /// The number of items that a clean shutdown would clear. A daemon that has some keeps running much longer after
    /// its last client.
    fn held(&self) -> usize {
        0
    }
}
