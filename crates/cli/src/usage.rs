//! Messages about a command line: help and version as text, a mistake as one line and a hint.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use contract::{Operation, Table};
use model::OpError;
use text::suggest;

use crate::EXIT_USAGE;
use crate::name::ProgramName;
use crate::output::Output;

/// Prints clap's message about a line and returns the exit code.
pub(crate) fn report(
    error: &clap::Error,
    argv: &[OsString],
    root: &Command,
    table: &Table,
    out: &mut Output,
) -> u8 {
    let name = out.name();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => out.styled(&error.render()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !out.json => {
            out.styled_note(&error.render());
            EXIT_USAGE
        }
        _ => {
            let said = ClapContext(error);
            let (words, command) = deepest(root, argv);
            let mistake = OpError::invalid("", message(&said, argv, command))
                .hint(text::one_line(&hint(&said, argv, (&words, command), table, name), 600));
            out.usage(&mistake)
        }
    }
}

/// The innermost command that a line names, and its words.
pub(crate) fn deepest<'c>(root: &'c Command, argv: &[OsString]) -> (String, &'c Command) {
    let (mut words, mut command) = (root.get_name().to_owned(), root);
    let line = argv.iter().skip(1).take_while(|word| *word != "--");
    // `help` is followed by the command that it is about.
    for word in line.filter(|word| *word != "help") {
        if let Some(below) = command.find_subcommand(word) {
            words = format!("{words} {}", below.get_name());
            command = below;
        }
    }
    (words, command)
}

/// The name under which the line gives the matching flag; `None` if it does not give it.
pub(crate) fn typed(
    argv: &[OsString],
    command: &Command,
    fits: impl Fn(&Arg) -> bool,
) -> Option<String> {
    let arg = command.get_arguments().find(|arg| fits(arg))?;
    let aliases = arg.get_all_aliases().unwrap_or_default();
    let names: Vec<&str> = arg.get_long().into_iter().chain(aliases).collect();
    let line =
        argv.iter().skip(1).take_while(|word| *word != "--").filter_map(|word| word.to_str());
    let flags = line.filter_map(|word| word.split('=').next());
    let known = |flag: &&str| flag.strip_prefix("--").is_some_and(|name| names.contains(&name));
    flags.filter(known).last().map(str::to_owned)
}

/// The message about a mistake, on one line. Arguments may be of any length and contain anything, so they are cut; the
/// list of valid values is printed whole.
fn message(said: &ClapContext<'_>, argv: &[OsString], command: &Command) -> String {
    let arg = said.text(ContextKind::InvalidArg);
    let value = text::one_line(&said.text(ContextKind::InvalidValue), 200);
    // The flag alone, without the `<TTL>` of `--ttl <TTL>`.
    let flag = arg.split([' ', '[', '=']).next().unwrap_or_default();
    let is_it =
        |arg: &Arg| arg.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long));
    // An argument without a flag is named as the usage names it: `[AGENT]...`.
    let named = || if flag.is_empty() { arg.clone() } else { flag.to_owned() };
    let typed = typed(argv, command, is_it).unwrap_or_else(named);
    let message = match said.0.kind() {
        ErrorKind::MissingRequiredArgument => format!("missing {arg}"),
        ErrorKind::UnknownArgument => format!("unexpected argument '{arg}'"),
        ErrorKind::InvalidSubcommand => {
            format!("no command is called '{}'", said.text(ContextKind::InvalidSubcommand))
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "a command is missing".to_owned()
        }
        ErrorKind::InvalidValue if value.is_empty() => format!("{typed} wants a value"),
        ErrorKind::InvalidValue => {
            let valid = said.text(ContextKind::ValidValue);
            return format!("{typed} wants one of {valid}, not '{value}'");
        }
        ErrorKind::InvalidUtf8 => "an argument is not UTF-8".to_owned(),
        _ => {
            let rendered = said.0.render().to_string();
            let first = rendered.lines().next().unwrap_or_default();
            let first = first.trim_start_matches("error: ");
            if let Some(range) = out_of_range(first) {
                return text::one_line(
                    &format!("{typed} wants a number {range}, not '{value}'"),
                    300,
                );
            }
            let first = first.replace("invalid digit found in string", "it is not a number");
            if typed == flag { first } else { first.replace(&arg, &typed) }
        }
    };
    text::one_line(&message, 300)
}

/// The valid numbers, if clap's message is about one outside of them: `99999 is not in 0..=65535`.
fn out_of_range(message: &str) -> Option<String> {
    let (_, range) = message.split_once(" is not in ")?;
    let (from, to) = range.trim().split_once("..")?;
    let to = to.trim_start_matches('=');
    Some(if to.is_empty() { format!("from {from}") } else { format!("from {from} to {to}") })
}

/// The hint: the probable fix, and the usage of the command.
fn hint(
    said: &ClapContext<'_>,
    argv: &[OsString],
    (words, command): (&str, &Command),
    table: &Table,
    name: &ProgramName,
) -> String {
    let is_root = words == name.word;
    let unknown = said.unknown_command();
    let meant = match &unknown {
        Some(word) if is_root && table.find(word).is_some() => command_of(table, word, name),
        Some(word) => {
            suggested_command(word, command).or_else(|| elsewhere(word, words, command, is_root))
        }
        None => suggested(said, argv, command),
    };
    let below: Vec<&str> = shown(command).map(Command::get_name).collect();
    // A command with subcommands of its own has several lines of usage.
    let usage = said.text(ContextKind::Usage);
    let usage = usage.lines().next().unwrap_or_default();
    let usage = usage.split_whitespace().collect::<Vec<_>>().join(" ");
    // For a flag that it does not know, clap leaves out all flags.
    let usage = match said.0.kind() {
        ErrorKind::UnknownArgument if !usage.is_empty() => whole_usage(words, command),
        _ => usage,
    };
    match (unknown.is_some(), meant) {
        (true, Some(meant)) => meant,
        (true, None) if is_root => format!("`{words} --help` lists the commands."),
        (true, None) if !below.is_empty() => {
            format!("The commands of `{words}` are {}.", below.join(", "))
        }
        (_, Some(meant)) => format!("{meant} {usage}").trim_end().to_owned(),
        (_, None) => match said.0.kind() {
            ErrorKind::UnknownArgument if said.text(ContextKind::InvalidArg).starts_with("--") => {
                format!("`{words} --help` lists the options.")
            }
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                match is_root {
                    true => format!("`{words} --help` lists the commands."),
                    false => format!("The commands of `{words}` are {}.", below.join(", ")),
                }
            }
            _ if usage.is_empty() => format!("See `{words} --help`."),
            ErrorKind::MissingRequiredArgument if name.is_full() => match example(command, name) {
                Some(line) => format!("{usage}, for example `{line}`"),
                None => usage,
            },
            _ => usage,
        },
    }
}

/// The usage of a command with all its parts, on one line.
fn whole_usage(words: &str, command: &Command) -> String {
    let usage = command.clone().bin_name(words).render_usage().to_string();
    let first = usage.lines().next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The subcommands that help shows.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set())
}

/// The first example in the help of a command.
fn example(command: &Command, name: &ProgramName) -> Option<String> {
    let help = command.get_after_help()?.to_string();
    let line = help.lines().map(str::trim).find(|line| line.split(' ').next() == Some(name.word));
    line.map(str::to_owned)
}

/// Words that users type for each other. A typed word suggests a command or a flag of its row.
const SYNONYMS: &[&[&str]] = &[
    &["search", "find", "query", "grep"],
    &["list", "ls"],
    &["delete", "remove", "rm", "purge", "forget", "erase", "clear"],
    &["show", "get", "view"],
    &["add", "set", "store", "put", "create", "new"],
    &["up", "start"],
    &["maintain", "tidy", "clean", "vacuum"],
    &["after", "since", "from"],
    &["before", "until"],
    &["type", "kind"],
    &["limit", "last", "count"],
];

/// Commands of other programs, and their counterparts here.
const OF_OTHERS: &[(&str, &str)] = &[
    (
        "remember",
        "Did you mean `{} mark` (a note in the timeline) or `{} memory add` (recalled by later sessions)?",
    ),
    (
        "note",
        "Did you mean `{} mark` (a note in the timeline) or `{} memory add` (recalled by later sessions)?",
    ),
    ("version", "`{} --version` prints the version."),
];

/// Words for two commands in a row.
const SEQUENCES: &[(&str, [&str; 2])] = &[("restart", ["stop", "up"])];

/// Letters that other programs use as short flags, and the flags of ours that do not begin with them.
const SHORT_FLAGS: &[(&str, &str)] = &[("n", "limit"), ("C", "cwd")];

/// The known word with the meaning of the typed one.
fn synonym<'n>(typed: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let row = SYNONYMS.iter().find(|row| row.contains(&typed))?;
    let known: Vec<&str> = known.collect();
    row.iter().find_map(|word| known.iter().find(|known| *known == word).copied())
}

/// The subcommands that an unknown word probably means, best first.
fn suggested_command(typed: &str, command: &Command) -> Option<String> {
    let names = || {
        shown(command)
            .flat_map(|below| std::iter::once(below.get_name()).chain(below.get_visible_aliases()))
    };
    let other = OF_OTHERS.iter().find(|(word, _)| *word == typed);
    if let Some((_, meant)) = other.filter(|_| names().any(|name| name == "mark")) {
        return Some(meant.replace("{}", command.get_name()));
    }
    let sequence = SEQUENCES.iter().find(|(word, _)| *word == typed);
    if let Some((_, [first, second])) = sequence
        && [first, second].iter().all(|word| names().any(|name| name == **word))
    {
        let root = command.get_name();
        return Some(format!("Run `{root} {first}`, then `{root} {second}`."));
    }
    match synonym(typed, names()) {
        Some(word) => suggest::offer(&[word]),
        None => suggest::did_you_mean(typed, names()),
    }
}

/// Where else an unknown command is: in a group, as a flag, or the group's own command.
fn elsewhere(typed: &str, words: &str, command: &Command, is_root: bool) -> Option<String> {
    if is_root {
        let groups = shown(command);
        let lines: Vec<String> = groups
            .filter(|group| shown(group).any(|below| below.get_name() == typed))
            .map(|group| format!("`{words} {} {typed}`", group.get_name()))
            .collect();
        return if lines.len() <= 3 { suggest::offer(&lines) } else { None };
    }
    let has_query = command.get_arguments().any(|arg| arg.get_long() == Some("query"));
    match synonym(typed, ["search", "list"].into_iter())? {
        "search" if has_query => Some(format!("Use `{words} --query TEXT`.")),
        "list" if !command.is_subcommand_required_set() => {
            Some(format!("`{words}` alone lists them."))
        }
        _ => None,
    }
}

/// The flags or values that the line probably means, best first.
fn suggested(said: &ClapContext<'_>, argv: &[OsString], command: &Command) -> Option<String> {
    match said.0.kind() {
        ErrorKind::UnknownArgument => {
            let typed = said.text(ContextKind::InvalidArg);
            let Some(typed) = typed.strip_prefix("--") else {
                return match typed.strip_prefix('-') {
                    Some(letter) => Some(instead_of_short(letter, argv, command)),
                    None => session_flag(&typed, command),
                };
            };
            let typed = typed.split('=').next()?;
            let close = match synonym(typed, flags(command)) {
                Some(flag) => vec![flag],
                None => suggest::closest(typed, flags(command)),
            };
            let close: Vec<String> = close.iter().map(|flag| format!("--{flag}")).collect();
            suggest::offer(&close)
        }
        ErrorKind::InvalidValue => {
            let values = said.texts(ContextKind::ValidValue);
            let typed = said.text(ContextKind::InvalidValue);
            suggest::did_you_mean(&typed, values.iter().map(String::as_str))
        }
        _ => None,
    }
}

/// The long flags of a command that help shows, with their aliases.
fn flags(command: &Command) -> impl Iterator<Item = &str> {
    let args = command.get_arguments().filter(|arg| !arg.is_hide_set());
    args.flat_map(|arg| {
        let aliases = arg.get_visible_aliases().unwrap_or_default();
        arg.get_long().into_iter().chain(aliases)
    })
}

/// The hint for an unknown short flag: the long ones that it may mean. Almost no flag has a short form.
fn instead_of_short(letter: &str, argv: &[OsString], command: &Command) -> String {
    const VALUE: &str = "Put a value that starts with '-' after '--'.";
    let short = format!("-{letter}");
    let words = argv.iter().skip(1).filter_map(|word| word.to_str());
    // `-5` and `-latency` are values, `-n` and `-n3` flags.
    let is_flag = words
        .filter_map(|word| word.strip_prefix(short.as_str()))
        .any(|rest| rest.trim_start_matches('=').chars().all(|c| c.is_ascii_digit()));
    if !is_flag || !letter.chars().all(|c| c.is_ascii_alphabetic()) {
        return VALUE.to_owned();
    }
    let usual = SHORT_FLAGS.iter().find(|(short, _)| *short == letter).map(|(_, flag)| *flag);
    let meant =
        |flag: &&str| usual.map_or_else(|| flag.starts_with(letter), |usual| *flag == usual);
    let meant: Vec<String> = flags(command).filter(meant).map(|flag| format!("--{flag}")).collect();
    suggest::offer(&meant).unwrap_or_else(|| {
        let value = VALUE.replacen("Put", "put", 1);
        format!("Flags have long names, which `--help` lists; {value}")
    })
}

/// The flag for a session's id that was given without it, to a command that takes the id only by flag.
fn session_flag(typed: &str, command: &Command) -> Option<String> {
    let id = typed.strip_prefix("session://").unwrap_or(typed);
    let is_id = id.len() >= 4 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_alone = command.get_positionals().next().is_none();
    let has_flag = flags(command).any(|flag| flag == "session");
    (is_id && is_alone && has_flag).then(|| format!("Did you mean --session {id}?"))
}

/// The command of an operation whose name was typed as a command.
fn command_of(table: &Table, word: &str, name: &ProgramName) -> Option<String> {
    let path = table.find(word)?.info.cli.path;
    let call = format!("`rekindle call {word}`");
    Some(match (name.line(path), ProgramName::FULL.line(path)) {
        (Some(line), _) if !name.is_full() => format!("Use `{line}`."),
        (_, Some(line)) => format!("Use `{line}` or {call}."),
        (_, None) => format!("Use {call}."),
    })
}

/// The operation of this name, or an error that names the closest ones.
pub(crate) fn operation<'t>(table: &'t Table, name: &str) -> Result<&'t Operation, OpError> {
    table.get(name).map_err(|mut error| {
        error.message = text::one_line(&error.message, 300);
        let names = table.iter().map(|op| op.info.name);
        let aliases = table.iter().flat_map(|op| op.info.aliases.iter().copied());
        let close = suggest::closest(name, names.chain(aliases));
        if close.is_empty() {
            return error;
        }
        let hint = format!("Did you mean {}? `rekindle ops` lists them all.", close.join(", "));
        error.hint(hint).with("suggestions", close)
    })
}

/// The context of a clap error.
struct ClapContext<'e>(&'e clap::Error);

impl ClapContext<'_> {
    fn texts(&self, kind: ContextKind) -> Vec<String> {
        let plain = StyledStr::to_string;
        match self.0.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(texts)) => texts.clone(),
            Some(ContextValue::StyledStr(text)) => vec![plain(text)],
            Some(ContextValue::StyledStrs(texts)) => texts.iter().map(plain).collect(),
            Some(ContextValue::Number(number)) => vec![number.to_string()],
            _ => Vec::new(),
        }
    }

    fn text(&self, kind: ContextKind) -> String {
        self.texts(kind).join(", ")
    }

    /// The word in the place of a command that does not name one.
    fn unknown_command(&self) -> Option<String> {
        (self.0.kind() == ErrorKind::InvalidSubcommand)
            .then(|| self.text(ContextKind::InvalidSubcommand))
    }
}
