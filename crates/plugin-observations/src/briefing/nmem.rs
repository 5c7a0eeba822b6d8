//! The briefing under the name `nmem`, in the form of that specification: the user's last intents, then
//! tables of records, of this project and of others.

use std::collections::{HashMap, HashSet};

use contract::{Candidate, Slot};
use model::observation::ObsType;
use model::rank;
use model::session::Prompt;
use model::{OpError, limits, time};
use store::recent::{self, RecentQuery, Taken};
use store::{observations, prompts};

use super::reader::{BriefingReader, has_failed};
use crate::note::Note;
use crate::replaced::{self, TalkStatement};
use place::Scope;

/// Rows of these projects and, if they are wanted, of the others.
pub(super) fn candidates(
    brief: &BriefingReader<'_>,
    scope: &Scope,
    others: Option<&[i64]>,
) -> Result<Vec<Candidate>, OpError> {
    let own = scope.ids().unwrap_or_default();
    let mut found = brief.intents(&own)?;
    if !own.is_empty() {
        found.extend(brief.rows(&own, (Slot::ProjectRecords, scope.name()))?);
    }
    if let Some(others) = others {
        found.extend(brief.rows(others, (Slot::OtherRecords, None))?);
    }
    Ok(found)
}

impl BriefingReader<'_> {
    /// The user's last prompts in this project that led to actions.
    fn intents(&self, projects: &[i64]) -> Result<Vec<Candidate>, OpError> {
        let said = prompts::intents(self.rx, projects, None, 2 * limits::BRIEFING_INTENTS_MAX)?;
        let told = said.into_iter().filter(|prompt| self.is_of_another(&prompt.session_id));
        let told: Vec<Prompt> = told.take(limits::BRIEFING_INTENTS_MAX).collect();
        let statements = told.iter().map(|prompt| {
            let (id, at, kind) = (prompt.id, prompt.at, ObsType::UserPrompt);
            (
                prompt.project_id,
                TalkStatement::new(self.rx, (id, at), kind, Some(id), &prompt.content),
            )
        });
        let replaced = replaced::replacing(self.rx, statements)?;
        Ok(told.iter().map(|prompt| self.intent(prompt, &replaced)).collect())
    }

    /// The row of a prompt; `replaced` has the records that replaced prompts, by their ids.
    fn intent(&self, prompt: &Prompt, replaced: &HashMap<i64, i64>) -> Candidate {
        let count = prompt.actions;
        let actions = if count == 1 { "1 action".to_owned() } else { format!("{count} actions") };
        let said = text::one_line(&prompt.content, limits::BRIEFING_INTENT_CHARS);
        // A quotation mark in the prompt must not end the quotation.
        let said = said.replace('"', "'");
        let age = format!("[{}]", time::age(prompt.at, self.now));
        let note = replaced.get(&prompt.id).map(|newer| Note::ReplacedBy(*newer).text());
        let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
        Candidate {
            path: format!("obs://{}", prompt.id),
            stamp: prompt.at,
            score: rank::recency(prompt.at, self.now),
            reasons: vec![format!("asked for, and led to {actions}")],
            cells: vec![age, format!("\"{said}\" → {actions}{note}")],
            labels: 1,
            pinned: prompt.is_pinned,
            ..Candidate::new(Slot::Intents)
        }
    }

    /// The best records of these projects, and their pinned records, for a section and its title.
    fn rows(
        &self,
        projects: &[i64],
        section: (Slot, Option<&str>),
    ) -> Result<Vec<Candidate>, OpError> {
        let rows_max = section.0.rows_max(self.source.forgot());
        let score = |kind, at| rank::recent(kind, at, None, self.now).total;
        let mut found = Vec::new();
        for pinned in observations::pinned(self.rx, projects, rows_max)? {
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
                && (seen.file_path.is_some()
                    || texts.insert((seen.obs_type.kind(), seen.content.clone())))
            {
                found.push(self.row(&seen, section));
                taken += usize::from(!failed);
            }
            if taken < rows_max { Taken::GoOn } else { Taken::Enough }
        })?;
        Ok(found)
    }
}
