//! A directory cannot claim a repository that does not name it.

use std::path::Path;

use super::{Folder, link};
use crate::{Facts, Head};

/// A repository with a remote and a working tree, and a directory beside it that claims to be part of it.
fn victim() -> Folder {
    let folder = Folder::with_repository();
    folder.git("repo", &["remote", "add", "origin", "https://github.com/acme/secret"]);
    folder.git("repo", &["worktree", "add", "-q", "-b", "dev", "../tree"]);
    std::fs::create_dir_all(folder.join("hostile/src")).unwrap();
    folder
}

/// Asserts that the directory is a separate repository without the remote of the other.
fn stands_alone(folder: &Folder, within: &str) {
    let facts = folder.facts(&format!("{within}/src"));
    assert_eq!(facts, Facts::unclaimed(&folder.join(within)));
    assert_eq!((facts.remote, facts.branch), (None, Head::Unknown));
}

#[test]
fn a_git_file_cannot_claim_another_repository() {
    let folder = victim();
    for target in ["repo/.git", "repo/.git/worktrees/tree"] {
        folder.write("hostile/.git", format!("gitdir: {}\n", folder.join(target).display()));
        assert!(folder.try_git("hostile", &["rev-parse", "--git-dir"]).is_ok(), "git follows it");
        stands_alone(&folder, "hostile");
        folder.write("hostile/.git", format!("gitdir: ../{target}\n"));
        stands_alone(&folder, "hostile");
    }
    assert_eq!(folder.agreed("tree").main_root, folder.join("repo"));
}

#[test]
fn a_common_dir_cannot_claim_another_repository() {
    let folder = victim();
    let common = folder.join("repo/.git");
    folder.git("", &["init", "-q", "hostile"]);
    folder.write("hostile/.git/commondir", format!("{}\n", common.display()));
    stands_alone(&folder, "hostile");
    // An entry in its own `worktrees` that shares the other repository.
    let entry = "other/worktrees/x";
    folder.write(&format!("{entry}/HEAD"), "ref: refs/heads/main\n");
    folder.write(&format!("{entry}/commondir"), format!("{}\n", common.display()));
    folder.write(&format!("{entry}/gitdir"), format!("{}\n", folder.join("third/.git").display()));
    folder.write("third/.git", format!("gitdir: {}\n", folder.join(entry).display()));
    std::fs::create_dir_all(folder.join("third/src")).unwrap();
    stands_alone(&folder, "third");
}

#[test]
fn a_link_cannot_claim_another_repository() {
    let folder = victim();
    for target in ["repo/.git", "repo/.git/worktrees/tree", "tree/.git"] {
        let dot_git = folder.join("hostile/.git");
        let _ = std::fs::remove_file(&dot_git);
        link(&folder.join(target), &dot_git);
        stands_alone(&folder, "hostile");
    }
}

#[test]
fn a_directory_cannot_claim_the_repository_of_one_below_it() {
    let folder = Folder::new();
    folder.git("", &["init", "-q", "-b", "main", "top/below"]);
    folder.git("top/below", &["remote", "add", "origin", "https://github.com/acme/secret"]);
    folder.write("top/.git", "gitdir: below/.git\n");
    std::fs::create_dir_all(folder.join("top/src")).unwrap();
    stands_alone(&folder, "top");
}

#[test]
fn committed_files_that_look_like_a_bare_repository_belong_to_the_repository_around_them() {
    let folder = victim();
    folder.git("", &["init", "-q", "-b", "main", "clone"]);
    let config = "[core]\nbare = true\n[remote \"origin\"]\nurl = https://github.com/acme/secret\n";
    for (file, text) in [
        ("HEAD", "ref: refs/heads/main\n"),
        ("config", config),
        ("objects/x", ""),
        ("refs/x", ""),
        ("src/x", ""),
    ] {
        folder.write(&format!("clone/bait/{file}"), text);
    }
    assert!(folder.git("clone/bait", &["config", "remote.origin.url"]).contains("acme/secret"));
    for within in ["clone/bait", "clone/bait/src"] {
        assert_eq!(folder.facts(within), folder.facts("clone"), "{within}");
    }
    // A bare repository that shares the other one, or names its directory as `core.worktree`.
    let shares = folder.join("repo/.git").display().to_string();
    folder.write("clone/share/HEAD", "ref: refs/heads/main\n");
    folder.write("clone/share/commondir", format!("{shares}\n"));
    assert_eq!(folder.facts("clone/share"), folder.facts("clone"));
    std::fs::rename(folder.join("clone/bait"), folder.join("bait")).unwrap();
    std::fs::rename(folder.join("clone/share"), folder.join("share")).unwrap();
    assert_eq!(folder.look("share"), None);
    let elsewhere = format!("[core]\nworktree = {}\n", folder.join("repo").display());
    folder.write("bait/config", elsewhere);
    assert_eq!(folder.facts("bait").main_root, folder.join("bait"));
}

#[test]
fn a_submodule_counts_if_its_git_directory_names_it() {
    let folder = Folder::with_repository();
    folder.git("", &["clone", "-q", "repo", "super"]);
    folder.git("super", &["submodule", "--quiet", "add", "../repo", "part"]);
    assert_eq!(folder.agreed("super/part").main_root, folder.join("super/part"));
    // Another directory that leads to the same git directory is not the submodule.
    let inside = folder.join("super/.git/modules/part");
    folder.write("hostile/.git", format!("gitdir: {}\n", inside.display()));
    std::fs::create_dir_all(folder.join("hostile/src")).unwrap();
    stands_alone(&folder, "hostile");
    // A sparse checkout moves the entry to `config.worktree`.
    folder.git("super/part", &["sparse-checkout", "set", "src"]);
    assert!(inside.join("config.worktree").exists());
    assert_eq!(folder.agreed("super/part").main_root, folder.join("super/part"));
}

#[test]
fn a_work_tree_with_relative_paths_is_part_of_its_repository() {
    let folder = victim();
    // As git writes it from 2.48 on, with `worktree.useRelativePaths`.
    folder.write("repo/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
    folder.write("tree/.git", "gitdir: ../repo/.git/worktrees/tree\n");
    let facts = folder.facts("tree");
    assert_eq!((facts.root, facts.main_root), (folder.join("tree"), folder.join("repo")));
    assert_eq!(facts.branch, Head::Branch("dev".to_owned()));
}

#[test]
fn a_moved_work_tree_belongs_to_its_repository_after_git_repaired_it() {
    let folder = victim();
    std::fs::rename(folder.join("tree"), folder.join("moved")).unwrap();
    std::fs::create_dir_all(folder.join("moved/src")).unwrap();
    stands_alone(&folder, "moved");
    folder.git("moved", &["worktree", "repair"]);
    assert_eq!(folder.agreed("moved").main_root, folder.join("repo"));
    folder.git("repo", &["worktree", "move", "../moved", "../again"]);
    assert_eq!(folder.agreed("again").main_root, folder.join("repo"));
}

#[test]
fn a_separate_git_dir_without_a_worktree_entry_gives_no_remote() {
    let folder = Folder::new();
    folder.git("", &["init", "-q", "-b", "main", "--separate-git-dir", "inside", "repo"]);
    folder.git("repo", &["remote", "add", "origin", "https://github.com/acme/secret"]);
    std::fs::create_dir_all(folder.join("repo/src")).unwrap();
    stands_alone(&folder, "repo");
    // With `core.worktree` it names its directory.
    folder.git("repo", &["config", "core.worktree", folder.join("repo").to_str().unwrap()]);
    assert_eq!(folder.agreed("repo").repo(), "https://github.com/acme/secret");
}

#[test]
fn an_invalid_or_dangling_entry_claims_nothing() {
    let folder = victim();
    let entry = "repo/.git/worktrees/tree/gitdir";
    for text in ["", "\n", "/nowhere/.git\n", "..\n", "/\n"] {
        folder.write(entry, text);
        assert_eq!(folder.facts("tree"), Facts::unclaimed(&folder.join("tree")), "{text:?}");
    }
    std::fs::remove_file(folder.join(entry)).unwrap();
    assert_eq!(folder.facts("tree"), Facts::unclaimed(&folder.join("tree")));
    link(Path::new("gitdir"), &folder.join(entry));
    assert_eq!(folder.look("tree"), None);
}
