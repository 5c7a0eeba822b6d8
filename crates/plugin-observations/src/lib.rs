//! Observations: the work of agents, recorded as it happens and found again.
//!
//! Read in this order: `ingest` (an agent's event becomes records), `settings`; then an operation that reads records,
//! such as `search`, or one that deletes them, such as `purge`.

mod activity;
mod activity_stats;
mod answered;
mod briefing;
mod examples;
mod export_records;
mod file_history;
mod find_similar;
mod get_observations;
mod import_records;
mod ingest;
mod maintain;
mod mark;
mod next_steps;
mod note;
mod pin;
mod project;
mod purge;
mod recent;
mod recent_context;
mod record_id;
mod records_read;
mod replaced;
mod run_place;
mod same_run;
mod scheme;
mod scrub;
mod search;
mod session_summaries;
mod session_trace;
mod settings;
mod show;
mod stats;
mod timeline;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use contract::{
    Candidate, Config, ConfigKey, Feed, Moment, Occasion, OpError, Operation, Plugin, Scheme,
};
use model::hook::HookEvent;
use place::Captured;
use store::{Rx, Tx};

use crate::settings::Settings;

/// When an agent should search the records.
const INSTRUCTIONS: &str = "\
Records are what was asked, done and answered in this project and in others: prompts, edits, commands, \
errors, commits, and the final message of each turn; they are also the resources obs://id and session://id.\n\
- Before you ask the user what was done, decided or tried before, or debug an error that may have come \
up already, call search with a plain question or the words of the error. Hits are short; \
get_observations gives whole records by id, timeline what happened around one, session_trace how a \
session went, file_history who touched a file and why, recent_context what was done lately.";

/// The observations plugin.
pub struct Observations;

impl Plugin for Observations {
    fn name(&self) -> &'static str {
        "observations"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![
            Operation::new(search::Search),
            Operation::new(find_similar::FindSimilar),
            Operation::new(get_observations::GetObservations),
            Operation::new(timeline::Timeline),
            Operation::new(recent_context::RecentContext),
            Operation::new(recent::RecentRecords),
            Operation::new(activity::Activity),
            Operation::new(activity_stats::ActivityStats),
            Operation::new(session_trace::SessionTrace),
            Operation::new(file_history::FileHistory),
            Operation::new(session_summaries::SessionSummaries),
            Operation::new(pin::PinObservation),
            Operation::new(pin::UnpinObservation),
            Operation::new(mark::Mark),
            Operation::new(purge::Purge),
            Operation::new(scrub::Scrub),
            Operation::new(export_records::ExportRecords),
            Operation::new(import_records::ImportRecords),
            Operation::new(project::ListProjects),
            Operation::new(project::AliasProject),
            Operation::new(project::UnaliasProject),
            Operation::new(project::MergeProjects),
            Operation::new(project::SplitProject),
            Operation::new(stats::MemoryStats),
            Operation::new(maintain::Maintain),
        ]
    }

    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[("project", "List projects, and say which directories belong to one")]
    }

    fn feeds(&self) -> Vec<Arc<dyn Feed>> {
        vec![Arc::new(activity::ActivityFeed)]
    }

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        vec![Arc::new(scheme::ObsScheme), Arc::new(scheme::ProjectScheme)]
    }

    fn config(&self) -> &'static [ConfigKey] {
        settings::KEYS
    }

    fn instructions(&self) -> &'static str {
        INSTRUCTIONS
    }

    fn observe(&self, seen: &Captured<'_>, tx: &Tx<'_>, config: &Config) -> Result<(), OpError> {
        ingest::ingest(tx, seen, &Settings::of(config))
    }

    fn reported_too(&self, event: &Captured<'_>, tx: &Tx<'_>) -> Result<(), OpError> {
        ingest::reported_too(tx, event)
    }

    fn leaves_out(&self, event: &HookEvent, rx: &Rx<'_>, config: &Config) -> Result<bool, OpError> {
        ingest::leaves_out(rx, event, &Settings::of(config))
    }

    fn may_have_candidates(&self, occasion: &Occasion<'_>, config: &Config) -> bool {
        match occasion {
            Occasion::SessionStart(_) => true,
            Occasion::Prompt(_) => config.boolean(settings::AT_PROMPTS),
            _ => false,
        }
    }

    fn candidates(&self, moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        briefing::candidates(moment)
    }
}
