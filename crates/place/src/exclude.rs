//! Exclusions by the user: whole projects by the settings, and files by the projects' own settings.

use std::path::PathBuf;

use model::hook::{Happening, HookEvent, Stood, ToolUse};
use model::project::{Pauses, Project, ProjectFacts};
use pattern::glob::Glob;

use crate::checkout;
use crate::places::{Place, PlaceSource, Places};

/// The event as it may be spooled, for a user with this home directory who excludes these projects and pauses others.
/// The directory and its settings may be gone when the event is ingested.
pub fn to_spool(
    event: &HookEvent,
    home: Option<PathBuf>,
    exclude_projects: &str,
    pauses: &Pauses,
) -> HookEvent {
    let places = Places::new(home);
    let place = places.at(event.cwd.as_ref().map(|cwd| cwd.as_str()));
    if names(&listed(exclude_projects), &place.facts) || pauses.hold(&place.facts, event.at) {
        return HookEvent {
            cwd: None,
            model: None,
            stood: Some(Stood::KeptOut),
            prompt_id: None,
            agent_id: None,
            what: Happening::Other,
            ..event.clone()
        };
    }
    let mut what =
        if hides(&places, &place, event) { Happening::Other } else { event.what.clone() };
    // Another branch may be checked out by the time the event is ingested.
    let checkout = checkout::of_event(&places, &place, event);
    if let (Happening::ToolUsed(tool), Some(checkout)) = (&mut what, &checkout) {
        tool.metadata = tool.metadata.with(checkout);
    }
    let event = HookEvent { stood: Some(Stood::In(place.facts.clone())), what, ..event.clone() };
    // Resolve paths now: a symbolic link may point elsewhere by the time the event is ingested.
    place.resolved(&event).unwrap_or(event)
}

/// The items of a list that is separated by commas.
pub fn listed(text: &str) -> Vec<String> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    items.map(str::to_owned).collect()
}

/// Whether a text is a list of projects to exclude: each item is a name or a glob.
pub fn are_projects(text: &str) -> bool {
    listed(text).iter().all(|item| Glob::hint(item).is_ok())
}

/// Whether this list of excluded projects, as the setting has it, names a project.
pub fn is_excluded(setting: &str, facts: &ProjectFacts) -> bool {
    !setting.is_empty() && names(&listed(setting), facts)
}

/// Whether the setting excludes this project of the store.
pub fn is_stored_excluded(setting: &str, project: &Project) -> bool {
    !setting.is_empty() && names_stored(&listed(setting), project)
}

/// Whether the user excludes this project.
pub(crate) fn names(exclude: &[String], facts: &ProjectFacts) -> bool {
    names_any(exclude, [Some(&facts.name), facts.root.as_ref(), facts.remote_key.as_ref()])
}

/// Whether the user excludes this project of the store.
pub(crate) fn names_stored(exclude: &[String], project: &Project) -> bool {
    names_any(exclude, [Some(&project.name), project.root.as_ref(), Some(&project.key)])
}

fn names_any(exclude: &[String], names: [Option<&String>; 3]) -> bool {
    exclude.iter().any(|text| {
        let glob = Glob::hint(text).ok();
        let fits =
            |name: &String| name == text || glob.as_ref().is_some_and(|glob| glob.matches(name));
        names.into_iter().flatten().any(fits)
    })
}

impl Places {
    /// Fills the cache for an event before its transaction, which then only has to check that the directory is still
    /// the same: no disk but the store's may delay the writer.
    pub fn prepare(&self, event: &HookEvent) {
        let cwd = event.cwd.as_ref().map(|cwd| cwd.as_str());
        let place = self.cached(cwd.unwrap_or_default());
        hides(self, &place, event);
        checkout::ran_outside(self, &place, event);
    }
}

/// Whether the event is about a file that a project excludes; `here` is the place of the event's directory.
pub(crate) fn hides(places: &dyn PlaceSource, here: &Place, event: &HookEvent) -> bool {
    let (Happening::ToolStarting(tool) | Happening::ToolUsed(tool)) = &event.what else {
        return false;
    };
    let cwd = event.cwd.as_ref().map(|cwd| cwd.as_str());
    let mut paths = tool.file_path.iter().map(|path| path.as_str()).chain(changed_files(tool));
    paths.any(|path| places.hides(here, cwd, path))
}

/// The files that a tool changed, if there are several.
pub fn changed_files(tool: &ToolUse) -> impl Iterator<Item = &str> {
    let files = tool.metadata.get("files").and_then(|files| files.as_array());
    files.into_iter().flatten().filter_map(|path| path.as_str())
}
