//! Compiles the text of a glob to a [`Program`]. `glob` documents the constructs.

use super::program::{Inst, Program};
use super::range;
use super::set;
use super::{GLOB_ALTERNATIVES_MAX, GLOB_DEPTH_MAX, GlobError};

/// Compiles the pattern from byte `start` on.
pub(super) fn compile(pattern: &str, start: usize) -> Result<Program, GlobError> {
    if start == pattern.len() {
        return Err(GlobError { message: "the glob is empty".into() });
    }
    let mut compiler = Compiler {
        pattern,
        start,
        at: start,
        before: Before::NameStart,
        groups: Vec::new(),
        in_repetition: false,
        alternatives: 0,
        program: Program::default(),
    };
    compiler.sequence(pattern.len())?;
    compiler.emit(Inst::End);
    Ok(compiler.program)
}

pub(super) fn error_at(pattern: &str, at: usize, problem: &str) -> GlobError {
    let column = pattern[..at].chars().count() + 1;
    GlobError { message: format!("{problem} at column {column} of the glob `{pattern}`") }
}

pub(super) fn unclosed(pattern: &str, open: usize, opening: char, closing: char) -> GlobError {
    let problem =
        format!("`{opening}` without its `{closing}` (`\\{opening}` is the plain character)");
    error_at(pattern, open, &problem)
}

/// A `{…}` or `(…)` of the pattern.
struct GlobGroup {
    open: usize,
    close: usize,
    separators: Vec<usize>,
    separator: u8,
}

/// The text right before the current position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A `/` or nothing: a name starts here, as far as the pattern tells.
    NameStart,
    Star,
    Other,
}

/// The text right after a `**`.
#[derive(PartialEq, Eq)]
enum AfterGlobstar {
    Slash,
    End,
}

struct Compiler<'a> {
    pattern: &'a str,
    start: usize,
    at: usize,
    before: Before,
    /// The open groups, innermost last.
    groups: Vec<GlobGroup>,
    in_repetition: bool,
    alternatives: usize,
    program: Program,
}

impl Compiler<'_> {
    /// Compiles up to byte `end`, the end of the pattern or of an alternative.
    fn sequence(&mut self, end: usize) -> Result<(), GlobError> {
        while self.at < end {
            let rest = &self.pattern.as_bytes()[self.at..];
            match rest[0] {
                b'\\' => self.escape()?,
                b'/' => self.slash(),
                b'@' | b'+' | b'?' | b'!' if rest.get(1) == Some(&b'(') => self.extglob(rest[0])?,
                b'*' => self.stars()?,
                b'?' => {
                    self.emit(Inst::Any);
                    self.passed(1);
                }
                b'[' => self.set()?,
                b'{' => self.braces()?,
                b'(' => self.parentheses()?,
                byte => {
                    self.emit(Inst::Byte(byte));
                    self.passed(1);
                }
            }
        }
        Ok(())
    }

    fn emit(&mut self, inst: Inst) {
        self.program.insts.push(inst);
    }

    fn here(&self) -> usize {
        self.program.insts.len()
    }

    /// The current position as a jump target; a pattern's bounds keep programs far below four billion instructions.
    fn target(&self) -> u32 {
        u32::try_from(self.here()).unwrap_or(u32::MAX)
    }

    /// Skips bytes that were compiled and are neither a `/` nor a star.
    fn passed(&mut self, bytes: usize) {
        self.at += bytes;
        self.before = Before::Other;
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.pattern.as_bytes().get(at).copied()
    }

    fn text(&mut self, text: &str) {
        self.program.insts.extend(text.bytes().map(Inst::Byte));
    }

    fn escape(&mut self) -> Result<(), GlobError> {
        let pattern = self.pattern;
        let Some(escaped) = pattern[self.at + 1..].chars().next() else {
            return Err(error_at(pattern, self.at, "`\\` with nothing after it"));
        };
        if escaped == '/' {
            self.at += 1;
            self.slash();
            return Ok(());
        }
        self.text(escaped.encode_utf8(&mut [0; 4]));
        self.passed(1 + escaped.len_utf8());
        Ok(())
    }

    /// A `/`, together with a `**` that ends the pattern: `a/**` matches `a` too, `a*/**` does not.
    fn slash(&mut self) {
        let globstars = self.globstars(self.at + 1);
        let split = self.here();
        match globstars {
            Some((end, AfterGlobstar::End)) if self.before != Before::Star => {
                self.emit(Inst::Split(0));
                self.emit(Inst::Byte(b'/'));
                self.emit(Inst::Globstar);
                self.program.insts[split] = Inst::Split(self.target());
                self.passed(end - self.at);
            }
            // At the start of the pattern, `/**/` matches at least one name.
            Some((end, AfterGlobstar::Slash))
                if self.at == self.start && self.byte(end) == Some(b'/') =>
            {
                self.emit(Inst::Byte(b'/'));
                self.emit(Inst::Globstar);
                self.emit(Inst::Byte(b'/'));
                self.passed(end + 1 - self.at);
                self.before = Before::NameStart;
            }
            _ => {
                self.emit(Inst::Byte(b'/'));
                self.at += 1;
                self.before = Before::NameStart;
            }
        }
    }

    /// A run of stars: `**` as a whole name, else equivalent to one star; `*(` belongs to its group.
    fn stars(&mut self) -> Result<(), GlobError> {
        if self.before == Before::NameStart
            && let Some((end, _)) = self.globstars(self.at)
        {
            self.globstar(end);
            return Ok(());
        }
        let run = self.pattern[self.at..].bytes().take_while(|&byte| byte == b'*').count();
        let of_group = usize::from(self.byte(self.at + run) == Some(b'('));
        if run > of_group {
            if self.before == Before::NameStart {
                self.emit(Inst::Some);
            }
            self.emit(Inst::Star);
            self.at += run - of_group;
            self.before = Before::Star;
        }
        if of_group == 1 { self.extglob(b'*') } else { Ok(()) }
    }

    /// A `**` up to byte `end`, together with the `/` there: `**/a` matches `a` too.
    fn globstar(&mut self, end: usize) {
        self.passed(end - self.at);
        if self.byte(end) != Some(b'/') {
            self.emit(Inst::Globstar);
            return;
        }
        let split = self.here();
        self.emit(Inst::Split(0));
        self.emit(Inst::Globstar);
        self.emit(Inst::Byte(b'/'));
        self.program.insts[split] = Inst::Split(self.target());
        self.at += 1;
        self.before = Before::NameStart;
    }

    /// `**`, `**/**` and so on as whole names from here: where they end and what follows.
    fn globstars(&self, from: usize) -> Option<(usize, AfterGlobstar)> {
        let rest = self.pattern.get(from..)?;
        let after = from + rest.strip_prefix("**").map(|_| 2)?;
        let next = self.next(after)?;
        if self.byte(after) == Some(b'/')
            && let Some(longer) = self.globstars(after + 1)
        {
            return Some(longer);
        }
        Some((after, next))
    }

    /// The next token at this position, beyond the ends of open groups.
    fn next(&self, at: usize) -> Option<AfterGlobstar> {
        let mut at = at;
        for group in self.groups.iter().rev() {
            if at != group.close && self.byte(at) != Some(group.separator) {
                break;
            }
            at = group.close + 1;
        }
        match self.byte(at) {
            None => Some(AfterGlobstar::End),
            Some(b'/') => Some(AfterGlobstar::Slash),
            Some(_) => None,
        }
    }

    fn set(&mut self) -> Result<(), GlobError> {
        let open = self.at;
        let pattern = self.pattern;
        let parsed = set::parse(pattern, open)?;
        let index = u32::try_from(self.program.sets.len()).unwrap_or(u32::MAX);
        self.program.sets.push(parsed.set);
        if parsed.maybe_literal {
            let length = u32::try_from(parsed.end - open).unwrap_or(u32::MAX);
            let literal = self.target() + 3;
            self.emit(Inst::Split(literal));
            self.emit(Inst::Set(index));
            self.emit(Inst::Jump(literal + length));
            self.text(&pattern[open..parsed.end]);
        } else {
            self.emit(Inst::Set(index));
        }
        self.passed(parsed.end - open);
        Ok(())
    }

    /// `{a,b}`, `{1..3}`; braces with neither are plain characters.
    fn braces(&mut self) -> Result<(), GlobError> {
        let Some(group) = self.find_group(self.at, b',') else {
            return Err(unclosed(self.pattern, self.at, '{', '}'));
        };
        if !group.separators.is_empty() {
            return self.group(group);
        }
        let inside = &self.pattern[group.open + 1..group.close];
        let Some(range) = range::parse(inside) else {
            self.emit(Inst::Byte(b'{'));
            self.passed(1);
            return Ok(());
        };
        self.count_alternatives(range.len())?;
        self.at = group.close;
        let items = range.items();
        self.alternation(items.len(), |compiler, index| {
            compiler.text(&items[index]);
            Ok(())
        })?;
        self.passed(1);
        Ok(())
    }

    /// `(a|b)`; parentheses without a `|` are plain characters, as in `Program Files (x86)`.
    fn parentheses(&mut self) -> Result<(), GlobError> {
        match self.find_group(self.at, b'|') {
            Some(group) if !group.separators.is_empty() => self.group(group),
            _ => {
                self.emit(Inst::Byte(b'('));
                self.passed(1);
                Ok(())
            }
        }
    }

    /// `@(…)`, `?(…)`, `*(…)`, `+(…)`, `!(…)`.
    fn extglob(&mut self, kind: u8) -> Result<(), GlobError> {
        let start = self.at;
        let Some(group) = self.find_group(start + 1, b'|') else {
            return Err(unclosed(self.pattern, start + 1, '(', ')'));
        };
        if self.in_repetition && matches!(kind, b'*' | b'+' | b'!') {
            let kind = char::from(kind);
            let problem = format!("a repetition cannot hold `{kind}(`");
            return Err(error_at(self.pattern, start, &problem));
        }
        self.at += 1;
        match kind {
            b'!' => self.negation(group),
            b'?' => self.optional(|compiler| compiler.group(group)),
            b'*' => self.optional(|compiler| compiler.repetition(group)),
            b'+' => self.repetition(group),
            _ => self.group(group),
        }
    }

    fn optional(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<(), GlobError>,
    ) -> Result<(), GlobError> {
        let split = self.here();
        self.emit(Inst::Split(0));
        part(self)?;
        self.program.insts[split] = Inst::Split(self.target());
        Ok(())
    }

    fn repetition(&mut self, group: GlobGroup) -> Result<(), GlobError> {
        let start = self.here();
        let start_target = self.target();
        self.emit(Inst::Loop(0));
        self.in_repetition = true;
        let compiled = self.group(group);
        self.in_repetition = false;
        compiled?;
        self.program.insts[start] = Inst::Loop(self.target());
        self.emit(Inst::Again(start_target));
        Ok(())
    }

    /// Matches anything, unless the group in its place would make the whole pattern match.
    fn negation(&mut self, group: GlobGroup) -> Result<(), GlobError> {
        let crosses_names = self.pattern[group.open..group.close].contains('/');
        let unless = self.here();
        self.emit(Inst::Unless(0));
        self.group(group)?;
        let jump = self.here();
        self.emit(Inst::Jump(0));
        self.program.insts[unless] = Inst::Unless(self.target());
        self.emit(if crosses_names { Inst::Globstar } else { Inst::Star });
        self.program.insts[jump] = Inst::Jump(self.target());
        Ok(())
    }

    /// Compiles the alternatives of the group that starts here and skips its end.
    fn group(&mut self, group: GlobGroup) -> Result<(), GlobError> {
        if self.groups.len() == GLOB_DEPTH_MAX {
            let problem = format!("groups inside each other more than {GLOB_DEPTH_MAX} deep");
            return Err(error_at(self.pattern, group.open, &problem));
        }
        self.count_alternatives(group.separators.len() + 1)?;
        let mut ends = group.separators.clone();
        ends.push(group.close);
        self.at = group.open;
        let before = self.before;
        self.groups.push(group);
        self.alternation(ends.len(), |compiler, index| {
            compiler.at += 1;
            compiler.before = before;
            compiler.sequence(ends[index])
        })?;
        self.groups.pop();
        self.passed(1);
        Ok(())
    }

    /// Any one of the parts.
    fn alternation(
        &mut self,
        count: usize,
        mut part: impl FnMut(&mut Self, usize) -> Result<(), GlobError>,
    ) -> Result<(), GlobError> {
        let mut jumps = Vec::new();
        for index in 0..count {
            if index + 1 == count {
                part(self, index)?;
                break;
            }
            let split = self.here();
            self.emit(Inst::Split(0));
            part(self, index)?;
            jumps.push(self.here());
            self.emit(Inst::Jump(0));
            self.program.insts[split] = Inst::Split(self.target());
        }
        let end = self.target();
        for jump in jumps {
            self.program.insts[jump] = Inst::Jump(end);
        }
        Ok(())
    }

    fn count_alternatives(&mut self, more: usize) -> Result<(), GlobError> {
        self.alternatives = self.alternatives.saturating_add(more);
        if self.alternatives <= GLOB_ALTERNATIVES_MAX {
            return Ok(());
        }
        let problem = format!("more than {GLOB_ALTERNATIVES_MAX} alternatives");
        Err(error_at(self.pattern, self.at, &problem))
    }

    /// The group that starts at this byte, if it is closed.
    fn find_group(&self, open: usize, separator: u8) -> Option<GlobGroup> {
        let mut separators = Vec::new();
        let mut closings = Vec::new();
        let mut at = open;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\\' => at += 1,
                b'{' => closings.push(b'}'),
                b'(' => closings.push(b')'),
                b'[' => {
                    // Braces and separators in a character class are literal.
                    if let Ok(parsed) = set::parse(self.pattern, at) {
                        at = parsed.end - 1;
                    }
                }
                _ if closings.last() == Some(&byte) => {
                    closings.pop();
                    if closings.is_empty() {
                        return Some(GlobGroup { open, close: at, separators, separator });
                    }
                }
                _ if byte == separator && closings.len() == 1 => separators.push(at),
                _ => {}
            }
            at += 1;
        }
        None
    }
}
