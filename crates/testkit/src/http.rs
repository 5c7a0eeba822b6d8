//! A plain HTTP/1.1 client over a socket: it sends exactly the bytes of a test, valid or not.

use std::io::{BufReader, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::wait::SOON;

/// A client for one port with headers of its own.
#[derive(Clone)]
pub struct Http {
    port: u16,
    headers: Vec<(String, String)>,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}): {} {}", self.status, self.text()))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl Http {
    pub fn new(port: u16) -> Http {
        Http { port, headers: Vec::new() }
    }

    /// Adds or replaces a header; `Host` and `Content-Type` have defaults.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Http {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn without(mut self, name: &str) -> Http {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub fn get(&self, path: &str) -> Response {
        self.send("GET", path, b"")
    }

    pub fn post(&self, path: &str, body: &[u8]) -> Response {
        self.send("POST", path, body)
    }

    /// Makes one JSON-RPC call. Returns the result, or the error object.
    pub fn rpc(&self, method: &str, params: &Value) -> Result<Value, Value> {
        let frame =
            serde_json::json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let reply = self.post("/rpc", frame.to_string().as_bytes()).json();
        assert_eq!(reply["id"], 7, "{reply}");
        match reply.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(reply["result"].clone()),
        }
    }

    pub fn send(&self, method: &str, path: &str, body: &[u8]) -> Response {
        read_response(&mut self.start(method, path, body)).expect("a response")
    }

    /// Sends a request; the caller reads the response.
    pub fn start(&self, method: &str, path: &str, body: &[u8]) -> BufReader<TcpStream> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let has =
            |name: &str| self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        if !has("Host") {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        if !has("Content-Type") && method != "GET" {
            head.push_str("Content-Type: application/json\r\n");
        }
        if !has("Content-Length") && !has("Transfer-Encoding") {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        let mut stream = self.connect();
        stream.write_all(head.as_bytes()).expect("the head is sent");
        // The server may refuse the request and close before it has read all of it.
        let _ = stream.write_all(body);
        BufReader::new(stream)
    }

    /// A bare connection to this port, with a deadline on reads.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(SOON)).expect("a deadline");
        stream
    }
}

/// Reads one response; `None` if the server closed without one.
pub fn read_response(reader: &mut impl std::io::BufRead) -> Option<Response> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut response = Response { status, headers, body: Vec::new() };
    if let Some(length) = response.header("Content-Length").and_then(|text| text.parse().ok()) {
        response.body = vec![0; length];
        reader.read_exact(&mut response.body).ok()?;
    } else if response.header("Transfer-Encoding").is_some() {
        response.body = read_chunks(reader)?;
    } else {
        reader.read_to_end(&mut response.body).ok()?;
    }
    Some(response)
}

fn read_chunks(reader: &mut impl std::io::BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk).ok()?;
        body.extend_from_slice(&chunk[..length]);
        if length == 0 {
            return Some(body);
        }
    }
}
