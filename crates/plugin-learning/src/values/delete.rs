//! `delete_value`: removes a learned value.

use contract::pretty::pretty;
use contract::{Access, CallTarget, CliShape, Cx, Op, OpInfo, Pretty};
use model::value::is_value_name;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::values::{self, LearnedValue};
use store::{Rx, purge};

use super::wire::TOOLSET;

pub(crate) struct DeleteValue;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteValueParams {
    /// As `list_values` names it.
    value_id: String,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeleteValueOutput {
    deleted: bool,
    id: String,
}

/// The value with this id, which may be written as a path.
pub(super) fn named(rx: &Rx<'_>, param: &str, value_id: &str) -> Result<LearnedValue, OpError> {
    let name = value_id.strip_prefix("value://").unwrap_or(value_id);
    if !is_value_name(name) {
        return Err(OpError::invalid(param, format!("`{param}` is not the id of a value"))
            .hint("It looks like value_full_12_0a1b2c3d; `list_values` lists them."));
    }
    let shown = text::one_line(name, limits::PREVIEW_CHARS);
    values::by_name(rx, name)?
        .ok_or_else(|| OpError::not_found(format!("there is no value://{shown}")))
}

impl Op for DeleteValue {
    const INFO: OpInfo = OpInfo {
        name: "delete_value",
        summary: "Delete a learned value",
        doc: "It leaves no trace in the database. The experiences of its cluster stay.",
        access: Access::Write { destructive: true, idempotent: true },
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["value", "delete"],
            positional: &["value_id"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = DeleteValueParams;
    type Output = DeleteValueOutput;

    fn run(&self, cx: &Cx<'_>, params: DeleteValueParams) -> Result<DeleteValueOutput, OpError> {
        CallTarget::of(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let deleted = cx.store.write(move |tx| {
            let value = named(tx, "value_id", &params.value_id)?;
            purge::one(tx, value.id, &mut || values::remove(tx, value.id).map(drop))?;
            Ok(DeleteValueOutput { deleted: true, id: value.name })
        })?;
        cx.store.leave_no_trace()?;
        Ok(deleted)
    }
}

impl Pretty for DeleteValue {
    fn pretty(_: &DeleteValueParams, output: &DeleteValueOutput, _: usize) -> String {
        format!("✔ deleted {}", output.id)
    }
}
