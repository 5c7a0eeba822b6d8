//! The program's own commands, the road on which calls leave it, and the list of its plugins.
//!
//! Nothing here is hot: all of it is built to be small. What has to be fast is called from here and
//! lives in the crates below.

mod commands;
mod kit;
mod names;
mod progress;
mod road;
mod world;

pub use crate::commands::{hook, run};
pub use crate::kit::{add_plugins, kit};
