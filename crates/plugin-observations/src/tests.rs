//! Tests of the records that events become, each on a store of its own.

mod control;
mod events;
mod places;
mod reading;

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use model::hook::{Happening, HookEvent, Source, ToolUse};
use model::observation::{ObsType, Observation};
use model::project::ProjectFacts;
use model::session::Session;
use model::{CallId, OpError};
use serde::Serialize;
use serde_json::{Value, json};
use store::history::{Step, Turn};
use store::{Options, Rx, Store, Tx, Write, Written, history, observations, prompts, sessions};
use text::secrets::{Profile, Redacted, redact, redact_json};

use crate::ingest::ingest;
use crate::settings::Settings;
use place::{Captured, Place, PlaceSource};

const NOW: i64 = 1_700_000_000_000;

/// A folder of its own for each test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir =
            std::env::temp_dir().join(format!("observations-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Folder(dir.canonicalize().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Places that are as the test says; each directory is a project of its own.
#[derive(Default)]
struct FakePlaces(HashMap<String, ProjectFacts>);

impl PlaceSource for FakePlaces {
    fn at(&self, cwd: Option<&str>) -> Arc<Place> {
        let cwd = cwd.unwrap_or("unknown");
        let name = cwd.rsplit('/').next().unwrap_or(cwd).to_owned();
        let root = Some(cwd.to_owned());
        let plain = || ProjectFacts { root, name, ..ProjectFacts::default() };
        let facts = self.0.get(cwd).cloned().unwrap_or_else(plain);
        Arc::new(Place::plain(facts))
    }
}

/// A store that ingests events.
struct Desk {
    store: Store,
    places: Arc<dyn PlaceSource>,
    settings: Settings,
    exclude_projects: Vec<String>,
    _folder: Folder,
}

impl Desk {
    fn new() -> Desk {
        let settings = Settings { answers: true, ..Settings::default() };
        Desk::with(Arc::new(FakePlaces::default()), settings)
    }

    fn with(places: Arc<dyn PlaceSource>, settings: Settings) -> Desk {
        let folder = Folder::new();
        let options = Options {
            path: folder.0.join("rekindle.db"),
            one_shot: false,
            backups: folder.0.join("backups"),
            records: Vec::new(),
            spools: Vec::new(),
            identity_locks: None,
            page_count_max: None,
            meaning: true,
            more: Vec::new(),
            clock: || NOW,
        };
        let store = Store::open(options, Box::new(|_, _| Ok(())), Box::new(|_| ())).unwrap();
        Desk { store, places, settings, exclude_projects: Vec::new(), _folder: folder }
    }

    fn write<T: Serialize + Send + 'static>(
        &self,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> T {
        match self.store.write(Write::default(), f).unwrap() {
            Written::Done(value) => value,
            Written::Repeated(_) => unreachable!("no call id was given"),
        }
    }

    fn read<T>(&self, f: impl FnOnce(&Rx<'_>) -> Result<T, OpError>) -> T {
        self.store.read(f).unwrap()
    }

    fn take(&self, event: HookEvent) {
        let (places, settings) = (self.places.clone(), self.settings.clone());
        let exclude = self.exclude_projects.clone();
        self.write(move |tx| match Captured::resolve(tx, &event, &*places, &exclude)? {
            Some(captured) => ingest(tx, &captured, &settings),
            None => Ok(()),
        });
    }

    fn session(&self, name: &str) -> Option<Session> {
        self.read(|rx| sessions::by_name(rx, name))
    }

    /// Everything that is kept of a session, in order.
    fn trace(&self, name: &str) -> Vec<Turn> {
        let Some(session) = self.session(name) else { return Vec::new() };
        self.read(|rx| history::trace(rx, session.id, None, None))
    }

    fn seen(&self, name: &str) -> Vec<Observation> {
        let turns = self.trace(name).into_iter();
        let mut steps: Vec<Step> = turns.flat_map(|turn| turn.observations).collect();
        steps.sort_by_key(|step| (step.at, step.id));
        let ids: Vec<i64> = steps.iter().map(|step| step.id).collect();
        self.read(|rx| observations::get(rx, &ids))
    }

    /// How many actions followed from a prompt.
    fn actions(&self, prompt: i64) -> u64 {
        self.read(|rx| prompts::by_id(rx, prompt)).unwrap().actions
    }

    fn kinds(&self, name: &str) -> Vec<ObsType> {
        self.seen(name).iter().map(|one| one.obs_type.kind()).collect()
    }
}

fn plain(text: &str) -> Redacted<String> {
    redact(text, Profile::Strict)
}

/// An event of session `s-1` in `/w/app`, so many milliseconds after [`NOW`].
fn event(name: &str, what: Happening, after: i64) -> HookEvent {
    HookEvent {
        model: None,
        stood: None,
        id: CallId([0; 16]),
        at: NOW + after,
        agent: "claude-code".into(),
        name: name.into(),
        session: "s-1".into(),
        cwd: Some(plain("/w/app")),
        prompt_id: None,
        agent_id: None,
        tool_use_id: None,
        transcript: None,
        what,
    }
}

fn starts(source: Source, after: i64) -> HookEvent {
    event("SessionStart", Happening::SessionStarted(source), after)
}

fn says(text: &str, prompt_id: Option<&str>, after: i64) -> HookEvent {
    let said = event("UserPromptSubmit", Happening::Prompted(plain(text)), after);
    HookEvent { prompt_id: prompt_id.map(str::to_owned), ..said }
}

fn tool(obs_type: ObsType, content: &str, path: Option<&str>, metadata: Value) -> ToolUse {
    ToolUse {
        tool: "Tool".into(),
        obs_type,
        content: plain(content),
        file_path: path.map(plain),
        metadata: redact_json(metadata, Profile::Strict),
        command: None,
        failed: false,
    }
}

fn runs(command: &str, after: i64) -> HookEvent {
    let used = tool(ObsType::Command, command, None, json!({}));
    event("PostToolUse", Happening::ToolUsed(used), after)
}

fn edits(path: &str, after: i64) -> HookEvent {
    let used = tool(ObsType::FileEdit, &format!("Edit {path}"), Some(path), json!({}));
    event("PostToolUse", Happening::ToolUsed(used), after)
}
