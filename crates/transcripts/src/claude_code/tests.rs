//! Invented transcripts of Claude Code, and the events that they become.

use model::json::Json;

use super::ClaudeCode;
use crate::{ReadEvent, TranscriptReader, Unread};

/// Reads lines and tells each event as its name and its telling member.
fn events(lines: &[&str], is_over: bool) -> Vec<String> {
    let mut reader = ClaudeCode::default();
    let mut told = Vec::new();
    let mut sink = |event: ReadEvent<'_>| {
        let members = ["prompt", "last_assistant_message", "error", "tool_name"];
        let text = members.iter().find_map(|name| event.payload.get(name).and_then(Json::as_str));
        told.push(format!("{} {}", event.name, text.unwrap_or_default()));
    };
    for line in lines {
        let _ = reader.line(line.as_bytes(), &mut sink);
    }
    reader.finish(is_over, &mut sink);
    told
}

fn user(id: &str, content: &str) -> String {
    format!(r#"{{"type":"user","sessionId":"s","uuid":"{id}","message":{{"content":{content}}}}}"#)
}

fn assistant(id: &str, content: &str, more: &str) -> String {
    format!(
        r#"{{"type":"assistant","sessionId":"s","message":{{"id":"{id}","content":{content}{more}}}}}"#
    )
}

#[test]
fn a_message_of_several_lines_is_one_answer() {
    let lines = [
        user("u1", r#""hello""#),
        assistant("m1", r#"[{"type":"thinking","thinking":"hm"}]"#, ""),
        assistant("m1", r#"[{"type":"text","text":"one"}]"#, ""),
        assistant("m1", r#"[{"type":"text","text":"two"}]"#, r#","stop_reason":"end_turn""#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(events(&lines, false), ["UserPromptSubmit hello", "Stop one\ntwo"]);
}

#[test]
fn a_running_turn_has_no_answer_yet() {
    let lines = [
        user("u1", r#""hello""#),
        assistant("m1", r#"[{"type":"text","text":"let me look"}]"#, ""),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(events(&lines, false), ["UserPromptSubmit hello"]);
    assert_eq!(events(&lines, true), ["UserPromptSubmit hello", "Stop let me look"]);
}

#[test]
fn an_interrupted_turn_has_no_answer() {
    let lines = [
        user("u1", r#""hello""#),
        assistant("m1", r#"[{"type":"text","text":"let me look"}]"#, ""),
        user("u2", r#"[{"type":"text","text":"[Request interrupted by user]"}]"#),
        user("u3", r#""and now?""#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(events(&lines, true), ["UserPromptSubmit hello", "UserPromptSubmit and now?"]);
}

/// A block with a tool call.
fn call(id: &str, tool: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"{tool}","input":{{}}}}"#)
}

/// A message that ends the turn.
fn answer(id: &str, text: &str) -> String {
    let words = format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    assistant(id, &words, r#","stop_reason":"end_turn""#)
}

#[test]
fn a_call_without_a_result_costs_no_later_answer() {
    let interrupted = user("u2", r#"[{"type":"text","text":"[Request interrupted by user]"}]"#);
    for interrupted in [Some(interrupted), None] {
        let lines: Vec<String> = [user("u1", r#""hello""#)]
            .into_iter()
            .chain([assistant("m1", &format!("[{}]", call("t1", "Bash")), "")])
            .chain(interrupted)
            .chain([user("u3", r#""and now?""#), answer("m2", "now"), user("u4", r#""and then?""#)])
            .chain([answer("m3", "then")])
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(
            events(&lines, true),
            [
                "UserPromptSubmit hello",
                "UserPromptSubmit and now?",
                "Stop now",
                "UserPromptSubmit and then?",
                "Stop then"
            ]
        );
    }
}

#[test]
fn a_command_of_claude_code_ends_no_call() {
    let command = user("u2", r#""<command-name>/model</command-name>""#);
    let output = user("u3", r#""<local-command-stdout>Set</local-command-stdout>""#);
    let result = user("r", r#"[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]"#);
    let called = assistant("m1", &format!("[{}]", call("t1", "Bash")), "");
    let lines = [&user("u1", r#""hello""#), &called, &command, &output, &result];
    assert_eq!(
        events(&lines.map(String::as_str), true),
        ["UserPromptSubmit hello", "PostToolUse Bash"]
    );
    let mut reader = ClaudeCode::default();
    let prompt = user("u4", r#""and now?""#);
    for line in &lines[..2] {
        reader.line(line.as_bytes(), &mut |_| {}).unwrap();
    }
    assert!(!reader.can_start_here(command.as_bytes()));
    assert!(reader.can_start_here(prompt.as_bytes()));
}

#[test]
fn results_find_their_calls_in_any_order() {
    let result = |id: &str, more: &str| {
        user(
            "r",
            &format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"no"{more}}}]"#),
        )
    };
    let lines = [
        assistant("m1", &format!("[{},{}]", call("t1", "Read"), call("t2", "Bash")), ""),
        assistant("m1", &format!("[{}]", call("t3", "Grep")), ""),
        result("t2", r#","is_error":true"#),
        result("t1", ""),
        result("t9", ""),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    // The call t3 has no result, and the result t9 no call.
    assert_eq!(events(&lines, true), ["PostToolUseFailure no", "PostToolUse Read"]);
}

#[test]
fn a_slash_command_is_a_prompt_unless_claude_code_runs_it_itself() {
    let command = r#""<command-name>/memo</command-name><command-args>alpha beta</command-args>""#;
    let own = user("u1", command);
    let answer =
        assistant("m1", r#"[{"type":"text","text":"done"}]"#, r#","stop_reason":"end_turn""#);
    assert_eq!(events(&[&own, &answer], false), ["UserPromptSubmit /memo alpha beta", "Stop done"]);
    let output = user("u2", r#""<local-command-stdout>Cleared</local-command-stdout>""#);
    assert!(events(&[&own, &output], true).is_empty());
}

#[test]
fn a_subagent_that_gets_another_task_keeps_its_earlier_answer() {
    let of = |line: String| line.replacen('{', r#"{"isSidechain":true,"agentId":"a1","#, 1);
    let says = |id: &str, text: &str, more: &str| {
        assistant(id, &format!(r#"[{{"type":"text","text":"{text}"}}]"#), more)
    };
    let end = r#","stop_reason":"end_turn""#;
    let result = user("r", r#"[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]"#);
    let notice = user("u3", r#""hurry up""#);
    // Earlier versions stored no reason.
    for end in [end, ""] {
        let lines = [
            user("u1", r#""look at the cache""#),
            says("m1", "let me look", r#","stop_reason":"tool_use""#),
            assistant("m1", &format!("[{}]", call("t1", "Bash")), ""),
            notice.clone(),
            result.clone(),
            says("m2", "it is stale", end),
            user("u2", r#""and the index?""#),
            says("m3", "it is fresh", end),
        ];
        let lines = lines.map(of);
        assert_eq!(
            events(&lines.each_ref().map(String::as_str), true),
            ["PostToolUse Bash", "SubagentStop it is stale", "SubagentStop it is fresh"]
        );
    }
    // In the session's own file its lines end no turn.
    let lines = [
        user("u1", r#""hello""#),
        answer("m1", "done"),
        of(user("u2", r#""look""#)),
        of(says("m2", "seen", end)),
    ];
    let found = events(&lines.each_ref().map(String::as_str), false);
    assert_eq!(found[0], "UserPromptSubmit hello");
}

#[test]
fn lines_that_cannot_be_read_say_why() {
    let mut reader = ClaudeCode::default();
    let mut read = |line: &[u8]| reader.line(line, &mut |_| {});
    assert_eq!(read(b"{"), Err(Unread::NotJson));
    assert_eq!(read(b"\xff"), Err(Unread::NotJson));
    assert_eq!(read(br#"{"type":"user","message":7}"#), Err(Unread::Malformed));
    assert_eq!(read(br#"{"type":7}"#), Err(Unread::Malformed));
    assert_eq!(read(br#"{"type":"from-next-year"}"#), Err(Unread::UnknownKind));
    assert_eq!(read(br#"{"type":"progress","data":{"type":"hook_progress"}}"#), Ok(()));
}

#[test]
fn a_title_that_the_user_chose_counts_more() {
    let mut reader = ClaudeCode::default();
    let lines = [
        r#"{"type":"custom-title","customTitle":"Totals"}"#,
        r#"{"type":"ai-title","aiTitle":"Fixing the totals"}"#,
    ];
    for line in lines {
        reader.line(line.as_bytes(), &mut |_| {}).unwrap();
    }
    assert_eq!(reader.title(), Some("Totals"));
}
