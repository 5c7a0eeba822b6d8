//! The one glob engine: compiles a pattern and tells whether a path matches it. It reads no files.
//!
//! The *hint* dialect is that of micromatch 4. `*` and `?` match inside one name and `**` as a whole name matches any
//! number of them; none of the three matches a name's leading dot. `a/**` also matches `a`. `{a,b}`, `{1..3}`,
//! `[ab]`, `[^a]`, `[!a]`, `[[:alpha:]]`, `(a|b)`, `@(a|b)`, `?(a)`, `*(a)`, `+(a)`, `!(a)` and `\*` work, matching
//! is case-sensitive, and a leading `!` negates the pattern. Paths are expected as [`normal_path`] returns them.
//!
//! Where micromatch surprises, this engine differs on purpose; `testdata/differences.jsonl` has each case with its
//! reason.

mod compile;
mod program;
mod range;
mod set;

use std::fmt;

use program::Program;

/// Bytes of one pattern.
pub const GLOB_BYTES_MAX: usize = 500;
/// Alternatives in all braces and groups of one pattern together.
pub const GLOB_ALTERNATIVES_MAX: usize = 1_000;
/// Nesting depth of braces and groups.
pub const GLOB_DEPTH_MAX: usize = 16;

/// A compiled pattern. Matching takes at worst time proportional to pattern times path.
#[derive(Debug, Clone)]
pub struct Glob {
    pattern: Box<str>,
    negated: bool,
    program: Program,
}

/// Why a pattern is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobError {
    /// The problem, in lower case, with its position if it has one.
    pub message: String,
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for GlobError {}

impl Glob {
    /// Compiles a pattern of the hint dialect.
    pub fn hint(pattern: &str) -> Result<Glob, GlobError> {
        if pattern.len() > GLOB_BYTES_MAX {
            let bytes = pattern.len();
            let message = format!("glob has {bytes} bytes, at most {GLOB_BYTES_MAX} are allowed");
            return Err(GlobError { message });
        }
        let (negated, start) = leading_marks(pattern);
        let program = compile::compile(pattern, start)?;
        Ok(Glob { pattern: pattern.into(), negated, program })
    }

    /// Whether the pattern matches the whole path. The empty path matches nothing, and a path
    /// that is spelled like the pattern always matches.
    pub fn matches(&self, path: &str) -> bool {
        if path.is_empty() {
            return false;
        }
        path == &*self.pattern || self.program.matches(path) != self.negated
    }

    /// Whether the text contains none of `* ? [ { !`, so that it can be compared literally.
    pub fn is_literal(pattern: &str) -> bool {
        !pattern.contains(['*', '?', '[', '{', '!'])
    }
}

/// The path with `/` as separator and without a trailing one, except for the root.
pub fn normal_path(path: &str) -> String {
    let mut path = path.replace('\\', "/");
    while path.len() > 1 && path.ends_with('/') {
        path.pop();
    }
    path
}

/// Whether a leading `!` negates the pattern, and where the rest starts. `!(` is a group.
fn leading_marks(pattern: &str) -> (bool, usize) {
    let mut rest = pattern.strip_prefix("./").unwrap_or(pattern);
    let mut negated = false;
    while rest.starts_with('!') && !rest.starts_with("!(") {
        negated = !negated;
        rest = &rest[1..];
    }
    rest = rest.strip_prefix("./").unwrap_or(rest);
    (negated, pattern.len() - rest.len())
}
