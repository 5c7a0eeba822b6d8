//! `rekindle install`: connects agents, so that they call us and list our tools.

use std::path::{Path, PathBuf};

use agents::wiring::{Part, WIRINGS, Wiring};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use connect::{
    AgentConnection, Around, ConnectScope, Copy, InstallOutcome, InstallRequest, ShellFile, look,
};
use model::{Code, OpError};
use serde_json::{Value, json};

use super::connecting::{self, Here};
use crate::world::World;

/// Path of the installed program, below the home directory.
const INSTALLED: &str = ".local/bin/rekindle";

pub(super) fn command() -> Command {
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    Command::new("install")
        .about("Connect agents: hooks and MCP tools, in one step")
        .long_about(
            "Connect agents: hooks and MCP tools, in one step.\n\n\
             The agents' own files are edited, and everything else in them stays as it is. All files are \
             checked before the first one changes; running it again changes nothing; `rekindle uninstall` \
             restores them byte for byte unless they were edited since. If the program runs from a build \
             directory, it is first copied to ~/.local/bin, so that its path stays valid.",
        )
        .arg(connecting::agents_arg("Agents to connect; those found on this machine if omitted"))
        .arg(flag("dry-run").help("Show what would change, as a diff, and change nothing"))
        .arg(
            Arg::new("scope")
                .long("scope")
                .value_name("SCOPE")
                .default_value("user")
                .value_parser(PossibleValuesParser::new(["user", "project"]))
                .help("For you everywhere, or in the files of this repository"),
        )
        .arg(
            Arg::new("bin")
                .long("bin")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .help("Copy the program to this file or directory, and have agents start the copy"),
        )
        .arg(connecting::yes_arg("If no agent is named, connect all that are found, without asking"))
        .arg(
            flag("statusline")
                .help("Show the session's context in Claude Code's status line, if you have none"),
        )
        .arg(flag("shell").help("Install completions for your shells and the man page"))
        .after_help(
            "Examples:\n  rekindle install claude-code\n  rekindle install --dry-run\n  \
             rekindle install codex gemini-cli --yes\n  rekindle install --shell",
        )
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    match install(world, matches) {
        Ok(Some(result)) => {
            // A diff is printed as it is, however wide the terminal.
            let exit = match result["dry_run"] == true && !world.out.json {
                true => world.out.text(&text::printable(&pretty(&result))),
                false => world.out.result(&result, Some(&pretty)),
            };
            if !world.out.json {
                remarks(world, &result);
            }
            if result["dry_run"] != true {
                super::import::offer(world);
            }
            exit
        }
        Ok(None) => world.out.text("nothing was changed"),
        Err(error) => world.out.error(&error),
    }
}

/// The changes made; `None` if the user declined.
fn install(world: &mut World, matches: &ArgMatches) -> Result<Option<Value>, OpError> {
    let here = Here::find()?;
    let around = here.around();
    let dry = matches.get_flag("dry-run");
    let word = matches.get_one::<String>("scope").map_or("user", String::as_str);
    let scope = if word == "project" { ConnectScope::Project } else { ConnectScope::User };
    let mut chosen = connecting::named(matches);
    let (yes, shell) = (matches.get_flag("yes"), matches.get_flag("shell"));
    if chosen.is_empty() && (yes || !shell) {
        chosen = WIRINGS.iter().filter(|wiring| around.found(wiring).is_some()).collect();
        let nothing_else = !shell || !chosen.is_empty();
        if nothing_else && !agreed(world, &chosen, dry || yes)? {
            return Ok(None);
        }
    }
    let (binary, copy) = program(&here, matches.get_one::<PathBuf>("bin"))?;
    let shell = if shell { shell_files(world, here.home()) } else { Vec::new() };
    let asked = InstallRequest {
        agents: &chosen,
        scope,
        binary: &binary,
        status_line: matches.get_flag("statusline"),
        copy,
        shell: &shell,
        data_dir: &connecting::record_dir(),
    };
    let outcome = if dry {
        connect::preview(&asked, &around)?
    } else {
        // A file size limit must be reported as an error, not kill the process.
        server::platform::survive_file_limits()
            .map_err(|error| OpError::internal(format!("no signal handlers: {error}")))?;
        connect::install(&asked, &around)?
    };
    Ok(Some(told(&asked, &outcome, dry, &around)))
}

/// Whether to continue if no agents were named.
fn agreed(world: &World, found: &[&Wiring], yes: bool) -> Result<bool, OpError> {
    let names: Vec<&str> = found.iter().map(|wiring| wiring.agent).collect();
    if names.is_empty() {
        let known: Vec<&str> = WIRINGS.iter().map(|wiring| wiring.agent).collect();
        return Err(OpError::new(Code::NotFound, "no agent was found on this machine").hint(
            format!("Name one of {}: `rekindle install AGENT`.", connecting::listed(&known)),
        ));
    }
    if yes {
        return Ok(true);
    }
    let titles: Vec<&str> = found.iter().map(|wiring| wiring.title).collect();
    let question = format!("Found {}. Connect?", connecting::listed(&titles));
    connecting::ask(world, &question, true).ok_or_else(|| {
        OpError::invalid("agent", "no agent was named, and there is no terminal to ask at").hint(
            format!("Use `rekindle install {}`, or --yes for all that are found.", names.join(" ")),
        )
    })
}

/// The program that agents start, and the copy to make of it.
pub(super) fn program(
    here: &Here,
    bin: Option<&PathBuf>,
) -> Result<(PathBuf, Option<Copy>), OpError> {
    let exe = std::env::current_exe().map_err(|error| {
        OpError::unavailable(format!("cannot tell where this program is: {error}"))
    })?;
    let to = match bin {
        Some(bin) if bin.is_dir() => bin.join("rekindle"),
        Some(bin) => bin.clone(),
        None if connect::build_folder(&exe) => here.home().join(INSTALLED),
        None => return Ok((exe, None)),
    };
    let to = std::path::absolute(&to)
        .map_err(|error| OpError::invalid("bin", format!("not a path: {error}")))?;
    let same = to.canonicalize().is_ok_and(|to| exe.canonicalize().is_ok_and(|exe| exe == to));
    Ok((to.clone(), (!same).then_some(Copy { from: exe, to })))
}

/// The program that a user starts: this one, or the installed copy if this one is in a build directory.
pub(super) fn installed_program() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    if !connect::build_folder(&exe) {
        return Some(exe);
    }
    let copy = Here::find().ok()?.home().join(INSTALLED);
    copy.is_file().then_some(copy)
}

/// Completions for the shells that are present, and the man page, at the standard paths.
fn shell_files(world: &World, home: &Path) -> Vec<ShellFile> {
    let base = |var: &str, below: &str| match std::env::var_os(var).map(PathBuf::from) {
        Some(dir) if dir.is_absolute() => dir,
        _ => home.join(below),
    };
    let (data, config) =
        (base("XDG_DATA_HOME", ".local/share"), base("XDG_CONFIG_HOME", ".config"));
    let places = [
        ("bash", cli::Shell::Bash, data.join("bash-completion/completions/rekindle")),
        ("zsh", cli::Shell::Zsh, data.join("zsh/site-functions/_rekindle")),
        ("fish", cli::Shell::Fish, config.join("fish/completions/rekindle.fish")),
    ];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    let tree =
        || cli::command(&world.table, super::own_commands(&world.table), &cli::ProgramName::FULL);
    let mut files: Vec<ShellFile> = places
        .into_iter()
        .filter(|(name, _, _)| is_there(name))
        .map(|(_, shell, path)| ShellFile { path, text: cli::completion_script(tree(), shell) })
        .collect();
    let page = cli::man_page(&tree(), &super::reference::environment(&world.table));
    files.push(ShellFile { path: data.join("man/man1/rekindle.1"), text: page });
    files
}

fn told(
    asked: &InstallRequest<'_>,
    outcome: &InstallOutcome,
    dry: bool,
    around: &Around<'_>,
) -> Value {
    let of = |name: &str| {
        let files = outcome.files.iter().filter(|change| change.agent == name);
        connecting::files(files, dry)
    };
    let agents = asked.agents.iter().map(|wiring| {
        let connection = look(wiring, asked.scope, around);
        let off = connecting::switched_off(wiring, &connection);
        let off = off.iter().map(|off| format!("{}. {}", off.detail, off.hint));
        json!({
            "agent": wiring.agent,
            "title": wiring.title,
            "files": of(wiring.agent),
            "remark": wiring.remark,
            "status_line": status_line(wiring, &connection, asked),
            "off": off.collect::<Vec<_>>(),
        })
    });
    let copy = outcome.copy.map_or("unchanged", |doing| doing.word());
    json!({
        "dry_run": dry,
        "changed": !outcome.changes_nothing(),
        "scope": asked.scope.word(),
        "binary": { "path": asked.binary.to_string_lossy(), "done": copy },
        "path_advice": super::search_path::advice(asked.binary),
        "removed": outcome.removed.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        "agents": agents.collect::<Vec<_>>(),
        "shell": of("shell"),
    })
}

/// A note about the status line of an agent: the offer of ours, or that another one is kept.
fn status_line(
    wiring: &Wiring,
    connection: &AgentConnection,
    asked: &InstallRequest<'_>,
) -> Option<String> {
    let mut parts = wiring.files.iter().flat_map(|file| file.parts);
    if !parts.any(|part| matches!(part, Part::StatusLine)) || asked.scope != ConnectScope::User {
        return None;
    }
    let title = wiring.title;
    match (connection.status_line, asked.status_line) {
        (None, false) => Some(format!(
            "{title} can show the session's context in its status line: run `rekindle install {} --statusline`",
            wiring.agent
        )),
        (Some(false), true) => Some(format!("{title} has another status line, which is unchanged")),
        _ => None,
    }
}

fn pretty(result: &Value) -> String {
    let dry = result["dry_run"] == true;
    let list = |of: &Value, name: &str| of[name].as_array().cloned().unwrap_or_default();
    let agents = list(result, "agents");
    let all = agents.iter().flat_map(|agent| list(agent, "files")).chain(list(result, "shell"));
    if dry {
        let binary = &result["binary"];
        let mut text: String =
            all.map(|file| file["diff"].as_str().unwrap_or("").to_owned()).collect();
        if binary["done"] != "unchanged" {
            text.push_str(&format!("the program would be copied to {}\n", plain(&binary["path"])));
        }
        let nothing = "nothing would change";
        return if text.is_empty() { nothing.to_owned() } else { text };
    }
    let line = |file: &Value| format!("  {:<9} {}", plain(&file["done"]), plain(&file["path"]));
    let mut lines = Vec::new();
    if result["binary"]["done"] != "unchanged" {
        lines.push("Program".to_owned());
        lines.push(line(&result["binary"]));
        let removed = list(result, "removed");
        lines.extend(removed.iter().map(|path| format!("  {:<9} {}", "removed", plain(path))));
    }
    for agent in &agents {
        lines.push(plain(&agent["title"]).to_owned());
        lines.extend(list(agent, "files").iter().map(line));
    }
    if !list(result, "shell").is_empty() {
        lines.push("Shell".to_owned());
        lines.extend(list(result, "shell").iter().map(line));
    }
    let end = if result["changed"] != true {
        "Everything is in place already; nothing was changed."
    } else if agents.is_empty() {
        "Completions and the man page are in place for new shells; `rekindle uninstall` removes them. \
         This command connects no agent; `rekindle install` does."
    } else if agents.iter().any(|agent| !list(agent, "off").is_empty()) {
        "Connected, but something is switched off in an agent's settings: switch it on, then start a new session. \
         `rekindle uninstall` undoes all of this."
    } else {
        "Connected. Start a new session of your agent; `rekindle agents` shows whether its events arrive, \
         `rekindle uninstall` undoes all of this."
    };
    format!("{}\n\n{end}", lines.join("\n"))
}

/// Notes the steps that remain for the user.
fn remarks(world: &mut World, result: &Value) {
    if let Some(advice) = result["path_advice"].as_str() {
        world
            .out
            .note(&format!("note: the program is {}. {advice}", plain(&result["binary"]["path"])));
    }
    let shell = result["shell"].as_array().into_iter().flatten();
    let zsh =
        shell.map(|file| plain(&file["path"])).find_map(|path| path.strip_suffix("/_rekindle"));
    if let Some(folder) = zsh {
        world.out.note(&format!("note: zsh completes once {folder} is in your fpath"));
    }
    for agent in result["agents"].as_array().into_iter().flatten() {
        for off in agent["off"].as_array().into_iter().flatten() {
            world.out.note(&format!("warning: {}", plain(off)));
        }
        for member in ["remark", "status_line"] {
            if let Some(remark) = agent[member].as_str() {
                world.out.note(&format!("note: {remark}"));
            }
        }
    }
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
