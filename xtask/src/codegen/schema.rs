//! JSON Schemas as rows of a table: member, type, whether it is required, description.

use serde_json::Value;

/// One member of an object, nested ones with dots in their name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) required: bool,
    pub(crate) doc: String,
}

/// The members of an object's schema in the order of the schema.
pub(crate) fn members(schema: &Value) -> Vec<Member> {
    let mut rows = Vec::new();
    collect("", schema, &mut rows);
    rows
}

fn collect(prefix: &str, schema: &Value, rows: &mut Vec<Member>) {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        rows.push(Member {
            kind: kind(member),
            required: required.contains(&name.as_str()),
            doc: member["description"].as_str().unwrap_or_default().to_owned(),
            name: path.clone(),
        });
        for inner in inner_objects(member) {
            let step = if inner.1 { "[]." } else { "." };
            collect(&format!("{path}{step}"), inner.0, rows);
        }
    }
}

/// The objects right inside a member: itself, the items of an array, the choices of a union.
fn inner_objects(member: &Value) -> Vec<(&Value, bool)> {
    let mut found = vec![(member, false)];
    if member["items"].is_object() {
        found.push((&member["items"], true));
    }
    for choice in choices(member) {
        found.push((choice, false));
        if choice["items"].is_object() {
            found.push((&choice["items"], true));
        }
    }
    found.retain(|(schema, _)| schema["properties"].is_object());
    found
}

fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().flat_map(|key| schema[key].as_array().into_iter().flatten())
}

/// The type in words: `string`, `integer or null`, `array of string`, `"a" or "b"`.
fn kind(schema: &Value) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut add = |word: String| {
        if !word.is_empty() && !words.contains(&word) {
            words.push(word);
        }
    };
    if let Some(value) = schema.get("const") {
        add(value.to_string());
    }
    for value in schema["enum"].as_array().into_iter().flatten() {
        add(value.to_string());
    }
    for choice in choices(schema) {
        add(kind(choice));
    }
    if words.is_empty() {
        let types = match &schema["type"] {
            Value::String(one) => vec![one.as_str()],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for name in types {
            match name {
                "array" => words.push(format!("array of {}", kind(&schema["items"]))),
                other => words.push(other.to_owned()),
            }
        }
    }
    if words.is_empty() { "any".to_owned() } else { words.join(" or ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_are_said_in_words() {
        assert_eq!(kind(&json!({ "type": "string" })), "string");
        assert_eq!(kind(&json!({ "type": ["integer", "null"] })), "integer or null");
        assert_eq!(
            kind(&json!({ "type": "array", "items": { "type": "string" } })),
            "array of string"
        );
        assert_eq!(kind(&json!({ "enum": ["a", "b"] })), "\"a\" or \"b\"");
        assert_eq!(
            kind(&json!({ "anyOf": [{ "const": "x" }, { "type": "null" }] })),
            "\"x\" or null"
        );
        assert_eq!(kind(&json!(true)), "any");
    }

    #[test]
    fn nested_members_carry_the_path_to_them() {
        let schema = json!({
            "required": ["meta"],
            "properties": {
                "meta": {
                    "description": "About it.",
                    "anyOf": [
                        { "type": "object", "properties": { "tags": { "type": "array", "items": {
                            "type": "object", "properties": { "word": { "type": "string" } } } } } },
                        { "type": "null" },
                    ],
                },
            },
        });
        let rows = members(&schema);
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["meta", "meta.tags", "meta.tags[].word"]);
        assert!(rows[0].required && !rows[1].required);
        assert_eq!((rows[0].kind.as_str(), rows[0].doc.as_str()), ("object or null", "About it."));
    }
}
