//! Import cycles inside a crate: files that cannot be read, moved or tested without each other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::module_graph::{FileGraph, graph};
use crate::project::TextFile;
use crate::report::Problem;

/// The most files that may import each other in a circle: a module and a few parts of it.
const CYCLE_FILES_MAX: usize = 4;

/// Larger cycles that are left to dissolve: a file of the cycle, and the number of files in it. Numbers may only get
/// smaller, and no row may be added.
const KNOWN_CYCLES: &[(&str, usize)] = &[
    ("crates/agents/src/tool/verdict.rs", 7),
    ("crates/eval/src/lib.rs", 8),
    ("crates/fuzz/src/targets.rs", 10),
    ("crates/plugin-hints/src/held.rs", 5),
    ("crates/program/src/commands.rs", 17),
    ("crates/runtime/src/runtime.rs", 11),
    ("crates/server/src/http.rs", 6),
    ("crates/store/src/search.rs", 9),
    ("crates/text/src/lib.rs", 9),
    ("crates/text/src/secrets.rs", 13),
];

pub(crate) fn check(files: &[TextFile], problems: &mut Vec<Problem>) {
    check_against(files, KNOWN_CYCLES, problems);
}

fn check_against(files: &[TextFile], known: &[(&str, usize)], problems: &mut Vec<Problem>) {
    let mut crates: BTreeMap<&str, Vec<&TextFile>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        if let Some(at) = file.path.find("/src/") {
            crates.entry(&file.path[..at + "/src/".len()]).or_default().push(file);
        }
    }
    let mut used = BTreeSet::new();
    for (src, files) in &crates {
        let graph = graph(files, src);
        for cycle in cycles(&graph) {
            let paths: Vec<&str> = cycle.iter().map(|index| files[*index].path.as_str()).collect();
            let row = known.iter().find(|(path, _)| paths.contains(path));
            used.extend(row.map(|(path, _)| *path));
            let example = shortest(&graph, &cycle);
            let example: Vec<&str> =
                example.iter().map(|index| name(&files[*index].path, src)).collect();
            if let Some(what) = verdict(&paths, src, row.map(|(_, size)| *size), &example) {
                problems.push(Problem::new(row.map_or(paths[0], |(path, _)| path), 1, what));
            }
        }
    }
    for (path, _) in known.iter().filter(|(path, _)| !used.contains(path)) {
        let what = "no longer in a large import cycle; remove its row in xtask/src/tidy/cycles.rs";
        problems.push(Problem::new(path, 1, what));
    }
}

/// The complaint about a cycle of these files, if there is one.
fn verdict(paths: &[&str], src: &str, known: Option<usize>, example: &[&str]) -> Option<String> {
    let count = paths.len();
    let names: Vec<&str> = paths.iter().map(|path| name(path, src)).collect();
    let (names, example) = (names.join(", "), example.join(" → "));
    match known {
        Some(size) if size == count => None,
        Some(size) if count < size => Some(format!(
            "its import cycle has shrunk from {size} to {count} files; write {count} in \
             xtask/src/tidy/cycles.rs"
        )),
        Some(size) => Some(format!(
            "its import cycle has grown from {size} to {count} files ({names}); the shortest way \
             round: {example}"
        )),
        None => Some(format!(
            "{count} files import each other in a circle ({names}); {CYCLE_FILES_MAX} is the most. \
             Move shared items into a file that imports none of them; the shortest way round: \
             {example}"
        )),
    }
}

/// A file's name inside its crate, as a module: `search/recipe`.
fn name<'a>(path: &'a str, src: &str) -> &'a str {
    let inside = path.strip_prefix(src).unwrap_or(path);
    inside.strip_suffix(".rs").unwrap_or(inside)
}

/// The strongly connected parts of the graph with more files than allowed, each in order.
fn cycles(graph: &FileGraph) -> Vec<Vec<usize>> {
    let reached: Vec<BTreeSet<usize>> =
        (0..graph.len()).map(|from| reachable(graph, from)).collect();
    let mut found: BTreeSet<Vec<usize>> = BTreeSet::new();
    for from in 0..graph.len() {
        let mutual = reached[from].iter().copied().filter(|to| reached[*to].contains(&from));
        let mutual: Vec<usize> = mutual.collect();
        if mutual.len() > CYCLE_FILES_MAX {
            found.insert(mutual);
        }
    }
    found.into_iter().collect()
}

/// The files that can be reached from a file by at least one import.
fn reachable(graph: &FileGraph, from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut left = vec![from];
    while let Some(file) = left.pop() {
        left.extend(graph[file].iter().copied().filter(|to| found.insert(*to)));
    }
    found
}

/// The shortest circle in a cycle, from a file back to itself.
fn shortest(graph: &FileGraph, cycle: &[usize]) -> Vec<usize> {
    let circles = cycle.iter().filter_map(|start| circle(graph, *start));
    circles.min_by_key(Vec::len).unwrap_or_default()
}

fn circle(graph: &FileGraph, start: usize) -> Option<Vec<usize>> {
    let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for to in &graph[file] {
            if *to == start {
                let mut path = vec![start, file];
                while let Some(before) = path.last().and_then(|last| came_from.get(last)) {
                    path.push(*before);
                }
                path.reverse();
                return Some(path);
            }
            if !came_from.contains_key(to) {
                came_from.insert(*to, file);
                queue.push_back(*to);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate in which each of `count` files imports from the next, and the last from the first.
    fn ring(count: usize) -> Vec<TextFile> {
        let file =
            |name: &str, text: String| TextFile { path: format!("crates/x/src/{name}.rs"), text };
        let mut files: Vec<TextFile> = (0..count)
            .map(|at| {
                let next = (at + 1) % count;
                file(&format!("m{at}"), format!("use crate::m{next}::T{next};\nstruct T{at};\n"))
            })
            .collect();
        files.push(file("user", "use crate::m0::T0;\n".to_owned()));
        files.push(file("lib", "mod user;\n".to_owned()));
        files
    }

    fn found(files: &[TextFile], known: &[(&str, usize)]) -> Vec<String> {
        let mut problems = Vec::new();
        check_against(files, known, &mut problems);
        problems.iter().map(|problem| format!("{}: {}", problem.path, problem.what)).collect()
    }

    #[test]
    fn a_cycle_of_more_than_four_files_is_reported_and_smaller_ones_are_not() {
        assert_eq!(found(&ring(4), &[]), [""; 0]);
        let found = found(&ring(5), &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/x/src/m0.rs: 5 files import each other"), "{found:?}");
        assert!(found[0].contains("(m0, m1, m2, m3, m4)"), "{found:?}");
        assert!(found[0].ends_with("m0 → m1 → m2 → m3 → m4 → m0"), "{found:?}");
    }

    #[test]
    fn a_known_cycle_may_shrink_but_not_grow_and_its_number_has_to_follow() {
        let file = "crates/x/src/m3.rs";
        assert_eq!(found(&ring(6), &[(file, 6)]), [""; 0]);
        assert!(found(&ring(6), &[(file, 5)])[0].contains("grown from 5 to 6"));
        assert!(found(&ring(6), &[(file, 7)])[0].contains("shrunk from 7 to 6"));
        assert!(found(&ring(4), &[(file, 5)])[0].contains("remove its row"));
    }

    #[test]
    fn files_of_different_crates_form_no_cycle() {
        let mut files = ring(5);
        files[4].path = "crates/y/src/m4.rs".into();
        assert_eq!(found(&files, &[]), [""; 0]);
    }
}
