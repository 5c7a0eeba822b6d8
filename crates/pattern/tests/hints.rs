//! The rules that the scopes of hints rely on: directories, branches, plain names, paths as agents report them, and
//! errors that say what is wrong with a pattern and where.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use pattern::glob::{GLOB_BYTES_MAX, Glob, normal_path};

fn matches(pattern: &str, path: &str) -> bool {
    Glob::hint(pattern).unwrap().matches(path)
}

fn refusal(pattern: &str) -> String {
    Glob::hint(pattern).unwrap_err().message
}

#[test]
fn a_directory_pattern_matches_only_its_directories() {
    assert!(matches("**/http-proxy*", "/srv/http-proxy"));
    assert!(!matches("**/http-proxy*", "/srv/http-proxy/src"));
    assert!(matches("**/http-proxy/**", "/srv/http-proxy"));
    assert!(matches("**/http-proxy/**", "/srv/http-proxy/src"));
    assert!(matches("/srv/*", "/srv/a"));
    assert!(!matches("/srv/*", "/srv/a/b"));
}

#[test]
fn a_hidden_directory_is_matched_only_if_it_is_named() {
    assert!(!matches("**", "/srv/.hidden"));
    assert!(!matches("**/src", "/srv/.hidden/src"));
    assert!(!matches("/srv/?hidden", "/srv/.hidden"));
    assert!(matches("**/.hidden", "/srv/.hidden"));
    assert!(matches("**/.hidden/**", "/srv/.hidden/src"));
}

#[test]
fn a_star_in_a_branch_pattern_does_not_match_a_slash() {
    assert!(matches("hotfix/*", "hotfix/a"));
    assert!(!matches("hotfix/*", "hotfix/a/b"));
    assert!(matches("hotfix/**", "hotfix/a/b"));
    assert!(matches("hotfix/**", "hotfix"));
}

#[test]
fn a_pattern_without_special_characters_matches_exactly() {
    assert!(matches("/srv/Straße", "/srv/Straße"));
    assert!(!matches("/srv/straße", "/srv/Straße"));
    assert!(!matches("/srv/a", "/srv/a/b"));
    assert!(!matches("a.b", "axb"));
}

#[test]
fn a_named_class_has_its_ascii_characters() {
    type HasByte = fn(&u8) -> bool;
    let classes: [(&str, HasByte); 14] = [
        ("alnum", u8::is_ascii_alphanumeric),
        ("alpha", u8::is_ascii_alphabetic),
        ("ascii", u8::is_ascii),
        ("blank", |byte| matches!(byte, b' ' | b'\t')),
        ("cntrl", u8::is_ascii_control),
        ("digit", u8::is_ascii_digit),
        ("graph", u8::is_ascii_graphic),
        ("lower", u8::is_ascii_lowercase),
        ("print", |byte| byte.is_ascii_graphic() || *byte == b' '),
        ("punct", u8::is_ascii_punctuation),
        ("space", |byte| byte.is_ascii_whitespace() || *byte == 0x0b),
        ("upper", u8::is_ascii_uppercase),
        ("word", |byte| byte.is_ascii_alphanumeric() || *byte == b'_'),
        ("xdigit", u8::is_ascii_hexdigit),
    ];
    for (name, has) in classes {
        let glob = Glob::hint(&format!("x[[:{name}:]]")).unwrap();
        for byte in (0..=127).filter(|byte| *byte != b'/') {
            let path = format!("x{}", char::from(byte));
            assert_eq!(glob.matches(&path), has(&byte), "{name} has {path:?}");
        }
        assert!(!glob.matches("x/") && !glob.matches("xé"), "{name}");
    }
    assert!(matches("[a-a]", "a") && !matches("[a-a]", "b"));
}

#[test]
fn the_empty_path_matches_nothing() {
    for pattern in ["*", "**", "!a", "{,a}", "*(a)"] {
        assert!(!matches(pattern, ""), "{pattern}");
    }
}

#[test]
fn text_without_special_characters_is_literal() {
    assert!(Glob::is_literal("feature/login-2"));
    assert!(Glob::is_literal(""));
    for pattern in ["a*", "a?", "[a]", "{a,b}", "!a"] {
        assert!(!Glob::is_literal(pattern), "{pattern}");
    }
}

#[test]
fn a_path_is_normalised_to_slashes_without_a_trailing_one() {
    assert_eq!(normal_path(r"C:\src\app\"), "C:/src/app");
    assert_eq!(normal_path("/srv/a//"), "/srv/a");
    assert_eq!(normal_path("/"), "/");
    assert_eq!(normal_path("//"), "/");
    assert_eq!(normal_path(""), "");
    assert_eq!(normal_path("é/ü"), "é/ü");
}

#[test]
fn an_incomplete_pattern_is_refused_with_its_column() {
    assert_eq!(
        refusal("é/[ab"),
        r"`[` without its `]` (`\[` is the plain character) at column 3 of the glob `é/[ab`"
    );
    assert_eq!(Glob::hint("é/[ab").unwrap_err().to_string(), refusal("é/[ab"));
    assert!(refusal("a{b,c").contains("`{` without its `}`"));
    assert!(refusal("@(a|b").contains("`(` without its `)`"));
    assert!(refusal(r"a\").contains("nothing after it at column 2"));
    assert!(refusal("[z-a]").contains("`z-a` runs backwards at column 3"));
    assert!(refusal("").contains("empty"));
    assert!(refusal("!").contains("empty"));
}

#[test]
fn a_pattern_over_a_limit_is_refused_with_the_limit() {
    assert!(Glob::hint(&"a".repeat(GLOB_BYTES_MAX)).is_ok());
    assert!(refusal(&"a".repeat(501)).contains("501 bytes, at most 500"));
    assert!(Glob::hint("{1..1000}").is_ok());
    assert!(refusal("{1..1001}").contains("more than 1000 alternatives at column 1"));
    assert!(refusal("{1..600}{1..600}").contains("more than 1000 alternatives at column 9"));
    assert!(refusal("{-9223372036854775808..9223372036854775807}").contains("1000"));
    assert!(refusal(&format!("{}a{}", "{b,".repeat(17), "}".repeat(17))).contains("16 deep"));
    assert!(refusal("+(a*(b))").contains("a repetition cannot hold `*(` at column 4"));
    assert!(refusal("+(!(b))").contains("a repetition cannot hold `!(`"));
}
