//! The hint dialect compared with the answers of micromatch 4.0.8 (picomatch 2.3.2, default options), and with the
//! intended differences.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use pattern::glob::Glob;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    pattern: String,
    path: String,
    matches: bool,
}

#[derive(Deserialize)]
struct Difference {
    #[serde(flatten)]
    row: Row,
    micromatch: bool,
    why: String,
}

fn lines<T: for<'a> Deserialize<'a>>(text: &str) -> Vec<T> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn wrong<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<String> {
    rows.filter_map(|Row { pattern, path, matches }| match Glob::hint(pattern) {
        Ok(glob) if glob.matches(path) == *matches => None,
        Ok(_) => Some(format!("{pattern} on {path:?} should be {matches}")),
        Err(error) => Some(error.message),
    })
    .collect()
}

#[test]
fn patterns_match_as_in_micromatch() {
    let rows: Vec<Row> = lines(include_str!("../testdata/micromatch.jsonl"));
    assert!(rows.len() > 500, "only {} rows", rows.len());
    assert_eq!(wrong(rows.iter()), Vec::<String>::new());
}

#[test]
fn every_difference_from_micromatch_has_a_reason() {
    let differences: Vec<Difference> = lines(include_str!("../testdata/differences.jsonl"));
    assert_eq!(wrong(differences.iter().map(|difference| &difference.row)), Vec::<String>::new());
    for Difference { row, micromatch, why } in &differences {
        assert_ne!(row.matches, *micromatch, "{} on {:?} is no difference", row.pattern, row.path);
        assert!(!why.is_empty());
    }
}
