//! Lines that cannot be parsed: one clear line and a hint, or JSON; exit code 2.

use std::os::unix::ffi::OsStringExt;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

/// Checks the message about each of these lines.
fn check(lines: &[&[&str]], expected: Expect) {
    let mut told = String::new();
    for args in lines {
        let ran = run(args);
        assert_eq!((ran.exit(), ran.out.as_str()), (Some(2), ""), "{args:?}");
        told.push_str(&format!("$ {}\n{}", text::one_line(&args.join(" "), 80), ran.err));
    }
    expected.assert_eq(&told);
}

#[test]
fn a_wrong_argument_is_one_line_with_a_hint() {
    let lines: [&[&str]; 13] = [
        &["note", "put", "web"],
        &["note", "put", "a", "b", "c", "--colour", "red"],
        &["note", "put", "a", "b", "c", "--reson", "x"],
        &["note", "put", "a", "b", "-j4"],
        &["note", "put", "a", "b", "-r", "x"],
        &["note", "put", "a", "-latency"],
        &["note", "list", "-n", "3"],
        &["note", "put", "a", "b", "c", "--ttl", "never"],
        &["note", "put", "a", "b", "c", "--reason"],
        &["note", "put", "a", "b", "c", "--reason", "x", "--reason", "y"],
        &["note", "put", "a", "b", "c", "d"],
        &["serve", "-p", "70000"],
        &["ops", "--cost", "inspect"],
    ];
    check(
        &lines,
        expect![[r#"
            $ note put web
            error: missing <KEY>, <VALUE>
            hint: Usage: rekindle note put <COMPONENT> <KEY> <VALUE>, for example `rekindle note put web build 'it'\''s `make`' --tags 'a,b c' --ttl forever`
            $ note put a b c --colour red
            error: unexpected argument '--colour'
            hint: `rekindle note put --help` lists the options.
            $ note put a b c --reson x
            error: unexpected argument '--reson'
            hint: Did you mean --reason? Usage: rekindle note put [OPTIONS] <COMPONENT> <KEY> <VALUE>
            $ note put a b -j4
            error: unexpected argument '-j'
            hint: Did you mean --json? Usage: rekindle note put [OPTIONS] <COMPONENT> <KEY> <VALUE>
            $ note put a b -r x
            error: unexpected argument '-r'
            hint: Did you mean --reason? Usage: rekindle note put [OPTIONS] <COMPONENT> <KEY> <VALUE>
            $ note put a -latency
            error: unexpected argument '-l'
            hint: Put a value that starts with '-' after '--'. Usage: rekindle note put [OPTIONS] <COMPONENT> <KEY> <VALUE>
            $ note list -n 3
            error: unexpected argument '-n'
            hint: Did you mean --limit? Usage: rekindle note list [OPTIONS] [IDS]...
            $ note put a b c --ttl never
            error: --ttl wants one of session, forever, not 'never'
            hint: See `rekindle note put --help`.
            $ note put a b c --reason
            error: --reason wants a value
            hint: See `rekindle note put --help`.
            $ note put a b c --reason x --reason y
            error: the argument '--reason <REASON>' cannot be used multiple times
            hint: Usage: rekindle note put [OPTIONS] <COMPONENT> <KEY> <VALUE>
            $ note put a b c d
            error: unexpected argument 'd'
            hint: Usage: rekindle note put [OPTIONS] <COMPONENT> <KEY> <VALUE>
            $ serve -p 70000
            error: --port wants a number from 0 to 65535, not '70000'
            hint: See `rekindle serve --help`.
            $ ops --cost inspect
            error: the argument '--cost' cannot be used with '[NAME]'
            hint: Usage: rekindle ops --cost [NAME]
        "#]],
    );
}

#[test]
fn a_wrong_command_gets_the_right_one_as_a_hint() {
    let lines: [&[&str]; 7] = [
        &["stauts"],
        &["zzz"],
        &["put_note"],
        &["inspect"],
        &["note", "shred"],
        &["completions", "tcsh"],
        &["help", "note", "shred"],
    ];
    check(
        &lines,
        expect![[r#"
        $ stauts
        error: no command is called 'stauts'
        hint: Did you mean status?
        $ zzz
        error: no command is called 'zzz'
        hint: `rekindle --help` lists the commands.
        $ put_note
        error: no command is called 'put_note'
        hint: Use `rekindle note put` or `rekindle call put_note`.
        $ inspect
        error: no command is called 'inspect'
        hint: Use `rekindle call inspect`.
        $ note shred
        error: no command is called 'shred'
        hint: The commands of `rekindle note` are edit, list, put.
        $ completions tcsh
        error: <SHELL> wants one of bash, elvish, fish, powershell, zsh, not 'tcsh'
        hint: See `rekindle completions --help`.
        $ help note shred
        error: no command is called 'shred'
        hint: The commands of `rekindle note` are edit, list, put.
    "#]],
    );
}

#[test]
fn a_value_of_the_wrong_type_is_named() {
    let lines: [&[&str]; 8] = [
        &["note", "list", "--limit", "many"],
        &["note", "list", "--limit", "1.5"],
        &["note", "list", "--limit", "99999999999999999999"],
        &["note", "list", "--min-score", "NaN"],
        &["note", "list", "--deep=maybe"],
        &["note", "list", "--context", "/w"],
        &["note", "list", "--context", "[]"],
        &["note", "list", "--filters", "{}"],
    ];
    check(
        &lines,
        expect![[r#"
        $ note list --limit many
        error: --limit wants an integer, not 'many'
        hint: See `rekindle note list --help`.
        $ note list --limit 1.5
        error: --limit wants an integer, not '1.5'
        hint: See `rekindle note list --help`.
        $ note list --limit 99999999999999999999
        error: --limit wants an integer, not '99999999999999999999'
        hint: See `rekindle note list --help`.
        $ note list --min-score NaN
        error: --min-score wants a number, not 'NaN'
        hint: See `rekindle note list --help`.
        $ note list --deep=maybe
        error: --deep wants true or false, not 'maybe'
        hint: See `rekindle note list --help`.
        $ note list --context /w
        error: --context is not JSON: expected value at line 1, column 1
        hint: Quote the whole JSON for the shell, for example '{"key":"value"}'.
        $ note list --context []
        error: --context wants a JSON object, not '[]'
        hint: See `rekindle note list --help`.
        $ note list --filters {}
        error: --filters wants a JSON array, not '{}'
        hint: See `rekindle note list --help`.
    "#]],
    );
}

#[test]
fn invalid_json_is_named_with_line_and_column() {
    let deep = "[".repeat(100_000);
    let lines: [&[&str]; 3] = [
        &["call", "inspect", "{\"a\": 1,\n \"b\": }"],
        &["call", "inspect", ""],
        &["call", "inspect", &deep],
    ];
    check(
        &lines,
        expect![[r#"
        $ call inspect {"a": 1,  "b": }
        error: PARAMS is not JSON: expected value at line 2, column 7
        hint: Quote the whole JSON for the shell, for example '{"key":"value"}'.
        $ call inspect
        error: PARAMS is not JSON: EOF while parsing a value at line 1, column 0
        hint: Quote the whole JSON for the shell, for example '{"key":"value"}'.
        $ call inspect [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…
        error: PARAMS is not JSON: recursion limit exceeded at line 1, column 128
        hint: Quote the whole JSON for the shell, for example '{"key":"value"}'.
    "#]],
    );
    let ran = run(&["call", "inspect", "{", "--json"]);
    let error: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(error["error"]["data"]["line"], 1);
    assert_eq!(error["error"]["data"]["column"], 1);
}

#[test]
fn an_unknown_operation_gets_the_closest_names_as_a_hint() {
    let lines: [&[&str]; 3] = [&["call", "put_nte"], &["ops", "note"], &["call", "zzzzzz"]];
    check(
        &lines,
        expect![[r#"
        $ call put_nte
        error: no operation is called 'put_nte'
        hint: Did you mean put_note? `rekindle ops` lists them all.
        $ ops note
        error: no operation is called 'note'
        hint: Did you mean notes.put, notes_put, list_notes? `rekindle ops` lists them all.
        $ call zzzzzz
        error: no operation is called 'zzzzzz'
        hint: `rekindle ops` lists them all.
    "#]],
    );
    let ran = run(&["call", "put_nte", "--json"]);
    let error: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(error["error"]["code"], -32601);
    assert_eq!(error["error"]["data"]["suggestions"], json!(["put_note"]));
    assert_eq!(ran.exit(), Some(2));
}

#[test]
fn with_json_a_mistake_is_an_error_object_on_stdout() {
    let lines: [&[&str]; 7] = [
        &["--json"],
        &["--json", "note"],
        &["note", "put", "--json"],
        &["note", "list", "--colour", "--json"],
        &["note", "list", "--limit", "many", "--json"],
        &["nothing", "--json"],
        &["call", "inspect", "{", "--json"],
    ];
    for args in lines {
        let ran = run(args);
        assert_eq!(ran.exit(), Some(2), "{args:?}");
        assert_eq!(ran.err, "", "{args:?}");
        let error: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(error["error"]["code"], 40001, "{args:?}");
        assert_eq!(error["error"]["data"]["reason"], "E_INVALID", "{args:?}");
        assert!(!error["error"]["message"].as_str().unwrap().is_empty(), "{args:?}");
    }
}

#[test]
fn hostile_arguments_cannot_control_or_flood_the_terminal() {
    let escape = "\u{1b}]0;owned\u{7}\r\nerror: fake\u{9b}2J";
    let long = "x".repeat(100_000);
    for bad in [escape, &long] {
        let flag = format!("--{bad}");
        let lines: [&[&str]; 6] = [
            &[bad],
            &["note", bad],
            &["note", "list", &flag],
            &["note", "list", "--limit", bad],
            &["call", bad],
            &["note", "put", "a", "b", "c", "--ttl", bad],
        ];
        for args in lines {
            let ran = run(args);
            assert_eq!(ran.exit(), Some(2));
            assert!(ran.err.len() < 2_000, "{}", ran.err.len());
            assert!(ran.err.lines().count() <= 2, "{}", ran.err);
            assert!(!ran.err.chars().any(|c| c.is_control() && c != '\n'), "{:?}", ran.err);
        }
    }
}

#[test]
fn an_argument_that_is_not_utf8_is_a_mistake_and_a_path_may_be_anything() {
    let raw = || OsString::from_vec(b"a\xff".to_vec());
    let words = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>();
    let mut put = words(&["note", "put", "a", "b"]);
    put.push(raw());
    let ran = run_os(put, b"");
    assert_eq!(ran.exit(), Some(2));
    assert!(ran.err.starts_with("error: an argument is not UTF-8\n"), "{}", ran.err);
    let ran = run_os([vec!["--db".into(), raw()], words(&["note", "list"])].concat(), b"");
    assert!(ran.call().is_ok());
    assert_eq!(ran.parsed.db.unwrap().into_os_string(), raw());
}
