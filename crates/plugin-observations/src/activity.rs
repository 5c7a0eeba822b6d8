//! `activity`: prompts, answers and observations of all sessions, newest first, in pages; and the feed of new records,
//! `activity/subscribe` on `/ws`.

use contract::pretty::{notes, pretty};
use contract::{CliShape, Count, Cx, Example, Feed, FeedParams, Op, OpInfo, Pretty, Pulled, Tier};
use model::event::{EventFilter, Published};
use model::observation::{ObsType, Observation, RecordType, unknown_type};
use model::time::parse_rfc3339;
use model::{OpError, limits, session};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use store::Rx;
use store::activity::{self, ActivityBefore, ActivityQuery};
use store::sessions::{self, SessionIdForm};

use crate::get_observations::listed_records;
use crate::show::{self, RecordRow};
use crate::{examples, record_id};
use place::{About, Question, Scope, Wanted};

pub(crate) struct Activity;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActivityParams {
    /// Project to look in; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
    /// Only records of this session.
    #[serde(default)]
    session_id: Option<String>,
    /// Only records of this type.
    #[serde(default)]
    obs_type: Option<RecordType>,
    /// Only what failed, or only what did not.
    #[serde(default)]
    failed: Option<bool>,
    /// Only of this agent, for example `claude-code`.
    #[serde(default)]
    agent: Option<String>,
    /// Only what is older than this record, or happened before this RFC 3339 time.
    #[serde(default)]
    before: Option<BeforeParam>,
    /// Only what was recorded after this record, the last recorded first.
    #[serde(default, deserialize_with = "record_id::maybe_one")]
    after_id: Option<i64>,
    /// How many records, from 1 to 200.
    #[serde(default = "default_limit")]
    limit: Count,
    /// The columns of the table for people. Not in the schema: the command line adds them.
    #[serde(default)]
    #[schemars(skip)]
    columns: Vec<String>,
}

fn default_limit() -> Count {
    Count::new(limits::ACTIVITY_DEFAULT)
}

/// The id of a record, or a time.
#[derive(Clone, Copy, Debug)]
struct BeforeParam(ActivityBefore);

impl<'de> Deserialize<'de> for BeforeParam {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<BeforeParam, D::Error> {
        let given = Value::deserialize(from)?;
        if let Some(at) = given.as_str().and_then(parse_rfc3339) {
            return Ok(BeforeParam(ActivityBefore::Time(at)));
        }
        let id = record_id::one(&given).map_err(|_| {
            let message = "`before` is the id of a record or an RFC 3339 time";
            serde::de::Error::custom(message)
        })?;
        Ok(BeforeParam(ActivityBefore::Record(id)))
    }
}

impl JsonSchema for BeforeParam {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Before".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"] })
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ActivityOutput {
    /// The newest first.
    records: Vec<Observation>,
    /// Pass it as `before` for the next page; left out on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<i64>,
    /// The record that was recorded last, whatever its time and the filters; a subscription with it as `after_id` begins
    /// where this page was read. 0 if there is none.
    last_id: i64,
    #[serde(flatten)]
    about: About,
}

impl ActivityParams {
    fn query(
        &self,
        rx: &Rx<'_>,
        scope: &Scope,
        form: SessionIdForm,
    ) -> Result<ActivityQuery, OpError> {
        if self.after_id.is_some_and(|id| id < 0) {
            return Err(OpError::invalid("after_id", "`after_id` is negative"));
        }
        let kind = self.obs_type.map(observed).transpose()?;
        let find = |id: &str| {
            session::check_id("session_id", id.strip_prefix("session://").unwrap_or(id))?;
            sessions::find_with_records(rx, id, form)
        };
        let session = self.session_id.as_deref().map(find).transpose()?;
        Ok(ActivityQuery {
            projects: scope.ids(),
            session: session.map(|session| session.id),
            kind,
            failed: self.failed,
            agent: self.agent.clone(),
            before: self.before.map(|before| before.0),
            after_id: self.after_id,
            limit: self.limit.within(1..=limits::ACTIVITY_MAX),
        })
    }
}

/// Checks that `activity` lists records of this type: no summaries, memories or other declared records.
fn observed(kind: RecordType) -> Result<ObsType, OpError> {
    match kind {
        RecordType::Observed(kind) if kind != ObsType::SessionSummary => Ok(kind),
        other => {
            let kinds = ObsType::ALL.iter().filter(|kind| **kind != ObsType::SessionSummary);
            let words = kinds.map(|kind| kind.word());
            Err(unknown_type(other.word(), words).with("param", "obs_type"))
        }
    }
}

impl Op for Activity {
    const INFO: OpInfo = OpInfo {
        name: "activity",
        summary: "List the records of all sessions, newest first",
        doc: "Prompts, answers and actions by page, without the starts and ends of sessions. `activity/subscribe` on \
              `/ws` reports new ones.",
        toolset: "memory",
        hidden: &["columns"],
        tiers: &[Tier::Person, Tier::Client],
        cli: CliShape {
            path: &["activity"],
            flag_aliases: &[("obs_type", "type"), ("session_id", "session")],
            pretty: Some(pretty::<Self>),
            columns: show::COLUMNS,
            notes: Some(notes::<Self>),
            listed: Some(listed_records("records")),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The last records of all projects",
            before: examples::A_SESSION,
            params: r#"{"project":"*","limit":2}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ActivityParams;
    type Output = ActivityOutput;

    fn run(&self, cx: &Cx<'_>, params: ActivityParams) -> Result<ActivityOutput, OpError> {
        let question = cx.caller.projects(params.project.clone());
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let query = ActivityQuery {
                limit: params.limit.of_caller(cx.caller, "limit", 1..=limits::ACTIVITY_MAX)?,
                ..params.query(rx, &scope, cx.caller.session_id_form())?
            };
            let page = activity::page(rx, &query)?;
            let ids = page.records.iter().map(|record| RecordRow::from(record).session);
            let about = About { id_chars: show::id_chars(cx, rx, ids)?, ..scope.about(cx.now) };
            let last_id = activity::last_id(rx)?;
            Ok(ActivityOutput { records: page.records, next: page.next, last_id, about })
        })
    }
}

impl Pretty for Activity {
    fn pretty(params: &ActivityParams, output: &ActivityOutput, width: usize) -> String {
        let ActivityOutput { records, about, .. } = output;
        if records.is_empty() {
            let filtered = params.session_id.is_some()
                || params.obs_type.is_some()
                || params.failed.is_some()
                || params.agent.is_some()
                || params.before.is_some()
                || params.after_id.is_some();
            let what = if filtered { "No record matches" } else { "Nothing is recorded" };
            return show::nothing(what, &params.project, about);
        }
        show::records_about(records.iter().map(RecordRow::from), about, &params.columns, width)
    }

    fn notes(params: &ActivityParams, output: &ActivityOutput) -> Vec<String> {
        let counted = (!output.records.is_empty()).then(|| {
            let older = output.next.map(|next| format!("; --before {next} shows older ones"));
            format!(
                "{}{}",
                text::counted(output.records.len(), "record"),
                older.unwrap_or_default()
            )
        });
        let reduced = show::limit_note(params.limit, limits::ACTIVITY_MAX);
        counted.into_iter().chain(reduced).collect()
    }
}

/// Sends new records of all sessions, several in one message. They are read from the store, not taken from events.
pub(crate) struct ActivityFeed;

impl ActivityFeed {
    fn params(params: &FeedParams) -> Result<ActivityParams, OpError> {
        let known = ["project", "session_id", "obs_type", "failed", "agent", "after_id"];
        if let Some(name) = params.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(OpError::invalid(name, format!("unknown parameter `{name}`"))
                .hint(format!("Known are {}.", known.join(", "))));
        }
        let mut params = params.clone();
        // In the query string of a URL all values are texts.
        if let Some(failed) = params.get_mut("failed")
            && let Some(text) = failed.as_str()
        {
            *failed = text.parse().map_or(Value::Null, Value::Bool);
        }
        if params.get("failed").is_some_and(|failed| !failed.is_boolean()) {
            return Err(OpError::invalid("failed", "`failed` is neither true nor false"));
        }
        serde_json::from_value(Value::Object(params))
            .map_err(|error| OpError::invalid("params", error.to_string()))
    }

    fn query(params: &FeedParams, rx: &Rx<'_>) -> Result<ActivityQuery, OpError> {
        let mut params = ActivityFeed::params(params)?;
        params.session_id.iter().try_for_each(|id| session::check_id("session_id", id))?;
        let scope = Question::new(None, params.project.clone()).scope(rx)?;
        // A client may subscribe to a session that does not exist yet: -1 matches no record.
        let session =
            params.session_id.take().map(|name| sessions::id_of(rx, &name)).transpose()?;
        let session = session.map(|id| id.unwrap_or(-1));
        let query = params.query(rx, &scope, SessionIdForm::Whole)?;
        Ok(ActivityQuery { session, ..query })
    }
}

impl Feed for ActivityFeed {
    fn name(&self) -> &'static str {
        "activity"
    }

    fn method(&self) -> &'static str {
        "activity/new"
    }

    /// There are no events of this kind: the messages are read from the store.
    fn filter(&self, params: &FeedParams, rx: &Rx<'_>) -> Result<EventFilter, OpError> {
        ActivityFeed::query(params, rx)?;
        Ok(EventFilter { kind: Some(self.method().to_owned()), ..EventFilter::default() })
    }

    fn message(&self, event: &Published) -> Value {
        event.data.clone()
    }

    fn pulls_after(&self, params: &FeedParams, rx: &Rx<'_>) -> Result<Option<u64>, OpError> {
        let after = match ActivityFeed::params(params)?.after_id {
            Some(after) => after,
            None => activity::last_id(rx)?,
        };
        Ok(Some(u64::try_from(after).unwrap_or_default()))
    }

    fn pull(
        &self,
        params: &FeedParams,
        rx: &Rx<'_>,
        after: u64,
    ) -> Result<Option<Pulled>, OpError> {
        let last = activity::last_id(rx)?;
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        if last <= after {
            return Ok(None);
        }
        let query = ActivityFeed::query(params, rx)?;
        let query =
            ActivityQuery { after_id: Some(after), limit: limits::ACTIVITY_PUSHED_MAX, ..query };
        let records = activity::page(rx, &query)?.records;
        let count = match records.len() < limits::ACTIVITY_PUSHED_MAX {
            true => records.len(),
            false => activity::count_since(rx, &query, after)?,
        };
        // The filters tell a client's subscriptions apart: a record may be in several of them.
        let mut filters = params.clone();
        filters.remove("after_id");
        let message =
            json!({ "filters": filters, "records": records, "count": count, "last_id": last });
        let message = (count > 0).then_some(message);
        Ok(Some(Pulled { message, last: u64::try_from(last).unwrap_or_default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_is_a_record_or_a_time() {
        let read =
            |value: Value| serde_json::from_value::<BeforeParam>(value).map(|one| one.0).ok();
        for id in [json!(24), json!("24"), json!("#24"), json!("obs://24")] {
            assert!(matches!(read(id.clone()), Some(ActivityBefore::Record(24))), "{id}");
        }
        let time = read(json!("1970-01-01T00:00:01Z"));
        assert!(matches!(time, Some(ActivityBefore::Time(1_000))), "{time:?}");
        for wrong in
            [json!("yesterday"), json!(""), json!(1.5), json!(null), json!([]), json!("-1")]
        {
            assert!(read(wrong.clone()).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_subscription_takes_the_filters_and_nothing_else() {
        let read = |value: Value| ActivityFeed::params(value.as_object().unwrap());
        assert_eq!(read(json!({ "failed": "true" })).unwrap().failed, Some(true));
        assert_eq!(
            read(json!({ "obs_type": "command", "after_id": "7" })).unwrap().after_id,
            Some(7)
        );
        assert_eq!(
            read(json!({ "obs_type": "command" })).unwrap().obs_type.map(RecordType::kind),
            Some(ObsType::Command)
        );
        for wrong in [
            json!({ "limit": 5 }),
            json!({ "before": 5 }),
            json!({ "failed": "perhaps" }),
            json!({ "failed": null }),
            json!({ "after_id": "x" }),
            json!({ "project": 7 }),
            json!({ "columns": ["id"] }),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
