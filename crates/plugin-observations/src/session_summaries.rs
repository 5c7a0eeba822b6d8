//! `session_summaries`: the intents and outcomes of the last sessions.

use contract::pretty::{notes, pretty, refusal};
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::session::Summary;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::sessions::{self, SessionFilter};

use crate::answered::AnsweredPrompts;
use crate::examples;
use crate::next_steps;
use crate::show;
use contract::Count;
use contract::TimeBound;
use place::{About, Wanted};

pub(crate) struct SessionSummaries;

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
    before: Option<TimeBound>,
    /// Only those last active after.
    #[serde(default)]
    after: Option<TimeBound>,
}

fn default_limit() -> Count {
    Count::new(limits::SUMMARIES_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionSummariesOutput {
    /// The one that was active last comes first.
    results: Vec<SummarisedSession>,
    /// Seconds since 1970, UTC; pass it as `before` for the next page. Left out on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<i64>,
    #[serde(flatten)]
    about: About,
}

/// A session and its summary.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct SummarisedSession {
    session_id: String,
    project: String,
    /// Seconds since 1970, UTC.
    started_at: i64,
    summary: Summary,
    /// The first sentences of the answer to the intent; left out if there is none, or if it is the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// The prompt that the outcome answers; left out if that is the intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_prompt: Option<String>,
}

impl Op for SessionSummaries {
    const INFO: OpInfo = OpInfo {
        name: "session_summaries",
        summary: "Show what the last sessions were about",
        doc: "Each summary is drawn from what the session did: intent, commits, files, errors, marks.",
        toolset: "memory",
        cli: CliShape {
            path: &["summaries"],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            refusal: Some(refusal::<Self>),
            ..CliShape::CALL_ONLY
        },
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
        let question = cx.caller.projects(params.project);
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let filter = SessionFilter {
                projects: projects.as_deref(),
                before: params.before.as_ref().map(|when| when.before(cx.now)),
                after: params.after.as_ref().map(|when| when.after(cx.now)),
                summarised: true,
                ..SessionFilter::default()
            };
            let limit = params.limit.within(1..=limits::SUMMARIES_MAX);
            let mut results = Vec::new();
            let sessions = sessions::list(rx, &filter, limit)?;
            let times: Vec<i64> =
                sessions.iter().map(|session| session.last_at.div_euclid(1000)).collect();
            let next = show::next_before(&times, limit);
            for session in sessions {
                let Some(summary) = next_steps::summary_now(rx, &session)? else { continue };
                let AnsweredPrompts { intent, last } = AnsweredPrompts::of(rx, session.id)?;
                let intent_id = intent.as_ref().map(|intent| intent.id);
                let last = last.filter(|last| Some(last.id) != intent_id);
                let answer = intent.map(|intent| intent.gist(limits::SUMMARY_OUTCOME_CHARS_MAX));
                results.push(SummarisedSession {
                    session_id: session.session_id,
                    project: session.project,
                    started_at: session.started_at.div_euclid(1000),
                    answer: answer.filter(|answer| *answer != summary.outcome),
                    last_prompt: last.map(|last| last.prompt),
                    summary,
                });
            }
            let ids = results.iter().map(|session| session.session_id.as_str());
            let about = About { id_chars: show::id_chars(cx, rx, ids)?, ..scope.about(cx.now) };
            Ok(SessionSummariesOutput { results, next, about })
        })
    }
}

impl Pretty for SessionSummaries {
    fn pretty(
        params: &SessionSummariesParams,
        output: &SessionSummariesOutput,
        _: usize,
    ) -> String {
        let SessionSummariesOutput { results, about, .. } = output;
        if results.is_empty() {
            let times = show::times_given(params.after.as_ref(), params.before.as_ref());
            let what = format!("No session{times} has a summary");
            return show::nothing(&what, &params.project, about);
        }
        let ids = results.iter().map(|session| session.session_id.as_str());
        let ids = show::session_ids(ids, about.id_chars);
        let block = |(session, id): (&SummarisedSession, String)| {
            let mut lines = vec![format!(
                "{id} in {}, started {}",
                show::line(&session.project),
                show::age_and_date(session.started_at, about.answered_at),
            )];
            let around = (session.answer.as_deref(), session.last_prompt.as_deref());
            lines.extend(show::summary(&session.summary, around));
            lines.join("\n")
        };
        results.iter().zip(ids).map(block).collect::<Vec<_>>().join("\n\n")
    }

    fn notes(params: &SessionSummariesParams, output: &SessionSummariesOutput) -> Vec<String> {
        let bounds = (params.limit, limits::SUMMARIES_MAX);
        let unlisted = output.next.map(show::Unlisted::Before);
        show::list_notes(output.results.len(), "session", unlisted, bounds)
    }

    fn refusal(params: &SessionSummariesParams, now_ms: i64) -> Option<OpError> {
        show::empty_time(params.after.as_ref(), params.before.as_ref(), now_ms)
    }
}
