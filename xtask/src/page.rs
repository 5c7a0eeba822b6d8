//! The page in a real browser: every `xtask/page/*.test.mjs` against the real binary, in Debian's Chromium.
//!
//! Node, playwright-core and axe-core are pinned in `xtask/clients.toml` and installed under `target/clients`.
//! Screenshots are written to `target/page`. Without a browser the tests are SKIPPED with the reason.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::clients::install::{self, Node};
use crate::process;
use crate::project::{Project, split_binary};
use crate::report::{Step, StepLog, StepOutcome, finish};

/// One file of tests; a loaded machine takes minutes for what takes seconds.
const FILE_DEADLINE: Duration = Duration::from_secs(1200);

/// Lines of a failed file that are shown.
const FAILED_LINES: usize = 60;

/// Names of the browser: Debian's, then those of other systems.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

pub(crate) fn run(project: &Project, arguments: &[String]) -> Result<()> {
    let (given, names) = split_binary(arguments)?;
    if let Some(flag) = names.iter().find(|name| name.starts_with('-')) {
        bail!("'page' has no flag '{flag}'; it has --binary FILE and names of tests");
    }
    let binary = project.release_binary(given.as_deref())?;
    finish("page", &steps_with(project, &binary, &names)?)
}

/// The steps of `ci`, with a fresh release build.
pub(crate) fn steps(project: &Project) -> Result<Vec<Step>> {
    steps_with(project, &project.build_binary(true)?, &[])
}

/// Runs the files of tests with these names, or all; a failed file does not keep the others from running.
fn steps_with(project: &Project, binary: &Path, names: &[String]) -> Result<Vec<Step>> {
    let mut log = StepLog::new("page");
    let target = project.target_dir()?;
    let folder = target.join("clients").join("page");
    let pins = install::Pins::read(project)?;
    let mut node = Err("not tried".to_owned());
    log.step("install: browser tests", || {
        node = install::page(&pins, &target.join("clients"));
        StepOutcome::installed(&node)
    });
    let Ok(node) = node else { return Ok(log.steps) };
    let Some(browser) = browser() else {
        log.step("browser", || {
            let advice = "no Chromium; get it with `apt-get install chromium`, or name it in REKINDLE_CHROMIUM";
            Ok(StepOutcome::Skipped(advice.to_owned()))
        });
        return Ok(log.steps);
    };
    let out = target.join("page");
    fs::create_dir_all(&out)?;
    let files = files(&project.root.join("xtask/page"), names)?;
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let places = PageFiles { binary, folder: &folder, browser: &browser, out: &out };
        // A browser on a busy machine may miss a deadline once; the other tests are retried too.
        log.step(&name, || test(&node, &file, &places).or_else(|_| test(&node, &file, &places)));
    }
    Ok(log.steps)
}

/// The places that `xtask/page/kit.mjs` reads from its environment.
struct PageFiles<'a> {
    binary: &'a Path,
    folder: &'a Path,
    browser: &'a OsString,
    out: &'a Path,
}

fn test(node: &Node, file: &Path, places: &PageFiles<'_>) -> Result<StepOutcome> {
    let mut command = Command::new(&node.program);
    command.args(["--test", "--test-concurrency=1", "--test-reporter=tap"]).arg(file);
    command.env("REKINDLE_BIN", places.binary).env("REKINDLE_NODE", places.folder);
    command.env("REKINDLE_CHROMIUM", places.browser).env("REKINDLE_PAGE_OUT", places.out);
    command.env("PATH", node.path()).env_remove("REKINDLE_WEB_DIR");
    let finished = process::run(&mut command, FILE_DEADLINE)?;
    let count = |word: &str| -> Option<u64> {
        let line =
            finished.stdout.lines().find_map(|line| line.strip_prefix(&format!("# {word} ")));
        line.and_then(|number| number.trim().parse().ok())
    };
    if !finished.status.success() {
        bail!("{}\n{}", finished.status, failures(&finished.said()));
    }
    match count("pass") {
        Some(passed) if passed > 0 => Ok(StepOutcome::Ok(format!("{passed} passed"))),
        _ => bail!("no test ran\n{}", failures(&finished.said())),
    }
}

/// The lines about the first failed tests.
fn failures(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    let first = lines.iter().position(|line| line.trim_start().starts_with("not ok"));
    let from = first.unwrap_or(lines.len().saturating_sub(FAILED_LINES));
    lines.iter().skip(from).take(FAILED_LINES).copied().collect::<Vec<_>>().join("\n")
}

/// The files of tests in order of their names.
fn files(folder: &Path, names: &[String]) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))?;
    let all: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let name = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(".test.mjs")?;
        Some(name.to_owned())
    };
    let wanted =
        |path: &PathBuf| name(path).is_some_and(|name| names.is_empty() || names.contains(&name));
    let is_known = |given: &String| all.iter().any(|path| name(path).as_ref() == Some(given));
    if let Some(unknown) = names.iter().find(|given| !is_known(given)) {
        bail!("no {}/{unknown}.test.mjs", folder.display());
    }
    let mut files: Vec<PathBuf> = all.iter().filter(|path| wanted(path)).cloned().collect();
    files.sort();
    Ok(files)
}

fn browser() -> Option<OsString> {
    if let Some(named) = std::env::var_os("REKINDLE_CHROMIUM") {
        return Some(named);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = BROWSERS
        .iter()
        .find_map(|name| dirs.iter().map(|dir| dir.join(name)).find(|file| file.is_file()));
    found.map(PathBuf::into_os_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_shown() {
        let said = "TAP version 13\nok 1 - a\n    not ok 1 - b\n      error: no\nnot ok 2 - c\n";
        assert!(failures(said).starts_with("    not ok 1 - b\n      error: no"));
        assert_eq!(failures("a\nb"), "a\nb");
    }

    #[test]
    fn tests_are_found_by_name_and_unknown_names_are_refused() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let all = files(&folder, &[]).expect("a folder");
        assert!(
            all.len() > 3 && all.iter().all(|file| file.to_string_lossy().ends_with(".test.mjs"))
        );
        let shell = files(&folder, &["shell".to_owned()]).expect("a test");
        assert_eq!(shell.len(), 1);
        assert!(files(&folder, &["kit".to_owned()]).is_err());
    }
}
