//! The projects that a call is about: one rule for every operation and every surface.
//!
//! By default it is the project of the caller's directory, if the surface knows it. In the home directory or the root
//! it is all projects, and so it is for `null` and `*`. A name means every project of that name, and the answer says
//! which these are.

use std::borrow::Cow;

use model::OpError;
use model::entry::EntryPath;
use model::limits;
use model::project::{Project, ProjectFacts};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use store::{Rx, projects};

use crate::places::Place;

/// The caller's choice of projects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// No choice: the project of the caller's directory.
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

    fn schema_name() -> Cow<'static, str> {
        "Project".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "null"] })
    }
}

/// The caller's choice of projects, and its directory.
pub struct Question {
    wanted: Wanted,
    here: Option<ProjectFacts>,
}

impl Question {
    /// A question of a caller in this directory, if the surface knows it.
    pub fn new(here: Option<&Place>, wanted: Wanted) -> Question {
        let here = here.filter(|_| wanted == Wanted::Here).map(|place| place.facts.clone());
        // The home directory and the root directory are not projects.
        Question { wanted, here: here.filter(|facts| facts.root.is_some()) }
    }

    pub fn scope(self, rx: &Rx<'_>) -> Result<Scope, OpError> {
        match (self.wanted, self.here) {
            (Wanted::Named(name), _) => {
                let found = projects::find(rx, &name)?;
                if found.is_empty() {
                    return Err(unknown(rx, &name)?);
                }
                let name = found.first().map_or(name, |project| project.name.clone());
                Ok(Scope { projects: Some(found), name: Some(name) })
            }
            // The scope of a directory without records is empty: a search there finds nothing from other projects.
            (Wanted::Here, Some(facts)) => {
                let known: Vec<Project> = projects::known(rx, &facts)?.into_iter().collect();
                // A directory that was merged into another project has that project's name.
                let name = known.first().map_or(facts.name, |project| project.name.clone());
                Ok(Scope { projects: Some(known), name: Some(name) })
            }
            _ => Ok(Scope { projects: None, name: None }),
        }
    }
}

/// The projects whose records are searched.
pub struct Scope {
    /// `None` for all.
    projects: Option<Vec<Project>>,
    name: Option<String>,
}

impl Scope {
    /// The projects in the store; `None` for all.
    pub fn ids(&self) -> Option<Vec<i64>> {
        self.projects.as_ref().map(|projects| projects.iter().map(|one| one.id).collect())
    }

    /// The name of the project; `None` for all.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub fn is_all(&self) -> bool {
        self.projects.is_none()
    }

    pub fn holds(&self, project: i64) -> bool {
        self.projects.as_ref().is_none_or(|of| of.iter().any(|one| one.id == project))
    }

    /// Top directory of a single project.
    pub fn root(&self) -> Option<&str> {
        match self.projects.as_deref() {
            Some([one]) => one.root.as_deref(),
            _ => None,
        }
    }

    /// The paths of the projects if several share the name, else none.
    pub fn sharing(&self) -> Vec<String> {
        let several = self.projects.as_deref().filter(|projects| projects.len() > 1);
        several.into_iter().flatten().map(|one| path(&one.key)).collect()
    }

    /// The description of the scope in an answer; `now` is in milliseconds.
    pub fn about(&self, now: i64) -> About {
        About {
            answered_at: now.div_euclid(1000),
            project: self.name.clone(),
            projects: self.sharing(),
            id_chars: None,
        }
    }
}

/// The projects of an answer, and its time.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// When this was answered, RFC 3339: ages count from here.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    pub answered_at: i64,
    /// The project that was searched; omitted if it was all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// All projects of the name, if several share it. Each is accepted as `project`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<String>,
    /// How many characters of the listed sessions' or memories' ids tell them from all others, if the usual eight do
    /// not. The command line prints this many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub id_chars: Option<usize>,
}

/// The `project://` path of a key: readable if possible, else encoded as one segment.
pub fn path(key: &str) -> String {
    let parts: Vec<&str> = key.split('/').collect();
    if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        return EntryPath::format("project", &[key]);
    }
    EntryPath::format("project", &parts)
}

/// The `project://` path of a key for people: the key itself if its path is encoded. Both are accepted where a project
/// is asked for.
pub fn shown_path(path: &str) -> Cow<'_, str> {
    let encoded = path.strip_prefix("project://").filter(|key| key.contains('%'));
    match encoded.and_then(model::entry::decode) {
        Some(key) => key.into(),
        None => path.into(),
    }
}

/// The error for an unknown project, with similar ones.
pub fn unknown(rx: &Rx<'_>, name: &str) -> Result<OpError, OpError> {
    let known: Vec<String> =
        projects::latest(rx)?.into_iter().map(|(project, _)| project.name).collect();
    let wanted = name.to_lowercase();
    let mut names: Vec<&str> = Vec::new();
    for name in &known {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let lower: Vec<(String, &str)> =
        names.iter().map(|name| (name.to_lowercase(), *name)).collect();
    let close = text::suggest::closest(&wanted, lower.iter().map(|(lower, _)| lower.as_str()));
    let close = close.iter().filter_map(|close| lower.iter().find(|(lower, _)| lower == close));
    let close: Vec<&str> = close.map(|(_, name)| *name).collect();
    let meant = text::suggest::offer(&close).map(|meant| format!("{meant} ")).unwrap_or_default();
    let left_out = names.len().saturating_sub(limits::PROJECTS_TOLD);
    names.truncate(limits::PROJECTS_TOLD);
    let more = if left_out > 0 { format!(" and {left_out} more") } else { String::new() };
    let hint = match names[..] {
        [] => "Nothing is recorded yet; `*` means all projects.".to_owned(),
        _ => format!("{meant}Known are: {}{more}; `*` means all projects.", names.join(", ")),
    };
    let name = text::one_line(name, limits::PROJECT_NAME_CHARS_TOLD);
    Ok(OpError::not_found(format!("no project is called '{name}'"))
        .with("param", "project")
        .hint(hint))
}
