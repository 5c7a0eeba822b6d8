//! `rekindle eval`: measures how well search finds, over documents and questions that somebody brings.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::eval::{Config, Floor, Format, Input, Plan, Progress, Report, Watch};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use model::OpError;
use server::platform::EndSignals;

use crate::world::World;

/// What a shell says of a command that was ended by Ctrl-C.
const EXIT_INTERRUPTED: u8 = 130;
/// Characters of the bar.
const BAR: u64 = 24;

const LONG: &str = "\
Measure how well search finds: recall, rank and latency over documents and questions of yours.

DOCS and QUESTIONS are files of one JSON object a line. A document has `id` and `text`, and may have \
`scope`, `session`, `pos`, `role` and `time`; a question has `id`, `text` and `gold` (the ids of the \
documents that answer it), and may have `scope`, `type` and `gold_sessions`. A document becomes a record \
as capture would have kept it: a prompt if its role is `user`, else a mark, in its session, in the order \
of `pos`. A question is asked over the documents of its scope, each scope in an index of its own; \
--pooled asks all questions over all documents.

R@K is the share of gold among the first K hits, any@K whether one is there, MRR one through the rank of \
the first, nDCG@10 weighs all ranks. Means are over the questions that have gold; one with an empty \
list counts for latency, and for sessions if it has `gold_sessions`. Three ways to search are \
compared: `plain` is any word of whole documents by the full-text index of SQLite alone, `lexical` the recipe \
of Rekindle, `table` the recipe with the meaning of words. Differences are to the first of them, with a 95 % interval.

Everything is kept in a folder under the temporary directory, which is gone afterwards. Your memory and \
the daemon are not touched.";

const EXAMPLES: &str = r#"Example:
  $ cat docs.jsonl
  {"id":"d1","session":"s1","pos":1,"role":"user","text":"Which database do we take?"}
  {"id":"d2","session":"s1","pos":2,"text":"SQLite: one file, nothing to run."}
  $ cat questions.jsonl
  {"id":"q1","type":"decision","text":"why sqlite","gold":["d2"],"gold_sessions":["s1"]}
  $ rekindle eval docs.jsonl questions.jsonl
  $ rekindle eval docs.jsonl questions.jsonl --config table --at-least all.documents.R@5=0.8
  $ rekindle eval locomo10.json --format locomo --json"#;

pub(super) fn command() -> Command {
    let configs = PossibleValuesParser::new(Config::ALL.map(Config::word));
    let formats = PossibleValuesParser::new(Format::ALL.map(Format::word));
    Command::new("eval")
        .about("Measure how well search finds, over documents and questions of yours")
        .long_about(LONG)
        .after_help(EXAMPLES)
        .arg(
            Arg::new("docs")
                .value_name("DOCS")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("File of documents; with --format the published file"),
        )
        .arg(
            Arg::new("questions")
                .value_name("QUESTIONS")
                .required_unless_present("format")
                .conflicts_with("format")
                .value_parser(value_parser!(PathBuf))
                .help("File of questions"),
        )
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .value_parser(formats)
                .help("Read a published file as it is"),
        )
        .arg(
            Arg::new("pooled")
                .long("pooled")
                .action(ArgAction::SetTrue)
                .help("Ask every question over the documents of all scopes"),
        )
        .arg(
            Arg::new("config")
                .long("config")
                .value_name("NAMES")
                .value_delimiter(',')
                .value_parser(configs)
                .help("Ways to search, with commas between them; all if left out"),
        )
        .arg(
            Arg::new("at_least")
                .long("at-least")
                .value_name("FLOOR")
                .action(ArgAction::Append)
                .help("Exit with 1 if a number is smaller: [CONFIG:]GROUP.UNIT.METRIC=NUMBER, such as all.documents.R@5=0.8"),
        )
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let asked = floors(matches).and_then(|floors| Ok((floors, configs(matches)?)));
    let (floors, configs) = match asked {
        Ok(asked) => asked,
        Err(error) => return world.out.usage(&error),
    };
    let plan = Plan {
        input: input(matches),
        pooled: matches.get_flag("pooled"),
        configs,
        clock: client::clock::now_ms,
    };
    let stop = Arc::new(AtomicBool::new(false));
    match stop_by_signal(&stop).and_then(|()| measure(&plan, &stop)) {
        Ok(report) => show(world, &report, &floors),
        Err(error) if stop.load(Ordering::Relaxed) => {
            world.out.error(&error);
            EXIT_INTERRUPTED
        }
        Err(error) => world.out.error(&error),
    }
}

fn input(matches: &ArgMatches) -> Input {
    let path = |name: &str| matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
    let format = matches.get_one::<String>("format").and_then(|word| Format::parse(word));
    match format {
        Some(format) => Input::Published { file: path("docs"), format },
        None => Input::Lines { documents: path("docs"), questions: path("questions") },
    }
}

fn configs(matches: &ArgMatches) -> Result<Vec<Config>, OpError> {
    let Some(words) = matches.get_many::<String>("config") else {
        return Ok(Config::ALL.to_vec());
    };
    let mut configs: Vec<Config> = Vec::new();
    for config in words.filter_map(|word| Config::parse(word)) {
        if configs.contains(&config) {
            let message = format!("--config names {} twice", config.word());
            return Err(OpError::invalid("config", message).hint("Name each once."));
        }
        configs.push(config);
    }
    Ok(configs)
}

fn floors(matches: &ArgMatches) -> Result<Vec<Floor>, OpError> {
    matches
        .get_many::<String>("at_least")
        .into_iter()
        .flatten()
        .map(|one| Floor::parse(one))
        .collect()
}

/// From now on a signal that would end the process asks the run to end instead, so that it cleans up
/// behind itself.
fn stop_by_signal(stop: &Arc<AtomicBool>) -> Result<(), OpError> {
    let failed = |error: std::io::Error| OpError::internal(format!("no signal handlers: {error}"));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let mut signals = {
        let _inside = runtime.enter();
        EndSignals::listen().map_err(failed)?
    };
    let stop = Arc::clone(stop);
    let wait = move || {
        runtime.block_on(signals.received());
        stop.store(true, Ordering::Relaxed);
    };
    // It waits for as long as the process lives.
    std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop).map_err(failed)
}

fn measure(plan: &Plan, stop: &AtomicBool) -> Result<Report, OpError> {
    let mut bar = Bar::new();
    let measured = ::eval::run(plan, &mut Watch { tell: &mut |progress| bar.draw(progress), stop });
    bar.clear();
    measured
}

fn show(world: &mut World, report: &Report, floors: &[Floor]) -> u8 {
    let exit = world.out.result(&report.to_json(), Some(&|_| report.table()));
    let short = report.short_of(floors);
    for line in &short {
        world.out.note(&format!("too low: {line}"));
    }
    if short.is_empty() { exit } else { 1 }
}

/// One line on stderr about how far it is, drawn over and over; nothing if nobody looks.
struct Bar {
    looked_at: bool,
    shown: String,
}

impl Bar {
    fn new() -> Bar {
        Bar { looked_at: std::io::stderr().is_terminal(), shown: String::new() }
    }

    fn draw(&mut self, Progress { doing, done, of }: Progress) {
        if !self.looked_at {
            return;
        }
        let line = match done.min(of).saturating_mul(100).checked_div(of) {
            None => format!("{doing} {done}"),
            Some(percent) => {
                let full = usize::try_from(percent * BAR / 100).unwrap_or_default();
                let empty = usize::try_from(BAR).unwrap_or_default().saturating_sub(full);
                format!("[{}{}] {percent:>3} % {doing}", "#".repeat(full), ".".repeat(empty))
            }
        };
        if line != self.shown {
            self.put(&line);
        }
    }

    fn clear(&mut self) {
        if !self.shown.is_empty() {
            self.put("");
            self.write("\r");
        }
    }

    /// Writes over the line that is there.
    fn put(&mut self, line: &str) {
        let rest = self.shown.len().saturating_sub(line.len());
        self.write(&format!("\r{line}{}", " ".repeat(rest)));
        line.clone_into(&mut self.shown);
    }

    fn write(&self, text: &str) {
        // Whoever looked may have left.
        let mut stderr = std::io::stderr();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }
}
