//! Replays the weeks: every event of every session, with its time.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;

use super::payload::Frame;
use super::plan::{PlannedSession, Weeks};
use super::random::Random;
use super::wire::{self, HookConnection};
use crate::home::Home;

/// The time between two events of a session is a second plus a random time shorter than this, in milliseconds.
const PAUSE_MAX_MS: u64 = 90_000;

/// A session and the briefing that it began with.
pub(super) struct Briefed<'a> {
    pub(super) session: &'a PlannedSession,
    pub(super) briefing: String,
}

/// Sends all events. Returns each session with its briefing, in the order in which they began.
pub(super) fn live<'a>(home: &Home, weeks: &'a Weeks) -> Result<Vec<Briefed<'a>>> {
    let begin = wire::now_ms()?.saturating_sub(Weeks::length_ms());
    let mut wire = HookConnection::open(home)?;
    let mut random = Random::new(begin);
    let mut briefed = Vec::new();
    for session in &weeks.sessions {
        let folder = wire::repository(&folder(home, &session.project))?;
        let frame = Frame { agent: session.agent, session: &session.id, folder: &folder };
        let mut at = begin + session.start;
        let answer = wire.send(frame.agent, &frame.start(), at)?;
        let briefing = answer.pointer("/hookSpecificOutput/additionalContext");
        let briefing = briefing.and_then(Value::as_str).unwrap_or_default().to_owned();
        briefed.push(Briefed { session, briefing });
        for step in &session.steps {
            at += 1_000 + random.below(PAUSE_MAX_MS);
            wire.send(frame.agent, &frame.step(step, at), at)?;
        }
        if let Some(end) = frame.end() {
            wire.send(frame.agent, &end, at + 1_000)?;
        }
    }
    Ok(briefed)
}

pub(super) fn folder(home: &Home, project: &str) -> PathBuf {
    home.file("home").join(project)
}
