//! `obs://ID` and `project://KEY`: records in the one address space. Lists show the newest
//! records of the caller's project; a path can be read from any directory.

use contract::{Cx, OpError, Scheme};
use model::entry::{Entry, EntryLine, EntryPath};
use model::limits;
use model::observation::Observation;
use model::session::Session;
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::recent::{self, RecentQuery, Taken};
use store::sessions::{self, SessionFilter};
use store::{Rx, observations, projects};

use place::Wanted;

use crate::replaced;

const TEXT: &str = "text/plain";

/// `obs://ID`: an observation, a prompt or a session's summary.
pub(crate) struct ObsScheme;

impl Scheme for ObsScheme {
    fn name(&self) -> &'static str {
        "obs"
    }

    fn template(&self) -> &'static str {
        "obs://{id}"
    }

    fn summary(&self) -> &'static str {
        "An action of an agent, a prompt, an answer or the summary of a session"
    }

    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        let question = cx.caller.projects(Wanted::Here);
        cx.store.read(|rx| {
            let projects = question.scope(rx)?.ids();
            let query = RecentQuery {
                projects: projects.as_deref(),
                before: None,
                after: None,
                score: &|_, _, at| newest_first(at),
            };
            let mut lines = Vec::new();
            recent::best(rx, &query, |seen, _| {
                lines.push(EntryLine {
                    path: format!("obs://{}", seen.id),
                    summary: said(&seen),
                    media_type: TEXT.to_owned(),
                });
                if lines.len() < limits::RECORDS_LISTED { Taken::GoOn } else { Taken::Enough }
            })?;
            Ok(lines)
        })
    }

    fn read(&self, cx: &Cx<'_>, path: &EntryPath) -> Result<Entry, OpError> {
        let id: Option<i64> = match path.segments.as_slice() {
            [id] => id.parse().ok(),
            _ => None,
        };
        let id = id.ok_or_else(|| {
            OpError::invalid("path", "an observation's path is a number")
                .hint("Write it as obs://42.")
        })?;
        let found = cx.store.read(|rx| replaced::linked(rx, observations::get(rx, &[id])?))?.pop();
        let seen = found.ok_or_else(|| {
            OpError::not_found(format!("there is no obs://{id}")).hint(
                "It was deleted or never existed; `rekindle search` shows the ids of records.",
            )
        })?;
        let mut attributes = members(&seen)?;
        let body = attributes.remove("content");
        let body = body.and_then(|body| body.as_str().map(str::to_owned)).unwrap_or_default();
        entry(format!("obs://{id}"), body, attributes)
    }
}

/// A timestamp as a score: the newest record has the highest.
#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit a double exactly")]
fn newest_first(at: i64) -> f64 {
    at as f64
}

/// `project://KEY`: a project by its remote or its root.
pub(crate) struct ProjectScheme;

impl Scheme for ProjectScheme {
    fn name(&self) -> &'static str {
        "project"
    }

    fn template(&self) -> &'static str {
        "project://{+key}"
    }

    fn summary(&self) -> &'static str {
        "A body of work: how much is recorded of it, and its last sessions"
    }

    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        let mut found = cx.store.read(projects::latest)?;
        found.truncate(limits::RECORDS_LISTED);
        let lines = found.into_iter().map(|(project, _)| EntryLine {
            path: place::path(&project.key),
            summary: project.name,
            media_type: TEXT.to_owned(),
        });
        Ok(lines.collect())
    }

    fn read(&self, cx: &Cx<'_>, path: &EntryPath) -> Result<Entry, OpError> {
        if path.segments.iter().any(|part| matches!(part.as_str(), "." | "..")) {
            return Err(OpError::invalid("path", "the key of a project has no part '.' or '..'"));
        }
        let key = path.segments.join("/");
        cx.store.read(|rx| {
            let found = projects::find(rx, &format!("project://{key}"))?.pop();
            let project = found.ok_or_else(|| {
                OpError::not_found(format!("there is no project with the key {key}"))
                    .hint("`rekindle project list` shows the keys.")
            })?;
            let counts = observations::counts(rx, Some(&[project.id]))?;
            let total: u64 = counts.iter().map(|(_, count)| count).sum();
            let mut lines = vec![project.name.clone()];
            lines.extend(project.root.as_ref().map(|root| format!("root: {root}")));
            lines.push(format!("observations: {total}"));
            lines.extend(last_sessions(rx, project.id)?);
            let mut attributes = members(&project)?;
            attributes.insert("aliases".into(), projects::aliases(rx, project.id)?.into());
            let counts: Map<String, Value> = counts
                .into_iter()
                .map(|(kind, count)| (kind.word().into(), count.into()))
                .collect();
            attributes.insert("observations".into(), counts.into());
            entry(place::path(&project.key), lines.join("\n"), attributes)
        })
    }
}

/// A line for each of the last sessions of a project.
fn last_sessions(rx: &Rx<'_>, project: i64) -> Result<Vec<String>, OpError> {
    let filter = SessionFilter { projects: Some(&[project]), ..SessionFilter::default() };
    let found = sessions::list(rx, &filter, limits::SUMMARIES_DEFAULT)?;
    let line = |session: Session| {
        let path = EntryPath::format("session", &[&session.session_id]);
        format!("{path} {}", session.title())
    };
    Ok(found.into_iter().map(line).collect())
}

/// The type and the beginning of an observation, as one line.
fn said(seen: &Observation) -> String {
    let content = text::one_line(&seen.content, limits::PREVIEW_CHARS);
    format!("{}: {content}", seen.obs_type.word())
}

fn members(noun: &impl Serialize) -> Result<Map<String, Value>, OpError> {
    match json!(noun) {
        Value::Object(members) => Ok(members),
        _ => Err(OpError::internal("a record is not an object")),
    }
}

fn entry(path: String, body: String, attributes: Map<String, Value>) -> Result<Entry, OpError> {
    Ok(Entry { path, body, media_type: TEXT.to_owned(), attributes })
}
