//! Blocking client for our own daemon: finds it, talks to it, starts it, or spools an event for it.
//!
//! Read in this order: [`platform`] (user, directories, environment), [`connection`] (one line out, one line in),
//! [`road`] (calls over it), [`daemon`] (discovery and start), [`spool`]. There is no async runtime, no database and
//! no argument parser here: this is the hook's whole process.

pub mod clock;
pub mod connection;
pub mod daemon;
pub mod platform;
pub mod road;
pub mod spool;

use model::CallId;

/// A new id for a call that starts here: the time and eighty random bits. The time comes first, so that consecutive
/// ids are neighbours in an index.
pub fn mint() -> CallId {
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // Without randomness, the time and the pid still distinguish the calls of one machine.
        bytes[8..12].copy_from_slice(&std::process::id().to_le_bytes());
    }
    bytes[..6].copy_from_slice(&clock::now_ms().to_be_bytes()[2..]);
    CallId(bytes)
}
