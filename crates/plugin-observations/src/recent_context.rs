//! `recent_context`: what is recent and worth most, without a query.

use std::collections::HashSet;
use std::sync::Arc;

use contract::{CliShape, Cx, Example, Op, OpInfo};
use model::observation::Observation;
use model::{OpError, limits, rank};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::recent::{self, RecentQuery, Taken};

use crate::count::Count;
use crate::examples;
use crate::place::DiskPlaces;
use crate::scope::{About, Question, Wanted};
use crate::show;
use crate::when::When;

pub(crate) struct RecentContext {
    pub(crate) places: Arc<DiskPlaces>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecentContextParams {
    /// Project whose records lead; yours if left out, `*` for none.
    #[serde(default)]
    project: Wanted,
    /// How many observations, from 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Only what happened before, as in search.
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
pub(crate) struct RecentContextOutput {
    /// The best one first; of one file only the best.
    results: Vec<Scored>,
    #[serde(flatten)]
    about: About,
}

/// An observation and what it is worth now.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Scored {
    #[serde(flatten)]
    observation: Observation,
    /// From 0 to 1.
    score: f64,
}

impl Op for RecentContext {
    const INFO: OpInfo = OpInfo {
        name: "recent_context",
        summary: "Show what was done lately",
        doc: "Call it when you begin or lost the thread: edits and commands of your project lead, \
              other projects follow under their own names.",
        toolset: "memory",
        core: true,
        cli: CliShape { pretty: Some(pretty), ..CliShape::CALL_ONLY },
        examples: &[Example {
            title: "The last things that were done anywhere",
            before: examples::A_SESSION,
            params: r#"{"project":"*","limit":5}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = RecentContextParams;
    type Output = RecentContextOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: RecentContextParams,
    ) -> Result<RecentContextOutput, OpError> {
        let limit = params.limit.within(1..=limits::RECENT_MAX);
        let question = Question::new(cx, &self.places, params.project);
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let query = RecentQuery {
                projects: None,
                before: params.before.map(|when| when.before(cx.now)),
                after: params.after.map(|when| when.after(cx.now)),
                score: &|project, kind, at| {
                    let own = (!scope.is_all()).then(|| scope.holds(project));
                    rank::recent(kind, at, own, cx.now).total
                },
            };
            let mut results: Vec<Scored> = Vec::new();
            let mut files: HashSet<String> = HashSet::new();
            recent::best(rx, &query, |observation, score| {
                let new = match &observation.file_path {
                    Some(path) => files.insert(path.clone()),
                    None => true,
                };
                if new {
                    results.push(Scored { observation, score: show::rounded(score) });
                }
                if results.len() < limit { Taken::GoOn } else { Taken::Enough }
            })?;
            Ok(RecentContextOutput { results, about: scope.about(cx) })
        })
    }
}

fn pretty(_: &Value, result: &Value) -> String {
    let records: Vec<&Value> = show::list(result, "results").iter().collect();
    if records.is_empty() {
        return "Nothing is recorded yet.".to_owned();
    }
    show::records(&records, show::answered_at(result), |_| "")
}
