//! What of ours stands in an agent's configuration now.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agents::wiring::{Format, Part, Wired, Wiring};
use model::OpError;
use serde_json::Value;

use crate::edit;
use crate::ours::{Ours, SERVER, program};
use crate::place::{Around, Scope, glimpse, hidden, read};
use crate::switches::{self, Off, Settings};

/// How an agent is connected, for its user or in a repository.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// By what the agent was found: its folder or its program.
    pub found: Option<PathBuf>,
    pub files: Vec<PathBuf>,
    /// The events that are hooked, and our server, which stands as `rekindle`.
    pub wired: Vec<String>,
    /// What is not there and would be installed.
    pub missing: Vec<String>,
    /// What is there and not as it would be installed: narrowed, or of another kind.
    pub altered: Vec<String>,
    /// The programs that the agent starts for us.
    pub programs: Vec<Started>,
    /// Files that cannot be edited as they stand, and why.
    pub trouble: Vec<String>,
    /// Places that could not be looked at, and why.
    pub unseen: Vec<String>,
    /// Whether a file was read that means nothing.
    pub invalid: bool,
    /// When the files with the hooks last changed.
    pub changed: Option<SystemTime>,
    /// Whether a plugin of ours is on in its settings.
    pub plugin: bool,
    /// What its settings switch off in this repository.
    pub off: Vec<Off>,
}

/// A program that an agent starts for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    pub path: String,
    /// Whether hooks start it; else it is our MCP server alone.
    pub by_hooks: bool,
}

impl Look {
    /// `yes`, `partly` or `no`; `invalid` or `unknown` where a file does not tell.
    pub fn state(&self) -> &'static str {
        match (self.wired.is_empty(), self.missing.is_empty() && self.altered.is_empty()) {
            _ if self.invalid => "invalid",
            (false, true) => "yes",
            _ if !self.unseen.is_empty() => "unknown",
            (true, _) if self.altered.is_empty() => "no",
            _ => "partly",
        }
    }

    /// Whether the agent calls us from these files, or by our plugin, at least in part.
    pub fn is_connected(&self) -> bool {
        !self.wired.is_empty() || !self.altered.is_empty() || self.plugin
    }

    /// What is lacking is more than our MCP server: events do not come.
    pub fn misses_events(&self) -> bool {
        self.missing.iter().chain(&self.altered).any(|name| name != SERVER)
    }

    /// What `install` would complete, for people.
    pub fn lacking(&self) -> String {
        let told = |what: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
        };
        let missing = told("not there", &self.missing);
        let altered = told("not as it was installed", &self.altered);
        missing.into_iter().chain(altered).collect::<Vec<_>>().join("; ")
    }

    fn starts(&mut self, path: String, by_hooks: bool) {
        match self.programs.iter_mut().find(|known| known.path == path) {
            Some(known) => known.by_hooks |= by_hooks,
            None => self.programs.push(Started { path, by_hooks }),
        }
    }
}

/// Whether settings have a plugin of ours on.
fn has_plugin(wiring: &Wiring, settings: &Value) -> bool {
    let plugins = wiring.plugins.and_then(|name| settings[name].as_object());
    plugins.into_iter().flatten().any(|(name, on)| {
        // A name is followed by where the plugin comes from.
        name.split('@').next() == Some(SERVER) && on == &Value::Bool(true)
    })
}

/// The text of a file that can be edited.
fn text(
    wiring: &Wiring,
    file: &Wired,
    path: &Path,
    around: &Around<'_>,
) -> Result<String, OpError> {
    let text = read(path, around.uid)?.text;
    // What stands there now is tried out with any path.
    edit::wire(path, text.as_deref(), file, &Ours { agent: wiring.agent, binary: SERVER })?;
    Ok(text.unwrap_or_default())
}

/// Looks at an agent's files; nothing is changed.
pub fn look(wiring: &Wiring, scope: Scope, around: &Around<'_>) -> Look {
    let mut look = Look { found: around.found(wiring), ..Look::default() };
    let mut hooks = Vec::new();
    for file in wiring.files {
        let Some(path) = around.file(file, scope) else { continue };
        let text = text(wiring, file, &path, around).unwrap_or_else(|trouble| {
            look.trouble.push(trouble.message);
            let text = glimpse(&path);
            look.unseen.extend(hidden(&path).filter(|place| !look.unseen.contains(place)));
            let means_nothing = |text: &String| edit::value(text, file.format).is_none();
            look.invalid |= text.as_ref().is_none_or(means_nothing) && hidden(&path).is_none();
            text.unwrap_or_default()
        });
        if file.parts.iter().any(|part| matches!(part, Part::Hooks(_) | Part::Text(_))) {
            let changed = fs::metadata(&path).and_then(|meta| meta.modified()).ok();
            look.changed = look.changed.max(changed);
            let value = edit::value(&text, file.format).unwrap_or_default();
            look.plugin |= has_plugin(wiring, &value);
            hooks.push(Settings { path: path.clone(), value });
        }
        look.files.push(path);
        let there = edit::wired(&text, file, wiring.agent);
        for name in wanted(file) {
            let piece = there.iter().find(|piece| piece.name == name);
            if let Some(path) = piece.and_then(|piece| program(&piece.entry)) {
                look.starts(path, name != SERVER);
            }
            match piece {
                Some(piece) if piece.whole => look.wired.push(name),
                Some(_) => look.altered.push(name),
                None => look.missing.push(name),
            }
        }
    }
    look.off = switches::off(wiring, &hooks, around);
    look
}

fn wanted(file: &Wired) -> Vec<String> {
    let mut all = Vec::new();
    for part in file.parts {
        match part {
            Part::Hooks(hooks) => all.extend(hooks.events.iter().map(|on| on.event.to_owned())),
            Part::Server { .. } => all.push(SERVER.to_owned()),
            Part::Text(_) if file.format == Format::Text => all.push("plugin".to_owned()),
            Part::Number { .. } | Part::Text(_) => {}
        }
    }
    all
}
