//! Tests of the store through its handle, and what they share.

mod activity_counts;
mod bookmarks;
mod burdens;
mod closing;
mod copies;
mod damage;
mod desk;
mod failures;
mod faults;
mod folding;
mod ghaps;
mod groups;
mod meaning;
mod memories;
mod mover;
mod orphans;
mod passages;
mod patience;
mod plans;
mod projects;
mod records;
mod removal;
mod replaced;
mod search;
mod similar;
mod values;
mod writes;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::event::Published;
use model::hint::{HintMeta, HintName, Ttl};
use model::{CallId, OpError};
use serde_json::Value;

use crate::answer::Answer;
use crate::hints::{self, StoredHint};
use crate::{Opened, Options, Store, StoreError, Write, Written, connection, files};

const NOW: i64 = 1_794_719_923_120;
const STAMP: &str = "20261115T051843Z";
const BUSY: Duration = Duration::from_millis(50);

/// A folder of its own for each test, removed with the last store in it.
struct Home(PathBuf, Arc<Folder>);

struct Folder(PathBuf);

impl Home {
    fn new() -> Home {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("store-test-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Home(dir.clone(), Arc::new(Folder(dir)))
    }

    fn db(&self) -> PathBuf {
        self.0.join("rekindle.db")
    }

    fn options(&self) -> Options {
        Options {
            path: self.db(),
            one_shot: false,
            backups: self.0.join("backups"),
            records: vec![self.1.records()],
            spools: Vec::new(),
            identity_locks: None,
            page_count_max: None,
            meaning: true,
            more: Vec::new(),
            clock: || NOW,
        }
    }

    fn open(&self) -> Opening {
        self.open_with(self.options()).unwrap()
    }

    fn open_with(&self, options: Options) -> Result<Opening, StoreError> {
        let (opened, openings) = channel();
        let (publish, published) = channel();
        let (opened, publish) = (Mutex::new(opened), Mutex::new(publish));
        let store = Store::open_within(
            options,
            BUSY,
            Box::new(move |_, how| {
                opened.lock().unwrap().send(how).unwrap();
                Ok(())
            }),
            Box::new(move |events| publish.lock().unwrap().send(events).unwrap()),
        )?;
        Ok(Opening { store, openings, published, _folder: Arc::clone(&self.1) })
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Folder {
    /// The directory for the record of opened files, beside the folder.
    fn records(&self) -> PathBuf {
        self.0.with_extension("records")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_dir_all(self.records());
    }
}

/// An open store and what it told its owner.
struct Opening {
    store: Store,
    openings: Receiver<Opened>,
    published: Receiver<Vec<Published>>,
    /// Declared last, so that the store is closed before its folder goes.
    _folder: Arc<Folder>,
}

impl Opening {
    fn set(&self, key: &str, value: &str) -> Result<(), OpError> {
        set(&self.store, key, value)
    }

    fn get(&self, key: &str) -> Option<String> {
        let name = name(key);
        let hint = self.store.read(|rx| hints::variants(rx, &name)).unwrap().pop()?;
        hint.value.as_str().map(str::to_owned)
    }

    fn keys(&self) -> Vec<String> {
        let all = self.store.read(hints::all).unwrap();
        all.into_iter().map(|hint| hint.name.key).collect()
    }

    fn how_opened(&self) -> Vec<Opened> {
        self.openings.try_iter().collect()
    }
}

fn name(key: &str) -> HintName {
    HintName::new("web".into(), key.into()).unwrap()
}

fn hint(key: &str, value: &str) -> StoredHint {
    StoredHint {
        name: name(key),
        value: Value::from(value),
        meta: HintMeta { ttl: Some(Ttl::Forever), ..HintMeta::default() },
        version: 1,
        created_at: NOW,
        updated_at: NOW,
        last_used_at: None,
        use_count: 0,
    }
}

fn set(store: &Store, key: &str, value: &str) -> Result<(), OpError> {
    let hint = hint(key, value);
    store.write(at_now(), move |tx| hints::put(tx, &hint)).map(|_| ())
}

fn at_now() -> Write {
    Write { at: NOW, ..Write::default() }
}

fn call(number: u8) -> Write {
    Write { call: Some(CallId([number; 16])), at: NOW, ..Write::default() }
}

/// Holds the writer thread until the sender is used or dropped, so that what is queued meanwhile
/// becomes one group.
fn hold_writer(store: &Store) -> Sender<()> {
    let (release, held) = channel::<()>();
    let (begun, running) = channel::<()>();
    // It runs again if another write of its group fails.
    let mut held = Some(held);
    let wait = move |_: &crate::Tx<'_>| {
        if let Some(held) = held.take() {
            begun.send(()).unwrap();
            let _ = held.recv();
        }
        Ok(())
    };
    drop(store.submit(at_now(), wait).unwrap());
    running.recv().unwrap();
    release
}

/// Fills the database with hints over several pages, in order `k0000`, `k0001`, and so on.
fn fill(store: &Store, count: usize) {
    store
        .write(at_now(), move |tx| {
            (0..count).try_for_each(|i| hints::put(tx, &hint(&format!("k{i:04}"), &long(i))))
        })
        .unwrap();
}

/// A value that occurs once and is so long that a page holds few of them.
fn long(i: usize) -> String {
    format!("value-{i:04}-{}", "x".repeat(600))
}

/// Overwrites the page of the closed or open database that holds this text.
fn spoil_page_with(path: &Path, text: &str) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let page = at / 4096 * 4096;
    bytes[page..page + 4096].fill(0xff);
    // Written in place: the file stays the same one.
    use std::os::unix::fs::FileExt;
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&bytes[page..page + 4096], u64::try_from(page).unwrap()).unwrap();
}

/// A second connection to the database, as another process would have it.
fn other_connection(path: &Path) -> rusqlite::Connection {
    connection::connect(path, BUSY).unwrap()
}

/// A sound database of ours with one hint, as a single closed file.
fn make_database(path: &Path, key: &str) {
    let home = Home::new();
    let opening = home.open();
    opening.set(key, "elsewhere").unwrap();
    opening.store.close();
    fs::copy(home.db(), path).unwrap();
}

fn answer<T>(answer: &Answer<Result<Written<T>, OpError>>) -> Result<Written<T>, OpError> {
    answer.wait().unwrap()
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).unwrap().mode() & 0o777
}

fn wal(path: &Path) -> PathBuf {
    files::beside(path, "-wal")
}
