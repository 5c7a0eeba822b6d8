//! Whether a run that passed covers one that failed: only then is the failure fixed. A run without a selection covers
//! every selection: `python -m unittest` covers `python -m unittest tests.test_a`, and a run of other tests does not.

/// Options that change what is printed, when a run stops, or make it wider. They select no tests.
const SELECT_NOTHING: &[&str] = &[
    "--",
    ".",
    "./...",
    "--all",
    "--all-features",
    "--all-targets",
    "--bail",
    "--color",
    "--colors",
    "--frozen",
    "--locked",
    "--no-capture",
    "--no-color",
    "--no-fail-fast",
    "--no-header",
    "--nocapture",
    "--offline",
    "--quiet",
    "--verbose",
    "--silent",
    "--workspace",
    "-q",
    "-qq",
    "-s",
    "-v",
    "-vv",
    "-x",
];
/// Prefixes of options with a value that select no tests.
const SELECT_NOTHING_VALUED: &[&str] = &[
    "--color=",
    "--durations=",
    "--maxfail=",
    "--reporter=",
    "--show-output=",
    "--tb=",
    "--test-threads=",
];

/// Whether a run executes everything that another run of the program executed. Each selection of the wider run
/// (names, files, packages) has to be selected by the narrower one too, or be a directory or module around it. Options
/// such as `--output-on-failure` select nothing.
pub(super) fn covers(program: &str, wider: &str, narrower: &str) -> bool {
    if wider == narrower {
        return true;
    }
    let of = |line: &str| Selection::of(program, line, &[]);
    of(wider).zip(of(narrower)).is_some_and(|(wider, narrower)| wider.covers(&narrower))
}

/// The names of tests, files and packages that a run selects; none if it runs everything.
pub(super) struct Selection {
    names: Vec<String>,
    of_modules: bool,
}

impl Selection {
    /// The selection of the program in a line. The skipped words select nothing.
    pub(super) fn of(program: &str, line: &str, skipped: &[&str]) -> Option<Selection> {
        let mut names = named(program, selected(program, line)?);
        names.retain(|name| !skipped.contains(&name.as_str()));
        Some(Selection { names, of_modules: program == "unittest" })
    }

    /// The arguments behind the name of a script or a target.
    pub(super) fn of_script(program: &str, script: &str, line: &str) -> Option<Selection> {
        Selection::of(program, line, &[script])
    }

    /// Whether each name equals or contains a name that the other run selects.
    pub(super) fn covers(&self, narrower: &Selection) -> bool {
        let is_around = |around: &String, part: &String| {
            contains(around, part) || (self.of_modules && is_module_around(around, part))
        };
        self.names.iter().all(|around| narrower.names.iter().any(|part| is_around(around, part)))
    }
}

/// Whether a run that passed shows that a failed run of its program is fixed: each test, file or package that the
/// passed run names contains one that the failed run named, or all of them are in the lines of the error that say what
/// failed. A run that leaves tests out proves nothing. Other options do not count, so that a run with another option
/// may be the fix.
pub fn is_fixed_by(
    (program, subcommand): (&str, &str),
    (failed, error): (&str, &str),
    passed: &str,
) -> bool {
    let names = |line: &str| -> Vec<String> {
        let mut names =
            selected(program, line).map(|args| named(program, args)).unwrap_or_default();
        names.retain(|name| name != subcommand);
        names
    };
    let leaves_out = |line: &str| line.split_whitespace().filter(|word| is_left_out(word)).count();
    if leaves_out(passed) > leaves_out(failed) {
        return false;
    }
    let (before, after) = (names(failed), names(passed));
    let is_around = |around: &String, part: &String| {
        contains(around, part) || (program == "unittest" && is_module_around(around, part))
    };
    let was_named = |name: &String| before.iter().any(|part| is_around(name, part));
    let lines: Vec<&str> = error.lines().filter(|line| says_where(line)).collect();
    after.iter().all(was_named)
        || after.iter().all(|name| lines.iter().any(|line| is_in(name, line)))
}

/// Options that leave tests out.
const LEAVE_OUT: &[&str] = &[
    "--deselect",
    "--exclude",
    "--ignore",
    "--ignore-glob",
    "--skip",
    "-skip",
    "--testPathIgnorePatterns",
];
/// Options without a value that select a part of the tests.
const SELECT_PART: &[&str] = &["--lib", "--doc", "--bins", "--tests", "--examples", "--benches"];
/// Options whose value, the next word, selects no test.
const VALUE_SELECTS_NOTHING: &[&str] = &[
    "--features",
    "-F",
    "--profile",
    "--target",
    "--target-dir",
    "--tb",
    "--color",
    "--config",
    "--rootdir",
    "--env",
    "--reporter",
    "--log-level",
    "--cov",
    "-W",
    "-o",
    "-c",
    "-j",
];
/// Options with `=` whose value selects tests.
const VALUE_SELECTS: &[&str] = &[
    "-run=",
    "--run=",
    "--filter=",
    "--grep=",
    "--testNamePattern=",
    "--testPathPattern=",
    "-Dtest=",
];

fn is_left_out(word: &str) -> bool {
    let option = word.split('=').next().unwrap_or(word);
    LEAVE_OUT.contains(&option) || word.trim_matches(['"', '\'']) == "not"
}

/// The names of tests, files and packages among the arguments.
fn named(program: &str, args: Vec<String>) -> Vec<String> {
    let mut names = Vec::new();
    let mut skips = false;
    for arg in args {
        let is_value = std::mem::take(&mut skips);
        // `-p` of pytest loads a plugin.
        skips =
            VALUE_SELECTS_NOTHING.contains(&arg.as_str()) || (program == "pytest" && arg == "-p");
        let value = VALUE_SELECTS.iter().find_map(|option| arg.strip_prefix(option));
        match value {
            Some(value) => names.push(value.trim_matches(['"', '\'']).to_owned()),
            None if SELECT_PART.contains(&arg.as_str()) => names.push(arg),
            None if is_value || arg.starts_with('-') || arg.contains('=') => {}
            None if arg.bytes().all(|byte| byte.is_ascii_digit()) => {}
            None => names.push(arg),
        }
    }
    names
}

/// Whether a line of an error names what failed or where.
fn says_where(line: &str) -> bool {
    text::telling::is_telling(line) || line.trim_start().starts_with("--> ")
}

/// Whether a line contains a name that no letter, digit or `_` precedes; if the name is a path, none may follow it
/// either.
fn is_in(name: &str, line: &str) -> bool {
    let plain = name.strip_prefix("./").unwrap_or(name);
    let plain = plain.strip_suffix("/...").unwrap_or(plain).trim_end_matches('/');
    let is_path = plain != name || plain.contains('/');
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !plain.is_empty()
        && line.match_indices(plain).any(|(at, _)| {
            let before = line.get(..at).and_then(|before| before.chars().next_back());
            let after = line.get(at + plain.len()..).and_then(|after| after.chars().next());
            !(before.is_some_and(is_part) || is_path && after.is_some_and(is_part))
        })
}

/// Options that say where a run works and not what it selects. The next word is their value.
const WHERE: &[&str] = &["--prefix", "-C", "--cwd", "--dir", "--directory", "--manifest-path"];
/// Programs that run the scripts of a package: `npm run test` is `npm test`.
const RUN_SCRIPTS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// The selecting arguments of the first command in a line that is this program or runs it, as `python -m pytest`
/// does. A quoted word may be a line of its own: `bash -c "cd api && pytest"`.
fn selected(program: &str, line: &str) -> Option<Vec<String>> {
    let words = shell_words(line);
    let is_program = |word: &ShellWord| {
        let word = word.text.trim_start_matches('(');
        word.rsplit('/').next() == Some(program)
    };
    let Some(at) = words.iter().position(is_program) else {
        let lines = words.iter().filter(|word| word.is_quoted() && word.text.contains(' '));
        return lines.into_iter().find_map(|word| selected(program, &word.text));
    };
    let mut args: Vec<String> = Vec::new();
    let mut skips = false;
    for word in words.iter().skip(at + 1) {
        if word.ends_command() {
            break;
        }
        let is_last = word.bare.ends_with([';', ')']);
        let arg = match is_last {
            true => word.text.trim_end_matches([';', ')']),
            false => word.text.as_str(),
        };
        let says_where = WHERE.iter().any(|option| arg.starts_with(&format!("{option}=")));
        let runs_script = RUN_SCRIPTS.contains(&program) && matches!(arg, "run" | "run-script");
        let is_value = std::mem::replace(&mut skips, WHERE.contains(&arg));
        if !is_value && !skips && !says_where && !runs_script {
            args.push(arg.to_owned());
        }
        if is_last {
            break;
        }
    }
    let selects = |arg: &String| {
        !arg.is_empty()
            && !SELECT_NOTHING.contains(&arg.as_str())
            && !SELECT_NOTHING_VALUED.iter().any(|option| arg.starts_with(option))
    };
    args.retain(selects);
    Some(args)
}

/// A word of a command line without its quotes.
#[derive(Default)]
struct ShellWord {
    text: String,
    /// The characters outside of quotes: only they can end the command.
    bare: String,
}

impl ShellWord {
    fn is_quoted(&self) -> bool {
        self.bare.len() < self.text.len()
    }

    fn ends_command(&self) -> bool {
        let is_operator = matches!(self.bare.as_str(), "|" | "||" | "&&" | ";" | "&" | "|&");
        (is_operator && !self.is_quoted()) || self.bare.contains(['>', '<'])
    }
}

/// The words of a command line: `--features "a b"` are two. A quote that is not closed extends to the end of the line.
/// A backslash escapes a quote and a blank; elsewhere it is part of a path.
fn shell_words(line: &str) -> Vec<ShellWord> {
    let mut words = Vec::new();
    let mut word = ShellWord::default();
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = c == '\\' && quote != Some('\'');
        if let Some(escaped) = chars.next_if(|c| escapes && matches!(c, '"' | '\'' | ' ')) {
            word.text.push(escaped);
        } else if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && matches!(c, '"' | '\'') {
            quote = Some(c);
        } else if quote.is_none() && c.is_whitespace() {
            words.push(std::mem::take(&mut word));
        } else {
            word.text.push(c);
            if quote.is_none() {
                word.bare.push(c);
            }
        }
    }
    words.push(word);
    words.retain(|word| !word.text.is_empty());
    words
}

/// Whether an argument equals another one, or is a directory or module around it.
fn contains(around: &str, part: &str) -> bool {
    let around = around.strip_suffix("/...").unwrap_or(around).trim_end_matches('/');
    part.strip_prefix(around)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with("::"))
}

/// Whether a Python module is another one's package, or contains that test.
fn is_module_around(around: &str, part: &str) -> bool {
    around == "discover" || part.strip_prefix(around).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_fixed_by_a_run_of_its_failed_tests_only() {
        const PY: &str = "FAILED tests/a.py::t - KeyError: 'id'\ntests/b.py ..";
        const GO: &str = "--- FAIL: TestTotal (0.01s)\nFAIL\tex/a\t0.1s\nok  \tex/b\t0.1s";
        const RS: &str = "test a::t ... FAILED\ntest b::t ... ok\nerror: test failed, to rerun pass `-p api --lib`";
        let table = [
            ("pytest", "", "pytest", PY, "pytest tests/a.py", true),
            ("pytest", "", "pytest", PY, "pytest tests/a.py::t -x", true),
            ("pytest", "", "pytest", PY, "pytest -k t", true),
            ("pytest", "", "pytest", PY, "pytest -p no:cacheprovider -n 4", true),
            ("pytest", "", "pytest", PY, "pytest tests/b.py", false),
            ("pytest", "", "pytest", PY, "pytest --deselect tests/a.py::t", false),
            ("pytest", "", "pytest", PY, "pytest -k 'not t'", false),
            ("pytest", "", "pytest tests/a.py", PY, "pytest tests/a.py::other", false),
            ("pytest", "", "pytest tests/a.py", PY, "pytest tests/a.py -k other", false),
            ("pytest", "", "pytest tests/a.py", PY, "pytest tests/b.py", false),
            ("pytest", "", "pytest tests/a.py", PY, "pytest tests", true),
            ("pytest", "", "pytest tests/a.py", "", "pytest tests/a.py --lf", true),
            ("go", "test", "go test ./...", GO, "go test ./b", false),
            ("go", "test", "go test ./...", GO, "go test ./a", true),
            ("go", "test", "go test ./...", GO, "go test -run TestTotal ./a", true),
            ("go", "test", "go test ./...", GO, "go test -run=TestOther ./a", false),
            ("cargo", "test", "cargo test", RS, "cargo test b::", false),
            ("cargo", "test", "cargo test", RS, "cargo test a::", true),
            ("cargo", "test", "cargo test", RS, "cargo test -p api", true),
            ("cargo", "test", "cargo test", RS, "cargo test -p web", false),
            ("cargo", "test", "cargo test", RS, "cargo test --lib", true),
            ("cargo", "test", "cargo test", RS, "cargo test --doc", false),
            ("cargo", "test", "cargo test", RS, "cargo test --features tls", true),
            ("cargo", "test", "cargo test", RS, "cargo test --features \"tls json\"", true),
            ("cargo", "test", "cargo test", RS, "cargo test --features 'tls json' a::", true),
            ("cargo", "test", "cargo test", RS, "cargo test --features 'tls json' b::", false),
            ("cargo", "test", "cargo test", RS, "bash -c \"cargo test -F 'tls json'\"", true),
            ("cargo", "test", "cargo test", RS, "bash -c \"cd x && cargo test b::\"", false),
            ("pytest", "", "pytest", PY, "pytest -o \"addopts=-q > x; y\" tests/b.py", false),
            ("pytest", "", "pytest -k 't or u'", PY, "pytest -k 't or u' -x", true),
            ("pytest", "", "pytest 'tests/a b.py'", "", "pytest tests/a\\ b.py -q", true),
            ("cargo", "test", "cargo test", RS, "cargo test -- --skip a::t", false),
            ("cargo", "test", "cargo test -p web", "", "cargo test -p api", false),
            ("make", "", "make CC=gcc", "", "make CC=clang", true),
        ];
        for (program, subcommand, failed, error, passed, expected) in table {
            let is_fixed = is_fixed_by((program, subcommand), (failed, error), passed);
            assert_eq!(is_fixed, expected, "{failed} | {passed}");
        }
    }

    #[test]
    fn a_run_covers_another_if_it_selects_the_same_or_more() {
        let table = [
            ("cargo", "cargo test a", "cargo test a", true),
            ("cargo", "cargo test b", "cargo test a", false),
            ("cargo", "cargo test", "cargo test a", true),
            ("cargo", "cargo test a", "cargo test", false),
            ("cargo", "cargo test -q 2>&1 | tail -5", "cd x && cargo test a -- --nocapture", true),
            ("cargo", "cargo test -p web", "cargo test -p api", false),
            ("cargo", "cargo test -p web", "cargo test -p web cart::total", true),
            ("cargo", "cargo test cart", "cargo test cart::total", true),
            ("cargo", "cargo test cart::total", "cargo test cart", false),
            ("cargo", "cargo test --doc", "cargo test --lib", false),
            ("go", "go test ./...", "go test ./api", true),
            ("go", "go test ./api/...", "go test ./api/users", true),
            ("go", "go test ./web", "go test ./api", false),
            ("pytest", "python -m pytest tests/", "pytest tests/a.py::b -x", true),
            ("pytest", "pytest tests/b.py", "pytest tests/a.py", false),
            ("jest", "npx jest cart", "npx jest cart --bail", true),
            ("unittest", "python3 -m unittest", "python3 -m unittest tests.test_a", true),
            ("unittest", "python3 -m unittest discover", "python3 -m unittest tests.test_a", true),
            ("unittest", "python3 -m unittest tests", "python3 -m unittest -v tests.test_a", true),
            (
                "unittest",
                "python3 -m unittest tests.test_b",
                "python3 -m unittest tests.test_a",
                false,
            ),
            ("npm", "cd web && npm run test", "(cd web && npm test)", true),
            ("npm", "npm --prefix web test", "cd web && npm test", true),
            ("npm", "npm --prefix=web test -- cart", "cd web && npm test", false),
            ("gradlew", "./gradlew test", "./gradlew test --info", true),
            ("ctest", "ctest --test-dir b --output-on-failure", "ctest --test-dir b", true),
            ("ctest", "ctest --test-dir b -R Dock", "ctest --test-dir b", false),
            ("pytest", "pytest --lf", "pytest tests/a.py", true),
            ("node", "node --test | tail -5", "node --test 2>&1 | tail -20", true),
        ];
        for (program, wider, narrower, expected) in table {
            assert_eq!(covers(program, wider, narrower), expected, "{wider} | {narrower}");
        }
    }
}
