//! Each agent as data, and the two conversions: its event to ours, and our text to its answer.
//!
//! Everything here is pure. [`AGENTS`] lists each agent's names for events, tools and members; a new agent is
//! a new row. All text that [`extract`] returns has passed the secret guard.

mod answer;
pub mod digest;
mod encoding;
mod event;
mod final_message;
mod guard;
mod intake;
mod json;
mod opencode;
mod prompt;
pub mod shell;
mod shortener;
mod table;
mod tool;
mod wire;
pub mod wiring;

pub use answer::{answer, answer_to, host_limits, takes_text};
pub use encoding::with_valid_encoding;
pub use event::{extract, strict};
pub use intake::{Intake, Taken, shortened};
pub use json::{Json, Members};
pub use opencode::{command as opencode_command, plugin as opencode_plugin};
pub use table::{
    AGENTS, Agent, Event, ExitLine, Fields, Form, Kind, Marks, Tool, WITHOUT_HOOKS, agent, kind,
    of_client,
};
pub use tool::{is_read_only, run_kind};
