//! Confidence intervals of the difference between two configurations: a paired bootstrap over the questions, with the
//! middle 95 % as the interval. Deterministic.

use model::limits;

use crate::metrics::{COUNT, Scores, percentile};

const SEED: u64 = 0x7265_6b69_6e64_6c65;
const LOW: f64 = 0.025;
const HIGH: f64 = 0.975;

/// The mean of a difference and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// The difference of each metric between two configurations, question by question.
pub(crate) fn intervals(ours: &[Scores], theirs: &[Scores]) -> [Interval; COUNT] {
    let differences: Vec<Scores> = ours
        .iter()
        .zip(theirs)
        .map(|(a, b)| std::array::from_fn(|at| value(a, at) - value(b, at)))
        .collect();
    let Some(mean) = crate::metrics::means(&differences) else {
        return [Interval::default(); COUNT];
    };
    let mut drawn: [Vec<f64>; COUNT] =
        std::array::from_fn(|_| Vec::with_capacity(limits::EVAL_RESAMPLES));
    let mut random = SplitMix64(SEED);
    for _ in 0..limits::EVAL_RESAMPLES {
        let mut sums = [0.0; COUNT];
        for _ in 0..differences.len() {
            let Some(one) = differences.get(random.below(differences.len())) else { continue };
            for (sum, value) in sums.iter_mut().zip(one) {
                *sum += value;
            }
        }
        for (drawn, sum) in drawn.iter_mut().zip(sums) {
            drawn.push(sum / differences.len() as f64);
        }
    }
    std::array::from_fn(|at| {
        let Some(drawn) = drawn.get_mut(at) else { return Interval::default() };
        drawn.sort_by(f64::total_cmp);
        Interval {
            mean: value(&mean, at),
            low: percentile(drawn, LOW),
            high: percentile(drawn, HIGH),
        }
    })
}

fn value(scores: &Scores, at: usize) -> f64 {
    scores.get(at).copied().unwrap_or_default()
}

/// SplitMix64: small and portable.
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The upper half of the product is uniform over all numbers below the bound.
        ((u128::from(mixed) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_have_no_difference() {
        let scores = [[0.3; COUNT], [0.9; COUNT]];
        assert_eq!(intervals(&scores, &scores), [Interval::default(); COUNT]);
        assert_eq!(intervals(&[], &[]), [Interval::default(); COUNT]);
    }

    #[test]
    fn a_difference_in_every_question_has_an_empty_interval() {
        let theirs = [[0.25; COUNT], [0.5; COUNT], [0.0; COUNT]];
        let ours = theirs.map(|scores| scores.map(|value| value + 0.25));
        let found = intervals(&ours, &theirs);
        assert_eq!(found, [Interval { mean: 0.25, low: 0.25, high: 0.25 }; COUNT]);
    }

    #[test]
    fn an_interval_reflects_the_spread_of_questions_and_is_deterministic() {
        // Half of 400 questions are won: the mean is 0.5 with a standard error of 0.025.
        let ours: Vec<Scores> = (0..400).map(|n| [f64::from(n % 2); COUNT]).collect();
        let theirs = vec![[0.0; COUNT]; 400];
        let found = intervals(&ours, &theirs);
        let Interval { mean, low, high } = found[0];
        assert!((mean - 0.5).abs() < 1e-12);
        assert!((low - 0.451).abs() < 0.008 && (high - 0.549).abs() < 0.008, "{low} to {high}");
        assert_eq!(found, intervals(&ours, &theirs));
    }
}
