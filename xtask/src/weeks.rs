//! `cargo xtask weeks`: three made-up weeks of a developer's work go through a running daemon; then questions about
//! them are asked, and the briefings that the sessions began with are judged.

mod chores;
mod judge;
mod live;
mod payload;
mod plan;
mod random;
mod replay;
mod stories;
mod wire;

pub(crate) use replay::run as replay;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::daemon::Daemon;
use crate::home::Home;
use crate::project::Project;
use crate::report::StepOutcome;
use chores::ChoreFigures;
use judge::{Briefings, Judged};
use plan::Weeks;

/// The seed of `ci`. Search was never tuned on the others.
const CI_SEED: u64 = 1;

/// Shares of the everyday questions, and of those in other words, that `ci` wants in the first three and in ten
/// hits, in percent: a little less than search reaches.
const EVERYDAY_MIN: [f64; 2] = [90.0, 98.0];
const OTHER_WORDS_MIN: [f64; 2] = [58.0, 79.0];

/// The flags of the verb.
struct WeeksOptions {
    seed: u64,
    binary: Option<PathBuf>,
    briefing: bool,
    /// Where to write the rows of the briefings. No question is asked then.
    rows: Option<PathBuf>,
}

pub(crate) fn run(project: &Project, flags: &[String]) -> Result<()> {
    let wanted = wanted(flags)?;
    let binary = match wanted.binary {
        Some(binary) => binary,
        None => project.build_binary(true)?,
    };
    if let Some(file) = wanted.rows {
        return write_rows(project, &binary, wanted.seed, &file);
    }
    let figures = measure(project, &binary, wanted.seed, wanted.briefing)?;
    println!("{figures}");
    Ok(())
}

fn wanted(flags: &[String]) -> Result<WeeksOptions> {
    let mut wanted = WeeksOptions { seed: CI_SEED, binary: None, briefing: false, rows: None };
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let mut value = || flags.next().with_context(|| format!("{flag} needs a value"));
        match flag.as_str() {
            "--seed" => wanted.seed = value()?.parse().context("--seed needs a number")?,
            "--binary" => wanted.binary = Some(PathBuf::from(value()?)),
            "--briefing" => wanted.briefing = true,
            "--rows" => wanted.rows = Some(PathBuf::from(value()?)),
            _ => bail!(
                "'weeks' has no flag '{flag}'; it has --seed N, --binary FILE, --briefing and --rows FILE"
            ),
        }
    }
    Ok(wanted)
}

pub(crate) fn gate(project: &Project) -> Result<StepOutcome> {
    let binary = project.build_binary(true)?;
    let figures = measure(project, &binary, CI_SEED, false)?;
    let wanted = [(figures.everyday, EVERYDAY_MIN), (figures.other_words, OTHER_WORDS_MIN)];
    if wanted.iter().any(|(is, least)| is[0] < least[0] || is[1] < least[1]) {
        bail!(
            "{EVERYDAY_MIN:?} % of the everyday questions and {OTHER_WORDS_MIN:?} % of the others are \
             wanted in three and in ten hits\n{figures}"
        );
    }
    figures.briefings.check()?;
    figures.chores.check()?;
    Ok(StepOutcome::Ok(figures.short()))
}

/// The weeks of `ci`, for measurements that need realistic work.
pub(crate) struct CiWeeks(Weeks);

impl CiWeeks {
    pub(crate) fn of_ci(project: &Project) -> Result<CiWeeks> {
        let stories = stories::read(&project.root.join("quality/weeks.toml"))?;
        plan::plan(&stories, CI_SEED).map(CiWeeks)
    }

    /// Sends all events to the daemon of a home. Returns their number.
    pub(crate) fn send(&self, home: &Home) -> Result<usize> {
        let sessions = live::live(home, &self.0)?;
        // Each session has a start and mostly an end besides its steps.
        Ok(sessions.iter().map(|briefed| briefed.session.steps.len() + 2).sum())
    }

    pub(crate) fn questions(&self) -> impl Iterator<Item = &str> {
        self.0.questions.iter().map(|asked| asked.text.as_str())
    }

    pub(crate) fn projects(&self) -> BTreeSet<&str> {
        self.0.sessions.iter().map(|session| session.project.as_str()).collect()
    }
}

/// The result of one run of the weeks.
struct WeekFigures {
    table: String,
    /// Percentages in the first three and in ten.
    everyday: [f64; 2],
    other_words: [f64; 2],
    briefings: Briefings,
    chores: ChoreFigures,
}

impl WeekFigures {
    fn short(&self) -> String {
        format!(
            "everyday {:.1} % in three and {:.1} % in ten, in other words {:.1} and {:.1} %; {}; {}",
            self.everyday[0],
            self.everyday[1],
            self.other_words[0],
            self.other_words[1],
            self.briefings,
            self.chores
        )
    }
}

impl std::fmt::Display for WeekFigures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.table)?;
        for miss in &self.chores.misses {
            writeln!(f, "not as wanted: {miss}")?;
        }
        write!(f, "{}", self.short())
    }
}

/// Writes each row of the briefings with its section and whether the session used it.
fn write_rows(project: &Project, binary: &Path, seed: u64, file: &Path) -> Result<()> {
    let stories = stories::read(&project.root.join("quality/weeks.toml"))?;
    let weeks = plan::plan(&stories, seed)?;
    let home = Home::new(binary)?;
    let _daemon = Daemon::start(&home, &[])?;
    let briefed = live::live(&home, &weeks)?;
    fs::write(file, judge::rows_by_use(&briefed))
        .with_context(|| format!("cannot write {}", file.display()))?;
    println!("{}", judge::briefings(&briefed, &weeks.open));
    Ok(())
}

fn measure(
    project: &Project,
    binary: &Path,
    seed: u64,
    show_briefing: bool,
) -> Result<WeekFigures> {
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
    Ok(WeekFigures {
        table: table(&judged)?,
        everyday: [3, 10].map(|places| share(&judged, places, is_everyday)),
        other_words: [3, 10].map(|places| share(&judged, places, |one| !is_everyday(one))),
        briefings,
        chores: chores::measure(&project.root, binary, seed)?,
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
    row(&mut text, "records", judged, |one| is_everyday(one) && !one.asked.from_answer)?;
    row(&mut text, "answers", judged, |one| is_everyday(one) && one.asked.from_answer)?;
    row(&mut text, "all everyday", judged, is_everyday)?;
    row(&mut text, "records, in other words", judged, |one| {
        !is_everyday(one) && !one.asked.from_answer
    })?;
    row(&mut text, "answers, in other words", judged, |one| {
        !is_everyday(one) && one.asked.from_answer
    })?;
    row(&mut text, "all in other words", judged, |one| !is_everyday(one))?;
    Ok(text)
}

fn is_everyday(one: &Judged<'_>) -> bool {
    one.asked.everyday
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
