//! Goals with a hypothesis, an action and a prediction, and what became of them.
//!
//! Read in this order: `place` (the session and project of a call), `view` (a ghap on the wire), the operations, `observed` (runs and
//! tool calls from hooks), `told` (reminders and orphans for agents), `outcome` (the text after a run).

mod active;
mod counters;
mod delete;
mod list;
mod observed;
mod orphans;
mod outcome;
mod ping;
mod place;
mod resolve;
mod scheme;
mod search;
mod start;
mod told;
mod update;
mod view;

use std::sync::Arc;

use contract::{OpError, Operation, Scheme};
use store::{Rx, ghaps as stored};

pub(crate) use observed::{GhapFlags, observe};
pub(crate) use outcome::{candidates as outcomes, may_have_candidates as may_have_outcomes};
pub(crate) use told::{candidates, delivered, may_have_candidates};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(start::StartGhap),
        Operation::new(update::UpdateGhap),
        Operation::new(resolve::ResolveGhap),
        Operation::new(delete::DeleteGhap),
        Operation::new(active::GetActiveGhap),
        Operation::new(list::ListGhapEntries),
        Operation::new(active::GetGhap),
        Operation::new(search::SearchExperiences),
        Operation::new(orphans::GetOrphanedGhap),
        Operation::new(orphans::AdoptOrphanedGhap),
        Operation::new(orphans::AbandonOrphanedGhap),
        Operation::new(counters::StartSession),
        Operation::new(counters::ShouldCheckIn),
        Operation::new(counters::IncrementToolCount),
        Operation::new(counters::ResetToolCount),
        Operation::new(counters::CheckIn),
        Operation::new(ping::Ping),
    ]
}

/// The numbers of active and resolved ghaps, as text for `status`; `None` without ghaps.
pub(crate) fn status(rx: &Rx<'_>) -> Result<Option<String>, OpError> {
    let (active, resolved) = stored::counts(rx, None)?;
    let counted = || {
        let experiences = text::counted(resolved, "experience");
        format!("{}, {experiences}", text::counted(active, "active ghap"))
    };
    Ok((active + resolved > 0).then(counted))
}

pub(crate) fn schemes() -> Vec<Arc<dyn Scheme>> {
    vec![Arc::new(scheme::GhapScheme)]
}

/// When an agent should state a hypothesis, ask for what was learned, and store a memory.
pub(crate) const INSTRUCTIONS: &str = "\
Before you debug or try something uncertain, call start_ghap with goal, hypothesis, action and prediction, and \
resolve_ghap when a run has shown the result. assemble_context gives what was learned about a task; store_memory keeps \
a preference, a fact or a decision.";
