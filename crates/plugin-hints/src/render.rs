//! Templates rendered on request: data to data. Nothing is run, read or included, and nothing is
//! escaped.
//!
//! Four languages are read into one form (`node`), which one renderer (`eval`) turns into text under
//! one budget, so that a hostile template costs no more in one language than in another. Read in this
//! order: `node`, `lookup`, `eval`, `expr`, then a language: `interpolate`, `mustache`, `handlebars`
//! (the last two cut their text into `tags`), `jinja`.

mod budget;
mod eval;
mod expr;
mod filters;
mod handlebars;
mod interpolate;
mod jinja;
mod lookup;
mod mustache;
mod node;
mod tags;

use model::hint::{Template, TemplateFormat};
use model::{OpError, limits};
use serde_json::{Map, Value};

use self::eval::Renderer;

/// The parameter that asks for all this, and so is named in every refusal.
const PARAM: &str = "render";

/// The value's template with these values in it; a name that is not given has its default.
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
    let nodes = match template.format {
        TemplateFormat::Interpolate => interpolate::read(&template.body)?,
        TemplateFormat::Mustache => mustache::read(&template.body)?,
        TemplateFormat::Handlebars => handlebars::read(&template.body)?,
        TemplateFormat::Jinja => jinja::read(&template.body)?,
    };
    Renderer::new(&data).render(&nodes)
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
        let message = format!("the values to render are over {max} bytes of JSON");
        return Err(OpError::invalid(PARAM, message).with("max", max));
    }
    Ok(())
}

/// A template that cannot be read, at this place in its text.
fn broken(text: &str, at: usize, why: impl AsRef<str>) -> OpError {
    let line = text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
    let why = why.as_ref();
    OpError::invalid(PARAM, format!("the template does not parse, line {line}: {why}"))
        .with("line", line)
        .hint("Set the hint again with a template that parses.")
}

/// A piece of the template as it is shown in a refusal.
fn shown(text: &str) -> String {
    text::one_line(text, limits::HINT_RENDER_WORD_CHARS_TOLD)
}

/// Refuses what is inside of more blocks and brackets than the renderer follows.
fn check_nesting(depth: usize) -> Result<(), OpError> {
    let max = limits::HINT_RENDER_NESTING_MAX;
    if depth <= max {
        return Ok(());
    }
    let message = format!("the template is nested more than {max} deep");
    Err(OpError::invalid(PARAM, message).with("max", max))
}

/// A template that asks for something its values do not have.
fn wrong(why: impl Into<String>) -> OpError {
    OpError::invalid(PARAM, format!("the template cannot be rendered: {}", why.into()))
}
