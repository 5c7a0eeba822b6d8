//! What a text is about, as a vector: a table of word pieces that is part of the program, the
//! tokeniser that belongs to it, and the cosine between texts. Nothing is loaded and nothing is
//! allocated; the first look-up works on the bytes of the program itself.

mod characters;
mod cpu;
mod spread;
mod table;
mod tokens;
mod vector;

#[cfg(test)]
mod layout;
#[cfg(test)]
mod tests;

pub use table::DIMENSIONS;
pub use vector::{Vector, cosine, scan};
