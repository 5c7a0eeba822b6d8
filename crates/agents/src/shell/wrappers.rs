//! Which program a command runs in the end: behind assignments, words of the language, and programs
//! that run others.

use model::limits;

use super::flow::Strict;
use super::reader::Word;
use super::{Simple, collect};

/// A program that runs the rest of its words as a command.
struct Wrapper {
    name: &'static str,
    /// Options that take the next word.
    valued: &'static [&'static str],
    /// Words of its own that come before the command.
    words: usize,
    /// Options with which it runs nothing.
    idle: &'static [&'static str],
}

const fn wrapper(name: &'static str, valued: &'static [&'static str]) -> Wrapper {
    Wrapper { name, valued, words: 0, idle: &[] }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("sudo", &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user"]),
    wrapper("doas", &["-u", "-C"]),
    wrapper("env", &["-u", "-C", "--unset", "--chdir"]),
    wrapper("time", &["-f", "-o", "--format", "--output"]),
    wrapper("nohup", &[]),
    wrapper("setsid", &[]),
    wrapper("builtin", &[]),
    wrapper("exec", &["-a"]),
    wrapper("nice", &["-n", "--adjustment"]),
    wrapper("ionice", &["-c", "-n"]),
    wrapper("stdbuf", &["-i", "-o", "-e"]),
    wrapper("unbuffer", &[]),
    wrapper("xvfb-run", &["-n", "-s", "-e", "-f", "-w", "--server-num", "--server-args"]),
    wrapper("caffeinate", &["-t", "-w"]),
    wrapper(
        "xargs",
        &["-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s", "--max-args", "--max-procs"],
    ),
    Wrapper { idle: &["-v", "-V"], ..wrapper("command", &[]) },
    Wrapper { words: 1, ..wrapper("timeout", &["-k", "-s", "--kill-after", "--signal"]) },
    Wrapper { words: 1, ..wrapper("gtimeout", &["-k", "-s", "--kill-after", "--signal"]) },
    Wrapper { words: 1, ..wrapper("taskset", &[]) },
    Wrapper { words: 1, ..wrapper("chrt", &[]) },
];

/// Programs that run the script in `-c`.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "su"];
/// Options of these shells that take the next word.
const SHELL_VALUED: &[&str] = &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];

/// Shell keywords that a command may follow.
const BEFORE: &[&str] =
    &["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "coproc"];
/// Shell keywords whose line is not a command.
const NO_COMMAND: &[&str] = &["for", "case", "select", "fi", "done", "esac"];

/// Adds the command that these words form, or the commands of the script that they run.
pub(super) fn resolve(words: Vec<Word>, depth: usize, found: &mut Vec<Simple>) {
    let Some(start) = start(&words) else { return };
    let words: Vec<String> = words.into_iter().skip(start).map(|word| word.text).collect();
    let at = unwrapped(&words);
    let Some((program, args)) = words.get(at..).and_then(<[String]>::split_first) else { return };
    let program = name(program);
    if depth < limits::SHELL_DEPTH_MAX {
        if let Some((script, strict)) = script(program, args) {
            return collect(script, depth + 1, strict, found);
        }
        if program == "eval" {
            return collect(&args.join(" "), depth + 1, Strict::default(), found);
        }
    }
    if !program.is_empty() {
        found.push(Simple::new(program, args));
    }
}

/// Whether a word at the beginning of a command is a keyword of the shell.
pub(super) fn is_of_language(word: &Word) -> bool {
    let is_one_of = |list: &[&str]| list.iter().any(|known| word.is(known));
    is_one_of(BEFORE) || is_one_of(NO_COMMAND) || word.is("function")
}

/// Where the command begins behind words of the language and assignments.
fn start(words: &[Word]) -> Option<usize> {
    let mut at = 0;
    loop {
        let word = words.get(at)?;
        let is_one_of = |list: &[&str]| list.iter().any(|known| word.is(known));
        if is_one_of(NO_COMMAND) {
            return None;
        }
        at += match () {
            () if word.is("function") => 2,
            () if is_one_of(BEFORE) || word.assigns() => 1,
            () => return Some(at),
        };
    }
}

/// The index of the command that is run in the end. A wrapper with nothing to run is itself that
/// command.
fn unwrapped(words: &[String]) -> usize {
    let mut at = 0;
    while let Some(next) = words.get(at).and_then(|word| behind_wrapper(name(word), words, at)) {
        at = next;
    }
    at
}

fn behind_wrapper(name: &str, words: &[String], at: usize) -> Option<usize> {
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    let mut next = at + 1;
    while let Some(option) = words.get(next).filter(|word| word.len() > 1 && word.starts_with('-'))
    {
        if wrapper.idle.contains(&option.as_str()) {
            return None;
        }
        next += if wrapper.valued.contains(&option.as_str()) { 2 } else { 1 };
        if option == "--" {
            break;
        }
    }
    next += wrapper.words;
    while words.get(next).is_some_and(|word| is_assignment(word)) {
        next += 1;
    }
    (next < words.len()).then_some(next)
}

/// Whether a word behind `env` or `sudo` sets a variable.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The script in the arguments of a shell (`bash -c`), and the options that it runs with.
fn script<'a>(program: &str, args: &'a [String]) -> Option<(&'a str, Strict)> {
    if !SHELLS.contains(&program) {
        return None;
    }
    let mut strict = Strict::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        strict.read(arg);
        if SHELL_VALUED.contains(&arg.as_str()) || arg.starts_with('-') && arg.ends_with('o') {
            args.next().into_iter().for_each(|value| strict.read(value));
        } else if arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('c') {
            return args.next().map(|script| (script.as_str(), strict));
        } else if !arg.starts_with(['-', '+']) && program != "su" {
            return None;
        }
    }
    None
}

/// The name of a program without its folder.
fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
