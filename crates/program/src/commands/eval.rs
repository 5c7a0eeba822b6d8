//! `rekindle eval`: measures the quality of search with the user's documents and questions.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::eval::{
    EvalInput, EvalPlan, EvalReport, Floor, PublishedFormat, RunProgress, RunWatch, SearchConfig,
};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use model::OpError;
use server::platform::EndSignals;

use crate::world::World;

/// The shell's exit code of a command that was interrupted by Ctrl-C.
const EXIT_INTERRUPTED: u8 = 130;
/// Width of the progress bar in characters.
const BAR: u64 = 24;

const LONG: &str = "\
Measure the quality of search: recall, rank and latency with your own documents and questions.

DOCS and QUESTIONS are JSON Lines files. A document has `id` and `text`, and may have \
`scope`, `session`, `pos`, `role` and `time`; a question has `id`, `text` and `gold` (the ids of the \
documents that answer it), and may have `scope`, `type` and `gold_sessions`. A document becomes a record \
as capture would store it: a prompt if its role is `user`, else a mark, in its session, in the order \
of `pos`. A question is asked over the documents of its scope, each scope in an index of its own; \
--pooled asks all questions over all documents.

R@K (recall) is the share of a question's gold documents that are among the first K hits, any@K is 1 if at least one \
of them is, MRR the mean reciprocal rank of the first one, nDCG@10 counts the ranks of all of them among the first ten \
hits. Means are over the questions that have gold; one with an empty \
list counts for latency, and for sessions if it has `gold_sessions`. Three configurations are \
compared: `plain` is SQLite's full-text index over whole documents, any word; `lexical` is Rekindle's lexical \
ranking; `table` adds embeddings. Differences are relative to the first configuration, with a 95 % confidence interval.

All files are in a directory under the temporary directory, which is deleted afterwards. Your records and \
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
    let configs = PossibleValuesParser::new(SearchConfig::ALL.map(SearchConfig::word));
    let formats = PossibleValuesParser::new(PublishedFormat::ALL.map(PublishedFormat::word));
    Command::new("eval")
        .about("Measure the quality of search with your own documents and questions")
        .long_about(LONG)
        .after_help(EXAMPLES)
        .arg(
            Arg::new("docs")
                .value_name("DOCS")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("File of documents; with --format the published data set"),
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
                .help("Format of a published data set; its file has both documents and questions"),
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
                .help("Search configurations, separated by commas; all if omitted"),
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
    let plan = EvalPlan {
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

fn input(matches: &ArgMatches) -> EvalInput {
    let path = |name: &str| matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
    let format = matches.get_one::<String>("format").and_then(|word| PublishedFormat::parse(word));
    match format {
        Some(format) => EvalInput::Published { file: path("docs"), format },
        None => EvalInput::Lines { documents: path("docs"), questions: path("questions") },
    }
}

fn configs(matches: &ArgMatches) -> Result<Vec<SearchConfig>, OpError> {
    let Some(words) = matches.get_many::<String>("config") else {
        return Ok(SearchConfig::ALL.to_vec());
    };
    let mut configs: Vec<SearchConfig> = Vec::new();
    for config in words.filter_map(|word| SearchConfig::parse(word)) {
        if configs.contains(&config) {
            let message = format!("--config names {} twice", config.word());
            return Err(OpError::invalid("config", message).hint("Name each configuration once."));
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

/// Makes signals that would end the process stop the run instead, so that it can clean up.
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
    // The thread waits for as long as the process lives.
    std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop).map_err(failed)
}

fn measure(plan: &EvalPlan, stop: &AtomicBool) -> Result<EvalReport, OpError> {
    let mut bar = Bar::new();
    let measured =
        ::eval::run(plan, &mut RunWatch { tell: &mut |progress| bar.draw(progress), stop });
    bar.clear();
    measured
}

fn show(world: &mut World, report: &EvalReport, floors: &[Floor]) -> u8 {
    let exit = world.out.result(&report.to_json(), Some(&|_| report.table()));
    let short = report.short_of(floors);
    for line in &short {
        world.out.note(&format!("too low: {line}"));
    }
    if short.is_empty() { exit } else { 1 }
}

/// The progress bar, one line on stderr; not shown without a terminal.
struct Bar {
    looked_at: bool,
    shown: String,
}

impl Bar {
    fn new() -> Bar {
        Bar { looked_at: std::io::stderr().is_terminal(), shown: String::new() }
    }

    fn draw(&mut self, RunProgress { doing, done, of }: RunProgress) {
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

    /// Overwrites the line.
    fn put(&mut self, line: &str) {
        let rest = self.shown.len().saturating_sub(line.len());
        self.write(&format!("\r{line}{}", " ".repeat(rest)));
        line.clone_into(&mut self.shown);
    }

    fn write(&self, text: &str) {
        // A closed stderr is not an error.
        let mut stderr = std::io::stderr();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }
}
