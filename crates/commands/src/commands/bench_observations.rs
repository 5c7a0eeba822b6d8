//! `rekindle bench-observations`: a made-up store of any size, and what is measured over it.

mod corpus;
mod ingest;
mod make;
mod read;
mod search;
mod words;

use clap::{Arg, ArgMatches, Command, value_parser};
use model::OpError;
use serde_json::Value;

use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("bench-observations")
        .about("Make up a store of observations in an empty home, and measure over one")
        .hide(true)
        .arg(
            Arg::new("what")
                .required(true)
                .value_parser(["make", "read", "search", "ingest", "insert"]),
        )
        .arg(Arg::new("count").required(true).value_parser(value_parser!(usize)))
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let what = matches.get_one::<String>("what").map_or("", String::as_str);
    let count = matches.get_one::<usize>("count").copied().unwrap_or(0);
    let done: Result<Value, OpError> = match what {
        "make" => make::make(world, count),
        "read" => read::read(world, count),
        "search" => search::search(world, count),
        "ingest" => ingest::ingest(world, count),
        _ => ingest::insert(world, count),
    };
    match done {
        Ok(figures) => world.out.text(&figures.to_string()),
        Err(error) => world.out.error(&error),
    }
}
