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

/// Targets that run in this process: thousands of cases a second.
static PURE: [FuzzTarget; 7] = [
    pure!(
        "payload",
        "agents::extract: small, without secrets, unchanged when read back from the spool",
        payload::generate,
        payload::check
    ),
    pure!(
        "secrets",
        "text::secrets: planted secrets are redacted, redacting again changes nothing",
        secrets::generate,
        secrets::check
    ),
    pure!(
        "query",
        "text::query: any text is a query within its limits, matches are at character boundaries",
        query::generate,
        query::check
    ),
    pure!(
        "remote",
        "git::normal_remote: the host that git contacts, and no password",
        remote::generate,
        remote::check
    ),
    pure!(
        "neutral",
        "text::one_line, quoted: no control characters, bounded; printable: only line breaks and tabs; all idempotent",
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
        about: "git::Facts: no files of a clone make it count as another repository",
        share: 1,
        patience: Duration::from_secs(20),
        renew: 1_000,
        generate: repository::generate,
        open: repository::open,
    },
];

/// A target that runs the real binary in a temporary home.
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
        "frames on socket, /rpc, /mcp and /ws: replies are well-formed, no internal errors",
        rpc,
        500
    ),
    real!(
        "http",
        "raw requests without a token: answered with HTTP or closed, never with a record",
        http,
        500
    ),
    real!(
        "search",
        "queries with operators and filters: answered within their limits",
        search,
        500
    ),
    real!("spool", "files in the spool: the event after them is ingested", spool, 200),
    real!(
        "project-file",
        ".rekindle.toml of a clone: plain names, other projects not affected",
        project_file,
        200
    ),
    real!(
        "database",
        "damaged databases: no panic, no invented row, no readable record lost",
        database,
        1_000
    ),
    real!(
        "install",
        "agents' files: restored byte for byte, or refused and unchanged",
        install,
        1_000
    ),
    real!("cli", "command lines: a known exit code, no control characters in the output", cli, 300),
    real!(
        "template",
        "hints in four template languages: rendered within limits or refused",
        template,
        500
    ),
    real!(
        "state-files",
        "our own small files, damaged: commands and daemon still work",
        state_files,
        1_000
    ),
    real!(
        "ledger",
        "writes, purges, crashes, restores: stored records found once, purged ones in no file",
        ledger,
        1_000
    ),
];

/// All targets, those that run in this process first.
pub(crate) fn all() -> impl Iterator<Item = &'static FuzzTarget> {
    PURE.iter().chain(&REAL)
}

/// Targets with known faults, to prove that the fuzzer finds them. They run only if they are named.
pub(crate) fn drills() -> impl Iterator<Item = &'static FuzzTarget> {
    drill::DRILLS.iter()
}
