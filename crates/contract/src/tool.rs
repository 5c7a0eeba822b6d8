//! An operation as an MCP tool. Every word of a listed tool costs the agent tokens on every turn, so a tool has only
//! the parts that a model needs to call it; the whole schemas are in `rekindle ops NAME`.

use serde_json::{Map, Value, json};

use crate::op::{Access, Operation};
use crate::tool_form::ToolForm;

/// The most words of an enumerated parameter that the short form of a tool lists. Beyond them the description names a
/// few, and the error for an unknown word lists them all.
const SHORT_WORDS_MAX: usize = 12;

impl Operation {
    /// The operation as an MCP tool.
    pub fn as_tool(&self, form: ToolForm) -> Value {
        let info = self.info;
        let is_listed = |name: &str| form == ToolForm::Whole || !info.advanced.contains(&name);
        let mut tool = json!({
            "name": info.name,
            "description": format!("{}. {}", info.summary, info.doc).trim_end(),
            "inputSchema": arguments(&self.params_schema(), form, is_listed),
            "annotations": annotations(info.access, form),
        });
        if form == ToolForm::Whole {
            // Results explain themselves, and models get some members in another form than programs.
            tool["outputSchema"] = json!({ "type": "object" });
        }
        tool
    }
}

/// MCP's annotations. The short form leaves out those that equal MCP's defaults, and those that mean nothing for a
/// tool that only reads.
fn annotations(access: Access, form: ToolForm) -> Value {
    let (reads, destructive, idempotent) = match access {
        Access::Read => (true, false, true),
        Access::Write { destructive, idempotent } => (false, destructive, idempotent),
    };
    let hints = [
        ("readOnlyHint", reads, false),
        ("destructiveHint", destructive, true),
        ("idempotentHint", idempotent, false),
        ("openWorldHint", false, true),
    ];
    let means_nothing = |name: &str| reads && matches!(name, "destructiveHint" | "idempotentHint");
    let is_listed = |(name, value, default): &(&str, bool, bool)| {
        form == ToolForm::Whole || (value != default && !means_nothing(name))
    };
    let listed = hints.iter().filter(|hint| is_listed(hint));
    listed.map(|(name, value, _)| ((*name).to_owned(), Value::Bool(*value))).collect()
}

/// The schema of the listed parameters, reduced for a model. Calls are checked against the whole schema.
fn arguments(schema: &Value, form: ToolForm, is_listed: impl Fn(&str) -> bool) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let properties: Map<String, Value> = properties
        .filter(|(name, _)| is_listed(name))
        .map(|(name, schema)| (name.clone(), argument(schema, form)))
        .collect();
    let mut arguments = json!({ "type": "object", "properties": properties });
    if let Some(required) = schema.get("required") {
        arguments["required"] = required.clone();
    }
    arguments
}

fn argument(schema: &Value, form: ToolForm) -> Value {
    let mut short = Map::new();
    if let Some(kind) = schema.get("type") {
        short.insert("type".to_owned(), one_type(kind));
    }
    let words = words(schema);
    if !words.is_empty() {
        short.insert("type".to_owned(), "string".into());
        if form == ToolForm::Whole || words.len() <= SHORT_WORDS_MAX {
            short.insert("enum".to_owned(), words.into());
        }
    }
    if let Some(items) = schema.get("items") {
        let mut item = argument(items, form);
        // The parameter itself is described.
        item.as_object_mut().map(|item| item.remove("description"));
        short.insert("items".to_owned(), item);
    }
    let mut doc = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
    if form == ToolForm::Short && short.contains_key("enum") {
        // The words speak for themselves.
        doc.clear();
    }
    let members = schema["properties"].as_object().into_iter().flatten();
    let members: Vec<&str> = members.map(|(name, _)| name.as_str()).collect();
    if let Some(required) = schema.get("required") {
        // An object that lacks a member is refused, so a model has to know which ones it needs.
        let nested = arguments(schema, form, |_| true);
        short.insert("properties".to_owned(), nested["properties"].clone());
        short.insert("required".to_owned(), required.clone());
    } else if !members.is_empty() {
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

/// The words that an enumerated parameter accepts; none if it also accepts other texts.
fn words(schema: &Value) -> Vec<Value> {
    let list = |name: &str| schema[name].as_array().into_iter().flatten();
    let own = list("enum").chain(schema.get("const")).filter(|word| word.is_string());
    let mut words: Vec<Value> = own.cloned().collect();
    for option in list("oneOf").chain(list("anyOf")).filter(|option| option["type"] != "null") {
        let more = self::words(option);
        if more.is_empty() {
            return Vec::new();
        }
        words.extend(more);
    }
    words
}

/// Whether a default is worth mentioning: models expect null, false, 0, an empty text and an empty list anyway.
fn says_something(default: &Value) -> bool {
    match default {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => !text.is_empty(),
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
                "outcome": { "anyOf": [{ "oneOf": [{ "enum": ["a", "b"] }, { "const": "c" }] }, { "type": "null" }],
                    "description": "How it ended." },
                "cause": { "type": ["object", "null"], "required": ["kind"],
                    "properties": { "kind": { "type": "string", "enum": ["a", "b"] }, "text": { "type": ["string", "null"] } } },
                "free": { "anyOf": [{ "const": "x" }, { "type": "string" }] },
                "tags": { "type": "array", "items": { "type": "string", "description": "A tag." }, "default": [] },
                "value": { "description": "Anything." } } });
        assert_eq!(
            arguments(&schema, ToolForm::Whole, |_| true),
            json!({ "type": "object", "required": ["q"], "properties": {
                "q": { "type": "string", "description": "A question." },
                "when": { "type": "string" },
                "kind": { "type": "string", "enum": ["a", "b"] },
                "order": { "type": "string", "enum": ["x", "y"], "default": "x" },
                "place": { "type": "object", "description": "Where. Members: cwd, os." },
                "outcome": { "type": "string", "enum": ["a", "b", "c"], "description": "How it ended." },
                "cause": { "type": "object", "required": ["kind"],
                    "properties": { "kind": { "type": "string", "enum": ["a", "b"] }, "text": { "type": "string" } } },
                "free": {},
                "tags": { "type": "array", "items": { "type": "string" } },
                "value": { "description": "Anything." } } })
        );
    }

    #[test]
    fn only_defaults_other_than_empty_values_are_listed() {
        for default in [json!(null), json!(false), json!(0), json!([]), json!("")] {
            assert_eq!(argument(&json!({ "default": default }), ToolForm::Whole), json!({}));
        }
        for default in [json!(true), json!(20), json!(-1), json!(0.5), json!(["a"]), json!("x")] {
            let listed = argument(&json!({ "default": default }), ToolForm::Short);
            assert_eq!(listed["default"], default);
        }
    }

    #[test]
    fn an_optional_parameter_has_the_type_that_is_not_null() {
        for kinds in [json!(["null", "integer"]), json!(["integer", "null"])] {
            let listed = argument(&json!({ "type": kinds }), ToolForm::Short);
            assert_eq!(listed, json!({ "type": "integer" }));
        }
    }

    #[test]
    fn the_short_form_lists_the_words_of_an_enumeration_or_describes_it() {
        let of = |count: usize| {
            let words: Vec<String> = (0..count).map(|number| format!("w{number}")).collect();
            json!({ "type": "string", "enum": words, "description": "Such as `w1`." })
        };
        let long = of(SHORT_WORDS_MAX + 1);
        assert_eq!(argument(&long, ToolForm::Whole), long);
        let short = json!({ "type": "string", "description": "Such as `w1`." });
        assert_eq!(argument(&long, ToolForm::Short), short);
        let mut listed = of(SHORT_WORDS_MAX);
        listed.as_object_mut().unwrap().remove("description");
        assert_eq!(argument(&of(SHORT_WORDS_MAX), ToolForm::Short), listed);
    }
}
