//! `rekindle import` with the transcripts of agents other than Claude Code.

use serde_json::{Value, json};
use testkit::Home;

use super::home;
use super::import::some_days_ago;

/// A home with a project in it.
fn workshop() -> (Home, String) {
    let home = home();
    let shop = home.path("shop");
    std::fs::create_dir_all(shop.join(".git")).unwrap();
    std::fs::write(shop.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    (home, shop.to_string_lossy().into_owned())
}

fn import(home: &Home, source: &str) -> Value {
    let run = home.run(&["import", source, "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    run.json()
}

/// The counts of prompts, answers, actions, failures and known records.
fn counts(imported: &Value) -> [u64; 5] {
    ["prompts", "answers", "actions", "failures", "known"]
        .map(|name| imported["counts"][name].as_u64().unwrap())
}

fn codex_line(kind: &str, payload: &Value) -> String {
    let at = model::time::rfc3339(some_days_ago());
    let line = json!({ "timestamp": at, "type": kind, "payload": payload });
    format!("{line}\n")
}

fn codex_turn(turn: &str, prompt: &str) -> String {
    let call = format!("call_{turn}");
    let arguments = json!({ "cmd": "pytest tests" }).to_string();
    [
        codex_line("event_msg", &json!({ "type": "task_started", "turn_id": turn })),
        codex_line("event_msg", &json!({ "type": "user_message", "message": prompt })),
        codex_line(
            "response_item",
            &json!({ "type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call }),
        ),
        codex_line(
            "response_item",
            &json!({ "type": "function_call_output", "call_id": call,
                     "output": "Exit code: 1\nWall time: 0.1 seconds\nOutput:\n1 failed" }),
        ),
        codex_line(
            "event_msg",
            &json!({ "type": "task_complete", "turn_id": turn, "last_agent_message": format!("{prompt}: the okapi") }),
        ),
    ]
    .concat()
}

/// @import_codex
#[test]
fn rollouts_of_codex_become_records() {
    let (home, shop) = workshop();
    let meta = codex_line("session_meta", &json!({ "id": "th-1", "cwd": shop, "source": "cli" }));
    let name = ".codex/sessions/2026/10/05/rollout-2026-10-05T09-00-00-th-1.jsonl";
    home.write(name, &(meta.clone() + &codex_turn("t-1", "where is the zebra?")));
    assert_eq!(counts(&import(&home, "codex")), [1, 1, 1, 1, 0]);
    // Hooks report the turn, too.
    home.hook(
        "UserPromptSubmit",
        &json!({ "session_id": "th-1", "turn_id": "t-2", "cwd": shop, "hook_event_name": "UserPromptSubmit",
                 "prompt": "where is the gnu?" }),
    );
    let both = codex_turn("t-1", "where is the zebra?") + &codex_turn("t-2", "where is the gnu?");
    home.write(name, &(meta + &both));
    assert_eq!(counts(&import(&home, "codex"))[..4], [0, 1, 1, 1]);
    // An archived copy adds nothing.
    let text = std::fs::read_to_string(home.path(name)).unwrap();
    home.write(".codex/archived_sessions/rollout-2026-10-05T09-00-00-th-1.jsonl", &text);
    assert_eq!(counts(&import(&home, "codex")), [0, 0, 0, 0, 6]);
}

/// @import_undo
#[test]
fn an_import_names_all_its_sources() {
    let (home, shop) = workshop();
    let meta = codex_line("session_meta", &json!({ "id": "th-1", "cwd": shop, "source": "cli" }));
    let name = ".codex/sessions/2026/10/05/rollout-2026-10-05T09-00-00-th-1.jsonl";
    home.write(name, &(meta + &codex_turn("t-1", "where is the zebra?")));
    let prompt = json!({ "type": "user", "uuid": "u-1", "sessionId": "s-1", "cwd": shop,
        "timestamp": model::time::rfc3339(some_days_ago()),
        "message": { "role": "user", "content": "where is the okapi?" } });
    home.write(".claude/projects/shop/s-1.jsonl", &format!("{prompt}\n"));
    home.run(&["import", "--yes"]).ok();
    let listed = home.run(&["import", "--list", "--json"]).json();
    assert_eq!(listed["imports"][0]["source"], "claude-code, codex", "{listed}");
}

/// Text as a Zstandard frame of raw blocks.
fn compressed(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    assert!(bytes.len() < 100_000, "one block");
    let size = u32::try_from(bytes.len()).unwrap();
    let block = (size << 3 | 1).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0xa0][..], &size.to_le_bytes(), &block[..3], bytes].concat()
}

/// @import_codex
#[test]
fn a_compressed_rollout_is_read_and_a_damaged_one_is_named() {
    let (home, shop) = workshop();
    let meta = codex_line("session_meta", &json!({ "id": "th-1", "cwd": shop, "source": "cli" }));
    let text = meta + &codex_turn("t-1", "where is the zebra?");
    let name = ".codex/sessions/2026/10/05/rollout-2026-10-05T09-00-00-th-1.jsonl";
    let packed = home.write(&format!("{name}.zst"), "");
    std::fs::write(&packed, compressed(&text)).unwrap();
    assert_eq!(counts(&import(&home, "codex")), [1, 1, 1, 1, 0]);
    // Codex unpacks it when the session is resumed.
    std::fs::remove_file(&packed).unwrap();
    home.write(name, &text);
    assert_eq!(counts(&import(&home, "codex")), [0, 0, 0, 0, 3]);
    let cut =
        home.write(".codex/sessions/2026/10/06/rollout-2026-10-06T09-00-00-th-2.jsonl.zst", "");
    std::fs::write(&cut, &compressed(&text)[..40]).unwrap();
    let imported = import(&home, "codex");
    assert_eq!(imported["problems"][0]["file"], cut.to_string_lossy().into_owned(), "{imported}");
}

/// @import_gemini_cli
#[test]
fn sessions_of_gemini_cli_become_records_in_both_forms() {
    let (home, shop) = workshop();
    let at = model::time::rfc3339(some_days_ago());
    let failed = json!({ "functionResponse": { "response": { "output": "Output: 1 failed\nExit Code: 1" } } });
    let messages = [
        json!({ "id": "m-1", "timestamp": at, "type": "user", "content": "where is the zebra?" }),
        json!({ "id": "m-2", "timestamp": at, "type": "gemini", "content": "",
                "toolCalls": [{ "id": "run-1", "name": "run_shell_command", "args": { "command": "pytest tests" },
                                "status": "success", "timestamp": at, "result": [failed] }] }),
        json!({ "id": "m-3", "timestamp": at, "type": "gemini", "content": "In the okapi house." }),
    ];
    let mut session =
        json!({ "sessionId": "g-1", "projectHash": "ab", "startTime": at, "lastUpdated": at });
    let lines: Vec<String> =
        std::iter::once(&session).chain(&messages).map(Value::to_string).collect();
    session["messages"] = json!(messages);
    home.write(".gemini/tmp/shop/.project_root", &shop);
    let whole = serde_json::to_string_pretty(&session).unwrap();
    home.write(".gemini/tmp/shop/chats/session-2026-10-05T09-00-g1.json", &whole);
    let imported = import(&home, "gemini-cli");
    assert_eq!(counts(&imported), [1, 1, 1, 1, 0], "{imported}");
    assert_eq!(imported["projects"][0]["project"], "shop");
    // A resumed session is written again as lines, and both files stay.
    home.write(
        ".gemini/tmp/shop/chats/session-2026-10-05T09-00-g1.jsonl",
        &(lines.join("\n") + "\n"),
    );
    assert_eq!(counts(&import(&home, "gemini-cli")), [0, 0, 0, 0, 3]);
}

/// @import_codex
#[test]
fn each_answer_of_a_subagent_of_codex_is_imported() {
    let (home, shop) = workshop();
    let parent = "019a0001-0000-7000-8000-00000000000a";
    let meta = |id: &str, source: Value| {
        codex_line(
            "session_meta",
            &json!({ "id": id, "cwd": shop, "source": source, "originator": "codex_cli_rs" }),
        )
    };
    let folder = ".codex/sessions/2026/10/05";
    let own = meta(parent, json!("cli")) + &codex_turn("u-0", "where is the zebra?");
    home.write(&format!("{folder}/rollout-2026-10-05T09-00-00-{parent}.jsonl"), &own);
    let child = "019a0002-0000-7000-8000-00000000000b";
    let spawned = json!({ "subagent": { "thread_spawn": { "parent_thread_id": parent } } });
    let text = [
        meta(child, spawned),
        own,
        codex_turn("u-1", "search the ibex"),
        codex_turn("u-2", "search the gnu"),
    ]
    .concat();
    let file = home.write(&format!("{folder}/rollout-2026-10-05T09-01-00-{child}.jsonl"), &text);
    let imported = import(&home, "codex");
    assert_eq!(counts(&imported), [1, 3, 3, 3, 2], "{imported}");
    std::fs::write(&file, text + &codex_turn("u-3", "search the tapir")).unwrap();
    let grown = import(&home, "codex");
    assert_eq!(counts(&grown)[..3], [0, 1, 1], "{grown}");
}
