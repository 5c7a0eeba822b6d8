//! Blocking client for our own daemon: find it, talk to it, start it, or leave an event for it.
//!
//! Read in this order: [`platform`] (who and where we are), [`connection`] (one line out, one line
//! in), [`road`] (calls over it), [`daemon`] (discovery and start), [`spool`]. There is no async
//! runtime, no database and no argument parser here: the hook's process is made of this.

pub mod clock;
pub mod connection;
pub mod daemon;
pub mod platform;
pub mod road;
pub mod spool;

use model::CallId;

/// A new id for a call that starts here: the time and eighty random bits. With the time in front, ids
/// that come one after the other stand side by side in an index.
pub fn mint() -> CallId {
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // Without randomness the time and the process still tell calls of one machine apart.
        bytes[8..12].copy_from_slice(&std::process::id().to_le_bytes());
    }
    bytes[..6].copy_from_slice(&clock::now_ms().to_be_bytes()[2..]);
    CallId(bytes)
}
