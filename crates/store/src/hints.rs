//! Hints in the store: one row per variant of a component's key.

use model::OpError;
use model::hint::rank::Usage;
use model::hint::{HintMeta, HintName};
use rusqlite::{Params, Row, params};
use serde_json::Value;

use crate::aggregate::Aggregate;
use crate::calls;
use crate::cells::{Cells as _, Watched};
use crate::table_info::{TableInfo, TextColumns};
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct Hints;

impl Aggregate for Hints {
    fn name(&self) -> &'static str {
        "hint_variants"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/hints.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[TableInfo {
            name: "hint_variants",
            json: &["meta", "scope", "value"],
            ..TableInfo::PLAIN
        }];
        TABLES
    }

    fn texts_left(&self) -> &'static [TextColumns] {
        const TEXTS: &[TextColumns] = &[TextColumns {
            from: "hint_variants",
            id: "id",
            plain: &["component", "key", "value", "meta"],
            json: &["value", "meta"],
            indexed: &[],
            unindexed: &[],
        }];
        TEXTS
    }
}

/// A hint as it is kept. Times are milliseconds since 1970, UTC.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredHint {
    pub name: HintName,
    pub value: Value,
    pub meta: HintMeta,
    pub version: u64,
    pub created_at: i64,
    pub updated_at: i64,
    pub last_used_at: Option<i64>,
    pub use_count: u64,
}

impl StoredHint {
    /// The time at which it expires; `None` if its lifetime does not end at a fixed time.
    pub fn expires_at(&self) -> Option<i64> {
        self.meta.lifetime().ends_at(self.updated_at)
    }

    pub fn is_alive(&self, now: i64) -> bool {
        self.expires_at().is_none_or(|end| end > now)
    }

    pub fn usage(&self) -> Usage {
        Usage {
            use_count: self.use_count,
            last_used_at: self.last_used_at,
            updated_at: self.updated_at,
        }
    }
}

/// A deleted variant: its name and its scope in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    pub name: HintName,
    pub variant: String,
}

pub(crate) const GET: &str = "SELECT component, key, value, meta, version, created_at, updated_at, \
     last_used_at, use_count FROM hint_variants WHERE component = ?1 AND key = ?2 ORDER BY scope";
const ALL: &str = "SELECT component, key, value, meta, version, created_at, updated_at, \
     last_used_at, use_count FROM hint_variants ORDER BY component, key, scope";
const PUT: &str = "INSERT INTO hint_variants \
     (component, key, scope, value, meta, ttl, expires_at, version, created_at, updated_at, \
      last_used_at, use_count) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
     ON CONFLICT (component, key, scope) DO UPDATE SET value = excluded.value, \
     meta = excluded.meta, ttl = excluded.ttl, expires_at = excluded.expires_at, \
     version = excluded.version, created_at = excluded.created_at, \
     updated_at = excluded.updated_at, last_used_at = excluded.last_used_at, \
     use_count = excluded.use_count";
pub(crate) const SWEEP: &str = "DELETE FROM hint_variants WHERE expires_at <= ?1 \
     RETURNING value, component, key, scope";

/// The variants of this name.
pub fn variants(rx: &Rx<'_>, name: &HintName) -> Result<Vec<StoredHint>, OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached(GET)?;
        let rows = select.query_map(params![name.component, name.key], read)?;
        rows.filter_map(Result::transpose).collect()
    })
}

/// Stores the hint in place of the one with its name and scope. A replaced value or reason is overwritten in the file.
/// Stored answers of calls still contain it, because a repeated call gets the first answer; it is removed from them,
/// and the WAL is emptied, when the hint is deleted.
pub fn put(tx: &Tx<'_>, hint: &StoredHint) -> Result<(), OpError> {
    const REPLACED: &str = "SELECT EXISTS (SELECT 1 FROM hint_variants \
         WHERE component = ?1 AND key = ?2 AND scope = ?3 AND (value <> ?4 OR meta <> ?5))";
    let meta = serde_json::to_string(&hint.meta)
        .map_err(|error| OpError::internal(format!("a hint's meta is not JSON: {error}")))?;
    let HintName { component, key } = &hint.name;
    let given = params![component, key, hint.meta.variant(), hint.value.to_string(), meta];
    let replaces: bool =
        tx.sql(|db| db.prepare_cached(REPLACED)?.query_row(given, |row| row.cell(0)))?;
    calls::quote_hint(tx, &hint.name);
    if !replaces {
        return write(tx, hint, &meta);
    }
    wiping(tx, || write(tx, hint, &meta))
}

fn write(tx: &Tx<'_>, hint: &StoredHint, meta: &str) -> Result<(), OpError> {
    let use_count = i64::try_from(hint.use_count).unwrap_or(i64::MAX);
    tx.sql(|db| {
        db.prepare_cached(PUT)?.execute(params![
            hint.name.component,
            hint.name.key,
            hint.meta.variant(),
            hint.value.to_string(),
            meta,
            hint.meta.lifetime().as_str(),
            hint.expires_at(),
            hint.version,
            hint.created_at,
            hint.updated_at,
            hint.last_used_at,
            use_count,
        ])
    })?;
    Ok(())
}

/// Removes one variant, and its value from stored answers. A hint is shown with the scope of its meta, which may
/// differ from the column of a damaged row: either is enough to remove the row.
pub fn remove(tx: &Tx<'_>, name: &HintName, variant: &str) -> Result<(), OpError> {
    const SCOPES: &str =
        "SELECT id, scope, meta FROM hint_variants WHERE component = ?1 AND key = ?2";
    const REMOVE: &str = "DELETE FROM hint_variants WHERE id IN (SELECT value FROM json_each(?1)) \
         RETURNING value, component, key";
    let is_variant = |row: &Row<'_>| {
        let meta = serde_json::from_str::<HintMeta>(&row.text(2)?);
        let is_variant =
            row.text(1)? == variant || meta.is_ok_and(|meta| meta.variant() == variant);
        Ok(is_variant.then_some(row.cell::<i64>(0)?))
    };
    let rows: Vec<Option<i64>> = tx.sql(|db| {
        let mut select = db.prepare_cached(SCOPES)?;
        select.query_map(params![name.component, name.key], is_variant)?.collect()
    })?;
    let ids: Vec<i64> = rows.into_iter().flatten().collect();
    removing(tx, REMOVE, [Value::from(ids).to_string()], |_| Ok(())).map(drop)
}

/// Removes all rows of a name, readable or not, and their values from stored answers.
pub fn remove_named(tx: &Tx<'_>, name: &HintName) -> Result<(), OpError> {
    const REMOVE: &str = "DELETE FROM hint_variants WHERE component = ?1 AND key = ?2 \
         RETURNING value, component, key";
    removing(tx, REMOVE, params![name.component, name.key], |_| Ok(())).map(drop)
}

/// How many rows a name has, readable or not.
pub fn count_named(rx: &Rx<'_>, name: &HintName) -> Result<usize, OpError> {
    const COUNT: &str = "SELECT count(*) FROM hint_variants WHERE component = ?1 AND key = ?2";
    let given = params![name.component, name.key];
    rx.sql(|db| db.prepare_cached(COUNT)?.query_row(given, |row| row.cell(0)))
}

/// Removes every hint, and their values from stored answers.
pub fn remove_all(tx: &Tx<'_>) -> Result<(), OpError> {
    const REMOVE: &str = "DELETE FROM hint_variants RETURNING value, component, key";
    removing(tx, REMOVE, [], |_| Ok(())).map(drop)
}

/// Deletes hints with a statement that returns value, component and key of each. The deleted bytes are overwritten in
/// the file, the log is emptied, and the values are removed from the answers that are stored for retries of
/// calls.
fn removing<T>(
    tx: &Tx<'_>,
    statement: &str,
    given: impl Params,
    mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, OpError> {
    let read = |row: &Row<'_>| {
        let name = HintName { component: row.cell(1)?, key: row.cell(2)? };
        Ok((row.cell::<String>(0)?, name, read(row)?))
    };
    wiping(tx, || {
        let gone: Vec<(String, HintName, T)> = tx.sql(|db| {
            db.prepare_cached(statement)?.query_map(given, read)?.collect::<Result<_, _>>()
        })?;
        for (value, name, _) in &gone {
            calls::forget_hint(tx, name)?;
            if let Ok(value) = serde_json::from_str(value) {
                calls::forget_value(tx, &value)?;
            }
        }
        if !gone.is_empty() {
            tx.wipe_log();
        }
        Ok(gone.into_iter().map(|(_, _, read)| read).collect())
    })
}

/// Runs `work` with secure deletion: SQLite overwrites deleted bytes.
fn wiping<T>(tx: &Tx<'_>, work: impl FnOnce() -> Result<T, OpError>) -> Result<T, OpError> {
    tx.sql(|db| db.pragma_update(None, "secure_delete", true))?;
    let done = work();
    tx.sql(|db| db.pragma_update(None, "secure_delete", false))?;
    done
}

/// Deletes expired hints and returns them.
pub fn sweep(tx: &Tx<'_>, now: i64) -> Result<Vec<Gone>, OpError> {
    // This runs often, and hints rarely expire.
    const ANY: &str = "SELECT EXISTS (SELECT 1 FROM hint_variants WHERE expires_at <= ?1)";
    if !tx.sql(|db| db.prepare_cached(ANY)?.query_row([now], |row| row.cell::<bool>(0)))? {
        return Ok(Vec::new());
    }
    removing(tx, SWEEP, [now], |row| {
        let name = HintName { component: row.cell(1)?, key: row.cell(2)? };
        Ok(Gone { name, variant: row.cell(3)? })
    })
}

/// All hints in order of component, key and scope.
pub fn all(rx: &Rx<'_>) -> Result<Vec<StoredHint>, OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached(ALL)?;
        select.query_map([], read)?.filter_map(Result::transpose).collect()
    })
}

/// Deletes the hints that live until the daemon ends. Returns their number.
pub fn clear_session(tx: &Tx<'_>) -> Result<usize, OpError> {
    const CLEAR: &str =
        "DELETE FROM hint_variants WHERE ttl = 'session' RETURNING value, component, key";
    removing(tx, CLEAR, [], |_| Ok(())).map(|gone| gone.len())
}

/// How many hints there are. SQLite counts them from an index, without reading the rows.
pub fn count(rx: &Rx<'_>) -> Result<usize, OpError> {
    const COUNT: &str = "SELECT count(*) FROM hint_variants";
    rx.sql(|db| db.prepare_cached(COUNT)?.query_row([], |row| row.cell(0)))
}

/// How many hints a component has.
pub fn count_of(rx: &Rx<'_>, component: &str) -> Result<usize, OpError> {
    const COUNT_OF: &str = "SELECT count(*) FROM hint_variants WHERE component = ?1";
    rx.sql(|db| db.prepare_cached(COUNT_OF)?.query_row([component], |row| row.cell(0)))
}

/// How many components have hints: steps from each name to the next one in the index.
pub fn count_components(rx: &Rx<'_>) -> Result<usize, OpError> {
    const COUNT_COMPONENTS: &str = "WITH RECURSIVE names(name) AS ( \
           SELECT min(component) FROM hint_variants \
           UNION ALL \
           SELECT (SELECT min(component) FROM hint_variants WHERE component > name) FROM names \
           WHERE name IS NOT NULL) \
         SELECT count(name) FROM names";
    rx.sql(|db| db.prepare_cached(COUNT_COMPONENTS)?.query_row([], |row| row.cell(0)))
}

/// Reads a hint; `None` if the row is damaged. A hint without its scope would be shown where it does not apply,
/// and one with a garbled value is worse than none. `doctor` reports the row.
fn read(row: &Row<'_>) -> rusqlite::Result<Option<StoredHint>> {
    let row = Watched::new(row);
    let (value, meta) = (row.text(2)?, row.text(3)?);
    let (Ok(value), Ok(meta)) = (serde_json::from_str(&value), serde_json::from_str(&meta)) else {
        return Ok(None);
    };
    let hint = StoredHint {
        name: HintName { component: row.cell(0)?, key: row.cell(1)? },
        value,
        meta,
        version: row.cell(4)?,
        created_at: row.cell(5)?,
        updated_at: row.cell(6)?,
        last_used_at: row.cell(7)?,
        use_count: row.cell(8)?,
    };
    Ok((!row.is_damaged()).then_some(hint))
}
