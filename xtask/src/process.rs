//! Child processes with a deadline: a client that hangs must not hang the run.

use std::io::Read;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The result of a finished command.
pub(crate) struct FinishedCommand {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl FinishedCommand {
    /// Both streams, for a failure message.
    pub(crate) fn said(&self) -> String {
        format!("{}\n{}", self.stdout.trim_end(), self.stderr.trim_end()).trim().to_owned()
    }
}

/// Runs a command to its end and captures its output; kills it at the deadline.
pub(crate) fn run(command: &mut Command, deadline: Duration) -> Result<FinishedCommand> {
    run_with(command, Stdio::null(), deadline)
}

/// Runs a command with this stdin to its end and captures its output; kills it at the deadline.
pub(crate) fn run_with(
    command: &mut Command,
    stdin: Stdio,
    deadline: Duration,
) -> Result<FinishedCommand> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let stdout = child.stdout.take().map(reader);
    let stderr = child.stderr.take().map(reader);
    let status = wait(&mut child, deadline).with_context(|| format!("{name} did not end"))?;
    let text = |thread: Option<thread::JoinHandle<Vec<u8>>>| {
        let bytes = thread.and_then(|thread| thread.join().ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(FinishedCommand { status, stdout: text(stdout), stderr: text(stderr) })
}

/// Like [`run`], but an error with the command's output if it fails.
pub(crate) fn run_ok(command: &mut Command, deadline: Duration) -> Result<FinishedCommand> {
    let finished = run(command, deadline)?;
    if !finished.status.success() {
        let name = command.get_program().to_string_lossy().into_owned();
        bail!("{name} ended with {}\n{}", finished.status, finished.said());
    }
    Ok(finished)
}

fn reader(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken stream ends the text; the exit status tells what happened.
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

/// Waits for the child; kills it at the deadline.
pub(crate) fn wait(child: &mut Child, deadline: Duration) -> Result<ExitStatus> {
    let end = Instant::now() + deadline;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            bail!("killed after {} s", deadline.as_secs_f64());
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// A child that is talked to over pipes; killed at its deadline, so that no read of it can hang for
/// ever, and when dropped.
pub(crate) struct Guarded {
    child: Arc<Mutex<Child>>,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    // The watcher ends when this end of its channel is dropped.
    _alive: Sender<()>,
}

impl Guarded {
    pub(crate) fn spawn(command: &mut Command, deadline: Duration) -> Result<Guarded> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let child = Arc::new(Mutex::new(child));
        let (alive, watch) = mpsc::channel::<()>();
        let watched = Arc::clone(&child);
        thread::spawn(move || {
            if watch.recv_timeout(deadline) == Err(RecvTimeoutError::Timeout) {
                // One that has ended already cannot be killed, and need not be.
                let _ = watched.lock().unwrap_or_else(PoisonError::into_inner).kill();
            }
        });
        Ok(Guarded { child, stdin, stdout, _alive: alive })
    }

    pub(crate) fn stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    pub(crate) fn stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // One that has ended already cannot be killed; waiting only collects its exit status.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Whether a program of this name can be started at all.
pub(crate) fn exists(program: &str, probe: &str) -> bool {
    Command::new(program)
        .arg(probe)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_killed_at_its_deadline() {
        // `cat` on a pipe that stays open never ends.
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat starts");
        let error = wait(&mut child, Duration::from_millis(50)).expect_err("it hangs");
        assert!(error.to_string().starts_with("killed after"), "{error}");
    }

    #[test]
    fn a_failing_command_is_an_error_with_what_it_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let error = run_ok(&mut command, Duration::from_secs(10)).err().expect("it fails");
        let text = error.to_string();
        assert!(text.contains("out") && text.contains("err") && text.contains('3'), "{text}");
    }

    #[test]
    fn a_program_that_is_not_there_does_not_exist() {
        assert!(exists("true", "--version"));
        assert!(!exists("no-such-program-here", "--version"));
    }
}
