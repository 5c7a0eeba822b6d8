//! What of ours stands in an agent's configuration now.

use std::path::PathBuf;

use agents::wiring::{Format, Part, Wired, Wiring};

use crate::edit;
use crate::ours::{SERVER, program};
use crate::place::{Around, Scope, read};

/// How an agent is connected for its user.
#[derive(Clone, Debug)]
pub struct Look {
    /// By what the agent was found: its folder or its program.
    pub found: Option<PathBuf>,
    pub files: Vec<PathBuf>,
    /// The events that are hooked, and our server, which stands as `rekindle`.
    pub wired: Vec<String>,
    /// What is not there and would be installed.
    pub missing: Vec<String>,
    /// The programs that the agent starts for us.
    pub programs: Vec<String>,
    /// Why a file could not be read.
    pub trouble: Vec<String>,
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
    };
    for file in wiring.files {
        let Some(path) = around.file(file, scope) else { continue };
        let text = match read(&path, around.uid) {
            Ok(standing) => standing.text.unwrap_or_default(),
            Err(error) => {
                look.trouble.push(error.message);
                String::new()
            }
        };
        look.files.push(path);
        let there = edit::wired(&text, file);
        for name in wanted(file) {
            match there.iter().find(|(known, _)| *known == name) {
                Some((_, entry)) => {
                    let program = program(entry);
                    look.programs.extend(program.filter(|path| !look.programs.contains(path)));
                    look.wired.push(name);
                }
                None => look.missing.push(name),
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
