//! `activity_stats`: how many records there are by day or hour, by type, tool, project and agent, and how much of the
//! injected text was used.

use std::collections::BTreeMap;

use contract::pretty::pretty;
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty, TimeBound};
use model::observation::ObsType;
use model::time::rfc3339;
use model::{OpError, limits};
use place::{About, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::activity_counts::{self, ActivityKey, SLOT_MS, SlotCount};
use store::receipts::{self, InjectedSlot};
use store::{Rx, projects};
use zone::Zone;

use crate::{examples, show};

pub(crate) struct ActivityStats;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// 1970-01-01 was a Thursday; Monday is 0.
const WEEKDAY_OF_EPOCH: i64 = 3;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActivityStatsParams {
    /// Project to count in; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
    /// The first day or hour: a date, an RFC 3339 time, `3d` ago or `yesterday`. By default 30 days or 48 hours ago.
    #[serde(default)]
    from: Option<TimeBound>,
    /// The last day or hour; by default now.
    #[serde(default)]
    to: Option<TimeBound>,
    #[serde(default)]
    bucket: BucketUnit,
    /// Minutes that local clocks are ahead of UTC, which days and hours are counted by; those of this machine if left
    /// out. Quarter hours are rounded down to half hours.
    #[serde(default)]
    utc_offset: Option<i64>,
}

/// The time of one bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BucketUnit {
    Hour,
    #[default]
    Day,
}

impl BucketUnit {
    fn ms(self) -> i64 {
        match self {
            BucketUnit::Hour => HOUR_MS,
            BucketUnit::Day => DAY_MS,
        }
    }

    /// The number of buckets in an answer if the call gives no start.
    fn default_count(self) -> i64 {
        match self {
            BucketUnit::Hour => 48,
            BucketUnit::Day => 30,
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ActivityStatsOutput {
    /// The beginning of the first bucket.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    from: i64,
    /// The end of the last bucket.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    to: i64,
    bucket: BucketUnit,
    /// Minutes that local clocks are ahead of UTC.
    utc_offset: i64,
    /// Prompts, answers and actions, without the starts and ends of sessions. Repeats that were folded count once.
    records: u64,
    failed: u64,
    /// The buckets with records, in order.
    buckets: Vec<ActivityBucket>,
    /// The buckets with text that hooks injected, in order.
    injected: Vec<InjectedBucket>,
    by_type: BTreeMap<String, u64>,
    by_tool: BTreeMap<String, u64>,
    /// By the name of the project.
    by_project: BTreeMap<String, u64>,
    by_agent: BTreeMap<String, u64>,
    /// Records of each weekday, Monday first, by the local hour.
    week: Vec<Vec<u64>>,
    #[serde(flatten)]
    about: About,
}

/// The records of a day or an hour.
#[derive(Serialize, Deserialize, JsonSchema)]
struct ActivityBucket {
    /// Its beginning.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    start: i64,
    count: u64,
    failed: u64,
    /// By type.
    by: BTreeMap<String, u64>,
}

/// The text that hooks injected in a day or an hour.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
struct InjectedBucket {
    /// The beginning of the bucket.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    start: i64,
    tokens: u64,
    /// Tokens of the tracked entries that the session used.
    used: u64,
    /// Tokens of the tracked entries: records, hints, fixes, hypotheses, memories and values.
    tracked: u64,
}

impl Op for ActivityStats {
    const INFO: OpInfo = OpInfo {
        name: "activity_stats",
        summary: "Count the records by day or hour, by type, tool, project and agent",
        doc: "Also the share of failures, the tokens of injected text and how many of them were used, and a week by \
              hour. Buckets are whole days or hours of the given offset from UTC.",
        toolset: "system",
        cli: CliShape {
            path: &["activity-stats"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The days of a short session",
            before: examples::A_SESSION,
            params: r#"{"project":"*","from":"1d","utc_offset":0}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ActivityStatsParams;
    type Output = ActivityStatsOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: ActivityStatsParams,
    ) -> Result<ActivityStatsOutput, OpError> {
        let buckets = Buckets::of(&params, cx.now)?;
        let question = cx.caller.projects(params.project);
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let wanted = scope.ids();
            let mut tally = Tally::new(buckets);
            let slots = buckets.slots();
            activity_counts::visit(rx, wanted.as_deref(), slots, &mut |key, counts| {
                tally.count(key, counts);
            })?;
            for one in receipts::by_slot(rx, wanted.as_deref(), slots, SLOT_MS)? {
                tally.inject(&one);
            }
            tally.output(rx, params.bucket, scope.about(cx.now))
        })
    }
}

/// The time range of an answer, in whole buckets. Times are local milliseconds, as if they were UTC.
#[derive(Clone, Copy)]
struct Buckets {
    /// Milliseconds that local clocks are ahead of UTC.
    ahead: i64,
    /// Milliseconds of a bucket.
    each: i64,
    start: i64,
    count: usize,
}

impl Buckets {
    fn of(params: &ActivityStatsParams, now: i64) -> Result<Buckets, OpError> {
        const MINUTES_MAX: i64 = 14 * 60;
        let minutes = params.utc_offset.unwrap_or_else(|| minutes_here(now));
        if minutes.abs() > MINUTES_MAX {
            let message = format!("`utc_offset` is not between -{MINUTES_MAX} and {MINUTES_MAX}");
            return Err(OpError::invalid("utc_offset", message).with("max", MINUTES_MAX));
        }
        let ahead = (minutes * 60_000).div_euclid(SLOT_MS) * SLOT_MS;
        let each = params.bucket.ms();
        let last = params.to.as_ref().map_or(now, |to| to.until(now).saturating_sub(1));
        let end = last.saturating_add(ahead).div_euclid(each).saturating_add(1);
        let start = match &params.from {
            Some(from) => from.before(now).saturating_add(ahead).div_euclid(each),
            None => end - params.bucket.default_count(),
        };
        if start >= end {
            return Err(OpError::invalid("from", "`from` is after `to`"));
        }
        let max = limits::ACTIVITY_BUCKETS_MAX;
        let count = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        if count > max {
            let message = format!("the time has more than {max} buckets");
            return Err(OpError::invalid("from", message)
                .hint("Choose a shorter time, or days instead of hours.")
                .with("max", max));
        }
        Ok(Buckets { ahead, each, start: start * each, count })
    }

    /// The first slot of the range, and the slot after its last one.
    fn slots(&self) -> (i64, i64) {
        let start = self.start - self.ahead;
        (start.div_euclid(SLOT_MS), self.utc(self.count).div_euclid(SLOT_MS))
    }

    /// The bucket of a slot.
    fn index(&self, slot: i64) -> Option<usize> {
        let local = slot * SLOT_MS + self.ahead;
        usize::try_from((local - self.start).div_euclid(self.each)).ok()
    }

    /// Seconds since 1970, UTC, of the beginning of a bucket.
    fn start_of(&self, index: usize) -> i64 {
        self.utc(index).div_euclid(1000)
    }

    /// The beginning of a bucket in milliseconds since 1970, UTC.
    fn utc(&self, index: usize) -> i64 {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        self.start.saturating_add(index.saturating_mul(self.each)) - self.ahead
    }
}

fn minutes_here(now: i64) -> i64 {
    let seconds = now.div_euclid(1000);
    let local = Zone::local().local_time(seconds);
    (local.days * 86_400 + local.second - seconds).div_euclid(60)
}

/// The sums of one bucket.
#[derive(Default)]
struct BucketTally {
    records: u64,
    failed: u64,
    by_type: BTreeMap<&'static str, u64>,
    injected: InjectedBucket,
}

struct Tally {
    time: Buckets,
    buckets: Vec<BucketTally>,
    by_type: BTreeMap<String, u64>,
    by_tool: BTreeMap<String, u64>,
    by_project: BTreeMap<i64, u64>,
    by_agent: BTreeMap<String, u64>,
    week: [[u64; 24]; 7],
}

impl Tally {
    fn new(time: Buckets) -> Tally {
        let (by_type, by_tool, by_agent) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let buckets = std::iter::repeat_with(BucketTally::default).take(time.count).collect();
        let (by_project, week) = (BTreeMap::new(), [[0; 24]; 7]);
        Tally { time, buckets, by_type, by_tool, by_project, by_agent, week }
    }

    fn count(&mut self, key: &ActivityKey, counts: &[SlotCount]) {
        let Some(kind) = ObsType::parse(&key.kind).filter(|kind| !kind.is_mark()) else { return };
        let mut all = 0;
        for SlotCount { slot, records, failed } in counts {
            let Some(bucket) = self.time.index(*slot).and_then(|at| self.buckets.get_mut(at))
            else {
                continue;
            };
            bucket.records += records;
            bucket.failed += failed;
            *bucket.by_type.entry(kind.word()).or_default() += records;
            let hours = (slot * SLOT_MS + self.time.ahead).div_euclid(HOUR_MS);
            let weekday = (hours.div_euclid(24) + WEEKDAY_OF_EPOCH).rem_euclid(7);
            let (day, hour) = (usize::try_from(weekday), usize::try_from(hours.rem_euclid(24)));
            if let (Ok(day), Ok(hour)) = (day, hour)
                && let Some(cell) = self.week.get_mut(day).and_then(|hours| hours.get_mut(hour))
            {
                *cell += records;
            }
            all += records;
        }
        *self.by_type.entry(key.kind.clone()).or_default() += all;
        *self.by_project.entry(key.project).or_default() += all;
        if !key.tool.is_empty() {
            *self.by_tool.entry(key.tool.clone()).or_default() += all;
        }
        if !key.agent.is_empty() {
            *self.by_agent.entry(key.agent.clone()).or_default() += all;
        }
    }

    fn inject(&mut self, more: &InjectedSlot) {
        let bucket = self.time.index(more.slot).and_then(|at| self.buckets.get_mut(at));
        if let Some(BucketTally { injected, .. }) = bucket {
            injected.tokens += more.tokens;
            injected.used += more.used_tokens;
            injected.tracked += more.tracked_tokens;
        }
    }

    fn output(
        self,
        rx: &Rx<'_>,
        bucket: BucketUnit,
        about: About,
    ) -> Result<ActivityStatsOutput, OpError> {
        let time = self.time;
        let (mut buckets, mut injected) = (Vec::new(), Vec::new());
        for (index, one) in self.buckets.into_iter().enumerate() {
            let start = time.start_of(index);
            if one.injected.tokens > 0 {
                injected.push(InjectedBucket { start, ..one.injected });
            }
            if one.records > 0 {
                let by = one.by_type.into_iter().map(|(kind, n)| (kind.to_owned(), n)).collect();
                buckets.push(ActivityBucket { start, count: one.records, failed: one.failed, by });
            }
        }
        let mut by_project = BTreeMap::new();
        for (id, count) in self.by_project {
            let name = projects::by_id(rx, id)?.map(|project| project.name);
            *by_project.entry(name.unwrap_or_default()).or_default() += count;
        }
        Ok(ActivityStatsOutput {
            from: time.start_of(0),
            to: time.start_of(time.count),
            bucket,
            utc_offset: time.ahead / 60_000,
            records: buckets.iter().map(|one| one.count).sum(),
            failed: buckets.iter().map(|one| one.failed).sum(),
            buckets,
            injected,
            by_type: self.by_type,
            by_tool: most_frequent(&self.by_tool),
            by_project: most_frequent(&by_project),
            by_agent: most_frequent(&self.by_agent),
            week: self.week.iter().map(|hours| hours.to_vec()).collect(),
            about,
        })
    }
}

/// The names with the most records.
fn most_frequent(counts: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let most = ranked(counts).into_iter().take(limits::ACTIVITY_SHARES_MAX);
    most.map(|(name, count)| (name.clone(), count)).collect()
}

/// The names with their records, the most frequent first.
fn ranked(counts: &BTreeMap<String, u64>) -> Vec<(&String, u64)> {
    let mut all: Vec<(&String, u64)> = counts.iter().map(|(name, count)| (name, *count)).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all
}

impl Pretty for ActivityStats {
    fn pretty(params: &ActivityStatsParams, output: &ActivityStatsOutput, width: usize) -> String {
        if output.records == 0 && output.injected.is_empty() {
            return show::nothing(
                "Nothing is recorded in this time",
                &params.project,
                &output.about,
            );
        }
        let head = ["From", "Records", "Failed", "Injected", "Used"].map(str::to_owned).to_vec();
        let mut buckets: BTreeMap<i64, (u64, u64, InjectedBucket)> = BTreeMap::new();
        for one in &output.buckets {
            let of = buckets.entry(one.start).or_default();
            (of.0, of.1) = (one.count, one.failed);
        }
        for one in &output.injected {
            buckets.entry(one.start).or_default().2 = *one;
        }
        let row = |(start, (count, failed, injected)): (i64, (u64, u64, InjectedBucket))| {
            vec![
                local(start + output.utc_offset * 60, output.bucket),
                count.to_string(),
                failed.to_string(),
                text::counted(injected.tokens, "token"),
                percent(injected.used, injected.tracked),
            ]
        };
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(buckets.into_iter().map(row)).collect();
        let mut lines = vec![text::table::table(&rows, &[], width), String::new()];
        let parts = [
            ("by type", &output.by_type),
            ("by tool", &output.by_tool),
            ("by project", &output.by_project),
            ("by agent", &output.by_agent),
        ];
        for (title, counts) in parts.into_iter().filter(|(_, counts)| !counts.is_empty()) {
            let all: Vec<String> = ranked(counts)
                .into_iter()
                .map(|(name, count)| format!("{} {count}", text::printable(name)))
                .collect();
            lines.push(format!("{title}: {}", all.join(", ")));
        }
        let failed = percent(output.failed, output.records);
        lines.push(format!("{}, {failed} failed", text::counted(output.records, "record")));
        lines.join("\n")
    }
}

/// The date of a bucket and, for an hour, its time of day; `seconds` is local.
fn local(seconds: i64, bucket: BucketUnit) -> String {
    let length = match bucket {
        BucketUnit::Day => "2026-01-31".len(),
        BucketUnit::Hour => "2026-01-31T14:05".len(),
    };
    let shown = rfc3339(seconds.saturating_mul(1000));
    shown.chars().take(length).collect::<String>().replace('T', " ")
}

fn percent(part: u64, of: u64) -> String {
    match (part * 100).checked_div(of) {
        Some(share) => format!("{share} %"),
        None => "-".to_owned(),
    }
}
