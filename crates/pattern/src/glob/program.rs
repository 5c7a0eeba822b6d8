//! The compiled form of a glob and the two matchers for it.
//!
//! [`BacktrackingSearch`] answers usual patterns in well under a microsecond, but would take exponential time on a
//! hostile one. It therefore has a budget; when that is spent, [`MatchTable`] answers in time proportional to pattern
//! times path.

use super::set::CharSet;

/// Steps of the search, in addition to one for each instruction, before the table takes over.
const SEARCH_STEPS_MAX: usize = 2_048;
/// Recursion depth of the search before the table takes over.
const SEARCH_DEPTH_MAX: usize = 256;
/// Columns of the table: an instruction looks ahead by one character, which is at most four bytes.
const COLUMNS: usize = 5;

/// One instruction. The next one follows unless it says otherwise. Targets lie ahead, except for that of
/// [`Inst::Again`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inst {
    /// Exactly this byte.
    Byte(u8),
    /// One character of a name, but not a leading dot.
    Any,
    /// One character of the set with this index.
    Set(u32),
    /// Any part of one name, even empty; not at a leading dot.
    Star,
    /// Any text, even empty and across `/`; not at a leading dot. For `**` the compiler sees to it that
    /// these are whole names.
    Globstar,
    /// The path has not ended.
    Some,
    /// The next instruction or the target.
    Split(u32),
    Jump(u32),
    /// The start of a repetition; the target is its [`Inst::Again`].
    Loop(u32),
    /// Repeats, or continues with the next instruction.
    Again(u32),
    /// Jumps to the target unless the next instruction leads to a match.
    Unless(u32),
    /// The end of the path.
    End,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) insts: Vec<Inst>,
    pub(super) sets: Vec<CharSet>,
}

impl Program {
    pub(super) fn matches(&self, path: &str) -> bool {
        let steps = SEARCH_STEPS_MAX + self.insts.len();
        let mut search = BacktrackingSearch { program: self, path, steps, depth: 0 };
        search.from(0, 0).unwrap_or_else(|| self.table(path))
    }

    /// The position after the one character that this instruction consumes.
    fn one_char(&self, pc: usize, at: usize, path: &str) -> Option<usize> {
        let c = path.get(at..)?.chars().next()?;
        let accepted = match self.insts[pc] {
            Inst::Set(index) => self.sets[index as usize].accepts(c),
            _ => c != '/' && !starts_hidden(path.as_bytes(), at),
        };
        accepted.then(|| at + c.len_utf8())
    }

    /// Computes, from the path's end to its start, which instructions lead to a match.
    fn table(&self, path: &str) -> bool {
        let mut table =
            MatchTable { program: self, path, cells: vec![false; COLUMNS * self.insts.len()] };
        for at in (0..=path.len()).rev() {
            for pc in (0..self.insts.len()).rev() {
                let leads = table.leads(pc, at);
                table.set(pc, at, leads);
                if let Inst::Loop(again) = self.insts[pc] {
                    table.repeat(pc, again as usize, at);
                }
            }
        }
        table.get(0, 0)
    }
}

/// Backtracking; every answer is `None` once the budget is spent.
struct BacktrackingSearch<'a> {
    program: &'a Program,
    path: &'a str,
    steps: usize,
    depth: usize,
}

impl BacktrackingSearch<'_> {
    /// Whether the rest of the path matches from this instruction.
    fn from(&mut self, pc: usize, at: usize) -> Option<bool> {
        if self.depth == SEARCH_DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let found = self.along(pc, at);
        self.depth -= 1;
        found
    }

    /// Executes instructions and branches at alternatives.
    fn along(&mut self, pc: usize, at: usize) -> Option<bool> {
        let (mut pc, mut at) = (pc, at);
        let bytes = self.path.as_bytes();
        loop {
            self.steps = self.steps.checked_sub(1)?;
            match self.program.insts[pc] {
                Inst::Byte(byte) => {
                    if bytes.get(at) != Some(&byte) {
                        return Some(false);
                    }
                    at += 1;
                    pc += 1;
                }
                Inst::Any | Inst::Set(_) => match self.program.one_char(pc, at, self.path) {
                    Some(after) => {
                        at = after;
                        pc += 1;
                    }
                    None => return Some(false),
                },
                Inst::Star => return self.wild(pc, at, Some(b'/')),
                Inst::Globstar => return self.wild(pc, at, None),
                Inst::Some if at == bytes.len() => return Some(false),
                Inst::Some | Inst::Loop(_) => pc += 1,
                Inst::Jump(target) => pc = target as usize,
                Inst::Split(other) => {
                    if self.from(pc + 1, at)? {
                        return Some(true);
                    }
                    pc = other as usize;
                }
                Inst::Again(start) => {
                    if self.from(start as usize, at)? {
                        return Some(true);
                    }
                    pc += 1;
                }
                Inst::Unless(target) => {
                    if self.from(pc + 1, at)? {
                        return Some(false);
                    }
                    pc = target as usize;
                }
                Inst::End => return Some(at == bytes.len()),
            }
        }
    }

    /// Lets the wildcard at `pc` consume as little as possible; it does not consume `stop`.
    fn wild(&mut self, pc: usize, at: usize, stop: Option<u8>) -> Option<bool> {
        let bytes = self.path.as_bytes();
        let next = self.program.insts[pc + 1];
        let mut at = at;
        while !starts_hidden(bytes, at) {
            // The next byte alone excludes most positions.
            let possible = match next {
                Inst::Byte(byte) => bytes.get(at) == Some(&byte),
                Inst::End => at == bytes.len(),
                _ => true,
            };
            if possible && self.from(pc + 1, at)? {
                return Some(true);
            }
            if at == bytes.len() || Some(bytes[at]) == stop {
                return Some(false);
            }
            at += char_length(bytes[at]);
            self.steps = self.steps.checked_sub(1)?;
        }
        Some(false)
    }
}

/// Whether each instruction leads to a match, for the last few positions.
struct MatchTable<'a> {
    program: &'a Program,
    path: &'a str,
    cells: Vec<bool>,
}

impl MatchTable<'_> {
    fn get(&self, pc: usize, at: usize) -> bool {
        self.cells[(at % COLUMNS) * self.program.insts.len() + pc]
    }

    fn set(&mut self, pc: usize, at: usize, leads: bool) {
        self.cells[(at % COLUMNS) * self.program.insts.len() + pc] = leads;
    }

    fn leads(&self, pc: usize, at: usize) -> bool {
        let bytes = self.path.as_bytes();
        let inst = self.program.insts[pc];
        if let Inst::Byte(byte) = inst {
            return bytes.get(at) == Some(&byte) && self.get(pc + 1, at + 1);
        }
        if !self.path.is_char_boundary(at) {
            return false;
        }
        match inst {
            Inst::Byte(_) => false,
            Inst::Any | Inst::Set(_) => match self.program.one_char(pc, at, self.path) {
                Some(after) => self.get(pc + 1, after),
                None => false,
            },
            Inst::Star => self.wild(pc, at, Some(b'/')),
            Inst::Globstar => self.wild(pc, at, None),
            Inst::Some => at < bytes.len() && self.get(pc + 1, at),
            Inst::Split(other) => self.get(pc + 1, at) || self.get(other as usize, at),
            Inst::Jump(target) => self.get(target as usize, at),
            // An empty iteration adds nothing; `repeat` handles the others.
            Inst::Loop(_) | Inst::Again(_) => self.get(pc + 1, at),
            Inst::Unless(target) => !self.get(pc + 1, at) && self.get(target as usize, at),
            Inst::End => at == bytes.len(),
        }
    }

    fn wild(&self, pc: usize, at: usize, stop: Option<u8>) -> bool {
        let bytes = self.path.as_bytes();
        if starts_hidden(bytes, at) {
            return false;
        }
        let goes_on = at < bytes.len() && Some(bytes[at]) != stop;
        self.get(pc + 1, at) || (goes_on && self.get(pc, at + char_length(bytes[at])))
    }

    /// Connects the end of a repetition to its start and updates its body. One pass is enough: the compiler nests
    /// neither repetitions nor `!(…)` in a repetition.
    fn repeat(&mut self, start: usize, again: usize, at: usize) {
        if self.get(start, at) && !self.get(again, at) {
            self.set(again, at, true);
            for pc in (start..again).rev() {
                let leads = self.leads(pc, at);
                self.set(pc, at, leads);
            }
        }
    }
}

/// Whether a name with a leading dot starts here.
fn starts_hidden(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'.') && (at == 0 || bytes[at - 1] == b'/')
}

/// Bytes of the character with this first byte.
fn char_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile::compile;
    use super::*;

    /// All texts of up to this many parts.
    fn texts(parts: &[&str], longest: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..longest {
            last = last
                .iter()
                .flat_map(|text| parts.iter().map(move |part| format!("{text}{part}")))
                .collect();
            all.extend_from_slice(&last);
        }
        all
    }

    #[test]
    fn search_and_table_give_the_same_answer() {
        let paths = texts(&["a", ".", "/", "é"], 3);
        let parts = ["a", "*", "/", "**", "?", ".", "[^a]", "{a,*/}", "+(a|?)", "!(a)", "*(é|)"];
        let mut answers = 0;
        for pattern in texts(&parts, 3).iter().skip(1) {
            let program = compile(pattern, 0).unwrap();
            for path in &paths {
                let mut search =
                    BacktrackingSearch { program: &program, path, steps: 1 << 20, depth: 0 };
                // Only the table handles an empty iteration, as in `*(é|)`.
                if let Some(found) = search.from(0, 0) {
                    answers += 1;
                    assert_eq!(found, program.table(path), "{pattern} on {path}");
                }
            }
        }
        assert!(answers > 80_000, "only {answers} answers");
    }
}
