//! `timeline`: a record and what happened around it in the same session.

use contract::{CliShape, Cx, Example, Op, OpInfo};
use model::observation::Observation;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::observations;

use crate::count::Count;
use crate::examples;
use crate::show;

pub(crate) struct Timeline;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimelineParams {
    /// Id of the record in the middle.
    anchor: i64,
    /// How many records before it, at most 50.
    #[serde(default = "default_side")]
    before: Count,
    /// How many records after it, at most 50.
    #[serde(default = "default_side")]
    after: Count,
}

fn default_side() -> Count {
    Count::new(limits::TIMELINE_SIDE_DEFAULT)
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct TimelineOutput {
    anchor: Observation,
    /// Records like the anchor, in order of time.
    #[schemars(with = "Vec<Map<String, Value>>")]
    before: Vec<Observation>,
    /// Records like the anchor, in order of time.
    #[schemars(with = "Vec<Map<String, Value>>")]
    after: Vec<Observation>,
    /// Seconds since 1970, UTC: ages count from here.
    answered_at: i64,
}

impl Op for Timeline {
    const INFO: OpInfo = OpInfo {
        name: "timeline",
        summary: "Show what happened around a record in its session",
        doc: "Call it on a search hit to see what led to it and what came of it.",
        toolset: "memory",
        core: true,
        cli: CliShape {
            path: &["timeline"],
            positional: &["anchor"],
            pretty: Some(pretty),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "What came before and after this record?",
            before: examples::A_SESSION,
            params: r#"{"anchor":3,"before":2,"after":2}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = TimelineParams;
    type Output = TimelineOutput;

    fn run(&self, cx: &Cx<'_>, params: TimelineParams) -> Result<TimelineOutput, OpError> {
        let bounds = 0..=limits::TIMELINE_SIDE_MAX;
        let (before, after) = (params.before.within(bounds.clone()), params.after.within(bounds));
        let found = cx.store.read(|rx| observations::around(rx, params.anchor, before, after))?;
        let (anchor, before, after) = found.ok_or_else(|| {
            OpError::not_found("anchor observation not found")
                .with("anchor", params.anchor)
                .hint("`search` gives the ids of records.")
        })?;
        Ok(TimelineOutput { anchor, before, after, answered_at: cx.now.div_euclid(1000) })
    }
}

fn pretty(_: &Value, result: &Value) -> String {
    let before = show::list(result, "before").iter();
    let around = before.chain([&result["anchor"]]).chain(show::list(result, "after"));
    let records: Vec<&Value> = around.collect();
    show::records(&records, show::answered_at(result), |record| {
        if record["id"] == result["anchor"]["id"] { ">" } else { "" }
    })
}
