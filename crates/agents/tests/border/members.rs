//! Members that are missing, unknown or of the wrong type, and the events that hold no tool.

use model::hook::{Happening, Source};
use model::{Code, OpError};
use serde_json::{Value, json};

use super::{claude, extract, payload, tool_of, used};

fn what(agent: &str, event: &str, more: Value) -> Happening {
    extract(agent, &payload(event, more)).unwrap().what
}

fn refused(result: Result<model::hook::HookEvent, OpError>, param: &str) {
    let error = result.expect_err(param);
    assert_eq!((error.code, &error.details["param"]), (Code::Invalid, &json!(param)));
}

/// @capture_wrong_type
#[test]
fn a_member_of_an_unexpected_type_counts_as_missing_and_the_event_is_kept() {
    let members = [
        ("SessionStart", "cwd"),
        ("SessionStart", "source"),
        ("SessionStart", "prompt_id"),
        ("SessionStart", "agent_id"),
        ("PostToolUse", "tool_use_id"),
        ("PostToolUse", "tool_name"),
        ("PostToolUse", "tool_input"),
        ("PostToolUse", "tool_response"),
        ("PostToolUse", "mcp_server"),
        ("PostToolUse", "transcript_path"),
        ("PostToolUseFailure", "is_interrupt"),
        ("UserPromptSubmit", "prompt"),
        ("UserPromptSubmit", "source"),
        ("CwdChanged", "new_cwd"),
        ("SessionEnd", "reason"),
    ];
    let common = json!({"tool_name": "Read", "prompt": "fix it"});
    for (event, member) in members {
        let mut without = payload(event, common.clone());
        without.as_object_mut().unwrap().remove(member);
        let expected = extract("claude-code", &without).unwrap();
        for wrong in [json!(false), json!([1]), json!([[2]]), json!({"a": 1})] {
            let mut payload = payload(event, common.clone());
            payload[member] = wrong;
            let drawn = extract("claude-code", &payload).unwrap();
            assert_eq!(drawn, expected, "{event} {payload}");
        }
    }
}

/// @capture_wrong_type
#[test]
fn every_agent_may_send_any_member_as_anything_but_its_session() {
    let members = [
        "cwd",
        "source",
        "prompt_id",
        "turn_id",
        "generation_id",
        "agent_id",
        "tool_use_id",
        "tool_name",
        "tool_input",
        "tool_response",
        "tool_output",
        "result_json",
        "output",
        "error",
        "error_message",
        "is_interrupt",
        "prompt",
        "new_cwd",
        "reason",
        "workspace_roots",
        "command",
        "file_path",
        "edits",
        "mcp_server",
        "mcp_context",
        "transcript_path",
    ];
    for agent in agents::AGENTS {
        for event in agent.events {
            for member in members {
                for any in [
                    json!(7),
                    json!(1.5),
                    json!(true),
                    json!("x"),
                    json!(["x", 1]),
                    json!({"x": 1}),
                ] {
                    let mut payload = payload(event.name, json!({"tool_name": "Bash"}));
                    payload[member] = any;
                    let drawn = extract(agent.name, &payload).unwrap();
                    assert_eq!((drawn.session.as_str(), drawn.name.as_str()), ("s1", event.name));
                }
            }
        }
    }
}

/// @capture_wrong_type
#[test]
fn members_of_another_type_are_converted() {
    let numbers = json!({"session_id": 41, "prompt_id": 42, "agent_id": -43, "tool_use_id": 44});
    let event = extract("claude-code", &payload("Stop", numbers)).unwrap();
    assert_eq!(event.session, "41");
    let ids = (event.prompt_id, event.agent_id, event.tool_use_id);
    assert_eq!(ids, (Some("42".into()), Some("-43".into()), Some("44".into())));
    let said = |prompt: Value| what("claude-code", "UserPromptSubmit", json!({"prompt": prompt}));
    let blocks = json!([{"type": "text", "text": "fix"}, {"type": "image", "data": "AA"}, "it <private>x</private>"]);
    match said(blocks) {
        Happening::Prompted(text) => assert_eq!(text.as_str(), "fix\nit"),
        other => panic!("{other:?}"),
    }
    let failed = |error: Value| {
        let members =
            json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "error": error});
        tool_of(extract("claude-code", &payload("PostToolUseFailure", members)).unwrap())
    };
    assert_eq!(failed(json!({"message": "Exit code 2\nboom"})).metadata["exit_code"], 2);
    assert_eq!(failed(json!({"code": "E2"})).metadata["error"], r#"{"code":"E2"}"#);
    assert!(failed(json!(5)).failed);
    let table = [
        ("Bash", json!("make test"), "make test"),
        ("Bash", json!(["make", "test"]), "make test"),
        ("Bash", json!(r#"{"command": "make test"}"#), "make test"),
        ("Grep", json!("fn main"), "fn main"),
        ("WebSearch", json!("rust"), "rust"),
        ("Write", json!("all that was written"), "Write"),
        ("mcp__a__b", json!("what it was given"), "mcp__a__b"),
        ("Other", json!("what it was given"), "Other"),
    ];
    for (tool, input, content) in table {
        assert_eq!(claude(tool, input).content.as_str(), content, "{tool}");
    }
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** End Patch";
    let patched = used("codex", "PostToolUse", "apply_patch", json!(patch), json!({}));
    assert_eq!(patched.content.as_str(), "Edit a.rs: y");
}

/// @capture_needed
#[test]
fn a_missing_required_member_is_refused_by_name() {
    for missing in [Value::Null, json!(""), json!("  "), json!(true), json!(["s1"]), json!({})] {
        let mut payload = payload("Stop", json!({}));
        payload["session_id"] = missing;
        refused(extract("claude-code", &payload), "session_id");
    }
    let nameless = json!({"session_id": "s1"});
    refused(extract("claude-code", &nameless), "hook_event_name");
    refused(extract("emacs", &payload("Stop", json!({}))), "agent");
    for no_object in [json!([]), json!("x"), Value::Null] {
        assert_eq!(extract("claude-code", &no_object).unwrap_err().code, Code::Invalid);
        assert_eq!(agents::strict(None, &(&no_object).into()).unwrap_err().code, Code::Invalid);
    }
}

/// @capture_names
#[test]
fn the_id_of_a_session_has_no_slash_and_a_model_may_have_one() {
    for id in [".", "..", "a/b", "a\\b"] {
        refused(extract("claude-code", &payload("Stop", json!({"session_id": id}))), "session_id");
    }
    let named = payload("SessionStart", json!({"session_id": "a.b", "model": "maker/model-1"}));
    let event = extract("claude-code", &named).unwrap();
    assert_eq!((event.session.as_str(), event.model.as_deref()), ("a.b", Some("maker/model-1")));
}

/// @capture_names
#[test]
fn a_name_is_short_and_holds_nothing_that_acts() {
    for bad in ["x".repeat(201), "a\nb".to_owned(), "a\0".to_owned(), "\u{1b}[31m".to_owned()] {
        let with = |member: &str, id: &str| {
            let mut payload = payload("Stop", json!({}));
            payload[member] = json!(id);
            extract("claude-code", &payload)
        };
        refused(with("session_id", &bad), "session_id");
        for member in ["prompt_id", "agent_id", "tool_use_id"] {
            let id = |id: &str| {
                let event = with(member, id).unwrap();
                event.prompt_id.or(event.agent_id).or(event.tool_use_id).unwrap()
            };
            let short = id(&bad);
            assert!(short.len() <= 200 && !short.chars().any(char::is_control), "{short:?}");
            assert_eq!(short, id(&bad), "it stays the same");
            assert_ne!(short, id(&format!("{bad}x")), "it is no other's");
        }
    }
}

/// @capture_optional
#[test]
fn an_optional_member_may_be_missing_null_or_empty() {
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

/// @capture_needed
#[test]
fn a_tool_without_a_name_is_a_sign_of_life() {
    for name in [Value::Null, json!(" "), json!({"name": "Bash"})] {
        let members = json!({"tool_name": name, "tool_input": {"command": "make"}});
        for event in ["PreToolUse", "PostToolUse", "PostToolUseFailure"] {
            assert_eq!(what("claude-code", event, members.clone()), Happening::Other);
        }
    }
}

/// @capture_unknown_event
#[test]
fn an_unknown_event_counts_as_a_sign_of_life() {
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

/// @capture_own_runs
#[test]
fn a_subagent_that_the_agent_runs_for_itself_gives_no_answer() {
    let ends = |kind: &str| {
        let members =
            json!({"agent_id": "a1", "agent_type": kind, "last_assistant_message": "The summary."});
        extract("claude-code", &payload("SubagentStop", members)).unwrap().what
    };
    assert!(matches!(ends(""), Happening::SubagentEnded));
    assert!(matches!(ends("general-purpose"), Happening::Answered(_)));
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
