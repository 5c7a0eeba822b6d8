//! This build beside an earlier one, in turn: instructions and wall time of the hook, and processor time of a daemon that
//! records three weeks of work, searches them, writes briefings and reads a hint.
//!
//! Processor time is read from the kernel, so other work on the machine matters little; each figure is the best of
//! several rounds.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::figures::{Amount, Programs, Row, median};
use super::hook;
use super::observations::{Made, SIZE_INGEST, SIZE_LARGE, shown};
use crate::daemon::Daemon;
use crate::home::Home;
use crate::http::{HttpClient, post};
use crate::project::Project;
use crate::weeks::CiWeeks;

const RATIO_MAX: f64 = 1.1;
const RATIO_SEARCH_MAX: f64 = 1.15;
/// Most that a question in the default order may cost, against the order by relevance alone. It was 2.1 when each search
/// parsed the texts that it compared.
const RATIO_READING_MAX: f64 = 1.6;
const ROUNDS: usize = 3;
/// Questions, briefings and hints of one round.
const QUESTIONS: usize = 150;
const BRIEFINGS: usize = 150;
const HINTS: usize = 8_000;
/// The kernel's unit of processor time, equal on every Linux.
const MS_PER_TICK: f64 = 10.0;

pub(super) fn rows(
    project: &Project,
    programs: &Programs,
    before: &Path,
    amount: &Amount,
    large: bool,
) -> Result<Vec<Row>> {
    let builds = [programs.rekindle.as_path(), before];
    let mut rows = Vec::new();
    if let [Some(now), Some(then)] = [hook::count(builds[0])?, hook::count(builds[1])?] {
        rows.push(row("hook: instructions", "M", [now / 1e6, then / 1e6], RATIO_MAX));
    }
    rows.push(hook_wall(builds, amount)?);
    rows.extend(weeks(project, builds)?);
    for size in [Some(SIZE_INGEST), large.then_some(SIZE_LARGE)].into_iter().flatten() {
        rows.extend(made_up(&Made::get(project, programs, size)?, builds)?);
    }
    Ok(rows)
}

fn row(measure: &str, unit: &str, [now, then]: [f64; 2], max: f64) -> Row {
    let text = |figure: f64| format!("{figure:.3} {unit}");
    let row = Row::figure(measure, text(now), &format!("≤ {max} × before"), now <= max * then);
    row.against(text(then), now / then)
}

fn hook_wall(builds: [&Path; 2], amount: &Amount) -> Result<Row> {
    let homes = [Home::new(builds[0])?, Home::new(builds[1])?];
    let _daemons = [Daemon::start(&homes[0], &[])?, Daemon::start(&homes[1], &[])?];
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..amount.spawns + hook::WARM_UP {
        for (home, times) in homes.iter().zip(&mut times) {
            times.push(hook::one(home, number)? * 1e3);
        }
    }
    let medians = times.map(|mut times| median(&mut times[hook::WARM_UP..]));
    Ok(row("hook, daemon up: median wall", "ms", medians, RATIO_MAX))
}

/// Each round records the weeks in fresh stores; the last ones are then read.
fn weeks(project: &Project, builds: [&Path; 2]) -> Result<Vec<Row>> {
    let work = CiWeeks::of_ci(project)?;
    let mut ingest = Best::default();
    for round in 1..=ROUNDS {
        let homes = [Home::new(builds[0])?, Home::new(builds[1])?];
        let daemons = [Daemon::start(&homes[0], &[])?, Daemon::start(&homes[1], &[])?];
        for (side, (home, daemon)) in homes.iter().zip(&daemons).enumerate() {
            let spent = cpu_ms(daemon.pid())?;
            let events = work.send(home)?;
            ingest.take(side, cpu_ms(daemon.pid())? - spent, events);
        }
        if round == ROUNDS {
            let sides = Side::pair(&homes, &daemons)?;
            let mut rows = vec![row("weeks: an event, processor", "ms", ingest.0, RATIO_MAX)];
            rows.extend(reads(&work, sides)?);
            return Ok(rows);
        }
    }
    bail!("no round was measured")
}

fn reads(work: &CiWeeks, mut sides: [Side; 2]) -> Result<Vec<Row>> {
    for side in &mut sides {
        let hint = json!({ "component": "web", "key": "build", "value": "make build" });
        side.call("set_hint", &hint)?;
    }
    let questions = questions(work, &json!({ "project": "*" }));
    let projects: Vec<Value> =
        work.projects().into_iter().map(|name| json!({ "project": name })).collect();
    let hint = [json!({ "component": "web", "key": "build" })];
    Ok(vec![
        row(
            "weeks: a question, processor",
            "ms",
            in_turn(&mut sides, "search", &questions, QUESTIONS)?,
            RATIO_SEARCH_MAX,
        ),
        row(
            "weeks: a briefing, processor",
            "ms",
            in_turn(&mut sides, "briefing", &projects, BRIEFINGS)?,
            RATIO_MAX,
        ),
        row(
            "get_hint over HTTP, processor",
            "ms",
            in_turn(&mut sides, "get_hint", &hint, HINTS)?,
            RATIO_MAX,
        ),
    ])
}

/// The questions about the weeks, each with these further parameters.
fn questions(work: &CiWeeks, with: &Value) -> Vec<Value> {
    let asked = work.questions().map(|text| {
        let mut params = with.clone();
        params["query"] = text.into();
        params
    });
    asked.collect()
}

/// Questions about weeks with answers and decisions, in the default order and by relevance alone. The difference is what
/// reading the first hits costs: which say the same, which answer the question, and which were replaced.
pub(super) fn reading_hits(project: &Project, binary: &Path) -> Result<Row> {
    let work = CiWeeks::of_ci(project)?;
    let home = Home::new(binary)?;
    let daemon = Daemon::start(&home, &[])?;
    work.send(&home)?;
    let orders = ["best", "relevance"];
    let mut best = Best::default();
    let mut side = Side::open(&home, &daemon)?;
    for round in 0..=ROUNDS {
        for (order, by) in orders.iter().enumerate() {
            let questions = questions(&work, &json!({ "project": "*", "order_by": by }));
            let spent = cpu_ms(side.pid)?;
            for one in &questions {
                side.call("search", one)?;
            }
            // The first round fills the caches.
            if round > 0 {
                best.take(order, cpu_ms(side.pid)? - spent, questions.len());
            }
        }
    }
    let [read, unread] = best.0;
    let text = |figure: f64| format!("{figure:.3} ms");
    let target = format!("≤ {RATIO_READING_MAX} × by relevance");
    let good = read <= RATIO_READING_MAX * unread;
    let row = Row::figure("weeks: a question, processor", text(read), &target, good);
    Ok(row.against(text(unread), read / unread))
}

/// Searches in a generated store.
fn made_up(made: &Made, builds: [&Path; 2]) -> Result<Vec<Row>> {
    let homes = [made.home(builds[0])?, made.home(builds[1])?];
    let daemons = [Daemon::start(&homes[0], &[])?, Daemon::start(&homes[1], &[])?];
    let mut sides = Side::pair(&homes, &daemons)?;
    let queries = |texts: &[&str]| -> Vec<Value> {
        texts.iter().map(|text| json!({ "query": text, "project": "*" })).collect()
    };
    let words = queries(&["session token", "cache", "queue schema", "retry limit"]);
    let questions = queries(&[
        "where is the schema of the queue",
        "why did the session token expire",
        "how is the cache filled",
        "what was wrong with the retry",
    ]);
    let size = shown(made.size);
    let mut rows = Vec::new();
    for (name, queries) in [("1 or 2 words", words), ("a question", questions)] {
        let spent = in_turn(&mut sides, "search", &queries, QUESTIONS)?;
        rows.push(row(&format!("{size}: {name}, processor"), "ms", spent, RATIO_SEARCH_MAX));
    }
    Ok(rows)
}

/// The least processor time of one call on each side, in milliseconds.
struct Best([f64; 2]);

impl Default for Best {
    fn default() -> Best {
        Best([f64::INFINITY; 2])
    }
}

impl Best {
    fn take(&mut self, side: usize, ms: f64, calls: usize) {
        let calls = u32::try_from(calls).map_or(f64::NAN, f64::from);
        self.0[side] = self.0[side].min(ms / calls);
    }
}

/// Calls an operation on both sides in turn.
fn in_turn(sides: &mut [Side; 2], op: &str, params: &[Value], calls: usize) -> Result<[f64; 2]> {
    let mut best = Best::default();
    for side in &mut *sides {
        for one in params {
            side.call(op, one)?;
        }
    }
    for _ in 0..ROUNDS {
        for (number, side) in sides.iter_mut().enumerate() {
            let spent = cpu_ms(side.pid)?;
            for one in params.iter().cycle().take(calls) {
                side.call(op, one)?;
            }
            best.take(number, cpu_ms(side.pid)? - spent, calls);
        }
    }
    Ok(best.0)
}

/// A daemon of one of the builds, and a connection to it.
struct Side {
    connection: HttpClient,
    token: String,
    pid: u32,
}

impl Side {
    fn pair(homes: &[Home; 2], daemons: &[Daemon<'_>; 2]) -> Result<[Side; 2]> {
        Ok([Side::open(&homes[0], &daemons[0])?, Side::open(&homes[1], &daemons[1])?])
    }

    fn open(home: &Home, daemon: &Daemon<'_>) -> Result<Side> {
        let connection = HttpClient::open(daemon.port)?;
        Ok(Side { connection, token: home.token()?, pid: daemon.pid() })
    }

    fn call(&mut self, op: &str, params: &Value) -> Result<()> {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": op, "params": params });
        let request = post("/rpc", &self.token, &call.to_string());
        let (status, body) = self.connection.send(&request)?;
        let text = String::from_utf8_lossy(body);
        if status != 200 || text.contains("\"error\":{") {
            bail!("{op} answered {status}: {text}");
        }
        Ok(())
    }
}

/// Processor time of a process so far, with threads that have ended.
fn cpu_ms(pid: u32) -> Result<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    ticks(&text).map(|ticks| ticks * MS_PER_TICK).context("the kernel counts no processor time")
}

/// The 14th and 15th field, counted behind the name of the program, which may have spaces.
fn ticks(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11).map(str::parse::<f64>);
    Some(fields.next()?.ok()? + fields.next()?.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figures::failures;

    #[test]
    fn a_build_that_got_slower_fails() {
        assert!(failures(&[row("x", "ms", [1.09, 1.0], RATIO_MAX)]).is_empty());
        let failed = failures(&[row("x", "ms", [1.2, 1.0], RATIO_MAX)]);
        assert_eq!(failed, ["x is 1.200 ms (target ≤ 1.1 × before)"]);
    }

    #[test]
    fn the_best_round_counts() {
        let mut best = Best::default();
        best.take(0, 30.0, 10);
        best.take(0, 20.0, 10);
        best.take(1, 50.0, 10);
        assert_eq!(best.0, [2.0, 5.0]);
    }

    #[test]
    fn time_in_the_program_and_in_the_kernel_are_added() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 2100 0 0 0 31 4 0 0 20 0 9 0 5";
        assert_eq!(ticks(stat), Some(35.0));
        assert_eq!(ticks("7 (cut) S 1"), None);
        assert!(cpu_ms(std::process::id()).is_ok());
    }
}
