//! Queries with operators: reads those that are meant as such, and writes them down again with
//! every term in quotes and every implicit AND explicit.

use super::{
    Condition, Form, NESTING_MAX, Query, Together, WORDS_MAX, WORDS_READ_MAX, phrase, term, units,
};
use crate::words;

/// Characters with which a term may begin besides letters and digits: those of paths and names.
const OPENERS: &str = "/._~#@$";
/// The longest distance of NEAR in digits.
const DISTANCE_DIGITS_MAX: usize = 4;

/// Words that follow each other.
struct Phrase {
    words: Vec<String>,
    /// Whether the last word is a prefix.
    prefix: bool,
    quoted: bool,
}

enum Token {
    Open,
    Close,
    And,
    Or,
    Not,
    Near(Vec<Phrase>, Option<u32>),
    Term(Phrase),
}

enum Node {
    Term(Phrase),
    Near(Vec<Phrase>, Option<u32>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Without(Box<Node>, Box<Node>),
}

/// The query, if the text is valid and has an operator, a phrase in quotes or a `word*`. A sentence
/// that merely quotes something or shouts a word is not one.
pub(super) fn read(text: &str) -> Option<Query> {
    let tokens = lex(text)?;
    let terms = tokens.iter().map(|token| match token {
        Token::Term(_) => 1,
        Token::Near(phrases, _) => phrases.len(),
        _ => 0,
    });
    if !tokens.iter().any(means_operators) || terms.sum::<usize>() > WORDS_MAX {
        return None;
    }
    let mut parser = Parser { tokens: tokens.into_iter().peekable(), nesting: 0 };
    let node = parser.any()?;
    if parser.tokens.next().is_some() {
        return None;
    }
    let mut query = Query {
        form: Form::Operators,
        words: Vec::new(),
        pairs: Vec::new(),
        cut: false,
        expression: write(&node),
        condition: condition(&node),
        beginnings: Vec::new(),
        phrases: Vec::new(),
        typed: String::new(),
    };
    look_for(&node, &mut query);
    Some(query)
}

fn means_operators(token: &Token) -> bool {
    match token {
        Token::And | Token::Or | Token::Not | Token::Near(..) => true,
        Token::Term(phrase) => phrase.quoted || phrase.prefix,
        Token::Open | Token::Close => false,
    }
}

fn lex(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if tokens.len() > 4 * WORDS_MAX {
            return None;
        }
        let (token, behind) = match first {
            '(' => (Token::Open, rest.get(1..)?),
            ')' => (Token::Close, rest.get(1..)?),
            '"' => quoted(rest.get(1..)?)?,
            _ => bare(rest)?,
        };
        tokens.push(token);
        rest = behind.trim_start();
    }
    Some(tokens)
}

/// A phrase behind its opening quote, and what follows it. Inside the phrase, two quotes mean one.
fn quoted(text: &str) -> Option<(Token, &str)> {
    let mut from = 0;
    let end = loop {
        let quote = from + text.get(from..)?.find('"')?;
        if !text.get(quote + 1..)?.starts_with('"') {
            break quote;
        }
        from = quote + 2;
    };
    let behind = text.get(end + 1..)?;
    let (prefix, behind) = match behind.strip_prefix('*') {
        Some(behind) => (true, behind),
        None => (false, behind),
    };
    Some((Token::Term(Phrase::new(text.get(..end)?, prefix, true)?), behind))
}

/// An operator or a term up to the next space, quote or parenthesis, and what follows it.
fn bare(text: &str) -> Option<(Token, &str)> {
    let end = text.find(|c: char| c.is_whitespace() || "\"()".contains(c)).unwrap_or(text.len());
    let (word, behind) = text.split_at_checked(end)?;
    let token = match word {
        "AND" => Token::And,
        "OR" => Token::Or,
        "NOT" => Token::Not,
        "NEAR" if behind.starts_with('(') => return near(behind.get(1..)?),
        _ => {
            let (word, prefix) = match word.strip_suffix('*') {
                Some(word) => (word, true),
                None => (word, false),
            };
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let opens = word.starts_with(|c| is_word(c) || OPENERS.contains(c));
            if !opens || !word.ends_with(is_word) || word.contains('*') {
                return None;
            }
            Token::Term(Phrase::new(word, prefix, false)?)
        }
    };
    Some((token, behind))
}

/// The phrases of a NEAR group behind its parenthesis, its distance, and what follows it.
fn near(text: &str) -> Option<(Token, &str)> {
    let mut inside_quotes = false;
    let mut comma = None;
    let mut end = None;
    for (at, c) in text.char_indices() {
        match c {
            '"' => inside_quotes = !inside_quotes,
            ',' if !inside_quotes => comma = Some(at),
            ')' if !inside_quotes => {
                end = Some(at);
                break;
            }
            _ => {}
        }
    }
    let end = end?;
    let group = text.get(..comma.unwrap_or(end))?;
    let distance = match comma {
        Some(comma) => {
            let digits = text.get(comma + 1..end)?.trim();
            Some(digits.parse().ok().filter(|_| digits.len() <= DISTANCE_DIGITS_MAX)?)
        }
        None => None,
    };
    let phrases = lex(group)?.into_iter().map(|token| match token {
        Token::Term(phrase) => Some(phrase),
        _ => None,
    });
    let phrases: Vec<Phrase> = phrases.collect::<Option<_>>()?;
    (!phrases.is_empty()).then_some((Token::Near(phrases, distance), text.get(end + 1..)?))
}

impl Phrase {
    fn new(text: &str, prefix: bool, quoted: bool) -> Option<Phrase> {
        let words = words::words(text).map(|(_, word)| word.to_lowercase());
        let words: Vec<String> = words.take(WORDS_READ_MAX + 1).collect();
        let fits = !words.is_empty() && words.len() <= WORDS_READ_MAX;
        fits.then_some(Phrase { words, prefix, quoted })
    }

    /// Whether it consists of unquoted stop words, as in a sentence.
    fn is_filler(&self) -> bool {
        !self.quoted && self.words.iter().all(|word| words::is_stop(word))
    }

    fn has_cjk(&self) -> bool {
        self.words.iter().any(|word| word.chars().any(words::is_cjk))
    }

    /// The expression of the index. The index stores pairs of CJK characters separately from
    /// ordinary words, so a phrase with both becomes one phrase for each part.
    fn write(&self) -> String {
        if !self.has_cjk() {
            return format!("{}{}", phrase(&self.words), if self.prefix { "*" } else { "" });
        }
        let mut parts = Vec::new();
        for stretch in self.words.iter().flat_map(|word| words::stretches(word)) {
            let units = units(stretch.text);
            parts.push(if units.len() > 1 { phrase(&units) } else { term(&units.concat()) });
        }
        group(parts, " AND ")
    }

    /// The condition of [`Self::write`] on a text.
    fn on_text(&self) -> Condition {
        if !self.has_cjk() {
            let phrases = [(self.words.as_slice(), self.prefix)].into_iter();
            return Condition::Together(Together::near(phrases, None, self.write()));
        }
        let stretches = self.words.iter().flat_map(|word| words::stretches(word));
        let on_stretch = |stretch: words::Stretch<'_>| {
            let units = units(stretch.text);
            Condition::Together(match units.as_slice() {
                [one] => Together::word(one),
                several => Together::phrase(several),
            })
        };
        Condition::All(stretches.map(on_stretch).collect())
    }
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
    nesting: usize,
}

impl Parser {
    fn skip(&mut self, is: fn(&Token) -> bool) -> bool {
        self.tokens.next_if(is).is_some()
    }

    fn any(&mut self) -> Option<Node> {
        let mut nodes = vec![self.all()?];
        while self.skip(|token| matches!(token, Token::Or)) {
            nodes.push(self.all()?);
        }
        Some(one_or(nodes, Node::Any))
    }

    fn all(&mut self) -> Option<Node> {
        let mut nodes = vec![self.without()?];
        while self.skip(|token| matches!(token, Token::And)) {
            // `a AND NOT b` is not the index's syntax, but what many write.
            if self.skip(|token| matches!(token, Token::Not)) {
                let left = one_or(nodes, Node::All);
                nodes = vec![Node::Without(Box::new(left), Box::new(self.side_by_side()?))];
            } else {
                nodes.push(self.without()?);
            }
        }
        Some(one_or(nodes, Node::All))
    }

    fn without(&mut self) -> Option<Node> {
        let mut node = self.side_by_side()?;
        while self.skip(|token| matches!(token, Token::Not)) {
            node = Node::Without(Box::new(node), Box::new(self.side_by_side()?));
        }
        Some(node)
    }

    /// Terms without an operator between them. `None` if one of several terms is a stop word: the text is a sentence.
    fn side_by_side(&mut self) -> Option<Node> {
        let mut nodes = Vec::new();
        let mut fillers = 0;
        while let Some(token) = self
            .tokens
            .next_if(|token| matches!(token, Token::Open | Token::Near(..) | Token::Term(_)))
        {
            nodes.push(match token {
                Token::Term(phrase) => {
                    fillers += usize::from(phrase.is_filler());
                    Node::Term(phrase)
                }
                Token::Near(phrases, distance) => Node::Near(phrases, distance),
                _ => self.inside()?,
            });
        }
        let sentence = nodes.len() > 1 && fillers > 0;
        (!nodes.is_empty() && !sentence).then(|| one_or(nodes, Node::All))
    }

    fn inside(&mut self) -> Option<Node> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return None;
        }
        let node = self.any()?;
        self.nesting -= 1;
        self.skip(|token| matches!(token, Token::Close)).then_some(node)
    }
}

fn one_or(mut nodes: Vec<Node>, many: fn(Vec<Node>) -> Node) -> Node {
    match nodes.pop() {
        Some(only) if nodes.is_empty() => only,
        last => {
            nodes.extend(last);
            many(nodes)
        }
    }
}

fn write(node: &Node) -> String {
    match node {
        Node::Term(phrase) => phrase.write(),
        Node::Near(phrases, _) if phrases.iter().any(Phrase::has_cjk) => {
            group(phrases.iter().map(Phrase::write).collect(), " AND ")
        }
        Node::Near(phrases, distance) => {
            let phrases: Vec<String> = phrases.iter().map(Phrase::write).collect();
            let distance = distance.map(|distance| format!(", {distance}")).unwrap_or_default();
            format!("NEAR({}{distance})", phrases.join(" "))
        }
        Node::All(nodes) => group(nodes.iter().map(write).collect(), " AND "),
        Node::Any(nodes) => group(nodes.iter().map(write).collect(), " OR "),
        Node::Without(node, unwanted) => format!("({} NOT {})", write(node), write(unwanted)),
    }
}

/// The parsed query as a condition on a whole record.
fn condition(node: &Node) -> Condition {
    let all = |nodes: &[Node]| nodes.iter().map(condition).collect();
    match node {
        Node::Term(phrase) => match phrase.words.as_slice() {
            _ if phrase.has_cjk() => Condition::Has(write(node), Box::new(phrase.on_text())),
            [word] if !phrase.prefix => Condition::Word(word.clone()),
            _ => together(std::slice::from_ref(phrase), None, node),
        },
        Node::Near(phrases, _) if phrases.iter().any(Phrase::has_cjk) => {
            let on_text = Condition::All(phrases.iter().map(Phrase::on_text).collect());
            Condition::Has(write(node), Box::new(on_text))
        }
        Node::Near(phrases, distance) => together(phrases, *distance, node),
        Node::All(nodes) => Condition::All(all(nodes)),
        Node::Any(nodes) => Condition::Any(all(nodes)),
        Node::Without(node, unwanted) => {
            Condition::Without(Box::new(condition(node)), Box::new(condition(unwanted)))
        }
    }
}

fn together(phrases: &[Phrase], distance: Option<u32>, node: &Node) -> Condition {
    let phrases = phrases.iter().map(|phrase| (phrase.words.as_slice(), phrase.prefix));
    Condition::Together(Together::near(phrases, distance, write(node)))
}

fn group(parts: Vec<String>, operator: &str) -> String {
    if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(operator)) }
}

/// Adds the words and phrases to the query that a matching record may contain, for highlighting;
/// those after NOT are left out.
fn look_for(node: &Node, query: &mut Query) {
    let phrases: &[Phrase] = match node {
        Node::Term(phrase) => std::slice::from_ref(phrase),
        Node::Near(phrases, _) => phrases,
        Node::All(nodes) | Node::Any(nodes) => {
            return nodes.iter().for_each(|node| look_for(node, query));
        }
        Node::Without(node, _) => return look_for(node, query),
    };
    for phrase in phrases {
        let units: Vec<String> = phrase.words.iter().flat_map(|word| units(word)).collect();
        let last = units.len().saturating_sub(1);
        for (at, word) in units.iter().enumerate() {
            if !query.words.contains(word) {
                if phrase.prefix && at == last {
                    query.beginnings.push(query.words.len());
                }
                query.words.push(word.clone());
            }
        }
        if units.len() > 1 {
            query.phrases.push(units);
        }
    }
}
