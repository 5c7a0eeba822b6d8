//! Text that was made to break the guard: arbitrary characters, and expensive input.

use super::super::*;

const BOTH: [Profile; 2] = [Profile::Strict, Profile::Declared];

/// Numbers that look random and are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }
}

/// Pieces that lead deep into the rules, with characters of every width between them.
const PIECES: [&str; 40] = [
    "password",
    "=",
    ":",
    "\"",
    "'",
    " ",
    "\n",
    "\\",
    "sk-",
    "sk",
    "ghp_",
    "AKIA",
    "eyJ",
    ".eyJ",
    ".",
    "-----BEGIN",
    " PRIVATE KEY",
    "-----",
    "-----END",
    "://",
    "@",
    "Bearer ",
    "Authorization",
    "curl ",
    "-u ",
    "token",
    "[redacted:",
    "jwt]",
    "0123456789abcdef",
    "q9Zt3kX7mB2vLp8R",
    "ä",
    "日本",
    "🦀",
    "datadog",
    "glpat-",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "<",
    ">",
    "\u{85}",
    "\0",
];

fn made_up(numbers: &mut Numbers) -> String {
    let count = numbers.next(60);
    (0..count).map(|_| PIECES[numbers.next(PIECES.len())]).collect()
}

#[test]
fn any_text_gives_ranges_on_character_boundaries_in_order() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..600 {
        let text = made_up(&mut numbers);
        for profile in BOTH {
            let mut end = 0;
            for Finding { rule, range } in find(&text, profile) {
                assert!(range.start >= end && range.start < range.end, "{rule} {range:?} {text:?}");
                assert!(text.get(range.clone()).is_some(), "{rule} {range:?} {text:?}");
                end = range.end;
            }
            assert_eq!(first(&text, profile).is_some(), end > 0, "{text:?}");
        }
    }
}

/// Captured text is cut at any place, and an unfinished command may end with the blank after a flag.
#[test]
fn a_command_line_may_end_anywhere() {
    let lines = include_str!("../../../testdata/commands-attacked.jsonl").lines().step_by(5);
    for line in lines {
        let row: Value = serde_json::from_str(line).unwrap();
        let parts = ["before", "secret", "after"].map(|key| row[key].as_array().unwrap().clone());
        let text: String = parts.iter().flatten().map(|part| part.as_str().unwrap()).collect();
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            find(&text[..end], Profile::Strict);
        }
    }
    for end in ["", " ", "  ", "\"", "']", "=", ": ", "=\"", "_", " <<<", " | "] {
        for name in ["--password", "--token", "--secret", "--api-key", "--account-key", "DB_PASS"] {
            find(&format!("{name}{end}"), Profile::Strict);
        }
    }
}

#[test]
fn redacted_text_holds_nothing_that_is_found() {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    for _ in 0..600 {
        let text = made_up(&mut numbers);
        for profile in BOTH {
            let safe = redact(&text, profile).into_inner();
            assert_eq!(find(&safe, profile), [], "{text:?} became {safe:?}");
        }
    }
}

/// Pieces that lead into an expensive check when they are repeated.
const EXPENSIVE: [&str; 94] = [
    "docker -",
    "docker -H '",
    "docker -H x ",
    "alter role password $",
    "password='a'\\''",
    "password='\n",
    "password=\"\\\"",
    "mysql -p'\n",
    "mysql -p'a'\\''",
    "chpasswd <<EOF\n",
    "cat <<EOF | chpasswd\n",
    "cat <<E | chpasswd ",
    "${DB_PASS:-",
    ".auth('a', '",
    "pragma key='",
    "*:*:*:a:",
    "password",
    "password=",
    "token:",
    "sk-",
    "s.",
    "eyJ",
    "eyJ.eyJ",
    "://",
    "a://b:c",
    "://:@",
    "-----BEGIN PRIVATE KEY-----",
    "Bearer ",
    "authorization:",
    "curl ",
    "curl -u ",
    "facebook",
    "glpat-",
    "4b1d",
    "ops_",
    "datadog = ",
    "key=",
    "a",
    "a1",
    "/",
    "-",
    "=",
    "xoxb-",
    "[redacted:",
    "\"secret\":\"",
    "pass ",
    "pw=",
    "password 'a",
    "password a1b2",
    "\"password\", \"",
    "identified by ",
    "cookie: sid=",
    "cookie:",
    " -u a -p ",
    "mysql -p",
    "mysql ",
    "7z a ",
    "echo a | sudo -S ",
    "| sudo -S ",
    "curl -b a=b; ",
    "setx a \"",
    "net use \\",
    "$(openssl -k ",
    "mysql.exe -p",
    ".exe ",
    "a.exe\" ",
    "mysql -p$a ",
    "a=b mysql -p$a ",
    "pw='echo ",
    "<(echo ",
    "read pw <<<",
    "<<<",
    "expect password send \"a",
    "insert into (",
    "insert into a (password) values ('",
    "crypt('",
    "a\\ ",
    "password=a\\ ",
    "echo a1b2c3d4 | ",
    "echo a1b2c3d4 | a b c d e f g ",
    "a login <<< ",
    "--user a:",
    "new pdo(a, 'a', '",
    "A_TOKEN_",
    ":pserver:a:",
    "zfs load-key <(echo ",
    "foo --password copper ",
    "--a.password ",
    "login ",
    "login a1b2c3d4 ",
    "auth 'a",
    "--pin ",
    "user=a,pass=b",
    "password,value=",
];

/// Repeated for as long as one likes, none of these makes a byte cost more than a bounded number of
/// steps; a check that looked back or ahead without a bound would need thousands.
#[test]
fn hostile_text_costs_a_bounded_number_of_steps_for_each_byte() {
    for piece in EXPENSIVE {
        let text = piece.repeat((1 << 16) / piece.len());
        bytes::steps::take();
        find(&text, Profile::Strict);
        find(&text, Profile::Declared);
        let steps = bytes::steps::take() / text.len();
        assert!(steps < 700, "{steps} steps for each byte of {piece:?}");
    }
}

#[test]
fn no_rule_reads_a_part_of_a_text_twice() {
    let text = "glpat-x datadog: y ".repeat(4000);
    let bytes = text.as_bytes();
    let mut windows = public::Windows::new();
    let mut read = Vec::new();
    prefilter::keywords(bytes, |leads_to, at| {
        if let LeadsTo::Public(rule, _) = leads_to {
            read.extend(windows.hit(bytes, rule, public::Check::Free, at));
        }
        true
    });
    read.extend(windows.rest());
    let total: usize = read.iter().map(|window| window.range.len()).sum();
    let rules: BTreeSet<u16> = read.iter().map(|window| window.rule).collect();
    assert!(rules.len() >= 3, "{rules:?}");
    assert!(total <= rules.len() * text.len(), "{total} bytes for {} rules", rules.len());
}
