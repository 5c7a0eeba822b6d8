//! `get_session`: one session with its name, hint and context.

use contract::{Cx, Example, Op, OpInfo, RestMethod, RestRoute};
use model::context::ContextSets;
use model::session::{Session, SessionState};
use model::{OpError, limits, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::session_details::{self, SessionDetails};
use store::{Rx, context, prompts};

use crate::target;

pub(crate) struct GetSession;

/// The path of a session.
pub(crate) const REST_PATH: &str = "/api/sessions/{session_id}";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetSessionParams {
    /// The agent's own id, or its first characters.
    session_id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetSessionOutput {
    session_id: String,
    /// Top directory of the project where it was first seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    project: String,
    agent: String,
    state: SessionState,
    meta: SessionMeta,
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
        rest: &[RestRoute::new(RestMethod::Get, REST_PATH)],
        examples: &[Example {
            title: "A session with a port",
            before: &[(
                "set_relevant_context",
                r#"{"setName":"ports","items":["8080"],"session_id":"s-1"}"#,
            )],
            params: r#"{"session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = GetSessionParams;
    type Output = GetSessionOutput;

    fn run(&self, cx: &Cx<'_>, params: GetSessionParams) -> Result<GetSessionOutput, OpError> {
        cx.store.read(|rx| {
            let session = target::find(rx, &params.session_id)?;
            described(rx, session)
        })
    }
}

fn described(rx: &Rx<'_>, session: Session) -> Result<GetSessionOutput, OpError> {
    let details = session_details::of_session(rx, session.id)?;
    let is_unobserved = details.is_unobserved();
    let SessionDetails { label, env_hint, idle_at, observed_at } = details;
    let last = prompts::last(rx, session.id)?;
    let intent = last.map(|said| text::one_line(&said.content, limits::PREVIEW_CHARS));
    Ok(GetSessionOutput {
        meta: SessionMeta {
            name: label.unwrap_or_default(),
            context: context::of_session(rx, session.id)?,
            env_hint,
            current_intent: intent,
            last_idle_at: idle_at.map(time::rfc3339),
            last_observed_at: observed_at.map(time::rfc3339),
            is_unobserved,
        },
        session_id: session.session_id,
        cwd: session.root,
        project: session.project,
        agent: session.agent,
        state: session.state,
    })
}
