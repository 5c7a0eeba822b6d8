//! The manual page: every command with its arguments, from the same tree as the help.

use clap::{Arg, Command};
use model::error::CODES;

/// The files of a user, with their default paths.
const FILES: [(&str, &str); 8] = [
    (
        "~/.local/share/rekindle/rekindle.db",
        "The database. REKINDLE_HOME and --db change its place.",
    ),
    ("~/.local/share/rekindle/token", "The token of HTTP clients."),
    ("~/.local/share/rekindle/spool/", "Events that are not stored in the database yet."),
    (
        "~/.local/share/rekindle/backups/",
        "Databases that `rekindle restore` replaced. A damaged database is set aside beside the new one.",
    ),
    ("~/.local/share/rekindle/log/", "The log of the daemon and that of the hooks."),
    ("~/.config/rekindle/config.toml", "The settings."),
    (".rekindle.toml", "The settings of a project, at its root."),
    ("$XDG_RUNTIME_DIR/rekindle/", "The daemon's lock, socket and discovery file."),
];

/// Commands that a new user needs. Each works as shown.
const EXAMPLES: [(&str, &str); 6] = [
    ("rekindle agents", "List the agents of this machine, and which are connected."),
    ("rekindle search docker", "Search the records of this project."),
    ("rekindle mark the tests need Docker", "Keep a sentence for later sessions."),
    (
        "rekindle hint set web build make --ttl forever",
        "Store the command that builds a component.",
    ),
    ("rekindle briefing", "Show the text that the next session gets at its start."),
    ("rekindle recent --json", "Print the last records as JSON."),
];

/// The page as the `man` program reads it. `environment` has the name and the meaning of each variable.
pub fn man_page(root: &Command, environment: &[(&str, String)]) -> String {
    let name = root.get_name();
    let about = root.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = format!(
        ".\\\" The manual of {name}.\n.TH {} 1\n.SH NAME\n{name} \\- {}\n.SH SYNOPSIS\n.B {name}\n\
         .I COMMAND\n[arguments]\n.SH GLOBAL OPTIONS\n",
        name.to_uppercase(),
        escaped(&about)
    );
    for arg in root.get_arguments().filter(|arg| arg.is_global_set()) {
        put_argument(&mut page, arg);
    }
    page.push_str(".SH COMMANDS\n");
    put_commands(&mut page, root, name);
    page.push_str(".SH EXIT STATUS\n");
    put_item(&mut page, "0", "The command succeeded.");
    for (exit, about) in [(1, "The call failed: "), (2, "The command line is wrong, or ")] {
        let rows = CODES.iter().filter(|row| row.exit == exit);
        let causes: Vec<&str> = rows.map(|row| row.when).collect();
        put_item(&mut page, &exit.to_string(), &format!("{about}{}.", causes.join("; ")));
    }
    page.push_str(".SH ENVIRONMENT\n");
    environment.iter().for_each(|(name, about)| put_item(&mut page, name, about));
    page.push_str(".SH FILES\n");
    FILES.iter().for_each(|(path, about)| put_item(&mut page, path, about));
    page.push_str(".SH EXAMPLES\n");
    EXAMPLES.iter().for_each(|(line, about)| put_item(&mut page, line, about));
    page
}

fn put_commands(page: &mut String, of: &Command, words: &str) {
    for command in of.get_subcommands().filter(|command| !command.is_hide_set()) {
        let words = format!("{words} {}", command.get_name());
        let below = command.has_subcommands();
        if !below || command.get_arguments().next().is_some() {
            page.push_str(&format!(".SS {}\n", escaped(&words)));
            let about = command.get_long_about().or(command.get_about());
            for line in about.map(ToString::to_string).unwrap_or_default().lines() {
                page.push_str(if line.trim().is_empty() { ".PP" } else { "" });
                page.push_str(&format!("{}\n", guarded(line.trim_start())));
            }
            let own = command.get_arguments().filter(|arg| !arg.is_global_set());
            own.filter(|arg| !arg.is_hide_set()).for_each(|arg| put_argument(page, arg));
        }
        put_commands(page, command, &words);
    }
}

fn put_argument(page: &mut String, arg: &Arg) {
    let value = arg.get_value_names().and_then(<[_]>::first).map(ToString::to_string);
    let takes = arg.get_action().takes_values();
    let shown = match (arg.get_long(), value) {
        (Some(long), Some(value)) if takes => format!("--{long} {value}"),
        (Some(long), _) => format!("--{long}"),
        (None, value) => value.unwrap_or_else(|| arg.get_id().to_string().to_uppercase()),
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    put_item(page, &shown, &help);
}

/// A term and its explanation.
fn put_item(page: &mut String, term: &str, about: &str) {
    page.push_str(&format!(".TP\n.B {}\n{}\n", escaped(term), guarded(about)));
}

/// Escapes text for roff.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\n', " ")
}

/// Escapes text at the start of a line, where a dot or an apostrophe would be a roff request.
fn guarded(text: &str) -> String {
    let text = escaped(text);
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}
