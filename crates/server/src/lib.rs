//! The daemon: lock, sockets, HTTP, failover.
//!
//! Read in this order: [`lock`] (election of the PRIMARY), [`primary`] (a PRIMARY from start to end), `bound_socket`
//! and `socket` (the unix socket of our own clients), [`stdio`] (`serve` for one MCP client, as PRIMARY or PROXY),
//! then the surfaces: [`http`], [`guard`], [`rpc`], `ws`, `sse`, `page`, [`connections`].

mod assets;
mod bound_socket;
pub mod connections;
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
