//! The changes of a text as a unified diff.

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// Above this product of both line counts, the texts are not compared line by line: the change is one block.
const CELLS_MAX: usize = 4_000_000;

/// Which of the two texts a line or word is from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffSide {
    Same,
    Old,
    New,
}

/// The diff between the current and the new text; `None` means no file.
pub fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { path } else { "/dev/null" };
    let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = after.unwrap_or_default().split_inclusive('\n').collect();
    let lines = marked(&old, &new);
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, (mark, _))| *mark != DiffSide::Same)
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

fn hunk(out: &mut String, lines: &[(DiffSide, &str)], from: usize, to: usize) {
    let count =
        |lines: &[(DiffSide, &str)], not: DiffSide| lines.iter().filter(|(m, _)| *m != not).count();
    let (head, part) =
        (lines.get(..from).unwrap_or_default(), lines.get(from..to).unwrap_or_default());
    let range = |not: DiffSide| {
        let length = count(part, not);
        let start = count(head, not) + usize::from(length > 0);
        format!("{start},{length}")
    };
    out.push_str(&format!("@@ -{} +{} @@\n", range(DiffSide::New), range(DiffSide::Old)));
    for (mark, line) in part {
        out.push(match mark {
            DiffSide::Same => ' ',
            DiffSide::Old => '-',
            DiffSide::New => '+',
        });
        out.push_str(line.trim_end_matches(['\n', '\r']));
        out.push_str(if line.ends_with('\n') { "\n" } else { "\n\\ No newline at end of file\n" });
    }
}

/// Every line, or word, of both texts, in order, with its origin.
pub(crate) fn marked<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(DiffSide, &'t str)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) =
        (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = old_rest.get(..old_rest.len() - tail).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - tail).unwrap_or_default();
    let same = |lines: &[&'t str]| -> Vec<(DiffSide, &'t str)> {
        lines.iter().map(|line| (DiffSide::Same, *line)).collect()
    };
    let mut all = same(old.get(..head).unwrap_or_default());
    all.extend(middle(old_middle, new_middle));
    all.extend(same(old_rest.get(old_middle.len()..).unwrap_or_default()));
    all
}

/// The lines between the first and the last difference, by their longest common subsequence.
fn middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(DiffSide, &'t str)> {
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
                out.push((DiffSide::Same, *a));
                (i, j) = (i + 1, j + 1);
            }
            (Some(a), b) if b.is_none() || at(i + 1, j) >= at(i, j + 1) => {
                out.push((DiffSide::Old, *a));
                i += 1;
            }
            (_, Some(b)) => {
                out.push((DiffSide::New, *b));
                j += 1;
            }
            _ => return out,
        }
    }
}
