//! From an agent's event to ours: which agent, which event, what happened, in whose session.

use model::OpError;
use model::hook::{Happening, HookEvent, Source};
use model::limits;
use model::wire::CallId;
use serde_json::Value;

use crate::guard;
use crate::prompt;
use crate::table::{AGENTS, Agent, Kind, SYNTHETIC_SOURCES, agent as agent_named};
use crate::tool;
use crate::wire::Wire;

/// The event's name as a member of the payload.
const EVENT: &str = "hook_event_name";

/// Draws our event from an agent's payload. Members that are not known are ignored, an event that
/// is not known is a sign of life and nothing else.
pub fn extract(
    agent: Option<&str>,
    event: Option<&str>,
    payload: &Value,
    id: CallId,
    at: i64,
) -> Result<HookEvent, OpError> {
    let wire = Wire::read(payload)?;
    let name = match event {
        Some(name) => name,
        None => wire.needed(EVENT)?,
    };
    let agent = which_agent(agent, name, wire)?;
    let id_of = |member: &str| -> Result<Option<String>, OpError> {
        Ok(wire.text(member)?.filter(|id| !id.is_empty()).map(guard::name))
    };
    let cwd = wire.text("cwd")?.filter(|cwd| !cwd.is_empty());
    let event = HookEvent {
        id,
        at,
        agent: agent.name.to_owned(),
        // One that the table has is harmless.
        name: agent.event(name).map_or_else(|| guard::name(name), |known| known.name.to_owned()),
        session: guard::name(wire.needed(agent.fields.session)?),
        cwd: cwd.map(|cwd| guard::head(cwd, limits::PATH_CHARS_MAX)),
        prompt_id: id_of(agent.fields.prompt_id)?,
        agent_id: id_of("agent_id")?,
        tool_use_id: id_of("tool_use_id")?,
        what: what(agent, name, wire, cwd)?,
    };
    event.check()?;
    Ok(event)
}

/// Checks what `record` asks for: `session_id`, `cwd` and `hook_event_name`, none of them empty.
pub fn strict(payload: &Value) -> Result<(), OpError> {
    let wire = Wire::read(payload)?;
    ["session_id", "cwd", EVENT].iter().try_for_each(|member| wire.needed(member).map(drop))
}

/// The agent by its name, else by an event that only it has, its folder, or a member it sends.
fn which_agent(name: Option<&str>, event: &str, wire: Wire<'_>) -> Result<&'static Agent, OpError> {
    if let Some(name) = name {
        return agent_named(name).ok_or_else(|| {
            let known: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
            OpError::invalid("agent", "no agent is known by this name")
                .hint(format!("Use one of: {}.", known.join(", ")))
        });
    }
    let mut having = AGENTS.iter().filter(|agent| agent.event(event).is_some());
    if let (Some(only), None) = (having.next(), having.next()) {
        return Ok(only);
    }
    let transcript = wire.value("transcript_path").and_then(Value::as_str).unwrap_or_default();
    let by_folder = AGENTS.iter().find(|agent| transcript.contains(agent.marks.folder));
    let by_member = || AGENTS.iter().find(|agent| wire.has(agent.marks.member));
    Ok(by_folder.or_else(by_member).unwrap_or(&AGENTS[0]))
}

fn what(
    agent: &Agent,
    name: &str,
    wire: Wire<'_>,
    cwd: Option<&str>,
) -> Result<Happening, OpError> {
    let kind = agent.event(name).map_or(Kind::Other, |event| event.kind);
    Ok(match kind {
        Kind::SessionStart => {
            let source = wire.text("source")?.and_then(Source::parse);
            Happening::SessionStarted(source.unwrap_or(Source::Startup))
        }
        Kind::Prompt => prompted(wire)?,
        Kind::ToolStart => Happening::ToolStarting(tool::starting(agent, wire, cwd)?),
        Kind::ToolUse => Happening::ToolUsed(tool::used(agent, wire, cwd)?),
        Kind::ToolFailure => Happening::ToolUsed(tool::failed(agent, wire, cwd)?),
        Kind::TurnEnd => Happening::TurnEnded,
        Kind::SubagentEnd => Happening::SubagentEnded,
        Kind::Compacting => Happening::Compacting,
        Kind::Compacted => Happening::Compacted,
        Kind::CwdChange => match wire.text("new_cwd")? {
            Some(cwd) if !cwd.is_empty() => {
                Happening::CwdChanged(guard::head(cwd, limits::PATH_CHARS_MAX))
            }
            _ => Happening::Other,
        },
        Kind::SessionEnd => {
            let reason = wire.text("reason")?;
            Happening::SessionEnded {
                reason: reason.map(|text| guard::line(text, limits::OBSERVED_EDIT_CHARS_MAX)),
            }
        }
        Kind::Other => Happening::Other,
    })
}

fn prompted(wire: Wire<'_>) -> Result<Happening, OpError> {
    let source = wire.text("source")?.unwrap_or_default();
    let text = wire.text("prompt")?.map(guard::looked_at).unwrap_or_default();
    if SYNTHETIC_SOURCES.contains(&source) {
        return Ok(Happening::Other);
    }
    Ok(match prompt::own_words(text) {
        Some(words) => Happening::Prompted(guard::head(&words, limits::PROMPT_CHARS_MAX)),
        None => Happening::Other,
    })
}
