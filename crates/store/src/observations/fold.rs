//! Folding of repeats into one row: equal reads or searches within minutes, and floods of any equal records.

use model::observation::ObsType;
use model::{OpError, limits};
use rusqlite::{Row, params};

use super::{NewObservation, metadata_text};
use crate::cells::Cells as _;
use crate::tx::Tx;
use crate::{activity_counts, hash, import_effects, passages};

/// How repeats are folded.
#[derive(Clone, Copy, Debug)]
pub struct Folding {
    /// Milliseconds within which equal file reads or searches are folded into one; 0 disables this.
    pub reads_ms: i64,
}

impl Default for Folding {
    fn default() -> Folding {
        Folding { reads_ms: limits::FOLD_MS }
    }
}

impl Folding {
    fn is_read(&self, new: &NewObservation<'_>) -> bool {
        self.reads_ms > 0 && !new.failed && matches!(new.kind, ObsType::FileRead | ObsType::Search)
    }
}

/// A row that counts one or more equal records of the last minutes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    first_at: i64,
    at: i64,
    pub(crate) observation: i64,
    count: u64,
    folds: bool,
}

pub(crate) enum Verdict {
    Fold(Earlier),
    /// An import brings the record, and a hook's row has it already; that row does not change.
    Known(i64),
    /// It gets a row of its own, into which others may fold if it `folds`.
    Keep {
        folds: bool,
    },
}

impl Verdict {
    /// Whether others may fold into a new row for this record.
    pub(crate) fn folds(&self) -> bool {
        match self {
            Verdict::Fold(_) | Verdict::Known(_) => true,
            Verdict::Keep { folds } => *folds,
        }
    }
}

pub(crate) const EARLIER: &str = "SELECT first_at, at, observation, count, folds FROM repeats \
     WHERE session = ?1 AND same = ?2 ORDER BY observation DESC LIMIT ?3";

/// A hash that equal records share: of kind, failure, path and content; for a foldable file read
/// without the content. A collision would take billions of different records within minutes.
pub(crate) fn same(new: &NewObservation<'_>, folding: &Folding) -> i64 {
    let path = new.file_path.map_or("", |path| path.as_str());
    let by_path = folding.is_read(new) && new.kind == ObsType::FileRead && !path.is_empty();
    let content = if by_path { "" } else { new.content.as_str() };
    let failed = if new.failed { "failed" } else { "" };
    hash::of(&[new.kind.word(), failed, path, content])
}

/// Decides whether this record is folded into an earlier row or gets its own.
pub(crate) fn judge(
    tx: &Tx<'_>,
    new: &NewObservation<'_>,
    same: i64,
    folding: &Folding,
) -> Result<Verdict, OpError> {
    if new.kind.is_mark() {
        return Ok(Verdict::Keep { folds: false });
    }
    let within = |at: i64, window: i64| new.at.abs_diff(at) <= window.unsigned_abs();
    if folding.is_read(new) {
        let newest = earlier(tx, new.session, same, 1)?.pop();
        let first = newest.filter(|one| within(one.first_at, folding.reads_ms));
        return first.map_or(Ok(Verdict::Keep { folds: true }), |one| counted_by(tx, new, one));
    }
    // The first rows, which stay separate, and the row that further repeats fold into.
    let earlier = earlier(tx, new.session, same, limits::REPEATS_KEPT + 1)?;
    let recent = || earlier.iter().filter(|one| within(one.at, limits::REPEAT_MS));
    if recent().map(|one| one.count).sum::<u64>() < limits::REPEATS_KEPT {
        return Ok(Verdict::Keep { folds: false });
    }
    let into = recent().find(|one| one.folds && within(one.first_at, limits::REPEAT_MS));
    into.map_or(Ok(Verdict::Keep { folds: true }), |one| counted_by(tx, new, *one))
}

/// Whether this row may count the record. An import adds nothing to the count of a hook's row, because its undo could
/// not subtract that.
fn counted_by(tx: &Tx<'_>, new: &NewObservation<'_>, row: Earlier) -> Result<Verdict, OpError> {
    let Some(batch) = new.batch else { return Ok(Verdict::Fold(row)) };
    if import_effects::is_of_hook(tx, row.observation)? {
        return Ok(Verdict::Known(row.observation));
    }
    import_effects::note_repeat(tx, batch, row.observation)?;
    Ok(Verdict::Fold(row))
}

/// The newest rows of equal records.
fn earlier(tx: &Tx<'_>, session: i64, same: i64, most: u64) -> Result<Vec<Earlier>, OpError> {
    let read = |row: &Row<'_>| {
        Ok(Earlier {
            first_at: row.cell(0)?,
            at: row.cell(1)?,
            observation: row.cell(2)?,
            count: row.cell(3)?,
            folds: row.cell(4)?,
        })
    };
    tx.sql(|db| {
        db.prepare_cached(EARLIER)?.query_map(params![session, same, most], read)?.collect()
    })
}

/// Remembers a record that got a row of its own.
pub(crate) fn remember(
    tx: &Tx<'_>,
    new: &NewObservation<'_>,
    same: i64,
    observation: i64,
    folds: bool,
) -> Result<(), OpError> {
    const REMEMBER: &str = "INSERT INTO repeats \
         (session, same, first_at, at, observation, count, folds) \
         VALUES (?1, ?2, ?3, ?3, ?4, 1, ?5)";
    tx.sql(|db| {
        db.prepare_cached(REMEMBER)?
            .execute(params![new.session, same, new.at, observation, folds])
            .map(drop)
    })
}

/// Folds a record into an earlier row. The row of a repeated read or search keeps its own time and metadata, and counts.
/// In a flood, the first records have rows of their own; the row that counts the rest takes the time and metadata of
/// the last record, so that it shows the last failure. Returns false if the row was purged or is damaged.
pub(crate) fn into(
    tx: &Tx<'_>,
    new: &NewObservation<'_>,
    (same, earlier): (i64, &Earlier),
    folding: &Folding,
) -> Result<bool, OpError> {
    const COUNT: &str = "UPDATE observations SET count = count + 1, \
         last_at = max(coalesce(last_at, at), ?2) WHERE id = ?1";
    const MOVE: &str = "UPDATE observations SET count = count + 1, at = max(at, ?2), \
         metadata = ?3 WHERE id = ?1";
    const REPEATED: &str = "UPDATE repeats SET count = count + 1, at = max(at, ?4) \
         WHERE session = ?1 AND same = ?2 AND observation = ?3";
    let id = earlier.observation;
    let slot = |at: i64| at.div_euclid(activity_counts::SLOT_MS);
    let moves = !folding.is_read(new) && slot(new.at) > slot(earlier.at);
    if moves {
        activity_counts::subtract(tx, id)?;
    }
    let counted = tx.sql_on_row(|db| {
        db.prepare_cached(REPEATED)?.execute(params![new.session, same, id, new.at])?;
        if folding.is_read(new) {
            db.prepare_cached(COUNT)?.execute(params![id, new.at])
        } else {
            db.prepare_cached(MOVE)?.execute(params![id, new.at, metadata_text(new)])
        }
    })?;
    if moves {
        activity_counts::add_again(tx, id)?;
    }
    // The text that search finds the record by may have changed with its metadata.
    let is_commit = new.kind == ObsType::GitCommit;
    if counted == Some(1) && (new.failed || is_commit) {
        passages::changed(tx, id)?;
    }
    Ok(counted == Some(1))
}
