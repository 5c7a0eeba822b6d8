//! Shortens a large event while it is read. One pass over the bytes copies the structure, replaces long texts by
//! their head and tail and omits values beyond the bounds, so that memory does not depend on the input: the
//! parsed tree of a 15 MB event would take half a gigabyte.
//!
//! Members that extraction reads are kept wherever they are, even after 60 MB of tool output. Omitted parts are only
//! scanned for their end; the kept parts are validated by the parser that reads the result.

mod known;
mod long_text;

use model::limits;

use self::known::KNOWN;
use self::long_text::LongText;

/// The state of shortening one event.
pub(crate) struct Shortener {
    out: Vec<u8>,
    levels: Vec<Level>,
    state: ParseState,
    /// The name of the member that is being read, as it is spelled.
    name: Vec<u8>,
    /// Offset in `out` at which the current member or item begins, including its comma.
    begins: usize,
    /// Values that were kept.
    values: usize,
    /// Length of `out` above which only known members are kept.
    limit: usize,
    /// Whether long texts are still hashed.
    hashes: bool,
    deep: bool,
}

/// An open object or list.
struct Level {
    is_object: bool,
    kept: usize,
    omitted: u64,
}

/// The scanner state inside an omitted part.
#[derive(Clone, Copy, Default)]
struct Skipped {
    /// Number of open brackets.
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Skipped {
    /// The state at the first byte of a value.
    fn at(byte: u8) -> Skipped {
        let depth = usize::from(matches!(byte, b'{' | b'['));
        Skipped { depth, in_text: byte == b'"', escaped: false }
    }
}

enum ParseState {
    /// Before the first byte of a value, or before the end of an empty list.
    Value,
    /// Before the name of a member, or before the end of an empty object.
    Name,
    InName {
        escaped: bool,
    },
    Colon,
    /// In a text that is copied; `from` is its offset in `out`.
    Text {
        from: usize,
        escaped: bool,
    },
    Long(Box<LongText>),
    /// In a number, `true`, `false` or `null`; `from` is its offset in `out`.
    Scalar {
        from: usize,
    },
    After,
    SkipScalar,
    /// In an omitted value.
    Skip(Skipped),
    /// In the rest of a list that is full.
    SkipRest(Skipped),
    Whole,
    /// The input is not one JSON object.
    Bad,
}

impl Default for Shortener {
    fn default() -> Shortener {
        Shortener {
            out: Vec::with_capacity(limits::EVENT_TEXT_BYTES_MAX),
            levels: Vec::new(),
            state: ParseState::Value,
            name: Vec::new(),
            begins: 0,
            values: 0,
            limit: 0,
            hashes: true,
            deep: false,
        }
    }
}

impl Shortener {
    /// Processes the next bytes of the event.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = match &mut self.state {
                ParseState::Text { .. } => self.text(bytes),
                ParseState::Long(text) => match text.feed(bytes) {
                    Some(taken) => {
                        let shortened = text.shortened();
                        self.out.extend_from_slice(shortened.as_bytes());
                        self.state = ParseState::After;
                        taken
                    }
                    None => bytes.len(),
                },
                ParseState::Skip(_) => self.skip(bytes),
                ParseState::SkipRest(_) => self.skip_rest(bytes),
                ParseState::InName { .. } => self.member_name(bytes),
                ParseState::Bad => return,
                _ => self.structure(bytes),
            };
            bytes = bytes.get(taken..).unwrap_or_default();
        }
    }

    /// Whether the event is complete.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.state, ParseState::Whole)
    }

    /// Whether a value was omitted because it is nested too deep.
    pub(crate) fn is_deep(&self) -> bool {
        self.deep
    }

    /// Stops hashing, which takes most of the time, because the deadline has passed.
    pub(crate) fn hurry(&mut self) {
        self.hashes = false;
        if let ParseState::Long(text) = &mut self.state {
            text.stop_hashing();
        }
    }

    /// The shortened event; `None` if the input is not one complete object.
    pub(crate) fn finish(self) -> Option<Vec<u8>> {
        self.is_whole().then_some(self.out)
    }

    /// Closes an event that was cut off, so that the part that arrived is valid JSON. The incomplete member is
    /// omitted, unless it is a long text. `None` if the input is not the beginning of an object.
    pub(crate) fn finish_cut(mut self) -> Option<Vec<u8>> {
        match &mut self.state {
            ParseState::Bad => return None,
            ParseState::Whole => return Some(self.out),
            ParseState::Long(text) => {
                let shortened = text.shortened();
                self.out.extend_from_slice(shortened.as_bytes());
            }
            ParseState::Text { .. } | ParseState::Scalar { .. } => {
                self.out.truncate(self.begins);
                if let Some(level) = self.levels.last_mut() {
                    level.kept -= 1;
                    level.omitted += 1;
                }
            }
            _ => {}
        }
        if self.levels.is_empty() {
            return None;
        }
        while let Some(level) = self.levels.pop() {
            self.close(&level);
        }
        Some(self.out)
    }

    /// Processes one byte between values or in a short token. Returns the number of bytes consumed, 0 or 1.
    fn structure(&mut self, bytes: &[u8]) -> usize {
        let Some(&byte) = bytes.first() else { return 0 };
        if let ParseState::Scalar { .. } | ParseState::SkipScalar = self.state {
            return self.scalar(byte);
        }
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            return 1;
        }
        match (&self.state, byte) {
            (ParseState::Value, b']') if self.is_empty_level(false) => self.end(),
            (ParseState::Value, _) => self.begin(byte),
            (ParseState::Name, b'}') if self.is_empty_level(true) => self.end(),
            (ParseState::Name, b'"') => {
                self.name.clear();
                self.state = ParseState::InName { escaped: false };
            }
            (ParseState::Colon, b':') => self.state = ParseState::Value,
            (ParseState::After, b',') => {
                let in_object = self.levels.last().is_some_and(|level| level.is_object);
                self.state = if in_object { ParseState::Name } else { ParseState::Value };
            }
            (ParseState::After, b'}') if self.in_level(true) => self.end(),
            (ParseState::After, b']') if self.in_level(false) => self.end(),
            _ => self.state = ParseState::Bad,
        }
        1
    }

    fn in_level(&self, is_object: bool) -> bool {
        self.levels.last().is_some_and(|level| level.is_object == is_object)
    }

    /// Whether the innermost level is of this kind and still empty.
    fn is_empty_level(&self, is_object: bool) -> bool {
        let empty = |level: &Level| level.kept == 0 && level.omitted == 0;
        self.in_level(is_object) && self.levels.last().is_some_and(empty)
    }

    /// Begins the value that starts with this byte.
    fn begin(&mut self, byte: u8) {
        let nests = matches!(byte, b'{' | b'[');
        let is_scalar = matches!(byte, b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
        if !(nests || is_scalar) || (self.levels.is_empty() && byte != b'{') {
            self.state = ParseState::Bad;
            return;
        }
        if self.levels.len() == 1 {
            // A member may take half of the remaining room, so that some is left for every later one.
            let room = limits::EVENT_SHORT_BYTES.saturating_sub(self.out.len());
            self.limit = self.out.len() + room / 2;
        }
        let too_deep = nests && self.levels.len() >= limits::EVENT_DEPTH_MAX;
        self.deep |= too_deep;
        if too_deep || !self.has_room() {
            if let Some(level) = self.levels.last_mut() {
                level.omitted += 1;
            }
            let skipped = Skipped::at(byte);
            self.state = match byte {
                _ if !too_deep && self.in_level(false) => {
                    ParseState::SkipRest(Skipped { depth: skipped.depth + 1, ..skipped })
                }
                b'"' | b'{' | b'[' => ParseState::Skip(skipped),
                _ => ParseState::SkipScalar,
            };
            return;
        }
        self.head();
        self.values += 1;
        let from = self.out.len();
        self.out.push(byte);
        self.state = match byte {
            b'"' => ParseState::Text { from, escaped: false },
            b'{' | b'[' => {
                let is_object = byte == b'{';
                self.levels.push(Level { is_object, kept: 0, omitted: 0 });
                if is_object { ParseState::Name } else { ParseState::Value }
            }
            _ => ParseState::Scalar { from },
        };
    }

    /// Whether the value that begins here is kept.
    fn has_room(&self) -> bool {
        let Some(level) = self.levels.last() else { return true };
        if level.is_object && self.name.len() > limits::EVENT_NAME_BYTES_MAX {
            return false;
        }
        let few = level.kept < limits::EVENT_ITEMS_MAX && self.values < limits::EVENT_VALUES_MAX;
        let known = || level.is_object && KNOWN.iter().any(|name| name.as_bytes() == self.name);
        (few && self.out.len() < self.limit)
            || (known()
                && level.kept < 2 * limits::EVENT_ITEMS_MAX
                && self.out.len() < 2 * limits::EVENT_SHORT_BYTES)
    }

    /// Writes the prefix of a value: the comma, and in an object the member name.
    fn head(&mut self) {
        self.begins = self.out.len();
        let Some(level) = self.levels.last_mut() else { return };
        if level.kept > 0 {
            self.out.push(b',');
        }
        level.kept += 1;
        if level.is_object {
            self.out.push(b'"');
            self.out.extend_from_slice(&self.name);
            self.out.extend_from_slice(b"\":");
        }
    }

    /// Ends the innermost object or list.
    fn end(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.close(&level);
        }
        self.state = if self.levels.is_empty() { ParseState::Whole } else { ParseState::After };
    }

    fn close(&mut self, level: &Level) {
        if level.omitted > 0 {
            let comma = if level.kept > 0 { "," } else { "" };
            let omitted = level.omitted;
            let marker = match level.is_object {
                true => format!("{comma}\"omitted\":{omitted}"),
                false => format!("{comma}{{\"omitted\":{omitted}}}"),
            };
            self.out.extend_from_slice(marker.as_bytes());
        }
        self.out.push(if level.is_object { b'}' } else { b']' });
    }

    fn scalar(&mut self, byte: u8) -> usize {
        if matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r') {
            self.state = ParseState::After;
            return 0;
        }
        if let ParseState::Scalar { from } = self.state {
            self.out.push(byte);
            if self.out.len() - from > limits::EVENT_NAME_BYTES_MAX {
                self.out.truncate(from);
                self.out.extend_from_slice(b"null");
                self.state = ParseState::SkipScalar;
            }
        }
        1
    }

    /// Copies a text up to its end, or until it exceeds the limit for long texts.
    fn text(&mut self, bytes: &[u8]) -> usize {
        let ParseState::Text { from, escaped } = &mut self.state else { return 0 };
        let (taken, ended) = string_part(bytes, escaped);
        self.out.extend_from_slice(bytes.get(..taken).unwrap_or_default());
        let from = *from;
        let max = limits::EVENT_TEXT_BYTES_MAX + 2;
        if ended && self.out.len() - from <= max {
            self.state = ParseState::After;
        } else if self.out.len() - from > max {
            let copied = self.out.split_off(from);
            let mut text = LongText::new(self.hashes);
            let raw = copied.get(1..).unwrap_or_default();
            if text.feed(raw).is_some() {
                self.out.extend_from_slice(text.shortened().as_bytes());
                self.state = ParseState::After;
            } else {
                self.state = ParseState::Long(Box::new(text));
            }
        }
        taken
    }

    /// Continues reading a member name.
    fn member_name(&mut self, bytes: &[u8]) -> usize {
        let ParseState::InName { escaped } = &mut self.state else { return 0 };
        let (taken, ended) = string_part(bytes, escaped);
        let read = bytes.get(..taken - usize::from(ended)).unwrap_or_default();
        // One byte over the limit is kept, so that the name is recognised as too long.
        let room = (limits::EVENT_NAME_BYTES_MAX + 1).saturating_sub(self.name.len());
        self.name.extend_from_slice(read.get(..room.min(read.len())).unwrap_or_default());
        if ended {
            self.state = ParseState::Colon;
        }
        taken
    }

    /// Scans for the end of an omitted value.
    fn skip(&mut self, bytes: &[u8]) -> usize {
        let ParseState::Skip(skipped) = &mut self.state else { return 0 };
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            if std::mem::take(&mut skipped.escaped) {
                at += 1;
                continue;
            }
            let in_text = skipped.in_text;
            let matters = |byte: &u8| match byte {
                b'"' => true,
                b'\\' => in_text,
                b'{' | b'[' | b'}' | b']' => !in_text,
                _ => false,
            };
            let Some(found) = rest.iter().position(matters) else { return bytes.len() };
            at += found + 1;
            match rest.get(found) {
                Some(b'"') => skipped.in_text = !skipped.in_text,
                Some(b'\\') => skipped.escaped = true,
                Some(b'{' | b'[') => skipped.depth += 1,
                _ => skipped.depth -= 1,
            }
            if skipped.depth == 0 && !skipped.in_text {
                self.state = ParseState::After;
                return at;
            }
        }
        bytes.len()
    }

    /// Scans for the end of a list and counts the omitted items.
    fn skip_rest(&mut self, bytes: &[u8]) -> usize {
        let ParseState::SkipRest(skipped) = &mut self.state else { return 0 };
        let Skipped { mut depth, mut in_text, mut escaped } = *skipped;
        let mut items = 0;
        let mut end = None;
        for (at, byte) in bytes.iter().enumerate() {
            if in_text {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => in_text = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => in_text = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        end = Some(at);
                        break;
                    }
                }
                b',' if depth == 1 => items += 1,
                _ => {}
            }
        }
        *skipped = Skipped { depth, in_text, escaped };
        if let Some(level) = self.levels.last_mut() {
            level.omitted += items;
        }
        if end.is_some() {
            self.end();
        }
        end.map_or(bytes.len(), |at| at + 1)
    }
}

/// The length of the next part of a JSON string, up to and including its end or a backslash, and whether the string ends
/// there. `escaped` says whether the byte before was a backslash.
fn string_part(bytes: &[u8], escaped: &mut bool) -> (usize, bool) {
    if std::mem::take(escaped) {
        return (1, false);
    }
    let Some(at) = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
        return (bytes.len(), false);
    };
    let ended = bytes.get(at) == Some(&b'"');
    *escaped = !ended;
    (at + 1, ended)
}

#[cfg(test)]
mod tests;
