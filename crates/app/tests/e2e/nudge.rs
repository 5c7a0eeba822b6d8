//! Hints on the command line, under the name `nudge` that `rekindle links` creates: the command lines of its
//! specification and their output.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::Mcp;
use testkit::home::finish;

use super::home;
use super::shell::TestShell;

/// @nudge_transcript
#[test]
fn the_transcript_of_the_specification_prints_what_it_shows() {
    let shell = TestShell::new("http-proxy");
    let _daemon = shell.home.daemon();
    let set = "nudge set http-proxy build \"docker compose build router\" \\
    --tags build,docker --priority 7 --ttl session --scope-cwd-glob \"**/http-proxy*\"";
    shell.sh(set).ok();
    shell.sh(set).ok();
    assert_eq!(
        shell.sh(set).ok(),
        "✔ upserted hint http-proxy/build (v3)\n  \
         score base: priority=7 tags=build,docker ttl=session scope=cwd_glob\n"
    );
    shell.sh("nudge bump http-proxy build --delta 3").ok();
    let got = shell.sh("nudge get http-proxy build").ok();
    let lines: Vec<&str> = got.lines().collect();
    assert_eq!(lines[..2], ["value: docker compose build router", "match:"], "{got}");
    let score = lines[2].strip_prefix("  score: 0.").unwrap_or_else(|| panic!("{got}"));
    assert!(score.len() == 2 && score.bytes().all(|byte| byte.is_ascii_digit()), "{got}");
    assert_eq!(lines[3..5], ["  reasons:", "    - cwd matched **/http-proxy*"], "{got}");
    assert!(lines[5].starts_with("    - recently used ("), "{got}");
    assert_eq!(lines[6..], ["    - used 3 times"], "{got}");
    let bumped = shell.sh("nudge bump http-proxy build").ok();
    assert_eq!(bumped, "↑ bumped frecency: use_count=4 last_used_at=now\n");
}

/// Every command line of the specification, with a part of its output.
const LINES: [(&str, &str); 14] = [
    ("nudge status", "running:"),
    ("nudge set http-proxy build \"docker compose build router\"", "http-proxy/build (v1)"),
    ("nudge get http-proxy build", "value: docker compose build router"),
    (
        "nudge set http-proxy build \"docker compose build router\" \\
  --tags build,docker --priority 7 --confidence 0.8 --ttl session \\
  --scope-cwd-glob \"**/http-proxy*\" \\
  --scope-branch dev,main --scope-os linux,darwin",
        "score base: priority=7 confidence=0.8 tags=build,docker ttl=session \
         scope=cwd_glob,branch,os",
    ),
    (
        "nudge get http-proxy build --cwd \"$PWD\" \\
  --branch \"$(git rev-parse --abbrev-ref HEAD)\" \\
  --os \"$(uname | tr '[:upper:]' '[:lower:]')\"",
        "    - branch=dev allowed",
    ),
    ("nudge query --component http-proxy --tags build --limit 5 --branch main", "Found 1 hint:"),
    ("nudge query --component http-proxy --limit 5", "Found 1 hint:"),
    ("nudge ls", "  http-proxy (2 hints)"),
    ("nudge list-components", "  http-proxy (2 hints)"),
    ("nudge ls http-proxy", "Keys in 'http-proxy':\n  build\n"),
    ("nudge bump http-proxy build --delta 1", "use_count=1"),
    ("nudge export --format json > nudge-session.json", ""),
    ("nudge delete http-proxy build", "✔ deleted hint http-proxy/build (2 variants)"),
    ("nudge import ./nudge-session.json", "✔ imported 2 hints, skipped 0"),
];

/// @nudge_command_lines
#[test]
fn every_command_line_of_the_specification_works_as_it_is_written() {
    let shell = TestShell::new("http-proxy");
    // The line asks git for the branch; any branch will do here.
    let git = shell.bin.join("git");
    std::fs::write(&git, "#!/bin/sh\necho dev\n").unwrap();
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut server = Mcp::start({
        let mut command = shell.command("nudge");
        command.args(["serve", "--port", "0"]);
        command
    });
    server.initialize("2025-06-18");
    for (line, shows) in LINES {
        let said = shell.sh(line).ok();
        assert!(said.contains(shows), "{line}: {said}");
    }
    let port = shell.home.discovery()["port"].as_u64().unwrap();
    shell.sh(&format!("nudge -p {port} get http-proxy build")).ok();
    let elsewhere = shell.sh("nudge -p 1 get http-proxy build");
    assert_eq!((elsewhere.code, elsewhere.stdout.as_str()), (1, ""));
    let told = format!("error: the daemon listens at port {port}, not 1\n");
    assert!(elsewhere.stderr.starts_with(&told), "{elsewhere:?}");
    assert!(shell.sh("nudge stop").ok().starts_with("stopped (pid "));
    assert!(shell.sh("nudge status").ok().starts_with("not running\n"));
    assert_eq!(shell.sh("nudge stop").ok(), "not running\n");
    assert_eq!(shell.sh("nudge --version").ok(), format!("nudge {}\n", env!("CARGO_PKG_VERSION")));
    for line in ["nudge --help", "nudge serve --help", "nudge set --help", "nudge help import"] {
        let help = shell.sh(line).ok();
        assert!(help.contains("Usage: nudge ") && !help.contains("rekindle"), "{line}: {help}");
    }
}

/// @nudge_command_lines
#[test]
fn a_command_that_starts_a_daemon_starts_it_at_the_given_port() {
    let mut shell = TestShell::new("http-proxy");
    shell.home.unset("REKINDLE_NO_AUTOSTART");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    shell.sh(&format!("nudge -p {free} set web build make")).ok();
    // Another program may have taken it meanwhile; then the next free one is used.
    let port = shell.home.discovery()["port"].as_u64().unwrap();
    assert!((u64::from(free)..u64::from(free) + 20).contains(&port), "{port} is not {free}");
    shell.sh(&format!("nudge stop --port {port}")).ok();
}

/// @hints_cli_flags
#[test]
fn flags_are_accepted_anywhere_on_the_line() {
    let shell = TestShell::new("http-proxy");
    let _daemon = shell.home.daemon();
    let expected = shell.json(
        "nudge --json set --tags a,b web build --priority 7 make --scope-branch dev --ttl PT2H",
    );
    assert_eq!(
        expected["hint"]["meta"],
        json!({ "tags": ["a", "b"], "priority": 7, "ttl": "PT2H", "scope": { "branch": ["dev"] } })
    );
    for line in [
        "nudge --json get web build --branch dev",
        "nudge get --json --branch dev web build",
        "nudge get web --branch=dev build --json",
    ] {
        let got = shell.json(line);
        assert_eq!(got["hint"]["value"], "make", "{line}");
        assert_eq!(got["match_explain"]["reasons"][0], "branch=dev allowed", "{line}");
    }
    let by_scope = shell.json("nudge bump web build --scope-branch dev --delta 2 --json");
    assert_eq!(by_scope["hint"]["use_count"], 2);
    let by_context = shell.json("nudge --json delete web build --context '{\"branch\":\"dev\"}'");
    assert_eq!(by_context["removed"], 1);
}

/// @hints_cli_miss
#[test]
fn a_hint_for_each_system_is_found_only_on_its_own_system() {
    let shell = TestShell::new("http-proxy");
    let _daemon = shell.home.daemon();
    shell.sh("nudge set http-proxy directory \"c:\\code\\http-proxy\" --scope-os windows").ok();
    shell
        .sh("nudge set http-proxy directory \"/Users/dev/code/http-proxy\" --scope-os darwin")
        .ok();
    let on = |os: &str| shell.sh(&format!("nudge get http-proxy directory --os {os}"));
    assert!(on("windows").ok().starts_with("value: c:\\code\\http-proxy\nmatch:\n"));
    assert!(on("darwin").ok().starts_with("value: /Users/dev/code/http-proxy\nmatch:\n"));
    let nowhere = on("linux");
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (1, ""));
    let why = "error: no hint http-proxy/directory applies here: \
               os=linux not in [darwin]; os=linux not in [windows]\n";
    assert!(nowhere.stderr.starts_with(why), "{}", nowhere.stderr);
    let exact = shell.sh("nudge get http-proxy directory --os linux --json");
    assert_eq!((exact.code, exact.stderr.as_str()), (1, ""));
    let reasons = json!(["os=linux not in [darwin]", "os=linux not in [windows]"]);
    let explain = json!({ "matched": false, "score": 0.0, "reasons": reasons });
    assert_eq!(exact.json(), json!({ "hint": null, "match_explain": explain }));
}

/// @hints_cli_documents
#[test]
fn a_seed_that_a_user_imports_is_visible_to_an_agent() {
    let shell = TestShell::new("http-proxy");
    let seed = json!({ "schema_version": "1.0", "components": { "http-proxy": { "hints": {
        "build": { "value": "make router", "meta": { "tags": ["build"] } } } } } });
    std::fs::write(shell.folder.join("nudge-seed.json"), seed.to_string()).unwrap();
    let mut agent = Mcp::start({
        let mut command = shell.command("nudge");
        command.arg("serve");
        command
    });
    agent.initialize("2025-11-25");
    assert_eq!(shell.sh("nudge import ./nudge-seed.json").ok(), "✔ imported 1 hint, skipped 0\n");
    let wanted = json!({ "component": "http-proxy", "key": "build" });
    assert_eq!(agent.call("nudge_get_hint", &wanted).unwrap()["hint"]["value"], "make router");
}

/// @hints_cli_documents
#[test]
fn an_exported_file_can_be_imported_again_in_either_format() {
    let shell = TestShell::new("http-proxy");
    let _daemon = shell.home.daemon();
    let key = ["AKIA", "QYLPMN5HFIQR7XYA"].concat();
    shell.sh("nudge set web build make --tags a --scope-os linux --ttl forever").ok();
    shell.sh(&format!("nudge set web token {key} --no-secret-guard")).ok();
    shell.sh("nudge export --format json > plain.json && nudge export --json > wrapped.json").ok();
    let read = |file: &str| -> Value {
        serde_json::from_slice(&std::fs::read(shell.folder.join(file)).unwrap()).unwrap()
    };
    let normal = |mut document: Value| {
        document["created_at"].take();
        document
    };
    let before = normal(read("plain.json"));
    assert_eq!(before["components"]["web"]["hints"]["token"]["value"], json!(key));
    assert_eq!(normal(read("wrapped.json")["payload"].take()), before);
    for line in [
        "nudge import plain.json",
        "nudge import wrapped.json --mode replace",
        "nudge --json import - < plain.json",
    ] {
        shell.sh("nudge delete web build && nudge delete web token").ok();
        shell.sh(line).ok();
        assert_eq!(normal(shell.json("nudge export")), before, "{line}");
    }
}

/// @hints_cli_documents
#[test]
fn a_file_that_cannot_be_imported_is_named_and_changes_nothing() {
    let shell = TestShell::new("http-proxy");
    let _daemon = shell.home.daemon();
    shell.sh("nudge set web build make").ok();
    let write = |name: &str, text: &str| std::fs::write(shell.folder.join(name), text).unwrap();
    write("bad.json", "{\n  \"components\": {,}\n}");
    write("list.json", "[]");
    write("later.json", r#"{"schema_version":"2.0","components":{}}"#);
    for (file, told) in [
        ("missing.json", "error: there is no file missing.json\n"),
        (".", "error: . is a directory\n"),
        ("bad.json", "error: bad.json is not JSON: key must be a string at line 2, column 18\n"),
        ("list.json", "error: list.json holds no JSON object\n"),
        ("later.json", "error: the schema version \"2.0\" is not 1.x\n"),
    ] {
        let run = shell.sh(&format!("nudge import {file} --mode replace"));
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
        assert!(run.stderr.starts_with(told), "{run:?}");
    }
    let error = shell.sh("nudge import bad.json --json");
    assert_eq!(error.code, 1);
    assert_eq!(error.json()["error"]["code"], 40001);
    assert_eq!((&error.json()["error"]["data"]["line"], error.stderr.as_str()), (&json!(2), ""));
    assert_eq!(shell.json("nudge get web build --json")["hint"]["value"], "make");
}

/// @hints_cli_exit_codes
#[test]
fn exit_codes_tell_success_failure_and_misuse_apart() {
    let shell = TestShell::new("http-proxy");
    let _daemon = shell.home.daemon();
    shell.sh("nudge set web build make").ok();
    for (line, code) in [
        ("nudge get web build", 0),
        ("nudge query --component nothing", 0),
        ("nudge ls tools.", 0),
        ("nudge get web nothing", 1),
        ("nudge ls nothing", 1),
        ("nudge delete web nothing", 1),
        ("nudge set web build make --if-match-version 9", 1),
        ("nudge set web build make --priority 11", 1),
        ("nudge bump web build --delta 0", 1),
        ("nudge", 2),
        ("nudge frobnicate", 2),
        ("nudge get web", 2),
        ("nudge set web build", 2),
        ("nudge set web build make --colour red", 2),
        ("nudge get web build --os", 2),
        ("nudge import", 2),
    ] {
        let run = shell.sh(line);
        assert_eq!(run.code, code, "{line}: {run:?}");
        assert_eq!(run.stdout.is_empty(), code != 0, "{line}: {run:?}");
        assert!(!run.stderr.contains("rekindle"), "{line}: {}", run.stderr);
    }
}

/// @hints_secrets_are_masked
#[test]
fn a_secret_is_masked_in_every_text_for_people_and_not_in_json() {
    let shell = TestShell::new("http-proxy");
    let _daemon = shell.home.daemon();
    let key = ["ghp_", "x7Kq2mP9vR4tW8yB3nC6dF1gH5jL0sZ2aEwQ"].concat();
    let refused = shell.sh(&format!("nudge set web token {key}"));
    assert_eq!(refused.code, 1);
    assert!(!refused.stderr.contains(&key), "{}", refused.stderr);
    let set =
        shell.sh(&format!("nudge set web token {key} --allow-secret --reason 'is {key}'")).ok();
    let get = shell.sh("nudge get web token").ok();
    let query = shell.sh("nudge query --component web").ok();
    let stats = shell.sh("nudge stats").ok();
    let gone = shell.sh("nudge delete web token --scope '{}'");
    for text in [&set, &get, &query, &stats, &gone.stdout] {
        assert!(!text.contains(&key), "{text}");
    }
    assert!(get.starts_with("value: ghp_****aEwQ\n"), "{get}");
    shell.sh(&format!("nudge set web token {key} --sensitivity secret")).ok();
    assert_eq!(shell.json("nudge get web token --json")["hint"]["value"], json!(key));
}

/// @hints_stats
#[test]
fn statistics_are_printed_as_text_and_as_json() {
    let shell = TestShell::new("http-proxy");
    let _daemon = shell.home.daemon();
    shell.sh("nudge set web build make --tags build --ttl forever").ok();
    shell.sh("nudge set web build make.exe --tags build --scope-os windows").ok();
    shell.sh("nudge bump web build --delta 4").ok();
    let shown = shell.sh("nudge stats").ok();
    let expected = [
        "hints:      2 under 1 key in 1 component, 2 of them variants",
        "lifetime:   1 for the session, 0 for a while, 1 forever",
        "secrets:    0",
        "uses:       4",
        "top tags:   build (2)",
        "most used:  web/build (4)",
        "room left:  4998 of 5000 hints, 499 of 500 components, \
         198 of 200 hints in the fullest component",
    ];
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
    let stats = shell.json("nudge stats --json");
    assert_eq!(stats, shell.home.call("nudge.stats", &json!({})));
}

/// @serve_settings_flags
#[test]
fn a_setting_is_a_flag_of_the_server_it_is_for() {
    let shell = TestShell::new("http-proxy");
    let flags = ["--max-hints", "1", "--no-secret-guard", "--default-ttl", "PT2H"];
    let mut daemon = shell.home.daemon_with(&flags);
    let key = ["AKIA", "QYLPMN5HFIQR7XYA"].concat();
    let set = shell.json(&format!("nudge set web token {key} --json"));
    assert_eq!(set["hint"]["meta"], json!({ "ttl": "PT2H" }));
    let full = shell.sh("nudge set web build make --json");
    assert_eq!((full.code, &full.json()["error"]["code"]), (1, &json!(42901)));
    assert_eq!(daemon.end_by("TERM"), Some(0));
    // A background server gets them too, and the next server has its own settings again.
    shell.sh("nudge serve --daemon --max-hints 7 --log-level debug").ok();
    assert_eq!(shell.json("nudge stats --json")["quotas"]["hints"]["limit"], 7);
    shell.sh("nudge stop").ok();
    assert_eq!(shell.json("nudge stats --json")["quotas"]["hints"]["limit"], 5000);
    for (line, told) in [
        ("nudge serve --max-hints many", "hints.max wants an integer"),
        ("nudge serve --log-level loud", "log.level wants a word: error, warn, info, debug"),
    ] {
        let wrong = shell.sh(line);
        assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""), "{line}");
        assert!(wrong.stderr.contains(told), "{}", wrong.stderr);
    }
}

/// @nudge_links
#[test]
fn links_are_created_once_and_no_foreign_file_is_replaced() {
    let home = home();
    let dir = home.path("a/b");
    let link = dir.join("nudge");
    let other = dir.join("nmem");
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_rekindle")).canonicalize().unwrap();
    let links = |flags: &[&str]| home.run(&[&["links", dir.to_str().unwrap()], flags].concat());
    let made = links(&[]);
    assert_eq!(made.code, 0, "{made:?}");
    let line = |link: &PathBuf| format!("made {} -> {}\n", link.display(), binary.display());
    assert_eq!(made.stdout, line(&link) + &line(&other));
    assert!(made.stderr.contains("is not on your PATH"), "{}", made.stderr);
    assert_eq!(std::fs::read_link(&link).unwrap(), binary);
    let again = links(&["--json"]);
    let done = |name: &str| {
        json!([
            { "name": "nudge", "path": link, "done": name },
            { "name": "nmem", "path": other, "done": "kept" },
        ])
    };
    let expected = |name| json!({ "directory": dir, "target": binary, "links": done(name) });
    assert_eq!((again.code, again.json()), (0, expected("kept")));
    // A link to a program of the same name at another path is ours.
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("/opt/old/rekindle", &link).unwrap();
    assert_eq!(links(&["--json"]).json(), expected("replaced"));
    std::fs::remove_file(&link).unwrap();
    std::fs::write(&link, "mine").unwrap();
    let refused = links(&["--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (1, &json!(40901)));
    assert_eq!(std::fs::read_to_string(&link).unwrap(), "mine");
    assert_eq!(links(&["--force", "--json"]).json(), expected("replaced"));
    std::fs::remove_file(&link).unwrap();
    std::fs::create_dir(&link).unwrap();
    assert_eq!(links(&["--force"]).code, 1);
    let file = home.write("file", "");
    assert_eq!(home.run(&["links", file.to_str().unwrap()]).code, 1);
}

/// @nudge_completions
#[test]
fn bash_completes_the_commands_of_the_name() {
    let shell = TestShell::new("http-proxy");
    let script = shell.sh("nudge completions bash").ok();
    let mut bash = shell.command("bash");
    bash.args(["--norc", "-c"]).arg(
        "source /dev/stdin && COMP_WORDS=(nudge li) COMP_CWORD=1 && \
         $(complete -p nudge | sed 's/.*-F \\([^ ]*\\).*/\\1/') nudge li nudge && \
         echo \"${COMPREPLY[@]}\"",
    );
    let run = finish(bash, script.as_bytes());
    assert_eq!(run.stdout.trim(), "list-components", "{run:?}");
}
