//! A WebSocket client over a blocking socket.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use crate::http::Http;

/// An open WebSocket.
pub struct Ws {
    pub socket: WebSocket<TcpStream>,
}

impl Ws {
    /// Connects to `/ws` with these headers. Returns the status if it is refused.
    pub fn connect(port: u16, headers: &[(&str, &str)]) -> Result<Ws, u16> {
        let mut request =
            format!("ws://127.0.0.1:{port}/ws").into_client_request().expect("a request");
        for (name, value) in headers {
            let name = tungstenite::http::HeaderName::from_bytes(name.as_bytes()).expect("a name");
            request.headers_mut().insert(name, value.parse().expect("a value"));
        }
        match tungstenite::client(request, Http::new(port).connect()) {
            Ok((socket, _)) => Ok(Ws { socket }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                Err(response.status().as_u16())
            }
            Err(error) => panic!("the handshake failed: {error}"),
        }
    }

    pub fn send(&mut self, frame: &Value) {
        self.socket.send(Message::text(frame.to_string())).expect("the frame is sent");
    }

    /// Sends a text that need not be JSON.
    pub fn send_text(&mut self, text: String) -> Result<(), Box<tungstenite::Error>> {
        self.socket.send(Message::text(text)).map_err(Box::new)
    }

    /// Sends raw bytes without framing.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        // The server may refuse the input and close before it has read all of it.
        let _ = self.socket.get_mut().write_all(bytes);
    }

    /// Reads until the server closes. Returns its close code, if it has one.
    pub fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.socket.read() {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// The next text message as JSON; `None` after the socket is closed.
    pub fn receive(&mut self) -> Option<Value> {
        loop {
            match self.socket.read().ok()? {
                Message::Text(text) => return Some(serde_json::from_str(&text).expect("JSON")),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    /// Makes one JSON-RPC call. Returns the result, or the error object. Skips notifications before the reply.
    pub fn rpc(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }));
        let is_reply = |frame: &Value| frame.get("method").is_none();
        let mut frames = std::iter::from_fn(|| self.receive());
        let reply = frames.find(is_reply).expect("a reply");
        match reply.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(reply["result"].clone()),
        }
    }
}
