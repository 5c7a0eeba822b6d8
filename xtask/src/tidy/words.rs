//! Rules about every text file: no white space at line ends, and no paths of the machine it was written on.

use crate::project::TextFile;
use crate::report::Problem;
use crate::rust_source::lines;

/// Paths that exist on one machine only. Split, so that this file passes its own check.
const FOREIGN: [&str; 2] = [concat!("/wo", "rk/"), concat!("sha", "red/")];

pub(crate) fn check(file: &TextFile, problems: &mut Vec<Problem>) {
    // A test may quote output with white space at its line ends.
    let quoting = file.path.ends_with(".rs").then(|| lines(&file.path, &file.text));
    for (index, line) in file.text.split('\n').enumerate() {
        let mut report = |what: String| problems.push(Problem::new(&file.path, index + 1, what));
        let quoted =
            quoting.as_ref().and_then(|lines| lines.get(index)).is_some_and(|line| line.test);
        if !quoted && line.ends_with([' ', '\t', '\r']) {
            report("white space at the end of the line; remove it".into());
        }
        for word in FOREIGN {
            if names(line, word) {
                report(format!("`{word}` is a place outside of the project; restate what it says"));
            }
        }
    }
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        let last = file.text.lines().count();
        problems.push(Problem::new(&file.path, last, "no newline at the end; add one"));
    }
}

/// Whether the line has the word as a whole part of a path.
fn names(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<usize> {
        found_in("a.md", text)
    }

    fn found_in(path: &str, text: &str) -> Vec<usize> {
        let mut problems = Vec::new();
        check(&TextFile { path: path.into(), text: text.into() }, &mut problems);
        problems.into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn white_space_at_line_ends_is_reported() {
        assert_eq!(found("a\nb \nc\t\nd\r\n"), [2, 3, 4]);
        assert_eq!(found_in("crates/x/src/lib.rs", "a \n"), [1]);
        assert_eq!(found_in("crates/x/src/tests/help.rs", "a \n"), [0usize; 0]);
    }

    #[test]
    fn paths_outside_of_the_project_are_reported() {
        let text = FOREIGN
            .map(|word| format!("see ..{}{word}x", if word.starts_with('/') { "" } else { "/" }));
        assert_eq!(found(&format!("{}\n{}\n", text[0], text[1])), [1, 2]);
        assert_eq!(found("a framework/ and unshared/x\n"), [0usize; 0]);
    }

    #[test]
    fn a_missing_last_newline_is_reported() {
        assert_eq!(found("a\nb"), [2]);
        assert_eq!(found(""), [0usize; 0]);
    }
}
