//! The row of a briefing: the newest bookmark of the project.

use contract::{Candidate, Moment, Slot};
use model::OpError;
use store::bookmarks;

use crate::path;

pub(crate) fn candidates(moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    let question = moment.projects();
    let newest = moment.store.read(|rx| {
        let projects = question.scope(rx)?.ids();
        bookmarks::newest(rx, projects.as_deref(), 1)
    })?;
    let candidate = |one: bookmarks::Bookmark| Candidate {
        path: path(one.id),
        stamp: one.at,
        score: 0.5,
        reasons: vec!["the newest bookmark".to_owned()],
        cells: vec![format!("Bookmark {}: {}", one.url, one.note)],
        ..Candidate::new(Slot::Marked)
    };
    Ok(newest.into_iter().map(candidate).collect())
}
