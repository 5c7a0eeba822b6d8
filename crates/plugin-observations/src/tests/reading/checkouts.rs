//! Briefings in directories behind links and in work trees.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use model::observation::ObsType;
use serde_json::json;

use super::super::Folder;
use super::super::places::{repository, worktree};
use super::sections::section;
use super::{HOUR, World};

const MINUTE: i64 = 60_000;

fn briefed(world: &World, cwd: &Path) -> String {
    let told = world.call_from(cwd.to_str(), "briefing", json!({})).unwrap();
    told["text"].as_str().unwrap().to_owned()
}

/// An edit of a file in this directory.
fn edit(world: &World, (session, cwd): (&str, &Path), ago: i64, file: &str) {
    let path = cwd.join(file);
    let at = (session, cwd.to_str().unwrap());
    world.edit(at, ago, path.to_str().unwrap(), &format!("Edit {file}: x = 1"));
}

/// @briefing_linked_directory
#[test]
fn a_linked_directory_is_briefed_like_the_one_it_leads_to() {
    let folder = Folder::new();
    let (real, link) = (folder.0.join("real/app"), folder.0.join("link/app"));
    fs::create_dir_all(&real).unwrap();
    symlink(folder.0.join("real"), folder.0.join("link")).unwrap();
    repository(&real, None);
    let texts = [&real, &link].map(|cwd| {
        let world = World::new();
        let at = ("s-1", cwd.to_str().unwrap());
        world.prompt(at, 9 * HOUR, "repair the rounding of the cart");
        world.commit(at, 8 * HOUR, "1a2b3c4", "cart: begin");
        world.run(at, 7 * HOUR, "pytest", "failed", "FAILED a.py::b - assert 1 == 2");
        edit(&world, ("s-1", cwd), 6 * HOUR, "cart.py");
        world.run(at, 5 * HOUR, "pytest", "passed", "");
        edit(&world, ("s-1", cwd), 4 * HOUR, "sum.py");
        world.run(at, 3 * HOUR, "jest", "failed", "✕ adds up");
        let text = briefed(&world, cwd);
        assert_eq!(briefed(&world, &real), text, "asked by the other path");
        text
    });
    assert_eq!(texts[0], texts[1]);
    let open = section(&texts[1], "Open");
    assert!(open.contains(&"red: `jest`: ✕ adds up".to_owned()), "{open:?}");
    let files = "edited after the last recorded commit: sum.py, cart.py";
    assert!(open.contains(&files.to_owned()), "{open:?}");
    let learned = section(&texts[1], "Learned");
    assert!(learned[0].ends_with("worked after edits of cart.py"), "{learned:?}");
}

/// @briefing_uncommitted
#[test]
fn a_commit_in_another_work_tree_leaves_the_files_of_this_one_uncommitted() {
    let folder = Folder::new();
    let (main, other) = (folder.0.join("app"), folder.0.join("other"));
    for dir in [&main, &other] {
        fs::create_dir_all(dir).unwrap();
    }
    repository(&main, None);
    worktree(&main, &other);
    let world = World::new();
    let at = |name: &'static str, cwd: &Path| (name, cwd.to_str().unwrap().to_owned());
    let (first, second) = (at("s-1", &main), at("s-2", &other));
    let (first, second) = ((first.0, first.1.as_str()), (second.0, second.1.as_str()));
    world.prompt(first, 9 * HOUR, "repair the rounding of the cart");
    world.commit(first, 9 * HOUR - MINUTE, "1a2b3c4", "cart: begin");
    edit(&world, ("s-1", &main), 8 * HOUR, "cart.py");
    world.prompt(second, 7 * HOUR, "write the docs of the header");
    edit(&world, ("s-2", &other), 6 * HOUR, "docs.md");
    let open = |cwd: &Path| section(&briefed(&world, cwd), "Open");
    let row = |file: &str| format!("edited after the last recorded commit: {file}");
    assert!(open(&other).contains(&row("docs.md")), "{:?}", open(&other));
    world.commit(second, 5 * HOUR, "5e6f7a8", "docs: header");
    assert!(open(&main).contains(&row("cart.py")), "{:?}", open(&main));
    assert!(!open(&other).iter().any(|row| row.starts_with("edited")), "{:?}", open(&other));
    // A session of the main work tree may commit in the other one.
    let line = format!("cd {} && git commit -m more", other.display());
    let metadata = json!({ "commit_hash": "9b9b9b9", "commit_message": "more" });
    world.used(first, 4 * HOUR, (ObsType::GitCommit, None), &line, metadata);
    assert!(open(&main).contains(&row("cart.py")), "{:?}", open(&main));
    world.stop(first, 4 * HOUR - MINUTE);
    let list = world.ask("session_summaries", json!({ "project": "*" }));
    let mut all = list["results"].as_array().unwrap().iter();
    let own = all.find(|one| one["session_id"] == "s-1").unwrap();
    assert_eq!(own["summary"]["next_steps"], json!(["commit: cart.py"]));
    world.commit(first, 3 * HOUR, "cccccc1", "cart: end");
    assert!(!open(&main).iter().any(|row| row.starts_with("edited")), "{:?}", open(&main));
}

/// @read_whole
#[test]
fn prompts_and_answers_are_shown_with_the_branch_and_the_work_tree_of_their_turn() {
    let folder = Folder::new();
    let (main, other) = (folder.0.join("app"), folder.0.join("other"));
    for dir in [&main, &other] {
        fs::create_dir_all(dir).unwrap();
    }
    repository(&main, None);
    worktree(&main, &other);
    let world = World::new();
    let cwd = other.to_str().unwrap();
    let (asked, said) = ("write the docs of the header", "The header has docs now.");
    world.prompt(("s-1", cwd), 9 * HOUR, asked);
    world.answer(("s-1", cwd), 8 * HOUR, said);
    for text in [asked, said] {
        let shown = world.shown("get_observations", json!({ "ids": [world.id(text)] }));
        assert!(shown.contains("\n  branch: ") && shown.contains("\n  worktree: "), "{shown}");
    }
}
