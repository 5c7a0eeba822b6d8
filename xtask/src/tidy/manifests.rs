//! Rules about Cargo.toml files: shared lints, versions in the root only, a reason per dependency.

use std::collections::BTreeSet;

use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

use crate::project::TextFile;
use crate::report::Problem;

const REASONS: &str = "docs/dependencies.md";

/// The one crate that may say `unsafe`, in a single function that says why. Its lints are the shared
/// ones but for that word, which Cargo can only express by a copy.
const UNSAFE_ALLOWED: &str = "crates/meaning/Cargo.toml";

pub(crate) fn check(files: &[TextFile], members: &Value, problems: &mut Vec<Problem>) {
    let manifests = files.iter().filter(|file| {
        file.path.ends_with("/Cargo.toml")
            && (file.path.starts_with("crates/") || file.path.starts_with("xtask/"))
    });
    let root = files.iter().find(|file| file.path == "Cargo.toml");
    for manifest in manifests {
        check_manifest(manifest, root, problems);
    }
    check_reasons(files, &external(members), problems);
}

fn check_manifest(file: &TextFile, root: Option<&TextFile>, problems: &mut Vec<Problem>) {
    let document = match file.text.parse::<DocumentMut>() {
        Ok(document) => document,
        Err(error) => {
            problems.push(Problem::new(&file.path, 1, format!("not TOML: {error}")));
            return;
        }
    };
    if file.path == UNSAFE_ALLOWED {
        if copied_lints(document.get("lints")) != root.and_then(shared_lints) {
            let what = "its lints differ from the root's in more than `unsafe_code = \"deny\"`; \
                        copy those";
            problems.push(Problem::new(&file.path, line_of(&file.text, "[lints"), what));
        }
    } else if !inherits(document.get("lints")) {
        let what = "no shared lints; add `[lints]` with `workspace = true`";
        problems.push(Problem::new(&file.path, 1, what));
    }
    if !inherits(document.get("package").and_then(|package| package.get("version"))) {
        let what = "a version of its own; write `version.workspace = true`";
        problems.push(Problem::new(&file.path, line_of(&file.text, "version"), what));
    }
    for (name, item) in dependencies(document.as_table()) {
        if !inherits(Some(item)) {
            let what = format!(
                "`{name}` has its version here; put it under [workspace.dependencies] in the root \
                 and write `{name}.workspace = true`"
            );
            problems.push(Problem::new(&file.path, line_of(&file.text, name), what));
        }
    }
}

/// The root's lints as the one crate with `unsafe` has to have them.
fn shared_lints(root: &TextFile) -> Option<BTreeSet<String>> {
    let document = root.text.parse::<DocumentMut>().ok()?;
    let mut lints = copied_lints(document.get("workspace")?.get("lints"))?;
    lints.remove("rust unsafe_code forbid");
    lints.insert("rust unsafe_code deny".to_owned());
    Some(lints)
}

/// Each lint of a table of lints as tool, name and level.
fn copied_lints(lints: Option<&Item>) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for (tool, levels) in lints?.as_table_like()?.iter() {
        for (name, level) in levels.as_table_like()?.iter() {
            found.insert(format!("{tool} {name} {}", level.as_str()?));
        }
    }
    Some(found)
}

/// Every dependency of a manifest, for all kinds and targets.
fn dependencies(table: &dyn TableLike) -> Vec<(&str, &Item)> {
    let mut found = Vec::new();
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        if let Some(entries) = table.get(kind).and_then(Item::as_table_like) {
            found.extend(entries.iter());
        }
    }
    if let Some(targets) = table.get("target").and_then(Item::as_table_like) {
        for (_, target) in targets.iter() {
            found.extend(target.as_table_like().map(dependencies).unwrap_or_default());
        }
    }
    found
}

fn inherits(item: Option<&Item>) -> bool {
    item.and_then(|item| item.get("workspace")).and_then(Item::as_bool) == Some(true)
}

fn line_of(text: &str, key: &str) -> usize {
    text.lines().position(|line| line.trim_start().starts_with(key)).map_or(1, |index| index + 1)
}

/// The names of all crates from outside that a member names.
fn external(members: &Value) -> BTreeSet<String> {
    let packages = members["packages"].as_array().into_iter().flatten();
    packages
        .flat_map(|package| package["dependencies"].as_array().into_iter().flatten())
        .filter(|dependency| !dependency["path"].is_string())
        .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
        .collect()
}

/// Each dependency has its row in the list of reasons, and each row its dependency.
fn check_reasons(files: &[TextFile], used: &BTreeSet<String>, problems: &mut Vec<Problem>) {
    let text = files.iter().find(|file| file.path == REASONS).map_or("", |file| file.text.as_str());
    let rows: Vec<(usize, &str)> = text.lines().enumerate().filter_map(reason_row).collect();
    for name in used {
        if !rows.iter().any(|(_, row)| row == name) {
            let what = format!("no row for `{name}`; say what it does for the user, or do without");
            problems.push(Problem::new(REASONS, 1, what));
        }
    }
    for (line, row) in rows {
        if !used.contains(row) {
            let what = format!("no crate depends on `{row}` any more; remove the row");
            problems.push(Problem::new(REASONS, line, what));
        }
    }
}

/// The crate's name from a row of the table that begins with it in backquotes.
fn reason_row((index, line): (usize, &str)) -> Option<(usize, &str)> {
    let (name, _) = line.strip_prefix("| `")?.split_once('`')?;
    Some((index + 1, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const GOOD: &str =
        "[package]\nname = \"a\"\nversion.workspace = true\n[lints]\nworkspace = true\n";

    fn found(manifest: &str) -> Vec<(usize, String)> {
        let mut problems = Vec::new();
        check_manifest(
            &TextFile { path: "crates/a/Cargo.toml".into(), text: manifest.into() },
            None,
            &mut problems,
        );
        problems.into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    #[test]
    fn a_manifest_that_inherits_everything_is_fine() {
        let text =
            format!("{GOOD}[dependencies]\nserde.workspace = true\nx = {{ workspace = true }}\n");
        assert_eq!(found(&text), []);
    }

    #[test]
    fn a_manifest_without_the_shared_lints_is_reported() {
        let found = found("[package]\nname = \"a\"\nversion.workspace = true\n");
        assert!(found[0].1.contains("no shared lints"), "{found:?}");
    }

    #[test]
    fn the_crate_with_unsafe_has_the_shared_lints_but_for_that_word() {
        let root = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\nx = \"warn\"\n";
        let root = TextFile { path: "Cargo.toml".into(), text: root.into() };
        let found = |lints: &str| {
            let text = format!("[package]\nversion.workspace = true\n[lints.rust]\n{lints}\n");
            let mut problems = Vec::new();
            let file = TextFile { path: UNSAFE_ALLOWED.into(), text };
            check_manifest(&file, Some(&root), &mut problems);
            problems.len()
        };
        assert_eq!(found("x = \"warn\"\nunsafe_code = \"deny\""), 0);
        assert_eq!(found("x = \"warn\"\nunsafe_code = \"warn\""), 1);
        assert_eq!(found("x = \"allow\"\nunsafe_code = \"deny\""), 1);
        assert_eq!(found("unsafe_code = \"deny\""), 1);
    }

    #[test]
    fn a_version_outside_of_the_root_is_reported_at_its_line() {
        let text = format!("{GOOD}[dependencies]\nserde = \"1\"\n");
        let found_here = found(&text);
        assert_eq!(found_here.len(), 1);
        assert_eq!(found_here[0].0, 7);
        let text =
            format!("{GOOD}[target.'cfg(unix)'.dev-dependencies]\nserde = {{ version = \"1\" }}\n");
        assert_eq!(found(&text).len(), 1);
        assert!(
            found("[package]\nversion = \"1.0.0\"\n[lints]\nworkspace = true\n")[0]
                .1
                .contains("own")
        );
    }

    #[test]
    fn a_file_that_is_not_toml_is_reported() {
        assert!(found("[package")[0].1.contains("not TOML"));
    }

    #[test]
    fn a_dependency_without_a_row_and_a_row_without_a_dependency_are_reported() {
        let members = json!({ "packages": [{ "dependencies": [
            { "name": "serde" }, { "name": "tokio" }, { "name": "model", "path": "/r/model" },
        ]}]});
        let text = "| crate | why |\n| --- | --- |\n| `serde` | JSON |\n| `gone` | was used |\n";
        let files = [TextFile { path: REASONS.into(), text: text.into() }];
        let mut problems = Vec::new();
        check_reasons(&files, &external(&members), &mut problems);
        let found: Vec<_> = problems.iter().map(|problem| (problem.line, &problem.what)).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].1.contains("no row for `tokio`"));
        assert!(found[1].0 == 4 && found[1].1.contains("`gone`"));
    }
}
