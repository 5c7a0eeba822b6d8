//! Details of a session that a user or a viewer adds: a name, an environment hint, and when it was idle and observed.

use std::collections::BTreeMap;

use model::OpError;
use rusqlite::{OptionalExtension, Row, params};
use text::secrets::Redacted;

use crate::aggregate::{Aggregate, GuardedColumn};
use crate::cells::Cells as _;
use crate::table_info::TableInfo;
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct SessionDetailRows;

impl Aggregate for SessionDetailRows {
    fn name(&self) -> &'static str {
        "session_details"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/session_details.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[
            TableInfo {
                name: "session_details",
                links: &[("id", "sessions")],
                times: &["idle_at", "observed_at"],
                ..TableInfo::PLAIN
            },
            TableInfo { name: "session_starts", links: &[("id", "sessions")], ..TableInfo::PLAIN },
            TableInfo {
                name: "deleted_sessions",
                links: &[("id", "sessions")],
                ..TableInfo::PLAIN
            },
        ];
        TABLES
    }

    fn guarded_columns(&self) -> &'static [GuardedColumn] {
        const COLUMNS: &[GuardedColumn] = &[
            GuardedColumn::declared("session_details", "label", "session_name"),
            GuardedColumn::declared("session_details", "env_hint", "env_hint"),
            GuardedColumn::declared("session_starts", "model", "session_model"),
            GuardedColumn::path("session_starts", "cwd", "session_root"),
        ];
        COLUMNS
    }

    fn emptied_notes(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("session_details", "label"),
            ("session_details", "env_hint"),
            ("session_starts", "cwd"),
            ("session_starts", "model"),
        ]
    }
}

/// The details of one session. Times are milliseconds since 1970, UTC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionDetails {
    /// The user's name for it; the agent's own id is the name of the session.
    pub label: Option<String>,
    /// Commands that prepare a shell for the work.
    pub env_hint: Option<String>,
    /// When its last turn ended.
    pub idle_at: Option<i64>,
    /// When it was last opened, or got a prompt.
    pub observed_at: Option<i64>,
}

impl SessionDetails {
    /// Whether its last turn ended after it was last opened or got a prompt.
    pub fn is_unobserved(&self) -> bool {
        self.idle_at.is_some_and(|idle| idle > self.observed_at.unwrap_or_default())
    }
}

pub(crate) const DETAILS: &str =
    "SELECT label, env_hint, idle_at, observed_at FROM session_details WHERE id = ?1";

/// The details of a session; most sessions have none.
pub fn of_session(rx: &Rx<'_>, session: i64) -> Result<SessionDetails, OpError> {
    let read = |row: &Row<'_>| {
        Ok(SessionDetails {
            label: row.cell(0)?,
            env_hint: row.cell(1)?,
            idle_at: row.cell(2)?,
            observed_at: row.cell(3)?,
        })
    };
    let found = rx.sql(|db| db.prepare_cached(DETAILS)?.query_row([session], read).optional())?;
    Ok(found.unwrap_or_default())
}

/// The name and the environment hint of a session.
pub(crate) type SessionTexts = (Option<String>, Option<String>);

/// The names and environment hints of all sessions that have one of them, by the agent's own ids.
pub(crate) fn texts(rx: &Rx<'_>) -> Result<BTreeMap<String, SessionTexts>, OpError> {
    const TEXTS: &str = "SELECT s.name, d.label, d.env_hint FROM session_details d \
         JOIN sessions s ON s.id = d.id WHERE d.label IS NOT NULL OR d.env_hint IS NOT NULL";
    let read = |row: &Row<'_>| Ok((row.cell(0)?, (row.cell(1)?, row.cell(2)?)));
    rx.sql(|db| db.prepare(TEXTS)?.query_map([], read)?.collect())
}

/// Stores the details of a session.
pub fn put(tx: &Tx<'_>, session: i64, details: &SessionDetails) -> Result<(), OpError> {
    const PUT: &str = "INSERT INTO session_details (id, label, env_hint, idle_at, observed_at) \
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id) DO UPDATE SET label = excluded.label, \
         env_hint = excluded.env_hint, idle_at = excluded.idle_at, \
         observed_at = excluded.observed_at";
    let SessionDetails { label, env_hint, idle_at, observed_at } = details;
    let given = params![session, label, env_hint, idle_at, observed_at];
    tx.sql(|db| db.prepare_cached(PUT)?.execute(given).map(drop))
}

pub(crate) const UNOBSERVED: &str = "SELECT id FROM session_details \
     WHERE idle_at > coalesce(observed_at, 0) ORDER BY idle_at";

/// The sessions whose last turn ended after they were last opened or got a prompt, by their ids in the store.
pub fn unobserved(rx: &Rx<'_>) -> Result<Vec<i64>, OpError> {
    rx.sql(|db| db.prepare_cached(UNOBSERVED)?.query_map([], |row| row.cell(0))?.collect())
}

/// The number of sessions whose last turn ended after they were last opened or got a prompt.
pub fn count_unobserved(rx: &Rx<'_>) -> Result<u64, OpError> {
    const COUNT: &str =
        "SELECT count(*) FROM session_details WHERE idle_at > coalesce(observed_at, 0)";
    rx.sql(|db| db.prepare_cached(COUNT)?.query_row([], |row| row.cell(0)))
}

/// Where a session last started, and with which model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionStart {
    pub cwd: Option<String>,
    pub model: Option<String>,
}

/// The last start of a session, or else its first event. Empty for sessions of builds that did not store this.
pub fn last_start(rx: &Rx<'_>, session: i64) -> Result<SessionStart, OpError> {
    const START: &str = "SELECT cwd, model FROM session_starts WHERE id = ?1";
    let read = |row: &Row<'_>| Ok(SessionStart { cwd: row.cell(0)?, model: row.cell(1)? });
    let found = rx.sql(|db| db.prepare_cached(START)?.query_row([session], read).optional())?;
    Ok(found.unwrap_or_default())
}

/// Stores the start of a session. `None` leaves the stored value unchanged.
pub fn note_start(
    tx: &Tx<'_>,
    session: i64,
    cwd: Option<&Redacted<String>>,
    model: Option<&str>,
) -> Result<(), OpError> {
    const NOTE: &str = "INSERT INTO session_starts (id, cwd, model) VALUES (?1, ?2, ?3) \
         ON CONFLICT (id) DO UPDATE SET cwd = coalesce(excluded.cwd, cwd), \
         model = coalesce(excluded.model, model)";
    let cwd = cwd.map(|cwd| cwd.as_str());
    tx.sql_on_row(|db| db.prepare_cached(NOTE)?.execute(params![session, cwd, model])).map(drop)
}

/// Removes the details of a session that is removed.
pub(crate) fn remove(tx: &Tx<'_>, session: i64) -> Result<(), OpError> {
    tx.sql(|db| {
        db.prepare_cached("DELETE FROM session_details WHERE id = ?1")?.execute([session])?;
        db.prepare_cached("DELETE FROM session_starts WHERE id = ?1")?.execute([session])
    })?;
    restore(tx, session).map(drop)
}

/// Notes that a session was deleted without its records.
pub(crate) fn mark_deleted(tx: &Tx<'_>, session: i64) -> Result<(), OpError> {
    const MARK: &str = "INSERT OR IGNORE INTO deleted_sessions (id) VALUES (?1)";
    tx.sql(|db| db.prepare_cached(MARK)?.execute([session]).map(drop))
}

/// Removes the mark that a session was deleted, so that lists show it again. Returns whether it had the mark.
pub(crate) fn restore(tx: &Tx<'_>, session: i64) -> Result<bool, OpError> {
    const RESTORE: &str = "DELETE FROM deleted_sessions WHERE id = ?1";
    tx.sql(|db| Ok(db.prepare_cached(RESTORE)?.execute([session])? > 0))
}

/// Whether a session was deleted and its records were kept.
pub(crate) fn is_deleted(rx: &Rx<'_>, session: i64) -> Result<bool, OpError> {
    const DELETED: &str = "SELECT EXISTS (SELECT 1 FROM deleted_sessions WHERE id = ?1)";
    rx.sql(|db| db.prepare_cached(DELETED)?.query_row([session], |row| row.cell(0)))
}
