//! The paths of tracked files, compared with `git ls-files` for every format of the index.

use std::fs;

use super::Folder;
use crate::Facts;

fn tracked(folder: &Folder) -> Option<Vec<String>> {
    Facts::at(&folder.join("repo")).unwrap().tracked_files()
}

fn fill(folder: &Folder) {
    let long = format!("deep/{}/end.txt", "a-long-name/".repeat(40));
    for path in ["a.rs", "src/main.rs", "src/main.rs.bak", "src/ünï code.md", "z", &long] {
        folder.write(&format!("repo/{path}"), path);
    }
    for number in 0..300 {
        folder.write(&format!("repo/many/file-{number}.txt"), "x");
    }
    folder.git("repo", &["add", "--all"]);
    folder.write("repo/later.rs", "not tracked, only intended");
    folder.git("repo", &["add", "--intent-to-add", "later.rs"]);
}

fn listed(folder: &Folder) -> Vec<String> {
    let listed = folder.git("repo", &["ls-files", "-z"]);
    listed.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn tracked_files_are_those_that_git_lists() {
    for format in ["sha1", "sha256"] {
        for version in ["2", "3", "4"] {
            let folder = Folder::new();
            folder.git(
                "",
                &["init", "-q", "-b", "main", &format!("--object-format={format}"), "repo"],
            );
            folder.git("repo", &["config", "index.version", version]);
            fill(&folder);
            assert_eq!(tracked(&folder), Some(listed(&folder)), "{format} {version}");
            assert_eq!(listed(&folder).len(), 307);
        }
    }
}

#[test]
fn a_split_damaged_or_missing_index_lists_nothing() {
    let folder = Folder::with_repository();
    fill(&folder);
    let index = folder.join("repo/.git/index");
    let whole = fs::read(&index).unwrap();
    for length in [0, 11, 12, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(&index, &whole[..length]).unwrap();
        assert_eq!(tracked(&folder), None, "{length} bytes");
    }
    for at in [0, 7, 11] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        fs::write(&index, bytes).unwrap();
        assert_eq!(tracked(&folder), None, "byte {at}");
    }
    fs::write(&index, &whole).unwrap();
    folder.git("repo", &["update-index", "--split-index"]);
    assert_eq!(tracked(&folder), None);
    fs::remove_file(&index).unwrap();
    assert_eq!(tracked(&folder), None);
}
