//! `list_sessions`: the sessions that were recorded, the one that was active last first.

use std::sync::Arc;

use contract::{CliShape, Cx, Example, Listed, Op, OpInfo};
use model::session::{Session, SessionState};
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

pub(crate) struct ListSessions {
    pub(crate) places: Arc<DiskPlaces>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListSessionsParams {
    /// Project whose sessions are listed; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
    /// How many sessions, from 1 to 100.
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
    Count::new(limits::SESSIONS_DEFAULT)
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ListSessionsOutput {
    sessions: Vec<ListedSession>,
    #[serde(flatten)]
    about: About,
}

/// A session in short.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ListedSession {
    /// The agent's own id.
    session_id: String,
    project: String,
    agent: String,
    state: SessionState,
    /// Seconds since 1970, UTC.
    started_at: i64,
    /// The last event.
    last_at: i64,
    ended_at: Option<i64>,
    /// What was done in all.
    actions: u64,
    /// What the user wanted.
    intent: Option<String>,
}

impl ListedSession {
    fn new(session: Session, actions: u64) -> ListedSession {
        let intent = session.summary.map(|summary| summary.intent);
        ListedSession {
            session_id: session.session_id,
            project: session.project,
            agent: session.agent,
            state: session.state,
            started_at: session.started_at.div_euclid(1000),
            last_at: session.last_at.div_euclid(1000),
            ended_at: session.ended_at.map(|at| at.div_euclid(1000)),
            actions,
            intent: intent.filter(|intent| !intent.is_empty()),
        }
    }
}

impl Op for ListSessions {
    const INFO: OpInfo = OpInfo {
        name: "list_sessions",
        summary: "List the recorded sessions",
        doc: "The one that was active last comes first.",
        toolset: "memory",
        cli: CliShape {
            path: &["sessions"],
            pretty: Some(pretty),
            listed: Some(Listed { member: "sessions", id: "session_id", asked: None, whole: None }),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The sessions of all projects",
            before: examples::A_SESSION,
            params: r#"{"project":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ListSessionsParams;
    type Output = ListSessionsOutput;

    fn run(&self, cx: &Cx<'_>, params: ListSessionsParams) -> Result<ListSessionsOutput, OpError> {
        let question = Question::new(cx, &self.places, params.project);
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let filter = SessionFilter {
                projects: projects.as_deref(),
                before: params.before.map(|when| when.before(cx.now)),
                after: params.after.map(|when| when.after(cx.now)),
                summarised: false,
                prompted: false,
            };
            let limit = params.limit.within(1..=limits::SESSIONS_MAX);
            let found = sessions::list(rx, &filter, limit)?;
            // What the session keeps of itself is as old as its last turn.
            let listed = found.into_iter().map(|session| {
                let actions = sessions::actions(rx, session.id)?;
                Ok(ListedSession::new(session, actions))
            });
            let sessions = listed.collect::<Result<_, OpError>>()?;
            Ok(ListSessionsOutput { sessions, about: scope.about(cx) })
        })
    }
}

fn pretty(params: &Value, result: &Value) -> String {
    let sessions = show::list(result, "sessions");
    if sessions.is_empty() {
        return show::nothing(
            &format!("No session was active{}", show::times_given(params)),
            params,
            result,
        );
    }
    let now = show::answered_at(result);
    let header = ["session", "date", "last", "state", "project", "actions", "intent"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(sessions.iter().map(|session| {
        let word = |name: &str| show::line(session[name].as_str().unwrap_or_default());
        vec![
            word("session_id"),
            show::date(&session["last_at"]),
            show::age(&session["last_at"], now),
            word("state"),
            word("project"),
            session["actions"].to_string(),
            word("intent"),
        ]
    }));
    show::table(rows)
}
