//! `get_relevant_context`: the declared context of a session.

use contract::pretty::{notes, pretty};
use contract::{CliShape, Cx, Example, Op, OpInfo, Pretty, Tier};
use model::context::{self, ContextSets};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{context as stored, sessions};

use crate::target;

pub(crate) struct GetRelevantContext;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetContextParams {
    /// Only this set.
    #[serde(default, rename = "setName")]
    set_name: Option<String>,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GetContextOutput {
    context: ContextSets,
    session_id: String,
    /// Says that the session has no context, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl Op for GetRelevantContext {
    const INFO: OpInfo = OpInfo {
        name: "get_relevant_context",
        summary: "Show what a session declared to matter",
        doc: "Call it when you go on with a session.",
        toolset: "sessions",
        core: true,
        advanced: &["session_id"],
        brief: None,
        text: Some(|_, output| as_text(&output["context"])),
        cli: CliShape {
            path: &["context", "get"],
            positional: &["setName"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Everything",
            before: &[(
                "set_relevant_context",
                r#"{"setName":"ports","items":["8080"],"session_id":"s-1"}"#,
            )],
            params: r#"{"session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = GetContextParams;
    type Output = GetContextOutput;

    fn run(&self, cx: &Cx<'_>, params: GetContextParams) -> Result<GetContextOutput, OpError> {
        let GetContextParams { set_name, session_id } = params;
        set_name.iter().try_for_each(|name| context::check_set_name("setName", name))?;
        let session_id = target::name(cx, session_id)?;
        let found = cx.store.read(|rx| {
            let id = sessions::id_of(rx, &session_id)?;
            id.map(|id| stored::of_session(rx, id)).transpose()
        })?;
        // A user may have misspelled the id.
        let empty = match found.is_none() && cx.caller.tier == Tier::Person {
            true => format!("{EMPTY}: no session with this id is known"),
            false => EMPTY.to_owned(),
        };
        let found = found.unwrap_or_default();
        let context = match set_name {
            Some(name) => {
                let items = found.of(&name).to_vec();
                ContextSets::new(vec![(name, items)])
            }
            None => found,
        };
        let message = context.is_empty().then_some(empty);
        Ok(GetContextOutput { context, session_id, message })
    }
}

impl Pretty for GetRelevantContext {
    fn pretty(params: &GetContextParams, output: &GetContextOutput, _: usize) -> String {
        if is_empty(output) {
            if params.set_name.is_some() {
                // The note says that there is no such set.
                return String::new();
            }
            let session = target::guessed(params.session_id.as_deref(), &output.session_id);
            return format!("{}{session}", output.message.as_deref().unwrap_or(EMPTY));
        }
        let mut lines = Vec::new();
        for (name, items) in output.context.iter() {
            lines.push(format!("{}:", text::one_line(name, limits::PREVIEW_CHARS)));
            let line = |item: &String| {
                format!("  {}", text::one_line(item, limits::CONTEXT_ITEM_CHARS_MAX))
            };
            lines.extend(items.iter().map(line));
        }
        lines.join("\n")
    }

    fn notes(params: &GetContextParams, output: &GetContextOutput) -> Vec<String> {
        let named = params.set_name.as_ref().filter(|_| is_empty(output));
        let session = target::guessed(params.session_id.as_deref(), &output.session_id);
        let note = |name: &String| {
            let name = text::one_line(name, limits::PREVIEW_CHARS);
            format!(
                "this session has no set '{name}'{session}; `rekindle context get` shows its sets"
            )
        };
        named.map(note).into_iter().collect()
    }
}

fn is_empty(output: &GetContextOutput) -> bool {
    output.context.iter().all(|(_, items)| items.is_empty())
}

/// The sets as JSON, or the sentence for an empty context.
fn as_text(context: &Value) -> String {
    let is_empty = context.as_object().is_none_or(serde_json::Map::is_empty);
    match is_empty {
        true => EMPTY.to_owned(),
        false => serde_json::to_string_pretty(context).unwrap_or_default(),
    }
}

/// The text for an empty context.
pub(crate) const EMPTY: &str = "No context stored for this session";
