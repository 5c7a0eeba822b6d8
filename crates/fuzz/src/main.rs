//! Bounded, repeatable fuzzing of all code that reads external input: `cargo xtask fuzz --help`.
//!
//! Read in this order: `target` (what a target is), `targets` (all of them), `dice`, `grammar` and
//! `mutate` (how inputs are made), `worker` (runs the cases), `supervisor` (starts workers, reports).

// A command line tool: it prints its results.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod arena;
mod corpus;
mod dice;
mod grammar;
mod mutate;
mod options;
mod supervisor;
mod target;
mod targets;
mod worker;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use options::{Command, FuzzOptions};
use supervisor::{Supervisor, TargetReport, table};
use target::Workbench;
use worker::Assignment;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let options = match FuzzOptions::parse(&args) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("fuzz: {error}\n\n{}", options::HELP);
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command. Returns whether all cases passed.
fn run(options: &FuzzOptions) -> std::io::Result<bool> {
    let bench = Workbench { binary: options.binary.clone() };
    let first = options.targets.first().copied();
    match (&options.command, first) {
        (Command::Run { time, seed }, _) => {
            println!("fuzz: seed {seed}, {} s", time.as_secs_f64());
            let supervisor = Supervisor::new(options, on_interrupt())?;
            let reports = supervisor.run(*time, *seed)?;
            Ok(conclude(&reports))
        }
        (Command::Cases { seed, from, to }, Some(target)) => {
            let time = Duration::from_secs(86_400);
            let assignment = Assignment { seed: *seed, from: *from, until: Some(*to), time };
            let supervisor = Supervisor::new(options, on_interrupt())?;
            let report = supervisor.run_target(target, &assignment)?;
            Ok(conclude(&[report]))
        }
        (Command::Replay(file), Some(target)) => {
            let flaw = worker::replay(target, &bench, &std::fs::read(file)?);
            match &flaw {
                Some(flaw) => println!("FAILED {}: {flaw}", target.name),
                None => println!("{}: nothing is wrong with {}", target.name, file.display()),
            }
            Ok(flaw.is_none())
        }
        (Command::Work { seed, from, until, time }, Some(target)) => {
            let assignment = Assignment { seed: *seed, from: *from, until: *until, time: *time };
            worker::work(target, &assignment, &bench, &options.out)?;
            Ok(true)
        }
        (Command::List, _) => {
            for target in targets::all() {
                println!("{:<14} {}", target.name, target.about);
            }
            Ok(true)
        }
        _ => {
            println!("{}", options::HELP);
            Ok(true)
        }
    }
}

fn conclude(reports: &[TargetReport]) -> bool {
    print!("\n{}", table(reports));
    reports.iter().all(|report| report.failures == 0)
}

/// A flag that Ctrl-C sets: the current case is finished, and the table printed.
fn on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime
            && runtime.block_on(tokio::signal::ctrl_c()).is_ok()
        {
            flag.store(true, Ordering::Relaxed);
        }
    });
    stop
}
