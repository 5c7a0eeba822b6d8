//! Observations: what agents do, kept as it happens and found again.
//!
//! Read in this order: `place` (which project a directory belongs to, and what it keeps to itself),
//! `exclude` (what the user keeps out), `ingest` (an agent's event becomes records), `settings`; then `scope` (whose records may answer)
//! and an operation that reads them, such as `search`, or one that decides what is kept, such as
//! `purge`.

mod briefing;
mod count;
mod examples;
mod exclude;
mod file;
mod file_history;
mod find_similar;
mod get_observations;
mod ingest;
mod maintain;
mod mark;
mod pause;
mod pin;
mod place;
mod project;
mod purge;
mod recent;
mod recent_context;
mod run_place;
mod scheme;
mod scope;
mod scrub;
mod search;
mod session_summaries;
mod session_trace;
mod sessions;
mod settings;
mod show;
mod stats;
mod timeline;
mod when;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use contract::{
    Candidate, Config, ConfigKey, Moment, Occasion, OpError, Operation, Plugin, Scheme,
};
use model::hook::HookEvent;
use model::situation::Situation;
use store::{Rx, Tx, pauses};

pub use crate::exclude::to_spool;
use crate::place::{DiskPlaces, Places as _};
use crate::scope::{Question, Wanted};
pub use crate::settings::EXCLUDED_PROJECTS;
use crate::settings::Settings;

/// The observations plugin.
pub struct Observations {
    places: Arc<DiskPlaces>,
}

impl Observations {
    /// The plugin for a user with this home directory, which is no project.
    pub fn new(home: Option<std::path::PathBuf>) -> Observations {
        Observations { places: Arc::new(DiskPlaces::new(home)) }
    }
}

impl Plugin for Observations {
    fn name(&self) -> &'static str {
        "observations"
    }

    fn operations(&self) -> Vec<Operation> {
        let places = || self.places.clone();
        vec![
            Operation::new(search::Search { places: places() }),
            Operation::new(find_similar::FindSimilar { places: places() }),
            Operation::new(get_observations::GetObservations),
            Operation::new(timeline::Timeline),
            Operation::new(recent_context::RecentContext { places: places() }),
            Operation::new(recent::RecentRecords { places: places() }),
            Operation::new(session_trace::SessionTrace),
            Operation::new(file_history::FileHistory { places: places() }),
            Operation::new(session_summaries::SessionSummaries { places: places() }),
            Operation::new(sessions::ListSessions { places: places() }),
            Operation::new(pin::PinObservation),
            Operation::new(pin::UnpinObservation),
            Operation::new(mark::Mark { places: places() }),
            Operation::new(purge::Purge),
            Operation::new(scrub::Scrub),
            Operation::new(pause::Pause),
            Operation::new(project::ListProjects),
            Operation::new(project::AliasProject),
            Operation::new(project::MergeProjects),
            Operation::new(project::SplitProject),
            Operation::new(stats::MemoryStats),
            Operation::new(maintain::Maintain),
        ]
    }

    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[("project", "Say which places are one project")]
    }

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        vec![
            Arc::new(scheme::ObsScheme { places: self.places.clone() }),
            Arc::new(scheme::SessionScheme { places: self.places.clone() }),
            Arc::new(scheme::ProjectScheme),
        ]
    }

    fn config(&self) -> &'static [ConfigKey] {
        settings::KEYS
    }

    fn expect(&self, event: &HookEvent) {
        // This fills the cache, so that `observe` only has to check that the directory is still the same.
        let cwd = event.cwd.as_ref().map(|cwd| cwd.as_str());
        let place = self.places.cached(cwd.unwrap_or_default());
        exclude::hides(&*self.places, &place, event);
    }

    fn observe(&self, event: &HookEvent, tx: &Tx<'_>, config: &Config) -> Result<(), OpError> {
        ingest::ingest(tx, event, &*self.places, &Settings::of(config))
    }

    fn notes(&self, rx: &Rx<'_>, now: i64, situation: &Situation) -> Result<Vec<String>, OpError> {
        let mut notes = pause::notes(rx, now)?;
        // Whoever asks wants to know of the place where they stand too.
        self.places.at(situation.cwd.as_deref());
        notes.extend(self.places.withheld());
        Ok(notes)
    }

    fn may_tell(&self, occasion: &Occasion<'_>, config: &Config) -> bool {
        match occasion {
            Occasion::SessionStart(_) => true,
            Occasion::Prompt(_) => config.boolean(settings::AT_PROMPTS),
            _ => false,
        }
    }

    fn candidates(&self, moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        briefing::candidates(moment, &self.places)
    }

    fn is_silent(&self, moment: &Moment<'_>) -> Result<bool, OpError> {
        let question = Question::at(&self.places, moment.situation.cwd.as_deref(), Wanted::Here);
        moment.store.read(|rx| {
            let here = question.scope(rx)?.ids().unwrap_or_default();
            pauses::holds(rx, here.first().copied(), moment.now)
        })
    }
}
