//! `ping`: says that the server answers.

use contract::{CallTarget, Cx, Example, Op, OpInfo};
use model::OpError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::TOOLSET;

pub(crate) struct Ping;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PingParams {
    /// Accepted, as by every tool of learning; it changes nothing.
    #[serde(default)]
    session_id: Option<String>,
    /// Accepted; it changes nothing.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PingOutput {
    status: String,
    server: String,
    version: String,
}

impl Op for Ping {
    const INFO: OpInfo = OpInfo {
        name: "ping",
        summary: "Check that the server answers",
        doc: "It also returns the version.",
        toolset: TOOLSET,
        typed_errors: true,
        examples: &[Example { title: "Is it there?", before: &[], params: "{}" }],
        ..OpInfo::BASE
    };
    type Params = PingParams;
    type Output = PingOutput;

    fn run(&self, cx: &Cx<'_>, params: PingParams) -> Result<PingOutput, OpError> {
        CallTarget::of(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        Ok(PingOutput {
            status: "healthy".to_owned(),
            server: "rekindle".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}
