//! An operation as an MCP tool. Every word of a listed tool costs the agent tokens on every turn, so a tool has only
//! the parts that a model needs to call it; the whole schemas are in `rekindle ops NAME`.

use serde_json::{Map, Value, json};

use crate::op::{Access, Operation};

impl Operation {
    /// The operation as an MCP tool.
    pub fn as_tool(&self) -> Value {
        let info = self.info;
        let (destructive, idempotent) = match info.access {
            Access::Read => (false, true),
            Access::Write { destructive, idempotent } => (destructive, idempotent),
        };
        json!({
            "name": info.name,
            "description": format!("{}. {}", info.summary, info.doc).trim_end(),
            "inputSchema": arguments(&self.params_schema()),
            // Results explain themselves, and models get some members in another form than programs.
            "outputSchema": { "type": "object" },
            "annotations": {
                "readOnlyHint": info.access.is_read(),
                "destructiveHint": destructive,
                "idempotentHint": idempotent,
                "openWorldHint": false,
            },
        })
    }
}

/// The schema of the parameters, reduced for a model. Calls are checked against the whole schema.
fn arguments(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let properties: Map<String, Value> =
        properties.map(|(name, schema)| (name.clone(), argument(schema))).collect();
    let mut arguments = json!({ "type": "object", "properties": properties });
    if let Some(required) = schema.get("required") {
        arguments["required"] = required.clone();
    }
    arguments
}

fn argument(schema: &Value) -> Value {
    let mut short = Map::new();
    if let Some(kind) = schema.get("type") {
        short.insert("type".to_owned(), one_type(kind));
    }
    let words = words(schema);
    if !words.is_empty() {
        short.insert("type".to_owned(), "string".into());
        short.insert("enum".to_owned(), words.into());
    }
    if let Some(items) = schema.get("items") {
        short.insert("items".to_owned(), argument(items));
    }
    let mut doc = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
    let members = schema["properties"].as_object().into_iter().flatten();
    let members: Vec<&str> = members.map(|(name, _)| name.as_str()).collect();
    if !members.is_empty() {
        doc = format!("{doc} Members: {}.", members.join(", "));
    }
    if !doc.is_empty() {
        short.insert("description".to_owned(), doc.into());
    }
    let default = schema.get("default").filter(|default| says_something(default));
    short.extend(default.map(|default| ("default".to_owned(), default.clone())));
    Value::Object(short)
}

/// A single type instead of several: a string can represent any of them, and null means omitted.
fn one_type(kind: &Value) -> Value {
    let Some(kinds) = kind.as_array() else { return kind.clone() };
    let text = kinds.iter().find(|kind| **kind == "string");
    text.or_else(|| kinds.iter().find(|kind| **kind != "null")).cloned().unwrap_or_default()
}

/// The words that an enumerated parameter accepts.
fn words(schema: &Value) -> Vec<Value> {
    let list = |name: &str| schema[name].as_array().into_iter().flatten();
    let constants = list("oneOf").filter_map(|option| option.get("const"));
    list("enum").chain(constants).filter(|word| word.is_string()).cloned().collect()
}

/// Whether a default is worth mentioning: models expect null, false, 0 and an empty list anyway.
fn says_something(default: &Value) -> bool {
    match default {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::Number(number) => number.as_i64() != Some(0),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_names_types_words_and_docs() {
        let schema = json!({ "type": "object", "additionalProperties": false, "required": ["q"],
            "properties": {
                "q": { "type": "string", "description": "A question." },
                "when": { "type": ["integer", "string", "null"], "default": null },
                "kind": { "type": ["string", "null"], "enum": ["a", "b", null] },
                "order": { "oneOf": [{ "const": "x", "description": "…" }, { "const": "y" }], "default": "x" },
                "place": { "type": ["object", "null"], "description": "Where.",
                    "properties": { "cwd": { "type": "string" }, "os": {} } },
                "tags": { "type": "array", "items": { "type": "string" }, "default": [] },
                "value": { "description": "Anything." } } });
        assert_eq!(
            arguments(&schema),
            json!({ "type": "object", "required": ["q"], "properties": {
                "q": { "type": "string", "description": "A question." },
                "when": { "type": "string" },
                "kind": { "type": "string", "enum": ["a", "b"] },
                "order": { "type": "string", "enum": ["x", "y"], "default": "x" },
                "place": { "type": "object", "description": "Where. Members: cwd, os." },
                "tags": { "type": "array", "items": { "type": "string" } },
                "value": { "description": "Anything." } } })
        );
    }

    #[test]
    fn only_defaults_other_than_empty_values_are_listed() {
        for default in [json!(null), json!(false), json!(0), json!([])] {
            assert_eq!(argument(&json!({ "default": default })), json!({}));
        }
        for default in [json!(true), json!(20), json!(-1), json!(0.5), json!(["a"]), json!("x")] {
            assert_eq!(argument(&json!({ "default": default }))["default"], default);
        }
    }

    #[test]
    fn an_optional_parameter_has_the_type_that_is_not_null() {
        for kinds in [json!(["null", "integer"]), json!(["integer", "null"])] {
            assert_eq!(argument(&json!({ "type": kinds })), json!({ "type": "integer" }));
        }
    }
}
