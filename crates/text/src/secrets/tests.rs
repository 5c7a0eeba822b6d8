//! Tests of the secret guard as a whole: what it finds, what it lets through, and what nobody can make
//! it do.

mod corpus;
mod hostile;
mod interface;
mod recall;
