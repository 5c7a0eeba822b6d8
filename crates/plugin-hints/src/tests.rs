//! Tests of the hints through dispatch, each on a store of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use model::situation::Situation;
use model::{CallId, Caller, Code, Reply, Request, Road as _, Tier};
use runtime::Runtime;
use serde_json::{Value, json};
use testkit::Folder;

use crate::Hints;

mod bombs;
mod changes;
mod documents;
mod guard;
mod indexes;
mod lifetime;
mod moment;
mod overview;
mod queries;
mod quotas;
mod ranking;
mod refusals;
mod scenarios;
mod scope;
mod templates;
mod versions;

static COUNT: AtomicU32 = AtomicU32::new(1);

fn open(folder: &Folder) -> Runtime {
    folder.open(vec![Arc::new(Hints::default())], &[])
}

/// Calls an operation with an empty situation.
fn call(runtime: &Runtime, op: &str, params: Value) -> Reply {
    call_from(runtime, Situation::default(), op, params)
}

/// Calls an operation with this situation as the surface's observation.
fn call_from(runtime: &Runtime, situation: Situation, op: &str, params: Value) -> Reply {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let caller = Caller { tier: Tier::Person, situation, ..Caller::default() };
    runtime.call(Request { call: CallId(id), op: op.into(), params, caller })
}

fn set(runtime: &Runtime, key: &str, value: &str) -> Reply {
    call(runtime, "set_hint", json!({ "component": "web", "key": key, "value": value }))
}

fn get(runtime: &Runtime, key: &str) -> Reply {
    call(runtime, "get_hint", json!({ "component": "web", "key": key }))
}

fn code(reply: Reply) -> Code {
    reply.unwrap_err().code
}

/// Sets `web/key` with this meta.
fn set_with(runtime: &Runtime, key: &str, value: &str, meta: Value) -> Reply {
    let params = json!({ "component": "web", "key": key, "value": value, "meta": meta });
    call(runtime, "set_hint", params)
}

/// Gets `web/key` for this situation.
fn get_at(runtime: &Runtime, key: &str, context: Value) -> Reply {
    call(runtime, "get_hint", json!({ "component": "web", "key": key, "context": context }))
}

/// The values that a query finds, the best first.
fn found(runtime: &Runtime, params: Value) -> Vec<String> {
    let found = call(runtime, "query_hints", params).unwrap();
    let hints = found["hints"].as_array().unwrap().iter();
    hints.map(|hint| hint["hint"]["value"].as_str().unwrap().to_owned()).collect()
}
