//! Parses argv to a selection: an operation with its parameters, a command of the caller's own, or a line that was
//! answered here (help, `ops`, `completions`, a mistake).

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use clap::{ArgMatches, Command};
use contract::op::OpInfo;
use contract::{Operation, Table};
use model::OpError;
use serde_json::{Map, Value, json};

use crate::input::{self, Stdin};
use crate::name::{ProgramName, Saying};
use crate::output::Output;
use crate::param::{Param, ParamKind, read_json};
use crate::tree::{self, CALL, COLUMNS, COMPLETIONS, DB, FULL, IDS, JSON, OPS, PORT};
use crate::wording::LineWords;
use crate::{live, ops, usage};

/// A parsed command line.
pub struct Parsed {
    pub picked: Selection,
    /// `--db`.
    pub db: Option<PathBuf>,
    /// `--port`.
    pub port: Option<u16>,
}

/// The command that shows records, and the one that reads any entry.
const SHOW: &[&str] = &["show"];
const GET: &[&str] = &["get"];

/// The selected action of a command line.
pub enum Selection {
    Op(OpCall),
    Own(OwnCommand),
    /// The line was answered; exit with this code.
    Done(u8),
}

/// A call of an operation, without caller and transport.
#[derive(Debug)]
pub struct OpCall {
    pub op: &'static OpInfo,
    pub params: Value,
    /// The command's variant under the program name in use.
    pub(crate) saying: Option<&'static Saying>,
    /// Whether only the ids of the listed items are printed.
    pub(crate) ids: bool,
    /// Whether listed records are printed in full.
    pub(crate) full: bool,
    /// The selected columns of a table; the usual ones if empty.
    pub(crate) columns: Vec<String>,
    /// Whether the parameters are JSON, as programs write it.
    pub(crate) is_json: bool,
    /// The parameters given on the line, and their names there.
    pub(crate) labels: Vec<(String, String)>,
    /// The names of operations and parameters on the command line.
    pub(crate) words: LineWords,
}

impl OpCall {
    /// A call whose result is printed as usual.
    pub fn new(op: &'static OpInfo, params: Value) -> OpCall {
        let (labels, words) = (Vec::new(), LineWords::default());
        OpCall {
            op,
            params,
            saying: None,
            ids: false,
            full: false,
            columns: Vec::new(),
            is_json: true,
            labels,
            words,
        }
    }
}

/// A command of the caller's own.
#[derive(Debug)]
pub struct OwnCommand {
    /// Its words, for example `["config", "get"]`.
    pub path: Vec<String>,
    /// Its arguments.
    pub matches: ArgMatches,
}

/// Parses a line, `argv[0]` included, and sets `out.json`. Reads `stdin` only if an argument is `-`.
pub fn parse(
    table: &Table,
    extra: Vec<Command>,
    argv: Vec<OsString>,
    out: &mut Output,
    stdin: &mut dyn Read,
) -> Parsed {
    // An error of parsing is printed as JSON too.
    let says =
        |flag: &str| argv.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| arg == flag);
    out.json = says("--json");
    if says("--no-pager") {
        out.without_pager();
    }
    let name = out.name();
    let mut tree = tree::lean(table, &extra, name, &argv);
    let argv = with_joined_booleans(argv, &tree);
    let mut read = tree.try_get_matches_from_mut(&argv);
    if read.is_err() {
        // Help and suggestions need every command.
        tree = tree::command(table, extra.clone(), name);
        read = tree.try_get_matches_from_mut(&argv);
    }
    let matches = match read {
        Ok(matches) => matches,
        Err(error) => {
            let picked = Selection::Done(usage::report(&error, &argv, &tree, table, out));
            return Parsed { picked, db: None, port: None };
        }
    };
    let (path, leaf) = leaf(&matches);
    out.json = leaf.get_flag(JSON);
    let db = leaf.get_one::<PathBuf>(DB).cloned();
    let port = leaf.try_get_one::<u16>(PORT).ok().flatten().copied();
    let line = LineParts { table, extra, name, path, matches: leaf, argv: &argv, tree: &tree };
    let picked = match line.pick(out, &mut Stdin::new(stdin)) {
        Ok(picked) => picked,
        Err(ParseFailure::Line(error)) => Selection::Done(out.usage(&error)),
        Err(ParseFailure::File(error)) => Selection::Done(out.error(&error)),
    };
    Parsed { picked, db, port }
}

/// The line with `--flag=false` in place of `--flag false` for each boolean flag, whose value is optional: clap would
/// take the word for an argument.
fn with_joined_booleans(argv: Vec<OsString>, tree: &Command) -> Vec<OsString> {
    let command = usage::deepest(tree, &argv).1;
    let is_boolean = |word: &OsString| {
        let Some(flag) = word.to_str().and_then(|word| word.strip_prefix("--")) else {
            return false;
        };
        command.get_arguments().any(|arg| {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            tree::is_boolean(arg) && (arg.get_long() == Some(flag) || aliases.contains(&flag))
        })
    };
    let mut joined: Vec<OsString> = Vec::with_capacity(argv.len());
    let mut words = argv.into_iter().peekable();
    while let Some(mut word) = words.next() {
        if word == "--" {
            joined.push(word);
            break;
        }
        if is_boolean(&word)
            && let Some(value) = words.next_if(|next| next == "true" || next == "false")
        {
            word.push("=");
            word.push(value);
        }
        joined.push(word);
    }
    joined.extend(words);
    joined
}

/// Why a line selects nothing.
enum ParseFailure {
    /// The line cannot be parsed.
    Line(OpError),
    /// The file that it names cannot be used.
    File(OpError),
}

impl From<OpError> for ParseFailure {
    fn from(error: OpError) -> ParseFailure {
        ParseFailure::Line(error)
    }
}

/// Parameters, and the names under which the line gives them.
type GivenParams = (Map<String, Value>, Vec<(String, String)>);

/// The words of the selected command and its arguments.
fn leaf(matches: &ArgMatches) -> (Vec<String>, &ArgMatches) {
    let (mut path, mut leaf) = (Vec::new(), matches);
    while let Some((word, below)) = leaf.subcommand() {
        path.push(word.to_owned());
        leaf = below;
    }
    (path, leaf)
}

struct LineParts<'l> {
    table: &'l Table,
    extra: Vec<Command>,
    name: &'static ProgramName,
    path: Vec<String>,
    matches: &'l ArgMatches,
    /// The line itself, and the tree that parsed it.
    argv: &'l [OsString],
    tree: &'l Command,
}

impl LineParts<'_> {
    fn pick(self, out: &mut Output, stdin: &mut Stdin<'_>) -> Result<Selection, ParseFailure> {
        let path = self.name.full_path(&self.path);
        if self.is_own(&path) {
            let path = path.into_iter().map(str::to_owned).collect();
            return Ok(Selection::Own(OwnCommand { path, matches: self.matches.clone() }));
        }
        if let Some(call) = self.entry_shown(&path) {
            return Ok(Selection::Op(call));
        }
        if let Some(op) = self.table.iter().find(|op| op.info.cli.path == path) {
            return Ok(Selection::Op(self.operation(op, stdin)?));
        }
        match self.path.first().map(String::as_str) {
            Some(CALL) => Ok(self.call(stdin)?),
            Some(OPS) => Ok(self.ops(out)?),
            Some(COMPLETIONS) => Ok(self.completions(out)),
            _ => Err(OpError::internal("clap accepted an undeclared command").into()),
        }
    }

    /// `show PATH` of an entry such as `memory://ID` as a call of `get`. Records have ids and are shown by `show` itself.
    fn entry_shown(&self, path: &[&str]) -> Option<OpCall> {
        let of = |words: &[&str]| self.table.iter().find(|op| op.info.cli.path == words);
        let ids = Param::all(of(path).filter(|_| path == SHOW)?);
        let ids = ids.into_iter().find(|param| param.position.is_some())?;
        let mut given = self.matches.get_many::<String>(&ids.id())?;
        let (entry, more) = (given.next()?, given.next());
        let scheme = entry.split_once("://")?.0;
        if more.is_some() || scheme == "obs" || self.table.scheme(scheme).is_none() {
            return None;
        }
        let get = of(GET)?;
        let words = LineWords::new(self.table, &Param::all(get));
        let labels = vec![("path".to_owned(), ids.label())];
        let call = OpCall::new(get.info, json!({ "path": entry }));
        Some(OpCall { labels, words, is_json: false, ..call })
    }

    fn operation(&self, op: &Operation, stdin: &mut Stdin<'_>) -> Result<OpCall, ParseFailure> {
        let known = Param::all(op);
        let words = LineWords::new(self.table, &known);
        let (mut params, labels) = self.params(op, known, stdin)?;
        let flag = |id: &str| self.matches.try_get_one::<bool>(id).ok().flatten() == Some(&true);
        for switch in op.info.cli.switches.iter().filter(|switch| flag(switch.flag)) {
            let value = serde_json::from_str(switch.json).unwrap_or_default();
            params.insert(switch.param.to_owned(), value);
        }
        let own = op.info.cli.defaults.iter().filter(|_| self.name.is_full());
        for (param, json) in own {
            let value = || serde_json::from_str(json).unwrap_or_default();
            params.entry(*param).or_insert_with(value);
        }
        let saying = self.name.saying(op.info.cli.path);
        for default in saying.map_or(&[][..], |saying| saying.defaults) {
            let value = || serde_json::from_str(default.json).unwrap_or_default();
            params.entry(default.param).or_insert_with(value);
        }
        let (ids, full) = (flag(IDS), flag(FULL));
        let params = Value::Object(params);
        let columns = self.matches.try_get_many::<String>(COLUMNS).ok().flatten();
        let columns = columns.into_iter().flatten().cloned().collect();
        let is_json = false;
        Ok(OpCall { op: op.info, params, saying, ids, full, columns, is_json, labels, words })
    }

    /// The parameters of the arguments, and their names on the line.
    fn params(
        &self,
        op: &Operation,
        mut known: Vec<Param>,
        stdin: &mut Stdin<'_>,
    ) -> Result<GivenParams, ParseFailure> {
        // A whole object is set first, so that single members override it.
        known.sort_by_key(|param| (!param.whole, param.path().matches('.').count()));
        let (mut params, mut labels) = (Map::new(), Vec::new());
        for mut param in known {
            let Some(texts) = self.matches.get_many::<String>(&param.id()) else { continue };
            let mut texts: Vec<String> = texts.cloned().collect();
            if param.from_file {
                let text = texts.first().map_or("", String::as_str);
                let value =
                    input::document(&param.name, text, stdin).map_err(ParseFailure::File)?;
                params.insert(param.name, value);
                continue;
            }
            let from_stdin = param.position.is_some() && !matches!(param.kind, ParamKind::List(_));
            if from_stdin && texts == ["-"] {
                texts = vec![stdin.text()?];
            }
            let command = usage::deepest(self.tree, self.argv).1;
            param.typed = usage::typed(self.argv, command, |arg| *arg.get_id() == *param.id());
            let value = param.value(&texts).map_err(|error| {
                let hint = error.hint.clone();
                let line = self.name.any_line(op.info.cli.path);
                error.hint(hint.unwrap_or_else(|| format!("See `{line} --help`.")))
            })?;
            labels.push((param.path(), param.label()));
            put(&mut params, param.within, &param.name, value);
        }
        Ok((params, labels))
    }

    fn is_own(&self, path: &[&str]) -> bool {
        let mut words = path.iter();
        let first =
            words.next().and_then(|word| self.extra.iter().find(|own| own.get_name() == *word));
        words
            .try_fold(first, |own, word| own.map(|own| own.find_subcommand(word)))
            .flatten()
            .is_some()
    }

    fn call(&self, stdin: &mut Stdin<'_>) -> Result<Selection, OpError> {
        let op = usage::operation(self.table, self.word("operation").unwrap_or_default())?;
        let params = match self.word("params") {
            None => Value::Object(Map::new()),
            Some("-") => read_json("params", "PARAMS", &stdin.text()?)?,
            Some(json) => read_json("params", "PARAMS", json)?,
        };
        Ok(Selection::Op(OpCall::new(op.info, params)))
    }

    fn ops(&self, out: &mut Output) -> Result<Selection, OpError> {
        let exit = match self.word("operation") {
            Some(name) => ops::one(out, usage::operation(self.table, name)?),
            None if self.matches.get_flag("cost") => ops::cost(out, self.table)?,
            None => ops::list(out, self.table),
        };
        Ok(Selection::Done(exit))
    }

    fn completions(self, out: &mut Output) -> Selection {
        let shell = self.matches.get_one::<clap_complete::Shell>("shell");
        let command = tree::command(self.table, self.extra, self.name);
        let script = shell.map(|shell| completion_script(command, *shell)).unwrap_or_default();
        Selection::Done(out.text(&script))
    }

    fn word(&self, id: &str) -> Option<&str> {
        self.matches.get_one::<String>(id).map(String::as_str)
    }
}

/// The completion script of a command for a shell.
pub fn completion_script(mut command: Command, shell: clap_complete::Shell) -> String {
    let (name, mut script) = (command.get_name().to_owned(), Vec::new());
    let is_full = name == ProgramName::FULL.word;
    clap_complete::generate(shell, &mut command, name, &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == clap_complete::Shell::Zsh {
        script = live::corrected_for_zsh(&script);
    }
    match is_full {
        true => live::extended(&script, shell),
        false => script,
    }
}

/// Sets a member of the object at the path `within`; missing objects are created.
fn put(params: &mut Map<String, Value>, within: &str, name: &str, value: Value) {
    let mut object = params;
    for step in within.split('.').filter(|step| !step.is_empty()) {
        let inner = object.entry(step).or_insert(Value::Null);
        if !inner.is_object() {
            *inner = Value::Object(Map::new());
        }
        let Some(members) = inner.as_object_mut() else { return };
        object = members;
    }
    object.insert(name.to_owned(), value);
}
