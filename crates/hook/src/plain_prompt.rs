//! A prompt that is not JSON but plain text: it is answered, and nothing is recorded.

use std::io::{self, Write as _};
use std::time::Instant;

use agents::{Kind, Taken};
use model::hook::HookForm;
use model::locations::Locations;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::{HookArgs, degraded, exchange, patience};

/// The agent whose form an answer has if the command names none.
const AGENT: &str = "claude-code";

/// The relevant part of the reply to `briefing`.
#[derive(Deserialize)]
struct BriefingReply {
    result: BriefingText,
}

#[derive(Deserialize)]
struct BriefingText {
    text: String,
    tokens: usize,
}

/// The prompt, if the event is one and its text cannot be JSON.
pub(crate) fn of<'t>(hooked: &HookArgs<'_>, received: &'t Taken) -> Option<&'t str> {
    let Taken::AsSent(text) = received else { return None };
    if agents::kind(hooked.event) != Kind::Prompt {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?.trim_start_matches('\u{feff}').trim();
    let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
    (!text.is_empty() && !text.starts_with(['{', '[']) && !is_json()).then_some(text)
}

/// Prints the text for a prompt in this directory, in the form of the agent. Without a daemon there is none.
pub(crate) fn answer(hooked: &HookArgs<'_>, prompt: &str, locations: &Locations) {
    let until = Instant::now() + patience(hooked.event);
    let reply = exchange(&frame(prompt, locations), until, locations).ok();
    let reply = reply.and_then(|line| serde_json::from_slice::<BriefingReply>(&line).ok());
    let printed = match (hooked.form, reply.map(|reply| reply.result)) {
        (HookForm::Host, None) => None,
        (HookForm::Host, Some(found)) => {
            let agent = hooked.agent.unwrap_or(AGENT);
            agents::answer_to(agent, hooked.event, &found.text).map(|answer| answer.to_string())
        }
        (HookForm::Seed, None) => degraded(hooked.event).map(str::to_owned),
        (HookForm::Seed, Some(found)) => Some(seed(&found).to_string()),
    };
    if let Some(printed) = printed {
        // An agent that closed its end expects no answer.
        let _ = io::stdout().write_all(printed.as_bytes());
    }
}

fn seed(found: &BriefingText) -> Value {
    match found.text.trim_end() {
        "" => json!({ "type": "degraded", "reason": "no_context" }),
        content => json!({ "type": "rich", "content": content, "token_count": found.tokens }),
    }
}

/// The call as one line.
fn frame(prompt: &str, locations: &Locations) -> Vec<u8> {
    let cwd = std::env::current_dir().ok().map(|cwd| cwd.to_string_lossy().into_owned());
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "briefing",
        "rekindle": {
            "call": client::mint(), "tier": "client", "situation": { "cwd": cwd },
            "db": locations.database.to_string_lossy(),
        },
        "params": { "for": "prompt", "prompt": prompt },
    });
    let mut line = call.to_string().into_bytes();
    line.push(b'\n');
    line
}
