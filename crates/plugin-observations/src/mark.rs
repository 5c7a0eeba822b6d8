//! `mark`: stores a sentence of the caller, such as a decision or a lesson, among the records.

use contract::pretty::pretty;
use contract::{
    Access, CallerSession, CliShape, Cx, EXCLUDED_PROJECTS, Example, Op, OpInfo, Pretty, Tier,
    not_recorded,
};
use model::project::{Project, ProjectFacts};
use model::session::{self, Session};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::sessions::{self, SessionIdForm, Sighting};
use store::{Tx, observations, projects, prompts};
use text::secrets::{self, Profile, Redacted};

use crate::examples;
use crate::project;
use crate::show;
use place::{NotCaptured, Wanted};

pub(crate) struct Mark;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MarkParams {
    text: String,
    /// That of your session if left out.
    #[serde(default)]
    project: Wanted,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MarkOutput {
    /// The new record.
    id: i64,
    /// Your session; without one, that of all marks of the project.
    session_id: String,
    project: String,
}

impl Op for Mark {
    const INFO: OpInfo = OpInfo {
        name: "mark",
        summary: "Store a sentence as a record",
        doc: "For what no event records: a decision, a lesson, a place to come back to.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: "memory",
        core: true,
        advanced: &["project", "session_id"],
        cli: CliShape {
            path: &["mark"],
            positional: &["text"],
            flag_aliases: &[("session_id", "session")],
            rest: true,
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Keep a lesson",
            before: examples::A_SESSION,
            params: r#"{"text":"Tokens are checked against the clock of the server","project":"web"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = MarkParams;
    type Output = MarkOutput;

    fn run(&self, cx: &Cx<'_>, params: MarkParams) -> Result<MarkOutput, OpError> {
        let content = checked(&params.text)?;
        if params.session_id.is_some() && params.project != Wanted::Here {
            return Err(OpError::invalid("project", "a session has its own project")
                .hint("Leave out the project or the session."));
        }
        let target = match params.project {
            Wanted::Here => Target::Place(cx.caller.place().facts.clone()),
            Wanted::Named(name) => Target::Named(name),
            Wanted::All => {
                return Err(OpError::invalid("project", "a mark belongs to one project")
                    .hint("Name the project, or leave it out for that of the current directory."));
            }
        };
        let (session, now) = (session(cx, params.session_id.as_deref())?, cx.now);
        let excluded = cx.config.text(EXCLUDED_PROJECTS.key).to_owned();
        cx.store.write(move |tx| {
            let mark = keep(tx, session.as_ref(), &target, &content, now)?;
            refuse_excluded(tx, mark.session, &excluded)?;
            Ok(mark.output)
        })
    }
}

/// The session of the mark: the one that the call names, else the caller's. A user may give the first characters of a
/// known id; any other id is refused as a typing error.
fn session(cx: &Cx<'_>, given: Option<&str>) -> Result<Option<CallerSession>, OpError> {
    let Some(given) = given else { return Ok(cx.caller.session_to_write(cx.config, cx.now)) };
    let mut name = given.strip_prefix("session://").unwrap_or(given).to_owned();
    session::check_id("session_id", &name)?;
    if cx.caller.tier == Tier::Person {
        name = cx.store.read(|rx| sessions::find(rx, &name, SessionIdForm::Prefix))?.session_id;
    }
    Ok(Some(cx.caller.session_named(name, cx.config, cx.now)))
}

/// The project of the mark: that of the caller's directory, or a named one.
enum Target {
    Place(ProjectFacts),
    Named(String),
}

/// The redacted text. An empty or long text, or one that looks like a secret, is an error.
fn checked(text: &str) -> Result<Redacted<String>, OpError> {
    let (text, max) = (text.trim(), limits::MARK_CHARS_MAX);
    if text.is_empty() {
        return Err(
            OpError::invalid("text", "the text is empty").hint("Give the sentence to store.")
        );
    }
    if text.chars().nth(max).is_some() {
        let message = format!("the text has more than {max} characters");
        return Err(OpError::invalid("text", message)
            .with("max", max)
            .hint("Shorten it to the sentence that matters."));
    }
    if let Some(found) = secrets::first(text, Profile::Declared) {
        return Err(
            OpError::secret("text", found.rule).hint("Say where the secret is kept instead.")
        );
    }
    Ok(secrets::redact(text, Profile::Declared))
}

/// A mark that was stored in a session.
struct KeptMark {
    session: i64,
    output: MarkOutput,
}

/// Refuses a mark in an excluded project. The error rolls back what the mark created.
fn refuse_excluded(tx: &Tx<'_>, session: i64, excluded: &str) -> Result<(), OpError> {
    let project = match sessions::by_id(tx, session)? {
        Some(session) => projects::by_id(tx, session.project_id)?,
        None => None,
    };
    match project.is_some_and(|project| place::is_stored_excluded(excluded, &project)) {
        true => Err(not_recorded(NotCaptured::Excluded)),
        false => Ok(()),
    }
}

fn keep(
    tx: &Tx<'_>,
    session: Option<&CallerSession>,
    target: &Target,
    content: &Redacted<String>,
    now: i64,
) -> Result<KeptMark, OpError> {
    let named = match target {
        Target::Named(name) => Some(project::one(tx, "project", name)?),
        Target::Place(_) => None,
    };
    let own = match session {
        Some(session) if named.is_none() => own_session(tx, session)?,
        Some(session) => sessions::by_name(tx, &session.name)?,
        None => None,
    };
    let fits = |of: &i64| named.as_ref().is_none_or(|project| project.id == *of);
    if let Some(session) = own.filter(|session| fits(&session.project_id)) {
        let cause = prompts::cause(tx, session.id, None, now)?;
        let of = (session.id, session.project_id);
        let id = observations::mark(tx, of, cause, content, now)?;
        sessions::summarise(tx, session.id)?;
        let output = MarkOutput { id, session_id: session.session_id, project: session.project };
        return Ok(KeptMark { session: session.id, output });
    }
    let project = match (named, target) {
        (Some(project), _) => project,
        (None, Target::Place(facts)) => projects::resolve(tx, facts, now)?,
        (None, Target::Named(_)) => return Err(OpError::internal("a named project is gone")),
    };
    in_session_of_marks(tx, project, content, now)
}

/// The caller's session. The call creates it if it is the first that names it.
fn own_session(tx: &Tx<'_>, session: &CallerSession) -> Result<Option<Session>, OpError> {
    let known = sessions::by_name(tx, &session.name)?;
    if known.is_none() && session.resolve(tx)?.is_some() {
        return sessions::by_name(tx, &session.name);
    }
    Ok(known)
}

/// Stores a mark of a caller without a session. Such marks of a project share a session that is never open.
fn in_session_of_marks(
    tx: &Tx<'_>,
    project: Project,
    content: &Redacted<String>,
    now: i64,
) -> Result<KeptMark, OpError> {
    let name = format!("marks:{}", project.key);
    let seen = sessions::touch(
        tx,
        &Sighting {
            name: &name,
            agent: sessions::OF_MARKS,
            project: project.id,
            root: project.root.as_deref(),
            at: now,
            starts: false,
            works: true,
        },
    )?;
    let id = observations::mark(tx, (seen.id, seen.project), None, content, now)?;
    sessions::end(tx, seen.id, now)?;
    sessions::summarise(tx, seen.id)?;
    let output = MarkOutput { id, session_id: name, project: project.name };
    Ok(KeptMark { session: seen.id, output })
}

impl Pretty for Mark {
    fn pretty(_: &MarkParams, output: &MarkOutput, _: usize) -> String {
        format!("✔ marked #{} in {}", output.id, show::line(&output.project))
    }
}
