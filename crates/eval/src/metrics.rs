//! Metrics of one question: how many of the expected results are ranked how high.

/// The metrics of a question, or their means, in the order of display.
pub const METRICS: [&str; COUNT] =
    ["R@1", "R@5", "R@10", "R@20", "any@1", "any@5", "any@10", "MRR", "nDCG@10"];
pub(crate) const COUNT: usize = 9;

const RECALL_AT: [usize; 4] = [1, 5, 10, 20];
const ANY_AT: [usize; 3] = [1, 5, 10];
const GAIN_AT: usize = 10;

/// One number for each of [`METRICS`], from 0 to 1.
pub type Scores = [f64; COUNT];

/// The metrics of a ranked list without duplicates; `None` if nothing is expected.
pub(crate) fn scores(ranked: &[i64], gold: &[i64]) -> Option<Scores> {
    if gold.is_empty() {
        return None;
    }
    // Ranks from 0, in ascending order.
    let hits: Vec<usize> = ranked
        .iter()
        .enumerate()
        .filter(|(_, id)| gold.contains(id))
        .map(|(rank, _)| rank)
        .collect();
    let within = |depth: usize| hits.iter().take_while(|rank| **rank < depth).count();
    let [r1, r5, r10, r20] = RECALL_AT.map(|depth| within(depth) as f64 / gold.len() as f64);
    let [a1, a5, a10] = ANY_AT.map(|depth| if within(depth) > 0 { 1.0 } else { 0.0 });
    let reciprocal = hits.first().map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
    let gained: f64 = hits.iter().take_while(|rank| **rank < GAIN_AT).map(|rank| gain(*rank)).sum();
    let ideal: f64 = (0..gold.len().min(GAIN_AT)).map(gain).sum();
    Some([r1, r5, r10, r20, a1, a5, a10, reciprocal, gained / ideal])
}

fn gain(rank: usize) -> f64 {
    1.0 / ((rank + 2) as f64).log2()
}

/// The mean of each metric; `None` for an empty list.
pub(crate) fn means(scores: &[Scores]) -> Option<Scores> {
    let mut means = [0.0; COUNT];
    for one in scores {
        for (mean, value) in means.iter_mut().zip(one) {
            *mean += value;
        }
    }
    (!scores.is_empty()).then(|| means.map(|sum| sum / scores.len() as f64))
}

/// A percentile of sorted values, by the nearest rank.
pub(crate) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(given: Option<Scores>, wanted: Scores) {
        let given = given.unwrap();
        for ((name, given), wanted) in METRICS.iter().zip(given).zip(wanted) {
            assert!((given - wanted).abs() < 1e-9, "{name}: {given} is not {wanted}");
        }
    }

    #[test]
    fn one_of_one_in_third_place() {
        // 1 / log2(4) is a half.
        close(scores(&[7, 8, 9], &[9]), [0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0 / 3.0, 0.5]);
    }

    #[test]
    fn two_of_four_at_ranks_one_and_six_and_one_beyond_twenty() {
        let mut ranked: Vec<i64> = (100..130).collect();
        (ranked[0], ranked[5], ranked[20]) = (1, 2, 3);
        let ideal = 1.0 + 1.0 / 3_f64.log2() + 0.5 + 1.0 / 5_f64.log2();
        let gained = 1.0 + 1.0 / 7_f64.log2();
        let wanted = [0.25, 0.25, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, gained / ideal];
        close(scores(&ranked, &[1, 2, 3, 4]), wanted);
    }

    #[test]
    fn missing_results_score_zero_and_perfect_ones_score_one() {
        close(scores(&[], &[1]), [0.0; COUNT]);
        close(scores(&[2, 3], &[1]), [0.0; COUNT]);
        close(scores(&[1], &[1]), [1.0; COUNT]);
        let all: Vec<i64> = (0..12).collect();
        let perfect = scores(&all, &all).unwrap();
        assert!(
            (perfect[8] - 1.0).abs() < 1e-9,
            "more than ten cannot stand among ten: {perfect:?}"
        );
        assert!((perfect[2] - 10.0 / 12.0).abs() < 1e-9, "{perfect:?}");
    }

    #[test]
    fn a_question_without_evidence_has_no_metrics_and_is_excluded_from_means() {
        assert_eq!(scores(&[1, 2], &[]), None);
        assert_eq!(means(&[]), None);
        close(means(&[[0.0; COUNT], [1.0; COUNT]]), [0.5; COUNT]);
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let sorted: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile(&sorted, 0.5), 10.0);
        assert_eq!(percentile(&sorted, 0.95), 19.0);
        assert_eq!(percentile(&[3.0], 0.95), 3.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }
}
