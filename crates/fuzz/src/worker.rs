//! Runs the cases of one target in a separate process, so that the supervisor survives a crash or a hang.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::target::{Checked, Flaw, FuzzTarget, Subject, Workbench};

/// Limit for the memory of a target in this process. An input that makes a parser use more kills the process,
/// and is reported.
const ADDRESS_SPACE_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Which cases a worker runs.
pub(crate) struct Assignment {
    pub(crate) seed: u64,
    pub(crate) from: u64,
    /// The last case. Without one, the time limit decides.
    pub(crate) until: Option<u64>,
    pub(crate) time: Duration,
}

/// The progress of a worker: the first case of its subject, and the current case. Written before each case, so
/// that it is known if the process dies.
pub(crate) struct Position(File);

impl Position {
    pub(crate) fn path(out: &Path, target: &FuzzTarget) -> PathBuf {
        out.join(format!(".{}.at", target.name))
    }

    fn create(path: &Path) -> std::io::Result<Position> {
        File::create(path).map(Position)
    }

    fn write(&self, first: u64, number: u64) -> std::io::Result<()> {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&first.to_le_bytes());
        bytes[8..].copy_from_slice(&number.to_le_bytes());
        self.0.write_all_at(&bytes, 0)
    }

    /// The first case of the subject and the current case; `None` before the first one.
    pub(crate) fn read(path: &Path) -> Option<(u64, u64)> {
        let bytes: [u8; 16] = std::fs::read(path).ok()?.try_into().ok()?;
        let number = |half: &[u8]| half.try_into().ok().map(u64::from_le_bytes);
        Some((number(&bytes[..8])?, number(&bytes[8..])?))
    }
}

/// Message and place of the last panic in this process.
static PANIC: Mutex<Option<String>> = Mutex::new(None);
/// Set when the supervisor closed our stdin.
static STOP: AtomicBool = AtomicBool::new(false);

/// Runs the cases and prints the results to stdout, one line of JSON each.
pub(crate) fn work(
    target: &FuzzTarget,
    assignment: &Assignment,
    bench: &Workbench,
    out: &Path,
) -> std::io::Result<()> {
    let position = Position::create(&Position::path(out, target))?;
    prepare(bench);
    let until = Instant::now() + assignment.time;
    let is_over = |number: u64| match assignment.until {
        Some(last) => number > last,
        None => Instant::now() >= until,
    };
    let mut number = assignment.from;
    let mut subject: Option<(u64, Box<dyn Subject>)> = None;
    while !is_over(number) && !STOP.load(Ordering::Relaxed) {
        let input = target.input(assignment.seed, number);
        let first = subject.as_ref().map_or(number, |(first, _)| *first);
        position.write(first, number)?;
        let flaw = attempt(&mut subject, target, bench, number, &input).err();
        if STOP.load(Ordering::Relaxed) {
            // Ctrl-C may have ended the daemon under test too, so a failure means nothing.
            break;
        }
        number += 1;
        if let Some(flaw) = flaw {
            subject = None;
            let again = confirm(target, bench, &input);
            if !matches!((&flaw, &again), (Flaw::Slow(_), None)) {
                let alone = again.is_some() || first == number - 1;
                tell(&json!({
                    "case": number - 1, "first": first, "alone": alone, "flaw": flaw.text(),
                }))?;
            }
        } else if number - first >= target.renew {
            subject = None;
        }
    }
    tell(&json!({ "cases": number - assignment.from }))
}

/// Feeds one input to a target and returns the failure, if there is one.
pub(crate) fn replay(target: &FuzzTarget, bench: &Workbench, input: &[u8]) -> Option<String> {
    prepare(bench);
    confirm(target, bench, input).map(|flaw| flaw.text().to_owned())
}

/// Runs one input with a new subject.
fn confirm(target: &FuzzTarget, bench: &Workbench, input: &[u8]) -> Option<Flaw> {
    attempt(&mut None, target, bench, 0, input).err()
}

fn attempt(
    subject: &mut Option<(u64, Box<dyn Subject>)>,
    target: &FuzzTarget,
    bench: &Workbench,
    number: u64,
    input: &[u8],
) -> Checked {
    let checked = catch_unwind(AssertUnwindSafe(|| {
        let (_, subject) = subject.get_or_insert_with(|| (number, (target.open)(bench)));
        subject.check(input)
    }));
    checked.unwrap_or_else(|_| {
        let said = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(Flaw::Wrong(said.unwrap_or_else(|| "a panic without a message".to_owned())))
    })
}

fn tell(line: &serde_json::Value) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush())
}

/// Records panic messages, watches stdin for the end of the supervisor, and limits memory.
fn prepare(bench: &Workbench) {
    std::panic::set_hook(Box::new(|info| {
        let said = info.payload_as_str().unwrap_or("a panic without a message");
        let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
        let text = format!("panicked{}: {said}", place.unwrap_or_default());
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }));
    std::thread::spawn(|| {
        let mut rest = Vec::new();
        // Nothing is written to stdin; it is closed when the supervisor ends.
        let _ = std::io::stdin().read_to_end(&mut rest);
        STOP.store(true, Ordering::Relaxed);
    });
    let limit =
        |maximum: u64| rustix::process::Rlimit { current: Some(maximum), maximum: Some(maximum) };
    // No core dumps: a crash is reported anyway. If the limit cannot be set, there are core dumps.
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, limit(0));
    if bench.binary.is_none() {
        let space = rustix::process::Resource::As;
        let _ = rustix::process::setrlimit(space, limit(ADDRESS_SPACE_MAX));
    }
}
