//! The gate of `ci`: the experiences in `quality/ghaps.jsonl` are grouped by theme. Each text has all parts of an
//! experience; the axis `full` of the store leaves out the root cause, and the store's own test has floors for it.

use std::collections::BTreeMap;

use meaning::Vector;
use serde_json::Value;

use super::{clusters_of, count, placed};

/// A little less than what is reached: 0.827 and 0.867. `docs/adr/0008-own-density-clustering.md` compares other methods.
const PURITY_LEAST: f64 = 0.81;
const PLACED_LEAST: f64 = 0.85;
/// The word in place of a theme for experiences without one.
const NONE: &str = "none";

/// The theme and the embedding of each experience.
fn experiences() -> Vec<(String, Vec<f32>)> {
    let set = include_str!("../../../../quality/ghaps.jsonl");
    let row = |line: &str| {
        let ghap: Value = serde_json::from_str(line).expect("a line is JSON");
        let lesson = &ghap["lesson"];
        let texts = [
            &ghap["goal"],
            &ghap["hypothesis"],
            &ghap["action"],
            &ghap["prediction"],
            &ghap["result"],
            &ghap["surprise"],
            &ghap["root_cause"]["description"],
            lesson.get("takeaway").unwrap_or(&lesson["what_worked"]),
        ];
        let texts: Vec<&str> = texts.iter().filter_map(|text| text.as_str()).collect();
        let vector = Vector::of(&texts.join("\n")).expect("the text has words");
        let cells = vector.cells().iter().map(|cell| f32::from(*cell) * vector.reciprocal());
        (ghap["theme"].as_str().expect("a theme").to_owned(), cells.collect())
    };
    set.lines().map(row).collect()
}

/// The share of placed experiences that have the most frequent theme of their cluster, and the share of experiences
/// with a theme that are placed. An experience without a theme is never right in a cluster.
fn purity_and_placed(themes: &[&str], labels: &[Option<usize>]) -> (f64, f64) {
    let mut clusters: BTreeMap<usize, BTreeMap<&str, usize>> = BTreeMap::new();
    for (theme, label) in themes.iter().zip(labels) {
        if let Some(label) = label {
            *clusters.entry(*label).or_default().entry(theme).or_default() += 1;
        }
    }
    let largest = |themes: &BTreeMap<&str, usize>| {
        themes.iter().filter(|(theme, _)| **theme != NONE).map(|(_, count)| *count).max()
    };
    let right: usize = clusters.values().filter_map(largest).sum();
    let with_theme = themes.iter().filter(|theme| **theme != NONE).count();
    let found =
        themes.iter().zip(labels).filter(|(theme, label)| **theme != NONE && label.is_some());
    (right as f64 / placed(labels) as f64, found.count() as f64 / with_theme as f64)
}

#[test]
fn eight_themes_are_separated() {
    let experiences = experiences();
    let themes: Vec<&str> = experiences.iter().map(|(theme, _)| theme.as_str()).collect();
    assert_eq!(themes.iter().filter(|theme| **theme == NONE).count(), 30);
    assert_eq!(themes.len(), 150);
    let vectors: Vec<Vec<f32>> = experiences.iter().map(|(_, vector)| vector.clone()).collect();
    let labels = clusters_of(&vectors);
    let (purity, placed) = purity_and_placed(&themes, &labels);
    let figures = format!("purity {purity:.3}, placed {placed:.3}, {} clusters", count(&labels));
    assert!(purity >= PURITY_LEAST && placed >= PLACED_LEAST, "{figures}");
    assert_eq!(count(&labels), 8, "{figures}");
}

#[test]
fn a_theme_alone_is_one_cluster() {
    let experiences = experiences();
    let mut themes: Vec<&String> = experiences.iter().map(|(theme, _)| theme).collect();
    themes.dedup();
    assert_eq!(themes.len(), 9);
    for alone in themes {
        let of_theme = experiences.iter().filter(|(theme, _)| theme == alone);
        let vectors: Vec<Vec<f32>> = of_theme.map(|(_, vector)| vector.clone()).collect();
        let labels = clusters_of(&vectors);
        if alone == NONE {
            assert_eq!(placed(&labels), 0, "unrelated experiences are no cluster");
        } else {
            assert_eq!(count(&labels), 1, "{alone}");
            assert!(placed(&labels) >= 13, "{alone}: {labels:?}");
        }
    }
}
