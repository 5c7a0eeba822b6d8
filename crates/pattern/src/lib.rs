//! The pattern languages of the project. Pure: nothing here reads a file or a clock.

pub mod glob;
