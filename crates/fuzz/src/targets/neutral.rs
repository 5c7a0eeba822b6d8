//! Displayed text: it does not act on a terminal, stays inside its line, keeps its limits, and is idempotent.

use pattern::glob::{Glob, normal_path};
use text::{one_line, printable, quoted};

use crate::dice::Dice;
use crate::grammar;
use crate::mutate::mutate;
use crate::target::{Checked, ensure};

pub(crate) fn generate(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = grammar::text(dice).into_bytes();
    if dice.one_in(3) {
        mutate(dice, &mut bytes, b"<system>a\r\nb</system>");
    }
    bytes
}

pub(crate) fn check(input: &[u8]) -> Checked {
    let text = String::from_utf8_lossy(input);
    let acts = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    for max in [0, 1, 2, 7, 80, usize::MAX] {
        for (name, shown) in [("one_line", one_line(&text, max)), ("quoted", quoted(&text, max))] {
            let chars = shown.chars().count();
            ensure(chars <= max, || format!("{name} {max}: {chars} characters"))?;
            ensure(!shown.chars().any(acts), || format!("{name} {max}: {shown:?} acts"))?;
            let again = if name == "quoted" { quoted(&shown, max) } else { one_line(&shown, max) };
            // A cut may leave a trailing space, which the second pass trims.
            ensure(again.trim() == shown.trim(), || format!("{name} {max}: {shown:?}, {again:?}"))?;
        }
    }
    let shown = printable(&text);
    let is_bad = |c: char| acts(c) && !matches!(c, '\n' | '\t');
    ensure(!shown.chars().any(is_bad), || format!("printable: {shown:?} acts"))?;
    ensure(printable(&shown) == shown, || format!("printable twice: {shown:?}"))
}

/// A glob on the first line, and a path that it is matched against.
pub(crate) fn generate_glob(dice: &mut Dice) -> Vec<u8> {
    #[rustfmt::skip]
    const PARTS: &[&str] = &[
        "*", "**", "**/", "?", "[a-z]", "[!a]", "[", "]", "[]]", "[a-", "{a,b}", "{", "}", ",",
        "{1..3}", "!(a)", "@(a|b)", "+(a)", "*(a|b)", "?(a)", "(", ")", "|", "!", "\\", "/", ".",
        "..", "a", "b", "src", "é", "日", "-", "^", "\0", "./",
    ];
    let mut glob: String = (0..dice.few(40)).map(|_| *dice.pick(PARTS)).collect();
    if dice.one_in(6) {
        glob = dice.pick(&["*a", "{a,", "**/", "*(", "[a", "@(a|"]).repeat(1 + dice.few(3_000));
    }
    let path: String = match dice.one_in(4) {
        true => "a".repeat(dice.few(5_000)),
        false => (0..dice.few(60)).map(|_| *dice.pick(&["a", "b", "/", ".", "src", "é"])).collect(),
    };
    let mut bytes = glob.replace('\n', " ").into_bytes();
    if dice.one_in(4) {
        mutate(dice, &mut bytes, b"{src,lib}/**/*.rs");
    }
    bytes.push(b'\n');
    bytes.extend(path.into_bytes());
    bytes
}

pub(crate) fn check_glob(input: &[u8]) -> Checked {
    let input = String::from_utf8_lossy(input);
    let (pattern, path) = input.split_once('\n').unwrap_or((&input, ""));
    let path = normal_path(path);
    ensure(normal_path(&path) == path, || format!("{path:?} changes twice"))?;
    match Glob::hint(pattern) {
        Err(error) => ensure(!error.message.is_empty(), || "an error without a message".to_owned()),
        Ok(glob) => {
            let _ = glob.matches(&path);
            ensure(pattern.is_empty() || glob.matches(pattern), || {
                "a path spelled like the pattern does not match".to_owned()
            })
        }
    }
}
