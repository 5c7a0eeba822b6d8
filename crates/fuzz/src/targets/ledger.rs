//! Sequences of writes, purges, crashes and restores: a stored record is found once, a purged one in no file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::arena::{Arena, check_error};
use crate::dice::Dice;
use crate::target::{Checked, Flaw, Subject, Workbench, ensure};

#[rustfmt::skip]
const STEPS: &[&str] = &[
    "prompt", "prompt", "prompt", "command", "command", "command", "mark", "spool", "purge-words",
    "purge-id", "purge-session", "purge-literal", "pin", "kill", "stop", "maintain", "restore", "repeat",
    "end-session",
];

/// Steps as JSON: the action, and the number of the record that it is applied to.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let steps: Vec<Value> =
        (0..3 + dice.below(16)).map(|_| json!([dice.pick(STEPS), dice.below(1_000)])).collect();
    Value::from(steps).to_string().into_bytes()
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    Box::new(LedgerSubject { bench: Workbench { binary: bench.binary.clone() } })
}

struct LedgerSubject {
    bench: Workbench,
}

impl Subject for LedgerSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let mut arena = Arena::new(&self.bench);
        arena.start()?;
        let mut ledger = Ledger {
            arena,
            next: 0,
            alive: BTreeMap::new(),
            purged: BTreeSet::new(),
            restored: false,
        };
        let steps: Vec<Value> = serde_json::from_slice(input).unwrap_or_default();
        for step in &steps {
            let number = usize::try_from(step[1].as_u64().unwrap_or_default()).unwrap_or_default();
            let what = step[0].as_str().unwrap_or_default();
            ledger.step(what, number).map_err(|flaw| named(flaw, what))?;
        }
        ledger.check()
    }
}

fn named(flaw: Flaw, step: &str) -> Flaw {
    match flaw {
        Flaw::Wrong(text) => Flaw::Wrong(format!("{step}: {text}")),
        Flaw::Slow(text) => Flaw::Slow(format!("{step}: {text}")),
    }
}

/// The expected content of the store.
struct Ledger {
    arena: Arena,
    next: usize,
    /// The expected records by number, with their session.
    alive: BTreeMap<usize, String>,
    purged: BTreeSet<usize>,
    /// The database that a restore replaced is kept among the backups.
    restored: bool,
}

/// The word that identifies a record. No other record contains it.
fn word(number: usize) -> String {
    format!("ledger{number:04}q")
}

impl Ledger {
    fn step(&mut self, what: &str, number: usize) -> Checked {
        match what {
            "prompt" | "command" | "repeat" | "spool" => self.record(what, number),
            "mark" => self.mark(),
            "purge-words" | "purge-id" | "purge-session" | "purge-literal" => {
                self.purge(what, number)
            }
            "pin" => match self.some(number) {
                Some(record) => {
                    let id = self.id(record)?;
                    self.call("pin_observation", &json!({ "id": id })).map(drop)
                }
                None => Ok(()),
            },
            "kill" => {
                self.arena.kill();
                self.arena.start()
            }
            "stop" => {
                self.arena.end()?;
                self.arena.start()
            }
            "restore" => self.restore(),
            "end-session" => {
                let payload = json!({ "session_id": format!("s-{}", number % 3), "cwd": "/srv/a", "reason": "exit" });
                self.call("hook", &json!({ "event": "SessionEnd", "payload": payload })).map(drop)
            }
            _ => self.call("maintain", &json!({})).map(drop),
        }
    }

    fn call(&self, op: &str, params: &Value) -> Result<Value, Flaw> {
        self.arena.rpc(op, params).map_err(|error| match check_error(&error) {
            Err(flaw) => flaw,
            Ok(()) => Flaw::Wrong(format!("{op} {params} fails: {error}")),
        })
    }

    /// One of the expected records.
    fn some(&self, number: usize) -> Option<usize> {
        self.alive.keys().nth(number.checked_rem(self.alive.len())?).copied()
    }

    fn record(&mut self, what: &str, number: usize) -> Checked {
        // A prompt is purged with the last record that it caused, so prompts cause no records here.
        let letter = if what == "command" { "c" } else { "s" };
        let (record, session) = (self.next, format!("{letter}-{}", number % 3));
        self.next += 1;
        let mut payload = json!({ "session_id": session, "cwd": format!("/srv/p-{}", number % 2) });
        let event = if what == "command" { "PostToolUse" } else { "UserPromptSubmit" };
        match what {
            "command" => {
                payload["tool_name"] = "Bash".into();
                payload["tool_input"] = json!({ "command": format!("make {}", word(record)) });
                payload["tool_response"] = json!({ "stdout": "done" });
            }
            _ => payload["prompt"] = format!("please look at {} with care", word(record)).into(),
        }
        payload["hook_event_name"] = event.into();
        self.alive.insert(record, session);
        if what == "spool" {
            self.arena.end()?;
            self.arena.run(&["hook", event], payload.to_string().as_bytes())?;
            return self.arena.start();
        }
        let recorded = self.call("hook", &json!({ "event": event, "payload": payload }))?;
        ensure(recorded["recorded"] == true, || format!("not recorded: {recorded}"))
    }

    fn mark(&mut self) -> Checked {
        let record = self.next;
        self.next += 1;
        self.alive.insert(record, String::new());
        self.call("mark", &json!({ "text": format!("a lesson of {}", word(record)) })).map(drop)
    }

    fn purge(&mut self, what: &str, number: usize) -> Checked {
        let Some(record) = self.some(number) else { return Ok(()) };
        let session = self.alive.get(&record).cloned().unwrap_or_default();
        let mut params = match what {
            "purge-id" => json!({ "ids": [self.id(record)?] }),
            "purge-session" if !session.is_empty() => json!({ "session_id": session }),
            "purge-literal" => json!({ "literal": word(record) }),
            _ => json!({ "search": word(record) }),
        };
        params["confirm"] = true.into();
        self.call("purge", &params)?;
        let whole = params.get("session_id").is_some();
        let gone =
            self.alive.extract_if(.., |known, of| *known == record || (whole && *of == session));
        self.purged.extend(gone.map(|(record, _)| record));
        Ok(())
    }

    /// Makes a backup and restores it.
    fn restore(&mut self) -> Checked {
        let copy = self.arena.home.path(&format!("copy-{}.db", self.next));
        // A second copy under the same name is refused. The first one will do.
        let copy = copy.to_string_lossy().into_owned();
        self.arena.run(&["backup", &copy, "--json"], b"")?;
        self.arena.end()?;
        let run = self.arena.run(&["restore", &copy, "--json"], b"")?;
        ensure(run.code == 0, || format!("restore fails: {}{}", run.stdout, run.stderr))?;
        // Later purges do not change backups, so a purged record would be found in the copy.
        let _ = std::fs::remove_file(&copy);
        self.restored = true;
        self.arena.start()
    }

    /// The id of a record. There has to be exactly one, not counting session summaries.
    fn id(&self, record: usize) -> Result<u64, Flaw> {
        let hits = self.hits(record)?;
        match hits.as_slice() {
            [id] => Ok(*id),
            _ => Err(Flaw::Wrong(format!("record {record} has the hits {hits:?}"))),
        }
    }

    fn hits(&self, record: usize) -> Result<Vec<u64>, Flaw> {
        let found = self.call("search", &json!({ "query": word(record), "project": "*" }))?;
        let results = found["results"].as_array().cloned().unwrap_or_default();
        // A word without a match is searched as a prefix.
        let has = |hit: &Value| {
            hit["content_preview"].as_str().is_some_and(|text| text.contains(&word(record)))
        };
        let own = results.iter().filter(|hit| hit["obs_type"] != "session_summary" && has(hit));
        Ok(own.filter_map(|hit| hit["id"].as_u64()).collect())
    }

    /// Checks that every record is found once, and that purged ones are in no file.
    fn check(mut self) -> Checked {
        for record in self.alive.keys() {
            self.id(*record)?;
        }
        for record in &self.purged {
            let hits = self.hits(*record)?;
            ensure(hits.is_empty(), || format!("record {record} was purged and has {hits:?}"))?;
        }
        self.arena.check_daemon()?;
        let code = self.arena.end()?;
        ensure(code == Some(0), || format!("the daemon ends with {code:?}"))?;
        let kept = self.restored.then(|| self.arena.home.locations().backups());
        for (path, bytes) in self.arena.home.files() {
            if kept.as_ref().is_some_and(|backups| path.starts_with(backups)) {
                continue;
            }
            let text = String::from_utf8_lossy(&bytes);
            let trace = self.purged.iter().find(|record| text.contains(&word(**record)));
            ensure(trace.is_none(), || format!("{} still has purged {trace:?}", path.display()))?;
        }
        Ok(())
    }
}
