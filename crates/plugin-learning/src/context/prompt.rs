//! Learned items that a prompt is about, or nothing.
//!
//! An item is relevant if it shares a word that says something with the prompt and a passage of it is similar enough, apart
//! from the direction that all texts share; or if it has half of the prompt's words, and two at least; or if it contains a
//! path, an identifier or a code of the prompt. Words that steer the work, such as "next" and "again", do not count as
//! words of the prompt, and words in tasks on any subject, such as "run", "set" and "page", do not count alone. Our
//! labels, such as "Action:", do not count as words of an experience.

use std::collections::BTreeSet;

use contract::{Candidate, Moment};
use model::hook::{BRIEFING_NATURE, BRIEFING_TITLES};
use model::{OpError, limits, memory};
use store::search::{Recipe, SpecificMeaning};
use store::{Rx, memories, observations, sessions};
use text::words::is_cjk;

use super::recall::{ItemSource, LearnedItem, LearnedKind, RecallQuery, memory_texts};
use crate::relevance::{SIMILAR, content_terms};
use crate::settings::PROMPT_TOKENS;

/// The share of the prompt's words that make an item relevant without similarity.
const WORDS_SHARE: f64 = 0.5;
/// The fewest words of a prompt that names its subject, and the fewest words that an item must share with it: "next
/// page" is not about every page, and a question for the value of pi is not about every value.
const WORDS_MIN: usize = 2;
/// Characters of the shortest name that counts as a path, an identifier or a code.
const NAME_CHARS_MIN: usize = 4;

pub(crate) fn candidates(moment: &Moment<'_>, said: &str) -> Result<Vec<Candidate>, OpError> {
    let question = moment.projects();
    let meaning = moment.config.boolean("search.meaning");
    let prompt = PromptWords::of(said, meaning.then(|| SpecificMeaning::of(said)));
    if !prompt.has_subject() {
        return Ok(Vec::new());
    }
    // Records that are not in the index by then are not found.
    moment.store.catch_up(limits::RELATED_PATIENCE);
    moment.store.read(|rx| {
        let projects = question.scope(rx)?.ids();
        let query = RecallQuery {
            text: said,
            projects: projects.as_deref(),
            recipe: if meaning { Recipe::Table } else { Recipe::Lexical },
            now: moment.now,
            limit: limits::PROMPT_ITEMS_READ,
            marks_similar: false,
        };
        let own = OwnItems::of(rx, moment.session)?;
        let mut found = Vec::new();
        for items in query.items(rx, &LearnedKind::ALL)? {
            let mut relevant = Vec::new();
            for item in items {
                if own.has(&item) {
                    continue;
                }
                let Some(why) = prompt.relevance_of(rx, &item)? else { continue };
                if relevant.len() == limits::PROMPT_ITEMS_MAX {
                    break;
                }
                if !own.loads(rx, &item)? {
                    let reason = format!("{why}; {}", item.reason);
                    relevant.push(LearnedItem { reason, ..item });
                }
            }
            let rows = relevant.into_iter().map(|item| item.into_candidate_with_path(moment.now));
            found.extend(rows);
        }
        Ok(within(found, moment.config.integer(PROMPT_TOKENS)))
    })
}

/// The best rows that fit into this many tokens with their headings. The budget of the whole text may be larger, because
/// other plugins use it too. If the best row does not fit, it is cut.
fn within(mut rows: Vec<Candidate>, tokens: u64) -> Vec<Candidate> {
    /// The tokens of the line break and the mark of a row.
    const MARKS_TOKENS: usize = 1;
    rows.sort_by(|a, b| b.score.total_cmp(&a.score));
    let tokens = usize::try_from(tokens).unwrap_or(usize::MAX).min(limits::INJECT_TOKENS_MAX);
    // The assembler cuts longer rows by the budget of the whole text, which is at least `ASIDE_TOKENS_MAX`.
    let share = tokens.max(limits::ASIDE_TOKENS_MAX) / limits::INJECT_ITEM_SHARE;
    let mut left =
        tokens.saturating_sub(line_tokens(&format!("# {}{BRIEFING_NATURE}", BRIEFING_TITLES[0])));
    let mut titles: BTreeSet<String> = BTreeSet::new();
    let mut kept: Vec<Candidate> = Vec::new();
    for mut row in rows {
        let title = row.section_title().to_owned();
        let heading = match titles.contains(&title) {
            true => 0,
            false => line_tokens(&format!("## {title}")),
        };
        let room = left.saturating_sub(heading + MARKS_TOKENS);
        let mut own = text::tokens::estimate(&row.cells.join(" ")).min(share);
        if own > room {
            if !kept.is_empty() || room < limits::INJECT_ITEM_TOKENS_MIN {
                continue;
            }
            own = room;
            row.tokens_max = Some(room);
        }
        left -= heading + MARKS_TOKENS + own;
        titles.insert(title);
        kept.push(row);
    }
    kept
}

/// The tokens of a line with its line break.
fn line_tokens(line: &str) -> usize {
    text::tokens::of_chars(line.chars().count() + 1)
}

/// The items that the session itself stored or resolved since its host last dropped its context.
struct OwnItems {
    session: Option<i64>,
    agent: String,
    /// Milliseconds since 1970; the host has forgotten what was before.
    since: i64,
}

impl OwnItems {
    fn of(rx: &Rx<'_>, session: Option<&str>) -> Result<OwnItems, OpError> {
        let session = session.map(|name| sessions::id_of(rx, name)).transpose()?.flatten();
        let since = session.map(|id| observations::context_dropped_at(rx, id)).transpose()?;
        let agent = session.map(|id| sessions::by_id(rx, id)).transpose()?.flatten();
        let agent = agent.map(|session| session.agent).unwrap_or_default();
        Ok(OwnItems { session, agent, since: since.flatten().unwrap_or(i64::MIN) })
    }

    /// Whether the agent itself loads the file from which the memory was imported.
    fn loads(&self, rx: &Rx<'_>, item: &LearnedItem) -> Result<bool, OpError> {
        let ItemSource::Memory(memory) = &item.source else { return Ok(false) };
        let source = memories::source(rx, memory.id)?;
        Ok(source.is_some_and(|source| memory::is_loaded_by(&source, &self.agent)))
    }

    fn has(&self, item: &LearnedItem) -> bool {
        let (session, at) = item.origin();
        session.is_some() && session == self.session && at >= self.since
    }
}

/// The words of a prompt.
struct PromptWords {
    /// None if embeddings are not compared.
    meaning: Option<SpecificMeaning>,
    /// Stems of the words that say something.
    terms: BTreeSet<String>,
    /// Paths, identifiers and codes, as they were typed.
    names: Vec<String>,
}

impl PromptWords {
    fn of(said: &str, meaning: Option<SpecificMeaning>) -> PromptWords {
        let mut terms = content_terms(said);
        terms.retain(|term| !text::is_steering(term));
        if text::is_small_talk(said) {
            terms.clear();
        }
        PromptWords { meaning, terms, names: names(said) }
    }

    /// Whether the prompt says what it is about. "Commit this please" and "next page" do not.
    fn has_subject(&self) -> bool {
        let has_words = self.terms.len() >= WORDS_MIN;
        !self.names.is_empty() || has_words && self.terms.iter().any(|term| !text::is_generic(term))
    }

    /// Why an item is relevant; none if it is not. A memory is also relevant if one that it superseded is.
    fn relevance_of(&self, rx: &Rx<'_>, item: &LearnedItem) -> Result<Option<String>, OpError> {
        let why = self.relevance(&item.declared_text(), &item.texts());
        let (None, ItemSource::Memory(memory)) = (&why, &item.source) else { return Ok(why) };
        let old = memories::predecessors(rx, memory.id)?;
        let why =
            old.iter().map(memory_texts).find_map(|old| self.relevance(&old.join("\n"), &old));
        Ok(why.map(|why| format!("in place of a memory: {why}")))
    }

    /// Why an item with these words and passages is relevant; none if it is not.
    fn relevance(&self, text: &str, passages: &[String]) -> Option<String> {
        if let Some(name) = self.names.iter().find(|name| contains_name(text, name)) {
            return Some(format!("contains {}", text::one_line(name, limits::PREVIEW_CHARS)));
        }
        let own = content_terms(text);
        let shared = self.terms.intersection(&own).count();
        let telling = self.terms.intersection(&own).filter(|term| !text::is_generic(term)).count();
        if self.terms.len() < WORDS_MIN || telling == 0 {
            return None;
        }
        let share = shared as f64 / self.terms.len() as f64;
        if share >= WORDS_SHARE && telling >= WORDS_MIN {
            return Some(format!("has {shared} of {} words", self.terms.len()));
        }
        let similarity = self.meaning.as_ref()?.similarity(passages.iter().map(String::as_str));
        let words = text::counted(shared, "word");
        (similarity >= SIMILAR)
            .then(|| format!("{words} in common, specific similarity {similarity:.2}"))
    }
}

/// The paths, identifiers and codes of a text: words with a sign or a digit inside, or a capital letter after a small one.
fn names(text: &str) -> Vec<String> {
    // A script without spaces needs none around a path.
    let parts = text.split(|c: char| c.is_whitespace() || is_cjk(c)).map(|part| {
        part.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_' | '-' | '.'))
            .trim_end_matches(['.', '-'])
    });
    let mut names: Vec<String> = parts.filter(|part| is_name(part)).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn is_name(word: &str) -> bool {
    if word.chars().count() < NAME_CHARS_MIN || !word.chars().any(char::is_alphabetic) {
        return false;
    }
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    let has_sign = inner.contains(['/', '_', ':', '.', '=', '@', '#']);
    let has_digit = inner.chars().any(|c| c.is_ascii_digit());
    let letters: Vec<char> = inner.chars().collect();
    let humps = letters
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.is_lowercase() && b.is_uppercase()));
    has_sign || has_digit || humps
}

/// Whether a text contains a name that is not a part of a longer one.
fn contains_name(text: &str, name: &str) -> bool {
    let is_part = |c: char| (c.is_alphanumeric() && !is_cjk(c)) || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_identifiers_and_codes_but_no_prose() {
        let said = "Why does src/auth/token.rs raise E0308 in parse_header, e.g. the readLoop? It's well-known.";
        assert_eq!(names(said), ["E0308", "parse_header", "readLoop", "src/auth/token.rs"]);
        assert!(names("please fix the login and run all tests again").is_empty());
        assert!(contains_name("see parse_header(x)", "parse_header"));
        assert!(!contains_name("see reparse_header_2", "parse_header"));
        assert_eq!(
            names("修复src/auth/token.rs，第3行的E0308错误"),
            ["E0308", "src/auth/token.rs"]
        );
        assert!(contains_name("在src/auth/token.rs中", "src/auth/token.rs"));
    }

    #[test]
    fn prompts_without_spaces_have_a_subject_unless_they_only_steer() {
        let has_subject = |said| PromptWords::of(said, None).has_subject();
        assert!(has_subject("登录测试为什么不稳定") && has_subject("ログインのテストを直して"));
        for said in ["请继续", "下一步", "谢谢你", "続けてください", "请运行测试"]
        {
            assert!(!has_subject(said), "{said}");
        }
        let of = |said| PromptWords::of(said, None);
        let lesson = "登录测试需要先启动数据库容器".to_owned();
        let relevance = |said| of(said).relevance(&lesson, std::slice::from_ref(&lesson));
        assert!(relevance("怎么启动数据库容器").is_some());
        assert_eq!(relevance("请更新自述文件的安装说明"), None);
    }
}
