//! `file_history`: the sessions that touched a file, and what was wanted each time.

mod renames;

use contract::pretty::{notes, pretty, refusal};
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty, brief};
use model::observation::ObsType;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::history::{self, FileQuery, Touch, Touches};

use crate::examples;
use crate::show::{self, RecordRow, Unlisted};
use contract::Count;
use contract::TimeBound;
use place::{About, Wanted};
use renames::EarlierName;

pub(crate) struct FileHistory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileHistoryParams {
    /// The path or its end.
    file_path: String,
    /// Yours if left out; `*` for all.
    #[serde(default)]
    project: Wanted,
    /// As in search.
    #[serde(default)]
    before: Option<TimeBound>,
    /// As in search.
    #[serde(default)]
    after: Option<TimeBound>,
    /// Leave out reads of the file.
    #[serde(default)]
    interventions_only: bool,
    /// Touches, from 1 to 50.
    #[serde(default = "default_limit")]
    limit: Count,
}

fn default_limit() -> Count {
    Count::new(limits::FILE_TOUCHES_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct FileHistoryOutput {
    file_path: String,
    /// The one that touched the file last comes first.
    sessions: Vec<TouchingSession>,
    /// Names that the file had before a recorded `git mv` or `mv`, the last one first. Sessions that touched the
    /// file by these names come last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier_names: Vec<EarlierName>,
    /// Seconds since 1970, UTC; pass it as `before` for older touches. Left out if all are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<i64>,
    #[serde(flatten)]
    about: About,
}

/// A session that touched the file.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct TouchingSession {
    session_id: String,
    project: String,
    /// Seconds since 1970, UTC.
    started_at: i64,
    /// The user's intent in the session.
    summary_intent: Option<String>,
    /// The last one first.
    touches: Vec<FileTouch>,
}

/// One touch.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct FileTouch {
    observation_id: i64,
    timestamp: i64,
    #[schemars(with = "String")]
    obs_type: ObsType,
    content_preview: String,
    /// The file, if the path matched several.
    file_path: Option<String>,
    /// The prompt before it. Models get it once for consecutive touches.
    prompt_content: Option<String>,
    is_pinned: bool,
}

impl Op for FileHistory {
    const INFO: OpInfo = OpInfo {
        name: "file_history",
        summary: "Show which sessions touched a file, and why",
        doc: "Call it before you change a file that earlier sessions changed.",
        toolset: "memory",
        core: true,
        advanced: &["before", "after", "interventions_only", "limit"],
        cli: CliShape {
            path: &["history"],
            positional: &["file_path"],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            refusal: Some(refusal::<Self>),
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
            return Err(OpError::invalid("file_path", "the file's path is empty")
                .hint("Give the path of a file, or the end of it, such as src/auth.rs."));
        }
        let asked = cx.caller.file(cx.store.whole(), path, params.project == Wanted::All)?;
        let question = cx.caller.projects(params.project);
        let (output, _) = cx.store.search(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let limit = params.limit.within(1..=limits::FILE_TOUCHES_MAX);
            let query = |path| FileQuery {
                path,
                also: &asked.also,
                root: scope.root(),
                projects: projects.as_deref(),
                before: params.before.as_ref().map(|when| when.before(cx.now)),
                after: params.after.as_ref().map(|when| when.after(cx.now)),
                interventions_only: params.interventions_only,
                limit,
            };
            // A path relative to the caller's directory wins over other paths with the same end.
            let mut found = match &asked.from_here {
                Some(absolute) => history::of_file(rx, &query(absolute))?,
                None => Vec::new(),
            };
            if found.is_empty() {
                found = history::of_file(rx, &query(path))?;
            }
            let named = asked.from_here.as_deref().unwrap_or(path);
            let earlier_names = renames::earlier_names(rx, projects.as_deref(), named)?;
            let mut next = next_page(&found, limit);
            for earlier in &earlier_names {
                let query = FileQuery { also: &[], ..query(&earlier.file_path) };
                let touches = history::of_file(rx, &query)?;
                // The limit applies to each name of the file. The next page begins at the latest of the times where a
                // list was cut.
                next = next.max(next_page(&touches, limit));
                found.extend(touches);
            }
            let sessions: Vec<_> = found.into_iter().map(TouchingSession::new).collect();
            let ids = sessions.iter().map(|session| session.session_id.as_str());
            let about = About { id_chars: show::id_chars(cx, rx, ids)?, ..scope.about(cx.now) };
            Ok(FileHistoryOutput {
                earlier_names,
                file_path: params.file_path.clone(),
                sessions,
                next,
                about,
            })
        })?;
        Ok(output)
    }
}

/// The time in seconds before which the next page lists touches; none if there are fewer touches than the limit.
fn next_page(found: &[Touches], limit: usize) -> Option<i64> {
    let touches = found.iter().flat_map(|session| &session.touches);
    let mut times: Vec<i64> = touches.map(|touch| touch.at.div_euclid(1000)).collect();
    times.sort_unstable_by(|one, other| other.cmp(one));
    show::next_before(&times, limit)
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

impl FileHistoryParams {
    /// The text of an answer without sessions; it names the filters.
    fn nothing(&self) -> String {
        let path = show::line(&self.file_path);
        let times = show::times_given(self.after.as_ref(), self.before.as_ref());
        match self.interventions_only {
            true => format!("No session changed {path}{times} (--interventions-only)"),
            false => format!("No session touched {path}{times}"),
        }
    }
}

impl Pretty for FileHistory {
    fn pretty(params: &FileHistoryParams, output: &FileHistoryOutput, width: usize) -> String {
        let FileHistoryOutput { sessions, earlier_names, about, .. } = output;
        if sessions.is_empty() {
            return show::nothing(&params.nothing(), &params.project, about);
        }
        let mut lines: Vec<String> = (earlier_names.iter())
            .map(|earlier| {
                let name = show::line(&earlier.file_path);
                format!("Before #{} it was {name}.", earlier.observation_id)
            })
            .collect();
        let ids = sessions.iter().map(|session| session.session_id.as_str());
        let ids = show::session_ids(ids, about.id_chars);
        for (session, id) in sessions.iter().zip(ids) {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(format!("{id} in {}", show::line(&session.project)));
            let intent = session.summary_intent.as_deref();
            lines.extend(intent.map(|intent| format!("  {}", show::line(intent))));
            let rows = session.touches.iter().map(FileTouch::row);
            lines.extend(show::records_below(rows, about.answered_at, width));
        }
        lines.join("\n")
    }

    fn notes(params: &FileHistoryParams, output: &FileHistoryOutput) -> Vec<String> {
        let count = output.sessions.iter().map(|session| session.touches.len()).sum();
        let unlisted = output.next.map(Unlisted::Before);
        show::list_notes(count, "record", unlisted, (params.limit, limits::FILE_TOUCHES_MAX))
    }

    fn refusal(params: &FileHistoryParams, now_ms: i64) -> Option<OpError> {
        show::empty_time(params.after.as_ref(), params.before.as_ref(), now_ms)
    }
}

impl FileTouch {
    fn row(&self) -> RecordRow<'_> {
        RecordRow {
            mark: "",
            id: self.observation_id,
            timestamp: self.timestamp,
            kind: self.obs_type.into(),
            project: "",
            session: "",
            file: None,
            text: &self.content_preview,
            aside: None,
            is_pinned: self.is_pinned,
        }
    }
}
