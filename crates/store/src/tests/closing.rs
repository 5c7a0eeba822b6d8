//! The end: what waits is finished, checkpoints are as decided, later calls are refused.

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
fn what_waits_is_finished_and_later_calls_are_unavailable() {
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
    let refused = opening.store.backup(&home.0.join("copy"), &|_, _| ()).unwrap_err();
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
