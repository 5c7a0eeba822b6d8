//! `rekindle bench-http BYTES`: a bare handler on the daemon's own HTTP stack, to measure against.

use clap::{Arg, ArgMatches, Command, value_parser};

use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("bench-http")
        .about("Answer every request with this many bytes of JSON")
        .hide(true)
        .arg(Arg::new("bytes").required(true).value_parser(value_parser!(usize)))
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let bytes = matches.get_one::<usize>("bytes").copied().unwrap_or(0);
    let tokio = match super::serve::tokio_runtime() {
        Ok(tokio) => tokio,
        Err(error) => return world.out.error(&error),
    };
    let served = tokio.block_on(server::bare::serve(bytes, |port| {
        world.out.text(&port.to_string());
    }));
    match served {
        Ok(()) => 0,
        Err(error) => world.out.error(&model::OpError::unavailable(error.to_string())),
    }
}
