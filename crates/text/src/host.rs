//! How much text the host of an agent hands on to its model, counted as hosts count: in UTF-16 and in bytes.

/// The most text that a host hands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLimits {
    /// Characters, in UTF-16.
    pub units: usize,
    pub bytes: usize,
}

/// The length of a text in the units of hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostSize {
    units: usize,
    bytes: usize,
}

impl HostSize {
    pub fn of(text: &str) -> HostSize {
        let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
        HostSize { units, bytes: text.len() }
    }

    /// Adds a line and this many ASCII characters around it, its line break among them.
    pub fn add_line(&mut self, line: &str, around: usize) {
        let line = HostSize::of(line);
        self.units += line.units + around;
        self.bytes += line.bytes + around;
    }
}

impl HostLimits {
    /// No limits: a text of any length is handed on.
    pub const NONE: HostLimits = HostLimits { units: usize::MAX, bytes: usize::MAX };

    /// The limits of a text that both hosts hand on.
    #[must_use]
    pub fn and(self, other: HostLimits) -> HostLimits {
        HostLimits { units: self.units.min(other.units), bytes: self.bytes.min(other.bytes) }
    }

    /// The limits that are left for a text beside this many ASCII characters.
    #[must_use]
    pub fn beside(self, ascii: usize) -> HostLimits {
        HostLimits {
            units: self.units.saturating_sub(ascii),
            bytes: self.bytes.saturating_sub(ascii),
        }
    }

    /// Whether a text of this size is handed on whole.
    pub fn accept(self, size: HostSize) -> bool {
        size.units <= self.units && size.bytes <= self.bytes
    }

    /// As many whole lines as the host hands on; if the first line is too long, as much of it as fits.
    pub fn cut(self, text: &str) -> &str {
        if self.accept(HostSize::of(text)) {
            return text;
        }
        let mut units = 0;
        let over = text.char_indices().find(|(at, c)| {
            units += c.len_utf16();
            units > self.units || at + c.len_utf8() > self.bytes
        });
        let Some((end, _)) = over else { return text };
        let fits = text.get(..end).unwrap_or_default();
        // A line that ends just where the text was cut is whole.
        let is_whole = text.get(end..).is_some_and(|rest| rest.starts_with('\n'));
        let whole = if is_whole { Some(end) } else { fits.rfind('\n') };
        let lines = whole.and_then(|at| fits.get(..at)).unwrap_or_default().trim_end();
        if lines.is_empty() { fits.trim_end() } else { lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// @capture_answer_limits
    #[test]
    fn a_text_is_cut_at_a_line_and_counted_as_its_host_counts() {
        let tiny = HostLimits { units: 8, ..HostLimits::NONE };
        let table = [
            ("one\ntwo", "one\ntwo"),
            ("one\ntwo\nthree", "one\ntwo"),
            ("one\nlonger line", "one"),
            ("one\nfour\nfive", "one\nfour"),
            ("a long first line", "a long f"),
            ("\n\n\n\n\n\n\n\n\nx", ""),
            ("😀😀😀😀😀", "😀😀😀😀"),
        ];
        for (text, cut) in table {
            assert_eq!(tiny.cut(text), cut, "{text:?}");
        }
        let bytes = HostLimits { bytes: 8, ..HostLimits::NONE };
        assert_eq!(bytes.cut("one\ntwo\nthree"), "one\ntwo");
        assert_eq!(bytes.cut("日本語"), "日本");
    }

    #[test]
    fn lines_are_accepted_up_to_the_stricter_measure() {
        let size = |lines: &[&str]| {
            let mut size = HostSize::default();
            lines.iter().for_each(|line| size.add_line(line, 3));
            size
        };
        let limits = HostLimits { units: 8, bytes: 10 };
        assert!(limits.accept(size(&["- ab"])) && !limits.accept(size(&["- ab", ""])));
        assert!(limits.accept(size(&["😀"])) && !limits.accept(size(&["日本語"])));
        assert!(!limits.beside(4).accept(size(&["😀"])));
        assert_eq!(
            limits.and(HostLimits { units: 9, bytes: 4 }),
            HostLimits { units: 8, bytes: 4 }
        );
    }
}
