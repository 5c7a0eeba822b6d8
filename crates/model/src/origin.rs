//! The identity of a record at the agent that it comes from.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::hook::{Happening, HookEvent};

/// A hash of an agent, a kind of record, and the agent's own id of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin(pub [u8; 16]);

impl Origin {
    /// The hash of these parts. Their lengths are hashed too, so that `["ab", "c"]` and `["a", "bc"]` differ.
    pub fn of(parts: &[&str]) -> Origin {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let mut origin = [0; 16];
        origin.copy_from_slice(&digest.finalize()[..16]);
        Origin(origin)
    }

    /// The origin of the record of an event, as far as the event itself names it. The answer that a hook reports lacks
    /// its position among the answers of its prompt.
    pub fn of_event(event: &HookEvent) -> Option<Origin> {
        let HookEvent { agent, tool_use_id, prompt_id, .. } = event;
        if let Some(repeat) = event.transcript.as_ref().and_then(|facts| facts.repeat) {
            return Origin::of_text(event, repeat);
        }
        match &event.what {
            Happening::ToolUsed(_) => {
                let id = tool_use_id.as_deref().and_then(|id| own_call_id(event, id));
                id.map(|id| Origin::of(&["tool", agent, id]))
            }
            Happening::Prompted(_) => {
                prompt_id.as_deref().map(|id| Origin::of(&["prompt", agent, id]))
            }
            Happening::Answered(_) => {
                let position = event.transcript.as_ref()?.position?;
                Some(Origin::turn(event)?.answer(position))
            }
            _ => None,
        }
    }

    /// A second origin of a prompt or an answer, which is equal for copies of its line in other transcripts.
    pub fn of_line(event: &HookEvent) -> Option<Origin> {
        let facts = event.transcript.as_ref()?;
        let line = Origin::of(&["line", &event.agent, facts.line.as_deref()?]);
        match &event.what {
            Happening::Prompted(_) => Some(line),
            Happening::Answered(_) if event.agent_id.is_none() => {
                Some(line.answer(facts.position?))
            }
            _ => None,
        }
    }

    /// Whether the transcript of a fork copied this event and left only the id of its line: the prompt has no id of its
    /// own.
    pub fn is_copy(event: &HookEvent) -> bool {
        let line = event.transcript.as_ref().and_then(|facts| facts.line.as_ref());
        line.is_some() && line == event.prompt_id.as_ref() && event.agent_id.is_none()
    }

    /// The origin of a record of which the agent has no id: its session, its text, and the number of this repetition of
    /// the text in the session, from 1.
    pub fn of_text(event: &HookEvent, repeat: u32) -> Option<Origin> {
        let (kind, text) = match &event.what {
            Happening::ToolUsed(tool) => ("tool", tool.content.as_str()),
            Happening::Prompted(text) => ("prompt", text.as_str()),
            Happening::Answered(answer) => ("answer", answer.text.as_str()),
            _ => return None,
        };
        let HookEvent { agent, session, .. } = event;
        Some(Origin::of(&["text", agent, session, kind, text, &repeat.to_string()]))
    }

    /// The beginning of an answer's turn: the subagent that gives it, or the prompt. In Codex each turn of a subagent has
    /// an id of its own, which copies of its lines keep.
    pub fn turn(event: &HookEvent) -> Option<Origin> {
        let HookEvent { agent, agent_id, prompt_id, .. } = event;
        match (agent_id, prompt_id) {
            (Some(_), Some(id)) if agent == "codex" => Some(Origin::of(&["prompt", agent, id])),
            (Some(id), _) => Some(Origin::of(&["subagent", agent, id])),
            (None, Some(id)) => Some(Origin::of(&["prompt", agent, id])),
            (None, None) => None,
        }
    }

    /// The origin of an answer, by its position among those of the turn that begins here.
    pub fn answer(self, position: u32) -> Origin {
        Origin::of(&["answer", &self.to_string(), &position.to_string()])
    }

    /// Reads the form that [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Origin> {
        let mut origin = [0; 16];
        if text.len() != 2 * origin.len() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (place, byte) in origin.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
        }
        Some(Origin(origin))
    }
}

/// The agent's own id of a call, without the additions of our plugin for OpenCode (`SESSION/ID~USE`; the session only
/// for a subagent). Some models number their calls from the start with every answer; such an id identifies nothing, so
/// `None` is returned and the record is identified by text and time.
fn own_call_id<'e>(event: &HookEvent, id: &'e str) -> Option<&'e str> {
    if event.agent != "opencode" || event.transcript.is_some() {
        return Some(id);
    }
    let id = id.rsplit_once('~').map_or(id, |(id, _)| id);
    let session = event.agent_id.as_deref().and_then(|session| id.strip_prefix(session));
    let id = session.and_then(|id| id.strip_prefix('/')).unwrap_or(id);
    is_unique_call(id).then_some(id)
}

/// Whether a call's id looks unique: it has a long word of letters and digits, such as `call_0a1B…`.
pub fn is_unique_call(id: &str) -> bool {
    /// Letters and digits of such a word.
    const LONG: usize = 16;
    let is_random = |word: &str| {
        let has = |kind: fn(&u8) -> bool| word.as_bytes().iter().any(kind);
        word.len() >= LONG && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    };
    id.split(|sign: char| !sign.is_ascii_alphanumeric()).any(is_random)
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
