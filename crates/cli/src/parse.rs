//! Argv to what was picked: an operation with its parameters, a command of the caller's own, or
//! something that was answered here (help, `ops`, `completions`, a mistake).

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use clap::{ArgMatches, Command};
use contract::op::OpInfo;
use contract::{Operation, Table};
use model::{Code, OpError, limits};
use serde_json::{Map, Value};

use crate::output::Output;
use crate::param::{Kind, Param, read_json};
use crate::tree::{self, CALL, COMPLETIONS, DB, JSON, OPS, PORT};
use crate::{ops, usage};

/// A line that was read.
pub struct Parsed {
    pub picked: Picked,
    /// `--db`.
    pub db: Option<PathBuf>,
    /// `--port`.
    pub port: Option<u16>,
}

/// What a line asks for.
pub enum Picked {
    Op(Call),
    Own(Own),
    /// It was answered; exit with this code.
    Done(u8),
}

/// A call of an operation, yet without caller and road.
#[derive(Debug)]
pub struct Call {
    pub op: &'static OpInfo,
    pub params: Value,
}

/// A command of the caller's own.
#[derive(Debug)]
pub struct Own {
    /// Its words, for example `["config", "get"]`.
    pub path: Vec<String>,
    /// Its arguments.
    pub matches: ArgMatches,
}

/// Reads a line, `argv[0]` included, and sets `out.json`. `stdin` is read only where the line
/// says `-`.
pub fn parse(
    table: &Table,
    extra: Vec<Command>,
    argv: Vec<OsString>,
    out: &mut Output,
    stdin: &mut dyn Read,
) -> Parsed {
    // A line that cannot be understood is also answered in the form it asks for.
    out.json = argv.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| arg == "--json");
    let mut tree = tree::command(table, extra.clone());
    let matches = match tree.try_get_matches_from_mut(&argv) {
        Ok(matches) => matches,
        Err(error) => {
            let picked = Picked::Done(usage::report(&error, &argv, &tree, table, out));
            return Parsed { picked, db: None, port: None };
        }
    };
    let (path, leaf) = leaf(&matches);
    out.json = leaf.get_flag(JSON);
    let db = leaf.get_one::<PathBuf>(DB).cloned();
    let port = leaf.get_one::<u16>(PORT).copied();
    let line = Line { table, extra, path, matches: leaf };
    let picked = line.pick(out, &mut Stdin { source: stdin, used: false });
    Parsed { picked: picked.unwrap_or_else(|error| Picked::Done(out.usage(&error))), db, port }
}

/// The words of the picked command and its arguments.
fn leaf(matches: &ArgMatches) -> (Vec<String>, &ArgMatches) {
    let (mut path, mut leaf) = (Vec::new(), matches);
    while let Some((word, below)) = leaf.subcommand() {
        path.push(word.to_owned());
        leaf = below;
    }
    (path, leaf)
}

struct Line<'l> {
    table: &'l Table,
    extra: Vec<Command>,
    path: Vec<String>,
    matches: &'l ArgMatches,
}

impl Line<'_> {
    fn pick(self, out: &mut Output, stdin: &mut Stdin<'_>) -> Result<Picked, OpError> {
        if self.is_own() {
            return Ok(Picked::Own(Own { path: self.path, matches: self.matches.clone() }));
        }
        let op =
            self.table.iter().find(|op| !self.path.is_empty() && op.info.cli.path == self.path);
        if let Some(op) = op {
            let params = params(op, self.matches, stdin)?;
            return Ok(Picked::Op(Call { op: op.info, params }));
        }
        match self.path.first().map(String::as_str) {
            Some(CALL) => self.call(stdin),
            Some(OPS) => self.ops(out),
            Some(COMPLETIONS) => Ok(self.completions(out)),
            _ => Err(OpError::internal("clap accepted a command that nobody declared")),
        }
    }

    fn is_own(&self) -> bool {
        let mut words = self.path.iter();
        let first =
            words.next().and_then(|word| self.extra.iter().find(|own| own.get_name() == word));
        words
            .try_fold(first, |own, word| own.map(|own| own.find_subcommand(word)))
            .flatten()
            .is_some()
    }

    fn call(&self, stdin: &mut Stdin<'_>) -> Result<Picked, OpError> {
        let op = usage::operation(self.table, self.word("operation").unwrap_or_default())?;
        let params = match self.word("params") {
            None => Value::Object(Map::new()),
            Some("-") => read_json("params", "PARAMS", &stdin.text()?)?,
            Some(json) => read_json("params", "PARAMS", json)?,
        };
        Ok(Picked::Op(Call { op: op.info, params }))
    }

    fn ops(&self, out: &mut Output) -> Result<Picked, OpError> {
        let exit = match self.word("operation") {
            Some(name) => ops::one(out, usage::operation(self.table, name)?),
            None if self.matches.get_flag("cost") => ops::cost(out, self.table)?,
            None => ops::list(out, self.table),
        };
        Ok(Picked::Done(exit))
    }

    fn completions(self, out: &mut Output) -> Picked {
        let mut script = Vec::new();
        if let Some(shell) = self.matches.get_one::<clap_complete::Shell>("shell") {
            let mut command = tree::command(self.table, self.extra);
            clap_complete::generate(*shell, &mut command, tree::NAME, &mut script);
        }
        Picked::Done(out.text(&String::from_utf8_lossy(&script)))
    }

    fn word(&self, id: &str) -> Option<&str> {
        self.matches.get_one::<String>(id).map(String::as_str)
    }
}

/// The parameters that the arguments stand for.
fn params(op: &Operation, matches: &ArgMatches, stdin: &mut Stdin<'_>) -> Result<Value, OpError> {
    let mut params = Map::new();
    for param in Param::all(op) {
        let Some(texts) = matches.get_many::<String>(&param.id()) else { continue };
        let mut texts: Vec<String> = texts.cloned().collect();
        let from_stdin = param.position.is_some() && !matches!(param.kind, Kind::List(_));
        if from_stdin && texts == ["-"] {
            texts = vec![stdin.text()?];
        }
        let value = param.value(&texts).map_err(|error| {
            let words = op.info.cli.path.join(" ");
            let hint = error.hint.clone();
            error.hint(hint.unwrap_or_else(|| format!("See `rekindle {words} --help`.")))
        })?;
        let object = match param.within {
            None => &mut params,
            Some(outer) => {
                let object = params.entry(outer).or_insert_with(|| Value::Object(Map::new()));
                match object.as_object_mut() {
                    Some(object) => object,
                    None => continue,
                }
            }
        };
        object.insert(param.name, value);
    }
    Ok(Value::Object(params))
}

/// Stdin, which one argument may stand for.
struct Stdin<'s> {
    source: &'s mut dyn Read,
    used: bool,
}

impl Stdin<'_> {
    /// All of it, as text.
    fn text(&mut self) -> Result<String, OpError> {
        if std::mem::replace(&mut self.used, true) {
            return Err(OpError::invalid("", "two arguments are '-', and stdin can be read once")
                .hint("Give one of them on the line."));
        }
        let max = limits::BODY_BYTES_MAX;
        let mut bytes = Vec::new();
        let bounded = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
        (&mut self.source)
            .take(bounded)
            .read_to_end(&mut bytes)
            .map_err(|error| OpError::unavailable(format!("cannot read stdin: {error}")))?;
        if bytes.len() > max {
            return Err(OpError::new(Code::TooLarge, format!("stdin is over {max} bytes"))
                .with("max", max)
                .hint(format!("Send at most {max} bytes.")));
        }
        // Echo and editors end what they write with a newline that nobody means.
        if bytes.ends_with(b"\n") {
            bytes.truncate(bytes.len() - if bytes.ends_with(b"\r\n") { 2 } else { 1 });
        }
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            OpError::invalid("", format!("stdin is not UTF-8 at byte {at}"))
                .hint("Convert it to UTF-8 first.")
        })
    }
}
