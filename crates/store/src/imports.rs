//! Imports of transcripts: the batches, how far each file was read, and undo.

use model::OpError;
use model::import::{FileCursor, ImportBatch};
use model::origin::Origin;
use rusqlite::{OptionalExtension, Row, params};
use text::secrets::Redacted;

use crate::cells::Cells as _;
use crate::purge::{self, PurgeFilter, Purged};
use crate::tx::{Rx, Tx};
use crate::{hash, import_effects, projects, session_details, sessions};

/// Begins an import, or continues the given one, which then names this source too. Returns its id.
pub fn begin(tx: &Tx<'_>, batch: Option<i64>, at: i64, source: &str) -> Result<i64, OpError> {
    const BEGIN: &str = "INSERT INTO import_batches (at, source) VALUES (?1, ?2) RETURNING id";
    const ALSO: &str = "UPDATE import_batches SET source = source || ', ' || ?2 WHERE id = ?1 \
         AND instr(', ' || source || ',', ', ' || ?2 || ',') = 0";
    let Some(batch) = batch else {
        let begun = |row: &Row<'_>| row.cell(0);
        return tx.sql(|db| db.prepare_cached(BEGIN)?.query_row(params![at, source], begun));
    };
    tx.sql(|db| db.prepare_cached(ALSO)?.execute(params![batch, source]))?;
    get(tx, batch)?.map(|found| found.id).ok_or_else(|| unknown(batch))
}

/// The error about an import that does not exist.
pub fn unknown(batch: i64) -> OpError {
    OpError::not_found(format!("no import has the id {batch}"))
        .hint("`rekindle import --list` shows the imports.")
}

/// Counts files that were read to their end and records that were added.
pub fn count(tx: &Tx<'_>, batch: i64, files: u64, added: u64) -> Result<(), OpError> {
    const COUNT: &str =
        "UPDATE import_batches SET files = files + ?2, added = added + ?3 WHERE id = ?1";
    tx.sql(|db| db.prepare_cached(COUNT)?.execute(params![batch, files, added]).map(drop))
}

/// Deletes the row of an import if the import changed nothing. Returns whether the row was deleted.
pub fn discard_empty(tx: &Tx<'_>, batch: i64) -> Result<bool, OpError> {
    const DISCARD: &str = "DELETE FROM import_batches WHERE id = ?1 \
         AND NOT EXISTS (SELECT 1 FROM origins WHERE batch = ?1) \
         AND NOT EXISTS (SELECT 1 FROM import_cursors WHERE batch = ?1) \
         AND NOT EXISTS (SELECT 1 FROM import_created WHERE batch = ?1)";
    Ok(tx.sql(|db| db.prepare_cached(DISCARD)?.execute([batch]))? > 0)
}

/// An import by its id.
pub fn get(rx: &Rx<'_>, id: i64) -> Result<Option<ImportBatch>, OpError> {
    const GET: &str = "SELECT id, at, source, files, added FROM import_batches WHERE id = ?1";
    rx.sql(|db| db.prepare_cached(GET)?.query_row([id], read).optional())
}

/// All imports that added something, the newest first.
pub fn list(rx: &Rx<'_>) -> Result<Vec<ImportBatch>, OpError> {
    const LIST: &str = "SELECT id, at, source, files, added FROM import_batches \
         WHERE added > 0 ORDER BY id DESC";
    rx.sql(|db| db.prepare_cached(LIST)?.query_map([], read)?.collect())
}

fn read(row: &Row<'_>) -> rusqlite::Result<ImportBatch> {
    Ok(ImportBatch {
        id: row.cell(0)?,
        at: row.cell(1)?,
        source: row.cell(2)?,
        files: row.cell(3)?,
        added: row.cell(4)?,
    })
}

/// How far a file was imported. `file` is the hash of its path.
pub fn cursor(rx: &Rx<'_>, file: Origin) -> Result<Option<FileCursor>, OpError> {
    const CURSOR: &str =
        "SELECT size, modified, position, head FROM import_cursors WHERE file = ?1";
    rx.sql(|db| {
        let mut select = db.prepare_cached(CURSOR)?;
        let read = |row: &Row<'_>| {
            Ok(FileCursor {
                file: file.to_string(),
                size: row.cell(0)?,
                modified: row.cell(1)?,
                position: row.cell(2)?,
                head: Origin(row.cell(3)?).to_string(),
            })
        };
        select.query_row([file.0], read).optional()
    })
}

/// Stores how far a file was imported, with the id of the newest import: the known records of the file may come from
/// any import up to that one.
pub fn set_cursor(
    tx: &Tx<'_>,
    (file, head): (Origin, Origin),
    cursor: &FileCursor,
) -> Result<(), OpError> {
    const SET: &str = "INSERT INTO import_cursors (file, size, modified, position, head, batch) \
         SELECT ?1, ?2, ?3, ?4, ?5, coalesce(max(id), 0) FROM import_batches WHERE true \
         ON CONFLICT (file) DO UPDATE SET size = excluded.size, \
         modified = excluded.modified, position = excluded.position, head = excluded.head, \
         batch = excluded.batch";
    let FileCursor { size, modified, position, .. } = cursor;
    let given = params![file.0, size, modified, position, head.0];
    tx.sql(|db| db.prepare_cached(SET)?.execute(given).map(drop))
}

/// The records that an import added and nothing else reported since.
fn records(rx: &Rx<'_>, batch: i64) -> Result<Vec<i64>, OpError> {
    const RECORDS: &str = "SELECT DISTINCT o.record FROM origins o WHERE o.batch = ?1 \
         AND o.record IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM origins t WHERE t.record = o.record AND t.batch IS NOT ?1)";
    rx.sql(|db| db.prepare_cached(RECORDS)?.query_map([batch], |row| row.cell(0))?.collect())
}

/// Counts what the undo of an import would delete.
pub fn plan_undo(rx: &Rx<'_>, batch: i64) -> Result<Purged, OpError> {
    purge::plan(rx, &added_by(rx, batch)?)
}

/// Deletes what an import added. All files that were read since it began are read again by the next import: a later
/// import may have skipped records because this one had stored them.
pub fn undo(tx: &Tx<'_>, batch: i64) -> Result<Purged, OpError> {
    const TRACES: [&str; 4] = [
        "DELETE FROM origins WHERE batch = ?1",
        "DELETE FROM import_cursors WHERE batch >= ?1",
        "DELETE FROM import_created WHERE batch = ?1",
        "DELETE FROM import_batches WHERE id = ?1",
    ];
    let spans = spans(tx, batch)?;
    forget_titles(tx, batch)?;
    import_effects::unfold(tx, batch)?;
    let counted = import_effects::actions_without(tx, batch)?;
    let undone = purge::undo(tx, &added_by(tx, batch)?)?;
    import_effects::restore_actions(tx, &counted)?;
    for (session, span) in spans {
        import_effects::forget_repeats(tx, session)?;
        if !import_effects::restore_times(tx, batch, session)? {
            sessions::shrink(tx, session, span)?;
        }
    }
    let created = |kind: Created| -> Result<Vec<i64>, OpError> {
        const CREATED: &str =
            "SELECT id FROM import_created WHERE batch = ?1 AND kind = ?2 ORDER BY id";
        let given = params![batch, kind as i64];
        tx.sql(|db| db.prepare_cached(CREATED)?.query_map(given, |row| row.cell(0))?.collect())
    };
    for kind in Created::ALL {
        for id in created(kind)? {
            if !kind.remove_unused(tx, id)? {
                hand_over(tx, batch, kind, id)?;
            }
        }
    }
    for trace in TRACES {
        tx.sql(|db| db.prepare_cached(trace)?.execute([batch]))?;
    }
    Ok(undone)
}

/// Gives a row that an import created and that is still used to another import, whose undo then removes it.
fn hand_over(tx: &Tx<'_>, batch: i64, kind: Created, id: i64) -> Result<(), OpError> {
    const HAND_OVER: &str = "UPDATE OR IGNORE import_created SET batch = \
           (SELECT max(id) FROM import_batches WHERE id <> ?1 AND added > 0) \
         WHERE batch = ?1 AND kind = ?2 AND id = ?3 \
         AND EXISTS (SELECT 1 FROM import_batches WHERE id <> ?1 AND added > 0)";
    let given = params![batch, kind as i64, id];
    tx.sql(|db| db.prepare_cached(HAND_OVER)?.execute(given).map(drop))
}

/// A session, and the times of the first and the last of its records that an import added.
type SessionSpan = (i64, (i64, i64));

/// The sessions of an import's records, each with the times of its first and its last record from the import.
fn spans(rx: &Rx<'_>, batch: i64) -> Result<Vec<SessionSpan>, OpError> {
    const SPANS: &str = "SELECT d.session, min(d.at), max(d.at) FROM origins o \
         JOIN (SELECT id, session, at FROM prompts \
               UNION ALL SELECT id, session, coalesce(last_at, at) FROM observations) d \
         ON d.id = o.record WHERE o.batch = ?1 GROUP BY d.session";
    let read = |row: &Row<'_>| Ok((row.cell(0)?, (row.cell(1)?, row.cell(2)?)));
    rx.sql(|db| db.prepare_cached(SPANS)?.query_map([batch], read)?.collect())
}

/// The `kind` of the rows of `import_created` for sessions that an import named.
const NAMED: i64 = 4;

/// Gives a session without a name the title in its transcript as its name.
pub fn entitle(
    tx: &Tx<'_>,
    batch: i64,
    session: i64,
    title: &Redacted<String>,
) -> Result<(), OpError> {
    const NOTE: &str = "INSERT INTO import_created (batch, kind, id, hash) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT DO UPDATE SET hash = excluded.hash";
    let mut details = session_details::of_session(tx, session)?;
    if details.label.is_some() || title.is_empty() {
        return Ok(());
    }
    details.label = Some(title.to_string());
    session_details::put(tx, session, &details)?;
    let given = params![batch, NAMED, session, hash::of(&[title])];
    tx.sql(|db| db.prepare_cached(NOTE)?.execute(given).map(drop))
}

/// Removes the names that an import gave to sessions, unless the user changed them.
fn forget_titles(tx: &Tx<'_>, batch: i64) -> Result<(), OpError> {
    const TITLES: &str = "SELECT id, hash FROM import_created WHERE batch = ?1 AND kind = ?2";
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    let titles: Vec<(i64, i64)> =
        tx.sql(|db| db.prepare_cached(TITLES)?.query_map(params![batch, NAMED], read)?.collect())?;
    for (session, title) in titles {
        let mut details = session_details::of_session(tx, session)?;
        if details.label.as_deref().is_some_and(|label| hash::of(&[label]) == title) {
            details.label = None;
            session_details::put(tx, session, &details)?;
        }
    }
    Ok(())
}

/// Whether an import created this session.
pub fn created_session(rx: &Rx<'_>, session: i64) -> Result<bool, OpError> {
    const CREATED: &str = "SELECT 1 FROM import_created WHERE kind = ?1 AND id = ?2";
    let given = params![Created::Session as i64, session];
    rx.sql(|db| db.prepare_cached(CREATED)?.exists(given))
}

/// Whether all records of this session, if it has any, come from this import.
pub fn is_new_session(rx: &Rx<'_>, batch: i64, session: i64) -> Result<bool, OpError> {
    const BEFORE: &str = "SELECT NOT EXISTS (SELECT 1 FROM prompts q WHERE q.session = ?2 \
           AND NOT EXISTS (SELECT 1 FROM origins o WHERE o.record = q.id AND +o.batch = ?1)) \
         AND NOT EXISTS (SELECT 1 FROM observations d WHERE d.session = ?2 \
           AND NOT EXISTS (SELECT 1 FROM origins o WHERE o.record = d.id AND +o.batch = ?1))";
    let given = params![batch, session];
    rx.sql(|db| db.prepare_cached(BEFORE)?.query_row(given, |row| row.cell(0)))
}

fn added_by(rx: &Rx<'_>, batch: i64) -> Result<PurgeFilter, OpError> {
    Ok(PurgeFilter { ids: Some(records(rx, batch)?), ..PurgeFilter::default() })
}

/// A kind of row that an import creates so that it can store a record. Its number is the value of the column `kind` in
/// `import_created`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Created {
    Session = 1,
    Project = 2,
    Alias = 3,
}

impl Created {
    /// All kinds, in the order in which undo removes them: a project is unused only after its sessions are deleted, and
    /// an alias only after the sessions that began at its root are.
    const ALL: [Created; 3] = [Created::Session, Created::Project, Created::Alias];

    fn table(self) -> &'static str {
        match self {
            Created::Session => "sessions",
            Created::Project => "projects",
            Created::Alias => "project_aliases",
        }
    }

    /// Removes the row if nothing uses it. Returns whether it is gone.
    fn remove_unused(self, tx: &Tx<'_>, id: i64) -> Result<bool, OpError> {
        match self {
            Created::Session => sessions::remove_empty(tx, id),
            Created::Project => projects::remove_unused(tx, id),
            Created::Alias => projects::remove_unused_alias(tx, id),
        }
    }
}

/// The highest ids before the events of a call, by which the rows that they create are recognised.
pub struct ImportMarks([i64; 3]);

/// Notes the present highest ids of sessions, projects and aliases.
pub fn marks(rx: &Rx<'_>) -> Result<ImportMarks, OpError> {
    let mut marks = [0; 3];
    for (kind, mark) in Created::ALL.into_iter().zip(&mut marks) {
        let highest = format!("SELECT coalesce(max(id), 0) FROM {}", kind.table());
        *mark = rx.sql(|db| db.prepare_cached(&highest)?.query_row([], |row| row.cell(0)))?;
    }
    Ok(ImportMarks(marks))
}

/// Notes which rows were created since the marks, for undo. Those that nothing uses are removed, for example a session
/// whose records are all known.
pub fn note_created(tx: &Tx<'_>, batch: i64, marks: &ImportMarks) -> Result<(), OpError> {
    const NOTE: &str =
        "INSERT INTO import_created (batch, kind, id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    for (kind, mark) in Created::ALL.into_iter().zip(marks.0) {
        let since = format!("SELECT id FROM {} WHERE id > ?1 ORDER BY id", kind.table());
        let created: Vec<i64> = tx
            .sql(|db| db.prepare_cached(&since)?.query_map([mark], |row| row.cell(0))?.collect())?;
        for id in created {
            // A session in an export may have only its summary left, because its records expired.
            let is_kept = match kind {
                Created::Session => sessions::has_summary(tx, id)?,
                Created::Alias => true,
                Created::Project => false,
            };
            if is_kept || !kind.remove_unused(tx, id)? {
                let given = params![batch, kind as i64, id];
                tx.sql(|db| db.prepare_cached(NOTE)?.execute(given))?;
            }
        }
    }
    Ok(())
}
