//! `resume_text`: the block that a session would get if it were resumed now.

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty, not_recorded};
use model::OpError;
use model::hook::BLOCK_END;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use place::NotCaptured;

use crate::target;
use crate::target::BY_PEOPLE;

pub(crate) struct ResumeText;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeTextParams {
    /// The session; yours if left out.
    #[serde(default)]
    session_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResumeTextOutput {
    session_id: String,
    /// The block, without the briefing that follows it.
    text: String,
}

impl Op for ResumeText {
    const INFO: OpInfo = OpInfo {
        name: "resume_text",
        summary: "Show the block that a resumed session begins with",
        doc: "Nothing is recorded. `briefing` with `for` = `resume` shows the block and the text that follows it.",
        tiers: BY_PEOPLE,
        toolset: "sessions",
        cli: CliShape {
            path: &["context", "resume"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            verbatim: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "A session with a port",
            before: &[
                (
                    "hook",
                    r#"{"event":"SessionStart","at":1767261600000,"payload":{"session_id":"s-1","cwd":"/home/you/web","source":"startup"}}"#,
                ),
                (
                    "set_relevant_context",
                    r#"{"setName":"ports","items":["8080"],"session_id":"s-1"}"#,
                ),
            ],
            params: r#"{"session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ResumeTextParams;
    type Output = ResumeTextOutput;

    fn run(&self, cx: &Cx<'_>, params: ResumeTextParams) -> Result<ResumeTextOutput, OpError> {
        let session_id = target::known(cx, params.session_id)?.session_id;
        let asked = json!({ "for": "resume", "session_id": session_id });
        let told = cx.call("briefing", asked)?;
        let text = told["text"].as_str().unwrap_or_default();
        if let Ok(why) = serde_json::from_value::<NotCaptured>(told["not_captured"].clone()) {
            return Err(not_recorded(why));
        }
        // No other line is just dashes: items follow the name of their set.
        let end = text.lines().position(|line| line == BLOCK_END);
        let block: Vec<&str> = text.lines().take(end.map_or(usize::MAX, |end| end + 1)).collect();
        Ok(ResumeTextOutput { session_id, text: block.join("\n") })
    }
}

impl Pretty for ResumeText {
    fn pretty(_: &ResumeTextParams, output: &ResumeTextOutput, _: usize) -> String {
        output.text.clone()
    }
}
