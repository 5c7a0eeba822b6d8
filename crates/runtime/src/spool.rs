//! Events that could not be handed over when they happened: taken in before anything is written.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, TryLockError};

use model::event::HookRecord;
use model::limits;
use store::{Write, hook_events};

use crate::runtime::Inner;

/// The folders where hooks leave events, one file each.
pub(crate) struct Spool {
    folders: [PathBuf; 2],
    /// One thread takes in at a time; the others go on without waiting for it.
    busy: Mutex<()>,
}

/// What waits in the spool.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Waiting {
    pub(crate) events: usize,
    /// Files that are no events: kept aside for a person to look at.
    pub(crate) unreadable: usize,
}

impl Spool {
    pub(crate) fn new(folders: [PathBuf; 2]) -> Spool {
        Spool { folders, busy: Mutex::new(()) }
    }

    /// Removes what hooks left half-written when they were killed.
    pub(crate) fn sweep(&self) {
        for folder in &self.folders {
            let Ok(entries) = std::fs::read_dir(folder) else { continue };
            for path in entries.flatten().map(|entry| entry.path()) {
                let old = std::fs::metadata(&path)
                    .and_then(|meta| meta.modified())
                    .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > limits::SPOOL_PART_AGE));
                if old && path.extension().is_some_and(|extension| extension == "part") {
                    let _ = std::fs::remove_file(path);
                }
            }
        }
    }

    pub(crate) fn waiting(&self) -> Waiting {
        let count = |folder: &Path| {
            std::fs::read_dir(folder)
                .map_or(0, |entries| entries.flatten().filter(|e| is_event(&e.path())).count())
        };
        let events = self.folders.iter().map(|folder| count(folder)).sum();
        let unreadable = self.folders.iter().map(|folder| count(&folder.join("unreadable"))).sum();
        Waiting { events, unreadable }
    }

    /// Events in order of `(at, id)`, which their file names carry, up to a batch.
    fn next_batch(&self) -> Vec<(PathBuf, Option<HookRecord>)> {
        let mut files: Vec<PathBuf> = Vec::new();
        for folder in &self.folders {
            let Ok(entries) = std::fs::read_dir(folder) else { continue };
            files.extend(entries.flatten().map(|e| e.path()).filter(|path| is_event(path)));
        }
        files.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
        files.truncate(limits::SPOOL_BATCH_MAX);
        files
            .into_iter()
            .filter_map(|path| {
                // A file that vanished was taken in by somebody else.
                let text = std::fs::read(&path).ok()?;
                let record: Option<HookRecord> = serde_json::from_slice(&text).ok();
                Some((path, record.filter(|record| record.check().is_ok())))
            })
            .collect()
    }
}

fn is_event(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

impl Inner {
    /// Takes in what waits, if anything does. What the store refuses stays for the next time.
    pub(crate) fn ingest_spool(&self) {
        let _busy = match self.spool.busy.try_lock() {
            Ok(busy) => busy,
            // It guards no data of its own; who panicked left nothing half done in it.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        loop {
            let batch = self.spool.next_batch();
            if batch.is_empty() {
                return;
            }
            let mut cleared = 0;
            let mut records = Vec::new();
            let mut files = Vec::new();
            for (path, record) in batch {
                match record {
                    Some(record) => {
                        records.push(record);
                        files.push(path);
                    }
                    None => cleared += usize::from(set_aside(&path)),
                }
            }
            let taken = records.len();
            for record in &records {
                self.builtin.saw(record);
            }
            let write = Write { at: (self.clock)(), ..Write::default() };
            let stored = self.store.write(write, move |tx| {
                records.iter().try_for_each(|record| hook_events::record(tx, record).map(drop))
            });
            if let Err(error) = stored {
                self.log
                    .warn("spool", format_args!("{taken} events wait: {}", error.code.row().word));
                return;
            }
            cleared += files.iter().filter(|path| std::fs::remove_file(path).is_ok()).count();
            if taken > 0 {
                self.log.info("spool", format_args!("took in {taken} events"));
            }
            // A spool that cannot be emptied would be read for ever; each event is kept once anyway.
            if cleared == 0 {
                return;
            }
        }
    }
}

/// Moves a file that is no event out of the way, so that it is neither lost nor read again.
fn set_aside(path: &Path) -> bool {
    let Some((folder, name)) = path.parent().zip(path.file_name()) else { return false };
    let aside = folder.join("unreadable");
    let _ = std::fs::create_dir_all(&aside);
    std::fs::rename(path, aside.join(name)).is_ok()
}
