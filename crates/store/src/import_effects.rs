//! Changes that an import makes to rows which are not its own: repeats that it counts, actions of prompts, times of
//! sessions. They are stored in `import_created`, so that undo can revert them.

use model::OpError;
use model::origin::Origin;
use rusqlite::{OptionalExtension, params};

use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};
use crate::{origins, sessions};

/// A kind of change, with the number that rows of `import_created` have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// An observation that a hook stored and of which the import found a repeat. The observation was not changed.
    Claimed = 5,
    /// A prompt, and how many actions the import added to its count.
    Actions = 6,
    /// An observation of another import, and the time of its last repeat before this import.
    LastRepeat = 7,
    /// A session, and its start before the import.
    Started = 8,
    /// A session, and the time of its last activity before the import.
    LastActive = 9,
    /// A session, and the latest time that the import brought.
    Reached = 10,
    /// A session, and whether it was active before the import.
    Active = 11,
    /// A session, and its end before the import; 0 if it was open.
    Ended = 12,
}

/// The origin that [`claim`] stores for an observation without an origin. It marks the observation as stored by a hook.
fn of_hook(record: i64) -> Origin {
    Origin::of(&["hook's record", &record.to_string()])
}

/// Whether a hook stored or repeated an observation, so that an import must not change it.
pub(crate) fn is_of_hook(rx: &Rx<'_>, record: i64) -> Result<bool, OpError> {
    const OWN: &str = "SELECT NOT EXISTS (SELECT 1 FROM origins WHERE record = ?1) \
         OR EXISTS (SELECT 1 FROM origins WHERE record = ?1 AND batch IS NULL)";
    rx.sql(|db| db.prepare_cached(OWN)?.query_row([record], |row| row.cell(0)))
}

/// Notes that an import found a repeat of an observation that a hook stored.
pub fn claim(tx: &Tx<'_>, batch: i64, record: i64) -> Result<(), OpError> {
    if !origins::has_any(tx, record)? {
        origins::add(tx, of_hook(record), record, None)?;
    }
    note(tx, batch, (Effect::Claimed, record), None)
}

/// Notes that a hook reported the event of this origin too: from now on its record is that of a hook, so the undo of the
/// import that added it leaves it. Returns whether an import had added it.
pub fn keep_for_hook(tx: &Tx<'_>, origin: Origin, record: i64) -> Result<bool, OpError> {
    const OF_HOOK: &str = "UPDATE origins SET batch = NULL WHERE origin = ?1";
    // The import counted its actions without a note, because the prompt was its own.
    const ACTIONS: &str = "INSERT INTO import_created (batch, kind, id, hash) \
         SELECT ?1, ?2, q.id, max(q.actions \
           - (SELECT count(*) FROM observations d JOIN origins o ON o.record = d.id \
              WHERE d.prompt = q.id AND d.kind <> 'answer' AND o.batch IS NULL) \
           - (SELECT coalesce(sum(hash), 0) FROM import_created WHERE kind = ?2 AND id = q.id), 0) \
         FROM prompts q WHERE q.id = ?3 ON CONFLICT DO NOTHING";
    const ACTION: &str = "UPDATE import_created SET hash = hash - 1 WHERE batch = ?1 \
         AND kind = ?2 AND hash > 0 AND id = \
         (SELECT prompt FROM observations WHERE id = ?3 AND kind <> 'answer')";
    let Some(batch) = origins::batch_of_origin(tx, origin)? else { return Ok(false) };
    tx.sql(|db| db.prepare_cached(OF_HOOK)?.execute([origin.0]))?;
    for counted in [ACTIONS, ACTION] {
        let given = params![batch, Effect::Actions as i64, record];
        tx.sql(|db| db.prepare_cached(counted)?.execute(given))?;
    }
    Ok(true)
}

/// Stores the value that a row had before its first change by this import.
fn note(
    tx: &Tx<'_>,
    batch: i64,
    (effect, id): (Effect, i64),
    before: Option<i64>,
) -> Result<(), OpError> {
    const NOTE: &str = "INSERT INTO import_created (batch, kind, id, hash) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT DO NOTHING";
    let given = params![batch, effect as i64, id, before];
    tx.sql(|db| db.prepare_cached(NOTE)?.execute(given).map(drop))
}

/// The rows with a change of this kind, and their values before.
fn noted(rx: &Rx<'_>, batch: i64, effect: Effect) -> Result<Vec<(i64, Option<i64>)>, OpError> {
    const NOTED: &str = "SELECT id, hash FROM import_created WHERE batch = ?1 AND kind = ?2";
    let given = params![batch, effect as i64];
    let read = |row: &rusqlite::Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    rx.sql(|db| db.prepare_cached(NOTED)?.query_map(given, read)?.collect())
}

/// Hands the earlier value over to the next import that changed the row. Returns whether there is such an import.
fn pass_on(
    tx: &Tx<'_>,
    batch: i64,
    (effect, id): (Effect, i64),
    before: Option<i64>,
) -> Result<bool, OpError> {
    const PASS_ON: &str = "UPDATE import_created SET hash = ?4 WHERE kind = ?2 AND id = ?3 \
         AND batch = (SELECT min(batch) FROM import_created \
           WHERE kind = ?2 AND id = ?3 AND batch > ?1)";
    let given = params![batch, effect as i64, id, before];
    Ok(tx.sql(|db| db.prepare_cached(PASS_ON)?.execute(given))? > 0)
}

/// Called before this import counts a repeat of an observation that it did not add: notes the time of the last repeat.
pub(crate) fn note_repeat(tx: &Tx<'_>, batch: i64, record: i64) -> Result<(), OpError> {
    const BEFORE: &str = "SELECT last_at FROM observations WHERE id = ?1 \
         AND EXISTS (SELECT 1 FROM origins WHERE record = ?1 AND batch IS NOT ?2)";
    let before: Option<Option<i64>> = tx.sql(|db| {
        let mut select = db.prepare_cached(BEFORE)?;
        select.query_row([record, batch], |row| row.cell(0)).optional()
    })?;
    before.map_or(Ok(()), |before| note(tx, batch, (Effect::LastRepeat, record), before))
}

/// Reverts the repeats that an import counted in observations that remain, because a hook or another import reported
/// them too.
pub(crate) fn unfold(tx: &Tx<'_>, batch: i64) -> Result<(), OpError> {
    const UNFOLD: &str = "UPDATE observations AS d SET count = max(d.count - own.n, 1), \
           last_at = CASE WHEN d.count - own.n > 1 THEN d.last_at END \
         FROM (SELECT o.record, count(*) AS n FROM origins o WHERE o.batch = ?1 AND EXISTS \
           (SELECT 1 FROM origins t WHERE t.record = o.record AND t.batch IS NOT ?1) \
           AND NOT EXISTS (SELECT 1 FROM import_created c \
             WHERE c.batch = ?1 AND c.kind = ?2 AND c.id = o.record) \
           GROUP BY o.record) own WHERE d.id = own.record AND d.kind <> 'answer'";
    const LAST: &str = "UPDATE observations SET last_at = ?2 WHERE id = ?1 \
         AND NOT EXISTS (SELECT 1 FROM origins WHERE record = ?1 AND batch IS NULL)";
    const AS_COUNTED: &str = "UPDATE repeats SET (count, at) = \
         (SELECT count, coalesce(last_at, at) FROM observations WHERE id = ?1) \
         WHERE observation = ?1 AND session = (SELECT session FROM observations WHERE id = ?1)";
    const UNCLAIM: &str = "DELETE FROM origins WHERE origin = ?1 AND NOT EXISTS \
         (SELECT 1 FROM origins WHERE record = ?2 AND batch IS NOT NULL AND batch <> ?3)";
    let claimed = Effect::Claimed as i64;
    tx.sql(|db| db.prepare_cached(UNFOLD)?.execute([batch, claimed]))?;
    for (record, before) in noted(tx, batch, Effect::LastRepeat)? {
        if !pass_on(tx, batch, (Effect::LastRepeat, record), before)? {
            tx.sql(|db| db.prepare_cached(LAST)?.execute(params![record, before]))?;
        }
        tx.sql(|db| db.prepare_cached(AS_COUNTED)?.execute([record]))?;
    }
    for (record, _) in noted(tx, batch, Effect::Claimed)? {
        let given = params![of_hook(record).0, record, batch];
        tx.sql(|db| db.prepare_cached(UNCLAIM)?.execute(given))?;
    }
    Ok(())
}

/// Notes that an import counts one more action of a prompt that it did not add.
pub(crate) fn note_action(tx: &Tx<'_>, batch: i64, prompt: i64) -> Result<(), OpError> {
    const NOTE: &str = "INSERT INTO import_created (batch, kind, id, hash) SELECT ?1, ?2, ?3, 1 \
         WHERE EXISTS (SELECT 1 FROM origins WHERE record = ?3 AND batch IS NOT ?1) \
         OR NOT EXISTS (SELECT 1 FROM origins WHERE record = ?3) ON CONFLICT DO UPDATE SET hash = hash + 1";
    let given = params![batch, Effect::Actions as i64, prompt];
    tx.sql(|db| db.prepare_cached(NOTE)?.execute(given).map(drop))
}

/// The prompts whose actions an import counted, and the number of their actions without that import. Observations
/// cannot be counted instead, because repeats are folded.
pub(crate) fn actions_without(rx: &Rx<'_>, batch: i64) -> Result<Vec<(i64, i64)>, OpError> {
    const WITHOUT: &str = "SELECT q.id, max(q.actions - c.hash, 0) FROM import_created c \
         JOIN prompts q ON q.id = c.id WHERE c.batch = ?1 AND c.kind = ?2";
    let given = params![batch, Effect::Actions as i64];
    let read = |row: &rusqlite::Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    rx.sql(|db| db.prepare_cached(WITHOUT)?.query_map(given, read)?.collect())
}

pub(crate) fn restore_actions(tx: &Tx<'_>, counted: &[(i64, i64)]) -> Result<(), OpError> {
    const RESTORE: &str = "UPDATE prompts SET actions = ?2 WHERE id = ?1";
    for (prompt, actions) in counted {
        tx.sql_on_row(|db| db.prepare_cached(RESTORE)?.execute([prompt, actions]))?;
    }
    Ok(())
}

/// The id, times and state of a session before an import.
#[derive(Clone, Copy, Debug)]
pub struct TimesBefore {
    session: i64,
    started_at: i64,
    last_at: i64,
    is_active: bool,
    ended_at: Option<i64>,
}

/// The times of a session; `None` if there is none, or the import created it.
pub fn times(rx: &Rx<'_>, batch: i64, name: &str) -> Result<Option<TimesBefore>, OpError> {
    const TIMES: &str = "SELECT id, started_at, last_at, state = 'active', ended_at FROM sessions s \
         WHERE name = ?2 \
         AND NOT EXISTS (SELECT 1 FROM import_created WHERE batch = ?1 AND kind = 1 AND id = s.id)";
    let read = |row: &rusqlite::Row<'_>| {
        let (session, started_at) = (row.cell(0)?, row.cell(1)?);
        let (last_at, is_active, ended_at) = (row.cell(2)?, row.cell(3)?, row.cell(4)?);
        Ok(TimesBefore { session, started_at, last_at, is_active, ended_at })
    };
    rx.sql(|db| db.prepare_cached(TIMES)?.query_row(params![batch, name], read).optional())
}

/// Notes the times and the state of a session before an import brought events of this span. Notes nothing if the import
/// brought no new record and the span is within these times.
pub fn note_times(
    tx: &Tx<'_>,
    batch: i64,
    before: TimesBefore,
    (first, last): (i64, i64),
    has_new: bool,
) -> Result<(), OpError> {
    const REACHED: &str = "INSERT INTO import_created (batch, kind, id, hash) \
         VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET hash = max(hash, excluded.hash)";
    let TimesBefore { session, started_at, last_at, is_active, ended_at } = before;
    if !has_new && first >= started_at && last <= last_at {
        return Ok(());
    }
    note(tx, batch, (Effect::Active, session), Some(i64::from(is_active)))?;
    note(tx, batch, (Effect::Ended, session), Some(ended_at.unwrap_or_default()))?;
    note(tx, batch, (Effect::Started, session), Some(started_at))?;
    note(tx, batch, (Effect::LastActive, session), Some(last_at))?;
    let given = params![batch, Effect::Reached as i64, session, last];
    tx.sql(|db| db.prepare_cached(REACHED)?.execute(given).map(drop))
}

/// Restores the times that a session had before an import, unless a later import or a hook changed them since. Returns
/// false if the import noted no times.
pub(crate) fn restore_times(tx: &Tx<'_>, batch: i64, session: i64) -> Result<bool, OpError> {
    const NOTED: &str =
        "SELECT hash FROM import_created WHERE batch = ?1 AND kind = ?2 AND id = ?3";
    const STARTED: &str = "UPDATE sessions SET started_at = ?2 WHERE id = ?1";
    // A session that was open before is opened again only if an import ended it, at the time of its last event.
    const LAST: &str = "UPDATE sessions SET last_at = ?2, \
           state = CASE WHEN ?5 > 0 THEN 'ended' \
             WHEN state = 'ended' AND (?5 IS NULL OR ended_at <> last_at) THEN state \
             WHEN ?4 = 1 THEN 'active' ELSE 'idle' END, \
           ended_at = CASE WHEN ?5 > 0 THEN ?5 WHEN ?5 = 0 AND ended_at = last_at THEN NULL \
             ELSE ended_at END \
         WHERE id = ?1 AND last_at <= max(?2, ?3)";
    let noted = |effect: Effect| -> Result<Option<i64>, OpError> {
        let given = params![batch, effect as i64, session];
        tx.sql(|db| db.prepare_cached(NOTED)?.query_row(given, |row| row.cell(0)).optional())
    };
    let Some(started) = noted(Effect::Started)? else { return Ok(false) };
    let (last, reached) = (noted(Effect::LastActive)?, noted(Effect::Reached)?);
    let (active, ended) = (noted(Effect::Active)?, noted(Effect::Ended)?);
    pass_on(tx, batch, (Effect::Active, session), active)?;
    pass_on(tx, batch, (Effect::Ended, session), ended)?;
    sessions::forget_alive(tx, session);
    if !pass_on(tx, batch, (Effect::Started, session), Some(started))? {
        tx.sql_on_row(|db| db.prepare_cached(STARTED)?.execute([session, started]))?;
    }
    if !pass_on(tx, batch, (Effect::LastActive, session), last)? {
        let given = params![session, last, reached, active, ended];
        tx.sql_on_row(|db| db.prepare_cached(LAST)?.execute(given))?;
    }
    Ok(true)
}

/// Deletes those rows of a session in `repeats` whose observation no longer exists.
pub(crate) fn forget_repeats(tx: &Tx<'_>, session: i64) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM repeats WHERE session = ?1 \
         AND NOT EXISTS (SELECT 1 FROM observations WHERE id = observation)";
    tx.sql(|db| db.prepare_cached(FORGET)?.execute([session]).map(drop))
}
