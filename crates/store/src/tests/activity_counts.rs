//! Counts of records by half hour: they equal the records after every change.

use std::collections::BTreeMap;

use model::observation::ObsType;
use rusqlite::Row;

use super::NOW;
use super::desk::{Deed, Desk, facts};
use crate::activity_counts::{self, SLOT_MS, SlotCount};
use crate::cells::Cells as _;
use crate::purge::{self, PurgeFilter};
use crate::{damaged, projects};

/// Project, agent, type, tool and slot, with the records and the failed ones.
type Counts = BTreeMap<(i64, String, String, String, i64), (u64, u64)>;

fn counted(desk: &Desk) -> Counts {
    let mut all = Counts::new();
    desk.read(|rx| {
        activity_counts::visit(rx, None, (0, i64::MAX), &mut |key, counts| {
            for SlotCount { slot, records, failed } in counts {
                let (agent, kind) = (key.agent.clone(), key.kind.clone());
                let sum = all.entry((key.project, agent, kind, key.tool.clone(), *slot));
                let sum = sum.or_default();
                *sum = (sum.0 + records, sum.1 + failed);
            }
        })
    });
    all
}

fn stored(desk: &Desk) -> Counts {
    const STORED: &str = "SELECT o.project, s.agent, o.kind, coalesce(o.tool, ''), o.at / ?1, count(*), \
         total(o.failed) FROM observations o JOIN sessions s ON s.id = o.session GROUP BY 1, 2, 3, 4, 5 \
         UNION ALL SELECT q.project, s.agent, 'user_prompt', '', q.at / ?1, count(*), 0.0 \
         FROM prompts q JOIN sessions s ON s.id = q.session GROUP BY 1, 2, 5";
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of counts")]
    let read = |row: &Row<'_>| {
        let key = (row.cell(0)?, row.cell(1)?, row.cell(2)?, row.cell(3)?, row.cell(4)?);
        Ok((key, (row.cell(5)?, row.cell::<f64>(6)? as u64)))
    };
    desk.read(|rx| rx.sql(|db| db.prepare(STORED)?.query_map([SLOT_MS], read)?.collect()))
}

/// How many records the counts have, without those that only a reader adds.
fn written(desk: &Desk) -> u64 {
    const WRITTEN: &str = "SELECT coalesce(sum(count), 0) FROM activity_counts";
    desk.read(|rx| rx.sql(|db| db.query_row(WRITTEN, [], |row| row.cell(0))))
}

fn count_all(desk: &Desk) {
    desk.write(activity_counts::catch_up);
}

/// A day of work in two projects.
fn busy_desk() -> Desk {
    let desk = Desk::new();
    let other = desk.session("s-2", "api", 0);
    for hour in 0..8 {
        let after = hour * 2 * SLOT_MS;
        desk.says(&format!("prompt {hour}"), None, after);
        desk.runs(&format!("make {hour}"), after + 1);
        desk.does(Deed { failed: true, ..desk.deed_command("make test", after + 2) });
        let deed = desk.deed(ObsType::FileEdit, &format!("Edit {hour}"), after + 3);
        desk.does(Deed { session: other, ..deed });
    }
    desk
}

/// @activity_stats_are_exact
#[test]
fn counts_equal_the_records_before_and_after_they_are_written() {
    let desk = busy_desk();
    assert_eq!(counted(&desk), stored(&desk));
    count_all(&desk);
    assert_eq!((written(&desk), counted(&desk)), (32, stored(&desk)));
    desk.runs("one more", 9 * SLOT_MS);
    assert_eq!(counted(&desk), stored(&desk), "a reader adds records that are not counted yet");
    assert_eq!(counted(&desk).values().map(|(_, failed)| failed).sum::<u64>(), 8);
}

/// The prompts and the observations of each project, by the totals and by the records.
fn overviews(desk: &Desk) -> [Vec<(u64, u64, u64)>; 2] {
    let numbers = |all: Vec<model::project::ProjectOverview>| {
        all.iter().map(|one| (one.sessions, one.prompts, one.observations)).collect()
    };
    let listed = desk.read(projects::list);
    let counted = desk.read(|rx| {
        let each = projects::latest(rx)?.into_iter();
        each.map(|(project, last_at)| projects::overview(rx, project, last_at)).collect()
    });
    [numbers(listed), numbers(counted)]
}

#[track_caller]
fn assert_totals(desk: &Desk) {
    const SUMS: &str = "SELECT count(*) FROM (SELECT key, sum(count) AS records FROM activity_counts \
         GROUP BY key EXCEPT SELECT key, records FROM activity_totals)";
    const EXTRA: &str = "SELECT count(*) FROM activity_totals \
         WHERE key NOT IN (SELECT key FROM activity_counts)";
    for wrong in [SUMS, EXTRA] {
        let rows: u64 = desk.read(|rx| rx.sql(|db| db.query_row(wrong, [], |row| row.cell(0))));
        assert_eq!(rows, 0, "{wrong}");
    }
    assert!(desk.read(activity_counts::totals).is_some(), "totals are used");
    let [listed, counted] = overviews(desk);
    assert_eq!(listed, counted);
}

/// @projects_are_listed
#[test]
fn projects_are_listed_with_the_numbers_of_their_records() {
    let desk = busy_desk();
    let [listed, counted] = overviews(&desk);
    assert_eq!(listed, counted, "before they are counted");
    assert_eq!(
        listed.iter().map(|(_, prompts, observations)| prompts + observations).sum::<u64>(),
        32
    );
    count_all(&desk);
    assert_totals(&desk);
    desk.runs("one more", 9 * SLOT_MS);
    assert_totals(&desk);
    let api = desk.session("s-2", "api", 0).project;
    desk.write(move |tx| {
        let filter = PurgeFilter { projects: Some(vec![api]), ..PurgeFilter::default() };
        purge::run(tx, &filter).map(drop)
    });
    assert_totals(&desk);
    // An earlier build counted without totals.
    desk.write(|tx| tx.sql(|db| db.execute("DELETE FROM activity_totals", []).map(drop)));
    assert!(desk.read(activity_counts::totals).is_none(), "records are counted");
    let [listed, counted] = overviews(&desk);
    assert_eq!(listed, counted);
    count_all(&desk);
    assert_totals(&desk);
    desk.write(activity_counts::discard);
    let [listed, counted] = overviews(&desk);
    assert_eq!(listed, counted);
}

/// @activity_stats_are_exact
#[test]
fn a_purge_subtracts_and_leaves_no_key_behind() {
    let desk = busy_desk();
    count_all(&desk);
    let api = desk.session("s-2", "api", 0).project;
    let purge = |filter: PurgeFilter| {
        desk.write(move |tx| purge::run(tx, &filter).map(drop));
        assert_eq!(counted(&desk), stored(&desk));
    };
    purge(PurgeFilter { before: Some(NOW + 3 * SLOT_MS), ..PurgeFilter::default() });
    assert!(written(&desk) < 32, "records that are already counted are subtracted");
    purge(PurgeFilter { projects: Some(vec![api]), ..PurgeFilter::default() });
    let keys = "SELECT count(*) FROM activity_keys WHERE project = ?1";
    let left: u64 = desk.read(|rx| rx.sql(|db| db.query_row(keys, [api], |row| row.cell(0))));
    assert_eq!(left, 0, "its agents and tools are not in the file any more");
    purge(PurgeFilter { before: Some(i64::MAX), ..PurgeFilter::default() });
    assert_eq!((written(&desk), counted(&desk).len()), (0, 0));
}

/// @activity_stats_are_exact
#[test]
fn merged_split_and_repaired_projects_are_counted_again() {
    let desk = busy_desk();
    count_all(&desk);
    let (app, api) = (desk.project.id, desk.session("s-2", "api", 0).project);
    desk.write(move |tx| projects::merge(tx, api, app));
    assert_eq!(counted(&desk), stored(&desk));
    assert!(counted(&desk).keys().all(|key| key.0 == app));
    count_all(&desk);
    assert_eq!(written(&desk), 32);
    desk.write(move |tx| {
        let sessions = "UPDATE sessions SET root = '/w/api' WHERE name = 's-2'";
        tx.sql(|db| db.execute(sessions, []))?;
        projects::split(tx, app, "/w/api", NOW)
    });
    assert_eq!(counted(&desk), stored(&desk));
    assert!(counted(&desk).keys().any(|key| key.0 != app));
    count_all(&desk);
    desk.write(|tx| {
        tx.sql(|db| db.execute("DELETE FROM sessions WHERE name = 's-2'", []))?;
        damaged::mend(tx)
    });
    assert_eq!(counted(&desk), stored(&desk), "the session was created again, without its agent");
}

/// @activity_stats_are_exact
#[test]
fn a_folded_flood_is_counted_in_the_slot_of_its_last_record() {
    let desk = Desk::new();
    let start = SLOT_MS - NOW.rem_euclid(SLOT_MS) - 30_000;
    for number in 0..25 {
        desk.runs("make", start + number * 1_000);
    }
    count_all(&desk);
    for number in 25..60 {
        desk.runs("make", start + number * 1_000);
        assert_eq!(counted(&desk), stored(&desk), "{number}");
    }
    assert!(counted(&desk).len() > 1, "the flood went on in the next slot");
}

#[test]
fn only_the_wanted_projects_and_slots_are_visited() {
    let desk = busy_desk();
    count_all(&desk);
    desk.write(|tx| projects::resolve(tx, &facts(None, Some("/w/none"), "none"), NOW));
    let sum = |projects: Option<&[i64]>, slots: (i64, i64)| {
        let mut records = 0;
        desk.read(|rx| {
            activity_counts::visit(rx, projects, slots, &mut |_, counts| {
                records += counts.iter().map(|count| count.records).sum::<u64>();
            })
        });
        records
    };
    let (first, app) = (NOW / SLOT_MS, [desk.project.id]);
    assert_eq!(sum(None, (first, first + 1)), 4);
    assert_eq!(sum(Some(&app), (first, first + 1)), 3);
    assert_eq!(sum(Some(&[]), (0, i64::MAX)), 0);
    assert_eq!(sum(None, (first + 1, first + 2)), 0);
}
