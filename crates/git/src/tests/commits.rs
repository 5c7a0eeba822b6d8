//! Commits that git itself wrote, loose and packed.

use super::Folder;
use crate::Facts;

fn messages(folder: &Folder) -> Vec<String> {
    let facts = Facts::at(&folder.join("repo")).unwrap();
    let commits = facts.commits(0, 1_000).unwrap();
    commits.into_iter().map(|commit| commit.message).collect()
}

/// A repository with this many commits, whose messages are long and alike, so that a pack has deltas of them.
fn with_commits(count: usize) -> Folder {
    let folder = Folder::with_repository();
    for number in 1..=count {
        let body = "The zebra totals are rounded in the same way as before.\n".repeat(20);
        let message = format!("Round total {number}\n\n{body}");
        let date = format!("2026-11-01T10:{:02}:00 +0100", number % 60);
        folder.git_at("repo", &["commit", "-q", "--allow-empty", "-m", &message], &date);
    }
    folder
}

#[test]
fn loose_and_packed_commits_are_read_alike() {
    let folder = with_commits(30);
    let loose = messages(&folder);
    assert_eq!(loose.len(), 31);
    assert!(loose[0].starts_with("Round total 30\n\nThe zebra"), "{:?}", loose[0]);
    folder.git("repo", &["gc", "-q", "--aggressive", "--prune=now"]);
    assert_eq!(messages(&folder), loose);
    folder.git("repo", &["pack-refs", "--all"]);
    assert_eq!(messages(&folder), loose);
}

#[test]
fn commits_have_hash_author_and_time_and_a_limit() {
    let folder = with_commits(3);
    let facts = Facts::at(&folder.join("repo")).unwrap();
    let commits = facts.commits(0, 2).unwrap();
    assert_eq!(commits.len(), 2);
    let expected = folder.git("repo", &["log", "-1", "--format=%H|%an|%ct"]);
    let [hash, author, at] = expected.trim().split('|').collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!(
        (commits[0].hash.as_str(), commits[0].author.as_str(), commits[0].at.to_string().as_str()),
        (hash, author, at)
    );
    assert_eq!(commits[0].offset, 3_600);
    assert!(facts.commits(i64::MAX, 10).unwrap().is_empty());
}

#[test]
fn merges_and_forks_list_each_commit_once() {
    let folder = with_commits(2);
    folder.git("repo", &["checkout", "-q", "-b", "side"]);
    folder.git_at(
        "repo",
        &["commit", "-q", "--allow-empty", "-m", "on the side"],
        "2026-11-02T10:00:00 +0000",
    );
    folder.git("repo", &["checkout", "-q", "main"]);
    folder.git_at(
        "repo",
        &["commit", "-q", "--allow-empty", "-m", "on main"],
        "2026-11-03T10:00:00 +0000",
    );
    folder.git("repo", &["merge", "-q", "--no-ff", "side", "-m", "joined"]);
    let found = messages(&folder);
    assert_eq!(found.len(), 6, "{found:?}");
}

#[test]
fn damaged_objects_are_left_out_without_a_panic() {
    let folder = with_commits(12);
    folder.git("repo", &["gc", "-q", "--aggressive", "--prune=now"]);
    let packs = folder.join("repo/.git/objects/pack");
    let mut pack = std::fs::read_dir(&packs).unwrap().flatten().map(|entry| entry.path());
    let pack = pack.find(|path| path.extension().is_some_and(|ending| ending == "pack")).unwrap();
    let sound = std::fs::read(&pack).unwrap();
    let facts = Facts::at(&folder.join("repo")).unwrap();
    let mut mode = std::fs::metadata(&pack).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o644);
    std::fs::set_permissions(&pack, mode).unwrap();
    for at in 0..sound.len() {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x55;
        std::fs::write(&pack, &damaged).unwrap();
        let _ = facts.commits(0, 100);
    }
    std::fs::write(&pack, &sound[..sound.len() / 2]).unwrap();
    let _ = facts.commits(0, 100);
    std::fs::write(&pack, &sound).unwrap();
    assert_eq!(facts.commits(0, 100).unwrap().len(), 13);
}
