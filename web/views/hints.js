// Hints: all variants with scope, value, TTL and use count; whether one appears in a situation; set, edit, delete.

import { call } from "/api.js";
import { copy, problem, toast } from "/dialog.js";
import { h, prose, renew, replace } from "/dom.js";
import { bytes, plural, time } from "/format.js";
import { onState, subscribe } from "/live.js";
import {
  asRow,
  badge,
  button,
  checkbox,
  empty,
  field,
  fill,
  intro,
  input,
  select,
  values,
  undoable,
} from "/parts.js";

/** Calls for the failing condition of a key that run at the same time. */
const AT_ONCE = 6;

/** Several hints change at once, for example in an import. */
const CHANGED_MS = 500;

/** Characters of a value that are shown before it is unfolded. */
const FOLDED = 600;

/** The hints of an export as a flat list, by component and key; variants of one key are neighbours. */
function flatten(payload) {
  const all = [];
  for (const [component, { hints = {}, variants = {} }] of Object.entries(payload.components ?? {})) {
    for (const [key, hint] of Object.entries(hints)) {
      for (const one of [hint, ...(variants[key] ?? [])]) all.push({ component, key, hint: one });
    }
  }
  return all;
}

const scopeOf = (hint) => hint.meta?.scope ?? {};
const identity = ({ component, key, hint }) => JSON.stringify([component, key, scopeOf(hint)]);
const list = (value) => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]);

/** The main text of a value and how it is edited. */
function mainText(value) {
  if (typeof value === "string") return { kind: "text", text: value };
  const { type } = value ?? {};
  if (type === "command") return { kind: "command", text: value.cmd };
  if (type === "path") return { kind: "path", text: value.abs };
  if (type === "template") return { kind: "template", text: value.body };
  return { kind: "json", text: JSON.stringify(type === "json" ? value.data : value, null, 2) };
}

/** The value of a form, with the members of the old value that the form does not show. */
function valueFrom({ kind, text, format }, old) {
  const kept = old && typeof old === "object" && old.type === kind ? old : {};
  if (kind === "command") return { ...kept, type: "command", cmd: text };
  if (kind === "path") return { ...kept, type: "path", abs: text };
  if (kind === "template") return { ...kept, type: "template", format, body: text };
  if (kind === "json") return { type: "json", data: JSON.parse(text) };
  return text;
}

const KINDS = [
  ["text", "Text"],
  ["command", "Command"],
  ["path", "Path"],
  ["template", "Template"],
  ["json", "JSON"],
];
const kindName = Object.fromEntries(KINDS);

const SCOPES = { cwd_glob: "directory", repo: "repository", branch: "branch", os: "system", env_required: "needs" };

/** The conditions of a scope as short texts. */
function conditions(scope) {
  const texts = Object.entries(SCOPES).flatMap(([name, label]) => {
    const wanted = list(scope[name]);
    return wanted.length ? [`${label} ${wanted.join(", ")}`] : [];
  });
  const env = Object.entries(scope.env_match ?? {}).map(([name, value]) => `${name}=${list(value).join("|")}`);
  return [...texts, ...env];
}

function ttlText(meta) {
  const { ttl } = meta ?? {};
  if (!ttl || ttl === "session") return "until the daemon ends";
  if (ttl === "forever") return "kept for good";
  return `for ${spoken(ttl)}`;
}

/** An ISO 8601 duration such as `PT6H` in words; another text as it is. */
function spoken(ttl) {
  const parts = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(ttl);
  const units = ["week", "day", "hour", "minute", "second"];
  const text = units.map((unit, at) => parts?.[at + 1] && plural(Number(parts[at + 1]), unit)).filter(Boolean);
  return text.join(" ") || ttl;
}

const isSecret = (hint) => hint.meta?.sensitivity === "secret";

const MASK = "••••••••";

/** The value of a hint. A secret is masked, and a long one is folded, until a button shows it. */
function valueView({ hint }) {
  const { kind, text } = mainText(hint.value);
  const isHidden = isSecret(hint);
  if (!isHidden && text.length <= FOLDED) return h("code", { class: "hint-value" }, text);
  const short = isHidden ? MASK : `${text.slice(0, FOLDED)}…`;
  const show = isHidden ? "Show" : `Show all (${bytes(text.length)})`;
  const body = h("code", { class: "hint-value" }, short);
  const control = button(
    show,
    () => {
      const isOpening = control.getAttribute("aria-expanded") === "false";
      replace(body, isOpening ? text : short);
      replace(control, isOpening ? "Hide" : show);
      control.setAttribute("aria-expanded", String(isOpening));
    },
    { class: "button button-quiet", "aria-expanded": "false", "aria-label": isHidden && `Show the secret ${kind}` },
  );
  return h("span", {}, body, " ", control);
}

/** The situation of the address: which project, branch and system. */
function situation(params, projects) {
  const root = params.get("in") ?? "";
  const branch = params.get("branch") ?? "";
  const os = params.get("os") ?? "";
  if (!root && !branch && !os) return null;
  const project = projects.find((one) => one.path === root);
  const context = {};
  if (project?.root) context.cwd = project.root;
  const key = project && decodeURIComponent(project.path.replace("project://", ""));
  if (key && !key.startsWith("/")) context.repo = key;
  if (branch) context.branch = branch;
  if (os) context.os = os;
  const where = [project && `project ${project.name}`, branch && `branch ${branch}`, os && `system ${os}`];
  return { context, text: where.filter(Boolean).join(", ") };
}

/** What becomes of each hint in a situation: score and reasons, or the failing condition. */
async function verdicts(hints, context, signal) {
  const result = new Map();
  const matchedKeys = new Set();
  for (const component of new Set(hints.map((one) => one.component))) {
    const found = await call("query_hints", { component, context, limit: 1000 }, { signal });
    const best = new Set();
    for (const one of found.hints) {
      if (one.component !== component) continue;
      const name = JSON.stringify([one.component, one.key]);
      matchedKeys.add(name);
      result.set(identity(one), { ...one.match_explain, score: one.score, best: !best.has(name) });
      best.add(name);
    }
  }
  const missing = hints.filter((one) => !result.has(identity(one)));
  const keys = new Map(missing.map((one) => [JSON.stringify([one.component, one.key]), one]));
  const reasons = new Map();
  const waiting = [...keys].filter(([name]) => !matchedKeys.has(name));
  const worker = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [name, { component, key }] = next;
      try {
        const { match_explain: explained } = await call("get_hint", { component, key, context }, { signal });
        reasons.set(name, explained.reasons);
      } catch (error) {
        if (error.code !== "not_found") throw error;
        reasons.set(name, [error.message]);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const one of missing) {
    const name = JSON.stringify([one.component, one.key]);
    const needs = conditions(scopeOf(one.hint));
    const why = reasons.get(name) ?? [`it needs ${needs.join(", ")}`];
    result.set(identity(one), { matched: false, reasons: why });
  }
  return result;
}

/** Operating systems as hints name them, and as people do. */
const SYSTEMS = [
  ["linux", "Linux"],
  ["darwin", "macOS"],
  ["windows", "Windows"],
];

/** The verdicts for a situation. Without a system, a hint counts that appears on one of them. */
async function verdictsFor(hints, context, signal) {
  if (context.os) return verdicts(hints, context, signal);
  const all = await Promise.all(SYSTEMS.map(([os]) => verdicts(hints, { ...context, os }, signal)));
  const result = new Map();
  for (const name of all[0].keys()) {
    const found = all.map((one) => one.get(name));
    const fits = SYSTEMS.filter((_, at) => found[at].matched).map(([, name]) => name);
    const first = found.find((one) => one.best) ?? found.find((one) => one.matched) ?? found[0];
    const where = fits.length > 0 && fits.length < SYSTEMS.length ? [`only on ${fits.join(" and ")}`] : [];
    result.set(name, { ...first, reasons: [...where, ...first.reasons] });
  }
  return result;
}

const CONDITIONS = { ...SCOPES, cwd: "directory", env: "environment" };

/** A reason of the daemon in the words of the page. */
function plainReason(reason) {
  if (reason === "no scope restrictions") return "it holds everywhere";
  const [, name, value, rest] = /^(\w+)=(.*?) (matched|allowed|not in \[.*\])$/s.exec(reason) ?? [];
  if (!CONDITIONS[name]) return reason;
  const wanted = /^not in \[(.*)\]$/s.exec(rest)?.[1];
  return wanted ? `the ${CONDITIONS[name]} is ${value}, but it needs ${wanted}` : `the ${CONDITIONS[name]} ${value} fits`;
}

function verdictView(verdict) {
  if (!verdict) return null;
  if (!verdict.matched) {
    const reasons = verdict.reasons.map(plainReason).join("; ");
    return h("p", { class: "verdict verdict-no" }, h("strong", {}, "✕ Does not appear: "), reasons);
  }
  const what = verdict.best ? "✓ Appears" : "Matches, but another variant ranks higher";
  return h(
    "p",
    { class: verdict.best ? "verdict verdict-yes" : "verdict" },
    h("strong", {}, `${what}, score ${verdict.score.toFixed(2)}: `),
    verdict.reasons.map(plainReason).join("; "),
  );
}

const words = (text) =>
  (text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);

/** The environment conditions of a text such as `CI=true, STAGE=dev`. */
function envFrom(text) {
  const env = {};
  for (const pair of words(text)) {
    const at = pair.indexOf("=");
    if (at < 1) throw new Error(`“${pair}” is not of the form NAME=value.`);
    const wanted = pair.slice(at + 1).split("|");
    env[pair.slice(0, at)] = wanted.length > 1 ? wanted : wanted[0];
  }
  return env;
}

/** The parameters of `set_hint` for the values of the form. */
function request(given, old) {
  const scope = {};
  for (const name of ["cwd_glob", "repo", "branch", "env_required"]) {
    const wanted = words(given[name]);
    if (wanted.length) scope[name] = wanted;
  }
  const systems = SYSTEMS.map(([os]) => os).filter((os) => given[`os-${os}`]);
  if (systems.length) scope.os = systems;
  const env = envFrom(given.env_match);
  if (Object.keys(env).length) scope.env_match = env;
  const meta = { ...(old?.hint.meta ?? {}) };
  const set = (name, value) => {
    if (value === undefined || value === "") delete meta[name];
    else meta[name] = value;
  };
  set("reason", given.reason);
  set("ttl", given.ttl);
  set("priority", given.priority && Number(given.priority));
  set("confidence", given.confidence && Number(given.confidence));
  set("tags", words(given.tags).length ? words(given.tags) : undefined);
  set("scope", Object.keys(scope).length ? scope : undefined);
  set("sensitivity", given.secret ? "secret" : undefined);
  let value;
  try {
    value = valueFrom({ kind: given.kind, text: given.text ?? "", format: given.format }, old?.hint.value);
  } catch (error) {
    throw new Error(`The value is not JSON: ${error.message}`);
  }
  const params = { component: given.component ?? "", key: given.key ?? "", value, meta };
  if (given.secret) params.allow_secret = true;
  return params;
}

/** The variant with this scope, as it is stored now. */
async function stored(component, key, scope) {
  const { payload } = await call("export_hints", { component });
  const same = JSON.stringify(normal(scope ?? {}));
  return flatten(payload).find((one) => one.key === key && JSON.stringify(normal(scopeOf(one.hint))) === same);
}

/** Opens the form for a new hint, or for `old`. Resolves when it is closed. */
function editor(old, { reload }) {
  const meta = old?.hint.meta ?? {};
  const scope = meta.scope ?? {};
  const main = old ? mainText(old.hint.value) : { kind: "text", text: "" };
  const component = input("component", old?.component, {
    required: true,
    readonly: Boolean(old),
    placeholder: "http-proxy",
  });
  const key = input("key", old?.key, { required: true, readonly: Boolean(old), placeholder: "build" });
  const kind = select("kind", KINDS, main.kind);
  const text = h("textarea", {
    name: "text",
    rows: 4,
    class: "mono",
    required: true,
    spellcheck: "false",
    value: main.text,
  });
  const format = field(
    "Template language",
    select(
      "format",
      [
        ["mustache", "Mustache"],
        ["handlebars", "Handlebars"],
        ["jinja", "Jinja"],
        ["interpolate", "${name}"],
      ],
      old?.hint.value?.format,
    ),
  );
  const showFormat = () => {
    format.hidden = kind.value !== "template";
  };
  kind.addEventListener("change", showFormat);
  showFormat();
  const env = Object.entries(scope.env_match ?? {})
    .map(([name, value]) => `${name}=${list(value).join("|")}`)
    .join(", ");
  const message = h("div", { "aria-live": "assertive" });
  /** Shows a message in the form, in view. */
  const say = (content) => {
    replace(message, content);
    message.scrollIntoView({ block: "center" });
  };
  let version = old?.hint.version ?? 0;
  /** The stored variant that a save would replace; the reader has seen it. */
  let replaced = old;

  const save = async (event) => {
    event.preventDefault();
    replace(message);
    let params;
    try {
      params = request(values(form), old);
    } catch (error) {
      say(problem(error));
      return;
    }
    const sameScope = JSON.stringify(normal(params.meta.scope ?? {})) === JSON.stringify(normal(scope));
    try {
      const expected = old && sameScope ? version : 0;
      const { hint } = await call("set_hint", { ...params, if_match_version: expected });
      dialog.close();
      await reload();
      const name = `${params.component}/${params.key}`;
      undoable(expected > 0 ? `Saved ${name}.` : `Stored ${name}.`, async () => {
        const { component, key, meta } = params;
        if (expected > 0) {
          await call("set_hint", {
            component,
            key,
            value: replaced.hint.value,
            meta: replaced.hint.meta ?? {},
            if_match_version: hint.version,
            allow_secret: isSecret(replaced.hint) || undefined,
          });
        } else {
          const now = await stored(component, key, meta.scope);
          if (now?.hint.version !== hint.version) throw new Error(`${name} was changed meanwhile, and stays so.`);
          await call("delete_hint", { component, key, scope: meta.scope ?? {} });
        }
        await reload();
      });
    } catch (error) {
      if (error.code === "conflict") await conflict(params);
      else say(problem(error));
    }
  };

  /** Shows the stored value next to the one that was typed; nothing is overwritten without a decision. */
  const conflict = async (params) => {
    const current = await stored(params.component, params.key, params.meta.scope);
    if (!current) {
      version = 0;
      replaced = null;
      say(problem({ message: "The hint was deleted meanwhile.", hint: "Save again to store it anew." }));
      return;
    }
    version = current.hint.version;
    replaced = current;
    const now = mainText(current.hint.value);
    say(
      h(
        "div",
        { class: "error", role: "alert" },
        h(
          "p",
          {},
          h(
            "strong",
            {},
            old ? "This hint was changed meanwhile." : "There is already a hint with this name and scope.",
          ),
          ` Version ${version} of it is stored. Nothing was overwritten.`,
        ),
        h("pre", { class: "text" }, isSecret(current.hint) ? "••••••••" : now.text),
        h(
          "div",
          { class: "toolbar" },
          button("Use the stored value", () => {
            kind.value = now.kind;
            text.value = now.text;
            showFormat();
            old = current;
            replace(message, h("p", { class: "notice" }, `The form has version ${version} now.`));
          }),
          button(
            `Replace version ${version} by mine`,
            () => {
              old ??= current;
              form.requestSubmit();
            },
            { class: "button button-danger" },
          ),
        ),
      ),
    );
  };

  const form = h(
    "form",
    { class: "editor", onsubmit: save },
    h("h2", { id: "editor-title" }, old ? `Edit ${old.component}/${old.key}` : "New hint"),
    h("div", { class: "form-grid" }, field("Component", component), field("Key", key), field("Kind", kind), format),
    field("Value", text),
    field("Reason", input("reason", meta.reason), "Why the hint is true or useful."),
    h(
      "div",
      { class: "form-grid" },
      field("Tags", input("tags", list(meta.tags).join(", ")), "Separated by commas."),
      field(
        "Lifetime",
        input("ttl", meta.ttl ?? "forever", { list: "ttl-list" }),
        "forever, session, or a duration such as PT2H.",
      ),
      field(
        "Priority",
        input("priority", meta.priority, { type: "number", min: 1, max: 10, placeholder: "5" }),
        "1 to 10.",
      ),
      field(
        "Confidence",
        input("confidence", meta.confidence, { type: "number", min: 0, max: 1, step: "any", placeholder: "0.5" }),
        "0 to 1.",
      ),
    ),
    h(
      "datalist",
      { id: "ttl-list" },
      ["forever", "session", "PT2H", "P1D", "P7D"].map((value) => h("option", { value })),
    ),
    checkbox("secret", "A secret: masked on screen", meta.sensitivity === "secret"),
    h(
      "fieldset",
      {},
      h("legend", {}, "Where it applies"),
      h(
        "p",
        { class: "muted small" },
        "Leave all of it empty for everywhere. Another scope makes another variant of the hint.",
      ),
      h(
        "div",
        { class: "form-grid" },
        field("Directories", input("cwd_glob", list(scope.cwd_glob).join(", "), { placeholder: "**/http-proxy*" })),
        field("Repositories", input("repo", list(scope.repo).join(", "), { placeholder: "git:org/repo" })),
        field("Branches", input("branch", list(scope.branch).join(", "), { placeholder: "release/*" })),
        field("Needs variables", input("env_required", list(scope.env_required).join(", "), { placeholder: "CI" })),
        field("Variables with values", input("env_match", env, { placeholder: "STAGE=dev" })),
      ),
      h(
        "div",
        { class: "toolbar" },
        SYSTEMS.map(([os, name]) => checkbox(`os-${os}`, name, list(scope.os).includes(os))),
      ),
    ),
    message,
    h(
      "div",
      { class: "dialog-buttons" },
      button("Cancel", () => dialog.close()),
      h("button", { type: "submit", class: "button button-main" }, "Save"),
    ),
  );
  const dialog = h("dialog", { class: "dialog dialog-wide", "aria-labelledby": "editor-title" }, form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  (old ? text : component).focus();
}

/** A scope as the form writes it, to compare scopes: lists for all conditions. */
function normal(scope) {
  const result = {};
  for (const name of ["cwd_glob", "repo", "branch", "env_required", "os"]) {
    if (list(scope[name]).length) result[name] = list(scope[name]);
  }
  if (Object.keys(scope.env_match ?? {}).length) result.env_match = scope.env_match;
  return result;
}

async function remove(one, reload) {
  const { component, key } = one;
  const name = `${component}/${key}`;
  let hint;
  try {
    // What was deleted may be newer than what the list shows.
    ({ previous: hint } = await call("delete_hint", { component, key, scope: scopeOf(one.hint) }));
  } catch (error) {
    toast(error.message);
    return;
  }
  await reload();
  const payload = { schema_version: "1.0", components: { [component]: { hints: { [key]: hint } } } };
  const newer = hint.version === one.hint.version ? "" : ` It had been changed to version ${hint.version}.`;
  undoable(`Deleted ${name}.${newer}`, async () => {
    if (await stored(component, key, scopeOf(hint))) throw new Error(`${name} was stored again meanwhile, and stays so.`);
    await call("import_hints", { payload, mode: "merge", allow_secret: isSecret(hint) || undefined });
    await reload();
  });
}

function variant(one, verdict, tools) {
  const { hint, component, key } = one;
  const scope = conditions(scopeOf(hint));
  const name = `${component}/${key}`;
  return h(
    "li",
    { class: "hint" },
    h(
      "div",
      { class: "hint-main" },
      valueView(one),
      h(
        "div",
        { class: "meta" },
        badge(kindName[mainText(hint.value).kind]),
        isSecret(hint) ? badge("secret") : null,
        h("span", {}, scope.length ? `Only for ${scope.join("; ")}` : "Applies everywhere"),
        h("span", {}, ttlText(hint.meta)),
        h("span", {}, hint.use_count ? `used ${plural(hint.use_count, "time")}` : "never used"),
        h("span", {}, `version ${hint.version}, changed `, time(hint.updated_at)),
        list(hint.meta?.tags).map((tag) => badge(`#${tag}`)),
      ),
      hint.meta?.reason ? h("p", { class: "muted" }, hint.meta.reason) : null,
      verdictView(verdict),
    ),
    h(
      "div",
      { class: "toolbar hint-tools" },
      button("Copy", () => copy(mainText(hint.value).text, "Value"), {
        class: "button button-quiet",
        "aria-label": `Copy ${name}`,
      }),
      button("Edit", () => editor(one, tools), { class: "button button-quiet", "aria-label": `Edit ${name}` }),
      button("Delete", () => remove(one, tools.reload), {
        class: "button button-quiet",
        "aria-label": `Delete ${name}`,
      }),
    ),
  );
}

/** The hints by component and key, filtered by words. `chosen` is the one that the address names, as `component/key`. */
function groups(hints, found, chosen, tools) {
  const components = new Map();
  for (const one of hints) {
    const keys = components.get(one.component) ?? components.set(one.component, new Map()).get(one.component);
    keys.set(one.key, [...(keys.get(one.key) ?? []), one]);
  }
  return [...components]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([component, keys]) =>
      h(
        "section",
        { class: "card" },
        h("h2", { class: "break" }, component),
        [...keys]
          .sort(([a], [b]) => a.localeCompare(b))
          .map(([key, variants]) =>
            h(
              "div",
              { class: "hint-key", "aria-current": `${component}/${key}` === chosen ? "true" : null },
              h(
                "h3",
                { class: "break" },
                key,
                variants.length > 1 ? h("span", { class: "muted" }, ` ${variants.length} variants`) : null,
              ),
              h(
                "ul",
                { class: "plain-list" },
                variants.map((one) => asRow(variant(one, found?.get(identity(one)), tools), "[aria-label^=Edit]")),
              ),
            ),
          ),
      ),
    );
}

export async function open(root, { params, signal, navigate }) {
  let current = params;
  const find = input("q", "", { type: "search", placeholder: "key, value or tag" });
  const place = h("div", { class: "stack", "aria-live": "polite" });
  const figures = h("p", { class: "muted" });
  const where = h("div", {});
  let hints = [];
  let projects = [];
  let found = null;

  const show = () => {
    const wanted = find.value.trim().toLowerCase();
    const shown = hints.filter(({ component, key, hint }) =>
      JSON.stringify([component, key, isSecret(hint) ? "" : hint.value, hint.meta?.tags ?? []])
        .toLowerCase()
        .includes(wanted),
    );
    const keys = new Set(hints.map((one) => JSON.stringify([one.component, one.key]))).size;
    figures.textContent = `${plural(hints.length, "hint")} under ${plural(keys, "key")}`;
    if (!hints.length) {
      replace(
        place,
        h(
          "div",
          {},
          empty(
            "No hints yet",
            "A hint is a small fact under a component and a key, such as the exact command that builds a service.",
            prose(
              "Make the first one with “New hint”, or run " +
                '`rekindle hint set http-proxy build "docker compose build router"`.',
            ),
          ),
        ),
      );
    } else if (!shown.length) {
      replace(place, h("div", {}, empty("No hint contains these words", "Clear the field to see all hints.")));
    } else {
      // Cards that look as before stay: their values may be unfolded, and the focus may be in them.
      renew(place, groups(shown, found, current.get("hint"), { reload }));
    }
  };

  const showVerdict = (wanted) => {
    const result = where.querySelector("[role=status]");
    if (!result) return;
    const appear = found ? [...found.values()].filter((one) => one.matched && one.best).length : 0;
    result.textContent = found ? `${plural(appear, "hint")} would appear for ${wanted.text}.` : "";
  };

  const reload = () =>
    fill(place, async (isStale) => {
      const { payload } = await call("export_hints", {}, { signal });
      const wanted = situation(current, projects);
      const listed = flatten(payload);
      const judged = wanted && listed.length ? await verdictsFor(listed, wanted.context, signal) : null;
      if (isStale()) return [];
      hints = listed;
      found = judged;
      showVerdict(wanted);
      show();
      return [...place.childNodes];
    });

  find.addEventListener("input", () => {
    show();
    const query = new URLSearchParams(location.search);
    if (find.value) query.set("q", find.value);
    else query.delete("q");
    history.replaceState(history.state, "", `/?${query}`);
  });
  replace(
    root,
    intro(
      "Small facts that agents get when they fit: exact commands, directories, toggles.",
      button("New hint", () => editor(null, { reload }), { class: "button button-main" }),
    ),
    where,
    h("div", { class: "toolbar filter-bar" }, field("Find", find), figures),
    place,
  );
  find.value = current.get("q") ?? "";
  try {
    ({ projects } = await call("list_projects", { counts: false }, { signal }));
  } catch (error) {
    if (error.name === "AbortError") return {};
  }
  const project = select("in", [["", "Any project"], ...projects.map((one) => [one.path, one.name])]);
  const branch = input("branch", "", { placeholder: "main" });
  const os = select("os", [["", "Any system"], ...SYSTEMS]);
  const form = h(
    "form",
    {
      class: "card",
      onsubmit: (event) => {
        event.preventDefault();
        navigate({ view: "hints", q: find.value, ...values(form) });
      },
    },
    h("h2", {}, "Would it appear here?"),
    h(
      "div",
      { class: "toolbar filter-bar" },
      field("Project", project),
      field("Branch", branch),
      field("System", os),
      h("button", { type: "submit", class: "button" }, "Check"),
      button("Clear", () => navigate({ view: "hints", q: find.value }), { class: "button button-quiet" }),
    ),
    h("p", { role: "status", class: "muted" }),
  );
  replace(where, form);
  const fields = () => {
    project.value = current.get("in") ?? "";
    branch.value = current.get("branch") ?? "";
    os.value = current.get("os") ?? "";
  };
  fields();
  /** Leads to the hint that the address names. */
  const showChosen = () => {
    const chosen = place.querySelector("[aria-current]");
    chosen?.querySelector("[aria-label^=Edit]")?.focus({ preventScroll: true });
    chosen?.scrollIntoView({ block: "center", behavior: "instant" });
  };
  await reload();
  showChosen();
  let changing = 0;
  const changed = () => {
    clearTimeout(changing);
    changing = setTimeout(reload, CHANGED_MS);
  };
  const ends = [
    subscribe("events/subscribe", { kind: "hint/" }, ({ kind }) => kind.startsWith("hint/") && changed()),
    onState(({ connected }) => connected && changed()),
  ];
  return {
    isLive: true,
    update: (next) => {
      current = next;
      find.value = current.get("q") ?? "";
      fields();
      return reload().then(showChosen);
    },
    close: () => {
      clearTimeout(changing);
      for (const end of ends) end();
    },
  };
}
