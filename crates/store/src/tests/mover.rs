//! WAL checkpoints while another connection writes or reads.

use std::time::{Duration, Instant};

use model::limits;
use rusqlite::Connection;

use super::{Home, desk, other_connection, wal};
use crate::mover::Mover;
use crate::{Options, Tx};
use crate::{connection, files};

/// Writes about so many pages in one transaction.
fn write(db: &Connection, pages: usize) {
    db.execute_batch("BEGIN").unwrap();
    let mut insert = db.prepare_cached("INSERT INTO filler VALUES (randomblob(3000))").unwrap();
    (0..pages).for_each(|_| assert_eq!(insert.execute([]), Ok(1)));
    drop(insert);
    db.execute_batch("COMMIT").unwrap();
}

/// @a_long_log_is_moved
#[test]
fn a_long_wal_is_checkpointed_during_writes_and_restarts() {
    let home = Home::new();
    drop(home.open());
    let db = other_connection(&home.db());
    db.execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE filler (bytes BLOB)").unwrap();
    let pages = || connection::log(&db).unwrap().pages;
    let mut mover = Mover::of(100);
    write(&db, 50);
    mover.tend(&db, &home.db());
    mover.finish();
    assert_eq!(connection::log(&db).unwrap().moved, 0, "a short log is left alone");
    write(&db, 100);
    let (mut longest, mut written) = (pages(), 150);
    while pages() >= 100 && written < 100_000 {
        mover.tend(&db, &home.db());
        write(&db, 1);
        (longest, written) = (longest.max(pages()), written + 1);
    }
    assert!(longest > 150 && pages() < 100, "the log begins anew after {longest} pages");
    mover.finish();
    let rows: usize = db.query_row("SELECT count(*) FROM filler", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, written);
}

/// @a_long_log_is_moved
#[test]
fn the_wal_file_is_truncated_unless_a_reader_needs_it() {
    let home = Home::new();
    drop(home.open());
    let db = other_connection(&home.db());
    let bytes = || files::bytes(&wal(&home.db()));
    db.execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE filler (bytes BLOB)").unwrap();
    write(&db, 50);
    let reader = other_connection(&home.db());
    reader.execute_batch("BEGIN; SELECT count(*) FROM filler").unwrap();
    write(&db, 50);
    let before = bytes();
    assert!(!connection::shorten_log(&db, limits::STORE_BUSY).unwrap());
    assert_eq!(bytes(), before, "somebody reads it, and nobody waits for that");
    reader.execute_batch("COMMIT").unwrap();
    assert!(connection::shorten_log(&db, limits::STORE_BUSY).unwrap());
    assert_eq!(bytes(), 0);
}

/// @a_long_log_is_moved
#[test]
fn a_one_shot_process_checkpoints_while_it_writes_much() {
    let home = Home::new();
    drop(home.open());
    let other = other_connection(&home.db());
    other.execute_batch("CREATE TABLE filler (bytes BLOB)").unwrap();
    let open = home.open_with(Options { one_shot: true, ..home.options() }).unwrap();
    let pages = || connection::log(&other).unwrap().pages;
    let (mut longest, mut written) = (0, 0);
    while pages() >= longest && written < 100_000 {
        longest = pages();
        let fill = |tx: &Tx<'_>| {
            let insert = "INSERT INTO filler VALUES (randomblob(3000))";
            tx.sql(|db| (0..500).try_for_each(|_| db.prepare_cached(insert)?.execute([]).map(drop)))
        };
        desk::write(&open, fill);
        written += 500;
    }
    assert!(written < 100_000, "the log begins anew after {longest} pages");
}

/// Waits until this holds, or fails after a time that is long for any machine.
fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + 20 * limits::WAL_QUIET;
    while !holds() {
        assert!(Instant::now() < until, "did not happen: {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// @a_long_log_is_moved
#[test]
fn an_idle_store_empties_a_long_log_that_it_found_as_soon_as_no_reader_needs_it() {
    let home = Home::new();
    drop(home.open());
    let db = other_connection(&home.db());
    let bytes = || files::bytes(&wal(&home.db()));
    db.execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE filler (bytes BLOB)").unwrap();
    while bytes() <= limits::WAL_BYTES_KEPT {
        write(&db, 500);
    }
    let reader = other_connection(&home.db());
    reader.execute_batch("BEGIN; SELECT count(*) FROM filler").unwrap();
    let _open = home.open();
    wait_for("the log is moved beside the reader", || connection::log(&db).unwrap().moved > 0);
    assert!(bytes() > limits::WAL_BYTES_KEPT, "a reader needs it");
    reader.execute_batch("COMMIT").unwrap();
    wait_for("the log is emptied", || bytes() == 0);
}
