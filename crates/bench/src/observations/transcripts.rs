//! Generated transcripts with the proportions of real ones, and the baseline of an import: each line through the JSON
//! parser.
//!
//! In real files of Claude Code, results of tools are 43 % of the bytes, lines of progress 38 %, calls 11 % and words of
//! the model 5 %; in those of Codex, counts of tokens and contexts of turns are half of the bytes beside the outputs.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use model::{OpError, time};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use super::corpus::{Happened, MadeCorpus};
use super::make::SEED;

/// Lines of progress for each tool call of Claude Code.
const PROGRESS_LINES: usize = 6;
/// Characters of the result of a tool call. Claude Code writes it twice.
const RESULT_CHARS: usize = 2_200;
/// Characters of an output of Codex.
const OUTPUT_CHARS: usize = 3_000;
/// The corpus covers 90 days; transcripts are younger, so that no record is too old to keep.
const TIMES_FASTER: i64 = 6;

/// Writes transcripts of about `uses` tool calls: those of Claude Code below `.claude`, those of Codex below `.codex`,
/// compressed, both in the home directory. Returns their number, and their bytes when decompressed.
pub(crate) fn make(uses: usize) -> Result<Value, OpError> {
    let now = client::clock::now_ms();
    let mut claude: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut codex: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for mut happened in MadeCorpus::new(SEED, uses, now) {
        happened.at = now - (now - happened.at) / TIMES_FASTER;
        let session = text(&happened.payload, "session_id").to_owned();
        claude_lines(&happened, claude.entry(session).or_default())?;
        codex_lines(&happened, codex.entry(thread(&happened.payload)).or_default())?;
    }
    let home = home()?;
    let sizes = [&claude, &codex].map(|files| files.values().map(Vec::len).sum::<usize>());
    let files = claude.len() + codex.len();
    for (session, lines) in claude {
        put(&home.join(".claude/projects/-srv-bench"), &format!("{session}.jsonl"), &lines)?;
    }
    for (session, lines) in codex {
        let lines = compress_to_vec(lines.as_slice(), CompressionLevel::Fastest);
        let name = format!("rollout-2026-01-01T00-00-00-{session}.jsonl.zst");
        put(&home.join(".codex/sessions/2026/01/01"), &name, &lines)?;
    }
    Ok(json!({ "files": files, "claude-code": sizes[0], "codex": sizes[1] }))
}

/// Writes this many small transcripts of Claude Code, to be counted.
pub(crate) fn make_many(count: usize) -> Result<Value, OpError> {
    let folder = home()?.join(".claude/projects");
    for number in 0..count {
        let line = json!({ "type": "summary", "summary": format!("part {number}") });
        let folder = folder.join(format!("-srv-p{}", number % 100));
        put(
            &folder,
            &format!("{}.jsonl", super::corpus::name(number)),
            line.to_string().as_bytes(),
        )?;
    }
    Ok(json!({ "files": count }))
}

/// Reads each line of all transcripts in the home directory into a plain value, this many times. Returns the
/// least milliseconds for each agent.
pub(crate) fn parse(times: usize) -> Result<Value, OpError> {
    let mut figures = serde_json::Map::new();
    for (agent, folder) in [("claude-code", ".claude/projects"), ("codex", ".codex/sessions")] {
        let files = files_below(&home()?.join(folder)).map_err(|error| failed(&error))?;
        let mut best = f64::INFINITY;
        for _ in 0..times.max(1) {
            let started = Instant::now();
            for file in &files {
                parse_file(file).map_err(|error| failed(&error))?;
            }
            best = best.min(started.elapsed().as_secs_f64() * 1e3);
        }
        figures.insert(agent.to_owned(), json!(best));
    }
    Ok(Value::Object(figures))
}

fn parse_file(file: &Path) -> io::Result<()> {
    let opened = fs::File::open(file)?;
    let mut input: Box<dyn BufRead> = match file.extension().is_some_and(|ending| ending == "zst") {
        true => {
            let decoder = StreamingDecoder::new(opened).map_err(io::Error::other)?;
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
        }
        false => Box::new(BufReader::with_capacity(BUFFER_BYTES, opened)),
    };
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let value: Value = serde_json::from_slice(&line)?;
        std::hint::black_box(&value);
        line.clear();
    }
    Ok(())
}

/// Bytes that are read at once, as by the import.
const BUFFER_BYTES: usize = 256 * 1024;

fn claude_lines(happened: &Happened, out: &mut Vec<u8>) -> Result<(), OpError> {
    let of = &happened.payload;
    // Members in the order in which Claude Code writes them, because a reader may look for the kind of a line first.
    let line = |members: Value, kind: &str| {
        let mut line = json!({
            "parentUuid": "8749521e-0539-4f6c-b7bd-402e260a27fe", "isSidechain": false, "userType": "external",
            "cwd": of["cwd"], "sessionId": of["session_id"], "version": "2.1.39", "gitBranch": "main",
        });
        if kind != "assistant" {
            line["type"] = json!(kind);
        }
        if let (Some(line), Value::Object(members)) = (line.as_object_mut(), members) {
            line.extend(members);
        }
        line["type"] = json!(kind);
        line["uuid"] = json!(client::mint().to_string());
        line["timestamp"] = json!(time::rfc3339(happened.at));
        line
    };
    let said = |content: Value, stop: Value| {
        json!({ "message": {
            "model": "claude-opus-4-6", "id": client::mint().to_string(), "type": "message", "role": "assistant",
            "content": [content], "stop_reason": stop, "stop_sequence": null,
            "usage": { "input_tokens": 3, "cache_creation_input_tokens": 8_216, "cache_read_input_tokens": 17_842,
                "cache_creation": { "ephemeral_5m_input_tokens": 8_216, "ephemeral_1h_input_tokens": 0 },
                "output_tokens": 9, "service_tier": "standard", "inference_geo": "global" } },
            "requestId": "req_011CY4RR8t5DiSNcujeLfT74" })
    };
    match text(of, "hook_event_name") {
        "UserPromptSubmit" => write(
            out,
            &line(json!({ "message": { "role": "user", "content": of["prompt"] } }), "user"),
        ),
        "PostToolUse" | "PostToolUseFailure" => {
            let call = json!({ "type": "tool_use", "id": of["tool_use_id"], "name": of["tool_name"],
                "input": of["tool_input"], "caller": { "type": "direct" } });
            write(out, &line(said(call, Value::Null), "assistant"))?;
            for number in 0..PROGRESS_LINES {
                let data = json!({ "type": "bash_progress", "output": "compiling ".repeat(20),
                    "elapsedTimeSeconds": number, "totalLines": number * 10 });
                let progress = json!({ "data": data, "toolUseID": of["tool_use_id"],
                    "parentToolUseID": of["tool_use_id"] });
                write(out, &line(progress, "progress"))?;
            }
            let (result, response) = result(of);
            let block = json!({ "tool_use_id": of["tool_use_id"], "type": "tool_result", "content": result,
                "is_error": of.get("error").is_some() });
            write(
                out,
                &line(
                    json!({ "message": { "role": "user", "content": [block] }, "toolUseResult": response }),
                    "user",
                ),
            )
        }
        "Stop" => {
            let words = json!({ "type": "text", "text": "The change is in place and its tests pass. ".repeat(12) });
            write(out, &line(said(words, json!("end_turn")), "assistant"))
        }
        _ => Ok(()),
    }
}

/// The result of a call as the model gets it, and as Claude Code keeps it.
fn result(of: &Value) -> (String, Value) {
    if let Some(error) = of["error"].as_str() {
        return (error.to_owned(), json!(format!("Error: {error}")));
    }
    let mut response = of["tool_response"].clone();
    let shown = response["stdout"].as_str().map_or_else(|| response.to_string(), str::to_owned);
    let result = filled(&shown, RESULT_CHARS);
    match response.get("stdout") {
        Some(_) => response["stdout"] = json!(result),
        None => response["content"] = json!(result),
    }
    (result, response)
}

fn codex_lines(happened: &Happened, out: &mut Vec<u8>) -> Result<(), OpError> {
    let of = &happened.payload;
    let line = |kind: &str, payload: Value| json!({ "timestamp": time::rfc3339(happened.at), "type": kind, "payload": payload });
    match text(of, "hook_event_name") {
        "SessionStart" => {
            let meta = json!({ "id": thread(of), "timestamp": time::rfc3339(happened.at), "cwd": of["cwd"],
                "originator": "codex_cli_rs", "cli_version": "0.104.0", "source": "cli", "model_provider": "openai",
                "base_instructions": { "text": filled("You are a coding agent.", 13_000) } });
            write(out, &line("session_meta", meta))
        }
        "UserPromptSubmit" => {
            let turn = json!({ "type": "task_started", "turn_id": of["prompt_id"], "model_context_window": 258_400 });
            write(out, &line("event_msg", turn))?;
            let prompt = json!({ "type": "user_message", "message": of["prompt"], "images": [] });
            write(out, &line("event_msg", prompt))
        }
        "PostToolUse" | "PostToolUseFailure" => {
            let command = of["tool_input"]["command"].as_str().map_or_else(
                || format!("sed -n 1,40p {}", text(&of["tool_input"], "file_path")),
                str::to_owned,
            );
            let context = json!({ "turn_id": of["prompt_id"], "cwd": of["cwd"], "approval_policy": "on-request",
                "sandbox_policy": { "type": "workspace-write", "writable_roots": [of["cwd"]] },
                "model": "gpt-5.3-codex", "user_instructions": filled("Keep the tests green.", 500) });
            write(out, &line("turn_context", context))?;
            let arguments = json!({ "cmd": command, "workdir": of["cwd"] }).to_string();
            let call = json!({ "type": "function_call", "name": "exec_command", "arguments": arguments,
                "call_id": of["tool_use_id"] });
            write(out, &line("response_item", call))?;
            let (result, _) = result(of);
            let output = format!(
                "Process exited with code {}\nOutput:\n{}",
                i32::from(of.get("error").is_some()),
                filled(&result, OUTPUT_CHARS)
            );
            let output = json!({ "type": "function_call_output", "call_id": of["tool_use_id"], "output": output });
            write(out, &line("response_item", output))?;
            let count = json!({ "type": "token_count", "info": { "total_token_usage": { "input_tokens": 81_000,
                "cached_input_tokens": 72_000, "output_tokens": 900, "reasoning_output_tokens": 300 } },
                "rate_limits": { "limit_id": "codex", "primary": { "used_percent": 0.0, "window_minutes": 300,
                "resets_at": 1_771_864_831 }, "secondary": { "used_percent": 0.0, "window_minutes": 10_080 },
                "credits": { "has_credits": false, "unlimited": false, "balance": null }, "plan_type": null } });
            write(out, &line("event_msg", count.clone()))?;
            write(out, &line("event_msg", count))
        }
        "Stop" => {
            let end = json!({ "type": "task_complete", "turn_id": of["prompt_id"],
                "last_agent_message": "The change is in place and its tests pass. ".repeat(12) });
            write(out, &line("event_msg", end))
        }
        _ => Ok(()),
    }
}

/// The thread of Codex for a session: no other agent has its id.
fn thread(of: &Value) -> String {
    text(of, "session_id").replacen('0', "c", 1)
}

/// A text repeated, line by line, up to this many characters.
fn filled(text: &str, chars: usize) -> String {
    let mut filled = text.to_owned();
    while filled.len() < chars {
        filled.push('\n');
        filled.push_str(text.get(..200).unwrap_or(text));
        filled.push_str(&filled.len().to_string());
    }
    filled
}

fn text<'a>(of: &'a Value, member: &str) -> &'a str {
    of[member].as_str().unwrap_or_default()
}

fn write(out: &mut Vec<u8>, line: &Value) -> Result<(), OpError> {
    serde_json::to_writer(&mut *out, line).map_err(|error| OpError::internal(error.to_string()))?;
    out.push(b'\n');
    Ok(())
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), OpError> {
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::File::create(folder.join(name)))
        .and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| failed(&error))
}

fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => files.extend(files_below(&path)?),
            false => files.push(path),
        }
    }
    Ok(files)
}

fn home() -> Result<PathBuf, OpError> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    home.ok_or_else(|| OpError::unavailable("no HOME, below which transcripts are written"))
}

fn failed(error: &io::Error) -> OpError {
    OpError::unavailable(error.to_string())
}
