//! Every surface as one function: an operation and its parameters in, its result or error out.

use std::process::Command;

use serde_json::{Value, json};
use testkit::home::finish;
use testkit::{Daemon, Home, Http, Mcp, Run, Sse, Ws};

use super::home;

/// A surface, and how it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// `rekindle call`, which finds a daemon.
    Command,
    /// `rekindle call` without a daemon.
    InProcess,
    /// The operation's own subcommand, as its documentation writes it.
    OwnCommand,
    Socket,
    Rpc,
    Root,
    Batch,
    Ws,
    StdioPrimary,
    StdioProxy,
    McpHttp,
    McpModern,
    McpSse,
    McpWs,
}

pub(crate) const WAYS: [Surface; 14] = [
    Surface::Command,
    Surface::InProcess,
    Surface::OwnCommand,
    Surface::Socket,
    Surface::Rpc,
    Surface::Root,
    Surface::Batch,
    Surface::Ws,
    Surface::StdioPrimary,
    Surface::StdioProxy,
    Surface::McpHttp,
    Surface::McpModern,
    Surface::McpSse,
    Surface::McpWs,
];

impl Surface {
    /// The tier of a caller on this surface.
    pub(crate) fn tier(self) -> &'static str {
        match self {
            Surface::Command | Surface::InProcess | Surface::OwnCommand => "person",
            Surface::Socket | Surface::Rpc | Surface::Root | Surface::Batch | Surface::Ws => {
                "client"
            }
            _ => "agent",
        }
    }

    pub(crate) fn is_mcp(self) -> bool {
        self.tier() == "agent"
    }

    /// Opens this surface in a new home.
    pub(crate) fn open(self) -> Site {
        self.open_in(home())
    }

    /// Opens this surface in a prepared home.
    pub(crate) fn open_in(self, home: Home) -> Site {
        let needs_daemon = !matches!(self, Surface::InProcess | Surface::StdioPrimary);
        let daemon = needs_daemon.then(|| home.daemon());
        let mcp = matches!(self, Surface::StdioPrimary | Surface::StdioProxy).then(|| {
            let mut mcp = home.serve();
            mcp.initialize("2025-06-18");
            mcp
        });
        Site { way: self, form: AnswerForm::Frame, mcp, daemon, home }
    }
}

/// The form of the last answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// The exit code of a command.
    Exit(i32),
    /// The status of JSON-RPC over HTTP.
    Status(u16),
    /// A frame, which has no status of its own.
    Frame,
    /// The result of an MCP tool, success or error.
    ToolResult,
    /// An error of the MCP protocol.
    Protocol,
}

/// A home with one surface. Its processes end before it is removed.
pub(crate) struct Site {
    way: Surface,
    pub(crate) form: AnswerForm,
    mcp: Option<Mcp>,
    daemon: Option<Daemon>,
    pub(crate) home: Home,
}

impl Site {
    /// Makes one call. Returns the result, or the error object of the wire.
    pub(crate) fn call(&mut self, op: &str, params: &Value) -> Result<Value, Value> {
        let tool = json!({ "name": op, "arguments": params });
        let reply = match self.way {
            Surface::Command | Surface::InProcess => {
                let stdin = params.to_string();
                let run = self.home.run_with(&["call", op, "-", "--json"], stdin.as_bytes());
                return self.of_command(&run);
            }
            Surface::OwnCommand => {
                let run = own_command(&self.home, op, params);
                return self.of_command(&run);
            }
            Surface::Socket => return self.home.socket().rpc(op, params),
            Surface::Ws => return self.ws(&[]).rpc(op, params),
            Surface::Rpc | Surface::Root | Surface::Batch => return self.of_http(op, params),
            Surface::StdioPrimary | Surface::StdioProxy => {
                let mcp = self.mcp.as_mut().expect("this way has an MCP client");
                mcp.request("tools/call", &tool)
            }
            Surface::McpHttp => {
                let http = self.http().with("MCP-Protocol-Version", "2025-06-18");
                http.post("/mcp", request("tools/call", &tool).as_bytes()).json()
            }
            Surface::McpModern => modern(&self.http(), "tools/call", &tool).1,
            Surface::McpSse => {
                let message = serde_json::from_str(&request("tools/call", &tool)).unwrap();
                Sse::open(&self.http(), "/sse").request(&message)
            }
            Surface::McpWs => {
                let mut ws = self.ws(&[("Sec-WebSocket-Protocol", "mcp")]);
                ws.send(&serde_json::from_str(&request("tools/call", &tool)).unwrap());
                ws.receive().expect("a reply")
            }
        };
        self.form = match reply.get("error") {
            Some(_) => AnswerForm::Protocol,
            None => AnswerForm::ToolResult,
        };
        of_tool(&reply)
    }

    /// Sends these bytes as one frame. Returns the reply, if there is one. Commands have no frames.
    pub(crate) fn frame(&mut self, frame: &[u8]) -> Option<Value> {
        match self.way {
            Surface::Command | Surface::InProcess | Surface::OwnCommand => {
                panic!("a command has no frames")
            }
            Surface::Socket => {
                let mut socket = self.home.socket();
                socket.send(&[frame, b"\n"].concat());
                socket.receive()
            }
            Surface::Ws | Surface::McpWs => {
                let mcp = [("Sec-WebSocket-Protocol", "mcp")];
                let mut ws = self.ws(if self.way == Surface::McpWs { &mcp } else { &[] });
                let text = String::from_utf8(frame.to_vec()).expect("text");
                ws.send_text(text).ok()?;
                ws.receive()
            }
            Surface::StdioPrimary | Surface::StdioProxy => {
                let mcp = self.mcp.as_mut().expect("this way has an MCP client");
                mcp.send(&[frame, b"\n"].concat());
                mcp.receive().map(|line| serde_json::from_str(&line).expect("a line of JSON"))
            }
            Surface::McpSse => {
                let mut sse = Sse::open(&self.http(), "/sse");
                let answer = sse.post(frame);
                self.form = AnswerForm::Status(answer.status);
                if answer.status != 202 {
                    return Some(answer.json());
                }
                sse.receive().map(|(_, data)| serde_json::from_str(&data).expect("JSON"))
            }
            Surface::Rpc
            | Surface::Root
            | Surface::Batch
            | Surface::McpHttp
            | Surface::McpModern => {
                let path = match self.way {
                    Surface::Root => "/",
                    Surface::McpHttp | Surface::McpModern => "/mcp",
                    _ => "/rpc",
                };
                let answer = self.http().post(path, frame);
                self.form = AnswerForm::Status(answer.status);
                (!answer.body.is_empty()).then(|| answer.json())
            }
        }
    }

    fn of_command(&mut self, run: &Run) -> Result<Value, Value> {
        self.form = AnswerForm::Exit(run.code);
        match run.code {
            0 => Ok(run.json()),
            _ => Err(run.json()["error"].clone()),
        }
    }

    fn of_http(&mut self, op: &str, params: &Value) -> Result<Value, Value> {
        let (path, body) = match self.way {
            Surface::Root => ("/", request(op, params)),
            Surface::Batch => ("/rpc", format!("[{}]", request(op, params))),
            _ => ("/rpc", request(op, params)),
        };
        let response = self.http().post(path, body.as_bytes());
        self.form = AnswerForm::Status(response.status);
        match response.json() {
            Value::Array(replies) => {
                assert_eq!(replies.len(), 1, "{replies:?}");
                of_rpc(&replies[0])
            }
            reply => of_rpc(&reply),
        }
    }

    fn http(&self) -> Http {
        self.daemon().http()
    }

    pub(crate) fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().expect("this way has a daemon")
    }

    fn ws(&self, headers: &[(&str, &str)]) -> Ws {
        connect(self.daemon(), headers)
    }
}

/// A WebSocket with the token.
pub(crate) fn connect(daemon: &Daemon, headers: &[(&str, &str)]) -> Ws {
    let bearer = format!("Bearer {}", daemon.token);
    let mut all = vec![("Authorization", bearer.as_str())];
    all.extend(headers);
    Ws::connect(daemon.port, &all).expect("the handshake succeeds")
}

/// A JSON-RPC request as text.
pub(crate) fn request(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string()
}

/// Sends a request to `/mcp` in the revision without a handshake. Returns status and reply.
pub(crate) fn modern(http: &Http, method: &str, params: &Value) -> (u16, Value) {
    let mut params = params.clone();
    params["_meta"] = modern_meta();
    let mut http =
        http.clone().with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", method);
    if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
        http = http.with("Mcp-Name", name);
    }
    let response = http.post("/mcp", request(method, &params).as_bytes());
    (response.status, response.json())
}

/// The client's metadata in a request of that revision.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The result or the error in a JSON-RPC reply.
pub(crate) fn of_rpc(reply: &Value) -> Result<Value, Value> {
    assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!(7)), "{reply}");
    match reply.get("error") {
        Some(error) => Err(error.clone()),
        None => Ok(reply["result"].clone()),
    }
}

/// The result or the error in the reply to a tool call. Asserts that its text equals its structure, or for the context of a
/// session its message or its sets.
pub(crate) fn of_tool(reply: &Value) -> Result<Value, Value> {
    if let Some(error) = reply.get("error") {
        return Err(error.clone());
    }
    let result = &reply["result"];
    let blocks = result["content"].as_array().expect("content");
    assert_eq!((blocks.len(), &blocks[0]["type"]), (1, &json!("text")), "{reply}");
    let said = &blocks[0]["text"];
    let text: Value = serde_json::from_str(said.as_str().unwrap()).unwrap_or_default();
    if result["isError"] == json!(true) {
        assert_eq!(result.get("structuredContent"), None, "{reply}");
        return Err(text);
    }
    let whole = &result["structuredContent"];
    let is_context = whole["message"] == *said || (text.is_object() && whole["context"] == text);
    assert!(text == *whole || is_context, "{reply}");
    Ok(whole.clone())
}

/// Runs the command line that `rekindle ops NAME` shows for the example with these parameters.
fn own_command(home: &Home, op: &str, params: &Value) -> Run {
    let described = home.run(&["ops", op, "--json"]).json();
    let examples = described["examples"].as_array().unwrap();
    let place = examples.iter().position(|example| example["params"] == *params);
    let place = place.unwrap_or_else(|| panic!("{op} has no example {params}"));
    let shown = home.run(&["ops", op]).ok();
    let mut lines = shown.lines().skip_while(|line| *line != "Examples");
    let line = lines.by_ref().filter(|line| line.starts_with("  # ")).nth(place);
    let line = line.and_then(|_| lines.next()).expect("a line for each example").trim();
    let words = line.strip_prefix("rekindle ").expect("a line of ours");
    assert!(!words.starts_with("call "), "{op} cannot be said by its own command: {line}");
    let line = format!("exec \"$0\" {words} --json");
    finish(under(home, "sh", &["-c", &line], &[]), b"")
}

/// A command of this home that runs under another program, with the same environment.
pub(crate) fn under(home: &Home, program: &str, before: &[&str], args: &[&str]) -> Command {
    let ours = home.command(args);
    let mut command = Command::new(program);
    command.args(before).arg(ours.get_program()).args(args).env_clear().current_dir(&home.dir);
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}
