//! Replaces images that a text contains as data by `[image]`: their base64 says nothing, and takes the room of words.

use std::borrow::Cow;

/// The beginning of the address of such an image, and the mark between its type and its data.
const IMAGE: &str = "data:image/";
const ENCODED: &str = ";base64,";
/// The most bytes from the beginning of an image's address to the end of `;base64,`.
const TYPE_BYTES_MAX: usize = 64;

/// The text with `[image]` in place of each image and of the Markdown around it.
pub(super) fn replaced(text: &str) -> Cow<'_, str> {
    if !text.contains(IMAGE) {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len().min(TYPE_BYTES_MAX));
    let mut rest = text;
    while let Some(at) = rest.find(IMAGE) {
        let (before, image) = rest.split_at(at);
        let Some(length) = length(image) else {
            kept.push_str(&rest[..at + IMAGE.len()]);
            rest = &rest[at + IMAGE.len()..];
            continue;
        };
        rest = &image[length..];
        kept.push_str(before);
        // `![a diagram](data:…)`.
        let title = before.strip_suffix("](").and_then(|before| before.rfind("!["));
        if let Some(title) = title.filter(|_| rest.starts_with(')')) {
            kept.truncate(kept.len() - before.len() + title);
            rest = &rest[1..];
        }
        kept.push_str("[image]");
    }
    kept.push_str(rest);
    kept.into()
}

/// The length of the image that the text begins with.
fn length(text: &str) -> Option<usize> {
    let head = &text[..text.floor_char_boundary(TYPE_BYTES_MAX.min(text.len()))];
    let from = head.find(ENCODED)? + ENCODED.len();
    let is_data = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=-_%".contains(byte);
    Some(from + text.as_bytes()[from..].iter().take_while(|byte| is_data(byte)).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// @capture_images
    #[test]
    fn an_image_as_data_becomes_a_word() {
        let data = format!("data:image/png;base64,{}==", "iVBORw0KGgo".repeat(300));
        let table = [
            ("plain".to_owned(), "plain"),
            (data.clone(), "[image]"),
            (format!("See ![the plan]({data}), then go."), "See [image], then go."),
            (format!("a {data} b <img src=\"{data}\"> c"), "a [image] b <img src=\"[image]\"> c"),
            (format!("[link]({data})"), "[link]([image])"),
            ("a data:image/png is an address".to_owned(), "a data:image/png is an address"),
            (
                "![a](b.png) data:image/svg+xml,<svg/>".to_owned(),
                "![a](b.png) data:image/svg+xml,<svg/>",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(replaced(&text), expected);
        }
    }
}
