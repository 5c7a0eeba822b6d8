//! HTTP besides JSON-RPC: health, the page and its one-time link, events on a WebSocket, call ids.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Browser, Home, Http, Run, Ws};

use super::home;
use super::security::CLOSED;
use super::ways::{connect, modern, of_rpc, of_tool, request};

/// A text that only an authorised caller may see.
const MARKER: &str = "marker-4711";

fn set(value: &str) -> Value {
    json!({ "component": "web", "key": "build", "value": value })
}

fn get() -> Value {
    json!({ "component": "web", "key": "build" })
}

/// @health
#[test]
fn health_names_the_server_and_needs_no_token() {
    let home = home();
    let daemon = home.daemon();
    let response = Http::new(daemon.port).get("/health");
    let version = home.run(&["status", "--json"]).json()["version"].clone();
    let health = response.json();
    let database = health["database"].as_str().expect("the id of the database");
    assert!(
        database.len() == 8 && database.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{health}"
    );
    let expected = json!({
        "status": "healthy", "server": "rekindle", "version": version, "pid": daemon.pid(),
        "database": database,
    });
    assert_eq!((response.status, &health), (200, &expected));
}

/// The path and query of a fresh one-time link.
fn link(home: &Home) -> String {
    link_of(&home.run(&["up", "--json"]))
}

fn link_of(run: &Run) -> String {
    let result = run.json();
    let page = result["page"].as_str().unwrap();
    page[page.find("/?link=").unwrap()..].to_owned()
}

/// @page_without_cookie_has_no_data
#[test]
fn the_page_shows_no_user_data_without_a_cookie() {
    let home = home();
    let daemon = home.daemon();
    daemon.http().rpc("set_hint", &set(MARKER)).unwrap();
    let stranger = Http::new(daemon.port);
    let page = stranger.get("/");
    assert_eq!((page.status, page.header("Content-Type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("rekindle up"), "it says how to get a link");
    for path in ["/", "/style.css", "/session.js", "/?view=hints", "/?session=x"] {
        let text = stranger.get(path).text();
        let database = home.dir.to_str().unwrap();
        for secret in [MARKER, database, &daemon.token] {
            assert!(!text.contains(secret), "{path} tells {secret}");
        }
    }
    let asked = stranger.post("/rpc", request("get_hint", &get()).as_bytes());
    assert_eq!(asked.status, 401);
}

/// @page_assets
#[test]
fn a_browser_caches_a_file_of_the_page_until_it_changes() {
    let home = home();
    let daemon = home.daemon();
    let stranger = Http::new(daemon.port);
    for path in ["/style.css", "/session.js"] {
        let file = stranger.get(path);
        assert_eq!((file.status, file.header("Cache-Control")), (200, Some("no-cache")));
        let tag = file.header("ETag").unwrap();
        let again = stranger.clone().with("If-None-Match", tag).get(path);
        assert_eq!((again.status, again.header("ETag")), (304, Some(tag)));
        assert_eq!(stranger.clone().with("If-None-Match", "\"0\"").get(path).body, file.body);
    }
    assert_eq!(stranger.get("/").header("Cache-Control"), Some("no-store"));
}

/// @one_time_link
#[test]
fn the_link_opens_the_page_once_and_leaves_a_strict_cookie_and_a_key() {
    let home = home();
    let daemon = home.daemon();
    daemon.http().rpc("set_hint", &set(MARKER)).unwrap();
    let browser = Http::new(daemon.port);
    let link = link(&home);
    // A link preview by HEAD does not use it up.
    let mut preview = String::new();
    browser.start("HEAD", &link, b"").read_to_string(&mut preview).unwrap();
    assert!(preview.starts_with("HTTP/1.1 ") && !preview.contains("et-cookie"), "{preview}");
    let opened = browser.get(&link);
    assert_eq!(opened.status, 303);
    let (after, code) = opened.header("Location").unwrap().split_once("#open=").unwrap();
    assert_eq!(after, "/");
    let cookie = opened.header("Set-Cookie").unwrap();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
    let (name, value) = pair.split_once('=').unwrap();
    assert_eq!(name, format!("rekindle_{}_{}", daemon.port, home.locations().database_id()));
    assert!(value != daemon.token && value != code);

    let again = browser.get(&link);
    assert_eq!((again.status, again.header("Set-Cookie")), (403, None));
    let wrong = browser.get("/?link=0000");
    assert_eq!((wrong.status, wrong.header("Set-Cookie")), (403, None));

    let inside = browser.with("Cookie", pair);
    assert_ne!(inside.get("/").text(), Http::new(daemon.port).get("/").text());
    let ask = request("get_hint", &get());
    let from = |origin: &str| inside.clone().with("Origin", origin).post("/rpc", ask.as_bytes());
    let own = from(&format!("http://127.0.0.1:{}", daemon.port));
    assert_eq!(own.status, 401, "the cookie alone");
    assert!(!own.text().contains(MARKER));
    for origin in ["http://127.0.0.1:1", "http://localhost:3000", "http://evil.example", "null"] {
        let refused = from(origin);
        assert_eq!(refused.status, 403, "{origin}");
        assert!(!refused.text().contains(MARKER));
    }
    assert_eq!(inside.post("/rpc", ask.as_bytes()).status, 403, "no origin at all");
}

/// @one_time_link
#[test]
fn a_session_of_a_link_is_named_by_its_id_or_a_prefix() {
    let home = home();
    for id in ["d9f815aa-1", "d9f815bb-2", "e0a1b2c3-4"] {
        let payload =
            json!({ "session_id": id, "cwd": home.path("shop"), "prompt": "hello there" });
        home.hook("UserPromptSubmit", &payload);
    }
    let _daemon = home.daemon();
    let web = |given: &str| home.run(&["web", "--session", given]);
    for given in ["e0a1b2", "e0a1b2c3-4", "session://e0a1b2c3-4"] {
        let page = web(given).ok();
        assert!(page.trim_end().ends_with("&session=e0a1b2c3-4"), "{given}: {page}");
    }
    let ambiguous = web("d9f815");
    assert_eq!((ambiguous.code, ambiguous.stdout.as_str()), (1, ""), "{ambiguous:?}");
    assert!(ambiguous.stderr.contains("d9f815aa-1"), "{ambiguous:?}");
    let unknown = web("nothing-here");
    assert_eq!((unknown.code, unknown.stdout.as_str()), (1, ""), "{unknown:?}");
    assert!(unknown.stderr.contains("Session not found: nothing-here"), "{unknown:?}");
}

/// @one_time_link
#[test]
fn the_link_redirects_to_the_address_in_its_other_parameters() {
    let home = home();
    let daemon = home.daemon();
    let opened =
        Http::new(daemon.port).get(&format!("{}&session=a%20b&view=file&path=x", link(&home)));
    let (after, _) = opened.header("Location").unwrap().split_once("#open=").unwrap();
    assert_eq!((opened.status, after), (303, "/?session=a%20b&view=file&path=x"));
    // `localhost` may also be the server of another user at [::1], so links only work at the address.
    let by_name = Http::new(daemon.port).with("Host", &format!("LOCALHOST:{}", daemon.port));
    let link = link(&home);
    let moved = by_name.get(&link);
    let to = format!("http://127.0.0.1:{}{link}", daemon.port);
    assert_eq!((moved.status, moved.header("Location")), (303, Some(&*to)));
    assert_eq!(moved.header("Set-Cookie"), None);
    Browser::open(daemon.port, &link);
}

/// @cookie_alone_gives_no_access
#[test]
fn a_cookie_without_a_proof_reads_nothing_on_any_path() {
    let home = home();
    let daemon = home.daemon();
    daemon.http().rpc("set_hint", &set(MARKER)).unwrap();
    let mut page = Browser::open(daemon.port, &link(&home));
    let ask = request("get_hint", &get());
    let answer = page.post("/rpc", ask.as_bytes());
    assert_eq!(of_rpc(&answer.json()).unwrap()["hint"]["value"], MARKER);
    // A server on another port of this host receives only the cookie from the browser. The cookie alone is good
    // for a challenge, which is checked below.
    for (method, path) in CLOSED.into_iter().filter(|(_, path)| *path != "/challenge") {
        let replayed = page.http().send(method, path, ask.as_bytes());
        assert_eq!(replayed.status, 401, "{method} {path}: {}", replayed.text());
        assert!(!replayed.text().contains(MARKER));
        let bare = Http::new(daemon.port).with("Cookie", &page.cookie);
        assert!(matches!(bare.send(method, path, ask.as_bytes()).status, 401 | 403), "{path}");
    }
    let origin = format!("http://127.0.0.1:{}", daemon.port);
    let headers = [("Cookie", page.cookie.as_str()), ("Origin", origin.as_str())];
    assert_eq!(Ws::connect(daemon.port, &headers).err(), Some(401));
    // With the cookie it can also get challenges, but they are useless without the key.
    let given = page.ask_challenge(&json!({}));
    assert_eq!((given.status, given.json().get("key")), (200, None));
    assert!(page.ask_challenge(&json!({ "code": "" })).status == 401);
}

/// @proof_counts_once
#[test]
fn a_proof_counts_once_for_its_request_and_its_browser() {
    let home = home();
    let daemon = home.daemon();
    let mut page = Browser::open(daemon.port, &link(&home));
    let other = Browser::open(daemon.port, &link(&home));
    assert_ne!(page.key, other.key);
    let ask = request("get_hint", &get());
    let send = |page: &Browser, proof: &str, target: &str, body: &str| {
        page.http().with("Rekindle-Proof", proof).post(target, body.as_bytes()).status
    };
    let proof = page.proof("POST", "/rpc", ask.as_bytes());
    assert_eq!(send(&page, &proof, "/rpc", &ask), 200);
    assert_eq!(send(&page, &proof, "/rpc", &ask), 401, "a replay");
    let proof = page.proof("POST", "/rpc", ask.as_bytes());
    assert_eq!(send(&page, &proof, "/rpc", &request("stop", &json!({}))), 401, "another body");
    let proof = page.proof("POST", "/rpc", ask.as_bytes());
    assert_eq!(send(&page, &proof, "/mcp", &ask), 401, "another path");
    let mut forged = page.clone();
    forged.key.clone_from(&other.key);
    let proof = forged.proof("POST", "/rpc", ask.as_bytes());
    assert_eq!(send(&page, &proof, "/rpc", &ask), 401, "another browser's key");
    let proof = page.proof("POST", "/rpc", ask.as_bytes());
    assert_eq!(send(&other, &proof, "/rpc", &ask), 401, "another browser's cookie");
    // Requests may arrive out of order.
    let (early, late) =
        (page.proof("POST", "/rpc", ask.as_bytes()), page.proof("POST", "/rpc", ask.as_bytes()));
    assert_eq!(send(&page, &late, "/rpc", &ask), 200);
    assert_eq!(send(&page, &early, "/rpc", &ask), 200);
    // A page sends the proof of a WebSocket as a sub-protocol.
    let headers = page.of_socket(daemon.port);
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut socket = Ws::connect(daemon.port, &headers).unwrap();
    assert!(socket.rpc("status", &json!({})).is_ok());
    assert_eq!(Ws::connect(daemon.port, &headers).err(), Some(401), "a replay");
}

/// @browsers_outlive_the_daemon
#[test]
fn a_browser_stays_authorised_after_a_restart_at_its_port_only_and_until_forgotten() {
    let home = home();
    let mut daemon = home.daemon();
    let port = daemon.port;
    let mut page = Browser::open(port, &link(&home));
    let ask = request("status", &json!({}));
    let stale = page.proof("POST", "/rpc", ask.as_bytes());
    let file = home.locations().browsers();
    let stored = std::fs::read_to_string(&file).unwrap();
    let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode, 0o600, "{mode:o}");
    let value = page.cookie.split_once('=').unwrap().1;
    assert!(!stored.contains(value) && stored.contains("cookie_sha256"), "{stored}");
    daemon.end_by("TERM");

    // A program that now uses the old port could make the browser sign requests, so the key is not valid at
    // another port.
    let mut elsewhere = home.daemon();
    assert_ne!(elsewhere.port, port);
    assert_eq!(page.at(elsewhere.port).renew(), 401);
    elsewhere.end_by("TERM");

    let daemon = home.daemon_with(&["--strict-port", "--port", &port.to_string()]);
    let proof = page.http().with("Rekindle-Proof", &stale).post("/rpc", ask.as_bytes());
    assert_eq!(proof.status, 401, "signed while another daemon ran");
    assert_eq!(page.renew(), 200);
    assert_eq!(page.post("/rpc", ask.as_bytes()).status, 200);
    let shown = page.http().get("/");
    let renewed = shown.header("Set-Cookie").unwrap();
    assert!(renewed.starts_with(&page.cookie) && renewed.ends_with("Max-Age=2592000"), "{renewed}");

    let unused = link(&home);
    assert_eq!(home.run(&["web", "--forget", "--json"]).json(), json!({ "forgotten": 1 }));
    assert_eq!(page.post("/rpc", ask.as_bytes()).status, 401);
    assert_eq!(page.renew(), 401);
    assert_eq!(Http::new(daemon.port).get(&unused).status, 403, "links are forgotten, too");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[]");
}

/// @forgotten_at_once
#[test]
fn open_pages_end_when_browsers_are_forgotten_and_programs_go_on() {
    let home = home();
    let daemon = home.daemon();
    let mut page = Browser::open(daemon.port, &link(&home));
    let headers = page.of_socket(daemon.port);
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut watching = Ws::connect(daemon.port, &headers).unwrap();
    let mut program = crate::sessions::socket(&daemon);
    home.run(&["web", "--forget"]).ok();
    assert_eq!(watching.close_code(), Some(1008));
    assert!(program.rpc("status", &json!({})).is_ok());
}

/// @browsers_outlive_the_daemon
#[test]
fn browsers_are_forgotten_without_a_daemon_and_the_newest_twenty_are_kept() {
    let home = home();
    let mut daemon = home.daemon();
    let mut first = Browser::open(daemon.port, &link(&home));
    let mut last = first.clone();
    for _ in 0..20 {
        last = Browser::open(daemon.port, &link_of(&home.run(&["web", "--json"])));
    }
    assert_eq!((first.renew(), last.renew()), (401, 200));
    daemon.end_by("TERM");
    assert_eq!(home.run(&["web", "--forget"]).ok(), "20 browsers forgotten\n");
    assert!(!home.locations().browsers().exists());
    assert_eq!(home.run(&["web", "--forget"]).ok(), "no browser was authorised\n");
}

/// @taken_port_is_named
#[test]
fn a_port_in_use_by_another_program_is_reported() {
    let mut home = home();
    let foreign = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = foreign.local_addr().unwrap().port();
    home.set("REKINDLE_PORT", &port.to_string());
    let run = home.run(&["up", "--json"]);
    let used = run.json()["port"].as_u64().unwrap();
    assert_ne!(used, u64::from(port));
    let said = format!("port {port} is used by another program, so the daemon uses {used}");
    assert!(run.stderr.contains(&said), "{run:?}");
    for args in [vec!["up"], vec!["web"], vec!["serve", "--daemon"]] {
        let run = home.run(&args);
        assert!(run.stderr.contains(&said), "{args:?}: {run:?}");
    }
    for args in [vec!["status"], vec!["doctor"]] {
        let run = home.run(&args);
        assert!(run.stdout.contains(&said), "{args:?}: {run:?}");
    }
    home.run(&["stop"]).ok();
    let mut child = home.command(["serve", "--http"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains(&format!("port {port} is used by another program")), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// @a_taken_port_counts_up
#[test]
fn a_daemon_starts_at_any_free_port_if_all_usual_ports_are_taken() {
    let listen = |port: u16| std::net::TcpListener::bind(("127.0.0.1", port));
    let twenty = |from: u16| (from..from + 20).map(listen).collect::<Result<Vec<_>, _>>().ok();
    let (from, _foreign) =
        (21_000..31_000).step_by(20).find_map(|from| Some((from, twenty(from)?))).unwrap();
    let mut home = home();
    home.set("REKINDLE_PORT", &from.to_string());
    let run = home.run(&["up", "--json"]);
    let used = run.json()["port"].as_u64().unwrap();
    let said = format!("ports {from} to {} are used by other programs", from + 19);
    assert!(run.stderr.contains(&said), "{run:?}");
    assert!(run.stderr.contains(&format!("the daemon uses {used}")), "{run:?}");
    assert!(home.run(&["status"]).ok().contains(&said));
    home.run(&["hint", "set", "web", "build", "make"]).ok();
    home.run(&["stop"]).ok();
    let strict = home.run(&["serve", "--http", "--strict-port"]);
    assert_eq!(strict.code, 1, "{strict:?}");
}

/// @events_after_commit_in_sequence
#[test]
fn a_subscriber_gets_each_change_once_in_sequence_and_only_when_it_can_be_read() {
    let home = home();
    let daemon = home.daemon();
    let mut watcher = connect(&daemon, &[]);
    assert_eq!(watcher.rpc("events/subscribe", &json!({})).unwrap(), json!({ "subscribed": true }));
    let writers = 4;
    let each = 10;
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let http = daemon.http();
            scope.spawn(move || {
                for n in 0..each {
                    let key = format!("{writer}-{n}");
                    let params = json!({ "component": "web", "key": key, "value": "x" });
                    http.rpc("set_hint", &params).unwrap();
                }
            });
        }
        let mut last = 0;
        let mut subjects = std::collections::BTreeSet::new();
        for _ in 0..writers * each {
            let frame = watcher.receive().expect("an event");
            let event = &frame["params"];
            assert_eq!(
                (&frame["method"], &event["kind"]),
                (&json!("event"), &json!("hint/changed"))
            );
            let seq = event["seq"].as_u64().unwrap();
            assert!(last == 0 || seq == last + 1, "{seq} after {last}");
            last = seq;
            let subject = event["subject"].as_str().unwrap().to_owned();
            // Published after COMMIT, so the event's subject can be read.
            daemon.http().rpc("get", &json!({ "path": subject })).unwrap();
            assert!(subjects.insert(subject), "twice: {frame}");
        }
    });
    // A failed write publishes nothing.
    let mut conflicting = set("x");
    conflicting["if_match_version"] = json!(9);
    daemon.http().rpc("set_hint", &conflicting).unwrap_err();
    daemon.http().rpc("set_hint", &set("last")).unwrap();
    assert_eq!(watcher.receive().unwrap()["params"]["subject"], "hint://web/build");
    let ended = watcher.rpc("events/unsubscribe", &json!({})).unwrap();
    assert_eq!(ended, json!({ "subscribed": false }));
    daemon.http().rpc("set_hint", &set("unheard")).unwrap();
    assert!(watcher.rpc("get_hint", &get()).is_ok(), "the next frame is the reply, not an event");
}

/// @a_repeated_call_has_one_effect
#[test]
fn a_repeated_call_id_returns_the_stored_answer_and_changes_nothing() {
    let home = home();
    let daemon = home.daemon();
    let id = |n: u8| format!("{n:032x}");
    let rpc = |n: u8, value: &str| {
        let http = daemon.http().with("Rekindle-Call-Id", &id(n));
        of_rpc(&http.post("/rpc", request("set_hint", &set(value)).as_bytes()).json()).unwrap()
    };
    let first = rpc(1, "first");
    assert_eq!(first["hint"]["version"], 1);
    assert_eq!(rpc(1, "first"), first);
    let call = json!({ "name": "set_hint", "arguments": set("first") });
    let http = daemon.http().with("Rekindle-Call-Id", &id(1));
    let over_mcp = http.post("/mcp", request("tools/call", &call).as_bytes()).json();
    assert_eq!(of_tool(&over_mcp).unwrap(), first);
    assert_eq!(of_tool(&modern(&http, "tools/call", &call).1).unwrap(), first);
    assert_eq!(rpc(2, "second")["hint"]["version"], 2);
    assert_eq!(rpc(1, "first"), first, "a late repeat");
    let now = daemon.http().rpc("get_hint", &get()).unwrap();
    assert_eq!((&now["hint"]["version"], &now["hint"]["value"]), (&json!(2), &json!("second")));
    let bad = daemon.http().with("Rekindle-Call-Id", "xyz");
    assert_eq!(bad.post("/rpc", request("set_hint", &set("x")).as_bytes()).status, 400);
}

/// @a_repeated_call_has_one_effect
#[test]
fn a_repeated_batch_gives_each_member_its_stored_answer() {
    let home = home();
    let daemon = home.daemon();
    let http = daemon.http().with("Rekindle-Call-Id", &"b".repeat(32));
    let batch = format!("[{},{}]", request("set_hint", &set("a")), request("set_hint", &set("b")));
    let first = http.post("/rpc", batch.as_bytes()).json();
    let versions =
        |replies: &Value| [0, 1].map(|n| replies[n]["result"]["hint"]["version"].clone());
    assert_eq!(versions(&first), [json!(1), json!(2)]);
    assert_eq!(http.post("/rpc", batch.as_bytes()).json(), first);
    assert_eq!(daemon.http().rpc("get_hint", &get()).unwrap()["hint"]["version"], 2);
}

/// @a_repeated_call_survives_a_kill
#[test]
fn a_stored_answer_survives_the_daemon_that_gave_it() {
    let home = home();
    let body = request("set_hint", &set("once"));
    let send = |http: Http| {
        http.with("Rekindle-Call-Id", &"c".repeat(32)).post("/rpc", body.as_bytes()).json()
    };
    let mut daemon = home.daemon();
    let first = send(daemon.http());
    daemon.kill();
    let daemon = home.daemon();
    assert_eq!(send(daemon.http()), first);
    assert_eq!(daemon.http().rpc("get_hint", &get()).unwrap()["hint"]["version"], 1);
}

/// @notifications_and_batches
#[test]
fn notifications_run_without_an_answer_and_batches_answer_the_others() {
    let home = home();
    let daemon = home.daemon();
    let notification =
        |value: &str| json!({ "jsonrpc": "2.0", "method": "set_hint", "params": set(value) });
    let alone = daemon.http().post("/rpc", notification("quiet").to_string().as_bytes());
    assert_eq!((alone.status, alone.text()), (202, String::new()));
    let value = || daemon.http().rpc("get_hint", &get()).unwrap()["hint"]["value"].clone();
    assert_eq!(value(), "quiet");
    let only = json!([notification("x"), notification("y")]);
    let silent = daemon.http().post("/rpc", only.to_string().as_bytes());
    assert_eq!((silent.status, silent.text()), (202, String::new()));
    let ask =
        |id: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "get_hint", "params": get() });
    let mixed = json!([ask(json!(1)), notification("z"), 3, ask(json!("two")), ask(Value::Null)]);
    let replies = daemon.http().post("/rpc", mixed.to_string().as_bytes());
    assert_eq!(replies.status, 200);
    let replies = replies.json();
    let ids: Vec<&Value> = replies.as_array().unwrap().iter().map(|reply| &reply["id"]).collect();
    assert_eq!(ids, [&json!(1), &Value::Null, &json!("two"), &Value::Null]);
    assert_eq!(replies[1]["error"]["code"], -32600);
    assert_eq!(
        (&replies[0]["result"]["hint"]["value"], &replies[2]["result"]["hint"]["value"]),
        (&json!("y"), &json!("z"))
    );
    for id in [json!(1.5), json!(-3), json!(u64::MAX), json!("ü"), json!("")] {
        let reply = daemon.http().post("/rpc", ask(id.clone()).to_string().as_bytes()).json();
        assert_eq!(reply["id"], id);
    }
    for id in [json!([1]), json!({ "a": 1 }), json!(true)] {
        let reply = daemon.http().post("/rpc", ask(id).to_string().as_bytes());
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32600)));
    }
}

/// @link_to_a_view
#[test]
fn the_link_leads_to_the_named_session_and_view_and_starts_the_browser() {
    let mut home = home();
    let daemon = home.daemon();
    home.hook("SessionStart", &json!({ "session_id": "a b\u{e4}&x=1", "source": "startup" }));
    let printed = home.run(&["web", "--session", "a b\u{e4}&x=1", "--view", "search"]).ok();
    let link = &printed[printed.find("/?link=").unwrap()..];
    let opened = Http::new(daemon.port).get(link.trim_end());
    let (after, _) = opened.header("Location").unwrap().split_once("#open=").unwrap();
    assert_eq!((opened.status, after), (303, "/?session=a%20b%C3%A4%26x%3D1&view=search"));
    for wrong in [&["web", "--view", "a b"][..], &["web", "--forget", "--open"]] {
        assert_eq!(home.run(wrong).code, 2, "{wrong:?}");
    }
    // A browser that notes its arguments. Nothing of the address is seen by a shell.
    let name = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let note = home.path("started");
    let script = format!("#!/bin/sh\nprintf '%s|' \"$@\" > '{}'\n", note.display());
    let program = home.write(&format!("bin/{name}"), &script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let bin = program.parent().unwrap().to_str().unwrap().to_owned();
    home.set("PATH", &format!("{bin}:{}", std::env::var("PATH").unwrap()));
    let run = home.run(&["web", "--view", "stats", "--open", "--json"]).json();
    assert_eq!(run["opened"], true);
    let started = std::fs::read_to_string(&note).unwrap();
    assert_eq!(started, format!("{}|", run["page"].as_str().unwrap()));
    assert!(started.contains("&view=stats"), "{started}");
    home.set("PATH", "/nonexistent");
    let run = home.run(&["web", "--open"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.contains("/?link=") && run.stderr.contains("open the link yourself"),
        "{run:?}"
    );
}
