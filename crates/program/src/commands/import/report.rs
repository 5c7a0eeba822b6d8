//! The report at the end of an import.

use std::path::Path;

use ::import::SOURCES;
use model::import::ImportCounts;
use model::{OpError, limits};
use serde_json::{Value, json};

use super::finds::{self, FirstFinds};
use super::plan::ImportPlan;
use super::totals::{ImportTotals, ProjectTotals};
use crate::calls;
use crate::world::World;

/// Prints what was added, or an error if nothing could be read.
pub(super) fn report(world: &mut World, plan: &ImportPlan, totals: &ImportTotals) -> u8 {
    let by_project: Vec<Value> = totals
        .projects
        .iter()
        .map(|((agent, project), part)| {
            let sessions = part.sent.added.len();
            json!({
                "agent": agent,
                "project": project,
                "sessions": sessions,
                "counts": part.sent.counts,
                "redacted": part.notes.redacted,
                "not_understood": part.notes.not_understood,
            })
        })
        .collect();
    let problems = problems_of(totals);
    let finds = first_finds(world, plan, totals);
    let mut result = json!({
        "dry_run": plan.is_dry,
        "batch": totals.batch,
        "files": totals.files,
        "unchanged": totals.unchanged,
        "sessions": totals.sessions.len(),
        "counts": totals.counts,
        "added": totals.counts.added(),
        "projects": by_project,
        "redacted": totals.redacted,
        "unknown_lines": totals.unknown,
        "problems": problems,
    });
    if let Some(finds) = &finds {
        result["first_import"] = finds.to_json();
    }
    for problem in problems.iter().take(limits::IMPORT_PROBLEMS_SHOWN) {
        world.out.note(&problem_line(problem));
    }
    if problems.len() > limits::IMPORT_PROBLEMS_SHOWN {
        let more = problems.len() - limits::IMPORT_PROBLEMS_SHOWN;
        world.out.note(&format!("… and {more} more; --json lists all"));
    }
    if totals.files + totals.unchanged == 0 && !totals.unreadable.is_empty() {
        return world.out.error(&nothing_read(plan, problems));
    }
    let mut text = told(plan, totals, world.out.width());
    if let Some(batch) = totals.batch.filter(|_| totals.counts.added() > 0) {
        let db = database_flag(world);
        text.push_str(&format!("\nundo it with: rekindle{db} import --undo {batch}"));
    }
    for line in finds.iter().flat_map(FirstFinds::lines) {
        text.extend(["\n", &line]);
    }
    world.out.result(&result, Some(&move |_: &Value| text.clone()))
}

/// The files that could not be read, wholly or in part.
fn problems_of(totals: &ImportTotals) -> Vec<Value> {
    let problems = totals.problems.iter().map(|(path, report)| (path, &report.problems));
    let of_records = totals.record_problems.iter().map(|(path, report)| (path, &report.problems));
    let problems = problems.chain(of_records).flat_map(|(path, problems)| {
        problems.iter().map(move |(problem, (line, count))| {
            json!({ "file": path.display().to_string(), "line": line, "reason": problem.reason(), "lines": count })
        })
    });
    let unreadable = totals
        .unreadable
        .iter()
        .map(|(path, why)| json!({ "file": path.display().to_string(), "reason": why }));
    problems.chain(unreadable).collect()
}

/// The lines about files with problems.
pub(super) fn problem_lines(totals: &ImportTotals) -> Vec<String> {
    problems_of(totals).iter().map(problem_line).collect()
}

/// The error if nothing could be read. A file or folder that the user named is missing or is no transcript; the files
/// of an agent exist, so the user may lack permission.
fn nothing_read(plan: &ImportPlan, problems: Vec<Value>) -> OpError {
    let message = "nothing could be read";
    let error = match plan.unread.unreadable.is_empty() {
        true => OpError::unavailable(message).hint("Check that you may read the files."),
        false => {
            let agents: Vec<&str> = SOURCES.iter().map(|source| source.name).collect();
            OpError::not_found(message).hint(format!(
                "Name an agent ({}), a transcript or a folder with transcripts.",
                agents.join(", ")
            ))
        }
    };
    error.with("problems", problems)
}

/// The finds of the first import of this store. It is a greeting, so an error in it is no error of the import.
fn first_finds(world: &mut World, plan: &ImportPlan, totals: &ImportTotals) -> Option<FirstFinds> {
    let batch = totals.batch.filter(|_| !plan.is_dry && totals.counts.added() > 0)?;
    let listed = calls::call(world, "list_imports", json!({})).ok()?;
    let is_first = matches!(listed["imports"].as_array()?.as_slice(), [one] if one["id"] == batch);
    is_first.then(|| finds::of_first_import(world, &totals.sessions).unwrap_or_default())
}

fn problem_line(problem: &Value) -> String {
    // The name of a file may contain line breaks and escapes.
    let file = problem["file"].as_str().unwrap_or_default();
    let file = text::one_line(file, limits::IMPORT_NAME_CHARS.max(file.chars().count()));
    let reason = problem["reason"].as_str().unwrap_or_default();
    match (problem["line"].as_u64(), problem["lines"].as_u64()) {
        (Some(line), Some(1)) => format!("{file}: line {line} was skipped: {reason}"),
        (Some(line), Some(count)) => {
            format!("{file}: {count} lines were skipped, the first is {line}: {reason}")
        }
        _ => format!("{file} was not read: {reason}"),
    }
}

/// The line about a file that could not be read.
pub(super) fn unread_line(path: &Path, why: &str) -> String {
    problem_line(&json!({ "file": path.display().to_string(), "reason": why }))
}

/// The table of records that were added to each project, and of those that were left out.
fn by_project(totals: &ImportTotals, width: usize) -> String {
    let headings = [
        "sessions",
        "prompts",
        "answers",
        "actions",
        "failed",
        "memories",
        "known",
        "too old",
        "excluded",
        "redacted",
        "not understood",
    ];
    /// The columns from here on are shown only if one of their numbers is not zero.
    const OPTIONAL: usize = 7;
    let numbers = |part: &ProjectTotals| {
        let ImportCounts { prompts, answers, actions, failures, .. } = part.sent.counts;
        let ImportCounts { memories, known, too_old, excluded, .. } = part.sent.counts;
        let sessions = part.sent.added.len() as u64;
        let redacted = part.notes.redacted.values().sum();
        let not_understood = part.notes.not_understood;
        [
            sessions,
            prompts,
            answers,
            actions,
            failures,
            memories,
            known,
            too_old,
            excluded,
            redacted,
            not_understood,
        ]
    };
    let all: Vec<[u64; 11]> = totals.projects.values().map(numbers).collect();
    let is_shown = |column: usize| column < OPTIONAL || all.iter().any(|row| row[column] > 0);
    let shown: Vec<usize> = (0..headings.len()).filter(|column| is_shown(*column)).collect();
    let cells = |row: &[String]| shown.iter().map(|column| row[*column].clone()).collect();
    let mut rows: Vec<Vec<String>> = vec![cells(&headings.map(str::to_owned))];
    rows[0].extend(["agent", "project"].map(str::to_owned));
    for ((agent, project), numbers) in totals.projects.keys().zip(&all) {
        let mut row: Vec<String> = cells(&numbers.map(|number| number.to_string()));
        row.extend([(*agent).to_owned(), text::one_line(project, limits::IMPORT_NAME_CHARS)]);
        rows.push(row);
    }
    text::table::table(&rows, &["known", "failed", "memories"], width)
}

/// The report for people.
fn told(plan: &ImportPlan, totals: &ImportTotals, width: usize) -> String {
    let counts = &totals.counts;
    let mut lines = Vec::new();
    if counts.added() > 0 || plan.is_dry {
        lines.push(by_project(totals, width));
    }
    let left_out = [
        (counts.known, "already known"),
        (counts.too_old, "too old to keep"),
        (counts.excluded, "excluded"),
        (counts.forgotten, "purged by you"),
        (counts.secrets, "with a secret"),
    ];
    let left_out: Vec<String> = left_out
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
    let left_out = match left_out.as_slice() {
        [] => String::new(),
        parts => format!(" ({})", parts.join(", ")),
    };
    let added = text::counted(counts.added(), "record");
    let sessions = text::counted(totals.sessions.len() as u64, "session");
    if counts.removed > 0 {
        let removed = text::counted(counts.removed, "memory");
        lines.push(match plan.is_dry {
            true => format!("{removed} that the files no longer have would be deleted"),
            false => format!("deleted {removed} that the files no longer have"),
        });
    }
    lines.push(match (plan.is_dry, counts.added()) {
        (true, _) => format!("{added} of {sessions} would be added{left_out}; nothing was stored"),
        (false, 0) => format!("nothing new{left_out}"),
        (false, _) => format!("added {added} of {sessions}{left_out}"),
    });
    let redacted = totals.redacted.iter().map(|(rule, count)| format!("{rule} {count}"));
    let redacted: Vec<String> = redacted.collect();
    if !redacted.is_empty() {
        lines.push(format!("secrets were redacted, by rule: {}", redacted.join(", ")));
    }
    if totals.unknown > 0 {
        lines.push(match totals.unknown {
            1 => "1 line of an unknown kind was skipped".to_owned(),
            unknown => format!("{unknown} lines of unknown kinds were skipped"),
        });
    }
    if totals.unchanged > 0 {
        lines.push(format!(
            "{} unchanged since the last import",
            text::counted(totals.unchanged, "file")
        ));
    }
    lines.join("\n")
}

/// The flag that names the database of this import, if another command would use a different one: `--db` named it, or the
/// variable for it named the source.
fn database_flag(world: &World) -> String {
    let own = &world.locations.database;
    match client::platform::locations(None).database == *own {
        true => String::new(),
        false => format!(" --db {}", shell_word(&own.to_string_lossy())),
    }
}

/// A text as one word of a shell's command line.
fn shell_word(text: &str) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || "/._-+:@%".contains(sign);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
