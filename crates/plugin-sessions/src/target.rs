//! The session that a call is about: the one it names, the caller's own, else the one that was active last.

use contract::{Cx, Tier};
use model::session::{self, Session};
use model::{Code, OpError, limits};
use place::Wanted;
use store::Rx;
use store::sessions::{self, SessionFilter, SessionIdForm};

/// Callers of the operations that only the command line and programs need.
pub(crate) const BY_PEOPLE: &[Tier] = &[Tier::Person, Tier::Client];

/// Checks the id of a session in the parameter `session_id`.
pub(crate) fn check_id(id: &str) -> Result<(), OpError> {
    session::check_id("session_id", id)
}

/// Refuses a session that is not known, unless it is the caller's own, whose agent may not have reported it yet. Any
/// other unknown id is probably mistyped: it would create a session, which would then count as the last active one.
pub(crate) fn refuse_unknown(cx: &Cx<'_>, name: &str) -> Result<(), OpError> {
    if cx.caller.session.as_deref() == Some(name) {
        return Ok(());
    }
    cx.store.read(|rx| sessions::find(rx, name, cx.caller.session_id_form())).map(drop)
}

/// The id of the session that a call is about. The session may be new. A user may give the first characters of a known
/// one.
pub(crate) fn name(cx: &Cx<'_>, given: Option<String>) -> Result<String, OpError> {
    match named(cx, given)? {
        Some(name) if cx.caller.tier == Tier::Person => {
            match cx.store.read(|rx| sessions::find(rx, &name, SessionIdForm::Prefix)) {
                Ok(session) => Ok(session.session_id),
                Err(error) if error.code == Code::NotFound => Ok(name),
                Err(error) => Err(error),
            }
        }
        Some(name) => Ok(name),
        None => Ok(latest(cx)?.session_id),
    }
}

/// The session that a call is about; an error if it is not known. A user may give the first characters of its id.
pub(crate) fn known(cx: &Cx<'_>, given: Option<String>) -> Result<Session, OpError> {
    match named(cx, given)? {
        Some(name) => {
            let form = cx.caller.session_id_form();
            cx.store.read(|rx| sessions::find(rx, &name, form))
        }
        None => latest(cx),
    }
}

/// The session that a reply is about, for a user who did not name one: the beginning of its id, as lists show it.
pub(crate) fn guessed(given: Option<&str>, session_id: &str) -> String {
    let short = || contract::listing::session_ids(std::iter::once(session_id), None).concat();
    given.map_or_else(|| format!(" (session {})", short()), |_| String::new())
}

/// The message of an answer for people: `1 item`. On the wire it always has the plural.
pub(crate) fn in_numbers(message: &str, count: usize) -> String {
    let message = text::one_line(message, usize::MAX);
    match (count, message.strip_suffix(" items")) {
        (1, Some(before)) => format!("{before} item"),
        _ => message,
    }
}

/// The session with this id. A user may give the first characters of it.
pub(crate) fn find(rx: &Rx<'_>, given: &str, form: SessionIdForm) -> Result<Session, OpError> {
    check_id(given.strip_prefix("session://").unwrap_or(given))?;
    sessions::find(rx, given, form)
}

/// The id of the session that a call names itself, or else its caller; none if neither does.
fn named(cx: &Cx<'_>, given: Option<String>) -> Result<Option<String>, OpError> {
    let id = given.or_else(|| cx.caller.session.clone());
    let id = id.map(|id| id.strip_prefix("session://").map_or(id.clone(), str::to_owned));
    id.iter().try_for_each(|id| check_id(id))?;
    Ok(id)
}

/// The session that was active last in the caller's project, else anywhere.
fn latest(cx: &Cx<'_>) -> Result<Session, OpError> {
    let question = cx.caller.projects(Wanted::Here);
    let found = cx.store.read(|rx| {
        let here = match cx.caller.situation.cwd {
            Some(_) => newest(rx, question.scope(rx)?.ids().as_deref(), cx.now)?,
            None => None,
        };
        match here {
            Some(session) => Ok(Some(session)),
            None => newest(rx, None, cx.now),
        }
    })?;
    found.ok_or_else(|| {
        OpError::not_found("no session is recorded yet").hint(match cx.caller.tier {
            // The command line creates no session: a misspelled id would become the one that was active last.
            Tier::Person => "A session begins with an agent: `rekindle install` connects yours.",
            _ => "Name one with `session_id`; it is created with its first set.",
        })
    })
}

/// The newest session, preferably one from before `now`. Later times are from before the clock was set back.
fn newest(rx: &Rx<'_>, projects: Option<&[i64]>, now: i64) -> Result<Option<Session>, OpError> {
    for before in [Some(now.saturating_add(limits::CLOCK_SLACK_MS)), None] {
        let filter = SessionFilter { projects, before, ..SessionFilter::default() };
        if let Some(found) = sessions::list(rx, &filter, 1)?.pop() {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
