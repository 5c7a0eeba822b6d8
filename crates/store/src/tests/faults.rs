//! Faults that are no damage: a full disk, a lock, a read-only file, a database that is not ours.

use std::fs;
use std::path::Path;

use model::{Code, OpError};

use super::{
    BUSY, Home, answer, at_now, call, hint, hold_writer, long, make_database, mode,
    other_connection, wal,
};
use crate::{Options, Store, StoreError, Write, Written, connection, files, hints};

#[test]
fn a_full_disk_is_unavailable_and_what_was_acknowledged_stays() {
    let home = Home::new();
    let mut options = home.options();
    options.page_count_max = Some(150);
    let opening = home.open_with(options).unwrap();
    let mut acknowledged = Vec::new();
    let refused = (0..1000).find_map(|i| match opening.set(&format!("k{i:04}"), &long(i)) {
        Ok(()) => {
            acknowledged.push(format!("k{i:04}"));
            None
        }
        Err(error) => Some(error),
    });
    let refused = refused.unwrap();
    assert_eq!(refused.code, Code::Unavailable);
    assert_eq!(refused.message, "the disk or the quota is full");
    assert!(acknowledged.len() > 20);
    assert_eq!(opening.keys(), acknowledged);
    let freed = opening
        .store
        .write(at_now(), |tx| tx.sql(|db| db.execute("DELETE FROM hint_variants", [])));
    assert!(matches!(freed, Ok(Written::Done(rows)) if rows == acknowledged.len()));
    opening.set("room", "again").unwrap();
    assert_eq!(opening.keys(), ["room"]);
}

#[test]
fn a_write_that_does_not_fit_does_not_affect_others_in_its_group() {
    let home = Home::new();
    let mut options = home.options();
    options.page_count_max = Some(90);
    let opening = home.open_with(options).unwrap();
    let release = hold_writer(&opening.store);
    let put = |key: &'static str, value: String| {
        opening.store.submit(at_now(), move |tx| hints::put(tx, &hint(key, &value))).unwrap()
    };
    let replies = [put("a", "v".into()), put("b", "x".repeat(400_000)), put("c", "v".into())];
    drop(release);
    let codes: Vec<_> = replies.iter().map(|r| answer(r).err().map(|e| e.code)).collect();
    assert_eq!(codes, [None, Some(Code::Unavailable), None]);
    assert_eq!(opening.keys(), ["a", "c"]);
}

#[test]
fn a_transaction_that_sqlite_gave_up_is_run_again_job_by_job() {
    let opening = Home::new().open();
    let release = hold_writer(&opening.store);
    let a = opening.store.submit(call(1), |tx| hints::put(tx, &hint("a", "v"))).unwrap();
    let vandal = opening
        .store
        .submit(at_now(), |tx| {
            hints::put(tx, &hint("vandal", "v"))?;
            tx.sql(|db| db.execute_batch("ROLLBACK"))
        })
        .unwrap();
    let c = opening.store.submit(call(2), |tx| hints::put(tx, &hint("c", "v"))).unwrap();
    drop(release);
    assert_eq!(answer(&a).unwrap(), Written::Done(()));
    assert_eq!(answer(&vandal).unwrap_err().code, Code::Unavailable);
    assert_eq!(answer(&c).unwrap(), Written::Done(()));
    assert_eq!(opening.keys(), ["a", "c"]);
}

#[test]
fn a_lock_of_another_process_is_unavailable_until_it_goes() {
    let home = Home::new();
    let opening = home.open();
    let other = other_connection(&home.db());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = opening.set("a", "v").unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert!(refused.message.contains("locked"), "{refused}");
    assert_eq!(opening.keys(), Vec::<String>::new(), "reading works all the same");
    other.execute_batch("ROLLBACK").unwrap();
    opening.set("a", "v").unwrap();
    assert_eq!(home.names().iter().filter(|name| name.contains("corrupt")).count(), 0);
}

#[test]
fn a_locked_database_cannot_be_opened_and_is_not_damaged() {
    let home = Home::new();
    home.open().store.close();
    let other = other_connection(&home.db());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(home.open_with(home.options()).err(), Some(StoreError::Busy));
    drop(other);
    home.open().set("a", "v").unwrap();
}

#[test]
fn a_one_shot_command_reads_a_locked_database_and_writes_once_it_is_free() {
    let home = Home::new();
    let opening = home.open();
    opening.set("a", "v").unwrap();
    opening.store.close();
    let other = other_connection(&home.db());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let opening = home.open_with(Options { one_shot: true, ..home.options() }).unwrap();
    assert!(opening.store.only_reads());
    assert_eq!(opening.keys(), ["a"]);
    let refused = opening.set("b", "v").unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert!(refused.message.contains("locked"), "{refused}");
    other.execute_batch("ROLLBACK").unwrap();
    opening.set("b", "v").unwrap();
    assert!(!opening.store.only_reads());
    assert_eq!(opening.keys(), ["a", "b"]);
}

#[test]
fn a_store_opened_to_read_works_beside_a_writer_and_changes_nothing() {
    let home = Home::new();
    let reader = |home: &Home| {
        Store::open_to_read(home.options(), Box::new(|_, _| Ok(())), Box::new(|_| {}))
    };
    assert!(reader(&home).is_err() && !home.db().exists(), "it makes none");
    let writer = home.open();
    writer.set("a", "v").unwrap();
    let store = reader(&home).unwrap();
    assert!(store.only_reads());
    let keys = |store: &Store| store.read(|rx| hints::all(rx).map(|all| all.len())).unwrap();
    assert_eq!(keys(&store), 1);
    let refused = store.write(Write::default(), hints::clear_session).unwrap_err();
    assert_eq!(refused.code, Code::Unavailable, "{refused}");
    writer.set("b", "v").unwrap();
    assert_eq!(keys(&store), 2, "and the writer goes on");
    store.close();
    writer.set("c", "v").unwrap();
}

#[test]
fn a_read_only_database_is_unavailable_for_writes_only() {
    let home = Home::new();
    let opening = home.open();
    opening.set("a", "v").unwrap();
    // File permissions do not stop root, so `query_only` makes SQLite refuse writes.
    let refuse = |tx: &crate::Tx<'_>| tx.sql(|db| db.pragma_update(None, "query_only", true));
    opening.store.write(at_now(), refuse).unwrap();
    let refused = opening.set("b", "v").unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert_eq!(refused.message, "the database is read-only");
    assert_eq!(opening.keys(), ["a"]);
    opening.store.close();
    assert_eq!(home.open().keys(), ["a"]);
}

#[test]
fn a_database_of_a_newer_build_is_refused_untouched() {
    for in_log in [false, true] {
        let home = Home::new();
        make_database(&home.db(), "theirs");
        let other = other_connection(&home.db());
        let newer = connection::SCHEMA_VERSION + 1;
        other.pragma_update(None, "user_version", newer).unwrap();
        if !in_log {
            connection::checkpoint(&other).unwrap();
            connection::tidy_on_close(&other);
        }
        drop(other);
        let before = (fs::read(home.db()).unwrap(), fs::read(wal(&home.db())).ok());
        assert_eq!(before.1.is_some(), in_log);
        let refused = home.open_with(home.options()).err().unwrap();
        assert_eq!(refused, StoreError::NewerSchema { found: newer, ours: newer - 1 });
        assert_eq!((fs::read(home.db()).unwrap(), fs::read(wal(&home.db())).ok()), before);
        if !in_log {
            assert_eq!(home.names(), ["rekindle.db"], "nothing was made beside it");
        }
    }
}

#[test]
fn a_database_of_another_application_is_refused_untouched() {
    for application_id in [0, 77] {
        let home = Home::new();
        drop(files::create_private(&home.db()).unwrap());
        let other = other_connection(&home.db());
        other.pragma_update(None, "application_id", application_id).unwrap();
        other.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
        drop(other);
        let before = fs::read(home.db()).unwrap();
        let refused = home.open_with(home.options()).err().unwrap();
        assert!(refused.to_string().ends_with("is a database of another application"), "{refused}");
        assert_eq!(fs::read(home.db()).unwrap(), before);
        assert_eq!(home.names(), ["rekindle.db"]);
    }
}

#[test]
fn a_path_that_cannot_be_a_file_is_an_error_not_damage() {
    let home = Home::new();
    fs::create_dir(home.db()).unwrap();
    let refused = home.open_with(home.options()).err().unwrap();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
    assert_eq!(home.names(), ["rekindle.db"]);
}

#[test]
fn a_damaged_database_of_another_application_is_refused_untouched() {
    use std::os::unix::fs::FileExt;
    for (at, spoilt) in [(0, vec![b'!'; 100]), (100, vec![0xa5; 2_000])] {
        let home = Home::new();
        drop(files::create_private(&home.db()).unwrap());
        let other = other_connection(&home.db());
        other.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
        drop(other);
        let file = fs::OpenOptions::new().write(true).open(home.db()).unwrap();
        file.write_all_at(&spoilt, at).unwrap();
        let before = fs::read(home.db()).unwrap();
        let refused = home.open_with(home.options()).err().unwrap();
        assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
        assert_eq!(fs::read(home.db()).unwrap(), before);
        assert_eq!(home.names(), ["rekindle.db"]);
    }
}

#[test]
fn devices_and_system_files_are_refused_as_databases() {
    for path in ["/dev/zero", "/dev/null", "/dev/tty", "/proc/version", "/proc/self/mem", "/"] {
        assert!(crate::check_file(Path::new(path), &[]).is_err(), "{path}");
    }
}

#[test]
fn only_the_user_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let opening = home.open();
    opening.set("a", "v").unwrap();
    for file in ["rekindle.db", "rekindle.db-wal", "rekindle.db-shm"] {
        assert_eq!(mode(&home.0.join(file)), 0o600, "{file}");
    }
    opening.store.close();
    fs::set_permissions(home.db(), fs::Permissions::from_mode(0o644)).unwrap();
    let _opening = home.open();
    assert_eq!(mode(&home.db()), 0o600);
    assert_eq!(mode(&wal(&home.db())), 0o600);
}

#[test]
fn a_failed_open_callback_is_rolled_back() {
    let home = Home::new();
    let refused = Store::open_within(
        home.options(),
        BUSY,
        Box::new(|tx, _| {
            hints::put(tx, &hint("half", "done"))?;
            Err(OpError::invalid("x", "not today"))
        }),
        Box::new(|_| ()),
    );
    assert_eq!(refused.err(), Some(StoreError::Io("not today".into())));
    assert_eq!(home.open().keys(), Vec::<String>::new());
}
