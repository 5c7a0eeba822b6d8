//! Clustering of 5,000 experiences, beside all cosines between them.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::figures::Row;
use crate::home::Home;
use crate::process;

const EXPERIENCES: &str = "5000";
/// How much longer clustering may take than the cosines.
const RATIO_TO_COSINES_MAX: f64 = 3.0;

pub(crate) fn row(bench: &Path) -> Result<Row> {
    let home = Home::new(bench)?;
    let mut command = home.program(bench, &["clusters", EXPERIENCES]);
    let finished = process::run_ok(&mut command, Duration::from_secs(300))?;
    read(&serde_json::from_str(&finished.stdout).context("the figures are not JSON")?)
}

/// The row of the figures that `rekindle-bench clusters` prints.
fn read(figures: &Value) -> Result<Row> {
    let figure = |side: &str| {
        let found = figures["clusters"][side].as_f64();
        found.with_context(|| format!("no figure '{side}' in {figures}"))
    };
    let (ours, plain) = (figure("ours")?, figure("plain")?);
    let ratio = ours / plain;
    let target = format!("≤ {RATIO_TO_COSINES_MAX} × all cosines");
    let measure = "clusters of 5,000 experiences, beside all cosines: median";
    let row = Row::figure(measure, format!("{ours:.0} ms"), &target, ratio <= RATIO_TO_COSINES_MAX);
    Ok(row.against(format!("{plain:.0} ms"), ratio))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bench::figures::failures;

    #[test]
    fn clustering_that_takes_more_than_three_times_as_long_fails() {
        let row = |ours: f64| {
            read(&json!({ "clusters": { "ours": ours, "plain": 100.0 } })).expect("both are there")
        };
        assert!(failures(&[row(299.0)]).is_empty());
        assert_eq!(failures(&[row(301.0)]).len(), 1);
        assert!(read(&json!({})).is_err());
    }
}
