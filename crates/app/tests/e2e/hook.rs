//! The hook: it commits one event as one row, and never disturbs the agent.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::{finish, is_alive};
use testkit::{Home, Run, wait_until};

use super::{home, sqlite};

/// Runs the hook. Asserts that it prints nothing and exits with 0.
fn hook(home: &Home, event: &str, stdin: &[u8]) {
    silent(&home.run_with(&["hook", event], stdin));
}

fn silent(run: &Run) {
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}

fn payload(session: &str) -> Vec<u8> {
    json!({ "session_id": session, "tool_name": "Bash" }).to_string().into_bytes()
}

/// The number of stored events. A tool's hook does not wait long, so events in the spool of a busy daemon are
/// ingested first.
fn events(home: &Home) -> Value {
    wait_until("the spool is empty", || {
        home.call("set_hint", &json!({ "component": "any", "key": "write", "value": "x" }));
        home.spooled().is_empty().then_some(())
    });
    status(home)["events"].clone()
}

fn status(home: &Home) -> Value {
    home.run(&["status", "--json"]).json()
}

fn hook_log(home: &Home) -> String {
    std::fs::read_to_string(home.path("data/log/hook.log")).unwrap_or_default()
}

/// @an_event_is_one_row
#[test]
fn an_event_is_committed_before_the_hook_ends_and_shown_as_the_last_one() {
    let home = home();
    let _daemon = home.daemon();
    hook(&home, "Stop", &payload("s-1"));
    let status = status(&home);
    assert_eq!(status["events"], 1);
    assert_eq!(status["last_event"]["name"], "Stop");
    assert_eq!(status["last_event"]["session"], "s-1");
    assert!(home.spooled().is_empty());
    assert!(home.run(&["doctor"]).ok().contains("last event: Stop "));
    assert_eq!(hook_log(&home), "");
}

/// @an_event_survives_a_kill
#[test]
fn a_recorded_event_survives_a_kill() {
    let home = home();
    let mut daemon = home.daemon();
    hook(&home, "Stop", &payload("s-1"));
    daemon.kill();
    assert_eq!(sqlite::recorded(&home), ["Stop"]);
}

/// Events with text that must not be stored, besides text that must.
fn secretive(private: &str, token: &str) -> [(&'static str, Value); 5] {
    let prompt = format!("tame the zebrafish <private>{private}</private> with {token}");
    let content = format!("{private} {token}");
    let command = format!("deploy --to /srv/{token}/site");
    let error = format!("denied for {token}");
    [
        ("UserPromptSubmit", json!({ "prompt": prompt })),
        (
            "PostToolUse",
            json!({
                "tool_name": "Write", "tool_response": { "content": private },
                "tool_input": { "file_path": "/srv/notes.md", "content": content },
            }),
        ),
        (
            "PostToolUse",
            json!({
                "tool_name": "Bash", "tool_response": { "stdout": private },
                "tool_input": { "command": command, private: private },
            }),
        ),
        (
            "PostToolUseFailure",
            json!({
                "tool_name": "Bash", "error": error, "tool_input": { "command": "release" },
            }),
        ),
        (
            "Stop",
            json!({
                "last_assistant_message": format!("Done. <private>{private}</private> {token}"),
                "transcript_path": private,
            }),
        ),
    ]
}

/// @what_is_kept_of_an_event
#[test]
fn actions_are_stored_without_contents_secrets_or_private_text() {
    let mut home = home();
    home.set("REKINDLE_LOG_LEVEL", "debug");
    // The second prompt is about the first session.
    home.set("REKINDLE_BRIEFING_AT_PROMPTS", "false");
    let (private, token) = ("xyzzymarker", "ghp_q7Zk2mN9xR4tV6wY8bD1fG3hJ5lP0sA2cE4u");
    let all = secretive(private, token);
    let send = |session: &str| {
        for (name, event) in &all {
            let mut event = event.clone();
            event["session_id"] = json!(session);
            event["cwd"] = json!(format!("/srv/{token}"));
            event[private] = json!({ private: [private, token] });
            home.hook(name, &event);
        }
    };
    let is_clean = || {
        for (path, bytes) in home.files() {
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(private) && !text.contains(token), "{}", path.display());
        }
    };
    // Once through the spool and once through the socket.
    send("s-1");
    // The prompt is recorded at once: the store was open for its reply.
    assert_eq!(home.spooled().len(), all.len() - 1);
    is_clean();
    let mut daemon = home.daemon();
    send("s-2");
    assert_eq!(events(&home), 2 * all.len());
    for (word, is_known) in [("zebrafish", true), (private, false), (token, false)] {
        let found = home.call("search", &json!({ "query": word, "project": "*" }));
        assert_eq!(found["results"] != json!([]), is_known, "{word}: {found}");
    }
    daemon.kill();
    is_clean();
    let mut done: Vec<String> = sqlite::observed(&home).into_iter().map(|(what, _)| what).collect();
    done.sort();
    let deployed = "deploy --to /srv/[redacted:github-token]/site";
    let once = ["Done.  [redacted:github-token]", "Write /srv/notes.md", deployed, "release"];
    assert_eq!(done, once.map(|what| [what; 2]).concat());
}

/// @a_hook_never_disturbs
#[test]
fn bad_input_is_dropped_silently_with_a_log_line_that_quotes_nothing() {
    let home = home();
    let _daemon = home.daemon();
    let bad: [&[u8]; 8] = [
        b"",
        b"zebrafish",
        b"{\"session_id\":",
        b"[\"zebrafish\"]",
        b"\"zebrafish\"",
        b"{\"session_id\":{\"zebrafish\":1}}",
        b"{\"session_id\":[\"zebrafish\"],\"cwd\":\"zebrafish\"}",
        b"\xff\xfe{\"session_id\":\"zebrafish\"}",
    ];
    for (count, stdin) in bad.into_iter().enumerate() {
        hook(&home, "PostToolUse", stdin);
        let log = hook_log(&home);
        assert_eq!(log.lines().count(), count + 1, "{:?}: {log}", String::from_utf8_lossy(stdin));
        assert!(log.lines().all(|line| line.contains("PostToolUse: dropped")), "{log}");
        assert!(!log.contains("zebrafish"), "{log}");
    }
    let long = "n".repeat(300);
    hook(&home, &long, &payload("zebrafish"));
    let log = hook_log(&home);
    assert!(
        log.ends_with(
            "dropped: event is not a name of 1 to 200 bytes without control characters\n"
        ),
        "{log}"
    );
    assert_eq!(status(&home)["events"], 0);
    assert!(home.spooled().is_empty());
    // The user finds it with the log command.
    assert_eq!(home.run(&["logs", "--hook"]).ok(), hook_log(&home));
}

/// @a_hook_never_disturbs
#[test]
fn an_event_over_64_mib_is_dropped_and_one_just_below_is_kept() {
    let home = home();
    const MIB: usize = 1024 * 1024;
    let written = |bytes: usize| {
        let input = json!({ "file_path": "/srv/notes.md", "content": "x".repeat(bytes) });
        json!({ "session_id": "s-1", "tool_name": "Write", "tool_input": input })
    };
    home.hook("PostToolUse", &written(65 * MIB));
    assert!(hook_log(&home).contains("dropped: over 64 MiB"), "{}", hook_log(&home));
    assert!(home.spooled().is_empty());
    // Of long text only its size and its fingerprint are passed on, to the spool or to a daemon.
    home.hook("PostToolUse", &written(63 * MIB));
    assert_eq!(home.spooled().len(), 1);
    assert!(std::fs::metadata(&home.spooled()[0]).unwrap().len() < 1_000);
    let _daemon = home.daemon();
    // A line to a daemon may not be as long as this.
    home.hook("PostToolUse", &written(17 * MIB));
    assert_eq!(events(&home), 2);
    let history = home.call("file_history", &json!({ "file_path": "/srv/notes.md" }));
    let touches = history["sessions"][0]["touches"].as_array().unwrap().iter().rev();
    let ids: Vec<&Value> = touches.map(|touch| &touch["observation_id"]).collect();
    let found = home.call("get_observations", &json!({ "ids": ids }));
    for (place, bytes) in [63 * MIB, 17 * MIB].into_iter().enumerate() {
        assert_eq!(found["results"][place]["metadata"]["bytes"], bytes, "{found}");
    }
}

/// @a_hook_never_disturbs
#[test]
fn a_closed_stdin_and_odd_event_names_are_not_errors() {
    let home = home();
    let _daemon = home.daemon();
    let mut shell = std::process::Command::new("sh");
    let line = format!("exec '{}' hook Stop <&- ", env!("CARGO_BIN_EXE_rekindle"));
    shell.args(["-c", &line]).env_clear().envs(home.env.iter().cloned());
    silent(&finish(shell, b""));
    for event in ["NoSuchEvent", "pre-tool.use", "ümlaut", "a b"] {
        hook(&home, event, &payload("s-1"));
    }
    hook(&home, "", &payload("s-1"));
    assert_eq!(status(&home)["events"], 4);
}

/// @a_hook_never_disturbs
#[test]
fn a_wrong_command_line_of_a_hook_is_reported_only_in_its_log() {
    let home = home();
    let lines = [&["hook"] as &[&str], &["hook", "--no-such-flag"], &["hook", "Stop", "--agent"]];
    for (count, args) in lines.into_iter().enumerate() {
        silent(&home.run_with(args, &payload("s-1")));
        let log = hook_log(&home);
        assert_eq!(log.lines().count(), count + 1, "{args:?}: {log}");
        assert!(log.lines().all(|line| line.contains(" line: error:")), "{log}");
    }
    assert!(home.run(&["hook", "--help"]).ok().contains("Usage"));
}

/// @a_hook_never_disturbs
#[test]
fn the_last_of_two_equal_members_counts() {
    let home = home();
    let twice = br#"{"session_id":"s-0","session_id":null,"cwd":"/","session_id":"s-1"}"#;
    hook(&home, "Stop", twice);
    assert_eq!((home.spooled().len(), hook_log(&home).as_str()), (1, ""));
    let _daemon = home.daemon();
    hook(&home, "Stop", twice);
    assert_eq!(status(&home)["last_event"]["session"], "s-1");
    assert_eq!(events(&home), 2);
    hook(&home, "Stop", br#"{"session_id":"s-1","session_id":""}"#);
    assert!(hook_log(&home).ends_with("dropped: no session_id\n"), "{}", hook_log(&home));
}

/// @a_hook_never_disturbs
#[test]
fn a_hook_that_can_write_nowhere_is_silent() {
    let home = home();
    home.write("data", "");
    home.write("run", "");
    for event in ["SessionStart", "PostToolUse"] {
        hook(&home, event, &payload("s-1"));
    }
    hook(&home, "PostToolUse", b"nonsense");
    assert_eq!(std::fs::read_to_string(home.path("data")).unwrap(), "");
}

/// @the_spool_keeps_events
#[test]
fn without_a_daemon_events_wait_in_private_files_and_the_runtime_directory_is_second_choice() {
    let home = home();
    hook(&home, "PostToolUse", &payload("s-1"));
    let files = home.spooled();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let folder = home.path("data/spool").metadata().unwrap().permissions().mode();
    assert_eq!(folder & 0o777, 0o700);
    assert!(!home.path("data/rekindle.db").exists(), "the hook opens no database");
    // Another file is at the path of the first spool.
    std::fs::remove_dir_all(home.path("data/spool")).unwrap();
    home.write("data/spool", "");
    hook(&home, "Stop", &payload("s-1"));
    assert_eq!(std::fs::read_dir(home.path("run/spool")).unwrap().count(), 1);
    std::fs::remove_file(home.path("data/spool")).unwrap();
    let _daemon = home.daemon();
    assert_eq!(sqlite::recorded(&home), ["Stop"]);
}

/// @the_spool_is_drained_in_order
#[test]
fn the_next_process_ingests_the_spool_in_order_and_each_event_once() {
    let home = home();
    let names = ["UserPromptSubmit", "PreToolUse", "PostToolUse"];
    for event in names {
        hook(&home, event, &payload("s-1"));
    }
    let copies: Vec<_> =
        home.spooled().into_iter().map(|f| (f.clone(), std::fs::read(f).unwrap())).collect();
    assert_eq!(copies.len(), 3);
    // A command without a daemon.
    home.run(&["get", "hint://web/build"]);
    assert_eq!(sqlite::recorded(&home), names);
    assert!(home.spooled().is_empty());
    // Puts the files back, as after a crash between commit and removal; then with a daemon.
    for (file, text) in &copies {
        std::fs::write(file, text).unwrap();
    }
    let _daemon = home.daemon();
    assert!(home.spooled().is_empty());
    assert_eq!(sqlite::recorded(&home), names);
    assert_eq!(status(&home)["events"], 3);
}

/// @the_spool_is_drained_in_order
#[test]
fn a_running_daemon_ingests_the_spool_before_its_next_write() {
    let home = home();
    hook(&home, "PostToolUse", &payload("s-1"));
    let file = home.spooled().remove(0);
    let text = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let _daemon = home.daemon();
    // Renamed into place, as a hook does it, so that no process sees half of it.
    std::fs::write(file.with_extension("part"), text).unwrap();
    std::fs::rename(file.with_extension("part"), &file).unwrap();
    hook(&home, "Stop", &payload("s-1"));
    assert_eq!(sqlite::recorded(&home), ["PostToolUse", "Stop"]);
    assert_eq!(status(&home)["spooled"], 0);
}

/// @the_same_event_counts_once
#[test]
fn an_event_of_two_registrations_counts_once() {
    let home = home();
    let used = |session: &str, id: &str| {
        json!({
            "session_id": session, "tool_use_id": id, "tool_name": "Bash",
            "tool_input": { "command": format!("make {id}") },
        })
    };
    // The first arrives through the spool, the second through the socket.
    home.hook("PostToolUse", &used("s-1", "t-1"));
    let _daemon = home.daemon();
    home.hook("PostToolUse", &used("s-1", "t-1"));
    assert_eq!(events(&home), 1);
    home.hook("PostToolUse", &used("s-1", "t-2"));
    home.hook("PreToolUse", &used("s-1", "t-1"));
    home.hook("PostToolUse", &used("s-2", "t-1"));
    assert_eq!(events(&home), 4);
    // Without the agent's id of the tool call they are two events.
    hook(&home, "Stop", &payload("s-1"));
    hook(&home, "Stop", &payload("s-1"));
    assert_eq!(events(&home), 6);
    let done = ["make t-1", "make t-2", "make t-1"];
    assert_eq!(sqlite::observed(&home), done.map(|what| (what.to_owned(), 1)));
}

/// @a_hook_starts_a_daemon_now_and_then
#[test]
fn a_hook_without_a_daemon_starts_one_at_most_once_in_30_s() {
    let mut home = home();
    home.unset("REKINDLE_NO_AUTOSTART");
    home.set("REKINDLE_IDLE_EMPTY", "200ms");
    hook(&home, "SessionEnd", &payload("s-1"));
    let pid = home.pid();
    let stamp = std::fs::metadata(home.path("run/start.stamp")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&stamp.permissions()) & 0o777, 0o600);
    wait_until("the daemon took in the event", || {
        (sqlite::recorded(&home).len() == 1).then_some(())
    });
    wait_until("the daemon leaves", || (!is_alive(pid)).then_some(()));
    hook(&home, "SessionEnd", &payload("s-1"));
    assert_eq!(home.spooled().len(), 1);
    testkit::holds_for(Duration::from_millis(500), "no daemon is started again", || {
        !home.path("run/daemon.json").exists()
    });
    // Half a minute later.
    let stamp = std::fs::File::options().write(true).open(home.path("run/start.stamp")).unwrap();
    let then = stamp.metadata().unwrap().modified().unwrap() - Duration::from_secs(31);
    stamp.set_modified(then).unwrap();
    hook(&home, "SessionEnd", &payload("s-1"));
    let pid = home.pid();
    wait_until("the daemon leaves", || (!is_alive(pid)).then_some(()));
    assert_eq!(sqlite::recorded(&home).len(), 3);
}

/// @a_hook_starts_a_daemon_now_and_then
#[test]
fn a_hook_starts_no_daemon_where_that_is_forbidden() {
    let home = home();
    for event in ["SessionStart", "Stop"] {
        hook(&home, event, &payload("s-1"));
    }
    assert_eq!(home.spooled().len(), 1);
    assert!(!home.path("run/start.stamp").exists());
    assert!(!home.path("run/daemon.json").exists());
}

/// @a_starting_session_is_answered_without_a_daemon
#[test]
fn a_session_start_without_a_daemon_ingests_the_spool_and_gets_a_briefing() {
    let home = home();
    let folder = home.path("app");
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    let event = |session: &str, more: Value| {
        let mut event = json!({ "session_id": session, "cwd": folder });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    // There is nothing to say yet.
    home.hook("SessionStart", &event("s-1", json!({ "source": "startup" })));
    home.hook("UserPromptSubmit", &event("s-1", json!({ "prompt": "tame the zebrafish" })));
    let edit = json!({
        "tool_name": "Edit",
        "tool_input": { "file_path": folder.join("tame.rs"), "old_string": "a", "new_string": "b" },
    });
    home.hook("PostToolUse", &event("s-1", edit));
    // The prompt is recorded at once: the store was open for its reply.
    assert_eq!(home.spooled().len(), 1);
    let start = event("s-2", json!({ "source": "startup" })).to_string();
    let answer = home.run_with(&["hook", "SessionStart"], start.as_bytes());
    let told = &answer.json()["hookSpecificOutput"];
    assert_eq!(told["hookEventName"], "SessionStart");
    let context = told["additionalContext"].as_str().unwrap();
    assert!(context.contains("tame the zebrafish") && context.contains("tame.rs"), "{context}");
    let names = ["SessionStart", "UserPromptSubmit", "PostToolUse", "SessionStart"];
    assert_eq!(sqlite::recorded(&home), names);
    assert!(home.spooled().is_empty());
    // A session gets each entry once.
    home.hook("SessionStart", &event("s-2", json!({ "source": "startup" })));
}

/// @a_hook_has_a_deadline
#[test]
fn a_daemon_that_accepts_no_connection_does_not_hold_up_the_hook() {
    let home = home();
    let locations = home.locations();
    client::platform::private_dir(&locations.runtime_dir).unwrap();
    let socket = locations.socket();
    let listener = UnixListener::bind(&socket).unwrap();
    // Clients that were never accepted fill the queue; the next connection waits.
    let waiting = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while UnixStream::connect(&socket).is_ok() {
                waiting.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut before = 0;
        wait_until("the queue is full", || {
            std::thread::park_timeout(Duration::from_millis(100));
            let now = waiting.load(Ordering::Relaxed);
            std::mem::replace(&mut before, now).eq(&now).then_some(()).filter(|()| now > 0)
        });
        let started = Instant::now();
        hook(&home, "PostToolUse", &payload("s-1"));
        let took = started.elapsed();
        drop(listener);
        assert!(took < Duration::from_millis(2_500), "{took:?}");
    });
    assert_eq!(home.spooled().len(), 1);
}

/// @the_spool_keeps_events
#[test]
fn an_event_is_spooled_for_the_database_that_it_is_meant_for() {
    let home = home();
    let other = home.path("other.db");
    let other = other.to_str().unwrap();
    home.run_with(&["hook", "Stop"], br#"{"session_id":"mine"}"#);
    home.run_with(&["hook", "--db", other, "Stop"], br#"{"session_id":"other"}"#);
    let last = |flags: &[&str]| {
        let run = home.run(&[&["call", "status", "--json"], flags].concat());
        (run.json()["events"].clone(), run.json()["last_event"]["session"].clone())
    };
    assert_eq!(last(&[]), (1.into(), "mine".into()));
    assert_eq!(last(&["--db", other]), (1.into(), "other".into()));
}

/// @capture_times
#[test]
fn an_event_of_the_year_9999_does_not_stay_the_newest() {
    const FAR: i64 = 253_370_764_800_000;
    let times = |home: &Home| -> Vec<i64> {
        let db = sqlite::open(&sqlite::path(home));
        let mut select = db
            .prepare("SELECT at FROM observations UNION ALL SELECT last_at FROM sessions")
            .unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.map(|at| at.unwrap()).collect()
    };
    let event = |command: &str| {
        json!({
            "session_id": "s-1", "cwd": "/srv/app", "hook_event_name": "PostToolUse",
            "tool_name": "Bash", "tool_input": { "command": command },
        })
    };
    for with_daemon in [false, true] {
        let home = home();
        let _daemon = with_daemon.then(|| home.daemon());
        for (number, at) in [FAR, i64::MAX, 0, -5, i64::MIN].into_iter().enumerate() {
            home.call(
                "hook",
                &json!({ "payload": event(&format!("make far-{number}")), "at": at }),
            );
        }
        let latest = client::clock::now_ms() + 86_400_000;
        let stored = times(&home);
        assert_eq!(stored.len(), 6);
        assert!(stored.iter().all(|at| (1_700_000_000_000..=latest).contains(at)), "{stored:?}");
    }
    // The time of a spooled event is corrected too.
    let home = home();
    home.hook("PostToolUse", &event("make spooled"));
    let [file] = home.spooled().try_into().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let mut spooled: Value = serde_json::from_str(&text).unwrap();
    spooled["at"] = json!(FAR);
    std::fs::write(&file, spooled.to_string()).unwrap();
    home.run(&["mark", "a mark"]).ok();
    let latest = client::clock::now_ms() + 86_400_000;
    assert!(times(&home).iter().all(|at| *at <= latest), "{:?}", times(&home));
    assert!(home.run(&["trace", "s-1"]).ok().contains("make spooled"));
}
