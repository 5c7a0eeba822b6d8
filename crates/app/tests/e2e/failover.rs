//! Hints and clients after a PRIMARY ends, in every way that it can end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::signal;
use testkit::{Home, Mcp, wait_until};

use super::home;

fn server(home: &Home) -> Mcp {
    let mut server = home.serve();
    server.initialize("2025-06-18");
    server
}

fn hint(key: &str) -> Value {
    json!({ "component": "web", "key": key, "value": "make" })
}

fn name(key: &str) -> Value {
    json!({ "component": "web", "key": key })
}

/// @failover_within_one_call
#[test]
fn a_proxy_takes_over_within_one_call_when_its_primary_is_killed() {
    let home = home();
    let mut first = server(&home);
    let mut second = server(&home);
    first.call("set_hint", &hint("build")).unwrap();
    assert_eq!(home.pid(), first.pid());
    first.signal("KILL");
    let found = second.call("get_hint", &name("build")).unwrap();
    assert_eq!(found["hint"]["value"], "make");
    assert_eq!(home.pid(), second.pid());
}

/// Sets hints under its own names and reads each back, until it is stopped or its own server is killed. Every reply
/// has to be a success. Returns the acknowledged names.
fn work(home: &Home, worker: usize, ready: &AtomicUsize, stop: &AtomicBool) -> Vec<Value> {
    let mut server = server(home);
    ready.fetch_add(1, Ordering::Relaxed);
    let mut acknowledged = Vec::new();
    while !stop.load(Ordering::Relaxed) && acknowledged.len() < 1_000 {
        let number = acknowledged.len();
        let component = format!("worker-{worker}-{}", number / 100);
        let name = json!({ "component": component, "key": format!("k{number}") });
        let mut hint = name.clone();
        hint["value"] = json!("make");
        let Some(set) = server.try_call("set_hint", &hint) else { break };
        assert_eq!(set.expect("no client error")["hint"]["version"], 1, "{name}");
        acknowledged.push(name.clone());
        let Some(got) = server.try_call("get_hint", &name) else { break };
        assert_eq!(got.expect("no client error")["hint"]["version"], 1, "{name}");
    }
    acknowledged
}

/// Stops the workers even if the test panics.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// @failover_loses_and_doubles_nothing
#[test]
fn killing_primaries_under_load_loses_nothing_doubles_nothing_and_shows_no_error() {
    let home = home();
    let first = home.daemon();
    let (stop, ready) = (AtomicBool::new(false), AtomicUsize::new(0));
    let acknowledged: Vec<Vec<Value>> = std::thread::scope(|scope| {
        let (home, stop, ready) = (&home, &stop, &ready);
        let start = |worker| scope.spawn(move || work(home, worker, ready, stop));
        let workers: Vec<_> = (0..4).map(start).collect();
        let stopping = StopOnDrop(stop);
        wait_until("all work", || (ready.load(Ordering::Relaxed) == 4).then_some(()));
        let log = home.path("data/log/daemon.log");
        let calls = || std::fs::read_to_string(&log).unwrap_or_default().matches("op=").count();
        // First the daemon that serves all four, then twice the server of a worker that took over, which also ends
        // that worker.
        for _ in 0..3 {
            let before = calls();
            wait_until("the PRIMARY is under load", || (calls() > before + 40).then_some(()));
            let pid = home.pid();
            signal(pid, "KILL");
            wait_until("somebody takes over", || (home.pid() != pid).then_some(()));
        }
        let before = calls();
        wait_until("the work goes on", || (calls() > before + 40).then_some(()));
        drop(stopping);
        workers.into_iter().map(|worker| worker.join().expect("a worker")).collect()
    });
    drop(first);
    let last = home.daemon();
    for name in acknowledged.iter().flatten() {
        let found = last.http().rpc("get_hint", name).expect("an acknowledged hint");
        assert_eq!(found["hint"]["version"], 1, "{name}");
    }
    assert!(acknowledged.iter().all(|names| !names.is_empty()));
}

/// @a_signal_hands_over_to_others
#[test]
fn a_signal_while_others_are_attached_hands_the_session_hints_over() {
    let home = home();
    let mut first = server(&home);
    let mut second = server(&home);
    first.call("set_hint", &hint("build")).unwrap();
    first.signal("TERM");
    assert_eq!(first.wait(), Some(0));
    let found = second.call("get_hint", &name("build")).unwrap();
    assert_eq!(found["hint"]["version"], 1);
    assert_eq!(home.pid(), second.pid());
}

/// @a_clean_end_clears_session_hints
#[test]
fn a_signal_without_other_clients_clears_session_hints_and_keeps_lasting_ones() {
    let home = home();
    let mut only = server(&home);
    only.call("set_hint", &hint("build")).unwrap();
    let mut lasting = hint("test");
    lasting["meta"] = json!({ "ttl": "forever" });
    only.call("set_hint", &lasting).unwrap();
    only.signal("TERM");
    assert_eq!(only.wait(), Some(0));
    let mut next = server(&home);
    assert_eq!(next.call("get_hint", &name("build")).unwrap_err()["code"], 40401);
    assert_eq!(next.call("get_hint", &name("test")).unwrap()["hint"]["value"], "make");
}

/// @a_clean_end_clears_session_hints
#[test]
fn stop_clears_session_hints_even_with_other_clients_and_their_next_call_works() {
    let home = home();
    let mut first = server(&home);
    let mut second = server(&home);
    second.call("set_hint", &hint("build")).unwrap();
    home.run(&["stop"]).ok();
    assert!(!home.path("run/daemon.json").exists());
    assert_eq!(second.call("get_hint", &name("build")).unwrap_err()["code"], 40401);
    assert_eq!(second.call("set_hint", &hint("build")).unwrap()["hint"]["version"], 1);
    // The server that was PRIMARY keeps running, now as a client of the other.
    assert_eq!(first.call("get_hint", &name("build")).unwrap()["hint"]["value"], "make");
    assert_eq!(home.pid(), second.pid());
}

/// @a_hanging_primary_is_an_error_in_time
#[test]
fn a_suspended_primary_gives_errors_in_bounded_time_and_loses_nothing() {
    let home = home();
    let daemon = home.daemon();
    let mut proxy = server(&home);
    proxy.call("set_hint", &hint("build")).unwrap();
    signal(daemon.pid(), "STOP");
    let started = Instant::now();
    home.hook("Stop", &json!({ "session_id": "s-1" }));
    let took = started.elapsed();
    assert!(took < Duration::from_millis(2_500), "{took:?}");
    assert_eq!(home.spooled().len(), 1);
    std::thread::scope(|scope| {
        let started = Instant::now();
        let command = scope.spawn(|| home.run(&["hint", "get", "web", "build", "--json"]));
        let error = proxy.call("get_hint", &name("build")).unwrap_err();
        assert_eq!(error["code"], 50401, "{error}");
        let command = command.join().unwrap();
        assert_eq!(command.code, 1, "{command:?}");
        assert_eq!(command.json()["error"]["code"], 50401, "{command:?}");
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    });
    signal(daemon.pid(), "CONT");
    let found = proxy.call("get_hint", &name("build")).unwrap();
    assert_eq!(found["hint"]["version"], 1);
    // The daemon got the event twice: over the socket, late, and from the spool.
    proxy.call("set_hint", &hint("test")).unwrap();
    wait_until("the spool is empty", || home.spooled().is_empty().then_some(()));
    assert_eq!(home.run(&["status", "--json"]).json()["events"], 1);
}

/// @a_hanging_primary_is_an_error_in_time
#[test]
fn a_server_started_beside_a_suspended_primary_initializes_in_time_and_continues_with_it() {
    let home = home();
    let daemon = home.daemon();
    signal(daemon.pid(), "STOP");
    let started = Instant::now();
    let mut newcomer = home.serve();
    newcomer.initialize("2025-06-18");
    let tools = newcomer.request("tools/list", &json!({}));
    assert!(tools["result"]["tools"].is_array(), "{tools}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let error = newcomer.call("get_hint", &name("build")).unwrap_err();
    assert_eq!(error["code"], 50401, "{error}");
    signal(daemon.pid(), "CONT");
    newcomer.call("set_hint", &hint("build")).unwrap();
    assert_eq!(home.pid(), daemon.pid());
}

/// Whether a process has a handler for SIGTERM, which is the fifteenth bit of the mask.
fn catches_term(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
    mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask >> 14 & 1 == 1)
}

/// @a_hanging_primary_is_an_error_in_time
#[test]
fn a_proxy_of_a_suspended_primary_still_obeys_a_signal() {
    let home = home();
    let daemon = home.daemon();
    let mut proxy = server(&home);
    signal(daemon.pid(), "STOP");
    // One with a pending call, and one that has not found its PRIMARY yet.
    let mut newcomer = home.serve();
    proxy.send(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/list\"}\n");
    wait_until("the newcomer listens", || catches_term(newcomer.pid()).then_some(()));
    let started = Instant::now();
    proxy.signal("TERM");
    newcomer.signal("TERM");
    assert_eq!(proxy.wait(), Some(0));
    assert_eq!(newcomer.wait(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    signal(daemon.pid(), "CONT");
}

/// @a_repeated_call_returns_the_stored_answer
#[test]
fn a_call_sent_again_after_a_kill_returns_the_stored_answer() {
    let home = home();
    let mut daemon = home.daemon();
    let call = "00112233445566778899aabbccddeeff";
    let frame = json!({
        "jsonrpc": "2.0", "id": 1, "method": "set_hint", "params": hint("build"),
        "rekindle": { "call": call },
    });
    let frame = format!("{frame}\n");
    let send = || {
        let mut socket = home.socket();
        socket.send(frame.as_bytes());
        socket.receive().expect("a reply")["result"].clone()
    };
    let first = send();
    assert_eq!(first["hint"]["version"], 1);
    assert_eq!(send(), first);
    daemon.kill();
    let next = home.daemon();
    assert_eq!(send(), first);
    let found = next.http().rpc("get_hint", &name("build")).unwrap();
    assert_eq!(found["hint"]["version"], 1);
}
