//! Newer records of talk that are similar to a record: one of them may say that the older record no longer applies.

use std::cmp::Reverse;

use index::Passages;
use meaning::DIMENSIONS;
use model::observation::ObsType;
use model::{OpError, limits};
use rusqlite::{Row, params};

use crate::cells::Cells as _;
use crate::tx::Rx;

/// A newer record of talk, and its cosine to the older record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewerTalk {
    pub id: i64,
    pub cosine: f64,
}

/// A record to which newer ones are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct OlderRecord {
    pub(super) id: i64,
    /// Milliseconds since 1970, UTC.
    pub(super) at: i64,
    pub(super) project: i64,
    pub(super) passage: usize,
}

/// For each record the newer records of talk in its project with at least this cosine, the nearest first. Only
/// a bounded number of the passages of talk added last is scanned.
pub(super) fn newer_than(
    rx: &Rx<'_>,
    records: &[OlderRecord],
    least: f64,
) -> Result<Vec<Vec<NewerTalk>>, OpError> {
    let mut found: Vec<Vec<NewerTalk>> = vec![Vec::new(); records.len()];
    let known = rx.passages()?;
    let mut projects: Vec<i64> = records.iter().map(|older| older.project).collect();
    projects.sort_unstable();
    projects.dedup();
    for project in projects {
        let first = records.iter().filter(|older| older.project == project).map(second_of).min();
        let talk = NewestTalk::since(&known, project, first.unwrap_or(i64::MAX));
        let mut cosines = vec![0.0; talk.passages.len()];
        let of_project =
            records.iter().zip(&mut found).filter(|(older, _)| older.project == project);
        for (older, near) in of_project {
            let Some(vector) = known.vector(older.passage) else { continue };
            let newer = talk.passages.partition_point(|one| *one > (second_of(older), older.id));
            meaning::scan(&vector, &talk.cells[..newer], &talk.reciprocals, &mut cosines);
            for ((_, id), cosine) in talk.passages[..newer].iter().zip(&cosines) {
                let cosine = f64::from(*cosine);
                if cosine >= least {
                    near.push(NewerTalk { id: *id, cosine });
                }
            }
        }
    }
    for near in &mut found {
        near.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(b.id.cmp(&a.id)));
        near.dedup_by_key(|one| one.id);
        near.truncate(limits::REPLACING_COMPARED);
    }
    Ok(found)
}

/// When a record happened, to the second, as the catalogue has it.
fn second_of(older: &OlderRecord) -> i64 {
    older.at.saturating_sub(older.at.rem_euclid(1_000))
}

/// The last passages of a project that are talk, newest first, with their vectors side by side, so that one scan
/// compares all that are newer than a record.
#[derive(Default)]
struct NewestTalk {
    /// The time and the document of each passage.
    passages: Vec<(i64, i64)>,
    cells: Vec<[i8; DIMENSIONS]>,
    reciprocals: Vec<f32>,
}

impl NewestTalk {
    /// The talk of a project from this time on.
    fn since(known: &Passages, project: i64, first: i64) -> NewestTalk {
        let newest = known.talk_of(project).rev().take(limits::REPLACING_SCANNED);
        let mut found: Vec<((i64, i64), usize)> = newest
            .filter_map(|passage| Some(((known.at(passage), known.doc(passage)?), passage)))
            .filter(|((at, _), _)| *at >= first)
            .collect();
        found.sort_by_key(|(talk, _)| Reverse(*talk));
        let mut talk = NewestTalk::default();
        for (one, passage) in found {
            let (cells, reciprocals) = known.vectors(passage, 1);
            if let (Some(cells), Some(reciprocal)) = (cells.first(), reciprocals.first()) {
                talk.passages.push(one);
                talk.cells.push(*cells);
                talk.reciprocals.push(*reciprocal);
            }
        }
        talk
    }
}

/// A record of talk with its text.
#[derive(Clone, Debug)]
pub struct TalkText {
    pub id: i64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub kind: ObsType,
    /// The prompt of its turn.
    pub turn: Option<i64>,
    pub text: String,
}

pub(crate) const SAID_SINCE: &str = "SELECT id, at, content FROM prompts \
     WHERE project = ?1 AND at >= ?2 ORDER BY at DESC, id DESC LIMIT ?3";
pub(crate) const TOLD_SINCE: &str = "SELECT id, at, content, prompt FROM observations \
     WHERE project = ?1 AND kind = ?4 AND at >= ?2 AND failed = 0 ORDER BY at DESC, id DESC LIMIT ?3";
pub(crate) const SAID_BEFORE: &str = "SELECT id, at, content FROM prompts \
     WHERE project = ?1 AND at <= ?2 ORDER BY at DESC, id DESC LIMIT ?3";
pub(crate) const TOLD_BEFORE: &str = "SELECT id, at, content, prompt FROM observations \
     WHERE project = ?1 AND kind = ?4 AND at <= ?2 AND failed = 0 ORDER BY at DESC, id DESC LIMIT ?3";

/// The newest prompts, answers and marks of a project from this time on, up to a bound, in no order. They are read
/// by index, without the catalogue.
pub fn talk_since(rx: &Rx<'_>, project: i64, since: i64) -> Result<Vec<TalkText>, OpError> {
    talk(rx, (SAID_SINCE, TOLD_SINCE), project, since)
}

/// The newest prompts, answers and marks of a project up to this time, up to a bound, in no order.
pub fn talk_before(rx: &Rx<'_>, project: i64, until: i64) -> Result<Vec<TalkText>, OpError> {
    talk(rx, (SAID_BEFORE, TOLD_BEFORE), project, until)
}

fn talk(
    rx: &Rx<'_>,
    (said_sql, told_sql): (&str, &str),
    project: i64,
    time: i64,
) -> Result<Vec<TalkText>, OpError> {
    let most = limits::REPLACING_READ;
    let of = |row: &Row<'_>, kind: ObsType, turn: Option<i64>| {
        Ok(TalkText { id: row.cell(0)?, at: row.cell(1)?, kind, turn, text: row.cell(2)? })
    };
    let said = |row: &Row<'_>| of(row, ObsType::UserPrompt, Some(row.cell(0)?));
    let mut found: Vec<TalkText> = rx.sql(|db| {
        let given = params![project, time, most];
        db.prepare_cached(said_sql)?.query_map(given, said)?.collect()
    })?;
    for kind in [ObsType::Answer, ObsType::Marker] {
        let told = |row: &Row<'_>| of(row, kind, row.cell(3)?);
        let told: Vec<TalkText> = rx.sql(|db| {
            let given = params![project, time, most, kind.word()];
            db.prepare_cached(told_sql)?.query_map(given, told)?.collect()
        })?;
        found.extend(told);
    }
    Ok(found)
}
