//! The context of sessions in the store: named sets of items, in the order in which they were written.

use std::collections::BTreeMap;

use model::context::ContextSets;
use model::{OpError, limits};
use rusqlite::{OptionalExtension, Row, params};

use crate::aggregate::{Aggregate, GuardedColumn};
use crate::calls;
use crate::cells::Cells as _;
use crate::table_info::{Reference, TableInfo, TextColumns};
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct ContextItems;

impl Aggregate for ContextItems {
    fn name(&self) -> &'static str {
        "context_items"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/context.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[
            TableInfo {
                name: "context_items",
                references: &[Reference::needed("session", "sessions")],
                times: &["at"],
                ..TableInfo::PLAIN
            },
            TableInfo {
                name: "context_versions",
                links: &[("id", "sessions")],
                ..TableInfo::PLAIN
            },
        ];
        TABLES
    }

    fn guarded_columns(&self) -> &'static [GuardedColumn] {
        const COLUMNS: &[GuardedColumn] = &[
            GuardedColumn::declared("context_items", "set_name", "context"),
            GuardedColumn::declared("context_items", "item", "context"),
        ];
        COLUMNS
    }

    fn notes(&self) -> &'static [TextColumns] {
        const NOTES: &[TextColumns] = &[TextColumns {
            from: "context_items",
            id: "id",
            plain: &["set_name", "item"],
            json: &[],
            indexed: &[],
            unindexed: &[],
        }];
        NOTES
    }
}

pub(crate) const ITEMS: &str = "SELECT set_place, set_name, item FROM context_items \
     WHERE session = ?1 ORDER BY set_place, place";

/// The sets of a session.
pub fn of_session(rx: &Rx<'_>, session: i64) -> Result<ContextSets, OpError> {
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?));
    rx.sql(|db| {
        Ok(grouped(
            db.prepare_cached(ITEMS)?.query_map([session], read)?.collect::<Result<_, _>>()?,
        ))
    })
}

/// The sets of all sessions that have any, by the agent's own ids of the sessions.
pub(crate) fn all(rx: &Rx<'_>) -> Result<BTreeMap<String, ContextSets>, OpError> {
    const ALL: &str = "SELECT s.name, c.set_place, c.set_name, c.item FROM context_items c \
         JOIN sessions s ON s.id = c.session ORDER BY c.session, c.set_place, c.place";
    let mut sessions: BTreeMap<String, Vec<PlacedItem>> = BTreeMap::new();
    rx.sql(|db| {
        let mut select = db.prepare(ALL)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let item = (row.cell(1)?, row.cell(2)?, row.cell(3)?);
            sessions.entry(row.cell(0)?).or_default().push(item);
        }
        Ok(())
    })?;
    Ok(sessions.into_iter().map(|(name, items)| (name, grouped(items))).collect())
}

/// The place and the name of a set, and one of its items.
type PlacedItem = (i64, String, String);

/// Items as sets, in their order.
fn grouped(items: Vec<PlacedItem>) -> ContextSets {
    let mut sets: Vec<(String, Vec<String>)> = Vec::new();
    let mut last = None;
    for (place, name, item) in items {
        match sets.last_mut().filter(|_| last == Some(place)) {
            Some((_, items)) => items.push(item),
            None => sets.push((name, vec![item])),
        }
        last = Some(place);
    }
    ContextSets::new(sets)
}

/// Whether an item of a session was added by this author.
pub fn has_item_by(rx: &Rx<'_>, session: i64, added_by: &str) -> Result<bool, OpError> {
    const FOUND: &str =
        "SELECT EXISTS (SELECT 1 FROM context_items WHERE session = ?1 AND added_by = ?2)";
    let given = params![session, added_by];
    rx.sql(|db| db.prepare_cached(FOUND)?.query_row(given, |row| row.cell(0)))
}

/// Replaces the sets of a session. Items that remain keep their author and time; `version` is the number of the event
/// about the change. The caller has rejected secrets.
pub fn replace(
    tx: &Tx<'_>,
    session: i64,
    sets: &ContextSets,
    (at, added_by): (i64, &str),
    version: u64,
) -> Result<(), OpError> {
    const KNOWN: &str = "SELECT set_name, item, at, added_by FROM context_items WHERE session = ?1";
    const REMOVE: &str = "DELETE FROM context_items WHERE session = ?1";
    const ADD: &str = "INSERT INTO context_items \
         (session, set_place, set_name, place, item, at, added_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    type Added = (String, String, i64, String);
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?, row.cell(3)?));
    tx.sql(|db| {
        let known: Vec<Added> =
            db.prepare_cached(KNOWN)?.query_map([session], read)?.collect::<Result<_, _>>()?;
        db.prepare_cached(REMOVE)?.execute([session])?;
        let mut add = db.prepare_cached(ADD)?;
        for (set_place, (name, items)) in sets.iter().enumerate() {
            for (place, item) in items.iter().enumerate() {
                let earlier = known.iter().find(|(set, one, ..)| set == name && one == item);
                let (at, by) = earlier.map_or((at, added_by), |(_, _, at, by)| (*at, by));
                add.execute(params![session, set_place, name, place, item, at, by])?;
            }
        }
        Ok(())
    })?;
    set_version(tx, session, version)
}

/// Stores the number of the event about the last change as the version of a session's context. Versions only grow.
pub(crate) fn set_version(tx: &Tx<'_>, session: i64, version: u64) -> Result<(), OpError> {
    const VERSION: &str = "INSERT INTO context_versions (id, version) VALUES (?1, ?2) \
         ON CONFLICT (id) DO UPDATE SET version = max(version + 1, excluded.version)";
    tx.sql(|db| db.prepare_cached(VERSION)?.execute(params![session, version]).map(drop))
}

/// The highest version of any context; 0 without one. Versions out of range, which only damage causes, are ignored.
pub(crate) fn newest_version(rx: &Rx<'_>) -> Result<u64, OpError> {
    const NEWEST: &str =
        "SELECT coalesce(max(version), 0) FROM context_versions WHERE version BETWEEN 0 AND ?1";
    rx.sql(|db| db.query_row(NEWEST, [limits::EVENT_NUMBER_MAX], |row| row.cell(0)))
}

/// Gives all contexts this version, in a file that was restored or repaired: subscribers have seen higher versions than
/// those in the file, and a repair may have lost the version of a context and kept its items.
pub(crate) fn renumber(tx: &Tx<'_>, version: u64) -> Result<(), OpError> {
    const ADD: &str = "INSERT OR IGNORE INTO context_versions (id, version) \
         SELECT DISTINCT session, ?1 FROM context_items";
    const RENUMBER: &str = "UPDATE context_versions SET version = ?1";
    tx.sql(|db| {
        db.execute(ADD, [version])?;
        db.execute(RENUMBER, [version]).map(drop)
    })
}

/// The number of the event about the last change of a session's context; 0 if it never had one.
pub fn version(rx: &Rx<'_>, session: i64) -> Result<u64, OpError> {
    const VERSION: &str = "SELECT version FROM context_versions WHERE id = ?1";
    let found = rx
        .sql(|db| db.prepare_cached(VERSION)?.query_row([session], |row| row.cell(0)).optional())?;
    Ok(found.unwrap_or_default())
}

/// Removes the context of a session that is removed, and the stored answers about it.
pub(crate) fn remove(tx: &Tx<'_>, session: i64) -> Result<(), OpError> {
    const NAME: &str = "SELECT name FROM sessions \
         WHERE id = ?1 AND EXISTS (SELECT 1 FROM context_versions v WHERE v.id = ?1)";
    let name: Option<String> =
        tx.sql(|db| db.prepare_cached(NAME)?.query_row([session], |row| row.cell(0)).optional())?;
    if let Some(name) = name {
        calls::forget_with(tx, &name, true)?;
    }
    tx.sql(|db| {
        db.prepare_cached("DELETE FROM context_items WHERE session = ?1")?.execute([session])?;
        let mut versions = db.prepare_cached("DELETE FROM context_versions WHERE id = ?1")?;
        versions.execute([session]).map(drop)
    })
}
