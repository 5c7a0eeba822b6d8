//! Scans over bytes: the few steps of which all checks of the secret guard consist. Each is bounded by
//! its caller, which keeps the cost of hostile text linear.

/// Bytes of a name that are read; a longer name is cut here.
const NAME_MAX: usize = 4096;

/// How many bytes from `at` on are of a kind, `most` at the most.
pub(super) fn span(text: &[u8], at: usize, most: usize, kind: impl Fn(&u8) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let length = rest.iter().take(most).take_while(|byte| kind(byte)).count();
    #[cfg(test)]
    steps::add(length);
    length
}

/// How many bytes before `at` are of a kind, `most` at the most.
pub(super) fn span_back(text: &[u8], at: usize, most: usize, kind: impl Fn(&u8) -> bool) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let length = before.iter().rev().take(most).take_while(|byte| kind(byte)).count();
    #[cfg(test)]
    steps::add(length);
    length
}

/// Letters, digits and `_`.
pub(super) fn in_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// A space or a tab.
pub(super) fn blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Whether a byte can be part of a secret: printable ASCII, except quotes, brackets, commas, semicolons and
/// backslashes.
pub(super) fn in_word(byte: &u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'"' | b'\''
                | b'`'
                | b'<'
                | b'>'
                | b'('
                | b')'
                | b'['
                | b']'
                | b'{'
                | b'}'
                | b','
                | b';'
                | b'\\'
        )
}

/// Whether the byte before `at` is not part of a name.
pub(super) fn begins(text: &[u8], at: usize) -> bool {
    at == 0 || text.get(at - 1).is_none_or(|byte| !in_name(byte))
}

/// Whether the byte at `at` is not part of a name.
pub(super) fn ends(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| !in_name(byte))
}

/// The length of the rest of a name at `at`, if `at` is inside a name: a rule may match only its first part.
pub(super) fn rest_of_name(text: &[u8], at: usize) -> usize {
    let inside = at > 0 && text.get(at - 1).is_some_and(in_name);
    if inside { span(text, at, NAME_MAX, |byte| in_name(byte) || *byte == b'-') } else { 0 }
}

/// Counts the steps of this thread, for the tests that bound the cost of hostile text.
#[cfg(test)]
pub(super) mod steps {
    use std::cell::Cell;

    thread_local!(static STEPS: Cell<usize> = const { Cell::new(0) });

    pub(crate) fn add(count: usize) {
        STEPS.set(STEPS.get() + count + 1);
    }

    /// The steps counted since the last call.
    pub(crate) fn take() -> usize {
        STEPS.replace(0)
    }
}
