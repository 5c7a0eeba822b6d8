//! Plain data types, pure rules and wire types, shared by every crate.
//!
//! Read in this order: [`error`] (the closed list of codes), [`wire`] (a call and its reply),
//! [`hint`], [`hook`] and [`observation`], [`rank`], [`entry`], [`event`], [`situation`], [`locations`], [`time`], [`json`], [`weight`], [`limits`].
//! There is no I/O, no clock, no randomness and no async in this crate.

pub mod context;
pub mod database;
pub mod discard;
pub mod entry;
pub mod error;
pub mod event;
pub mod ghap;
pub mod hint;
pub mod hook;
pub mod import;
pub mod job;
pub mod json;
pub mod limits;
pub mod locations;
pub mod memory;
pub mod object;
pub mod observation;
pub mod origin;
pub mod portable;
pub mod project;
pub mod rank;
pub mod run;
pub mod session;
pub mod situation;
pub mod time;
pub mod value;
pub mod weight;
pub mod wire;

pub use error::{Code, OpError};
pub use wire::{CallId, Caller, Reply, Request, Road, Tier};
