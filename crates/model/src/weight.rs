//! Estimates the memory of parsed JSON before it is parsed: a tree of small values takes dozens of times the bytes
//! on the wire, so a request of a few megabytes could take gigabytes.

use crate::error::{Code, OpError};
use crate::limits;

/// Bytes of one value in a growing list, overhead of one text, and bytes of one object with its first member.
/// Measured, and rounded up.
const VALUE_BYTES: usize = 144;
const TEXT_BYTES: usize = 48;
const OBJECT_BYTES: usize = 512;

/// Returns `too_large` for JSON whose tree would take more than [`limits::JSON_TREE_BYTES_MAX`]. Does not check that
/// it is valid JSON, and accepts small texts without counting.
pub fn check(json: &[u8]) -> Result<(), OpError> {
    let max = limits::JSON_TREE_BYTES_MAX;
    if json.len() <= limits::JSON_BYTES_LIGHT || weight(json) <= max {
        return Ok(());
    }
    let size = text::size(max as u64);
    let message = format!("the JSON has so many values that it would take over {size} of memory");
    Err(OpError::new(Code::TooLarge, message).hint("Send it in parts.").with("max", max))
}

/// The estimated bytes of the tree, up to the depth at which the parser gives up.
fn weight(json: &[u8]) -> usize {
    let (mut values, mut texts, mut objects, mut depth) = (1, 0, 0, 0_usize);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                texts += 1;
                while bytes.find(|byte| matches!(byte, b'"' | b'\\')) == Some(&b'\\') {
                    bytes.next();
                }
            }
            b',' => values += 1,
            b'[' | b'{' => {
                values += 1;
                objects += usize::from(*byte == b'{');
                depth += 1;
                if depth > limits::JSON_DEPTH_MAX {
                    break;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    values * VALUE_BYTES + texts * TEXT_BYTES + objects * OBJECT_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_are_too_large_and_long_texts_are_not() {
        let heavy = ["0,", "{\"a\":0},", "[],", "\"\","];
        for item in heavy {
            let json = format!("[{}0]", item.repeat(8 * 1024 * 1024 / item.len()));
            let error = check(json.as_bytes()).unwrap_err();
            assert_eq!(error.code, Code::TooLarge, "{item}");
            assert!(error.message.contains("64 MiB"), "{}", error.message);
        }
        // The parser refuses it at its 128th level.
        check("{\"a\":".repeat(1_000_000).as_bytes()).unwrap();
        let text = format!("{{\"text\":\"{}\"}}", "[{\\\",".repeat(1_000_000));
        check(text.as_bytes()).unwrap();
        let records = "{\"component\":\"web\",\"key\":\"build\",\"value\":\"make\",\"meta\":{\"ttl\":\"forever\"}},";
        check(format!("[{}0]", records.repeat(20_000)).as_bytes()).unwrap();
    }
}
