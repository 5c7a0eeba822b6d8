//! The disk is full, or the database is locked, read-only, newer or of another application: acknowledged writes stay,
//! no other file is changed, and the error is reported.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::{finish, signal};
use testkit::{Home, Run, wait_until};

use super::{home, sqlite};

fn hint(key: &str) -> Value {
    json!({ "component": "web", "key": key, "value": "x".repeat(2_000) })
}

fn name(key: &str) -> Value {
    json!({ "component": "web", "key": key })
}

/// Sends an event with the longest deadline for its answer.
fn hook(home: &Home) {
    home.hook("Stop", &json!({ "session_id": "s-1" }));
}

fn spooled(home: &Home) -> usize {
    home.spooled().len()
}

/// Sets hints until one is refused. Returns the number of acknowledged ones and the refusal.
fn fill(home: &Home) -> (usize, Value) {
    let mut socket = home.socket();
    for number in 0..190 {
        if let Err(error) = socket.rpc("set_hint", &hint(&format!("k{number}"))) {
            return (number, error);
        }
    }
    panic!("nothing was refused");
}

fn all_there(home: &Home, count: usize) {
    let mut socket = home.socket();
    for number in 0..count {
        let found = socket.rpc("get_hint", &name(&format!("k{number}"))).unwrap();
        assert_eq!(found["hint"]["version"], 1);
    }
}

/// @a_full_disk_refuses_and_keeps
#[test]
fn a_full_disk_refuses_writes_keeps_what_was_acknowledged_and_spools_events() {
    let mut home = home();
    home.set("REKINDLE_STORE_MAX_PAGES", "140");
    let mut daemon = home.daemon();
    let (count, error) = fill(&home);
    assert!(count > 0);
    assert_eq!(error["code"], 50301, "{error}");
    assert!(error["message"].as_str().unwrap().contains("full"), "{error}");
    all_there(&home, count);
    // Events fill the rest of half-full pages until there is no room for another one. On a slow machine an event may
    // be spooled too, but then the daemon ingests it soon.
    let mut events = 0;
    wait_until("an event stays in the spool", || {
        let prompt = format!("{events} {}", "tame the zebrafish ".repeat(400));
        home.hook("UserPromptSubmit", &json!({ "session_id": "s-1", "prompt": prompt }));
        events += 1;
        let told = home.run(&["status", "--json"]).json()["spooled"].as_u64();
        (told > Some(0) && spooled(&home) > 0).then_some(())
    });
    daemon.kill();
    // Disk space is available again.
    home.unset("REKINDLE_STORE_MAX_PAGES");
    let daemon = home.daemon();
    all_there(&home, count);
    assert_eq!(spooled(&home), 0);
    assert_eq!(sqlite::recorded(&home).len(), events);
    daemon.http().rpc("set_hint", &hint("after")).unwrap();
}

/// A daemon with a file size limit, in blocks of 512 bytes. Killed when dropped.
struct Limited(Child);

impl Limited {
    fn start(home: &Home, blocks: u32) -> Limited {
        let mut shell = Command::new("sh");
        let binary = env!("CARGO_BIN_EXE_rekindle");
        let line = format!("ulimit -f {blocks} && exec '{binary}' serve --http");
        shell.args(["-c", &line]).env_clear().envs(home.env.iter().cloned());
        shell.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        shell.stdin(Stdio::null()).stdout(Stdio::null());
        Limited(shell.spawn().unwrap())
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// @a_full_disk_refuses_and_keeps
#[test]
fn a_file_size_limit_refuses_writes_and_does_not_end_the_daemon() {
    let home = home();
    let daemon = Limited::start(&home, 1_600);
    let (count, error) = fill(&home);
    assert!(count > 0);
    assert_eq!(error["code"], 50301, "{error}");
    all_there(&home, count);
    hook(&home);
    assert_eq!(home.pid(), daemon.0.id());
    drop(daemon);
    let _next = home.daemon();
    all_there(&home, count);
    assert_eq!(spooled(&home), 0);
    assert_eq!(sqlite::recorded(&home), ["Stop"]);
}

/// @a_locked_database_is_unavailable
#[test]
fn a_database_locked_by_another_process_is_unavailable_after_2_s_and_events_are_spooled() {
    let home = home();
    let daemon = home.daemon();
    daemon.http().rpc("set_hint", &hint("before")).unwrap();
    let lock = sqlite::lock(&home);
    let started = Instant::now();
    let error = daemon.http().rpc("set_hint", &hint("meanwhile")).unwrap_err();
    let took = started.elapsed();
    assert_eq!(error["code"], 50301, "{error}");
    assert!(error["message"].as_str().unwrap().contains("locked"), "{error}");
    assert!(took > Duration::from_millis(1_500) && took < Duration::from_secs(4), "{took:?}");
    // Reads still work.
    daemon.http().rpc("get_hint", &name("before")).unwrap();
    assert_eq!(home.run(&["status", "--json"]).json()["running"], true);
    hook(&home);
    assert_eq!(spooled(&home), 1);
    drop(lock);
    daemon.http().rpc("set_hint", &hint("after")).unwrap();
    wait_until("the event is taken in", || (spooled(&home) == 0).then_some(()));
    assert_eq!(sqlite::recorded(&home), ["Stop"]);
    daemon.http().rpc("get_hint", &name("meanwhile")).unwrap_err();
}

/// @a_locked_database_is_unavailable
#[test]
fn a_command_without_a_daemon_reports_that_the_database_is_locked() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make"]).ok();
    let _lock = sqlite::lock(&home);
    let run = home.run(&["hint", "set", "web", "build", "make"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("locked by another process"), "{run:?}");
    hook(&home);
    assert_eq!(spooled(&home), 1);
}

/// A command that waited for the lock would take 2 s longer than without it.
///
/// @a_locked_database_is_unavailable
#[test]
fn a_command_without_a_daemon_reads_a_locked_database_without_waiting() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make"]).ok();
    home.run(&["stop"]).ok();
    let event = json!({ "session_id": "s-1", "cwd": "/srv/app", "prompt": "tame the zebrafish" });
    home.hook("UserPromptSubmit", &event);
    home.run(&["pause", "1h"]).ok();
    let reading = [
        &["search", "zebrafish", "--project", "*"] as &[&str],
        &["recent", "--project", "*"],
        &["stats"],
        &["briefing"],
        &["status"],
    ];
    let read_all = || {
        let started = Instant::now();
        let runs: Vec<Run> = reading.iter().map(|line| home.run(line)).collect();
        (runs, started.elapsed())
    };
    let (_, unlocked) = read_all();
    home.hook("Stop", &json!({ "session_id": "s-1" }));
    let _lock = sqlite::lock(&home);
    let (runs, locked) = read_all();
    assert!(runs[0].stdout.contains("tame the zebrafish"), "{runs:?}");
    for run in &runs {
        assert!(!run.stderr.contains("locked"), "{run:?}");
    }
    let status = &runs[4].stdout;
    assert!(status.starts_with("not running\n") && status.contains("paused"), "{status}");
    let waiting = Duration::from_secs(2) * u32::try_from(reading.len()).unwrap();
    assert!(locked < unlocked * 3 + waiting / 2, "{locked:?}, and {unlocked:?} without the lock");
    assert_eq!(spooled(&home), 1, "what would have to be written waits");
}

/// The bytes of the database's files.
fn bytes(home: &Home) -> Vec<Option<Vec<u8>>> {
    ["", "-wal", "-shm", "-journal"]
        .iter()
        .map(|suffix| std::fs::read(home.path(&format!("data/rekindle.db{suffix}"))).ok())
        .collect()
}

/// Asserts that every way to open the database is refused with these words, and that no byte of it changes.
fn refused(home: &Home, words: &str) {
    let before = bytes(home);
    let commands: [&[&str]; 4] =
        [&["serve", "--http"], &["serve"], &["up"], &["hint", "set", "web", "build", "make"]];
    for command in commands {
        let run: Run = home.run(command);
        assert_eq!(run.code, 1, "{command:?}: {run:?}");
        assert!(run.stderr.contains(words), "{command:?}: {run:?}");
        assert_eq!(run.stdout, "", "{command:?}");
    }
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains(words), "{doctor:?}");
    hook(home);
    // A session start would open the store for its answer.
    home.hook("SessionStart", &json!({ "session_id": "s-1" }));
    assert_eq!(spooled(home), 2);
    assert_eq!(bytes(home), before);
}

/// @a_newer_database_is_untouched
#[test]
fn a_database_of_a_newer_build_is_refused_and_not_touched() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    let db = sqlite::open(&sqlite::path(&home));
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    refused(&home, "the database has schema version 99, this build knows 1");
}

/// @a_foreign_database_is_untouched
#[test]
fn a_database_of_another_application_is_refused_and_not_touched() {
    let home = home();
    std::fs::create_dir(home.path("data")).unwrap();
    sqlite::open(&sqlite::path(&home)).execute_batch("CREATE TABLE theirs (a)").unwrap();
    refused(&home, "database of another application");
}

/// @only_databases_are_opened
#[test]
fn directories_at_the_paths_of_its_files_make_a_database_refused_and_events_are_spooled() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    // A clean end writes the WAL into the database.
    home.daemon().end_by("TERM");
    for suffix in ["-wal", "-shm"] {
        let sidecar = home.path(&format!("data/rekindle.db{suffix}"));
        let _ = std::fs::remove_file(&sidecar);
        std::fs::create_dir(&sidecar).unwrap();
    }
    let run = home.run(&["hint", "set", "web", "build", "again", "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(run.json()["error"]["code"], 40001, "{run:?}");
    assert!(run.stdout.contains("is a directory"), "{run:?}");
    hook(&home);
    home.hook("SessionStart", &json!({ "session_id": "s-1" }));
    assert_eq!(spooled(&home), 2);
    for suffix in ["-wal", "-shm"] {
        std::fs::remove_dir(home.path(&format!("data/rekindle.db{suffix}"))).unwrap();
    }
    assert_eq!(home.run(&["hint", "get", "web", "build"]).code, 0);
    assert_eq!(sqlite::recorded(&home), ["Stop", "SessionStart"]);
}

/// @a_read_only_database_is_unavailable
#[test]
fn a_read_only_database_file_stays_read_only() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    let database = home.path("data/rekindle.db");
    std::fs::set_permissions(&database, Permissions::from_mode(0o444)).unwrap();
    home.run(&["recent"]).ok();
    assert_eq!(std::fs::metadata(&database).unwrap().permissions().mode() & 0o777, 0o400);
}

/// @the_spool_is_drained_in_order
#[test]
fn a_pipe_in_the_spool_is_set_aside_and_does_not_block() {
    let home = home();
    hook(&home);
    let pipe = home.path("data/spool/000000000000005-00000000000000000000000000000004.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    home.run(&["recent"]).ok();
    assert!(!pipe.exists());
    assert_eq!(sqlite::recorded(&home), ["Stop"]);
}

/// @logs_hold_no_user_text
#[test]
fn a_secret_in_the_line_of_a_hook_does_not_reach_its_log() {
    let home = home();
    for secret in ["password=hunter2x", "AKIAIOSFODNN7EXAMPLQ"] {
        home.run(&["hook", "PostToolUse", secret]).ok();
    }
    let log = std::fs::read_to_string(home.path("data/log/hook.log")).unwrap();
    assert!(log.contains("unexpected argument"), "{log}");
    assert!(!log.contains("hunter2x") && !log.contains("AKIAIOSFODNN7EXAMPLQ"), "{log}");
}

/// @a_kill_loses_nothing_acknowledged
#[test]
fn a_kill_in_a_storm_of_writes_loses_nothing_that_was_acknowledged() {
    let home = home();
    let mut daemon = home.daemon();
    let pid = daemon.pid();
    let acknowledged: Vec<usize> = std::thread::scope(|scope| {
        let home = &home;
        let writer = |worker: usize| {
            scope.spawn(move || {
                let mut socket = home.socket();
                let mut count = 0;
                loop {
                    let component = format!("w{worker}-{}", count / 100);
                    let params = json!({ "component": component, "key": format!("k{count}"), "value": "make" });
                    let frame = json!({ "jsonrpc": "2.0", "id": 1, "method": "set_hint", "params": params });
                    socket.send(format!("{frame}\n").as_bytes());
                    match socket.receive() {
                        Some(reply) if reply.get("result").is_some() => count += 1,
                        Some(reply) => panic!("{reply}"),
                        None => return count,
                    }
                    if count == 100 && worker == 0 {
                        signal(pid, "KILL");
                    }
                }
            })
        };
        let writers: Vec<_> = (0..4).map(writer).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    daemon.kill();
    assert!(sqlite::is_sound(&sqlite::path(&home)));
    let _next = home.daemon();
    let mut socket = home.socket();
    for (worker, count) in acknowledged.into_iter().enumerate() {
        for number in 0..count {
            let component = format!("w{worker}-{}", number / 100);
            let name = json!({ "component": component, "key": format!("k{number}") });
            assert_eq!(socket.rpc("get_hint", &name).unwrap()["hint"]["version"], 1);
        }
    }
}

/// @a_full_disk_refuses_and_keeps
#[test]
fn a_hook_whose_spool_cannot_grow_is_silent_too() {
    let home = home();
    let mut shell = Command::new("sh");
    let binary = env!("CARGO_BIN_EXE_rekindle");
    shell.args(["-c", &format!("ulimit -f 0 && exec '{binary}' hook Stop")]);
    shell.env_clear().envs(home.env.iter().cloned());
    let run = finish(shell, br#"{"session_id":"s-1"}"#);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    let left =
        home.spooled().into_iter().find(|file| file.extension().is_some_and(|e| e == "json"));
    assert_eq!(left, None, "an event is complete or not there");
}
