//! Tests of the secret guard as a whole: findings, exceptions, and hostile input.

mod corpus;
mod hostile;
mod interface;
mod recall;
