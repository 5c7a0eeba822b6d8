//! The names under which the program can be started. Each name other than its own has a command line made of the same
//! commands: a group of them is at the top level, and some have other words or another output. The differences are
//! data; no code depends on a name.

use contract::op::PrettyText;

/// A program name and its commands.
#[derive(Debug)]
pub struct ProgramName {
    pub word: &'static str,
    /// The program's description under this name.
    pub about: &'static str,
    /// The group whose commands are at the top level.
    pub group: Option<&'static str>,
    /// Further commands at the top level, which are not in the group.
    pub own: &'static [&'static str],
    /// Commands of operations with other words or another output.
    pub sayings: &'static [Saying],
    /// Prefix of each line on stderr.
    pub prefix: &'static str,
}

/// The variant of an operation's command under a name.
#[derive(Debug)]
pub struct Saying {
    pub word: &'static str,
    /// Its words under the full name.
    pub command: &'static [&'static str],
    /// Default values of parameters.
    pub defaults: &'static [ParamDefault],
    /// The result, as JSON, that replaces a `not_found` error. Under the full name, and with `--json`, the error is
    /// printed.
    pub nothing: Option<&'static str>,
    /// Text for people, if not the operation's own.
    pub pretty: Option<PrettyText>,
    pub goes: ResultForm,
}

/// A default of a parameter that differs from that under the full name.
#[derive(Debug)]
pub struct ParamDefault {
    pub param: &'static str,
    /// Its value as JSON.
    pub json: &'static str,
    /// Its help text; empty for a parameter that has no flag.
    pub doc: &'static str,
}

/// Where a result is printed, and in which form. With `--json` it is always printed on stdout as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultForm {
    /// To stdout, as text for people.
    ToStdout,
    /// To stdout as JSON: the list of the result, each item with only these members.
    AsList {
        members: &'static [&'static str],
        /// Additional members with `--full`.
        full: &'static [&'static str],
    },
    /// To stderr, line by line: stdout is reserved for data.
    ToStderr,
}

impl Saying {
    /// A variant without differences, for struct update syntax.
    pub const SAME: Saying = Saying {
        word: "",
        command: &[],
        defaults: &[],
        nothing: None,
        pretty: None,
        goes: ResultForm::ToStdout,
    };
}

impl ProgramName {
    /// The program's own name, under which it has every command.
    pub const FULL: ProgramName = ProgramName {
        word: "rekindle",
        about: "Local memory and context for coding agents",
        group: None,
        own: &[],
        sayings: &[],
        prefix: "",
    };

    /// Whether this is the program's own name.
    pub fn is_full(&self) -> bool {
        self.word == ProgramName::FULL.word
    }

    /// The variant of the command with these words under the full name.
    pub(crate) fn saying(&self, path: &[&str]) -> Option<&Saying> {
        self.sayings.iter().find(|saying| saying.command == path)
    }

    /// The beginning of a line that calls the command with these words, if this name has it.
    pub(crate) fn line(&self, path: &[&str]) -> Option<String> {
        let first = path.first()?;
        let words = match (self.saying(path), self.group) {
            (Some(saying), _) => saying.word.to_owned(),
            _ if self.is_full() || self.own.contains(first) => path.join(" "),
            (None, Some(group)) if *first == group && path.len() > 1 => path[1..].join(" "),
            _ => return None,
        };
        Some(format!("{} {words}", self.word))
    }

    /// The beginning of a line that calls the command, under the full name if this one lacks it.
    pub(crate) fn any_line(&self, path: &[&str]) -> String {
        let full = || ProgramName::FULL.line(path);
        self.line(path).or_else(full).unwrap_or_else(|| self.word.to_owned())
    }

    /// Converts the words of a command under this name to those under the full name.
    pub(crate) fn full_path<'p>(&'p self, said: &'p [String]) -> Vec<&'p str> {
        let words: Vec<&str> = said.iter().map(String::as_str).collect();
        let Some(first) = words.first() else { return words };
        if let Some(saying) = self.sayings.iter().find(|saying| saying.word == *first) {
            return saying.command.to_vec();
        }
        match self.group {
            Some(group) if !self.own.contains(first) => [&[group], &words[..]].concat(),
            _ => words,
        }
    }

    /// Replaces the program's name in our own text about the commands from outside the group.
    pub(crate) fn renamed(&self, text: &str) -> String {
        let full = ProgramName::FULL.word;
        self.own.iter().fold(text.to_owned(), |text, own| {
            text.replace(&format!("{full} {own}"), &format!("{} {own}", self.word))
        })
    }

    /// Replaces commands that a text quotes by their full name with those of this name.
    pub(crate) fn said(&self, text: &str) -> String {
        let mut said = text.to_owned();
        let (full, word) = (ProgramName::FULL.word, self.word);
        if let Some(group) = self.group {
            said = said.replace(&format!("`{full} {group} "), &format!("`{word} "));
        }
        let own = self.own.iter().map(|own| (own.to_string(), *own));
        let sayings = self.sayings.iter().map(|one| (one.command.join(" "), one.word));
        for (theirs, ours) in own.chain(sayings) {
            for end in ['`', ' '] {
                let quoted = format!("`{full} {theirs}{end}");
                said = said.replace(&quoted, &format!("`{word} {ours}{end}"));
            }
        }
        said
    }
}
