//! Damaged transcripts: a reader reports or skips any line, and never panics.

use transcripts::{
    Aider, ClaudeCode, Codex, Cursor, GeminiCli, OpenCode, ReadEvent, SessionPlace,
    TranscriptReader,
};

/// Invented lines with every kind that the readers know.
const CLAUDE_CODE: &str = include_str!("lines/claude_code.jsonl");

const CODEX: &str = include_str!("lines/codex.jsonl");

const GEMINI_CLI: &str = include_str!("lines/gemini_cli.jsonl");

const OPENCODE: &str = include_str!("lines/opencode.jsonl");

const CURSOR: &str = include_str!("lines/cursor.jsonl");

const AIDER: &str = include_str!("lines/aider.md");

const MUTATIONS: u64 = 20_000;

/// A sequence of numbers that is the same in every run.
struct MutationDice(u64);

impl MutationDice {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % below.max(1)
    }
}

/// Damages one line: bytes are changed, removed, repeated or exchanged with those of another line.
fn damaged(line: &[u8], other: &[u8], dice: &mut MutationDice) -> Vec<u8> {
    const TOKENS: [&[u8]; 12] = [
        b"null",
        b"[]",
        b"{}",
        b"\"\"",
        b"-1",
        b"1e999",
        b"\\ud800",
        b"\xff",
        b"\0",
        b"[[[[[[[[",
        b"\"type\":7",
        b"true",
    ];
    let mut line = line.to_vec();
    for _ in 0..=dice.next(3) {
        let at = dice.next(line.len() + 1);
        match dice.next(5) {
            0 => line.truncate(at),
            1 if at < line.len() => line[at] = u8::try_from(dice.next(256)).unwrap_or_default(),
            2 => drop(line.splice(at..at, TOKENS[dice.next(TOKENS.len())].iter().copied())),
            3 => {
                let end = (at + dice.next(40)).min(line.len());
                line.drain(at..end);
            }
            _ => {
                let from = dice.next(other.len() + 1);
                let part = other[from..(from + dice.next(60)).min(other.len())].to_vec();
                drop(line.splice(at..at, part));
            }
        }
    }
    line
}

/// Reads the lines with about half of them damaged, and returns how many were damaged and how many events were reported.
fn read(reader: &mut dyn TranscriptReader, lines: &[&[u8]], dice: &mut MutationDice) -> (u64, u64) {
    let (mut mutations, mut events) = (0, 0);
    let mut sink = |event: ReadEvent<'_>| {
        events += u64::from(!event.name.is_empty());
    };
    for line in lines {
        let is_damaged = dice.next(2) == 0;
        let damaged = is_damaged.then(|| damaged(line, lines[dice.next(lines.len())], dice));
        mutations += u64::from(is_damaged);
        let line = damaged.as_deref().unwrap_or(line);
        reader.can_start_here(line);
        let _ = reader.line(line, &mut sink);
    }
    reader.finish(true, &mut sink);
    (mutations, events)
}

fn survives(text: &str, reader: fn() -> Box<dyn TranscriptReader>) {
    let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
    let mut dice = MutationDice(24);
    let (mut mutations, mut events) = (0, 0);
    while mutations < MUTATIONS {
        let (damaged, reported) = read(&mut *reader(), &lines, &mut dice);
        mutations += damaged;
        events += reported;
    }
    // Damage to some lines leaves the others readable.
    assert!(events > MUTATIONS / 40, "{events} events after {mutations} mutations");
}

#[test]
fn no_damaged_line_of_claude_code_makes_the_reader_panic() {
    survives(CLAUDE_CODE, || Box::new(ClaudeCode::default()));
}

#[test]
fn no_damaged_line_of_codex_makes_the_reader_panic() {
    survives(CODEX, || Box::new(Codex::default()));
}

#[test]
fn no_damaged_line_of_gemini_cli_makes_the_reader_panic() {
    survives(GEMINI_CLI, || Box::new(GeminiCli::default()));
}

#[test]
fn no_damaged_row_of_opencode_makes_the_reader_panic() {
    survives(OPENCODE, || Box::new(OpenCode::default()));
}

#[test]
fn no_damaged_row_of_cursor_makes_the_reader_panic() {
    survives(CURSOR, || Box::new(Cursor::default()));
}

#[test]
fn no_damaged_line_of_aider_makes_the_reader_panic() {
    survives(AIDER, || Box::new(Aider::new(|local| local)));
}

/// Damages the lines of real transcripts, if a folder of them is named.
#[test]
fn no_damaged_line_of_a_named_folder_makes_a_reader_panic() {
    let Some(folder) = std::env::var_os("REKINDLE_TRANSCRIPTS") else { return };
    let mut files = Vec::new();
    collect(folder.as_ref(), &mut files);
    let readers: [fn() -> Box<dyn TranscriptReader>; 6] = [
        || Box::new(ClaudeCode::default()),
        || Box::new(Codex::default()),
        || Box::new(GeminiCli::default()),
        || Box::new(OpenCode::default()),
        || Box::new(Cursor::default()),
        || Box::new(Aider::new(|local| local)),
    ];
    let texts: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    let lines: Vec<&[u8]> =
        texts.iter().flat_map(|text| text.split(|byte| *byte == b'\n')).collect();
    let lines: Vec<&[u8]> = lines.into_iter().filter(|line| line.len() < 20_000).collect();
    for reader in readers {
        let (mut mutations, mut events, mut dice) = (0, 0, MutationDice(24));
        while mutations < MUTATIONS {
            let mut reader = reader();
            reader.place(Some(&SessionPlace {
                session: Some("s".into()),
                ..SessionPlace::default()
            }));
            let (damaged, reported) = read(&mut *reader, &lines, &mut dice);
            mutations += damaged;
            events += reported;
        }
        println!("{mutations} mutations of {} lines, {events} events", lines.len());
    }
}

fn collect(folder: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => collect(&entry.path(), files),
            false => files.push(entry.path()),
        }
    }
}
