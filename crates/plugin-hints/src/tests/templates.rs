//! Templates rendered on request, in the four languages.

use model::{Code, OpError};
use runtime::Runtime;
use serde_json::{Value, json};
use testkit::Folder;

use super::{call, open};

pub(super) const FORMATS: [&str; 4] = ["interpolate", "mustache", "handlebars", "jinja"];

/// Stores the template and renders it with these values.
pub(super) fn render(runtime: &Runtime, format: &str, body: &str, values: Value) -> model::Reply {
    let value = json!({ "type": "template", "format": format, "body": body });
    set_value(runtime, &value);
    get_rendered(runtime, values)
}

fn set_value(runtime: &Runtime, value: &Value) {
    let params = json!({ "component": "web", "key": "t", "value": value, "allow_secret": true });
    call(runtime, "set_hint", params).unwrap();
}

fn get_rendered(runtime: &Runtime, values: Value) -> model::Reply {
    call(runtime, "get_hint", json!({ "component": "web", "key": "t", "render": values }))
}

/// Checks each template with its values against the expected output.
fn check(format: &str, table: &[(&str, Value, &str)]) {
    let folder = Folder::new();
    let runtime = open(&folder);
    for (body, values, wanted) in table {
        let reply = render(&runtime, format, body, values.clone());
        let got = reply.as_ref().map(|result| result["rendered"].as_str().unwrap_or_default());
        assert_eq!(got, Ok(*wanted), "{format}: {body:?} with {values}");
    }
}

/// Checks each template against its expected output, with one set of values for all.
fn check_with(values: &Value, format: &str, table: &[(&str, &str)]) {
    let table: Vec<_> =
        table.iter().map(|(body, wanted)| (*body, values.clone(), *wanted)).collect();
    check(format, &table);
}

/// The refusal, which is `invalid` and names the parameter.
pub(super) fn refusal(format: &str, body: &str, values: Value) -> OpError {
    let folder = Folder::new();
    let runtime = open(&folder);
    let error = render(&runtime, format, body, values).unwrap_err();
    assert_eq!(error.code, Code::Invalid, "{format}: {error}");
    let param = error.details["param"].as_str().unwrap();
    assert!(param == "render" || param.starts_with("render."), "{format}: {error:?}");
    error
}

/// @hints_render_interpolate
#[test]
fn interpolate_replaces_names_and_nothing_else() {
    check(
        "interpolate",
        &[
            ("", json!({}), ""),
            ("make ${target}", json!({ "target": "all" }), "make all"),
            ("${a}${b}${a}", json!({ "a": 1, "b": true }), "1true1"),
            ("$${a} $a {a} ${a.b-c}", json!({ "a.b-c": "ü" }), "${a} $a {a} ü"),
            ("$$${a}", json!({ "a": "x" }), "$${a}"),
            ("<${a}> & '${a}'", json!({ "a": "<b>&\"'" }), "<<b>&\"'> & '<b>&\"''"),
            ("${größe}\n", json!({ "größe": "${a}" }), "${a}\n"),
        ],
    );
}

/// @hints_render_mustache
#[test]
fn mustache_has_variables_sections_and_delimiters() {
    let user = json!({ "user": { "name": "<Ann>", "tags": ["a", "b"] }, "yes": true, "no": false });
    check(
        "mustache",
        &[
            ("{{user.name}} {{{user.name}}} {{& user.name }}", user.clone(), "<Ann> <Ann> <Ann>"),
            ("{{#user}}{{name}}{{/user}}", user.clone(), "<Ann>"),
            ("{{#user.tags}}[{{.}}]{{/user.tags}}", user.clone(), "[a][b]"),
            ("{{#user.tags}}{{user.name}}{{/user.tags}}", user.clone(), "<Ann><Ann>"),
            ("{{#yes}}1{{/yes}}{{^yes}}2{{/yes}}", user.clone(), "1"),
            ("{{#no}}1{{/no}}{{^no}}2{{/no}}", user.clone(), "2"),
            ("{{#l}}1{{/l}}{{^l}}none{{/l}}", json!({ "l": [] }), "none"),
            ("{{! a\ncomment }}x", json!({}), "x"),
            ("{{=<% %>=}}<% a %> {{a}}<%={{ }}=%> {{a}}", json!({ "a": 1 }), "1 {{a}} 1"),
            ("a\n  {{#yes}}\n  b\n  {{/yes}}\nc\n", user.clone(), "a\n  b\nc\n"),
            ("a\r\n{{! x }}\r\nb", json!({}), "a\r\nb"),
            ("{{#yes}}\n{{/yes}}", user.clone(), ""),
            ("| {{#yes}} x {{/yes}} |\n", user, "|  x  |\n"),
            (
                "{{n}} {{f}} {{l}} {{o}}",
                json!({ "n": 1, "f": 2.5, "l": [1, "a"], "o": { "k": null } }),
                "1 2.5 [1,\"a\"] {\"k\":null}",
            ),
            (
                "{{#l}}{{#m}}{{a}}{{b}} {{/m}}{{/l}}",
                json!({ "b": 9, "l": [{ "a": 1, "m": [{}, { "a": 2 }] }] }),
                "19 29 ",
            ),
        ],
    );
}

/// @hints_render_handlebars
#[test]
fn handlebars_has_its_blocks_and_no_other_helpers() {
    let data = json!({ "user": { "name": "<Ann>", "age": 7 }, "list": ["a", "b"], "yes": true,
        "no": "", "host": "h" });
    check_with(
        &data,
        "handlebars",
        &[
            (
                "{{user.name}} {{{user.name}}} {{&user/name}} {{user.[name]}}",
                "<Ann> <Ann> <Ann> <Ann>",
            ),
            ("{{#if yes}}1{{else}}2{{/if}}{{#unless yes}}3{{else}}4{{/unless}}", "14"),
            ("{{#if no}}1{{else if yes}}2{{else}}3{{/if}}", "2"),
            ("{{#each list}}{{@index}}{{this}}{{#unless @last}},{{/unless}}{{/each}}", "0a,1b"),
            ("{{#each list}}{{.}}{{../host}}{{@root.user.age}} {{/each}}", "ah7 bh7 "),
            ("{{#each user}}{{@key}}={{this}};{{/each}}", "name=<Ann>;age=7;"),
            ("{{#each list as |item at|}}{{at}}{{item}}{{/each}}", "0a1b"),
            ("{{#each no}}x{{else}}none{{/each}}", "none"),
            ("{{#with user as |u|}}{{name}}{{u.age}}{{../host}}{{/with}}", "<Ann>7h"),
            ("{{#user}}{{name}}{{/user}}{{^no}}n{{/no}}{{#no}}{{else}}e{{/no}}", "<Ann>ne"),
            ("{{lookup list 1}}{{lookup user \"age\"}}{{len list}}", "b72"),
            ("{{#if (and yes (eq user.age 7) (not no))}}y{{/if}}", "y"),
            ("{{#if (or no (gt user.age 8))}}y{{else}}n{{/if}}", "n"),
            ("a {{~ yes ~}} b {{~! x ~}} c", "atruebc"),
            ("{{!-- {{no}} --}}\\{{raw}} \\\\{{host}}", "{{raw}} \\h"),
            ("a\n{{#if yes}}\nb\n{{else}}\nc\n{{/if}}\nd", "a\nb\nd"),
            ("{{\"text\"}}{{7}}{{true}}", "text7true"),
        ],
    );
}

fn jinja_data() -> Value {
    let user = json!({ "name": "<Ann>", "age": 7 });
    json!({ "user": user, "list": ["b", "a"], "n": 3, "t": " Ab ", "empty": "" })
}

/// @hints_render_jinja
#[test]
fn jinja_has_its_statements() {
    let data = jinja_data();
    check_with(
        &data,
        "jinja",
        &[
            ("{{ user.name }} {{ user['name'] }} {{ list[0] }}{{ list.1 }}\n", "<Ann> <Ann> ba"),
            ("{% if n > 3 %}a{% elif n == 3 and not empty %}b{% else %}c{% endif %}", "b"),
            (
                "{% for x in list %}{{ loop.index }}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}",
                "1b,2a",
            ),
            ("{% for x in [] %}x{% else %}none{% endfor %}", "none"),
            ("{% for k, v in user|items %}{{ k }}={{ v }};{% endfor %}", "name=<Ann>;age=7;"),
            ("{% for i in range(3) %}{{ i }}{% endfor %}{{ range(1, 3) }}", "012[1,2]"),
            ("{% set u = 'http://' ~ user.name ~ ':' ~ n %}{{ u }}", "http://<Ann>:3"),
        ],
    );
}

/// @hints_render_jinja
#[test]
fn jinja_has_its_expressions_filters_and_tests() {
    let data = jinja_data();
    check_with(
        &data,
        "jinja",
        &[
            (
                "{{ n + 1 * 2 }} {{ -n }} {{ n / 2 }} {{ n // 2 }} {{ -7 % 3 }} {{ 'a' + 'b' }}",
                "5 -3 1.5 1 2 ab",
            ),
            (
                "{{ 'y' if n in [1, 3] else 'n' }}{{ 'z' if 'q' in t }}{{ 'k' if 'age' not in user }}",
                "y",
            ),
            (
                "{{ t|trim|upper }} {{ t|length }} {{ list|sort|join('-') }} {{ list|first }}",
                "AB 4 a-b b",
            ),
            (
                "{{ t|replace('b', 'x')|trim|lower }} {{ 'ann lee'|title }} {{ list|tojson }}",
                "ax Ann Lee [\"b\",\"a\"]",
            ),
            (
                "{{ '7'|int + 1 }} {{ 2.567|round(1) }} {{ [3,1,3]|unique|reverse|list }}",
                "8 2.6 [3,1]",
            ),
            (
                "{{ nope|default('d') }} {{ empty|default('e', true) }} {{ nope.deep|d(n) }}",
                "d e 3",
            ),
            (
                "{{ nope is defined }} {{ n is odd }} {{ n is not number }} {{ user is mapping }}",
                "false true false true",
            ),
            ("a {#- gone -#} b {%- if true -%} c {%- endif -%} d {{- n -}} e", "abcd3e"),
            ("{% raw %}{{ n }} {% x %}{% endraw %}{{ \"}}\" }}", "{{ n }} {% x %}}}"),
            ("{{ 'ü\\n\\'' }}{{ none }}{{ 1 == 1.0 }}", "ü\n'true"),
        ],
    );
}

/// @hints_render_missing
#[test]
fn all_missing_names_are_reported_at_once() {
    for (format, body, values, missing) in [
        ("interpolate", "${b} ${a} ${b} ${c}", json!({ "c": 1 }), json!(["a", "b"])),
        (
            "mustache",
            "{{b}}{{#a}}{{inner}}{{/a}}{{^c}}{{d}}{{/c}}",
            json!({}),
            json!(["a", "b", "c", "d"]),
        ),
        ("mustache", "{{u.name}}{{v.name}}", json!({ "u": {} }), json!(["u.name", "v"])),
        ("mustache", "{{#l}}{{x}}{{/l}}", json!({ "l": [{}, { "x": 1 }] }), json!(["x"])),
        (
            "handlebars",
            "{{#if a}}{{b}}{{else}}{{c}}{{/if}}{{lookup d 0}}",
            json!({ "c": 1 }),
            json!(["a", "b", "d"]),
        ),
        (
            "handlebars",
            "{{#each l}}{{x}}{{../y}}{{@root.z}}{{/each}}",
            json!({}),
            json!(["l", "y", "z"]),
        ),
        (
            "handlebars",
            "{{#each l}}{{x}}{{/each}}{{../up}}",
            json!({ "l": [{}] }),
            json!(["up", "x"]),
        ),
        (
            "jinja",
            "{% if a %}{{ b }}{% else %}{{ c }}{% endif %}{{ d ~ e }}{{ f|upper }}",
            json!({ "e": 1 }),
            json!(["a", "b", "c", "d", "f"]),
        ),
        (
            "jinja",
            "{% for x in xs %}{{ x.name }}{{ y }}{% endfor %}",
            json!({}),
            json!(["xs", "y"]),
        ),
        (
            "jinja",
            "{{ u.name }}{{ u['age'] }}{{ a if b else c }}",
            json!({ "u": {} }),
            json!(["a", "age", "b", "c", "u.name"]),
        ),
    ] {
        let error = refusal(format, body, values.clone());
        assert_eq!(error.details.get("missing"), Some(&missing), "{format}: {body} {error}");
        for name in missing.as_array().unwrap() {
            assert!(error.message.contains(name.as_str().unwrap()), "{error}");
        }
    }
}

/// @hints_render_missing
#[test]
fn a_default_replaces_a_missing_value() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for (format, body) in
        FORMATS.into_iter().zip(["${a}-${b}", "{{a}}-{{b}}", "{{a}}-{{b}}", "{{ a }}-{{ b }}"])
    {
        let value = json!({ "type": "template", "format": format, "body": body, "defaults": { "a": "1", "b": "2" } });
        set_value(&runtime, &value);
        assert_eq!(
            get_rendered(&runtime, json!({ "b": "x" })).unwrap()["rendered"],
            "1-x",
            "{format}"
        );
        assert_eq!(get_rendered(&runtime, json!({})).unwrap()["rendered"], "1-2", "{format}");
        let plain = call(&runtime, "get_hint", json!({ "component": "web", "key": "t" })).unwrap();
        assert_eq!(plain["hint"]["value"], value);
        assert!(plain.get("rendered").is_none(), "{plain}");
    }
}

/// @hints_render_only_templates
#[test]
fn only_a_template_is_rendered_and_only_with_valid_values() {
    let folder = Folder::new();
    let runtime = open(&folder);
    for value in [
        json!("text ${a}"),
        json!({ "type": "command", "cmd": "make" }),
        json!({ "type": "json", "data": {} }),
    ] {
        set_value(&runtime, &value);
        let error = get_rendered(&runtime, json!({})).unwrap_err();
        assert_eq!(
            (error.code, &error.details["param"]),
            (Code::Invalid, &json!("render")),
            "{value}"
        );
    }
    let param = |format: &str, values: Value| {
        refusal(format, "", values).details["param"].as_str().unwrap().to_owned()
    };
    assert_eq!(param("interpolate", json!({ "a": [1] })), "render.a");
    assert_eq!(param("interpolate", json!({ "a": {} })), "render.a");
    for format in FORMATS {
        assert_eq!(param(format, json!({ "a": null })), "render.a");
        assert_eq!(param(format, json!("a=1")), "render");
        let error = refusal(format, "", json!({ "a": "x".repeat(70_000) }));
        assert!(error.message.contains("64 KiB"), "{error}");
    }
    // If no hint applies there is nothing to render.
    let scope = json!({ "component": "web", "key": "s", "value": "v", "meta": { "scope": { "os": ["windows"] } } });
    call(&runtime, "set_hint", scope).unwrap();
    let params =
        json!({ "component": "web", "key": "s", "render": {}, "context": { "os": "linux" } });
    let result = call(&runtime, "get_hint", params).unwrap();
    assert!(result["hint"].is_null() && result.get("rendered").is_none(), "{result}");
}

/// @hints_render_does_not_parse
#[test]
fn a_template_that_does_not_parse_is_stored_and_refused_when_it_is_rendered() {
    for (format, body, line) in [
        ("interpolate", "a\n${b", 2),
        ("interpolate", "${}", 1),
        ("interpolate", "${a:-b}", 1),
        ("mustache", "a\n\n{{#a}}b", 3),
        ("mustache", "{{/a}}", 1),
        ("mustache", "{{#a}}\n{{/b}}", 2),
        ("mustache", "{{a", 1),
        ("mustache", "{{}}", 1),
        ("mustache", "{{a b}}", 1),
        ("mustache", "{{> part}}", 1),
        ("mustache", "{{=<% =}}", 1),
        ("mustache", "{{=}}", 1),
        ("mustache", "{{=<% #>=}}<%#>", 1),
        ("handlebars", "\n{{#if a}}b", 2),
        ("handlebars", "{{/if}}", 1),
        ("handlebars", "{{#if a}}{{/each}}", 1),
        ("handlebars", "{{else}}", 1),
        ("handlebars", "{{#if a}}{{else}}{{else}}{{/if}}", 1),
        ("handlebars", "{{#each a}}{{else if b}}{{/each}}", 1),
        ("handlebars", "{{> part}}", 1),
        ("handlebars", "{{#> part}}{{/part}}", 1),
        ("handlebars", "{{#*inline \"x\"}}{{> x}}{{/inline}}{{> x}}", 1),
        ("handlebars", "{{{{raw}}}}{{{{/raw}}}}", 1),
        ("handlebars", "{{shout a}}", 1),
        ("handlebars", "{{log a}}", 1),
        ("handlebars", "{{lookup a (lookup b}}", 1),
        ("handlebars", "{{#each}}{{/each}}", 1),
        ("handlebars", "{{#each a as |x}}{{/each}}", 1),
        ("handlebars", "{{a..b}}", 1),
        ("jinja", "\n\n{% if a %}b", 3),
        ("jinja", "{{ a", 1),
        ("jinja", "{{ }}", 1),
        ("jinja", "{{ a b }}", 1),
        ("jinja", "{{ 'a }}", 1),
        ("jinja", "{% endif %}", 1),
        ("jinja", "{% include 'x' %}", 1),
        ("jinja", "{% import 'x' as y %}", 1),
        ("jinja", "{% macro m() %}{% endmacro %}", 1),
        ("jinja", "{% set x %}a{% endset %}", 1),
        ("jinja", "{% for a b %}{% endfor %}", 1),
        ("jinja", "{% for a in b if c %}{% endfor %}", 1),
        ("jinja", "{{ a.__class__() }}", 1),
        ("jinja", "{{ a|nope }}", 1),
        ("jinja", "{{ a is nope }}", 1),
        ("jinja", "{# a", 1),
        ("jinja", "{% raw %}{{ a }}", 1),
    ] {
        let error = refusal(format, body, json!({ "a": 1, "b": 2 }));
        let told = (error.details.get("line"), error.message.contains(&format!("line {line}")));
        assert_eq!(told, (Some(&json!(line)), true), "{format}: {body:?} {error}");
    }
}

/// @hints_render_only_templates
#[test]
fn a_template_that_needs_another_type_of_value_is_refused() {
    for (format, body, values) in [
        ("handlebars", "{{#each a}}x{{/each}}", json!({ "a": "text" })),
        ("handlebars", "{{#if (lt a 1)}}x{{/if}}", json!({ "a": "text" })),
        ("jinja", "{% for x in a %}x{% endfor %}", json!({ "a": "text" })),
        ("jinja", "{% for x, y in a %}x{% endfor %}", json!({ "a": [[1]] })),
        ("jinja", "{{ a + 1 }}", json!({ "a": "text" })),
        ("jinja", "{{ 1 // 0 }}{{ 1 % 0 }}", json!({})),
        ("jinja", "{{ 1 / 0 }}", json!({})),
        ("jinja", "{{ 9223372036854775807 + 1 }}", json!({})),
        ("jinja", "{{ a|join }}", json!({ "a": 1 })),
        ("jinja", "{{ a|sort }}", json!({ "a": [1, "b"] })),
        ("jinja", "{{ range(a) }}", json!({ "a": "b" })),
    ] {
        refusal(format, body, values);
    }
}
