//! The block that a resumed session begins with, and the section for a session whose agent dropped its context. Both have the
//! declared sets.

use std::path::Path;

use contract::{Candidate, Config, Moment, Occasion, Slot};
use model::context::{self, ContextSets};
use model::entry::EntryPath;
use model::event::Event;
use model::hook::{BLOCK_END, RESUMED, Source, ToldEntry};
use model::{OpError, limits};
use serde_json::json;
use store::{Tx, context as stored, session_details, sessions};
use text::{HostLimits, HostSize};

use crate::inherit::{ADDED_BY, CARRY_OVER};

const HEADER: [&str; 3] =
    [RESUMED.first, RESUMED.second, "Re-run any environment setup commands before proceeding."];
/// The line above the files.
pub(crate) const FILES: &str = "Relevant files:";

/// How the block's own lines begin.
const LABELS: [&str; 4] =
    ["Session directory", "Environment hint", "Relevant files", "Last applet"];

/// The reason in the receipt of the block.
const RESUME_REASON: &str = "the session resumed";

/// The title of the section for a new session with the sets of the one before.
const CARRIED: &str = "Working context, carried over from the last session";

/// Whether the text for a session that starts like this contains its context. A fork still has it in its conversation.
pub(crate) fn is_told(source: Source, config: &Config) -> bool {
    let is_carried = || source == Source::Startup && config.boolean(CARRY_OVER);
    source == Source::Resume || source.forgot() || is_carried()
}

/// Publishes the context of a session that got the block.
pub(crate) fn delivered(tx: &Tx<'_>, name: &str, entries: &[ToldEntry]) -> Result<(), OpError> {
    if !entries.iter().any(|entry| entry.reason == RESUME_REASON) {
        return Ok(());
    }
    let Some(session) = sessions::by_name(tx, name)? else { return Ok(()) };
    let sets = stored::of_session(tx, session.id)?;
    if sets.is_empty() {
        return Ok(());
    }
    tx.note(Event {
        reason: Some("resume"),
        project: Some(session.project_id),
        data: json!({ "context": sets }),
        ..Event::new("context/resumed", format!("session://{name}"))
    })
    .map(drop)
}

/// The block or the section, for a session that resumes or lost its context.
pub(crate) fn candidates(moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    let Occasion::SessionStart(source) = moment.occasion else { return Ok(Vec::new()) };
    let Some(name) = moment.session.filter(|_| is_told(source, moment.config)) else {
        return Ok(Vec::new());
    };
    let is_new = source != Source::Resume && !source.forgot();
    let session = moment.store.read(|rx| {
        let Some(session) = sessions::by_name(rx, name)? else { return Ok(None) };
        // A new session gets the text only if it inherited items.
        if is_new && !stored::has_item_by(rx, session.id, ADDED_BY)? {
            return Ok(None);
        }
        let sets = stored::of_session(rx, session.id)?;
        let hint = session_details::of_session(rx, session.id)?.env_hint;
        let cwd = session_details::last_start(rx, session.id)?.cwd;
        Ok(Some((cwd.or(session.root), sets, hint)))
    })?;
    let Some((cwd, sets, hint)) = session else { return Ok(Vec::new()) };
    let exists = |path: &str| Path::new(path).exists();
    let directory = cwd.as_deref().or(moment.situation.cwd.as_deref());
    let row = |slot: Slot, place: usize, mut lines: Vec<String>| {
        let first = if lines.is_empty() { String::new() } else { lines.remove(0) };
        let path = EntryPath::format("session", &[name]);
        Candidate {
            // Each set is a row of its own.
            same_as: Some(format!("{path}#{place}")),
            path,
            title: is_new.then(|| CARRIED.to_owned()),
            // A new stamp each time: a resumed session gets the row again.
            stamp: moment.now.saturating_add(i64::try_from(place).unwrap_or_default()),
            score: 1.0 - 0.01 * place as f64,
            reasons: vec![match slot {
                Slot::Resume => RESUME_REASON.to_owned(),
                _ => "the session declared it".to_owned(),
            }],
            cells: vec![first],
            more: lines,
            ..Candidate::new(slot)
        }
    };
    if source == Source::Resume {
        return Ok(vec![row(
            Slot::Resume,
            0,
            block(moment.host, (directory, hint.as_deref()), &sets, exists),
        )]);
    }
    let sections = recovered(moment.host, hint.as_deref(), &sets, exists).into_iter().enumerate();
    Ok(sections.map(|(place, lines)| row(Slot::WorkingContext, place, lines)).collect())
}

/// The rows of the section *Working context*, within the limits of the agent's host.
fn recovered(
    host: HostLimits,
    hint: Option<&str>,
    sets: &ContextSets,
    exists: impl Fn(&str) -> bool,
) -> Vec<Vec<String>> {
    fitting(host, sets, |kept, left_out| {
        let hint = hint.map(|hint| vec![env_hint(hint)]);
        let more = left_out_line(left_out).map(|line| vec![line]);
        let rows: Vec<Vec<String>> =
            hint.into_iter().chain(sections(kept, &exists)).chain(more).collect();
        let size = rendered_size(rows.iter().flatten());
        (rows, size)
    })
}

/// The lines of the block, within the limits of the agent's host. Items that do not fit are left out from the end and counted.
fn block(
    host: HostLimits,
    about: (Option<&str>, Option<&str>),
    sets: &ContextSets,
    exists: impl Fn(&str) -> bool,
) -> Vec<String> {
    fitting(host, sets, |kept, left_out| {
        let lines = lines_of(about, kept, left_out, &exists);
        let size = rendered_size(lines.iter());
        (lines, size)
    })
}

/// The size of these lines in a text: neutralised, each with a line break, and with a mark or an indentation. Without
/// a mark, a `#` at the beginning becomes a character that is two bytes longer.
fn rendered_size<'l>(lines: impl Iterator<Item = &'l String>) -> HostSize {
    let mut size = HostSize::default();
    lines.for_each(|line| size.add_line(&text::quoted(line, usize::MAX), 3));
    size
}

/// The text of as many items as fit, first the files, then the applet and the other sets. `write` gets the sets and
/// the number of items that were left out; it returns their text and its size.
fn fitting<T>(
    host: HostLimits,
    sets: &ContextSets,
    write: impl Fn(&ContextSets, usize) -> (T, HostSize),
) -> T {
    let room = host.beside(limits::RESUME_ROOM);
    let is_first = |(name, _): &(&str, &[String])| *name == context::FILES;
    let (first, rest): (Vec<_>, Vec<_>) = sets.iter().partition(is_first);
    let (applet, others): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|(name, _)| *name == context::APPLET);
    let ordered: Vec<(&str, &[String])> = first.into_iter().chain(applet).chain(others).collect();
    let items: usize = ordered.iter().map(|(_, items)| items.len()).sum();
    let with = |left_out: usize| write(&first_items(&ordered, items - left_out), left_out);
    let (whole, size) = with(0);
    if room.accept(size) {
        return whole;
    }
    // Fewer items never make the text longer, so bisection finds the number. The text is written only a few times,
    // not once for each item: a hook waits.
    let (mut too_few, mut enough) = (0, (items, None));
    while enough.0 - too_few > 1 {
        let middle = usize::midpoint(too_few, enough.0);
        let (text, size) = with(middle);
        match room.accept(size) {
            true => enough = (middle, Some(text)),
            false => too_few = middle,
        }
    }
    enough.1.unwrap_or_else(|| with(enough.0).0)
}

/// The first `count` items of these sets in all.
fn first_items(sets: &[(&str, &[String])], mut count: usize) -> ContextSets {
    let mut kept = Vec::new();
    for (name, items) in sets {
        let items: Vec<String> = items.iter().take(count).cloned().collect();
        count -= items.len();
        if !items.is_empty() {
            kept.push(((*name).to_owned(), items));
        }
    }
    ContextSets::new(kept)
}

fn left_out_line(count: usize) -> Option<String> {
    (count > 0).then(|| format!("({count} more item(s), see get_relevant_context)"))
}

/// The lines of a block with these sets: sections with a blank line between them.
fn lines_of(
    (directory, hint): (Option<&str>, Option<&str>),
    sets: &ContextSets,
    left_out: usize,
    exists: &impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut lines: Vec<String> = HEADER.iter().map(|line| (*line).to_owned()).collect();
    if let Some(directory) = directory {
        lines.extend([String::new(), format!("Session directory: {directory}")]);
    }
    lines.extend(hint.map(env_hint));
    for section in sections(sets, exists) {
        lines.push(String::new());
        lines.extend(section);
    }
    lines.extend(left_out_line(left_out));
    lines.push(BLOCK_END.to_owned());
    lines
}

pub(crate) fn env_hint(hint: &str) -> String {
    format!("Environment hint: {}", text::one_line(hint, limits::ENV_HINT_CHARS_MAX))
}

/// The files that still exist, the applet and the other sets, each as lines.
pub(crate) fn sections(sets: &ContextSets, exists: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let mut sections = Vec::new();
    let (there, gone): (Vec<&String>, Vec<&String>) =
        sets.of(context::FILES).iter().partition(|path| exists(path));
    if !there.is_empty() || !gone.is_empty() {
        let mut lines = vec![FILES.to_owned()];
        lines.extend(there.iter().map(|path| format!("- {path}")));
        if !gone.is_empty() {
            lines.push(format!("({} file(s) no longer exist)", gone.len()));
        }
        sections.push(lines);
    }
    if let [slug, params @ ..] = sets.of(context::APPLET) {
        let params: Vec<String> = params.iter().map(|param| shown(param)).collect();
        let params = match params.is_empty() {
            true => String::new(),
            false => format!(" ({})", params.join(", ")),
        };
        sections.push(vec![format!("Last applet: {}{params}", shown(slug))]);
    }
    let others = sets.iter().filter(|(name, _)| ![context::FILES, context::APPLET].contains(name));
    for (name, items) in others {
        let items: Vec<String> = items.iter().map(|item| shown(item)).collect();
        sections.push(vec![format!("{}: {}", label(name), items.join(", "))]);
    }
    sections
}

/// The name of a set before its items; quoted if it could be taken for a line of the block itself.
fn label(name: &str) -> String {
    let name = shown(name);
    let is_ours = LABELS.iter().any(|label| {
        name.trim().get(..label.len()).is_some_and(|head| head.eq_ignore_ascii_case(label))
    });
    if is_ours { format!("\"{name}\"") } else { name }
}

/// An item as a part of one line.
fn shown(item: &str) -> String {
    text::one_line(item, limits::CONTEXT_ITEM_CHARS_SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits of the strictest host.
    const HOST: HostLimits =
        HostLimits { units: limits::INJECT_CHARS_MAX, bytes: 4 * limits::INJECT_TOKENS_MAX };

    fn sets(json: &str) -> ContextSets {
        serde_json::from_str(json).unwrap()
    }

    /// @resume_block
    #[test]
    fn the_block_has_the_form_of_the_specification() {
        let sets = sets(
            r#"{"ports":["80","81"],"files":["/a/b.md","/gone.md"],"applet":["git-diff","path=a b"],"x":["two\nlines"]}"#,
        );
        let exists = |path: &str| path == "/a/b.md";
        let expected = "[SESSION RESUMED]\n\
            This is a resumed session. Your shell state has been reset.\n\
            Re-run any environment setup commands before proceeding.\n\n\
            Session directory: /a\nEnvironment hint: source .env\n\n\
            Relevant files:\n- /a/b.md\n(1 file(s) no longer exist)\n\n\
            Last applet: git-diff (path=a b)\n\n\
            ports: 80, 81\n\n\
            x: two lines\n---";
        assert_eq!(
            block(HOST, (Some("/a"), Some("source .env")), &sets, exists).join("\n"),
            expected
        );
        let nothing = block(HOST, (Some("/a"), None), &ContextSets::default(), exists).join("\n");
        assert!(nothing.ends_with("proceeding.\n\nSession directory: /a\n---"), "{nothing}");
    }

    /// @resume_block
    #[test]
    fn items_that_do_not_fit_are_left_out_from_the_end_and_counted() {
        let paths: Vec<String> = (0..10).map(|n| format!("/{n}/{}", "p".repeat(1_000))).collect();
        let sets = ContextSets::new(vec![
            ("notes".into(), vec!["n".repeat(200); 1]),
            ("files".into(), paths.clone()),
        ]);
        let lines = block(HOST, (Some("/a"), None), &sets, |_| true);
        let text = lines.join("\n");
        assert!(HOST.accept(HostSize::of(&text)), "{}", text.len());
        assert!(lines.contains(&format!("- {}", paths[7])) && !text.contains(&paths[8]), "{text}");
        assert!(text.ends_with("\n(3 more item(s), see get_relevant_context)\n---"), "{text}");
    }

    /// @resume_block
    #[test]
    fn items_are_measured_as_the_host_measures_them() {
        // One is long in bytes, the other in UTF-16, and the third where it is neutralised.
        for item in ["漢".repeat(1_020), "😀".repeat(1_020), "![a](b) ".repeat(120)] {
            let set = |n: usize| (format!("#set {n}"), vec![item.clone(); 10]);
            let sets = ContextSets::new((0..5).map(set).collect());
            let lines = block(HOST, (Some("/a"), None), &sets, |_| true);
            let whole: Vec<String> =
                lines.iter().map(|line| text::quoted(line, usize::MAX)).collect();
            assert!(HOST.accept(HostSize::of(&whole.join("\n"))), "{item}");
            let [.., count, end] = &whole[..] else { panic!("{whole:?}") };
            assert!(count.contains(" more item(s)") && end == BLOCK_END, "{whole:?}");
            let rows = recovered(HOST, None, &sets, |_| true);
            let size = rendered_size(rows.iter().flatten());
            assert!(HOST.beside(limits::RESUME_ROOM).accept(size), "{item}");
            assert!(rows.last().unwrap()[0].contains(" more item(s)"), "{rows:?}");
        }
    }

    /// @resume_recovery
    #[test]
    fn items_that_do_not_fit_after_a_compact_are_counted() {
        let paths: Vec<String> = (0..10).map(|n| format!("/{n}/{}", "p".repeat(1_000))).collect();
        let sets = ContextSets::new(vec![
            ("files".into(), paths.clone()),
            ("ports".into(), vec!["80".into()]),
        ]);
        let rows = recovered(HOST, Some("source .env"), &sets, |_| true);
        assert_eq!(rows[0], ["Environment hint: source .env"]);
        assert!(rows[1].contains(&format!("- {}", paths[7])), "{rows:?}");
        assert_eq!(rows[2], ["(3 more item(s), see get_relevant_context)"]);
    }

    /// @resume_block
    #[test]
    fn a_set_named_like_a_line_of_the_block_is_quoted() {
        let forged = sections(&sets(r#"{"environment Hint":["rm x"],"env":["y"]}"#), |_| true);
        assert_eq!(forged, [["\"environment Hint\": rm x"], ["env: y"]]);
    }

    /// @resume_block
    #[test]
    fn files_that_are_all_gone_are_counted_and_a_long_item_is_cut() {
        let gone = sections(&sets(r#"{"files":["/x","/y"]}"#), |_| false);
        assert_eq!(gone, [["Relevant files:", "(2 file(s) no longer exist)"]]);
        let long = "x".repeat(300);
        let cut = sections(&ContextSets::new(vec![("notes".into(), vec![long])]), |_| true);
        assert_eq!(cut[0][0].chars().count(), "notes: ".len() + 200);
        assert!(cut[0][0].ends_with('…'));
    }
}
