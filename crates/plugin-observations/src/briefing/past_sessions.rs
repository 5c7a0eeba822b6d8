//! The last sessions with a result, one line each.

use std::collections::BTreeSet;

use contract::Slot;
use model::observation::{ObsType, Observation};
use model::session::Session;
use model::{OpError, limits};
use store::prompts;
use store::search::ComparedText;
use store::sessions::{self, SessionFilter};

use super::files_in_progress;
use super::sections::{BriefingRow, SectionWriter, commit};
use super::topic::{self, SessionTopic, SessionTopics};
use crate::answered::{AnsweredPrompt, AnsweredPrompts};

/// The fewest words that two intents about the same thing have in common.
const SAME_SUBJECT_WORDS: usize = 2;

/// The number of newest sessions that have a line even if they changed nothing.
const NEWEST_KEPT: usize = 2;

/// A session's data from which its line is written.
struct PastSession<'s> {
    session: &'s Session,
    intent: String,
    /// Which decision the intent replaces, or by which one it is replaced.
    decision: String,
    outcome: String,
    /// The answer after the last change that followed from a question.
    ended: String,
    commits: String,
    actions: u64,
    /// Whether it edited or committed something.
    changed: bool,
    /// Another subject of the session in which something was found out.
    other: Option<SessionTopic>,
}

pub(super) fn add(writer: &mut SectionWriter<'_>) -> Result<(), OpError> {
    let sessions = std::mem::take(&mut writer.work.sessions);
    // The words of the intents of sessions that changed something.
    let mut subjects: Vec<BTreeSet<String>> = Vec::new();
    let mut past = worth_telling(writer, &sessions, &mut subjects)?;
    fold_repeats(&mut past);
    let earlier = match past.len() < limits::BRIEFING_SESSIONS_MAX {
        true => earlier(writer, &sessions)?,
        false => Vec::new(),
    };
    past.extend(worth_telling(writer, &earlier, &mut subjects)?);
    fold_repeats(&mut past);
    // If not all fit, sessions that changed something come before those that only talked. The newest stay:
    // an answer of yesterday counts more than an old commit.
    while past.len() > limits::BRIEFING_SESSIONS_MAX {
        let is_old_talk = |(place, one): (usize, &PastSession<'_>)| {
            place >= NEWEST_KEPT && !one.changed && !one.session.is_pinned
        };
        let last_talk = past.iter().enumerate().rposition(is_old_talk);
        past.remove(last_talk.unwrap_or(past.len() - 1));
    }
    let last = files_in_progress::last_edited(writer);
    let room = limits::BRIEFING_SESSIONS_MAX - past.len();
    let others = past.iter_mut().filter_map(|one| one.other.take());
    let others: Vec<SessionTopic> = others.take(room).collect();
    for one in past {
        let mut text = line(writer, &one);
        let files = edited(writer, one.session, &text, &last);
        if !files.is_empty() {
            text = format!("{text} (edited {files})");
        }
        let at = one.session.last_at;
        let row = BriefingRow {
            id: one.session.id,
            at,
            // Newest first.
            score: 0.6 + 0.2 * writer.recency(at),
            reason: "one of the last sessions",
            text,
            pinned: one.session.is_pinned,
        };
        writer.add(Slot::RecentSessions, row);
    }
    add_findings(writer, others);
    writer.work.sessions = sessions;
    Ok(())
}

/// Of several sessions whose lines would say nearly the same, keeps the newest. The assembler would merge their rows, but
/// they would take the places of other sessions before.
fn fold_repeats(past: &mut Vec<PastSession<'_>>) {
    let mut kept: Vec<(ComparedText, BTreeSet<String>, String)> = Vec::new();
    past.retain(|one| {
        let said = format!("{}{} → {} → {}", one.intent, one.decision, one.outcome, one.ended);
        let (words, text) = (topic::subject(&said), ComparedText::new(said));
        let is_repeat = kept.iter().any(|(newer, known, commits)| {
            *commits == one.commits
                && (words.is_subset(known) || known.is_subset(&words))
                && newer.is_duplicate_of(&text)
        });
        let is_kept = one.session.is_pinned || !is_repeat;
        if is_kept {
            kept.push((text, words, one.commits.clone()));
        }
        is_kept
    });
}

/// Adds the findings of sessions whose lines are about something else, below all lines.
fn add_findings(writer: &mut SectionWriter<'_>, others: Vec<SessionTopic>) {
    for SessionTopic { id, at, prompt, outcome, .. } in others {
        if writer.is_quoted(&outcome) {
            continue;
        }
        let text = format!("{} → {}", writer.quote(&prompt), writer.quote(&outcome));
        let score = 0.3 + 0.2 * writer.recency(at);
        let reason = "another finding of one of the last sessions";
        writer
            .add(Slot::RecentSessions, BriefingRow { id, at, score, reason, text, pinned: false });
    }
}

/// Those of the sessions that get a line.
fn worth_telling<'s>(
    writer: &SectionWriter<'_>,
    sessions: &'s [Session],
    subjects: &mut Vec<BTreeSet<String>>,
) -> Result<Vec<PastSession<'s>>, OpError> {
    let mut past: Vec<PastSession<'_>> = Vec::new();
    for session in sessions {
        let Some(mut one) = read(writer, session)? else { continue };
        let subject = topic::subject(&one.intent);
        let is_same =
            |newer: &BTreeSet<String>| newer.intersection(&subject).count() >= SAME_SUBJECT_WORDS;
        match one.changed {
            // A session without changes is outdated if a later one with changes has the same subject.
            false if subjects.iter().any(is_same) => continue,
            false => {}
            true => subjects.push(subject),
        }
        let is_outdated = |other: &SessionTopic| {
            let about = topic::subject(&other.prompt);
            subjects.iter().any(|newer| newer.intersection(&about).count() >= SAME_SUBJECT_WORDS)
        };
        let other = one.other.take().filter(|other| !is_outdated(other));
        past.push(PastSession { other, ..one });
    }
    Ok(past)
}

/// The last sessions in which an agent did something, before those that were read: a host that is started and left again
/// and again has many sessions of prompts alone.
fn earlier(writer: &SectionWriter<'_>, read: &[Session]) -> Result<Vec<Session>, OpError> {
    // The limit may have included the briefed session, which is not in `read`.
    let is_cut = read.len() + 1 >= limits::BRIEFING_READ_SESSIONS;
    let Some(oldest) = read.last().filter(|_| is_cut) else { return Ok(Vec::new()) };
    let mut projects: Vec<i64> = read.iter().map(|session| session.project_id).collect();
    projects.sort_unstable();
    projects.dedup();
    let filter = SessionFilter {
        projects: Some(&projects),
        before: Some(oldest.last_at),
        prompted: true,
        worked: true,
        ..SessionFilter::default()
    };
    sessions::list(writer.brief.rx, &filter, limits::BRIEFING_SESSIONS_MAX)
}

/// The subject of a session, its outcome and commits; none if it is not worth a line.
fn read<'s>(
    writer: &SectionWriter<'_>,
    session: &'s Session,
) -> Result<Option<PastSession<'s>>, OpError> {
    let rx = writer.brief.rx;
    let topics = topic::of(rx, session, (&writer.work.commits, &writer.work.edits))?;
    let SessionTopics { main, other } = topics;
    let (id, intent, outcome, ended) = match main {
        Some(SessionTopic { id, prompt, outcome, changed, .. }) => {
            (Some(id), prompt, outcome, changed)
        }
        None => without_topic(writer, session)?,
    };
    let decision = id.map_or_else(String::new, |id| writer.decisions.note(id));
    let commits = commits(writer, session);
    let counts = sessions::counts(rx, session)?;
    let acted = counts.iter().filter(|(kind, _)| kind.is_action());
    let actions: u64 = acted.map(|(_, count)| count).sum();
    let changed = !commits.is_empty() || counts.iter().any(|(kind, _)| kind.intervenes());
    let failed = counts.iter().any(|(kind, _)| *kind == ObsType::CommandError);
    let says_enough = intent.split_whitespace().count() >= limits::OPEN_PROMPT_WORDS_MIN;
    let is_answered = !outcome.is_empty() || !commits.is_empty();
    let came_to = changed || (says_enough && (actions > 0 || is_answered));
    // The intent is small talk only if every prompt is.
    let only_looked = !changed && !failed && text::is_small_talk(&intent);
    // An open prompt is already quoted in its own row.
    let is_open = writer.is_quoted(&intent) && !is_answered;
    if intent.is_empty() || !came_to || only_looked || is_open {
        return Ok(None);
    }
    let past =
        PastSession { session, intent, decision, outcome, ended, commits, actions, changed, other };
    Ok(Some(past))
}

/// The id, the intent and the outcome of a session without a prompt that begins a subject.
fn without_topic(
    writer: &SectionWriter<'_>,
    session: &Session,
) -> Result<(Option<i64>, String, String, String), OpError> {
    let rx = writer.brief.rx;
    let AnsweredPrompts { intent, last } = AnsweredPrompts::of(rx, session.id)?;
    // The answer to "where were we?" reports the state before the session.
    let asks_for_state = |one: &AnsweredPrompt| text::asks_for_state(&one.prompt);
    let (state, intent) = (intent.as_ref().is_some_and(asks_for_state), intent);
    let last = last.filter(|one| !text::is_small_talk(&one.prompt));
    Ok(match if state { last.or(intent) } else { intent.or(last) } {
        Some(of) => {
            let outcome = of.gist(limits::BRIEFING_TEXT_CHARS);
            (Some(of.id), of.prompt, outcome, String::new())
        }
        None => {
            let (id, intent) = prompts::intent_prompt(rx, session.id)?.unzip();
            (id, intent.unwrap_or_default(), String::new(), String::new())
        }
    })
}

fn line(writer: &mut SectionWriter<'_>, past: &PastSession<'_>) -> String {
    let PastSession { intent, decision, outcome, ended, commits, actions, .. } = past;
    let mut line = format!("{}{decision}", writer.quote(intent));
    if !outcome.is_empty() && !writer.is_quoted(outcome) {
        line = format!("{line} → {}", writer.quote(outcome));
    }
    if !ended.is_empty() && !writer.is_quoted(ended) {
        line = format!("{line} → {}", writer.quote(ended));
    }
    if !commits.is_empty() {
        line = format!("{line} → {commits}");
    } else if outcome.is_empty() {
        let noun = if *actions == 1 { "action" } else { "actions" };
        line = format!("{line} → {actions} {noun}, no answer recorded");
    }
    line
}

/// The files of the project that a session edited, the last first, without those that the line or a row before it
/// names. Files of the last session have rows of their own, which show what changed.
fn edited(
    writer: &mut SectionWriter<'_>,
    session: &Session,
    line: &str,
    last: &BTreeSet<String>,
) -> String {
    let known = session.summary.as_ref().map(|summary| summary.files_edited.clone());
    let paths = known.filter(|paths| !paths.is_empty()).unwrap_or_else(|| {
        let own = |seen: &&Observation| seen.session_id == session.session_id;
        let edits = writer.work.edits.iter().filter(own);
        edits.filter_map(|seen| seen.file_path.clone()).collect()
    });
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        if names.len() == limits::BRIEFING_SESSION_FILES {
            break;
        }
        let shown = writer.shown(&path).to_owned();
        if !last.contains(&path) && writer.names_path(&path) && !line.contains(&shown) {
            names.push(shown);
        }
    }
    names.join(", ")
}

/// The commits of a session by hash and subject, the last first.
fn commits(writer: &SectionWriter<'_>, session: &Session) -> String {
    let own = |seen: &&Observation| seen.session_id == session.session_id;
    let commits: Vec<&Observation> = writer.work.commits.iter().filter(own).collect();
    let told = commits.iter().take(limits::BRIEFING_COMMITS_TOLD).map(|seen| commit(seen));
    let mut line = told.collect::<Vec<_>>().join("; ");
    if commits.len() > limits::BRIEFING_COMMITS_TOLD {
        line.push_str(&format!(" and {} more", commits.len() - limits::BRIEFING_COMMITS_TOLD));
    }
    line
}
