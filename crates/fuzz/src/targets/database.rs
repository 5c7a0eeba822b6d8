//! Damaged databases: no panic, no hang, no row that was never stored, and no readable record lost.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::arena::Arena;
use crate::dice::Dice;
use crate::target::{Checked, Flaw, Subject, Workbench, ensure};

/// Prompts in the sound database, each with a word of its own.
const RECORDS: usize = 40;
const PAGE: usize = 4096;

/// One kind of damage per line, then the commands that run on the damaged database.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let mut damage = Vec::new();
    for _ in 0..=dice.few(6) {
        let (page, at) = (dice.below(400), dice.below(PAGE));
        damage.push(match dice.below(9) {
            0 | 1 => json!({ "flip": page * PAGE + at, "bit": dice.below(8) }),
            2 => json!({ "zero": page, "pages": 1 + dice.few(8) }),
            3 => json!({ "fill": page, "byte": dice.byte(), "from": at, "bytes": 1 + dice.few(PAGE) }),
            4 => json!({ "truncate": dice.below(1000) }),
            5 => json!({ "copy": page, "to": dice.below(400) }),
            6 => json!({ "flip": dice.below(100), "bit": dice.below(8) }),
            7 => json!({ "beside": *dice.pick(&["-wal", "-shm", "-journal"]), "bytes": dice.few(40_000), "byte": dice.byte() }),
            _ => json!({ "fill": page, "byte": dice.byte(), "from": 0, "bytes": 16 }),
        });
    }
    let commands = [
        vec!["recent", "--json"],
        vec!["search", "--json", "--", "polaris0"],
        vec!["doctor", "--json"],
        vec!["status", "--json"],
        vec!["restore", "--json", "damaged.db"],
        vec!["stats", "--json"],
        vec!["sessions", "--json"],
        vec!["hook", "SessionStart"],
        vec!["serve"],
    ];
    let commands: Vec<&Vec<&str>> = (0..=dice.few(4)).map(|_| dice.pick(&commands)).collect();
    let known = !dice.one_in(4);
    json!({ "known": known, "damage": damage, "commands": commands }).to_string().into_bytes()
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    let mut arena = Arena::with_control(bench);
    for number in 0..RECORDS {
        let payload = json!({
            "session_id": format!("s-{}", number % 3), "cwd": "/srv/control", "hook_event_name": "UserPromptSubmit",
            "prompt": format!("look at {} through the glass {}", word(number), "and wait ".repeat(number)),
        });
        let stored = arena.rpc("hook", &json!({ "event": "UserPromptSubmit", "payload": payload }));
        assert!(stored.is_ok(), "a record was not stored: {stored:?}");
    }
    let code = arena.end().unwrap_or_else(|flaw| panic!("{}", flaw.text()));
    assert_eq!(code, Some(0), "the daemon does not end cleanly");
    let sound = std::fs::read(arena.home.locations().database);
    let sound = sound.unwrap_or_else(|error| panic!("no database: {error}"));
    Box::new(DatabaseSubject { bench: Workbench { binary: bench.binary.clone() }, sound })
}

/// A word that only this record contains.
fn word(number: usize) -> String {
    format!("polaris{number:03}x")
}

struct DatabaseSubject {
    bench: Workbench,
    /// The bytes of the sound database.
    sound: Vec<u8>,
}

impl Subject for DatabaseSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let case: Value = serde_json::from_slice(input).unwrap_or_default();
        let mut arena = Arena::new(&self.bench);
        let path = arena.home.locations().database;
        let mut bytes = self.sound.clone();
        let folder = path.parent().map(PathBuf::from).unwrap_or_default();
        let mut result = std::fs::create_dir_all(&folder);
        if case["known"] == true {
            // Only a file that was opened before is salvaged when its header is damaged.
            result = result.and_then(|()| std::fs::write(&path, &bytes));
            arena.run(&["stats", "--json"], b"")?;
        }
        for damage in case["damage"].as_array().into_iter().flatten() {
            result = result.and_then(|()| spoil(&mut bytes, damage, &path));
        }
        result
            .and_then(|()| std::fs::write(&path, &bytes))
            .unwrap_or_else(|error| panic!("the damage cannot be done: {error}"));
        let before = words_in(&bytes);
        arena.home.write("damaged.db", "");
        let source = std::fs::write(arena.home.path("damaged.db"), &bytes);
        source.unwrap_or_else(|error| panic!("no damaged backup: {error}"));
        for command in case["commands"].as_array().into_iter().flatten() {
            let args: Vec<&str> =
                command.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            meet(&mut arena, &args)?;
            arena.check_panics()?;
        }
        nothing_is_destroyed(&arena, &before)
    }
}

/// Runs one command over the damaged database.
fn meet(arena: &mut Arena, args: &[&str]) -> Checked {
    match args.first() {
        Some(&"serve") => {
            match arena.start() {
                Ok(()) => {
                    // If damage is found later, the daemon answers with errors and does not hang.
                    let _ = arena.rpc("status", &json!({}));
                    let _ = arena.rpc("recent_context", &json!({ "project": "*" }));
                    let code = arena.end()?;
                    ensure(code == Some(0), || format!("the daemon ends with {code:?}"))
                }
                // It may refuse to start, but must not hang.
                Err(Flaw::Wrong(_)) => Ok(()),
                Err(slow) => Err(slow),
            }
        }
        Some(&"hook") => {
            let payload =
                json!({ "session_id": "late", "cwd": "/srv/control", "source": "startup" });
            arena.run(args, payload.to_string().as_bytes()).map(drop)
        }
        Some(&"recent") => {
            let run = arena.run(&["recent", "--json", "--limit", "100", "--project", "*"], b"")?;
            rows_are_known(&printed(&run.stdout)?)
        }
        _ => printed(&arena.run(args, b"")?.stdout).map(drop),
    }
}

/// Checks that no row is duplicated and none was invented.
fn rows_are_known(reply: &Value) -> Checked {
    let rows = reply["results"].as_array().map_or(&[][..], Vec::as_slice);
    ensure(rows.len() <= RECORDS + 1, || format!("{} rows of {RECORDS}: {reply}", rows.len()))?;
    let ids: BTreeSet<String> = rows.iter().map(|row| row["id"].to_string()).collect();
    ensure(ids.len() == rows.len(), || format!("a row is listed twice: {reply}"))
}

fn printed(stdout: &str) -> Result<Value, Flaw> {
    serde_json::from_str(stdout).map_err(|error| Flaw::Wrong(format!("{error}: {stdout}")))
}

/// Words of records that can be read in these bytes.
fn words_in(bytes: &[u8]) -> BTreeSet<usize> {
    let text = String::from_utf8_lossy(bytes);
    (0..RECORDS).filter(|number| text.contains(&word(*number))).collect()
}

/// Checks that every record that could be read in the damaged file is in some file afterwards: in the repaired
/// database or in the copy of the damaged one.
fn nothing_is_destroyed(arena: &Arena, before: &BTreeSet<usize>) -> Checked {
    let mut after = BTreeSet::new();
    let copy = arena.home.path("damaged.db");
    for (_, bytes) in arena.home.files().into_iter().filter(|(path, _)| *path != copy) {
        after.extend(words_in(&bytes));
    }
    let lost: Vec<String> = before.difference(&after).map(|number| word(*number)).collect();
    ensure(lost.is_empty(), || {
        let files: Vec<PathBuf> = arena.home.files().into_iter().map(|(path, _)| path).collect();
        format!("lost records: {lost:?}; remaining files: {files:?}")
    })
}

fn spoil(bytes: &mut Vec<u8>, damage: &Value, path: &std::path::Path) -> std::io::Result<()> {
    let number =
        |name: &str| usize::try_from(damage[name].as_u64().unwrap_or_default()).unwrap_or_default();
    let byte = damage["byte"].as_u64().and_then(|byte| u8::try_from(byte).ok()).unwrap_or_default();
    let length = bytes.len();
    // Offsets past the end wrap around, so that every damage has an effect.
    let page_at = |name: &str| (number(name) * PAGE) % length.max(1);
    if damage.get("flip").is_some() {
        if let Some(byte) = bytes.get_mut(number("flip") % length.max(1)) {
            *byte ^= 1 << (number("bit") % 8);
        }
    } else if damage.get("zero").is_some() {
        let start = page_at("zero");
        let end = (start + number("pages") * PAGE).min(length);
        bytes[start..end].fill(0);
    } else if damage.get("fill").is_some() {
        let start = (page_at("fill") + number("from")).min(length);
        let end = (start + number("bytes")).min(length);
        bytes[start..end].fill(byte);
    } else if damage.get("truncate").is_some() {
        bytes.truncate(length * number("truncate") / 1000);
    } else if damage.get("copy").is_some() {
        let (from, to) = (page_at("copy"), page_at("to"));
        let end = (from + PAGE).min(length);
        if to + (end - from) <= length {
            bytes.copy_within(from..end, to);
        }
    } else if let Some(ending) = damage["beside"].as_str() {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        std::fs::write(name, vec![byte; number("bytes")])?;
    }
    Ok(())
}
