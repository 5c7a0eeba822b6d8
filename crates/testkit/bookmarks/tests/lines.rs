//! How much of the project knows the sample plugin.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// The lines outside of the plugin's own files. The first one in the store's manifest needs the heading
/// `[features]` above it, which is the sixth.
const ELSEWHERE: [(&str, &str); 5] = [
    ("ARCHITECTURE.md", "plugin-bookmarks     all but app, bench"),
    ("Cargo.toml", r#"members = ["crates/*", "crates/testkit/bookmarks", "xtask"]"#),
    ("crates/store/Cargo.toml", "bookmarks = []"),
    ("crates/store/src/lib.rs", "pub mod bookmarks;"),
    ("crates/store/src/tests/mod.rs", "mod bookmarks;"),
];

/// Pages that describe it, and what is generated.
const NOT_COUNTED: [&str; 4] = ["CHANGELOG.md", "CONTRIBUTING.md", "Cargo.lock", "target"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        // Files and folders of its own have its name.
        if name.starts_with('.') || name.contains("bookmarks") || NOT_COUNTED.contains(&&*name) {
            continue;
        }
        match entry.file_type().unwrap().is_dir() {
            true => files(&entry.path(), found),
            false => found.push(entry.path()),
        }
    }
}

#[test]
fn a_plugin_with_all_parts_changes_at_most_six_lines_outside_of_its_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap();
    let mut all = Vec::new();
    files(&root, &mut all);
    let mut lines: Vec<(String, String)> = Vec::new();
    for file in all {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let named = text.lines().filter(|line| line.to_lowercase().contains("bookmarks"));
        lines.extend(named.map(|line| (name.clone(), line.to_owned())));
    }
    lines.sort();
    let known = ELSEWHERE.map(|(file, line)| (file.to_owned(), line.to_owned()));
    assert_eq!(lines, known);
    let heading = 1;
    assert!(known.len() + heading <= 6);
}

#[test]
fn the_shipped_program_does_not_depend_on_it() {
    let manifests = ["app", "program"].map(|name| format!("../../{name}/Cargo.toml"));
    for manifest in manifests {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&manifest);
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains("bookmarks"), "{manifest}");
    }
}
