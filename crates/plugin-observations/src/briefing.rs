//! What a session is told when it starts: what the user asked for lately and what came of it, in this
//! project and in others. These are candidates; how many fit and how they look is the assembler's.

use std::collections::HashSet;

use contract::{Candidate, Form, Moment, Occasion, Section};
use model::hook::Source;
use model::observation::{ObsType, Observation};
use model::rank::{self, Score};
use model::session::Prompt;
use model::{OpError, limits, time};
use store::recent::{self, RecentQuery, Taken};
use store::search::{self, Filter};
use store::{Rx, observations, pauses, projects, prompts};
use text::query;

use crate::place::{DiskPlaces, Places as _};
use crate::scope::{Question, Scope, Wanted};
use crate::settings::{AT_PROMPTS, OTHER_PROJECTS};

const HEADINGS: &[&str] = &["ID", "Time", "Type", "Summary"];

/// A minute: the same store gives the same text within it.
const MINUTE_MS: i64 = 60_000;

/// What this session could be told now.
pub(crate) fn candidates(
    moment: &Moment<'_>,
    places: &DiskPlaces,
) -> Result<Vec<Candidate>, OpError> {
    let source = match moment.occasion {
        Occasion::SessionStart(source) => source,
        Occasion::Prompt(said) if moment.config.boolean(AT_PROMPTS) => {
            return related(moment, places, said);
        }
        _ => return Ok(Vec::new()),
    };
    let here = moment.situation.cwd.as_deref();
    let withheld = places.at(here).withheld().filter(|_| moment.project.is_none());
    let question = question(moment, places);
    moment.store.read(|rx| {
        let scope = question.scope(rx)?;
        let brief = Brief {
            rx,
            now: moment.now - moment.now.rem_euclid(MINUTE_MS),
            // What a session that lost its memory did itself is what it needs most.
            without: moment.session.filter(|_| !source.forgot()),
            source,
        };
        let own = scope.ids().unwrap_or_default();
        let mut found = brief.intents(&own)?;
        found.extend(withheld.map(warning));
        if !own.is_empty() {
            found.extend(brief.rows(&own, &brief.local(&scope))?);
        }
        if scope.is_all() || moment.config.boolean(OTHER_PROJECTS) {
            // Of a project that is paused nobody is told anything.
            let paused = pauses::list(rx, moment.now)?;
            let is_paused = |id: i64| paused.iter().any(|pause| pause.project == Some(id));
            let others: Vec<i64> = projects::ids(rx)?
                .into_iter()
                .filter(|id| !own.contains(id) && !is_paused(*id))
                .collect();
            found.extend(brief.rows(&others, &brief.elsewhere())?);
        }
        Ok(found)
    })
}

/// Where to look for what is told.
fn question(moment: &Moment<'_>, places: &DiskPlaces) -> Question {
    let wanted = match moment.project {
        None => Wanted::Here,
        Some("*") => Wanted::All,
        Some(name) => Wanted::Named(name.to_owned()),
    };
    Question::at(places, moment.situation.cwd.as_deref(), wanted)
}

/// The records of earlier sessions that a prompt is about: they have words of it and are near in meaning.
fn related(
    moment: &Moment<'_>,
    places: &DiskPlaces,
    said: &str,
) -> Result<Vec<Candidate>, OpError> {
    let query = query::any_of(said);
    let question = question(moment, places);
    // Whatever is not in the index by then is not told.
    moment.store.catch_up(limits::RELATED_PATIENCE);
    moment.store.read(|rx| {
        let scope = question.scope(rx)?;
        let projects = scope.ids();
        let filter = Filter { projects: projects.as_deref(), ..Filter::default() };
        let brief = Brief { rx, now: moment.now, without: moment.session, source: Source::Startup };
        let section = Section {
            order: 1,
            title: "Earlier, about this".to_owned(),
            form: Form::Table(HEADINGS),
            gives_way: 0,
            floor: 1,
            rows_max: limits::RELATED_MAX,
        };
        let found = search::related(rx, &query, &filter)?;
        let best = found.iter().map(|hit| hit.score).fold(0.0, f64::max);
        let mut ranked: Vec<(Score, i64)> = (found.iter())
            .map(|hit| (rank::best(hit.score, best, hit.kind, hit.at, brief.now), hit.id))
            .collect();
        ranked.sort_by(|a, b| b.0.total.total_cmp(&a.0.total).then(b.1.cmp(&a.1)));
        let mut related = Vec::new();
        for (score, id) in ranked {
            if related.len() == section.rows_max {
                break;
            }
            if let Some(seen) =
                observations::one(rx, id)?.filter(|seen| brief.is_worth_telling(seen))
            {
                let reasons = vec![score.parts()];
                related.push(Candidate {
                    score: score.total,
                    reasons,
                    ..brief.row(&seen, &section)
                });
            }
        }
        Ok(related)
    })
}

/// Says that nothing is stored about this project's files, once in a session.
fn warning(line: String) -> Candidate {
    Candidate {
        path: "project://".to_owned(),
        stamp: 0,
        section: Section {
            order: 0,
            title: "Not recorded".to_owned(),
            form: Form::Bullets,
            gives_way: 3,
            floor: 1,
            rows_max: 1,
        },
        score: 1.0,
        reasons: vec!["the project's settings withhold every path".to_owned()],
        cells: vec![line],
        same_as: None,
        pinned: true,
    }
}

struct Brief<'a> {
    rx: &'a Rx<'a>,
    now: i64,
    /// The session whose own records are left out.
    without: Option<&'a str>,
    source: Source,
}

impl Brief<'_> {
    /// What the user asked for in this project and what led to something.
    fn intents(&self, projects: &[i64]) -> Result<Vec<Candidate>, OpError> {
        let said = prompts::intents(self.rx, projects, None, 2 * limits::BRIEFING_INTENTS_MAX)?;
        let told = said.into_iter().filter(|prompt| self.is_of_another(&prompt.session_id));
        Ok(told.take(limits::BRIEFING_INTENTS_MAX).map(|prompt| self.intent(&prompt)).collect())
    }

    fn intent(&self, prompt: &Prompt) -> Candidate {
        let count = prompt.actions;
        let actions = if count == 1 { "1 action".to_owned() } else { format!("{count} actions") };
        let said = text::one_line(&prompt.content, limits::BRIEFING_INTENT_CHARS);
        // What was said cannot end its own quotation.
        let said = said.replace('"', "'");
        let line = format!("[{}] \"{said}\" → {actions}", time::age(prompt.at, self.now));
        Candidate {
            path: format!("obs://{}", prompt.id),
            stamp: prompt.at,
            section: Section {
                order: 1,
                title: "Recent Intents".to_owned(),
                form: Form::Bullets,
                gives_way: 1,
                floor: limits::BRIEFING_INTENTS_FLOOR,
                rows_max: limits::BRIEFING_INTENTS_MAX,
            },
            score: rank::recency(prompt.at, self.now),
            reasons: vec![format!("asked for, and led to {actions}")],
            cells: vec![line],
            same_as: None,
            pinned: prompt.is_pinned,
        }
    }

    fn local(&self, scope: &Scope) -> Section {
        let rows_max = if self.source.forgot() {
            limits::BRIEFING_LOCAL_RECOVERY_MAX
        } else {
            limits::BRIEFING_LOCAL_MAX
        };
        Section {
            order: 2,
            title: scope.name().unwrap_or("This project").to_owned(),
            form: Form::Table(HEADINGS),
            gives_way: 2,
            floor: limits::BRIEFING_LOCAL_FLOOR,
            rows_max,
        }
    }

    fn elsewhere(&self) -> Section {
        let rows_max = if self.source.forgot() {
            limits::BRIEFING_CROSS_RECOVERY_MAX
        } else {
            limits::BRIEFING_CROSS_MAX
        };
        Section {
            order: 3,
            title: "Other projects".to_owned(),
            form: Form::Table(HEADINGS),
            gives_way: 0,
            floor: 0,
            rows_max,
        }
    }

    /// The best records of these projects, and what is pinned there.
    fn rows(&self, projects: &[i64], section: &Section) -> Result<Vec<Candidate>, OpError> {
        let score = |kind, at| rank::recent(kind, at, None, self.now).total;
        let mut found = Vec::new();
        for pinned in observations::pinned(self.rx, projects, section.rows_max)? {
            found.push(self.row(&pinned, section));
        }
        let mut files: HashSet<String> = HashSet::new();
        let mut taken = 0;
        let query = RecentQuery {
            projects: Some(projects),
            before: None,
            after: None,
            score: &|_, kind, at| score(kind, at),
        };
        recent::best(self.rx, &query, |seen, _| {
            // A failure does not stand in the way of what was done to the file.
            let failed = has_failed(&seen);
            let new =
                failed || seen.file_path.as_ref().is_none_or(|path| files.insert(path.clone()));
            if new && !seen.is_pinned && self.is_worth_telling(&seen) {
                found.push(self.row(&seen, section));
                taken += usize::from(!failed);
            }
            if taken < section.rows_max { Taken::GoOn } else { Taken::Enough }
        })?;
        Ok(found)
    }

    fn is_worth_telling(&self, seen: &Observation) -> bool {
        !seen.obs_type.is_mark() && self.is_of_another(&seen.session_id)
    }

    fn is_of_another(&self, session: &str) -> bool {
        self.without.is_none_or(|own| own != session)
    }

    fn row(&self, seen: &Observation, section: &Section) -> Candidate {
        let at = seen.at_ms;
        let mut summary = text::one_line(&seen.content, limits::BRIEFING_SUMMARY_CHARS);
        let mut kind = seen.obs_type;
        if has_failed(seen) {
            summary.push_str(" (failed)");
            kind = ObsType::ToolOther;
        }
        let score = rank::recent(kind, at, None, self.now);
        if section.order == 3 {
            summary = format!("{summary} [{}]", seen.project);
        }
        let mut reasons = vec![score.parts()];
        if seen.is_pinned {
            reasons.insert(0, "pinned".to_owned());
        }
        Candidate {
            path: format!("obs://{}", seen.id),
            stamp: seen.timestamp,
            section: section.clone(),
            score: score.total,
            reasons,
            cells: vec![
                format!("#{}", seen.id),
                time::age(at, self.now),
                seen.obs_type.word().to_owned(),
                summary,
            ],
            same_as: seen.file_path.clone().filter(|_| seen.obs_type != ObsType::CommandError),
            pinned: seen.is_pinned,
        }
    }
}

/// Whether the record tells what did not work. It weighs as little as what is of no special kind.
fn has_failed(seen: &Observation) -> bool {
    seen.metadata.as_ref().is_some_and(|metadata| metadata["failed"] == true)
}
