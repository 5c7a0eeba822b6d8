//! `briefing`: the text that a hook would inject now.

use std::sync::Arc;

use contract::pretty::pretty;
use contract::{
    BriefingForm, CliShape, Cx, Example, Moment, Occasion, Op, OpInfo, Pretty, not_recorded,
};
use model::hook::Source;
use model::{OpError, limits};
use place::{NotCaptured, PlaceSource as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::sessions;
use text::HostLimits;

use super::BuiltinState;
use crate::tell::situation;

/// The setting of the observations plugin that turns on blocks at prompts.
const AT_PROMPTS: &str = "briefing.at_prompts";

pub(super) struct Briefing(pub(super) Arc<BuiltinState>);

/// The occasion that a briefing is for.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum For {
    /// A session starts.
    #[default]
    Startup,
    /// A session is resumed.
    Resume,
    /// The agent's context was compacted.
    Compact,
    /// The user sent a prompt.
    Prompt,
    /// Another agent takes over the session.
    Handoff,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BriefingParams {
    /// The project to brief about; by default the one of the caller's directory.
    #[serde(default)]
    project: Option<String>,
    /// The occasion that it is for.
    #[serde(default, rename = "for")]
    moment: For,
    /// The text of the prompt, for `prompt`.
    #[serde(default)]
    prompt: Option<String>,
    /// The session that the text is for, if it is one that goes on.
    #[serde(default)]
    session_id: Option<String>,
    /// The agent that takes over, for `handoff`.
    #[serde(default)]
    to: Option<String>,
    /// The most tokens, for `handoff`.
    #[serde(default)]
    tokens: Option<usize>,
    /// The format of the text; `nmem` is that of its specification.
    #[serde(default)]
    form: BriefingForm,
    /// Also list the reasons for each line, and the candidates that were left out.
    #[serde(default)]
    explain: bool,
    /// A tool asks a question instead: the query, its sources, the most rows of each source, and the directory.
    #[serde(default)]
    #[schemars(skip)]
    query: Option<String>,
    #[serde(default)]
    #[schemars(skip)]
    sources: Vec<String>,
    #[serde(default)]
    #[schemars(skip)]
    limit: usize,
    #[serde(default)]
    #[schemars(skip)]
    cwd: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct BriefingOutput {
    /// The text that a hook would inject; empty if there is nothing to say.
    text: String,
    /// Estimated number of tokens.
    tokens: usize,
    /// Why there is no text, if nothing is captured here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_captured: Option<NotCaptured>,
    /// Names the setting that turned the text off, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    told: Vec<ToldLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOutLine>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct ToldLine {
    path: String,
    score: f64,
    reasons: Vec<String>,
    tokens: usize,
    /// Whether the end of its text is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct LeftOutLine {
    path: String,
    score: f64,
    why: String,
}

impl BriefingParams {
    fn occasion(&self) -> Occasion<'_> {
        if let Some(query) = &self.query {
            let tokens = self.tokens.unwrap_or(limits::CONTEXT_TOKENS_DEFAULT);
            return Occasion::Question { query, sources: &self.sources, limit: self.limit, tokens };
        }
        match self.moment {
            For::Startup => Occasion::SessionStart(Source::Startup),
            For::Resume => Occasion::SessionStart(Source::Resume),
            For::Compact => Occasion::SessionStart(Source::Compact),
            For::Prompt => Occasion::Prompt(self.prompt.as_deref().unwrap_or_default()),
            For::Handoff => Occasion::Handoff {
                to: self.to.as_deref(),
                tokens: self.tokens.unwrap_or(limits::HANDOFF_TOKENS_DEFAULT),
            },
        }
    }
}

impl Op for Briefing {
    const INFO: OpInfo = OpInfo {
        name: "briefing",
        summary: "Show the text that a hook would inject now",
        doc: "By default the text that a session gets when it starts in your directory; `for` and `project` \
              select another occasion or project. Nothing is recorded.",
        toolset: "memory",
        hidden: &["query", "sources", "limit", "cwd"],
        cli: CliShape {
            path: &["briefing"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "What would a new session be told?",
            before: &[],
            params: r#"{"explain":true}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = BriefingParams;
    type Output = BriefingOutput;

    fn run(&self, cx: &Cx<'_>, params: BriefingParams) -> Result<BriefingOutput, OpError> {
        let inner = self.0.inner()?;
        let find =
            |id: &String| cx.store.read(|rx| sessions::find(rx, id, cx.caller.session_id_form()));
        let session = params.session_id.as_ref().map(find).transpose()?;
        let root = session.as_ref().and_then(|session| session.root.as_deref());
        let root = params.cwd.as_deref().or(root);
        let of_session = root.map(|root| (situation(Some(root)), inner.places.at(Some(root))));
        let (situation, place) = match &of_session {
            Some((situation, place)) => (situation, place),
            None => (&cx.caller.situation, cx.caller.place()),
        };
        let occasion = params.occasion();
        let is_question = matches!(occasion, Occasion::Question { .. });
        let agent = session.as_ref().map(|session| session.agent.as_str());
        let moment = Moment {
            occasion,
            session: session.as_ref().map(|session| session.session_id.as_str()),
            project: params.project.as_deref(),
            form: params.form,
            host: match occasion {
                // No hook hands these texts on.
                Occasion::Question { .. } | Occasion::Handoff { .. } => HostLimits::NONE,
                _ => agents::host_limits(agent),
            },
            situation,
            place,
            ran_in: place,
            // The answer to a question is the same for a minute.
            now: if is_question { cx.now - cx.now.rem_euclid(60_000) } else { cx.now },
            config: cx.config,
            store: cx.store.whole(),
        };
        let made = inner.assemble(&moment)?;
        let tokens = text::tokens::estimate(&made.text);
        let is_off = matches!(occasion, Occasion::Prompt(_)) && !cx.config.boolean(AT_PROMPTS);
        let note = (is_off && made.text.is_empty()).then(|| {
            format!("{AT_PROMPTS} is off: prompts are not answered with earlier work. Turn it on with `rekindle config set {AT_PROMPTS} true`.")
        });
        let (text, not_captured) = (made.text, made.not_captured);
        if !params.explain {
            let (told, left_out) = (vec![], vec![]);
            return Ok(BriefingOutput { text, tokens, not_captured, note, told, left_out });
        }
        let told = made.told.into_iter().map(|told| ToldLine {
            path: told.path,
            score: shown(told.score),
            reasons: told.reasons,
            tokens: told.tokens,
            cut: told.is_cut,
        });
        let left_out = made.left_out.into_iter().map(|left| LeftOutLine {
            path: left.path,
            score: shown(left.score),
            why: left.why.to_owned(),
        });
        Ok(BriefingOutput {
            text,
            tokens,
            not_captured,
            note,
            told: told.collect(),
            left_out: left_out.collect(),
        })
    }
}

/// Two decimals are enough to compare scores.
fn shown(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}

impl Pretty for Briefing {
    fn pretty(_: &BriefingParams, output: &BriefingOutput, _: usize) -> String {
        let mut text = output.text.clone();
        if text.is_empty() {
            let why = output.not_captured.map(|why| not_recorded(why).message);
            let note = why.as_deref().or(output.note.as_deref());
            let note = note.unwrap_or("Nothing worth saying yet.");
            text = format!("{note}\n");
        }
        let told = output.told.iter().map(|ToldLine { path, score, reasons, tokens, .. }| {
            format!(
                "  {path}  score {score:?}, {}: {}",
                text::counted(tokens, "token"),
                reasons.join("; ")
            )
        });
        let left_out = output
            .left_out
            .iter()
            .map(|LeftOutLine { path, score, why }| format!("  {path}  score {score:?}: {why}"));
        for (head, lines) in [("Told", told.collect::<Vec<_>>()), ("Left out", left_out.collect())]
        {
            if !lines.is_empty() {
                text.push_str(&format!("\n{head}:\n{}\n", lines.join("\n")));
            }
        }
        text
    }
}
