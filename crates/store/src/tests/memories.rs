//! Memories in the store: which one is in the place of another, and the parts of the store that walk the registry.

use model::limits;
use model::memory::{MemoryCategory, MemoryStatus};
use model::observation::RecordType;
use text::query::{self, Query};
use text::secrets::{Profile, redact, redact_json};

use super::NOW;
use super::desk::{Desk, plain};
use crate::memories::{self, NearestMemories, NewMemory};
use crate::purge::{self, PurgeFilter};
use crate::receipts::{self, NewReceipt};
use crate::scrub::{self, Replacement};
use crate::search::{self, Filter, Order, Recipe};
use crate::{damaged, index_health, literal, projects, shared_ids, superseded_by};

fn add(desk: &Desk, content: &str, supersedes: &[i64]) -> i64 {
    let (project, session) = (desk.project.id, desk.session.id);
    let (content, tag, supersedes) = (plain(content), [plain("ops")], supersedes.to_vec());
    desk.write(move |tx| {
        let new = NewMemory {
            project,
            stored_in: Some(session),
            root: Some("/w/app"),
            at: NOW,
            category: MemoryCategory::Fact,
            importance: 0.5,
            tags: &tag,
            content: &content,
        };
        let (id, _) = memories::add(tx, &new)?;
        for old in &supersedes {
            let old = memories::get(tx, *old)?.unwrap();
            memories::supersede(tx, &old, id)?;
        }
        Ok(id)
    })
}

fn found(desk: &Desk, words: &str, filter: &Filter<'_>) -> Vec<i64> {
    let query = query::rewrite(words);
    let hits = desk.read(|rx| search::hits(rx, &query, filter, Order::Best, 9)).hits;
    hits.iter().map(|hit| hit.id).collect()
}

fn current(desk: &Desk, id: i64) -> i64 {
    desk.read(|rx| memories::current(rx, id))
}

#[test]
fn a_removed_memory_hands_its_place_to_its_successor_or_back_to_the_old_one() {
    let desk = Desk::new();
    let a = add(&desk, "the port is 80", &[]);
    let b = add(&desk, "the port is 81", &[a]);
    let c = add(&desk, "the port is 82", &[b]);
    assert_eq!([a, b, c].map(|id| current(&desk, id)), [c, c, c]);
    assert_eq!(desk.read(|rx| superseded_by(rx, a)), Some(c));
    let chain = desk.read(|rx| memories::successors(rx, a));
    assert_eq!(chain.iter().map(|one| one.id).collect::<Vec<_>>(), [a, b, c]);
    assert!(desk.write(move |tx| memories::remove(tx, b)).is_empty(), "c is in its place");
    assert_eq!(current(&desk, a), c);
    let again = desk.write(move |tx| memories::remove(tx, c));
    let old = desk.read(|rx| memories::get(rx, a)).unwrap();
    assert_eq!(old.status(), MemoryStatus::Stored);
    assert_eq!(again, [old.uuid]);
}

#[test]
fn superseding_a_superseded_memory_supersedes_the_one_in_its_place() {
    let desk = Desk::new();
    let a = add(&desk, "first", &[]);
    let b = add(&desk, "second", &[a]);
    let c = add(&desk, "third", &[a, b]);
    let by = |id: i64| desk.read(|rx| memories::get(rx, id)).unwrap().superseded_by;
    assert_eq!([a, b, c].map(by), [Some(b), Some(c), None]);
}

#[test]
fn a_cycle_that_only_damage_makes_ends() {
    let desk = Desk::new();
    let a = add(&desk, "first", &[]);
    let b = add(&desk, "second", &[a]);
    let cycle = format!("UPDATE memories SET superseded_by = {a} WHERE id = {b}");
    super::other_connection(&desk.home.db()).execute_batch(&cycle).unwrap();
    assert!([a, b].contains(&current(&desk, a)));
    let chain = desk.read(|rx| memories::successors(rx, a));
    assert_eq!(chain.len(), limits::MEMORY_CHAIN_MAX);
}

#[test]
fn memories_move_with_their_project_and_outlive_their_session() {
    let desk = Desk::new();
    let id = add(&desk, "the cache is warm", &[]);
    let session = desk.session.id;
    let filter = PurgeFilter { session: Some(session), ..PurgeFilter::default() };
    assert_eq!(desk.read(|rx| purge::plan(rx, &filter)).count("memories"), 0);
    let from = desk.project.id;
    let into = desk.session("s-2", "web", 1).project;
    desk.write(move |tx| tx.registry().split_project(tx, (from, "/w/app"), into));
    assert_eq!(desk.read(|rx| memories::get(rx, id)).unwrap().project, into);
    desk.write(move |tx| projects::merge(tx, into, from));
    assert_eq!(desk.read(|rx| memories::get(rx, id)).unwrap().project, from);
    let here = Filter { projects: Some(&[from]), ..Filter::default() };
    assert_eq!(found(&desk, "cache", &here), [id]);
}

#[test]
fn a_purge_and_a_scrub_reach_content_and_tags() {
    let desk = Desk::new();
    let old = add(&desk, "the word is quetzalcoatl", &[]);
    let new = add(&desk, "another word", &[old]);
    assert_eq!(desk.read(|rx| literal::matches(rx, "quetzal")).records, [old]);
    assert_eq!(desk.read(|rx| literal::matches(rx, "ops")).records, [old, new]);
    let texts = desk.read(|rx| scrub::after(rx, 0, 9));
    let metadata = texts.iter().find(|texts| texts.id == old).unwrap().metadata.clone().unwrap();
    assert_eq!(metadata["tags"], serde_json::json!(["ops"]));
    let replaced = Replacement {
        content: redact("the word is gone", Profile::Strict),
        file_path: None,
        metadata: Some(redact_json(serde_json::json!({ "tags": ["dev"] }), Profile::Strict)),
    };
    assert!(desk.write(move |tx| scrub::replace(tx, old, &replaced)));
    assert!(found(&desk, "quetzalcoatl", &Filter::default()).is_empty());
    assert_eq!(found(&desk, "dev", &Filter::default()), [old]);
    let filter = PurgeFilter { ids: Some(vec![new]), ..PurgeFilter::default() };
    assert_eq!(desk.write(move |tx| Ok(purge::run(tx, &filter)?.count("memories"))), 1);
    assert_eq!(current(&desk, old), old);
    assert!(desk.write(|tx| Ok(index_health::mend(tx)?.is_none())), "the index is sound");
    assert_eq!(desk.write(damaged::mend), 0);
}

#[test]
fn a_scrub_reads_the_directory_where_a_memory_was_stored() {
    let desk = Desk::new();
    let id = add(&desk, "the port is 80", &[]);
    let columns = desk.read(|rx| Ok(scrub::columns(rx)));
    let named = |place: &str| columns.iter().find(|one| one.place == place).copied().unwrap();
    let texts = desk.read(|rx| scrub::column_texts_after(rx, named("memory_root"), 0, 9));
    assert_eq!(texts, [(id, "/w/app".to_owned())]);
    for place in ["ghap_root", "value_root"] {
        let texts = desk.read(|rx| scrub::column_texts_after(rx, named(place), 0, 9));
        assert!(texts.is_empty(), "{place}");
    }
}

#[test]
fn a_record_with_a_new_id_loses_the_receipts_of_its_old_one() {
    let desk = Desk::new();
    let id = desk.runs("cargo test", 0);
    let session = desk.session.id;
    let paths = desk.write(move |tx| {
        for scheme in ["obs", "fix", "memory"] {
            let path = format!("{scheme}://{id}");
            let (stamp, reason, tokens) = (0, "asked", 1);
            receipts::add(
                tx,
                &NewReceipt { session, at: NOW, path: &path, stamp, reason, tokens },
            )?;
        }
        let record = ("observations", id);
        assert!(tx.sql(|db| shared_ids::renumber(db, tx.registry(), record, id + 100))?);
        let list = "SELECT path FROM receipts";
        tx.sql(|db| db.prepare(list)?.query_map([], |row| row.get(0))?.collect())
    });
    let paths: Vec<String> = paths;
    assert_eq!(paths, [format!("memory://{id}")], "a memory is named by another id");
}

fn wanted(projects: Option<&[i64]>, least: f64) -> NearestMemories<'_> {
    NearestMemories { projects, least, count: 10 }
}

#[test]
fn only_as_many_of_the_nearest_memories_are_returned_as_are_wanted() {
    let desk = Desk::new();
    let text = "releases are built on tuesdays from the branch stable";
    let far = add(&desk, "ada prefers tabs in the makefile", &[]);
    let near = add(&desk, "releases are built on wednesdays from the branch stable", &[]);
    desk.read(|_| Ok(()));
    let nearest = add(&desk, text, &[]);
    let few = |count: usize| -> Vec<i64> {
        let wanted = NearestMemories { count, ..wanted(None, 0.0) };
        let near = |rx: &crate::Rx<'_>| memories::nearest(rx, text, wanted);
        desk.opening.store.read(near).unwrap().into_iter().map(|(id, _)| id).collect()
    };
    assert_eq!(
        [few(1), few(2), few(9)],
        [vec![nearest], vec![nearest, near], vec![nearest, near, far]]
    );
    let again = add(&desk, text, &[]);
    assert_eq!(few(2), [again, nearest], "of two equal ones the newer is first");
}

/// Without them a series of similar memories would not name each other, or each write would wait for the index.
#[test]
fn the_nearest_memories_are_found_whether_they_are_indexed_or_not() {
    let desk = Desk::new();
    let releases = add(&desk, "releases are built on tuesdays from the branch stable", &[]);
    let other = desk.project.id + 1_000;
    let near = |projects: Option<&[i64]>| -> Vec<(i64, f64)> {
        let text = "releases are built on wednesdays from the branch stable";
        desk.opening.store.read(|rx| memories::nearest(rx, text, wanted(projects, 0.0))).unwrap()
    };
    let unindexed = near(None);
    assert_eq!(unindexed.len(), 1);
    assert!(unindexed[0].0 == releases && unindexed[0].1 > 0.6, "{unindexed:?}");
    desk.read(|_| Ok(()));
    assert_eq!(near(None)[0].0, releases);
    let tabs = add(&desk, "ada prefers tabs in the makefile", &[]);
    let both = near(Some(&[desk.project.id]));
    assert_eq!(both.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [releases, tabs]);
    assert!(near(Some(&[other])).is_empty());
    desk.write(move |tx| memories::remove(tx, releases));
    assert_eq!(near(None).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [tabs]);
}

/// The vectors are cached: each change of a memory has to reach them, before and after it is indexed.
#[test]
fn a_memory_that_was_changed_moved_or_removed_is_compared_as_it_is_now() {
    for is_indexed in [false, true] {
        let desk = Desk::new();
        let index = || {
            if is_indexed {
                desk.read(|_| Ok(()))
            }
        };
        let near = |text: &'static str, projects: Option<&[i64]>| -> Vec<i64> {
            let near = |rx: &crate::Rx<'_>| memories::nearest(rx, text, wanted(projects, 0.6));
            desk.opening.store.read(near).unwrap().into_iter().map(|(id, _)| id).collect()
        };
        let (releases, tabs) = ("releases are built on tuesdays", "ada prefers tabs in makefiles");
        let first = add(&desk, releases, &[]);
        index();
        assert_eq!((near(releases, None), near(tabs, None)), (vec![first], vec![]));
        let second = add(&desk, "releases are built on wednesdays", &[]);
        index();
        assert_eq!(near(releases, None), [first, second]);
        let replaced =
            Replacement { content: redact(tabs, Profile::Strict), file_path: None, metadata: None };
        assert!(desk.write(move |tx| scrub::replace(tx, first, &replaced)));
        index();
        assert_eq!((near(releases, None), near(tabs, None)), (vec![second], vec![first]));
        let from = desk.project.id;
        let into = desk.session("s-2", "other", 1).project;
        desk.write(move |tx| projects::merge(tx, from, into));
        assert!(near(tabs, Some(&[from])).is_empty(), "{is_indexed}");
        assert_eq!(near(tabs, Some(&[into])), [first], "{is_indexed}");
        desk.write(move |tx| memories::remove(tx, first));
        assert!(near(tabs, None).is_empty(), "{is_indexed}");
        desk.write(crate::passages::rebuild);
        assert_eq!(near(releases, None), [second], "{is_indexed}");
        index();
        assert_eq!(near(releases, None), [second], "{is_indexed}");
    }
}

#[test]
fn kinds_that_are_searched_together_have_the_hits_of_each_alone() {
    let desk = Desk::new();
    let memory = add(&desk, "the login cache is renewed at noon", &[]);
    let other = add(&desk, "tabs in the makefile", &[]);
    desk.runs("renew the login cache", 0);
    let kinds =
        [memories::KIND, crate::ghaps::EXPERIENCE].map(|word| RecordType::of(word).unwrap());
    for is_indexed in [false, true] {
        if is_indexed {
            desk.read(|_| Ok(()));
        }
        let query = query::any_of("when is the login cache renewed");
        let wanted = search::Wanted::of(Order::Best, limits::SEARCH_CANDIDATES);
        let all = Filter::default();
        let store = &desk.opening.store;
        let of_both = |query: &Query| {
            let asked = (&all, kinds.as_slice());
            store.read(|rx| search::hits_of_kinds(Recipe::Table, rx, query, asked, wanted)).unwrap()
        };
        let together = of_both(&query);
        let filter = Filter { kind: Some(kinds[0]), ..Filter::default() };
        let alone = store.read(|rx| search::hits_by(Recipe::Table, rx, &query, &filter, wanted));
        let alone = alone.unwrap();
        assert_eq!(together[0].hits, alone.hits, "{is_indexed}");
        assert_eq!(together[0].hits[0].id, memory);
        assert!(together[1].hits.is_empty(), "there is no experience");
        let begun = of_both(&query::any_of("makefi"));
        assert_eq!(begun[0].hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [other]);
    }
}
