//! The real binary through the boundaries a user has. One test binary; a file per subject.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod builds;
mod command_line;
mod crowd;
mod discovery;
mod errors;
mod failover;
mod faults;
mod hook;
mod hostile;
mod idle;
mod life;
mod mcp;
mod outbound;
mod parity;
mod places;
mod security;
mod settings;
mod sqlite;
mod store;
mod ways;
mod web;

use testkit::Home;

/// A home for the binary under test.
fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_rekindle"))
}
