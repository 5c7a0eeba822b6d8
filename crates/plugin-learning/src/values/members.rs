//! `get_cluster_members`: the experiences of a cluster.

use contract::pretty::{notes, pretty};
use contract::{Access, CallTarget, CliShape, Count, Cx, Listed, Op, OpInfo, Pretty, listing};
use model::ghap::{ConfidenceTier, ExperienceAxis, GhapDomain, GhapStatus};
use model::value::cluster_id;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ghaps;

use super::current::NamedCluster;
use super::wire::{TOOLSET, rounded};

pub(crate) struct GetClusterMembers;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetClusterMembersParams {
    /// As `get_clusters` names it.
    cluster_id: String,
    /// From 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

fn default_limit() -> Count {
    Count::new(limits::CLUSTER_MEMBERS_DEFAULT)
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ClusterMember {
    id: String,
    goal: String,
    domain: GhapDomain,
    outcome_status: GhapStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confidence_tier: Option<ConfidenceTier>,
    /// The takeaway, else what worked, else the result.
    lesson: String,
    /// To the mean of the cluster.
    similarity: f64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct GetClusterMembersOutput {
    cluster_id: String,
    axis: ExperienceAxis,
    /// The most typical first.
    members: Vec<ClusterMember>,
    count: usize,
    /// Members of the cluster.
    total: usize,
}

impl Op for GetClusterMembers {
    const INFO: OpInfo = OpInfo {
        name: "get_cluster_members",
        summary: "Show the experiences of a cluster, the most typical first",
        doc: "Read the lessons, and say in one sentence what they have in common.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["value", "members"],
            positional: &["cluster_id"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            listed: Some(Listed { member: "members", id: "id", asked: None, whole: None }),
            ..CliShape::CALL_ONLY
        },
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = GetClusterMembersParams;
    type Output = GetClusterMembersOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: GetClusterMembersParams,
    ) -> Result<GetClusterMembersOutput, OpError> {
        CallTarget::to_read(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let limit = params.limit.of_caller(cx.caller, "limit", 1..=limits::CLUSTER_MEMBERS_MAX)?;
        let found = NamedCluster::of(cx, &params.cluster_id)?;
        let axis = found.clustering.axis;
        let (mut members, mut total) = (Vec::new(), 0);
        if let Some(cluster) = found.cluster() {
            total = cluster.members.len();
            let nearest = cluster.members.iter().zip(&cluster.similarities).take(limit);
            members = cx.store.read(|rx| {
                let mut members = Vec::new();
                for (place, similarity) in nearest {
                    let Some(experience) = found.clustering.experiences.get(*place) else {
                        continue;
                    };
                    let Some(ghap) = ghaps::by_id(rx, experience.id)? else { continue };
                    members.push(ClusterMember {
                        lesson: ghap.lesson_text().to_owned(),
                        id: ghap.name,
                        goal: ghap.goal,
                        domain: ghap.domain,
                        outcome_status: ghap.status,
                        confidence_tier: ghap.tier,
                        similarity: rounded(*similarity),
                    });
                }
                Ok(members)
            })?;
        }
        let cluster_id = cluster_id(axis, found.number);
        Ok(GetClusterMembersOutput { cluster_id, axis, count: members.len(), members, total })
    }
}

impl Pretty for GetClusterMembers {
    fn pretty(
        _: &GetClusterMembersParams,
        output: &GetClusterMembersOutput,
        width: usize,
    ) -> String {
        let row = |one: &ClusterMember| {
            let tier = one.confidence_tier.map_or("", ConfidenceTier::word).to_owned();
            let status = one.outcome_status.word().to_owned();
            let (id, similarity) = (one.id.clone(), format!("{:.2}", one.similarity));
            vec![id, status, tier, similarity, listing::line(&one.lesson)]
        };
        let headings = ["id", "outcome", "tier", "similarity", "lesson"].map(str::to_owned);
        let rows: Vec<Vec<String>> =
            [headings.to_vec()].into_iter().chain(output.members.iter().map(row)).collect();
        let table = text::table::table(&rows, &[], width);
        match output.total - output.count {
            0 => table,
            more => format!("{table}\n{more} more; --limit shows them"),
        }
    }

    fn notes(params: &GetClusterMembersParams, output: &GetClusterMembersOutput) -> Vec<String> {
        let left = output.total.saturating_sub(output.count);
        let unlisted = (left > 0).then_some(listing::Unlisted::Further(left));
        let bounds = (params.limit, limits::CLUSTER_MEMBERS_MAX);
        listing::list_notes(output.count, "member", unlisted, bounds)
    }
}
