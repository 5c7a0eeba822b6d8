//! The spine: registry, dispatch, bus, spool, settings, log. No file here names a plugin's noun.
//!
//! Read in this order: [`runtime`] (what a process holds), `dispatch` (the one road to a handler),
//! `pool`, [`bus`], `builtin` (operations every build has), `spool`, [`config`], [`log`], [`host`].

mod builtin;
pub mod bus;
pub mod clock;
pub mod config;
mod dispatch;
mod doctor;
pub mod host;
pub mod log;
mod pool;
mod runtime;
mod spool;
pub mod tasks;

#[cfg(test)]
mod tests;

pub use host::{Host, HostFacts};
pub use runtime::{Kit, Runtime, Setup};
