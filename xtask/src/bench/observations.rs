//! Observations: a generated store of each size, reads from it compared with bare SQL on the same file,
//! and how many events are ingested per second.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::figures::{Amount, Programs, Row};
use crate::daemon::Daemon;
use crate::home::Home;
use crate::process;
use crate::project::Project;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
pub(super) const SIZE_LARGE: usize = 1_000_000;
/// Size of the store that is searched and that ingests events.
pub(super) const SIZE_INGEST: usize = 100_000;

const BYTES_MAX: f64 = 400.0;
/// Part of a bare GROUP BY that statistics may take in a large store.
const STATS_MAX: f64 = 0.2;
const EVENTS_PER_SECOND_MIN: f64 = 20_000.0;
const INDEX_BEHIND_MAX: Duration = Duration::from_secs(60);
const MEASURE_DEADLINE: Duration = Duration::from_secs(600);

/// The sources of the schema and of the generator: a change there requires a new store.
const SOURCES: [&str; 2] = ["crates/store/src/schema/", "crates/bench/src/observations/"];

/// A read: its name among the figures, its title, and the milliseconds that it may take up to
/// 100,000 observations and at a million.
struct Read {
    name: &'static str,
    measure: &'static str,
    max: f64,
    max_large: f64,
}

const fn read(name: &'static str, measure: &'static str, max: f64, large: f64) -> Read {
    Read { name, measure, max, max_large: large }
}

const READS: [Read; 7] = [
    read("briefing", "SessionStart with briefing", 15.0, 40.0),
    read("recent_context", "recent_context", 10.0, 10.0),
    read("get_observations", "get_observations, 3 ids", 0.3, 0.3),
    read("timeline", "timeline", 0.3, 0.3),
    read("session_trace", "session_trace, 110 records", 1.0, 1.0),
    read("file_history", "file_history", 0.3, 0.3),
    read("search", "search, 1 to 3 words, with meaning", 6.0, 40.0),
];

pub(crate) fn rows(
    project: &Project,
    programs: &Programs,
    amount: &Amount,
    large: bool,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for size in SIZES.into_iter().chain(large.then_some(SIZE_LARGE)) {
        let made = Made::get(project, programs, size)?;
        rows.push(made.room()?);
        let home = made.home(&programs.rekindle)?;
        let calls = (amount.calls / 4).to_string();
        let figures = figures(&home, programs, &["read", &calls])?;
        for read in &READS {
            rows.push(read_row(read, size, &figures)?);
        }
        rows.push(stats_row(size, &figures)?);
    }
    rows.extend(ingest(&Made::get(project, programs, SIZE_INGEST)?, programs, amount)?);
    Ok(rows)
}

/// A generated store, kept for the next run.
pub(super) struct Made {
    database: PathBuf,
    pub(super) size: usize,
    figures: Value,
}

impl Made {
    pub(super) fn get(project: &Project, programs: &Programs, size: usize) -> Result<Made> {
        let folder = project.target_dir()?.join("bench-stores");
        fs::create_dir_all(&folder)?;
        let name = format!("{:016x}-{size}", version(project)?);
        let (database, told) =
            (folder.join(format!("{name}.db")), folder.join(format!("{name}.json")));
        if !told.exists() {
            eprintln!("making up {size} observations");
            let home = Home::new(&programs.rekindle)?;
            let figures = make(&home, programs, size)?;
            fs::copy(home.data().join("rekindle.db"), &database)?;
            // The figures come last: with them the store is complete.
            fs::write(&told, figures.to_string())?;
        }
        let figures = serde_json::from_str(&fs::read_to_string(&told)?)?;
        Ok(Made { database, size, figures })
    }

    /// A home with a copy of the store.
    pub(super) fn home(&self, binary: &Path) -> Result<Home> {
        let home = Home::new(binary)?;
        fs::copy(&self.database, home.data().join("rekindle.db"))?;
        Ok(home)
    }

    /// The disk space of an observation beyond its own text.
    fn room(&self) -> Result<Row> {
        let number = |name: &str| {
            self.figures[name].as_f64().with_context(|| format!("no '{name}' in {}", self.figures))
        };
        let count = number("observations")?;
        let (all, text) = (number("bytes")? / count, number("text_bytes")? / count);
        let search = number("search_bytes")? / count;
        let beyond = all - text - search;
        // A small store is mostly the empty schema.
        let judged = self.size >= SIZE_INGEST;
        let target = if judged { "< 400 bytes" } else { "-" };
        let measure = format!("{}: bytes beyond its text, each", shown(self.size));
        let good = !judged || beyond < BYTES_MAX;
        let row = Row::figure(&measure, format!("{beyond:.0}"), target, good);
        Ok(row.against(format!("text {text:.0}, postings and vectors {search:.0}"), all / text))
    }
}

/// A hash of the sources that determine a store.
fn version(project: &Project) -> Result<u64> {
    let files = project.text_files()?;
    let decisive =
        files.iter().filter(|file| SOURCES.iter().any(|source| file.path.starts_with(source)));
    Ok(decisive.flat_map(|file| file.text.bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    }))
}

/// Generates a store, which may take minutes; shows the progress.
fn make(home: &Home, programs: &Programs, size: usize) -> Result<Value> {
    let mut command = home.program(&programs.bench, &["make", &size.to_string()]);
    let output = command.stderr(Stdio::inherit()).output().context("cannot start the generator")?;
    if !output.status.success() {
        bail!("the generator ended with {}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("the figures are not JSON")
}

pub(super) fn figures(home: &Home, programs: &Programs, args: &[&str]) -> Result<Value> {
    let mut command = home.program(&programs.bench, args);
    let finished = process::run_ok(&mut command, MEASURE_DEADLINE)?;
    serde_json::from_str(&finished.stdout).context("the figures are not JSON")
}

fn read_row(read: &Read, size: usize, figures: &Value) -> Result<Row> {
    let figure = |side: &str| {
        let found = figures[read.name][side].as_f64();
        found.with_context(|| format!("no figure '{side}' of '{}' in {figures}", read.name))
    };
    let (ours, p95, bare) = (figure("ours")?, figure("p95")?, figure("bare")?);
    let max = if size >= SIZE_LARGE { read.max_large } else { read.max };
    let target = format!("< {max} ms");
    let text = format!("{ours:.3} ms (p95 {p95:.2})");
    let measure = format!("{}: {}, median", shown(size), read.measure);
    let row = Row::figure(&measure, text, &target, ours < max);
    Ok(row.against(format!("{bare:.3} ms bare SQL"), ours / bare))
}

/// Statistics of 90 days beside a bare GROUP BY of the same records.
fn stats_row(size: usize, figures: &Value) -> Result<Row> {
    let of = &figures["activity_stats"];
    let figure = |side: &str| of[side].as_f64().context("no figure of 'activity_stats'");
    let (ours, bare) = (figure("ours")?, figure("bare")?);
    // The counts are read whole, whatever the number of records.
    let judged = size >= SIZE_LARGE;
    let target = if judged { format!("≤ {STATS_MAX} × GROUP BY") } else { "-".to_owned() };
    let measure = format!("{}: activity_stats of 90 days, median", shown(size));
    let good = !judged || ours <= STATS_MAX * bare;
    let row = Row::figure(&measure, format!("{ours:.2} ms"), &target, good);
    Ok(row.against(format!("{bare:.2} ms GROUP BY"), ours / bare))
}

/// Events from eight connections, each acknowledged after its COMMIT, and the time after the last of
/// them until the index has them all.
fn ingest(made: &Made, programs: &Programs, amount: &Amount) -> Result<Vec<Row>> {
    let home = made.home(&programs.rekindle)?;
    let count = (amount.requests * 40).to_string();
    let (ours, behind) = {
        let _daemon = Daemon::start(&home, &[])?;
        (figures(&home, programs, &["ingest", &count])?, index_is_whole(&home)?)
    };
    let bare = figures(&home, programs, &["insert", &count])?;
    let rate = |figures: &Value| {
        let found = figures["per_second"].as_f64();
        found.with_context(|| format!("no rate in {figures}"))
    };
    let (ours, bare) = (rate(&ours)?, rate(&bare)?);
    let size = shown(made.size);
    let row = Row::figure(
        &format!("{size}: {count} events from 8 connections"),
        format!("{ours:.0}/s"),
        "> 20000/s",
        ours > EVENTS_PER_SECOND_MIN,
    );
    Ok(vec![
        row.against(format!("{bare:.0}/s bare INSERT"), ours / bare),
        Row::figure(
            &format!("{size}: index up to date after these"),
            format!("{:.1} s", behind.as_secs_f64()),
            "< 60 s",
            behind < INDEX_BEHIND_MAX,
        ),
    ])
}

/// Time until a search finds every record.
fn index_is_whole(home: &Home) -> Result<Duration> {
    let began = Instant::now();
    loop {
        let mut search = home.rekindle(&["search", "token", "--project", "*", "--json"]);
        let finished = process::run_ok(&mut search, MEASURE_DEADLINE)?;
        let answer: Value = serde_json::from_str(&finished.stdout)?;
        if answer["partial"] != true {
            return Ok(began.elapsed());
        }
        if began.elapsed() > MEASURE_DEADLINE {
            bail!("the index does not come to an end");
        }
    }
}

pub(super) fn shown(size: usize) -> String {
    match size {
        1_000_000.. => format!("{}M", size / 1_000_000),
        _ => format!("{}k", size / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bench::figures::failures;

    #[test]
    fn a_read_over_its_target_fails_and_a_large_store_has_targets_of_its_own() {
        let figures = json!({
            "timeline": { "ours": 0.4, "p95": 0.5, "bare": 0.1 },
            "search": { "ours": 9.0, "p95": 12.0, "bare": 8.0 },
        });
        let stats = |ours: f64, size| {
            let figures = json!({ "activity_stats": { "ours": ours, "bare": 100.0 } });
            stats_row(size, &figures).expect("its figures are there")
        };
        assert_eq!(failures(&[stats(19.0, SIZE_LARGE), stats(50.0, 1_000)]).len(), 0);
        assert_eq!(failures(&[stats(21.0, SIZE_LARGE)]).len(), 1);
        let row = |name: &str, size: usize| {
            let read = READS.iter().find(|read| read.name == name).expect("it is measured");
            read_row(read, size, &figures).expect("its figures are there")
        };
        let rows = [row("timeline", 1_000), row("search", SIZE_LARGE)];
        assert_eq!(
            failures(&rows),
            ["1k: timeline, median is 0.400 ms (p95 0.50) (target < 0.3 ms)"]
        );
        assert!(READS.iter().any(|read| read_row(read, 1_000, &figures).is_err()));
    }

    #[test]
    fn room_is_judged_where_the_empty_schema_does_not_matter() {
        let figures = json!({
            "observations": 10, "bytes": 9_500, "text_bytes": 1_000, "search_bytes": 500
        });
        let made = |size| Made { database: PathBuf::new(), size, figures: figures.clone() };
        let rows = [1_000, 100_000].map(|size| made(size).room().expect("it has figures"));
        assert_eq!(
            failures(&rows),
            ["100k: bytes beyond its text, each is 800 (target < 400 bytes)"]
        );
    }
}
