//! Hints under load and with faults: many writers, kills and signals, expiry, and no daemon.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::home::signal;
use testkit::http::read_response;
use testkit::{Daemon, Home, Mcp, Ws, holds_for, wait_until};

use super::ways::{connect, of_rpc, request};
use super::{home, sqlite};

const KEYS: usize = 5;

fn name(key: &str) -> Value {
    json!({ "component": "web", "key": key })
}

fn hint(key: &str) -> Value {
    json!({ "component": "web", "key": key, "value": "make" })
}

fn server(home: &Home) -> Mcp {
    let mut server = home.serve();
    server.initialize("2025-06-18");
    server
}

/// One connection for many JSON-RPC calls over HTTP.
struct KeptAlive {
    stream: BufReader<TcpStream>,
    head: String,
}

impl KeptAlive {
    fn open(daemon: &Daemon) -> KeptAlive {
        let Daemon { port, token, .. } = daemon;
        let head = format!(
            "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\n"
        );
        let stream = daemon.http().connect();
        stream.set_nodelay(true).expect("small writes go out at once");
        KeptAlive { stream: BufReader::new(stream), head }
    }

    fn rpc(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let body = request(method, params);
        let message = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.stream.get_mut().write_all(message.as_bytes()).expect("the request is sent");
        of_rpc(&read_response(&mut self.stream).expect("a response").json())
    }
}

/// A client that keeps its connection open.
enum KeptClient {
    Stdio(Mcp),
    Http(KeptAlive),
    Ws(Box<Ws>),
}

impl KeptClient {
    fn call(&mut self, op: &str, params: &Value) -> Result<Value, Value> {
        match self {
            KeptClient::Stdio(mcp) => mcp.call(op, params),
            KeptClient::Http(http) => http.rpc(op, params),
            KeptClient::Ws(ws) => ws.rpc(op, params),
        }
    }
}

/// Acknowledged versions by key.
type Acknowledged = BTreeMap<String, Vec<u64>>;

fn acknowledge(into: &mut Acknowledged, key: String, set: &Value) {
    into.entry(key).or_default().push(set["hint"]["version"].as_u64().expect("a version"));
}

fn version_of(daemon: &Daemon, key: &str) -> u64 {
    let found = daemon.http().rpc("get_hint", &name(key)).expect("an acknowledged hint");
    found["hint"]["version"].as_u64().expect("a version")
}

/// @hints_versions_under_load
#[test]
fn ten_thousand_sets_of_eight_clients_raise_versions_by_exactly_one_each() {
    const SETS: usize = 10_000;
    let home = home();
    let daemon = home.daemon();
    let mut clients: Vec<KeptClient> = Vec::new();
    clients.extend((0..3).map(|_| KeptClient::Stdio(server(&home))));
    clients.extend((0..3).map(|_| KeptClient::Http(KeptAlive::open(&daemon))));
    clients.extend((0..2).map(|_| KeptClient::Ws(Box::new(connect(&daemon, &[])))));
    let next = AtomicUsize::new(0);
    let work = |mut client: KeptClient| {
        let mut acknowledged = Acknowledged::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= SETS {
                return acknowledged;
            }
            let key = format!("k{}", number % KEYS);
            let set = client.call("nudge.set_hint", &hint(&key)).expect("it is stored");
            acknowledge(&mut acknowledged, key, &set);
        }
    };
    let all: Vec<Acknowledged> = std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> =
            clients.into_iter().map(|client| scope.spawn(move || work(client))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker")).collect()
    });
    assert!(all.iter().all(|versions| !versions.is_empty()), "every client took part");
    for number in 0..KEYS {
        let key = format!("k{number}");
        let mut versions: Vec<u64> =
            all.iter().filter_map(|by| by.get(&key)).flatten().copied().collect();
        versions.sort_unstable();
        let count = u64::try_from(SETS / KEYS).unwrap();
        assert!(versions.iter().copied().eq(1..=count), "{key}: {versions:?}");
        assert_eq!(version_of(&daemon, &key), count);
    }
}

/// The results of a client whose server may be killed: the acknowledged versions, and the key of the unanswered call.
fn set_until(home: &Home, next: &AtomicUsize, sets: usize) -> (Acknowledged, Option<String>) {
    let mut server = server(home);
    let mut acknowledged = Acknowledged::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= sets {
            return (acknowledged, None);
        }
        let key = format!("k{}", number % KEYS);
        let Some(set) = server.try_call("nudge_set_hint", &hint(&key)) else {
            return (acknowledged, Some(key));
        };
        acknowledge(&mut acknowledged, key, &set.expect("no client error"));
    }
}

/// @hints_versions_survive_kills
#[test]
fn killing_the_primary_between_sets_loses_and_doubles_no_version() {
    const SETS: usize = 4_000;
    let home = home();
    let first = home.daemon();
    let next = AtomicUsize::new(0);
    let all: Vec<(Acknowledged, Option<String>)> = std::thread::scope(|scope| {
        let (home, next) = (&home, &next);
        let start = |_| scope.spawn(move || set_until(home, next, SETS));
        let workers: Vec<_> = (0..8).map(start).collect();
        // First the daemon that serves them all, then the server of a client that took over, which also ends that
        // client.
        for share in [SETS / 4, SETS / 2] {
            wait_until("the sets go on", || (next.load(Ordering::Relaxed) >= share).then_some(()));
            let pid = home.pid();
            signal(pid, "KILL");
            wait_until("somebody takes over", || (home.pid() != pid).then_some(()));
        }
        workers.into_iter().map(|worker| worker.join().expect("a worker")).collect()
    });
    drop(first);
    let unanswered: Vec<&String> = all.iter().filter_map(|(_, key)| key.as_ref()).collect();
    assert!(unanswered.len() <= 1, "only the client of the killed server goes without an answer");
    let last = home.daemon();
    for number in 0..KEYS {
        let key = format!("k{number}");
        let mut versions: Vec<u64> =
            all.iter().filter_map(|(by, _)| by.get(&key)).flatten().copied().collect();
        versions.sort_unstable();
        let acknowledged = versions.len();
        versions.dedup();
        assert_eq!(versions.len(), acknowledged, "{key}: a version was handed out twice");
        // An unanswered set may have been stored.
        let open = unanswered.iter().filter(|open| ***open == key).count();
        let stored = usize::try_from(version_of(&last, &key)).unwrap();
        assert!(
            (acknowledged..=acknowledged + open).contains(&stored),
            "{key}: {stored} sets are stored, {acknowledged} were acknowledged"
        );
    }
}

/// @hints_concurrent_versions
#[test]
fn of_two_writers_with_one_version_exactly_one_wins_and_the_other_gets_the_current_one() {
    let home = home();
    let daemon = home.daemon();
    let mut writers =
        [KeptClient::Stdio(server(&home)), KeptClient::Http(KeptAlive::open(&daemon))];
    for version in 0..50 {
        let mut params = hint("shared");
        params["if_match_version"] = json!(version);
        let barrier = Barrier::new(2);
        let (params, barrier) = (&params, &barrier);
        let replies: Vec<Result<Value, Value>> = std::thread::scope(|scope| {
            let both = writers.each_mut().map(|writer| {
                scope.spawn(move || {
                    barrier.wait();
                    writer.call("nudge.set_hint", params)
                })
            });
            both.into_iter().map(|writer| writer.join().expect("a writer")).collect()
        });
        let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, 1), "version {version}: {won:?} {lost:?}");
        assert_eq!(won[0].as_ref().unwrap()["hint"]["version"], version + 1);
        let error = lost[0].as_ref().unwrap_err();
        let told = (&error["code"], &error["data"]["reason"], &error["data"]["current_version"]);
        assert_eq!(told, (&json!(40901), &json!("E_CONFLICT"), &json!(version + 1)), "{error}");
        assert_eq!(error["data"]["expected_version"], version, "{error}");
    }
}

/// @hints_outlive_other_sessions
#[test]
fn the_end_of_a_session_clears_no_hints_of_other_sessions() {
    let home = home();
    let mut servers: Vec<Mcp> = (0..3).map(|_| server(&home)).collect();
    for (number, server) in servers.iter_mut().enumerate() {
        server.call("set_hint", &hint(&format!("k{number}"))).unwrap();
    }
    // First the PRIMARY ends, then one of the other two, whether it took over or not.
    for _ in 0..2 {
        let mut ended = servers.remove(0);
        ended.signal("TERM");
        assert_eq!(ended.wait(), Some(0));
        for server in &mut servers {
            for number in 0..3 {
                let found = server.call("get_hint", &name(&format!("k{number}"))).unwrap();
                assert_eq!(found["hint"]["version"], 1, "{found}");
            }
        }
    }
}

/// @hints_expired
#[test]
fn an_expired_hint_is_missing_from_every_answer_at_once_and_soon_from_the_file() {
    let mut home = home();
    home.set("NUDGE_MAX_HINTS", "2");
    let daemon = home.daemon();
    let call = |op: &str, params: Value| daemon.http().rpc(op, &params);
    call("nudge.set_hint", hint("stays")).unwrap();
    let mut short = hint("over");
    short["value"] = json!("a value that is over");
    short["meta"] = json!({ "ttl": "PT0.05S", "tags": ["t"] });
    call("nudge.set_hint", short).unwrap();
    let error = wait_until("it ends", || call("nudge.get_hint", name("over")).err());
    assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(40401), &json!("E_NOT_FOUND")));
    for (op, params) in [
        ("nudge.query", json!({})),
        ("nudge.query", json!({ "tags": ["t"] })),
        ("nudge.query", json!({ "component": "web", "keys": ["over"] })),
        ("nudge.query", json!({ "regex": "over" })),
        ("nudge.list_components", json!({ "component": "web" })),
        ("nudge.export", json!({})),
        ("list_resources", json!({})),
    ] {
        let answer = call(op, params.clone()).unwrap().to_string();
        assert!(!answer.contains("over"), "{op} {params}: {answer}");
    }
    let counted = call("nudge.list_components", json!({})).unwrap();
    assert_eq!(counted["components"], json!([{ "name": "web", "hint_count": 1 }]));
    let rows = || {
        let db = sqlite::open(&sqlite::path(&home));
        db.query_row("SELECT count(*) FROM hint_variants", [], |row| row.get::<_, u32>(0)).unwrap()
    };
    wait_until("what is over leaves the file by itself", || (rows() == 1).then_some(()));
    call("nudge.set_hint", hint("another")).expect("there is room for two");
    assert_eq!(rows(), 2);
    let error = call("nudge.set_hint", hint("third")).unwrap_err();
    let told = (&error["code"], &error["data"]["reason"], &error["data"]["limit"]);
    assert_eq!(told, (&json!(42901), &json!("E_QUOTA"), &json!(2)), "{error}");
}

/// @hints_without_a_daemon
#[test]
fn without_a_daemon_a_command_waits_for_the_daemons_lock() {
    let home = home();
    let locations = home.locations();
    std::fs::DirBuilder::new().mode(0o700).create(&locations.runtime_dir).unwrap();
    let lock = File::create(locations.lock()).unwrap();
    lock.lock().unwrap();
    std::thread::scope(|scope| {
        let command = scope.spawn(|| home.run(&["hint", "set", "web", "build", "make"]));
        let window = Duration::from_millis(300);
        holds_for(window, "the journal is left alone while somebody else holds the lock", || {
            !command.is_finished() && !locations.database.exists()
        });
        drop(lock);
        let run = command.join().unwrap();
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stderr.contains("REKINDLE_NO_AUTOSTART"), "{run:?}");
    });
    assert!(!locations.discovery().exists(), "no daemon was started");
    let found = home.daemon().http().rpc("get_hint", &name("build")).unwrap();
    assert_eq!((&found["hint"]["value"], &found["hint"]["version"]), (&json!("make"), &json!(1)));
}

/// @hints_without_a_daemon
#[test]
fn commands_without_a_daemon_take_turns_and_lose_no_version() {
    let home = home();
    let set = |_| {
        let run = home.run(&["hint", "set", "web", "build", "make", "--json"]);
        assert_eq!(run.code, 0, "{run:?}");
        run.json()["hint"]["version"].as_u64().expect("a version")
    };
    let mut versions: Vec<u64> = std::thread::scope(|scope| {
        let set = &set;
        let worker = |_| scope.spawn(move || (0..4).map(set).collect::<Vec<u64>>());
        let workers: Vec<_> = (0..4).map(worker).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    versions.sort_unstable();
    assert!(versions.iter().copied().eq(1..=16), "{versions:?}");
}

/// @hints_delete_answers
#[test]
fn no_stored_answer_contains_the_value_of_a_deleted_hint() {
    const VALUE: &str = "zanzibarquux-value";
    let home = home();
    let _daemon = home.daemon();
    let answers = |home: &Home| -> String {
        let db = sqlite::open(&sqlite::path(home));
        let mut select = db.prepare("SELECT answer FROM answers").unwrap();
        let rows = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(|answer| answer.unwrap()).collect::<Vec<_>>().join("\n")
    };
    home.run(&["hint", "set", "web", "other", "stays-as-it-is"]).ok();
    home.run(&["hint", "set", "web", "port", VALUE]).ok();
    home.run(&["hint", "bump", "web", "port"]).ok();
    assert!(answers(&home).contains(VALUE), "{}", answers(&home));
    let deleted = home.run(&["hint", "delete", "web", "port", "--json"]).json();
    assert_eq!(deleted["previous"]["value"], VALUE, "the caller is told what is gone");
    let left = answers(&home);
    assert!(!left.contains(VALUE), "{left}");
    assert!(left.contains("stays-as-it-is"), "{left}");
    // The value of an expired hint is removed from stored answers too.
    let params =
        json!({ "component": "web", "key": "port", "value": VALUE, "meta": { "ttl": "PT0.05S" } });
    home.call("set_hint", &params);
    wait_until("the hint to expire", || {
        home.run(&["hint", "set", "web", "tick", "x"]).ok();
        (!answers(&home).contains(VALUE)).then_some(())
    });
}

/// @hints_delete_answers
#[test]
fn no_earlier_value_of_a_changed_hint_is_left_in_any_file() {
    const FIRST: &str = "zanzibarquux-first-value";
    const SECOND: &str = "zanzibarquux-2nd";
    let holds = |home: &Home, value: &str| {
        let has = |bytes: &[u8]| bytes.windows(value.len()).any(|part| part == value.as_bytes());
        home.files().iter().any(|(_, bytes)| has(bytes))
    };
    let delete = |home: &Home| drop(home.run(&["hint", "delete", "web", "port"]).ok());
    let clear = |home: &Home| {
        let mut payload = home.call("export_hints", &json!({}))["payload"].take();
        payload["components"] = json!({});
        home.call("import_hints", &json!({ "payload": payload, "mode": "replace" }));
    };
    let import = |home: &Home| {
        let export = home.call("export_hints", &json!({})).to_string();
        let other = export.replace(SECOND, "third").replace("\"version\":2", "\"version\":9");
        let other: Value = serde_json::from_str(&other).unwrap();
        let done = home.call("import_hints", &json!({ "payload": other["payload"] }));
        assert_eq!(done["imported"], 1, "{done}");
        home.run(&["hint", "delete", "web", "port"]).ok();
    };
    type HintRemoval<'r> = (&'r str, &'r dyn Fn(&Home));
    let removals: [HintRemoval<'_>; 3] =
        [("delete", &delete), ("import of nothing", &clear), ("import of another value", &import)];
    for with_daemon in [false, true] {
        for (what, removal) in removals {
            let home = home();
            let _daemon = with_daemon.then(|| home.daemon());
            home.run(&["hint", "set", "web", "port", FIRST, "--reason", "zanzibarquux-why"]).ok();
            home.run(&["hint", "bump", "web", "port"]).ok();
            home.run(&["hint", "set", "web", "port", SECOND, "--reason", "short"]).ok();
            removal(&home);
            for gone in [FIRST, SECOND, "zanzibarquux-why"] {
                assert!(!holds(&home, gone), "{gone}, {what}, with a daemon: {with_daemon}");
            }
        }
    }
}

/// @hints_delete_log
#[test]
fn the_value_of_a_deleted_hint_is_in_no_file_of_the_running_daemon() {
    const VALUE: &str = "zanzibarquux-value";
    let has_value = |home: &Home| {
        let has = |bytes: &[u8]| bytes.windows(VALUE.len()).any(|part| part == VALUE.as_bytes());
        home.files().iter().any(|(_, bytes)| has(bytes))
    };
    for daemon in [true, false] {
        let mut home = home();
        if !daemon {
            home.set("REKINDLE_NO_AUTOSTART", "1");
        }
        let _daemon = daemon.then(|| home.daemon());
        home.run(&["hint", "set", "web", "port", VALUE]).ok();
        home.run(&["hint", "set", "web", "other", "stays"]).ok();
        assert!(has_value(&home));
        home.run(&["hint", "delete", "web", "port"]).ok();
        assert!(!has_value(&home), "with a daemon: {daemon}");
        // While a reader holds the WAL, the daemon retries.
        if daemon {
            home.run(&["hint", "set", "web", "port", VALUE]).ok();
            let reader = sqlite::open(&sqlite::path(&home));
            reader.execute_batch("BEGIN; SELECT count(*) FROM hint_variants;").unwrap();
            home.run(&["hint", "delete", "web", "port"]).ok();
            assert!(has_value(&home), "the snapshot still has it");
            drop(reader);
            wait_until("the log to be emptied", || (!has_value(&home)).then_some(()));
        }
        assert!(home.run(&["hint", "get", "web", "other"]).ok().contains("stays"));
    }
}
