//! The direction that the embeddings of all texts about software share, and similarity without it.
//!
//! Two unrelated sentences about software have a cosine of 0.3 to 0.5, because both are near to this direction. Without it
//! their similarity is near 0, and the similarity of texts about one subject is only a little lower than before.

use crate::{DIMENSIONS, Vector};

/// The mean of the normalised embeddings of the texts in `quality/records.jsonl` (the first 400 characters of each), in
/// thousandths. A test computes it again.
const COMMON: [i16; DIMENSIONS] = [
    104, -237, 216, -6, 10, 5, 116, 34, -122, 20, -99, -52, 45, 30, -31, 17, 4, 20, 75, 16, -51,
    53, -7, 0, 46, 3, 61, -1, 73, -50, 27, 57, -41, 15, 37, 5, 5, -104, 63, -21, -24, -32, -26, 31,
    3, -80, -37, -8, 9, -48, -7, -19, 5, 57, 18, 60, 44, 4, -60, 14, -23, -35, 23, 74, 9, -104,
    -56, -56, 37, 70, 8, 9, 33, -6, -105, 52, -13, 11, 20, 0, -56, 19, -90, -17, -7, -6, 9, -5,
    -45, -5, -51, 31, 13, 57, -19, -50, 8, 25, 40, 39, 61, -40, -31, 7, 44, -5, -27, 3, 11, -51,
    -27, -24, 30, -19, 41, 80, -27, -29, -42, 33, 29, -37, 49, -41, -8, 52, -6, 6,
];

/// The components of the common direction.
pub fn common() -> [f64; DIMENSIONS] {
    COMMON.map(|thousandths| f64::from(thousandths) / 1_000.0)
}

/// A normalised embedding without the common direction.
pub struct SpecificVector {
    components: [f64; DIMENSIONS],
    length: f64,
}

impl SpecificVector {
    pub fn of(vector: &Vector) -> SpecificVector {
        let (common, reciprocal) = (common(), f64::from(vector.reciprocal()));
        let components =
            std::array::from_fn(|at| f64::from(vector.cells()[at]) * reciprocal - common[at]);
        SpecificVector { length: dot(&components, &components).sqrt(), components }
    }

    /// The cosine of two texts without the common direction, at least 0.
    pub fn cosine(&self, other: &SpecificVector) -> f64 {
        let lengths = self.length * other.length;
        if lengths > 0.0 {
            (dot(&self.components, &other.components) / lengths).max(0.0)
        } else {
            0.0
        }
    }
}

fn dot(a: &[f64; DIMENSIONS], b: &[f64; DIMENSIONS]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vector {
        Vector::of(text).expect("it has words")
    }

    fn specific_cosine(a: &Vector, b: &Vector) -> f64 {
        SpecificVector::of(a).cosine(&SpecificVector::of(b))
    }

    #[test]
    fn unrelated_sentences_are_far_apart_without_the_common_direction() {
        let unrelated = (
            "Show me the last five commits",
            "Error messages shown to users never contain internal ids; they show a short reference code",
        );
        let related = ("The PDF worker eats all memory", "Lower the memory of the worker");
        let both = |(a, b): (&str, &str)| {
            (f64::from(crate::cosine(&of(a), &of(b))), specific_cosine(&of(a), &of(b)))
        };
        let (raw, specific) = both(unrelated);
        assert!(raw > 0.4 && specific < 0.35, "{raw} {specific}");
        assert!(both(related).1 > 0.4, "{:?}", both(related));
    }

    #[test]
    fn a_text_is_similar_to_itself() {
        let text = of("Freeze the clock in the login test");
        assert!((specific_cosine(&text, &text) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_common_direction_is_that_of_the_quality_set() {
        let set = include_str!("../../../quality/records.jsonl");
        let mut mean = [0.0; DIMENSIONS];
        let mut count = 0.0;
        for line in set.lines() {
            let text = line.split("\"text\": \"").nth(1).expect("the last member is the text");
            let text = text.trim_end_matches("\"}").replace("\\n", "\n").replace("\\\"", "\"");
            let text: String = text.chars().take(400).collect();
            let Some(vector) = Vector::of(&text) else { continue };
            count += 1.0;
            for (mean, cell) in mean.iter_mut().zip(vector.cells()) {
                *mean += f64::from(*cell) * f64::from(vector.reciprocal());
            }
        }
        for (mean, common) in mean.iter().zip(common()) {
            assert!((mean / count - common).abs() < 0.01, "{} {common}", mean / count);
        }
    }
}
