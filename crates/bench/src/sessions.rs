//! The first page of the list of sessions, among many sessions and among few.

use std::path::PathBuf;
use std::time::Instant;

use contract::Config;
use model::OpError;
use model::hook::HookEvent;
use runtime::log::Log;
use runtime::{Runtime, RuntimeSetup};
use serde_json::{Map, Value, json};

use crate::dispatch::{median, places, request};

const SESSIONS_MANY: usize = 10_000;
const SESSIONS_FEW: usize = 100;
/// Actions of each session.
const ACTIONS: usize = 10;
const PROJECTS: usize = 20;
/// Sessions that share a transaction.
const SESSIONS_PER_WRITE: usize = 100;
/// Consecutive calls of one kind; the kinds take turns, so that other load affects all of them equally.
const CALLS_PER_ROUND: usize = 10;
/// A time in the past, so that nothing is too old to be kept.
const AGE_MS: i64 = 20 * 86_400_000;

/// The measured calls. A page of the few sessions has as many rows as one of the many.
const KINDS: [(&str, &str, usize); 2] =
    [("list_sessions", "list_sessions", 20), ("overview", "sessions_overview", SESSIONS_FEW)];

/// Median microseconds of the first page, among many sessions and among few.
pub(crate) fn figures(calls: usize) -> Result<Map<String, Value>, OpError> {
    let tokio = crate::threads::tokio_runtime()?;
    let few = SessionBench::open("few", SESSIONS_FEW)?;
    let many = SessionBench::open("many", SESSIONS_MANY)?;
    let mut figures = Map::new();
    for (name, op, limit) in KINDS {
        let mut times: [Vec<f64>; 2] = Default::default();
        for _ in (0..calls).step_by(CALLS_PER_ROUND) {
            for (bench, times) in [&many, &few].into_iter().zip(&mut times) {
                for _ in 0..CALLS_PER_ROUND {
                    let request = request(op, json!({ "project": "*", "limit": limit }));
                    let started = Instant::now();
                    let reply = tokio.block_on(bench.runtime.call_async(request));
                    times.push(started.elapsed().as_secs_f64() * 1e6);
                    let count = reply?["sessions"].as_array().map_or(0, Vec::len);
                    if count != limit {
                        let message = format!("{op} listed {count} sessions");
                        return Err(OpError::internal(message));
                    }
                }
            }
        }
        let [many, few] = times.map(|mut times| median(&mut times));
        figures.insert(name.to_owned(), json!({ "ours": many, "few": few }));
    }
    Ok(figures)
}

/// A runtime with sessions in a directory of its own, which is deleted on drop.
struct SessionBench {
    runtime: Runtime,
    folder: PathBuf,
}

impl SessionBench {
    fn open(name: &str, sessions: usize) -> Result<SessionBench, OpError> {
        let name = format!("rekindle-bench-sessions-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let (kit, locations) = (program::kit(), places(&folder));
        let config = Config::defaults(kit.table.config_keys());
        let setup = RuntimeSetup { kit, locations, config, one_shot: false, log: Log::none() };
        let bench = SessionBench { runtime: Runtime::open(setup)?, folder };
        let numbers: Vec<usize> = (0..sessions).collect();
        for numbers in numbers.chunks(SESSIONS_PER_WRITE) {
            let events = numbers.iter().flat_map(|number| work(*number));
            bench.runtime.ingest(events.collect::<Result<_, _>>()?)?;
        }
        Ok(bench)
    }
}

impl Drop for SessionBench {
    fn drop(&mut self) {
        self.runtime.close();
        // A directory that cannot be deleted is in the temporary directory anyway.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The events of a session: its start, a prompt, its actions and the end of the turn.
fn work(number: usize) -> Vec<Result<HookEvent, OpError>> {
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    let prompt = json!({
        "hook_event_name": "UserPromptSubmit", "prompt": format!("Repair part {number} of the shop"),
    });
    let action = |action: usize| {
        json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": { "command": format!("make part{number} step{action}") },
            "tool_response": { "stdout": "done", "stderr": "" } })
    };
    let stop = json!({ "hook_event_name": "Stop" });
    let events = [start, prompt].into_iter().chain((0..ACTIONS).map(action)).chain([stop]);
    let base = client::clock::now_ms() - AGE_MS + i64::try_from(number * 100).unwrap_or_default();
    let payload = |(place, mut event): (i64, Value)| {
        event["session_id"] = json!(format!("bench-{number:06}"));
        event["cwd"] = json!(format!("/srv/bench/p{}", number % PROJECTS));
        agents::extract(None, None, &(&event).into(), client::mint(), base + place)
    };
    (0..).zip(events).map(payload).collect()
}
