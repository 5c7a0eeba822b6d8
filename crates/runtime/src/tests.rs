//! Tests of dispatch, with a plugin for tests: the guarantees that every operation has.

mod life;
mod occasions;
mod operations;
mod telling;

use std::future::{Future as _, poll_fn};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::Poll;
use std::time::{Duration, Instant};

use contract::{
    Access, BriefingForm, Candidate, Config, Cx, Moment, Occasion, Op, OpInfo, Operation, Plugin,
    Slot, Tier,
};
use model::event::{Event, EventFilter, Published};
use model::hook::{Happening, HookEvent, Source};
use model::locations::{Locations, Surroundings};
use model::{CallId, Caller, Code, OpError, Reply, Request, Road as _};
use place::Captured;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Store;
use text::secrets::{Profile, redact_place};

use crate::log::Log;
use crate::{Kit, Runtime, RuntimeSetup};

#[derive(Default)]
struct Probe {
    runs: Arc<AtomicUsize>,
    asked: AtomicUsize,
    /// For each used tool, whether it failed.
    after_tool: Mutex<Vec<bool>>,
    /// The ids of captured events, in the order in which they were written.
    observed: Mutex<Vec<CallId>>,
    gate: Arc<Mutex<Option<mpsc::Receiver<()>>>>,
    heard: HeardEvents,
}

/// The sequence numbers of the events that the plugin got.
struct HeardEvents(mpsc::Sender<u64>, Mutex<mpsc::Receiver<u64>>);

impl Default for HeardEvents {
    fn default() -> HeardEvents {
        let (sender, receiver) = mpsc::channel();
        HeardEvents(sender, Mutex::new(receiver))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Makes two calls of an operation differ.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only that it is there is of interest")]
struct Marked {
    #[serde(default)]
    mark: u32,
}

#[derive(Serialize, JsonSchema)]
struct CountOutput {
    run: usize,
}

struct Boom;

impl Op for Boom {
    const INFO: OpInfo = OpInfo { name: "boom", ..OpInfo::BASE };
    type Params = Nothing;
    type Output = CountOutput;

    #[expect(clippy::panic, reason = "the fence is what is tested")]
    fn run(&self, _: &Cx<'_>, _: Nothing) -> Result<CountOutput, OpError> {
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
    type Output = CountOutput;

    fn run(&self, cx: &Cx<'_>, _: Marked) -> Result<CountOutput, OpError> {
        cx.note(Event::new("probe/written", "probe://x".into()));
        let runs = self.0.clone();
        cx.store.write(move |_| Ok(CountOutput { run: runs.fetch_add(1, Ordering::Relaxed) + 1 }))
    }
}

struct Wait(Arc<Mutex<Option<mpsc::Receiver<()>>>>);

impl Op for Wait {
    const INFO: OpInfo =
        OpInfo { name: "wait", deadline: Duration::from_millis(50), ..OpInfo::BASE };
    type Params = Nothing;
    type Output = CountOutput;

    fn run(&self, _: &Cx<'_>, _: Nothing) -> Result<CountOutput, OpError> {
        let gate = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = gate.map(|gate| gate.recv());
        Ok(CountOutput { run: 1 })
    }
}

/// A job that reports a step, waits at the gate, and reports the next.
struct Slow(Arc<Mutex<Option<mpsc::Receiver<()>>>>);

impl Op for Slow {
    const INFO: OpInfo = OpInfo {
        name: "slow",
        access: Access::Write { destructive: false, idempotent: true },
        job: true,
        ..OpInfo::BASE
    };
    type Params = Nothing;
    type Output = CountOutput;

    fn run(&self, cx: &Cx<'_>, _: Nothing) -> Result<CountOutput, OpError> {
        cx.store.progress("first", 1, Some(2))?;
        let gate = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        gate.map(|gate| gate.recv());
        cx.store.progress("second", 2, Some(2))?;
        Ok(CountOutput { run: 1 })
    }
}

const SHORT: Duration = Duration::from_millis(50);

/// A job with a short deadline.
struct Short;

impl Op for Short {
    const INFO: OpInfo = OpInfo {
        name: "short",
        access: Access::Write { destructive: false, idempotent: true },
        job: true,
        deadline: SHORT,
        ..OpInfo::BASE
    };
    type Params = Nothing;
    type Output = CountOutput;

    fn run(&self, _: &Cx<'_>, _: Nothing) -> Result<CountOutput, OpError> {
        Ok(CountOutput { run: 1 })
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
            Operation::new(Slow(self.gate.clone())),
            Operation::new(Short),
        ]
    }

    fn listens_to(&self) -> &'static [&'static str] {
        &["probe/"]
    }

    fn observe(&self, event: &Captured<'_>, _: &store::Tx<'_>, _: &Config) -> Result<(), OpError> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner).push(event.event.id);
        Ok(())
    }

    fn on_event(&self, event: &Published, store: &Store, _: &Config) -> Result<(), OpError> {
        // The write behind the event is committed, and the store can be read.
        store.read(|_| Ok(()))?;
        let _ = self.heard.0.send(event.seq);
        Ok(())
    }

    fn may_have_candidates(&self, occasion: &Occasion<'_>, _: &Config) -> bool {
        if let Occasion::AfterTool { failed, .. } = occasion {
            self.after_tool.lock().unwrap_or_else(PoisonError::into_inner).push(*failed);
        }
        matches!(occasion, Occasion::Prompt(_))
    }

    fn candidates(&self, moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let Occasion::Question { query, .. } = moment.occasion else { return Ok(Vec::new()) };
        let numbers = (0..3).filter(|_| moment.occasion.asks("probe"));
        let candidate = |number: u8| Candidate {
            path: format!("probe://{number}"),
            title: Some("Probe".to_owned()),
            score: 1.0 - 0.1 * f64::from(number),
            cells: vec![format!("{query} {number}")],
            ..Candidate::new(Slot::Found)
        };
        Ok(numbers.map(candidate).collect())
    }
}

struct TestRuntime {
    runtime: Runtime,
    locations: Locations,
    dir: std::path::PathBuf,
    probe: Arc<Probe>,
}

impl Drop for TestRuntime {
    fn drop(&mut self) {
        self.runtime.close();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn home() -> TestRuntime {
    home_in(new_dir())
}

fn new_dir() -> std::path::PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("rekindle-rt-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn home_in(dir: std::path::PathBuf) -> TestRuntime {
    home_within(dir, None)
}

/// A home whose runtime has these plugins too.
fn home_with(plugins: Vec<Arc<dyn Plugin>>) -> TestRuntime {
    open_home(new_dir(), plugins, Runtime::open)
}

fn home_within(dir: std::path::PathBuf, until: Option<Instant>) -> TestRuntime {
    open_home(dir, Vec::new(), |setup| Runtime::open_within(setup, until))
}

fn open_home(
    dir: std::path::PathBuf,
    mut plugins: Vec<Arc<dyn Plugin>>,
    open: impl FnOnce(RuntimeSetup) -> Result<Runtime, OpError>,
) -> TestRuntime {
    let around = Surroundings {
        var: &|name| name.starts_with("REKINDLE").then(|| dir.clone().into_os_string()),
        uid: 0,
        cwd: &dir,
        mac: false,
        canonical: &|path| path.to_owned(),
    };
    let locations = Locations::resolve(&around, None);
    let probe = Arc::new(Probe::default());
    plugins.push(probe.clone());
    let kit = Kit::new(plugins);
    let config = Config::defaults(kit.table.config_keys());
    let log = Log::to_file(&locations.daemon_log(), crate::log::Level::Debug);
    let setup = RuntimeSetup { kit, locations: locations.clone(), config, one_shot: false, log };
    TestRuntime { runtime: open(setup).unwrap(), locations, dir, probe }
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
fn plugins_are_not_asked_on_occasions_without_candidates() {
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
    // Other plugins may have candidates then, so all are asked.
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
fn an_operation_that_takes_too_long_is_a_timeout_and_blocks_no_other_call() {
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

/// @jobs_are_recorded
#[test]
fn a_job_shows_its_progress_ends_when_it_is_cancelled_and_the_next_one_waits() {
    let home = home();
    let (open, gate) = mpsc::channel();
    *home.probe.gate.lock().unwrap() = Some(gate);
    let start = |call: u8| {
        let runtime = home.runtime.clone();
        std::thread::spawn(move || runtime.call(request("slow", call, Tier::Person)))
    };
    let jobs = || home.runtime.call(request("list_jobs", 99, Tier::Person)).unwrap();
    let wait_for = |wanted: &dyn Fn(&Value) -> bool| {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let listed = jobs();
            if wanted(&listed) {
                return listed;
            }
            assert!(Instant::now() < until, "{listed}");
            std::thread::yield_now();
        }
    };
    let first = start(30);
    let listed = wait_for(&|listed| listed["jobs"][0]["progress"]["step"] == "first");
    assert_eq!(listed["jobs"][0]["progress"]["total"], 2, "{listed}");
    let second = start(31);
    let cancel = Request { params: json!({ "id": 1 }), ..request("cancel_job", 32, Tier::Person) };
    assert_eq!(home.runtime.call(cancel).unwrap()["cancelled"], true);
    let listed = wait_for(&|listed| listed["jobs"].as_array().unwrap().len() == 2);
    assert_eq!(listed["jobs"][0]["state"], "waiting", "the second has not started: {listed}");
    assert_eq!(listed["jobs"][0].get("progress"), None, "{listed}");
    drop(open);
    assert_eq!(first.join().unwrap().unwrap_err().code, Code::Conflict);
    assert_eq!(second.join().unwrap().unwrap()["run"], 1);
    let listed = jobs();
    let states: Vec<&str> = (listed["jobs"].as_array().unwrap().iter())
        .map(|job| job["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["done", "cancelled"], "{listed}");
}

/// @waiting_jobs
#[test]
fn a_waiting_job_can_be_cancelled_and_never_runs() {
    let home = home();
    let (open, gate) = mpsc::channel();
    *home.probe.gate.lock().unwrap() = Some(gate);
    let start = |call: u8| {
        let runtime = home.runtime.clone();
        std::thread::spawn(move || runtime.call(request("slow", call, Tier::Person)))
    };
    let state = |id: i64| {
        let listed = home.runtime.call(request("list_jobs", 99, Tier::Person)).unwrap();
        let job = (listed["jobs"].as_array().unwrap().iter()).find(|job| job["id"] == id).cloned();
        job.map_or(Value::Null, |job| job["state"].clone())
    };
    let wait_for = |id: i64, wanted: &str| {
        let until = Instant::now() + Duration::from_secs(10);
        while state(id) != wanted {
            assert!(Instant::now() < until, "job {id} is {}", state(id));
            std::thread::yield_now();
        }
    };
    let first = start(30);
    wait_for(1, "running");
    let second = start(31);
    wait_for(2, "waiting");
    let third = start(32);
    wait_for(3, "waiting");
    let cancel = Request { params: json!({ "id": 2 }), ..request("cancel_job", 33, Tier::Person) };
    let cancelled = home.runtime.call(cancel).unwrap();
    assert_eq!((&cancelled["cancelled"], &cancelled["was_waiting"]), (&json!(true), &json!(true)));
    // The caller gets its answer while the first job still runs.
    assert_eq!(second.join().unwrap().unwrap_err().code, Code::Conflict);
    assert_eq!((state(1), state(2)), (json!("running"), json!("cancelled")));
    drop(open);
    assert_eq!(first.join().unwrap().unwrap()["run"], 1);
    assert_eq!(third.join().unwrap().unwrap()["run"], 1);
    assert_eq!((state(2), state(3)), (json!("cancelled"), json!("done")));
}

/// @waiting_jobs
#[test]
fn the_deadline_of_a_job_counts_from_its_start() {
    let home = home();
    let (open, gate) = mpsc::channel();
    *home.probe.gate.lock().unwrap() = Some(gate);
    let runtime = home.runtime.clone();
    let first = std::thread::spawn(move || runtime.call(request("slow", 30, Tier::Person)));
    wait_for_jobs(&home, 1);
    let (sender, replies) = mpsc::channel();
    let runtime = home.runtime.clone();
    std::thread::spawn(move || sender.send(runtime.call(request("short", 31, Tier::Person))));
    wait_for_jobs(&home, 2);
    let more_than_its_time = model::limits::in_this_build(SHORT) + Duration::from_millis(50);
    assert!(replies.recv_timeout(more_than_its_time).is_err(), "its time has not begun");
    drop(open);
    assert_eq!(first.join().unwrap().unwrap()["run"], 1);
    let second = replies.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(second.unwrap()["run"], 1);
}

/// Waits until this many jobs are listed.
fn wait_for_jobs(home: &TestRuntime, count: usize) {
    let until = Instant::now() + Duration::from_secs(10);
    let listed = || home.runtime.call(request("list_jobs", 99, Tier::Person)).unwrap();
    while listed()["jobs"].as_array().unwrap().len() < count {
        assert!(Instant::now() < until, "{}", listed());
        std::thread::yield_now();
    }
}

/// A plugin that panics at each event.
struct Panicking;

impl Plugin for Panicking {
    fn name(&self) -> &'static str {
        "panicking"
    }

    fn operations(&self) -> Vec<Operation> {
        Vec::new()
    }

    fn listens_to(&self) -> &'static [&'static str] {
        &["probe/"]
    }

    fn on_event(&self, _: &Published, _: &Store, _: &Config) -> Result<(), OpError> {
        panic!("a defect")
    }
}

#[test]
fn a_plugin_gets_the_committed_events_in_order_beside_a_plugin_that_panics() {
    let home = home_with(vec![Arc::new(Panicking)]);
    for call in 20..23 {
        home.runtime.call(request("write", call, Tier::Person)).unwrap();
    }
    let heard = home.probe.heard.1.lock().unwrap();
    let deadline = Duration::from_secs(10);
    let seqs: Vec<u64> = (0..3).map(|_| heard.recv_timeout(deadline).unwrap()).collect();
    assert_eq!(seqs, [1, 2, 3]);
}

#[test]
fn events_come_after_commit_in_sequence_and_not_for_failures() {
    let home = home();
    let mut events = home.runtime.subscribe();
    events.filters().add("all", EventFilter::default());
    for call in 10..15 {
        home.runtime.call(request("write", call, Tier::Person)).unwrap();
    }
    home.runtime.call(request("write", 14, Tier::Person)).unwrap();
    home.runtime.call(request("write", 99, Tier::Agent)).unwrap_err();
    home.runtime.call(request("write", 15, Tier::Person)).unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let seqs: Vec<u64> = (0..6).map(|_| tokio.block_on(events.next()).unwrap().event.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6]);
}

fn event(id: u8, at: i64, name: &str) -> HookEvent {
    HookEvent {
        model: None,
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
        transcript: None,
        what: Happening::Other,
    }
}

/// Puts the event into the spool as a hook does.
fn left(spool: &std::path::Path, event: HookEvent) -> HookEvent {
    std::fs::create_dir_all(spool).unwrap();
    let text = serde_json::to_string(&event).unwrap();
    std::fs::write(spool.join(format!("{:015}-{}.json", event.at, event.id)), text).unwrap();
    event
}

/// @spool_within_patience
#[test]
fn a_hurried_opening_ingests_part_of_the_spool_and_its_own_session_in_order() {
    let home = home();
    home.runtime.close();
    let spool = &home.locations.spools()[0];
    // An operation that reads would ingest the rest.
    let counts = |home: &TestRuntime| {
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
fn the_spool_is_ingested_before_a_write_in_order_and_once() {
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

/// @one_road_of_an_event
#[test]
fn events_are_written_behind_the_spool_in_the_order_of_their_arrival() {
    let home = home();
    let spool = &home.locations.spools()[0];
    let leave = |id: u8| {
        let cwd = Some(redact_place("/srv/app", Profile::Strict));
        left(spool, HookEvent { cwd, ..event(id, 10, "Spooled") });
    };
    let arriving = |number: u8| Request {
        params: json!({ "event": "Stop", "payload": { "session_id": "s-1", "cwd": "/srv/app" } }),
        ..request("hook", number, Tier::Hook)
    };
    leave(1);
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    tokio.block_on(async {
        let mut waiting = Vec::new();
        for id in 100..140 {
            let mut call = Box::pin(home.runtime.call_async(arriving(id)));
            // The first poll begins the event; its end is awaited below, unless a thread of the pool was faster.
            match poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await {
                Poll::Ready(reply) => assert_eq!(reply.unwrap()["recorded"], true),
                Poll::Pending => waiting.push(call),
            }
        }
        for call in waiting {
            assert_eq!(call.await.unwrap()["recorded"], true);
        }
    });
    // A call of this process is handled like the others.
    leave(2);
    assert_eq!(home.runtime.call(arriving(99)).unwrap()["recorded"], true);
    let expected = [1].into_iter().chain(100..140).chain([2, 99]);
    let expected: Vec<CallId> = expected.map(|id| CallId([id; 16])).collect();
    assert_eq!(*home.probe.observed.lock().unwrap(), expected);
}

/// @the_spool_is_seen_by_reads
#[test]
fn the_spool_is_ingested_before_a_read_and_without_any_call() {
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
