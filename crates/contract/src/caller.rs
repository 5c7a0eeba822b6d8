//! The caller of an operation, with its directory, project and session.

use std::cell::OnceCell;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use model::project::{Project, ProjectFacts};
use model::{Caller, OpError, Tier};
use place::{
    FileQuestion, NamedSession, NotCaptured, Place, PlaceSource as _, Places, Question, Wanted,
    agent_of_client, are_projects, listed,
};
use store::sessions::{self, Seen, SessionIdForm, UNKNOWN_AGENT};
use store::{Rx, Store, Tx, projects};

use crate::config::{Config, ConfigKey, ConfigKind, TextForm};

/// The setting that excludes projects.
pub const EXCLUDED_PROJECTS: ConfigKey = ConfigKey {
    key: "observations.exclude_projects",
    kind: ConfigKind::Form(&TextForm {
        word: "list of projects",
        like: "names, keys, roots or globs, separated by commas",
        fits: are_projects,
    }),
    default: "",
    env: &["REKINDLE_EXCLUDE_PROJECTS"],
    doc: "Projects to exclude from capture: names, keys or root paths, separated by commas; globs are allowed.",
};

/// A caller, and how its directory, project and session are resolved. The directory is resolved at most once per call.
/// Reads of the wire type [`Caller`] go through `Deref`.
pub struct KnownCaller<'a> {
    caller: &'a Caller,
    places: &'a Places,
    place: OnceCell<Arc<Place>>,
}

impl<'a> KnownCaller<'a> {
    pub fn new(caller: &'a Caller, places: &'a Places) -> KnownCaller<'a> {
        KnownCaller { caller, places, place: OnceCell::new() }
    }

    /// The place of the caller's directory. The first use reads the disk, so it precedes reads of the store.
    pub fn place(&self) -> &Arc<Place> {
        self.place.get_or_init(|| self.places.at(self.situation.cwd.as_deref()))
    }

    /// The place of another directory than the caller's.
    pub fn place_at(&self, directory: &str) -> Arc<Place> {
        self.places.at(Some(directory))
    }

    /// The user's home directory.
    pub fn home(&self) -> Option<&'a Path> {
        self.places.home()
    }

    /// The projects that a call is about.
    pub fn projects(&self, wanted: Wanted) -> Question {
        let is_here = wanted == Wanted::Here && self.situation.cwd.is_some();
        Question::new(is_here.then(|| &**self.place()), wanted)
    }

    /// The file that a caller means by a path; with `anywhere`, every file whose path ends so.
    pub fn file<'f>(
        &self,
        store: &Store,
        given: &'f str,
        anywhere: bool,
    ) -> Result<FileQuestion<'f>, OpError> {
        let cwd = self.situation.cwd.as_deref().filter(|_| !anywhere);
        FileQuestion::new((self.places, store), cwd, given)
    }

    /// How this caller may write the id of a session.
    pub fn session_id_form(&self) -> SessionIdForm {
        match self.tier {
            Tier::Person => SessionIdForm::Prefix,
            Tier::Agent | Tier::Client | Tier::Hook => SessionIdForm::Whole,
        }
    }

    /// The caller's session in the store, if it names one that is known.
    pub fn session_id(&self, rx: &Rx<'_>) -> Result<Option<i64>, OpError> {
        let id = self.session.as_deref().map(|name| sessions::id_of(rx, name));
        Ok(id.transpose()?.flatten())
    }
}

impl KnownCaller<'_> {
    /// The session that the caller names, for a call that writes to it.
    pub fn session_to_write(&self, config: &Config, now: i64) -> Option<CallerSession> {
        Some(self.session_named(self.session.clone()?, config, now))
    }

    /// A session by its name, for a call that writes to it.
    pub fn session_named(&self, name: String, config: &Config, now: i64) -> CallerSession {
        self.session_in(name, self.place().facts.clone(), config, now)
    }

    /// A session by its name, in the project with these facts.
    pub(crate) fn session_in(
        &self,
        name: String,
        facts: ProjectFacts,
        config: &Config,
        now: i64,
    ) -> CallerSession {
        let agent = match (self.tier, self.client.as_deref()) {
            // Of the agents over MCP only Claude Code names its session.
            (Tier::Agent, None) => "claude-code",
            (Tier::Agent, Some(client)) => agent_of_client(client).unwrap_or(UNKNOWN_AGENT),
            _ => UNKNOWN_AGENT,
        };
        let excluded = listed(config.text(EXCLUDED_PROJECTS.key));
        CallerSession { name, agent, facts, excluded, now }
    }
}

/// The session of a call that writes to it. Owned, so that it can be moved into the transaction.
pub struct CallerSession {
    pub name: String,
    agent: &'static str,
    facts: ProjectFacts,
    excluded: Vec<String>,
    now: i64,
}

impl CallerSession {
    /// The session, created if no event or call has named it before. None if nothing may be captured there: its
    /// project is excluded, or capture is paused.
    pub fn resolve(&self, tx: &Tx<'_>) -> Result<Option<Seen>, OpError> {
        let found = self.named().resolve(tx, &self.facts, &self.excluded)?;
        Ok(found.map(|(_, seen)| seen))
    }

    /// Why nothing may be captured in the session; `None` if capture is allowed.
    pub fn refused(&self, tx: &Tx<'_>) -> Result<Option<NotCaptured>, OpError> {
        self.named().refused(tx, &self.facts, &self.excluded)
    }

    /// The project of the call, created if it is new.
    pub(crate) fn project(&self, tx: &Tx<'_>) -> Result<Project, OpError> {
        projects::resolve(tx, &self.facts, self.now)
    }

    /// The project of the call in the store, if it is known.
    pub(crate) fn known_project(&self, rx: &Rx<'_>) -> Result<Option<i64>, OpError> {
        Ok(projects::known(rx, &self.facts)?.map(|project| project.id))
    }

    fn named(&self) -> NamedSession<'_> {
        NamedSession {
            name: &self.name,
            agent: self.agent,
            at: self.now,
            starts: false,
            works: true,
        }
    }
}

impl Deref for KnownCaller<'_> {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        self.caller
    }
}
