//! SQLite, and the only crate that knows it. Its signatures speak nouns, never rows.
//!
//! Read in this order: `store` (the handle), `writer` (group commit), `keeper` (the writer's hold
//! on the file), `pool` (readers), `connection` (the only place that opens SQLite), `files`,
//! `recover` (damage), `backup`, then the aggregates: `calls`, `events`, [`hints`],
//! [`hook_events`], `notices`. An aggregate is functions over [`Tx`] and [`Rx`] with its SQL beside
//! them and its table in `schema/`.

mod backup;
mod calls;
mod connection;
mod error;
mod events;
mod files;
pub mod health;
pub mod hints;
pub mod hook_events;
mod keeper;
mod notices;
mod pool;
mod recover;
mod store;
#[cfg(test)]
mod tests;
mod tx;
mod writer;

pub use error::StoreError;
pub use health::Health;
pub use store::{OnOpen, Opened, Options, Publish, Store, Write, Written};
pub use tx::{Rx, Tx};
