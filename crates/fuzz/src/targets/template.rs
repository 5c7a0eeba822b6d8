//! Hints that are templates, in all four languages: rendered within their limits or refused.

use model::limits;
use serde_json::{Value, json};

use crate::arena::{Arena, check_error};
use crate::dice::Dice;
use crate::grammar;
use crate::mutate::mutate;
use crate::target::{Checked, Subject, Workbench, ensure};

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "{{", "}}", "{{{", "}}}", "{{#", "{{/", "{{^", "{{>", "{{!", "{{&", "{%", "%}", "{#", "#}", "${", "}",
    "$", "{", "{{a}}", "{{b.c}}", "{{#a}}", "{{/a}}", "{{#each a}}", "{{/each}}", "{{#if a}}", "{{else}}",
    "{{/if}}", "{{#with a}}", "{{@index}}", "{{../a}}", "{{this}}", "{% for x in a %}", "{% endfor %}",
    "{% if a %}", "{% elif b %}", "{% else %}", "{% endif %}", "{% set x = 1 %}", "{{ a | upper }}",
    "{{ a | join(',') }}", "{{ a | default('x') }}", "{{ range(1000000000) }}", "{{ a * 99999999999 }}",
    "{{ 1/0 }}", "{{ a[0] }}", "{{ a['b'] }}", "{{ -a ** b }}", "{{ a ~ b }}", "{% raw %}", "{% endraw %}",
    "{{=<% %>=}}", "<% a %>", "${a:-b}", "a", "b", "c", ".", "|", "(", ")", "[", "]", "'", "\"", ",", " ",
    "\n", "-", "9999999999999999999999", "not ", " in ", " and ",
];

/// Parameters of `set_hint` and the values of `render`, as JSON.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let mut body: String = (0..dice.few(60)).map(|_| *dice.pick(PIECES)).collect();
    if dice.one_in(8) {
        let nest = *dice.pick(&[
            "{{#a}}",
            "{{#each a}}",
            "{% for x in a %}",
            "{% if a %}",
            "{{ (",
            "{{ not ",
            "{{ [",
            "${a:-",
        ]);
        body = nest.repeat(1 + dice.few(4_000));
    }
    let mut bytes = body.into_bytes();
    if dice.one_in(3) {
        mutate(dice, &mut bytes, b"{% for x in a %}{{ x | upper }}{% endfor %}");
    }
    let body = String::from_utf8_lossy(&grammar::without_secrets(&bytes)).into_owned();
    let format = *dice.pick(&["mustache", "handlebars", "jinja", "interpolate"]);
    let many: Value = (0..dice.few(3_000)).collect();
    let data = match dice.below(3) {
        0 => json!({ "a": many, "b": { "c": "x" } }),
        1 => json!({ "a": "x".repeat(dice.few(40_000)), "b": -1 }),
        _ => Value::Object(grammar::members(dice, 3)),
    };
    json!({ "value": { "type": "template", "format": format, "body": body }, "render": data })
        .to_string()
        .into_bytes()
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    Box::new(TemplateSubject { arena: Arena::with_control(bench) })
}

struct TemplateSubject {
    arena: Arena,
}

impl Subject for TemplateSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let mut case: Value = serde_json::from_slice(input).unwrap_or_default();
        let set = json!({ "component": "web", "key": "x", "value": case["value"].take() });
        if let Err(error) = self.arena.rpc("set_hint", &set) {
            return check_error(&error);
        }
        let get = json!({ "component": "web", "key": "x", "render": case["render"].take() });
        match self.arena.rpc("get_hint", &get) {
            Err(error) => check_error(&error)?,
            Ok(reply) => {
                let bytes = reply["rendered"].as_str().map_or(0, str::len);
                let most = limits::HINT_RENDER_OUTPUT_BYTES_MAX;
                ensure(bytes <= most, || format!("{bytes} bytes are rendered"))?;
            }
        }
        self.arena.check_daemon()
    }
}
