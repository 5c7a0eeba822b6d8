//! The command line of `cargo xtask fuzz`.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::corpus;
use crate::target::FuzzTarget;
use crate::targets;

pub(crate) const HELP: &str = "\
usage: cargo xtask fuzz [TARGET...] [OPTIONS]

Feeds made-up and damaged input to the parsers and to the real binary, and checks after each case what
has to hold whatever comes: no panic, no hang, no leaked secret, no lost record. All targets take turns.

  --list              the targets, and what each checks
  --seconds N         time for all targets together (60)
  --seed S            begin from this seed; without it a random one is used and printed
  --case S:N          run one case again: seed S, number N
  --case S:A-N        run cases A to N again, for a failure that needs those before it
  --replay FILE       feed this file to the target it is named after, or to the one TARGET given

Every case follows from target, seed and number alone. A failed one is written to target/fuzz and
printed with the command that runs it again. The exit code is 1 if a case failed.

  cargo xtask fuzz                                    a minute of everything
  cargo xtask fuzz database spool --seconds 600       ten minutes of two targets
  cargo xtask fuzz secrets --case 77:1234             one failure again
  cargo xtask fuzz --seconds 3600                     a night's work";

/// Time for all targets together, unless the command line says otherwise.
const SECONDS: u64 = 60;

#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Help,
    List,
    /// Runs as many cases as there is time for.
    Run {
        time: Duration,
        seed: u64,
    },
    /// Runs these cases of one target, the last included.
    Cases {
        seed: u64,
        from: u64,
        to: u64,
    },
    /// Feeds a file to a target.
    Replay(PathBuf),
    /// Runs as the worker process that the supervisor starts for each target.
    Work {
        seed: u64,
        from: u64,
        until: Option<u64>,
        time: Duration,
    },
}

pub(crate) struct FuzzOptions {
    pub(crate) command: Command,
    pub(crate) targets: Vec<&'static FuzzTarget>,
    pub(crate) binary: Option<PathBuf>,
    /// Where failed inputs are written.
    pub(crate) out: PathBuf,
}

/// The options of the command line before they are checked.
#[derive(Default)]
struct Given {
    names: Vec<String>,
    seconds: Option<f64>,
    seed: Option<u64>,
    case: Option<(u64, u64, u64)>,
    replay: Option<PathBuf>,
    binary: Option<PathBuf>,
    out: Option<PathBuf>,
    worker: bool,
    list: bool,
    from: u64,
    until: Option<u64>,
}

impl FuzzOptions {
    pub(crate) fn parse(args: &[String]) -> Result<FuzzOptions, String> {
        if args.iter().any(|arg| matches!(arg.as_str(), "--help" | "-h")) {
            return Ok(FuzzOptions::of(Command::Help, Vec::new(), Given::default()));
        }
        let given = read(args)?;
        let mut chosen = Vec::new();
        for name in &given.names {
            chosen.push(FuzzTarget::named(name).ok_or_else(|| unknown(name))?);
        }
        let command = command(&given, &mut chosen)?;
        Ok(FuzzOptions::of(command, chosen, given))
    }

    fn of(command: Command, targets: Vec<&'static FuzzTarget>, given: Given) -> FuzzOptions {
        let out = given.out.unwrap_or_else(|| corpus::root().join("target/fuzz"));
        FuzzOptions { command, targets, binary: given.binary, out }
    }
}

fn command(given: &Given, chosen: &mut Vec<&'static FuzzTarget>) -> Result<Command, String> {
    let time = match given.seconds {
        None => Duration::from_secs(SECONDS),
        Some(seconds) => Duration::try_from_secs_f64(seconds)
            .map_err(|_| format!("--seconds {seconds} is no time"))?,
    };
    if given.list {
        return Ok(Command::List);
    }
    if let Some(file) = &given.replay {
        if chosen.is_empty() {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let target = targets::all().chain(targets::drills()).find(|target| {
                name.strip_prefix(target.name).is_some_and(|rest| rest.starts_with('-'))
            });
            chosen.push(target.ok_or("give the target of this file beside --replay")?);
        }
        one(chosen, "--replay")?;
        return Ok(Command::Replay(file.clone()));
    }
    if let Some((seed, from, to)) = given.case {
        one(chosen, "--case")?;
        return Ok(Command::Cases { seed, from, to });
    }
    let seed = given.seed.unwrap_or_else(random_seed);
    if given.worker {
        one(chosen, "--worker")?;
        return Ok(Command::Work { seed, from: given.from, until: given.until, time });
    }
    if chosen.is_empty() {
        chosen.extend(targets::all());
    }
    Ok(Command::Run { time, seed })
}

fn one(chosen: &[&'static FuzzTarget], flag: &str) -> Result<(), String> {
    if chosen.len() == 1 { Ok(()) } else { Err(format!("{flag} needs exactly one target")) }
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = targets::all().map(|target| target.name).collect();
    format!("no target is called '{name}'; there are {}", names.join(", "))
}

/// A random seed that is short enough to type.
fn random_seed() -> u64 {
    RandomState::new().hash_one("seed") % 1_000_000_000
}

fn read(args: &[String]) -> Result<Given, String> {
    let mut given = Given::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut next = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--list" => given.list = true,
            "--worker" => given.worker = true,
            "--seconds" => given.seconds = Some(number(arg, next()?)?),
            "--seed" => given.seed = Some(number(arg, next()?)?),
            "--from" => given.from = number(arg, next()?)?,
            "--until" => given.until = Some(number(arg, next()?)?),
            "--case" => given.case = Some(case(next()?)?),
            "--replay" => given.replay = Some(next()?.into()),
            "--binary" => given.binary = Some(absolute(next()?)?),
            "--out" => given.out = Some(next()?.into()),
            flag if flag.starts_with('-') => return Err(format!("there is no option '{flag}'")),
            name => given.names.push(name.to_owned()),
        }
    }
    Ok(given)
}

/// Makes a path absolute, because the binary is started from other directories.
fn absolute(path: &str) -> Result<PathBuf, String> {
    std::fs::canonicalize(path).map_err(|error| format!("--binary {path}: {error}"))
}

fn number<T: std::str::FromStr>(flag: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{flag} {text} is no number"))
}

/// `SEED:N` or `SEED:A-N`.
fn case(text: &str) -> Result<(u64, u64, u64), String> {
    let bad = || format!("--case {text} is not SEED:NUMBER or SEED:FIRST-LAST");
    let (seed, numbers) = text.split_once(':').ok_or_else(bad)?;
    let (from, to) = numbers.split_once('-').unwrap_or((numbers, numbers));
    match (seed.parse(), from.parse(), to.parse()) {
        (Ok(seed), Ok(from), Ok(to)) if from <= to => Ok((seed, from, to)),
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<FuzzOptions, String> {
        FuzzOptions::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn command(line: &str) -> Command {
        parsed(line).map_or_else(|error| panic!("{error}"), |options| options.command)
    }

    #[test]
    fn without_targets_all_of_them_run_for_a_minute() {
        let options = parsed("--seed 5").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(options.command, Command::Run { time: Duration::from_secs(60), seed: 5 });
        assert_eq!(options.targets.len(), targets::all().count());
    }

    #[test]
    fn cases_and_files_are_read() {
        assert_eq!(command("secrets --case 7:9"), Command::Cases { seed: 7, from: 9, to: 9 });
        assert_eq!(command("secrets --case 7:1-9"), Command::Cases { seed: 7, from: 1, to: 9 });
        assert_eq!(command("--replay x/secrets-7-9"), Command::Replay("x/secrets-7-9".into()));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, what) in [
            ("nothing", "no target is called 'nothing'"),
            ("--case 1:2", "--case needs exactly one target"),
            ("secrets --case 2", "is not SEED:NUMBER"),
            ("secrets --case 2:5-3", "is not SEED:NUMBER"),
            ("--seed x", "--seed x is no number"),
            ("--seconds -1", "is no time"),
            ("--frob", "there is no option '--frob'"),
            ("--replay unnamed", "give the target"),
        ] {
            let error = parsed(line).err().unwrap_or_default();
            assert!(error.contains(what), "{line}: {error}");
        }
    }
}
