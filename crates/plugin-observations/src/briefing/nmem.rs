//! The briefing under the name `nmem`, in the form of that specification: the user's last intents, then
//! tables of records, of this project and of others.

use std::collections::HashSet;

use contract::{Candidate, Form, Section};
use model::observation::ObsType;
use model::rank;
use model::session::Prompt;
use model::{OpError, limits, time};
use store::recent::{self, RecentQuery, Taken};
use store::{observations, prompts};

use super::{BriefingReader, HEADINGS, has_failed};
use crate::scope::Scope;

/// Rows of these projects and, if they are wanted, of the others.
pub(super) fn candidates(
    brief: &BriefingReader<'_>,
    scope: &Scope,
    others: Option<&[i64]>,
) -> Result<Vec<Candidate>, OpError> {
    let own = scope.ids().unwrap_or_default();
    let mut found = brief.intents(&own)?;
    if !own.is_empty() {
        found.extend(brief.rows(&own, &brief.local(scope))?);
    }
    if let Some(others) = others {
        found.extend(brief.rows(others, &brief.elsewhere())?);
    }
    Ok(found)
}

impl BriefingReader<'_> {
    /// The user's last prompts in this project that led to actions.
    fn intents(&self, projects: &[i64]) -> Result<Vec<Candidate>, OpError> {
        let said = prompts::intents(self.rx, projects, None, 2 * limits::BRIEFING_INTENTS_MAX)?;
        let told = said.into_iter().filter(|prompt| self.is_of_another(&prompt.session_id));
        Ok(told.take(limits::BRIEFING_INTENTS_MAX).map(|prompt| self.intent(&prompt)).collect())
    }

    fn intent(&self, prompt: &Prompt) -> Candidate {
        let count = prompt.actions;
        let actions = if count == 1 { "1 action".to_owned() } else { format!("{count} actions") };
        let said = text::one_line(&prompt.content, limits::BRIEFING_INTENT_CHARS);
        // A quotation mark in the prompt must not end the quotation.
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

    /// The best records of these projects, and their pinned records.
    fn rows(&self, projects: &[i64], section: &Section) -> Result<Vec<Candidate>, OpError> {
        let score = |kind, at| rank::recent(kind, at, None, self.now).total;
        let mut found = Vec::new();
        for pinned in observations::pinned(self.rx, projects, section.rows_max)? {
            found.push(self.row(&pinned, section));
        }
        let mut files: HashSet<String> = HashSet::new();
        let mut texts: HashSet<(ObsType, String)> = HashSet::new();
        let mut taken = 0;
        let query = RecentQuery {
            projects: Some(projects),
            before: None,
            after: None,
            score: &|_, kind, at| score(kind, at),
        };
        recent::best(self.rx, &query, |seen, _| {
            // A failure does not use up the one row of its file: an edit of the file gets a row too.
            let failed = has_failed(&seen);
            let new =
                failed || seen.file_path.as_ref().is_none_or(|path| files.insert(path.clone()));
            if new
                && !seen.is_pinned
                && self.is_worth_telling(&seen)
                && (seen.file_path.is_some() || texts.insert((seen.obs_type, seen.content.clone())))
            {
                found.push(self.row(&seen, section));
                taken += usize::from(!failed);
            }
            if taken < section.rows_max { Taken::GoOn } else { Taken::Enough }
        })?;
        Ok(found)
    }
}
