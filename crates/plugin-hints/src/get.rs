//! `get_hint`: the best fact under a component and a key that applies here, with the reasons.

use std::sync::Arc;

use contract::pretty::{miss, pretty};
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty, RestMethod, RestRoute};
use model::OpError;
use model::hint::{Hint, HintName};
use model::situation::Situation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::choose::{misses, not_found};
use crate::flags;
use crate::gate::HintSituation;
use crate::held::{MatchExplain, best_eligible};
use crate::memory::Memory;
use crate::render::render;
use crate::show;

pub(crate) struct GetHint {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetHintParams {
    /// For example `http-proxy`.
    component: String,
    /// For example `build`.
    key: String,
    /// Your situation, if it is not this one.
    #[serde(default, deserialize_with = "model::object::optional")]
    context: Option<Situation>,
    /// The values of a template's names.
    #[serde(default)]
    render: Option<Map<String, Value>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct GetHintOutput {
    /// `null` if there are hints of this name and none applies here.
    hint: Option<Hint>,
    /// The template with the values of `render` in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<String>,
    match_explain: MatchExplain,
}

impl Op for GetHint {
    const INFO: OpInfo = OpInfo {
        name: "get_hint",
        summary: "Fetch the fact under a component and a key",
        doc: "Call it before you build, test or run a component, for the command, folder or toggle learned earlier.",
        toolset: "hints",
        brief: None,
        core: true,
        advanced: &["context", "render"],
        upfront: true,
        aliases: &["nudge.get_hint", "nudge_get_hint"],
        cli: CliShape {
            path: &["hint", "get"],
            positional: &["component", "key"],
            flatten: &[flags::CONTEXT],
            pretty: Some(pretty::<Self>),
            verbatim: true,
            miss: Some(miss::<Self>),
            miss_is_result: true,
            starts_daemon: true,
            ..CliShape::CALL_ONLY
        },
        rest: &[RestRoute::new(RestMethod::Get, flags::REST_PATH).query(flags::REST_CONTEXT)],
        examples: &[
            Example {
                title: "How is the proxy built?",
                before: &[(
                    "set_hint",
                    r#"{"component":"http-proxy","key":"build","value":"docker compose build router"}"#,
                )],
                params: r#"{"component":"http-proxy","key":"build"}"#,
            },
            Example {
                title: "A template with its values",
                before: &[(
                    "set_hint",
                    r#"{"component":"api","key":"log","value":{"type":"template","format":"interpolate","body":"kubectl logs ${pod} -n ${space}","defaults":{"space":"dev"}}}"#,
                )],
                params: r#"{"component":"api","key":"log","render":{"pod":"api-0"}}"#,
            },
        ],
        inline: true,
        ..OpInfo::BASE
    };
    type Params = GetHintParams;
    type Output = GetHintOutput;

    fn run(&self, cx: &Cx<'_>, params: GetHintParams) -> Result<GetHintOutput, OpError> {
        let name = HintName::new(params.component, params.key)?;
        let place = HintSituation::new(params.context.as_ref(), &cx.caller.situation)?;
        let index = self.memory.read();
        let variants = || index.variants(&name.component, &name.key, cx.now);
        if let Some(best) = best_eligible(variants(), &place, cx.now) {
            let match_explain = best.held.explain(&place, best.score, cx.now);
            let hint = best.held.shown();
            // Release the lock before rendering, so that writers do not wait for a template.
            drop(index);
            let rendered = params.render.map(|values| render(&hint.value, &values)).transpose()?;
            return Ok(GetHintOutput { hint: Some(hint), rendered, match_explain });
        }
        let reasons = misses(variants(), &place);
        if reasons.is_empty() {
            return Err(not_found(&name));
        }
        let match_explain = MatchExplain { matched: false, score: 0.0, reasons };
        Ok(GetHintOutput { hint: None, rendered: None, match_explain })
    }
}

impl Pretty for GetHint {
    fn pretty(_: &GetHintParams, output: &GetHintOutput, _: usize) -> String {
        let mut lines = Vec::new();
        if let Some(hint) = &output.hint {
            lines.push(show::labelled("value", &show::value(hint)));
            if hint.meta.is_secret() {
                lines.push("note: the value is masked; --json prints it".to_owned());
            }
            let rendered = output.rendered.as_ref();
            let rendered = rendered.map(|text| show::rendered(text, hint));
            lines.extend(rendered.map(|text| show::labelled("rendered", &text)));
        }
        lines.push("match:".to_owned());
        lines.extend(show::explain(&output.match_explain));
        lines.join("\n")
    }

    /// The error for a result without a hint: the hints of this name do not apply here.
    fn miss(params: &GetHintParams, output: &GetHintOutput) -> Option<OpError> {
        if output.hint.is_some() {
            return None;
        }
        let GetHintParams { component, key, .. } = params;
        let reasons = output.match_explain.reasons.join("; ");
        let message = format!("no hint {component}/{key} applies here: {reasons}");
        Some(OpError::not_found(message).hint(
            "Give your situation with --cwd, --repo, --branch, --os or --env, or set a hint that applies here.",
        ))
    }
}
