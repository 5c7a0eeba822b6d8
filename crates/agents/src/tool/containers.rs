//! Commands that run a test or a build somewhere else: in a container, on another machine or in a prepared environment.

use super::runs;
use crate::shell::{self, Simple};

/// Where the command inside is.
#[derive(Clone, Copy)]
enum Inside {
    /// Behind this many words of the outer program, such as the container's name.
    Behind(usize),
    /// Behind `--`.
    Dashes,
    /// Behind the words of the outer program as the text of a script, as with ssh.
    Script(usize),
    /// Behind one of these options, as words.
    Option(&'static [&'static str]),
    /// In the word behind one of these options, as a script.
    OptionScript(&'static [&'static str]),
}

/// Programs, the words that have to follow, the options that take a value, and the place of the command.
type Row = (&'static [&'static str], &'static [&'static str], &'static [&'static str], Inside);

const ENGINES: &[&str] = &["docker", "podman", "nerdctl"];
const COMPOSERS: &[&str] = &["docker-compose", "podman-compose"];
const EXEC: &[&str] =
    &["-e", "--env", "--env-file", "-u", "--user", "-w", "--workdir", "--detach-keys"];
const RUN: &[&str] = &[
    "-e",
    "--env",
    "--env-file",
    "-u",
    "--user",
    "-w",
    "--workdir",
    "-v",
    "--volume",
    "--volumes-from",
    "--mount",
    "--name",
    "--network",
    "--net",
    "-p",
    "--publish",
    "-h",
    "--hostname",
    "-l",
    "--label",
    "--platform",
    "-m",
    "--memory",
    "--cpus",
    "--add-host",
    "--device",
    "--gpus",
    "--ipc",
    "--pull",
    "--shm-size",
    "--tmpfs",
    "--ulimit",
    "--link",
    "--security-opt",
    "--cap-add",
    "--userns",
];
const COMPOSE: &[&str] = &[
    "-f",
    "--file",
    "-p",
    "--project-name",
    "--project-directory",
    "--profile",
    "--env-file",
    "-e",
    "--env",
    "-u",
    "--user",
    "-w",
    "--workdir",
    "--index",
    "-v",
    "--volume",
    "--name",
    "-l",
    "--label",
];
const SSH: &[&str] =
    &["-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-S", "-W"];
const DEVCONTAINER: &[&str] = &[
    "--workspace-folder",
    "--container-id",
    "--id-label",
    "--config",
    "--override-config",
    "--remote-env",
    "--docker-path",
];

const ROWS: &[Row] = &[
    (ENGINES, &["exec"], EXEC, Inside::Behind(1)),
    (ENGINES, &["run"], RUN, Inside::Behind(1)),
    (ENGINES, &["container", "exec"], EXEC, Inside::Behind(1)),
    (ENGINES, &["container", "run"], RUN, Inside::Behind(1)),
    (ENGINES, &["compose", "exec"], COMPOSE, Inside::Behind(1)),
    (ENGINES, &["compose", "run"], COMPOSE, Inside::Behind(1)),
    (COMPOSERS, &["exec"], COMPOSE, Inside::Behind(1)),
    (COMPOSERS, &["run"], COMPOSE, Inside::Behind(1)),
    (&["kubectl", "oc"], &["exec"], &["-n", "--namespace", "--context"], Inside::Dashes),
    (&["ssh"], &[], SSH, Inside::Script(1)),
    (&["vagrant"], &["ssh"], &[], Inside::OptionScript(&["-c", "--command"])),
    (&["devcontainer"], &["exec"], DEVCONTAINER, Inside::Behind(0)),
    (&["distrobox"], &["enter"], &["-n", "--name"], Inside::Dashes),
    (&["toolbox"], &["run"], &["-c", "--container"], Inside::Behind(0)),
    (&["ddev"], &["exec"], &["-s", "--service", "-d", "--dir"], Inside::Behind(0)),
    (&["sail"], &[], &[], Inside::Behind(0)),
    (&["nix"], &["develop"], &[], Inside::Option(&["-c", "--command"])),
    (&["nix"], &["shell"], &[], Inside::Option(&["-c", "--command"])),
    (&["nix-shell"], &[], &[], Inside::OptionScript(&["--run", "--command"])),
    (&["mise"], &["exec"], &["-C", "--cd", "-E", "--env"], Inside::Dashes),
    (&["mise"], &["x"], &["-C", "--cd", "-E", "--env"], Inside::Dashes),
    (&["asdf", "rbenv", "pyenv", "nodenv", "devbox"], &["exec"], &[], Inside::Behind(0)),
    (&["devbox"], &["run"], &[], Inside::Dashes),
    (&["direnv"], &["exec"], &[], Inside::Behind(1)),
    (&["dotenv"], &["run"], &["-f", "--file", "-e"], Inside::Behind(0)),
    (&["dotenv", "dotenvx"], &[], &["-f", "--file", "-e", "-c", "-v"], Inside::Dashes),
    (&["dotenv"], &[], &["-f", "--file", "-e", "-c", "-v"], Inside::Behind(0)),
    (&["doppler", "op"], &["run"], &[], Inside::Dashes),
    (
        &["conda", "mamba", "micromamba"],
        &["run"],
        &["-n", "--name", "-p", "--prefix"],
        Inside::Behind(0),
    ),
    (&["pixi"], &["run"], &["-e", "--environment", "--manifest-path"], Inside::Behind(0)),
];

/// How many of these programs inside each other are unwrapped.
const DEPTH_MAX: usize = 3;

/// The commands of a line. If a program runs a test or a build somewhere else, the commands inside are listed in its place.
pub(super) fn commands(line: &str) -> Vec<Simple> {
    opened(line, DEPTH_MAX)
}

fn opened(line: &str, depth: usize) -> Vec<Simple> {
    let mut found = Vec::new();
    for command in shell::commands(line) {
        let inside = (depth > 0).then(|| inside(&command)).flatten();
        let inside = inside.map(|line| opened(&line, depth - 1));
        match inside.filter(|inside| runs::of(inside).is_some()) {
            Some(inside) => found.extend(inside.into_iter().map(|one| one.within(&command))),
            None => found.push(command),
        }
    }
    found
}

/// The line that a command runs somewhere else, if it does.
fn inside(command: &Simple) -> Option<String> {
    let mut rows = ROWS.iter().filter(|(programs, ..)| programs.contains(&&*command.program));
    rows.find_map(|row| inside_row(row, &command.args))
}

fn inside_row((_, path, valued, place): &Row, args: &[String]) -> Option<String> {
    // Quoted, so that the shell language in these words is not read.
    let words = |rest: &[String]| {
        let quoted = rest.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
        (!rest.is_empty()).then(|| quoted.collect::<Vec<_>>().join(" "))
    };
    let option = |options: &[&str]| {
        let at = args.iter().position(|arg| options.contains(&arg.as_str()))?;
        args.get(at + 1..)
    };
    let rest = behind(args, path, valued)?;
    match place {
        Inside::Behind(own) => words(after_words(rest, valued, *own)?),
        Inside::Script(own) => Some(after_words(rest, valued, *own)?.join(" ")),
        Inside::Dashes => {
            let at = rest.iter().position(|arg| arg == "--")?;
            words(&rest[at + 1..])
        }
        Inside::Option(options) => words(option(options)?),
        Inside::OptionScript(options) => option(options)?.first().cloned(),
    }
}

/// The arguments behind these words of the outer program.
fn behind<'a>(args: &'a [String], path: &[&str], valued: &[&str]) -> Option<&'a [String]> {
    path.iter().try_fold(args, |args, word| {
        let rest = after_words(args, valued, 0)?;
        (rest.first()? == word).then(|| &rest[1..])
    })
}

/// The arguments behind options and this many words.
fn after_words<'a>(args: &'a [String], valued: &[&str], words: usize) -> Option<&'a [String]> {
    let (mut at, mut words) = (0, words);
    loop {
        let arg = args.get(at)?;
        match () {
            () if valued.contains(&arg.as_str()) => at += 2,
            () if arg.starts_with('-') => at += 1,
            () if words > 0 => (at, words) = (at + 1, words - 1),
            () => return args.get(at..),
        }
    }
}
