//! The spec is anchored: every claim of docs/spec is proved by a test that names it.
//!
//! A claim is a heading that ends with `{#snake_case}`. A proof is `@snake_case` in a comment
//! directly above a test or inside of it, in Rust, or directly above a test of the page (`xtask/page`).

use std::collections::BTreeMap;

use anyhow::Result;

use crate::project::{Project, TextFile};
use crate::report::{Problem, conclude};
use crate::rust_source::item_end;

pub(crate) fn run(project: &Project) -> Result<()> {
    let files = project.text_files()?;
    let (claims, proofs, problems) = check(&files);
    conclude("spec", problems)?;
    println!("spec: {claims} claims, {proofs} proofs");
    Ok(())
}

/// A name and its position.
struct NamePosition<'a> {
    name: &'a str,
    path: &'a str,
    line: usize,
}

/// The number of claims, the number of proofs, and the problems.
fn check(files: &[TextFile]) -> (usize, usize, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut claims: BTreeMap<&str, NamePosition<'_>> = BTreeMap::new();
    let mut proofs = Vec::new();
    for file in files {
        if file.path.starts_with("docs/spec/") && file.path.ends_with(".md") {
            for mark in anchors(file, &mut problems) {
                if let Some(first) = claims.get(mark.name) {
                    let what = format!(
                        "the anchor `{}` is also at {}:{}; rename one",
                        mark.name, first.path, first.line
                    );
                    problems.push(Problem::new(mark.path, mark.line, what));
                } else {
                    claims.insert(mark.name, mark);
                }
            }
        } else if (file.path.starts_with("crates/") && file.path.ends_with(".rs"))
            || file.path.ends_with(".test.mjs")
        {
            proofs.extend(references(file, &mut problems));
        }
    }
    for proof in proofs.iter().filter(|proof| !claims.contains_key(proof.name)) {
        let what =
            format!("`@{}` is no anchor of docs/spec; correct it or write the claim", proof.name);
        problems.push(Problem::new(proof.path, proof.line, what));
    }
    for claim in claims.values() {
        if !proofs.iter().any(|proof| proof.name == claim.name) {
            let what = format!(
                "no test proves `{0}`; put `@{0}` above one that does, or write it",
                claim.name
            );
            problems.push(Problem::new(claim.path, claim.line, what));
        }
    }
    (claims.len(), proofs.len(), problems)
}

/// The anchors of a page's headings.
fn anchors<'a>(file: &'a TextFile, problems: &mut Vec<Problem>) -> Vec<NamePosition<'a>> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, text) in file.text.lines().enumerate() {
        fenced ^= text.starts_with("```");
        if fenced || !text.starts_with('#') {
            continue;
        }
        let Some((_, rest)) = text.split_once("{#") else { continue };
        let line = index + 1;
        match rest.strip_suffix('}').filter(|name| is_name(name)) {
            Some(name) => found.push(NamePosition { name, path: &file.path, line }),
            None => {
                let what =
                    "the anchor is not `{#snake_case}` at the end of the heading; correct it";
                problems.push(Problem::new(&file.path, line, what));
            }
        }
    }
    found
}

/// The references in a file's comments; one that is not at a test is a problem.
fn references<'a>(file: &'a TextFile, problems: &mut Vec<Problem>) -> Vec<NamePosition<'a>> {
    let raw: Vec<&str> = file.text.lines().collect();
    let tests = test_lines(&raw);
    let mut found = Vec::new();
    for (index, text) in raw.iter().enumerate() {
        let Some((_, comment)) = text.split_once("//") else { continue };
        if !text.trim_start().starts_with("//") {
            continue;
        }
        for name in names_in(comment) {
            if tests[index] {
                found.push(NamePosition { name, path: &file.path, line: index + 1 });
            } else {
                let what =
                    format!("`@{name}` stands at no test; move it directly above the one it means");
                problems.push(Problem::new(&file.path, index + 1, what));
            }
        }
    }
    found
}

/// Which lines belong to a test: the comments and attributes above it, and its body.
fn test_lines(raw: &[&str]) -> Vec<bool> {
    let mut marked = vec![false; raw.len()];
    for index in 0..raw.len() {
        let text = raw[index].trim_start();
        // A test of the page in a browser.
        if text.starts_with("test(") {
            let comment = |line: &&&str| line.trim_start().starts_with("//");
            let above = raw[..index].iter().rev().take_while(comment);
            marked[index - above.count()..index].fill(true);
        }
        if !(text.starts_with("#[test]") || text.starts_with("#[tokio::test")) {
            continue;
        }
        let above = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("//") || line.starts_with("#[")
        };
        let start = index - raw[..index].iter().rev().take_while(|line| above(line)).count();
        marked[start..=item_end(raw, index)].fill(true);
    }
    marked
}

/// The words after an `@` that are names; an address such as `a@b` and a package are not.
fn names_in(comment: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in comment.match_indices('@') {
        let before = comment[..at].chars().next_back();
        let rest = &comment[at + 1..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let after = rest[end..].chars().next();
        let opens = before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ',' | '`'));
        let closes = after
            .is_none_or(|c| c.is_whitespace() || matches!(c, ')' | ',' | '.' | ';' | ':' | '`'));
        if opens && closes && is_name(&rest[..end]) {
            found.push(&rest[..end]);
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(spec: &str, code: &str) -> (usize, usize, Vec<String>) {
        let files = [
            TextFile { path: "docs/spec/store.md".into(), text: spec.into() },
            TextFile { path: "crates/x/tests/a.rs".into(), text: code.into() },
        ];
        let (claims, proofs, problems) = check(&files);
        (
            claims,
            proofs,
            problems.iter().map(|p| format!("{}:{}: {}", p.path, p.line, p.what)).collect(),
        )
    }

    #[test]
    fn a_claim_with_a_test_is_counted() {
        let spec =
            "# Store\n\n## Replies come after COMMIT {#reply_after_commit}\n```\n# {#no}\n```\n";
        let above = "//! Tests.\n\n/// @reply_after_commit\n#[test]\nfn a() {\n}\n";
        let inside = "#[test]\nfn a() {\n    // @reply_after_commit: here.\n}\n";
        assert_eq!(checked(spec, above), (1, 1, vec![]));
        assert_eq!(checked(spec, inside), (1, 1, vec![]));
    }

    #[test]
    fn an_anchor_without_a_test_is_reported() {
        let (_, _, problems) = checked("## A {#a}\n", "");
        assert!(
            problems[0].starts_with("docs/spec/store.md:1: no test proves `a`"),
            "{problems:?}"
        );
    }

    #[test]
    fn a_reference_without_an_anchor_is_reported() {
        let (_, _, problems) = checked("# Empty\n", "// @gone\n#[test]\nfn a() {\n}\n");
        assert!(
            problems[0].starts_with("crates/x/tests/a.rs:1: `@gone` is no anchor"),
            "{problems:?}"
        );
    }

    #[test]
    fn a_duplicate_and_a_misspelt_anchor_are_reported() {
        let code = "// @a\n#[test]\nfn t() {\n}\n";
        let (_, _, problems) = checked("## A {#a}\n## B {#a}\n", code);
        assert!(problems[0].contains("also at docs/spec/store.md:1"), "{problems:?}");
        let (_, _, problems) = checked("## A {#a}\n## B {#Not-Snake}\n", code);
        assert!(problems[0].contains("not `{#snake_case}`"), "{problems:?}");
    }

    #[test]
    fn a_reference_away_from_any_test_proves_nothing() {
        let code = "// @a\nfn helper() {\n}\n\n#[test]\nfn t() {\n}\n";
        let (_, _, problems) = checked("## A {#a}\n", code);
        assert!(problems.iter().any(|p| p.contains("stands at no test")), "{problems:?}");
        assert!(problems.iter().any(|p| p.contains("no test proves `a`")), "{problems:?}");
    }

    #[test]
    fn addresses_and_packages_are_no_references() {
        assert_eq!(names_in(" mail a@b.c, @scope/package, @Upper"), [""; 0]);
        assert_eq!(names_in(" @one, (@two) and @three."), ["one", "two", "three"]);
    }
}
