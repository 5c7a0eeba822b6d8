//! `session_trace`: the prompts of a session in order, each with what it caused.

use std::borrow::Cow;
use std::collections::HashMap;

use contract::pretty::{notes, pretty, refusal};
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::observation::ObsType;
use model::session::Summary;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::history::{self, Step, Turn};
use store::{Rx, sessions};

use crate::examples;
use crate::next_steps;
use crate::note::Note;
use crate::replaced::{self, TalkStatement};
use crate::show::{self, RecordRow};
use contract::TimeBound;

pub(crate) struct SessionTrace;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionTraceParams {
    /// From `get_observations`.
    session_id: String,
    /// As in search.
    #[serde(default)]
    before: Option<TimeBound>,
    /// As in search.
    #[serde(default)]
    after: Option<TimeBound>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionTraceOutput {
    session_id: String,
    project: String,
    agent: String,
    /// Seconds since 1970, UTC.
    started_at: i64,
    ended_at: Option<i64>,
    summary: Option<Summary>,
    /// In order of time.
    prompts: Vec<TracedPrompt>,
    /// Whether there is more after the last observation shown; go on with `after`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
    /// When this was answered, RFC 3339: ages count from here.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    answered_at: i64,
}

/// A prompt and what it caused.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct TracedPrompt {
    /// None for observations without a prompt, and for those whose prompt is outside of `after` and `before`.
    prompt_id: Option<i64>,
    timestamp: i64,
    /// `user` or `agent`; `system` if there is no prompt.
    source: Cow<'static, str>,
    content: Option<String>,
    /// `replaced by #ID` if a newer record says that this is no longer so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    observation_count: usize,
    /// In order of time.
    observations: Vec<Traced>,
}

/// An observation in short.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Traced {
    id: i64,
    timestamp: i64,
    #[schemars(with = "String")]
    obs_type: ObsType,
    file_path: Option<String>,
    content_preview: String,
    is_pinned: bool,
    /// `replaced by #ID` if a newer record says that this is no longer so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Op for SessionTrace {
    const INFO: OpInfo = OpInfo {
        name: "session_trace",
        summary: "Follow a session: its prompts and what each caused",
        doc: "Call it to see how a task went from its beginning.",
        toolset: "memory",
        core: true,
        advanced: &["before", "after"],
        cli: CliShape {
            path: &["trace"],
            positional: &["session_id"],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            refusal: Some(refusal::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "How did this session go?",
            before: examples::A_SESSION,
            params: r#"{"session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = SessionTraceParams;
    type Output = SessionTraceOutput;

    fn run(&self, cx: &Cx<'_>, params: SessionTraceParams) -> Result<SessionTraceOutput, OpError> {
        let before = params.before.as_ref().map(|when| when.before(cx.now));
        let after = params.after.as_ref().map(|when| when.after(cx.now));
        cx.store.read(|rx| {
            let session = sessions::find(rx, &params.session_id, cx.caller.session_id_form())?;
            let summary = next_steps::summary_now(rx, &session)?;
            let turns = history::trace(rx, session.id, before, after)?;
            let replaced = replaced::replacing(rx, statements(rx, session.project_id, &turns))?;
            let shown: usize = turns.iter().map(|turn| turn.observations.len()).sum();
            Ok(SessionTraceOutput {
                session_id: session.session_id,
                project: session.project,
                agent: session.agent,
                started_at: session.started_at.div_euclid(1000),
                ended_at: session.ended_at.map(|at| at.div_euclid(1000)),
                summary,
                prompts: turns.into_iter().map(|turn| TracedPrompt::new(turn, &replaced)).collect(),
                partial: shown >= limits::TRACE_ROWS_MAX,
                answered_at: cx.now.div_euclid(1000),
            })
        })
    }
}

/// The statements of a session that a newer record may have replaced, with the session's project.
fn statements(
    rx: &Rx<'_>,
    project: i64,
    turns: &[Turn],
) -> impl Iterator<Item = (i64, TalkStatement)> {
    turns.iter().flat_map(move |turn| {
        let id = turn.prompt.as_ref().map(|prompt| prompt.id);
        let asked = turn.prompt.iter().map(move |prompt| {
            let (at, kind) = (prompt.at, ObsType::UserPrompt);
            TalkStatement::new(rx, (prompt.id, at), kind, id, &prompt.content)
        });
        let told = turn.observations.iter().map(move |seen| {
            TalkStatement::new(rx, (seen.id, seen.at), seen.obs_type, id, &seen.content)
        });
        asked.chain(told).map(move |said| (project, said))
    })
}

/// The note on a record that a newer one replaced.
fn note(replaced: &HashMap<i64, i64>, id: i64) -> Option<String> {
    replaced.get(&id).map(|newer| Note::ReplacedBy(*newer).text())
}

impl TracedPrompt {
    fn new(turn: Turn, replaced: &HashMap<i64, i64>) -> TracedPrompt {
        let Turn { prompt, observations } = turn;
        let first = observations.first().map_or(0, |seen| seen.at.div_euclid(1000));
        let observations: Vec<Traced> =
            observations.into_iter().map(|seen| Traced::new(seen, replaced)).collect();
        TracedPrompt {
            prompt_id: prompt.as_ref().map(|prompt| prompt.id),
            timestamp: prompt.as_ref().map_or(first, |prompt| prompt.at.div_euclid(1000)),
            source: prompt.as_ref().map_or("system", |prompt| prompt.source.word()).into(),
            note: prompt.as_ref().and_then(|prompt| note(replaced, prompt.id)),
            content: prompt.map(|prompt| prompt.content),
            observation_count: observations.len(),
            observations,
        }
    }
}

impl Traced {
    fn new(seen: Step, replaced: &HashMap<i64, i64>) -> Traced {
        Traced {
            note: note(replaced, seen.id),
            id: seen.id,
            timestamp: seen.at.div_euclid(1000),
            obs_type: seen.obs_type,
            content_preview: show::preview(seen.content),
            file_path: seen.file_path,
            is_pinned: seen.is_pinned,
        }
    }
}

impl Pretty for SessionTrace {
    fn pretty(_: &SessionTraceParams, output: &SessionTraceOutput, width: usize) -> String {
        let now = output.answered_at;
        let over = if output.ended_at.is_none() { "" } else { ", ended" };
        let mut lines = vec![format!(
            "{} in {} by {}, started {}{over}",
            show::line(&output.session_id),
            show::line(&output.project),
            show::line(&output.agent),
            show::age_and_date(output.started_at, now),
        )];
        let intent = output.summary.as_ref().map(|summary| &summary.intent);
        lines.extend(intent.filter(|intent| !intent.is_empty()).map(|intent| show::line(intent)));
        for prompt in &output.prompts {
            lines.push(String::new());
            let age = show::age_and_date(prompt.timestamp, now);
            lines.push(match (&prompt.content, prompt.prompt_id) {
                (Some(content), Some(id)) => {
                    let note = prompt.note.as_ref().map(|note| format!(" [{note}]"));
                    format!("#{id} {age}: {}{}", show::line(content), note.unwrap_or_default())
                }
                _ => format!("{age}: the session itself"),
            });
            let rows = prompt.observations.iter().map(Traced::row);
            lines.extend(show::records_below(rows, now, width));
        }
        lines.join("\n")
    }

    fn notes(_: &SessionTraceParams, output: &SessionTraceOutput) -> Vec<String> {
        let more = "there are more actions; --after with the time of the last one shows them";
        output.partial.then(|| more.to_owned()).into_iter().collect()
    }

    fn refusal(params: &SessionTraceParams, now_ms: i64) -> Option<OpError> {
        show::empty_time(params.after.as_ref(), params.before.as_ref(), now_ms)
    }
}

impl Traced {
    fn row(&self) -> RecordRow<'_> {
        RecordRow {
            mark: "",
            id: self.id,
            timestamp: self.timestamp,
            kind: self.obs_type.into(),
            project: "",
            session: "",
            file: None,
            text: &self.content_preview,
            aside: self.note.clone(),
            is_pinned: self.is_pinned,
        }
    }
}
