//! Settings of a connected agent that disable our entries, and how to enable them again.

use std::path::PathBuf;

use agents::wiring::{self, Switch, Wired, Wiring};
use serde_json::Value;

use crate::edit;
use crate::ours::{SERVER, is_our_hook};
use crate::place::{Around, ConnectScope, read_unedited};

/// A disabled part of the connection.
#[derive(Clone, Debug)]
pub struct DisabledPart {
    /// Whether hooks are disabled, so that events do not arrive; otherwise it is our MCP server.
    pub hooks: bool,
    /// The disabled part, as a sentence about the agent.
    pub detail: String,
    /// How to enable it again.
    pub hint: String,
}

/// A settings file with its parsed content.
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    pub(crate) value: Value,
}

/// The disabled parts of an agent's connection in this repository. `hooks` are the files with its hooks.
pub(crate) fn off(
    wiring: &Wiring,
    hooks: &[SettingsFile],
    around: &Around<'_>,
) -> Vec<DisabledPart> {
    let mut all = Vec::new();
    for file in wiring.files.iter().filter(|file| !file.switches.is_empty()) {
        let settings = settings(file, around);
        for switch in file.switches {
            all.extend(is_off(switch, &settings, hooks));
        }
    }
    all
}

/// The settings files that apply, in order of precedence.
fn settings(file: &Wired, around: &Around<'_>) -> Vec<SettingsFile> {
    let local = file.local.map(|local| around.project.join(local));
    let shared = [ConnectScope::Project, ConnectScope::User].map(|scope| around.file(file, scope));
    let mut all: Vec<SettingsFile> = Vec::new();
    for path in local.into_iter().chain(shared.into_iter().flatten()) {
        // In the home directory both scopes have the same path.
        if all.iter().any(|known| known.path == path) {
            continue;
        }
        let value = read_unedited(&path).and_then(|text| edit::value(&text, file.format));
        all.extend(value.map(|value| SettingsFile { path, value }));
    }
    all
}

fn is_off(
    switch: &Switch,
    settings: &[SettingsFile],
    hooks: &[SettingsFile],
) -> Option<DisabledPart> {
    let name = switch.member.join(".");
    let found = || settings.iter().filter_map(|file| Some((file, at(&file.value, switch.member)?)));
    // For a single value the first file that has it decides; lists are combined.
    let decides = |off: bool| {
        let (file, value) = found().find(|(_, value)| value.is_boolean())?;
        (value == &Value::Bool(off)).then_some(file)
    };
    let lists = |named: &dyn Fn(&Value) -> Vec<String>| {
        let mut all = found().map(|(file, list)| (file, named(list)));
        all.find(|(_, names)| !names.is_empty())
    };
    let (hooks, file, detail, what) = match switch.off {
        wiring::Off::Hooks(off) => {
            (true, decides(off)?, "its settings disable all hooks".to_owned(), format!("`{name}`"))
        }
        wiring::Off::HooksListed => {
            let (file, events) = lists(&|list| listed(list, hooks))?;
            let what = format!("our commands in `{name}`");
            (true, file, format!("its settings disable hooks: {}", events.join(", ")), what)
        }
        wiring::Off::HooksKeyed => {
            let (file, events) = lists(&|table| keyed(table, hooks))?;
            let what = format!("`enabled = false` of our hooks in `{name}`");
            (true, file, format!("its settings disable hooks: {}", events.join(", ")), what)
        }
        wiring::Off::Server(off) => {
            let detail = "its settings disable our MCP server".to_owned();
            (false, decides(off)?, detail, format!("`{name}`"))
        }
        wiring::Off::ServerListed => {
            let ours = |list: &Value| {
                let is_there =
                    list.as_array().is_some_and(|all| all.iter().any(|one| one == SERVER));
                is_there.then(|| SERVER.to_owned()).into_iter().collect()
            };
            let detail = "its settings disable our MCP server".to_owned();
            (false, lists(&ours)?.0, detail, format!("`{SERVER}` in `{name}`"))
        }
    };
    Some(DisabledPart {
        hooks,
        detail,
        hint: format!("Remove {what} from {}.", file.path.display()),
    })
}

/// The value at this path of member names.
fn at<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().try_fold(value, |value, name| value.get(name))
}

/// The events whose hook of ours is in a list.
fn listed(list: &Value, files: &[SettingsFile]) -> Vec<String> {
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

/// The events whose hook of ours is disabled by its position.
fn keyed(table: &Value, files: &[SettingsFile]) -> Vec<String> {
    let off = table.as_object().into_iter().flatten().filter(|(_, hook)| hook["enabled"] == false);
    off.filter_map(|(key, _)| {
        let mut parts = key.rsplitn(4, ':');
        let (hook, group) =
            (parts.next()?.parse::<usize>().ok()?, parts.next()?.parse::<usize>().ok()?);
        let (event, path) = (parts.next()?, parts.next()?);
        let is_it = |file: &&SettingsFile| {
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
