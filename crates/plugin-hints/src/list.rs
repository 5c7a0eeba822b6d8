//! `list_components`: the components that have hints, and the keys of one of them.

use std::sync::Arc;

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::OpError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::Memory;

pub(crate) struct ListComponents {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListComponentsParams {
    /// List only this component, with its keys. A name that ends in `*`, `.` or `/` is a prefix.
    #[serde(default)]
    component: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListComponentsOutput {
    components: Vec<Component>,
}

/// A component that has hints.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Component {
    name: String,
    /// The number of its hints; one key may have several.
    hint_count: usize,
    /// Its keys, if the call names components.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Vec<String>>,
}

impl Op for ListComponents {
    const INFO: OpInfo = OpInfo {
        name: "list_components",
        summary: "List the components that have hints",
        doc: "With `component` it lists the keys of that one.",
        toolset: "hints",
        brief: None,
        aliases: &["nudge.list_components", "nudge_list_components"],
        cli: CliShape {
            path: &["hint", "ls"],
            aliases: &["list-components"],
            positional: &["component"],
            pretty: Some(pretty::<Self>),
            starts_daemon: true,
            ..CliShape::CALL_ONLY
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
            Example {
                title: "All components below a name",
                before: &[(
                    "set_hint",
                    r#"{"component":"tools.lint","key":"run","value":"make lint"}"#,
                )],
                params: r#"{"component":"tools."}"#,
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
        let wanted = params.component.as_deref().map(ComponentFilter::new);
        let of_name = |name: &&str| wanted.as_ref().is_none_or(|wanted| wanted.is(name));
        let listed = index.components().filter(of_name).map(|name| Component {
            name: name.to_owned(),
            hint_count: index.of_component(name, cx.now).count(),
            keys: wanted.as_ref().map(|_| {
                let hints = index.of_component(name, cx.now);
                let mut keys: Vec<String> =
                    hints.map(|held| held.stored.name.key.clone()).collect();
                keys.dedup();
                keys
            }),
        });
        let components: Vec<Component> =
            listed.filter(|component| component.hint_count > 0).collect();
        match wanted {
            Some(ComponentFilter::Name(name)) if components.is_empty() => {
                Err(OpError::not_found(format!("no component '{name}' has hints"))
                    .hint("`rekindle hint ls` lists the components that have hints."))
            }
            _ => Ok(ListComponentsOutput { components }),
        }
    }
}

/// The components that the call asks for.
enum ComponentFilter<'p> {
    Name(&'p str),
    Prefix(&'p str),
}

impl<'p> ComponentFilter<'p> {
    /// Names often have parts, such as `tools.lint` or `env/dev`, so a name that ends with a separator is a prefix.
    fn new(text: &'p str) -> ComponentFilter<'p> {
        match text.strip_suffix('*') {
            Some(prefix) => ComponentFilter::Prefix(prefix),
            None if text.ends_with(['.', '/']) => ComponentFilter::Prefix(text),
            None => ComponentFilter::Name(text),
        }
    }

    fn is(&self, name: &str) -> bool {
        match self {
            ComponentFilter::Name(wanted) => name == *wanted,
            ComponentFilter::Prefix(prefix) => name.starts_with(prefix),
        }
    }
}

impl Pretty for ListComponents {
    fn pretty(params: &ListComponentsParams, output: &ListComponentsOutput, _: usize) -> String {
        let components = &output.components;
        let mut lines = Vec::new();
        match &params.component {
            Some(wanted) if components.is_empty() => {
                let prefix = wanted.trim_end_matches('*');
                lines.push(format!("No component that begins with '{prefix}' has hints."));
            }
            Some(_) => {
                for Component { name, keys, .. } in components {
                    lines.push(format!("Keys in '{name}':"));
                    lines.extend(keys.iter().flatten().map(|key| format!("  {key}")));
                }
            }
            None if components.is_empty() => lines.push("No component has hints.".to_owned()),
            None => {
                lines.push("Components:".to_owned());
                for Component { name, hint_count, .. } in components {
                    lines.push(format!("  {name} ({})", text::counted(*hint_count, "hint")));
                }
            }
        }
        lines.join("\n")
    }
}
