//! Ranks hints: the score, its parts, and the reasons in words.

use super::HintMeta;
use crate::rank::recency;
use crate::time::ago;

/// Priority and confidence of a hint that sets none.
const PRIORITY_DEFAULT: u8 = 5;
const CONFIDENCE_DEFAULT: f64 = 0.5;
/// Gain in score for an open file that matches the hint.
const OPEN_FILE: f64 = 0.10;

/// How many times a hint was used, when it was last used, and when it was last changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub use_count: u64,
    pub last_used_at: Option<i64>,
    pub updated_at: i64,
}

/// Frequency times recency: grows with use, halves with every week without.
#[expect(clippy::cast_precision_loss, reason = "the curve is flat long before counts are inexact")]
pub fn frecency(use_count: u64, last_used_at: Option<i64>, now: i64) -> f64 {
    let Some(last) = last_used_at.filter(|_| use_count > 0) else { return 0.0 };
    (1.0 - (-(use_count as f64) / 10.0).exp()) * recency(last, now)
}

/// The part of the score that depends on neither time nor location.
pub fn standing(meta: &HintMeta, specificity: f64) -> f64 {
    let priority = f64::from(priority(meta)) / 10.0;
    let confidence = meta.confidence.unwrap_or(CONFIDENCE_DEFAULT);
    0.20 * priority + 0.20 * confidence + 0.20 * specificity
}

/// The score of an eligible hint, from 0 to 1.
pub fn score(standing: f64, usage: Usage, open_file: bool, now: i64) -> f64 {
    let score = 0.30 * frecency(usage.use_count, usage.last_used_at, now)
        + standing
        + 0.10 * recency(usage.updated_at, now);
    (score + if open_file { OPEN_FILE } else { 0.0 }).min(1.0)
}

/// The hint's priority, or the default.
pub fn priority(meta: &HintMeta) -> u8 {
    meta.priority.unwrap_or(PRIORITY_DEFAULT)
}

/// A score rounded for display, to two decimals.
pub fn shown_score(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}

/// The reasons for the hint's rank besides its scope.
pub fn reasons(meta: &HintMeta, usage: Usage, now: i64) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(last) = usage.last_used_at.filter(|_| usage.use_count > 0) {
        reasons.push(used(last, now));
        if usage.use_count >= 2 {
            reasons.push(format!("used {} times", usage.use_count));
        }
    }
    if let Some(priority) = meta.priority.filter(|priority| *priority >= 8) {
        reasons.push(format!("high priority ({priority}/10)"));
    }
    if let Some(confidence) = meta.confidence.filter(|confidence| *confidence >= 0.8) {
        reasons.push(format!("high confidence ({confidence:?})"));
    }
    reasons
}

fn used(last: i64, now: i64) -> String {
    let minutes = now.saturating_sub(last).max(0) / 60_000;
    let hours = minutes / 60;
    match (minutes, hours) {
        (0..5, _) => format!("recently used ({})", ago(last, now)),
        (5..60, _) => format!("used {minutes} minutes ago"),
        (_, 1) => "used 1 hour ago".to_owned(),
        (_, 2..24) => format!("used {hours} hours ago"),
        (_, 24..48) => "used yesterday".to_owned(),
        _ => format!("used {} days ago", hours / 24),
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
    fn use_saturates_and_halves_every_week() {
        near(frecency(0, None, 0), 0.0);
        near(frecency(0, Some(0), 0), 0.0);
        near(frecency(10, Some(0), 0), 1.0 - (-1.0_f64).exp());
        near(frecency(10, Some(0), 7 * DAY), (1.0 - (-1.0_f64).exp()) / 2.0);
        near(frecency(u64::MAX, Some(0), 0), 1.0);
        near(recency(0, 14 * DAY), 0.25);
        near(recency(5, 0), 1.0);
    }

    #[test]
    fn the_score_is_the_weighted_sum_and_never_above_one() {
        let meta = HintMeta { priority: Some(7), confidence: Some(0.8), ..HintMeta::default() };
        let of = |meta: &HintMeta, specificity: f64, open_file: bool| {
            score(standing(meta, specificity), Usage::default(), open_file, 0)
        };
        near(of(&meta, 0.6, false), 0.14 + 0.16 + 0.12 + 0.1);
        near(of(&HintMeta::default(), 0.0, false), 0.3);
        near(of(&HintMeta::default(), 0.0, true), 0.4);
        let best = HintMeta { priority: Some(10), confidence: Some(1.0), ..HintMeta::default() };
        let used = Usage { use_count: 1000, last_used_at: Some(0), updated_at: 0 };
        near(score(standing(&best, 1.0), used, true, 0), 1.0);
        near(shown_score(0.876_543), 0.88);
    }

    #[test]
    fn reasons_speak_of_use_priority_and_confidence() {
        let at = |ms: i64, count: u64| {
            let usage = Usage { use_count: count, last_used_at: Some(0), updated_at: 0 };
            reasons(&HintMeta::default(), usage, ms)
        };
        assert_eq!(at(10_000, 1), ["recently used (10s ago)"]);
        assert_eq!(at(180_000, 2), ["recently used (3m ago)", "used 2 times"]);
        assert_eq!(at(12 * 60_000, 1), ["used 12 minutes ago"]);
        assert_eq!(at(3_600_000, 1), ["used 1 hour ago"]);
        assert_eq!(at(5 * 3_600_000, 1), ["used 5 hours ago"]);
        assert_eq!(at(30 * 3_600_000, 1), ["used yesterday"]);
        assert_eq!(at(3 * DAY, 1), ["used 3 days ago"]);
        assert_eq!(at(0, 0), Vec::<String>::new());
        let meta = HintMeta { priority: Some(9), confidence: Some(0.8), ..HintMeta::default() };
        let said = reasons(&meta, Usage::default(), 0);
        assert_eq!(said, ["high priority (9/10)", "high confidence (0.8)"]);
    }
}
