//! One operation, declared once: metadata, typed parameters and result, handler, examples.
//!
//! Every surface is generated from [`Operation`], its names and texts included.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use model::limits;
use model::observation::RECORD_TYPE_FORMAT;
use model::{Code, OpError, Tier};
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::brief::{self, Brief};
use crate::cx::Cx;
use crate::member;
use crate::rest::RestRoute;

/// How an operation accesses the store; MCP's annotations are derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write { destructive: bool, idempotent: bool },
}

impl Access {
    pub fn is_read(self) -> bool {
        self == Access::Read
    }
}

/// How the operation looks on the command line.
#[derive(Clone, Copy, Debug)]
pub struct CliShape {
    /// Words of the subcommand, for example `["hint", "set"]`; empty means `rekindle call` only.
    pub path: &'static [&'static str],
    /// Further names of the last word of `path`.
    pub aliases: &'static [&'static str],
    /// Parameters given by position, in order; all others are flags.
    pub positional: &'static [&'static str],
    /// Whether the last positional parameter takes all further words: joined by spaces, or each as an item of a list.
    pub rest: bool,
    /// The positional parameter whose JSON is in a file that the line names.
    pub file: Option<&'static str>,
    /// Objects whose members are flags of their own.
    pub flatten: &'static [Flattened],
    /// Default values, as JSON, of parameters that a line under the program's own name leaves out. They may be
    /// parameters without a flag.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Further names of flags: a parameter, and the flag without its dashes.
    pub flag_aliases: &'static [(&'static str, &'static str)],
    /// The help of parameters on the command line, where their schema has none, because every agent pays for it, or one
    /// that only fits JSON: the path of the parameter, and the sentence.
    pub help: &'static [(&'static str, &'static str)],
    /// Flags without a value that set a parameter.
    pub switches: &'static [FlagSwitch],
    /// Text for people; without it they get the JSON of the result in a readable form.
    pub pretty: Option<PrettyText>,
    /// Whether the text for people has stored text line by line: a terminal shows it unwrapped, so that it can be
    /// copied.
    pub verbatim: bool,
    /// The highlighted ranges of the text for people.
    pub accent: Option<Accent>,
    /// The list that the result is about.
    pub listed: Option<Listed>,
    /// The columns that `--columns` can select. They reach the text for people as its parameter `columns`.
    pub columns: &'static [&'static str],
    /// People get a member of the result alone.
    pub document: Option<Document>,
    /// Makes the command fail if the result lacks what was asked for.
    pub miss: Option<Miss>,
    /// Whether `--json` then prints the result, which says more than the error.
    pub miss_is_result: bool,
    /// Lines about the result on stderr, for people.
    pub notes: Option<Notes>,
    /// Refuses parameters before the operation is called. Other names of the program skip this check.
    pub refusal: Option<Refusal>,
    /// Whether the command starts a daemon when there is none.
    pub starts_daemon: bool,
}

impl CliShape {
    /// Reached by `rekindle call` only.
    pub const CALL_ONLY: CliShape = CliShape {
        path: &[],
        aliases: &[],
        positional: &[],
        rest: false,
        file: None,
        flatten: &[],
        defaults: &[],
        flag_aliases: &[],
        help: &[],
        switches: &[],
        pretty: None,
        verbatim: false,
        accent: None,
        listed: None,
        columns: &[],
        document: None,
        miss: None,
        miss_is_result: false,
        notes: None,
        refusal: None,
        starts_daemon: false,
    };
}

/// A flag that sets a parameter to one value: `--merge` is `--mode merge`.
#[derive(Clone, Copy, Debug)]
pub struct FlagSwitch {
    /// The flag without its dashes.
    pub flag: &'static str,
    pub param: &'static str,
    /// The value, as JSON.
    pub json: &'static str,
    pub doc: &'static str,
}

/// An object parameter whose members are flags of their own.
#[derive(Clone, Copy, Debug)]
pub struct Flattened {
    /// Its path in the parameters, for example `meta.scope`.
    pub object: &'static str,
    /// Prefix of the flags of its members, for example `scope-`.
    pub prefix: &'static str,
    /// Its schema. The schema of the parameters may leave out the members, because every agent pays
    /// for listed members.
    pub schema: fn() -> Value,
}

impl Flattened {
    pub const fn of<T: JsonSchema>(object: &'static str, prefix: &'static str) -> Flattened {
        Flattened { object, prefix, schema: schema_of::<T> }
    }
}

/// Writes the text for people from parameters and result as JSON, in lines of at most this many columns; none if
/// they cannot be read, for example because a daemon of another version sent the result.
pub type PrettyText = fn(&Value, &Value, usize) -> Option<String>;

/// From the parameters, the result and the text for people: the ranges of the text to highlight, in order.
pub type Accent = fn(&Value, &Value, &str) -> Vec<Range<usize>>;

/// The error for a result that lacks what was asked for.
pub type Miss = fn(&Value, &Value) -> Option<OpError>;

/// Lines about the result: its number of items, how to page on, a limit that was reduced.
pub type Notes = fn(&Value, &Value) -> Vec<String>;

/// The error for parameters that people should not send, at this time in milliseconds since 1970.
pub type Refusal = fn(&Value, i64) -> Option<OpError>;

/// Writes the text of an MCP result from the parameters and the result. The caller neutralises it.
pub type McpText = fn(&Value, &Value) -> String;

/// A list in the result. With `--ids` the command prints the ids of its items alone.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    pub member: &'static str,
    /// The member of an item that identifies it.
    pub id: &'static str,
    /// The parameter with the query, if the number of items is reported on stderr.
    pub asked: Option<&'static str>,
    /// The operation that takes such ids as `ids` and returns the same list with whole items, and how many ids it
    /// takes. If set, the command has `--full`.
    pub whole: Option<(&'static OpInfo, usize)>,
}

/// A member of the result that is printed as JSON by itself, so that it can be sent to a file.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    pub member: &'static str,
    /// Takes out of it what a terminal must not show, and says so.
    pub mask: fn(&mut Value) -> Option<String>,
}

/// A use of the operation that works as it stands: documentation, and a cell of the parity test.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    pub title: &'static str,
    /// Calls that have to come first: name and parameters as JSON.
    pub before: &'static [(&'static str, &'static str)],
    /// Parameters as JSON.
    pub params: &'static str,
}

/// Everything about an operation but its types and its handler.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    pub name: &'static str,
    /// One imperative line without a full stop.
    pub summary: &'static str,
    /// When and how to use it: agents and people read this.
    pub doc: &'static str,
    pub access: Access,
    /// The tiers that may call it.
    pub tiers: &'static [Tier],
    /// The group it is listed with; `core` is a selection across groups.
    pub toolset: &'static str,
    /// Whether agents see it by default.
    pub core: bool,
    /// Whether it is needed before an agent would search for a tool: agents that load tools on demand
    /// are asked to load it at the start.
    pub upfront: bool,
    /// Optional parameters that are rarely needed: `core` leaves them out of the tool's schema, and calls may have them.
    pub advanced: &'static [&'static str],
    /// Parameters that are not in the schema: the command line adds them, or an operation that calls this one. Other callers
    /// may not send them, and no error names them.
    pub hidden: &'static [&'static str],
    pub aliases: &'static [&'static str],
    pub cli: CliShape,
    /// Shortens the result that models get over MCP. `None` leaves it as it is: for results in which users choose the
    /// names of members, such as context sets.
    pub brief: Option<Brief>,
    /// The text of an MCP result, from the parameters and the whole result; none for the structured content as JSON.
    pub text: Option<McpText>,
    /// Whether its errors over MCP are `{"error": {"type", "message"}}` (`OpError::to_typed`) instead of the error object
    /// of JSON-RPC.
    pub typed_errors: bool,
    /// The HTTP paths that call it, besides JSON-RPC.
    pub rest: &'static [RestRoute],
    pub examples: &'static [Example],
    /// Accepts a whole file or event, up to the size limit of the surface.
    pub large: bool,
    /// A read from memory that is answered on the surface's own thread.
    pub inline: bool,
    /// Takes long: runs as a job, with progress (`cx.store.progress`), one at a time.
    pub job: bool,
    /// Time it may take. That of a job counts from its start, not from its place in the queue.
    pub deadline: Duration,
}

/// Every tier but hooks: the usual list of callers.
pub const EVERYONE: &[Tier] = &[Tier::Person, Tier::Agent, Tier::Client];

impl OpInfo {
    /// Defaults to start from with struct update syntax.
    pub const BASE: OpInfo = OpInfo {
        name: "",
        summary: "",
        doc: "",
        access: Access::Read,
        tiers: EVERYONE,
        toolset: "",
        core: false,
        upfront: false,
        advanced: &[],
        hidden: &[],
        aliases: &[],
        cli: CliShape::CALL_ONLY,
        brief: Some(brief::plain),
        text: None,
        typed_errors: false,
        rest: &[],
        examples: &[],
        large: false,
        inline: false,
        job: false,
        deadline: limits::OP_DEADLINE,
    };

    /// How long a client waits for the answer: a job may first wait for as many others as the queue has room for.
    pub fn patience(&self) -> Duration {
        match self.job {
            true => self.deadline.saturating_mul(limits::JOBS_WAITING_MAX as u32 + 2),
            false => self.deadline,
        }
    }

    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// One operation with its types and its handler.
pub trait Op: Send + Sync + 'static {
    const INFO: OpInfo;
    type Params: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema;

    fn run(&self, cx: &Cx<'_>, params: Self::Params) -> Result<Self::Output, OpError>;
}

type Handler = Box<dyn Fn(&Cx<'_>, Value) -> Result<Value, OpError> + Send + Sync>;

/// An [`Op`] with its types erased: a row of the one table.
pub struct Operation {
    pub info: &'static OpInfo,
    params_schema: fn() -> Value,
    output_schema: fn() -> Value,
    check_params: fn(Value) -> Result<(), OpError>,
    handler: Handler,
    /// The words for kinds of records that are no types of observations, for parameters that name one.
    pub(crate) other_kinds: Arc<[&'static str]>,
}

impl Operation {
    pub fn new<O: Op>(op: O) -> Operation {
        Operation {
            other_kinds: Arc::default(),
            info: &O::INFO,
            params_schema: schema_of::<O::Params>,
            output_schema: schema_of::<O::Output>,
            check_params: |params| read_params::<O::Params>(&O::INFO, params).map(drop),
            handler: Box::new(move |cx, params| {
                let output = op.run(cx, read_params::<O::Params>(&O::INFO, params)?)?;
                serde_json::to_value(output)
                    .map_err(|error| OpError::internal(format!("the result is not JSON: {error}")))
            }),
        }
    }

    /// JSON Schema of the parameters: an object.
    pub fn params_schema(&self) -> Value {
        let mut schema = (self.params_schema)();
        if let Some(object) = schema.as_object_mut() {
            let properties = object.entry("properties").or_insert_with(|| json!({}));
            let members = properties.as_object_mut().into_iter().flat_map(Map::values_mut);
            members.for_each(|member| self.name_kinds(member));
        }
        schema
    }

    /// Adds the types of records of all plugins to the `enum` of such a parameter in the schema.
    fn name_kinds(&self, schema: &mut Value) {
        let Some(object) = schema.as_object_mut() else { return };
        if object.get("format").is_some_and(|format| format == RECORD_TYPE_FORMAT) {
            object.remove("format");
            if let Some(words) = object.get_mut("enum").and_then(Value::as_array_mut) {
                // A type that may be left out has null at the end.
                let end = words.iter().position(Value::is_null).unwrap_or(words.len());
                words.splice(end..end, self.other_kinds.iter().map(|word| json!(word)));
            }
        }
    }

    /// JSON Schema of the result: an object.
    pub fn output_schema(&self) -> Value {
        (self.output_schema)()
    }

    /// Checks the parameters without running anything, for an operation that leaves a trace before it runs.
    pub fn check_params(&self, params: &Value) -> Result<(), OpError> {
        (self.check_params)(self.without_nulls(params.clone()))
    }

    /// The parameters without those that are null, may be left out, and have no meaning for null. Models write `null` for
    /// parameters that they leave out.
    fn without_nulls(&self, mut params: Value) -> Value {
        let Some(given) = params.as_object_mut() else { return params };
        if given.values().any(Value::is_null) {
            let schema = (self.params_schema)();
            let names = |list: &Value, name: &str| {
                list.as_array().is_some_and(|list| list.iter().any(|one| one == name))
            };
            let is_left_out = |name: &str| {
                schema["properties"].get(name).is_some_and(|of| !takes_null(of))
                    && !names(&schema["required"], name)
            };
            given.retain(|name, value| !value.is_null() || !is_left_out(name));
        }
        params
    }

    /// Refuses hidden parameters, in the words for unknown ones, unless a person calls: our command line adds them.
    pub fn refuse_hidden(&self, params: &Value, tier: Tier) -> Result<(), OpError> {
        let given = |name: &&&str| tier != Tier::Person && params.get(**name).is_some();
        let Some(name) = self.info.hidden.iter().find(given) else { return Ok(()) };
        let schema = self.params_schema();
        let known: Vec<&str> = schema["properties"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .map(String::as_str)
            .collect();
        let message = format!("unknown field `{name}`, {}", expected_one_of(&known));
        Err(wrong_params(self.info, "", &message))
    }

    /// Runs the handler. Only dispatch calls this.
    pub fn run(&self, cx: &Cx<'_>, params: Value) -> Result<Value, OpError> {
        (self.handler)(cx, self.without_nulls(params))
    }
}

/// Whether the schema of a parameter names null among its types.
fn takes_null(schema: &Value) -> bool {
    let is_null = |of: &Value| of == "null";
    let all = |name: &str| schema[name].as_array().into_iter().flatten();
    is_null(&schema["type"]) || all("type").any(is_null) || all("anyOf").any(takes_null)
}

/// Parameters of their type, or `invalid` with the name of the one that is wrong.
pub fn read_params<P: DeserializeOwned>(info: &OpInfo, params: Value) -> Result<P, OpError> {
    let params = match params {
        Value::Null => json!({}),
        Value::Object(_) => params,
        _ => {
            return Err(OpError::invalid("params", "the parameters are not an object")
                .hint("Pass parameters by name, as a JSON object."));
        }
    };
    member::read(params).map_err(|wrong| wrong_params(info, &wrong.path(), &wrong.message))
}

/// The error for parameters that are not of their type; apart from [`read_params`], which is compiled
/// once for each operation.
fn wrong_params(info: &OpInfo, path: &str, message: &str) -> OpError {
    let without_hidden;
    let message = match path {
        "" if !info.hidden.is_empty() => {
            without_hidden = without(message, info.hidden);
            &without_hidden
        }
        _ => message,
    };
    // A missing or unknown member is reported at its parent; the message contains its name.
    let member = message.split('`').nth(1).unwrap_or_default();
    let named = message.starts_with("missing field") || message.starts_with("unknown field");
    let param = match (named, path) {
        (true, "") => member.to_owned(),
        (true, parent) if parent.ends_with(member) => parent.to_owned(),
        (true, parent) => format!("{parent}.{member}"),
        (false, path) => path.to_owned(),
    };
    let is_unknown = message.starts_with("unknown ");
    let known = message.split('`').skip(3).step_by(2).filter(|_| is_unknown);
    let wrong = message.split('`').nth(1).unwrap_or_default();
    let meant = text::suggest::did_you_mean(wrong, known).map(|meant| format!("{meant} "));
    let message = message
        .replace("missing field", "missing parameter")
        .replace("unknown field", "unknown parameter")
        .replace("unknown variant", "unknown value");
    let message = in_json_words(&message);
    // The member of an object is named with its object.
    let message = match named {
        true => message.replacen(&format!("`{member}`"), &format!("`{param}`"), 1),
        false => message,
    };
    let message =
        if named || param.is_empty() { message } else { format!("parameter `{param}`: {message}") };
    let meant = meant.unwrap_or_default();
    OpError::invalid(&param, message)
        .hint(format!("{meant}`rekindle ops {}` shows its parameters.", info.name))
}

/// A message about an unknown parameter that does not name these among the known ones.
fn without(message: &str, hidden: &[&str]) -> String {
    match message.split_once(", expected ") {
        Some((unknown, known)) if message.starts_with("unknown field") => {
            let known = known.split('`').skip(1).step_by(2);
            let shown: Vec<&str> = known.filter(|name| !hidden.contains(name)).collect();
            format!("{unknown}, {}", expected_one_of(&shown))
        }
        _ => message.to_owned(),
    }
}

/// The known parameters as serde lists them.
fn expected_one_of(known: &[&str]) -> String {
    match known {
        [] => "there are no parameters".to_owned(),
        [one] => format!("expected `{one}`"),
        [one, other] => format!("expected `{one}` or `{other}`"),
        _ => format!("expected one of `{}`", known.join("`, `")),
    }
}

/// A message of serde with the types of JSON instead of those of Rust.
fn in_json_words(message: &str) -> String {
    let Some((given, expected)) = message.split_once(", expected ") else {
        return message.to_owned();
    };
    let given = given
        .replace("invalid type: sequence", "invalid type: list")
        .replace("invalid type: map", "invalid type: object")
        .replace("invalid type: unit value", "invalid type: null")
        .replace("floating point", "number");
    let expected = match expected.split(' ').collect::<Vec<_>>().as_slice() {
        ["struct", ..] | ["a", "map"] => "an object",
        ["a", "sequence"] => "a list",
        ["a", "boolean"] => "true or false",
        ["f32" | "f64"] => "a number",
        ["u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64"] => "a whole number",
        _ => expected,
    };
    format!("{given}, expected {expected}")
}

/// The JSON schema of a type, with subschemas inlined and without details of Rust types.
fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    portable(SchemaGenerator::new(settings).into_root_schema_for::<T>())
}

fn portable(mut schema: Schema) -> Value {
    Portable.transform(&mut schema);
    schema.remove("title");
    schema.to_value()
}

/// Removes integer formats such as `uint64`, at which JavaScript validators print warnings.
struct Portable;

impl Transform for Portable {
    fn transform(&mut self, schema: &mut Schema) {
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        if format.starts_with("uint")
            || format.starts_with("int")
            || matches!(format, "double" | "float")
        {
            schema.remove("format");
        }
        transform_subschemas(self, schema);
    }
}

/// `forbidden` for a caller whose tier the operation does not list.
pub fn check_tier(info: &OpInfo, tier: Tier) -> Result<(), OpError> {
    if info.tiers.contains(&tier) {
        return Ok(());
    }
    let who = match tier {
        Tier::Person => "the command line",
        Tier::Agent => "an agent",
        Tier::Client => "a client",
        Tier::Hook => "a hook",
    };
    let error = OpError::new(Code::Forbidden, format!("{who} may not call {}", info.name));
    if !info.tiers.contains(&Tier::Person) {
        return Err(error);
    }
    let line = match info.cli.path {
        [] => format!("call {}", info.name),
        path => path.join(" "),
    };
    Err(error.hint(format!("Ask the user to run `rekindle {line}`.")))
}

#[cfg(test)]
mod tests;
