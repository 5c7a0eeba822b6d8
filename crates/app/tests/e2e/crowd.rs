//! Too many, too slow and invalid connections: a new client is still served.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::http::read_response;
use testkit::{Daemon, Home, Http};

use super::ways::connect;
use super::{home, sqlite};

/// Asserts that the daemon serves a new client on each surface.
fn serves(home: &Home, daemon: &Daemon) {
    assert_eq!(daemon.http().get("/health").status, 200);
    assert!(daemon.http().rpc("status", &json!({})).is_ok());
    assert!(home.socket().rpc("status", &json!({})).is_ok());
    assert!(connect(daemon, &[]).rpc("status", &json!({})).is_ok());
}

/// @idle_connections_keep_nobody_out
#[test]
fn a_thousand_idle_connections_do_not_keep_a_new_client_out() {
    let home = home();
    let daemon = home.daemon();
    let socket = home.locations().socket();
    let mut tcp = Vec::new();
    let mut unix = Vec::new();
    // A machine may allow fewer open files; there only need to be more connections than the daemon's limit.
    while tcp.len() < 500 {
        match (TcpStream::connect(("127.0.0.1", daemon.port)), UnixStream::connect(&socket)) {
            (Ok(one), Ok(other)) => {
                tcp.push(one);
                unix.push(other);
            }
            _ => break,
        }
    }
    let open = tcp.len() + unix.len();
    println!("{open} idle connections");
    assert!(open > 512, "only {open} connections could be opened");
    // Frees file descriptors for the test's own connections, if the limit was reached.
    if open < 1_000 {
        drop((tcp.split_off(tcp.len() - 5), unix.split_off(unix.len() - 5)));
    }
    serves(&home, &daemon);
    let connections = daemon.http().rpc("status", &json!({})).unwrap()["connections"].clone();
    assert!(connections.as_u64().is_some_and(|count| count <= 512), "{connections}");
    drop((tcp, unix));
    serves(&home, &daemon);
}

/// A daemon under a limit on open files; `ulimit` sets it.
fn limited(home: &Home, ulimit: &str) -> (std::process::Child, u16) {
    let script = format!("{ulimit}; exec \"$0\" \"$@\"");
    let mut command = super::ways::under(home, "sh", &["-c", &script], &["serve", "--http"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
    (child, port.unwrap_or_else(|| panic!("the daemon said {line:?}")))
}

/// @few_open_files_lock_nobody_out
#[test]
fn idle_connections_do_not_block_new_ones_under_a_low_open_file_limit() {
    // Only the soft limit can be raised; with a low hard limit there are fewer connections.
    for (ulimit, most) in [("ulimit -Sn 256", 512), ("ulimit -n 256", 192), ("ulimit -n 100", 36)] {
        let home = home();
        let (mut child, port) = limited(&home, ulimit);
        let http = Http::new(port).with("Authorization", &format!("Bearer {}", home.token()));
        let mut trusted = http.connect();
        let mut agent = home.socket();
        assert!(agent.rpc("status", &json!({})).is_ok());
        let ask = |stream: &mut TcpStream| {
            let token = home.token();
            let head = format!(
                "GET /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).unwrap();
            read_response(&mut BufReader::new(stream)).map(|response| response.status)
        };
        assert_eq!(ask(&mut trusted), Some(405), "it passed the guard");
        let idle: Vec<TcpStream> =
            (0..400).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
        let began = Instant::now();
        assert!(http.rpc("status", &json!({})).is_ok(), "{ulimit}");
        assert!(home.socket().rpc("status", &json!({})).is_ok(), "{ulimit}");
        home.hook("Stop", &json!({ "session_id": "s-1", "cwd": "/srv/app" }));
        let taken = agent.rpc("status", &json!({})).unwrap();
        assert_eq!((&taken["events"], &taken["spooled"]), (&json!(1), &json!(0)), "{ulimit}");
        let took = began.elapsed();
        println!("{ulimit}: all answered within {took:?}");
        assert!(took < Duration::from_secs(5), "{ulimit}: {took:?}");
        // Connections with the token, and those over the socket, are still open.
        assert_eq!(ask(&mut trusted), Some(405), "{ulimit}");
        let open = agent.rpc("status", &json!({})).unwrap()["connections"].as_u64().unwrap();
        assert!(open <= most, "{ulimit}: {open} connections");
        drop(idle);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// @a_client_in_use_is_not_evicted
#[test]
fn an_active_connection_is_not_closed_for_idle_ones() {
    let home = home();
    let daemon = home.daemon();
    let mut busy = home.socket();
    let mut idle = Vec::new();
    for _ in 0..12 {
        idle.extend((0..50).map_while(|_| TcpStream::connect(("127.0.0.1", daemon.port)).ok()));
        // Each round trip makes it the most recently active one; by then the port has accepted the others.
        assert!(daemon.http().get("/health").status == 200);
        assert!(busy.rpc("status", &json!({})).is_ok(), "after {} connections", idle.len());
    }
    assert!(idle.len() > 512, "only {} connections could be opened", idle.len());
}

/// @events_are_answered_in_order
#[test]
fn pipelined_requests_are_answered_in_the_order_of_their_lines() {
    const EVENTS: usize = 300;
    const BROKEN: usize = 120;
    let home = home();
    let _daemon = home.daemon();
    let mut socket = home.socket();
    let mut lines = String::new();
    for id in 0..EVENTS {
        if id == BROKEN {
            lines.push_str("{\n");
        }
        // A session start gets an answer with text, which takes longer than recording an event.
        let name = if id % 50 == 0 { "SessionStart" } else { "PreToolUse" };
        let payload = json!({ "session_id": format!("s-{}", id / 50), "cwd": "/srv/app",
            "hook_event_name": name, "tool_name": "Bash", "tool_input": { "command": "make" } });
        let params = json!({ "payload": payload });
        let frame = json!({ "jsonrpc": "2.0", "id": id, "method": "hook", "params": params });
        lines.push_str(&format!("{frame}\n"));
    }
    // The answers arrive while only half of the last line has been sent.
    let status = json!({ "jsonrpc": "2.0", "id": EVENTS, "method": "status" }).to_string();
    let (half, rest) = status.split_at(20);
    lines.push_str(half);
    socket.send(lines.as_bytes());
    for id in 0..EVENTS {
        if id == BROKEN {
            let refused = socket.receive().expect("an answer to the broken line");
            assert_eq!(refused["error"]["code"], -32700, "{refused}");
        }
        let reply = socket.receive().expect("an answer to each event");
        assert_eq!((&reply["id"], &reply["result"]["recorded"]), (&json!(id), &json!(true)));
    }
    socket.send(format!("{rest}\n").as_bytes());
    let status = socket.receive().expect("an answer to the call behind them");
    assert_eq!(status["result"]["events"], EVENTS, "{status}");
}

/// @events_are_answered_in_order
#[test]
fn an_event_is_recorded_however_its_call_is_formatted_and_an_invalid_one_is_refused() {
    let home = home();
    let _daemon = home.daemon();
    let mut socket = home.socket();
    let event = |session: u8| {
        format!(
            r#""session_id":"s-{session}","cwd":"/srv/app","hook_event_name":"PostToolUse","tool_name":"Bash",
               "tool_use_id":"t-1","tool_input":{{"command":"echo \"caf\u00e9\" password=hunter2hunter2"}},
               "tool_response":{{"stdout":"x","exit_code":3}}"#
        )
        .replace('\n', " ")
    };
    let kept = [
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"hook","params":{{"payload":{{{}}}}}}}"#,
            event(1)
        ),
        // Members in another order, an unknown one, a duplicate, and an escaped name.
        format!(
            r#" {{"params":{{"payload":{{"later":[{{}}],{}}}}},"x":0,"method":"stop","method":"hook","id":"2","jsonrpc":"2.0"}} "#,
            event(2).replace("tool_name", "tool\\u005fname")
        ),
        format!(
            r#"{{"jsonrpc":"2.0","id":null,"method":"hook","params":{{"payload":{{"cwd":1,{}}}}}}}"#,
            event(3)
        ),
    ];
    for line in &kept {
        socket.send(format!("{line}\n").as_bytes());
        let reply = socket.receive().expect("an answer");
        assert_eq!(reply["result"]["recorded"], true, "{line}: {reply}");
    }
    let refused = [
        (r#"{"jsonrpc":"2.0","id":[1],"method":"hook","params":{"payload":{}}}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"hook","params":{"payload":{}}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"hook","params":{"payload":[]}}"#, 40001),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hook","params":{"payload":{"session_id":"s"},"z":1}}"#,
            40001,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"hook","params":{"payload":{}}}"#, 40001),
        (r#"{"jsonrpc":"2.0","id":1,"method":"hook"}"#, 40001),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hook","params":{"payload":{"session_id":"s"}},"rekindle":null}"#,
            40001,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hook","params":{"payload":{"session_id":"\ud800"}}}"#,
            -32700,
        ),
    ];
    for (line, code) in refused {
        socket.send(format!("{line}\n").as_bytes());
        let reply = socket.receive().expect("an answer");
        assert_eq!(reply["error"]["code"], code, "{line}: {reply}");
    }
    let observed = sqlite::observed(&home);
    assert_eq!(observed.len(), kept.len());
    assert!(observed.iter().all(|one| *one == observed[0]), "{observed:?}");
    assert!(observed[0].0.contains("café") && !observed[0].0.contains("hunter2"), "{observed:?}");
}

/// @slow_requests_are_cut_off
#[test]
fn a_line_that_never_ends_is_cut_off_and_events_before_it_are_answered() {
    let mut home = home();
    home.set("REKINDLE_REQUEST_TIMEOUT", "400ms");
    let _daemon = home.daemon();
    let mut socket = home.socket();
    let params = json!({ "payload": { "session_id": "s-1", "hook_event_name": "Stop" } });
    let frame = json!({ "jsonrpc": "2.0", "id": 1, "method": "hook", "params": params });
    socket.send(format!("{frame}\n{{\"jsonrpc\"").as_bytes());
    assert_eq!(socket.receive().expect("an answer to the event")["id"], 1);
    assert_eq!(socket.receive(), None, "the connection is closed");
    assert!(home.socket().rpc("status", &json!({})).is_ok());
}

/// Sends a byte at a time until the server closes. Returns its answer and the time that it took.
fn dribble(mut stream: TcpStream, start: &str) -> (Vec<u8>, Duration) {
    let began = Instant::now();
    stream.write_all(start.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut said = Vec::new();
    let mut part = [0; 4096];
    while began.elapsed() < Duration::from_secs(15) {
        match stream.read(&mut part) {
            Ok(0) => return (said, began.elapsed()),
            Ok(read) => said.extend_from_slice(&part[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                let _ = stream.write_all(b"x");
            }
            Err(_) => return (said, began.elapsed()),
        }
    }
    panic!("the server still waits after {:?}", began.elapsed());
}

/// @slow_requests_are_cut_off
#[test]
fn a_request_that_dribbles_in_is_cut_off_in_its_head_and_in_its_body() {
    let mut home = home();
    home.set("REKINDLE_REQUEST_TIMEOUT", "400ms");
    let daemon = home.daemon();
    let token = &daemon.token;
    let head = "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ";
    let body = format!(
        "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    );
    std::thread::scope(|scope| {
        let slow = [head, &body].map(|start| {
            let stream = daemon.http().connect();
            scope.spawn(move || dribble(stream, start))
        });
        serves(&home, &daemon);
        let [(in_head, head_time), (in_body, body_time)] = slow.map(|slow| slow.join().unwrap());
        for time in [head_time, body_time] {
            assert!(time >= Duration::from_millis(350), "cut off after {time:?} already");
        }
        assert!(in_head.is_empty() || in_head.starts_with(b"HTTP/1.1 408"));
        let refusal = read_response(&mut in_body.as_slice()).expect("a response");
        assert_eq!((refusal.status, &refusal.json()["error"]["code"]), (408, &json!(50401)));
    });
    serves(&home, &daemon);
}

/// @strange_requests_are_refused
#[test]
fn bytes_that_are_not_a_request_are_refused_and_do_no_harm() {
    let home = home();
    let daemon = home.daemon();
    let token = &daemon.token;
    let good = format!(
        "Host: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    );
    // One read may exceed the limit of a head by up to that limit.
    let long = "x".repeat(300_000);
    let call =
        super::ways::request("set_hint", &json!({ "component": "evil", "key": "k", "value": "v" }));
    let length = call.len();
    let requests = [
        "\r\n\r\n\r\n".to_owned(),
        "hello\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\0\u{1}\0".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        format!("POST /rpc\r\n{good}\r\n{call}"),
        format!("POST /rpc HTTP/9.9\r\n{good}Content-Length: {length}\r\n\r\n{call}"),
        format!("POST /rpc HTTP/1.1\r\n{good}X: a\0b\r\nContent-Length: {length}\r\n\r\n{call}"),
        format!("POST /rpc HTTP/1.1\r\n{good}X: {long}\r\nContent-Length: {length}\r\n\r\n{call}"),
        format!("POST /{long} HTTP/1.1\r\n{good}Content-Length: {length}\r\n\r\n{call}"),
        format!("POST /rpc HTTP/1.1\r\n{good}Content-Length: -1\r\n\r\n{call}"),
        format!(
            "POST /rpc HTTP/1.1\r\n{good}Content-Length: 1\r\nContent-Length: {length}\r\n\r\n{call}"
        ),
        format!("POST /rpc HTTP/1.1\r\n{good}Content-Length: 99999999999999999999\r\n\r\n{call}"),
        format!(
            "POST /rpc HTTP/1.1\r\n{good}Transfer-Encoding: chunked\r\n\r\nzz\r\n{call}\r\n0\r\n\r\n"
        ),
        format!(
            "POST /rpc HTTP/1.1\r\n{good}Content-Length: {}\r\n\r\n{}",
            length + 5,
            &call[..length - 5]
        ),
        format!("POST /rpc HTTP/1.1\r\n{good}Content-Length: {}\r\n\r\n{call}", length + 5),
    ];
    for request in requests {
        let mut stream = daemon.http().connect();
        let _ = stream.write_all(request.as_bytes());
        let _ = stream.shutdown(Shutdown::Write);
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        let shown: String = request.chars().take(60).collect();
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{shown:?}: {said}");
        let listed = daemon.http().rpc("list_resources", &json!({})).unwrap();
        assert_eq!(listed["resources"], json!([]), "{shown:?}");
    }
    serves(&home, &daemon);
}

/// @early_refusals_close_the_connection
#[test]
fn a_refusal_before_the_body_is_read_closes_the_connection() {
    let mut home = home();
    home.set("REKINDLE_REQUEST_TIMEOUT", "1s");
    let daemon = home.daemon();
    let port = daemon.port;
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let token = format!("Authorization: Bearer {}\r\n", daemon.token);
    let kind = "Content-Type: application/json\r\n";
    let length = "Content-Length: 100000\r\n";
    let part = "x".repeat(1_000);
    let long = "x".repeat(300_000);
    let good = format!("{host}{token}{kind}");
    for (status, request) in [
        (400, format!("POST /rpc HTTP/1.1\r\n{good}Bad Header\r\n{length}\r\n{part}")),
        (400, format!("POST /rpc HTTP/1.1\r\n{good}Rekindle-Call-Id: x\r\n{length}\r\n{part}")),
        (400, format!("POST /mcp?tools=none HTTP/1.1\r\n{good}{length}\r\n{part}")),
        (400, format!("POST /rpc HTTP/1.1\r\n{good}Content-Length: 1\r\n{length}\r\n{part}")),
        (401, format!("POST /rpc HTTP/1.1\r\n{host}{kind}{length}\r\n{part}")),
        (401, format!("POST /challenge HTTP/1.1\r\n{host}{kind}{length}\r\n{part}")),
        (
            403,
            format!("POST /rpc HTTP/1.1\r\nHost: evil.example\r\n{token}{kind}{length}\r\n{part}"),
        ),
        (404, format!("POST /none HTTP/1.1\r\n{good}{length}\r\n{part}")),
        (405, format!("PUT /rpc HTTP/1.1\r\n{good}{length}\r\n{part}")),
        (408, format!("POST /rpc HTTP/1.1\r\n{good}{length}\r\n{part}")),
        (
            413,
            format!(
                "POST /rpc HTTP/1.1\r\n{good}Expect: 100-continue\r\nContent-Length: 99000000\r\n\r\n"
            ),
        ),
        (413, format!("POST /rpc HTTP/1.1\r\n{good}Content-Length: 999000000\r\n\r\n{part}")),
        (
            415,
            format!(
                "POST /rpc HTTP/1.1\r\n{host}{token}Content-Type: text/plain\r\n{length}\r\n{part}"
            ),
        ),
        (431, format!("POST /rpc HTTP/1.1\r\n{good}X: {long}\r\n{length}\r\n{part}")),
    ] {
        let mut stream = daemon.http().connect();
        let _ = stream.write_all(request.as_bytes());
        let mut said = Vec::new();
        let shown: String = request.chars().take(60).collect();
        // The client sends nothing more and keeps its side open: the daemon has to close.
        let closed = stream.read_to_end(&mut said);
        assert!(closed.is_ok(), "{status} {shown:?}: {closed:?}");
        let answer = read_response(&mut said.as_slice())
            .unwrap_or_else(|| panic!("{status} {shown:?}: no answer"));
        assert_eq!(answer.status, status, "{shown:?}");
        assert_eq!(answer.header("Connection"), Some("close"), "{status} {shown:?}");
    }
    // A refusal without a body, or after it was read, leaves the connection open.
    let mut stream = daemon.http().connect();
    for (status, request) in [
        (404, format!("GET /none HTTP/1.1\r\n{good}\r\n")),
        (400, format!("POST /rpc HTTP/1.1\r\n{good}Content-Length: 1\r\n\r\n{{")),
        (200, format!("GET /health HTTP/1.1\r\n{good}\r\n")),
    ] {
        stream.write_all(request.as_bytes()).unwrap();
        let answer = read_response(&mut BufReader::new(&stream)).expect("an answer");
        assert_eq!((answer.status, answer.header("Connection")), (status, None));
    }
}

/// A client that sends a large body completely before it reads can still read the refusal.
///
/// @early_refusals_close_the_connection
#[test]
fn a_refusal_reaches_a_client_that_sends_its_body_first() {
    let home = home();
    let daemon = home.daemon();
    let body = vec![b'x'; 2_000_000];
    for _ in 0..10 {
        assert_eq!(Http::new(daemon.port).post("/rpc", &body).status, 401);
        let wrong = daemon.http().with("Content-Type", "text/plain");
        assert_eq!(wrong.post("/rpc", &body).status, 415);
        assert_eq!(daemon.http().post("/none", &body).status, 404);
    }
}

/// @strange_requests_are_refused
#[test]
fn paths_with_parent_or_encoded_segments_are_refused() {
    let home = home();
    let daemon = home.daemon();
    for path in [
        "/../rpc",
        "/web/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "//rpc",
        "/rpc/",
        "/RPC",
        "/rpc%00",
        "/hook/",
        "/hook/a/b",
        "/session.js/../style.css",
    ] {
        let answer = daemon.http().get(path);
        assert_eq!((answer.status, &answer.json()["code"]), (404, &json!("not_found")), "{path}");
    }
    let stranger = Http::new(daemon.port).get("/../style.css");
    assert_eq!(stranger.status, 401);
}

/// @slow_requests_are_cut_off
#[test]
fn a_started_line_on_the_socket_must_be_completed() {
    let mut home = home();
    home.set("REKINDLE_REQUEST_TIMEOUT", "300ms");
    let _daemon = home.daemon();
    let mut idle = home.socket();
    let mut slow = home.socket();
    slow.send(b"{\"jsonrpc\":");
    assert!(slow.receive().is_none(), "it was closed");
    // A connection that has sent nothing may wait.
    assert!(idle.rpc("status", &serde_json::json!({})).is_ok());
}
