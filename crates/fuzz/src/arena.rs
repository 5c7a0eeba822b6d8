//! Runs the real binary in a temporary home, and checks the invariants that hold for any input.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use model::Code;
use serde_json::{Value, json};
use testkit::{Home, Http, Run};

use crate::grammar;
use crate::target::{Checked, Flaw, Workbench, ensure};

/// Timeout for everything a case waits for: a reply, the end of a command, the start of a daemon.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// How long one case may take in all before its worker is killed.
pub(crate) const CASE_PATIENCE: Duration = Duration::from_secs(180);
/// Limit for the resident memory of a daemon, in KiB. It usually needs a tenth of that.
const RESIDENT_KIB_MAX: u64 = 400 * 1024;
/// A word that only the control record has. That record is stored first and has to be found after every case.
pub(crate) const CONTROL: &str = "zubenelgenubi";
/// Error numbers of JSON-RPC itself, which are not in our table of codes.
const PROTOCOL_CODES: [i64; 5] = [-32700, -32600, -32602, -32603, -32002];

/// A temporary home, and its daemon while one runs.
pub(crate) struct Arena {
    // Dropped before the home in which it runs.
    daemon: Option<FuzzedDaemon>,
    pub(crate) home: Home,
}

pub(crate) struct FuzzedDaemon {
    child: Child,
    pub(crate) port: u16,
    token: String,
}

impl Drop for FuzzedDaemon {
    fn drop(&mut self) {
        // Killing a process that has ended fails, which is fine; `wait` collects its exit status.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // The home reads this file when it is dropped, and reading a pipe would block for ever.
        let discovery = self.home.locations().discovery();
        if !discovery.is_file() {
            let _ = std::fs::remove_file(discovery);
        }
    }
}

impl Arena {
    pub(crate) fn new(bench: &Workbench) -> Arena {
        let binary = bench.binary.as_ref().and_then(|path| path.to_str());
        let binary = binary.unwrap_or_else(|| panic!("this target needs --binary REKINDLE"));
        Arena { daemon: None, home: Home::new(binary) }
    }

    /// A home with a daemon that has stored the control record.
    pub(crate) fn with_control(bench: &Workbench) -> Arena {
        let mut arena = Arena::new(bench);
        arena.start().unwrap_or_else(|flaw| panic!("{}", flaw.text()));
        let payload = json!({
            "session_id": "control", "cwd": "/srv/control", "hook_event_name": "UserPromptSubmit",
            "prompt": format!("remember {CONTROL} for me"),
        });
        let params = json!({ "event": "UserPromptSubmit", "payload": payload });
        match arena.rpc("hook", &params) {
            Ok(reply) if reply["recorded"] == true => arena,
            other => panic!("the control record was not stored: {other:?}"),
        }
    }

    /// Starts a daemon and waits until it prints its address.
    pub(crate) fn start(&mut self) -> Checked {
        self.daemon = None;
        let mut command = self.home.command(["serve", "--http"]);
        let stderr = File::options().create(true).append(true).open(self.stderr());
        let stderr = stderr.unwrap_or_else(|error| panic!("no file for stderr: {error}"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start: {error}"));
        let stdout = child.stdout.take();
        let mut daemon = FuzzedDaemon { child, port: 0, token: String::new() };
        let (sender, said) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = stdout.map(|out| BufReader::new(out).read_line(&mut line));
            // After the timeout the receiver is gone, and sending fails.
            let _ = sender.send(read.map(|_| line));
        });
        let line = said.recv_timeout(PATIENCE).map_err(|_| slow("the start of a daemon"))?;
        let line = line.unwrap_or_default();
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        let Some(port) = port else {
            let status = wait(&mut daemon.child)?;
            return Err(Flaw::Wrong(format!(
                "the daemon does not start (exit {status:?}): {line} {}",
                self.complaints()
            )));
        };
        daemon.port = port;
        let token = self.home.locations().token();
        ensure(token.is_file(), || "a daemon runs, and its token is no file".to_owned())?;
        daemon.token = self.home.token();
        self.daemon = Some(daemon);
        Ok(())
    }

    pub(crate) fn daemon(&self) -> &FuzzedDaemon {
        self.daemon.as_ref().unwrap_or_else(|| panic!("no daemon runs"))
    }

    /// Asks the daemon to end, and returns its exit code.
    pub(crate) fn end(&mut self) -> Result<Option<i32>, Flaw> {
        let Some(mut daemon) = self.daemon.take() else { return Ok(None) };
        testkit::home::signal(daemon.child.id(), "TERM");
        wait(&mut daemon.child)
    }

    /// Kills the daemon.
    pub(crate) fn kill(&mut self) {
        self.daemon = None;
    }

    /// The value of the `Authorization` header.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.daemon().token)
    }

    /// An HTTP client with the token.
    pub(crate) fn http(&self) -> Http {
        Http::new(self.daemon().port).with("Authorization", &self.bearer())
    }

    /// A connection to the port, with a deadline on reads and writes.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = Http::new(self.daemon().port).connect();
        // A server that does not read must not block us for ever.
        let _ = stream.set_write_timeout(Some(PATIENCE));
        stream
    }

    /// Makes one call over the unix socket. Returns the result, or the error object.
    pub(crate) fn rpc(&self, method: &str, params: &Value) -> Result<Value, Value> {
        self.home.socket().rpc(method, params)
    }

    /// Sends bytes to the unix socket, closes our half, and reads all that comes back.
    pub(crate) fn exchange(&self, bytes: &[u8]) -> Result<Vec<u8>, Flaw> {
        let path = self.home.locations().socket();
        let stream = UnixStream::connect(&path)
            .map_err(|error| Flaw::Wrong(format!("the socket refuses: {error}")))?;
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let writer = stream.try_clone().unwrap_or_else(|error| panic!("no second handle: {error}"));
        let bytes = bytes.to_vec();
        // Replies are read at the same time, or both sides could block on full buffers.
        let sender = std::thread::spawn(move || {
            // The server may refuse the input and close before it has read all of it.
            let _ = (&writer).write_all(&bytes);
            let _ = writer.shutdown(std::net::Shutdown::Write);
        });
        let mut replies = Vec::new();
        match (&stream).read_to_end(&mut replies) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                return Err(slow("an answer on the socket"));
            }
            _ => {}
        }
        let _ = sender.join();
        Ok(replies)
    }

    /// Runs a command to its end, within its deadline, and checks its exit code and stderr.
    pub(crate) fn run(&self, args: &[&str], stdin: &[u8]) -> Result<Run, Flaw> {
        let run = finish(self.home.command(args), stdin, args)?;
        let fine = matches!(run.code, 0..=2) && (args.first() != Some(&"hook") || run.code == 0);
        ensure(fine, || format!("{args:?} exits with {}: {}", run.code, run.stderr))?;
        let said = format!("{}{}", run.stdout, run.stderr);
        ensure(!said.contains("panicked"), || format!("{args:?} panicked: {said}"))?;
        Ok(run)
    }

    /// Checks that the daemon is alive, answers, uses little memory and has not panicked.
    pub(crate) fn check_daemon(&mut self) -> Checked {
        let pid = self.daemon().child.id();
        let ended = self.daemon.as_mut().and_then(|daemon| daemon.child.try_wait().ok().flatten());
        if let Some(status) = ended {
            let complaints = self.complaints();
            return Err(Flaw::Wrong(format!("the daemon ended ({status}): {complaints}")));
        }
        let status = self.rpc("status", &json!({}));
        ensure(status.is_ok(), || format!("status: {status:?}"))?;
        let resident = resident_kib(pid);
        ensure(resident < RESIDENT_KIB_MAX, || format!("the daemon takes {resident} KiB"))?;
        self.check_panics()
    }

    /// Checks that there is no panic in the logs or in stderr.
    pub(crate) fn check_panics(&self) -> Checked {
        let complaints = self.complaints();
        ensure(!complaints.contains("panicked"), || complaints.clone())
    }

    /// Checks that the control record is still found.
    pub(crate) fn check_control(&self) -> Checked {
        let params = json!({ "query": CONTROL, "project": "*" });
        let found = self.rpc("search", &params).map_err(|error| {
            Flaw::Wrong(format!("the search for the control record fails: {error}"))
        })?;
        let hits = found["results"].as_array().map_or(0, Vec::len);
        ensure(hits == 1, || format!("the control record has {hits} hits: {found}"))
    }

    /// Checks that all operations that list records succeed.
    pub(crate) fn check_reads(&self) -> Checked {
        let all = json!({ "project": "*" });
        for (op, params) in [
            ("recent_context", &all),
            ("list_sessions", &all),
            ("session_summaries", &all),
            ("list_projects", &json!({})),
            ("memory_stats", &json!({})),
            ("briefing", &json!({})),
        ] {
            if let Err(error) = self.rpc(op, params) {
                return Err(Flaw::Wrong(format!("{op} fails: {error}")));
            }
        }
        Ok(())
    }

    /// Checks that no file of this home contains a planted secret.
    pub(crate) fn check_secrets(&self) -> Checked {
        self.check_secrets_in(|_| true)
    }

    /// Checks that the database contains no planted secret. Files that are not our events may contain one.
    pub(crate) fn check_stored_secrets(&self) -> Checked {
        self.check_secrets_in(|path| !path.starts_with(self.home.path("data/spool")))
    }

    fn check_secrets_in(&self, wanted: impl Fn(&Path) -> bool) -> Checked {
        for (path, bytes) in self.home.files().into_iter().filter(|(path, _)| wanted(path)) {
            if let Some(secret) = grammar::leaked(&String::from_utf8_lossy(&bytes)) {
                let path = path.display();
                return Err(Flaw::Wrong(format!("{path} holds a secret: {secret:?}")));
            }
        }
        Ok(())
    }

    pub(crate) fn stderr(&self) -> PathBuf {
        self.home.path("daemon.stderr")
    }

    /// Lines of stderr and of the logs that report a panic or another failure.
    fn complaints(&self) -> String {
        let mut files = vec![self.stderr()];
        let logs = std::fs::read_dir(self.home.path("data/log")).into_iter().flatten().flatten();
        files.extend(logs.map(|entry| entry.path()));
        let mut lines = Vec::new();
        // Reading a pipe in the place of a log would block for ever.
        for file in files.into_iter().filter(|file| file.is_file()) {
            let text = std::fs::read(&file).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let is_bad = |line: &&str| line.contains("panicked") || line.contains("ERROR");
            lines.extend(text.lines().filter(is_bad).map(str::to_owned));
        }
        lines.truncate(5);
        lines.join(" | ")
    }
}

pub(crate) fn slow(what: &str) -> Flaw {
    Flaw::Slow(format!("{what} takes more than {} s", PATIENCE.as_secs()))
}

/// Checks one reply of JSON-RPC: its form, and that an error has a known code and is not an internal error.
pub(crate) fn check_reply(reply: &Value) -> Checked {
    if let Some(batch) = reply.as_array() {
        return batch.iter().try_for_each(check_reply);
    }
    let form = reply["jsonrpc"] == "2.0" && reply.get("id").is_some();
    let both = reply.get("result").is_some() != reply.get("error").is_some();
    let is_notice = reply.get("method").is_some();
    ensure(is_notice || (form && both), || format!("this is no reply: {reply}"))?;
    let Some(error) = reply.get("error") else { return Ok(()) };
    check_error(error)
}

/// Checks an error object.
pub(crate) fn check_error(error: &Value) -> Checked {
    let code = error["code"].as_i64().unwrap_or_default();
    let known = Code::from_rpc(code);
    let listed = known.is_some() || PROTOCOL_CODES.contains(&code);
    ensure(listed && error["message"].is_string(), || format!("this is no error: {error}"))?;
    ensure(known != Some(Code::Internal), || format!("a defect: {error}"))?;
    match known {
        Some(Code::Timeout) => Err(Flaw::Slow(format!("no answer in time: {error}"))),
        _ => Ok(()),
    }
}

/// Checks a reply in the form of errors outside JSON-RPC: `{"error", "code"}`.
pub(crate) fn check_rest_error(reply: &Value) -> Checked {
    let word = reply["code"].as_str().unwrap_or_default();
    let listed = model::error::CODES.iter().any(|row| row.word == word);
    ensure(listed && reply["error"].is_string(), || format!("this is no error: {reply}"))?;
    ensure(word != Code::Internal.row().word, || format!("a defect: {reply}"))
}

/// Runs a command with this on stdin, and kills it at the deadline.
fn finish(mut command: Command, stdin: &[u8], args: &[&str]) -> Result<Run, Flaw> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start: {error}"));
    let pipe = child.stdin.take();
    let bytes = stdin.to_vec();
    // A command that does not read its stdin closes the pipe, and writing fails. That is allowed.
    let writer = std::thread::spawn(move || drop(pipe.map(|mut pipe| pipe.write_all(&bytes))));
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let Ok(code) = wait(&mut child) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(slow(&format!("{args:?}")));
    };
    let _ = writer.join();
    let text = |reader: std::thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
    };
    Ok(Run { code: code.unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) })
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // If the pipe breaks, the bytes that were read so far are the output.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Waits for the exit code of a child.
fn wait(child: &mut Child) -> Result<Option<i32>, Flaw> {
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) if Instant::now() < until => {
                std::thread::park_timeout(Duration::from_millis(1));
            }
            _ => return Err(slow("the end of a process")),
        }
    }
}

/// Resident memory of a process; 0 if the system does not report it.
fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
