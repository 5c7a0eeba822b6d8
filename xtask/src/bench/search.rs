//! Search: by words alone and with meaning, in all projects and in one, beside the bare full-text index and
//! a bare scan of the same vectors; and the memory that a daemon has when it has searched.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::figures::{Amount, Programs, Row};
use super::observations::{Made, SIZE_INGEST, SIZE_LARGE, figures, shown};
use super::resident;
use crate::daemon::Daemon;
use crate::process;
use crate::project::Project;

const MEMORY_MAX_MB: f64 = 60.0;
const SHAPE_MAX_MS: f64 = 100.0;
const SEARCH_DEADLINE: Duration = Duration::from_secs(60);

/// A kind of search, its baseline, and its limits in milliseconds for the median and the 95th percentile, at 100,000
/// observations and at a million.
struct SearchKind {
    name: &'static str,
    measure: &'static str,
    beside: &'static str,
    max: [(Option<f64>, Option<f64>); 2],
}

const KINDS: [SearchKind; 4] = [
    SearchKind {
        name: "few",
        measure: "1 to 3 words, by words",
        beside: "index",
        max: [(Some(3.0), None), (None, None)],
    },
    SearchKind {
        name: "lexical",
        measure: "questions, by words",
        beside: "index",
        max: [(Some(3.0), Some(8.0)), (Some(8.0), None)],
    },
    SearchKind {
        name: "table",
        measure: "questions, with meaning",
        beside: "scan",
        max: [(Some(6.0), None), (Some(40.0), None)],
    },
    SearchKind {
        name: "project",
        measure: "questions, with meaning, in a tenth of it",
        beside: "scan",
        max: [(None, None), (Some(8.0), None)],
    },
];

pub(crate) fn rows(
    project: &Project,
    programs: &Programs,
    amount: &Amount,
    large: bool,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for size in [Some(SIZE_INGEST), large.then_some(SIZE_LARGE)].into_iter().flatten() {
        let made = Made::get(project, programs, size)?;
        let home = made.home(&programs.rekindle)?;
        let measured = figures(&home, programs, &["search", &(amount.calls / 8).to_string()])?;
        for kind in &KINDS {
            rows.push(row(kind, size, &measured)?);
        }
        rows.push(slowest(size, &measured)?);
        rows.push(memory(&made, programs)?);
    }
    Ok(rows)
}

fn number(figures: &Value, path: &str) -> Result<f64> {
    let found = figures.pointer(path).and_then(Value::as_f64);
    found.with_context(|| format!("no figure at {path} in {figures}"))
}

fn row(kind: &SearchKind, size: usize, figures: &Value) -> Result<Row> {
    let figure = |name: &str, which: &str| number(figures, &format!("/{name}/{which}"));
    let (middle, p95) = (figure(kind.name, "p50")?, figure(kind.name, "p95")?);
    let bare = figure(kind.beside, "p50")?;
    let (max, max_p95) = kind.max[usize::from(size >= SIZE_LARGE)];
    let good = max.is_none_or(|max| middle < max) && max_p95.is_none_or(|max| p95 < max);
    let target = match (max, max_p95) {
        (Some(max), Some(p95)) => format!("< {max} ms (p95 < {p95})"),
        (Some(max), None) => format!("< {max} ms"),
        _ => "-".to_owned(),
    };
    let measure = format!("{}: {}, median", shown(size), kind.measure);
    let row = Row::figure(&measure, format!("{middle:.2} ms (p95 {p95:.1})"), &target, good);
    Ok(row.against(format!("{bare:.2} ms bare {}", kind.beside), middle / bare))
}

fn slowest(size: usize, figures: &Value) -> Result<Row> {
    let slowest = number(figures, "/slowest_shape")?;
    let measure = format!("{}: slowest shape of a query", shown(size));
    Ok(Row::figure(&measure, format!("{slowest:.0} ms"), "< 100 ms", slowest < SHAPE_MAX_MS))
}

/// The memory of a daemon after its first searches.
fn memory(made: &Made, programs: &Programs) -> Result<Row> {
    let home = made.home(&programs.rekindle)?;
    let daemon = Daemon::start(&home, &[])?;
    for query in ["session token", "where is the schema of the queue", "cache"] {
        let mut search = home.rekindle(&["search", query, "--project", "*", "--json"]);
        process::run_ok(&mut search, SEARCH_DEADLINE)?;
    }
    let megabytes = resident::megabytes(daemon.pid())?;
    let judged = made.size < SIZE_LARGE;
    let measure = format!("{}: resident memory after searching", shown(made.size));
    let target = if judged { "< 60 MB" } else { "-" };
    let good = !judged || megabytes < MEMORY_MAX_MB;
    Ok(Row::figure(&measure, format!("{megabytes:.0} MB"), target, good))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bench::figures::failures;

    #[test]
    fn a_search_is_judged_by_its_middle_and_by_its_slow_ones() {
        let figures = |p50: f64, p95: f64| json!({ "lexical": { "p50": p50, "p95": p95 }, "index": { "p50": 9.0 } });
        let told = |size, p50, p95| {
            let row = row(&KINDS[1], size, &figures(p50, p95)).expect("its figures are there");
            failures(&[row])
        };
        assert!(told(SIZE_INGEST, 2.9, 7.9).is_empty());
        assert_eq!(told(SIZE_INGEST, 3.1, 7.9).len(), 1);
        assert_eq!(told(SIZE_INGEST, 2.9, 8.1).len(), 1);
        assert!(told(SIZE_LARGE, 7.9, 20.0).is_empty());
        assert!(row(&KINDS[2], SIZE_LARGE, &figures(1.0, 1.0)).is_err());
    }
}
