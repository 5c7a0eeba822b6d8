//! Hook payloads through `agents::extract`: the extracted event is small, safe and stable.

use agents::Json;
use model::hook::HookEvent;
use model::wire::CallId;
use serde_json::Value;

use crate::corpus::EVENTS;
use crate::dice::Dice;
use crate::grammar;
use crate::mutate::mutate;
use crate::target::{Checked, Flaw, ensure};

/// Limit for an extracted event, in bytes. Paths, prompts and errors have smaller limits of their own.
const EVENT_BYTES_MAX: usize = 256 * 1024;

/// A payload of any agent, with the names of agent and event on a line before it. Both may be empty.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let (event, payload) = hook_payload(dice);
    let agent = match dice.below(4) {
        0 => "",
        _ => agents::AGENTS[dice.below(agents::AGENTS.len())].name,
    };
    let event = if dice.one_in(8) { String::new() } else { event };
    let mut input = format!("{agent}\t{event}\n").into_bytes();
    input.extend(payload);
    input
}

/// The name of an event and a payload for it: a golden one, distorted, or an invented one.
pub(crate) fn hook_payload(dice: &mut Dice) -> (String, Vec<u8>) {
    let golden = dice.pick(&EVENTS);
    let mut payload = golden.payload.clone();
    match dice.below(4) {
        0 => {}
        1 => made_up(dice, &mut payload),
        _ => grammar::distort(dice, &mut payload),
    }
    let mut bytes = payload.to_string().into_bytes();
    if dice.one_in(3) {
        let other = dice.pick(&EVENTS).payload.to_string();
        mutate(dice, &mut bytes, other.as_bytes());
        // The guard need not recognise a damaged secret.
        bytes = grammar::without_secrets(&bytes);
    }
    (golden.event.clone(), bytes)
}

fn made_up(dice: &mut Dice, payload: &mut Value) {
    #[rustfmt::skip]
    const TOOLS: &[&str] = &[
        "Read", "Write", "Edit", "MultiEdit", "Bash", "Grep", "Task", "WebFetch", "mcp__a__b", "mcp_",
        "apply_patch", "shell", "replace", "run_shell_command", "AskUserQuestion", "x", "",
    ];
    payload["tool_name"] = (*dice.pick(TOOLS)).into();
    payload["tool_input"] = Value::Object(grammar::members(dice, 3));
    for member in ["tool_response", "error", "prompt"] {
        payload[member] = grammar::value(dice, 3);
    }
}

/// Splits an input into the names of agent and event, and the payload.
pub(crate) fn apart(input: &[u8]) -> (String, String, &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let head = String::from_utf8_lossy(&input[..end]);
    let (agent, event) = head.split_once('\t').unwrap_or((&head, ""));
    (agent.to_owned(), event.to_owned(), input.get(end + 1..).unwrap_or_default())
}

pub(crate) fn check(input: &[u8]) -> Checked {
    let (agent, event, payload) = apart(input);
    let some = |name: String| Some(name).filter(|name| !name.is_empty());
    let (agent, event) = (some(agent), some(event));
    let Ok(payload) = serde_json::from_slice::<Json<'_>>(payload) else { return Ok(()) };
    // The checks of `record` may refuse the payload, but must not hang.
    let _ = agents::strict(agent.as_deref(), &payload);
    let drawn =
        agents::extract(agent.as_deref(), event.as_deref(), &payload, CallId([7; 16]), 1_000);
    let Ok(event) = drawn else { return Ok(()) };
    let kept = serde_json::to_string(&event).map_err(|error| Flaw::Wrong(error.to_string()))?;
    ensure(kept.len() <= EVENT_BYTES_MAX, || format!("{} bytes are kept", kept.len()))?;
    if let Some(secret) = grammar::leaked(&kept) {
        return Err(Flaw::Wrong(format!("a secret is kept: {secret}")));
    }
    // A spooled event is read back, and must be unchanged.
    let read: HookEvent = serde_json::from_str(&kept)
        .map_err(|error| Flaw::Wrong(format!("what was drawn cannot be read back: {error}")))?;
    ensure(read == event, || {
        format!("drawn {kept}, read back {:?}", serde_json::to_string(&read))
    })?;
    if agents::takes_text(&event) {
        let _ = agents::answer(&event, "a line\nand another");
    }
    Ok(())
}
