//! Embeddings: a table of word-piece vectors that is compiled into the program, its tokeniser, and the cosine between
//! texts. Nothing is loaded when a process starts; lookups read the program's own bytes.

mod characters;
mod common;
mod cpu;
mod spread;
mod table;
mod tokens;
mod vector;

#[cfg(test)]
mod layout;
#[cfg(test)]
mod tests;

pub use common::{SpecificVector, common};
pub use table::DIMENSIONS;
pub use vector::{Vector, cosine, scan};
