//! `start_session`, `should_check_in`, `increment_tool_count`, `reset_tool_count` and `check_in`: the counter of tool calls
//! of a session in a project, and the reminder that it makes due.

use contract::{Access, CallTarget, CliShape, Cx, Example, Op, OpInfo};
use model::time::rfc3339;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{check_ins, ghaps};

use super::place::{TOOLSET, WritePlace, new_session_id, target, target_to_read};
use super::{start, told};

const COUNTER: OpInfo = OpInfo {
    access: Access::Write { destructive: false, idempotent: false },
    toolset: TOOLSET,
    typed_errors: true,
    cli: CliShape::CALL_ONLY,
    ..OpInfo::BASE
};

const OF_SESSION: &str = r#"{"session_id":"s-1"}"#;

/// The session and the directory of a call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CounterParams {
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

impl CounterParams {
    fn target(&self, cx: &Cx<'_>) -> Result<CallTarget, OpError> {
        target(cx, self.session_id.as_deref(), self.cwd.as_deref())
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CounterOutput {
    tool_count: u64,
    session_id: String,
}

pub(crate) struct StartSession;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StartSessionOutput {
    session_id: String,
    started_at: String,
}

impl Op for StartSession {
    const INFO: OpInfo = OpInfo {
        name: "start_session",
        summary: "Start a session: its counter of tool calls is set to 0",
        doc: "Without `session_id` it is the session of your agent, or a new one. For agents with hooks, the hooks do this.",
        examples: &[Example { title: "A session", before: &[], params: OF_SESSION }],
        ..COUNTER
    };
    type Params = CounterParams;
    type Output = StartSessionOutput;

    fn run(&self, cx: &Cx<'_>, params: CounterParams) -> Result<StartSessionOutput, OpError> {
        let named = params.session_id.or_else(|| cx.caller.session.clone());
        let name = named.unwrap_or_else(|| new_session_id(cx));
        let target = CallTarget::of(cx, Some(&name), params.cwd.as_deref())?;
        let now = cx.now;
        cx.store.write(move |tx| {
            let place = WritePlace::of(&target, tx)?;
            check_ins::reset(tx, place.session, place.project)?;
            Ok(StartSessionOutput { session_id: place.session_id, started_at: rfc3339(now) })
        })
    }
}

pub(crate) struct ShouldCheckIn;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShouldCheckInParams {
    /// Tool calls, from 1 to 1,000.
    #[serde(default = "default_frequency")]
    frequency: u64,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory of the work.
    #[serde(default)]
    cwd: Option<String>,
}

fn default_frequency() -> u64 {
    limits::CHECK_IN_CALLS
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShouldCheckInOutput {
    should_check_in: bool,
    tool_count: u64,
    session_id: String,
}

impl Op for ShouldCheckIn {
    const INFO: OpInfo = OpInfo {
        name: "should_check_in",
        summary: "Whether the session made as many tool calls as `frequency` says",
        doc: "It only reads the counter. check_in counts, decides and gives the reminder in one call.",
        access: Access::Read,
        examples: &[Example {
            title: "After one call",
            before: &[("increment_tool_count", OF_SESSION)],
            params: r#"{"frequency":1,"session_id":"s-1"}"#,
        }],
        ..COUNTER
    };
    type Params = ShouldCheckInParams;
    type Output = ShouldCheckInOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: ShouldCheckInParams,
    ) -> Result<ShouldCheckInOutput, OpError> {
        let max = limits::CHECK_IN_CALLS_MAX;
        if !(1..=max).contains(&params.frequency) {
            let message = format!("`frequency` is not a number from 1 to {max}");
            return Err(OpError::invalid("frequency", message).with("max", max));
        }
        let target = target_to_read(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let tool_count = cx.store.read(|rx| match (target.session(), target.project(rx)?) {
            (Some(session), Some(project)) => check_ins::count(rx, session.id, project),
            _ => Ok(0),
        })?;
        Ok(ShouldCheckInOutput {
            should_check_in: tool_count >= params.frequency,
            tool_count,
            session_id: target.session_name().unwrap_or_default().to_owned(),
        })
    }
}

pub(crate) struct IncrementToolCount;

impl Op for IncrementToolCount {
    const INFO: OpInfo = OpInfo {
        name: "increment_tool_count",
        summary: "Count a tool call of the session",
        doc: "For agents with hooks, the hooks count.",
        examples: &[Example { title: "One call", before: &[], params: OF_SESSION }],
        ..COUNTER
    };
    type Params = CounterParams;
    type Output = CounterOutput;

    fn run(&self, cx: &Cx<'_>, params: CounterParams) -> Result<CounterOutput, OpError> {
        let (target, now) = (params.target(cx)?, cx.now);
        cx.store.write(move |tx| {
            let place = WritePlace::of(&target, tx)?;
            let counted = check_ins::count_call(tx, place.session, place.project, now)?;
            Ok(CounterOutput { tool_count: counted.count, session_id: place.session_id })
        })
    }
}

pub(crate) struct ResetToolCount;

impl Op for ResetToolCount {
    const INFO: OpInfo = OpInfo {
        name: "reset_tool_count",
        summary: "Set the counter of tool calls to 0",
        doc: "The next reminder comes ten tool calls later.",
        access: Access::Write { destructive: false, idempotent: true },
        examples: &[Example {
            title: "After a reminder",
            before: &[("increment_tool_count", OF_SESSION)],
            params: OF_SESSION,
        }],
        ..COUNTER
    };
    type Params = CounterParams;
    type Output = CounterOutput;

    fn run(&self, cx: &Cx<'_>, params: CounterParams) -> Result<CounterOutput, OpError> {
        let target = params.target(cx)?;
        cx.store.write(move |tx| {
            let place = WritePlace::of(&target, tx)?;
            check_ins::reset(tx, place.session, place.project)?;
            Ok(CounterOutput { tool_count: 0, session_id: place.session_id })
        })
    }
}

pub(crate) struct CheckIn;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CheckInOutput {
    tool_count: u64,
    /// Whether a reminder is due: this is the 10th, 20th, … call since the active ghap began.
    due: bool,
    /// The text of the reminder, if it is due: the active ghap, and the question whether it still holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reminder: Option<String>,
    session_id: String,
}

impl Op for CheckIn {
    const INFO: OpInfo = OpInfo {
        name: "check_in",
        summary: "Count a tool call, and get the reminder of the active ghap if it is due",
        doc: "For agents without hooks. A reminder is due at every tenth tool call since the ghap began.",
        examples: &[Example {
            title: "Not due yet",
            before: &[("start_ghap", start::EXAMPLE)],
            params: OF_SESSION,
        }],
        ..COUNTER
    };
    type Params = CounterParams;
    type Output = CheckInOutput;

    fn run(&self, cx: &Cx<'_>, params: CounterParams) -> Result<CheckInOutput, OpError> {
        let (target, now) = (params.target(cx)?, cx.now);
        cx.store.write(move |tx| {
            let place = WritePlace::of(&target, tx)?;
            let counted = check_ins::count_call(tx, place.session, place.project, now)?;
            let reminder = match counted.due {
                true => ghaps::active(tx, place.session, place.project)?
                    .map(|ghap| told::reminder_lines(&ghap).join("\n")),
                false => None,
            };
            if counted.due {
                // The hook need not show this reminder again.
                let due = i64::try_from(counted.count).unwrap_or(i64::MAX);
                check_ins::shown(tx, place.session, due)?;
            }
            Ok(CheckInOutput {
                tool_count: counted.count,
                due: reminder.is_some(),
                reminder,
                session_id: place.session_id,
            })
        })
    }
}
