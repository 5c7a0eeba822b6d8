//! Invalid and hostile frames and calls on every surface: answered or refused, never harmful.

use serde_json::{Value, json};
use testkit::Home;

use super::home;
use super::ways::{AnswerForm, Site, Surface, WAYS, connect, request};

const MIB: usize = 1024 * 1024;

/// The ways that carry frames, each with a hint in its store.
fn sites() -> impl Iterator<Item = (Surface, Site)> {
    let framed =
        |way: &Surface| !matches!(way, Surface::Command | Surface::InProcess | Surface::OwnCommand);
    WAYS.into_iter().filter(framed).map(|way| {
        let mut site = way.open();
        let hint = json!({ "component": "web", "key": "build", "value": "make" });
        site.call("set_hint", &hint).unwrap();
        (way, site)
    })
}

/// The content of the store, read through a call: hostile input may change neither.
fn state(home: &Home) -> Value {
    home.call("list_resources", &json!({}))
}

/// A frame that would change the store if it were accepted as a request.
fn write() -> String {
    request("set_hint", &json!({ "component": "evil", "key": "k", "value": "v" }))
}

/// @bad_frames_do_no_harm
#[test]
fn invalid_json_is_refused_as_a_parse_error() {
    let write = write();
    let lone = write.replace("\"v\"", r#""\ud800""#);
    let huge = write.replace("\"v\"", "1e999");
    let deep_object = r#"{"a":"#.repeat(100_000);
    let deep_value = write.replace("\"v\"", &format!("{}{}", "[".repeat(200), "]".repeat(200)));
    let marked = format!("\u{feff}{write}");
    let twice = format!("{write} {write}");
    let frames = [
        "hello",
        "{",
        &write[..write.len() - 1],
        "\0",
        "{\"a\":\"\0\"}",
        &lone,
        &huge,
        &"[".repeat(100_000),
        &deep_object,
        &deep_value,
        &marked,
        &twice,
        "{'jsonrpc':'2.0'}",
        "NaN",
    ];
    for (way, mut site) in sites() {
        let before = state(&site.home);
        for frame in frames {
            let shown: String = frame.chars().take(60).collect();
            let reply = site.frame(frame.as_bytes()).unwrap_or_else(|| panic!("{way:?}: {shown}"));
            let seen = (&reply["error"]["code"], &reply["id"]);
            assert_eq!(seen, (&json!(-32700), &Value::Null), "{way:?}: {shown}");
            if matches!(way, Surface::Rpc | Surface::Root | Surface::McpHttp) {
                assert_eq!(site.form, AnswerForm::Status(400), "{way:?}: {shown}");
            }
        }
        assert_eq!(state(&site.home), before, "{way:?}");
    }
}

/// @bad_frames_do_no_harm
#[test]
fn json_that_is_not_a_request_is_refused_as_such() {
    let write = write();
    let frames = [
        "3".to_owned(),
        "null".to_owned(),
        "\"set_hint\"".to_owned(),
        "{}".to_owned(),
        "[]".to_owned(),
        write.replace("2.0", "1.0"),
        write.replace("\"2.0\"", "2.0"),
        write.replace("\"jsonrpc\":\"2.0\",", ""),
        write.replace("\"set_hint\"", "3"),
        write.replace("\"set_hint\"", "null"),
        write.replace("\"method\":\"set_hint\",", ""),
        write.replace("\"id\":7", "\"id\":[7]"),
        write.replace("\"id\":7", "\"id\":{}"),
        write.replace("\"id\":7", "\"id\":true"),
    ];
    for (way, mut site) in sites() {
        let before = state(&site.home);
        for frame in &frames {
            let reply = site.frame(frame.as_bytes()).unwrap_or_else(|| panic!("{way:?}: {frame}"));
            assert_eq!(reply["error"]["code"], -32600, "{way:?}: {frame} got {reply}");
        }
        assert_eq!(state(&site.home), before, "{way:?}");
    }
}

/// @bad_frames_do_no_harm
#[test]
fn bytes_that_are_not_utf_8_are_refused() {
    let write = write().replace("\"v\"", "\"@\"").into_bytes();
    let broken: Vec<u8> =
        write.iter().map(|byte| if *byte == b'@' { 0xff } else { *byte }).collect();
    for (way, mut site) in sites() {
        let before = state(&site.home);
        if matches!(way, Surface::Ws | Surface::McpWs) {
            let mut ws = connect(site.daemon(), &[]);
            ws.send_raw(&text_frame(&broken));
            assert_eq!(ws.close_code(), Some(1007), "{way:?}");
        } else {
            let reply = site.frame(&broken).expect("a reply");
            assert_eq!(reply["error"]["code"], -32700, "{way:?}: {reply}");
        }
        assert_eq!(state(&site.home), before, "{way:?}");
    }
}

/// A masked text frame as a client sends it, with any bytes.
fn text_frame(payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![0x81, 0x80 | 126, length[0], length[1], 0, 0, 0, 0];
    frame.extend_from_slice(payload);
    frame
}

/// @bad_calls_do_no_harm
#[test]
fn calls_that_make_no_sense_are_refused_with_their_reason() {
    let name = |component: &str| json!({ "component": component, "key": "k", "value": "v" });
    let value = |value: Value| json!({ "component": "evil", "key": "k", "value": value });
    let calls = [
        ("no_such", json!({}), "E_UNKNOWN_METHOD"),
        ("", json!({}), "E_UNKNOWN_METHOD"),
        ("Set_Hint", name("evil"), "E_UNKNOWN_METHOD"),
        ("__proto__", json!({}), "E_UNKNOWN_METHOD"),
        ("set_hint", json!({}), "E_INVALID"),
        ("set_hint", json!({ "component": 3, "key": {}, "value": "v" }), "E_INVALID"),
        (
            "set_hint",
            json!({ "component": "evil", "key": "k", "value": "v", "extra": 1 }),
            "E_INVALID",
        ),
        ("set_hint", name(""), "E_INVALID"),
        ("set_hint", name("  "), "E_INVALID"),
        ("set_hint", name("."), "E_INVALID"),
        ("set_hint", name(".."), "E_INVALID"),
        ("set_hint", name("a\u{1b}[31mb"), "E_INVALID"),
        ("set_hint", name("a\0b"), "E_INVALID"),
        ("set_hint", name("a\nb"), "E_INVALID"),
        ("set_hint", name(&"x".repeat(10_000)), "E_INVALID"),
        ("set_hint", value(json!(18_446_744_073_709_551_615_u64)), "E_INVALID"),
        ("set_hint", value(json!(1e308)), "E_INVALID"),
        ("set_hint", value(json!("x".repeat(70_000))), "E_TOO_LARGE"),
        ("get", json!({ "path": "hint://web/../web/build" }), "E_INVALID"),
        ("get", json!({ "path": "hint://web/%2e%2e/build" }), "E_INVALID"),
        ("get", json!({ "path": "file:///etc/passwd" }), "E_INVALID"),
        ("get", json!({ "path": "../../etc/passwd" }), "E_INVALID"),
        ("get", json!({ "path": "hint://web/build/\u{0}" }), "E_INVALID"),
    ];
    for (way, mut site) in sites() {
        let before = state(&site.home);
        for (op, params, reason) in &calls {
            let error = match site.call(op, params) {
                Err(error) => error,
                Ok(result) => panic!("{way:?} took {op} {params}: {result}"),
            };
            assert_eq!(error["data"]["reason"], *reason, "{way:?} {op}: {error}");
        }
        assert_eq!(state(&site.home), before, "{way:?}");
    }
}

/// @bad_calls_do_no_harm
#[test]
fn duplicate_keys_and_large_numbers_mean_the_same_everywhere() {
    let params = r#"{"component":"none","component":"web","key":"build","key":"build"}"#;
    let large =
        r#"{"component":"web","key":"k","value":"v","if_match_version":99999999999999999999}"#;
    for (way, mut site) in sites() {
        let frame = |op: &str, params: &str| match way.is_mcp() {
            true => format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{op}","arguments":{params}}}}}"#
            ),
            false => format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{op}","params":{params}}}"#),
        };
        let answer = |site: &mut Site, text: String| {
            let reply = site.frame(text.as_bytes()).expect("a reply");
            match way.is_mcp() {
                true => super::ways::of_tool(&reply),
                false => super::ways::of_rpc(&reply),
            }
        };
        // As in other JSON parsers, the last of two equal keys counts.
        let found = answer(&mut site, frame("get_hint", params)).unwrap();
        assert_eq!(found["hint"]["value"], "make", "{way:?}");
        let refused = answer(&mut site, frame("set_hint", large)).unwrap_err();
        let seen = (&refused["code"], &refused["data"]["param"]);
        assert_eq!(seen, (&json!(40001), &json!("if_match_version")), "{way:?}");
    }
}

/// @sizes_are_bounded
#[test]
fn a_request_over_8_mib_is_too_large_unless_it_is_a_hook_event() {
    let padding = " ".repeat(9 * MIB);
    for (way, mut site) in sites() {
        let before = state(&site.home);
        let tool = json!({ "name": "set_hint", "arguments": { "component": "evil", "key": "k", "value": "v" } });
        let text = if way.is_mcp() { request("tools/call", &tool) } else { write() };
        let reply = site.frame(format!("{padding}{text}").as_bytes());
        match (way, reply) {
            // A WebSocket reports it by closing.
            (Surface::Ws | Surface::McpWs, reply) => assert_eq!(reply, None, "{way:?}"),
            (_, Some(reply)) => {
                let error = match reply.get("error") {
                    Some(error) => error.clone(),
                    None => super::ways::of_tool(&reply).expect_err("a refusal"),
                };
                assert_eq!(error["code"], 41301, "{way:?}: {error}");
                assert_eq!(error["data"]["max"], 8 * MIB, "{way:?}: {error}");
            }
            (_, None) => panic!("{way:?}: no reply"),
        }
        assert_eq!(state(&site.home), before, "{way:?}");
    }
    let home = home();
    let daemon = home.daemon();
    let event = json!({
        "session_id": "s", "tool_name": "Bash", "tool_response": "x".repeat(9 * MIB),
    });
    let hook = daemon.http().post("/hook/PostToolUse", event.to_string().as_bytes());
    assert_eq!((hook.status, hook.json()), (200, json!({})));
    let params = json!({ "event": "PostToolUse", "payload": event });
    assert_eq!(daemon.http().rpc("hook", &params).unwrap()["recorded"], true);
    assert_eq!(home.socket().rpc("hook", &params).unwrap()["recorded"], true);
}

/// @sizes_are_bounded
#[test]
fn a_line_over_16_mib_is_too_large_on_the_socket_and_on_stdio() {
    let line = format!("{}{}", " ".repeat(16 * MIB + 1), write());
    let home = home();
    let mut primary = home.serve();
    primary.initialize("2025-06-18");
    let mut proxy = home.serve();
    proxy.initialize("2025-06-18");
    for mcp in [&mut primary, &mut proxy] {
        mcp.send(format!("{line}\n").as_bytes());
        let reply: Value = serde_json::from_str(&mcp.receive().unwrap()).unwrap();
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&Value::Null, &json!(41301)));
        // The rest of the line is skipped, and the next one is answered.
        assert_eq!(mcp.request("ping", &json!({}))["result"], json!({}));
    }
    let mut socket = home.socket();
    socket.send(format!("{line}\n").as_bytes());
    let reply = socket.receive().expect("a reply");
    assert_eq!(
        (&reply["error"]["code"], &reply["error"]["data"]["max"]),
        (&json!(41301), &json!(16 * MIB))
    );
    assert_eq!(socket.receive(), None, "the connection is closed");
    assert_eq!(state(&home)["resources"], json!([]));
}

/// @sizes_are_bounded
#[test]
fn a_websocket_message_over_8_mib_closes_the_socket_with_1009() {
    let home = home();
    let daemon = home.daemon();
    let mut ws = connect(&daemon, &[]);
    let padded = |bytes: usize| format!("{}{}", " ".repeat(bytes - write().len()), write());
    ws.send_text(padded(8 * MIB)).unwrap();
    assert_eq!(ws.receive().unwrap()["result"]["hint"]["version"], 1);
    let _ = ws.send_text(padded(8 * MIB + 1));
    assert_eq!(ws.close_code(), Some(1009));
    let mut other = connect(&daemon, &[]);
    let found = other.rpc("get_hint", &json!({ "component": "evil", "key": "k" })).unwrap();
    assert_eq!(found["hint"]["version"], 1);
    other.send_raw(&[0x82, 0x81, 0, 0, 0, 0, b'x']);
    assert_eq!(other.close_code(), Some(1003), "binary frames are not spoken");
    let mut nonsense = connect(&daemon, &[]);
    nonsense.send_raw(b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(nonsense.close_code(), Some(1002));
}

/// @sizes_are_bounded
#[test]
fn a_batch_holds_1_to_1000_members() {
    let ask = request("get_hint", &json!({ "component": "web", "key": "build" }));
    let ask = ask.as_str();
    let batch = |members: usize| format!("[{}]", vec![ask; members].join(","));
    for way in [Surface::Rpc, Surface::Root, Surface::Socket, Surface::Ws] {
        let mut site = way.open();
        let full = site.frame(batch(1_000).as_bytes()).unwrap();
        assert_eq!(full.as_array().map(Vec::len), Some(1_000), "{way:?}");
        let over = site.frame(batch(1_001).as_bytes()).unwrap();
        let error = &over["error"];
        assert_eq!(
            (&error["code"], &error["data"]["max"]),
            (&json!(41301), &json!(1_000)),
            "{way:?}"
        );
    }
}

/// @bad_calls_do_no_harm
#[test]
fn the_command_line_refuses_parameters_that_are_not_json() {
    let home = home();
    let deep = "[".repeat(100_000);
    let inputs: [&[u8]; 7] =
        [b"", b"{", b"[1]", b"\xff\xfe", b"{\"a\":\"\0\"}", br#"{"a":"\ud800"}"#, deep.as_bytes()];
    for input in inputs {
        let run = home.run_with(&["call", "set_hint", "-", "--json"], input);
        assert!(matches!(run.code, 1 | 2), "{run:?}");
        assert_eq!(run.json()["error"]["code"], 40001, "{run:?}");
    }
    let large = format!("{{{}}}", " ".repeat(16 * MIB));
    let run = home.run_with(&["call", "set_hint", "-", "--json"], large.as_bytes());
    assert_eq!(run.json()["error"]["code"], 41301);
    assert_eq!(state(&home)["resources"], json!([]));
}

/// @nothing_recalled_reaches_a_terminal_raw
#[test]
fn stored_text_cannot_act_on_the_terminal() {
    let home = home();
    let evil = "safe\u{1b}[31m\u{1b}]0;title\u{7}\u{9b}2J\u{8}\r\u{202e}end";
    let hint = json!({ "component": "web", "key": "build", "value": evil, "meta": { "reason": evil, "ttl": "forever" } });
    home.call("set_hint", &hint);
    let name = "x\u{1b}[31m\u{9b}y";
    let command = "no\u{1b}]0;t\u{7}such";
    for line in [
        &["hint", "get", "web", "build"][..],
        &["get", "hint://web/build"],
        &["call", "get_hint", r#"{"component":"web","key":"build"}"#],
        &["call", "list_resources"],
        &["hint", "get", "web", "build", "--json"],
        &["hint", "get", name, "build"],
        &["hint", "get", name, "build", "--json"],
        &["get", name],
        &["call", command],
        &[command],
        &["ops", command],
        &["config", "get", command],
        &["backup", "/no\u{1b}[31m/such"],
    ] {
        let run = home.run(line);
        let printed = format!("{}{}", run.stdout, run.stderr);
        let acts = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
        assert_eq!(printed.chars().find(acts), None, "{line:?} printed {printed:?}");
        assert!(!printed.is_empty(), "{line:?}");
    }
    let kept = home.call("get_hint", &json!({ "component": "web", "key": "build" }));
    assert_eq!(kept["hint"]["value"], evil, "programs get it as it is");
}
