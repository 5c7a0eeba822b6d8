//! Completion of values that are in the store: projects, sessions, components; and of settings and operations. The static script of a shell knows the
//! commands, flags and fixed values; for other values it calls the program with the unfinished line.

use clap::{Arg, Command};

use crate::tree::OPERATION;

/// The kind of a value that the program itself completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveValues {
    Projects,
    Sessions,
    Components,
    Settings,
    Operations,
}

/// The id of an argument that takes the name of a setting.
pub const SETTING: &str = "setting";

impl LiveValues {
    /// The values of this argument of a command. The id of a parameter of an operation ends with the parameter's name.
    fn of(arg: &Arg, command: &Command) -> Option<LiveValues> {
        match arg.get_id().as_str() {
            SETTING => return Some(LiveValues::Settings),
            OPERATION => return Some(LiveValues::Operations),
            // Arguments of the caller's own commands.
            "session" => return Some(LiveValues::Sessions),
            "project" => return Some(LiveValues::Projects),
            _ => {}
        }
        let name = |arg: &Arg| {
            Some(arg.get_id().as_str().strip_prefix("param:")?.rsplit(':').next()?.to_owned())
        };
        let is_of_sessions =
            || command.get_arguments().any(|arg| name(arg).as_deref() == Some("session_id"));
        match name(arg)?.as_str() {
            // Sets are copied from a session, and records from a project.
            "from" if is_of_sessions() => Some(LiveValues::Sessions),
            "project" | "from" | "into" => Some(LiveValues::Projects),
            "session_id" => Some(LiveValues::Sessions),
            "component" => Some(LiveValues::Components),
            _ => None,
        }
    }
}

/// The kind of value that the last of these words begins, and its beginning. The words are those after the program's
/// name; a shell may have split `--flag=value` at its `=`.
pub fn live_values<'w>(root: &Command, words: &'w [String]) -> Option<(LiveValues, &'w str)> {
    let (last, before) = words.split_last()?;
    let (mut command, mut position, mut pending) = (root, 0, None::<&Arg>);
    for word in before {
        if word == "=" {
            continue;
        }
        if pending.take().is_some() {
            continue;
        }
        if let Some(flag) = word.strip_prefix("--") {
            pending = flag_of(root, command, flag).filter(|arg| arg.get_action().takes_values());
        } else if position == 0
            && let Some(below) = command.find_subcommand(word)
        {
            command = below;
        } else if !word.starts_with('-') {
            position += 1;
        }
    }
    let (arg, start) = match (pending, last.strip_prefix("--")) {
        (Some(arg), _) => (arg, last.strip_prefix('=').unwrap_or(last)),
        (None, Some(flag)) => {
            let (flag, start) = flag.split_once('=')?;
            (flag_of(root, command, flag)?, start)
        }
        (None, None) => {
            let mut places = command.get_arguments().filter(|arg| arg.is_positional());
            (places.nth(position)?, last.as_str())
        }
    };
    Some((LiveValues::of(arg, command)?, start))
}

/// The argument with this flag, without its dashes.
fn flag_of<'c>(root: &'c Command, command: &'c Command, flag: &str) -> Option<&'c Arg> {
    let has = |arg: &&Arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long() == Some(flag) || aliases.contains(&flag)
    };
    command.get_arguments().chain(root.get_arguments()).find(has)
}

/// Corrects the lines of positional arguments in a script for zsh. Zsh splits them at colons, which our ids contain, and
/// would run text between backticks. Two colons after `*` would complete the names of programs.
pub(crate) fn corrected_for_zsh(script: &str) -> String {
    let corrected = script.lines().map(|line| {
        let is_positional = line.starts_with('\'') && line.contains(":param::");
        match is_positional {
            true => line.replace("'*::", "'*:").replace(":param::", ":").replace('`', "\\`"),
            false => line.to_owned(),
        }
    });
    corrected.map(|line| line + "\n").collect()
}

/// The static script of a shell, extended by the values from the store. Shells without an extension complete
/// everything else.
pub(crate) fn extended(script: &str, shell: clap_complete::Shell) -> String {
    match shell {
        clap_complete::Shell::Bash => format!("{script}{BASH}"),
        clap_complete::Shell::Zsh => {
            // The script ends with its own call or registration, which ours replaces.
            let end = script.rfind("\nif [ \"$funcstack[1]\"").unwrap_or(script.len());
            format!("{}\n{ZSH}", &script[..end])
        }
        clap_complete::Shell::Fish => format!("{}{FISH}", without_files(script)),
        _ => script.to_owned(),
    }
}

/// The script for fish in which flags with live values complete these, and no files.
fn without_files(script: &str) -> String {
    const LIVE: [&str; 5] = ["project", "session", "session-id", "component", "from"];
    let line = |line: &str| {
        let is_live = LIVE.iter().any(|flag| line.contains(&format!(" -l {flag} ")));
        match line.strip_suffix(" -r").filter(|_| is_live) {
            Some(flag) => format!("{flag} -x -a '(__rekindle_live)'\n"),
            None => format!("{line}\n"),
        }
    };
    script.lines().map(line).collect()
}

const BASH: &str = r#"
_rekindle_live() {
    local value
    COMPREPLY=()
    while IFS= read -r value; do
        COMPREPLY+=("$(printf '%q' "$value")")
    done < <(rekindle complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        _rekindle "$@"
    fi
}

complete -F _rekindle_live -o nosort -o bashdefault -o default rekindle
"#;

const ZSH: &str = r#"
_rekindle_live() {
    local -a values
    values=("${(@f)$(rekindle complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${values[1]}" ]]; then
        compadd -- "${values[@]}"
    else
        _rekindle_static "$@"
    fi
}

functions[_rekindle_static]=$functions[_rekindle]
if [ "$funcstack[1]" = "_rekindle" ]; then
    functions[_rekindle]=$functions[_rekindle_live]
    _rekindle_live "$@"
else
    compdef _rekindle_live rekindle
fi
"#;

const FISH: &str = r#"
function __rekindle_live
    set -l words (commandline -opc) (commandline -ct)
    rekindle complete -- $words[2..] 2>/dev/null
end
complete -c rekindle -f -n 'count (__rekindle_live) >/dev/null' -a '(__rekindle_live)'
"#;
