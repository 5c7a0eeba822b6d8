//! Generates tables from the rule set in `rules/` and the keywords of our own rules, so that the
//! secret guard builds nothing at its start: an automaton over all keywords, and the rules as one
//! text with offsets into it (offsets need no relocation when a process starts).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use regex_syntax::hir::{Hir, HirKind};
use toml_edit::{DocumentMut, Item, Table};

const RULE_SET: &str = "rules/gitleaks.toml";
/// Our own rules, in the format of the public rule set.
const MORE_RULES: &str = "rules/more.toml";
/// Programs that take secrets on their command line.
const COMMANDS: &str = "rules/commands.toml";

/// Our own rules: the variant of `Own` that checks a hit, and the keywords that lead to it.
const OWN: [(&str, &[&str]); 43] = [
    ("Aws", &["akia", "asia", "abia", "acca", "a3t"]),
    ("GitHub", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]),
    ("GitHubPat", &["github_pat_"]),
    ("Sk", &["sk-"]),
    ("Stripe", &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"]),
    ("StripeWebhook", &["whsec_"]),
    ("Slack", &["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"]),
    ("Google", &["aiza"]),
    ("Twilio", &["sk"]),
    ("Vault", &["hvs.", "s."]),
    ("SendGrid", &["sg."]),
    ("HuggingFace", &["hf_"]),
    ("Octopus", &["api-"]),
    ("PrefixedUuid", &["api-", "sdk-", "waka_", "amzn.mws."]),
    ("Jwt", &["eyj"]),
    ("PrivateKey", &["-----begin"]),
    ("Url", &["://", ":pserver:"]),
    ("SignedUrl", &["?sig=", "&sig=", "x-amz-signature=", "x-goog-signature="]),
    ("Bearer", &["bearer"]),
    ("Authorization", &["authorization"]),
    ("Cookie", &["cookie:", "cookie\": \"", "cookie': '", "cookie=\""]),
    (
        "Password",
        &[
            "password",
            "passwords",
            "passwd",
            "passphrase",
            "pwd",
            "passwort",
            "kennwort",
            "sshpass",
            "rediscli_auth",
            "requirepass",
            "masterauth",
            "비밀번호",
            "비번",
            "패스워드",
            "암호",
        ],
    ),
    ("Pass", &["pass", "pw", "p/w"]),
    ("Identified", &["identified"]),
    ("PgPass", &[":5432:", ":*:"]),
    ("UserAndPassword", &[" -p ", " -w "]),
    ("LoggedIn", &["login ", "signin ", "auth ", "_password ", "create-user "]),
    ("Pin", &["-pin ", "-pin="]),
    ("UserPair", &["--user ", "--user=", "--auth ", "--auth=", "--creds ", "--basic-auth "]),
    ("WindowsProgram", &[".exe"]),
    // Its keywords come from the command table.
    ("OptionFirst", &[]),
    ("Echoed", &["echo ", "printf "]),
    ("HereString", &["<<<"]),
    ("ExpectSend", &["send "]),
    ("Credentials", &[".auth(", "auth=(", "auth = (", "basicauth(", ".login("]),
    ("Connected", &["new pdo(", "mysqli(", "mysqli_connect(", "getconnection("]),
    ("PragmaKey", &["pragma key", "pragma rekey"]),
    ("Insert", &["insert into"]),
    (
        "Hashed",
        &[
            "crypt(",
            "hashpw(",
            "bcrypt.hash(",
            "bcrypt::hash(",
            "argon2.hash(",
            "hashsync(",
            "hash::make(",
            "password_hash(",
            "make_password(",
            "set_password(",
            "generatefrompassword(",
        ],
    ),
    ("Secret", &["secret"]),
    ("Token", &["token"]),
    ("ApiKey", &["api_key", "api-key", "apikey"]),
    ("Generic", &["key", "auth", "access", "credential", "credentials", "creds"]),
];

/// Rules of the public set that are left out, most of them because a rule of our own replaces them: it needs no
/// regex and matches more.
const REPLACED: [&str; 37] = [
    "anthropic-admin-api-key",
    "anthropic-api-key",
    "aws-access-token",
    "curl-auth-header",
    "curl-auth-user",
    "freemius-secret-key",
    "gcp-api-key",
    "generic-api-key",
    "github-app-token",
    "github-fine-grained-pat",
    "github-oauth",
    "github-pat",
    "github-refresh-token",
    "hashicorp-tf-password",
    "huggingface-access-token",
    "jwt",
    "octopus-deploy-api-key",
    "openai-api-key",
    "private-key",
    "sendgrid-api-token",
    "slack-app-token",
    "slack-bot-token",
    "slack-config-access-token",
    "slack-config-refresh-token",
    "slack-legacy-bot-token",
    "slack-legacy-token",
    "slack-legacy-workspace-token",
    "slack-user-token",
    "stripe-access-token",
    "twilio-api-key",
    "vault-service-token",
    // Another rule of the same service matches these secrets, too.
    "bittrex-secret-key",
    "flutterwave-secret-key",
    // Matches a file's name, and we see only text.
    "pkcs12-file",
    // A public key is not a secret.
    "flutterwave-public-key",
    "lob-pub-api-key",
    "mailgun-pub-key",
];

/// Rules whose id ends like this are left out, too: a client id is not a secret.
const PUBLIC_ENDING: &str = "-client-id";

/// Rules whose keyword occurs in ordinary code, with keywords that are closer to the secret.
const KEYWORDS: [(&str, &[&str]); 5] = [
    ("authress-service-client-access-key", &[".acc_", ".acc-"]),
    ("cloudflare-origin-ca-key", &["v1.0-"]),
    ("intra42-client-secret", &["s-s4t2ud-", "s-s4t2af-"]),
    ("kubernetes-secret-yaml", &["kind: secret", "kind: \"secret", "kind: 'secret"]),
    ("sourcegraph-access-token", &["sgp_"]),
];

/// The middle of the many rules of the form `name = value`.
const ASSIGNMENT: &str = r"(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'";

/// Keywords that begin the value in rules of that form; all others are the name.
const IN_VALUE: [&str; 7] = ["atatt3", "live_", "test_", "nrjs-", "nrii-", "nrak", "tfp_"];

/// Rules whose keyword is somewhere near the secret.
const NEAR: [&str; 3] =
    ["airtable-personnal-access-token", "facebook-access-token", "pagerduty-token"];

/// Rules that match more than one word, so that there is no cheap check of a keyword hit.
const FREE: [&str; 2] = ["kubernetes-secret-yaml", "nuget-config-password"];

struct Rule {
    id: String,
    regex: String,
    keywords: Vec<String>,
    entropy: f64,
    group: i64,
    /// The fewest bytes the secret can have.
    shortest: usize,
    /// Secrets that are allowed although the rule matches, one regex per line.
    allowed_secret: String,
    /// Matches that are allowed, one regex per line.
    allowed_match: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    writeln!(out, "cargo::rerun-if-changed=build.rs")?;
    for path in [RULE_SET, MORE_RULES, COMMANDS] {
        writeln!(out, "cargo::rerun-if-changed={path}")?;
    }
    let mut rules = Vec::new();
    let mut stopwords = Vec::new();
    for path in [RULE_SET, MORE_RULES] {
        let document: DocumentMut = std::fs::read_to_string(path)?.parse()?;
        let all = document.get("rules").and_then(Item::as_array_of_tables).ok_or("no rules")?;
        for table in all {
            let id = word(table, "id");
            if id == "generic-api-key" {
                stopwords = lists(table, "stopwords");
            }
            if !REPLACED.contains(&id.as_str()) && !id.ends_with(PUBLIC_ENDING) {
                rules.push(rule(table)?);
            }
        }
    }
    let commands = commands()?;
    let dir = std::env::var("OUT_DIR")?;
    let write = |name: &str, text: String| std::fs::write(Path::new(&dir).join(name), text);
    write("public_rules.rs", rule_table(&rules, &stopwords)?)?;
    write("commands.rs", command_table(&commands)?)?;
    write("prefilter.rs", automaton(&rules, &commands)?)?;
    Ok(())
}

/// A row of the command table.
struct Command {
    /// Program names, each with the blank that must follow it, so that longer words do not match.
    programs: Vec<String>,
    /// Where the secrets are, one place per line.
    places: String,
}

fn commands() -> Result<Vec<Command>, Box<dyn Error>> {
    let document: DocumentMut = std::fs::read_to_string(COMMANDS)?.parse()?;
    let all = document.get("command").and_then(Item::as_array_of_tables).ok_or("no commands")?;
    let row = |table: &Table| {
        let places = words(table.get("secrets"));
        // A program that only reads its input may be the last word of a line.
        let bare = places.iter().any(|place| place.starts_with("stdin") && !place.contains('-'));
        let blank = if bare { "" } else { " " };
        let programs = words(table.get("programs"));
        let programs = programs.iter().map(|name| format!("{name}{blank}")).collect();
        let values = words(table.get("values")).join(" ");
        let values = if values.is_empty() { values } else { format!("values {values}\n") };
        Command { programs, places: values + &places.join("\n") }
    };
    Ok(all.iter().map(row).collect())
}

fn command_table(commands: &[Command]) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let mut rows = String::new();
    for command in commands {
        write!(rows, "({}, {}), ", text.len(), command.places.len())?;
        text.push_str(&command.places);
    }
    Ok(format!(
        "const COUNT: usize = {};\n\
         static COMMANDS: [(u32, u32); COUNT] = [{rows}];\n\
         static PLACES: &str = {text:?};\n",
        commands.len()
    ))
}

fn word(table: &Table, key: &str) -> String {
    table.get(key).and_then(Item::as_str).unwrap_or_default().to_owned()
}

fn words(item: Option<&Item>) -> Vec<String> {
    let array = item.and_then(Item::as_array);
    array.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

/// The words under `key` in all allow lists of a rule.
fn lists(rule: &Table, key: &str) -> Vec<String> {
    let lists = rule.get("allowlists").and_then(Item::as_array_of_tables);
    lists.into_iter().flatten().flat_map(|list| words(list.get(key))).collect()
}

fn rule(table: &Table) -> Result<Rule, Box<dyn Error>> {
    let id = word(table, "id");
    let regex = with_wide_ending(&word(table, "regex"));
    let number = |key| {
        table.get(key).and_then(|item| item.as_float().or(item.as_integer().map(|i| i as f64)))
    };
    let group = table.get("secretGroup").and_then(Item::as_integer).unwrap_or(1);
    let hir =
        regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(&regex)?;
    let least = |hir: &Hir| hir.properties().minimum_len().unwrap_or(0);
    // A capture group that may be shorter than any secret only serves the regex: then the whole
    // match is the secret. A named group, which distinguishes kinds of the secret, is treated
    // alike.
    let secret = capture(&hir, u32::try_from(group)?)
        .map(least)
        .filter(|least| *least >= 6 && !regex.contains("(?P<"));
    let group = if secret.is_some() { group } else { 0 };
    let shortest = secret.unwrap_or_else(|| least(&hir));
    let own = KEYWORDS.iter().find(|(name, _)| *name == id);
    let keywords = match own {
        Some((_, keywords)) => keywords.iter().map(|keyword| (*keyword).to_owned()).collect(),
        None => words(table.get("keywords")),
    };
    let mut rule = Rule {
        keywords,
        entropy: number("entropy").unwrap_or(0.0),
        group,
        shortest,
        allowed_secret: String::new(),
        allowed_match: String::new(),
        id,
        regex,
    };
    for list in table.get("allowlists").and_then(Item::as_array_of_tables).into_iter().flatten() {
        let target = match word(list, "regexTarget").as_str() {
            "match" => &mut rule.allowed_match,
            _ => &mut rule.allowed_secret,
        };
        for allowed in words(list.get("regexes")) {
            writeln!(target, "{allowed}")?;
        }
    }
    if rule.keywords.is_empty() {
        return Err(format!("the rule {} has no keyword to look for", rule.id).into());
    }
    Ok(rule)
}

/// Most public rules require a quote, white space or a semicolon after a secret, and so miss one that is followed
/// by a comma, a bracket or a slash. Here any character that cannot be part of a token may follow.
fn with_wide_ending(regex: &str) -> String {
    const NARROW: &str = r#"(?:[\x60'"\s;]|\\[nr]|$)"#;
    const WIDE: &str = "(?:[^0-9A-Za-z_-]|$)";
    match regex.strip_suffix(NARROW) {
        Some(start) => format!("{start}{WIDE}"),
        None => regex.to_owned(),
    }
}

fn capture(hir: &Hir, wanted: u32) -> Option<&Hir> {
    match hir.kind() {
        HirKind::Capture(group) if group.index == wanted => Some(&group.sub),
        HirKind::Capture(group) => capture(&group.sub, wanted),
        HirKind::Repetition(repeated) => capture(&repeated.sub, wanted),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().find_map(|part| capture(part, wanted))
        }
        _ => None,
    }
}

/// The check that a keyword hit must pass before the rule's regex is compiled.
fn check(rule: &Rule, keyword: &str) -> &'static str {
    if FREE.contains(&rule.id.as_str()) {
        "Free"
    } else if NEAR.contains(&rule.id.as_str()) {
        "Near"
    } else if rule.regex.contains(ASSIGNMENT) && !IN_VALUE.contains(&keyword) {
        "Assignment"
    } else if begins_with(&rule.regex, keyword) {
        "Prefix"
    } else {
        "Word"
    }
}

/// Whether the regex demands the beginning of a word and then the keyword.
fn begins_with(regex: &str, keyword: &str) -> bool {
    let regex = regex.trim_start_matches("(?i)");
    let start = regex.strip_prefix(r"\b").unwrap_or_default();
    let start = start.trim_start_matches("(?:").trim_start_matches('(').trim_start_matches("?:");
    start.replace('\\', "").to_lowercase().starts_with(keyword)
}

fn rule_table(rules: &[Rule], stopwords: &[String]) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let mut rows = String::new();
    for rule in rules {
        let mut row = String::new();
        for part in [&rule.id, &rule.regex, &rule.allowed_secret, &rule.allowed_match] {
            write!(row, "({}, {}), ", text.len(), part.len())?;
            text.push_str(part);
        }
        writeln!(
            rows,
            "PublicRule {{ parts: [{row}], entropy: {:?}, group: {}, shortest: {} }},",
            rule.entropy, rule.group, rule.shortest
        )?;
    }
    let count = rules.len();
    Ok(format!(
        "pub(super) const COUNT: usize = {count};\n\
         static RULES: [PublicRule; COUNT] = [\n{rows}];\n\
         static TEXT: &str = {text:?};\n\
         pub(super) static STOPWORDS: &str = {:?};\n",
        stopwords.join("\n")
    ))
}

/// A state of the automaton while it is built.
#[derive(Default)]
struct State {
    next: BTreeMap<u8, usize>,
    hits: Vec<usize>,
    fallback: usize,
}

/// The automaton of Aho and Corasick over all keywords as one dense table, in breadth-first order, so
/// that the states that ordinary text visits lie close together.
fn automaton(rules: &[Rule], commands: &[Command]) -> Result<String, Box<dyn Error>> {
    let (targets, mut states) = trie(rules, commands);
    let order = link(&mut states);
    let mut classes = [0u8; 256];
    let mut count = 1u8;
    for byte in 0..=255u8 {
        if !byte.is_ascii_uppercase() && states.iter().any(|state| state.next.contains_key(&byte)) {
            classes[usize::from(byte)] = count;
            classes[usize::from(byte.to_ascii_uppercase())] = count;
            count += 1;
        }
    }
    let width = usize::from(count);
    let mut place = vec![0; states.len()];
    for (index, state) in order.iter().enumerate() {
        place[*state] = index;
    }
    let mut cells = vec![0u16; states.len() * width];
    let mut hits = Vec::new();
    let mut starts = vec![0];
    for state in &order {
        for byte in (0..=255u8).filter(|byte| !byte.is_ascii_uppercase()) {
            let target = step(&states, *state, byte);
            let flag = if states[target].hits.is_empty() { 0 } else { 1 << 15 };
            let cell = place[*state] * width + usize::from(classes[usize::from(byte)]);
            cells[cell] = u16::try_from(place[target])? | flag;
        }
        hits.extend(&states[*state].hits);
        starts.push(hits.len());
    }
    let own: Vec<&str> = OWN.iter().map(|(name, _)| *name).collect();
    let hits: Vec<String> = hits.iter().map(|hit: &usize| targets[*hit].clone()).collect();
    Ok(format!(
        "#[derive(Clone, Copy, Debug)]\npub(super) enum Own {{ {} }}\n\
         const WIDTH: usize = {width};\n\
         static CLASSES: [u8; 256] = {classes:?};\n\
         static CELLS: [u16; {}] = {cells:?};\n\
         static STARTS: [u16; {}] = {starts:?};\n\
         static HITS: [Keyword; {}] = [{}];\n",
        own.join(", "),
        cells.len(),
        starts.len(),
        hits.len(),
        hits.join(",\n")
    ))
}

/// The targets of the keywords, as Rust source, and the trie of all keywords.
fn trie(rules: &[Rule], commands: &[Command]) -> (Vec<String>, Vec<State>) {
    let mut targets = Vec::new();
    let mut states = vec![State::default()];
    let mut add = |keyword: &str, target: String| {
        let mut at = 0;
        for byte in keyword.bytes().map(|byte| byte.to_ascii_lowercase()) {
            let known = states[at].next.get(&byte).copied();
            at = known.unwrap_or_else(|| {
                states.push(State::default());
                let new = states.len() - 1;
                states[at].next.insert(byte, new);
                new
            });
        }
        let length = keyword.len();
        states[at].hits.push(targets.len());
        targets.push(format!("Keyword {{ length: {length}, leads_to: {target} }}"));
    };
    for (own, keywords) in OWN {
        for keyword in keywords {
            add(keyword, format!("LeadsTo::Own(Own::{own})"));
        }
    }
    for (index, command) in commands.iter().enumerate() {
        for program in &command.programs {
            add(program, format!("LeadsTo::Command({index})"));
        }
    }
    for program in programs_with_subcommands(commands) {
        add(&format!("{program} -"), "LeadsTo::Own(Own::OptionFirst)".into());
    }
    for (index, rule) in rules.iter().enumerate() {
        for keyword in &rule.keywords {
            add(keyword, format!("LeadsTo::Public({index}, Check::{})", check(rule, keyword)));
        }
    }
    (targets, states)
}

/// The programs that have a subcommand in the table.
fn programs_with_subcommands(commands: &[Command]) -> BTreeSet<&str> {
    let names = commands.iter().flat_map(|command| &command.programs);
    let parts = names.filter_map(|name| name.trim_end().split_once(' '));
    parts.filter(|(_, rest)| !rest.starts_with('-')).map(|(program, _)| program).collect()
}

/// Sets the failure links of the automaton, and returns the states breadth first.
fn link(states: &mut [State]) -> Vec<usize> {
    let mut order = vec![0];
    let mut queue: VecDeque<usize> = states[0].next.values().copied().collect();
    while let Some(state) = queue.pop_front() {
        order.push(state);
        for (byte, child) in states[state].next.clone() {
            let fallback = step(states, states[state].fallback, byte);
            states[child].fallback = fallback;
            let inherited = states[fallback].hits.clone();
            states[child].hits.extend(inherited);
            queue.push_back(child);
        }
    }
    order
}

fn step(states: &[State], mut state: usize, byte: u8) -> usize {
    loop {
        match states[state].next.get(&byte) {
            Some(next) => return *next,
            None if state == 0 => return 0,
            None => state = states[state].fallback,
        }
    }
}
