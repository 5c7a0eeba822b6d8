//! `rekindle import` with the histories of Cursor and aider.

use rusqlite::Connection;
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

fn import(home: &Home, args: &[&str]) -> Value {
    let args: Vec<&str> = ["import", "--json"].iter().chain(args).copied().collect();
    let run = home.run(&args);
    assert_eq!(run.code, 0, "{run:?}");
    run.json()
}

/// The counts of prompts, answers, actions, failures and known records.
fn counts(imported: &Value) -> [u64; 5] {
    ["prompts", "answers", "actions", "failures", "known"]
        .map(|name| imported["counts"][name].as_u64().unwrap())
}

/// Creates a database of the editor.
fn state(home: &Home, path: &str) -> Connection {
    let file = home.path(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test plays the editor")]
    let db = Connection::open(&file).unwrap();
    db.execute_batch(
        "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB); CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);",
    )
    .unwrap();
    db
}

fn put(db: &Connection, table: &str, key: &str, value: &Value) {
    let sql = format!("INSERT OR REPLACE INTO {table} VALUES (?1, ?2)");
    db.execute(&sql, [key, &value.to_string()]).unwrap();
}

/// @import_cursor
#[test]
fn conversations_in_the_database_of_cursor_become_records() {
    let (home, shop) = workshop();
    let global = state(&home, ".config/Cursor/User/globalStorage/state.vscdb");
    let at = some_days_ago();
    let headers = json!([{ "bubbleId": "b-1", "type": 1 }, { "bubbleId": "b-2", "type": 2 }, { "bubbleId": "b-3", "type": 2 }]);
    let composer = json!({ "composerId": "c-1", "name": "Zebra prices", "createdAt": at, "lastUpdatedAt": at,
                           "fullConversationHeadersOnly": headers });
    put(&global, "cursorDiskKV", "composerData:c-1", &composer);
    let when = model::time::rfc3339(at);
    let bubble = |id: &str, value: Value| {
        put(&global, "cursorDiskKV", &format!("bubbleId:c-1:{id}"), &value)
    };
    bubble(
        "b-1",
        json!({ "type": 1, "text": "where is the zebra?", "requestId": "r-1", "createdAt": when }),
    );
    let tool = json!({ "name": "run_terminal_cmd", "status": "completed", "toolCallId": "call_1", "rawArgs": "{\"command\":\"pytest tests\"}",
                       "result": "{\"output\":\"1 failed\",\"exitCodeV2\":1}" });
    bubble("b-2", json!({ "type": 2, "text": "", "createdAt": when, "toolFormerData": tool }));
    bubble("b-3", json!({ "type": 2, "text": "In the okapi house.", "createdAt": when }));
    // A secret of the editor is never read.
    put(&global, "ItemTable", "cursorAuth/accessToken", &json!("gnu-token-of-the-editor"));
    let local = state(&home, ".config/Cursor/User/workspaceStorage/w1/state.vscdb");
    put(
        &local,
        "ItemTable",
        "composer.composerData",
        &json!({ "allComposers": [{ "composerId": "c-1" }] }),
    );
    let folder = json!({ "folder": format!("file://{shop}") });
    home.write(".config/Cursor/User/workspaceStorage/w1/workspace.json", &folder.to_string());
    let imported = import(&home, &["cursor"]);
    assert_eq!(counts(&imported), [1, 1, 1, 1, 0], "{imported}");
    assert_eq!(imported["projects"][0]["project"], "shop");
    assert_eq!(counts(&import(&home, &["cursor"])), [0; 5]);
    let found = home.run(&["search", "gnu-token", "--project", "*", "--json"]).json();
    assert_eq!(found["results"], json!([]), "{found}");
}

/// @import_cursor
#[test]
fn a_conversation_of_a_subagent_belongs_to_the_one_that_started_it() {
    let (home, shop) = workshop();
    let global = state(&home, ".config/Cursor/User/globalStorage/state.vscdb");
    let at = some_days_ago();
    let conversation = |id: &str, children: Value, bubbles: [Value; 2]| {
        let headers = json!([{ "bubbleId": "b-1", "type": 1 }, { "bubbleId": "b-2", "type": 2 }]);
        let composer = json!({ "composerId": id, "createdAt": at, "lastUpdatedAt": at, "subComposerIds": children,
                               "fullConversationHeadersOnly": headers });
        put(&global, "cursorDiskKV", &format!("composerData:{id}"), &composer);
        for (number, bubble) in bubbles.iter().enumerate() {
            let key = format!("bubbleId:{id}:b-{}", number + 1);
            put(&global, "cursorDiskKV", &key, bubble);
        }
    };
    let asked = json!({ "type": 1, "text": "where is the zebra?", "workspaceProjectDir": shop });
    conversation("c-1", json!(["c-2"]), [asked, json!({ "type": 2, "text": "In the barn." })]);
    let task = json!({ "type": 1, "text": "explore the ibex files" });
    let tool = json!({ "name": "run_terminal_cmd", "status": "completed", "toolCallId": "call_2",
                       "rawArgs": "{\"command\":\"ls ibex\"}", "result": "{}" });
    let call = json!({ "type": 2, "text": "Two ibexes.", "toolFormerData": tool, "workspaceProjectDir": shop });
    conversation("c-2", json!([]), [task, call]);
    let imported = import(&home, &["cursor"]);
    assert_eq!(counts(&imported), [1, 2, 1, 0, 0], "the task is no prompt: {imported}");
    assert_eq!(imported["sessions"], 1, "{imported}");
    assert_eq!(imported["projects"][0]["project"], "shop", "{imported}");
    let again = import(&home, &["cursor"]);
    assert_eq!(again["added"], 0, "{again}");
}

/// @import_cursor
#[test]
fn lines_of_cursors_agent_are_imported_once_although_they_have_no_ids() {
    let (home, shop) = workshop();
    let says = |role: &str, blocks: Value| {
        json!({ "role": role, "message": { "content": blocks } }).to_string()
    };
    let text = |words: &str| json!({ "type": "text", "text": words });
    let call =
        json!({ "type": "tool_use", "name": "Shell", "input": { "command": "pytest tests" } });
    let lines = [
        says("user", json!([text("<user_query>\nwhere is the zebra?\n</user_query>")])),
        says("assistant", json!([call])),
        says("assistant", json!([text("In the okapi house.")])),
        says("user", json!([text("<user_query>\nwhere is the zebra?\n</user_query>")])),
        says("assistant", json!([text("Still there.")])),
    ];
    // The name of the folder is the directory, with a line for each separator.
    let folder = shop.trim_start_matches('/').replace(['/', '.', '_'], "-");
    let name = format!(".cursor/projects/{folder}/agent-transcripts/c-9/c-9.jsonl");
    home.write(&name, &(lines.join("\n") + "\n"));
    // A hook captured the first prompt, under an id that the file lacks.
    let hook = json!({ "conversation_id": "c-9", "generation_id": "g-1", "hook_event_name": "beforeSubmitPrompt",
                       "workspace_roots": [shop], "cursor_version": "2026.8", "prompt": "where is the zebra?" });
    let hooked = home.run_with(
        &["hook", "beforeSubmitPrompt", "--agent", "cursor"],
        hook.to_string().as_bytes(),
    );
    assert_eq!(hooked.code, 0);
    let imported = import(&home, &["cursor"]);
    assert_eq!(counts(&imported)[..3], [1, 1, 1], "the last turn may continue: {imported}");
    assert_eq!(counts(&imported)[4], 1, "{imported}");
    let again = import(&home, &["cursor"]);
    assert_eq!(again["added"], 0, "{again}");
}

/// @import_aider
#[test]
fn histories_of_aider_are_searched_only_in_known_projects() {
    let (home, _) = workshop();
    let when = model::time::rfc3339(some_days_ago()).replace('T', " ");
    let when = when.get(..19).unwrap();
    let history = format!(
        "# aider chat started at {when}\n\n> aider v0.90\n#### where is the zebra?\n\nIn the okapi house.\n\n\
         > Applied edit to cart.py\n> Commit 1a2b3c4 fix: the zebra\n"
    );
    let file = home.write("shop/.aider.chat.history.md", &history);
    assert_eq!(import(&home, &["aider"])["files"], 0, "the project is not known yet");
    let imported = import(&home, &[&file.to_string_lossy()]);
    assert_eq!(counts(&imported), [1, 1, 2, 0, 0], "{imported}");
    assert_eq!(imported["projects"][0]["project"], "shop");
    let other = history.replace("zebra", "gnu");
    home.write("shop/.aider.chat.history.md", &(history + &other.replace(":00\n", ":30\n")));
    // Now the project is known. The file is read again, because even its beginning grew, and the first run is known.
    let grown = import(&home, &["aider"]);
    assert_eq!(counts(&grown), [1, 1, 2, 0, 4], "{grown}");
}
