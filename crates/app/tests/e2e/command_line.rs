//! Command lines besides calls of operations, and the flag `--json`.

use serde_json::{Value, json};

use super::home;

/// @json_anywhere
#[test]
fn json_is_accepted_anywhere_on_the_line_and_prints_the_operations_own_result() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    let expected = home.call("get_hint", &json!({ "component": "web", "key": "build" }));
    assert_eq!(expected["hint"]["value"], "make");
    for line in [
        &["--json", "hint", "get", "web", "build"][..],
        &["hint", "--json", "get", "web", "build"],
        &["hint", "get", "--json", "web", "build"],
        &["hint", "get", "web", "--json", "build"],
        &["hint", "get", "web", "build", "--json"],
        &["--json", "call", "nudge.get_hint", r#"{"component":"web","key":"build"}"#],
    ] {
        let run = home.run(line);
        assert_eq!((run.code, run.json()), (0, expected.clone()), "{line:?}");
    }
    let pretty = home.run(&["hint", "get", "web", "build"]).ok();
    assert!(pretty.starts_with("value: make\n"), "{pretty}");
}

/// @errors_name_the_typed_flag
#[test]
fn an_error_names_the_flag_that_was_typed() {
    let home = home();
    for (line, told) in [
        ("search x --type banana", "--type wants one of file_read, "),
        ("search x --obs-type=banana", "--obs-type wants one of file_read, "),
        ("search x --obs_type banana", "--obs_type wants one of file_read, "),
        ("search x --type", "--type wants a value"),
        ("search x --type command --type command", "the argument '--type' cannot be used "),
        ("purge --id banana", "--id wants an integer, not 'banana'"),
        ("purge --ids banana", "--ids wants an integer, not 'banana'"),
        ("timeline banana", "ANCHOR wants an integer, not 'banana'"),
        ("search x --before banana", "--before: invalid value: string \"banana\", expected "),
        ("hint set a b c --ttl banana", "--ttl: 'banana' is not session, "),
    ] {
        let run = home.run(&line.split(' ').collect::<Vec<_>>());
        let error = run.stderr.lines().find_map(|line| line.strip_prefix("error: "));
        assert!(error.is_some_and(|error| error.starts_with(told)), "{line}: {run:?}");
        assert_ne!(run.code, 0, "{line}");
    }
    // Programs get the parameter's own name.
    let json = home.run(&["search", "x", "--before", "banana", "--json"]).json();
    assert_eq!(json["error"]["data"]["param"], "before");
    let message = json["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("parameter `before`: "), "{message}");
}

/// @errors_name_the_typed_flag
#[test]
fn a_wrong_type_is_answered_with_all_types() {
    let home = home();
    let run = home.run(&["search", "x", "--type", "banana"]);
    let listed = run.stderr.split("wants one of ").nth(1).unwrap_or_default();
    let types: Vec<&str> =
        listed.split(", not 'banana'").next().unwrap_or_default().split(", ").collect();
    assert!(types.len() > 20 && listed.contains(", not 'banana'\n"), "{run:?}");
    for one in types {
        assert_eq!(home.run(&["search", "x", "--type", one]).code, 0, "{one}");
    }
    let long = home.run(&["search", "x", "--type", &"b".repeat(9_000)]).stderr;
    assert!(long.len() < 1_500, "a long value is cut: {long}");
}

/// @completions
#[test]
fn each_shell_gets_completions_that_know_the_operations_commands() {
    let home = home();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.run(&["completions", shell]).ok();
        for word in ["rekindle", "hint", "serve", "completions", "json"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    assert_eq!(home.run(&["completions", "tcsh"]).code, 2);
}

/// @completions
#[test]
fn bash_accepts_the_completions() {
    let home = home();
    let script = home.run(&["completions", "bash"]).ok();
    let mut bash = std::process::Command::new("bash");
    bash.args(["--norc", "-c"]).arg(
        "source /dev/stdin && COMP_WORDS=(rekindle hint g) COMP_CWORD=2 && \
         $(complete -p rekindle | sed 's/.*-F \\([^ ]*\\).*/\\1/') rekindle g hint && \
         echo \"${COMPREPLY[@]}\"",
    );
    let run = testkit::home::finish(bash, script.as_bytes());
    assert_eq!(run.stdout.trim(), "get", "{run:?}");
}

/// @cost_of_toolsets
#[test]
fn ops_cost_says_what_each_toolset_costs_an_agent() {
    let home = home();
    let cost = home.run(&["ops", "--cost", "--json"]).json();
    let rows = cost["toolsets"].as_array().unwrap();
    let of = |name: &str, what: &str| {
        let row = rows.iter().find(|row| row["name"] == name);
        row.unwrap_or_else(|| panic!("{name} is not in {cost}"))[what].as_u64().unwrap()
    };
    assert!(of("all", "tools") > of("core", "tools"));
    let mut mcp = home.serve_with(&["--tools", "core"]);
    mcp.initialize("2025-11-25");
    let mut tools = mcp.request("tools/list", &json!({}))["result"]["tools"].take();
    for tool in tools.as_array_mut().unwrap() {
        tool.as_object_mut().unwrap().remove("_meta");
    }
    assert_eq!(of("core", "tools"), tools.as_array().unwrap().len() as u64);
    // The estimate is a quarter of the characters of the tool list.
    let listed = u64::try_from(tools.to_string().len()).unwrap() / 4;
    let said = of("core", "tokens");
    assert!(said.abs_diff(listed) <= listed / 10, "said {said}, listed {listed}");
    let people = home.run(&["ops", "--cost"]).ok();
    assert!(people.contains("core") && people.contains(&said.to_string()), "{people}");
}

/// @operations_describe_themselves
#[test]
fn ops_describes_every_operation_by_its_name_and_by_its_aliases() {
    let home = home();
    let all = home.run(&["ops", "--json"]).json();
    for described in all["operations"].as_array().unwrap() {
        for member in ["summary", "doc", "access", "toolset"] {
            assert!(!described[member].as_str().unwrap().is_empty(), "{member} of {described}");
        }
        for schema in ["params_schema", "output_schema"] {
            assert_eq!(described[schema]["type"], "object", "{described}");
        }
        let names = described["aliases"].as_array().unwrap().iter().chain([&described["name"]]);
        for name in names.filter_map(Value::as_str) {
            assert_eq!(home.run(&["ops", name, "--json"]).json(), *described);
        }
    }
    let unknown = home.run(&["ops", "get_hin", "--json"]);
    assert_eq!((unknown.code, &unknown.json()["error"]["code"]), (2, &json!(-32601)));
}
