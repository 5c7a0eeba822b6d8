//! `cargo xtask replay`: a published set of conversations as sessions of an agent. One speaker's turns are prompts, the
//! other's are answers; they reach the daemon as hook events, and the questions are asked through `search`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::live::folder;
use super::payload::{Frame, WeekAgent};
use super::stories::StoryStep;
use super::wire::{self, HookConnection};
use crate::daemon::Daemon;
use crate::home::Home;
use crate::http;
use crate::project::Project;

const DAY_MS: u64 = 86_400_000;
const TURN_MS: u64 = 20_000;
const HITS: usize = 100;

/// A history that is searched alone.
struct History {
    name: String,
    sessions: Vec<Conversation>,
    questions: Vec<GoldQuestion>,
}

struct Conversation {
    id: String,
    turns: Vec<StoryStep>,
}

struct GoldQuestion {
    text: String,
    /// Ids of the sessions that answer it.
    gold: Vec<String>,
}

pub(crate) fn run(project: &Project, flags: &[String]) -> Result<()> {
    let (mut file, mut binary, mut most) = (None, None, usize::MAX);
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let mut value = || flags.next().with_context(|| format!("{flag} needs a value"));
        match flag.as_str() {
            "--questions" => most = value()?.parse().context("--questions needs a number")?,
            "--binary" => binary = Some(PathBuf::from(value()?)),
            name if !name.starts_with('-') && file.is_none() => file = Some(PathBuf::from(name)),
            _ => bail!("'replay' takes FILE, --questions N and --binary FILE, not '{flag}'"),
        }
    }
    let file = file.context("'replay' needs a file of LoCoMo or LongMemEval")?;
    let binary = binary.map_or_else(|| project.build_binary(true), Ok)?;
    let text = fs::read_to_string(&file).with_context(|| format!("no {}", file.display()))?;
    let items: Vec<Value> = serde_json::from_str(&text).context("the file is not a JSON list")?;
    let histories: Vec<History> = items
        .iter()
        .take(most)
        .enumerate()
        .map(|(index, item)| match item.get("conversation") {
            Some(conversation) => locomo(index, conversation, &item["qa"]),
            None => longmemeval(index, item),
        })
        .collect::<Result<_>>()?;
    let figures = measure(&binary, &histories)?;
    println!("{figures}");
    Ok(())
}

fn measure(binary: &std::path::Path, histories: &[History]) -> Result<String> {
    let home = Home::new(binary)?;
    let daemon = Daemon::start(&home, &[])?;
    let mut connection = http::HttpClient::open(daemon.port)?;
    let token = home.token()?;
    let mut wire = HookConnection::open(&home)?;
    let now = wire::now_ms()?;
    let mut sum = Sum::default();
    for history in histories {
        let folder = wire::repository(&folder(&home, &history.name))?;
        let count = history.sessions.len() as u64;
        for (index, session) in history.sessions.iter().enumerate() {
            let mut at = now - (count - index as u64) * DAY_MS;
            let frame = Frame { agent: WeekAgent::Claude, session: &session.id, folder: &folder };
            for turn in &session.turns {
                at += TURN_MS;
                wire.send(WeekAgent::Claude, &frame.step(turn, at), at)?;
            }
        }
        for question in &history.questions {
            let params = json!({ "query": question.text, "project": history.name, "limit": HITS });
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "search", "params": params });
            let (status, body) = connection.send(&http::post("/rpc", &token, &call.to_string()))?;
            let reply: Value = serde_json::from_slice(body).context("the reply is not JSON")?;
            let hits = reply["result"]["results"].as_array().with_context(|| {
                format!("search answered {status}: {}", reply["error"]["message"])
            })?;
            let mut sessions: Vec<&str> = Vec::new();
            for id in hits.iter().filter_map(|hit| hit["session_id"].as_str()) {
                if !sessions.contains(&id) {
                    sessions.push(id);
                }
            }
            sum.add(&sessions, &question.gold);
        }
    }
    Ok(sum.table())
}

/// Sums over questions.
#[derive(Default)]
struct Sum {
    questions: f64,
    any_first: f64,
    any_five: f64,
    recall_first: f64,
    recall_five: f64,
    recall_ten: f64,
}

impl Sum {
    #[allow(clippy::cast_precision_loss, reason = "a handful of sessions")]
    fn add(&mut self, found: &[&str], gold: &[String]) {
        let good = |places: usize| {
            let among = found.iter().take(places);
            among.filter(|id| gold.iter().any(|wanted| wanted == *id)).count() as f64
        };
        let all = gold.len().max(1) as f64;
        self.questions += 1.0;
        self.any_first += good(1).min(1.0);
        self.any_five += good(5).min(1.0);
        self.recall_first += good(1) / all;
        self.recall_five += good(5) / all;
        self.recall_ten += good(10) / all;
    }

    fn table(&self) -> String {
        let percent = |sum: f64| 100.0 * sum / self.questions.max(1.0);
        format!(
            "| sessions, {} questions | any@1 | any@5 | R@1 | R@5 | R@10 |\n| --- | --- | --- | --- | --- | --- |\n| through the hooks | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
            self.questions,
            percent(self.any_first),
            percent(self.any_five),
            percent(self.recall_first),
            percent(self.recall_five),
            percent(self.recall_ten),
        )
    }
}

/// A conversation of LoCoMo. Evidence such as `D3:7` names the seventh turn of the third session.
fn locomo(index: usize, conversation: &Value, qa: &Value) -> Result<History> {
    let first_speaker = &conversation["speaker_a"];
    let mut sessions = Vec::new();
    for number in 1.. {
        let Some(turns) = conversation[format!("session_{number}")].as_array() else { break };
        let turns = turns.iter().map(|turn| {
            let picture = turn["blip_caption"].as_str().map(|text| format!(" [{text}]"));
            let text = format!(
                "{}: {}{}",
                turn["speaker"].as_str().unwrap_or_default(),
                turn["text"].as_str().unwrap_or_default(),
                picture.unwrap_or_default()
            );
            let asks = &turn["speaker"] == first_speaker;
            if asks { StoryStep::Prompt(text) } else { StoryStep::Answer(text) }
        });
        sessions.push(Conversation { id: format!("c{index}-s{number}"), turns: turns.collect() });
    }
    let mut questions = Vec::new();
    for asked in qa.as_array().context("a conversation without questions")? {
        let evidence = asked["evidence"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts = evidence.iter().filter_map(Value::as_str);
        let parts = texts.flat_map(|text| text.split(|sign: char| " ;,".contains(sign)));
        let numbers = parts.filter_map(|part| part.strip_prefix('D')?.split(':').next());
        let mut gold: Vec<String> = numbers.map(|number| format!("c{index}-s{number}")).collect();
        gold.sort();
        gold.dedup();
        let text = asked["question"].as_str().unwrap_or_default().to_owned();
        if !gold.is_empty() {
            questions.push(GoldQuestion { text, gold });
        }
    }
    Ok(History { name: format!("conversation-{index}"), sessions, questions })
}

/// A question of LongMemEval with its own history.
fn longmemeval(index: usize, item: &Value) -> Result<History> {
    let ids = item["haystack_session_ids"].as_array().context("no 'haystack_session_ids'")?;
    let given = item["haystack_sessions"].as_array().context("no 'haystack_sessions'")?;
    let named = |id: &Value| format!("q{index}-{}", id.as_str().unwrap_or_default());
    let sessions = ids.iter().zip(given).map(|(id, turns)| {
        let turns = turns.as_array().into_iter().flatten().map(|turn| {
            let text = turn["content"].as_str().unwrap_or_default().to_owned();
            if turn["role"] == "user" { StoryStep::Prompt(text) } else { StoryStep::Answer(text) }
        });
        Conversation { id: named(id), turns: turns.collect() }
    });
    let gold = item["answer_session_ids"].as_array().into_iter().flatten().map(named).collect();
    let text = item["question"].as_str().context("no 'question'")?.to_owned();
    Ok(History {
        name: format!("history-{index}"),
        sessions: sessions.collect(),
        questions: vec![GoldQuestion { text, gold }],
    })
}
