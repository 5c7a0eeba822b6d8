//! The list of targets. A new one is a file here and a row in its list.

mod cli;
mod database;
mod drill;
mod hook;
mod http;
mod install;
mod ledger;
mod neutral;
mod payload;
mod project_file;
mod query;
mod remote;
mod repository;
mod rpc;
mod search;
mod secrets;
mod spool;
mod state_files;
mod template;

use std::time::Duration;

use crate::arena::CASE_PATIENCE;
use crate::target::{FuzzTarget, PureSubject};

/// A target that is a function of its input.
macro_rules! pure {
    ($name:literal, $about:literal, $generate:path, $check:path) => {
        FuzzTarget {
            name: $name,
            about: $about,
            share: 1,
            patience: Duration::from_secs(20),
            renew: 1,
            generate: $generate,
            open: |_| Box::new(PureSubject($check)),
        }
    };
}

/// Targets within this process: thousands of cases a second.
static PURE: [FuzzTarget; 7] = [
    pure!(
        "payload",
        "agents::extract: small, without secrets, the same when it is read back from the spool",
        payload::generate,
        payload::check
    ),
    pure!(
        "secrets",
        "text::secrets: planted secrets are gone, redacting again changes nothing",
        secrets::generate,
        secrets::check
    ),
    pure!(
        "query",
        "text::query: any text is a query within its limits, matches lie on characters",
        query::generate,
        query::check
    ),
    pure!(
        "remote",
        "git::normal_remote: the host that git asks, and no password",
        remote::generate,
        remote::check
    ),
    pure!(
        "neutral",
        "text::one_line, quoted, printable: nothing acts, lengths hold, twice is once",
        neutral::generate,
        neutral::check
    ),
    pure!(
        "glob",
        "pattern::glob: any pattern compiles or is refused, and matching ends",
        neutral::generate_glob,
        neutral::check_glob
    ),
    FuzzTarget {
        name: "repository",
        about: "git::Facts: the files of a clone never make it a part of another repository",
        share: 1,
        patience: Duration::from_secs(20),
        renew: 1_000,
        generate: repository::generate,
        open: repository::open,
    },
];

/// A target that is the real binary in a temporary home.
macro_rules! real {
    ($name:literal, $about:literal, $module:ident, $renew:literal) => {
        FuzzTarget {
            name: $name,
            about: $about,
            share: 4,
            patience: CASE_PATIENCE,
            renew: $renew,
            generate: $module::generate,
            open: $module::open,
        }
    };
}

/// Targets with the real binary: tens of cases a second.
static REAL: [FuzzTarget; 12] = [
    real!(
        "hook",
        "payloads by process, HTTP, RPC and spool: stored or refused, no secret on disk",
        hook,
        200
    ),
    real!(
        "rpc",
        "frames on socket, /rpc, /mcp and /ws: replies are well-formed, none is a defect",
        rpc,
        500
    ),
    real!("http", "raw requests without a token: HTTP or silence, and never a record", http, 500),
    real!(
        "search",
        "queries with operators and filters: answered within their limits",
        search,
        500
    ),
    real!("spool", "files in the spool: the event behind them is taken in", spool, 200),
    real!(
        "project-file",
        ".rekindle.toml of a clone: plain names, other projects undisturbed",
        project_file,
        200
    ),
    real!(
        "database",
        "damaged databases: no panic, no unknown row, nothing destroyed",
        database,
        1_000
    ),
    real!(
        "install",
        "agents' files: restored to the byte, or refused and left alone",
        install,
        1_000
    ),
    real!("cli", "command lines: an exit code of the list, nothing acts on a terminal", cli, 300),
    real!(
        "template",
        "hints in four template languages: rendered within limits or refused",
        template,
        500
    ),
    real!(
        "state-files",
        "our own small files, damaged: commands and daemon go on",
        state_files,
        1_000
    ),
    real!(
        "ledger",
        "writes, purges, crashes, restores: each record is found once, or in no file",
        ledger,
        1_000
    ),
];

/// All targets, those within this process first.
pub(crate) fn all() -> impl Iterator<Item = &'static FuzzTarget> {
    PURE.iter().chain(&REAL)
}

/// Targets with known faults, which prove that faults are found. They run only when they are named.
pub(crate) fn drills() -> impl Iterator<Item = &'static FuzzTarget> {
    drill::DRILLS.iter()
}
