//! Where OpenCode keeps its sessions: in a database, and in older versions in folders of small files. Both become the
//! rows that the reader expects.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::limits;
use rusqlite::{Connection, Row};
use serde_json::{Value, json};

use crate::foreign_db::{DbProblem, ForeignDb, integer, text};
use crate::rows::{DbSession, Environment, Problem, RowSink, RowSource};

/// How the rows of the database are read.
pub(crate) const ROWS: RowSource =
    RowSource { databases, tables: &["session", "project"], sessions, rows };

/// The folder of all data.
fn data_dir(var: &Environment<'_>) -> Option<PathBuf> {
    let home = || Some(PathBuf::from(var("HOME")?).join(".local/share"));
    let data = var("XDG_DATA_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    Some(data.or_else(home)?.join("opencode"))
}

/// The databases of all channels, or the one that the user chose.
fn databases(var: &Environment<'_>) -> Vec<PathBuf> {
    let Some(dir) = data_dir(var) else { return Vec::new() };
    if let Some(chosen) = var("OPENCODE_DB").filter(|name| !name.is_empty()) {
        return vec![dir.join(chosen)];
    }
    let Ok(entries) = fs::read_dir(&dir) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = names.filter(|path| is_database(path)).collect();
    found.sort();
    found
}

fn is_database(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let channel = name.strip_prefix("opencode").and_then(|rest| rest.strip_suffix(".db"));
    channel.is_some_and(|channel| channel.is_empty() || channel.starts_with('-'))
}

/// The folders with the sessions of older versions.
pub(crate) fn folders(var: &Environment<'_>) -> Vec<PathBuf> {
    let Some(dir) = data_dir(var) else { return Vec::new() };
    vec![dir.join("storage/session"), dir.join("project")]
}

/// Whether a file is the description of a session: `storage/session/PROJECT/ID.json`, in the first versions
/// `storage/session/info/ID.json`.
pub(crate) fn is_session_file(path: &Path) -> bool {
    let above = |levels: usize| path.ancestors().nth(levels).and_then(Path::file_name);
    path.extension().is_some_and(|extension| extension == "json")
        && above(2).is_some_and(|name| name == "session")
        && above(1).is_some_and(|name| name != "message" && name != "part")
}

/// All sessions, with the time of their last change. Messages are changed after their session.
fn sessions(db: &mut ForeignDb) -> Result<Vec<DbSession>, DbProblem> {
    let mut changes = vec!["s.time_updated".to_owned(), "0".to_owned()];
    for table in ["message", "session_message"] {
        let columns = db.columns(table)?;
        if ["session_id", "time_updated"].iter().all(|name| columns.iter().any(|own| own == name)) {
            changes.push(format!(
                "coalesce((SELECT max(time_updated) FROM {table} WHERE session_id = s.id), 0)"
            ));
        }
    }
    let query = format!("SELECT s.id, s.parent_id, max({}) FROM session s", changes.join(", "));
    let found: Vec<(String, Option<String>, i64)> = db.read(&mut |db| {
        let read = |row: &Row<'_>| {
            Ok((
                text(row, 0).unwrap_or_default(),
                text(row, 1),
                integer(row, 2).unwrap_or_default(),
            ))
        };
        db.prepare(&query)?.query_map([], read)?.collect()
    })?;
    let parents: BTreeMap<&str, &str> = found
        .iter()
        .filter_map(|(id, parent, _)| Some((id.as_str(), parent.as_deref()?)))
        .collect();
    let sessions =
        found.iter().filter(|(id, ..)| !id.is_empty()).map(|(id, _, modified)| DbSession {
            id: id.clone(),
            modified: *modified,
            parent: root_of(id, &parents).map(str::to_owned),
            cwd: None,
        });
    Ok(sessions.collect())
}

/// The session that a subagent, or the subagent of one, works for.
fn root_of<'p>(id: &str, parents: &BTreeMap<&str, &'p str>) -> Option<&'p str> {
    let mut root: &'p str = parents.get(id)?;
    let mut seen = BTreeSet::from([id, root]);
    while let Some(above) = parents.get(root) {
        // Damaged data can make a circle.
        if !seen.insert(above) {
            break;
        }
        root = above;
    }
    Some(root)
}

/// Hands over the rows of a session. They are read message by message, because a session can be very long.
fn rows(db: &mut ForeignDb, session: &str, sink: &mut RowSink<'_>) -> Result<(), DbProblem> {
    const SESSION: &str = "SELECT directory, title, time_created FROM session WHERE id = ?1";
    let about = db.read(&mut |db| {
        db.query_row(SESSION, [session], |row| {
            let time = json!({ "created": integer(row, 2) });
            Ok(json!({ "directory": text(row, 0), "title": text(row, 1), "time": time }))
        })
    })?;
    sink(Ok(row("session", session, &[], &about.to_string()).as_bytes()));
    let messages = match db.columns("message")?.is_empty() {
        true => Vec::new(),
        false => ids(
            db,
            "SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id",
            session,
        )?,
    };
    if messages.is_empty() && !db.columns("session_message")?.is_empty() {
        return second_generation(db, session, sink);
    }
    for message in messages {
        let found = db.read(&mut |db| message_rows(db, &message))?;
        for row in found {
            sink(row.as_deref().map(str::as_bytes).map_err(|problem| *problem));
        }
    }
    Ok(())
}

fn ids(db: &mut ForeignDb, query: &str, session: &str) -> Result<Vec<String>, DbProblem> {
    db.read(&mut |db| {
        let id = |row: &Row<'_>| Ok(text(row, 0).unwrap_or_default());
        db.prepare(query)?.query_map([session], id)?.collect()
    })
}

/// A message and its parts.
fn message_rows(db: &Connection, message: &str) -> rusqlite::Result<Vec<Result<String, Problem>>> {
    const MESSAGE: &str = "SELECT id, data FROM message WHERE id = ?1";
    const PARTS: &str = "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id";
    let mut found = Vec::new();
    for (kind, query) in [("message", MESSAGE), ("part", PARTS)] {
        let mut select = db.prepare_cached(query)?;
        let mut read = select.query([message])?;
        while let Some(cells) = read.next()? {
            let id = text(cells, 0).unwrap_or_default();
            let data = text(cells, 1).ok_or(Problem::TooLong);
            found.push(data.map(|data| row(kind, &id, &[], &data)));
        }
    }
    Ok(found)
}

/// The messages of the second generation, which hold their parts.
fn second_generation(
    db: &mut ForeignDb,
    session: &str,
    sink: &mut RowSink<'_>,
) -> Result<(), DbProblem> {
    const ONE: &str = "SELECT type, time_created, data FROM session_message WHERE id = ?1";
    let order = match db.columns("session_message")?.iter().any(|name| name == "seq") {
        true => "seq",
        false => "time_created, id",
    };
    let query = format!("SELECT id FROM session_message WHERE session_id = ?1 ORDER BY {order}");
    for id in ids(db, &query, session)? {
        let found = db.read(&mut |db| {
            db.prepare_cached(ONE)?.query_row([&id], |cells| {
                let about = [("type", json!(text(cells, 0))), ("at", json!(integer(cells, 1)))];
                Ok(text(cells, 2).map(|data| row("session_message", &id, &about, &data)))
            })
        })?;
        sink(found.as_deref().map(str::as_bytes).ok_or(Problem::TooLong));
    }
    Ok(())
}

/// A row as one JSON object. The data of the agent is not parsed here: it may be damaged.
fn row(kind: &str, id: &str, members: &[(&str, Value)], data: &str) -> String {
    let members = members.iter().map(|(name, value)| format!(r#""{name}":{value},"#));
    let members: String = members.collect();
    format!(r#"{{"kind":"{kind}","id":{},{members}"data":{data}}}"#, json!(id))
}

/// Hands over the files of a session as rows.
pub(crate) fn file_rows(path: &Path, sink: &mut RowSink<'_>) -> io::Result<()> {
    let about = read_file(path)?.unwrap_or_default();
    let session: Option<Value> = serde_json::from_str(&about).ok();
    let id = session.as_ref().and_then(|session| session["id"].as_str());
    // The id names a folder, and must not lead elsewhere.
    let Some(id) = id.filter(|id| is_plain(id)) else {
        sink(Err(if session.is_some() { Problem::Malformed } else { Problem::NotJson }));
        return Ok(());
    };
    sink(Ok(row("session", id, &[], &about).as_bytes()));
    let Some(storage) = path.ancestors().nth(3) else { return Ok(()) };
    let is_first = path.parent().and_then(Path::file_name).is_some_and(|name| name == "info");
    let (messages, parts) = match is_first {
        true => (storage.join("session/message").join(id), storage.join("session/part").join(id)),
        false => (storage.join("message").join(id), storage.join("part")),
    };
    for message in json_files(&messages) {
        let id = file_row("message", &message, sink)?;
        for part in json_files(&parts.join(id)) {
            file_row("part", &part, sink)?;
        }
    }
    Ok(())
}

/// Hands over a file as a row, and returns its id: the one inside, else its name.
fn file_row(kind: &str, path: &Path, sink: &mut RowSink<'_>) -> io::Result<String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let Some(data) = read_file(path)? else {
        sink(Err(Problem::TooLong));
        return Ok(stem);
    };
    let value: Option<Value> = serde_json::from_str(&data).ok();
    let own = value.as_ref().and_then(|value| value["id"].as_str()).filter(|id| is_plain(id));
    let id = own.map_or(stem, str::to_owned);
    sink(Ok(row(kind, &id, &[], data.trim()).as_bytes()));
    Ok(id)
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// The text of a file; `None` if it is too long.
fn read_file(path: &Path) -> io::Result<Option<String>> {
    let bytes = regular::read(path, limits::TRANSCRIPT_LINE_MAX as u64 + 1)?;
    let fits = bytes.len() <= limits::TRANSCRIPT_LINE_MAX;
    Ok(fits.then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The JSON files of a folder, by name: their names begin with their time.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_json).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_of_parents_ends_and_a_missing_parent_is_the_root() {
        let parents = BTreeMap::from([("a", "b"), ("b", "c"), ("c", "a"), ("d", "gone")]);
        assert_eq!(root_of("a", &parents), Some("c"));
        assert_eq!(root_of("d", &parents), Some("gone"));
        assert_eq!(root_of("e", &parents), None);
        let itself = BTreeMap::from([("a", "a")]);
        assert_eq!(root_of("a", &itself), Some("a"));
    }

    #[test]
    fn only_names_of_its_databases_are_recognised() {
        let is = |name: &str| is_database(Path::new(name));
        assert!(is("opencode.db") && is("opencode-beta.db"));
        assert!(!is("opencode.db-wal") && !is("opencodes.db") && !is("auth.json"));
    }
}
