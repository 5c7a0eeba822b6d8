//! `list_jobs` and `cancel_job`: long operations, their progress, and how they ended.

use std::sync::Arc;

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, Tier};
use model::error::CODES;
use model::job::{Job, JobState};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use store::jobs;

use super::{BuiltinState, NoParams};
use crate::jobs::end_job;

/// Callers that may see and cancel jobs: those that may start them.
const TIERS: &[Tier] = &[Tier::Person, Tier::Client];

pub(super) struct ListJobs(pub(super) Arc<BuiltinState>);

#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct ListJobsOutput {
    /// The newest first.
    jobs: Vec<Job>,
    /// Milliseconds since 1970, UTC: ages count from here.
    #[serde(default)]
    answered_at: i64,
}

impl Op for ListJobs {
    const INFO: OpInfo = OpInfo {
        name: "list_jobs",
        summary: "List long operations that wait, run or ran lately",
        doc: "Such as `maintain` and `backup`: their state, what they are doing now, and the error code of one that failed.",
        tiers: TIERS,
        toolset: "system",
        cli: CliShape {
            path: &["jobs", "list"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example { title: "What runs now?", before: &[], params: "{}" }],
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = ListJobsOutput;

    fn run(&self, cx: &Cx<'_>, _: NoParams) -> Result<ListJobsOutput, OpError> {
        let inner = self.0.inner()?;
        let all = cx.store.read(|rx| jobs::list(rx, limits::JOBS_KEPT))?;
        Ok(ListJobsOutput {
            jobs: all.into_iter().map(|job| inner.jobs.with_progress(job)).collect(),
            answered_at: cx.now,
        })
    }
}

impl Pretty for ListJobs {
    fn pretty(_: &NoParams, output: &ListJobsOutput, width: usize) -> String {
        let ListJobsOutput { jobs, answered_at } = output;
        if jobs.is_empty() {
            return "no job has run yet".to_owned();
        }
        let row = |job: &Job| {
            vec![
                job.id.to_string(),
                zone::shown(job.started_at.div_euclid(1000)),
                model::time::ago(job.started_at, *answered_at),
                job.op.clone(),
                state(job),
            ]
        };
        let headings = ["id", "date", "age", "job", "state"];
        contract::listing::table(&headings, jobs.iter().map(row), &["date"], width)
    }
}

/// The state of a job in words, with its present step or the reason of its failure.
fn state(job: &Job) -> String {
    let more = match (&job.progress, job.why.as_deref()) {
        (Some(progress), _) => match progress.total {
            Some(total) => format!(": {} {} of {total}", progress.step, progress.done),
            None if progress.step.is_empty() => String::new(),
            None => format!(": {}", progress.step),
        },
        (None, Some("interrupted")) => ": interrupted, its process ended first".to_owned(),
        // Only the code is stored: a message may contain text that a purge has to find.
        (None, Some(why)) => match CODES.iter().find(|row| row.word == why) {
            Some(row) => format!(" with the code {why} ({})", row.when),
            None => format!(": {why}"),
        },
        (None, None) => String::new(),
    };
    format!("{}{more}", job.state.word())
}

pub(super) struct CancelJob(pub(super) Arc<BuiltinState>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CancelJobParams {
    /// Id of the job, as `list_jobs` shows it.
    #[serde(deserialize_with = "job_id")]
    id: i64,
}

fn job_id<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    let given = Value::deserialize(from)?;
    given.as_i64().ok_or_else(|| {
        let shown = text::one_line(&given.to_string(), limits::SHOWN_LINE_CHARS_MAX);
        D::Error::custom(format!("{shown} is not the id of a job"))
    })
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct CancelJobOutput {
    id: i64,
    /// Whether the job was waiting or running. A running one ends at the end of its present step.
    cancelled: bool,
    /// Whether the job was waiting: it will not run.
    #[serde(default)]
    was_waiting: bool,
}

impl Op for CancelJob {
    const INFO: OpInfo = OpInfo {
        name: "cancel_job",
        summary: "Ask a long operation to end",
        doc: "A waiting one does not run; a running one ends after its present step. `maintain` keeps the work of the steps \
              before; a backup leaves no file.",
        access: Access::Write { destructive: false, idempotent: true },
        tiers: TIERS,
        toolset: "system",
        cli: CliShape {
            path: &["jobs", "cancel"],
            positional: &["id"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "A job that has ended already",
            before: &[("maintain", "{}")],
            params: r#"{"id":1}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = CancelJobParams;
    type Output = CancelJobOutput;

    fn run(&self, cx: &Cx<'_>, params: CancelJobParams) -> Result<CancelJobOutput, OpError> {
        let CancelJobParams { id } = params;
        let (running, now) = (self.0.inner()?.jobs.clone(), cx.now);
        let queue = running.clone();
        // In a transaction, so that a waiting job either starts or is cancelled.
        let output = cx.store.write(move |tx| {
            let known = jobs::list(tx, limits::JOBS_KEPT)?;
            let Some(job) = known.iter().find(|job| job.id == id) else {
                return Err(OpError::not_found(format!("no job has the id {id}"))
                    .hint("`rekindle jobs list` shows them."));
            };
            let was_waiting = job.state == JobState::Waiting;
            if was_waiting {
                end_job(tx, id, (JobState::Cancelled, None), now)?;
            }
            let cancelled = was_waiting || running.cancel(id);
            Ok(CancelJobOutput { id, cancelled, was_waiting })
        })?;
        if output.was_waiting {
            queue.drop_cancelled(id);
        }
        Ok(output)
    }
}

impl Pretty for CancelJob {
    fn pretty(_: &CancelJobParams, output: &CancelJobOutput, _: usize) -> String {
        let CancelJobOutput { id, cancelled, was_waiting } = output;
        match (cancelled, was_waiting) {
            (_, true) => format!("✔ job {id} was waiting and will not run"),
            (true, false) => format!("✔ job {id} ends after its present step"),
            (false, false) => format!("job {id} had ended already"),
        }
    }
}
