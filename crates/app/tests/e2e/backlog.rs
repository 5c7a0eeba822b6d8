//! A long spool, filled while no process opened the store.

use serde_json::{Value, json};
use testkit::{Home, wait_until};

use super::{home, sqlite};

/// Copies the one spooled event, each copy with its own time, id and command, until the spool has `count` events.
pub(crate) fn multiply(home: &Home, count: usize) {
    let [first] = home.spooled().try_into().expect("one event waits");
    let text = std::fs::read_to_string(&first).unwrap();
    let event: Value = serde_json::from_str(&text).unwrap();
    let (at, id) = (event["at"].as_i64().unwrap(), event["id"].as_str().unwrap());
    let name = first.file_name().unwrap().to_str().unwrap();
    assert!(text.contains("make part-0") && name == format!("{at:015}-{id}.json"), "{name}");
    for number in 1..count {
        // Each copy is a little older than the one before, and all are older than real events.
        let new_at = at - i64::try_from(number).unwrap();
        let new_id = format!("{number:08x}{}", &id[8..]);
        let copy = text
            .replace(id, &new_id)
            .replace(&at.to_string(), &new_at.to_string())
            .replace("make part-0", &format!("make part-{number}"));
        std::fs::write(first.with_file_name(format!("{new_at:015}-{new_id}.json")), copy).unwrap();
    }
    assert_eq!(home.spooled().len(), count);
}

/// @spool_within_patience
#[test]
fn a_session_start_with_5000_spooled_events_is_answered_in_time_and_each_event_is_stored_once() {
    const WAITING: usize = 5_000;
    let home = home();
    let folder = home.path("app");
    std::fs::create_dir_all(&folder).unwrap();
    let event = |session: &str, more: Value| {
        let mut event = json!({ "session_id": session, "cwd": folder });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let command = |line: &str| json!({ "tool_name": "Bash", "tool_input": { "command": line } });
    home.hook("UserPromptSubmit", &event("s-0", json!({ "prompt": "tame the zebrafish" })));
    home.hook("PostToolUse", &event("s-0", command("make zebrafish")));
    home.run(&["stats"]).ok();
    home.hook("PostToolUse", &event("s-1", command("make part-0")));
    multiply(&home, WAITING);
    let start = event("s-2", json!({ "source": "startup" })).to_string();
    let answer = home.run_with(&["hook", "SessionStart"], start.as_bytes());
    // A late answer is not printed, so this one was in time.
    let context = answer.json()["hookSpecificOutput"]["additionalContext"].take();
    assert!(context.as_str().unwrap().contains("tame the zebrafish"), "{context}");
    let receipts = home.run(&["receipts", "--json"]).json();
    assert_eq!(receipts["receipts"][0]["session_id"], "s-2", "{receipts}");
    // The next process ingests the rest.
    home.run(&["mark", "all is in"]).ok();
    assert!(home.spooled().is_empty());
    let made = "SELECT count(*), count(DISTINCT content) FROM observations \
                WHERE content LIKE 'make part-%'";
    let counts: (usize, usize) = sqlite::open(&sqlite::path(&home))
        .query_row(made, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(counts, (WAITING, WAITING));
    let recorded = sqlite::recorded(&home);
    assert_eq!(recorded.len(), WAITING + 3);
    assert_eq!(recorded.iter().filter(|name| *name == "SessionStart").count(), 1);
}

/// A command that an agent ran in this session.
fn command(home: &Home, session: &str, line: &str) {
    let event = json!({
        "session_id": session, "cwd": "/srv/app", "tool_name": "Bash",
        "tool_input": { "command": line },
    });
    home.hook("PostToolUse", &event);
}

/// @the_spool_is_seen_by_reads
#[test]
fn events_spooled_while_the_database_was_locked_are_read_after_it_is_unlocked() {
    let home = home();
    let _daemon = home.daemon();
    command(&home, "s-1", "make one");
    let lock = sqlite::lock(&home);
    command(&home, "s-1", "make two");
    command(&home, "s-1", "make three");
    assert_eq!(home.spooled().len(), 2);
    let traced = || {
        let trace = home.run(&["trace", "s-1", "--json"]);
        ["make one", "make two", "make three"].map(|line| trace.stdout.matches(line).count())
    };
    assert_eq!(traced(), [1, 0, 0], "reading goes on meanwhile");
    drop(lock);
    wait_until("a read sees them", || (traced() == [1, 1, 1]).then_some(()));
    assert_eq!(sqlite::recorded(&home).len(), 3);
}

/// @the_spool_is_seen_by_reads
#[test]
fn an_idle_daemon_ingests_the_spool() {
    let home = home();
    let _daemon = home.daemon();
    let lock = sqlite::lock(&home);
    command(&home, "s-1", "make one");
    command(&home, "s-1", "make two");
    assert_eq!(home.spooled().len(), 2);
    drop(lock);
    wait_until("the spool is empty", || home.spooled().is_empty().then_some(()));
    wait_until("both are kept", || (sqlite::recorded(&home).len() == 2).then_some(()));
    assert_eq!(sqlite::observed(&home).len(), 2);
}
