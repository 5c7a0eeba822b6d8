//! A command whose result is a list, under the full name and under one with another output.

use model::{Caller, Code, Reply, Request, Road};
use serde_json::json;

use super::*;
use crate::{ParamDefault, ResultForm, Saying, command, run_op};
use contract::Listed;

struct Find;
struct Fetch;
struct CountItems;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only the schema matters here")]
struct FindParams {
    /// Words to search.
    query: String,
    /// Where to search; here if omitted.
    place: Option<String>,
}

impl Op for Find {
    const INFO: OpInfo = OpInfo {
        name: "find_notes",
        toolset: "notes",
        cli: CliShape {
            path: &["find"],
            positional: &["query"],
            rest: true,
            pretty: Some(|params, _, _| Some(format!("found {}\u{7}", params["query"]))),
            accent: Some(|_, _, text| {
                text.find("found").map(|at| at..at + 5).into_iter().collect()
            }),
            listed: Some(Listed {
                member: "notes",
                id: "key",
                asked: Some("query"),
                whole: Some((&Fetch::INFO, 2)),
            }),
            ..CliShape::CALL_ONLY
        },
        ..OpInfo::BASE
    };
    type Params = FindParams;
    type Output = NoteReply;

    fn run(&self, _: &Cx<'_>, _: FindParams) -> Result<NoteReply, OpError> {
        never()
    }
}

impl Op for Fetch {
    const INFO: OpInfo = OpInfo {
        name: "fetch_notes",
        toolset: "notes",
        cli: CliShape {
            path: &["fetch"],
            pretty: Some(|params, result, _| {
                Some(format!("it is {}, without {}", result["notes"][0]["text"], params["ids"]))
            }),
            ..CliShape::CALL_ONLY
        },
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = NoteReply;

    fn run(&self, _: &Cx<'_>, _: NoParams) -> Result<NoteReply, OpError> {
        never()
    }
}

impl Op for CountItems {
    const INFO: OpInfo = OpInfo {
        name: "count_notes",
        toolset: "system",
        cli: CliShape {
            path: &["note", "count"],
            pretty: Some(|_, _, _| Some("two\nlines".into())),
            ..CliShape::CALL_ONLY
        },
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = NoteReply;

    fn run(&self, _: &Cx<'_>, _: NoParams) -> Result<NoteReply, OpError> {
        never()
    }
}

impl Plugin for Find {
    fn name(&self) -> &'static str {
        "find"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![Operation::new(Find), Operation::new(Fetch), Operation::new(CountItems)]
    }
}

/// A name with variants of the commands.
const SEEK: ProgramName = ProgramName {
    word: "seek",
    about: "Notes, found",
    group: None,
    own: &["serve"],
    sayings: &[
        Saying {
            word: "for",
            command: &["find"],
            defaults: &[ParamDefault { param: "place", json: "\"*\"", doc: "Where to look" }],
            nothing: Some(r#"{"notes":[]}"#),
            goes: ResultForm::AsList { members: &["key"], full: &["text"] },
            ..Saying::SAME
        },
        Saying {
            word: "status",
            command: &["note", "count"],
            goes: ResultForm::ToStderr,
            ..Saying::SAME
        },
        Saying {
            word: "fetch",
            command: &["fetch"],
            pretty: Some(|_, result, _| Some(result["notes"][0]["key"].to_string())),
            ..Saying::SAME
        },
    ],
    prefix: "seek: ",
};

fn table() -> Table {
    Table::new(&[Arc::new(Find)])
}

/// A transport that has three notes, and returns two whole ones at a time.
struct Notes;

impl Road for Notes {
    fn call(&self, request: Request) -> Reply {
        let keys = ["a", "b", "c"];
        match request.op.as_str() {
            "find_notes" if request.params["place"] == "nowhere" => {
                Err(OpError::new(Code::NotFound, "no such place"))
            }
            "fetch_notes" => {
                let ids = request.params["ids"].as_array().cloned().unwrap_or(vec![json!("a")]);
                assert!(ids.len() <= 2, "{ids:?}");
                // One of them was deleted meanwhile.
                let whole = ids.iter().filter(|id| **id != "b");
                let whole = whole.map(|id| json!({ "key": id, "text": "whole" }));
                Ok(json!({ "notes": whole.collect::<Vec<_>>() }))
            }
            _ => Ok(json!({ "notes": keys.map(|key| json!({ "score": 1, "key": key })) })),
        }
    }
}

/// The exit code, stdout and stderr of a line.
fn said(name: &'static ProgramName, args: &[&str], terminal: bool) -> (u8, String, String) {
    let (mut output, out, err) = kept_as(name, terminal);
    let argv = std::iter::once(name.word).chain(args.iter().copied()).map(OsString::from);
    let mut stdin = &b""[..];
    let exit = match parse(&table(), extra(), argv.collect(), &mut output, &mut stdin).picked {
        Selection::Op(call) => run_op(&mut output, &Notes, Caller::default(), call),
        Selection::Own(own) => panic!("{own:?}"),
        Selection::Done(exit) => exit,
    };
    (exit, out.text(), err.text())
}

#[test]
fn remaining_words_are_one_parameter_even_between_flags() {
    let full = |args: &[&str]| said(&ProgramName::FULL, args, false);
    let expected = (0, "found \"a b c\"␇\n".to_owned(), "3 results for \"a b c\"\n".to_owned());
    for args in [
        &["find", "a", "b", "c"][..],
        &["find", "a b", "c"],
        &["find", "a", "--place", "x", "b", "c"],
        &["find", "--place", "x", "--", "a", "b", "c"],
    ] {
        assert_eq!(full(args), expected, "{args:?}");
    }
    assert_eq!(full(&["find"]).0, 2);
}

#[test]
fn a_list_is_printed_as_ids_whole_or_as_it_is() {
    let full = |args: &[&str]| said(&ProgramName::FULL, args, false);
    let results = "3 results for \"x\"\n".to_owned();
    assert_eq!(full(&["find", "x", "--ids"]), (0, "a\nb\nc\n".to_owned(), results.clone()));
    assert_eq!(full(&["find", "x", "--ids", "--full"]), full(&["find", "x", "--ids"]));
    assert_eq!(
        full(&["find", "x", "--full"]),
        (0, "it is \"whole\", without [\"b\"]\n".to_owned(), results)
    );
    let (exit, out, err) = full(&["find", "x", "--full", "--ids", "--json"]);
    assert_eq!((exit, err.as_str()), (0, ""));
    let whole = json!({ "notes": [
        { "score": 1, "key": "a", "text": "whole" }, { "score": 1, "key": "b" },
        { "score": 1, "key": "c", "text": "whole" } ] });
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), whole);
}

/// A daemon of another version may send it.
#[test]
fn a_result_that_cannot_be_read_is_printed_as_it_is_without_credentials() {
    let (mut output, out, _) = kept_as(&ProgramName::FULL, false);
    let key = ["AKIA", "Q3EGRXMPLE2LN7XL"].concat();
    let road = FixedResult(json!({ "text": 7, "key": key }));
    let mut stdin = &b""[..];
    let argv = ["rekindle", "typed"].map(OsString::from).to_vec();
    let table = Table::new(&[Arc::new(TypedNotes)]);
    let Selection::Op(call) = parse(&table, extra(), argv, &mut output, &mut stdin).picked else {
        panic!("no operation")
    };
    assert_eq!(run_op(&mut output, &road, Caller::default(), call), 0);
    let out = out.text();
    assert!(out.contains("text: 7") && !out.contains(&key), "{out}");
}

/// A transport with one reply.
struct FixedResult(Value);

impl Road for FixedResult {
    fn call(&self, _: Request) -> Reply {
        Ok(self.0.clone())
    }
}

struct TypedNotes;

#[derive(Serialize, Deserialize, JsonSchema)]
struct TypedAnswer {
    text: String,
}

impl Op for TypedNotes {
    const INFO: OpInfo = OpInfo {
        name: "typed_note",
        toolset: "notes",
        cli: CliShape {
            path: &["typed"],
            pretty: Some(contract::pretty::pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        ..OpInfo::BASE
    };
    type Params = NoParams;
    type Output = TypedAnswer;

    fn run(&self, _: &Cx<'_>, _: NoParams) -> Result<TypedAnswer, OpError> {
        Err(OpError::internal("the command line runs no handler"))
    }
}

impl contract::Pretty for TypedNotes {
    fn pretty(_: &NoParams, output: &TypedAnswer, _: usize) -> String {
        output.text.clone()
    }
}

impl Plugin for TypedNotes {
    fn name(&self) -> &'static str {
        "typed"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![Operation::new(TypedNotes)]
    }
}

#[test]
fn important_text_is_highlighted_on_a_terminal() {
    let (_, out, _) = said(&ProgramName::FULL, &["find", "x"], true);
    assert_eq!(out, "\u{1b}[1mfound\u{1b}[0m \"x\"␇\n");
}

#[test]
fn a_name_can_change_the_words_and_output_of_a_command() {
    let seek = |args: &[&str]| said(&SEEK, args, false);
    let list = "[{\"key\":\"a\"},{\"key\":\"b\"},{\"key\":\"c\"}]\n".to_owned();
    assert_eq!(seek(&["for", "x"]), (0, list, "seek: 3 results for \"x\"\n".to_owned()));
    let whole =
        "[{\"key\":\"a\",\"text\":\"whole\"},{\"key\":\"b\"},{\"key\":\"c\",\"text\":\"whole\"}]\n";
    assert_eq!(seek(&["for", "x", "--full"]).1, whole);
    let nothing = "seek: no such place\nseek: 0 results for \"x\"\n".to_owned();
    assert_eq!(seek(&["for", "x", "--place", "nowhere"]), (0, "[]\n".to_owned(), nothing));
    // Programs that ask for the result itself get the error as well.
    assert_eq!(seek(&["for", "x", "--place", "nowhere", "--json"]).0, 1);
    assert_eq!(seek(&["status"]), (0, String::new(), "seek: two\nseek: lines\n".to_owned()));
    assert_eq!(seek(&["fetch"]), (0, "\"a\"\n".to_owned(), String::new()));
    assert_eq!(seek(&["find", "x"]).0, 2);
    assert_eq!(seek(&["note", "count"]).0, 2);
}

#[test]
fn flags_override_the_defaults_of_a_name() {
    for (args, place) in [(&["for", "x"][..], "*"), (&["for", "x", "--place", "y"], "y")] {
        let (mut output, ..) = kept_as(&SEEK, false);
        let argv = std::iter::once("seek").chain(args.iter().copied()).map(OsString::from);
        let mut stdin = &b""[..];
        let parsed = parse(&table(), extra(), argv.collect(), &mut output, &mut stdin);
        let Selection::Op(call) = parsed.picked else { panic!("{args:?}") };
        assert_eq!(call.params, json!({ "query": "x", "place": place }), "{args:?}");
    }
}

#[test]
fn the_tree_and_texts_of_a_name_use_its_own_commands() {
    let tree = command(&table(), extra(), &SEEK);
    tree.clone().debug_assert();
    let names: Vec<&str> = tree.get_subcommands().map(Command::get_name).collect();
    assert_eq!(names, ["for", "status", "fetch", "serve", "completions"]);
    let help = tree.find_subcommand("for").unwrap().clone().render_long_help().to_string();
    assert!(help.contains("Where to look\n") && !help.contains("here if omitted"), "{help}");
    let (mut output, _, err) = kept_as(&SEEK, false);
    output.note("`rekindle find` and `rekindle note count x`, not `rekindle status`");
    assert_eq!(err.text(), "seek: `seek for` and `seek status x`, not `rekindle status`\n");
    command(&table(), extra(), &ProgramName::FULL).debug_assert();
}
