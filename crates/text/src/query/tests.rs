//! Texts and the expressions that they become. The tests of the index check that it accepts all expressions.

use super::*;

fn any(text: &str) -> (Vec<String>, Vec<String>) {
    let query = rewrite(text);
    assert!(matches!(query.form, Form::AnyTerm), "{text:?} {query:?}");
    (query.words, query.pairs.into_iter().map(|pair| pair.join(" ")).collect())
}

fn operators(text: &str) -> Option<String> {
    let query = rewrite(text);
    (query.form == Form::Operators).then(|| query.expression())
}

#[test]
fn a_question_is_its_words_without_the_small_ones() {
    let (words, pairs) = any("How do I build the router image, and why not with docker compose?");
    assert_eq!(words, ["build", "router", "image", "docker", "compose"]);
    assert_eq!(pairs, ["router image", "docker compose"]);
    assert_eq!(rewrite("router image").expression(), "\"router\" OR \"image\"");
}

#[test]
fn a_question_of_small_words_only_keeps_them() {
    assert_eq!(any("what is this"), (vec!["what".into(), "is".into(), "this".into()], vec![]));
}

#[test]
fn identifiers_bring_their_parts() {
    let (words, pairs) = any("getUserName in src/user_store.rs");
    assert_eq!(words, ["getusername", "src", "user", "store", "rs", "get", "name"]);
    assert_eq!(pairs, ["src user", "user store", "store rs"]);
}

#[test]
fn scripts_without_spaces_are_searched_by_pairs_of_characters() {
    assert_eq!(any("認証").0, ["認証"]);
    assert_eq!(any("認証エラー").0, ["認証", "証エ", "エラ", "ラー"]);
    assert_eq!(any("使用SQLite").0, ["使用", "sqlite"]);
    assert_eq!(rewrite("猫").expression(), "\"猫\"*");
}

#[test]
fn nothing_to_look_for_is_empty() {
    for text in ["", "   ", "?!…", "\0", "\"\"", "()", "* - +", "🦀🔥", "\u{301}"] {
        let query = rewrite(text);
        assert_eq!((query.form, query.expression()), (Form::Empty, String::new()), "{text:?}");
        assert_eq!(query.prefix(), None);
        assert_eq!(all_terms(text).form, Form::Empty);
    }
}

#[test]
fn operators_are_taken_where_they_are_meant() {
    let table = [
        ("auth AND token", "(\"auth\" AND \"token\")"),
        ("auth OR token", "(\"auth\" OR \"token\")"),
        ("auth NOT token", "(\"auth\" NOT \"token\")"),
        ("auth AND NOT token", "(\"auth\" NOT \"token\")"),
        ("auth token OR key", "((\"auth\" AND \"token\") OR \"key\")"),
        ("a AND b OR c", "((\"a\" AND \"b\") OR \"c\")"),
        ("(auth OR login) token", "((\"auth\" OR \"login\") AND \"token\")"),
        ("auth NOT old token", "(\"auth\" NOT (\"old\" AND \"token\"))"),
        ("\"docker compose\"", "\"docker compose\""),
        ("\"docker compose\" router", "(\"docker compose\" AND \"router\")"),
        ("\"docker comp\"*", "\"docker comp\"*"),
        ("\"a \"\"b\"\" c\"", "\"a b c\""),
        ("auth*", "\"auth\"*"),
        ("src/auth.rs AND token*", "(\"src auth rs\" AND \"token\"*)"),
        ("snake_case AND /etc/hosts", "(\"snake case\" AND \"etc hosts\")"),
        ("NEAR(auth token)", "NEAR(\"auth\" \"token\")"),
        ("NEAR(\"auth key\" tok*, 5) OR x", "(NEAR(\"auth key\" \"tok\"*, 5) OR \"x\")"),
        ("body:auth AND x", "(\"body auth\" AND \"x\")"),
        ("認証エラー AND test", "(\"認証 証エ エラ ラー\" AND \"test\")"),
        ("\"test認証\"", "(\"test\" AND \"認証\")"),
        ("猫 OR 犬小屋", "(\"猫\"* OR \"犬小 小屋\")"),
        ("the AND who", "(\"the\" AND \"who\")"),
    ];
    for (text, expression) in table {
        assert_eq!(operators(text).as_deref(), Some(expression), "{text}");
    }
}

#[test]
fn text_that_only_resembles_operators_is_a_question() {
    for text in [
        "salt and pepper or not",
        "AND",
        "auth AND",
        "OR auth",
        "NOT auth",
        "auth AND OR token",
        "(auth OR token",
        "auth OR token)",
        "say \"hello",
        "how do I use AND in a query",
        "why does \"docker compose up\" fail",
        "difference between AND and OR?",
        "SELECT * FROM users",
        "rm build/*",
        "**bold**",
        "NEAR(auth",
        "NEAR(a OR b)",
        "NEAR(a b, far)",
        "NEAR(a b, 99999)",
        "near(a b)",
        "foo (bar)",
        "-foo OR bar",
        "it's",
        "std::io::Error",
        "((((((((a OR b))))))))",
    ] {
        assert!(matches!(rewrite(text).form, Form::AnyTerm), "{text} {:?}", operators(text));
    }
    let many = vec!["w"; 33].join(" OR ");
    assert_eq!(rewrite(&many).form, Form::AnyTerm);
    assert_eq!(rewrite(&vec!["w"; 32].join(" OR ")).form, Form::Operators);
}

#[test]
fn all_words_are_asked_for_where_too_much_would_do_harm() {
    let query = all_terms("the getUserName token");
    assert_eq!(query.form, Form::AllTerms);
    assert_eq!(query.expression(), "\"getusername\" AND \"token\"");
    assert_eq!(all_terms("a OR b").form, Form::Operators);
}

#[test]
fn beginnings_are_tried_shortened_too() {
    let query = rewrite("authentica x cfg").prefix().unwrap();
    assert_eq!(query.form, Form::Prefix);
    assert_eq!(query.expression(), "\"authent\"* OR \"authentica\"* OR \"cfg\"*");
    assert_eq!(rewrite("x").prefix(), None);
    assert_eq!(rewrite("a OR b").prefix(), None);
    assert_eq!(query.prefix(), None);
}

#[test]
fn a_long_query_is_cut_and_says_so() {
    let words: Vec<String> = (0..5_000).map(|i| format!("word{i}")).collect();
    let query = rewrite(&words.join(" "));
    assert!(query.cut);
    assert_eq!((query.words.len(), query.pairs.len()), (WORDS_READ_MAX, PAIRS_MAX));
    let query = rewrite(&"é".repeat(500_000));
    assert!(query.cut);
    assert_eq!(query.words[0].len(), BYTES_MAX);
    assert!(!rewrite(&"a".repeat(10_000)).cut);
}

fn marked(query: &str, text: &str) -> String {
    let mut out = String::new();
    let mut from = 0;
    for range in rewrite(query).matched(text) {
        out.push_str(&text[from..range.start]);
        out.push_str(&format!("[{}]", &text[range.clone()]));
        from = range.end;
    }
    out + &text[from..]
}

#[test]
fn matches_are_marked_in_every_form_of_the_word() {
    let table = [
        ("authenticate tokens", "Authentication: token, taken", "[Authentication]: [token], taken"),
        ("user name", "call getUserName()", "call get[UserName]()"),
        ("getUserName", "getUserName and user", "[getUserName] and [user]"),
        ("cafe", "Café Süd", "[Café] Süd"),
        ("認証", "二要素認証です", "二要素[認証]です"),
        ("猫", "黒猫がいる", "黒[猫が]いる"),
        ("sqlite", "使用SQLite数据库", "使用[SQLite]数据库"),
        ("tok* NOT secret", "token secret", "[token] secret"),
        ("\"docker compose\"", "docker-compose up", "[docker]-[compose] up"),
        ("nothing", "else", "else"),
    ];
    for (query, text, expected) in table {
        assert_eq!(marked(query, text), expected, "{query}");
    }
}

#[test]
fn a_hit_says_which_words_and_phrases_it_has() {
    let reasons = |query: &str, text: &str| rewrite(query).finder().reasons(text);
    assert_eq!(reasons("auth tokens", "the token for auth"), ["matched: auth, tokens"]);
    assert_eq!(
        reasons("docker compose up", "Docker-Compose failed"),
        ["matched: docker, compose", "phrase: \"docker compose\"",]
    );
    assert_eq!(reasons("\"a b c\" OR d", "x a b c"), ["matched: a, b, c", "phrase: \"a b c\""]);
    assert_eq!(reasons("auth", "else"), [""; 0]);
    let letters = "b1 b2 b3 b4 b5 b6 b7 b8 b9 b0";
    let many = reasons(letters, &letters.replace(' ', " and "));
    assert_eq!(many, ["matched: b1, b2, b3, b4, b5, b6, b7, b8 and 2 more"]);
    let typed = rewrite("authentica").prefix().unwrap();
    assert_eq!(typed.finder().reasons("Authentication"), ["matched: authent"]);
}

#[test]
fn small_words_are_not_beginnings_of_others() {
    assert_eq!(rewrite("what is the").prefix(), None);
    let mixed = rewrite("the whole thermostat").prefix().map(|query| query.words);
    let mixed = mixed.unwrap_or_default();
    assert!(mixed.contains(&"thermostat".to_owned()) && !mixed.contains(&"the".to_owned()));
}
