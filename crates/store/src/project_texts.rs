//! The texts of a project, which the secret guard replaces together: its names, and all the values that lead to it.

use model::OpError;
use model::entry::EntryPath;
use rusqlite::{Row, params};
use text::secrets::Redacted;

use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};
use crate::{calls, pauses, projects, sessions};

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

/// The texts that replace those of a project, with the aliases in the same order.
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
    // Another project may have the new key already: then `#` and this project's id are appended to the key.
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
