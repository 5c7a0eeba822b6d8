//! Selections of command lines: operations and their parameters, own commands, global flags, stdin.

use std::ffi::OsString;
use std::path::Path;

use model::limits;
use serde_json::{Value, json};

use super::*;
use crate::{command, example};

#[test]
fn the_tree_has_no_contradiction() {
    command(&table(), extra(), &ProgramName::FULL).debug_assert();
    command(&table(), Vec::new(), &ProgramName::FULL).debug_assert();
}

#[test]
fn arguments_become_parameters_by_their_schema() {
    let table: Vec<(&[&str], Value)> = vec![
        (
            &["note", "put", "web", "build", "make"],
            json!({"component":"web","key":"build","value":"make"}),
        ),
        (
            &[
                "note", "put", "web", "build", "make", "--reason", "why not", "--tags", "a,b",
                "--tags=c", "--ttl", "forever",
            ],
            json!({"component":"web","key":"build","value":"make","meta":{"reason":"why not","tags":["a","b","c"],"ttl":"forever"}}),
        ),
        (
            &["note", "put", "--if-match-version", "7", "web", "build", "{\"type\":\"json\"}"],
            json!({"component":"web","key":"build","value":{"type":"json"},"if_match_version":7}),
        ),
        (
            &["note", "put", "--if_match_version=7", "web", "build", "[1, 2]"],
            json!({"component":"web","key":"build","value":[1,2],"if_match_version":7}),
        ),
        // Any other value stays a text.
        (&["note", "put", "w", "b", "42"], json!({"component":"w","key":"b","value":"42"})),
        (&["note", "put", "w", "b", "null"], json!({"component":"w","key":"b","value":"null"})),
        (&["note", "put", "w", "b", "{oops"], json!({"component":"w","key":"b","value":"{oops"})),
        (&["note", "put", "w", "b", "\"x\""], json!({"component":"w","key":"b","value":"\"x\""})),
        (&["note", "put", "w", "b", ""], json!({"component":"w","key":"b","value":""})),
        (
            &["note", "put", "w", "b", "--", "--json"],
            json!({"component":"w","key":"b","value":"--json"}),
        ),
        (
            &["note", "put", "w", "b", "x", "--tags="],
            json!({"component":"w","key":"b","value":"x","meta":{"tags":[]}}),
        ),
        (&["note", "list"], json!({})),
        (&["note", "list", "1", "2,3"], json!({"ids":[1,2,3]})),
        // The operation refuses what is not an id, with the forms that it reads.
        (&["note", "list", "1", "two"], json!({"ids":[1,"two"]})),
        (&["note", "list", " 1 "], json!({"ids":[1]})),
        (
            &[
                "note",
                "list",
                "--limit",
                "-5",
                "--min-score",
                "0.5",
                "--deep",
                "--order-by",
                "oldest",
            ],
            json!({"limit":-5,"min_score":0.5,"deep":true,"order_by":"oldest"}),
        ),
        (
            &["note", "list", "--deep=false", "--min_score", "2"],
            json!({"deep":false,"min_score":2}),
        ),
        (&["note", "list", "--limit", "18446744073709551615"], json!({"limit":u64::MAX})),
        (
            &["note", "list", "--context", "{\"cwd\":\"/w\"}", "--filters", "[{\"os\":\"linux\"}]"],
            json!({"context":{"cwd":"/w"},"filters":[{"os":"linux"}]}),
        ),
        (&["call", "inspect"], json!({})),
        (&["call", "notes.put", "{\"key\": [1, {\"a\": null}]}"], json!({"key":[1,{"a":null}]})),
        (&["call", "inspect", "[1]"], json!([1])),
    ];
    all_become(&table);
}

#[test]
fn a_flag_takes_the_next_word_only_if_it_is_true_or_false() {
    all_become(&[
        (&["note", "list", "--deep", "false", "1"], json!({"deep":false,"ids":[1]})),
        (&["note", "list", "--deep", "true"], json!({"deep":true})),
        (&["note", "list", "--deep", "1"], json!({"deep":true,"ids":[1]})),
    ]);
}

/// Checks the parameters that these arguments become.
fn all_become(table: &[(&[&str], Value)]) {
    for (args, params) in table {
        let ran = run(args);
        assert_eq!(ran.call().map(|(_, given)| given), Ok(params), "{args:?}");
    }
}

#[test]
fn an_alias_calls_the_operation_by_its_own_name() {
    for name in ["put_note", "notes.put", "notes_put"] {
        assert_eq!(run(&["call", name]).call().map(|(op, _)| op), Ok("put_note"));
    }
    assert_eq!(run(&["note", "list"]).call().map(|(op, _)| op), Ok("list_notes"));
}

#[test]
fn json_is_recognised_anywhere_on_the_line_but_not_behind_two_dashes() {
    let table: [(&[&str], bool); 9] = [
        (&["--json", "note", "list"], true),
        (&["note", "--json", "list"], true),
        (&["note", "list", "--json"], true),
        (&["note", "list", "1", "2", "--json"], true),
        (&["--json", "note", "list", "--json"], true),
        (&["note", "put", "a", "b", "c", "--json", "--ttl", "session"], true),
        (&["call", "inspect", "{}", "--json"], true),
        (&["note", "list"], false),
        (&["note", "put", "a", "b", "--", "--json"], false),
    ];
    for (args, json) in table {
        let ran = run(args);
        assert!(ran.call().is_ok(), "{args:?}");
        assert_eq!(ran.json, json, "{args:?}");
    }
}

#[test]
fn the_database_is_recognised_anywhere_and_the_port_behind_a_command_that_can_start_a_daemon() {
    let lines: [&[&str]; 4] = [
        &["--db", "m.db", "serve", "-p", "9000"],
        &["serve", "-p9000", "--db=m.db"],
        &["--db", "m.db", "note", "list", "--port", "9000"],
        &["note", "list", "-p", "9000", "--db", "m.db"],
    ];
    for args in lines {
        let ran = run(args);
        assert_eq!(ran.parsed.db.as_deref(), Some(Path::new("m.db")), "{args:?}");
        assert_eq!(ran.parsed.port, Some(9000), "{args:?}");
    }
    let ran = run(&["note", "list"]);
    assert_eq!((ran.parsed.db, ran.parsed.port), (None, None));
    for args in [&["config", "get", "k", "-p", "5"], &["note", "put", "a", "b", "-p5"]] {
        let ran = run(args);
        assert!(
            ran.exit() == Some(2) && ran.err.contains("unexpected argument '-p'"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn own_commands_are_returned_with_their_words_and_arguments() {
    let table: [(&[&str], &[&str]); 4] = [
        (&["config", "get", "daemon.port"], &["config", "get"]),
        (&["config"], &["config"]),
        // An own command wins over the operation with these words.
        (&["status"], &["status"]),
        // A group of both keeps its own commands, and the operations beside them.
        (&["note", "edit"], &["note", "edit"]),
    ];
    for (args, path) in table {
        match run(args).parsed.picked {
            Selection::Own(own) => {
                assert_eq!(own.path, path, "{args:?}");
                if args.len() == 3 {
                    assert_eq!(own.matches.get_one::<String>("key").unwrap(), "daemon.port");
                }
            }
            _ => panic!("{args:?} is not an own command"),
        }
    }
}

#[test]
fn a_dash_reads_the_value_from_stdin_without_its_last_newline() {
    let text = "make\n  build\n\n";
    let ran = run_with(&["note", "put", "web", "build", "-"], text.as_bytes());
    assert_eq!(ran.call().unwrap().1["value"], "make\n  build\n");
    let ran = run_with(&["note", "put", "web", "build", "-"], b" {\"type\": \"json\"}\n");
    assert_eq!(ran.call().unwrap().1["value"], json!({"type": "json"}));
    let ran = run_with(&["call", "inspect", "-"], b"{\"a\":\n1}\n");
    assert_eq!(ran.call().unwrap().1, &json!({"a": 1}));
}

#[test]
fn stdin_is_bounded_checked_and_read_once() {
    let endless = vec![b'x'; limits::BODY_BYTES_MAX + 1];
    let table: [(&[&str], &[u8], u8, &str); 4] = [
        (&["note", "put", "a", "b", "-"], &endless, 1, "stdin is over 16 MiB"),
        (&["note", "put", "a", "b", "-"], b"ab\xff", 2, "stdin is not UTF-8 at byte 2"),
        (&["note", "put", "a", "-", "-"], b"x", 2, "two arguments are '-'"),
        (
            &["call", "inspect", "-"],
            b"",
            2,
            "PARAMS is not JSON: EOF while parsing a value at line 1, column 0",
        ),
    ];
    for (args, stdin, exit, message) in table {
        let ran = run_with(args, stdin);
        assert_eq!(ran.exit(), Some(exit), "{args:?}");
        assert!(ran.err.contains(message), "{}", ran.err);
    }
}

#[test]
fn every_example_is_shown_as_a_line_that_gives_its_parameters() {
    let mut lines = Vec::new();
    for op in table().iter() {
        for shown in op.info.examples {
            let params: Value = serde_json::from_str(shown.params).unwrap();
            for line in [
                example::command_line(op, &params, &ProgramName::FULL),
                example::call_line(op, &params),
            ] {
                let words: Vec<OsString> =
                    shell_words(&line).into_iter().skip(1).map(OsString::from).collect();
                let ran = run_os(words, b"");
                assert_eq!(ran.call(), Ok((op.info.name, &params)), "{line}");
                lines.push(line);
            }
        }
    }
    assert!(lines.iter().any(|line| line.starts_with("rekindle note put web build")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("rekindle note list 1,2,3")), "{lines:?}");
}

/// Splits as a POSIX shell does, as far as our own quoting needs it.
pub(super) fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => quoted = !quoted,
            '\\' if !quoted => word.extend(chars.next()),
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}
