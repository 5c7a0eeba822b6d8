//! The session and the project of a call about ghaps.

use contract::{CallTarget, Cx};
use model::ghap::{Ghap, GhapStatus};
use model::session::{Session, SessionState};
use model::{OpError, limits};
use place::Wanted;
use store::ghaps::{self, GhapFilter};
use store::sessions::{self, SessionFilter};
use store::{Rx, Tx, receipts};

/// The toolset of these operations.
pub(super) const TOOLSET: &str = "learning";

/// The number of sessions, and of ghaps, that are read to find the session of a call that names none.
const LOOKED_AT: usize = 50;

/// The target of a call that writes: the session that it names, else its caller's, else the one that was last active in the
/// project or anywhere and has not ended, else a new one. A client of a known agent only gets a session of that agent in
/// the project, else a new one.
pub(super) fn target(
    cx: &Cx<'_>,
    session_id: Option<&str>,
    cwd: Option<&str>,
) -> Result<CallTarget, OpError> {
    or_latest(cx, CallTarget::of(cx, session_id, cwd)?, cwd, false)
}

/// The target of a call that reads a session, or changes one that must exist. An error if a user names a session that is not known.
pub(super) fn target_to_read(
    cx: &Cx<'_>,
    session_id: Option<&str>,
    cwd: Option<&str>,
) -> Result<CallTarget, OpError> {
    or_latest(cx, CallTarget::to_read(cx, session_id, cwd)?, cwd, true)
}

/// This target if it has a session, else the session that was last active. If a person asks for the active ghap, and
/// the project has only one, the session of that ghap.
fn or_latest(
    cx: &Cx<'_>,
    named: CallTarget,
    cwd: Option<&str>,
    to_ghap: bool,
) -> Result<CallTarget, OpError> {
    if named.session_name().is_some() {
        return Ok(named);
    }
    let agent = cx.caller.client.as_deref().and_then(agents::of_client).map(|agent| agent.name);
    let question = named.projects(Wanted::Here);
    // A new ghap of an ended session would be an orphan at once.
    let may_have_ended = to_ghap;
    let latest = cx.store.read(|rx| {
        let here = question.scope(rx)?.ids();
        if to_ghap
            && cx.caller.client.is_none()
            && let Some(only) = only_active(rx, here.as_deref())?
        {
            return Ok(Some(only));
        }
        match latest(rx, here.as_deref(), agent, may_have_ended)? {
            None if agent.is_none() => latest(rx, None, None, may_have_ended),
            found => Ok(found),
        }
    })?;
    let latest = match (latest, agent) {
        (Some(session), _) => session,
        (None, Some(_)) => new_session_id(cx),
        (None, None) if !to_ghap => new_session_id(cx),
        (None, None) => {
            return Err(OpError::not_found("no session is recorded yet")
                .hint("Name one with `session_id`: a new id starts a new session."));
        }
    };
    // The directory is still the caller's.
    CallTarget::of(cx, Some(&latest), cwd.or(cx.caller.situation.cwd.as_deref()))
}

/// The active ghaps of these projects, the newest first.
fn all_active(rx: &Rx<'_>, projects: Option<&[i64]>) -> Result<Vec<Ghap>, OpError> {
    let status = Some(GhapStatus::Hypothesis);
    ghaps::list(rx, &GhapFilter { projects, status, ..GhapFilter::default() }, LOOKED_AT)
}

/// The active ghaps of the target's project, the newest first.
pub(super) fn active_here(target: &CallTarget, rx: &Rx<'_>) -> Result<Vec<Ghap>, OpError> {
    let project = target.project(rx)?;
    project.map_or_else(|| Ok(Vec::new()), |project| all_active(rx, Some(&[project])))
}

/// The session of the only active ghap of these projects.
fn only_active(rx: &Rx<'_>, projects: Option<&[i64]>) -> Result<Option<String>, OpError> {
    let active = all_active(rx, projects)?;
    let only = active.first().filter(|_| active.len() == 1);
    Ok(only.map(|ghap| ghap.session_id.clone()).filter(|session| !session.is_empty()))
}

/// The session that was last active in these projects, of this agent or of any. A session that began elsewhere
/// counts if it has an active ghap in them.
fn latest(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    agent: Option<&str>,
    may_have_ended: bool,
) -> Result<Option<String>, OpError> {
    let is_wanted = |session: &Session| {
        agent.is_none_or(|agent| session.agent == agent)
            && (may_have_ended || session.state != SessionState::Ended)
    };
    let filter = SessionFilter { projects, ..SessionFilter::default() };
    let mut found = sessions::list(rx, &filter, LOOKED_AT)?.into_iter().find(is_wanted);
    for ghap in all_active(rx, projects)? {
        let Some(owner) = sessions::by_name(rx, &ghap.session_id)?.filter(is_wanted) else {
            continue;
        };
        if found.as_ref().is_none_or(|known| owner.last_at > known.last_at) {
            found = Some(owner);
        }
    }
    Ok(found.map(|session| session.session_id))
}

/// A new UUID. The id of a call is random.
pub(super) fn new_session_id(cx: &Cx<'_>) -> String {
    let mut bytes = cx
        .store
        .call_id()
        .map_or_else(|| u128::from(cx.now.unsigned_abs()).to_be_bytes(), |id| id.0);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// The session and the project of a write, in the store, and the agent's own id of the session.
pub(super) struct WritePlace {
    pub(super) session: i64,
    pub(super) session_id: String,
    pub(super) project: i64,
    pub(super) root: Option<String>,
}

impl WritePlace {
    pub(super) fn of(target: &CallTarget, tx: &Tx<'_>) -> Result<WritePlace, OpError> {
        let written = target.resolve(tx)?;
        let nameless = || OpError::internal("the call has no session");
        let (session, session_id) = written.session.ok_or_else(nameless)?;
        Ok(WritePlace {
            session,
            session_id,
            project: written.project.id,
            root: written.project.root,
        })
    }

    /// Notes that the session acted on a text about this entry, if it got one a few tool calls ago.
    pub(super) fn acted_on(&self, tx: &Tx<'_>, path: &str) -> Result<(), OpError> {
        receipts::mark_used_within(tx, self.session, path, limits::GHAP_USE_CALLS)
    }

    /// The active ghap there; `not_found` if there is none.
    pub(super) fn active(&self, rx: &Rx<'_>) -> Result<Ghap, OpError> {
        ghaps::active(rx, self.session, self.project)?.ok_or_else(none_active)
    }
}

/// The active ghap of a call that only reads.
pub(super) fn active(target: &CallTarget, rx: &Rx<'_>) -> Result<Option<Ghap>, OpError> {
    match (target.session(), target.project(rx)?) {
        (Some(session), Some(project)) => ghaps::active(rx, session.id, project),
        _ => Ok(None),
    }
}

fn none_active() -> OpError {
    OpError::not_found("this session has no active ghap in this project")
        .hint("`start_ghap` starts one; `adopt_orphaned_ghap` continues one of an earlier session.")
}

/// The ghap with this id, which may be written as a path.
pub(super) fn named(rx: &Rx<'_>, ghap_id: &str) -> Result<Ghap, OpError> {
    let name = ghap_id.strip_prefix("ghap://").unwrap_or(ghap_id);
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with("ghap_") || !name.chars().all(is_plain) {
        let shown = text::one_line(ghap_id, limits::PREVIEW_CHARS);
        let message = format!("`ghap_id` is '{shown}', which is not the id of a ghap");
        return Err(OpError::invalid("ghap_id", message)
            .hint("It looks like ghap_20270112_091530_k3f9ab; `list_ghap_entries` lists them."));
    }
    let shown = text::one_line(name, limits::PREVIEW_CHARS);
    ghaps::by_name(rx, name)?
        .ok_or_else(|| OpError::not_found(format!("there is no ghap://{shown}")))
}

/// The ghap that a call names by its id, or as `active`.
pub(super) enum WantedGhap {
    Named(String),
    Active(Box<CallTarget>),
}

impl WantedGhap {
    pub(super) fn of(
        cx: &Cx<'_>,
        ghap_id: String,
        (session_id, cwd): (Option<String>, Option<String>),
    ) -> Result<WantedGhap, OpError> {
        match ghap_id.as_str() {
            "active" => {
                let target = target_to_read(cx, session_id.as_deref(), cwd.as_deref())?;
                Ok(WantedGhap::Active(Box::new(target)))
            }
            _ => Ok(WantedGhap::Named(ghap_id)),
        }
    }

    pub(super) fn find(&self, rx: &Rx<'_>) -> Result<Ghap, OpError> {
        match self {
            WantedGhap::Named(id) => named(rx, id),
            WantedGhap::Active(target) => active(target, rx)?.ok_or_else(none_active),
        }
    }
}
