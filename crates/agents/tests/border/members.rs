//! Members that are missing, unknown or of the wrong type, and the events that hold no tool.

use model::hook::{Happening, Source};
use model::{Code, OpError};
use serde_json::{Value, json};

use super::{extract, payload};

fn what(agent: &str, event: &str, more: Value) -> Happening {
    extract(agent, &payload(event, more)).unwrap().what
}

fn refused(result: Result<model::hook::HookEvent, OpError>, param: &str) {
    let error = result.expect_err(param);
    assert_eq!((error.code, &error.details["param"]), (Code::Invalid, &json!(param)));
}

/// @capture_wrong_type
#[test]
fn a_member_of_the_wrong_type_is_refused_by_its_name() {
    let members = [
        ("SessionStart", "session_id"),
        ("SessionStart", "cwd"),
        ("SessionStart", "source"),
        ("SessionStart", "prompt_id"),
        ("SessionStart", "agent_id"),
        ("PostToolUse", "tool_use_id"),
        ("PostToolUse", "tool_name"),
        ("PostToolUse", "tool_input"),
        ("PostToolUseFailure", "error"),
        ("PostToolUseFailure", "is_interrupt"),
        ("UserPromptSubmit", "prompt"),
        ("UserPromptSubmit", "source"),
        ("CwdChanged", "new_cwd"),
        ("SessionEnd", "reason"),
    ];
    for (event, member) in members {
        for wrong in [json!(5), json!([1]), json!([["x"]])] {
            let mut payload = payload(event, json!({"tool_name": "Bash"}));
            payload[member] = wrong;
            refused(extract("claude-code", &payload), member);
        }
    }
}

/// @capture_needed
#[test]
fn what_is_needed_and_missing_is_refused_by_its_name() {
    for (event, member) in [("Stop", "session_id"), ("PreToolUse", "tool_name")] {
        for missing in [Value::Null, json!(""), json!("  ")] {
            let mut payload = payload(event, json!({"tool_name": "Bash"}));
            payload[member] = missing;
            refused(extract("claude-code", &payload), member);
        }
    }
    let nameless = json!({"session_id": "s1"});
    refused(extract("claude-code", &nameless), "hook_event_name");
    refused(extract("emacs", &payload("Stop", json!({}))), "agent");
    for no_object in [json!([]), json!("x"), Value::Null] {
        assert_eq!(extract("claude-code", &no_object).unwrap_err().code, Code::Invalid);
        assert_eq!(agents::strict(None, &no_object).unwrap_err().code, Code::Invalid);
    }
}

/// @capture_names
#[test]
fn a_name_is_short_and_holds_nothing_that_acts() {
    for bad in ["x".repeat(201), "a\nb".to_owned(), "a\0".to_owned(), "\u{1b}[31m".to_owned()] {
        for member in ["session_id", "prompt_id", "agent_id", "tool_use_id"] {
            let mut payload = payload("Stop", json!({}));
            payload[member] = json!(bad);
            refused(extract("claude-code", &payload), member);
        }
    }
}

/// @capture_optional
#[test]
fn what_may_be_missing_may_be_missing_or_null_or_empty() {
    for empty in [Value::Null, json!("")] {
        let members = json!({
            "cwd": empty, "prompt_id": empty, "agent_id": empty, "tool_use_id": empty, "source": empty,
            "something_new": {"a": [1]},
        });
        let event = extract("claude-code", &payload("SessionStart", members)).unwrap();
        assert_eq!(event.cwd, None);
        assert_eq!((event.prompt_id, event.agent_id, event.tool_use_id), (None, None, None));
        assert_eq!(event.what, Happening::SessionStarted(Source::Startup));
    }
}

/// @capture_unknown_event
#[test]
fn an_event_nobody_knows_is_a_sign_of_life() {
    for event in ["MessageDisplay", "Brandnew", "beforeTool"] {
        assert_eq!(what("claude-code", event, json!({"prompt": 5})), Happening::Other);
    }
}

/// @capture_session_start
#[test]
fn a_session_starts_for_its_reason() {
    let table = [
        ("startup", Source::Startup),
        ("resume", Source::Resume),
        ("clear", Source::Clear),
        ("compact", Source::Compact),
        ("fork", Source::Fork),
        ("something new", Source::Startup),
    ];
    for (word, source) in table {
        let started = what("claude-code", "SessionStart", json!({"source": word}));
        assert_eq!(started, Happening::SessionStarted(source));
    }
}

/// @capture_prompt
#[test]
fn only_what_the_user_said_is_a_prompt() {
    let prompt = |agent, event, members| match what(agent, event, members) {
        Happening::Prompted(text) => Some(text.into_inner()),
        Happening::Other => None,
        other => panic!("{other:?}"),
    };
    let submit = |members| prompt("claude-code", "UserPromptSubmit", members);
    assert_eq!(submit(json!({"prompt": " fix it\n"})).unwrap(), "fix it");
    assert_eq!(submit(json!({"prompt": "a <private>b</private>"})).unwrap(), "a");
    assert_eq!(submit(json!({"prompt": "/memo a", "source": "user"})).unwrap(), "/memo a");
    assert_eq!(submit(json!({"prompt": "x", "source": "sdk"})).unwrap(), "x");
    assert_eq!(prompt("gemini-cli", "BeforeAgent", json!({"prompt": "hi  "})).unwrap(), "hi");
    assert_eq!(submit(json!({"prompt": "ä".repeat(3_000)})).unwrap().chars().count(), 2_000);
    for source in ["system", "loop_wakeup", "schedule_wakeup", "poll_event"] {
        assert_eq!(submit(json!({"prompt": "x", "source": source})), None);
    }
    for nothing in [json!({}), json!({"prompt": " "}), json!({"prompt": "<private>x"})] {
        assert_eq!(submit(nothing), None);
    }
    let notified = "<task-notification>\n<task-id>a</task-id>\n</task-notification>";
    assert_eq!(submit(json!({"prompt": notified})), None);
}

/// @capture_spooled
#[test]
fn an_event_survives_being_written_down() {
    let members =
        json!({"tool_name": "Edit", "tool_input": {"file_path": "/a", "new_string": "b"}});
    for (event, members) in [
        ("PostToolUse", members),
        ("SessionEnd", json!({"reason": "exit"})),
        ("UserPromptSubmit", json!({"prompt": "x"})),
    ] {
        let event = extract("claude-code", &payload(event, members)).unwrap();
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<model::hook::HookEvent>(&line).unwrap(), event);
    }
}
