//! History of a session (its turns) or of a file (its touches).

use std::collections::HashMap;

use index::kind_of;
use model::observation::ObsType;
use model::session::PromptSource;
use model::{OpError, limits};
use rusqlite::{OptionalExtension, Row, params};

use crate::cells::{Cells as _, Watched};
use crate::observations::read;
use crate::tx::Rx;
use crate::{paths, projects, prompts};

/// A prompt and the observations it caused; without a prompt, the observations whose prompt is unknown or not listed.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub prompt: Option<Said>,
    pub observations: Vec<Step>,
}

/// The parts of a prompt that a trace shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub id: i64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub source: PromptSource,
    pub content: String,
}

/// The parts of an observation that a trace shows. A session has many, so the rest is not read.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub id: i64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub obs_type: ObsType,
    pub file_path: Option<String>,
    pub content: String,
    pub is_pinned: bool,
    prompt: Option<i64>,
}

pub(crate) const SAID: &str = "SELECT id, at, source, content FROM prompts \
     WHERE session = ?1 AND at < ?2 AND at > ?3 ORDER BY at, id";
pub(crate) const STEPS: &str = "SELECT o.id, o.at, o.kind, f.path, o.content, o.pinned, o.prompt \
     FROM observations o LEFT JOIN paths f ON f.id = o.file \
     WHERE o.session = ?1 AND o.at < ?2 AND o.at > ?3 ORDER BY o.at, o.id LIMIT ?4";

/// The turns of a session in order, between these times (exclusive, in milliseconds). A prompt is
/// listed even if none of its observations is. A very long session is cut after its first
/// [`limits::TRACE_ROWS_MAX`] observations.
pub fn trace(
    rx: &Rx<'_>,
    session: i64,
    before: Option<i64>,
    after: Option<i64>,
) -> Result<Vec<Turn>, OpError> {
    let window = (before.unwrap_or(i64::MAX), after.unwrap_or(i64::MIN));
    let mut place: HashMap<i64, usize> = HashMap::new();
    let mut turns: Vec<(i64, i64, Turn)> = Vec::new();
    for prompt in said(rx, session, window)? {
        place.insert(prompt.id, turns.len());
        let (at, id) = (prompt.at, prompt.id);
        turns.push((at, id, Turn { prompt: Some(prompt), observations: Vec::new() }));
    }
    // Observations without a listed prompt share one turn, placed at the first of them.
    let mut own: Option<usize> = None;
    // Consecutive observations mostly have the same prompt, so its turn is cached.
    let mut last: (Option<i64>, Option<usize>) = (None, None);
    for seen in steps(rx, session, window)? {
        if last.0 != seen.prompt {
            last = (seen.prompt, seen.prompt.and_then(|prompt| place.get(&prompt).copied()));
        }
        let known = last.1;
        let index = match known.or(own) {
            Some(index) => index,
            None => {
                let turn = Turn { prompt: None, observations: Vec::new() };
                turns.push((seen.at, seen.id, turn));
                own = Some(turns.len() - 1);
                turns.len() - 1
            }
        };
        if let Some((_, _, turn)) = turns.get_mut(index) {
            turn.observations.push(seen);
        }
    }
    turns.sort_by_key(|(at, id, _)| (*at, *id));
    Ok(turns.into_iter().map(|(_, _, turn)| turn).collect())
}

fn said(rx: &Rx<'_>, session: i64, (before, after): (i64, i64)) -> Result<Vec<Said>, OpError> {
    let read = |row: &Row<'_>| {
        let row = Watched::new(row);
        let source = prompts::source(&row, 2)?;
        let (id, at, content) = (row.cell(0)?, row.cell(1)?, row.cell(3)?);
        Ok(Said { id, at, source, content: row.marked(content) })
    };
    rx.sql(|db| {
        let mut select = db.prepare_cached(SAID)?;
        select.query_map(params![session, before, after], read)?.collect()
    })
}

fn steps(rx: &Rx<'_>, session: i64, (before, after): (i64, i64)) -> Result<Vec<Step>, OpError> {
    let read = |row: &Row<'_>| {
        let own = Watched::new(row);
        let mut step = Step {
            id: own.cell(0)?,
            at: own.cell(1)?,
            obs_type: read::kind(&own, 2)?,
            file_path: row.cell(3)?,
            content: own.cell(4)?,
            is_pinned: own.cell(5)?,
            prompt: own.cell(6)?,
        };
        step.content = own.marked(step.content);
        Ok(step)
    };
    rx.sql(|db| {
        let mut select = db.prepare_cached(STEPS)?;
        let given = params![session, before, after, limits::TRACE_ROWS_MAX];
        select.query_map(given, read)?.collect()
    })
}

/// Which touches of a file are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileQuery<'a> {
    /// Absolute, relative to a root, or the end of a path.
    pub path: &'a str,
    /// Other stored paths of this file, through a symbolic link or in another working tree. Each is matched exactly.
    pub also: &'a [String],
    /// Top directory of the caller's project, for a path that is relative to it.
    pub root: Option<&'a str>,
    /// None for all projects.
    pub projects: Option<&'a [i64]>,
    /// Milliseconds since 1970; neither end is included.
    pub before: Option<i64>,
    pub after: Option<i64>,
    /// Only touches that changed the file.
    pub interventions_only: bool,
    /// The maximum number of touches, not of sessions.
    pub limit: usize,
}

/// A touch of a file and the text of the prompt that caused it, as a history shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    pub id: i64,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub obs_type: ObsType,
    pub file_path: Option<String>,
    pub content: String,
    pub is_pinned: bool,
    pub prompt: Option<String>,
}

/// A session and its touches of a file, the last first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touches {
    /// The agent's own id of the session.
    pub session_id: String,
    pub project: String,
    /// Milliseconds since 1970, UTC.
    pub started_at: i64,
    /// The user's intent in the session.
    pub intent: Option<String>,
    pub touches: Vec<Touch>,
}

pub(crate) const TOUCHES: &str = "SELECT at, id, project, kind FROM observations \
     WHERE file = ?1 AND at < ?2 AND at > ?3 ORDER BY at DESC, id DESC";
pub(crate) const TOUCH: &str = "SELECT o.session, o.kind, f.path, o.content, o.pinned, q.content \
     FROM observations o LEFT JOIN paths f ON f.id = o.file \
     LEFT JOIN prompts q ON q.id = o.prompt AND q.source = 'user' WHERE o.id = ?1";
pub(crate) const TOUCHING: &str = "SELECT s.name, p.name, s.started_at, \
     CASE WHEN json_valid(s.summary) THEN s.summary ->> '$.intent' END \
     FROM sessions s LEFT JOIN projects p ON p.id = s.project WHERE s.id = ?1";

/// The sessions that touched a file, the one with the last touch first.
pub fn of_file(rx: &Rx<'_>, query: &FileQuery<'_>) -> Result<Vec<Touches>, OpError> {
    let mut places = Vec::new();
    let mut files = paths::matching(rx, query.path, query.root, query.projects)?;
    for path in query.also {
        let id = paths::exact(rx, path)?;
        files.extend(id.filter(|id| !files.contains(id)));
    }
    for file in files {
        places.extend(newest_touches(rx, file, query)?);
    }
    places.sort_unstable_by(|a: &(i64, i64), b| b.cmp(a));
    places.truncate(query.limit);
    let mut found: Vec<(i64, Touches)> = Vec::new();
    for place in places {
        let Some((session, touch)) = touch(rx, place)? else { continue };
        if let Some((_, known)) = found.iter_mut().find(|(of, _)| *of == session) {
            known.touches.push(touch);
        } else if let Some(new) = touching(rx, session)? {
            found.push((session, Touches { touches: vec![touch], ..new }));
        }
    }
    Ok(found.into_iter().map(|(_, touches)| touches).collect())
}

/// One touch, and the session in the store that it belongs to.
fn touch(rx: &Rx<'_>, (at, id): (i64, i64)) -> Result<Option<(i64, Touch)>, OpError> {
    let read = |row: &Row<'_>| {
        let own = Watched::new(row);
        let session = own.cell(0)?;
        let mut touch = Touch {
            id,
            at,
            obs_type: read::kind(&own, 1)?,
            file_path: row.cell(2)?,
            content: own.cell(3)?,
            is_pinned: own.cell(4)?,
            prompt: row.cell(5)?,
        };
        touch.content = own.marked(touch.content);
        Ok((session, touch))
    };
    rx.sql(|db| db.prepare_cached(TOUCH)?.query_row([id], read).optional())
}

/// A session with an empty list of touches.
fn touching(rx: &Rx<'_>, session: i64) -> Result<Option<Touches>, OpError> {
    let read = |row: &Row<'_>| {
        let intent: Option<String> = row.cell(3)?;
        Ok(Touches {
            session_id: row.cell(0)?,
            project: projects::name(row, 1)?,
            started_at: row.cell(2)?,
            intent: intent.filter(|intent| !intent.is_empty()),
            touches: Vec::new(),
        })
    };
    rx.sql(|db| db.prepare_cached(TOUCHING)?.query_row([session], read).optional())
}

/// A file that a session used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedFile {
    pub path: String,
    /// How often it was read or changed.
    pub count: u64,
    /// How many of these are changes.
    pub edits: u64,
}

/// SQLite sorts here, but only the files of one session.
pub(crate) const USED: &str = "SELECT f.path, sum(o.count) AS uses, \
     sum(CASE WHEN o.kind = 'file_read' THEN 0 ELSE o.count END) AS edits, max(o.at) AS last \
     FROM observations o JOIN paths f ON f.id = o.file WHERE o.session = ?1 AND o.failed = 0 \
     AND o.kind IN ('file_read', 'file_edit', 'file_write') \
     GROUP BY f.path ORDER BY uses DESC, edits DESC, last DESC, f.path";

/// The files that a session read or changed, the most used first.
pub fn files_of_session(rx: &Rx<'_>, session: i64) -> Result<Vec<UsedFile>, OpError> {
    let read = |row: &Row<'_>| {
        Ok(UsedFile { path: row.cell(0)?, count: row.cell(1)?, edits: row.cell(2)? })
    };
    rx.sql(|db| db.prepare_cached(USED)?.query_map([session], read)?.collect())
}

pub(crate) const ABOUT: &str = "SELECT EXISTS (SELECT 1 FROM observations \
     WHERE file = ?1 AND project IN (SELECT value FROM json_each(?2)))";

/// Whether a record is about exactly this path; if projects are given, a record of one of these.
pub fn is_path(rx: &Rx<'_>, path: &str, projects: Option<&[i64]>) -> Result<bool, OpError> {
    let Some(file) = paths::exact(rx, path)? else { return Ok(false) };
    let Some(projects) = projects else { return Ok(true) };
    let projects = serde_json::json!(projects).to_string();
    rx.sql(|db| db.prepare_cached(ABOUT)?.query_row(params![file, projects], |row| row.cell(0)))
}

/// The paths on record that end in this one, newest first, at most [`limits::FILE_LINKS_MAX`].
pub fn paths_ending(rx: &Rx<'_>, end: &str) -> Result<Vec<String>, OpError> {
    let found = paths::ending(rx, end)?.into_iter().map(|(_, path)| path);
    Ok(found.take(limits::FILE_LINKS_MAX).collect())
}

/// Time and id of the newest touches of one path that fit the query.
fn newest_touches(
    rx: &Rx<'_>,
    file: i64,
    query: &FileQuery<'_>,
) -> Result<Vec<(i64, i64)>, OpError> {
    let fits = |row: &Row<'_>| -> rusqlite::Result<bool> {
        let project: i64 = row.cell(2)?;
        let kind = kind_of(&row.text(3)?);
        Ok(query.projects.is_none_or(|projects| projects.contains(&project))
            && (!query.interventions_only || kind.intervenes()))
    };
    let (before, after) = (query.before.unwrap_or(i64::MAX), query.after.unwrap_or(i64::MIN));
    rx.sql(|db| {
        let mut select = db.prepare_cached(TOUCHES)?;
        let mut rows = select.query(params![file, before, after])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            if fits(row)? {
                found.push((row.cell(0)?, row.cell(1)?));
            }
            if found.len() == query.limit.min(limits::TRACE_ROWS_MAX) {
                break;
            }
        }
        Ok(found)
    })
}
