//! A small checker for the part of JSON Schema that our own schemas use.

use serde_json::Value;

/// Whether the value is as the schema says; else the place and what is wrong there.
pub(super) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    at("$", schema, value)
}

fn at(place: &str, schema: &Value, value: &Value) -> Result<(), String> {
    let Some(rules) = schema.as_object() else {
        return if schema == &Value::Bool(false) {
            Err(format!("{place}: nothing fits"))
        } else {
            Ok(())
        };
    };
    for (rule, wanted) in rules {
        let fits = match rule.as_str() {
            "type" => match wanted {
                Value::Array(kinds) => kinds.iter().any(|kind| is(kind, value)),
                kind => is(kind, value),
            },
            "const" => wanted == value,
            "enum" => wanted.as_array().is_some_and(|list| list.contains(value)),
            "anyOf" | "oneOf" => {
                let options = wanted.as_array().map(Vec::as_slice).unwrap_or_default();
                options.iter().any(|option| at(place, option, value).is_ok())
            }
            "minimum" => value.as_f64() >= wanted.as_f64() || !value.is_number(),
            "required" => {
                let names = wanted.as_array().map(Vec::as_slice).unwrap_or_default();
                !value.is_object()
                    || names.iter().all(|name| value.get(name.as_str().unwrap()).is_some())
            }
            "properties" | "additionalProperties" | "items" => true,
            "title" | "description" | "default" | "format" | "$schema" => true,
            other => return Err(format!("{place}: the checker does not know `{other}`")),
        };
        if !fits {
            return Err(format!("{place}: {value} breaks {rule} {wanted}"));
        }
    }
    let others = rules.get("additionalProperties").unwrap_or(&Value::Bool(true));
    for (name, member) in value.as_object().into_iter().flatten() {
        let own = rules.get("properties").and_then(|properties| properties.get(name));
        at(&format!("{place}.{name}"), own.unwrap_or(others), member)?;
    }
    for member in value.as_array().into_iter().flatten() {
        at(&format!("{place}[]"), rules.get("items").unwrap_or(&Value::Bool(true)), member)?;
    }
    Ok(())
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        _ => false,
    }
}

#[test]
fn the_checker_finds_what_does_not_fit() {
    use serde_json::json;
    let schema = json!({"type": "object", "required": ["a"], "additionalProperties": false,
                        "properties": {"a": {"type": ["integer", "null"]}, "b": {"items": {"enum": ["x"]}}}});
    for good in [json!({"a": 1}), json!({"a": null, "b": ["x"]})] {
        assert_eq!(check(&schema, &good), Ok(()));
    }
    for bad in [
        json!([]),
        json!({}),
        json!({"a": "1"}),
        json!({"a": 1, "c": 1}),
        json!({"a": 1, "b": ["y"]}),
    ] {
        assert!(check(&schema, &bad).is_err(), "{bad}");
    }
}
