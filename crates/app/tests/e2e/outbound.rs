//! No outbound sockets: the sockets that our processes open on an ordinary day, observed from outside.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;
use testkit::home::signal;
use testkit::{Home, Http, wait_until};

use super::home;
use super::ways::{request, under};

/// A command whose network system calls are traced by strace into a file.
fn traced(home: &Home, name: &str, args: &[&str]) -> (Command, PathBuf) {
    let file = home.path(name);
    let calls = "trace=socket,socketpair,connect,bind,sendto,sendmsg,sendmmsg";
    let before = ["-f", "-qq", "-s", "200", "-e", calls, "-o", file.to_str().unwrap()];
    (under(home, "strace", &before, args), file)
}

/// Whether processes can be traced here.
fn can_trace() -> bool {
    let mut probe = Command::new("strace");
    probe
        .args(["-f", "-qq", "-o", "/dev/null", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// @no_outbound_socket
#[test]
fn nothing_but_loopback_and_unix_sockets_is_opened() {
    let home = home();
    if !can_trace() {
        // Without strace, the kernel's list of the daemon's sockets is checked.
        let daemon = home.daemon();
        use_everything(&home, &|args| home.command(args));
        assert_listed_sockets_are_local(daemon.pid(), daemon.port);
        return;
    }
    let (mut serve, daemon_trace) = traced(&home, "daemon.trace", &["serve", "--http"]);
    let mut daemon = serve.stdout(Stdio::null()).spawn().unwrap();
    home.discovery();
    let traces = std::cell::RefCell::new(vec![daemon_trace]);
    use_everything(&home, &|args| {
        let name = format!("{}.trace", traces.borrow().len());
        let (command, file) = traced(&home, &name, args);
        traces.borrow_mut().push(file);
        command
    });
    signal(home.pid(), "TERM");
    wait_until("the daemon ends", || daemon.try_wait().ok().flatten());
    let mut bound = 0;
    for trace in traces.into_inner() {
        let text = std::fs::read_to_string(&trace).unwrap();
        assert!(text.contains("socket("), "{} saw nothing: {text}", trace.display());
        for line in text.lines() {
            assert_eq!(stranger(line), None, "{}: {line}", trace.display());
            bound +=
                usize::from(line.contains(" bind(") && line.contains("inet_addr(\"127.0.0.1\")"));
        }
    }
    assert_eq!(bound, 1, "the daemon's own port was seen");
}

/// The address in a line of the trace, if it is neither loopback nor unix.
fn stranger(line: &str) -> Option<&'static str> {
    let has = |word: &str| line.contains(word);
    let family = |call: &str| has(&format!(" {call}AF_UNIX")) || has(&format!(" {call}AF_INET"));
    if has(" socket(") && !family("socket(") {
        return Some("a socket of another family");
    }
    if has(" socket(") && has("AF_INET") && !has("SOCK_STREAM") {
        return Some("a datagram, as for a name server");
    }
    if has("sa_family=") {
        let local = has("sa_family=AF_UNIX")
            || (has("sa_family=AF_INET,") && has("inet_addr(\"127.0.0.1\")"))
            || (has("sa_family=AF_INET6") && has("\"::1\""));
        return (!local).then_some("an address elsewhere");
    }
    None
}

/// Uses a little of everything. `make` creates each command.
fn use_everything(home: &Home, make: &dyn Fn(&[&str]) -> Command) {
    let run = |args: &[&str], stdin: &str| {
        let run = testkit::home::finish(make(args), stdin.as_bytes());
        assert_eq!(run.code, 0, "{run:?}");
    };
    run(&["hint", "set", "web", "build", "curl https://example.com"], "");
    run(&["get", "hint://web/build"], "");
    run(&["hook", "PostToolUse"], r#"{"session_id":"s","cwd":"https://example.com"}"#);
    run(&["up", "--json"], "");
    run(&["status"], "");
    run(&["doctor"], "");
    let ping = request("ping", &json!({}));
    let call = request(
        "tools/call",
        &json!({ "name": "get_hint", "arguments": { "component": "web", "key": "build" } }),
    );
    run(&["serve"], &format!("{ping}\n{call}\n"));
    let port = home.discovery()["port"].as_u64().unwrap().try_into().unwrap();
    let http = Http::new(port).with("Authorization", &format!("Bearer {}", home.token()));
    assert!(http.rpc("status", &json!({})).is_ok());
    assert_eq!(http.post("/mcp", call.as_bytes()).status, 200);
    assert_eq!(http.post("/hook/Stop", b"{\"session_id\":\"s\"}").status, 200);
    assert_eq!(http.get("/").status, 200);
}

/// The daemon's sockets in the kernel's tables: its own port, and nothing outside of loopback.
fn assert_listed_sockets_are_local(pid: u32, port: u16) {
    let fds = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let links = fds.filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok());
    let inodes: Vec<String> = links
        .filter_map(|link| {
            Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect();
    let mut ours = 0;
    for table in ["tcp", "tcp6", "udp", "udp6", "raw", "raw6"] {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split_whitespace().collect();
            if !inodes.iter().any(|inode| columns.get(9) == Some(&inode.as_str())) {
                continue;
            }
            assert!(table.starts_with("tcp"), "{table}: {line}");
            assert!(columns[1].starts_with("0100007F:"), "{table}: {line}");
            ours += usize::from(columns[1].ends_with(&format!(":{port:04X}")));
        }
    }
    assert!(ours > 0, "the daemon's own port was seen");
}
