//! Learning over a generated store with 5,000 experiences and 5,000 memories: calls beside a search and beside a hint, and
//! hooks beside those of a copy of the store where `learning.hooks` is off.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use model::ghap::{
    ConfidenceTier, GhapDomain, GhapOutcome, GhapStrategy, Lesson, Resolution, RootCause,
    RootCauseCategory,
};
use model::hook::HookEvent;
use model::locations::Locations;
use model::memory::MemoryCategory;
use model::{OpError, limits};
use place::{Captured, Places};
use serde_json::{Map, Value, json};
use store::ghaps::{self, NewGhap};
use store::memories::{self, NewMemory};
use store::{Store, Tx, Write};
use text::secrets::{self, Profile};

use super::corpus::{self, MadeCorpus};
use super::make::{SEED, event, keeping_everything, options};
use super::read::{CWD, StoreBench, at, lock};
use crate::dispatch::places;

/// Experiences, and memories, that are added to the store.
const ITEMS: usize = 5_000;
/// Items that share a transaction.
const ITEMS_PER_WRITE: usize = 500;
/// Consecutive calls of one kind; the kinds take turns, so that other load affects all of them equally.
const CALLS_PER_ROUND: usize = 10;
/// Events of a batch, and how many batches each side ingests for each measured call.
const EVENTS_PER_BATCH: usize = 400;

/// A call that is measured: its operation, and the parameters of the n-th one.
type LearningCall<'a> = (&'static str, Box<dyn Fn(usize) -> Value + 'a>);

/// Measures this many calls of each kind, in milliseconds: ours, and the one that it is compared with.
pub(crate) fn learning(calls: usize) -> Result<Value, OpError> {
    let on = client::platform::locations(None);
    let _lock = lock(&on)?;
    fill(&on)?;
    let copy = StoreCopy::of(&on)?;
    let mut without = keeping_everything(&program::kit().table)?;
    let kit = program::kit();
    let key = kit.table.config_keys().iter().find(|key| key.key == "learning.hooks");
    let key = key.ok_or_else(|| OpError::internal("no setting is called learning.hooks"))?;
    without.set(key, "false").map_err(|why| OpError::invalid("learning.hooks", why))?;
    let on = StoreBench::open(&on, keeping_everything(&program::kit().table)?)?;
    let off = StoreBench::open(&copy.locations, without)?;
    let figures = figures(&on, &off, calls);
    on.runtime.close();
    off.runtime.close();
    figures.map(Value::Object)
}

fn figures(on: &StoreBench, off: &StoreBench, calls: usize) -> Result<Map<String, Value>, OpError> {
    let mut corpus = MadeCorpus::new(SEED + 3_000, 1, 0);
    let asked: Vec<String> = (0..calls).map(|_| corpus.query()).collect();
    let asked = &asked;
    let words = |number: usize| asked.get(number % asked.len().max(1)).cloned().unwrap_or_default();
    let question = |number| json!({ "query": words(number), "project": "*" });
    let search: LearningCall<'_> = ("search", Box::new(question));
    let hint: LearningCall<'_> = (
        "set_hint",
        Box::new(
            |n| json!({ "component": "bench", "key": format!("k{}", n % 100), "value": format!("make {n}") }),
        ),
    );
    let start: LearningCall<'_> = ("start_ghap", Box::new(|n| ghap(n, &words(n))));
    let memory = |n| json!({ "content": format!("{} {n}", words(n)), "category": "fact", "session_id": "bench-m" });
    // An agent's hooks record a session before its model calls a tool.
    for number in 0..calls {
        on.call("start_session", json!({ "session_id": ghap_session(number) }))?;
    }
    let mut figures = Map::new();
    for (name, ours, beside) in [
        (
            "assemble_context",
            &("assemble_context", Box::new(question) as Box<dyn Fn(usize) -> Value + '_>),
            &search,
        ),
        ("start_ghap", &start, &hint),
        (
            "check_in",
            &("check_in", Box::new(|_| json!({ "session_id": "bench-c" })) as Box<_>),
            &hint,
        ),
        ("store_memory", &("store_memory", Box::new(memory) as Box<_>), &hint),
    ] {
        figures.insert(name.to_owned(), compared([(on, ours), (on, beside)], calls)?);
    }
    let session = |number: usize| {
        let payload = json!({ "session_id": corpus::name(usize::MAX / 2 + number), "cwd": CWD,
            "hook_event_name": "SessionStart", "source": "startup" });
        json!({ "payload": payload })
    };
    let briefing: LearningCall<'_> = ("hook", Box::new(session));
    let measured = compared([(on, &briefing), (off, &briefing)], calls.div_ceil(4))?;
    figures.insert("session_start".to_owned(), measured);
    figures.insert("events".to_owned(), ingested([on, off], calls.div_ceil(CALLS_PER_ROUND))?);
    Ok(figures)
}

fn ghap_session(number: usize) -> String {
    format!("bench-g{number}")
}

fn ghap(number: usize, words: &str) -> Value {
    json!({
        "domain": "debugging", "strategy": "read-the-error", "goal": format!("Find why {words} fails"),
        "hypothesis": format!("The {words} is out of date"), "action": format!("Renew the {words}"),
        "prediction": "The tests pass", "session_id": ghap_session(number),
    })
}

/// Median milliseconds of both kinds of calls, which take turns.
fn compared(sides: [(&StoreBench, &LearningCall<'_>); 2], calls: usize) -> Result<Value, OpError> {
    let mut times: [Vec<f64>; 2] = Default::default();
    for first in (0..calls).step_by(CALLS_PER_ROUND) {
        for ((bench, (op, params)), times) in sides.iter().zip(&mut times) {
            for number in first..(first + CALLS_PER_ROUND).min(calls) {
                let params = params(number);
                let began = Instant::now();
                bench.call(op, params)?;
                times.push(began.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    let [ours, beside] = times.map(|mut times| at(&mut times, 50));
    Ok(json!({ "ours": ours, "beside": beside }))
}

/// Events per second of both stores, which take turns. As agents send them, an event precedes each tool use.
fn ingested(sides: [&StoreBench; 2], batches: usize) -> Result<Value, OpError> {
    let now = client::clock::now_ms();
    let uses = batches * EVENTS_PER_BATCH;
    let mut times = [0.0; 2];
    let mut corpora =
        [(); 2].map(|()| MadeCorpus::new(SEED + 4_000, uses, now).starting_at(1 << 20));
    let mut count = 0;
    for _ in 0..batches {
        for ((bench, corpus), time) in sides.iter().zip(&mut corpora).zip(&mut times) {
            let mut events: Vec<HookEvent> = Vec::new();
            for happened in corpus.by_ref().take(EVENTS_PER_BATCH) {
                if happened.payload["tool_name"].is_string() {
                    let mut before = happened.payload.clone();
                    before["hook_event_name"] = "PreToolUse".into();
                    let call = client::mint();
                    events.push(agents::extract(None, None, &(&before).into(), call, happened.at)?);
                }
                events.push(event(&happened)?);
            }
            count += events.len();
            let began = Instant::now();
            bench.runtime.ingest(events)?;
            *time += began.elapsed().as_secs_f64();
        }
    }
    let rate = |time: f64| (count / 2) as f64 / time.max(f64::MIN_POSITIVE);
    Ok(json!({ "ours": rate(times[0]), "beside": rate(times[1]) }))
}

/// A copy of a store in a directory of its own, which is deleted on drop.
struct StoreCopy {
    locations: Locations,
    folder: PathBuf,
}

impl StoreCopy {
    fn of(original: &Locations) -> Result<StoreCopy, OpError> {
        let name = format!("rekindle-bench-learning-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let copy = StoreCopy { locations: places(&folder), folder };
        let failed = |error: std::io::Error| OpError::unavailable(format!("cannot copy: {error}"));
        let parent = copy.locations.database.parent().unwrap_or(&copy.folder);
        std::fs::create_dir_all(parent).map_err(failed)?;
        std::fs::copy(&original.database, &copy.locations.database).map_err(failed)?;
        Ok(copy)
    }
}

impl Drop for StoreCopy {
    fn drop(&mut self) {
        // A directory that cannot be deleted is in the temporary directory anyway.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Adds the experiences and the memories.
fn fill(locations: &Locations) -> Result<(), OpError> {
    let store = Store::open(options(locations), Box::new(|_, _| Ok(())), Box::new(|_| ()))?;
    let now = client::clock::now_ms();
    let payload = json!({ "session_id": "bench-learned", "cwd": CWD,
        "hook_event_name": "SessionStart", "source": "startup" });
    let first = agents::extract(None, None, &(&payload).into(), client::mint(), now)?;
    let places = Arc::new(Places::new(None));
    let mut corpus = MadeCorpus::new(SEED + 5_000, 1, 0);
    let texts: Vec<[String; 3]> =
        (0..ITEMS).map(|_| std::array::from_fn(|_| corpus.question())).collect();
    for batch in texts.chunks(ITEMS_PER_WRITE) {
        let (batch, first, places) = (batch.to_vec(), first.clone(), places.clone());
        store.write(Write { at: now, ..Write::default() }, move |tx| {
            let captured = Captured::resolve(tx, &first, &*places, &[])?;
            let captured = captured.ok_or_else(|| OpError::internal("nothing is captured"))?;
            let place = (captured.session.id, captured.project.id, now);
            batch.iter().try_for_each(|texts| learned(tx, texts, place))
        })?;
    }
    store.catch_up(limits::CARE_DEADLINE);
    store.close();
    Ok(())
}

/// Adds an experience and a memory with these texts.
fn learned(
    tx: &Tx<'_>,
    [one, two, three]: &[String; 3],
    (session, project, at): (i64, i64, i64),
) -> Result<(), OpError> {
    let new = NewGhap {
        owner: session,
        project,
        root: Some(CWD),
        at,
        domain: GhapDomain::Debugging,
        strategy: GhapStrategy::RootCauseAnalysis,
        goal: one,
        hypothesis: two,
        action: three,
        prediction: one,
    };
    let name = ghaps::start(tx, &new)?;
    let started = ghaps::by_name(tx, &name)?;
    let started = started.ok_or_else(|| OpError::internal("no ghap was started"))?;
    let resolution = Resolution {
        outcome: GhapOutcome::Falsified,
        result: two.clone(),
        surprise: Some(three.clone()),
        root_cause: Some(RootCause {
            category: RootCauseCategory::Oversight,
            description: two.clone(),
        }),
        lesson: Some(Lesson { takeaway: Some(one.clone()), what_worked: three.clone() }),
    };
    ghaps::resolve(tx, &started, &resolution, (ConfidenceTier::Silver, at))?;
    let content = secrets::redact(format!("{one} {three}").as_str(), Profile::Declared);
    let memory = NewMemory {
        project,
        stored_in: Some(session),
        root: Some(CWD),
        at,
        category: MemoryCategory::Fact,
        importance: 0.5,
        tags: &[],
        content: &content,
    };
    memories::add(tx, &memory).map(drop)
}
