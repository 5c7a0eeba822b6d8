//! `list_sessions`: the sessions that were recorded, the one that was active last first.

use contract::listing;
use contract::pretty::{notes, pretty, refusal};
use contract::{CliShape, Count, Cx, Example, Listed, Op, OpInfo, Pretty, TimeBound};
use model::session::SessionState;
use model::{OpError, limits};
use place::{About, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Rx, sessions};
use text::table::table;

use crate::rows::{SessionQuery, SessionRow};

pub(crate) struct ListSessions;

/// A short session as an agent's hooks report it.
pub(crate) const A_SESSION: &[(&str, &str)] = &[
    (
        "hook",
        r#"{"event":"UserPromptSubmit","at":1767261600000,"payload":{"session_id":"s-1","cwd":"/home/you/web","prompt":"Fix the login bug in the auth module"}}"#,
    ),
    (
        "hook",
        r#"{"event":"PostToolUse","at":1767261720000,"payload":{"session_id":"s-1","cwd":"/home/you/web","tool_name":"Bash","tool_use_id":"t-2","tool_input":{"command":"cargo test auth"},"tool_response":{"stdout":"test result: ok. 4 passed","stderr":""}}}"#,
    ),
    (
        "hook",
        r#"{"event":"Stop","at":1767261780000,"payload":{"session_id":"s-1","cwd":"/home/you/web"}}"#,
    ),
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListSessionsParams {
    /// Project whose sessions are listed; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
    /// Characters that the name, the intent or the directory contains in this order.
    #[serde(default)]
    query: Option<String>,
    /// Only those that are `active`, `idle` or `ended`.
    #[serde(default)]
    state: Option<SessionState>,
    /// Only those whose turn ended since you last looked at them.
    #[serde(default)]
    unobserved: bool,
    /// How many sessions, from 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Only those active before: a date, `yesterday`, `friday`, `3d`, `last week` or an RFC 3339 time.
    #[serde(default)]
    before: Option<TimeBound>,
    /// Only those active after.
    #[serde(default)]
    after: Option<TimeBound>,
    /// `next` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

fn default_limit() -> Count {
    Count::new(limits::SESSIONS_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListSessionsOutput {
    sessions: Vec<ListedSession>,
    /// The cursor of the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(flatten)]
    about: About,
}

/// A session in short.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListedSession {
    /// The agent's own id.
    session_id: String,
    /// The user's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    project: String,
    agent: String,
    state: SessionState,
    /// Whether its turn ended since it was last seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unobserved: bool,
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
    fn read(rx: &Rx<'_>, row: SessionRow) -> Result<ListedSession, OpError> {
        let intent = row.intent().map(str::to_owned);
        let SessionRow { session, details, .. } = row;
        // The stored counts are as of the end of the last turn.
        let actions = match session.state {
            SessionState::Active => sessions::actions(rx, session.id)?,
            _ => {
                let counts = sessions::counts(rx, &session)?;
                counts.iter().filter(|(kind, _)| kind.is_action()).map(|(_, count)| count).sum()
            }
        };
        Ok(ListedSession {
            unobserved: details.is_unobserved(),
            name: details.label,
            session_id: session.session_id,
            project: session.project,
            agent: session.agent,
            state: session.state,
            started_at: session.started_at.div_euclid(1000),
            last_at: session.last_at.div_euclid(1000),
            ended_at: session.ended_at.map(|at| at.div_euclid(1000)),
            actions,
            intent,
        })
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
            before: A_SESSION,
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
            let query = SessionQuery {
                projects: scope.ids(),
                text: params.query,
                state: params.state,
                unobserved: params.unobserved,
                before: params.before.as_ref().map(|when| when.before(cx.now)),
                after: params.after.as_ref().map(|when| when.after(cx.now)),
                cursor: params.cursor,
            };
            let limit = params.limit.of_caller(cx.caller, "limit", 1..=limits::SESSIONS_MAX)?;
            let page = query.page(rx, limit)?;
            let listed = page.rows.into_iter().map(|row| ListedSession::read(rx, row));
            let sessions = listed.collect::<Result<Vec<_>, OpError>>()?;
            let ids = sessions.iter().map(|session| session.session_id.as_str());
            let about = About { id_chars: listing::id_chars(cx, rx, ids)?, ..scope.about(cx.now) };
            Ok(ListSessionsOutput { sessions, next: page.next, about })
        })
    }
}

impl Pretty for ListSessions {
    fn pretty(params: &ListSessionsParams, output: &ListSessionsOutput, width: usize) -> String {
        let ListSessionsOutput { sessions, about, .. } = output;
        if sessions.is_empty() {
            let times = listing::times_given(params.after.as_ref(), params.before.as_ref());
            let filtered = params.unobserved || params.state.is_some() || params.query.is_some();
            let what = match filtered {
                true => format!("No session{times} matches"),
                false => format!("No session was active{times}"),
            };
            return listing::nothing(&what, &params.project, about);
        }
        let header = ["session", "date", "last", "state", "project", "actions", "intent"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        let ids = sessions.iter().map(|session| session.session_id.as_str());
        let ids = listing::session_ids(ids, about.id_chars);
        rows.extend(sessions.iter().zip(ids).map(|(session, id)| {
            let told = session.name.as_deref().or(session.intent.as_deref());
            vec![
                id,
                zone::shown(session.last_at),
                listing::age(session.last_at, about.answered_at),
                session.state.word().to_owned(),
                listing::line(&session.project),
                session.actions.to_string(),
                told.map(listing::line).unwrap_or_default(),
            ]
        }));
        table(&rows, &["date", "actions", "state"], width)
    }

    fn notes(params: &ListSessionsParams, output: &ListSessionsOutput) -> Vec<String> {
        let count = output.sessions.len();
        let older = output.next.as_ref().map(|next| format!("; --cursor {next} shows older ones"));
        let counted = text::counted(count, "session");
        let counted = (count > 0).then(|| format!("{counted}{}", older.unwrap_or_default()));
        let reduced = listing::limit_note(params.limit, limits::SESSIONS_MAX);
        counted.into_iter().chain(reduced).collect()
    }

    fn refusal(params: &ListSessionsParams, now_ms: i64) -> Option<OpError> {
        listing::empty_time(params.after.as_ref(), params.before.as_ref(), now_ms)
    }
}
