//! Connects agents: edits their configuration so that they call us, and undoes it to the byte.
//!
//! Read in this order: [`place`] (the path of a file), [`edit`] (adds our entries to a text and removes them;
//! [`json`] and [`toml`] by format), [`plan`] (the changes of an installation, before any is made), [`record`] (the
//! previous content), [`apply`] (all changes or none), [`install`] (installs and uninstalls), [`look`] (the entries
//! that exist now), [`switches`] (settings that disable them), [`traces`] (when an agent was last active), [`diff`]
//! and [`merge`].

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
pub use install::{
    InstallOutcome, InstallRequest, Undone, install, preview, remember_plugin, uninstall,
};
pub use look::{AgentConnection, StartedProgram, look};
pub use ours::{claude_plugin, quoted};
pub use place::{Around, ConnectScope};
pub use plan::{FileAction, FileChange, ShellFile};
pub use record::{Recorded, recorded};
pub use switches::DisabledPart;
pub use traces::last_active;

#[cfg(test)]
mod tests;
