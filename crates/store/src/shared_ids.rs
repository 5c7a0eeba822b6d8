//! Ids that two records have, and ids out of range. All records share one sequence of ids, so an id names one record.
//! After damage two tables may have a row with the same id, or a row may have an id out of the valid range: `doctor`
//! names it, and a repair gives the record a new id.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use crate::aggregate::Registry;
use crate::cells::Cells as _;
use crate::error::is_damaged_row;
use crate::record_ids;
use crate::table_info::TableRole;

/// The pairs of record tables: a record of the first table gets a new id if the second table has its id, too. A session
/// keeps its id because all its records name it; a prompt keeps its id unless a session has it.
fn pairs(registry: &Registry) -> Vec<(&'static str, &'static str)> {
    let tables: Vec<&'static str> = registry.records().map(|records| records.name()).collect();
    let after = |place: usize| tables.get(place + 1..).unwrap_or_default().iter().rev();
    let each = tables.iter().enumerate();
    each.flat_map(|(place, table)| after(place).map(|keeper| (*table, *keeper))).collect()
}

/// A record with the id of a record in another table.
pub(crate) struct SharedId {
    /// The table of the record that gets a new id.
    pub(crate) table: &'static str,
    pub(crate) id: i64,
    /// The table of the record that keeps the id.
    pub(crate) keeper: &'static str,
}

/// The records that need a new id because a record of another table keeps theirs, each once. The keeper's table is
/// scanned, and its ids are looked up in the other one. No index is used, because it may differ from a damaged row.
pub(crate) fn find(db: &Connection, registry: &Registry) -> rusqlite::Result<Vec<SharedId>> {
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    for (table, keeper) in pairs(registry) {
        let shared =
            format!("SELECT r.id FROM {keeper} k NOT INDEXED CROSS JOIN {table} r ON r.id = k.id");
        let mut select = db.prepare_cached(&shared)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let id = row.cell(0)?;
            if known.insert((table, id)) {
                found.push(SharedId { table, id, keeper });
            }
        }
    }
    Ok(found)
}

/// All records with an id that no sound record has, with their tables. Reads only those.
pub(crate) fn out_of_range(
    db: &Connection,
    registry: &Registry,
) -> rusqlite::Result<Vec<(&'static str, i64)>> {
    let highest = record_ids::highest_sound(db)?;
    let mut found = Vec::new();
    for table in registry.records().map(|records| records.name()) {
        let select = format!(
            "SELECT id FROM {table} WHERE id < 1 UNION ALL SELECT id FROM {table} WHERE id > ?1"
        );
        let mut select = db.prepare_cached(&select)?;
        let mut rows = select.query([highest])?;
        while let Some(row) = rows.next()? {
            found.push((table, row.cell(0)?));
        }
    }
    Ok(found)
}

/// Gives a record a new id, with the references to it. Receipts of the old id are deleted: it is unknown which record
/// they quote. Returns false, and changes nothing, if SQLite rejects the change because another cell of the record is
/// damaged, or a cell of a row that refers to the record.
pub(crate) fn renumber(
    db: &Connection,
    registry: &Registry,
    (table, id): (&'static str, i64),
    new: i64,
) -> rusqlite::Result<bool> {
    // A prompt must not refer to a missing session when the transaction ends; until then it may.
    db.execute_batch("PRAGMA defer_foreign_keys = ON; SAVEPOINT renumber")?;
    let done = renumber_all(db, registry, (table, id), new);
    if !matches!(done, Ok(true)) {
        db.execute_batch("ROLLBACK TO renumber")?;
    }
    db.execute_batch("RELEASE renumber")?;
    done
}

fn renumber_all(
    db: &Connection,
    registry: &Registry,
    (table, id): (&'static str, i64),
    new: i64,
) -> rusqlite::Result<bool> {
    let done = db.execute(&format!("UPDATE {table} SET id = ?2 WHERE id = ?1"), params![id, new]);
    if done.as_ref().is_err_and(is_damaged_row) {
        return Ok(false);
    }
    done?;
    let mut infos = registry.tables().filter(|info| info.name == table);
    let is_needed = infos.any(|info| info.role == TableRole::Referred);
    for referring in registry.tables() {
        let references = referring.references.iter().map(|one| (one.column, one.target));
        let links = references.chain(referring.links.iter().copied());
        for (column, _) in links.filter(|(_, target)| *target == table) {
            let name = referring.name;
            let refer = format!("UPDATE {name} SET {column} = ?2 WHERE {column} = ?1");
            match db.execute(&refer, params![id, new]) {
                Err(error) if is_damaged_row(&error) && is_needed => return Ok(false),
                // One of the rows is damaged: the references dangle and are cleared row by row.
                Err(error) if is_damaged_row(&error) => {}
                done => drop(done?),
            }
        }
    }
    forget_receipts(db, registry, (table, id))?;
    Ok(true)
}

/// Deletes the receipts that name a record by its id.
fn forget_receipts(
    db: &Connection,
    registry: &Registry,
    (table, id): (&'static str, i64),
) -> rusqlite::Result<()> {
    const FORGET: &str = "DELETE FROM receipts WHERE path = ?1 || '://' || ?2";
    let own = registry.records().filter(|records| records.name() == table);
    let linked = registry.iter().filter(|aggregate| {
        let mut tables = aggregate.tables().iter();
        tables.any(|info| info.links.contains(&("id", table)))
    });
    let schemes = own.map(|records| records.scheme());
    for scheme in schemes.chain(linked.filter_map(|aggregate| aggregate.scheme_of_links())) {
        db.execute(FORGET, params![scheme, id])?;
    }
    Ok(())
}
