//! A transcript that is imported while it grows leaves the same records as one that is imported at its end.

use std::path::Path;

use serde_json::{Value, json};

use super::import::{Desk, desk, some_days_ago};
use super::sqlite;

/// The records of a database, without the numbers and the origins that a reading gives them.
fn records(desk: &Desk, db: &str) -> Vec<String> {
    let exported = desk.home.run(&["--db", db, "export"]);
    assert_eq!(exported.code, 0, "{exported:?}");
    let mut records: Vec<String> = exported
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|one| one["type"] == "prompt" || one["type"] == "observation")
        .map(|mut one| {
            for name in ["id", "prompt", "origins"] {
                one.as_object_mut().unwrap().remove(name);
            }
            one.to_string()
        })
        .collect();
    records.sort();
    records
}

fn import(desk: &Desk, db: &str, file: &Path) {
    let run = desk.home.run(&["--db", db, "import", &file.to_string_lossy(), "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// Imports the first lines of a text, then all of it, for each number of lines, and compares with an import of all.
#[track_caller]
fn same_at_every_cut(desk: &Desk, file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let db = |name: &str| desk.home.path(name).to_string_lossy().into_owned();
    std::fs::write(file, text).unwrap();
    import(desk, &db("whole.db"), file);
    let whole = records(desk, &db("whole.db"));
    assert!(whole.len() > 2, "{whole:?}");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for cut in 1..lines.len() {
        let db = db(&format!("cut-{cut}.db"));
        std::fs::write(file, lines[..cut].concat()).unwrap();
        // The first line alone may be no transcript of a known agent yet.
        desk.home.run(&["--db", &db, "import", &file.to_string_lossy()]);
        std::fs::write(file, text).unwrap();
        import(desk, &db, file);
        assert_eq!(records(desk, &db), whole, "cut after line {cut}: {}", lines[cut - 1]);
    }
}

/// Words of the agent before a call: nothing says whether its turn goes on.
fn interim(desk: &Desk, id: &str, text: &str) -> String {
    let message =
        json!({ "id": id, "role": "assistant", "content": [{ "type": "text", "text": text }] });
    desk.line("assistant", &format!("a-{id}"), &json!({ "message": message }))
}

/// @import_steps
#[test]
fn a_session_of_claude_code_may_be_imported_at_any_line() {
    let desk = desk();
    let command = json!({ "command": "make deploy-staging" });
    let own = "<command-name>/model</command-name><command-args>opus</command-args>";
    let text = [
        desk.prompt("p-1", "deploy the zebra shop"),
        interim(&desk, "m-1", "I will deploy it now."),
        desk.call("toolu_1", "Bash", command.clone()),
        desk.result("toolu_1", json!({ "stdout": "deployed", "stderr": "" })),
        interim(&desk, "m-2", "Staging runs the new version."),
        desk.prompt("p-2", own),
        desk.prompt("p-3", "<local-command-stdout>Set the model</local-command-stdout>"),
        desk.prompt("p-4", "and the okapi?"),
        interim(&desk, "m-3", "I look at the okapi."),
        desk.call("toolu_2", "Bash", command),
        desk.prompt("p-5", "[Request interrupted by user]"),
        desk.failure("toolu_2", "Exit code 1\nno okapi"),
        desk.prompt("p-6", "then stop"),
        interim(&desk, "m-4", "Stopped."),
    ]
    .concat();
    let file = desk.home.path(".claude/projects/-shop/s-import.jsonl");
    same_at_every_cut(&desk, &file, &text);
}

/// @import_steps
#[test]
fn a_rollout_of_codex_may_be_imported_at_any_line() {
    let desk = desk();
    let at = model::time::rfc3339(some_days_ago());
    let line = |kind: &str, payload: Value| {
        format!("{}\n", json!({ "timestamp": at, "type": kind, "payload": payload }))
    };
    let call = |id: &str| {
        let arguments = json!({ "cmd": "cargo test" }).to_string();
        line(
            "response_item",
            json!({ "type": "function_call", "name": "exec_command", "call_id": id, "arguments": arguments }),
        )
    };
    let output = |id: &str| {
        line(
            "response_item",
            json!({ "type": "function_call_output", "call_id": id, "output": "12 passed" }),
        )
    };
    let event = |kind: &str, name: &str, value: &str| {
        line("event_msg", json!({ "type": kind, name: value }))
    };
    let text = [
        line("session_meta", json!({ "id": "th-1", "cwd": desk.shop, "originator": "codex_cli_rs", "cli_version": "0.120.0" })),
        event("task_started", "turn_id", "t-1"),
        event("user_message", "message", "test the zebra"),
        event("agent_message", "message", "I run the tests."),
        call("call_1"),
        output("call_1"),
        event("agent_message", "message", "The tests pass."),
        event("task_complete", "last_agent_message", "The tests pass."),
        event("task_started", "turn_id", "t-2"),
        event("user_message", "message", "and the gnu?"),
        event("agent_message", "message", "I look at the gnu."),
        call("call_2"),
        output("call_2"),
        event("agent_message", "message", "The gnu is fine, too."),
    ]
    .concat();
    let file = desk.home.path(".codex/sessions/2026/10/05/rollout-2026-10-05T09-00-00-th-1.jsonl");
    same_at_every_cut(&desk, &file, &text);
}

/// @import_steps
#[test]
fn a_history_of_aider_may_be_imported_at_any_line() {
    let desk = desk();
    let local = |at: i64| -> String {
        model::time::rfc3339(at)
            .replace('T', " ")
            .chars()
            .take("2026-11-15 10:00:00".len())
            .collect()
    };
    let (when, later) = (local(some_days_ago()), local(some_days_ago() + 3_600_000));
    let text = format!(
        "# aider chat started at {when}\n\n#### rename the zebra\n#### in all files\n\
         I rename it.\n\nIn two files.\n> Applied edit to zebra.py\n> Commit 1a2b3c4 rename the zebra\n\n\
         #### and the gnu?\nThere is none.\n# aider chat started at {later}\n#### and the okapi?\nIt sleeps.\n"
    );
    same_at_every_cut(&desk, &desk.home.path("shop/.aider.chat.history.md"), &text);
}

/// @import_steps
#[test]
fn a_call_that_waits_for_an_hour_is_not_lost() {
    let desk = desk();
    let ago = |line: String, minutes: i64| {
        let mut line: Value = serde_json::from_str(&line).unwrap();
        let at = client::clock::now_ms() - minutes * 60_000;
        line["timestamp"] = model::time::rfc3339(at).into();
        format!("{line}\n")
    };
    let mut text = [
        ago(desk.prompt("p-1", "deploy the zebra shop"), 62),
        ago(interim(&desk, "m-1", "I will deploy it now."), 61),
        ago(desk.call("toolu_1", "Bash", json!({ "command": "make deploy-staging" })), 61),
    ]
    .concat();
    desk.write("s-import.jsonl", &text);
    let first = desk.import(&[]);
    assert_eq!(first["added"], 1, "an open call is no answer: {first}");
    text += &ago(desk.result("toolu_1", json!({ "stdout": "deployed", "stderr": "" })), 1);
    text += &ago(desk.says("Staging runs the new okapi."), 1);
    desk.write("s-import.jsonl", &text);
    let second = desk.import(&[]);
    let count = |name: &str| second["counts"][name].as_u64();
    assert_eq!((count("actions"), count("answers")), (Some(1), Some(1)), "{second}");
    let sessions = desk.home.run(&["sessions", "--project", "*", "--json"]).json();
    assert_eq!(sessions["sessions"][0]["state"], "idle", "it goes on: {sessions}");
}

/// A session that reads the same file in three turns.
fn three_reads(desk: &Desk) -> Vec<String> {
    let file = format!("{}/same.txt", desk.shop);
    (1..=3)
        .map(|turn| {
            let id = format!("toolu_{turn}");
            let response = json!({ "type": "text", "file": { "filePath": file, "content": "x", "numLines": 1 } });
            [
                desk.prompt(&format!("p-{turn}"), &format!("look at the zebra, part {turn}")),
                desk.call(&id, "Read", json!({ "file_path": file })),
                desk.result(&id, response),
            ]
            .concat()
        })
        .collect()
}

/// @import_undo
#[test]
fn imports_that_counted_one_record_are_undone_in_any_order() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let desk = desk();
        desk.hook(
            "UserPromptSubmit",
            &json!({ "session_id": "s-0", "prompt_id": "p-0", "prompt": "an earlier quokka" }),
        );
        desk.finds("quokka");
        let before = sqlite::dump(&desk.home);
        let mut text = String::new();
        let mut imports = Vec::new();
        for turn in three_reads(&desk) {
            text += &turn;
            desk.write("s-import.jsonl", &text);
            imports.push(desk.import(&[])["batch"].to_string());
        }
        let reads = desk.home.run(&["recent", "--project", "*", "--json"]).stdout;
        assert!(reads.contains("same.txt"), "{reads}");
        for place in order {
            desk.home.run(&["import", "--undo", &imports[place], "--yes"]).ok();
        }
        assert_eq!(sqlite::dump(&desk.home), before, "undone in the order {order:?}");
    }
}

/// @import_undo
#[test]
fn an_import_that_counted_with_a_hooks_record_leaves_its_count() {
    let desk = desk();
    let file = format!("{}/same.txt", desk.shop);
    let read = json!({ "filePath": file, "content": "x", "numLines": 1 });
    desk.hook("UserPromptSubmit", &json!({ "prompt_id": "p-0", "prompt": "look at the zebra" }));
    desk.hook(
        "PostToolUse",
        &json!({ "prompt_id": "p-0", "tool_use_id": "toolu_0", "tool_name": "Read",
        "tool_input": { "file_path": file }, "tool_response": { "type": "text", "file": read } }),
    );
    desk.hook(
        "Stop",
        &json!({ "prompt_id": "p-0", "last_assistant_message": "The zebra is there." }),
    );
    desk.finds("zebra");
    let dump = || {
        desk.home.run(&["stop"]);
        ["prompts", "observations", "origins"].map(|table| sqlite::rows(&desk.home, table))
    };
    let before = dump();
    let now = model::time::rfc3339(client::clock::now_ms());
    let text: String = three_reads(&desk)[0]
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line["timestamp"] = now.as_str().into();
            format!("{line}\n")
        })
        .collect();
    desk.write("s-import.jsonl", &text);
    let batch = desk.import(&[])["batch"].to_string();
    assert_ne!(dump(), before);
    desk.home.run(&["import", "--undo", &batch, "--yes"]).ok();
    assert_eq!(dump(), before);
}

/// @import_estimated
#[test]
fn a_time_in_the_future_counts_as_missing() {
    let desk = desk();
    let text: String =
        [desk.prompt("p-1", "where is the zebra?"), interim(&desk, "m-1", "In the zoo.")]
            .concat()
            .replace(&model::time::rfc3339(some_days_ago()), "2100-01-01T00:00:00.000Z");
    let file = desk.write("s-import.jsonl", &text);
    let changed = std::time::SystemTime::UNIX_EPOCH
        + std::time::Duration::from_millis(u64::try_from(some_days_ago()).unwrap());
    std::fs::File::open(&file).unwrap().set_modified(changed).unwrap();
    let imported = desk.import(&[]);
    assert_eq!(imported["added"], 2, "the answer, too: {imported}");
    let id = desk.finds("zoo")[0]["id"].to_string();
    let shown = desk.home.run(&["show", &id, "--json"]).json();
    assert_eq!(shown["results"][0]["timestamp"], some_days_ago() / 1_000, "{shown}");
    assert_eq!(shown["results"][0]["metadata"]["estimated"], true, "{shown}");
}

/// @import_records
#[test]
fn equal_answers_to_different_prompts_are_records_of_their_own() {
    let desk = desk();
    let text: String = (1..=3)
        .map(|step| {
            desk.prompt(&format!("p-{step}"), &format!("step {step} of the zebra"))
                + &interim(&desk, &format!("m-{step}"), "Ok")
        })
        .collect();
    desk.write("s-import.jsonl", &text);
    assert_eq!(desk.added(&[]), 6);
    let exported = desk.home.run(&["export"]).stdout;
    assert_eq!(exported.matches(r#""kind":"answer""#).count(), 3, "{exported}");
}
