//! Help, `ops`, `completions` and the reference, as people and programs read them.

use expect_test::expect;
use serde_json::json;

use super::*;
use crate::{command, reference};

/// The reference's help of one command.
fn help(words: &str) -> String {
    let all = reference(&table(), extra(), json!([]), json!([]));
    let found = all["cli"].as_array().unwrap().iter().find(|row| row["command"] == words);
    format!("{}\n", found.unwrap()["help"].as_str().unwrap())
}

#[test]
fn the_help_of_the_program_lists_every_command() {
    expect![[r#"
        Local memory and context for coding agents

        Usage: rekindle [OPTIONS] <COMMAND>

        Program:
          status       Say whether a daemon runs
          serve        Serve
          config       Settings
          note         Notes, kept and found

        All operations:
          call         Call any operation by its name or an alias
          ops          List the operations, explain one, or show what listing them costs an agent
          completions  Print the completion script of a shell
          help         Print this message or the help of the given command

        Options:
              --json
                  Print the result, or the error, as JSON on stdout

              --no-pager
                  Print long output directly, not in $PAGER

              --db <PATH>
                  Use this database instead of the default one

          -h, --help
                  Print help

          -V, --version
                  Print version

        `rekindle ops` lists every operation, `rekindle COMMAND --help` explains a command.
    "#]]
    .assert_eq(&help("rekindle"));
}

#[test]
fn the_help_of_a_group_lists_its_commands() {
    expect![[r#"
        Notes, kept and found

        Usage: rekindle note [OPTIONS] <COMMAND>

        Commands:
          edit  Edit a note
          list  List notes
          put   Keep a note under a component and a key
          help  Print this message or the help of the given subcommand(s)

        Options:
          -h, --help
                  Print help

        Global options:
              --json
                  Print the result, or the error, as JSON on stdout

              --no-pager
                  Print long output directly, not in $PAGER

              --db <PATH>
                  Use this database instead of the default one
    "#]]
    .assert_eq(&help("rekindle note"));
    let lonely = command(&table(), Vec::new(), &ProgramName::FULL);
    let about = lonely.find_subcommand("note").unwrap().get_about().unwrap().to_string();
    assert_eq!(about, "list, put");
}

#[test]
fn the_help_of_an_operation_has_its_arguments_and_examples() {
    expect![[r#"
        Keep a note under a component and a key

        Use it for a small fact that took time to find out.

        Usage: rekindle note put [OPTIONS] <COMPONENT> <KEY> <VALUE>

        Arguments:
          <COMPONENT>
                  Component that the note is about

          <KEY>
                  Key of the note

          <VALUE>
                  A string, or an object with a `type`; - reads stdin

        Options:
              --reason <REASON>
                  Why the hint is true or useful

              --tags <TAGS,...>
                  Keywords, for example `build`

              --ttl <TTL>
                  `session` (until the daemon ends) or `forever`

                  Possible values:
                  - session: Until the daemon ends cleanly.
                  - forever: Until it is deleted.

              --meta <JSON>
                  Metadata of the note; as JSON, which the flags of its members override

              --if-match-version <N>
                  Fail unless the note has this version

          -h, --help
                  Print help (see a summary with '-h')

        Global options:
              --json
                  Print the result, or the error, as JSON on stdout

              --no-pager
                  Print long output directly, not in $PAGER

              --db <PATH>
                  Use this database instead of the default one

        Examples:
          # How to build
          rekindle note put web build 'it'\''s `make`' --tags 'a,b c' --ttl forever
          # A structured value, only if unchanged
          rekindle note put web run '{"type":"command","cmd":"x"}' --if-match-version 3
          # A value that starts with a dash
          rekindle call put_note '{"component":"web","key":"flags","value":"-j4"}'

        Operation: put_note. `rekindle ops put_note` shows its parameters and result.
    "#]]
    .assert_eq(&help("rekindle note put"));
}

#[test]
fn a_missing_command_is_an_error_unlike_help_and_version() {
    for args in [
        &["--help"][..],
        &["-h"],
        &["help"],
        &["help", "note", "put"],
        &["note", "put", "-h"],
        &["-V"],
    ] {
        let ran = run(args);
        assert_eq!((ran.exit(), ran.err.as_str()), (Some(0), ""), "{args:?}");
        assert!(ran.out.starts_with(['L', 'K', 'r']), "{args:?} {}", ran.out);
    }
    let lines: [(&[&str], &str); 3] = [
        (&[], "Local memory and context for coding agents\n\nUsage: rekindle"),
        (
            &["--db", "x"],
            "error: a command is missing\nhint: `rekindle --help` lists the commands.",
        ),
        (&["note"], "error: a command is missing\nhint: The commands of `rekindle note` are edit,"),
    ];
    for (args, start) in lines {
        let ran = run(args);
        assert_eq!((ran.exit(), ran.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.err.starts_with(start), "{args:?} {}", ran.err);
    }
}

#[test]
fn ops_lists_every_operation() {
    expect![[r#"
        operation   toolset  summary
        inspect     system   Look inside
        list_notes  notes    List notes
        put_note    notes    Keep a note under a component and a key (notes.put, notes_put)
        status      system   Say how the daemon is
    "#]]
    .assert_eq(&run(&["ops"]).out);
    let listed: Value = serde_json::from_str(&run(&["ops", "--json"]).out).unwrap();
    let described: Vec<Value> = table().iter().map(Operation::describe).collect();
    assert_eq!(listed, json!({ "operations": described }));
}

#[test]
fn ops_explains_one_operation_by_name_or_alias() {
    expect![[r#"
        put_note: Keep a note under a component and a key

        Use it for a small fact that took time to find out.

        command  rekindle note put
        aliases  notes.put, notes_put
        access   write, idempotent
        callers  person, agent, client
        toolset  notes, listed by default

        Parameters
          component: a text
              Component that the note is about.
          key: a text
              Key of the note.
          value: a text or JSON
              A string, or an object with a `type`.
          meta: a JSON object, optional
              Metadata of the note.
          if_match_version: an integer, optional
              Fail unless the note has this version.

        Result
          ok: true or false
              Whether it worked.

        Examples
          # How to build
          rekindle note put web build 'it'\''s `make`' --tags 'a,b c' --ttl forever
          rekindle call put_note '{"component":"web","key":"build","value":"it'\''s `make`","meta":{"tags":["a","b c"],"ttl":"forever"}}'
          # A structured value, only if unchanged
          rekindle note put web run '{"type":"command","cmd":"x"}' --if-match-version 3
          rekindle call put_note '{"component":"web","key":"run","value":{"type":"command","cmd":"x"},"if_match_version":3}'
          # A value that starts with a dash
          rekindle call put_note '{"component":"web","key":"flags","value":"-j4"}'
    "#]].assert_eq(&run(&["ops", "put_note"]).out);
    assert_eq!(run(&["ops", "notes.put"]).out, run(&["ops", "put_note"]).out);
    let one: Value = serde_json::from_str(&run(&["--json", "ops", "put_note"]).out).unwrap();
    assert_eq!(one, table().find("put_note").unwrap().describe());
}

#[test]
fn ops_cost_counts_the_tokens_of_each_toolset() {
    let cost: Value = serde_json::from_str(&run(&["ops", "--cost", "--json"]).out).unwrap();
    let rows = cost["toolsets"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["core", "all", "notes", "system"]);
    let table = table();
    let tools = table.toolset("all").unwrap().into_iter();
    let tools: Vec<Value> = tools.map(|(op, form)| op.as_tool(form)).collect();
    let tokens = Value::Array(tools).to_string().chars().count().div_ceil(4);
    assert_eq!(rows[1], json!({ "name": "all", "tools": 4, "tokens": tokens }));
    let text = run(&["ops", "--cost"]).out;
    assert!(text.starts_with("toolset  tools  tokens\ncore         1 "), "{text}");
}

#[test]
fn completions_know_the_commands_of_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!(ran.exit(), Some(0), "{shell}");
        assert!(ran.out.contains("if-match-version"), "{shell}");
    }
}

#[test]
fn the_reference_is_whole_and_plain() {
    let all = reference(&table(), extra(), json!([{"key": "a"}]), json!([{"name": "B"}]));
    let commands: Vec<&str> =
        all["cli"].as_array().unwrap().iter().map(|row| row["command"].as_str().unwrap()).collect();
    assert_eq!(
        commands,
        [
            "rekindle",
            "rekindle status",
            "rekindle serve",
            "rekindle config",
            "rekindle config get",
            "rekindle note",
            "rekindle note edit",
            "rekindle note list",
            "rekindle note put",
            "rekindle call",
            "rekindle ops",
            "rekindle completions",
        ]
    );
    assert_eq!(all["operations"].as_array().unwrap().len(), 4);
    assert_eq!(all["mcp_tools"].as_array().unwrap().len(), 4);
    assert_eq!(all["errors"][0]["word"], "invalid");
    assert_eq!(all["errors"][0]["exit"], 1);
    assert_eq!(
        (&all["config"][0]["key"], &all["environment"][0]["name"]),
        (&json!("a"), &json!("B"))
    );
    assert!(!all.to_string().contains("\\u001b"));
}
