//! The clap tree: one command for each operation that has a CLI shape, the caller's own commands, and `call`, `ops`
//! and `completions`.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Command, value_parser};
use contract::{Operation, Table};
use serde_json::Value;

use crate::example;
use crate::name::ProgramName;
use crate::overview;
use crate::param::{Param, ParamKind};
use crate::wording::LineWords;

/// Ids of the global flags. A command of the caller that declares an argument of this id and type shows its own help
/// for it.
pub const JSON: &str = "json";
pub const DB: &str = "db";
pub const PORT: &str = "port";
pub(crate) const NO_PAGER: &str = "no-pager";

/// Maximum width of help.
pub(crate) const HELP_COLUMNS_MAX: usize = 100;

/// Ids of the flags of a command whose result is a list.
pub(crate) const IDS: &str = "ids";
pub(crate) const FULL: &str = "full";
/// Id of the flag that selects the columns of a table.
pub(crate) const COLUMNS: &str = "columns";

/// Id of the argument that names an operation.
pub(crate) const OPERATION: &str = "operation";

pub(crate) const CALL: &str = "call";
pub(crate) const OPS: &str = "ops";
pub(crate) const COMPLETIONS: &str = "completions";

/// The tree under this name. The full name has every command. Under another name, the commands of its group are at
/// the top level, next to its own commands.
pub fn command(table: &Table, extra: Vec<Command>, name: &ProgramName) -> Command {
    if name.is_full() {
        let own: Vec<String> = extra.iter().map(|own| own.get_name().to_owned()).collect();
        return overview::headed(whole(table, extra, name, None), table, &own);
    }
    renamed(whole(table, extra, name, None), name)
}

/// The part of the tree with the commands that the line may name, without help texts. Building every command
/// takes several milliseconds, most of them for the schemas of operations. If this part accepts a line, the
/// whole tree would parse it equally; if it refuses the line, the caller must parse it with the whole tree.
pub(crate) fn lean(
    table: &Table,
    extra: &[Command],
    name: &ProgramName,
    argv: &[OsString],
) -> Command {
    let words = argv.iter().skip(1).take_while(|word| *word != "--");
    let words: HashSet<&str> = words.filter_map(|word| word.to_str()).collect();
    let is_named = |own: &&Command| {
        std::iter::once(own.get_name())
            .chain(own.get_all_aliases())
            .any(|word| words.contains(word))
    };
    let extra = extra.iter().filter(is_named).cloned().collect();
    let tree = whole(table, extra, name, Some(&words));
    if name.is_full() { tree } else { renamed(tree, name) }
}

/// Whether these words contain the operation's command under this name.
fn is_said(op: &Operation, words: &HashSet<&str>, name: &ProgramName) -> bool {
    let (path, aliases) = (op.info.cli.path, op.info.cli.aliases);
    let by_saying = name.saying(path).is_some_and(|saying| words.contains(saying.word));
    let is_there = |(place, word): (usize, &&str)| {
        let by_alias = place + 1 == path.len() && aliases.iter().any(|alias| words.contains(alias));
        words.contains(word) || by_alias || (place == 0 && name.group == Some(word))
    };
    by_saying || path.iter().enumerate().all(is_there)
}

/// The tree of another name, built from the commands of the whole tree.
fn renamed(whole: Command, name: &ProgramName) -> Command {
    let has = |command: &&Command| name.own.contains(&command.get_name());
    let own = whole.get_subcommands().filter(has).map(|own| {
        let after = own.get_after_help().map(|help| name.renamed(&help.to_string()));
        own.clone().after_help(after.unwrap_or_default())
    });
    let sayings = name.sayings.iter().filter_map(|saying| {
        let of = saying.command.iter().try_fold(&whole, |of, word| of.find_subcommand(word))?;
        let flags = saying.defaults.iter().filter(|default| !default.doc.is_empty());
        Some(flags.fold(of.clone().name(saying.word), |command, default| {
            command.mut_arg(Param::id_of("", default.param), |arg| arg.help(default.doc))
        }))
    });
    let group = name.group.and_then(|group| whole.find_subcommand(group));
    let group = group.into_iter().flat_map(Command::get_subcommands).cloned();
    // Their display order in the whole tree would mix them up.
    let placed = sayings.chain(own).chain(group).chain([completions(name)]).enumerate();
    root(name).subcommands(placed.map(|(place, command)| command.display_order(place)))
}

/// Every command. If an operation and a command of `extra` have the same words, that of `extra` wins; groups of the
/// same word are merged. With `words`, only the operations whose command is among them, without help texts.
fn whole(
    table: &Table,
    extra: Vec<Command>,
    name: &ProgramName,
    words: Option<&HashSet<&str>>,
) -> Command {
    let mut shapes = CommandNode::default();
    let wanted = |op: &&Operation| {
        !op.info.cli.path.is_empty() && words.is_none_or(|words| is_said(op, words, name))
    };
    let line_words = words.is_none().then(|| LineWords::of_commands(table, name));
    let help = line_words.as_ref();
    for op in table.iter().filter(wanted) {
        let words = op.info.cli.path.iter();
        let node = words.fold(&mut shapes, |node, word| node.below.entry(word).or_default());
        node.op.get_or_insert(op);
    }
    let mut root = root(name);
    for own in extra {
        let merged = match shapes.below.remove(own.get_name()) {
            Some(node) => node.graft(own, name, help),
            None => own,
        };
        root = root.subcommand(merged);
    }
    for (word, node) in shapes.below {
        let command = node.grow(word, name, help);
        root = root.subcommand(match table.command_group(word) {
            Some(about) => command.about(about),
            None => command,
        });
    }
    root.subcommand(call()).subcommand(ops()).subcommand(completions(name))
}

fn root(name: &ProgramName) -> Command {
    let json = Arg::new(JSON)
        .long("json")
        .action(ArgAction::SetTrue)
        .overrides_with(JSON)
        .help("Print the result, or the error, as JSON on stdout");
    let db = Arg::new(DB)
        .long("db")
        .value_name("PATH")
        .value_parser(value_parser!(PathBuf))
        .help("Use this database instead of the default one");
    let no_pager = Arg::new(NO_PAGER)
        .long("no-pager")
        .action(ArgAction::SetTrue)
        .overrides_with(NO_PAGER)
        .hide(!name.is_full())
        .help("Print long output directly, not in $PAGER");
    let ops = match name.is_full() {
        true => "`rekindle ops` lists every operation, ",
        false => "",
    };
    // Under the full name only `up` and `serve` take `--port`; the others find the daemon by its database.
    let port = (!name.is_full()).then(|| port().hide(name.group.is_none()));
    Command::new(name.word)
        .version(env!("CARGO_PKG_VERSION"))
        .about(name.about)
        .after_help(format!("{ops}`{} COMMAND --help` explains a command.", name.word))
        .max_term_width(HELP_COLUMNS_MAX)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(
            [json, no_pager, db]
                .into_iter()
                .chain(port)
                .map(|arg| arg.global(true).help_heading("Global options")),
        )
}

fn port() -> Arg {
    Arg::new(PORT)
        .short('p')
        .long("port")
        .value_name("PORT")
        .value_parser(value_parser!(u16))
        .help("Speak to the daemon at this port, or start it there")
}

/// Whether the line has no command, but perhaps global flags.
pub fn is_bare(name: &ProgramName, argv: &[OsString]) -> bool {
    let flags = root(name).subcommand_required(false).arg_required_else_help(false);
    flags.try_get_matches_from(argv).is_ok()
}

fn call() -> Command {
    Command::new(CALL)
        .about("Call any operation by its name or an alias")
        .arg(Arg::new(OPERATION).value_name("OPERATION").required(true).help("Name or alias"))
        .arg(
            Arg::new("params")
                .value_name("PARAMS")
                .help("Parameters as a JSON object; - reads them from stdin; none by default"),
        )
        .after_help("Examples:\n  rekindle call status\n  rekindle call get '{\"path\":\"hint://web/build\"}'\n  rekindle call set_hint - < hint.json")
}

fn ops() -> Command {
    Command::new(OPS)
        .about("List the operations, explain one, or show what listing them costs an agent")
        .arg(Arg::new(OPERATION).value_name("NAME").help("Explain this operation"))
        .arg(
            Arg::new("cost")
                .long("cost")
                .action(ArgAction::SetTrue)
                .conflicts_with(OPERATION)
                .help("Tokens that each toolset costs an agent that lists it"),
        )
}

fn completions(name: &ProgramName) -> Command {
    Command::new(COMPLETIONS)
        .about("Print the completion script of a shell")
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .required(true)
                .value_parser(value_parser!(clap_complete::Shell))
                .help("Shell to complete for"),
        )
        .after_help(format!(
            "Example:\n  {0} completions bash > ~/.local/share/bash-completion/completions/{0}",
            name.word
        ))
}

/// One word of the operations' commands: an operation, a group, or both.
#[derive(Default)]
struct CommandNode<'t> {
    op: Option<&'t Operation>,
    below: BTreeMap<&'static str, CommandNode<'t>>,
}

impl CommandNode<'_> {
    /// Builds the command of this word. Without `help` it has no help texts.
    fn grow(self, word: &'static str, name: &ProgramName, help: Option<&LineWords>) -> Command {
        let mut command = Command::new(word);
        match self.op {
            Some(op) => {
                command = shape(command, op, name, help);
                if help.is_some() {
                    command = command.after_help(lesson(op, name));
                }
                if !self.below.is_empty() {
                    command =
                        command.args_conflicts_with_subcommands(true).subcommand_negates_reqs(true);
                }
            }
            None => {
                let words: Vec<&str> = self.below.keys().copied().collect();
                command = command
                    .about(words.join(", "))
                    .subcommand_required(true)
                    .arg_required_else_help(true);
            }
        }
        for (word, node) in self.below {
            command = command.subcommand(node.grow(word, name, help));
        }
        command
    }

    /// Adds the missing subcommands of this word to the caller's command.
    fn graft(self, mut command: Command, name: &ProgramName, help: Option<&LineWords>) -> Command {
        for (word, node) in self.below {
            command = match command.find_subcommand(word) {
                Some(_) => command.mut_subcommand(word, |own| node.graft(own, name, help)),
                None => command.subcommand(node.grow(word, name, help)),
            };
        }
        command
    }
}

/// Adds the operation's arguments and help to the command.
fn shape(
    command: Command,
    op: &Operation,
    name: &ProgramName,
    help: Option<&LineWords>,
) -> Command {
    let info = op.info;
    let known = help.map(|_| Param::all(op)).unwrap_or_default();
    let mut params = Param::all(op);
    // Clap numbers positions in the order of arguments; flags follow in the order of the schema.
    params.sort_by_key(|param| param.position.unwrap_or(usize::MAX));
    let last = op.info.cli.positional.len().checked_sub(1);
    let args = params.iter().map(|param| {
        let from_stdin =
            param.position == last && matches!(param.kind, ParamKind::Text | ParamKind::Any);
        let arg = arg(
            param,
            match param {
                _ if param.from_file => "; a file that holds it, - for stdin, or the JSON itself",
                _ if param.whole => "; as JSON, which the flags of its members override",
                _ if last.is_some() && from_stdin => "; - reads stdin",
                _ => "",
            },
        );
        let arg = match help.zip(arg.get_help()) {
            Some((words, help)) => {
                let help = words.help(&help.to_string(), &known);
                arg.help(help)
            }
            None => arg,
        };
        let aliases = info.cli.flag_aliases.iter().filter(|(of, _)| *of == param.path());
        arg.visible_aliases(aliases.map(|(_, flag)| *flag))
    });
    let doc = help.map(|words| words.explained(info.doc, &known)).unwrap_or_default();
    command
        .about(info.summary)
        .long_about(format!("{}\n\n{doc}", info.summary))
        .visible_aliases(info.cli.aliases)
        .args(args)
        .args(switches(op))
        .args(of_list(op))
        .args((info.cli.starts_daemon && name.is_full()).then(port))
}

/// The flags that set a parameter to one value.
fn switches(op: &Operation) -> impl Iterator<Item = Arg> {
    op.info.cli.switches.iter().map(|switch| {
        Arg::new(switch.flag)
            .long(switch.flag)
            .action(ArgAction::SetTrue)
            .conflicts_with(Param::id_of("", switch.param))
            .help(switch.doc)
    })
}

/// The flags of a command whose result is a list.
fn of_list(op: &Operation) -> Vec<Arg> {
    let Some(listed) = op.info.cli.listed else { return Vec::new() };
    let flag = |id: &'static str| Arg::new(id).long(id).action(ArgAction::SetTrue);
    let ids = flag(IDS).help("Print the ids alone, one per line");
    let full = listed.whole.map(|_| flag(FULL).help("Print whole records"));
    let columns = (!op.info.cli.columns.is_empty()).then(|| {
        Arg::new(COLUMNS)
            .long(COLUMNS)
            .value_name("COLUMN,...")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_parser(PossibleValuesParser::new(op.info.cli.columns))
            .help("Print these columns, in this order")
    });
    std::iter::once(ids).chain(full).chain(columns).collect()
}

/// The text below the arguments: examples, and the name of the operation.
fn lesson(op: &Operation, name: &ProgramName) -> String {
    let info = op.info;
    let mut text = String::new();
    for example in info.examples {
        let params: Value = serde_json::from_str(example.params).unwrap_or_default();
        let line = example::command_line(op, &params, name);
        text.push_str(&format!("  # {}\n  {line}\n", example.title));
    }
    if !text.is_empty() {
        text = format!("Examples:\n{text}\n");
    }
    if !name.is_full() {
        return text;
    }
    let of = info.name;
    text + &format!("Operation: {of}. `rekindle ops {of}` shows its parameters and result.")
}

fn arg(param: &Param, more: &str) -> Arg {
    let help = format!("{}{more}", param.doc.trim_end_matches('.'));
    let help = help.trim_start_matches("; ").to_owned();
    let arg = Arg::new(param.id()).required(param.required).help(help);
    let upper = match param.from_file {
        true => "FILE".to_owned(),
        false => param.name.to_uppercase(),
    };
    let by_position = param.position.is_some();
    let arg = match (by_position, param.flag()) {
        (true, _) => arg,
        (false, flag) if !flag.contains('-') => arg.long(flag),
        (false, flag) => arg.alias(flag.replace('-', "_")).long(flag),
    };
    match &param.kind {
        ParamKind::Integer | ParamKind::Number if !by_position => {
            scalar(arg.value_name("N"), &param.kind)
        }
        ParamKind::Object | ParamKind::Array if !by_position => arg.value_name("JSON"),
        ParamKind::Boolean if !by_position => arg
            .value_name("true|false")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        ParamKind::Map(_) => arg.value_name("NAME=VALUE").action(ArgAction::Append),
        ParamKind::OneOrMany => arg.value_name(format!("{upper},...")).action(ArgAction::Append),
        ParamKind::List(item) => {
            let arg = scalar(arg, item).action(ArgAction::Append);
            // Commas in texts may belong to a glob, so the whole text is split later.
            let arg = if **item == ParamKind::Text { arg } else { arg.value_delimiter(',') };
            match by_position {
                true => arg.value_name(upper).num_args(1..),
                false => arg.value_name(format!("{upper},...")),
            }
        }
        kind if param.rest => scalar(arg.value_name(upper), kind).num_args(1..),
        kind => scalar(arg.value_name(upper), kind),
    }
}

/// Whether the argument is a boolean parameter, whose value may be left out.
pub(crate) fn is_boolean(arg: &Arg) -> bool {
    arg.is_require_equals_set() && arg.get_id().as_str().starts_with("param:")
}

/// Settings of an argument that depend on the kind of its value.
fn scalar(arg: Arg, kind: &ParamKind) -> Arg {
    match kind {
        ParamKind::Choice(choices) => {
            let possible = choices.iter().map(|choice| {
                let value = PossibleValue::new(choice.value.clone());
                if choice.doc.is_empty() { value } else { value.help(choice.doc.clone()) }
            });
            arg.value_parser(PossibleValuesParser::new(possible))
        }
        ParamKind::Integer | ParamKind::Number => arg.allow_negative_numbers(true),
        _ => arg,
    }
}
