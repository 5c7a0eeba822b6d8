//! `assemble_context`: one text about a question, out of learned values, experiences, memories, hints and observations.

use contract::pretty::{notes, pretty};
use contract::{CallTarget, CliShape, Count, Cx, Example, Op, OpInfo, Pretty, listing};
use model::{OpError, limits, memory};
use place::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Rx, ghaps, memories};

use crate::memories::example::A_MEMORY;

pub(crate) struct AssembleContext;

/// A source of context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ContextSource {
    Values,
    Experiences,
    Memories,
    Hints,
    Observations,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AssembleContextParams {
    /// If empty: the best by weight and recency.
    #[serde(default)]
    query: String,
    /// By default the first three.
    #[serde(default)]
    context_types: Vec<ContextSource>,
    /// Items of each type, from 1 to 50.
    #[serde(default = "default_limit")]
    limit: Count,
    /// From 100 to 10000.
    #[serde(default = "default_tokens")]
    max_tokens: usize,
    /// Yours if left out; `*` for all.
    #[serde(default)]
    project: Wanted,
    /// The session in whose directory you ask.
    #[serde(default)]
    session_id: Option<String>,
    /// The directory in whose project you ask.
    #[serde(default)]
    cwd: Option<String>,
    /// Also print the source and the reasons of each item; the result always has them.
    #[serde(default)]
    explain: bool,
}

fn default_limit() -> Count {
    Count::new(limits::CONTEXT_TYPE_ITEMS_DEFAULT)
}

fn default_tokens() -> usize {
    limits::CONTEXT_TOKENS_DEFAULT
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct AssembledContext {
    pub(super) markdown: String,
    /// At most `max_tokens`.
    pub(super) token_count: usize,
    pub(super) item_count: usize,
    /// Whether an item was left out or cut for lack of room.
    pub(super) truncated: bool,
    pub(super) items: Vec<ContextItem>,
}

/// An item of the text.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ContextItem {
    path: String,
    /// `values`, `experiences`, `memories`, `hints` or `observations`.
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    score: f64,
    reasons: Vec<String>,
    tokens: usize,
}

impl Op for AssembleContext {
    const INFO: OpInfo = OpInfo {
        name: "assemble_context",
        summary: "Assemble what was learned about a question into one text",
        doc: "A falsified experience is a warning: it was believed and was wrong.",
        toolset: "learning",
        core: true,
        advanced: &["limit", "session_id", "cwd", "explain"],
        typed_errors: true,
        cli: CliShape {
            path: &["recall"],
            positional: &["query"],
            rest: true,
            flag_aliases: &[
                ("session_id", "session"),
                ("context_types", "type"),
                ("max_tokens", "tokens"),
            ],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            verbatim: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "What is known about releases?",
            before: &[A_MEMORY],
            params: r#"{"query":"build a release","project":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = AssembleContextParams;
    type Output = AssembledContext;

    fn run(&self, cx: &Cx<'_>, params: AssembleContextParams) -> Result<AssembledContext, OpError> {
        memory::check_query(&params.query)?;
        let (least, most) = (limits::CONTEXT_TOKENS_MIN, limits::CONTEXT_TOKENS_MAX);
        if !(least..=most).contains(&params.max_tokens) {
            let message =
                format!("max_tokens is from {least} to {most}, not {}", params.max_tokens);
            return Err(OpError::invalid("max_tokens", message)
                .with("min", least)
                .with("max", most));
        }
        use ContextSource::{Experiences, Memories, Values};
        let sources = match params.context_types.is_empty() {
            true => vec![Values, Experiences, Memories],
            false => params.context_types,
        };
        let limit =
            params.limit.of_caller(cx.caller, "limit", 1..=limits::CONTEXT_TYPE_ITEMS_MAX)?;
        let target = CallTarget::to_read(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let asked = json!({ "query": params.query, "sources": sources, "limit": limit,
            "tokens": params.max_tokens });
        assembled(cx, &target, &params.project, asked)
    }
}

/// Has the assembler answer a question.
pub(super) fn assembled(
    cx: &Cx<'_>,
    target: &CallTarget,
    project: &Wanted,
    mut asked: Value,
) -> Result<AssembledContext, OpError> {
    // A premortem has no `limit` by which its caller could ask for fewer rows.
    let is_whole = asked["sources"][0] == super::premortem::SOURCE;
    asked["explain"] = true.into();
    if let Some(directory) = target.directory() {
        asked["cwd"] = directory.into();
    }
    match project {
        Wanted::Here => {}
        Wanted::All => asked["project"] = "*".into(),
        Wanted::Named(name) => asked["project"] = name.as_str().into(),
    }
    let told = cx.call("briefing", asked)?;
    let markdown = told["text"].as_str().unwrap_or_default().trim_end().to_owned();
    let rows = || told["told"].as_array().into_iter().flatten();
    let left_out = told["left_out"].as_array().into_iter().flatten();
    let is_lost = |left: &&Value| {
        let why = left["why"].as_str().unwrap_or_default();
        why == "there was no room for it" || (is_whole && why == "its section is full")
    };
    let no_room = left_out.filter(is_lost).count() > 0;
    let truncated = no_room || rows().any(|row| row["cut"] == true);
    let items =
        cx.store.read(|rx| rows().map(|row| item(rx, row)).collect::<Result<Vec<_>, _>>())?;
    Ok(AssembledContext {
        token_count: text::tokens::estimate(&markdown),
        item_count: items.len(),
        markdown,
        truncated,
        items,
    })
}

fn item(rx: &Rx<'_>, row: &Value) -> Result<ContextItem, OpError> {
    let path = row["path"].as_str().unwrap_or_default().to_owned();
    let (scheme, id) = path.split_once("://").unwrap_or_default();
    let source = match scheme {
        "ghap" => "experiences",
        "memory" => "memories",
        "value" => "values",
        "hint" => "hints",
        _ => "observations",
    };
    let word = |value: Value| value.as_str().map(str::to_owned);
    let status = match scheme {
        "ghap" => ghaps::by_name(rx, id)?.map(|ghap| ghap.status.word().to_owned()),
        "memory" => memories::by_uuid(rx, id)?.and_then(|one| word(json!(one.status()))),
        "value" => Some("stored".to_owned()),
        _ => None,
    };
    let reasons = row["reasons"].as_array().into_iter().flatten().cloned().filter_map(word);
    let reasons = reasons.collect();
    Ok(ContextItem {
        source: source.to_owned(),
        status,
        score: row["score"].as_f64().unwrap_or_default(),
        reasons,
        tokens: row["tokens"].as_u64().and_then(|count| count.try_into().ok()).unwrap_or_default(),
        path,
    })
}

/// The text, and the reasons below it.
pub(super) fn shown(output: &AssembledContext, explain: bool) -> String {
    let mut lines = vec![output.markdown.clone()];
    if explain {
        lines.push(String::new());
        lines.extend(output.items.iter().map(|item| {
            let status =
                item.status.as_ref().map(|status| format!(", {status}")).unwrap_or_default();
            format!(
                "{}  {}{status}, score {:.2}, {}: {}",
                text::one_line(&item.path, limits::PREVIEW_CHARS),
                item.source,
                item.score,
                text::counted(item.tokens, "token"),
                text::one_line(&item.reasons.join("; "), limits::SHOWN_LINE_CHARS_MAX)
            )
        }));
        let cut = if output.truncated { ", some left out or cut" } else { "" };
        lines.push(format!(
            "{}, {}{cut}",
            text::counted(output.item_count, "item"),
            text::counted(output.token_count, "token")
        ));
    }
    lines.join("\n")
}

impl Pretty for AssembleContext {
    fn pretty(params: &AssembleContextParams, output: &AssembledContext, _: usize) -> String {
        match output.items.is_empty() {
            true => "Nothing was learned about this yet.".to_owned(),
            false => shown(output, params.explain),
        }
    }

    fn notes(params: &AssembleContextParams, _: &AssembledContext) -> Vec<String> {
        listing::limit_note(params.limit, limits::CONTEXT_TYPE_ITEMS_MAX).into_iter().collect()
    }
}
