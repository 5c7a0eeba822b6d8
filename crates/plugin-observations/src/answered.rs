//! The prompts of a session with the answers to them. The first prompt and the last answer of a session may be about
//! different things, so they are not shown as a pair.

use model::{OpError, limits};
use store::{Rx, observations, prompts};

/// A prompt with the answer of its own turn.
pub(crate) struct AnsweredPrompt {
    /// The id of the prompt.
    pub(crate) id: i64,
    pub(crate) prompt: String,
    answer: String,
}

impl AnsweredPrompt {
    /// The prompt with this id; none if it has no answer.
    fn of(rx: &Rx<'_>, id: i64, prompt: String) -> Result<Option<AnsweredPrompt>, OpError> {
        let Some(answer) = prompts::answer_to(rx, id)? else { return Ok(None) };
        let answer = observations::one(rx, answer)?.map(|answer| answer.content);
        Ok(answer.map(|answer| AnsweredPrompt { id, prompt, answer }))
    }

    /// The first sentences of the answer.
    pub(crate) fn gist(&self, chars: usize) -> String {
        text::gist(&self.answer, chars)
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
