//! Observations in the store: stored in order, with repeats folded, and read back as `model` types.
//!
//! All records share one sequence of ids, so reading by id also returns prompts, summaries and other records. See also `fold`
//! (folding of repeats), `read` (rows to observations), [`crate::recent`] and [`crate::history`].

mod aggregate;
pub(crate) mod fold;
pub(crate) mod read;

use model::observation::ObsType;
use model::{OpError, limits};
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;
use text::secrets::Redacted;

use crate::cells::Cells as _;
use crate::tx::{Rx, Tx};
use crate::{
    activity_counts, failures, import_effects, origins, passages, paths, prompts, record_ids,
};

#[cfg(test)]
pub(crate) use aggregate::OLD;
pub(crate) use aggregate::Observations;
pub use fold::Folding;
pub use read::{
    SessionScope, Surroundings, answers_of_session, around, between, containing,
    context_dropped_at, counts, edited_paths, get, lately, newest, next_runs, of_session, one,
    one_of_kind, pinned, pinned_records, runs, runs_of_session, worked_later,
};
pub(crate) use read::{counts_of_session, draw};

/// An observation to be stored.
#[derive(Clone, Copy, Debug)]
pub struct NewObservation<'a> {
    pub session: i64,
    pub project: i64,
    /// The prompt that caused it.
    pub prompt: Option<i64>,
    pub at: i64,
    pub kind: ObsType,
    pub source_event: &'a str,
    pub tool: Option<&'a str>,
    pub file_path: Option<&'a Redacted<String>>,
    pub content: &'a Redacted<String>,
    /// An object, or nothing.
    pub metadata: Option<&'a Redacted<Value>>,
    pub failed: bool,
    /// The subagent that acted.
    pub agent_id: Option<&'a str>,
    /// The import that brings it; none for a hook.
    pub batch: Option<i64>,
}

/// The result of adding an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    New(i64),
    /// It repeats the record with this id, whose count was increased.
    Folded(i64),
    /// An import found a repeat of the record with this id, which a hook stored and which does not change.
    Known(i64),
}

impl Added {
    pub fn id(self) -> i64 {
        match self {
            Added::New(id) | Added::Folded(id) | Added::Known(id) => id,
        }
    }
}

pub(crate) const ADD: &str = "INSERT INTO observations (id, session, project, prompt, at, kind, source_event, \
     tool, file, content, metadata, failed, agent_id) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";

/// Keeps an observation, or counts it with the one that it repeats.
pub fn add(tx: &Tx<'_>, new: &NewObservation<'_>, folding: &Folding) -> Result<Added, OpError> {
    let same = fold::same(new, folding);
    let added = match fold::judge(tx, new, same, folding)? {
        fold::Verdict::Known(record) => return Ok(Added::Known(record)),
        fold::Verdict::Fold(earlier) if fold::into(tx, new, (same, &earlier), folding)? => {
            Added::Folded(earlier.observation)
        }
        verdict => {
            let id = insert(tx, new)?;
            if !new.kind.is_mark() {
                fold::remember(tx, new, same, id, verdict.folds())?;
            }
            Added::New(id)
        }
    };
    if let Some(prompt) = new.prompt.filter(|_| new.kind.is_action()) {
        prompts::note_action(tx, prompt);
        if let Some(batch) = new.batch {
            import_effects::note_action(tx, batch, prompt)?;
        }
    }
    Ok(added)
}

fn insert(tx: &Tx<'_>, new: &NewObservation<'_>) -> Result<i64, OpError> {
    let id = record_ids::next(tx)?;
    let file = new.file_path.map(|path| paths::intern(tx, path)).transpose()?;
    let metadata = metadata_text(new);
    tx.sql(|db| {
        db.prepare_cached(ADD)?.execute(params![
            id,
            new.session,
            new.project,
            new.prompt,
            new.at,
            new.kind.word(),
            new.source_event,
            new.tool,
            file,
            new.content.as_str(),
            metadata,
            new.failed,
            new.agent_id,
        ])
    })?;
    // A mark of a moment in the session, such as its start, has no text worth searching.
    if !new.kind.is_mark() {
        passages::add(tx, id)?;
    }
    Ok(id)
}

/// Stores an agent's answer. An answer that equals the session's previous one to the same prompt only increases the
/// count of that one: an agent that a hook tells to continue may end several turns with the same words.
pub fn add_answer(tx: &Tx<'_>, new: &NewObservation<'_>) -> Result<Added, OpError> {
    const COUNT: &str = "UPDATE observations SET count = count + 1, \
         last_at = max(coalesce(last_at, at), ?2) WHERE id = ?1";
    if let Some((id, content, prompt)) = previous_answer(tx, new.session)?
        && content == new.content.as_str()
        && prompt == new.prompt
    {
        if let Some(batch) = new.batch {
            if import_effects::is_of_hook(tx, id)? {
                return Ok(Added::Known(id));
            }
            import_effects::note_repeat(tx, batch, id)?;
        }
        tx.sql(|db| db.prepare_cached(COUNT)?.execute(params![id, new.at]))?;
        return Ok(Added::Folded(id));
    }
    insert(tx, new).map(Added::New)
}

pub(crate) const PREVIOUS_ANSWER: &str = "SELECT id, content, prompt FROM observations \
     WHERE session = ?1 AND kind = 'answer' ORDER BY at DESC, id DESC LIMIT 1";

type PreviousAnswer = (i64, String, Option<i64>);

fn previous_answer(rx: &Rx<'_>, session: i64) -> Result<Option<PreviousAnswer>, OpError> {
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?));
    rx.sql(|db| db.prepare_cached(PREVIOUS_ANSWER)?.query_row([session], read).optional())
}

/// The metadata as it is kept; an empty object is nothing.
fn metadata_text(new: &NewObservation<'_>) -> Option<String> {
    let value = new.metadata?;
    let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    (!empty).then(|| value.to_string())
}

/// Stores a mark: a text that a user or agent wants to find again.
pub fn mark(
    tx: &Tx<'_>,
    (session, project): (i64, i64),
    prompt: Option<i64>,
    content: &Redacted<String>,
    at: i64,
) -> Result<i64, OpError> {
    let new = NewObservation {
        session,
        project,
        prompt,
        at,
        kind: ObsType::Marker,
        source_event: "mark",
        tool: None,
        file_path: None,
        content,
        metadata: None,
        failed: false,
        agent_id: None,
        batch: None,
    };
    insert(tx, &new)
}

/// Pins or unpins an observation, a prompt or a session's summary. Returns whether this changed it; `None` if there is no
/// such record.
pub fn pin(tx: &Tx<'_>, id: i64, pinned: bool) -> Result<Option<bool>, OpError> {
    for records in tx.registry().records().filter(|records| records.can_be_pinned()) {
        let table = records.name();
        let update = format!("UPDATE {table} SET pinned = ?2 WHERE id = ?1 AND pinned IS NOT ?2");
        if tx.sql(|db| db.prepare_cached(&update)?.execute(params![id, pinned]))? == 1 {
            return Ok(Some(true));
        }
        let find = format!("SELECT 1 FROM {table} WHERE id = ?1");
        if tx.sql(|db| db.prepare_cached(&find)?.exists([id]))? {
            return Ok(Some(false));
        }
    }
    Ok(None)
}

/// Removes an observation, and its path if no other observation has this path.
pub(crate) fn remove(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    const REMOVE: &str = "DELETE FROM observations WHERE id = ?1 RETURNING file";
    passages::remove(tx, id)?;
    activity_counts::subtract(tx, id)?;
    failures::forget(tx, id)?;
    origins::remove(tx, id)?;
    let file: Option<Option<i64>> = tx.sql(|db| {
        let mut remove = db.prepare_cached(REMOVE)?;
        // Every row has to be stepped through, or the removal is not complete.
        let rows: Vec<Option<i64>> =
            remove.query_map([id], |row| row.cell(0))?.collect::<Result<_, _>>()?;
        Ok(rows.into_iter().next())
    })?;
    match file.flatten() {
        Some(file) => paths::forget_unused(tx, file),
        None => Ok(()),
    }
}

/// Deletes the rows by which repeats in a session are recognised, once they are too old for folding. An import forgets
/// only those of its own observations.
pub fn forget_repeats(
    tx: &Tx<'_>,
    session: i64,
    now: i64,
    batch: Option<i64>,
) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM repeats WHERE session = ?1 AND at < ?2 AND (?3 IS NULL \
         OR EXISTS (SELECT 1 FROM origins WHERE record = observation AND +batch = ?3))";
    let old = now.saturating_sub(limits::REPEAT_MS);
    tx.sql(|db| db.prepare_cached(FORGET)?.execute(params![session, old, batch]).map(drop))
}

pub fn count(rx: &Rx<'_>) -> Result<u64, OpError> {
    rx.sql(|db| db.query_row("SELECT count(*) FROM observations", [], |row| row.cell(0)))
}
