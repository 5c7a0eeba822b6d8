//! JSON-RPC and MCP frames on the socket, `/rpc`, `/mcp` and `/ws`: every reply is well-formed, none a defect.

use serde_json::{Map, Value, json};
use testkit::{Mcp, Response, Sse, Ws};

use crate::arena::{Arena, check_reply};
use crate::corpus::TOOLS;
use crate::dice::Dice;
use crate::grammar;
use crate::mutate::mutate;
use crate::target::{Checked, Flaw, Subject, Workbench, ensure};

/// The transport of a frame, which is the first line of an input.
const WAYS: [&str; 8] = ["socket", "socket", "rpc", "mcp", "ws", "mcp-ws", "mcp-stdio", "mcp-sse"];

/// Sent after every frame on a connection: its reply shows that the frame was handled.
const LAST: &str = r#"{"jsonrpc":"2.0","id":"last","method":"ping","params":{}}"#;

pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let way = *dice.pick(&WAYS);
    let is_mcp = way.starts_with("mcp");
    let frame = match dice.one_in(12) {
        true => (0..dice.few(8)).map(|_| frame(dice, is_mcp)).collect(),
        false => frame(dice, is_mcp),
    };
    let mut bytes = frame.to_string().into_bytes();
    if dice.one_in(3) {
        let other = self::frame(dice, is_mcp).to_string();
        mutate(dice, &mut bytes, other.as_bytes());
    }
    let mut input = format!("{way}\n").into_bytes();
    input.extend(grammar::without_secrets(&bytes));
    input
}

fn frame(dice: &mut Dice, is_mcp: bool) -> Value {
    let (method, params) = if is_mcp { mcp_request(dice) } else { request(dice) };
    let mut frame =
        json!({ "jsonrpc": "2.0", "id": dice.below(100), "method": method, "params": params });
    if dice.one_in(6) {
        frame["rekindle"] = envelope(dice);
    }
    if dice.one_in(5) {
        grammar::distort(dice, &mut frame);
    }
    frame
}

fn request(dice: &mut Dice) -> (String, Value) {
    let tool = dice.pick(&TOOLS);
    let name = tool["name"].as_str().unwrap_or_default().to_owned();
    if dice.one_in(10) {
        let (event, payload) = super::payload::hook_payload(dice);
        let payload: Value = serde_json::from_slice(&payload).unwrap_or_default();
        return ("hook".to_owned(), json!({ "event": event, "payload": payload }));
    }
    let params = arguments(dice, &tool["inputSchema"]);
    (name, params)
}

#[rustfmt::skip]
const METHODS: &[&str] = &[
    "initialize", "ping", "tools/list", "resources/list", "resources/read", "prompts/list",
    "prompts/get", "resources/templates/list", "logging/setLevel", "completion/complete",
    "notifications/initialized", "notifications/cancelled", "server/discover", "",
];

fn mcp_request(dice: &mut Dice) -> (String, Value) {
    if !dice.one_in(4) {
        let (name, arguments) = request(dice);
        return ("tools/call".to_owned(), json!({ "name": name, "arguments": arguments }));
    }
    let params = json!({
        "uri": path(dice), "name": grammar::text(dice), "cursor": grammar::text(dice), "protocolVersion": "2025-06-18",
        "capabilities": grammar::value(dice, 2), "clientInfo": { "name": "x", "version": "1" }, "level": "debug",
    });
    ((*dice.pick(METHODS)).to_owned(), params)
}

/// Parameters for an operation, most of them of the kind that its schema asks for.
fn arguments(dice: &mut Dice, schema: &Value) -> Value {
    let mut arguments = Map::new();
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if dice.one_in(2) {
            arguments.insert(name.clone(), argument(dice, name, schema));
        }
    }
    if dice.one_in(8) {
        arguments.extend(grammar::members(dice, 2));
    }
    Value::Object(arguments)
}

fn argument(dice: &mut Dice, name: &str, schema: &Value) -> Value {
    if dice.one_in(6) {
        return grammar::value(dice, 3);
    }
    if let Some(options) = schema["enum"].as_array().filter(|options| !options.is_empty()) {
        return dice.pick(options).clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match (name, kind) {
        ("query", _) => String::from_utf8_lossy(&super::query::typed(dice)).into_owned().into(),
        ("path" | "anchor", _) => path(dice).into(),
        ("project", _) => (*dice.pick(&["*", "control", "x", "", "/srv/control", "../.."])).into(),
        ("before" | "after", Some("string")) => {
            let times = [
                "2026-01-01",
                "1h",
                "-1",
                "yesterday",
                "2026-13-45T99:99:99Z",
                "9999999999999999",
                "",
            ];
            (*dice.pick(&times)).into()
        }
        (_, Some("integer" | "number")) => {
            let numbers = [0, 1, -1, 2, 50, 100, 101, 1_000_000, i64::MAX, i64::MIN];
            (*dice.pick(&numbers)).into()
        }
        (_, Some("boolean")) => dice.one_in(2).into(),
        (_, Some("array")) => (0..dice.few(60)).map(|_| grammar::value(dice, 1)).collect(),
        (_, Some("object")) => Value::Object(grammar::members(dice, 2)),
        _ => grammar::text(dice).into(),
    }
}

#[rustfmt::skip]
const PATHS: &[&str] = &[
    "obs://1", "obs://2", "obs://99999999999999999999", "obs://-1", "obs://", "session://control",
    "project://control", "hint://web/build", "hint://", "hint://a/b/c", "hint://%2e%2e/x",
    "file:///etc/passwd", "x", "", "obs://1?x#y", "obs:///1",
];

fn path(dice: &mut Dice) -> String {
    (*dice.pick(PATHS)).to_owned()
}

fn envelope(dice: &mut Dice) -> Value {
    let mut envelope = json!({
        "call": format!("{:016x}{:016x}", dice.next(), dice.next()), "tier": dice.pick(&["person", "agent", "client", "hook"]),
        "session": grammar::text(dice), "situation": { "cwd": dice.pick(&["/srv/control", "/", "", "x"]) },
    });
    if dice.one_in(2) {
        grammar::distort(dice, &mut envelope);
    }
    envelope
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    Box::new(RpcSubject { stdio: None, arena: Arena::with_control(bench) })
}

struct RpcSubject {
    /// A `serve` process that forwards to the daemon. Started on demand, and dropped before the home.
    stdio: Option<Mcp>,
    arena: Arena,
}

impl Subject for RpcSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
        let frame = input.get(end + 1..).unwrap_or_default();
        match &input[..end] {
            b"rpc" => check_response(&self.arena.http().post("/rpc", frame))?,
            b"mcp" => {
                let http = self.arena.http().with("MCP-Protocol-Version", "2025-06-18");
                let http = http.with("Accept", "application/json, text/event-stream");
                check_response(&http.post("/mcp", frame))?;
            }
            b"mcp-stdio" => self.over_stdio(frame)?,
            b"mcp-sse" => self.over_sse(frame)?,
            b"ws" => self.over_ws(frame, &[])?,
            b"mcp-ws" => self.over_ws(frame, &[("Sec-WebSocket-Protocol", "mcp")])?,
            _ => self.over_socket(frame)?,
        }
        self.arena.check_daemon()?;
        self.arena.check_control()
    }
}

impl RpcSubject {
    fn over_socket(&self, frame: &[u8]) -> Checked {
        let last = LAST.replace("ping", "status");
        let replies = self.arena.exchange(&[frame, b"\n", last.as_bytes(), b"\n"].concat())?;
        let mut answered = false;
        for line in replies.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let reply = parsed(line)?;
            check_reply(&reply)?;
            answered |= reply["id"] == "last";
        }
        ensure(answered, || {
            format!("no reply to what follows: {}", String::from_utf8_lossy(&replies))
        })
    }

    fn over_stdio(&mut self, frame: &[u8]) -> Checked {
        let arena = &self.arena;
        let mcp = self.stdio.get_or_insert_with(|| {
            let mut mcp = arena.home.serve();
            mcp.initialize("2025-06-18");
            mcp
        });
        mcp.send(&[frame, b"\n", LAST.as_bytes(), b"\n"].concat());
        loop {
            let line = mcp.receive().ok_or_else(|| Flaw::Wrong("serve ends".to_owned()))?;
            let reply = parsed(line.as_bytes())?;
            check_reply(&reply)?;
            if reply["id"] == "last" {
                return Ok(());
            }
        }
    }

    fn over_sse(&self, frame: &[u8]) -> Checked {
        let sse = Sse::open(&self.arena.http(), "/sse");
        let response = sse.post(frame);
        ensure(matches!(response.status, 202 | 400 | 404 | 413), || {
            format!("{}: {}", response.status, response.text())
        })
    }

    fn over_ws(&self, frame: &[u8], headers: &[(&str, &str)]) -> Checked {
        let is_mcp = !headers.is_empty();
        let bearer = self.arena.bearer();
        let mut all = vec![("Authorization", bearer.as_str())];
        all.extend(headers);
        let connected = Ws::connect(self.arena.daemon().port, &all);
        let mut ws =
            connected.map_err(|status| Flaw::Wrong(format!("/ws is refused: {status}")))?;
        // The server may refuse the input and close before it has read all of it.
        let _ = ws.send_text(String::from_utf8_lossy(frame).into_owned());
        let _ = ws.send_text(if is_mcp { LAST.to_owned() } else { LAST.replace("ping", "status") });
        loop {
            let reply = ws.receive();
            let reply =
                reply.ok_or_else(|| Flaw::Wrong("/ws closes before it answers".to_owned()))?;
            check_reply(&reply)?;
            if reply["id"] == "last" {
                return Ok(());
            }
        }
    }
}

fn parsed(bytes: &[u8]) -> Result<Value, Flaw> {
    serde_json::from_slice(bytes)
        .map_err(|error| Flaw::Wrong(format!("{error}: {}", String::from_utf8_lossy(bytes))))
}

fn check_response(response: &Response) -> Checked {
    let is_known = matches!(response.status, 200 | 202 | 400 | 404 | 405 | 406 | 413);
    ensure(is_known, || format!("{}: {}", response.status, response.text()))?;
    let is_json =
        response.header("Content-Type").is_some_and(|kind| kind.starts_with("application/json"));
    match is_json && !response.body.is_empty() {
        true => check_reply(&parsed(&response.body)?),
        false => Ok(()),
    }
}
