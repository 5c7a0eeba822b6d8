//! `query_hints`: the best facts that apply here, by component, keys, tags or a regex.

use std::sync::Arc;

use contract::listing::{Unlisted, list_notes};
use contract::pretty::{notes, pretty};
use contract::{CliShape, Count, Cx, Example, Op, OpInfo, Pretty};
use model::hint::{Hint, value_text};
use model::situation::Situation;
use model::{OpError, limits};
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flags;
use crate::gate::HintSituation;
use crate::held::{BestHints, Held, MatchExplain, RankedHint};
use crate::memory::{Index, Memory};
use crate::show;

pub(crate) struct QueryHints {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryHintsParams {
    /// Only of this component.
    #[serde(default)]
    component: Option<String>,
    /// Any of these keys.
    #[serde(default)]
    keys: Vec<String>,
    /// Any of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Matches a value or key.
    #[serde(default)]
    regex: Option<String>,
    /// Your situation, if it is not this one.
    #[serde(default, deserialize_with = "model::object::optional")]
    context: Option<Situation>,
    /// From 1 to 1,000.
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    limits::HINT_QUERY_DEFAULT
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct QueryHintsOutput {
    /// The best one first.
    hints: Vec<FoundHint>,
    /// Hints that match too and that the limit left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A hint that was found.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct FoundHint {
    component: String,
    key: String,
    hint: Hint,
    /// From 0 to 1.
    score: f64,
    match_explain: MatchExplain,
}

impl Op for QueryHints {
    const INFO: OpInfo = OpInfo {
        name: "query_hints",
        summary: "Search facts by component, keys, tags or a regex",
        doc: "Call it if a command failed or you do not know the key. All filters must match.",
        toolset: "hints",
        brief: None,
        core: true,
        advanced: &["context", "limit"],
        aliases: &["nudge.query_hints", "nudge_query_hints", "nudge.query", "nudge_query"],
        cli: CliShape {
            path: &["hint", "query"],
            flatten: &[flags::CONTEXT],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            starts_daemon: true,
            ..CliShape::CALL_ONLY
        },
        examples: &[Example {
            title: "What is known about building the proxy?",
            before: &[(
                "set_hint",
                r#"{"component":"http-proxy","key":"build","value":"docker compose build router","meta":{"tags":["build"],"priority":8}}"#,
            )],
            params: r#"{"component":"http-proxy","tags":["build"],"regex":"dock.*build","limit":3}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = QueryHintsParams;
    type Output = QueryHintsOutput;

    fn run(&self, cx: &Cx<'_>, params: QueryHintsParams) -> Result<QueryHintsOutput, OpError> {
        if params.limit < 1 {
            let message = format!("the limit is not from 1 to {}", limits::HINT_QUERY_MAX);
            return Err(OpError::invalid("limit", message).with("max", limits::HINT_QUERY_MAX));
        }
        let limit = params.limit.min(limits::HINT_QUERY_MAX);
        let regex = params.regex.as_deref().map(compile).transpose()?;
        let place = HintSituation::new(params.context.as_ref(), &cx.caller.situation)?;
        let index = self.memory.read();
        let mut found = BestHints::new(limit);
        params.find(&index, regex.as_ref(), &place, cx.now, &mut found);
        let left_out = found.left_out();
        let hints = found.into_sorted().into_iter().map(|ranked| FoundHint {
            component: ranked.held.stored.name.component.clone(),
            key: ranked.held.stored.name.key.clone(),
            hint: ranked.held.shown(),
            score: ranked.score,
            match_explain: ranked.held.explain(&place, ranked.score, cx.now),
        });
        Ok(QueryHintsOutput { hints: hints.collect(), left_out })
    }
}

impl QueryHintsParams {
    /// Searches the narrowest index: that of a key, a component, a tag, or all hints.
    fn find<'i>(
        &self,
        index: &'i Index,
        regex: Option<&Regex>,
        place: &HintSituation<'_>,
        now: i64,
        found: &mut BestHints<'i>,
    ) {
        if self.is_by_tag() {
            return index.with_tags(&self.tags, place, now, &mut |ranked| {
                if self.fits(ranked.held, regex) {
                    found.offer(ranked);
                }
            });
        }
        let mut each = |held: &'i Held| {
            if self.fits(held, regex) && held.is_eligible(place) {
                found.offer(RankedHint::new(held, place, now));
            }
        };
        match &self.component {
            Some(component) if !self.keys.is_empty() => {
                for (number, key) in self.keys.iter().enumerate() {
                    if !self.keys[..number].contains(key) {
                        index.variants(component, key, now).for_each(&mut each);
                    }
                }
            }
            Some(component) => index.of_component(component, now).for_each(each),
            None => index.all(now).for_each(each),
        }
    }

    /// Whether the index of tags is the narrowest; its hits have one of the tags.
    fn is_by_tag(&self) -> bool {
        self.component.is_none() && !self.tags.is_empty()
    }

    fn fits(&self, held: &Held, regex: Option<&Regex>) -> bool {
        let name = &held.stored.name;
        (self.keys.is_empty() || self.keys.contains(&name.key))
            && (self.tags.is_empty()
                || self.is_by_tag()
                || self.tags.iter().any(|tag| held.has_tag(tag)))
            && regex.is_none_or(|regex| {
                regex.is_match(&name.key) || regex.is_match(&value_text(&held.stored.value))
            })
    }
}

/// Compiles a regex. Matching takes time proportional to the text, for any regex.
fn compile(pattern: &str) -> Result<Regex, OpError> {
    let max = limits::HINT_REGEX_BYTES_MAX;
    if pattern.len() > max {
        let message = format!("the regex is over {}", text::size(max as u64));
        return Err(OpError::invalid("regex", message).with("max", max));
    }
    let max = limits::HINT_REGEX_COMPILED_BYTES_MAX;
    RegexBuilder::new(pattern).size_limit(max).dfa_size_limit(max).build().map_err(|error| {
        let message = match error {
            regex::Error::CompiledTooBig(_) => {
                format!("the regex compiles to over {}", text::size(max as u64))
            }
            error => {
                let error = error.to_string();
                let why = error.lines().last().unwrap_or_default();
                format!("the regex is wrong: {}", why.trim_start_matches("error: "))
            }
        };
        OpError::invalid("regex", message).hint(
            "The syntax is that of Rust's regex crate: without backreferences and look-around.",
        )
    })
}

impl Pretty for QueryHints {
    fn pretty(_: &QueryHintsParams, output: &QueryHintsOutput, _: usize) -> String {
        let QueryHintsOutput { hints, left_out } = output;
        let mut lines = vec![match (hints.len(), *left_out) {
            (0, _) => "No hint applies here.".to_owned(),
            (found, 0) => format!("Found {}:", text::counted(found, "hint")),
            (found, left) => {
                format!("Found {}, the best {found}:", text::counted(found + left, "hint"))
            }
        }];
        for FoundHint { component, key, hint, match_explain, .. } in hints {
            lines.push(format!("{component}/{key}"));
            lines.push(show::labelled("  value", &show::value(hint)));
            lines.extend(show::explain(match_explain));
        }
        lines.join("\n")
    }

    fn notes(params: &QueryHintsParams, output: &QueryHintsOutput) -> Vec<String> {
        let unlisted = (output.left_out > 0).then_some(Unlisted::Further(output.left_out));
        let limit = Count::new(params.limit);
        list_notes(output.hints.len(), "hint", unlisted, (limit, limits::HINT_QUERY_MAX))
    }
}
