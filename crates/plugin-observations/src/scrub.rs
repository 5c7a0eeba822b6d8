//! `scrub`: applies the current rules of the secret guard to everything stored before.

use std::collections::BTreeMap;

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, Tier};
use model::observation::{ObsType, RecordType};
use model::session::Summary;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::project_texts::{self, ProjectReplacement, ProjectTexts};
use store::scrub::{self, ReplacedText, Replacement, Texts};
use store::{GuardedColumn, Rx, Tx, observations, passages, sessions};
use text::secrets::{KnownValues, Profile, redact, redact_json, redact_place};

use crate::examples;
use crate::maintain::turn;
use crate::purge::{copies_left, told_copies};

pub(crate) struct Scrub;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScrubParams {
    /// Whether to say only what would be found.
    #[serde(default)]
    dry_run: bool,
    /// Look only at this many of the newest records, with `dry_run`.
    newest: Option<usize>,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ScrubOutput {
    /// Whether the secrets were redacted; false after a dry run.
    scrubbed: bool,
    /// Secrets that were found.
    found: u64,
    /// Secrets that were found, by rule; a value is never shown.
    by_rule: BTreeMap<String, u64>,
    /// Texts with a secret in them: `content`, `metadata`, `file_path`, `prompt`, `summary`, `project`
    /// (its name, its key, its root and its aliases), `session_root`, `session_name`, `session_model`, `env_hint` and
    /// `context`.
    by_place: BTreeMap<String, u64>,
    /// Copies of the database (saved by a restore, set aside as damaged, or backups beside it) that may contain
    /// the secrets. They are not changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    copies_left: Vec<String>,
}

impl Op for Scrub {
    const INFO: OpInfo = OpInfo {
        name: "scrub",
        summary: "Remove secrets from records captured earlier",
        doc: "The secret guard checks every text of an event before it is stored. This checks the stored ones again with its \
              current rules: texts, metadata and paths of records, prompts, summaries, names and directories of \
              projects and sessions, and the context of sessions. Marks, memories, hypotheses and values \
              are held to the rules for text that people write. Hints have their own guard and are left alone, as are copies \
              that you made with backup; those that a restore or a repair saved are named. Scrubbing twice \
              changes nothing.",
        access: Access::Write { destructive: true, idempotent: true },
        tiers: &[Tier::Person, Tier::Client],
        toolset: "memory",
        cli: CliShape { path: &["scrub"], pretty: Some(pretty::<Self>), ..CliShape::CALL_ONLY },
        examples: &[Example {
            title: "Is there anything?",
            before: examples::A_SESSION,
            params: r#"{"dry_run":true}"#,
        }],
        deadline: limits::CARE_DEADLINE,
        ..OpInfo::BASE
    };
    type Params = ScrubParams;
    type Output = ScrubOutput;

    fn run(&self, cx: &Cx<'_>, params: ScrubParams) -> Result<ScrubOutput, OpError> {
        if let Some(count) = params.newest {
            return sample(cx, count, params.dry_run);
        }
        let mut found = go_over(cx, params.dry_run, records, |tx, changes| {
            changes.iter().try_for_each(|(id, new)| scrub::replace(tx, *id, new).map(drop))
        })?;
        // A summary may be all that is left of its session, so it is redacted and not rebuilt.
        found.add(go_over(cx, params.dry_run, summaries, |tx, changes| {
            changes.iter().try_for_each(|(id, new)| {
                passages::ensure_posted(tx, &[*id])?;
                sessions::set_summary(tx, *id, Some(new))
            })
        })?);
        found.add(go_over(cx, params.dry_run, projects, |tx, changes| {
            changes
                .iter()
                .try_for_each(|(_, (old, new))| project_texts::replace_project(tx, old, new))
        })?);
        for column in cx.store.read(|rx| Ok(scrub::columns(rx)))? {
            let look = move |rx: &Rx<'_>, after| column_texts(rx, column, after);
            found.add(go_over(cx, params.dry_run, look, move |tx, changes| {
                scrub::replace_column_texts(tx, column, changes)
            })?);
        }
        let mut output = ScrubOutput::new(found, !params.dry_run);
        if !output.by_place.is_empty() {
            output.copies_left = copies_left(cx, None);
        }
        if params.dry_run {
            return Ok(output);
        }
        let changed = !output.by_place.is_empty();
        let output = cx.store.write(move |tx| {
            if changed {
                passages::optimize(tx)?;
            }
            Ok(output.clone())
        })?;
        if changed {
            cx.store.leave_no_trace()?;
        }
        Ok(output)
    }
}

fn column_texts(
    rx: &Rx<'_>,
    column: &GuardedColumn,
    after: i64,
) -> Result<ScrubBatch<ReplacedText>, OpError> {
    let texts = scrub::column_texts_after(rx, column, after, limits::SCRUB_BATCH)?;
    let next = texts.last().map(|(last, _)| *last);
    let (mut found, mut changes) = (FoundSecrets::default(), Vec::new());
    for (id, old) in texts {
        let new = match column.is_declared {
            true => redact(&old, Profile::Declared),
            false => redact_place(&old, Profile::Strict),
        };
        if *new != old {
            found.note(column.place, &old, &new);
            changes.push((id, (old, new)));
        }
    }
    Ok(ScrubBatch { found, changes, next })
}

/// Counts the secrets in the newest records and changes nothing.
fn sample(cx: &Cx<'_>, count: usize, dry_run: bool) -> Result<ScrubOutput, OpError> {
    if !dry_run {
        return Err(OpError::invalid("newest", "newest is only for a dry run")
            .hint("Add dry_run, or leave newest out to scrub all records."));
    }
    let mut found = FoundSecrets::default();
    let mut from = Some(cx.store.read(|rx| scrub::before_newest(rx, count))?);
    while let Some(after) = from {
        let seen = cx.store.read(|rx| records(rx, after))?;
        found.add(seen.found);
        from = seen.next;
    }
    Ok(ScrubOutput::new(found, false))
}

/// Number of secrets by rule, and of texts with a secret by place; never a value.
#[derive(Default, Serialize)]
struct FoundSecrets {
    by_rule: BTreeMap<String, u64>,
    by_place: BTreeMap<String, u64>,
}

/// The result for one batch of texts.
struct ScrubBatch<C> {
    found: FoundSecrets,
    /// The replacements of texts with a secret, by id.
    changes: Vec<(i64, C)>,
    /// The last id of the batch, after which the next one starts; none at the end.
    next: Option<i64>,
}

/// Checks all texts in batches, and replaces those with a secret unless it is a dry run.
fn go_over<C: 'static>(
    cx: &Cx<'_>,
    dry_run: bool,
    look: impl Fn(&Rx<'_>, i64) -> Result<ScrubBatch<C>, OpError> + Copy + Send + 'static,
    change: impl Fn(&Tx<'_>, &[(i64, C)]) -> Result<(), OpError> + Copy + Send + 'static,
) -> Result<FoundSecrets, OpError> {
    let mut found = FoundSecrets::default();
    let mut from = Some(i64::MIN);
    while let Some(after) = from {
        let seen = cx.store.read(|rx| look(rx, after))?;
        from = seen.next;
        if dry_run || seen.changes.is_empty() {
            found.add(seen.found);
            continue;
        }
        // Check the batch again in the write transaction: the texts may have changed since.
        found.add(turn(cx, move |tx| {
            let ScrubBatch { found, changes, .. } = look(tx, after)?;
            change(tx, &changes)?;
            Ok(found)
        })?);
    }
    Ok(found)
}

fn records(rx: &Rx<'_>, after: i64) -> Result<ScrubBatch<Replacement>, OpError> {
    let texts = scrub::after(rx, after, limits::SCRUB_BATCH)?;
    let next = texts.last().map(|last| last.id);
    let (mut found, mut changes) = (FoundSecrets::default(), Vec::new());
    for old in texts {
        let Some(mut new) = guarded(&old, Profile::Strict) else { continue };
        let obs_type = observations::one(rx, old.id)?.map(|record| record.obs_type);
        let kind = obs_type.map(RecordType::kind);
        let is_declared = obs_type.is_some_and(|obs_type| store::is_declared(rx, obs_type));
        if kind == Some(ObsType::Marker) || is_declared {
            let Some(declared) = guarded(&old, Profile::Declared) else { continue };
            new = declared;
        }
        let place = if kind == Some(ObsType::UserPrompt) { "prompt" } else { "content" };
        found.note(place, &old.content, &new.content);
        if let (Some(old), Some(new)) = (&old.file_path, &new.file_path) {
            found.note("file_path", old, new);
        }
        if let (Some(old), Some(new)) = (&old.metadata, &new.metadata) {
            found.note("metadata", &old.to_string(), &new.to_string());
        }
        changes.push((old.id, new));
    }
    Ok(ScrubBatch { found, changes, next })
}

/// The texts of a record with its secrets redacted; none if there are no secrets in them.
fn guarded(old: &Texts, profile: Profile) -> Option<Replacement> {
    // A value that is found in one text is redacted in all of them.
    let mut known = KnownValues::default();
    known.collect(&old.content, profile);
    old.file_path.iter().for_each(|path| known.collect(path, profile));
    old.metadata.iter().for_each(|value| known.collect_json(value, profile));
    let safe = |text: &String| redact(&known.hide(text), profile);
    let new = Replacement {
        content: safe(&old.content),
        file_path: old.file_path.as_ref().map(safe),
        metadata: old.metadata.clone().map(|value| redact_json(known.hide_json(value), profile)),
    };
    let same = *new.content == old.content
        && new.file_path.as_deref() == old.file_path.as_ref()
        && new.metadata.as_deref() == old.metadata.as_ref();
    (!same).then_some(new)
}

fn summaries(rx: &Rx<'_>, after: i64) -> Result<ScrubBatch<Summary>, OpError> {
    let summaries = sessions::summaries_after(rx, after, limits::SCRUB_BATCH)?;
    let next = summaries.last().map(|(last, _)| *last);
    let (mut found, mut changes) = (FoundSecrets::default(), Vec::new());
    for (id, summary) in summaries {
        let old = json!(summary);
        let mut new = redact_json(old.clone(), Profile::Strict).into_inner();
        // `learned` has the texts of marks, which were declared and not captured.
        new["learned"] = redact_json(old["learned"].clone(), Profile::Declared).into_inner();
        if new != old {
            found.note("summary", &old.to_string(), &new.to_string());
            let new = serde_json::from_value(new)
                .map_err(|error| OpError::internal(format!("a summary is invalid: {error}")))?;
            changes.push((id, new));
        }
    }
    Ok(ScrubBatch { found, changes, next })
}

fn projects(
    rx: &Rx<'_>,
    after: i64,
) -> Result<ScrubBatch<(ProjectTexts, ProjectReplacement)>, OpError> {
    let projects = project_texts::projects_after(rx, after, limits::SCRUB_BATCH)?;
    let next = projects.last().map(|last| last.id);
    let (mut found, mut changes) = (FoundSecrets::default(), Vec::new());
    for old in projects {
        let strict = |text: &String| redact_place(text, Profile::Strict);
        // The name is that of the directory, or one that a user chose.
        let of_root =
            old.root.as_ref().is_some_and(|root| root.ends_with(&format!("/{}", old.name)));
        let profile = if of_root { Profile::Strict } else { Profile::Declared };
        let new = ProjectReplacement {
            key: strict(&old.key),
            name: redact(&old.name, profile),
            root: old.root.as_ref().map(strict),
            aliases: old.aliases.iter().map(strict).collect(),
        };
        let roots = old.root.iter().zip(&new.root);
        let texts = [(&old.key, &new.key), (&old.name, &new.name)].into_iter().chain(roots);
        let texts = texts.chain(old.aliases.iter().zip(&new.aliases));
        if texts.clone().any(|(old, new)| *old != **new) {
            texts.for_each(|(old, new)| found.note("project", old, new));
            changes.push((old.id, (old, new)));
        }
    }
    Ok(ScrubBatch { found, changes, next })
}

impl FoundSecrets {
    fn add(&mut self, more: FoundSecrets) {
        for (sum, counts) in
            [(&mut self.by_rule, more.by_rule), (&mut self.by_place, more.by_place)]
        {
            for (name, count) in counts {
                *sum.entry(name).or_default() += count;
            }
        }
    }

    /// Counts what the guard did to a text, if it did anything.
    fn note(&mut self, place: &str, old: &str, new: &str) {
        if old == new {
            return;
        }
        *self.by_place.entry(place.to_owned()).or_default() += 1;
        let before = redactions(old);
        for (rule, count) in redactions(new) {
            // `[redacted:RULE]` in the old text is from an earlier redaction, or was typed by a user.
            let more = count.saturating_sub(before.get(rule).copied().unwrap_or_default());
            if more > 0 {
                *self.by_rule.entry(rule.to_owned()).or_default() += more;
            }
        }
    }
}

/// How many times a text contains `[redacted:RULE]`, by rule.
fn redactions(text: &str) -> BTreeMap<&str, u64> {
    let mut counted = BTreeMap::new();
    for (at, mark) in text.match_indices("[redacted:") {
        let rest = text.get(at + mark.len()..).unwrap_or_default();
        // A user may have typed such a text, or only its beginning.
        let is_rule = |rule: &str| rule.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if let Some((rule, _)) = rest.split_once(']').filter(|(rule, _)| is_rule(rule)) {
            *counted.entry(rule).or_default() += 1;
        }
    }
    counted
}

impl ScrubOutput {
    fn new(found: FoundSecrets, scrubbed: bool) -> ScrubOutput {
        let FoundSecrets { by_rule, by_place } = found;
        let copies_left = Vec::new();
        ScrubOutput { scrubbed, found: by_rule.values().sum(), by_rule, by_place, copies_left }
    }
}

impl Pretty for Scrub {
    fn pretty(_: &ScrubParams, output: &ScrubOutput, _: usize) -> String {
        let ScrubOutput { scrubbed, found, by_rule, by_place, copies_left } = output;
        let counts = |counts: &BTreeMap<String, u64>| {
            let counts = counts.iter().map(|(of, count)| format!("{of} {count}"));
            counts.collect::<Vec<_>>().join(", ")
        };
        if by_place.is_empty() {
            return "no secrets found".to_owned();
        }
        let done = if *scrubbed { "✔ removed" } else { "would remove" };
        let mut lines = vec![
            format!("{done} {}", text::counted(found, "secret")),
            format!("by rule:  {}", counts(by_rule)),
            format!("by place: {}", counts(by_place)),
        ];
        lines.extend(told_copies(copies_left, "that may contain them"));
        lines.join("\n")
    }
}
