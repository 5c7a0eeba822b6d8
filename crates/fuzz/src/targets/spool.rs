//! Files in the spool: no file keeps the daemon from ingesting the event after it.

use std::path::Path;

use model::hook::HookEvent;
use model::wire::CallId;
use serde_json::json;

use crate::arena::{Arena, PATIENCE};
use crate::corpus::EVENTS;
use crate::dice::Dice;
use crate::grammar;
use crate::mutate::mutate;
use crate::target::{Checked, Flaw, Subject, Workbench, ensure};

/// The kind and name of a file on the first line, then its content.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let kind = *dice.pick(&[
        "file", "file", "file", "file", "file", "file", "folder", "link", "dangling", "pipe",
    ]);
    let id = CallId(std::array::from_fn(|_| dice.byte()));
    let name = match dice.below(6) {
        0 => (*dice.pick(&[
            "x.json",
            ".json",
            "000000000000000-x.json",
            "a b\u{202e}.json",
            "-.json",
            "x.part",
            "x",
        ]))
        .to_owned(),
        _ => format!("{:015}-{id}.json", dice.below(2_000_000_000_000)),
    };
    let mut input = format!("{kind}\t{name}\n").into_bytes();
    input.extend(content(dice, id));
    input
}

fn content(dice: &mut Dice, id: CallId) -> Vec<u8> {
    let golden = dice.pick(&EVENTS);
    let drawn = agents::extract(
        None,
        Some(&golden.event),
        &(&golden.payload).into(),
        id,
        1_700_000_000_000,
    );
    let mut event =
        drawn.ok().and_then(|event| serde_json::to_value(event).ok()).unwrap_or_default();
    let times = [0, -1, 1, 1_700_000_000_000, i64::MAX, i64::MIN, 4_000_000_000_000_000];
    if dice.one_in(4) {
        event["at"] = (*dice.pick(&times)).into();
    }
    if dice.one_in(6) {
        event["stood"] = json!({ "in": { "root": grammar::text(dice), "name": grammar::text(dice), "remote_key": grammar::text(dice) } });
    }
    if dice.one_in(2) {
        grammar::distort(dice, &mut event);
    }
    let mut bytes = event.to_string().into_bytes();
    if dice.one_in(3) {
        let other = dice.pick(&EVENTS).payload.to_string();
        mutate(dice, &mut bytes, other.as_bytes());
        bytes = grammar::without_secrets(&bytes);
    }
    bytes
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    Box::new(SpoolSubject { arena: Arena::with_control(bench), cases: 0 })
}

struct SpoolSubject {
    arena: Arena,
    cases: u64,
}

impl Subject for SpoolSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
        let head = String::from_utf8_lossy(&input[..end]).into_owned();
        let (kind, name) = head.split_once('\t').unwrap_or(("file", "x.json"));
        let folder = self.arena.home.path("data/spool");
        std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("no spool: {error}"));
        let name: String = name.chars().filter(|c| !matches!(c, '/' | '\0')).collect();
        put(kind, &folder.join(&name), input.get(end + 1..).unwrap_or_default());
        self.cases += 1;
        self.follow(&folder)?;
        self.arena.check_daemon()?;
        self.arena.check_reads()?;
        self.arena.check_control()?;
        self.arena.check_stored_secrets()
    }
}

impl SpoolSubject {
    /// Adds a valid event after that of the case, and waits until it is found.
    fn follow(&self, folder: &Path) -> Checked {
        let word = format!("follower{}x", self.cases);
        let payload = json!({
            "session_id": "follower", "cwd": "/srv/control", "hook_event_name": "UserPromptSubmit",
            "prompt": format!("look for {word} here"),
        });
        let mut id = [0xfe; 16];
        id[..8].copy_from_slice(&self.cases.to_be_bytes());
        // Dated like the last change of the directory: retention would delete an old event as soon as the
        // event of the case ends a turn.
        let changed = std::fs::metadata(folder).and_then(|meta| meta.modified()).ok();
        let since = changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let at = since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or_default());
        let event = agents::extract(Some("claude-code"), None, &(&payload).into(), CallId(id), at);
        let event: HookEvent =
            event.unwrap_or_else(|error| panic!("the event after the case is refused: {error:?}"));
        let text = serde_json::to_vec(&event).unwrap_or_default();
        let (part, whole) =
            (folder.join("follower.part"), folder.join(format!("{at:015}-{}.json", CallId(id))));
        let written = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, &whole));
        written.unwrap_or_else(|error| panic!("the event after the case was not written: {error}"));
        let until = std::time::Instant::now() + PATIENCE;
        loop {
            let found = self.arena.rpc("search", &json!({ "query": word, "project": "*" }));
            let found = found.map_err(|error| Flaw::Wrong(format!("search fails: {error}")))?;
            if found["results"].as_array().is_some_and(|results| results.len() == 1) {
                return Ok(());
            }
            let waits = std::time::Instant::now() < until;
            ensure(waits, || {
                format!("the event behind it is not taken in: {:?}", self.arena.home.spooled())
            })?;
        }
    }
}

/// Creates a file of this kind; skips one that cannot be created.
fn put(kind: &str, path: &Path, content: &[u8]) {
    let _ = match kind {
        "folder" => std::fs::create_dir(path),
        "link" => std::os::unix::fs::symlink("/etc/hostname", path),
        "dangling" => std::os::unix::fs::symlink("/nowhere/at/all", path),
        "pipe" => {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0)
                .map_err(Into::into)
        }
        _ => std::fs::write(path, content),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_of_the_files_are_events() {
        let events = (0..200).filter(|number| {
            let mut dice = Dice::of_case("spool", 1, *number);
            serde_json::from_slice::<HookEvent>(&content(&mut dice, CallId([1; 16]))).is_ok()
        });
        assert!(events.count() > 60);
    }
}
