//! Rust files by lines: which are comments and which are test code. It relies on rustfmt's layout
//! (a block ends with a brace at the indentation it began with) instead of parsing the language.

/// One line of a Rust file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceLine<'a> {
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) text: &'a str,
    pub(crate) comment: bool,
    /// In a file or block that is only compiled for tests.
    pub(crate) test: bool,
}

/// The lines of the file at `path`.
pub(crate) fn lines<'a>(path: &str, text: &'a str) -> Vec<SourceLine<'a>> {
    let raw: Vec<&str> = text.lines().collect();
    let mut test = vec![is_test_file(path); raw.len()];
    for index in 0..raw.len() {
        if raw[index].trim_start().starts_with("#[cfg(test)]") {
            let end = item_end(&raw, index);
            test[index..=end].fill(true);
        }
    }
    let line = |(index, text): (usize, &'a str)| SourceLine {
        number: index + 1,
        text,
        comment: text.trim_start().starts_with("//"),
        test: test[index],
    };
    raw.iter().copied().enumerate().map(line).collect()
}

/// Whether all of a file is test code.
fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.starts_with("crates/testkit/")
}

/// The last line of the item whose attributes begin at `start`.
pub(crate) fn item_end(raw: &[&str], start: usize) -> usize {
    let indent = indent_of(raw[start]);
    let is_attribute = |line: &str| {
        let line = line.trim_start();
        line.starts_with("#[") || line.starts_with("//")
    };
    let Some(item) = (start..raw.len()).find(|index| !is_attribute(raw[*index])) else {
        return raw.len() - 1;
    };
    let first = raw[item].trim_end();
    if first.ends_with(';') || (first.ends_with('}') && first.contains('{')) {
        return item;
    }
    (item + 1..raw.len())
        .find(|index| indent_of(raw[*index]) == indent && raw[*index].trim_start().starts_with('}'))
        .unwrap_or(raw.len() - 1)
}

pub(crate) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_lines(path: &str, text: &str) -> Vec<usize> {
        lines(path, text).iter().filter(|line| line.test).map(|line| line.number).collect()
    }

    #[test]
    fn a_test_module_is_test_code_and_what_follows_it_is_not() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        assert_eq!(test_lines("crates/x/src/lib.rs", text), [2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_test_module_in_its_own_file_is_test_code() {
        assert_eq!(
            test_lines("crates/x/src/lib.rs", "#[cfg(test)]\nmod tests;\nfn a() {}"),
            [1, 2]
        );
        assert_eq!(test_lines("crates/x/src/op/tests.rs", "fn a() {}"), [1]);
        assert_eq!(test_lines("crates/x/tests/hook.rs", "fn a() {}"), [1]);
        assert_eq!(test_lines("crates/testkit/src/lib.rs", "fn a() {}"), [1]);
    }

    #[test]
    fn a_single_line_item_ends_where_it_begins() {
        assert_eq!(
            item_end(&["#[cfg(test)]", "#[allow(x)]", "fn a() { b() }", "fn c() {", "}"], 0),
            2
        );
    }
}
