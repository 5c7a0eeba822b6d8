//! A repository that git would refuse has no facts, and no file makes the reader wait, loop or panic.

use std::path::Path;

use super::{Folder, link};
use crate::{FILE_BYTES_MAX, Head};

#[test]
fn a_dot_git_file_that_leads_nowhere_ends_the_search_as_it_does_for_git() {
    let folder = Folder::with_repository();
    for text in ["gitdir: ../nowhere\n", "gitdir: \n", "gitdir: .\n", "what\n", "", "gitdir: \0"] {
        folder.write("repo/part/.git", text);
        assert_eq!(folder.look("repo/part"), None, "{text:?}");
        assert!(folder.try_git("repo/part", &["rev-parse", "--git-dir"]).is_err(), "{text:?}");
    }
    folder.write("repo/part/.git", b"gitdir: \xff\xfe");
    assert_eq!(folder.look("repo/part"), None);
}

#[test]
fn an_invalid_dot_git_directory_is_skipped_as_git_does() {
    let folder = Folder::with_repository();
    std::fs::create_dir_all(folder.join("repo/part/.git")).unwrap();
    assert_eq!(folder.look("repo/part"), Some(folder.agreed("repo")));
    for head in [&b"nonsense"[..], b"", b"\xff\x00\x01", b"ref: elsewhere", b"ref:", b"1234"] {
        folder.write("repo/part/.git/HEAD", head);
        assert_eq!(folder.look("repo/part").unwrap().root, folder.join("repo"), "{head:?}");
    }
}

#[test]
fn a_head_that_names_no_possible_branch_is_unknown() {
    let folder = Folder::with_repository();
    let long = format!("ref: refs/heads/{}", "a".repeat(5000));
    let heads = ["ref: refs/heads/", "ref: refs/heads/a\nb", "ref: refs/tags/v1", &long];
    for head in heads {
        folder.write("repo/.git/HEAD", head);
        assert_eq!(folder.facts("repo").branch, Head::Unknown, "{head:?}");
    }
    folder.write("repo/.git/HEAD", b"ref: refs/heads/\xff");
    assert_eq!(folder.facts("repo").branch, Head::Unknown);
    folder.write("repo/.git/HEAD", "ref:\t refs/heads/spaced \r\n");
    assert_eq!(folder.facts("repo").branch, Head::Branch("spaced".to_owned()));
}

#[test]
fn files_that_are_too_long_are_not_read() {
    let folder = Folder::with_repository();
    let max = usize::try_from(FILE_BYTES_MAX).unwrap();
    let config = "[remote \"origin\"]\nurl = https://h.org/a/b\n";
    let padded = |bytes: usize| format!("{config}{}", "#".repeat(bytes - config.len()));
    folder.write("repo/.git/config", padded(max));
    assert_eq!(folder.facts("repo").repo(), "https://h.org/a/b");
    folder.write("repo/.git/config", padded(max + 1));
    assert_eq!(folder.facts("repo").remote, None);
    folder.write("repo/.git/HEAD", vec![b'a'; max + 1]);
    assert_eq!(folder.look("repo"), None);
}

#[test]
fn garbage_in_a_config_leaves_the_other_facts() {
    let folder = Folder::with_repository();
    let mut noise: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    for start in
        [&b""[..], b"[remote \"origin\"]\nurl = \"open", b"[remote \"or", b"[", b"\\", b"a\x00"]
    {
        let mut bytes = start.to_vec();
        bytes.append(&mut noise.clone());
        folder.write("repo/.git/config", &bytes);
        assert_eq!(
            folder.facts("repo").repo(),
            format!("file://{}", folder.join("repo").display())
        );
        noise.rotate_left(13);
    }
}

#[test]
fn a_pipe_or_directory_in_place_of_a_file_does_not_block() {
    let folder = Folder::with_repository();
    std::fs::remove_file(folder.join("repo/.git/config")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("repo/.git/config")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo can be run");
    assert_eq!(folder.facts("repo").remote, None);
    std::fs::remove_file(folder.join("repo/.git/HEAD")).unwrap();
    std::fs::create_dir(folder.join("repo/.git/HEAD")).unwrap();
    assert_eq!(folder.look("repo"), None);
}

#[test]
fn links_in_a_circle_and_folders_that_are_gone_have_no_facts() {
    let folder = Folder::with_repository();
    link(Path::new("b"), &folder.join("a"));
    link(Path::new("a"), &folder.join("b"));
    assert_eq!(folder.look("a"), None);
    assert_eq!(folder.look("gone"), None);
    std::fs::create_dir(folder.join("repo/part")).unwrap();
    link(Path::new(".git"), &folder.join("repo/part/.git"));
    assert_eq!(folder.look("repo/part"), None);
}

#[test]
fn a_work_tree_whose_repository_is_gone_has_no_facts() {
    let folder = Folder::with_repository();
    folder.git("repo", &["worktree", "add", "-q", "-b", "dev", "../other"]);
    std::fs::rename(folder.join("repo"), folder.join("away")).unwrap();
    assert_eq!(folder.look("other"), None);
    assert!(folder.try_git("other", &["rev-parse", "--git-dir"]).is_err());
}
