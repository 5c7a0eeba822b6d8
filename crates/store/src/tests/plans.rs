//! Lookups that are used often never scan and never sort, and a record stays small.

use model::observation::ObsType;
use serde_json::json;

use super::desk::{Deed, Desk};
use crate::observations::{self, fold, read};
use crate::search::{filter, newer_talk};
use crate::{
    activity, activity_counts, commits, failures, ghaps, history, hook_events, open_ends, passages,
    paths, projects, prompts, receipts, recent, sessions,
};

/// @obs_no_scan
#[test]
fn frequent_lookups_never_scan_a_table() {
    let desk = Desk::new();
    let joined = [read::BEFORE, read::AFTER, read::LATELY, read::RUNS]
        .map(|condition| format!("{} {condition}", read::COLUMNS));
    let plain = [
        commits::BEGINNING,
        commits::WITH_HASH,
        failures::OCCURRENCES,
        failures::OPEN,
        failures::REOPEN,
        failures::WITH_LINE,
        fold::EARLIER,
        history::SAID,
        history::STEPS,
        history::TOUCH,
        history::TOUCHES,
        history::TOUCHING,
        open_ends::COMMANDS,
        open_ends::EDITED,
        open_ends::FOLLOWED,
        open_ends::LAST_COMMIT,
        passages::VECTORS,
        paths::BY_NAME,
        paths::BY_PATH,
        paths::FORGET,
        projects::BY_ALIAS,
        projects::BY_ID,
        projects::ROOTS,
        prompts::ANSWER,
        prompts::BY_AGENT_ID,
        prompts::COMMIT,
        prompts::INTENTS,
        prompts::LAST_OF_SESSION,
        prompts::NEWEST,
        prompts::OF_SESSION,
        prompts::SAID,
        prompts::SAID_LATELY,
        read::DEED,
        read::DONE,
        read::EDITED_PATHS,
        read::PINNED_SESSIONS,
        read::PINNED_TALK,
        read::SAID_AFTER,
        read::SAID_BEFORE,
        read::SAID_LATELY,
        receipts::COUNT,
        receipts::DELIVERED,
        recent::NEXT,
        recent::NEXT_KIND,
        recent::LAST_ACTIVE,
        recent::LAST_MARK,
        observations::OLD,
        prompts::OLD_PROMPTS,
        filter::FAILED,
        newer_talk::SAID_SINCE,
        newer_talk::TOLD_SINCE,
        newer_talk::TOLD_BEFORE,
        sessions::BY_NAME,
        sessions::LIST,
        sessions::LIST_ALL,
        sessions::OF_AGENT,
    ];
    let old_sessions = desk.read(|rx| Ok(sessions::old_sessions(rx.registry())));
    let built = joined.iter().chain([&old_sessions]).map(String::as_str);
    for lookup in built.chain(plain).chain(activity::LOOKUPS) {
        let plan = plan_of(&desk, lookup);
        // A list of ids in a parameter is read from its beginning to its end.
        let scans = |line: &String| line.starts_with("SCAN") && !line.starts_with("SCAN json_each");
        let bad = |line: &String| scans(line) || line.contains("TEMP B-TREE");
        assert!(!plan.iter().any(bad), "{lookup}: {plan:?}");
    }
}

/// Walking the project's ghaps by their time is slow with thousands of experiences.
#[test]
fn active_ghaps_are_read_through_their_own_index() {
    let desk = Desk::new();
    for lookup in [ghaps::active_lookup(), ghaps::orphans_lookup()] {
        let plan = plan_of(&desk, &lookup);
        assert!(plan.iter().any(|line| line.contains("ghaps_active")), "{lookup}: {plan:?}");
    }
}

/// @obs_no_scan
#[test]
fn records_of_a_session_are_read_through_an_index() {
    let desk = Desk::new();
    let joined = |condition: &str| format!("{} {condition}", read::COLUMNS);
    for (lookup, index) in [
        (joined(read::OF_SESSION), "observations_by_session"),
        (joined(read::ANSWERS_OF_SESSION), "observations_by_session"),
        (joined(read::RUNS_OF_SESSION), "observations_runs"),
        (prompts::NEWEST_OF_SESSION.to_owned(), "prompts_by_session"),
        (prompts::FIRST_OF_SESSION.to_owned(), "prompts_by_session"),
    ] {
        let plan = plan_of(&desk, &lookup);
        assert!(plan[0].contains(index), "{lookup}: {plan:?}");
        let bad = |line: &String| line.starts_with("SCAN") || line.contains("TEMP B-TREE");
        assert!(!plan.iter().any(bad), "{lookup}: {plan:?}");
    }
}

/// Views of a store with a million records are open within the same time as those of a small one.
#[test]
fn counts_of_views_read_no_record_and_unobserved_sessions_are_looked_up() {
    let desk = Desk::new();
    let plan = plan_of(&desk, sessions::LIST_UNOBSERVED);
    let by_index = |line: &String| line.contains("USING INDEX session_details_unobserved");
    assert!(plan.first().is_some_and(by_index), "{plan:?}");
    assert!(!plan.iter().any(|line| line.starts_with("SCAN sessions")), "{plan:?}");
    let plan = plan_of(&desk, activity_counts::TOTALS);
    assert!(!plan.iter().any(|line| line.contains("observations")), "{plan:?}");
    assert!(!plan.iter().any(|line| line.contains("activity_counts")), "{plan:?}");
    let plan = plan_of(&desk, hook_events::COUNT);
    assert!(plan.iter().filter(|line| line.contains("hooks_seen")).count() == 2, "{plan:?}");
    assert!(!plan.iter().any(|line| line.starts_with("SCAN hooks_seen")), "{plan:?}");
}

/// SQLite's plan for a statement, line by line.
fn plan_of(desk: &Desk, lookup: &str) -> Vec<String> {
    desk.read(|rx| {
        rx.sql(|db| {
            let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {lookup}"))?;
            for index in 1..=explain.parameter_count() {
                explain.raw_bind_parameter(index, 1)?;
            }
            let mut rows = explain.raw_query();
            let mut lines = Vec::new();
            while let Some(row) = rows.next()? {
                lines.push(row.get(3)?);
            }
            Ok(lines)
        })
    })
}

/// @obs_size
#[test]
fn an_observation_costs_less_than_400_bytes_beyond_its_own_text() {
    let desk = Desk::new();
    let used = || {
        desk.opening.store.compact().unwrap();
        std::fs::metadata(desk.home.db()).unwrap().len()
    };
    let before = used();
    let deed = desk.deed_command("", 0);
    let own_text = desk.write(move |tx| {
        let mut own_text = 0;
        for i in 0..4_000_i64 {
            let deed = nth(&deed, i);
            own_text += deed.content.len() + deed.metadata.to_string().len();
            own_text += deed.path.as_ref().map_or(0, String::len);
            super::desk::do_it(tx, &deed)?;
            let seen = model::event::HookRecord {
                id: model::CallId(u128::try_from(i).unwrap_or_default().to_le_bytes()),
                name: "PostToolUse".into(),
                session: Some("s-1".into()),
                tool_use_id: Some(format!("toolu_{i}")),
                at: super::NOW + i,
            };
            hook_events::record(tx, seen)?;
        }
        Ok(u64::try_from(own_text).unwrap_or_default())
    });
    let each = (used() - before).saturating_sub(own_text) / desk.count();
    assert!(each < 400, "{each} bytes");
}

/// The usual mix of an agent's work.
fn nth(deed: &Deed, i: i64) -> Deed {
    let path = format!("/home/user/project/src/module{}/file{}.rs", i % 7, i % 97);
    let deed = Deed { after: i * 1000, ..deed.clone() };
    match i % 5 {
        0 => Deed { kind: ObsType::Command, content: format!("cargo test case_{i}"), ..deed },
        1 => Deed {
            kind: ObsType::FileEdit,
            content: format!("Edit src/file{}.rs: let value{i} = compute();", i % 97),
            path: Some(path),
            metadata: json!({ "bytes": i }),
            ..deed
        },
        2 => Deed {
            kind: ObsType::Search,
            content: format!("value{i} in src"),
            path: Some("/home/user/project/src".into()),
            ..deed
        },
        _ => Deed {
            kind: ObsType::FileRead,
            content: format!("Read src/module{}/file{}.rs", i % 7, i % 97),
            path: Some(path),
            ..deed
        },
    }
}
