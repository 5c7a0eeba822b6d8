//! `memory_stats`: how many records are stored, by type, since when, and their size on disk.

use std::collections::BTreeMap;

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::observation::ObsType;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::retention::{self, Sweep};
use store::sessions;
use store::totals::{self, Totals};

use crate::examples;
use crate::show;

pub(crate) struct MemoryStats;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryStatsParams {}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct MemoryStatsOutput {
    /// The number of observations; repeats that were folded into one record count once.
    observations: u64,
    by_type: BTreeMap<String, u64>,
    prompts: u64,
    sessions: u64,
    projects: u64,
    /// Records that retention leaves alone.
    pinned: u64,
    /// Seconds since 1970, UTC, of the first record.
    oldest_at: Option<i64>,
    /// Seconds since 1970, UTC, of the last record.
    newest_at: Option<i64>,
    /// Seconds since 1970, UTC, of the last event of each agent.
    agents: BTreeMap<String, i64>,
    database_bytes: u64,
    /// Bytes of the database divided by the observations in it.
    bytes_per_observation: Option<u64>,
    /// The last sweeps of expired records, the last first.
    sweeps: Vec<PastSweep>,
    /// When this was answered, RFC 3339: ages count from here.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    answered_at: i64,
}

/// A past sweep of expired records.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct PastSweep {
    /// Seconds since 1970, UTC.
    at: i64,
    removed: u64,
    /// Whether all expired records were deleted; else the next sweep continues.
    finished: bool,
}

impl PastSweep {
    fn new(sweep: Sweep) -> PastSweep {
        let Sweep { at, removed, finished } = sweep;
        PastSweep { at: at.div_euclid(1000), removed, finished }
    }
}

impl Op for MemoryStats {
    const INFO: OpInfo = OpInfo {
        name: "memory_stats",
        summary: "Count the records and show the size of the database",
        doc: "Records by type, sessions, prompts and projects, the times of the first and the last record, the size \
              of the database, and the last sweeps of expired records.",
        toolset: "memory",
        cli: CliShape { path: &["stats"], pretty: Some(pretty::<Self>), ..CliShape::CALL_ONLY },
        examples: &[Example {
            title: "After a short session",
            before: examples::A_SESSION,
            params: "{}",
        }],
        ..OpInfo::BASE
    };
    type Params = MemoryStatsParams;
    type Output = MemoryStatsOutput;

    fn run(&self, cx: &Cx<'_>, _: MemoryStatsParams) -> Result<MemoryStatsOutput, OpError> {
        let (totals, agents, sweeps) = cx.store.read(|rx| {
            let sweeps = retention::sweeps(rx, limits::SWEEPS_TOLD)?;
            Ok((totals::totals(rx)?, sessions::last_by_agent(rx)?, sweeps))
        })?;
        let Totals { observations, prompts, sessions, projects, pinned, .. } = totals;
        let Totals { others, oldest, newest, bytes, .. } = totals;
        let count: u64 = observations.iter().map(|(_, count)| count).sum();
        let kinds = observations.into_iter().map(|(kind, count)| (kind.word(), count));
        let by_type = kinds.chain(others).map(|(kind, count)| (kind.to_owned(), count));
        let seconds = |at: i64| at.div_euclid(1000);
        Ok(MemoryStatsOutput {
            observations: count,
            by_type: by_type.collect(),
            prompts,
            sessions,
            projects,
            pinned,
            oldest_at: oldest.map(seconds),
            newest_at: newest.map(seconds),
            agents: agents.into_iter().map(|(agent, at)| (agent, seconds(at))).collect(),
            database_bytes: bytes,
            bytes_per_observation: bytes.checked_div(count),
            sweeps: sweeps.into_iter().map(PastSweep::new).collect(),
            answered_at: seconds(cx.now),
        })
    }
}

impl Pretty for MemoryStats {
    fn pretty(_: &MemoryStatsParams, output: &MemoryStatsOutput, _: usize) -> String {
        let now = output.answered_at;
        let mut kinds: Vec<(&String, &u64)> = output.by_type.iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        // Records that are no observations, such as memories.
        let (kinds, others): (Vec<_>, Vec<_>) =
            kinds.into_iter().partition(|(kind, _)| ObsType::parse(kind).is_some());
        let told = |counts: Vec<(&String, &u64)>| {
            let told = counts.iter().map(|(kind, count)| format!("{kind} {count}"));
            told.collect::<Vec<_>>().join(", ")
        };
        let (kinds, others) = (told(kinds), told(others));
        let each = match output.bytes_per_observation {
            Some(each) => format!(", {} per observation", text::size(each)),
            None => String::new(),
        };
        let mut lines = vec![
            format!("observations: {}", output.observations),
            format!("prompts:      {}", output.prompts),
            format!(
                "sessions:     {} in {}",
                output.sessions,
                text::counted(output.projects, "project")
            ),
            format!("pinned:       {}", output.pinned),
            format!("database:     {}{each}", text::size(output.database_bytes)),
        ];
        if !kinds.is_empty() {
            lines.insert(1, format!("  by type:    {kinds}"));
        }
        if !others.is_empty() {
            lines.insert(lines.len() - 2, format!("others:       {others}"));
        }
        if let (Some(oldest), Some(newest)) = (output.oldest_at, output.newest_at) {
            lines.push(format!("oldest:       {}", show::age_and_date(oldest, now)));
            lines.push(format!("newest:       {}", show::age_and_date(newest, now)));
        }
        if let Some(PastSweep { at, removed, .. }) = output.sweeps.first() {
            let age = show::age_and_date(*at, now);
            lines.push(format!("last sweep:   {age}, removed {removed}"));
        }
        lines.join("\n")
    }
}
