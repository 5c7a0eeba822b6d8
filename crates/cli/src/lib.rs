//! The command line: argv to an operation and its parameters, and its result to people or `--json`.
//!
//! Read in this order: [`param`] (a JSON Schema as arguments), [`tree`] (the commands),
//! [`parse`] (argv to what was picked), [`input`] (stdin and files), [`answer`] (a call and what is
//! printed of its reply), [`output`] (results and errors), [`name`] (the names it is started by),
//! [`overview`] (the commands under headings). How a call reaches its
//! handler is not here: the caller of [`run_op`] brings the road. Neither are the commands of the
//! daemon's life: they are handed in as `extra` and handed back as [`Picked::Own`].

mod answer;
mod example;
mod input;
mod man;
mod name;
mod ops;
mod output;
mod overview;
mod param;
mod parse;
mod reference;
mod render;
mod suggest;
mod tree;
mod usage;
mod wording;

#[cfg(test)]
mod tests;

pub use answer::run_op;
pub use clap_complete::Shell;
pub use man::man_page;
pub use name::{Default, Goes, Name, Saying};
pub use output::Output;
pub use parse::{Call, Own, Parsed, Picked, completion_script, parse};
pub use reference::reference;
pub use tree::{DB, JSON, PORT, command};

/// Exit code of a line that could not be understood.
pub const EXIT_USAGE: u8 = 2;
