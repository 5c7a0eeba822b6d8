//! Repositories that git creates are read as git reads them.

use std::path::Path;

use super::{Folder, link};
use crate::{Head, LEVELS_MAX};

fn branch(name: &str) -> Head {
    Head::Branch(name.to_owned())
}

#[test]
fn a_repository_is_found_from_any_folder_in_it() {
    let folder = Folder::with_repository();
    folder.git("repo", &["remote", "add", "origin", "git@github.com:Org/repo.git"]);
    folder.write("repo/a/b/file", "");
    let facts = folder.agreed("repo/a/b");
    assert_eq!(facts, folder.agreed("repo"));
    assert_eq!((&facts.root, &facts.main_root), (&folder.join("repo"), &folder.join("repo")));
    assert_eq!(
        (facts.branch.clone(), facts.repo().as_str()),
        (branch("main"), "https://github.com/Org/repo")
    );
    assert_eq!(folder.look(""), None);
}

#[test]
fn a_branch_without_commits_has_its_name() {
    let folder = Folder::new();
    folder.git("", &["init", "-q", "-b", "feature/not-born", "repo"]);
    assert_eq!(folder.agreed("repo").branch, branch("feature/not-born"));
}

#[test]
fn a_detached_head_is_a_hash_and_no_branch() {
    let folder = Folder::with_repository();
    folder.git("repo", &["checkout", "-q", "--detach"]);
    let facts = folder.agreed("repo");
    assert_eq!(facts.branch, Head::Detached(folder.git("repo", &["rev-parse", "main"])));
    assert_eq!(facts.branch.branch(), None);
}

#[test]
fn packed_refs_and_odd_names_of_branches_do_not_matter() {
    let folder = Folder::with_repository();
    folder.git("repo", &["checkout", "-q", "-b", "hotfix/ünï#1"]);
    folder.git("repo", &["pack-refs", "--all"]);
    folder.git("repo", &["gc", "-q"]);
    assert_eq!(folder.agreed("repo").branch, branch("hotfix/ünï#1"));
}

#[test]
fn work_trees_have_a_branch_each_and_lead_to_one_repository() {
    let folder = Folder::with_repository();
    folder.git("repo", &["worktree", "add", "-q", "-b", "dev", "../other"]);
    folder.write("other/src/file", "");
    let facts = folder.agreed("other/src");
    assert_eq!((&facts.root, &facts.main_root), (&folder.join("other"), &folder.join("repo")));
    assert_eq!(facts.branch, branch("dev"));
    assert_eq!(facts.common_dir, folder.join("repo/.git"));
    assert_eq!(facts.repo(), folder.facts("repo").repo());
    folder.git("other", &["checkout", "-q", "--detach"]);
    assert!(matches!(folder.agreed("other").branch, Head::Detached(_)));
    assert_eq!(folder.agreed("repo").branch, branch("main"));
}

#[test]
fn a_submodule_is_a_repository_of_its_own_and_so_are_its_work_trees() {
    let folder = Folder::with_repository();
    folder.git("", &["clone", "-q", "repo", "super"]);
    folder.git("super", &["submodule", "--quiet", "add", "../repo", "part"]);
    let part = folder.agreed("super/part");
    assert_eq!((&part.root, &part.main_root), (&folder.join("super/part"), &part.root));
    assert_eq!(folder.agreed("super").main_root, folder.join("super"));
    folder.git("super/part", &["worktree", "add", "-q", "-b", "dev", "../../part-dev"]);
    let tree = folder.agreed("part-dev");
    assert_eq!((tree.root, tree.main_root), (folder.join("part-dev"), part.root));
}

#[test]
fn a_bare_repository_is_its_own_root_even_for_its_working_trees() {
    let folder = Folder::with_repository();
    folder.git("", &["clone", "-q", "--bare", "repo", "bare.git"]);
    for within in ["bare.git", "bare.git/refs"] {
        let facts = folder.facts(within);
        assert_eq!((&facts.root, &facts.main_root), (&folder.join("bare.git"), &facts.git_dir));
        assert_eq!(facts.branch, branch("main"));
    }
    folder.git("bare.git", &["worktree", "add", "-q", "-b", "dev", "../tree"]);
    assert_eq!(folder.agreed("tree").main_root, folder.join("bare.git"));
}

#[test]
fn inside_of_dot_git_the_repository_is_the_one_around_it() {
    let folder = Folder::with_repository();
    folder.git("repo", &["worktree", "add", "-q", "-b", "dev", "../other"]);
    assert_eq!(folder.facts("repo/.git/hooks"), folder.facts("repo"));
    let inside = folder.facts("repo/.git/worktrees/other");
    assert_eq!((inside.main_root, inside.branch), (folder.join("repo"), branch("dev")));
}

#[test]
fn a_git_dir_elsewhere_in_the_directory_is_followed() {
    let folder = Folder::with_repository();
    folder.git("", &["clone", "-q", "--bare", "repo", "tree/.bare"]);
    folder.write("tree/.git", "gitdir: ./.bare\n");
    let facts = folder.facts("tree");
    assert_eq!((&facts.root, &facts.main_root), (&folder.join("tree"), &folder.join("tree")));
    assert_eq!((facts.branch, facts.git_dir), (branch("main"), folder.join("tree/.bare")));
    assert_eq!(facts.remote.as_deref(), folder.join("repo").to_str());
}

#[test]
fn a_head_that_is_kept_in_a_reftable_is_unknown_and_not_wrong() {
    let folder = Folder::new();
    folder.git("", &["init", "-q", "-b", "main", "--ref-format=reftable", "repo"]);
    let facts = folder.facts("repo");
    assert_eq!((facts.branch, facts.root), (Head::Unknown, folder.join("repo")));
}

#[test]
fn a_head_that_is_a_link_is_the_branch_it_leads_to() {
    let folder = Folder::with_repository();
    std::fs::remove_file(folder.join("repo/.git/HEAD")).unwrap();
    link(Path::new("refs/heads/main"), &folder.join("repo/.git/HEAD"));
    assert_eq!(folder.agreed("repo").branch, branch("main"));
}

#[test]
fn links_on_the_way_are_followed() {
    let folder = Folder::with_repository();
    folder.write("repo/deep/file", "");
    link(&folder.join("repo/deep"), &folder.join("short"));
    assert_eq!(folder.facts("short"), folder.agreed("repo"));
    folder.git("", &["init", "-q", "-b", "linked", "third"]);
    std::fs::rename(folder.join("third/.git"), folder.join("third/moved")).unwrap();
    link(Path::new("moved"), &folder.join("third/.git"));
    let facts = folder.facts("third");
    assert_eq!((facts.root, facts.git_dir), (folder.join("third"), folder.join("third/moved")));
}

#[test]
fn the_search_ends_at_the_depth_limit() {
    let folder = Folder::with_repository();
    let deep = |levels: usize| format!("repo{}", "/d".repeat(levels));
    std::fs::create_dir_all(folder.join(&deep(LEVELS_MAX))).unwrap();
    assert!(folder.look(&deep(LEVELS_MAX - 1)).is_some());
    assert_eq!(folder.look(&deep(LEVELS_MAX)), None);
}

#[test]
fn the_nearest_repository_counts() {
    let folder = Folder::with_repository();
    folder.git("repo", &["init", "-q", "-b", "inner", "nested"]);
    assert_eq!(folder.agreed("repo/nested").branch, branch("inner"));
}
