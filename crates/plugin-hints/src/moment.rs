//! Hints that come by themselves: which of them speak to a command that is about to run or has just
//! failed, and how many an agent is told. Which command lines look alike is decided here too, so
//! that a hint that was followed ranks higher without anybody saying so.

use std::collections::BTreeSet;
use std::sync::Arc;

use agents::shell;
use contract::{Candidate, Moment, Occasion, Slot};
use model::hint::{command_text, value_text};
use model::hook::{Happening, ToolUse};
use model::situation::Situation;
use model::wire::fingerprint;
use model::{OpError, limits};
use place::Captured;
use serde_json::{Value, json};
use store::hints::{self, StoredHint};
use store::{Rx, Tx, receipts, sessions};

use crate::bump::bumped;
use crate::gate::Place;
use crate::held::Held;
use crate::memory::{Index, Memory};
use crate::settings::JUST_IN_TIME;

/// The scheme under which a hint's receipts are counted.
const SCHEME: &str = "hint";

/// The tag of hints that are about failures in general.
const FIX: &str = "fix";

/// Programs that print a part of their input.
const FILTERS: &[&str] = &[
    "head", "tail", "cat", "tee", "grep", "rg", "sort", "uniq", "wc", "less", "more", "cut", "tr",
    "sed", "awk", "column",
];

/// How much of a hint's rank is that it speaks to this very command.
const SPEAKS: f64 = 0.6;

/// The words by which a hint is found: its component, its key and its tags, and those of its command.
pub(crate) fn words(stored: &StoredHint, command_words: &BTreeSet<String>) -> BTreeSet<String> {
    let name = [&stored.name.component, &stored.name.key];
    let own = name.into_iter().chain(&stored.meta.tags).map(|word| word.to_lowercase());
    // A name of several words is found by each of them, and then looked at as a whole.
    let parts = name.into_iter().flat_map(|name| self::command_words(name));
    own.chain(parts).chain(command_words.iter().cloned()).collect()
}

/// The words of the command that a hint's value is, if it is one.
pub(crate) fn command_words_of(value: &Value) -> BTreeSet<String> {
    command_text(value).map(command_words).unwrap_or_default()
}

/// The words of a command line that mean something: programs, sub-commands, names, parts of paths and
/// what is given to flags. Flags, single letters and small words do not.
fn command_words(line: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let line = line.to_lowercase();
    let between = |c: char| c.is_whitespace() || "/\\=:,;|&<>()[]{}'\"`$@".contains(c);
    for word in line.split(between).filter(|word| !word.starts_with('-')) {
        // The name of a file without what comes behind the dot.
        let stem = word.split('.').next().unwrap_or_default();
        words.extend([word, stem].into_iter().filter(|word| tells(word)).map(str::to_owned));
    }
    words
}

fn tells(word: &str) -> bool {
    let long = word.chars().nth(1).is_some() && word.chars().any(char::is_alphabetic);
    // What stands in every sentence says nothing about a command.
    long && !text::words::is_stop(word)
}

/// The last two steps of a path.
fn last_steps(cwd: &str) -> impl Iterator<Item = String> {
    cwd.rsplit(['/', '\\']).filter(|step| !step.is_empty()).take(2).map(str::to_lowercase)
}

/// A command that is about to run or has failed, in words.
struct Spoken {
    line: String,
    words: BTreeSet<String>,
    /// The program and the words of each command of the line.
    commands: Vec<(String, BTreeSet<String>)>,
    place: BTreeSet<String>,
    /// Programs that failed; none if nothing failed.
    failed: BTreeSet<String>,
}

impl Spoken {
    fn new(command: &str, situation: &Situation, failed: bool) -> Spoken {
        let commands: Vec<(String, BTreeSet<String>)> = (shell::commands(command).into_iter())
            .map(|simple| {
                let line = format!("{} {}", simple.program, simple.args.join(" "));
                (simple.program.to_lowercase(), command_words(&line))
            })
            .collect();
        let programs = commands.iter().map(|(program, _)| program.clone());
        Spoken {
            line: normal(command),
            words: command_words(command),
            place: situation.cwd.as_deref().map(last_steps).into_iter().flatten().collect(),
            failed: if failed { programs.collect() } else { BTreeSet::new() },
            commands,
        }
    }

    /// Whether a word of a hint's command is meant by a word of the line: one in the command of its own program, if the
    /// line has that, and else one in any command but a filter. `| head -3` says nothing about `alembic upgrade head`.
    fn means(&self, program: Option<&str>, word: &str) -> bool {
        let is_own = |of: &str| program == Some(of);
        let has_own = self.commands.iter().any(|(of, _)| is_own(of));
        let counts = |of: &str| if has_own { is_own(of) } else { !FILTERS.contains(&of) };
        // A line that is no command of a shell is one of words.
        let is_plain = self.commands.is_empty() && self.words.contains(word);
        is_plain || self.commands.iter().any(|(of, words)| counts(of) && words.contains(word))
    }

    /// Whether a name of several words stands in the command as it is, between other characters than
    /// those of a name.
    fn spells(&self, name: &str) -> bool {
        let line = self.line.to_lowercase();
        let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let several = name.chars().any(|c| !part_of_name(c) && c != '.');
        several
            && line.match_indices(name).any(|(start, found)| {
                let before = line[..start].chars().next_back();
                let behind = line[start + found.len()..].chars().next();
                !before.is_some_and(part_of_name) && !behind.is_some_and(part_of_name)
            })
    }

    /// How well the hint matches this command or its directory; none if it matches neither.
    fn hears(&self, held: &Held) -> Option<Heard> {
        let name = &held.stored.name;
        let component = name.component.to_lowercase();
        let key = name.key.to_lowercase();
        let spoken_of = |name: &str| self.words.contains(name) || self.spells(name);
        let mut heard = Heard { strength: 0.0, reasons: Vec::new(), about: HintAbout::Project };
        if spoken_of(&component) {
            heard.add(0.4, HintAbout::Command, format!("{component} is in the command"));
        } else if self.place.contains(&component) {
            heard.add(0.3, HintAbout::Project, format!("{component} is where it runs"));
        }
        if spoken_of(&key) {
            heard.add(0.2, HintAbout::Command, format!("{key} is in the command"));
        } else if self.place.contains(&key) {
            heard.add(0.1, HintAbout::Project, format!("{key} is where it runs"));
        }
        let own = held.command_words();
        let program = command_text(&held.stored.value)
            .and_then(|line| shell::commands(line).into_iter().next())
            .map(|first| first.program.to_lowercase());
        let means = |word: &str| self.means(program.as_deref(), word);
        let shared: Vec<&String> =
            own.iter().filter(|word| means(word) || self.place.contains(*word)).collect();
        if let Some(first) = shared.first() {
            // Counts of words are small.
            #[allow(clippy::cast_precision_loss)]
            let share = shared.len() as f64 / own.len() as f64;
            let about = match shared.iter().any(|word| means(word)) {
                true => HintAbout::Command,
                false => HintAbout::Project,
            };
            heard.add(0.3 * share, about, format!("its command shares {first}"));
        }
        for tag in held.stored.meta.tags.iter().map(|tag| tag.to_lowercase()) {
            if self.failed.contains(&tag) {
                heard.add(0.3, HintAbout::Command, format!("{tag} failed"));
            } else if tag == FIX && !self.failed.is_empty() {
                let reason = "it is a fix and the command failed".to_owned();
                heard.add(0.2, HintAbout::Command, reason);
            }
        }
        heard.strength = heard.strength.min(1.0);
        (!heard.reasons.is_empty()).then_some(heard)
    }
}

/// How well a hint matches a command or its directory, from 0 to 1, and why.
struct Heard {
    strength: f64,
    reasons: Vec<String>,
    about: HintAbout,
}

impl Heard {
    fn add(&mut self, weight: f64, about: HintAbout, reason: String) {
        self.strength += weight;
        self.reasons.push(reason);
        if about == HintAbout::Command {
            self.about = about;
        }
    }
}

/// The reason why a hint is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HintAbout {
    /// A word of the command, or the program that failed.
    Command,
    /// Only the directory in which it runs.
    Project,
}

impl HintAbout {
    fn slot(self) -> Slot {
        match self {
            HintAbout::Command => Slot::HintsForCommand,
            HintAbout::Project => Slot::HintsForProject,
        }
    }
}

/// A command line without differences that do not matter.
fn normal(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether any hint could speak to such an occasion.
pub(crate) fn may_speak(memory: &Memory, occasion: &Occasion<'_>) -> bool {
    let Some((tool, _)) = tool_of(occasion) else { return false };
    tool.command.is_some() && !memory.read().is_empty()
}

/// The tool that is about to run or has failed, and whether it failed. Hints have nothing to say about a tool that
/// worked.
fn tool_of<'t>(occasion: &Occasion<'t>) -> Option<(&'t ToolUse, bool)> {
    match *occasion {
        Occasion::BeforeTool(tool) => Some((tool, false)),
        Occasion::AfterTool { tool, failed: true } => Some((tool, true)),
        _ => None,
    }
}

/// The hints that speak to this moment, best first, as many as may still be told.
pub(crate) fn candidates(memory: &Memory, moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    let Some((tool, failed)) = tool_of(&moment.occasion) else { return Ok(Vec::new()) };
    let (Some(command), Some(session)) = (&tool.command, moment.session) else {
        return Ok(Vec::new());
    };
    if !moment.config.boolean(JUST_IN_TIME) {
        return Ok(Vec::new());
    }
    let spoken = Spoken::new(command, moment.situation, failed);
    let mut found = matching(&memory.read(), &spoken, moment);
    if found.is_empty() {
        return Ok(found);
    }
    let room = moment.store.read(|rx| {
        // Whom nothing is known of cannot be told anything: it could not be kept to its limits.
        let Some(session) = sessions::id_of(rx, session)? else { return Ok(0) };
        let mut fresh = Vec::with_capacity(found.len());
        for candidate in found.drain(..) {
            let told = receipts::delivered(rx, session, &candidate.path)?;
            if told.is_none_or(|told| told.stamp != candidate.stamp) {
                fresh.push(candidate);
            }
        }
        found = fresh;
        room(rx, session, moment.now)
    })?;
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    found.truncate(room);
    Ok(found)
}

fn matching(index: &Index, spoken: &Spoken, moment: &Moment<'_>) -> Vec<Candidate> {
    let place = Place::of(moment.situation);
    let mut words: BTreeSet<&str> =
        spoken.words.iter().chain(&spoken.place).map(String::as_str).collect();
    let mut tags: Vec<String> = spoken.failed.iter().cloned().collect();
    if !tags.is_empty() {
        tags.push(FIX.to_owned());
    }
    words.extend(tags.iter().map(String::as_str));
    let mut found = Vec::new();
    index.with_words(&words, moment.now, &mut |held| {
        // A secret is never told unasked, and neither is what the agent is doing anyway.
        let said = value_text(&held.stored.value);
        if held.stored.meta.is_secret() || normal(&said) == spoken.line || !held.is_eligible(&place)
        {
            return;
        }
        if let Some(mut heard) = spoken.hears(held) {
            let score = SPEAKS * heard.strength + (1.0 - SPEAKS) * held.score(&place, moment.now);
            heard.reasons.extend(held.explain(&place, score, moment.now).reasons);
            found.push(candidate(held, &said, score, heard));
        }
    });
    found
}

fn candidate(held: &Held, said: &str, score: f64, heard: Heard) -> Candidate {
    let stored = &held.stored;
    let mut line = format!("{}/{}: {said}", stored.name.component, stored.name.key);
    if let Some(reason) = &stored.meta.reason {
        line = format!("{line} ({reason})");
    }
    Candidate {
        path: stored.name.path(),
        // What it says, not when it was written: saying the same again is no news.
        stamp: fingerprint(said, &json!(stored.meta.reason)),
        score,
        reasons: heard.reasons,
        cells: vec![text::one_line(&line, limits::JIT_HINT_CHARS_MAX)],
        ..Candidate::new(heard.about.slot())
    }
}

/// How many hints this session may still be told now.
fn room(rx: &Rx<'_>, session: i64, now: i64) -> Result<usize, OpError> {
    let told = |since| receipts::count(rx, session, SCHEME, since);
    let lately = told(now.saturating_sub(limits::JIT_WINDOW_MS))?;
    let left = limits::JIT_HINTS_PER_SESSION.saturating_sub(told(i64::MIN)?);
    let left = left.min(limits::JIT_HINTS_PER_WINDOW.saturating_sub(lately));
    Ok(usize::try_from(left).unwrap_or(0))
}

/// Takes note of a command that worked: a hint that this session was told and whose command it is has
/// helped.
pub(crate) fn observe(memory: &Memory, seen: &Captured<'_>, tx: &Tx<'_>) -> Result<(), OpError> {
    let event = &*seen.event;
    let Happening::ToolUsed(ToolUse { command: Some(command), failed: false, metadata, .. }) =
        &event.what
    else {
        return Ok(());
    };
    if ["is_interrupt", "background"].iter().any(|name| metadata[*name] == true)
        || memory.read().is_empty()
    {
        return Ok(());
    }
    let line = normal(command);
    let words = command_words(command);
    let words: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let mut followed: Vec<Arc<Held>> = Vec::new();
    memory.read().with_words(&words, event.at, &mut |held| {
        let own = command_text(&held.stored.value).map(normal);
        if own.is_some_and(|own| is_run_by(&own, &line)) {
            followed.push(held.clone());
        }
    });
    if followed.is_empty() {
        return Ok(());
    }
    for held in followed {
        // Memory may be behind the transactions that are under way; the journal is not.
        let variants = hints::variants(tx, &held.stored.name)?.into_iter();
        let Some(stored) = variants.into_iter().find(|one| one.meta.variant() == held.variant)
        else {
            continue;
        };
        if receipts::mark_used(tx, seen.session.id, &held.stored.name.path())? {
            memory.put(tx, Arc::new(Held::load(bumped(&stored, 1, event.at))))?;
        }
    }
    Ok(())
}

/// Whether running this line runs the hinted command: as it is, or as one of its commands.
fn is_run_by(hinted: &str, line: &str) -> bool {
    let words = |line: &str| -> Vec<Vec<String>> {
        let simple = shell::commands(line).into_iter();
        simple.map(|c| std::iter::once(c.program).chain(c.args).collect()).collect()
    };
    if hinted == line {
        return true;
    }
    let (hinted, line) = (words(hinted), words(line));
    !hinted.is_empty() && line.windows(hinted.len()).any(|run| run == hinted.as_slice())
}
