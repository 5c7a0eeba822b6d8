//! The file is deleted or replaced while it is in use: nothing is acknowledged into the void.

use std::fs;

use model::Code;
use model::event::Event;

use super::{Home, at_now, call, hint, make_database, name, other_connection, wal};
use crate::{Opened, Written, connection, files, hints};

#[test]
fn after_the_file_is_deleted_a_write_goes_to_a_new_one() {
    let home = Home::new();
    let opening = home.open();
    opening.set("old", "v").unwrap();
    fs::remove_file(home.db()).unwrap();
    opening.set("new", "v").unwrap();
    assert_eq!(opening.how_opened(), [Opened::First, Opened::Fresh]);
    assert_eq!(opening.keys(), ["new"], "the old log was not replayed");
    let said = opening.store.notices();
    assert!(said[0].contains("vanished"), "{said:?}");
    opening.store.close();
    assert_eq!(home.open().keys(), ["new"]);
}

#[test]
fn a_file_that_is_deleted_during_a_write_does_not_swallow_it() {
    let home = Home::new();
    let opening = home.open();
    let mut runs = 0;
    let path = home.db();
    let written = opening.store.write(call(1), move |tx| {
        runs += 1;
        hints::put(tx, &hint("a", "v"))?;
        if runs == 1 {
            fs::remove_file(&path).unwrap();
        }
        Ok(runs)
    });
    assert_eq!(written.unwrap(), Written::Done(2));
    opening.store.close();
    let again = home.open();
    assert_eq!(again.keys(), ["a"]);
    assert_eq!(again.store.write(call(1), |_| Ok(0)).unwrap(), Written::Repeated("2".into()));
}

#[test]
fn a_reader_notices_that_the_file_is_gone() {
    let home = Home::new();
    let opening = home.open();
    opening.set("old", "v").unwrap();
    assert_eq!(opening.keys(), ["old"]);
    fs::remove_file(home.db()).unwrap();
    assert_eq!(opening.keys(), Vec::<String>::new());
    assert_eq!(opening.how_opened(), [Opened::First, Opened::Fresh]);
}

#[test]
fn the_whole_folder_may_go() {
    let home = Home::new();
    let mut options = home.options();
    options.path = home.0.join("data/rekindle.db");
    let opening = home.open_with(options).unwrap();
    opening.set("old", "v").unwrap();
    fs::remove_dir_all(home.0.join("data")).unwrap();
    opening.set("new", "v").unwrap();
    assert_eq!(opening.keys(), ["new"]);
    assert_eq!(super::mode(&home.0.join("data")), 0o700);
}

#[test]
fn another_database_in_its_place_is_used_and_the_old_log_is_not_replayed_onto_it() {
    let home = Home::new();
    let opening = home.open();
    opening.set("old", "v").unwrap();
    assert!(files::bytes(&wal(&home.db())) > 0, "the write is in the log");
    let other = home.0.join("other.db");
    make_database(&other, "theirs");
    fs::rename(&other, home.db()).unwrap();
    opening.set("new", "v").unwrap();
    assert_eq!(opening.how_opened(), [Opened::First, Opened::Replaced]);
    assert_eq!(opening.keys(), ["new", "theirs"]);
    opening.store.close();
    assert_eq!(home.open().keys(), ["new", "theirs"]);
}

#[test]
fn a_replacement_with_its_own_log_keeps_that_log() {
    let home = Home::new();
    let opening = home.open();
    opening.set("old", "v").unwrap();
    let theirs = Home::new();
    let mut options = theirs.options();
    options.one_shot = true;
    let their_opening = theirs.open_with(options).unwrap();
    their_opening.set("only-in-the-log", "v").unwrap();
    their_opening.store.close();
    fs::remove_file(wal(&home.db())).unwrap();
    fs::remove_file(files::beside(&home.db(), "-shm")).unwrap();
    fs::copy(wal(&theirs.db()), wal(&home.db())).unwrap();
    let copy = home.0.join("copy");
    fs::copy(theirs.db(), &copy).unwrap();
    fs::rename(&copy, home.db()).unwrap();
    assert_eq!(opening.keys(), ["only-in-the-log"]);
    assert_eq!(opening.how_opened(), [Opened::First, Opened::Replaced]);
}

#[test]
fn a_replacement_before_the_end_is_not_harmed_by_the_end() {
    let home = Home::new();
    let opening = home.open();
    opening.set("old", "v").unwrap();
    let other = home.0.join("other.db");
    make_database(&other, "theirs");
    fs::rename(&other, home.db()).unwrap();
    opening.store.close();
    assert_eq!(home.names(), ["rekindle.db"], "no log is left to be replayed");
    assert_eq!(home.open().keys(), ["theirs"]);
}

#[test]
fn a_log_that_is_deleted_costs_nothing() {
    let home = Home::new();
    let opening = home.open();
    opening.set("a", "v").unwrap();
    assert_eq!(opening.keys(), ["a"]);
    fs::remove_file(wal(&home.db())).unwrap();
    opening.set("b", "v").unwrap();
    fs::remove_file(files::beside(&home.db(), "-shm")).unwrap();
    opening.set("c", "v").unwrap();
    assert_eq!(opening.keys(), ["a", "b", "c"]);
    assert_eq!(opening.how_opened(), [Opened::First], "it is the same database");
    opening.store.close();
    assert_eq!(home.open().keys(), ["a", "b", "c"]);
}

#[test]
fn a_log_that_is_deleted_during_a_write_does_not_swallow_it() {
    let home = Home::new();
    let opening = home.open();
    let log = wal(&home.db());
    let mut runs = 0;
    let written = opening.store.write(at_now(), move |tx| {
        runs += 1;
        let _ = fs::remove_file(&log);
        hints::put(tx, &hint("a", "v")).map(|()| runs)
    });
    assert_eq!(written.unwrap(), Written::Done(1));
    // As a kill would leave it: only what is on disk counts.
    let copy = home.0.join("copy.db");
    fs::copy(home.db(), &copy).unwrap();
    if let Ok(bytes) = fs::read(wal(&home.db())) {
        fs::write(wal(&copy), bytes).unwrap();
    }
    let db = other_connection(&copy);
    let count: u64 =
        db.query_row("SELECT count(*) FROM hint_variants", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
}

#[test]
fn a_newer_database_in_its_place_is_left_alone_until_it_goes() {
    let home = Home::new();
    let opening = home.open();
    opening.set("old", "v").unwrap();
    let other = home.0.join("other.db");
    make_database(&other, "theirs");
    let db = other_connection(&other);
    db.pragma_update(None, "user_version", connection::SCHEMA_VERSION + 1).unwrap();
    connection::checkpoint(&db).unwrap();
    connection::tidy_on_close(&db);
    drop(db);
    let before = fs::read(&other).unwrap();
    fs::rename(&other, home.db()).unwrap();
    for refused in [opening.set("new", "v"), opening.store.read(|_| Ok(()))] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.code, Code::Unavailable);
        assert!(refused.message.contains("schema version"), "{refused}");
    }
    assert_eq!(fs::read(home.db()).unwrap(), before);
    fs::remove_file(home.db()).unwrap();
    opening.set("new", "v").unwrap();
    assert_eq!(opening.keys(), ["new"]);
    assert_eq!(opening.how_opened(), [Opened::First, Opened::Fresh]);
}

#[test]
fn the_sequence_of_events_goes_on_in_a_new_file() {
    let home = Home::new();
    let opening = home.open();
    let note = || {
        let event = || Event::new("hint/changed", "hint://web/a".into());
        opening.store.write(at_now(), move |tx| tx.note(event())).unwrap();
        opening.published.recv().unwrap()[0].seq
    };
    assert_eq!((note(), note()), (1, 2));
    fs::remove_file(home.db()).unwrap();
    // One number is reserved for the versions of contexts in the new file.
    assert_eq!((note(), note()), (4, 5));
}

#[test]
fn a_file_that_never_stays_is_unavailable_and_the_writer_lives_on() {
    let home = Home::new();
    let opening = home.open();
    let path = home.db();
    let refused = opening.store.write(at_now(), move |_| {
        fs::remove_file(&path).unwrap();
        Ok(())
    });
    assert_eq!(refused.unwrap_err().code, Code::Unavailable);
    opening.set("a", "v").unwrap();
    assert_eq!(opening.store.read(|rx| hints::variants(rx, &name("a"))).unwrap()[0].version, 1);
}
