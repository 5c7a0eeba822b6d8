//! A fuzz target: the generator of its inputs, the code under test, and the check afterwards.

use std::path::PathBuf;
use std::time::Duration;

use crate::dice::Dice;
use crate::targets;

/// Why a case failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// An invariant does not hold.
    Wrong(String),
    /// A timeout. It counts as a failure only if it happens again, because the machine may have been busy.
    Slow(String),
}

impl Flaw {
    pub(crate) fn text(&self) -> &str {
        let (Flaw::Wrong(text) | Flaw::Slow(text)) = self;
        text
    }
}

pub(crate) type Checked = Result<(), Flaw>;

/// Returns a failed invariant unless `holds`.
pub(crate) fn ensure(holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Flaw::Wrong(what())) }
}

/// The code under test. It gets one input after the other; a panic is a failed case.
pub(crate) trait Subject {
    fn check(&mut self, input: &[u8]) -> Checked;
}

/// A subject that is a stateless function.
pub(crate) struct PureSubject(pub(crate) fn(&[u8]) -> Checked);

impl Subject for PureSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        (self.0)(input)
    }
}

/// The environment of a subject.
pub(crate) struct Workbench {
    /// The `rekindle` binary under test; `None` for targets that run in this process.
    pub(crate) binary: Option<PathBuf>,
}

pub(crate) struct FuzzTarget {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Its share of the time, relative to the other targets.
    pub(crate) share: u32,
    /// How long one case may take before its process is killed.
    pub(crate) patience: Duration,
    /// The number of cases after which a new subject is opened, so that few earlier cases can cause a failure.
    pub(crate) renew: u64,
    pub(crate) generate: fn(&mut Dice) -> Vec<u8>,
    pub(crate) open: fn(&Workbench) -> Box<dyn Subject>,
}

impl FuzzTarget {
    pub(crate) fn input(&self, seed: u64, number: u64) -> Vec<u8> {
        (self.generate)(&mut Dice::of_case(self.name, seed, number))
    }

    /// The target of this name, the drills included.
    pub(crate) fn named(name: &str) -> Option<&'static FuzzTarget> {
        targets::all().chain(targets::drills()).find(|target| target.name == name)
    }
}
