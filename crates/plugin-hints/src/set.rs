//! `set_hint`: store a small fact, or change it.

use std::sync::Arc;

use contract::{Access, CliShape, Cx, Example, Op, OpInfo};
use model::event::Event;
use model::hint::{self, Hint, HintMeta, HintName};
use model::{Code, OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Tx;
use store::hints::{self, StoredHint};

use crate::memory::{Memory, shown};

pub(crate) struct SetHint {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetHintParams {
    /// Service, module or folder, for example `http-proxy`.
    component: String,
    /// What the fact is about, for example `build`.
    key: String,
    /// The fact: a string, or an object whose `type` is command, path, template or json.
    value: Value,
    /// Why, tags and lifetime. Left out, the hint keeps what it has; `{}` clears it.
    #[serde(default)]
    meta: Option<HintMeta>,
    /// Change it only if this is its version; 0 means it must not exist yet.
    #[serde(default)]
    if_match_version: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct SetHintOutput {
    hint: Hint,
}

impl Op for SetHint {
    const INFO: OpInfo = OpInfo {
        name: "set_hint",
        summary: "Store a small fact under a component and a key",
        doc: "Use it when you learned the exact command, directory, toggle or template that is easy \
              to forget: the build command of a service, the folder to run it in.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: "hints",
        core: true,
        aliases: &["nudge.set_hint", "nudge_set_hint"],
        cli: CliShape {
            path: &["hint", "set"],
            positional: &["component", "key", "value"],
            flatten: Some("meta"),
            pretty: Some(pretty),
            starts_daemon: true,
        },
        examples: &[
            Example {
                title: "A build command",
                before: &[],
                params: r#"{"component":"http-proxy","key":"build","value":"docker compose build router"}"#,
            },
            Example {
                title: "With a reason and tags, kept for good",
                before: &[],
                params: r#"{"component":"api","key":"test","value":{"type":"command","cmd":"make test"},"meta":{"reason":"needs the fixtures","tags":["test"],"ttl":"forever"}}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = SetHintParams;
    type Output = SetHintOutput;

    fn run(&self, cx: &Cx<'_>, params: SetHintParams) -> Result<SetHintOutput, OpError> {
        let SetHintParams { component, key, value, meta, if_match_version } = params;
        let name = HintName::new(component, key)?;
        hint::check_value(&value)?;
        meta.as_ref().map_or(Ok(()), hint::check_meta)?;
        cx.note(Event { kind: "hint/changed", subject: name.path(), data: Value::Null });
        let memory = self.memory.clone();
        let now = cx.now;
        cx.store.write(move |tx| {
            let old = hints::get(tx, &name)?;
            check_version(if_match_version, old.as_ref().map_or(0, |old| old.version))?;
            if old.is_none() {
                check_quota(tx, &name)?;
            }
            let new = StoredHint {
                name: name.clone(),
                value: value.clone(),
                meta: meta.clone().or(old.as_ref().map(|old| old.meta.clone())).unwrap_or_default(),
                version: old.as_ref().map_or(1, |old| old.version + 1),
                created_at: old.as_ref().map_or(now, |old| old.created_at),
                updated_at: now,
            };
            memory.put(tx, &new)?;
            Ok(SetHintOutput { hint: shown(new) })
        })
    }
}

fn check_version(wanted: Option<u64>, current: u64) -> Result<(), OpError> {
    let Some(wanted) = wanted.filter(|wanted| *wanted != current) else { return Ok(()) };
    Err(OpError::new(Code::Conflict, format!("the hint has version {current}, not {wanted}"))
        .with("expected_version", wanted)
        .with("current_version", current)
        .hint("Read it again and decide on what is there now."))
}

fn check_quota(tx: &Tx<'_>, name: &HintName) -> Result<(), OpError> {
    let count = hints::count(tx, &name.component)?;
    let over = |what: &str, max: usize| {
        Err(OpError::new(Code::Quota, format!("{what} holds {max} hints already"))
            .with("limit", max)
            .hint("Delete hints that are no longer true."))
    };
    if count.of_component >= limits::HINTS_PER_COMPONENT_MAX {
        return over("the component", limits::HINTS_PER_COMPONENT_MAX);
    }
    if count.all >= limits::HINTS_MAX {
        return over("the store", limits::HINTS_MAX);
    }
    if count.of_component == 0 && count.components >= limits::HINT_COMPONENTS_MAX {
        let max = limits::HINT_COMPONENTS_MAX;
        return Err(OpError::new(Code::Quota, format!("there are {max} components already"))
            .with("limit", max));
    }
    Ok(())
}

fn pretty(params: &Value, result: &Value) -> String {
    let hint = &result["hint"];
    let mut lines = vec![format!(
        "✔ upserted hint {}/{} (v{})",
        params["component"].as_str().unwrap_or_default(),
        params["key"].as_str().unwrap_or_default(),
        hint["version"]
    )];
    for (name, value) in hint["meta"].as_object().into_iter().flatten() {
        lines.push(match value {
            Value::String(text) => format!("  {name}: {text}"),
            other => format!("  {name}: {}", json!(other)),
        });
    }
    lines.join("\n")
}
