//! Sessions that can be resumed: the files, endpoints, ports and views that matter to a session, as the agent declares
//! them.
//!
//! Read in this order: `target` (which session a call means), `paths` (files as absolute paths), the operations, then `resume` (the
//! text for a session that goes on) and `feed` (changes for subscribers).

mod change;
mod clear;
mod copy;
mod delete;
mod env_hint;
mod feed;
mod get;
mod handoff;
mod inherit;
mod list;
mod observe;
mod overview;
mod paths;
mod resume;
mod resume_session;
mod resume_text;
mod rows;
mod scheme;
mod session;
mod session_scheme;
mod set;
mod suggest;
mod target;
mod update;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use contract::{
    Candidate, Config, ConfigKey, Feed, Moment, Occasion, OpError, Operation, Plugin, Scheme,
};
use model::hook::ToldEntry;
use place::Captured;
use store::Tx;

/// When an agent should declare its context.
const INSTRUCTIONS: &str = "\
Call set_relevant_context when a file, endpoint or port becomes central to the task, and before you finish: a resumed \
session gets it back.";

/// The sessions plugin.
pub struct Sessions;

impl Plugin for Sessions {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![
            Operation::new(set::SetRelevantContext),
            Operation::new(get::GetRelevantContext),
            Operation::new(clear::ClearContext),
            Operation::new(suggest::SuggestContext),
            Operation::new(copy::CopyContext),
            Operation::new(env_hint::SetEnvHint),
            Operation::new(resume_text::ResumeText),
            Operation::new(handoff::Handoff),
            Operation::new(session::GetSession),
            Operation::new(update::UpdateSession),
            Operation::new(observe::ObserveSession),
            Operation::new(delete::DeleteSession),
            Operation::new(resume_session::ResumeSession),
            Operation::new(list::ListSessions),
            Operation::new(overview::SessionsOverview),
        ]
    }

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        vec![Arc::new(scheme::ContextScheme), Arc::new(session_scheme::SessionScheme)]
    }

    fn feeds(&self) -> Vec<Arc<dyn Feed>> {
        vec![Arc::new(feed::SessionFeed), Arc::new(feed::SessionListFeed)]
    }

    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[("context", "Name the files, endpoints and ports that matter to a session")]
    }

    fn config(&self) -> &'static [ConfigKey] {
        inherit::CONFIG
    }

    fn observe(&self, seen: &Captured<'_>, tx: &Tx<'_>, config: &Config) -> Result<(), OpError> {
        if seen.is_imported() {
            return Ok(());
        }
        inherit::capture(tx, seen, config)?;
        observe::capture(tx, seen)
    }

    fn may_have_candidates(&self, occasion: &Occasion<'_>, config: &Config) -> bool {
        matches!(occasion, Occasion::SessionStart(source) if resume::is_told(*source, config))
    }

    fn candidates(&self, moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        match moment.occasion {
            Occasion::Handoff { to, tokens } => handoff::candidates(moment, to, tokens),
            _ => resume::candidates(moment),
        }
    }

    fn delivered(&self, tx: &Tx<'_>, session: &str, entries: &[ToldEntry]) -> Result<(), OpError> {
        resume::delivered(tx, session, entries)
    }

    fn instructions(&self) -> &'static str {
        INSTRUCTIONS
    }
}
