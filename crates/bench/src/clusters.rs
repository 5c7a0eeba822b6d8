//! Clustering of experiences, beside all cosines between them in a plain loop.

use std::hint::black_box;
use std::time::Instant;

use cluster::Weighted;
use model::OpError;
use serde_json::{Map, Value, json};

use crate::dispatch::median;

/// The width of our embeddings.
const WIDTH: usize = 128;
const EXPERIENCES_PER_THEME: usize = 50;
/// Runs of each; they take turns, so that other load affects both equally.
const ROUNDS: usize = 3;

/// Median milliseconds of clustering this many vectors, and of computing their cosines.
pub(crate) fn figures(count: usize) -> Result<Map<String, Value>, OpError> {
    let vectors = vectors(count);
    let input: Vec<Weighted<'_>> =
        vectors.iter().map(|vector| Weighted { vector, weight: 0.8 }).collect();
    let mut times: [Vec<f64>; 2] = Default::default();
    let mut clusters = 0;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let labels = cluster::clusters(&input);
        times[0].push(started.elapsed().as_secs_f64() * 1e3);
        clusters = labels.iter().flatten().max().map_or(0, |label| label + 1);
        let started = Instant::now();
        black_box(cosines(&vectors));
        times[1].push(started.elapsed().as_secs_f64() * 1e3);
    }
    if clusters < count / EXPERIENCES_PER_THEME / 2 {
        return Err(OpError::internal(format!("only {clusters} clusters were found")));
    }
    let [ours, plain] = times.map(|mut times| median(&mut times));
    let mut figures = Map::new();
    figures
        .insert("clusters".to_owned(), json!({ "ours": ours, "plain": plain, "found": clusters }));
    Ok(figures)
}

/// Each cosine of two normalised vectors once.
fn cosines(vectors: &[Vec<f32>]) -> f32 {
    let mut sum = 0.0;
    for (at, a) in vectors.iter().enumerate() {
        for b in &vectors[..at] {
            let cosine: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            sum += black_box(cosine);
        }
    }
    sum
}

/// Normalised vectors around random themes.
fn vectors(count: usize) -> Vec<Vec<f32>> {
    let mut state = 1u64;
    let mut number = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    let mut vectors = Vec::with_capacity(count);
    let mut theme = Vec::new();
    for at in 0..count {
        if at.is_multiple_of(EXPERIENCES_PER_THEME) {
            theme = (0..WIDTH).map(|_| number()).collect();
        }
        let mut vector: Vec<f32> = theme.iter().map(|value| value + 0.9 * number()).collect();
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|value| *value /= length);
        vectors.push(vector);
    }
    vectors
}
