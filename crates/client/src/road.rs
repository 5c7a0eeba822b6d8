//! Calls over the socket: the envelope, the reply, the daemon's requests for variables, its hello.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::locations::Locations;
use model::wire::{Answer, Build, EnvNames, Envelope, Hello};
use model::{Code, OpError, Reply, Request, limits};
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::platform;

/// A call failed because the connection was lost.
#[derive(Debug)]
pub struct Lost(pub io::Error);

/// The transport over the socket.
pub struct SocketRoad {
    line: Mutex<SocketLine>,
    db: String,
}

/// The connection and the variables that the daemon requested over it.
struct SocketLine {
    connection: Connection,
    wishes: EnvWishes,
}

/// The environment variables that a daemon requests, as far as this client knows.
#[derive(Debug, Default)]
pub struct EnvWishes(pub EnvNames);

impl EnvWishes {
    /// Adds the variables and their stamp to the envelope of a call. The last attempt has no stamp: a daemon that
    /// keeps changing its list accepts the call as it is.
    pub fn fill(&self, envelope: &mut Envelope, attempt: usize) {
        envelope.caller.situation.env = platform::environment(&self.0);
        let may_ask = attempt < limits::ENV_QUESTIONS_MAX;
        envelope.env_stamp = may_ask.then_some(self.0.stamp);
    }
}

/// The error for a daemon that still requests variables after the last attempt.
pub fn asks_on() -> OpError {
    OpError::internal("the daemon keeps requesting environment variables")
        .hint("Run `rekindle stop`, or see `rekindle doctor`.")
}

impl SocketRoad {
    /// Uses a connection and sends the daemon a hello.
    pub fn hello(
        mut connection: Connection,
        locations: &Locations,
        build: &Build,
    ) -> Result<(SocketRoad, Result<Hello, OpError>), Lost> {
        let db = locations.database.to_string_lossy().into_owned();
        connection.set_deadline(limits::HELLO_DEADLINE).map_err(Lost)?;
        let params = json!({ "build": build.to_string(), "db": db });
        let reply = exchange(&mut connection, "rekindle/hello", params, None)?;
        let hello = reply.reply().and_then(|hello| {
            serde_json::from_value(hello)
                .map_err(|_| OpError::internal("the daemon's hello is not understood"))
        });
        let line = SocketLine { connection, wishes: EnvWishes::default() };
        Ok((SocketRoad { line: Mutex::new(line), db }, hello))
    }

    /// Asks an older daemon to stop; it agrees if it has no other clients.
    pub fn ask_to_leave(&self) -> Result<bool, Lost> {
        let reply = self.own_method("rekindle/retire")?;
        Ok(reply.is_ok_and(|reply| reply["leaving"] == json!(true)))
    }

    /// Asks a daemon that would stop when idle to stay until it is stopped.
    pub fn ask_to_stay(&self) -> Result<Reply, Lost> {
        self.own_method("rekindle/stay")
    }

    /// Requests a one-time link to the web page.
    pub fn link(&self) -> Result<Reply, Lost> {
        self.own_method("rekindle/link")
    }

    /// Asks the daemon to revoke every authorised browser.
    pub fn forget_browsers(&self) -> Result<Reply, Lost> {
        self.own_method("rekindle/forget_browsers")
    }

    fn own_method(&self, method: &str) -> Result<Reply, Lost> {
        exchange(&mut self.lock().connection, method, json!({}), None).map(Answer::reply)
    }

    /// Sends one call. `deadline` is the operation's own. Only the requested environment variables are sent.
    pub fn call(&self, request: &Request, deadline: Duration) -> Result<Reply, Lost> {
        let mut envelope = Envelope {
            call: request.call,
            caller: request.caller.clone(),
            db: Some(self.db.clone()),
            revision: None,
            tools: None,
            env_stamp: None,
        };
        let mut line = self.lock();
        line.connection.set_deadline(deadline + limits::REPLY_SLACK).map_err(Lost)?;
        for attempt in 0..=limits::ENV_QUESTIONS_MAX {
            line.wishes.fill(&mut envelope, attempt);
            let params = request.params.clone();
            match exchange(&mut line.connection, &request.op, params, Some(&envelope))? {
                Answer::Reply(reply) => return Ok(reply),
                Answer::AsksEnv(asked) => line.wishes = EnvWishes(asked),
            }
        }
        Ok(Err(asks_on()))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, SocketLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends one frame and receives one reply. A late reply is a timeout error: the daemon is alive, but hangs.
fn exchange(
    connection: &mut Connection,
    method: &str,
    params: Value,
    envelope: Option<&Envelope>,
) -> Result<Answer, Lost> {
    let mut frame = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
    if let Some(object) = frame.as_object_mut() {
        if !params.is_null() {
            object.insert("params".into(), params);
        }
        if let Some(envelope) = envelope {
            object.insert("rekindle".into(), json!(envelope));
        }
    }
    let mut text = frame.to_string();
    text.push('\n');
    let line = match connection.send(text.as_bytes()).and_then(|()| connection.receive()) {
        Ok(line) => line,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
        {
            return Ok(Answer::Reply(Err(OpError::new(
                Code::Timeout,
                "the daemon does not answer",
            )
            .hint(
                "It may be suspended or busy: `rekindle doctor` names its pid and says how to resume or end it.",
            ))));
        }
        Err(error) => return Err(Lost(error)),
    };
    Ok(match serde_json::from_slice(&line) {
        Ok(frame) => Answer::read(frame),
        Err(_) => Answer::Reply(Err(OpError::internal("the daemon's reply is not JSON"))),
    })
}
