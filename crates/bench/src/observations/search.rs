//! Searches over a generated store, compared with the bare full-text index and a bare scan of the vectors.

use std::hint::black_box;
use std::time::Instant;

use contract::Config;
use model::{OpError, limits};
use serde_json::{Map, Value, json};

use super::corpus::MadeCorpus;
use super::make::{SEED, keeping_everything};
use super::read::{StoreBench, at, lock};

/// Measures this many searches of each kind, in milliseconds.
pub(crate) fn search(calls: usize) -> Result<Value, OpError> {
    let locations = client::platform::locations(None);
    let _lock = lock(&locations)?;
    let mut figures = Map::new();
    let mut corpus = MadeCorpus::new(SEED + 2_000, 1, 0);
    let asked: Vec<String> = (0..calls).map(|_| corpus.question()).collect();
    let few: Vec<String> = (0..calls).map(|_| corpus.query()).collect();
    for (meaning, kinds) in [("true", ["table", "project"]), ("false", ["lexical", "few"])] {
        let bench = StoreBench::open(&locations, with_meaning(meaning)?)?;
        // The first search of a process loads caches.
        let began = Instant::now();
        bench.ask("first", "*")?;
        figures.insert(format!("first_{}", kinds[0]), json!(milliseconds(began)));
        for kind in kinds {
            let project = if kind == "project" { "shop" } else { "*" };
            let time = |question: &String| bench.ask(question, project);
            let asked = if kind == "few" { &few } else { &asked };
            figures.insert(kind.to_owned(), spread(asked.iter().map(time))?);
        }
        if meaning == "true" {
            let slowest: Vec<f64> =
                shapes().iter().map(|shape| bench.ask(shape, "*")).collect::<Result<_, _>>()?;
            let slowest = slowest.into_iter().fold(0.0, f64::max);
            figures.insert("slowest_shape".to_owned(), json!(slowest));
            figures
                .insert("index".to_owned(), spread(asked.iter().map(|one| bench.by_index(one)))?);
            let vectors = bench.bare.vectors()?;
            let scan = |question: &String| {
                let began = Instant::now();
                black_box(vectors.nearest(question));
                Ok(milliseconds(began))
            };
            figures.insert("scan".to_owned(), spread(asked.iter().map(scan))?);
        }
        bench.runtime.close();
    }
    Ok(Value::Object(figures))
}

impl StoreBench {
    /// Milliseconds of one search.
    fn ask(&self, query: &str, project: &str) -> Result<f64, OpError> {
        let began = Instant::now();
        self.call("search", json!({ "query": query, "project": project }))?;
        Ok(milliseconds(began))
    }

    /// Milliseconds of the bare full-text index.
    fn by_index(&self, query: &str) -> Result<f64, OpError> {
        let words = text::query::rewrite(query).words;
        let began = Instant::now();
        self.bare.search(&words, limits::SEARCH_CANDIDATES)?;
        Ok(milliseconds(began))
    }
}

fn with_meaning(meaning: &str) -> Result<Config, OpError> {
    let table = program::kit().table;
    let mut config = keeping_everything(&table)?;
    let key = table.config_keys().iter().find(|key| key.key == "search.meaning");
    let key = key.ok_or_else(|| OpError::internal("there is no setting `search.meaning`"))?;
    config.set(key, meaning).map_err(|why| OpError::invalid(key.key, why))?;
    Ok(config)
}

/// The most expensive kinds of queries.
fn shapes() -> Vec<String> {
    let mut corpus = MadeCorpus::new(SEED + 3_000, 1, 0);
    let mut words = |count: usize| -> Vec<String> {
        let words = std::iter::repeat_with(|| corpus.question()).take(count);
        words.flat_map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let many = words(1_000);
    let few = || many.iter().take(30);
    vec![
        many.join(" "),
        few().cloned().collect::<Vec<_>>().join(" "),
        few().cloned().collect::<Vec<_>>().join(" OR "),
        few().map(|word| format!("{word}*")).collect::<Vec<_>>().join(" OR "),
        format!("NEAR({})", few().take(4).cloned().collect::<Vec<_>>().join(" ")),
        ('a'..='z').map(|letter| format!("{letter}*")).collect::<Vec<_>>().join(" OR "),
        "a*".to_owned(),
        "the of and to".to_owned(),
        "\u{4e00}".to_owned(),
        "x".repeat(10_000),
        "src/main.rs ".repeat(8_000),
    ]
}

/// Median and 95th percentile.
fn spread(times: impl Iterator<Item = Result<f64, OpError>>) -> Result<Value, OpError> {
    let mut times: Vec<f64> = times.collect::<Result<_, _>>()?;
    let p95 = at(&mut times, 95);
    Ok(json!({ "p50": at(&mut times, 50), "p95": p95 }))
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
