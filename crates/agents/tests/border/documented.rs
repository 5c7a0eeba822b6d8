//! Extraction from payloads of agents that were not run here, written from their documentation; and checks
//! that apply to all agents.

use agents::AGENTS;
use expect_test::expect_file;
use model::hook::Happening;
use serde_json::{Value, json};

use super::replay::{lines, shown};
use super::{extract, payload};

const CURSOR: &str = include_str!("../../testdata/cursor.jsonl");
const OPENCODE: &str = include_str!("../../testdata/opencode.jsonl");

/// The events extracted from these payloads, one per line. Each agent is recognised without its name.
fn drawn(text: &str) -> String {
    let line = |(client, event, payload): (String, String, Value)| {
        let drawn = super::replay::extract(None, Some(&event), &payload);
        assert_eq!(drawn, super::replay::extract(Some(&client), None, &payload), "{payload}");
        assert_eq!((drawn.agent.as_str(), drawn.name.as_str()), (client.as_str(), event.as_str()));
        assert_eq!(drawn.cwd.as_ref().unwrap().as_str(), "/home/user/project");
        agents::strict(None, &(&payload).into()).unwrap();
        let ids =
            [("prompt", &drawn.prompt_id), ("agent", &drawn.agent_id), ("use", &drawn.tool_use_id)];
        let ids =
            ids.into_iter().filter_map(|(name, id)| Some(format!(" {name}={}", id.as_ref()?)));
        format!("{event}{} {}\n", ids.collect::<String>(), shown(&drawn.what))
    };
    lines(text).map(line).collect()
}

/// @capture_cursor
#[test]
fn documented_events_of_cursor_become_what_is_expected_of_them() {
    expect_file!["../../testdata/cursor.expected"].assert_eq(&drawn(CURSOR));
}

/// @capture_opencode
#[test]
fn payloads_of_our_opencode_plugin_become_the_expected_events() {
    expect_file!["../../testdata/opencode.expected"].assert_eq(&drawn(OPENCODE));
}

/// @capture_cursor_as_guest
#[test]
fn an_event_that_cursor_hands_to_a_hook_of_claude_code_is_cursors_own() {
    let own =
        "beforeSubmitPrompt preToolUse postToolUse postToolUseFailure stop preCompact sessionStart";
    let theirs =
        "UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure Stop PreCompact SessionStart";
    for (own, theirs) in own.split(' ').zip(theirs.split(' ')) {
        let (_, _, payload) = lines(CURSOR).find(|(_, event, _)| event == own).unwrap();
        let as_guest = super::replay::extract(Some("claude-code"), Some(theirs), &payload);
        assert_eq!(as_guest, super::replay::extract(Some("cursor"), Some(own), &payload), "{own}");
    }
}

/// @capture_unknown_event
#[test]
fn an_event_that_an_agent_has_learned_since_is_a_sign_of_life() {
    for agent in AGENTS {
        for event in ["Brandnew", "session.brandnew", "beforeBrandnew"] {
            let mut payload = payload(event, json!({ "prompt": 5, "tool_name": ["x"] }));
            payload["conversation_id"] = json!("s1");
            let drawn = extract(agent.name, &payload).unwrap();
            assert_eq!((drawn.what, drawn.agent.as_str()), (Happening::Other, agent.name));
            assert_eq!(drawn.name, event);
        }
    }
}
