//! `delete_hint`: remove a fact that is no longer true, in all its variants or in one.

use std::sync::Arc;

use contract::{Access, CliShape, Cx, Example, Op, OpInfo};
use model::OpError;
use model::event::Event;
use model::hint::{Hint, HintMeta, HintName, HintScope};
use model::situation::Situation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use store::hints;

use crate::choose::Pointer;
use crate::flags;
use crate::held::Held;
use crate::memory::Memory;
use crate::show;

pub(crate) struct DeleteHint {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteHintParams {
    /// Service, module or folder, for example `http-proxy`.
    component: String,
    /// What the fact is about, for example `build`.
    key: String,
    /// Remove only the hint with exactly this scope; `{}` is the one without a scope.
    #[serde(default, deserialize_with = "model::object::optional")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    scope: Option<HintScope>,
    /// Remove only the best hint for who stands there.
    #[serde(default, deserialize_with = "model::object::optional")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    context: Option<Situation>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct DeleteHintOutput {
    /// Always true: what is not there is an error.
    deleted: bool,
    /// The best one of those that are gone.
    previous: Hint,
    /// How many hints are gone.
    removed: usize,
}

impl Op for DeleteHint {
    const INFO: OpInfo = OpInfo {
        name: "delete_hint",
        summary: "Remove the fact under a component and a key",
        doc: "Use it when a fact is no longer true. Without `scope` and `context` all hints of this name \
              go.",
        access: Access::Write { destructive: true, idempotent: false },
        toolset: "hints",
        brief: None,
        aliases: &["nudge.delete_hint", "nudge_delete_hint"],
        cli: CliShape {
            path: &["hint", "delete"],
            positional: &["component", "key"],
            flatten: flags::POINTER,
            pretty: Some(pretty),
            starts_daemon: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The proxy is built otherwise now",
            before: &[(
                "set_hint",
                r#"{"component":"http-proxy","key":"build","value":"docker compose build router"}"#,
            )],
            params: r#"{"component":"http-proxy","key":"build"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = DeleteHintParams;
    type Output = DeleteHintOutput;

    fn run(&self, cx: &Cx<'_>, params: DeleteHintParams) -> Result<DeleteHintOutput, OpError> {
        let name = HintName::new(params.component, params.key)?;
        let pointer = Pointer::new(params.scope, params.context, &cx.caller.situation)?;
        cx.note(Event { kind: "hint/deleted", subject: name.path(), data: Value::Null });
        let memory = self.memory.clone();
        let now = cx.now;
        let done = cx.store.write(move |tx| {
            memory.sweep(tx, now)?;
            let variants: Vec<Held> =
                hints::variants(tx, &name)?.into_iter().map(Held::load).collect();
            let chosen = pointer.choose(&name, &variants, now)?;
            let gone = |held: &&Held| !pointer.is_exact() || held.variant == chosen.variant;
            let mut removed = 0;
            for held in variants.iter().filter(gone) {
                memory.remove(tx, &name, &held.variant)?;
                removed += 1;
            }
            Ok(Deleted(DeleteHintOutput { deleted: true, previous: chosen.shown(), removed }))
        });
        done.map(|Deleted(output)| output)
    }
}

/// The answer as it is stored for a retry of the call: without the hint's value and reason, because they are deleted.
struct Deleted(DeleteHintOutput);

impl Serialize for Deleted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let DeleteHintOutput { deleted, previous, removed } = &self.0;
        let meta = HintMeta { reason: None, ..previous.meta.clone() };
        let previous = Hint { value: Value::Null, meta, ..previous.clone() };
        DeleteHintOutput { deleted: *deleted, previous, removed: *removed }.serialize(serializer)
    }
}

fn pretty(params: &Value, result: &Value) -> String {
    let name = show::name(params);
    match result["removed"].as_u64() {
        Some(count) if count > 1 => format!("✔ deleted hint {name} ({count} variants)"),
        _ => format!("✔ deleted hint {name}"),
    }
}
