//! Hints that are shown unasked: the ones that match a command that is about to run or has just failed, and their
//! limits. Command lines are also compared here, to bump a hint whose command was run.

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
use crate::gate::HintSituation;
use crate::held::Held;
use crate::memory::{Index, Memory};
use crate::settings::JUST_IN_TIME;

/// The scheme of a hint's receipts.
const SCHEME: &str = "hint";

/// The name under which a question asks for hints.
const SOURCE: &str = "hints";

/// The tag of hints that are about failures in general.
const FIX: &str = "fix";

/// Programs that print a part of their input.
const FILTERS: &[&str] = &[
    "head", "tail", "cat", "tee", "grep", "rg", "sort", "uniq", "wc", "less", "more", "cut", "tr",
    "sed", "awk", "column",
];

/// The share of a hint's rank that depends on how well it matches the command.
const MATCH_SHARE: f64 = 0.6;

/// The words by which a hint is found: its component, key and tags, and those of its command.
pub(crate) fn words(stored: &StoredHint, command_words: &BTreeSet<String>) -> BTreeSet<String> {
    let name = [&stored.name.component, &stored.name.key];
    let own = name.into_iter().chain(&stored.meta.tags).map(|word| word.to_lowercase());
    // A name of several words is found by each of them, and then compared as a whole.
    let parts = name.into_iter().flat_map(|name| self::command_words(name));
    own.chain(parts).chain(command_words.iter().cloned()).collect()
}

/// The words of a hint's value, if it is a command.
pub(crate) fn command_words_of(value: &Value) -> BTreeSet<String> {
    command_text(value).map(command_words).unwrap_or_default()
}

/// The significant words of a command line: programs, sub-commands, names, parts of paths and the values of flags.
/// Flags, single letters and stop words are left out.
fn command_words(line: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let line = line.to_lowercase();
    let between = |c: char| c.is_whitespace() || "/\\=:,;|&<>()[]{}'\"`$@".contains(c);
    for word in line.split(between).filter(|word| !word.starts_with('-')) {
        // The name of a file without its extension.
        let stem = word.split('.').next().unwrap_or_default();
        words.extend([word, stem].into_iter().filter(|word| tells(word)).map(str::to_owned));
    }
    words
}

fn tells(word: &str) -> bool {
    let long = word.chars().nth(1).is_some() && word.chars().any(char::is_alphabetic);
    // Stop words say nothing about a command.
    long && !text::words::is_stop(word)
}

/// The last two components of a path.
fn last_steps(cwd: &str) -> impl Iterator<Item = String> {
    cwd.rsplit(['/', '\\']).filter(|step| !step.is_empty()).take(2).map(str::to_lowercase)
}

/// A command that is about to run or has failed, split into words.
struct CommandWords {
    line: String,
    words: BTreeSet<String>,
    /// The program and the words of each command of the line.
    commands: Vec<(String, BTreeSet<String>)>,
    place: BTreeSet<String>,
    /// Programs that failed; empty if nothing failed.
    failed: BTreeSet<String>,
}

impl CommandWords {
    fn new(command: &str, situation: &Situation, failed: bool) -> CommandWords {
        let commands: Vec<(String, BTreeSet<String>)> = (shell::commands(command).into_iter())
            .map(|simple| {
                let line = format!("{} {}", simple.program, simple.args.join(" "));
                (simple.program.to_lowercase(), command_words(&line))
            })
            .collect();
        let programs = commands.iter().map(|(program, _)| program.clone());
        CommandWords {
            line: normal(command),
            words: command_words(command),
            place: situation.cwd.as_deref().map(last_steps).into_iter().flatten().collect(),
            failed: if failed { programs.collect() } else { BTreeSet::new() },
            commands,
        }
    }

    /// Whether the line contains a word of a hint's command: in the command of the same program, if the line has
    /// that, and otherwise in any command but a filter. `| head -3` does not match `alembic upgrade head`.
    fn means(&self, program: Option<&str>, word: &str) -> bool {
        let is_own = |of: &str| program == Some(of);
        let has_own = self.commands.iter().any(|(of, _)| is_own(of));
        let counts = |of: &str| if has_own { is_own(of) } else { !FILTERS.contains(&of) };
        // A line that is not a shell command is compared by its words alone.
        let is_plain = self.commands.is_empty() && self.words.contains(word);
        is_plain || self.commands.iter().any(|(of, words)| counts(of) && words.contains(word))
    }

    /// Whether the line contains a name of several words as a whole, not inside a longer name.
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

    /// How well the hint matches this command or its directory; `None` if it matches neither.
    fn match_hint(&self, held: &Held) -> Option<CommandMatch> {
        let name = &held.stored.name;
        let component = name.component.to_lowercase();
        let key = name.key.to_lowercase();
        let spoken_of = |name: &str| self.words.contains(name) || self.spells(name);
        let mut matched =
            CommandMatch { strength: 0.0, reasons: Vec::new(), about: HintAbout::Project };
        if spoken_of(&component) {
            matched.add(0.4, HintAbout::Command, format!("{component} is in the command"));
        } else if self.place.contains(&component) {
            matched.add(0.3, HintAbout::Project, format!("{component} is where it runs"));
        }
        if spoken_of(&key) {
            matched.add(0.2, HintAbout::Command, format!("{key} is in the command"));
        } else if self.place.contains(&key) {
            matched.add(0.1, HintAbout::Project, format!("{key} is where it runs"));
        }
        let own = held.command_words();
        let program = command_text(&held.stored.value)
            .and_then(|line| shell::commands(line).into_iter().next())
            .map(|first| first.program.to_lowercase());
        let means = |word: &str| self.means(program.as_deref(), word);
        let shared: Vec<&String> =
            own.iter().filter(|word| means(word) || self.place.contains(*word)).collect();
        if let Some(first) = shared.first() {
            // Word counts are small.
            #[allow(clippy::cast_precision_loss)]
            let share = shared.len() as f64 / own.len() as f64;
            let about = match shared.iter().any(|word| means(word)) {
                true => HintAbout::Command,
                false => HintAbout::Project,
            };
            matched.add(0.3 * share, about, format!("its own command has {first} too"));
        }
        for tag in held.stored.meta.tags.iter().map(|tag| tag.to_lowercase()) {
            if self.failed.contains(&tag) {
                matched.add(0.3, HintAbout::Command, format!("{tag} failed"));
            } else if tag == FIX && !self.failed.is_empty() {
                let reason = "it is a fix and the command failed".to_owned();
                matched.add(0.2, HintAbout::Command, reason);
            }
        }
        matched.strength = matched.strength.min(1.0);
        (!matched.reasons.is_empty()).then_some(matched)
    }
}

/// How well a hint matches a command or its directory, from 0 to 1, and why.
struct CommandMatch {
    strength: f64,
    reasons: Vec<String>,
    about: HintAbout,
}

impl CommandMatch {
    fn add(&mut self, weight: f64, about: HintAbout, reason: String) {
        self.strength += weight;
        self.reasons.push(reason);
        if about == HintAbout::Command {
            self.about = about;
        }
    }
}

/// The reason for showing a hint: the command, or only its directory.
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

/// A command line with normalised white space.
fn normal(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether any hint could match such an occasion.
pub(crate) fn may_match(memory: &Memory, occasion: &Occasion<'_>) -> bool {
    let Some((tool, _)) = tool_of(occasion) else { return false };
    tool.command.is_some() && !memory.read().is_empty()
}

/// The tool that is about to run or has failed, and whether it failed. No hint is shown for a tool that worked.
fn tool_of<'t>(occasion: &Occasion<'t>) -> Option<(&'t ToolUse, bool)> {
    match *occasion {
        Occasion::BeforeTool(tool) => Some((tool, false)),
        Occasion::AfterTool { tool, failed: true } => Some((tool, true)),
        _ => None,
    }
}

/// The hints that match this moment: for a tool the best, sorted, within the limits of the session; for a question
/// all, unsorted.
pub(crate) fn candidates(memory: &Memory, moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    if let Occasion::Question { query, .. } = moment.occasion
        && moment.occasion.asks(SOURCE)
    {
        let words = CommandWords::new(query, moment.situation, false);
        let found = matching(&memory.read(), &words, moment).into_iter();
        let found = found.map(|row| Candidate {
            slot: Slot::Found,
            title: Some("Hints".to_owned()),
            ..row
        });
        return Ok(found.collect());
    }
    let Some((tool, failed)) = tool_of(&moment.occasion) else { return Ok(Vec::new()) };
    let (Some(command), Some(session)) = (&tool.command, moment.session) else {
        return Ok(Vec::new());
    };
    if !moment.config.boolean(JUST_IN_TIME) {
        return Ok(Vec::new());
    }
    let command_line = CommandWords::new(command, moment.situation, failed);
    let mut found = matching(&memory.read(), &command_line, moment);
    if found.is_empty() {
        return Ok(found);
    }
    let room = moment.store.read(|rx| {
        // Without a known session the limits could not be applied, so no hint is shown.
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

fn matching(index: &Index, command_line: &CommandWords, moment: &Moment<'_>) -> Vec<Candidate> {
    let place = HintSituation::of(moment.situation);
    let mut words: BTreeSet<&str> =
        command_line.words.iter().chain(&command_line.place).map(String::as_str).collect();
    let mut tags: Vec<String> = command_line.failed.iter().cloned().collect();
    if !tags.is_empty() {
        tags.push(FIX.to_owned());
    }
    words.extend(tags.iter().map(String::as_str));
    let mut found = Vec::new();
    index.with_words(&words, moment.now, &mut |held| {
        // A secret is never shown unasked, and neither is the command that the agent is already running.
        let said = value_text(&held.stored.value);
        if held.stored.meta.is_secret()
            || normal(&said) == command_line.line
            || !held.is_eligible(&place)
        {
            return;
        }
        if let Some(mut matched) = command_line.match_hint(held) {
            let score = MATCH_SHARE * matched.strength
                + (1.0 - MATCH_SHARE) * held.score(&place, moment.now);
            matched.reasons.extend(held.explain(&place, score, moment.now).reasons);
            found.push(candidate(held, &said, score, matched));
        }
    });
    found
}

fn candidate(held: &Held, said: &str, score: f64, matched: CommandMatch) -> Candidate {
    let stored = &held.stored;
    let mut line = format!("{}/{}: {said}", stored.name.component, stored.name.key);
    if let Some(reason) = &stored.meta.reason {
        line = format!("{line} ({reason})");
    }
    Candidate {
        path: stored.name.path(),
        // A hash of the text, not of its time: storing the same text again does not make it new.
        stamp: fingerprint(said, &json!(stored.meta.reason)),
        score,
        reasons: matched.reasons,
        cells: vec![text::one_line(&line, limits::JIT_HINT_CHARS_MAX)],
        ..Candidate::new(matched.about.slot())
    }
}

/// The number of hints that this session may still get.
fn room(rx: &Rx<'_>, session: i64, now: i64) -> Result<usize, OpError> {
    let told = |since| receipts::count(rx, session, SCHEME, since);
    let lately = told(now.saturating_sub(limits::JIT_WINDOW_MS))?;
    let left = limits::JIT_HINTS_PER_SESSION.saturating_sub(told(i64::MIN)?);
    let left = left.min(limits::JIT_HINTS_PER_WINDOW.saturating_sub(lately));
    Ok(usize::try_from(left).unwrap_or(0))
}

/// Bumps each hint whose command was run by this command line and worked, if this session was shown the hint.
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
    let words = command_words(command);
    let words: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let mut followed: Vec<Arc<Held>> = Vec::new();
    memory.read().with_words(&words, event.at, &mut |held| {
        let own = command_text(&held.stored.value);
        if own.is_some_and(|own| shell::runs_line(own, command)) {
            followed.push(held.clone());
        }
    });
    if followed.is_empty() {
        return Ok(());
    }
    for held in followed {
        // Memory may be behind pending transactions; the journal is not.
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
