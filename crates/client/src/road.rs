//! Calls over the socket: the envelope, the reply, and what the daemon says of itself.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::locations::Locations;
use model::wire::{Build, Envelope, Hello};
use model::{Code, OpError, Reply, Request, limits};
use serde_json::{Value, json};

use crate::connection::Connection;

/// A call could not be carried out because the connection is gone.
#[derive(Debug)]
pub struct Lost(pub io::Error);

/// The road over the socket.
pub struct SocketRoad {
    connection: Mutex<Connection>,
    db: String,
}

impl SocketRoad {
    /// Takes a connection and asks the daemon who it is.
    pub fn hello(
        mut connection: Connection,
        locations: &Locations,
        build: &Build,
    ) -> Result<(SocketRoad, Result<Hello, OpError>), Lost> {
        let db = locations.database.to_string_lossy().into_owned();
        connection.set_deadline(limits::HELLO_DEADLINE).map_err(Lost)?;
        let params = json!({ "build": build.to_string(), "db": db });
        let reply = exchange(&mut connection, "rekindle/hello", params, None)?;
        let hello = reply.and_then(|hello| {
            serde_json::from_value(hello)
                .map_err(|_| OpError::internal("the daemon's hello is not understood"))
        });
        Ok((SocketRoad { connection: Mutex::new(connection), db }, hello))
    }

    /// Asks an older daemon to make room; it agrees when nobody else needs it.
    pub fn ask_to_leave(&self) -> Result<bool, Lost> {
        let reply = exchange(&mut self.lock(), "rekindle/retire", json!({}), None)?;
        Ok(reply.is_ok_and(|reply| reply["leaving"] == json!(true)))
    }

    /// Asks a daemon that would leave by itself to stay until it is stopped.
    pub fn ask_to_stay(&self) -> Result<Reply, Lost> {
        exchange(&mut self.lock(), "rekindle/stay", json!({}), None)
    }

    /// Asks for a link that opens the web page once.
    pub fn link(&self) -> Result<Reply, Lost> {
        exchange(&mut self.lock(), "rekindle/link", json!({}), None)
    }

    /// Carries out one call. `deadline` is the operation's own.
    pub fn call(&self, request: &Request, deadline: Duration) -> Result<Reply, Lost> {
        let envelope = Envelope {
            call: request.call,
            caller: request.caller.clone(),
            db: Some(self.db.clone()),
            revision: None,
            tools: None,
        };
        let mut connection = self.lock();
        connection.set_deadline(deadline + limits::REPLY_SLACK).map_err(Lost)?;
        exchange(&mut connection, &request.op, request.params.clone(), Some(&envelope))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One frame out, one reply in. A reply that is late is an answer too: the daemon lives, and hangs.
fn exchange(
    connection: &mut Connection,
    method: &str,
    params: Value,
    envelope: Option<&Envelope>,
) -> Result<Reply, Lost> {
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
            return Ok(Err(OpError::new(Code::Timeout, "the daemon does not answer").hint(
                "It may be suspended or busy: see `rekindle doctor`, or end it and try again.",
            )));
        }
        Err(error) => return Err(Lost(error)),
    };
    let Ok(reply) = serde_json::from_slice::<Value>(&line) else {
        return Ok(Err(OpError::internal("the daemon's reply is not JSON")));
    };
    Ok(match reply.get("error") {
        Some(error) => Err(OpError::from_wire(error)),
        None => Ok(reply.get("result").cloned().unwrap_or(Value::Null)),
    })
}
