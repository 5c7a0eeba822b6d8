//! Twins: the records of a session's hooks, and those of its transcript. Imported into the store that the hooks filled,
//! a transcript adds nothing; imported into an empty store, it gives the same records.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::stage::Stage;
use super::table::RealAgent;
use crate::report;

/// Characters of a text that a difference shows.
const SHOWN_CHARS: usize = 60;

/// A record of an export, as far as a hook and a transcript have to agree on it.
#[derive(Clone, Debug, Default, PartialEq)]
struct TwinRecord {
    session: String,
    kind: String,
    text: String,
    path: String,
    failed: bool,
    /// The text of the prompt that caused it.
    prompt: String,
    subagent: String,
    /// Equal records are folded into one, which has the origins of all.
    origins: BTreeSet<String>,
}

/// A difference between twins: its name, and the record.
type TwinDifference = (&'static str, String);

/// A difference that an agent has: its name, and a part of the record's text.
pub(crate) type ExpectedDifference = (&'static str, &'static str);

/// Imports the agent's transcripts into the store that the hooks filled.
pub(crate) fn adds_nothing(stage: &Stage, agent: &str) -> Result<String> {
    let before = records(&stage.rekindle(&["export"])?)?;
    let imported: Value = serde_json::from_str(&stage.rekindle(&["import", agent, "--json"])?)?;
    let known = imported["counts"]["known"].as_u64().unwrap_or_default();
    let after = records(&stage.rekindle(&["export"])?)?;
    let differences = compare(&before, &after);
    if imported["added"] != 0 || !differences.is_empty() || known == 0 {
        bail!("{imported}\n{}", listed(&differences));
    }
    if imported["unknown_lines"] != 0 || imported["problems"] != serde_json::json!([]) {
        bail!("not all lines were understood: {imported}");
    }
    Ok(format!("{known} records are known, none was added"))
}

/// Imports the agent's transcripts into an empty store and compares it with the one that the hooks filled. Only the
/// expected differences are there.
pub(crate) fn same_records(stage: &Stage, agent: &RealAgent) -> Result<String> {
    if let Some(folder) = agent.late_answers {
        stage.age(folder)?;
    }
    let of_hooks = records(&stage.rekindle(&["export"])?)?;
    stage.twin(&["import", agent.name, "--json"])?;
    let of_transcripts = records(&stage.twin(&["export"])?)?;
    let differences = compare(&of_hooks, &of_transcripts);
    println!("\n{}\n", table(&of_hooks, &of_transcripts));
    let is_expected = |(name, record): &TwinDifference| {
        agent.differs.iter().any(|(known, text)| known == name && record.contains(text))
    };
    if !differences.iter().all(is_expected) {
        bail!("the records differ\n{}", listed(&differences));
    }
    match differences.is_empty() {
        true => Ok(format!("{} records, no difference", of_hooks.len())),
        false => Ok(format!("{} records, differences:\n{}", of_hooks.len(), listed(&differences))),
    }
}

/// The prompts and observations of an export, in order.
fn records(export: &str) -> Result<Vec<TwinRecord>> {
    let mut prompts: BTreeMap<String, String> = BTreeMap::new();
    let mut found = Vec::new();
    for line in export.lines() {
        let line: Value = serde_json::from_str(line).context("a line of the export is not JSON")?;
        let text = |member: &str| line[member].as_str().unwrap_or_default().to_owned();
        let origins = line["origins"].as_array().into_iter().flatten();
        let origins: Vec<String> =
            origins.filter_map(|origin| origin.as_str().map(str::to_owned)).collect();
        let kind = match line["type"].as_str() {
            Some("prompt") => {
                let name = origins.first().context("a prompt without an origin")?;
                prompts.insert(name.clone(), text("content"));
                "prompt".to_owned()
            }
            // Transcripts do not tell when sessions start and end.
            Some("observation") if !text("kind").starts_with("session_") => text("kind"),
            _ => continue,
        };
        found.push(TwinRecord {
            session: text("session"),
            kind,
            text: text("content"),
            path: text("file"),
            failed: line["failed"] == true,
            prompt: prompts.get(&text("prompt")).cloned().unwrap_or_default(),
            subagent: text("agent_id"),
            origins: origins.into_iter().collect(),
        });
    }
    Ok(found)
}

/// The differences by name. Events are twins if they have the same origin, else if session, type and text are equal.
fn compare(hooks: &[TwinRecord], transcripts: &[TwinRecord]) -> Vec<TwinDifference> {
    let place = |origin: &String| transcripts.iter().position(|one| one.origins.contains(origin));
    let is_like = |one: &TwinRecord, other: &TwinRecord| {
        (&one.session, &one.kind, &one.text) == (&other.session, &other.kind, &other.text)
    };
    let mut differences = Vec::new();
    let mut found = BTreeSet::new();
    // A subagent works beside its session, so that only the order of its own records is the same.
    let mut last: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for record in hooks {
        let mut twins: BTreeSet<usize> = BTreeSet::new();
        for origin in &record.origins {
            let like = || {
                let is_free =
                    |(at, one): (usize, &TwinRecord)| !found.contains(&at) && is_like(record, one);
                transcripts.iter().enumerate().position(is_free)
            };
            match place(origin).or_else(like) {
                Some(twin) => drop(twins.insert(twin)),
                None => differences.push(("only hooks", shown(record))),
            }
        }
        for twin in twins {
            differences.extend(in_pair(record, &transcripts[twin]));
            let is_first = found.insert(twin);
            let before = last.entry((&record.session, &record.subagent)).or_insert(twin);
            if is_first && *before > twin {
                differences.push(("order", shown(record)));
            }
            *before = (*before).max(twin);
        }
    }
    let rest = transcripts.iter().enumerate().filter(|(at, _)| !found.contains(at));
    differences.extend(rest.map(|(_, record)| ("only transcript", shown(record))));
    differences
}

fn in_pair(hook: &TwinRecord, transcript: &TwinRecord) -> Vec<TwinDifference> {
    let TwinRecord { session, kind, text, path, failed, prompt, subagent, .. } = hook;
    let other = transcript;
    let members: [(&'static str, &str, &str); 7] = [
        ("session", session, &other.session),
        ("type", kind, &other.kind),
        ("text", text, &other.text),
        ("path", path, &other.path),
        ("failure", if *failed { "failed" } else { "" }, if other.failed { "failed" } else { "" }),
        ("prompt", prompt, &other.prompt),
        ("subagent", subagent, &other.subagent),
    ];
    let differ = members.into_iter().filter(|(_, of_hook, of_transcript)| of_hook != of_transcript);
    differ
        .map(|(name, of_hook, of_transcript)| {
            let about = shown(hook);
            (name, format!("{about}: hooks {of_hook:?}, transcript {of_transcript:?}"))
        })
        .collect()
}

fn shown(record: &TwinRecord) -> String {
    let text: String = record.text.chars().take(SHOWN_CHARS).collect();
    format!("{} {text:?}", record.kind)
}

fn listed(differences: &[TwinDifference]) -> String {
    let line = |(name, record): &TwinDifference| format!("  {name}: {record}");
    differences.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// How many records of each type both stores have.
fn table(hooks: &[TwinRecord], transcripts: &[TwinRecord]) -> String {
    let count = |records: &[TwinRecord], kind: &str| {
        let of_kind = records.iter().filter(|record| record.kind == kind);
        of_kind.fold((0, 0), |(all, failed), record| (all + 1, failed + u32::from(record.failed)))
    };
    let kinds: BTreeSet<&str> =
        hooks.iter().chain(transcripts).map(|record| record.kind.as_str()).collect();
    let rows = kinds.into_iter().map(|kind| {
        let told = |(all, failed): (u32, u32)| match failed {
            0 => all.to_string(),
            failed => format!("{all}, {failed} failed"),
        };
        vec![kind.to_owned(), told(count(hooks, kind)), told(count(transcripts, kind))]
    });
    report::table(&["record", "hooks", "transcript"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORT: &str = concat!(
        r#"{"type":"rekindle","version":1}"#,
        "\n",
        r#"{"type":"prompt","session":"s","content":"fire it","origins":["01"]}"#,
        "\n",
        r#"{"type":"observation","session":"s","kind":"command","content":"ls","prompt":"01","origins":["02"]}"#,
        "\n",
        r#"{"type":"observation","session":"s","kind":"answer","content":"done","prompt":"01","origins":["03"]}"#,
    );

    #[test]
    fn twins_are_equal_whatever_else_they_have() {
        let one = records(EXPORT).expect("an export");
        assert_eq!((one.len(), one[1].prompt.as_str()), (3, "fire it"));
        assert_eq!(compare(&one, &one), []);
        let other = EXPORT.replace(r#""origins":["02"]"#, r#""origins":["09"]"#);
        assert_eq!(compare(&one, &records(&other).expect("an export")), []);
    }

    #[test]
    fn each_difference_has_its_name() {
        let one = records(EXPORT).expect("an export");
        let names = |other: &[TwinRecord]| -> Vec<&str> {
            compare(&one, other).into_iter().map(|(name, _)| name).collect()
        };
        let mut other = one.clone();
        other[1].failed = true;
        other[2].text = "well done".to_owned();
        assert_eq!(names(&other), ["failure", "text"]);
        other = one.clone();
        other.swap(1, 2);
        assert_eq!(names(&other), ["order"]);
        other.pop();
        assert_eq!(names(&other), ["only hooks"]);
        assert_eq!(
            compare(&other, &one).iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            ["only transcript"]
        );
    }
}
