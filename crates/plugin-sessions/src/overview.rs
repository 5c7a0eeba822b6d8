//! `sessions_overview`: a page of sessions as viewers show it, also grouped by directory. It is `GET /api/sessions`.

use std::collections::BTreeMap;

use contract::{Count, Cx, Example, Op, OpInfo, RestMethod, RestRoute, Tier};
use model::session::SessionState;
use model::time::rfc3339;
use model::{OpError, limits};
use place::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{Rx, session_details};

use crate::list::A_SESSION;
use crate::rows::{SessionQuery, SessionRow};

pub(crate) struct SessionsOverview;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionsOverviewParams {
    /// Project whose sessions are listed; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
    /// Only those that are `active`, `idle` or `ended`.
    #[serde(default)]
    state: Option<SessionState>,
    /// Characters that the name, the intent or the directory contains in this order.
    #[serde(default)]
    q: Option<String>,
    /// How many sessions, from 1 to 1,000.
    #[serde(default = "default_limit")]
    limit: Count,
    /// `next` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

fn default_limit() -> Count {
    Count::new(limits::SESSION_ROWS_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionsOverviewOutput {
    sessions: Vec<OverviewRow>,
    /// These rows by directory; those without one have the empty name.
    #[schemars(with = "BTreeMap<String, Vec<OverviewRow>>")]
    grouped: Map<String, Value>,
    /// How many of all sessions are unobserved.
    unobserved_count: u64,
    /// The cursor of the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A session as a viewer shows it. Members that are not known are null.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OverviewRow {
    /// The agent's own id.
    session_id: String,
    /// The directory of its last start.
    cwd: Option<String>,
    project: String,
    agent: String,
    model: Option<String>,
    /// The user's name for it; empty if it has none.
    name: String,
    /// The intent in its summary.
    summary: Option<String>,
    /// The time of its last event, RFC 3339.
    updated_at: String,
    started_at: String,
    /// Whether its agent is at work.
    is_busy: bool,
    /// Whether its turn ended since it was last seen.
    is_unobserved: bool,
    /// The user's last prompt, as one line.
    current_intent: Option<String>,
}

impl OverviewRow {
    fn read(rx: &Rx<'_>, row: SessionRow) -> Result<OverviewRow, OpError> {
        let (cwd, summary) = (row.cwd().map(str::to_owned), row.intent().map(str::to_owned));
        let current_intent = row.last_prompt(rx)?;
        let SessionRow { session, details, start, .. } = row;
        Ok(OverviewRow {
            session_id: session.session_id,
            cwd,
            project: session.project,
            agent: session.agent,
            model: start.model,
            is_unobserved: details.is_unobserved(),
            name: details.label.unwrap_or_default(),
            summary,
            updated_at: rfc3339(session.last_at),
            started_at: rfc3339(session.started_at),
            is_busy: session.state == SessionState::Active,
            current_intent,
        })
    }
}

impl Op for SessionsOverview {
    const INFO: OpInfo = OpInfo {
        name: "sessions_overview",
        summary: "List sessions as a viewer shows them",
        doc: "The one that was active last comes first. `list_sessions` has the short form for agents.",
        tiers: &[Tier::Person, Tier::Client],
        toolset: "sessions",
        rest: &[RestRoute::new(RestMethod::Get, "/api/sessions").query(&[
            ("project", "project"),
            ("state", "state"),
            ("q", "q"),
            ("limit", "limit"),
            ("cursor", "cursor"),
        ])],
        examples: &[Example {
            title: "The sessions of all projects",
            before: A_SESSION,
            params: r#"{"project":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = SessionsOverviewParams;
    type Output = SessionsOverviewOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: SessionsOverviewParams,
    ) -> Result<SessionsOverviewOutput, OpError> {
        let question = cx.caller.projects(params.project);
        cx.store.read(|rx| {
            let query = SessionQuery {
                projects: question.scope(rx)?.ids(),
                text: params.q,
                state: params.state,
                cursor: params.cursor,
                ..SessionQuery::default()
            };
            let page =
                query.page(rx, params.limit.checked("limit", 1..=limits::SESSION_ROWS_MAX)?)?;
            let rows = page.rows.into_iter().map(|row| OverviewRow::read(rx, row));
            let sessions: Vec<OverviewRow> = rows.collect::<Result<_, OpError>>()?;
            let mut grouped = Map::new();
            for row in &sessions {
                let directory = row.cwd.clone().unwrap_or_default();
                if let Value::Array(group) = grouped.entry(directory).or_insert_with(|| json!([])) {
                    group.push(json!(row));
                }
            }
            Ok(SessionsOverviewOutput {
                sessions,
                grouped,
                unobserved_count: session_details::count_unobserved(rx)?,
                next: page.next,
            })
        })
    }
}
