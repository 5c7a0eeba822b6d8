//! Tests with a store and a plugin that has one of everything.

mod callers;
mod calls;
mod tables;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, mpsc};

use model::Caller;
use model::event::Published;
use place::Places;
use store::{Options, Store};

use crate::caller::KnownCaller;
use crate::config::Config;
use crate::cx::{CallStore, Cx};

const NOW: i64 = 1_794_719_923_120;

/// A store in a directory of its own, and the events that it published.
struct Shop {
    dir: PathBuf,
    store: Store,
    places: Places,
    published: mpsc::Receiver<Vec<Published>>,
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.store.close();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

impl Shop {
    fn new() -> Shop {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("contract-{}-{number}", std::process::id()));
        std::fs::create_dir_all(dir.join("work")).unwrap();
        let dir = dir.canonicalize().unwrap();
        let options = Options {
            path: dir.join("rekindle.db"),
            one_shot: false,
            backups: dir.join("backups"),
            records: vec![dir.join("records")],
            spools: Vec::new(),
            identity_locks: None,
            page_count_max: None,
            meaning: true,
            more: Vec::new(),
            clock: || NOW,
        };
        let (sender, published) = mpsc::channel();
        let sender = Mutex::new(sender);
        let publish = Box::new(move |events| drop(sender.lock().unwrap().send(events)));
        let store = Store::open(options, Box::new(|_, _| Ok(())), publish).unwrap();
        Shop { dir, store, places: Places::new(None), published }
    }

    /// A directory that is a project of its own.
    fn work(&self) -> String {
        self.dir.join("work").to_string_lossy().into_owned()
    }

    /// Runs `f` as the handler of a call that sees this store.
    fn call<T>(&self, caller: &Caller, store: CallStore<'_>, f: impl FnOnce(&Cx<'_>) -> T) -> T {
        let known = KnownCaller::new(caller, &self.places);
        let config = Config::default();
        let road = |op: &str, params| Ok(serde_json::json!({ "op": op, "params": params }));
        f(&Cx::new(&known, NOW, &config, store, &road))
    }
}
