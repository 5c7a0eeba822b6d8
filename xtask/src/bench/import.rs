//! Imports of generated transcripts beside the bare JSON parser, and the daemon's other work meanwhile.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::figures::{Amount, Programs, Row, median, p95};
use super::hook::{self, WARM_UP};
use crate::daemon::Daemon;
use crate::home::Home;
use crate::http::{HttpClient, post};
use crate::process;

/// Tool calls of the generated transcripts: about 40 MB of Claude Code, and 16 MB of Codex before compression.
const USES: usize = 4_000;
const USES_QUICK: usize = 1_000;
const ROUNDS: usize = 3;
/// Transcripts that are only counted.
const MANY_FILES: usize = 10_000;
const DEADLINE: Duration = Duration::from_secs(600);

/// How much longer than the parser a dry run may take, and an import until its last COMMIT.
const DRY_RUN_MAX: f64 = 1.2;
const IMPORT_MAX: f64 = 2.5;
const AGAIN_MAX: f64 = 1.0 / 50.0;
const COUNT_MAX: f64 = 3.0;
const HOOK_MAX: f64 = 1.5;
const SEARCH_MAX: f64 = 2.0;
const READER_MAX_MB: f64 = 64.0;
const DAEMON_MAX_MB: f64 = 60.0;
const AGENTS: [&str; 2] = ["claude-code", "codex"];

pub(crate) fn rows(programs: &Programs, amount: &Amount) -> Result<Vec<Row>> {
    let uses = if amount.starts < ROUNDS + 1 { USES_QUICK } else { USES };
    let mut rows = speed(programs, uses)?;
    rows.push(counting(programs)?);
    rows.extend(beside_other_work(programs, amount, uses)?);
    Ok(rows)
}

/// A home with generated transcripts.
fn with_transcripts(programs: &Programs, uses: usize) -> Result<Home> {
    let home = Home::new(&programs.rekindle)?;
    make(&home, &programs.bench, &["transcripts", &uses.to_string()])?;
    Ok(home)
}

fn make(home: &Home, bench: &Path, args: &[&str]) -> Result<Value> {
    let finished = process::run_ok(&mut home.program(bench, args), DEADLINE)?;
    serde_json::from_str(&finished.stdout).context("the figures are not JSON")
}

/// A dry run, an import and a second import, beside the parser. All take turns.
fn speed(programs: &Programs, uses: usize) -> Result<Vec<Row>> {
    let mut best: [[f64; 4]; 2] = [[f64::INFINITY; 4]; 2];
    for _ in 0..ROUNDS {
        let home = with_transcripts(programs, uses)?;
        let _daemon = Daemon::start(&home, &[])?;
        import_first(&home)?;
        let parsed = make(&home, &programs.bench, &["parse", "1"])?;
        for (agent, best) in AGENTS.iter().zip(&mut best) {
            let took = [
                parsed[agent].as_f64().context("the parser has no figure")?,
                import(&home, &[agent, "--dry-run"])?.0,
                import(&home, &[agent])?.0,
                import(&home, &[agent])?.0,
            ];
            for (best, took) in best.iter_mut().zip(took) {
                *best = best.min(took);
            }
        }
    }
    Ok(AGENTS.iter().zip(best).flat_map(|(agent, best)| speed_rows(agent, best)).collect())
}

/// Imports a prompt. The first import into a store also indexes everything and searches for finds; the figures end with
/// the last COMMIT.
fn import_first(home: &Home) -> Result<()> {
    let line = json!({ "type": "user", "uuid": "first", "sessionId": "first", "cwd": home.file(""),
        "message": { "role": "user", "content": "where is it?" } });
    let file = home.file("first.jsonl");
    fs::write(&file, format!("{line}\n"))?;
    import(home, &[&file.to_string_lossy()]).map(drop)
}

fn speed_rows(agent: &str, [parsed, dry, whole, again]: [f64; 4]) -> [Row; 3] {
    let row = |what: &str, ours: f64, beside: f64, name: &str, max: f64| {
        let target = format!("≤ {max} × {name}");
        let measure = format!("import {agent}: {what}");
        Row::figure(&measure, format!("{ours:.0} ms"), &target, ours <= max * beside)
            .against(format!("{beside:.0} ms {name}"), ours / beside)
    };
    [
        row("dry run", dry, parsed, "parser", DRY_RUN_MAX),
        row("with COMMIT", whole, parsed, "parser", IMPORT_MAX),
        row("again", again, whole, "first", AGAIN_MAX),
    ]
}

/// Milliseconds of an import, and its report.
fn import(home: &Home, args: &[&str]) -> Result<(f64, Value)> {
    let args: Vec<&str> = ["import", "--json", "--yes"].iter().chain(args).copied().collect();
    let started = Instant::now();
    let finished = process::run_ok(&mut home.rekindle(&args), DEADLINE)?;
    let took = started.elapsed().as_secs_f64() * 1e3;
    let report: Value = serde_json::from_str(&finished.stdout).context("no report")?;
    if report["problems"] != json!([]) {
        bail!("the generated transcripts have problems: {}", report["problems"]);
    }
    Ok((took, report))
}

/// The count of the first run's question, beside a listing of the files.
fn counting(programs: &Programs) -> Result<Row> {
    let home = Home::new(&programs.rekindle)?;
    make(&home, &programs.bench, &["files", &MANY_FILES.to_string()])?;
    let _daemon = Daemon::start(&home, &[])?;
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        let started = Instant::now();
        // Without a terminal and `--yes`, it only counts.
        let finished = process::run(&mut home.rekindle(&["import"]), DEADLINE)?;
        best[0] = best[0].min(started.elapsed().as_secs_f64() * 1e3);
        if !finished.stderr.contains(&format!("Found {MANY_FILES} sessions")) {
            bail!("the question does not count {MANY_FILES} sessions: {}", finished.said());
        }
        let mut listing = home.program(Path::new("find"), &[".claude/projects", "-printf", "%s\n"]);
        let started = Instant::now();
        process::run_ok(&mut listing, DEADLINE)?;
        best[1] = best[1].min(started.elapsed().as_secs_f64() * 1e3);
    }
    let [ours, find] = best;
    let target = format!("≤ {COUNT_MAX} × find");
    let row = Row::figure(
        "import: count of 10,000 files",
        format!("{ours:.0} ms"),
        &target,
        ours <= COUNT_MAX * find,
    );
    Ok(row.against(format!("{find:.0} ms find"), ours / find))
}

/// Hooks, searches and memory during an import, beside those of a daemon at rest.
fn beside_other_work(programs: &Programs, amount: &Amount, uses: usize) -> Result<Vec<Row>> {
    let home = with_transcripts(programs, uses)?;
    let daemon = Daemon::start(&home, &[])?;
    let mut search = SearchClient::open(&home, &daemon)?;
    // The import of one agent is there to be searched, before that of the other is measured.
    import(&home, &["codex"])?;
    let mut number = 0;
    let mut measured = |home: &Home, search: &mut SearchClient| -> Result<[f64; 2]> {
        number += 1;
        Ok([hook::one(home, number)? * 1e3, search.once(number)?])
    };
    let mut at_rest = [Vec::new(), Vec::new()];
    for _ in 0..amount.spawns / 2 + WARM_UP {
        let [hook, search] = measured(&home, &mut search)?;
        at_rest[0].push(hook);
        at_rest[1].push(search);
    }
    let before = field_mb(daemon.pid(), "VmRSS")?;
    let mut command = home.rekindle(&["import", "claude-code", "--json", "--yes"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let mut meanwhile = [Vec::new(), Vec::new()];
    let mut reader = 0.0;
    while child.try_wait()?.is_none() {
        let [hook, search] = measured(&home, &mut search)?;
        meanwhile[0].push(hook);
        meanwhile[1].push(search);
        // The process may have ended in between.
        reader = field_mb(child.id(), "VmHWM").unwrap_or(reader);
    }
    let grown = field_mb(daemon.pid(), "VmHWM")? - before;
    let count = meanwhile[0].len();
    let mut rows = vec![
        beside(
            &format!("hook, p95 of {count} during an import"),
            p95(&mut meanwhile[0]),
            p95(&mut at_rest[0][WARM_UP..]),
            HOOK_MAX,
        ),
        beside(
            &format!("search, median of {count} during an import"),
            median(&mut meanwhile[1]),
            median(&mut at_rest[1][WARM_UP..]),
            SEARCH_MAX,
        ),
    ];
    let memory = |measure: &str, mb: f64, max: f64| {
        Row::figure(measure, format!("{mb:.0} MB"), &format!("< {max} MB"), mb < max)
    };
    rows.push(memory("import: memory of the command", reader, READER_MAX_MB));
    rows.push(memory("import: memory that the daemon adds", grown, DAEMON_MAX_MB));
    Ok(rows)
}

fn beside(measure: &str, ours: f64, at_rest: f64, max: f64) -> Row {
    let row = Row::figure(
        measure,
        format!("{ours:.2} ms"),
        &format!("≤ {max} × at rest"),
        ours <= max * at_rest,
    );
    row.against(format!("{at_rest:.2} ms at rest"), ours / at_rest)
}

/// A figure in megabytes from what the kernel says of a process.
fn field_mb(pid: u32, name: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kilobytes.with_context(|| format!("no {name} of process {pid}"))? / 1024.0)
}

/// Searches over a connection of their own.
struct SearchClient {
    connection: HttpClient,
    token: String,
}

impl SearchClient {
    fn open(home: &Home, daemon: &Daemon<'_>) -> Result<SearchClient> {
        Ok(SearchClient { connection: HttpClient::open(daemon.port)?, token: home.token()? })
    }

    /// Milliseconds of one search.
    fn once(&mut self, number: usize) -> Result<f64> {
        let words = ["session token", "cache", "queue schema", "retry limit"];
        let params = json!({ "query": words[number % words.len()], "project": "*" });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "search", "params": params });
        let request = post("/rpc", &self.token, &call.to_string());
        let started = Instant::now();
        let (status, body) = self.connection.send(&request)?;
        let took = started.elapsed().as_secs_f64() * 1e3;
        if status != 200 {
            bail!("search answered {status}: {}", String::from_utf8_lossy(body));
        }
        Ok(took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figures::failures;

    #[test]
    fn a_dry_run_over_its_ratio_and_a_second_import_that_reads_again_fail() {
        let rows = speed_rows("codex", [100.0, 121.0, 249.0, 6.0]);
        assert_eq!(
            failures(&rows),
            [
                "import codex: dry run is 121 ms (target ≤ 1.2 × parser)",
                "import codex: again is 6 ms (target ≤ 0.02 × first)",
            ]
        );
        assert_eq!(failures(&[beside("search", 2.1, 1.0, SEARCH_MAX)]).len(), 1);
        assert!(field_mb(std::process::id(), "VmHWM").is_ok_and(|mb| mb > 0.0));
    }
}
