//! Checks that a session learns: its hypotheses are answered by its runs, and the next session gets the warning and the
//! fix.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::endpoint::Received;
use super::script::{Script, ScriptLine};
use super::stage::Stage;

pub(crate) const PROMPT: &str = "Find why the glaze test fails.";
pub(crate) const PROMPT_NEXT: &str = "The glaze test fails again: is the feldspar missing?";
const END: &str = "The glaze has its recipe.";

/// A test that fails while the module it imports is missing, and the file that mends it.
const RUN: &str = "python3 -m unittest -q glaze_test";
const RECIPE: &str = "glaze.py";
const RECIPE_LINE: &str = "CONE = 6";
const BELIEF: &str = "Feldspar is missing from the bucket";

/// The first session falsifies one hypothesis, mends the test and confirms another.
pub(crate) fn script(stage: &Stage) -> Script {
    let lines = vec![
        ScriptLine::Load(&["start_ghap", "resolve_ghap"]),
        ghap(BELIEF, "The glaze test passes with more feldspar"),
        ScriptLine::Shell(RUN.to_owned()),
        ScriptLine::Ours(
            "resolve_ghap",
            json!({
                "status": "falsified", "result": "It still fails",
                "surprise": "No module called glaze exists",
                "root_cause": { "category": "wrong-assumption", "description": "Nobody wrote it" },
                "lesson": { "what_worked": "Reading the error", "takeaway": "Write glaze.py first" },
            }),
        ),
        ghap("The recipe is missing", "The glaze test passes once glaze.py exists"),
        ScriptLine::Write(stage.in_repository(RECIPE), RECIPE_LINE),
        ScriptLine::Shell(RUN.to_owned()),
        ScriptLine::Ours("resolve_ghap", json!({ "status": "confirmed", "result": "It passes" })),
        ScriptLine::Say(END),
    ];
    Script { mark: PROMPT, lines }
}

fn ghap(hypothesis: &str, prediction: &str) -> ScriptLine {
    ScriptLine::Ours(
        "start_ghap",
        json!({
            "domain": "testing", "strategy": "read-the-error", "action": "Run the glaze test",
            "goal": "Find why the glaze test fails",
            "hypothesis": hypothesis, "prediction": prediction,
        }),
    )
}

/// The next session breaks the test and mends it again.
pub(crate) fn next_script(stage: &Stage) -> Script {
    let lines = vec![
        ScriptLine::Shell(format!("rm {RECIPE}")),
        ScriptLine::Shell(RUN.to_owned()),
        ScriptLine::Write(stage.in_repository(RECIPE), RECIPE_LINE),
        ScriptLine::Shell(RUN.to_owned()),
        ScriptLine::Say(END),
    ];
    Script { mark: PROMPT_NEXT, lines }
}

/// Both outcomes reached the model in the request after their run, and both experiences are gold.
pub(crate) fn outcomes(received: &[Received], stage: &Stage) -> Result<String> {
    let failed = first_with(received, &format!("`{RUN}` failed"))?;
    let passed = first_with(received, &format!("`{RUN}` passed"))?;
    let prediction = first_with(received, "Prediction: The glaze test passes with more feldspar")?;
    if failed >= passed || prediction != failed {
        bail!("requests {failed} and {passed} have the outcomes, {prediction} the prediction");
    }
    let printed = stage.rekindle(&["ghap", "list", "--json"])?;
    let listed: Value = serde_json::from_str(&printed).context("the experiences are not JSON")?;
    let all = listed["results"].as_array().context("no list of experiences")?;
    let tiers: Vec<&Value> = all.iter().map(|one| &one["confidence_tier"]).collect();
    if tiers != ["gold", "gold"] {
        bail!("the tiers are {tiers:?}: {printed}");
    }
    Ok("a failed and a passed run were answered, both experiences are gold".to_owned())
}

/// The number of the first request with this text.
fn first_with(received: &[Received], text: &str) -> Result<usize> {
    let found = received.iter().position(|request| request.text.contains(text));
    found.with_context(|| format!("no request to the model has '{text}'"))
}

/// The first request has the warning, the one after the failed run has the fix; both have receipts, and one was used.
pub(crate) fn warned(received: &[Received], stage: &Stage) -> Result<String> {
    let warning =
        first_with(received, &format!("Warning, this was believed and is wrong: {BELIEF}"))?;
    let fix = first_with(received, &format!("changed {RECIPE}"))?;
    if warning >= fix {
        bail!("request {warning} has the warning, request {fix} the fix");
    }
    let printed = stage.rekindle(&["receipts", "--json"])?;
    let listed: Value = serde_json::from_str(&printed).context("the receipts are not JSON")?;
    let texts = listed["receipts"].as_array().context("no list of receipts")?;
    let session = texts.first().map(|text| &text["session_id"]);
    let of_session = texts.iter().filter(|text| Some(&text["session_id"]) == session);
    let items: Vec<&Value> =
        of_session.flat_map(|text| text["items"].as_array().into_iter().flatten()).collect();
    let shown = |scheme: &str| {
        let of_scheme = |item: &&&Value| {
            let text = |member: &str| item[member].as_str().unwrap_or_default();
            text("path").starts_with(scheme) && !text("reason").starts_with("outcome")
        };
        let found = items.iter().find(of_scheme);
        found.with_context(|| format!("no receipt of {scheme}: {printed}"))
    };
    let (experience, fix) = (shown("ghap://")?, shown("fix://")?);
    if experience["used"] != true && fix["used"] != true {
        bail!("neither was used: {printed}");
    }
    let used = |item: &Value| if item["used"] == true { "used" } else { "not used" };
    Ok(format!(
        "the warning was shown and {}, the fix was shown and {}",
        used(experience),
        used(fix)
    ))
}
