//! `list_components`: which components have hints, and which keys one of them has.

use std::sync::Arc;

use contract::{CliShape, Cx, Example, Op, OpInfo};
use model::OpError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::Memory;

pub(crate) struct ListComponents {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListComponentsParams {
    /// List only this component, with its keys.
    #[serde(default)]
    component: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ListComponentsOutput {
    components: Vec<Component>,
}

/// A component that has hints.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Component {
    name: String,
    /// Its hints; one key may have several.
    hint_count: usize,
    /// Its keys, if this component was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Vec<String>>,
}

impl Op for ListComponents {
    const INFO: OpInfo = OpInfo {
        name: "list_components",
        summary: "List the components that have hints",
        doc: "With `component` it lists the keys of that one.",
        toolset: "hints",
        aliases: &["nudge.list_components", "nudge_list_components"],
        cli: CliShape {
            path: &["hint", "ls"],
            positional: &["component"],
            flatten: None,
            pretty: Some(pretty),
            starts_daemon: true,
        },
        examples: &[
            Example {
                title: "Everything there is",
                before: &[("set_hint", r#"{"component":"api","key":"test","value":"make test"}"#)],
                params: "{}",
            },
            Example {
                title: "The keys of a component",
                before: &[("set_hint", r#"{"component":"api","key":"test","value":"make test"}"#)],
                params: r#"{"component":"api"}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = ListComponentsParams;
    type Output = ListComponentsOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: ListComponentsParams,
    ) -> Result<ListComponentsOutput, OpError> {
        let index = self.memory.read();
        let count = |name: &str| index.of_component(name, cx.now).count();
        let Some(name) = params.component else {
            let all = index.components().map(|name| Component {
                name: name.to_owned(),
                hint_count: count(name),
                keys: None,
            });
            let components = all.filter(|component| component.hint_count > 0).collect();
            return Ok(ListComponentsOutput { components });
        };
        let hint_count = count(&name);
        if hint_count == 0 {
            return Err(OpError::not_found(format!("no component '{name}' has hints"))
                .hint("`rekindle hint ls` lists those that have."));
        }
        let keys = index.of_component(&name, cx.now).map(|held| held.stored.name.key.clone());
        let mut keys: Vec<String> = keys.collect();
        keys.dedup();
        let keys = Some(keys);
        Ok(ListComponentsOutput { components: vec![Component { name, hint_count, keys }] })
    }
}

fn pretty(params: &Value, result: &Value) -> String {
    let components = result["components"].as_array().map_or(&[][..], Vec::as_slice);
    let mut lines = Vec::new();
    if let Some(name) = params["component"].as_str() {
        lines.push(format!("Keys in '{name}':"));
        let keys = components.iter().flat_map(|one| one["keys"].as_array().into_iter().flatten());
        lines.extend(keys.filter_map(Value::as_str).map(|key| format!("  {key}")));
    } else if components.is_empty() {
        lines.push("No component has hints.".to_owned());
    } else {
        lines.push("Components:".to_owned());
        for one in components {
            let name = one["name"].as_str().unwrap_or_default();
            lines.push(format!("  {name} ({} hints)", one["hint_count"]));
        }
    }
    lines.join("\n")
}
