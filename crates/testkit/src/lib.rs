//! The real binary in a temporary home, and plain clients for each of its surfaces.
//!
//! Read in this order: [`home`] (places and processes), [`wait`] (deadlines without sleeping),
//! [`http`], [`lines`] (the unix socket and stdio), [`ws`].

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test kit fails by panicking")]

pub mod home;
pub mod http;
pub mod lines;
pub mod wait;
pub mod ws;

pub use home::{Daemon, Home, Run};
pub use http::{Http, Response};
pub use lines::{Lines, Mcp};
pub use wait::wait_until;
