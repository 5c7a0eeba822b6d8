//! The paths that observations are about: each is kept once and found in all its forms.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;

use model::{OpError, limits};
use rusqlite::OptionalExtension;
use rusqlite::types::Value;
use text::secrets::Redacted;

use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::projects;
use crate::table_info::{TableInfo, TableRole};
use crate::tx::{Rx, Tx};

pub(crate) const BY_PATH: &str = "SELECT id FROM paths WHERE name = ?1 AND path = ?2";
pub(crate) const BY_NAME: &str = "SELECT id, path FROM paths WHERE name = ?1";
const ADD: &str = "INSERT INTO paths (path, name) VALUES (?1, ?2)";
pub(crate) const FORGET: &str = "DELETE FROM paths WHERE id = ?1 \
     AND NOT EXISTS (SELECT 1 FROM observations WHERE file = ?1)";

/// The row of the registry.
pub(crate) struct Paths;

impl Aggregate for Paths {
    fn name(&self) -> &'static str {
        "paths"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/paths.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[TableInfo {
            name: "paths",
            role: TableRole::Referred,
            is_indexed: true,
            // The start of a session has two texts as well.
            agrees: Some(|cells| match cells {
                [_, Value::Text(path), Value::Text(name)] => last_part(path) == name,
                _ => false,
            }),
            ..TableInfo::PLAIN
        }];
        TABLES
    }

    fn text_bytes(&self) -> Option<&'static str> {
        Some("SELECT total(octet_length(path)) FROM paths")
    }
}

/// Ids by path, as far as a group of writes has looked them up.
#[derive(Default)]
struct PathIds(RefCell<HashMap<String, i64>>);

/// The id of this path, which is stored if it is new.
pub(crate) fn intern(tx: &Tx<'_>, path: &Redacted<String>) -> Result<i64, OpError> {
    let path = path.as_str();
    if let Some(id) = tx.cached::<PathIds>().0.borrow().get(path) {
        return Ok(*id);
    }
    let id = match exact(tx, path)? {
        Some(id) => id,
        None => tx.sql(|db| db.prepare_cached(ADD)?.insert([path, last_part(path)]))?,
    };
    tx.cached::<PathIds>().0.borrow_mut().insert(path.to_owned(), id);
    Ok(id)
}

/// The paths that this text may mean in a query about these projects: that exact path, and that path below each
/// of their roots, since directories are moved; if there is none and the text is relative, at most
/// [`limits::FILE_FORMS_MAX`] paths that end in it.
pub(crate) fn matching(
    rx: &Rx<'_>,
    text: &str,
    root: Option<&str>,
    projects: Option<&[i64]>,
) -> Result<Vec<i64>, OpError> {
    let wanted = plain(text);
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut roots = projects::roots(rx, projects.unwrap_or_default())?;
    roots.extend(root.map(str::to_owned));
    roots.iter_mut().for_each(|root| *root = format!("{}/", root.trim_end_matches('/')));
    let inside = roots.iter().find_map(|root| wanted.strip_prefix(root.as_str()));
    let inside = inside.or((!wanted.starts_with('/')).then_some(wanted.as_str()));
    let forms = roots.iter().filter_map(|root| Some(format!("{root}{}", inside?)));
    let mut found: Vec<i64> = Vec::new();
    for form in std::iter::once(wanted.clone()).chain(forms) {
        found.extend(exact(rx, &form)?.filter(|id| !found.contains(id)));
    }
    if !found.is_empty() || wanted.starts_with('/') {
        return Ok(found);
    }
    let mut ending = ending(rx, &wanted)?;
    // Paths below the roots of these projects come first: other projects may have files of the same
    // name.
    ending.sort_by_key(|(_, path)| !roots.iter().any(|root| path.starts_with(root.as_str())));
    ending.truncate(limits::FILE_FORMS_MAX);
    Ok(ending.into_iter().map(|(id, _)| id).collect())
}

/// The id of exactly this path.
pub(crate) fn exact(rx: &Rx<'_>, path: &str) -> Result<Option<i64>, OpError> {
    let given = [last_part(path), path];
    rx.sql(|db| db.prepare_cached(BY_PATH)?.query_row(given, |row| row.cell(0)).optional())
}

/// Paths that end in `wanted`, which has no slash at its start, with their ids, newest first.
pub(crate) fn ending(rx: &Rx<'_>, wanted: &str) -> Result<Vec<(i64, String)>, OpError> {
    let ending = format!("/{wanted}");
    rx.sql(|db| {
        let mut select = db.prepare_cached(BY_NAME)?;
        let mut rows = select.query([last_part(wanted)])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            if row.text(1)?.ends_with(&ending) {
                found.push((row.cell(0)?, row.cell(1)?));
            }
        }
        found.sort_unstable_by_key(|(id, _): &(i64, String)| Reverse(*id));
        Ok(found)
    })
}

/// Removes a path that no observation is about any more.
pub(crate) fn forget_unused(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    tx.cached::<PathIds>().0.borrow_mut().clear();
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([id]).map(drop))
}

/// The path without `.` parts and a trailing slash.
fn plain(text: &str) -> String {
    let parts: Vec<&str> = text.trim().split('/').filter(|part| *part != ".").collect();
    parts.join("/").trim_end_matches('/').to_owned()
}

pub(crate) fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}
