//! The gate for how well search finds: the release binary measures itself with the project's own records
//! and questions, and must not fall below what it has reached.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::home::Home;
use crate::process;
use crate::project::Project;
use crate::report::StepOutcome;

/// The configuration that searches use, and the weaker ones that it is compared with: `lexical` lacks embeddings,
/// `plain` is the full-text index alone.
const RECIPE: &str = "table";
const WEAKER: [&str; 2] = ["plain", "lexical"];

/// Minimum quality of search: a little less than it reaches, and more than a weaker configuration can. One question
/// of a type is worth up to three points, so that only the mean over all questions shows small changes. An exact name
/// always ranks first.
const FLOORS: [(&str, f64); 7] = [
    ("all.documents.R@5", 0.78),
    ("all.documents.R@10", 0.863),
    ("all.documents.MRR", 0.749),
    ("all.sessions.R@1", 0.84),
    ("all.sessions.R@5", 0.98),
    ("paraphrase.documents.R@10", 0.37),
    ("identifier.documents.any@1", 1.0),
];
/// Floors of the recipe without meaning, so that meaning cannot hide that the rest is broken.
const LEXICAL_FLOORS: [(&str, f64); 3] =
    [("all.documents.R@5", 0.758), ("all.documents.R@10", 0.842), ("all.documents.nDCG@10", 0.727)];

/// The least share of questions about things that never happened that get only marked hits or none, and of such prompts
/// that get no block.
const SILENT: f64 = 0.95;

const DEADLINE: Duration = Duration::from_secs(300);

pub(super) fn gate(project: &Project) -> Result<StepOutcome> {
    let binary = project.build_binary(true)?;
    let home = Home::new(&binary)?;
    let numbers = measure(&home, &project.root.join("quality"))?;
    tell_apart(&numbers)?;
    let silence = silence(&home, &project.root.join("quality"))?;
    Ok(StepOutcome::Ok(format!("{}, {silence}", note(&numbers)?)))
}

/// Asks about things that never happened; an error if too much of it is answered.
fn silence(home: &Home, set: &Path) -> Result<String> {
    let mut command = home.rekindle(&["eval"]);
    command.arg(set.join("records.jsonl")).arg(set.join("silence.jsonl"));
    command.args(["--json", "--config", RECIPE]);
    let finished = process::run(&mut command, DEADLINE)?;
    if !finished.status.success() {
        bail!("silence was not measured\n{}", finished.stderr.trim_end());
    }
    let numbers: Value =
        serde_json::from_str(&finished.stdout).context("the numbers are not JSON")?;
    let shares = ["question", "prompt"].map(|kind| silent_share(&numbers, kind));
    let [questions, prompts] = shares;
    Ok(format!("silent questions {:.3}, prompts {:.3} ≥ {SILENT}", questions?, prompts?))
}

/// The share of one type that was answered with silence; an error if it is too small.
fn silent_share(numbers: &Value, kind: &str) -> Result<f64> {
    let share = &numbers["configs"][RECIPE]["types"][kind]["silent"];
    let share = share.as_f64().with_context(|| format!("no {kind} was asked about nothing"))?;
    if share < SILENT {
        bail!("{kind}s about things that never happened: {share:.3} are silent, not {SILENT}");
    }
    Ok(share)
}

/// The numbers of all configurations; an error lists those that are too low.
fn measure(home: &Home, set: &Path) -> Result<Value> {
    let mut command = home.rekindle(&["eval"]);
    command.arg(set.join("records.jsonl")).arg(set.join("questions.jsonl"));
    command.args(["--json", "--config", &[WEAKER.as_slice(), &[RECIPE]].concat().join(",")]);
    for (recipe, floors) in [(RECIPE, &FLOORS[..]), ("lexical", &LEXICAL_FLOORS)] {
        for (number, least) in floors {
            command.arg("--at-least").arg(format!("{recipe}:{number}={least}"));
        }
    }
    let finished = process::run(&mut command, DEADLINE)?;
    if !finished.status.success() {
        bail!("search finds less than it did\n{}", finished.stderr.trim_end());
    }
    serde_json::from_str(&finished.stdout).context("the numbers are not JSON")
}

/// Fails if a weaker recipe reaches every floor: they would not notice if the recipe became that one.
fn tell_apart(numbers: &Value) -> Result<()> {
    for recipe in WEAKER {
        let mut short = false;
        for (name, least) in FLOORS {
            short |= number(numbers, recipe, name)? < least;
        }
        if !short {
            bail!(
                "'{recipe}' reaches every floor of '{RECIPE}'; raise them to what it has reached"
            );
        }
    }
    Ok(())
}

fn note(numbers: &Value) -> Result<String> {
    let mut note = String::new();
    for (name, least) in FLOORS {
        let comma = if note.is_empty() { "" } else { ", " };
        write!(note, "{comma}{name} {:.3} ≥ {least}", number(numbers, RECIPE, name)?)?;
    }
    Ok(note)
}

/// A number of a recipe by its name, for example `all.documents.R@5`.
fn number(numbers: &Value, recipe: &str, name: &str) -> Result<f64> {
    let of_recipe = &numbers["configs"][recipe];
    let mut parts = name.splitn(3, '.');
    let mut part = || parts.next().unwrap_or_default();
    let group = match part() {
        "all" => &of_recipe["all"],
        kind => &of_recipe["types"][kind],
    };
    let found = group[part()][part()].as_f64();
    found.with_context(|| format!("'{recipe}' has no number '{name}'"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Numbers in which each configuration has equal values everywhere.
    fn numbers(plain: f64, lexical: f64, table: f64) -> Value {
        let of = |value: f64| {
            let unit =
                json!({ "R@1": value, "R@5": value, "R@10": value, "any@1": value, "MRR": value });
            let group = json!({ "documents": unit, "sessions": unit });
            json!({ "all": group, "types": { "paraphrase": group, "identifier": group } })
        };
        json!({ "configs": { "plain": of(plain), "lexical": of(lexical), "table": of(table) } })
    }

    #[test]
    fn floors_that_a_weaker_recipe_reaches_are_no_floors() {
        assert!(tell_apart(&numbers(0.7, 0.9, 1.0)).is_ok());
        for (plain, lexical, weaker) in [(0.7, 1.0, "lexical"), (1.0, 0.7, "plain")] {
            let error =
                tell_apart(&numbers(plain, lexical, 1.0)).expect_err("one reaches them all");
            assert!(error.to_string().starts_with(&format!("'{weaker}' reaches")), "{error}");
        }
    }

    #[test]
    fn the_note_has_every_number_beside_its_floor() {
        let note = note(&numbers(0.5, 0.6, 0.9876)).expect("all are there");
        assert!(note.starts_with("all.documents.R@5 0.988 ≥ 0.78, all.documents.R@10"), "{note}");
        assert!(note.ends_with("identifier.documents.any@1 0.988 ≥ 1"), "{note}");
    }

    #[test]
    fn too_few_silent_answers_are_an_error() {
        let of = |share: f64| {
            let types = json!({ "question": { "silent": share } });
            silent_share(&json!({ "configs": { "table": { "types": types } } }), "question")
        };
        assert_eq!(of(0.96).ok(), Some(0.96));
        assert!(of(0.94).is_err());
        assert!(silent_share(&json!({}), "prompt").is_err());
    }

    #[test]
    fn a_number_that_is_not_there_is_an_error_with_its_name() {
        let error = tell_apart(&json!({ "configs": {} })).expect_err("there is nothing");
        assert_eq!(error.to_string(), "'plain' has no number 'all.documents.R@5'");
    }
}
