//! The real binary through the boundaries a user has. One test binary; a file per subject.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod failover;

use testkit::Home;

/// A home for the binary under test.
fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_rekindle"))
}
