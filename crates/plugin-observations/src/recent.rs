//! `recent_records`: the last records, newest first, for people. Agents have `recent_context`, which
//! scores by type and project.

use contract::pretty::{notes, pretty, refusal};
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty, Tier};
use model::observation::Observation;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::activity::{self, ActivityBefore, ActivityQuery};
use store::{Rx, observations, sessions};

use crate::examples;
use crate::get_observations::LISTED_RECORDS;
use crate::replaced::{self, MarkedRecord};
use crate::show::{self, RecordRow, Unlisted};
use contract::Count;
use contract::TimeBound;
use place::{About, Wanted};

pub(crate) struct RecentRecords;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecentRecordsParams {
    /// Project to look in; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
    /// Only records of this session, of whatever project: its id; on the command line its first characters will
    /// do.
    #[serde(default)]
    session_id: Option<String>,
    /// How many records, from 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Only what happened before: a date, `yesterday`, `friday`, `3d`, `last week` or an RFC 3339 time.
    #[serde(default)]
    before: Option<TimeBound>,
    /// Only what happened after.
    #[serde(default)]
    after: Option<TimeBound>,
    /// The columns of the table for people. Not in the schema: the command line adds them.
    #[serde(default)]
    #[schemars(skip)]
    columns: Vec<String>,
}

fn default_limit() -> Count {
    Count::new(limits::RECENT_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct RecentRecordsOutput {
    /// Observations and prompts, the newest first.
    results: Vec<MarkedRecord>,
    #[serde(flatten)]
    about: About,
}

impl Op for RecentRecords {
    const INFO: OpInfo = OpInfo {
        name: "recent_records",
        summary: "List the last records, newest first",
        doc: "Prompts, answers and actions in order of time, without the starts and ends of sessions.",
        toolset: "memory",
        hidden: &["columns"],
        tiers: &[Tier::Person, Tier::Client],
        cli: CliShape {
            path: &["recent"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            columns: show::COLUMNS,
            notes: Some(notes::<Self>),
            refusal: Some(refusal::<Self>),
            listed: Some(LISTED_RECORDS),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The last things that happened anywhere",
            before: examples::A_SESSION,
            params: r#"{"project":"*","limit":5}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = RecentRecordsParams;
    type Output = RecentRecordsOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: RecentRecordsParams,
    ) -> Result<RecentRecordsOutput, OpError> {
        let limit = params.limit.within(1..=limits::RECENT_MAX);
        let before = params.before.as_ref().map(|when| when.before(cx.now));
        let after = params.after.as_ref().map(|when| when.after(cx.now));
        let wanted = if params.session_id.is_some() { Wanted::All } else { params.project };
        let question = cx.caller.projects(wanted);
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let results = match &params.session_id {
                Some(given) => of_session(cx, rx, given, (before, after), limit)?,
                None => observations::newest(rx, scope.ids().as_deref(), (before, after), limit)?,
            };
            let results = replaced::marked(rx, results)?;
            let ids = results.iter().map(|record| RecordRow::from(record).session);
            let about = About { id_chars: show::id_chars(cx, rx, ids)?, ..scope.about(cx.now) };
            Ok(RecentRecordsOutput { results, about })
        })
    }
}

/// The newest records of one session, within these times.
fn of_session(
    cx: &Cx<'_>,
    rx: &Rx<'_>,
    given: &str,
    (before, after): (Option<i64>, Option<i64>),
    limit: usize,
) -> Result<Vec<Observation>, OpError> {
    let session = sessions::find(rx, given, cx.caller.session_id_form())?;
    let query = ActivityQuery {
        session: Some(session.id),
        before: before.map(ActivityBefore::Time),
        limit,
        ..ActivityQuery::default()
    };
    let mut found = activity::page(rx, &query)?.records;
    found.retain(|record| after.is_none_or(|after| record.at_ms > after));
    Ok(found)
}

impl Pretty for RecentRecords {
    fn pretty(params: &RecentRecordsParams, output: &RecentRecordsOutput, width: usize) -> String {
        let RecentRecordsOutput { results, about } = output;
        if results.is_empty() {
            let times = show::times_given(params.after.as_ref(), params.before.as_ref());
            let session = params.session_id.as_ref().map(|_| " of this session");
            let what = format!("Nothing{} is recorded{times}", session.unwrap_or_default());
            return show::nothing(&what, &params.project, about);
        }
        show::records_about(results.iter().map(RecordRow::from), about, &params.columns, width)
    }

    fn notes(params: &RecentRecordsParams, output: &RecentRecordsOutput) -> Vec<String> {
        let rows = output.results.iter().map(RecordRow::from);
        let times: Vec<i64> = rows.map(|row| row.timestamp).collect();
        let bounds = (params.limit, limits::RECENT_MAX);
        let next = show::next_before(&times, params.limit.within(1..=limits::RECENT_MAX));
        show::list_notes(times.len(), "record", next.map(Unlisted::Before), bounds)
    }

    fn refusal(params: &RecentRecordsParams, now_ms: i64) -> Option<OpError> {
        show::empty_time(params.after.as_ref(), params.before.as_ref(), now_ms)
    }
}
