//! The daemon from start to end: `serve`, `up`, `status`, `stop`, signals, ports.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::{is_alive, signal};
use testkit::{Home, Http, Run, wait_until};

use super::home;
use super::sqlite;

/// Waits until a process is gone that is not a child of the test.
fn gone(pid: u32) {
    wait_until("the daemon leaves", || (!is_alive(pid)).then_some(()));
}

/// @serve_prints_its_address
#[test]
fn serve_http_prints_its_address_and_answers_there() {
    let home = home();
    let daemon = home.daemon();
    let health = Http::new(daemon.port).get("/health").json();
    assert_eq!(health["pid"], daemon.pid());
    let discovery = home.discovery();
    assert_eq!(discovery["pid"], daemon.pid());
    assert_eq!(discovery["port"], daemon.port);
    let mode = |name: &str| home.path("run").join(name).metadata().unwrap().permissions().mode();
    assert_eq!(mode("daemon.json") & 0o777, 0o600);
    assert_eq!(mode("daemon.sock") & 0o777, 0o600);
    assert_eq!(mode("") & 0o777, 0o700);
}

/// @a_second_daemon_yields
#[test]
fn a_second_serve_says_where_the_first_is_and_exits_0() {
    let home = home();
    let first = home.daemon();
    for flag in ["--http", "--daemon"] {
        let second = home.run(&["serve", flag]);
        let said = second.ok();
        assert!(said.contains(&format!("http://127.0.0.1:{} ", first.port)), "{said}");
        assert!(said.contains(&format!("pid {}", first.pid())), "{said}");
    }
    assert_eq!(home.pid(), first.pid());
}

/// @a_background_daemon_stays
#[test]
fn serve_daemon_returns_and_the_daemon_stays() {
    let mut home = home();
    home.set("REKINDLE_IDLE_EMPTY", "50ms");
    let said = home.run(&["serve", "--daemon"]).ok();
    let pid = home.pid();
    assert!(said.contains(&format!("http://127.0.0.1:{}", home.discovery()["port"])), "{said}");
    let window = Duration::from_millis(400);
    testkit::holds_for(window, "the daemon runs", || is_alive(pid));
    assert_eq!(home.run(&["status", "--json"]).json()["pid"], pid);
    assert_eq!(home.run(&["stop"]).ok(), format!("stopped (pid {pid})\n"));
    gone(pid);
}

/// @up_starts_once
#[test]
fn up_says_what_to_do_next_and_starts_only_one_daemon() {
    let home = home();
    let said = home.run(&["up"]).ok();
    let pid = home.pid();
    let address = format!("http://127.0.0.1:{}", home.discovery()["port"]);
    assert!(said.contains(&format!("started (pid {pid})")), "{said}");
    assert!(said.contains(&format!("address   {address}\n")), "{said}");
    assert!(said.contains(&format!("page      {address}/?link=")), "{said}");
    assert!(said.contains("Connect an agent\n") && said.contains(" install\n"), "{said}");
    assert!(said.contains("Try next\n") && said.contains(" hint set "), "{said}");
    let again = home.run(&["up", "--json"]).json();
    assert_eq!(again["pid"], pid);
    assert_eq!(again["started"], false);
    assert_ne!(again["page"].as_str(), said.split_whitespace().find(|w| w.contains("?link=")));
    home.run(&["stop"]).ok();
    gone(pid);
}

/// @no_daemon_is_no_error
#[test]
fn status_and_stop_without_a_daemon_say_not_running() {
    let home = home();
    let status = home.run(&["status"]);
    assert!(status.stderr.is_empty(), "{status:?}");
    assert!(status.ok().starts_with("not running\n"));
    assert_eq!(home.run(&["status", "--json"]).json()["running"], false);
    assert_eq!(home.run(&["stop"]).ok(), "not running\n");
    assert!(!home.path("data/rekindle.db").exists(), "looking makes no database");
}

/// @status_names_the_daemon
#[test]
fn status_names_pid_port_address_and_database() {
    let home = home();
    let daemon = home.daemon();
    let said = home.run(&["status"]).ok();
    let database = home.path("data/rekindle.db");
    for part in [
        format!("pid {}", daemon.pid()),
        format!("http://127.0.0.1:{} (port {})", daemon.port, daemon.port),
        database.display().to_string(),
    ] {
        assert!(said.contains(&part), "{part} is not in {said}");
    }
    let status = home.run(&["status", "--json"]).json();
    assert_eq!(status["running"], true);
    assert_eq!(status["database"], json!(database));
    assert_eq!(status["mode"], "http");
}

/// @a_clean_end_removes_what_it_made
#[test]
fn stop_removes_what_the_daemon_made_and_keeps_token_and_lock() {
    let mut home = home();
    let copy = home.path("copies/rekindle.pid");
    home.write("copies/other", "");
    home.set("REKINDLE_PID_FILE", copy.to_str().unwrap());
    let mut daemon = home.daemon();
    let text = std::fs::read(&copy).unwrap();
    assert_eq!(text, std::fs::read(home.path("run/daemon.json")).unwrap());
    assert_eq!(home.run(&["stop"]).ok(), format!("stopped (pid {})\n", daemon.pid()));
    for removed in ["run/daemon.json", "run/daemon.sock", "copies/rekindle.pid"] {
        assert!(!home.path(removed).exists(), "{removed} is still there");
    }
    for kept in ["data/token", "run/token", "run/daemon.lock", "data/rekindle.db"] {
        assert!(home.path(kept).exists(), "{kept} is gone");
    }
    assert_eq!(daemon.wait(), Some(0));
    let token = home.token();
    assert_eq!(home.daemon().token, token, "clients keep the token in their configuration");
}

/// @signals_end_in_order
#[test]
fn a_signal_ends_the_daemon_cleanly_within_5_s() {
    for name in ["TERM", "INT", "HUP"] {
        let home = home();
        let mut daemon = home.daemon();
        // An idle client on each surface must not delay the end.
        let _idle_http = daemon.http().connect();
        let _idle_socket = home.socket();
        let started = Instant::now();
        assert_eq!(daemon.end_by(name), Some(0), "{name}");
        assert!(started.elapsed() < Duration::from_secs(5), "{name}: {:?}", started.elapsed());
        assert!(!home.path("run/daemon.json").exists(), "{name}");
        assert!(!home.path("run/daemon.sock").exists(), "{name}");
    }
}

/// @a_signal_lets_calls_finish
#[test]
fn a_pending_call_is_answered_before_the_daemon_ends() {
    let home = home();
    let mut daemon = home.daemon();
    let mut client = home.socket();
    // A lock of another process keeps the call pending until the signal has arrived.
    let lock = sqlite::lock(&home);
    let params = json!({ "component": "web", "key": "build", "value": "make" });
    let frame = json!({ "jsonrpc": "2.0", "id": 1, "method": "set_hint", "params": params });
    client.send(format!("{frame}\n").as_bytes());
    wait_until("the call is under way", || has_thread(daemon.pid(), "op-0").then_some(()));
    signal(daemon.pid(), "TERM");
    wait_until("the daemon is ending", || (!home.path("run/daemon.sock").exists()).then_some(()));
    drop(lock);
    assert_eq!(client.receive().expect("a reply")["result"]["hint"]["version"], 1);
    assert_eq!(daemon.wait(), Some(0));
}

/// Whether a process has a thread of this name. The threads of the pool start with the first operation.
fn has_thread(pid: u32, name: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut names = threads.filter_map(|t| std::fs::read_to_string(t.path().join("comm")).ok());
    names.any(|found| found.trim() == name)
}

/// @a_taken_port_counts_up
#[test]
fn if_the_port_is_taken_the_next_free_one_is_used() {
    let home = home();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let daemon = home.daemon_with(&["--port", &port.to_string()]);
    assert!(daemon.port > port && daemon.port < port + 20, "{port}, {}", daemon.port);
    assert_eq!(Http::new(daemon.port).get("/health").status, 200);
}

/// @strict_port_fails
#[test]
fn a_taken_port_with_strict_port_exits_1_and_is_named() {
    let home = home();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for flag in ["--http", "--daemon"] {
        let run = home.run(&["serve", flag, "--strict-port", "--port", &port]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains(&format!("port {port} ")), "{run:?}");
        assert!(!home.path("run/daemon.json").exists());
    }
    assert!(home.run(&["status"]).ok().starts_with("not running"));
}

/// @only_loopback_is_served
#[test]
fn a_host_that_is_not_loopback_is_a_usage_error() {
    let home = home();
    for host in ["0.0.0.0", "::", "192.168.1.1", "example.com"] {
        let run = home.run(&["serve", "--http", "--host", host]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("loopback"), "{run:?}");
    }
    let daemon = home.daemon_with(&["--host", "localhost"]);
    assert_eq!(Http::new(daemon.port).get("/health").status, 200);
}

/// @one_primary_of_many
#[test]
fn of_eight_servers_started_at_once_one_is_primary_and_all_answer() {
    let home = home();
    let mut servers: Vec<_> = (0..8).map(|_| home.serve()).collect();
    for (number, server) in servers.iter_mut().enumerate() {
        server.initialize("2025-06-18");
        let hint = json!({ "component": "web", "key": format!("k{number}"), "value": "v" });
        assert_eq!(server.call("set_hint", &hint).unwrap()["hint"]["version"], 1);
    }
    for server in &mut servers {
        for number in 0..8 {
            let name = json!({ "component": "web", "key": format!("k{number}") });
            assert_eq!(server.call("get_hint", &name).unwrap()["hint"]["value"], "v");
        }
    }
    let primary = home.pid();
    assert!(servers.iter().any(|server| server.pid() == primary));
    let status = home.run(&["status", "--json"]).json();
    assert_eq!(status["pid"], primary);
    // The seven others, and the command itself.
    assert_eq!(status["connections"], 8);
}

/// @homes_are_apart
#[test]
fn two_homes_side_by_side_each_have_their_own_daemon() {
    let (mut first, mut second) = (home(), home());
    // Without a runtime directory of their own, the path of the database distinguishes them.
    for home in [&mut first, &mut second] {
        home.unset("REKINDLE_RUNTIME_DIR");
    }
    let shared = first.path("shared");
    std::fs::create_dir(&shared).unwrap();
    for home in [&mut first, &mut second] {
        home.set("XDG_RUNTIME_DIR", shared.to_str().unwrap());
    }
    let daemons = (first.daemon(), second.daemon());
    let set = |home: &Home, value: &str| {
        home.call("set_hint", &json!({ "component": "web", "key": "build", "value": value }));
    };
    set(&first, "one");
    set(&second, "two");
    let name = json!({ "component": "web", "key": "build" });
    assert_eq!(first.call("get_hint", &name)["hint"]["value"], "one");
    assert_eq!(second.call("get_hint", &name)["hint"]["value"], "two");
    assert_eq!(first.run(&["status", "--json"]).json()["pid"], daemons.0.pid());
    assert_eq!(second.run(&["status", "--json"]).json()["pid"], daemons.1.pid());
    first.run(&["stop"]).ok();
    assert_eq!(second.call("get_hint", &name)["hint"]["value"], "two");
}

/// @up_starts_once
#[test]
fn a_home_whose_path_is_not_utf_8_works() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = home();
    let odd = home.dir.join(std::ffi::OsStr::from_bytes(b"bad\xff"));
    for (line, said) in [("up", "started"), ("status", "running"), ("stop", "stopped")] {
        let mut command = home.command([line]);
        command.env("REKINDLE_HOME", odd.join("data"));
        let run = testkit::home::finish(command, b"");
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains(said), "{run:?}");
    }
}

/// Runs two commands at the same time.
fn at_once(home: &Home, commands: [&[&str]; 2]) -> [Run; 2] {
    let [first, second] = commands;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| home.run(second));
        [home.run(first), other.join().unwrap()]
    })
}

/// @up_starts_once
#[test]
fn of_two_ups_at_once_one_starts_the_daemon_and_the_other_says_that_it_runs() {
    let home = home();
    for _ in 0..8 {
        let both = at_once(&home, [&["up", "--json"], &["up", "--json"]]).map(|run| run.json());
        let started = both.iter().filter(|up| up["started"] == true).count();
        assert_eq!((started, &both[0]["pid"]), (1, &both[1]["pid"]), "{both:?}");
        assert_eq!(home.run(&["stop"]).ok(), format!("stopped (pid {})\n", both[0]["pid"]));
    }
}

/// @up_starts_once
/// @stop_waits_for_a_start
#[test]
fn up_and_stop_at_once_both_say_what_happened() {
    let home = home();
    for round in 0..8 {
        // In every second round a daemon runs before.
        if round % 2 == 0 {
            home.run(&["up"]).ok();
        }
        let both = at_once(&home, [&["up", "--json"], &["stop", "--json"]]);
        let [up, stop] = both.each_ref().map(|run| run.json());
        let pid = |of: &Value| u32::try_from(of["pid"].as_u64().unwrap()).unwrap();
        let is_stopped = stop["stopped"] == true;
        if is_stopped {
            gone(pid(&stop));
        }
        let runs = !is_stopped || pid(&stop) != pid(&up);
        assert_eq!(is_alive(pid(&up)), runs, "{both:?}");
        assert_eq!(home.run(&["status", "--json"]).json()["running"], runs, "{both:?}");
        home.run(&["stop"]).ok();
    }
}

/// @stop_waits_for_a_start
#[test]
fn stop_ends_a_daemon_that_a_hook_has_just_started() {
    for _ in 0..5 {
        let mut home = home();
        home.unset("REKINDLE_NO_AUTOSTART");
        home.hook("Stop", &json!({ "session_id": "s-1" }));
        let said = home.run(&["stop"]).ok();
        assert!(said.starts_with("stopped (pid "), "{said}");
        assert_eq!(home.run(&["status", "--json"]).json()["running"], false);
    }
}

/// @no_daemon_is_no_error
#[test]
fn stop_ends_a_daemon_whose_database_was_replaced_by_a_text() {
    let home = home();
    let daemon = home.daemon();
    let database = sqlite::path(&home);
    let notes = home.write("notes.txt", "precious notes\n");
    std::fs::rename(&notes, &database).unwrap();
    let run = home.run(&["stop"]);
    assert!(run.stderr.contains("is not an SQLite database"), "{run:?}");
    assert_eq!(run.ok(), format!("stopped (pid {})\n", daemon.pid()));
    assert_eq!(std::fs::read_to_string(&database).unwrap(), "precious notes\n");
}
