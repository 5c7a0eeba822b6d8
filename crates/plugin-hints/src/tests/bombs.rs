//! Hostile templates: each is refused with a number, and none takes long.

use std::time::{Duration, Instant};

use model::Code;
use serde_json::{Value, json};
use testkit::Folder;

use super::open;
use super::templates::{FORMATS, refusal, render};

/// Bounded work takes a few milliseconds; unbounded work exceeds this limit. It is generous for a debug build on a
/// busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

/// Syntax of all template languages.
#[rustfmt::skip]
const PIECES: [&str; 60] = [
    "{{", "}}", "{%", "%}", "{#", "#}", "${", "$", "{", "}", "#", "/", "^", "&", "!", "--", "~",
    "-", "=", "a", "b.c", ".", "..", "../", "this", "@root", "@index", "if", "else", "endif",
    "each", "for", "in", "x", " ", "\n", "\"", "'", "(", ")", "[", "]", "|", "as", "ü", "\\", "1",
    "2.5", "not", "is", "raw", "endraw", "set", "{{#a}}", "{{/a}}", "{% if a %}", "{% endif %}",
    "{{else}}", "{{#each a}}", "{{/each}}",
];

fn refused_with(number: &str, format: &str, body: &str, values: Value) {
    let began = Instant::now();
    let error = refusal(format, body, values);
    let shown: String = body.chars().take(60).collect();
    assert!(error.message.contains(number), "{format}: {shown} {error}");
    assert!(error.details.contains_key("max"), "{format}: {shown} {error:?}");
    assert!(began.elapsed() < PATIENCE, "{format}: {shown} took {:?}", began.elapsed());
}

/// @hints_render_bounds
#[test]
fn loops_in_loops_run_out_of_steps() {
    let list = || json!({ "a": vec![1; 1_000] });
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(5), close.repeat(5));
    refused_with("100000", "mustache", &nested("{{#a}}", "{{/a}}"), list());
    refused_with("100000", "handlebars", &nested("{{#each @root.a}}", "{{/each}}"), list());
    refused_with("100000", "jinja", &nested("{% for x in a %}", "{% endfor %}"), list());
    refused_with(
        "100000",
        "jinja",
        "{% for i in range(9223372036854775807) %}{% endfor %}",
        json!({}),
    );
    refused_with("100000", "jinja", "{% for x in a %}{{ a|sort == a }}{% endfor %}", list());
}

/// @hints_render_bounds
#[test]
fn growing_output_is_refused_at_its_limit() {
    let big = || json!({ "a": "x".repeat(60_000) });
    refused_with("256 KiB", "interpolate", &"${a}".repeat(16_000), big());
    refused_with("256 KiB", "mustache", &"{{a}}".repeat(10_000), big());
    refused_with("256 KiB", "handlebars", &"{{a}}".repeat(10_000), big());
    refused_with("256 KiB", "jinja", &"{{a}}".repeat(10_000), big());
    let doubled = format!("{{% set x = 'xxxxxxxx' %}}{}", "{% set x = x ~ x %}".repeat(1_000));
    refused_with("256 KiB", "jinja", &doubled, json!({}));
    refused_with("256 KiB", "jinja", &format!("{{{{ {}a }}}}", "a ~ ".repeat(10_000)), big());
    refused_with("256 KiB", "jinja", "{{ a|replace('x', a) }}", big());
    refused_with("256 KiB", "jinja", "{{ a|list|join(a) }}", json!({ "a": "x".repeat(30_000) }));
    let escaped = format!("{{{{ a{} }}}}", "|tojson".repeat(5_000));
    refused_with("256 KiB", "jinja", &escaped, json!({ "a": "\"" }));
}

/// @hints_render_bounds
#[test]
fn deep_nesting_is_refused_before_it_is_followed() {
    let deep = |open: &str, close: &str, count: usize| {
        format!("{}{}", open.repeat(count), close.repeat(count))
    };
    for (format, open, close) in [
        ("mustache", "{{#a}}", "{{/a}}"),
        ("mustache", "{{^a}}", "{{/a}}"),
        ("handlebars", "{{#if a}}", "{{/if}}"),
        ("handlebars", "{{#a}}", "{{/a}}"),
        ("jinja", "{% if a %}", "{% endif %}"),
        ("jinja", "{% for x in a %}", "{% endfor %}"),
    ] {
        refused_with("64", format, &deep(open, close, 65), json!({ "a": true }));
        refused_with("64", format, &deep(open, close, 2_000), json!({ "a": true }));
        refused_with("64", format, &open.repeat(3_000), json!({ "a": true }));
    }
    let inside = |before: &str, open: &str, middle: &str, close: &str, after: &str| {
        format!("{before}{}{middle}{}{after}", open.repeat(15_000), close.repeat(15_000))
    };
    refused_with(
        "64",
        "handlebars",
        &inside("{{#if ", "(", "a", ")", "}}{{/if}}"),
        json!({ "a": 1 }),
    );
    refused_with("64", "jinja", &inside("{{ ", "(", "a", ")", " }}"), json!({ "a": 1 }));
    refused_with("64", "jinja", &inside("{{ ", "[", "a", "]", " }}"), json!({ "a": 1 }));
    refused_with("64", "jinja", &inside("{{ a", "[a", "", "]", " }}"), json!({ "a": 1 }));
    let chosen = format!("{{{{ {}1 }}}}", "1 if a else ".repeat(4_000));
    refused_with("64", "jinja", &chosen, json!({ "a": 0 }));
}

/// @hints_render_bounds
#[test]
fn a_long_template_is_rendered() {
    let folder = Folder::new();
    let runtime = open(&folder);
    let rendered = |format: &str, body: &str, values: Value| {
        let began = Instant::now();
        let result = render(&runtime, format, body, values).unwrap();
        assert!(began.elapsed() < PATIENCE, "{format} took {:?}", began.elapsed());
        result["rendered"].as_str().unwrap().len()
    };
    let one = || json!({ "a": 1 });
    let chain = |with: &str| format!("{{{{ a{} }}}}", with.repeat(3_000));
    assert_eq!(rendered("jinja", &chain(" + a"), one()), 4);
    assert_eq!(rendered("jinja", &chain("|string"), one()), 1);
    assert_eq!(rendered("jinja", &chain(" and a"), one()), 1);
    assert_eq!(rendered("jinja", &format!("{{{{ {}a }}}}", "not ".repeat(9_001)), one()), 5);
    let arms = "{% elif a == 2 %}".repeat(3_000);
    assert_eq!(
        rendered("jinja", &format!("{{% if a == 2 %}}{arms}{{% else %}}x{{% endif %}}"), one()),
        1
    );
    let arms = "{{else if b}}".repeat(4_000);
    let body = format!("{{{{#if b}}}}{arms}{{{{else}}}}x{{{{/if}}}}");
    assert_eq!(rendered("handlebars", &body, json!({ "b": false })), 1);
    assert_eq!(rendered("handlebars", &"{{{a}~}}".repeat(8_000), one()), 8_000);
    assert_eq!(rendered("mustache", &"{{!}}\n".repeat(9_000), one()), 0);
    assert_eq!(rendered("interpolate", &"${a}".repeat(16_000), one()), 16_000);
    for format in FORMATS {
        assert_eq!(rendered(format, &" ".repeat(60_000), one()), 60_000, "{format}");
        assert_eq!(rendered(format, &"ü\u{202e}🦀".repeat(5_000), one()), 45_000, "{format}");
    }
}

/// @hints_render_bounds
#[test]
fn random_templates_are_rendered_or_refused() {
    let folder = Folder::new();
    let runtime = open(&folder);
    // A small generator with a fixed seed, so that a failure can be reproduced.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for round in 0..600 {
        let length = 1 + next(25);
        let body: String = (0..length).map(|_| PIECES[next(PIECES.len())]).collect();
        let format = FORMATS[round % FORMATS.len()];
        let values = json!({ "a": "1", "x": true });
        match render(&runtime, format, &body, values) {
            Ok(result) => assert!(result["rendered"].is_string(), "{body}"),
            Err(error) => assert_eq!(error.code, Code::Invalid, "{format} {body:?} {error}"),
        }
    }
    for format in FORMATS {
        for piece in PIECES {
            let body = piece.repeat(12_000 / piece.len());
            let began = Instant::now();
            let reply = render(&runtime, format, &body, json!({ "a": 1 }));
            let code = reply.map(drop).map_err(|error| error.code);
            assert!(matches!(code, Ok(()) | Err(Code::Invalid)), "{format} {piece}");
            assert!(began.elapsed() < PATIENCE, "{format} {piece} took {:?}", began.elapsed());
        }
    }
}
