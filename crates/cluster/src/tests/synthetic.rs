//! Generated vectors.

use super::{clusters_of, count, placed};
use crate::{Weighted, clusters};

const WIDTH: usize = 128;

/// Pseudo-random numbers between -1 and 1.
struct NumberStream(u64);

impl NumberStream {
    fn number(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..WIDTH).map(|_| self.number()).collect()
    }

    /// A vector near another.
    fn near(&mut self, vector: &[f32], spread: f32) -> Vec<f32> {
        vector.iter().map(|value| value + spread * self.number()).collect()
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let other = ((self.number() + 1.0) / 2.0 * (end + 1) as f32) as usize;
            items.swap(end, other.min(end));
        }
    }
}

/// Themes of a size, one after the other, that share a strong common direction.
fn themes(dice: &mut NumberStream, themes: usize, size: usize) -> Vec<Vec<f32>> {
    let common: Vec<f32> = dice.vector().iter().map(|value| 2.0 * value).collect();
    let mut vectors = Vec::new();
    for _ in 0..themes {
        let theme = dice.near(&common, 1.0);
        vectors.extend((0..size).map(|_| dice.near(&theme, 0.6)));
    }
    vectors
}

#[test]
fn themes_are_separated_although_they_share_a_direction() {
    for seed in 1..=20 {
        let mut dice = NumberStream(seed);
        let vectors = themes(&mut dice, 4, 10);
        let labels = clusters_of(&vectors);
        assert_eq!(count(&labels), 4, "seed {seed}: {labels:?}");
        for theme in labels.chunks(10) {
            let first = theme.iter().flatten().next();
            assert!(theme.iter().all(|label| label.as_ref() == first), "seed {seed}: {labels:?}");
        }
    }
}

#[test]
fn the_result_does_not_depend_on_the_order() {
    for seed in 1..=6 {
        let mut dice = NumberStream(seed);
        let mut vectors = themes(&mut dice, 3, 8);
        vectors.extend((0..10).map(|_| dice.vector()));
        // Copies, some of them with another weight.
        vectors.extend(vectors[..6].to_vec());
        let weights: Vec<f32> = (0..vectors.len()).map(|at| [1.0, 0.8, 0.5, 0.2][at % 4]).collect();
        let run = |order: &[usize]| {
            let input: Vec<Weighted<'_>> = order
                .iter()
                .map(|at| Weighted { vector: &vectors[*at], weight: weights[*at] })
                .collect();
            let mut labels: Vec<(usize, Option<usize>)> =
                order.iter().copied().zip(clusters(&input)).collect();
            labels.sort_unstable();
            labels
        };
        let mut order: Vec<usize> = (0..vectors.len()).collect();
        let expected = run(&order);
        assert!(expected.iter().any(|(_, label)| label.is_some()));
        for _ in 0..5 {
            dice.shuffle(&mut order);
            assert_eq!(run(&order), expected, "seed {seed}");
        }
    }
}

#[test]
fn copies_of_a_vector_do_not_make_noise_of_its_theme() {
    let mut dice = NumberStream(3);
    let mut vectors = themes(&mut dice, 3, 10);
    let copies = vec![vectors[0].clone(); 5];
    vectors.extend(copies);
    let labels = clusters_of(&vectors);
    assert_eq!(placed(&labels), vectors.len(), "{labels:?}");
    assert!(labels[30..].iter().all(|label| *label == labels[0]), "{labels:?}");
}

#[test]
fn the_heaviest_cluster_has_the_first_number() {
    let mut dice = NumberStream(5);
    let vectors = themes(&mut dice, 2, 10);
    for heavy in [0, 1] {
        let weight = |at: usize| if at / 10 == heavy { 1.0 } else { 0.2 };
        let input: Vec<Weighted<'_>> = vectors
            .iter()
            .enumerate()
            .map(|(at, vector)| Weighted { vector, weight: weight(at) })
            .collect();
        let labels = clusters(&input);
        assert_eq!(labels[heavy * 10], Some(0), "{labels:?}");
        assert_eq!(labels[(1 - heavy) * 10], Some(1), "{labels:?}");
    }
}

#[test]
fn a_light_vector_is_compared_with_the_heavy_ones() {
    let at = |degrees: f32| vec![degrees.to_radians().cos(), degrees.to_radians().sin()];
    let vectors = [at(0.0), at(5.0), at(10.0), at(70.0), at(75.0), at(80.0)];
    let with = |light: f32| {
        let weights = [1.0, 1.0, 1.0, light, light, light];
        let input: Vec<Weighted<'_>> = vectors
            .iter()
            .zip(weights)
            .map(|(vector, weight)| Weighted { vector, weight })
            .collect();
        crate::assign::as_one_theme(
            &crate::points::Points::of(&input).original(),
            &crate::points::Points::of(&input).weights,
        )
    };
    let equal = with(1.0).expect("one theme");
    assert_eq!(placed(&equal), 6, "{equal:?}");
    let uneven = with(0.01).expect("one theme");
    assert_eq!(placed(&uneven), 3, "{uneven:?}");
}

#[test]
fn equal_vectors_are_one_cluster() {
    let labels = clusters_of(&vec![vec![0.5, 0.5, 0.1]; 20]);
    assert_eq!(labels, vec![Some(0); 20]);
}

#[test]
fn unrelated_vectors_are_noise() {
    let mut dice = NumberStream(11);
    let vectors: Vec<Vec<f32>> = (0..40).map(|_| dice.vector()).collect();
    let labels = clusters_of(&vectors);
    assert!(placed(&labels) <= 10, "{labels:?}");
}

#[test]
fn too_few_or_unusable_vectors_are_noise() {
    assert_eq!(clusters_of(&[]), []);
    assert_eq!(clusters_of(&[vec![1.0], vec![1.0]]), [None, None]);
    assert_eq!(clusters_of(&vec![Vec::new(); 4]), [None; 4]);
    assert_eq!(clusters_of(&vec![vec![0.0, 0.0]; 4]), [None; 4]);
    let odd = [vec![f32::NAN, 1.0], vec![f32::INFINITY], vec![0.3, 0.1, 0.2], vec![-1.0, 0.0]];
    assert_eq!(clusters_of(&odd).len(), 4);
    let vectors = vec![vec![1.0f32, 0.2]; 3];
    let input: Vec<Weighted<'_>> = [0.0, -1.0, f32::NAN]
        .into_iter()
        .zip(&vectors)
        .map(|(weight, vector)| Weighted { vector, weight })
        .collect();
    assert_eq!(clusters(&input), [Some(0); 3]);
}
