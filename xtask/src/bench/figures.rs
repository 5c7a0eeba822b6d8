//! Rows of measured figures, and how much is measured.

use std::path::PathBuf;

use anyhow::Result;

use crate::project::Project;
use crate::report::table;

/// Whether a figure reached its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    /// Not measured: why, and how to make it measurable.
    Skipped(String),
}

/// One measured figure.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) measure: String,
    pub(crate) ours: String,
    pub(crate) baseline: String,
    pub(crate) ratio: String,
    pub(crate) target: String,
    pub(crate) verdict: Verdict,
}

impl Row {
    /// A figure without a baseline.
    pub(super) fn figure(measure: &str, ours: String, target: &str, good: bool) -> Row {
        Row {
            measure: measure.to_owned(),
            ours,
            baseline: "-".to_owned(),
            ratio: "-".to_owned(),
            target: target.to_owned(),
            verdict: if good { Verdict::Pass } else { Verdict::Fail },
        }
    }

    /// A figure beside its baseline.
    pub(super) fn against(mut self, baseline: String, ratio: f64) -> Row {
        self.baseline = baseline;
        self.ratio = format!("{ratio:.2}");
        self
    }

    pub(super) fn skipped(measure: &str, target: &str, why: &str) -> Row {
        let verdict = Verdict::Skipped(why.to_owned());
        Row { verdict, ..Row::figure(measure, "-".to_owned(), target, true) }
    }
}

/// How much is measured; `--quick` takes a fifth of everything.
pub(crate) struct Amount {
    pub(crate) spawns: usize,
    pub(crate) starts: usize,
    pub(crate) idle_seconds: u64,
    pub(crate) requests: usize,
    pub(crate) calls: usize,
}

pub(super) const FULL: Amount =
    Amount { spawns: 300, starts: 10, idle_seconds: 5, requests: 5_000, calls: 2_000 };
pub(super) const QUICK: Amount =
    Amount { spawns: 60, starts: 3, idle_seconds: 2, requests: 1_000, calls: 400 };

/// The release binary, and the program with the measurements that need our crates in one process.
pub(crate) struct Programs {
    pub(crate) rekindle: PathBuf,
    pub(crate) bench: PathBuf,
}

impl Programs {
    pub(super) fn build(project: &Project) -> Result<Programs> {
        Ok(Programs { rekindle: project.build_binary(true)?, bench: project.build_bench()? })
    }
}

/// The rows that missed their target, in words.
pub(crate) fn failures(rows: &[Row]) -> Vec<String> {
    rows.iter()
        .filter(|row| row.verdict == Verdict::Fail)
        .map(|row| format!("{} is {} (target {})", row.measure, row.ours, row.target))
        .collect()
}

pub(super) fn shown(rows: &[Row]) -> String {
    let head = ["measure", "ours", "baseline", "ratio", "target", "verdict"];
    let cells = rows.iter().map(|row| {
        let verdict = match &row.verdict {
            Verdict::Pass => "ok".to_owned(),
            Verdict::Fail => "FAILED".to_owned(),
            Verdict::Skipped(why) => format!("SKIPPED: {why}"),
        };
        let texts = [&row.measure, &row.ours, &row.baseline, &row.ratio, &row.target];
        texts.into_iter().cloned().chain([verdict]).collect()
    });
    table(&head, cells)
}

/// The median of the figures; NaN for an empty list.
pub(super) fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The figure that 19 of 20 do not exceed.
pub(super) fn p95(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() * 95 / 100).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_over_its_target_is_a_failure_and_a_skipped_one_is_not() {
        let rows = [
            Row::figure("size", "30 MB".into(), "< 20 MB", false),
            Row::figure("ready", "9 ms".into(), "< 100 ms", true).against("3 ms".into(), 3.0),
            Row::skipped("instructions", "≤ 0.6 M", "no valgrind"),
        ];
        assert_eq!(failures(&rows), ["size is 30 MB (target < 20 MB)"]);
        let text = shown(&rows);
        assert!(
            text.contains("| size         | 30 MB | -        | -     | < 20 MB  | FAILED"),
            "{text}"
        );
        assert!(text.contains("SKIPPED: no valgrind"), "{text}");
    }

    #[test]
    fn the_median_is_the_middle_figure() {
        assert_eq!(median(&mut [5.0, 1.0, 3.0]), 3.0);
        assert!(median(&mut []).is_nan());
    }

    #[test]
    fn one_of_twenty_figures_is_above_the_95th() {
        let mut figures: Vec<f64> = (1..=40).rev().map(f64::from).collect();
        assert_eq!(p95(&mut figures), 39.0);
        assert!(p95(&mut []).is_nan());
    }
}
