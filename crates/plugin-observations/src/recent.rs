//! `recent_records`: the last records, newest first, for people. Agents have `recent_context`, which
//! scores by type and project.

use std::sync::Arc;

use contract::{CliShape, Cx, Example, Op, OpInfo, Tier};
use model::observation::Observation;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::observations;

use crate::count::Count;
use crate::examples;
use crate::get_observations::LISTED_RECORDS;
use crate::place::DiskPlaces;
use crate::scope::{About, Question, Wanted};
use crate::show;
use crate::when::When;

pub(crate) struct RecentRecords {
    pub(crate) places: Arc<DiskPlaces>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecentRecordsParams {
    /// Project to look in; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
    /// How many records, from 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Only what happened before: a date, `yesterday`, `friday`, `3d`, `last week` or an RFC 3339 time.
    #[serde(default)]
    before: Option<When>,
    /// Only what happened after.
    #[serde(default)]
    after: Option<When>,
}

fn default_limit() -> Count {
    Count::new(limits::RECENT_DEFAULT)
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct RecentRecordsOutput {
    /// Observations and prompts, the newest first.
    results: Vec<Observation>,
    #[serde(flatten)]
    about: About,
}

impl Op for RecentRecords {
    const INFO: OpInfo = OpInfo {
        name: "recent_records",
        summary: "List the last records, newest first",
        doc: "Prompts, answers and actions in order of time, without the starts and ends of sessions.",
        toolset: "memory",
        tiers: &[Tier::Person, Tier::Client],
        cli: CliShape {
            path: &["recent"],
            pretty: Some(pretty),
            listed: Some(LISTED_RECORDS),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The last things that happened anywhere",
            before: examples::A_SESSION,
            params: r#"{"project":"*","limit":5}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = RecentRecordsParams;
    type Output = RecentRecordsOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: RecentRecordsParams,
    ) -> Result<RecentRecordsOutput, OpError> {
        let limit = params.limit.within(1..=limits::RECENT_MAX);
        let before = params.before.map(|when| when.before(cx.now));
        let after = params.after.map(|when| when.after(cx.now));
        let question = Question::new(cx, &self.places, params.project);
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let results = observations::newest(rx, scope.ids().as_deref(), (before, after), limit)?;
            Ok(RecentRecordsOutput { results, about: scope.about(cx) })
        })
    }
}

fn pretty(params: &Value, result: &Value) -> String {
    let records: Vec<&Value> = show::list(result, "results").iter().collect();
    if records.is_empty() {
        let times = show::times_given(params);
        return show::nothing(&format!("Nothing is recorded{times}"), params, result);
    }
    let shown = show::records(&records, show::answered_at(result), |_| "");
    let max = limits::RECENT_MAX;
    let note = match params["limit"].as_i64() {
        Some(limit) if limit < 1 => "The smallest limit is 1.".to_owned(),
        Some(limit)
            if records.len() == max && usize::try_from(limit).is_ok_and(|limit| limit > max) =>
        {
            format!("The largest limit is {max}; --before shows older records.")
        }
        _ => return shown,
    };
    format!("{shown}\n{note}")
}
