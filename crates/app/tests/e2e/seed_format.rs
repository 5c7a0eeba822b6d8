//! `hook EVENT --format seed`, and a prompt that is plain text.

use serde_json::{Value, json};
use testkit::{Home, Run};

use super::ghaps::SESSION;
use super::ghaps_hooks::{GREEN, RED, here, start};
use super::home;
use super::learned_hooks::{ASK, falsified};

/// The object that the hook prints; null if it prints nothing.
fn seed(home: &Home, name: &str, session: &str, more: &Value) -> Value {
    std::fs::create_dir_all(home.path("web")).unwrap();
    let mut payload =
        json!({ "session_id": session, "cwd": home.path("web"), "hook_event_name": name });
    for (member, value) in more.as_object().unwrap() {
        payload[member] = value.clone();
    }
    let args = ["hook", name, "--format", "seed"];
    let run = home.run_with(&args, payload.to_string().as_bytes());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{name}");
    match run.stdout.as_str() {
        "" => Value::Null,
        printed => serde_json::from_str(printed).unwrap(),
    }
}

fn ran(home: &Home, session: &str, command: &str, output: &str) -> Value {
    let more = json!({
        "tool_name": "Bash", "tool_input": { "command": command },
        "tool_response": { "stdout": output, "stderr": "" },
    });
    seed(home, "PostToolUse", session, &more)
}

/// @hook_seed
#[test]
fn each_event_has_its_object_in_the_seed_format() {
    let home = home();
    let daemon = home.daemon();
    let begun = seed(&home, "SessionStart", SESSION, &json!({ "source": "startup" }));
    assert_eq!(begun, json!({ "type": "session_started", "session_id": SESSION }));
    falsified(&home, SESSION);
    let prompt = seed(&home, "UserPromptSubmit", "s-2", &json!({ "prompt": ASK }));
    assert_eq!(prompt["type"], "rich");
    assert!(prompt["content"].as_str().unwrap().contains("falsified"), "{prompt}");
    assert!(prompt["token_count"].as_u64().unwrap() > 20, "{prompt}");
    let again = seed(&home, "UserPromptSubmit", "s-2", &json!({ "prompt": ASK }));
    assert_eq!(again, json!({ "type": "degraded", "reason": "no_context" }));
    let suggested = ran(&home, "s-2", "cargo test | tail", RED);
    assert_eq!(
        (&suggested["type"], &suggested["suggested_action"]),
        (&json!("outcome"), &json!("start_ghap"))
    );
    assert_eq!(ran(&home, "s-2", "ls", "x"), Value::Null);
    start(&home, SESSION);
    for (command, output, action) in [
        ("cargo test", GREEN, json!("resolve_confirmed")),
        ("cargo test | tail", RED, json!("resolve_falsified")),
        ("cargo test | wc -l", "9", Value::Null),
    ] {
        let outcome = ran(&home, SESSION, command, output);
        assert_eq!((&outcome["type"], &outcome["suggested_action"]), (&json!("outcome"), &action));
        assert!(outcome["content"].as_str().unwrap().contains("Prediction:"), "{outcome}");
    }
    let call = |number: usize| {
        let more = json!({
            "tool_name": "Read", "tool_input": { "file_path": "/srv/a.md" },
            "tool_use_id": format!("seed-{number}"),
        });
        seed(&home, "PreToolUse", SESSION, &more)
    };
    let told: Vec<Value> = (0..10).map(call).collect();
    assert!(told[..9].iter().all(Value::is_null), "{told:?}");
    assert_eq!(told[9]["type"], "reminder", "{told:?}");
    let hint = json!({ "component": "npm", "key": "test", "value": "npm run test:unit" });
    home.call("set_hint", &hint);
    let npm = json!({ "tool_name": "Bash", "tool_input": { "command": "npm test" } });
    assert_eq!(seed(&home, "PreToolUse", SESSION, &npm)["type"], "rich", "hints alone");
    seed(&home, "SessionEnd", SESSION, &json!({ "reason": "other" }));
    let next = seed(&home, "SessionStart", "s-3", &json!({ "source": "startup" }));
    assert_eq!(next["type"], "orphan_detected", "{next}");
    assert!(next["content"].as_str().unwrap().contains("adopt_orphaned_ghap"), "{next}");
    drop(daemon);
}

/// @hook_seed
#[test]
fn without_a_reply_of_the_daemon_the_seed_format_says_so() {
    let mut home = home();
    home.set("REKINDLE_NO_AUTOSTART", "1");
    let degraded = json!({ "type": "degraded", "reason": "server_timeout" });
    assert_eq!(seed(&home, "SessionStart", SESSION, &json!({ "source": "startup" })), degraded);
    assert_eq!(seed(&home, "UserPromptSubmit", SESSION, &json!({ "prompt": ASK })), degraded);
    assert_eq!(ran(&home, SESSION, "cargo test", GREEN), degraded);
    assert_eq!(seed(&home, "SessionEnd", SESSION, &json!({ "reason": "other" })), Value::Null);
    assert_eq!(home.spooled().len(), 4, "the events wait in the spool");
}

/// Sends plain text to the hook of a prompt, in the project's directory.
fn plain(home: &Home, flags: &[&str], text: &str) -> Run {
    let mut command = home.command([&["hook", "UserPromptSubmit"], flags].concat());
    command.current_dir(home.path("web"));
    testkit::home::finish(command, text.as_bytes())
}

/// @hook_plain_prompt
#[test]
fn a_plain_text_at_a_prompt_hook_is_answered_and_leaves_nothing() {
    let home = home();
    let _daemon = home.daemon();
    seed(&home, "SessionStart", SESSION, &json!({ "source": "startup" }));
    falsified(&home, SESSION);
    let counts = || {
        let db = super::sqlite::open(&super::sqlite::path(&home));
        ["receipts", "prompts", "sessions", "hooks_seen"].map(|table| {
            let select = format!("SELECT count(*) FROM {table}");
            db.query_row(&select, [], |row| row.get::<_, i64>(0)).unwrap()
        })
    };
    let before = counts();
    let run = plain(&home, &[], ASK);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "UserPromptSubmit");
    assert!(output["additionalContext"].as_str().unwrap().contains("falsified"), "{answer}");
    let answer: Value =
        serde_json::from_str(&plain(&home, &["--format", "seed"], ASK).stdout).unwrap();
    assert_eq!(answer["type"], "rich", "{answer}");
    let answer: Value =
        serde_json::from_str(&plain(&home, &["--format", "seed"], "Write a haiku").stdout).unwrap();
    assert_eq!(answer, json!({ "type": "degraded", "reason": "no_context" }));
    for refused in ["{ no JSON", "[ no JSON", "12", "\"quoted\"", "true", "  \n"] {
        let run = plain(&home, &[], refused);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "{refused}");
    }
    assert_eq!(counts(), before);
    home.call("get_active_ghap", &here(&home, json!({ "session_id": SESSION })));
}
