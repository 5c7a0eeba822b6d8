//! Shared by the tests of damaged databases: records to damage, and the damage.

use serde_json::json;
use testkit::Home;

use super::sqlite;

pub(crate) fn prompt(home: &Home, session: &str, text: &str) {
    let cwd = home.path("web").to_string_lossy().into_owned();
    home.hook("UserPromptSubmit", &json!({ "session_id": session, "cwd": cwd, "prompt": text }));
}

/// A command in the session `s-1`.
pub(crate) fn bash(home: &Home, id: &str, command: &str) {
    let cwd = home.path("web").to_string_lossy().into_owned();
    home.hook(
        "PostToolUse",
        &json!({
            "session_id": "s-1", "cwd": cwd, "tool_use_id": id, "tool_name": "Bash",
            "tool_input": { "command": command }, "tool_response": {},
        }),
    );
}

/// A connection to the database file, past the program.
pub(crate) fn open(home: &Home) -> rusqlite::Connection {
    let db = sqlite::open(&sqlite::path(home));
    db.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    db
}

/// Runs statements directly in the database file.
pub(crate) fn wound(home: &Home, sql: &str) {
    open(home).execute_batch(sql).unwrap();
}
