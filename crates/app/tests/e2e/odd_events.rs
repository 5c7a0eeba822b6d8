//! Events that an agent sends with damaged encoding, with members of another agent or with a new name: none is lost.

use serde_json::json;
use testkit::{Home, wait_until};

use super::{home, sqlite};

/// A command's event: its text, and the command.
fn event(number: usize, output: &[u8]) -> (Vec<u8>, String) {
    let command = format!("make numbat{number}");
    let head = format!(
        r#"{{"session_id":"s-1","cwd":"/srv/app","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{{"command":"{command}"}},"tool_response":{{"stdout":""#
    );
    ([head.as_bytes(), output, br#""}}"#].concat(), command)
}

/// Events whose encoding is damaged, each with a command of its own.
fn damaged() -> Vec<(Vec<u8>, String)> {
    let large = [&b"all is well ".repeat(100_000)[..], br"\ud83d", b"\xe9"].concat();
    let outputs: [&[u8]; 5] = [br"cut \ud83d", br"\ude00 rest", b"caf\xe9", b"\xff\xfe", &large];
    let mut events: Vec<_> = (0..).zip(outputs).map(|(at, output)| event(at, output)).collect();
    let mark = "\u{feff}".as_bytes();
    for (number, output) in [(10, &b"fine"[..]), (11, &large)] {
        let (text, command) = event(number, output);
        events.push(([mark, &text].concat(), command));
    }
    // A damaged command is shown with the replacement character.
    let (text, _) = event(12, b"fine");
    let text = String::from_utf8(text).unwrap().replace("make numbat12", r"make numbat\ud83d");
    events.push((text.into_bytes(), "make numbat\u{fffd}".to_owned()));
    events
}

fn hook(home: &Home, event: &str, stdin: &[u8]) {
    let run = home.run_with(&["hook", event], stdin);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}

/// The stored commands, once the spool is ingested.
fn stored(home: &Home) -> Vec<String> {
    wait_until("the spool is empty", || {
        home.call("set_hint", &json!({ "component": "any", "key": "write", "value": "x" }));
        home.spooled().is_empty().then_some(())
    });
    sqlite::observed(home).into_iter().map(|(content, _)| content).collect()
}

fn hook_log(home: &Home) -> String {
    std::fs::read_to_string(home.path("data/log/hook.log")).unwrap_or_default()
}

/// @capture_encoding
#[test]
fn an_event_with_damaged_encoding_is_kept_by_daemon_spool_and_record() {
    for way in ["daemon", "spool", "record"] {
        let home = home();
        let daemon = (way == "daemon").then(|| home.daemon());
        for (text, command) in damaged() {
            match way {
                "record" => assert_eq!(home.run_with(&["record"], &text).code, 0, "{command}"),
                _ => hook(&home, "PostToolUse", &text),
            }
        }
        let stored = stored(&home);
        for (_, command) in damaged() {
            assert!(stored.contains(&command), "{way}: {command} is not in {stored:?}");
        }
        assert_eq!(hook_log(&home), "", "{way}");
        drop(daemon);
    }
}

/// @capture_recognised
#[test]
fn a_member_of_another_agent_does_not_cost_an_event() {
    let home = home();
    let _daemon = home.daemon();
    let members = [
        json!({ "timestamp": "2026-01-01T00:00:00Z" }),
        json!({ "conversation_id": "c-1" }),
        json!({ "timestamp": 1, "conversation_id": "c-1", "turn_id": "t-1" }),
    ];
    let mut commands = Vec::new();
    for (number, members) in members.iter().enumerate() {
        let (text, command) = event(number, b"fine");
        let mut event: serde_json::Value = serde_json::from_slice(&text).unwrap();
        event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        hook(&home, "PostToolUse", event.to_string().as_bytes());
        commands.push(command);
    }
    assert_eq!(stored(&home), commands);
    assert_eq!(hook_log(&home), "");
}
