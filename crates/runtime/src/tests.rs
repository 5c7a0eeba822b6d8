//! Tests of dispatch with a plugin made for them: what every operation gets without asking.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use contract::{
    Access, Candidate, Config, Cx, Moment, Occasion, Op, OpInfo, Operation, Plugin, Tier,
};
use model::event::Event;
use model::hook::{Happening, HookEvent, Source};
use model::locations::{Locations, Surroundings};
use model::{CallId, Caller, Code, OpError, Reply, Request, Road as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::log::Log;
use crate::{Kit, Runtime, Setup};

#[derive(Default)]
struct Probe {
    runs: Arc<AtomicUsize>,
    asked: AtomicUsize,
    gate: Arc<Mutex<Option<mpsc::Receiver<()>>>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// What makes two calls of the same operation differ.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only that it is there is of interest")]
struct Marked {
    #[serde(default)]
    mark: u32,
}

#[derive(Serialize, JsonSchema)]
struct Count {
    run: usize,
}

struct Boom;

impl Op for Boom {
    const INFO: OpInfo = OpInfo { name: "boom", ..OpInfo::BASE };
    type Params = Nothing;
    type Output = Count;

    #[expect(clippy::panic, reason = "the fence is what is tested")]
    fn run(&self, _: &Cx<'_>, _: Nothing) -> Result<Count, OpError> {
        panic!("a secret in a panic");
    }
}

struct Write(Arc<AtomicUsize>);

impl Op for Write {
    const INFO: OpInfo = OpInfo {
        name: "write",
        access: Access::Write { destructive: false, idempotent: false },
        tiers: &[Tier::Person],
        ..OpInfo::BASE
    };
    type Params = Marked;
    type Output = Count;

    fn run(&self, cx: &Cx<'_>, _: Marked) -> Result<Count, OpError> {
        cx.note(Event { kind: "probe/written", subject: "probe://x".into(), data: Value::Null });
        let runs = self.0.clone();
        cx.store.write(move |_| Ok(Count { run: runs.fetch_add(1, Ordering::Relaxed) + 1 }))
    }
}

struct Wait(Arc<Mutex<Option<mpsc::Receiver<()>>>>);

impl Op for Wait {
    const INFO: OpInfo =
        OpInfo { name: "wait", deadline: Duration::from_millis(50), ..OpInfo::BASE };
    type Params = Nothing;
    type Output = Count;

    fn run(&self, _: &Cx<'_>, _: Nothing) -> Result<Count, OpError> {
        let gate = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = gate.map(|gate| gate.recv());
        Ok(Count { run: 1 })
    }
}

struct Nest;

impl Op for Nest {
    const INFO: OpInfo =
        OpInfo { name: "nest", tiers: &[Tier::Person, Tier::Agent], ..OpInfo::BASE };
    type Params = Nothing;
    type Output = Value;

    fn run(&self, cx: &Cx<'_>, _: Nothing) -> Reply {
        cx.call("write", json!({}))
    }
}

impl Plugin for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![
            Operation::new(Boom),
            Operation::new(Write(self.runs.clone())),
            Operation::new(Wait(self.gate.clone())),
            Operation::new(Nest),
        ]
    }

    fn may_tell(&self, occasion: &Occasion<'_>, _: &Config) -> bool {
        matches!(occasion, Occasion::Prompt(_))
    }

    fn candidates(&self, _: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Ok(Vec::new())
    }
}

struct Home {
    runtime: Runtime,
    locations: Locations,
    dir: std::path::PathBuf,
    probe: Arc<Probe>,
}

impl Drop for Home {
    fn drop(&mut self) {
        self.runtime.close();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn home() -> Home {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("rekindle-rt-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    home_in(dir)
}

fn home_in(dir: std::path::PathBuf) -> Home {
    home_within(dir, None)
}

fn home_within(dir: std::path::PathBuf, until: Option<Instant>) -> Home {
    let around = Surroundings {
        var: &|name| name.starts_with("REKINDLE").then(|| dir.clone().into_os_string()),
        uid: 0,
        cwd: &dir,
        mac: false,
        canonical: &|path| path.to_owned(),
    };
    let locations = Locations::resolve(&around, None);
    let probe = Arc::new(Probe::default());
    let kit = Kit::new(vec![probe.clone()]);
    let config = Config::defaults(kit.table.config_keys());
    let log = Log::to_file(&locations.daemon_log(), crate::log::Level::Debug);
    let setup = Setup { kit, locations: locations.clone(), config, one_shot: false, log };
    Home { runtime: Runtime::open_within(setup, until).unwrap(), locations, dir, probe }
}

fn request(op: &str, call: u8, tier: Tier) -> Request {
    Request {
        call: CallId([call; 16]),
        op: op.into(),
        params: Value::Null,
        caller: Caller { tier, ..Caller::default() },
    }
}

#[test]
fn a_panic_is_internal_and_the_next_call_is_served() {
    let home = home();
    let error = home.runtime.call(request("boom", 1, Tier::Person)).unwrap_err();
    assert_eq!(error.code, Code::Internal);
    assert!(!error.message.contains("secret"), "{}", error.message);
    assert!(home.runtime.call(request("write", 2, Tier::Person)).is_ok());
    let log = std::fs::read_to_string(home.locations.daemon_log()).unwrap();
    assert!(log.contains("op=boom panicked") && !log.contains("secret"), "{log}");
}

#[test]
fn a_repeated_write_returns_the_stored_answer_and_runs_once() {
    let home = home();
    let first = home.runtime.call(request("write", 3, Tier::Person)).unwrap();
    let again = home.runtime.call(request("write", 3, Tier::Person)).unwrap();
    let other = home.runtime.call(request("write", 4, Tier::Person)).unwrap();
    assert_eq!((first["run"].clone(), again["run"].clone()), (json!(1), json!(1)));
    assert_eq!(other["run"], 2);
    assert_eq!(home.probe.runs.load(Ordering::Relaxed), 2);
}

#[test]
fn an_id_that_was_used_for_another_call_is_a_conflict() {
    let home = home();
    home.runtime.call(request("write", 3, Tier::Person)).unwrap();
    let other = Request { params: json!({ "mark": 1 }), ..request("write", 3, Tier::Person) };
    let error = home.runtime.call(other).unwrap_err();
    assert_eq!(error.code, Code::Conflict);
    assert_eq!(home.probe.runs.load(Ordering::Relaxed), 1);
}

#[test]
fn agent_sessions_are_known_to_the_next_runtime_too() {
    let home = home();
    let event = |name: &str, session: &str, call: u8| Request {
        params: json!({ "event": name, "payload": { "session_id": session } }),
        ..request("hook", call, Tier::Hook)
    };
    for (name, session, call) in
        [("SessionStart", "stays", 1), ("SessionStart", "ends", 2), ("SessionEnd", "ends", 3)]
    {
        home.runtime.call(event(name, session, call)).unwrap();
    }
    assert_eq!(home.runtime.live_sessions(), 1);
    home.runtime.close();
    let next = home_in(home.dir.clone());
    assert_eq!(next.runtime.live_sessions(), 1);
}

#[test]
fn nobody_is_asked_on_an_occasion_for_which_nobody_has_anything_to_tell() {
    let home = home();
    let asked = |event: &str, call: u8| {
        let payload = json!({ "session_id": "s-1", "prompt": "mend it", "tool_name": "Bash",
            "tool_input": { "command": "make" } });
        let params = json!({ "event": event, "payload": payload });
        home.runtime.call(Request { params, ..request("hook", call, Tier::Hook) }).unwrap();
        home.probe.asked.swap(0, Ordering::Relaxed)
    };
    assert_eq!(asked("PreToolUse", 1), 0);
    assert_eq!(asked("UserPromptSubmit", 2), 1);
    // Others may have something to tell then, and all are asked.
    assert_eq!(asked("SessionStart", 3), 1);
    assert_eq!(asked("Stop", 4), 0);
}

#[test]
fn a_tier_that_is_not_listed_is_forbidden_also_through_another_operation() {
    let home = home();
    for op in ["write", "nest"] {
        let error = home.runtime.call(request(op, 5, Tier::Agent)).unwrap_err();
        assert_eq!(error.code, Code::Forbidden, "{op}");
    }
    assert!(home.runtime.call(request("nest", 6, Tier::Person)).is_ok());
    assert_eq!(home.probe.runs.load(Ordering::Relaxed), 1);
}

#[test]
fn an_operation_that_takes_too_long_is_a_timeout_and_blocks_nobody() {
    let home = home();
    let (open, gate) = mpsc::channel();
    *home.probe.gate.lock().unwrap() = Some(gate);
    let error = home.runtime.call(request("wait", 7, Tier::Person)).unwrap_err();
    assert_eq!(error.code, Code::Timeout);
    assert!(home.runtime.call(request("write", 8, Tier::Person)).is_ok());
    drop(open);
}

#[test]
fn an_unknown_operation_says_so() {
    let home = home();
    let error = home.runtime.call(request("no_such", 9, Tier::Person)).unwrap_err();
    assert_eq!(error.code, Code::UnknownMethod);
}

#[test]
fn events_come_after_commit_in_sequence_and_not_for_failures() {
    let home = home();
    let mut events = home.runtime.subscribe();
    for call in 10..15 {
        home.runtime.call(request("write", call, Tier::Person)).unwrap();
    }
    home.runtime.call(request("write", 14, Tier::Person)).unwrap();
    home.runtime.call(request("write", 99, Tier::Agent)).unwrap_err();
    home.runtime.call(request("write", 15, Tier::Person)).unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let seqs: Vec<u64> = (0..6).map(|_| tokio.block_on(events.next()).unwrap().seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6]);
}

fn event(id: u8, at: i64, name: &str) -> HookEvent {
    HookEvent {
        stood: None,
        id: CallId([id; 16]),
        at,
        agent: "claude-code".into(),
        name: name.into(),
        session: "s-1".into(),
        cwd: None,
        prompt_id: None,
        agent_id: None,
        tool_use_id: None,
        what: Happening::Other,
    }
}

/// Leaves the event in the spool as a hook does.
fn left(spool: &std::path::Path, event: HookEvent) -> HookEvent {
    std::fs::create_dir_all(spool).unwrap();
    let text = serde_json::to_string(&event).unwrap();
    std::fs::write(spool.join(format!("{:015}-{}.json", event.at, event.id)), text).unwrap();
    event
}

/// @spool_within_patience
#[test]
fn who_waits_for_an_answer_takes_in_a_part_of_the_spool_and_the_own_session_in_order() {
    let home = home();
    home.runtime.close();
    let spool = &home.locations.spools()[0];
    // An operation that reads would take in the rest.
    let counts = |home: &Home| {
        let recorded = home.runtime.inner.store.read(store::hook_events::count);
        (recorded.unwrap(), std::fs::read_dir(spool).unwrap().count())
    };
    for id in 1..=120 {
        left(spool, HookEvent { session: "others".into(), ..event(id, i64::from(id), "Other") });
    }
    left(spool, event(121, 121, "SessionEnd"));
    left(spool, HookEvent { session: "others".into(), ..event(122, 122, "Other") });
    let what = Happening::SessionStarted(Source::Resume);
    let own = left(spool, HookEvent { what, ..event(123, 123, "SessionStart") });
    let hurried = home_within(home.dir.clone(), Some(Instant::now()));
    assert_eq!(counts(&hurried), (50, 73), "the time was up after the first");
    hurried.runtime.tell(&own, Instant::now());
    assert_eq!(counts(&hurried), (52, 71), "the two of its own session");
    hurried.runtime.close();
    let next = home_in(home.dir.clone());
    assert_eq!(counts(&next), (123, 0));
}

#[test]
fn the_spool_is_taken_in_before_a_write_in_order_and_once() {
    let home = home();
    let spool = &home.locations.spools()[0];
    let leave = |id: u8, at: i64, name: &str| drop(left(spool, event(id, at, name)));
    leave(2, 20, "Second");
    leave(1, 10, "First");
    std::fs::write(spool.join("000000000000030-x.json"), "not an event").unwrap();
    home.runtime.call(request("write", 20, Tier::Person)).unwrap();
    let status = home.runtime.call(request("status", 21, Tier::Person)).unwrap();
    assert_eq!((&status["events"], &status["spooled"]), (&json!(2), &json!(0)));
    assert_eq!(status["last_event"]["name"], "Second");
    assert!(spool.join("unreadable/000000000000030-x.json").exists());
    leave(1, 10, "First");
    home.runtime.call(request("write", 22, Tier::Person)).unwrap();
    let status = home.runtime.call(request("status", 23, Tier::Person)).unwrap();
    assert_eq!(status["events"], 2);
}

/// @the_spool_is_seen_by_reads
#[test]
fn what_waits_is_taken_in_before_a_read_and_without_any_call() {
    let home = home();
    let spool = &home.locations.spools()[0];
    left(spool, event(1, 10, "First"));
    let status = home.runtime.call(request("status", 20, Tier::Person)).unwrap();
    assert_eq!((&status["events"], &status["spooled"]), (&json!(1), &json!(0)));
    left(spool, event(2, 20, "Second"));
    home.runtime.sweep();
    let until = Instant::now() + Duration::from_secs(10);
    while std::fs::read_dir(spool).unwrap().count() > 0 {
        assert!(Instant::now() < until, "it is taken in");
        std::thread::yield_now();
    }
    let status = home.runtime.call(request("status", 21, Tier::Person)).unwrap();
    assert_eq!(status["events"], 2);
}
