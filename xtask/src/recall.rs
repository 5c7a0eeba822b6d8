//! `cargo xtask recall`: memories and experiences are stored, then prompts go through the real hook. Half of the prompts
//! are about one of the items, which has to be shown; the others are about none, and the hook has to be silent. Then prompts
//! that steer the work ("try the next one") are sent in a project with many experiences, where silence is harder.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::daemon::Daemon;
use crate::home::Home;
use crate::process;
use crate::project::Project;
use crate::report::StepOutcome;

/// The least shares that `ci` wants, found and silent: a little less than the hook reaches.
const TUNED_MIN: [f64; 2] = [0.95, 0.95];
/// Those of the prompts that were held out: 15 each, so that one is a share of 0.07.
const HELD_OUT_MIN: [f64; 2] = [0.86, 0.86];

/// The least shares of steering prompts with a silent answer: tuned, and held out.
const STEERING_MIN: [f64; 2] = [0.98, 0.93];

const DEADLINE: Duration = Duration::from_secs(30);
/// The project of all items and prompts, and the one with many experiences, where the prompts only steer the work.
const PROJECT: &str = "shop";
const LARGE_PROJECT: &str = "large-shop";

pub(crate) fn run(project: &Project, flags: &[String]) -> Result<()> {
    let binary = match flags {
        [] => project.build_binary(true)?,
        [flag, file] if flag == "--binary" => PathBuf::from(file),
        _ => bail!("'recall' has one flag: --binary FILE"),
    };
    let figures = measure(project, &binary)?;
    print!("{}", figures.misses());
    println!("{}", figures.short());
    Ok(())
}

pub(crate) fn gate(project: &Project) -> Result<StepOutcome> {
    let figures = measure(project, &project.build_binary(true)?)?;
    let sets = [(&figures.about.tuned, TUNED_MIN), (&figures.about.held_out, HELD_OUT_MIN)];
    let steering = &figures.steering;
    let steers = [&steering.tuned, &steering.held_out].into_iter().zip(STEERING_MIN);
    let is_loud = steers.into_iter().any(|(set, least)| set.silent() < least);
    let is_low = |(set, [found, silent]): &(&PromptSet, [f64; 2])| {
        set.found() < *found || set.silent() < *silent
    };
    if is_loud || sets.iter().any(is_low) {
        bail!(
            "at least {TUNED_MIN:?} and, of those held out, {HELD_OUT_MIN:?} are wanted, and {STEERING_MIN:?} of those that \
             steer: {}\n{}",
            figures.short(),
            figures.misses()
        );
    }
    Ok(StepOutcome::Ok(figures.short()))
}

/// How the hook answered the prompts about items and about other subjects, and those that only steer the work.
#[derive(Default)]
struct RecallFigures {
    about: PromptSets,
    steering: PromptSets,
}

/// How the hook answered the prompts that its rules were tuned with, and those that were held out.
#[derive(Default)]
struct PromptSets {
    tuned: PromptSet,
    held_out: PromptSet,
}

impl PromptSets {
    fn of(&mut self, row: &Value) -> &mut PromptSet {
        match row["held_out"].as_bool() {
            Some(true) => &mut self.held_out,
            _ => &mut self.tuned,
        }
    }
}

impl RecallFigures {
    fn misses(&self) -> String {
        let sets = [&self.about, &self.steering];
        sets.iter().flat_map(|sets| [&*sets.tuned.misses, &*sets.held_out.misses]).collect()
    }

    fn short(&self) -> String {
        let steering = &self.steering;
        format!(
            "{}; held out: {}; steering prompts silent at {:.3}, held out {:.3}",
            self.about.tuned.short(),
            self.about.held_out.short(),
            steering.tuned.silent(),
            steering.held_out.silent()
        )
    }
}

/// How the hook answered a set of prompts.
#[derive(Default)]
struct PromptSet {
    /// Prompts about an item, and those that got it.
    about: [usize; 2],
    /// Prompts about nothing, and those that got nothing.
    nothing: [usize; 2],
    /// The prompts that were answered wrongly.
    misses: String,
}

impl PromptSet {
    fn found(&self) -> f64 {
        self.about[1] as f64 / self.about[0].max(1) as f64
    }

    fn silent(&self) -> f64 {
        self.nothing[1] as f64 / self.nothing[0].max(1) as f64
    }

    fn short(&self) -> String {
        format!(
            "found {:.3} of {} prompts, silent at {:.3} of {}",
            self.found(),
            self.about[0],
            self.silent(),
            self.nothing[0]
        )
    }
}

fn measure(project: &Project, binary: &Path) -> Result<RecallFigures> {
    let home = Home::new(binary)?;
    let _daemon = Daemon::start(&home, &[])?;
    let mut figures = RecallFigures::default();
    let cwd = repository(&home, PROJECT)?;
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    for row in &rows(project, "recall")? {
        let id = row["id"].as_str().context("a row without an id")?;
        match row["type"].as_str() {
            Some("memory") => {
                paths.insert(id.to_owned(), memory(&home, row, &cwd)?);
            }
            Some("experience") => {
                paths.insert(id.to_owned(), experience(&home, row, &cwd)?);
            }
            Some("prompt") => {
                let shown = ask(&home, id, row, &cwd)?;
                judge(figures.about.of(row), row, &shown, &paths)?;
            }
            _ => bail!("a row of an unknown type: {row}"),
        }
    }
    let cwd = repository(&home, LARGE_PROJECT)?;
    for row in &rows(project, "ghaps")? {
        experience(&home, row, &cwd)?;
    }
    for row in &rows(project, "steering")? {
        let id = row["id"].as_str().context("a row without an id")?;
        let shown = ask(&home, id, row, &cwd)?;
        judge(figures.steering.of(row), row, &shown, &paths)?;
    }
    Ok(figures)
}

/// The rows of a file of `quality/`.
fn rows(project: &Project, name: &str) -> Result<Vec<Value>> {
    let file = project.root.join(format!("quality/{name}.jsonl"));
    let text =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    text.lines().map(serde_json::from_str).collect::<Result<_, _>>().context("not JSON")
}

/// Makes a repository in the home. Returns its directory.
fn repository(home: &Home, name: &str) -> Result<String> {
    let folder = home.file("home").join(name);
    fs::create_dir_all(folder.join(".git"))?;
    fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    Ok(folder.to_string_lossy().into_owned())
}

fn judge(
    figures: &mut PromptSet,
    row: &Value,
    shown: &[String],
    paths: &BTreeMap<String, String>,
) -> Result<()> {
    let said = row["text"].as_str().unwrap_or_default();
    match row["gold"].as_str() {
        Some(gold) => {
            let path = paths.get(gold).with_context(|| format!("no item {gold}"))?;
            figures.about[0] += 1;
            match shown.contains(path) {
                true => figures.about[1] += 1,
                false => writeln!(figures.misses, "not found: {said} ({gold})")?,
            }
        }
        None => {
            figures.nothing[0] += 1;
            match shown.is_empty() {
                true => figures.nothing[1] += 1,
                false => writeln!(figures.misses, "not silent: {said} {shown:?}")?,
            }
        }
    }
    Ok(())
}

fn call(home: &Home, op: &str, params: &Value) -> Result<Value> {
    let mut command = home.rekindle(&["call", op, &params.to_string(), "--json"]);
    let finished = process::run_ok(&mut command, DEADLINE)?;
    serde_json::from_str(&finished.stdout).context("the answer is not JSON")
}

fn id_in(answer: &Value) -> Result<&str> {
    answer["id"].as_str().with_context(|| format!("no id: {answer}"))
}

fn memory(home: &Home, row: &Value, cwd: &str) -> Result<String> {
    let params = json!({ "content": row["text"], "category": row["category"], "cwd": cwd });
    Ok(format!("memory://{}", id_in(&call(home, "store_memory", &params)?)?))
}

fn experience(home: &Home, row: &Value, cwd: &str) -> Result<String> {
    let mut start = json!({ "session_id": "s-learn", "cwd": cwd });
    for name in ["domain", "strategy", "goal", "hypothesis", "action", "prediction"] {
        start[name] = row[name].clone();
    }
    let started = call(home, "start_ghap", &start)?;
    // A row is written with a lesson alone, or with all members of a lesson and a root cause.
    let lesson = match &row["lesson"] {
        Value::String(lesson) => json!({ "what_worked": lesson }),
        lesson => lesson.clone(),
    };
    let mut resolve = json!({ "session_id": "s-learn", "cwd": cwd, "status": row["status"],
        "result": row["result"], "lesson": lesson });
    if row["surprise"].is_string() {
        resolve["surprise"] = row["surprise"].clone();
        resolve["root_cause"] = match &row["root_cause"] {
            Value::String(category) => {
                json!({ "category": category, "description": row["surprise"] })
            }
            cause => cause.clone(),
        };
    }
    call(home, "resolve_ghap", &resolve)?;
    Ok(format!("ghap://{}", id_in(&started)?))
}

/// Sends a prompt of a new session through the hook. Returns the paths of the learned items that it showed.
fn ask(home: &Home, id: &str, row: &Value, cwd: &str) -> Result<Vec<String>> {
    let session = format!("s-{id}");
    let payload = json!({ "hook_event_name": "UserPromptSubmit", "session_id": session,
        "cwd": cwd, "prompt": row["text"] });
    let file = home.file("prompt.json");
    fs::write(&file, payload.to_string())?;
    let mut command = home.rekindle(&["hook", "UserPromptSubmit"]);
    let hooked = process::run_with(&mut command, Stdio::from(File::open(&file)?), DEADLINE)?;
    let receipts = call(home, "receipts", &json!({ "session_id": session }));
    let receipts = receipts.unwrap_or_default();
    let deliveries = receipts["receipts"].as_array().into_iter().flatten();
    let items = deliveries.flat_map(|one| one["items"].as_array().into_iter().flatten());
    let paths = items.filter_map(|item| item["path"].as_str());
    let learned = ["memory://", "ghap://", "value://"];
    let paths: Vec<String> = paths
        .filter(|path| learned.iter().any(|scheme| path.starts_with(scheme)))
        .map(str::to_owned)
        .collect();
    if hooked.stdout.trim().is_empty() && !paths.is_empty() {
        bail!("the hook has a receipt and said nothing: {payload}");
    }
    Ok(paths)
}
