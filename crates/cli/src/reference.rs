//! The whole surface as data: the output of `rekindle reference`, from which the reference pages are generated.

use clap::Command;
use contract::{Operation, Table};
use model::error::CODES;
use serde_json::{Value, json};

use crate::name::ProgramName;
use crate::tree;

/// Width of the help texts, independent of the terminal.
const REFERENCE_COLUMNS: usize = 100;

/// Operations, errors, commands and MCP tools of this build. The caller provides the settings and the environment.
pub fn reference(table: &Table, extra: Vec<Command>, config: Value, environment: Value) -> Value {
    let mut root = tree::command(table, extra, &ProgramName::FULL).term_width(REFERENCE_COLUMNS);
    root.build();
    let mut commands = Vec::new();
    helps(&mut root, "", &mut commands);
    let tools = table.toolset("all").unwrap_or_default().into_iter();
    let tools: Vec<Value> = tools.map(|(op, form)| op.as_tool(form)).collect();
    json!({
        "operations": table.iter().map(Operation::describe).collect::<Vec<_>>(),
        "errors": errors(),
        "config": config,
        "environment": environment,
        "cli": commands,
        "mcp_tools": tools,
    })
}

fn errors() -> Vec<Value> {
    let row = |row: &model::error::CodeRow| {
        json!({
            "code": row.rpc,
            "word": row.word,
            "reason": row.reason,
            "rpc": row.rpc,
            "http": row.http,
            "exit": row.exit,
            "when": row.when,
        })
    };
    CODES.iter().map(row).collect()
}

/// The long help of a command and of all its subcommands.
fn helps(command: &mut Command, above: &str, list: &mut Vec<Value>) {
    let name = format!("{above}{}", command.get_name());
    let help = command.render_long_help().to_string();
    list.push(json!({ "command": name, "help": help.trim_end() }));
    for below in command.get_subcommands_mut() {
        if below.get_name() != "help" && !below.is_hide_set() {
            helps(below, &format!("{name} "), list);
        }
    }
}
