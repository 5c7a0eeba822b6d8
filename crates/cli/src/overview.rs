//! The help of the whole program, with its commands under headings, because a single list would be too long.
//! Operations are grouped by toolset.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;

use clap::Command;
use contract::Table;
use text::table::wrapped;

use crate::tree::{CALL, COMPLETIONS, HELP_COLUMNS_MAX, OPS};

/// Adds a help with headings to the command; `own` are the commands that are not operations.
pub(crate) fn headed(root: Command, table: &Table, own: &[String]) -> Command {
    let styles = root.get_styles();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let headings = headings(&root, table, own);
    let words = headings.iter().flat_map(|(_, words)| words);
    let width = words.map(String::len).max().unwrap_or_default();
    let room = help_columns().saturating_sub(width + 4).max(1);
    let sections = headings.iter().map(|(heading, words)| {
        let lines = words.iter().map(|word| {
            let about = wrapped(&about(&root, word), room).join(&format!("\n{:1$}", "", width + 4));
            format!("\n  {literal}{word}{literal:#}{:1$}  {about}", "", width - word.len())
        });
        format!("{header}{heading}:{header:#}{}", lines.collect::<String>())
    });
    let sections = sections.collect::<Vec<_>>().join("\n\n");
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n\
         {{before-help}}{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    root.before_help(sections).help_template(template)
}

/// The columns of help: those of the terminal, up to the maximum.
fn help_columns() -> usize {
    match std::io::stdout().is_terminal() {
        true => client::platform::screen().columns.min(HELP_COLUMNS_MAX),
        false => HELP_COLUMNS_MAX,
    }
}

/// The headings and their commands. Toolsets with a single command share a heading.
fn headings(root: &Command, table: &Table, own: &[String]) -> Vec<(String, Vec<String>)> {
    let last = [CALL, OPS, COMPLETIONS];
    let shown = root.get_subcommands().filter(|command| !command.is_hide_set());
    let mut toolsets: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut program = Vec::new();
    for word in shown.map(Command::get_name).filter(|word| !last.contains(word)) {
        let op = table.iter().find(|op| op.info.cli.path.first() == Some(&word));
        match op.filter(|_| !own.iter().any(|own| own == word)) {
            Some(op) => toolsets.entry(op.info.toolset).or_default().push(word.to_owned()),
            None => program.push(word.to_owned()),
        }
    }
    let (large, small): (Vec<_>, Vec<_>) =
        toolsets.into_iter().partition(|(_, words)| words.len() > 1);
    let (names, words): (Vec<&str>, Vec<Vec<String>>) = small.into_iter().unzip();
    let large = large.into_iter().map(|(name, words)| (capital(name), words));
    let mut headings: Vec<(String, Vec<String>)> = large.collect();
    headings.push((capital(&names.join(", ")), words.concat()));
    headings.push(("Program".to_owned(), program));
    let last = last.iter().chain(&["help"]).map(|word| (*word).to_owned());
    headings.push(("All operations".to_owned(), last.collect()));
    headings.retain(|(_, words)| !words.is_empty());
    headings
}

fn about(root: &Command, word: &str) -> String {
    let about = root.find_subcommand(word).and_then(Command::get_about);
    // Clap adds its `help` command only when it parses a line.
    let help = || "Print this message or the help of the given command".to_owned();
    about.map_or_else(help, ToString::to_string)
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
