//! The only crate that uses SQLite. Its public functions take and return records, never rows.
//!
//! Read in this order: `store` (the handle), `writer` (group commit), `keeper` (the writer's database file), `pool`
//! (readers), `connection` (the only place that opens SQLite), `files`, `recover` (damage), `backup`, then the
//! aggregates: `calls`, `events`, [`hints`], [`hook_events`], `notices`, [`projects`], [`sessions`], [`prompts`],
//! [`observations`] (with [`recent`], [`history`], [`commits`] and [`open_ends`] that read them), [`failures`],
//! [`memories`], [`ghaps`] (with [`clusters`] and [`check_ins`]), [`values`], [`context`], [`session_details`],
//! [`receipts`], [`pauses`], [`jobs`], [`passages`] (the one full-text index, read by [`search`]), [`literal`] (texts
//! without an index); [`purge`] and [`retention`] remove from all of them, [`scrub`] and [`project_texts`] go over
//! their texts, [`totals`] and [`activity_counts`] count them. An aggregate is functions over [`Tx`] and [`Rx`] with
//! its SQL beside them and its table in `schema/`.

pub mod activity;
pub mod activity_counts;
mod aggregate;
mod answer;
mod backup;
pub mod bare;
mod batch_cache;
pub mod bookmarks;
mod calls;
mod catalogue;
mod cells;
pub mod check_ins;
pub mod clusters;
mod commit_signal;
pub mod commits;
mod companions;
mod connection;
pub mod context;
mod copies;
pub mod damaged;
mod deadline;
mod deferred;
mod error;
mod events;
pub mod failures;
mod files;
mod foreground;
mod foreign;
pub mod ghaps;
mod group_end;
mod hash;
pub mod health;
mod hint_rows;
pub mod hints;
pub mod history;
pub mod hook_events;
pub mod import_effects;
pub mod imports;
pub mod index_health;
mod index_state;
pub mod jobs;
mod keeper;
mod known;
mod leftovers;
mod listed;
pub mod literal;
pub mod lost_id;
pub mod memories;
mod memory_vectors;
mod mover;
mod notices;
pub mod observations;
pub mod open_ends;
pub mod origins;
pub mod passages;
mod paths;
pub mod pauses;
pub mod plain;
mod pool;
pub mod portable;
mod postings;
mod prefixes;
pub mod project_texts;
pub mod projects;
pub mod prompts;
pub mod purge;
pub mod receipts;
pub mod recent;
mod record_ids;
mod record_types;
mod recover;
mod references;
mod registry;
pub mod retention;
pub mod scrub;
pub mod search;
pub mod session_details;
pub mod session_events;
pub mod sessions;
mod shared_ids;
pub mod spool_files;
mod store;
mod table_info;
#[cfg(test)]
mod tests;
mod texts;
pub mod totals;
mod tx;
pub mod unfinished;
pub mod values;
mod verdicts;
mod writer;

pub use aggregate::{Aggregate, GuardedColumn, Records};
pub use commit_signal::CommitSignal;
pub use connection::{check_file, leftovers, record_entries};
pub use error::StoreError;
pub use foreground::ForegroundUse;
pub use health::Health;
pub use hint_rows::REPAIRED as HINTS_REPAIRED;
pub use index::RecordKind;
pub use record_types::{check_type, is_declared, superseded_by};
pub use registry::{declared_kinds, other_kinds};
pub use store::{OnOpen, Opened, Options, Publish, StartedWrite, Store, Write, Written};
pub use tx::{Rx, Tx};
pub use verdicts::TextQuestion;
