//! What the settings of an agent switch off although it is connected, and how it is switched on again.

use std::path::PathBuf;

use agents::wiring::{self, Switch, Wired, Wiring};
use serde_json::Value;

use crate::edit;
use crate::ours::{SERVER, is_our_hook};
use crate::place::{Around, Scope, glimpse};

/// Something that is switched off.
#[derive(Clone, Debug)]
pub struct Off {
    /// Whether these are hooks, so that events do not come; else it is our MCP server.
    pub hooks: bool,
    /// What is off, of an agent that is named before.
    pub detail: String,
    /// What switches it on again.
    pub hint: String,
}

/// A file that was read.
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    pub(crate) value: Value,
}

/// What is off for an agent in this repository, with the files that hold its hooks.
pub(crate) fn off(wiring: &Wiring, hooks: &[Settings], around: &Around<'_>) -> Vec<Off> {
    let mut all = Vec::new();
    for file in wiring.files.iter().filter(|file| !file.switches.is_empty()) {
        let settings = settings(file, around);
        for switch in file.switches {
            all.extend(is_off(switch, &settings, hooks));
        }
    }
    all
}

/// The files that have a say, the last one first.
fn settings(file: &Wired, around: &Around<'_>) -> Vec<Settings> {
    let local = file.local.map(|local| around.project.join(local));
    let shared = [Scope::Project, Scope::User].map(|scope| around.file(file, scope));
    let mut all: Vec<Settings> = Vec::new();
    for path in local.into_iter().chain(shared.into_iter().flatten()) {
        // In the home directory both scopes are one.
        if all.iter().any(|known| known.path == path) {
            continue;
        }
        let value = glimpse(&path).and_then(|text| edit::value(&text, file.format));
        all.extend(value.map(|value| Settings { path, value }));
    }
    all
}

fn is_off(switch: &Switch, settings: &[Settings], hooks: &[Settings]) -> Option<Off> {
    let name = switch.member.join(".");
    let found = || settings.iter().filter_map(|file| Some((file, at(&file.value, switch.member)?)));
    // Of one value the first that has it decides; lists add up.
    let decides = |off: bool| {
        let (file, value) = found().find(|(_, value)| value.is_boolean())?;
        (value == &Value::Bool(off)).then_some(file)
    };
    let lists = |named: &dyn Fn(&Value) -> Vec<String>| {
        let mut all = found().map(|(file, list)| (file, named(list)));
        all.find(|(_, names)| !names.is_empty())
    };
    let (hooks, file, detail, what) = match switch.off {
        wiring::Off::Hooks(off) => (
            true,
            decides(off)?,
            "its settings switch all hooks off".to_owned(),
            format!("`{name}`"),
        ),
        wiring::Off::HooksListed => {
            let (file, events) = lists(&|list| listed(list, hooks))?;
            let what = format!("our commands in `{name}`");
            (true, file, format!("its settings switch hooks off: {}", events.join(", ")), what)
        }
        wiring::Off::HooksKeyed => {
            let (file, events) = lists(&|table| keyed(table, hooks))?;
            let what = format!("`enabled = false` of our hooks in `{name}`");
            (true, file, format!("its settings switch hooks off: {}", events.join(", ")), what)
        }
        wiring::Off::Server(off) => {
            let detail = "its settings switch our MCP server off".to_owned();
            (false, decides(off)?, detail, format!("`{name}`"))
        }
        wiring::Off::ServerListed => {
            let ours = |list: &Value| {
                let is_there =
                    list.as_array().is_some_and(|all| all.iter().any(|one| one == SERVER));
                is_there.then(|| SERVER.to_owned()).into_iter().collect()
            };
            let detail = "its settings switch our MCP server off".to_owned();
            (false, lists(&ours)?.0, detail, format!("`{SERVER}` in `{name}`"))
        }
    };
    Some(Off { hooks, detail, hint: format!("Take {what} out of {}.", file.path.display()) })
}

/// The member to which these names lead.
fn at<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().try_fold(value, |value, name| value.get(name))
}

/// The events of ours whose hook stands in a list.
fn listed(list: &Value, files: &[Settings]) -> Vec<String> {
    let names = list.as_array().map_or(&[][..], Vec::as_slice);
    let mut events = Vec::new();
    for file in files {
        for (event, groups) in file.value["hooks"].as_object().into_iter().flatten() {
            let groups = groups.as_array().into_iter().flatten();
            let hooks = groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten());
            let is_off = |hook: &Value| {
                let name = hook.get("name").unwrap_or(&hook["command"]);
                is_our_hook(hook) && names.contains(name)
            };
            events.extend(hooks.into_iter().any(is_off).then(|| event.clone()));
        }
    }
    events
}

/// The events of ours whose hook is off by its place.
fn keyed(table: &Value, files: &[Settings]) -> Vec<String> {
    let off = table.as_object().into_iter().flatten().filter(|(_, hook)| hook["enabled"] == false);
    off.filter_map(|(key, _)| {
        let mut parts = key.rsplitn(4, ':');
        let (hook, group) =
            (parts.next()?.parse::<usize>().ok()?, parts.next()?.parse::<usize>().ok()?);
        let (event, path) = (parts.next()?, parts.next()?);
        let is_it = |file: &&Settings| {
            let path = std::path::Path::new(path);
            file.path == path || file.path.canonicalize().is_ok_and(|file| file == path)
        };
        let events = files.iter().find(is_it)?.value["hooks"].as_object()?;
        let (name, groups) = events.iter().find(|(name, _)| snake(name) == event)?;
        is_our_hook(&groups[group]["hooks"][hook]).then(|| name.clone())
    })
    .collect()
}

/// `SessionStart` as `session_start`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}
