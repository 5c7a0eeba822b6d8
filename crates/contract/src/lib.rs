//! The verbs: what an operation, a plugin and a scheme are. No surface and no handler is here.
//!
//! Read in this order: [`op`] (one verb, declared once), [`cx`] (what a handler is given),
//! [`plugin`] (a crate of verbs), [`candidate`] (what it would tell an agent), [`scheme`] (who owns an address),
//! [`table`] (all of them), [`brief`] (results for models), [`config`] (declared settings).

pub mod brief;
pub mod candidate;
pub mod config;
pub mod cx;
pub mod op;
pub mod plugin;
pub mod scheme;
pub mod table;
mod tool;

pub use candidate::{BriefingForm, Candidate, Form, Moment, Occasion, Section};
pub use config::{Config, ConfigKey, ConfigKind, TextForm};
pub use cx::{CallStore, Cx};
pub use model::{Caller, Code, OpError, Reply, Request, Road, Tier};
pub use op::{Access, CliShape, Document, Example, Flattened, Listed, Op, OpInfo, Operation};
pub use plugin::{End, Plugin};
pub use scheme::Scheme;
pub use table::Table;
