//! The first page of the list of sessions, among 10,000 sessions beside 100.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::figures::{Amount, Row};
use crate::home::Home;
use crate::process;

/// How much longer the first page may take among many sessions than among few.
const RATIO_TO_FEW_MAX: f64 = 3.0;

const MEASURES: [(&str, &str); 2] = [
    ("list_sessions", "list_sessions, 20 of 10,000 beside 20 of 100: median"),
    ("overview", "GET /api/sessions, 100 of 10,000 beside 100 of 100: median"),
];

pub(crate) fn pages(bench: &Path, amount: &Amount) -> Result<Vec<Row>> {
    let home = Home::new(bench)?;
    let calls = (amount.calls / 4).to_string();
    let mut command = home.program(bench, &["sessions", &calls]);
    let finished = process::run_ok(&mut command, Duration::from_secs(300))?;
    rows(&serde_json::from_str(&finished.stdout).context("the figures are not JSON")?)
}

/// The rows that `rekindle-bench sessions` prints: for each measure microseconds among many sessions and among few.
fn rows(figures: &Value) -> Result<Vec<Row>> {
    let row = |(name, measure): (&str, &str)| {
        let figure = |side: &str| {
            let found = figures[name][side].as_f64();
            found.with_context(|| format!("no figure '{side}' of '{name}' in {figures}"))
        };
        let (many, few) = (figure("ours")?, figure("few")?);
        let ratio = many / few;
        let target = format!("≤ {RATIO_TO_FEW_MAX} × 100 sessions");
        let row = Row::figure(measure, format!("{many:.0} µs"), &target, ratio <= RATIO_TO_FEW_MAX);
        Ok(row.against(format!("{few:.0} µs"), ratio))
    };
    MEASURES.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bench::figures::failures;

    #[test]
    fn a_page_that_grows_with_the_number_of_sessions_fails() {
        let figures = json!({
            "list_sessions": { "ours": 290.0, "few": 100.0 },
            "overview": { "ours": 310.0, "few": 100.0 },
        });
        assert_eq!(
            failures(&rows(&figures).unwrap_or_default()),
            [
                "GET /api/sessions, 100 of 10,000 beside 100 of 100: median is 310 µs (target ≤ 3 × 100 sessions)"
            ]
        );
        assert!(rows(&json!({})).is_err());
    }
}
