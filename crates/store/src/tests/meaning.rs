//! Embeddings of records: turned off and on again, limited to their project, and deleted with the record.

use std::fs;
use std::time::Duration;

use meaning::Vector;
use model::limits;
use text::query;

use super::desk::{Deed, Desk, plain};
use super::{Home, Opening, hold_writer};
use crate::purge::{self, PurgeFilter};
use crate::scrub::{self, Replacement};
use crate::search::{self, Filter, Hits, Order, Recipe};
use crate::sessions::Seen;
use crate::{Options, files, passages, projects};

/// A decision, and a question about it that has none of its words.
const DECIDED: &str = "we decided to use SQLite instead of Postgres";
const ASKED: &str = "why choose a database engine";

fn hits(desk: &Desk, typed: &str, filter: &Filter<'_>) -> Hits {
    desk.read(|rx| search::hits(rx, &query::rewrite(typed), filter, Order::Best, 100))
}

fn ids(found: &Hits) -> Vec<i64> {
    found.hits.iter().map(|hit| hit.id).collect()
}

/// How many passages have a vector, and how many have none.
fn vectors(opening: &Opening) -> (usize, usize) {
    const COUNT: &str = "SELECT count(vector), count(*) - count(vector) FROM passages";
    let count =
        |db: &rusqlite::Connection| db.query_row(COUNT, [], |row| Ok((row.get(0)?, row.get(1)?)));
    opening.store.read(|rx| rx.sql(count)).unwrap()
}

/// A desk whose store computes no embeddings.
fn desk_without_meaning() -> Desk {
    let mut desk = Desk::new();
    desk.opening = reopened(&desk, false);
    desk
}

/// The store of the desk, closed and opened again.
fn reopened(desk: &Desk, meaning: bool) -> Opening {
    desk.opening.store.close();
    desk.home.open_with(Options { meaning, ..desk.home.options() }).unwrap()
}

/// @search_meaning_off
#[test]
fn without_meaning_words_are_found_and_no_vector_is_kept_until_it_is_turned_on_again() {
    let mut desk = desk_without_meaning();
    let many = limits::INDEX_BATCH + 10;
    for (at, i) in (0..).zip(0..many) {
        desk.runs(&format!("cargo fmt part{i}"), at);
    }
    let session = desk.session("s-2", "app", 0);
    let meant = desk.does(Deed { session, ..desk.deed_command(DECIDED, 1) }).id();
    assert_eq!(ids(&hits(&desk, "postgres", &Filter::default())), [meant]);
    assert!(ids(&hits(&desk, ASKED, &Filter::default())).is_empty());
    assert_eq!(vectors(&desk.opening), (0, many + 1));
    desk.opening = reopened(&desk, true);
    assert_eq!(ids(&hits(&desk, ASKED, &Filter::default()))[0], meant);
    assert_eq!(vectors(&desk.opening), (many + 1, 0));
    // Turned off, passages keep their embeddings, and new passages get none.
    desk.opening = reopened(&desk, false);
    desk.runs("something else", 9);
    desk.read(|_| Ok(()));
    assert_eq!(vectors(&desk.opening), (many + 1, 1));
}

/// @search_meaning_off
#[test]
fn embeddings_computed_later_equal_those_computed_at_once() {
    let long = (0..12).map(|i| format!("{DECIDED} in year {i} {}.", "more ".repeat(40)));
    let long = long.collect::<Vec<_>>().join("\n");
    let kept = |desk: &Desk| -> Vec<Vec<u8>> {
        desk.read(|rx| {
            rx.sql(|db| {
                let mut select = db.prepare("SELECT vector FROM passages ORDER BY id")?;
                select.query_map([], |row| row.get(0))?.collect()
            })
        })
    };
    let at_once = Desk::new();
    let mut later = desk_without_meaning();
    for desk in [&at_once, &later] {
        desk.says(&long, None, 0);
        desk.says("?! … no words but these", None, 1);
        desk.read(|_| Ok(()));
    }
    later.opening = reopened(&later, true);
    assert!(kept(&at_once).len() > 5);
    assert_eq!(kept(&later), kept(&at_once));
}

/// Whether the database or its log has these bytes in it.
fn holds(home: &Home, bytes: &[u8]) -> bool {
    ["", "-wal"].iter().any(|suffix| {
        let file = fs::read(files::beside(&home.db(), suffix)).unwrap_or_default();
        file.windows(bytes.len()).any(|window| window == bytes)
    })
}

/// A made-up word, the stem under which it is found, and a text with it.
const WORD: &str = "quuxifications";
const STEM: &str = "quuxif";
const TEXT: &str = "the quuxifications of the ledger are wrong";

/// @purge_leaves_no_trace
#[test]
fn no_stem_or_vector_of_a_purged_or_scrubbed_record_is_in_the_file() {
    assert_eq!(text::terms::term(WORD).unwrap(), STEM);
    let vector = Vector::of(TEXT).unwrap().to_bytes();
    assert_eq!(vector.len(), 132);
    for scrubbed in [false, true] {
        let desk = Desk::new();
        for i in 0..200 {
            desk.runs(&format!("echo filler number {i}"), i);
        }
        let id = desk.says(TEXT, None, 300);
        desk.read(|_| Ok(()));
        assert!(holds(&desk.home, STEM.as_bytes()) && holds(&desk.home, &vector));
        if scrubbed {
            let content = plain("the numbers of the ledger are wrong");
            let new = Replacement { content, file_path: None, metadata: None };
            assert!(desk.write(move |tx| scrub::replace(tx, id, &new)));
            desk.write(passages::optimize);
        } else {
            let filter = PurgeFilter { ids: Some(vec![id]), ..PurgeFilter::default() };
            desk.write(move |tx| purge::run(tx, &filter).map(drop));
        }
        desk.opening.store.compact().unwrap();
        assert!(!holds(&desk.home, STEM.as_bytes()), "scrubbed: {scrubbed}");
        assert!(!holds(&desk.home, &vector), "scrubbed: {scrubbed}");
        for typed in [WORD, TEXT] {
            let found = hits(&desk, typed, &Filter::default());
            assert!(found.hits.iter().all(|hit| hit.id != id || scrubbed), "{typed}");
        }
        assert_eq!(ids(&hits(&desk, "ledger", &Filter::default())).len(), usize::from(scrubbed));
    }
}

/// @project_isolation
#[test]
fn neither_meaning_nor_a_neighbour_brings_in_a_record_of_another_project() {
    let desk = Desk::new();
    let elsewhere = desk.session("s-2", "elsewhere", 0);
    let meant = desk.does(Deed { session: elsewhere, ..desk.deed_command(DECIDED, 1) }).id();
    // Only damage or a later build would have one session in two projects.
    let stray = Seen { project: elsewhere.project, ..desk.session };
    let hit = desk.runs("flaky watchdog reset", 2);
    let beside = desk.does(Deed { session: stray, ..desk.deed_command("make tea", 3) }).id();
    let own = [desk.project.id];
    let here = Filter { projects: Some(&own), ..Filter::default() };
    for typed in [ASKED, "watchdog reset", "flaky database reset", DECIDED] {
        let everywhere = hits(&desk, typed, &Filter::default());
        assert!(ids(&everywhere).iter().any(|id| [meant, beside].contains(id)), "{typed}");
        let found = hits(&desk, typed, &here);
        assert_eq!(ids(&found), [hit], "{typed}");
        let sessions =
            desk.read(|rx| search::sessions(Recipe::Table, rx, &query::rewrite(typed), &here, 10));
        assert_eq!(sessions, [desk.session.id], "{typed}");
    }
}

/// @project_merge
#[test]
fn records_of_a_merged_project_are_found_by_meaning_in_the_new_one_only() {
    let desk = Desk::new();
    let session = desk.session("s-2", "elsewhere", 0);
    let meant = desk.does(Deed { session, ..desk.deed_command(DECIDED, 1) }).id();
    let (from, into) = (session.project, desk.project.id);
    let found = |project: i64| {
        let projects = [project];
        ids(&hits(&desk, ASKED, &Filter { projects: Some(&projects), ..Filter::default() }))
    };
    assert_eq!((found(from), found(into)), (vec![meant], vec![]));
    desk.write(move |tx| projects::merge(tx, from, into));
    assert_eq!((found(from), found(into)), (vec![], vec![meant]));
}

/// @project_merge
/// @search_meaning_off
#[test]
fn a_reader_of_an_older_snapshot_leaves_no_outdated_state_to_later_readers() {
    let desk = Desk::new();
    let session = desk.session("s-2", "elsewhere", 0);
    let meant = desk.does(Deed { session, ..desk.deed_command(DECIDED, 1) }).id();
    desk.read(|_| Ok(()));
    let (from, into) = (session.project, desk.project.id);
    let query = query::rewrite(ASKED);
    let before = desk.read(|rx| {
        projects::list(rx)?;
        // The writer merges the two projects meanwhile; this snapshot does not see it.
        desk.write(move |tx| projects::merge(tx, from, into));
        let old = [from];
        let filter = Filter { projects: Some(&old), ..Filter::default() };
        search::hits(rx, &query, &filter, Order::Best, 10)
    });
    assert_eq!(ids(&before), [meant]);
    let new = [into];
    let after = hits(&desk, ASKED, &Filter { projects: Some(&new), ..Filter::default() });
    assert_eq!(ids(&after), [meant]);
}

/// @search_meaning_off
#[test]
fn a_search_does_not_wait_for_missing_embeddings() {
    let mut desk = desk_without_meaning();
    let meant = desk.runs(DECIDED, 0);
    let many = i64::try_from(limits::INDEX_BATCH).unwrap() * 2;
    for i in 1..many {
        desk.runs(&format!("make target{i}"), i);
    }
    desk.read(|_| Ok(()));
    desk.opening = reopened(&desk, true);
    let store = &desk.opening.store;
    let release = hold_writer(store);
    let asked = |typed: &str| {
        let query = query::rewrite(typed);
        store.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 10)).unwrap()
    };
    assert!(store.catch_up(Duration::ZERO), "its words are all there");
    assert!(!store.is_worked_out());
    assert_eq!(ids(&asked("postgres")), [meant]);
    let found = |found: &Hits| found.hits.iter().any(|hit| hit.id == meant && hit.meaning > 0.0);
    assert!(!found(&asked(ASKED)));
    drop(release);
    // Each batch adds its embeddings to the loaded catalogue, those of the oldest records first.
    desk.write(passages::catch_up);
    assert!(found(&asked(ASKED)));
}

/// @search_meaning
#[test]
fn equal_similarity_is_broken_by_recency() {
    let desk = Desk::new();
    let many = i64::try_from(limits::SEARCH_CANDIDATES).unwrap() * 3;
    let deed = desk.deed_command(DECIDED, 0);
    let same: Vec<i64> = (0..many)
        .map(|i| {
            let session = desk.session(&format!("s-{i}"), "app", i);
            desk.does(Deed { session, after: i, ..deed.clone() }).id()
        })
        .collect();
    let newest = &same[same.len() - limits::SEARCH_CANDIDATES..];
    for _ in 0..20 {
        let query = query::rewrite(ASKED);
        let found =
            desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 1_000));
        let mut found = ids(&found);
        found.sort_unstable();
        assert_eq!(found, newest);
    }
}
