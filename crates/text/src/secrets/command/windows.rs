//! Programs with their Windows file name: `mysql.exe -p…` takes the same arguments as `mysql -p…`.

use std::ops::Range;

use super::super::bytes::{in_name, span, span_back};
use super::super::prefilter::{LeadsTo, keywords};
use super::{Progress, run};

/// How many bytes before `.exe` are read as the name, and how many after it as the subcommand.
const NAME_MAX: usize = 32;

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
