//! `cargo xtask mutants CRATE`: changes the code of a crate in small ways and counts the changes that its own tests
//! notice. A change that no test notices names a missing case.
//!
//! By hand: a large crate takes hours. `--sample 100` tries about a hundred changes, spread evenly over the crate.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::process;
use crate::project::Project;

/// Percent of the changes that the tests of a crate have to notice.
const FLOORS: [(&str, f64); 9] = [
    ("git", 90.0),
    ("pattern", 90.0),
    ("text", 90.0),
    ("agents", 90.0),
    ("index", 90.0),
    ("meaning", 90.0),
    ("template", 90.0),
    ("contract", 70.0),
    ("runtime", 70.0),
];

pub(crate) fn run(project: &Project, flags: &[String]) -> Result<()> {
    let Some((name, rest)) = flags.split_first().filter(|(name, _)| !name.starts_with('-')) else {
        bail!(
            "'mutants' needs the name of a crate, such as 'git'; further flags go to cargo-mutants"
        );
    };
    // The program takes `--version` only behind its name as a verb of cargo.
    if !process::exists("cargo-mutants", "--help") {
        bail!("cargo-mutants is not installed; `cargo install cargo-mutants --locked` gets it");
    }
    let folder = project.target_dir()?.join("mutants").join(name);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let mut command = project.cargo();
    command.args(["mutants", "--package", name, "--test-package", name, "--output"]);
    command.arg(&folder);
    match rest {
        [flag, size, rest @ ..] if flag == "--sample" => {
            let size = size.parse().context("`--sample` needs a number of changes")?;
            let shards = shards(count(project, name)?, size)?;
            command.args(["--sharding", "round-robin", "--shard", &format!("0/{shards}")]);
            command.args(rest);
        }
        rest => drop(command.args(rest)),
    }
    // It ends with an error if a change was missed or a timeout was met; the counts tell that better.
    let status = command.status().context("cannot start cargo-mutants")?;
    let counts = MutantCounts::read(&folder.join("mutants.out/outcomes.json"))
        .with_context(|| format!("cargo-mutants ended with {status} and left no counts"))?;
    let floor = FLOORS.iter().find(|(of, _)| of == name).map_or(0.0, |(_, floor)| *floor);
    println!("{name}: {counts}; the floor is {floor:.0} %");
    println!("missed ones: {}", folder.join("mutants.out/missed.txt").display());
    if counts.share() < floor {
        bail!("the tests of '{name}' miss too many changes");
    }
    Ok(())
}

/// How many changes cargo-mutants has for a crate.
fn count(project: &Project, name: &str) -> Result<usize> {
    let mut command = project.cargo();
    let listed = command.args(["mutants", "--list", "--package", name]).output();
    let listed = listed.context("cannot start cargo-mutants")?;
    ensure!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    Ok(String::from_utf8_lossy(&listed.stdout).lines().count())
}

/// The number of shards of which the first has at most `size` of `all` changes. The first shard has every nth change,
/// so it is the same sample until the crate changes.
fn shards(all: usize, size: usize) -> Result<usize> {
    ensure!(size > 0, "a sample has at least one change");
    Ok(all.div_ceil(size).max(1))
}

/// How many changes the tests noticed, and how many they missed.
#[derive(Debug, PartialEq, Eq)]
struct MutantCounts {
    noticed: u32,
    missed: u32,
}

impl MutantCounts {
    fn read(file: &Path) -> Result<MutantCounts> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        MutantCounts::of(&serde_json::from_str(&text)?)
    }

    /// A test that never ends has noticed the change. A change that does not compile does not count.
    fn of(outcomes: &Value) -> Result<MutantCounts> {
        let count = |name: &str| {
            let found = outcomes[name].as_u64().and_then(|found| u32::try_from(found).ok());
            found.with_context(|| format!("there is no count '{name}'"))
        };
        Ok(MutantCounts { noticed: count("caught")? + count("timeout")?, missed: count("missed")? })
    }

    fn share(&self) -> f64 {
        let all = self.noticed + self.missed;
        if all == 0 { 100.0 } else { f64::from(self.noticed) * 100.0 / f64::from(all) }
    }
}

impl std::fmt::Display for MutantCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.noticed + self.missed;
        write!(f, "{} of {all} changes noticed ({:.1} %)", self.noticed, self.share())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_that_hangs_is_noticed_and_one_that_does_not_compile_does_not_count() {
        let counts =
            MutantCounts::of(&json!({ "caught": 7, "timeout": 1, "missed": 2, "unviable": 5 }))
                .expect("all counts are there");
        assert_eq!(counts, MutantCounts { noticed: 8, missed: 2 });
        assert_eq!(counts.to_string(), "8 of 10 changes noticed (80.0 %)");
        assert!(MutantCounts::of(&json!({ "caught": 7 })).is_err());
    }

    #[test]
    fn a_sample_is_a_shard_of_at_most_its_size() {
        assert_eq!(shards(4755, 100).ok(), Some(48));
        assert_eq!(shards(100, 100).ok(), Some(1));
        assert_eq!(shards(101, 100).ok(), Some(2));
        assert_eq!(shards(0, 100).ok(), Some(1));
        assert!(shards(100, 0).is_err());
    }
}
