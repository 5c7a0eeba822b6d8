//! Errors and help in the words of the command line: operations become commands, parameters become flags.

use contract::Table;

use crate::name::ProgramName;
use crate::param::Param;

/// The names of operations and parameters on the command line.
#[derive(Debug, Default)]
pub(crate) struct LineWords {
    /// Names of operations, and the words of their commands.
    commands: Vec<(&'static str, String)>,
    /// Names of parameters in backticks, or that cannot be ordinary words, and their flags or their names in the usage.
    flags: Vec<(String, String)>,
}

impl LineWords {
    /// The words for a command with these parameters.
    pub(crate) fn new(table: &Table, params: &[Param]) -> LineWords {
        let mut flags = Vec::new();
        for param in params {
            // Also without backticks: no ordinary word has a dot or an underscore inside.
            if !param.within.is_empty() {
                flags.push((param.path(), param.label()));
            }
            flags.push((format!("`{}`", param.name), format!("`{}`", param.label())));
            if param.position.is_none() && param.name.contains('_') {
                flags.push((param.name.clone(), param.label()));
            }
        }
        LineWords { commands: LineWords::of_commands(table, &ProgramName::FULL).commands, flags }
    }

    /// The commands alone, as the program is called by this name, for [`LineWords::explained`].
    pub(crate) fn of_commands(table: &Table, name: &ProgramName) -> LineWords {
        let command = |op: &contract::Operation| Some((op.info.name, name.line(op.info.cli.path)?));
        LineWords { commands: table.iter().filter_map(command).collect(), flags: Vec::new() }
    }

    /// The description of a command with these parameters. It is that of the operation, so the names in it have to be
    /// replaced, in backticks or not.
    pub(crate) fn explained(&self, text: &str, params: &[Param]) -> String {
        let mut text = self.help(text, params);
        for param in params.iter().filter(|param| param.position.is_none()) {
            text = text.replace(&format!("`{}`", param.name), &format!("`--{}`", param.flag()));
        }
        text
    }

    /// The help of an argument. A name without an underscore may be one of its values, so it stays.
    pub(crate) fn help(&self, text: &str, params: &[Param]) -> String {
        let mut help = text.to_owned();
        for (name, line) in self.commands.iter().filter(|(name, _)| name.contains('_')) {
            help = help.replace(&format!("`{name}`"), name);
            help = replace_word(&help, name, &format!("`{line}`"));
        }
        let flags = params.iter().filter(|param| param.position.is_none());
        for param in flags.filter(|param| param.name.contains('_')) {
            help = replace_word(&help, &param.name, &format!("--{}", param.flag()));
        }
        help
    }

    /// The text with commands for operations in backticks, and flags for parameters.
    pub(crate) fn reworded(&self, text: &str) -> String {
        let mut reworded = text.to_owned();
        for (name, line) in &self.commands {
            reworded = reworded.replace(&format!("`{name}`"), &format!("`{line}`"));
        }
        for (name, flag) in &self.flags {
            reworded = replace_word(&reworded, name, flag);
        }
        reworded
    }
}

/// Replaces a name where it is not a part of a longer one.
fn replace_word(text: &str, name: &str, with: &str) -> String {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let (mut replaced, mut end) = (String::with_capacity(text.len()), 0);
    for (at, found) in text.match_indices(name) {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let mut after = text.get(at + found.len()..).unwrap_or_default().chars();
        // A full stop ends a sentence or is part of a longer name.
        let goes_on = match after.next() {
            Some('.') => after.next().is_some_and(in_name),
            next => next.is_some_and(in_name),
        };
        if before.is_some_and(in_name) || goes_on {
            continue;
        }
        replaced.push_str(text.get(end..at).unwrap_or_default());
        replaced.push_str(with);
        end = at + found.len();
    }
    replaced.push_str(text.get(end..).unwrap_or_default());
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_become_commands_and_parameters_flags() {
        let words = LineWords {
            commands: vec![("set_hint", "rekindle hint set".to_owned())],
            flags: vec![("on_error".to_owned(), "--on-error".to_owned())],
        };
        let text =
            "Pass on_error skip or `set_hint`; see hints.on_error, on_errors and x on_error.";
        assert_eq!(
            words.reworded(text),
            "Pass --on-error skip or `rekindle hint set`; see hints.on_error, on_errors and x --on-error."
        );
    }
}
