//! Newline-delimited JSON: the unix socket, and MCP over the stdio of `serve`.

use std::io::{BufRead as _, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use serde_json::{Value, json};

use crate::home::signal;
use crate::wait::{SOON, wait_until};

/// A connection to the unix socket.
pub struct Lines {
    reader: BufReader<UnixStream>,
}

impl Lines {
    pub fn connect(socket: &Path) -> Lines {
        let stream = wait_until("a socket", || UnixStream::connect(socket).ok());
        stream.set_read_timeout(Some(SOON)).expect("a deadline");
        Lines { reader: BufReader::new(stream) }
    }

    /// Sends bytes exactly as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        // The server may refuse the input and close before it has read all of it.
        let _ = self.reader.get_mut().write_all(bytes);
    }

    /// The next line as JSON; `None` after the server closed.
    pub fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).ok()?;
        (read > 0).then(|| serde_json::from_str(&line).expect("a line of JSON"))
    }

    /// Makes one JSON-RPC call. Returns the result, or the error object.
    pub fn rpc(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let frame = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        self.send(format!("{frame}\n").as_bytes());
        let reply = self.receive().expect("a reply");
        match reply.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(reply["result"].clone()),
        }
    }
}

/// An MCP client on the stdio of a process. Killed when dropped.
pub struct Mcp {
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
}

impl Mcp {
    pub fn start(mut command: Command) -> Mcp {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the binary starts");
        let stdout = child.stdout.take().expect("stdout is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Mcp { stdin: child.stdin.take(), child, lines, next: 1 }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes exactly as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the process reads");
    }

    /// The next line; `None` after the process closed its stdout.
    pub fn receive(&self) -> Option<String> {
        match self.lines.recv_timeout(SOON) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line within {SOON:?}"),
        }
    }

    /// Makes one request. Returns its whole reply.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        let frame = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(format!("{frame}\n").as_bytes());
        let line = self.receive().expect("a reply");
        let reply: Value = serde_json::from_str(&line).expect("a line of JSON");
        assert_eq!(reply["id"], id, "{reply}");
        reply
    }

    /// Calls a tool of a process that may be killed meanwhile; `None` if it is gone.
    pub fn try_call(&mut self, tool: &str, arguments: &Value) -> Option<Result<Value, Value>> {
        let params = json!({ "name": tool, "arguments": arguments });
        let frame = json!({ "jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": params });
        let stdin = self.stdin.as_mut()?;
        stdin.write_all(format!("{frame}\n").as_bytes()).ok()?;
        let reply: Value = serde_json::from_str(&self.receive()?).expect("a line of JSON");
        Some(outcome(&reply))
    }

    /// Performs the older handshake. Returns the negotiated revision.
    pub fn initialize(&mut self, revision: &str) -> String {
        self.initialize_as("test", revision)
    }

    /// Performs the older handshake under the name of a client. Returns the negotiated revision.
    pub fn initialize_as(&mut self, client: &str, revision: &str) -> String {
        let info = json!({ "name": client, "version": "1" });
        let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": info });
        let reply = self.request("initialize", &params);
        self.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        reply["result"]["protocolVersion"].as_str().expect("a revision").to_owned()
    }

    /// Calls a tool. Returns the structured result, or the error object.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Value> {
        let reply = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        outcome(&reply)
    }

    /// Closes the process's stdin, as a client does that leaves.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// Waits for the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        wait_until("the process ends", || self.child.try_wait().ok().flatten()).code()
    }
}

/// The structured result of a tool call, or its error object.
fn outcome(reply: &Value) -> Result<Value, Value> {
    if let Some(error) = reply.get("error") {
        return Err(error.clone());
    }
    let result = &reply["result"];
    if result["isError"] == json!(true) {
        let text = result["content"][0]["text"].as_str().expect("an error text");
        return Err(serde_json::from_str(text).expect("an error object"));
    }
    Ok(result["structuredContent"].clone())
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
