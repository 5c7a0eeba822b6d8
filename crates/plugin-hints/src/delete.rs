//! `delete_hint`: removes a fact that is no longer true, all its variants or one.

use std::sync::Arc;

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, RestMethod, RestRoute};
use model::OpError;
use model::event::Event;
use model::hint::{Hint, HintMeta, HintName, HintScope};
use model::situation::Situation;
use model::time::rfc3339;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use store::hints;

use crate::choose::Pointer;
use crate::flags;
use crate::held::Held;
use crate::memory::Memory;

pub(crate) struct DeleteHint {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteHintParams {
    /// Service, module or folder, for example `http-proxy`.
    component: String,
    /// The topic of the fact, for example `build`.
    key: String,
    /// Remove only the hint with exactly this scope; `{}` is the one without a scope.
    #[serde(default, deserialize_with = "model::object::optional")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    scope: Option<HintScope>,
    /// Remove only the best hint for this situation.
    #[serde(default, deserialize_with = "model::object::optional")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    context: Option<Situation>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct DeleteHintOutput {
    /// Always true: a missing hint is an error.
    deleted: bool,
    /// The best of the removed hints.
    previous: Hint,
    /// The number of removed hints.
    removed: usize,
}

impl Op for DeleteHint {
    const INFO: OpInfo = OpInfo {
        name: "delete_hint",
        summary: "Remove the fact under a component and a key",
        doc: "Use it when a fact is no longer true. Without `scope` and `context` all hints of this name \
              are deleted.",
        access: Access::Write { destructive: true, idempotent: false },
        toolset: "hints",
        brief: None,
        aliases: &["nudge.delete_hint", "nudge_delete_hint"],
        cli: CliShape {
            path: &["hint", "delete"],
            positional: &["component", "key"],
            flatten: flags::POINTER,
            pretty: Some(pretty::<Self>),
            starts_daemon: true,
            ..CliShape::CALL_ONLY
        },
        rest: &[RestRoute::new(RestMethod::Delete, flags::REST_PATH).query(flags::REST_POINTER)],
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
        cx.note(Event::new("hint/deleted", name.path()));
        let memory = self.memory.clone();
        let now = cx.now;
        let done = cx.store.write(move |tx| {
            let readable = hints::variants(tx, &name)?;
            let unreadable = hints::count_named(tx, &name)?.saturating_sub(readable.len());
            let mut variants: Vec<Held> = readable.into_iter().map(Held::load).collect();
            variants.retain(|held| held.is_alive(now));
            let is_lost = variants.is_empty() && unreadable > 0 && !pointer.is_exact();
            let (previous, removed) = if is_lost {
                memory.remove_named(tx, &name)?;
                (unreadable_hint(now), unreadable)
            } else {
                let chosen = pointer.choose(&name, &variants, now)?;
                let removed = if pointer.is_exact() {
                    memory.remove(tx, &name, &chosen.variant)?;
                    1
                } else {
                    memory.remove_named(tx, &name)?;
                    variants.len() + unreadable
                };
                (chosen.shown(), removed)
            };
            // Swept only now: the expiry of a damaged row may be wrong, so an earlier sweep could delete the hint
            // itself.
            memory.sweep(tx, now)?;
            Ok(Deleted(DeleteHintOutput { deleted: true, previous, removed }))
        });
        done.map(|Deleted(output)| output)
    }
}

/// The answer for a deleted hint whose row could not be read.
fn unreadable_hint(now: i64) -> Hint {
    Hint {
        value: Value::Null,
        meta: HintMeta::default(),
        version: 1,
        created_at: rfc3339(now),
        updated_at: rfc3339(now),
        last_used_at: None,
        use_count: 0,
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

impl Pretty for DeleteHint {
    fn pretty(params: &DeleteHintParams, output: &DeleteHintOutput, _: usize) -> String {
        let DeleteHintParams { component, key, .. } = params;
        match output.removed {
            count @ 2.. => format!("✔ deleted hint {component}/{key} ({count} variants)"),
            _ => format!("✔ deleted hint {component}/{key}"),
        }
    }
}
