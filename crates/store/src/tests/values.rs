//! Clusters of experiences and learned values in the store: ids that keep their meaning, and all that the registry does for
//! values.

use std::collections::{BTreeMap, BTreeSet};

use model::ghap::{
    ConfidenceTier, ExperienceAxis, GhapDomain, GhapOutcome, GhapStrategy, Lesson, Resolution,
    RootCause, RootCauseCategory,
};
use model::observation::RecordType;
use serde_json::Value;
use text::query;
use text::secrets::{Profile, redact};

use super::NOW;
use super::desk::Desk;
use crate::clusters::{self, Clustering, ExperienceCluster};
use crate::ghaps::{self, NewGhap};
use crate::purge::{self, PurgeFilter};
use crate::scrub::{self, Replacement};
use crate::search::{self, Filter, Order};
use crate::values::{self, NewValue};
use crate::{damaged, index_health, literal, projects};

const FULL: ExperienceAxis = ExperienceAxis::Full;

/// The quality set: 15 experiences in each of eight themes, and 30 in none.
fn quality_set() -> Vec<Value> {
    let set = include_str!("../../../../quality/ghaps.jsonl");
    set.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Stores experiences of the desk's project. Returns their record ids with their themes.
fn add(desk: &Desk, rows: &[Value]) -> BTreeMap<i64, String> {
    let (owner, project, rows) = (desk.session.id, desk.project.id, rows.to_vec());
    desk.write(move |tx| {
        let mut added = BTreeMap::new();
        for row in &rows {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let word = |name: &str| row[name].as_str().unwrap_or_default();
            let new = NewGhap {
                owner,
                project,
                root: Some("/w/app"),
                at: NOW,
                domain: GhapDomain::parse(word("domain")).unwrap(),
                strategy: GhapStrategy::parse(word("strategy")).unwrap(),
                goal: word("goal"),
                hypothesis: word("hypothesis"),
                action: word("action"),
                prediction: word("prediction"),
            };
            let name = ghaps::start(tx, &new)?;
            let cause = &row["root_cause"];
            let outcome = GhapOutcome::ALL.iter().find(|one| one.word() == word("status"));
            let resolution = Resolution {
                outcome: *outcome.unwrap(),
                result: word("result").to_owned(),
                surprise: text(&row["surprise"]),
                root_cause: text(&cause["description"]).map(|description| RootCause {
                    category: RootCauseCategory::parse(cause["category"].as_str().unwrap())
                        .unwrap(),
                    description,
                }),
                lesson: Some(Lesson {
                    what_worked: text(&row["lesson"]["what_worked"]).unwrap(),
                    takeaway: text(&row["lesson"]["takeaway"]),
                }),
            };
            let ghap = ghaps::by_name(tx, &name)?.unwrap();
            ghaps::resolve(tx, &ghap, &resolution, (ConfidenceTier::Silver, NOW + 1))?;
            added.insert(ghap.id, word("theme").to_owned());
        }
        Ok(added)
    })
}

fn clustering(desk: &Desk, project: i64) -> Clustering {
    let mut clustering = desk.read(|rx| clusters::clusters(rx, project, FULL));
    if !clustering.is_stored() {
        let new = clustering.unnumbered();
        let numbers = desk.write(move |tx| clusters::store(tx, &new, NOW));
        clustering.number(&numbers);
    }
    clustering
}

/// The number of each cluster with the main theme of its members.
fn themes(of: &Clustering, themes: &BTreeMap<i64, String>) -> BTreeMap<i64, String> {
    let main = |cluster: &ExperienceCluster| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for member in &cluster.members {
            *counts.entry(&themes[&of.experiences[*member].id]).or_default() += 1;
        }
        let (theme, _) = counts.into_iter().max_by_key(|(_, count)| *count).unwrap();
        (cluster.number.unwrap(), theme.to_owned())
    };
    of.clusters.iter().map(main).collect()
}

fn theme(rows: &[Value], names: &[&str]) -> Vec<Value> {
    let is_wanted = |row: &&Value| names.contains(&row["theme"].as_str().unwrap());
    rows.iter().filter(is_wanted).cloned().collect()
}

#[test]
fn stored_experiences_are_grouped_by_theme_and_each_cluster_has_its_words() {
    let desk = Desk::new();
    let known = add(&desk, &quality_set());
    let found = clustering(&desk, desk.project.id);
    let main = themes(&found, &known);
    let (mut right, mut placed, mut with_theme) = (0, 0, 0);
    for cluster in &found.clusters {
        for member in &cluster.members {
            let theme = &known[&found.experiences[*member].id];
            placed += 1;
            with_theme += usize::from(theme != "none");
            right += usize::from(*theme == main[&cluster.number.unwrap()]);
        }
    }
    let (purity, share) = (right as f64 / placed as f64, with_theme as f64 / 120.0);
    let words: Vec<_> = found.clusters.iter().map(|one| one.words.join(" ")).collect();
    assert!(purity >= 0.8 && share >= 0.88, "purity {purity:.3}, placed {share:.3}, {words:?}");
    assert_eq!(found.noise(), 150 - placed);
    let about = |theme: &str| {
        let of = |one: &&ExperienceCluster| main[&one.number.unwrap()] == theme;
        found.clusters.iter().find(of).map(|one| one.words.join(" ")).unwrap_or_default()
    };
    assert!(about("queries").contains("index"), "{words:?}");
    assert!(about("clock").contains("date"), "{words:?}");
}

#[test]
fn a_cluster_keeps_its_id_while_experiences_are_added_and_removed() {
    let desk = Desk::new();
    let project = desk.project.id;
    let rows = quality_set();
    let mut known = add(&desk, &theme(&rows, &["clock", "queries", "encoding"]));
    let first = clustering(&desk, project);
    let before = themes(&first, &known);
    assert!(before.len() >= 2, "{before:?}");
    assert_eq!(themes(&clustering(&desk, project), &known), before, "nothing changed");
    known.extend(add(&desk, &theme(&rows, &["upgrades", "races"])));
    let after = themes(&clustering(&desk, project), &known);
    for (number, theme) in &before {
        let same = after.get(number).is_none_or(|now| now == theme);
        assert!(same, "{number} was {theme}: {before:?} {after:?}");
    }
    let kept = after.keys().filter(|number| before.contains_key(number)).count();
    assert!(kept >= 2, "{before:?} {after:?}");
    // A theme disappears, and other experiences come.
    let clock: Vec<i64> =
        known.iter().filter(|(_, theme)| *theme == "clock").map(|(id, _)| *id).collect();
    desk.write(move |tx| clock.iter().try_for_each(|id| ghaps::remove(tx, *id).map(drop)));
    known.extend(add(&desk, &theme(&rows, &["cache", "remote"])));
    let last = themes(&clustering(&desk, project), &known);
    let is_clock = |(number, theme): (&i64, &String)| (theme == "clock").then_some(*number);
    let gone: BTreeSet<i64> = before.iter().chain(&after).filter_map(is_clock).collect();
    assert!(!gone.is_empty());
    assert!(last.keys().all(|number| !gone.contains(number)), "no other cluster gets the number");
}

#[test]
fn ids_of_clusters_survive_a_merge_of_projects() {
    let desk = Desk::new();
    let known = add(&desk, &theme(&quality_set(), &["clock", "queries", "encoding"]));
    let before = themes(&clustering(&desk, desk.project.id), &known);
    let other = desk.session("s-2", "web", 1).project;
    let from = desk.project.id;
    desk.write(move |tx| projects::merge(tx, from, other));
    assert_eq!(themes(&clustering(&desk, other), &known), before);
    assert_eq!(desk.write(damaged::mend), 0);
}

#[test]
fn a_rule_is_nearest_to_the_lessons_of_its_own_cluster() {
    let desk = Desk::new();
    let known = add(&desk, &theme(&quality_set(), &["clock", "queries", "encoding"]));
    let found = clustering(&desk, desk.project.id);
    let main = themes(&found, &known);
    for (theme, rule) in [
        ("clock", "Freeze the time in tests and pass a clock instead of reading the current date"),
        (
            "queries",
            "Look at the query plan and add the matching composite index before anything else",
        ),
        ("encoding", "Normalise Unicode text and decode bytes as UTF-8 at the border"),
    ] {
        let similarities = found.similarities(rule);
        let best = similarities.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        let nearest = &main[&found.clusters[best.0].number.unwrap()];
        assert_eq!((nearest.as_str(), *best.1 >= 0.4), (theme, true), "{rule}: {similarities:?}");
    }
    assert!(found.similarities("").iter().all(|similarity| *similarity == 0.0));
}

fn value(desk: &Desk, text: &'static str, after: i64) -> String {
    let project = desk.project.id;
    desk.write(move |tx| {
        let new = NewValue {
            stored_in: None,
            project,
            root: Some("/w/app"),
            at: NOW + after,
            axis: ExperienceAxis::RootCause,
            cluster: 12,
            text,
            distance: 0.25,
            weight: if text.contains("proven") { 1.0 } else { 0.5 },
        };
        values::add(tx, &new)
    })
}

fn found(desk: &Desk, words: &str) -> Vec<i64> {
    let query = query::rewrite(words);
    let filter = Filter { kind: RecordType::of(values::KIND), ..Filter::default() };
    let hits = desk.read(|rx| search::hits(rx, &query, &filter, Order::Best, 9)).hits;
    hits.iter().map(|hit| hit.id).collect()
}

#[test]
fn values_are_listed_newest_first_and_the_best_proven_one_is_the_best() {
    let desk = Desk::new();
    let proven = value(&desk, "a proven rule", 1);
    let newest = value(&desk, "another rule", 2);
    let names = |found: Vec<values::LearnedValue>| -> Vec<String> {
        found.into_iter().map(|value| value.name).collect()
    };
    let listed = desk.read(|rx| values::list(rx, None, None, 9));
    assert_eq!((listed[0].distance, listed[0].cluster), (0.25, 12));
    assert_eq!(names(listed), [newest.clone(), proven.clone()]);
    assert!(desk.read(|rx| values::list(rx, None, Some(FULL), 9)).is_empty());
    assert!(desk.read(|rx| values::list(rx, Some(&[999]), None, 9)).is_empty());
    assert_eq!(names(desk.read(|rx| values::best(rx, None, 9))), [proven, newest]);
}

#[test]
fn search_a_purge_a_scrub_and_a_merge_of_projects_reach_values() {
    let desk = Desk::new();
    let name = value(&desk, "Read the zebra plan before the index", 0);
    let id = desk.read(|rx| values::by_name(rx, &name)).unwrap().id;
    let (damage, _) = desk.read(|rx| rx.sql(|db| damaged::look(db, rx.registry())));
    assert_eq!(damage, damaged::DamagedRows::default());
    assert_eq!(found(&desk, "zebra plan"), [id]);
    assert_eq!(desk.read(|rx| literal::matches(rx, "zebra")).records, [id]);
    let texts = desk.read(|rx| scrub::after(rx, 0, 9)).remove(0);
    assert_eq!((texts.id, texts.content.as_str()), (id, "Read the zebra plan before the index"));
    let content = redact("Read the okapi plan", Profile::Strict);
    let new = Replacement { content, file_path: None, metadata: None };
    assert!(desk.write(move |tx| scrub::replace(tx, id, &new)));
    assert!(found(&desk, "zebra").is_empty());
    assert_eq!(found(&desk, "okapi"), [id]);
    assert!(desk.write(|tx| Ok(index_health::mend(tx)?.is_none())), "the index is sound");
    assert_eq!(desk.write(damaged::mend), 0);
    let other = desk.session("s-2", "web", 1).project;
    let from = desk.project.id;
    desk.write(move |tx| projects::merge(tx, from, other));
    assert_eq!(desk.read(|rx| values::list(rx, Some(&[other]), None, 9)).len(), 1);
    let filter = PurgeFilter { projects: Some(vec![other]), ..PurgeFilter::default() };
    assert_eq!(desk.write(move |tx| Ok(purge::run(tx, &filter)?.count("learned_values"))), 1);
    assert!(found(&desk, "okapi").is_empty());
    assert_eq!(desk.read(|rx| values::by_name(rx, &name)), None);
}
