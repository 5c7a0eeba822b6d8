//! The corpus in `testdata/`, whose secrets are split into parts so that scanners do not report them.
//! `docs/secret-guard.md` has the counts too.

use serde_json::Value;

use super::super::*;

const SECRETS: &str = include_str!("../../../testdata/secrets.jsonl");
const MISSED: &str = include_str!("../../../testdata/missed.jsonl");
const LOOK_ALIKES: &str = include_str!("../../../testdata/look-alikes.jsonl");
const PAGE: &str = include_str!("../../../../../docs/secret-guard.md");

fn rows(lines: &str) -> impl Iterator<Item = Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn joined(row: &Value, key: &str) -> String {
    row[key].as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect()
}

fn whole(row: &Value) -> String {
    joined(row, "before") + &joined(row, "secret") + &joined(row, "after")
}

fn profiles(row: &Value) -> Vec<Profile> {
    match row["profile"].as_str() {
        Some("strict") => vec![Profile::Strict],
        Some("declared") => vec![Profile::Declared],
        _ => vec![Profile::Strict, Profile::Declared],
    }
}

/// The error in detecting a secret of the corpus, if any.
fn problem(row: &Value, profile: Profile) -> Option<String> {
    let (text, secret) = (whole(row), joined(row, "secret"));
    let rule = row["rule"].as_str().unwrap();
    let found = find(&text, profile);
    let safe = redact(&text, profile).into_inner();
    if !found.iter().any(|finding| finding.rule == rule) {
        return Some(format!("{rule} did not find {text:?} but {found:?} ({profile:?})"));
    }
    // No piece of it may be left either, but for what the name of the rule says.
    let safe = safe.replace(&format!("[redacted:{rule}]"), "");
    let left = secret
        .as_bytes()
        .windows(secret.len().min(10))
        .any(|piece| safe.as_bytes().windows(piece.len()).any(|window| window == piece));
    left.then(|| format!("{rule} left a part of the secret in {safe:?} ({profile:?})"))
}

#[test]
fn every_secret_of_the_corpus_is_found_by_its_rule_and_gone_after_redaction() {
    let mut problems = Vec::new();
    for row in rows(SECRETS) {
        problems.extend(profiles(&row).into_iter().filter_map(|profile| problem(&row, profile)));
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_rule_has_a_secret_in_the_corpus() {
    let covered: Vec<String> =
        rows(SECRETS).map(|row| row["rule"].as_str().unwrap().to_owned()).collect();
    let public = (0..u16::try_from(public::COUNT).unwrap()).map(public::id);
    // A member is a name and a value apart; it is tested where values are.
    for rule in public.chain(shapes::NAMES).filter(|rule| *rule != "secret-member") {
        assert!(covered.iter().any(|name| name == rule), "no secret for {rule}");
    }
}

#[test]
fn the_list_of_missed_secrets_is_up_to_date() {
    for row in rows(MISSED) {
        assert_eq!(find(&whole(&row), Profile::Strict), [], "{} is found now", row["why"]);
    }
}

#[test]
fn no_look_alike_is_taken_for_a_secret() {
    let mut problems = Vec::new();
    for row in rows(LOOK_ALIKES) {
        let text = row["text"].as_str().unwrap();
        for profile in [Profile::Strict, Profile::Declared] {
            let found = find(text, profile).into_iter();
            problems.extend(found.map(|finding| format!("{profile:?} {} {text}", finding.rule)));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn look_alikes_compile_no_rule_of_the_public_set() {
    let mut asked = Vec::new();
    for row in rows(LOOK_ALIKES) {
        let text = row["text"].as_str().unwrap();
        let mut windows = public::Windows::new();
        prefilter::keywords(text.as_bytes(), |leads_to, at| {
            if let LeadsTo::Public(rule, check) = leads_to {
                windows.hit(text.as_bytes(), rule, check, at);
            }
            true
        });
        asked.extend(windows.rest().map(|window| format!("{} {text}", public::id(window.rule))));
    }
    assert!(asked.is_empty(), "{}", asked.join("\n"));
}

#[test]
fn the_page_states_the_counts_of_the_corpus() {
    let table = [
        ("secrets in the corpus", rows(SECRETS).count()),
        ("of them found", rows(SECRETS).count()),
        ("known to be missed, besides", rows(MISSED).count()),
        ("look-alikes in the corpus", rows(LOOK_ALIKES).count()),
        ("of them taken for secrets", 0),
        ("rules of the public set", public::COUNT),
        ("rules of our own", shapes::NAMES.len()),
    ];
    for (what, count) in table {
        let row = format!("| {what} | {count} |");
        assert!(PAGE.contains(&row), "docs/secret-guard.md needs the row {row}");
    }
}
