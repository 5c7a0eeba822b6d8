//! Learning at 100,000 observations, 5,000 experiences and 5,000 memories: calls beside a search and beside a hint, hooks
//! beside those with `learning.hooks = false`.

use anyhow::{Context, Result};
use serde_json::Value;

use super::figures::{Amount, Programs, Row};
use super::observations::{Made, SIZE_INGEST, figures, shown};
use crate::project::Project;

/// A measure: its name among the figures, its title, the unit, the ratio to the other side that it may have, and whether
/// that is the least or the most.
struct LearningMeasure {
    name: &'static str,
    measure: &'static str,
    beside: &'static str,
    unit: &'static str,
    limit: RatioLimit,
}

#[derive(Clone, Copy)]
enum RatioLimit {
    Most(f64),
    Least(f64),
}

const fn call(name: &'static str, measure: &'static str, beside: &'static str) -> LearningMeasure {
    LearningMeasure { name, measure, beside, unit: " ms", limit: RatioLimit::Most(1.5) }
}

const MEASURES: [LearningMeasure; 6] = [
    call("assemble_context", "assemble_context, median", "search"),
    call("start_ghap", "start_ghap, median", "set_hint"),
    call("check_in", "check_in, median", "set_hint"),
    call("store_memory", "store_memory, median", "set_hint"),
    LearningMeasure {
        name: "session_start",
        measure: "SessionStart with learning, median",
        beside: "without",
        unit: " ms",
        limit: RatioLimit::Most(1.2),
    },
    LearningMeasure {
        name: "events",
        measure: "events ingested with learning",
        beside: "without",
        unit: "/s",
        limit: RatioLimit::Least(0.9),
    },
];

pub(crate) fn rows(project: &Project, programs: &Programs, amount: &Amount) -> Result<Vec<Row>> {
    let made = Made::get(project, programs, SIZE_INGEST)?;
    let home = made.home(&programs.rekindle)?;
    let measured = figures(&home, programs, &["learning", &(amount.calls / 8).to_string()])?;
    MEASURES.iter().map(|measure| row(measure, &measured)).collect()
}

fn row(of: &LearningMeasure, figures: &Value) -> Result<Row> {
    let figure = |side: &str| {
        let found = figures[of.name][side].as_f64();
        found.with_context(|| format!("no figure '{side}' of '{}' in {figures}", of.name))
    };
    let (ours, beside) = (figure("ours")?, figure("beside")?);
    let ratio = ours / beside;
    let (target, good) = match of.limit {
        RatioLimit::Most(most) => (format!("≤ {most} × {}", of.beside), ratio <= most),
        RatioLimit::Least(least) => (format!("≥ {least} × {}", of.beside), ratio >= least),
    };
    let text = |figure: f64| match of.unit {
        "/s" => format!("{figure:.0}{}", of.unit),
        unit => format!("{figure:.3}{unit}"),
    };
    let measure = format!("{}: {}", shown(SIZE_INGEST), of.measure);
    let row = Row::figure(&measure, text(ours), &target, good);
    Ok(row.against(format!("{} {}", text(beside), of.beside), ratio))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bench::figures::failures;

    #[test]
    fn a_call_over_its_ratio_and_events_below_theirs_fail() {
        let figures = json!({
            "assemble_context": { "ours": 1.6, "beside": 1.0 }, "start_ghap": { "ours": 1.4, "beside": 1.0 },
            "check_in": { "ours": 1.0, "beside": 1.0 }, "store_memory": { "ours": 1.0, "beside": 1.0 },
            "session_start": { "ours": 1.19, "beside": 1.0 }, "events": { "ours": 89.0, "beside": 100.0 },
        });
        let rows: Vec<Row> =
            MEASURES.iter().map(|one| row(one, &figures).expect("its figures are there")).collect();
        assert_eq!(
            failures(&rows),
            [
                "100k: assemble_context, median is 1.600 ms (target ≤ 1.5 × search)",
                "100k: events ingested with learning is 89/s (target ≥ 0.9 × without)",
            ]
        );
        assert!(row(&MEASURES[0], &json!({})).is_err());
    }
}
