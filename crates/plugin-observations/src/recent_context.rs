//! `recent_context`: the recent records with the best scores, without a query.

use std::collections::HashSet;

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty, brief};
use model::observation::Observation;
use model::{OpError, limits, rank};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::recent::{self, RecentQuery, Taken};

use crate::examples;
use crate::search;
use crate::show::{self, RecordRow};
use contract::Count;
use contract::TimeBound;
use place::{About, Wanted};

pub(crate) struct RecentContext;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecentContextParams {
    /// Preferred project: yours if left out, `*` for none.
    #[serde(default)]
    project: Wanted,
    /// From 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
    /// As in search.
    #[serde(default)]
    before: Option<TimeBound>,
    /// As in search.
    #[serde(default)]
    after: Option<TimeBound>,
}

fn default_limit() -> Count {
    Count::new(limits::RECENT_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct RecentContextOutput {
    /// The best one first; of one file only the best.
    results: Vec<Scored>,
    #[serde(flatten)]
    about: About,
}

/// An observation and what it is worth now.
#[derive(Serialize, Deserialize, JsonSchema)]
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
        doc: "Call it when you begin or lost the thread. Your project scores higher.",
        toolset: "memory",
        core: true,
        advanced: &["limit", "before", "after"],
        cli: CliShape { pretty: Some(pretty::<Self>), ..CliShape::CALL_ONLY },
        brief: Some(brief),
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
        let question = cx.caller.projects(params.project);
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let query = RecentQuery {
                projects: None,
                before: params.before.as_ref().map(|when| when.before(cx.now)),
                after: params.after.as_ref().map(|when| when.after(cx.now)),
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
            Ok(RecentContextOutput { results, about: scope.about(cx.now) })
        })
    }
}

/// Reduces each record to id, time, type, score and the beginning of its text, and leaves out the last ones that
/// exceed the budget: [`limits::RECENT_TOKENS`], or [`limits::INJECT_TOKENS_MAX`] if the caller names a `limit`.
fn brief(params: &Value, result: &mut Value) {
    let searched = result["project"].clone();
    let budget = match params["limit"].is_null() {
        true => limits::RECENT_TOKENS,
        false => limits::INJECT_TOKENS_MAX,
    };
    let mut tokens = 0;
    let mut left_out = 0;
    let records = result["results"].take();
    let mut kept: Vec<Value> = Vec::new();
    for mut record in records.as_array().cloned().unwrap_or_default() {
        shorten(&mut record, &searched);
        brief::plain(params, &mut record);
        tokens += text::tokens::estimate(&record.to_string());
        match tokens <= budget || kept.is_empty() {
            true => kept.push(record),
            false => left_out += 1,
        }
    }
    result["results"] = kept.into();
    if left_out > 0 {
        result["left_out"] = left_out.into();
    }
    brief::plain(params, result);
}

fn shorten(record: &mut Value, searched: &Value) {
    let failed = record["metadata"]["failed"] == true;
    let text = show::preview(record["content"].as_str().unwrap_or_default().to_owned());
    record["content"] = if failed { format!("{text} [failed]") } else { text }.into();
    let Some(members) = record.as_object_mut() else { return };
    members.retain(|name, value| match name.as_str() {
        "metadata" | "source_event" | "tool_name" | "session_id" | "prompt_id" | "agent"
        | "agent_id" => false,
        "project" => value != searched,
        _ => *value != false,
    });
    let is_named = |path: &Value| search::is_named(path, &members["content"]);
    if members.get("file_path").is_some_and(is_named) {
        members.remove("file_path");
    }
}

impl Pretty for RecentContext {
    fn pretty(_: &RecentContextParams, output: &RecentContextOutput, width: usize) -> String {
        if output.results.is_empty() {
            return "Nothing is recorded yet.".to_owned();
        }
        let rows = output.results.iter().map(|scored| RecordRow::from(&scored.observation));
        show::records_about(rows, &output.about, &[], width)
    }
}
