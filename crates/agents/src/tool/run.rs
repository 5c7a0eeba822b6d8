//! Command lines: the type of their observation, and its metadata.

use std::borrow::Cow;

use model::limits;
use model::observation::ObsType;
use serde_json::{Map, Value};

use super::{Call, Draft, containers, discard, edit, git, runs};
use crate::guard;
use crate::json::Json;
use crate::shell::{self, Simple};
use crate::wire::Text;

/// The beginning of a patch that is passed to a command instead of a tool.
const PATCH: &str = "*** Begin Patch";

/// The name of our program.
const OUR_PROGRAM: &str = "rekindle";
/// Commands of our program that only show records.
const READS_RECORDS: &[&str] = &[
    "search",
    "recent",
    "show",
    "timeline",
    "trace",
    "sessions",
    "summaries",
    "similar",
    "history",
    "briefing",
    "today",
    "stats",
    "get",
];
/// Commands that delete records. Their arguments are words that the user wants to be gone.
const DELETES_RECORDS: &[&str] = &["purge", "scrub"];
/// Other programs that may be on a line with such a command of ours.
const SHORTENS: &[&str] = &["cd", "head", "tail", "cat", "grep", "jq", "less", "wc"];

/// Whether a command line does nothing but show our records, which are stored already, or delete some.
pub(super) fn only_reads_records(call: &Call<'_>) -> bool {
    let line = line_of(call);
    // Most lines do not name the program, and need not be parsed.
    if !line.contains(OUR_PROGRAM) {
        return false;
    }
    let commands = shell::commands(&line);
    let is_ours = |command: &Simple| command.program == OUR_PROGRAM;
    let reads = |command: &Simple| {
        let is_known = |word| READS_RECORDS.contains(&word) || DELETES_RECORDS.contains(&word);
        is_ours(command) && command.words().next().is_some_and(is_known)
    };
    commands.iter().any(is_ours)
        && commands.iter().all(|one| reads(one) || SHORTENS.contains(&one.program.as_str()))
}

/// The command line of a call; empty if there is none.
fn line_of<'a>(call: &Call<'a>) -> Cow<'a, str> {
    let line = ["command", "cmd"].iter().find_map(|member| line(call.input.value(member)?));
    line.or_else(|| self::line(call.bare?)).unwrap_or_default()
}

pub(super) fn of(call: &Call<'_>) -> Draft {
    let line = line_of(call);
    if line.is_empty() {
        return call.plain(ObsType::Command, &[]);
    }
    let commands = containers::commands(&line);
    if let Some(at) = line.find(PATCH).filter(|_| commands.iter().any(applies_patch)) {
        return edit::of_patch(call, &line[at..]);
    }
    let safe = guard::safe(&line);
    let obs_type = obs_type(&commands);
    let mut metadata = metadata(&commands);
    if obs_type == ObsType::GitCommit {
        git::add_message(&commands, &mut metadata);
    }
    discard::add(&|path| call.absolute(path), &commands, &mut metadata);
    Draft {
        obs_type,
        content: safe.clone().head(limits::OBSERVED_CHARS_MAX),
        file_path: None,
        metadata,
        command: Some(safe.head(limits::COMMAND_CHARS_MAX)),
        commands,
        has_commit: false,
    }
}

/// The command line. A list of words is a command with its arguments, or a shell with its script.
fn line<'a>(value: &'a Json<'a>) -> Option<Cow<'a, str>> {
    if let Some(text) = Text::of(value) {
        return Some(text.head().into());
    }
    let words: Vec<&str> = value.as_list()?.iter().filter_map(Json::as_str).collect();
    if let [_, flag, script] = words.as_slice()
        && flag.starts_with('-')
        && flag.ends_with('c')
    {
        return Some((*script).into());
    }
    let quoted = words.iter().map(|word| match word.contains(|c: char| c.is_whitespace()) {
        true => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
        false => Cow::Borrowed(*word),
    });
    Some(quoted.collect::<Vec<_>>().join(" ").into())
}

fn applies_patch(command: &Simple) -> bool {
    matches!(command.program.as_str(), "apply_patch" | "applypatch")
}

/// A commit takes precedence over the push of it, and a push over a call of `gh`.
pub(super) fn obs_type(commands: &[Simple]) -> ObsType {
    let git = |what: &str| commands.iter().any(|command| command.is_git(what));
    if git("commit") {
        ObsType::GitCommit
    } else if git("push") {
        ObsType::GitPush
    } else if commands.iter().any(|command| command.program == "gh") {
        ObsType::Github
    } else {
        ObsType::Command
    }
}

fn metadata(commands: &[Simple]) -> Map<String, Value> {
    let mut metadata = Map::new();
    if let Some((_, run)) = runs::of(commands) {
        metadata.insert("kind".into(), run.kind.word().into());
        metadata.insert("program".into(), run.program.into());
        if let Some(subcommand) = run.subcommand {
            let subcommand = guard::line(subcommand, limits::OBSERVED_EDIT_CHARS_MAX);
            metadata.insert("subcommand".into(), subcommand.into_inner().into());
        }
    }
    metadata
}
