//! Damaged rows: finds rows that violate the schema, and repairs those that are not records.
//!
//! SQLite's own check covers pages, types and constraints, but not the bytes of a text. A damaged record is kept
//! until a user purges it: the readable part may still be useful.

use std::collections::BTreeMap;
use std::fmt;

use model::event::Event;
use model::{OpError, limits};
use rusqlite::types::{Type, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, Row, params_from_iter};
use serde::Serialize;

use crate::aggregate::Registry;
use crate::cells::is_time;
use crate::hint_rows::DamagedHintRow;
use crate::references::{self, DanglingReference};
use crate::table_info::{TableInfo, TableRole};
use crate::tx::{Rx, Tx};
use crate::{activity_counts, calls, foreign, hint_rows, passages, pauses, record_ids, shared_ids};

/// A row with at least one damaged cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedRow {
    pub table: String,
    pub id: i64,
    pub columns: Vec<String>,
    /// Whether each cell is valid by itself, and a repair fixes the row in any table: the id is out of range, another
    /// record has the same id, the row refers to a missing row, or the cells of a hint contradict each other. A repair
    /// also fixes a row with a damaged cell (false here), but only in tables without records.
    pub is_repairable: bool,
    /// Whether its table has records.
    #[serde(skip)]
    pub of_records: bool,
}

impl DamagedRow {
    /// Whether the row is a damaged record, which stays until it is purged by its id.
    pub fn is_record(&self) -> bool {
        self.of_records && !self.is_repairable
    }
}

impl fmt::Display for DamagedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.table, self.id, self.columns.join(", "))
    }
}

/// The damaged rows of the database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DamagedRows {
    pub count: u64,
    /// The first of them, at most [`limits::DAMAGED_ROWS_SHOWN`] of each table.
    pub rows: Vec<DamagedRow>,
}

/// The table of the hints.
const HINTS: &str = "hint_variants";

/// A column as the schema declares it.
pub(crate) struct Column {
    name: String,
    /// Whether it is an alias of the row id, which SQLite stores as NULL.
    pub(crate) is_row_id: bool,
    kind: Type,
    nullable: bool,
    is_json: bool,
    is_time: bool,
    /// Accepts the keywords that the column may contain.
    knows: Option<fn(&str) -> bool>,
    /// Further keywords.
    other_kinds: Vec<&'static str>,
    /// The value for a damaged cell in a row that must not be deleted.
    stand_in: Option<Value>,
}

/// A table as the schema and its aggregate describe it.
pub(crate) struct TableShape {
    pub(crate) name: String,
    pub(crate) role: TableRole,
    /// Whether the search index is derived from it.
    is_indexed: bool,
    pub(crate) columns: Vec<Column>,
    /// Whether the cells of a row agree with each other, if that can be checked.
    pub(crate) agrees: Option<fn(&[Value]) -> bool>,
}

impl TableShape {
    fn select(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|c| format!("\"{}\"", c.name)).collect();
        format!("SELECT rowid, {} FROM \"{}\" NOT INDEXED", columns.join(", "), self.name)
    }

    /// The statement that inserts a row with all columns, unless it exists.
    pub(crate) fn insert(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|c| format!("\"{}\"", c.name)).collect();
        let marks = vec!["?"; columns.len()].join(", ");
        let columns = columns.join(", ");
        format!("INSERT OR IGNORE INTO \"{}\" ({columns}) VALUES ({marks})", self.name)
    }

    /// The number of checks that every row passes: of a text that is JSON or one of a few words, and of the row.
    pub(crate) fn checks(&self) -> usize {
        let is_checked = |column: &&Column| column.is_json || column.knows.is_some();
        let columns = self.columns.iter().filter(|column| !column.nullable).filter(is_checked);
        columns.count() + usize::from(self.agrees.is_some())
    }

    /// The names of the damaged cells of a row.
    fn damage(&self, row: &Row<'_>) -> rusqlite::Result<Vec<String>> {
        let mut found = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            if !column.admits(row.get_ref(place + 1)?) {
                found.push(column.name.clone());
            }
        }
        Ok(found)
    }
}

impl Column {
    pub(crate) fn admits(&self, cell: ValueRef<'_>) -> bool {
        match cell {
            ValueRef::Null => self.nullable,
            ValueRef::Text(bytes) if self.kind == Type::Text => {
                let Ok(text) = std::str::from_utf8(bytes) else { return false };
                self.knows.is_none_or(|knows| knows(text) || self.other_kinds.contains(&text))
                    && (!self.is_json
                        || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
            }
            ValueRef::Integer(at) if self.is_time => self.kind == Type::Integer && is_time(at),
            other => other.data_type() == self.kind,
        }
    }

    /// The repaired value of a damaged cell; `None` if the row is useless without it.
    fn mended(&self, cell: ValueRef<'_>) -> Option<Value> {
        if self.admits(cell) {
            return cell.try_into().ok();
        }
        let text = match cell {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
            _ => "".into(),
        };
        let lossy = Value::Text(text.into_owned());
        match self.kind {
            Type::Text if self.admits((&lossy).into()) => Some(lossy),
            _ if self.nullable => Some(Value::Null),
            _ => self.stand_in.clone(),
        }
    }
}

/// The tables of the schema that have row ids, without the shadows of the full-text index and tables of other programs.
pub(crate) fn shapes(db: &Connection, registry: &Registry) -> rusqlite::Result<Vec<TableShape>> {
    const TABLES: &str = "SELECT name FROM pragma_table_list WHERE schema = 'main' \
         AND type = 'table' AND wr = 0 AND name NOT GLOB 'sqlite_*' ORDER BY name";
    const COLUMNS: &str = "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1)";
    let mut names: Vec<String> =
        db.prepare(TABLES)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let foreign = foreign::foreign_objects(db, registry)?;
    names.retain(|name| !foreign.contains(&format!("table {name}")));
    let mut select = db.prepare(COLUMNS)?;
    let mut shapes = Vec::new();
    for name in names {
        let info = registry.tables().find(|table| table.name == name).unwrap_or(&TableInfo::PLAIN);
        let column = |row: &Row<'_>| {
            let (column, kind): (String, String) = (row.get(0)?, row.get(1)?);
            let (required, key): (bool, bool) = (row.get(2)?, row.get(3)?);
            let kind = match kind.as_str() {
                "INTEGER" => Type::Integer,
                "REAL" => Type::Real,
                "BLOB" => Type::Blob,
                _ => Type::Text,
            };
            let word = info.words.iter().find(|word| word.name == column);
            let stand_in = match kind {
                _ if info.role != TableRole::Referred => None,
                Type::Integer => Some(Value::Integer(0)),
                Type::Real => Some(Value::Real(0.0)),
                _ => Some(Value::Text(word.map_or("", |word| word.fallback).to_owned())),
            };
            Ok(Column {
                is_row_id: key && kind == Type::Integer,
                nullable: !required && !key,
                is_json: info.json.contains(&column.as_str()),
                is_time: info.times.contains(&column.as_str()),
                knows: word.map(|word| word.knows),
                // The index has the kinds of all aggregates.
                other_kinds: match info.role {
                    TableRole::Derived => registry.other_kinds().to_vec(),
                    _ => Vec::new(),
                },
                name: column,
                kind,
                stand_in,
            })
        };
        let columns = select.query_map([&name], column)?.collect::<rusqlite::Result<_>>()?;
        let &TableInfo { role, is_indexed, agrees, .. } = info;
        shapes.push(TableShape { name, role, is_indexed, columns, agrees });
    }
    Ok(shapes)
}

/// Checks every row until the connection's progress handler interrupts. Also returns whether it finished.
pub(crate) fn look(db: &Connection, registry: &Registry) -> rusqlite::Result<(DamagedRows, bool)> {
    let mut found = DamagedRows::default();
    for shape in shapes(db, registry)? {
        match look_at(db, &shape, &mut found) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                return Ok((found, false));
            }
            // The page check reports damaged pages.
            _ => {}
        }
    }
    let contradictions = look_for_damaged_hints(db, &mut found)
        .and_then(|()| look_for_shared_ids(db, registry, &mut found))
        .and_then(|()| look_for_ids_out_of_range(db, registry, &mut found))
        .and_then(|()| look_for_dangling(db, registry, &mut found));
    match contradictions {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            Ok((found, false))
        }
        _ => Ok((found, true)),
    }
}

/// Adds the rows of hints whose cells contradict each other.
fn look_for_damaged_hints(db: &Connection, found: &mut DamagedRows) -> rusqlite::Result<()> {
    let damaged = hint_rows::find(db)?;
    found.count += u64::try_from(damaged.len()).unwrap_or_default();
    for DamagedHintRow { id, columns, .. } in damaged.into_iter().take(limits::DAMAGED_ROWS_SHOWN) {
        let table = "hint_variants".into();
        found.rows.push(DamagedRow { table, id, columns, is_repairable: true, of_records: false });
    }
    Ok(())
}

/// Adds the records whose id another record has too.
fn look_for_shared_ids(
    db: &Connection,
    registry: &Registry,
    found: &mut DamagedRows,
) -> rusqlite::Result<()> {
    let shared = shared_ids::find(db, registry)?;
    found.count += u64::try_from(shared.len()).unwrap_or_default();
    for one in shared.into_iter().take(limits::DAMAGED_ROWS_SHOWN) {
        let columns = vec![format!("id is used twice, also in {}", one.keeper)];
        let table = one.table.into();
        found.rows.push(DamagedRow {
            table,
            id: one.id,
            columns,
            is_repairable: true,
            of_records: false,
        });
    }
    Ok(())
}

/// Adds the records with an id that no sound record has, and the counter of ids if it is out of range.
fn look_for_ids_out_of_range(
    db: &Connection,
    registry: &Registry,
    found: &mut DamagedRows,
) -> rusqlite::Result<()> {
    let repairable = |table: &str, id: i64, column: &str| DamagedRow {
        table: table.into(),
        id,
        columns: vec![column.into()],
        is_repairable: true,
        of_records: false,
    };
    let ids = shared_ids::out_of_range(db, registry)?;
    found.count += u64::try_from(ids.len()).unwrap_or_default();
    let shown = ids.into_iter().take(limits::DAMAGED_ROWS_SHOWN);
    found.rows.extend(shown.map(|(table, id)| repairable(table, id, "id is out of range")));
    if record_ids::is_damaged(db)? {
        found.count += 1;
        found.rows.push(repairable("record_ids", 1, "last is out of range"));
    }
    Ok(())
}

/// Adds the rows that name a row which does not exist.
fn look_for_dangling(
    db: &Connection,
    registry: &Registry,
    found: &mut DamagedRows,
) -> rusqlite::Result<()> {
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    references::dangling(db, registry, &mut |reference| {
        let DanglingReference { table, row, column, target, .. } = reference;
        let shown = shown.entry(table).or_default();
        found.count += 1;
        *shown += 1;
        if *shown <= limits::DAMAGED_ROWS_SHOWN {
            let columns = vec![format!("{column} {target} does not exist")];
            found.rows.push(DamagedRow {
                table: table.into(),
                id: row,
                columns,
                is_repairable: true,
                of_records: false,
            });
        }
    })
}

fn look_at(db: &Connection, shape: &TableShape, found: &mut DamagedRows) -> rusqlite::Result<()> {
    let mut select = db.prepare(&shape.select())?;
    let mut rows = select.query([])?;
    let mut shown = 0;
    while let Some(row) = rows.next()? {
        let columns = shape.damage(row)?;
        if columns.is_empty() {
            continue;
        }
        found.count += 1;
        if shown < limits::DAMAGED_ROWS_SHOWN {
            shown += 1;
            let id = row.get(0)?;
            let table = shape.name.clone();
            let of_records = shape.role == TableRole::Record;
            found.rows.push(DamagedRow { table, id, columns, is_repairable: false, of_records });
        }
    }
    Ok(())
}

/// Repairs the damaged rows that cannot be purged by id: readable cells are kept, and useless rows are deleted.
/// Repairs ids that two records have or that are out of range, and references to missing rows too, and drops triggers.
/// Returns how many rows were damaged.
pub fn mend(tx: &Tx<'_>) -> Result<u64, OpError> {
    // Deleted rows may contain the value of a hint.
    tx.sql(|db| db.pragma_update(None, "secure_delete", true))?;
    let mended = mend_rows(tx);
    tx.sql(|db| db.pragma_update(None, "secure_delete", false))?;
    if !matches!(mended, Ok(0)) {
        tx.wipe_log();
    }
    mended
}

fn mend_rows(tx: &Tx<'_>) -> Result<u64, OpError> {
    let shapes = tx.sql(|db| shapes(db, tx.registry()))?;
    let (mut mended, mut of_hints) = (0, 0);
    for shape in shapes.iter().filter(|shape| shape.role != TableRole::Record) {
        let count = tx.sql(|db| mend_table(db, shape))?;
        if count > 0 && shape.is_indexed {
            passages::rebuild(tx)?;
        }
        if shape.name == HINTS {
            of_hints += count;
        }
        mended += count;
    }
    tx.sql(foreign::drop_triggers)?;
    let contradictory = mend_hints(tx)?;
    mended += contradictory;
    if of_hints + contradictory > 0 {
        tx.note(Event::new(hint_rows::REPAIRED, "hint://".to_owned()))?;
    }
    mended += u64::from(record_ids::repair(tx)?);
    mended += separate_ids(tx)?;
    let repaired = tx.sql(|db| references::repair(db, tx.registry()))?;
    if repaired > 0 {
        // Records may belong to another session now, and lack a path.
        passages::rebuild(tx)?;
        pauses::changed(tx);
    }
    mended += repaired;
    // The repair of references may have created a session with an id out of range.
    mended += replace_ids_out_of_range(tx)?;
    if mended > 0 {
        activity_counts::discard(tx)?;
        tx.forget_cached();
    }
    Ok(mended)
}

/// Repairs rows of hints whose cells contradict each other. Returns how many there were.
fn mend_hints(tx: &Tx<'_>) -> Result<u64, OpError> {
    let damaged = tx.sql(hint_rows::find)?;
    for row in &damaged {
        if let Some(name) = tx.sql(|db| hint_rows::mend(db, row))? {
            calls::forget_hint(tx, &name)?;
        }
    }
    Ok(u64::try_from(damaged.len()).unwrap_or_default())
}

/// Whether two records have the same id.
pub fn shares_ids(rx: &Rx<'_>) -> Result<bool, OpError> {
    rx.sql(|db| shared_ids::find(db, rx.registry())).map(|shared| !shared.is_empty())
}

/// Gives a new id to records whose id another record has too, so that a purge of one does not delete the other.
/// Returns how many records have a new id.
pub fn separate_ids(tx: &Tx<'_>) -> Result<u64, OpError> {
    let mut separated = 0;
    for shared in tx.sql(|db| shared_ids::find(db, tx.registry()))? {
        let new = record_ids::next(tx)?;
        let record = (shared.table, shared.id);
        if tx.sql(|db| shared_ids::renumber(db, tx.registry(), record, new))? {
            separated += 1;
            passages::renewed(tx, shared.id)?;
            passages::add(tx, new)?;
        }
    }
    if separated > 0 {
        tx.forget_cached();
    }
    Ok(separated)
}

/// Gives a new id to records whose id is out of range, because search cannot find them. Returns how many records got
/// one.
fn replace_ids_out_of_range(tx: &Tx<'_>) -> Result<u64, OpError> {
    let mut replaced = 0;
    for record in tx.sql(|db| shared_ids::out_of_range(db, tx.registry()))? {
        let new = record_ids::next(tx)?;
        replaced += u64::from(tx.sql(|db| shared_ids::renumber(db, tx.registry(), record, new))?);
    }
    if replaced > 0 {
        // The index stores the session's id with each of its records.
        passages::rebuild(tx)?;
    }
    Ok(replaced)
}

fn mend_table(db: &Connection, shape: &TableShape) -> rusqlite::Result<u64> {
    let mut damaged: Vec<(i64, Option<Vec<Value>>)> = Vec::new();
    let mut select = db.prepare(&shape.select())?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        if shape.damage(row)?.is_empty() {
            continue;
        }
        let mut cells = Some(Vec::new());
        for (place, column) in shape.columns.iter().enumerate() {
            let mended = column.mended(row.get_ref(place + 1)?);
            cells = cells.zip(mended).map(|(cells, cell)| [cells, vec![cell]].concat());
        }
        damaged.push((row.get(0)?, cells));
    }
    drop(rows);
    let set: Vec<String> = shape.columns.iter().map(|c| format!("\"{}\" = ?", c.name)).collect();
    let update = format!("UPDATE \"{}\" SET {} WHERE rowid = ?", shape.name, set.join(", "));
    let remove = format!("DELETE FROM \"{}\" WHERE rowid = ?1", shape.name);
    let count = damaged.len();
    for (id, cells) in damaged {
        let kept = cells.is_some_and(|cells| {
            let given = params_from_iter(cells.into_iter().chain([Value::Integer(id)]));
            db.prepare_cached(&update).and_then(|mut update| update.execute(given)).is_ok()
        });
        if !kept && shape.role != TableRole::Referred {
            db.execute(&remove, [id])?;
        }
    }
    Ok(u64::try_from(count).unwrap_or_default())
}
