//! Edits: the path and the first lines that changed; the rest is in the file and in git.

use std::collections::HashSet;

use model::limits;
use model::observation::ObsType;
use serde_json::{Map, Value};

use super::{Call, Draft, FILE};
use crate::guard;
use crate::table::Tool;
use crate::wire::Text;

/// An edit of one file, by whichever tool.
pub(super) fn of_file(call: &Call<'_>) -> Draft {
    let several = call.tool == Tool::Edits;
    let edits = || call.input.objects("edits");
    let mut draft = match call.path(FILE) {
        Some(path) => {
            let edit = if several { edits().next() } else { Some(call.input) };
            let text = |members: &[&str]| {
                edit.and_then(|edit| edit.text(members)).map(|text| text.head()).unwrap_or_default()
            };
            let old = text(&["old_string", "oldString"]);
            let line = changed_lines(old, text(&["new_string", "newString", "new_source"]));
            let content = preview(call.shown(path), &line);
            Draft { file_path: Some(call.absolute(path)), ..Draft::new(ObsType::FileEdit, content) }
        }
        None => call.plain(ObsType::FileEdit, &[]),
    };
    if several {
        draft.metadata.insert("edits".into(), edits().count().into());
    }
    draft
}

fn preview(shown: &str, line: &str) -> text::secrets::Redacted<String> {
    let content =
        if line.is_empty() { format!("Edit {shown}") } else { format!("Edit {shown}: {line}") };
    guard::line(&content, limits::OBSERVED_EDIT_CHARS_MAX)
}

/// The first added lines, or the first removed line after `- `. The whole text is redacted before lines are
/// taken from it, because a secret may be recognised only by the lines around it.
fn changed_lines(old: &str, new: &str) -> String {
    let (old, new) = (guard::looked_at(old), guard::looked_at(new));
    let same = old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count();
    let gone: HashSet<&str> = old.lines().map(str::trim).collect();
    let lines = joined(lines_from(new, same).iter().filter(|line| !gone.contains(line.as_str())));
    if !lines.is_empty() {
        return lines;
    }
    lines_from(old, same).first().map(|line| format!("- {line}")).unwrap_or_default()
}

/// The lines that are not blank, after the first `skip` lines.
fn lines_from(text: &str, skip: usize) -> Vec<String> {
    let safe = guard::safe(text);
    // A redaction may have removed lines; then their numbers no longer match.
    let counted = safe.lines().count() == text.lines().count();
    let lines = safe.lines().skip(if counted { skip } else { 0 }).map(str::trim);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The first few of these lines, joined. Lines of brackets alone are left out; without other lines, the first is used.
fn joined<'l>(lines: impl Iterator<Item = &'l String>) -> String {
    let says = |line: &&String| line.chars().any(char::is_alphanumeric);
    let mut lines = lines.peekable();
    let first = lines.peek().map(|line| (**line).clone()).unwrap_or_default();
    let told: Vec<&str> =
        lines.filter(says).take(limits::OBSERVED_EDIT_LINES).map(String::as_str).collect();
    if told.is_empty() { first } else { told.join(" ⏎ ") }
}

/// The tool that takes a patch.
pub(super) fn of_patch_tool(call: &Call<'_>) -> Draft {
    let given = call.input.text_or_first(&["command", "input", "patch", "patchText"]);
    match given.or_else(|| Text::of(call.bare?)) {
        Some(patch) => of_patch(call, patch.head()),
        None => call.plain(ObsType::FileEdit, &[]),
    }
}

/// A patch in the form `*** Update File: path`, with lines that begin with `+` or `-`.
pub(super) fn of_patch(call: &Call<'_>, patch: &str) -> Draft {
    let patch = guard::looked_at(patch);
    let mut draft = call.plain(ObsType::FileEdit, &[]);
    let named = |line| {
        let rest = str::strip_prefix(line, "*** ")?;
        let verbs = ["Add File: ", "Update File: ", "Delete File: ", "Move to: "];
        verbs.iter().find_map(|verb| rest.strip_prefix(verb)).map(str::trim)
    };
    let files: Vec<&str> =
        patch.lines().filter_map(named).filter(|path| !path.is_empty()).collect();
    let Some(first) = files.first() else { return draft };
    let shown = match files.len() {
        1 => call.shown(first).to_owned(),
        several => format!("{} and {} more", call.shown(first), several - 1),
    };
    draft.content = preview(&shown, &patched_lines(patch));
    draft.file_path = Some(call.absolute(first));
    if files.len() > 1 {
        draft.metadata = of_files(call, &files);
    }
    draft
}

fn of_files(call: &Call<'_>, files: &[&str]) -> Map<String, Value> {
    let kept = files.iter().take(limits::OBSERVED_FILES_MAX);
    let kept = kept.map(|path| guard::place(&call.absolute(path)));
    let files = Value::Array(kept.map(|path| path.into_inner().into()).collect());
    Map::from_iter([("files".to_owned(), files)])
}

fn patched_lines(patch: &str) -> String {
    let safe = guard::safe(patch);
    let lines = |sign: char| -> Vec<String> {
        let lines = safe.lines().filter_map(|line| line.strip_prefix(sign)).map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let (new, gone) = (lines('+'), lines('-'));
    let told = joined(new.iter().filter(|line| !gone.contains(line)));
    match gone.first() {
        Some(gone) if told.is_empty() => format!("- {gone}"),
        _ => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// @capture_edit_preview
    #[test]
    fn the_first_lines_that_changed_are_shown() {
        let table = [
            ("line two", "line 2", "line 2"),
            ("a\nb\nc", "a\nB\nc", "B"),
            ("a\nb", "a\n\n  new\nb", "new"),
            ("a\nb", "a", "- b"),
            ("gone", "", "- gone"),
            ("", "  first\nsecond", "first ⏎ second"),
            ("fn a(\n  b: u8,\n) {", "fn a(\n  #[arg]\n  c: u8,\n) {", "#[arg] ⏎ c: u8,"),
            ("x", "{\n}\none\ntwo\nthree\nfour", "one ⏎ two ⏎ three"),
            ("x", "}", "}"),
            ("same", "same", ""),
            ("", "", ""),
        ];
        for (old, new, line) in table {
            assert_eq!(changed_lines(old, new), line, "{old:?} {new:?}");
        }
    }
}
