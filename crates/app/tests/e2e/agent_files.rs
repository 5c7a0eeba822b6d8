//! Agents' files in bad states: how `doctor`, `agents`, `install` and `uninstall` handle them.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::home::finish;
use testkit::{Home, Run};

use super::install::{agent, home, install, read, tree};

/// The doctor's check of this name: its status, detail and hint.
fn said(home: &Home, name: &str) -> (String, String, String) {
    let report = home.run(&["doctor", "--json"]).json();
    let mut checks = report["checks"].as_array().unwrap().iter();
    let check = checks.find(|check| check["name"] == name).cloned().unwrap_or_default();
    let text = |member: &str| check[member].as_str().unwrap_or_default().to_owned();
    (text("status"), text("detail"), text("hint"))
}

fn texts(value: &Value) -> String {
    let all = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    all.collect::<Vec<_>>().join("\n")
}

/// @agents_no_file
#[test]
fn a_path_that_is_not_a_regular_file_is_named_and_never_opened() {
    let home = home();
    install(&home, &["claude-code"]).ok();
    let settings = home.path(".claude/settings.json");
    std::fs::remove_file(&settings).unwrap();
    assert!(Command::new("mkfifo").arg(&settings).status().unwrap().success());
    let started = Instant::now();
    let named = format!("{} is not a file but a pipe", settings.display());
    assert_eq!(texts(&agent(&home, "claude-code")["trouble"]), named);
    assert_eq!(said(&home, "claude-code").0, "fail");
    assert_eq!(said(&home, "claude-code").1, named);
    let run = home.run(&["uninstall"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains(&named), "{run:?}");
    assert!(started.elapsed() < Duration::from_secs(20), "nobody writes into it");
    std::fs::remove_file(&settings).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &settings).unwrap();
    assert!(said(&home, "claude-code").1.ends_with("is not a file but a device"));
}

/// @connect_narrowed
#[test]
fn altered_entries_make_an_agent_partly_connected_until_the_next_install() {
    let home = home();
    install(&home, &["opencode", "claude-code"]).ok();
    let plugin = read(&home, ".config/opencode/plugins/rekindle.js");
    home.write(".config/opencode/plugins/rekindle.js", &plugin[..plugin.len() / 2]);
    let settings = read(&home, ".claude/settings.json");
    home.write(".claude/settings.json", &settings.replacen("\"command\"", "\"prompt\"", 1));
    for (name, part) in [("opencode", "plugin"), ("claude-code", "SessionStart")] {
        assert_eq!(agent(&home, name)["wired"], "partly", "{name}");
        let (status, detail, hint) = said(&home, name);
        assert_eq!(status, "fail", "{detail}");
        assert!(detail.contains(part) && hint.contains("`rekindle install "), "{detail} {hint}");
    }
    install(&home, &["opencode", "claude-code"]).ok();
    assert_eq!(agent(&home, "opencode")["wired"], "yes");
    assert_eq!(read(&home, ".config/opencode/plugins/rekindle.js"), plugin);
    assert_eq!(read(&home, ".claude/settings.json"), settings);
}

/// A repository in a home, and a line that is run inside it.
pub(crate) fn in_repository(home: &Home, args: &[&str]) -> Run {
    for (file, text) in [("HEAD", "ref: refs/heads/main\n"), ("objects/x", ""), ("refs/x", "")] {
        home.write(&format!("repo/.git/{file}"), text);
    }
    let mut command = home.command(args);
    command.current_dir(home.path("repo"));
    finish(command, b"")
}

/// Asserts that `install`, `agents` and `doctor` report an agent's disabled part in a repository.
fn told_everywhere(home: &Home, name: &str, what: &str, hint: &str) {
    let installed = in_repository(home, &["install", name]);
    assert!(installed.stderr.contains(what) && installed.stderr.contains(hint), "{installed:?}");
    assert!(!installed.stdout.contains("Connected."), "{installed:?}");
    let shown = in_repository(home, &["agents"]).ok();
    assert!(shown.contains(what) && shown.contains(hint), "{shown}");
    let looked = in_repository(home, &["doctor"]).stdout;
    assert!(looked.contains(what) && looked.contains(hint), "{looked}");
    let is_broken = shown.lines().any(|line| line.starts_with(name) && line.contains(" broken "));
    assert_eq!(is_broken, !what.contains("server"), "{shown}");
}

/// @agents_switched_off
#[test]
fn disabled_hooks_and_servers_are_reported_with_the_way_to_enable_them() {
    let (all, server) = ("its settings disable all hooks", "disable our MCP server");
    for (name, file, text, what, member) in [
        (
            "claude-code",
            ".claude/settings.json",
            "{\"disableAllHooks\":true}",
            all,
            "disableAllHooks",
        ),
        (
            "claude-code",
            "repo/.claude/settings.json",
            "{\"disableAllHooks\":true}",
            all,
            "disableAllHooks",
        ),
        (
            "claude-code",
            "repo/.claude/settings.local.json",
            "{\"disableAllHooks\":true}",
            all,
            "disableAllHooks",
        ),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", all, "features.hooks"),
        (
            "codex",
            "repo/.codex/config.toml",
            "features = { codex_hooks = false }\n",
            all,
            "features.codex_hooks",
        ),
        (
            "codex",
            "repo/.codex/config.toml",
            "mcp_servers.rekindle.enabled = false\n",
            server,
            "mcp_servers.rekindle.enabled",
        ),
        (
            "gemini-cli",
            ".gemini/settings.json",
            "{ // mine\n\"hooksConfig\":{\"enabled\":false}}",
            all,
            "hooksConfig.enabled",
        ),
        (
            "gemini-cli",
            "repo/.gemini/settings.json",
            "{\"mcp\":{\"excluded\":[\"rekindle\"]}}",
            server,
            "mcp.excluded",
        ),
        (
            "opencode",
            "repo/opencode.json",
            "{\"mcp\":{\"rekindle\":{\"enabled\":false}}}",
            server,
            "mcp.rekindle.enabled",
        ),
    ] {
        let home = home();
        let file = home.write(file, text);
        assert!(!in_repository(&home, &["doctor"]).stdout.contains(what), "not connected yet");
        told_everywhere(&home, name, what, &format!("`{member}`"));
        told_everywhere(&home, name, what, &format!("from {}", file.display()));
    }
}

/// @agents_switched_off
#[test]
fn single_disabled_hooks_are_reported() {
    let home = home();
    install(&home, &["gemini-cli", "codex"]).ok();
    let settings = read(&home, ".gemini/settings.json");
    let value: Value = serde_json::from_str(&settings).unwrap();
    let command = value["hooks"]["AfterTool"][0]["hooks"][0]["command"].to_string();
    let list = format!("{{\n  \"hooksConfig\": {{ \"disabled\": [{command}, \"other\"] }},");
    home.write(".gemini/settings.json", &settings.replacen('{', &list, 1));
    told_everywhere(&home, "gemini-cli", "disable hooks: AfterTool", "`hooksConfig.disabled`");
    let hooks = home.path(".codex/hooks.json");
    let state = |event: &str, at: &str| {
        format!("[hooks.state.\"{}:{event}:0:{at}\"]\nenabled = false\n", hooks.display())
    };
    let config = read(&home, ".codex/config.toml");
    home.write(
        ".codex/config.toml",
        &(config + &state("session_start", "0") + &state("stop", "7")),
    );
    told_everywhere(&home, "codex", "disable hooks: SessionStart", "`hooks.state`");
    assert!(!in_repository(&home, &["agents"]).ok().contains(", Stop"), "that one is not ours");
}

/// @agents_switched_off
#[test]
fn settings_of_the_repository_override_those_of_the_user() {
    let home = home();
    home.write(".claude/settings.json", "{\"disableAllHooks\":true}");
    home.write("repo/.claude/settings.json", "{\"disableAllHooks\":false}");
    install(&home, &["claude-code"]).ok();
    assert!(!in_repository(&home, &["agents"]).ok().contains("broken"));
    assert!(home.run(&["agents"]).ok().contains("broken"));
    home.write("repo/.claude/settings.local.json", "{\"disableAllHooks\":true}");
    assert!(in_repository(&home, &["agents"]).ok().contains("broken"));
}

/// The line of an agent in the output of `agents`.
fn line(home: &Home, name: &str) -> Vec<String> {
    let shown = home.run(&["agents"]).ok();
    let line = shown.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().map(str::to_owned).collect()
}

/// @agents_broken
#[test]
fn a_file_that_is_not_valid_makes_an_agent_invalid_and_not_partly_connected() {
    let home = home();
    install(&home, &["claude-code"]).ok();
    home.write(".claude/settings.json", "{\n  oops\n}");
    assert_eq!(line(&home, "claude-code")[2], "invalid");
    assert_eq!(agent(&home, "claude-code")["wired"], "invalid");
    assert_eq!(said(&home, "claude-code").0, "fail");
    // The agent still reads a file that may not be written.
    home.write(".claude/settings.json", "{}");
    install(&home, &["claude-code"]).ok();
    let settings = home.path(".claude/settings.json");
    std::fs::set_permissions(settings, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(agent(&home, "claude-code")["wired"], "yes");
    assert!(texts(&agent(&home, "claude-code")["trouble"]).contains("read-only"));
}

/// @doctor_agents
#[test]
fn paths_that_cannot_be_read_are_named() {
    let mut home = home();
    home.set("PATH", "/nowhere");
    // Not even root can follow a cycle of links.
    std::os::unix::fs::symlink(".claude", home.path(".claude")).unwrap();
    let (status, detail, _) = said(&home, "agents");
    assert_eq!(status, "warn");
    assert!(detail.contains(&format!("{}: ", home.path(".claude").display())), "{detail}");
    assert!(!detail.contains(".codex"), "{detail}");
    let claude = line(&home, "claude-code");
    assert_eq!((claude[1].as_str(), claude[2].as_str()), ("unknown", "unknown"));
    assert_eq!(line(&home, "codex")[1..3], ["no", "no"]);
}

/// @agents_broken
#[test]
fn a_missing_program_is_reported_as_missing_tools_or_missing_events() {
    let home = home();
    install(&home, &["cursor"]).ok();
    let gone = home.path("gone/rekindle");
    let server = read(&home, ".cursor/mcp.json");
    let value: Value = serde_json::from_str(&server).unwrap();
    let program = value["mcpServers"]["rekindle"]["command"].as_str().unwrap();
    home.write(".cursor/mcp.json", &server.replace(program, gone.to_str().unwrap()));
    let cursor = agent(&home, "cursor");
    assert_eq!(texts(&cursor["faults"]), "", "events come");
    let lost = format!("{} does not exist, so our MCP tools are missing", gone.display());
    assert!(texts(&cursor["remarks"]).contains(&lost), "{cursor}");
    assert_eq!(line(&home, "cursor")[2], "yes");
    assert!(home.run(&["doctor"]).stdout.contains(&lost));
    let hooks = read(&home, ".cursor/hooks.json").replace(program, gone.to_str().unwrap());
    home.write(".cursor/hooks.json", &hooks);
    assert!(texts(&agent(&home, "cursor")["faults"]).contains("no event arrives"));
    let narrow = hooks.replacen("\"command\"", "\"matcher\": \"x\",\n        \"command\"", 1);
    home.write(".cursor/hooks.json", &narrow);
    let (_, detail, _) = said(&home, "cursor");
    assert_eq!(detail, "Cursor is partly connected; not as `install` writes it: sessionStart");
}

/// @connect_moved
#[test]
fn a_relative_home_is_refused() {
    let mut home = home();
    home.set("HOME", "relative");
    for args in [&["install", "claude-code"][..], &["agents"], &["plugin", "plug"], &["uninstall"]]
    {
        let run = home.run(args);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("HOME is not an absolute path: relative"), "{run:?}");
    }
}

/// @connect_plugin
#[test]
fn the_lines_that_load_a_plugin_can_be_copied_into_a_shell() {
    let home = home();
    let said = home.run(&["plugin", "sp ace"]).ok();
    let dir = home.path("sp ace");
    assert!(said.contains(&format!("claude --plugin-dir '{}'\n", dir.display())), "{said}");
}

/// @connect_nothing_to_undo
#[test]
fn our_entries_in_a_read_only_file_are_reported_even_without_a_record() {
    let home = home();
    install(&home, &["cursor", "codex"]).ok();
    std::fs::remove_dir_all(home.path("data")).unwrap();
    let hooks = home.path(".cursor/hooks.json");
    std::fs::set_permissions(&hooks, std::fs::Permissions::from_mode(0o444)).unwrap();
    let before = tree(&home);
    let run = home.run(&["uninstall"]);
    assert_eq!(run.code, 1, "{run:?}");
    let what = format!("{} is read-only, and it contains our entries", hooks.display());
    assert!(run.stderr.contains(&what) && run.stderr.contains("chmod u+w"), "{run:?}");
    assert_eq!(tree(&home).get(&hooks), before.get(&hooks));
    assert!(!read(&home, ".codex/hooks.json").contains("rekindle"), "the others are undone");
}

/// @connect_nothing_to_undo
#[test]
fn files_that_uninstall_could_not_read_are_named() {
    let home = home();
    std::os::unix::fs::symlink(".claude", home.path(".claude")).unwrap();
    let said = home.run(&["uninstall"]).ok();
    let named = format!("not seen  {}: ", home.path(".claude").display());
    assert_eq!(said.matches(&named).count(), 1, "{said}");
    home.write(".codex/hooks.json", "{ broken");
    let said = home.run(&["uninstall", "--dry-run"]).ok();
    assert!(said.contains("nothing of ours was found"), "what does not tell is not ours: {said}");
}

/// @connect_touched
#[test]
fn uninstall_removes_our_entries_from_an_edited_file_without_a_trace() {
    let short = "{ \"theme\": \"x\",\"b\":{}}";
    let stop = "{\n  \"theme\": \"x\",\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"/mine\" }] }]\n  }\n}\n";
    let matched = "{\"theme\":\"x\",\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"/mine\"}]}],\"Mine\":[]}}";
    let comments = "{ // mine\n\t\"theme\": \"x\", /* too */ \"b\": { }\n}";
    let toml = "\n\n# mine\ntheme = \"x\"\n\n\n[b] # last\nc = {  }\r\n";
    for (name, file, text) in [
        ("claude-code", ".claude/settings.json", short),
        ("claude-code", ".claude/settings.json", stop),
        ("claude-code", ".claude/settings.json", matched),
        ("claude-code", ".claude.json", short),
        (
            "claude-code",
            ".claude.json",
            "{\"theme\":\"x\",\"mcpServers\":{\"a\":{\"command\":\"x y\"}}}",
        ),
        ("codex", ".codex/hooks.json", matched),
        ("codex", ".codex/config.toml", toml),
        ("codex", ".codex/config.toml", "theme = \"x\"\nmcp_servers = { a = { command = \"x\" } }"),
        ("gemini-cli", ".gemini/settings.json", comments),
        ("gemini-cli", ".gemini/settings.json", short),
        (
            "cursor",
            ".cursor/hooks.json",
            "{\"theme\":\"x\",\"version\":1,\"hooks\":{\"stop\":[{\"command\":\"/mine\"}]}}",
        ),
        ("cursor", ".cursor/hooks.json", "{\"theme\":\"x\",\"hooks\": {}}"),
        (
            "opencode",
            ".config/opencode/opencode.jsonc",
            "{ \"theme\": \"x\", // a\n \"mcp\": {\"a\":{ },},}",
        ),
    ] {
        let home = home();
        home.write(file, text);
        install(&home, &[name]).ok();
        let wired = read(&home, file);
        assert!(wired.contains("rekindle"), "{wired}");
        for (theirs, ours) in
            [("\"x\"", "\"x\""), ("\"x\"", "\"a longer one\""), ("\"x\"", "[1, {}]")]
        {
            home.write(file, &wired.replacen(theirs, ours, 1));
            home.run(&["uninstall"]).ok();
            assert_eq!(read(&home, file), text.replacen(theirs, ours, 1), "{name}");
            home.write(file, text);
            install(&home, &[name]).ok();
        }
    }
}

/// @connect_touched
#[test]
fn uninstall_keeps_entries_next_to_ours() {
    let home = home();
    let text =
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"/mine\"}]}]}}";
    home.write(".claude/settings.json", text);
    install(&home, &["claude-code"]).ok();
    let wired = read(&home, ".claude/settings.json");
    let more = wired.replacen("\"hooks\":", "\"model\":\"opus\",\"hooks\":", 1);
    home.write(".claude/settings.json", &more.replacen("/mine", "/other", 1));
    // Another installation in between keeps the record of the original content.
    install(&home, &["claude-code"]).ok();
    home.run(&["uninstall"]).ok();
    let left =
        text.replacen("\"hooks\":", "\"model\":\"opus\",\"hooks\":", 1).replace("/mine", "/other");
    assert_eq!(read(&home, ".claude/settings.json"), left);
}

/// @connect_touched
#[test]
fn uninstall_leaves_only_text_that_others_appended_to_our_file() {
    let home = home();
    install(&home, &["codex"]).ok();
    let theirs = "[projects.\"/a\"]\ntrust_level = \"trusted\"\n";
    let made = read(&home, ".codex/config.toml");
    home.write(".codex/config.toml", &format!("{made}\n{theirs}"));
    home.run(&["uninstall"]).ok();
    assert_eq!(read(&home, ".codex/config.toml"), theirs);
}
