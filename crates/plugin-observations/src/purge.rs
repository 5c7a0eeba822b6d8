//! `purge`: what matches all filters is forgotten for good; without `confirm` it is only counted.

use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Tier};
use model::observation::{ObsType, Observation};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::literal::{self, LiteralElsewhere, LiteralMatches};
use store::purge::{self, PurgeFilter, Purged};
use store::search::{self, Filter};
use store::{Rx, projects, sessions};
use text::query::{self, Form, Query};

use crate::examples;
use crate::scope::{self, Wanted};
use crate::session_trace::unknown;
use crate::show;
use crate::when::When;

const DAY_MS: i64 = 86_400_000;

pub(crate) struct Purge;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PurgeParams {
    /// Only what happened before: a date, `yesterday`, `friday`, `3d`, `last week` or an RFC 3339 time.
    #[serde(default)]
    before: Option<When>,
    /// Only what is older than this many days.
    #[serde(default)]
    older_than: Option<u32>,
    /// Only records of this project; those of all if left out.
    #[serde(default)]
    project: Wanted,
    /// Only records of this session.
    #[serde(default)]
    session_id: Option<String>,
    /// Only these records.
    #[serde(default)]
    ids: Option<Vec<i64>>,
    /// Only records of this type.
    #[serde(default)]
    obs_type: Option<ObsType>,
    /// Only records with all of these words; `"a phrase"`, AND, OR and NOT are understood.
    #[serde(default)]
    search: Option<String>,
    /// Only records that contain exactly this text, even inside a longer word: in their text, metadata, path or
    /// summary, or in the name or directory of their session. At least 4 characters; case-sensitive.
    #[serde(default)]
    literal: Option<String>,
    /// Whether to remove what matches; otherwise it is only counted.
    #[serde(default)]
    confirm: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct PurgeOutput {
    /// Whether it was removed; otherwise the numbers say what would be.
    purged: bool,
    observations: usize,
    prompts: usize,
    /// Sessions of which nothing is left.
    sessions: usize,
    /// Sessions whose summary is rebuilt from their remaining records.
    summaries: usize,
    /// Projects that are forgotten with their names, roots and aliases.
    projects: usize,
    /// Some of the records, the newest first; none after they were removed.
    samples: Vec<Sample>,
    /// Other records that match all other filters and contain a searched word inside a longer word, whatever its
    /// case and accents. They are not deleted; `literal` finds them.
    #[serde(skip_serializing_if = "Option::is_none")]
    near_misses: Option<usize>,
    /// Hints that contain the literal text. They are not deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    hints_left: Option<usize>,
    /// Projects whose names, roots or aliases contain the literal text. They are not deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    projects_left: Option<usize>,
    /// Copies of the database, saved by a restore or set aside as damaged, that contain the literal text; with
    /// other filters all of them, since they may contain the records. They are not changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    copies_left: Vec<String>,
    /// Seconds since 1970, UTC: ages count from here.
    answered_at: i64,
}

/// A record that would go.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Sample {
    id: i64,
    /// Seconds since 1970, UTC.
    timestamp: i64,
    obs_type: ObsType,
    project: String,
    /// The beginning of its text, as one line.
    content_preview: String,
}

impl Op for Purge {
    const INFO: OpInfo = OpInfo {
        name: "purge",
        summary: "Forget records for good, or count what would be forgotten",
        doc: "A record is deleted if it matches all filters; a prompt is a record of type user_prompt. Deleted \
              records are overwritten in the file and removed from the index, and the summaries that mention \
              them are rebuilt. Pinned records are deleted too. Copies made with backup are not changed; those \
              that a restore or a repair saved are named if they may contain the records. `search` \
              matches whole words and reports how many other records contain the text inside a longer word; \
              `literal` matches the exact characters anywhere. Hints and project names are not records: they \
              are counted, not deleted.",
        access: Access::Write { destructive: true, idempotent: true },
        tiers: &[Tier::Person, Tier::Client],
        toolset: "memory",
        cli: CliShape {
            path: &["purge"],
            flag_aliases: &[("session_id", "session"), ("ids", "id"), ("obs_type", "type")],
            pretty: Some(pretty),
            ..CliShape::CALL_ONLY
        },
        examples: &[
            Example {
                title: "What would go?",
                before: examples::A_SESSION,
                params: r#"{"search":"login","project":"web"}"#,
            },
            Example {
                title: "What contains these characters?",
                before: examples::A_SESSION,
                params: r#"{"literal":"login"}"#,
            },
            Example {
                title: "Forget a record",
                before: examples::A_SESSION,
                params: r#"{"ids":[3],"confirm":true}"#,
            },
        ],
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = PurgeParams;
    type Output = PurgeOutput;

    fn run(&self, cx: &Cx<'_>, params: PurgeParams) -> Result<PurgeOutput, OpError> {
        let query = params.check()?;
        let (now, literal) = (cx.now, params.literal.clone());
        if !params.confirm {
            let counted = cx.store.read(|rx| {
                let filter = params.filter(rx, query.as_ref(), now)?;
                let mut output = PurgeOutput::new(purge::plan(rx, &filter)?, false, now);
                params.count_left(rx, &filter, &mut output)?;
                Ok(output)
            });
            return counted.map(|output| output.with_copies(cx, literal.as_deref()));
        }
        let done = cx.store.write(move |tx| {
            let filter = params.filter(tx, query.as_ref(), now)?;
            let done = purge::run(tx, &filter)?;
            // The answer is kept for a repeat of the call: it must not hold what was removed.
            let mut output = PurgeOutput::new(Purged { samples: Vec::new(), ..done }, true, now);
            params.count_left(tx, &filter, &mut output)?;
            Ok(output)
        });
        match &done {
            Ok(output) if output.is_nothing() => {}
            Ok(_) => leave_no_trace(cx)?,
            // A repeat of a call whose first run may not have come this far.
            Err(_) => drop(leave_no_trace(cx)),
        }
        done.map(|output| output.with_copies(cx, literal.as_deref()))
    }
}

/// The words of a search that a record may contain inside a longer word: those that are wanted, long enough for
/// `literal`, as they were typed.
fn near_miss_words(search: &str) -> Vec<String> {
    let words = query::all_terms(search).words.into_iter();
    let typed = |word: String| {
        let mut all = text::words::words(search).map(|(_, typed)| typed);
        all.find(|typed| typed.to_lowercase() == word).map_or(word, str::to_owned)
    };
    words.filter(|word| word.chars().count() >= limits::LITERAL_CHARS_MIN).map(typed).collect()
}

/// Whether a word of the query stands for all that begin like it.
fn has_beginning(query: &Query) -> bool {
    query.form == Form::Operators && query.expression().contains("\"*")
}

/// The copies of the database that contain the text, or all of them.
pub(crate) fn copies_left(cx: &Cx<'_>, text: Option<&str>) -> Vec<String> {
    let copies = cx.store.whole().copies(text);
    copies.iter().map(|copy| copy.display().to_string()).collect()
}

/// Rewrites the file, so that nothing of what was removed or replaced can be read in it any more.
pub(crate) fn leave_no_trace(cx: &Cx<'_>) -> Result<(), OpError> {
    cx.store.whole().compact().map_err(|error| {
        let message = format!("it is gone, but traces may be left in the file: {}", error.message);
        OpError { message, ..error }.hint("`rekindle maintain` rewrites the file.")
    })
}

impl PurgeParams {
    /// Refuses what has no filter, or one that would hit more than is meant.
    fn check(&self) -> Result<Option<Query>, OpError> {
        let given = self.before.is_some()
            || self.older_than.is_some()
            || matches!(self.project, Wanted::Named(_))
            || self.session_id.is_some()
            || self.ids.is_some()
            || self.obs_type.is_some()
            || self.search.is_some()
            || self.literal.is_some();
        if !given {
            return Err(OpError::invalid("", "no filter says what is to go").hint(
                "Give at least one filter, for example project or older_than; `rekindle purge --help` lists them.",
            ));
        }
        let min = limits::LITERAL_CHARS_MIN;
        if self.literal.as_ref().is_some_and(|text| text.chars().count() < min) {
            let message = format!("the literal text has fewer than {min} characters");
            return Err(OpError::invalid("literal", message)
                .with("min", min)
                .hint("So few characters are in almost every record: give more of the text."));
        }
        let query = self.search.as_deref().map(query::all_terms);
        let max = query::WORDS_READ_MAX;
        // The rest of the words is not looked at, so that more would match.
        if query.as_ref().is_some_and(|query| query.cut || query.words.len() >= max) {
            let message = format!("the search has {max} words or more");
            return Err(OpError::invalid("search", message)
                .with("max", max)
                .hint("A few words of what is to go are enough."));
        }
        let typed = self.search.as_deref().unwrap_or_default();
        if typed.contains('*') && query.as_ref().is_some_and(has_beginning) {
            return Err(OpError::invalid("search", "the search has a beginning of a word")
                .hint("Only whole words say what is to go: leave out the *."));
        }
        Ok(query)
    }

    fn filter(&self, rx: &Rx<'_>, query: Option<&Query>, now: i64) -> Result<PurgeFilter, OpError> {
        let projects = match &self.project {
            Wanted::Named(name) => {
                let found = projects::find(rx, name)?;
                if found.is_empty() {
                    return Err(scope::unknown(rx, name)?);
                }
                Some(found.into_iter().map(|project| project.id).collect())
            }
            Wanted::Here | Wanted::All => None,
        };
        let session = match &self.session_id {
            Some(name) => Some(sessions::id_of(rx, name)?.ok_or_else(|| unknown(name))?),
            None => None,
        };
        let found = query.map(|query| search::all(rx, query, &Filter::default())).transpose()?;
        let literal = self.literal.as_deref().map(|text| literal::matches(rx, text)).transpose()?;
        let LiteralMatches { records, sessions: whole_sessions } = literal.unwrap_or_default();
        let records = self.literal.is_some().then_some(records);
        let mut ids = self.ids.clone();
        for found in [found, records].into_iter().flatten() {
            ids = Some(match ids {
                Some(ids) => ids.into_iter().filter(|id| found.binary_search(id).is_ok()).collect(),
                None => found,
            });
        }
        let days = self.older_than.map(|days| now.saturating_sub(i64::from(days) * DAY_MS));
        let before = [self.before.map(|when| when.before(now)), days].into_iter().flatten().min();
        let (kind, literal) = (self.obs_type, self.literal.clone());
        Ok(PurgeFilter { projects, session, ids, kind, before, literal, whole_sessions })
    }

    /// Counts the records, hints and projects that contain the text and are not deleted.
    fn count_left(
        &self,
        rx: &Rx<'_>,
        filter: &PurgeFilter,
        output: &mut PurgeOutput,
    ) -> Result<(), OpError> {
        if let Some(text) = &self.literal {
            let LiteralElsewhere { hints, projects } = literal::elsewhere(rx, text)?;
            (output.hints_left, output.projects_left) = (some(hints), some(projects));
            return Ok(());
        }
        let words = near_miss_words(self.search.as_deref().unwrap_or_default());
        if words.is_empty() {
            return Ok(());
        }
        let mut found = literal::within_words(rx, &words)?;
        // After a purge the matching records are deleted, so that none has to be subtracted.
        let matched = filter.ids.as_deref().filter(|_| !output.purged).unwrap_or_default();
        let is_meant = |id: &i64| self.ids.as_ref().is_none_or(|ids| ids.contains(id));
        found.retain(|id| is_meant(id) && matched.binary_search(id).is_err());
        // All filters but the search apply.
        let others = PurgeFilter { ids: Some(found), ..filter.clone() };
        output.near_misses = some(purge::matches(rx, &others)?.len());
        Ok(())
    }
}

impl PurgeOutput {
    fn new(done: Purged, purged: bool, now: i64) -> PurgeOutput {
        let Purged { observations, prompts, sessions, summaries, projects, samples } = done;
        PurgeOutput {
            purged,
            observations,
            prompts,
            sessions,
            summaries,
            projects,
            samples: samples.into_iter().map(Sample::new).collect(),
            near_misses: None,
            hints_left: None,
            projects_left: None,
            copies_left: Vec::new(),
            answered_at: now.div_euclid(1000),
        }
    }

    /// Names the copies that contain the literal text, or that may contain what other filters match.
    fn with_copies(mut self, cx: &Cx<'_>, literal: Option<&str>) -> PurgeOutput {
        if literal.is_some() || !self.is_nothing() {
            self.copies_left = copies_left(cx, literal);
        }
        self
    }

    fn is_nothing(&self) -> bool {
        self.observations + self.prompts + self.sessions + self.summaries + self.projects == 0
    }
}

impl Sample {
    fn new(record: Observation) -> Sample {
        Sample {
            id: record.id,
            timestamp: record.timestamp,
            obs_type: record.obs_type,
            project: record.project,
            content_preview: text::one_line(&record.content, limits::PREVIEW_CHARS),
        }
    }
}

/// The count, or `None` for zero, so that the reply leaves the member out.
fn some(count: usize) -> Option<usize> {
    (count > 0).then_some(count)
}

fn pretty(params: &Value, result: &Value) -> String {
    let mut lines = vec![told(result)];
    let number = |name: &str| result[name].as_u64().unwrap_or_default();
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    match number("near_misses") {
        0 => {}
        count => {
            let words = near_miss_words(params["search"].as_str().unwrap_or_default());
            let word = if words.len() == 1 { "the text" } else { "a word of the search" };
            let finds: Vec<String> =
                words.iter().map(|word| format!("`rekindle purge --literal '{word}'`")).collect();
            lines.push(format!(
                "{count} other record{} {word} within a longer word and stay{}; \
                 {} finds those with the same case and accents.",
                if count == 1 { " contains" } else { "s contain" },
                if count == 1 { "s" } else { "" },
                finds.join(" or "),
            ));
        }
    }
    if let count @ 1.. = number("hints_left") {
        let s = plural(count);
        lines.push(format!("{count} hint{s} with the text left; see `rekindle hint delete`."));
    }
    if let count @ 1.. = number("projects_left") {
        let s = plural(count);
        lines.push(format!(
            "{count} project{s} with the text in a name or root left; see `rekindle purge --project`."
        ));
    }
    lines.extend(pretty_copies(
        result,
        match params["literal"].is_string() {
            true => "with the text",
            false => "that may contain the records",
        },
    ));
    lines.join("\n")
}

/// The names of the copies that were not changed, below a line that says so.
pub(crate) fn pretty_copies(result: &Value, which: &str) -> Vec<String> {
    let copies = show::list(result, "copies_left");
    let s = if copies.len() == 1 { "" } else { "s" };
    let head =
        format!("{} saved database{s} {which}; delete those that you do not need:", copies.len());
    let names =
        copies.iter().filter_map(Value::as_str).map(|copy| format!("  {}", show::line(copy)));
    if copies.is_empty() { Vec::new() } else { [head].into_iter().chain(names).collect() }
}

/// The purged records in numbers, or those that would be purged, with samples.
fn told(result: &Value) -> String {
    let number = |name: &str| result[name].as_u64().unwrap_or_default();
    let names = ["observations", "prompts", "sessions", "summaries", "projects"];
    if names.iter().all(|name| number(name) == 0) {
        return "nothing to purge".to_owned();
    }
    let [observations, prompts, sessions, summaries, projects] = names.map(number);
    let mut counts = format!("{observations} observations, {prompts} prompts, {sessions} sessions");
    if projects > 0 {
        counts.push_str(&format!(", {projects} projects"));
    }
    let drawn = match summaries {
        0 => String::new(),
        count => format!("; {count} summaries drawn anew"),
    };
    if result["purged"] == true {
        return format!("✔ purged {counts}{drawn}");
    }
    let samples: Vec<&Value> = show::list(result, "samples").iter().collect();
    let mut lines = vec![format!("would purge {counts}{drawn}")];
    if !samples.is_empty() {
        lines.push(show::records(&samples, show::answered_at(result), |_| ""));
    }
    lines.push("Nothing was removed; --confirm does it.".to_owned());
    lines.join("\n")
}
