//! Text for people. An operation writes it from its typed parameters and result; the command line has both as
//! JSON, and the functions here read them once and pass them on.

use std::ops::Range;

use model::OpError;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::op::{Op, OpInfo, read_params};

/// An operation whose result has a text for people. Its `CliShape` names the functions of this module, for
/// example `pretty: Some(pretty::<Self>)`.
pub trait Pretty: Op<Output: DeserializeOwned> {
    /// The text in lines of at most `width` columns. Text that does not go to a terminal has no limit:
    /// `width` is `usize::MAX`.
    fn pretty(params: &Self::Params, output: &Self::Output, width: usize) -> String;

    /// The ranges of the text to highlight, in order.
    fn accent(_: &Self::Params, _: &Self::Output, _text: &str) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// Lines about the result, which people get on stderr: stdout has only the result itself.
    fn notes(_: &Self::Params, _: &Self::Output) -> Vec<String> {
        Vec::new()
    }

    /// Why a command line with these parameters is refused, at this time in milliseconds since 1970. Programs may
    /// send them.
    fn refusal(_: &Self::Params, _now_ms: i64) -> Option<OpError> {
        None
    }

    /// Why the result lacks what was asked for. The command then fails, although the operation succeeded.
    fn miss(_: &Self::Params, _: &Self::Output) -> Option<OpError> {
        None
    }
}

/// [`Pretty::pretty`] as [`PrettyText`](crate::op::PrettyText).
pub fn pretty<O: Pretty>(params: &Value, result: &Value, width: usize) -> Option<String> {
    typed(params, result, |params, output| O::pretty(params, output, width))
}

/// [`Pretty::accent`] as [`Accent`](crate::op::Accent).
pub fn accent<O: Pretty>(params: &Value, result: &Value, text: &str) -> Vec<Range<usize>> {
    let (params, output) = (read(params), read(result));
    let accent = |(params, output)| O::accent(&params, &output, text);
    params.zip(output).map(accent).unwrap_or_default()
}

/// [`Pretty::miss`] as [`Miss`](crate::op::Miss).
pub fn miss<O: Pretty>(params: &Value, result: &Value) -> Option<OpError> {
    typed(params, result, O::miss).flatten()
}

/// [`Pretty::notes`] as [`Notes`](crate::op::Notes).
pub fn notes<O: Pretty>(params: &Value, result: &Value) -> Vec<String> {
    typed(params, result, O::notes).unwrap_or_default()
}

/// [`Pretty::refusal`] as [`Refusal`](crate::op::Refusal).
pub fn refusal<O: Pretty>(params: &Value, now_ms: i64) -> Option<OpError> {
    O::refusal(&read(params)?, now_ms)
}

/// Calls the function with the parameters and the result, if they have its types.
pub fn typed<P: DeserializeOwned, R: DeserializeOwned, T>(
    params: &Value,
    result: &Value,
    f: impl Fn(&P, &R) -> T,
) -> Option<T> {
    Some(f(&read(params)?, &read(result)?))
}

/// An object of this type. It is read as an operation reads its parameters: `null` is an object without members.
fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    read_params(&OpInfo::BASE, value.clone()).ok()
}

#[cfg(test)]
mod tests {
    use model::Code;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;
    use crate::cx::Cx;
    use crate::op::OpInfo;

    #[derive(Deserialize)]
    struct NoteParams {
        #[serde(default)]
        loud: bool,
    }

    #[derive(Deserialize)]
    struct NoteOutput {
        text: String,
    }

    fn shown(params: &Value, result: &Value) -> Option<String> {
        typed(params, result, |params: &NoteParams, output: &NoteOutput| match params.loud {
            true => output.text.to_uppercase(),
            false => output.text.clone(),
        })
    }

    #[test]
    fn parameters_and_result_are_read_as_their_types() {
        let result = json!({ "text": "note", "added_later": 1 });
        assert_eq!(shown(&json!({ "loud": true }), &result).as_deref(), Some("NOTE"));
        assert_eq!(shown(&Value::Null, &result).as_deref(), Some("note"));
    }

    #[test]
    fn a_result_of_another_version_has_no_text() {
        for result in [json!({}), json!({ "text": 1 }), json!([]), json!("note")] {
            assert_eq!(shown(&json!({}), &result), None, "{result}");
        }
        assert_eq!(shown(&json!({ "loud": 1 }), &json!({ "text": "note" })), None);
    }

    #[derive(Deserialize, JsonSchema)]
    struct FindParams {
        word: String,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct FindOutput {
        text: String,
    }

    struct Find;

    impl Op for Find {
        const INFO: OpInfo = OpInfo { name: "find", ..OpInfo::BASE };
        type Params = FindParams;
        type Output = FindOutput;

        fn run(&self, _: &Cx<'_>, params: FindParams) -> Result<FindOutput, OpError> {
            Ok(FindOutput { text: params.word })
        }
    }

    impl Pretty for Find {
        fn pretty(params: &FindParams, output: &FindOutput, _: usize) -> String {
            format!("{} in {}", params.word, output.text)
        }

        fn accent(params: &FindParams, _: &FindOutput, text: &str) -> Vec<Range<usize>> {
            text.match_indices(&params.word).map(|(at, word)| at..at + word.len()).collect()
        }

        fn miss(params: &FindParams, output: &FindOutput) -> Option<OpError> {
            let is_there = output.text.contains(&params.word);
            (!is_there).then(|| OpError::not_found("no such word"))
        }
    }

    /// An operation that shows its result as it is.
    struct Show;

    impl Op for Show {
        const INFO: OpInfo = OpInfo { name: "show", ..OpInfo::BASE };
        type Params = FindParams;
        type Output = FindOutput;

        fn run(&self, cx: &Cx<'_>, params: FindParams) -> Result<FindOutput, OpError> {
            Find.run(cx, params)
        }
    }

    impl Pretty for Show {
        fn pretty(_: &FindParams, output: &FindOutput, _: usize) -> String {
            output.text.clone()
        }
    }

    #[test]
    fn an_operation_writes_its_text_highlights_it_and_says_what_it_misses() {
        let (params, result) = (json!({ "word": "ab" }), json!({ "text": "cab" }));
        let text = pretty::<Find>(&params, &result, usize::MAX).unwrap();
        assert_eq!(text, "ab in cab");
        assert_eq!(accent::<Find>(&params, &result, &text), [0..2, 7..9]);
        assert!(miss::<Find>(&params, &result).is_none());
        let error = miss::<Find>(&params, &json!({ "text": "c" })).unwrap();
        assert_eq!(error.code, Code::NotFound);
    }

    #[test]
    fn an_operation_with_a_text_alone_highlights_and_misses_nothing() {
        let (params, result) = (json!({ "word": "ab" }), json!({ "text": "cab" }));
        assert_eq!(pretty::<Show>(&params, &result, usize::MAX).as_deref(), Some("cab"));
        assert!(accent::<Show>(&params, &result, "cab").is_empty());
        assert!(miss::<Show>(&params, &result).is_none());
    }

    #[test]
    fn a_result_of_another_version_is_neither_highlighted_nor_a_miss() {
        let (params, result) = (json!({ "word": "ab" }), json!({ "lines": ["ab"] }));
        assert_eq!(pretty::<Find>(&params, &result, usize::MAX), None);
        assert!(accent::<Find>(&params, &result, "ab").is_empty());
        assert!(miss::<Find>(&params, &result).is_none());
    }
}
