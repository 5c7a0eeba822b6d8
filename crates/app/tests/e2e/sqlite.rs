//! Direct access to the database file: a lock, a version, a query.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use testkit::Home;

/// The database of a home.
pub(crate) fn path(home: &Home) -> PathBuf {
    home.locations().database
}

#[expect(clippy::disallowed_methods, reason = "a program that is not ours has the file open")]
pub(crate) fn open(path: &Path) -> Connection {
    Connection::open(path).expect("the database opens")
}

/// Holds the write lock until it is dropped.
pub(crate) fn lock(home: &Home) -> Connection {
    let db = open(&path(home));
    db.busy_timeout(std::time::Duration::from_secs(10)).expect("a patience");
    db.execute_batch("BEGIN IMMEDIATE").expect("the write lock");
    db
}

/// Whether SQLite finds the whole database intact.
pub(crate) fn is_sound(path: &Path) -> bool {
    let check = open(path).query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    check.is_ok_and(|said| said == "ok")
}

/// Names of the recorded hook events, in order.
pub(crate) fn recorded(home: &Home) -> Vec<String> {
    let db = open(&path(home));
    let mut statement = db.prepare("SELECT name FROM hooks_seen ORDER BY seq").expect("a table");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|name| name.expect("a name")).collect()
}

/// The observed records, in order, each with its number of occurrences.
pub(crate) fn observed(home: &Home) -> Vec<(String, u64)> {
    let db = open(&path(home));
    let mut statement =
        db.prepare("SELECT content, count FROM observations ORDER BY id").expect("a table");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

/// All rows of a table, in a stable order, each as text.
pub(crate) fn rows(home: &Home, table: &str) -> Vec<String> {
    let db = open(&path(home));
    let mut statement =
        db.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).expect("a table");
    let columns = statement.column_count();
    let rows = statement
        .query_map([], |row| {
            let cells = (0..columns).map(|at| Ok(format!("{:?}", row.get_ref(at)?)));
            cells.collect::<rusqlite::Result<Vec<String>>>()
        })
        .expect("rows");
    rows.map(|row| format!("{table}: {}", row.expect("a row").join(" "))).collect()
}

/// The rows of all tables that an import changes. The index is left out: it gives new numbers to its passages.
pub(crate) fn dump(home: &Home) -> Vec<String> {
    const TABLES: [&str; 15] = [
        "sessions",
        "session_details",
        "session_starts",
        "prompts",
        "observations",
        "paths",
        "failures",
        "memories",
        "memory_sources",
        "projects",
        "project_aliases",
        "origins",
        "import_batches",
        "import_cursors",
        "import_created",
    ];
    home.run(&["stop"]);
    TABLES.iter().flat_map(|table| rows(home, table)).collect()
}
