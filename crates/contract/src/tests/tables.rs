//! Tests of the table of operations, and of everything else that plugins bring along.

use std::sync::Arc;

use model::entry::{Entry, EntryLine, EntryPath};
use model::event::{EventFilter, Published};
use model::{Caller, Code, OpError, Tier, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Rx;

use super::{NOW, Shop};
use crate::asset::Asset;
use crate::candidate::{BriefingForm, Moment, Occasion};
use crate::config::{Config, ConfigKey, ConfigKind};
use crate::cx::{CallStore, Cx};
use crate::feed::{Feed, FeedParams};
use crate::op::{Access, CliShape, Example, Op, OpInfo, Operation, check_tier};
use crate::plugin::Plugin;
use crate::scheme::Scheme;
use crate::table::Table;
use crate::tool_form::ToolForm;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OpenParams {
    /// Which box.
    id: u32,
    /// Which lid.
    #[serde(default)]
    lid: String,
}

#[derive(Serialize, JsonSchema)]
struct OpenOutput {
    opened: u32,
}

struct OpenBox;

impl Op for OpenBox {
    const INFO: OpInfo = OpInfo {
        name: "open_box",
        summary: "Open a box",
        doc: "Boxes stay open.",
        access: Access::Write { destructive: true, idempotent: false },
        toolset: "boxes",
        core: true,
        advanced: &["lid"],
        aliases: &["open"],
        cli: CliShape { path: &["box", "open"], ..CliShape::CALL_ONLY },
        examples: &[Example {
            title: "Open the second",
            before: &[("list_boxes", "{}")],
            params: r#"{"id":2}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = OpenParams;
    type Output = OpenOutput;

    fn run(&self, _: &Cx<'_>, params: OpenParams) -> Result<OpenOutput, OpError> {
        Ok(OpenOutput { opened: params.id + u32::from(!params.lid.is_empty()) })
    }
}

#[derive(Deserialize, JsonSchema)]
struct NoParams {}

/// An operation without parameters.
macro_rules! plain_op {
    ($type:ident, $info:expr) => {
        struct $type;
        impl Op for $type {
            const INFO: OpInfo = $info;
            type Params = NoParams;
            type Output = OpenOutput;

            fn run(&self, _: &Cx<'_>, _: NoParams) -> Result<OpenOutput, OpError> {
                Ok(OpenOutput { opened: 0 })
            }
        }
    };
}

plain_op!(
    ListBoxes,
    OpInfo { name: "list_boxes", summary: "List boxes", toolset: "lists", ..OpInfo::BASE }
);
plain_op!(
    FillBox,
    OpInfo {
        name: "fill_box",
        tiers: &[Tier::Person],
        toolset: "filling",
        large: true,
        ..OpInfo::BASE
    }
);

struct BoxScheme;

impl Scheme for BoxScheme {
    fn name(&self) -> &'static str {
        "box"
    }

    fn template(&self) -> &'static str {
        "box://{id}"
    }

    fn summary(&self) -> &'static str {
        "Boxes"
    }

    fn list(&self, _: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        Ok(Vec::new())
    }

    fn read(&self, _: &Cx<'_>, _: &EntryPath) -> Result<Entry, OpError> {
        Err(OpError::not_found("there is no such box"))
    }
}

struct BoxFeed;

impl Feed for BoxFeed {
    fn name(&self) -> &'static str {
        "boxes"
    }

    fn method(&self) -> &'static str {
        "box/event"
    }

    fn filter(&self, _: &FeedParams, _: &Rx<'_>) -> Result<EventFilter, OpError> {
        Ok(EventFilter::default())
    }

    fn message(&self, event: &Published) -> Value {
        json!({ "seq": event.seq })
    }
}

const SIZE: ConfigKey = ConfigKey {
    key: "boxes.size",
    kind: ConfigKind::Integer,
    default: "3",
    env: &[],
    doc: "Things in a box.",
};

struct Boxes;

impl Plugin for Boxes {
    fn name(&self) -> &'static str {
        "boxes"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![Operation::new(OpenBox), Operation::new(ListBoxes), Operation::new(FillBox)]
    }

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        vec![Arc::new(BoxScheme)]
    }

    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[("box", "Boxes and their contents")]
    }

    fn config(&self) -> &'static [ConfigKey] {
        const { &[SIZE] }
    }

    fn assets(&self) -> &'static [Asset] {
        const { &[Asset::script("/box.js", "let a"), Asset::style("/box.css", "a {}")] }
    }

    fn instructions(&self) -> &'static str {
        "Open a box first."
    }

    fn feeds(&self) -> Vec<Arc<dyn Feed>> {
        vec![Arc::new(BoxFeed)]
    }
}

/// A plugin of operations alone.
struct Lids;

plain_op!(CloseLid, OpInfo { name: "close_lid", ..OpInfo::BASE });

impl Plugin for Lids {
    fn name(&self) -> &'static str {
        "lids"
    }

    fn operations(&self) -> Vec<Operation> {
        vec![Operation::new(CloseLid)]
    }
}

fn table() -> Table {
    Table::new(&[Arc::new(Lids), Arc::new(Boxes)])
}

fn shown(list: &str) -> Vec<&'static str> {
    table().toolset(list).unwrap().iter().map(|(op, _)| op.info.name).collect()
}

#[test]
fn operations_of_all_plugins_are_found_by_name_and_alias() {
    let table = table();
    let names: Vec<&str> = table.iter().map(|op| op.info.name).collect();
    assert_eq!(names, ["close_lid", "fill_box", "list_boxes", "open_box"]);
    for name in ["open_box", "open"] {
        let op = table.get(name).unwrap().info;
        assert_eq!(op.name, "open_box");
        assert!(op.is_called(name));
    }
    assert!(!OpenBox::INFO.is_called("list_boxes"));
    assert!(table.find("close_box").is_none());
    let error = table.get("close_box").err().unwrap();
    assert_eq!(error.code, Code::UnknownMethod);
    assert!(error.message.contains("close_box"), "{}", error.message);
}

#[test]
fn the_table_has_what_the_plugins_bring_along() {
    let table = table();
    assert_eq!(table.scheme("box").unwrap().template(), "box://{id}");
    assert!(table.scheme("lid").is_none());
    assert_eq!(table.schemes().count(), 1);
    assert_eq!(table.feed("boxes").unwrap().method(), "box/event");
    assert_eq!(table.command_group("box"), Some("Boxes and their contents"));
    assert_eq!(table.command_group("lid"), None);
    let keys: Vec<&str> = table.config_keys().iter().map(|key| key.key).collect();
    assert_eq!(keys, ["boxes.size"]);
    assert_eq!(table.instructions().collect::<Vec<_>>(), ["Open a box first."]);
    let assets: Vec<_> = table.assets().iter().map(|asset| (asset.path, asset.bytes)).collect();
    assert_eq!(assets, [("/box.js", &b"let a"[..]), ("/box.css", b"a {}")]);
    let types: Vec<&str> = table.assets().iter().map(|asset| asset.media_type).collect();
    assert!(types[0].starts_with("text/javascript;") && types[1].starts_with("text/css;"));
}

#[test]
fn an_unknown_feed_is_refused_with_the_known_ones_and_a_long_name_is_cut() {
    let error = table().feed(&"x".repeat(10_000)).err().unwrap();
    assert_eq!(error.code, Code::Invalid);
    assert!(error.message.len() < 1_000, "{} bytes", error.message.len());
    assert_eq!(error.hint.as_deref(), Some("Choose from: boxes."));
}

#[test]
fn a_plugin_of_operations_alone_takes_no_part_in_anything_else() {
    let shop = Shop::new();
    let table = Table::new(&[Arc::new(Lids)]);
    assert_eq!((table.schemes().count(), table.instructions().count()), (0, 0));
    assert!(table.config_keys().is_empty() && table.assets().is_empty());
    assert!(table.feed("lids").is_err() && Lids.command_groups().is_empty());
    assert!(Lids.aggregates().is_empty() && Lids.listens_to().is_empty());
    assert!(Lids.asks_env().names.is_empty());
    assert!(!Lids.has_expired(i64::MAX), "nothing of it has to be removed");
    assert_eq!(Lids.held(), 0, "it does not keep the daemon running");
    let caller = Caller::default();
    let config = Config::default();
    shop.call(&caller, CallStore::new(&shop.store, None, 0, NOW), |cx| {
        let moment = Moment {
            occasion: Occasion::Prompt("x"),
            session: None,
            project: None,
            form: BriefingForm::Sections,
            host: text::HostLimits::NONE,
            situation: &caller.situation,
            place: cx.caller.place(),
            ran_in: cx.caller.place(),
            now: NOW,
            config: &config,
            store: &shop.store,
        };
        assert_eq!(Lids.candidates(&moment), Ok(Vec::new()));
        // By default the plugin may have candidates, so it is asked for them.
        assert!(Lids.may_have_candidates(&moment.occasion, &config));
    });
}

#[test]
fn a_feed_has_no_first_message_unless_it_says_so() {
    let shop = Shop::new();
    let first = shop.store.read(|rx| BoxFeed.first(&FeedParams::new(), rx));
    assert_eq!(first, Ok(None));
}

#[test]
fn only_large_operations_take_calls_over_the_limit() {
    let (table, max) = (table(), limits::REQUEST_BYTES_MAX);
    assert_eq!(table.check_size("open_box", max), Ok(()));
    assert_eq!(table.check_size("fill_box", max + 1), Ok(()));
    for name in ["open_box", "no_such"] {
        let error = table.check_size(name, max + 1).unwrap_err();
        assert_eq!((error.code, &error.details["max"]), (Code::TooLarge, &json!(max)));
    }
}

#[test]
fn toolsets_select_the_operations_that_agents_may_call() {
    assert_eq!(table().toolsets(), ["core", "all", "", "boxes", "lists"]);
    assert_eq!(shown("core"), ["open_box"]);
    assert_eq!(shown("all"), ["close_lid", "list_boxes", "open_box"]);
    assert_eq!(shown("lists"), ["list_boxes"]);
    assert_eq!(shown(" lists, core,"), ["list_boxes", "open_box"]);
    assert!(shown("").is_empty());
    let error = table().toolset("core,filling").err().unwrap();
    assert_eq!(error.code, Code::Invalid);
    assert!(error.message.contains("'filling'"), "{}", error.message);
}

#[test]
fn a_tier_that_is_not_listed_is_forbidden_by_name() {
    for tier in [Tier::Person, Tier::Agent, Tier::Client] {
        assert_eq!(check_tier(&ListBoxes::INFO, tier), Ok(()));
    }
    for (tier, who) in [
        (Tier::Agent, "an agent may not call fill_box"),
        (Tier::Client, "a client may not call fill_box"),
        (Tier::Hook, "a hook may not call fill_box"),
    ] {
        let error = check_tier(&FillBox::INFO, tier).unwrap_err();
        assert_eq!((error.code, &*error.message), (Code::Forbidden, who));
    }
}

#[test]
fn an_operation_runs_with_typed_parameters_and_returns_json() {
    let shop = Shop::new();
    let op = Operation::new(OpenBox);
    shop.call(&Caller::default(), CallStore::new(&shop.store, None, 0, NOW), |cx| {
        assert_eq!(op.run(cx, json!({ "id": 7 })), Ok(json!({ "opened": 7 })));
        assert_eq!(op.run(cx, json!({ "id": "7" })).unwrap_err().code, Code::Invalid);
        let without = Operation::new(ListBoxes).run(cx, Value::Null);
        assert_eq!(without, Ok(json!({ "opened": 0 })));
    });
    assert_eq!(op.check_params(&json!({ "id": 7 })), Ok(()));
    assert_eq!(op.check_params(&json!({})).unwrap_err().code, Code::Invalid);
}

#[test]
fn an_operation_describes_itself_as_data() {
    let table = table();
    let open = table.get("open_box").unwrap().describe();
    for (member, value) in [
        ("name", json!("open_box")),
        ("aliases", json!(["open"])),
        ("access", json!("write")),
        ("destructive", json!(true)),
        ("idempotent", json!(false)),
        ("tiers", json!(["person", "agent", "client"])),
        ("core", json!(true)),
        ("cli", json!(["box", "open"])),
        (
            "examples",
            json!([{ "title": "Open the second", "params": { "id": 2 },
                "before": [{ "op": "list_boxes", "params": {} }] }]),
        ),
    ] {
        assert_eq!(open[member], value, "{member}");
    }
    assert_eq!(open["params_schema"]["properties"]["id"]["type"], "integer");
    assert_eq!(open["output_schema"]["properties"]["opened"]["type"], "integer");
    let list = table.get("list_boxes").unwrap().describe();
    assert_eq!((&list["access"], &list["idempotent"]), (&json!("read"), &json!(true)));
    assert_eq!(list["params_schema"]["properties"], json!({}), "agents expect the member");
}

#[test]
fn an_operation_is_a_tool_with_its_summary_arguments_and_effect() {
    let open = Operation::new(OpenBox).as_tool(ToolForm::Whole);
    assert_eq!(open["name"], "open_box");
    assert_eq!(open["description"], "Open a box. Boxes stay open.");
    assert_eq!(
        open["inputSchema"],
        json!({ "type": "object", "required": ["id"],
            "properties": {
                "id": { "type": "integer", "description": "Which box." },
                "lid": { "type": "string", "description": "Which lid." } } })
    );
    assert_eq!(
        open["annotations"],
        json!({ "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false,
            "openWorldHint": false })
    );
    assert_eq!(open["outputSchema"], json!({ "type": "object" }));
    let list = Operation::new(ListBoxes).as_tool(ToolForm::Whole);
    assert_eq!(list["description"], "List boxes.");
    assert_eq!(
        list["annotations"],
        json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": false })
    );
}

#[test]
fn core_lists_the_short_form_and_the_own_toolset_the_whole_one() {
    let table = table();
    let listed = |sets: &str| {
        let tools = table.toolset(sets).unwrap();
        let (op, form) = *tools.iter().find(|(op, _)| op.info.name == "open_box").unwrap();
        op.as_tool(form)
    };
    let short = listed("core,lists");
    assert_eq!(
        short,
        json!({ "name": "open_box", "description": "Open a box. Boxes stay open.",
            "inputSchema": { "type": "object", "required": ["id"],
                "properties": { "id": { "type": "integer", "description": "Which box." } } },
            "annotations": { "openWorldHint": false } })
    );
    for sets in ["all", "boxes", "core,boxes"] {
        let whole = listed(sets);
        assert!(whole["inputSchema"]["properties"]["lid"].is_object(), "{sets}: {whole}");
        assert!(whole["outputSchema"].is_object(), "{sets}: {whole}");
    }
    let list = Operation::new(ListBoxes).as_tool(ToolForm::Short);
    assert_eq!(list["annotations"], json!({ "readOnlyHint": true, "openWorldHint": false }));
}
