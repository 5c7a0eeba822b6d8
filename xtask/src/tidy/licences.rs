//! The licences of everything that is linked, against the list of those we accept.

use serde_json::Value;

use crate::report::Problem;

/// Licences that ask for no more than a notice.
const ACCEPTED: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(crate) fn check(metadata: &Value, problems: &mut Vec<Problem>) {
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let foreign = package["source"].is_string();
        let licence = package["license"].as_str().unwrap_or_default();
        if foreign && !accepted(licence) {
            let name = package["name"].as_str().unwrap_or_default();
            let version = package["version"].as_str().unwrap_or_default();
            let what = format!(
                "{name} {version} has the licence '{licence}', which is not on xtask's list; \
                 read it and extend the list, or use another crate"
            );
            problems.push(Problem::new("Cargo.lock", 1, what));
        }
    }
}

/// Whether an SPDX expression (or the older form with slashes) can be satisfied by the list.
fn accepted(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let verdict = any_of(&mut rest);
    verdict == Some(true) && rest.is_empty()
}

fn any_of(words: &mut &[&str]) -> Option<bool> {
    let mut verdict = all_of(words)?;
    while words.first() == Some(&"OR") {
        *words = &words[1..];
        verdict |= all_of(words)?;
    }
    Some(verdict)
}

fn all_of(words: &mut &[&str]) -> Option<bool> {
    let mut verdict = single(words)?;
    while words.first() == Some(&"AND") {
        *words = &words[1..];
        verdict &= single(words)?;
    }
    Some(verdict)
}

fn single(words: &mut &[&str]) -> Option<bool> {
    let (first, rest) = words.split_first()?;
    *words = rest;
    if *first == "(" {
        let verdict = any_of(words)?;
        let (close, rest) = words.split_first()?;
        *words = rest;
        return (*close == ")").then_some(verdict);
    }
    let name = match words {
        [with, exception, rest @ ..] if *with == "WITH" => {
            *words = rest;
            format!("{first} WITH {exception}")
        }
        _ => (*first).to_owned(),
    };
    Some(ACCEPTED.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_expression_is_accepted_if_the_list_can_satisfy_it() {
        assert!(accepted("MIT"));
        assert!(accepted("MIT/Apache-2.0"));
        assert!(accepted("GPL-3.0-only OR MIT"));
        assert!(accepted("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(accepted("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only"));
    }

    #[test]
    fn anything_else_is_refused() {
        for expression in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT",
            "MIT)",
            "MIT OR",
            "Apache-2.0 WITH x",
        ] {
            assert!(!accepted(expression), "{expression}");
        }
    }

    #[test]
    fn a_foreign_package_is_reported_and_our_own_are_not_looked_at() {
        let metadata = json!({ "packages": [
            { "name": "ours", "version": "1.0.0", "source": null, "license": null },
            { "name": "bad", "version": "2.0.0", "source": "registry", "license": "AGPL-3.0" },
        ]});
        let mut problems = Vec::new();
        check(&metadata, &mut problems);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].what.starts_with("bad 2.0.0 has the licence 'AGPL-3.0'"));
    }
}
