//! The general form of a result for people: `name: value` lines, nested ones indented, no braces.

use serde_json::Value;

/// The value as readable lines. A text of several lines becomes an indented block, so that no text can imitate
/// another member.
pub(crate) fn readable(value: &Value) -> String {
    let mut lines = String::new();
    match scalar(value) {
        Some(text) => lines.push_str(&text::printable(&text)),
        None => write(&mut lines, value, 0),
    }
    lines
}

fn write(lines: &mut String, value: &Value, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                lines.push_str(&indent);
                lines.push_str(&text::one_line(name, usize::MAX));
                lines.push(':');
                place(lines, value, depth);
            }
        }
        Value::Array(items) => {
            for item in items {
                lines.push_str(&indent);
                lines.push('-');
                match item {
                    Value::Object(members) if !members.is_empty() => {
                        // The first member is next to the dash, the others are below it.
                        let mut block = String::new();
                        write(&mut block, item, depth + 1);
                        lines.push(' ');
                        lines.push_str(block.trim_start());
                    }
                    item => place(lines, item, depth),
                }
            }
        }
        _ => {}
    }
}

/// Appends a value to its name: on the same line if it has one line, else below.
fn place(lines: &mut String, value: &Value, depth: usize) {
    match scalar(value) {
        Some(text) if !text.trim_end().contains(['\n', '\r']) => {
            lines.push(' ');
            lines.push_str(&text::one_line(&text, usize::MAX));
            lines.push('\n');
        }
        Some(text) => {
            lines.push('\n');
            for line in text::printable(&text).lines() {
                lines.push_str(&"  ".repeat(depth + 1));
                lines.push_str(line);
                lines.push('\n');
            }
        }
        None => {
            lines.push('\n');
            write(lines, value, depth + 1);
        }
    }
}

/// A value that fits behind its name.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some("none".to_owned()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(items) => items.is_empty().then(|| "none".to_owned()),
        Value::Object(members) => members.is_empty().then(|| "none".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_values_are_readable_without_braces() {
        let value = json!({
            "hint": { "value": "make build", "meta": { "tags": ["a", "b"] }, "version": 1 },
            "ok": true,
            "rows": [{ "id": 1, "text": "one" }, [1, [2]], {}, null],
            "none": [],
        });
        expect![[r#"
            hint:
              value: make build
              meta:
                tags:
                  - a
                  - b
              version: 1
            ok: true
            rows:
              - id: 1
                text: one
              -
                - 1
                -
                  - 2
              - none
              - none
            none: none
        "#]]
        .assert_eq(&readable(&value));
        assert_eq!(readable(&json!("just text")), "just text");
    }

    #[test]
    fn no_text_imitates_another_member() {
        let value = json!({ "a\nb": "x\nok: false\r\u{1b}[2J", "ok": true });
        expect![[r#"
            a b:
              x
              ok: false␍␛[2J
            ok: true
        "#]]
        .assert_eq(&readable(&value));
    }
}
