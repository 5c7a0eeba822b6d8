//! HTTP/1.1 over one keep-alive connection: a minimal client, so that the server dominates the measurement.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};

pub(crate) struct HttpClient {
    reader: BufReader<TcpStream>,
    body: Vec<u8>,
}

impl HttpClient {
    pub(crate) fn open(port: u16) -> Result<HttpClient> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(HttpClient { reader: BufReader::new(stream), body: Vec::new() })
    }

    /// Sends the bytes of a request and returns the answer's status and body.
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<(u16, &[u8])> {
        self.reader.get_mut().write_all(request)?;
        let status = read_head(&mut self.reader, &mut self.body)?;
        Ok((status, &self.body))
    }
}

/// Reads the headers behind a first line; the length of the body that they announce.
pub(crate) fn read_length(reader: &mut impl BufRead) -> Result<usize> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            bail!("the connection ended inside of the headers");
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(length) };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().context("a content length that is no number")?;
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            bail!("a chunked body where a length was expected");
        }
    }
}

/// Reads one response; the body goes into `body`.
fn read_head(reader: &mut impl BufRead, body: &mut Vec<u8>) -> Result<u16> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
    let status: u16 =
        status.with_context(|| format!("no status line but '{}'", line.trim_end()))?;
    let length = read_length(reader)?;
    body.resize(length, 0);
    reader.read_exact(body)?;
    Ok(status)
}

/// The bytes of a request without a body.
pub(crate) fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").into_bytes()
}

/// The bytes of a JSON request with the bearer token.
pub(crate) fn post(path: &str, token: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(u16, String)> {
        let mut body = Vec::new();
        let status = read_head(&mut text.as_bytes(), &mut body)?;
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    }

    #[test]
    fn an_answer_is_read_up_to_its_length() {
        let answer = read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1");
        assert_eq!(answer.ok(), Some((200, "hi".to_owned())));
        assert_eq!(read("HTTP/1.1 202 Accepted\r\n\r\n").ok(), Some((202, String::new())));
    }

    #[test]
    fn a_broken_answer_is_an_error() {
        for text in [
            "",
            "nonsense\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_request_carries_the_length_of_its_body() {
        let text = String::from_utf8_lossy(&post("/rpc", "t", "{}")).into_owned();
        assert!(text.contains("Content-Length: 2\r\n\r\n{}"), "{text}");
    }
}
