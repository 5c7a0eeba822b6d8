//! Large events are shortened to valid JSON of bounded size that keeps the members we read.

use serde_json::{Value, json};

use super::*;
use crate::digest::sha256;

/// Shortens the event, fed in pieces of this size.
fn short_by(event: &str, piece: usize) -> Option<Value> {
    let mut shortener = Shortener::default();
    event.as_bytes().chunks(piece).for_each(|piece| shortener.feed(piece));
    let text = shortener.finish()?;
    assert!(text.len() <= 2 * limits::EVENT_SHORT_BYTES + 2 * limits::EVENT_TEXT_BYTES_MAX);
    Some(serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{error}: {event:.200}")))
}

fn short(event: &str) -> Value {
    short_by(event, usize::MAX).unwrap()
}

#[test]
fn an_event_within_the_bounds_is_unchanged_for_any_chunk_size() {
    let event = r#" { "a" : [ ] , "b":{},"c":[1,-2.5e3,true,null,"x\"y\\","\ud83d\ude00é"],"d\n":{"e":[[{"f":""}]]} } "#;
    let value: Value = serde_json::from_str(event).unwrap();
    for piece in [1, 2, 3, 7, event.len()] {
        assert_eq!(short_by(event, piece), Some(value.clone()), "{piece}");
    }
}

#[test]
fn only_a_single_json_object_is_accepted() {
    let table = [
        "",
        " ",
        "[]",
        "1",
        "\"x\"",
        "{",
        "{]",
        "[}",
        "{\"a\":[}",
        "{\"a\"}",
        "{\"a\":1}x",
        "{,}",
        "{\"a\" 1}",
        "{\"a\":1]",
        "{a:1}",
        "{\"a\":1}{}",
        "{\"a\":]",
        "{\"a\":}",
        "{\"a\":[1,]}",
        "{\"a\":1,}",
        "{\"a\":x}",
    ];
    for text in table {
        assert_eq!(short_by(text, 1), None, "{text:?}");
    }
}

#[test]
fn a_long_text_becomes_its_decoded_length_digest_head_and_tail() {
    let plain = "zeile \"eins\"\n\t\\ ü 😀 ".repeat(9_000);
    let escaped = serde_json::to_string(&plain)
        .unwrap()
        .replace('ü', "\\u00fc")
        .replace('😀', "\\ud83d\\ude00");
    let event = format!("{{\"session_id\":\"s\",\"text\":{escaped},\"end\":1}}");
    for piece in [13, 64 * 1024, event.len()] {
        let text = short_by(&event, piece).unwrap();
        let long = &text["text"];
        assert_eq!(long["bytes"], plain.len());
        assert_eq!(long["sha256"], sha256(plain.as_bytes()));
        let (head, tail) = (long["head"].as_str().unwrap(), long["tail"].as_str().unwrap());
        assert!(plain.starts_with(head) && head.len() > 4_090 && head.len() <= 4_096);
        assert!(plain.ends_with(tail) && tail.len() > 4_090 && tail.len() <= 4_096);
        assert_eq!((&text["session_id"], &text["end"]), (&json!("s"), &json!(1)));
    }
    let lone = format!("{{\"a\":\"{}\\ud800\"}}", "x".repeat(70_000));
    assert!(short(&lone)["a"]["tail"].as_str().unwrap().ends_with("x\u{fffd}"));
}

#[test]
fn without_time_a_long_text_has_no_digest() {
    let mut shortener = Shortener::default();
    let event = format!("{{\"a\":\"{}\"}}", "x".repeat(200_000));
    let (first, second) = event.split_at(100_000);
    shortener.feed(first.as_bytes());
    shortener.hurry();
    shortener.feed(second.as_bytes());
    let text: Value = serde_json::from_slice(&shortener.finish().unwrap()).unwrap();
    assert_eq!((&text["a"]["sha256"], &text["a"]["bytes"]), (&json!(""), &json!(200_000)));
}

#[test]
fn large_containers_keep_their_beginning_and_count_the_rest() {
    let members: Vec<String> = (0..50_000).map(|n| format!("\"k{n}\":{n}")).collect();
    let items = "{\"a\":[0]},".repeat(30_000);
    let event = format!("{{\"list\":[{items}0],\"object\":{{{}}},\"end\":1}}", members.join(","));
    let text = short(&event);
    let list = text["list"].as_array().unwrap();
    assert_eq!((list.len(), &list[1_000]), (1_001, &json!({ "omitted": 29_001 })));
    let object = text["object"].as_object().unwrap();
    assert_eq!(
        (object.len(), &object["omitted"], &object["k999"]),
        (1_001, &json!(49_000), &json!(999))
    );
    assert_eq!(text["end"], 1);
}

#[test]
fn members_that_extraction_reads_are_kept_after_any_number_of_others() {
    let texts = format!("\"{}\",", "x".repeat(60_000)).repeat(100);
    let unknown: String = (0..5_000).map(|n| format!("\"k{n}\":[{}],", n % 7)).collect();
    let event = format!(
        "{{\"tool_response\":{{\"list\":[{texts}0],{unknown}\"exit_code\":3}},{unknown}\"big\":[{texts}0],\
         \"tool_input\":{{\"edits\":[{texts}0],{unknown}\"command\":\"make\"}},\"prompt\":\"hello\",\
         \"tool_name\":\"Bash\",\"cwd\":\"/srv\",\"session_id\":\"s-1\"}}"
    );
    let text = short(&event);
    assert_eq!(text["tool_response"]["exit_code"], 3);
    assert_eq!(text["tool_input"]["command"], "make");
    for (name, value) in
        [("prompt", "hello"), ("tool_name", "Bash"), ("cwd", "/srv"), ("session_id", "s-1")]
    {
        assert_eq!(text[name], value);
    }
}

#[test]
fn deep_nesting_is_omitted_and_marked() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let inner = format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
        let event = format!("{{\"a\":{inner},\"session_id\":\"s-1\"}}");
        let mut shortener = Shortener::default();
        shortener.feed(event.as_bytes());
        assert!(shortener.is_deep());
        let text: Value = serde_json::from_slice(&shortener.finish().unwrap()).unwrap();
        assert_eq!(text["session_id"], "s-1");
    }
}

#[test]
fn overlong_names_and_numbers_are_omitted() {
    let long = "1".repeat(100_000);
    let event = format!("{{\"{long}\":1,\"a\":{long},\"b\":2}}");
    assert_eq!(short(&event), json!({ "a": null, "b": 2, "omitted": 1 }));
}

#[test]
fn a_truncated_event_becomes_valid_json() {
    let event = format!(
        "{{\"session_id\":\"s-1\",\"list\":[1,{{\"a\":true}}],\"long\":\"{}\",\"x\":{{\"y\":[\"z\"]}}}}",
        "x".repeat(70_000)
    );
    for end in (1..150).chain(65_000..70_000).step_by(400).chain(event.len() - 20..event.len()) {
        let mut shortener = Shortener::default();
        shortener.feed(&event.as_bytes()[..end]);
        let text = shortener.finish_cut().unwrap();
        let value: Value = serde_json::from_slice(&text)
            .unwrap_or_else(|error| panic!("{end}: {error} {}", String::from_utf8_lossy(&text)));
        assert_eq!(value.get("session_id").is_some(), end > 19, "{end}");
    }
    let mut bad = Shortener::default();
    bad.feed(b"{\"a\":]");
    assert_eq!(bad.finish_cut(), None);
}

/// @capture_private
#[test]
fn the_tail_of_a_text_with_a_private_part_is_not_kept_wherever_the_part_begins() {
    let text = |at: usize, tag: &str| {
        let (before, behind) = ("x".repeat(at), "y".repeat(2 * limits::EVENT_TEXT_BYTES_MAX));
        short_by(&format!("{{\"answer\":\"{before}{tag}{behind} end\"}}"), 1_000).unwrap()
    };
    // Bytes are buffered by 16 KiB, and a tag may begin at any of them.
    for at in (16 * 1024 - 10..16 * 1024 + 2).chain([0, 90_000]) {
        for tag in ["<private>", "<Private a='b'>", r"\u003cprivate>"] {
            assert_eq!(text(at, tag)["answer"]["tail"], "", "{at} {tag}");
        }
        let tail = text(at, "<privat> private> </private>")["answer"]["tail"].clone();
        assert!(tail.as_str().unwrap().ends_with("y end"), "{at}: {tail}");
    }
}
