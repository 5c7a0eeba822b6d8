//! A fuzz target: how its inputs are made, what takes them, and what has to hold afterwards.

use std::path::PathBuf;
use std::time::Duration;

use crate::dice::Dice;
use crate::targets;

/// Why a case failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// An invariant does not hold.
    Wrong(String),
    /// No answer before a deadline. It counts if it happens again: the machine may have been busy.
    Slow(String),
}

impl Flaw {
    pub(crate) fn text(&self) -> &str {
        let (Flaw::Wrong(text) | Flaw::Slow(text)) = self;
        text
    }
}

pub(crate) type Checked = Result<(), Flaw>;

/// A failed invariant, unless `holds`.
pub(crate) fn ensure(holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Flaw::Wrong(what())) }
}

/// Takes inputs one after the other. It may panic, which is a failed case.
pub(crate) trait Subject {
    fn check(&mut self, input: &[u8]) -> Checked;
}

/// A function without state as a subject.
pub(crate) struct PureSubject(pub(crate) fn(&[u8]) -> Checked);

impl Subject for PureSubject {
    fn check(&mut self, input: &[u8]) -> Checked {
        (self.0)(input)
    }
}

/// What a subject is given to work with.
pub(crate) struct Workbench {
    /// The `rekindle` under test; targets within this process do without.
    pub(crate) binary: Option<PathBuf>,
}

pub(crate) struct FuzzTarget {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Its part of the time, relative to the others'.
    pub(crate) share: u32,
    /// How long one case may take before its process is killed.
    pub(crate) patience: Duration,
    /// After so many cases a new subject is opened, so that a failure needs few predecessors.
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
