//! Queries with operators and filters over a filled store, by RPC and by command.

use serde_json::{Value, json};

use super::query::typed;
use crate::arena::{Arena, check_error};
use crate::dice::Dice;
use crate::grammar;
use crate::target::{Checked, Subject, Workbench, ensure};

/// Number of records in the store besides the control record.
const RECORDS: u64 = 60;

/// Parameters of `search` as JSON.
pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let query = String::from_utf8_lossy(&typed(dice)).into_owned();
    let mut params = json!({ "query": query, "project": "*" });
    let filters: [(&str, Value); 12] = [
        (
            "obs_type",
            (*dice.pick(&["user_prompt", "command", "file_edit", "error", "x", ""])).into(),
        ),
        ("session_id", (*dice.pick(&["control", "s-1", "", "%", "'"])).into()),
        ("file_path", (*dice.pick(&["/srv/a.rs", "a.rs", "*", "%", "../x", "src/**", ""])).into()),
        ("agent", (*dice.pick(&["claude-code", "codex", "x"])).into()),
        ("failed", dice.one_in(2).into()),
        ("before", (*dice.pick(&["1h", "2026-01-01", "9999-12-31T23:59:59Z", "-5", "x"])).into()),
        ("after", (*dice.pick(&["1h", "1970-01-01", "0", "x"])).into()),
        ("limit", (*dice.pick(&[0, 1, 5, 100, 101, -1])).into()),
        ("offset", (*dice.pick(&[0, 1, 50, 1_000_000, -1])).into()),
        ("order_by", (*dice.pick(&["relevance", "recency", "smart", "x"])).into()),
        ("diverse", dice.one_in(2).into()),
        ("explain", dice.one_in(2).into()),
    ];
    for (name, value) in filters {
        if dice.one_in(5) {
            params[name] = value;
        }
    }
    params.to_string().into_bytes()
}

pub(crate) fn open(bench: &Workbench) -> Box<dyn Subject> {
    let arena = Arena::with_control(bench);
    for number in 0..RECORDS {
        let mut dice = Dice::of_case("search records", 0, number);
        let words =
            format!("docker compose auth {} src/main.rs {}", number, grammar::text(&mut dice));
        let payload = json!({
            "session_id": format!("s-{}", number % 7), "cwd": "/srv/a", "hook_event_name": "UserPromptSubmit", "prompt": words,
        });
        let params = json!({ "event": "UserPromptSubmit", "payload": payload });
        if let Err(error) = arena.rpc("hook", &params) {
            panic!("a record was not stored: {error}");
        }
    }
    Box::new(SearchSubject { arena })
}

struct SearchSubject {
    arena: Arena,
}

impl Subject for SearchSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        let params: Value = serde_json::from_slice(input).unwrap_or_else(|_| json!({}));
        let reply = self.arena.rpc("search", &params);
        let listed = match &reply {
            Err(error) => return check_error(error),
            Ok(found) => found["results"].as_array().cloned(),
        };
        let listed = listed.unwrap_or_else(|| panic!("no list of results: {reply:?}"));
        let most = params["limit"].as_u64().unwrap_or(20).clamp(1, 100);
        let count = u64::try_from(listed.len()).unwrap_or(u64::MAX);
        ensure(count <= most, || format!("{count} results, wanted were {most}"))?;
        let mut ids: Vec<u64> = listed.iter().filter_map(|hit| hit["id"].as_u64()).collect();
        ids.sort_unstable();
        ids.dedup();
        ensure(ids.len() == listed.len(), || format!("a result is listed twice: {listed:?}"))?;
        for (filter, member) in [("session_id", "session_id"), ("obs_type", "obs_type")] {
            let Some(wanted) = params.get(filter).filter(|wanted| **wanted != "") else { continue };
            let other = listed.iter().find(|hit| hit[member] != *wanted);
            ensure(other.is_none(), || format!("{filter} {wanted} lists {other:?}"))?;
        }
        let query = params["query"].as_str().unwrap_or_default();
        // The command asks the same daemon. It is slower, so only few queries use it.
        if query.len().is_multiple_of(8) && !query.contains('\0') {
            let run = self.arena.run(&["search", "--json", "--", query], b"")?;
            let printed = serde_json::from_str::<Value>(&run.stdout);
            ensure(run.code == 2 || printed.is_ok(), || format!("search prints {}", run.stdout))?;
        }
        self.arena.check_daemon()?;
        self.arena.check_control()
    }
}
