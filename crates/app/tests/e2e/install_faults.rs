//! Faults in an agent's files, on the disk or in timing: nothing is half done, and nothing is lost.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::home::finish;
use testkit::{Home, Run};

use super::install::{AGENTS, furnish, home, install, read, tree};

/// Asserts that an installation of all agents is refused, names the file and changes nothing.
fn refused(home: &Home, file: &str, what: &str) {
    let before = tree(home);
    let run = install(home, &AGENTS);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains(home.path(file).to_str().unwrap()), "{run:?}");
    assert!(run.stderr.contains(what), "{run:?}");
    assert!(run.stderr.contains("hint:"), "{run:?}");
    assert_eq!(tree(home), before);
}

/// @connect_refused
#[test]
fn an_invalid_file_stops_everything_before_any_change() {
    for (file, text, what) in [
        (".cursor/mcp.json", "{\n  \"a\": nope\n}", "line 2 column 8"),
        (".cursor/mcp.json", "{\n  // mine\n}", "line 2 column 3: not valid JSON: comments"),
        (
            ".cursor/hooks.json",
            "{\n  \"hooks\": []\n}",
            "line 2 column 12: `hooks` is not an object",
        ),
        (".cursor/hooks.json", "{\"hooks\": {\"stop\": 3}}", "line 1 column 20"),
        (
            ".cursor/hooks.json",
            "{\"hooks\": {},\n\"hooks\": {}}",
            "line 2 column 1: `hooks` is there twice",
        ),
        (".codex/config.toml", "a = 1\nb = \n", "line 2 column"),
        (".config/opencode/opencode.jsonc", "{\n  \"mcp\": 1\n}", "line 2 column 10"),
        (".config/opencode/plugins/rekindle.js", "export const A = 1\n", "is not ours"),
    ] {
        let home = home();
        furnish(&home);
        home.write(file, text);
        refused(&home, file, what);
    }
}

/// @connect_refused
#[test]
fn files_that_must_not_be_written_are_refused_by_name() {
    let home = home();
    furnish(&home);
    let file = home.path(".cursor/mcp.json");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    refused(&home, ".cursor/mcp.json", "is read-only");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    refused(&home, ".cursor/mcp.json", "is not a file");
    std::fs::remove_dir(&file).unwrap();
    std::os::unix::fs::symlink("mcp.json", &file).unwrap();
    refused(&home, ".cursor/mcp.json", "leads back to itself");
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, b"{\n \"a\": \"\xff\"}").unwrap();
    refused(&home, ".cursor/mcp.json", "line 2 column 8: is not UTF-8");
    home.write(".cursor/mcp.json", &format!("{{\"a\":\"{}\"}}", "x".repeat(16 * 1024 * 1024)));
    refused(&home, ".cursor/mcp.json", "16777216");
}

/// @connect_preserved
#[test]
fn a_link_into_a_dotfiles_repository_stays_one() {
    let home = home();
    home.write("dotfiles/claude.json", "{\n  \"mine\": true\n}\n");
    home.write(".claude/keep", "");
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, home.path(at)).unwrap();
    link("../dotfiles/claude.json", ".claude/settings.json");
    // A link to a file that does not exist yet.
    link("dotfiles/new.json", ".claude.json");
    let before = tree(&home);
    install(&home, &["claude-code"]).ok();
    assert!(read(&home, "dotfiles/claude.json").contains("SessionStart"));
    assert!(read(&home, "dotfiles/new.json").contains("mcpServers"));
    assert!(home.path(".claude/settings.json").is_symlink());
    home.run(&["uninstall"]).ok();
    assert_eq!(tree(&home), before);
}

/// Writes a repository, as it looks after a clone.
pub(crate) fn repository(home: &Home) {
    for (file, text) in [("HEAD", "ref: refs/heads/main\n"), ("objects/x", ""), ("refs/x", "")] {
        home.write(&format!("repo/.git/{file}"), text);
    }
}

pub(crate) fn in_repository(home: &Home, args: &[&str]) -> Run {
    let mut command = home.command(args);
    command.current_dir(home.path("repo"));
    finish(command, b"")
}

/// @connect_project_links
#[test]
fn a_link_out_of_the_repository_is_refused_and_nothing_changes() {
    for (agent, link, to, named) in [
        ("claude-code", ".claude/settings.json", "../../private/config", ".claude/settings.json"),
        ("claude-code", ".claude/settings.json", "../../private/none", ".claude/settings.json"),
        ("claude-code", ".claude", "../private", ".claude/settings.json"),
        ("claude-code", ".claude", "../nowhere", ".claude/settings.json"),
        ("claude-code", ".mcp.json", "../.claude.json", ".mcp.json"),
        ("codex", ".codex", "inner", ".codex/hooks.json"),
        ("opencode", ".opencode/plugins", "../../private", ".opencode/plugins/rekindle.js"),
        ("cursor", ".cursor", ".git/hooks", ".cursor/hooks.json"),
    ] {
        let home = home();
        repository(&home);
        home.write("private/config", "{\"secret\": 4711}\n");
        home.write(".claude.json", "{}\n");
        home.write("repo/.git/hooks/x", "");
        // A link to a link counts too.
        std::os::unix::fs::symlink("../private", home.path("repo/inner")).unwrap();
        let at = home.path("repo").join(link);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, &at).unwrap();
        let before = tree(&home);
        for more in [&["--dry-run"][..], &[]] {
            let args = [&["install", "--scope", "project", agent], more].concat();
            let run = in_repository(&home, &args);
            assert_eq!(run.code, 1, "{link} to {to}: {run:?}");
            let named = home.path("repo").join(named);
            assert!(run.stderr.contains(named.to_str().unwrap()), "{link} to {to}: {run:?}");
            let why = if to.ends_with("nowhere") {
                "which does not exist"
            } else {
                "leads out of the working tree"
            };
            assert!(run.stderr.contains(why), "{run:?}");
            assert!(!format!("{run:?}").contains("4711"), "{run:?}");
        }
        assert_eq!(tree(&home), before, "{link} to {to}");
    }
}

/// @connect_project_links
#[test]
fn a_link_inside_the_repository_is_followed_unless_it_was_retargeted_later() {
    let home = home();
    repository(&home);
    home.write("repo/common/claude/settings.json", "{}\n");
    std::os::unix::fs::symlink("common/claude", home.path("repo/.claude")).unwrap();
    in_repository(&home, &["install", "--scope", "project", "claude-code"]).ok();
    let settings = read(&home, "repo/common/claude/settings.json");
    assert!(settings.contains("SessionStart"), "{settings}");
    // A later commit retargets the link.
    home.write("private/config", "{}");
    let file = home.path("repo/.claude/settings.json");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("../../../private/config", &file).unwrap();
    let run = home.run(&["uninstall"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("another file than when it was connected"), "{run:?}");
    assert_eq!(read(&home, "private/config"), "{}");
    std::fs::remove_file(&file).unwrap();
    home.run(&["uninstall"]).ok();
}

/// @connect_bad_entry
#[test]
fn one_file_that_cannot_be_restored_does_not_block_the_others() {
    type Spoil = fn(&std::path::Path);
    let bad: [(&str, Spoil); 3] = [
        ("line 1 column 3", |path| std::fs::write(path, "{ broken").unwrap()),
        ("is not a file but a directory", |path| {
            std::fs::remove_file(path).unwrap();
            std::fs::create_dir(path).unwrap();
        }),
        ("leads back to itself", |path| {
            std::fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("hooks.json", path).unwrap();
        }),
    ];
    for (what, spoil) in bad {
        let home = home();
        furnish(&home);
        let before = tree(&home);
        install(&home, &AGENTS).ok();
        // A file that was deleted needs no undo.
        std::fs::remove_file(home.path(".gemini/settings.json")).unwrap();
        let file = home.path(".cursor/hooks.json");
        let connected = std::fs::read(&file).unwrap();
        spoil(&file);
        let run = home.run(&["uninstall"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains(file.to_str().unwrap()), "{run:?}");
        assert!(run.stderr.contains(what) && run.stderr.contains("hint:"), "{run:?}");
        for name in [".claude/settings.json", ".codex/config.toml", ".cursor/mcp.json"] {
            let path = home.path(name);
            assert_eq!(tree(&home).get(&path), before.get(&path), "{what}: {name}");
        }
        let told = home.run(&["uninstall", "--json"]);
        assert_eq!((told.code, &told.json()["failed"][0]["data"]["agent"]), (1, &json!("cursor")));
        // After the file is repaired, the record still has its original content.
        let _ = std::fs::remove_file(&file).or_else(|_| std::fs::remove_dir(&file));
        std::fs::write(&file, &connected).unwrap();
        home.run(&["uninstall"]).ok();
        assert_eq!(tree(&home).get(&file), before.get(&file), "{what}");
        assert!(!home.path(".local/bin/rekindle").exists() && !home.path("data").exists());
    }
}

/// @connect_preserved
#[test]
fn line_ends_marks_and_comments_stay_and_missing_hooks_are_added() {
    let home = home();
    let settings = "\u{feff}{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": [\r\n\
        \t\t\t\t\t{ \"type\": \"command\", \"command\": \"/mine\" },\r\n\
        \t\t\t\t\t{ \"type\": \"command\", \"command\": \"/old/rekindle\", \"args\": [\"hook\", \"Stop\"] }\r\n\
        \t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}";
    home.write(".claude/settings.json", settings);
    home.write(".codex/config.toml", "");
    let before = tree(&home);
    install(&home, &["claude-code", "codex"]).ok();
    let text = read(&home, ".claude/settings.json");
    assert!(text.starts_with("\u{feff}{\r\n\t\"hooks\"") && text.ends_with('}'), "{text:?}");
    assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
    let stop = &value["hooks"]["Stop"];
    assert_eq!(stop.as_array().unwrap().len(), 1);
    assert_eq!(stop[0]["hooks"][0]["command"], "/mine");
    assert_eq!(stop[0]["hooks"][1]["args"], json!(["hook", "Stop", "--agent", "claude-code"]));
    assert!(!text.contains("/old/"));
    assert_eq!(value["hooks"].as_object().unwrap().len(), 10);
    home.run(&["uninstall"]).ok();
    assert_eq!(tree(&home), before);
}

/// @connect_preserved
#[test]
fn a_file_of_five_megabytes_is_edited() {
    let home = home();
    let entry =
        |at: usize| format!("    \"/project/{at}\": {{ \"history\": [\"{}\"] }}", "x".repeat(200));
    let entries: Vec<String> = (0..22_000).map(entry).collect();
    let text = format!("{{\n  \"projects\": {{\n{}\n  }}\n}}\n", entries.join(",\n"));
    assert!(text.len() > 5_000_000);
    home.write(".claude.json", &text);
    install(&home, &["claude-code"]).ok();
    let wired = read(&home, ".claude.json");
    assert!(wired.contains("\"rekindle\"") && wired.len() < text.len() + 300);
    home.run(&["uninstall"]).ok();
    assert_eq!(read(&home, ".claude.json"), text);
}

/// @connect_one_at_a_time
#[test]
fn installations_at_the_same_time_wait_for_each_other() {
    let home = home();
    furnish(&home);
    let before = tree(&home);
    let start = |_: usize| {
        let mut command = home.command([&["install"], &AGENTS[..]].concat());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let all: Vec<_> = (0..4).map(start).collect();
    for child in all {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(read(&home, ".claude/settings.json").matches("\"Stop\", \"--agent\"").count(), 1);
    home.run(&["uninstall"]).ok();
    assert_eq!(tree(&home), before);
}

/// Runs a command with a fault at each of its writes in turn, until a run has no fault left.
fn at_every_write(kind: &str, line: &[&str], prepare: impl Fn(&Home), check: impl Fn(&Home, Run)) {
    let mut at = 0;
    loop {
        at += 1;
        let mut home = home();
        furnish(&home);
        prepare(&home);
        home.set("REKINDLE_INSTALL_FAULT", &format!("{kind}:{at}"));
        let run = home.run(line);
        home.unset("REKINDLE_INSTALL_FAULT");
        if run.code == 0 {
            break;
        }
        check(&home, run);
    }
    // Each file is written, and so is the record.
    assert!(at > 6, "only {at} writes");
}

const TWO: [&str; 3] = ["install", "claude-code", "codex"];

/// @connect_interrupted
#[test]
fn an_installation_interrupted_at_any_write_is_undone_or_continued() {
    let plain = home();
    furnish(&plain);
    let before = tree(&plain);
    let relative = |home: &Home| -> Vec<_> {
        let all = tree(home).into_iter();
        all.map(|(path, what)| (path.strip_prefix(&home.dir).unwrap().to_owned(), what)).collect()
    };
    let original = relative(&plain);
    plain.run(&TWO).ok();
    let settings = read(&plain, ".claude/settings.json");
    assert_ne!(tree(&plain), before);
    at_every_write(
        "stop",
        &TWO,
        |_| {},
        |home, run| {
            assert_eq!(run.code, -1, "{run:?}");
            home.run(&["uninstall"]).ok();
            assert_eq!(relative(home), original);
        },
    );
    at_every_write(
        "stop",
        &TWO,
        |_| {},
        |home, _| {
            home.run(&TWO).ok();
            assert_eq!(read(home, ".claude/settings.json"), settings);
            home.run(&["uninstall"]).ok();
            assert_eq!(relative(home), original);
        },
    );
    let installed = |home: &Home| drop(home.run(&TWO).ok());
    at_every_write("stop", &["uninstall"], installed, |home, _| {
        home.run(&["uninstall"]).ok();
        assert_eq!(relative(home), original);
    });
}

/// @connect_disk_full
#[test]
fn a_full_disk_at_any_write_leaves_everything_as_it_was() {
    let bare = home();
    furnish(&bare);
    let count = tree(&bare).len();
    at_every_write(
        "fail",
        &TWO,
        |_| {},
        |home, run| {
            assert_eq!(run.code, 1, "{run:?}");
            assert!(run.stderr.contains("disk is not full"), "{run:?}");
            assert_eq!(tree(home).len(), count, "{run:?}");
            let settings = read(home, ".claude/settings.json");
            assert!(
                !settings.contains("rekindle") && settings.contains("/usr/bin/check"),
                "{settings}"
            );
            assert_eq!(read(home, ".codex/config.toml"), read(&bare, ".codex/config.toml"));
        },
    );
}

/// Ends an installation in an empty home in this way at each of its writes, and checks that everything is as before.
fn in_a_bare_home(kind: &str, data: &str, then: impl Fn(&Home)) {
    let mut at = 0;
    loop {
        at += 1;
        let mut home = home();
        home.set("REKINDLE_HOME", home.path(data).to_str().unwrap());
        let before = tree(&home);
        home.set("REKINDLE_INSTALL_FAULT", &format!("{kind}:{at}"));
        let run = home.run(&["install", "opencode", "claude-code"]);
        home.unset("REKINDLE_INSTALL_FAULT");
        if run.code == 0 {
            break;
        }
        then(&home);
        assert_eq!(tree(&home), before, "{kind}:{at} {run:?}");
    }
    assert!(at > 12, "only {at} writes");
}

/// @connect_disk_full
#[test]
fn a_full_disk_leaves_no_empty_directories() {
    in_a_bare_home("fail", "a/b/data", |_| {});
}

/// @connect_interrupted
#[test]
fn an_interrupted_installation_leaves_no_empty_directories_after_uninstall() {
    in_a_bare_home("stop", "data", |home| drop(home.run(&["uninstall"]).ok()));
}

/// @connect_disk_full
#[test]
fn a_file_size_limit_is_reported_and_nothing_changes() {
    let home = home();
    furnish(&home);
    home.write(".claude.json", &format!("{{\"a\":\"{}\"}}", "x".repeat(20_000)));
    let before = tree(&home);
    let line = home.command(["install", "claude-code"]);
    let program = line.get_program().to_str().unwrap().to_owned();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -f 8 && exec '{program}' install claude-code")]);
    shell.env_clear().envs(home.env.iter().cloned());
    shell.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let run = finish(shell, b"");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("error: cannot use"), "{run:?}");
    assert_eq!(tree(&home), before);
}

/// @connect_nothing_to_undo
#[test]
fn uninstall_without_install_changes_nothing_and_says_so() {
    let home = home();
    furnish(&home);
    // A broken file without our entries is not reported.
    home.write(".cursor/hooks.json", "{ broken");
    let before = tree(&home);
    let run = home.run(&["uninstall"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("nothing was changed"), "{run:?}");
    assert_eq!(home.run(&["uninstall", "codex", "--json"]).json()["changed"], false);
    assert_eq!(tree(&home), before);
}

/// @connect_nothing_to_undo
#[test]
fn uninstall_without_install_where_nothing_can_be_written_says_so() {
    let mut home = home();
    home.write("file", "");
    home.set("REKINDLE_HOME", home.path("file/data").to_str().unwrap());
    let before = tree(&home);
    let run = home.run(&["uninstall"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("nothing was changed"), "{run:?}");
    assert_eq!(tree(&home), before);
    // Our entries without a record are reported.
    home.write(".cursor/hooks.json", r#"{"hooks":{"stop":[{"command":"rekindle hook stop"}]}}"#);
    assert_eq!(home.run(&["uninstall"]).code, 1);
}
