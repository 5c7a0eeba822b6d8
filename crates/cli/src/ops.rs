//! `rekindle ops`: lists the operations, explains one, and shows the token cost of the toolsets.

use contract::{OpInfo, Operation, Table};
use model::OpError;
use serde_json::{Value, json};
use text::table::{fitted, paragraph};

use crate::example;
use crate::name::ProgramName;
use crate::output::Output;
use crate::param::Param;

/// Lists every operation.
pub(crate) fn list(out: &mut Output, table: &Table) -> u8 {
    if out.json {
        let operations: Vec<Value> = table.iter().map(Operation::describe).collect();
        return out.result(&json!({ "operations": operations }), None);
    }
    let (accent, dim) = (out.accent(), out.dim());
    let heading = ["operation", "toolset", "summary"];
    let mut rows = vec![heading.map(|word| format!("{dim}{word}{dim:#}")).to_vec()];
    rows.extend(table.iter().map(|op| {
        let OpInfo { name, toolset, summary, aliases, .. } = op.info;
        let aliases = match aliases {
            [] => String::new(),
            aliases => format!(" {dim}({}){dim:#}", aliases.join(", ")),
        };
        let name = format!("{accent}{name}{accent:#}");
        vec![name, (*toolset).to_owned(), format!("{summary}{aliases}")]
    }));
    out.text(&text::table::table(&rows, &[&format!("{dim}toolset{dim:#}")], out.width()))
}

/// Explains one operation.
pub(crate) fn one(out: &mut Output, op: &Operation) -> u8 {
    let described = op.describe();
    if out.json {
        return out.result(&described, None);
    }
    let (accent, dim) = (out.accent(), out.dim());
    let info = op.info;
    let doc = paragraph(info.doc, 0, out.width());
    let mut text = format!("{accent}{}{accent:#}: {}\n\n{doc}\n", info.name, info.summary);
    let words = |key: &str| {
        let list = described.get(key).and_then(Value::as_array);
        let words = list.into_iter().flatten().filter_map(Value::as_str);
        words.collect::<Vec<_>>().join(", ")
    };
    text.push('\n');
    let command = match info.cli.path {
        [] => format!("rekindle call {}", info.name),
        path => ProgramName::FULL.any_line(path),
    };
    let core = if info.core { ", listed by default" } else { "" };
    for (label, value) in [
        ("command", command),
        ("aliases", words("aliases")),
        ("access", access(&described)),
        ("callers", words("tiers")),
        ("toolset", format!("{}{core}", info.toolset)),
        ("REST", rest(info)),
    ] {
        if !value.is_empty() {
            text.push_str(&format!("{dim}{label:9}{dim:#}{value}\n"));
        }
    }
    let sections =
        [("Parameters", op.params_schema(), true), ("Result", op.output_schema(), false)];
    for (title, schema, asks) in sections {
        let title = format!("{accent}{title}{accent:#}");
        text.push_str(&members(&title, &schema, asks, out.width()));
    }
    // Command lines are not wrapped, so that they can be copied.
    text = fitted(&text, out.width());
    if !info.examples.is_empty() {
        text.push_str(&format!("\n{accent}Examples{accent:#}\n"));
    }
    for shown in info.examples {
        let params: Value = serde_json::from_str(shown.params).unwrap_or_default();
        let line = example::command_line(op, &params, &ProgramName::FULL);
        let call = example::call_line(op, &params);
        text.push_str(&format!("  {dim}# {}{dim:#}\n  {line}\n", shown.title));
        if call != line {
            text.push_str(&format!("  {call}\n"));
        }
    }
    out.text(&text)
}

/// The HTTP paths of the operation.
fn rest(info: &OpInfo) -> String {
    let routes = info.rest.iter().map(|route| format!("{} {}", route.method.name(), route.path));
    routes.collect::<Vec<_>>().join(", ")
}

fn access(described: &Value) -> String {
    let access = described.get("access").and_then(Value::as_str).unwrap_or_default();
    let mut words = vec![access];
    for word in ["destructive", "idempotent"] {
        // Every read is idempotent.
        if access != "read" && described.get(word) == Some(&Value::Bool(true)) {
            words.push(word);
        }
    }
    words.join(", ")
}

/// The members of an object schema: a line with name and type, and the description below.
fn members(title: &str, schema: &Value, asks: bool, width: usize) -> String {
    let params = Param::of_schema(schema);
    if params.is_empty() {
        return String::new();
    }
    let kind = |param: &Param| {
        let optional = if asks && !param.required { ", optional" } else { "" };
        format!("{}{optional}", param.kind.word())
    };
    let mut text = format!("\n{title}\n");
    for param in &params {
        text.push_str(&format!("  {}: {}\n", param.name, kind(param)));
        if !param.doc.is_empty() {
            text.push_str(&format!("{}\n", paragraph(&param.doc, 6, width)));
        }
    }
    text
}

/// Prints the token cost of each toolset.
pub(crate) fn cost(out: &mut Output, table: &Table) -> Result<u8, OpError> {
    let mut rows = Vec::new();
    for name in table.toolsets() {
        let tools = table.toolset(name)?.into_iter();
        let tools: Vec<Value> = tools.map(|(op, form)| op.as_tool(form)).collect();
        let count = tools.len();
        rows.push((name, count, text::tokens::estimate(&Value::Array(tools).to_string())));
    }
    if out.json {
        let row = |(name, tools, tokens): &(&str, usize, usize)| json!({ "name": name, "tools": tools, "tokens": tokens });
        let toolsets: Vec<Value> = rows.iter().map(row).collect();
        return Ok(out.result(&json!({ "toolsets": toolsets }), None));
    }
    let (accent, dim) = (out.accent(), out.dim());
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or_default().max(7);
    let mut text =
        format!("{accent}{:width$}  {:>5}  {:>6}{accent:#}\n", "toolset", "tools", "tokens");
    for (name, tools, tokens) in rows {
        text.push_str(&format!("{name:width$}  {tools:>5}  {tokens:>6}\n"));
    }
    let method = "Tokens are estimated: characters of the tools' JSON / 4.";
    let method = paragraph(method, 0, out.width());
    text.push_str(&format!("{dim}{method}{dim:#}\n"));
    Ok(out.text(&text))
}
