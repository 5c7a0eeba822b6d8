//! The life of a runtime: its calls to plugins, jobs of earlier processes, feeds, and its end.

use std::collections::BTreeSet;

use contract::End;
use model::wire::EnvNames;
use store::{Tx, jobs};

use super::*;
use crate::check_database;

/// Holds things that live for one boot, and variables that its scopes ask for.
#[derive(Default)]
struct Boots {
    asks: Vec<String>,
    has_expired: bool,
    swept: Arc<AtomicUsize>,
    ended: Arc<Mutex<Vec<End>>>,
}

impl Plugin for Boots {
    fn name(&self) -> &'static str {
        "boots"
    }

    fn operations(&self) -> Vec<Operation> {
        Vec::new()
    }

    fn asks_env(&self) -> Arc<EnvNames> {
        Arc::new(EnvNames::new(&self.asks))
    }

    fn has_expired(&self, _: i64) -> bool {
        self.has_expired
    }

    fn sweep(&self, _: &Tx<'_>, _: i64) -> Result<(), OpError> {
        self.swept.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn held(&self) -> usize {
        2
    }

    fn ended(&self, _: &Tx<'_>, end: End) -> Result<(), OpError> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(end);
        Ok(())
    }
}

fn asking(names: &[&str]) -> Arc<dyn Plugin> {
    let asks = names.iter().map(|&name| name.to_owned()).collect();
    Arc::new(Boots { asks, ..Boots::default() })
}

/// Waits until this holds.
fn wait_until(holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < until, "it takes too long");
        std::thread::yield_now();
    }
}

#[test]
fn the_variables_that_all_plugins_ask_for_are_one_list() {
    assert_eq!(*home().runtime.asks_env(), EnvNames::default());
    let one = home_with(vec![asking(&["CI"]), asking(&[])]);
    assert_eq!(one.runtime.asks_env().names, ["CI"]);
    let several = home_with(vec![asking(&["CI", "EDITOR"]), asking(&["CI", "AWS_PROFILE"])]);
    assert_eq!(several.runtime.asks_env().names, ["AWS_PROFILE", "CI", "EDITOR"]);
}

#[test]
fn the_counts_of_all_plugins_are_added_up() {
    assert_eq!(home().runtime.held(), 0);
    let home = home_with(vec![asking(&[]), asking(&[])]);
    assert_eq!(home.runtime.held(), 4);
    assert_eq!(home.runtime.call(request("status", 1, Tier::Person)).unwrap()["held"], 4);
}

#[test]
fn a_plugin_is_swept_when_something_has_expired() {
    let (swept, kept) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let plugin = |has_expired, swept: &Arc<AtomicUsize>| -> Arc<dyn Plugin> {
        Arc::new(Boots { has_expired, swept: swept.clone(), ..Boots::default() })
    };
    let fresh = home_with(vec![plugin(false, &kept)]);
    fresh.runtime.sweep();
    let expired = home_with(vec![plugin(true, &swept)]);
    expired.runtime.sweep();
    wait_until(|| swept.load(Ordering::Relaxed) > 0);
    // Calls are served behind the sweep of this home, if there were one.
    fresh.runtime.call(request("write", 1, Tier::Person)).unwrap();
    assert_eq!(kept.load(Ordering::Relaxed), 0);
}

#[test]
fn plugins_learn_how_the_daemon_ends_before_the_store_closes() {
    let ended = Arc::new(Mutex::default());
    let boots = Boots { ended: Arc::clone(&ended), ..Boots::default() };
    let home = home_with(vec![Arc::new(boots)]);
    home.runtime.end(End::HandOver).unwrap();
    assert_eq!(*ended.lock().unwrap(), [End::HandOver]);
    let error = home.runtime.call(request("write", 1, Tier::Person)).unwrap_err();
    assert_eq!(error.code, Code::Unavailable);
}

#[test]
fn a_session_without_events_for_half_an_hour_is_no_longer_alive() {
    let home = home();
    let started = |id: u8, session: &str, minutes: i64| {
        let at = crate::clock::now_ms() - minutes * 60_000;
        HookEvent { session: session.to_owned(), ..event(id, at, "SessionStart") }
    };
    home.runtime.ingest(vec![started(1, "quiet", 31), started(2, "alive", 29)]).unwrap();
    assert_eq!(home.runtime.live_sessions(), 1);
}

#[test]
fn a_job_that_its_process_did_not_end_is_failed_by_the_next_process() {
    let home = home();
    let queue = |starts: bool| {
        let written = home.runtime.inner.store.write(store::Write::default(), move |tx| {
            let id = jobs::queue(tx, "backup", 1)?;
            if starts { jobs::start(tx, id, 2) } else { Ok(false) }
        });
        written.unwrap();
    };
    queue(true);
    queue(false);
    let states = |home: &TestRuntime| {
        let listed = home.runtime.call(request("list_jobs", 1, Tier::Person)).unwrap();
        let all = listed["jobs"].as_array().unwrap().clone();
        all.into_iter().map(|job| (job["state"].clone(), job["why"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(states(&home), [(json!("waiting"), Value::Null), (json!("running"), Value::Null)]);
    home.runtime.close();
    let next = home_in(home.dir.clone());
    let interrupted = (json!("failed"), json!("interrupted"));
    assert_eq!(states(&next), [interrupted.clone(), interrupted]);
}

#[test]
fn a_job_with_bad_parameters_leaves_no_row() {
    let home = home();
    let bad = Request { params: json!({ "x": 1 }), ..request("slow", 1, Tier::Person) };
    assert_eq!(home.runtime.call(bad).unwrap_err().code, Code::Invalid);
    let listed = home.runtime.call(request("list_jobs", 2, Tier::Person)).unwrap();
    assert_eq!(listed["jobs"], json!([]));
}

#[test]
fn more_jobs_than_may_wait_are_refused() {
    let home = home();
    let (open, gate) = mpsc::channel();
    *home.probe.gate.lock().unwrap() = Some(gate);
    let (sender, replies) = mpsc::channel();
    let max = u8::try_from(model::limits::JOBS_WAITING_MAX).unwrap();
    let start = |call: u8| {
        let (runtime, sender) = (home.runtime.clone(), sender.clone());
        std::thread::spawn(move || {
            let _ = sender.send(runtime.call(request("slow", call, Tier::Person)));
        });
    };
    let jobs = &home.runtime.inner.jobs;
    start(1);
    wait_until(|| !jobs.state().running.is_empty());
    (0..max).for_each(|number| start(10 + number));
    wait_until(|| jobs.state().waiting.len() == usize::from(max));
    let refused = home.runtime.call(request("slow", 100, Tier::Person)).unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert!(refused.message.contains("16 jobs are waiting"), "{}", refused.message);
    drop(open);
    for _ in 0..=max {
        assert!(replies.recv_timeout(Duration::from_secs(10)).unwrap().is_ok());
    }
}

#[test]
fn a_feed_sends_the_events_that_its_parameters_name() {
    let home = home();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut client = home.runtime.subscribe();
    let follow = |params: Value| {
        let subscription = home.runtime.feed("events", params)?;
        tokio.block_on(home.runtime.follow(client.filters(), subscription))
    };
    assert_eq!(follow(json!({ "kind": "probe/written", "subject": "probe://x" })), Ok(None));
    assert_eq!(follow(json!({ "kind": "job/" })), Ok(None));
    assert_eq!(follow(json!({ "subject": "probe://y" })), Ok(None));
    for wrong in [json!({ "colour": "red" }), json!({ "kind": 1 }), json!([])] {
        assert_eq!(follow(wrong.clone()).unwrap_err().code, Code::Invalid, "{wrong}");
    }
    assert_eq!(follow(json!({ "project": "web" })).unwrap_err().code, Code::NotFound);
    home.runtime.call(request("write", 1, Tier::Person)).unwrap();
    home.runtime.call(request("slow", 2, Tier::Person)).unwrap();
    let messages: Vec<Value> = (0..3)
        .map(|_| {
            let delivery = tokio.block_on(client.next()).unwrap();
            home.runtime.feed("events", Value::Null).unwrap().feed.message(&delivery.event)
        })
        .collect();
    assert_eq!((&messages[0]["kind"], &messages[0]["seq"]), (&json!("probe/written"), &json!(1)));
    assert_eq!((&messages[1]["kind"], messages[1].get("reason")), (&json!("job/started"), None));
    assert_eq!(
        (&messages[2]["kind"], &messages[2]["reason"]),
        (&json!("job/ended"), &json!("done"))
    );
}

#[test]
fn subscriptions_differ_by_feed_and_parameters_and_are_bounded() {
    let home = home();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let client = home.runtime.subscribe();
    let feed = |kind: &str| home.runtime.feed("events", json!({ "kind": kind })).unwrap();
    let keys: BTreeSet<String> = ["a", "b", "a"].iter().map(|kind| feed(kind).key()).collect();
    assert_eq!(keys.len(), 2);
    let max = model::limits::SUBSCRIPTIONS_PER_CLIENT_MAX;
    let follow = |number: usize| {
        tokio.block_on(home.runtime.follow(client.filters(), feed(&number.to_string())))
    };
    assert!((0..max).all(|number| follow(number).is_ok()));
    assert_eq!(follow(max).unwrap_err().code, Code::Quota);
    assert!(follow(0).is_ok(), "a repeated subscription replaces the first");
    assert!(client.reason().contains("events were waiting"));
}

#[test]
fn a_path_without_a_database_of_ours_is_refused_as_a_wrong_parameter() {
    let home = home();
    assert_eq!(check_database(&home.locations), Ok(()));
    let mut foreign = home.locations.clone();
    foreign.database = home.dir.join("notes.txt");
    std::fs::write(&foreign.database, "not a database").unwrap();
    let error = check_database(&foreign).unwrap_err();
    assert_eq!((error.code, &error.details["param"]), (Code::Invalid, &json!("db")));
}

#[test]
fn a_check_of_the_whole_database_is_logged() {
    let home = home();
    home.runtime.mend();
    let log = std::fs::read_to_string(home.locations.daemon_log()).unwrap();
    assert!(log.contains("INFO store: checked: Sound"), "{log}");
}

#[test]
fn a_call_leaves_a_line_with_its_outcome_in_the_log() {
    let home = home();
    home.runtime.call(request("write", 1, Tier::Person)).unwrap();
    home.runtime.call(request("write", 2, Tier::Agent)).unwrap_err();
    home.runtime.call(request("status", 3, Tier::Person)).unwrap();
    let log = std::fs::read_to_string(home.locations.daemon_log()).unwrap();
    for line in [
        ("INFO call: op=write tier=Person call=0101", "outcome=ok"),
        ("INFO call: op=write tier=Agent call=0202", "outcome=forbidden"),
        ("DEBUG call: op=status tier=Person call=0303", "outcome=ok"),
    ] {
        let found = log.lines().find(|found| found.contains(line.0)).unwrap_or_default();
        assert!(found.ends_with(line.1), "{log}");
    }
}

#[test]
fn a_plugin_gets_no_events_of_other_kinds() {
    let home = home();
    home.runtime.call(request("slow", 1, Tier::Person)).unwrap();
    home.runtime.call(request("write", 2, Tier::Person)).unwrap();
    let heard = home.probe.heard.1.lock().unwrap();
    let first = heard.recv_timeout(Duration::from_secs(10));
    assert_eq!(first, Ok(3), "the first two events are those of the job");
}

#[test]
fn the_spool_is_quiet_until_a_hook_leaves_an_event() {
    let home = home();
    assert!(home.runtime.spool_is_quiet());
    left(&home.locations.spools()[0], event(1, 10, "First"));
    assert!(!home.runtime.spool_is_quiet());
}
