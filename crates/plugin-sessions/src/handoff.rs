//! `handoff`: the work of a session as one text for another agent.

use std::path::Path;

use contract::pretty::pretty;
use contract::{Candidate, CliShape, Cx, Example, Moment, Op, OpInfo, Pretty, Slot};
use model::entry::EntryPath;
use model::hook::{BLOCK_END, HANDOFF};
use model::{OpError, context as sets, limits, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{context, session_details, sessions};

use crate::{resume, target};

pub(crate) struct Handoff;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandoffParams {
    /// The agent that takes over, as `codex`.
    #[serde(default)]
    to: Option<String>,
    /// The session; yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// The most tokens, from 200 to 2,400.
    #[serde(default)]
    tokens: Option<usize>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct HandoffOutput {
    session_id: String,
    text: String,
    /// Estimated number of tokens of the text.
    tokens: usize,
}

impl Op for Handoff {
    const INFO: OpInfo = OpInfo {
        name: "handoff",
        summary: "Write up a session for an agent that takes it over",
        doc: "One text: intent, what was done, what failed, open ends, files and declared context, decisions. It is made \
              of records; no model is asked.",
        toolset: "sessions",
        cli: CliShape {
            path: &["handoff"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            verbatim: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Codex goes on with a session",
            before: &[
                (
                    "hook",
                    r#"{"event":"UserPromptSubmit","at":1767261600000,"payload":{"session_id":"s-1","cwd":"/home/you/web","prompt":"Fix the login bug in the auth module"}}"#,
                ),
                (
                    "set_relevant_context",
                    r#"{"setName":"ports","items":["8080"],"session_id":"s-1"}"#,
                ),
            ],
            params: r#"{"session_id":"s-1","to":"codex"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = HandoffParams;
    type Output = HandoffOutput;

    fn run(&self, cx: &Cx<'_>, params: HandoffParams) -> Result<HandoffOutput, OpError> {
        let HandoffParams { to, session_id, tokens } = params;
        let known = || agents::AGENTS.iter().map(|agent| agent.name);
        if let Some(to) = &to
            && !known().any(|name| name == to)
        {
            let shown = text::one_line(to, limits::PREVIEW_CHARS);
            let names: Vec<&str> = known().collect();
            let meant = text::suggest::did_you_mean(to, known());
            let meant = meant.map(|meant| format!("{meant} ")).unwrap_or_default();
            return Err(OpError::invalid("to", format!("no agent is called '{shown}'"))
                .hint(format!("{meant}The agents are {}.", names.join(", "))));
        }
        let tokens = tokens.unwrap_or(limits::HANDOFF_TOKENS_DEFAULT);
        let (least, most) = (limits::HANDOFF_TOKENS_MIN, limits::HANDOFF_TOKENS_MAX);
        if !(least..=most).contains(&tokens) {
            let message = format!("tokens is from {least} to {most}, not {tokens}");
            return Err(OpError::invalid("tokens", message).with("min", least).with("max", most));
        }
        let session_id = target::known(cx, session_id)?.session_id;
        // The last line takes one token.
        let asked =
            json!({ "for": "handoff", "session_id": session_id, "to": to, "tokens": tokens - 1 });
        let told = cx.call("briefing", asked)?;
        let text = told["text"].as_str().unwrap_or_default().trim_end();
        // Without an end line, the text could not be told from the prompt that it is pasted into.
        let text = format!("{text}\n{BLOCK_END}");
        let tokens = text::tokens::estimate(&text);
        Ok(HandoffOutput { session_id, text, tokens })
    }
}

impl Pretty for Handoff {
    fn pretty(_: &HandoffParams, output: &HandoffOutput, _: usize) -> String {
        output.text.clone()
    }
}

/// The lines above the sections, and the declared context.
pub(crate) fn candidates(
    moment: &Moment<'_>,
    to: Option<&str>,
    tokens: usize,
) -> Result<Vec<Candidate>, OpError> {
    let Some(name) = moment.session else { return Ok(Vec::new()) };
    let found = moment.store.read(|rx| {
        let Some(session) = sessions::by_name(rx, name)? else { return Ok(None) };
        let declared = context::of_session(rx, session.id)?;
        let hint = session_details::of_session(rx, session.id)?.env_hint;
        Ok(Some((session, declared, hint)))
    })?;
    let Some((session, declared, hint)) = found else { return Ok(Vec::new()) };
    let to = to.map(|to| format!(" to {to}")).unwrap_or_default();
    let mut head = vec![
        format!("{}{}{to}]", HANDOFF.first, session.agent),
        format!(
            "Another agent's session in {}, last active {}. {}",
            session.project,
            time::age(session.last_at, moment.now),
            HANDOFF.second
        ),
    ];
    head.extend(session.root.as_ref().map(|root| format!("Directory: {root}")));
    // The task and the work need the other half of the text.
    let half = text::tokens::chars(tokens) / 2;
    let room = half.saturating_sub(head.iter().map(|line| line.chars().count() + 1).sum());
    let hint = hint.filter(|_| room > limits::ENV_HINT_SHOWN_MIN);
    head.extend(hint.map(|hint| text::line_of_words(&resume::env_hint(&hint), room)));
    let path = EntryPath::format("session", &[name]);
    let row = |slot: Slot, place: usize, first: String, more: Vec<String>| Candidate {
        path: path.clone(),
        same_as: Some(format!("{path}#{place}")),
        stamp: moment.now,
        // Declared items lead their section.
        score: 2.0 - 0.01 * place as f64,
        reasons: vec!["the session declared it".to_owned()],
        cells: vec![first],
        more,
        ..Candidate::new(slot)
    };
    let mut rows = vec![row(Slot::Resume, 0, head.remove(0), head)];
    let root = session.root.as_deref().unwrap_or_default();
    let files = declared.of(sets::FILES).iter().filter(|path| Path::new(path).exists());
    let short = |path: &String| {
        let below = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        below.filter(|_| !root.is_empty()).unwrap_or(path).to_owned()
    };
    let files: Vec<String> = files.map(short).collect();
    if !files.is_empty() {
        let line = format!("declared: {}", files.join(", "));
        rows.push(row(Slot::HandoffFiles, 1, line, Vec::new()));
    }
    let others = resume::sections(&declared, |_| true).into_iter();
    let others = others.filter(|lines| lines.first().is_some_and(|line| line != resume::FILES));
    for (place, mut lines) in others.enumerate() {
        let first = lines.remove(0);
        rows.push(row(Slot::HandoffFiles, place + 2, first, lines));
    }
    Ok(rows)
}
