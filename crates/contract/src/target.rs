//! The directory and the session of a call that may name both itself (`cwd`, `session_id`).

use std::path::Path;
use std::sync::Arc;

use model::project::Project;
use model::session::{self, Session};
use model::{Code, OpError, Tier};
use place::{NotCaptured, Place, Question, Wanted};
use store::{Rx, Tx, projects, sessions};

use crate::caller::CallerSession;
use crate::cx::Cx;

/// The place and the session of a call. Owned, so that it can be moved into the transaction.
pub struct CallTarget {
    directory: Option<String>,
    /// Absent if the call has no directory; [`CallTarget::of`] says which one it has.
    place: Option<Arc<Place>>,
    /// The session that the call or its caller names, as the store knows it.
    known: Option<Session>,
    /// The session's name is empty if the call has none.
    session: CallerSession,
}

/// The project and the session that a call writes to.
pub struct WriteTarget {
    pub project: Project,
    /// The session in the store, and the agent's own id of it.
    pub session: Option<(i64, String)>,
}

impl CallTarget {
    /// The session is the one that the call names, else the caller's. The directory is the one that the call names. If
    /// the call names only a known session, the directory is where that session began, whatever the caller's is. If the
    /// call names neither, the directory is the caller's, else the one where the caller's session began.
    pub fn of(
        cx: &Cx<'_>,
        session_id: Option<&str>,
        cwd: Option<&str>,
    ) -> Result<CallTarget, OpError> {
        if let Some(cwd) = cwd {
            check_directory(cwd)?;
        }
        let named = session_id.or(cx.caller.session.as_deref());
        let named = named.map(|id| id.strip_prefix("session://").unwrap_or(id));
        if let Some(id) = named {
            session::check_id("session_id", id)?;
        }
        let known = named.map(|id| known(cx, id)).transpose()?.flatten();
        let began = known.as_ref().and_then(|session| session.root.as_deref());
        let here = cx.caller.situation.cwd.as_deref();
        let directory = match session_id {
            Some(_) if known.is_some() => cwd.or(began),
            _ => cwd.or(here).or(began),
        };
        let name = known.as_ref().map(|session| session.session_id.as_str()).or(named);
        let place = directory.map(|directory| cx.caller.place_at(directory));
        let facts = place.as_ref().map(|place| place.facts.clone()).unwrap_or_default();
        let directory = directory.map(str::to_owned);
        let name = name.unwrap_or_default().to_owned();
        let session = cx.caller.session_in(name, facts, cx.config, cx.now);
        Ok(CallTarget { directory, place, known, session })
    }

    /// The target of a call that only reads. An error if a user names a session that is not known: it is a typing error,
    /// and the answer would be that of no session.
    pub fn to_read(
        cx: &Cx<'_>,
        session_id: Option<&str>,
        cwd: Option<&str>,
    ) -> Result<CallTarget, OpError> {
        let target = CallTarget::of(cx, session_id, cwd)?;
        match session_id {
            Some(given) if target.known.is_none() && cx.caller.tier == Tier::Person => cx
                .store
                .read(|rx| sessions::find(rx, given, cx.caller.session_id_form()))
                .map(|_| target),
            _ => Ok(target),
        }
    }

    /// The projects that a read-only call asks about, by the session and the directory that the call names.
    pub fn question(
        cx: &Cx<'_>,
        (session_id, cwd): (Option<&str>, Option<&str>),
        wanted: Wanted,
    ) -> Result<Question, OpError> {
        Ok(CallTarget::to_read(cx, session_id, cwd)?.projects(wanted))
    }

    /// The projects that the call is about.
    pub fn projects(&self, wanted: Wanted) -> Question {
        Question::new(self.place.as_deref(), wanted)
    }

    /// The directory that the call is about.
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// The top directory of the project.
    pub fn root(&self) -> Option<&str> {
        self.place.as_ref()?.facts.root.as_deref()
    }

    /// The project that the call would write to, if it is known.
    pub fn project(&self, rx: &Rx<'_>) -> Result<Option<i64>, OpError> {
        match (&self.place, &self.known) {
            (None, Some(session)) => Ok(Some(session.project_id)),
            _ => self.session.known_project(rx),
        }
    }

    /// The session in the store, if the call has one that is known.
    pub fn session(&self) -> Option<&Session> {
        self.known.as_ref()
    }

    /// The agent's own id of the call's session; it may be new.
    pub fn session_name(&self) -> Option<&str> {
        Some(self.session.name.as_str()).filter(|name| !name.is_empty())
    }

    /// The project and the session to write to, created if they are new. An error if nothing may be recorded there. A
    /// known session is not touched: a call of this kind is no turn of the agent.
    pub fn resolve(&self, tx: &Tx<'_>) -> Result<WriteTarget, OpError> {
        if let Some(why) = self.session.refused(tx)? {
            return Err(not_recorded(why));
        }
        let session = match self.session_name() {
            Some(name) => Some((self.session_row(tx, name)?, name.to_owned())),
            None => None,
        };
        let own = match (&self.place, &self.known) {
            (None, Some(session)) => projects::by_id(tx, session.project_id)?,
            _ => None,
        };
        let project = match own {
            Some(project) => project,
            None => self.session.project(tx)?,
        };
        Ok(WriteTarget { project, session })
    }

    fn session_row(&self, tx: &Tx<'_>, name: &str) -> Result<i64, OpError> {
        if let Some(session) = sessions::by_name(tx, name)? {
            return Ok(session.id);
        }
        let created = self.session.resolve(tx)?;
        let created = created.ok_or_else(|| OpError::internal("the session is gone"))?;
        sessions::idle(tx, created.id)?;
        Ok(created.id)
    }
}

/// The session with this id. A user may give the first characters of it.
fn known(cx: &Cx<'_>, id: &str) -> Result<Option<Session>, OpError> {
    match cx.store.read(|rx| sessions::find(rx, id, cx.caller.session_id_form())) {
        Ok(session) => Ok(Some(session)),
        Err(error) if error.code == Code::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Refuses a directory that is not an absolute path.
fn check_directory(cwd: &str) -> Result<(), OpError> {
    if Path::new(cwd).is_absolute() && !cwd.contains('\0') {
        return Ok(());
    }
    Err(OpError::new(Code::ScopeInvalid, "`cwd` is not an absolute path")
        .with("param", "cwd")
        .hint("Give the whole path of the directory, from `/` on."))
}

/// The error of a write where nothing may be captured.
pub fn not_recorded(why: NotCaptured) -> OpError {
    let (reason, hint) = match why {
        NotCaptured::Paused => (
            "capture is paused",
            "`rekindle status` shows the pause. `rekindle pause off` ends a pause of all projects, \
             `rekindle pause off --project NAME` that of one project.",
        ),
        NotCaptured::Excluded => (
            "the project is excluded",
            "The setting observations.exclude_projects lists excluded projects.",
        ),
    };
    OpError::new(Code::NotReady, format!("nothing is recorded here: {reason}")).hint(hint)
}
