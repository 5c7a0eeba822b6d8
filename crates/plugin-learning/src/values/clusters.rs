//! `get_clusters`: the themes of a project's experiences.

use contract::pretty::pretty;
use contract::{Access, CallTarget, CliShape, Cx, Listed, Op, OpInfo, Pretty};
use model::OpError;
use model::ghap::ExperienceAxis;
use model::value::cluster_id;
use place::{About, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::clusters::{self, Clustering};
use store::projects;

use super::current::{clusters_of, too_few};
use super::wire::{TOOLSET, full, rounded};

pub(crate) struct GetClusters;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetClustersParams {
    /// `surprise` and `root_cause` are those of falsified ghaps only.
    #[serde(default = "full")]
    axis: ExperienceAxis,
    /// Yours if left out; `*` for all, each by itself.
    #[serde(default)]
    project: Wanted,
    /// The session whose project is meant.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory whose project is meant.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ClusterLine {
    cluster_id: String,
    label: i64,
    /// Its most distinctive words.
    about: String,
    /// Experiences in it.
    size: usize,
    /// The mean weight of their tiers, from 0 to 1.
    avg_weight: f64,
    /// Its project, if the answer is about several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of_project: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct GetClustersOutput {
    axis: ExperienceAxis,
    /// The heaviest first.
    clusters: Vec<ClusterLine>,
    count: usize,
    /// Experiences in no cluster.
    noise_count: usize,
    #[serde(flatten)]
    asked: About,
}

impl ClusterLine {
    fn all_of(clustering: &Clustering, of_project: Option<&str>) -> Vec<ClusterLine> {
        let line = |cluster: &clusters::ExperienceCluster| {
            let label = cluster.number.unwrap_or_default();
            ClusterLine {
                cluster_id: cluster_id(clustering.axis, label),
                label,
                about: cluster.words.join(", "),
                size: cluster.members.len(),
                avg_weight: rounded(cluster.weight),
                of_project: of_project.map(str::to_owned),
            }
        };
        clustering.clusters.iter().map(line).collect()
    }
}

impl Op for GetClusters {
    const INFO: OpInfo = OpInfo {
        name: "get_clusters",
        summary: "Group the experiences of a project by theme",
        doc: "Needs 20 experiences on the axis. An id keeps its meaning when experiences are added. \
              get_cluster_members shows a cluster; draw a rule from it and check it with validate_value.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["value", "clusters"],
            positional: &["axis"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            listed: Some(Listed { member: "clusters", id: "cluster_id", asked: None, whole: None }),
            ..CliShape::CALL_ONLY
        },
        deadline: model::limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = GetClustersParams;
    type Output = GetClustersOutput;

    fn run(&self, cx: &Cx<'_>, params: GetClustersParams) -> Result<GetClustersOutput, OpError> {
        let axis = params.axis;
        let asker = (params.session_id.as_deref(), params.cwd.as_deref());
        let question = CallTarget::question(cx, asker, params.project)?;
        let (asked, projects, most) = cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let (found, most) = clusters::clustered_projects(rx, scope.ids().as_deref(), axis)?;
            let mut named = Vec::new();
            for id in found {
                let name = projects::by_id(rx, id)?.map(|project| project.name);
                named.push((id, name.unwrap_or_default()));
            }
            Ok((scope.about(cx.now), named, most))
        })?;
        if projects.is_empty() {
            return Err(too_few(axis, most));
        }
        let (mut clusters, mut noise_count) = (Vec::new(), 0);
        for (id, name) in &projects {
            let clustering = clusters_of(cx, *id, axis)?;
            let of_project = (projects.len() > 1).then_some(name.as_str());
            clusters.extend(ClusterLine::all_of(&clustering, of_project));
            noise_count += clustering.noise();
        }
        Ok(GetClustersOutput { axis, count: clusters.len(), clusters, noise_count, asked })
    }
}

impl Pretty for GetClusters {
    fn pretty(_: &GetClustersParams, output: &GetClustersOutput, width: usize) -> String {
        let noise = format!("{} in no cluster", text::counted(output.noise_count, "experience"));
        if output.clusters.is_empty() {
            return format!("No clusters; {noise}");
        }
        let row = |one: &ClusterLine| {
            let weight = format!("{:.2}", one.avg_weight);
            vec![one.cluster_id.clone(), one.size.to_string(), weight, one.about.clone()]
        };
        let headings = ["cluster", "size", "weight", "about"];
        let table =
            contract::listing::table(&headings, output.clusters.iter().map(row), &[], width);
        format!("{table}\n{noise}")
    }
}
