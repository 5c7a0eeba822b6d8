//! The command line: argv to an operation and its parameters, and its result to people or `--json`.
//!
//! Read in this order: [`param`] (a JSON Schema as arguments), [`tree`] (the commands),
//! [`parse`] (argv to a selection), [`input`] (stdin and files), [`answer`] (a call and the output of
//! its reply), [`output`] (results and errors), [`name`] (the names under which it is started),
//! [`overview`] (the commands under headings), [`live`] (completion of values in the store). The caller of [`run_op`] provides the transport of a
//! call. The commands that manage the daemon are not here either: the caller passes them as `extra`
//! and gets them back as [`Selection::Own`].

mod answer;
mod example;
mod input;
mod live;
mod man;
mod name;
mod ops;
mod output;
mod overview;
mod pager;
mod param;
mod parse;
mod reference;
mod render;
mod tree;
mod usage;
mod wording;

#[cfg(test)]
mod tests;

pub use answer::run_op;
pub use clap_complete::Shell;
pub use live::{LiveValues, SETTING, live_values};
pub use man::man_page;
pub use name::{ParamDefault, ProgramName, ResultForm, Saying};
pub use output::Output;
pub use parse::{OpCall, OwnCommand, Parsed, Selection, completion_script, parse};
pub use reference::reference;
pub use tree::{DB, JSON, PORT, command, is_bare};

/// Exit code of a line that could not be understood.
pub const EXIT_USAGE: u8 = 2;
