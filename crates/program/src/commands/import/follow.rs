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
    /// The state in which each transcript was read, so that it is read again only if that changes.
    read: HashMap<[u8; 16], ReadState>,
    /// The import that all records are added to.
    batch: Option<i64>,
}

/// The state of a transcript at a scan. It is read again if the state differs. An unchanged file is read twice more:
/// when it is quiet, for a last line without a line break, and when its session is over, for its last answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ReadState {
    size: u64,
    modified: i64,
    is_quiet: bool,
    is_over: bool,
}

impl ReadState {
    fn of(file: &Transcript, now: i64) -> ReadState {
        let unchanged_for = now.saturating_sub(file.modified);
        ReadState {
            size: file.size(),
            modified: file.modified,
            is_quiet: unchanged_for > limits::TRANSCRIPT_QUIET_MS,
            is_over: unchanged_for > limits::TRANSCRIPT_OVER_MS,
        }
    }
}

impl Following {
    /// Leaves only the transcripts that have to be read again since the last scan.
    fn changed(
        &self,
        files: Vec<(&'static Source, Transcript)>,
        now: i64,
    ) -> Vec<(&'static Source, Transcript)> {
        let is_new = |file: &Transcript| {
            self.read.get(&path_hash(file).0) != Some(&ReadState::of(file, now))
        };
        files.into_iter().filter(|(_, file)| is_new(file)).collect()
    }

    /// Imports the new events of these transcripts.
    fn scan(&mut self, road: &dyn Road, mut plan: ImportPlan) -> Result<ImportTotals, OpError> {
        let now = client::clock::now_ms();
        plan.files = self.changed(plan.files, now);
        plan.batch = self.batch;
        let done = Importer::new(road, &plan, ProgressBar::hidden()).run();
        match &done {
            Ok(totals) => {
                self.batch = totals.batch;
                for (_, file) in &plan.files {
                    let state = ReadState::of(file, now);
                    // A file with excluded events is read again: the settings may change.
                    if state.is_over || totals.counts.excluded == 0 && totals.unreadable.is_empty()
                    {
                        self.read.insert(path_hash(file).0, state);
                    }
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// @import_follow
    #[test]
    fn an_unchanged_transcript_is_read_again_only_when_it_is_quiet_and_when_it_is_over() {
        let folder = std::env::temp_dir().join(format!("rekindle-follow-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("s.jsonl");
        fs::write(&path, "{\"sessionId\":\"s\",\"type\":\"user\"}\n").unwrap();
        let (source, files) = ::import::recognise(&path).unwrap().unwrap();
        let modified = files[0].modified;
        let mut following = Following::default();
        let mut reads = |after: i64| {
            let now = modified + after;
            let files = files.iter().map(|file| (source, file.clone())).collect();
            let changed = following.changed(files, now);
            for (_, file) in &changed {
                following.read.insert(path_hash(file).0, ReadState::of(file, now));
            }
            changed.len()
        };
        let (quiet, over) = (limits::TRANSCRIPT_QUIET_MS, limits::TRANSCRIPT_OVER_MS);
        let times = [1_000, 60_000, quiet + 1, quiet + 60_000, over + 1, over + 60_000];
        assert_eq!(times.map(&mut reads), [1, 0, 1, 0, 1, 0]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
