//! Invented rollouts of Codex, and the events that they become.

use model::json::Json;

use super::Codex;
use crate::{ReadEvent, TranscriptReader};

/// Reads lines and tells each event as its name, its turn and its telling member.
fn events(lines: &[&str]) -> Vec<String> {
    let mut reader = Codex::default();
    let mut told = Vec::new();
    let mut sink = |event: ReadEvent<'_>| {
        let text = |name: &str| event.payload.get(name).and_then(Json::as_str).map(str::to_owned);
        let input = event.payload.get("tool_input").and_then(|input| input.get("command"));
        let input = input.and_then(Json::as_str).map(str::to_owned);
        let words = text("prompt").or_else(|| text("last_assistant_message")).or(input);
        let turn = text("turn_id").unwrap_or_default();
        told.push(format!("{} {turn} {}", event.name, words.unwrap_or_default()));
    };
    for line in lines {
        let _ = reader.line(line.as_bytes(), &mut sink);
    }
    reader.finish(true, &mut sink);
    told
}

const META: &str =
    r#"{"type":"session_meta","payload":{"id":"th-1","cwd":"/srv/shop","source":"cli"}}"#;
const STARTED: &str = r#"{"type":"event_msg","payload":{"type":"task_started","turn_id":"t-1"}}"#;

fn event(payload: &str) -> String {
    format!(r#"{{"type":"event_msg","payload":{payload}}}"#)
}

fn item(payload: &str) -> String {
    format!(r#"{{"type":"response_item","payload":{payload}}}"#)
}

#[test]
fn a_prompt_or_call_in_several_lines_is_reported_once() {
    let message =
        item(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"why?"}]}"#);
    let prompt = event(r#"{"type":"user_message","message":"why?"}"#);
    let call = item(
        r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cargo test\"}","call_id":"c-1"}"#,
    );
    let end = event(
        r#"{"type":"exec_command_end","call_id":"c-1","command":["bash","-lc","cargo test"],"exit_code":0,"stdout":"ok"}"#,
    );
    let output = item(r#"{"type":"function_call_output","call_id":"c-1","output":"ok"}"#);
    let done = event(
        r#"{"type":"task_complete","turn_id":"t-1","last_agent_message":"It was the cache."}"#,
    );
    assert_eq!(
        events(&[META, STARTED, &message, &prompt, &call, &end, &output, &done]),
        ["UserPromptSubmit t-1 why?", "PostToolUse t-1 cargo test", "Stop t-1 It was the cache."]
    );
}

#[test]
fn a_second_prompt_of_a_turn_has_an_id_of_its_own() {
    let prompt = |text: &str| event(&format!(r#"{{"type":"user_message","message":"{text}"}}"#));
    assert_eq!(
        events(&[META, STARTED, &prompt("why?"), &prompt("and how?")]),
        ["UserPromptSubmit t-1 why?", "UserPromptSubmit t-1#2 and how?"]
    );
}

#[test]
fn an_aborted_turn_has_no_answer() {
    let said = event(r#"{"type":"agent_message","message":"Let me look."}"#);
    let aborted = event(r#"{"type":"turn_aborted","turn_id":"t-1"}"#);
    assert!(events(&[META, STARTED, &said, &aborted]).is_empty());
}

#[test]
fn internal_threads_and_sessions_of_other_agents_are_left_out() {
    let prompt = event(r#"{"type":"user_message","message":"why?"}"#);
    let review = META.replace(r#""source":"cli""#, r#""source":{"subagent":"review"}"#);
    assert!(events(&[&review, STARTED, &prompt]).is_empty());
    let copied = STARTED.replace("t-1", "external-import-turn-1");
    assert!(events(&[META, &copied, &prompt]).is_empty());
}

#[test]
fn bare_items_of_early_versions_are_read() {
    let lines = [
        r#"{"id":"th-0","timestamp":"2025-06-01T09:00:00Z","instructions":null}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"why?"}]}"#,
        r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c-1"}"#,
        r#"{"type":"function_call_output","call_id":"c-1","output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}"#,
    ];
    let told = events(&lines);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].ends_with("why?") && told[1].ends_with("ls") && told[2].ends_with("Done."),
        "{told:?}"
    );
}

#[test]
fn a_subagents_work_belongs_to_the_session_of_its_parent() {
    let meta = META.replace(
        r#""source":"cli""#,
        r#""source":{"subagent":{"thread_spawn":{"parent_thread_id":"th-0"}}}"#,
    );
    let prompt = event(r#"{"type":"user_message","message":"search the ibex"}"#);
    let done = event(r#"{"type":"task_complete","turn_id":"t-1","last_agent_message":"Found."}"#);
    assert_eq!(events(&[&meta, STARTED, &prompt, &done]), ["SubagentStop t-1 Found."]);
}

const SPAWNED: &str = r#"{"type":"session_meta","payload":{"id":"019a0002-0000-7000-8000-000000000001","source":{"subagent":{"thread_spawn":{"parent_thread_id":"th-0"}}}}}"#;

/// A turn with a prompt and an answer.
fn turn(id: &str, answer: &str) -> Vec<String> {
    vec![
        event(&format!(r#"{{"type":"task_started","turn_id":"{id}"}}"#)),
        event(r#"{"type":"user_message","message":"search the ibex"}"#),
        item(&format!(
            r#"{{"type":"function_call","name":"exec_command","arguments":"{{\"cmd\":\"ls {answer}\"}}","call_id":"c-{id}"}}"#
        )),
        item(&format!(r#"{{"type":"function_call_output","call_id":"c-{id}","output":"ok"}}"#)),
        event(&format!(
            r#"{{"type":"task_complete","turn_id":"{id}","last_agent_message":"{answer}"}}"#
        )),
    ]
}

#[test]
fn a_subagents_copy_of_its_parents_turns_is_left_out() {
    let old = turn("019a0001-0000-7000-8000-000000000001", "parent");
    let own = turn("019a0003-0000-7000-8000-000000000001", "own");
    let lines: Vec<&str> =
        [SPAWNED, META].into_iter().chain(old.iter().chain(&own).map(String::as_str)).collect();
    let id = "019a0003-0000-7000-8000-000000000001";
    assert_eq!(
        events(&lines),
        [format!("PostToolUse {id} ls own"), format!("SubagentStop {id} own")]
    );
}

#[test]
fn lines_before_a_subagents_first_ordinal_are_left_out() {
    let meta = SPAWNED.replace(r#""source""#, r#""subagent_history_start_ordinal":5,"source""#);
    let mut lines = vec![meta];
    let all = [turn("t-1", "parent"), turn("t-2", "own")].concat();
    for (ordinal, line) in all.iter().enumerate() {
        lines.push(line.replacen('{', &format!(r#"{{"ordinal":{ordinal},"#), 1));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(events(&lines), ["PostToolUse t-2 ls own", "SubagentStop t-2 own"]);
}

#[test]
fn own_turns_after_those_of_another_agent_are_read() {
    let lines = [turn("external-import-turn-1", "copied"), turn("t-2", "own")].concat();
    let lines: Vec<&str> = [META].into_iter().chain(lines.iter().map(String::as_str)).collect();
    assert_eq!(
        events(&lines),
        ["UserPromptSubmit t-2 search the ibex", "PostToolUse t-2 ls own", "Stop t-2 own"]
    );
}
