//! `clear_context`: removes one set of a session, some of its items, or all sets.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::context::{self, ContextMode, ContextSets};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::SetChange;
use crate::set::ContextWrite;
use crate::target::BY_PEOPLE;
use crate::{get, target};

pub(crate) struct ClearContext;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClearContextParams {
    /// The set to remove.
    #[serde(default, rename = "setName")]
    set_name: Option<String>,
    /// Remove only these items of the set. Others stay, also those that were added meanwhile.
    #[serde(default)]
    items: Option<Vec<String>>,
    /// Remove all sets.
    #[serde(default)]
    all: bool,
    /// The session; yours if left out.
    #[serde(default)]
    session_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ClearContextOutput {
    /// The change, in one sentence.
    message: String,
    session_id: String,
    /// The sets that are left.
    context: ContextSets,
}

impl Op for ClearContext {
    const INFO: OpInfo = OpInfo {
        name: "clear_context",
        summary: "Remove a set of a session's context, items of it, or all sets",
        doc: "Needs either `setName`, the name of an existing set, or `all`.",
        access: Access::Write { destructive: true, idempotent: true },
        tiers: BY_PEOPLE,
        toolset: "sessions",
        cli: CliShape {
            path: &["context", "clear"],
            positional: &["setName"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "The ports are not in use any more",
            before: &[(
                "set_relevant_context",
                r#"{"setName":"ports","items":["8080"],"session_id":"s-1"}"#,
            )],
            params: r#"{"setName":"ports","session_id":"s-1"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ClearContextParams;
    type Output = ClearContextOutput;

    fn run(&self, cx: &Cx<'_>, params: ClearContextParams) -> Result<ClearContextOutput, OpError> {
        let ClearContextParams { set_name, items, all, session_id } = params;
        set_name.iter().try_for_each(|name| context::check_set_name("setName", name))?;
        if all == set_name.is_some() {
            return Err(OpError::invalid("setName", "one set or all of them: which?").hint(
                "Give the name of a set, or `--all`; `rekindle context get` lists the sets.",
            ));
        }
        if items.is_some() && all {
            return Err(OpError::invalid("items", "`items` cannot be combined with `all`")
                .hint("Give the name of their set."));
        }
        let write = ContextWrite::new(cx, target::known(cx, session_id)?.session_id);
        cx.store.write(move |tx| {
            let (session, before) = write.read(tx)?;
            let names: Vec<String> = match &set_name {
                Some(name) if before.of(name).is_empty() => {
                    let name = text::one_line(name, limits::CONTEXT_ITEM_CHARS_SHOWN);
                    return Err(OpError::not_found(format!("the session has no set '{name}'"))
                        .hint(
                            "`rekindle context get` lists the sets; `--all` removes all of them.",
                        ));
                }
                Some(name) => vec![name.clone()],
                None => before.iter().map(|(name, _)| name.to_owned()).collect(),
            };
            let mut sets = before.clone();
            for set_name in &names {
                let mut left = Vec::new();
                if let Some(items) = items.clone() {
                    let named =
                        SetChange { set_name: set_name.clone(), items, ..SetChange::default() };
                    let named = named.stored_items(&write.directories, session.root.as_deref())?;
                    left.extend(before.of(set_name).iter().filter(|item| !named.contains(item)));
                }
                sets.change(set_name, left.into_iter().cloned().collect(), ContextMode::Replace)?;
            }
            write.store(tx, &session, (&before, &sets), set_name.as_deref())?;
            let removed = before.count() - sets.count();
            let message = match (names.is_empty(), &items) {
                (true, _) => get::EMPTY.to_owned(),
                (false, None) => format!("Cleared {}", names.join(", ")),
                (false, Some(_)) => {
                    format!("Removed {} from {}", text::counted(removed, "item"), names.join(", "))
                }
            };
            Ok(ClearContextOutput { message, session_id: session.session_id, context: sets })
        })
    }
}

impl Pretty for ClearContext {
    fn pretty(params: &ClearContextParams, output: &ClearContextOutput, _: usize) -> String {
        let session = target::guessed(params.session_id.as_deref(), &output.session_id);
        format!("✔ {}{session}", text::one_line(&output.message, usize::MAX))
    }
}
