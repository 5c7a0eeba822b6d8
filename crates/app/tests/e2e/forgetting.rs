//! The user's control over stored data, as commands: pins, marks, pauses and purges.

use serde_json::{Value, json};
use testkit::Home;

use super::home;

const WORD: &str = "zanzibarquux";

/// A prompt and an edit with the word in them, and a command without it.
fn events(home: &Home, session: &str) {
    let cwd = home.path("web").to_string_lossy().into_owned();
    let prompt = format!("please use {WORD} from now on");
    home.hook("UserPromptSubmit", &json!({ "session_id": session, "cwd": cwd, "prompt": prompt }));
    let input =
        json!({ "file_path": format!("{cwd}/{WORD}.rs"), "old_string": "a", "new_string": WORD });
    home.hook(
        "PostToolUse",
        &json!({
            "session_id": session, "cwd": cwd, "tool_use_id": "t-1",
            "tool_name": "Edit", "tool_input": input, "tool_response": {},
        }),
    );
    home.hook(
        "PostToolUse",
        &json!({
            "session_id": session, "cwd": cwd, "tool_use_id": "t-2",
            "tool_name": "Bash", "tool_input": { "command": "make all" }, "tool_response": {},
        }),
    );
    home.hook("Stop", &json!({ "session_id": session, "cwd": cwd }));
}

fn holds(home: &Home) -> bool {
    let word = WORD.as_bytes();
    home.files().iter().any(|(_, bytes)| bytes.windows(word.len()).any(|part| part == word))
}

/// @purge_leaves_no_trace
#[test]
fn purged_text_is_in_no_file_of_the_home_with_and_without_a_daemon() {
    for with_daemon in [false, true] {
        let home = home();
        let _daemon = with_daemon.then(|| home.daemon());
        events(&home, "s-1");
        assert_eq!(home.spooled().is_empty(), with_daemon, "without a daemon events wait");
        assert!(holds(&home));
        let would = home.run(&["purge", "--search", WORD]).ok();
        assert!(would.starts_with("would purge 1 observation, 1 prompt, 0 sessions"), "{would}");
        assert!(would.contains("user_prompt") && would.contains("--confirm"), "{would}");
        let done = home.run(&["purge", "--search", WORD, "--confirm"]).ok();
        assert!(done.starts_with("✔ purged 1 observation, 1 prompt, 0 sessions"), "{done}");
        assert!(!holds(&home), "with a daemon: {with_daemon}");
        assert_eq!(home.run(&["purge", "--search", WORD, "--confirm"]).ok(), "nothing to purge\n");
        assert!(home.run(&["search", "make"]).ok().contains("make all"));
    }
}

/// Events that contain the word inside a longer word, each in a different place.
fn glued_events(home: &Home) {
    let cwd = home.path("web").to_string_lossy().into_owned();
    let tool = |session: &str, id: &str, name: &str, input: Value, response: Value| {
        json!({
            "session_id": session, "cwd": cwd, "tool_use_id": id, "tool_name": name,
            "tool_input": input, "tool_response": response,
        })
    };
    let used = |event: Value| home.hook("PostToolUse", &event);
    let prompt = format!("the key is x9{WORD}q7, use it");
    home.hook("UserPromptSubmit", &json!({ "session_id": "s-1", "cwd": cwd, "prompt": prompt }));
    used(tool("s-1", "t-1", "Bash", json!({ "command": format!("echo x9{WORD}q7") }), json!({})));
    let path = format!("{cwd}/pre{WORD}post.rs");
    used(tool(
        "s-1",
        "t-2",
        "Edit",
        json!({ "file_path": path, "old_string": "a", "new_string": "b" }),
        json!({}),
    ));
    let failed =
        json!({ "stderr": format!("cannot read x{WORD}x"), "exit_code": 1, "is_error": true });
    used(tool("s-1", "t-3", "Bash", json!({ "command": "make broken" }), failed));
    home.hook("Stop", &json!({ "session_id": "s-1", "cwd": cwd }));
    let named = format!("s-{WORD}2");
    used(tool(&named, "t-4", "Bash", json!({ "command": "make in-a-named-session" }), json!({})));
    used(tool("s-3", "t-5", "Bash", json!({ "command": "make all" }), json!({})));
}

/// @purge_literal
#[test]
fn a_literal_purge_finds_the_text_inside_longer_words_and_overwrites_it() {
    for with_daemon in [false, true] {
        let home = home();
        let _daemon = with_daemon.then(|| home.daemon());
        glued_events(&home);
        let search = home.run(&["purge", "--search", WORD]).ok();
        assert!(search.starts_with("nothing to purge"), "{search}");
        let advice = format!("`rekindle purge --literal '{WORD}'` finds those");
        assert!(search.contains("records contain the text within a longer word"), "{search}");
        assert!(search.contains(&advice), "{search}");
        let would = home.run(&["purge", "--literal", WORD]).ok();
        assert!(would.starts_with("would purge ") && would.contains("--confirm"), "{would}");
        assert!(holds(&home), "nothing was removed yet");
        let done = home.run(&["purge", "--literal", WORD, "--confirm", "--json"]).json();
        assert_eq!(done["purged"], true, "{done}");
        assert_eq!(done["prompts"], 1, "{done}");
        assert!(!holds(&home), "with a daemon: {with_daemon}");
        let again = home.run(&["purge", "--literal", WORD]).ok();
        assert_eq!(again, "nothing to purge\n");
        let left = home.run(&["search", "make", "--project", "*"]).ok();
        assert!(left.contains("make all"), "{left}");
    }
}

/// @purge_near_misses
#[test]
fn near_misses_are_counted_without_case_and_accents_per_word_and_within_the_other_filters() {
    let home = home();
    let cwd = home.path("web").to_string_lossy().into_owned();
    let said = |session: &str, prompt: &str| {
        let event = json!({ "session_id": session, "cwd": cwd, "prompt": prompt });
        home.hook("UserPromptSubmit", &event);
    };
    said("s-1", "the token is fooZANZIBARbar here");
    said("s-1", "prefixzanzibarsuffix too");
    said("s-2", "une \u{c9}COLEx de plus");
    said("s-2", "nothing of that kind");
    said("s-3", "the word Zanzibar alone");
    home.run(&["mark", "a mark"]).ok();
    let near = |filters: &[&str]| {
        let line = [&["purge", "--json"][..], filters].concat();
        let counted = home.run(&line).json();
        counted["near_misses"].as_u64().unwrap_or_default()
    };
    for query in [
        "zanzibar",
        "Zanzibar",
        "ZANZIBAR",
        "\"zanzibar\"",
        "the zanzibar",
        "zanzibar OR \"no such\"",
        "\"the zanzibar\"",
        "zanzibar NOT \u{e9}cole",
    ] {
        assert_eq!(near(&["--search", query]), 2, "{query}");
    }
    assert_eq!(near(&["--search", "\u{e9}cole"]), 1);
    assert_eq!(near(&["--search", "ecole"]), 1);
    assert_eq!(near(&["--search", "alone NOT zanzibar"]), 0);
    assert_eq!(near(&["--search", "zanzibar", "--session", "s-2"]), 0);
    assert_eq!(near(&["--search", "zanzibar", "--session", "s-1"]), 2);
    assert_eq!(near(&["--search", "zanzibar", "--type", "file_edit"]), 0);
    assert_eq!(near(&["--search", "zanzibar", "--project", "web"]), 2);
    let told = home.run(&["purge", "--search", "Zanzibar", "--confirm"]).ok();
    assert!(told.contains("2 other records contain the text within a longer word"), "{told}");
    assert!(told.contains("--literal 'Zanzibar'"), "{told}");
}

/// @purge_names_copies
#[test]
fn a_purge_names_saved_databases_that_still_contain_the_text() {
    for with_daemon in [false, true] {
        let home = home();
        let _daemon = with_daemon.then(|| home.daemon());
        let empty = home.path("empty.db");
        home.run(&["backup", empty.to_str().unwrap()]).ok();
        events(&home, "s-1");
        home.run(&["recent"]).ok();
        let full = home.path("full.db");
        home.run(&["backup", full.to_str().unwrap()]).ok();
        home.run(&["restore", empty.to_str().unwrap()]).ok();
        home.run(&["restore", full.to_str().unwrap()]).ok();
        home.write(&format!("data/rekindle.db.corrupt-{}", "20260101T000000Z"), "not a database");
        let would = home.run(&["purge", "--literal", WORD]).ok();
        let done = home.run(&["purge", "--literal", WORD, "--confirm"]).ok();
        for said in [&would, &done] {
            // The first restore saved the records, the second an empty database.
            assert!(said.contains("2 saved databases with the text; delete those"), "{said}");
            assert_eq!(said.matches("before-restore-").count(), 1, "{said}");
            assert!(said.contains("rekindle.db.corrupt-"), "unreadable ones are named: {said}");
        }
        let named = done.lines().find(|line| line.contains("before-restore-")).unwrap().trim();
        std::fs::remove_file(named).unwrap();
        std::fs::remove_file(home.path("data/rekindle.db.corrupt-20260101T000000Z")).unwrap();
        assert_eq!(home.run(&["purge", "--literal", WORD]).ok(), "nothing to purge\n");
        // Other filters cannot be checked in a copy, so all copies are named.
        events(&home, "s-2");
        let done = home.run(&["purge", "--session", "s-2", "--confirm", "--json"]).json();
        assert_eq!(done["copies_left"].as_array().unwrap().len(), 1, "{done}");
    }
}

/// @purge_literal
#[test]
fn a_literal_of_few_characters_is_refused_and_hints_and_projects_are_counted() {
    let home = home();
    glued_events(&home);
    let refused = home.run(&["purge", "--literal", "abc", "--confirm"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("fewer than 4 characters"), "{refused:?}");
    home.run(&["hint", "set", "web", "word", &format!("a{WORD}b")]).ok();
    let would = home.run(&["purge", "--literal", WORD]).ok();
    assert!(would.contains("1 hint with the text left"), "{would}");
    // The match is case-sensitive.
    let other = home.run(&["purge", "--literal", &WORD.to_uppercase()]).ok();
    assert_eq!(other, "nothing to purge\n");
    // Quotes and line breaks are escaped in metadata, which is JSON.
    let text = "say \"hello\"\tnow";
    let cwd = home.path("web").to_string_lossy().into_owned();
    let response = json!({ "stderr": text, "exit_code": 1, "is_error": true });
    let event = json!({
        "session_id": "s-5", "cwd": cwd, "tool_use_id": "t-9", "tool_name": "Bash",
        "tool_input": { "command": "make quoted" }, "tool_response": response,
    });
    home.hook("PostToolUse", &event);
    let would = home.run(&["purge", "--literal", text]).ok();
    assert!(would.contains("make quoted"), "{would}");
}

/// @purge_wants_a_filter
#[test]
fn a_purge_is_typed_with_its_filters() {
    let home = home();
    events(&home, "s-1");
    let refused = home.run(&["purge", "--confirm"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("no filter selects the records to delete"), "{refused:?}");
    let filters = [
        "--before",
        "2999-01-01",
        "--older-than",
        "0",
        "--project",
        "web",
        "--session",
        "s-1",
        "--type",
        "file_edit",
        "--search",
        WORD,
    ];
    let mut line = vec!["purge", "--json"];
    line.extend(filters);
    let planned = home.run(&line).json();
    assert_eq!((&planned["observations"], &planned["purged"]), (&json!(1), &json!(false)));
    let id = planned["samples"][0]["id"].to_string();
    let done = home.run(&["purge", "--id", &id, "--confirm", "--json"]).json();
    assert_eq!((&done["observations"], &done["purged"]), (&json!(1), &json!(true)));
    assert_eq!(home.run(&["purge", "--older-than", "soon"]).code, 2);
}

/// @mark_in_the_session
/// @pin_twice
#[test]
fn a_mark_is_made_in_the_session_of_the_agent_and_can_be_pinned() {
    let mut home = home();
    events(&home, "s-1");
    home.set("CLAUDE_CODE_SESSION_ID", "s-1");
    let made = home.run(&["mark", "the cache lies", "--json"]).json();
    assert_eq!((&made["session_id"], &made["project"]), (&json!("s-1"), &json!("web")));
    let id = made["id"].to_string();
    assert_eq!(home.run(&["pin", &id]).ok(), format!("✔ pinned #{id}\n"));
    assert_eq!(home.run(&["pin", &id]).ok(), format!("#{id} was pinned already\n"));
    assert_eq!(home.run(&["unpin", &id]).ok(), format!("✔ unpinned #{id}\n"));
    assert_eq!(home.run(&["unpin", &id]).ok(), format!("#{id} was not pinned\n"));
    assert_eq!(home.run(&["pin", "99999"]).code, 1);
    let trace = home.run(&["trace", "s-1"]).ok();
    assert!(trace.contains("the cache lies"), "{trace}");
}

/// @pause_everywhere
#[test]
fn while_paused_no_event_is_kept_with_and_without_a_daemon() {
    for with_daemon in [false, true] {
        let home = home();
        let _daemon = with_daemon.then(|| home.daemon());
        assert_eq!(home.run(&["pause", "90m"]).ok(), "paused everywhere for 90 minutes\n");
        events(&home, "s-1");
        let stats = home.run(&["stats", "--json"]).json();
        assert_eq!((&stats["observations"], &stats["prompts"]), (&json!(0), &json!(0)));
        assert_eq!(home.run(&["pause", "off"]).ok(), "capture resumed\n");
        assert!(home.spooled().is_empty(), "what waited was captured while paused");
        assert!(!holds(&home), "with a daemon: {with_daemon}");
        events(&home, "s-2");
        assert!(home.run(&["search", "make", "--project", "*"]).ok().contains("make all"));
    }
}

/// @stats
/// @maintain_sweeps
/// @projects_are_listed
#[test]
fn the_store_is_counted_maintained_and_scrubbed() {
    let home = home();
    events(&home, "s-1");
    let scrubbed = home.run(&["scrub", "--dry-run"]).ok();
    assert_eq!(scrubbed, "no secrets found\n");
    let care = home.run(&["maintain", "--sweep", "--rebuild-index"]).ok();
    assert_eq!(care, "✔ no record has expired\n✔ index rebuilt, file compacted\n");
    let stats = home.run(&["stats"]).ok();
    assert!(stats.contains("observations: 2\n") && stats.contains("last sweep:"), "{stats}");
    let projects = home.run(&["project", "list"]).ok();
    let path = home.path("web").to_string_lossy().into_owned();
    assert!(projects.contains("web  ") && projects.contains(&path), "{projects}");
}
