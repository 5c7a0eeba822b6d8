//! The session in which a search is asked.

use contract::Cx;
use model::session::SessionState;
use model::wire::Tier;
use model::{OpError, limits};
use store::Rx;
use store::sessions::{self, SessionFilter};

use place::Wanted;

/// The agent that always names its session over MCP. A caller that names no session is another agent.
const NAMES_ITS_SESSION: &str = "claude-code";

/// The session that the caller names. If an agent names none, it is the only session of an agent other than Claude Code
/// that is at work in the caller's project; if there are several, it is unknown. Any other caller that names none has
/// no session.
pub(super) fn of(rx: &Rx<'_>, cx: &Cx<'_>) -> Result<Option<i64>, OpError> {
    if cx.caller.session.is_some() {
        return cx.caller.session_id(rx);
    }
    if cx.caller.tier != Tier::Agent {
        return Ok(None);
    }
    let projects = cx.caller.projects(Wanted::Here).scope(rx)?.ids().filter(|ids| !ids.is_empty());
    let Some(projects) = projects else { return Ok(None) };
    let filter = SessionFilter {
        projects: Some(&projects),
        after: Some(cx.now.saturating_sub(limits::AT_WORK_MS)),
        prompted: true,
        ..SessionFilter::default()
    };
    let mut lately = sessions::list(rx, &filter, limits::AT_WORK_SESSIONS_READ)?;
    lately.retain(|session| {
        session.state == SessionState::Active && session.agent != NAMES_ITS_SESSION
    });
    match lately.as_slice() {
        [only] => Ok(Some(only.id)),
        _ => Ok(None),
    }
}
