//! A hint's value: a string, or an object whose `type` fixes its members. Nothing is run.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::scope::{Os, has_parent_step};
use crate::error::{Code, OpError};
use crate::limits;

/// Values that are objects.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
#[allow(dead_code, reason = "some members are only checked to be there and of their type")]
enum Typed {
    Command { cmd: String, shell: Option<Shell> },
    Path { abs: String, os: Option<Vec<Os>> },
    Template(Template),
    Json { data: Value },
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shell {
    Bash,
    Sh,
    Powershell,
    Cmd,
}

/// A text with placeholders. It is rendered on request only.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    pub format: TemplateFormat,
    pub body: String,
    /// Values of placeholders that the caller does not provide.
    #[serde(default)]
    pub defaults: Option<BTreeMap<String, String>>,
}

/// The language a template is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TemplateFormat {
    Mustache,
    Handlebars,
    Jinja,
    Interpolate,
}

impl Template {
    /// The value as a template, if it is one.
    pub fn of(value: &Value) -> Option<Template> {
        match Typed::deserialize(value) {
            Ok(Typed::Template(template)) => Some(template),
            _ => None,
        }
    }
}

/// Checks a value: a string, or an object with a known `type` and that type's members, within the
/// size limit.
pub fn check_value(value: &Value) -> Result<(), OpError> {
    let max = limits::HINT_VALUE_BYTES_MAX;
    if value.to_string().len() > max {
        return Err(OpError::new(
            Code::TooLarge,
            format!("the value has more than {} of JSON", text::size(max as u64)),
        )
        .with("param", "value")
        .with("max", max));
    }
    match value {
        Value::String(_) => Ok(()),
        Value::Object(object) => {
            let known = ["command", "path", "template", "json"];
            let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
            if !known.contains(&kind) {
                let message = "the value's type must be command, path, template or json";
                return Err(OpError::invalid("value", message).hint(
                    "Pass a string such as \"make build\", or for example {\"type\":\"command\",\"cmd\":\"make build\"}.",
                ));
            }
            let typed = Typed::deserialize(value).map_err(|error| {
                OpError::invalid("value", format!("the value is not a {kind}: {error}"))
            })?;
            check_typed(&typed)
        }
        _ => Err(OpError::invalid(
            "value",
            "the value is neither a string nor an object with a type",
        )
        .hint("Pass a string such as \"make build\".")),
    }
}

fn check_typed(typed: &Typed) -> Result<(), OpError> {
    match typed {
        Typed::Command { cmd, .. } if cmd.trim().is_empty() => {
            Err(OpError::invalid("value", "the command is empty"))
        }
        Typed::Path { abs, os } => check_path(abs, os.as_deref().unwrap_or_default()),
        Typed::Command { .. } | Typed::Template(_) | Typed::Json { .. } => Ok(()),
    }
}

/// A path must be absolute on every system that the hint names; if it names none, on at least one
/// system.
fn check_path(path: &str, systems: &[Os]) -> Result<(), OpError> {
    let refuse = |message: String| {
        let error = OpError::new(Code::ScopeInvalid, message).with("param", "value.abs");
        Err(error.hint("Give the absolute path without '..', and a variant for each system."))
    };
    if has_parent_step(path) {
        return refuse("the path has a '..' in it".to_owned());
    }
    if path.contains('\0') {
        return refuse("the path has a NUL in it".to_owned());
    }
    let good = match systems {
        [] => Os::ALL.into_iter().any(|os| is_absolute(path, os)),
        systems => systems.iter().all(|os| is_absolute(path, *os)),
    };
    if good {
        return Ok(());
    }
    let words: Vec<&str> = systems.iter().map(|os| os.word()).collect();
    let place = if words.is_empty() { String::new() } else { format!(" on {}", words.join(", ")) };
    refuse(format!("the path is not absolute{place}"))
}

fn is_absolute(path: &str, os: Os) -> bool {
    match os {
        Os::Linux | Os::Darwin => path.starts_with('/'),
        Os::Windows => {
            let drive = matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
            let share = path
                .strip_prefix("\\\\")
                .is_some_and(|host| !host.starts_with('\\') && !host.is_empty());
            drive || share
        }
    }
}

/// The text of a value for display and search.
pub fn value_text(value: &Value) -> String {
    let member = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    match value {
        Value::String(text) => text.clone(),
        _ => member("cmd")
            .or_else(|| member("abs"))
            .or_else(|| member("body"))
            .unwrap_or_else(|| value.get("data").unwrap_or(value).to_string()),
    }
}

/// The value as a command line: a command, or a plain text, which usually is one.
pub fn command_text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        value => value.get("cmd").and_then(Value::as_str),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_type_has_its_members_and_no_others() {
        for good in [
            json!("make"),
            json!(""),
            json!({ "type": "command", "cmd": "make", "shell": "bash" }),
            json!({ "type": "path", "abs": "/srv/a" }),
            json!({ "type": "path", "abs": "c:\\code", "os": ["windows"] }),
            json!({ "type": "path", "abs": "\\\\host\\share", "os": ["windows"] }),
            json!({ "type": "path", "abs": "/a..b/...", "os": ["linux", "darwin"] }),
            json!({ "type": "template", "format": "jinja", "body": "{{a}}", "defaults": { "a": "1" } }),
            json!({ "type": "json", "data": null }),
            json!({ "type": "json", "data": { "a": [1, 2.5] } }),
        ] {
            assert_eq!(check_value(&good), Ok(()), "{good}");
        }
        for bad in [
            json!(null),
            json!(7),
            json!([]),
            json!({}),
            json!({ "type": "spell" }),
            json!({ "type": "command" }),
            json!({ "type": "command", "cmd": " " }),
            json!({ "type": "command", "cmd": "make", "shell": "fish" }),
            json!({ "type": "command", "cmd": "make", "run": "now" }),
            json!({ "type": "path", "abs": 1 }),
            json!({ "type": "path", "abs": "/a", "os": ["beos"] }),
            json!({ "type": "template", "format": "erb", "body": "" }),
            json!({ "type": "template", "format": "jinja", "body": "", "defaults": { "a": 1 } }),
            json!({ "type": "template", "format": "jinja", "body": "", "colour": "red" }),
            json!({ "type": "json" }),
        ] {
            assert_eq!(check_value(&bad).map_err(|e| e.code), Err(Code::Invalid), "{bad}");
        }
    }

    #[test]
    fn a_path_that_is_not_absolute_on_its_systems_is_refused() {
        for (path, os) in [
            ("rel/x", json!(null)),
            ("/a/../b", json!(null)),
            ("c:\\..\\b", json!(null)),
            ("c:relative", json!(["windows"])),
            ("/srv", json!(["windows"])),
            ("c:\\code", json!(["linux"])),
            ("/srv", json!(["linux", "windows"])),
            ("\\\\", json!(["windows"])),
            ("", json!(null)),
        ] {
            let value = json!({ "type": "path", "abs": path, "os": os });
            assert_eq!(check_value(&value).map_err(|e| e.code), Err(Code::ScopeInvalid), "{value}");
        }
    }
}
