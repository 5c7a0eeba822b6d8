//! The prompts of a session with the answers to them. The first prompt and the last answer of a session may be about
//! different things, so they are not shown as a pair.

use model::observation::Observation;
use model::{OpError, limits};
use store::{Rx, observations, prompts};

/// The agent's answer to a prompt; if it has none, the last answer of a subagent.
pub(crate) fn answer_or_finding(rx: &Rx<'_>, id: i64) -> Result<Option<Observation>, OpError> {
    let own = prompts::answer_to(rx, id)?;
    let said = own.map_or_else(|| prompts::subagent_answer_to(rx, id), |own| Ok(Some(own)))?;
    said.map(|said| observations::one(rx, said)).transpose().map(Option::flatten)
}

/// The first sentences of an answer. A subagent's answer is marked as such: the agent may have concluded otherwise.
pub(crate) fn gist_of(said: &Observation, chars: usize) -> String {
    let gist = text::gist(&said.content, chars);
    if said.agent_id.is_some() { format!("a subagent found: {gist}") } else { gist }
}

/// A prompt with the answer of its own turn.
pub(crate) struct AnsweredPrompt {
    /// The id of the prompt.
    pub(crate) id: i64,
    pub(crate) prompt: String,
    answer: Observation,
}

impl AnsweredPrompt {
    /// The prompt with this id; none if it has no answer.
    fn of(rx: &Rx<'_>, id: i64, prompt: String) -> Result<Option<AnsweredPrompt>, OpError> {
        let answer = answer_or_finding(rx, id)?;
        Ok(answer.map(|answer| AnsweredPrompt { id, prompt, answer }))
    }

    /// The first sentences of the answer.
    pub(crate) fn gist(&self, chars: usize) -> String {
        gist_of(&self.answer, chars)
    }
}

/// The answered prompts by which a session is described.
pub(crate) struct AnsweredPrompts {
    /// The prompt that states the intent; none if it has no answer.
    pub(crate) intent: Option<AnsweredPrompt>,
    /// The last prompt with an answer.
    pub(crate) last: Option<AnsweredPrompt>,
}

impl AnsweredPrompts {
    pub(crate) fn of(rx: &Rx<'_>, session: i64) -> Result<AnsweredPrompts, OpError> {
        let intent = match prompts::intent_prompt(rx, session)? {
            Some((id, prompt)) => AnsweredPrompt::of(rx, id, prompt)?,
            None => None,
        };
        let mut last = None;
        for (id, prompt, _) in prompts::last_of_session(rx, session, limits::BRIEFING_READ_TURNS)? {
            last = AnsweredPrompt::of(rx, id, prompt)?;
            if last.is_some() {
                break;
            }
        }
        Ok(AnsweredPrompts { intent, last })
    }
}
