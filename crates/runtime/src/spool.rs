//! The spool: events that hooks could not hand to a daemon. They are ingested before any other write.
//!
//! A file that is not an event is moved to `unreadable`. A well-formed event that cannot be stored because of an
//! internal error stays in the spool: it is retried with a growing delay, and later events do not wait for it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use model::hook::{Happening, HookEvent, Source};
use model::{Code, OpError, limits, time};
use serde::Deserialize;
use store::Write;

use crate::runtime::RuntimeInner;

/// The directories where hooks leave events, one file each.
pub(crate) struct Spool {
    folders: [PathBuf; 2],
    /// The user id: files of other users are not ingested.
    owner: u32,
    /// Events that could not be stored because of an internal error, by their files.
    held: Mutex<HashMap<PathBuf, HeldEvent>>,
    /// Whether a thread is ingesting. Other threads wait a moment until it is done, because spooled events are
    /// older than theirs, and then continue in any case.
    busy: Mutex<bool>,
    done: Condvar,
    /// Modification times of the directories when they were last found empty.
    empty_since: Mutex<Option<DirTimes>>,
    /// When the store last refused spooled events.
    refused: Mutex<Option<Instant>>,
}

/// An event that could not be stored, and when it is retried.
struct HeldEvent {
    wait: Duration,
    until: Instant,
    /// The name of the error code.
    why: &'static str,
}

/// The right to ingest; released on drop, even after a panic.
struct IngestGuard<'s>(&'s Spool);

impl Drop for IngestGuard<'_> {
    fn drop(&mut self) {
        *self.0.busy.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.done.notify_all();
    }
}

/// Modification time of each directory; `None` if it does not exist.
type DirTimes = [Option<SystemTime>; 2];

/// The contents of the spool.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SpoolContents {
    pub(crate) events: usize,
    /// Files that are not events; they are kept for the user to look at.
    pub(crate) unreadable: usize,
    /// Events that could not be stored at the last try, each with the name of its file and the reason.
    pub(crate) held: Vec<String>,
    /// Files that belong to another user and are not ingested.
    pub(crate) foreign: Vec<PathBuf>,
}

impl Spool {
    pub(crate) fn new(folders: [PathBuf; 2], owner: u32) -> Spool {
        Spool {
            folders,
            owner,
            held: Mutex::default(),
            busy: Mutex::new(false),
            done: Condvar::new(),
            empty_since: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    /// Acquires the right to ingest; `None` if another thread still has it after `SPOOL_TURN`.
    fn ingest_guard(&self) -> Option<IngestGuard<'_>> {
        let busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.done.wait_timeout_while(busy, limits::SPOOL_TURN, |busy| *busy);
        let (mut busy, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        (!waited.timed_out() && !*busy).then(|| {
            *busy = true;
            IngestGuard(self)
        })
    }

    /// Whether nothing has arrived since the spool was found empty: one `stat` of each directory instead of a
    /// listing. File times are coarse, so a directory that changed just now does not count as quiet.
    pub(crate) fn is_quiet(&self) -> bool {
        let settled = |at: &SystemTime| at.elapsed().is_ok_and(|age| age > limits::SPOOL_SETTLED);
        let changed = self.changed();
        changed.iter().flatten().all(settled)
            && *self.empty_since() == Some(changed)
            && !self.held().values().any(HeldEvent::is_due)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<PathBuf, HeldEvent>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds back an event that could not be stored. The delay before the retry doubles with each failure.
    fn hold(&self, path: &Path, error: &OpError) {
        let mut held = self.held();
        let before = held.get(path).map(|held| held.wait.saturating_mul(2));
        let wait = before.unwrap_or(limits::SPOOL_HELD_MIN).min(limits::SPOOL_HELD_MAX);
        let why = error.code.row().word;
        held.insert(path.to_owned(), HeldEvent { wait, until: Instant::now() + wait, why });
    }

    /// Whether there may be events to ingest, and the store did not refuse them just now.
    fn is_due(&self) -> bool {
        let refused = *self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.is_none_or(|at| at.elapsed() > limits::SPOOL_RETRY) && !self.is_quiet()
    }

    fn refused(&self) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn changed(&self) -> DirTimes {
        let at = |folder: &PathBuf| std::fs::metadata(folder).and_then(|meta| meta.modified()).ok();
        self.folders.each_ref().map(at)
    }

    fn empty_since(&self) -> MutexGuard<'_, Option<DirTimes>> {
        self.empty_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes half-written files of hooks that were killed.
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

    pub(crate) fn waiting(&self) -> SpoolContents {
        let unreadable = files(&self.folders.each_ref().map(|dir| dir.join("unreadable"))).len();
        let files = files(&self.folders);
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut held: Vec<String> = Vec::new();
        for (path, event) in &*self.held() {
            if files.contains(path) {
                held.push(format!("{} ({})", name(path), event.why));
            }
        }
        held.sort();
        let foreign: Vec<PathBuf> =
            files.iter().filter(|path| !is_owned(path, self.owner)).cloned().collect();
        SpoolContents { events: files.len() - foreign.len(), unreadable, held, foreign }
    }

    /// The files to ingest now, in order.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = files(&self.folders);
        self.held().retain(|path, _| files.contains(path));
        let waits = |path: &PathBuf| self.held().get(path).is_some_and(|held| !held.is_due());
        files.retain(|path| is_owned(path, self.owner) && !waits(path));
        files
    }
}

impl SpoolContents {
    /// A line about events that are held back or belong to another user, for `status`.
    pub(crate) fn note(&self) -> Option<String> {
        let (held, foreign) = (self.held.len(), self.foreign.len());
        let noun = |count| if count == 1 { "event" } else { "events" };
        let held = (held > 0)
            .then(|| format!("{held} {} in the spool could not be stored yet", noun(held)));
        let foreign = (foreign > 0)
            .then(|| format!("{foreign} {} in the spool, owned by another user", noun(foreign)));
        let parts: Vec<String> = held.into_iter().chain(foreign).collect();
        (!parts.is_empty()).then(|| format!("{}; see `rekindle doctor`", parts.join("; ")))
    }
}

impl HeldEvent {
    fn is_due(&self) -> bool {
        Instant::now() >= self.until
    }
}

/// Whether a file of this owner may be ingested. Otherwise another user could plant records in this store.
fn is_own(owner: u32, user: u32) -> bool {
    owner == user
}

/// Whether a file belongs to this user. A file that no longer exists counts as owned.
fn is_owned(path: &Path, user: u32) -> bool {
    std::fs::symlink_metadata(path).map_or(true, |meta| is_own(meta.uid(), user))
}

/// The event files in these directories that belong to this user, in order.
pub fn own_files(folders: &[PathBuf], user: u32) -> Vec<PathBuf> {
    let mut files = files(folders);
    files.retain(|path| is_owned(path, user));
    files
}

/// The event files in these directories, ordered by the `(at, id)` in their names.
fn files(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        files.extend(entries.flatten().map(|e| e.path()).filter(|path| is_event(path)));
    }
    files.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    // Both directories may be the same.
    files.dedup();
    files
}

/// The event in a file; `None` if the file is not an event.
fn read(path: &Path) -> std::io::Result<Option<HookEvent>> {
    // Reading a pipe that has the name of an event would block for ever.
    if !is_file(path) {
        return Ok(None);
    }
    let text = regular::read(path, limits::HOOK_BYTES_MAX as u64)?;
    let event = serde_json::from_slice::<HookEvent>(&text)
        .or_else(|_| serde_json::from_slice(&agents::with_valid_encoding(&text)))
        .ok();
    Ok(event.filter(|event| event.check().is_ok()))
}

/// Whether the event in a file is of this session, without parsing all of it.
fn is_of(path: &Path, session: &str) -> bool {
    #[derive(Deserialize)]
    struct EventSession<'a> {
        #[serde(borrow)]
        session: Cow<'a, str>,
    }
    let text = regular::read(path, limits::HOOK_BYTES_MAX as u64).unwrap_or_default();
    serde_json::from_slice::<EventSession<'_>>(&text).is_ok_and(|look| look.session == session)
}

fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

fn is_event(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

impl RuntimeInner {
    /// Ingests spooled events before a read, so that the read sees them. If the store refuses them, the read
    /// continues without them.
    pub(crate) fn ingest_before_read(self: &Arc<RuntimeInner>) {
        if !self.spool.is_due() {
            return;
        }
        let (sender, taken) = sync_channel(1);
        self.ingest_aside(move || {
            // The read may have stopped waiting.
            let _ = sender.send(());
        });
        let _ = taken.recv_timeout(limits::SPOOL_READ_PATIENCE);
    }

    /// Ingests spooled events on a thread of the pool, then calls `then`.
    fn ingest_aside(self: &Arc<RuntimeInner>, then: impl FnOnce() + Send + 'static) {
        let inner = self.clone();
        self.pool.run(Box::new(move |admitted| {
            if admitted.is_ok() {
                inner.ingest_spool(None);
            }
            then();
        }));
    }

    /// Starts to ingest spooled events, if there are any, without waiting for it.
    pub(crate) fn ingest_in_background(self: &Arc<RuntimeInner>) {
        if self.spool.is_due() {
            self.ingest_aside(|| ());
        }
    }

    /// Ingests spooled events. Events that the store refuses, and those left at the deadline, stay for the next time.
    pub(crate) fn ingest_spool(&self, until: Option<Instant>) {
        let Some(_guard) = self.spool.ingest_guard() else { return };
        // A read-only process leaves them to the next writer.
        if self.spool.is_quiet() || self.store.only_reads() {
            return;
        }
        let at_once = match until {
            Some(_) => limits::SPOOL_BATCH_HURRIED,
            None => limits::SPOOL_BATCH_MAX,
        };
        loop {
            let changed = self.spool.changed();
            let files = self.spool.files();
            if files.is_empty() {
                // The remaining files are held back or belong to another user.
                *self.spool.empty_since() = Some(changed);
                return;
            }
            let mut cleared = 0;
            for batch in files.chunks(at_once) {
                let Some(gone) = self.ingest_files(batch, until) else { return };
                cleared += gone;
                if until.is_some_and(|until| Instant::now() >= until) {
                    return;
                }
            }
            // If no file can be removed, stop: the loop would read the same files for ever. Each event is recorded
            // once anyway.
            if cleared == 0 {
                return;
            }
        }
    }

    /// Ingests one spooled event ahead of others, and before it the earlier ones of its session: the order matters
    /// within a session. A session that starts with this event has no earlier ones.
    pub(crate) fn ingest_first(&self, event: &HookEvent, until: Instant) {
        let mut files = self.spool.files();
        let end = format!("-{}.json", event.id);
        let is_it = |path: &Path| path.to_string_lossy().ends_with(&end);
        let Some(place) = files.iter().position(|path| is_it(path)) else { return };
        files.truncate(place + 1);
        let begins = matches!(event.what, Happening::SessionStarted(Source::Startup));
        let mut wanted = Vec::new();
        for path in files {
            if Instant::now() >= until {
                return;
            }
            if is_it(&path) || (!begins && is_of(&path, &event.session)) {
                wanted.push(path);
            }
        }
        for batch in wanted.chunks(limits::SPOOL_BATCH_HURRIED) {
            if self.ingest_files(batch, Some(until)).is_none() {
                return;
            }
        }
    }

    /// Ingests the events of these files. Returns the number of removed files, or `None` if the store refuses the
    /// events.
    fn ingest_files(&self, batch: &[PathBuf], until: Option<Instant>) -> Option<usize> {
        let mut cleared = 0;
        let mut waiting = Vec::new();
        let now = (self.clock)();
        for path in batch {
            match read(path) {
                Ok(Some(event)) => {
                    let at = time::plausible(event.at, now);
                    waiting.push((path.clone(), HookEvent { at, ..event }));
                }
                Ok(None) => cleared += usize::from(set_aside(path)),
                // The file cannot be read, or another process has removed it. If it still exists, a later pass reads
                // it.
                Err(_) => {}
            }
        }
        let count = waiting.len();
        match self.ingest_or_split(&waiting, until) {
            Ok(taken) => {
                if taken > 0 {
                    self.log
                        .info("spool", format_args!("ingested {}", text::counted(taken, "event")));
                }
                Some(cleared + taken)
            }
            Err(error) => {
                let word = error.code.row().word;
                self.log.warn("spool", format_args!("{count} events wait: {word}"));
                self.spool.refused();
                None
            }
        }
    }

    /// Ingests these events in one transaction. If it fails because of an event, each half is tried on its own, so
    /// that only the failing event is held back. Returns how many files were removed, or the error of the store.
    fn ingest_or_split(
        &self,
        waiting: &[(PathBuf, HookEvent)],
        until: Option<Instant>,
    ) -> Result<usize, OpError> {
        if waiting.is_empty() {
            return Ok(0);
        }
        let events = waiting.iter().map(|(_, event)| event.clone()).collect();
        match (self.ingest_events(events), waiting) {
            (Ok(()), _) => {
                let removed = waiting.iter().filter(|(path, _)| std::fs::remove_file(path).is_ok());
                Ok(removed.count())
            }
            (Err(error), _) if is_store_error(&error) => Err(error),
            (Err(error), [(path, event)]) => {
                let (name, word) = (&event.name, error.code.row().word);
                self.log.warn("spool", format_args!("an event {name} failed and waits: {word}"));
                self.spool.hold(path, &error);
                Ok(0)
            }
            // Out of time: the next process ingests the rest.
            (Err(_), _) if until.is_some_and(|until| Instant::now() >= until) => Ok(0),
            (Err(_), several) => {
                let (first, second) = several.split_at(several.len() / 2);
                Ok(self.ingest_or_split(first, until)? + self.ingest_or_split(second, until)?)
            }
        }
    }

    /// Ingests these events, all or none. A panic counts as an error of the events.
    pub(crate) fn ingest_events(&self, events: Vec<HookEvent>) -> Result<(), OpError> {
        let ingest_events = || {
            for event in &events {
                self.builtin.saw(&event.record());
                self.places.prepare(event);
            }
            let recorder = self.recorder();
            let write = Write { at: (self.clock)(), ..Write::default() };
            let stored = self.store.write(write, move |tx| {
                events.iter().try_for_each(|event| recorder.record(tx, event).map(drop))
            });
            stored.map(drop)
        };
        catch_unwind(AssertUnwindSafe(ingest_events))
            .unwrap_or_else(|_| Err(OpError::internal("recording events of the spool panicked")))
    }
}

/// Whether the store failed, and not an event.
fn is_store_error(error: &OpError) -> bool {
    matches!(error.code, Code::Unavailable | Code::Timeout)
}

/// Moves a file that is not an event to `unreadable`, so that it is kept but not read again.
fn set_aside(path: &Path) -> bool {
    let Some((folder, name)) = path.parent().zip(path.file_name()) else { return false };
    let aside = folder.join("unreadable");
    let _ = std::fs::create_dir_all(&aside);
    std::fs::rename(path, aside.join(name)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// @spool_files_of_others_are_not_read
    #[test]
    fn a_file_of_another_user_is_reported_and_not_ingested() {
        let folder = std::env::temp_dir().join(format!("rekindle-owner-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("000000000000001-a.json");
        std::fs::write(&file, "{}").unwrap();
        let user = std::fs::symlink_metadata(&file).unwrap().uid();
        let spool = |user| Spool::new([folder.clone(), folder.join("none")], user);
        assert_eq!(spool(user).files(), vec![file.clone()]);
        assert_eq!(spool(user).waiting().foreign, [] as [PathBuf; 0]);
        let other = spool(user.wrapping_add(1));
        assert_eq!(other.files(), [] as [PathBuf; 0]);
        assert_eq!(
            other.waiting(),
            SpoolContents { foreign: vec![file], ..SpoolContents::default() }
        );
        assert_eq!(
            own_files(std::slice::from_ref(&folder), user.wrapping_add(1)),
            [] as [PathBuf; 0]
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_held_event_waits_twice_as_long_after_each_failure_up_to_a_maximum() {
        let spool = Spool::new(["a".into(), "b".into()], 0);
        let (path, error) = (Path::new("a/1.json"), OpError::internal("no"));
        let wait = |spool: &Spool| spool.held().get(path).map(|held| held.wait);
        spool.hold(path, &error);
        assert_eq!(wait(&spool), Some(limits::SPOOL_HELD_MIN));
        spool.hold(path, &error);
        assert_eq!(wait(&spool), Some(limits::SPOOL_HELD_MIN * 2));
        (0..40).for_each(|_| spool.hold(path, &error));
        assert_eq!(wait(&spool), Some(limits::SPOOL_HELD_MAX));
    }

    /// A spool of two directories that this user owns.
    struct TwoFolders(PathBuf);

    impl Drop for TwoFolders {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    impl TwoFolders {
        fn new(name: &str) -> TwoFolders {
            let dir =
                std::env::temp_dir().join(format!("rekindle-spool-{}-{name}", std::process::id()));
            std::fs::create_dir_all(dir.join("a")).unwrap();
            std::fs::create_dir_all(dir.join("b")).unwrap();
            TwoFolders(dir)
        }

        fn spool(&self) -> Spool {
            let user = std::fs::metadata(&self.0).unwrap().uid();
            Spool::new([self.0.join("a"), self.0.join("b")], user)
        }

        fn write(&self, name: &str, text: &str) -> PathBuf {
            std::fs::write(self.0.join(name), text).unwrap();
            self.0.join(name)
        }

        /// Makes a file or directory look as if it changed so long ago.
        fn age(&self, name: &str, age: Duration) {
            let file = std::fs::File::open(self.0.join(name)).unwrap();
            let now = file.metadata().unwrap().modified().unwrap();
            file.set_modified(now - age).unwrap();
        }
    }

    #[test]
    fn events_of_both_directories_are_in_the_order_of_their_names() {
        let folders = TwoFolders::new("order");
        let third = folders.write("a/000000000000003-x.json", "{}");
        let first = folders.write("b/000000000000001-x.json", "{}");
        let second = folders.write("a/000000000000002-x.json", "{}");
        folders.write("a/000000000000004-x.part", "{}");
        assert_eq!(folders.spool().files(), [first, second, third]);
        let one = folders.0.join("a");
        let user = folders.spool().owner;
        assert_eq!(own_files(&[one.clone(), one], user).len(), 2, "both directories may be one");
    }

    #[test]
    fn files_that_hooks_left_half_written_are_removed_after_an_hour() {
        let folders = TwoFolders::new("sweep");
        let old = folders.write("a/1.part", "");
        let event = folders.write("a/2.json", "");
        let fresh = folders.write("b/3.part", "");
        folders.age("a/1.part", limits::SPOOL_PART_AGE + Duration::from_secs(5));
        folders.age("a/2.json", limits::SPOOL_PART_AGE + Duration::from_secs(5));
        folders.spool().sweep();
        assert_eq!((old.exists(), event.exists(), fresh.exists()), (false, true, true));
    }

    #[test]
    fn a_spool_is_quiet_while_nothing_came_since_it_was_found_empty() {
        let folders = TwoFolders::new("quiet");
        let spool = folders.spool();
        folders.age("a", Duration::from_secs(60));
        folders.age("b", Duration::from_secs(60));
        assert!(!spool.is_quiet() && spool.is_due(), "nobody has looked yet");
        *spool.empty_since() = Some(spool.changed());
        assert!(spool.is_quiet() && !spool.is_due());
        let file = folders.write("b/1.json", "{}");
        assert!(!spool.is_quiet(), "an event came");
        *spool.empty_since() = Some(spool.changed());
        assert!(!spool.is_quiet(), "the time of a directory that just changed tells nothing");
        folders.age("b", Duration::from_secs(60));
        *spool.empty_since() = Some(spool.changed());
        assert!(spool.is_quiet());
        let now = Instant::now();
        let held = |until| HeldEvent { wait: Duration::ZERO, until, why: "internal" };
        spool.held().insert(file.clone(), held(now + Duration::from_secs(60)));
        assert!(spool.is_quiet(), "the held event is not due");
        spool.held().insert(file, held(now));
        assert!(!spool.is_quiet());
        spool.refused();
        assert!(!spool.is_due(), "the store refused it just now");
    }

    #[test]
    fn a_held_event_is_not_ingested_before_its_time_and_is_reported() {
        let folders = TwoFolders::new("held");
        let spool = folders.spool();
        let file = folders.write("a/1.json", "{}");
        let other = folders.write("a/2.json", "{}");
        spool.hold(&file, &OpError::internal("no"));
        spool.hold(&folders.0.join("a/gone.json"), &OpError::internal("no"));
        let waiting = spool.waiting();
        assert_eq!((waiting.events, &*waiting.held), (2, &["1.json (internal)".to_owned()][..]));
        assert_eq!(spool.files(), [other]);
        assert_eq!(spool.held().len(), 1, "a file that is gone is forgotten");
    }

    #[test]
    fn held_and_foreign_events_are_noted_for_the_status() {
        let note = |held: usize, foreign: usize| {
            let held = vec!["x".to_owned(); held];
            SpoolContents {
                held,
                foreign: vec![PathBuf::new(); foreign],
                ..SpoolContents::default()
            }
            .note()
        };
        assert_eq!(note(0, 0), None);
        let one = "1 event in the spool could not be stored yet; see `rekindle doctor`";
        assert_eq!(note(1, 0).as_deref(), Some(one));
        let both = "2 events in the spool could not be stored yet; 1 event in the spool, owned by \
                    another user; see `rekindle doctor`";
        assert_eq!(note(2, 1).as_deref(), Some(both));
    }

    #[test]
    fn one_thread_at_a_time_ingests_the_spool() {
        let spool = Spool::new(["a".into(), "b".into()], 0);
        let turn = spool.ingest_guard();
        assert!(turn.is_some());
        assert!(spool.ingest_guard().is_none(), "the others go on without after a moment");
        drop(turn);
        assert!(spool.ingest_guard().is_some());
    }

    #[test]
    fn only_files_are_read_as_events_and_only_of_a_session_by_its_name() {
        let folders = TwoFolders::new("read");
        std::fs::create_dir(folders.0.join("a/1.json")).unwrap();
        assert!(matches!(read(&folders.0.join("a/1.json")), Ok(None)));
        assert!(matches!(read(&folders.write("a/2.json", "{}")), Ok(None)));
        assert!(!is_file(&folders.0.join("a/none.json")));
        let of = folders.write("a/3.json", r#"{"id":1,"session":"s-\u0031"}"#);
        assert!(is_of(&of, "s-1") && !is_of(&of, "s-2"));
        assert!(!is_of(&folders.0.join("a/none.json"), ""));
    }

    #[test]
    fn a_file_that_is_no_event_is_kept_aside() {
        let folders = TwoFolders::new("aside");
        let file = folders.write("a/1.json", "no");
        assert!(set_aside(&file));
        assert!(!file.exists() && folders.0.join("a/unreadable/1.json").exists());
        assert_eq!(
            folders.spool().waiting(),
            SpoolContents { unreadable: 1, ..SpoolContents::default() }
        );
        assert!(!set_aside(&file), "it is gone");
    }
}
