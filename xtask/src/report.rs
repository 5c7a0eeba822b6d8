//! Results of steps and the tables that show them.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StepOutcome {
    /// Done; the text goes into the summary.
    Ok(String),
    Failed(String),
    /// Not run: why, and how to make it run.
    Skipped(String),
}

/// One row of a summary.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) took: Duration,
    pub(crate) outcome: StepOutcome,
}

impl Step {
    pub(crate) fn failed(&self) -> bool {
        matches!(self.outcome, StepOutcome::Failed(_))
    }

    /// The row as one line, for while the steps run.
    pub(crate) fn line(&self) -> String {
        let (word, note) = self.outcome.words();
        let name = &self.name;
        let note = if note.is_empty() { String::new() } else { format!("  {note}") };
        format!("{word:7} {name}{note}")
    }
}

impl StepOutcome {
    /// The outcome of installing something; if it fails, the steps that need it are skipped.
    pub(crate) fn installed<T>(result: &Result<T, String>) -> Result<StepOutcome> {
        Ok(match result {
            Ok(_) => StepOutcome::Ok(String::new()),
            Err(why) => StepOutcome::Skipped(why.clone()),
        })
    }

    fn words(&self) -> (&'static str, &str) {
        match self {
            StepOutcome::Ok(note) => ("ok", note),
            StepOutcome::Failed(note) => ("FAILED", note),
            StepOutcome::Skipped(note) => ("SKIPPED", note),
        }
    }
}

/// Steps as they happen, one line each.
pub(crate) struct StepLog {
    topic: &'static str,
    pub(crate) steps: Vec<Step>,
}

impl StepLog {
    pub(crate) fn new(topic: &'static str) -> StepLog {
        StepLog { topic, steps: Vec::new() }
    }

    /// Runs steps that need each other or share a daemon; an error before the first one is a failed step.
    pub(crate) fn group(&mut self, name: &str, steps: impl FnOnce(&mut StepLog) -> Result<()>) {
        if let Err(error) = steps(self) {
            self.step(name, || Err(error));
        }
    }

    /// Runs a step; whether those that build on it may follow.
    pub(crate) fn step(
        &mut self,
        name: &str,
        action: impl FnOnce() -> Result<StepOutcome>,
    ) -> bool {
        let started = Instant::now();
        let outcome = action().unwrap_or_else(|error| StepOutcome::Failed(format!("{error:#}")));
        let name = format!("{}: {name}", self.topic);
        let step = Step { name, took: started.elapsed(), outcome };
        println!("{} ({:.1} s)", step.line(), step.took.as_secs_f64());
        let done = matches!(step.outcome, StepOutcome::Ok(_));
        self.steps.push(step);
        done
    }
}

/// Prints the summary, and fails if a step did.
pub(crate) fn finish(verb: &str, steps: &[Step]) -> Result<()> {
    println!("\n{}", summary(steps));
    match steps.iter().filter(|step| step.failed()).count() {
        0 => Ok(()),
        count => bail!("{verb}: {count} of {} steps failed", steps.len()),
    }
}

/// The summary: step, seconds, how it ended.
pub(crate) fn summary(steps: &[Step]) -> String {
    let rows = steps.iter().map(|step| {
        let (word, note) = step.outcome.words();
        let seconds = format!("{:.1}", step.took.as_secs_f64());
        vec![step.name.clone(), seconds, word.to_owned(), first_line(note)]
    });
    table(&["step", "seconds", "result", "note"], rows)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// A Markdown table with columns as wide as their widest cell.
pub(crate) fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let mut all = vec![head];
    all.extend(rows);
    let columns = all.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        all.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0).max(3)).collect();
    let mut out = String::new();
    for (index, row) in all.iter().enumerate() {
        out.push_str(&table_row(row, &widths));
        if index == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            out.push_str(&table_row(&rule, &widths));
        }
    }
    out
}

fn table_row(row: &[String], widths: &[usize]) -> String {
    let cells: Vec<String> = widths
        .iter()
        .enumerate()
        .map(|(column, width)| {
            let cell = row.get(column).map_or("", String::as_str);
            format!("{cell}{}", " ".repeat(width.saturating_sub(cell.chars().count())))
        })
        .collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Something that is wrong in a file, in the form that editors can jump to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    pub(crate) path: String,
    pub(crate) line: usize,
    /// The problem and its fix.
    pub(crate) what: String,
}

impl Problem {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>) -> Problem {
        Problem { path: path.to_owned(), line, what: what.into() }
    }
}

/// Prints the problems in order, and fails if there are any.
pub(crate) fn conclude(verb: &str, mut problems: Vec<Problem>) -> Result<()> {
    problems.sort();
    problems.dedup();
    for problem in &problems {
        eprintln!("{}:{}: {}", problem.path, problem.line, problem.what);
    }
    match problems.len() {
        0 => Ok(()),
        count => bail!("{verb}: {count} problem{}", if count == 1 { "" } else { "s" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_aligns_its_columns_and_keeps_one_line_per_step() {
        let steps = [
            Step {
                name: "fmt".into(),
                took: Duration::from_millis(1_240),
                outcome: StepOutcome::Ok(String::new()),
            },
            Step {
                name: "clients".into(),
                took: Duration::ZERO,
                outcome: StepOutcome::Skipped("no npm\nsecond line".into()),
            },
        ];
        assert_eq!(
            summary(&steps),
            "| step    | seconds | result  | note   |\n\
             | ------- | ------- | ------- | ------ |\n\
             | fmt     | 1.2     | ok      |        |\n\
             | clients | 0.0     | SKIPPED | no npm |\n"
        );
    }

    #[test]
    fn problems_make_the_verb_fail() {
        assert!(conclude("tidy", Vec::new()).is_ok());
        let error = conclude("tidy", vec![Problem::new("a.rs", 3, "wrong")]);
        assert_eq!(error.map_err(|e| e.to_string()), Err("tidy: 1 problem".to_owned()));
    }
}
