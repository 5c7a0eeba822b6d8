//! The stored observation of each kind of tool, with every agent's name for it.

use model::hook::Happening;
use model::observation::ObsType;
use serde_json::{Value, json};

use super::{claude, extract, payload, shorten, tool_of, used};

/// Type, content and path below the project.
fn row(agent: &str, event: &str, tool: &str, input: Value) -> (&'static str, String, String) {
    let tool = used(agent, event, tool, input, Value::Null);
    let path = tool.file_path.map(|path| path.replace("/home/user/project/", "P/"));
    (tool.obs_type.word(), tool.content.into_inner(), path.unwrap_or_default())
}

/// @capture_tools
#[test]
fn each_tool_of_claude_code_has_its_type_content_and_path() {
    let file = "/home/user/project/src/a.rs";
    let edit = json!({"file_path": file, "old_string": "a\nb", "new_string": "a\n  c"});
    let edits = json!({"file_path": file, "edits": [
        {"old_string": "x", "new_string": "y"}, {"old_string": "1", "new_string": "2"},
    ]});
    let cell = json!({"notebook_path": "/home/user/n.ipynb", "new_source": "import a"});
    let ask = json!({"questions": [{"question": "Which one?", "header": "h"}, {"question": "?"}]});
    let table = [
        ("Read", json!({"file_path": file}), ("file_read", "Read src/a.rs", "P/src/a.rs")),
        ("Write", json!({"file_path": "/etc/x"}), ("file_write", "Write /etc/x", "/etc/x")),
        ("Edit", edit, ("file_edit", "Edit src/a.rs: c", "P/src/a.rs")),
        ("MultiEdit", edits, ("file_edit", "Edit src/a.rs: y", "P/src/a.rs")),
        (
            "NotebookEdit",
            cell,
            ("file_edit", "Edit /home/user/n.ipynb: import a", "/home/user/n.ipynb"),
        ),
        (
            "Grep",
            json!({"pattern": "fn main", "path": "src"}),
            ("search", "fn main in src", "P/src"),
        ),
        (
            "Grep",
            json!({"pattern": "fn main", "path": "./src//api/./"}),
            ("search", "fn main in ./src//api/./", "P/src/api"),
        ),
        ("Read", json!({"file_path": "/"}), ("file_read", "Read /", "/")),
        ("Grep", json!({"pattern": "fn main"}), ("search", "fn main", "")),
        ("Glob", json!({"pattern": "**/*.rs", "path": "/x"}), ("search", "**/*.rs", "/x")),
        ("Task", json!({"description": "Look", "prompt": "p"}), ("task_spawn", "Look", "")),
        ("Agent", json!({"prompt": "only\nthis"}), ("task_spawn", "only this", "")),
        ("Task", json!({"description": "", "prompt": "that"}), ("task_spawn", "that", "")),
        (
            "WebFetch",
            json!({"url": "https://a.b/c", "prompt": "p"}),
            ("web_fetch", "https://a.b/c", ""),
        ),
        ("WebSearch", json!({"query": "rust"}), ("web_search", "rust", "")),
        ("AskUserQuestion", ask, ("tool_other", "Which one?", "")),
        ("TodoWrite", json!({"todos": []}), ("tool_other", "TodoWrite", "")),
        ("mcp__db__query", json!({"sql": "x"}), ("mcp_call", "mcp__db__query", "")),
        ("Bash", json!({"command": "ls"}), ("command", "ls", "")),
        ("Bash", json!({"command": "gh pr view"}), ("github", "gh pr view", "")),
        (
            "Bash",
            json!({"command": "git commit -m x && git push"}),
            ("git_commit", "git commit -m x && git push", ""),
        ),
        ("Bash", json!({"command": "gh x; git commit"}), ("git_commit", "gh x; git commit", "")),
        ("Bash", json!({}), ("command", "Bash", "")),
        ("Read", json!({"file_path": 5}), ("file_read", "Read", "")),
    ];
    for (tool, input, (obs_type, content, path)) in table {
        let expected = (obs_type, content.to_owned(), path.to_owned());
        assert_eq!(row("claude-code", "PostToolUse", tool, input), expected, "{tool}");
    }
}

/// @capture_private
#[test]
fn private_parts_are_dropped_from_commands_tasks_and_edits() {
    let task = json!({"prompt": "Look <private>hunter2</private>up"});
    let edit =
        json!({"file_path": "/a", "old_string": "a", "new_string": "b <private>c</private>"});
    for (tool, input, content) in [
        ("Bash", json!({"command": "echo <private>x</PRIVATE> y"}), "echo  y"),
        (
            "Bash",
            json!({"command": "grep '<private>' a </dev/null"}),
            "grep '<private>' a </dev/null",
        ),
        ("Task", task, "Look up"),
        ("Edit", edit, "Edit /a: b"),
    ] {
        assert_eq!(row("claude-code", "PostToolUse", tool, input).1, content);
    }
}

/// @capture_other_agents
#[test]
fn the_tools_of_gemini_and_codex_are_the_same_things_by_other_names() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new line\n*** Add File: b.rs\n+x\n*** End Patch";
    let heredoc = format!("apply_patch <<'EOF'\n{patch}\nEOF");
    let gone = "*** Begin Patch\n*** Delete File: a.rs\n*** End Patch";
    let replace = json!({"file_path": "src/a.rs", "old_string": "a", "new_string": "b"});
    let shell = json!({"command": ["bash", "-lc", "git push"]});
    let words = json!({"command": ["git", "commit", "-m", "a b"]});
    let table = [
        (
            "gemini-cli",
            "read_file",
            json!({"absolute_path": "/x/y"}),
            ("file_read", "Read /x/y", "/x/y"),
        ),
        (
            "gemini-cli",
            "read_many_files",
            json!({"include": ["a.md", "b"]}),
            ("file_read", "Read a.md", "P/a.md"),
        ),
        (
            "gemini-cli",
            "write_file",
            json!({"file_path": "./a"}),
            ("file_write", "Write ./a", "P/a"),
        ),
        ("gemini-cli", "replace", replace, ("file_edit", "Edit src/a.rs: b", "P/src/a.rs")),
        ("gemini-cli", "run_shell_command", json!({"command": "ls"}), ("command", "ls", "")),
        (
            "gemini-cli",
            "search_file_content",
            json!({"pattern": "x", "include": "*.rs"}),
            ("search", "x", ""),
        ),
        ("gemini-cli", "google_web_search", json!({"query": "q"}), ("web_search", "q", "")),
        (
            "gemini-cli",
            "web_fetch",
            json!({"prompt": "read https://a.b"}),
            ("web_fetch", "read https://a.b", ""),
        ),
        ("gemini-cli", "mcp_db_query", json!({}), ("mcp_call", "mcp_db_query", "")),
        ("gemini-cli", "save_memory", json!({"fact": "x"}), ("tool_other", "save_memory", "")),
        ("codex", "shell", shell, ("git_push", "git push", "")),
        ("codex", "shell", words, ("git_commit", "git commit -m 'a b'", "")),
        ("codex", "exec_command", json!({"cmd": "ls"}), ("command", "ls", "")),
        (
            "codex",
            "apply_patch",
            json!({"command": patch}),
            ("file_edit", "Edit src/a.rs and 1 more: new line ⏎ x", "P/src/a.rs"),
        ),
        (
            "codex",
            "Bash",
            json!({"command": heredoc}),
            ("file_edit", "Edit src/a.rs and 1 more: new line ⏎ x", "P/src/a.rs"),
        ),
        ("codex", "apply_patch", json!({"input": gone}), ("file_edit", "Edit a.rs", "P/a.rs")),
        ("codex", "apply_patch", json!({}), ("file_edit", "apply_patch", "")),
    ];
    for (agent, tool, input, (obs_type, content, path)) in table {
        let event = if agent == "codex" { "PostToolUse" } else { "AfterTool" };
        let expected = (obs_type, content.to_owned(), path.to_owned());
        assert_eq!(row(agent, event, tool, input), expected, "{agent} {tool}");
    }
    let patched =
        used("codex", "PostToolUse", "apply_patch", json!({"command": patch}), Value::Null);
    let files = json!(["/home/user/project/src/a.rs", "/home/user/project/b.rs"]);
    assert_eq!(patched.metadata["files"], files);
}

/// @capture_no_content
#[test]
fn written_file_content_is_hashed_and_not_stored() {
    let write = |content: &str| claude("Write", json!({"file_path": "/a", "content": content}));
    let tool = write("line one\nline two\n");
    assert_eq!(*tool.metadata, json!({"bytes": 18, "hash": "e9024f1a07d29d52"}));
    assert_ne!(write("other").metadata["hash"], tool.metadata["hash"]);
    assert!(!serde_json::to_string(&tool).unwrap().contains("line two"));
}

/// @capture_shortened
#[test]
fn a_long_text_that_was_shortened_is_taken_for_what_it_was() {
    let content = "x = 1\n".repeat(20_000);
    // An unused member makes the event large enough to be shortened.
    let filler = "y".repeat(1024 * 1024);
    let long = payload(
        "PostToolUse",
        json!({"x": filler, "tool_name": "Write", "tool_input": {"file_path": "/a", "content": content}}),
    );
    let whole = tool_of(extract("claude-code", &long).unwrap());
    let shortened = shorten(&long);
    assert_eq!(shortened["tool_input"]["content"]["bytes"], 120_000);
    assert_eq!(tool_of(extract("claude-code", &shortened).unwrap()), whole);
    let command = payload(
        "PostToolUse",
        json!({"x": filler, "tool_name": "Bash", "tool_input": {"command": format!("git push {content}")}}),
    );
    let whole = tool_of(extract("claude-code", &command).unwrap());
    let shortened = tool_of(extract("claude-code", &shorten(&command)).unwrap());
    assert_eq!((shortened.obs_type, &shortened.content), (ObsType::GitPush, &whole.content));
}

/// @capture_failure
#[test]
fn a_command_that_failed_tells_its_exit_code_and_its_error() {
    let failed = |error: &str| {
        let members = json!({
            "tool_name": "Bash", "tool_input": {"command": "cargo test"}, "error": error, "is_interrupt": true,
        });
        tool_of(extract("claude-code", &payload("PostToolUseFailure", members)).unwrap())
    };
    let tool = failed("Exit code 101\ntest a ... FAILED");
    assert_eq!((tool.obs_type, tool.failed), (ObsType::CommandError, true));
    assert_eq!(
        *tool.metadata,
        json!({
            "kind": "test", "program": "cargo", "subcommand": "test", "command": "cargo test",
            "exit_code": 101, "failed": true, "is_interrupt": true, "error": "Exit code 101\ntest a ... FAILED",
            "run": {"result": "unknown", "own_exit": true},
        })
    );
    let long = failed(&format!("Exit code 1\n{}\nthe last line", "much\n".repeat(5_000)));
    let error = long.metadata["error"].as_str().unwrap();
    assert_eq!(error.chars().count(), 2_000);
    assert!(error.starts_with("Exit code 1\nmuch") && error.ends_with("the last line"));
}

/// @briefing_uncommitted
#[test]
fn a_command_that_takes_edits_back_names_their_paths() {
    let of = |line: &str, output: &str| {
        let input = json!({ "command": line });
        let metadata = used("codex", "PostToolUse", "Bash", input, json!(output)).metadata;
        let member = |name: &str| metadata.get(name).cloned().unwrap_or_default();
        (member("discarded"), member("stashed"))
    };
    for (line, paths) in [
        ("git checkout tests/a.py", json!(["/home/user/project/tests/a.py"])),
        ("cd tests && git restore a.py", json!(["/home/user/project/tests/a.py"])),
        ("git restore .", json!(["/home/user/project"])),
        ("git reset --hard", json!(["*"])),
        ("git checkout main", Value::Null),
        ("git checkout a.py; pytest", Value::Null),
        ("git stash && pytest && git stash pop", Value::Null),
    ] {
        assert_eq!(of(line, "").0, paths, "{line}");
    }
    assert_eq!(of("git stash", "Saved working directory"), (json!(["*"]), json!(true)));
    let failed = "error: pathspec 'a.py' did not match any file(s) known to git";
    assert_eq!(of("git checkout a.py", failed).0, Value::Null);
}

/// @capture_failure_forms
#[test]
fn a_failure_is_seen_however_the_agent_tells_it() {
    let shell = json!({"command": "false"});
    let codex =
        used("codex", "PostToolUse", "Bash", shell.clone(), json!("Exit code: 1\nOutput:\nno\n"));
    let output = "Command: false\nOutput: (empty)\nExit Code: 3\nProcess Group PGID: 1";
    let gemini = used(
        "gemini-cli",
        "AfterTool",
        "run_shell_command",
        shell.clone(),
        json!({"llmContent": output}),
    );
    let object = used(
        "codex",
        "PostToolUse",
        "Bash",
        shell.clone(),
        json!({"output": "no", "exit_code": 4}),
    );
    for (tool, code) in [(codex, 1), (gemini, 3), (object, 4)] {
        assert_eq!(
            (tool.obs_type, &tool.metadata["exit_code"]),
            (ObsType::CommandError, &json!(code))
        );
    }
    // Claude Code reports a failure as another event, so an exit code that a command prints is ignored.
    let printed =
        used("claude-code", "PostToolUse", "Bash", shell, json!({"stdout": "Exit code 1"}));
    assert_eq!((printed.obs_type, printed.failed), (ObsType::Command, false));
    let answer = json!({"content": [{"type": "text", "text": "no such table"}], "isError": true});
    let mcp = used("codex", "PostToolUse", "mcp__db__query", json!({}), answer);
    assert_eq!((mcp.obs_type, mcp.failed), (ObsType::McpCall, true));
    assert_eq!(mcp.metadata["error"], "no such table");
    let error = json!({"llmContent": "x", "error": {"message": "File not found", "type": "file_not_found"}});
    let read = used("gemini-cli", "AfterTool", "read_file", json!({"file_path": "/x"}), error);
    assert_eq!((read.obs_type, read.failed), (ObsType::FileRead, true));
    assert_eq!(read.metadata["error"], "File not found\nx");
}

/// @capture_commit
#[test]
fn commits_and_pushes_carry_what_git_said_wherever_it_stands() {
    let output = "[main 1a2b3c4] fix it\n 1 file changed, 2 insertions(+)\n";
    let commit = json!({"command": "git commit -am 'fix it'"});
    for response in [
        json!({"stdout": output, "stderr": ""}),
        json!(output),
        json!({"stdout": "", "stderr": output}),
    ] {
        let tool = used("claude-code", "PostToolUse", "Bash", commit.clone(), response);
        assert_eq!(
            *tool.metadata,
            json!({
                "branch": "main", "commit_hash": "1a2b3c4", "commit_message": "fix it",
                "files_changed": 1, "insertions": 2,
            })
        );
    }
    let pushed = json!({"stdout": "", "stderr": "To https://me:pass1@host/r.git\n   a1b2c3d..e4f5a6b  main -> main\n"});
    let tool = used("claude-code", "PostToolUse", "Bash", json!({"command": "git push"}), pushed);
    let told = json!({"remote_url": "https://host/r.git", "hash_range": "a1b2c3d..e4f5a6b", "branch": "main"});
    assert_eq!(*tool.metadata, told);
    let failed = json!({"stdout": output, "exit_code": 1});
    let tool = used("claude-code", "PostToolUse", "Bash", commit, failed);
    assert_eq!((tool.obs_type, tool.metadata.get("branch")), (ObsType::CommandError, None));
}

/// @own_tools_are_not_recorded
#[test]
fn a_command_line_that_only_shows_or_deletes_our_records_is_not_recorded() {
    for (line, is_recorded) in [
        ("rekindle search why did the export fail", false),
        ("cd /srv/shop && rekindle recent --limit 5 2>&1 | head -20", false),
        ("rekindle purge --search 'blue whale'", false),
        ("rekindle scrub --yes", false),
        ("rekindle purge --search 'blue whale' && make export", true),
        ("rekindle search export && make export", true),
        ("rekindle mark 'amounts are cents'", true),
        ("grep -rn rekindle docs", true),
    ] {
        let members = json!({"tool_name": "Bash", "tool_input": {"command": line},
            "tool_response": {"stdout": "#7 export", "stderr": ""}});
        let event = extract("claude-code", &payload("PostToolUse", members)).unwrap();
        assert_eq!(matches!(event.what, Happening::ToolUsed(_)), is_recorded, "{line}");
    }
}
