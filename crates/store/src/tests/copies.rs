//! Backup and restore.

use std::cell::RefCell;
use std::fs;

use model::Code;

use super::{Home, STAMP, fill, long, make_database, mode, other_connection, spoil_page_with, wal};
use crate::{Opened, connection, files};

#[test]
fn a_backup_is_restored_as_it_was() {
    let home = Home::new();
    let opening = home.open();
    fill(&opening.store, 100);
    let file = home.0.join("copy.db");
    let steps = RefCell::new(Vec::new());
    opening
        .store
        .backup(&file, &|left, all| {
            steps.borrow_mut().push((left, all));
            Ok(())
        })
        .unwrap();
    assert_eq!(steps.borrow().last().unwrap().0, 0);
    assert!(steps.borrow()[0].1 > 20);
    assert_eq!(mode(&file), 0o600);
    opening.set("k0007", "changed").unwrap();
    opening.set("later", "v").unwrap();
    let saved = opening.store.restore(&file).unwrap();
    assert_eq!(opening.how_opened(), [Opened::First, Opened::Replaced]);
    assert_eq!(opening.get("k0007"), Some(long(7)));
    assert_eq!(opening.get("later"), None);
    opening.set("after", "v").unwrap();
    assert_eq!(saved, home.0.join(format!("backups/before-restore-{STAMP}.db")));
    assert_eq!(mode(&saved), 0o600);
    opening.store.restore(&saved).unwrap();
    assert_eq!(opening.get("later").as_deref(), Some("v"));
    assert_eq!(opening.get("k0007").as_deref(), Some("changed"));
    opening.store.close();
    let names = home.names();
    assert_eq!(names, ["backups", "copy.db", "rekindle.db"], "nothing else is left");
}

#[test]
fn a_backup_is_one_moment_of_a_database_in_use() {
    let home = Home::new();
    let opening = home.open();
    fill(&opening.store, 2000);
    let file = home.0.join("copy.db");
    let writes = std::cell::Cell::new(0);
    let during = |_: u32, _: u32| {
        opening.set(&format!("during-{}", writes.get()), "v").unwrap();
        writes.set(writes.get() + 1);
        Ok(())
    };
    opening.store.backup(&file, &during).unwrap();
    assert!(writes.get() > 1, "the copy took several steps");
    let db = other_connection(&file);
    let count: u64 =
        db.query_row("SELECT count(*) FROM hint_variants", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 2000);
}

#[test]
fn a_backup_overwrites_nothing_and_leaves_nothing_behind() {
    let home = Home::new();
    let opening = home.open();
    let file = home.0.join("taken");
    fs::write(&file, "mine").unwrap();
    let refused = opening.store.backup(&file, &|_, _| Ok(())).unwrap_err();
    assert_eq!(refused.code, Code::Conflict);
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let nowhere = home.0.join("no/such/folder/copy.db");
    let refused = opening.store.backup(&nowhere, &|_, _| Ok(())).unwrap_err();
    assert_eq!(refused.code, Code::Invalid);
    assert!(refused.message.contains("does not exist"), "{refused}");
    opening.store.close();
    assert_eq!(home.names(), ["rekindle.db", "taken"]);
}

#[test]
fn only_an_intact_database_of_ours_is_restored() {
    let home = Home::new();
    let opening = home.open();
    opening.set("mine", "v").unwrap();
    let elsewhere = Home::new();
    let file = |name: &str| elsewhere.0.join(name);
    fs::write(file("garbage"), "no database\n".repeat(1000)).unwrap();
    fs::write(file("empty"), "").unwrap();
    fs::create_dir(file("folder")).unwrap();
    make_database(&file("newer"), "theirs");
    let db = other_connection(&file("newer"));
    db.pragma_update(None, "user_version", connection::SCHEMA_VERSION + 1).unwrap();
    drop(db);
    drop(files::create_private(&file("foreign")).unwrap());
    other_connection(&file("foreign")).execute_batch("CREATE TABLE theirs (x)").unwrap();
    let full = Home::new();
    let full_opening = full.open();
    fill(&full_opening.store, 100);
    full_opening.store.backup(&file("damaged"), &|_, _| Ok(())).unwrap();
    spoil_page_with(&file("damaged"), "value-0050-");
    for name in ["garbage", "empty", "folder", "newer", "foreign", "damaged"] {
        let refused = opening.store.restore(&file(name)).unwrap_err();
        assert_eq!(refused.code, Code::Invalid, "{name}: {refused}");
    }
    assert_eq!(opening.store.restore(&file("missing")).unwrap_err().code, Code::NotFound);
    assert_eq!(opening.store.restore(&home.db()).unwrap_err().code, Code::Invalid);
    assert_eq!(opening.keys(), ["mine"]);
    assert_eq!(opening.how_opened(), [Opened::First]);
    opening.store.close();
    assert_eq!(home.names(), ["rekindle.db"], "no copy and no backup was made");
}

#[test]
fn a_plain_copy_with_its_log_is_restored_with_it() {
    let theirs = Home::new();
    let mut options = theirs.options();
    options.one_shot = true;
    let their_opening = theirs.open_with(options).unwrap();
    their_opening.set("only-in-the-log", "v").unwrap();
    their_opening.store.close();
    let before = (fs::read(theirs.db()).unwrap(), fs::read(wal(&theirs.db())).unwrap());
    let home = Home::new();
    let opening = home.open();
    opening.store.restore(&theirs.db()).unwrap();
    assert_eq!(opening.keys(), ["only-in-the-log"]);
    assert_eq!((fs::read(theirs.db()).unwrap(), fs::read(wal(&theirs.db())).unwrap()), before);
}

#[test]
fn readers_and_writers_live_through_a_restore() {
    let home = Home::new();
    let opening = home.open();
    opening.set("a", "v").unwrap();
    let file = home.0.join("copy.db");
    opening.store.backup(&file, &|_, _| Ok(())).unwrap();
    let store = &opening.store;
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| (0..200).filter(|_| store.read(crate::hints::all).is_ok()).count())
            })
            .collect();
        let writer =
            scope.spawn(|| (0..100).all(|i| super::set(store, &format!("w{i}"), "v").is_ok()));
        for _ in 0..3 {
            store.restore(&file).unwrap();
        }
        assert!(writer.join().unwrap());
        // A statement that was under way when files were changed may be cut off, no more.
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() >= 190));
    });
    assert_eq!(opening.get("a").as_deref(), Some("v"));
}

/// SQLite splits a long text over pages, so that its bytes are not together in the file.
#[test]
fn a_copy_that_contains_a_split_text_is_found() {
    let home = Home::new();
    let opening = home.open();
    let store = &opening.store;
    let long: String = (0..2_000).map(|number| format!("{number} ")).collect();
    let saved = home.0.join("backups/before-restore-x ?#%.db");
    fs::create_dir_all(saved.parent().unwrap()).unwrap();
    drop(files::create_private(&saved).unwrap());
    let copy = connection::connect(&saved, std::time::Duration::ZERO).unwrap();
    copy.execute_batch("CREATE TABLE \"an \"\"odd\"\" name\" (a, \"b c\")").unwrap();
    copy.execute("INSERT INTO \"an \"\"odd\"\" name\" VALUES (1, ?1)", [&long]).unwrap();
    drop(copy);
    let bytes = fs::read(&saved).unwrap();
    assert!(!bytes.windows(long.len()).any(|part| part == long.as_bytes()));
    assert_eq!(store.copies(Some(&long)), std::slice::from_ref(&saved));
    assert_eq!(store.copies(Some("1500 1501")), std::slice::from_ref(&saved));
    assert_eq!(store.copies(None), [saved]);
    assert!(store.copies(Some("not in it")).is_empty());
}
