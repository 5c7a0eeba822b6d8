//! Which projects a call is about: the one rule, the same for every operation and every surface.
//!
//! Left out, it is the project where the caller stands, if the surface knows that; from the home
//! directory or the root it is all of them, and so it is for `null` and `*`. A name means every
//! project that bears it, and the answer says which those are.

use contract::Cx;
use model::OpError;
use model::entry::EntryPath;
use model::limits;
use model::project::{Project, ProjectFacts};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use store::{Rx, projects};

use crate::place::{DiskPlaces, Places as _};

/// What a caller says about the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Nothing: the one where the caller stands.
    #[default]
    Here,
    All,
    /// A name, a key, a root or a `project://` path.
    Named(String),
}

impl<'de> Deserialize<'de> for Wanted {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Wanted, D::Error> {
        Ok(match Option::<String>::deserialize(from)? {
            Some(name) if name != "*" => Wanted::Named(name),
            _ => Wanted::All,
        })
    }
}

impl JsonSchema for Wanted {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Project".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "null"] })
    }
}

/// What a call says about projects, and where its caller stands.
pub(crate) struct Question {
    wanted: Wanted,
    here: Option<ProjectFacts>,
}

impl Question {
    /// Looks at the files of the place, so it is asked before the store is read.
    pub(crate) fn new(cx: &Cx<'_>, places: &DiskPlaces, wanted: Wanted) -> Question {
        Question::at(places, cx.caller.situation.cwd.as_deref(), wanted)
    }

    /// The same for somebody who stands in this directory.
    pub(crate) fn at(places: &DiskPlaces, cwd: Option<&str>, wanted: Wanted) -> Question {
        let cwd = cwd.filter(|_| wanted == Wanted::Here);
        // The home directory and the root are places, but no projects.
        let here =
            cwd.map(|cwd| places.at(Some(cwd)).facts.clone()).filter(|facts| facts.root.is_some());
        Question { wanted, here }
    }

    pub(crate) fn scope(self, rx: &Rx<'_>) -> Result<Scope, OpError> {
        match (self.wanted, self.here) {
            (Wanted::Named(name), _) => {
                let found = projects::find(rx, &name)?;
                if found.is_empty() {
                    return Err(unknown(rx, &name)?);
                }
                let name = found.first().map_or(name, |project| project.name.clone());
                Ok(Scope { projects: Some(found), name: Some(name) })
            }
            // Where nothing was ever recorded nothing is found, and nothing from elsewhere either.
            (Wanted::Here, Some(facts)) => {
                let known: Vec<Project> = projects::known(rx, &facts)?.into_iter().collect();
                // A place that was merged into another project goes by the name of that one.
                let name = known.first().map_or(facts.name, |project| project.name.clone());
                Ok(Scope { projects: Some(known), name: Some(name) })
            }
            _ => Ok(Scope { projects: None, name: None }),
        }
    }
}

/// The projects whose records may answer.
pub(crate) struct Scope {
    /// None for all.
    projects: Option<Vec<Project>>,
    name: Option<String>,
}

impl Scope {
    /// The projects in the store; none for all.
    pub(crate) fn ids(&self) -> Option<Vec<i64>> {
        self.projects.as_ref().map(|projects| projects.iter().map(|one| one.id).collect())
    }

    /// What the project is called, if not all are meant.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn is_all(&self) -> bool {
        self.projects.is_none()
    }

    pub(crate) fn holds(&self, project: i64) -> bool {
        self.projects.as_ref().is_none_or(|of| of.iter().any(|one| one.id == project))
    }

    /// Top directory of the project, if it is a single one.
    pub(crate) fn root(&self) -> Option<&str> {
        match self.projects.as_deref() {
            Some([one]) => one.root.as_deref(),
            _ => None,
        }
    }

    /// The paths of the projects if several share the name, else none.
    pub(crate) fn sharing(&self) -> Vec<String> {
        let several = self.projects.as_deref().filter(|projects| projects.len() > 1);
        several.into_iter().flatten().map(|one| path(&one.key)).collect()
    }

    pub(crate) fn about(&self, cx: &Cx<'_>) -> About {
        About {
            answered_at: cx.now.div_euclid(1000),
            project: self.name.clone(),
            projects: self.sharing(),
        }
    }
}

/// Whose records an answer holds, and when it was given.
#[derive(Serialize, JsonSchema)]
pub(crate) struct About {
    /// Seconds since 1970, UTC: ages count from here.
    pub(crate) answered_at: i64,
    /// The project that was looked in; left out if it was all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    /// Where several projects share the name: all of them. One of these is accepted as `project`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) projects: Vec<String>,
}

/// The path of the project with this key: as it reads if it can, else encoded as one part.
pub(crate) fn path(key: &str) -> String {
    let parts: Vec<&str> = key.split('/').collect();
    if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        return EntryPath::format("project", &[key]);
    }
    EntryPath::format("project", &parts)
}

/// The error for a project that nobody knows, with those that it may have meant.
pub(crate) fn unknown(rx: &Rx<'_>, name: &str) -> Result<OpError, OpError> {
    let known: Vec<String> =
        projects::latest(rx)?.into_iter().map(|(project, _)| project.name).collect();
    let wanted = name.to_lowercase();
    let near = |known: &&String| {
        let known = known.to_lowercase();
        let begins = known.chars().zip(wanted.chars()).take_while(|(a, b)| a == b).count();
        begins >= 3 || known.contains(&wanted) || wanted.contains(&known)
    };
    let mut names: Vec<&String> = known.iter().filter(near).collect();
    if names.is_empty() {
        names = known.iter().collect();
    }
    names.dedup();
    names.truncate(limits::PROJECTS_TOLD);
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    let hint = match names[..] {
        [] => "Nothing is recorded yet; `*` means all projects.".to_owned(),
        _ => format!("Known are: {}; `*` means all projects.", names.join(", ")),
    };
    let name = text::one_line(name, limits::PROJECT_NAME_CHARS_TOLD);
    Ok(OpError::not_found(format!("no project is called '{name}'"))
        .with("param", "project")
        .hint(hint))
}
