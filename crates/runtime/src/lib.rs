//! The runtime: registry, dispatch, bus, spool, settings, log. No file here names a plugin's types.
//!
//! Read in this order: [`runtime`] (the state of a process), `dispatch` (from a call to its handler), `pool`,
//! [`bus`], `builtin` (operations that every build has), `intake` and `capture` (recording events), `tell` and
//! `assemble` (texts for agents), `spool`, [`config`], [`log`], [`host`].

mod all_events;
mod assemble;
mod behind_spool;
mod builtin;
pub mod bus;
mod capture;
pub mod clock;
mod commits;
pub mod config;
mod dispatch;
mod doctor;
pub mod entry_updates;
pub mod feeds;
pub mod host;
mod intake;
mod job_runs;
mod jobs;
pub mod log;
mod pause_feed;
mod plugin_events;
mod pool;
mod pulled_feeds;
mod runtime;
mod seed;
pub mod spool;
pub mod tasks;
mod tell;
#[cfg(test)]
mod tests;
mod tool_calls;

pub use builtin::hook::{EventParams, read_event};
pub use doctor::{MachineChecks, MachineQuestion, MachineReport};
pub use host::{Host, HostFacts};
pub use runtime::{Kit, Runtime, RuntimeSetup, check_database};
pub use tell::{HookReply, deadline};
