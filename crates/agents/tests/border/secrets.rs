//! A secret in any member of any event is absent from the extracted event.

use serde_json::{Value, json};

use super::{claude, extract, payload};

/// A token of a known shape, in two halves so that this file holds none.
fn token() -> String {
    concat!("ghp", "_", "0123456789abcdefghijABCDEFGHIJ012345").to_owned()
}

fn assert_safe(event: &str, agent: &str, members: Value) {
    let drawn = extract(agent, &payload(event, members)).unwrap();
    let text = serde_json::to_string(&drawn).unwrap();
    assert!(!text.contains(&token()[4..]), "{event}: {text}");
    assert!(!text.contains("hunter2hunter"), "{event}: {text}");
}

/// @capture_secrets
#[test]
fn a_value_of_five_characters_that_is_given_to_the_name_of_a_secret_is_redacted() {
    let key = ["-----BEGIN ", "PRIVATE KEY-----\nMHcCAQEE\nabcdEFGH1234\n"].concat();
    let table = [
        ("TOKEN=abcde", "abcde"),
        ("api_key: abcdef", "abcdef"),
        ("apikey=abcdef", "abcdef"),
        ("PASSWORD = \"mypass word\"", "mypass"),
        (&key, "abcdEFGH"),
    ];
    for (text, secret) in table {
        let prompt = payload("UserPromptSubmit", json!({ "prompt": format!("use {text}") }));
        let drawn = serde_json::to_string(&extract("claude-code", &prompt).unwrap()).unwrap();
        assert!(drawn.contains("[redacted:") && !drawn.contains(secret), "{drawn}");
    }
    for code in ["token: String", "api_key: string | null", "token = parse(x)", "TOKEN=${TOKEN}"] {
        let prompt = payload("UserPromptSubmit", json!({ "prompt": code }));
        let drawn = serde_json::to_string(&extract("claude-code", &prompt).unwrap()).unwrap();
        assert!(drawn.contains(code), "{drawn}");
    }
}

/// @capture_secrets
#[test]
fn a_secret_in_a_member_of_the_event_is_redacted() {
    let members = [
        "session_id",
        "cwd",
        "prompt_id",
        "agent_id",
        "tool_use_id",
        "prompt",
        "source",
        "reason",
        "new_cwd",
        "tool_name",
        "error",
        "tool_response",
        "transcript_path",
    ];
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "CwdChanged",
        "SessionEnd",
        "Stop",
    ];
    for event in events {
        for member in members {
            let mut more = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
            more[member] = json!(token());
            assert_safe(event, "claude-code", more);
        }
    }
}

/// @capture_secrets
#[test]
fn a_secret_in_what_a_tool_was_given_or_said_is_redacted() {
    let url = format!("https://me:hunter2hunter@host/{}", token());
    let texts = [token(), format!("a {} b", token()), "password=hunter2hunter".to_owned(), url];
    let tools = [
        ("claude-code", "Read"),
        ("claude-code", "Write"),
        ("claude-code", "Edit"),
        ("claude-code", "MultiEdit"),
        ("claude-code", "NotebookEdit"),
        ("claude-code", "Bash"),
        ("claude-code", "Grep"),
        ("claude-code", "Glob"),
        ("claude-code", "Task"),
        ("claude-code", "WebFetch"),
        ("claude-code", "WebSearch"),
        ("claude-code", "AskUserQuestion"),
        ("claude-code", "mcp__a__b"),
        ("claude-code", "Other"),
        ("codex", "apply_patch"),
        ("codex", "shell"),
        ("gemini-cli", "run_shell_command"),
    ];
    for (agent, tool) in tools {
        for text in &texts {
            let patch = format!("*** Begin Patch\n*** Update File: {text}\n+{text}\n*** End Patch");
            let input = json!({
                "file_path": text, "notebook_path": text, "path": text, "content": text, "old_string": "x",
                "new_string": text, "new_source": text, "edits": [{"new_string": text}], "pattern": text,
                "command": if tool == "apply_patch" { &patch } else { text }, "description": text, "query": text,
                "url": text, "prompt": text, "subagent_type": text, "questions": [{"question": text}],
            });
            let response =
                json!({"stdout": text, "stderr": text, "llmContent": text, "exit_code": 1});
            let members = json!({
                "tool_name": tool, "tool_input": input, "tool_response": response, "error": text,
                "mcp_server": {"name": text},
            });
            let events: &[&str] = match agent {
                "gemini-cli" => &["BeforeTool", "AfterTool"],
                _ => &["PreToolUse", "PostToolUse", "PostToolUseFailure"],
            };
            for event in events {
                assert_safe(event, agent, members.clone());
            }
        }
    }
}

/// @capture_secret_repeated
#[test]
fn a_secret_found_once_is_redacted_in_every_text_of_the_event() {
    let value = "Tr4velLight9";
    let tools = [
        ("Bash", json!({"command": format!("sshpass -p {value} ssh host"), "description": value})),
        (
            "Bash",
            json!({"command": format!("git commit -m 'rotate {value}' && sshpass -p {value} ssh host")}),
        ),
        (
            "Edit",
            json!({"file_path": format!("/srv/{value}/.env"), "old_string": "", "new_string": format!("DB_PASS={value}")}),
        ),
        (
            "Task",
            json!({"description": format!("log in with {value} (password: {value})"), "prompt": format!("password: {value}"), "subagent_type": value}),
        ),
        (
            "WebFetch",
            json!({"url": format!("https://host/{value}?password={value}"), "prompt": format!("password={value}")}),
        ),
    ];
    for (tool, input) in tools {
        let said = format!("denied for {value}\n[main 1a2b3c4] rotate {value}\npassword={value}");
        for (event, error) in [("PostToolUse", ""), ("PostToolUseFailure", said.as_str())] {
            let members = json!({
                "tool_name": tool, "tool_input": input, "error": error,
                "tool_response": {"stdout": said}, "cwd": format!("/srv/{value}"),
            });
            let drawn = extract("claude-code", &payload(event, members)).unwrap();
            let text = serde_json::to_string(&drawn).unwrap();
            assert!(!text.contains(value), "{tool} {event}: {text}");
        }
    }
}

/// @capture_secret_repeated
#[test]
fn a_repeated_secret_that_is_cut_at_a_bound_leaves_no_part() {
    let value = "Tr4velLight9Tr4velLight9";
    for before in 460..500 {
        let command =
            format!("sshpass -p {value} ssh host {} {value} end", "x".repeat(before - 60));
        let drawn = serde_json::to_string(&claude("Bash", json!({"command": command}))).unwrap();
        assert!(!drawn.contains("Tr4v"), "{before}: {drawn}");
    }
}

/// @capture_secret_repeated
#[test]
fn short_or_common_values_do_not_redact_other_text() {
    let table = [
        ("DB_PASSWORD=production ./deploy", "Error: no production database"),
        ("DB_PASSWORD=abcde ./deploy", "Error: abcde is no host"),
        ("PGPASSWORD=postgres psql", "psql: role postgres does not exist"),
    ];
    for (command, error) in table {
        let members =
            json!({"tool_name": "Bash", "tool_input": {"command": command}, "error": error});
        let tool = super::tool_of(
            extract("claude-code", &payload("PostToolUseFailure", members)).unwrap(),
        );
        assert_eq!(tool.metadata["error"], error);
        assert!(tool.content.contains("[redacted:password]"), "{tool:?}");
    }
}

/// @capture_secret_repeated
#[test]
fn a_word_or_a_number_found_once_is_redacted_in_every_text_of_the_event() {
    for value in ["swordfishes", "correcthorse", "kestrel-nine", "Tigger", "48213377"] {
        let command = format!("DB_PASS={value} ./run.sh");
        let members = json!({
            "tool_name": "Bash", "tool_input": {"command": command, "description": format!("try {value}")},
            "error": format!("Exit code 1\naccess denied, tried {value}."),
        });
        let drawn = extract("claude-code", &payload("PostToolUseFailure", members)).unwrap();
        let text = serde_json::to_string(&drawn).unwrap();
        assert!(!text.contains(value), "{text}");
    }
}

/// @capture_secret_repeated
#[test]
fn the_digest_of_a_written_file_is_that_of_the_file() {
    let value = "Tr4velLight9";
    let content = format!("DB_PASS={value}");
    let plain = claude("Write", json!({"file_path": "/srv/.env", "content": content}));
    let path = format!("/srv/password={value}/.env");
    let secret = claude("Write", json!({"file_path": path, "content": content}));
    assert_eq!(secret.metadata["hash"], plain.metadata["hash"]);
    assert_eq!(secret.metadata["bytes"], plain.metadata["bytes"]);
    assert!(!serde_json::to_string(&secret).unwrap().contains(value));
}

/// @capture_secrets
#[test]
fn a_redacted_record_names_the_rules() {
    let members = json!({
        "tool_name": "Bash", "tool_input": {"command": format!("sshpass -p Tr4velLight9 ssh {}", token())},
        "error": "Tr4velLight9 was refused, password=q9Zt3k",
    });
    let tool =
        super::tool_of(extract("claude-code", &payload("PostToolUseFailure", members)).unwrap());
    assert_eq!(tool.metadata["redacted"], json!(["command-secret", "github-token", "password"]));
    assert_eq!(claude("Bash", json!({"command": "ls"})).metadata.get("redacted"), None);
}

/// @capture_secrets
#[test]
fn a_secret_in_what_git_said_is_redacted() {
    let output = format!(
        "[{0} 1a2b3c4] {0}\n create mode 100644 {0}\nTo https://{0}@h/{0}\n   a1..b2  {0} -> {0}\n",
        token()
    );
    for command in ["git commit", "git push"] {
        let members = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": output});
        assert_safe("PostToolUse", "claude-code", members);
    }
}

/// @capture_secret_across_a_bound
#[test]
fn a_secret_across_a_bound_is_redacted_whole() {
    let secret = token();
    for bound in [120, 200, 500, 2_000, 4_000] {
        for before in bound - secret.len()..bound {
            let text = format!("{} {secret} end", "x".repeat(before));
            let input = json!({"command": text, "description": text, "file_path": "/a", "new_string": text});
            for tool in ["Bash", "Task", "Edit"] {
                let drawn = serde_json::to_string(&claude(tool, input.clone())).unwrap();
                assert!(!drawn.contains(concat!("ghp", "_")), "{tool} {bound} {before}");
            }
            let members = json!({"prompt": text});
            let drawn = extract("claude-code", &payload("UserPromptSubmit", members)).unwrap();
            assert!(!serde_json::to_string(&drawn).unwrap().contains(concat!("ghp", "_")));
        }
    }
}

/// @capture_secrets
#[test]
fn a_line_of_a_private_key_is_not_shown_as_the_line_that_changed() {
    let body = "MIIEpAIBAAKCAQEA7bq3Zt3kX7mB2vLp8RwN4cYd6HgQ1sT5";
    let key = format!("-----BEGIN RSA {0}-----\n{body}\n-----END RSA {0}-----", "PRIVATE KEY");
    let old = key.lines().next().unwrap().to_owned();
    let tool = claude("Edit", json!({"file_path": "/a", "old_string": old, "new_string": key}));
    assert!(!tool.content.contains("MIIE"), "{}", *tool.content);
}

/// @capture_no_false_alarm
#[test]
fn ids_digests_and_paths_survive() {
    let session = "550e8400-e29b-41d4-a716-446655440000";
    let path = "/home/user/project/src/components/VeryLongComponentNameForTesting.tsx";
    let hash = "0123456789abcdef0123456789abcdef01234567";
    let members = json!({
        "session_id": session, "tool_use_id": "toolu_01A09q90qw90lq917835lq9", "tool_name": "Bash",
        "prompt_id": "ses_4f8aB2cD9eF0gH1iJ2kL3mN4oP", "tool_input": {"command": format!("git commit -m x {path}")},
        "tool_response": {"stdout": format!("[main {hash}] x\n create mode 100644 {path}\n")},
    });
    let event = extract("claude-code", &payload("PostToolUse", members)).unwrap();
    assert_eq!(event.session, session);
    assert_eq!(event.tool_use_id.as_deref(), Some("toolu_01A09q90qw90lq917835lq9"));
    assert_eq!(event.prompt_id.as_deref(), Some("ses_4f8aB2cD9eF0gH1iJ2kL3mN4oP"));
    let tool = event.used().unwrap();
    assert_eq!(
        (&tool.metadata["commit_hash"], &tool.metadata["new_files"]),
        (&json!(hash), &json!([path]))
    );
    assert!(tool.content.ends_with(path));
    let written = claude("Write", json!({"file_path": path, "content": "x"}));
    assert_eq!(written.file_path.unwrap().as_str(), path);
    assert_eq!(written.metadata["hash"].as_str().unwrap().len(), 16);
}
