//! The doctor's checks inside the runtime, and a hint for each finding.

use contract::{Cx, Table};
use model::locations::Locations;
use model::time::ago;
use model::{OpError, Reply, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::damaged::{DamagedRow, DamagedRows};
use store::health::{Health, Integrity};
use store::{Rx, hook_events};

use crate::builtin::pause;
use crate::runtime::RuntimeInner;
use crate::spool::SpoolContents;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckResult {
    Ok,
    Warn,
    Fail,
}

/// One check.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DoctorCheck {
    name: String,
    status: CheckResult,
    detail: String,
    /// How to fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl DoctorCheck {
    fn new(name: &str, status: CheckResult, detail: String, hint: &str) -> DoctorCheck {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        DoctorCheck { name: name.to_owned(), status, detail, hint }
    }

    pub(crate) fn is_fine(&self) -> bool {
        self.status != CheckResult::Fail
    }
}

/// The facts that the program needs for its checks of this machine.
pub struct MachineQuestion<'a> {
    pub locations: &'a Locations,
    pub table: &'a Table,
    /// Whether this process is a daemon.
    pub is_daemon: bool,
    /// Calls an operation.
    pub ask: &'a dyn Fn(&str, Value) -> Reply,
    /// The time of the last event of each name.
    pub events: Value,
    /// The time of the last event by agent.
    pub agents: Value,
}

/// The program's checks of this machine: settings, files, the clock, the search path, and the connection of agents.
pub struct MachineReport {
    /// Objects with `name`, `status`, `detail` and `hint`.
    pub checks: Vec<Value>,
    /// The state of each agent.
    pub agents: Vec<Value>,
}

/// The program's checks. The runtime itself knows neither the files of agents nor the path of the program.
pub type MachineChecks = fn(&MachineQuestion<'_>) -> MachineReport;

impl RuntimeInner {
    /// Notes about capture, one line each: pauses, and projects whose settings file excludes (nearly) all files, cannot be
    /// used, or has unknown keys.
    pub(crate) fn notes(&self, rx: &Rx<'_>, cx: &Cx<'_>) -> Result<Vec<String>, OpError> {
        let mut notes = pause::notes(rx, cx.now)?;
        // Only places in the cache are reported, so the caller's own has to be there.
        cx.caller.place();
        notes.extend(self.places.withheld());
        Ok(notes)
    }
}

/// All checks, in the order they are shown.
pub(crate) fn check(inner: &RuntimeInner, cx: &Cx<'_>) -> Result<Vec<DoctorCheck>, OpError> {
    // Reading the whole database is expensive, so it is done once.
    let health = inner.store.health();
    let (room, damaged, index) = (room(inner, &health), damaged(&health), index(&health));
    let foreign_objects = foreign_objects(&health);
    let mut checks = vec![database(inner, health)];
    checks.extend(damaged);
    checks.extend(index);
    checks.extend(foreign_objects);
    checks.extend(room);
    if let Some(outdated) = inner.settings.outdated(&inner.table) {
        checks.push(DoctorCheck::new(
            "settings in force",
            CheckResult::Warn,
            format!("{outdated}; the daemon still uses the old settings"),
            "Run `rekindle stop`; the next daemon has the new settings.",
        ));
    }
    for notice in inner.store.notices() {
        checks.push(DoctorCheck::new(
            "repair",
            CheckResult::Warn,
            notice,
            "The line above says what to do, if anything; it is reported for a month.",
        ));
    }
    let notes = cx.store.read(|rx| inner.notes(rx, cx))?;
    checks.extend(
        notes.into_iter().map(|note| DoctorCheck::new("capture", CheckResult::Warn, note, "")),
    );
    let waiting = inner.spool.waiting();
    checks.push(if waiting.events == 0 {
        DoctorCheck::new("spool", CheckResult::Ok, "no events are waiting".into(), "")
    } else {
        DoctorCheck::new(
            "spool",
            CheckResult::Warn,
            format!("{} not stored yet", text::counted(waiting.events, "event")),
            "They are recorded with the next write; if they stay, see `rekindle logs`.",
        )
    });
    checks.extend(held(&waiting));
    checks.extend(foreign(&waiting));
    if waiting.unreadable > 0 {
        checks.push(DoctorCheck::new(
            "spool",
            CheckResult::Warn,
            format!(
                "{} of the spool could not be read as an event",
                text::counted(waiting.unreadable, "file")
            ),
            "See the directory spool/unreadable; delete the files that you do not need.",
        ));
    }
    checks.push(match cx.store.read(hook_events::last)? {
        Some(last) => DoctorCheck::new(
            "last event",
            CheckResult::Ok,
            format!("{} {}", last.name, ago(last.at, cx.now)),
            "",
        ),
        None => DoctorCheck::new(
            "last event",
            CheckResult::Warn,
            "no hook event has been recorded yet".into(),
            "Start a new session of a connected agent; `rekindle agents` shows which agents are connected.",
        ),
    });
    Ok(checks)
}

/// Reports damaged rows, with the commands that delete or repair them.
fn damaged(health: &Health) -> Option<DoctorCheck> {
    let DamagedRows { count, rows } = &health.damaged;
    if *count == 0 {
        return None;
    }
    let named: Vec<String> = rows.iter().map(DamagedRow::to_string).collect();
    let more = if *count > rows.len() as u64 { ", …" } else { "" };
    let ids: Vec<String> =
        rows.iter().filter(|row| row.is_record()).map(|row| format!("--id {}", row.id)).collect();
    let mut hint = Vec::new();
    if !ids.is_empty() {
        let ids = ids.join(" ");
        hint.push(format!("`rekindle purge {ids} --confirm` deletes the damaged records."));
    }
    if rows.iter().any(|row| !row.is_record()) {
        hint.push(
            "`rekindle doctor --fix` repairs rows that are not records, ids that are used twice or out of range and references to missing rows."
                .to_owned(),
        );
    }
    let noun = if *count == 1 { "row is" } else { "rows are" };
    let detail = format!("{count} {noun} damaged: {}{more}", named.join(", "));
    Some(DoctorCheck::new("damaged records", CheckResult::Fail, detail, &hint.join(" ")))
}

/// Reports a damaged full-text index.
fn index(health: &Health) -> Option<DoctorCheck> {
    health.index_damage.as_ref().map(|damage| {
        DoctorCheck::new(
            "search index",
            CheckResult::Fail,
            format!("the full-text index is damaged: {damage}"),
            "`rekindle doctor --fix` rebuilds it from the records; nothing is lost.",
        )
    })
}

/// Reports tables and triggers that another program added to the database.
fn foreign_objects(health: &Health) -> Option<DoctorCheck> {
    let objects = &health.foreign_objects;
    let shown = objects.iter().take(limits::DAMAGED_ROWS_SHOWN).cloned().collect::<Vec<_>>();
    let more = if objects.len() > shown.len() { ", …" } else { "" };
    (!objects.is_empty()).then(|| {
        DoctorCheck::new(
            "database objects",
            CheckResult::Warn,
            format!("another program added to the database: {}{more}", shown.join(", ")),
            "A purge does not reach them, and triggers do not run here. `rekindle doctor --fix` drops triggers; drop tables and views with the program that made them, or with `sqlite3`.",
        )
    })
}

/// Reports spooled events that could not be stored at the last try.
fn held(waiting: &SpoolContents) -> Option<DoctorCheck> {
    let count = waiting.held.len();
    let noun = if count == 1 { "event" } else { "events" };
    let names = named(waiting.held.iter().cloned());
    (count > 0).then(|| {
        DoctorCheck::new(
            "spool",
            CheckResult::Warn,
            format!("{count} {noun} could not be stored and will be tried again: {names}"),
            "Look for damaged records above and for the reason in `rekindle logs`; nothing is lost.",
        )
    })
}

/// Reports files in the spool that belong to another user.
fn foreign(waiting: &SpoolContents) -> Option<DoctorCheck> {
    let count = waiting.foreign.len();
    let (noun, verb, is) =
        if count == 1 { ("file", "belongs", "is") } else { ("files", "belong", "are") };
    let names = named(waiting.foreign.iter().map(|path| path.display().to_string()));
    (count > 0).then(|| {
        DoctorCheck::new(
            "spool",
            CheckResult::Warn,
            format!(
                "{count} {noun} in the spool {verb} to another user and {is} not read: {names}"
            ),
            "Delete files that you do not know, and chown the others to yourself.",
        )
    })
}

fn named(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = if all.len() > limits::SPOOL_NAMED_MAX { ", …" } else { "" };
    let names: Vec<String> = all.take(limits::SPOOL_NAMED_MAX).collect();
    names.join(", ") + more
}

/// A warning when the database has almost reached the size that the settings allow.
fn room(inner: &RuntimeInner, health: &Health) -> Option<DoctorCheck> {
    let max = inner.config.integer("store.max_pages");
    let pages = health.pages;
    (max > 0 && pages.saturating_mul(100) >= max.saturating_mul(90)).then(|| {
        DoctorCheck::new(
            "room",
            CheckResult::Warn,
            format!("{pages} of the {max} pages that store.max_pages allows are used"),
            "Raise the limit with `rekindle config set store.max_pages PAGES` (0 for no limit), then run `rekindle stop`.",
        )
    })
}

fn database(inner: &RuntimeInner, health: Health) -> DoctorCheck {
    let path = inner.locations.database.display();
    let problem = match health.integrity {
        Integrity::Sound | Integrity::Unfinished => {
            let schema = health.schema_version.unwrap_or_default();
            let (db, wal) = (text::size(health.db_bytes), text::size(health.wal_bytes));
            let detail = format!("{path}: schema {schema}, {db}, WAL {wal}");
            return DoctorCheck::new("database", CheckResult::Ok, detail, "");
        }
        Integrity::Damaged(lines) => lines.first().cloned().unwrap_or_default(),
        Integrity::Unreadable(why) => why,
    };
    let hint = "Run `rekindle stop`, then `rekindle doctor --fix`: it sets the damaged file aside and recovers the readable records.";
    DoctorCheck::new("database", CheckResult::Fail, format!("{path}: {problem}"), hint)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn health() -> Health {
        Health {
            path: PathBuf::from("/db"),
            integrity: Integrity::Sound,
            damaged: DamagedRows::default(),
            index_damage: None,
            foreign_objects: Vec::new(),
            schema_version: Some(1),
            db_bytes: 0,
            wal_bytes: 0,
            pages: 0,
            free_pages: 0,
            set_aside: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A damaged row; `of_records` says whether it is a record, which has to be purged.
    fn row(table: &str, id: i64, of_records: bool) -> DamagedRow {
        let (table, columns) = (table.to_owned(), vec!["text".to_owned()]);
        DamagedRow { table, id, columns, is_repairable: false, of_records }
    }

    #[test]
    fn damaged_rows_are_named_with_the_command_that_helps() {
        assert!(damaged(&health()).is_none());
        let found = |count, rows: Vec<DamagedRow>| {
            let check = damaged(&Health { damaged: DamagedRows { count, rows }, ..health() });
            let check = check.unwrap();
            assert!(!check.is_fine());
            (check.detail, check.hint.unwrap())
        };
        let (detail, hint) = found(1, vec![row("prompts", 7, true)]);
        assert_eq!(detail, "1 row is damaged: prompts 7 (text)");
        assert!(
            hint.contains("rekindle purge --id 7 --confirm") && !hint.contains("--fix"),
            "{hint}"
        );
        let (detail, hint) = found(9, vec![row("prompts", 7, true), row("projects", 2, false)]);
        assert_eq!(detail, "9 rows are damaged: prompts 7 (text), projects 2 (text), …");
        assert!(hint.contains("--id 7 --confirm") && hint.contains("doctor --fix"), "{hint}");
        let (_, hint) = found(1, vec![row("projects", 2, false)]);
        assert!(!hint.contains("purge") && hint.contains("doctor --fix"), "{hint}");
    }

    #[test]
    fn a_damaged_index_and_foreign_objects_are_reported() {
        assert!(index(&health()).is_none() && foreign_objects(&health()).is_none());
        let broken = index(&Health { index_damage: Some("no rows".into()), ..health() }).unwrap();
        assert!(!broken.is_fine() && broken.detail.ends_with("is damaged: no rows"));
        let objects = |count: usize| {
            let foreign = (0..count).map(|number| format!("table t{number}")).collect();
            foreign_objects(&Health { foreign_objects: foreign, ..health() }).unwrap()
        };
        assert!(objects(1).is_fine());
        assert!(objects(5).detail.ends_with(": table t0, table t1, table t2, table t3, table t4"));
        assert!(objects(6).detail.ends_with("table t4, …"));
    }

    #[test]
    fn held_and_foreign_events_are_named_up_to_five() {
        let held_events = |count: usize| {
            let names = (0..count).map(|number| format!("{number}.json")).collect();
            held(&SpoolContents { held: names, ..SpoolContents::default() })
                .map(|check| check.detail)
        };
        assert_eq!(held_events(0), None);
        let one = "1 event could not be stored and will be tried again: 0.json";
        assert_eq!(held_events(1).as_deref(), Some(one));
        assert!(held_events(5).unwrap().ends_with("3.json, 4.json"));
        assert!(held_events(6).unwrap().ends_with("4.json, …"));
        let of_others = |count: usize| {
            let paths = (0..count).map(|number| PathBuf::from(format!("/s/{number}"))).collect();
            foreign(&SpoolContents { foreign: paths, ..SpoolContents::default() })
                .map(|check| check.detail)
        };
        assert_eq!(of_others(0), None);
        let one = "1 file in the spool belongs to another user and is not read: /s/0";
        assert_eq!(of_others(1).as_deref(), Some(one));
        let two = "2 files in the spool belong to another user and are not read: /s/0, /s/1";
        assert_eq!(of_others(2).as_deref(), Some(two));
    }
}
