//! Other projects in a briefing: only those that have to do with the own one, and little of each.

use std::collections::BTreeSet;

use contract::{Candidate, Slot};
use model::observation::{ObsType, Observation};
use model::project::Project;
use model::session::Session;
use model::{OpError, limits, rank, time};
use store::sessions::{self, SessionFilter};
use store::{observations, passages, projects, prompts};

use super::reader::BriefingReader;
use super::sections::{SectionWriter, all_marks, in_quotes};
use super::topic::subject;

/// Sessions whose intents are compared: of the own project, and of each other project.
const SESSIONS_COMPARED: usize = 3;
/// The fewest words that the last intents of two related projects have in common.
const SHARED_WORDS_MIN: usize = 2;
/// A word is widespread if at least `WIDESPREAD_MIN` projects and at least one in `WIDESPREAD_SHARE` of them use it.
const WIDESPREAD_MIN: usize = 3;
const WIDESPREAD_SHARE: usize = 3;
/// Stems that the intents of any two projects have in common. In a store of two projects, where every shared
/// word is used by all projects, `is_widespread` cannot exclude them.
const COMMON: &[&str] = &[
    "add",
    "again",
    "agent",
    "also",
    "anyth",
    "api",
    "app",
    "back",
    "befor",
    "behaviour",
    "best",
    "better",
    "bit",
    "branch",
    "bug",
    "build",
    "call",
    "case",
    "chang",
    "check",
    "choos",
    "clean",
    "code",
    "come",
    "command",
    "comment",
    "commit",
    "complain",
    "config",
    "continu",
    "correct",
    "creat",
    "current",
    "data",
    "day",
    "dead",
    "debug",
    "decid",
    "decis",
    "default",
    "delet",
    "deploy",
    "differ",
    "doc",
    "document",
    "done",
    "easi",
    "end",
    "error",
    "everi",
    "everyth",
    "exampl",
    "explain",
    "export",
    "extract",
    "fail",
    "featur",
    "file",
    "find",
    "first",
    "fix",
    "follow",
    "full",
    "function",
    "get",
    "give",
    "go",
    "good",
    "handl",
    "happen",
    "help",
    "hour",
    "implement",
    "import",
    "improv",
    "insid",
    "instal",
    "instead",
    "issu",
    "keep",
    "know",
    "last",
    "later",
    "leav",
    "let",
    "like",
    "line",
    "list",
    "long",
    "look",
    "main",
    "make",
    "mean",
    "mention",
    "merg",
    "messag",
    "minut",
    "miss",
    "modul",
    "move",
    "much",
    "must",
    "name",
    "narrow",
    "need",
    "new",
    "next",
    "nice",
    "night",
    "note",
    "noth",
    "now",
    "number",
    "ok",
    "old",
    "onc",
    "onli",
    "open",
    "order",
    "page",
    "part",
    "place",
    "plan",
    "pleas",
    "point",
    "possibl",
    "prefer",
    "prepar",
    "print",
    "problem",
    "project",
    "push",
    "put",
    "question",
    "quick",
    "read",
    "readm",
    "realli",
    "reason",
    "refactor",
    "releas",
    "remain",
    "remov",
    "renam",
    "repair",
    "replac",
    "repo",
    "report",
    "result",
    "review",
    "rewrit",
    "right",
    "run",
    "same",
    "save",
    "say",
    "script",
    "second",
    "see",
    "seem",
    "send",
    "separ",
    "set",
    "setup",
    "short",
    "show",
    "simpl",
    "singl",
    "small",
    "someth",
    "soon",
    "sort",
    "split",
    "start",
    "state",
    "stay",
    "step",
    "still",
    "stop",
    "support",
    "sure",
    "switch",
    "take",
    "talk",
    "tell",
    "test",
    "text",
    "thank",
    "thing",
    "think",
    "three",
    "tidi",
    "time",
    "today",
    "todo",
    "tool",
    "try",
    "turn",
    "twice",
    "type",
    "understand",
    "until",
    "unus",
    "updat",
    "use",
    "user",
    "valu",
    "version",
    "wait",
    "want",
    "way",
    "week",
    "whole",
    "without",
    "wonder",
    "word",
    "work",
    "write",
    "wrong",
    "yesterday",
];

/// Adds the other projects that share files, or words of the last intents, with the own one.
pub(super) fn add(writer: &mut SectionWriter<'_>, elsewhere: &[i64]) -> Result<(), OpError> {
    let brief = writer.brief;
    let latest = latest(brief, elsewhere)?;
    if latest.is_empty() {
        return Ok(());
    }
    let mut words: BTreeSet<String> = BTreeSet::new();
    for session in writer.work.sessions.iter().take(SESSIONS_COMPARED) {
        words.extend(intent_words(brief, session)?);
    }
    let mut told = 0;
    for project in latest {
        if told == limits::BRIEFING_OTHERS_MAX {
            break;
        }
        let sessions = sessions_of(brief, project.id)?;
        let Some(reason) = relation(writer, &project, &sessions, &words)? else {
            continue;
        };
        // This directory replaced that of the other project, and must not get anything from it.
        if projects::began_at(brief.rx, project.id, &writer.work.roots)? {
            continue;
        }
        if let Some(row) = row(brief, &project, &sessions, Slot::OtherProjects)? {
            told += 1;
            writer.push(Candidate { reasons: vec![reason], ..row });
        }
    }
    Ok(())
}

/// The marks and the last work of all projects, for a directory without a project.
pub(super) fn all(brief: &BriefingReader<'_>, all: &[i64]) -> Result<Vec<Candidate>, OpError> {
    let mut found = all_marks(brief, all)?;
    for project in latest(brief, all)? {
        let sessions = sessions_of(brief, project.id)?;
        found.extend(row(brief, &project, &sessions, Slot::AllProjects)?);
    }
    Ok(found)
}

/// The most recently active ones of these projects.
fn latest(brief: &BriefingReader<'_>, these: &[i64]) -> Result<Vec<Project>, OpError> {
    let all = projects::latest(brief.rx)?.into_iter().map(|(project, _)| project);
    Ok(all.filter(|one| these.contains(&one.id)).take(limits::BRIEFING_READ_PROJECTS).collect())
}

fn sessions_of(brief: &BriefingReader<'_>, project: i64) -> Result<Vec<Session>, OpError> {
    let filter =
        SessionFilter { projects: Some(&[project]), prompted: true, ..SessionFilter::default() };
    let mut sessions = sessions::list(brief.rx, &filter, SESSIONS_COMPARED)?;
    sessions.retain(|session| brief.session.is_none_or(|own| own != session.session_id));
    Ok(sessions)
}

/// The intent of a session: from its summary if there is one, else from its prompts.
fn intent(brief: &BriefingReader<'_>, session: &Session) -> Result<String, OpError> {
    let known = session.summary.as_ref().map(|summary| summary.intent.clone());
    match known.filter(|intent| !intent.is_empty()) {
        Some(intent) => Ok(intent),
        None => Ok(prompts::intent(brief.rx, session.id)?.unwrap_or_default()),
    }
}

/// The words of a session's intent that say what it is about. Parts of paths do not: every project has a `main` or a
/// `client`.
fn intent_words(
    brief: &BriefingReader<'_>,
    session: &Session,
) -> Result<BTreeSet<String>, OpError> {
    let says_something = |word: &String| word.len() > 3 && !COMMON.contains(&word.as_str());
    let intent = intent(brief, session)?;
    let words: Vec<&str> = intent.split_whitespace().filter(|word| !is_path(word)).collect();
    Ok(subject(&words.join(" ")).into_iter().filter(says_something).collect())
}

/// Whether a word of a prompt is a path or the name of a file.
fn is_path(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let has_ending =
        word.rsplit_once('.').is_some_and(|(_, ending)| ending.starts_with(char::is_alphanumeric));
    word.contains('/') || has_ending
}

/// The relation of another project to the own one, if there is any. An equal repository name is no relation: a clone
/// can be published under the name of a private repository, by another owner or on another host.
fn relation(
    writer: &SectionWriter<'_>,
    project: &Project,
    sessions: &[Session],
    words: &BTreeSet<String>,
) -> Result<Option<String>, OpError> {
    let root = project.root.as_deref().map(|root| format!("{}/", root.trim_end_matches('/')));
    let is_theirs = |seen: &Observation| {
        let path = seen.file_path.as_deref().unwrap_or_default();
        is_below(root.as_deref(), path) && !writer.work.holds(path)
    };
    if writer.work.edits.iter().any(is_theirs) {
        return Ok(Some("files of it were edited from here".to_owned()));
    }
    let most = limits::BRIEFING_READ_OF_OTHERS;
    let theirs = observations::edited_paths(writer.brief.rx, project.id, most)?;
    // A nested project, or one that was at this path before, edited its own files.
    let is_ours = |path: &&String| writer.work.holds(path) && !is_below(root.as_deref(), path);
    if theirs.iter().any(|path| is_ours(&path)) {
        return Ok(Some("files of this project were edited from there".to_owned()));
    }
    // One word in common, such as `card`, is chance.
    let mut shared: BTreeSet<String> = BTreeSet::new();
    for session in sessions {
        for word in intent_words(writer.brief, session)? {
            if words.contains(&word) && !is_widespread(writer.brief, &word)? {
                shared.insert(word);
            }
        }
    }
    if shared.len() >= SHARED_WORDS_MIN {
        let all: Vec<&str> = shared.iter().map(String::as_str).collect();
        let stems = all.join("', '");
        return Ok(Some(format!("its intents share the word stems '{stems}' with this project's")));
    }
    Ok(None)
}

/// Whether so many projects use a word that it tells nothing about two of them.
fn is_widespread(brief: &BriefingReader<'_>, stem: &str) -> Result<bool, OpError> {
    let using = passages::projects_with(brief.rx, stem)?;
    Ok(using >= WIDESPREAD_MIN && using * WIDESPREAD_SHARE >= projects::ids(brief.rx)?.len())
}

fn is_below(folder: Option<&str>, path: &str) -> bool {
    folder.is_some_and(|folder| path.starts_with(folder))
}

fn newest_edits(brief: &BriefingReader<'_>, project: i64) -> Result<Vec<Observation>, OpError> {
    let kinds = [ObsType::FileEdit, ObsType::FileWrite];
    let most = limits::BRIEFING_READ_OF_OTHERS;
    observations::lately(brief.rx, &[project], &kinds, i64::MIN, most)
}

/// One line about a project: its last intent, else its last edit. Its text is bounded, as it goes to
/// sessions of another project.
fn row(
    brief: &BriefingReader<'_>,
    project: &Project,
    sessions: &[Session],
    slot: Slot,
) -> Result<Option<Candidate>, OpError> {
    let mut last = None;
    for session in sessions {
        let intent = intent(brief, session)?;
        let says_enough = intent.split_whitespace().count() >= limits::OPEN_PROMPT_WORDS_MIN
            && !text::is_small_talk(&intent);
        if says_enough && !sessions::counts(brief.rx, session)?.is_empty() {
            let line = text::line_of_words(&intent, limits::BRIEFING_SUMMARY_CHARS);
            last = Some((session.id, session.last_at, in_quotes(&line)));
            break;
        }
    }
    if last.is_none() {
        let edits = newest_edits(brief, project.id)?;
        let edit = edits.into_iter().find(|seen| !seen.failed() && brief.is_worth_telling(seen));
        last = edit.map(|seen| {
            let line = text::line_of_words(&seen.content, limits::BRIEFING_SUMMARY_CHARS);
            (seen.id, seen.at_ms, line)
        });
    }
    let Some((id, at, line)) = last else { return Ok(None) };
    Ok(Some(Candidate {
        path: format!("obs://{id}"),
        stamp: at,
        score: 0.1 + 0.2 * rank::recency(at, brief.now),
        reasons: vec!["one of the projects that were active last".to_owned()],
        cells: vec![
            format!("#{id} [{}]", time::age(at, brief.now)),
            format!("{line} [{}]", project.name),
        ],
        labels: 1,
        ..Candidate::new(slot)
    }))
}
