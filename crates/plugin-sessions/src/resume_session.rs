//! `resume_session`: the block that a session begins with if it is resumed, and the command that resumes it.

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::OpError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::list::A_SESSION;
use crate::target::{self, BY_PEOPLE};

pub(crate) struct ResumeSession;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeSessionParams {
    /// The agent's own id; on the command line its first characters will do.
    session_id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResumeSessionOutput {
    session_id: String,
    /// The block, without the briefing that follows it.
    text: String,
    /// The agent's command that resumes the session, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

impl Op for ResumeSession {
    const INFO: OpInfo = OpInfo {
        name: "resume_session",
        summary: "Show how to resume a session, and the block it begins with then",
        doc: "Nothing is started or recorded. The command belongs to the agent of the session.",
        tiers: BY_PEOPLE,
        toolset: "sessions",
        cli: CliShape {
            path: &["sessions", "resume"],
            positional: &["session_id"],
            pretty: Some(pretty::<Self>),
            verbatim: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "A session by its id",
            before: A_SESSION,
            params: r#"{"session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ResumeSessionParams;
    type Output = ResumeSessionOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: ResumeSessionParams,
    ) -> Result<ResumeSessionOutput, OpError> {
        let form = cx.caller.session_id_form();
        let session = cx.store.read(|rx| target::find(rx, &params.session_id, form))?;
        let shown = cx.call("resume_text", json!({ "session_id": session.session_id }))?;
        let text = shown["text"].as_str().unwrap_or_default().to_owned();
        let agent = agents::agent(&session.agent);
        let command = agent.and_then(|agent| agent.resume_command(&session.session_id));
        Ok(ResumeSessionOutput { session_id: session.session_id, text, command })
    }
}

impl Pretty for ResumeSession {
    fn pretty(_: &ResumeSessionParams, output: &ResumeSessionOutput, _: usize) -> String {
        let command = output.command.iter().map(|command| format!("\n\nResume it with: {command}"));
        std::iter::once(output.text.clone()).chain(command).collect()
    }
}
