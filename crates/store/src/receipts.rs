//! Receipts in the store: which entries were delivered to an agent, why, at what cost, and whether it used them.

use model::OpError;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};

use crate::aggregate::{Aggregate, json_ids};
use crate::cells::Cells as _;
use crate::table_info::{TableInfo, TextColumns};
use crate::tx::{Rx, Tx};
use crate::{ghaps, hash};

/// The row of the registry.
pub(crate) struct Receipts;

impl Aggregate for Receipts {
    fn name(&self) -> &'static str {
        "receipts"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/receipts.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[TableInfo {
            name: "receipts",
            links: &[("session", "sessions")],
            ..TableInfo::PLAIN
        }];
        TABLES
    }

    fn notes(&self) -> &'static [TextColumns] {
        const NOTES: &[TextColumns] = &[TextColumns {
            from: "receipts",
            id: "id",
            plain: &["path", "reason"],
            json: &[],
            indexed: &[],
            unindexed: &[],
        }];
        NOTES
    }
}

/// One delivered entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub id: i64,
    /// The agent's own id of the session.
    pub session_id: String,
    /// The name of the session's project.
    pub project: String,
    /// Milliseconds since 1970, UTC; entries of one delivery have the same time.
    pub at: i64,
    /// The entry it came from.
    pub path: String,
    /// Changes when the content of the entry changes.
    pub stamp: i64,
    pub reason: String,
    pub tokens: u64,
    pub used: bool,
}

/// An entry that is about to be delivered.
#[derive(Clone, Copy, Debug)]
pub struct NewReceipt<'a> {
    pub session: i64,
    pub at: i64,
    pub path: &'a str,
    pub stamp: i64,
    pub reason: &'a str,
    pub tokens: u64,
}

/// When an entry was last delivered to a session, and the stamp of its content then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    pub stamp: i64,
    pub at: i64,
}

pub(crate) const DELIVERED: &str = "SELECT stamp, at FROM receipts \
     WHERE session = ?1 AND path = ?2 AND current ORDER BY at DESC LIMIT 1";
pub(crate) const COUNT: &str = "SELECT count(*) FROM receipts \
     WHERE session = ?1 AND path >= ?2 AND path < ?3 AND at >= ?4";

pub fn add(tx: &Tx<'_>, new: &NewReceipt<'_>) -> Result<i64, OpError> {
    const ADD: &str = "INSERT INTO receipts (session, at, path, stamp, reason, tokens) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    tx.sql(|db| {
        let NewReceipt { session, at, path, stamp, reason, tokens } = new;
        db.prepare_cached(ADD)?.insert(params![session, at, path, stamp, reason, tokens])
    })
}

/// The last delivery of this entry that is still in the host's context, if any.
pub fn delivered(rx: &Rx<'_>, session: i64, path: &str) -> Result<Option<Delivered>, OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached(DELIVERED)?;
        let read = |row: &Row<'_>| Ok(Delivered { stamp: row.cell(0)?, at: row.cell(1)? });
        select.query_row(params![session, path], read).optional()
    })
}

/// A stamp for a content that has no number of its own: equal parts have equal stamps.
pub fn stamp_of(parts: &[&str]) -> i64 {
    hash::of(parts)
}

/// Whether this content of an entry is still in the host's context, also if another content followed it.
pub fn was_shown(rx: &Rx<'_>, session: i64, path: &str, stamp: i64) -> Result<bool, OpError> {
    const SHOWN: &str = "SELECT EXISTS (SELECT 1 FROM receipts \
         WHERE session = ?1 AND path = ?2 AND stamp = ?3 AND current)";
    let given = params![session, path, stamp];
    rx.sql(|db| db.prepare_cached(SHOWN)?.query_row(given, |row| row.cell(0)))
}

/// Whether a session ever got this entry.
pub fn was_ever_shown(rx: &Rx<'_>, session: i64, path: &str) -> Result<bool, OpError> {
    const EVER: &str = "SELECT EXISTS (SELECT 1 FROM receipts WHERE session = ?1 AND path = ?2)";
    rx.sql(|db| db.prepare_cached(EVER)?.query_row(params![session, path], |row| row.cell(0)))
}

/// How often entries of a scheme were delivered to a session since this time.
pub fn count(rx: &Rx<'_>, session: i64, scheme: &str, since: i64) -> Result<u64, OpError> {
    // The range of all paths with this prefix; `0` is the character after `/`.
    let (from, to) = (format!("{scheme}://"), format!("{scheme}:/0"));
    rx.sql(|db| {
        db.prepare_cached(COUNT)?.query_row(params![session, from, to, since], |row| row.cell(0))
    })
}

/// How many texts were delivered to a session. The receipts of one text have the same time.
pub fn count_texts(rx: &Rx<'_>, session: i64) -> Result<usize, OpError> {
    const COUNT: &str = "SELECT count(DISTINCT at) FROM receipts WHERE session = ?1";
    rx.sql(|db| db.prepare_cached(COUNT)?.query_row([session], |row| row.cell(0)))
}

/// Which receipts are listed: all conditions have to hold.
#[derive(Clone, Debug, Default)]
pub struct ReceiptFilter {
    /// A session's id in the store.
    pub session: Option<i64>,
    pub projects: Option<Vec<i64>>,
    pub used: Option<bool>,
    /// Only receipts with a lower id.
    pub before: Option<i64>,
    /// Milliseconds since 1970, UTC: `from` is included, `to` is not.
    pub from: Option<i64>,
    pub to: Option<i64>,
}

impl ReceiptFilter {
    /// The condition of the filter over `receipts r`, with the parameters of [`ReceiptFilter::given`]. A session is
    /// looked up in the index, so that its receipts are listed without a look at others.
    fn condition(&self) -> String {
        let session = if self.session.is_some() { "r.session = ?1" } else { "?1 IS NULL" };
        format!(
            "{session} AND r.id < coalesce(?2, 9223372036854775807) \
             AND (?3 IS NULL OR +r.session IN (SELECT id FROM sessions \
             WHERE project IN (SELECT value FROM json_each(?3)))) \
             AND (?4 IS NULL OR (r.used != 0) = ?4) \
             AND (?5 IS NULL OR +r.at >= ?5) AND (?6 IS NULL OR +r.at < ?6)"
        )
    }

    fn given(&self) -> [Value; 6] {
        let number = |number: Option<i64>| number.map_or(Value::Null, Value::Integer);
        let projects = self.projects.as_ref().map(|ids| json_ids(ids.iter().copied()));
        [
            number(self.session),
            number(self.before),
            projects.map_or(Value::Null, Value::Text),
            number(self.used.map(i64::from)),
            number(self.from),
            number(self.to),
        ]
    }
}

/// The newest receipts that match.
pub fn list(rx: &Rx<'_>, filter: &ReceiptFilter, limit: usize) -> Result<Vec<Receipt>, OpError> {
    const COLUMNS: &str = "SELECT r.id, s.name, r.at, r.path, r.stamp, r.reason, r.tokens, r.used, \
         (SELECT p.name FROM projects p WHERE p.id = s.project) \
         FROM receipts r CROSS JOIN sessions s ON s.id = r.session";
    let condition = filter.condition();
    let select = format!("{COLUMNS} WHERE {condition} ORDER BY r.id DESC LIMIT ?7");
    let read = |row: &Row<'_>| {
        Ok(Receipt {
            id: row.cell(0)?,
            session_id: row.cell(1)?,
            at: row.cell(2)?,
            path: row.cell(3)?,
            stamp: row.cell(4)?,
            reason: row.cell(5)?,
            tokens: row.cell(6)?,
            used: row.cell(7)?,
            project: row.cell(8)?,
        })
    };
    let limit = Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX));
    let given = params_from_iter(filter.given().into_iter().chain([limit]));
    rx.sql(|db| db.prepare_cached(&select)?.query_map(given, read)?.collect())
}

/// The tokens of the entries that were delivered in a slot of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InjectedSlot {
    /// Slots since 1970, UTC.
    pub slot: i64,
    pub tokens: u64,
    /// Tokens of the entries whose use is recorded, and of those of them that were used.
    pub tracked_tokens: u64,
    pub used_tokens: u64,
}

pub(crate) const BY_SLOT: &str = "SELECT at / ?1, sum(tokens), \
     sum(tokens * (substr(path, 1, max(instr(path, '://') - 1, 0)) IN (SELECT value FROM json_each(?2)))), \
     sum(tokens * (used != 0) * (substr(path, 1, max(instr(path, '://') - 1, 0)) IN (SELECT value FROM json_each(?2)))) \
     FROM receipts WHERE at >= ?3 AND at < ?4 AND tokens > 0 \
     AND (?5 IS NULL OR +session IN (SELECT id FROM sessions WHERE project IN (SELECT value FROM json_each(?5)))) \
     GROUP BY 1";

/// The deliveries of each slot from `slots.0` up to and without `slots.1`, in these projects or in all.
pub fn by_slot(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    slots: (i64, i64),
    slot_ms: i64,
) -> Result<Vec<InjectedSlot>, OpError> {
    let tracked = serde_json::json!(USE_RECORDED).to_string();
    let (from, to) = (slots.0.saturating_mul(slot_ms), slots.1.saturating_mul(slot_ms));
    let projects = projects.map(|ids| json_ids(ids.iter().copied()));
    let read = |row: &Row<'_>| {
        Ok(InjectedSlot {
            slot: row.cell(0)?,
            tokens: row.cell(1)?,
            tracked_tokens: row.cell(2)?,
            used_tokens: row.cell(3)?,
        })
    };
    let given = params![slot_ms, tracked, from, to, projects];
    rx.sql(|db| db.prepare_cached(BY_SLOT)?.query_map(given, read)?.collect())
}

/// Deletes the receipts of records that are removed.
pub(crate) fn forget(
    tx: &Tx<'_>,
    scheme: &str,
    ids: impl Iterator<Item = i64>,
) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM receipts WHERE path IN \
         (SELECT ?1 || '://' || value FROM json_each(?2))";
    tx.sql(|db| db.prepare_cached(FORGET)?.execute(params![scheme, json_ids(ids)]).map(drop))
}

/// Deletes the receipts of an entry that is removed.
pub(crate) fn forget_path(tx: &Tx<'_>, path: &str) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM receipts WHERE path = ?1";
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([path]).map(drop))
}

/// The entries of a scheme that were shown in a session and not used there, with their stamps.
pub fn unused(rx: &Rx<'_>, session: i64, scheme: &str) -> Result<Vec<(String, i64)>, OpError> {
    const UNUSED: &str = "SELECT DISTINCT path, stamp FROM receipts \
         WHERE session = ?1 AND path >= ?2 AND path < ?3 AND used = 0";
    let (from, to) = (format!("{scheme}://"), format!("{scheme}:/0"));
    let given = params![session, from, to];
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    rx.sql(|db| db.prepare_cached(UNUSED)?.query_map(given, read)?.collect())
}

/// The records and learned entries that were shown in a session and not used there. Texts about the session's own or an
/// orphaned ghap are not among them: only a step with that ghap uses them.
pub fn unused_items(rx: &Rx<'_>, session: i64) -> Result<Vec<String>, OpError> {
    let unused = format!(
        "SELECT DISTINCT path FROM receipts WHERE session = ?1 AND used = 0 AND tokens > 0 \
         AND (path LIKE 'memory://%' OR path LIKE 'value://%' OR path LIKE 'ghap://%' \
         OR path LIKE 'obs://%') \
         AND {NO_STEP}"
    );
    rx.sql(|db| db.prepare_cached(&unused)?.query_map([session], |row| row.cell(0))?.collect())
}

/// Excludes texts about an active ghap, which only a step with it uses.
const NO_STEP: &str = "NOT (path LIKE 'ghap://%' AND (reason LIKE 'check-in%' \
     OR reason LIKE 'outcome%' OR reason LIKE 'orphan%'))";

/// Whether reading an entry would be its first use in a session that got it.
pub fn is_unread(rx: &Rx<'_>, session: i64, path: &str) -> Result<bool, OpError> {
    let unread = format!(
        "SELECT EXISTS (SELECT 1 FROM receipts WHERE session = ?1 AND path = ?2 AND used = 0 \
         AND {NO_STEP})"
    );
    rx.sql(|db| db.prepare_cached(&unread)?.query_row(params![session, path], |row| row.cell(0)))
}

/// Marks an entry as used by the session that read it.
pub fn mark_read(tx: &Tx<'_>, session: i64, path: &str) -> Result<(), OpError> {
    let read =
        format!("UPDATE receipts SET used = 1 WHERE session = ?1 AND path = ?2 AND {NO_STEP}");
    tx.sql(|db| db.prepare_cached(&read)?.execute(params![session, path]).map(drop))
}

/// Schemes of entries whose use is recorded. The use of a resumed session's declared context is not recorded.
pub const USE_RECORDED: &[&str] = &["hint", "fix", "ghap", "memory", "value", "obs"];

/// Schemes of entries that rank lower if no session used them. A record in a briefing may be useful without a recorded
/// use, because it says what was done.
pub const RANKED_BY_USE: &[&str] = &["hint", "fix", "ghap", "memory", "value"];

/// Schemes of entries that a session uses by reading them.
pub const READ_IS_USE: &[&str] = &["ghap", "memory", "value", "obs"];

/// The entries of a source that sessions got, and their use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceUse {
    /// The scheme of its entries; for some entries about ghaps `check-in`, `outcome` or `orphan` instead.
    pub source: String,
    pub shown: u64,
    pub used: u64,
    pub tokens: u64,
}

/// The use of each source in the receipts that match, most often shown first. Entries without tokens do not count: they
/// were left out because a better entry says the same.
pub fn by_source(rx: &Rx<'_>, filter: &ReceiptFilter) -> Result<Vec<SourceUse>, OpError> {
    // A ghap is shown as a reminder, as the outcome of a run, as an orphan, and as open work.
    const SOURCES: &str = "SELECT CASE WHEN path LIKE 'ghap://%' AND reason LIKE 'check-in%' THEN 'check-in' \
         WHEN path LIKE 'ghap://%' AND reason LIKE 'outcome%' THEN 'outcome' \
         WHEN path LIKE 'ghap://%' AND reason LIKE 'orphan%' THEN 'orphan' \
         ELSE substr(path, 1, max(instr(path, '://') - 1, 0)) END AS source, \
         count(*), total(used != 0), total(tokens) FROM receipts r";
    let condition = filter.condition();
    let by_source =
        format!("{SOURCES} WHERE {condition} AND tokens > 0 GROUP BY source ORDER BY 2 DESC, 1");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of counts")]
    let read = |row: &Row<'_>| {
        let (used, tokens): (f64, f64) = (row.cell(2)?, row.cell(3)?);
        let (source, shown) = (row.cell(0)?, row.cell(1)?);
        Ok(SourceUse { source, shown, used: used as u64, tokens: tokens as u64 })
    };
    let given = params_from_iter(filter.given());
    rx.sql(|db| db.prepare_cached(&by_source)?.query_map(given, read)?.collect())
}

/// Entries ranked by use that at least so many sessions got and none used, those of the most sessions first, with
/// the number of sessions. The sessions of all projects count; the filter chooses entries by the receipts that match.
pub fn never_used(
    rx: &Rx<'_>,
    filter: &ReceiptFilter,
    sessions: u64,
    limit: usize,
) -> Result<Vec<(String, u64)>, OpError> {
    // The list leaves out the suggestion to start a ghap, which has a path only for its receipts.
    let never_used = format!(
        "SELECT path, count(DISTINCT session) AS sessions FROM receipts \
         WHERE substr(path, 1, max(instr(path, '://') - 1, 0)) IN (SELECT value FROM json_each(?7)) \
         AND path <> ?8 AND path IN (SELECT r.path FROM receipts r WHERE {}) \
         GROUP BY path HAVING sessions >= ?9 AND max(used) = 0 ORDER BY sessions DESC, path LIMIT ?10",
        filter.condition()
    );
    let given = filter.given().into_iter().chain([
        Value::Text(serde_json::json!(RANKED_BY_USE).to_string()),
        Value::Text(ghaps::SUGGESTION.to_owned()),
        Value::Integer(i64::try_from(sessions).unwrap_or(i64::MAX)),
        Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)),
    ]);
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    rx.sql(|db| db.prepare_cached(&never_used)?.query_map(params_from_iter(given), read)?.collect())
}

pub(crate) const IS_IGNORED: &str = "SELECT count(DISTINCT session) >= ?2 AND max(used) = 0 \
     FROM receipts WHERE path = ?1";

/// Whether at least so many sessions got an entry and none used it.
pub fn is_ignored(rx: &Rx<'_>, path: &str, sessions: u64) -> Result<bool, OpError> {
    let given = params![path, sessions];
    let found: Option<bool> =
        rx.sql(|db| db.prepare_cached(IS_IGNORED)?.query_row(given, |row| row.cell(0)))?;
    Ok(found.unwrap_or_default())
}

/// Marks an entry as used by the agent. Returns whether it was delivered at all.
pub fn mark_used(tx: &Tx<'_>, session: i64, path: &str) -> Result<bool, OpError> {
    const USED: &str = "UPDATE receipts SET used = 1 WHERE session = ?1 AND path = ?2";
    tx.sql(|db| Ok(db.prepare_cached(USED)?.execute(params![session, path])? > 0))
}

/// Marks each delivery of an entry as used unless the session recorded more than `tool_calls` tool calls since then.
pub fn mark_used_within(
    tx: &Tx<'_>,
    session: i64,
    path: &str,
    tool_calls: u64,
) -> Result<(), OpError> {
    const USED_SOON: &str = "UPDATE receipts SET used = 1 \
         WHERE session = ?1 AND path = ?2 AND used = 0 AND (SELECT count(*) FROM \
         (SELECT 1 FROM observations o WHERE o.session = ?1 AND o.at > receipts.at \
         AND o.tool IS NOT NULL LIMIT ?3 + 1)) <= ?3";
    let given = params![session, path, tool_calls];
    tx.sql(|db| db.prepare_cached(USED_SOON)?.execute(given).map(drop))
}

/// The host has dropped its context: every entry may be delivered again.
pub fn reset(tx: &Tx<'_>, session: i64) -> Result<(), OpError> {
    const RESET: &str = "UPDATE receipts SET current = 0 WHERE session = ?1 AND current";
    tx.sql(|db| db.prepare_cached(RESET)?.execute([session]).map(drop))
}
