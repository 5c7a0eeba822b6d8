//! Salvage of leaf pages: rows survive the loss of an interior page, a root or the schema.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use model::context::ContextSets;
use rusqlite::Connection;

use super::desk::{Desk, facts, plain};
use super::{BUSY, NOW, Opening, other_connection};
use crate::connection::Setup;
use crate::sessions::Seen;
use crate::tests::Home;
use crate::{context, projects, recover, session_details, session_events, sessions};

/// Number of commands in the store; some are longer than a page.
const COUNT: usize = 1_500;
const PAGE: usize = 4096;

fn text(number: usize) -> String {
    match number % 50 {
        0 => format!("make long-{number} {}", "and wait ".repeat(1_200)),
        _ => format!("make part-{number} {}", "x".repeat(1_500 + number % 90)),
    }
}

/// A closed store with many commands of one session.
fn filled() -> Home {
    let desk = Desk::new();
    for number in 0..COUNT {
        desk.runs(&text(number), i64::try_from(number).unwrap());
    }
    desk.says("what came of it", None, 5_000_000);
    desk.opening.store.close();
    desk.home
}

/// Pages of a table by their type: `internal` or `leaf`; the root is the first of them.
fn pages(path: &Path, table: &str, kind: &str) -> Vec<usize> {
    let select = "SELECT pageno FROM dbstat WHERE name = ?1 AND pagetype = ?2 ORDER BY path";
    let db = other_connection(path);
    let mut select = db.prepare(select).unwrap();
    let rows = select.query_map([table, kind], |row| row.get(0)).unwrap();
    rows.map(|page| page.unwrap()).collect()
}

fn spoil(path: &Path, page: usize, from: usize) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let place = u64::try_from((page - 1) * PAGE + from).unwrap();
    file.write_all_at(&vec![0xff; PAGE - from], place).unwrap();
}

/// Salvages a damaged file and returns the commands in it: id and text.
fn salvaged(path: &Path) -> Vec<(i64, String)> {
    let registry = std::sync::Arc::new(crate::registry::with(&[]));
    let setup =
        Setup { registry, one_shot: false, to_read: false, page_count_max: None, busy: BUSY };
    recover::set_aside(path, &setup, "a test", 0).unwrap();
    let db = other_connection(path);
    let mut select =
        db.prepare("SELECT id, content FROM observations WHERE kind = 'command'").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut rows: Vec<(i64, String)> = rows.map(|row| row.unwrap()).collect();
    rows.sort_unstable();
    rows
}

/// Origins have no row ids. Without them an import would bring purged records back.
#[test]
fn a_repair_keeps_the_origins_before_and_after_a_damaged_page() {
    const ROWS: i64 = 2_000;
    let desk = Desk::new();
    desk.opening.store.close();
    let path = desk.home.db();
    let add = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1) \
         INSERT INTO origins (origin, record) \
         SELECT CAST(printf('%016d', i) AS BLOB), iif(i % 2, i, NULL) FROM n";
    other_connection(&path).execute(add, [ROWS]).unwrap();
    other_connection(&path).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let leaves = pages(&path, "origins", "leaf");
    assert!(leaves.len() > 4, "{leaves:?}");
    spoil(&path, leaves[leaves.len() / 2], 0);
    salvaged(&path);
    let kept = "SELECT count(*), count(record), min(origin), max(origin) FROM origins";
    let (all, known, first, last): (i64, i64, Vec<u8>, Vec<u8>) = other_connection(&path)
        .query_row(kept, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap();
    assert!(all > ROWS / 2 && all < ROWS, "{all}");
    assert!((known - all / 2).abs() <= 1, "{known} of {all} have a record");
    assert_eq!((first, last), (b"0000000000000000".to_vec(), b"0000000000001999".to_vec()));
}

/// Asserts that all rows existed before, and that none is duplicated.
fn assert_true(rows: &[(i64, String)], sound: &[(i64, String)]) {
    assert!(rows.iter().all(|row| sound.contains(row)), "a row that was not there");
    assert!(rows.windows(2).all(|two| two[0].0 < two[1].0), "a row came twice");
}

fn sound(path: &Path) -> Vec<(i64, String)> {
    let db = other_connection(path);
    let mut select = db
        .prepare("SELECT id, content FROM observations WHERE kind = 'command' ORDER BY id")
        .unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(|row| row.unwrap()).collect()
}

/// @salvage_reads_leaf_pages
#[test]
fn a_lost_root_or_interior_page_costs_no_row() {
    let home = filled();
    let all = sound(&home.db());
    assert_eq!(all.len(), COUNT);
    let copy = home.0.join("copy.db");
    let inner = pages(&home.db(), "observations", "internal");
    assert!(inner.len() > 2, "a root and pages between it and the leaves: {inner:?}");
    for page in inner {
        fs::copy(home.db(), &copy).unwrap();
        spoil(&copy, page, 0);
        let rows = salvaged(&copy);
        assert_true(&rows, &all);
        assert_eq!(rows.len(), COUNT, "page {page}");
    }
}

/// @salvage_reads_leaf_pages
#[test]
fn a_lost_schema_costs_no_record() {
    let home = filled();
    let all = sound(&home.db());
    for from in [100, 0] {
        let copy = home.0.join(format!("copy-{from}.db"));
        fs::copy(home.db(), &copy).unwrap();
        spoil(&copy, 1, from);
        let rows = salvaged(&copy);
        assert_true(&rows, &all);
        assert_eq!(rows.len(), COUNT, "from byte {from}");
        let db = other_connection(&copy);
        let count = |table: &str| -> usize {
            db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
        };
        assert_eq!((count("sessions"), count("prompts"), count("projects")), (1, 1, 1));
        let lost = "SELECT count(*) FROM sessions WHERE name LIKE 'lost-%'";
        let lost: usize = db.query_row(lost, [], |row| row.get(0)).unwrap();
        assert_eq!(lost, 0, "the session itself was found");
    }
}

/// Declares a set of one item in a session and returns its version.
fn declare(desk: &Desk, session: Seen, name: &str, item: &str) -> u64 {
    let (name, item) = (name.to_owned(), item.to_owned());
    desk.write(move |tx| {
        let sets = ContextSets::new(vec![("ports".to_owned(), vec![item.clone()])]);
        let of = (Some(session.project), name.as_str());
        let version = session_events::context_changed(tx, of, &sets, Some("ports"))?;
        context::replace(tx, session.id, &sets, (1, "agent"), version)?;
        Ok(version)
    })
}

/// @salvage_reads_leaf_pages
/// @context_events
#[test]
fn versions_of_contexts_grow_over_the_loss_of_the_schema() {
    let desk = Desk::new();
    let mut versions = Vec::new();
    for number in 0..40 {
        let name = format!("rec-{number}");
        let session = desk.session(&name, "shop", number);
        declare(&desk, session, &name, "1");
        versions.push((name.clone(), declare(&desk, session, &name, "2")));
    }
    let newest = versions.iter().map(|(_, version)| *version).max().unwrap();
    let events = |opening: &Opening| {
        let count = |db: &Connection| db.query_row(EVENTS, [], |row| row.get::<_, i64>(0));
        opening.store.read(|rx| rx.sql(count)).unwrap()
    };
    const EVENTS: &str = "SELECT count(*) FROM events WHERE kind = 'context/changed'";
    assert_eq!(events(&desk.opening), 80);
    desk.opening.store.close();
    let home = desk.home;
    spoil(&home.db(), 1, 100);
    let opening = home.open();
    assert!(opening.store.notices()[0].contains("the database was damaged"));
    assert_eq!(events(&opening), 80);
    let restored: Vec<(bool, u64)> = opening
        .store
        .read(|rx| {
            let ids = versions.iter().map(|(name, _)| sessions::id_of(rx, name));
            let ids: Vec<Option<i64>> = ids.collect::<Result<_, _>>()?;
            let of = |id: Option<i64>| {
                let id = id.expect("the session was salvaged");
                Ok((context::of_session(rx, id)?.is_empty(), context::version(rx, id)?))
            };
            ids.into_iter().map(of).collect()
        })
        .unwrap();
    for (is_empty, version) in restored {
        assert!(!is_empty && version > newest, "{version} after {newest}");
    }
    let desk = Desk { opening, home, ..Desk::new() };
    let session = desk.session("rec-7", "shop", 1);
    let next = declare(&desk, session, "rec-7", "3");
    assert!(next > newest + 1, "{next} after {newest}");
}

/// @salvage_reads_leaf_pages
#[test]
fn a_project_without_a_root_does_not_cost_the_other_projects() {
    let desk = Desk::new();
    for name in ["shop", "blog", "wiki"] {
        desk.session(&format!("of-{name}"), name, 1);
    }
    desk.write(|tx| projects::resolve(tx, &facts(None, None, "unknown"), NOW));
    let names = "SELECT name FROM projects ORDER BY id";
    let read = |path: &Path| -> Vec<String> {
        let db = other_connection(path);
        let mut select = db.prepare(names).unwrap();
        select.query_map([], |row| row.get(0)).unwrap().map(|name| name.unwrap()).collect()
    };
    desk.opening.store.close();
    let path = desk.home.db();
    let before = read(&path);
    assert_eq!(before.len(), 5, "{before:?}");
    spoil(&path, 1, 100);
    salvaged(&path);
    assert_eq!(read(&path), before);
}

/// @salvage_reads_leaf_pages
#[test]
fn a_lost_schema_mixes_up_no_paths_and_starts_of_sessions() {
    let desk = Desk::new();
    for number in 0..60 {
        desk.edits(&format!("/w/app/src/part_{number}.rs"), number);
        let session = desk.session(&format!("of-{number}"), "shop", number).id;
        desk.write(move |tx| {
            let cwd = plain("/w/shop");
            session_details::note_start(tx, session, Some(&cwd), Some("opus"))
        });
    }
    desk.opening.store.close();
    let path = desk.home.db();
    let rows = |table: &str| -> Vec<(i64, String, String)> {
        let db = other_connection(&path);
        let mut select = db.prepare(&format!("SELECT * FROM {table} ORDER BY id")).unwrap();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        select.query_map([], read).unwrap().map(|row| row.unwrap()).collect()
    };
    let before = (rows("paths"), rows("session_starts"));
    assert_eq!((before.0.len(), before.1.len()), (60, 60));
    spoil(&path, 1, 100);
    salvaged(&path);
    assert_eq!((rows("paths"), rows("session_starts")), before);
}

/// @salvage_reads_leaf_pages
#[test]
fn a_lost_page_costs_at_most_its_own_rows() {
    let home = filled();
    let all = sound(&home.db());
    let overflow = pages(&home.db(), "observations", "overflow");
    let pages = usize::try_from(fs::metadata(home.db()).unwrap().len()).unwrap() / PAGE;
    let copy = home.0.join("copy.db");
    for page in (1..=pages).step_by(97) {
        fs::copy(home.db(), &copy).unwrap();
        spoil(&copy, page, 0);
        let mut rows = salvaged(&copy);
        if overflow.contains(&page) {
            // A row of which the text itself was overwritten is kept with what is left of it.
            rows.retain(|row| all.contains(row));
        }
        assert_true(&rows, &all);
        // A leaf page has three of these rows at most.
        assert!(rows.len() + 8 > COUNT, "page {page}: {}", rows.len());
    }
}

/// @salvage_reads_leaf_pages
#[test]
fn deleted_rows_on_free_pages_are_skipped_and_committed_wal_rows_are_found() {
    let home = filled();
    let (first, keep) = (sound(&home.db())[0].0, COUNT / 2);
    let db = other_connection(&home.db());
    // Rows that are deleted without being overwritten, as retention does.
    db.execute("DELETE FROM observations WHERE id > ?1", [first + i64::try_from(keep).unwrap()])
        .unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let free: i64 = db.pragma_query_value(None, "freelist_count", |row| row.get(0)).unwrap();
    assert!(free > 10, "{free} pages are free");
    // This commit is only in the log.
    db.execute("UPDATE observations SET content = 'make last' WHERE id = ?1", [first]).unwrap();
    let copy = home.0.join("copy.db");
    fs::copy(home.db(), &copy).unwrap();
    fs::copy(crate::files::beside(&home.db(), "-wal"), crate::files::beside(&copy, "-wal"))
        .unwrap();
    let all = sound(&home.db());
    drop(db);
    for page in pages(&home.db(), "observations", "internal") {
        spoil(&copy, page, 0);
    }
    let rows = salvaged(&copy);
    assert_true(&rows, &all);
    assert_eq!(rows.len(), all.len());
    assert_eq!(rows[0].1, "make last");
}
