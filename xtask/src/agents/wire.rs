//! The wire formats between agents and a model: parses requests, and renders a turn in each format.

use serde_json::{Value, json};

use super::script::{Dialogue, ModelTurn};

/// A form, recognised by the path of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiForm {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
    /// OpenAI chat completions.
    Chat,
    /// Gemini `generateContent`, as a stream.
    GeminiStream,
    /// Gemini `generateContent`, in one piece.
    Gemini,
}

/// The type and the text of an answer's body.
pub(crate) struct AnswerBody {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

/// Separates the name of a group of tools from that of a tool in `Responses`.
const IN_SPACE: char = '/';
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

impl ApiForm {
    pub(crate) fn of(path: &str) -> Option<ApiForm> {
        let path = path.split('?').next().unwrap_or_default();
        let forms = [
            ("/messages", ApiForm::Messages),
            ("/responses", ApiForm::Responses),
            ("/chat/completions", ApiForm::Chat),
            (":streamGenerateContent", ApiForm::GeminiStream),
            (":generateContent", ApiForm::Gemini),
        ];
        forms.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, wire)| wire)
    }

    pub(crate) fn read(self, request: &Value) -> Dialogue {
        match self {
            ApiForm::Messages => read_messages(request),
            ApiForm::Responses => read_responses(request),
            ApiForm::Chat => read_chat(request),
            ApiForm::GeminiStream | ApiForm::Gemini => read_gemini(request),
        }
    }

    /// The turn in this format; `number` distinguishes the calls of a run.
    pub(crate) fn write(self, request: &Value, turn: &ModelTurn, number: usize) -> AnswerBody {
        match self {
            ApiForm::Messages if request["stream"] == true => messages_stream(turn, number),
            ApiForm::Messages => AnswerBody { kind: JSON, text: message(turn, number).to_string() },
            ApiForm::Responses => responses(turn, number),
            ApiForm::Chat => chat(turn, number),
            ApiForm::GeminiStream => events(&[(None, gemini(turn))]),
            ApiForm::Gemini => AnswerBody { kind: JSON, text: gemini(turn).to_string() },
        }
    }
}

/// The members of a list.
fn each(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// All texts in a value, at any depth.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => members.values().map(texts).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

fn names<'a>(tools: impl Iterator<Item = &'a Value>) -> Vec<String> {
    tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// A body of server-sent events.
fn events(rows: &[(Option<&str>, Value)]) -> AnswerBody {
    let row = |(name, data): &(Option<&str>, Value)| {
        let name = name.map_or_else(String::new, |name| format!("event: {name}\n"));
        format!("{name}data: {data}\n\n")
    };
    AnswerBody { kind: EVENTS, text: rows.iter().map(row).collect() }
}

fn read_messages(request: &Value) -> Dialogue {
    let mut dialogue = Dialogue { tools: names(each(&request["tools"])), ..Dialogue::default() };
    for message in each(&request["messages"]).filter(|message| message["role"] != "assistant") {
        if let Some(text) = message["content"].as_str() {
            dialogue.said.push(text.to_owned());
        }
        for block in each(&message["content"]) {
            match block["type"].as_str() {
                Some("tool_result") => dialogue.results.push(texts(&block["content"])),
                _ => dialogue.said.push(texts(&block["text"])),
            }
        }
    }
    dialogue
}

/// The message in one piece.
fn message(turn: &ModelTurn, number: usize) -> Value {
    let (block, reason) = match turn {
        ModelTurn::Say(text) => (json!({ "type": "text", "text": text }), "end_turn"),
        ModelTurn::Call { tool, arguments } => {
            let id = format!("toolu_{number:024}");
            (json!({ "type": "tool_use", "id": id, "name": tool, "input": arguments }), "tool_use")
        }
    };
    json!({
        "id": format!("msg_{number:024}"), "type": "message", "role": "assistant",
        "model": "scripted", "content": [block], "stop_reason": reason, "stop_sequence": null,
        "usage": { "input_tokens": 10, "output_tokens": 10 },
    })
}

fn messages_stream(turn: &ModelTurn, number: usize) -> AnswerBody {
    let mut start = message(turn, number);
    let reason = start["stop_reason"].take();
    let mut block = start["content"][0].take();
    start["content"] = json!([]);
    let delta = match turn {
        ModelTurn::Say(text) => {
            block["text"] = "".into();
            json!({ "type": "text_delta", "text": text })
        }
        ModelTurn::Call { arguments, .. } => {
            block["input"] = json!({});
            json!({ "type": "input_json_delta", "partial_json": arguments.to_string() })
        }
    };
    let end = json!({ "stop_reason": reason, "stop_sequence": null });
    let event = |name: &'static str, mut data: Value| {
        data["type"] = name.into();
        (Some(name), data)
    };
    events(&[
        event("message_start", json!({ "message": start })),
        event("content_block_start", json!({ "index": 0, "content_block": block })),
        event("content_block_delta", json!({ "index": 0, "delta": delta })),
        event("content_block_stop", json!({ "index": 0 })),
        event("message_delta", json!({ "delta": end, "usage": { "output_tokens": 10 } })),
        event("message_stop", json!({})),
    ])
}

fn read_responses(request: &Value) -> Dialogue {
    let mut tools = names(each(&request["tools"]));
    for space in each(&request["tools"]).filter(|tool| tool["type"] == "namespace") {
        let prefix = space["name"].as_str().unwrap_or_default();
        let inner = names(each(&space["tools"]));
        tools.extend(inner.iter().map(|name| format!("{prefix}{IN_SPACE}{name}")));
    }
    let mut dialogue = Dialogue { tools, ..Dialogue::default() };
    for item in each(&request["input"]) {
        if item["type"] == "function_call_output" || item["type"] == "custom_tool_call_output" {
            dialogue.results.push(texts(&item["output"]));
        } else if item["role"] != "assistant" && item["content"].is_array() {
            dialogue.said.extend(each(&item["content"]).map(|part| texts(&part["text"])));
        }
    }
    dialogue
}

fn responses(turn: &ModelTurn, number: usize) -> AnswerBody {
    let id = format!("resp_{number:024}");
    let item = match turn {
        ModelTurn::Say(text) => json!({
            "type": "message", "role": "assistant", "id": format!("msg_{number:024}"),
            "content": [{ "type": "output_text", "text": text }],
        }),
        ModelTurn::Call { tool, arguments: Value::String(input) } => json!({
            "type": "custom_tool_call", "name": tool, "input": input,
            "call_id": format!("call_{number:024}"),
        }),
        ModelTurn::Call { tool, arguments } => {
            let (space, name) = match tool.split_once(IN_SPACE) {
                Some((space, name)) => (Some(space), name),
                None => (None, tool.as_str()),
            };
            json!({
                "type": "function_call", "namespace": space, "name": name,
                "arguments": arguments.to_string(), "call_id": format!("call_{number:024}"),
            })
        }
    };
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": null, "output_tokens": 10,
        "output_tokens_details": null, "total_tokens": 20,
    });
    let event = |name: &'static str, mut data: Value| {
        data["type"] = name.into();
        (Some(name), data)
    };
    events(&[
        event("response.created", json!({ "response": { "id": id } })),
        event("response.output_item.done", json!({ "output_index": 0, "item": item })),
        event("response.completed", json!({ "response": { "id": id, "usage": usage } })),
    ])
}

fn read_chat(request: &Value) -> Dialogue {
    let tools = each(&request["tools"]).map(|tool| &tool["function"]);
    let mut dialogue = Dialogue { tools: names(tools), ..Dialogue::default() };
    for message in each(&request["messages"]) {
        match message["role"].as_str() {
            Some("assistant") => {}
            Some("tool") => dialogue.results.push(texts(&message["content"])),
            _ => dialogue.said.push(texts(&message["content"])),
        }
    }
    dialogue
}

fn chat(turn: &ModelTurn, number: usize) -> AnswerBody {
    let (delta, reason) = match turn {
        ModelTurn::Say(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        ModelTurn::Call { tool, arguments } => {
            let function = json!({ "name": tool, "arguments": arguments.to_string() });
            let id = format!("call_{number:024}");
            let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
            (json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
        }
    };
    let chunk = |delta: Value, reason: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        let usage = json!({ "prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20 });
        let data = json!({
            "id": format!("chat_{number:024}"), "object": "chat.completion.chunk", "created": 0,
            "model": "scripted", "choices": [choice], "usage": usage,
        });
        (None, data)
    };
    let mut body = events(&[chunk(delta, None), chunk(json!({}), Some(reason))]);
    body.text.push_str("data: [DONE]\n\n");
    body
}

fn read_gemini(request: &Value) -> Dialogue {
    let tools = each(&request["tools"]).flat_map(|tool| each(&tool["functionDeclarations"]));
    let mut dialogue = Dialogue { tools: names(tools), ..Dialogue::default() };
    for content in each(&request["contents"]).filter(|content| content["role"] != "model") {
        for part in each(&content["parts"]) {
            if part["functionResponse"].is_object() {
                dialogue.results.push(texts(&part["functionResponse"]["response"]));
            } else {
                dialogue.said.push(texts(&part["text"]));
            }
        }
    }
    dialogue
}

fn gemini(turn: &ModelTurn) -> Value {
    let part = match turn {
        ModelTurn::Say(text) => json!({ "text": text }),
        ModelTurn::Call { tool, arguments } => {
            json!({ "functionCall": { "name": tool, "args": arguments } })
        }
    };
    let usage =
        json!({ "promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20 });
    json!({
        "candidates": [{
            "index": 0, "content": { "role": "model", "parts": [part] }, "finishReason": "STOP",
        }],
        "usageMetadata": usage, "modelVersion": "scripted",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversation in each form: a text, a result of a tool, and a tool that is offered.
    fn requests() -> Vec<(&'static str, Value)> {
        vec![
            (
                "/v1/messages?beta=true",
                json!({
                    "stream": true, "tools": [{ "name": "t" }],
                    "messages": [
                        { "role": "user", "content": "hello" },
                        { "role": "assistant", "content": [{ "type": "tool_use", "input": {} }] },
                        { "role": "user", "content": [
                            { "type": "tool_result", "content": [{ "type": "text", "text": "done" }] },
                        ] },
                    ],
                }),
            ),
            (
                "/v1/responses",
                json!({
                    "tools": [{ "type": "function", "name": "t" }],
                    "input": [
                        { "role": "user", "content": [{ "type": "input_text", "text": "hello" }] },
                        { "type": "function_call", "arguments": "{}" },
                        { "type": "function_call_output", "output": "done" },
                    ],
                }),
            ),
            (
                "/v1/chat/completions",
                json!({
                    "tools": [{ "type": "function", "function": { "name": "t" } }],
                    "messages": [
                        { "role": "user", "content": "hello" },
                        { "role": "assistant", "tool_calls": [] },
                        { "role": "tool", "content": "done" },
                    ],
                }),
            ),
            (
                "/v1beta/models/m:streamGenerateContent?alt=sse",
                json!({
                    "tools": [{ "functionDeclarations": [{ "name": "t" }] }],
                    "contents": [
                        { "role": "user", "parts": [{ "text": "hello" }] },
                        { "role": "model", "parts": [{ "functionCall": {} }] },
                        { "role": "user", "parts": [
                            { "functionResponse": { "response": { "output": "done" } } },
                        ] },
                    ],
                }),
            ),
        ]
    }

    #[test]
    fn every_form_tells_what_was_said_answered_and_offered() {
        for (path, request) in requests() {
            let dialogue = ApiForm::of(path).expect("a known path").read(&request);
            assert!(dialogue.said.iter().any(|said| said == "hello"), "{path}: {dialogue:?}");
            let [result] = dialogue.results.as_slice() else { panic!("{path}: {dialogue:?}") };
            assert!(result.contains("done"), "{path}: {result}");
            assert_eq!(dialogue.tools, ["t"], "{path}");
        }
        assert_eq!(ApiForm::of("/v1/models"), None);
    }

    #[test]
    fn every_form_carries_a_call_and_a_sentence() {
        let call = ModelTurn::Call { tool: "t".into(), arguments: json!({ "a": "b c" }) };
        for (path, request) in requests() {
            let wire = ApiForm::of(path).expect("a known path");
            let body = wire.write(&request, &call, 7);
            assert!(body.text.contains("b c") && body.kind == EVENTS, "{path}: {}", body.text);
            let body = wire.write(&request, &ModelTurn::Say("All is well.".into()), 8);
            assert!(body.text.contains("All is well."), "{path}: {}", body.text);
        }
    }

    #[test]
    fn a_tool_without_parameters_is_called_with_a_text_and_its_result_is_read() {
        let request = json!({
            "tools": [{ "type": "custom", "name": "p" }],
            "input": [{ "type": "custom_tool_call_output", "output": "done" }],
        });
        let dialogue = ApiForm::Responses.read(&request);
        assert_eq!((dialogue.tools, dialogue.results), (vec!["p".into()], vec!["done".into()]));
        let call = ModelTurn::Call { tool: "p".into(), arguments: "a patch".into() };
        let text = ApiForm::Responses.write(&request, &call, 1).text;
        assert!(
            text.contains("custom_tool_call") && text.contains(r#""input":"a patch""#),
            "{text}"
        );
    }

    #[test]
    fn a_tool_of_a_group_is_called_by_both_names() {
        let tools = json!([{ "type": "namespace", "name": "g", "tools": [{ "name": "t" }] }]);
        let request = json!({ "tools": tools, "input": [] });
        assert_eq!(ApiForm::Responses.read(&request).tools, ["g", "g/t"]);
        let call = ModelTurn::Call { tool: "g/t".into(), arguments: json!({}) };
        let text = ApiForm::Responses.write(&request, &call, 1).text;
        assert!(text.contains(r#""namespace":"g""#) && text.contains(r#""name":"t""#), "{text}");
    }
}
