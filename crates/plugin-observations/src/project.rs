//! `list_projects`, `alias_project`, `unalias_project`, `merge_projects`, `split_project`: which places are one project.

mod unalias;

use std::borrow::Cow;
use std::path::Path;

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, Tier};
use model::project::{Project, ProjectOverview};
use model::{Code, OpError, limits};
use place::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Rx, projects};
use text::secrets::{Profile, redact_place};
use text::table::table;

use crate::examples;
use crate::show;

/// Callers that may change projects. Agents may not: moving memory between projects is the user's decision.
const BY_PEOPLE: &[Tier] = &[Tier::Person, Tier::Client];

pub(crate) use unalias::UnaliasProject;

pub(crate) struct ListProjects;
pub(crate) struct AliasProject;
pub(crate) struct MergeProjects;
pub(crate) struct SplitProject;

/// The one project that this text means.
pub(crate) fn one(rx: &Rx<'_>, param: &str, text: &str) -> Result<Project, OpError> {
    let mut found = projects::find(rx, text)?;
    match (found.pop(), found.len()) {
        (Some(project), 0) => Ok(project),
        (None, _) => Err(place::unknown(rx, text)?.with("param", param)),
        (Some(last), others) => {
            found.push(last);
            let paths: Vec<String> =
                found.iter().map(|project| place::path(&project.key)).collect();
            let shown: Vec<Cow<'_, str>> =
                paths.iter().map(|path| place::shown_path(path)).collect();
            let message = format!("{} projects are called '{}'", others + 1, told(text));
            Err(OpError::invalid(param, message)
                .hint(format!("Say which one: {}.", shown.join(", ")))
                .with("projects", paths))
        }
    }
}

fn told(text: &str) -> String {
    text::one_line(text, limits::PROJECT_NAME_CHARS_TOLD)
}

/// A project with its aliases and its numbers of records.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListedProject {
    /// The exact name, `project://KEY`: accepted wherever a project is asked for.
    path: String,
    /// The name that is shown; several projects may share it.
    name: String,
    /// Where it was seen first.
    root: Option<String>,
    /// Remotes, roots and names that lead to it.
    aliases: Vec<String>,
    /// The number of its sessions; like the other numbers, it is omitted with `counts: false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sessions: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompts: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    observations: Option<u64>,
    /// Seconds since 1970, UTC, of its last event.
    last_at: Option<i64>,
}

impl ListedProject {
    fn new(overview: ProjectOverview) -> ListedProject {
        let ProjectOverview { project, aliases, sessions, prompts, observations, last_at } =
            overview;
        ListedProject {
            path: place::path(&project.key),
            name: project.name,
            root: project.root,
            aliases,
            sessions: Some(sessions),
            prompts: Some(prompts),
            observations: Some(observations),
            last_at: last_at.map(|at| at.div_euclid(1000)),
        }
    }

    fn uncounted(
        rx: &Rx<'_>,
        (project, last_at): (Project, Option<i64>),
    ) -> Result<ListedProject, OpError> {
        let aliases = projects::aliases(rx, project.id)?;
        Ok(ListedProject {
            path: place::path(&project.key),
            name: project.name,
            root: project.root,
            aliases,
            sessions: None,
            prompts: None,
            observations: None,
            last_at: last_at.map(|at| at.div_euclid(1000)),
        })
    }

    fn of(rx: &Rx<'_>, id: i64) -> Result<ListedProject, OpError> {
        overview(rx, id).map(ListedProject::new)
    }
}

fn overview(rx: &Rx<'_>, id: i64) -> Result<ProjectOverview, OpError> {
    let found = projects::latest(rx)?.into_iter().find(|(project, _)| project.id == id);
    let (project, last_at) = found.ok_or_else(|| OpError::internal("a project is gone"))?;
    projects::overview(rx, project, last_at)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListProjectsParams {
    /// Whether the sessions, prompts and observations of each project are counted.
    #[serde(default = "counted")]
    counts: bool,
}

fn counted() -> bool {
    true
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListProjectsOutput {
    /// The one with the last event comes first.
    projects: Vec<ListedProject>,
    /// The `path` of the caller's project; omitted if its directory belongs to none of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    here: Option<String>,
    /// When this was answered, RFC 3339: ages count from here.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    answered_at: i64,
}

impl Op for ListProjects {
    const INFO: OpInfo = OpInfo {
        name: "list_projects",
        summary: "List the projects with their aliases and record counts",
        doc: "A project is known by its remote or its root directory. Work trees and links share it, and a \
              renamed directory or a new remote keeps it.",
        toolset: "memory",
        cli: CliShape {
            path: &["project", "list"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example { title: "All projects", before: examples::A_SESSION, params: "{}" }],
        ..OpInfo::BASE
    };
    type Params = ListProjectsParams;
    type Output = ListProjectsOutput;

    fn run(&self, cx: &Cx<'_>, params: ListProjectsParams) -> Result<ListProjectsOutput, OpError> {
        let question = cx.caller.projects(Wanted::Here);
        cx.store.read(|rx| {
            let here = question.scope(rx)?.ids().and_then(|ids| ids.first().copied());
            let here = here.map(|id| projects::by_id(rx, id)).transpose()?.flatten();
            let projects = match params.counts {
                true => projects::list(rx)?.into_iter().map(ListedProject::new).collect(),
                false => {
                    let latest = projects::latest(rx)?.into_iter();
                    latest
                        .map(|found| ListedProject::uncounted(rx, found))
                        .collect::<Result<_, _>>()?
                }
            };
            Ok(ListProjectsOutput {
                here: here.map(|project| place::path(&project.key)),
                projects,
                answered_at: cx.now.div_euclid(1000),
            })
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AliasProjectParams {
    /// The project: name, key, root or `project://KEY`.
    project: String,
    /// The alias: a root directory, a remote, or a name.
    alias: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ProjectOutput {
    project: ListedProject,
}

impl Op for AliasProject {
    const INFO: OpInfo = OpInfo {
        name: "alias_project",
        summary: "Add a directory, a remote or a name as an alias of a project",
        doc: "For a second clone or a directory outside of the repository. It takes precedence over the project that \
              the directory would have by itself. An alias of another project is refused: merge the two.",
        access: Access::Write { destructive: false, idempotent: true },
        tiers: BY_PEOPLE,
        toolset: "memory",
        cli: CliShape {
            path: &["project", "alias"],
            positional: &["project", "alias"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "A second directory of the same project",
            before: examples::A_SESSION,
            params: r#"{"project":"web","alias":"/home/you/web-assets"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = AliasProjectParams;
    type Output = ProjectOutput;

    fn run(&self, cx: &Cx<'_>, params: AliasProjectParams) -> Result<ProjectOutput, OpError> {
        let alias = normal("alias", &params.alias)?;
        cx.store.write(move |tx| {
            let project = one(tx, "project", &params.project)?;
            let elsewhere =
                projects::find(tx, &alias)?.into_iter().find(|other| other.id != project.id);
            if let Some(other) = elsewhere {
                let message = format!("{} leads to the project {}", told(&alias), other.name);
                return Err(OpError::new(Code::Conflict, message)
                    .with("param", "alias")
                    .hint("`rekindle project merge` joins the two projects; `rekindle project split` takes a directory out of the other one."));
            }
            projects::alias(tx, project.id, &alias)?;
            Ok(ProjectOutput { project: ListedProject::of(tx, project.id)? })
        })
    }
}

/// A directory, a remote or a name in the spelling that events have.
fn normal(param: &str, text: &str) -> Result<String, OpError> {
    let (text, max) = (text.trim(), limits::PROJECT_ALIAS_BYTES_MAX);
    let unfit = text.is_empty() || text == "*" || text.chars().any(char::is_control);
    if unfit || text.len() > max {
        let message = format!("{param} is not a directory, remote or name of 1 to {max} bytes");
        return Err(OpError::invalid(param, message).with("max", max));
    }
    let is_remote =
        text.contains("://") || text.split_once(':').is_some_and(|(user, _)| user.contains('@'));
    let spelled = if text.starts_with('/') {
        let path = Path::new(text);
        let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let shown = real.to_string_lossy();
        match shown.trim_end_matches('/') {
            "" => {
                return Err(OpError::invalid(
                    param,
                    "the root of the file system is not a project",
                )
                .hint("Give the directory of the project."));
            }
            path => path.to_owned(),
        }
    } else if is_remote {
        git::normal_remote(text).ok_or_else(|| {
            OpError::invalid(param, format!("{param} is not an address that git would fetch from"))
                .hint("Give it as `git remote get-url origin` prints it, with a host and a path.")
        })?
    } else {
        text.to_owned()
    };
    Ok(redact_place(&spelled, Profile::Strict).into_inner())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MergeProjectsParams {
    /// The project that ends.
    from: String,
    /// The project that has everything afterwards.
    into: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct MergeProjectsOutput {
    /// The project that has everything now.
    project: ListedProject,
    /// The number of sessions, prompts and observations that it got.
    moved: Moved,
}

/// How much went from one project to another.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Moved {
    sessions: u64,
    prompts: u64,
    observations: u64,
}

impl Op for MergeProjects {
    const INFO: OpInfo = OpInfo {
        name: "merge_projects",
        summary: "Make one project of two",
        doc: "All records of the first move to the second, and all its remotes, roots and names become \
              aliases of the second. split_project takes a root out again.",
        access: Access::Write { destructive: true, idempotent: false },
        tiers: BY_PEOPLE,
        toolset: "memory",
        cli: CliShape {
            path: &["project", "merge"],
            positional: &["from", "into"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Two clones are one project",
            before: TWO_PROJECTS,
            params: r#"{"from":"web-old","into":"web"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = MergeProjectsParams;
    type Output = MergeProjectsOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: MergeProjectsParams,
    ) -> Result<MergeProjectsOutput, OpError> {
        cx.store.write(move |tx| {
            let from = one(tx, "from", &params.from)?;
            let into = one(tx, "into", &params.into)?;
            let ProjectOverview { sessions, prompts, observations, .. } = overview(tx, from.id)?;
            projects::merge(tx, from.id, into.id)?;
            Ok(MergeProjectsOutput {
                project: ListedProject::of(tx, into.id)?,
                moved: Moved { sessions, prompts, observations },
            })
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SplitProjectParams {
    /// The project that has several roots.
    project: String,
    /// The root directory that becomes a project of its own.
    root: String,
}

impl Op for SplitProject {
    const INFO: OpInfo = OpInfo {
        name: "split_project",
        summary: "Make a project of its own out of one root of a project",
        doc: "The sessions that were first seen in that directory move with all their records, and from now \
              on it is a project of its own.",
        access: Access::Write { destructive: true, idempotent: false },
        tiers: BY_PEOPLE,
        toolset: "memory",
        cli: CliShape {
            path: &["project", "split"],
            positional: &["project", "root"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Take a merge back",
            before: MERGED,
            params: r#"{"project":"web","root":"/home/you/web-old"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = SplitProjectParams;
    type Output = ProjectOutput;

    fn run(&self, cx: &Cx<'_>, params: SplitProjectParams) -> Result<ProjectOutput, OpError> {
        let root = normal("root", &params.root)?;
        let now = cx.now;
        cx.store.write(move |tx| {
            let project = one(tx, "project", &params.project)?;
            let new = projects::split(tx, project.id, &root, now)?;
            Ok(ProjectOutput { project: ListedProject::of(tx, new.id)? })
        })
    }
}

const IN_WEB: (&str, &str) = (
    "hook",
    r#"{"event":"UserPromptSubmit","at":1767261600000,"payload":{"session_id":"s-1","cwd":"/home/you/web","prompt":"Fix the login"}}"#,
);
const IN_WEB_OLD: (&str, &str) = (
    "hook",
    r#"{"event":"UserPromptSubmit","at":1767261700000,"payload":{"session_id":"s-2","cwd":"/home/you/web-old","prompt":"Move the login"}}"#,
);
const TWO_PROJECTS: &[(&str, &str)] = &[IN_WEB, IN_WEB_OLD];
const MERGED: &[(&str, &str)] =
    &[IN_WEB, IN_WEB_OLD, ("merge_projects", r#"{"from":"web-old","into":"web"}"#)];

/// A count as text; empty if nothing was counted.
fn number(count: Option<u64>) -> String {
    count.map(|count| count.to_string()).unwrap_or_default()
}

impl Pretty for ListProjects {
    fn pretty(_: &ListProjectsParams, output: &ListProjectsOutput, width: usize) -> String {
        let ListProjectsOutput { projects, answered_at, .. } = output;
        if projects.is_empty() {
            return "No project is known yet.".to_owned();
        }
        let header = ["project", "date", "last", "sessions", "prompts", "observations", "path"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        for project in projects {
            let (date, last) = match project.last_at {
                None => (String::new(), "never".to_owned()),
                Some(at) => (zone::shown(at), show::age(at, *answered_at)),
            };
            rows.push(vec![
                show::line(&project.name),
                date,
                last,
                number(project.sessions),
                number(project.prompts),
                number(project.observations),
                show::line(&place::shown_path(&project.path)),
            ]);
            for alias in project.other_aliases() {
                let mut row = vec![String::new(); 6];
                row.push(format!("also {alias}"));
                rows.push(row);
            }
        }
        table(&rows, &["date", "prompts", "sessions", "observations"], width)
    }
}

impl ListedProject {
    /// The aliases of the project besides its key.
    fn other_aliases(&self) -> impl Iterator<Item = String> {
        let others = self.aliases.iter().filter(|alias| place::path(alias) != self.path);
        others.map(|alias| show::line(alias))
    }
}

impl Pretty for AliasProject {
    fn pretty(
        params: &AliasProjectParams,
        ProjectOutput { project }: &ProjectOutput,
        _: usize,
    ) -> String {
        format!("✔ {} leads to {}", show::line(&params.alias), show::line(&project.name))
    }
}

impl Pretty for MergeProjects {
    fn pretty(params: &MergeProjectsParams, output: &MergeProjectsOutput, _: usize) -> String {
        let MergeProjectsOutput { project, moved } = output;
        format!(
            "✔ merged {} into {}: {}, {}, {}",
            show::line(&params.from),
            show::line(&project.name),
            text::counted(moved.sessions, "session"),
            text::counted(moved.prompts, "prompt"),
            text::counted(moved.observations, "observation")
        )
    }
}

impl Pretty for SplitProject {
    fn pretty(
        _: &SplitProjectParams,
        ProjectOutput { project }: &ProjectOutput,
        _: usize,
    ) -> String {
        let (name, path) =
            (show::line(&project.name), show::line(&place::shown_path(&project.path)));
        let sessions = text::counted(project.sessions.unwrap_or_default(), "session");
        format!("✔ {name} is a project of its own, {path}: {sessions}")
    }
}
