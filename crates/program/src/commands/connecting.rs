//! Shared by `install`, `uninstall`, `agents` and `up`: locations of agents, selected agents, and a prompt for
//! confirmation.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;

use agents::wiring::{WIRINGS, Wiring};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use connect::{AgentConnection, Around, ConnectScope, DisabledPart, FileChange, look};
use model::OpError;
use serde_json::{Value, json};

use crate::world::World;

/// The home directory and the current repository of this process.
pub(super) struct Here {
    home: PathBuf,
    project: PathBuf,
}

impl Here {
    pub(super) fn find() -> Result<Here, OpError> {
        let home = client::platform::home().ok_or_else(|| {
            OpError::unavailable("cannot tell where your home directory is").hint("Set HOME.")
        })?;
        if !home.is_absolute() {
            // An agent may be started in any directory, so its settings need absolute paths.
            let message = format!("HOME is not an absolute path: {}", home.display());
            return Err(OpError::unavailable(message).hint("Set HOME to the whole path."));
        }
        let cwd = std::env::current_dir().unwrap_or_else(|_| home.clone());
        let project = git::Facts::at(&cwd).map_or(cwd, |facts| facts.root);
        Ok(Here { home, project })
    }

    pub(super) fn home(&self) -> &std::path::Path {
        &self.home
    }

    pub(super) fn around(&self) -> Around<'_> {
        Around {
            var: &|name| std::env::var_os(name),
            home: &self.home,
            project: &self.project,
            uid: client::platform::uid(),
        }
    }
}

/// The argument that names agents.
pub(super) fn agents_arg(help: &'static str) -> Arg {
    Arg::new("agent")
        .value_name("AGENT")
        .action(ArgAction::Append)
        .num_args(0..)
        .value_parser(PossibleValuesParser::new(WIRINGS.iter().map(|wiring| wiring.agent)))
        .help(help)
}

pub(super) fn yes_arg(help: &'static str) -> Arg {
    Arg::new("yes").long("yes").short('y').action(ArgAction::SetTrue).help(help)
}

/// The agents that a line names, without duplicates.
pub(super) fn named(matches: &ArgMatches) -> Vec<&'static Wiring> {
    let names = matches.get_many::<String>("agent").into_iter().flatten();
    let names: Vec<&String> = names.collect();
    let is_named = |wiring: &&Wiring| names.iter().any(|name| **name == wiring.agent);
    WIRINGS.iter().filter(is_named).collect()
}

/// Asks on a terminal; `None` without a terminal.
pub(super) fn ask(world: &World, question: &str, default: bool) -> Option<bool> {
    if world.out.json || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let choice = if default { "[Y/n]" } else { "[y/N]" };
    let mut err = std::io::stderr();
    // If the question cannot be written, no answer is expected.
    write!(err, "{question} {choice} ").and_then(|()| err.flush()).ok()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    Some(match line.trim().to_lowercase().as_str() {
        "" => default && line.ends_with('\n'),
        word => word == "y" || word == "yes",
    })
}

/// Directory of the record of installed files. It depends on the home directory, like the agents' files, and not on
/// the database.
pub(super) fn record_dir() -> PathBuf {
    client::platform::locations(None).data_dir
}

/// How an agent is connected: for its user, else in this repository.
pub(super) fn seen(wiring: &Wiring, around: &Around<'_>) -> (AgentConnection, ConnectScope) {
    let (user, mut project) =
        (look(wiring, ConnectScope::User, around), look(wiring, ConnectScope::Project, around));
    if user.is_connected() || !(project.is_connected() || project.invalid) {
        return (user, ConnectScope::User);
    }
    // Errors in the user's own files also matter in a repository.
    project.trouble.extend(user.trouble);
    (project, ConnectScope::Project)
}

/// The command that connects an agent in this scope.
pub(super) fn install_line(agent: &str, scope: ConnectScope) -> String {
    let scope = if scope == ConnectScope::Project { " --scope project" } else { "" };
    format!("`rekindle install {agent}{scope}`")
}

/// Settings that disable parts of a connected agent, each with its fix.
pub(super) fn switched_off(wiring: &Wiring, look: &AgentConnection) -> Vec<DisabledPart> {
    if !look.is_connected() {
        return Vec::new();
    }
    let told = |off: &DisabledPart| {
        let detail = format!("{} is connected, but {}", wiring.title, off.detail);
        DisabledPart { detail, ..off.clone() }
    };
    look.off.iter().map(told).collect()
}

/// Files and the change of each, optionally with a diff.
pub(super) fn files<'c>(changes: impl Iterator<Item = &'c FileChange>, diff: bool) -> Vec<Value> {
    let shown = |change: &FileChange| {
        let path = change.path.to_string_lossy();
        let mut file = json!({ "path": path, "done": change.doing().word() });
        if diff {
            let (before, after) = (change.before.as_deref(), change.after.as_deref());
            file["diff"] = connect::unified(&path, before, after).into();
        }
        file
    };
    changes.map(shown).collect()
}

/// Names for people: `a`, `a and b`, `a, b and c`.
pub(super) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
