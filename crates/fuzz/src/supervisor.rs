//! Shares the time between targets, starts a worker for each, and reports what they find.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::options::FuzzOptions;
use crate::target::FuzzTarget;
use crate::worker::{Assignment, Position};

/// A target stops after this many failures: the first ones show what is wrong.
const FAILURES_MAX: usize = 5;
/// The interval at which the supervisor checks a silent worker.
const LOOK: Duration = Duration::from_millis(50);
/// How many bytes of the stderr of a dead worker are shown.
const LAST_WORDS: usize = 600;

/// A case that failed.
pub(crate) struct Failure {
    pub(crate) number: u64,
    /// The first case that the subject had run.
    pub(crate) first: u64,
    /// Whether the case fails on its own, without the cases before it.
    pub(crate) alone: bool,
    pub(crate) flaw: String,
}

/// The results of a target.
pub(crate) struct TargetReport {
    pub(crate) name: &'static str,
    pub(crate) cases: u64,
    pub(crate) time: Duration,
    pub(crate) failures: usize,
}

pub(crate) struct Supervisor<'a> {
    pub(crate) options: &'a FuzzOptions,
    /// Set by Ctrl-C.
    pub(crate) stop: Arc<AtomicBool>,
    /// The temporary directory of all workers, removed at the end.
    scratch: PathBuf,
}

impl<'a> Supervisor<'a> {
    pub(crate) fn new(options: &'a FuzzOptions, stop: Arc<AtomicBool>) -> std::io::Result<Self> {
        let scratch = std::env::temp_dir().join(format!("rekindle-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&scratch)?;
        std::fs::create_dir_all(&options.out)?;
        Ok(Supervisor { options, stop, scratch })
    }

    /// Gives each target its share of the time.
    pub(crate) fn run(&self, time: Duration, seed: u64) -> std::io::Result<Vec<TargetReport>> {
        let mut reports = Vec::new();
        let mut shares: u32 = self.options.targets.iter().map(|target| target.share).sum();
        let until = Instant::now() + time;
        for target in &self.options.targets {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            // Time that one target left over goes to the next ones.
            let left = until.saturating_duration_since(Instant::now());
            let time = left * target.share / shares.max(1);
            shares -= target.share;
            let assignment = Assignment { seed, from: 0, until: None, time };
            reports.push(self.run_target(target, &assignment)?);
        }
        Ok(reports)
    }

    /// Runs the cases of a target. Each time a worker dies, a new one continues.
    pub(crate) fn run_target(
        &self,
        target: &'static FuzzTarget,
        assignment: &Assignment,
    ) -> std::io::Result<TargetReport> {
        let began = Instant::now();
        let mut report =
            TargetReport { name: target.name, cases: 0, time: Duration::ZERO, failures: 0 };
        let mut from = assignment.from;
        loop {
            let time = assignment.time.saturating_sub(began.elapsed());
            let rest = Assignment { from, time, ..*assignment };
            let ended = self.run_worker(target, &rest, &mut report)?;
            report.cases += ended.cases;
            from += ended.cases;
            let is_over = match assignment.until {
                Some(last) => from > last,
                None => began.elapsed() >= assignment.time,
            };
            let enough = report.failures >= FAILURES_MAX || self.stop.load(Ordering::Relaxed);
            if !ended.died || is_over || enough {
                break;
            }
        }
        report.time = began.elapsed();
        Ok(report)
    }

    fn run_worker(
        &self,
        target: &'static FuzzTarget,
        assignment: &Assignment,
        report: &mut TargetReport,
    ) -> std::io::Result<Ended> {
        let position = Position::path(&self.options.out, target);
        // The position file of an earlier run; it need not exist.
        let _ = std::fs::remove_file(&position);
        let words = self.options.out.join(format!(".{}.stderr", target.name));
        let mut worker = self.start(target, assignment, &words)?;
        let mut watch = Watch { seen: None, since: Instant::now() };
        let mut finished = None;
        let mut hung = false;
        loop {
            match worker.lines.recv_timeout(LOOK) {
                Ok(line) => match line["cases"].as_u64() {
                    Some(cases) => finished = Some(cases),
                    None => {
                        self.failed(target, assignment.seed, &read_failure(&line), report);
                        if report.failures >= FAILURES_MAX {
                            worker.stdin = None;
                        }
                    }
                },
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.stop.load(Ordering::Relaxed) {
                worker.stdin = None;
            }
            if watch.silence(Position::read(&position)) > target.patience {
                hung = true;
                worker.kill();
            }
        }
        let status = worker.child.wait()?;
        // The process group includes daemons that the worker left running.
        worker.kill();
        clear(&self.scratch)?;
        if let Some(cases) = finished {
            return Ok(Ended { cases, died: false });
        }
        let (first, number) =
            Position::read(&position).unwrap_or((assignment.from, assignment.from));
        let said = last_words(&words);
        let flaw = match hung {
            true => format!("no end after {} s", target.patience.as_secs_f64()),
            false => format!("the process died ({status}): {said}"),
        };
        self.failed(
            target,
            assignment.seed,
            &Failure { number, first, alone: false, flaw },
            report,
        );
        Ok(Ended { cases: number + 1 - assignment.from, died: true })
    }

    fn start(
        &self,
        target: &FuzzTarget,
        assignment: &Assignment,
        words: &Path,
    ) -> std::io::Result<Worker> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([target.name, "--worker", "--seed", &assignment.seed.to_string()]);
        command.args(["--from", &assignment.from.to_string()]);
        command.args(["--seconds", &assignment.time.as_secs_f64().to_string()]);
        command.arg("--out").arg(&self.options.out);
        if let Some(last) = assignment.until {
            command.args(["--until", &last.to_string()]);
        }
        if let Some(binary) = &self.options.binary {
            command.arg("--binary").arg(binary);
        }
        command.env("TMPDIR", &self.scratch).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(words)?);
        let mut child = command.spawn()?;
        let stdout = child.stdout.take();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = stdout.into_iter().flat_map(|out| BufReader::new(out).lines());
            for line in lines.map_while(Result::ok) {
                let Ok(line) = serde_json::from_str(&line) else { continue };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Worker { stdin: child.stdin.take(), child, lines })
    }

    /// Writes the input of a failed case to a file, and says how to run it again.
    fn failed(&self, target: &FuzzTarget, seed: u64, failure: &Failure, report: &mut TargetReport) {
        report.failures += 1;
        let Failure { number, first, alone, flaw } = failure;
        let name = target.name;
        println!("FAILED {name}, case {number}: {flaw}");
        let input = target.input(seed, *number);
        let path = self.options.out.join(format!("{name}-{seed}-{number}"));
        match std::fs::write(&path, &input) {
            Ok(()) => println!("  input: {} ({} bytes)", path.display(), input.len()),
            Err(error) => println!("  input: cannot write {}: {error}", path.display()),
        }
        match *alone || first == number {
            true => println!("  again: cargo xtask fuzz {name} --case {seed}:{number}"),
            false => println!("  again: cargo xtask fuzz {name} --case {seed}:{first}-{number}"),
        }
    }
}

impl Drop for Supervisor<'_> {
    fn drop(&mut self) {
        // A directory that cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

/// How a worker ended, and after how many cases.
struct Ended {
    cases: u64,
    died: bool,
}

struct Worker {
    child: Child,
    /// The worker stops after its case when this is closed.
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Worker {
    /// Ends the worker and all processes that it started.
    fn kill(&self) {
        let group = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // Killing a process group that has already ended fails, which is fine.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// Measures how long a worker has been running the same case.
struct Watch {
    seen: Option<(u64, u64)>,
    since: Instant,
}

impl Watch {
    fn silence(&mut self, position: Option<(u64, u64)>) -> Duration {
        if position != self.seen {
            self.seen = position;
            self.since = Instant::now();
        }
        self.since.elapsed()
    }
}

fn read_failure(line: &Value) -> Failure {
    Failure {
        number: line["case"].as_u64().unwrap_or_default(),
        first: line["first"].as_u64().unwrap_or_default(),
        alone: line["alone"].as_bool().unwrap_or_default(),
        flaw: line["flaw"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Empties the temporary directory of the workers.
fn clear(scratch: &Path) -> std::io::Result<()> {
    // Files that cannot be removed now are removed with the directory at the end, or left to the system.
    let _ = std::fs::remove_dir_all(scratch);
    std::fs::create_dir_all(scratch)
}

/// The end of a worker's stderr, on one line.
fn last_words(path: &Path) -> String {
    let said = std::fs::read(path).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let start = said.floor_char_boundary(said.len().saturating_sub(LAST_WORDS));
    text::one_line(said.get(start..).unwrap_or_default(), LAST_WORDS)
}

/// The reports as a table.
pub(crate) fn table(reports: &[TargetReport]) -> String {
    let mut text = format!(
        "{:<14} {:>9} {:>8} {:>9} {:>9}\n",
        "target", "cases", "seconds", "cases/s", "failures"
    );
    for report in reports {
        let seconds = report.time.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = report.cases as f64 / seconds.max(0.001);
        let (name, cases, failures) = (report.name, report.cases, report.failures);
        text.push_str(&format!("{name:<14} {cases:>9} {seconds:>8.1} {rate:>9.0} {failures:>9}\n"));
    }
    text
}
