//! The section `This session`: the session's own work, after its context was compacted or cleared.

use contract::Slot;
use model::observation::Observation;
use model::session::Session;
use model::{OpError, limits, run};
use store::{observations, open_ends, prompts};

use super::sections::{ASKED_BACK, BriefingRow, SectionWriter};
use super::topic;

/// A row before its score: the record, its time, the reason and the text.
type OwnRow = (i64, i64, &'static str, String);

/// Adds its last prompt, red runs, the agent's question, answers and files, in this order.
pub(super) fn add(writer: &mut SectionWriter<'_>) -> Result<(), OpError> {
    let Some(own) = writer.work.own.clone() else { return Ok(()) };
    let mut rows: Vec<OwnRow> = Vec::new();
    rows.extend(last_prompt(writer, &own)?);
    let runs = runs(writer);
    let red = run::red(&runs).into_iter().filter(|seen| seen.session_id == own.session_id);
    for seen in red.take(limits::RED_RUNS_TOLD) {
        let text = format!("red: {}", run::told(seen));
        rows.push((seen.id, seen.at_ms, "a run of this session that is red", text));
    }
    let answers = writer.work.own_work.answers.clone();
    if let Some(last) = answers.iter().find(|seen| seen.agent_id.is_none())
        && open_ends::unanswered(writer.brief.rx, &own)?.is_none()
        && let Some(text) = writer.asked_back(last)
    {
        rows.push((last.id, last.at_ms, ASKED_BACK, text));
    }
    let mut told = 0;
    for seen in &answers {
        let digest = text::digest(&seen.content, limits::BRIEFING_DECISION_CHARS);
        if told == limits::BRIEFING_OWN_ANSWERS {
            break;
        }
        // An answer may repeat one that a row quotes already.
        if !writer.is_quoted(&digest) {
            told += 1;
            let who = if seen.agent_id.is_some() { "a subagent answered" } else { "answered" };
            let text = format!("{who}: {}", writer.quote_whole(&digest));
            rows.push((seen.id, seen.at_ms, "answer of this session", text));
        }
    }
    for seen in writer.work.own_work.edits.clone() {
        if writer.names_file(&seen) {
            rows.push((seen.id, seen.at_ms, "edited in this session", writer.change(&seen)));
        }
    }
    rows.truncate(limits::BRIEFING_OWN_MAX);
    for (place, (id, at, reason, text)) in rows.into_iter().enumerate() {
        // The order of the rows is the order of their scores.
        let score = 1.0 - 0.001 * place as f64;
        let row = BriefingRow { id, at, score, reason, text, pinned: false };
        writer.add(Slot::ThisSession, row);
    }
    Ok(())
}

/// The runs of the session, and the newest of the project, in which a red one may have passed since; newest first.
fn runs(writer: &SectionWriter<'_>) -> Vec<Observation> {
    let work = &writer.work;
    let mut runs = work.runs.clone();
    let is_new = |own: &&Observation| !work.runs.iter().any(|seen| seen.id == own.id);
    runs.extend(work.own_work.runs.iter().filter(is_new).cloned());
    runs.sort_by_key(|seen| std::cmp::Reverse((seen.at_ms, seen.id)));
    runs
}

/// The last prompt. If it says nothing itself, the earlier prompt with the task is shown instead; if it agreed to a
/// proposal, together with the proposal, because the agent would otherwise begin the task anew.
fn last_prompt(writer: &mut SectionWriter<'_>, own: &Session) -> Result<Option<OwnRow>, OpError> {
    let rx = writer.brief.rx;
    let Some(prompt) = prompts::last(rx, own.id)? else { return Ok(None) };
    let answered = open_ends::unanswered(rx, own)?.is_none();
    let state = if answered { "last prompt" } else { "last prompt, not answered" };
    let reason = "last prompt of this session";
    let says_nothing = !topic::has_subject(&prompt.content) || text::is_small_talk(&prompt.content);
    let agrees = text::agrees(&prompt.content);
    if !says_nothing && !agrees {
        let text = format!("{state}: {}", writer.quote(&prompt.content));
        return Ok(Some((prompt.id, prompt.at, reason, text)));
    }
    let turns = prompts::last_of_session(rx, own.id, limits::BRIEFING_READ_TURNS)?;
    let before = turns.get(1).filter(|_| agrees).map(|(id, ..)| *id);
    let answer = before.map(|id| prompts::answer_to(rx, id)).transpose()?.flatten();
    let proposed = answer.map(|id| observations::one(rx, id)).transpose()?.flatten();
    let task = turns.into_iter().find(|(_, said, _)| topic::begins_subject(said));
    let text = match (proposed, task) {
        (Some(proposed), task) => {
            let digest = text::digest(&proposed.content, limits::BRIEFING_DECISION_CHARS);
            let said = writer.quote(&prompt.content);
            let mut text = format!("{state}: {said} to {}", writer.quote_whole(&digest));
            if let Some((_, task, _)) = task {
                text = format!("{text}; the task: {}", writer.quote(&task));
            }
            text
        }
        (None, Some((id, task, _))) => {
            let text = format!("{state}: {}", writer.quote(&task));
            return Ok(Some((id, prompt.at, reason, text)));
        }
        (None, None) => format!("{state}: {}", writer.quote(&prompt.content)),
    };
    Ok(Some((prompt.id, prompt.at, reason, text)))
}
