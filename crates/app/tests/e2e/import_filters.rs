//! `import --project` and `--exclude-project`: names as in the report, globs, and directories.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::json;

use super::import::{Desk, desk};

/// A desk with a session in the project `shop`, one in a worktree of it, and one in `mill`.
fn three_projects() -> Desk {
    let desk = desk();
    let mill = desk.home.path("mill");
    std::fs::create_dir_all(mill.join(".git")).unwrap();
    std::fs::write(mill.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let worktree = desk.home.path("trees/okapi");
    std::fs::create_dir_all(&worktree).unwrap();
    let own = format!("{}/.git/worktrees/okapi", desk.shop);
    std::fs::create_dir_all(&own).unwrap();
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(format!("{}/.git/{folder}", desk.shop)).unwrap();
    }
    std::fs::write(format!("{own}/HEAD"), "ref: refs/heads/okapi\n").unwrap();
    std::fs::write(format!("{own}/commondir"), "../..\n").unwrap();
    std::fs::write(format!("{own}/gitdir"), format!("{}/.git\n", worktree.display())).unwrap();
    std::fs::write(worktree.join(".git"), format!("gitdir: {own}\n")).unwrap();
    for (name, folder) in [("shop", desk.home.path("shop")), ("okapi", worktree), ("mill", mill)] {
        let id = format!("s-{name}");
        let text = desk.prompt(&format!("p-{name}"), &format!("a question about the {name}"));
        let text = text.replace("s-import", &id);
        let text = text.replace(&format!("{}\"", desk.shop), &format!("{}\"", folder.display()));
        desk.write(&format!("{id}.jsonl"), &text);
    }
    desk
}

/// @import_filters
#[test]
fn a_filter_names_projects_as_the_report_does() {
    let desk = three_projects();
    let would_add = |args: &[&str]| desk.added(&[&["--dry-run"], args].concat());
    assert_eq!(would_add(&[]), 3);
    assert_eq!(would_add(&["--project", "shop"]), 2, "the worktree belongs to it");
    assert_eq!(would_add(&["--project", "s*"]), 2);
    assert_eq!(would_add(&["--project", &desk.shop]), 2);
    assert_eq!(would_add(&["--exclude-project", "shop"]), 1);
    assert_eq!(would_add(&["--exclude-project", "mill", "--exclude-project", "sh?p"]), 0);
    let above = desk.home.path("").to_string_lossy().into_owned();
    assert_eq!(would_add(&["--exclude-project", &above]), 0, "everything below is kept out");
    let mut relative = desk.home.command(["import", "--dry-run", "--json", "--project", "./shop"]);
    let output = relative.current_dir(desk.home.path("")).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["added"], 2, "{found}");
}

/// @import_filters
#[test]
fn a_filter_that_matches_no_project_says_so() {
    let desk = three_projects();
    for project in ["shpo", &desk.home.path("").to_string_lossy()] {
        let run = desk.home.run(&["import", "--yes", "--project", project]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("no session belongs to the project"), "{run:?}");
        assert!(run.stderr.contains("mill, shop"), "{run:?}");
    }
    let run = desk.home.run(&["import", "--yes", "--exclude-project", "shpo"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("--exclude-project shpo matches no project"), "{run:?}");
    // Everything is known now, and nothing is read again.
    let run = desk.home.run(&["import", "--yes", "--project", "shop"]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// @import_bad_sources
#[test]
fn a_folder_of_an_agent_that_cannot_be_read_is_named() {
    let desk = desk();
    let file = desk.write("s-import.jsonl", &desk.session());
    let folder = file.parent().unwrap();
    let allow = |mode: u32| {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(0o000);
    // A superuser may read everything.
    let is_refused = std::fs::read_dir(folder).is_err();
    let run = desk.home.run(&["import", "claude-code", "--json"]);
    allow(0o700);
    if is_refused {
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("-shop was not read: "), "{run:?}");
    }
}

/// @import_not_the_users
#[test]
fn prompts_that_claude_code_wrote_are_not_the_users() {
    let desk = desk();
    let own = desk.prompt("p-1", "where is the zebra?");
    let host = |id: &str, member: &str, value: serde_json::Value| {
        let message = json!({ "role": "user", "content": "The ibex task ended" });
        desk.line("user", id, &json!({ "promptId": id, "message": message, member: value }))
    };
    let text = [
        own,
        host("p-2", "origin", json!({ "kind": "task-notification" })),
        host("p-3", "promptSource", json!("system")),
        desk.says("It is in the barn."),
    ];
    desk.write("s-import.jsonl", &text.concat());
    let counts = &desk.import(&[])["counts"];
    assert_eq!((&counts["prompts"], &counts["answers"]), (&json!(1), &json!(1)), "{counts}");
    assert!(desk.finds("ibex").is_empty());
}

/// @import_grows
#[test]
fn a_whole_last_line_without_a_line_break_is_read_once_the_file_is_quiet() {
    let desk = desk();
    let session = desk.session();
    let file = desk.write("s-import.jsonl", session.trim_end());
    assert_eq!(desk.added(&[]), 3, "the answer may not be whole yet");
    let written = std::fs::File::options().write(true).open(&file).unwrap();
    let hour_ago = written.metadata().unwrap().modified().unwrap() - Duration::from_secs(3_600);
    written.set_modified(hour_ago).unwrap();
    assert_eq!(desk.added(&[]), 1);
    std::fs::write(&file, session).unwrap();
    assert_eq!(desk.added(&[]), 0);
}

/// @import_records
#[test]
fn an_answer_counts_although_a_call_of_its_turn_has_no_result() {
    let desk = desk();
    let text = [
        desk.prompt("p-1", "where is the zebra?"),
        desk.call("toolu_1", "Bash", json!({ "command": "sleep 9" })),
        desk.says("It is in the barn."),
        desk.prompt("p-2", "and the gnu?"),
    ];
    desk.write("s-import.jsonl", &text.concat());
    assert_eq!(desk.import(&[])["counts"]["answers"], 1);
    assert!(!desk.finds("barn").is_empty());
}
