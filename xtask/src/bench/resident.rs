//! The cost of a running daemon: time to start, memory and wake-ups at rest, size.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::figures::{Amount, Row, median};
use crate::daemon::Daemon;
use crate::home::Home;

const READY_MAX_MS: f64 = 100.0;
const RSS_MAX_MB: f64 = 30.0;
const SIZE_MAX_MB: f64 = 32.0;

/// From exec to the first 200 of `/health`.
pub(crate) fn ready(binary: &Path, amount: &Amount) -> Result<Row> {
    let mut times = Vec::new();
    for _ in 0..amount.starts {
        let home = Home::new(binary)?;
        let daemon = Daemon::start(&home, &[])?;
        times.push(daemon.ready_after.as_secs_f64() * 1e3);
    }
    let middle = median(&mut times);
    let measure = format!("daemon ready: median of {}", amount.starts);
    Ok(Row::figure(&measure, format!("{middle:.1} ms"), "< 100 ms", middle < READY_MAX_MS))
}

/// Memory and wake-ups of a daemon without clients.
pub(crate) fn idle(binary: &Path, amount: &Amount) -> Result<Vec<Row>> {
    let (memory, wakes) = ("idle: resident memory", "idle: wake-ups");
    if !Path::new("/proc/self/status").exists() {
        let why = "no /proc; measure on Linux";
        return Ok(vec![
            Row::skipped(memory, "< 30 MB", why),
            Row::skipped(wakes, "≤ 1 per second", why),
        ]);
    }
    let home = Home::new(binary)?;
    let daemon = Daemon::start(&home, &[])?;
    // Background checks and the connection of the start are not idleness.
    thread::sleep(Duration::from_secs(2));
    let before = wake_ups(daemon.pid())?;
    let seconds = amount.idle_seconds;
    thread::sleep(Duration::from_secs(seconds));
    let woken = wake_ups(daemon.pid())?.saturating_sub(before);
    let shown = format!("{woken} in {seconds} s");
    let megabytes = megabytes(daemon.pid())?;
    Ok(vec![
        Row::figure(memory, format!("{megabytes:.1} MB"), "< 30 MB", megabytes < RSS_MAX_MB),
        Row::figure(wakes, shown, "≤ 1 per second", woken <= seconds),
    ])
}

/// Memory that a process has now.
pub(crate) fn megabytes(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kilobytes = field(&status, "VmRSS").context("no VmRSS in /proc")?;
    Ok(as_f64(kilobytes) / 1024.0)
}

/// Voluntary context switches of all threads: each one is followed by a wake-up.
fn wake_ups(pid: u32) -> Result<u64> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end between the listing and the reading.
        let status = fs::read_to_string(thread?.path().join("status")).unwrap_or_default();
        sum += field(&status, "voluntary_ctxt_switches").unwrap_or(0);
    }
    Ok(sum)
}

/// The number after a name in a /proc status file.
fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The size of the release binary.
pub(crate) fn size(binary: &Path) -> Result<Row> {
    let megabytes = as_f64(fs::metadata(binary)?.len()) / 1e6;
    Ok(Row::figure(
        "release binary",
        format!("{megabytes:.1} MB"),
        &format!("< {SIZE_MAX_MB} MB"),
        megabytes < SIZE_MAX_MB,
    ))
}

/// Exact for everything measured here.
#[allow(clippy::cast_precision_loss)]
fn as_f64(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_proc_is_read_by_its_whole_name() {
        let status =
            "VmRSS:\t   9600 kB\nvoluntary_ctxt_switches:\t41\nnonvoluntary_ctxt_switches:\t7\n";
        assert_eq!(field(status, "VmRSS"), Some(9600));
        assert_eq!(field(status, "voluntary_ctxt_switches"), Some(41));
        assert_eq!(field(status, "Vm"), None);
    }
}
