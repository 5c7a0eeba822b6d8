//! Rules for the files of the page: no text becomes markup or code, and nothing is loaded from elsewhere.

use crate::project::TextFile;
use crate::report::Problem;

/// Calls and members that turn a text into markup or code.
const SINKS: [&str; 9] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "createContextualFragment",
    "setHTMLUnsafe",
    "eval(",
    "new Function",
    "srcdoc",
];

/// The only foreign address: it names the elements of SVG and is never loaded.
const SVG: &str = "http://www.w3.org/2000/svg";

pub(crate) fn check(file: &TextFile, problems: &mut Vec<Problem>) {
    if !file.path.starts_with("web/") {
        return;
    }
    for (index, line) in file.text.lines().enumerate() {
        let mut report = |what: String| problems.push(Problem::new(&file.path, index + 1, what));
        for sink in SINKS.iter().filter(|sink| has_word(line, sink)) {
            report(format!("`{sink}` makes code or markup of a text; build elements with `h`"));
        }
        let rest = line.replace(SVG, "");
        if rest.contains("http://") || rest.contains("https://") || rest.contains("\"//") {
            report("an address of another host; the page loads nothing from elsewhere".to_owned());
        }
        if file.path.ends_with(".html") {
            for attribute in attributes(line) {
                if attribute == "style" || attribute.starts_with("on") {
                    report(format!(
                        "attribute `{attribute}`; the content security policy refuses it"
                    ));
                }
            }
        } else if has_word(line, "style=") || line.contains("cssText") {
            report("a style as text; use a class".to_owned());
        }
    }
}

/// Whether the line has the word, and not as the end of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-')
    })
}

/// The names in front of `=` in a line of HTML.
fn attributes(line: &str) -> impl Iterator<Item = &str> {
    let name = |at: usize| line[..at].rsplit([' ', '<', '"', '\'']).next().unwrap_or_default();
    line.match_indices('=').map(move |(at, _)| name(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        let mut problems = Vec::new();
        check(&TextFile { path: path.into(), text: text.into() }, &mut problems);
        problems.len()
    }

    #[test]
    fn texts_that_become_markup_or_code_are_reported() {
        for line in [
            "a.innerHTML = text;",
            "a.insertAdjacentHTML('x', text)",
            "document.write(text)",
            "eval(text)",
            "const f = new Function(text)",
            "a.style.cssText = text",
            "h('p', `style=${x}`)",
        ] {
            assert_eq!(found("web/views/a.js", line), 1, "{line}");
            assert_eq!(found("crates/a.js", line), 0, "{line}");
        }
        assert_eq!(found("web/a.js", "retrieval(x); a.textContent = b; const style = 1;"), 0);
    }

    #[test]
    fn addresses_of_other_hosts_are_reported() {
        assert_eq!(found("web/a.js", "const SVG = \"http://www.w3.org/2000/svg\";"), 0);
        for line in
            ["import \"https://a.example/x.js\"", "fetch('http://a')", "src=\"//a.example/\""]
        {
            assert_eq!(found("web/a.js", line), 1, "{line}");
        }
    }

    #[test]
    fn styles_and_handlers_in_markup_are_reported() {
        assert_eq!(found("web/index.html", "<p style=\"color: red\">"), 1);
        assert_eq!(found("web/index.html", "<p onclick='x()' class=\"a\">"), 1);
        assert_eq!(found("web/index.html", "<link rel=\"stylesheet\" href=\"/style.css\">"), 0);
    }
}
