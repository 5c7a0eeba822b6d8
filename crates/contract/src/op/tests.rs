//! Tests of how parameters are read and schemas are made.

use serde::Deserialize;

use super::*;

#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
struct Inner {
    #[allow(dead_code, reason = "only its schema and its parsing matter")]
    count: u32,
}

#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only its schema and its parsing matter")]
struct Outer {
    name: String,
    inner: Option<Inner>,
}

fn param_of(params: Value) -> String {
    let error = read_params::<Outer>("probe", params).unwrap_err();
    assert_eq!(error.code, Code::Invalid);
    error.details.get("param").and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[test]
fn a_bad_parameter_is_named() {
    assert_eq!(param_of(json!({})), "name");
    assert_eq!(param_of(json!({"name": 1})), "name");
    assert_eq!(param_of(json!({"name": "a", "colour": 1})), "colour");
    assert_eq!(param_of(json!({"name": "a", "inner": {"count": -1}})), "inner.count");
    assert_eq!(param_of(json!({"name": "a", "inner": {}})), "inner.count");
    assert_eq!(param_of(json!({"name": "a", "inner": {"count": 1, "x": 2}})), "inner.x");
    assert_eq!(param_of(json!([1])), "params");
}

#[test]
fn schemas_are_inline_and_carry_no_rust_formats() {
    let text = schema_of::<Outer>().to_string();
    assert!(!text.contains("$ref") && !text.contains("uint32"), "{text}");
    assert!(text.contains("additionalProperties"), "{text}");
}
