//! Operations every build has: the hook, the address space, and the care of store and daemon.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use contract::op::EVERYONE;
use contract::{
    Access, CliShape, ConfigKey, ConfigKind, Cx, Example, Op, OpInfo, Operation, Plugin, Tier,
};
use model::entry::{Entry, EntryLine, EntryPath};
use model::event::HookRecord;
use model::time::rfc3339;
use model::{CallId, OpError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::hook_events;

use crate::doctor::{self, Check};
use crate::runtime::Inner;

/// State behind the built-in operations.
#[derive(Default)]
pub(crate) struct Builtin {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    inner: OnceLock<Weak<Inner>>,
    /// Agent sessions that have not ended, with the time of their last event.
    sessions: Mutex<HashMap<String, i64>>,
}

impl Shared {
    fn inner(&self) -> Result<Arc<Inner>, OpError> {
        self.inner
            .get()
            .and_then(Weak::upgrade)
            .ok_or_else(|| OpError::unavailable("the runtime is not open"))
    }
}

impl Builtin {
    pub(crate) fn bind(&self, inner: Weak<Inner>) {
        // Each kit opens one runtime; a second binding would be a defect and is ignored.
        let _ = self.shared.inner.set(inner);
    }

    /// Keeps track of which sessions are alive.
    pub(crate) fn saw(&self, record: &HookRecord) {
        self.shared.saw(record);
    }

    pub(crate) fn live_sessions(&self, since: i64) -> usize {
        let mut sessions = self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, at| *at >= since);
        sessions.len()
    }
}

impl Shared {
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

impl Plugin for Builtin {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn operations(&self) -> Vec<Operation> {
        let shared = || self.shared.clone();
        vec![
            Operation::new(Hook(shared())),
            Operation::new(Get(shared())),
            Operation::new(ListResources(shared())),
            Operation::new(Status(shared())),
            Operation::new(Stop(shared())),
            Operation::new(Doctor(shared())),
            Operation::new(Backup),
            Operation::new(Restore),
        ]
    }

    fn config(&self) -> &'static [ConfigKey] {
        CONFIG
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

const CONFIG: &[ConfigKey] = &[
    key(
        "daemon.port",
        ConfigKind::Integer,
        "8765",
        &["REKINDLE_PORT"],
        "First port the daemon tries; a taken one is counted up.",
    ),
    key(
        "daemon.idle",
        ConfigKind::Duration,
        "12h",
        &["REKINDLE_IDLE"],
        "How long a daemon that holds session hints stays after its last client.",
    ),
    key(
        "daemon.idle_empty",
        ConfigKind::Duration,
        "60s",
        &["REKINDLE_IDLE_EMPTY"],
        "How long an on-demand daemon that holds nothing stays after its last client.",
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
        ConfigKind::Text,
        "core",
        &["REKINDLE_TOOLS"],
        "Toolsets that agents see: core, all, or groups separated by commas.",
    ),
    key(
        "log.level",
        ConfigKind::Text,
        "info",
        &["REKINDLE_LOG_LEVEL", "NUDGE_LOG_LEVEL"],
        "How much the log keeps: error, warn, info or debug.",
    ),
    key(
        "store.max_pages",
        ConfigKind::Integer,
        "0",
        &["REKINDLE_STORE_MAX_PAGES"],
        "Largest size of the database in pages of 4 KiB; 0 means no limit.",
    ),
];

// ---- hook ---------------------------------------------------------------------------------------

struct Hook(Arc<Shared>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HookParams {
    /// Name of the event as the agent has it, for example `PostToolUse`.
    event: String,
    /// The event as the agent sends it; unknown members are ignored.
    #[serde(default)]
    payload: HookPayload,
    /// Id of the event, 32 hex digits; the same id is recorded once.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    id: Option<CallId>,
    /// When it happened, in milliseconds since 1970.
    #[serde(default)]
    at: Option<i64>,
}

/// The members of an event that are kept today.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct HookPayload {
    session_id: Option<String>,
    tool_use_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct HookOutput {
    /// Whether this event was new.
    recorded: bool,
    /// What the agent is told, in its own form; nothing when there is nothing to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
}

/// Longest name of an event or session that is believable.
const HOOK_NAME_BYTES_MAX: usize = 200;

impl Op for Hook {
    const INFO: OpInfo = OpInfo {
        name: "hook",
        summary: "Record one event of an agent's hook",
        doc: "Agents reach this through `rekindle hook EVENT` or `POST /hook/EVENT`; the event is recorded once, whatever is sent twice.",
        access: Access::Write { destructive: false, idempotent: true },
        tiers: &[Tier::Hook, Tier::Client, Tier::Person],
        toolset: "system",
        examples: &[Example {
            title: "A tool was used",
            before: &[],
            params: r#"{"event":"PostToolUse","payload":{"session_id":"s-1","tool_name":"Bash"}}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = HookParams;
    type Output = HookOutput;

    fn run(&self, cx: &Cx<'_>, params: HookParams) -> Result<HookOutput, OpError> {
        let HookPayload { session_id, tool_use_id } = params.payload;
        let names = [("event", Some(&params.event)), ("payload.session_id", session_id.as_ref())];
        for (param, name) in
            names.into_iter().chain([("payload.tool_use_id", tool_use_id.as_ref())])
        {
            let bad = |n: &String| n.len() > HOOK_NAME_BYTES_MAX || n.chars().any(char::is_control);
            if name.is_some_and(bad) || (param == "event" && params.event.is_empty()) {
                return Err(OpError::invalid(
                    param,
                    format!("{param} is not a name of 1 to {HOOK_NAME_BYTES_MAX} plain bytes"),
                ));
            }
        }
        let id = params.id.or(cx.store.call_id());
        let id = id.ok_or_else(|| OpError::invalid("id", "the event has no id"))?;
        let record = HookRecord {
            id,
            name: params.event,
            session: session_id,
            tool_use_id,
            at: params.at.unwrap_or(cx.now),
        };
        self.0.saw(&record);
        cx.store.write(move |tx| {
            let recorded = hook_events::record(tx, &record)?;
            Ok(HookOutput { recorded, answer: None })
        })
    }
}

// ---- the address space --------------------------------------------------------------------------

struct Get(Arc<Shared>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetParams {
    /// Path of the entry, for example `hint://http-proxy/build`.
    path: String,
}

#[derive(Serialize, JsonSchema)]
struct GetOutput {
    ok: bool,
    entry: Entry,
}

fn show_entry(_: &Value, result: &Value) -> String {
    result["entry"]["body"].as_str().unwrap_or_default().to_owned()
}

impl Op for Get {
    const INFO: OpInfo = OpInfo {
        name: "get",
        summary: "Read the entry at a path",
        doc: "Whatever is kept has a path such as hint://http-proxy/build; the same path works on every surface.",
        toolset: "entries",
        cli: CliShape {
            path: &["get"],
            positional: &["path"],
            pretty: Some(show_entry),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Read a hint",
            before: &[(
                "set_hint",
                r#"{"component":"http-proxy","key":"build","value":"make router"}"#,
            )],
            params: r#"{"path":"hint://http-proxy/build"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = GetParams;
    type Output = GetOutput;

    fn run(&self, cx: &Cx<'_>, params: GetParams) -> Result<GetOutput, OpError> {
        let path = EntryPath::parse(&params.path)?;
        let inner = self.0.inner()?;
        let scheme = inner.table.scheme(&path.scheme).ok_or_else(|| {
            let known: Vec<&str> = inner.table.schemes().map(|scheme| scheme.template()).collect();
            OpError::invalid("path", format!("no entries are called {}://", path.scheme))
                .hint(format!("Paths look like {}.", known.join(", ")))
        })?;
        Ok(GetOutput { ok: true, entry: scheme.read(cx, &path)? })
    }
}

struct ListResources(Arc<Shared>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoParams {}

#[derive(Serialize, JsonSchema)]
struct Resources {
    resources: Vec<EntryLine>,
    templates: Vec<Template>,
}

#[derive(Serialize, JsonSchema)]
struct Template {
    /// RFC 6570 template of the paths.
    template: String,
    summary: String,
}

impl Op for ListResources {
    const INFO: OpInfo = OpInfo {
        name: "list_resources",
        summary: "List the entries that can be read by path",
        doc: "Every entry of every scheme with a line that says what it is, and the templates of their paths.",
        toolset: "entries",
        examples: &[Example {
            title: "All entries",
            before: &[(
                "set_hint",
                r#"{"component":"http-proxy","key":"build","value":"make router"}"#,
            )],
            params: "{}",
        }],
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = Resources;

    fn run(&self, cx: &Cx<'_>, _: NoParams) -> Result<Resources, OpError> {
        let inner = self.0.inner()?;
        let mut out = Resources { resources: Vec::new(), templates: Vec::new() };
        for scheme in inner.table.schemes() {
            out.resources.extend(scheme.list(cx)?);
            out.templates.push(Template {
                template: scheme.template().to_owned(),
                summary: scheme.summary().to_owned(),
            });
        }
        Ok(out)
    }
}

// ---- the daemon ---------------------------------------------------------------------------------

struct Status(Arc<Shared>);

#[derive(Serialize, JsonSchema)]
struct StatusOutput {
    /// Whether a daemon answered; a command without one says false.
    running: bool,
    version: String,
    database: String,
    #[serde(flatten)]
    daemon: Option<DaemonStatus>,
    /// Session hints and whatever else a clean end would clear.
    held: usize,
    /// Hook events recorded so far.
    events: u64,
    last_event: Option<LastEvent>,
    /// Events that wait in the spool.
    spooled: usize,
    /// What the store had to repair.
    notices: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct DaemonStatus {
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
    /// Agent sessions that are alive.
    sessions: usize,
}

#[derive(Serialize, JsonSchema)]
struct LastEvent {
    name: String,
    session: Option<String>,
    /// RFC 3339, UTC.
    at: String,
}

impl Op for Status {
    const INFO: OpInfo = OpInfo {
        name: "status",
        summary: "Say what runs, where, and when the last event came",
        doc: "The daemon's process, address and database, and a short summary of the store.",
        toolset: "system",
        examples: &[],
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = StatusOutput;

    fn run(&self, cx: &Cx<'_>, _: NoParams) -> Result<StatusOutput, OpError> {
        let inner = self.0.inner()?;
        let daemon = inner.host.get().map(|host| {
            let facts = host.facts();
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
        let (last, events) =
            cx.store.read(|rx| Ok((hook_events::last(rx)?, hook_events::count(rx)?)))?;
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
            spooled: inner.spool.waiting().events,
            notices: inner.store.notices(),
        })
    }
}

struct Stop(Arc<Shared>);

#[derive(Serialize, JsonSchema)]
struct StopOutput {
    stopping: bool,
}

impl Op for Stop {
    const INFO: OpInfo = OpInfo {
        name: "stop",
        summary: "End the daemon cleanly",
        doc: "What is under way finishes; session hints are cleared.",
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

// ---- the care of the store ----------------------------------------------------------------------

struct Doctor(Arc<Shared>);

#[derive(Serialize, JsonSchema)]
struct DoctorOutput {
    /// Whether nothing is wrong.
    ok: bool,
    checks: Vec<Check>,
}

const CARE_DEADLINE: Duration = Duration::from_secs(600);

impl Op for Doctor {
    const INFO: OpInfo = OpInfo {
        name: "doctor",
        summary: "Check the store and say what to do about what is wrong",
        doc: "Looks at the database, the spool, the last hook event and what had to be repaired.",
        tiers: EVERYONE,
        toolset: "system",
        deadline: CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = DoctorOutput;

    fn run(&self, cx: &Cx<'_>, _: NoParams) -> Result<DoctorOutput, OpError> {
        let checks = doctor::check(&*self.0.inner()?, cx)?;
        Ok(DoctorOutput { ok: checks.iter().all(Check::is_fine), checks })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileParams {
    /// Absolute path of the file.
    file: String,
}

impl FileParams {
    fn path(&self) -> Result<&Path, OpError> {
        let path = Path::new(&self.file);
        if path.is_absolute() {
            return Ok(path);
        }
        Err(OpError::invalid("file", "the path is not absolute")
            .hint("The daemon has a working directory of its own: give the whole path."))
    }
}

struct Backup;

#[derive(Serialize, JsonSchema)]
struct BackupOutput {
    file: String,
    bytes: u64,
}

impl Op for Backup {
    const INFO: OpInfo = OpInfo {
        name: "backup",
        summary: "Copy the database to a file while it is in use",
        doc: "The copy is complete and consistent; an existing file is never overwritten.",
        tiers: &[Tier::Person, Tier::Client],
        toolset: "system",
        deadline: CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = FileParams;
    type Output = BackupOutput;

    fn run(&self, cx: &Cx<'_>, params: FileParams) -> Result<BackupOutput, OpError> {
        let path = params.path()?;
        cx.store.whole().backup(path, &|_, _| {})?;
        let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
        Ok(BackupOutput { file: params.file, bytes })
    }
}

struct Restore;

#[derive(Serialize, JsonSchema)]
struct RestoreOutput {
    restored: String,
    /// Where the database that was replaced is kept.
    previous: String,
}

impl Op for Restore {
    const INFO: OpInfo = OpInfo {
        name: "restore",
        summary: "Put a backup in place of the database",
        doc: "The file is checked first; the database that was there is kept among the backups.",
        access: Access::Write { destructive: true, idempotent: true },
        tiers: &[Tier::Person, Tier::Client],
        toolset: "system",
        deadline: CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = FileParams;
    type Output = RestoreOutput;

    fn run(&self, cx: &Cx<'_>, params: FileParams) -> Result<RestoreOutput, OpError> {
        let previous = cx.store.whole().restore(params.path()?)?;
        Ok(RestoreOutput { restored: params.file, previous: previous.display().to_string() })
    }
}
