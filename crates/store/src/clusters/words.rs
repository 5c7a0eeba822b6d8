//! The words of experiences: without the labels of their parts, and those that distinguish a cluster.

use std::collections::{BTreeMap, BTreeSet};

use model::limits;

use crate::ghaps::Experience;

/// The labels that an experience's text has at the beginning of a line. All experiences share them, so they would make
/// every text similar to every other.
const LABELS: [&str; 10] = [
    "Goal: ",
    "Hypothesis: ",
    "Action: ",
    "Prediction: ",
    "Outcome: confirmed, ",
    "Outcome: falsified, ",
    "Outcome: abandoned, ",
    "Surprise: ",
    "Lesson: ",
    "Strategy: ",
];

/// A line that says nothing about the subject.
const COUNT: &str = "Iterations: ";

/// The text of an experience without labels.
pub(super) fn unlabelled(text: &str) -> String {
    let bare =
        |line| LABELS.iter().find_map(|label| str::strip_prefix(line, label)).unwrap_or(line);
    let lines = text.lines().filter(|line| !line.starts_with(COUNT));
    lines.map(bare).collect::<Vec<_>>().join("\n")
}

/// For each group the words that many of its members and few other experiences have, the most telling first.
pub(super) fn distinctive<T>(
    experiences: &[Experience],
    groups: &[(T, Vec<usize>)],
) -> Vec<Vec<String>> {
    let of_each: Vec<BTreeSet<String>> =
        experiences.iter().map(|one| content_words(&unlabelled(&one.text))).collect();
    let mut everywhere: BTreeMap<&str, usize> = BTreeMap::new();
    for word in of_each.iter().flatten() {
        *everywhere.entry(word).or_default() += 1;
    }
    let of_group = |(_, members): &(T, Vec<usize>)| {
        let mut inside: BTreeMap<&str, usize> = BTreeMap::new();
        for word in members.iter().filter_map(|member| of_each.get(*member)).flatten() {
            *inside.entry(word).or_default() += 1;
        }
        let others = experiences.len() - members.len();
        let mut ranked: Vec<(f64, &str)> = inside
            .into_iter()
            .filter(|(_, count)| *count > 1)
            .map(|(word, count)| {
                let within = count as f64 / members.len() as f64;
                let outside = (everywhere[word] - count) as f64 / others.max(1) as f64;
                (within * ((within + 0.01) / (outside + 0.01)).ln(), word)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        ranked.into_iter().take(limits::CLUSTER_WORDS).map(|(_, word)| word.to_owned()).collect()
    };
    groups.iter().map(of_group).collect()
}

/// The words of a text in lower case, without stop words, numbers and words of one or two letters.
fn content_words(text: &str) -> BTreeSet<String> {
    let words = text::words::words(text).map(|(_, word)| text::words::fold(word));
    let is_telling = |word: &String| {
        word.chars().count() > 2
            && word.chars().any(char::is_alphabetic)
            && !text::words::is_stop(word)
    };
    words.filter(is_telling).collect()
}
