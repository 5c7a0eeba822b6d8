//! `list_ghap_entries`: resolved ghaps, the newest first.

use contract::pretty::{notes, pretty};
use contract::{
    CallTarget, CliShape, Count, Cx, Example, Listed, Op, OpInfo, Pretty, TimeBound, listing,
};
use model::ghap::{ConfidenceTier, Ghap, GhapDomain, GhapStatus, GhapStrategy};
use model::time::rfc3339;
use model::{OpError, limits};
use place::{About, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ghaps::{self, GhapFilter};

use super::place::TOOLSET;
use super::{resolve, start};

pub(crate) struct ListGhapEntries;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListGhapParams {
    /// From 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
    #[serde(default)]
    domain: Option<GhapDomain>,
    /// Resolved ones if left out; `hypothesis` for active ones.
    #[serde(default)]
    outcome: Option<GhapStatus>,
    /// A date, an age such as `3d`, or an RFC 3339 time.
    #[serde(default)]
    since: Option<TimeBound>,
    /// Yours if left out; `*` for all.
    #[serde(default)]
    project: Wanted,
    /// The session whose project is meant.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory whose project is meant.
    #[serde(default)]
    cwd: Option<String>,
}

fn default_limit() -> Count {
    Count::new(limits::GHAPS_LISTED_DEFAULT)
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GhapLine {
    id: String,
    goal: String,
    domain: GhapDomain,
    strategy: GhapStrategy,
    outcome_status: GhapStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confidence_tier: Option<ConfidenceTier>,
    iteration_count: u64,
    created_at: String,
    /// When it was resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    captured_at: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListGhapOutput {
    results: Vec<GhapLine>,
    count: usize,
    /// Active ghaps of these projects that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    active: u64,
    #[serde(flatten)]
    about: About,
}

impl GhapLine {
    fn of(ghap: Ghap) -> GhapLine {
        let is_active = ghap.status == GhapStatus::Hypothesis;
        GhapLine {
            id: ghap.name,
            goal: ghap.goal,
            domain: ghap.domain,
            strategy: ghap.strategy,
            outcome_status: ghap.status,
            confidence_tier: ghap.tier,
            iteration_count: ghap.iteration,
            created_at: rfc3339(ghap.started_at),
            captured_at: (!is_active).then(|| rfc3339(ghap.at)),
        }
    }
}

impl Op for ListGhapEntries {
    const INFO: OpInfo = OpInfo {
        name: "list_ghap_entries",
        summary: "List resolved ghaps, the newest first",
        doc: "With outcome `hypothesis` it lists the active ones.",
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["ghap", "list"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            listed: Some(Listed { member: "results", id: "id", asked: None, whole: None }),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Debugging, all projects",
            before: &[("start_ghap", start::EXAMPLE), ("resolve_ghap", resolve::EXAMPLE)],
            params: r#"{"domain":"debugging","project":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ListGhapParams;
    type Output = ListGhapOutput;

    fn run(&self, cx: &Cx<'_>, params: ListGhapParams) -> Result<ListGhapOutput, OpError> {
        let asker = (params.session_id.as_deref(), params.cwd.as_deref());
        let question = CallTarget::question(cx, asker, params.project)?;
        let limit = params.limit.of_caller(cx.caller, "limit", 1..=limits::GHAPS_LISTED_MAX)?;
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let filter = GhapFilter {
                projects: projects.as_deref(),
                status: params.outcome,
                domain: params.domain,
                since: params.since.as_ref().map(|since| since.before(cx.now)),
            };
            let found = ghaps::list(rx, &filter, limit)?;
            let results: Vec<GhapLine> = found.into_iter().map(GhapLine::of).collect();
            let (active, _) = match params.outcome {
                Some(GhapStatus::Hypothesis) => (0, 0),
                _ => ghaps::counts(rx, projects.as_deref())?,
            };
            let (count, about) = (results.len(), scope.about(cx.now));
            Ok(ListGhapOutput { count, results, active, about })
        })
    }
}

impl Pretty for ListGhapEntries {
    fn pretty(params: &ListGhapParams, output: &ListGhapOutput, width: usize) -> String {
        if output.results.is_empty() {
            let what = match params.outcome {
                Some(GhapStatus::Hypothesis) => "No active ghap",
                Some(_) => "No such ghaps",
                None => "No resolved ghaps",
            };
            let nothing = listing::nothing(what, &params.project, &output.about);
            return match output.active {
                0 => nothing,
                active => format!(
                    "{nothing}\n{}: `rekindle ghap list --outcome hypothesis`",
                    text::counted(active, "active ghap")
                ),
            };
        }
        let row = |one: &GhapLine| {
            let tier = one.confidence_tier.map_or("", ConfidenceTier::word);
            let (domain, status) = (one.domain.word(), one.outcome_status.word());
            let words = [one.id.as_str(), status, tier, domain];
            let goal = listing::line(&one.goal);
            words.into_iter().map(str::to_owned).chain([goal]).collect()
        };
        let headings = ["id", "outcome", "tier", "domain", "goal"];
        listing::table(&headings, output.results.iter().map(row), &[], width)
    }

    fn notes(params: &ListGhapParams, output: &ListGhapOutput) -> Vec<String> {
        let bounds = (params.limit, limits::GHAPS_LISTED_MAX);
        let unlisted = listing::Unlisted::of_full(output.count, params.limit.within(1..=bounds.1));
        listing::list_notes(output.count, "ghap", unlisted, bounds)
    }
}
