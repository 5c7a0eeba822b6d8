//! Calls over a store of observations, through dispatch, compared with bare SQL statements on the same file.

use std::time::Instant;

use contract::Config;
use model::locations::Locations;
use model::situation::Situation;
use model::{Caller, OpError, Request, Tier, limits, time};
use runtime::log::Log;
use runtime::{Runtime, RuntimeSetup};
use serde_json::{Map, Value, json};
use server::lock::Lock;
use store::bare::Bare;

use super::corpus::{self, MadeCorpus};
use super::make::{SEED, keeping_everything};

/// The caller's directory: one of the projects.
pub(super) const CWD: &str = "/srv/bench/shop";
/// Consecutive calls of one kind; the kinds take turns, so that other load affects all of them equally.
const CALLS_PER_ROUND: usize = 10;
/// The bare statement for statistics reads every record, so it runs once for this many runs of the others.
const GROUPED_ONE_IN: usize = 25;
/// Days that statistics cover.
const STATS_DAYS: i64 = 90;
/// Ids that one call requests.
const IDS: usize = 3;

/// Measures this many calls of each kind: milliseconds of ours and of the bare statements.
pub(crate) fn read(calls: usize) -> Result<Value, OpError> {
    let locations = client::platform::locations(None);
    let _lock = lock(&locations)?;
    let bench = StoreBench::open(&locations, keeping_everything(&program::kit().table)?)?;
    let figures = bench.figures(calls);
    bench.runtime.close();
    figures.map(Value::Object)
}

/// Keeps daemons from starting while the store is measured.
pub(super) fn lock(locations: &Locations) -> Result<Lock, OpError> {
    let lock = Lock::try_take(locations)?;
    lock.ok_or_else(|| OpError::unavailable("a daemon serves this database"))
}

/// The store of this home, through the runtime and as a bare database.
pub(super) struct StoreBench {
    pub(super) runtime: Runtime,
    pub(super) bare: Bare,
    tokio: tokio::runtime::Runtime,
}

/// A call and the equivalent bare statements.
struct MeasuredCall {
    op: &'static str,
    params: Value,
    bare: Statements,
}

enum Statements {
    Records(Vec<i64>),
    Around(i64),
    MadeSession(String),
    File(String),
    Recent(Vec<i64>),
    Search(Vec<String>),
    Grouped(i64),
}

impl StoreBench {
    pub(super) fn open(locations: &Locations, config: Config) -> Result<StoreBench, OpError> {
        let setup = RuntimeSetup {
            kit: program::kit(),
            locations: locations.clone(),
            config,
            one_shot: false,
            log: Log::none(),
        };
        Ok(StoreBench {
            runtime: Runtime::open(setup)?,
            bare: Bare::open(&locations.database)?,
            tokio: crate::threads::tokio_runtime()?,
        })
    }

    fn figures(&self, calls: usize) -> Result<Map<String, Value>, OpError> {
        let known = self.known()?;
        let mut corpus = MadeCorpus::new(SEED + 1_000, 1, 0);
        let kinds: [(&str, Vec<MeasuredCall>); 8] = [
            ("briefing", (0..calls.div_ceil(4)).map(|n| known.briefing(n)).collect()),
            ("recent_context", (0..calls.div_ceil(2)).map(|n| known.recent(n)).collect()),
            ("get_observations", (0..calls).map(|n| known.records(n)).collect()),
            ("timeline", (0..calls).map(|n| known.timeline(n)).collect()),
            ("session_trace", (0..calls).map(|n| known.trace(n)).collect()),
            ("file_history", (0..calls).map(|n| known.file(n)).collect()),
            ("search", (0..calls).map(|_| search(&corpus.query())).collect()),
            ("activity_stats", (0..calls.div_ceil(GROUPED_ONE_IN)).map(|_| stats()).collect()),
        ];
        let mut times: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); kinds.len()];
        let mut asked: Vec<_> =
            kinds.iter().map(|(_, asked)| asked.chunks(CALLS_PER_ROUND)).collect();
        loop {
            let mut went_on = false;
            for (chunks, (ours, bare)) in asked.iter_mut().zip(&mut times) {
                if let Some(chunk) = chunks.next() {
                    went_on = true;
                    self.round(chunk, ours, bare)?;
                }
            }
            if !went_on {
                break;
            }
        }
        let figure = |((name, _), (mut ours, mut bare)): (&(&str, _), (Vec<f64>, Vec<f64>))| {
            let p95 = at(&mut ours, 95);
            let figure =
                json!({ "ours": at(&mut ours, 50), "p95": p95, "bare": at(&mut bare, 50) });
            ((*name).to_owned(), figure)
        };
        Ok(kinds.iter().zip(times).map(figure).collect())
    }

    fn round(
        &self,
        asked: &[MeasuredCall],
        ours: &mut Vec<f64>,
        bare: &mut Vec<f64>,
    ) -> Result<(), OpError> {
        for one in asked {
            let started = Instant::now();
            self.call(one.op, one.params.clone())?;
            ours.push(started.elapsed().as_secs_f64() * 1e3);
        }
        for one in asked {
            let started = Instant::now();
            self.issue(&one.bare)?;
            bare.push(started.elapsed().as_secs_f64() * 1e3);
        }
        Ok(())
    }

    pub(super) fn call(&self, op: &str, params: Value) -> Result<Value, OpError> {
        let situation = Situation { cwd: Some(CWD.to_owned()), ..Situation::default() };
        // A client waits for every answer, however late; a hook would not.
        let caller = Caller { tier: Tier::Client, situation, ..Caller::default() };
        let request = Request { call: client::mint(), op: op.to_owned(), params, caller };
        self.tokio.block_on(self.runtime.call_async(request))
    }

    fn issue(&self, statements: &Statements) -> Result<usize, OpError> {
        match statements {
            Statements::Records(ids) => self.bare.records(ids),
            Statements::Around(id) => self.bare.around(*id, limits::TIMELINE_SIDE_DEFAULT),
            Statements::MadeSession(name) => self.bare.session(name),
            Statements::File(path) => self.bare.file(path, limits::FILE_TOUCHES_DEFAULT),
            Statements::Recent(ids) => self.bare.recent(ids),
            Statements::Grouped(from) => self.bare.grouped(*from),
            Statements::Search(words) => self.bare.search(words, limits::SEARCH_DEFAULT),
        }
    }

    /// Parameters for the calls: observations from all over the store.
    fn known(&self) -> Result<KnownParams, OpError> {
        let recent = self.call("recent_context", json!({ "project": "*", "limit": 100 }))?;
        let list = recent["results"].as_array().cloned().unwrap_or_default();
        let newest = list.iter().filter_map(|one| one["id"].as_i64()).max().unwrap_or(0);
        let wanted: Vec<i64> = (1..=100).map(|n| (newest * n / 100).max(1)).collect();
        let mut found = Vec::new();
        for ids in wanted.chunks(limits::OBSERVATION_IDS_MAX) {
            let output = self.call("get_observations", json!({ "ids": ids }))?;
            found.extend(output["results"].as_array().cloned().unwrap_or_default());
        }
        let ids = |list: &[Value]| list.iter().filter_map(|one| one["id"].as_i64()).collect();
        let done: Vec<Value> = found
            .into_iter()
            .filter(|one| one["obs_type"] != "user_prompt" && one["tool_name"].is_string())
            .collect();
        let texts = |name: &str| {
            let texts = done.iter().filter_map(|one| one[name].as_str());
            texts.map(str::to_owned).collect::<Vec<_>>()
        };
        Ok(KnownParams {
            ids: ids(&done),
            recent: ids(&list[..list.len().min(limits::RECENT_DEFAULT)]),
            sessions: texts("session_id"),
            paths: texts("file_path"),
        })
    }
}

struct KnownParams {
    ids: Vec<i64>,
    recent: Vec<i64>,
    sessions: Vec<String>,
    paths: Vec<String>,
}

/// The n-th item, cyclically.
fn nth<T: Clone + Default>(all: &[T], number: usize) -> T {
    all.get(number % all.len().max(1)).cloned().unwrap_or_default()
}

impl KnownParams {
    fn briefing(&self, number: usize) -> MeasuredCall {
        let session = corpus::name(usize::MAX / 2 + number);
        let payload = json!({
            "session_id": session, "cwd": CWD, "hook_event_name": "SessionStart", "source": "startup",
        });
        let params = json!({ "payload": payload });
        MeasuredCall { op: "hook", params, bare: Statements::Recent(self.recent.clone()) }
    }

    fn recent(&self, number: usize) -> MeasuredCall {
        let params = if number.is_multiple_of(2) { json!({}) } else { json!({ "project": "*" }) };
        MeasuredCall { op: "recent_context", params, bare: Statements::Recent(self.recent.clone()) }
    }

    fn records(&self, number: usize) -> MeasuredCall {
        let ids: Vec<i64> = (0..IDS).map(|n| nth(&self.ids, number * IDS + n)).collect();
        let params = json!({ "ids": ids });
        MeasuredCall { op: "get_observations", params, bare: Statements::Records(ids) }
    }

    fn timeline(&self, number: usize) -> MeasuredCall {
        let anchor = nth(&self.ids, number);
        let params = json!({ "anchor": anchor });
        MeasuredCall { op: "timeline", params, bare: Statements::Around(anchor) }
    }

    fn trace(&self, number: usize) -> MeasuredCall {
        let session = nth(&self.sessions, number);
        let params = json!({ "session_id": session });
        MeasuredCall { op: "session_trace", params, bare: Statements::MadeSession(session) }
    }

    fn file(&self, number: usize) -> MeasuredCall {
        let path = nth(&self.paths, number);
        let params = json!({ "file_path": path, "project": "*" });
        MeasuredCall { op: "file_history", params, bare: Statements::File(path) }
    }
}

fn search(query: &str) -> MeasuredCall {
    let words = text::query::rewrite(query).words;
    let params = json!({ "query": query, "project": "*" });
    MeasuredCall { op: "search", params, bare: Statements::Search(words) }
}

fn stats() -> MeasuredCall {
    let from = client::clock::now_ms() - STATS_DAYS * 86_400_000;
    let params = json!({ "project": "*", "bucket": "day", "from": time::rfc3339(from) });
    MeasuredCall { op: "activity_stats", params, bare: Statements::Grouped(from) }
}

/// A percentile of the figures.
pub(super) fn at(figures: &mut [f64], percent: usize) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() * percent / 100).copied()
}
