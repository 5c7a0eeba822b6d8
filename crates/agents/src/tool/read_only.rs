//! The one place that decides which command lines are read-only. They change nothing, so briefings leave
//! them out.

use crate::shell::{self, Simple};

/// Programs that only read, whatever their arguments are.
const PROGRAMS: &[&str] = &[
    "ls",
    "ll",
    "la",
    "dir",
    "eza",
    "exa",
    "lsd",
    "tree",
    "cat",
    "bat",
    "tac",
    "nl",
    "head",
    "tail",
    "less",
    "more",
    "zcat",
    "zless",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "pwd",
    "cd",
    "pushd",
    "popd",
    "echo",
    "printf",
    "which",
    "whereis",
    "type",
    "command",
    "whence",
    "hash",
    "wc",
    "sort",
    "uniq",
    "cut",
    "tr",
    "rev",
    "paste",
    "comm",
    "join",
    "fold",
    "fmt",
    "column",
    "expand",
    "jq",
    "stat",
    "file",
    "du",
    "df",
    "ps",
    "pgrep",
    "top",
    "htop",
    "free",
    "vmstat",
    "uptime",
    "lsof",
    "netstat",
    "ss",
    "date",
    "cal",
    "whoami",
    "id",
    "groups",
    "uname",
    "hostname",
    "nproc",
    "lscpu",
    "lsblk",
    "man",
    "tldr",
    "info",
    "help",
    "test",
    "[",
    "[[",
    "true",
    "false",
    ":",
    "diff",
    "cmp",
    "colordiff",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "cksum",
    "xxd",
    "od",
    "hexdump",
    "strings",
    "nm",
    "objdump",
    "readelf",
    "ldd",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "printenv",
    "history",
    "sleep",
    "wait",
    "clear",
    "seq",
    "tput",
    "locate",
    "ping",
    "dig",
    "nslookup",
    "host",
    "cloc",
    "tokei",
    "scc",
    "awk",
    "gawk",
    "read",
    "fc",
];

/// Programs that only read if one of these subcommands follows; two words are separated by a space.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "gh",
        &[
            "pr view",
            "pr list",
            "pr diff",
            "pr checks",
            "pr status",
            "issue view",
            "issue list",
            "issue status",
            "repo view",
            "repo list",
            "run view",
            "run list",
            "run watch",
            "release view",
            "release list",
            "auth status",
            "search",
            "status",
        ],
    ),
    (
        "docker",
        &[
            "ps",
            "images",
            "logs",
            "inspect",
            "stats",
            "top",
            "version",
            "info",
            "compose ps",
            "compose logs",
            "compose config",
            "compose images",
            "image ls",
            "container ls",
            "volume ls",
            "network ls",
        ],
    ),
    ("podman", &["ps", "images", "logs", "inspect", "stats", "top", "version", "info"]),
    (
        "kubectl",
        &["get", "describe", "logs", "top", "version", "explain", "config view", "cluster-info"],
    ),
    ("cargo", &["tree", "metadata", "search", "info", "locate-project", "pkgid", "version"]),
    ("rustup", &["show", "which", "toolchain list", "target list", "component list"]),
    (
        "npm",
        &[
            "ls",
            "list",
            "view",
            "outdated",
            "why",
            "explain",
            "root",
            "prefix",
            "whoami",
            "config get",
        ],
    ),
    ("pnpm", &["ls", "list", "view", "outdated", "why", "root"]),
    ("yarn", &["list", "info", "why", "outdated"]),
    ("pip", &["list", "show", "freeze", "check", "config list"]),
    ("pip3", &["list", "show", "freeze", "check"]),
    ("go", &["list", "env", "version", "doc"]),
    ("brew", &["list", "info", "search", "outdated", "deps"]),
    ("apt", &["list", "search", "show"]),
    ("systemctl", &["status", "list-units", "is-active", "show", "cat"]),
    ("terraform", &["show", "output", "validate", "version", "state list", "state show"]),
    ("tmux", &["ls", "list-sessions", "capture-pane"]),
];

/// Commands of git that change neither the repository nor the working tree.
const GIT: &[&str] = &[
    "status",
    "diff",
    "log",
    "show",
    "blame",
    "grep",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "rev-parse",
    "rev-list",
    "describe",
    "shortlog",
    "reflog",
    "cat-file",
    "name-rev",
    "merge-base",
    "whatchanged",
    "count-objects",
    "check-ignore",
    "for-each-ref",
    "show-ref",
    "var",
    "help",
    "version",
    "diff-tree",
    "range-diff",
    "fsck",
    "annotate",
    "cherry",
];

/// Commands of git that only list if nothing but options, or one of these words, follows them.
const GIT_LISTS: &[(&str, &[&str])] = &[
    ("branch", &[]),
    ("tag", &[]),
    ("remote", &["show", "get-url"]),
    ("stash", &["list", "show"]),
    ("worktree", &["list"]),
    ("config", &["get", "list"]),
    ("submodule", &["status"]),
];

/// Options with which a command of git changes something without another word.
const GIT_CHANGES: &[&str] =
    &["-d", "-D", "-m", "-M", "--delete", "--move", "--unset", "--add", "-e", "--edit"];

/// Options with which a program that otherwise only reads does write or run something.
const WRITES: &[(&str, &[&str])] = &[
    ("sed", &["-i", "--in-place"]),
    ("yq", &["-i", "--inplace"]),
    ("find", &["-delete", "-exec", "-execdir", "-ok", "-fprint", "-fls"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
];

/// Whether every command of a line only reads. A line without a command changes nothing either.
pub fn is_read_only(line: &str) -> bool {
    shell::commands(line).iter().all(only_reads)
}

fn only_reads(command: &Simple) -> bool {
    if command.to_file {
        return false;
    }
    let program = command.program.as_str();
    if command.args.iter().any(|arg| matches!(arg.as_str(), "--version" | "--help")) {
        return true;
    }
    if program == "git" {
        return git_reads(command);
    }
    if let Some((_, options)) = WRITES.iter().find(|(name, _)| *name == program) {
        let writes = |arg: &String| options.iter().any(|option| arg.starts_with(option));
        return !command.args.iter().any(writes);
    }
    if let Some((_, known)) = SUBCOMMANDS.iter().find(|(name, _)| *name == program) {
        let mut words = command.words();
        let first = words.next().unwrap_or_default();
        let two = format!("{first} {}", words.next().unwrap_or_default());
        return known.iter().any(|word| *word == first || *word == two);
    }
    PROGRAMS.contains(&program)
}

fn git_reads(command: &Simple) -> bool {
    let Some(what) = command.git_command() else { return true };
    if GIT.contains(&what) {
        return true;
    }
    let Some((_, words)) = GIT_LISTS.iter().find(|(name, _)| *name == what) else { return false };
    let behind: Vec<&str> =
        command.args.iter().map(String::as_str).skip_while(|arg| *arg != what).skip(1).collect();
    let changes = behind.iter().any(|arg| GIT_CHANGES.contains(arg));
    let word = behind.iter().find(|arg| !arg.starts_with('-'));
    match word {
        // `git branch --list 'fix/*'` and `git branch --contains HEAD` list.
        Some(word) => {
            let lists =
                ["--list", "-l", "--contains", "--merged", "--no-merged", "--points-at", "--get"];
            words.contains(word) || behind.iter().any(|arg| lists.contains(arg))
        }
        // `git stash` alone puts changes away.
        None => !changes && what != "stash",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// @briefing_no_read_only
    #[test]
    fn read_only_commands_are_distinguished_from_those_that_change_something() {
        let looks = [
            "git status",
            "git -C web diff --stat",
            "git log --oneline | head -5",
            "ls -la",
            "cat a.rs",
            "grep -rn foo src | wc -l",
            "cd web && ls",
            "find . -name '*.rs'",
            "sed -n 1,20p a.rs",
            "git branch -a",
            "git branch --list 'fix/*'",
            "git stash list",
            "git remote -v",
            "pwd",
            "gh pr view 12 --json title",
            "docker compose ps",
            "kubectl get pods -A",
            "cargo --version",
            "cargo tree -i serde",
            "ls > /dev/null",
            "npm ls react",
            "echo done",
            "bash -lc 'git status'",
            "cat a 2>/dev/null || true",
            "rg foo; git show HEAD",
            "timeout 5 tail -f log",
            "",
        ];
        let acts = [
            "git commit -m x",
            "git push",
            "git branch new",
            "git branch -D old",
            "git stash",
            "git stash pop",
            "git checkout main",
            "cat a > b",
            "echo x >> notes.md",
            "ls && make",
            "find . -delete",
            "sed -i s/a/b/ a.rs",
            "cargo test",
            "npm install",
            "gh pr create",
            "docker compose up -d",
            "kubectl apply -f x",
            "rm -rf x",
            "python script.py",
            "terraform apply",
            "curl -X POST x",
            "git config user.name x",
            "find . -name x -exec rm {} +",
            "cat <<EOF > a\nx\nEOF",
        ];
        for line in looks {
            assert!(is_read_only(line), "{line}");
        }
        for line in acts {
            assert!(!is_read_only(line), "{line}");
        }
    }
}
