//! `delete_ghap`: removes a ghap, active or resolved.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::OpError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ghaps, purge};

use super::place::{TOOLSET, WantedGhap};
use super::start;

pub(crate) struct DeleteGhap;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteGhapParams {
    /// As `list_ghap_entries` names it; `active` for the active one of the session.
    ghap_id: String,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeleteGhapOutput {
    deleted: bool,
    id: String,
}

impl Op for DeleteGhap {
    const INFO: OpInfo = OpInfo {
        name: "delete_ghap",
        summary: "Delete a ghap and its experience",
        doc: "It leaves no trace in the database. To keep the experience, resolve it instead.",
        access: Access::Write { destructive: true, idempotent: true },
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["ghap", "delete"],
            positional: &["ghap_id"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The active one",
            before: &[("start_ghap", start::EXAMPLE)],
            params: r#"{"ghap_id":"active","session_id":"s-1"}"#,
        }],
        deadline: model::limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = DeleteGhapParams;
    type Output = DeleteGhapOutput;

    fn run(&self, cx: &Cx<'_>, params: DeleteGhapParams) -> Result<DeleteGhapOutput, OpError> {
        let wanted = WantedGhap::of(cx, params.ghap_id, (params.session_id, params.cwd))?;
        let deleted = cx.store.write(move |tx| {
            let ghap = wanted.find(tx)?;
            purge::one(tx, ghap.id, &mut || ghaps::remove(tx, ghap.id).map(drop))?;
            Ok(DeleteGhapOutput { deleted: true, id: ghap.name })
        })?;
        cx.store.leave_no_trace()?;
        Ok(deleted)
    }
}

impl Pretty for DeleteGhap {
    fn pretty(_: &DeleteGhapParams, output: &DeleteGhapOutput, _: usize) -> String {
        format!("✔ deleted {}", output.id)
    }
}
