//! `timeline`: a record and what happened around it in the same session.

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::observations;

use crate::replaced::{self, MarkedRecord};
use crate::show::{self, RecordRow};
use crate::{examples, record_id};
use contract::Count;

pub(crate) struct Timeline;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimelineParams {
    /// Id of the record in the middle.
    #[serde(deserialize_with = "record_id::one")]
    anchor: i64,
    /// Records before it.
    #[serde(default = "default_side")]
    before: Count,
    /// Records after it.
    #[serde(default = "default_side")]
    after: Count,
}

fn default_side() -> Count {
    Count::new(limits::TIMELINE_SIDE_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct TimelineOutput {
    anchor: MarkedRecord,
    /// The records before the anchor, in order of time, each like `anchor`.
    #[schemars(with = "Vec<Map<String, Value>>")]
    before: Vec<MarkedRecord>,
    /// The records after the anchor, in order of time, each like `anchor`.
    #[schemars(with = "Vec<Map<String, Value>>")]
    after: Vec<MarkedRecord>,
    /// Seconds since 1970, UTC: ages count from here.
    answered_at: i64,
}

impl Op for Timeline {
    const INFO: OpInfo = OpInfo {
        name: "timeline",
        summary: "Show what happened around a record in its session",
        doc: "Call it on a search hit to see what led to it.",
        toolset: "memory",
        core: true,
        cli: CliShape {
            path: &["timeline"],
            positional: &["anchor"],
            pretty: Some(pretty::<Self>),
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
        let found = cx.store.read(|rx| {
            let Some(found) = observations::around(rx, params.anchor, before, after)? else {
                return Ok(None);
            };
            let (anchor, earlier, later) = found;
            let until = earlier.len();
            let all = earlier.into_iter().chain([anchor]).chain(later).collect();
            let mut before = replaced::marked(rx, all)?;
            let mut anchored = before.split_off(until).into_iter();
            Ok(anchored.next().map(|anchor| (anchor, before, anchored.collect())))
        })?;
        let (anchor, before, after) = found.ok_or_else(|| {
            OpError::not_found("anchor observation not found").with("anchor", params.anchor).hint(
                format!(
                    "No record has the id {}; `search` gives the ids of records.",
                    params.anchor
                ),
            )
        })?;
        Ok(TimelineOutput { anchor, before, after, answered_at: cx.now.div_euclid(1000) })
    }
}

impl Pretty for Timeline {
    fn pretty(_: &TimelineParams, output: &TimelineOutput, width: usize) -> String {
        let TimelineOutput { anchor, before, after, answered_at } = output;
        let around = before.iter().chain([anchor]).chain(after).map(|record| RecordRow {
            mark: if record.id == anchor.id { ">" } else { "" },
            ..RecordRow::from(record)
        });
        show::records(around, *answered_at, width)
    }
}
