//! `store_value`: stores a rule that fits its cluster.

use contract::pretty::pretty;
use contract::{Access, CallTarget, CliShape, Cx, Op, OpInfo, Pretty};
use model::event::Event;
use model::ghap::ExperienceAxis;
use model::time::rfc3339;
use model::value::cluster_id;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::projects;
use store::values::{self, LearnedValue, NewValue};

use super::verdict::ValueVerdict;
use super::wire::{TOOLSET, rounded};

pub(crate) struct StoreValue;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreValueParams {
    /// The rule in one sentence, at most 500 characters.
    text: String,
    /// As `get_clusters` names it.
    cluster_id: String,
    /// The axis of the cluster; it need not be given.
    #[serde(default)]
    axis: Option<ExperienceAxis>,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StoreValueOutput {
    id: String,
    text: String,
    cluster_id: String,
    axis: ExperienceAxis,
    created_at: String,
    /// To the lessons of the cluster.
    similarity: f64,
}

impl StoreValueOutput {
    fn of(value: LearnedValue) -> StoreValueOutput {
        StoreValueOutput {
            id: value.name,
            text: value.text,
            cluster_id: cluster_id(value.axis, value.cluster),
            axis: value.axis,
            created_at: rfc3339(value.at),
            similarity: rounded(1.0 - value.distance),
        }
    }
}

impl Op for StoreValue {
    const INFO: OpInfo = OpInfo {
        name: "store_value",
        summary: "Store a rule that was drawn from a cluster of experiences",
        doc: "It has to pass validate_value. A rule that the cluster has already is not stored again: the answer is the \
              stored one. Values are shown to agents at the start of a session and with a prompt that they fit.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["value", "store"],
            positional: &["cluster_id", "text"],
            rest: true,
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = StoreValueParams;
    type Output = StoreValueOutput;

    fn run(&self, cx: &Cx<'_>, params: StoreValueParams) -> Result<StoreValueOutput, OpError> {
        let target = CallTarget::of(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let verdict = ValueVerdict::of(cx, &params.text, &params.cluster_id)?;
        let (axis, cluster) = (verdict.cluster.clustering.axis, verdict.cluster.number);
        if params.axis.is_some_and(|given| given != axis) {
            let message = format!("the axis of {} is `{}`", params.cluster_id, axis.word());
            return Err(OpError::invalid("axis", message));
        }
        if !verdict.is_valid {
            let message = format!("the value does not fit its cluster: {}", verdict.reason);
            return Err(OpError::invalid("text", message)
                .with("similarity", rounded(verdict.similarity))
                .with("threshold", limits::VALUE_SIMILARITY_MIN)
                .hint("Say what the lessons of the cluster have in common, in their words."));
        }
        let weight = verdict.cluster.cluster().map_or(0.0, |cluster| cluster.weight);
        let project = verdict.cluster.clustering.project;
        let (similarity, text, now) = (verdict.similarity, params.text, cx.now);
        cx.store.write(move |tx| {
            if let Some(known) = values::of_cluster(tx, (project, axis, cluster), &text)? {
                return Ok(StoreValueOutput::of(known));
            }
            let mut stored_in = None;
            if target.session_name().is_some() || target.project(tx)?.is_some() {
                stored_in = target.resolve(tx)?.session.map(|(id, _)| id);
            }
            let root = projects::by_id(tx, project)?.and_then(|project| project.root);
            let id = values::add(
                tx,
                &NewValue {
                    project,
                    stored_in,
                    root: root.as_deref(),
                    at: now,
                    axis,
                    cluster,
                    text: &text,
                    distance: rounded(1.0 - similarity),
                    weight,
                },
            )?;
            let subject = format!("{}://{id}", values::KIND);
            tx.note(Event { project: Some(project), ..Event::new("value/stored", subject) })?;
            Ok(StoreValueOutput {
                id,
                text: text.clone(),
                cluster_id: cluster_id(axis, cluster),
                axis,
                created_at: rfc3339(now),
                similarity: rounded(similarity),
            })
        })
    }
}

impl Pretty for StoreValue {
    fn pretty(_: &StoreValueParams, output: &StoreValueOutput, _: usize) -> String {
        format!("✔ stored {}", output.id)
    }
}
