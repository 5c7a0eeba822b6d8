//! Damaged rows: finds rows that violate the schema, and repairs those that are not records.
//!
//! SQLite's own check covers pages, types and constraints, but not the bytes of a text. A damaged record is kept
//! until a user purges it: the readable part may still be useful.

use std::fmt;

use model::observation::ObsType;
use model::session::{PromptSource, SessionState};
use model::{OpError, limits};
use rusqlite::types::{Type, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, Row, params_from_iter};
use serde::Serialize;

use crate::passages;
use crate::tx::Tx;

/// A row with at least one damaged cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedRow {
    pub table: String,
    pub id: i64,
    pub columns: Vec<String>,
}

impl DamagedRow {
    /// Whether the row is a record, which can be purged by its id.
    pub fn is_record(&self) -> bool {
        RECORDS.contains(&self.table.as_str())
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

/// Tables whose rows can be purged by id.
const RECORDS: [&str; 2] = ["observations", "prompts"];
/// Tables that others reference: their rows are repaired with fallback values and never deleted.
const REFERRED_TO: [&str; 3] = ["paths", "projects", "sessions"];

/// Columns that contain JSON.
const JSON: [(&str, &str); 7] = [
    ("events", "data"),
    ("hint_variants", "meta"),
    ("hint_variants", "scope"),
    ("hint_variants", "value"),
    ("observations", "metadata"),
    ("sessions", "signature"),
    ("sessions", "summary"),
];

/// A column as the schema declares it.
pub(crate) struct Column {
    name: String,
    /// Whether it is an alias of the row id, which SQLite stores as NULL.
    pub(crate) is_row_id: bool,
    kind: Type,
    nullable: bool,
    is_json: bool,
    /// Accepts the keywords that the column may contain.
    knows: Option<fn(&str) -> bool>,
    /// The value for a damaged cell in a row that must not be deleted.
    stand_in: Option<fn() -> Value>,
}

pub(crate) struct TableShape {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
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
                self.knows.is_none_or(|knows| knows(text))
                    && (!self.is_json
                        || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
            }
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
            _ => self.stand_in.map(|stand_in| stand_in()),
        }
    }
}

/// The tables of the schema that have row ids, without the shadows of the full-text index.
pub(crate) fn shapes(db: &Connection) -> rusqlite::Result<Vec<TableShape>> {
    const TABLES: &str = "SELECT name FROM pragma_table_list WHERE schema = 'main' \
         AND type = 'table' AND wr = 0 AND name NOT GLOB 'sqlite_*' ORDER BY name";
    const COLUMNS: &str = "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1)";
    let names: Vec<String> =
        db.prepare(TABLES)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut select = db.prepare(COLUMNS)?;
    let mut shapes = Vec::new();
    for name in names {
        let column = |row: &Row<'_>| {
            let (column, kind): (String, String) = (row.get(0)?, row.get(1)?);
            let (required, key): (bool, bool) = (row.get(2)?, row.get(3)?);
            let kind = match kind.as_str() {
                "INTEGER" => Type::Integer,
                "BLOB" => Type::Blob,
                _ => Type::Text,
            };
            let knows: Option<fn(&str) -> bool> = match (name.as_str(), column.as_str()) {
                ("observations" | "passages", "kind") => {
                    Some(|word| ObsType::parse(word).is_some())
                }
                ("prompts", "source") => Some(|word| PromptSource::parse(word).is_some()),
                ("sessions", "state") => Some(|word| SessionState::parse(word).is_some()),
                _ => None,
            };
            let is_json = JSON.contains(&(name.as_str(), column.as_str()));
            let stand_in: Option<fn() -> Value> = match kind {
                _ if !REFERRED_TO.contains(&name.as_str()) => None,
                Type::Integer => Some(|| Value::Integer(0)),
                _ if knows.is_some() => Some(|| Value::Text(SessionState::Ended.word().into())),
                _ => Some(|| Value::Text(String::new())),
            };
            let nullable = !required && !key;
            let is_row_id = key && kind == Type::Integer;
            Ok(Column { name: column, is_row_id, kind, nullable, is_json, knows, stand_in })
        };
        let columns = select.query_map([&name], column)?.collect::<rusqlite::Result<_>>()?;
        shapes.push(TableShape { name, columns });
    }
    Ok(shapes)
}

/// Checks every row until the connection's progress handler interrupts. Also returns whether it finished.
pub(crate) fn look(db: &Connection) -> rusqlite::Result<(DamagedRows, bool)> {
    let mut found = DamagedRows::default();
    for shape in shapes(db)? {
        match look_at(db, &shape, &mut found) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                return Ok((found, false));
            }
            // The page check reports damaged pages.
            _ => {}
        }
    }
    Ok((found, true))
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
            found.rows.push(DamagedRow { table: shape.name.clone(), id, columns });
        }
    }
    Ok(())
}

/// Repairs the damaged rows that cannot be purged by id: readable cells are kept, and useless rows are deleted.
/// Returns how many rows were damaged.
pub fn mend(tx: &Tx<'_>) -> Result<u64, OpError> {
    let shapes = tx.sql(shapes)?;
    let mut mended = 0;
    for shape in shapes.iter().filter(|shape| !RECORDS.contains(&shape.name.as_str())) {
        let count = tx.sql(|db| mend_table(db, shape))?;
        if count > 0 && shape.name == "passages" {
            passages::rebuild(tx)?;
        }
        mended += count;
    }
    if mended > 0 {
        tx.memo().forget();
    }
    Ok(mended)
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
        if !kept && !REFERRED_TO.contains(&shape.name.as_str()) {
            db.execute(&remove, [id])?;
        }
    }
    Ok(u64::try_from(count).unwrap_or_default())
}
