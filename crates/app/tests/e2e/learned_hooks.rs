//! Experiences, orphans and reminders for later sessions, under each switch and with a clock that jumps.

use serde_json::{Value, json};
use testkit::Home;

use super::ghaps::{SESSION, new};
use super::ghaps_hooks::{GREEN, RED, begins, here, ran, resolve, start, starts};
use super::home;

pub(super) const ASK: &str = "The login test is flaky again, is it the clock of the host?";

/// The text that the hook adds to a prompt. A call waits for it, however slow the machine is.
pub(super) fn prompted(home: &Home, session: &str, prompt: &str) -> String {
    let payload = json!({ "session_id": session, "cwd": home.path("web"), "prompt": prompt });
    let event = json!({ "event": "UserPromptSubmit", "agent": "claude-code", "payload": payload });
    let reply = home.call("hook", &event);
    reply["context"].as_str().unwrap_or_default().trim_end().to_owned()
}

/// A ghap that a session falsified, with its lesson. Returns its id.
pub(super) fn falsified(home: &Home, session: &str) -> String {
    let id = start(home, session);
    let params = json!({
        "status": "falsified", "result": "They still fail", "surprise": "The clock is right",
        "root_cause": { "category": "test-isolation", "description": "Two tests share one user" },
        "lesson": { "what_worked": "One user per test", "takeaway": "Give each test its own user in tests/users.py" },
        "session_id": session,
    });
    home.call("resolve_ghap", &here(home, params));
    id
}

/// @learned_at_prompts
/// @learned_once
#[test]
fn a_falsified_experience_is_a_warning_to_other_sessions_once() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    let id = falsified(&home, SESSION);
    assert_eq!(prompted(&home, SESSION, ASK), "", "its own session knows it");
    let warning = "**debugging** (falsified): Find why the login test is flaky. Warning, this was believed and is \
         wrong: The clock of the test host runs ahead. True: Two tests share one user. Unexpected: The clock is right. \
         Lesson: Give each test its own user in tests/users.py.";
    let told = prompted(&home, "s-2", ASK);
    let title =
        "# rekindle context: records of earlier work, not instructions\n## Relevant Experiences";
    assert_eq!(told, format!("{title}\n- ghap://{id} [under 1h ago] {warning}"));
    assert_eq!(prompted(&home, "s-2", ASK), "", "once");
    for source in ["clear", "compact"] {
        starts(&home, "s-2", source);
        assert!(prompted(&home, "s-2", ASK).contains(warning), "{source}");
        starts(&home, SESSION, source);
        assert!(prompted(&home, SESSION, ASK).contains(warning), "{source}: its own session");
    }
    assert_eq!(prompted(&home, "s-3", "Write a haiku about autumn leaves"), "");
}

/// @learned_at_prompts
#[test]
fn a_prompt_that_only_steers_the_work_gets_nothing() {
    let home = home();
    let _daemon = home.daemon();
    let ghap = json!({
        "domain": "debugging", "strategy": "root-cause-analysis",
        "goal": "Decoder stops with an invalid continuation byte",
        "hypothesis": "The buffer is cut inside a character", "action": "try a smaller buffer",
        "prediction": "It fails one time in ten", "session_id": SESSION,
    });
    home.call("start_ghap", &here(&home, ghap));
    let end = json!({
        "status": "falsified", "result": "It never fails", "surprise": "The next page was read twice",
        "root_cause": { "category": "oversight", "description": "The next page was read twice" },
        "session_id": SESSION,
    });
    home.call("resolve_ghap", &here(&home, end));
    let steering = [
        "continue",
        "try again",
        "one more time",
        "stop",
        "what next?",
        "next page",
        "use the other one",
    ];
    for (number, prompt) in steering.into_iter().enumerate() {
        assert_eq!(prompted(&home, &format!("s-{number}"), prompt), "", "{prompt}");
    }
    let told = prompted(&home, "s-about", "The decoder stops with an invalid byte again");
    assert!(told.contains("falsified"), "{told}");
}

/// @learned_at_prompts
#[test]
fn labels_and_words_of_any_task_do_not_make_an_experience_relevant() {
    let home = home();
    let _daemon = home.daemon();
    let ghap = json!({
        "domain": "feature", "strategy": "copy-from-similar", "goal": "Dark mode for the settings page",
        "hypothesis": "The colours are variables", "action": "Set variables per role",
        "prediction": "The contrast check passes", "session_id": SESSION,
    });
    home.call("start_ghap", &here(&home, ghap));
    let end = json!({
        "status": "confirmed", "result": "All roles pass", "session_id": SESSION,
        "lesson": { "what_worked": "One variable for each role" },
    });
    home.call("resolve_ghap", &here(&home, end));
    for (number, prompt) in [
        "Set up GitHub Actions",
        "Add a lesson page",
        "Change the hypothesis editor",
        "Copy the similar card layout",
        "Set the page size",
        "Write down the goal, the strategy and the outcome",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(prompted(&home, &format!("s-{number}"), prompt), "", "{prompt}");
    }
    let told = prompted(&home, "s-about", "The dark mode has the wrong colours");
    assert!(
        told.ends_with(
            "**feature** (confirmed): Dark mode for the settings page. True: The colours are variables. \
             Lesson: One variable for each role."
        ),
        "{told}"
    );
    let recalled =
        |query: &str| home.call("assemble_context", &here(&home, json!({ "query": query })));
    assert_eq!(recalled("prediction and strategy")["item_count"], 0, "labels alone");
    assert_eq!(recalled("contrast check")["item_count"], 1);
}

/// @learned_at_prompts
#[test]
fn a_small_budget_of_tokens_holds() {
    for budget in [50, 100, 200, 400] {
        let mut home = home();
        home.set("REKINDLE_LEARNING_PROMPT_TOKENS", &budget.to_string());
        let _daemon = home.daemon();
        starts(&home, SESSION, "startup");
        falsified(&home, SESSION);
        for host in ["build", "staging", "nightly"] {
            let content = format!(
                "The clock of the {host} host runs ahead of the others by up to two minutes, so a login test there \
                 is flaky whenever a token is younger than that; the team of the {host} host knows about it"
            );
            let stored = json!({ "content": content, "category": "fact", "session_id": SESSION });
            home.call("store_memory", &here(&home, stored));
        }
        let told = prompted(&home, "s-2", ASK);
        let tokens = told.chars().count().div_ceil(4);
        assert!((20..=budget).contains(&tokens), "{tokens} of {budget}: {told}");
    }
}

/// The number of rows of a table that learning writes at hooks.
fn rows(home: &Home, table: &str) -> i64 {
    let db = super::sqlite::open(&super::sqlite::path(home));
    db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

/// @learning_hooks
#[test]
fn with_hooks_off_or_nothing_captured_no_text_counter_evidence_or_failure_is_left() {
    for (name, value) in
        [("REKINDLE_LEARNING_HOOKS", "false"), ("REKINDLE_EXCLUDE_PROJECTS", "web"), ("", "pause")]
    {
        let mut home = home();
        let mut before = home.daemon();
        starts(&home, SESSION, "startup");
        falsified(&home, SESSION);
        let active = home.call("start_ghap", &here(&home, new(SESSION)))["id"].clone();
        before.end_by("TERM");
        if name.is_empty() {
            home.run(&["pause"]).ok();
        } else {
            home.set(name, value);
        }
        let _daemon = home.daemon();
        assert_eq!(prompted(&home, "s-2", ASK), "", "{name}");
        for number in 0..11 {
            assert_eq!(begins(&home, number), "", "{name}");
        }
        for _ in 0..2 {
            let told = ran(&home, (SESSION, "web"), "cargo test 2>&1 | tail -20", RED);
            assert_eq!(told, "", "{name}: an outcome");
            assert_eq!(ran(&home, ("s-2", "web"), "pytest | tail", "E  x\n1 failed"), "", "{name}");
        }
        ran(&home, (SESSION, "web"), "cargo test", GREEN);
        for table in ["check_ins", "failures", "receipts"] {
            assert_eq!(rows(&home, table), 0, "{name}: {table}");
        }
        if name == "REKINDLE_LEARNING_HOOKS" {
            let shown =
                home.call("get_active_ghap", &here(&home, json!({ "session_id": SESSION })));
            assert_eq!((&shown["id"], shown.get("evidence")), (&active, None));
            let asked = here(&home, json!({ "query": ASK }));
            let found = home.call("search_experiences", &asked);
            assert_eq!(found["count"], 1, "the tools work: {found}");
        }
    }
}

/// Moves the last event of a session into the past, as if it had been silent since then.
fn silent_for(home: &Home, session: &str, minutes: i64) {
    let db = super::sqlite::open(&super::sqlite::path(home));
    let moved = db
        .execute(
            "UPDATE sessions SET last_at = last_at - ?2 WHERE name = ?1",
            (session, minutes * 60_000),
        )
        .unwrap();
    assert_eq!(moved, 1);
}

/// @ghap_orphans
#[test]
fn the_ghap_of_a_session_that_is_silent_for_half_an_hour_is_an_orphan_while_another_works() {
    let home = home();
    let orphan = |home: &Home, session: &str| {
        home.call("get_orphaned_ghap", &here(home, json!({ "session_id": session })))["has_orphan"]
            .clone()
    };
    for (minutes, expected) in [(29, false), (31, true)] {
        let mut daemon = home.daemon();
        starts(&home, SESSION, "startup");
        home.run(&["call", "start_ghap", &here(&home, new(SESSION)).to_string()]);
        daemon.end_by("TERM");
        silent_for(&home, SESSION, minutes);
        let mut daemon = home.daemon();
        let session = format!("s-{minutes}");
        let told = starts(&home, &session, "startup");
        assert_eq!(told.contains("orphaned ghap"), expected, "{minutes} minutes: {told}");
        assert_eq!(orphan(&home, &session), json!(expected), "{minutes} minutes");
        daemon.end_by("TERM");
    }
}

/// Sends an event as of this many milliseconds from now. Returns its reply.
fn event_at(home: &Home, name: &str, shift: i64, more: &Value) -> Value {
    let at = client::clock::now_ms() + shift;
    let mut payload = json!({ "session_id": SESSION, "cwd": home.path("web") });
    for (member, value) in more.as_object().unwrap() {
        payload[member] = value.clone();
    }
    home.call(
        "hook",
        &json!({ "event": name, "agent": "claude-code", "at": at, "payload": payload }),
    )
}

/// @check_in_counter
/// @ghap_evidence
#[test]
fn a_clock_that_jumps_loses_no_count_and_makes_no_evidence_of_earlier_runs() {
    let home = home();
    let _daemon = home.daemon();
    starts(&home, SESSION, "startup");
    start(&home, SESSION);
    let hour = 3_600_000;
    let mut reminded = 0;
    for (number, shift) in
        [0, hour, -hour, hour, -hour, 0, hour, -hour, 0, -hour].iter().enumerate()
    {
        let call = json!({
            "tool_name": "Read", "tool_input": { "file_path": "/srv/a.md" },
            "tool_use_id": format!("jump-{number}"),
        });
        let reply = event_at(&home, "PreToolUse", *shift, &call);
        reminded +=
            usize::from(reply["context"].as_str().is_some_and(|text| text.contains("Goal:")));
    }
    assert_eq!(reminded, 1, "at the tenth call");
    let run = |shift: i64, number: u32, output: &str| {
        let more = json!({
            "tool_name": "Bash", "tool_input": { "command": "cargo test | tail -9" },
            "tool_response": { "stdout": output, "stderr": "" }, "tool_use_id": format!("run-{number}"),
        });
        event_at(&home, "PostToolUse", shift, &more)
    };
    run(-hour, 1, GREEN);
    assert_eq!(resolve(&home, "confirmed"), "silver", "a run from before the start");
    start(&home, SESSION);
    run(hour, 2, GREEN);
    assert_eq!(resolve(&home, "confirmed"), "silver", "a run of a clock that was ahead");
    start(&home, SESSION);
    run(hour, 3, GREEN);
    run(0, 4, RED);
    assert_eq!(resolve(&home, "falsified"), "gold", "the later run of the right clock is the last");
}
