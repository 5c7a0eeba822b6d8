//! `get_hint` over MCP on stdio, through the PRIMARY itself and through a PROXY to it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::figures::{Amount, Row, median};
use crate::home::Home;
use crate::process::Guarded;

const MEDIAN_MAX_US: f64 = 300.0;
const CALLS_PER_ROUND: usize = 100;

pub(crate) fn get_hint(binary: &Path, amount: &Amount) -> Result<Vec<Row>> {
    let home = Home::new(binary)?;
    let mut primary = ServeClient::start(&home)?;
    let mut proxy = ServeClient::start(&home)?;
    let hint = json!({ "component": "web", "key": "build", "value": "make build" });
    primary.call("set_hint", &hint)?;

    let (mut direct, mut forwarded) = (Vec::new(), Vec::new());
    for _ in 0..amount.calls / CALLS_PER_ROUND {
        primary.measure(CALLS_PER_ROUND, &mut direct)?;
        proxy.measure(CALLS_PER_ROUND, &mut forwarded)?;
    }
    let row = |name: &str, times: &mut [f64]| {
        let middle = median(times);
        let measure = format!("get_hint over stdio MCP, {name}: median");
        Row::figure(&measure, format!("{middle:.0} µs"), "< 300 µs", middle < MEDIAN_MAX_US)
    };
    Ok(vec![row("PRIMARY", &mut direct), row("PROXY", &mut forwarded)])
}

/// One client of `rekindle serve`.
struct ServeClient {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _server: Guarded,
    line: String,
}

impl ServeClient {
    fn start(home: &Home) -> Result<ServeClient> {
        let mut command = home.rekindle(&["serve"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = Guarded::spawn(&mut command, Duration::from_secs(120))?;
        let input = server.stdin().context("the server has no stdin")?;
        let output = BufReader::new(server.stdout().context("the server has no stdout")?);
        let mut session = ServeClient { input, output, _server: server, line: String::new() };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "xtask", "version": "0" },
        });
        session.request(&line("initialize", &hello))?;
        session
            .input
            .write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(session)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        self.request(&line("tools/call", &json!({ "name": tool, "arguments": arguments })))?;
        let reply: Value = serde_json::from_str(&self.line)?;
        if reply["result"]["isError"] == true || !reply["result"].is_object() {
            bail!("{tool} answered {reply}");
        }
        Ok(reply)
    }

    /// Calls `get_hint` and notes microseconds of each call.
    fn measure(&mut self, calls: usize, times: &mut Vec<f64>) -> Result<()> {
        let arguments = json!({ "component": "web", "key": "build" });
        let reply = self.call("get_hint", &arguments)?;
        if !reply.to_string().contains("make build") {
            bail!("get_hint answered {reply}");
        }
        let request = line("tools/call", &json!({ "name": "get_hint", "arguments": arguments }));
        for _ in 0..calls {
            let started = Instant::now();
            self.request(&request)?;
            times.push(started.elapsed().as_secs_f64() * 1e6);
        }
        Ok(())
    }

    /// Sends a line and reads the one that answers it.
    fn request(&mut self, request: &str) -> Result<()> {
        self.input.write_all(request.as_bytes())?;
        self.line.clear();
        if self.output.read_line(&mut self.line)? == 0 {
            bail!("the server ended without an answer");
        }
        Ok(())
    }
}

fn line(method: &str, params: &Value) -> String {
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
}
