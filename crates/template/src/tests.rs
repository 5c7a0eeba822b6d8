//! Each language renders, and each kind of error is reported with its details. The languages in full are tested through
//! `get_hint`, in the plugin of hints.

use model::hint::TemplateFormat::{self, Handlebars, Interpolate, Jinja, Mustache};
use model::limits;
use serde_json::{Value, json};

use super::{TemplateError, render};

const FORMATS: [TemplateFormat; 4] = [Interpolate, Mustache, Handlebars, Jinja];

fn rendered(format: TemplateFormat, body: &str, data: Value) -> Result<String, TemplateError> {
    render(format, body, &data)
}

fn error(format: TemplateFormat, body: &str, data: Value) -> TemplateError {
    rendered(format, body, data).expect_err(body)
}

#[test]
fn every_language_renders_its_values() {
    let data = json!({ "port": 8080, "names": ["a", "b"], "tls": true });
    let table = [
        (Interpolate, "port ${port}, $${kept}", "port 8080, ${kept}"),
        (Mustache, "{{#names}}<{{.}}>{{/names}}{{^tls}}plain{{/tls}}", "<a><b>"),
        (Handlebars, "{{#each names}}{{@index}}{{this}} {{/each}}", "0a 1b "),
        (Jinja, "{% for n in names %}{{ n | upper }}{% endfor %}:{{ port + 1 }}", "AB:8081"),
    ];
    for (format, body, wanted) in table {
        assert_eq!(rendered(format, body, data.clone()).as_deref(), Ok(wanted), "{body}");
    }
}

#[test]
fn a_syntax_error_names_its_line() {
    let body = "one\ntwo\n{% if a %}";
    let TemplateError::Syntax { line, .. } = error(Jinja, body, json!({})) else {
        panic!("not a syntax error");
    };
    assert_eq!(line, 3);
    let shown = error(Mustache, "{{#a}}", json!({})).to_string();
    assert!(shown.starts_with("the template does not parse, line 1: "), "{shown}");
}

#[test]
fn all_missing_names_are_reported_at_once() {
    let body = "${b} ${a} ${b}";
    let missing = error(Interpolate, body, json!({}));
    assert_eq!(missing, TemplateError::Missing(vec!["a".into(), "b".into()]));
    assert_eq!(missing.to_string(), "the template has no value for a, b");
}

#[test]
fn a_value_that_does_not_fit_is_reported() {
    let wrong = error(Jinja, "{{ a - 1 }}", json!({ "a": "x" }));
    assert!(matches!(&wrong, TemplateError::Value(_)), "{wrong}");
    assert!(wrong.to_string().starts_with("the template cannot be rendered: "), "{wrong}");
}

#[test]
fn depth_steps_and_length_are_bounded() {
    let max = limits::HINT_RENDER_NESTING_MAX;
    let deep = "{{#a}}".repeat(max + 1) + &"{{/a}}".repeat(max + 1);
    assert_eq!(error(Mustache, &deep, json!({})), TemplateError::Nesting { max });
    let max = limits::HINT_RENDER_OUTPUT_BYTES_MAX;
    let long = json!({ "a": "x".repeat(max / 2 + 1) });
    for format in FORMATS {
        let body = if format == Interpolate { "${a}${a}" } else { "{{a}}{{a}}" };
        assert_eq!(error(format, body, long.clone()), TemplateError::Length { max });
    }
    let body = "{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}\
                {% endfor %}{% endfor %}{% endfor %}";
    let max = limits::HINT_RENDER_STEPS_MAX;
    assert_eq!(error(Jinja, body, json!({})), TemplateError::Steps { max });
}
