//! The values in the briefing of a new session.

use contract::{Candidate, Moment, Occasion, Slot};
use model::{OpError, limits, time};
use store::{projects, values};

use crate::context::value_path;

/// Values in a briefing.
const VALUES_SHOWN: usize = 3;

/// The best-proven values of the project, at the start of a session.
pub(crate) fn candidates(moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    if !matches!(moment.occasion, Occasion::SessionStart(_)) {
        return Ok(Vec::new());
    }
    let found = moment.store.read(|rx| match projects::known(rx, &moment.place.facts)? {
        Some(project) => values::best(rx, Some(&[project.id]), VALUES_SHOWN),
        None => Ok(Vec::new()),
    })?;
    // With the path of the value an agent can read it, which counts as use.
    let row = |(place, value): (usize, values::LearnedValue)| Candidate {
        path: value_path(&value),
        stamp: value.at,
        score: 0.7 * value.weight - 0.01 * place as f64,
        reasons: vec!["learned value".to_owned()],
        cells: vec![
            value_path(&value),
            format!("[{}]", time::age(value.at, moment.now)),
            text::line_of_words(&value.text, limits::VALUE_CHARS_MAX),
        ],
        labels: 2,
        ..Candidate::new(Slot::Learned)
    };
    Ok(found.into_iter().enumerate().map(row).collect())
}
