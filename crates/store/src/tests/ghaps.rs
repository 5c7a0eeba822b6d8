//! Ghaps in the store: one transaction for a resolution and its experience, and all that the registry does for them.

use model::ghap::{
    ConfidenceTier, EarlierVersion, ExperienceAxis, Ghap, GhapDomain, GhapOutcome, GhapStatus,
    GhapStrategy, Lesson, Resolution, RootCause, RootCauseCategory, RunEvidence, RunResult,
};
use model::observation::RecordType;
use text::query;
use text::secrets::{Profile, redact, redact_json};

use super::NOW;
use super::desk::Desk;
use crate::ghaps::{self, GhapFilter, NewGhap};
use crate::purge::{self, PurgeFilter};
use crate::scrub::{self, Replacement};
use crate::search::{self, Filter, Order};
use crate::{damaged, index_health, literal, projects, sessions};

fn start(desk: &Desk, goal: &'static str, after: i64) -> String {
    let (owner, project) = (desk.session.id, desk.project.id);
    desk.write(move |tx| {
        let new = NewGhap {
            owner,
            project,
            root: Some("/w/app"),
            at: NOW + after,
            domain: GhapDomain::Debugging,
            strategy: GhapStrategy::ReadTheError,
            goal,
            hypothesis: "the cache serves stale tokens",
            action: "empty the cache",
            prediction: "the login works again",
        };
        ghaps::start(tx, &new)
    })
}

fn ghap(desk: &Desk, name: &str) -> Ghap {
    desk.read(|rx| ghaps::by_name(rx, name)).unwrap()
}

fn falsified() -> Resolution {
    Resolution {
        outcome: GhapOutcome::Falsified,
        result: "it still fails".into(),
        surprise: Some("the zebra cache was empty".into()),
        root_cause: Some(RootCause {
            category: RootCauseCategory::WrongAssumption,
            description: "quagga tokens never expire".into(),
        }),
        lesson: Some(Lesson { what_worked: "reading the log".into(), takeaway: None }),
    }
}

fn resolve(desk: &Desk, name: &str, resolution: Resolution, after: i64) {
    let ghap = ghap(desk, name);
    desk.write(move |tx| {
        ghaps::resolve(tx, &ghap, &resolution, (ConfidenceTier::Silver, NOW + after))
    });
}

fn found(desk: &Desk, words: &str, kind: &str) -> Vec<i64> {
    let query = query::rewrite(words);
    let filter = Filter { kind: RecordType::of(kind), ..Filter::default() };
    let hits = desk.read(|rx| search::hits(rx, &query, &filter, Order::Best, 9)).hits;
    hits.iter().map(|hit| hit.id).collect()
}

#[test]
fn a_resolution_ends_the_active_ghap_and_makes_it_an_experience_on_every_axis() {
    let desk = Desk::new();
    let (session, project) = (desk.session.id, desk.project.id);
    let name = start(&desk, "mend the login", 0);
    let active = desk.read(|rx| ghaps::active(rx, session, project)).unwrap();
    assert_eq!((active.name.as_str(), active.iteration), (name.as_str(), 1));
    assert_eq!(found(&desk, "stale tokens", ghaps::ACTIVE), [active.id]);
    assert!(found(&desk, "stale tokens", ghaps::EXPERIENCE).is_empty());
    resolve(&desk, &name, falsified(), 5_000);
    assert_eq!(desk.read(|rx| ghaps::active(rx, session, project)), None);
    assert!(found(&desk, "stale tokens", ghaps::ACTIVE).is_empty());
    for words in ["stale tokens", "zebra", "quagga", "reading the log"] {
        assert_eq!(found(&desk, words, ghaps::EXPERIENCE), [active.id], "{words}");
    }
    let on = |axis| desk.read(|rx| ghaps::experiences(rx, project, axis));
    for axis in ExperienceAxis::ALL {
        let one = &on(*axis)[0];
        assert_eq!((one.id, one.weight), (active.id, 0.8), "{axis:?}");
        assert_eq!(one.lesson, "reading the log");
    }
    assert_eq!(
        on(ExperienceAxis::RootCause)[0].text,
        "wrong-assumption: quagga tokens never expire"
    );
    resolve(&desk, &name, Resolution::abandoned("again".into()), 9_000);
    assert_eq!(ghap(&desk, &name).status, GhapStatus::Falsified, "it is resolved once");
}

#[test]
fn history_notes_and_evidence_are_stored_and_an_adoption_drops_the_evidence() {
    let desk = Desk::new();
    let name = start(&desk, "mend the login", 0);
    let mut changed = ghap(&desk, &name);
    changed.history.push(EarlierVersion {
        at: NOW + 1,
        hypothesis: "old".into(),
        action: "old".into(),
        prediction: "old".into(),
    });
    changed.hypothesis = "the okapi clock is wrong".into();
    changed.iteration = 2;
    let run = RunEvidence {
        at: NOW,
        iteration: 2,
        command: "pytest".into(),
        program: "pytest".into(),
        subcommand: String::new(),
        result: RunResult::Failed,
        passed: Some(3),
        failed: Some(1),
    };
    let (stored, evidence) = (changed.clone(), run.clone());
    let ahead = RunEvidence { at: NOW + 1, result: RunResult::Passed, ..run.clone() };
    desk.write(move |tx| {
        ghaps::update(tx, &stored)?;
        // A clock that was ahead recorded a run, and was set back.
        let stored = Ghap { evidence: vec![ahead.clone()], ..stored.clone() };
        ghaps::add_evidence(tx, &stored, &evidence)
    });
    let read = ghap(&desk, &name);
    assert_eq!((read.history.len(), read.iteration), (1, 2));
    assert_eq!(
        (&read.evidence, read.evidence[0].counts().as_str()),
        (&vec![run], "3 passed, 1 failed")
    );
    assert_eq!(found(&desk, "okapi", ghaps::ACTIVE), [read.id]);
    assert!(found(&desk, "stale", ghaps::ACTIVE).is_empty());
    let other = desk.session("s-2", "app", 3).id;
    desk.write(move |tx| ghaps::adopt(tx, &read, other, NOW + 4));
    let adopted = ghap(&desk, &name);
    assert_eq!((adopted.owner, adopted.session_id.as_str()), (other, "s-2"));
    assert_eq!((adopted.evidence.len(), adopted.changed_at), (0, NOW + 4));
}

#[test]
fn an_orphan_is_of_an_ended_or_a_deleted_session_or_of_a_quiet_one_while_another_is_active() {
    let desk = Desk::new();
    let name = start(&desk, "mend the login", 0);
    let project = desk.project.id;
    let orphans = |since: i64| {
        let found = desk.read(|rx| ghaps::orphans(rx, project, None, since));
        found.into_iter().map(|ghap| ghap.name).collect::<Vec<_>>()
    };
    assert!(orphans(NOW).is_empty(), "its session is active");
    assert!(orphans(NOW + 10).is_empty(), "no other session is active");
    let other = desk.session("s-2", "app", 50).id;
    assert_eq!(orphans(NOW + 10), std::slice::from_ref(&name));
    let own = desk.session.id;
    let of_own = desk.read(|rx| ghaps::orphans(rx, project, Some(own), NOW + 10));
    assert!(of_own.is_empty(), "a session is not told of its own");
    desk.write(move |tx| sessions::end(tx, own, NOW + 60));
    assert_eq!(orphans(NOW), std::slice::from_ref(&name));
    desk.write(move |tx| purge::session(tx, own, false));
    assert_eq!(desk.read(|rx| sessions::by_id(rx, own)), None);
    assert_eq!(orphans(NOW), [name], "it outlives its session");
    assert!(other > own);
}

#[test]
fn a_purge_a_scrub_and_a_merge_of_projects_reach_ghaps() {
    let desk = Desk::new();
    let name = start(&desk, "mend the xylophone", 0);
    resolve(&desk, &name, falsified(), 1);
    let id = ghap(&desk, &name).id;
    assert_eq!(desk.read(|rx| literal::matches(rx, "quagga")).records, [id]);
    let texts = desk.read(|rx| scrub::after(rx, 0, 9)).remove(0);
    assert_eq!((texts.id, texts.content.as_str()), (id, "mend the xylophone"));
    let mut metadata = texts.metadata.unwrap();
    metadata["lesson"]["what_worked"] = "a marimba".into();
    let new = Replacement {
        content: redact("mend the door", Profile::Strict),
        file_path: None,
        metadata: Some(redact_json(metadata, Profile::Strict)),
    };
    assert!(desk.write(move |tx| scrub::replace(tx, id, &new)));
    assert!(found(&desk, "xylophone", ghaps::EXPERIENCE).is_empty());
    assert_eq!(found(&desk, "marimba", ghaps::EXPERIENCE), [id]);
    assert_eq!(ghap(&desk, &name).goal, "mend the door");
    assert!(desk.write(|tx| Ok(index_health::mend(tx)?.is_none())), "the index is sound");
    assert_eq!(desk.write(damaged::mend), 0);
    let other = desk.session("s-2", "web", 1).project;
    let from = desk.project.id;
    desk.write(move |tx| projects::merge(tx, from, other));
    let filter = GhapFilter { projects: Some(&[other]), ..GhapFilter::default() };
    assert_eq!(desk.read(|rx| ghaps::list(rx, &filter, 9)).len(), 1);
    let filter = PurgeFilter { projects: Some(vec![other]), ..PurgeFilter::default() };
    assert_eq!(desk.write(move |tx| Ok(purge::run(tx, &filter)?.count("ghaps"))), 1);
    assert!(found(&desk, "marimba", ghaps::EXPERIENCE).is_empty());
}
