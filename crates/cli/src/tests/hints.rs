//! The real hints operations on the command line, under both names.

use std::ffi::OsString;
use std::sync::Arc;

use clap::Command;
use contract::{Operation, Table};
use model::{Caller, Reply, Request, Road};
use serde_json::{Value, json};

use super::kept_as;
use crate::{OpCall, ProgramName, Selection, command, example, parse, run_op};

const NUDGE: ProgramName = ProgramName {
    word: "nudge",
    about: "Small facts",
    group: Some("hint"),
    own: &["serve", "status", "stop"],
    sayings: &[],
    prefix: "",
};

fn table() -> Table {
    Table::new(&[Arc::new(plugin_hints::Hints::default())])
}

fn extra() -> Vec<Command> {
    let command = |word| Command::new(word).after_help(format!("Example:\n  rekindle {word}"));
    ["serve", "status", "stop", "doctor"].map(command).into()
}

/// The operation and parameters of a line, or its message and exit code.
fn line(name: &'static ProgramName, args: &[&str], stdin: &[u8]) -> Result<OpCall, (u8, String)> {
    let (mut output, out, err) = kept_as(name, false);
    let argv = std::iter::once(name.word).chain(args.iter().copied()).map(OsString::from);
    let mut stdin = stdin;
    match parse(&table(), extra(), argv.collect(), &mut output, &mut stdin).picked {
        Selection::Op(mut call) => {
            // A person types it under the full name; it is not on the line.
            let typed = call.params.as_object_mut().and_then(|params| params.remove("typed"));
            let is_set = call.op.name == "set_hint" && name.word == ProgramName::FULL.word;
            assert_eq!(typed, is_set.then_some(json!(true)), "{args:?}");
            Ok(call)
        }
        Selection::Own(own) => Err((0, own.path.join(" "))),
        Selection::Done(exit) => Err((exit, format!("{}{}", out.text(), err.text()))),
    }
}

fn call(args: &[&str]) -> (&'static str, Value) {
    let call =
        line(&ProgramName::FULL, args, b"").unwrap_or_else(|said| panic!("{args:?}: {said:?}"));
    (call.op.name, call.params)
}

fn said(args: &[&str]) -> (u8, String) {
    line(&ProgramName::FULL, args, b"").expect_err("a mistake")
}

#[test]
fn the_trees_of_both_names_have_no_contradiction() {
    command(&table(), extra(), &ProgramName::FULL).debug_assert();
    command(&table(), extra(), &NUDGE).debug_assert();
}

#[test]
fn each_member_of_a_hints_metadata_has_a_flag() {
    let set = |flags: &[&str]| {
        let (op, mut params) = call(&[&["hint", "set", "web", "build", "make"], flags].concat());
        assert_eq!(op, "set_hint");
        params["meta"].take()
    };
    assert_eq!(
        set(&[
            "--tags",
            "build,docker",
            "--priority",
            "7",
            "--confidence",
            "0.8",
            "--ttl",
            "session",
            "--reason",
            "no cache",
            "--sensitivity",
            "normal",
            "--source",
            "tool-output",
            "--added-by",
            "agent:x",
        ]),
        json!({
            "tags": ["build", "docker"], "priority": 7, "confidence": 0.8, "ttl": "session",
            "reason": "no cache", "sensitivity": "normal", "source": "tool-output",
            "added_by": "agent:x",
        })
    );
    assert_eq!(
        set(&[
            "--scope-cwd-glob",
            "**/http-proxy*,**/{a,b}",
            "--scope-branch",
            "dev,main",
            "--scope-os",
            "linux,darwin",
            "--scope-repo",
            "git:org/repo",
            "--scope-env-required",
            "A,B",
            "--scope-env-match",
            "K=1",
            "--scope-env-match=L=a,b=c",
            "--scope-env-match",
            "K=2",
        ]),
        json!({ "scope": {
            "cwd_glob": ["**/http-proxy*", "**/{a,b}"], "branch": ["dev", "main"],
            "os": ["linux", "darwin"], "repo": "git:org/repo", "env_required": ["A", "B"],
            "env_match": { "K": ["1", "2"], "L": "a,b=c" },
        } })
    );
    assert_eq!(
        set(&["--scope-repo", "a", "--scope-repo", "b"])["scope"]["repo"],
        json!(["a", "b"])
    );
    assert_eq!(set(&["--scope_branch", "x"])["scope"]["branch"], json!(["x"]));
}

#[test]
fn single_flags_override_members_of_a_json_object() {
    let (_, params) = call(&[
        "hint",
        "set",
        "--priority",
        "9",
        "a",
        "b",
        "c",
        "--scope",
        r#"{"os":["linux"]}"#,
        "--meta",
        r#"{"reason":"r","priority":1,"scope":{"branch":["x"]}}"#,
        "--scope-repo",
        "g",
    ]);
    assert_eq!(
        params["meta"],
        json!({ "reason": "r", "priority": 9, "scope": { "os": ["linux"], "repo": "g" } })
    );
    assert_eq!(call(&["hint", "set", "a", "b", "c", "--meta", "{}"]).1["meta"], json!({}));
    let (_, params) =
        call(&["hint", "get", "a", "b", "--context", r#"{"cwd":"/w"}"#, "--os=linux"]);
    assert_eq!(params["context"], json!({ "cwd": "/w", "os": "linux" }));
}

#[test]
fn each_member_of_the_situation_has_a_flag() {
    let stands = [
        "--cwd",
        "/w",
        "--branch",
        "dev",
        "--os",
        "linux",
        "--repo",
        "git:a/b",
        "--env",
        "A=1",
        "--env",
        "B=x=y,z",
        "--files-open",
        "a.rs,b.rs",
    ];
    let context = json!({
        "cwd": "/w", "branch": "dev", "os": "linux", "repo": "git:a/b",
        "env": { "A": "1", "B": "x=y,z" }, "files_open": ["a.rs", "b.rs"],
    });
    for words in [
        &["hint", "get", "a", "b"][..],
        &["hint", "query"],
        &["hint", "delete", "a", "b"],
        &["hint", "bump", "a", "b"],
    ] {
        let (_, params) = call(&[words, &stands].concat());
        assert_eq!(params["context"], context, "{words:?}");
    }
    for word in ["delete", "bump"] {
        let (_, params) = call(&["hint", word, "a", "b", "--scope-os", "darwin"]);
        assert_eq!(params["scope"], json!({ "os": ["darwin"] }), "{word}");
        assert_eq!(call(&["hint", word, "a", "b", "--scope", "{}"]).1["scope"], json!({}));
    }
}

#[test]
fn the_values_of_a_template_are_pairs_or_json() {
    let render = |flags: &[&str]| {
        let (_, mut params) = call(&[&["hint", "get", "a", "b"], flags].concat());
        params["render"].take()
    };
    assert_eq!(
        render(&["--render", "name=x y", "--render", "list=[1,2]"]),
        json!({ "name": "x y", "list": [1, 2] })
    );
    assert_eq!(render(&["--render", r#"{"n":1}"#]), json!({ "n": 1 }));
}

#[test]
fn a_wrong_pair_or_word_is_a_usage_error_that_names_the_flag() {
    for (args, told) in [
        (&["hint", "get", "a", "b", "--env", "A"][..], "--env wants NAME=VALUE, not 'A'"),
        (&["hint", "get", "a", "b", "--env", "=1"], "--env wants NAME=VALUE, not '=1'"),
        (&["hint", "get", "a", "b", "--env", "A=1", "--env", "A=2"], "--env wants 'A' once"),
        (&["hint", "set", "a", "b", "c", "--scope-os", "beos"], "--scope-os wants one of linux"),
        (&["hint", "set", "a", "b", "c", "--meta", "[1]"], "--meta wants a JSON object"),
        (&["hint", "set", "a", "b", "c", "--priority", "high"], "--priority wants an integer"),
    ] {
        let (exit, text) = said(args);
        assert_eq!(exit, 2, "{args:?}");
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn either_flag_turns_the_guard_off() {
    for flag in ["--allow-secret", "--no-secret-guard"] {
        let (_, params) = call(&["hint", "set", "a", "b", "c", flag]);
        assert_eq!(params["allow_secret"], json!(true), "{flag}");
        let (_, params) = call(&["hint", "import", "{}", flag]);
        assert_eq!(params, json!({ "payload": {}, "allow_secret": true }), "{flag}");
    }
}

#[test]
fn a_document_is_read_from_a_file_stdin_or_the_line() {
    let dir = std::env::temp_dir().join(format!("rekindle-cli-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let seed = json!({ "components": {} });
    std::fs::write(path("plain.json"), format!("\u{feff}{seed:#}\n")).unwrap();
    std::fs::write(path("wrapped.json"), json!({ "payload": seed }).to_string()).unwrap();
    std::fs::write(path("bad.json"), "{\n  \"components\": oops\n}").unwrap();
    std::fs::write(path("list.json"), "[]").unwrap();
    std::fs::write(path("raw.json"), b"{\"a\": \"\xff\"}").unwrap();
    for file in ["plain.json", "wrapped.json"] {
        let (op, params) = call(&["hint", "import", &path(file), "--mode", "replace"]);
        assert_eq!((op, params), ("import_hints", json!({ "payload": seed, "mode": "replace" })));
    }
    let piped =
        line(&ProgramName::FULL, &["hint", "import", "-"], b"{\"components\":{}}\n").unwrap();
    assert_eq!(piped.params, json!({ "payload": seed }));
    for (file, told) in [
        ("missing.json", "there is no file"),
        ("", "is a directory"),
        ("bad.json", "is not JSON: expected value at line 2, column 17"),
        ("list.json", "holds no JSON object"),
        ("raw.json", "is not UTF-8 at byte 7"),
    ] {
        let (exit, text) = said(&["hint", "import", &path(file)]);
        assert_eq!(exit, 1, "{file}: {text}");
        assert!(text.contains(told) && text.contains(&path(file)), "{text}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn hint_examples_are_shown_as_lines_that_parse_to_their_parameters() {
    for op in table().iter() {
        for shown in op.info.examples {
            let params: Value = serde_json::from_str(shown.params).unwrap();
            for name in [&ProgramName::FULL, &NUDGE] {
                let text = example::command_line(op, &params, name);
                let words = super::parsing::shell_words(&text);
                assert_eq!(words[0], name.word, "{text}");
                let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                let call =
                    line(name, &words, b"").unwrap_or_else(|said| panic!("{text}: {said:?}"));
                assert_eq!((call.op.name, call.params), (op.info.name, params.clone()), "{text}");
            }
        }
    }
}

#[test]
fn any_parameters_of_a_hint_can_be_shown_as_a_line() {
    let table = table();
    for (op, params) in [
        ("set_hint", json!({ "component": "a", "key": "b", "value": "c", "meta": {} })),
        (
            "set_hint",
            json!({ "component": "a", "key": "b", "value": "c", "meta": { "reason": "-x",
                "tags": ["a,b"], "scope": { "repo": ["one"], "cwd_glob": ["**/{a,b}", "c"],
                "env_match": { "A": ["1", "2"], "B": "2" } } } }),
        ),
        ("get_hint", json!({ "component": "a", "key": "b", "context": { "env": { "A": "{x" } } })),
        ("delete_hint", json!({ "component": "a", "key": "b", "scope": { "os": ["linux"] } })),
        ("query_hints", json!({ "context": { "files_open": ["a b"], "env": {} } })),
    ] {
        let text = example::command_line(table.find(op).unwrap(), &params, &ProgramName::FULL);
        assert!(text.starts_with("rekindle hint "), "{text}");
        let words = super::parsing::shell_words(&text);
        let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        assert_eq!(call(&words), (op, params), "{text}");
    }
}

#[test]
fn under_a_groups_name_its_commands_are_at_the_top_level() {
    for (args, op) in [
        (&["set", "a", "b", "c"][..], "set_hint"),
        (&["get", "a", "b"], "get_hint"),
        (&["ls"], "list_components"),
        (&["list-components", "a"], "list_components"),
        (&["-p", "9000", "--json", "stats"], "hint_stats"),
    ] {
        assert_eq!(line(&NUDGE, args, b"").map(|call| call.op.name), Ok(op), "{args:?}");
    }
    for (args, exit, told) in [
        (&["status"][..], 0, "status"),
        (&["--version"], 0, concat!("nudge ", env!("CARGO_PKG_VERSION"), "\n")),
        (&["doctor"], 2, "error: no command is called 'doctor'\n"),
        (&["call", "get_hint"], 2, "error: no command is called 'call'\n"),
        (&["hint", "get", "a", "b"], 2, "error: no command is called 'hint'\n"),
        (&["set_hint"], 2, "error: no command is called 'set_hint'\nhint: Use `nudge set`.\n"),
        (&["get", "a"], 2, "error: missing <KEY>\nhint: Usage: nudge get <COMPONENT> <KEY>\n"),
        (
            &["query", "--limit", "x"],
            2,
            "error: --limit wants an integer, not 'x'\nhint: See `nudge query --help`.\n",
        ),
    ] {
        let (code, text) = line(&NUDGE, args, b"").expect_err("no call");
        assert_eq!(code, exit, "{args:?}");
        assert!(text.starts_with(told), "{text}");
    }
    assert_eq!(
        line(&ProgramName::FULL, &["hint", "list-components"], b"").unwrap().op.name,
        "list_components"
    );
}

#[test]
fn the_help_of_a_name_mentions_no_other_name() {
    let mut tree = command(&table(), extra(), &NUDGE);
    tree.build();
    let mut helps = vec![tree.render_long_help().to_string()];
    helps.extend(tree.get_subcommands_mut().map(|one| one.render_long_help().to_string()));
    for help in &helps {
        assert!(!help.contains("rekindle"), "{help}");
    }
    let names: Vec<&str> = tree.get_subcommands().map(Command::get_name).collect();
    assert_eq!(
        names,
        [
            "serve",
            "status",
            "stop",
            "bump",
            "delete",
            "export",
            "get",
            "import",
            "ls",
            "query",
            "set",
            "stats",
            "completions",
            "help",
        ]
    );
    for shell in ["bash", "zsh", "fish"] {
        let (exit, script) = line(&NUDGE, &["completions", shell], b"").expect_err("a script");
        assert_eq!(exit, 0);
        assert!(script.contains("nudge") && script.contains("scope-cwd-glob"), "{shell}");
        assert!(!script.contains("rekindle"), "{shell}");
    }
}

/// A transport that gives one reply.
struct FixedReply(Reply);

impl Road for FixedReply {
    fn call(&self, _: Request) -> Reply {
        self.0.clone()
    }
}

/// The exit code, stdout and stderr of a command whose operation gives this reply.
fn answered(
    name: &'static ProgramName,
    op: &str,
    reply: Reply,
    json: bool,
    terminal: bool,
) -> (u8, String, String) {
    let (mut output, out, err) = kept_as(name, terminal);
    output.json = json;
    let table = table();
    let op: &Operation = table.find(op).unwrap();
    let params = json!({ "component": "web", "key": "dir" });
    let call = OpCall::new(op.info, params);
    let exit = run_op(&mut output, &FixedReply(reply), Caller::default(), call);
    (exit, out.text(), err.text())
}

#[test]
fn a_hint_out_of_scope_is_an_error_with_the_reason() {
    let none = json!({ "hint": null, "match_explain": {
        "matched": false, "score": 0.0, "reasons": ["os=linux not in [windows]"] } });
    let (exit, out, err) = answered(&ProgramName::FULL, "get_hint", Ok(none.clone()), false, false);
    assert_eq!((exit, out.as_str()), (1, ""));
    assert!(
        err.starts_with("error: no hint web/dir applies here: os=linux not in [windows]\n"),
        "{err}"
    );
    let (exit, out, err) = answered(&ProgramName::FULL, "get_hint", Ok(none.clone()), true, false);
    assert_eq!((exit, err.as_str()), (1, ""));
    let mut printed: Value = serde_json::from_str(&out).unwrap();
    let error = printed.as_object_mut().unwrap().remove("error").unwrap();
    assert_eq!(error["message"], "no hint web/dir applies here: os=linux not in [windows]");
    assert_eq!(printed, none);
}

#[test]
fn errors_and_notes_use_the_program_name_in_use() {
    let error = || {
        Err(model::OpError::not_found("no hint web/dir")
            .hint("`rekindle hint set COMPONENT KEY VALUE` stores one; see `rekindle status`."))
    };
    let (_, _, err) = answered(&NUDGE, "get_hint", error(), false, false);
    let hint = "hint: `nudge set COMPONENT KEY VALUE` stores one; see `nudge status`.";
    assert_eq!(err, format!("error: no hint web/dir\n{hint}\n"));
    // Programs get the message of the wire.
    let (_, out, _) = answered(&NUDGE, "get_hint", error(), true, false);
    assert!(out.contains("`rekindle hint set"), "{out}");
    let (mut output, _, err) = kept_as(&NUDGE, false);
    output.note("`rekindle stop` starts the new build; `rekindle doctor` looks");
    assert_eq!(err.text(), "`nudge stop` starts the new build; `rekindle doctor` looks\n");
}

#[test]
fn an_export_is_a_document_with_secrets_masked_on_a_terminal() {
    let key = ["AKIA", "IOSFODNN7", "EXAMPLE"].concat();
    let secret = |value: Value| {
        json!({ "value": value, "version": 1,
        "meta": { "sensitivity": "secret", "reason": format!("rotates {key}") } })
    };
    let typed = secret(json!({ "type": "command", "cmd": format!("login {key}") }));
    let plain = json!({ "value": "make \u{9b}2J", "meta": { "tags": ["a"] }, "version": 1 });
    let payload = json!({ "schema_version": "1.0", "components": { "web": {
        "hints": { "build": plain, "token": secret(json!(key)) },
        "variants": { "token": [typed, plain] } } } });
    let export = |json, terminal| {
        let reply = Ok(json!({ "payload": payload }));
        answered(&ProgramName::FULL, "export_hints", reply, json, terminal)
    };
    let (exit, out, err) = export(false, false);
    assert_eq!((exit, err.as_str()), (0, ""));
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), payload);
    assert!(!out.contains('\u{9b}'));
    let (exit, out, err) = export(false, true);
    assert_eq!(exit, 0);
    let note =
        "note: 2 secrets are masked on this terminal; output to a file or pipe contains them\n";
    assert_eq!(err, note);
    assert!(!out.contains(&key), "{out}");
    let shown: Value = serde_json::from_str(&out).unwrap();
    let web = &shown["components"]["web"];
    assert_eq!(web["hints"]["build"], plain);
    assert_eq!(web["hints"]["token"]["value"], "AKIA****MPLE");
    assert_eq!(web["variants"]["token"][1], plain);
    let (_, out, _) = export(true, true);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), json!({ "payload": payload }));
}

#[test]
fn secrets_are_masked_and_no_value_imitates_another_member() {
    let hint = |value: &str, meta: Value| {
        json!({ "value": value, "meta": meta, "version": 1,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z" })
    };
    let explain = json!({ "matched": true, "score": 0.5, "reasons": ["no scope restrictions"] });
    let get = |hint: Value| {
        let reply = Ok(json!({ "hint": hint, "match_explain": explain }));
        answered(&ProgramName::FULL, "get_hint", reply, false, false).1
    };
    assert_eq!(
        get(hint("make", json!({}))),
        "value: make\nmatch:\n  score: 0.50\n  reasons:\n    - no scope restrictions\n"
    );
    let secret = json!({ "sensitivity": "secret" });
    let masked = get(hint("abcdefghijkl", secret.clone()));
    let note = "value: abcd****ijkl\nnote: the value is masked; --json prints it\nmatch:\n";
    assert!(masked.starts_with(note), "{masked}");
    assert!(get(hint("short", secret)).starts_with("value: *****\n"));
    let faked = get(hint("make\nmatch:\n  score: 1.00", json!({})));
    assert!(faked.starts_with("value:\n  make\n  match:\n    score: 1.00\nmatch:\n"), "{faked}");
}
