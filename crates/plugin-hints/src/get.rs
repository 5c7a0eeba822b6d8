//! `get_hint`: the fact under a component and a key, with the reason why it matched.

use std::sync::Arc;

use contract::{CliShape, Cx, Example, Op, OpInfo};
use model::OpError;
use model::hint::{Hint, HintName};
use model::situation::Situation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::{Memory, shown};

pub(crate) struct GetHint {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetHintParams {
    /// Service, module or folder, for example `http-proxy`.
    component: String,
    /// What the fact is about, for example `build`.
    key: String,
    /// Where you stand; what is left out is filled in by the surface.
    #[serde(default)]
    #[allow(
        dead_code,
        reason = "accepted from the start; no hint has a scope yet that asks for it"
    )]
    context: Option<Situation>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct GetHintOutput {
    hint: Hint,
    match_explain: MatchExplain,
}

/// Why a hint matched.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MatchExplain {
    matched: bool,
    /// From 0 to 1.
    score: f64,
    reasons: Vec<String>,
}

impl Op for GetHint {
    const INFO: OpInfo = OpInfo {
        name: "get_hint",
        summary: "Fetch the fact under a component and a key",
        doc: "Call it before you build, test or run a component: it has the exact command, folder or \
              toggle that was learned earlier.",
        toolset: "hints",
        core: true,
        aliases: &["nudge.get_hint", "nudge_get_hint"],
        cli: CliShape {
            path: &["hint", "get"],
            positional: &["component", "key"],
            flatten: None,
            pretty: Some(pretty),
            starts_daemon: true,
        },
        examples: &[Example {
            title: "How is the proxy built?",
            before: &[(
                "set_hint",
                r#"{"component":"http-proxy","key":"build","value":"docker compose build router"}"#,
            )],
            params: r#"{"component":"http-proxy","key":"build"}"#,
        }],
        inline: true,
        ..OpInfo::BASE
    };
    type Params = GetHintParams;
    type Output = GetHintOutput;

    fn run(&self, _: &Cx<'_>, params: GetHintParams) -> Result<GetHintOutput, OpError> {
        let name = HintName::new(params.component, params.key)?;
        let hint = self.memory.get(&name).ok_or_else(|| not_found(&name))?;
        Ok(GetHintOutput {
            hint: shown(hint),
            match_explain: MatchExplain {
                matched: true,
                score: 1.0,
                reasons: vec!["no scope restrictions".to_owned()],
            },
        })
    }
}

pub(crate) fn not_found(name: &HintName) -> OpError {
    OpError::not_found(format!("no hint {}/{}", name.component, name.key))
        .hint("`rekindle hint set COMPONENT KEY VALUE` stores one.")
}

fn pretty(_: &Value, result: &Value) -> String {
    let value = match &result["hint"]["value"] {
        Value::String(text) => text.clone(),
        object => object["cmd"].as_str().map_or_else(|| object.to_string(), str::to_owned),
    };
    let mut lines = vec![
        format!("value: {value}"),
        "match:".to_owned(),
        format!("  score: {}", result["match_explain"]["score"]),
        "  reasons:".to_owned(),
    ];
    let reasons = result["match_explain"]["reasons"].as_array().into_iter().flatten();
    lines.extend(reasons.filter_map(Value::as_str).map(|reason| format!("    - {reason}")));
    lines.join("\n")
}
