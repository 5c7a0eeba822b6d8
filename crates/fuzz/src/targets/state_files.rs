//! Our own small files, damaged or replaced: settings, token, discovery, notes. Commands and daemon still work.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::arena::{Arena, CONTROL};
use crate::dice::Dice;
use crate::grammar;
use crate::mutate::mutate;
use crate::target::{Checked, Flaw, Subject, Workbench, ensure};

#[rustfmt::skip]
const FILES: &[&str] = &[
    "config", "config", "data/token", "data/spool", "data/log", "data/log/hook.log", "data/installed.json",
    "data/backups", "run/daemon.json", "run/daemon.sock", "run/daemon.lock", "data/rekindle.db.lock",
    "data/web-sessions", "data/rekindle.db-paused", "data/rekindle.db-wal", "data/rekindle.db-shm", "any",
    "any", "any",
];

/// The replacements of files, and the commands that run afterwards, as JSON.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let mut changes = Vec::new();
    for _ in 0..=dice.few(3) {
        let kind = *dice.pick(&[
            "damage", "damage", "garbage", "text", "empty", "folder", "pipe", "dangling", "gone",
        ]);
        changes.push(json!({
            "file": dice.pick(FILES), "which": dice.below(40), "kind": kind, "text": settings(dice), "seed": dice.next(),
        }));
    }
    let commands = ["status", "doctor", "recent", "hook", "serve", "search", "config", "stats"];
    let commands: Vec<&str> = (0..=dice.few(4)).map(|_| *dice.pick(&commands)).collect();
    json!({ "changes": changes, "commands": commands }).to_string().into_bytes()
}

#[rustfmt::skip]
const KEYS: &[&str] = &[
    "briefing.tokens", "daemon.port", "daemon.request_timeout", "observations.exclude_projects",
    "retention", "log.level", "x", "a.b.c",
];

fn settings(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..dice.few(6) {
        text.push_str(&format!("{} = {}\n", dice.pick(KEYS), grammar::value(dice, 2)));
    }
    String::from_utf8_lossy(&grammar::without_secrets(text.as_bytes())).into_owned()
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    Box::new(StateFilesSubject { bench: Workbench { binary: bench.binary.clone() } })
}

struct StateFilesSubject {
    bench: Workbench,
}

impl Subject for StateFilesSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let mut arena = Arena::with_control(&self.bench);
        let event =
            json!({ "session_id": "s", "cwd": "/srv/control", "source": "startup" }).to_string();
        arena.run(&["hook", "SessionStart"], event.as_bytes())?;
        let code = arena.end()?;
        ensure(code == Some(0), || format!("the daemon ends with {code:?}"))?;
        let case: Value = serde_json::from_slice(input).unwrap_or_default();
        for change in case["changes"].as_array().into_iter().flatten() {
            apply(&arena, change);
        }
        for command in case["commands"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            meet(&mut arena, command, event.as_bytes())?;
            arena.check_panics()?;
        }
        Ok(())
    }
}

/// Runs a command. It may fail with an error, but must not lose the record.
fn meet(arena: &mut Arena, command: &str, event: &[u8]) -> Checked {
    match command {
        "hook" => arena.run(&["hook", "SessionStart"], event).map(drop),
        "serve" => match arena.start() {
            Ok(()) => {
                let _ = arena.rpc("status", &json!({}));
                arena.end().map(drop)
            }
            // A command that fails prints an error and has a non-zero exit code.
            Err(Flaw::Wrong(text)) => {
                ensure(text.contains("exit Some(1)") || text.contains("exit Some(2)"), || text)
            }
            Err(slow) => Err(slow),
        },
        "search" => {
            let run = arena.run(&["search", "--json", "--project", "*", "--", CONTROL], b"")?;
            let reply = parsed(&run.stdout)?;
            let hits = reply["results"].as_array().map(Vec::len);
            ensure(run.code != 0 || hits == Some(1), || {
                format!("the control record is lost: {reply}")
            })
        }
        command => parsed(&arena.run(&[command, "--json"], b"")?.stdout).map(drop),
    }
}

fn parsed(stdout: &str) -> Result<Value, Flaw> {
    serde_json::from_str(stdout).map_err(|error| Flaw::Wrong(format!("{error}: {stdout}")))
}

/// Changes one file. A change that is not possible is skipped.
fn apply(arena: &Arena, change: &Value) {
    let path = match change["file"].as_str().unwrap_or_default() {
        "config" => arena.home.locations().config_file,
        "any" => {
            let Some(path) = any_file(arena, change["which"].as_u64().unwrap_or_default()) else {
                return;
            };
            path
        }
        name => arena.home.path(name),
    };
    // The target `database` covers the database, and the fuzzer itself opens the file of the daemon's errors.
    if path == arena.home.locations().database || path == arena.stderr() {
        return;
    }
    let text = change["text"].as_str().unwrap_or_default();
    let mut dice = Dice::of_case("state file", change["seed"].as_u64().unwrap_or_default(), 0);
    // Opening a pipe of an earlier change would block for ever.
    let is_file = path.is_file();
    let mut bytes = if is_file { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
    let _ = std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")));
    let kind = change["kind"].as_str().unwrap_or_default();
    if kind != "damage" {
        let _ = if path.is_dir() {
            std::fs::remove_dir_all(&path)
        } else {
            std::fs::remove_file(&path)
        };
    }
    let _ = match kind {
        "damage" if !is_file => Ok(()),
        "damage" => {
            mutate(&mut dice, &mut bytes, text.as_bytes());
            std::fs::write(&path, bytes)
        }
        "garbage" => std::fs::write(&path, (0..300).map(|_| dice.byte()).collect::<Vec<u8>>()),
        "text" => std::fs::write(&path, text),
        "empty" => std::fs::write(&path, ""),
        "folder" => std::fs::create_dir(&path),
        "dangling" => std::os::unix::fs::symlink("/nowhere/at/all", &path),
        "pipe" => {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
                .map_err(Into::into)
        }
        _ => Ok(()),
    };
}

/// One of the existing files, in the order of their paths.
fn any_file(arena: &Arena, which: u64) -> Option<PathBuf> {
    let mut files: Vec<PathBuf> = arena.home.files().into_iter().map(|(path, _)| path).collect();
    files.sort();
    let count = u64::try_from(files.len()).ok()?;
    files.into_iter().nth(usize::try_from(which.checked_rem(count)?).ok()?)
}
