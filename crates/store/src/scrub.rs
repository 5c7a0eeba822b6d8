//! Reads the stored texts again and replaces them, to redact them when there are new rules: records, projects with
//! all their names, and the directories, names, models, hints and context of sessions.
//!
//! Summaries are read with [`crate::sessions::summaries_after`]. The old text leaves the file with
//! [`crate::passages::optimize`] and [`crate::Store::compact`].

use model::OpError;
use model::entry::EntryPath;
use rusqlite::{Row, params};
use text::secrets::Redacted;

use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};
use crate::{calls, passages, pauses, projects, session_events, sessions};

pub use crate::texts::{Replacement, Texts};

/// The texts of the next records of all kinds after this id, in order of their ids.
pub fn after(rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<Texts>, OpError> {
    let mut found = Vec::new();
    for records in rx.registry().records() {
        found.extend(records.texts_after(rx, id, limit)?);
    }
    found.sort_by_key(|texts| texts.id);
    found.truncate(limit);
    Ok(found)
}

/// The id that is `count` below the newest one: at most `count` records have a higher id.
pub fn before_newest(rx: &Rx<'_>, count: usize) -> Result<i64, OpError> {
    let mut newest = 0;
    for records in rx.registry().records().filter(|records| records.in_session()) {
        let max = format!("SELECT coalesce(max(id), 0) FROM {}", records.name());
        newest = newest.max(rx.sql(|db| db.query_row(&max, [], |row| row.cell(0)))?);
    }
    Ok(newest - i64::try_from(count).unwrap_or(i64::MAX))
}

/// Replaces the texts of a record. Returns false if the record no longer exists or is too damaged to change.
pub fn replace(tx: &Tx<'_>, id: i64, new: &Replacement) -> Result<bool, OpError> {
    passages::ensure_posted(tx, &[id])?;
    for records in tx.registry().records() {
        if let Some(replaced) = records.replace_texts(tx, id, new)? {
            return Ok(replaced);
        }
    }
    Ok(false)
}

/// The texts of one project: its names, and all the values that lead to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectTexts {
    pub id: i64,
    pub key: String,
    pub name: String,
    pub root: Option<String>,
    pub aliases: Vec<String>,
}

impl ProjectTexts {
    /// Deletes the stored answers of calls that contain a name of the project.
    pub(crate) fn forget_answers(&self, tx: &Tx<'_>) -> Result<(), OpError> {
        calls::forget_with(tx, &self.name, true)?;
        let path = EntryPath::format("project", &[&self.key]);
        for text in self.aliases.iter().chain([&self.key, &path]).chain(&self.root) {
            calls::forget_with(tx, text, false)?;
        }
        Ok(())
    }
}

/// The texts that take their place, the aliases in the same order.
#[derive(Clone, Debug)]
pub struct ProjectReplacement {
    pub key: Redacted<String>,
    pub name: Redacted<String>,
    pub root: Option<Redacted<String>>,
    pub aliases: Vec<Redacted<String>>,
}

/// The texts of a project.
pub(crate) fn project(rx: &Rx<'_>, id: i64) -> Result<Option<ProjectTexts>, OpError> {
    let found = projects_after(rx, id - 1, 1)?.pop();
    Ok(found.filter(|project| project.id == id))
}

/// The texts of the next projects behind this id, in order of their ids.
pub fn projects_after(rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<ProjectTexts>, OpError> {
    const AFTER: &str =
        "SELECT id, key, name, root FROM projects WHERE id > ?1 ORDER BY id LIMIT ?2";
    let read = |row: &Row<'_>| {
        let (id, key, name, root) = (row.cell(0)?, row.cell(1)?, row.cell(2)?, row.cell(3)?);
        Ok(ProjectTexts { id, key, name, root, aliases: Vec::new() })
    };
    let mut found: Vec<ProjectTexts> = rx.sql(|db| {
        db.prepare_cached(AFTER)?.query_map(params![id, limit], read)?.collect::<Result<_, _>>()
    })?;
    for project in &mut found {
        project.aliases = projects::aliases(rx, project.id)?;
    }
    Ok(found)
}

/// Replaces the texts of a project.
pub fn replace_project(
    tx: &Tx<'_>,
    old: &ProjectTexts,
    new: &ProjectReplacement,
) -> Result<(), OpError> {
    // Another project may have got the same key: then the id is appended to this one.
    const PROJECT: &str = "UPDATE projects SET name = ?3, root = ?4, \
         key = iif(EXISTS (SELECT 1 FROM projects WHERE key = ?2 AND id <> ?1), \
                   ?2 || '#' || ?1, ?2) \
         WHERE id = ?1";
    // If two aliases become equal, the first one stays and the other is deleted.
    const ALIAS: &str = "UPDATE OR IGNORE project_aliases SET value = ?2 WHERE value = ?1";
    const LEFT_OVER: &str = "DELETE FROM project_aliases WHERE value = ?1";
    const MARKS: &str = "UPDATE sessions AS s SET name = replace(name, ?2, ?3) || \
           iif(EXISTS (SELECT 1 FROM sessions WHERE name = replace(s.name, ?2, ?3)), \
               '#' || id, '') \
         WHERE project = ?1 AND agent = ?4 AND instr(name, ?2) > 0";
    old.forget_answers(tx)?;
    tx.forget_cached();
    pauses::changed(tx);
    tx.sql(|db| {
        let root = new.root.as_ref().map(|root| root.as_str());
        let given = params![old.id, new.key.as_str(), new.name.as_str(), root];
        db.prepare_cached(PROJECT)?.execute(given)?;
        for (old, new) in old.aliases.iter().zip(&new.aliases) {
            if old != new.as_str() {
                db.prepare_cached(ALIAS)?.execute([old, new.as_str()])?;
                db.prepare_cached(LEFT_OVER)?.execute([old])?;
            }
        }
        // The session of a project's marks is named after its key.
        let mut keys: Vec<(&str, &str)> = vec![(&old.key, new.key.as_str())];
        keys.extend(
            old.aliases.iter().map(String::as_str).zip(new.aliases.iter().map(|to| to.as_str())),
        );
        for (from, to) in keys.into_iter().filter(|(from, to)| from != to) {
            db.prepare_cached(MARKS)?.execute(params![old.id, from, to, sessions::OF_MARKS])?;
        }
        Ok(())
    })
}

/// The next sessions after this id that have a directory, with that directory, in order of their ids.
pub fn roots_after(rx: &Rx<'_>, id: i64, limit: usize) -> Result<Vec<(i64, String)>, OpError> {
    const AFTER: &str =
        "SELECT id, root FROM sessions WHERE id > ?1 AND root IS NOT NULL ORDER BY id LIMIT ?2";
    rx.sql(|db| {
        let mut select = db.prepare_cached(AFTER)?;
        select.query_map(params![id, limit], |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })
}

/// Puts another directory in the place of that of a session.
pub fn replace_root(tx: &Tx<'_>, session: i64, root: &Redacted<String>) -> Result<(), OpError> {
    const SET: &str = "UPDATE sessions SET root = ?2 WHERE id = ?1";
    tx.forget_cached();
    tx.sql_on_row(|db| db.prepare_cached(SET)?.execute(params![session, root.as_str()])).map(drop)
}

/// A column with texts about sessions that are no records.
#[derive(Clone, Copy, Debug)]
pub struct SessionColumn {
    table: &'static str,
    column: &'static str,
    /// The name of its texts in the result of a scrub.
    pub place: &'static str,
    /// Whether a user or an agent declared the text; otherwise it is a captured directory.
    pub is_declared: bool,
}

/// All of them.
pub const SESSION_COLUMNS: [SessionColumn; 6] = {
    const fn declared(
        table: &'static str,
        column: &'static str,
        place: &'static str,
    ) -> SessionColumn {
        SessionColumn { table, column, place, is_declared: true }
    }
    [
        declared("session_details", "label", "session_name"),
        declared("session_details", "env_hint", "env_hint"),
        declared("session_starts", "model", "session_model"),
        SessionColumn {
            table: "session_starts",
            column: "cwd",
            place: "session_root",
            is_declared: false,
        },
        declared("context_items", "set_name", "context"),
        declared("context_items", "item", "context"),
    ]
};

/// The next texts of a column after this id, in order of their ids.
pub fn session_texts_after(
    rx: &Rx<'_>,
    SessionColumn { table, column, .. }: SessionColumn,
    id: i64,
    limit: usize,
) -> Result<Vec<(i64, String)>, OpError> {
    let after = format!(
        "SELECT id, {column} FROM {table} WHERE id > ?1 AND {column} IS NOT NULL \
         ORDER BY id LIMIT ?2"
    );
    rx.sql(|db| {
        let mut select = db.prepare_cached(&after)?;
        select.query_map(params![id, limit], |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })
}

/// A text about a session, before and after.
pub type SessionText = (String, Redacted<String>);

/// Replaces texts of a column by the ids of their rows, deletes the stored answers with the old ones, and publishes the
/// contexts and names that changed.
pub fn replace_session_texts(
    tx: &Tx<'_>,
    SessionColumn { table, column, .. }: SessionColumn,
    changes: &[(i64, SessionText)],
) -> Result<(), OpError> {
    let set = format!("UPDATE {table} SET {column} = ?2 WHERE id = ?1");
    session_events::rewriting(tx, || {
        changes.iter().try_for_each(|(id, (old, new))| {
            calls::forget_with(tx, old, false)?;
            let given = params![id, new.as_str()];
            tx.sql_on_row(|db| db.prepare_cached(&set)?.execute(given)).map(drop)
        })
    })
}
