//! `copy_context`: adds the sets of one session to those of another.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::context::{ContextMode, ContextSets};
use model::{OpError, limits, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{context as stored, sessions};

use crate::set::ContextWrite;
use crate::target;

pub(crate) struct CopyContext;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CopyContextParams {
    /// The session whose sets are copied: its id; on the command line its first characters will do.
    from: String,
    /// The session that gets them; yours if left out.
    #[serde(default)]
    session_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CopyContextOutput {
    /// The change, in one sentence.
    message: String,
    session_id: String,
    /// All sets of the session after the change.
    context: ContextSets,
    /// Items that did not fit into their set.
    dropped: Vec<String>,
}

impl Op for CopyContext {
    const INFO: OpInfo = OpInfo {
        name: "copy_context",
        summary: "Add the context of another session to this one",
        doc: "Sets with the same name are merged, own items first. Use it when you take over the work of a session.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: "sessions",
        cli: CliShape {
            path: &["context", "copy"],
            positional: &["from"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Take over the ports of a session",
            before: &[
                (
                    "set_relevant_context",
                    r#"{"setName":"ports","items":["8080"],"session_id":"s-1"}"#,
                ),
                (
                    "set_relevant_context",
                    r#"{"setName":"notes","items":["cart"],"session_id":"s-2"}"#,
                ),
            ],
            params: r#"{"from":"s-1","session_id":"s-2"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = CopyContextParams;
    type Output = CopyContextOutput;

    fn run(&self, cx: &Cx<'_>, params: CopyContextParams) -> Result<CopyContextOutput, OpError> {
        let CopyContextParams { from, session_id } = params;
        session::check_id("from", from.strip_prefix("session://").unwrap_or(&from))?;
        let form = cx.caller.session_id_form();
        let from = cx.store.read(|rx| sessions::find(rx, &from, form))?;
        let name = target::known(cx, session_id)?.session_id;
        if name == from.session_id {
            return Err(OpError::invalid("from", "the context of a session is already its own")
                .hint("Name another session: `rekindle sessions` lists them."));
        }
        let write = ContextWrite::new(cx, name);
        cx.store.write(move |tx| {
            let (session, before) = write.read(tx)?;
            let copied = stored::of_session(tx, from.id)?;
            let (mut sets, mut dropped) = (before.clone(), Vec::new());
            for (name, items) in copied.iter() {
                dropped.extend(sets.change(name, items.to_vec(), ContextMode::Merge)?);
            }
            write.store(tx, &session, (&before, &sets), None)?;
            let count = sets.count().saturating_sub(before.count());
            let message = format!("Copied {}", text::counted(count, "item"));
            let session_id = session.session_id;
            Ok(CopyContextOutput { message, session_id, context: sets, dropped })
        })
    }
}

impl Pretty for CopyContext {
    fn pretty(params: &CopyContextParams, output: &CopyContextOutput, _: usize) -> String {
        let session = target::guessed(params.session_id.as_deref(), &output.session_id);
        let line = |item: &String| text::one_line(item, limits::PREVIEW_CHARS);
        let dropped: Vec<String> = output.dropped.iter().map(line).collect();
        match dropped.is_empty() {
            true => format!("✔ {}{session}", output.message),
            false => {
                format!("✔ {}{session}\n  did not fit: {}", output.message, dropped.join(", "))
            }
        }
    }
}
