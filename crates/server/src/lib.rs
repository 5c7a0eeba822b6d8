//! The daemon's face and life: lock, sockets, HTTP, failover.
//!
//! Read in this order: [`lock`] (who is PRIMARY), [`primary`] (a PRIMARY from start to end),
//! `door` and `socket` (the road of our own clients), [`stdio`] (`serve` for one MCP client, as PRIMARY or
//! PROXY), then the surfaces: [`http`], [`guard`], [`rpc`], `ws`, `sse`, `page`, [`connections`].

mod assets;
pub mod connections;
mod door;
mod events;
pub mod guard;
pub mod http;
mod idle;
pub mod lock;
mod page;
pub mod platform;
pub mod primary;
pub mod rpc;
mod socket;
mod sse;
pub mod stdio;
mod ws;
