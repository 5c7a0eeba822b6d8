//! Whether a run that worked covers one that failed: only then is the failure fixed. A run without a selection covers every
//! selection of it: `python -m unittest` covers `python -m unittest tests.test_a`, and a run of other tests does not.

use agents::shell;

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
/// Beginnings of such options that carry a value.
const SELECT_NOTHING_VALUED: &[&str] = &[
    "--color=",
    "--durations=",
    "--maxfail=",
    "--reporter=",
    "--show-output=",
    "--tb=",
    "--test-threads=",
];

/// Whether a run executes all that another run of the same program executed. What a run selects (names, files,
/// packages, features) has to be selected by the other one too, or be a directory or module around it.
pub(super) fn covers(program: &str, wider: &str, narrower: &str) -> bool {
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

/// The arguments that select something, of the first command in a line that is this program or runs it, as
/// `python -m pytest` does.
fn selected(program: &str, line: &str) -> Option<Vec<String>> {
    let args = shell::commands(line).into_iter().find_map(|mut command| {
        if command.program == program {
            return Some(command.args);
        }
        let at = command.args.iter().position(|arg| arg == program)?;
        Some(command.args.split_off(at + 1))
    })?;
    let selects = |arg: &String| {
        !SELECT_NOTHING.contains(&arg.as_str())
            && !SELECT_NOTHING_VALUED.iter().any(|option| arg.starts_with(option))
    };
    Some(args.into_iter().filter(selects).collect())
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
            ("node", "node --test | tail -5", "node --test 2>&1 | tail -20", true),
        ];
        for (program, wider, narrower, expected) in table {
            assert_eq!(covers(program, wider, narrower), expected, "{wider} | {narrower}");
        }
    }
}
