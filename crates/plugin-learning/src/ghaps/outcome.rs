//! The text after a test run or a build: its outcome for the active ghap, or the suggestion to start one.

use contract::{Candidate, Moment, Occasion, OpError, Slot};
use model::ghap::{Ghap, RunOutcome, RunResult};
use model::limits;
use store::{Rx, ghaps, projects, receipts, sessions};

use super::observed::GhapFlags;
use crate::runs::FinishedRun;

/// Whether there may be a text after a run. Without an active ghap only a failure leads to a text.
pub(crate) fn may_have_candidates(occasion: &Occasion<'_>, flags: &GhapFlags) -> bool {
    run_at(occasion)
        .is_some_and(|run| flags.active.may_be() || run.result == Some(RunResult::Failed))
}

fn run_at<'t>(occasion: &Occasion<'t>) -> Option<FinishedRun<'t>> {
    match *occasion {
        Occasion::AfterTool { tool, .. } => FinishedRun::of_ghap(tool),
        _ => None,
    }
}

/// The outcome of a run for the active ghap, once per iteration; after a failed run without a ghap, the suggestion to
/// start a ghap, once per session. `has_fix` says that the known fix of the failure is shown: then nothing is
/// suggested.
pub(crate) fn candidates(
    moment: &Moment<'_>,
    flags: &GhapFlags,
    has_fix: bool,
) -> Result<Option<Candidate>, OpError> {
    let (Some(run), Some(session)) = (run_at(&moment.occasion), moment.session) else {
        return Ok(None);
    };
    let noted = flags.active.noted();
    moment.store.read(|rx| {
        if noted > 0 && !ghaps::is_any_active(rx)? {
            flags.active.none_since(noted);
        }
        let Some(session) = sessions::id_of(rx, session)? else { return Ok(None) };
        let Some(project) = projects::known(rx, &moment.ran_in.facts)? else { return Ok(None) };
        match ghaps::active(rx, session, project.id)? {
            Some(ghap) => outcome(rx, session, &ghap, &run),
            None if run.result == Some(RunResult::Failed) && !has_fix => {
                suggestion(rx, session, &run)
            }
            None => Ok(None),
        }
    })
}

fn outcome(
    rx: &Rx<'_>,
    session: i64,
    ghap: &Ghap,
    run: &FinishedRun<'_>,
) -> Result<Option<Candidate>, OpError> {
    let path = format!("{}://{}", ghaps::SCHEME, ghap.name);
    let outcome = match run.result {
        Some(RunResult::Passed) => RunOutcome::Passed,
        Some(RunResult::Failed) => RunOutcome::Failed,
        None if run.is_hidden() || run.is_unreported() => RunOutcome::Hidden,
        // No test ran, often on purpose: `cargo test --no-run`.
        None => return Ok(None),
    };
    let iteration = ghap.iteration.to_string();
    let stamp = receipts::stamp_of(&[run.program, run.subcommand, &outcome.reason(), &iteration]);
    // The last text about this ghap may have been a reminder or another outcome.
    if receipts::was_shown(rx, session, &path, stamp)? {
        return Ok(None);
    }
    let line = shown_line(run);
    let (said, advice) = match outcome {
        RunOutcome::Passed => (
            format!("`{line}` passed{}", counts(run)),
            "If the prediction came true, call resolve_ghap with status confirmed.",
        ),
        RunOutcome::Failed | RunOutcome::FailedWithoutGhap => (
            format!("`{line}` failed{}", counts(run)),
            "If that falsifies the hypothesis, call resolve_ghap with surprise, root_cause and lesson; if not, \
             update_ghap.",
        ),
        RunOutcome::Hidden if run.is_unreported() => (
            format!("The output of `{line}` does not say how it ended, so it is no evidence"),
            "Run it so that it prints its summary.",
        ),
        RunOutcome::Hidden => (
            format!("The result of `{line}` is hidden, so it is no evidence"),
            "Run it without the pipe, `;` or `||` after it.",
        ),
    };
    let prediction = text::line_of_words(&ghap.prediction, limits::RED_FINDING_CHARS);
    Ok(Some(Candidate {
        path,
        stamp,
        score: 0.95,
        reasons: vec![outcome.reason()],
        cells: vec![said],
        more: vec![format!("Prediction: {prediction}"), advice.to_owned()],
        ..Candidate::new(Slot::Outcome)
    }))
}

/// The suggestion is made once, also if the context was compacted since: it must not nag.
fn suggestion(
    rx: &Rx<'_>,
    session: i64,
    run: &FinishedRun<'_>,
) -> Result<Option<Candidate>, OpError> {
    if receipts::was_ever_shown(rx, session, ghaps::SUGGESTION)? {
        return Ok(None);
    }
    let line = shown_line(run);
    Ok(Some(Candidate {
        path: ghaps::SUGGESTION.to_owned(),
        score: 0.5,
        reasons: vec![RunOutcome::FailedWithoutGhap.reason()],
        cells: vec![format!("`{line}` failed{}", counts(run))],
        more: vec!["If the cause is not clear, state a hypothesis first: start_ghap.".to_owned()],
        ..Candidate::new(Slot::Outcome)
    }))
}

fn shown_line(run: &FinishedRun<'_>) -> String {
    text::line_of_words(run.line, limits::FIX_COMMAND_CHARS)
}

/// ` (3 passed, 1 failed)`; empty if the output has no counts.
fn counts(run: &FinishedRun<'_>) -> String {
    let count = |word: &&str| {
        let count = run.count(word)?;
        let word = if count == 1 { word.trim_end_matches('s') } else { word };
        Some(format!("{count} {word}"))
    };
    let counts: Vec<String> = ["passed", "failed", "errors"].iter().filter_map(count).collect();
    match counts.is_empty() {
        true => String::new(),
        false => format!(" ({})", counts.join(", ")),
    }
}
