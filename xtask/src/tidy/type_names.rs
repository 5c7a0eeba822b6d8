//! Type names that exist more than once in the project: a reader who meets one has to look up which is meant.

use std::collections::BTreeMap;

use crate::project::TextFile;
use crate::rust_tokens::tokens;

/// The names that every operation gives to its parameters and its result.
const CONVENTIONAL: [&str; 2] = ["Params", "Output"];

/// How many names the note lists.
const LISTED: usize = 8;

/// One line about all such names, or `None`.
pub(crate) fn note<'a>(files: impl Iterator<Item = &'a TextFile>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        for name in declared(file) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let all = counts.len();
    let mut twice: Vec<(String, usize)> =
        counts.into_iter().filter(|(_, count)| *count > 1).collect();
    twice.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if twice.is_empty() {
        return None;
    }
    let worst = twice.iter().take(LISTED).map(|(name, count)| format!("{name} {count}"));
    let worst: Vec<String> = worst.collect();
    Some(format!(
        "{} of {all} type names are defined more than once ({}); give a new type a name of its own",
        twice.len(),
        worst.join(", ")
    ))
}

/// The structs, enums, unions, traits and aliases that a file declares outside of functions and `impl` blocks.
fn declared(file: &TextFile) -> Vec<String> {
    let tokens = tokens(&file.path, &file.text);
    let mut found = Vec::new();
    // For each open brace whether it belongs to a module.
    let mut open: Vec<bool> = Vec::new();
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    for at in 0..tokens.len() {
        match text(at) {
            "{" => open.push(at >= 2 && text(at - 2) == "mod"),
            "}" => {
                open.pop();
            }
            "struct" | "enum" | "union" | "trait" | "type"
                if open.iter().all(|module| *module)
                    && tokens.get(at + 1).is_some_and(|token| token.is_name()) =>
            {
                found.push(text(at + 1).to_owned());
            }
            _ => {}
        }
    }
    found.retain(|name| !CONVENTIONAL.contains(&name.as_str()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(texts: &[&str]) -> Option<String> {
        let file = |(at, text): (usize, &&str)| TextFile {
            path: format!("crates/x{at}/src/lib.rs"),
            text: (*text).into(),
        };
        let files: Vec<TextFile> = texts.iter().enumerate().map(file).collect();
        note(files.iter())
    }

    #[test]
    fn names_that_are_defined_twice_are_listed_with_the_most_frequent_first() {
        let note = noted(&[
            "pub struct Place;\nenum Found {}\nstruct Alone;",
            "struct Place { a: u8 }\nmod inner {\n    trait Found {}\n}",
            "type Place = u8;",
        ]);
        let note = note.expect("two names");
        assert!(note.starts_with("2 of 3 type names"), "{note}");
        assert!(note.contains("(Place 3, Found 2)"), "{note}");
    }

    #[test]
    fn associated_types_test_code_and_the_parts_of_an_operation_are_not_counted() {
        let text = "impl Op for A {\n    type Error = u8;\n}\nstruct Params;\nstruct Output;\n\
                    #[cfg(test)]\nmod tests {\n    struct Fake;\n}\n";
        assert_eq!(noted(&[text, text]), None);
    }
}
