//! `rekindle import` with the database and the older folders of OpenCode.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use rusqlite::Connection;
use serde_json::{Value, json};
use testkit::Home;

use super::home;
use super::import::some_days_ago;

const CALL: &str = "call_0123456789abcdefghij";

/// A home with a project, and the database of OpenCode.
struct OpenCodeDesk {
    home: Home,
    shop: String,
    db: Connection,
}

impl OpenCodeDesk {
    fn new() -> OpenCodeDesk {
        let home = home();
        let shop = home.path("shop");
        std::fs::create_dir_all(shop.join(".git")).unwrap();
        std::fs::write(shop.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let file = home.path(".local/share/opencode/opencode.db");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
        let db = Connection::open(&file).unwrap();
        db.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT);
             CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
                                   version TEXT, time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);",
        )
        .unwrap();
        OpenCodeDesk { shop: shop.to_string_lossy().into_owned(), home, db }
    }

    fn session(&self, id: &str, parent: Option<&str>, title: &str) {
        let sql = "INSERT INTO session VALUES (?1, 'p', ?2, ?3, ?4, '1.2', ?5, ?5)";
        let at = some_days_ago();
        self.db.execute(sql, rusqlite::params![id, parent, self.shop, title, at]).unwrap();
    }

    fn message(&self, id: &str, session: &str, after: i64, data: Value) {
        let at = some_days_ago() + after;
        let mut data = data;
        data["time"] = json!({ "created": at });
        let sql = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        self.db.execute(sql, rusqlite::params![id, session, at, data.to_string()]).unwrap();
    }

    fn part(&self, id: &str, message: &str, data: &str) {
        let sql = "INSERT INTO part VALUES (?1, ?2, '', ?3)";
        self.db.execute(sql, [id, message, data]).unwrap();
    }

    fn says(&self, id: &str, message: &str, words: &str) {
        self.part(id, message, &json!({ "type": "text", "text": words }).to_string());
    }

    fn ran(&self, id: &str, message: &str, call: &str) {
        let at = some_days_ago() + 2_000;
        let state = json!({ "status": "completed", "input": { "command": "pytest tests" }, "output": "1 failed",
                            "metadata": { "exit": 1 }, "time": { "start": at, "end": at } });
        let part = json!({ "type": "tool", "callID": call, "tool": "bash", "state": state });
        self.part(id, message, &part.to_string());
    }

    /// A session with a prompt, a command that failed and an answer, and a subagent with a command.
    fn work(&self) {
        self.session("ses_1", None, "Totals of the zebra");
        self.message("msg_1", "ses_1", 1_000, json!({ "role": "user" }));
        self.says("prt_1", "msg_1", "why does the zebra lose its price?");
        self.message(
            "msg_2",
            "ses_1",
            2_000,
            json!({ "role": "assistant", "finish": "tool-calls" }),
        );
        self.ran("prt_2", "msg_2", CALL);
        self.message("msg_3", "ses_1", 3_000, json!({ "role": "assistant", "finish": "stop" }));
        self.says("prt_3", "msg_3", "The okapi rows lack a column.");
        self.session("ses_2", Some("ses_1"), "Look for the okapi (@explore subagent)");
        self.message("msg_4", "ses_2", 2_100, json!({ "role": "user" }));
        self.says("prt_4", "msg_4", "look for the okapi");
        self.message("msg_5", "ses_2", 2_200, json!({ "role": "assistant", "finish": "stop" }));
        self.ran("prt_5", "msg_5", "call_abcdefghij0123456789");
        self.says("prt_6", "msg_5", "It is in the cellar.");
    }

    fn import(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = ["import", "--json"].iter().chain(args).copied().collect();
        let run = self.home.run(&args);
        assert_eq!(run.code, 0, "{run:?}");
        run.json()
    }

    /// The bytes and times of all files of OpenCode.
    fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
        let entries = std::fs::read_dir(self.home.path(".local/share/opencode")).unwrap();
        let files = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let state = |path: PathBuf| {
            let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
            (path.clone(), (std::fs::read(&path).unwrap(), modified))
        };
        files.map(state).collect()
    }
}

/// The counts of prompts, answers, actions, failures and known records.
fn counts(imported: &Value) -> [u64; 5] {
    ["prompts", "answers", "actions", "failures", "known"]
        .map(|name| imported["counts"][name].as_u64().unwrap())
}

/// @import_opencode
#[test]
fn sessions_in_the_database_of_opencode_become_records() {
    let desk = OpenCodeDesk::new();
    desk.work();
    let before = desk.files();
    assert_eq!(before.len(), 3, "the database is open, with its log");
    let imported = desk.import(&["opencode"]);
    assert_eq!(counts(&imported), [1, 1, 2, 2, 0], "{imported}");
    assert_eq!(imported["sessions"], 1, "the subagent belongs to its session");
    assert_eq!(imported["projects"][0]["project"], "shop");
    assert!(before == desk.files(), "a file of OpenCode changed");
    let sessions = desk.home.run(&["sessions", "--json"]).json();
    assert!(sessions.to_string().contains("Totals of the zebra"), "{sessions}");
    // Only a session that changed is read again, and only what is new is added.
    let again = desk.import(&["opencode"]);
    assert_eq!((counts(&again), &again["unchanged"]), ([0; 5], &json!(2)));
    desk.message("msg_6", "ses_1", 9_000, json!({ "role": "user" }));
    desk.says("prt_7", "msg_6", "and the gnu?");
    let grown = desk.import(&["opencode"]);
    assert_eq!((counts(&grown), &grown["unchanged"]), ([1, 0, 0, 0, 3], &json!(1)));
}

/// @import_opencode
#[test]
fn importing_what_the_plugin_for_opencode_captured_adds_nothing() {
    let desk = OpenCodeDesk::new();
    desk.work();
    let at = |event: &str, members: Value| {
        let mut payload =
            json!({ "hook_event_name": event, "cwd": desk.shop, "session_id": "ses_1" });
        for (name, value) in members.as_object().unwrap() {
            payload[name] = value.clone();
        }
        let args = ["hook", event, "--agent", "opencode"];
        assert_eq!(desk.home.run_with(&args, payload.to_string().as_bytes()).code, 0);
    };
    let used = |id: &str| {
        json!({ "tool_name": "bash", "tool_use_id": id, "tool_input": { "command": "pytest tests" },
                "tool_response": { "output": "1 failed", "exit_code": 1 } })
    };
    at(
        "chat.message",
        json!({ "prompt": "why does the zebra lose its price?", "prompt_id": "msg_1" }),
    );
    at("tool.execute.after", used(&format!("{CALL}~kx3.1")));
    let mut of_subagent = used("ses_2/call_abcdefghij0123456789~kx3.1");
    of_subagent["agent_id"] = json!("ses_2");
    at("tool.execute.after", of_subagent);
    at("session.idle", json!({ "last_assistant_message": "The okapi rows lack a column." }));
    let imported = desk.import(&["opencode"]);
    assert_eq!(counts(&imported), [0, 0, 0, 0, 4], "{imported}");
}

/// @import_opencode
#[test]
fn a_fork_made_seconds_after_its_session_adds_only_its_own() {
    let desk = OpenCodeDesk::new();
    desk.work();
    let forked = "INSERT INTO session VALUES ('ses_3', 'p', NULL, ?1, 'Totals of the zebra (fork #1)', '1.2', ?2, ?2)";
    desk.db.execute(forked, rusqlite::params![desk.shop, some_days_ago() + 5_000]).unwrap();
    // The copies have ids of their own and the times of the originals.
    desk.message("msg_6", "ses_3", 1_000, json!({ "role": "user" }));
    desk.says("prt_7", "msg_6", "why does the zebra lose its price?");
    desk.message("msg_7", "ses_3", 2_000, json!({ "role": "assistant", "finish": "tool-calls" }));
    desk.ran("prt_8", "msg_7", CALL);
    desk.message("msg_8", "ses_3", 3_000, json!({ "role": "assistant", "finish": "stop" }));
    desk.says("prt_9", "msg_8", "The okapi rows lack a column.");
    desk.message("msg_9", "ses_3", 5_001, json!({ "role": "user" }));
    desk.says("prt_10", "msg_9", "and the gnu?");
    let imported = desk.import(&["opencode"]);
    assert_eq!(counts(&imported), [2, 1, 2, 2, 0], "{imported}");
}

/// @import_opencode
#[test]
fn old_folders_count_where_the_database_does_not_know_the_session() {
    let desk = OpenCodeDesk::new();
    desk.work();
    let storage = |path: &str, value: &Value| {
        desk.home.write(&format!(".local/share/opencode/{path}"), &value.to_string());
    };
    let created = some_days_ago();
    for (id, words) in [("ses_1", "an old copy"), ("ses_0", "where is the gnu?")] {
        let time = json!({ "created": created, "updated": created });
        let session = json!({ "id": id, "directory": desk.shop, "title": "Old", "time": time });
        storage(&format!("storage/session/p/{id}.json"), &session);
        let message =
            json!({ "id": format!("msg_{id}"), "role": "user", "time": { "created": created } });
        storage(&format!("storage/message/{id}/msg_{id}.json"), &message);
        let part = json!({ "id": "prt_0", "type": "text", "text": words });
        storage(&format!("storage/part/msg_{id}/prt_0.json"), &part);
    }
    let imported = desk.import(&["opencode"]);
    assert_eq!(counts(&imported), [2, 1, 2, 2, 0], "{imported}");
    let found = desk.home.run(&["search", "old copy", "--project", "*", "--json"]).json();
    assert!(!found.to_string().contains("an old copy"), "{found}");
}

/// @import_databases
#[test]
fn a_database_that_cannot_be_read_is_named_and_the_others_are_imported() {
    let desk = OpenCodeDesk::new();
    desk.work();
    desk.part("prt_8", "msg_3", "{ this is no JSON");
    let encrypted =
        desk.home.write(".local/share/opencode/opencode-beta.db", &"\u{7}zq".repeat(2_000));
    let run = desk.home.run(&["import", "opencode", "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let imported = run.json();
    assert_eq!(counts(&imported), [1, 1, 2, 2, 0], "{imported}");
    let problems = imported["problems"].to_string();
    assert!(problems.contains(&*encrypted.to_string_lossy()), "{problems}");
    assert!(problems.contains("not an SQLite database, or an encrypted one"), "{problems}");
    assert!(problems.contains("not JSON") && !problems.contains("this is no"), "{problems}");
    // Nothing but such a database: then the import fails.
    let other = desk.home.write("elsewhere/opencode.db", "short");
    let alone = desk.home.run(&["import", &other.to_string_lossy(), "--json"]);
    assert_eq!(alone.code, 1, "{alone:?}");
}
