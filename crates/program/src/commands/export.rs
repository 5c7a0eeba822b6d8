//! `rekindle export`: all records to a file, as lines that `rekindle import` reads, as pages, or as traces.

mod markdown;
mod otlp;
mod target;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use model::portable::{ExportPosition, PORTABLE_VERSION, PortableObservation, PortableRecord};
use model::{OpError, Road as _};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::calls;
use crate::road::CommandRoad;
use crate::world::World;
use markdown::MarkdownPages;
use otlp::Traces;
use target::ExportTarget;

const LONG: &str = "\
Write sessions, prompts, answers, actions and memories to a file. `jsonl` has one record per line, and \
`rekindle import FILE` reads it into any store without loss. `markdown` is a folder with a page per session. `otlp` has the \
sessions as OpenTelemetry traces, one JSON document per line.

Secrets are checked again on the way out. The file is readable by you only, and an existing one is never overwritten. \
Without FILE the export is printed. Hints have a command of their own: `rekindle hint export`.";

const EXAMPLES: &str = "\
Examples:
  $ rekindle export records.jsonl
  $ rekindle export --project shop --since 30d --format markdown pages
  $ rekindle export --format otlp traces.json";

pub(super) fn command() -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("export")
        .about("Write records to a file")
        .long_about(LONG)
        .after_help(EXAMPLES)
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("File to write, or folder for markdown; printed if omitted"),
        )
        .arg(text("project", "PROJECT", "Only records of this project"))
        .arg(text("since", "TIME", "Only what happened since: a date, `last week`, `30d`"))
        .arg(
            text("format", "FORMAT", "The format")
                .value_parser(PossibleValuesParser::new(["jsonl", "markdown", "otlp"]))
                .default_value("jsonl"),
        )
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    match export(world, matches) {
        Ok(exit) => exit,
        Err(error) => world.out.error(&error),
    }
}

/// Writes records in one of the formats.
trait RecordWriter {
    fn record(&mut self, record: &PortableRecord) -> io::Result<()>;

    /// Whether the format has a form for this record.
    fn has(&self, _record: &PortableRecord) -> bool {
        true
    }

    /// Writes the rest, after the last record.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One record per line.
struct Lines<'o>(&'o mut dyn Write);

impl RecordWriter for Lines<'_> {
    fn record(&mut self, record: &PortableRecord) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, record)?;
        self.0.write_all(b"\n")
    }
}

/// The numbers of an export.
#[derive(Default)]
struct ExportCounts {
    projects: u64,
    sessions: u64,
    prompts: u64,
    observations: u64,
    memories: u64,
    redacted: u64,
}

impl ExportCounts {
    fn add(&mut self, record: &PortableRecord) {
        let count = match record {
            PortableRecord::Rekindle { .. } => return,
            PortableRecord::Project(_) => &mut self.projects,
            PortableRecord::Session(_) => &mut self.sessions,
            PortableRecord::Prompt(_) => &mut self.prompts,
            PortableRecord::Observation(_) => &mut self.observations,
            PortableRecord::Memory(_) => &mut self.memories,
        };
        *count += 1;
    }
}

fn export(world: &mut World, matches: &ArgMatches) -> Result<u8, OpError> {
    let format = matches.get_one::<String>("format").map_or("jsonl", String::as_str);
    let file = matches.get_one::<PathBuf>("file").cloned();
    let mut params = json!({});
    for name in ["project", "since"] {
        if let Some(value) = matches.get_one::<String>(name) {
            params[name] = json!(value);
        }
    }
    // The first page is read before the file is created, so that a wrong project leaves nothing behind.
    let pages = Pages::begin(world, params)?;
    let mut target = match (&file, format) {
        (None, _) => ExportTarget::printed(),
        (Some(file), "markdown") => ExportTarget::folder(file)?,
        (Some(file), _) => ExportTarget::file(file)?,
    };
    let counts = match write_all(&mut target, format, pages) {
        Err(WriteError::Io(error)) if target.is_closed_pipe(&error) => return Ok(0),
        written => written.map_err(|error| error.of(&target))?,
    };
    target.keep().map_err(|error| WriteError::Io(error).of(&target))?;
    Ok(report(world, file, format, &counts))
}

/// The stored output of a failed action.
fn error_of(one: &PortableObservation) -> Option<&str> {
    one.metadata.as_ref()?.get("error")?.as_str()
}

/// Why an export stopped.
enum WriteError {
    Io(io::Error),
    Call(OpError),
}

impl WriteError {
    fn of(self, target: &ExportTarget) -> OpError {
        match self {
            WriteError::Io(error) => target.unwritable(&error),
            WriteError::Call(error) => error,
        }
    }
}

fn write_all(
    target: &mut ExportTarget,
    format: &str,
    mut pages: Pages<'_>,
) -> Result<ExportCounts, WriteError> {
    let mut counts = ExportCounts::default();
    let mut writer: Box<dyn RecordWriter + '_> = match format {
        "markdown" => Box::new(MarkdownPages::new(target)),
        "otlp" => Box::new(Traces::new(target)),
        _ => Box::new(Lines(target)),
    };
    if format == "jsonl" {
        let head = PortableRecord::Rekindle { version: PORTABLE_VERSION };
        writer.record(&head).map_err(WriteError::Io)?;
    }
    loop {
        for record in pages.records.drain(..) {
            if writer.has(&record) {
                counts.add(&record);
            }
            writer.record(&record).map_err(WriteError::Io)?;
        }
        if !pages.turn().map_err(WriteError::Call)? {
            break;
        }
    }
    writer.finish().map_err(WriteError::Io)?;
    drop(writer);
    counts.redacted = pages.redacted;
    target.flush().map_err(WriteError::Io)?;
    Ok(counts)
}

/// The pages of an export, one in memory at a time.
struct Pages<'w> {
    road: CommandRoad<'w>,
    params: Value,
    records: Vec<PortableRecord>,
    next: Option<ExportPosition>,
    redacted: u64,
}

impl<'w> Pages<'w> {
    fn begin(world: &'w mut World, params: Value) -> Result<Pages<'w>, OpError> {
        let road = CommandRoad::new(world, false);
        let mut pages = Pages { road, params, records: Vec::new(), next: None, redacted: 0 };
        pages.read()?;
        Ok(pages)
    }

    /// Reads the next page. Returns whether there is one.
    fn turn(&mut self) -> Result<bool, OpError> {
        let Some(next) = self.next.take() else { return Ok(false) };
        self.params["after"] = json!(next);
        self.read()?;
        Ok(true)
    }

    fn read(&mut self) -> Result<(), OpError> {
        #[derive(Deserialize)]
        struct Page {
            records: Vec<PortableRecord>,
            #[serde(default)]
            next: Option<ExportPosition>,
            redacted: u64,
        }
        let reply = self.road.call(calls::request("export_records", self.params.clone()))?;
        let page =
            Page::deserialize(&reply).map_err(|error| OpError::internal(error.to_string()))?;
        self.records = page.records;
        self.next = page.next;
        self.redacted += page.redacted;
        Ok(())
    }
}

/// Says what was written. A printed export has no report but a note about secrets.
fn report(world: &mut World, file: Option<PathBuf>, format: &str, counts: &ExportCounts) -> u8 {
    if counts.redacted > 0 {
        let texts = text::counted(counts.redacted, "text");
        world.out.note(&format!(
            "{texts} had a stored secret, which was redacted in the export only. `rekindle scrub` removes it from the store."
        ));
    }
    let Some(file) = file else { return 0 };
    let ExportCounts { projects, sessions, prompts, observations, memories, redacted } = counts;
    let result = json!({
        "file": file.display().to_string(),
        "format": format,
        "projects": projects,
        "sessions": sessions,
        "prompts": prompts,
        "observations": observations,
        "memories": memories,
        "redacted": redacted,
    });
    let text = format!(
        "wrote {}: {}, {}, {}, {}",
        file.display(),
        text::counted(sessions, "session"),
        text::counted(prompts, "prompt"),
        text::counted(observations, "observation"),
        text::counted(memories, "memory")
    );
    world.out.result(&result, Some(&move |_: &Value| text.clone()))
}
