//! Reads a script character by character into words and commands. The position only moves forward,
//! so the time is linear in the length of the script.

use model::limits;

use super::flow::{Flow, Joint, Strict};
use super::{LoopPlace, Simple, wrappers};

/// A word, and how much of its beginning was written without quotes.
#[derive(Default)]
pub(super) struct Word {
    pub(super) text: String,
    plain: Option<usize>,
}

impl Word {
    fn quoted(&mut self) {
        let length = self.text.len();
        self.plain.get_or_insert(length);
    }

    /// Whether it is this word, without quotes: a quoted word is never a keyword of the shell.
    pub(super) fn is(&self, word: &str) -> bool {
        self.plain.is_none() && self.text == word
    }

    /// Whether it sets a variable: `NAME=…` or `NAME+=…`.
    pub(super) fn assigns(&self) -> bool {
        let plain = &self.text[..self.plain.unwrap_or(self.text.len())];
        let Some((name, _)) = plain.split_once('=') else { return false };
        let name = name.strip_suffix('+').unwrap_or(name);
        // An element of an array has its index behind its name.
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    }
}

/// A here-document, whose text begins after the line.
struct Heredoc {
    delimiter: String,
    indented: bool,
}

pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    heredocs: Vec<Heredoc>,
    /// Whether the command being read sends its standard output to a file.
    redirected: bool,
    /// Whether that file is another one than `/dev/null`.
    to_file: bool,
    /// The loops around the command being read, the innermost last.
    loops: Vec<LoopPlace>,
    found: &'a mut Vec<Simple>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, depth: usize, found: &'a mut Vec<Simple>) -> Self {
        Reader {
            text,
            at: 0,
            depth,
            heredocs: Vec::new(),
            redirected: false,
            to_file: false,
            loops: Vec::new(),
            found,
        }
    }

    /// Reads commands up to the character that ends them, or to the end, and marks those whose exit
    /// code decides that of the list.
    pub(super) fn list(&mut self, end: Option<char>, strict: Strict) {
        let mut flow = Flow::default();
        self.read(end, &mut flow);
        flow.settle(self.found, strict);
    }

    fn read(&mut self, end: Option<char>, flow: &mut Flow) {
        let mut words: Vec<Word> = Vec::new();
        let mut parens = 0usize;
        while let Some(c) = self.peek() {
            let in_test = words.first().is_some_and(|word| word.is("[["))
                && !words.last().is_some_and(|word| word.is("]]"));
            match c {
                _ if Some(c) == end && parens == 0 => {
                    self.at += 1;
                    break;
                }
                ' ' | '\t' | '\r' => self.at += 1,
                '&' | '|' | '(' | ')' | '<' | '>' | '\n' | ';' if in_test => self.at += 1,
                '\n' => {
                    self.at += 1;
                    self.command(&mut words, flow);
                    flow.join(Joint::Line);
                    self.skip_heredocs();
                }
                '#' => self.skip_comment(),
                '<' | '>' if self.next_is('(') => words.push(self.word(end)),
                '<' | '>' => self.redirection(end, flow, &words),
                '&' if self.next_is('>') => {
                    self.at += 1;
                    self.redirection(end, flow, &words);
                }
                ';' | '&' | '|' => {
                    let (joint, length) = Joint::at(&self.text[self.at..]);
                    self.at += length;
                    self.command(&mut words, flow);
                    flow.join(joint);
                }
                '(' => parens += self.open(&mut words, flow),
                ')' => {
                    self.at += 1;
                    // A `)` without its `(` ends a pattern of `case`, which is not a command.
                    match parens {
                        0 => words.clear(),
                        _ => {
                            self.command(&mut words, flow);
                            flow.close();
                        }
                    }
                    parens = parens.saturating_sub(1);
                }
                _ => self.argument(&mut words, end),
            }
        }
        self.command(&mut words, flow);
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next_is(&self, c: char) -> bool {
        let mut chars = self.text[self.at..].chars();
        chars.next();
        chars.next() == Some(c)
    }

    fn rest_starts(&self, prefix: &str) -> bool {
        self.text[self.at..].starts_with(prefix)
    }

    /// Moves on, but never beyond the end.
    fn step(&mut self, bytes: usize) {
        self.at = self.text.ceil_char_boundary(self.at + bytes);
    }

    /// The position behind the next `c`, or the end of the text.
    fn behind(&self, c: char) -> usize {
        self.text[self.at..].find(c).map_or(self.text.len(), |at| self.at + at + c.len_utf8())
    }

    fn skip_comment(&mut self) {
        self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |at| self.at + at);
    }

    fn skip_heredocs(&mut self) {
        for Heredoc { delimiter, indented } in std::mem::take(&mut self.heredocs) {
            while self.at < self.text.len() {
                let end = self.behind('\n');
                let line = self.text[self.at..end].trim_end_matches(['\n', '\r']);
                self.at = end;
                let line = if indented { line.trim_start_matches('\t') } else { line };
                if line == delimiter {
                    break;
                }
            }
        }
    }

    /// An opening parenthesis: a subshell, a calculation, or the head of a function. Returns how many
    /// parentheses are to be closed.
    fn open(&mut self, words: &mut Vec<Word>, flow: &mut Flow) -> usize {
        let counts = words.is_empty() || words.first().is_some_and(|word| word.is("for"));
        if self.rest_starts("((") && counts {
            self.balanced('(', ')');
            return 0;
        }
        self.at += 1;
        let rest = self.text[self.at..].trim_start_matches([' ', '\t']);
        if words.len() == 1 && rest.starts_with(')') {
            words.clear();
            self.at = self.behind(')');
            // A function is defined here and run elsewhere.
            flow.branch();
            return 0;
        }
        self.command(words, flow);
        flow.open();
        1
    }

    /// Skips from an opening character to the one that closes it.
    fn balanced(&mut self, open: char, close: char) {
        let mut depth = 0usize;
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '\\' => self.step(1),
                _ if c == open => depth += 1,
                _ if c == close => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// `>file`, `2>&1`, `<<EOF`, `<<<text`: the operator and its word belong to no command.
    fn redirection(&mut self, end: Option<char>, flow: &mut Flow, words: &[Word]) {
        let takes_output = self.takes_output();
        if takes_output {
            match words.is_empty() {
                true => self.redirected = !flow.redirect_group(),
                false => self.redirected = true,
            }
        }
        let heredoc = self.rest_starts("<<") && !self.rest_starts("<<<");
        let operators = self.text[self.at..].find(|c| !matches!(c, '<' | '>' | '|' | '&'));
        self.at = operators.map_or(self.text.len(), |length| self.at + length);
        let indented = heredoc && self.rest_starts("-");
        if indented {
            self.at += 1;
        }
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        let ends = |c: char| matches!(c, '\n' | ';' | '&' | '|' | ')') || Some(c) == end;
        if self.peek().is_none_or(ends) {
            return;
        }
        let word = self.word(end);
        self.to_file |= takes_output && word.text != "/dev/null";
        if heredoc {
            self.heredocs.push(Heredoc { delimiter: word.text, indented });
        }
    }

    /// Whether the operator at this position redirects standard output: `>`, `1>`, `&>`, but not `2>` nor `>&1`.
    fn takes_output(&self) -> bool {
        let before = self.text[..self.at].bytes().rev();
        let file: Vec<u8> = before.take_while(u8::is_ascii_digit).take(2).collect();
        let of_output = matches!(file.as_slice(), [] | [b'1']);
        of_output && self.rest_starts(">") && !self.rest_starts(">&1")
    }

    fn argument(&mut self, words: &mut Vec<Word>, end: Option<char>) {
        let before = self.at;
        let word = self.word(end);
        // Skip the number of a file descriptor right before a redirection, and the empty word of a line
        // continuation.
        let number = word.plain.is_none() && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if !number || !(word.text.is_empty() || matches!(self.peek(), Some('<' | '>'))) {
            words.push(word);
        }
        if self.at == before {
            // This character cannot be part of a word: skip it, or the loop would never end.
            self.step(1);
        }
    }

    /// One word, substitutions included, whose commands are found on the way.
    fn word(&mut self, end: Option<char>) -> Word {
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | ')' => break,
                '<' | '>' if self.next_is('(') => self.substitution(2, ')', &mut word),
                '<' | '>' => break,
                '(' if word.text.ends_with(['=', '@', '!', '*', '?', '+']) => {
                    self.raw(&mut word, |reader| reader.balanced('(', ')'));
                }
                '(' => break,
                '`' if end == Some('`') => break,
                '`' => self.substitution(1, '`', &mut word),
                '\'' => {
                    word.quoted();
                    self.at += 1;
                    let close = self.behind('\'');
                    let quoted = &self.text[self.at..close];
                    word.text.push_str(quoted.strip_suffix('\'').unwrap_or(quoted));
                    self.at = close;
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut word);
                }
                '\\' => self.escaped(&mut word),
                '$' => self.dollar(&mut word),
                c => {
                    word.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        word
    }

    fn escaped(&mut self, word: &mut Word) {
        self.at += 1;
        match self.peek() {
            Some('\n') => self.at += 1,
            Some(c) => {
                word.quoted();
                word.text.push(c);
                self.at += c.len_utf8();
            }
            None => {}
        }
    }

    fn dollar(&mut self, word: &mut Word) {
        if self.rest_starts("$((") {
            self.raw(word, |reader| {
                reader.at += 1;
                reader.balanced('(', ')');
            });
        } else if self.rest_starts("$(") {
            self.substitution(2, ')', word);
        } else if self.rest_starts("${") {
            self.raw(word, |reader| {
                reader.at += 1;
                reader.balanced('{', '}');
            });
        } else if self.rest_starts("$'") {
            self.at += 2;
            self.ansi_quoted(word);
        } else if self.rest_starts("$\"") {
            self.at += 2;
            self.double_quoted(word);
        } else {
            word.text.push('$');
            self.at += 1;
        }
    }

    /// Appends the skipped text to the word as it is written.
    fn raw(&mut self, word: &mut Word, skip: impl FnOnce(&mut Self)) {
        let from = self.at;
        skip(self);
        word.text.push_str(&self.text[from..self.at]);
    }

    /// A command in a command; in the word it stays as it is written.
    fn substitution(&mut self, opening: usize, close: char, word: &mut Word) {
        word.quoted();
        self.raw(word, |reader| {
            if reader.depth >= limits::SHELL_DEPTH_MAX {
                match close {
                    ')' => {
                        reader.at += opening - 1;
                        reader.balanced('(', ')');
                    }
                    _ => {
                        reader.at += opening;
                        reader.at = reader.behind(close);
                    }
                }
                return;
            }
            reader.at += opening;
            reader.depth += 1;
            let (redirected, to_file) = (reader.redirected, reader.to_file);
            let from = reader.found.len();
            reader.list(Some(close), Strict::default());
            reader.found[from..].iter_mut().for_each(Simple::stays_inside);
            (reader.redirected, reader.to_file) = (redirected, to_file);
            reader.depth -= 1;
        });
    }

    fn double_quoted(&mut self, word: &mut Word) {
        word.quoted();
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    self.at += 1;
                    let next = self.peek();
                    if !matches!(next, Some('$' | '`' | '"' | '\\' | '\n')) {
                        word.text.push('\\');
                    }
                    if let Some(next) = next {
                        if next != '\n' {
                            word.text.push(next);
                        }
                        self.at += next.len_utf8();
                    }
                }
                '`' => self.substitution(1, '`', word),
                '$' if self.rest_starts("$'") || self.rest_starts("$\"") => {
                    word.text.push('$');
                    self.at += 1;
                }
                '$' => self.dollar(word),
                c => {
                    word.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn ansi_quoted(&mut self, word: &mut Word) {
        word.quoted();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '\'' => return,
                '\\' => {
                    let Some(next) = self.peek() else { return };
                    self.at += next.len_utf8();
                    word.text.push(match next {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        next => next,
                    });
                }
                c => word.text.push(c),
            }
        }
    }

    /// Takes the words that were read as one command.
    fn command(&mut self, words: &mut Vec<Word>, flow: &mut Flow) {
        let redirected = std::mem::take(&mut self.redirected);
        let to_file = std::mem::take(&mut self.to_file);
        if words.is_empty() {
            return;
        }
        let from = self.found.len();
        for word in words.iter().take_while(|word| wrappers::is_of_language(word)) {
            flow.keyword(word);
            self.follow_loop(word);
        }
        let in_loop = self.loops.last().copied().unwrap_or_default();
        let closes = words.first().is_some_and(|word| word.is("}"));
        wrappers::resolve(std::mem::take(words), self.depth, self.found);
        for command in &mut self.found[from..] {
            command.to_file |= to_file;
            // A script of `bash -c` may have a loop of its own.
            if command.in_loop == LoopPlace::Outside {
                command.in_loop = in_loop;
            }
        }
        match closes {
            true if redirected => drop(flow.redirect_group()),
            true => {}
            false => flow.command(from..self.found.len(), redirected),
        }
    }

    /// Opens or closes a loop at a keyword of the shell. The depth is bounded, because only the innermost loop counts.
    fn follow_loop(&mut self, word: &Word) {
        let opens = match word.text.as_str() {
            "while" | "until" => LoopPlace::Condition,
            "for" | "select" => LoopPlace::Body,
            "do" => {
                if let Some(place) = self.loops.last_mut() {
                    *place = LoopPlace::Body;
                }
                return;
            }
            "done" => {
                self.loops.pop();
                return;
            }
            _ => return,
        };
        if self.loops.len() < limits::SHELL_DEPTH_MAX {
            self.loops.push(opens);
        }
    }
}
