//! Realistic work of agents, generated from a seed: sessions of prompts and tool uses as an agent sends them, over
//! ten projects.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::words::{SeededRandom, Vocabulary};

const PROJECTS: [&str; 10] = [
    "shop", "gateway", "notes", "compiler", "infra", "mobile", "billing", "search", "docs", "games",
];
const DAYS: i64 = 90;
const DAY_MS: i64 = 86_400_000;
/// Tool uses of a session, and of a prompt.
pub(super) const USES_PER_SESSION: usize = 100;
const USES_PER_PROMPT: usize = 10;
/// Milliseconds between two uses, if the time span allows.
const PAUSE_MS: i64 = 30_000;

const FOLDERS: [&str; 8] =
    ["src", "src/api", "src/store", "src/web", "tests", "docs", "scripts", "src/core"];
const NAMES: [&str; 16] = [
    "main", "session", "cache", "parser", "router", "config", "token", "schema", "worker",
    "client", "render", "login", "index", "queue", "metrics", "report",
];
const ENDINGS: [&str; 4] = ["rs", "ts", "py", "md"];
/// Files of one name in a directory.
const NUMBERS: usize = 40;

/// One event and when it happened, in milliseconds since 1970.
pub(super) struct Happened {
    pub(super) at: i64,
    pub(super) payload: Value,
}

/// The events in order of time.
pub(super) struct MadeCorpus {
    random: SeededRandom,
    words: Vocabulary,
    waiting: VecDeque<Happened>,
    sessions: usize,
    session: usize,
    /// Number of the first session.
    first: usize,
    /// When the first session starts, and the time span of a session.
    from: i64,
    slot: i64,
}

impl MadeCorpus {
    /// About this many tool uses in the 90 days before `until`.
    pub(super) fn new(seed: u64, uses: usize, until: i64) -> MadeCorpus {
        let sessions = uses.div_ceil(USES_PER_SESSION).max(1);
        let slot = DAYS * DAY_MS / i64::try_from(sessions).unwrap_or(i64::MAX);
        MadeCorpus {
            random: SeededRandom::new(seed),
            words: Vocabulary::new(),
            waiting: VecDeque::new(),
            sessions,
            session: 0,
            first: 0,
            from: until - DAYS * DAY_MS,
            slot,
        }
    }

    /// Numbers the sessions from `first` on.
    pub(super) fn starting_at(self, first: usize) -> MadeCorpus {
        MadeCorpus { first, ..self }
    }

    /// One to three search terms; sometimes the name of a file.
    pub(super) fn query(&mut self) -> String {
        if self.random.percent(15) {
            let (name, ending) = (self.random.of(&NAMES), self.random.of(&ENDINGS));
            return format!("{name}{}.{ending}", self.random.by_rank(NUMBERS));
        }
        let count = self.random.within(1, 3);
        let words: Vec<&str> = (0..count).map(|_| self.words.telling(&mut self.random)).collect();
        words.join(" ")
    }

    /// A question in natural language, stop words included.
    pub(super) fn question(&mut self) -> String {
        let count = self.random.within(4, 10);
        self.words.sentence(&mut self.random, count)
    }

    fn begin_session(&mut self) {
        let number = self.session;
        self.session += 1;
        let project = *self.random.of(&PROJECTS);
        let mut session = MadeSession {
            id: name(self.first + number),
            cwd: format!("/srv/bench/{project}"),
            at: self.from + self.slot * i64::try_from(number).unwrap_or(0),
            pause: (self.slot / i64::try_from(USES_PER_SESSION + 20).unwrap_or(1)).min(PAUSE_MS),
            uses: (self.first + number) * USES_PER_SESSION,
            prompt: String::new(),
        };
        let waiting = &mut self.waiting;
        waiting.push_back(session.event("SessionStart", json!({ "source": "startup" })));
        for turn in 0..USES_PER_SESSION / USES_PER_PROMPT {
            session.prompt = format!("{}-{turn}", session.id);
            let words = self.random.within(5, 25);
            let prompt = self.words.sentence(&mut self.random, words);
            waiting.push_back(session.event("UserPromptSubmit", json!({ "prompt": prompt })));
            for _ in 0..USES_PER_PROMPT {
                let tool =
                    MadeToolUse { random: &mut self.random, words: &self.words, cwd: &session.cwd };
                let (event, members) = tool.used();
                waiting.push_back(session.event(event, members));
            }
            waiting.push_back(session.event("Stop", json!({ "stop_hook_active": false })));
        }
        waiting.push_back(session.event("SessionEnd", json!({ "reason": "other" })));
    }
}

impl Iterator for MadeCorpus {
    type Item = Happened;

    fn next(&mut self) -> Option<Happened> {
        if self.waiting.is_empty() && self.session < self.sessions {
            self.begin_session();
        }
        self.waiting.pop_front()
    }
}

/// The name of a session in the style of agents.
pub(super) fn name(session: usize) -> String {
    format!("{session:08x}-0000-4000-8000-000000000000")
}

/// A session that advances with every event.
struct MadeSession {
    id: String,
    cwd: String,
    at: i64,
    pause: i64,
    uses: usize,
    prompt: String,
}

impl MadeSession {
    fn event(&mut self, event: &str, members: Value) -> Happened {
        self.at += self.pause;
        let mut payload = json!({
            "session_id": self.id,
            "transcript_path": format!("/home/user/.claude/projects/bench/{}.jsonl", self.id),
            "cwd": self.cwd,
            "hook_event_name": event,
            "permission_mode": "default",
        });
        if !self.prompt.is_empty() {
            payload["prompt_id"] = json!(self.prompt);
        }
        if members.get("tool_name").is_some() {
            self.uses += 1;
            payload["tool_use_id"] = json!(format!("toolu_{:024}", self.uses));
        }
        if let (Some(payload), Value::Object(members)) = (payload.as_object_mut(), members) {
            payload.extend(members);
        }
        Happened { at: self.at, payload }
    }
}

/// Generates one tool use.
struct MadeToolUse<'a> {
    random: &'a mut SeededRandom,
    words: &'a Vocabulary,
    cwd: &'a str,
}

impl MadeToolUse<'_> {
    /// The event's name and its members.
    fn used(mut self) -> (&'static str, Value) {
        let members = match self.random.below(100) {
            0..45 => self.read(),
            45..60 => self.edit(),
            60..65 => self.write(),
            65..85 => return self.bash(),
            85..95 => self.search(),
            _ => self.mcp(),
        };
        ("PostToolUse", members)
    }

    fn path(&mut self) -> String {
        let (folder, name) = (self.random.of(&FOLDERS), self.random.of(&NAMES));
        let (number, ending) = (self.random.by_rank(NUMBERS), self.random.of(&ENDINGS));
        format!("{}/{folder}/{name}{number}.{ending}", self.cwd)
    }

    fn code(&mut self, lines: usize) -> String {
        let mut code = String::new();
        for _ in 0..lines {
            let [to, call, given] = [(); 3].map(|()| self.words.identifier(self.random));
            code.push_str(&format!("    let {to} = {call}({given});\n"));
        }
        code
    }

    fn said(&mut self, least: usize, most: usize) -> String {
        let words = self.random.within(least, most);
        self.words.sentence(self.random, words)
    }

    fn read(&mut self) -> Value {
        let path = self.path();
        let content = self.code(6);
        json!({
            "tool_name": "Read",
            "tool_input": { "file_path": path },
            "tool_response": { "type": "text", "file": { "filePath": path, "content": content } },
        })
    }

    fn edit(&mut self) -> Value {
        let path = self.path();
        json!({
            "tool_name": "Edit",
            "tool_input": {
                "file_path": path, "old_string": self.code(2), "new_string": self.code(3),
            },
            "tool_response": { "filePath": path, "userModified": false },
        })
    }

    fn write(&mut self) -> Value {
        let path = self.path();
        json!({
            "tool_name": "Write",
            "tool_input": { "file_path": path, "content": self.code(8) },
            "tool_response": { "type": "create", "filePath": path },
        })
    }

    fn search(&mut self) -> Value {
        let mut pattern = self.words.identifier(self.random);
        if self.random.percent(30) {
            pattern = format!("**/{pattern}*");
        }
        let tool = if pattern.starts_with('*') { "Glob" } else { "Grep" };
        let folder = self.random.of(&FOLDERS);
        json!({
            "tool_name": tool,
            "tool_input": { "pattern": pattern, "path": format!("{}/{folder}", self.cwd) },
            "tool_response": { "numFiles": 3, "filenames": ["a.rs", "b.rs", "c.rs"] },
        })
    }

    fn mcp(&mut self) -> Value {
        let tool = self.random.of(&["search_issues", "get_page", "list_runs", "query_metrics"]);
        json!({
            "tool_name": format!("mcp__tracker__{tool}"),
            "tool_input": { "query": self.said(2, 5) },
            "tool_response": { "content": [{ "type": "text", "text": self.said(10, 20) }] },
        })
    }

    fn bash(&mut self) -> (&'static str, Value) {
        let (name, number) = (*self.random.of(&NAMES), self.random.below(9_999));
        let word = self.words.telling(self.random).to_owned();
        let said = self.said(4, 9);
        let command = match self.random.below(13) {
            0 => format!("cargo test -p {name} {word}"),
            1 => format!("cargo build --release 2>&1 | tail -n {number}"),
            2 => format!("npm run {word} -- --filter {name}"),
            3 => format!("python3 -m pytest tests/{name}_test.py -k {word}"),
            4 => format!("git commit -m \"{name}: {said}\""),
            5 => "git push origin HEAD".to_owned(),
            6 => format!("gh pr create --title \"{said}\" --body \"{word}\""),
            7 => format!("git diff HEAD~{number} -- src/{name}.rs"),
            8 => format!("docker compose up -d {name} && curl -s localhost:{number}/{word}"),
            9 => format!("rg -n \"{word}\" src | head -{number}"),
            10 => format!("sed -n '{number},+40p' src/{name}.rs"),
            11 => format!("psql -c 'select {word} from {name} where id = {number}'"),
            _ => format!("make {name} VERBOSE={number}"),
        };
        let input = json!({ "command": command, "description": self.said(3, 6) });
        if self.random.percent(10) {
            let error = format!("Exit code 1\nerror[E{number:04}]: {}\n", self.said(8, 30));
            let members = json!({ "tool_name": "Bash", "tool_input": input, "error": error });
            return ("PostToolUseFailure", members);
        }
        let mut stdout = self.said(10, 60);
        if command.starts_with("git commit") {
            stdout = format!(
                "[main {}] {name}: {said}\n 2 files changed, 9 insertions(+)",
                &self.random.hex()[..7]
            );
        }
        let response = json!({ "stdout": stdout, "stderr": "", "interrupted": false });
        (
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": input, "tool_response": response }),
        )
    }
}
