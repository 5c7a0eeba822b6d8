//! Hints in the store: one row per component and key.

use model::OpError;
use model::hint::{HintMeta, HintName, Ttl};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;

use crate::tx::{Rx, Tx};

/// A hint as it is kept. Times are milliseconds since 1970, UTC.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredHint {
    pub name: HintName,
    pub value: Value,
    pub meta: HintMeta,
    pub version: u64,
    pub created_at: i64,
    pub updated_at: i64,
}

pub(crate) const GET: &str = "SELECT component, key, value, reason, tags, ttl, version, created_at, \
     updated_at FROM hints WHERE component = ?1 AND key = ?2";
const ALL: &str = "SELECT component, key, value, reason, tags, ttl, version, created_at, \
     updated_at FROM hints ORDER BY component, key";
const PUT: &str = "INSERT INTO hints \
     (component, key, value, reason, tags, ttl, version, created_at, updated_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
     ON CONFLICT (component, key) DO UPDATE SET value = excluded.value, reason = excluded.reason, \
     tags = excluded.tags, ttl = excluded.ttl, version = excluded.version, \
     created_at = excluded.created_at, updated_at = excluded.updated_at";

/// The hint of this name.
pub fn get(rx: &Rx<'_>, name: &HintName) -> Result<Option<StoredHint>, OpError> {
    rx.sql(|db| {
        db.prepare_cached(GET)?.query_row(params![name.component, name.key], read).optional()
    })
}

/// Writes the hint over whatever stands under its name.
pub fn put(tx: &Tx<'_>, hint: &StoredHint) -> Result<(), OpError> {
    let ttl = hint.meta.ttl.map(|ttl| match ttl {
        Ttl::Session => "session",
        Ttl::Forever => "forever",
    });
    tx.sql(|db| {
        db.prepare_cached(PUT)?.execute(params![
            hint.name.component,
            hint.name.key,
            hint.value.to_string(),
            hint.meta.reason,
            Value::from(hint.meta.tags.clone()).to_string(),
            ttl,
            hint.version,
            hint.created_at,
            hint.updated_at,
        ])
    })?;
    Ok(())
}

/// All hints in order of component and key.
pub fn all(rx: &Rx<'_>) -> Result<Vec<StoredHint>, OpError> {
    rx.sql(|db| db.prepare_cached(ALL)?.query_map([], read)?.collect())
}

/// Removes the hints that live until the daemon ends, and says how many they were.
pub fn clear_session(tx: &Tx<'_>) -> Result<usize, OpError> {
    tx.sql(|db| db.execute("DELETE FROM hints WHERE coalesce(ttl, 'session') = 'session'", []))
}

/// How many hints there are, as the quotas count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HintCount {
    pub all: usize,
    pub components: usize,
    pub of_component: usize,
}

pub fn count(rx: &Rx<'_>, component: &str) -> Result<HintCount, OpError> {
    const COUNT: &str = "SELECT count(*), count(DISTINCT component), \
         (SELECT count(*) FROM hints WHERE component = ?1) FROM hints";
    rx.sql(|db| {
        db.prepare_cached(COUNT)?.query_row([component], |row| {
            Ok(HintCount { all: row.get(0)?, components: row.get(1)?, of_component: row.get(2)? })
        })
    })
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredHint> {
    let value: String = row.get(2)?;
    let value = serde_json::from_str(&value).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(2, Type::Text, Box::new(error))
    })?;
    // The column is checked to be JSON; a list of anything else is as good as no tags.
    let tags = serde_json::from_str(&row.get::<_, String>(4)?).unwrap_or_default();
    let ttl = match row.get::<_, Option<String>>(5)?.as_deref() {
        None => None,
        Some("forever") => Some(Ttl::Forever),
        Some(_) => Some(Ttl::Session),
    };
    Ok(StoredHint {
        name: HintName { component: row.get(0)?, key: row.get(1)? },
        value,
        meta: HintMeta { reason: row.get(3)?, tags, ttl },
        version: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
    })
}
