//! Damage: the database is set aside, what can be read is salvaged, and the work goes on.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt as _};

use model::Code;

use super::desk::Desk;
use super::{Home, STAMP, fill, long, mode, spoil_page_with};
use crate::health::Integrity;
use crate::search::{self, Filter, Order};
use crate::{Opened, files, observations, sessions};

const COUNT: usize = 200;

fn filled() -> Home {
    let home = Home::new();
    let opening = home.open();
    fill(&opening.store, COUNT);
    opening.store.close();
    home
}

fn spoil_header(home: &Home) {
    let file = fs::OpenOptions::new().write(true).open(home.db()).unwrap();
    file.write_all_at(&[b'!'; 100], 0).unwrap();
}

#[test]
fn a_damaged_header_costs_nothing_but_the_header() {
    let home = filled();
    spoil_header(&home);
    let spoilt = fs::read(home.db()).unwrap();
    let opening = home.open();
    assert_eq!(opening.how_opened(), [Opened::First]);
    assert_eq!(opening.keys().len(), COUNT);
    let aside = home.0.join(format!("rekindle.db.corrupt-{STAMP}"));
    assert_eq!(fs::read(&aside).unwrap(), spoilt, "the evidence is as it was");
    assert_eq!(mode(&home.db()), 0o600);
    let scratch: Vec<_> = home.names().into_iter().filter(|name| name.contains("fresh")).collect();
    assert!(scratch.is_empty(), "{scratch:?}");
}

/// @a_damaged_database_is_set_aside
#[test]
fn records_whose_session_and_project_were_lost_are_found_and_listed_all_the_same() {
    let desk = Desk::new();
    let said = desk.says("why is the total off", None, 0);
    let done = desk.runs("make total", 1_000);
    desk.read(|_| Ok(()));
    desk.opening.store.close();
    let lose = "PRAGMA foreign_keys = OFF; DROP VIEW documents; DROP TABLE sessions; \
         DROP TABLE project_aliases; DROP TABLE projects; PRAGMA wal_checkpoint(TRUNCATE)";
    super::other_connection(&desk.home.db()).execute_batch(lose).unwrap();
    spoil_header(&desk.home);
    let desk = Desk { opening: desk.home.open(), ..desk };
    let query = text::query::rewrite("total");
    let hits = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Newest, 9)).hits;
    let found: Vec<(i64, i64)> = hits.iter().map(|hit| (hit.id, hit.session)).collect();
    assert_eq!(found, [(done, desk.session.id), (said, desk.session.id)]);
    let name = desk.read(|rx| sessions::id_of(rx, &format!("lost-{}", desk.session.id)));
    assert_eq!(name, Some(desk.session.id));
    let shown = desk.read(|rx| observations::get(rx, &[done, said]));
    assert_eq!(shown.len(), 2, "they are shown");
}

#[test]
fn an_unknown_file_that_is_not_a_database_is_refused_unchanged() {
    for text in ["not a database at all\n".repeat(500), "SQLite".to_owned()] {
        let home = Home::new();
        fs::write(home.db(), &text).unwrap();
        fs::set_permissions(home.db(), fs::Permissions::from_mode(0o644)).unwrap();
        let refused = home.open_with(home.options()).err().unwrap();
        assert!(refused.to_string().ends_with("is not an SQLite database"), "{refused}");
        assert_eq!(fs::read_to_string(home.db()).unwrap(), text);
        assert_eq!((mode(&home.db()), home.names().len()), (0o644, 1));
    }
}

#[test]
fn an_opened_file_that_was_overwritten_with_text_is_refused_unchanged() {
    let home = filled();
    let inode = files::id(&home.db()).unwrap();
    let text = "not a database at all\n".repeat(500);
    fs::write(home.db(), &text).unwrap();
    assert_eq!(files::id(&home.db()).unwrap(), inode);
    let refused = home.open_with(home.options()).err().unwrap();
    assert!(refused.to_string().ends_with("is not an SQLite database"), "{refused}");
    assert_eq!(fs::read_to_string(home.db()).unwrap(), text);
}

#[test]
fn an_opened_file_that_lost_its_first_pages_is_salvaged() {
    let home = filled();
    let file = fs::OpenOptions::new().write(true).open(home.db()).unwrap();
    file.write_all_at(&[b'!'; 5 * 4096], 0).unwrap();
    let opening = home.open();
    assert!(home.0.join(format!("rekindle.db.corrupt-{STAMP}")).exists());
    assert!(!opening.keys().is_empty());
}

#[test]
fn a_damaged_page_that_a_reader_meets_costs_that_page_only() {
    let home = filled();
    spoil_page_with(&home.db(), "value-0100-");
    let opening = home.open();
    let met = opening.store.read(crate::hints::all).unwrap_err();
    assert_eq!(met.code, Code::Unavailable);
    assert_eq!(opening.how_opened(), [Opened::First, Opened::Fresh]);
    let keys = opening.keys();
    assert!(keys.len() > COUNT - 10 && keys.len() < COUNT, "{}", keys.len());
    assert_eq!(keys.first().map(String::as_str), Some("k0000"));
    assert_eq!(keys.last().map(String::as_str), Some("k0199"), "the far end was read too");
    assert_eq!(opening.get("k0150"), Some(long(150)));
    assert_eq!(opening.get("k0100"), None);
}

/// @a_damaged_database_is_set_aside
#[test]
fn of_a_table_with_several_damaged_pages_all_others_are_saved() {
    let home = filled();
    for at in [40, 100, 160] {
        spoil_page_with(&home.db(), &format!("value-{at:04}-"));
    }
    let opening = home.open();
    opening.store.read(crate::hints::all).unwrap_err();
    let keys = opening.keys();
    assert!(keys.len() > COUNT - 30 && keys.len() < COUNT, "{}", keys.len());
    for at in [0, 20, 70, 130, 199] {
        assert!(keys.contains(&format!("k{at:04}")), "{at} of {keys:?}");
    }
}

#[test]
fn a_damaged_page_that_a_write_meets_does_not_fail_the_write() {
    let home = filled();
    spoil_page_with(&home.db(), "value-0100-");
    let opening = home.open();
    opening.set("k0100", "written again").unwrap();
    assert_eq!(opening.how_opened(), [Opened::First, Opened::Fresh]);
    assert_eq!(opening.get("k0100").as_deref(), Some("written again"));
    assert_eq!(opening.get("k0199"), Some(long(199)));
}

#[test]
fn the_next_process_still_says_what_happened() {
    let home = filled();
    spoil_header(&home);
    let said = home.open().store.notices();
    assert_eq!(said.len(), 1);
    let aside = home.0.join(format!("rekindle.db.corrupt-{STAMP}"));
    assert!(said[0].starts_with("2026-11-15T05:18:43.120Z: the database was damaged"), "{said:?}");
    assert!(said[0].contains(&format!("set aside at {}", aside.display())), "{said:?}");
    assert!(said[0].contains("salvaged 200 rows (hint_variants 200)"), "{said:?}");
    let health = home.open().store.health();
    assert_eq!(health.notes, said);
    assert_eq!(health.integrity, Integrity::Sound);
    assert_eq!(health.set_aside.len(), 1);
    assert_eq!(health.set_aside[0].path, aside);
}

#[test]
fn a_second_damage_in_the_same_second_gets_its_own_name() {
    let home = filled();
    spoil_header(&home);
    home.open().store.close();
    spoil_header(&home);
    let opening = home.open();
    assert_eq!(opening.store.health().set_aside.len(), 2);
    assert_eq!(opening.store.notices().len(), 2);
}

#[test]
fn rows_that_are_only_in_the_wal_are_salvaged_too() {
    let home = filled();
    let mut options = home.options();
    options.one_shot = true;
    let opening = home.open_with(options).unwrap();
    opening.set("in-the-log", "v").unwrap();
    opening.store.close();
    assert!(files::bytes(&super::wal(&home.db())) > 0);
    spoil_page_with(&home.db(), "value-0100-");
    let opening = home.open();
    assert!(opening.store.read(crate::hints::all).is_err());
    assert_eq!(opening.get("in-the-log").as_deref(), Some("v"));
}

#[test]
fn the_check_names_damage_and_sets_nothing_aside() {
    let home = filled();
    let opening = home.open();
    assert_eq!(opening.store.health().integrity, Integrity::Sound);
    opening.store.close();
    spoil_page_with(&home.db(), "value-0100-");
    let opening = home.open();
    let health = opening.store.health();
    assert!(
        matches!(&health.integrity, Integrity::Damaged(lines) if !lines.is_empty()),
        "{health:?}"
    );
    assert!(health.set_aside.is_empty());
    assert_eq!(health.schema_version, Some(1));
    assert!(health.pages > 20 && health.db_bytes == health.pages * 4096, "{health:?}");
}
