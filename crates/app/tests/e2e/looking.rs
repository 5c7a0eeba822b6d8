//! A session start or a prompt that no process can record: it is still answered from the store.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::home::signal;
use testkit::{Home, wait_until};

use super::late::suspend;
use super::{home, sqlite};

/// A home whose store has something to brief about.
fn remembering() -> Home {
    let home = home();
    send(&home, "UserPromptSubmit", "s-1", json!({ "prompt": "tame the wild zebrafish" }));
    let make = json!({ "tool_name": "Bash", "tool_input": { "command": "make zebrafish" } });
    send(&home, "PostToolUse", "s-1", make);
    // Also puts it into the index.
    home.run(&["search", "zebrafish", "--project", "*"]).ok();
    assert!(home.spooled().is_empty());
    home
}

/// The output of a hook, and the time that it took.
fn send(home: &Home, event: &str, session: &str, mut members: Value) -> (String, Duration) {
    members["session_id"] = json!(session);
    members["cwd"] = json!("/srv/app");
    let started = Instant::now();
    let run = home.run_with(&["hook", event], members.to_string().as_bytes());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    (run.stdout, started.elapsed())
}

/// Asserts that such an event is answered within this time. On a busy machine single answers may be late.
fn answered(home: &Home, event: &str, members: &Value, deadline: Duration) {
    let mut sent = home.spooled().len();
    let mut number = 0;
    wait_until("an answer in time", || {
        number += 1;
        let (answer, took) = send(home, event, &format!("{event}-{number}"), members.clone());
        // The event, and after it the receipt of the answer.
        sent += if answer.is_empty() { 1 } else { 2 };
        assert_eq!(home.spooled().len(), sent, "the event is safe");
        let in_time = took < deadline + Duration::from_millis(120);
        (in_time && answer.contains("tame the wild zebrafish")).then_some(())
    });
}

fn starts(home: &Home) {
    answered(home, "SessionStart", &json!({ "source": "startup" }), Duration::from_secs(1));
}

/// @a_session_is_answered_whatever_holds_the_store
#[test]
fn a_session_that_starts_beside_a_hung_daemon_is_answered_from_the_store_in_time() {
    let home = remembering();
    let daemon = home.daemon();
    suspend(daemon.pid());
    starts(&home);
    signal(daemon.pid(), "CONT");
    wait_until("all is taken in", || home.spooled().is_empty().then_some(()));
    let recorded = sqlite::recorded(&home);
    let started = recorded.iter().filter(|name| *name == "SessionStart").count();
    assert_eq!(recorded.len(), started + 2, "each once: {recorded:?}");
}

/// @a_session_is_answered_whatever_holds_the_store
#[test]
fn a_session_that_starts_while_the_database_is_locked_is_answered_in_time() {
    for with_daemon in [false, true] {
        let home = remembering();
        let _daemon = with_daemon.then(|| home.daemon());
        let lock = sqlite::lock(&home);
        starts(&home);
        drop(lock);
        home.run(&["stats"]).ok();
        wait_until("all is taken in", || home.spooled().is_empty().then_some(()));
    }
}

/// @a_session_is_answered_whatever_holds_the_store
#[test]
fn a_prompt_is_answered_while_the_database_is_locked_unless_the_setting_is_off() {
    let mut home = remembering();
    let _lock = sqlite::lock(&home);
    let prompt = json!({ "prompt": "how do we tame the zebrafish?" });
    home.set("REKINDLE_BRIEFING_AT_PROMPTS", "false");
    let (answer, _) = send(&home, "UserPromptSubmit", "s-2", prompt.clone());
    assert_eq!(answer, "");
    home.set("REKINDLE_BRIEFING_AT_PROMPTS", "true");
    answered(&home, "UserPromptSubmit", &prompt, Duration::from_millis(300));
}
