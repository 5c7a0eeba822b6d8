//! The command line: argv to an operation and its parameters, and its result to people or `--json`.
//!
//! Read in this order: [`param`] (a JSON Schema as arguments), [`tree`] (the commands),
//! [`parse`] (argv to what was picked), [`output`] (results and errors). How a call reaches its
//! handler is not here: the caller of [`run_op`] brings the road. Neither are the commands of the
//! daemon's life: they are handed in as `extra` and handed back as [`Picked::Own`].

mod example;
mod ops;
mod output;
mod param;
mod parse;
mod reference;
mod render;
mod suggest;
mod tree;
mod usage;

#[cfg(test)]
mod tests;

use model::{Caller, Request, Road};

pub use output::Output;
pub use parse::{Call, Own, Parsed, Picked, parse};
pub use reference::reference;
pub use tree::{DB, JSON, PORT, command};

/// Exit code of a line that could not be understood.
pub const EXIT_USAGE: u8 = 2;

/// Calls the operation over this road, prints what comes back, and says with which code to exit.
pub fn run_op(out: &mut Output, road: &dyn Road, caller: Caller, call: Call) -> u8 {
    let Call { op, params } = call;
    let request =
        Request { call: client::mint(), op: op.name.to_owned(), params: params.clone(), caller };
    match road.call(request) {
        Ok(result) => match op.cli.pretty {
            Some(pretty) => out.result(&result, Some(&|result| pretty(&params, result))),
            None => out.result(&result, None),
        },
        Err(error) => out.error(&error),
    }
}
