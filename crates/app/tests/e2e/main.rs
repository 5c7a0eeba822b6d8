//! The real binary through the boundaries a user has. One test binary; a file per subject.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod activity;
mod agent_files;
mod agent_project;
mod agents;
mod answers;
mod arrivals;
mod backlog;
mod beside;
mod builds;
mod command_line;
mod command_secrets;
mod context;
mod context_faults;
mod crowd;
mod damaged;
mod damaged_ids;
mod damaged_index;
mod damaged_purge;
mod damaged_rows;
mod discovery;
mod doctor;
mod doctor_daemon;
mod environment;
mod errors;
mod eval;
mod export;
mod failover;
mod faults;
mod fixes;
mod for_models;
mod forgetting;
mod full_stdout;
mod ghaps;
mod ghaps_hooks;
mod handoff;
mod hints_faults;
mod hints_scenarios;
mod hits;
mod hook;
mod hostile;
mod idle;
mod ids;
mod import;
mod import_agents;
mod import_editors;
mod import_follow;
mod import_opencode;
mod import_records;
mod impostors;
mod install;
mod install_faults;
mod jobs;
mod large_events;
mod late;
mod learned_context;
mod learned_hooks;
mod leftovers;
mod life;
mod links;
mod live;
mod looking;
mod manners;
mod mcp;
mod meaning;
mod memories;
mod nmem;
mod nudge;
mod odd_events;
mod opening;
mod out_of_reach;
mod outbound;
mod outcomes;
mod parity;
mod places;
mod purge_reach;
mod read_only;
mod record;
mod rest;
mod security;
mod seed_format;
mod sessions;
mod settings;
mod shell;
mod situation;
mod spooled_place;
mod sqlite;
mod store;
mod telling;
mod terminal;
mod uninstall_data;
mod uninstall_faults;
mod used;
mod values;
mod verdicts;
mod ways;
mod web;
mod wording;

use testkit::Home;

/// A home for the binary under test.
fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_rekindle"))
}
