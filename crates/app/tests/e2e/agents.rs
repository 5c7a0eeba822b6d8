//! `rekindle agents` reports which agents are connected and when they were last heard of, even if files, programs or
//! the daemon are broken.

use std::time::{Duration, Instant};

use testkit::Home;
use testkit::home::{finish, signal};

use super::install::{agent, home, install, read};
use super::late::suspend;

fn shown(home: &Home) -> String {
    home.run(&["agents"]).ok()
}

/// The line of an agent and its continuation lines.
fn lines(shown: &str, name: &str) -> String {
    let mut lines = shown.lines().skip_while(|line| !line.starts_with(name));
    let first = lines.next().unwrap().to_owned();
    let more = lines.take_while(|line| line.starts_with(' '));
    more.fold(first, |all, line| format!("{all}\n{line}"))
}

/// @agents_project
#[test]
fn an_agent_that_is_connected_in_this_repository_is_shown_so() {
    let home = home();
    for (file, text) in [("HEAD", "ref: refs/heads/main\n"), ("objects/x", ""), ("refs/x", "")] {
        home.write(&format!("repo/.git/{file}"), text);
    }
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        command.current_dir(home.path("repo"));
        finish(command, b"")
    };
    run(&["install", "cursor", "--scope", "project"]).ok();
    let shown_there = run(&["agents"]).ok();
    let words: Vec<&str> = shown_there.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "cursor").unwrap();
    assert_eq!(words[at + 2], "project", "{shown_there}");
    assert_eq!(agent(&home, "cursor")["wired"], "no", "elsewhere it is not");
    home.write("repo/.cursor/hooks.json", "{}");
    let partly = lines(&run(&["agents"]).ok(), "cursor");
    assert!(partly.contains("`rekindle install cursor --scope project` completes"), "{partly}");
}

/// @agents_broken
#[test]
fn an_agent_that_is_connected_and_cannot_call_us_is_broken() {
    let home = home();
    let program = home.path("bin/rekindle");
    install(&home, &["codex", "--bin", program.to_str().unwrap()]).ok();
    assert!(!shown(&home).contains("broken"));
    std::fs::remove_file(&program).unwrap();
    let codex = lines(&shown(&home), "codex");
    assert!(codex.contains(" broken "), "{codex}");
    assert!(
        codex.contains("does not exist") && codex.contains("`rekindle install codex`"),
        "{codex}"
    );
    home.write(".claude/settings.json", "{ \"disableAllHooks\": true }");
    install(&home, &["claude-code"]).ok();
    let claude = lines(&shown(&home), "claude-code");
    assert!(
        claude.contains(" broken ") && claude.contains("Remove `disableAllHooks` from"),
        "{claude}"
    );
    assert_eq!(agent(&home, "claude-code")["faults"].as_array().unwrap().len(), 1);
}

/// @agents_broken
#[test]
fn a_file_that_cannot_be_edited_is_named_with_its_line_and_not_offered_for_completion() {
    let home = home();
    install(&home, &["claude-code"]).ok();
    home.write(".claude/settings.json", "{\n  oops\n}");
    let claude = lines(&shown(&home), "claude-code");
    let file = home.path(".claude/settings.json");
    assert!(claude.contains(&format!("{} line 2 column 3: ", file.display())), "{claude}");
    assert!(claude.contains("Fix the file") && !claude.contains("completes"), "{claude}");
}

/// @connect_narrowed
#[test]
fn an_agent_with_a_narrowed_hook_is_partly_connected_until_the_next_install() {
    let home = home();
    install(&home, &["claude-code"]).ok();
    let narrow = read(&home, ".claude/settings.json")
        .replace("\"PreToolUse\": [\n      {", "\"PreToolUse\": [\n      { \"matcher\": \"Edit\",");
    home.write(".claude/settings.json", &narrow);
    let seen = agent(&home, "claude-code");
    assert_eq!((&seen["wired"], &seen["altered"][0]), (&"partly".into(), &"PreToolUse".into()));
    install(&home, &["claude-code"]).ok();
    assert_eq!(agent(&home, "claude-code")["wired"], "yes");
    assert!(!read(&home, ".claude/settings.json").contains("matcher"));
}

/// @agents_heard
#[test]
fn the_last_event_of_an_agent_is_shown_while_the_daemon_hangs() {
    let home = home();
    let daemon = home.daemon();
    let event = br#"{"session_id":"s-1","hook_event_name":"Stop"}"#;
    home.run_with(&["hook", "Stop", "--agent", "codex"], event).ok();
    let heard = agent(&home, "codex")["last_event"].clone();
    assert!(heard.is_string(), "{heard}");
    suspend(daemon.pid());
    let started = Instant::now();
    assert_eq!(agent(&home, "codex")["last_event"], heard);
    let took = started.elapsed();
    signal(daemon.pid(), "CONT");
    assert!(took < Duration::from_secs(3), "it does not wait for the daemon: {took:?}");
}

/// @agents_heard
#[test]
fn an_unreadable_store_is_reported_and_not_shown_as_silence() {
    let home = home();
    std::fs::create_dir_all(home.path("data/rekindle.db")).unwrap();
    let all = shown(&home);
    assert!(all.contains("unknown") && !all.contains("none yet"), "{all}");
    assert!(all.contains("`rekindle doctor`"), "{all}");
}
