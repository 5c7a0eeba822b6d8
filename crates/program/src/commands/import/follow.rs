//! Imports what agents add to their transcripts: `import --follow` until Ctrl-C, and the daemon for the agents in
//! `import.follow`.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use ::import::{Source, Transcript, path_hash};
use clap::ArgMatches;
use indicatif::ProgressBar;
use model::{Code, OpError, Road, limits};
use runtime::Runtime;
use serde_json::json;
use text::counted;

use super::importer::Importer;
use super::plan::{ImportPlan, of_agent, roots_in};
use super::{ImportTotals, confirmed, report};
use crate::calls;
use crate::road::CommandRoad;
use crate::world::World;

/// The setting with the agents that the daemon follows.
const FOLLOWED: &str = "import.follow";

/// The state of an import that is continued.
#[derive(Default)]
struct Following {
    /// The size and time of each transcript that is complete, so that the store is asked only about others.
    complete: HashMap<[u8; 16], (u64, i64)>,
    /// The import that all records are added to.
    batch: Option<i64>,
}

impl Following {
    /// Leaves out the transcripts that are complete and did not change since.
    fn changed(
        &self,
        files: Vec<(&'static Source, Transcript)>,
    ) -> Vec<(&'static Source, Transcript)> {
        let is_new = |file: &Transcript| {
            self.complete.get(&path_hash(file).0) != Some(&(file.bytes, file.modified))
        };
        files.into_iter().filter(|(_, file)| is_new(file)).collect()
    }

    /// Imports the new events of these transcripts.
    fn scan(&mut self, road: &dyn Road, mut plan: ImportPlan) -> Result<ImportTotals, OpError> {
        plan.files = self.changed(plan.files);
        plan.batch = self.batch;
        let now = client::clock::now_ms();
        let done = Importer::new(road, &plan, ProgressBar::hidden()).run();
        match &done {
            Ok(totals) => {
                self.batch = totals.batch;
                // A session that may continue is looked at again, for its last answer.
                let over = |file: &Transcript| {
                    now.saturating_sub(file.modified) > limits::TRANSCRIPT_OVER_MS
                };
                for (_, file) in plan.files.iter().filter(|(_, file)| over(file)) {
                    self.complete.insert(path_hash(file).0, (file.bytes, file.modified));
                }
            }
            // The user undid this import.
            Err(error) if error.code == Code::NotFound => self.batch = None,
            Err(_) => {}
        }
        done
    }
}

/// `rekindle import --follow`.
pub(super) fn follow(world: &mut World, matches: &ArgMatches) -> Result<u8, OpError> {
    let every = matches.get_one::<u64>("every").copied().unwrap_or(limits::IMPORT_FOLLOW_SECONDS);
    let plan = ImportPlan::read(world, matches)?;
    if !plan.records.is_empty() {
        return Err(OpError::invalid("source", "only the transcripts of agents can be followed"));
    }
    for message in &plan.unread.absent {
        world.out.note(message);
    }
    for (path, why) in plan.unread.all() {
        world.out.note(&report::unread_line(path, why));
    }
    if plan.files.is_empty() && plan.unread.all().next().is_some() {
        return Ok(1);
    }
    let asks = matches.get_many::<String>("source").is_none() && !matches.get_flag("yes");
    if asks && !plan.files.is_empty() && !confirmed(world, &plan)? {
        return Ok(0);
    }
    world.out.note(&format!(
        "following {}; Ctrl-C ends it",
        counted(plan.files.len() as u64, "transcript")
    ));
    let mut following = Following::default();
    let mut told = HashSet::new();
    let mut next = Ok(plan);
    loop {
        let done = next.and_then(|plan| following.scan(&CommandRoad::new(world, false), plan));
        let problems = done.as_ref().map(report::problem_lines).unwrap_or_default();
        // A file that grows is read again, with the same bad line in it.
        for line in problems.into_iter().filter(|line| told.insert(line.clone())) {
            world.out.note(&line);
        }
        match done {
            Ok(totals) if totals.counts.added() > 0 => {
                let added = counted(totals.counts.added(), "record");
                let sessions = counted(totals.sessions.len() as u64, "session");
                let result = json!({ "added": totals.counts.added(), "counts": totals.counts, "batch": totals.batch });
                world.out.result(&result, Some(&|_| format!("added {added} of {sessions}")));
            }
            Ok(_) => {}
            // The daemon may be back at the next scan.
            Err(error) => world.out.note(&format!("not imported: {}", error.message)),
        }
        thread::sleep(Duration::from_secs(every));
        next = ImportPlan::read(world, matches);
    }
}

/// Starts the thread of a daemon that follows the agents in the settings.
pub(in crate::commands) fn start(runtime: &Runtime) {
    let names = place::listed(runtime.config().text(FOLLOWED));
    let sources: Vec<&'static Source> =
        names.iter().filter_map(|name| ::import::named(name)).collect();
    if sources.is_empty() {
        return;
    }
    let runtime = runtime.clone();
    let started = thread::Builder::new().name("import".to_owned()).spawn({
        let runtime = runtime.clone();
        move || follow_all(&runtime, &sources)
    });
    if let Err(error) = started {
        runtime.log().error("import", format_args!("no thread to follow transcripts: {error}"));
    }
}

/// Scans now, for what hooks missed while no daemon ran, and then every minute.
fn follow_all(runtime: &Runtime, sources: &[&'static Source]) {
    let mut following = Following::default();
    loop {
        let roots = roots(runtime);
        let of_agent = |source| of_agent(source, &roots, &mut Vec::new());
        let files = sources.iter().copied().flat_map(of_agent).collect();
        let plan = ImportPlan { files, ..ImportPlan::default() };
        match following.scan(runtime, plan) {
            Ok(totals) if totals.counts.added() > 0 => {
                let added = totals.counts.added();
                runtime.log().info("import", format_args!("{added} records of transcripts added"));
            }
            Ok(_) => {}
            Err(error) => {
                runtime
                    .log()
                    .warn("import", format_args!("not imported: {}", error.code.row().reason));
            }
        }
        thread::sleep(Duration::from_secs(limits::IMPORT_FOLLOW_SECONDS));
    }
}

fn roots(runtime: &Runtime) -> Vec<PathBuf> {
    roots_in(&runtime.call(calls::request("list_projects", json!({}))).unwrap_or_default())
}
