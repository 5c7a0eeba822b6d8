//! A template hint rendered with the values of a call, by the crate `template`.

use model::hint::{Template, TemplateFormat};
use model::{OpError, limits};
use serde_json::{Map, Value};
use template::TemplateError;

/// The parameter with the values; every error names it.
const PARAM: &str = "render";

/// Renders the value's template; a name that is not given has its default.
pub(crate) fn render(value: &Value, given: &Map<String, Value>) -> Result<String, OpError> {
    let template = Template::of(value).ok_or_else(|| {
        OpError::invalid(PARAM, "the hint is not a template")
            .hint("Leave `render` out, or store the value with type template.")
    })?;
    check(template.format, given)?;
    let defaults = template.defaults.iter().flatten();
    let mut data: Map<String, Value> =
        defaults.map(|(name, text)| (name.clone(), text.as_str().into())).collect();
    data.extend(given.clone());
    let data = Value::Object(data);
    template::render(template.format, &template.body, &data).map_err(refusal)
}

fn check(format: TemplateFormat, given: &Map<String, Value>) -> Result<(), OpError> {
    for (name, value) in given {
        let bad = match value {
            Value::Null => "null",
            Value::Array(_) | Value::Object(_) if format == TemplateFormat::Interpolate => {
                "neither a text nor a number nor a boolean"
            }
            _ => continue,
        };
        let param = format!("{PARAM}.{name}");
        return Err(OpError::invalid(&param, format!("the value of `{name}` is {bad}")));
    }
    let max = limits::HINT_RENDER_DATA_BYTES_MAX;
    if serde_json::to_string(given).map_or(usize::MAX, |json| json.len()) > max {
        let message = format!("the values to render are over {} of JSON", text::size(max as u64));
        return Err(OpError::invalid(PARAM, message).with("max", max));
    }
    Ok(())
}

/// The error of the call, with the numbers and names that programs need.
fn refusal(error: TemplateError) -> OpError {
    let refused = OpError::invalid(PARAM, error.to_string());
    match error {
        TemplateError::Syntax { line, .. } => {
            refused.with("line", line).hint("Set the hint again with a template that parses.")
        }
        TemplateError::Nesting { max }
        | TemplateError::Steps { max }
        | TemplateError::Length { max } => refused.with("max", max),
        TemplateError::Missing(names) => refused
            .with("missing", names)
            .hint("Give each of them in `render`, or a default in the hint."),
        TemplateError::Value(_) => refused,
    }
}
