//! Metadata about commits and pushes, from the command line and from the output of git.

use model::limits;
use model::observation::ObsType;
use serde_json::{Map, Value};

use crate::guard;
use crate::shell::Simple;

/// Adds the metadata that the output contains about a commit or a push; none for other observations.
pub(super) fn add(obs_type: ObsType, texts: &[&str], metadata: &mut Map<String, Value>) {
    let lines = texts.iter().flat_map(|text| guard::looked_at(text).lines());
    match obs_type {
        ObsType::GitCommit => lines.for_each(|line| commit_line(line, metadata)),
        ObsType::GitPush => lines.for_each(|line| push_line(line, metadata)),
        _ => {}
    }
}

/// Removes the metadata of a commit that was not made.
pub(super) fn forget(metadata: &mut Map<String, Value>) {
    metadata.remove("commit_message");
}

/// The result of a commit or push, according to the output of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GitReport {
    Done,
    /// Not visible: git was quiet, or its output was redirected.
    Unheard,
    /// Git reported a failure.
    Failed,
    /// No commit was made, for certain: the whole output is visible, and it lacks the line that git prints after a
    /// commit. A push is never reported as this.
    Refused,
    /// The output does not show that it was done, although git would have printed it there.
    NotDone,
    /// The output shows neither: it is empty, cut, or another command may have printed it.
    Unclear,
}

/// Git, and programs that print no messages of their own.
const SILENT: &[&str] =
    &["git", "cd", "export", "set", "tail", "head", "cat", "true", ":", "echo", "sleep", "tee"];

/// Git commands that print the statistics of commits or working trees, in the form that a new commit has too.
const SHOWS_STATISTICS: &[&str] =
    &["diff", "show", "log", "merge", "pull", "stash", "rebase", "cherry-pick", "revert", "am"];

/// Beginnings of lines that git prints if there is nothing to commit.
const IDLE: &[&str] =
    &["nothing to commit", "nothing added to commit", "no changes added to commit"];

/// Reads whether a commit was made. Git prints its hash in brackets, unless it is quiet or its output is
/// redirected. A pipe (`| tail -5`) hides the exit code, but shows the end of the output with that line.
pub(super) fn committed(commands: &[Simple], texts: &[&str]) -> GitReport {
    let Some(commit) = commands.iter().rfind(|command| command.is_git("commit")) else {
        return GitReport::NotDone;
    };
    let lines = || texts.iter().flat_map(|text| guard::looked_at(text).lines());
    let has_other_statistics = commands.iter().any(|command| {
        command.git_command().is_some_and(|command| SHOWS_STATISTICS.contains(&command))
    });
    let made =
        |line: &str| commit_header(line).is_some() || !has_other_statistics && is_statistic(line);
    // Git names the commit after its hooks ran, so errors that the hooks printed did not stop it.
    if lines().any(made) {
        return GitReport::Done;
    }
    let has_lefthook = lines().any(|line| line.starts_with("summary: (done in "));
    let hook = |line: &str| {
        let of_husky = ["husky - ", "husky > "].iter().any(|start| line.starts_with(start));
        line.starts_with("- hook id: ")
            || of_husky && (line.contains("fail") || line.contains(" exited with code "))
            // The summary of lefthook marks a check that failed.
            || has_lefthook && ["🥊 ", "✗ "].iter().any(|mark| line.starts_with(mark))
    };
    let is_alone = is_alone(commands);
    let stopped = |line: &str| {
        line.starts_with("fatal: ")
            || is_alone && line.starts_with("error: ")
            || line.starts_with("Aborting commit")
            || hook(line)
    };
    if lines().any(stopped) {
        return GitReport::Failed;
    }
    let is_unheard = is_unheard(commit, "commit");
    // Git exits with 1 then. After a quiet commit `git status` prints the same line.
    let shows_status = commands.iter().any(|command| command.git_command() == Some("status"));
    if lines().any(|line| IDLE.iter().any(|start| line.starts_with(start))) {
        // `git commit … || true` expects that there may be nothing to commit.
        let expects = |command: &Simple| matches!(command.program.as_str(), "true" | ":");
        let is_own = is_alone && !shows_status && !commands.iter().any(expects);
        return match is_own {
            true => GitReport::Failed,
            false if is_unheard => GitReport::Unclear,
            false => GitReport::NotDone,
        };
    }
    if is_unheard {
        return GitReport::Unheard;
    }
    let is_whole = |text: &&str| guard::looked_at(text).len() == text.len();
    let is_cut = |line: &str| line.contains("truncated") || line.contains("omitted");
    let is_silent = lines().all(|line| line.trim().is_empty());
    if is_silent || !texts.iter().all(is_whole) || lines().any(is_cut) {
        return GitReport::Unclear;
    }
    // A hook that refuses the commit prints what it likes. Git would have named the commit, so this is certain where all of
    // the output is visible and nothing but a failure keeps git from being run.
    let is_certain = commit.decides && !commit.hidden && is_alone;
    if is_certain { GitReport::Refused } else { GitReport::NotDone }
}

/// Whether git clearly reported that it made no commit. Then an exit code of 0 proves nothing: the host may have taken it
/// from another program of the line. False if another command of git may have printed the report.
pub(super) fn denied_commit(commands: &[Simple], texts: &[&str]) -> bool {
    let mut commits = commands.iter().filter(|command| command.is_git("commit"));
    let (Some(commit), None) = (commits.next(), commits.next()) else { return false };
    let is_other = |command: &Simple| {
        command.git_command().is_some_and(|name| !matches!(name, "commit" | "add"))
    };
    if is_quiet(commit, "commit") && commands.iter().any(is_other) {
        return false;
    }
    let mut lines = texts.iter().flat_map(|text| guard::looked_at(text).lines());
    let shows_status = commands.iter().any(|command| command.git_command() == Some("status"));
    lines.any(|line| {
        line.starts_with("fatal: ")
            || line.starts_with("Aborting commit")
            || !shows_status && IDLE.iter().any(|start| line.starts_with(start))
    })
}

/// Whether no other program of the line prints messages, so that `error: …` comes from git.
fn is_alone(commands: &[Simple]) -> bool {
    commands.iter().all(|command| SILENT.contains(&command.program.as_str()))
}

/// Lines below the name of a new commit: ` 2 files changed, 3 insertions(+)`, ` create mode 100644 path`.
fn is_statistic(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(' ') else { return false };
    let modes = ["create mode ", "delete mode ", "mode change ", "rename ", "rewrite ", "copy "];
    let counted = rest.split_once(' ').is_some_and(|(count, rest)| {
        count.bytes().all(|byte| byte.is_ascii_digit())
            && (rest.starts_with("file changed, ") || rest.starts_with("files changed, "))
    });
    counted || modes.iter().any(|mode| rest.starts_with(mode))
}

/// Reads whether a push was made or refused. Git prints one line per branch, unless it is quiet.
pub(super) fn pushed(commands: &[Simple], texts: &[&str]) -> GitReport {
    const REFUSED: &[&str] = &[
        " ! [rejected]",
        " ! [remote rejected]",
        "error: failed to push ",
        "error: src refspec ",
        "fatal: ",
        "hint: Updates were rejected because ",
        "hint: See the 'Note about fast-forwards' ",
        "Please make sure you have the correct access rights",
        "and the repository exists.",
        "ERROR: Repository not found",
        "ERROR: Permission to ",
    ];
    let Some(push) = commands.iter().rfind(|command| command.is_git("push")) else {
        return GitReport::NotDone;
    };
    let lines = || texts.iter().flat_map(|text| guard::looked_at(text).lines());
    let is_alone = is_alone(commands);
    let refused = |line: &str| {
        REFUSED.iter().any(|start| line.starts_with(start))
            || line.contains("Could not read from remote repository")
            || is_alone && line.starts_with("error: ")
    };
    if lines().any(refused) {
        return GitReport::Failed;
    }
    let updated = |line: &str| {
        let is_ref = [" * [new ", " - [deleted]", " + ", " = [up to date]", "   "];
        is_ref.iter().any(|start| line.starts_with(start))
            && (line.contains(" -> ") || line.starts_with(" - [deleted]"))
    };
    let done = |line: &str| {
        line.starts_with("To ")
            || line.starts_with("Everything up-to-date")
            || updated(line)
            || line.contains(" set up to track ")
    };
    if lines().any(done) {
        return GitReport::Done;
    }
    let is_silent = lines().all(|line| line.trim().is_empty());
    match is_silent || is_unheard(push, "push") {
        true => GitReport::Unheard,
        false => GitReport::Unclear,
    }
}

/// Whether the output does not show what this command of git prints: it is quiet, or its output is redirected.
pub(super) fn is_unheard(simple: &Simple, command: &str) -> bool {
    simple.hidden && !simple.piped || is_quiet(simple, command)
}

/// Whether this command of git is run with `-q` or `--quiet`, also as one of several short options (`-aqm`).
fn is_quiet(simple: &Simple, command: &str) -> bool {
    let options = simple.args.iter().skip_while(|arg| *arg != command).skip(1);
    let mut options = options.take_while(|arg| *arg != "--");
    options.any(|arg| {
        let flags = arg.strip_prefix('-').filter(|flags| !flags.starts_with('-'));
        // After an option that takes a value, the rest of the word is that value.
        let flags = flags.and_then(|flags| flags.split(['m', 'F', 'C', 'c', 't', 'S', 'u']).next());
        arg == "--quiet" || flags.is_some_and(|flags| flags.contains('q'))
    })
}

/// Adds the subject line of the last commit of a command line: a git with `--quiet` does not print it.
pub(super) fn add_message(commands: &[Simple], metadata: &mut Map<String, Value>) {
    let last = commands.iter().rfind(|command| command.is_git("commit"));
    let message = last.and_then(|commit| given_message(&commit.args)).unwrap_or_default();
    let subject = message.trim().lines().next().unwrap_or_default();
    // The value of a substitution is not known here.
    if !subject.is_empty() && !subject.contains("$(") && !subject.contains('`') {
        set(metadata, "commit_message", subject);
    }
}

/// `-m text`, `-mtext`, `-qm text`, `--message text`, `--message=text`; of several the first, which is
/// the subject.
fn given_message(args: &[String]) -> Option<&str> {
    let mut args = args.iter().map(String::as_str).skip_while(|arg| *arg != "commit").skip(1);
    while let Some(arg) = args.next() {
        if arg == "--" {
            return None;
        }
        if let Some(text) = arg.strip_prefix("--message=") {
            return Some(text);
        }
        let short = arg.strip_prefix('-').filter(|short| !short.starts_with('-'));
        // The letters before are flags without a value, or the rest is the value of another flag.
        let flags = short.and_then(|short| short.split_once('m'));
        let flags =
            flags.filter(|(flags, _)| flags.chars().all(|flag| "aeinopqsvz".contains(flag)));
        match flags {
            Some((_, "")) => return args.next(),
            Some((_, text)) => return Some(text),
            None if arg == "--message" => return args.next(),
            None => {}
        }
    }
    None
}

fn set(metadata: &mut Map<String, Value>, member: &str, text: &str) {
    let text = guard::line(text, limits::OBSERVED_CHARS_MAX);
    metadata.insert(member.into(), text.into_inner().into());
}

/// `[main 1a2b3c4] message`, ` 2 files changed, 3 insertions(+)`, ` create mode 100644 path`. Of several
/// commits the last one counts.
fn commit_line(line: &str, metadata: &mut Map<String, Value>) {
    if let Some((branch, hash, message)) = commit_header(line) {
        for old in ["files_changed", "insertions", "deletions", "new_files"] {
            metadata.remove(old);
        }
        set(metadata, "branch", branch);
        set(metadata, "commit_hash", hash);
        set(metadata, "commit_message", message);
        return;
    }
    if !metadata.contains_key("commit_hash") {
        return;
    }
    if let Some(rest) = line.strip_prefix(" create mode ") {
        let path = rest.split_once(' ').map_or(rest, |(_, path)| path);
        let files = metadata.entry("new_files").or_insert_with(|| Value::Array(Vec::new()));
        if let Some(files) =
            files.as_array_mut().filter(|files| files.len() < limits::OBSERVED_FILES_MAX)
        {
            files.push(guard::line(path, limits::OBSERVED_CHARS_MAX).into_inner().into());
        }
    } else if line.contains(" changed") {
        for (member, count) in line.split(',').filter_map(statistic) {
            metadata.insert(member.into(), count.into());
        }
    }
}

fn commit_header(line: &str) -> Option<(&str, &str, &str)> {
    let (header, message) = line.strip_prefix('[')?.split_once("] ")?;
    let (branch, hash) = header.rsplit_once(' ')?;
    let is_hash =
        (4..=64).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let branch = branch.strip_suffix(" (root-commit)").unwrap_or(branch);
    is_hash.then_some((branch, hash, message))
}

fn statistic(part: &str) -> Option<(&'static str, u64)> {
    let (count, what) = part.trim().split_once(' ')?;
    let member =
        [("file", "files_changed"), ("insertion", "insertions"), ("deletion", "deletions")]
            .into_iter()
            .find_map(|(word, member)| what.starts_with(word).then_some(member))?;
    Some((member, count.parse().ok()?))
}

/// `To git@host:repo.git`, `   1a2b3c4..5d6e7f8  main -> main`, ` * [new branch]  main -> main`. Of
/// several branches the first one counts.
fn push_line(line: &str, metadata: &mut Map<String, Value>) {
    if let Some(url) = line.strip_prefix("To ") {
        set(metadata, "remote_url", &without_credentials(url.trim()));
        return;
    }
    let Some((refs, target)) = line.split_once(" -> ") else { return };
    if !line.starts_with(' ') || metadata.contains_key("branch") {
        return;
    }
    let range = refs.trim_start_matches([' ', '+', '*', '=']).split_whitespace().next();
    if let Some(range) = range.filter(|range| is_range(range)) {
        set(metadata, "hash_range", range);
    }
    if let Some(branch) = target.split_whitespace().next() {
        set(metadata, "branch", branch);
    }
}

fn is_range(word: &str) -> bool {
    word.contains("..") && word.bytes().all(|byte| byte == b'.' || byte.is_ascii_hexdigit())
}

/// The URL without user name and password, which over HTTP are often a token.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority = rest.find('/').map_or(rest, |end| &rest[..end]);
    match authority.rfind('@') {
        Some(at) if scheme.starts_with("http") || authority[..at].contains(':') => {
            format!("{scheme}://{}", &rest[at + 1..])
        }
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(obs_type: ObsType, text: &str) -> Value {
        let mut metadata = Map::new();
        add(obs_type, &[text], &mut metadata);
        Value::Object(metadata)
    }

    /// @capture_commit
    #[test]
    fn a_commit_carries_hash_branch_message_and_numbers() {
        let text = "hook ok\n[feature/x 1a2b3c4] fix the [auth] test\n 3 files changed, 12 insertions(+), 1 deletion(-)\n create mode 100644 src/new file.rs\n";
        assert_eq!(
            told(ObsType::GitCommit, text),
            json!({
                "branch": "feature/x", "commit_hash": "1a2b3c4", "commit_message": "fix the [auth] test",
                "files_changed": 3, "insertions": 12, "deletions": 1, "new_files": ["src/new file.rs"],
            })
        );
        let root = "[main (root-commit) deadbee] begin\n 1 file changed, 1 insertion(+)";
        assert_eq!(
            told(ObsType::GitCommit, root),
            json!({
                "branch": "main", "commit_hash": "deadbee", "commit_message": "begin",
                "files_changed": 1, "insertions": 1,
            })
        );
        let full = "[detached HEAD 0123456789abcdef0123456789abcdef01234567] x";
        assert_eq!(told(ObsType::GitCommit, full)["branch"], "detached HEAD");
        assert_eq!(told(ObsType::GitCommit, full)["commit_hash"], full[15..55]);
        for none in ["", "[info] done", "[main] x", "nothing to commit", " 1 file changed"] {
            assert_eq!(told(ObsType::GitCommit, none), json!({}), "{none:?}");
        }
    }

    /// @capture_commit
    #[test]
    fn of_several_commits_the_last_counts() {
        let text = "[main aaaa111] one\n 9 files changed, 1 deletion(-)\n[main bbbb222] two\n 1 file changed, 1 insertion(+)\n";
        let told = told(ObsType::GitCommit, text);
        assert_eq!(told["commit_message"], "two");
        assert_eq!((&told["files_changed"], told.get("deletions")), (&json!(1), None));
    }

    /// @capture_commit
    #[test]
    fn a_push_carries_where_to_and_what_and_never_who() {
        let token = concat!("ghp", "_", "0123456789abcdefghijABCDEFGHIJ012345");
        let table = [
            (
                "To github.com:me/it.git\n   1a2b3c4..5d6e7f8  main -> main\n".to_owned(),
                json!({"remote_url": "github.com:me/it.git", "hash_range": "1a2b3c4..5d6e7f8", "branch": "main"}),
            ),
            (
                format!(
                    "To https://me:{token}@github.com/me/it.git\n * [new branch]      HEAD -> topic\n"
                ),
                json!({"remote_url": "https://github.com/me/it.git", "branch": "topic"}),
            ),
            (
                format!(
                    "To https://{token}@github.com/me/it.git\n + 1a2b3c4...5d6e7f8 a -> b (forced update)\n"
                ),
                json!({"remote_url": "https://github.com/me/it.git", "hash_range": "1a2b3c4...5d6e7f8", "branch": "b"}),
            ),
            ("To ssh://git@host/r.git\n".to_owned(), json!({"remote_url": "ssh://git@host/r.git"})),
            ("Everything up-to-date\n".to_owned(), json!({})),
        ];
        for (text, expected) in table {
            assert_eq!(told(ObsType::GitPush, &text), expected);
        }
    }

    /// @capture_commit
    #[test]
    fn a_quiet_commit_has_the_message_that_it_was_given() {
        let table = [
            ("git commit -qm 'fix the login'", Some("fix the login")),
            ("git -C /w commit -q -m \"one\" -m two && git status", Some("one")),
            ("git commit -aqmshort", Some("short")),
            ("git commit --quiet --message='a subject\n\nand more'", Some("a subject")),
            ("git commit --message text", Some("text")),
            ("git commit -qm first; git commit -qm second", Some("second")),
            ("git commit -qm \"$(cat message)\"", None),
            ("git commit -qF message.txt", None),
            ("git commit -q --amend", None),
            ("git commit -q -- -m no", None),
        ];
        for (line, message) in table {
            let mut metadata = Map::new();
            add_message(&crate::shell::commands(line), &mut metadata);
            let told = metadata.get("commit_message").and_then(Value::as_str);
            assert_eq!(told, message, "{line}");
        }
    }

    #[test]
    fn other_observations_learn_nothing_from_such_lines() {
        assert_eq!(told(ObsType::Command, "[main 1a2b3c4] x"), json!({}));
    }
}
