//! `get_orphaned_ghap`, `adopt_orphaned_ghap` and `abandon_orphaned_ghap`: active ghaps whose session is gone.

use contract::pretty::pretty;
use contract::{Access, CallTarget, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::event::Event;
use model::ghap::{Ghap, Resolution};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Rx, Tx, check_ins, ghaps, receipts};

use super::place::{TOOLSET, WritePlace, named, target};
use super::resolve;
use super::start::{self, active_exists};
use crate::declared::refuse_secrets;

/// The call before the first example: it starts a ghap of session `s-1`.
const BEFORE: &[(&str, &str)] = &[("start_ghap", start::EXAMPLE)];

/// The newest orphan of a project, or the ghap with this id if it is one.
fn orphan(
    rx: &Rx<'_>,
    (project, session): (Option<i64>, Option<i64>),
    ghap_id: Option<&str>,
    now: i64,
) -> Result<Option<Ghap>, OpError> {
    let quiet_since = now.saturating_sub(limits::GHAP_ORPHAN_MS);
    let project = match ghap_id {
        Some(id) => Some(named(rx, id)?.project),
        None => project,
    };
    let Some(project) = project else { return Ok(None) };
    let orphans = ghaps::orphans(rx, project, session, quiet_since)?;
    let wanted = ghap_id.map(|id| id.strip_prefix("ghap://").unwrap_or(id));
    Ok(orphans.into_iter().find(|one| wanted.is_none_or(|wanted| one.name == wanted)))
}

/// The place of a call, and the orphan that the call adopts or abandons. The text about the orphan at the session's
/// start counts as used.
fn taken(
    tx: &Tx<'_>,
    target: &CallTarget,
    ghap_id: Option<&str>,
    now: i64,
) -> Result<(WritePlace, Ghap), OpError> {
    let place = WritePlace::of(target, tx)?;
    let ghap = orphan(tx, (Some(place.project), Some(place.session)), ghap_id, now)?;
    let ghap = ghap.ok_or_else(|| no_orphan(ghap_id))?;
    receipts::mark_used(tx, place.session, &format!("{}://{}", ghaps::SCHEME, ghap.name))?;
    Ok((place, ghap))
}

fn no_orphan(ghap_id: Option<&str>) -> OpError {
    let message = match ghap_id {
        Some(_) => "the ghap is no orphan: it is resolved, or its session is active",
        None => "this project has no orphaned ghap",
    };
    OpError::not_found(message).hint("`rekindle ghap list --outcome hypothesis` lists active ones.")
}

pub(crate) struct GetOrphanedGhap;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetOrphanParams {
    /// Your session; its active ghap is never an orphan. The caller's if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GetOrphanOutput {
    has_orphan: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The session that left it; absent if that was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hypothesis: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prediction: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
}

impl Op for GetOrphanedGhap {
    const INFO: OpInfo = OpInfo {
        name: "get_orphaned_ghap",
        summary: "Find the newest active ghap of this project whose session is gone",
        doc: "adopt_orphaned_ghap continues it, abandon_orphaned_ghap ends it.",
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape::CALL_ONLY,
        examples: &[Example {
            title: "The session is still there",
            before: BEFORE,
            params: r#"{"session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = GetOrphanParams;
    type Output = GetOrphanOutput;

    fn run(&self, cx: &Cx<'_>, params: GetOrphanParams) -> Result<GetOrphanOutput, OpError> {
        let target = CallTarget::to_read(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let session = target.session().map(|session| session.id);
        let found = cx.store.read(|rx| orphan(rx, (target.project(rx)?, session), None, cx.now))?;
        let has_orphan = found.is_some();
        let Some(ghap) = found else {
            return Ok(GetOrphanOutput {
                has_orphan,
                id: None,
                session_id: None,
                goal: None,
                hypothesis: None,
                action: None,
                prediction: None,
                created_at: None,
            });
        };
        Ok(GetOrphanOutput {
            has_orphan,
            id: Some(ghap.name),
            session_id: Some(ghap.session_id).filter(|id| !id.is_empty()),
            goal: Some(ghap.goal),
            hypothesis: Some(ghap.hypothesis),
            action: Some(ghap.action),
            prediction: Some(ghap.prediction),
            created_at: Some(model::time::rfc3339(ghap.started_at)),
        })
    }
}

pub(crate) struct AdoptOrphanedGhap;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdoptOrphanParams {
    /// The newest orphan of the project if left out.
    #[serde(default)]
    ghap_id: Option<String>,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AdoptOrphanOutput {
    ok: bool,
    id: String,
    session_id: String,
}

impl Op for AdoptOrphanedGhap {
    const INFO: OpInfo = OpInfo {
        name: "adopt_orphaned_ghap",
        summary: "Continue the active ghap of a session that is gone",
        doc: "Earlier runs no longer count as its evidence.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["ghap", "adopt"],
            positional: &["ghap_id"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The ghap of a deleted session",
            before: &[
                ("start_ghap", start::EXAMPLE),
                ("start_session", r#"{"session_id":"s-2"}"#),
                ("delete_session", r#"{"session_id":"s-1","confirm":true}"#),
            ],
            params: r#"{"session_id":"s-2"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = AdoptOrphanParams;
    type Output = AdoptOrphanOutput;

    fn run(&self, cx: &Cx<'_>, params: AdoptOrphanParams) -> Result<AdoptOrphanOutput, OpError> {
        let AdoptOrphanParams { ghap_id, session_id, cwd } = params;
        let (target, now) = (target(cx, session_id.as_deref(), cwd.as_deref())?, cx.now);
        cx.store.write(move |tx| {
            let (place, ghap) = taken(tx, &target, ghap_id.as_deref(), now)?;
            if let Some(active) = ghaps::active(tx, place.session, ghap.project)? {
                return Err(active_exists(&active.name));
            }
            ghaps::adopt(tx, &ghap, place.session, now)?;
            check_ins::begin(tx, place.session, ghap.project)?;
            let subject = format!("{}://{}", ghaps::SCHEME, ghap.name);
            tx.note(Event {
                reason: Some("adopted"),
                project: Some(ghap.project),
                ..Event::new("ghap/updated", subject)
            })?;
            Ok(AdoptOrphanOutput { ok: true, id: ghap.name, session_id: place.session_id })
        })
    }
}

impl Pretty for AdoptOrphanedGhap {
    fn pretty(_: &AdoptOrphanParams, output: &AdoptOrphanOutput, _: usize) -> String {
        let session = contract::listing::line(&output.session_id);
        format!("✔ session {session} continues {}", output.id)
    }
}

pub(crate) struct AbandonOrphanedGhap;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AbandonOrphanParams {
    /// Why it is given up.
    reason: String,
    /// The newest orphan of the project if left out.
    #[serde(default)]
    ghap_id: Option<String>,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AbandonOrphanOutput {
    ok: bool,
    id: String,
}

impl Op for AbandonOrphanedGhap {
    const INFO: OpInfo = OpInfo {
        name: "abandon_orphaned_ghap",
        summary: "End the active ghap of a session that is gone",
        doc: "It becomes an abandoned experience of its own session, with the reason as its result.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["ghap", "abandon"],
            positional: &["ghap_id"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The ghap of a deleted session",
            before: &[
                ("start_ghap", start::EXAMPLE),
                ("start_session", r#"{"session_id":"s-2"}"#),
                ("delete_session", r#"{"session_id":"s-1","confirm":true}"#),
            ],
            params: r#"{"reason":"The test was removed","session_id":"s-2"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = AbandonOrphanParams;
    type Output = AbandonOrphanOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: AbandonOrphanParams,
    ) -> Result<AbandonOrphanOutput, OpError> {
        let AbandonOrphanParams { reason, ghap_id, session_id, cwd } = params;
        let resolution = Resolution::abandoned(reason);
        model::ghap::check_text("reason", &resolution.result, limits::GHAP_LONG_CHARS_MAX)?;
        refuse_secrets(&[("reason", &resolution.result)])?;
        let (target, now) = (target(cx, session_id.as_deref(), cwd.as_deref())?, cx.now);
        cx.store.write(move |tx| {
            let (_, ghap) = taken(tx, &target, ghap_id.as_deref(), now)?;
            resolve::end(tx, &ghap, &resolution, now)?;
            Ok(AbandonOrphanOutput { ok: true, id: ghap.name })
        })
    }
}

impl Pretty for AbandonOrphanedGhap {
    fn pretty(_: &AbandonOrphanParams, output: &AbandonOrphanOutput, _: usize) -> String {
        format!("✔ abandoned {}", output.id)
    }
}
