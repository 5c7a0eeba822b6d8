//! `curl` against the HTTP server: health, a call, and refusals of requests without a token or from
//! a foreign origin.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::daemon::Daemon;
use crate::home::Home;
use crate::process;
use crate::report::{StepLog, StepOutcome};

pub(crate) fn run(home: &Home, log: &mut StepLog) -> Result<()> {
    if !process::exists("curl", "--version") {
        log.step("curl", || Ok(StepOutcome::Skipped("no curl; apt-get install curl".into())));
        return Ok(());
    }
    let daemon = Daemon::start(home, &[])?;
    let rpc = daemon.url("/rpc");
    let bearer = format!("Authorization: Bearer {}", home.token()?);
    let json_type = "Content-Type: application/json";

    log.step("curl /health", || {
        let (status, body) = curl(&[&daemon.url("/health")])?;
        expect(status, 200, &body, body["status"] == "healthy" && body["pid"] == daemon.pid())
    });
    log.step("curl /rpc", || {
        let set =
            call("set_hint", &json!({ "component": "web", "key": "build", "value": "make build" }));
        let (status, body) = curl(&["-H", &bearer, "-H", json_type, "-d", &set, &rpc])?;
        expect(status, 200, &body, body["id"] == 1 && body["result"].is_object())?;
        let get = call("get_hint", &json!({ "component": "web", "key": "build" }));
        let (status, body) = curl(&["-H", &bearer, "-H", json_type, "-d", &get, &rpc])?;
        expect(status, 200, &body, body["result"]["hint"]["value"] == "make build")
    });
    let get = call("get_hint", &json!({ "component": "web", "key": "build" }));
    log.step("curl without the token", || {
        let (status, body) = curl(&["-H", json_type, "-d", &get, &rpc])?;
        expect(status, 401, &body, body["error"].is_object())
    });
    log.step("curl with a foreign Origin", || {
        let origin = "Origin: https://example.com";
        let (status, body) =
            curl(&["-H", origin, "-H", &bearer, "-H", json_type, "-d", &get, &rpc])?;
        expect(status, 403, &body, body["error"].is_object())
    });
    Ok(())
}

fn call(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

/// The status and the body of an answer.
fn curl(args: &[&str]) -> Result<(u16, Value)> {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--noproxy", "*", "--max-time", "10"]);
    command.args(["--write-out", "\n%{http_code}"]).args(args);
    let finished = process::run_ok(&mut command, Duration::from_secs(20))?;
    let (body, status) = finished.stdout.rsplit_once('\n').context("curl printed no status")?;
    let body = serde_json::from_str(body).with_context(|| format!("not JSON: {body}"))?;
    Ok((status.parse()?, body))
}

fn expect(status: u16, wanted: u16, body: &Value, good: bool) -> Result<StepOutcome> {
    if status != wanted || !good {
        bail!("expected {wanted}, got {status}: {body}");
    }
    Ok(StepOutcome::Ok(format!("{status}")))
}
