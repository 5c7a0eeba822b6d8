//! The guarantees for callers of the guard.

use serde_json::json;

use super::super::*;

const BOTH: [Profile; 2] = [Profile::Strict, Profile::Declared];

/// A GitHub token, put together here so that no scanner finds one in this file.
fn token() -> String {
    format!("ghp{}{}", "_", "a1B2c3D4e5".repeat(4))
}

#[test]
fn findings_are_in_order_and_do_not_overlap() {
    let text = format!("{0} x password=hunter2 y token: {0} postgres://a:b0b0b@h/ {0}", token());
    for profile in BOTH {
        let found = find(&text, profile);
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
        let expected = ["github-token", "password", "github-token", "url-password", "github-token"];
        assert_eq!(rules, expected);
        assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
    }
}

#[test]
fn a_finding_names_the_rule_and_never_holds_the_value() {
    let found = find("password=hunter2", Profile::Declared);
    assert_eq!(format!("{found:?}"), r#"[Finding { rule: "password", range: 9..16 }]"#);
}

#[test]
fn a_finding_is_returned_early_exactly_if_there_is_any() {
    assert_eq!(first("make build", Profile::Strict), None);
    let found = first(&format!("see {}", token()), Profile::Strict);
    assert_eq!(found.map(|finding| finding.rule), Some("github-token"));
}

#[test]
fn redaction_keeps_everything_but_the_secret() {
    let text = format!("ä password=hunter2 ö {} ü", token());
    let safe = redact(&text, Profile::Declared);
    assert_eq!(*safe, "ä password=[redacted:password] ö [redacted:github-token] ü");
    assert_eq!(format!("{safe:?}"), format!("{:?}", *safe));
    assert_eq!(serde_json::to_value(&safe).unwrap(), json!(safe.into_inner()));
}

#[test]
fn a_password_is_redacted_up_to_its_last_character_and_a_query_keeps_its_other_members() {
    let table = [
        ("login failed, password: Tr0ub4dor&3x", "login failed, password: [redacted:password]"),
        ("/login?password=hunter2&user=bob", "/login?password=[redacted:password]&user=bob"),
        ("password=hunter2&&make", "password=[redacted:password]&&make"),
        (
            "The passphrase is \"correct-horse-battery\", keep it",
            "The passphrase is \"[redacted:password]\", keep it",
        ),
        ("the password is \"wrong-or-missing\"", "the password is \"wrong-or-missing\""),
        ("the password is \"optional\"", "the password is \"optional\""),
    ];
    for (text, safe) in table {
        assert_eq!(*redact(text, Profile::Strict), safe);
    }
}

#[test]
fn only_one_profile_looks_for_entropy_and_only_the_other_for_hex() {
    let (random, hex) = ("q9Zt3kX7mB2vLp8RwN4cYd6H", "0123456789abcdef".repeat(4));
    assert_eq!(find(random, Profile::Strict)[0].rule, "entropy");
    assert_eq!(find(random, Profile::Declared), []);
    assert_eq!(find(&hex, Profile::Strict), []);
    assert_eq!(find(&hex, Profile::Declared)[0].rule, "long-hex");
}

#[test]
fn json_is_redacted_in_values_names_and_by_the_names_of_members() {
    let value = json!({
        "command": format!("echo {}", token()),
        "env": { "DB_PASSWORD": "hunter2", "password": "", "note": "plain", "count": 3 },
        "list": ["ok", { "token": "q9Zt3kX7mB2v" }],
        token(): true,
    });
    let safe = redact_json(value, Profile::Declared).into_inner();
    let secret = "[redacted:secret-member]";
    let expected = json!({
        "command": "echo [redacted:github-token]",
        "env": { "DB_PASSWORD": secret, "password": "", "note": "plain", "count": 3 },
        "list": ["ok", { "token": secret }],
        "[redacted:github-token]": true,
    });
    assert_eq!(safe, expected);
    assert_eq!(redact_json(safe, Profile::Declared).into_inner(), expected);
}

#[test]
fn a_found_secret_is_redacted_at_every_repetition() {
    let table = [
        (
            "mysql -u root -pq9Zt3k; retry with q9Zt3k or (q9Zt3k)",
            "mysql -u root -p[redacted:command-secret]; retry with [redacted:command-secret] or ([redacted:command-secret])",
        ),
        // Eight characters or more count even inside a longer word.
        (
            "DB_PASS=Winter2023! and xWinter2023!y",
            "DB_PASS=[redacted:password] and x[redacted:password]y",
        ),
        // Six or seven count only as a separate word.
        ("token=q9Zt3k aq9Zt3k q9Zt3k", "token=[redacted:token] aq9Zt3k [redacted:token]"),
        // Shorter ones count if they have a sign or mix letters and digits.
        ("PASSWORD=abc1d abc1d", "PASSWORD=[redacted:password] [redacted:password]"),
        ("PASSWORD=abcde abcde", "PASSWORD=[redacted:password] abcde"),
        ("PASSWORD=12345 12345", "PASSWORD=[redacted:password] 12345"),
        // Default passwords are also ordinary words.
        (
            "PASSWORD=production deploy to production",
            "PASSWORD=[redacted:password] deploy to production",
        ),
        // Other words and numbers count from six characters on, but only as a separate word.
        ("DB_PASS=48213377 48213377", "DB_PASS=[redacted:password] [redacted:password]"),
        ("password=48213377 on 48213377", "password=[redacted:password] on [redacted:password]"),
        (
            "DB_PASS=Tigger Tigger's Tiggers",
            "DB_PASS=[redacted:password] [redacted:password]'s Tiggers",
        ),
        (
            "DB_PASS=kestrel-nine kestrel-nine_x kestrel-nine.",
            "DB_PASS=[redacted:password] kestrel-nine_x [redacted:password].",
        ),
        (
            "password=correcthorsebattery correcthorsebattery",
            "password=[redacted:password] [redacted:password]",
        ),
    ];
    for (text, safe) in table {
        assert_eq!(*redact(text, Profile::Declared), safe);
    }
}

#[test]
fn a_secret_found_in_one_text_of_json_is_redacted_in_all() {
    let value = json!({
        "a": "then tr0ub4dor again", "password": "tr0ub4dor", "list": ["xx-tr0ub4dor-yy"],
        "tr0ub4dor": 1, "z": "DB_PASS=Zx81spectrum", "b": "Zx81spectrum",
    });
    let safe = redact_json(value, Profile::Strict).into_inner().to_string();
    assert!(!safe.contains("tr0ub4dor") && !safe.contains("Zx81"), "{safe}");
}

#[test]
fn known_values_are_hidden_in_other_texts() {
    let mut known = KnownValues::default();
    assert!(known.is_empty() && known.hide("tr0ub4dor") == "tr0ub4dor");
    known.collect("sshpass -p tr0ub4dor ssh host", Profile::Strict);
    known.collect_member("db_password", "Zx81spectrum");
    assert_eq!(
        known.hide("tr0ub4dor, Zx81spectrum"),
        "[redacted:command-secret], [redacted:secret-member]"
    );
}

#[test]
fn a_mask_shows_the_ends_of_long_values_only() {
    let table = [
        ("", ""),
        ("12345678", "********"),
        ("123456789", "1234****6789"),
        ("abcdefghijklmnop", "abcd****mnop"),
        ("äöüßäöüßä", "äöüß****öüßä"),
    ];
    for (value, masked) in table {
        assert_eq!(mask(value), masked);
    }
}

#[test]
fn redactions_are_not_found_again_but_forged_ones_are() {
    for profile in BOTH {
        assert_eq!(find("token=[redacted:token] [redacted:jwt]", profile), []);
        let forged = format!("[redacted:{}]", token());
        assert_eq!(find(&forged, profile).len(), 1);
    }
}

#[test]
fn a_value_that_a_shell_quotes_is_redacted_where_it_is_repeated_without_the_quotes() {
    for command in
        [r"mysql -p'it'\''s4Trap' db", r#"DB_PASSWORD="it's4Trap" x"#, r"redis-cli -a it\'s4Trap"]
    {
        let safe =
            redact(&format!("{command}\ndenied for it's4Trap"), Profile::Strict).into_inner();
        assert!(!safe.contains("s4Trap"), "{safe}");
    }
}
