//! A daemon of the binary in a temporary home, started and stopped for a measurement.

use std::fs::{self, File};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::home::Home;
use crate::http;
use crate::process;

const READY_DEADLINE: Duration = Duration::from_secs(10);
const STOP_DEADLINE: Duration = Duration::from_secs(8);

pub(crate) struct Daemon<'a> {
    home: &'a Home,
    child: Child,
    pub(crate) port: u16,
    /// From its start to the first answer of `/health`.
    pub(crate) ready_after: Duration,
}

impl<'a> Daemon<'a> {
    /// Starts `serve --http` with these further arguments and waits until it is healthy.
    pub(crate) fn start(home: &'a Home, args: &[&str]) -> Result<Daemon<'a>> {
        let port = free_port()?;
        let port_text = port.to_string();
        let log = home.file("serve.log");
        let mut command =
            home.rekindle(&["serve", "--http", "--port", &port_text, "--strict-port"]);
        command.args(args).stdin(Stdio::null());
        command.stdout(File::create(&log)?).stderr(File::options().append(true).open(&log)?);
        let started = Instant::now();
        let child = command.spawn().context("cannot start the daemon")?;
        let mut daemon = Daemon { home, child, port, ready_after: Duration::ZERO };
        daemon.wait_until_healthy(started).with_context(|| {
            format!("the daemon said:\n{}", fs::read_to_string(&log).unwrap_or_default().trim_end())
        })?;
        Ok(daemon)
    }

    fn wait_until_healthy(&mut self, started: Instant) -> Result<()> {
        let request = http::get("/health");
        loop {
            let answer = http::HttpClient::open(self.port)
                .and_then(|mut connection| connection.send(&request).map(|(status, _)| status));
            if answer.is_ok_and(|status| status == 200) {
                self.ready_after = started.elapsed();
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("the daemon ended before it was healthy ({status})");
            }
            if started.elapsed() > READY_DEADLINE {
                bail!("the daemon was not healthy within {} s", READY_DEADLINE.as_secs());
            }
            // Short compared with the measured time, long enough to leave the daemon a core.
            thread::sleep(Duration::from_micros(200));
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        // If it does not stop when asked, `wait` kills it.
        let _ = process::run(&mut self.home.rekindle(&["stop"]), STOP_DEADLINE);
        let _ = process::wait(&mut self.child, STOP_DEADLINE);
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
