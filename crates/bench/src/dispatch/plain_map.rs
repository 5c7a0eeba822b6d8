//! The baseline: facts in a plain map, found by name or by a scan.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use contract::{Access, Cx, Op, OpInfo, Operation, Plugin};
use model::OpError;
use serde_json::{Map, Value, json};

type FactMap = Arc<RwLock<HashMap<(String, String), Fact>>>;
type Params = Map<String, Value>;

struct Fact {
    tags: Vec<String>,
    shown: Value,
}

/// The map and its three operations.
#[derive(Default)]
pub(super) struct PlainMap {
    facts: FactMap,
}

impl PlainMap {
    /// Inserts the hints of a document.
    pub(super) fn fill(&self, document: &Value) {
        let mut facts = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        let empty = Map::new();
        for (component, hints) in document["components"].as_object().unwrap_or(&empty) {
            for (key, hint) in hints["hints"].as_object().unwrap_or(&empty) {
                let tags = hint["meta"]["tags"].as_array().into_iter().flatten();
                let tags = tags.filter_map(Value::as_str).map(str::to_owned).collect();
                let fact = Fact { tags, shown: hint.clone() };
                facts.insert((component.clone(), key.clone()), fact);
            }
        }
    }
}

impl Plugin for PlainMap {
    fn name(&self) -> &'static str {
        "bench"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![
            Operation::new(GetFact(self.facts.clone())),
            Operation::new(QueryFacts(self.facts.clone())),
            Operation::new(SetFact(self.facts.clone())),
        ]
    }
}

fn name(params: &Params) -> (String, String) {
    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    (text("component"), text("key"))
}

struct GetFact(FactMap);

impl Op for GetFact {
    const INFO: OpInfo = OpInfo { name: "bench_map_get", inline: true, ..OpInfo::BASE };
    type Params = Params;
    type Output = Value;

    fn run(&self, _: &Cx<'_>, params: Params) -> Result<Value, OpError> {
        let facts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = facts.get(&name(&params));
        found.map(|fact| fact.shown.clone()).ok_or_else(|| OpError::not_found("no such fact"))
    }
}

struct QueryFacts(FactMap);

impl Op for QueryFacts {
    const INFO: OpInfo = OpInfo { name: "bench_map_query", ..OpInfo::BASE };
    type Params = Params;
    type Output = Value;

    fn run(&self, _: &Cx<'_>, params: Params) -> Result<Value, OpError> {
        let facts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let limit = params.get("limit").and_then(Value::as_u64).unwrap_or(10);
        let component = params.get("component").and_then(Value::as_str);
        let tag = params.get("tag").and_then(Value::as_str);
        let found = facts.iter().filter(|((of, _), fact)| {
            component.is_none_or(|component| component == of)
                && tag.is_none_or(|tag| fact.tags.iter().any(|one| one == tag))
        });
        let mut found: Vec<&Value> = found.map(|(_, fact)| &fact.shown).collect();
        found.truncate(usize::try_from(limit).unwrap_or(10));
        Ok(json!({ "hints": found }))
    }
}

struct SetFact(FactMap);

impl Op for SetFact {
    const INFO: OpInfo = OpInfo {
        name: "bench_map_set",
        access: Access::Write { destructive: false, idempotent: false },
        ..OpInfo::BASE
    };
    type Params = Params;
    type Output = Value;

    fn run(&self, _: &Cx<'_>, params: Params) -> Result<Value, OpError> {
        let shown = json!({ "value": params.get("value") });
        let mut facts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        facts.insert(name(&params), Fact { tags: Vec::new(), shown });
        Ok(json!({ "count": facts.len() }))
    }
}
