//! Copies the sets of an earlier session to a new one: always to a fork and to a session that goes on after `/clear`,
//! to others only if the setting says so.

use contract::{Config, ConfigKey, ConfigKind};
use model::hook::{Happening, Source};
use model::{OpError, limits};
use place::Captured;
use store::session_details::{self, SessionDetails};
use store::{Tx, context, session_events, sessions};

/// Setting: whether a new session begins with the sets of the project's last one.
pub(crate) const CARRY_OVER: &str = "context.carry_over";

pub(crate) const CONFIG: &[ConfigKey] = &[ConfigKey {
    key: CARRY_OVER,
    kind: ConfigKind::Boolean,
    default: "false",
    env: &["REKINDLE_CONTEXT_CARRY_OVER"],
    doc: "Whether a new session of a project begins with the context sets of the last one. A fork always does, and so does a session after `/clear`.",
}];

/// The author of inherited items.
pub(crate) const ADDED_BY: &str = "inherited";

/// How long after the end of a session a session that starts by `/clear` still continues it, in milliseconds.
const CLEARED_MS: i64 = 60_000;

/// Copies the sets of an earlier session to one that begins.
pub(crate) fn capture(tx: &Tx<'_>, seen: &Captured<'_>, config: &Config) -> Result<(), OpError> {
    let Happening::SessionStarted(source) = &seen.event.what else { return Ok(()) };
    if !seen.session.new {
        return Ok(());
    }
    let (id, project, now) = (seen.session.id, seen.session.project, seen.event.at);
    // Claude Code and Codex end the session at `/clear` and go on under a new id. Another agent may have been active
    // in the project since.
    let times = now.saturating_sub(CLEARED_MS)..=now.saturating_add(limits::CLOCK_SLACK_MS);
    let cleared = match source {
        Source::Clear => sessions::ended_within(tx, (project, &seen.event.agent), id, times)?,
        _ => None,
    };
    let takes_latest = *source == Source::Fork || config.boolean(CARRY_OVER);
    let earlier = match cleared {
        None if takes_latest => sessions::latest_before(tx, project, id, now)?,
        cleared => cleared,
    };
    let Some(earlier) = earlier else { return Ok(()) };
    let sets = context::of_session(tx, earlier)?;
    if *source == Source::Clear {
        let hint = session_details::of_session(tx, earlier)?.env_hint;
        let details = session_details::of_session(tx, id)?;
        session_details::put(tx, id, &SessionDetails { env_hint: hint, ..details })?;
    }
    if sets.is_empty() {
        return Ok(());
    }
    let of = (Some(project), seen.event.session.as_str());
    let version = session_events::context_changed(tx, of, &sets, None)?;
    context::replace(tx, id, &sets, (now, ADDED_BY), version)
}
