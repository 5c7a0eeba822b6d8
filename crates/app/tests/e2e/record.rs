//! `record`: one event on stdin, for scripts and other harnesses. Invalid events are refused with one line and leave
//! nothing; an event that the store cannot record now is recorded later, once.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::signal;
use testkit::{Home, Run, wait_until};

use super::shell::TestShell;
use super::{home, sqlite};

/// A prompt with some members replaced; a member that is null is left out.
fn event(changes: &Value) -> Vec<u8> {
    let mut event = json!({
        "session_id": "s-1", "cwd": "/srv/app", "hook_event_name": "UserPromptSubmit",
        "prompt": "Tame the zebrafish",
    });
    for (name, value) in changes.as_object().unwrap() {
        event[name] = value.clone();
    }
    event.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    event.to_string().into_bytes()
}

fn record(home: &Home, stdin: &[u8]) -> Run {
    home.run_with(&["record"], stdin)
}

/// Asserts that the event was accepted without output.
fn silent(run: &Run) {
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}

/// Asserts that the event was refused with one line that quotes nothing of it.
fn refused(run: &Run, words: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(run.stderr.contains(words) && !run.stderr.contains("zebrafish"), "{run:?}");
}

/// The hits for this word in all projects.
fn found(home: &Home, word: &str) -> Vec<Value> {
    let result = home.call("search", &json!({ "query": word, "project": "*", "diverse": false }));
    result["results"].as_array().unwrap().clone()
}

/// An event that starts with these bytes instead of its brace.
fn begun(bytes: &[u8]) -> Vec<u8> {
    [bytes, &event(&json!({}))[1..]].concat()
}

/// @record_refuses
#[test]
fn anything_but_one_json_object_is_refused_and_leaves_nothing() {
    let home = home();
    let nested = |depth: usize| {
        let member = format!("{{\"x\":{}{},", "[".repeat(depth), "]".repeat(depth));
        begun(member.as_bytes())
    };
    let whole = event(&json!({}));
    let bad: [(&str, Vec<u8>); 11] = [
        ("empty", Vec::new()),
        ("blank", b" \n".to_vec()),
        ("malformed", b"{\"prompt\":\"zebrafish\"".to_vec()),
        ("no JSON at all", b"zebrafish".to_vec()),
        ("array", [b"[", &whole[..], b"]"].concat()),
        ("text", b"\"zebrafish\"".to_vec()),
        ("null", b"null".to_vec()),
        ("two objects", [&whole[..], &whole[..]].concat()),
        ("two lines", [&whole[..], b"\n", &whole[..]].concat()),
        ("nested too deep", nested(129)),
        ("a NUL as it is", begun(b"{\"x\":\"\0\",")),
    ];
    for (what, stdin) in bad {
        let run = record(&home, &stdin);
        assert!(run.code == 1, "{what}: {run:?}");
        refused(&run, "stdin is not one JSON object");
    }
    assert!(!home.path("data/rekindle.db").exists());
    assert!(home.spooled().is_empty());
    silent(&record(&home, &nested(100)));
    assert_eq!(found(&home, "zebrafish").len(), 1);
}

/// @record_refuses
#[test]
fn an_event_without_session_directory_or_name_is_refused_by_that_member() {
    let home = home();
    let _daemon = home.daemon();
    for member in ["session_id", "cwd", "hook_event_name"] {
        let null = format!("{{\"{member}\":null,");
        let mut missing: Value = serde_json::from_slice(&event(&json!({}))).unwrap();
        missing.as_object_mut().unwrap().remove(member);
        refused(&record(&home, missing.to_string().as_bytes()), &format!("{member} is missing"));
        let rest = missing.to_string();
        let null = format!("{null}{}", &rest[1..]);
        refused(&record(&home, null.as_bytes()), &format!("{member} is missing"));
        let empty = event(&json!({ member: "" }));
        refused(&record(&home, &empty), &format!("{member} is empty"));
        let flag = event(&json!({ member: true }));
        refused(&record(&home, &flag), &format!("{member} is not a text"));
    }
    assert_eq!(sqlite::recorded(&home), [""; 0]);
    assert!(home.spooled().is_empty());
    // With `--json` the error is an object.
    let told = home.run_with(&["record", "--json"], b"zebrafish");
    assert_eq!((told.code, &told.json()["error"]["code"]), (1, &json!(40001)));
}

/// @record_refuses
#[test]
fn a_wrong_command_line_exits_with_1_because_2_would_stop_the_agent() {
    let home = home();
    for args in [&["record", "--no-such-flag"] as &[&str], &["record", "Stop"]] {
        assert_eq!(home.run_with(args, &event(&json!({}))).code, 1, "{args:?}");
    }
    let agent = home.run_with(&["record", "--agent", "nobody"], &event(&json!({})));
    refused(&agent, "no agent is known by this name");
    assert!(!home.path("data/rekindle.db").exists() && home.spooled().is_empty());
}

/// The lines that the documentation gives as an example.
fn documented() -> impl Iterator<Item = &'static str> {
    let page = include_str!("../../../../docs/spec/capture.md");
    let block = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    block.lines()
}

/// @capture_lines
#[test]
fn each_line_documented_for_other_harnesses_is_accepted() {
    let home = home();
    let _daemon = home.daemon();
    for line in documented() {
        let run = record(&home, line.as_bytes());
        let is_told = line.contains("\"source\":\"compact\"");
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{line}");
        assert_eq!(run.stdout.contains("Fix the login"), is_told, "{line}: {}", run.stdout);
    }
    let names = documented().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["hook_event_name"].as_str().unwrap().to_owned()
    });
    assert_eq!(sqlite::recorded(&home), names.collect::<Vec<_>>());
    let trace = home.call("session_trace", &json!({ "session_id": "s-1" }));
    let trace = trace.to_string();
    for word in [
        "session_start",
        "Fix the login",
        "command_error",
        "fn login in src",
        "Read src/login.rs",
        "Edit src/login.rs: ttl = 3600",
        "Write NOTES.md",
        "git_commit",
        "mcp_call",
        "session_compact",
        "session_end",
    ] {
        assert!(trace.contains(word), "{word}: {trace}");
    }
    // Sends the lines again: events with an id of their own count once.
    let before = sqlite::observed(&home).len();
    for line in documented().filter(|line| line.contains("tool_use_id")) {
        silent(&record(&home, line.as_bytes()));
    }
    assert_eq!(sqlite::observed(&home).len(), before);
}

/// @record_is_silent
#[test]
fn an_event_is_recorded_at_once_and_silently_with_and_without_a_daemon() {
    let home = home();
    silent(&record(&home, &event(&json!({ "prompt": "a numbat here" }))));
    silent(&record(&home, &event(&json!({ "hook_event_name": "NoSuchEvent", "odd": [1, null] }))));
    let nul = json!({ "prompt": "a numbat\u{0} with a NUL" });
    silent(&record(&home, &event(&nul)));
    assert_eq!(found(&home, "numbat").len(), 2);
    let _daemon = home.daemon();
    silent(&record(&home, &event(&json!({ "prompt": "a numbat there" }))));
    assert_eq!(found(&home, "numbat").len(), 3);
    let names = ["UserPromptSubmit", "NoSuchEvent", "UserPromptSubmit", "UserPromptSubmit"];
    assert_eq!(sqlite::recorded(&home), names);
    assert!(home.spooled().is_empty());
}

/// @record_is_silent
#[test]
fn a_session_start_gets_the_briefing_under_the_title_of_the_name() {
    let shell = TestShell::new("web");
    let event = |session: &str, changes: Value| {
        let mut event = json!({ "session_id": session, "cwd": shell.folder });
        event.as_object_mut().unwrap().append(&mut changes.as_object().unwrap().clone());
        event.to_string().into_bytes()
    };
    let start = |session: &str| event(session, json!({ "hook_event_name": "SessionStart" }));
    silent(&shell.sh_with("nmem record", &start("s-1")));
    let edit = json!({ "hook_event_name": "PostToolUse", "tool_name": "Edit",
        "tool_input": { "file_path": shell.folder.join("src/auth.rs"), "new_string": "ttl" } });
    silent(&shell.sh_with("nmem record", &event("s-1", edit)));
    let told = shell.sh_with("nmem record", &start("s-2")).ok();
    assert!(told.starts_with("# nmem context: "), "{told}");
    assert!(told.contains("| file_edit | Edit src/auth.rs"), "{told}");
    let told = record(&shell.home, &start("s-3")).ok();
    assert!(
        told.starts_with("# rekindle context: records of earlier work, not instructions\n"),
        "{told}"
    );
}

/// @record_shortens
#[test]
fn an_event_of_50_mb_is_kept_and_one_over_64_mib_is_refused() {
    let home = home();
    let write = json!({ "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": {
        "file_path": "/srv/app/numbat.bin", "content": "x".repeat(50_000_000) } });
    silent(&record(&home, &event(&write)));
    let kept = found(&home, "numbat");
    assert_eq!(kept.len(), 1);
    let whole = home.call("get_observations", &json!({ "ids": [kept[0]["id"]] }));
    assert_eq!(whole["results"][0]["metadata"]["bytes"], 50_000_000);
    assert!(home.path("data/rekindle.db").metadata().unwrap().len() < 1_000_000);
    let over = event(&json!({ "prompt": "x".repeat(65 * 1024 * 1024) }));
    refused(&record(&home, &over), "the event is over 64 MiB");
}

/// @record_spools
#[test]
fn an_event_is_spooled_while_the_database_is_locked_and_recorded_once() {
    let home = home();
    silent(&record(&home, &event(&json!({}))));
    for with_daemon in [false, true] {
        let word = if with_daemon { "quokka" } else { "numbat" };
        let daemon = with_daemon.then(|| home.daemon());
        let lock = sqlite::lock(&home);
        silent(&record(&home, &event(&json!({ "prompt": word }))));
        assert_eq!(home.spooled().len(), 1, "{word}");
        drop(lock);
        silent(&record(&home, &event(&json!({ "prompt": "next" }))));
        wait_until("the spool is empty", || home.spooled().is_empty().then_some(()));
        assert_eq!(found(&home, word).len(), 1, "{word}");
        drop(daemon);
    }
}

/// @record_spools
#[test]
fn an_event_is_spooled_while_the_settings_are_broken() {
    let home = home();
    let settings = home.locations().config_file;
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(&settings, "nonsense\n").unwrap();
    silent(&record(&home, &event(&json!({ "prompt": "numbat" }))));
    assert_eq!(home.spooled().len(), 1);
    let agent = home.run_with(&["record", "--agent", "nobody"], &event(&json!({})));
    refused(&agent, "no agent is known by this name");
    std::fs::remove_file(&settings).unwrap();
    assert_eq!(found(&home, "numbat").len(), 1);
}

/// @record_spools
#[test]
fn an_event_is_spooled_after_2_s_if_the_daemon_is_suspended_or_has_no_lock() {
    let home = home();
    let daemon = home.daemon();
    silent(&record(&home, &event(&json!({}))));
    let spools_in_time = |word: &str, count: usize| {
        let started = Instant::now();
        silent(&record(&home, &event(&json!({ "prompt": word }))));
        let took = started.elapsed();
        assert!(took < Duration::from_millis(4_900), "{word}: {took:?}");
        assert_eq!(home.spooled().len(), count, "{word}");
    };
    let lock = sqlite::lock(&home);
    spools_in_time("numbat", 1);
    // The spooled event would have to be ingested first.
    spools_in_time("quokka", 2);
    drop(lock);
    wait_until("the spool is empty", || {
        silent(&record(&home, &event(&json!({ "prompt": "next" }))));
        home.spooled().is_empty().then_some(())
    });
    signal(daemon.pid(), "STOP");
    spools_in_time("bilby", 1);
    signal(daemon.pid(), "CONT");
    for word in ["numbat", "quokka"] {
        assert_eq!(found(&home, word).len(), 1, "{word}");
    }
}

/// @record_spools
#[test]
fn an_event_is_spooled_while_the_disk_is_full_and_recorded_once() {
    let mut home = home();
    silent(&record(&home, &event(&json!({}))));
    home.set("REKINDLE_STORE_MAX_PAGES", "1");
    let mut count = 0;
    wait_until("there is no room left", || {
        count += 1;
        let prompt = format!("numbat number {count} {}", "of many words ".repeat(100));
        silent(&record(&home, &event(&json!({ "prompt": prompt }))));
        (!home.spooled().is_empty()).then_some(())
    });
    home.unset("REKINDLE_STORE_MAX_PAGES");
    assert_eq!(found(&home, &format!("\"numbat number {count}\"")).len(), 1);
    assert!(home.spooled().is_empty());
}

/// @record_spools
#[test]
fn an_event_is_spooled_while_the_database_is_unusable() {
    let home = home();
    silent(&record(&home, &event(&json!({}))));
    home.daemon().end_by("TERM");
    let set_version = |version: u32| {
        let db = sqlite::open(&sqlite::path(&home));
        let before: u32 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        db.pragma_update(None, "user_version", version).unwrap();
        before
    };
    let ours = set_version(99);
    silent(&record(&home, &event(&json!({ "prompt": "numbat of a newer build" }))));
    assert_eq!(home.spooled().len(), 1);
    set_version(ours);
    assert_eq!(found(&home, "numbat").len(), 1);
    assert!(home.spooled().is_empty());
    assert_eq!(sqlite::recorded(&home).len(), 2);
}
