//! A new session that begins with the sets of an earlier one: a fork always, any other if the setting says so.

use contract::{Config, ConfigKey, ConfigKind};
use model::OpError;
use model::hook::{Happening, Source};
use place::Captured;
use store::{Tx, context, sessions};

use crate::set::publish;

/// Setting: whether a new session begins with the sets of the project's last one.
pub(crate) const CARRY_OVER: &str = "context.carry_over";

pub(crate) const CONFIG: &[ConfigKey] = &[ConfigKey {
    key: CARRY_OVER,
    kind: ConfigKind::Boolean,
    default: "false",
    env: &["REKINDLE_CONTEXT_CARRY_OVER"],
    doc: "Whether a new session of a project begins with the context sets of the last one. A fork always does.",
}];

/// The author of inherited items.
const ADDED_BY: &str = "inherited";

/// Copies the sets of the project's last session to one that begins.
pub(crate) fn capture(tx: &Tx<'_>, seen: &Captured<'_>, config: &Config) -> Result<(), OpError> {
    let Happening::SessionStarted(source) = &seen.event.what else { return Ok(()) };
    if !seen.session.new || !(*source == Source::Fork || config.boolean(CARRY_OVER)) {
        return Ok(());
    }
    let (id, project) = (seen.session.id, seen.session.project);
    let Some(parent) = sessions::latest_before(tx, project, id)? else { return Ok(()) };
    let sets = context::of_session(tx, parent)?;
    if sets.is_empty() {
        return Ok(());
    }
    let version = publish(tx, (project, &seen.event.session), &sets, None)?;
    context::replace(tx, id, &sets, (seen.event.at, ADDED_BY), version)
}
