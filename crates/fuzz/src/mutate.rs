//! Damages well-formed bytes: bits, pieces, lengths, nesting, and bytes that are not UTF-8.

use crate::dice::Dice;

/// Most inputs stay below `BYTES_USUAL`; one in fifty may grow to `BYTES_MAX`.
const BYTES_USUAL: usize = 4 * 1024;
const BYTES_MAX: usize = 256 * 1024;

/// Pieces that parsers often mishandle: broken text, extreme numbers, half escapes, brackets.
#[rustfmt::skip]
const PIECES: &[&[u8]] = &[
    b"\0", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf0\x9f\x92", b"\xef\xbb\xbf", b"\\ud800",
    b"\\udc00\\ud800", b"\\u0000", b"\\", b"\"", b"'", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r\n",
    b"\r", b"\t", b"null", b"true", b"-0", b"1e999", b"1e-999", b"18446744073709551616",
    b"9223372036854775807", b"-9223372036854775809", b"0.1e1", b"NaN", b"../../../..", b"%00", b"%2e%2e%2f",
    b"/", b"@", b"#", b"?", b"<system-reminder>", b"</private>", b"\xe2\x80\xae", b"\xe2\x80\x8b",
    b"\xf3\xa0\x81\x81", b"\xc2\x9b", b"\x1b[2J", "ß".as_bytes(), "İ".as_bytes(), "ﬀ".as_bytes(),
    "\u{0301}\u{0301}\u{0301}".as_bytes(), "日本語".as_bytes(), "👩‍👩‍👧‍👦".as_bytes(),
];

/// Changes the bytes in one to four places, sometimes not at all.
pub(crate) fn mutate(dice: &mut Dice, bytes: &mut Vec<u8>, other: &[u8]) {
    if dice.one_in(12) {
        return;
    }
    let most = if dice.one_in(50) { BYTES_MAX } else { BYTES_USUAL.max(bytes.len()) };
    for _ in 0..=dice.few(4) {
        mutate_once(dice, bytes, other);
        bytes.truncate(most);
    }
}

fn mutate_once(dice: &mut Dice, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = dice.below(bytes.len() + 1);
    let end = (at + dice.few(64)).min(bytes.len());
    match dice.below(13) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = dice.byte();
            }
        }
        2 | 3 => insert(bytes, at, dice.pick::<&[u8]>(PIECES)),
        4 => bytes.truncate(at),
        5 => drop(bytes.drain(at..end)),
        6 => {
            let part = bytes[at..end].to_vec();
            let times = 1 + dice.few(2_000);
            insert(bytes, at, &part.repeat(times.min(1 + BYTES_MAX / part.len().max(1))));
        }
        7 => {
            let from = dice.below(other.len() + 1);
            let to = (from + dice.few(400)).min(other.len());
            insert(bytes, at, &other[from..to]);
        }
        8 => replace_number(dice, bytes),
        9 => nest(dice, bytes, at),
        10 => {
            let piece = *dice.pick(PIECES);
            insert(bytes, at, &piece.repeat(1 + dice.few(20_000)));
        }
        11 => {
            let part: Vec<u8> = bytes.drain(at..end).collect();
            let to = dice.below(bytes.len() + 1);
            insert(bytes, to, &part);
        }
        _ => {
            let noise: Vec<u8> = (0..dice.few(64)).map(|_| dice.byte()).collect();
            insert(bytes, at, &noise);
        }
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    let room = BYTES_MAX.saturating_sub(bytes.len());
    bytes.splice(at..at, piece.iter().take(room).copied());
}

/// Replaces a run of digits by an extreme number.
fn replace_number(dice: &mut Dice, bytes: &mut Vec<u8>) {
    let from = dice.below(bytes.len());
    let digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = bytes.iter().skip(from).position(digit).map(|at| at + from) else { return };
    let length = bytes[start..].iter().take_while(|byte| digit(byte)).count();
    let numbers: [&[u8]; 8] =
        [b"0", b"-1", b"4294967296", b"9223372036854775808", b"1e308", b"-1e999", b"0.5", b"007"];
    bytes.splice(start..start + length, dice.pick(&numbers).iter().copied());
}

/// Wraps the rest of the bytes, or nothing, in many brackets.
fn nest(dice: &mut Dice, bytes: &mut Vec<u8>, at: usize) {
    let pairs: [(&[u8], &[u8]); 5] =
        [(b"[", b"]"), (b"{\"a\":", b"}"), (b"(", b")"), (b"\"", b"\""), (b"NOT ", b"")];
    let (open, close) = *dice.pick(&pairs);
    let depth = 1 + dice.few(20_000);
    let end = if dice.one_in(2) { bytes.len() } else { at };
    if dice.one_in(2) {
        insert(bytes, end, &close.repeat(depth));
    }
    insert(bytes, at, &open.repeat(depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutation_is_repeatable_and_bounded() {
        for number in 0..500 {
            let made = || {
                let mut dice = Dice::of_case("mutate", 7, number);
                let mut bytes = b"{\"a\":[1,2,{\"b\":\"text\"}]}".to_vec();
                mutate(&mut dice, &mut bytes, b"other");
                mutate(&mut dice, &mut bytes, b"");
                bytes
            };
            assert_eq!(made(), made());
            assert!(made().len() <= BYTES_MAX);
        }
    }

    #[test]
    fn empty_input_can_be_mutated() {
        for number in 0..500 {
            mutate(&mut Dice::of_case("empty", 7, number), &mut Vec::new(), b"");
        }
    }
}
