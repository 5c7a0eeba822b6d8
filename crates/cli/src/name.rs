//! The names the program is started by. Under a name other than its own it speaks a command line of
//! that name, made of the same commands: a group of them stands at the top, and some are said or
//! answered in another way. What differs is data; there is no code for a name.

use contract::op::PrettyText;

/// A name, and which commands it has.
#[derive(Debug)]
pub struct Name {
    pub word: &'static str,
    /// One line about what the program is under this name.
    pub about: &'static str,
    /// The group whose commands stand at the top.
    pub group: Option<&'static str>,
    /// Commands from outside the group that it has too.
    pub own: &'static [&'static str],
    /// Commands of operations that are said or answered in its own way.
    pub sayings: &'static [Saying],
    /// What a line on stderr beside the result begins with.
    pub prefix: &'static str,
}

/// The command of an operation as a name has it.
#[derive(Debug)]
pub struct Saying {
    pub word: &'static str,
    /// Its words under the full name.
    pub command: &'static [&'static str],
    /// Parameters that a line has if it does not give them.
    pub defaults: &'static [Default],
    /// The result, as JSON, where the operation finds nothing to look in. Under the full name that
    /// is an error.
    pub nothing: Option<&'static str>,
    /// Text for people, if not the operation's own.
    pub pretty: Option<PrettyText>,
    pub goes: Goes,
}

/// A parameter that has another default than under the full name.
#[derive(Debug)]
pub struct Default {
    pub param: &'static str,
    /// Its value as JSON.
    pub json: &'static str,
    /// Its help text; empty for a parameter that has no flag.
    pub doc: &'static str,
}

/// Where a result goes, and in which form. With `--json` it always goes to stdout as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goes {
    /// To stdout, as text for people.
    ToStdout,
    /// To stdout, the list that it is about, as JSON: of each item these members and no others.
    AsList {
        members: &'static [&'static str],
        /// With `--full` these too.
        full: &'static [&'static str],
    },
    /// To stderr, line by line: stdout is for data.
    ToStderr,
}

impl Saying {
    /// Said and answered as under the full name; to start from with struct update syntax.
    pub const SAME: Saying = Saying {
        word: "",
        command: &[],
        defaults: &[],
        nothing: None,
        pretty: None,
        goes: Goes::ToStdout,
    };
}

impl Name {
    /// The program's own name, under which it has every command.
    pub const FULL: Name = Name {
        word: "rekindle",
        about: "Local memory and context for coding agents",
        group: None,
        own: &[],
        sayings: &[],
        prefix: "",
    };

    /// Whether every command is where it is.
    pub(crate) fn is_full(&self) -> bool {
        self.word == Name::FULL.word
    }

    /// How this name says the command with these words under the full name.
    pub(crate) fn saying(&self, path: &[&str]) -> Option<&Saying> {
        self.sayings.iter().find(|saying| saying.command == path)
    }

    /// The line that begins the command with these words, if it can be said under this name.
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

    /// The same, or the line under the full name.
    pub(crate) fn any_line(&self, path: &[&str]) -> String {
        let full = || Name::FULL.line(path);
        self.line(path).or_else(full).unwrap_or_else(|| self.word.to_owned())
    }

    /// The words under the full name of a command that was said under this one.
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

    /// Our own text about the commands from outside the group, with the names they have here.
    pub(crate) fn renamed(&self, text: &str) -> String {
        let full = Name::FULL.word;
        self.own.iter().fold(text.to_owned(), |text, own| {
            text.replace(&format!("{full} {own}"), &format!("{} {own}", self.word))
        })
    }

    /// Text that quotes commands by their full name, with the names they have here.
    pub(crate) fn said(&self, text: &str) -> String {
        let mut said = text.to_owned();
        let (full, word) = (Name::FULL.word, self.word);
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
