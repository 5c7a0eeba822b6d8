//! Which commands run tests or build something, as a table.

use crate::shell::Simple;

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunKind {
    Test,
    Build,
}

impl RunKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            RunKind::Test => "test",
            RunKind::Build => "build",
        }
    }
}

/// A run of tests or a build.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run<'a> {
    pub(super) kind: RunKind,
    pub(super) program: &'a str,
    pub(super) subcommand: Option<&'a str>,
}

impl Run<'_> {
    /// Whether the run checks how the code is written, not whether it works.
    pub(super) fn is_lint(&self) -> bool {
        model::run::is_lint(self.program, self.subcommand.unwrap_or_default())
    }
}

/// The sub-command under which cmake is recorded if it writes build files: it has none of its own.
pub(super) const CONFIGURE: &str = "configure";

/// Which words after the program make it a test run or a build.
enum Words {
    /// None: the program does nothing else.
    Any,
    /// No word, or any of these. Other targets alone do not match: they may do anything.
    NoneOr(&'static [&'static str]),
    /// The first.
    First(&'static [&'static str]),
    /// Any of them: each is a target.
    Targets(&'static [&'static str]),
    /// The first, or the one after `run`: a script of the package.
    Script(&'static [&'static str]),
}

/// The first row that matches counts. A `*` at the end of a word matches any ending, one at its beginning any beginning and
/// ending.
const ROWS: &[(RunKind, &[&str], Words)] = &[
    (
        RunKind::Test,
        &[
            "pytest",
            "py.test",
            "tox",
            "nox",
            "jest",
            "vitest",
            "mocha",
            "ava",
            "ctest",
            "rspec",
            "phpunit",
            "pest",
            "bats",
            "busted",
            "nose2",
            "unittest",
            "cargo-nextest",
            "gotestsum",
            "elm-test",
            "tap",
            "tape",
            "prove",
        ],
        Words::Any,
    ),
    (
        RunKind::Test,
        &["cargo"],
        Words::First(&["test", "t", "nextest", "llvm-cov", "tarpaulin", "mutants"]),
    ),
    (RunKind::Build, &["cargo"], Words::First(&["build", "b", "check", "c", "clippy", "rustc"])),
    (RunKind::Test, &["npm", "pnpm", "yarn", "bun"], Words::Script(&["test*", "t", "tst"])),
    (
        RunKind::Build,
        &["npm", "pnpm", "yarn", "bun"],
        Words::Script(&["build*", "compile*", "lint*", "typecheck*"]),
    ),
    (RunKind::Test, &["go"], Words::First(&["test"])),
    (RunKind::Build, &["go"], Words::First(&["build", "install", "vet"])),
    (
        RunKind::Test,
        &["make", "gmake", "just", "task", "ninja"],
        Words::Targets(&["test*", "check*"]),
    ),
    (
        RunKind::Build,
        &["make", "gmake", "ninja"],
        Words::NoneOr(&["all", "build*", "compile*", "release*", "debug*", "dist"]),
    ),
    (RunKind::Build, &["just", "task"], Words::Targets(&["build*"])),
    (
        RunKind::Test,
        &["mvn", "mvnw", "gradle", "gradlew"],
        Words::Targets(&["test*", "check", "verify", "integration-test", "connected*"]),
    ),
    (
        RunKind::Build,
        &["mvn", "mvnw", "gradle", "gradlew"],
        Words::Targets(&[
            "package",
            "compile*",
            "install",
            "build*",
            "assemble*",
            "classes",
            "jar",
            "bundle*",
            "lint*",
            "detekt*",
            "ktlint*",
            "spotlessCheck",
        ]),
    ),
    (RunKind::Test, &["xcodebuild"], Words::Targets(&["test", "test-without-building"])),
    (RunKind::Test, &["sbt", "sbtn"], Words::Targets(&["test*", "*/test"])),
    (RunKind::Build, &["sbt", "sbtn"], Words::Targets(&["compile", "*/compile"])),
    (RunKind::Test, &["dbt"], Words::First(&["test"])),
    (
        RunKind::Build,
        &["dbt"],
        Words::First(&["run", "build", "compile", "seed", "snapshot", "parse"]),
    ),
    (RunKind::Test, &["rebar3"], Words::First(&["eunit", "ct", "proper"])),
    (RunKind::Build, &["rebar3"], Words::First(&["compile", "xref", "dialyzer"])),
    (RunKind::Test, &["zig"], Words::Targets(&["test"])),
    (
        RunKind::Test,
        &[
            "dotnet",
            "bazel",
            "bazelisk",
            "swift",
            "mix",
            "deno",
            "flutter",
            "dart",
            "meson",
            "stack",
            "cabal",
            "rails",
            "rake",
            "composer",
            "playwright",
            "forge",
            "buck2",
        ],
        Words::First(&["test*", "vstest", "spec"]),
    ),
    (
        RunKind::Build,
        &[
            "dotnet", "bazel", "bazelisk", "swift", "mix", "flutter", "meson", "stack", "cabal",
            "zig", "forge", "buck2", "docker", "podman", "buildah", "vite", "next", "nuxt", "nx",
            "turbo", "ng",
        ],
        Words::First(&["build*", "compile", "publish", "bake"]),
    ),
    (RunKind::Test, &["cypress"], Words::First(&["run"])),
    (RunKind::Test, &["manage.py", "artisan"], Words::First(&["test"])),
    (RunKind::Test, &["nx", "turbo", "ng"], Words::First(&["test*"])),
    (
        RunKind::Build,
        &[
            "tsc",
            "vue-tsc",
            "webpack",
            "rollup",
            "esbuild",
            "rustc",
            "javac",
            "gcc",
            "g++",
            "cc",
            "c++",
            "clang",
            "clang++",
            "xcodebuild",
            "msbuild",
            "eslint",
            "mypy",
            "rubocop",
            "kotlinc",
        ],
        Words::Any,
    ),
    (RunKind::Build, &["ruff"], Words::First(&["check"])),
    (RunKind::Build, &["biome"], Words::First(&["check", "lint", "ci"])),
    (RunKind::Build, &["deno"], Words::First(&["check", "lint"])),
    (RunKind::Build, &["mix"], Words::First(&["credo", "dialyzer"])),
    (RunKind::Build, &["flutter", "dart"], Words::First(&["analyze"])),
    (RunKind::Build, &["sqlfluff"], Words::First(&["lint"])),
    (RunKind::Build, &["golangci-lint", "pre-commit"], Words::First(&["run"])),
    (RunKind::Build, &["swiftlint"], Words::NoneOr(&["lint"])),
    (RunKind::Build, &["ktlint"], Words::Any),
];

/// Options, before the words that decide, that take the next word.
const VALUED: &[&str] = &[
    "-C",
    "-f",
    "-F",
    "-w",
    "-Z",
    "--prefix",
    "--cwd",
    "--dir",
    "--filter",
    "--workspace",
    "--file",
    "--directory",
    "--manifest-path",
    "--config",
    "--color",
    "--target-dir",
    "-pl",
    "--projects",
    "-scheme",
    "-destination",
    "-configuration",
    "--profiles-dir",
    "--project-dir",
];

/// Options with which a program only talks about itself.
const TALK: &[&str] = &["--help", "--version", "-V", "help"];

/// How many programs that run another one (`npx`, `uv run`) are unwrapped.
const RUNNERS_MAX: usize = 4;

/// The test run among the commands, or else the build, with its index.
pub(super) fn of(commands: &[Simple]) -> Option<(usize, Run<'_>)> {
    let mut build = None;
    for (place, command) in commands.iter().enumerate() {
        let Some(run) = of_command(command) else { continue };
        match run.kind {
            RunKind::Test => return Some((place, run)),
            // In `cmake -B out && cmake --build out` the second is the build.
            RunKind::Build
                if build.as_ref().is_none_or(|(_, known): &(usize, Run<'_>)| {
                    known.subcommand == Some(CONFIGURE)
                }) =>
            {
                build = Some((place, run));
            }
            RunKind::Build => {}
        }
    }
    build
}

/// The program and the sub-command of the test run or build in a command line; the sub-command may be empty.
pub fn run_kind(line: &str) -> Option<(String, String)> {
    let commands = super::containers::commands(line);
    let (_, run) = of(&commands)?;
    Some((run.program.to_owned(), run.subcommand.unwrap_or_default().to_owned()))
}

/// The run that a command is, if it is one.
pub(super) fn of_command(command: &Simple) -> Option<Run<'_>> {
    run(&command.program, &command.args)
}

/// Whether a command runs a linter, or a target or script of this name: `make lint`, `npm run lint:js`.
pub(super) fn is_lint(command: &Simple) -> bool {
    of_command(command)
        .map_or_else(|| command.args.iter().any(|arg| arg.starts_with("lint")), |run| run.is_lint())
}

/// Whether the first argument of a command makes it only print its help or its version.
pub(super) fn only_talks(command: &Simple) -> bool {
    talks(&command.program, &command.args)
}

fn talks(program: &str, args: &[String]) -> bool {
    // `ctest -V` and `mvn -V` run as well.
    args.first().is_some_and(|arg| {
        TALK.contains(&arg.as_str())
            && !(arg == "-V" && matches!(program, "ctest" | "mvn" | "mvnw"))
    })
}

fn run<'a>(program: &'a str, args: &'a [String]) -> Option<Run<'a>> {
    if talks(program, args) {
        return None;
    }
    let (mut program, mut args) = (program, args);
    for _ in 0..RUNNERS_MAX {
        if let Some(run) = known(program, args) {
            return Some(run);
        }
        (program, args) = behind_runner(program, args)?;
    }
    None
}

fn known<'a>(program: &'a str, args: &'a [String]) -> Option<Run<'a>> {
    // Some programs have their sub-command elsewhere: `cmake --build`, `node --test`,
    // `docker compose build`.
    if program == "node" {
        let tests = args.iter().take_while(|arg| arg.starts_with('-')).any(|arg| arg == "--test");
        return tests.then_some(Run { kind: RunKind::Test, program, subcommand: None });
    }
    if program == "cmake" {
        let builds = args.iter().any(|arg| arg == "--build");
        let subcommand = (!builds).then_some(CONFIGURE);
        let is_run = builds || configures(args);
        return is_run.then_some(Run { kind: RunKind::Build, program, subcommand });
    }
    let words = words(args);
    let words = match words.as_slice() {
        [first, rest @ ..] if program == "docker" && ["compose", "buildx"].contains(first) => rest,
        words => words,
    };
    let rows = ROWS.iter().filter(|(_, programs, _)| programs.contains(&program));
    rows.filter_map(|(kind, _, deciding)| {
        let subcommand = decides(deciding, words)?;
        Some(Run { kind: *kind, program, subcommand })
    })
    .next()
}

/// Whether cmake with these arguments writes build files, and does not run a script or a tool of its own.
fn configures(args: &[String]) -> bool {
    const OTHER: &[&str] = &["-E", "-P", "-L", "-N", "--install", "--open", "--workflow"];
    let writes = |arg: &String| {
        ["-S", "-B", "-D", "-G", "--preset"].iter().any(|option| arg.starts_with(option))
            || !arg.starts_with('-')
    };
    args.iter().any(writes) && !args.iter().any(|arg| OTHER.contains(&arg.as_str()))
}

/// The word that makes the row match; `Some(None)` if a row matches without a word, `None` if it does not match.
fn decides<'a>(deciding: &Words, words: &[&'a str]) -> Option<Option<&'a str>> {
    let found = match deciding {
        Words::Any => return Some(None),
        Words::NoneOr(_) if words.iter().all(|word| is_number(word)) => return Some(None),
        Words::First(list) => words.iter().take(1).find(|word| fits(word, list)),
        Words::Targets(list) | Words::NoneOr(list) => words.iter().find(|word| fits(word, list)),
        Words::Script(list) => {
            let scripts = match words {
                ["run" | "run-script", rest @ ..] => rest,
                ["workspace", _, "run", rest @ ..] | ["workspace", _, rest @ ..] => rest,
                words => words,
            };
            scripts.iter().take(1).find(|word| fits(word, list))
        }
    };
    found.map(|word| Some(*word))
}

/// Whether a word is the value of an option such as `-j`, and not a target.
fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word is in the list; of `:app:test` the last part counts too.
fn fits(word: &str, list: &[&str]) -> bool {
    let last = word.rsplit(':').next().unwrap_or(word);
    list.iter().any(|known| match known.strip_suffix('*') {
        _ if known.starts_with('*') => word.contains(&known[1..]),
        Some(start) => word.starts_with(start) || last.starts_with(start),
        None => word == *known || last == *known,
    })
}

/// The arguments without options and their values, up to `--`.
fn words(args: &[String]) -> Vec<&str> {
    let mut words = Vec::new();
    let mut args = args.iter().map(String::as_str).take_while(|arg| *arg != "--");
    while let Some(arg) = args.next() {
        if VALUED.contains(&arg) {
            args.next();
        } else if !arg.starts_with(['-', '+']) && !arg.contains('=') {
            words.push(arg);
        }
    }
    words
}

/// The program that a command finally runs, with its arguments: `python` for `uv run python a.py`.
pub(super) fn own_command(command: &Simple) -> (&str, &[String]) {
    let (mut program, mut args) = (command.program.as_str(), command.args.as_slice());
    for _ in 0..RUNNERS_MAX {
        // `python a.py` and `npm run x` report failures themselves.
        if matches!(program, "python" | "python3" | "py" | "npm" | "pnpm" | "yarn" | "bun") {
            break;
        }
        let Some(behind) = behind_runner(program, args) else { break };
        (program, args) = behind;
    }
    (program, args)
}

/// The command that another one runs: `npx jest`, `uv run pytest`, `python -m pytest`.
fn behind_runner<'a>(program: &str, args: &'a [String]) -> Option<(&'a str, &'a [String])> {
    let first = args.iter().position(|arg| !arg.starts_with('-'))?;
    let rest = match program {
        "npx" | "bunx" | "pnpx" | "uvx" => &args[first..],
        "python" | "python3" | "py" => {
            let module = args.iter().position(|arg| arg == "-m").map(|at| at + 1);
            args.get(module.unwrap_or(first)..)?
        }
        "npm" | "pnpm" | "yarn" | "bun" if ["exec", "dlx", "x"].contains(&args[first].as_str()) => {
            &args[first + 1..]
        }
        "pnpm" | "yarn" => &args[first..],
        "uv" | "poetry" | "pipenv" | "pdm" | "hatch" | "rye" if args[first] == "run" => {
            &args[first + 1..]
        }
        "bundle" if args[first] == "exec" => &args[first + 1..],
        "php" => &args[first..],
        _ => return None,
    };
    let rest = rest.iter().position(|arg| !arg.starts_with('-')).and_then(|at| rest.get(at..))?;
    let (program, args) = rest.split_first()?;
    Some((program.rsplit('/').next().unwrap_or(program), args))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::containers::commands;

    /// Lines, and the kind, program and sub-command of their run.
    const LINES: &[(&str, &str)] = &[
        ("cargo test", "test cargo test"),
        ("cargo nextest run -p x", "test cargo nextest"),
        ("cargo +nightly --locked t", "test cargo t"),
        ("cd web && npm test -- --watch=false", "test npm test"),
        ("npm run test:unit", "test npm test:unit"),
        ("npm --prefix web run test", "test npm test"),
        ("pnpm -C web t", "test pnpm t"),
        ("yarn jest src", "test jest"),
        ("yarn workspace web test", "test yarn test"),
        ("npx --yes vitest run", "test vitest"),
        ("uv run --frozen pytest -q", "test pytest"),
        ("poetry run python -m pytest tests", "test pytest"),
        ("python3 -m unittest", "test unittest"),
        ("python manage.py test app", "test manage.py test"),
        ("./.venv/bin/pytest -x", "test pytest"),
        ("go test ./...", "test go test"),
        ("make -C sub -j8 test", "test make test"),
        ("make check", "test make check"),
        ("./gradlew :app:testDebugUnitTest", "test gradlew :app:testDebugUnitTest"),
        ("mvn -q -pl core test", "test mvn test"),
        ("ctest --output-on-failure", "test ctest"),
        ("ctest -V", "test ctest"),
        ("dotnet test", "test dotnet test"),
        ("zig build test", "test zig test"),
        ("bundle exec rspec", "test rspec"),
        ("cargo build && cargo test", "test cargo test"),
        ("timeout 60 cargo test 2>&1 | tail -5", "test cargo test"),
        ("bash -lc 'cargo test'", "test cargo test"),
        ("cargo clippy --all-targets", "build cargo clippy"),
        ("make", "build make"),
        ("make -j 8", "build make"),
        ("make -j8 all", "build make all"),
        ("make clean", ""),
        ("make deploy", ""),
        ("npm run build", "build npm build"),
        ("npx tsc --noEmit", "build tsc"),
        ("go build ./...", "build go build"),
        ("mvn package", "build mvn package"),
        ("gradle build", "build gradle build"),
        ("docker build -t x .", "build docker build"),
        ("docker compose -f dev.yml build web", "build docker build"),
        ("cmake --build out", "build cmake"),
        ("node --test --test-reporter=spec", "test node"),
        ("node server.js --test", ""),
        ("npx eslint src", "build eslint"),
        ("uvx ruff check .", "build ruff check"),
        ("ruff format .", ""),
        ("npm run lint", "build npm lint"),
        ("cargo run", ""),
        ("cargo --version", ""),
        ("pytest --help", ""),
        ("npm install test-utils", ""),
        ("npm run dev", ""),
        ("git commit -m 'cargo test'", ""),
        ("echo cargo test", ""),
        ("ls tests", ""),
        ("just --list", ""),
        ("docker run x", ""),
        ("cmake -S . -B out", "build cmake configure"),
        ("cmake ..", "build cmake configure"),
        ("cmake -B out && cmake --build out", "build cmake"),
        ("cmake -E copy a b", ""),
        ("cmake --install out", ""),
        ("xcodebuild test -scheme App", "test xcodebuild test"),
        ("xcodebuild -scheme test build", "build xcodebuild"),
        ("sbt core/test", "test sbt core/test"),
        ("sbt clean compile", "build sbt compile"),
        ("dbt test --select marts", "test dbt test"),
        ("dbt --profiles-dir . run", "build dbt run"),
        ("dbt docs generate", ""),
        ("rebar3 eunit", "test rebar3 eunit"),
        ("bunx biome check src", "build biome check"),
        ("golangci-lint run ./...", "build golangci-lint run"),
        ("mix credo --strict", "build mix credo"),
        ("mix deps.get", ""),
        ("swiftlint", "build swiftlint"),
        ("./gradlew lintDebug", "build gradlew lintDebug"),
        ("python script.py", ""),
        ("bundle exec rubocop", "build rubocop"),
        ("docker compose exec -T web bundle exec rspec spec/a_spec.rb", "test rspec"),
        ("docker compose -f ci.yml run --rm -e CI=1 app pytest -q | tail -3", "test pytest"),
        ("docker-compose run --rm app sh -c 'cd /app && npm test'", "test npm test"),
        ("docker exec -it -u app web bin/rails test", "test rails test"),
        ("docker run --rm -v $PWD:/w -w /w golang:1.23 go test ./...", "test go test"),
        ("podman exec web cargo build", "build cargo build"),
        ("kubectl -n ci exec pod/web -c app -- pytest -q", "test pytest"),
        ("ssh -p 22 host 'cd app && cargo test'", "test cargo test"),
        ("ssh host docker exec web pytest", "test pytest"),
        ("devcontainer exec --workspace-folder . npm test", "test npm test"),
        ("vagrant ssh -c 'cd /vagrant && bundle exec rspec'", "test rspec"),
        ("nix develop .#ci -c make test", "test make test"),
        ("nix-shell --run 'cargo test'", "test cargo test"),
        ("mise exec node@22 -- npm run build", "build npm build"),
        ("direnv exec . go test ./...", "test go test"),
        ("dotenv -f .env.test -- npx jest", "test jest"),
        ("sudo -u app xvfb-run -a npx cypress run", "test cypress run"),
        ("docker exec web cat test", ""),
        ("docker compose exec web sh", ""),
        ("docker compose run --rm test", ""),
        ("ssh host 'tail -f log'", ""),
        ("kubectl exec web -- ls", ""),
    ];

    /// @capture_test_and_build
    #[test]
    fn tests_and_builds_are_distinguished_from_other_commands() {
        for (line, expected) in LINES {
            let commands = commands(line);
            let told = of(&commands).map(|(_, run)| {
                let subcommand = run.subcommand.map(|word| format!(" {word}"));
                format!("{} {}{}", run.kind.word(), run.program, subcommand.unwrap_or_default())
            });
            assert_eq!(told.unwrap_or_default(), *expected, "{line}");
        }
    }

    /// @capture_test_and_build
    #[test]
    fn programs_of_php_are_behind_the_interpreter() {
        let run = |line: &str| of(&commands(line)).map(|(_, run)| run.program.to_owned());
        assert_eq!(run("php artisan test --filter Rss").as_deref(), Some("artisan"));
        assert_eq!(run("php vendor/bin/phpunit").as_deref(), Some("phpunit"));
        assert_eq!(run("php -r 'echo 1;'"), None);
    }
}
