//! Hook payloads through `rekindle hook`, `POST /hook/EVENT` and the operation, and then the database.

use serde_json::{Value, json};

use super::payload;
use crate::arena::{Arena, check_error, check_rest_error};
use crate::dice::Dice;
use crate::target::{Checked, Flaw, Subject, Workbench, ensure};

/// The route of the event on the first line, then the input for [`payload::apart`].
const WAYS: [&str; 4] = ["process", "http", "rpc", "spool"];

pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let way = *dice.pick(&WAYS);
    let mut input = format!("{way}\n").into_bytes();
    input.extend(payload::generate(dice));
    input
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    Box::new(HookSubject { arena: Arena::with_control(bench) })
}

struct HookSubject {
    arena: Arena,
}

impl Subject for HookSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
        let way = String::from_utf8_lossy(&input[..end]).into_owned();
        let rest = input.get(end + 1..).unwrap_or_default();
        let (agent, event, payload) = payload::apart(rest);
        // A command line argument cannot be empty or contain a NUL, and a part of a URL path cannot contain a slash.
        let plain: String =
            event.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
        let event = if plain.is_empty() { "PostToolUse" } else { plain.as_str() };
        match way.as_str() {
            "http" => self.over_http(event, payload)?,
            "rpc" => self.over_rpc(&agent, event, payload)?,
            "spool" => self.through_spool(&agent, event, payload)?,
            _ => self.by_process(&agent, event, payload)?,
        }
        self.arena.check_daemon()?;
        self.arena.check_control()?;
        self.arena.check_secrets()
    }
}

impl HookSubject {
    fn by_process(&self, agent: &str, event: &str, payload: &[u8]) -> Checked {
        let mut args = vec!["hook", event];
        if !agent.is_empty() && !agent.contains('\0') {
            args.extend(["--agent", agent]);
        }
        let run = self.arena.run(&args, payload)?;
        ensure(run.stderr.is_empty(), || format!("the hook complains: {}", run.stderr))?;
        let silent = run.stdout.is_empty() || serde_json::from_str::<Value>(&run.stdout).is_ok();
        // Claude Code accepts plain text, too, so only control characters are an error.
        let acts = |c: char| c.is_control() && c != '\n';
        ensure(silent || !run.stdout.contains(acts), || format!("the hook says {:?}", run.stdout))
    }

    fn over_http(&self, event: &str, payload: &[u8]) -> Checked {
        let response = self.arena.http().post(&format!("/hook/{event}"), payload);
        let is_known = matches!(response.status, 200 | 400 | 404 | 413);
        ensure(is_known, || format!("{}: {}", response.status, response.text()))?;
        let reply: Value = serde_json::from_slice(&response.body)
            .map_err(|error| Flaw::Wrong(format!("{error}: {}", response.text())))?;
        if response.status == 200 { Ok(()) } else { check_rest_error(&reply) }
    }

    fn over_rpc(&self, agent: &str, event: &str, payload: &[u8]) -> Checked {
        let Ok(payload) = serde_json::from_slice::<Value>(payload) else { return Ok(()) };
        let mut params = json!({ "event": event, "payload": payload });
        if !agent.is_empty() {
            params["agent"] = agent.into();
        }
        self.arena.rpc("hook", &params).map_or_else(|error| check_error(&error), |_| Ok(()))
    }

    /// Without a daemon the event is spooled, and the next daemon ingests it.
    fn through_spool(&mut self, agent: &str, event: &str, payload: &[u8]) -> Checked {
        let code = self.arena.end()?;
        ensure(code == Some(0), || format!("the daemon ends with {code:?}"))?;
        self.by_process(agent, event, payload)?;
        self.arena.check_secrets()?;
        self.arena.start()?;
        // Any read ingests the spool first.
        self.arena.check_control()?;
        let left = self.arena.home.spooled();
        let left: Vec<_> = left.iter().filter(|path| path.is_file()).collect();
        ensure(left.is_empty(), || format!("an event is left in the spool: {left:?}"))
    }
}
