//! The hook, the hottest path: instructions of the whole process, and wall time beside `/bin/true`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::figures::{Amount, Row, median};
use crate::daemon::Daemon;
use crate::home::Home;
use crate::process;

const INSTRUCTIONS_MAX: f64 = 0.6e6;
const RATIO_WITH_DAEMON_MAX: f64 = 2.2;
/// Without a daemon, the hook itself extracts and redacts the event.
const RATIO_WITHOUT_DAEMON_MAX: f64 = 3.0;
const RATIO_STATUS_LINE_MAX: f64 = 2.5;
pub(super) const FLOOR: &str = "/bin/true";
/// Spawns before the measured ones.
pub(super) const WARM_UP: usize = 5;
/// The session of every payload.
const SESSION: &str = "00000000-0000-4000-8000-000000000001";
const EVENT: [&str; 2] = ["hook", "PostToolUse"];

/// Instructions of one hook whose row the daemon commits.
pub(crate) fn instructions(binary: &Path) -> Result<Row> {
    let measure = "hook, daemon up: instructions";
    let target = "≤ 0.60 M";
    let Some(count) = count(binary)? else {
        return Ok(Row::skipped(measure, target, "no valgrind; apt-get install valgrind"));
    };
    let ours = format!("{:.2} M", count / 1e6);
    Ok(Row::figure(measure, ours, target, count <= INSTRUCTIONS_MAX))
}

/// Instructions of one status line that the daemon answers.
pub(crate) fn status_line_instructions(binary: &Path) -> Result<Row> {
    let measure = "statusline, daemon up: instructions";
    let target = "≤ 0.60 M";
    if !process::exists("valgrind", "--version") {
        return Ok(Row::skipped(measure, target, "no valgrind; apt-get install valgrind"));
    }
    let home = Home::new(binary)?;
    let _daemon = Daemon::start(&home, &[])?;
    declare_files(&home)?;
    let finished = under_callgrind(&home, &["statusline"], &payload(&home, 0)?)?;
    if finished.stdout.trim() != "cart.md · tax.rs" {
        bail!("the status line is {:?}", finished.stdout);
    }
    let count = collected(&finished.stderr).context("valgrind reported no count")?;
    let ours = format!("{:.2} M", count / 1e6);
    Ok(Row::figure(measure, ours, target, count <= INSTRUCTIONS_MAX))
}

/// The median of status lines that the daemon answers.
pub(crate) fn status_line(binary: &Path, amount: &Amount) -> Result<Row> {
    let home = Home::new(binary)?;
    let _daemon = Daemon::start(&home, &[])?;
    declare_files(&home)?;
    let (ours, floor) = interleaved(&home, &["statusline"], amount.spawns)?;
    Ok(row("statusline, daemon up: median wall", ours, floor, RATIO_STATUS_LINE_MAX))
}

/// Two files in the context of the session of [`payload`].
fn declare_files(home: &Home) -> Result<()> {
    // The command `context set` takes only sessions that exist; the operation creates this one.
    let params = serde_json::json!({
        "setName": "files", "items": ["/web/cart.md", "/web/tax.rs"], "session_id": SESSION,
    });
    let args = ["call", "set_relevant_context", &params.to_string()];
    process::run_ok(&mut home.rekindle(&args), Duration::from_secs(10)).map(drop)
}

/// The instructions as callgrind counts them; `None` without valgrind.
pub(super) fn count(binary: &Path) -> Result<Option<f64>> {
    if !process::exists("valgrind", "--version") {
        return Ok(None);
    }
    let home = Home::new(binary)?;
    let _daemon = Daemon::start(&home, &[])?;
    let finished = under_callgrind(&home, &EVENT, &payload(&home, 0)?)?;
    expect_committed(&home, 1).context("under valgrind the hook took another path")?;
    collected(&finished.stderr).context("valgrind reported no count").map(Some)
}

/// Runs a command of ours under callgrind, with a file as its stdin.
fn under_callgrind(home: &Home, args: &[&str], stdin: &Path) -> Result<process::FinishedCommand> {
    let out = home.file("callgrind.out");
    let mut command = Command::new("valgrind");
    command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", out.display()));
    command.arg(home.binary()).args(args);
    home.enclose(&mut command);
    let finished =
        process::run_with(&mut command, File::open(stdin)?.into(), Duration::from_secs(60))?;
    if !finished.status.success() {
        bail!("{args:?} failed under valgrind\n{}", finished.said());
    }
    Ok(finished)
}

/// Seconds of the hook of this number in a home.
pub(super) fn one(home: &Home, number: usize) -> Result<f64> {
    spawn(home.rekindle(&EVENT), &payload(home, number)?)
}

/// The total that callgrind prints at the end.
fn collected(stderr: &str) -> Option<f64> {
    let line = stderr.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// The median of hooks that the daemon answers.
pub(crate) fn with_daemon(binary: &Path, amount: &Amount) -> Result<Row> {
    let home = Home::new(binary)?;
    let _daemon = Daemon::start(&home, &[])?;
    let (ours, floor) = interleaved(&home, &EVENT, amount.spawns)?;
    expect_committed(&home, amount.spawns + WARM_UP)?;
    Ok(row("hook, daemon up: median wall", ours, floor, RATIO_WITH_DAEMON_MAX))
}

/// The median of hooks that find no daemon and spool.
pub(crate) fn without_daemon(binary: &Path, amount: &Amount) -> Result<Row> {
    let home = Home::new(binary)?;
    let (ours, floor) = interleaved(&home, &EVENT, amount.spawns)?;
    if home.spooled() != amount.spawns + WARM_UP {
        bail!("{} events of {} hooks are in the spool", home.spooled(), amount.spawns + WARM_UP);
    }
    Ok(row("hook, no daemon: median wall", ours, floor, RATIO_WITHOUT_DAEMON_MAX))
}

fn row(measure: &str, ours: f64, floor: f64, max: f64) -> Row {
    let ratio = ours / floor;
    let text = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
    let row = Row::figure(measure, text(ours), &format!("≤ {max} × {FLOOR}"), ratio <= max);
    row.against(text(floor), ratio)
}

/// Spawns a command of ours and the floor in turn; medians in seconds.
fn interleaved(home: &Home, args: &[&str], spawns: usize) -> Result<(f64, f64)> {
    let payloads: Vec<PathBuf> =
        (0..spawns + WARM_UP).map(|number| payload(home, number)).collect::<Result<_>>()?;
    let ours_command = || home.rekindle(args);
    let floor = || {
        let mut command = Command::new(FLOOR);
        home.enclose(&mut command);
        command
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for payload in &payloads {
        ours.push(spawn(ours_command(), payload)?);
        theirs.push(spawn(floor(), payload)?);
    }
    Ok((median(&mut ours[WARM_UP..]), median(&mut theirs[WARM_UP..])))
}

/// Seconds from spawn to exit.
fn spawn(mut command: Command, payload: &Path) -> Result<f64> {
    command.stdin(File::open(payload)?).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status()?;
    let took = started.elapsed();
    if !status.success() {
        bail!("{} ended with {status}", command.get_program().to_string_lossy());
    }
    Ok(took.as_secs_f64())
}

/// Checks that every hook left a row in the store, so that the whole path is measured.
fn expect_committed(home: &Home, wanted: usize) -> Result<()> {
    match committed(home)? {
        events if events == wanted => Ok(()),
        events => bail!("{events} events of {wanted} hooks are in the store"),
    }
}

/// The number of events in the store.
pub(super) fn committed(home: &Home) -> Result<usize> {
    let finished =
        process::run_ok(&mut home.rekindle(&["status", "--json"]), Duration::from_secs(10))?;
    let status: Value = serde_json::from_str(&finished.stdout).context("status is not JSON")?;
    let events = status["events"].as_u64().context("status counts no events")?;
    Ok(usize::try_from(events)?)
}

/// About a kilobyte, as an agent sends it after a command; every number is another event.
fn payload(home: &Home, number: usize) -> Result<PathBuf> {
    let event = json!({
        "session_id": SESSION,
        "transcript_path": "/home/user/.claude/projects/-home-user-web/00000000-0000-4000-8000-000000000001.jsonl",
        "cwd": home.file("home"),
        "prompt_id": "00000000-0000-4000-8000-000000000002",
        "permission_mode": "default",
        "effort": { "level": "medium" },
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {
            "command": format!("cd web && cargo test --package api session_{number} 2>&1 | tail -n 20"),
            "description": "Run the tests of the session",
        },
        "tool_response": {
            "stdout": "running 3 tests\ntest session::begins_with_a_token ... ok\ntest session::ends_after_an_hour ... ok\ntest session::is_renewed ... ok\n\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 41 filtered out; finished in 0.02s",
            "stderr": "",
            "interrupted": false,
            "isImage": false,
            "noOutputExpected": false,
        },
        "tool_use_id": format!("toolu_{number:024}"),
        "duration_ms": 1_872,
    });
    let path = home.file(&format!("payload-{number}.json"));
    fs::write(&path, event.to_string())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_callgrinds_last_lines() {
        let text = "==1== Events    : Ir\n==1== Collected : 431207\n==1==\n";
        assert_eq!(collected(text), Some(431_207.0));
        assert_eq!(collected("==1== nothing"), None);
    }

    #[test]
    fn a_ratio_over_its_target_fails() {
        assert_eq!(row("x", 0.002, 0.001, 2.2).verdict, crate::bench::Verdict::Pass);
        assert_eq!(row("x", 0.003, 0.001, 2.2).verdict, crate::bench::Verdict::Fail);
    }
}
