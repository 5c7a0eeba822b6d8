//! `hook`: records one event of an agent's hook, once, and answers it if there is something to say.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agents::{Json, Members};
use contract::op::read_params;
use contract::{Access, BriefingForm, Cx, Example, Op, OpInfo, Tier};
use model::hook::{HookEvent, HookForm};
use model::{CallId, OpError, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Tx;

use super::BuiltinState;
use crate::runtime::RuntimeInner;
use crate::{seed, tell};

pub(crate) const NAME: &str = "hook";

pub(super) struct Hook(pub(super) Arc<BuiltinState>);

/// The event itself is `P`: an owned value, or borrowed from the request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HookParams")]
pub struct HookParams<P = serde_json::Map<String, Value>> {
    /// Name of the event as the agent has it, for example `PostToolUse`; by default the event's own member.
    #[serde(default)]
    event: Option<String>,
    /// The event as the agent sends it; unknown members are ignored.
    payload: P,
    /// The agent that sends it, for example `codex`; by default it is recognised.
    #[serde(default)]
    agent: Option<String>,
    /// Id of the event, 32 hex digits; an id is recorded only once.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    id: Option<CallId>,
    /// Time of the event, in milliseconds since 1970; at most a day ahead of the clock.
    #[serde(default)]
    at: Option<i64>,
    /// The format of a briefing; `nmem` is that of its specification.
    #[serde(default)]
    form: BriefingForm,
    /// The format of the answer; `seed` is an object with a `type`.
    #[serde(default)]
    format: HookForm,
}

/// Parses the body of a hook event. A large one is shortened first, so that the parsed tree stays small.
pub fn read_event(body: &[u8]) -> Result<Value, OpError> {
    let bad = |why: String| OpError::invalid("payload", why);
    let event =
        agents::shortened(body).ok_or_else(|| bad("the body is not one JSON object".to_owned()))?;
    serde_json::from_slice(&event).map_err(|error| bad(format!("the body is not JSON: {error}")))
}

/// The parameters of a call whose event is borrowed from the request.
pub type EventParams<'a> = HookParams<Members<'a>>;

#[derive(Serialize, JsonSchema)]
pub(crate) struct HookOutput {
    /// Whether this event was new.
    recorded: bool,
    /// The answer in the agent's own format; left out if there is nothing to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
    /// The text in `answer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
}

impl HookOutput {
    pub(crate) fn to_value(&self) -> Result<Value, OpError> {
        serde_json::to_value(self)
            .map_err(|error| OpError::internal(format!("the result is not JSON: {error}")))
    }
}

impl Op for Hook {
    const INFO: OpInfo = OpInfo {
        name: NAME,
        summary: "Record one event of an agent's hook",
        doc: "Agents reach this through `rekindle hook EVENT` or `POST /hook/EVENT`; an event that is sent twice is recorded once.",
        access: Access::Write { destructive: false, idempotent: true },
        tiers: &[Tier::Hook, Tier::Client, Tier::Person],
        toolset: "system",
        large: true,
        examples: &[Example {
            title: "A tool was used",
            before: &[],
            params: r#"{"event":"PostToolUse","payload":{"session_id":"s-1","cwd":"/srv/app","tool_name":"Bash","tool_input":{"command":"make test"}}}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = HookParams;
    type Output = HookOutput;

    /// Runs for an operation that calls this one; events from outside use `intake`, which needs no thread.
    fn run(&self, cx: &Cx<'_>, params: HookParams) -> Result<HookOutput, OpError> {
        let inner = self.0.inner()?;
        let incoming = Incoming::of_value(params, cx.store.call_id(), cx.caller.tier, cx.now)?;
        let recorded = cx.store.write_unanswered(incoming.record(&inner))?;
        Ok(incoming.output(&inner, recorded))
    }
}

/// An event that is being recorded.
pub(crate) struct Incoming {
    event: Arc<HookEvent>,
    /// When the agent stops waiting; `None` if it waits without limit.
    until: Option<Instant>,
    form: BriefingForm,
    format: HookForm,
}

impl Incoming {
    /// Reads the parameters of a call.
    pub(crate) fn read(
        mut params: Value,
        call: CallId,
        tier: Tier,
        now: i64,
    ) -> Result<Incoming, OpError> {
        // The event is long and used as it is; only the members beside it are deserialized.
        let payload = params.get_mut("payload").and_then(Value::as_object_mut);
        let payload = payload.map(std::mem::take);
        let read: HookParams = read_params(&Hook::INFO, params)?;
        let params = HookParams { payload: payload.unwrap_or_default(), ..read };
        Incoming::of_value(params, Some(call), tier, now)
    }

    fn of_value(
        params: HookParams,
        call: Option<CallId>,
        tier: Tier,
        now: i64,
    ) -> Result<Incoming, OpError> {
        let HookParams { event, payload, agent, id, at, form, format } = params;
        let payload = Value::Object(payload);
        let payload = Json::from(&payload);
        let params = HookParams { event, payload, agent, id, at, form, format };
        Incoming::of(params, call, tier, now)
    }

    pub(crate) fn of<'a>(
        params: HookParams<impl Into<Json<'a>>>,
        call: Option<CallId>,
        tier: Tier,
        now: i64,
    ) -> Result<Incoming, OpError> {
        let started = Instant::now();
        let id = params.id.or(call);
        let id = id.ok_or_else(|| OpError::invalid("id", "the event has no id"))?;
        let (agent, event) = (params.agent.as_deref(), params.event.as_deref());
        let payload = params.payload.into();
        let at = time::plausible(params.at.unwrap_or(now), now);
        // The hook began to wait when it noted the time, not when the daemon got around to its event.
        let waited = params
            .at
            .and_then(|at| u64::try_from(now.saturating_sub(at)).ok())
            .map(Duration::from_millis);
        let event = agents::extract(agent, event, &payload, id, at)?;
        event.check()?;
        // Only a hook gives up on a late answer; other callers wait for it.
        let patience = tell::patience(&event);
        let waited = waited.filter(|waited| *waited < patience).unwrap_or_default();
        let until = (tier == Tier::Hook).then(|| started + patience - waited);
        let (form, format) = (params.form, params.format);
        Ok(Incoming { event: Arc::new(event), until, form, format })
    }

    pub(crate) fn event(&self) -> Arc<HookEvent> {
        self.event.clone()
    }

    /// The write that records the event. It returns whether the event was new: the event's own id identifies a
    /// repeat.
    pub(crate) fn record(
        &self,
        inner: &RuntimeInner,
    ) -> impl FnMut(&Tx<'_>) -> Result<bool, OpError> + Send + use<> {
        inner.builtin.saw(&self.event.record());
        let (recorder, event) = (inner.recorder(), self.event.clone());
        recorder.places.prepare(&event);
        move |tx| recorder.record(tx, &event)
    }

    /// Whether there may be an answer, which takes a while to compute.
    pub(crate) fn may_be_answered(&self, inner: &RuntimeInner) -> bool {
        inner.occasion_of(&self.event).is_some()
    }

    /// The output, after the event is committed.
    pub(crate) fn output(&self, inner: &RuntimeInner, recorded: bool) -> HookOutput {
        let reply = recorded.then(|| inner.tell(&self.event, self.until, self.form)).flatten();
        let answer = match self.format {
            HookForm::Host => {
                reply.as_ref().and_then(|reply| agents::answer(&self.event, &reply.text))
            }
            HookForm::Seed if recorded => {
                let text = reply.as_ref().map(|reply| reply.text.as_str());
                let entries = reply.as_ref().map(|reply| reply.entries.as_slice());
                seed::answer(&self.event, text, entries.unwrap_or_default())
            }
            HookForm::Seed => None,
        };
        HookOutput { recorded, answer, context: reply.map(|reply| reply.text) }
    }
}
