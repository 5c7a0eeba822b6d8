//! Failures of tests and builds, and the runs that fixed them.
//!
//! A failure is derived from the observation of a failed run and has its id. It has no text of its own: the command,
//! the error and the work before the fix are read from the observations, so a purge of those leaves nothing behind.

use model::observation::Observation;
use model::run::{self, RunKey};
use model::{OpError, limits};
use rusqlite::{OptionalExtension, Row, params};
use text::fingerprint::Fingerprint;

use crate::aggregate::{Aggregate, json_ids};
use crate::cells::Cells as _;
use crate::observations::{self, Added};
use crate::table_info::{Reference, TableInfo, TableRole};
use crate::tx::{Rx, Tx};
use crate::{hash, receipts};

/// The scheme of the receipts of a failure's fix.
pub const SCHEME: &str = "fix";

/// The row of the registry.
pub(crate) struct Failures;

impl Aggregate for Failures {
    fn name(&self) -> &'static str {
        "failures"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/failures.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[
            TableInfo {
                name: "failures",
                references: &[
                    Reference::needed("project", "projects"),
                    Reference::needed("session", "sessions"),
                ],
                links: &[("id", "observations"), ("fixed_by", "observations")],
                at: Some("at"),
                times: &["at"],
                ..TableInfo::PLAIN
            },
            TableInfo {
                name: "failure_lines",
                role: TableRole::Derived,
                links: &[("failure", "failures")],
                ..TableInfo::PLAIN
            },
        ];
        TABLES
    }

    fn scheme_of_links(&self) -> Option<&'static str> {
        Some(SCHEME)
    }

    /// Forgets failures and fixes without an observation: a repair may have deleted it.
    fn after_sweep(&self, tx: &Tx<'_>, _now: i64) -> Result<(), OpError> {
        const LOST: &str = "SELECT id FROM failures f \
             WHERE NOT EXISTS (SELECT 1 FROM observations o WHERE o.id = f.id) \
             UNION SELECT fixed_by FROM failures f WHERE fixed_by IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.id = f.fixed_by)";
        let lost: Vec<i64> =
            tx.sql(|db| db.prepare(LOST)?.query_map([], |row| row.cell(0))?.collect())?;
        lost.into_iter().try_for_each(|id| forget(tx, id))
    }
}

/// A program with its sub-command. A later successful run of the same kind in the project fixes a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunKind<'a> {
    pub program: &'a str,
    /// Empty if the program has none.
    pub subcommand: &'a str,
}

impl RunKind<'_> {
    fn hash(self) -> i64 {
        hash::of(&[self.program, self.subcommand])
    }
}

/// A run that ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedRun<'a> {
    pub kind: RunKind<'a>,
    pub session: i64,
    pub project: i64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    /// Its observation.
    pub record: Added,
}

pub(crate) const WITH_LINE: &str = "SELECT f.id, f.run, f.lines FROM failure_lines l \
     JOIN failures f ON f.id = l.failure WHERE l.line = ?1 ORDER BY l.failure DESC LIMIT ?2";
pub(crate) const OCCURRENCES: &str = "SELECT id, at, seen, fixed_by FROM failures WHERE alike = ?1 \
     AND (?2 IS NULL OR project IN (SELECT value FROM json_each(?2))) \
     ORDER BY at DESC, id DESC LIMIT ?3";
pub(crate) const OPEN: &str = "SELECT id FROM failures \
     WHERE project = ?1 AND run = ?2 AND fixed_by IS NULL AND +at <= ?3 ORDER BY id DESC LIMIT ?4";
pub(crate) const REOPEN: &str = "UPDATE failures SET fixed_by = NULL WHERE fixed_by = ?1";

/// Records that a run failed. `line` is its command: failures without a fingerprint of their output are listed as one
/// if they are of the same project and command.
pub fn failed(
    tx: &Tx<'_>,
    ended: &EndedRun<'_>,
    lines: &Fingerprint,
    line: &str,
) -> Result<(), OpError> {
    const ADD: &str = "INSERT OR IGNORE INTO failures (id, alike, project, session, run, at, lines) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    const AGAIN: &str = "UPDATE failures SET seen = seen + 1 WHERE id = ?1";
    if let Added::Folded(id) = ended.record {
        return tx.sql(|db| db.prepare_cached(AGAIN)?.execute([id]).map(drop));
    }
    let id = ended.record.id();
    let by_command;
    let lines = match lines.is_empty() {
        true => {
            by_command = Fingerprint::of_command(line, ended.project);
            &by_command
        }
        false => lines,
    };
    let alike = alike(tx, Some(ended.kind), lines)?.first().copied();
    let EndedRun { kind, session, project, at, .. } = *ended;
    let given = params![id, alike.unwrap_or(id), project, session, kind.hash(), at, to_blob(lines)];
    tx.sql(|db| db.prepare_cached(ADD)?.execute(given))?;
    match alike {
        Some(_) => Ok(()),
        None => add_lines(tx, id, lines),
    }
}

/// Records that a run passed: it fixes the earlier failures of its kind in its project, except those of other tests and
/// of other directories. `line` is its command.
pub fn passed(tx: &Tx<'_>, ended: &EndedRun<'_>, line: &str) -> Result<(), OpError> {
    const FIX: &str = "UPDATE failures SET fixed_by = ?2 WHERE id = ?1";
    let given = params![ended.project, ended.kind.hash(), ended.at, limits::OPEN_FAILURES_MAX];
    let open: Vec<i64> =
        tx.sql(|db| db.prepare_cached(OPEN)?.query_map(given, |row| row.cell(0))?.collect())?;
    if open.is_empty() {
        return Ok(());
    }
    let kind = (ended.kind.program, ended.kind.subcommand);
    let directory = |seen: &Observation| RunKey::of(seen).map(|key| key.directory.to_owned());
    let of_fix = observations::one(tx, ended.record.id())?.as_ref().and_then(directory);
    for id in open {
        let Some(failed) = observations::one(tx, id)? else { continue };
        let error = failed.error().unwrap_or_default();
        if directory(&failed) == of_fix && run::is_fixed_by(kind, (&failed.content, error), line) {
            tx.sql(|db| db.prepare_cached(FIX)?.execute([id, ended.record.id()]))?;
        }
    }
    Ok(())
}

/// Derives the failures and fixes of records that an import added, in the order of their times. Later runs may be
/// stored already, so each failure also searches for its fix.
pub fn restore(tx: &Tx<'_>, records: &[i64]) -> Result<(), OpError> {
    let mut runs = Vec::new();
    for id in records {
        runs.extend(observations::one(tx, *id)?);
    }
    runs.sort_by_key(|seen| (seen.at_ms, seen.id));
    runs.iter().try_for_each(|seen| restore_one(tx, seen))
}

fn restore_one(tx: &Tx<'_>, seen: &Observation) -> Result<(), OpError> {
    const OF: &str = "SELECT session, count FROM observations WHERE id = ?1";
    const SEEN: &str = "UPDATE failures SET seen = ?2 WHERE id = ?1";
    const FIX: &str = "UPDATE failures SET fixed_by = ?2 WHERE id = ?1";
    let (Some(key), Some(metadata)) = (RunKey::of(seen), &seen.metadata) else { return Ok(()) };
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    let (session, count): (i64, u64) =
        tx.sql(|db| db.prepare_cached(OF)?.query_row([seen.id], read))?;
    let kind = RunKind { program: key.program, subcommand: key.subcommand };
    let (project, at) = (seen.project_row, seen.at_ms);
    let ended = EndedRun { kind, session, project, at, record: Added::New(seen.id) };
    match run::result(seen) {
        Some("passed") => return passed(tx, &ended, &seen.content),
        Some("failed") => failed(tx, &ended, &run::fingerprint(metadata), &seen.content)?,
        _ => return Ok(()),
    }
    tx.sql(|db| db.prepare_cached(SEEN)?.execute(params![seen.id, count]))?;
    let failed = (seen.content.as_str(), seen.error().unwrap_or_default());
    let fixes = |later: &&Observation| {
        RunKey::of(later).as_ref() == Some(&key)
            && run::result(later) == Some("passed")
            && run::is_fixed_by((kind.program, kind.subcommand), failed, &later.content)
    };
    let later = observations::next_runs(tx, project, at, limits::LATER_RUNS_MAX)?;
    match later.iter().find(fixes) {
        Some(fix) => tx.sql(|db| db.prepare_cached(FIX)?.execute([seen.id, fix.id]).map(drop)),
        None => Ok(()),
    }
}

/// A failure with all its occurrences in some projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The first failure with this fingerprint.
    pub id: i64,
    /// How often it was seen.
    pub seen: u64,
    /// Milliseconds since 1970, UTC.
    pub first_at: i64,
    pub last_at: i64,
    /// The observation of the last occurrence.
    pub last: i64,
    /// Pairs of observations: a fixed occurrence and the run that fixed it, the newest first.
    pub fixes: Vec<(i64, i64)>,
}

/// The first failure of each stored fingerprint that is the same as `lines`, of this kind of run or of any.
fn alike(rx: &Rx<'_>, kind: Option<RunKind<'_>>, lines: &Fingerprint) -> Result<Vec<i64>, OpError> {
    matching(rx, kind, lines.probes(), |known| known.is_same(lines))
}

/// The first failure of each fingerprint that matches and has one of these lines, of this kind of run or of any.
fn matching(
    rx: &Rx<'_>,
    kind: Option<RunKind<'_>>,
    probes: &[u32],
    matches: impl Fn(&Fingerprint) -> bool,
) -> Result<Vec<i64>, OpError> {
    let kind = kind.map(RunKind::hash);
    let mut found = Vec::new();
    for probe in probes {
        let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?));
        let given = params![probe, limits::ALIKE_FAILURES_MAX];
        let rows: Vec<(i64, i64, Vec<u8>)> =
            rx.sql(|db| db.prepare_cached(WITH_LINE)?.query_map(given, read)?.collect())?;
        for (id, run, blob) in rows {
            let is_kind = kind.is_none_or(|kind| kind == run);
            if is_kind && !found.contains(&id) && matches(&from_blob(&blob)) {
                found.push(id);
            }
        }
    }
    Ok(found)
}

/// The failures with the same fingerprint as `lines` in these projects, or in all, the newest first. Without a kind of
/// run, failures of any kind.
pub fn find(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    kind: Option<RunKind<'_>>,
    lines: &Fingerprint,
) -> Result<Vec<Failure>, OpError> {
    newest_first(rx, projects, alike(rx, kind, lines)?)
}

/// The failures that have the same fingerprint as `lines` or contain all of these lines, in these projects or in all,
/// the newest first. A person or an agent often has only the line with the error.
pub fn find_with_lines(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    kind: Option<RunKind<'_>>,
    lines: &Fingerprint,
) -> Result<Vec<Failure>, OpError> {
    let mut ids = alike(rx, kind, lines)?;
    let first = lines.hashes().get(..1).unwrap_or_default();
    let with_all = matching(rx, kind, first, |known| lines.is_part_of(known))?;
    ids.extend(with_all.into_iter().filter(|id| !ids.contains(id)).collect::<Vec<_>>());
    newest_first(rx, projects, ids)
}

fn newest_first(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    ids: Vec<i64>,
) -> Result<Vec<Failure>, OpError> {
    let mut found = Vec::new();
    for id in ids {
        found.extend(get(rx, id, projects)?);
    }
    found.sort_by_key(|failure| std::cmp::Reverse((failure.last_at, failure.id)));
    Ok(found)
}

/// The failure with this id in these projects, or in all.
pub fn get(rx: &Rx<'_>, id: i64, projects: Option<&[i64]>) -> Result<Option<Failure>, OpError> {
    let projects = projects.map(|ids| json_ids(ids.iter().copied()));
    let given = params![id, projects, limits::OCCURRENCES_MAX];
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?, row.cell(3)?));
    let rows: Vec<(i64, i64, u64, Option<i64>)> =
        rx.sql(|db| db.prepare_cached(OCCURRENCES)?.query_map(given, read)?.collect())?;
    let (Some(last), Some(first)) = (rows.first(), rows.last()) else { return Ok(None) };
    Ok(Some(Failure {
        id,
        seen: rows.iter().map(|(_, _, seen, _)| seen).sum(),
        first_at: first.1,
        last_at: last.1,
        last: last.0,
        fixes: (rows.iter().filter_map(|(id, _, _, fixed_by)| Some((*id, (*fixed_by)?))))
            .take(limits::FIXES_COMPARED)
            .collect(),
    }))
}

/// The failures of these projects, or of all, and of this kind of run or of any, most often seen first.
pub fn list(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    kind: Option<RunKind<'_>>,
    limit: usize,
) -> Result<Vec<Failure>, OpError> {
    const MOST_SEEN: &str = "SELECT alike FROM failures \
         WHERE (?1 IS NULL OR project IN (SELECT value FROM json_each(?1))) \
         AND (?3 IS NULL OR run = ?3) \
         GROUP BY alike ORDER BY sum(seen) DESC, max(at) DESC, alike DESC LIMIT ?2";
    let projects_json = projects.map(|ids| json_ids(ids.iter().copied()));
    let given = params![projects_json, limit, kind.map(RunKind::hash)];
    let ids: Vec<i64> =
        rx.sql(|db| db.prepare_cached(MOST_SEEN)?.query_map(given, |row| row.cell(0))?.collect())?;
    ids.into_iter().filter_map(|id| get(rx, id, projects).transpose()).collect()
}

/// The work between a failure and its fix, in order of time: the observations of the session with the fix and, if the
/// failure was in another session, those of that session.
pub fn between(rx: &Rx<'_>, failed: i64, fixed: i64) -> Result<Vec<Observation>, OpError> {
    const SESSION: &str = "SELECT session, at FROM observations WHERE id = ?1";
    let place = |id: i64| {
        let read = |row: &Row<'_>| Ok((row.cell::<i64>(0)?, row.cell::<i64>(1)?));
        rx.sql(|db| db.prepare_cached(SESSION)?.query_row([id], read).optional())
    };
    let (Some(from), Some(to)) = (place(failed)?, place(fixed)?) else { return Ok(Vec::new()) };
    let span = ((from.1, failed), (to.1, fixed));
    let mut found = observations::between(rx, to.0, span, limits::BETWEEN_MAX)?;
    if from.0 != to.0 {
        found.extend(observations::between(rx, from.0, span, limits::BETWEEN_MAX)?);
        found.sort_by_key(|seen| (seen.at_ms, seen.id));
    }
    Ok(found)
}

/// Forgets a run whose observation is deleted. A failure that it fixed is open again.
pub(crate) fn forget(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    const FORGET: &str = "DELETE FROM failures WHERE id = ?1 RETURNING alike, lines";
    tx.sql(|db| db.prepare_cached(REOPEN)?.execute([id]))?;
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    let gone: Vec<(i64, Vec<u8>)> =
        tx.sql(|db| db.prepare_cached(FORGET)?.query_map([id], read)?.collect())?;
    for (alike, lines) in gone.into_iter().filter(|(alike, _)| *alike == id) {
        hand_over(tx, alike, &from_blob(&lines))?;
        receipts::forget(tx, SCHEME, std::iter::once(id))?;
    }
    Ok(())
}

/// Makes the next failure of a fingerprint the first one, because the first was deleted.
fn hand_over(tx: &Tx<'_>, gone: i64, lines: &Fingerprint) -> Result<(), OpError> {
    const UNLINE: &str = "DELETE FROM failure_lines WHERE line = ?1 AND failure = ?2";
    const NEXT: &str = "SELECT id, lines FROM failures WHERE alike = ?1 ORDER BY id LIMIT 1";
    const ADOPT: &str = "UPDATE failures SET alike = ?2 WHERE alike = ?1";
    for line in lines.hashes() {
        tx.sql(|db| db.prepare_cached(UNLINE)?.execute(params![line, gone]))?;
    }
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    let next: Option<(i64, Vec<u8>)> =
        tx.sql(|db| db.prepare_cached(NEXT)?.query_row([gone], read).optional())?;
    let Some((next, lines)) = next else { return Ok(()) };
    tx.sql(|db| db.prepare_cached(ADOPT)?.execute([gone, next]))?;
    add_lines(tx, next, &from_blob(&lines))
}

fn add_lines(tx: &Tx<'_>, failure: i64, lines: &Fingerprint) -> Result<(), OpError> {
    const ADD: &str = "INSERT OR IGNORE INTO failure_lines (line, failure) VALUES (?1, ?2)";
    tx.sql(|db| {
        let mut add = db.prepare_cached(ADD)?;
        lines.hashes().iter().try_for_each(|line| add.execute(params![line, failure]).map(drop))
    })
}

/// Rebuilds the lines by which failures are found, if the file has failures and no lines: a salvaged file has only
/// the failures.
pub fn rebuild_lines(tx: &Tx<'_>) -> Result<(), OpError> {
    const IS_NEEDED: &str = "SELECT EXISTS (SELECT 1 FROM failures) \
         AND NOT EXISTS (SELECT 1 FROM failure_lines)";
    const FIRST: &str = "SELECT id, lines FROM failures WHERE alike = id";
    // The first failure of a fingerprint may have been lost.
    const ORPHANED: &str = "UPDATE failures SET alike = id \
         WHERE NOT EXISTS (SELECT 1 FROM failures first WHERE first.id = failures.alike)";
    if !tx.sql(|db| db.query_row(IS_NEEDED, [], |row| row.cell(0)))? {
        return Ok(());
    }
    tx.sql(|db| db.execute(ORPHANED, []))?;
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    let first: Vec<(i64, Vec<u8>)> =
        tx.sql(|db| db.prepare(FIRST)?.query_map([], read)?.collect())?;
    first.into_iter().try_for_each(|(id, lines)| add_lines(tx, id, &from_blob(&lines)))
}

/// Four bytes for each line.
fn to_blob(lines: &Fingerprint) -> Vec<u8> {
    lines.hashes().iter().flat_map(|line| line.to_le_bytes()).collect()
}

fn from_blob(blob: &[u8]) -> Fingerprint {
    let (lines, _) = blob.as_chunks::<4>();
    Fingerprint::from_hashes(lines.iter().map(|line| u32::from_le_bytes(*line)))
}
