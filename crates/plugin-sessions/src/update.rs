//! `update_session`: names a session, sets its environment hint, and changes its context as a whole or one set of it.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, RestMethod, RestRoute, listing};
use model::context::{ContextMode, ContextSets};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::session_details;
use store::session_events::{self, ListChange};

use crate::change::{SetChange, refuse_secret};
use crate::session::REST_PATH;
use crate::set::ContextWrite;
use crate::target;

pub(crate) struct UpdateSession;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateSessionParams {
    /// The agent's own id; on the command line its first characters will do.
    session_id: String,
    /// Your name for it, up to 200 characters; empty removes it.
    #[serde(default)]
    name: Option<String>,
    /// Commands that prepare a shell for the work, up to 1,024 characters; empty removes it.
    #[serde(default)]
    env_hint: Option<String>,
    /// All sets; they replace those that the session has.
    #[serde(default)]
    context: Option<ContextSets>,
    /// A change of one set, applied after `context`.
    #[serde(default)]
    set_context: Option<SetChange>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UpdateSessionOutput {
    success: bool,
    /// Items that did not fit into their set.
    dropped: Vec<String>,
    /// The name of a set is probably misspelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl Op for UpdateSession {
    const INFO: OpInfo = OpInfo {
        name: "update_session",
        summary: "Name a session, or change its hint or context",
        doc: "At least one of `name`, `env_hint`, `context` and `set_context`. All or nothing is stored.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: "sessions",
        brief: None,
        cli: CliShape {
            path: &["sessions", "rename"],
            positional: &["session_id", "name"],
            rest: true,
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        rest: &[RestRoute::new(RestMethod::Patch, REST_PATH).body(&[
            ("name", "name"),
            ("envHint", "env_hint"),
            ("context", "context"),
            ("setContext", "set_context"),
        ])],
        examples: &[Example {
            title: "A name",
            before: &[(
                "set_relevant_context",
                r#"{"setName":"ports","items":["8080"],"session_id":"s-1"}"#,
            )],
            params: r#"{"session_id":"s-1","name":"Cart rounding"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = UpdateSessionParams;
    type Output = UpdateSessionOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: UpdateSessionParams,
    ) -> Result<UpdateSessionOutput, OpError> {
        let UpdateSessionParams { session_id, name, env_hint, context, set_context } = params;
        if [name.is_some(), env_hint.is_some(), context.is_some(), set_context.is_some()]
            == [false; 4]
        {
            return Err(OpError::invalid("name", "nothing is to be changed")
                .hint("Give at least one of `name`, `env_hint`, `context` and `set_context`."));
        }
        let name = name.map(checked_name);
        let env_hint = env_hint.map(checked_hint);
        let (name, env_hint) = (name.transpose()?, env_hint.transpose()?);
        let whole = context.map(checked).transpose()?;
        set_context.iter().try_for_each(SetChange::check)?;
        let form = cx.caller.session_id_form();
        let session = cx.store.read(|rx| target::find(rx, &session_id, form))?;
        let write = ContextWrite::new(cx, session.session_id);
        cx.store.write(move |tx| {
            let (session, before) = write.read(tx)?;
            let mut sets = before.clone();
            let root = session.root.as_deref();
            if let Some(whole) = &whole {
                sets = ContextSets::default();
                for change in whole {
                    change.apply(&mut sets, &write.directories, root)?;
                }
            }
            let mut dropped = Vec::new();
            if let Some(change) = &set_context {
                dropped = change.apply(&mut sets, &write.directories, root)?;
            }
            let alone = set_context.as_ref().filter(|_| whole.is_none());
            write.store(
                tx,
                &session,
                (&before, &sets),
                alone.map(|change| change.set_name.as_str()),
            )?;
            let mut details = session_details::of_session(tx, session.id)?;
            let before = details.clone();
            if let Some(name) = &name {
                details.label = Some(name.clone()).filter(|name| !name.is_empty());
            }
            if let Some(hint) = &env_hint {
                details.env_hint = Some(hint.clone()).filter(|hint| !hint.is_empty());
            }
            if details != before {
                session_details::put(tx, session.id, &details)?;
            }
            let of = (Some(session.project_id), session.session_id.as_str());
            if details.env_hint != before.env_hint {
                session_events::env_hint_changed(tx, of)?;
            }
            if details.label != before.label {
                ListChange::Renamed.note(tx, of)?;
            }
            let changes = whole.iter().flatten().chain(&set_context);
            let warnings: Vec<String> = changes.filter_map(SetChange::warning).collect();
            let warning = Some(warnings.join("; ")).filter(|warning| !warning.is_empty());
            Ok(UpdateSessionOutput { success: true, dropped, warning })
        })
    }
}

/// A name, trimmed and within its limit.
fn checked_name(name: String) -> Result<String, OpError> {
    if name.chars().any(char::is_control) {
        return Err(OpError::invalid("name", "the name has a line break or a control character"));
    }
    short("name", name, limits::SESSION_LABEL_CHARS_MAX)
}

/// An environment hint, trimmed and within its limit. It is shown as one line, which would join two commands on
/// separate lines into a different command.
pub(crate) fn checked_hint(hint: String) -> Result<String, OpError> {
    let hint = short("env_hint", hint, limits::ENV_HINT_CHARS_MAX)?;
    if hint.chars().any(char::is_control) {
        let message = "env_hint has line breaks or other control characters";
        return Err(
            OpError::invalid("env_hint", message).hint("Join the commands with `&&` or `;`.")
        );
    }
    Ok(hint)
}

impl Pretty for UpdateSession {
    fn pretty(params: &UpdateSessionParams, output: &UpdateSessionOutput, _: usize) -> String {
        let id = listing::line(&params.session_id);
        let mut lines = vec![match params.name.as_deref().map(str::trim) {
            Some("") => format!("✔ {id} has no name"),
            Some(name) => format!("✔ {id} is called {}", listing::line(name)),
            None => format!("✔ changed {id}"),
        }];
        let dropped: Vec<String> = output.dropped.iter().map(|item| listing::line(item)).collect();
        if !dropped.is_empty() {
            lines.push(format!("  did not fit: {}", dropped.join(", ")));
        }
        lines.extend(output.warning.iter().map(|warning| format!("  {}", listing::line(warning))));
        lines.join("\n")
    }
}

/// A text of a user, trimmed and within its limit.
fn short(param: &str, text: String, max: usize) -> Result<String, OpError> {
    let text = text.trim();
    if text.chars().nth(max).is_some() {
        let message = format!("{param} has more than {max} characters");
        return Err(OpError::invalid(param, message).with("max", max));
    }
    refuse_secret(param, text)?;
    Ok(text.to_owned())
}

/// The sets of a whole context as changes, each checked.
fn checked(context: ContextSets) -> Result<Vec<SetChange>, OpError> {
    let changes = context.iter().map(|(name, items)| SetChange {
        set_name: name.to_owned(),
        items: items.to_vec(),
        mode: ContextMode::Replace,
    });
    let changes: Vec<SetChange> = changes.collect();
    changes.iter().try_for_each(SetChange::check)?;
    Ok(changes)
}
