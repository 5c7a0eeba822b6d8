//! Candidates for the briefing of a starting session; the assembler decides how many fit.
//!
//! `sections` writes the briefing: open work, the last sessions, lessons, files in progress. `nmem`
//! writes it as that specification asks. `related` finds earlier turns about the subject of a prompt.

mod files_in_progress;
mod learned;
mod nmem;
mod others;
mod past_sessions;
mod related;
mod sections;
mod topic;
mod uncommitted;
mod work;

use contract::{BriefingForm, Candidate, Moment, Occasion, Slot};
use model::hook::Source;
use model::observation::{ObsType, Observation};
use model::{OpError, limits, rank, time};
use store::{Rx, pauses, projects};

use crate::settings::{ANSWERS, AT_PROMPTS, OTHER_PROJECTS};
use crate::show;
use place::{Place, Scope};

/// Briefings round the time down to a minute, so that an unchanged store gives equal text within it.
const MINUTE_MS: i64 = 60_000;

/// Candidates for a session: its briefing when it starts, related records at a prompt.
pub(crate) fn candidates(moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    let source = match moment.occasion {
        Occasion::SessionStart(source) => source,
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
            BriefingForm::Sections => sections::candidates(&brief, &scope, others.as_deref())?,
            BriefingForm::Nmem => nmem::candidates(&brief, &scope, others.as_deref())?,
        };
        found.extend(withheld.map(warning));
        if moment.form == BriefingForm::Sections {
            found.extend(shared_name(&scope));
        }
        Ok(found)
    })
}

/// Says that nothing is stored about this project's files, once in a session.
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

/// The store and the situation that a briefing is read for.
struct BriefingReader<'a> {
    rx: &'a Rx<'a>,
    now: i64,
    /// The session whose own records are left out.
    without: Option<&'a str>,
    /// The session that is briefed, if it is known.
    session: Option<&'a str>,
    source: Source,
    /// The directory of the session; empty if the briefing is for another project.
    place: &'a Place,
    /// Whether answers are stored. Without them a prompt without an answer is not open work.
    answers: bool,
}

impl BriefingReader<'_> {
    /// The other projects. Paused ones are left out: their records are shown nowhere.
    fn others(&self, scope: &Scope, now: i64) -> Result<Vec<i64>, OpError> {
        let own = scope.ids().unwrap_or_default();
        let paused = pauses::list(self.rx, now)?;
        let is_paused = |id: i64| paused.iter().any(|pause| pause.project == Some(id));
        let mut others = projects::ids(self.rx)?;
        others.retain(|id| !own.contains(id) && !is_paused(*id));
        Ok(others)
    }

    /// Whether a record may be a row. Bare session markers, read-only actions and the session's own records
    /// may not.
    fn is_worth_telling(&self, seen: &Observation) -> bool {
        let looked = matches!(
            seen.obs_type.kind(),
            ObsType::Command | ObsType::CommandError | ObsType::Github
        ) && agents::is_read_only(&seen.content);
        !seen.obs_type.kind().is_mark() && !looked && self.is_of_another(&seen.session_id)
    }

    fn is_of_another(&self, session: &str) -> bool {
        self.without.is_none_or(|own| own != session)
    }

    fn row(&self, seen: &Observation, (slot, title): (Slot, Option<&str>)) -> Candidate {
        let at = seen.at_ms;
        let mut summary = text::one_line(&seen.content, limits::BRIEFING_SUMMARY_CHARS);
        let mut kind = seen.obs_type.kind();
        if has_failed(seen) {
            summary.push_str(" (failed)");
            kind = ObsType::ToolOther;
        }
        let score = rank::recent(kind, at, None, self.now);
        if slot == Slot::OtherRecords {
            summary = format!("{summary} [{}]", seen.project);
        }
        let mut reasons = vec![score.parts()];
        if seen.is_pinned {
            reasons.insert(0, "pinned".to_owned());
        }
        Candidate {
            path: format!("obs://{}", seen.id),
            stamp: seen.timestamp,
            title: title.map(str::to_owned),
            score: score.total,
            reasons,
            cells: vec![
                format!("#{}", seen.id),
                time::age(at, self.now),
                seen.obs_type.word().to_owned(),
                summary,
            ],
            labels: 2,
            same_as: seen.file_path.clone().filter(|_| seen.obs_type != ObsType::CommandError),
            pinned: seen.is_pinned,
            ..Candidate::new(slot)
        }
    }
}

/// Whether the record tells what did not work. It weighs as little as what is of no special kind.
fn has_failed(seen: &Observation) -> bool {
    seen.metadata.as_ref().is_some_and(|metadata| metadata["failed"] == true)
}
