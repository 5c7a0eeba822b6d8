//! Tests of the operations that read records, through dispatch, each on a store of its own.

mod amended;
mod briefing;
mod checkouts;
mod entries;
mod long_projects;
mod orders;
mod printing;
mod projects;
mod prompted;
mod recent;
mod refining;
mod searching;
mod sections;
mod similar;
mod told_rows;
mod typed;
mod walks;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use contract::{Operation, Plugin};
use model::hook::{Answer, Ends, Happening, HookEvent, Source, ToolUse};
use model::observation::ObsType;
use model::situation::Situation;
use model::{CallId, Caller, Code, Reply, Request, Road as _, Tier};
use serde_json::{Value, json};
use testkit::Local;
use text::secrets::{Profile, redact, redact_json};

use crate::Observations;

static COUNT: AtomicU64 = AtomicU64::new(1);

pub(super) const HOUR: i64 = 3_600_000;
pub(super) const DAY: i64 = 24 * HOUR;

/// The home directory of the user.
pub(super) const HOME: &str = "/nowhere/home";
/// A place that is a project although nothing is there.
pub(super) const WEB: &str = "/nowhere/web";
pub(super) const API: &str = "/nowhere/api";

/// A plugin with the operations of one test. It returns them once.
struct Further(Mutex<Vec<Operation>>);

impl Plugin for Further {
    fn name(&self) -> &'static str {
        "further"
    }

    fn operations(&self) -> Vec<Operation> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// An empty store, and its clock.
pub(super) struct World {
    pub(super) local: Local,
    pub(super) now: i64,
}

impl World {
    pub(super) fn new() -> World {
        World::with(Vec::new)
    }

    /// A store with further operations beside those of the plugin and of sessions.
    pub(super) fn with(more: impl FnOnce() -> Vec<Operation>) -> World {
        let further = Further(Mutex::new(more()));
        let sessions = plugin_sessions::Sessions;
        World::of(vec![Arc::new(Observations), Arc::new(sessions), Arc::new(further)])
    }

    /// A store without the block that a resumed session begins with.
    pub(super) fn without_resume() -> World {
        World::of(vec![Arc::new(Observations)])
    }

    fn of(plugins: Vec<Arc<dyn Plugin>>) -> World {
        let settings = [("retention.enabled", "false"), ("observations.fold", "0s")];
        // A whole second, as answers give times in seconds.
        let now = runtime::clock::now_ms() / 1000 * 1000;
        World { local: Local::at_home(HOME, plugins, &settings), now }
    }

    /// Calls an operation from this directory; without one the caller's directory is unknown.
    pub(super) fn call_from(&self, cwd: Option<&str>, op: &str, params: Value) -> Reply {
        let situation = Situation { cwd: cwd.map(str::to_owned), ..Situation::default() };
        let caller = Caller { tier: Tier::Person, situation, ..Caller::default() };
        self.call_as(caller, op, params)
    }

    pub(super) fn call_as(&self, caller: Caller, op: &str, params: Value) -> Reply {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        self.local.runtime.call(Request { call: CallId(id), op: op.into(), params, caller })
    }

    pub(super) fn call(&self, op: &str, params: Value) -> Reply {
        self.call_from(None, op, params)
    }

    pub(super) fn ask(&self, op: &str, params: Value) -> Value {
        self.call(op, params.clone()).unwrap_or_else(|error| panic!("{op} {params}: {error:?}"))
    }

    /// The texts that a search finds, in order.
    pub(super) fn found(&self, params: Value) -> Vec<String> {
        texts(&self.ask("search", params)["results"])
    }

    /// The id of the record with this text.
    pub(super) fn id(&self, content: &str) -> i64 {
        let query = format!("\"{content}\"");
        let found = self.ask("search", json!({ "query": query, "diverse": false }));
        let results = found["results"].as_array().unwrap();
        // The error follows the command that failed.
        let failed = format!("{content}: ");
        let is_it = |hit: &&Value| {
            let shown = hit["content_preview"].as_str().unwrap();
            shown == content || hit["obs_type"] == "command_error" && shown.starts_with(&failed)
        };
        let one = results.iter().find(is_it);
        one.unwrap_or_else(|| panic!("{content} in {found}"))["id"].as_i64().unwrap()
    }

    /// An answer as the command line prints it.
    pub(super) fn shown(&self, op: &str, params: Value) -> String {
        let result = self.ask(op, params.clone());
        let pretty = self.local.runtime.table().get(op).unwrap().info.cli.pretty.unwrap();
        pretty(&params, &result, usize::MAX).unwrap()
    }

    pub(super) fn feed(&self, at: (&str, &str), ago: i64, what: Happening) {
        self.feed_of(None, at, ago, what);
    }

    /// The answer of a subagent.
    pub(super) fn subagent_answer(&self, at: (&str, &str), ago: i64, text: &str) {
        let text = redact(text, Profile::Strict);
        let answer = Answer { text, ends: Ends::Subagent, failed: false };
        self.feed_of(Some("a-1"), at, ago, Happening::Answered(answer));
    }

    fn feed_of(
        &self,
        agent_id: Option<&str>,
        (session, cwd): (&str, &str),
        ago: i64,
        what: Happening,
    ) {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut id = [1; 16];
        id[..8].copy_from_slice(&number.to_le_bytes());
        let name = match &what {
            Happening::Prompted(_) => "UserPromptSubmit",
            Happening::SessionStarted(_) => "SessionStart",
            Happening::TurnEnded | Happening::Answered(_) => "Stop",
            _ => "PostToolUse",
        };
        let event = HookEvent {
            model: None,
            stood: None,
            id: CallId(id),
            at: self.now - ago,
            agent: if session.starts_with("codex") { "codex" } else { "claude-code" }.into(),
            name: name.into(),
            session: session.into(),
            cwd: Some(redact(cwd, Profile::Strict)),
            prompt_id: None,
            agent_id: agent_id.map(str::to_owned),
            tool_use_id: None,
            transcript: None,
            what,
        };
        self.local.runtime.ingest(vec![event]).unwrap();
    }

    pub(super) fn start(&self, at: (&str, &str), ago: i64) {
        self.feed(at, ago, Happening::SessionStarted(Source::Startup));
    }

    pub(super) fn prompt(&self, at: (&str, &str), ago: i64, text: &str) {
        self.feed(at, ago, Happening::Prompted(redact(text, Profile::Strict)));
    }

    pub(super) fn stop(&self, at: (&str, &str), ago: i64) {
        self.feed(at, ago, Happening::TurnEnded);
    }

    /// The agent's final message of a turn.
    pub(super) fn answer(&self, at: (&str, &str), ago: i64, text: &str) {
        let text = redact(text, Profile::Strict);
        self.feed(at, ago, Happening::Answered(Answer { text, ends: Ends::Turn, failed: false }));
    }

    /// A run of tests with this program, in the root or below it.
    pub(super) fn run(&self, at: (&str, &str), ago: i64, line: &str, result: &str, error: &str) {
        let run = line.rsplit("&& ").next().unwrap_or(line);
        let program = run.split_whitespace().next();
        let mut metadata = json!({ "kind": "test", "program": program,
            "run": { "result": result, "own_exit": true } });
        let mut kind = ObsType::Command;
        if result == "failed" {
            kind = ObsType::CommandError;
            metadata["failed"] = json!(true);
            metadata["error"] = json!(error);
        }
        self.used(at, ago, (kind, None), line, metadata);
    }

    pub(super) fn commit(&self, at: (&str, &str), ago: i64, hash: &str, subject: &str) {
        let metadata = json!({ "commit_hash": hash, "commit_message": subject });
        let line = format!("git commit -m '{subject}'");
        self.used(at, ago, (ObsType::GitCommit, None), &line, metadata);
    }

    pub(super) fn command(&self, at: (&str, &str), ago: i64, line: &str) {
        self.used(at, ago, (ObsType::Command, None), line, json!({}));
    }

    pub(super) fn edit(&self, at: (&str, &str), ago: i64, path: &str, content: &str) {
        self.used(at, ago, (ObsType::FileEdit, Some(path)), content, json!({}));
    }

    pub(super) fn read(&self, at: (&str, &str), ago: i64, path: &str) {
        self.used(at, ago, (ObsType::FileRead, Some(path)), path, json!({}));
    }

    pub(super) fn used(
        &self,
        at: (&str, &str),
        ago: i64,
        (obs_type, path): (ObsType, Option<&str>),
        content: &str,
        metadata: Value,
    ) {
        let tool = ToolUse {
            tool: "Tool".into(),
            obs_type,
            content: redact(content, Profile::Strict),
            file_path: path.map(|path| redact(path, Profile::Strict)),
            failed: metadata["failed"] == true,
            metadata: redact_json(metadata, Profile::Strict),
            command: None,
        };
        self.feed(at, ago, Happening::ToolUsed(tool));
    }
}

/// The texts of records in short or in full.
pub(super) fn texts(records: &Value) -> Vec<String> {
    let text = |record: &Value| {
        let text = record["content_preview"].as_str().or(record["content"].as_str());
        text.expect("a record").to_owned()
    };
    records.as_array().expect("a list").iter().map(text).collect()
}

pub(super) fn code(reply: Reply) -> Code {
    reply.unwrap_err().code
}
