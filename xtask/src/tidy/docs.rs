//! Rules about Markdown: relative links lead somewhere, and every page of docs/ can be reached.

use std::collections::BTreeSet;

use crate::project::TextFile;
use crate::report::Problem;

/// `exists` tells whether a path relative to the root exists.
pub(crate) fn check(
    files: &[TextFile],
    exists: &dyn Fn(&str) -> bool,
    problems: &mut Vec<Problem>,
) {
    let pages: Vec<&TextFile> = files.iter().filter(|file| file.path.ends_with(".md")).collect();
    for page in &pages {
        for (line, target) in links(&page.text) {
            let path = resolve(&page.path, target);
            if path.as_deref().is_none_or(|path| !exists(path)) {
                let what = format!("the link to '{target}' leads nowhere; correct or remove it");
                problems.push(Problem::new(&page.path, line, what));
            }
        }
    }
    let reached = reachable(&pages);
    for page in pages.iter().filter(|page| page.path.starts_with("docs/")) {
        if !reached.contains(page.path.as_str()) {
            let what = "no page leads here; link it from README.md or from a page that is linked";
            problems.push(Problem::new(&page.path, 1, what));
        }
    }
}

/// The pages that a reader can reach from the root's own pages. A link to a directory shows its files.
fn reachable<'a>(pages: &[&'a TextFile]) -> BTreeSet<&'a str> {
    let mut todo: Vec<&TextFile> =
        pages.iter().copied().filter(|page| !page.path.contains('/')).collect();
    let mut reached: BTreeSet<&str> = todo.iter().map(|page| page.path.as_str()).collect();
    while let Some(page) = todo.pop() {
        let targets: Vec<String> = links(&page.text)
            .iter()
            .filter_map(|(_, target)| resolve(&page.path, target))
            .collect();
        for next in pages {
            let folder = next.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let hit = targets.iter().any(|target| *target == next.path || target == folder);
            if hit && reached.insert(&next.path) {
                todo.push(next);
            }
        }
    }
    reached
}

/// Relative links with their lines: not in code, not to other sites, not `#anchors`.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Every second part between backquotes is code.
        for prose in line.split('`').step_by(2) {
            found.extend(targets(prose).into_iter().map(|target| (index + 1, target)));
        }
    }
    found
}

fn targets(prose: &str) -> Vec<&str> {
    prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
        .map(|target| target.split([' ', '#']).next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains(':'))
        .collect()
}

/// The path from the root; `None` if it leaves the project.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pages: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<TextFile> = pages
            .iter()
            .map(|(path, text)| TextFile { path: (*path).into(), text: (*text).into() })
            .collect();
        let there = |path: &str| {
            files.iter().any(|file| file.path == path || file.path.starts_with(&format!("{path}/")))
        };
        let mut problems = Vec::new();
        check(&files, &there, &mut problems);
        problems.iter().map(|p| format!("{}:{}: {}", p.path, p.line, p.what)).collect()
    }

    #[test]
    fn a_link_that_leads_nowhere_is_reported() {
        let found = found(&[("README.md", "Hello.\nSee [it](docs/gone.md#part).\n")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("README.md:2: the link to 'docs/gone.md'"), "{found:?}");
    }

    #[test]
    fn a_link_out_of_the_project_is_reported() {
        assert_eq!(found(&[("README.md", "[x](../other.md)\n")]).len(), 1);
    }

    #[test]
    fn links_in_code_to_other_sites_and_to_anchors_are_left_alone() {
        let text = "[a](https://x.y/z) [b](#here) `[c](gone.md)`\n```\n[d](gone.md)\n```\n";
        assert_eq!(found(&[("README.md", text)]), [""; 0]);
    }

    #[test]
    fn a_page_without_links_to_it_is_reported() {
        let found = found(&[
            ("README.md", "[guide](docs/guide.md)\n"),
            ("docs/guide.md", "[next](next.md) [pages](reference/)\n"),
            ("docs/next.md", "[back](../README.md)\n"),
            ("docs/reference/cli.md", "x\n"),
            ("docs/lonely.md", "[next](next.md)\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("docs/lonely.md:1: no page leads here"));
    }
}
