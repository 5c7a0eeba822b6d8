//! `purge`: deletes the records that match all filters for good; without `confirm` it only counts them.

use std::collections::BTreeMap;
use std::path::Path;

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, Tier};
use model::observation::{Observation, RecordType};
use model::{Code, OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::literal::{self, LiteralElsewhere, LiteralMatches, SpoolText};
use store::purge::{self, PurgeFilter, Purged};
use store::search::{self, Filter};
use store::sessions::{self, SessionIdForm};
use store::spool_files::SpoolFiles;
use store::{Rx, check_type, damaged, projects};
use text::counted;
use text::query::{self, Form, Query};

use crate::show::{self, RecordRow};
use crate::{examples, record_id};
use contract::TimeBound;
use place::Wanted;

/// Kinds of records that have a number of their own in the output.
const NAMED: [&str; 2] = ["observations", "prompts"];
const DAY_MS: i64 = 86_400_000;

pub(crate) struct Purge;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PurgeParams {
    /// Only what happened before: a date, `yesterday`, `friday`, `3d`, `last week` or an RFC 3339 time.
    #[serde(default)]
    before: Option<TimeBound>,
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
    #[serde(default, deserialize_with = "record_id::some")]
    ids: Option<Vec<i64>>,
    /// Only records of this type.
    #[serde(default)]
    obs_type: Option<RecordType>,
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
    /// The number of records that were counted before. If another number matches now, nothing is removed.
    #[serde(default)]
    expected: Option<usize>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct PurgeOutput {
    /// Whether it was removed; otherwise the numbers say what would be.
    purged: bool,
    observations: usize,
    prompts: usize,
    /// Records of other kinds, by the name of the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<BTreeMap<String, usize>>,
    /// Sessions of which nothing is left.
    sessions: usize,
    /// Sessions whose summary is rebuilt from their remaining records.
    summaries: usize,
    /// Projects that are forgotten with their names, roots and aliases.
    projects: usize,
    /// Receipts, stored answers, notices and names of events that contain the literal text.
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<usize>,
    /// Some of the records, the newest first; none after they were removed.
    samples: Vec<Sample>,
    /// Other records that match all other filters and contain a searched word inside a longer word, in their metadata,
    /// or in the name or directory of their session, whatever its case and accents. They are not deleted; `literal`
    /// finds them.
    #[serde(skip_serializing_if = "Option::is_none")]
    near_misses: Option<usize>,
    /// Hints that contain the literal text, or a searched word. They are not deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    hints_left: Option<usize>,
    /// Projects whose names, roots or aliases contain the literal text, or a searched word. They are not deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    projects_left: Option<usize>,
    /// Copies of the database (saved by a restore, set aside as damaged, or backups beside it) that contain the
    /// literal text; with other filters all of them, since they may contain the records. They are not changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    copies_left: Vec<String>,
    /// Files of the spool that contain the text and were deleted, or would be: unreadable ones, events that could not
    /// be stored, and files of other names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spool_files: Vec<String>,
    /// Files of the spool that may contain the text and stay: a word is inside a longer one, other filters are given
    /// too, they belong to another user, or they cannot be read or deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spool_files_left: Vec<String>,
    /// Seconds since 1970, UTC: ages count from here.
    answered_at: i64,
}

/// A record that would be deleted.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Sample {
    id: i64,
    /// Seconds since 1970, UTC.
    timestamp: i64,
    /// The kind of the record, for example `file_edit`.
    #[schemars(with = "String")]
    obs_type: RecordType,
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
              them are rebuilt. Pinned records are deleted too. Copies of the database are not changed; those \
              in the data directory are named if they may contain the records. `search` \
              matches whole words and reports how many other records contain them in other places; \
              `literal` matches the exact characters anywhere. Files of the spool with the text are deleted and \
              named. Hints are counted, not deleted, and so are project names, unless `project` is the only filter.",
        access: Access::Write { destructive: true, idempotent: true },
        tiers: &[Tier::Person, Tier::Client],
        toolset: "memory",
        cli: CliShape {
            path: &["purge"],
            flag_aliases: &[("session_id", "session"), ("ids", "id"), ("obs_type", "type")],
            pretty: Some(pretty::<Self>),
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
        let form = cx.caller.session_id_form();
        let spool = params.spool_files(cx, query.as_ref());
        if !params.confirm {
            // Two records that share an id would both be counted, so they are separated; only a read-only store refuses
            // that.
            if cx.store.read(damaged::shares_ids)? {
                drop(cx.store.write_unanswered(damaged::separate_ids));
            }
            let counted = cx.store.read(|rx| {
                let filter = params.filter(rx, query.as_ref(), form, now)?;
                let mut output = PurgeOutput::new(purge::plan(rx, &filter)?, false, now);
                params.count_left(rx, &filter, &mut output)?;
                Ok(output)
            });
            return counted.map(|output| output.with_files(cx, literal.as_deref(), spool));
        }
        let done = cx.store.write(move |tx| {
            // A filter finds records by id: a record that shares the id of another one would be deleted with it.
            damaged::separate_ids(tx)?;
            let filter = params.filter(tx, query.as_ref(), form, now)?;
            let done = purge::run(tx, &filter)?;
            params.check_expected(done.total())?;
            // The answer is stored for a repeat of the call, so it must not contain deleted text.
            let mut output = PurgeOutput::new(Purged { samples: Vec::new(), ..done }, true, now);
            params.count_left(tx, &filter, &mut output)?;
            Ok(output)
        });
        match &done {
            Ok(output) if output.is_nothing() => {}
            Ok(_) => cx.store.leave_no_trace()?,
            // A repeat of a call is an error here, too; its first run may have ended before the file was rewritten.
            Err(_) => drop(cx.store.leave_no_trace()),
        }
        done.map(|output| output.with_files(cx, literal.as_deref(), spool))
    }
}

/// The words of a search that a record may contain inside a longer word: the words to find, as they were
/// typed, if they are long enough for `literal`.
fn near_miss_words(search: &str) -> Vec<String> {
    let words = query::all_terms(search).words.into_iter();
    let typed = |word: String| {
        let mut all = text::words::words(search).map(|(_, typed)| typed);
        all.find(|typed| typed.to_lowercase() == word).map_or(word, str::to_owned)
    };
    words.filter(|word| word.chars().count() >= limits::LITERAL_CHARS_MIN).map(typed).collect()
}

/// Whether the query contains a prefix such as `alph*`.
fn has_beginning(query: &Query) -> bool {
    query.form == Form::Operators && query.expression().contains("\"*")
}

/// The copies of the database that contain the text, or all of them.
pub(crate) fn copies_left(cx: &Cx<'_>, text: Option<&str>) -> Vec<String> {
    let copies = cx.store.whole().copies(text);
    copies.iter().map(|copy| copy.display().to_string()).collect()
}

impl PurgeParams {
    /// Refuses to delete another number of records than the caller counted. The error rolls the deletion back.
    fn check_expected(&self, found: usize) -> Result<(), OpError> {
        let Some(expected) = self.expected.filter(|expected| *expected != found) else {
            return Ok(());
        };
        let message = format!(
            "nothing was deleted: {} now, and you expected {expected}",
            counted(found, "record") + if found == 1 { " matches" } else { " match" },
        );
        Err(OpError::new(Code::Conflict, message)
            .hint("Count again; records may have been added since."))
    }

    /// Refuses a purge without a filter, or with one that would match more than the caller means.
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
            return Err(OpError::invalid("", "no filter selects the records to delete").hint(
                "Give at least one filter, for example `session_id` or `older_than`; `rekindle purge --help` lists them.",
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
        // Words past the limit are ignored, so more records would match.
        if query.as_ref().is_some_and(|query| query.cut || query.words.len() >= max) {
            let message = format!("the search has more than {} words", max - 1);
            return Err(OpError::invalid("search", message)
                .with("max", max - 1)
                .hint("Give a few words of the records to delete."));
        }
        let typed = self.search.as_deref().unwrap_or_default();
        if typed.contains('*') && query.as_ref().is_some_and(has_beginning) {
            return Err(OpError::invalid("search", "the search has a prefix such as `alph*`")
                .hint("Only whole words select records here: leave out the *, or use literal."));
        }
        Ok(query)
    }

    fn filter(
        &self,
        rx: &Rx<'_>,
        query: Option<&Query>,
        form: SessionIdForm,
        now: i64,
    ) -> Result<PurgeFilter, OpError> {
        let projects = match &self.project {
            Wanted::Named(name) => {
                let found = projects::find(rx, name)?;
                if found.is_empty() {
                    return Err(place::unknown(rx, name)?);
                }
                Some(found.into_iter().map(|project| project.id).collect())
            }
            Wanted::Here | Wanted::All => None,
        };
        let find = |given: &String| {
            let found = sessions::find_with_records(rx, given, form)?;
            if self.confirm {
                sessions::check_whole_id(given, &found)?;
            }
            Ok::<i64, OpError>(found.id)
        };
        let session = self.session_id.as_ref().map(find).transpose()?;
        if let Some(kind) = self.obs_type {
            check_type(rx, "obs_type", kind)?;
        }
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
        let before =
            [self.before.as_ref().map(|when| when.before(now)), days].into_iter().flatten().min();
        let (kind, literal) = (self.obs_type, self.literal.clone());
        Ok(PurgeFilter { projects, session, ids, kind, before, literal, whole_sessions })
    }

    /// Whether the text of a search or a literal is the only filter.
    fn has_only_text(&self) -> bool {
        self.before.is_none()
            && self.older_than.is_none()
            && !matches!(self.project, Wanted::Named(_))
            && self.session_id.is_none()
            && self.ids.is_none()
            && self.obs_type.is_none()
    }

    /// The files of the spool with the text, and those that stay. With `confirm` the former are deleted, unless other
    /// filters are given, which a file cannot be compared with.
    fn spool_files(&self, cx: &Cx<'_>, query: Option<&Query>) -> [Vec<String>; 2] {
        let words = near_miss_words(self.search.as_deref().unwrap_or_default());
        let wanted = match (&self.literal, query) {
            (Some(text), _) => SpoolText::Literal(text),
            (None, Some(query)) => SpoolText::Words(query, &words),
            (None, None) => return Default::default(),
        };
        let SpoolFiles { mut matching, mut near } =
            cx.store.whole().spool_files(&|bytes| wanted.is_in(bytes));
        let only_text = self.has_only_text() && (self.literal.is_none() || query.is_none());
        let stays = |file: &Path| {
            !only_text || (self.confirm && std::fs::remove_file(file).is_err() && file.exists())
        };
        near.extend(matching.extract_if(.., |file| stays(file)));
        [matching, near].map(|files| files.iter().map(|file| file.display().to_string()).collect())
    }

    /// Counts the records, hints and projects that contain the text and are not deleted.
    fn count_left(
        &self,
        rx: &Rx<'_>,
        filter: &PurgeFilter,
        output: &mut PurgeOutput,
    ) -> Result<(), OpError> {
        if let Some(text) = &self.literal {
            output.note_left(&literal::elsewhere(rx, text)?);
            return Ok(());
        }
        let words = near_miss_words(self.search.as_deref().unwrap_or_default());
        if words.is_empty() {
            return Ok(());
        }
        output.note_left(&literal::elsewhere_by_words(rx, &words)?);
        let mut found = literal::missed_by_search(rx, &words)?;
        // A summary that matched is not deleted but written again. The preview does not count it, nor does the purge.
        let matched = filter.ids.as_deref().unwrap_or_default();
        let is_meant = |id: &i64| self.ids.as_ref().is_none_or(|ids| ids.contains(id));
        found.retain(|id| is_meant(id) && matched.binary_search(id).is_err());
        // All filters but the search apply.
        let others = PurgeFilter { ids: Some(found), ..filter.clone() };
        output.near_misses = some(purge::matches(rx, &others)?.len());
        Ok(())
    }
}

impl PurgeOutput {
    /// Notes how many hints and projects contain the text.
    fn note_left(&mut self, left: &LiteralElsewhere) {
        self.hints_left = some(left.count("hint_variants"));
        self.projects_left = some(left.count("projects"));
    }

    fn new(done: Purged, purged: bool, now: i64) -> PurgeOutput {
        let (observations, prompts) = (done.count("observations"), done.count("prompts"));
        let Purged { records, sessions, summaries, projects, notes, samples } = done;
        let others: BTreeMap<String, usize> = (records.into_iter())
            .filter(|(name, count)| *count > 0 && !NAMED.contains(name))
            .map(|(name, count)| (name.to_owned(), count))
            .collect();
        PurgeOutput {
            purged,
            observations,
            prompts,
            others: Some(others).filter(|others| !others.is_empty()),
            sessions,
            summaries,
            projects,
            notes: some(notes),
            samples: samples.into_iter().map(Sample::new).collect(),
            near_misses: None,
            hints_left: None,
            projects_left: None,
            copies_left: Vec::new(),
            spool_files: Vec::new(),
            spool_files_left: Vec::new(),
            answered_at: now.div_euclid(1000),
        }
    }

    /// Names the copies that contain the literal text, or that may contain what other filters match, and the files of
    /// the spool.
    fn with_files(
        mut self,
        cx: &Cx<'_>,
        literal: Option<&str>,
        spool: [Vec<String>; 2],
    ) -> PurgeOutput {
        [self.spool_files, self.spool_files_left] = spool;
        if literal.is_some() || !self.is_nothing() {
            self.copies_left = copies_left(cx, literal);
        }
        self
    }

    fn is_nothing(&self) -> bool {
        let others: usize = self.others.iter().flat_map(BTreeMap::values).sum();
        let records = self.observations + self.prompts + others + self.sessions;
        records + self.summaries + self.projects + self.notes.unwrap_or_default() == 0
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

impl Pretty for Purge {
    fn pretty(params: &PurgeParams, output: &PurgeOutput, width: usize) -> String {
        let mut lines = vec![output.told(width)];
        let deleted = if output.purged { "deleted" } else { "would delete" };
        lines.extend(below(&format!("{deleted} from the spool:"), &output.spool_files));
        lines.extend(below(
            "files in the spool that may contain the text stay; delete those that you do not need:",
            &output.spool_files_left,
        ));
        if let Some(count @ 1..) = output.near_misses {
            let words = near_miss_words(params.search.as_deref().unwrap_or_default());
            let word = if words.len() == 1 { "the text" } else { "a word of the search" };
            let finds: Vec<String> =
                words.iter().map(|word| format!("`rekindle purge --literal '{word}'`")).collect();
            lines.push(format!(
                "{count} other record{} {word} within a longer word, in metadata or in the session's name \
                 or directory, and stay{}; {} finds those with the same case and accents.",
                if count == 1 { " contains" } else { "s contain" },
                if count == 1 { "s" } else { "" },
                finds.join(" or "),
            ));
        }
        if let Some(count @ 1..) = output.hints_left {
            let hints = counted(count, "hint");
            lines.push(format!("{hints} with the text left; see `rekindle hint delete`."));
        }
        if let Some(count @ 1..) = output.projects_left {
            let projects = counted(count, "project");
            lines.push(format!(
                "{projects} with the text in a name or root left; see `rekindle purge --project`."
            ));
        }
        let which = match params.literal {
            Some(_) => "with the text",
            None => "that may contain the records",
        };
        lines.extend(told_copies(&output.copies_left, which));
        lines.join("\n")
    }
}

/// The names of the copies that were not changed, below a line that says so.
pub(crate) fn told_copies(copies: &[String], which: &str) -> Vec<String> {
    let databases = counted(copies.len(), "saved database");
    let head = format!("{databases} {which}; delete those that you do not need:");
    below(&head, copies)
}

/// The names of files below a line about them; nothing if there are none.
fn below(head: &str, files: &[String]) -> Vec<String> {
    let names = files.iter().map(|file| format!("  {}", show::line(file)));
    let head = (!files.is_empty()).then(|| head.to_owned());
    head.into_iter().chain(names).collect()
}

impl PurgeOutput {
    /// The purged records in numbers, or those that would be purged, with samples.
    fn told(&self, width: usize) -> String {
        let PurgeOutput { observations, prompts, sessions, summaries, projects, .. } = self;
        let others = self.others.iter().flatten();
        let of_others: usize = others.clone().map(|(_, count)| count).sum();
        if observations + prompts + of_others + sessions + summaries + projects == 0 {
            return match (self.notes, self.purged) {
                (None | Some(0), _) => "nothing to purge".to_owned(),
                (Some(count), true) => format!("✔ purged {} about records", counted(count, "note")),
                (Some(count), false) => {
                    format!("would purge {} about records", counted(count, "note"))
                }
            };
        }
        if observations + prompts + of_others + sessions + projects == 0 {
            let count = counted(summaries, "summary");
            return match self.purged {
                true => format!("✔ rewrote {count}"),
                false => format!("would rewrite {count}\nNothing was changed; --confirm does it."),
            };
        }
        let mut counts = [
            counted(observations, "observation"),
            counted(prompts, "prompt"),
            counted(sessions, "session"),
        ]
        .join(", ");
        for (table, count) in others {
            counts.push_str(&format!(", {}", counted(count, &singular(table))));
        }
        if *projects > 0 {
            counts.push_str(&format!(", {}", counted(projects, "project")));
        }
        let drawn = match summaries {
            0 => String::new(),
            count => format!("; {} rewritten", counted(count, "summary")),
        };
        if self.purged {
            return format!("✔ purged {counts}{drawn}");
        }
        let mut lines = vec![format!("would purge {counts}{drawn}")];
        if !self.samples.is_empty() {
            lines.push(show::records(
                self.samples.iter().map(Sample::row),
                self.answered_at,
                width,
            ));
        }
        lines.push("Nothing was removed; --confirm does it.".to_owned());
        lines.join("\n")
    }
}

/// The word for one row of a table: `memory` for `memories`.
fn singular(table: &str) -> String {
    match table.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => table.strip_suffix('s').unwrap_or(table).to_owned(),
    }
}

impl Sample {
    fn row(&self) -> RecordRow<'_> {
        RecordRow {
            mark: "",
            id: self.id,
            timestamp: self.timestamp,
            kind: self.obs_type,
            project: &self.project,
            session: "",
            file: None,
            text: &self.content_preview,
            aside: None,
            is_pinned: false,
        }
    }
}
