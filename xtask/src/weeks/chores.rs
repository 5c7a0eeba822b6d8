//! Chores of every day, such as "commit and push": their old answers are of no use, so the hook has to be silent when they
//! are asked for again. Facts of these sessions have to be shown: a hook that is always silent fails, too.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::payload::{Frame, WeekAgent};
use super::random::Random;
use super::stories::StoryStep;
use super::wire::{self, HookConnection};
use crate::daemon::Daemon;
use crate::home::Home;

/// The least shares that `ci` wants: silent prompts and shown facts.
const SILENT_MIN: f64 = 0.95;
const SHOWN_MIN: f64 = 0.8;

const DAYS: u64 = 8;
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// Chores of a day. Each is asked for several times.
const CHORES_A_DAY: u64 = 12;
const MINUTE_MS: u64 = 60_000;

/// How the hook answered the prompts.
#[derive(Default)]
pub(super) struct ChoreFigures {
    chores: usize,
    silent: usize,
    facts: usize,
    shown: usize,
    /// The prompts that were answered wrongly.
    pub(super) misses: Vec<String>,
}

impl ChoreFigures {
    pub(super) fn check(&self) -> Result<()> {
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        if share(self.silent, self.chores) < SILENT_MIN || share(self.shown, self.facts) < SHOWN_MIN
        {
            let misses = self.misses.join("\n");
            bail!(
                "{SILENT_MIN} of the chores are to be silent, {SHOWN_MIN} of the facts shown: {self}\n{misses}"
            );
        }
        Ok(())
    }
}

impl fmt::Display for ChoreFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ChoreFigures { chores, silent, facts, shown, .. } = self;
        write!(f, "silent at {silent} of {chores} chores, {shown} of {facts} facts shown")
    }
}

/// Sends [`DAYS`] days of chores through a running daemon, then each chore again in a session of its own.
pub(super) fn measure(root: &Path, binary: &Path, seed: u64) -> Result<ChoreFigures> {
    let file = root.join("quality/chores.jsonl");
    let text =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let rows: Vec<Value> =
        text.lines().map(serde_json::from_str).collect::<Result<_, _>>().context("not JSON")?;
    let home = Home::new(binary)?;
    let _daemon = Daemon::start(&home, &[])?;
    let folder = wire::repository(&home.file("home").join("errands"))?;
    let mut wire = HookConnection::open(&home)?;
    let mut random = Random::new(seed);
    let begin = wire::now_ms()?.saturating_sub(DAYS * DAY_MS);
    let of = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let (chores, facts): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["type"] == "chore");
    for day in 0..DAYS {
        let session = format!("chores-{day}");
        let frame = Frame { agent: WeekAgent::Claude, session: &session, folder: &folder };
        let mut at = begin + day * DAY_MS;
        wire.send(frame.agent, &frame.start(), at)?;
        let mut turns: Vec<&Value> = Vec::new();
        let step = usize::try_from(DAYS)?;
        turns.extend(facts.iter().skip(usize::try_from(day)?).step_by(step));
        for _ in 0..CHORES_A_DAY {
            let place = usize::try_from(random.below(u64::try_from(chores.len())?))?;
            turns.extend(chores.get(place));
        }
        for row in turns {
            let steps = [
                StoryStep::Prompt(of(row, "prompt")),
                StoryStep::Run {
                    command: "git status".into(),
                    output: "clean".into(),
                    failed: false,
                },
                StoryStep::Answer(of(row, "answer")),
            ];
            for step in &steps {
                at += MINUTE_MS;
                wire.send(frame.agent, &frame.step(step, at), at)?;
            }
        }
        wire.send(frame.agent, &frame.end().context("no end")?, at + MINUTE_MS)?;
    }
    let mut figures = ChoreFigures::default();
    for (place, row) in rows.iter().enumerate() {
        let session = format!("asks-{place}");
        let frame = Frame { agent: WeekAgent::Claude, session: &session, folder: &folder };
        let at = wire::now_ms()?;
        wire.send(frame.agent, &frame.start(), at)?;
        let asked = if row["type"] == "fact" { of(row, "asks") } else { of(row, "prompt") };
        let answer =
            wire.send(frame.agent, &frame.step(&StoryStep::Prompt(asked.clone()), at), at)?;
        let shown = answer.pointer("/hookSpecificOutput/additionalContext");
        let shown = shown.and_then(Value::as_str).unwrap_or_default();
        let (all, good, is_good) = match row["type"] == "fact" {
            true => (&mut figures.facts, &mut figures.shown, shown.contains(&of(row, "fact"))),
            false => (&mut figures.chores, &mut figures.silent, shown.is_empty()),
        };
        *all += 1;
        *good += usize::from(is_good);
        if !is_good {
            figures.misses.push(format!("{asked}: {}", shown.replace('\n', " ")));
        }
    }
    Ok(figures)
}
