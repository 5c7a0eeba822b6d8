//! Agents that are connected only in a repository, and programs that changed after the installation.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use testkit::home::finish;
use testkit::{Home, Run};

use super::agent_files::in_repository;
use super::install::{agent, home, install, read, tree};

/// The check of this name in a report: its status, detail and hint.
fn said(run: &Run, name: &str) -> (String, String, String) {
    let report = run.json();
    let mut checks = report["checks"].as_array().unwrap().iter();
    let check = checks.find(|check| check["name"] == name).cloned().unwrap_or_default();
    let text = |member: &str| check[member].as_str().unwrap_or_default().to_owned();
    (text("status"), text("detail"), text("hint"))
}

/// @doctor_agents @agents_broken
#[test]
fn the_doctor_checks_agents_that_are_connected_only_in_this_repository() {
    let home = home();
    let bin = home.path("bin/rekindle");
    let connect = ["install", "claude-code", "--scope", "project", "--bin", bin.to_str().unwrap()];
    in_repository(&home, &connect).ok();
    let doctor = |name: &str| said(&in_repository(&home, &["doctor", "--json"]), name);
    assert_eq!(doctor("claude-code").1, "Claude Code is connected in this repository");
    assert_eq!(doctor("claude-code program").0, "ok");
    let settings = read(&home, "repo/.claude/settings.json");
    let cut = settings.replacen("\"SessionStart\"", "\"Other\"", 1);
    home.write("repo/.claude/settings.json", &cut);
    let (status, detail, hint) = doctor("claude-code");
    assert_eq!(status, "fail", "{detail}");
    assert!(detail.contains("missing: SessionStart"), "{detail}");
    assert!(hint.contains("`rekindle install claude-code --scope project`"), "{hint}");
    in_repository(&home, &["doctor", "--fix"]);
    assert_eq!(doctor("claude-code").0, "ok");
    assert!(!home.path(".claude/settings.json").exists(), "only the repository was connected");
    std::fs::remove_file(&bin).unwrap();
    let (status, detail, hint) = doctor("claude-code program");
    assert_eq!(status, "fail", "{detail}");
    assert!(hint.contains("`rekindle install claude-code --scope project`"), "{hint}");
    let told = in_repository(&home, &["agents"]).stdout;
    assert!(told.contains("`rekindle install claude-code --scope project`"), "{told}");
    home.write("repo/.claude/settings.json", "{ no");
    let (status, detail, hint) = doctor("claude-code");
    assert_eq!(status, "fail", "{detail}");
    assert!(hint.contains("--scope project"), "{hint}");
}

/// @connect_binary
#[test]
fn a_copy_that_can_no_longer_run_is_replaced() {
    let home = Home::new(env!("CARGO_BIN_EXE_rekindle"));
    install(&home, &["codex"]).ok();
    let copy = home.path(".local/bin/rekindle");
    std::fs::set_permissions(&copy, Permissions::from_mode(0o644)).unwrap();
    assert!(agent(&home, "codex")["faults"].to_string().contains("cannot be run"));
    install(&home, &["codex"]).ok();
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(agent(&home, "codex")["faults"].as_array().map(Vec::len), Some(0));
}

/// @connect_binary
#[test]
fn a_file_of_the_user_at_the_path_of_a_copy_is_kept_and_reported() {
    let home = home();
    let bin = home.path("bin/rekindle");
    install(&home, &["codex", "--bin", bin.to_str().unwrap()]).ok();
    std::fs::write(&bin, "#!/bin/sh\n").unwrap();
    let refused = install(&home, &["codex", "--bin", bin.to_str().unwrap()]);
    assert!(refused.code == 1 && refused.stderr.contains("is not ours"), "{refused:?}");
    let done = home.run(&["uninstall"]).ok();
    assert!(done.contains("it is not our program any more"), "{done}");
    assert_eq!(read(&home, "bin/rekindle"), "#!/bin/sh\n");
}

/// @connect_undone_to_the_byte
#[test]
fn uninstall_undoes_all_agents_whichever_database_is_chosen() {
    let home = home();
    let before = tree(&home);
    install(&home, &["codex", "claude-code"]).ok();
    let mut other = home.command(["uninstall"]);
    other.args(["--db", home.path("other.db").to_str().unwrap()]);
    finish(other, b"").ok();
    assert_eq!(tree(&home), before);
}

/// @connect_dry_run
#[test]
fn a_dry_run_of_uninstall_names_completions_and_copies_too() {
    let home = home();
    let bin = home.path("bin/rekindle");
    install(&home, &["codex", "--shell", "--bin", bin.to_str().unwrap()]).ok();
    let told = home.run(&["uninstall", "--dry-run"]).ok();
    assert!(told.contains("would disconnect Codex"), "{told}");
    assert!(told.contains("completions/rekindle") && told.contains("rekindle.1"), "{told}");
    assert!(told.contains(bin.to_str().unwrap()), "{told}");
    home.run(&["uninstall"]).ok();
    assert!(home.run(&["uninstall", "--dry-run"]).ok().contains("nothing of ours was found"));
}

/// @doctor_agents
#[test]
fn a_record_that_cannot_be_read_is_a_finding() {
    let home = home();
    install(&home, &["codex"]).ok();
    home.write("data/installed.json", "garbage");
    let run = home.run(&["doctor", "--json"]);
    assert_eq!((run.code, said(&run, "record").0.as_str()), (1, "fail"));
}

/// @connect_touched
#[test]
fn completions_that_the_user_edited_are_kept() {
    let home = home();
    install(&home, &["codex", "--shell"]).ok();
    let file = ".local/share/bash-completion/completions/rekindle";
    let edited = format!("{}# mine\n", read(&home, file));
    home.write(file, &edited);
    home.run(&["uninstall"]).ok();
    assert_eq!(read(&home, file), edited);
}
