//! `get_hint`: the best fact under a component and a key that holds here, with the reasons.

use std::sync::Arc;

use contract::{CliShape, Cx, Example, Op, OpInfo};
use model::OpError;
use model::hint::{Hint, HintName};
use model::situation::Situation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::choose::{misses, not_found};
use crate::gate::Place;
use crate::held::{MatchExplain, best_eligible};
use crate::memory::Memory;
use crate::show;

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
    context: Option<Situation>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct GetHintOutput {
    /// `null` if there are hints of this name and none of them holds here.
    hint: Option<Hint>,
    match_explain: MatchExplain,
}

impl Op for GetHint {
    const INFO: OpInfo = OpInfo {
        name: "get_hint",
        summary: "Fetch the fact under a component and a key",
        doc: "Call it before you build, test or run a component: it has the exact command, folder or \
              toggle that was learned earlier, if it holds where you stand.",
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

    fn run(&self, cx: &Cx<'_>, params: GetHintParams) -> Result<GetHintOutput, OpError> {
        let name = HintName::new(params.component, params.key)?;
        let place = Place::new(params.context.as_ref(), &cx.caller.situation)?;
        let index = self.memory.read();
        let variants = || index.variants(&name.component, &name.key, cx.now);
        if let Some(best) = best_eligible(variants(), &place, cx.now) {
            let match_explain = best.held.explain(&place, best.score, cx.now);
            return Ok(GetHintOutput { hint: Some(best.held.shown()), match_explain });
        }
        let reasons = misses(variants(), &place);
        if reasons.is_empty() {
            return Err(not_found(&name));
        }
        let match_explain = MatchExplain { matched: false, score: 0.0, reasons };
        Ok(GetHintOutput { hint: None, match_explain })
    }
}

fn pretty(params: &Value, result: &Value) -> String {
    let explain = &result["match_explain"];
    let mut lines = Vec::new();
    if result["hint"].is_null() {
        lines.push(format!("no hint {} holds here", show::name(params)));
    } else {
        lines.push(format!("value: {}", show::value(&result["hint"])));
    }
    lines.push("match:".to_owned());
    lines.extend(show::explain(explain));
    lines.join("\n")
}
