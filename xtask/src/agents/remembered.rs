//! Checks that a session is remembered: in the store, in the briefing of the next session, and by our search tool.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::endpoint::Received;
use super::proof::{END, PROMPT};
use super::script::{Script, ScriptLine};
use super::stage::Stage;

/// The file that the first session writes, and its line.
const WRITTEN: &str = "kiln.py";
const WRITTEN_LINE: &str = "CONE = 6";
/// The file that the first session declares.
const DECLARED: &str = "README.md";
/// How a row of a briefing names it, after the row's age.
const WRITTEN_ROW: &str = "] kiln.py";
/// A test that fails; the exit code is that of `tail`.
const RED: &str = "python3 -m unittest -q kiln_test 2>&1 | tail -4";
/// How a briefing names it.
const RED_ROW: &str = "red: `python3 -m unittest -q kiln_test";
/// A commit that fails because git knows no author, and one that succeeds.
const COMMIT_FAILS: &str = "git add kiln.py && git commit -m \"fire the kiln\"";
const COMMIT: &str =
    "git -c user.name=Ada -c user.email=ada@example.org commit -m \"mend the sensor\"";
/// The finding of the first session, and a question about it. No record of the session has a word of the
/// question, so that only its meaning leads to the finding.
const FINDING: &str = "thermocouple was wired the wrong way round";
const QUESTION: &str = "why did the temperature sensor show too little heat?";

pub(crate) const PROMPT_NEXT: &str = "How did that go?";
const END_NEXT: &str = "It went well.";

/// The work of the first session after its first commands.
pub(crate) fn work(stage: &Stage) -> Vec<ScriptLine> {
    vec![
        ScriptLine::Write(stage.in_repository(WRITTEN), WRITTEN_LINE),
        ScriptLine::Shell(RED.to_owned()),
        ScriptLine::Shell(COMMIT_FAILS.to_owned()),
    ]
}

/// The session declares a file, by its path in the repository.
pub(crate) fn declared() -> ScriptLine {
    let set = json!({ "setName": "files", "items": [DECLARED] });
    ScriptLine::Ours("set_relevant_context", set)
}

/// The block with the declared file is in a request of the resumed session.
pub(crate) fn resumed(received: &[Received], stage: &Stage) -> Result<String> {
    let texts = received.iter().flat_map(|request| &request.dialogue.said);
    let begins = "[SESSION RESUMED]\nThis is a resumed session.";
    let block = texts.clone().find(|text| text.contains(begins));
    let Some(block) = block else {
        bail!(
            "the model was not told that the session is resumed: {:?}",
            texts.collect::<Vec<_>>()
        );
    };
    let file = format!("Relevant files:\n- {}\n", stage.in_repository(DECLARED));
    if !block.contains(&file) || !block.contains("\n---") {
        bail!("the declared file is not in the block\n{block}");
    }
    Ok("the block is in the request to the model".to_owned())
}

/// The next session asks for the finding and commits the file.
pub(crate) fn next_script() -> Script {
    let lines = vec![
        ScriptLine::Ours("search", json!({ "query": QUESTION })),
        ScriptLine::Shell(COMMIT.to_owned()),
        ScriptLine::Say(END_NEXT),
    ];
    Script { mark: PROMPT_NEXT, lines }
}

/// The red test is a failure, although `tail` succeeded.
pub(crate) fn red_run(stage: &Stage) -> Result<String> {
    let found = stage.search(&["unittest kiln_test", "--obs-type", "command_error"])?;
    if !found.iter().any(|hit| shows(hit, RED)) {
        bail!("no failure of `{RED}` is recorded: {:?}", stage.search(&["unittest kiln_test"])?);
    }
    Ok("recorded as a failure although the pipe succeeded".to_owned())
}

/// Only the commit that succeeded is a commit; the other one is a failure.
pub(crate) fn commits(stage: &Stage) -> Result<String> {
    let commits = stage.search(&["git commit", "--obs-type", "git_commit"])?;
    let failures = stage.search(&["git commit", "--obs-type", "command_error"])?;
    if commits.iter().any(|hit| shows(hit, "fire the kiln")) {
        bail!("the commit that failed is recorded as one: {commits:?}");
    }
    if !failures.iter().any(|hit| shows(hit, "fire the kiln")) {
        bail!("the commit that failed is no recorded failure: {failures:?}");
    }
    if !commits.iter().any(|hit| shows(hit, "mend the sensor")) {
        bail!("the commit that succeeded is not recorded as one: {commits:?}");
    }
    Ok("the failed one is recorded as a failure, the other one as a commit".to_owned())
}

fn shows(hit: &Value, text: &str) -> bool {
    hit["content_preview"].as_str().is_some_and(|content| content.contains(text))
}

/// The briefing of a new session has the first one's prompt and outcome, its red test and its file.
pub(crate) fn briefed(received: &[Received]) -> Result<String> {
    let rows = briefing(received)?;
    expect_rows(&rows, &[PROMPT, END, RED_ROW, WRITTEN_ROW])?;
    Ok(format!("its briefing has the prompt, the outcome, the red test and {WRITTEN}"))
}

/// The briefing after a compaction has the session's own answer, red test and file.
pub(crate) fn briefed_again(received: &[Received]) -> Result<String> {
    let rows = briefing(received)?;
    expect_rows(&rows, &["answered: ", END, RED_ROW, WRITTEN_ROW])?;
    Ok(format!("its briefing has the answer, the red test and {WRITTEN}, which was just written"))
}

fn expect_rows(rows: &[&str], wanted: &[&str]) -> Result<()> {
    match wanted.iter().find(|wanted| !rows.iter().any(|row| row.contains(**wanted))) {
        Some(missing) => bail!("'{missing}' is not in the briefing\n{}", rows.join("\n")),
        None => Ok(()),
    }
}

/// The rows of the briefing in the first question to the model. Agents list the files of the repository
/// elsewhere in the same request, so that a search in all of it would prove nothing.
fn briefing(received: &[Received]) -> Result<Vec<&str>> {
    // A question without tools is for something else: a title, say.
    let first = received.iter().find(|request| !request.dialogue.tools.is_empty());
    let text = &first.context("the model was not asked")?.text;
    let Some((_, briefing)) = text.split_once("# rekindle context") else {
        bail!("no briefing in the first question to the model\n{text}");
    };
    // The request is JSON, where a line ends with these two characters.
    Ok(briefing.split("\\n").filter(|line| line.starts_with("- #")).collect())
}

/// Our search tool answered the question with the finding as its first hit.
pub(crate) fn finding(received: &[Received]) -> Result<String> {
    let results: Vec<&String> =
        received.iter().flat_map(|request| &request.dialogue.results).collect();
    let first_hit = |result: &str| {
        result.split("content_preview").nth(1).is_some_and(|hit| hit.contains(FINDING))
    };
    if !results.iter().any(|result| first_hit(result)) {
        bail!("'{QUESTION}' did not find '{FINDING}': {results:?}");
    }
    Ok(format!("\"{QUESTION}\" found the finding first"))
}
