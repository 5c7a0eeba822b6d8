//! Tests of the operations that decide what is kept, through dispatch, each on a store of its own.

mod caring;
mod forgetting;
mod marking;
mod pausing;
mod projects;
mod scrubbing;

use std::path::Path;

use contract::{Access, Cx, Op, OpError, OpInfo, Operation, Plugin as _};
use model::CallId;
use model::hook::{Happening, HookEvent, ToolUse};
use model::observation::ObsType;
use place::{Captured, Places};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use text::secrets::{Profile, redact, redact_json};

use super::reading::World;
use crate::Observations;

/// A word that only the rules for captured text treat as a secret.
const RANDOM: &str = "q9Zt3kX7mB2vLp8RwN4cYd6H";

/// Ingests an event that a guard with fewer rules let through.
struct Leak;

#[derive(Deserialize, JsonSchema)]
struct Leaked {
    cwd: String,
    at: i64,
    content: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    prompt: bool,
}

impl Op for Leak {
    const INFO: OpInfo = OpInfo {
        name: "leak",
        access: Access::Write { destructive: false, idempotent: false },
        ..OpInfo::BASE
    };
    type Params = Leaked;
    type Output = Value;

    fn run(&self, cx: &Cx<'_>, leaked: Leaked) -> Result<Value, OpError> {
        let safe = |text: &str| redact(text, Profile::Declared);
        let what = if leaked.prompt {
            Happening::Prompted(safe(&leaked.content))
        } else {
            Happening::ToolUsed(ToolUse {
                tool: "Tool".into(),
                obs_type: ObsType::FileEdit,
                content: safe(&leaked.content),
                file_path: leaked.path.as_deref().map(safe),
                metadata: redact_json(leaked.metadata, Profile::Declared),
                command: None,
                failed: false,
            })
        };
        let event = HookEvent {
            model: None,
            stood: None,
            id: CallId([7; 16]),
            at: leaked.at,
            agent: "claude-code".into(),
            name: "PostToolUse".into(),
            session: "s-leak".into(),
            cwd: Some(redact(&leaked.cwd, Profile::Strict)),
            prompt_id: None,
            agent_id: None,
            tool_use_id: None,
            transcript: None,
            what,
        };
        let config = cx.config.clone();
        cx.store.write(move |tx| {
            let places = Places::new(None);
            let captured = Captured::resolve(tx, &event, &places, &[])?;
            let captured = captured.expect("nothing is excluded");
            Observations.observe(&captured, tx, &config).map(|()| json!({}))
        })
    }
}

/// A store with an operation that stores secrets.
fn leaky() -> World {
    World::with(|| vec![Operation::new(Leak)])
}

/// Whether any file of the store has this word in it: database, log, index of the log, spool.
fn files_hold(world: &World, word: &str) -> bool {
    fn below(folder: &Path, word: &[u8]) -> bool {
        std::fs::read_dir(folder).unwrap().any(|entry| {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => below(&path, word),
                // A socket cannot be read, and contains no text.
                false => std::fs::read(&path)
                    .is_ok_and(|bytes| bytes.windows(word.len()).any(|part| part == word)),
            }
        })
    }
    below(&world.local.folder.path, word.as_bytes())
}
