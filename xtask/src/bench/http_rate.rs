//! `get_hint` over kept-alive HTTP, beside a bare handler on the same HTTP stack with as many bytes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::figures::{Amount, Programs, Row, median};
use crate::daemon::Daemon;
use crate::home::Home;
use crate::http::{HttpClient, post};
use crate::process::{self, Guarded};

const RATIO_MIN: f64 = 0.6;

/// Short rounds in turn, so that other work on the machine falls on both sides alike.
const REQUESTS_PER_ROUND: usize = 100;

pub(crate) fn get_hint(programs: &Programs, amount: &Amount) -> Result<Row> {
    let home = Home::new(&programs.rekindle)?;
    let daemon = Daemon::start(&home, &[])?;
    set_hint(&home)?;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"get_hint","params":{"component":"web","key":"build"}}"#;
    let request = post("/rpc", &home.token()?, call);
    let mut ours = HttpClient::open(daemon.port)?;
    let (status, body) = ours.send(&request)?;
    let text = String::from_utf8_lossy(body).into_owned();
    if status != 200 || !text.contains("make build") {
        bail!("get_hint answered {status}: {text}");
    }
    let bytes = body.len().to_string();
    let (_bare, port) = bare_handler(&home, &programs.bench, &bytes)?;
    let mut theirs = HttpClient::open(port)?;

    let (mut rates, mut bare_rates, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..amount.requests / REQUESTS_PER_ROUND {
        let bare = rate(&mut theirs, &request, REQUESTS_PER_ROUND)?;
        let rate = rate(&mut ours, &request, REQUESTS_PER_ROUND)?;
        ratios.push(rate / bare);
        rates.push(rate);
        bare_rates.push(bare);
    }
    let ratio = median(&mut ratios);
    let text = |rate: f64| format!("{rate:.0}/s");
    let measure = "get_hint over HTTP: requests";
    let row =
        Row::figure(measure, text(median(&mut rates)), "≥ 0.6 × bare handler", ratio >= RATIO_MIN);
    Ok(row.against(text(median(&mut bare_rates)), ratio))
}

/// Stores the hint that is asked for.
pub(crate) fn set_hint(home: &Home) -> Result<()> {
    let hint = r#"{"component":"web","key":"build","value":"make build"}"#;
    process::run_ok(&mut home.rekindle(&["call", "set_hint", hint]), Duration::from_secs(10))?;
    Ok(())
}

/// The bare handler: a process that answers every request with this many bytes.
fn bare_handler(home: &Home, bench: &Path, bytes: &str) -> Result<(Guarded, u16)> {
    let mut command = home.program(bench, &["http", bytes]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut bare = Guarded::spawn(&mut command, Duration::from_secs(120))?;
    let stdout = bare.stdout().context("the bare handler has no stdout")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    let port = line.trim().parse().with_context(|| format!("no port but '{}'", line.trim()))?;
    Ok((bare, port))
}

/// Requests per second.
fn rate(connection: &mut HttpClient, request: &[u8], count: usize) -> Result<f64> {
    let started = Instant::now();
    let mut answered: u32 = 0;
    for _ in 0..count {
        let (status, _) = connection.send(request)?;
        if status != 200 {
            bail!("request {answered} was answered with {status}");
        }
        answered += 1;
    }
    Ok(f64::from(answered) / started.elapsed().as_secs_f64())
}
