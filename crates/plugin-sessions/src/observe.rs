//! `observe_session`: marks a session as seen. A turn that ends marks it idle, the next prompt marks it as seen.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, RestMethod, RestRoute};
use model::OpError;
use model::hook::{Ends, Happening};
use place::Captured;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::session_events::{ALL, ListChange};
use store::{Tx, session_details};

use crate::target;

pub(crate) struct ObserveSession;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObserveSessionParams {
    /// The agent's own id, or `*` for all; on the command line its first characters will do.
    session_id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ObserveSessionOutput {
    success: bool,
    was_unobserved: bool,
    /// How many sessions are unobserved now.
    unobserved_count: u64,
}

impl Op for ObserveSession {
    const INFO: OpInfo = OpInfo {
        name: "observe_session",
        summary: "Mark a session as seen",
        doc: "A session whose turn ended since it was last seen is unobserved.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: "sessions",
        cli: CliShape {
            path: &["sessions", "observe"],
            positional: &["session_id"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        rest: &[RestRoute::new(RestMethod::Post, "/api/sessions/{session_id}/observe")],
        examples: &[Example {
            title: "All sessions",
            before: &[],
            params: r#"{"session_id":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ObserveSessionParams;
    type Output = ObserveSessionOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: ObserveSessionParams,
    ) -> Result<ObserveSessionOutput, OpError> {
        let one = match params.session_id.as_str() {
            ALL => None,
            id => Some(cx.store.read(|rx| target::find(rx, id, cx.caller.session_id_form()))?),
        };
        let now = cx.now;
        cx.store.write(move |tx| {
            let these = match &one {
                Some(session) => vec![session.id],
                None => session_details::unobserved(tx)?,
            };
            let mut was_unobserved = false;
            for session in these {
                was_unobserved |= observed(tx, session, now)?;
            }
            if was_unobserved {
                let named = one.as_ref().map_or((None, ALL), |session| {
                    (Some(session.project_id), session.session_id.as_str())
                });
                ListChange::Observed.note(tx, named)?;
            }
            let unobserved_count = session_details::count_unobserved(tx)?;
            Ok(ObserveSessionOutput { success: true, was_unobserved, unobserved_count })
        })
    }
}

impl Pretty for ObserveSession {
    fn pretty(params: &ObserveSessionParams, output: &ObserveSessionOutput, _: usize) -> String {
        let left = match output.unobserved_count {
            0 => "no session is unobserved".to_owned(),
            1 => "1 session is unobserved".to_owned(),
            count => format!("{count} sessions are unobserved"),
        };
        match (output.was_unobserved, params.session_id.as_str()) {
            (true, ALL) => format!("✔ marked all sessions as seen; {left}"),
            (true, _) => format!("✔ marked as seen; {left}"),
            (false, ALL) => "all sessions were seen already".to_owned(),
            (false, _) => format!("it was seen already; {left}"),
        }
    }
}

/// Marks a session as seen. Returns whether it was unobserved.
fn observed(tx: &Tx<'_>, session: i64, now: i64) -> Result<bool, OpError> {
    let mut details = session_details::of_session(tx, session)?;
    let was_unobserved = details.is_unobserved();
    if was_unobserved {
        // The clock may have been set back since the turn ended.
        details.observed_at = Some(now.max(details.idle_at.unwrap_or_default()));
        session_details::put(tx, session, &details)?;
    }
    Ok(was_unobserved)
}

/// Notes from an event that a session started, became active again, is idle or ended, or that the user continued it.
pub(crate) fn capture(tx: &Tx<'_>, seen: &Captured<'_>) -> Result<(), OpError> {
    let (event, session) = (&*seen.event, seen.session);
    let of = (Some(session.project), event.session.as_str());
    let starts = matches!(event.what, Happening::SessionStarted(source) if !source.forgot());
    if session.new || matches!(event.what, Happening::SessionStarted(_)) {
        let model = event.model.as_deref();
        session_details::note_start(tx, session.id, event.cwd.as_ref(), model)?;
    }
    if session.new || starts {
        ListChange::Started.note(tx, of)?;
    }
    match &event.what {
        Happening::Prompted(_) if observed(tx, session.id, event.at)? => {
            ListChange::Observed.note(tx, of)
        }
        Happening::TurnEnded => idle(tx, seen),
        Happening::Answered(answer) if answer.ends == Ends::Turn => idle(tx, seen),
        Happening::SessionEnded { .. } => ListChange::Ended.note(tx, of),
        // Sent once: a new or starting session was noted above.
        _ if session.went_active && !starts => ListChange::Started.note(tx, of),
        _ => Ok(()),
    }
}

fn idle(tx: &Tx<'_>, seen: &Captured<'_>) -> Result<(), OpError> {
    let (session, at) = (seen.session.id, seen.event.at);
    let mut details = session_details::of_session(tx, session)?;
    // Not before the last end of a turn, and after the last observation, even if the clock was set back since.
    let seen_at = details.observed_at.map_or(0, |observed| observed.saturating_add(1));
    details.idle_at = Some(at.max(details.idle_at.unwrap_or_default()).max(seen_at));
    session_details::put(tx, session, &details)?;
    ListChange::Idle.note(tx, (Some(seen.session.project), &seen.event.session))
}
