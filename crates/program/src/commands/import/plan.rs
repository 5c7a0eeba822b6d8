//! The files and filters of an import, from its arguments.

use std::path::PathBuf;

use ::import::{MemoryTool, RecordInput, SOURCES, Source, Transcript, Unreadable};
use clap::ArgMatches;
use contract::TimeBound;
use model::hook::HookEvent;
use model::{OpError, limits};
use serde_json::{Value, json};

use super::filter::ProjectFilter;
use super::records;
use crate::calls;
use crate::world::{self, World};

/// The files and filters of an import.
#[derive(Default)]
pub(super) struct ImportPlan {
    pub(super) files: Vec<(&'static Source, Transcript)>,
    pub(super) records: Vec<RecordInput>,
    /// Sources that cannot be read, or have nothing in them.
    pub(super) unread: UnreadSources,
    pub(super) since: Option<i64>,
    pub(super) projects: Option<ProjectFilter>,
    pub(super) is_dry: bool,
    pub(super) forgotten: bool,
    /// The import that is continued.
    pub(super) batch: Option<i64>,
}

/// Sources that the user names and that are left out of an import. The others are imported all the same.
#[derive(Default)]
pub(super) struct UnreadSources {
    /// Files and folders that cannot be read, with the reason.
    pub(super) unreadable: Vec<(PathBuf, String)>,
    /// Files and folders that cannot be read, of agents or below a folder that the user names.
    pub(super) below: Vec<Unreadable>,
    /// Messages about sources with nothing in them.
    pub(super) absent: Vec<String>,
}

impl UnreadSources {
    /// Everything that cannot be read, with the reason.
    pub(super) fn all(&self) -> impl Iterator<Item = &Unreadable> {
        self.unreadable.iter().chain(&self.below)
    }
}

impl ImportPlan {
    pub(super) fn read(world: &mut World, matches: &ArgMatches) -> Result<ImportPlan, OpError> {
        let since = matches.get_one::<String>("since").map(|text| {
            let bound = serde_json::from_value::<TimeBound>(json!(text));
            bound.map(|bound| bound.after(client::clock::now_ms())).map_err(|_| {
                OpError::invalid("since", format!("'{text}' is not a time"))
                    .hint("Use a date such as 2026-11-01, `last week` or `30d`.")
            })
        });
        let texts = |name: &str| -> Vec<String> {
            matches.get_many::<String>(name).into_iter().flatten().cloned().collect()
        };
        let since = since.transpose()?;
        let wanted = matches.get_one::<String>("project").map(String::as_str);
        let home = world::var("HOME").map(PathBuf::from);
        let listed = || calls::call(world, "list_projects", json!({})).unwrap_or_default();
        let projects = ProjectFilter::new(wanted, &texts("exclude-project"), home, listed)?;
        let mut unread = UnreadSources::default();
        let all = texts("source");
        let (records, named) = records::named(&all, since, &mut unread);
        let files = match (all.is_empty(), named.is_empty()) {
            (true, _) => of_all_agents(&known_roots(world, &named), &mut unread.below),
            (false, true) => Vec::new(),
            (false, false) => named_transcripts(&named, &known_roots(world, &named), &mut unread),
        };
        Ok(ImportPlan {
            files,
            records,
            unread,
            since,
            projects,
            is_dry: matches.get_flag("dry-run"),
            forgotten: matches.get_flag("forgotten"),
            batch: None,
        })
    }

    /// Whether only a part of each file is wanted. Then the rest has to be found by the next import.
    pub(super) fn is_partial(&self) -> bool {
        self.since.is_some() || self.projects.is_some()
    }

    pub(super) fn wants(&self, event: &HookEvent) -> bool {
        let has_project = self.projects.as_ref().is_none_or(|projects| projects.wants(event));
        has_project && self.since.is_none_or(|since| event.at > since)
    }
}

/// The directories of known projects, in which aider keeps its histories, and by which Gemini CLI named folders.
fn known_roots(world: &mut World, named: &[String]) -> Vec<PathBuf> {
    // The names of other agents need no answer of the daemon.
    let needs_none = |name: &String| {
        ::import::named(name).is_some_and(|source| !["aider", "gemini-cli"].contains(&source.name))
    };
    if !named.is_empty() && named.iter().all(needs_none) {
        return Vec::new();
    }
    let known = roots_in(&calls::call(world, "list_projects", json!({})).unwrap_or_default());
    known.into_iter().chain(std::env::current_dir()).collect()
}

/// The directories in the answer of `list_projects`.
pub(super) fn roots_in(listed: &Value) -> Vec<PathBuf> {
    let projects = listed["projects"].as_array().into_iter().flatten();
    projects.filter_map(|project| project["root"].as_str().map(PathBuf::from)).collect()
}

/// The transcripts of an agent on this machine.
pub(super) fn of_agent(
    source: &'static Source,
    roots: &[PathBuf],
    unread: &mut Vec<Unreadable>,
) -> Vec<(&'static Source, Transcript)> {
    let var = |name: &str| world::var(name);
    let mut found = source.transcripts(&var, unread);
    source.place_in(roots, &mut found);
    let in_projects = source.transcripts_in(roots, &var);
    found.into_iter().chain(in_projects).map(|file| (source, file)).collect()
}

/// The transcripts of all agents on this machine. `roots` are directories of known projects.
pub(super) fn of_all_agents(
    roots: &[PathBuf],
    unread: &mut Vec<Unreadable>,
) -> Vec<(&'static Source, Transcript)> {
    SOURCES.iter().flat_map(|source| of_agent(source, roots, unread)).collect()
}

/// The transcripts that the user names: those of an agent, or of a file or folder.
fn named_transcripts(
    named: &[String],
    roots: &[PathBuf],
    unread: &mut UnreadSources,
) -> Vec<(&'static Source, Transcript)> {
    let mut found = Vec::new();
    for name in named {
        let problems = unread.below.len();
        let transcripts = match ::import::named(name) {
            Some(source) => of_agent(source, roots, &mut unread.below),
            None => match transcripts_at(name, roots, &mut unread.below) {
                Ok(transcripts) => transcripts,
                Err(why) => {
                    unread.unreadable.push((PathBuf::from(name), why));
                    continue;
                }
            },
        };
        // The reason is named if something could not be read.
        if transcripts.is_empty() && unread.below.len() == problems {
            unread.absent.push(format!(
                "no transcript was found in {}",
                text::one_line(name, limits::IMPORT_NAME_CHARS)
            ));
        }
        found.extend(transcripts);
    }
    found
}

/// The transcripts of a file or folder, by their content, or why there are none.
fn transcripts_at(
    name: &str,
    roots: &[PathBuf],
    unread: &mut Vec<Unreadable>,
) -> Result<Vec<(&'static Source, Transcript)>, String> {
    let path = std::path::absolute(name).map_err(|_| "not a path".to_owned())?;
    let meta = std::fs::metadata(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let tools = MemoryTool::ALL.into_iter().map(MemoryTool::name);
            let known = SOURCES.iter().map(|source| source.name).chain(tools);
            let known = known.chain(["git", "memories"]);
            let meant = text::suggest::did_you_mean(name, known);
            meant.unwrap_or_else(|| "there is no file or folder of this name".to_owned())
        }
        _ => error.to_string(),
    })?;
    let found = match meta.is_dir() {
        true => {
            // An unreadable folder is not an empty one.
            std::fs::read_dir(&path).map_err(|error| error.to_string())?;
            ::import::recognise_below(&path, unread)
        }
        false => {
            let found = ::import::recognise(&path).map_err(|error| error.to_string())?;
            vec![found.ok_or("not a transcript of a known agent")?]
        }
    };
    let of = |(source, mut files): (&'static Source, Vec<Transcript>)| {
        source.place_in(roots, &mut files);
        files.into_iter().map(move |file| (source, file))
    };
    Ok(found.into_iter().flat_map(of).collect())
}
