//! Prompts that ask for no work: greetings, thanks, and questions about the state of the work. English
//! only; a prompt in another language never counts as one.

use crate::words;

/// The words of such prompts. A prompt with any other word is not small talk.
const WORDS: &[&str] = &[
    "a",
    "afternoon",
    "again",
    "all",
    "and",
    "any",
    "anything",
    "are",
    "at",
    "back",
    "branch",
    "bye",
    "can",
    "catch",
    "changed",
    "changes",
    "cheers",
    "clean",
    "continue",
    "cool",
    "current",
    "day",
    "did",
    "diff",
    "do",
    "doing",
    "done",
    "evening",
    "everyone",
    "everything",
    "far",
    "fine",
    "for",
    "friday",
    "git",
    "go",
    "going",
    "good",
    "got",
    "great",
    "happened",
    "have",
    "hello",
    "hey",
    "hi",
    "how",
    "i",
    "in",
    "is",
    "it",
    "last",
    "latest",
    "leave",
    "left",
    "let",
    "list",
    "log",
    "look",
    "ls",
    "me",
    "monday",
    "morning",
    "my",
    "new",
    "next",
    "nice",
    "night",
    "now",
    "of",
    "off",
    "ok",
    "okay",
    "on",
    "open",
    "our",
    "perfect",
    "please",
    "pwd",
    "quick",
    "recap",
    "remind",
    "repo",
    "repository",
    "run",
    "s",
    "say",
    "session",
    "show",
    "since",
    "so",
    "state",
    "status",
    "still",
    "summarise",
    "summarize",
    "summary",
    "tell",
    "thank",
    "thanks",
    "that",
    "the",
    "there",
    "thing",
    "things",
    "this",
    "time",
    "to",
    "today",
    "todo",
    "todos",
    "tree",
    "uncommitted",
    "up",
    "us",
    "was",
    "we",
    "week",
    "welcome",
    "went",
    "were",
    "what",
    "where",
    "work",
    "worked",
    "working",
    "yes",
    "yesterday",
    "you",
    "your",
];

/// Longest small talk, in bytes; a longer prompt is never small talk.
const CHARS_MAX: usize = 120;

/// Whether a prompt only greets, thanks or asks about the state of the work: "hi, where are we?", "what
/// changed today?", "run git status".
pub fn is_small_talk(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.len() > CHARS_MAX || text.contains(['/', '`', '_']) {
        return false;
    }
    let is_known = |word: &str| WORDS.binary_search(&&*word.to_lowercase()).is_ok();
    // The list of words is ASCII, so a prompt with a symbol or another script is not small talk.
    let is_plain = text.chars().all(|c| c.is_ascii() || matches!(c, '’' | '…' | '–' | '—'));
    is_plain && words::words(text).all(|(_, word)| is_known(word))
}

/// Beginnings of questions about the state of some work.
const STATE: &[&str] = &[
    "where were we",
    "where are we",
    "where was i",
    "where did we stop",
    "where did we leave",
    "how far are we",
    "how far did we",
    "what is left",
    "what's left",
    "what is the state of",
    "what's the state of",
    "what is the status of",
    "what's the status of",
];

/// Whether a prompt asks how far some work is: "where were we with the migration?". The answer is only true until the
/// next change.
pub fn asks_for_state(text: &str) -> bool {
    let said = text.trim().to_lowercase().replace('’', "'");
    said.len() <= CHARS_MAX && STATE.iter().any(|begin| said.starts_with(begin))
}

/// First words of prompts that agree.
const AGREES: &[&str] = &[
    "agreed", "fine", "good", "great", "ok", "okay", "perfect", "right", "sounds", "sure", "yeah",
    "yep", "yes",
];
/// Phrases by which a prompt that agrees refers to a proposal.
const PROPOSED: &[&str] =
    &["do that", "do it", "do this", "go ahead", "go with that", "that works", "sounds good"];

/// Whether a prompt agrees to what the agent proposed: "ok, let's do that on Monday".
pub fn accepts(text: &str) -> bool {
    let first = words::words(text).next().map(|(_, word)| word.to_lowercase());
    first.is_some_and(|first| AGREES.contains(&first.as_str()))
        && PROPOSED.iter().any(|phrase| text.to_lowercase().contains(phrase))
}

/// The words of a longer prompt already say what is wanted.
const AGREES_WORDS_MAX: usize = 5;

/// Whether a prompt does nothing but agree to what the agent proposed: "ok do it", "yes", "go ahead".
pub fn agrees(text: &str) -> bool {
    let words: Vec<String> = words::words(text).map(|(_, word)| word.to_lowercase()).collect();
    let Some(first) = words.first() else { return false };
    let goes_on =
        || words.iter().any(|word| matches!(word.as_str(), "continue" | "on" | "no" | "not"));
    let line = words.join(" ");
    let proposed = || PROPOSED.iter().any(|phrase| line.contains(phrase));
    words.len() <= AGREES_WORDS_MAX
        && (AGREES.contains(&first.as_str()) || proposed())
        && !goes_on()
}

/// Stems of words for work on any subject: a prompt and a record that only share these are about different things.
const ROUTINE: &[&str] = &[
    "add", "build", "chang", "check", "clean", "code", "command", "commit", "creat", "delet",
    "doe", "error", "fail", "file", "fix", "function", "lint", "make", "merg", "pass", "push",
    "refactor", "remov", "renam", "review", "run", "script", "test", "tidi", "unit", "updat", "us",
    "work", "write",
];

/// Whether a stem is that of a word for work on any subject.
pub fn is_routine(stem: &str) -> bool {
    ROUTINE.contains(&stem)
}

/// Further stems of words that are in tasks on any subject, and pairs of characters of such words in Chinese and Japanese. Two of them in common do not show that a learned item is about a
/// prompt: "Change the settings page" and "Set the variables per page".
const GENERIC: &[&str] = &[
    "adjust",
    "app",
    "chang",
    "extend",
    "handl",
    "implement",
    "improv",
    "page",
    "project",
    "replac",
    "set",
    "setup",
    "simplifi",
    "support",
    "スト",
    "テス",
    "代码",
    "修复",
    "修正",
    "実行",
    "提交",
    "文件",
    "更新",
    "构建",
    "测试",
    "行测",
    "运行",
    "错误",
];

/// Whether a stem is that of a word in tasks on any subject, so that it does not say what a task is about.
pub fn is_generic(stem: &str) -> bool {
    is_routine(stem) || GENERIC.binary_search(&stem).is_ok()
}

/// Stems of words that say how to go on and not with what: "try the next one", "keep going", "explain that again".
const STEERING: &[&str] = &[
    "actual", "altern", "anoth", "approach", "back", "bad", "begin", "best", "better", "bit",
    "bring", "carri", "come", "continu", "current", "describ", "differ", "done", "earlier", "els",
    "end", "enough", "everyth", "exactli", "explain", "feel", "fine", "finish", "first", "follow",
    "get", "give", "good", "got", "great", "guess", "happen", "hei", "hello", "help", "hi", "hope",
    "idea", "instead", "keep", "know", "last", "later", "leav", "let", "like", "littl", "look",
    "lot", "mayb", "mean", "moment", "move", "much", "need", "never", "new", "next", "nice",
    "noth", "ok", "okai", "old", "on", "one", "option", "perfect", "perhap", "pleas", "prefer",
    "previou", "proce", "put", "question", "quick", "quickli", "realli", "redo", "rememb",
    "repeat", "rest", "resum", "retri", "revert", "right", "sai", "second", "see", "seem", "short",
    "show", "simpl", "simpli", "sinc", "skip", "soon", "sorri", "start", "step", "still", "stop",
    "suggest", "summar", "summari", "summaris", "sure", "take", "talk", "tell", "thank", "thing",
    "think", "third", "time", "todai", "tomorrow", "try", "turn", "two", "undo", "wai", "wait",
    "want", "well", "whole", "wrong", "ye", "yeah", "yet", "お願", "一步", "下一", "次の", "次へ",
    "続け", "继续", "谢谢", "願い",
];

/// Whether a stem is that of a word that says how to go on, and not with what.
pub fn is_steering(stem: &str) -> bool {
    STEERING.binary_search(&stem).is_ok()
}

/// Further stems of chores, and of the states that an answer to one reports. They are words of other subjects too, so
/// they count as routine only in prompts that do not ask why or how.
const CHORES: &[&str] = &[
    "again",
    "amend",
    "befor",
    "branch",
    "bump",
    "case",
    "changelog",
    "ci",
    "clippi",
    "close",
    "commit",
    "complet",
    "conflict",
    "depend",
    "dev",
    "diff",
    "doc",
    "done",
    "draft",
    "fetch",
    "fine",
    "finish",
    "fmt",
    "format",
    "four",
    "git",
    "good",
    "green",
    "head",
    "import",
    "instal",
    "languag",
    "last",
    "latest",
    "line",
    "list",
    "local",
    "look",
    "main",
    "major",
    "master",
    "merg",
    "messag",
    "minor",
    "open",
    "origin",
    "patch",
    "pleas",
    "pr",
    "previou",
    "print",
    "project",
    "pull",
    "readi",
    "rebas",
    "red",
    "releas",
    "remot",
    "repo",
    "repositori",
    "request",
    "restart",
    "reword",
    "save",
    "server",
    "several",
    "show",
    "sort",
    "spell",
    "squash",
    "src",
    "stage",
    "start",
    "stash",
    "state",
    "statu",
    "stop",
    "suit",
    "sync",
    "tag",
    "three",
    "todo",
    "tree",
    "typo",
    "unstag",
    "unus",
    "upgrad",
    "version",
    "warn",
    "whitespac",
    "whole",
];
/// First words of prompts that ask for a reason or a way, whatever they are about.
const REASONS: &[&str] = &["why", "how"];

/// Whether a prompt may be a chore: it does not ask why or how.
pub fn may_be_chore(prompt: &str) -> bool {
    let first = words::words(prompt).next().map(|(_, word)| word.to_lowercase());
    !first.is_some_and(|first| REASONS.contains(&first.as_str()))
}

/// Whether a stem is that of a word for chores: work on any subject, or the state of it.
pub fn is_chore(stem: &str) -> bool {
    is_routine(stem) || CHORES.contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_agrees_if_it_refers_to_what_was_proposed() {
        assert!(accepts("ok lets do that on monday: watch the directory instead of the file"));
        assert!(accepts("Yes, go ahead."));
        for text in ["ok, use Postgres instead of Redis", "do that", "no, do it by hand", ""] {
            assert!(!accepts(text), "{text}");
        }
    }

    #[test]
    fn a_prompt_that_does_nothing_but_agree_is_short() {
        for text in ["ok do it", "yes", "Go ahead!", "yes, please", "do that"] {
            assert!(agrees(text), "{text}");
        }
        for text in
            ["ok continue", "go on", "no, not that", "ok, use Postgres instead of Redis", ""]
        {
            assert!(!agrees(text), "{text}");
        }
    }

    #[test]
    fn greetings_thanks_and_questions_about_the_state_want_nothing_done() {
        for text in [
            "hi, where are we?",
            "thanks, good morning, what's up?",
            "what changed today?",
            "run git status",
            "Where did we leave off?",
            "What did we do last week?",
            "ok",
            "Thank you!",
            "show me the git log please",
            "show me the open TODOs",
        ] {
            assert!(is_small_talk(text), "{text}");
        }
        for text in [
            "run the tests",
            "what changed in the parser today?",
            "hi, fix the login",
            "where is the cart stored?",
            "status page is down",
            "look at src/a",
            "wie geht es weiter?",
            "今日は",
            "",
        ] {
            assert!(!is_small_talk(text), "{text}");
        }
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn words_that_steer_the_work_have_no_subject() {
        for word in ["next", "trying", "Please", "second", "one", "another", "way", "yes"] {
            let stem = crate::terms::term(word).unwrap();
            assert!(is_steering(&stem), "{word}");
        }
        for word in ["page", "webhooks", "cookie", "test", "order"] {
            let stem = crate::terms::term(word).unwrap();
            assert!(!is_steering(&stem), "{word}");
        }
        assert!(STEERING.is_sorted() && GENERIC.is_sorted());
        assert!(is_routine(&crate::terms::term("use").unwrap()));
    }
}
