//! `list_values`: learned values, the newest first.

use contract::pretty::{notes, pretty};
use contract::{CallTarget, CliShape, Count, Cx, Example, Listed, Op, OpInfo, Pretty, listing};
use model::ghap::ExperienceAxis;
use model::time::rfc3339;
use model::value::cluster_id;
use model::{OpError, limits};
use place::{About, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::values::{self, LearnedValue};

use super::wire::{TOOLSET, rounded};

pub(crate) struct ListValues;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListValuesParams {
    /// All axes if left out.
    #[serde(default)]
    axis: Option<ExperienceAxis>,
    /// From 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
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
    Count::new(limits::VALUES_LISTED_DEFAULT)
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ValueLine {
    id: String,
    text: String,
    axis: ExperienceAxis,
    cluster_id: String,
    created_at: String,
    /// When it was compared with its cluster.
    validated_at: String,
    /// One minus its similarity to the lessons of the cluster.
    distance_to_centroid: f64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListValuesOutput {
    results: Vec<ValueLine>,
    count: usize,
    #[serde(flatten)]
    about: About,
}

impl ValueLine {
    fn of(value: LearnedValue) -> ValueLine {
        ValueLine {
            id: value.name,
            text: value.text,
            axis: value.axis,
            cluster_id: cluster_id(value.axis, value.cluster),
            created_at: rfc3339(value.at),
            validated_at: rfc3339(value.at),
            distance_to_centroid: rounded(value.distance),
        }
    }
}

impl Op for ListValues {
    const INFO: OpInfo = OpInfo {
        name: "list_values",
        summary: "List learned values, the newest first",
        doc: "Rules that were drawn from clusters of experiences and fit them.",
        toolset: TOOLSET,
        typed_errors: true,
        cli: CliShape {
            path: &["value", "list"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            listed: Some(Listed { member: "results", id: "id", asked: None, whole: None }),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Of all projects, on one axis",
            before: &[],
            params: r#"{"axis":"root_cause","project":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ListValuesParams;
    type Output = ListValuesOutput;

    fn run(&self, cx: &Cx<'_>, params: ListValuesParams) -> Result<ListValuesOutput, OpError> {
        let asker = (params.session_id.as_deref(), params.cwd.as_deref());
        let question = CallTarget::question(cx, asker, params.project)?;
        let limit = params.limit.of_caller(cx.caller, "limit", 1..=limits::VALUES_LISTED_MAX)?;
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let found = values::list(rx, scope.ids().as_deref(), params.axis, limit)?;
            let results: Vec<ValueLine> = found.into_iter().map(ValueLine::of).collect();
            Ok(ListValuesOutput { count: results.len(), results, about: scope.about(cx.now) })
        })
    }
}

impl Pretty for ListValues {
    fn pretty(params: &ListValuesParams, output: &ListValuesOutput, width: usize) -> String {
        if output.results.is_empty() {
            return listing::nothing("No values", &params.project, &output.about);
        }
        let row = |one: &ValueLine| vec![one.id.clone(), listing::line(&one.text)];
        listing::table(&["id", "value"], output.results.iter().map(row), &[], width)
    }

    fn notes(params: &ListValuesParams, output: &ListValuesOutput) -> Vec<String> {
        let bounds = (params.limit, limits::VALUES_LISTED_MAX);
        let unlisted = listing::Unlisted::of_full(output.count, params.limit.within(1..=bounds.1));
        listing::list_notes(output.count, "value", unlisted, bounds)
    }
}
