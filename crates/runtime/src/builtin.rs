//! Operations that every build has: hooks, entries by path, and the care of the store and the daemon.

mod briefing;
mod care;
mod daemon;
mod entries;
pub(crate) mod hook;
mod import;
mod jobs;
mod notices;
pub(crate) mod pause;
mod receipts;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use contract::{
    Candidate, Config, ConfigKey, ConfigKind, EXCLUDED_PROJECTS, Feed, Moment, Occasion, Operation,
    Plugin, TextForm,
};
use model::event::{HookRecord, Published};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::Deserialize;
use store::Store;

use crate::all_events::AllEvents;
use crate::capture::{Recorder, RecorderSource};
use crate::pause_feed::PauseFeed;
use crate::runtime::RuntimeInner;

/// State behind the built-in operations.
#[derive(Default)]
pub(crate) struct Builtin {
    shared: Arc<BuiltinState>,
}

#[derive(Default)]
struct BuiltinState {
    inner: OnceLock<Weak<RuntimeInner>>,
    /// Agent sessions that have not ended, with the time of their last event.
    sessions: Mutex<HashMap<String, i64>>,
}

impl BuiltinState {
    fn inner(&self) -> Result<Arc<RuntimeInner>, OpError> {
        self.inner
            .get()
            .and_then(Weak::upgrade)
            .ok_or_else(|| OpError::unavailable("the runtime is not open"))
    }
}

impl Builtin {
    pub(crate) fn bind(&self, inner: Weak<RuntimeInner>) {
        // Each kit opens one runtime; a second binding would be a defect and is ignored.
        let _ = self.shared.inner.set(inner);
    }

    /// Updates the list of live sessions.
    pub(crate) fn saw(&self, record: &HookRecord) {
        self.shared.saw(record);
    }

    pub(crate) fn live_sessions(&self, since: i64) -> usize {
        let mut sessions = self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, at| *at >= since);
        sessions.len()
    }
}

impl BuiltinState {
    fn saw(&self, record: &HookRecord) {
        let Some(session) = &record.session else { return };
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if record.name == "SessionEnd" {
            sessions.remove(session);
        } else {
            sessions.insert(session.clone(), record.at);
        }
    }
}

impl RecorderSource for BuiltinState {
    fn recorder(&self) -> Result<Recorder, OpError> {
        Ok(self.inner()?.recorder())
    }
}

impl Plugin for Builtin {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn operations(&self) -> Vec<Operation> {
        let shared = || self.shared.clone();
        vec![
            Operation::new(hook::Hook(shared())),
            Operation::new(briefing::Briefing(shared())),
            Operation::new(receipts::Receipts),
            Operation::new(pause::Pause),
            Operation::new(entries::Get(shared())),
            Operation::new(entries::ListResources(shared())),
            Operation::new(daemon::Status(shared())),
            Operation::new(daemon::Stop(shared())),
            Operation::new(care::Doctor(shared())),
            Operation::new(care::Backup),
            Operation::new(care::Restore),
            Operation::new(import::ImportEvents(shared())),
            Operation::new(import::ImportCursors),
            Operation::new(import::ListImports),
            Operation::new(import::UndoImport),
            Operation::new(jobs::ListJobs(shared())),
            Operation::new(jobs::CancelJob(shared())),
        ]
    }

    fn config(&self) -> &'static [ConfigKey] {
        CONFIG
    }

    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[("jobs", "See and cancel long operations")]
    }

    fn feeds(&self) -> Vec<Arc<dyn Feed>> {
        vec![Arc::new(AllEvents), Arc::new(PauseFeed)]
    }

    fn listens_to(&self) -> &'static [&'static str] {
        &["index/emptied"]
    }

    fn on_event(&self, _: &Published, _: &Store, _: &Config) -> Result<(), OpError> {
        self.shared.inner()?.index_as_job();
        Ok(())
    }

    fn may_have_candidates(&self, occasion: &Occasion<'_>, _: &Config) -> bool {
        matches!(occasion, Occasion::SessionStart(_))
    }

    fn candidates(&self, moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        Ok(notices::candidates(moment))
    }
}

const fn key(
    key: &'static str,
    kind: ConfigKind,
    default: &'static str,
    env: &'static [&'static str],
    doc: &'static str,
) -> ConfigKey {
    ConfigKey { key, kind, default, env, doc }
}

/// Whether a text is a list of agents whose transcripts can be imported.
fn are_agents(text: &str) -> bool {
    place::listed(text).iter().all(|name| agents::agent(name).is_some())
}

const CONFIG: &[ConfigKey] = &[
    EXCLUDED_PROJECTS,
    key(
        "import.follow",
        ConfigKind::Form(&TextForm {
            word: "list of agents",
            like: "names of agents, separated by commas, such as claude-code,codex",
            fits: are_agents,
        }),
        "",
        &["REKINDLE_IMPORT_FOLLOW"],
        "Agents whose transcripts the daemon imports while it runs, at most once a minute. A change takes effect when the daemon starts again.",
    ),
    key(
        "search.meaning",
        ConfigKind::Boolean,
        "true",
        &["REKINDLE_SEARCH_MEANING"],
        "Whether search also matches by meaning, with embeddings.",
    ),
    key(
        "daemon.port",
        ConfigKind::Port,
        "8765",
        &["REKINDLE_PORT"],
        "First port to try; if it is taken, the next free one is used.",
    ),
    key(
        "daemon.idle",
        ConfigKind::Duration,
        "12h",
        &["REKINDLE_IDLE"],
        "How long a daemon with session hints keeps running after its last client left.",
    ),
    key(
        "daemon.idle_empty",
        ConfigKind::Duration,
        "60s",
        &["REKINDLE_IDLE_EMPTY"],
        "How long an on-demand daemon without session hints keeps running after its last client left.",
    ),
    key(
        "daemon.request_timeout",
        ConfigKind::Duration,
        "30s",
        &["REKINDLE_REQUEST_TIMEOUT"],
        "Time to receive a whole request, headers included.",
    ),
    key(
        "mcp.tools",
        ConfigKind::Toolsets,
        "core",
        &["REKINDLE_TOOLS"],
        "Toolsets that agents see: core, all, or groups separated by commas.",
    ),
    key(
        "briefing.tokens",
        ConfigKind::UpTo(limits::INJECT_TOKENS_MAX as u64),
        "800",
        &["REKINDLE_BRIEFING_TOKENS"],
        "Token budget of the briefing at the start of a session, at most 2400.",
    ),
    key(
        "log.level",
        ConfigKind::Choice(&["error", "warn", "info", "debug"]),
        "info",
        &["REKINDLE_LOG_LEVEL", "NUDGE_LOG_LEVEL"],
        "Log level: error, warn, info or debug.",
    ),
    key(
        "store.max_pages",
        ConfigKind::Integer,
        "0",
        &["REKINDLE_STORE_MAX_PAGES"],
        "Largest size of the database in pages of 4 KiB; 0 means no limit.",
    ),
];

/// The parameters of an operation without any.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoParams {}
