//! `cargo xtask VERB`: everything the project checks, generates and measures about itself.
//!
//! The verbs only orchestrate cargo, the built binary and real clients; no product code is here.

// A task runner talks to a person at a terminal; printing is its job.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod agents;
mod bench;
mod ci;
mod clients;
mod codegen;
mod daemon;
mod fuzz;
mod home;
mod http;
mod mutants;
mod page;
mod process;
mod project;
mod recall;
mod report;
mod rust_source;
mod rust_tokens;
mod spec;
mod tidy;
mod weeks;

use std::process::ExitCode;

use anyhow::{Result, bail};

use project::Project;

const USAGE: &str = "\
usage: cargo xtask VERB

  ci [--install]            format, tidy, clippy, tests, a minute of fuzzing, generated pages, spec, release build,
                            quality, weeks, recall, gates, page, clients, agents
                            (--install: get missing tools with apt-get; implied by CI=true)
  tidy                      the house rules: headers, sizes, dependencies, import cycles, links, licences, prose
  prose [PATH]              list the sentences that tidy counts as hard to read
  spec                      every claim of docs/spec has a test, every reference an anchor
  codegen [--check]         write docs/reference from the binary, or compare
  bench [--gate] [--sessions] [--learning] [--import] [--quick] [--large] [--before FILE]
                            measure the release binary; --gate: instruction count and size only;
                            --large: also over a million observations; --before: beside an earlier build, in turn
  fuzz [TARGET...] [--seconds N] [--seed S] [--list] [--case S:N] [--replay FILE] [--help]
                            made-up and damaged input against the parsers and the real binary
  mutants CRATE [--sample N]
                            change the code of a crate in small ways; which changes do its own tests notice?
  recall [--binary FILE]    prompts through the real hook: learned items that are shown, and silence
  weeks [--seed N] [--binary FILE] [--briefing] [--rows FILE]
                            three weeks of work through a daemon, then questions about them; --briefing: print the last
                            one; --rows: ask nothing, write the rows of all briefings and whether they were used
  replay FILE [--questions N] [--binary FILE]
                            LoCoMo or LongMemEval as prompts and answers through the hook's socket, asked through search
  page [NAME...] [--binary FILE]
                            the page in Chromium: every xtask/page/*.test.mjs, or those named; screenshots in target/page
  clients [--binary FILE]   real MCP clients against the release binary
  e2e-agent [NAME...] [--binary FILE]
                            real agents, wired by `rekindle install`, with a scripted model; all without a name";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    let (verb, flags) = match args.split_first() {
        Some((verb, flags)) => (verb.as_str(), flags),
        None => bail!("no verb given\n{USAGE}"),
    };
    match verb {
        "clients" => return clients::run(&Project::find()?, flags),
        "e2e-agent" => return agents::run(&Project::find()?, flags),
        "fuzz" => return fuzz::run(&Project::find()?, flags),
        "page" => return page::run(&Project::find()?, flags),
        "recall" => return recall::run(&Project::find()?, flags),
        "weeks" => return weeks::run(&Project::find()?, flags),
        "bench" => return bench::start(&Project::find()?, flags),
        "mutants" => return mutants::run(&Project::find()?, flags),
        "prose" => {
            let prefix = flags.first().map_or("", String::as_str);
            return tidy::prose::list(&Project::find()?, prefix);
        }
        "replay" => return weeks::replay(&Project::find()?, flags),
        _ => {}
    }
    let known: &[&str] = match verb {
        "ci" => &["--install"],
        "codegen" => &["--check"],
        "tidy" | "spec" => &[],
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            return Ok(());
        }
        _ => bail!("no verb is called '{verb}'\n{USAGE}"),
    };
    if let Some(flag) = flags.iter().find(|flag| !known.contains(&flag.as_str())) {
        bail!("'{verb}' has no flag '{flag}'\n{USAGE}");
    }
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    let project = Project::find()?;
    match verb {
        "ci" => ci::run(&project.without_incremental(), has("--install")),
        "tidy" => tidy::run(&project),
        "spec" => spec::run(&project),
        _ => codegen::run(&project, has("--check")),
    }
}
