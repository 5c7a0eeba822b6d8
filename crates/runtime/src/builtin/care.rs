//! `doctor`, `backup` and `restore`: maintenance of the store.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use contract::op::EVERYONE;
use contract::{Access, Cx, Op, OpInfo, Tier};
use model::time::rfc3339;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{hook_events, jobs};

use super::BuiltinState;
use crate::doctor::{self, DoctorCheck, MachineQuestion};

pub(super) struct Doctor(pub(super) Arc<BuiltinState>);

#[derive(Serialize, JsonSchema)]
pub(super) struct DoctorOutput {
    /// Whether no check failed; a check with status `warn` does not count. True without `checks`.
    ok: bool,
    checks: Vec<DoctorCheck>,
    /// The time of the last event by event name, as the agents name them.
    events: BTreeMap<String, String>,
    /// The time of each agent's last event within a month. Events whose session is not
    /// stored have the empty name.
    agents: BTreeMap<String, String>,
    /// The connection of each agent: whether it is wired, what is missing, its last events. Empty without `machine` or `checks`.
    connections: Vec<Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DoctorParams {
    /// Also checks settings, files, the clock, the search path and the connection of each agent; false for the store
    /// alone.
    #[serde(default = "everything")]
    machine: bool,
    /// False for the times of the last events alone, which is fast however large the store is. Nothing is checked.
    #[serde(default = "everything")]
    checks: bool,
}

fn everything() -> bool {
    true
}

impl Op for Doctor {
    const INFO: OpInfo = OpInfo {
        name: "doctor",
        summary: "Check the store and say how to fix problems",
        doc: "Checks the database, the spool, the last hook event, files, settings and the connection of each agent, \
              lists repairs, and says when the last event of each name and of each agent arrived.",
        tiers: EVERYONE,
        toolset: "system",
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = DoctorParams;
    type Output = DoctorOutput;

    fn run(&self, cx: &Cx<'_>, params: DoctorParams) -> Result<DoctorOutput, OpError> {
        let inner = self.0.inner()?;
        let mut checks = match params.checks {
            true => doctor::check(&inner, cx)?,
            false => Vec::new(),
        };
        let (events, agents) = cx
            .store
            .read(|rx| Ok((hook_events::last_by_name(rx)?, hook_events::last_by_agent(rx)?)))?;
        let times = |all: Vec<(String, i64)>| -> BTreeMap<String, String> {
            all.into_iter().map(|(name, at)| (name, rfc3339(at))).collect()
        };
        let (events, agents) = (times(events), times(agents));
        let mut connections = Vec::new();
        if let Some(machine) = inner.machine.filter(|_| params.machine && params.checks) {
            let report = machine(&MachineQuestion {
                locations: &inner.locations,
                table: &inner.table,
                is_daemon: !inner.one_shot,
                ask: &|op, params| cx.call(op, params),
                events: json!(events),
                agents: json!(agents),
            });
            connections = report.agents;
            let more = report.checks.into_iter();
            checks.extend(more.filter_map(|check| serde_json::from_value(check).ok()));
        }
        let ok = checks.iter().all(DoctorCheck::is_fine);
        Ok(DoctorOutput { ok, checks, events, agents, connections })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileParams {
    /// Absolute path of the file.
    file: String,
}

impl FileParams {
    fn path(&self) -> Result<&Path, OpError> {
        let path = Path::new(&self.file);
        if path.is_absolute() {
            return Ok(path);
        }
        Err(OpError::invalid("file", "the path is not absolute")
            .hint("The daemon has its own working directory: give an absolute path."))
    }
}

pub(super) struct Backup;

#[derive(Serialize, JsonSchema)]
pub(super) struct BackupOutput {
    file: String,
    bytes: u64,
}

impl Op for Backup {
    const INFO: OpInfo = OpInfo {
        name: "backup",
        summary: "Copy the database to a file while it is in use",
        job: true,
        doc: "The copy is complete and consistent; an existing file is never overwritten.",
        access: Access::Write { destructive: false, idempotent: false },
        tiers: &[Tier::Person, Tier::Client],
        toolset: "system",
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = FileParams;
    type Output = BackupOutput;

    fn run(&self, cx: &Cx<'_>, params: FileParams) -> Result<BackupOutput, OpError> {
        let path = params.path()?;
        let progress = |left: u32, all: u32| {
            let done = u64::from(all.saturating_sub(left));
            cx.store.progress("copying pages", done, Some(u64::from(all)))
        };
        cx.store.whole().backup(path, &progress)?;
        let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
        Ok(BackupOutput { file: params.file, bytes })
    }
}

pub(super) struct Restore;

#[derive(Serialize, JsonSchema)]
pub(super) struct RestoreOutput {
    restored: String,
    /// Where the replaced database was moved.
    previous: String,
}

impl Op for Restore {
    const INFO: OpInfo = OpInfo {
        name: "restore",
        summary: "Replace the database by a backup",
        doc: "The file is checked first; the replaced database is kept among the backups.",
        access: Access::Write { destructive: true, idempotent: true },
        tiers: &[Tier::Person, Tier::Client],
        toolset: "system",
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = FileParams;
    type Output = RestoreOutput;

    fn run(&self, cx: &Cx<'_>, params: FileParams) -> Result<RestoreOutput, OpError> {
        let previous = cx.store.whole().restore(params.path()?)?;
        let now = cx.now;
        cx.store.write_unanswered(move |tx| jobs::end_restored(tx, now))?;
        Ok(RestoreOutput { restored: params.file, previous: previous.display().to_string() })
    }
}
