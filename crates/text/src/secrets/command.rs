//! Secrets on command lines: the table in `rules/commands.toml` says which argument of which program is one.

mod login;
mod options;
mod shell;
mod user;
mod variants;
mod words;

use std::ops::Range;

use super::assignment::{is_pass_name, is_secret_member};
use super::bytes::{in_name, span, span_back};
use super::judge::{
    contains, entropy, is_made_up, is_placeholder, is_secret, mixes_letters_and_digits,
};
pub(super) use login::{logged_in, pin};
pub(super) use shell::{echoed, here_string, sent};
pub(super) use user::{behind_user, user_pair};
pub(super) use variants::{run_subcommand, run_windows_program};
pub(super) use words::shell_word_end;
use words::{Word, words};

include!(concat!(env!("OUT_DIR"), "/commands.rs"));

/// How many bytes before a program are searched for the command that writes to its input.
const PRODUCER_MAX: usize = 256;

/// Names of settings that appear next to a secret and are not secret themselves.
const OPEN_NAMES: [&str; 16] = [
    "user", "username", "login", "host", "hostname", "port", "url", "uri", "ttl", "region",
    "email", "name", "version", "tag", "mode", "database",
];

/// How far each row of the table has read the text, so that no row reads a part twice, however often its programs
/// are repeated.
pub(super) struct Progress {
    rows: [u32; COUNT],
    cookies: usize,
    /// How far options before a subcommand were read.
    options: usize,
}

impl Progress {
    pub(super) fn new() -> Progress {
        Progress { rows: [0; COUNT], cookies: 0, options: 0 }
    }
}

/// Calls `found` with every secret on the command line of the program at this place, until it returns `false`.
/// The program's range includes the blank after its name.
pub(super) fn run(
    text: &[u8],
    command: u16,
    program: &Range<usize>,
    progress: &mut Progress,
    found: &mut dyn FnMut(Range<usize>) -> bool,
) -> bool {
    let Some(read) = progress.rows.get_mut(usize::from(command)) else { return true };
    if program.start < *read as usize {
        return true;
    }
    let ended = text[program.start..program.end].ends_with(b" ")
        || text
            .get(program.end)
            .is_none_or(|byte| !byte.is_ascii_graphic() || b"\"'`);|&,".contains(byte));
    if !ended || !starts_command(text, program.start) {
        return true;
    }
    let Some((start, length)) = COMMANDS.get(usize::from(command)) else { return true };
    let start = *start as usize;
    let places = PLACES.get(start..start + *length as usize).unwrap_or_default();
    let (values, places) = match places.strip_prefix("values ") {
        Some(rest) => rest.split_once('\n').unwrap_or((rest, "")),
        None => ("", places),
    };
    let line = Line { text, program: program.clone(), words: words(text, program.end), values };
    let end = line.words.last().map_or(program.end, |word| word.inner.end);
    *read = u32::try_from(end).unwrap_or(u32::MAX);
    places.lines().all(|place| line.at_place(place, found))
}

/// Whether a program name may begin here: not inside a word, a hyphenated name or a file name.
fn starts_command(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    before.is_none_or(|byte| {
        !byte.is_ascii_alphanumeric() && byte.is_ascii() && !b"_-.:@".contains(byte)
    })
}

/// A program and its arguments.
struct Line<'t> {
    text: &'t [u8],
    program: Range<usize>,
    words: Vec<Word>,
    /// The options with a value, if the table lists them.
    values: &'static str,
}

impl Line<'_> {
    /// Calls `found` with the secrets at one place of the table.
    fn at_place(&self, place: &str, found: &mut dyn FnMut(Range<usize>) -> bool) -> bool {
        let doubtful = place.strip_suffix(" ?");
        let place = doubtful.unwrap_or(place);
        let (first, second) = place.split_once(' ').unwrap_or((place, ""));
        let mut report = |range: Option<Range<usize>>| {
            let range = range.map(|range| {
                shell::variable_value(self.text, &range, self.program.start).unwrap_or(range)
            });
            let counts = |range: &Range<usize>| {
                let bytes = &self.text[range.clone()];
                is_secret(bytes) && (doubtful.is_none() || is_made_up(bytes))
            };
            range.filter(counts).is_none_or(&mut *found)
        };
        match (first, second) {
            ("=*", "") => (0..self.words.len()).all(|at| report(self.member(at, 0))),
            ("$*", "") => (0..self.words.len()).all(|at| report(self.named(at))),
            ("stdin", _) => self.piped(second).into_iter().all(|range| report(Some(range))),
            ("cookie", flag) => self.cookies(flag).into_iter().all(|range| report(Some(range))),
            (place, part) if place.starts_with('@') => {
                report(self.plain(place).and_then(|word| part_of(self.text, word, part)))
            }
            (flags, place) if place.starts_with('@') => {
                let given = flags.bytes().skip(1).all(|letter| self.has_letter(letter));
                report(self.plain(place).filter(|_| given))
            }
            (flag, "=*") => (0..self.words.len()).all(|at| match self.behind(at, flag) {
                Some(value) => report(self.member_in(value)),
                None => true,
            }),
            (flag, "* *") => (0..self.words.len()).all(|at| report(self.last_of_two(at, flag))),
            (flag, "") => (0..self.words.len()).all(|at| report(self.glued(at, flag))),
            (flag, part) => (0..self.words.len()).all(|at| {
                report(self.behind(at, flag).and_then(|word| part_of(self.text, word, part)))
            }),
        }
    }

    fn bytes(&self, at: usize) -> &[u8] {
        self.words.get(at).map_or(&[], |word| &self.text[word.inner.clone()])
    }

    /// The value of a flag: the next word, or the text after `=` in this one.
    fn behind(&self, at: usize, flag: &str) -> Option<Range<usize>> {
        let word = self.words.get(at)?;
        let bytes = self.bytes(at);
        let attached = |rest: &[u8]| {
            Some(words::unquoted(self.text, word.inner.end - rest.len()..word.inner.end))
        };
        if !self.values.is_empty() && flag.len() == 2 {
            return match self.after_short(at, flag)? {
                [] => self.value_at(at + 1),
                [b'=', rest @ ..] | rest => attached(rest),
            };
        }
        if is_flag(bytes, flag) {
            return self.value_at(at + 1);
        }
        attached(bytes.strip_prefix(flag.as_bytes())?.strip_prefix(b"=")?)
    }

    /// The text after a short flag in the word at this place, if the flag is in it.
    fn after_short(&self, at: usize, flag: &str) -> Option<&[u8]> {
        let own = !self.values.starts_with('+') || self.own_options().contains(&at);
        options::after_short(self.values, self.bytes(at), flag).filter(|_| own)
    }

    /// The places of the options before the first argument: two in `sudo -u bob -S id -n`.
    fn own_options(&self) -> Vec<usize> {
        let mut own = Vec::new();
        let mut at = 0;
        while self.bytes(at).starts_with(b"-") && self.bytes(at) != b"--" {
            own.push(at);
            at += 1 + usize::from(options::wants_next(self.values, self.bytes(at)));
        }
        own
    }

    /// The word after a flag, unless it is another flag.
    fn value_at(&self, at: usize) -> Option<Range<usize>> {
        let word = self.words.get(at)?;
        let value = self.bytes(at);
        let is_value = word.quoted
            || !value.starts_with(b"-")
            || !value.starts_with(b"--") && is_made_up(&value[1..]);
        is_value.then(|| word.inner.clone())
    }

    /// The second word after a keyword, or the first if there is only one: `AUTH user password`, `AUTH password`.
    fn last_of_two(&self, at: usize, keyword: &str) -> Option<Range<usize>> {
        let first = self.behind(at, keyword)?;
        let second = self.words.get(at + 2).filter(|_| is_flag(self.bytes(at), keyword));
        let second = second.filter(|word| !b"<>-".contains(&self.text[word.inner.start]));
        Some(second.map_or(first, |word| word.inner.clone()))
    }

    /// The secret in `-p*`, `-u:*` or `/pass:*`.
    fn glued(&self, at: usize, pattern: &str) -> Option<Range<usize>> {
        let word = self.words.get(at)?;
        let pattern = pattern.strip_suffix('*')?;
        let pair = pattern.len() > 2 && pattern.starts_with('-') && pattern.ends_with([':', '%']);
        let flag = if pair { &pattern[..pattern.len() - 1] } else { pattern };
        let rest = match flag.len() == 2 && !self.values.is_empty() {
            true => self.after_short(at, flag)?,
            false => self.bytes(at).strip_prefix(flag.as_bytes())?,
        };
        let range = words::unquoted(self.text, word.inner.end - rest.len()..word.inner.end);
        match pair {
            true if pattern.ends_with(':') => part_of(self.text, range, ":*"),
            true => part_of(self.text, range, "%*"),
            false => Some(range),
        }
    }

    /// The value in `NAME=VALUE`, unless the name is that of a non-secret setting.
    fn member(&self, at: usize, skip: usize) -> Option<Range<usize>> {
        let word = self.words.get(at)?;
        self.member_in(word.inner.start + skip..word.inner.end)
    }

    fn member_in(&self, range: Range<usize>) -> Option<Range<usize>> {
        let bytes = &self.text[range.clone()];
        let equals = bytes.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (&bytes[..equals], range.start + equals + 1..range.end);
        let value = words::unquoted(self.text, value);
        let open = OPEN_NAMES.iter().any(|open| name.eq_ignore_ascii_case(open.as_bytes()));
        let secret = is_named(name, &self.text[value.clone()])
            || mixes_letters_and_digits(&self.text[value.clone()]);
        (!open && !name.is_empty() && !name.starts_with(b"-") && secret).then_some(value)
    }

    /// The value in `NAME VALUE`, if the name is that of a secret.
    fn named(&self, at: usize) -> Option<Range<usize>> {
        let value = self.words.get(at + 1)?;
        let name = self.bytes(at);
        let is_flag = !value.quoted && self.bytes(at + 1).starts_with(b"-");
        let secret = !name.starts_with(b"--") && is_named(name, self.bytes(at + 1));
        (secret && !is_flag).then(|| value.inner.clone())
    }

    /// The positional argument with this number (`@2`), or the last one.
    fn plain(&self, place: &str) -> Option<Range<usize>> {
        let plain = |word: &&Word| {
            let bytes = &self.text[word.inner.clone()];
            word.quoted
                || !(bytes.starts_with(b"-") || is_windows_flag(bytes) || bytes.starts_with(b"<"))
        };
        let here =
            self.words.iter().take_while(|word| !self.text[word.inner.clone()].starts_with(b"<"));
        let mut here = here.filter(plain);
        let word = match &place[1..] {
            "last" => here.last(),
            number => here.nth(number.parse::<usize>().ok()?.checked_sub(1)?),
        };
        word.map(|word| word.inner.clone())
    }

    /// Whether a letter is among the short flags.
    fn has_letter(&self, letter: u8) -> bool {
        let mut flags = (0..self.words.len()).map(|at| self.bytes(at));
        flags.any(|word| {
            word.starts_with(b"-") && !word.starts_with(b"--") && word[1..].contains(&letter)
        })
    }

    /// The input of the program: from `echo … |` before it, or from `<<<` or `<<` after it.
    fn piped(&self, condition: &str) -> Vec<Range<usize>> {
        let (flag, part) = match condition {
            ":*" | "AUTH" => ("", condition),
            flag => (flag, "*"),
        };
        let given = match flag.as_bytes() {
            [] => true,
            // A short flag counts only before the program's own arguments: `sudo -S`, not `sudo x -S`.
            [b'-', _] => {
                self.own_options().into_iter().any(|at| self.after_short(at, flag).is_some())
            }
            flag => (0..self.words.len()).any(|at| self.bytes(at) == flag),
        };
        if !given {
            return Vec::new();
        }
        let input = |at: &usize| {
            let bytes = self.bytes(*at);
            bytes.starts_with(b"<<") || bytes == b"<("
        };
        let inputs = match (0..self.words.len()).find(input) {
            Some(at) if self.bytes(at) == b"<(" => {
                shell::substituted(self.text, &self.words[at + 1..]).into_iter().collect()
            }
            Some(at) if self.bytes(at) == b"<<<" => {
                self.words.get(at + 1).map(|word| word.inner.clone()).into_iter().collect()
            }
            Some(_) => shell::here_document(self.text, self.program.end),
            None => match produced(self.text, self.program.start) {
                Some(Produced::Words(words)) => vec![words],
                Some(Produced::HereDocument) => shell::here_document(self.text, self.program.end),
                None => Vec::new(),
            },
        };
        inputs.into_iter().filter_map(|input| part_of(self.text, input, part)).collect()
    }

    /// The session cookies after a flag.
    fn cookies(&self, flag: &str) -> Vec<Range<usize>> {
        let values = (0..self.words.len()).filter_map(|at| self.behind(at, flag));
        values.flat_map(|value| sessions(self.text, value)).collect()
    }
}

/// Whether a word is the flag of a pattern, or begins with it if the pattern ends in `~`.
fn is_flag(word: &[u8], pattern: &str) -> bool {
    match pattern.strip_suffix('~') {
        Some(start) => word.starts_with(start.as_bytes()),
        None => word == pattern.as_bytes(),
    }
}

/// Whether a setting of this name with this value is a secret. The last part of a dotted, slashed or
/// colon-separated name counts: `//registry/:_authToken`, `Db:Password`.
fn is_named(name: &[u8], value: &[u8]) -> bool {
    let name = name.rsplit(|byte| b":/.".contains(byte)).next().unwrap_or_default();
    let (Ok(name), Ok(value)) = (std::str::from_utf8(name), std::str::from_utf8(value)) else {
        return false;
    };
    let short = ["auth", "key", "psk", "salt"].iter().any(|end| {
        let end = end.as_bytes();
        name.len() >= end.len()
            && name.as_bytes()[name.len() - end.len()..].eq_ignore_ascii_case(end)
    });
    let pass = ["pass", "pw"].iter().any(|end| {
        let start = name.len().saturating_sub(end.len());
        let bytes = name.as_bytes();
        bytes[start..].eq_ignore_ascii_case(end.as_bytes()) && is_pass_name(bytes, start)
    });
    is_secret_member(name, value)
        || pass && value.len() >= 5
        || short && value.len() >= 8 && mixes_letters_and_digits(value.as_bytes())
}

/// Whether this is a switch of a Windows program (`/user:bob`) and not a path.
fn is_windows_flag(bytes: &[u8]) -> bool {
    let name = bytes.strip_prefix(b"/").unwrap_or_default();
    let letters = name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    letters > 0 && matches!(name.get(letters), None | Some(b':'))
}

/// The part of a word that a pattern selects.
fn part_of(text: &[u8], word: Range<usize>, pattern: &str) -> Option<Range<usize>> {
    let bytes = &text[word.clone()];
    match pattern {
        "*" | "" => Some(word),
        "!=" => {
            let name = span(bytes, 0, bytes.len(), in_name);
            (bytes.get(name) != Some(&b'=')).then_some(word)
        }
        "AUTH" => {
            let rest = bytes.get(..5).filter(|head| head.eq_ignore_ascii_case(b"AUTH "))?;
            let rest = bytes[rest.len()..].split(|byte| b" \\\r\n".contains(byte));
            let last = rest.filter(|word| !word.is_empty()).take(2).last()?;
            let start = bytes.windows(last.len()).rposition(|window| window == last)?;
            Some(word.start + start..word.start + start + last.len())
        }
        ":*" | ":*@" | "%*" | ",*" | "/*" => {
            let separator = pattern.as_bytes()[0];
            let at = bytes.iter().position(|byte| *byte == separator)?;
            if bytes[at..].starts_with(b"://") {
                return None;
            }
            // `user/password@database`, `user:password@host`
            let host = bytes.iter().rposition(|byte| *byte == b'@').filter(|end| *end > at);
            let end = match pattern {
                "/*" => host,
                // Without a user the colon is the one before a port.
                ":*@" => Some(host?),
                _ => None,
            };
            let value = word.start + at + 1..word.start + end.unwrap_or(bytes.len());
            Some(words::unquoted(text, value))
        }
        prefix => {
            let rest = bytes.strip_prefix(prefix.strip_suffix('*')?.as_bytes())?;
            Some(word.end - rest.len()..word.end)
        }
    }
}

/// The text that is piped into a program.
enum Produced {
    /// The arguments of `echo`, `printf` or `yes`.
    Words(Range<usize>),
    /// The here-document of `cat`.
    HereDocument,
}

/// The text that is piped into the program at `at`.
fn produced(text: &[u8], at: usize) -> Option<Produced> {
    let from = at - span_back(text, at, PRODUCER_MAX, |byte| *byte != b'\n');
    let before = &text[from..at];
    let pipe = before.iter().rposition(|byte| *byte == b'|')?;
    let written = &before[..pipe];
    // After `||` the program has another input.
    if written.ends_with(b"|") || !options::pass_input_on(&before[pipe + 1..]) {
        return None;
    }
    if written.windows(6).any(|window| window == b"cat <<") {
        return Some(Produced::HereDocument);
    }
    let starts = ["echo ", "printf ", "yes "].iter().filter_map(|writer| {
        let writer = writer.as_bytes();
        let at = written.windows(writer.len()).rposition(|window| window == writer)?;
        Some((at, at + writer.len()))
    });
    let (start, arguments) = starts.max()?;
    if !starts_command(text, from + start) {
        return None;
    }
    let mut words = words(text, from + arguments);
    words.retain(|word| {
        let bytes = &text[word.inner.clone()];
        let is_flag = bytes.starts_with(b"-") && !word.quoted;
        word.inner.end <= from + pipe && !is_flag && !bytes.contains(&b'%')
    });
    let (first, last) = (words.first()?, words.last()?);
    Some(Produced::Words(first.inner.start..last.inner.end))
}

/// The values of session cookies in `name=value; name=value`.
pub(super) fn sessions(text: &[u8], cookies: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = cookies.start;
    for cookie in text[cookies].split(|byte| *byte == b';') {
        let start = at + span(cookie, 0, 4, |byte| *byte == b' ');
        at += cookie.len() + 1;
        let cookie = cookie.trim_ascii();
        let Some(equals) = cookie.iter().position(|byte| *byte == b'=') else { continue };
        let (name, value) = (&cookie[..equals], &cookie[equals + 1..]);
        let names = ["sess", "sid", "token", "auth", "jwt", "remember", "login", "csrf", "xsrf"];
        let named = names.iter().any(|part| contains(name, part));
        let random = value.len() >= 8 && mixes_letters_and_digits(value) && entropy(value) > 2.5;
        if named && random && !is_placeholder(value) {
            found.push(start + equals + 1..start + equals + 1 + value.len());
        }
    }
    found
}

/// The session cookies in a `Cookie` header; the keyword ends before the first of them.
pub(super) fn cookie_header(
    text: &[u8],
    at: &Range<usize>,
    progress: &mut Progress,
) -> Vec<Range<usize>> {
    if at.start < progress.cookies {
        return Vec::new();
    }
    let length = span(text, at.end, words::COMMAND_MAX, |byte| !b"\"'\n\r".contains(byte));
    progress.cookies = at.end + length;
    sessions(text, at.end..at.end + length)
}
