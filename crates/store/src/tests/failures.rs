//! Failures of runs and the runs that fixed them: how they are recognised, counted, fixed and forgotten.

use model::observation::ObsType;
use text::fingerprint::Fingerprint;

use super::NOW;
use super::desk::{Deed, Desk, do_it};
use crate::failures::{self, EndedRun, Failure, RunKind};
use crate::purge::{self, PurgeFilter};
use crate::sessions::Seen;
use crate::{Rx, projects};

const PYTEST: RunKind<'static> = RunKind { program: "pytest", subcommand: "" };

const KEY: &str = "FAILED tests/a.py::test_a - KeyError: 'id'\nE   KeyError: 'id'";
const VALUE: &str = "FAILED tests/a.py::test_b - ValueError: no\nE   ValueError: no";

/// A run of pytest that ended with this error, or passed. Returns the id of its observation.
fn run_in(desk: &Desk, session: Seen, line: &str, error: Option<&'static str>, after: i64) -> i64 {
    let deed =
        Deed { session, failed: error.is_some(), ..desk.deed(ObsType::Command, line, after) };
    let line = line.to_owned();
    desk.write(move |tx| {
        let record = do_it(tx, &deed)?;
        let ended = EndedRun {
            kind: PYTEST,
            session: session.id,
            project: session.project,
            at: NOW + after,
            record,
        };
        match error {
            Some(error) => failures::failed(tx, &ended, &Fingerprint::of(error), &line)?,
            None => failures::passed(tx, &ended, &line)?,
        }
        Ok(record.id())
    })
}

fn run(desk: &Desk, line: &str, error: Option<&'static str>, after: i64) -> i64 {
    run_in(desk, desk.session, line, error, after)
}

fn find(desk: &Desk, error: &str) -> Option<Failure> {
    let project = [desk.project.id];
    let lines = Fingerprint::of(error);
    desk.read(|rx| failures::find(rx, Some(&project), Some(PYTEST), &lines)).into_iter().next()
}

fn rows(rx: &Rx<'_>, table: &str) -> Result<i64, model::OpError> {
    rx.sql(|db| db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)))
}

#[test]
fn the_first_later_pass_of_the_same_kind_fixes_a_failure() {
    let desk = Desk::new();
    let failed = run(&desk, "pytest", Some(KEY), 0);
    assert!(find(&desk, KEY).unwrap().fixes.is_empty());
    let again = run(
        &desk,
        "pytest -x",
        Some("E   KeyError: 'id'\nFAILED x/a.py::test_a - KeyError: 'id'"),
        1,
    );
    run(&desk, "pytest -q", None, 2);
    run(&desk, "pytest", None, 3);
    let found = find(&desk, KEY).unwrap();
    assert_eq!((found.id, found.seen, found.last), (failed, 2, again));
    let first = (failed, again + 1);
    assert_eq!(found.fixes, [(again, again + 1), first], "the later pass is no fix");
    assert_eq!(find(&desk, VALUE), None, "another failure");
}

#[test]
fn a_pass_of_other_tests_or_in_another_project_fixes_nothing() {
    let desk = Desk::new();
    run(&desk, "pytest tests/a.py", Some(KEY), 0);
    run(&desk, "pytest tests/b.py", None, 1);
    let other = desk.session("s-2", "other", 2);
    run_in(&desk, other, "pytest tests/a.py", None, 3);
    assert!(find(&desk, KEY).unwrap().fixes.is_empty());
    run(&desk, "pytest tests", None, 4);
    assert_eq!(find(&desk, KEY).unwrap().fixes.len(), 1);
}

#[test]
fn failures_of_another_project_or_program_are_not_found() {
    let desk = Desk::new();
    let other = desk.session("s-2", "other", 0);
    run_in(&desk, other, "pytest", Some(KEY), 1);
    assert_eq!(find(&desk, KEY), None);
    let lines = Fingerprint::of(KEY);
    let everywhere = desk.read(|rx| failures::find(rx, None, None, &lines));
    assert_eq!(everywhere.len(), 1);
    let cargo = RunKind { program: "cargo", subcommand: "test" };
    assert!(desk.read(|rx| failures::find(rx, None, Some(cargo), &lines)).is_empty());
}

#[test]
fn a_failure_whose_output_says_nothing_is_listed_by_its_command_and_is_like_no_other() {
    const NOTHING: &str = "1 failed, 3 passed in 0.1s";
    let desk = Desk::new();
    let first = run(&desk, "pytest -q", Some(NOTHING), 0);
    let second = run(&desk, "pytest  -q", Some(NOTHING), 1);
    let other = run(&desk, "pytest -x", Some(NOTHING), 2);
    let fix = run(&desk, "pytest -q", None, 3);
    let elsewhere = desk.session("s-2", "other", 4);
    run_in(&desk, elsewhere, "pytest -q", Some(NOTHING), 5);
    let listed = desk.read(|rx| failures::list(rx, Some(&[desk.project.id]), None, 9));
    let told: Vec<_> = listed.iter().map(|one| (one.id, one.seen, one.last)).collect();
    assert_eq!(told, [(first, 2, second), (other, 1, other)]);
    assert_eq!(listed[0].fixes, [(second, fix), (first, fix)]);
    assert_eq!(desk.read(|rx| failures::list(rx, None, None, 9)).len(), 3, "of each project");
    assert_eq!(find(&desk, NOTHING), None);
    assert!(
        desk.read(|rx| failures::find_with_lines(rx, None, None, &Fingerprint::of(NOTHING)))
            .is_empty()
    );
    let filter = PurgeFilter { ids: Some(vec![first, second, other]), ..PurgeFilter::default() };
    desk.write(move |tx| purge::run(tx, &filter).map(drop));
    assert_eq!(desk.read(|rx| rows(rx, "failure_lines")), 1, "that of the other project");
}

#[test]
fn the_list_has_the_most_seen_failures_first() {
    let desk = Desk::new();
    run(&desk, "pytest", Some(KEY), 0);
    run(&desk, "pytest", Some(VALUE), 1);
    run(&desk, "pytest -v", Some(VALUE), 2);
    let listed = desk.read(|rx| failures::list(rx, None, None, 9));
    assert_eq!(listed.iter().map(|one| one.seen).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(desk.read(|rx| failures::list(rx, None, None, 1)).len(), 1);
    let of = |program: &'static str| {
        let kind = RunKind { program, subcommand: "" };
        desk.read(|rx| failures::list(rx, None, Some(kind), 9)).len()
    };
    assert_eq!((of("pytest"), of("cargo")), (2, 0), "of one kind of run");
}

#[test]
fn a_purge_of_the_observations_removes_failures_and_reopens_what_they_fixed() {
    let desk = Desk::new();
    let first = run(&desk, "pytest", Some(KEY), 0);
    let second = run(&desk, "pytest -x", Some(KEY), 1);
    let fix = run(&desk, "pytest -v", None, 2);
    let purge = |ids: Vec<i64>| {
        let filter = PurgeFilter { ids: Some(ids), ..PurgeFilter::default() };
        desk.write(move |tx| purge::run(tx, &filter).map(|_| ()));
    };
    purge(vec![first]);
    let found = find(&desk, KEY).unwrap();
    assert_eq!(
        (found.id, found.seen, found.fixes),
        (second, 1, vec![(second, fix)]),
        "the next one leads"
    );
    purge(vec![fix]);
    assert!(find(&desk, KEY).unwrap().fixes.is_empty(), "open again");
    let pass = run(&desk, "pytest -q", None, 3);
    assert_eq!(find(&desk, KEY).unwrap().fixes, [(second, pass)]);
    purge(vec![second]);
    assert_eq!(find(&desk, KEY), None);
    let left = desk.read(|rx| Ok((rows(rx, "failures")?, rows(rx, "failure_lines")?)));
    assert_eq!(left, (0, 0));
}

#[test]
fn lost_lines_are_rebuilt_and_a_lost_observation_takes_its_failure_along() {
    let desk = Desk::new();
    let first = run(&desk, "pytest", Some(KEY), 0);
    let second = run(&desk, "pytest -x", Some(KEY), 1);
    desk.write(move |tx| {
        tx.sql(|db| {
            db.execute("DELETE FROM failure_lines", [])?;
            db.execute("DELETE FROM failures WHERE id = ?1", [first])
        })?;
        failures::rebuild_lines(tx)
    });
    let found = find(&desk, KEY).unwrap();
    assert_eq!((found.id, found.seen), (second, 1));
    desk.write(move |tx| {
        tx.sql(|db| db.execute("DELETE FROM observations WHERE id = ?1", [second]))?;
        let mut all = tx.registry().iter();
        all.try_for_each(|aggregate| aggregate.after_sweep(tx, NOW))
    });
    assert_eq!(find(&desk, KEY), None);
}

#[test]
fn a_merge_of_projects_merges_their_failures() {
    let desk = Desk::new();
    let other = desk.session("s-2", "other", 0);
    run_in(&desk, other, "pytest", Some(KEY), 1);
    run(&desk, "pytest -x", Some(KEY), 2);
    let (from, into) = (other.project, desk.project.id);
    desk.write(move |tx| projects::merge(tx, from, into).map(drop));
    assert_eq!(find(&desk, KEY).unwrap().seen, 2);
}
