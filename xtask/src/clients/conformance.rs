//! The MCP project's own conformance suite, against a list of the failures we expect and why.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::install::Node;
use crate::daemon::Daemon;
use crate::home::Home;
use crate::process;
use crate::project::Project;
use crate::report::{StepLog, StepOutcome};

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
const EXPECTED: &str = "xtask/conformance-expected.txt";

pub(crate) fn run(project: &Project, node: &Node, home: &Home, log: &mut StepLog) -> Result<()> {
    let expected = fs::read_to_string(project.root.join(EXPECTED))
        .with_context(|| format!("cannot read {EXPECTED}"))?;
    let daemon = Daemon::start(home, &["--no-auth"])?;
    for revision in REVISIONS {
        log.step(&format!("conformance {revision}"), || {
            let out = home.file(revision);
            let mut command = node.bin("conformance", home);
            command.args([
                "server",
                "--url",
                &daemon.url("/mcp"),
                "--requirements",
                revision,
                "-o",
            ]);
            // It exits with 1 when any check fails; which ones, the results tell.
            let finished = process::run(command.arg(&out), Duration::from_secs(180))?;
            let results = read_results(&out)?;
            if results.is_empty() {
                bail!("the suite wrote no results\n{}", finished.said());
            }
            judge(revision, &results, &expected)
        });
    }
    Ok(())
}

/// One check of one scenario.
#[derive(Debug)]
struct ScenarioCheck {
    /// `scenario/check`.
    name: String,
    failed: bool,
    passed: bool,
    message: String,
}

/// Reads `server-SCENARIO-TIME/checks.json` of every scenario.
fn read_results(out: &Path) -> Result<Vec<ScenarioCheck>> {
    let mut checks = Vec::new();
    for entry in fs::read_dir(out).context("the suite made no output folder")? {
        let entry = entry?;
        let folder = entry.file_name().to_string_lossy().into_owned();
        let text = fs::read_to_string(entry.path().join("checks.json"))?;
        let rows: Value = serde_json::from_str(&text)?;
        let scenario = scenario_of(&folder);
        checks.extend(rows.as_array().into_iter().flatten().map(|row| check_of(scenario, row)));
    }
    Ok(checks)
}

/// The scenario's name without the prefix and the time.
fn scenario_of(folder: &str) -> &str {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    // The time is like 2026-11-15T05-39-26-052Z, of fixed length, after a dash.
    let cut = name.len().saturating_sub("-2026-11-15T05-39-26-052Z".len());
    if name.ends_with('Z') && name.is_char_boundary(cut) { &name[..cut] } else { name }
}

fn check_of(scenario: &str, row: &Value) -> ScenarioCheck {
    let status = row["status"].as_str().unwrap_or_default();
    ScenarioCheck {
        name: format!("{scenario}/{}", row["id"].as_str().unwrap_or_default()),
        failed: status == "FAILURE",
        passed: status == "SUCCESS",
        message: row["errorMessage"].as_str().unwrap_or_default().to_owned(),
    }
}

/// New failures fail the step; fixed ones are reported, so that their lines get removed.
fn judge(revision: &str, checks: &[ScenarioCheck], expected: &str) -> Result<StepOutcome> {
    let expected = expected_of(revision, expected);
    let failed: BTreeSet<&str> =
        checks.iter().filter(|check| check.failed).map(|check| check.name.as_str()).collect();
    let passed = checks.iter().filter(|check| check.passed).count();
    let new: Vec<String> = checks
        .iter()
        .filter(|check| check.failed && !expected.contains(check.name.as_str()))
        .map(|check| format!("{revision} {}  # {}", check.name, check.message))
        .collect();
    if !new.is_empty() {
        bail!("{} unexpected failures, {passed} passed\n{}", new.len(), new.join("\n"));
    }
    let vanished: Vec<&str> = expected.difference(&failed).copied().collect();
    let mut note = format!("{passed} checks passed, {} expected failures", failed.len());
    if !vanished.is_empty() {
        note += &format!("; no longer failing, remove from {EXPECTED}: {}", vanished.join(", "));
    }
    Ok(StepOutcome::Ok(note))
}

/// The lines of the list for a revision: `REVISION SCENARIO/CHECK  # why`.
fn expected_of<'a>(revision: &str, text: &'a str) -> BTreeSet<&'a str> {
    text.lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .filter_map(|line| line.trim().strip_prefix(revision).map(str::trim))
        .filter(|name| !name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checks() -> Vec<ScenarioCheck> {
        let row = |id: &str, status: &str| check_of("ping", &json!({ "id": id, "status": status }));
        vec![row("good", "SUCCESS"), row("bad", "FAILURE"), row("note", "INFO")]
    }

    #[test]
    fn an_expected_failure_is_fine_and_a_new_one_is_not() {
        let outcome = judge("2025-11-25", &checks(), "# list\n2025-11-25 ping/bad  # why\n");
        assert_eq!(
            outcome.ok(),
            Some(StepOutcome::Ok("1 checks passed, 1 expected failures".into()))
        );
        let error =
            judge("2026-07-28", &checks(), "2025-11-25 ping/bad\n").expect_err("new failure");
        assert!(error.to_string().contains("2026-07-28 ping/bad"), "{error}");
    }

    #[test]
    fn a_fixed_failure_is_reported() {
        let outcome = judge("r", &checks(), "r ping/bad\nr ping/gone\n").expect("no new failure");
        assert!(matches!(outcome, StepOutcome::Ok(note) if note.ends_with("ping/gone")));
    }

    #[test]
    fn the_scenario_is_read_from_the_folders_name() {
        assert_eq!(
            scenario_of("server-tools-call-image-2026-11-15T05-39-26-052Z"),
            "tools-call-image"
        );
        assert_eq!(scenario_of("server-sse"), "sse");
    }
}
