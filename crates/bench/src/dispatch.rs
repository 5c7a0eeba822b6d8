//! Hints in dispatch, compared with a plain map behind the same dispatch.
//!
//! Uses a directory of its own under the temporary directory and prints median microseconds.

mod plain_map;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use contract::Config;
use model::locations::{Locations, Surroundings};
use model::{Caller, OpError, Request, Tier};
use runtime::log::{Level, Log};
use runtime::{Kit, Runtime, RuntimeSetup};
use serde_json::{Map, Value, json};

use plain_map::PlainMap;

const HINTS_MANY: usize = 5_000;
const HINTS_FEW: usize = 10;
const COMPONENTS: usize = 50;
/// Consecutive calls of one kind; the kinds take turns, so that other load affects all of them equally.
const CALLS_PER_ROUND: usize = 20;

/// One kind of call: its operation, and the parameters of the n-th call.
#[derive(Clone, Copy)]
struct CallKind {
    op: &'static str,
    params: fn(usize) -> Value,
}

const GET: CallKind =
    CallKind { op: "get_hint", params: |n| named(n, json!({ "context": context() })) };
const MAP_GET: CallKind =
    CallKind { op: "bench_map_get", params: |n| named(n, json!({ "context": context() })) };

/// Kinds of calls over many hints, ours and the map's.
const KINDS: [(&str, CallKind, CallKind); 4] = [
    (
        "query_tag_of_all",
        CallKind { op: "query_hints", params: |_| by(json!({ "tags": ["build"] })) },
        CallKind { op: "bench_map_query", params: |_| by(json!({ "tag": "build" })) },
    ),
    (
        "query_tag_of_some",
        CallKind { op: "query_hints", params: |n| by(json!({ "tags": [format!("t{}", n % 7)] })) },
        CallKind { op: "bench_map_query", params: |n| by(json!({ "tag": format!("t{}", n % 7) })) },
    ),
    (
        "query_component",
        CallKind { op: "query_hints", params: |_| by(json!({ "component": "comp3" })) },
        CallKind { op: "bench_map_query", params: |_| by(json!({ "component": "comp3" })) },
    ),
    (
        "set",
        CallKind { op: "set_hint", params: |n| named(n, json!({ "value": format!("make {n}") })) },
        CallKind {
            op: "bench_map_set",
            params: |n| named(n, json!({ "value": format!("make {n}") })),
        },
    ),
];

/// A hint of the component in whose directory the caller is.
fn named(number: usize, mut rest: Value) -> Value {
    rest["component"] = json!("comp3");
    rest["key"] = json!(format!("k{}", number % (HINTS_MANY / COMPONENTS)));
    rest
}

fn by(mut rest: Value) -> Value {
    rest["context"] = context();
    rest["limit"] = json!(10);
    rest
}

fn context() -> Value {
    json!({ "cwd": "/srv/comp3", "branch": "dev", "os": "linux", "repo": "git:org/repo" })
}

/// A document of hints, every other one with a scope.
fn document(count: usize) -> Value {
    let mut components = Map::new();
    for number in 0..count {
        let component = format!("comp{}", number % COMPONENTS);
        let mut meta = json!({
            "tags": ["build", format!("t{}", number % 7)], "priority": number % 10 + 1,
            "confidence": f64::from(u8::try_from(number % 10).unwrap_or(0)) / 10.0,
            "ttl": "session",
        });
        if number % 2 == 1 {
            let folder = format!("**/{component}*");
            meta["scope"] =
                json!({ "cwd_glob": [folder], "branch": ["dev", "main"], "os": ["linux"] });
        }
        let hint = json!({ "value": format!("docker compose build svc{number}"), "meta": meta });
        let hints = components.entry(component).or_insert_with(|| json!({ "hints": {} }));
        hints["hints"][format!("k{}", number / COMPONENTS)] = hint;
    }
    json!({ "components": components })
}

pub(crate) fn figures(calls: usize) -> Result<Map<String, Value>, OpError> {
    let tokio = crate::threads::tokio_runtime()?;
    let few = HintBench::open("few", HINTS_FEW, &tokio)?;
    let many = HintBench::open("many", HINTS_MANY, &tokio)?;
    // Of the few hints only the first is requested: the others have no key of its component.
    let first = CallKind { params: |_| (GET.params)(0), ..GET };
    let [ours, of_few, map] = medians(calls, [(&many, GET), (&few, first), (&many, MAP_GET)])?;
    let mut figures = Map::new();
    figures.insert("get".to_owned(), json!({ "ours": ours, "few": of_few, "map": map }));
    for (name, ours, map) in KINDS {
        let [ours, map] = medians(calls, [(&many, ours), (&many, map)])?;
        figures.insert(name.to_owned(), json!({ "ours": ours, "map": map }));
    }
    Ok(figures)
}

/// Median microseconds of each kind of call, which take turns.
fn medians<const N: usize>(
    calls: usize,
    kinds: [(&HintBench<'_>, CallKind); N],
) -> Result<[Option<f64>; N], OpError> {
    let mut times: [Vec<f64>; N] = [const { Vec::new() }; N];
    for start in (0..calls).step_by(CALLS_PER_ROUND) {
        for ((bench, kind), times) in kinds.iter().zip(&mut times) {
            bench.round(start, *kind, times)?;
        }
    }
    Ok(times.map(|mut times| median(&mut times)))
}

/// A runtime with hints in a directory of its own, which is deleted on drop.
struct HintBench<'t> {
    runtime: Runtime,
    folder: PathBuf,
    tokio: &'t tokio::runtime::Runtime,
}

impl HintBench<'_> {
    fn open<'t>(
        name: &str,
        hints: usize,
        tokio: &'t tokio::runtime::Runtime,
    ) -> Result<HintBench<'t>, OpError> {
        let name = format!("rekindle-bench-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let locations = places(&folder);
        let map = PlainMap::default();
        let document = document(hints);
        map.fill(&document);
        let kit = Kit::new(vec![Arc::new(plugin_hints::Hints::default()), Arc::new(map)]);
        let config = Config::defaults(kit.table.config_keys());
        let log = Log::to_file(&locations.daemon_log(), Level::Info);
        let runtime = Runtime::open(RuntimeSetup { kit, locations, config, one_shot: false, log })?;
        let bench = HintBench { runtime, folder, tokio };
        let taken = bench.call("import_hints", json!({ "payload": document }))?;
        if taken["imported"] != hints {
            return Err(OpError::internal(format!("the hints were not taken in: {taken}")));
        }
        Ok(bench)
    }

    fn call(&self, op: &str, params: Value) -> Result<Value, OpError> {
        self.tokio.block_on(self.runtime.call_async(request(op, params)))
    }

    fn round(&self, start: usize, kind: CallKind, times: &mut Vec<f64>) -> Result<(), OpError> {
        self.tokio.block_on(async {
            for number in start..start + CALLS_PER_ROUND {
                let request = request(kind.op, (kind.params)(number));
                let started = Instant::now();
                let reply = self.runtime.call_async(request).await;
                times.push(started.elapsed().as_secs_f64() * 1e6);
                reply?;
            }
            Ok(())
        })
    }
}

impl Drop for HintBench<'_> {
    fn drop(&mut self) {
        self.runtime.close();
        // A directory that cannot be deleted is in the temporary directory anyway.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn request(op: &str, params: Value) -> Request {
    let caller = Caller { tier: Tier::Client, ..Caller::default() };
    Request { call: client::mint(), op: op.to_owned(), params, caller }
}

pub(crate) fn places(folder: &Path) -> Locations {
    let around = Surroundings {
        var: &|name| (name == "REKINDLE_HOME").then(|| OsString::from(folder)),
        uid: client::platform::uid(),
        cwd: Path::new("/"),
        mac: false,
        canonical: &|path| path.to_path_buf(),
    };
    Locations::resolve(&around, None)
}

pub(crate) fn median(times: &mut [f64]) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}
