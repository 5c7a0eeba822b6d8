//! Hints in dispatch, with 5,000 of them stored, beside a plain map behind the same dispatch.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::figures::{Amount, Row};
use crate::home::Home;
use crate::process;

const GET_MAX_US: f64 = 10.0;
const QUERY_MAX_US: f64 = 200.0;
const SET_MAX_US: f64 = 200.0;
/// How much longer a look-up may take among five thousand hints than among ten.
const RATIO_TO_FEW_MAX: f64 = 1.5;

const MEASURES: [(&str, &str, f64); 5] = [
    ("get", "get_hint in dispatch, 5,000 hints: median", GET_MAX_US),
    ("query_tag_of_all", "query_hints by a tag of 5,000: median", QUERY_MAX_US),
    ("query_tag_of_some", "query_hints by a tag of 714: median", QUERY_MAX_US),
    ("query_component", "query_hints by a component of 100: median", QUERY_MAX_US),
    ("set", "set_hint, journaled: median", SET_MAX_US),
];

pub(crate) fn hints(bench: &Path, amount: &Amount) -> Result<Vec<Row>> {
    let home = Home::new(bench)?;
    let calls = amount.calls.to_string();
    let mut command = home.program(bench, &["dispatch", &calls]);
    let finished = process::run_ok(&mut command, Duration::from_secs(120))?;
    rows(&serde_json::from_str(&finished.stdout).context("the figures are not JSON")?)
}

/// The rows that `rekindle-bench dispatch` prints: for each measure microseconds, ours and the map's.
fn rows(figures: &Value) -> Result<Vec<Row>> {
    let figure = |measure: &str, side: &str| {
        let found = figures[measure][side].as_f64();
        found.with_context(|| format!("no figure '{side}' of '{measure}' in {figures}"))
    };
    let text = |micros: f64| format!("{micros:.1} µs");
    let mut rows = Vec::new();
    for (name, measure, max) in MEASURES {
        let (ours, map) = (figure(name, "ours")?, figure(name, "map")?);
        let row = Row::figure(measure, text(ours), &format!("< {max:.0} µs"), ours < max);
        rows.push(row.against(text(map), ours / map));
    }
    let (many, few) = (figure("get", "ours")?, figure("get", "few")?);
    let ratio = many / few;
    let target = format!("≤ {RATIO_TO_FEW_MAX} × 10 hints");
    let measure = "get_hint in dispatch, 5,000 hints beside 10";
    let row = Row::figure(measure, text(many), &target, ratio <= RATIO_TO_FEW_MAX);
    rows.insert(1, row.against(text(few), ratio));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bench::figures::failures;

    #[test]
    fn a_figure_over_its_target_and_a_look_up_that_grows_with_the_store_fail() {
        let both = |ours: f64| json!({ "ours": ours, "map": 4.0, "few": 5.0 });
        let mut figures = json!({
            "get": both(7.0), "query_tag_of_all": both(90.0), "query_tag_of_some": both(80.0),
            "query_component": both(70.0), "set": both(110.0),
        });
        assert_eq!(failures(&rows(&figures).unwrap_or_default()), Vec::<String>::new());
        figures["get"] = both(9.0);
        figures["set"] = both(210.0);
        assert_eq!(
            failures(&rows(&figures).unwrap_or_default()),
            [
                "get_hint in dispatch, 5,000 hints beside 10 is 9.0 µs (target ≤ 1.5 × 10 hints)",
                "set_hint, journaled: median is 210.0 µs (target < 200 µs)",
            ]
        );
        figures["set"] = json!({});
        assert!(rows(&figures).is_err());
    }
}
