//! `uninstall` with a damaged record or a changed repository: it undoes as much as possible and names the rest.

use serde_json::{Value, json};

use super::install::{furnish, home, install, read, tree};
use super::install_faults::{in_repository, repository};

/// @connect_bad_entry
#[test]
fn a_bad_value_in_the_record_is_named_and_the_rest_is_undone() {
    let entry = json!({ "path": 4711, "target": "/x", "agent": "codex", "scope": "user" });
    let relative =
        json!({ "path": "a", "target": "a", "agent": "codex", "scope": "user", "folders": [] });
    let bad = [
        ("files", entry, "files[4] cannot be used: invalid type: integer `4711`"),
        ("files", json!("oops"), "files[4] cannot be used: invalid type"),
        ("files", relative, "files[4] (about a) cannot be used: the path is not absolute"),
        ("older", json!(4711), "older[0] cannot be used: invalid type"),
        ("folders", json!({}), "cannot be used: invalid type"),
    ];
    for (member, value, what) in bad {
        let home = home();
        furnish(&home);
        let before = tree(&home);
        install(&home, &["claude-code", "codex"]).ok();
        let whole = read(&home, "data/installed.json");
        let mut record: Value = serde_json::from_str(&whole).unwrap();
        assert_eq!(record["files"].as_array().unwrap().len(), 4);
        record[member].as_array_mut().unwrap().push(value.clone());
        home.write("data/installed.json", &record.to_string());
        // An installation could take our entries for the user's, so it is refused until the repair.
        let run = install(&home, &["cursor"]);
        assert!(run.code == 1 && run.stderr.contains(what), "{run:?}");
        let run = home.run(&["uninstall", "--dry-run"]);
        assert!(run.code == 1 && run.stderr.contains(what), "{run:?}");
        let run = home.run(&["uninstall"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains(what) && run.stderr.contains("hint:"), "{run:?}");
        for name in [".claude/settings.json", ".claude.json", ".codex/config.toml"] {
            let path = home.path(name);
            assert_eq!(tree(&home).get(&path), before.get(&path), "{what}: {name}");
        }
        // The bad value stays until the user has fixed it.
        let mut left: Value = serde_json::from_str(&read(&home, "data/installed.json")).unwrap();
        let kept = left[member].as_array_mut().unwrap().pop();
        assert_eq!(kept, Some(value));
        home.write("data/installed.json", &left.to_string());
        home.run(&["uninstall"]).ok();
        assert_eq!(tree(&home), before, "{what}");
    }
}

/// @connect_bad_entry
#[test]
fn one_file_that_cannot_be_written_does_not_block_the_others() {
    for (agent, blocked) in [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/config.toml"),
        ("gemini-cli", ".gemini/settings.json"),
    ] {
        let home = home();
        furnish(&home);
        let before = tree(&home);
        install(&home, &["claude-code", "codex", "gemini-cli"]).ok();
        let connected = read(&home, blocked);
        // A file is replaced through a file beside it; a directory with that name prevents it.
        let (dir, name) = blocked.rsplit_once('/').unwrap();
        let obstacle = format!("{dir}/.{name}.rekindle-new");
        home.write(&format!("{obstacle}/kept"), "");
        let run = home.run(&["uninstall"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains(home.path(blocked).to_str().unwrap()), "{run:?}");
        assert_eq!(read(&home, blocked), connected);
        for name in [
            ".claude/settings.json",
            ".claude.json",
            ".codex/config.toml",
            ".codex/hooks.json",
            ".gemini/settings.json",
        ] {
            let path = home.path(name);
            if name != blocked {
                assert_eq!(tree(&home).get(&path), before.get(&path), "{blocked}: {name}");
            }
        }
        let told = home.run(&["uninstall", "--json"]);
        assert_eq!((told.code, &told.json()["failed"][0]["data"]["agent"]), (1, &json!(agent)));
        std::fs::remove_dir_all(home.path(&obstacle)).unwrap();
        home.run(&["uninstall"]).ok();
        assert_eq!(tree(&home), before, "{blocked}");
    }
}

/// @connect_project_links
#[test]
fn uninstall_does_not_follow_a_directory_link_out_of_the_repository() {
    let home = home();
    repository(&home);
    home.write("repo/.gemini/settings.json", "{}\n");
    let install = ["install", "--scope", "project", "claude-code", "gemini-cli"];
    in_repository(&home, &install).ok();
    // A later commit replaces the directory by a link. The private file equals the one that we wrote.
    let ours = read(&home, "repo/.claude/settings.json");
    std::fs::rename(home.path("repo/.claude"), home.path("private")).unwrap();
    home.write("private/.settings.json.rekindle-old", "kept");
    std::os::unix::fs::symlink("../private", home.path("repo/.claude")).unwrap();
    let run = home.run(&["uninstall"]);
    assert_eq!(run.code, 1, "{run:?}");
    let named = home.path("repo/.claude/settings.json");
    assert!(run.stderr.contains(named.to_str().unwrap()), "{run:?}");
    assert!(run.stderr.contains("leads out of the working tree"), "{run:?}");
    assert_eq!(read(&home, "private/settings.json"), ours);
    assert_eq!(read(&home, "private/.settings.json.rekindle-old"), "kept");
    assert_eq!(read(&home, "repo/.gemini/settings.json"), "{}\n", "the rest is undone");
    assert!(!home.path("repo/.mcp.json").exists(), "the rest is undone");
    std::fs::remove_file(home.path("repo/.claude")).unwrap();
    home.run(&["uninstall"]).ok();
    assert!(!home.path("data/installed.json").exists());
}
