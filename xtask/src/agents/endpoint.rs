//! A model endpoint on loopback that answers agents by a script and records their requests.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::script::{Dialogue, Script, next};
use super::wire::{AnswerBody, ApiForm};
use crate::http;

/// An agent that stops in the middle of a request is not waited for.
const READ_DEADLINE: Duration = Duration::from_secs(30);
/// More than any agent sends with all its tools.
const REQUEST_MAX: usize = 32 << 20;

pub(crate) struct Endpoint {
    port: u16,
    shared: Arc<Mutex<EndpointState>>,
}

#[derive(Default)]
struct EndpointState {
    scripts: Vec<Script>,
    received: Vec<Received>,
    /// Questions since the start. Ids of messages and calls are made of it, so that none is used twice.
    questions: usize,
}

/// A request that was a question to the model.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) dialogue: Dialogue,
    /// The body as it was received: each wire format has the system prompt at another place.
    pub(crate) text: String,
}

impl Endpoint {
    pub(crate) fn start() -> Result<Endpoint> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Mutex::new(EndpointState::default()));
        let ours = Arc::clone(&shared);
        // It listens as long as the process lives: an agent may ask once more while it ends.
        thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let shared = Arc::clone(&ours);
                // An agent that breaks its connection is detected by the steps that it does not do.
                thread::spawn(move || serve(stream, &shared).ok());
            }
        });
        Ok(Endpoint { port, shared })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Starts these scripts and forgets earlier requests.
    pub(crate) fn play(&self, scripts: Vec<Script>) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.scripts = scripts;
        shared.received.clear();
    }

    /// The requests received since `play`.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).received.clone()
    }
}

/// Answers one request; the connection ends with it.
fn serve(mut stream: TcpStream, shared: &Mutex<EndpointState>) -> Result<()> {
    stream.set_read_timeout(Some(READ_DEADLINE))?;
    let (path, text) = read_request(&mut BufReader::new(&stream))?;
    let (status, body) = answer(&path, text, shared);
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
        body.kind,
        body.text.len(),
        body.text
    )?;
    Ok(())
}

/// The status and the body for a request; other paths than those of a model are unknown here.
fn answer(path: &str, text: String, shared: &Mutex<EndpointState>) -> (&'static str, AnswerBody) {
    let json = |value: Value| AnswerBody { kind: "application/json", text: value.to_string() };
    if path.contains("count_tokens") || path.contains(":countTokens") {
        return ("200 OK", json(json!({ "input_tokens": 10, "totalTokens": 10 })));
    }
    let question = ApiForm::of(path).zip(serde_json::from_str::<Value>(&text).ok());
    let Some((wire, request)) = question else {
        let message = format!("no such path here: {path}");
        return ("404 Not Found", json(json!({ "error": { "message": message } })));
    };
    let dialogue = wire.read(&request);
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let turn = next(&shared.scripts, &dialogue);
    shared.received.push(Received { dialogue, text });
    shared.questions += 1;
    ("200 OK", wire.write(&request, &turn, shared.questions))
}

/// The path and the body of a request.
fn read_request(reader: &mut impl BufRead) -> Result<(String, String)> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).context("no request line")?.to_owned();
    let length = http::read_length(reader)?;
    if length > REQUEST_MAX {
        bail!("a request of {length} bytes, over {REQUEST_MAX}");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((path, String::from_utf8(body)?))
}
