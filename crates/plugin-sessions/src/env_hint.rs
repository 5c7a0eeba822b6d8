//! `set_env_hint`: the commands that prepare a shell for the work of a session.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::OpError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{session_details, session_events};

use crate::set::ContextWrite;
use crate::target::{self, BY_PEOPLE};
use crate::update::checked_hint;

pub(crate) struct SetEnvHint;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetEnvHintParams {
    /// The commands, up to 1,024 characters; empty removes the hint.
    env_hint: String,
    /// The session; yours if left out.
    #[serde(default)]
    session_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SetEnvHintOutput {
    session_id: String,
    /// The hint as stored; empty if there is none.
    env_hint: String,
}

impl Op for SetEnvHint {
    const INFO: OpInfo = OpInfo {
        name: "set_env_hint",
        summary: "Say how to prepare a shell for a session's work",
        doc: "A resumed session gets it with its context. Programs can use `update_session`, too.",
        access: Access::Write { destructive: false, idempotent: true },
        tiers: BY_PEOPLE,
        toolset: "sessions",
        cli: CliShape {
            path: &["context", "env"],
            positional: &["env_hint"],
            rest: true,
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "A file with variables",
            before: &[(
                "set_relevant_context",
                r#"{"setName":"ports","items":["8080"],"session_id":"s-1"}"#,
            )],
            params: r#"{"env_hint":"source .env","session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = SetEnvHintParams;
    type Output = SetEnvHintOutput;

    fn run(&self, cx: &Cx<'_>, params: SetEnvHintParams) -> Result<SetEnvHintOutput, OpError> {
        let env_hint = checked_hint(params.env_hint)?;
        let write = ContextWrite::new(cx, target::known(cx, params.session_id)?.session_id);
        cx.store.write(move |tx| {
            let (session, _) = write.read(tx)?;
            let mut details = session_details::of_session(tx, session.id)?;
            details.env_hint = Some(env_hint.clone()).filter(|hint| !hint.is_empty());
            session_details::put(tx, session.id, &details)?;
            session_events::env_hint_changed(tx, (Some(session.project_id), &session.session_id))?;
            Ok(SetEnvHintOutput { session_id: session.session_id, env_hint: env_hint.clone() })
        })
    }
}

impl Pretty for SetEnvHint {
    fn pretty(params: &SetEnvHintParams, output: &SetEnvHintOutput, _: usize) -> String {
        let session = target::guessed(params.session_id.as_deref(), &output.session_id);
        match output.env_hint.as_str() {
            "" => format!("✔ Removed the environment hint{session}"),
            hint => format!("✔ Environment hint: {}{session}", text::one_line(hint, usize::MAX)),
        }
    }
}
