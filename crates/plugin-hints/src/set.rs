//! `set_hint`: stores a small fact, or changes it.

use std::sync::Arc;

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, RestMethod, RestRoute};
use model::event::Event;
use model::hint::{self, Hint, HintMeta, HintName, Sensitivity, Ttl, UNSCOPED};
use model::{OpError, Tier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Tx;
use store::hints::{self, StoredHint};

use crate::admit::{Secret, check_allow_secret, check_room, check_version};
use crate::flags;
use crate::gate::Gate;
use crate::held::Held;
use crate::memory::Memory;
use crate::settings::HintSettings;
use crate::show;

pub(crate) struct SetHint {
    pub(crate) memory: Arc<Memory>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetHintParams {
    /// Service, module or folder, for example `http-proxy`.
    component: String,
    /// For example `build`.
    key: String,
    /// A string, or an object whose `type` is command, path, template or json.
    value: Value,
    /// Left out, it stays as it is; `{}` clears it.
    #[serde(default, deserialize_with = "model::object::optional")]
    meta: Option<HintMeta>,
    /// Only if this is its version; 0: it must not exist.
    #[serde(default)]
    if_match_version: Option<u64>,
    /// Store a credential, if hints.agents_may_store_secrets allows it.
    #[serde(default)]
    allow_secret: bool,
    /// A user typed it on our command line. Not in the schema: no other surface sends it.
    #[serde(default)]
    #[schemars(skip)]
    typed: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct SetHintOutput {
    hint: Hint,
}

/// The parameter of a hint that a user typed under the program's own name.
const TYPED: &str = "typed";

impl Op for SetHint {
    const INFO: OpInfo = OpInfo {
        name: "set_hint",
        summary: "Store a small fact under a component and a key",
        doc: "For an exact command, directory or toggle that is easy to forget. `meta.ttl`: `session`, `forever` or a duration such as `PT2H`; `meta.scope`: cwd_glob, repo, branch, os, env_required, env_match.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: "hints",
        brief: None,
        core: true,
        advanced: &["if_match_version", "allow_secret"],
        hidden: &[TYPED],
        aliases: &["nudge.set_hint", "nudge_set_hint"],
        cli: CliShape {
            path: &["hint", "set"],
            positional: &["component", "key", "value"],
            flatten: flags::META,
            flag_aliases: flags::GUARD,
            help: &[(
                "meta.ttl",
                "`session` (until the daemon ends), `forever`, or a duration such as `PT2H` or `P1D`; a new hint is kept for good if this is left out",
            )],
            defaults: &[(TYPED, "true")],
            pretty: Some(pretty::<Self>),
            starts_daemon: true,
            ..CliShape::CALL_ONLY
        },
        rest: &[RestRoute::new(RestMethod::Put, flags::REST_PATH).body(&[
            ("value", "value"),
            ("meta", "meta"),
            ("if_match_version", "if_match_version"),
            ("allow_secret", "allow_secret"),
        ])],
        examples: &[
            Example {
                title: "A build command",
                before: &[],
                params: r#"{"component":"http-proxy","key":"build","value":"docker compose build router"}"#,
            },
            Example {
                title: "With a reason and tags, kept for good",
                before: &[],
                params: r#"{"component":"api","key":"test","value":{"type":"command","cmd":"make test"},"meta":{"reason":"needs the fixtures","tags":["test"],"ttl":"forever"}}"#,
            },
            Example {
                title: "A folder on one system only",
                before: &[],
                params: r#"{"component":"http-proxy","key":"directory","value":{"type":"path","abs":"/srv/http-proxy"},"meta":{"priority":7,"scope":{"os":["linux"]}}}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = SetHintParams;
    type Output = SetHintOutput;

    fn run(&self, cx: &Cx<'_>, params: SetHintParams) -> Result<SetHintOutput, OpError> {
        let SetHintParams { component, key, value, meta, if_match_version, allow_secret, typed } =
            params;
        let name = HintName::new(component, key)?;
        hint::check_value(&value)?;
        if let Some(meta) = &meta {
            meta.check()?;
            Gate::new(meta.scope.as_ref())?;
        }
        let settings = match typed && cx.caller.tier == Tier::Person {
            true => HintSettings::of_typed(cx.config, cx.caller.tier),
            false => HintSettings::of(cx.config, cx.caller.tier),
        };
        check_allow_secret(allow_secret, &settings)?;
        if settings.guard
            && let Some(secret) = Secret::in_name(&name)
        {
            return Err(secret.refusal(settings.may_store_secrets));
        }
        let secret =
            if settings.guard { Secret::find(&name.key, &value, meta.as_ref()) } else { None };
        cx.note(Event::new("hint/changed", name.path()));
        let draft =
            HintDraft { name, value, meta, if_match_version, allow_secret, secret, settings };
        let memory = self.memory.clone();
        let now = cx.now;
        cx.store.write(move |tx| {
            memory.sweep(tx, now)?;
            let held = Arc::new(Held::new(draft.hint(tx, now)?)?);
            let hint = held.shown();
            memory.put(tx, held)?;
            Ok(SetHintOutput { hint })
        })
    }
}

/// The hint to store, before the stored variant is known.
struct HintDraft {
    name: HintName,
    value: Value,
    meta: Option<HintMeta>,
    if_match_version: Option<u64>,
    allow_secret: bool,
    secret: Option<Secret>,
    settings: HintSettings,
}

impl HintDraft {
    fn hint(&self, tx: &Tx<'_>, now: i64) -> Result<StoredHint, OpError> {
        let old = self.stored(tx)?;
        check_version(self.if_match_version, old.as_ref().map_or(0, |old| old.version))?;
        if old.is_none() {
            check_room(tx, &self.name, self.settings.max)?;
        }
        let mut meta =
            self.meta.clone().or(old.as_ref().map(|old| old.meta.clone())).unwrap_or_default();
        let may_store = self.settings.may_store_secrets;
        if let Some(secret) = self.secret
            && !(may_store && (self.allow_secret || meta.is_secret()))
        {
            return Err(secret.refusal(may_store));
        }
        if self.allow_secret {
            meta.sensitivity = Some(Sensitivity::Secret);
        }
        self.settings.complete(&mut meta);
        Ok(StoredHint {
            name: self.name.clone(),
            value: self.value.clone(),
            meta,
            version: old.as_ref().map_or(1, |old| old.version + 1),
            created_at: old.as_ref().map_or(now, |old| old.created_at),
            updated_at: now,
            last_used_at: old.as_ref().and_then(|old| old.last_used_at),
            use_count: old.as_ref().map_or(0, |old| old.use_count),
        })
    }

    /// The stored variant to change: the one with the given scope, else the only one, else the one without a scope.
    fn stored(&self, tx: &Tx<'_>) -> Result<Option<StoredHint>, OpError> {
        let mut variants = hints::variants(tx, &self.name)?;
        let wanted = match &self.meta {
            None if variants.len() == 1 => return Ok(variants.pop()),
            None => UNSCOPED.to_owned(),
            Some(meta) => meta.variant(),
        };
        Ok(variants.into_iter().find(|hint| hint.meta.variant() == wanted))
    }
}

impl Pretty for SetHint {
    fn pretty(params: &SetHintParams, SetHintOutput { hint }: &SetHintOutput, _: usize) -> String {
        let mut lines = vec![
            format!("✔ upserted hint {}/{} (v{})", params.component, params.key, hint.version),
            format!("  score base: {}", show::base(&hint.meta)),
        ];
        lines.extend(show::reason(&hint.meta).map(|reason| show::labelled("  reason", &reason)));
        // Under the name of the specification, the output is that of the specification.
        if params.typed {
            lines.push(format!("  {}", lifetime(hint.meta.lifetime())));
        }
        lines.join("\n")
    }
}

/// The lifetime of a hint, in words.
fn lifetime(ttl: &Ttl) -> String {
    match ttl {
        Ttl::Forever => "kept for good".to_owned(),
        Ttl::Session => "kept until the daemon stops; `--ttl forever` keeps it for good".to_owned(),
        Ttl::For(_) => format!("kept for {}", ttl.in_words().unwrap_or_default()),
    }
}
