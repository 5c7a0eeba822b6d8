//! What of ours stands in an agent's configuration now.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agents::wiring::{Format, Part, Wired, Wiring};
use model::OpError;
use serde_json::Value;

use crate::edit;
use crate::ours::{Ours, SERVER, program};
use crate::place::{Around, Scope, glimpse, read};

/// How an agent is connected, for its user or in a repository.
#[derive(Clone, Debug)]
pub struct Look {
    /// By what the agent was found: its folder or its program.
    pub found: Option<PathBuf>,
    pub files: Vec<PathBuf>,
    /// The events that are hooked, and our server, which stands as `rekindle`.
    pub wired: Vec<String>,
    /// What is not there, or narrowed, and would be installed.
    pub missing: Vec<String>,
    /// The programs that the agent starts for us.
    pub programs: Vec<String>,
    /// Files that cannot be edited as they stand, and why.
    pub trouble: Vec<String>,
    /// When the files with the hooks last changed.
    pub changed: Option<SystemTime>,
    /// Whether a plugin of ours is on in its settings.
    pub plugin: bool,
    /// The settings that switch all hooks off, if they do.
    pub off: Option<PathBuf>,
}

impl Look {
    /// `yes`, `partly` or `no`.
    pub fn state(&self) -> &'static str {
        match (self.wired.is_empty(), self.missing.is_empty()) {
            (true, _) => "no",
            (false, true) => "yes",
            (false, false) => "partly",
        }
    }

    /// What is missing is more than our MCP server: events do not come.
    pub fn misses_events(&self) -> bool {
        self.missing.iter().any(|name| name != SERVER)
    }

    /// What the settings beside the hooks say about plugins and about hooks as a whole.
    fn settings(&mut self, wiring: &Wiring, path: &Path, text: &str) {
        let Ok(settings) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}'))
        else {
            return;
        };
        let plugins = wiring.plugins.and_then(|name| settings[name].as_object());
        self.plugin |= plugins.into_iter().flatten().any(|(name, on)| {
            // A name is followed by where the plugin comes from.
            name.split('@').next() == Some(SERVER) && on == &Value::Bool(true)
        });
        if wiring.off.is_some_and(|name| settings[name] == Value::Bool(true)) {
            self.off = Some(path.to_owned());
        }
    }
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
    let mut look = Look {
        found: around.found(wiring),
        files: Vec::new(),
        wired: Vec::new(),
        missing: Vec::new(),
        programs: Vec::new(),
        trouble: Vec::new(),
        changed: None,
        plugin: false,
        off: None,
    };
    for file in wiring.files {
        let Some(path) = around.file(file, scope) else { continue };
        let text = text(wiring, file, &path, around).unwrap_or_else(|trouble| {
            look.trouble.push(trouble.message);
            glimpse(&path).unwrap_or_default()
        });
        if file.parts.iter().any(|part| matches!(part, Part::Hooks(_) | Part::Text(_))) {
            let changed = fs::metadata(&path).and_then(|meta| meta.modified()).ok();
            look.changed = look.changed.max(changed);
            look.settings(wiring, &path, &text);
        }
        look.files.push(path);
        let there = edit::wired(&text, file, wiring.agent);
        for name in wanted(file) {
            let piece = there.iter().find(|piece| piece.name == name);
            let program = piece.and_then(|piece| program(&piece.entry));
            look.programs.extend(program.filter(|path| !look.programs.contains(path)));
            match piece {
                Some(piece) if piece.whole => look.wired.push(name),
                _ => look.missing.push(name),
            }
        }
    }
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
