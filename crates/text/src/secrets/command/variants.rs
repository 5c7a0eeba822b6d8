//! Programs that are written otherwise than in the table: with their Windows file name (`mysql.exe -p…`), or with options
//! before their subcommand (`docker -H host login`).

use std::ops::Range;

use super::super::bytes::{in_name, span, span_back};
use super::super::prefilter::{LeadsTo, keywords};
use super::{Progress, run, starts_command, words};

/// How many bytes before `.exe` are read as the name, and how many after it as the subcommand.
const NAME_MAX: usize = 32;
/// How many words after a program are searched for its subcommand, and how many bytes of that are read.
const OPTION_WORDS_MAX: usize = 16;
const SUBCOMMAND_MAX: usize = 32;

/// Calls `found` with every secret on the command line of a program named `….exe`, until it returns `false`.
/// The keyword is `.exe`. The name without it is looked up among the keywords, which spares a second name for every
/// program in the table.
pub(in super::super) fn run_windows_program(
    text: &[u8],
    at: &Range<usize>,
    progress: &mut Progress,
    found: &mut dyn FnMut(Range<usize>) -> bool,
) -> bool {
    let name = span_back(text, at.start, NAME_MAX, |byte| in_name(byte) || *byte == b'-');
    // The path may be quoted, and the quote escaped.
    let end = at.end + span(text, at.end, 2, |byte| b"\"'\\".contains(byte));
    if name == 0 || text.get(end) != Some(&b' ') {
        return true;
    }
    let start = at.start - name;
    let behind = &text[end..text.len().min(end + NAME_MAX)];
    let plain = [&text[start..at.start], behind].concat();
    let mut go_on = true;
    keywords(&plain, |leads_to, hit| {
        if let LeadsTo::Command(row) = leads_to
            && hit.start == 0
            && hit.end >= name
        {
            let program = start..hit.end - name + end;
            go_on = run(text, row, &program, progress, found);
        }
        go_on
    });
    go_on
}

/// Calls `found` with every secret on the command line of a program with options before its subcommand, until it returns
/// `false`. The keyword is the program, a blank and the dash of the first option. The program's name and the words after
/// its options are looked up among the keywords, as if no options were between them.
pub(in super::super) fn run_subcommand(
    text: &[u8],
    at: &Range<usize>,
    progress: &mut Progress,
    found: &mut dyn FnMut(Range<usize>) -> bool,
) -> bool {
    if at.start < progress.options || !starts_command(text, at.start) {
        return true;
    }
    let program = &text[at.start..at.end - 1];
    let (mut go_on, mut known, mut may_be_value) = (true, false, false);
    for word in words::up_to(text, at.end - 1, OPTION_WORDS_MAX) {
        let Range { start, end } = word.inner;
        progress.options = end;
        if text[start..end].starts_with(b"-") && !word.quoted {
            may_be_value = !text[start..end].contains(&b'=');
            continue;
        }
        let behind = &text[start..text.len().min(start + SUBCOMMAND_MAX)];
        keywords(&[program, behind].concat(), |leads_to, hit| {
            if let LeadsTo::Command(row) = leads_to
                && hit.start == 0
                && hit.end > program.len()
            {
                known = true;
                let whole = at.start..start + hit.end - program.len();
                go_on = run(text, row, &whole, progress, found);
            }
            go_on
        });
        // A word that is neither the value of an option nor known is another subcommand.
        if known || !go_on || !std::mem::take(&mut may_be_value) {
            break;
        }
    }
    go_on
}
