//! The best recent observations, by a score that falls with age.
//!
//! Within one project and kind, a newer observation never scores below an older one, so none scores above an
//! observation at the time when its project was last active. A heap holds one head per project and kind, first with
//! that upper bound as its score. When a head reaches the top, its observation is read, and the next one of its project
//! and kind becomes the head. The cost does not grow with the store, and each project costs at least two lookups.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use index::kind_of;
use model::observation::{ObsType, Observation};
use model::{OpError, limits};
use rusqlite::{OptionalExtension, params};

use crate::cells::{Cells as _, RawText};
use crate::observations::read;
use crate::projects;
use crate::tx::Rx;

/// Which observations are wanted, and their score.
pub struct RecentQuery<'a> {
    /// None for all projects.
    pub projects: Option<&'a [i64]>,
    /// Milliseconds since 1970; neither end is included.
    pub before: Option<i64>,
    pub after: Option<i64>,
    /// The score of an observation of this project, kind and time. For two of the same project and
    /// kind the newer one has to have at least the score of the older.
    pub score: &'a dyn Fn(i64, ObsType, i64) -> f64,
}

/// Whether the caller wants another observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    GoOn,
    Enough,
}

/// The next observation of one project and one kind, or the upper bound of its score.
struct Head {
    score: f64,
    /// [`UNSEEN`] if it is still to be looked up.
    id: i64,
    at: i64,
    project: i64,
    kind: ObsType,
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> Ordering {
        self.score.total_cmp(&other.score).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

/// The id of a head that is not looked up yet. Among equal scores it sorts first, because its observation may
/// have that score and be newer.
const UNSEEN: i64 = i64::MAX;

pub(crate) const LAST_ACTIVE: &str = "SELECT max(last_at) FROM sessions WHERE project = ?1";
pub(crate) const LAST_MARK: &str =
    "SELECT max(at) FROM observations WHERE project = ?1 AND kind = 'marker'";
pub(crate) const NEXT: &str = "SELECT id, at FROM observations WHERE project = ?1 AND kind = ?2 \
     AND (at, id) < (?3, ?4) ORDER BY at DESC, id DESC LIMIT 1";
pub(crate) const NEXT_KIND: &str = "SELECT kind FROM observations WHERE project = ?1 AND kind > ?2 \
     ORDER BY kind LIMIT 1";

/// Passes observations to `take`, the best first and the newer first among equals, until the caller has
/// enough or [`limits::RECENT_ROWS_MAX`] were read.
pub fn best(
    rx: &Rx<'_>,
    query: &RecentQuery<'_>,
    mut take: impl FnMut(Observation, f64) -> Taken,
) -> Result<(), OpError> {
    let before = query.before.unwrap_or(i64::MAX);
    let mut heads = BinaryHeap::new();
    for project in projects::these_or_all(rx, query.projects)?.iter().copied() {
        let Some(at) = last_active(rx, project)? else { continue };
        heads.extend(ObsType::ALL.iter().map(|kind| {
            let score = (query.score)(project, *kind, at);
            Head { score, id: UNSEEN, at: before, project, kind: *kind }
        }));
    }
    let mut looked_at = 0;
    while looked_at < limits::RECENT_ROWS_MAX {
        let Some(head) = heads.pop() else { return Ok(()) };
        let id = if head.id == UNSEEN { i64::MIN } else { head.id };
        heads.extend(next(rx, query, (head.project, head.kind), (head.at, id))?);
        if head.id == UNSEEN {
            continue;
        }
        looked_at += 1;
        let found = read::select(rx, "WHERE o.id = ?1", [head.id])?.pop();
        if let Some(found) = found
            && take(found, head.score) == Taken::Enough
        {
            return Ok(());
        }
    }
    Ok(())
}

/// The time of a project's last activity: none of its records is newer. A mark does not count as activity of its
/// session, so the time of the last mark is read separately.
pub(crate) fn last_active(rx: &Rx<'_>, project: i64) -> Result<Option<i64>, OpError> {
    let mut last: Option<i64> = None;
    for select in [LAST_ACTIVE, LAST_MARK] {
        let found = rx.sql(|db| db.prepare_cached(select)?.query_row([project], |row| row.cell(0)));
        last = last.max(found?);
    }
    Ok(last)
}

/// The newest observation of this project and kind before this time and id.
fn next(
    rx: &Rx<'_>,
    query: &RecentQuery<'_>,
    (project, kind): (i64, ObsType),
    (at, id): (i64, i64),
) -> Result<Option<Head>, OpError> {
    let found: Option<(i64, i64)> = rx.sql(|db| {
        let mut select = db.prepare_cached(NEXT)?;
        let given = params![project, kind.word(), at, id];
        select.query_row(given, |row| Ok((row.cell(0)?, row.cell(1)?))).optional()
    })?;
    let found = found.filter(|(_, at)| query.after.is_none_or(|after| *at > after));
    let head = |(id, at)| Head { score: (query.score)(project, kind, at), id, at, project, kind };
    Ok(found.map(head))
}

/// The record types of a project, each with the name stored in its rows, which may be damaged. Steps through
/// the index from one name to the next.
pub(crate) fn kinds(rx: &Rx<'_>, project: i64) -> Result<Vec<(RawText, ObsType)>, OpError> {
    let mut found = Vec::new();
    let mut last = RawText::default();
    loop {
        let next: Option<RawText> = rx.sql(|db| {
            let mut select = db.prepare_cached(NEXT_KIND)?;
            select.query_row(params![project, last], |row| row.cell(0)).optional()
        })?;
        // Blobs sort after all texts, and read as an empty text.
        let Some(word) = next.filter(|word| *word > last) else { return Ok(found) };
        found.push((word.clone(), kind_of(&String::from_utf8_lossy(&word.0))));
        last = word;
    }
}
