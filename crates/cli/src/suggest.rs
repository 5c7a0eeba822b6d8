//! Suggestions for an unknown name.

/// Maximum number of suggestions.
const SUGGESTIONS_MAX: usize = 3;

/// The names closest to this one, best first: those within a few typing errors, then those that contain it.
pub(crate) fn closest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    // The input may be of any length; names are short.
    let slips_max = (name.len() / 3).clamp(1, 4);
    let mut near: Vec<(usize, &str)> = known
        .filter_map(|candidate| {
            if candidate.len().abs_diff(name.len()) <= slips_max {
                let slips = distance(name, candidate);
                if slips <= slips_max {
                    return Some((slips, candidate));
                }
            }
            (name.len() >= 3 && candidate.contains(name)).then_some((slips_max + 1, candidate))
        })
        .collect();
    // Stable sort: among equally close names, the first known one comes first.
    near.sort_by_key(|(slips, _)| *slips);
    near.truncate(SUGGESTIONS_MAX);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The Levenshtein distance: letters to insert, delete or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_names_come_first() {
        let known = ["set_hint", "get_hint", "status", "nudge.set_hint"];
        let table: [(&str, &[&str]); 6] = [
            ("set_hnt", &["set_hint", "get_hint"]),
            ("sethint", &["set_hint", "get_hint"]),
            ("hint", &["set_hint", "get_hint", "nudge.set_hint"]),
            ("statsu", &["status"]),
            ("x", &[]),
            ("", &[]),
        ];
        for (name, expected) in table {
            assert_eq!(closest(name, known.into_iter()), expected, "{name}");
        }
    }
}
