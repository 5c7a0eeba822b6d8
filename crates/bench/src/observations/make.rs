//! Fills the database of this home with generated work, through the functions of the daemon.

use std::path::Path;
use std::sync::Arc;

use contract::{Config, Plugin};
use model::hook::HookEvent;
use model::locations::Locations;
use model::{OpError, limits};
use place::{Captured, Places};
use plugin_observations::Observations;
use serde_json::{Value, json};
use store::{Options, Store, Write, hook_events, observations, totals};

use super::corpus::{Happened, MadeCorpus};

/// Constant, so that figures are comparable.
pub(super) const SEED: u64 = 42;
/// Events that share a transaction.
const EVENTS_PER_WRITE: usize = 4_000;
/// Tool uses between two lines of progress.
const USES_PER_NOTE: u64 = 100_000;

/// Creates about this many observations, and returns their size on disk.
pub(crate) fn make(uses: usize) -> Result<Value, OpError> {
    let now = client::clock::now_ms();
    let store = open(&client::platform::locations(None))?;
    let places = Arc::new(Places::new(None));
    let config = Arc::new(keeping_everything(&program::kit().table)?);
    let mut corpus = MadeCorpus::new(SEED, uses, now);
    let mut told = 0;
    loop {
        let batch: Vec<Happened> = corpus.by_ref().take(EVENTS_PER_WRITE).collect();
        if batch.is_empty() {
            break;
        }
        let events: Vec<HookEvent> = batch.iter().map(event).collect::<Result<_, _>>()?;
        let (places, config) = (places.clone(), config.clone());
        store.write(Write { at: now, ..Write::default() }, move |tx| {
            for event in &events {
                // An older event would have been deleted by now.
                if event.at > now - limits::HOOK_EVENTS_KEPT_MS {
                    hook_events::record(tx, event.record())?;
                }
                if let Some(captured) = Captured::resolve(tx, event, &*places, &[])? {
                    Observations.observe(&captured, tx, &config)?;
                }
            }
            Ok(())
        })?;
        let count = store.read(observations::count)?;
        if count / USES_PER_NOTE > told {
            told = count / USES_PER_NOTE;
            eprintln!("{count} of {uses} observations");
        }
    }
    store.catch_up(limits::CARE_DEADLINE);
    let figures = store.read(|rx| {
        let (count, texts) = (observations::count(rx)?, totals::text_bytes(rx)?);
        let (bytes, search) = (totals::bytes(rx)?, totals::search_bytes(rx)?);
        Ok(json!({
            "observations": count,
            "bytes": bytes,
            "text_bytes": texts,
            "search_bytes": search,
        }))
    })?;
    store.close();
    Ok(figures)
}

pub(super) fn event(happened: &Happened) -> Result<HookEvent, OpError> {
    agents::extract(None, None, &(&happened.payload).into(), client::mint(), happened.at)
}

/// Settings under which a generated record is neither folded nor deleted.
pub(super) fn keeping_everything(table: &contract::Table) -> Result<Config, OpError> {
    let mut config = Config::defaults(table.config_keys());
    for (name, value) in [("observations.fold", "0s"), ("retention.enabled", "false")] {
        let key = table.config_keys().iter().find(|key| key.key == name);
        let key = key.ok_or_else(|| OpError::internal(format!("no setting is called {name}")))?;
        config.set(key, value).map_err(|why| OpError::invalid(name, why))?;
    }
    Ok(config)
}

fn open(locations: &Locations) -> Result<Store, OpError> {
    let path = &locations.database;
    if path.exists() {
        let message = format!("{} is there already", shown(path));
        return Err(OpError::invalid("database", message).hint("Give an empty REKINDLE_HOME."));
    }
    Ok(Store::open(options(locations), Box::new(|_, _| Ok(())), Box::new(|_| ()))?)
}

pub(super) fn options(locations: &Locations) -> Options {
    Options {
        path: locations.database.clone(),
        one_shot: false,
        backups: locations.backups(),
        records: Vec::new(),
        spools: Vec::new(),
        identity_locks: None,
        page_count_max: None,
        meaning: true,
        more: Vec::new(),
        clock: client::clock::now_ms,
    }
}

fn shown(path: &Path) -> std::path::Display<'_> {
    path.display()
}
