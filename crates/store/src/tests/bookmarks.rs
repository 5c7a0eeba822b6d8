//! The sample plugin's kind of record in the store: all that the registry does for a kind, and the faults that it has to
//! survive.

use std::fs;
use std::os::unix::fs::FileExt as _;

use model::observation::ObsType;
use text::query;
use text::secrets::{Profile, redact, redact_json};

use super::desk::{Desk, plain};
use super::{NOW, answer, at_now, hold_writer};
use crate::bookmarks::{self, Bookmarks, KIND, NewBookmark};
use crate::purge::{self, PurgeFilter};
use crate::retention::{self, Rules};
use crate::scrub::{self, Replacement};
use crate::search::{self, Filter, Order, Recipe};
use crate::{Aggregate, Options, damaged, index_health, literal, projects, sessions, totals};

const MORE: &[&dyn Aggregate] = &[&Bookmarks];

fn desk() -> Desk {
    Desk::with(MORE)
}

/// Stores a bookmark of the desk's project, in its session or in none.
fn add(desk: &Desk, (url, note): (&str, &str), in_session: bool, after: i64) -> i64 {
    let session = in_session.then_some(desk.session.id);
    let (project, url, note) = (desk.project.id, plain(url), plain(note));
    desk.write(move |tx| {
        let at = NOW + after;
        let root = session.is_none().then_some("/home/u/here");
        bookmarks::add(tx, &NewBookmark { session, project, root, at, url: &url, note: &note })
    })
}

const RUST: (&str, &str) = ("https://doc.rust-lang.org/nomicon", "variance of lifetimes");

fn found(desk: &Desk, words: &str, filter: &Filter<'_>) -> Vec<i64> {
    let query = query::rewrite(words);
    let hits = desk.read(|rx| search::hits(rx, &query, filter, Order::Best, 9)).hits;
    hits.iter().map(|hit| hit.id).collect()
}

fn by_any_word(desk: &Desk, words: &str) -> Vec<i64> {
    found(desk, words, &Filter::default())
}

#[test]
fn a_record_of_another_kind_is_found_by_each_of_its_texts_with_and_without_a_session() {
    let desk = desk();
    let own = add(&desk, RUST, true, 0);
    let alone = add(&desk, ("https://sqlite.org/wal", "checkpoints starve"), false, 1);
    assert_eq!(by_any_word(&desk, "nomicon"), [own]);
    assert_eq!(by_any_word(&desk, "variance"), [own]);
    assert_eq!(by_any_word(&desk, "\"variance of lifetimes\""), [own]);
    assert_eq!(by_any_word(&desk, "checkpoints AND sqlite"), [alone], "across both texts");
    let query = query::rewrite("checkpoints");
    let hit = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 9)).hits[0];
    assert_eq!((hit.session, hit.project), (alone, desk.project.id), "a session of its own");
    assert!(ObsType::ALL.iter().all(|kind| hit.kind != *kind));
    let shown = desk.get(alone).unwrap();
    assert_eq!((shown.obs_type.word(), shown.session_id.as_str()), (KIND, ""));
    assert_eq!(desk.get(own).unwrap().session_id, "s-1");
}

#[test]
fn two_texts_of_a_record_are_passages_of_their_own() {
    let desk = desk();
    let id = add(&desk, ("https://a.example/guide", "borrowed strings"), true, 0);
    let count = "SELECT count(*) FROM passages WHERE doc = ?1";
    let passages: i64 = desk.read(|rx| rx.sql(|db| db.query_row(count, [id], |row| row.get(0))));
    assert_eq!(passages, 2);
}

#[test]
fn filters_of_a_search_apply_to_another_kind() {
    let desk = desk();
    let own = add(&desk, RUST, true, 0);
    let alone = add(&desk, RUST, false, 1_000);
    let command = desk.runs("cargo doc nomicon", 2_000);
    let of = |filter: Filter<'_>| {
        let mut ids = found(&desk, "nomicon", &filter);
        ids.sort_unstable();
        ids
    };
    let (here, elsewhere) = ([desk.project.id], [desk.project.id + 1]);
    assert_eq!(of(Filter::default()), [own, alone, command]);
    assert_eq!(of(Filter { projects: Some(&here), ..Filter::default() }), [own, alone, command]);
    assert!(of(Filter { projects: Some(&elsewhere), ..Filter::default() }).is_empty());
    let session = Some(desk.session.id);
    assert_eq!(of(Filter { session, ..Filter::default() }), [own, command]);
    let agent = Some("claude-code");
    assert_eq!(of(Filter { agent, ..Filter::default() }), [own, command]);
    assert_eq!(of(Filter { kind: Some(ObsType::Command.into()), ..Filter::default() }), [command]);
    assert_eq!(of(Filter { after: Some(NOW + 500), ..Filter::default() }), [alone, command]);
    let query = query::rewrite("nomicon");
    let recipe = Recipe::default();
    let sessions = desk.read(|rx| search::sessions(recipe, rx, &query, &Filter::default(), 9));
    assert_eq!(sessions, [desk.session.id], "a record without a session is no session");
}

#[test]
fn equal_records_of_two_kinds_are_not_one_hit() {
    let desk = desk();
    add(&desk, RUST, true, 0);
    add(&desk, RUST, true, 1);
    desk.runs(&format!("{}\n{}", RUST.0, RUST.1), 2);
    let query = query::rewrite("variance of lifetimes nomicon");
    let hits = desk.read(|rx| search::hits(rx, &query, &Filter::default(), Order::Best, 9)).hits;
    let kinds: Vec<bool> = hits.iter().map(|hit| hit.kind == ObsType::Command).collect();
    let first = desk.read(|rx| search::same_texts(rx, &hits, &mut search::TextsRead::default()));
    let of = |place: usize| first[place];
    for (place, is_command) in kinds.iter().enumerate() {
        assert_eq!(kinds[of(place)], *is_command, "{first:?}");
    }
    assert_eq!(first.iter().collect::<std::collections::BTreeSet<_>>().len(), 2, "{first:?}");
}

/// Whether the file of the database or its log contains this text.
fn is_in_file(desk: &Desk, text: &str) -> bool {
    let files = [desk.home.db(), super::wal(&desk.home.db())];
    let has = |bytes: Vec<u8>| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    files.iter().filter_map(|file| fs::read(file).ok()).any(has)
}

#[test]
fn a_purge_by_id_or_by_literal_text_leaves_nothing_of_another_kind_in_the_file() {
    let desk = desk();
    let own = add(&desk, ("https://host.example/zyxwv", "the word is quetzalcoatl"), true, 0);
    let alone = add(&desk, ("https://host.example/plmok", "nothing"), false, 1);
    let kept = desk.runs("make", 2);
    assert_eq!(by_any_word(&desk, "quetzalcoatl"), [own]);
    assert_eq!(desk.read(|rx| literal::matches(rx, "mple/plm")).records, [alone]);
    assert!(is_in_file(&desk, "quetzalcoatl") && is_in_file(&desk, "plmok"));
    for id in [own, alone] {
        let filter = PurgeFilter { ids: Some(vec![id]), ..PurgeFilter::default() };
        let planned = desk.read(|rx| purge::plan(rx, &filter));
        assert_eq!((planned.count("bookmarks"), planned.samples[0].id), (1, id));
        assert_eq!(desk.write(move |tx| Ok(purge::run(tx, &filter)?.count("bookmarks"))), 1);
    }
    desk.opening.store.compact().unwrap();
    for gone in ["quetzalcoatl", "zyxwv", "plmok"] {
        assert!(!is_in_file(&desk, gone), "{gone}");
        assert!(by_any_word(&desk, gone).is_empty(), "{gone}");
    }
    assert!(desk.get(kept).is_some());
}

#[test]
fn a_session_whose_last_record_is_of_another_kind_is_purged_with_it() {
    let desk = desk();
    let own = add(&desk, RUST, true, 0);
    let alone = add(&desk, RUST, false, 1);
    let filter = PurgeFilter { session: Some(desk.session.id), ..PurgeFilter::default() };
    assert_eq!(desk.write(move |tx| Ok(purge::run(tx, &filter)?.sessions)), 1);
    assert_eq!(desk.read(sessions::count), 0);
    assert!(desk.get(own).is_none() && desk.get(alone).is_some());
}

#[test]
fn a_scrub_reads_and_replaces_the_texts_of_another_kind() {
    let desk = desk();
    let id = add(&desk, ("https://host.example/ghjkl", "token is xylophone"), false, 0);
    let old = desk.read(|rx| scrub::after(rx, 0, 9));
    assert_eq!(old.iter().map(|texts| texts.id).collect::<Vec<_>>(), [id]);
    assert_eq!(old[0].content, "token is xylophone");
    let url = old[0].metadata.clone().unwrap();
    assert_eq!(url["url"], "https://host.example/ghjkl");
    let new = Replacement {
        content: redact("token is gone", Profile::Strict),
        file_path: None,
        metadata: Some(redact_json(url, Profile::Strict)),
    };
    assert!(desk.write(move |tx| scrub::replace(tx, id, &new)));
    assert!(by_any_word(&desk, "xylophone").is_empty());
    assert_eq!((by_any_word(&desk, "gone"), by_any_word(&desk, "ghjkl")), (vec![id], vec![id]));
}

#[test]
fn a_scrub_reads_and_replaces_the_columns_that_an_aggregate_names() {
    let desk = desk();
    let id = add(&desk, RUST, false, 0);
    let columns = desk.read(|rx| Ok(scrub::columns(rx)));
    let roots = columns.iter().find(|column| column.place == "bookmark_root").copied().unwrap();
    let texts = |after: i64| desk.read(|rx| scrub::column_texts_after(rx, roots, after, 9));
    assert_eq!(texts(0), [(id, "/home/u/here".to_owned())]);
    let changes = vec![(id, ("/home/u/here".to_owned(), plain("/home/u/gone")))];
    desk.write(move |tx| scrub::replace_column_texts(tx, roots, &changes));
    assert_eq!(texts(0), [(id, "/home/u/gone".to_owned())]);
    assert!(texts(id).is_empty());
}

#[test]
fn another_kind_is_counted_ages_and_moves_with_its_project() {
    let desk = desk();
    let old = add(&desk, RUST, false, -400 * 86_400_000);
    let new = add(&desk, RUST, true, 0);
    let counted = desk.read(totals::totals);
    assert_eq!(counted.others, [("bookmarks", 2)]);
    assert_eq!(counted.oldest, Some(NOW - 400 * 86_400_000));
    assert!(desk.read(totals::text_bytes) >= 2 * (RUST.0.len() + RUST.1.len()) as u64);
    let other = desk.session("s-2", "web", 1).project;
    let from = desk.project.id;
    desk.write(move |tx| projects::merge(tx, from, other));
    let filter = Filter { projects: Some(&[other]), ..Filter::default() };
    assert_eq!(found(&desk, "nomicon", &filter).len(), 2);
    let swept = desk.write(move |tx| {
        let swept =
            retention::sweep(tx, &Rules::default(), NOW, std::time::Duration::from_secs(60))?;
        Ok(swept.by_kind.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect())
    });
    let swept: Vec<(String, u64)> = swept;
    assert_eq!(swept, [(KIND.to_owned(), 1)]);
    assert!(desk.get(old).is_none() && desk.get(new).is_some());
}

#[test]
fn a_failing_write_of_another_kind_costs_the_others_of_its_group_nothing() {
    let desk = desk();
    let release = hold_writer(&desk.opening.store);
    let put = |note: &'static str, project: i64| {
        let (url, note) = (plain("https://host.example"), plain(note));
        let store = &desk.opening.store;
        let new = move |tx: &crate::Tx<'_>| {
            let new =
                NewBookmark { session: None, project, root: None, at: NOW, url: &url, note: &note };
            bookmarks::add(tx, &new)
        };
        store.submit(at_now(), new).unwrap()
    };
    // No project has this id, which the foreign key refuses.
    let replies = [put("first", desk.project.id), put("lost", 9_999), put("last", desk.project.id)];
    drop(release);
    let done: Vec<bool> = replies.iter().map(|reply| answer(reply).is_ok()).collect();
    assert_eq!(done, [true, false, true]);
    let notes: Vec<String> = desk
        .read(|rx| bookmarks::newest(rx, None, 9))
        .into_iter()
        .map(|bookmark| bookmark.note)
        .collect();
    assert_eq!(notes, ["last", "first"]);
    assert!(by_any_word(&desk, "lost").is_empty());
}

#[test]
fn salvage_saves_another_kind_from_a_damaged_header_and_a_lost_schema() {
    for from in [0, 100] {
        let desk = desk();
        let own = add(&desk, RUST, true, 0);
        let alone = add(&desk, ("https://sqlite.org/wal", "checkpoints starve"), false, 1);
        desk.read(|_| Ok(()));
        desk.opening.store.close();
        let file = fs::OpenOptions::new().write(true).open(desk.home.db()).unwrap();
        file.write_all_at(&vec![b'!'; 4096 - from], from as u64).unwrap();
        let options = Options { more: MORE.to_vec(), ..desk.home.options() };
        let desk = Desk { opening: desk.home.open_with(options).unwrap(), ..desk };
        assert_eq!(by_any_word(&desk, "variance"), [own], "from byte {from}");
        assert_eq!(by_any_word(&desk, "checkpoints"), [alone], "from byte {from}");
        assert_eq!(desk.get(alone).unwrap().project, "app");
        let next = desk.runs("make", 2);
        assert!(next > alone, "an id is not given twice");
    }
}

#[test]
fn a_sound_store_with_another_kind_has_no_damage_and_a_dangling_session_is_repaired() {
    let desk = desk();
    let id = add(&desk, RUST, true, 0);
    assert!(desk.write(|tx| Ok(index_health::mend(tx)?.is_none())), "the index is sound");
    assert_eq!(desk.write(damaged::mend), 0);
    let dangle =
        format!("PRAGMA foreign_keys = OFF; UPDATE bookmarks SET session = 9999 WHERE id = {id}");
    super::other_connection(&desk.home.db()).execute_batch(&dangle).unwrap();
    assert_eq!(desk.write(damaged::mend), 1);
    let name = desk.get(id).unwrap().session_id;
    assert_eq!(name, "lost-9999", "a session stands in for the lost one");
}
