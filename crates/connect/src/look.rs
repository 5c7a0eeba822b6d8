//! Finds our entries in an agent's configuration.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agents::wiring::{Format, Part, Wired, Wiring};
use model::OpError;
use serde_json::Value;

use crate::edit;
use crate::ours::{Ours, SERVER, STATUS_LINE, is_our_status_line, program};
use crate::place::{Around, ConnectScope, read, read_unedited, unreadable_part};
use crate::switches::{self, DisabledPart, SettingsFile};

/// How an agent is connected, for its user or in a repository.
#[derive(Clone, Debug, Default)]
pub struct AgentConnection {
    /// The directory or program by which the agent was found.
    pub found: Option<PathBuf>,
    pub files: Vec<PathBuf>,
    /// The hooked events, and `rekindle` for our server.
    pub wired: Vec<String>,
    /// Entries that are missing and would be installed.
    pub missing: Vec<String>,
    /// Entries that are not as they would be installed: narrowed, or of another type.
    pub altered: Vec<String>,
    /// The programs that the agent starts for us.
    pub programs: Vec<StartedProgram>,
    /// Files that cannot be edited, and why.
    pub trouble: Vec<String>,
    /// Paths that could not be read, and why.
    pub unseen: Vec<String>,
    /// Whether a file could be read but not parsed.
    pub invalid: bool,
    /// When the files with the hooks last changed.
    pub changed: Option<SystemTime>,
    /// Whether it has a status line, and if so, whether that is ours.
    pub status_line: Option<bool>,
    /// Whether our plugin is enabled in its settings.
    pub plugin: bool,
    /// Our entries that its settings disable in this repository.
    pub off: Vec<DisabledPart>,
}

/// A program that an agent starts for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedProgram {
    pub path: String,
    /// Whether hooks start it; otherwise only our MCP server does.
    pub by_hooks: bool,
}

impl AgentConnection {
    /// `yes`, `partly` or `no`; `invalid` or `unknown` if a file cannot be parsed or read.
    pub fn state(&self) -> &'static str {
        match (self.wired.is_empty(), self.missing.is_empty() && self.altered.is_empty()) {
            _ if self.invalid => "invalid",
            (false, true) => "yes",
            _ if !self.unseen.is_empty() => "unknown",
            (true, _) if self.altered.is_empty() => "no",
            _ => "partly",
        }
    }

    /// Whether the agent calls us from these files or through our plugin, at least in part.
    pub fn is_connected(&self) -> bool {
        !self.wired.is_empty() || !self.altered.is_empty() || self.plugin
    }

    /// Whether more than our MCP server is missing, so that events do not arrive.
    pub fn misses_events(&self) -> bool {
        self.missing.iter().chain(&self.altered).any(|name| name != SERVER)
    }

    /// The entries that `install` would complete, as text for the user.
    pub fn lacking(&self) -> String {
        let told = |what: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
        };
        let missing = told("missing", &self.missing);
        let altered = told("not as `install` writes it", &self.altered);
        missing.into_iter().chain(altered).collect::<Vec<_>>().join("; ")
    }

    fn starts(&mut self, path: String, by_hooks: bool) {
        match self.programs.iter_mut().find(|known| known.path == path) {
            Some(known) => known.by_hooks |= by_hooks,
            None => self.programs.push(StartedProgram { path, by_hooks }),
        }
    }
}

/// Whether settings enable our plugin.
fn has_plugin(wiring: &Wiring, settings: &Value) -> bool {
    let plugins = wiring.plugins.and_then(|name| settings[name].as_object());
    plugins.into_iter().flatten().any(|(name, on)| {
        // The name is followed by the plugin's source.
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
    // The edited text is thrown away: this only tests whether the file can be edited, so any program path does.
    let ours = Ours { agent: wiring.agent, binary: SERVER, status_line: false };
    edit::wire(path, text.as_deref(), file, &ours)?;
    Ok(text.unwrap_or_default())
}

/// Inspects an agent's files; changes nothing.
pub fn look(wiring: &Wiring, scope: ConnectScope, around: &Around<'_>) -> AgentConnection {
    let mut look = AgentConnection { found: around.found(wiring), ..AgentConnection::default() };
    let mut hooks = Vec::new();
    for file in wiring.files {
        let Some(path) = around.file(file, scope) else { continue };
        let text = text(wiring, file, &path, around).unwrap_or_else(|trouble| {
            look.trouble.push(trouble.message);
            let text = read_unedited(&path);
            look.unseen.extend(unreadable_part(&path).filter(|place| !look.unseen.contains(place)));
            let means_nothing = |text: &String| edit::value(text, file.format).is_none();
            look.invalid |=
                text.as_ref().is_none_or(means_nothing) && unreadable_part(&path).is_none();
            text.unwrap_or_default()
        });
        if file.parts.iter().any(|part| matches!(part, Part::Hooks(_) | Part::Text(_))) {
            let changed = fs::metadata(&path).and_then(|meta| meta.modified()).ok();
            look.changed = look.changed.max(changed);
            let value = edit::value(&text, file.format).unwrap_or_default();
            look.plugin |= has_plugin(wiring, &value);
            if file.parts.iter().any(|part| matches!(part, Part::StatusLine)) {
                let line = value.get(STATUS_LINE).filter(|line| !line.is_null());
                look.status_line = line.map(is_our_status_line);
            }
            hooks.push(SettingsFile { path: path.clone(), value });
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
            Part::StatusLine | Part::Number { .. } | Part::Text(_) => {}
        }
    }
    all
}
