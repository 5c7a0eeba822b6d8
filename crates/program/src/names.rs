//! The program's names besides its own. To add a name, add a line here.

use std::ffi::OsStr;
use std::path::Path;

use cli::{ParamDefault, ProgramName, ResultForm, Saying};
use contract::pretty::typed;
use serde::Deserialize;
use serde_json::Value;

/// Names under which the program has the command line of a specification; `rekindle links` creates them.
pub(crate) const LINKS: &[ProgramName] = &[NUDGE, NMEM];

const NUDGE: ProgramName = ProgramName {
    word: "nudge",
    about: "Small facts about components, for coding agents, shown where they apply",
    group: Some("hint"),
    own: &["serve", "status", "stop"],
    sayings: &[],
    prefix: "",
};

pub(crate) const NMEM: ProgramName = ProgramName {
    word: "nmem",
    about: "Memory of what coding agents did, captured by hooks and found again",
    group: None,
    own: &["record", "serve"],
    sayings: &[
        Saying {
            word: "search",
            command: &["search"],
            // All hits of all projects, so that piped output is complete.
            defaults: &[
                ParamDefault {
                    param: "project",
                    json: r#""*""#,
                    doc: "Project to search; all if omitted",
                },
                ParamDefault {
                    param: "diverse",
                    json: "false",
                    doc: "Whether equal texts are one hit and weak hits of one session are replaced by those of others",
                },
                ParamDefault { param: "order_by", json: r#""relevance""#, doc: "Sort order" },
                ParamDefault { param: "preview", json: r#""beginning""#, doc: "" },
            ],
            nothing: Some(r#"{"results":[]}"#),
            goes: ResultForm::AsList {
                members: &[
                    "id",
                    "timestamp",
                    "obs_type",
                    "content_preview",
                    "file_path",
                    "session_id",
                ],
                full: &["source_event", "tool_name", "content", "metadata"],
            },
            ..Saying::SAME
        },
        Saying {
            word: "context",
            command: &["briefing"],
            defaults: &[ParamDefault {
                param: "form",
                json: r#""nmem""#,
                doc: "The form of the text; `nmem` is that of its specification",
            }],
            nothing: Some(r#"{"text":""}"#),
            pretty: Some(|params, result, _| typed(params, result, context)),
            ..Saying::SAME
        },
        Saying { word: "status", command: &["stats"], goes: ResultForm::ToStderr, ..Saying::SAME },
        Saying {
            word: "pin",
            command: &["pin"],
            pretty: Some(|params, result, _| typed(params, result, pinned)),
            goes: ResultForm::ToStderr,
            ..Saying::SAME
        },
        Saying {
            word: "unpin",
            command: &["unpin"],
            pretty: Some(|params, result, _| typed(params, result, pinned)),
            goes: ResultForm::ToStderr,
            ..Saying::SAME
        },
        Saying {
            word: "mark",
            command: &["mark"],
            pretty: Some(|params, result, _| typed(params, result, marked)),
            ..Saying::SAME
        },
        Saying { word: "purge", command: &["purge"], goes: ResultForm::ToStderr, ..Saying::SAME },
        Saying {
            word: "maintain",
            command: &["maintain"],
            goes: ResultForm::ToStderr,
            ..Saying::SAME
        },
    ],
    prefix: "nmem: ",
};

/// The name that the program was started by: the last component of `argv[0]`.
pub(crate) fn started_by(program: Option<&OsStr>) -> &'static ProgramName {
    let word = program.and_then(|program| Path::new(program).file_name());
    LINKS
        .iter()
        .find(|name| word.is_some_and(|word| word == name.word))
        .unwrap_or(&ProgramName::FULL)
}

/// A briefing under the title that this name gives it.
pub(crate) fn titled(briefing: &str, name: &ProgramName) -> String {
    match briefing.strip_prefix(&format!("# {} ", ProgramName::FULL.word)) {
        Some(rest) => format!("# {} {rest}", name.word),
        None => briefing.to_owned(),
    }
}

/// The parameters of `briefing` that this output needs.
#[derive(Deserialize)]
struct ContextParams {
    project: Option<String>,
}

/// The part of a briefing that `nmem` prints.
#[derive(Deserialize)]
struct ContextText {
    text: String,
}

fn context(params: &ContextParams, context: &ContextText) -> String {
    if !context.text.is_empty() {
        return titled(&context.text, &NMEM);
    }
    let project = params.project.clone().or_else(here).unwrap_or_default();
    format!("No context available for project {:?}.", text::one_line(&project, usize::MAX))
}

/// The name of the directory after which the current project is named.
fn here() -> Option<String> {
    let cwd = std::env::current_dir().ok()?;
    let root = git::Facts::at(&cwd).map_or(cwd, |facts| facts.main_root);
    Some(root.file_name()?.to_string_lossy().into_owned())
}

/// The part of a pinned or marked record that `nmem` prints.
#[derive(Deserialize)]
struct ChangedRecord {
    id: i64,
    #[serde(default)]
    is_pinned: bool,
}

fn pinned(_: &Value, record: &ChangedRecord) -> String {
    let done = if record.is_pinned { "pinned" } else { "unpinned" };
    format!("{done} observation {}", record.id)
}

fn marked(_: &Value, record: &ChangedRecord) -> String {
    record.id.to_string()
}
