//! `file_history`: the sessions that touched a file, and what was wanted each time.

use std::sync::Arc;

use contract::{CliShape, Cx, Example, Op, OpInfo, brief};
use model::observation::ObsType;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::history::{self, FileQuery, Touch, Touches};

use crate::count::Count;
use crate::examples;
use crate::file::Asked;
use crate::place::DiskPlaces;
use crate::scope::{About, Question, Wanted};
use crate::show;
use crate::when::When;

pub(crate) struct FileHistory {
    pub(crate) places: Arc<DiskPlaces>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileHistoryParams {
    /// Path of the file, or the end of it.
    file_path: String,
    /// Project whose sessions count; yours if left out, `*` for all.
    #[serde(default)]
    project: Wanted,
    /// Only what happened before, as in search.
    #[serde(default)]
    before: Option<When>,
    /// Only what happened after.
    #[serde(default)]
    after: Option<When>,
    /// Leave out who only read the file.
    #[serde(default)]
    interventions_only: bool,
    /// How many touches, from 1 to 50.
    #[serde(default = "default_limit")]
    limit: Count,
}

fn default_limit() -> Count {
    Count::new(limits::FILE_TOUCHES_DEFAULT)
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct FileHistoryOutput {
    file_path: String,
    /// The one that touched the file last comes first.
    sessions: Vec<TouchingSession>,
    #[serde(flatten)]
    about: About,
}

/// A session that touched the file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TouchingSession {
    session_id: String,
    project: String,
    /// Seconds since 1970, UTC.
    started_at: i64,
    /// What the user wanted from the session.
    summary_intent: Option<String>,
    /// The last one first.
    touches: Vec<FileTouch>,
}

/// One touch.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FileTouch {
    observation_id: i64,
    timestamp: i64,
    #[schemars(with = "String")]
    obs_type: ObsType,
    content_preview: String,
    /// Which file it was, where the path stands for several.
    file_path: Option<String>,
    /// The prompt before it. Models get it once for consecutive touches.
    prompt_content: Option<String>,
    is_pinned: bool,
}

impl Op for FileHistory {
    const INFO: OpInfo = OpInfo {
        name: "file_history",
        summary: "Show which sessions touched a file, and why",
        doc: "Call it before you change a file that others worked on.",
        toolset: "memory",
        core: true,
        cli: CliShape {
            path: &["history"],
            positional: &["file_path"],
            pretty: Some(pretty),
            ..CliShape::CALL_ONLY
        },
        brief: Some(brief),
        examples: &[Example {
            title: "Who changed this file, and why?",
            before: examples::A_SESSION,
            params: r#"{"file_path":"src/auth.rs","project":"*","interventions_only":true}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = FileHistoryParams;
    type Output = FileHistoryOutput;

    fn run(&self, cx: &Cx<'_>, params: FileHistoryParams) -> Result<FileHistoryOutput, OpError> {
        let path = params.file_path.trim();
        if path.is_empty() {
            return Err(OpError::invalid("file_path", "the file's path is empty"));
        }
        let asked = Asked::new(cx, &self.places, path, params.project == Wanted::All)?;
        let question = Question::new(cx, &self.places, params.project);
        cx.store.read(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let query = |path| FileQuery {
                path,
                also: &asked.also,
                root: scope.root(),
                projects: projects.as_deref(),
                before: params.before.map(|when| when.before(cx.now)),
                after: params.after.map(|when| when.after(cx.now)),
                interventions_only: params.interventions_only,
                limit: params.limit.within(1..=limits::FILE_TOUCHES_MAX),
            };
            // What the path means where the caller stands wins over what else ends like it.
            let mut found = match &asked.from_here {
                Some(absolute) => history::of_file(rx, &query(absolute))?,
                None => Vec::new(),
            };
            if found.is_empty() {
                found = history::of_file(rx, &query(path))?;
            }
            Ok(FileHistoryOutput {
                file_path: params.file_path.clone(),
                sessions: found.into_iter().map(TouchingSession::new).collect(),
                about: scope.about(cx),
            })
        })
    }
}

impl TouchingSession {
    fn new(of: Touches) -> TouchingSession {
        TouchingSession {
            session_id: of.session_id,
            project: of.project,
            started_at: of.started_at.div_euclid(1000),
            summary_intent: of.intent,
            touches: of.touches.into_iter().map(FileTouch::new).collect(),
        }
    }
}

impl FileTouch {
    fn new(touch: Touch) -> FileTouch {
        FileTouch {
            observation_id: touch.id,
            timestamp: touch.at.div_euclid(1000),
            obs_type: touch.obs_type,
            content_preview: show::preview(touch.content),
            file_path: touch.file_path,
            prompt_content: touch.prompt,
            is_pinned: touch.is_pinned,
        }
    }
}

/// The result without null members. A prompt is given once, with the first of the consecutive touches that
/// it led to.
fn brief(params: &Value, result: &mut Value) {
    for session in result["sessions"].as_array_mut().into_iter().flatten() {
        let mut last = Value::Null;
        for touch in session["touches"].as_array_mut().into_iter().flatten() {
            let prompt = touch["prompt_content"].take();
            if prompt != last {
                touch["prompt_content"] = prompt.clone();
            }
            last = prompt;
        }
    }
    brief::plain(params, result);
}

/// Says that no session is listed, and by which filters.
fn nothing(params: &Value, path: &str) -> String {
    let times = show::times_given(params);
    match params["interventions_only"] == true {
        true => format!("No session changed {path}{times} (--interventions-only)"),
        false => format!("No session touched {path}{times}"),
    }
}

fn pretty(params: &Value, result: &Value) -> String {
    let sessions = show::list(result, "sessions");
    let now = show::answered_at(result);
    if sessions.is_empty() {
        let path = show::line(params["file_path"].as_str().unwrap_or_default());
        return show::nothing(&nothing(params, &path), params, result);
    }
    let mut lines = Vec::new();
    for session in sessions {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let word = |name: &str| show::line(session[name].as_str().unwrap_or_default());
        lines.push(format!("{} in {}", word("session_id"), word("project")));
        if let Some(intent) = session["summary_intent"].as_str() {
            lines.push(format!("  {}", show::line(intent)));
        }
        let touches: Vec<&Value> = show::list(session, "touches").iter().collect();
        let table = show::records(&touches, now, |_| "");
        lines.extend(table.lines().skip(1).map(|line| format!("  {line}")));
    }
    lines.join("\n")
}
