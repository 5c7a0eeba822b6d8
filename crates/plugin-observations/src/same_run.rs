//! Whether a command that worked is a later run of one that failed. Search and the briefing use this one rule.

use agents::shell::{self, Simple};
use model::observation::{ObsType, Observation};
use model::run::{self, RunKey};

/// Programs that run a script or a module, which their first argument besides options names.
const INTERPRETERS: &[&str] = &[
    "bash", "sh", "zsh", "dash", "python", "python2", "python3", "py", "node", "deno", "bun",
    "ruby", "perl", "php", "lua", "Rscript", "java",
];

/// Identifies a command: equal for a failure and the run that fixed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramKey {
    program: String,
    /// Its sub-command, or the script that an interpreter runs.
    subcommand: String,
    directory: String,
}

impl ProgramKey {
    /// The key of a command; none for commands that are read-only, were interrupted, or consist of shell builtins.
    pub(crate) fn of(seen: &Observation) -> Option<ProgramKey> {
        if seen.metadata.as_ref().is_some_and(|metadata| metadata["is_interrupt"] == true) {
            return None;
        }
        if let Some(RunKey { program, subcommand, directory }) = RunKey::of(seen) {
            let [program, subcommand, directory] =
                [program, subcommand, directory].map(str::to_owned);
            return Some(ProgramKey { program, subcommand, directory });
        }
        if agents::is_read_only(&seen.content) {
            return None;
        }
        let command = acting(&seen.content)?;
        let subcommand = if INTERPRETERS.contains(&&*command.program) {
            script(&command)?
        } else {
            command.words().next().filter(|word| is_subcommand(word)).unwrap_or_default().to_owned()
        };
        Some(ProgramKey { program: command.program, subcommand, directory: String::new() })
    }

    /// Whether a command may have this key. Commands that do not contain the program's name need not be parsed.
    pub(crate) fn may_be_of(&self, seen: &Observation) -> bool {
        seen.content.contains(&self.program) || RunKey::of(seen).is_some()
    }

    /// Whether a later command that worked is a run of the failed command. A later run of tests has to include the
    /// failed tests; other commands may differ in arguments, because a corrected argument may be the fix.
    pub(crate) fn is_fixed_by(
        &self,
        failed: &Observation,
        (key, worked): (&ProgramKey, &Observation),
    ) -> bool {
        let is_later = (worked.at_ms, worked.id) > (failed.at_ms, failed.id);
        if is_later && RunKey::of(failed).is_some() {
            return run::includes(worked, failed);
        }
        if self != key || !is_later {
            return false;
        }
        // Every session commits and pushes: only a later try in the failed command's session can be the fix.
        if self.program == "git" && failed.session_id != worked.session_id {
            return false;
        }
        !self.subcommand.is_empty() || share_word(&worked.content, &failed.content)
    }
}

/// The command of a line that its key names: the first one besides preparations such as `cd`, `export` and `git add`.
fn acting(line: &str) -> Option<Simple> {
    let acts =
        |command: &Simple| !["cd", "export", "set", "source", "."].contains(&&*command.program);
    // `git add -A && git commit` is a run of `git commit`.
    let prepares = |command: &Simple| command.git_command() == Some("add");
    let mut acting: Vec<Simple> = shell::commands(line).into_iter().filter(acts).collect();
    let first = acting.iter().position(|command| !prepares(command)).unwrap_or_default();
    (first < acting.len()).then(|| acting.swap_remove(first))
}

/// Whether a line that did not fail shows that the command of a failed one works now. If a pipe, `;` or `|| true` hides the
/// exit code, it shows this only if its output was read: it is a run that passed, git named the commit or the push, or
/// the failed line hid its exit code too, and its failure was read from its output.
pub(crate) fn shows_success(failed: &Observation, other: &Observation) -> bool {
    if RunKey::of(other).is_some() {
        return run::result(other) != Some("unknown");
    }
    let has_own_exit = |line: &str| acting(line).is_none_or(|command| command.decides);
    let is_reported = |command: &Simple| {
        matches!(command.git_command(), Some("commit" | "push"))
            && matches!(other.obs_type.kind(), ObsType::GitCommit | ObsType::GitPush)
    };
    let code = failed.metadata.as_ref().and_then(|metadata| metadata["exit_code"].as_i64());
    let was_read = || code.is_none_or(|code| code == 0) && !has_own_exit(&failed.content);
    acting(&other.content).is_none_or(|command| command.decides || is_reported(&command))
        || was_read()
}

/// Whether a command worked: not if its result is unknown, it was interrupted, or it runs in the background.
pub(crate) fn has_worked(seen: &Observation) -> bool {
    let is = |name: &str| seen.metadata.as_ref().is_some_and(|metadata| metadata[name] == true);
    may_have_worked(seen)
        && run::result(seen) != Some("unknown")
        && !is("background")
        && !is("is_interrupt")
}

/// Whether a command that worked may have changed what another one needs: an installation, a migration, a service that
/// was started. Tests, builds, git, and commands that only look do not count.
pub(crate) fn changes_state(seen: &Observation) -> bool {
    const CHECKS_ONLY: &[&str] = &["git", "curl", "wget", "python", "python3", "node"];
    let sets = |line: &str| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("export" | "set" | "source" | "."))
    };
    seen.obs_type.kind() == ObsType::Command
        && has_worked(seen)
        && RunKey::of(seen).is_none()
        && !agents::is_read_only(&seen.content)
        && (sets(&seen.content)
            || acting(&seen.content).is_some_and(|command| {
                command.decides && !CHECKS_ONLY.contains(&&*command.program)
                    || (command.program.starts_with("python") && is_installer(&command))
            }))
}

/// `python -m pip install …`, `python manage.py migrate`
fn is_installer(command: &Simple) -> bool {
    command.args.iter().any(|arg| matches!(arg.as_str(), "pip" | "migrate" | "upgrade" | "venv"))
}

/// Whether a command did not fail, as far as it is known.
pub(crate) fn may_have_worked(seen: &Observation) -> bool {
    use ObsType::{Command, GitCommit, GitPush, Github};
    matches!(seen.obs_type.kind(), Command | GitCommit | GitPush | Github) && !seen.failed()
}

/// Whether `other` worked after `failed` in the same project and is a run of the same command: the texts are equal, or
/// the keys match. If only the keys match, both have to be in one session, unless they are tests or builds.
pub(crate) fn worked_later(failed: &Observation, other: &Observation) -> bool {
    let is_later = (other.at_ms, other.id) > (failed.at_ms, failed.id);
    if !has_worked(other) || other.project_row != failed.project_row || !is_later {
        return false;
    }
    if failed.content.trim() == other.content.trim() {
        return true;
    }
    let is_near = failed.session_id == other.session_id || RunKey::of(failed).is_some();
    is_near
        && ProgramKey::of(failed).is_some_and(|key| {
            ProgramKey::of(other).is_some_and(|of| key.is_fixed_by(failed, (&of, other)))
        })
        && shows_success(failed, other)
}

/// Whether two lines have a word in common besides programs and options, such as a host, a file or a target; true also
/// if neither line has such a word.
fn share_word(a: &str, b: &str) -> bool {
    let words = |line: &str| -> Vec<String> {
        let commands = shell::commands(line);
        commands.iter().flat_map(|command| command.words().map(str::to_owned)).collect()
    };
    let (a, b) = (words(a), words(b));
    (a.is_empty() && b.is_empty()) || a.iter().any(|word| b.contains(word))
}

/// The script or module that an interpreter runs, with its sub-command: `shop.cli export`. None if it runs code from
/// its arguments.
fn script(command: &Simple) -> Option<String> {
    let mut args = command.args.iter().map(String::as_str);
    let script = loop {
        match args.next()? {
            "-m" => break args.next()?,
            "-c" | "-e" | "-" => return None,
            arg if !arg.starts_with('-') => break arg,
            _ => {}
        }
    };
    let subcommand = args.next().filter(|word| is_subcommand(word) && !word.starts_with('-'));
    Some(format!("{script} {}", subcommand.unwrap_or_default()))
}

/// Whether a word may be a sub-command: lowercase letters and hyphens only.
fn is_subcommand(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}
