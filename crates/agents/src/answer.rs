//! Our text in the form in which the host of an agent hands it to its model.

use model::hook::HookEvent;
use serde_json::{Value, json};

use crate::table::{Agent, Form, agent};

/// How many bytes a host counts as one token.
const BYTES_PER_TOKEN: usize = 4;

/// Whether the host of this event hands a text on to its model.
pub fn takes_text(event: &HookEvent) -> bool {
    agent(&event.agent).and_then(|agent| agent.event(&event.name)?.answer).is_some()
}

/// The answer to an event; none if the event takes no text, or there is none.
pub fn answer(event: &HookEvent, text: &str) -> Option<Value> {
    answer_to(&event.agent, &event.name, text)
}

/// The answer of a text to an event of this name, in the form of this agent.
pub fn answer_to(agent_name: &str, event: &str, text: &str) -> Option<Value> {
    let agent = agent(agent_name)?;
    let form = agent.event(event)?.answer?;
    let text = fitting(text.trim_end(), agent);
    if text.is_empty() {
        return None;
    }
    Some(match form {
        Form::HookSpecificOutput => json!({
            "hookSpecificOutput": { "hookEventName": event, "additionalContext": text },
        }),
        Form::AdditionalContext => json!({ "additional_context": text }),
    })
}

/// As many whole lines as the host accepts; if the first line is too long, as much of it as fits.
fn fitting<'a>(text: &'a str, agent: &Agent) -> &'a str {
    let bytes_max = agent.tokens_max.map_or(usize::MAX, |tokens| tokens * BYTES_PER_TOKEN);
    let mut units = 0;
    let over = text.char_indices().find(|(at, c)| {
        units += c.len_utf16();
        units > agent.chars_max || at + c.len_utf8() > bytes_max
    });
    let Some((end, _)) = over else { return text };
    let fits = &text[..end];
    // A line that ends just where the text was cut is whole.
    let whole = if text[end..].starts_with('\n') { Some(end) } else { fits.rfind('\n') };
    match whole {
        Some(at) if !fits[..at].trim_end().is_empty() => fits[..at].trim_end(),
        _ => fits.trim_end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::AGENTS;

    fn of(name: &str) -> Agent {
        *AGENTS.iter().find(|agent| agent.name == name).unwrap()
    }

    /// @capture_answer_limits
    #[test]
    fn a_text_is_cut_at_a_line_and_counted_as_its_host_counts() {
        let tiny = Agent { chars_max: 8, ..of("claude-code") };
        let table = [
            ("one\ntwo", "one\ntwo"),
            ("one\ntwo\nthree", "one\ntwo"),
            ("one\nlonger line", "one"),
            ("one\nfour\nfive", "one\nfour"),
            ("a long first line", "a long f"),
            ("\n\n\n\n\n\n\n\n\nx", ""),
            ("😀😀😀😀😀", "😀😀😀😀"),
        ];
        for (text, cut) in table {
            assert_eq!(fitting(text, &tiny), cut, "{text:?}");
        }
        let tokens = Agent { tokens_max: Some(2), ..of("codex") };
        assert_eq!(fitting("one\ntwo\nthree", &tokens), "one\ntwo");
        assert_eq!(fitting("日本語", &tokens), "日本");
    }
}
