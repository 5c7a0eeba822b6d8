//! A command line as the simple commands that it runs, split as a shell splits it.
//!
//! It expands nothing and knows no variables: it lists the programs that are named, with their words. Quoted
//! text is a word, not a command. Text in `$(…)` or after `bash -c` is parsed as commands.

mod flow;
mod reader;
#[cfg(test)]
mod tests;
mod wrappers;

use model::limits;

use crate::guard::cut;
use flow::Strict;

/// One program with its arguments, without their quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// The program's name without its folder.
    pub program: String,
    pub args: Vec<String>,
    /// Whether the line can only succeed if this command succeeds: only `&&` joins it to other commands, or it
    /// is the last command.
    pub decides: bool,
    /// Whether its standard output is not part of the output of the line: redirected to a file, a pipe or a
    /// substitution, or printed in the background.
    pub hidden: bool,
    /// Whether its standard output goes through a pipe whose end is part of the output of the line.
    pub piped: bool,
    /// Whether its standard output goes into a file other than `/dev/null`.
    pub to_file: bool,
    /// Whether the shell does not wait for it: `&` follows.
    pub background: bool,
    /// Whether it is behind `||`, so that it runs only if a command before it failed.
    pub is_alternative: bool,
    /// Its place in the loop around it.
    pub in_loop: LoopPlace,
}

/// The place of a command in the innermost loop of the shell around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopPlace {
    #[default]
    Outside,
    Body,
    /// Between `while` or `until` and `do`: its exit code decides whether the loop goes on.
    Condition,
}

/// Options of git itself, before its command, that take the next word.
const GIT_VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];

/// Options besides `--dry-run` and `--help` that make a git subcommand change nothing: the subcommand, these
/// long options, these short ones; then the short options that take a value, and those whose value can
/// only be attached.
type Rehearsal = (&'static str, &'static [&'static str], &'static str, &'static str, &'static str);

/// `-n` makes a push a dry run, but only makes a commit skip its hooks.
const REHEARSALS: &[Rehearsal] = &[
    ("push", &[], "nh", "o", ""),
    ("commit", &["--short", "--porcelain", "--long"], "h", "mFCct", "uS"),
];

/// The commands of a line in the order in which a shell would reach them; those in a substitution
/// precede the command that they are part of. A line that is too long is cut.
pub fn commands(line: &str) -> Vec<Simple> {
    let mut found = Vec::new();
    collect(cut(line, limits::SHELL_LINE_BYTES_MAX), 0, Strict::default(), &mut found);
    found
}

/// Whether running a line runs an expected command: as the whole line, or as one of its commands.
pub fn runs_line(expected: &str, line: &str) -> bool {
    let words = |line: &str| -> Vec<Vec<String>> {
        let simple = commands(line).into_iter();
        simple
            .map(|command| std::iter::once(command.program).chain(command.args).collect())
            .collect()
    };
    if expected.split_whitespace().eq(line.split_whitespace()) {
        return true;
    }
    let (expected, line) = (words(expected), words(line));
    !expected.is_empty() && line.windows(expected.len()).any(|run| run == expected.as_slice())
}

/// The commands of a script at this depth.
fn collect(script: &str, depth: usize, strict: Strict, found: &mut Vec<Simple>) {
    reader::Reader::new(script, depth, found).list(None, strict);
}

impl Simple {
    fn new(program: &str, args: &[String]) -> Simple {
        Simple {
            program: program.to_owned(),
            args: args.to_vec(),
            decides: true,
            ..Simple::default()
        }
    }

    /// The words after the program, without options.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.args.iter().map(String::as_str).filter(|arg| !arg.starts_with('-'))
    }

    /// This command as a part of the line of another command that runs it.
    pub(crate) fn within(mut self, outer: &Simple) -> Simple {
        self.decides &= outer.decides;
        self.piped = match self.hidden {
            true => self.piped && (outer.piped || !outer.hidden),
            false => outer.piped,
        };
        self.hidden |= outer.hidden;
        self.to_file |= outer.to_file;
        self.background |= outer.background;
        self.is_alternative |= outer.is_alternative;
        if self.in_loop == LoopPlace::Outside {
            self.in_loop = outer.in_loop;
        }
        self
    }

    /// Marks a command inside a substitution: neither its exit code nor its output leaves it.
    fn stays_inside(&mut self) {
        self.decides = false;
        self.hidden = true;
        self.piped = false;
    }

    /// The subcommand of git, if the program is git and has one.
    pub fn git_command(&self) -> Option<&str> {
        if self.program != "git" {
            return None;
        }
        let mut args = self.args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            if GIT_VALUED.contains(&arg) {
                args.next();
            } else if !arg.starts_with('-') {
                return Some(arg);
            }
        }
        None
    }

    /// Whether this runs the given subcommand of git, and neither as a dry run nor for its help.
    pub fn is_git(&self, command: &str) -> bool {
        self.git_command() == Some(command) && !self.rehearses(command)
    }

    /// Whether the options after this subcommand of git make it a dry run or print its help.
    fn rehearses(&self, command: &str) -> bool {
        let asked = |(of, ..): &&Rehearsal| *of == command;
        let (_, said, letters, valued, attached) =
            REHEARSALS.iter().find(asked).unwrap_or(&("", &[], "h", "", ""));
        let mut args = self.args.iter().map(String::as_str).skip_while(|arg| *arg != command);
        args.next();
        while let Some(arg) = args.next().filter(|arg| *arg != "--") {
            if arg.starts_with("--") {
                let is_it = |long: &&str| arg.len() > 4 && long.starts_with(arg);
                if ["--dry-run", "--help"].iter().any(is_it) || said.contains(&arg) {
                    return true;
                }
                continue;
            }
            let Some(flags) = arg.strip_prefix('-') else { continue };
            let flags = flags.split(|flag| attached.contains(flag)).next().unwrap_or_default();
            let value = flags.find(|flag| valued.contains(flag));
            if flags[..value.unwrap_or(flags.len())].contains(|flag| letters.contains(flag)) {
                return true;
            }
            if value.is_some_and(|at| at + 1 == flags.len()) {
                args.next();
            }
        }
        false
    }
}
