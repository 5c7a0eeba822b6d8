//! Sessions in the store: updated with every event, identified by the agent's own id.

mod aggregate;
mod predecessor;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::observation::ObsType;
use model::session::{Session, SessionState, Summary};
use model::time::rfc3339;
use model::{OpError, limits};
use rusqlite::{OptionalExtension, Row, params};

use crate::cells::{Cells as _, Watched};
use crate::deferred::Deferred;
pub use crate::listed::OF_MARKS;
use crate::listed::{is_hidden, not_deleted};
use crate::tx::{Rx, Tx};
use crate::{
    context, observations, open_ends, passages, prefixes, projects, prompts, record_ids,
    session_details,
};

#[cfg(test)]
pub(crate) use aggregate::old_sessions;
pub(crate) use aggregate::{NAMES, Sessions};
pub use predecessor::{ended_within, latest_before};

/// Work for the end of a group of writes.
#[derive(Default)]
struct SessionWork {
    /// When sessions were last active, in milliseconds since 1970.
    active: BTreeMap<i64, i64>,
    /// Sessions that end if they were last active at this time or before.
    over: BTreeMap<i64, i64>,
    /// Sessions that get a new summary.
    summaries: BTreeSet<i64>,
}

impl SessionWork {
    fn note_active(&mut self, session: i64, at: i64) {
        let last = self.active.entry(session).or_insert(at);
        *last = at.max(*last);
    }

    fn note_over(&mut self, session: i64, until: i64) {
        let known = self.over.entry(session).or_insert(until);
        *known = until.max(*known);
    }
}

impl Deferred for SessionWork {
    fn add(&mut self, later: SessionWork) {
        later.active.into_iter().for_each(|(session, at)| self.note_active(session, at));
        later.over.into_iter().for_each(|(session, until)| self.note_over(session, until));
        self.summaries.extend(later.summaries);
    }
}

/// How a caller may write the id of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionIdForm {
    /// For programs and agents: the id of a session that is gone must not select another one.
    Whole,
    /// For users at the command line, which prints ids as prefixes.
    Prefix,
}

/// A session as an event shows it.
#[derive(Clone, Copy, Debug)]
pub struct Sighting<'a> {
    /// The agent's own id of the session.
    pub name: &'a str,
    pub agent: &'a str,
    /// The project of the event's directory. A known session keeps its own project, unless the repository at its root
    /// was replaced, or a call without a directory created the session.
    pub project: i64,
    pub root: Option<&'a str>,
    pub at: i64,
    /// Whether the agent reports that the session starts or resumes.
    pub starts: bool,
    /// Whether it is work: a prompt or a tool call. Any other event leaves a waiting session idle.
    pub works: bool,
}

impl Sighting<'_> {
    /// The state of an open session after it.
    fn state(&self, was_active: bool) -> SessionState {
        if self.works || was_active { SessionState::Active } else { SessionState::Idle }
    }
}

/// The result of a sighting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub id: i64,
    /// The project that the session belongs to now.
    pub project: i64,
    pub new: bool,
    /// Whether a session that was idle or ended is active again.
    pub went_active: bool,
}

/// Which sessions a listing has.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionFilter<'a> {
    /// None for all projects.
    pub projects: Option<&'a [i64]>,
    /// By the time of the last event, in milliseconds; neither end is included.
    pub before: Option<i64>,
    pub after: Option<i64>,
    /// By the time of the first event, in milliseconds.
    pub started_before: Option<i64>,
    /// Only those behind this one in the list.
    pub behind: Option<ListPosition>,
    pub state: Option<SessionState>,
    /// Only those whose last turn ended after they were last opened or got a prompt.
    pub unobserved: bool,
    /// Only those with a summary.
    pub summarised: bool,
    /// Only those with a prompt.
    pub prompted: bool,
    /// Only those in which an agent did or answered something.
    pub worked: bool,
}

/// The position of a session in a list: the time of its last event in milliseconds, and its id in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListPosition {
    pub last_at: i64,
    pub id: i64,
}

impl ListPosition {
    pub fn of(session: &Session) -> ListPosition {
        ListPosition { last_at: session.last_at, id: session.id }
    }
}

const COLUMNS: &str = "SELECT s.id, s.name, s.project, p.name, s.agent, s.root, s.parent, \
     s.started_at, s.last_at, s.ended_at, s.state, s.pinned, s.signature, s.summary \
     FROM sessions s LEFT JOIN projects p ON p.id = s.project ";
pub(crate) const BY_NAME: &str =
    "SELECT id, project, state, ended_at, started_at, root, agent FROM sessions WHERE name = ?1";
/// The agent name of a session that was created by a call from a client that is not a known agent.
pub const UNKNOWN_AGENT: &str = "unknown";

/// `max` and `min`, because events may arrive out of order: a session does not become shorter. A time of last activity
/// after `?5`, in the future, is from before the clock was set back, and is replaced.
const TOUCH: &str = "UPDATE sessions SET \
     last_at = CASE WHEN last_at > ?5 THEN ?2 ELSE max(last_at, ?2) END, \
     started_at = min(started_at, ?2), state = ?3, ended_at = ?4 WHERE id = ?1";

const LAST_BY_AGENT: &str =
    "SELECT agent, max(last_at) FROM sessions WHERE agent <> ?1 GROUP BY agent ORDER BY agent";

/// Active sessions by name, as far as a group of writes has looked them up.
#[derive(Default)]
struct AliveSessions(RefCell<HashMap<String, Alive>>);

/// An active session.
#[derive(Clone, Copy, Debug)]
struct Alive {
    id: i64,
    project: i64,
    started_at: i64,
}

/// Notes an event of a session, which is created if it is new. An ended session stays ended unless
/// the event starts or resumes it: events of its last turn may arrive late.
pub fn touch(tx: &Tx<'_>, seen: &Sighting<'_>) -> Result<Seen, OpError> {
    let alive = tx.cached::<AliveSessions>().0.borrow().get(seen.name).copied();
    if let Some(Alive { id, project, started_at }) = alive
        && seen.at >= started_at
        && project == seen.project
    {
        tx.defer(|work: &mut SessionWork| work.note_active(id, seen.at));
        return Ok(Seen { id, project, new: false, went_active: false });
    }
    type Known = (i64, i64, String, Option<i64>, i64, Option<String>, String);
    let known: Option<Known> = tx.sql(|db| {
        let mut select = db.prepare_cached(BY_NAME)?;
        let row = |row: &Row<'_>| {
            let (state, ended_at) = (row.cell(2)?, row.cell(3)?);
            let (started_at, root, agent) = (row.cell(4)?, row.cell(5)?, row.cell(6)?);
            Ok((row.cell(0)?, row.cell(1)?, state, ended_at, started_at, root, agent))
        };
        select.query_row([seen.name], row).optional()
    })?;
    let Some((id, project, state, ended_at, started_at, root, agent)) = known else {
        return create(tx, seen);
    };
    if agent == UNKNOWN_AGENT && seen.agent != UNKNOWN_AGENT {
        name_agent(tx, id, seen.agent)?;
    }
    if project != seen.project && root.is_some() && root.as_deref() == seen.root {
        return continue_in_project(tx, seen, (id, project));
    }
    let project = match root.is_none() && seen.root.is_some() && project != seen.project {
        true if join_project(tx, id, seen)? => seen.project,
        _ => project,
    };
    let was_active = state == SessionState::Active.word();
    if was_active && seen.at >= started_at {
        let alive = Alive { id, project, started_at };
        tx.cached::<AliveSessions>().0.borrow_mut().insert(seen.name.to_owned(), alive);
        tx.defer(|work: &mut SessionWork| work.note_active(id, seen.at));
        return Ok(Seen { id, project, new: false, went_active: false });
    }
    forget_alive(tx, id);
    // A new event restores a session that was deleted without its records, which is also ended.
    let is_ended = state == SessionState::Ended.word();
    let restored = is_ended && session_details::restore(tx, id)?;
    let stays_ended = is_ended && !seen.starts && !restored;
    let (state, ended_at) = match stays_ended {
        true => (SessionState::Ended, ended_at),
        false => (seen.state(was_active), None),
    };
    let given = params![id, seen.at, state.word(), ended_at, soon(tx)];
    tx.sql_on_row(|db| db.prepare_cached(TOUCH)?.execute(given))?;
    let went_active = state == SessionState::Active && !was_active;
    Ok(Seen { id, project, new: false, went_active })
}

/// Names the agent of a session that a call created before the agent's first event.
fn name_agent(tx: &Tx<'_>, id: i64, agent: &str) -> Result<(), OpError> {
    const NAME: &str = "UPDATE sessions SET agent = ?2 WHERE id = ?1";
    tx.sql_on_row(|db| db.prepare_cached(NAME)?.execute(params![id, agent])).map(drop)
}

/// Gives a session to the project and the agent of its first event, if a call without a directory created it.
fn join_project(tx: &Tx<'_>, id: i64, seen: &Sighting<'_>) -> Result<bool, OpError> {
    const JOIN: &str = "UPDATE sessions SET project = ?2, root = ?3, agent = ?4 WHERE id = ?1 \
         AND NOT EXISTS (SELECT 1 FROM session_starts e WHERE e.id = ?1) \
         AND NOT EXISTS (SELECT 1 FROM prompts q WHERE q.session = ?1) \
         AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.session = ?1)";
    let given = params![id, seen.project, seen.root, seen.agent];
    Ok(tx.sql(|db| db.prepare_cached(JOIN)?.execute(given))? > 0)
}

/// Continues a session in another project, because the directory where it began was replaced. Neither project may
/// get records of the other, so each has its own part: the current one has the session's name, the others have
/// their project's id after it.
fn continue_in_project(
    tx: &Tx<'_>,
    seen: &Sighting<'_>,
    (id, project): (i64, i64),
) -> Result<Seen, OpError> {
    const RENAME: &str = "UPDATE sessions SET name = ?2 WHERE id = ?1";
    let rename = |id: i64, name: &str| {
        tx.sql_on_row(|db| db.prepare_cached(RENAME)?.execute(params![id, name])).map(drop)
    };
    let part = |project: i64| format!("{}~{project}", seen.name);
    let earlier = id_of(tx, &part(seen.project))?;
    end(tx, id, seen.at)?;
    rename(id, &part(project))?;
    summarise_later(tx, id);
    let Some(earlier) = earlier else { return create(tx, seen) };
    rename(earlier, seen.name)?;
    let given = params![earlier, seen.at, seen.state(false).word(), None::<i64>, soon(tx)];
    tx.sql_on_row(|db| db.prepare_cached(TOUCH)?.execute(given))?;
    Ok(Seen { id: earlier, project: seen.project, new: false, went_active: seen.works })
}

/// Drops the cached session, because its state changes.
pub(crate) fn forget_alive(tx: &Tx<'_>, id: i64) {
    tx.cached::<AliveSessions>().0.borrow_mut().retain(|_, alive| alive.id != id);
}

/// Stores when an open session was last active.
fn was_active(tx: &Tx<'_>, id: i64, at: i64) -> Result<(), OpError> {
    const ACTIVE: &str = "UPDATE sessions SET last_at = ?2 \
         WHERE id = ?1 AND (last_at < ?2 OR last_at > ?3)";
    tx.sql_on_row(|db| db.prepare_cached(ACTIVE)?.execute(params![id, at, soon(tx)])).map(drop)
}

/// The latest time that counts as now, because clocks may differ a little. Later times are in the future.
fn soon(tx: &Tx<'_>) -> i64 {
    tx.at().saturating_add(limits::CLOCK_SLACK_MS)
}

fn create(tx: &Tx<'_>, seen: &Sighting<'_>) -> Result<Seen, OpError> {
    const CREATE: &str = "INSERT INTO sessions \
         (id, name, project, agent, root, started_at, last_at, state) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)";
    let id = record_ids::next(tx)?;
    tx.sql(|db| {
        db.prepare_cached(CREATE)?.execute(params![
            id,
            seen.name,
            seen.project,
            seen.agent,
            seen.root,
            seen.at,
            seen.state(false).word()
        ])
    })?;
    Ok(Seen { id, project: seen.project, new: true, went_active: false })
}

/// Notes that the agent has answered and waits.
pub fn idle(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    const IDLE: &str = "UPDATE sessions SET state = 'idle' WHERE id = ?1 AND state = 'active'";
    forget_alive(tx, id);
    tx.sql_on_row(|db| db.prepare_cached(IDLE)?.execute([id])).map(drop)
}

/// Notes that the session is over.
pub fn end(tx: &Tx<'_>, id: i64, at: i64) -> Result<(), OpError> {
    const END: &str = "UPDATE sessions SET state = 'ended', ended_at = max(last_at, ?2), \
         last_at = max(last_at, ?2) WHERE id = ?1";
    forget_alive(tx, id);
    tx.sql_on_row(|db| db.prepare_cached(END)?.execute(params![id, at])).map(drop)
}

/// Notes that a session of a transcript is over, at the time of its last event, unless that is later than `until`. It
/// ends at the end of the group of writes, because further events of the transcript may be in the same group.
pub fn over(tx: &Tx<'_>, id: i64, until: i64) {
    tx.defer(|work: &mut SessionWork| work.note_over(id, until));
    summarise_later(tx, id);
}

/// Ends a session at the time of its last event.
fn end_if_quiet(tx: &Tx<'_>, id: i64, until: i64) -> Result<(), OpError> {
    const END: &str = "UPDATE sessions SET state = 'ended', ended_at = last_at \
         WHERE id = ?1 AND last_at <= ?2";
    forget_alive(tx, id);
    tx.sql_on_row(|db| db.prepare_cached(END)?.execute(params![id, until])).map(drop)
}

/// Opens a session again that a transcript ended too early, because it went on after that.
pub fn went_on(tx: &Tx<'_>, id: i64, at: i64, waits: bool) -> Result<(), OpError> {
    const OPEN: &str = "UPDATE sessions SET state = ?3, ended_at = NULL \
         WHERE id = ?1 AND state = 'ended' AND ended_at < ?2";
    let state = if waits { SessionState::Idle } else { SessionState::Active };
    forget_alive(tx, id);
    tx.sql_on_row(|db| db.prepare_cached(OPEN)?.execute(params![id, at, state.word()])).map(drop)
}

/// Extends the times of a session to a record that an import added.
pub fn extend(tx: &Tx<'_>, id: i64, at: i64) -> Result<(), OpError> {
    const EXTEND: &str = "UPDATE sessions SET last_at = max(last_at, ?2), \
         started_at = min(started_at, ?2) WHERE id = ?1 AND (last_at < ?2 OR started_at > ?2)";
    forget_alive(tx, id);
    tx.sql_on_row(|db| db.prepare_cached(EXTEND)?.execute(params![id, at])).map(drop)
}

/// Corrects the times of a session after an import was undone whose records were in this span.
pub(crate) fn shrink(tx: &Tx<'_>, id: i64, (first, last): (i64, i64)) -> Result<(), OpError> {
    const SHRINK: &str = "WITH left(at, last) AS (SELECT min(at), max(last) FROM ( \
           SELECT at, at AS last FROM prompts WHERE session = ?1 UNION ALL \
           SELECT at, coalesce(last_at, at) FROM observations WHERE session = ?1)) \
         UPDATE sessions SET started_at = CASE WHEN started_at = ?2 \
           THEN coalesce((SELECT at FROM left), started_at) ELSE started_at END, \
         last_at = CASE WHEN last_at = ?3 \
           THEN coalesce((SELECT last FROM left), last_at) ELSE last_at END WHERE id = ?1";
    forget_alive(tx, id);
    tx.sql_on_row(|db| db.prepare_cached(SHRINK)?.execute(params![id, first, last])).map(drop)
}

/// Notes which session this one was forked from.
pub fn set_parent(tx: &Tx<'_>, id: i64, parent: i64) -> Result<(), OpError> {
    const SET: &str = "UPDATE sessions SET parent = ?2 WHERE id = ?1";
    tx.sql_on_row(|db| db.execute(SET, params![id, parent])).map(drop)
}

/// The session with this name, which is the agent's own id of it.
pub fn by_name(rx: &Rx<'_>, name: &str) -> Result<Option<Session>, OpError> {
    let select = format!("{COLUMNS} WHERE s.name = ?1 AND {}", not_deleted("s.id"));
    rx.sql(|db| db.prepare_cached(&select)?.query_row([name], read).optional())
}

/// The session that a caller means, also one that was deleted without its records.
pub fn find_with_records(
    rx: &Rx<'_>,
    given: &str,
    form: SessionIdForm,
) -> Result<Session, OpError> {
    let name = given.strip_prefix("session://").unwrap_or(given);
    let select = format!("{COLUMNS} WHERE s.name = ?1");
    let found = rx.sql(|db| db.prepare_cached(&select)?.query_row([name], read).optional())?;
    found.map_or_else(|| find(rx, given, form), Ok)
}

/// The session that a caller means: by the agent's own id, by its path `session://ID`, or, if this caller may do so, by
/// the first characters of the id if no other session begins with them.
pub fn find(rx: &Rx<'_>, given: &str, form: SessionIdForm) -> Result<Session, OpError> {
    let name = given.strip_prefix("session://").unwrap_or(given);
    if let Some(session) = by_name(rx, name)? {
        return Ok(session);
    }
    let by_prefix = form == SessionIdForm::Prefix;
    let is_long_enough = name.chars().count() >= limits::SESSION_PREFIX_CHARS_MIN;
    let mut prefix = name;
    let mut named = if by_prefix && is_long_enough { with_prefix(rx, name)? } else { Vec::new() };
    let lower = name.to_ascii_lowercase();
    if by_prefix && named.is_empty() && lower != name {
        // Agents write their ids in small letters, and another program may show them in capitals.
        if let Some(session) = by_name(rx, &lower)? {
            return Ok(session);
        }
        prefix = &lower;
        named = if is_long_enough { with_prefix(rx, prefix)? } else { named };
    }
    if named.len() == 1 {
        return Ok(named.remove(0));
    }
    let shown = text::one_line(name, limits::HOOK_NAME_BYTES_MAX);
    if named.is_empty() {
        let least = match is_long_enough {
            _ if !by_prefix => "Give the whole id. ".to_owned(),
            true => String::new(),
            false => format!(
                "Give the whole id, or at least {} characters of it. ",
                limits::SESSION_PREFIX_CHARS_MIN
            ),
        };
        return Err(OpError::not_found(format!("Session not found: {shown}")).hint(format!(
            "{least}`rekindle sessions --project '*'` lists the sessions; `rekindle show` names the session of a record."
        )));
    }
    let count = count_with_prefix(rx, prefix)?;
    let listed = named.iter().map(|session| {
        let id = text::one_line(&session.session_id, limits::HOOK_NAME_BYTES_MAX);
        let date: String = rfc3339(session.last_at).chars().take("2026-11-18".len()).collect();
        format!("{id} ({date}, {})", session.title())
    });
    let listed: Vec<String> = listed.collect();
    let more = match count.saturating_sub(named.len()) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let message = format!("the ids of {count} sessions begin with '{shown}'");
    let hint = format!("Give more characters of the id: {}{more}.", listed.join("; "));
    Err(OpError::invalid("session_id", message).hint(hint))
}

/// Refuses to delete a session that [`find`] found by a prefix: a user must have seen which one it is.
pub fn check_whole_id(given: &str, found: &Session) -> Result<(), OpError> {
    let name = given.strip_prefix("session://").unwrap_or(given);
    if name == found.session_id {
        return Ok(());
    }
    let line = |id: &str| text::one_line(id, limits::HOOK_NAME_BYTES_MAX);
    let (shown, whole) = (line(name), line(&found.session_id));
    let message = format!("nothing was deleted: '{shown}' is only a prefix of the id {whole}");
    Err(OpError::invalid("session_id", message).hint("Give the whole id to delete that session."))
}

/// The condition that a session's name begins with the first parameter. No name has a character above U+10FFFF, so both
/// bounds are in the index on `name`.
const HAS_PREFIX: &str = "s.name >= ?1 AND s.name < ?1 || char(1114111) AND s.agent <> ?2";

/// Sessions whose names begin with these characters, the last active first.
fn with_prefix(rx: &Rx<'_>, prefix: &str) -> Result<Vec<Session>, OpError> {
    let select = format!(
        "{COLUMNS} WHERE {HAS_PREFIX} AND {} ORDER BY s.last_at DESC, s.id DESC LIMIT ?3",
        not_deleted("s.id")
    );
    let given = params![prefix, OF_MARKS, limits::SESSION_CANDIDATES_LISTED];
    rx.sql(|db| db.prepare_cached(&select)?.query_map(given, read)?.collect())
}

fn count_with_prefix(rx: &Rx<'_>, prefix: &str) -> Result<usize, OpError> {
    let count =
        format!("SELECT count(*) FROM sessions s WHERE {HAS_PREFIX} AND {}", not_deleted("s.id"));
    let given = params![prefix, OF_MARKS];
    rx.sql(|db| db.prepare_cached(&count)?.query_row(given, |row| row.cell(0)))
}

/// How many first characters distinguish each of these names from all other names, if more than usual.
pub fn prefix_chars<'n>(
    rx: &Rx<'_>,
    names: impl Iterator<Item = &'n str>,
) -> Result<Option<usize>, OpError> {
    prefixes::chars_apart(
        rx,
        names,
        "SELECT (SELECT max(name) FROM sessions WHERE name < ?1), \
         (SELECT min(name) FROM sessions WHERE name > ?1)",
    )
}

/// The session's id in the store.
pub fn id_of(rx: &Rx<'_>, name: &str) -> Result<Option<i64>, OpError> {
    rx.sql(|db| db.prepare_cached(BY_NAME)?.query_row([name], |row| row.cell(0)).optional())
}

/// The project where the session of this name began.
pub fn project_of(rx: &Rx<'_>, name: &str) -> Result<Option<i64>, OpError> {
    rx.sql(|db| db.prepare_cached(BY_NAME)?.query_row([name], |row| row.cell(1)).optional())
}

pub fn by_id(rx: &Rx<'_>, id: i64) -> Result<Option<Session>, OpError> {
    let select = format!("{COLUMNS} WHERE s.id = ?1");
    rx.sql(|db| db.prepare_cached(&select)?.query_row([id], read).optional())
}

/// A conversation by its id in the store, unless it was deleted.
pub(crate) fn listed(rx: &Rx<'_>, id: i64) -> Result<Option<Session>, OpError> {
    if session_details::is_deleted(rx, id)? {
        return Ok(None);
    }
    Ok(by_id(rx, id)?.filter(|session| session.agent != OF_MARKS))
}

/// The newest sessions that match, of one project or of all. Both walk an index in the order of the result.
macro_rules! list_query {
    ($from:literal, $project:literal) => {
        concat!(
            "SELECT last_at, sessions.id FROM ",
            $from,
            " WHERE ",
            $project,
            "last_at < ?2 AND last_at > ?3 \
             AND (NOT ?4 OR summary IS NOT NULL) AND agent <> ?6 \
             AND (NOT ?7 OR EXISTS (SELECT 1 FROM prompts q WHERE q.session = sessions.id)) \
             AND (NOT ?8 OR EXISTS (SELECT 1 FROM observations o WHERE o.session = sessions.id \
             AND o.kind NOT GLOB 'session_*')) \
             AND NOT EXISTS (SELECT 1 FROM deleted_sessions d WHERE d.id = sessions.id) \
             AND started_at < ?9 AND (last_at, sessions.id) < (?10, ?11) AND (?12 IS NULL OR state = ?12) \
             AND (NOT ?13 OR EXISTS (SELECT 1 FROM session_details t WHERE t.id = sessions.id \
             AND t.idle_at > coalesce(t.observed_at, 0))) \
             ORDER BY last_at DESC, sessions.id DESC LIMIT ?5"
        )
    };
}
pub(crate) const LIST: &str = list_query!("sessions", "project = ?1 AND ");
pub(crate) const LIST_ALL: &str = list_query!("sessions", "?1 IS NULL AND ");
/// Unobserved sessions while they are few: found by their own index, then sorted.
pub(crate) const LIST_UNOBSERVED: &str = list_query!(
    "session_details u CROSS JOIN sessions ON sessions.id = u.id",
    "u.idle_at > coalesce(u.observed_at, 0) AND (?1 IS NULL OR project = ?1) AND "
);

/// Conversations, those with the latest events first.
pub fn list(
    rx: &Rx<'_>,
    filter: &SessionFilter<'_>,
    limit: usize,
) -> Result<Vec<Session>, OpError> {
    let are_few = filter.unobserved
        && session_details::count_unobserved(rx)? <= limits::UNOBSERVED_SORTED_MAX;
    let (of_project, of_all) =
        if are_few { (LIST_UNOBSERVED, LIST_UNOBSERVED) } else { (LIST, LIST_ALL) };
    let mut found: Vec<(i64, i64)> = Vec::new();
    match filter.projects {
        Some(projects) => {
            for project in projects {
                found.extend(positions(rx, of_project, Some(*project), filter, limit)?);
            }
        }
        None => found = positions(rx, of_all, None, filter, limit)?,
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(limit);
    found.into_iter().filter_map(|(_, id)| by_id(rx, id).transpose()).collect()
}

/// The time of the last event and the id of the sessions that a query lists.
fn positions(
    rx: &Rx<'_>,
    query: &str,
    project: Option<i64>,
    filter: &SessionFilter<'_>,
    limit: usize,
) -> Result<Vec<(i64, i64)>, OpError> {
    let SessionFilter { summarised, prompted, worked, unobserved, .. } = *filter;
    let behind = filter.behind.unwrap_or(ListPosition { last_at: i64::MAX, id: i64::MAX });
    // The index is entered at the position, not at the newest session.
    let before = filter.before.unwrap_or(i64::MAX).min(behind.last_at.saturating_add(1));
    let after = filter.after.unwrap_or(i64::MIN);
    let started_before = filter.started_before.unwrap_or(i64::MAX);
    let state = filter.state.map(SessionState::word);
    let given = params![
        project,
        before,
        after,
        summarised,
        limit,
        OF_MARKS,
        prompted,
        worked,
        started_before,
        behind.last_at,
        behind.id,
        state,
        unobserved
    ];
    rx.sql(|db| {
        let mut select = db.prepare_cached(query)?;
        select.query_map(given, |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })
}

/// Rebuilds the summary and the signature from the session's records. Idempotent.
pub fn summarise(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    let intent = prompts::intent(tx, id)?;
    let mut summary = Summary::new(intent.as_deref().unwrap_or_default());
    let counts = observations::draw(tx, id, &mut summary)?;
    let session = by_id(tx, id)?;
    if let Some(session) = &session {
        summary.next_steps = open_ends::of_session(tx, session)?.next_steps();
    }
    // A session without prompts and actions has no summary. The summary of the session of marks would only repeat the
    // marks.
    let has_actions = intent.is_some() || !counts.is_empty();
    let is_conversation = session.is_none_or(|session| session.agent != OF_MARKS);
    let is_listed = is_conversation && !session_details::is_deleted(tx, id)?;
    let summary = (has_actions && is_listed).then(|| summary.finished());
    let signature = json(&counts)?;
    set_summary(tx, id, summary.as_ref())?;
    const SIGN: &str = "UPDATE sessions SET signature = ?2 WHERE id = ?1 AND signature IS NOT ?2";
    tx.sql_on_row(|db| db.prepare_cached(SIGN)?.execute(params![id, signature])).map(drop)
}

/// The number of a session's records by kind, with answers but without its start and end, the most frequent first: from
/// its signature, or counted for a session that has none yet.
pub fn counts(rx: &Rx<'_>, session: &Session) -> Result<Vec<(ObsType, u64)>, OpError> {
    match session.signature.is_empty() {
        true => observations::counts_of_session(rx, session.id),
        false => Ok(session.signature.clone()),
    }
}

/// The number of actions in a session until now, repeats included.
pub fn actions(rx: &Rx<'_>, id: i64) -> Result<u64, OpError> {
    let counts = observations::counts_of_session(rx, id)?;
    Ok(counts.into_iter().filter(|(kind, _)| kind.is_action()).map(|(_, count)| count).sum())
}

/// Rebuilds the summary at the end of the group, once however often it is requested in it.
pub fn summarise_later(tx: &Tx<'_>, id: i64) {
    tx.defer(|work: &mut SessionWork| {
        work.summaries.insert(id);
    });
}

/// Rebuilds the summary of a session that has one, because it got records of an earlier time.
pub fn refresh_summary(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    if has_summary(tx, id)? {
        summarise_later(tx, id);
    }
    Ok(())
}

/// Replaces the summary, or deletes it.
pub fn set_summary(tx: &Tx<'_>, id: i64, summary: Option<&Summary>) -> Result<(), OpError> {
    const SET: &str = "UPDATE sessions SET summary = ?2 WHERE id = ?1 AND summary IS NOT ?2";
    let text = summary.map(json).transpose()?;
    let changed = tx.sql_on_row(|db| db.prepare_cached(SET)?.execute(params![id, text]))?;
    match summary {
        _ if changed.is_none_or(|changed| changed == 0) => Ok(()),
        Some(_) => passages::changed(tx, id),
        None => passages::remove(tx, id),
    }
}

/// Whether a session has a summary.
pub fn has_summary(rx: &Rx<'_>, id: i64) -> Result<bool, OpError> {
    const HAS: &str = "SELECT 1 FROM sessions WHERE id = ?1 AND summary IS NOT NULL";
    rx.sql(|db| db.prepare_cached(HAS)?.exists([id]))
}

/// Sessions with a summary and an id above this one, in order.
pub fn summaries_after(
    rx: &Rx<'_>,
    after: i64,
    limit: usize,
) -> Result<Vec<(i64, Summary)>, OpError> {
    const AFTER: &str = "SELECT id, summary FROM sessions \
         WHERE id > ?1 AND summary IS NOT NULL ORDER BY id LIMIT ?2";
    let rows: Vec<(i64, String)> = rx.sql(|db| {
        let mut select = db.prepare_cached(AFTER)?;
        select.query_map(params![after, limit], |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })?;
    Ok(rows.into_iter().map(|(id, text)| (id, summary_of(&text))).collect())
}

/// Deletes a session that has no records left.
pub(crate) fn remove(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    passages::remove(tx, id)?;
    remove_own(tx, id)?;
    tx.sql(|db| db.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([id]).map(drop))
}

/// Deletes a session that has no records. Returns whether it is gone.
pub(crate) fn remove_empty(tx: &Tx<'_>, id: i64) -> Result<bool, OpError> {
    for records in tx.registry().records().filter(|records| records.in_session()) {
        let any = format!("SELECT 1 FROM ({}) WHERE session = ?1", records.documents());
        if tx.sql(|db| db.prepare_cached(&any)?.exists([id]))? {
            return Ok(false);
        }
    }
    remove(tx, id)?;
    Ok(true)
}

/// Deletes a session and leaves its records. Its row stays for them, but no list shows it.
pub(crate) fn remove_alone(tx: &Tx<'_>, id: i64, at: i64) -> Result<(), OpError> {
    end(tx, id, at)?;
    set_summary(tx, id, None)?;
    remove_own(tx, id)?;
    session_details::mark_deleted(tx, id)
}

/// Deletes the rows that belong to a session and to none of its records.
fn remove_own(tx: &Tx<'_>, id: i64) -> Result<(), OpError> {
    forget_alive(tx, id);
    context::remove(tx, id)?;
    session_details::remove(tx, id)?;
    tx.sql(|db| {
        db.prepare_cached("DELETE FROM receipts WHERE session = ?1")?.execute([id])?;
        db.prepare_cached("DELETE FROM repeats WHERE session = ?1")?.execute([id]).map(drop)
    })
}

pub(crate) const OF_AGENT: &str = "SELECT id FROM sessions WHERE agent = ?1";

/// All sessions of an agent, as ids in the store.
pub(crate) fn of_agent(rx: &Rx<'_>, agent: &str) -> Result<Vec<i64>, OpError> {
    rx.sql(|db| db.prepare_cached(OF_AGENT)?.query_map([agent], |row| row.cell(0))?.collect())
}

/// The time of each agent's last event.
pub fn last_by_agent(rx: &Rx<'_>) -> Result<Vec<(String, i64)>, OpError> {
    let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
    rx.sql(|db| db.prepare_cached(LAST_BY_AGENT)?.query_map([OF_MARKS], read)?.collect())
}

/// The number of sessions that lists show.
pub fn count(rx: &Rx<'_>) -> Result<u64, OpError> {
    let count = format!(
        "SELECT (SELECT count(*) FROM sessions) - (SELECT count(*) FROM sessions s WHERE {})",
        is_hidden("s")
    );
    rx.sql(|db| db.query_row(&count, [], |row| row.cell(0)))
}

fn json<T: serde::Serialize>(value: &T) -> Result<String, OpError> {
    serde_json::to_string(value).map_err(|error| {
        OpError::internal(format!("cannot write the data of a session as JSON: {error}"))
    })
}

fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    let own = Watched::new(row);
    let state = SessionState::parse(&own.text(10)?);
    let signature = own.text_or_null(12)?;
    let signature: Option<Vec<(ObsType, u64)>> =
        signature.and_then(|text| serde_json::from_str(&text).ok());
    let mut found = Session {
        id: own.cell(0)?,
        session_id: own.cell(1)?,
        project_id: own.cell(2)?,
        project: projects::name(row, 3)?,
        agent: own.cell(4)?,
        root: own.cell(5)?,
        parent: own.cell(6)?,
        started_at: own.time(7)?,
        last_at: own.time(8)?,
        ended_at: own.time_or_null(9)?,
        state: state.unwrap_or(SessionState::Ended),
        is_pinned: own.cell(11)?,
        signature: signature.unwrap_or_default(),
        summary: own.text_or_null(13)?.map(|text| summary_of(&text)),
    };
    if own.is_damaged() {
        found.summary = found.summary.map(Summary::damaged);
    }
    Ok(found)
}

/// Parses a stored summary. A damaged one becomes a summary that says so.
pub(crate) fn summary_of(text: &str) -> Summary {
    serde_json::from_str(text).unwrap_or_else(|_| Summary::default().damaged())
}
