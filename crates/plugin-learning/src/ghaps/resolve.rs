//! `resolve_ghap`: ends the active ghap. It becomes an experience.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Flattened, Op, OpInfo, Pretty};
use model::OpError;
use model::event::Event;
use model::ghap::{ConfidenceTier, GhapOutcome, Lesson, Resolution, RootCause};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Tx, ghaps};

use super::place::{TOOLSET, WritePlace, target_to_read};
use super::start;
use crate::declared::refuse_secrets;

pub(crate) struct ResolveGhap;

/// A resolution that examples of other operations use.
pub(super) const EXAMPLE: &str = r#"{"status":"confirmed","result":"The clock was two minutes ahead","lesson":{"what_worked":"Freezing the clock in the fixture","takeaway":"Freeze the clock in tests of tokens"},"session_id":"s-1"}"#;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResolveGhapParams {
    status: GhapOutcome,
    /// What happened.
    result: String,
    /// Needed if falsified.
    #[serde(default)]
    surprise: Option<String>,
    /// Needed if falsified.
    #[serde(default)]
    root_cause: Option<RootCause>,
    #[serde(default)]
    lesson: Option<Lesson>,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResolveGhapOutput {
    ok: bool,
    id: String,
    /// `gold` if the last run agrees, `silver` if not or without one, `bronze` if the texts say too little; `abandoned`
    /// for an abandoned ghap.
    confidence_tier: ConfidenceTier,
    session_id: String,
}

impl Op for ResolveGhap {
    const INFO: OpInfo = OpInfo {
        name: "resolve_ghap",
        summary: "End the active ghap with its outcome",
        doc: "Call it when a run has shown the result.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: TOOLSET,
        core: true,
        advanced: &["session_id", "cwd"],
        typed_errors: true,
        cli: CliShape {
            path: &["ghap", "resolve"],
            positional: &["status"],
            flatten: &[
                Flattened::of::<RootCause>("root_cause", "cause-"),
                Flattened::of::<Lesson>("lesson", "lesson-"),
            ],
            flag_aliases: &[("session_id", "session")],
            help: &[
                ("root_cause.description", "The actual cause, in a sentence"),
                ("lesson.takeaway", "The rule to follow next time"),
                ("lesson.what_worked", "The step that solved it"),
            ],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[
            Example {
                title: "It was true",
                before: &[("start_ghap", start::EXAMPLE)],
                params: EXAMPLE,
            },
            Example {
                title: "It was wrong",
                before: &[("start_ghap", start::EXAMPLE)],
                params: r#"{"status":"falsified","result":"They still fail","surprise":"The clock is right","root_cause":{"category":"test-isolation","description":"Two tests share one user"},"session_id":"s-1"}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = ResolveGhapParams;
    type Output = ResolveGhapOutput;

    fn run(&self, cx: &Cx<'_>, params: ResolveGhapParams) -> Result<ResolveGhapOutput, OpError> {
        let ResolveGhapParams { status, result, surprise, root_cause, lesson, session_id, cwd } =
            params;
        let resolution = Resolution { outcome: status, result, surprise, root_cause, lesson };
        resolution.check()?;
        refuse_secrets(&resolution.texts())?;
        let target = target_to_read(cx, session_id.as_deref(), cwd.as_deref())?;
        let now = cx.now;
        cx.store.write(move |tx| {
            let place = WritePlace::of(&target, tx)?;
            let ghap = place.active(tx)?;
            place.acted_on(tx, &format!("{}://{}", ghaps::SCHEME, ghap.name))?;
            let confidence_tier = end(tx, &ghap, &resolution, now)?;
            Ok(ResolveGhapOutput {
                ok: true,
                id: ghap.name,
                confidence_tier,
                session_id: place.session_id,
            })
        })
    }
}

/// Resolves an active ghap and publishes it. Returns its tier.
pub(super) fn end(
    tx: &Tx<'_>,
    ghap: &model::ghap::Ghap,
    resolution: &Resolution,
    now: i64,
) -> Result<ConfidenceTier, OpError> {
    let tier = ghap.tier_of(resolution.outcome, now);
    ghaps::resolve(tx, ghap, resolution, (tier, now))?;
    let subject = format!("{}://{}", ghaps::SCHEME, ghap.name);
    tx.note(Event {
        reason: Some(resolution.outcome.word()),
        project: Some(ghap.project),
        data: json!({ "confidence_tier": tier }),
        ..Event::new("ghap/resolved", subject)
    })?;
    Ok(tier)
}

impl Pretty for ResolveGhap {
    fn pretty(params: &ResolveGhapParams, output: &ResolveGhapOutput, _: usize) -> String {
        let (status, tier) = (params.status.word(), output.confidence_tier.word());
        match params.status {
            GhapOutcome::Abandoned => format!("✔ {status}: {}", output.id),
            _ => format!("✔ {status}: {} ({tier})", output.id),
        }
    }
}
