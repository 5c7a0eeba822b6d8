//! Extraction from any payload ends soon, returns a small event and never panics.

use model::hook::HookEvent;
use serde_json::{Map, Value, json};

use super::{extract, payload};

/// A small generator with a fixed seed, so that a failure can be repeated.
struct PayloadRandom(u64);

impl PayloadRandom {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 8 }) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) == 0),
            2 => json!(self.below(1_000_000) as i64 - 500_000),
            3 | 4 => (0..self.below(6)).map(|_| self.pick(TEXTS)).collect::<String>().into(),
            5 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object(self.members(depth - 1)),
        }
    }

    fn members(&mut self, depth: usize) -> Map<String, Value> {
        (0..self.below(6)).map(|_| (self.pick(NAMES).to_owned(), self.value(depth))).collect()
    }
}

const TEXTS: &[&str] = &[
    "a",
    " ",
    "\n",
    "\0",
    "😀",
    "ü",
    "/",
    "..",
    "<private>",
    "</private>",
    "<system-reminder>",
    "git commit ",
    "git push ",
    "'",
    "\"",
    "$(",
    ")",
    "[main 1a2b3c4] x",
    "To https://a:b@c/d\n",
    " a1..b2  x -> y\n",
    "Exit code 1\n",
    "*** Begin Patch\n",
    "*** Update File: ",
    "+",
    "-",
    "apply_patch ",
    "password=",
    " 9 files changed, 99999999999999999999 insertions(+)",
];

const NAMES: &[&str] = &[
    "bytes",
    "sha256",
    "head",
    "command",
    "file_path",
    "content",
    "old_string",
    "new_string",
    "edits",
    "pattern",
    "path",
    "questions",
    "question",
    "stdout",
    "stderr",
    "error",
    "exit_code",
    "metadata",
    "message",
    "llmContent",
    "text",
    "isError",
    "name",
    "server_name",
    "input",
    "cmd",
    "description",
    "prompt",
    "url",
    "query",
];

const TOOLS: &[&str] = &[
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Bash",
    "Grep",
    "Glob",
    "Task",
    "WebFetch",
    "WebSearch",
    "AskUserQuestion",
    "mcp__a__b",
    "mcp_",
    "mcp__",
    "apply_patch",
    "shell",
    "replace",
    "run_shell_command",
    "x",
    "",
];

/// All that is kept, in bytes.
fn size(event: &HookEvent) -> usize {
    serde_json::to_vec(event).unwrap().len()
}

/// @capture_hostile
#[test]
fn any_event_is_drawn_or_refused_without_harm() {
    let mut random = PayloadRandom(0x2545_f491_4f6c_dd1d);
    let mut drawn = 0;
    for _ in 0..20_000 {
        let agent = &agents::AGENTS[random.below(agents::AGENTS.len())];
        let event = agent.events[random.below(agent.events.len())].name;
        let mut payload = payload(event, json!({}));
        payload["tool_name"] = json!(random.pick(TOOLS));
        payload["tool_input"] = Value::Object(random.members(3));
        for member in ["tool_response", "error", "prompt", "mcp_server", "mcp_context", "source"] {
            payload[member] = random.value(3);
        }
        if random.below(10) == 0 {
            let member = ["session_id", "cwd", "tool_input", "tool_use_id"][random.below(4)];
            payload[member] = random.value(2);
        }
        if let Ok(event) = extract(agent.name, &payload) {
            drawn += 1;
            agents::answer(&event, "x");
        }
    }
    assert!(drawn > 5_000, "{drawn}");
}

/// @capture_long_texts
#[test]
fn a_long_text_of_any_kind_leaves_little_behind() {
    let parts = ["a", "a b\n", "<private>", "ä", "'", "$(", "[main 1a2b3c4] x\n", "😀 ", "\0"];
    for part in parts {
        let long = part.repeat(500_000 / part.len());
        for (tool, member) in [
            ("Bash", "command"),
            ("Edit", "new_string"),
            ("Write", "content"),
            ("Read", "file_path"),
        ] {
            let members = json!({"tool_name": tool, "tool_input": {member: &long}, "error": ""});
            let event = extract("claude-code", &payload("PreToolUse", members)).unwrap();
            assert!(size(&event) < 64 * 1024, "{tool} {part:?}: {}", size(&event));
        }
    }
}

/// @capture_long_texts
#[test]
fn a_text_of_fifty_megabytes_is_not_read_to_its_end() {
    let long = "a b\n".repeat(12_500_000);
    let members = [
        ("UserPromptSubmit", "prompt"),
        ("PostToolUseFailure", "error"),
        ("PostToolUse", "tool_response"),
        ("PostToolUse", "cwd"),
    ];
    for (event, member) in members {
        let tool = json!({"tool_name": "Bash", "tool_input": {"command": "git commit"}});
        let mut payload = payload(event, tool);
        payload[member] = json!(long);
        assert!(size(&extract("claude-code", &payload).unwrap()) < 16 * 1024, "{event}");
    }
}

/// @capture_hostile
#[test]
fn a_deeply_nested_event_is_drawn_like_any_other() {
    let mut deep = json!("x");
    for level in 0..120 {
        deep = if level % 2 == 0 {
            json!([deep])
        } else {
            json!({"content": deep, "llmContent": [1]})
        };
    }
    let members = json!({"tool_name": "Edit", "tool_input": {"file_path": "/a", "edits": deep}, "tool_response": deep});
    let event = extract("claude-code", &payload("PostToolUse", members)).unwrap();
    assert_eq!(event.used().unwrap().content.as_str(), "Edit /a");
}

/// @capture_hostile
#[test]
fn a_name_that_acts_on_a_terminal_is_made_harmless() {
    let members = json!({"tool_name": "x\u{1b}[31m\ny", "tool_input": {"file_path": "/a\0\nb"}});
    let event = extract("claude-code", &payload("PostToolUse", members)).unwrap();
    let tool = event.used().unwrap();
    assert!(
        !tool.tool.chars().any(char::is_control) && !tool.content.chars().any(char::is_control)
    );
    let members = json!({"tool_name": "Read", "tool_input": {"file_path": "/a\0\nb"}});
    let event = extract("claude-code", &payload("PostToolUse", members)).unwrap();
    assert_eq!(event.used().unwrap().content.as_str(), "Read /a␀ b");
}
