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
        (
            "purge --id banana",
            "--id: 'banana' is not the id of a record; write 24, #24 or obs://24",
        ),
        (
            "purge --ids banana",
            "--ids: 'banana' is not the id of a record; write 24, #24 or obs://24",
        ),
        (
            "timeline banana",
            "ANCHOR: 'banana' is not the id of a record; write 24, #24 or obs://24",
        ),
        ("show 24-26", "IDS: '24-26' is not the id of a record; write 24, #24 or obs://24"),
        ("pin obs:24", "ID: 'obs:24' is not the id of a record; write 24, #24 or obs://24"),
        ("jobs cancel banana", "ID: \"banana\" is not the id of a job"),
        ("search x --before banana", "--before: 'banana' is not a time; write a date such as "),
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

/// @suggestions
#[test]
fn advice_fits_the_mistake() {
    let home = home();
    for (args, advice) in [
        (&["restart"][..], "Run `rekindle stop`, then `rekindle up`."),
        (&["search", "-n", "3", "x"], "Did you mean --limit?"),
        (&["handoff", "e87576"], "Did you mean --session e87576?"),
        (&["web", "--view", "stat"], "Did you mean stats?"),
        (&["search", "???"], "Type the words to search for."),
        (&["memory", "delete", "34"], "`rekindle memory list` lists the ids."),
    ] {
        let run = home.run(args);
        assert_ne!(run.code, 0, "{args:?}: {run:?}");
        assert!(run.stderr.contains(advice), "{args:?}: {run:?}");
    }
    let nosuch = home.run(&["web", "--view", "nosuch"]);
    assert!(nosuch.stderr.contains("--view wants one of timeline, sessions, "), "{nosuch:?}");
    let short = home.run(&["memory", "delete", "34"]);
    assert!(short.stderr.contains("a prefix of an id has at least"), "{short:?}");
}

/// Every argument has help, also where the schema has no description.
#[test]
fn every_argument_in_the_reference_is_explained() {
    let page = include_str!("../../../../docs/reference/cli.md");
    let is_argument = |line: &str| {
        // Its help is indented further.
        let text = line.trim_start();
        let indent = line.len() - text.len();
        (2..=6).contains(&indent) && ["-", "<", "["].iter().any(|start| text.starts_with(start))
    };
    let mut lines = page.lines().peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let sections = ["Arguments:", "Options:", "Global options:"];
        if !sections.contains(&line) {
            continue;
        }
        while let Some(line) = lines.next_if(|line| line.is_empty() || line.starts_with(' ')) {
            // Long help is below the argument, short help beside it.
            let is_bare = is_argument(line) && !line.trim_start().contains("  ");
            let below = lines.peek().is_some_and(|line| line.starts_with("       "));
            assert!(!is_bare || below, "{line}");
            count += usize::from(is_argument(line));
        }
    }
    assert!(count > 300, "{count}");
}

/// @completions
#[test]
fn help_texts_are_not_run_by_zsh() {
    let home = home();
    let script = home.run(&["completions", "zsh"]).ok();
    let positional: Vec<&str> =
        script.lines().filter(|line| line.contains(" -- ") && line.starts_with("':")).collect();
    assert!(positional.iter().any(|line| line.starts_with("':key -- ")), "{positional:?}");
    for line in positional {
        let unescaped = line.match_indices('`').any(|(at, _)| !line[..at].ends_with('\\'));
        assert!(!unescaped, "{line}");
    }
}

/// @live_completion
#[test]
fn fish_completes_no_files_for_projects_and_sessions() {
    let script = home().run(&["completions", "fish"]).ok();
    for flag in [" -l project ", " -l session-id ", " -l component "] {
        let mut lines = script.lines().filter(|line| line.contains(flag)).peekable();
        assert!(lines.peek().is_some(), "{flag}");
        assert!(lines.all(|line| line.ends_with("-x -a '(__rekindle_live)'")), "{flag}");
    }
}

/// @live_completion
#[test]
fn bash_completes_projects_sessions_components_and_record_types() {
    let home = home();
    for project in ["web", "payments"] {
        let cwd = home.path(project);
        std::fs::create_dir_all(&cwd).unwrap();
        let session = format!("session-of-{project}");
        home.hook(
            "UserPromptSubmit",
            &json!({ "session_id": session, "cwd": cwd, "prompt": "hello there" }),
        );
    }
    home.run(&["hint", "set", "http-proxy", "build", "make", "--ttl", "forever"]).ok();
    let script = home.run(&["completions", "bash"]).ok();
    // The script calls the program by its name.
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_rekindle"));
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    // Bash splits `--project=pay` at its `=`.
    for (line, expected) in [
        ("search x --project w", "web"),
        ("search x --project = pay", "payments"),
        ("trace session-of-p", "session-of-payments"),
        ("recent --project ", "payments web"),
        ("export --project w", "web"),
        ("web --session session-of-p", "session-of-payments"),
        ("hint get http", "http-proxy"),
        ("config set daemon.po", "daemon.port"),
        ("search x --type git_c", "git_commit"),
        ("hint g", "get"),
        ("context copy session-of-pay", "session-of-payments"),
        ("call set_hi", "set_hint"),
    ] {
        let words: Vec<String> = std::iter::once("rekindle")
            .chain(line.split(' '))
            .map(|word| format!("'{word}'"))
            .collect();
        let last = words.len() - 1;
        let mut bash = std::process::Command::new("bash");
        bash.env_clear().envs(home.env.iter().cloned()).env("PATH", &path).current_dir(&home.dir);
        bash.args(["--norc", "-c"]).arg(format!(
            "source /dev/stdin && COMP_WORDS=({}) COMP_CWORD={last} && \
             $(complete -p rekindle | sed 's/.*-F \\([^ ]*\\).*/\\1/') rekindle {} {} && \
             printf '%s\\n' \"${{COMPREPLY[@]}}\" | sort | tr '\\n' ' '",
            words.join(" "),
            words[last],
            words[last - 1],
        ));
        let run = testkit::home::finish(bash, script.as_bytes());
        assert_eq!(run.stdout.trim(), expected, "{line}: {run:?}");
    }
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

/// @json_errors
#[test]
fn every_failure_prints_an_error_object_with_json() {
    let home = home();
    home.run(&["hint", "set", "web", "build", "make", "--ttl", "forever"]).ok();
    let lines = [
        "--json",
        "nothing --json",
        "hint --json",
        "hint get web --json",
        "hint get web missing --json",
        "hint set web build make --ttl never --json",
        "search --json",
        "search x --limit many --json",
        "search x --type banana --json",
        "search x --before banana --json",
        "show 999 --json",
        "get obs://999 --json",
        "get nothing --json",
        "trace missing --json",
        "timeline 999 --json",
        "pin 999 --json",
        "purge --json",
        "call nothing --json",
        "call search { --json",
        "ops nothing --json",
        "completions tcsh --json",
        "config get nothing --json",
        "config set log.level banana --json",
        "install banana --json",
        "restore /does/not/exist --json",
        "hint import /does/not/exist --json",
        "jobs cancel 99 --json",
        "project merge a b --json",
        "eval /does/not/exist --json",
        "plugin --json",
        "-p 70000 status --json",
        "--db /dev/null status --json",
    ];
    for line in lines {
        let run = home.run(&line.split(' ').collect::<Vec<_>>());
        assert_ne!(run.code, 0, "{line}: {run:?}");
        let json = run.json();
        let message = json["error"]["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty(), "{line}: {run:?}");
        assert!(json["error"]["code"].is_i64(), "{line}: {run:?}");
    }
}

/// @suggestions
#[test]
fn suggestions_for_commands_flags_settings_and_values_begin_with_the_likeliest() {
    let home = home();
    for (line, meant) in [
        ("serch x", "Did you mean search?"),
        ("session", "Did you mean sessions?"),
        ("hint lst", "Did you mean ls"),
        ("search x --projct web", "Did you mean --project?"),
        ("search x --type comand", "Did you mean command"),
        ("config get daemon.prt", "Did you mean daemon.port?"),
        ("config set log.level wran", "Did you mean warn?"),
        ("call serch", "Did you mean search"),
        ("install claudecode", "Did you mean claude-code?"),
        ("import claud-code", "Did you mean claude-code?"),
        ("handoff --to codx", "Did you mean codex?"),
        ("completions zhs", "Did you mean zsh?"),
    ] {
        let run = home.run(&line.split(' ').collect::<Vec<_>>());
        assert_ne!(run.code, 0, "{line}");
        assert_eq!(run.stderr.matches(meant).count(), 1, "{line}: {}", run.stderr);
    }
    // The list of types is complete: the last one is there too.
    let run = home.run(&["search", "x", "--type", "banana"]);
    let mut types = home.run(&["ops", "search", "--json"]).json();
    let types = types["params_schema"]["properties"]["obs_type"]["enum"].take();
    for kind in types.as_array().unwrap().iter().filter_map(Value::as_str) {
        assert!(run.stderr.contains(kind), "{kind} is missing: {}", run.stderr);
    }
}

/// @suggestions
#[test]
fn a_mistyped_name_gets_the_right_one_as_a_hint() {
    let home = home();
    home.run(&["mark", "a decision"]).ok();
    for (line, hint) in [
        ("forget", "Did you mean purge?"),
        ("merge", "Did you mean `rekindle project merge`?"),
        ("undo", "`rekindle --help` lists the commands."),
        ("search x --since 1d", "Did you mean --after?"),
        ("search x --quiet", "`rekindle search --help` lists the options."),
        ("ghap stop", "The commands of `rekindle ghap` are "),
        ("memory search", "Did you mean find?"),
        ("hint list", "Did you mean ls?"),
        ("sessions list", "`rekindle sessions` alone lists them."),
        ("sessions search", "Use `rekindle sessions --query TEXT`."),
        ("help serach", "Did you mean search?"),
        ("search", "for example `rekindle search "),
        ("config set log.level wran", "Did you mean warn?"),
        ("config set retention.days file_reads=3", "Did you mean file_read?"),
        ("call search {\"quer\":\"x\"}", "Did you mean query?"),
        ("call search {\"query\":\"x\",\"order_by\":\"recnt\"}", "Did you mean recent?"),
    ] {
        let run = home.run(&line.split(' ').collect::<Vec<_>>());
        assert_ne!(run.code, 0, "{line}: {run:?}");
        assert!(run.stderr.contains(hint), "{line}: {run:?}");
    }
    let payload = json!({ "session_id": "s-1", "cwd": "/srv/shop", "prompt": "hello there" });
    home.call("hook", &json!({ "event": "UserPromptSubmit", "payload": payload }));
    let run = home.run(&["recent", "--project", "shp"]);
    assert!(run.stderr.contains("Did you mean shop?"), "{run:?}");
}

/// @errors_in_the_words_of_the_surface
#[test]
fn help_names_commands_and_flags_and_no_operation() {
    let home = home();
    for (line, named, hidden) in [
        ("search", "`rekindle show` has whole records", "get_observations has"),
        ("unpin", "`rekindle pin`", "opposite of pin_observation"),
        ("value check", "`rekindle value clusters`", "get_clusters"),
        ("maintain", "With `--sweep`", "With `sweep`"),
        ("ghap search", "A question or words; - reads stdin", "          ; - reads"),
    ] {
        let mut args: Vec<&str> = line.split(' ').collect();
        args.push("--help");
        let help = home.run(&args).ok();
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(named) && !help.contains(hidden), "{line}: {help}");
    }
}

/// @errors_name_the_typed_flag
#[test]
fn an_error_names_what_was_typed_and_the_next_step() {
    let home = home();
    let cwd = home.path("web").to_string_lossy().into_owned();
    let event = json!({ "session_id": "abcdef12-0000", "cwd": cwd, "prompt": "Fix the login" });
    home.hook("UserPromptSubmit", &event);
    for (line, parts) in [
        ("memory add x --importance 9", &["`--importance` is 9, which is not between 0 and 1"][..]),
        (
            "ghap show zzz",
            &["`GHAP_ID` is 'zzz', which is not the id of a ghap", "`rekindle ghap list`"],
        ),
        (
            "ghap resolve confirmed --result x",
            &["no active ghap", "`rekindle ghap start` starts one"],
        ),
        ("ghap update", &["no field is given", "`--hypothesis`, `--action`, `--prediction`"]),
        ("ghap update --note x", &["no active ghap", "`rekindle ghap start` starts one"]),
        (
            "config set briefing.token 5",
            &["no setting 'briefing.token'", "Did you mean briefing.tokens?"],
        ),
        (
            "config set briefing.tokens many",
            &["it cannot be 'many'", "`rekindle config get briefing.tokens`"],
        ),
        (
            "timeline 99999",
            &["anchor observation not found", "No record has the id 99999", "`rekindle search`"],
        ),
        ("hint set a b c --scope-branch [", &["--scope-branch: '[' is not a glob"]),
        (
            "hint set a b c --branch x",
            &["Did you mean --scope-branch?", "hint set [OPTIONS] <COMPONENT> <KEY> <VALUE>"],
        ),
        ("serve --port 99999", &["--port wants a number from 0 to 65535, not '99999'"]),
        ("remember x", &["`rekindle mark`", "`rekindle memory add`"]),
        ("version", &["`rekindle --version` prints the version."]),
        ("grep x", &["Did you mean search?"]),
    ] {
        let run = home.run(&line.split(' ').collect::<Vec<_>>());
        for part in parts {
            assert!(run.stderr.contains(part), "{line}: {part}: {run:?}");
        }
        assert_ne!(run.code, 0, "{line}");
        assert_eq!(run.stdout, "", "{line}");
    }
}

/// @ids_as_printed
/// @session_prefixes
#[test]
fn an_id_in_capitals_and_the_path_of_a_memory_are_found() {
    let home = home();
    let cwd = home.path("web").to_string_lossy().into_owned();
    let event = json!({ "session_id": "abcdef12-0000", "cwd": cwd, "prompt": "Fix the login" });
    home.hook("UserPromptSubmit", &event);
    for id in ["ABCDEF12", "ABCDEF12-0000", "Abcdef"] {
        let traced = home.run(&["trace", id]).ok();
        assert!(traced.contains("Fix the login"), "{id}: {traced}");
    }
    let params = json!({ "content": "prefer tabs in makefiles", "category": "fact", "cwd": cwd });
    let id = home.call("store_memory", &params)["id"].as_str().unwrap().to_owned();
    for path in [format!("memory://{id}"), format!("memory://{}", &id[..6])] {
        assert_eq!(home.run(&["show", &path]).ok().trim(), "prefer tabs in makefiles");
    }
    let unknown = home.run(&["show", "memory://000000"]);
    assert!(unknown.code == 1 && unknown.stderr.contains("memory"), "{unknown:?}");
    let found = home.run(&["memory", "find", "tabs", "--project", "*"]);
    assert!(found.stdout.contains(&id[..8]) && !found.stdout.contains(&id), "{found:?}");
    assert_eq!(found.stderr.trim(), "1 result for \"tabs\"", "{found:?}");
}

/// @pages_of_lists
#[test]
fn what_is_no_data_is_on_stderr() {
    let home = home();
    let cwd = home.path("web").to_string_lossy().into_owned();
    let event = json!({ "session_id": "abcdef12-0000", "cwd": cwd, "prompt": "Fix the login" });
    home.hook("UserPromptSubmit", &event);
    let unset = home.run(&["context", "get", "nope"]);
    assert_eq!((unset.code, unset.stdout.trim()), (0, ""), "{unset:?}");
    assert!(unset.stderr.contains("no set 'nope'"), "{unset:?}");
    for number in 1..=3 {
        let call = json!({ "session_id": "abcdef12-0000", "cwd": cwd, "tool_name": "Bash",
            "tool_use_id": format!("t{number}"), "tool_input": { "command": format!("cargo test m{number}") },
            "error": format!("Exit code 101\nerror[E030{number}]: mismatched types of kind {number}") });
        home.hook("PostToolUseFailure", &call);
    }
    let fixes = home.run(&["fixes", "--limit", "2", "--project", "*"]);
    assert_eq!(fixes.stdout.matches("Command ").count(), 2, "{fixes:?}");
    assert!(fixes.stderr.contains("2 failures; a larger --limit may show more"), "{fixes:?}");
    home.run(&["mark", "We use tabs in makefiles", "--session", "abcdef12-0000"]).ok();
    let start = json!({ "session_id": "s-2", "cwd": cwd, "source": "startup" });
    home.run_with(&["hook", "SessionStart"], start.to_string().as_bytes()).ok();
    let receipts = home.run(&["receipts", "--project", "*"]);
    assert!(receipts.stderr.contains(" item") && !receipts.stderr.contains("line"), "{receipts:?}");
}

/// @today
#[test]
fn the_day_says_that_capture_is_paused_and_off_says_that_it_resumed() {
    let home = home();
    let cwd = home.path("web").to_string_lossy().into_owned();
    let event = json!({ "session_id": "abcdef12-0000", "cwd": cwd, "prompt": "Fix the login" });
    home.hook("UserPromptSubmit", &event);
    assert!(!home.run(&["today"]).ok().contains("Paused"));
    home.run(&["pause", "1h"]).ok();
    let day = home.run(&["today"]).ok();
    assert!(
        day.contains("Paused everywhere until ") && day.contains("`rekindle pause off`"),
        "{day}"
    );
    assert_eq!(home.run(&["pause", "off"]).ok().trim(), "capture resumed");
    assert!(home.run(&["pause", "off"]).ok().contains("there was no pause"));
    home.run(&["pause", "--project", "web"]).ok();
    let day = home.run(&["today"]).ok();
    assert!(day.contains("Paused in web until you resume it"), "{day}");
    assert!(day.contains("`rekindle pause off --project web`"), "{day}");
}
