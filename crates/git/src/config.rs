//! Parses a repository's `config`, as far as remotes and the working tree need it.
//!
//! Only the repository's own file counts. `url.*.insteadOf` in it is honoured, because git fetches from
//! the rewritten address. `[include]` and the user's own configuration are not read: the user decides
//! there how to reach a repository, and no repository can write there.

use std::iter::Peekable;
use std::str::Chars;

/// The settings that this crate uses.
#[derive(Debug, Default)]
pub(crate) struct GitConfig {
    /// Names and first URLs, in the order of the file.
    remotes: Vec<(String, String)>,
    /// Remotes that a program of the user fetches from (`remote.NAME.vcs`).
    foreign: Vec<String>,
    /// URL prefixes and their replacements (`insteadOf`).
    rewrites: Vec<(String, String)>,
    /// `core.worktree`.
    pub(crate) worktree: Option<String>,
    /// `extensions.worktreeConfig`: each working tree has a `config.worktree` too.
    pub(crate) has_worktree_config: bool,
}

impl GitConfig {
    /// Parses a file; `None` for one that git would refuse.
    pub(crate) fn parse(bytes: &[u8]) -> Option<GitConfig> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let mut chars = text.chars().peekable();
        let mut config = GitConfig::default();
        let mut section = ConfigSection::default();
        while let Some(next) = chars.next() {
            match next {
                '#' | ';' => skip_line(&mut chars),
                '[' => section = ConfigSection::read(&mut chars)?,
                next if next.is_ascii_whitespace() => {}
                next if next.is_ascii_alphabetic() => {
                    let (name, value) = entry(next, &mut chars)?;
                    config.take(&section, &name, value);
                }
                _ => return None,
            }
        }
        Some(config)
    }

    /// The URL that git fetches from: that of `origin`, or else of the only remote, rewritten by `insteadOf`.
    pub(crate) fn remote(&self) -> Option<String> {
        let origin = self.remotes.iter().find(|(name, _)| name == "origin");
        let (name, url) = match (origin, self.remotes.as_slice()) {
            (Some(origin), _) => origin,
            (None, [only]) => only,
            _ => return None,
        };
        (!self.foreign.contains(name)).then(|| self.rewritten(url))
    }

    /// Applies `insteadOf`: the longest matching prefix wins, and of equally long ones the first.
    fn rewritten(&self, url: &str) -> String {
        let mut longest: Option<(&str, &str)> = None;
        for (base, beginning) in &self.rewrites {
            if let Some(rest) = url.strip_prefix(beginning.as_str())
                && longest.is_none_or(|(_, shortest)| rest.len() < shortest.len())
            {
                longest = Some((base, rest));
            }
        }
        longest.map_or_else(|| url.to_owned(), |(base, rest)| format!("{base}{rest}"))
    }

    fn take(&mut self, section: &ConfigSection, name: &str, value: String) {
        match (section.name.as_str(), section.sub.as_deref(), name) {
            ("core", None, "worktree") => self.worktree = Some(value),
            ("extensions", None, "worktreeconfig") => {
                let value = value.to_ascii_lowercase();
                self.has_worktree_config = matches!(value.as_str(), "true" | "yes" | "on" | "1");
            }
            ("url", Some(base), "insteadof") => self.rewrites.push((base.to_owned(), value)),
            ("remote", Some(remote), "vcs") => self.foreign.push(remote.to_owned()),
            ("remote", Some(remote), "url") => {
                // Git fetches from the first of several URLs; an empty one clears the list.
                if value.is_empty() {
                    self.remotes.retain(|(known, _)| known != remote);
                } else if !self.remotes.iter().any(|(known, _)| known == remote) {
                    self.remotes.push((remote.to_owned(), value));
                }
            }
            _ => {}
        }
    }
}

/// The head of a section: `[name "sub"]`, or the old form `[name.sub]`.
#[derive(Default)]
struct ConfigSection {
    name: String,
    sub: Option<String>,
}

impl ConfigSection {
    fn read(chars: &mut Peekable<Chars<'_>>) -> Option<ConfigSection> {
        let mut name = String::new();
        loop {
            match chars.next()? {
                ']' => break,
                ' ' | '\t' => return ConfigSection::with_sub(name, chars),
                next if next.is_ascii_alphanumeric() || matches!(next, '-' | '.') => {
                    name.push(next.to_ascii_lowercase());
                }
                _ => return None,
            }
        }
        Some(match name.split_once('.') {
            Some((name, sub)) => ConfigSection { name: name.to_owned(), sub: Some(sub.to_owned()) },
            None => ConfigSection { name, sub: None },
        })
    }

    fn with_sub(name: String, chars: &mut Peekable<Chars<'_>>) -> Option<ConfigSection> {
        skip_blanks(chars);
        if chars.next()? != '"' {
            return None;
        }
        let mut sub = String::new();
        loop {
            match chars.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => sub.push(chars.next().filter(|next| *next != '\n')?),
                next => sub.push(next),
            }
        }
        (chars.next()? == ']').then_some(ConfigSection { name, sub: Some(sub) })
    }
}

/// One entry, after its first letter. A name alone has no value.
fn entry(first: char, chars: &mut Peekable<Chars<'_>>) -> Option<(String, String)> {
    let mut name = String::from(first.to_ascii_lowercase());
    while let Some(next) = chars.next_if(|next| next.is_ascii_alphanumeric() || *next == '-') {
        name.push(next.to_ascii_lowercase());
    }
    skip_blanks(chars);
    match chars.next() {
        None | Some('\n') => Some((name, String::new())),
        Some('=') => Some((name, value(chars)?)),
        Some(_) => None,
    }
}

/// The value after `=`. Quotes keep blanks and comment characters, a backslash at the end of a line continues it on
/// the next, and blanks around the value are dropped.
fn value(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    skip_blanks(chars);
    let mut value = String::new();
    let mut quoted = false;
    // The end of the value if only blanks follow.
    let mut end = 0;
    loop {
        match chars.next() {
            None | Some('\n') if quoted => return None,
            None | Some('\n') => break,
            Some('"') => {
                quoted = !quoted;
                end = value.len();
            }
            Some('#' | ';') if !quoted => {
                skip_line(chars);
                break;
            }
            Some('\\') => {
                match chars.next()? {
                    '\n' => continue,
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    'n' => value.push('\n'),
                    sign @ ('"' | '\\') => value.push(sign),
                    _ => return None,
                }
                end = value.len();
            }
            Some(next) => {
                value.push(next);
                if quoted || !next.is_ascii_whitespace() {
                    end = value.len();
                }
            }
        }
    }
    value.truncate(end);
    Some(value)
}

fn skip_blanks(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
}

fn skip_line(chars: &mut Peekable<Chars<'_>>) {
    let _ = chars.find(|next| *next == '\n');
}
