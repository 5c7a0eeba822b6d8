// Search over all records, with the reasons for each hit, its surroundings, its file and similar records.

import { call } from "/api.js";
import { entryLink, h, isSession, noted, prose, replace } from "/dom.js";
import { problem } from "/dialog.js";
import { number, plural, time, visible } from "/format.js";
import {
  asRow,
  badge,
  button,
  checkbox,
  empty,
  field,
  fileLink,
  fill,
  intro,
  input,
  meter,
  recordLine,
  select,
  sessionLink,
  typeBadge,
  TYPES,
  values,
} from "/parts.js";

const PAGE = 20;

/** Parts of the score in the words of the page. */
const PARTS = {
  lexical: "Words",
  neighbours: "Neighbouring records",
  session: "Session",
  meaning: "Meaning",
  recency: "Recency",
  type: "Type of record",
  cosine: "Similarity",
  overlap: "Common words",
};

const fold = (word) => word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const OPERATORS = new Set(["AND", "OR", "NOT", "NEAR"]);

/** Words that occur in most texts: to mark them would hide the others. */
const STOP_WORDS = new Set(
  ("a an and are as at be but by did do does for from had has have how i if in is it its my not of on or our so that " +
    "the their then there they this to was we were what when where which who why will with you").split(" "),
);

/** The words of a query and those that the daemon matched, for marking. */
function wantedWords(query, reasons) {
  const words = (query.match(/[\p{L}\p{N}_]+/gu) ?? []).filter((word) => !OPERATORS.has(word)).map(fold);
  for (const reason of reasons ?? []) {
    const matched = /^matched: (.*)$/.exec(reason);
    if (matched) words.push(...(matched[1].match(/[\p{L}\p{N}_]+/gu) ?? []).map(fold));
  }
  const content = words.filter((word) => word.length > 1 && !STOP_WORDS.has(word));
  return content.length > 0 ? content : words;
}

/** Whether a word of the text is a form of a searched word: equal, or the same beginning of four or more letters. */
function isMatch(word, wanted) {
  const text = fold(word);
  return wanted.some((search) => {
    if (text === search) return true;
    const [short, long] = text.length < search.length ? [text, search] : [search, text];
    return short.length >= 4 && long.length - short.length <= 3 && long.startsWith(short);
  });
}

/** Splits a text into plain parts and marked words. */
export function marked(text, wanted) {
  return text
    .split(/([\p{L}\p{N}_]+)/gu)
    .map((part, at) => (at % 2 && isMatch(part, wanted) ? h("mark", {}, part) : part));
}

function scoreParts(parts) {
  return h(
    "dl",
    { class: "score-parts" },
    Object.entries(parts ?? {}).map(([name, value]) => [
      h("dt", {}, PARTS[name] ?? name),
      h("dd", {}, meter(value), h("span", { class: "number" }, Number(value).toFixed(2))),
    ]),
  );
}

function why(hit) {
  const explained = hit.match_explain;
  return h(
    "div",
    {},
    h(
      "ul",
      { class: "reasons" },
      (explained?.reasons ?? []).map((reason) => h("li", {}, reason)),
    ),
    scoreParts(explained?.parts ?? hit.parts),
  );
}

async function surroundings(hit, signal) {
  const { before, anchor, after } = await call("timeline", { anchor: hit.id, before: 4, after: 4 }, { signal });
  return h(
    "ul",
    { class: "lines" },
    before.map((record) => recordLine(record)),
    recordLine(anchor, { current: true }),
    after.map((record) => recordLine(record)),
  );
}

async function fileHistory(hit, signal) {
  const params = { file_path: hit.file_path, project: "*", limit: 12 };
  const { sessions } = await call("file_history", params, { signal });
  if (!sessions.length) return h("p", { class: "muted" }, "No session touched this file.");
  return h(
    "div",
    {},
    h("p", {}, "All touches: ", fileLink(hit.file_path)),
    sessions.map((session) =>
      h(
        "div",
        { class: "group" },
        h("p", { class: "meta" }, sessionLink(session.session_id), time(session.started_at), badge(session.project)),
        session.summary_intent ? h("p", {}, session.summary_intent) : null,
        h(
          "ul",
          { class: "lines" },
          session.touches.map((touch) => recordLine(touch)),
        ),
      ),
    ),
  );
}

async function similar(hit, signal) {
  const params = { path: `obs://${hit.id}`, project: "*", limit: 6 };
  const { results } = await call("find_similar", params, { signal });
  const others = results.filter((other) => other.id !== hit.id);
  if (!others.length) return h("p", { class: "muted" }, "No other record is like this one.");
  return h(
    "ul",
    { class: "lines" },
    others.map((other) => {
      const line = recordLine(other);
      const text = other.duplicate ? "near-duplicate" : `similarity ${Number(other.score).toFixed(2)}`;
      line.firstChild.append(badge(text));
      return line;
    }),
  );
}

/** The buttons of a hit, and the panel that each of them opens; at most one is open. A button is `[text, load, name]`. */
export function panels(hit, signal, all) {
  const body = h("div", { class: "panel", hidden: true });
  const buttons = [];
  const toggle = async (control, load) => {
    const wasOpen = control.getAttribute("aria-expanded") === "true";
    for (const other of buttons) other.setAttribute("aria-expanded", "false");
    body.hidden = wasOpen;
    if (wasOpen) return;
    control.setAttribute("aria-expanded", "true");
    replace(body);
    await fill(body, () => load(hit, signal));
  };
  for (const [label, load, name] of all) {
    const control = button(label, () => toggle(control, load), {
      class: "button button-small button-quiet",
      "aria-expanded": "false",
      "aria-label": name,
    });
    buttons.push(control);
  }
  return [h("div", { class: "toolbar hit-tools" }, buttons), body];
}

export const RECORD_PANELS = { surroundings, fileHistory, similar };

function hitItem(hit, query, signal) {
  const wanted = wantedWords(query, hit.match_explain?.reasons);
  const all = [
    ["Why", async (one) => why(one), "Why this hit"],
    ["Surroundings", surroundings],
    ["Similar", similar, "Similar records"],
  ];
  if (hit.file_path) all.push(["History", fileHistory, "File history"]);
  const [tools, panel] = panels(hit, signal, all);
  return h(
    "li",
    { class: "hit" },
    h(
      "div",
      { class: "hit-head" },
      h(
        "div",
        { class: "meta" },
        typeBadge(hit.obs_type),
        time(hit.timestamp),
        entryLink(`obs://${hit.id}`, `#${hit.id}`),
        hit.project ? h("span", {}, hit.project) : null,
        hit.session_id ? h("span", {}, isSession(hit.session_id) && "session ", sessionLink(hit.session_id)) : null,
        hit.is_pinned ? badge("Pinned") : null,
        hit.count > 1 ? h("span", { class: "badge", title: `${number(hit.count)} records with this text` }, `×${number(hit.count)}`) : null,
        h("span", { class: "score" }, `score ${Number(hit.score ?? 0).toFixed(2)}`),
      ),
      tools,
    ),
    h("p", { class: "record-text" }, marked(visible(hit.content_preview ?? ""), wanted)),
    hit.file_path || hit.note
      ? h("p", { class: "hit-more" }, hit.file_path && fileLink(hit.file_path), hit.note && h("span", { class: "muted" }, noted(hit.note)))
      : null,
    panel,
  );
}

const EXCLUDED = {
  project: "the project",
  obs_type: "the type",
  session_id: "the session",
  file_path: "the file",
  agent: "the agent",
  failed: "the outcome",
  before: "the end of the time range",
  after: "the start of the time range",
};

function nothing(found, asked) {
  const by = (found.excluded_by ?? []).map((name) => EXCLUDED[name] ?? name);
  if (by.length) {
    return empty(
      "Nothing matches all filters",
      `There are hits without ${by.join(" and ")}. Change or remove that filter.`,
    );
  }
  return empty(
    `Nothing was found for “${visible(asked)}”`,
    "Try fewer or other words: a word of the answer, a file name, a part of the error message.",
  );
}

function start() {
  return empty(
    "Search what your agents did, said and ran into",
    'Ask in plain words, or use "a phrase", prefix*, AND, OR and NOT.',
    "Prompts, answers, edits, commands, commits, errors and everything learned are searched.",
  );
}

/** The parameters of `search` in the address, without project and time, which all views share. */
const FILTERS = { type: "obs_type", session_id: "session_id", file: "file_path", agent: "agent", order: "order_by" };

export function request(params, filters) {
  const asked = { query: params.get("q") ?? "", project: filters.project || "*", explain: true, limit: PAGE };
  for (const [name, param] of Object.entries(FILTERS)) {
    if (params.get(name)) asked[param] = params.get(name);
  }
  if (params.get("outcome")) asked.failed = params.get("outcome") === "failed";
  if (params.get("fold") === "no") asked.diverse = false;
  if (filters.from) asked.after = filters.from;
  if (filters.to) asked.before = filters.to;
  return asked;
}

export async function open(root, { params, filters, signal, navigate }) {
  const query = input("q", "", {
    type: "search",
    class: "field search-field",
    "aria-label": "Search",
    placeholder: "Words or a question",
  });
  const controls = {
    type: select("type", [["", "Any type"], ...Object.entries(TYPES)]),
    outcome: select("outcome", [
      ["", "Any outcome"],
      ["failed", "Failed"],
      ["succeeded", "Did not fail"],
    ]),
    agent: input("agent", "", { placeholder: "claude-code", list: "search-agents" }),
    file: input("file", "", { placeholder: "src/cart.rs" }),
    session_id: input("session_id", "", { placeholder: "whole id" }),
    order: select("order", [
      ["", "Best first"],
      ["relevance", "Relevance only"],
      ["blended", "Relevance and recency"],
      ["recent", "Newest first"],
    ]),
  };
  const agents = h("datalist", { id: "search-agents" });
  const clear = button("Clear filters", () => navigate({ view: "search", q: query.value }), {
    class: "button button-quiet",
  });
  const foldBox = checkbox("fold", "Fold equal texts", true);
  const results = h("div", { class: "results", "aria-live": "polite" });
  const submit = (event) => {
    event?.preventDefault();
    const given = values(form);
    const next = { view: "search", ...given, fold: given.fold ? undefined : "no" };
    navigate(next);
  };
  const form = h(
    "form",
    { class: "search-form", role: "search", onsubmit: submit },
    h("div", { class: "search-line" }, query, h("button", { type: "submit", class: "button button-main" }, "Search")),
    h(
      "div",
      { class: "form-grid" },
      field("Type", controls.type),
      field("Outcome", controls.outcome),
      field("Agent", controls.agent),
      field("File", controls.file),
      field("Session", controls.session_id),
      field("Order", controls.order),
      foldBox,
      clear,
    ),
    agents,
  );
  for (const control of [controls.type, controls.outcome, controls.order, foldBox.firstChild]) {
    control.addEventListener("change", () => query.value.trim() && submit());
  }
  replace(root, intro("Everything that is recorded, in all projects or the one you chose above."), form, results);

  let running = null;
  const run = async (now, shared) => {
    running?.abort();
    running = new AbortController();
    const mine = running;
    signal.addEventListener("abort", () => mine.abort(), { once: true });
    query.value = now.get("q") ?? "";
    for (const [name, control] of Object.entries(controls)) control.value = now.get(name) ?? "";
    foldBox.firstChild.checked = now.get("fold") !== "no";
    clear.hidden = ![...Object.keys(controls), "fold"].some((name) => now.get(name));
    if (!query.value.trim()) return replace(results, start());
    const asked = request(now, shared);
    await fill(results, async () => {
      const found = await call("search", asked, { signal: mine.signal });
      if (!found.results.length)
        return [found.warning ? h("p", { class: "notice" }, prose(found.warning)) : null, nothing(found, asked.query)];
      const list = h(
        "ol",
        { class: "hits" },
        found.results.map((hit) => asRow(hitItem(hit, asked.query, signal))),
      );
      const summary = h("p", { class: "muted", role: "status" });
      const more = button("Show more", () => next(), { class: "button more" });
      let offset = found.next_offset;
      const update = () => {
        summary.textContent = `${plural(list.children.length, "result")}${offset ? " shown, there are more" : ""}`;
        more.hidden = !offset;
      };
      const next = async () => {
        more.disabled = true;
        try {
          const page = await call("search", { ...asked, offset }, { signal: mine.signal });
          const first = list.children.length;
          list.append(...page.results.map((hit) => asRow(hitItem(hit, asked.query, signal))));
          offset = page.next_offset;
          update();
          list.children[first]?.querySelector("a")?.focus();
        } catch (error) {
          if (error.name !== "AbortError") more.replaceWith(problem(error));
        }
        more.disabled = false;
      };
      update();
      return [
        found.warning ? h("p", { class: "notice" }, prose(found.warning)) : null,
        found.merely_similar
          ? h("p", { class: "notice" }, "No record contains the words of the query. These are similar in meaning.")
          : null,
        found.partial
          ? h("p", { class: "notice" }, "There may be more: the search stopped before it saw every record.")
          : null,
        summary,
        list,
        more,
      ];
    });
  };
  await run(params, filters);
  call("memory_stats", {}, { signal })
    .then(({ agents: known }) => {
      replace(
        agents,
        Object.keys(known ?? {}).map((name) => h("option", { value: name })),
      );
    })
    .catch(() => {});
  return { update: run, close: () => running?.abort() };
}
