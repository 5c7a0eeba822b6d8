//! Tests of how parameters are read and schemas are made.

use serde::Deserialize;

use super::*;

const PROBE: OpInfo = OpInfo { name: "probe", ..OpInfo::BASE };

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
    let error = read_params::<Outer>(&PROBE, params).unwrap_err();
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
fn the_message_of_a_bad_parameter_says_what_is_wrong_with_it() {
    for (params, message) in [
        (json!({}), "missing parameter `name`"),
        (json!({ "name": "a", "colour": 1 }), "unknown parameter `colour`, expected"),
        (json!({ "name": 1 }), "parameter `name`: invalid type: integer `1`, expected a string"),
        (json!({ "name": "a", "inner": {} }), "missing parameter `inner.count`"),
        (json!({ "name": null }), "parameter `name`: invalid type: null, expected a string"),
        (json!({ "name": "a", "inner": 1 }), "parameter `inner`: invalid type"),
        (json!("a"), "the parameters are not an object"),
    ] {
        let error = read_params::<Outer>(&PROBE, params).unwrap_err();
        assert!(error.message.starts_with(message), "{}", error.message);
    }
    let error = read_params::<Outer>(&PROBE, json!({ "nane": "a" })).unwrap_err();
    let hint = "Did you mean name? `rekindle ops probe` shows its parameters.";
    assert_eq!(error.hint.as_deref(), Some(hint));
    let error = read_params::<Outer>(&PROBE, Value::Null).unwrap_err();
    assert_eq!(error.message, "missing parameter `name`", "null is an object without members");
    assert_eq!(error.hint.as_deref(), Some("`rekindle ops probe` shows its parameters."));
}

#[test]
fn schemas_are_inline_and_carry_no_rust_formats() {
    let text = schema_of::<Outer>().to_string();
    assert!(!text.contains("$ref") && !text.contains("uint32"), "{text}");
    assert!(text.contains("additionalProperties"), "{text}");
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema matters")]
struct Numbers {
    small: i8,
    large: u64,
    broken: f64,
    exact: f32,
}

#[test]
fn no_number_in_a_schema_has_a_format() {
    let schema = Flattened::of::<Numbers>("numbers", "number-");
    assert_eq!((schema.object, schema.prefix), ("numbers", "number-"));
    let schema = (schema.schema)();
    for (name, kind) in
        [("small", "integer"), ("large", "integer"), ("broken", "number"), ("exact", "number")]
    {
        let number = &schema["properties"][name];
        assert_eq!((&number["type"], number.get("format")), (&json!(kind), None), "{name}");
    }
}

#[derive(Deserialize, JsonSchema, Debug)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code, reason = "only its parsing matters")]
enum Word {
    Merge,
}

#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only its schema and its parsing matter")]
struct WithHidden {
    name: Option<Word>,
    #[serde(default)]
    count: u8,
    #[serde(default)]
    #[schemars(skip)]
    typed: bool,
}

struct Probe;

impl Op for Probe {
    const INFO: OpInfo = OpInfo { hidden: &["typed"], ..PROBE };
    type Params = WithHidden;
    type Output = Value;

    fn run(&self, _: &Cx<'_>, _: WithHidden) -> Result<Value, OpError> {
        Ok(Value::Null)
    }
}

#[test]
fn a_hidden_parameter_is_the_command_lines_own_and_is_not_named() {
    let op = Operation::new(Probe);
    let typed = json!({ "typed": true });
    assert_eq!(op.check_params(&typed), Ok(()));
    assert_eq!(op.refuse_hidden(&typed, Tier::Person), Ok(()));
    assert_eq!(op.refuse_hidden(&json!({}), Tier::Agent), Ok(()));
    let refused = op.refuse_hidden(&typed, Tier::Agent).unwrap_err();
    assert_eq!(refused.message, "unknown parameter `typed`, expected `name` or `count`");
    let unknown = op.check_params(&json!({ "type": 1 })).unwrap_err();
    assert_eq!(unknown.message, "unknown parameter `type`, expected `name` or `count`");
    assert_eq!(unknown.hint.as_deref(), Some("`rekindle ops probe` shows its parameters."));
}

#[test]
fn a_parameter_that_is_null_counts_as_left_out() {
    let op = Operation::new(Probe);
    assert_eq!(op.check_params(&json!({ "name": null, "count": null })), Ok(()));
    let unknown = op.check_params(&json!({ "nam": null })).unwrap_err();
    assert_eq!(unknown.message, "unknown parameter `nam`, expected `name` or `count`");
}

#[test]
fn a_word_is_a_text_and_no_object() {
    let op = Operation::new(Probe);
    assert_eq!(op.check_params(&json!({ "name": "merge" })), Ok(()));
    for wrong in [json!({ "merge": null }), json!({ "merge": {} }), json!(["merge"]), json!(1)] {
        let refused = op.check_params(&json!({ "name": wrong })).unwrap_err();
        assert!(refused.message.starts_with("parameter `name"), "{}", refused.message);
    }
}
