//! The program's own commands, the transport of its calls, and the list of its plugins.
//!
//! Nothing here is on the hot path, so this crate is compiled for size. Fast code is in the crates
//! below.

mod calls;
mod commands;
mod kit;
mod names;
mod progress;
mod road;
mod world;

pub use crate::commands::{hook, run, statusline};
pub use crate::kit::{add_plugins, kit};
