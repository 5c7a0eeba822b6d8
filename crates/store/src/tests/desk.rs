//! A simulated agent session, for tests of the records that are stored of it.

use std::time::Duration;

use model::observation::{ObsType, Observation};
use model::project::{Project, ProjectFacts};
use model::session::PromptSource;
use model::{CallId, OpError};
use serde::Serialize;
use serde_json::{Value, json};
use text::secrets::{Profile, Redacted, redact, redact_json};

use super::{Home, NOW, Opening, at_now};
use crate::observations::{Added, Folding, NewObservation};
use crate::prompts::NewPrompt;
use crate::sessions::{Seen, Sighting};
use crate::{
    Aggregate, Options, Rx, Tx, Written, observations, passages, projects, prompts, sessions,
};

/// How long the index may take; machines are busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// One session of one agent over a database of its own. Times count from [`NOW`].
pub(super) struct Desk {
    pub(super) opening: Opening,
    pub(super) home: Home,
    pub(super) project: Project,
    pub(super) session: Seen,
}

/// An action of the agent; a test changes the fields it is about.
#[derive(Clone)]
pub(super) struct Deed {
    pub(super) session: Seen,
    pub(super) kind: ObsType,
    pub(super) content: String,
    pub(super) path: Option<String>,
    pub(super) metadata: Value,
    pub(super) failed: bool,
    pub(super) prompt: Option<i64>,
    pub(super) after: i64,
}

pub(super) fn facts(remote: Option<&str>, root: Option<&str>, name: &str) -> ProjectFacts {
    ProjectFacts {
        remote_key: remote.map(str::to_owned),
        root: root.map(str::to_owned),
        name: name.to_owned(),
        made: Vec::new(),
    }
}

pub(super) fn plain(text: &str) -> Redacted<String> {
    redact(text, Profile::Strict)
}

impl Desk {
    pub(super) fn new() -> Desk {
        Desk::with(&[])
    }

    /// Over a database with these aggregates besides the store's own.
    pub(super) fn with(more: &'static [&'static dyn Aggregate]) -> Desk {
        let home = Home::new();
        let opening = home.open_with(Options { more: more.to_vec(), ..home.options() }).unwrap();
        let (project, session) = write(&opening, |tx| {
            let project = projects::resolve(tx, &facts(None, Some("/w/app"), "app"), NOW)?;
            let session = touch(tx, "s-1", project.id, 0)?;
            Ok((project, (session.id, session.project, session.new)))
        });
        let (id, of, new) = session;
        Desk { opening, home, project, session: Seen { id, project: of, new, went_active: false } }
    }

    pub(super) fn write<T: Serialize + Send + 'static>(
        &self,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> T {
        write(&self.opening, f)
    }

    pub(super) fn read<T>(&self, f: impl FnOnce(&Rx<'_>) -> Result<T, OpError>) -> T {
        let store = &self.opening.store;
        assert!(store.catch_up(PATIENCE), "the index can be brought up to date");
        while !store.is_worked_out() {
            self.write(passages::catch_up);
        }
        store.read(f).unwrap()
    }

    /// Another session, in a project of this name.
    pub(super) fn session(&self, name: &str, project: &str, after: i64) -> Seen {
        let name = name.to_owned();
        let place = facts(None, Some(&format!("/w/{project}")), project);
        let (id, project) = self.write(move |tx| {
            let project = projects::resolve(tx, &place, NOW)?;
            Ok((touch(tx, &name, project.id, after)?.id, project.id))
        });
        Seen { id, project, new: true, went_active: false }
    }

    pub(super) fn deed(&self, kind: ObsType, content: &str, after: i64) -> Deed {
        Deed {
            session: self.session,
            kind,
            content: content.to_owned(),
            path: None,
            metadata: json!({}),
            failed: false,
            prompt: None,
            after,
        }
    }

    pub(super) fn deed_command(&self, command: &str, after: i64) -> Deed {
        self.deed(ObsType::Command, command, after)
    }

    pub(super) fn does(&self, deed: Deed) -> Added {
        let done = self.write(move |tx| {
            Ok(match do_it(tx, &deed)? {
                Added::New(id) => (true, id),
                Added::Folded(id) | Added::Known(id) => (false, id),
            })
        });
        if done.0 { Added::New(done.1) } else { Added::Folded(done.1) }
    }

    pub(super) fn runs(&self, command: &str, after: i64) -> i64 {
        self.does(self.deed_command(command, after)).id()
    }

    pub(super) fn edits(&self, path: &str, after: i64) -> i64 {
        let deed = self.deed(ObsType::FileEdit, &format!("Edit {path}"), after);
        self.does(Deed { path: Some(path.to_owned()), ..deed }).id()
    }

    pub(super) fn reads(&self, path: &str, after: i64) -> Added {
        let deed = self.deed(ObsType::FileRead, &format!("Read {path}"), after);
        self.does(Deed { path: Some(path.to_owned()), ..deed })
    }

    pub(super) fn says(&self, text: &str, agent_id: Option<&str>, after: i64) -> i64 {
        let (session, text) = (self.session, plain(text));
        let agent_id = agent_id.map(str::to_owned);
        self.write(move |tx| {
            let prompt = NewPrompt {
                session: session.id,
                project: session.project,
                at: NOW + after,
                source: PromptSource::User,
                source_event: "UserPromptSubmit",
                content: &text,
                agent_prompt_id: agent_id.as_deref(),
            };
            prompts::add(tx, &prompt)
        })
    }

    pub(super) fn get(&self, id: i64) -> Option<Observation> {
        self.read(|rx| observations::get(rx, &[id])).pop()
    }

    pub(super) fn count(&self) -> u64 {
        self.read(observations::count)
    }
}

pub(super) fn touch(tx: &Tx<'_>, name: &str, project: i64, after: i64) -> Result<Seen, OpError> {
    let sighting = Sighting {
        name,
        agent: "claude-code",
        project,
        root: Some("/w/app"),
        at: NOW + after,
        starts: false,
        works: true,
    };
    sessions::touch(tx, &sighting)
}

pub(super) fn do_it(tx: &Tx<'_>, deed: &Deed) -> Result<Added, OpError> {
    let path = deed.path.as_deref().map(plain);
    let content = plain(&deed.content);
    let metadata = redact_json(deed.metadata.clone(), Profile::Strict);
    let new = NewObservation {
        session: deed.session.id,
        project: deed.session.project,
        prompt: deed.prompt,
        at: NOW + deed.after,
        kind: deed.kind,
        source_event: "PostToolUse",
        tool: Some("Bash"),
        file_path: path.as_ref(),
        content: &content,
        metadata: Some(&metadata),
        failed: deed.failed,
        agent_id: None,
        batch: None,
    };
    observations::add(tx, &new, &Folding::default())
}

pub(super) fn write<T: Serialize + Send + 'static>(
    opening: &Opening,
    f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
) -> T {
    match opening.store.write(at_now(), f).unwrap() {
        Written::Done(value) => value,
        Written::Repeated(_) => unreachable!("no call id was given: {:?}", CallId([0; 16])),
    }
}
