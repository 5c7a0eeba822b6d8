//! `cargo xtask mutants CRATE`: changes the code of a crate in small ways and counts the changes that its own tests
//! notice. A change that no test notices names a missing case.
//!
//! By hand: a large crate takes hours. `--shard 1/20` tries every twentieth change.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process;
use crate::project::Project;

/// Percent of the changes that the tests of a crate have to notice.
const FLOORS: [(&str, f64); 8] = [
    ("git", 90.0),
    ("pattern", 90.0),
    ("text", 90.0),
    ("agents", 90.0),
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
    if !process::exists("cargo-mutants", "--version") {
        bail!("cargo-mutants is not installed; `cargo install cargo-mutants --locked` gets it");
    }
    let folder = project.target_dir()?.join("mutants").join(name);
    let mut command = project.cargo();
    command.args(["mutants", "--package", name, "--test-package", name, "--output"]);
    command.arg(&folder).args(rest);
    // It ends with an error if a change was missed or a timeout was met; the counts tell that better.
    let status = command.status().context("cannot start cargo-mutants")?;
    let counts = Counts::read(&folder.join("mutants.out/outcomes.json"))
        .with_context(|| format!("cargo-mutants ended with {status} and left no counts"))?;
    let floor = FLOORS.iter().find(|(of, _)| of == name).map_or(0.0, |(_, floor)| *floor);
    println!("{name}: {counts}; the floor is {floor:.0} %");
    println!("missed ones: {}", folder.join("mutants.out/missed.txt").display());
    if counts.share() < floor {
        bail!("the tests of '{name}' miss too many changes");
    }
    Ok(())
}

/// How many changes the tests noticed, and how many they missed.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    noticed: u32,
    missed: u32,
}

impl Counts {
    fn read(file: &Path) -> Result<Counts> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        Counts::of(&serde_json::from_str(&text)?)
    }

    /// A test that never ends has noticed the change. A change that does not compile does not count.
    fn of(outcomes: &Value) -> Result<Counts> {
        let count = |name: &str| {
            let found = outcomes[name].as_u64().and_then(|found| u32::try_from(found).ok());
            found.with_context(|| format!("there is no count '{name}'"))
        };
        Ok(Counts { noticed: count("caught")? + count("timeout")?, missed: count("missed")? })
    }

    fn share(&self) -> f64 {
        let all = self.noticed + self.missed;
        if all == 0 { 100.0 } else { f64::from(self.noticed) * 100.0 / f64::from(all) }
    }
}

impl std::fmt::Display for Counts {
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
        let counts = Counts::of(&json!({ "caught": 7, "timeout": 1, "missed": 2, "unviable": 5 }))
            .expect("all counts are there");
        assert_eq!(counts, Counts { noticed: 8, missed: 2 });
        assert_eq!(counts.to_string(), "8 of 10 changes noticed (80.0 %)");
        assert!(Counts::of(&json!({ "caught": 7 })).is_err());
    }
}
