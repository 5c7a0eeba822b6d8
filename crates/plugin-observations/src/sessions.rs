//! `list_sessions`: the sessions that were recorded, the one that was active last first.

use contract::pretty::{notes, pretty, refusal};
use contract::{CliShape, Cx, Example, Listed, Op, OpInfo, Pretty};
use model::session::{Session, SessionState};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::sessions::{self, SessionFilter};
use text::table::table;

use crate::count::Count;
use crate::examples;
use crate::show;
use crate::when::TimeBound;
use place::{About, Wanted};

pub(crate) struct ListSessions;

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
    before: Option<TimeBound>,
    /// Only those last active after.
    #[serde(default)]
    after: Option<TimeBound>,
}

fn default_limit() -> Count {
    Count::new(limits::SESSIONS_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListSessionsOutput {
    sessions: Vec<ListedSession>,
    #[serde(flatten)]
    about: About,
}

/// A session in short.
#[derive(Serialize, Deserialize, JsonSchema)]
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
    /// The number of actions.
    actions: u64,
    /// The user's intent.
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
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            refusal: Some(refusal::<Self>),
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
        let question = cx.caller.projects(params.project);
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let filter = SessionFilter {
                projects: projects.as_deref(),
                before: params.before.as_ref().map(|when| when.before(cx.now)),
                after: params.after.as_ref().map(|when| when.after(cx.now)),
                ..SessionFilter::default()
            };
            let limit = params.limit.within(1..=limits::SESSIONS_MAX);
            let found = sessions::list(rx, &filter, limit)?;
            // Count actions now: the stored summary is as old as the last turn.
            let listed = found.into_iter().map(|session| {
                let actions = sessions::actions(rx, session.id)?;
                Ok(ListedSession::new(session, actions))
            });
            let sessions = listed.collect::<Result<_, OpError>>()?;
            Ok(ListSessionsOutput { sessions, about: scope.about(cx.now) })
        })
    }
}

impl Pretty for ListSessions {
    fn pretty(params: &ListSessionsParams, output: &ListSessionsOutput, width: usize) -> String {
        let ListSessionsOutput { sessions, about } = output;
        if sessions.is_empty() {
            let times = show::times_given(params.after.as_ref(), params.before.as_ref());
            let what = format!("No session was active{times}");
            return show::nothing(&what, &params.project, about);
        }
        let header = ["session", "date", "last", "state", "project", "actions", "intent"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        let ids = show::session_ids(sessions.iter().map(|session| session.session_id.as_str()));
        rows.extend(sessions.iter().zip(ids).map(|(session, id)| {
            vec![
                id,
                zone::shown(session.last_at),
                show::age(session.last_at, about.answered_at),
                session.state.word().to_owned(),
                show::line(&session.project),
                session.actions.to_string(),
                session.intent.as_deref().map(show::line).unwrap_or_default(),
            ]
        }));
        table(&rows, &["date", "actions", "state"], width)
    }

    fn notes(params: &ListSessionsParams, output: &ListSessionsOutput) -> Vec<String> {
        show::list_notes(output.sessions.len(), "session", params.limit, limits::SESSIONS_MAX)
    }

    fn refusal(params: &ListSessionsParams, now_ms: i64) -> Option<OpError> {
        show::empty_time(params.after.as_ref(), params.before.as_ref(), now_ms)
    }
}
