//! The real binary in a temporary home, and plain clients for each of its surfaces.
//!
//! Read in this order: [`home`] (directories and processes), [`local`] (a runtime in this process), [`wait`]
//! (deadlines without sleeping), [`terminal`] (a pseudo-terminal), [`http`], [`lines`] (the unix socket and stdio), [`sse`],
//! [`ws`], [`browser`].

#![expect(clippy::expect_used, reason = "a test kit fails by panicking")]

pub mod browser;
pub mod home;
pub mod http;
pub mod lines;
pub mod local;
pub mod sse;
pub mod terminal;
pub mod wait;
pub mod ws;

pub use browser::Browser;
pub use home::{Daemon, Home, Run};
pub use http::{Http, Response};
pub use lines::{Lines, Mcp};
pub use local::{Folder, Local};
pub use sse::Sse;
pub use wait::{SOON, holds_for, wait_until};
pub use ws::Ws;
