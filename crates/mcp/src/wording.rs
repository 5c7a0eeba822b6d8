//! Errors in the words of a model: operations that it can call are named as tools, not as commands.

use contract::{Operation, Table};
use model::{OpError, Tier};

/// Replaces each quoted command that is also a tool with the name of the tool. Commands that only people have stay:
/// the model can pass them on to the user.
pub(crate) fn for_models(table: &Table, mut error: OpError) -> OpError {
    error.message = reworded(table, &error.message);
    error.hint = error.hint.map(|hint| reworded(table, &hint));
    error
}

fn reworded(table: &Table, text: &str) -> String {
    // Every second piece is between backticks.
    let pieces = text.split('`').enumerate().map(|(place, piece)| match place % 2 {
        0 => piece.to_owned(),
        _ => quoted(table, piece),
    });
    pieces.collect()
}

/// The replacement of a quoted piece, with its backticks.
fn quoted(table: &Table, piece: &str) -> String {
    let words: Vec<&str> = match piece.strip_prefix("rekindle ") {
        Some(line) => line.split_whitespace().collect(),
        None => return format!("`{piece}`"),
    };
    match words[..] {
        ["ops"] => "`tools/list`".to_owned(),
        ["ops", name] => format!("The input schema of `{name}`"),
        _ => match tool(table, &words) {
            Some(op) => format!("`{}`{}", op.info.name, arguments(op, &words)),
            None => format!("`{piece}`"),
        },
    }
}

/// The options of a command line as arguments of its tool, if it has nothing else.
fn arguments(op: &Operation, words: &[&str]) -> String {
    let options = words.get(op.info.cli.path.len()..).unwrap_or_default();
    match options {
        [name, value] if name.starts_with("--") => {
            let value = value.trim_matches('\'');
            format!(" with {} `{value}`", name.trim_start_matches('-').replace('-', "_"))
        }
        _ => String::new(),
    }
}

/// The tool whose command a line begins with, the longest command first: `sessions delete` is more than `sessions`.
fn tool<'t>(table: &'t Table, words: &[&str]) -> Option<&'t Operation> {
    let path = |op: &Operation| op.info.cli.path;
    let begins = |op: &&Operation| !path(op).is_empty() && words.starts_with(path(op));
    let longest = table.iter().filter(begins).max_by_key(|op| path(op).len());
    longest.filter(|op| op.info.tiers.contains(&Tier::Agent))
}
