//! The traits and types that declare operations, plugins and schemes. No surface and no handler is
//! here.
//!
//! Read in this order: [`op`] (one operation, declared once), [`cx`] (the context of a handler),
//! [`caller`] (its project and session), [`plugin`] (a crate of operations), [`candidate`] (its
//! rows for agents), [`slot`] (the sections of those texts), [`scheme`] (the owner of an address),
//! [`feed`] (events for subscribers), [`table`] (all of them), [`rest`] (operations at HTTP paths),
//! [`asset`] (files of the page), [`brief`] (results for models), [`listing`] (lists for people),
//! [`config`] (declared settings).

pub mod asset;
pub mod brief;
pub mod caller;
pub mod candidate;
pub mod config;
mod count;
pub mod cx;
pub mod feed;
pub mod job;
pub mod listing;
mod member;
pub mod op;
pub mod plugin;
pub mod pretty;
pub mod rest;
pub mod scheme;
pub mod slot;
pub mod table;
mod target;
mod tool;
mod tool_form;
mod when;

#[cfg(test)]
mod tests;

pub use asset::Asset;
pub use caller::{CallerSession, EXCLUDED_PROJECTS, KnownCaller};
pub use candidate::{BriefingForm, Candidate, Moment, Occasion, RowCut};
pub use config::{Config, ConfigKey, ConfigKind, TextForm};
pub use count::Count;
pub use cx::{CallStore, Cx};
pub use feed::{Feed, FeedParams, Pulled};
pub use job::{ProgressWatcher, RunningJob};
pub use model::{Caller, Code, OpError, Reply, Request, Road, Tier};
pub use op::{
    Access, CliShape, Document, Example, FlagSwitch, Flattened, Listed, Op, OpInfo, Operation,
};
pub use plugin::{End, Plugin};
pub use pretty::Pretty;
pub use rest::{RestEndpoint, RestMethod, RestName, RestPath, RestRoute, RestTable};
pub use scheme::Scheme;
pub use slot::{Form, Slot, SlotInfo, YIELD_ORDER};
pub use table::Table;
pub use target::{CallTarget, WriteTarget, not_recorded};
pub use tool_form::ToolForm;
pub use when::TimeBound;
