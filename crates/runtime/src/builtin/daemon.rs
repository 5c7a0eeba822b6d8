//! `status` and `stop`: the daemon that hosts this runtime, if there is one.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use contract::{Access, Cx, Op, OpInfo, Tier};
use model::OpError;
use model::time::rfc3339;
use schemars::JsonSchema;
use serde::Serialize;
use store::hook_events;

use super::pause::{self, Holding};
use super::{BuiltinState, NoParams};

pub(super) struct Status(pub(super) Arc<BuiltinState>);

#[derive(Serialize, JsonSchema)]
pub(super) struct StatusOutput {
    /// Whether a daemon answered; false if the command opened the store itself.
    running: bool,
    version: String,
    database: String,
    #[serde(flatten)]
    daemon: Option<DaemonStatus>,
    /// Session hints and other state that a clean end clears.
    held: usize,
    /// Hook events recorded so far.
    events: u64,
    last_event: Option<LastEvent>,
    /// Events in the spool.
    spooled: usize,
    /// Lines of plugins by title, for example `learning`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    plugins: BTreeMap<String, String>,
    /// Repairs of the store.
    notices: Vec<String>,
    /// Other notes, such as that capture is paused.
    notes: Vec<String>,
    /// The active pauses. The notes say the same in a sentence.
    pauses: Vec<Holding>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DaemonStatus {
    pid: u32,
    port: u16,
    address: String,
    /// `stdio`, `http` or `daemon`.
    mode: String,
    build: String,
    /// RFC 3339, UTC.
    started: String,
    uptime_seconds: u64,
    connections: usize,
    /// Live agent sessions.
    sessions: usize,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct LastEvent {
    name: String,
    session: Option<String>,
    /// RFC 3339, UTC.
    at: String,
}

impl Op for Status {
    const INFO: OpInfo = OpInfo {
        name: "status",
        summary: "Show what is running, where, and when the last event arrived",
        doc: "The daemon's process, address and database, and a short summary of the store.",
        toolset: "system",
        examples: &[],
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = StatusOutput;

    fn run(&self, cx: &Cx<'_>, _: NoParams) -> Result<StatusOutput, OpError> {
        let inner = self.0.inner()?;
        let facts = inner.host.get().map(|host| host.facts());
        let host_notes = facts.iter().flat_map(|facts| facts.notes.clone());
        let host_notes: Vec<String> = host_notes.collect();
        let daemon = facts.map(|facts| {
            let uptime = u64::try_from((cx.now - facts.started_at).max(0)).unwrap_or(0) / 1000;
            DaemonStatus {
                pid: facts.pid,
                port: facts.port,
                address: facts.address,
                mode: facts.mode.to_owned(),
                build: facts.build,
                started: rfc3339(facts.started_at),
                uptime_seconds: uptime,
                connections: facts.connections,
                sessions: self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner).len(),
            }
        });
        let outdated = inner.settings.outdated(&inner.table);
        let outdated =
            outdated.map(|what| format!("{what}; the daemon still uses the old settings"));
        let waiting = inner.spool.waiting();
        let (last, events, notes, plugins, pauses) = cx.store.read(|rx| {
            let mut notes = host_notes.clone();
            notes.extend(outdated.iter().cloned().chain(waiting.note()));
            notes.extend(inner.notes(rx, cx)?);
            let mut plugins = BTreeMap::new();
            for plugin in inner.plugins.iter() {
                let line = plugin.status(rx)?.map(|(title, text)| (title.to_owned(), text));
                plugins.extend(line);
            }
            let pauses = pause::active(rx, cx.now)?;
            Ok((hook_events::last(rx)?, hook_events::count(rx)?, notes, plugins, pauses))
        })?;
        Ok(StatusOutput {
            running: daemon.is_some(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            database: inner.locations.database.display().to_string(),
            daemon,
            held: inner.plugins.iter().map(|plugin| plugin.held()).sum(),
            events,
            last_event: last.map(|record| LastEvent {
                name: record.name,
                session: record.session,
                at: rfc3339(record.at),
            }),
            spooled: waiting.events,
            plugins,
            notices: inner.store.notices(),
            notes,
            pauses,
        })
    }
}

pub(super) struct Stop(pub(super) Arc<BuiltinState>);

#[derive(Serialize, JsonSchema)]
pub(super) struct StopOutput {
    stopping: bool,
}

impl Op for Stop {
    const INFO: OpInfo = OpInfo {
        name: "stop",
        summary: "End the daemon cleanly",
        doc: "Running calls finish; session hints are cleared.",
        access: Access::Write { destructive: true, idempotent: true },
        tiers: &[Tier::Person, Tier::Client],
        toolset: "system",
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = StopOutput;

    fn run(&self, _: &Cx<'_>, _: NoParams) -> Result<StopOutput, OpError> {
        let inner = self.0.inner()?;
        if let Some(host) = inner.host.get() {
            host.stop();
        }
        Ok(StopOutput { stopping: inner.host.get().is_some() })
    }
}
