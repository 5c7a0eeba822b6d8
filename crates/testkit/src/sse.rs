//! MCP's older HTTP+SSE transport: a stream to read, and an address to post to.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use serde_json::Value;

use crate::http::{Http, Response};

/// An open stream.
pub struct Sse {
    http: Http,
    stream: BufReader<TcpStream>,
    /// The path for posting, from the stream's first event.
    pub endpoint: String,
}

impl Sse {
    /// Opens a stream of events at this path, which has no address for posting.
    pub fn follow(http: &Http, path: &str) -> Sse {
        let stream = http.start("GET", path, b"");
        Sse { http: http.clone(), stream, endpoint: String::new() }
    }

    /// Opens a stream of events as the answer to a posted body.
    pub fn posted(http: &Http, path: &str, body: &[u8]) -> Sse {
        let stream = http.start("POST", path, body);
        Sse { http: http.clone(), stream, endpoint: String::new() }
    }

    /// Opens the stream of an MCP session at this path.
    pub fn open(http: &Http, path: &str) -> Sse {
        let mut sse = Sse::follow(http, path);
        let (event, endpoint) = sse.receive().expect("a first event");
        assert_eq!(event, "endpoint", "{endpoint}");
        sse.endpoint = endpoint;
        sse
    }

    /// The name and data of the next event; `None` after the end of the stream.
    pub fn receive(&mut self) -> Option<(String, String)> {
        self.receive_whole().map(|(event, _, data)| (event, data))
    }

    /// The name, id and data of the next event; `None` after the end of the stream. Lines with the length of a chunk are
    /// skipped.
    pub fn receive_whole(&mut self) -> Option<(String, String, String)> {
        let (mut event, mut id) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(name) = line.strip_prefix("event: ") {
                event = name.trim().to_owned();
            } else if let Some(text) = line.strip_prefix("id: ") {
                id = text.trim().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((event, id, data.trim().to_owned()));
            }
        }
    }

    /// Posts one message.
    pub fn post(&self, message: &[u8]) -> Response {
        self.http.post(&self.endpoint, message)
    }

    /// Posts one request. Returns its reply from the stream.
    pub fn request(&mut self, message: &Value) -> Value {
        let response = self.post(message.to_string().as_bytes());
        assert_eq!(response.status, 202, "{response:?}");
        let (event, data) = self.receive().expect("a reply");
        assert_eq!(event, "message", "{data}");
        serde_json::from_str(&data).expect("JSON")
    }
}
