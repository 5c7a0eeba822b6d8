//! One command connects agents in their own files, and one disconnects them to the byte.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};
use testkit::{Home, Run};

pub(crate) const AGENTS: [&str; 5] = ["claude-code", "codex", "gemini-cli", "cursor", "opencode"];

/// A home with the program outside its build directory, from where it would be copied each time.
pub(crate) fn home() -> Home {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let dir =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bin-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let program = dir.join("rekindle");
        let _ = std::fs::remove_file(&program);
        std::fs::hard_link(env!("CARGO_BIN_EXE_rekindle"), &program).unwrap();
        program
    });
    Home::new(program.to_str().unwrap())
}

/// Every file of a home: type, mode and bytes, or the target of a link.
pub(crate) fn tree(home: &Home) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![home.dir.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            let bytes = if meta.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if meta.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else {
                std::fs::read(&path).unwrap()
            };
            all.insert(path, (meta.mode(), bytes));
        }
    }
    all
}

pub(crate) fn read(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.path(name)).unwrap()
}

/// Files of all five agents, with entries of the user.
pub(crate) fn furnish(home: &Home) {
    let settings = r#"{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "/usr/bin/check" }] }
    ]
  }
}"#;
    home.write(".claude/settings.json", settings);
    home.write(".claude/CLAUDE.md", "# mine\n");
    home.write(".claude.json", "{\"numStartups\":3,\"projects\":{\"/a\":{\"mcpServers\":{}}}}");
    home.write(
        ".codex/config.toml",
        "# mine\nmodel = \"o\" # fast\n\n[mcp_servers.files]\ncommand = \"f\"\n",
    );
    home.write(".codex/AGENTS.md", "# mine\n");
    home.write(".gemini/settings.json", "{\n\t// mine\n\t\"ui\": { \"theme\": \"x\" }\n}\n");
    home.write(".cursor/mcp.json", "{\r\n  \"mcpServers\": {}\r\n}\r\n");
    home.write(".config/opencode/opencode.jsonc", "{\n  // mine\n  \"theme\": \"x\",\n}\n");
}

pub(crate) fn install(home: &Home, args: &[&str]) -> Run {
    let all: Vec<&str> = ["install"].iter().chain(args).copied().collect();
    home.run(&all)
}

/// The entry of an agent in the output of `agents`.
pub(crate) fn agent(home: &Home, name: &str) -> Value {
    let all = home.run(&["agents", "--json"]).json();
    let mut agents = all["agents"].as_array().unwrap().iter();
    agents.find(|agent| agent["agent"] == name).unwrap().clone()
}

/// @connect_undone_to_the_byte
#[test]
fn every_agent_is_connected_and_disconnected_to_the_byte() {
    for name in AGENTS {
        let home = home();
        furnish(&home);
        std::fs::set_permissions(home.path(".claude.json"), std::fs::Permissions::from_mode(0o600))
            .unwrap();
        let before = tree(&home);
        assert_eq!(agent(&home, name)["wired"], "no", "{name}");
        install(&home, &[name]).ok();
        assert_eq!(agent(&home, name)["wired"], "yes", "{name}");
        let mode = |path: &str| std::fs::metadata(home.path(path)).unwrap().mode() & 0o777;
        assert_eq!((mode(".claude.json"), mode("data/installed.json")), (0o600, 0o600));
        home.run(&["uninstall", name]).ok();
        assert_eq!(tree(&home), before, "{name}");
    }
}

/// @connect_made_and_removed
#[test]
fn agents_without_configuration_get_one_and_uninstall_removes_it() {
    let home = home();
    let before = tree(&home);
    let done = install(&home, &[&AGENTS[..], &["--json"]].concat()).json();
    for agent in done["agents"].as_array().unwrap() {
        for file in agent["files"].as_array().unwrap() {
            assert_eq!(file["done"], "created", "{file}");
        }
    }
    for name in AGENTS {
        assert_eq!(agent(&home, name)["wired"], "yes", "{name}");
        home.run(&["uninstall", name]).ok();
        assert_eq!(agent(&home, name)["wired"], "no", "{name}");
    }
    assert_eq!(tree(&home), before);
}

/// @connect_twice
#[test]
fn a_second_installation_changes_nothing() {
    let home = home();
    furnish(&home);
    install(&home, &AGENTS).ok();
    let before = tree(&home);
    let inode = || std::fs::metadata(home.path(".claude/settings.json")).unwrap().ino();
    let first = inode();
    let done = install(&home, &[&AGENTS[..], &["--json"]].concat()).json();
    assert_eq!(done["changed"], false, "{done}");
    assert_eq!((tree(&home), inode()), (before, first));
}

/// @connect_calls_us
#[test]
fn the_installed_command_is_absolute_names_its_agent_and_its_event_arrives() {
    let home = home();
    install(&home, &["claude-code"]).ok();
    let settings: Value = serde_json::from_str(&read(&home, ".claude/settings.json")).unwrap();
    let events = settings["hooks"].as_object().unwrap();
    let names: Vec<&String> = events.keys().collect();
    let wanted = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "StopFailure",
        "SubagentStop",
        "PreCompact",
        "SessionEnd",
    ];
    assert_eq!(names, wanted);
    assert_eq!(settings["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 10);
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(hook["args"], json!(["hook", "Stop", "--agent", "claude-code"]));
    let command = hook["command"].as_str().unwrap();
    assert!(Path::new(command).is_absolute() && !command.contains(env!("CARGO_PKG_VERSION")));
    assert_eq!(agent(&home, "claude-code")["last_event"], Value::Null);
    let mut line = std::process::Command::new(command);
    line.args(hook["args"].as_array().unwrap().iter().filter_map(Value::as_str));
    line.env_clear().envs(home.env.iter().cloned());
    let event = json!({ "session_id": "s-1", "hook_event_name": "Stop" }).to_string();
    let run = testkit::home::finish(line, event.as_bytes());
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    assert!(agent(&home, "claude-code")["last_event"].is_string());
}

/// @connect_moved
#[test]
fn the_variables_that_move_an_agents_files_are_followed() {
    let mut home = home();
    let at = |path: &str| home.path(path).to_str().unwrap().to_owned();
    let moved = [
        ("CLAUDE_CONFIG_DIR", at("m/claude")),
        ("CODEX_HOME", at("m/codex")),
        ("GEMINI_CLI_HOME", at("m/gemini")),
        ("XDG_CONFIG_HOME", at("m/config")),
    ];
    for (name, value) in &moved {
        home.set(name, value);
    }
    install(&home, &["claude-code", "codex", "gemini-cli", "opencode"]).ok();
    for path in [
        "m/claude/settings.json",
        "m/claude/.claude.json",
        "m/codex/hooks.json",
        "m/codex/config.toml",
        "m/gemini/.gemini/settings.json",
        "m/config/opencode/opencode.json",
        "m/config/opencode/plugins/rekindle.js",
    ] {
        assert!(home.path(path).is_file(), "{path}");
    }
    assert!(!home.path(".claude").exists() && !home.path(".codex").exists());
}

/// @connect_dry_run
#[test]
fn a_dry_run_shows_a_diff_and_changes_nothing() {
    let home = home();
    furnish(&home);
    let before = tree(&home);
    let shown = install(&home, &["codex", "--dry-run"]).ok();
    let config = home.path(".codex/config.toml");
    assert!(shown.contains(&format!("--- {0}\n+++ {0}\n", config.display())), "{shown}");
    assert!(shown.contains("--- /dev/null\n"), "{shown}");
    assert!(shown.contains("\n+[mcp_servers.rekindle]\n"), "{shown}");
    let told = install(&home, &["codex", "--dry-run", "--json"]).json();
    assert_eq!(told["dry_run"], true);
    assert_eq!(told["agents"][0]["files"][1]["done"], "changed");
    assert!(told["agents"][0]["files"][1]["diff"].as_str().unwrap().starts_with("--- "));
    assert_eq!(tree(&home), before);
}

/// @connect_touched
#[test]
fn an_edited_file_loses_only_our_entries() {
    let home = home();
    furnish(&home);
    install(&home, &["claude-code", "codex"]).ok();
    let theirs = read(&home, ".claude/settings.json").replace("\"opus\"", "\"sonnet\"");
    home.write(".claude/settings.json", &theirs);
    let filled = read(&home, ".codex/hooks.json").replacen('{', "{\n  \"mine\": 1,", 1);
    home.write(".codex/hooks.json", &filled);
    home.run(&["uninstall"]).ok();
    let left: Value = serde_json::from_str(&read(&home, ".claude/settings.json")).unwrap();
    let check =
        json!({ "matcher": "Bash", "hooks": [{ "type": "command", "command": "/usr/bin/check" }] });
    assert_eq!(left, json!({ "model": "sonnet", "hooks": { "PreToolUse": [check] } }));
    let left: Value = serde_json::from_str(&read(&home, ".codex/hooks.json")).unwrap();
    assert_eq!(left, json!({ "mine": 1 }));
}

/// @connect_touched
#[test]
fn entries_of_an_older_installation_are_found_without_a_record() {
    let home = home();
    furnish(&home);
    let before = read(&home, ".claude/settings.json");
    install(&home, &["claude-code"]).ok();
    std::fs::remove_dir_all(home.path("data")).unwrap();
    let done = home.run(&["uninstall", "--json"]).json();
    assert_eq!(done["files"].as_array().unwrap().len(), 2, "{done}");
    assert_eq!(read(&home, ".claude/settings.json"), before);
    assert!(!read(&home, ".claude.json").contains("rekindle"));
}

/// @connect_project
#[test]
fn a_project_is_connected_in_the_files_of_its_root() {
    let home = home();
    for (file, text) in [("HEAD", "ref: refs/heads/main\n"), ("objects/x", ""), ("refs/x", "")] {
        home.write(&format!("repo/.git/{file}"), text);
    }
    home.write("repo/src/a.rs", "");
    let before = tree(&home);
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        command.current_dir(home.path("repo/src"));
        testkit::home::finish(command, b"").ok()
    };
    run(&[&["install", "--scope", "project"], &AGENTS[..]].concat());
    for path in [
        ".claude/settings.json",
        ".mcp.json",
        ".codex/hooks.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".cursor/hooks.json",
        ".cursor/mcp.json",
        "opencode.json",
        ".opencode/plugins/rekindle.js",
    ] {
        assert!(home.path("repo").join(path).is_file(), "{path}");
        assert!(!home.path(path).exists(), "{path}");
    }
    // From any directory: the record has its path.
    home.run(&["uninstall"]).ok();
    assert_eq!(tree(&home), before);
}

/// @connect_found
#[test]
fn without_names_the_agents_found_are_connected_after_confirmation() {
    let mut home = home();
    home.set("PATH", "/nowhere");
    let none = install(&home, &["--yes"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("no agent was found"), "{none:?}");
    home.write(".codex/config.toml", "");
    home.write("bin/gemini", "").metadata().unwrap();
    std::fs::set_permissions(home.path("bin/gemini"), std::fs::Permissions::from_mode(0o755))
        .unwrap();
    home.set("PATH", home.path("bin").to_str().unwrap());
    let asked = install(&home, &[]);
    assert_eq!(asked.code, 1);
    assert!(asked.stderr.contains("`rekindle install codex gemini-cli`"), "{asked:?}");
    assert!(asked.stderr.contains("--yes"), "{asked:?}");
    let done = install(&home, &["--yes", "--json"]).json();
    let names: Vec<&Value> =
        done["agents"].as_array().unwrap().iter().map(|a| &a["agent"]).collect();
    assert_eq!(names, ["codex", "gemini-cli"]);
    // This agent runs no hook before its user has trusted it.
    assert!(done["agents"][0]["remark"].as_str().unwrap().contains("trusted"), "{done}");
    let unknown = install(&home, &["emacs"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("opencode"), "{unknown:?}");
}

/// @connect_up
#[test]
fn up_lists_the_agents_that_are_not_connected_in_one_line() {
    let mut home = home();
    home.set("PATH", "/nowhere");
    home.write(".codex/config.toml", "");
    home.write(".claude/settings.json", "{}");
    let run = home.run(&["up"]);
    let line = "note: not connected: Claude Code and Codex; `rekindle install` connects agents\n";
    assert_eq!((run.code, run.stderr.as_str()), (0, line));
    assert_eq!(home.run(&["up", "--json"]).stderr, "");
    install(&home, &["claude-code", "codex"]).ok();
    assert_eq!(home.run(&["up"]).stderr, "");
    home.run(&["stop"]).ok();
}

/// @connect_binary
#[test]
fn from_a_build_folder_the_program_is_copied_replaced_and_removed_with_the_last_agent() {
    let home = Home::new(env!("CARGO_BIN_EXE_rekindle"));
    let before = tree(&home);
    install(&home, &["claude-code", "cursor"]).ok();
    let copy = home.path(".local/bin/rekindle");
    assert!(read(&home, ".cursor/mcp.json").contains(copy.to_str().unwrap()));
    assert_eq!(std::fs::metadata(&copy).unwrap().mode() & 0o777, 0o755);
    // An older build.
    let built = std::fs::metadata(&copy).unwrap().len();
    let mut older = std::fs::read(&copy).unwrap();
    older.push(0);
    std::fs::write(&copy, older).unwrap();
    let done = install(&home, &["cursor", "--json"]).json();
    assert_eq!(done["binary"]["done"], "changed", "{done}");
    assert_eq!(std::fs::metadata(&copy).unwrap().len(), built);
    home.run(&["uninstall", "cursor"]).ok();
    assert!(copy.exists());
    home.run(&["uninstall", "claude-code"]).ok();
    assert_eq!(tree(&home), before);
    // A file of another program there is not replaced.
    home.write("other/rekindle", "#!/bin/sh\n");
    let bin = home.path("other/rekindle");
    let refused = install(&home, &["cursor", "--bin", bin.to_str().unwrap()]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("is not ours"), "{refused:?}");
    assert!(!home.path(".cursor").exists());
}

/// @connect_binary
#[test]
fn an_older_copy_is_removed_once_no_agent_starts_it() {
    let home = home();
    let before = tree(&home);
    let bin = |name: &str| home.path(name).join("rekindle").to_str().unwrap().to_owned();
    let (a, b) = (bin("a/bin"), bin("b"));
    install(&home, &["claude-code", "codex", "--bin", &a]).ok();
    install(&home, &["codex", "--bin", &b]).ok();
    assert!(Path::new(&a).is_file(), "Claude Code still starts it");
    let done = install(&home, &["claude-code", "cursor", "--bin", &b]).ok();
    assert!(!done.contains("connects no agent"), "{done}");
    home.run(&["uninstall", "codex"]).ok();
    assert!(!home.path("a").exists() && Path::new(&b).is_file());
    home.run(&["uninstall"]).ok();
    assert_eq!(tree(&home), before);
    install(&home, &["claude-code", "--bin", &a]).ok();
    let done = install(&home, &["claude-code", "--bin", &b, "--json"]).json();
    assert_eq!(done["removed"], json!([a]));
    assert!(!home.path("a").exists());
    home.run(&["uninstall"]).ok();
    assert_eq!(tree(&home), before);
}

/// @toolsets
#[test]
fn every_connected_agent_lists_the_core_tools_within_their_budget() {
    let home = home();
    install(&home, &AGENTS).ok();
    let json = |name: &str| -> Value { serde_json::from_str(&read(&home, name)).unwrap() };
    let codex = read(&home, ".codex/config.toml");
    let codex = codex.lines().find_map(|line| line.strip_prefix("args = ")).unwrap();
    let opencode = json(".config/opencode/opencode.json")["mcp"]["rekindle"]["command"].take();
    for args in [
        json(".claude.json")["mcpServers"]["rekindle"]["args"].take(),
        serde_json::from_str(codex).unwrap(),
        json(".gemini/settings.json")["mcpServers"]["rekindle"]["args"].take(),
        json(".cursor/mcp.json")["mcpServers"]["rekindle"]["args"].take(),
        json!(opencode.as_array().unwrap()[1..]),
    ] {
        assert_eq!(args, json!(["serve"]));
    }
    let mut client = home.serve();
    client.initialize("2025-06-18");
    let mut tools = client.request("tools/list", &json!({}))["result"]["tools"].take();
    let costs = home.run(&["ops", "--cost", "--json"]).json();
    let core = costs["toolsets"].as_array().unwrap().iter().find(|set| set["name"] == "core");
    assert_eq!(core.unwrap()["tools"], tools.as_array().unwrap().len());
    for tool in tools.as_array_mut().unwrap() {
        // Only Claude Code reads it, to load four tools at once and the others when they are searched for.
        tool.as_object_mut().unwrap().remove("_meta");
    }
    let tokens = tools.to_string().chars().count() / 4;
    assert!(tokens <= 2_500, "{tokens} tokens on every turn of an agent");
}

/// @connect_shell
#[test]
fn completions_and_the_man_page_are_installed_and_undone() {
    let mut home = home();
    for shell in ["bash", "fish", "zsh"] {
        home.write(&format!("bin/{shell}"), "");
    }
    home.set("PATH", home.path("bin").to_str().unwrap());
    let before = tree(&home);
    let said = install(&home, &["--shell"]).ok();
    assert!(said.contains("connects no agent") && !said.contains("Connected."), "{said}");
    let data = home.path(".local/share");
    let bash = std::fs::read_to_string(data.join("bash-completion/completions/rekindle")).unwrap();
    assert!(bash.contains("uninstall"));
    assert!(data.join("zsh/site-functions/_rekindle").is_file());
    assert!(home.path(".config/fish/completions/rekindle.fish").is_file());
    let page = std::fs::read_to_string(data.join("man/man1/rekindle.1")).unwrap();
    assert!(page.contains("\n.SS rekindle hint set\n"), "{page}");
    install(&home, &["--shell", "cursor"]).ok();
    home.run(&["uninstall", "cursor"]).ok();
    assert_eq!(tree(&home), before);
}

/// @connect_shell
#[test]
fn the_man_page_lists_codes_variables_files_and_examples_that_work() {
    let home = home();
    install(&home, &["--shell"]).ok();
    let page = std::fs::read_to_string(home.path(".local/share/man/man1/rekindle.1")).unwrap();
    let section = |name: &str| -> String {
        let (_, rest) = page.split_once(&format!("\n.SH {name}\n")).expect(name);
        rest.split("\n.SH ").next().unwrap().replace("\\-", "-")
    };
    let exit = section("EXIT STATUS");
    for code in ["0", "1", "2"] {
        assert!(exit.contains(&format!(".B {code}\n")), "{exit}");
    }
    let variables = section("ENVIRONMENT");
    for name in ["REKINDLE_HOME", "REKINDLE_TOOLS", "NO_COLOR"] {
        assert!(variables.contains(&format!(".B {name}\n")), "{variables}");
    }
    assert!(section("FILES").contains(".B ~/.config/rekindle/config.toml\n"));
    let examples = section("EXAMPLES");
    let commands = examples.lines().filter_map(|line| line.strip_prefix(".B rekindle "));
    let commands: Vec<Vec<&str>> = commands.map(|line| line.split(' ').collect()).collect();
    assert!(commands.len() >= 3, "{examples}");
    for command in commands {
        home.run(&command).ok();
    }
}

/// @connect_plugin
#[test]
fn the_plugin_directory_has_hooks_and_server_and_instructions_to_load_it() {
    let home = home();
    let said = home.run(&["plugin", "plug"]).ok();
    let dir = home.path("plug");
    assert!(said.contains(&format!("claude --plugin-dir {}", dir.display())), "{said}");
    let json = |name: &str| -> Value { serde_json::from_str(&read(&home, name)).unwrap() };
    assert_eq!(json("plug/.claude-plugin/plugin.json")["name"], "rekindle");
    let hook = &json("plug/hooks/hooks.json")["hooks"]["SessionStart"][0]["hooks"][0];
    assert_eq!(hook["args"], json!(["hook", "SessionStart", "--agent", "claude-code"]));
    assert!(read(&home, "plug/README.md").contains("rekindle plugin DIR"));
    assert_eq!(json("plug/.mcp.json")["mcpServers"]["rekindle"]["args"], json!(["serve"]));
    home.run(&["plugin", "plug"]).ok();
    home.write("full/notes", "mine");
    assert_eq!(home.run(&["plugin", "full"]).code, 1);
}

/// @connect_plugin
#[test]
fn the_plugin_starts_a_copy_if_the_program_is_in_a_build_directory() {
    let home = Home::new(env!("CARGO_BIN_EXE_rekindle"));
    let before = tree(&home);
    home.write("full/notes", "mine");
    assert_eq!(home.run(&["plugin", "full"]).code, 1);
    assert!(!home.path(".local").exists(), "what is refused copies nothing");
    let copy = home.path(".local/bin/rekindle");
    let said = home.run(&["plugin", "plug"]).ok();
    assert!(said.contains(&format!("copied the program to {}", copy.display())), "{said}");
    let hooks: Value = serde_json::from_str(&read(&home, "plug/hooks/hooks.json")).unwrap();
    let hook = &hooks["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(hook["command"].as_str(), copy.to_str());
    assert!(copy.is_file() && !home.run(&["plugin", "plug"]).ok().contains("copied"));
    // Connecting and disconnecting an agent keeps the copy that the plugin starts.
    install(&home, &["cursor"]).ok();
    let plug = home.path("plug");
    let kept = format!("kept      {} (the plugin in {} starts it)", copy.display(), plug.display());
    for args in [&["uninstall", "cursor"][..], &["uninstall"]] {
        let said = home.run(args).ok();
        assert!(said.contains(&kept) && copy.is_file(), "{said}");
    }
    for mine in ["plug", "full"] {
        std::fs::remove_dir_all(home.path(mine)).unwrap();
    }
    home.run(&["uninstall"]).ok();
    assert_eq!(tree(&home), before);
}

/// @connect_data
#[test]
fn data_is_deleted_only_after_a_confirmation_that_names_its_size() {
    let mut home = home();
    home.set("REKINDLE_HOME", home.path("share/data").to_str().unwrap());
    install(&home, &["claude-code"]).ok();
    home.call("mark", &json!({ "text": "a decision" }));
    let before = tree(&home);
    let asked = home.run(&["uninstall", "--data"]);
    assert_eq!(asked.code, 1);
    assert!(asked.stderr.contains(" KiB in ") && asked.stderr.contains("--yes"), "{asked:?}");
    assert_eq!(tree(&home), before);
    let done = home.run(&["uninstall", "--data", "--yes", "--json"]).json();
    assert!(done["data"]["bytes"].as_u64().unwrap() > 0, "{done}");
    assert!(!home.path("share").exists() && !home.path(".claude").exists());
}

/// @connect_data
#[test]
fn other_files_in_the_data_directory_are_kept_and_reported() {
    let home = home();
    let mine = home.write("data/notes", "mine");
    let run = home.run(&["uninstall", "--data", "--yes"]).ok();
    let kept = format!("kept      {} (not ours)", mine.display());
    assert_eq!(run.trim(), format!("nothing of ours was found; nothing was changed\n{kept}"));
    home.call("mark", &json!({ "text": "a decision" }));
    home.write("data/rekindle.db.corrupt-20260101T000000Z", "remembered");
    let run = home.run(&["uninstall", "--data", "--yes"]).ok();
    assert!(run.contains("removed   from ") && run.contains(&kept), "{run}");
    let left: Vec<_> = std::fs::read_dir(home.path("data")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// @path_advice
#[test]
fn install_and_doctor_print_the_line_that_puts_the_program_on_path() {
    let mut home = home();
    std::fs::create_dir_all(home.path(".claude")).unwrap();
    for (shell, line) in [
        ("/bin/bash", ">> ~/.bashrc`"),
        ("/usr/bin/zsh", ">> ~/.zshrc`"),
        ("/usr/bin/fish", "`fish_add_path "),
    ] {
        home.set("SHELL", shell);
        let said = home.run(&["install", "claude-code"]).stderr;
        assert!(said.contains("is not in PATH") && said.contains(line), "{shell}: {said}");
        let found = home.run(&["doctor"]).stdout;
        assert!(found.contains("is not on PATH\n") && found.contains(line), "{shell}: {found}");
    }
    let program = home.run(&["install", "claude-code", "--json"]).json()["binary"]["path"].take();
    let program = PathBuf::from(program.as_str().unwrap());
    home.set("PATH", &format!("/usr/bin:/bin:{}", program.parent().unwrap().display()));
    assert!(!home.run(&["install", "claude-code"]).stderr.contains("PATH"));
    assert!(!home.run(&["doctor"]).stdout.contains("PATH"));
}

/// @what_remains
#[test]
fn uninstall_names_the_records_and_the_daemon_that_remain() {
    let home = home();
    std::fs::create_dir_all(home.path(".claude")).unwrap();
    home.run(&["install", "claude-code"]).ok();
    let mut daemon = home.daemon();
    let said = home.run(&["uninstall"]).ok();
    let pid = daemon.pid();
    assert!(
        said.contains(&format!("The daemon still runs (pid {pid}); `rekindle stop`")),
        "{said}"
    );
    assert!(said.contains("Your records remain: "), "{said}");
    assert!(said.contains("`rekindle uninstall --data` deletes them."), "{said}");
    home.run(&["stop"]).ok();
    daemon.wait();
    let said = home.run(&["uninstall", "--data", "--yes"]).ok();
    assert!(!said.contains("remain") && !said.contains("still runs"), "{said}");
}

/// @what_remains
#[test]
fn uninstall_that_removes_the_program_names_no_command_of_it() {
    let home = Home::new(env!("CARGO_BIN_EXE_rekindle"));
    std::fs::create_dir_all(home.path(".claude")).unwrap();
    home.run(&["install", "claude-code"]).ok();
    home.run(&["config", "set", "log.level", "debug"]).ok();
    let copy = home.path(".local/bin/rekindle");
    let daemon = home.daemon();
    let usual = home.command(["uninstall"]);
    let mut command = std::process::Command::new(&copy);
    command.arg("uninstall").env_clear();
    command.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let said = testkit::home::finish(command, b"").ok();
    assert!(!copy.exists() && !said.contains("`rekindle "), "{said}");
    let pid = daemon.pid();
    assert!(said.contains(&format!("(pid {pid}); `kill {pid}` ends it.")), "{said}");
    assert!(said.contains("Your records remain: ") && said.contains("by hand."), "{said}");
    assert!(said.contains("Your settings remain: "), "{said}");
}

/// @hooks_by_hand
#[test]
fn the_hooks_of_the_guide_are_those_that_install_writes() {
    let home = home();
    let program = home.run(&["install", "claude-code", "--json"]).json()["binary"]["path"].take();
    let program = program.as_str().unwrap();
    let written = read(&home, ".claude/settings.json").replace(program, "rekindle");
    let written: Value = serde_json::from_str(&written).unwrap();
    let guide = include_str!("../../../../docs/guides/connect-an-agent.md");
    let block = guide.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let by_hand: Value = serde_json::from_str(block).unwrap();
    assert_eq!(by_hand["hooks"], written["hooks"]);
}

/// @statusline_setting
#[test]
fn a_status_line_is_added_on_request_only_where_there_is_none_and_uninstall_removes_it() {
    let home = home();
    let settings = || read(&home, ".claude/settings.json");
    let offer = "rekindle install claude-code --statusline";
    let plain = install(&home, &["claude-code"]);
    assert!(plain.stderr.contains(offer), "{}", plain.stderr);
    assert!(!settings().contains("statusLine"), "{}", settings());
    let asked = install(&home, &["claude-code", "--statusline"]);
    assert!(!asked.stderr.contains(offer), "{}", asked.stderr);
    let line: Value = serde_json::from_str(&settings()).unwrap();
    let command = line["statusLine"]["command"].as_str().unwrap_or_default();
    assert!(command.ends_with("rekindle statusline --agent claude-code"), "{command}");
    let guide = include_str!("../../../../docs/guides/pick-up-where-you-left-off.md");
    let block = guide.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let by_hand: Value = serde_json::from_str(block).unwrap();
    assert_eq!(by_hand["statusLine"]["type"], line["statusLine"]["type"]);
    assert_eq!(by_hand["statusLine"]["command"], "rekindle statusline");
    // A later installation without the flag keeps it.
    install(&home, &["claude-code"]).ok();
    assert!(settings().contains("statusline --agent"), "{}", settings());
    // The user edits the file, so that it is not restored as a whole.
    let edited = settings().replacen('{', "{ \"model\": \"opus\",", 1);
    home.write(".claude/settings.json", &edited);
    home.run(&["uninstall", "claude-code", "--yes"]).ok();
    let left: Value = serde_json::from_str(&settings()).unwrap();
    assert_eq!(left, json!({ "model": "opus" }));
    let own = r#"{"statusLine":{"type":"command","command":"bunx other statusline"}}"#;
    home.write(".claude/settings.json", own);
    let refused = install(&home, &["claude-code", "--statusline"]);
    assert!(refused.stderr.contains("another status line"), "{}", refused.stderr);
    home.run(&["uninstall", "claude-code", "--yes"]).ok();
    assert_eq!(settings(), own);
}
