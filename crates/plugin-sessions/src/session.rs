//! `get_session`: one session with its name, hint and context.

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty, RestMethod, RestRoute, listing};
use model::context::ContextSets;
use model::session::{Session, SessionState};
use model::{OpError, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::session_details::SessionDetails;
use store::{Rx, context};

use crate::list::A_SESSION;
use crate::rows::SessionRow;
use crate::target;

pub(crate) struct GetSession;

/// The path of a session.
pub(crate) const REST_PATH: &str = "/api/sessions/{session_id}";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetSessionParams {
    /// The agent's own id; on the command line its first characters will do.
    session_id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetSessionOutput {
    session_id: String,
    /// The directory of its last start; null if none is known.
    #[serde(default)]
    cwd: Option<String>,
    project: String,
    agent: String,
    state: SessionState,
    meta: SessionMeta,
    /// When this was answered, RFC 3339: ages count from here.
    #[serde(default, with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    answered_at: i64,
}

/// The declared facts about a session.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionMeta {
    /// The user's name for it; empty if it has none.
    name: String,
    context: ContextSets,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    env_hint: Option<String>,
    /// The user's last prompt, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    current_intent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// The session that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    /// Times are RFC 3339.
    started_at: String,
    /// Its last event.
    updated_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_idle_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_observed_at: Option<String>,
    /// Whether it became idle after it was last seen.
    is_unobserved: bool,
}

impl Op for GetSession {
    const INFO: OpInfo = OpInfo {
        name: "get_session",
        summary: "Show one session with its name and context",
        doc: "Its directory, project, agent and state, and what was declared about it.",
        toolset: "sessions",
        cli: CliShape {
            path: &["sessions", "show"],
            positional: &["session_id"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        rest: &[RestRoute::new(RestMethod::Get, REST_PATH)],
        examples: &[Example {
            title: "A session by its id",
            before: A_SESSION,
            params: r#"{"session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = GetSessionParams;
    type Output = GetSessionOutput;

    fn run(&self, cx: &Cx<'_>, params: GetSessionParams) -> Result<GetSessionOutput, OpError> {
        cx.store.read(|rx| {
            let session = target::find(rx, &params.session_id, cx.caller.session_id_form())?;
            described(rx, session, cx.now)
        })
    }
}

fn described(rx: &Rx<'_>, session: Session, now: i64) -> Result<GetSessionOutput, OpError> {
    let row = SessionRow::read(rx, session)?;
    let (cwd, current_intent) = (row.cwd().map(str::to_owned), row.last_prompt(rx)?);
    let (parent, context) = (row.parent(rx)?, context::of_session(rx, row.session.id)?);
    let SessionRow { session, details, start, .. } = row;
    let is_unobserved = details.is_unobserved();
    let SessionDetails { label, env_hint, idle_at, observed_at } = details;
    Ok(GetSessionOutput {
        meta: SessionMeta {
            name: label.unwrap_or_default(),
            context,
            env_hint,
            current_intent,
            model: start.model,
            parent,
            started_at: time::rfc3339(session.started_at),
            updated_at: time::rfc3339(session.last_at),
            ended_at: session.ended_at.map(time::rfc3339),
            last_idle_at: idle_at.map(time::rfc3339),
            last_observed_at: observed_at.map(time::rfc3339),
            is_unobserved,
        },
        session_id: session.session_id,
        cwd,
        project: session.project,
        agent: session.agent,
        state: session.state,
        answered_at: now.div_euclid(1000),
    })
}

impl Pretty for GetSession {
    fn pretty(_: &GetSessionParams, output: &GetSessionOutput, _: usize) -> String {
        let GetSessionOutput { session_id, cwd, project, agent, state, meta, answered_at } = output;
        let local = |at: &String| {
            let now = answered_at.saturating_mul(1000);
            time::parse_rfc3339(at).map_or_else(|| at.clone(), |at| zone::shown_with_age(at, now))
        };
        let (started, updated) = (local(&meta.started_at), local(&meta.updated_at));
        let ended = meta.ended_at.as_ref().map(local);

        let unobserved = if meta.is_unobserved { ", not seen since its last turn" } else { "" };
        let state = format!("{}{unobserved}", state.word());
        let name = Some(&meta.name).filter(|name| !name.is_empty());
        let facts = [
            ("session", Some(session_id)),
            ("name", name),
            ("prompt", meta.current_intent.as_ref()),
            ("directory", cwd.as_ref()),
            ("environment", meta.env_hint.as_ref()),
            ("project", Some(project)),
            ("agent", Some(agent)),
            ("model", meta.model.as_ref()),
            ("forked from", meta.parent.as_ref()),
            ("state", Some(&state)),
            ("started", Some(&started)),
            ("ended", ended.as_ref()),
            ("last event", Some(&updated)),
        ];
        let facts = facts.into_iter().filter_map(|(name, fact)| Some((name, fact?)));
        let mut lines: Vec<String> =
            facts.map(|(name, fact)| format!("{name}: {}", listing::line(fact))).collect();
        for (name, items) in meta.context.iter() {
            lines.push(format!("{}:", listing::line(name)));
            lines.extend(items.iter().map(|item| format!("  {}", listing::line(item))));
        }
        lines.join("\n")
    }
}
