//! `set_relevant_context`: declares what matters to a session.

use contract::pretty::pretty;
use contract::{
    Access, CallerSession, CliShape, Cx, Example, FlagSwitch, Op, OpInfo, Pretty, not_recorded,
};
use model::OpError;
use model::context::{ContextMode, ContextSets};
use model::session::Session;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::session_events::{self, ListChange};
use store::{Tx, context as stored, sessions};

use crate::change::{Directories, SetChange};
use crate::list::A_SESSION;
use crate::target;

pub(crate) struct SetRelevantContext;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetContextParams {
    /// `files`, `endpoints`, `ports`, `applet` or your own.
    #[serde(rename = "setName")]
    set_name: String,
    /// Up to 10; `[]` clears.
    items: Vec<String>,
    /// Replace the set, or add to it.
    #[serde(default)]
    mode: ContextMode,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// Whether an unknown session is refused and not created. Not in the schema: the command line adds it.
    #[serde(default)]
    #[schemars(skip)]
    known_session: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SetContextOutput {
    /// The change, in one sentence.
    message: String,
    session_id: String,
    /// All sets of the session after the change.
    context: ContextSets,
    /// Items that did not fit into the set.
    dropped: Vec<String>,
    /// The name of the set is probably misspelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl Op for SetRelevantContext {
    const INFO: OpInfo = OpInfo {
        name: "set_relevant_context",
        summary: "Declare the files, endpoints or ports that matter to this session",
        doc: "Call it when one becomes central, and before you finish: a resumed session gets them back.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: "sessions",
        core: true,
        advanced: &["session_id"],
        hidden: &["known_session"],
        upfront: true,
        brief: None,
        text: Some(|_, output| output["message"].as_str().unwrap_or_default().to_owned()),
        cli: CliShape {
            path: &["context", "set"],
            positional: &["setName", "items"],
            rest: true,
            defaults: &[("known_session", "true")],
            flag_aliases: &[("session_id", "session")],
            help: &[("items", "Up to 10 words; `rekindle context clear` removes a set.")],
            switches: &[FlagSwitch {
                flag: "merge",
                param: "mode",
                json: r#""merge""#,
                doc: "Add the items to the set",
            }],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[
            Example {
                title: "The files of a task",
                before: A_SESSION,
                params: r#"{"setName":"files","items":["/srv/shop/docs/cart.md"],"session_id":"s-1"}"#,
            },
            Example {
                title: "One more port",
                before: A_SESSION,
                params: r#"{"setName":"ports","items":["8080"],"mode":"merge","session_id":"s-1"}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = SetContextParams;
    type Output = SetContextOutput;

    fn run(&self, cx: &Cx<'_>, params: SetContextParams) -> Result<SetContextOutput, OpError> {
        let SetContextParams { set_name, items, mode, session_id, known_session } = params;
        let change = SetChange { set_name, items, mode };
        change.check()?;
        let name = target::name(cx, session_id)?;
        if known_session {
            target::refuse_unknown(cx, &name)?;
        }
        let write = ContextWrite::new(cx, name);
        cx.store.write(move |tx| {
            let (session, before) = write.read(tx)?;
            let mut sets = before.clone();
            let dropped = change.apply(&mut sets, &write.directories, session.root.as_deref())?;
            write.store(tx, &session, (&before, &sets), Some(&change.set_name))?;
            let (name, count) = (&change.set_name, sets.of(&change.set_name).len());
            let message = match change.mode {
                _ if change.clears() => format!("Cleared {name}"),
                ContextMode::Replace => format!("Set {name}: {count} items"),
                ContextMode::Merge => format!("Merged {name}: {count} items"),
            };
            let warning = change.warning();
            let session_id = session.session_id;
            Ok(SetContextOutput { message, session_id, context: sets, dropped, warning })
        })
    }
}

/// A write to the context of a session.
pub(crate) struct ContextWrite {
    pub(crate) directories: Directories,
    session: CallerSession,
    added_by: &'static str,
    now: i64,
}

impl ContextWrite {
    pub(crate) fn new(cx: &Cx<'_>, session: String) -> ContextWrite {
        let home = cx.caller.home().map(|home| home.to_string_lossy().into_owned());
        ContextWrite {
            directories: Directories { home, cwd: cx.caller.situation.cwd.clone() },
            session: cx.caller.session_named(session, cx.config, cx.now),
            added_by: cx.caller.tier.word(),
            now: cx.now,
        }
    }

    /// The session, created if it is new, and its sets.
    pub(crate) fn read(&self, tx: &Tx<'_>) -> Result<(Session, ContextSets), OpError> {
        if let Some(why) = self.session.refused(tx)? {
            return Err(not_recorded(why));
        }
        // A declaration is no turn of the agent. The times of a known session stay as they are: otherwise an old
        // session that a user names would become the one that was active last. A new session is idle, because no end of
        // a turn will follow.
        let session = match sessions::by_name(tx, &self.session.name)? {
            Some(session) => session,
            None => self.created(tx)?,
        };
        let sets = stored::of_session(tx, session.id)?;
        Ok((session, sets))
    }

    fn created(&self, tx: &Tx<'_>) -> Result<Session, OpError> {
        let gone = || OpError::internal("the session is gone");
        let seen = self.session.resolve(tx)?.ok_or_else(gone)?;
        sessions::idle(tx, seen.id)?;
        ListChange::Started.note(tx, (Some(seen.project), &self.session.name))?;
        sessions::by_id(tx, seen.id)?.ok_or_else(gone)
    }

    /// Stores the sets and publishes them, unless nothing changed. `set_name` is the changed set, if only one changed.
    pub(crate) fn store(
        &self,
        tx: &Tx<'_>,
        session: &Session,
        (before, sets): (&ContextSets, &ContextSets),
        set_name: Option<&str>,
    ) -> Result<(), OpError> {
        if sets == before {
            return Ok(());
        }
        let of = (Some(session.project_id), session.session_id.as_str());
        let version = session_events::context_changed(tx, of, sets, set_name)?;
        stored::replace(tx, session.id, sets, (self.now, self.added_by), version)
    }
}

impl Pretty for SetRelevantContext {
    fn pretty(params: &SetContextParams, output: &SetContextOutput, _: usize) -> String {
        let message =
            target::in_numbers(&output.message, output.context.of(&params.set_name).len());
        let session = target::guessed(params.session_id.as_deref(), &output.session_id);
        let mut lines = vec![format!("✔ {message}{session}")];
        let line = |item: &String| text::one_line(item, model::limits::PREVIEW_CHARS);
        let dropped: Vec<String> = output.dropped.iter().map(line).collect();
        if !dropped.is_empty() {
            lines.push(format!("  did not fit: {}", dropped.join(", ")));
        }
        lines.extend(
            output
                .warning
                .iter()
                .map(|warning| format!("  {}", text::one_line(warning, usize::MAX))),
        );
        lines.join("\n")
    }
}
