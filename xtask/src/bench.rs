//! Measures the release binary, and compares each figure with a baseline of the same run.
//!
//! Ratios and instruction counts hold on a busy machine; bare times are only shown.

mod before;
mod clusters;
mod connected;
mod dispatch;
mod figures;
mod hook;
mod http_rate;
mod import;
mod learning;
mod live;
mod observations;
mod resident;
mod search;
mod sessions;
mod stdio;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::project::Project;
use figures::{Amount, FULL, Programs, QUICK, shown};
pub(crate) use figures::{Row, Verdict, failures};

/// The options of the command line.
pub(crate) struct BenchOptions {
    pub(crate) gate_only: bool,
    /// Only the rows about sessions and activity.
    pub(crate) sessions_only: bool,
    /// Only the rows about learning.
    pub(crate) learning_only: bool,
    /// Only the rows about imports.
    pub(crate) import_only: bool,
    pub(crate) quick: bool,
    /// Also over a million observations, which take minutes to make up.
    pub(crate) large: bool,
    /// An earlier build to compare this one with.
    pub(crate) before: Option<PathBuf>,
}

pub(crate) fn start(project: &Project, flags: &[String]) -> Result<()> {
    let mut wanted = BenchOptions {
        gate_only: false,
        sessions_only: false,
        learning_only: false,
        import_only: false,
        quick: false,
        large: false,
        before: None,
    };
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match flag.as_str() {
            "--gate" => wanted.gate_only = true,
            "--sessions" => wanted.sessions_only = true,
            "--learning" => wanted.learning_only = true,
            "--import" => wanted.import_only = true,
            "--quick" => wanted.quick = true,
            "--large" => wanted.large = true,
            "--before" => {
                let file = flags.next().context("--before needs the file of an earlier build")?;
                wanted.before = Some(PathBuf::from(file));
            }
            _ => bail!(
                "'bench' has no flag '{flag}'; it has --gate, --sessions, --learning, --import, --quick, --large and --before FILE"
            ),
        }
    }
    run(project, &wanted)
}

fn run(project: &Project, wanted: &BenchOptions) -> Result<()> {
    let amount = if wanted.quick { &QUICK } else { &FULL };
    let rows = match &wanted.before {
        Some(before) => beside(project, before, amount, wanted.large)?,
        None if wanted.gate_only => gate(project)?,
        None if wanted.sessions_only => {
            of_sessions(project, &Programs::build(project)?, amount, wanted.large)?
        }
        None if wanted.learning_only => of_learning(project, &Programs::build(project)?, amount)?,
        None if wanted.import_only => import::rows(&Programs::build(project)?, amount)?,
        None => all(project, amount, wanted.large)?,
    };
    print!("{}", shown(&rows));
    match failures(&rows).as_slice() {
        [] => Ok(()),
        failed => bail!("over target: {}", failed.join("; ")),
    }
}

/// The figures that do not depend on how busy the machine is.
pub(crate) fn gate(project: &Project) -> Result<Vec<Row>> {
    let binary = project.build_binary(true)?;
    Ok(vec![
        hook::instructions(&binary)?,
        hook::status_line_instructions(&binary)?,
        resident::size(&binary)?,
    ])
}

/// This build beside an earlier one.
fn beside(project: &Project, before: &Path, amount: &Amount, large: bool) -> Result<Vec<Row>> {
    if !before.is_file() {
        bail!("there is no earlier build at {}", before.display());
    }
    before::rows(project, &Programs::build(project)?, before, amount, large)
}

/// The status line, pages of sessions and activity, writes and frames of the context.
fn of_sessions(
    project: &Project,
    programs: &Programs,
    amount: &Amount,
    large: bool,
) -> Result<Vec<Row>> {
    let mut rows = vec![hook::status_line_instructions(&programs.rekindle)?];
    rows.push(hook::status_line(&programs.rekindle, amount)?);
    rows.extend(sessions::pages(&programs.bench, amount)?);
    rows.extend(live::rows(project, programs, amount, large)?);
    Ok(rows)
}

/// Clusters of experiences, and calls and hooks over a store with experiences and memories.
fn of_learning(project: &Project, programs: &Programs, amount: &Amount) -> Result<Vec<Row>> {
    let mut rows = vec![clusters::row(&programs.bench)?];
    rows.extend(learning::rows(project, programs, amount)?);
    Ok(rows)
}

fn all(project: &Project, amount: &Amount, large: bool) -> Result<Vec<Row>> {
    let programs = Programs::build(project)?;
    let binary = &programs.rekindle;
    let mut rows = vec![hook::instructions(binary)?];
    rows.push(hook::with_daemon(binary, amount)?);
    rows.push(hook::without_daemon(binary, amount)?);
    rows.push(resident::ready(binary, amount)?);
    rows.extend(resident::idle(binary, amount)?);
    rows.push(resident::size(binary)?);
    rows.extend(dispatch::hints(&programs.bench, amount)?);
    rows.push(http_rate::get_hint(&programs, amount)?);
    rows.extend(stdio::get_hint(binary, amount)?);
    rows.extend(observations::rows(project, &programs, amount, large)?);
    rows.extend(search::rows(project, &programs, amount, large)?);
    rows.extend(of_sessions(project, &programs, amount, large)?);
    rows.extend(of_learning(project, &programs, amount)?);
    rows.extend(import::rows(&programs, amount)?);
    rows.push(before::reading_hits(project, binary)?);
    rows.extend(connected::rows(project, &programs, amount)?);
    Ok(rows)
}
