//! From an agent's event to ours: which agent, which event, what happened, in whose session.

use std::borrow::Cow;

use model::OpError;
use model::hook::{Answer, Ends, Happening, HookEvent, Source};
use model::limits;
use model::wire::CallId;

use crate::final_message;
use crate::guard;
use crate::json::{self, Json};
use crate::prompt;
use crate::table::{
    AGENTS, Agent, Kind, McpNames, SYNTHETIC_SOURCES, Tool, agent as agent_named, any_tool,
};
use crate::tool;
use crate::wire::Wire;

/// The member of the payload that holds the event's name.
const EVENT: &str = "hook_event_name";
/// The member that holds the working directory, for most agents.
const CWD: &str = "cwd";

/// The member that holds a tool's input.
const INPUT: &str = "tool_input";

/// Extracts our event from an agent's payload. Unknown members are ignored; an unknown event only shows
/// that the session is active.
pub fn extract(
    agent: Option<&str>,
    event: Option<&str>,
    payload: &Json<'_>,
    id: CallId,
    at: i64,
) -> Result<HookEvent, OpError> {
    let payload = unwrapped(payload);
    guard::with_known_values(&payload, || extract_once(agent, event, &payload, id, at))
}

fn extract_once(
    agent: Option<&str>,
    event: Option<&str>,
    payload: &Json<'_>,
    id: CallId,
    at: i64,
) -> Result<HookEvent, OpError> {
    let wire = Wire::read(payload)?;
    let name = match event {
        Some(name) => name,
        None => wire.telling(EVENT).ok_or_else(|| wire.lacks(EVENT))?,
    };
    let sender = sender(agent, name, wire)?;
    let (agent, name) = (sender.agent, sender.event);
    let id_of = |member: &str| wire.id(member).map(|id| guard::id(&id));
    let tool_use_id = wire.id("tool_use_id").map(|id| match agent.fields.several_ids {
        true => guard::id(id.trim_start().lines().next().unwrap_or_default()),
        false => guard::id(&id),
    });
    let cwd = cwd(agent, wire);
    let event = HookEvent {
        stood: None,
        id,
        at,
        agent: agent.name.to_owned(),
        // A name in the table cannot contain a secret.
        name: agent.event(name).map_or_else(|| guard::name(name), |known| known.name.to_owned()),
        session: guard::name(&session(agent, wire)?),
        cwd: cwd.map(guard::place),
        model: id_of("model"),
        prompt_id: id_of(agent.fields.prompt_id),
        agent_id: id_of("agent_id"),
        tool_use_id,
        transcript: None,
        what: what(&sender, wire, cwd),
    };
    event.check()?;
    Ok(event)
}

/// Checks the members that `record` requires: the session, the working directory and the event's name
/// (`session_id`, `cwd` and `hook_event_name`, by the agent's own names), none of them empty.
pub fn strict(agent: Option<&str>, payload: &Json<'_>) -> Result<(), OpError> {
    let wire = Wire::read(payload)?;
    let name = wire.value(EVENT).and_then(Json::as_str).unwrap_or_default();
    let agent = sender(agent, name, wire)?.agent;
    session(agent, wire)?;
    if cwd(agent, wire).is_none() {
        return Err(wire.lacks(CWD));
    }
    wire.telling(EVENT).map(drop).ok_or_else(|| wire.lacks(EVENT))
}

/// The payload with the tool's input parsed, if that is a JSON object inside a text.
fn unwrapped<'a>(payload: &'a Json<'a>) -> Cow<'a, Json<'a>> {
    let inside = || -> Option<Json<'a>> {
        let text = payload.get(INPUT)?.as_str()?;
        let input = text.trim_start().starts_with('{').then(|| json::inside(text))??;
        let mut members = payload.as_object()?.clone();
        members.set(INPUT, input);
        Some(members.into())
    };
    inside().map_or(Cow::Borrowed(payload), Cow::Owned)
}

/// The session's id. An event without it cannot be stored.
fn session<'a>(agent: &Agent, wire: Wire<'a>) -> Result<Cow<'a, str>, OpError> {
    let members = agent.fields.session;
    let any = AGENTS.iter().flat_map(|agent| agent.fields.session);
    let session = members.iter().chain(any).find_map(|member| wire.id(member));
    session.ok_or_else(|| wire.lacks(members.first().unwrap_or(&"")))
}

/// The agent's working directory.
fn cwd<'a>(agent: &Agent, wire: Wire<'a>) -> Option<&'a str> {
    let root = || {
        wire.value(agent.fields.roots?)?
            .as_list()?
            .first()?
            .as_str()
            .filter(|root| !root.is_empty())
    };
    wire.telling(CWD).or_else(root)
}

/// The agent that sent a payload, and its name for the event.
struct EventSender<'a> {
    agent: &'static Agent,
    event: &'a str,
    /// Whether the payload does not identify the agent, so that [`AGENTS`]' first one with the event is assumed.
    is_assumed: bool,
}

impl EventSender<'_> {
    /// The kind of a tool, and how the names of MCP tools are read. The tools of an assumed agent may be those of any
    /// other agent.
    fn tool(&self, name: &str) -> (Tool, McpNames) {
        let own = self.agent.mcp;
        match self.agent.tool(name) {
            Tool::Other if self.is_assumed => {
                let (tool, names) = any_tool(name);
                (tool, names.unwrap_or(own))
            }
            tool => (tool, own),
        }
    }
}

/// The agent and the event's name of a payload. A guest, an agent that runs the hooks of another agent, is recognised
/// by a member of the payload; the event is then the guest's event of this name, or else of the same kind.
fn sender<'a>(
    named: Option<&str>,
    event: &'a str,
    wire: Wire<'_>,
) -> Result<EventSender<'a>, OpError> {
    let (agent, is_assumed) = which_agent(named, event, wire)?;
    let is_guest = |guest: &&Agent| guest.marks.guest.is_some_and(|member| wire.has(member));
    let Some(guest) = AGENTS.iter().find(is_guest) else {
        return Ok(EventSender { agent, event, is_assumed });
    };
    let known = || guest.event_of_kind(agent.event(event)?.kind);
    let event = guest.event(event).or_else(known).map_or(event, |own| own.name);
    Ok(EventSender { agent: guest, event, is_assumed: false })
}

/// The agent by its name, else by its event; and whether the agent is only assumed. Among several agents with the
/// event, the transcript's folder decides, and only then a member of the payload: any agent may begin to send a member
/// of another agent, such as `timestamp`.
fn which_agent(
    name: Option<&str>,
    event: &str,
    wire: Wire<'_>,
) -> Result<(&'static Agent, bool), OpError> {
    if let Some(name) = name {
        let named = agent_named(name).ok_or_else(|| {
            let known: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
            OpError::invalid("agent", "no agent is known by this name")
                .hint(format!("Use one of: {}.", known.join(", ")))
        });
        return Ok((named?, false));
    }
    let has_event = |agent: &&Agent| agent.event(event).is_some();
    let is_new = !AGENTS.iter().any(|agent| has_event(&agent));
    let candidates = || AGENTS.iter().filter(|agent| is_new || has_event(agent));
    let transcript = wire.value("transcript_path").and_then(Json::as_str).unwrap_or_default();
    let stands_in =
        |agent: &&Agent| agent.marks.folder.is_some_and(|folder| transcript.contains(folder));
    let sends = |agent: &&Agent| agent.marks.member.is_some_and(|member| wire.has(member));
    let found = candidates().find(stands_in).or_else(|| candidates().find(sends));
    let is_assumed = found.is_none() && candidates().count() > 1;
    Ok((found.or_else(|| candidates().next()).unwrap_or(&AGENTS[0]), is_assumed))
}

fn what(sender: &EventSender<'_>, wire: Wire<'_>, cwd: Option<&str>) -> Happening {
    let agent = sender.agent;
    let Some(event) = agent.event(sender.event) else { return Happening::Other };
    // An event without the name of its tool does not say what happened.
    let of_tool = |drawn: fn(&tool::Call<'_>) -> Happening| {
        // A call of our own tools gives only its session and its id: the records that it returns are stored already.
        let kind = |name: &str| sender.tool(name);
        let call =
            tool::Call::read((agent, &kind), event, wire, cwd).filter(|call| !call.is_ours());
        call.map_or(Happening::Other, |call| drawn(&call))
    };
    match event.kind {
        Kind::SessionStart => {
            let source = wire.text("source").and_then(Source::parse);
            Happening::SessionStarted(source.unwrap_or(Source::Startup))
        }
        Kind::Prompt => prompted(agent, wire),
        Kind::ToolStart => of_tool(|call| Happening::ToolStarting(tool::starting(call))),
        Kind::ToolUse => of_tool(|call| Happening::ToolUsed(tool::used(call))),
        Kind::ToolFailure => of_tool(|call| Happening::ToolUsed(tool::failed(call))),
        Kind::TurnEnd => answered(agent, wire, Ends::Turn).unwrap_or(Happening::TurnEnded),
        Kind::TurnFailure => cut_short(agent, wire),
        Kind::Message => answered(agent, wire, Ends::Message).unwrap_or(Happening::Other),
        // Claude Code runs subagents without a type for itself, for example to summarise a session for its compaction.
        Kind::SubagentEnd if wire.text("agent_type").is_some_and(str::is_empty) => {
            Happening::SubagentEnded
        }
        Kind::SubagentEnd => {
            answered(agent, wire, Ends::Subagent).unwrap_or(Happening::SubagentEnded)
        }
        Kind::Compacting => Happening::Compacting,
        Kind::Compacted => Happening::Compacted,
        Kind::CwdChange => match wire.text("new_cwd") {
            Some(cwd) if !cwd.is_empty() => Happening::CwdChanged(guard::place(cwd)),
            _ => Happening::Other,
        },
        Kind::SessionEnd => {
            let reason = wire.text("reason");
            Happening::SessionEnded {
                reason: reason.map(|text| guard::line(text, limits::OBSERVED_EDIT_CHARS_MAX)),
            }
        }
        Kind::Other => Happening::Other,
    }
}

/// The agent's final message, if there is one.
fn answered(agent: &Agent, wire: Wire<'_>, ends: Ends) -> Option<Happening> {
    let said = wire.said_to_its_end(agent.fields.answer)?;
    let text = final_message::stored(&said)?;
    Some(Happening::Answered(Answer { text, ends, failed: false }))
}

/// A turn that ended with an error. Its text is the final message, or the error if there is none.
fn cut_short(agent: &Agent, wire: Wire<'_>) -> Happening {
    let error = || wire.error(agent.fields.error);
    let said = wire.said_to_its_end(agent.fields.answer).or_else(error).unwrap_or_default();
    match final_message::stored(&said) {
        Some(text) => Happening::Answered(Answer { text, ends: Ends::Turn, failed: true }),
        None => Happening::TurnEnded,
    }
}

fn prompted(agent: &Agent, wire: Wire<'_>) -> Happening {
    let source = wire.text("source").unwrap_or_default();
    let text = wire.said("prompt").unwrap_or_default();
    if SYNTHETIC_SOURCES.contains(&source) {
        return Happening::Other;
    }
    let text = guard::looked_at(&text);
    let text = if agent.fields.quotes_prompts { prompt::without_quotes(text) } else { text };
    match prompt::own_words(text) {
        Some(words) => Happening::Prompted(guard::head(&words, limits::PROMPT_CHARS_MAX)),
        None => Happening::Other,
    }
}
