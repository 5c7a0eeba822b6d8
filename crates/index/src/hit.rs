//! Documents that were found.

use model::observation::ObsType;

use crate::RecordKind;

/// A document that was found, with the parts of its score. Scores are comparable within one answer only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub id: i64,
    pub score: f64,
    /// The part of the score by its own words.
    pub lexical: f64,
    /// The part of the score by the previous and the next document of its session.
    pub neighbours: f64,
    /// The part of the score by its session as a whole.
    pub in_session: f64,
    /// Its similarity to the query by embedding, from 0 to 1.
    pub meaning: f64,
    /// Whether it contains a path, a hash or the like exactly as it was typed.
    pub exact: bool,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub kind: RecordKind,
    pub project: i64,
    /// Its own id if it is in no session, so that it counts as a session of its own.
    pub session: i64,
    /// Its passage by which it was found; 0 if it was found otherwise.
    pub passage: usize,
}

impl Hit {
    /// A document without a score.
    pub fn new(id: i64, session: i64, project: i64) -> Hit {
        Hit {
            id,
            score: 0.0,
            lexical: 0.0,
            neighbours: 0.0,
            in_session: 0.0,
            meaning: 0.0,
            exact: false,
            at: 0,
            kind: ObsType::Marker.into(),
            project,
            session,
            passage: 0,
        }
    }

    /// The score by words: its own, its neighbours' and its session's.
    pub fn words(&self) -> f64 {
        self.lexical + self.neighbours + self.in_session
    }
}
