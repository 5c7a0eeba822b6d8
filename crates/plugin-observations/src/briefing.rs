//! Candidates for the briefing of a starting session; the assembler decides how many fit.
//!
//! `handoff` writes the work of one session for another agent. `compose` writes the briefing: open work, the last sessions, lessons, files in progress. `nmem`
//! writes the briefing in the form of that specification. `related` finds earlier turns about the subject of a prompt.

mod compose;
mod files_in_progress;
mod handoff;
mod learned;
mod nmem;
mod others;
mod past_sessions;
mod reader;
mod related;
mod sections;
mod this_session;
mod topic;
mod uncommitted;
mod work;

use contract::{BriefingForm, Candidate, Moment, Occasion, Slot};
use model::OpError;

use crate::settings::{ANSWERS, AT_PROMPTS, OTHER_PROJECTS};
use crate::show;
use place::{Place, Scope};
use reader::{BriefingReader, MINUTE_MS};
pub(crate) use topic::teaches;

/// Candidates for a session: its briefing when it starts, related records at a prompt.
pub(crate) fn candidates(moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    let source = match moment.occasion {
        Occasion::SessionStart(source) => source,
        Occasion::Handoff { .. } => return handoff::candidates(moment),
        Occasion::Question { query, .. } if moment.occasion.asks("observations") => {
            let found = |row: Candidate| Candidate {
                slot: Slot::Found,
                title: Some("Observations".to_owned()),
                ..row
            };
            return Ok(related::candidates(moment, query)?.into_iter().map(found).collect());
        }
        Occasion::Prompt(said) if moment.config.boolean(AT_PROMPTS) => {
            return related::candidates(moment, said);
        }
        _ => return Ok(Vec::new()),
    };
    let elsewhere = Place::default();
    let place = if moment.project.is_none() { moment.place } else { &elsewhere };
    let withheld = place.withheld();
    let question = moment.projects();
    moment.store.read(|rx| {
        let scope = question.scope(rx)?;
        let brief = BriefingReader {
            rx,
            now: moment.now - moment.now.rem_euclid(MINUTE_MS),
            // A session whose host dropped its context needs its own records most.
            without: moment.session.filter(|_| !source.forgot()),
            session: moment.session,
            source,
            place,
            answers: moment.config.boolean(ANSWERS),
        };
        let others = match scope.is_all() || moment.config.boolean(OTHER_PROJECTS) {
            true => Some(brief.others(&scope, moment.now)?),
            false => None,
        };
        let mut found = match moment.form {
            BriefingForm::Sections => compose::candidates(&brief, &scope, others.as_deref())?,
            BriefingForm::Nmem => nmem::candidates(&brief, &scope, others.as_deref())?,
        };
        found.extend(withheld.map(warning));
        if moment.form == BriefingForm::Sections {
            found.extend(shared_name(&scope));
        }
        Ok(found)
    })
}

/// The line that nothing is stored about this project's files, shown once in a session.
fn warning(line: String) -> Candidate {
    let reason = "the project's settings withhold every path";
    remark(Slot::NotRecorded, line, reason)
}

/// Says that the briefing covers several projects, if they share the name.
fn shared_name(scope: &Scope) -> Option<Candidate> {
    let paths = scope.sharing();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let line = show::several_projects(scope.name().unwrap_or_default(), &paths);
    (paths.len() > 1).then(|| remark(Slot::SharedName, line, "several projects share the name"))
}

/// A line before all sections.
fn remark(slot: Slot, line: String, reason: &str) -> Candidate {
    Candidate {
        path: "project://".to_owned(),
        score: 1.0,
        reasons: vec![reason.to_owned()],
        cells: vec![line],
        pinned: true,
        ..Candidate::new(slot)
    }
}
