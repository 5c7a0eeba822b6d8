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
    /// The sessions of an agent. Session ids are stored because there are far fewer of them than
    /// documents.
    pub sessions: Option<IdSet>,
    /// Documents about a file.
    pub about: Option<IdSet>,
    /// Documents about failures.
    pub failed: Option<IdSet>,
    /// One of these kinds.
    pub kinds: Option<Vec<RecordKind>>,
    /// Milliseconds since 1970, UTC; neither end is included.
    pub before: Option<i64>,
    pub after: Option<i64>,
    /// A document to leave out.
    pub except: Option<i64>,
}

impl PassageFilter {
    /// Whether the filter rejects every document, so that no search is needed.
    pub fn admits_nothing(&self) -> bool {
        let is_nothing = |ids: &Option<Vec<i64>>| ids.as_ref().is_some_and(Vec::is_empty);
        let told = [&self.about, &self.sessions, &self.failed];
        is_nothing(&self.projects) || told.into_iter().flatten().any(IdSet::is_empty)
    }

    /// Whether the filter may admit the document of a passage, as far as the catalogue knows.
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
            && self.kinds.is_none()
            && self.before.or(self.after).or(self.except).is_none()
            && [&self.sessions, &self.about, &self.failed].into_iter().all(Option::is_none);
        move |passage| match only_projects {
            true => passages.doc(passage).is_some(),
            false => self.admits(passages, passage),
        }
    }

    /// Whether kind and time allow the passage. The catalogue may have an outdated time: the time of a record grows
    /// when a repeat is folded into the record, and the time of a summary grows with its session. So `after` is
    /// compared with the latest possible time.
    fn may_be_of_then(&self, passages: &Passages, passage: usize) -> bool {
        let (at, kind) = (passages.at(passage), passages.kind(passage));
        let grows = kind.is_some_and(|kind| kind == ObsType::SessionSummary);
        let latest = at.saturating_add(limits::RECORD_MOVES_MS);
        let is_wanted = |kinds: &Vec<RecordKind>| kind.is_some_and(|kind| kinds.contains(&kind));
        self.kinds.as_ref().is_none_or(is_wanted)
            && self.before.is_none_or(|before| at < before)
            && self.after.is_none_or(|after| grows || latest > after)
    }

    /// The runs of passages within `part` that the filter may admit. If the filter has kinds and none of them is a type
    /// of observation, these are the runs of its kinds; else those of its projects; without projects, the whole part.
    pub fn runs<'a>(
        &'a self,
        passages: &'a Passages,
        part: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let kinds = self.kinds.as_ref().filter(|kinds| kinds.iter().all(|kind| kind.is_further()));
        let projects = self.projects.as_ref().filter(|_| kinds.is_none());
        let all = (kinds.is_none() && projects.is_none()).then(|| part.clone());
        let here = part.clone();
        let of_projects = projects.into_iter().flatten();
        let of_projects = of_projects.flat_map(move |id| passages.of_project(*id, here.clone()));
        let of_kinds = kinds.into_iter().flatten();
        let of_kinds = of_kinds.flat_map(move |kind| passages.of_kind(*kind, part.clone()));
        all.into_iter().chain(of_projects).chain(of_kinds)
    }

    /// The document of a passage, without a score, as the catalogue has it.
    pub fn hit(&self, passages: &Passages, passage: usize) -> Option<Hit> {
        let doc = passages.doc(passage).filter(|_| self.admits(passages, passage))?;
        // A summary has no session number of its own; its session is the document itself.
        let session = match passages.session(passage) {
            0 => doc,
            session => i64::from(session),
        };
        let (at, kind) = (passages.at(passage), passages.kind(passage)?);
        Some(Hit { at, kind, ..Hit::new(doc, session, passages.project(passage)) })
    }
}
