//! `get_active_ghap`: the active ghap of a session in a project, with its history, notes and evidence.

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty, listing};
use model::OpError;
use model::ghap::{Ghap, GhapStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ghaps;

use super::place::{self, TOOLSET, WantedGhap, target_to_read};
use super::start;
use super::view::{self, GhapView};

pub(crate) struct GetActiveGhap;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetActiveGhapParams {
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GetActiveGhapOutput {
    has_active: bool,
    /// Left out if the call names none and none is recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    session_id: String,
    #[serde(flatten)]
    ghap: Option<GhapView>,
    /// The tier that the last run gives to a resolution: `confirmed would be gold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
    /// The active ghaps of other sessions of the project, the newest first, if the call names no session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<OtherGhap>,
    /// When this was answered, RFC 3339: ages count from here.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    answered_at: i64,
}

/// An active ghap of another session.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OtherGhap {
    id: String,
    /// Empty if the session was deleted.
    session_id: String,
    goal: String,
}

impl Op for GetActiveGhap {
    const INFO: OpInfo = OpInfo {
        name: "get_active_ghap",
        summary: "Show the active ghap with its history, notes and evidence",
        doc: "Call it when you continue work, and before you resolve it.",
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["ghap"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The hypothesis of a session",
            before: &[("start_ghap", start::EXAMPLE)],
            params: r#"{"session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = GetActiveGhapParams;
    type Output = GetActiveGhapOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: GetActiveGhapParams,
    ) -> Result<GetActiveGhapOutput, OpError> {
        let names_session = params.session_id.is_some() || cx.caller.session.is_some();
        let target = target_to_read(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let (ghap, mut others) = cx.store.read(|rx| {
            // An agent continues its own ghap; a person asks for what goes on in the project.
            let others = match names_session || cx.caller.client.is_some() {
                true => Vec::new(),
                false => place::active_here(&target, rx)?,
            };
            Ok((place::active(&target, rx)?, others))
        })?;
        others.retain(|other| ghap.as_ref().is_none_or(|ghap| ghap.id != other.id));
        let other =
            |ghap: Ghap| OtherGhap { id: ghap.name, session_id: ghap.session_id, goal: ghap.goal };
        // A client without a session would get a new one, which nothing has recorded yet.
        let session = target.session_name().filter(|_| names_session || target.session().is_some());
        Ok(GetActiveGhapOutput {
            others: others.into_iter().map(other).collect(),
            has_active: ghap.is_some(),
            session_id: session.unwrap_or_default().to_owned(),
            proof: ghap.as_ref().and_then(|ghap| view::proof(ghap, cx.now)),
            ghap: ghap.map(GhapView::of),
            answered_at: cx.now.div_euclid(1_000),
        })
    }
}

impl Pretty for GetActiveGhap {
    fn pretty(params: &GetActiveGhapParams, output: &GetActiveGhapOutput, width: usize) -> String {
        let now = output.answered_at.saturating_mul(1_000);
        let session = text::one_line(&output.session_id, usize::MAX);
        let shown = match &output.ghap {
            Some(ghap) => {
                let shown = ghap.shown(now, output.proof.as_deref(), width);
                match params.session_id {
                    Some(_) => shown,
                    None => format!("{shown}\n  Session     {session}"),
                }
            }
            None if !output.others.is_empty() => {
                format!("No active ghap of session {session}.")
            }
            None => {
                "No active ghap. `rekindle ghap start --help` says how to state one.".to_owned()
            }
        };
        if output.others.is_empty() {
            return shown;
        }
        let row = |one: &OtherGhap| {
            vec![one.id.clone(), one.session_id.clone(), listing::line(&one.goal)]
        };
        let headings = ["id", "session", "goal"];
        let table = listing::table(&headings, output.others.iter().map(row), &[], width);
        format!("{shown}\n\nOther sessions of this project have:\n{table}")
    }
}

pub(crate) struct GetGhap;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetGhapParams {
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
pub(crate) struct GetGhapOutput {
    ghap: GhapView,
    /// The tier that the last run gives to a resolution, if it is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
    /// When this was answered, RFC 3339: ages count from here.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    answered_at: i64,
}

impl Op for GetGhap {
    const INFO: OpInfo = OpInfo {
        name: "get_ghap",
        summary: "Show a ghap with its history, notes, evidence and resolution",
        doc: "`ghap_id` is an id as `list_ghap_entries` lists it, or `active`.",
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["ghap", "show"],
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
        ..OpInfo::BASE
    };
    type Params = GetGhapParams;
    type Output = GetGhapOutput;

    fn run(&self, cx: &Cx<'_>, params: GetGhapParams) -> Result<GetGhapOutput, OpError> {
        let session = params.session_id.as_deref().or(cx.caller.session.as_deref());
        let session = session.map(str::to_owned);
        let wanted = WantedGhap::of(cx, params.ghap_id, (params.session_id, params.cwd))?;
        let ghap = cx.store.read(|rx| wanted.find(rx))?;
        cx.note_read(session.as_deref(), &format!("{}://{}", ghaps::SCHEME, ghap.name));
        let proof =
            (ghap.status == GhapStatus::Hypothesis).then(|| view::proof(&ghap, cx.now)).flatten();
        let answered_at = cx.now.div_euclid(1_000);
        Ok(GetGhapOutput { ghap: GhapView::of(ghap), proof, answered_at })
    }
}

impl Pretty for GetGhap {
    fn pretty(_: &GetGhapParams, output: &GetGhapOutput, width: usize) -> String {
        let now = output.answered_at.saturating_mul(1_000);
        output.ghap.shown_whole(now, output.proof.as_deref(), width)
    }
}
