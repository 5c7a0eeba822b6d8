//! The use of texts that sessions got: a step with a ghap, a file, a command or a read that follows from them.

use serde_json::{Value, json};
use testkit::Home;

use super::ghaps::SESSION;
use super::ghaps_hooks::{GREEN, RED, begins, event, here, ran, resolve, start, starts};
use super::home;
use super::learned_hooks::{ASK, falsified, prompted};

/// Whether the last text from this source was used by the session.
fn is_used(home: &Home, session: &str, source: &str) -> bool {
    let asked = json!({ "session_id": session, "limit": 100 });
    let receipts = home.call("receipts", &asked)["receipts"].clone();
    let items =
        receipts.as_array().unwrap().iter().flat_map(|text| text["items"].as_array().unwrap());
    let of_source = |item: &&Value| {
        let (path, reason) = (item["path"].as_str().unwrap(), item["reason"].as_str().unwrap());
        path.starts_with(source) || reason.starts_with(source)
    };
    let item = items.clone().find(of_source);
    item.unwrap_or_else(|| panic!("no {source} in {receipts}"))["used"].as_bool().unwrap()
}

fn totals(home: &Home, source: &str) -> (Value, Value) {
    let summary = home.run(&["receipts", "--summary", "--json"]).json()["summary"].clone();
    let all = summary["sources"].as_array().unwrap().clone();
    let one = all.iter().find(|one| one["source"] == source).unwrap_or(&Value::Null).clone();
    (one["shown"].clone(), one["used"].clone())
}

fn update(home: &Home, note: &str) {
    home.call("update_ghap", &here(home, json!({ "note": note, "session_id": SESSION })));
}

/// Runs a command that neither tests nor builds. It counts as a tool call.
fn works(home: &Home, number: usize) {
    ran(home, (SESSION, "web"), &format!("ls src/{number}"), "x\n");
}

/// @use_of_steps
#[test]
fn a_step_with_the_ghap_within_ten_tool_calls_uses_a_reminder_and_an_outcome() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    start(&home, SESSION);
    let remind = |from: usize| {
        let told: Vec<String> = (from..from + 10).map(|number| begins(&home, number)).collect();
        assert!(told[9].contains("Your hypothesis"), "{told:?}");
    };
    remind(0);
    for number in 0..11 {
        works(&home, number);
    }
    update(&home, "Too late");
    assert!(!is_used(&home, SESSION, "check-in"), "eleven calls later");
    remind(100);
    for number in 20..30 {
        works(&home, number);
    }
    update(&home, "In time");
    assert!(is_used(&home, SESSION, "check-in"), "ten calls later");
    assert_eq!(totals(&home, "check-in"), (json!(2), json!(1)));
    ran(&home, (SESSION, "web"), "cargo test", GREEN);
    assert!(!is_used(&home, SESSION, "outcome"));
    resolve(&home, "confirmed");
    assert!(is_used(&home, SESSION, "outcome"));
    assert_eq!(totals(&home, "outcome"), (json!(1), json!(1)));
    starts(&home, "s-2", "startup");
    ran(&home, ("s-2", "web"), "cargo test | tail", RED);
    assert!(!is_used(&home, "s-2", "outcome"), "the suggestion");
    start(&home, "s-2");
    assert!(is_used(&home, "s-2", "outcome"), "the suggestion was followed");
}

/// @use_of_steps
#[test]
fn an_orphan_is_used_by_the_session_that_adopts_or_abandons_it() {
    let home = home();
    let _daemon = home.daemon();
    for (session, tool) in [("s-2", "adopt_orphaned_ghap"), ("s-4", "abandon_orphaned_ghap")] {
        let owner = format!("{session}-owner");
        starts(&home, &owner, "startup");
        start(&home, &owner);
        event(&home, "SessionEnd", (&owner, "web"), &json!({ "reason": "other" }));
        starts(&home, session, "startup");
        assert!(!is_used(&home, session, "orphan"), "{tool}");
        let mut params = here(&home, json!({ "session_id": session }));
        if tool.starts_with("abandon") {
            params["reason"] = json!("The test was removed");
        }
        home.call(tool, &params);
        assert!(is_used(&home, session, "orphan"), "{tool}");
    }
}

/// @use_of_items
#[test]
fn a_file_a_command_or_a_read_uses_the_item_that_names_it() {
    let mut home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    let experience = falsified(&home, SESSION);
    let content = "The login host has a slow clock; run `make frozen` before the login test";
    let stored =
        here(&home, json!({ "content": content, "category": "fact", "session_id": SESSION }));
    let memory = home.call("store_memory", &stored)["id"].as_str().unwrap().to_owned();
    let shown = |session: &str| {
        let told = prompted(&home, session, ASK);
        assert!(told.contains("make frozen") && told.contains("tests/users.py"), "{told}");
    };
    for session in ["s-2", "s-3", "s-4", "s-5"] {
        shown(session);
    }
    let edit = |session: &str, file: &str| {
        let path = home.path("web").join(file);
        let more = json!({
            "tool_name": "Edit", "tool_response": {},
            "tool_input": { "file_path": path, "old_string": "a", "new_string": "b" },
        });
        event(&home, "PostToolUse", (session, "web"), &more);
    };
    edit("s-2", "tests/other.py");
    ran(&home, ("s-2", "web"), "make", "ok\n");
    assert!(!is_used(&home, "s-2", "ghap://") && !is_used(&home, "s-2", "memory://"));
    edit("s-2", "tests/users.py");
    assert!(is_used(&home, "s-2", "ghap://") && !is_used(&home, "s-2", "memory://"));
    ran(&home, ("s-2", "web"), "cd web && make frozen", "ok\n");
    assert!(is_used(&home, "s-2", "memory://"));
    assert!(!is_used(&home, "s-3", "memory://"), "only the session that did it");
    home.call("get_ghap", &json!({ "ghap_id": experience, "session_id": "s-3" }));
    assert!(is_used(&home, "s-3", "ghap://"), "read by its id");
    let newer = here(
        &home,
        json!({
            "content": "Its clock is right now", "category": "fact", "supersedes": [memory],
            "session_id": "s-5",
        }),
    );
    home.call("store_memory", &newer);
    assert!(is_used(&home, "s-5", "memory://"), "superseded");
    home.set("CLAUDE_CODE_SESSION_ID", "s-4");
    home.run(&["get", &format!("memory://{memory}")]).ok();
    assert!(is_used(&home, "s-4", "memory://"), "read by its path");
    let records = home.call("search", &json!({ "query": "flaky login clock", "project": "*" }));
    let records = records["results"].as_array().unwrap();
    let of_type = |one: &&Value| one["obs_type"] == "experience";
    let record = records.iter().find(of_type).unwrap()["id"].to_string();
    home.run(&["show", &record]).ok();
    assert!(is_used(&home, "s-4", "ghap://"), "read by the id of its record");
    assert_eq!(totals(&home, "memory"), (json!(4), json!(3)));
    assert_eq!(totals(&home, "ghap"), (json!(4), json!(3)));
}

/// @use_of_items
#[test]
fn a_shell_that_reads_a_file_uses_the_item_that_names_it() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    falsified(&home, SESSION);
    for (session, command) in [
        ("s-2", "cat tests/users.py"),
        ("s-3", "sed -n 1,20p ./tests/users.py | head"),
        ("s-4", "cd tests && grep -n clock users.py"),
    ] {
        assert!(prompted(&home, session, ASK).contains("tests/users.py"));
        ran(&home, (session, "web"), "cat tests/other.py", "x\n");
        assert!(!is_used(&home, session, "ghap://"), "{command}");
        ran(&home, (session, "web"), command, "x\n");
        assert!(is_used(&home, session, "ghap://"), "{command}");
    }
}

/// @use_of_items
#[test]
fn a_record_is_used_by_a_read_and_by_its_file_or_command() {
    let mut home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    let at = (SESSION, "web");
    event(&home, "UserPromptSubmit", at, &json!({ "prompt": "Round the totals of the invoice" }));
    ran(&home, at, "make invoices", "ok\n");
    let path = home.path("web").join("src/invoice.rs");
    let edit = json!({
        "tool_name": "Edit", "tool_response": {},
        "tool_input": { "file_path": path, "old_string": "a", "new_string": "b" },
    });
    event(&home, "PostToolUse", at, &edit);
    event(&home, "SessionEnd", at, &json!({ "reason": "other" }));
    let shown = |home: &Home, session: &str| -> Vec<String> {
        starts(home, session, "startup");
        let receipts = home.call("receipts", &json!({ "session_id": session }));
        let items = receipts["receipts"][0]["items"].as_array().cloned().unwrap_or_default();
        let paths = items.iter().filter_map(|item| item["path"].as_str());
        paths.filter(|path| path.starts_with("obs://")).map(str::to_owned).collect()
    };
    let used = |home: &Home, session: &str| {
        let receipts = home.call("receipts", &json!({ "session_id": session, "used": true }));
        receipts["receipts"].to_string().matches("obs://").count()
    };
    let first = shown(&home, "s-2");
    assert!(!first.is_empty(), "the briefing has records");
    assert_eq!(used(&home, "s-2"), 0);
    ran(&home, ("s-2", "web"), "cat src/invoice.rs && make invoices DEBUG=1", "ok\n");
    assert!(used(&home, "s-2") > 0, "its file and its command");
    let id = shown(&home, "s-3")[0].clone();
    home.call("get_observations", &json!({ "ids": [id[6..].parse::<i64>().unwrap()] }));
    assert_eq!(used(&home, "s-3"), 0, "a caller without a session");
    home.set("CLAUDE_CODE_SESSION_ID", "s-3");
    home.run(&["show", &id[6..]]).ok();
    assert_eq!(used(&home, "s-3"), 1, "read by its id");
}

/// @receipts_summary
#[test]
fn an_item_that_five_sessions_got_and_none_used_ranks_half_as_high() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    let experience = falsified(&home, SESSION);
    for number in 2..8 {
        let session = format!("s-{number}");
        assert!(prompted(&home, &session, ASK).contains("falsified"), "{session}");
        let receipts = home.call("receipts", &json!({ "session_id": session }));
        let reason = receipts["receipts"][0]["items"][0]["reason"].as_str().unwrap();
        assert_eq!(reason.contains("no session used it so far"), number > 6, "{session}: {reason}");
    }
    let asked = json!({ "for": "prompt", "prompt": ASK, "explain": true });
    let shown = home.call("briefing", &here(&home, asked)).to_string();
    assert!(shown.contains("no session used it so far"), "the text of the hook: {shown}");
    // Five sessions also get the suggestion to start a ghap, which the list of entries leaves out.
    for number in 2..8 {
        ran(&home, (&format!("s-{number}"), "web"), "cargo test 2>&1 | tail", RED);
    }
    let suggested = home.call("receipts", &json!({ "session_id": "s-7" })).to_string();
    assert!(suggested.contains("ghap://new"), "{suggested}");
    let summary = home.run(&["receipts", "--summary", "--json"]).json()["summary"].clone();
    let path = format!("ghap://{experience}");
    assert_eq!(summary["ignored"], json!([{ "path": path, "sessions": 6 }]));
    home.call("get_ghap", &json!({ "ghap_id": experience, "session_id": "s-7" }));
    assert!(prompted(&home, "s-8", ASK).contains("falsified"));
    let receipts = home.call("receipts", &json!({ "session_id": "s-8" }));
    assert!(!receipts.to_string().contains("no session used it"), "{receipts}");
}
