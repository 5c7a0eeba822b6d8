//! `bump_hint`: reports that a fact helped, so that it ranks higher.

use std::sync::Arc;

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::OpError;
use model::event::Event;
use model::hint::{Hint, HintName, HintScope};
use model::situation::Situation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::hints::{self, StoredHint};

use crate::choose::Pointer;
use crate::flags;
use crate::held::Held;
use crate::memory::Memory;

/// The store counts in signed 64-bit numbers.
const USE_COUNT_MAX: u64 = i64::MAX.unsigned_abs();

pub(crate) struct BumpHint {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BumpHintParams {
    component: String,
    key: String,
    /// Uses to add.
    #[serde(default = "one")]
    delta: u64,
    /// Exactly this scope; `{}` for none.
    #[serde(default, deserialize_with = "model::object::optional")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    scope: Option<HintScope>,
    /// The best hint for this situation.
    #[serde(default, deserialize_with = "model::object::optional")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    context: Option<Situation>,
}

fn one() -> u64 {
    1
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct BumpHintOutput {
    hint: Hint,
}

impl Op for BumpHint {
    const INFO: OpInfo = OpInfo {
        name: "bump_hint",
        summary: "Report that a fact helped, so that it ranks higher",
        doc: "Call it after the hinted command worked.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: "hints",
        brief: None,
        core: true,
        advanced: &["delta", "scope", "context"],
        aliases: &["nudge.bump_hint", "nudge_bump_hint", "nudge.bump", "nudge_bump"],
        cli: CliShape {
            path: &["hint", "bump"],
            positional: &["component", "key"],
            help: &[("component", "For example `http-proxy`"), ("key", "For example `build`")],
            flatten: flags::POINTER,
            pretty: Some(pretty::<Self>),
            starts_daemon: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The build command worked",
            before: &[(
                "set_hint",
                r#"{"component":"http-proxy","key":"build","value":"docker compose build router"}"#,
            )],
            params: r#"{"component":"http-proxy","key":"build","delta":2}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = BumpHintParams;
    type Output = BumpHintOutput;

    fn run(&self, cx: &Cx<'_>, params: BumpHintParams) -> Result<BumpHintOutput, OpError> {
        let BumpHintParams { component, key, delta, scope, context } = params;
        let name = HintName::new(component, key)?;
        if delta < 1 {
            return Err(OpError::invalid("delta", "the delta is not at least 1"));
        }
        let pointer = Pointer::new(scope, context, &cx.caller.situation)?;
        cx.note(Event::new("hint/bumped", name.path()));
        let memory = self.memory.clone();
        let now = cx.now;
        cx.store.write(move |tx| {
            let stored = hints::variants(tx, &name)?.into_iter();
            let variants: Vec<Held> =
                stored.map(Held::load).filter(|held| held.is_alive(now)).collect();
            let chosen = &pointer.choose(&name, &variants, now)?.stored;
            let held = Arc::new(Held::load(bumped(chosen, delta, now)));
            let hint = held.shown();
            memory.put(tx, held)?;
            Ok(BumpHintOutput { hint })
        })
    }
}

/// The hint with its use count raised by `delta`.
pub(crate) fn bumped(stored: &StoredHint, delta: u64, now: i64) -> StoredHint {
    let use_count = stored.use_count.saturating_add(delta).min(USE_COUNT_MAX);
    StoredHint { use_count, last_used_at: Some(now), ..stored.clone() }
}

impl Pretty for BumpHint {
    fn pretty(_: &BumpHintParams, BumpHintOutput { hint }: &BumpHintOutput, _: usize) -> String {
        format!("↑ bumped frecency: use_count={} last_used_at=now", hint.use_count)
    }
}
