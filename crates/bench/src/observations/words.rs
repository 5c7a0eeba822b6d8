//! Words with the frequencies of real text: a few are everywhere, most are rare.

/// Stop words.
const GLUE: [&str; 40] = [
    "the", "to", "a", "in", "and", "of", "is", "for", "it", "that", "this", "with", "not", "on",
    "we", "when", "be", "as", "from", "if", "are", "you", "but", "can", "so", "an", "or", "by",
    "at", "should", "now", "then", "there", "has", "was", "do", "which", "into", "only", "also",
];

/// Subjects of the agents' work, most frequent first.
const WORK: [&str; 96] = [
    "fix",
    "test",
    "error",
    "file",
    "add",
    "build",
    "code",
    "run",
    "user",
    "check",
    "change",
    "config",
    "function",
    "token",
    "update",
    "server",
    "fail",
    "data",
    "type",
    "request",
    "call",
    "line",
    "path",
    "remove",
    "session",
    "api",
    "key",
    "database",
    "log",
    "query",
    "cache",
    "value",
    "response",
    "client",
    "page",
    "return",
    "index",
    "write",
    "read",
    "commit",
    "branch",
    "schema",
    "auth",
    "login",
    "retry",
    "timeout",
    "parser",
    "module",
    "import",
    "version",
    "migration",
    "table",
    "column",
    "socket",
    "thread",
    "lock",
    "queue",
    "worker",
    "metric",
    "render",
    "button",
    "form",
    "route",
    "handler",
    "docker",
    "deploy",
    "release",
    "lint",
    "format",
    "refactor",
    "rename",
    "rollback",
    "header",
    "payload",
    "encode",
    "decode",
    "hash",
    "memory",
    "leak",
    "panic",
    "trace",
    "stack",
    "profile",
    "latency",
    "benchmark",
    "cluster",
    "replica",
    "shard",
    "backup",
    "restore",
    "upload",
    "download",
    "invoice",
    "payment",
    "locale",
    "theme",
];

const SYLLABLES: [&str; 48] = [
    "ba", "bel", "bro", "da", "den", "dri", "fa", "fen", "flo", "ga", "gri", "hal", "ho", "ja",
    "ka", "kel", "kri", "la", "lo", "lum", "ma", "mer", "mi", "na", "nor", "o", "pa", "pel", "pri",
    "qua", "ra", "ro", "sa", "sen", "sti", "ta", "ter", "tro", "u", "va", "vel", "vo", "wa", "wen",
    "xa", "ya", "ze", "zu",
];

/// Words in addition to those listed above.
const MADE_UP: usize = 40_000;

/// Pseudo-random numbers, determined by the seed.
pub(super) struct SeededRandom(u64);

impl SeededRandom {
    pub(super) fn new(seed: u64) -> SeededRandom {
        SeededRandom(seed)
    }

    /// The next number of SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which must not be 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    pub(super) fn within(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// True with this probability in percent.
    pub(super) fn percent(&mut self, times: usize) -> bool {
        self.below(100) < times
    }

    pub(super) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A word of sixteen hex digits that occurs nowhere else.
    pub(super) fn hex(&mut self) -> String {
        format!("{:016x}", self.next())
    }

    /// An index of a list, distributed by Zipf's law.
    pub(super) fn by_rank(&mut self, count: usize) -> usize {
        // The sum of 1/n grows like the logarithm, so its inverse is a power.
        let share = self.below(1 << 30) as f64 / f64::from(1 << 30);
        let place = (count as f64 + 1.0).powf(share) - 1.0;
        // The rank is small and not negative, so the cast is exact.
        (place as usize).min(count.saturating_sub(1))
    }
}

/// The vocabulary, the most frequent word first.
pub(super) struct Vocabulary(Vec<String>);

impl Vocabulary {
    pub(super) fn new() -> Vocabulary {
        let known = GLUE.iter().chain(&WORK).map(|word| (*word).to_owned());
        Vocabulary(known.chain((0..MADE_UP).map(made_up)).collect())
    }

    /// Any word.
    pub(super) fn any(&self, random: &mut SeededRandom) -> &str {
        self.0.get(random.by_rank(self.0.len())).map_or("", String::as_str)
    }

    /// A content word.
    pub(super) fn telling(&self, random: &mut SeededRandom) -> &str {
        loop {
            let word = self.any(random);
            if !GLUE.contains(&word) {
                return word;
            }
        }
    }

    pub(super) fn sentence(&self, random: &mut SeededRandom, count: usize) -> String {
        let words: Vec<&str> = (0..count).map(|_| self.any(random)).collect();
        words.join(" ")
    }

    /// A code identifier such as `cacheQuery`.
    pub(super) fn identifier(&self, random: &mut SeededRandom) -> String {
        let mut name = self.telling(random).to_owned();
        for _ in 0..random.below(3) {
            let word = self.telling(random);
            let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
            name.push_str(&first.to_ascii_uppercase());
            name.push_str(rest);
        }
        name
    }
}

/// A word for each number, of two to four syllables.
fn made_up(number: usize) -> String {
    let base = SYLLABLES.len();
    let mut rest = number + base;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES[rest % base]);
        rest /= base;
    }
    word
}
