//! Reads the commits of a repository, the newest first, without running git.

use std::collections::{BinaryHeap, HashSet};
use std::fs;
use std::path::Path;

use crate::objects::Objects;
use crate::{Facts, Head};

/// Bytes of the file with packed references.
const REFERENCES_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How many references are followed from one to the next.
const REFERENCE_DEPTH_MAX: usize = 5;

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// In hex digits.
    pub hash: String,
    pub author: String,
    /// When it was committed, in seconds since 1970.
    pub at: i64,
    /// By how many seconds the committer's clock was ahead of UTC.
    pub offset: i64,
    pub message: String,
}

impl Facts {
    /// The commits that lead to the checked-out one, the newest first: those since this time in seconds, at most `max`.
    /// `None` if the checked-out commit cannot be read. The history ends at a commit that is missing, as in a shallow
    /// clone.
    pub fn commits(&self, since: i64, max: usize) -> Option<Vec<Commit>> {
        let head = match &self.branch {
            Head::Branch(name) => self.reference(&format!("refs/heads/{name}"))?,
            Head::Detached(hash) => hash.clone(),
            Head::Unknown => return None,
        };
        let head = from_hex(&head)?;
        let objects = Objects::open(&self.common_dir, head.len());
        let mut seen = HashSet::from([head.clone()]);
        let mut next = BinaryHeap::from([parsed(&objects, &head)?]);
        let mut found = Vec::new();
        while let Some(Parsed { at, commit, parents }) = next.pop() {
            if found.len() >= max || at < since {
                break;
            }
            found.push(commit);
            for parent in parents {
                if seen.insert(parent.clone()) {
                    next.extend(parsed(&objects, &parent));
                }
            }
        }
        Some(found)
    }

    /// The hash that a reference leads to.
    fn reference(&self, name: &str) -> Option<String> {
        let mut name = name.to_owned();
        for _ in 0..REFERENCE_DEPTH_MAX {
            let own = [&self.git_dir, &self.common_dir].into_iter();
            let text = own.filter_map(|folder| read(&folder.join(&name))).next();
            let text = text.or_else(|| self.packed_reference(&name))?;
            match text.trim().strip_prefix("ref:") {
                Some(other) => name = other.trim().to_owned(),
                None => return Some(text.trim().to_owned()),
            }
        }
        None
    }

    fn packed_reference(&self, name: &str) -> Option<String> {
        let packed = read(&self.common_dir.join("packed-refs"))?;
        let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(_, of)| *of == name).map(|(hash, _)| hash.to_owned())
    }
}

fn read(path: &Path) -> Option<String> {
    let is_file = fs::metadata(path).is_ok_and(|meta| meta.is_file());
    let bytes = is_file.then(|| regular::read(path, REFERENCES_BYTES_MAX).ok())??;
    String::from_utf8(bytes).ok()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !matches!(text.len(), 40 | 64) || !text.is_ascii() {
        return None;
    }
    let pairs = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    pairs.collect::<Result<_, _>>().ok()
}

/// A commit and those before it. The newest is the greatest.
#[derive(PartialEq, Eq)]
struct Parsed {
    at: i64,
    commit: Commit,
    parents: Vec<Vec<u8>>,
}

impl Ord for Parsed {
    fn cmp(&self, other: &Parsed) -> std::cmp::Ordering {
        let key = |one: &Parsed| (one.at, one.commit.hash.clone());
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Parsed {
    fn partial_cmp(&self, other: &Parsed) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

fn parsed(objects: &Objects, hash: &[u8]) -> Option<Parsed> {
    let text = objects.commit(hash)?;
    let text = String::from_utf8_lossy(&text);
    let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut parents = Vec::new();
    let (mut author, mut when) = (String::new(), (0, 0));
    for line in head.lines() {
        match line.split_once(' ') {
            Some(("parent", hash)) => parents.extend(from_hex(hash)),
            Some(("author", person)) => {
                author = person.split('<').next().unwrap_or_default().trim().to_owned();
            }
            Some(("committer", person)) => when = time(person),
            _ => {}
        }
    }
    let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let (at, offset) = when;
    let commit = Commit { hash, author, at, offset, message: message.trim().to_owned() };
    Some(Parsed { at, commit, parents })
}

/// The time at the end of `Name <address> 1700000000 +0100`, and the offset of its zone, in seconds.
fn time(person: &str) -> (i64, i64) {
    let mut words = person.rsplit(' ');
    let zone = words.next().unwrap_or_default();
    let at = words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
    let digits: i64 = zone.trim_start_matches(['+', '-']).parse().unwrap_or_default();
    let seconds = (digits / 100 % 24) * 3_600 + (digits % 100) * 60;
    (at, if zone.starts_with('-') { -seconds } else { seconds })
}
