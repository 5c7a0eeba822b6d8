//! Command lines: any arguments lead to a known exit code, readable output, and valid JSON with `--json`.

use serde_json::Value;

use crate::arena::Arena;
use crate::dice::Dice;
use crate::grammar;
use crate::target::{Checked, Subject, Workbench, ensure};

#[rustfmt::skip]
const COMMANDS: &[&[&str]] = &[
    &["search"], &["recent"], &["show"], &["timeline"], &["trace"], &["similar"], &["history"],
    &["summaries"], &["sessions"], &["stats"], &["mark"], &["pin"], &["unpin"], &["get"], &["briefing"],
    &["receipts"], &["status"], &["doctor"], &["ops"], &["call"], &["config"], &["config", "get"],
    &["config", "path"], &["hint"], &["hint", "get"], &["hint", "set"], &["hint", "list"],
    &["hint", "query"], &["hint", "delete"], &["hint", "export"], &["hint", "import"], &["project"],
    &["project", "list"], &["agents"], &["logs"], &["completions"], &["help"], &["purge"], &["scrub"],
    &["restore"], &["eval"], &["hook"], &["record"], &["x"], &[],
];
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "--json", "--help", "--limit", "--project", "--before", "--after", "--db", "--agent", "--", "-", "-h",
    "-V", "--x", "-xyz", "*", "1", "-1", "0", "99999999999999999999", "2026-01-01", "web", "build", "bash",
    "zsh", "{}", "{\"a\":1}", "[", "docker AND compose", "\"", "no-such-file", "data", "data/token",
    "data/rekindle.db", "obs://1", "hint://web/build", "session://control", "", " ", "\u{1b}[31m",
    "\u{202e}x", "é", "--dry-run", "--type", "--session", "--order", "--explain", "set_hint", "search",
    "PostToolUse", "--limit=5",
];

/// Words and flags as a JSON list, without commands that do not end, prompt, or write outside of the home.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let mut words: Vec<String> =
        dice.pick(COMMANDS).iter().map(|word| (*word).to_owned()).collect();
    for _ in 0..dice.few(7) {
        words.push(match dice.one_in(6) {
            true => grammar::text(dice).replace('\0', ""),
            false => (*dice.pick(WORDS)).to_owned(),
        });
    }
    // Another database may be created in the home, but not elsewhere.
    for at in 1..words.len() {
        if words[at - 1] == "--db" || words[at].starts_with("--db") {
            words[at] = "--json".to_owned();
        }
    }
    Value::from(words).to_string().into_bytes()
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    Box::new(CliSubject { arena: Arena::with_control(bench) })
}

struct CliSubject {
    arena: Arena,
}

impl Subject for CliSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let words: Vec<String> = serde_json::from_slice(input).unwrap_or_default();
        let words: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| !word.contains('\0')).collect();
        let run = self.arena.run(&words, b"{}")?;
        let printed = format!("{}{}", run.stdout, run.stderr);
        let acts = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}')
        };
        // A completion script may contain control characters.
        let is_script = words.contains(&"completions");
        ensure(is_script || !printed.contains(acts), || format!("{words:?} prints {printed:?}"))?;
        let refused = run.code != 0 && printed.trim().is_empty();
        ensure(!refused, || format!("{words:?} exits with {} and says nothing", run.code))?;
        self.arena.check_daemon()?;
        self.arena.check_control()
    }
}
