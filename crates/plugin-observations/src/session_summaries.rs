//! `session_summaries`: what the last sessions were about and what came of them.

use std::sync::Arc;

use contract::{CliShape, Cx, Example, Op, OpInfo};
use model::session::Summary;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::sessions::{self, SessionFilter};

use crate::count::Count;
use crate::examples;
use crate::place::DiskPlaces;
use crate::scope::{About, Question, Wanted};
use crate::show;
use crate::when::When;

pub(crate) struct SessionSummaries {
    pub(crate) places: Arc<DiskPlaces>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionSummariesParams {
    /// Project whose sessions count; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
    /// How many sessions, from 1 to 50.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Only those last active before: a date, `yesterday`, `friday`, `3d`, `last week` or an RFC 3339 time.
    #[serde(default)]
    before: Option<When>,
    /// Only those last active after.
    #[serde(default)]
    after: Option<When>,
}

fn default_limit() -> Count {
    Count::new(limits::SUMMARIES_DEFAULT)
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionSummariesOutput {
    /// The one that was active last comes first.
    results: Vec<SummarisedSession>,
    #[serde(flatten)]
    about: About,
}

/// A session and its summary.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SummarisedSession {
    session_id: String,
    project: String,
    /// Seconds since 1970, UTC.
    started_at: i64,
    summary: Summary,
}

impl Op for SessionSummaries {
    const INFO: OpInfo = OpInfo {
        name: "session_summaries",
        summary: "Show what the last sessions were about",
        doc: "Each summary is drawn from what the session did: intent, commits, files, errors, marks.",
        toolset: "memory",
        cli: CliShape { path: &["summaries"], pretty: Some(pretty), ..CliShape::CALL_ONLY },
        examples: &[Example {
            title: "What were the last three sessions about?",
            before: examples::A_SESSION,
            params: r#"{"project":"*","limit":3}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = SessionSummariesParams;
    type Output = SessionSummariesOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: SessionSummariesParams,
    ) -> Result<SessionSummariesOutput, OpError> {
        let question = Question::new(cx, &self.places, params.project);
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let filter = SessionFilter {
                projects: projects.as_deref(),
                before: params.before.map(|when| when.before(cx.now)),
                after: params.after.map(|when| when.after(cx.now)),
                summarised: true,
                prompted: false,
            };
            let limit = params.limit.within(1..=limits::SUMMARIES_MAX);
            let found = sessions::list(rx, &filter, limit)?.into_iter().filter_map(|session| {
                Some(SummarisedSession {
                    session_id: session.session_id,
                    project: session.project,
                    started_at: session.started_at.div_euclid(1000),
                    summary: session.summary?,
                })
            });
            Ok(SessionSummariesOutput { results: found.collect(), about: scope.about(cx) })
        })
    }
}

fn pretty(params: &Value, result: &Value) -> String {
    let sessions = show::list(result, "results");
    if sessions.is_empty() {
        return show::nothing(
            &format!("No session{} has a summary", show::times_given(params)),
            params,
            result,
        );
    }
    let block = |session: &Value| {
        let word = |name: &str| show::line(session[name].as_str().unwrap_or_default());
        let age = show::age_and_date(&session["started_at"], show::answered_at(result));
        let mut lines =
            vec![format!("{} in {}, started {age}", word("session_id"), word("project"))];
        lines.extend(show::summary(&session["summary"]));
        lines.join("\n")
    };
    sessions.iter().map(block).collect::<Vec<_>>().join("\n\n")
}
