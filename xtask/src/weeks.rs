//! `cargo xtask weeks`: three made-up weeks of a developer's work go through a running daemon; then questions about
//! them are asked, and the briefings that the sessions began with are judged.

mod judge;
mod live;
mod payload;
mod plan;
mod random;
mod replay;
mod stories;
mod wire;

pub(crate) use replay::run as replay;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::daemon::Daemon;
use crate::home::Home;
use crate::project::Project;
use crate::report::Outcome;
use judge::{Briefings, Judged};

/// The seed of `ci`. Search was never tuned on the others.
const CI_SEED: u64 = 1;

/// Shares of the questions that `ci` asks for, in percent: a little less than search reaches.
const IN_THREE_MIN: f64 = 35.0;
const IN_TEN_MIN: f64 = 60.0;

/// The flags of the verb.
struct Wanted {
    seed: u64,
    binary: Option<PathBuf>,
    briefing: bool,
}

pub(crate) fn run(project: &Project, flags: &[String]) -> Result<()> {
    let wanted = wanted(flags)?;
    let binary = match wanted.binary {
        Some(binary) => binary,
        None => project.build_binary(true)?,
    };
    let figures = measure(project, &binary, wanted.seed, wanted.briefing)?;
    println!("{figures}");
    Ok(())
}

fn wanted(flags: &[String]) -> Result<Wanted> {
    let mut wanted = Wanted { seed: CI_SEED, binary: None, briefing: false };
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let mut value = || flags.next().with_context(|| format!("{flag} needs a value"));
        match flag.as_str() {
            "--seed" => wanted.seed = value()?.parse().context("--seed needs a number")?,
            "--binary" => wanted.binary = Some(PathBuf::from(value()?)),
            "--briefing" => wanted.briefing = true,
            _ => {
                bail!("'weeks' has no flag '{flag}'; it has --seed N, --binary FILE and --briefing")
            }
        }
    }
    Ok(wanted)
}

pub(crate) fn gate(project: &Project) -> Result<Outcome> {
    let binary = project.build_binary(true)?;
    let figures = measure(project, &binary, CI_SEED, false)?;
    if figures.in_three < IN_THREE_MIN || figures.in_ten < IN_TEN_MIN {
        bail!("at least {IN_THREE_MIN} % in three and {IN_TEN_MIN} % in ten are wanted\n{figures}");
    }
    Ok(Outcome::Ok(figures.short()))
}

/// The result of one run of the weeks.
struct Figures {
    table: String,
    in_three: f64,
    in_ten: f64,
    briefings: Briefings,
}

impl Figures {
    fn short(&self) -> String {
        let Briefings { rows, used, open_ends, shown } = &self.briefings;
        format!(
            "{:.1} % in three, {:.1} % in ten; {used} of {rows} briefing rows used, {shown} of {open_ends} open ends shown",
            self.in_three, self.in_ten
        )
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.table)?;
        write!(f, "{}", self.short())
    }
}

fn measure(project: &Project, binary: &Path, seed: u64, show_briefing: bool) -> Result<Figures> {
    let stories = stories::read(&project.root.join("quality/weeks.toml"))?;
    let weeks = plan::plan(&stories, seed)?;
    let home = Home::new(binary)?;
    let _daemon = Daemon::start(&home, &[])?;
    let briefed = live::live(&home, &weeks)?;
    if show_briefing && let Some(last) = briefed.last() {
        println!("{}\n", last.briefing);
    }
    let judged =
        weeks.questions.iter().map(|asked| judge::ask(&home, asked)).collect::<Result<Vec<_>>>()?;
    let briefings = judge::briefings(&briefed, &weeks.open);
    Ok(Figures {
        table: table(&judged)?,
        in_three: share(&judged, 3, |_| true),
        in_ten: share(&judged, 10, |_| true),
        briefings,
    })
}

fn table(judged: &[Judged<'_>]) -> Result<String> {
    let mut text = String::new();
    for one in judged.iter().filter(|one| one.place.is_none_or(|place| place > 3)) {
        let place = one.place.map_or("not in ten".to_owned(), |place| format!("place {place}"));
        writeln!(text, "{place}: {} ({})", one.asked.text, one.asked.story)?;
        for first in &one.first {
            writeln!(text, "    {}", first.replace('\n', " "))?;
        }
    }
    writeln!(text, "\n| questions about | number | first | in three | in ten |")?;
    writeln!(text, "| --- | --- | --- | --- | --- |")?;
    let records = |one: &Judged<'_>| !one.asked.from_answer;
    let answers = |one: &Judged<'_>| one.asked.from_answer;
    row(&mut text, "records", judged, records)?;
    row(&mut text, "answers", judged, answers)?;
    row(&mut text, "all", judged, |_| true)?;
    Ok(text)
}

fn row(
    text: &mut String,
    name: &str,
    judged: &[Judged<'_>],
    of: fn(&Judged<'_>) -> bool,
) -> Result<()> {
    let count = judged.iter().filter(|one| of(one)).count();
    let share = |places| share(judged, places, of);
    writeln!(text, "| {name} | {count} | {:.1} | {:.1} | {:.1} |", share(1), share(3), share(10))?;
    Ok(())
}

/// The percentage of questions that were answered in the first places.
#[allow(clippy::cast_precision_loss, reason = "a few dozen questions")]
fn share(judged: &[Judged<'_>], places: usize, of: fn(&Judged<'_>) -> bool) -> f64 {
    let all = judged.iter().filter(|one| of(one)).count();
    let good =
        judged.iter().filter(|one| of(one) && one.place.is_some_and(|place| place <= places));
    100.0 * good.count() as f64 / all.max(1) as f64
}
