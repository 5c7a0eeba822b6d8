//! Spooled events carry their project, and nothing that the user excludes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::Home;

use super::home;

/// The files of a git repository, as far as they are read here.
fn repository(dir: &Path, remote: &str) {
    let git = dir.join(".git");
    for folder in ["objects", "refs"] {
        fs::create_dir_all(git.join(folder)).unwrap();
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git.join("config"), format!("[remote \"origin\"]\n\turl = {remote}\n")).unwrap();
}

/// A second working tree of the repository.
fn worktree(of: &Path, dir: &Path) {
    let own = of.join(".git/worktrees/second");
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(dir).unwrap();
    fs::write(own.join("HEAD"), "ref: refs/heads/fix\n").unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(own.join("gitdir"), format!("{}\n", dir.join(".git").display())).unwrap();
    fs::write(dir.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
}

/// A project that excludes a directory, and another one that does not.
fn discreet(home: &Home) -> [PathBuf; 2] {
    let (app, other) = (home.path("app"), home.path("other"));
    repository(&app, "https://example.com/me/app");
    repository(&other, "https://example.com/me/other");
    home.write("app/.rekindle.toml", "exclude = [\"private/**\"]\n");
    [app, other]
}

fn edit(home: &Home, event: &str, cwd: &Path, path: &Path) {
    let input = json!({ "file_path": path, "old_string": "", "new_string": "zebrafish merger" });
    let payload =
        json!({ "session_id": "s-1", "cwd": cwd, "tool_name": "Edit", "tool_input": input });
    home.hook(event, &payload);
}

fn runs(home: &Home, session: &str, cwd: &Path, command: &str) {
    let input = json!({ "command": command });
    let payload =
        json!({ "session_id": session, "cwd": cwd, "tool_name": "Bash", "tool_input": input });
    home.hook("PostToolUse", &payload);
}

/// Our files that contain this text.
fn holding(home: &Home, text: &str) -> Vec<PathBuf> {
    let ours = |path: &Path| ["data", "run"].iter().any(|dir| path.starts_with(home.path(dir)));
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let files = home.files().into_iter().filter(|(path, bytes)| ours(path) && holds(bytes));
    files.map(|(path, _)| path).collect()
}

/// Recently captured records of all projects.
fn recent(home: &Home) -> Vec<String> {
    let recent = home.call("recent_context", &json!({ "project": null }));
    let texts = recent["results"].as_array().unwrap().iter();
    texts.map(|one| one["content"].as_str().unwrap().to_owned()).collect()
}

fn events(home: &Home) -> Value {
    home.run(&["status", "--json"]).json()["events"].clone()
}

/// The projects with their observations.
fn projects(home: &Home) -> Vec<(String, u64)> {
    let list = home.run(&["project", "list", "--json"]).json();
    let told = list["projects"].as_array().unwrap().iter();
    let told = told.map(|one| {
        (one["name"].as_str().unwrap().to_owned(), one["observations"].as_u64().unwrap())
    });
    told.collect()
}

/// @capture_exclude_spooled
/// @capture_exclude_elsewhere
#[test]
fn an_excluded_path_is_not_spooled_and_stays_excluded_after_its_settings_are_gone() {
    let home = home();
    let [app, other] = discreet(&home);
    for cwd in [&app, &other, &home.dir] {
        for event in ["PreToolUse", "PostToolUse"] {
            edit(&home, event, cwd, &app.join("private/plan.txt"));
        }
    }
    edit(&home, "PostToolUse", &app, Path::new("private/plan.txt"));
    edit(&home, "PostToolUse", &app, &app.join("src/open.rs"));
    assert_eq!(home.spooled().len(), 8);
    assert_eq!(holding(&home, "plan.txt"), Vec::<PathBuf>::new());
    assert_eq!(holding(&home, "open.rs").len(), 1);
    // Another branch is checked out before the event is ingested.
    fs::remove_file(app.join(".rekindle.toml")).unwrap();
    let recent = recent(&home);
    assert!(recent.len() == 1 && recent[0].contains("open.rs"), "{recent:?}");
    assert_eq!(events(&home), 8, "that they came is known");
}

/// @capture_exclude_elsewhere
#[test]
fn a_daemon_excludes_a_path_whatever_directory_the_agent_is_in() {
    let home = home();
    let [app, other] = discreet(&home);
    let _daemon = home.daemon();
    for cwd in [&app, &other, &home.dir] {
        edit(&home, "PostToolUse", cwd, &app.join("private/plan.txt"));
    }
    edit(&home, "PostToolUse", &other, &app.join("src/open.rs"));
    let recent = recent(&home);
    assert!(recent.len() == 1 && recent[0].contains("open.rs"), "{recent:?}");
}

/// @capture_exclude_spooled
#[test]
fn nothing_of_an_excluded_project_is_spooled() {
    let mut home = home();
    let [app, other] = discreet(&home);
    // Excluded only by the agent's environment, which the ingesting process may not have; and by the file.
    home.set("REKINDLE_EXCLUDE_PROJECTS", "app");
    runs(&home, "s-1", &app, "echo zebrafish");
    let prompt = json!({ "session_id": "s-1", "cwd": app, "prompt": "tame the zebrafish please" });
    home.hook("UserPromptSubmit", &prompt);
    home.unset("REKINDLE_EXCLUDE_PROJECTS");
    home.run(&["config", "set", "observations.exclude_projects", "example.com/me/app"]).ok();
    runs(&home, "s-2", &app, "echo zebrafish");
    home.run(&["config", "set", "observations.exclude_projects", ""]).ok();
    runs(&home, "s-3", &other, "echo heron");
    // The prompt took in the event before it: the store was open for its reply.
    assert_eq!(home.spooled().len(), 2);
    for hidden in ["zebrafish", app.to_str().unwrap()] {
        assert_eq!(holding(&home, hidden), Vec::<PathBuf>::new(), "{hidden}");
    }
    assert_eq!(recent(&home), ["echo heron"]);
    assert_eq!(projects(&home), [("other".to_owned(), 1)]);
    assert_eq!(events(&home), 4);
}

/// @capture_pause_spooled
#[test]
fn nothing_of_a_paused_project_is_spooled() {
    let home = home();
    let [app, other] = discreet(&home);
    let second = home.path("second");
    worktree(&app, &second);
    for (session, dir) in [("s-1", &app), ("s-2", &other)] {
        runs(&home, session, dir, "echo before");
    }
    home.run(&["pause", "--project", "app"]).ok();
    for dir in [&app, &second] {
        runs(&home, "s-1", dir, "echo zebrafish");
    }
    runs(&home, "s-2", &other, "echo heron");
    assert_eq!(holding(&home, "zebrafish"), Vec::<PathBuf>::new());
    assert_eq!(holding(&home, "heron").len(), 1);
    // A clone that the user assigned to the paused project belongs to it from then on.
    let given = home.path("given");
    repository(&given, "https://example.com/me/given");
    home.run(&["project", "alias", "app", given.to_str().unwrap()]).ok();
    runs(&home, "s-3", &given, "echo zebrafish");
    home.run(&["pause", "2h"]).ok();
    runs(&home, "s-2", &other, "echo zebrafish");
    assert_eq!(holding(&home, "zebrafish"), Vec::<PathBuf>::new());
    home.run(&["pause", "off"]).ok();
    home.run(&["pause", "off", "--project", "app"]).ok();
    assert!(!home.path("data/rekindle.db-paused").exists());
    runs(&home, "s-1", &app, "echo after");
    let mut seen = recent(&home);
    seen.sort();
    assert_eq!(seen, ["echo after", "echo before", "echo before", "echo heron"]);
}

/// @capture_pause_spooled
#[test]
fn a_lost_pause_file_is_written_again_and_a_damaged_one_is_ignored() {
    let home = home();
    let [app, _] = discreet(&home);
    let note = home.path("data/rekindle.db-paused");
    home.run(&["pause"]).ok();
    fs::remove_file(&note).unwrap();
    assert_eq!(recent(&home), [""; 0]);
    assert_eq!(fs::metadata(&note).unwrap().permissions().mode() & 0o777, 0o600);
    runs(&home, "s-1", &app, "echo zebrafish");
    assert_eq!(holding(&home, "zebrafish"), Vec::<PathBuf>::new());
    fs::write(&note, "[1, {").unwrap();
    runs(&home, "s-1", &app, "echo heron");
    assert_eq!(holding(&home, "heron").len(), 1, "nothing is lost");
    assert_eq!(recent(&home), [""; 0], "what takes it in knows of the pause");
}

/// @capture_pause_spooled
#[test]
fn a_pause_does_not_end_while_its_file_cannot_be_removed() {
    let home = home();
    let [app, _] = discreet(&home);
    home.run(&["pause"]).ok();
    let data = home.path("data");
    if client::platform::uid() != 0 {
        // Root may write there in any mode.
        fs::set_permissions(&data, fs::Permissions::from_mode(0o555)).unwrap();
        let refused = home.run(&["pause", "off"]);
        fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stderr.contains("rekindle.db-paused cannot be removed"), "{refused:?}");
    }
    let note = data.join("rekindle.db-paused");
    fs::remove_file(&note).unwrap();
    fs::create_dir_all(note.join("x")).unwrap();
    let refused = home.run(&["pause", "off"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("rekindle.db-paused is a directory"), "{refused:?}");
    fs::remove_dir_all(&note).unwrap();
    home.run(&["pause", "off"]).ok();
    runs(&home, "s-1", &app, "echo heron");
    assert_eq!(recent(&home), ["echo heron"]);
}

/// @project_of_a_spooled_event
#[test]
fn an_event_belongs_to_its_project_even_after_the_working_tree_or_the_clone_is_deleted() {
    let home = home();
    let [app, other] = discreet(&home);
    let (second, clone) = (home.path("second"), home.path("clone"));
    worktree(&app, &second);
    repository(&clone, "git@example.com:me/other.git");
    for (number, dir) in [&app, &second, &other, &clone].into_iter().enumerate() {
        runs(&home, &format!("s-{number}"), dir, &format!("echo {number}"));
    }
    for gone in [&second, &clone] {
        fs::remove_dir_all(gone).unwrap();
    }
    let mut found = projects(&home);
    found.sort();
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(found.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [2, 2], "{names:?}");
}

/// @project_of_a_spooled_event
#[test]
fn an_event_spooled_by_an_older_build_belongs_to_the_project_at_its_directory_now() {
    let home = home();
    let [app, _] = discreet(&home);
    runs(&home, "s-1", &app, "echo heron");
    let file = &home.spooled()[0];
    let mut event: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert!(event.as_object_mut().unwrap().remove("stood").is_some());
    fs::write(file, event.to_string()).unwrap();
    assert_eq!(projects(&home), [("app".to_owned(), 1)]);
}
