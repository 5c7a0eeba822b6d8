//! Connects agents: edits their configuration so that they call us, and undoes it to the byte.
//!
//! Read in this order: [`place`] (where a file is), [`edit`] (a text with what is ours, and without it; [`json`] and [`toml`] by
//! format), [`plan`] (what an installation changes, before anything does), [`record`] (what was there before),
//! [`apply`] (all of it or nothing), [`install`] (the two together), [`look`] (what is wired now), [`switches`] (what is
//! switched off all the same), [`traces`] (when an agent was last active), [`diff`] and [`merge`].

mod apply;
mod binary;
mod diff;
mod edit;
mod install;
mod json;
mod look;
mod merge;
mod ours;
mod place;
mod plan;
mod record;
mod switches;
mod toml;
mod traces;

pub use binary::{Copy, build_folder};
pub use diff::unified;
pub use install::{Asked, Outcome, Undone, install, preview, remember_plugin, uninstall};
pub use look::{Look, Started, look};
pub use ours::{claude_plugin, quoted};
pub use place::{Around, Scope};
pub use plan::{Change, Doing, Whole};
pub use record::{Recorded, recorded};
pub use switches::Off;
pub use traces::last_active;

#[cfg(test)]
mod tests;
