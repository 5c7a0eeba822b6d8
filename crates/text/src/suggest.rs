//! Suggestions for an unknown name.

use std::cmp::Reverse;

/// Maximum number of suggestions.
const SUGGESTIONS_MAX: usize = 3;

/// The names closest to this one, the most likely first. A name that begins with the typed letters is as likely as one
/// with a single typing error; names that only contain them are last. Of equally close names, those with the same
/// beginning are more likely, because few people mistype the first letter.
pub fn closest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    // The input may be of any length; names are short.
    let slips_max = (name.len() / 3).clamp(1, 4);
    let slips_to = |candidate: &str| {
        let is_near = candidate.len().abs_diff(name.len()) <= slips_max;
        let slips = is_near.then(|| distance(name, candidate)).filter(|slips| *slips <= slips_max);
        let is_part = name.len() >= 3 && candidate.contains(name);
        match slips {
            _ if is_part && candidate.starts_with(name) => Some(slips.unwrap_or(1).min(1)),
            None if is_part => Some(slips_max + 1),
            slips => slips,
        }
    };
    let alike = |candidate: &str| {
        name.chars().zip(candidate.chars()).take_while(|(one, other)| one == other).count()
    };
    let mut near: Vec<(usize, Reverse<usize>, &str)> = Vec::new();
    for candidate in known {
        let is_listed = near.iter().any(|(_, _, listed)| *listed == candidate);
        if let Some(slips) = slips_to(candidate).filter(|_| !is_listed) {
            near.push((slips, Reverse(alike(candidate)), candidate));
        }
    }
    // Stable sort: among equally close names, the first known one comes first.
    near.sort_by_key(|(slips, alike, _)| (*slips, *alike));
    near.truncate(SUGGESTIONS_MAX);
    near.into_iter().map(|(_, _, candidate)| candidate).collect()
}

/// `Did you mean x or y?` with the closest names, best first; none if none is close.
pub fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    offer(&closest(name, known))
}

/// `Did you mean x or y?` with these names; none without a name.
pub fn offer(names: &[impl AsRef<str>]) -> Option<String> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let (last, others) = names.split_last()?;
    let listed = match others {
        [] => (*last).to_owned(),
        others => format!("{} or {last}", others.join(", ")),
    };
    Some(format!("Did you mean {listed}?"))
}

/// The edit distance: letters to insert, delete or change, and neighbours to exchange.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            let exchange = if exchanged { rows[i - 2][j - 2] + 1 } else { usize::MAX };
            row.push(changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1).min(exchange));
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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
        assert_eq!(closest("zhs", ["bash", "zsh"].into_iter()), ["zsh"]);
        let known = ["last_session", "sessions", "session"];
        assert_eq!(closest("sesion", known.into_iter()), ["session", "sessions"]);
        assert_eq!(closest("sess", known.into_iter()), ["sessions", "session", "last_session"]);
        // A name with an equal beginning is more likely meant than one with another first letter. Each is offered once.
        let known = ["mark", "park", "parts", "part"];
        assert_eq!(closest("parm", known.into_iter()), ["park", "part"]);
        let known = ["unset", "reset", "settings", "set"];
        assert_eq!(closest("sett", known.into_iter()), ["settings", "set"]);
        assert_eq!(closest("purg", ["purge", "purge"].into_iter()), ["purge"]);
        let known = ["last_session", "sessions", "session"];
        let said = did_you_mean("sess", known.into_iter());
        assert_eq!(said.as_deref(), Some("Did you mean sessions, session or last_session?"));
        assert_eq!(did_you_mean("x", known.into_iter()), None);
    }
}
