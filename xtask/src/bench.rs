//! Measures the release binary, each figure beside its baseline of the same run.
//!
//! Ratios and instruction counts hold on a busy machine; bare times are only shown.

mod connected;
mod dispatch;
mod hook;
mod http_rate;
mod observations;
mod resident;
mod search;
mod stdio;

use anyhow::{Result, bail};

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
    /// A figure that stands for itself.
    fn figure(measure: &str, ours: String, target: &str, good: bool) -> Row {
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
    fn against(mut self, baseline: String, ratio: f64) -> Row {
        self.baseline = baseline;
        self.ratio = format!("{ratio:.2}");
        self
    }

    fn skipped(measure: &str, target: &str, why: &str) -> Row {
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

const FULL: Amount =
    Amount { spawns: 300, starts: 10, idle_seconds: 5, requests: 5_000, calls: 2_000 };
const QUICK: Amount =
    Amount { spawns: 60, starts: 3, idle_seconds: 2, requests: 1_000, calls: 400 };

/// What is asked for on the command line.
pub(crate) struct Wanted {
    pub(crate) gate_only: bool,
    pub(crate) quick: bool,
    /// Also over a million observations, which take minutes to make up.
    pub(crate) large: bool,
}

pub(crate) fn run(project: &Project, wanted: &Wanted) -> Result<()> {
    let amount = if wanted.quick { &QUICK } else { &FULL };
    let rows = if wanted.gate_only { gate(project)? } else { all(project, amount, wanted.large)? };
    print!("{}", shown(&rows));
    match failures(&rows).as_slice() {
        [] => Ok(()),
        failed => bail!("over target: {}", failed.join("; ")),
    }
}

/// The two figures that do not depend on how busy the machine is.
pub(crate) fn gate(project: &Project) -> Result<Vec<Row>> {
    let binary = project.build_binary(true)?;
    Ok(vec![hook::instructions(&binary)?, resident::size(&binary)?])
}

fn all(project: &Project, amount: &Amount, large: bool) -> Result<Vec<Row>> {
    let binary = project.build_binary(true)?;
    let mut rows = vec![hook::instructions(&binary)?];
    rows.push(hook::with_daemon(&binary, amount)?);
    rows.push(hook::without_daemon(&binary, amount)?);
    rows.push(resident::ready(&binary, amount)?);
    rows.extend(resident::idle(&binary, amount)?);
    rows.push(resident::size(&binary)?);
    rows.extend(dispatch::hints(&binary, amount)?);
    rows.push(http_rate::get_hint(&binary, amount)?);
    rows.extend(stdio::get_hint(&binary, amount)?);
    rows.extend(observations::rows(project, &binary, amount, large)?);
    rows.extend(search::rows(project, &binary, amount, large)?);
    rows.extend(connected::rows(project, &binary, amount)?);
    Ok(rows)
}

/// The rows that missed their target, in words.
pub(crate) fn failures(rows: &[Row]) -> Vec<String> {
    rows.iter()
        .filter(|row| row.verdict == Verdict::Fail)
        .map(|row| format!("{} is {} (target {})", row.measure, row.ours, row.target))
        .collect()
}

fn shown(rows: &[Row]) -> String {
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

/// The middle of the figures; none of nothing.
fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What all but one of twenty figures stay below.
fn p95(figures: &mut [f64]) -> f64 {
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
