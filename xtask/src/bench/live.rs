//! The context of sessions and the activity of all sessions: writes beside `set_hint`, frames at subscribers beside the
//! answer of the write, pages of activity in stores of two sizes, and ingest with a subscriber.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::figures::{Amount, Programs, Row, median};
use super::observations::{Made, SIZE_INGEST, SIZE_LARGE, figures, shown};
use crate::daemon::Daemon;
use crate::home::Home;
use crate::http::{HttpClient, post};
use crate::project::Project;

const SET_RATIO_MAX: f64 = 1.5;
const FRAME_RATIO_MAX: f64 = 1.5;
const FAN_OUT_RATIO_MAX: f64 = 5.0;
const PAGE_RATIO_MAX: f64 = 3.0;
const INGEST_RATIO_MIN: f64 = 0.9;
const SUBSCRIBERS: usize = 100;
const SIZE_SMALL: usize = 1_000;

pub(crate) fn rows(
    project: &Project,
    programs: &Programs,
    amount: &Amount,
    large: bool,
) -> Result<Vec<Row>> {
    let home = Home::new(&programs.rekindle)?;
    let daemon = Daemon::start(&home, &[])?;
    let bench = SessionsBench { port: daemon.port, token: home.token()? };
    let mut rows = vec![bench.set_beside_hint(amount)?];
    rows.extend(bench.frames(amount)?);
    drop(daemon);
    rows.push(pages(project, programs, amount, large)?);
    rows.push(ingest(project, programs, amount)?);
    Ok(rows)
}

/// A daemon to measure.
struct SessionsBench {
    port: u16,
    token: String,
}

impl SessionsBench {
    fn rpc(&self, method: &str, params: &str) -> Vec<u8> {
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        post("/rpc", &self.token, &call)
    }

    /// One write of each kind in turn, so that other work on the machine falls on both sides alike.
    fn set_beside_hint(&self, amount: &Amount) -> Result<Row> {
        let mut connection = HttpClient::open(self.port)?;
        let (mut sets, mut hints) = (Vec::new(), Vec::new());
        for number in 0..amount.calls / 2 {
            let params = format!(
                r#"{{"setName":"files","items":["/srv/{number}","/srv/b"],"session_id":"s-1"}}"#
            );
            sets.push(timed(&mut connection, &self.rpc("set_relevant_context", &params))?);
            let params =
                format!(r#"{{"component":"web","key":"build","value":"make {number} build"}}"#);
            hints.push(timed(&mut connection, &self.rpc("set_hint", &params))?);
        }
        let (set, hint) = (median(&mut sets), median(&mut hints));
        let row = Row::figure(
            "set_relevant_context over HTTP, median",
            micros(set),
            "≤ 1.5 × set_hint",
            set / hint <= SET_RATIO_MAX,
        );
        Ok(row.against(micros(hint), set / hint))
    }

    /// From a PATCH to the frame at one subscriber and at the last of many.
    fn frames(&self, amount: &Amount) -> Result<Vec<Row>> {
        let mut connection = HttpClient::open(self.port)?;
        let mut one = vec![self.subscriber()?];
        let mut many = Vec::new();
        let (mut answers, mut frames, mut last_frames) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..amount.calls / 10 {
            let (answer, frame) = self.patch(&mut connection, &mut one, number)?;
            answers.push(answer);
            frames.push(frame);
        }
        drop(one);
        for _ in 0..SUBSCRIBERS {
            many.push(self.subscriber()?);
        }
        for number in 0..amount.calls / 40 {
            last_frames.push(self.patch(&mut connection, &mut many, number + 1_000_000)?.1);
        }
        let (answer, frame) = (median(&mut answers), median(&mut frames));
        let last = median(&mut last_frames);
        let first = Row::figure(
            "PATCH to the frame at a subscriber, median",
            micros(frame),
            "≤ 1.5 × its answer",
            frame / answer <= FRAME_RATIO_MAX,
        );
        let row = Row::figure(
            "PATCH to the last frame at 100 subscribers, median",
            micros(last),
            "≤ 5 × one subscriber",
            last / frame <= FAN_OUT_RATIO_MAX,
        );
        Ok(vec![
            first.against(micros(answer), frame / answer),
            row.against(micros(frame), last / frame),
        ])
    }

    /// Seconds from the start of a PATCH to its answer, and to the last frame at these subscribers.
    fn patch(
        &self,
        connection: &mut HttpClient,
        subscribers: &mut [EventReader],
        number: usize,
    ) -> Result<(f64, f64)> {
        let body = format!(r#"{{"setContext":{{"setName":"ports","items":["{number}"]}}}}"#);
        let request = post("/api/sessions/s-1", &self.token, &body);
        let request = String::from_utf8_lossy(&request).replacen("POST", "PATCH", 1);
        let started = Instant::now();
        let (status, _) = connection.send(request.as_bytes())?;
        let answer = started.elapsed().as_secs_f64();
        if status != 200 {
            bail!("PATCH was answered with {status}");
        }
        for subscriber in subscribers {
            subscriber.next()?;
        }
        Ok((answer, started.elapsed().as_secs_f64()))
    }

    fn subscriber(&self) -> Result<EventReader> {
        let mut subscriber = EventReader::open(self.port, &self.token, "session=s-1")?;
        // The state at the start.
        subscriber.next()?;
        Ok(subscriber)
    }
}

/// A stream of server-sent events.
struct EventReader(BufReader<TcpStream>);

impl EventReader {
    fn open(port: u16, token: &str, query: &str) -> Result<EventReader> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let head = format!(
            "GET /api/events?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        let mut reader = EventReader(BufReader::new(stream));
        // The comment after the headers shows that the subscription is active.
        reader.line_with(": open")?;
        Ok(reader)
    }

    fn next(&mut self) -> Result<()> {
        self.line_with("data: ")
    }

    fn line_with(&mut self, prefix: &str) -> Result<()> {
        let mut line = String::new();
        while !line.starts_with(prefix) {
            line.clear();
            if self.0.read_line(&mut line)? == 0 {
                bail!("the stream of events ended");
            }
        }
        Ok(())
    }
}

/// The first page of activity in a large store beside that in a small one.
fn pages(project: &Project, programs: &Programs, amount: &Amount, large: bool) -> Result<Row> {
    let size = if large { SIZE_LARGE } else { SIZE_INGEST };
    let mut medians = Vec::new();
    for size in [SIZE_SMALL, size] {
        let home = Made::get(project, programs, size)?.home(&programs.rekindle)?;
        let daemon = Daemon::start(&home, &[])?;
        let bench = SessionsBench { port: daemon.port, token: home.token()? };
        let mut connection = HttpClient::open(bench.port)?;
        let request = bench.rpc("activity", "{}");
        timed(&mut connection, &request)?;
        let times: Result<Vec<f64>> =
            (0..amount.calls / 10).map(|_| timed(&mut connection, &request)).collect();
        medians.push(median(&mut times?));
    }
    let (small, big) = (medians[0], medians[1]);
    let row = Row::figure(
        &format!("{}: first page of activity, median", shown(size)),
        micros(big),
        "≤ 3 × at 1k",
        big / small <= PAGE_RATIO_MAX,
    );
    Ok(row.against(micros(small), big / small))
}

/// Ingest with a subscriber to all activity beside ingest without one, in turn.
fn ingest(project: &Project, programs: &Programs, amount: &Amount) -> Result<Row> {
    let count = (amount.requests * 10).to_string();
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    for is_watched in [false, true, true, false] {
        let home = Made::get(project, programs, SIZE_INGEST)?.home(&programs.rekindle)?;
        let daemon = Daemon::start(&home, &[])?;
        let token = home.token()?;
        let reader = is_watched.then(|| EventReader::open(daemon.port, &token, "feed=activity"));
        // It reads until the daemon ends.
        let reader = reader.transpose()?.map(|mut reader| {
            thread::spawn(move || {
                let mut frames = 0_u32;
                while reader.next().is_ok() {
                    frames += 1;
                }
                frames
            })
        });
        let found = figures(&home, programs, &["ingest", &count])?;
        let rate = found["per_second"].as_f64().context("no rate of ingest")?;
        if is_watched {
            watched.push(rate)
        } else {
            alone.push(rate)
        }
        drop(daemon);
        if let Some(reader) = reader
            && reader.join().ok() == Some(0)
        {
            bail!("the subscriber got no frame");
        }
    }
    let (alone, watched) = (median(&mut alone), median(&mut watched));
    let row = Row::figure(
        "100k: events with a subscriber to activity",
        format!("{watched:.0}/s"),
        "≥ 0.9 × without",
        watched / alone >= INGEST_RATIO_MIN,
    );
    Ok(row.against(format!("{alone:.0}/s"), watched / alone))
}

/// Seconds of a request.
fn timed(connection: &mut HttpClient, request: &[u8]) -> Result<f64> {
    let started = Instant::now();
    let (status, body) = connection.send(request)?;
    let seconds = started.elapsed().as_secs_f64();
    if status != 200 || body.windows(8).any(|part| part == br#""error":"#) {
        bail!("a request was answered with {status}: {}", String::from_utf8_lossy(body));
    }
    Ok(seconds)
}

fn micros(seconds: f64) -> String {
    format!("{:.0} µs", seconds * 1e6)
}
