//! What changes in a text, as a unified diff.

/// Lines around a change.
const CONTEXT: usize = 3;
/// Lines on both sides, multiplied, that are compared with each other; above it a change is one block.
const CELLS_MAX: usize = 4_000_000;

/// Where a piece of two texts is from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Same,
    Old,
    New,
}

/// The diff between what is there and what will be; none stands for no file.
pub fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { path } else { "/dev/null" };
    let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = after.unwrap_or_default().split_inclusive('\n').collect();
    let lines = marked(&old, &new);
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, (mark, _))| *mark != Mark::Same)
        .map(|(at, _)| at)
        .collect();
    if changed.is_empty() {
        return String::new();
    }
    let mut out = format!("--- {}\n+++ {}\n", name(before), name(after));
    let mut rest = changed.as_slice();
    while let Some(first) = rest.first() {
        let mut last = *first;
        let count = rest
            .iter()
            .take_while(|at| {
                let near = **at <= last + 2 * CONTEXT + 1;
                if near {
                    last = **at;
                }
                near
            })
            .count();
        rest = rest.get(count..).unwrap_or_default();
        hunk(
            &mut out,
            &lines,
            first.saturating_sub(CONTEXT),
            (last + CONTEXT + 1).min(lines.len()),
        );
    }
    out
}

fn hunk(out: &mut String, lines: &[(Mark, &str)], from: usize, to: usize) {
    let count = |lines: &[(Mark, &str)], not: Mark| lines.iter().filter(|(m, _)| *m != not).count();
    let (head, part) =
        (lines.get(..from).unwrap_or_default(), lines.get(from..to).unwrap_or_default());
    let range = |not: Mark| {
        let length = count(part, not);
        let start = count(head, not) + usize::from(length > 0);
        format!("{start},{length}")
    };
    out.push_str(&format!("@@ -{} +{} @@\n", range(Mark::New), range(Mark::Old)));
    for (mark, line) in part {
        out.push(match mark {
            Mark::Same => ' ',
            Mark::Old => '-',
            Mark::New => '+',
        });
        out.push_str(line.trim_end_matches(['\n', '\r']));
        out.push_str(if line.ends_with('\n') { "\n" } else { "\n\\ No newline at end of file\n" });
    }
}

/// Every line, or word, of both texts, in order, with where it is from.
pub(crate) fn marked<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Mark, &'t str)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) =
        (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = old_rest.get(..old_rest.len() - tail).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - tail).unwrap_or_default();
    let same = |lines: &[&'t str]| -> Vec<(Mark, &'t str)> {
        lines.iter().map(|line| (Mark::Same, *line)).collect()
    };
    let mut all = same(old.get(..head).unwrap_or_default());
    all.extend(middle(old_middle, new_middle));
    all.extend(same(old_rest.get(old_middle.len()..).unwrap_or_default()));
    all
}

/// The lines between the first and the last difference, by their longest common part.
fn middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Mark, &'t str)> {
    let mut out = Vec::with_capacity(old.len() + new.len());
    let wide = new.len() + 1;
    let mut common = vec![0_u32; 0];
    if old.len().saturating_mul(new.len()) <= CELLS_MAX {
        common = vec![0; (old.len() + 1) * wide];
        for (i, a) in old.iter().enumerate().rev() {
            for (j, b) in new.iter().enumerate().rev() {
                let at = |i: usize, j: usize| common.get(i * wide + j).copied().unwrap_or(0);
                let best =
                    if a == b { at(i + 1, j + 1) + 1 } else { at(i + 1, j).max(at(i, j + 1)) };
                if let Some(cell) = common.get_mut(i * wide + j) {
                    *cell = best;
                }
            }
        }
    }
    let at = |i: usize, j: usize| common.get(i * wide + j).copied().unwrap_or(0);
    let (mut i, mut j) = (0, 0);
    loop {
        match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if a == b && !common.is_empty() => {
                out.push((Mark::Same, *a));
                (i, j) = (i + 1, j + 1);
            }
            (Some(a), b) if b.is_none() || at(i + 1, j) >= at(i, j + 1) => {
                out.push((Mark::Old, *a));
                i += 1;
            }
            (_, Some(b)) => {
                out.push((Mark::New, *b));
                j += 1;
            }
            _ => return out,
        }
    }
}
