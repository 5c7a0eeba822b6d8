//! `rekindle-bench`: measurements that need our crates in one process, and their baselines. `cargo xtask bench` builds it
//! beside the release binary and runs it in temporary homes; it is not part of the product.
//!
//! Figures are printed as one line of JSON. `REKINDLE_HOME` says where the store is, as for the program itself.

// A measurement talks to the task runner and to a person at a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bare_http;
mod clusters;
mod dispatch;
mod observations;
mod sessions;
mod threads;

use std::process::ExitCode;

use model::OpError;
use serde_json::Value;

const USAGE: &str = "\
usage: rekindle-bench WHAT COUNT

  http BYTES       answer every request with this many bytes of JSON; prints the port
  dispatch CALLS   hints in dispatch, beside a plain map behind the same dispatch
  sessions CALLS   the first page of sessions, among 10,000 and among 100
  clusters COUNT   clustering of so many experiences, beside their cosines in a plain loop
  make COUNT       make up a store of about so many observations in an empty home
  read CALLS       reads over such a store, beside bare SQL
  search CALLS     searches over such a store, beside the bare index and a bare scan of the vectors
  learning CALLS   learning over such a store, beside searches, hints, and hooks without learning
  transcripts USES transcripts of two agents with about so many tool calls, in the home directory
  files COUNT      so many small transcripts there
  parse TIMES      each line of these transcripts through the JSON parser
  ingest EVENTS    events from several connections to the daemon of this home
  insert ROWS      as many bare INSERTs";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, count] = args.as_slice() else { return wrong_usage() };
    let Ok(count) = count.parse::<usize>() else { return wrong_usage() };
    match run(what, count) {
        Some(Ok(figures)) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Some(Err(error)) => {
            eprintln!("rekindle-bench: {error}");
            ExitCode::FAILURE
        }
        None => wrong_usage(),
    }
}

fn wrong_usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

/// The figures of a measurement; `None` if the name is unknown.
fn run(what: &str, count: usize) -> Option<Result<Value, OpError>> {
    Some(match what {
        "http" => bare_http::run(count).map(|()| Value::Null),
        "dispatch" => dispatch::figures(count).map(Value::Object),
        "sessions" => sessions::figures(count).map(Value::Object),
        "clusters" => clusters::figures(count).map(Value::Object),
        "make" => observations::make::make(count),
        "read" => observations::read::read(count),
        "search" => observations::search::search(count),
        "learning" => observations::learning::learning(count),
        "transcripts" => observations::transcripts::make(count),
        "files" => observations::transcripts::make_many(count),
        "parse" => observations::transcripts::parse(count),
        "ingest" => observations::ingest::ingest(count),
        "insert" => observations::ingest::insert(count),
        _ => return None,
    })
}
