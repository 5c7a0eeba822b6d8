//! The open ends of a session as the next steps of its summary. The summary was stored at the last end of a turn; the
//! last prompt, question and command are read anew.

use model::observation::{ObsType, Observation};
use model::run::{self, RunKey};
use model::session::{Session, Summary};
use model::{OpError, limits};
use store::{Rx, observations, open_ends, prompts};

use crate::same_run::{self, ProgramKey};

/// The summary of a session with its present open ends.
pub(crate) fn summary_now(rx: &Rx<'_>, session: &Session) -> Result<Option<Summary>, OpError> {
    let Some(mut summary) = session.summary.clone() else { return Ok(None) };
    let ends = open_ends::of_session(rx, session)?;
    let line = |text: &str| text::line_of_words(text, limits::SUMMARY_LINE_CHARS_MAX);
    summary.next_steps = ends.next_steps();
    if ends.prompt.is_none()
        && let Some(answer) = last_answer(rx, session)?
        && let Some(question) = open_question(&answer)
    {
        summary.next_steps.push(line(&format!("reply: {question}")));
    }
    if let Some(failed) = failed_last(rx, session)? {
        summary.next_steps.push(line(&format!("fix: {}", run::told(&failed))));
    }
    Ok(Some(summary))
}

/// The question at the end of an answer, if it says what it is about.
pub(crate) fn open_question(answer: &Observation) -> Option<&str> {
    text::last_question(&answer.content).filter(|question| text::asks_something(question))
}

/// The answer to the last prompt.
fn last_answer(rx: &Rx<'_>, session: &Session) -> Result<Option<Observation>, OpError> {
    let Some(prompt) = prompts::last(rx, session.id)? else { return Ok(None) };
    let id = prompts::answer_to(rx, prompt.id)?;
    id.map(|id| observations::one(rx, id)).transpose().map(Option::flatten)
}

/// The last action of a session, if it is a command that failed.
fn failed_last(rx: &Rx<'_>, session: &Session) -> Result<Option<Observation>, OpError> {
    let always = ((i64::MIN, i64::MIN), (i64::MAX, i64::MAX));
    let mut last = observations::between(rx, session.id, always, limits::SUMMARY_RUNS_READ)?;
    let is_failure = |seen: &Observation| seen.obs_type == ObsType::CommandError;
    let Some(place) = last.iter().rposition(is_failure) else { return Ok(None) };
    let later = last.split_off(place + 1);
    Ok(last.pop().filter(|failed| is_left(failed, later.iter())))
}

/// Whether a failed command is an open end: it is neither a test nor a build, which are red runs instead, and only
/// read-only actions followed it.
pub(crate) fn is_left<'o>(
    failed: &Observation,
    mut later: impl Iterator<Item = &'o Observation>,
) -> bool {
    let acts = |seen: &Observation| {
        let kind = seen.obs_type.kind();
        let is_action = match kind {
            ObsType::Command => !agents::is_read_only(&seen.content),
            _ => matches!(kind, ObsType::FileEdit | ObsType::FileWrite | ObsType::GitCommit),
        };
        is_action && (seen.at_ms, seen.id) > (failed.at_ms, failed.id)
    };
    RunKey::of(failed).is_none()
        && ProgramKey::of(failed).is_some()
        && !later.any(|seen| acts(seen) || same_run::worked_later(failed, seen))
}
