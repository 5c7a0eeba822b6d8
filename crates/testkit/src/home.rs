//! A temporary home for the real binary, and its processes.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use model::locations::Locations;
use serde_json::Value;

use crate::http::Http;
use crate::lines::{Lines, Mcp};
use crate::wait::wait_until;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A directory of its own with every file that the binary reads and writes. When dropped, its remaining processes are
/// ended and it is removed.
pub struct Home {
    pub dir: PathBuf,
    binary: PathBuf,
    /// Variables that every process of this home gets.
    pub env: Vec<(String, String)>,
}

/// The output and exit code of a command.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Stdout as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not JSON ({error}): {self:?}"))
    }

    /// Asserts success and returns stdout.
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }
}

impl Home {
    /// A new home for this binary: `Home::new(env!("CARGO_BIN_EXE_rekindle"))`.
    pub fn new(binary: &str) -> Home {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rekindle-test-{}-{number}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&dir).expect("a temporary directory");
        let dir = dir.canonicalize().expect("the temporary directory");
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let within = |part: &str| dir.join(part).to_str().expect("a UTF-8 path").to_owned();
        let env = vec![
            set("HOME", &within("")),
            set("REKINDLE_HOME", &within("data")),
            set("REKINDLE_RUNTIME_DIR", &within("run")),
            // Every daemon gets a port of its own, so that tests can run in parallel.
            set("REKINDLE_PORT", "0"),
            set("REKINDLE_NO_AUTOSTART", "1"),
        ];
        Home { dir, binary: binary.into(), env }
    }

    /// Sets or replaces a variable for every process started from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.unset(name);
        self.env.push((name.to_owned(), value.to_owned()));
    }

    pub fn unset(&mut self, name: &str) {
        self.env.retain(|(known, _)| known != name);
    }

    /// The paths that the binary resolves in this home.
    pub fn locations(&self) -> Locations {
        let around = model::locations::Surroundings {
            var: &|name| self.env.iter().find(|(n, _)| n == name).map(|(_, v)| v.into()),
            uid: client::platform::uid(),
            cwd: &self.dir,
            mac: cfg!(target_os = "macos"),
            canonical: &|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        };
        Locations::resolve(&around, None)
    }

    /// The binary with only this home's environment.
    pub fn command<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args).env_clear().current_dir(&self.dir);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> Run {
        self.run_with(args, b"")
    }

    /// Runs a command to its end with this on stdin.
    pub fn run_with(&self, args: &[&str], stdin: &[u8]) -> Run {
        finish(self.command(args), stdin)
    }

    /// Sends one event of an agent to the hook. Asserts that the hook is silent and exits with 0.
    pub fn hook(&self, event: &str, payload: &Value) {
        let run = self.run_with(&["hook", event], payload.to_string().as_bytes());
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "{event}");
    }

    /// `rekindle call OP PARAMS --json`, which has to succeed.
    pub fn call(&self, op: &str, params: &Value) -> Value {
        let run = self.run(&["call", op, &params.to_string(), "--json"]);
        assert_eq!(run.code, 0, "{run:?}");
        run.json()
    }

    /// Starts `serve --http` and waits until it prints its address.
    pub fn daemon(&self) -> Daemon {
        self.daemon_with(&[])
    }

    /// Starts `serve --http` with further flags, and waits until it prints its address.
    pub fn daemon_with(&self, flags: &[&str]) -> Daemon {
        let mut args = vec!["serve", "--http"];
        args.extend(flags);
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the binary starts");
        let mut said = String::new();
        let mut stdout = child.stdout.take().expect("stdout is piped");
        let mut byte = [0];
        while !said.ends_with('\n') && stdout.read(&mut byte).is_ok_and(|read| read == 1) {
            said.push(char::from(byte[0]));
        }
        let port = said.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        let port = port.unwrap_or_else(|| panic!("the daemon said {said:?}"));
        Daemon { port, child, token: self.token() }
    }

    /// An MCP client on the stdio of `serve`.
    pub fn serve(&self) -> Mcp {
        self.serve_with(&[])
    }

    pub fn serve_with(&self, flags: &[&str]) -> Mcp {
        let mut args = vec!["serve"];
        args.extend(flags);
        Mcp::start(self.command(args))
    }

    /// A connection to the unix socket.
    pub fn socket(&self) -> Lines {
        Lines::connect(&self.locations().socket())
    }

    /// The discovery file, after waiting for it.
    pub fn discovery(&self) -> Value {
        let path = self.locations().discovery();
        wait_until("a discovery file", || serde_json::from_slice(&std::fs::read(&path).ok()?).ok())
    }

    /// The pid that the discovery file names.
    pub fn pid(&self) -> u32 {
        self.discovery()["pid"].as_u64().and_then(|pid| pid.try_into().ok()).expect("a pid")
    }

    pub fn token(&self) -> String {
        let path = self.locations().token();
        wait_until("a token", || std::fs::read_to_string(&path).ok()).trim().to_owned()
    }

    /// Files in the spool of the data directory, in order.
    pub fn spooled(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path("data/spool")).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    }

    /// Every file of this home with its bytes. Sockets are left out, and so are scratch files that vanish meanwhile.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut folders = vec![self.dir.clone()];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() => {
                        files
                            .extend(std::fs::read(entry.path()).map(|bytes| (entry.path(), bytes)));
                    }
                    _ => {}
                }
            }
        }
        files
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A process that a test left running must not outlive it.
        if let Ok(text) = std::fs::read(self.locations().discovery())
            && let Ok(discovery) = serde_json::from_slice::<Value>(&text)
            && let Some(pid) = discovery["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok())
            && runs_our_binary(pid, &self.binary)
        {
            signal(pid, "KILL");
        }
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn runs_our_binary(pid: u32, binary: &Path) -> bool {
    std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == binary)
}

/// Sends a signal by name.
pub fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(status.is_ok(), "kill can be run");
}

/// Whether a process is running, and not a zombie.
pub fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

/// Runs a command to its end with this on stdin.
pub fn finish(mut command: Command, stdin: &[u8]) -> Run {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut pipe = child.stdin.take().expect("stdin is piped");
    let bytes = stdin.to_vec();
    // A command that does not read its stdin closes the pipe, and writing fails. That is allowed.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Run { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
}

/// A running `serve --http`. Killed when dropped.
pub struct Daemon {
    pub port: u16,
    pub token: String,
    child: Child,
}

impl Daemon {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// An HTTP client with the token.
    pub fn http(&self) -> Http {
        Http::new(self.port).with("Authorization", &format!("Bearer {}", self.token))
    }

    pub fn kill(&mut self) {
        signal(self.child.id(), "KILL");
        let _ = self.child.wait();
    }

    /// Sends a signal and waits for the exit code.
    pub fn end_by(&mut self, name: &str) -> Option<i32> {
        signal(self.child.id(), name);
        self.wait()
    }

    /// Waits for the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        wait_until("the daemon ends", || self.child.try_wait().ok().flatten()).code()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
