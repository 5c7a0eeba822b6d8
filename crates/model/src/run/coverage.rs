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
/// Prefixes of such options that carry a value.
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
/// (names, files, packages, features) has to be selected by the narrower one too, or be a directory or module around
/// it.
pub fn covers(program: &str, wider: &str, narrower: &str) -> bool {
    if wider == narrower {
        return true;
    }
    let (Some(wider), Some(narrower)) = (selected(program, wider), selected(program, narrower))
    else {
        return false;
    };
    let is_around = |around: &String, part: &String| {
        contains(around, part) || (program == "unittest" && is_module_around(around, part))
    };
    wider.iter().all(|around| narrower.iter().any(|part| is_around(around, part)))
}

/// Whether two runs of a program select different tests or packages: both name some, and no name of one is a part of
/// a name of the other. Options do not count, so a run with another option may be the fix of a failed one.
pub fn is_apart(program: &str, subcommand: &str, a: &str, b: &str) -> bool {
    let names = |line: &str| -> Vec<String> {
        let mut names = selected(program, line).unwrap_or_default();
        names.retain(|name| name != subcommand && !name.starts_with('-') && !name.contains('='));
        names
    };
    let (a, b) = (names(a), names(b));
    let meets = |one: &String| b.iter().any(|other| contains(one, other) || contains(other, one));
    !a.is_empty() && !b.is_empty() && !a.iter().any(meets)
}

/// Options that say where a run works and not what it selects. They take the next word.
const WHERE: &[&str] = &["--prefix", "-C", "--cwd", "--dir", "--directory", "--manifest-path"];
/// Programs that run the scripts of a package: `npm run test` is `npm test`.
const RUN_SCRIPTS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// The selecting arguments of the first command in a line that is this program or runs it, as `python -m pytest`
/// does.
fn selected(program: &str, line: &str) -> Option<Vec<String>> {
    let is_program = |word: &&str| {
        let word = word.trim_start_matches('(');
        word.rsplit('/').next() == Some(program)
    };
    let ends = |word: &str| {
        matches!(word, "|" | "||" | "&&" | ";" | "&" | "|&") || word.contains(['>', '<'])
    };
    let mut words = line.split_whitespace().skip_while(|word| !is_program(word));
    words.next()?;
    let mut args: Vec<String> = Vec::new();
    let mut skips = false;
    for word in words {
        if ends(word) {
            break;
        }
        let arg = word.trim_end_matches([';', ')']).trim_matches(['"', '\'']);
        let says_where = WHERE.iter().any(|option| arg.starts_with(&format!("{option}=")));
        let runs_script = RUN_SCRIPTS.contains(&program) && matches!(arg, "run" | "run-script");
        let is_value = std::mem::replace(&mut skips, WHERE.contains(&arg));
        if !is_value && !skips && !says_where && !runs_script {
            args.push(arg.to_owned());
        }
        if word.ends_with([';', ')']) {
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
    fn runs_are_apart_if_they_name_different_tests_only() {
        for (program, subcommand, a, b, expected) in [
            ("pytest", "", "pytest tests/a.py", "pytest tests/b.py", true),
            ("pytest", "", "pytest tests/a.py", "pytest tests/a.py::test_x", false),
            ("pytest", "", "pytest", "pytest tests/b.py", false),
            ("pytest", "", "pytest -x", "pytest --lf tests/b.py", false),
            ("cargo", "test", "cargo test -p web", "cargo test -p api", true),
            ("cargo", "test", "cargo test", "cargo test --features tls", false),
            ("make", "", "make CC=gcc", "make CC=clang", false),
        ] {
            assert_eq!(is_apart(program, subcommand, a, b), expected, "{a} | {b}");
            assert_eq!(is_apart(program, subcommand, b, a), expected, "{b} | {a}");
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
            ("node", "node --test | tail -5", "node --test 2>&1 | tail -20", true),
        ];
        for (program, wider, narrower, expected) in table {
            assert_eq!(covers(program, wider, narrower), expected, "{wider} | {narrower}");
        }
    }
}
