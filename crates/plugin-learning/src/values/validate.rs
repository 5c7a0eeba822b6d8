//! `validate_value`: whether a rule fits the cluster that it was drawn from.

use contract::pretty::pretty;
use contract::{Access, CallTarget, CliShape, Cx, Op, OpInfo, Pretty};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verdict::ValueVerdict;
use super::wire::{TOOLSET, rounded};

pub(crate) struct ValidateValue;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValidateValueParams {
    /// The rule in one sentence, at most 500 characters.
    text: String,
    /// As `get_clusters` names it.
    cluster_id: String,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ValidateValueOutput {
    valid: bool,
    cluster_id: String,
    /// To the lessons of the cluster.
    similarity: f64,
    /// The least similarity of a valid value.
    threshold: f64,
    reason: String,
}

impl Op for ValidateValue {
    const INFO: OpInfo = OpInfo {
        name: "validate_value",
        summary: "Check whether a rule fits its cluster of experiences",
        doc: "It is valid if it is nearer to the lessons of this cluster than to those of any other, and similar enough.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["value", "check"],
            positional: &["cluster_id", "text"],
            rest: true,
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = ValidateValueParams;
    type Output = ValidateValueOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: ValidateValueParams,
    ) -> Result<ValidateValueOutput, OpError> {
        CallTarget::to_read(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let verdict = ValueVerdict::of(cx, &params.text, &params.cluster_id)?;
        Ok(ValidateValueOutput {
            valid: verdict.is_valid,
            cluster_id: verdict.cluster_id(),
            similarity: rounded(verdict.similarity),
            threshold: limits::VALUE_SIMILARITY_MIN,
            reason: verdict.reason,
        })
    }
}

impl Pretty for ValidateValue {
    fn pretty(_: &ValidateValueParams, output: &ValidateValueOutput, _: usize) -> String {
        let mark = if output.valid { "✔ valid for" } else { "✘ not valid for" };
        format!("{mark} {}: {}", output.cluster_id, output.reason)
    }
}
