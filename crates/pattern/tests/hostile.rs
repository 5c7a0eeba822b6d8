//! Compiling and matching end soon and never panic, for any pattern and path.

use pattern::glob::Glob;

/// A small generator with a fixed seed, so that failures are reproducible.
struct PatternRandom(u64);

impl PatternRandom {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn text(&mut self, parts: &[&str], count: usize) -> String {
        (0..self.below(count)).map(|_| parts[self.below(parts.len())]).collect()
    }
}

const PATTERN_PARTS: &[&str] = &[
    "*",
    "**",
    "/",
    "/**/",
    "?",
    "[",
    "]",
    "[^",
    "[!a",
    "[a-é]",
    "[[:alpha:]",
    "{",
    "}",
    ",",
    "..",
    "{1..3}",
    "(",
    ")",
    "|",
    "@(",
    "!(",
    "+(",
    "*(",
    "?(",
    "\\",
    "!",
    ".",
    "./",
    "a",
    "b",
    "-",
    "é",
    "😀",
    "\0",
    "\n",
    "\"",
];
const PATH_PARTS: &[&str] = &["/", ".", "a", "b", "é", "😀", "-", "\\", "\n", "[", "{", "*"];

#[test]
fn no_text_makes_compiling_or_matching_panic() {
    let mut random = PatternRandom(1);
    let mut compiled = 0;
    for _ in 0..20_000 {
        let pattern = random.text(PATTERN_PARTS, 16);
        let Ok(glob) = Glob::hint(&pattern) else { continue };
        compiled += 1;
        for _ in 0..4 {
            let path = random.text(PATH_PARTS, 24);
            glob.matches(&path);
        }
        assert!(pattern.is_empty() || glob.matches(&pattern), "{pattern:?} matches itself");
    }
    assert!(compiled > 4_000, "only {compiled} patterns were valid");
}

#[test]
fn a_leading_exclamation_mark_negates_the_pattern() {
    let mut random = PatternRandom(2);
    for _ in 0..20_000 {
        let pattern = random.text(PATTERN_PARTS, 8);
        if pattern.starts_with(['!', '(', '.']) {
            continue;
        }
        let negated = format!("!{pattern}");
        let (Ok(glob), Ok(not)) = (Glob::hint(&pattern), Glob::hint(&negated)) else { continue };
        let path = random.text(PATH_PARTS, 12);
        if !path.is_empty() && path != pattern && path != negated {
            assert_ne!(glob.matches(&path), not.matches(&path), "{pattern:?} on {path:?}");
        }
    }
}

/// Plain backtracking would not finish any of these within a lifetime.
#[test]
fn a_pattern_that_defeats_backtracking_gets_the_right_answer() {
    let names = "a".repeat(2_000);
    let folders = "a/".repeat(500);
    let wide = "日😀é".repeat(500);
    for (pattern, path, expected) in [
        ("*".repeat(500), names.clone(), true),
        ("*a".repeat(249), names.clone(), true),
        (format!("{}b", "*a".repeat(249)), names.clone(), false),
        (format!("{}b", "*é".repeat(150)), wide.clone(), false),
        (format!("{}b", "*é".repeat(150)), format!("{wide}b"), true),
        (format!("{}b", "**/a/".repeat(99)), folders.clone(), false),
        (format!("{}b", "**/a/".repeat(99)), format!("{folders}b"), true),
        (format!("+({}*b)", "*a".repeat(100)), names.clone(), false),
        (format!("+({}*b)", "*a".repeat(100)), format!("{names}b"), true),
        ("+(?(a)?(a)?(a))b".into(), names.clone(), false),
        ("+(?(a)?(a)?(a))b".into(), format!("{names}b"), true),
        ("+(a|aa|aaa|a*)b".into(), names.clone(), false),
        ("!(*a)".repeat(90), names.clone(), false),
        ("!(*b)".repeat(90), names.clone(), true),
        ("{a,aa,aaa}".repeat(40), "a".repeat(121), false),
        ("{a,aa,aaa}".repeat(40), "a".repeat(120), true),
        ("{a,{a,{a,{a,{a,{a,{a,}a}a}a}a}a}a}".repeat(10), names, false),
    ] {
        let glob = Glob::hint(&pattern).unwrap();
        assert_eq!(glob.matches(&path), expected, "{pattern} on {} bytes", path.len());
    }
}

#[test]
fn a_long_path_costs_no_stack() {
    let path = "ab/".repeat(20_000);
    assert!(!Glob::hint("+(a|b|/)c").unwrap().matches(&path));
    assert!(Glob::hint("+(a|b|/)").unwrap().matches(&path));
}
