//! The real hints operations on the command line.

use std::ffi::OsString;
use std::sync::Arc;

use contract::Table;
use serde_json::{Value, json};

use super::kept;
use crate::{Picked, command, parse};

fn table() -> Table {
    Table::new(&[Arc::new(plugin_hints::Hints::default())])
}

fn call(args: &[&str]) -> (&'static str, Value) {
    let (mut output, _, err) = kept(false);
    let argv = std::iter::once("rekindle").chain(args.iter().copied()).map(OsString::from);
    let parsed = parse(&table(), Vec::new(), argv.collect(), &mut output, &mut std::io::empty());
    match parsed.picked {
        Picked::Op(call) => (call.op.name, call.params),
        _ => panic!("{args:?}: {}", err.text()),
    }
}

#[test]
fn hints_are_set_and_got_by_position_with_their_meta_as_flags() {
    command(&table(), Vec::new()).debug_assert();
    let lines: Vec<(&[&str], &str, Value)> = vec![
        (
            &["hint", "set", "web", "build", "make build"],
            "set_hint",
            json!({"component":"web","key":"build","value":"make build"}),
        ),
        (
            &[
                "hint",
                "set",
                "web",
                "build",
                "make",
                "--reason",
                "no cache",
                "--tags",
                "a,b",
                "--ttl",
                "forever",
                "--if-match-version",
                "2",
                "--json",
            ],
            "set_hint",
            json!({"component":"web","key":"build","value":"make","meta":{"reason":"no cache","tags":["a","b"],"ttl":"forever"},"if_match_version":2}),
        ),
        (&["hint", "get", "web", "build"], "get_hint", json!({"component":"web","key":"build"})),
        (
            &["hint", "get", "web", "build", "--context", r#"{"cwd":"/w"}"#],
            "get_hint",
            json!({"component":"web","key":"build","context":{"cwd":"/w"}}),
        ),
        (&["call", "nudge.get_hint", "{}"], "get_hint", json!({})),
    ];
    for (args, op, params) in lines {
        assert_eq!(call(args), (op, params), "{args:?}");
    }
}
