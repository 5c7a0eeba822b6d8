//! Raw HTTP without a token: answered with HTTP or closed, and the answer contains no stored data.

use std::io::{Read as _, Write as _};

use crate::arena::{Arena, CONTROL, slow};
use crate::dice::Dice;
use crate::mutate::mutate;
use crate::target::{Checked, Subject, Workbench, ensure};

const METHODS: &[&str] =
    &["GET", "POST", "PUT", "OPTIONS", "HEAD", "DELETE", "CONNECT", "PRI", "get", ""];
#[rustfmt::skip]
const PATHS: &[&str] = &[
    "/", "/rpc", "/mcp", "/sse", "/messages", "/ws", "/hook/Stop", "/health", "/session.js", "/api/hints/a/b", "//", "/../token",
    "/%2e%2e/token", "/?link=x", "/rpc?token=x", "*", "http://127.0.0.1/rpc", "/api/sessions", "", "/\0",
    "/a b",
];
#[rustfmt::skip]
const HEADERS: &[&str] = &[
    "Host: 127.0.0.1", "Host: localhost", "Host: [::1]", "Host: evil.example", "Host:",
    "Origin: http://127.0.0.1", "Origin: null", "Origin: http://evil.example",
    "Content-Type: application/json", "Content-Type: text/plain", "Content-Length: 0", "Content-Length: 5",
    "Content-Length: -1", "Content-Length: 99999999999999999999", "Transfer-Encoding: chunked",
    "Transfer-Encoding: gzip, chunked", "Connection: close", "Connection: Upgrade", "Upgrade: websocket",
    "Upgrade: h2c", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
    "Authorization: Bearer", "Authorization: Bearer x", "Authorization: Basic eDp4", "Cookie: rekindle=x",
    "Expect: 100-continue", "Accept: text/event-stream", "X: \u{1}", " folded", ":",
    "MCP-Protocol-Version: 2026-07-28",
];

pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let mut request = String::new();
    for _ in 0..=dice.few(3) {
        let version =
            *dice.pick(&["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9", ""]);
        request.push_str(&format!("{} {} {version}\r\n", dice.pick(METHODS), dice.pick(PATHS)));
        if !dice.one_in(8) {
            request.push_str("Host: 127.0.0.1\r\n");
        }
        for _ in 0..dice.few(8) {
            request.push_str(&format!("{}\r\n", dice.pick(HEADERS)));
        }
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"search","params":{{"query":"{CONTROL}","project":"*"}}}}"#
        );
        match dice.below(4) {
            0 => request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len())),
            1 => request.push_str(&format!(
                "Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
                body.len()
            )),
            _ => request.push_str("\r\n"),
        }
    }
    let mut bytes = request.into_bytes();
    mutate(dice, &mut bytes, b"POST /rpc HTTP/1.1\r\nHost: localhost\r\n\r\n");
    bytes
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    Box::new(HttpSubject { arena: Arena::with_control(bench) })
}

struct HttpSubject {
    arena: Arena,
}

impl Subject for HttpSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let mut stream = self.arena.connect();
        // The server may refuse the input and close before it has read all of it.
        let _ = stream.write_all(input);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut said = Vec::new();
        if let Err(error) = stream.read_to_end(&mut said)
            && error.kind() == std::io::ErrorKind::WouldBlock
        {
            return Err(slow("an answer to HTTP"));
        }
        let said = String::from_utf8_lossy(&said);
        ensure(said.is_empty() || said.starts_with("HTTP/1."), || {
            format!("this is no HTTP: {said:?}")
        })?;
        // An error may quote the request, so only the full text of the control record counts as a leak.
        let record = format!("remember {CONTROL}");
        ensure(!said.contains(&record), || format!("a record is told to a stranger: {said:?}"))?;
        ensure(!said.contains("HTTP/1.1 500"), || format!("a defect: {said:?}"))?;
        ensure(!said.to_ascii_lowercase().contains("\naccess-control-"), || {
            format!("CORS: {said:?}")
        })?;
        self.arena.check_daemon()?;
        self.arena.check_control()
    }
}
