//! Closing a store: queued writes are finished, the WAL is checkpointed or left, later calls are refused.

use model::{Code, limits};

use super::{Home, answer, at_now, fill, hint, hold_writer, other_connection, wal};
use crate::{files, hints};

#[test]
fn a_daemon_leaves_one_file() {
    let home = Home::new();
    let opening = home.open();
    opening.set("a", "v").unwrap();
    assert_eq!(opening.keys(), ["a"]);
    opening.store.close();
    assert_eq!(home.names(), ["rekindle.db"]);
    assert_eq!(home.open().keys(), ["a"]);
}

#[test]
fn queued_writes_are_finished_and_later_calls_are_unavailable() {
    let home = Home::new();
    let opening = home.open();
    let release = hold_writer(&opening.store);
    let waiting = opening.store.submit(at_now(), |tx| hints::put(tx, &hint("a", "v"))).unwrap();
    let store = opening.store.clone();
    let closing = std::thread::spawn(move || store.close());
    drop(release);
    closing.join().unwrap();
    answer(&waiting).unwrap();
    assert_eq!(opening.set("b", "v").unwrap_err().code, Code::Unavailable);
    assert_eq!(opening.store.read(|_| Ok(())).unwrap_err().code, Code::Unavailable);
    let refused = opening.store.backup(&home.0.join("copy"), &|_, _| Ok(())).unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    opening.store.close();
    assert_eq!(home.open().keys(), ["a"]);
}

#[test]
fn dropping_the_last_handle_closes_the_store() {
    let home = Home::new();
    home.open().set("a", "v").unwrap();
    assert_eq!(home.names(), ["rekindle.db"]);
}

#[test]
fn a_one_shot_leaves_a_small_log_to_others_and_moves_a_large_one() {
    let home = Home::new();
    let mut options = home.options();
    options.one_shot = true;
    let opening = home.open_with(options.clone()).unwrap();
    opening.set("a", "v").unwrap();
    opening.store.close();
    let small = files::bytes(&wal(&home.db()));
    assert!(small > 0 && small <= limits::ONE_SHOT_WAL_BYTES_MAX, "{small}");
    let opening = home.open_with(options).unwrap();
    assert_eq!(opening.keys(), ["a"], "the next one reads the log");
    fill(&opening.store, 2000);
    let large = files::bytes(&wal(&home.db()));
    assert!(large > limits::ONE_SHOT_WAL_BYTES_MAX, "{large}");
    opening.store.close();
    assert_eq!(files::bytes(&wal(&home.db())), 0);
    let db = other_connection(&home.db());
    let count: u64 =
        db.query_row("SELECT count(*) FROM hint_variants", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 2001);
}

#[test]
fn the_shared_lock_of_a_database_is_removed_when_it_is_closed() {
    let home = Home::new();
    let locks = home.0.join("locks");
    let options = || crate::Options { identity_locks: Some(locks.clone()), ..home.options() };
    let entries = || std::fs::read_dir(&locks).unwrap().count();
    let opening = home.open_with(options()).unwrap();
    assert_eq!((super::mode(&locks), entries()), (0o700, 1));
    opening.store.close();
    assert_eq!(entries(), 0);
    // A process that leaves writes in the WAL leaves the entry, too.
    let opening = home.open_with(crate::Options { one_shot: true, ..options() }).unwrap();
    opening.set("a", "v").unwrap();
    opening.store.close();
    assert_eq!(entries(), 1);
    home.open_with(options()).unwrap().store.close();
    assert_eq!(entries(), 0);
}

#[test]
fn a_database_opens_without_a_usable_directory_for_shared_locks() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = Home::new();
    let (open, link) = (home.0.join("open"), home.0.join("link"));
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    symlink(std::env::temp_dir(), &link).unwrap();
    for locks in [&open, &link, &home.0.join("missing/locks")] {
        let options = crate::Options { identity_locks: Some(locks.clone()), ..home.options() };
        home.open_with(options).unwrap().set("a", "v").unwrap();
    }
    assert_eq!(std::fs::read_dir(&open).unwrap().count(), 0);
}
