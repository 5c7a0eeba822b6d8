//! The texts of experiences without the labels of their parts, and the words that distinguish a cluster.

use std::collections::BTreeMap;

use meaning::{SpecificVector, Vector};
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

/// The label of a line that is left out, because it says nothing about the topic.
const COUNT: &str = "Iterations: ";

/// The text of an experience without labels.
pub(super) fn unlabelled(text: &str) -> String {
    let bare =
        |line| LABELS.iter().find_map(|label| str::strip_prefix(line, label)).unwrap_or(line);
    let lines = text.lines().filter(|line| !line.starts_with(COUNT));
    lines.map(bare).collect::<Vec<_>>().join("\n")
}

/// How many times as frequent a distinctive word must be in its group as in other experiences.
const LIFT_MIN: f64 = 2.0;

/// The weight of a word whose meaning has nothing in common with its group.
const UNRELATED_WEIGHT: f64 = 0.2;

/// For each group the words that many of its members and few other experiences have, and that are near in meaning to
/// the group; the most distinctive first. Inflected forms of a word count as one word.
pub(super) fn distinctive<T>(
    experiences: &[Experience],
    groups: &[(T, Vec<usize>)],
) -> Vec<Vec<String>> {
    let texts: Vec<String> = experiences.iter().map(|one| unlabelled(&one.text)).collect();
    let of_each: Vec<BTreeMap<String, String>> =
        texts.iter().map(|text| content_words(text)).collect();
    let mut everywhere: BTreeMap<&str, usize> = BTreeMap::new();
    for stem in of_each.iter().flat_map(BTreeMap::keys) {
        *everywhere.entry(stem).or_default() += 1;
    }
    let of_group = |(_, members): &(T, Vec<usize>)| {
        let own = || members.iter().filter_map(|member| of_each.get(*member));
        let mut inside: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
        for (stem, word) in own().flatten() {
            inside.entry(stem).or_insert((0, word)).0 += 1;
        }
        let subject = members.iter().filter_map(|member| texts.get(*member));
        let subject = subject.map(String::as_str).collect::<Vec<_>>().join("\n");
        let subject = Vector::of(&subject).as_ref().map(SpecificVector::of);
        let others = experiences.len() - members.len();
        let mut ranked: Vec<(f64, &str)> = inside
            .into_iter()
            .filter_map(|(stem, (count, word))| {
                let within = count as f64 / members.len() as f64;
                let outside = (everywhere[stem] - count) as f64 / others.max(1) as f64;
                let lift = (within + 0.01) / (outside + 0.01);
                let near = subject.as_ref().zip(Vector::of(word));
                let near =
                    near.map_or(0.0, |(subject, word)| subject.cosine(&SpecificVector::of(&word)));
                (lift >= LIFT_MIN).then(|| (within * lift.ln() * (UNRELATED_WEIGHT + near), word))
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        ranked.into_iter().take(limits::CLUSTER_WORDS).map(|(_, word)| word.to_owned()).collect()
    };
    groups.iter().map(of_group).collect()
}

/// The words of a text in lower case by their stems, without stop words, numbers and words of one or two letters.
fn content_words(text: &str) -> BTreeMap<String, String> {
    let words = text::words::words(text).map(|(_, word)| text::words::fold(word));
    let is_telling = |word: &String| {
        word.chars().count() > 2
            && word.chars().any(char::is_alphabetic)
            && !text::words::is_stop(word)
    };
    words
        .filter(is_telling)
        .map(|word| (text::terms::term(&word).unwrap_or_else(|| word.clone()), word))
        .collect()
}
