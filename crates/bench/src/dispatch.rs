//! Hints in dispatch, beside a plain map behind the same dispatch.
//!
//! It works in a folder of its own under the temporary directory and prints median microseconds.

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
/// Calls of one kind in a row; the kinds take turns, so that other work falls on all alike.
const CALLS_PER_ROUND: usize = 20;

/// One kind of call: its operation, and the parameters of the n-th call.
#[derive(Clone, Copy)]
struct Kind {
    op: &'static str,
    params: fn(usize) -> Value,
}

const GET: Kind = Kind { op: "get_hint", params: |n| named(n, json!({ "context": context() })) };
const MAP_GET: Kind =
    Kind { op: "bench_map_get", params: |n| named(n, json!({ "context": context() })) };

/// What is measured over many hints, ours and the map's.
const KINDS: [(&str, Kind, Kind); 4] = [
    (
        "query_tag_of_all",
        Kind { op: "query_hints", params: |_| by(json!({ "tags": ["build"] })) },
        Kind { op: "bench_map_query", params: |_| by(json!({ "tag": "build" })) },
    ),
    (
        "query_tag_of_some",
        Kind { op: "query_hints", params: |n| by(json!({ "tags": [format!("t{}", n % 7)] })) },
        Kind { op: "bench_map_query", params: |n| by(json!({ "tag": format!("t{}", n % 7) })) },
    ),
    (
        "query_component",
        Kind { op: "query_hints", params: |_| by(json!({ "component": "comp3" })) },
        Kind { op: "bench_map_query", params: |_| by(json!({ "component": "comp3" })) },
    ),
    (
        "set",
        Kind { op: "set_hint", params: |n| named(n, json!({ "value": format!("make {n}") })) },
        Kind { op: "bench_map_set", params: |n| named(n, json!({ "value": format!("make {n}") })) },
    ),
];

/// A hint of the component whose folder the caller stands in.
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

/// A document of hints of which every other one has a scope.
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
    let few = Bench::open("few", HINTS_FEW, &tokio)?;
    let many = Bench::open("many", HINTS_MANY, &tokio)?;
    // Of the few hints only the first is asked for: the others have no key of its component.
    let first = Kind { params: |_| (GET.params)(0), ..GET };
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
    kinds: [(&Bench<'_>, Kind); N],
) -> Result<[Option<f64>; N], OpError> {
    let mut times: [Vec<f64>; N] = [const { Vec::new() }; N];
    for start in (0..calls).step_by(CALLS_PER_ROUND) {
        for ((bench, kind), times) in kinds.iter().zip(&mut times) {
            bench.round(start, *kind, times)?;
        }
    }
    Ok(times.map(|mut times| median(&mut times)))
}

/// A runtime with hints in a folder of its own, which goes with it.
struct Bench<'t> {
    runtime: Runtime,
    folder: PathBuf,
    tokio: &'t tokio::runtime::Runtime,
}

impl Bench<'_> {
    fn open<'t>(
        name: &str,
        hints: usize,
        tokio: &'t tokio::runtime::Runtime,
    ) -> Result<Bench<'t>, OpError> {
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
        let bench = Bench { runtime, folder, tokio };
        let taken = bench.call("import_hints", json!({ "payload": document }))?;
        if taken["imported"] != hints {
            return Err(OpError::internal(format!("the hints were not taken in: {taken}")));
        }
        Ok(bench)
    }

    fn call(&self, op: &str, params: Value) -> Result<Value, OpError> {
        self.tokio.block_on(self.runtime.call_async(request(op, params)))
    }

    fn round(&self, start: usize, kind: Kind, times: &mut Vec<f64>) -> Result<(), OpError> {
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

impl Drop for Bench<'_> {
    fn drop(&mut self) {
        self.runtime.close();
        // What cannot be removed is in the temporary directory anyway.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn request(op: &str, params: Value) -> Request {
    let caller = Caller { tier: Tier::Client, ..Caller::default() };
    Request { call: client::mint(), op: op.to_owned(), params, caller }
}

fn places(folder: &Path) -> Locations {
    let around = Surroundings {
        var: &|name| (name == "REKINDLE_HOME").then(|| OsString::from(folder)),
        uid: client::platform::uid(),
        cwd: Path::new("/"),
        mac: false,
        canonical: &|path| path.to_path_buf(),
    };
    Locations::resolve(&around, None)
}

fn median(times: &mut [f64]) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}
