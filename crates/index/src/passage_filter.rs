//! The part of a filter that the catalogue can answer, passage by passage.

use std::ops::Range;

use model::limits;
use model::observation::ObsType;

use crate::{Hit, IdSet, Passages, RecordKind};

/// The conditions on a document; `None` admits all.
#[derive(Default)]
pub struct PassageFilter {
    pub projects: Option<Vec<i64>>,
    pub session: Option<i64>,
    /// The sessions of an agent: they are few beside what was done in them.
    pub sessions: Option<IdSet>,
    /// Documents about a file.
    pub about: Option<IdSet>,
    /// Documents about failures.
    pub failed: Option<IdSet>,
    pub kind: Option<RecordKind>,
    /// Milliseconds since 1970, UTC; neither end is included.
    pub before: Option<i64>,
    pub after: Option<i64>,
    /// A document that is not meant.
    pub except: Option<i64>,
}

impl PassageFilter {
    /// Whether the filter rejects every document, so that no search is needed.
    pub fn admits_nothing(&self) -> bool {
        let is_nothing = |ids: &Option<Vec<i64>>| ids.as_ref().is_some_and(Vec::is_empty);
        let told = [&self.about, &self.sessions, &self.failed];
        is_nothing(&self.projects) || told.into_iter().flatten().any(IdSet::is_empty)
    }

    /// Whether a passage may be one of a document that the conditions let through, as far as the
    /// catalogue tells.
    pub fn admits(&self, passages: &Passages, passage: usize) -> bool {
        let project = |projects: &Vec<i64>| projects.contains(&passages.project(passage));
        passages.doc(passage).is_some_and(|doc| {
            let own = i64::from(passages.session(passage));
            let session = |session: i64| session == own || session == doc;
            // A record about a session has the agent of that session.
            let agent = |of: &IdSet| of.has(if own == 0 { doc } else { own });
            self.projects.as_ref().is_none_or(project)
                && self.session.is_none_or(session)
                && self.sessions.as_ref().is_none_or(agent)
                && [&self.about, &self.failed].into_iter().flatten().all(|ids| ids.has(doc))
                && self.except != Some(doc)
                && self.may_be_of_then(passages, passage)
        })
    }

    /// [`Self::admits`] for passages of [`Self::runs`], whose project was checked before.
    pub fn admits_of_run<'a>(
        &'a self,
        passages: &'a Passages,
    ) -> impl Fn(usize) -> bool + Sync + 'a {
        let only_projects = self.session.is_none()
            && self.kind.is_none()
            && self.before.or(self.after).or(self.except).is_none()
            && [&self.sessions, &self.about, &self.failed].into_iter().all(Option::is_none);
        move |passage| match only_projects {
            true => passages.doc(passage).is_some(),
            false => self.admits(passages, passage),
        }
    }

    /// Whether kind and time do not speak against it. The time of a record only grows, as it is repeated or
    /// its session goes on, and the catalogue may not know that yet.
    fn may_be_of_then(&self, passages: &Passages, passage: usize) -> bool {
        let (at, kind) = (passages.at(passage), passages.kind(passage));
        let grows = kind.is_some_and(|kind| kind == ObsType::SessionSummary);
        let latest = at.saturating_add(limits::RECORD_MOVES_MS);
        self.kind.is_none_or(|wanted| kind == Some(wanted))
            && self.before.is_none_or(|before| at < before)
            && self.after.is_none_or(|after| grows || latest > after)
    }

    /// The stretches of a part of all passages outside of which nothing is admitted: of a project that is
    /// one of many, most passages need not be looked at.
    pub fn runs<'a>(
        &'a self,
        passages: &'a Passages,
        part: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let all = self.projects.is_none().then(|| part.clone());
        let projects = self.projects.iter().flatten();
        all.into_iter().chain(projects.flat_map(move |id| passages.of_project(*id, part.clone())))
    }

    /// The document of a passage, without a score, as the catalogue has it.
    pub fn hit(&self, passages: &Passages, passage: usize) -> Option<Hit> {
        let doc = passages.doc(passage).filter(|_| self.admits(passages, passage))?;
        // The record of a session belongs to it, though it is no part of it.
        let session = match passages.session(passage) {
            0 => doc,
            session => i64::from(session),
        };
        let (at, kind) = (passages.at(passage), passages.kind(passage)?);
        Some(Hit { at, kind, ..Hit::new(doc, session, passages.project(passage)) })
    }
}
