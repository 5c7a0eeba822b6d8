//! `find_fix`: failures that were seen before, and the runs that fixed them.

use contract::pretty::{notes, pretty};
use contract::{CallTarget, CliShape, Count, Cx, Example, Op, OpError, OpInfo, Pretty, listing};
use model::{limits, time};
use place::{About, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::failures::{self, RunKind};
use text::fingerprint::Fingerprint;
use text::secrets::{Profile, redact};

use super::account::{FailureFix, KnownFailure};

pub(crate) struct FindFix;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindFixParams {
    /// The output of the failed run, or one or more of its lines with the error. Without it: the failures seen most often.
    #[serde(default)]
    error: Option<String>,
    /// The command that failed; only failures of the same program and sub-command are compared or listed.
    #[serde(default)]
    command: Option<String>,
    /// The project of the directory if left out; `*` for all.
    #[serde(default)]
    project: Wanted,
    /// Number of failures, from 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Your session; without `cwd` the directory where it began counts.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory whose project is meant; absolute.
    #[serde(default)]
    cwd: Option<String>,
}

fn default_limit() -> Count {
    Count::new(limits::FIXES_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct FindFixOutput {
    /// With an error the newest first, else those that were seen most often.
    failures: Vec<KnownFailure>,
    #[serde(flatten)]
    about: About,
}

impl Op for FindFix {
    const INFO: OpInfo = OpInfo {
        name: "find_fix",
        summary: "Find what fixed a failed test or build before",
        doc: "Give it the error of a failed test run or build. If the same failure was seen before, it returns how often, \
              the command that passed afterwards, and the files and commands in between. Without an error it lists \
              the failures of the project and their fixes.",
        toolset: "learning",
        typed_errors: true,
        cli: CliShape {
            path: &["fixes"],
            positional: &["error"],
            rest: true,
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[
            Example {
                title: "The failures of all projects",
                before: &[],
                params: r#"{"project":"*"}"#,
            },
            Example {
                title: "The fix of one failure",
                before: &[],
                params: r#"{"error":"error[E0308]: mismatched types","command":"cargo build","project":"*"}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = FindFixParams;
    type Output = FindFixOutput;

    fn run(&self, cx: &Cx<'_>, params: FindFixParams) -> Result<FindFixOutput, OpError> {
        let FindFixParams { error, command, project, limit, session_id, cwd } = params;
        let part = error.as_deref().and_then(part_of_line);
        let error = error.map(checked).transpose()?;
        let asker = (session_id.as_deref(), cwd.as_deref());
        let question = CallTarget::question(cx, asker, project)?;
        let kind = command.as_deref().and_then(agents::run_kind);
        let kind = kind.as_ref().map(|(program, subcommand)| RunKind { program, subcommand });
        let limit = limit.of_caller(cx.caller, "limit", 1..=limits::FIXES_MAX)?;
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let found = match &error {
                Some(lines) => failures::find_with_lines(rx, projects.as_deref(), kind, lines)?,
                // A command that is no test or build has no failures.
                None if command.is_some() && kind.is_none() => Vec::new(),
                None => failures::list(rx, projects.as_deref(), kind, limit)?,
            };
            let read = |failure| KnownFailure::read(rx, failure, scope.root(), None).transpose();
            let mut failures =
                found.iter().filter_map(read).take(limit).collect::<Result<Vec<_>, _>>()?;
            if let Some(part) = part.filter(|_| failures.is_empty()) {
                let all = failures::list(rx, projects.as_deref(), kind, limits::FIXES_LOOKED_AT)?;
                failures = all.iter().filter_map(read).collect::<Result<_, _>>()?;
                failures.retain(|known| known.has(&part));
                failures.truncate(limit);
            }
            Ok(FindFixOutput { failures, about: scope.about(cx.now) })
        })
    }
}

/// The given error if it may be a part of a printed line: it is one line and not too short.
fn part_of_line(error: &str) -> Option<String> {
    let part = error.trim().to_lowercase();
    let is_part = part.chars().count() >= limits::FIX_PART_CHARS_MIN && !part.contains('\n');
    is_part.then_some(part)
}

/// The fingerprint of the given error.
fn checked(error: String) -> Result<Fingerprint, OpError> {
    let max = limits::FIX_ERROR_CHARS_MAX;
    if error.trim().is_empty() {
        return Err(OpError::invalid("error", "the error is empty")
            .hint("Give the output of the failed run, or leave `error` out for a list."));
    }
    if error.chars().nth(max).is_some() {
        return Err(OpError::invalid("error", format!("the error has over {max} characters"))
            .with("max", max));
    }
    // Stored errors are redacted, so the given one is redacted before it is compared with them.
    Ok(Fingerprint::of(&redact(&error, Profile::Strict)))
}

impl Pretty for FindFix {
    fn pretty(params: &FindFixParams, output: &FindFixOutput, width: usize) -> String {
        if output.failures.is_empty() {
            let none = match (&params.error, &params.command) {
                (Some(_), _) => "No failure like this is recorded here.",
                (None, Some(_)) => "No failed test or build with this command is recorded here.",
                (None, None) => "No failed test or build is recorded here.",
            };
            return none.to_owned();
        }
        let now = output.about.answered_at;
        let shown = |failure: &KnownFailure| told(failure, now, width);
        output.failures.iter().map(shown).collect::<Vec<_>>().join("\n\n")
    }

    fn notes(params: &FindFixParams, output: &FindFixOutput) -> Vec<String> {
        let count = output.failures.len();
        let limit = params.limit.within(1..=limits::FIXES_MAX);
        let unlisted = listing::Unlisted::of_full(count, limit);
        listing::list_notes(count, "failure", unlisted, (params.limit, limits::FIXES_MAX))
    }
}

/// A failure in lines for people.
fn told(failure: &KnownFailure, now: i64, width: usize) -> String {
    let now = now.saturating_mul(1_000);
    let ago = |at: &str| {
        let at = time::parse_rfc3339(at).unwrap_or(now);
        // A failure of this minute is recognised by its seconds.
        if now.saturating_sub(at) < 60_000 { time::ago(at, now) } else { time::age(at, now) }
    };
    let KnownFailure { command, error, seen, last_at, fix, .. } = failure;
    let mut rows = vec![
        ("Command", command.clone()),
        ("Seen", format!("{}, last {}", text::counted(seen, "time"), ago(last_at))),
    ];
    match fix {
        None => rows.push(("Fixed by", "nothing yet".to_owned())),
        Some(fix) => {
            let FailureFix { command, id, at, .. } = fix;
            // If the same line passed, the fix is the work in between.
            let label = if fix.same_command { "Passed" } else { "Fixed by" };
            let command = if fix.same_command { "again" } else { command };
            rows.push((label, format!("{command} ({}, #{id})", ago(at))));
            let between = fix.in_between();
            if !between.is_empty() {
                rows.push(("Between", between));
            }
        }
    }
    let first = if error.is_empty() { command } else { error };
    let mut lines = text::table::wrapped(&text::printable(first), width);
    for (label, value) in rows {
        let value = text::printable(&value);
        let wrapped = text::table::wrapped(&value, width.saturating_sub(12).max(20));
        for (place, line) in wrapped.into_iter().enumerate() {
            let label = if place == 0 { label } else { "" };
            lines.push(format!("  {label:<8}  {line}"));
        }
    }
    lines.join("\n")
}
