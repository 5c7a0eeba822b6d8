//! The one scorer of records: match, recency, type and project, each from 0 to 1, weighted according to the requested
//! order.

use crate::observation::ObsType;
use crate::time;

/// Recency halves in a week.
const HALF_LIFE_MS: i64 = 7 * 86_400_000;
/// Weight of another project's record if the caller's own project is preferred.
const OTHER_PROJECT: f64 = 0.3;

/// A score from 0 to 1 and its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    pub total: f64,
    /// Relative to the best match of the same answer.
    pub lexical: Option<f64>,
    pub recency: f64,
    pub kind: f64,
    pub project: Option<f64>,
}

/// Recency: 1 for now, half after each week. A time in the future counts as now.
pub fn recency(at: i64, now: i64) -> f64 {
    time::decay(now.saturating_sub(at), HALF_LIFE_MS)
}

/// The score of a hit by match, recency and type. `best` is the highest lexical score among the hits of the query.
pub fn blended(lexical: f64, best: f64, kind: ObsType, at: i64, now: i64) -> Score {
    let lexical = if best > 0.0 { (lexical / best).clamp(0.0, 1.0) } else { 0.0 };
    let (recency, kind) = (recency(at, now), kind.weight());
    let total = 0.5 * lexical + 0.3 * recency + 0.2 * kind;
    Score { total, lexical: Some(lexical), recency, kind, project: None }
}

/// In the default order of search: the gain of the most recent record over an old one that matches as well, and of
/// the most informative type over the least. Adding recency to the match instead, as [`blended`] does, ranks new
/// records that hardly match above old ones that answer.
const RECENT_GAIN: f64 = 0.2;
const KIND_GAIN: f64 = 0.1;

/// The score of the default order of search: the match first; among about equal matches, the newer.
pub fn best(lexical: f64, best: f64, kind: ObsType, at: i64, now: i64) -> Score {
    let score = Score { kind: kind.telling(), ..blended(lexical, best, kind, at, now) };
    let gain = 1.0 + RECENT_GAIN * score.recency + KIND_GAIN * score.kind;
    let total = score.lexical.unwrap_or_default() * gain / (1.0 + RECENT_GAIN + KIND_GAIN);
    Score { total, ..score }
}

/// The score without a query. `own_project` says whether the record belongs to the requested project; `None` if no
/// project is requested.
pub fn recent(kind: ObsType, at: i64, own_project: Option<bool>, now: i64) -> Score {
    let (recency, kind) = (recency(at, now), kind.weight());
    let project = own_project.map(|own| if own { 1.0 } else { OTHER_PROJECT });
    let total = match project {
        Some(project) => 0.5 * recency + 0.3 * kind + 0.2 * project,
        None => 0.6 * recency + 0.4 * kind,
    };
    Score { total, lexical: None, recency, kind, project }
}

impl Score {
    /// The parts of the score in words: `lexical 0.82, recency 0.50, type 0.67`.
    pub fn parts(&self) -> String {
        let parts = [
            ("lexical", self.lexical),
            ("recency", Some(self.recency)),
            ("type", Some(self.kind)),
            ("project", self.project),
        ];
        let shown: Vec<String> = parts
            .iter()
            .filter_map(|(name, part)| part.map(|part| format!("{name} {part:.2}")))
            .collect();
        shown.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn recency_halves_every_week() {
        for (days, expected) in [(0, 1.0), (7, 0.5), (14, 0.25), (21, 0.125), (-3, 1.0)] {
            near(recency(0, days * DAY), expected);
        }
    }

    /// @briefing_scores
    #[test]
    fn without_a_query_recency_kind_and_project_count() {
        let edit = |days: i64, own| recent(ObsType::FileEdit, 0, own, days * DAY).total;
        near(edit(0, Some(true)), 1.0);
        near(edit(7, Some(true)), 0.25 + 0.3 + 0.2);
        near(edit(0, Some(false)), 0.5 + 0.3 + 0.06);
        near(edit(0, None), 1.0);
        near(edit(14, None), 0.15 + 0.4);
        near(recent(ObsType::Command, 0, None, 0).total, 0.6 + 0.4 * 0.67);
        near(recent(ObsType::SessionCompact, 0, None, 0).total, 0.6 + 0.4 * 0.5);
        near(recent(ObsType::McpCall, 0, None, 0).total, 0.6 + 0.4 * 0.33);
        near(recent(ObsType::FileRead, 0, None, 0).total, 0.6 + 0.4 * 0.17);
    }

    #[test]
    fn with_a_query_the_match_counts_half() {
        near(blended(4.0, 4.0, ObsType::FileEdit, 0, 0).total, 1.0);
        near(blended(2.0, 4.0, ObsType::Command, 0, 7 * DAY).total, 0.25 + 0.15 + 0.2 * 0.67);
        near(blended(0.0, 0.0, ObsType::FileEdit, 0, 0).total, 0.5);
        near(blended(9.0, 4.0, ObsType::FileEdit, 0, 0).total, 1.0);
    }

    #[test]
    fn recency_decides_between_equal_matches_only() {
        let of = |lexical: f64, days: i64| best(lexical, 1.0, ObsType::Answer, 0, days * DAY).total;
        assert!(of(1.0, 1) > of(1.0, 30));
        assert!(of(0.95, 0) > of(1.0, 30));
        assert!(of(0.8, 0) < of(1.0, 300));
        near(best(1.0, 1.0, ObsType::Answer, 0, 0).total, 1.0);
    }

    #[test]
    fn a_score_tells_what_it_is_made_of() {
        let score = blended(2.0, 4.0, ObsType::Command, 0, 7 * DAY);
        assert_eq!(score.parts(), "lexical 0.50, recency 0.50, type 0.67");
        let score = recent(ObsType::FileEdit, 0, Some(false), 0);
        assert_eq!(score.parts(), "recency 1.00, type 1.00, project 0.30");
    }
}
