//! The manual page: every command with its arguments, from the same tree as the help.

use clap::{Arg, Command};

/// The page as the `man` program reads it.
pub fn man_page(root: &Command) -> String {
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
    page.push_str(&format!(".TP\n.B {}\n{}\n", escaped(&shown), guarded(&help)));
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
