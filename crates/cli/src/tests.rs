//! Tests of the command line over a small table of its own: argv in, the selected command and the output out.

mod help;
mod hints;
mod lists;
mod parsing;
mod printing;
mod usage_errors;

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

use clap::{Arg, Command};
use contract::op::{Access, CliShape, Example, Flattened, OpInfo};
use contract::{Cx, Op, Operation, Plugin, Table};
use model::OpError;
use model::situation::Situation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Output, ProgramName, Selection, parse};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only the schema matters here")]
struct PutParams {
    /// Component that the note is about.
    component: String,
    /// Key of the note.
    key: String,
    /// A string, or an object with a `type`.
    value: Value,
    /// Metadata of the note.
    meta: Option<NoteMeta>,
    /// Fail unless the note has this version.
    if_match_version: Option<u64>,
}

/// A note's metadata: everything but its value.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(dead_code, reason = "only the schema matters here")]
struct NoteMeta {
    /// Why the hint is true or useful.
    reason: Option<String>,
    /// Keywords, for example `build`.
    tags: Vec<String>,
    /// `session` (until the daemon ends) or `forever`.
    ttl: Option<Lifetime>,
}

/// How long a note lives.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code, reason = "only the schema matters here")]
enum Lifetime {
    /// Until the daemon ends cleanly.
    Session,
    /// Until it is deleted.
    Forever,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code, reason = "only the schema matters here")]
enum Order {
    Newest,
    Oldest,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only the schema matters here")]
struct ListParams {
    /// Ids of the notes.
    #[serde(default)]
    ids: Vec<u32>,
    /// How many.
    limit: Option<u32>,
    /// Least score.
    min_score: Option<f64>,
    /// Whether to look into archives.
    #[serde(default)]
    deep: bool,
    /// Which come first.
    order_by: Option<Order>,
    /// Where the caller stands.
    context: Option<Situation>,
    /// Conditions that all have to hold.
    #[serde(default)]
    filters: Vec<Situation>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoParams {}

#[derive(Serialize, JsonSchema)]
struct NoteReply {
    /// Whether it worked.
    ok: bool,
}

struct Put;
struct List;
struct Inspect;
struct Status;

fn never() -> Result<NoteReply, OpError> {
    Err(OpError::internal("the command line runs no handler"))
}

impl Op for Put {
    const INFO: OpInfo = OpInfo {
        name: "put_note",
        summary: "Keep a note under a component and a key",
        doc: "Use it for a small fact that took time to find out.",
        access: Access::Write { destructive: false, idempotent: true },
        toolset: "notes",
        core: true,
        aliases: &["notes.put", "notes_put"],
        cli: CliShape {
            path: &["note", "put"],
            positional: &["component", "key", "value"],
            flatten: &[Flattened::of::<NoteMeta>("meta", "")],
            pretty: Some(|_, result, _| Some(format!("kept: {}", result["ok"]))),
            ..CliShape::CALL_ONLY
        },
        examples: &[
            Example {
                title: "How to build",
                before: &[],
                params: r#"{"component":"web","key":"build","value":"it's `make`","meta":{"tags":["a","b c"],"ttl":"forever"}}"#,
            },
            Example {
                title: "A structured value, only if unchanged",
                before: &[],
                params: r#"{"component":"web","key":"run","value":{"type":"command","cmd":"x"},"if_match_version":3}"#,
            },
            Example {
                title: "A value that starts with a dash",
                before: &[],
                params: r#"{"component":"web","key":"flags","value":"-j4"}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = PutParams;
    type Output = NoteReply;

    fn run(&self, _: &Cx<'_>, _: PutParams) -> Result<NoteReply, OpError> {
        never()
    }
}

impl Op for List {
    const INFO: OpInfo = OpInfo {
        name: "list_notes",
        summary: "List notes",
        doc: "By default the newest ones.",
        toolset: "notes",
        cli: CliShape {
            path: &["note", "list"],
            positional: &["ids"],
            starts_daemon: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "Three of them",
            before: &[],
            params: r#"{"ids":[1,2,3],"limit":-1,"min_score":0.5,"deep":true,"order_by":"oldest","context":{"cwd":"/w"},"filters":[{"os":"linux"}]}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ListParams;
    type Output = NoteReply;

    fn run(&self, _: &Cx<'_>, _: ListParams) -> Result<NoteReply, OpError> {
        never()
    }
}

impl Op for Inspect {
    const INFO: OpInfo = OpInfo {
        name: "inspect",
        summary: "Look inside",
        doc: "For programs.",
        toolset: "system",
        examples: &[Example { title: "All", before: &[], params: "{}" }],
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = NoteReply;

    fn run(&self, _: &Cx<'_>, _: NoParams) -> Result<NoteReply, OpError> {
        never()
    }
}

impl Op for Status {
    const INFO: OpInfo = OpInfo {
        name: "status",
        summary: "Say how the daemon is",
        doc: "The app has a command of this name too.",
        toolset: "system",
        cli: CliShape { path: &["status"], ..CliShape::CALL_ONLY },
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = NoteReply;

    fn run(&self, _: &Cx<'_>, _: NoParams) -> Result<NoteReply, OpError> {
        never()
    }
}

struct Notes;

impl Plugin for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![
            Operation::new(Put),
            Operation::new(List),
            Operation::new(Inspect),
            Operation::new(Status),
        ]
    }
}

fn table() -> Table {
    Table::new(&[Arc::new(Notes)])
}

/// Commands that the app adds.
fn extra() -> Vec<Command> {
    let port = Arg::new(crate::PORT)
        .short('p')
        .long("port")
        .value_parser(clap::value_parser!(u16))
        .help("First port to serve on");
    vec![
        Command::new("status").about("Say whether a daemon runs"),
        Command::new("serve").about("Serve").arg(port),
        Command::new("config")
            .about("Settings")
            .subcommand(Command::new("get").arg(Arg::new("key").required(true))),
        Command::new("note")
            .about("Notes, kept and found")
            .subcommand_required(true)
            .subcommand(Command::new("edit").about("Edit a note")),
    ]
}

/// A stream that a test reads back.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

/// An output that is captured, and its two streams.
fn kept(terminal: bool) -> (Output, Shared, Shared) {
    kept_as(&ProgramName::FULL, terminal)
}

/// A captured output of a program that was started by this name.
fn kept_as(name: &'static ProgramName, terminal: bool) -> (Output, Shared, Shared) {
    let (out, err) = (Shared::default(), Shared::default());
    (Output::new(name, Box::new(out.clone()), Box::new(err.clone()), terminal), out, err)
}

/// The result of parsing a line.
struct Ran {
    parsed: crate::Parsed,
    json: bool,
    out: String,
    err: String,
}

impl Ran {
    /// The exit code of a line that needed no call.
    fn exit(&self) -> Option<u8> {
        match self.parsed.picked {
            Selection::Done(exit) => Some(exit),
            _ => None,
        }
    }

    /// The operation and parameters, or the output.
    fn call(&self) -> Result<(&'static str, &Value), String> {
        match &self.parsed.picked {
            Selection::Op(call) => Ok((call.op.name, &call.params)),
            _ => Err(format!("{}{}", self.out, self.err)),
        }
    }
}

fn run_os(args: Vec<OsString>, stdin: &[u8]) -> Ran {
    let (mut output, out, err) = kept(false);
    let argv = std::iter::once(OsString::from("rekindle")).chain(args).collect();
    let mut stdin = stdin;
    let parsed = parse(&table(), extra(), argv, &mut output, &mut stdin);
    Ran { parsed, json: output.json, out: out.text(), err: err.text() }
}

fn run_with(args: &[&str], stdin: &[u8]) -> Ran {
    run_os(args.iter().map(OsString::from).collect(), stdin)
}

fn run(args: &[&str]) -> Ran {
    run_with(args, b"")
}
