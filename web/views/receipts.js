// Receipts: the injected text, when, into which session, why, its tokens, and whether it was used.

import { call } from "/api.js";
import { problem } from "/dialog.js";
import { entryLink, h, prose, replace } from "/dom.js";
import { number, oneLine, plainReason, plural, time } from "/format.js";
import {
  asRow,
  button,
  empty,
  field,
  fill,
  intro,
  input,
  meter,
  percent,
  section,
  select,
  sessionLink,
  table,
  values,
} from "/parts.js";
import { isTracked, usedMark } from "/records.js";

const PAGE = 50;

/** The most lines of one reply. */
const LINES_MAX = 1000;

const SOURCES = {
  obs: "Records",
  hint: "Hints",
  ghap: "Ghaps",
  outcome: "Outcomes of runs",
  "check-in": "Check-ins",
  orphan: "Ghaps without a session",
  memory: "Memories",
  experience: "Experiences",
  value: "Values",
  fix: "Fixes",
  context: "Declared context",
  session: "Context of resumed sessions",
};

const sourceName = (source) => SOURCES[source] ?? source;

function totals(summary) {
  const sources = summary?.sources ?? [];
  if (!sources.length) return null;
  const shown = sources.reduce((sum, one) => sum + one.shown, 0);
  const tracked = sources.filter((one) => isTracked(one.source));
  const used = tracked.reduce((sum, one) => sum + one.used, 0);
  const of = tracked.reduce((sum, one) => sum + one.shown, 0);
  const tokens = sources.reduce((sum, one) => sum + one.tokens, 0);
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "What was shown, by source"),
    h(
      "ul",
      { class: "figures" },
      h("li", {}, h("strong", {}, number(shown)), h("span", { class: "muted" }, "lines shown")),
      h("li", {}, h("strong", {}, number(tokens)), h("span", { class: "muted" }, "tokens")),
      h("li", {}, h("strong", {}, of ? percent(used / of) : "–"), h("span", { class: "muted" }, "of the tracked lines used")),
    ),
    table(
      "Sources of injected text",
      [
        { title: "Source", cell: (one) => sourceName(one.source) },
        { title: "Shown", number: true, cell: (one) => number(one.shown) },
        { title: "Used", number: true, cell: (one) => (isTracked(one.source) ? number(one.used) : "–") },
        {
          title: "Share used",
          cell: (one) =>
            isTracked(one.source)
              ? h("span", { class: "with-meter" }, meter(one.share), percent(one.share))
              : h("span", { class: "muted" }, "not tracked"),
        },
        { title: "Tokens", number: true, cell: (one) => number(one.tokens) },
      ],
      sources,
    ),
  );
}

function ignored(summary) {
  const entries = summary?.ignored ?? [];
  return section(
    "Shown often, never used",
    entries.length
      ? [
          h("p", { class: "muted" }, "Open an entry to correct or delete it."),
          table(
            "Entries that were shown and never used",
            [
              { title: "Entry", wide: true, cell: (one) => entryLink(one.path) },
              { title: "Sessions", number: true, cell: (one) => number(one.sessions) },
            ],
            entries,
          ),
        ]
      : h(
          "p",
          { class: "muted" },
          "Nothing so far. An entry is listed here after five sessions in which it was shown and never used.",
        ),
  );
}

/** The link to an entry with room for the beginning of its text, which `describe` adds. */
function itemCell(item) {
  const isContext = item.path.startsWith("session://");
  return [entryLink(item.path, isContext ? "The session’s context" : item.path), h("span", { class: "item-text muted small", "data-path": item.path })];
}

/** Adds the sets that a session has now to the line about its context. */
async function describeContext(place, id, signal) {
  const { meta } = await call("get_session", { session_id: decodeURIComponent(id) }, { signal });
  const sets = Object.entries(meta.context).map(([name, items]) => `${name}: ${items.join(", ")}`);
  replace(place, oneLine(sets.join("; ") || "the session has no sets now", 140));
}

/** Adds the beginning of each record to the lines of a list. Deleted records are named as such. */
async function describe(list, signal) {
  const places = new Map();
  for (const place of list.querySelectorAll("[data-path]")) {
    const session = /^session:\/\/([^/]+)$/.exec(place.dataset.path)?.[1];
    if (session) describeContext(place, session, signal).catch(() => {});
    const id = Number(/^obs:\/\/(\d+)$/.exec(place.dataset.path)?.[1]);
    delete place.dataset.path;
    if (id) places.set(id, [...(places.get(id) ?? []), place]);
  }
  const ids = [...places.keys()];
  for (let from = 0; from < ids.length; from += PAGE) {
    const asked = ids.slice(from, from + PAGE);
    const { results } = await call("get_observations", { ids: asked }, { signal });
    const texts = new Map(results.map((record) => [record.id, oneLine(record.content, 140)]));
    for (const id of asked) for (const place of places.get(id)) replace(place, texts.get(id) ?? "deleted");
  }
}

/** The receipts of a page. Lines whose use is not recorded are neither used nor unused, so that filter leaves them out. */
function listed(page, asked) {
  if (asked.used !== false) return page.receipts;
  const left = page.receipts.map((one) => ({ ...one, items: one.items.filter((item) => isTracked(item.path)) }));
  return left.filter((one) => one.items.length > 0);
}

function receiptCard(receipt) {
  const tracked = receipt.items.filter((item) => isTracked(item.path)).length;
  const used = receipt.items.filter((item) => item.used).length;
  return h(
    "li",
    { class: "card receipt" },
    h(
      "div",
      { class: "meta" },
      time(receipt.at),
      receipt.session_id ? h("span", {}, "session ", sessionLink(receipt.session_id)) : null,
      receipt.project ? h("span", {}, receipt.project) : null,
      h(
        "span",
        { class: "score" },
        `${plural(receipt.tokens, "token")}${tracked ? `, ${used} of ${plural(tracked, "tracked line")} used` : ""}`,
      ),
    ),
    table(
      "Injected lines",
      [
        { title: "Entry", cell: itemCell },
        { title: "Reason", wide: true, cell: (item) => plainReason(item.reason) },
        { title: "Tokens", number: true, cell: (item) => number(item.tokens) },
        {
          title: "Used",
          cell: usedMark,
        },
      ],
      receipt.items,
    ),
    receipt.left_out
      ? h("p", { class: "muted small" }, `${plural(receipt.left_out, "line")} did not fit the budget.`)
      : null,
  );
}

/** The parameters of `receipts` for the address. */
function request(params, filters) {
  const asked = { limit: PAGE };
  if (params.get("session_id")) asked.session_id = params.get("session_id");
  if (params.get("used")) asked.used = params.get("used") === "yes";
  if (filters.project) asked.project = filters.project;
  if (filters.from) asked.from = filters.from;
  if (filters.to) asked.to = filters.to;
  return asked;
}

export async function open(root, { params, filters, signal, navigate }) {
  const session = input("session_id", "", { placeholder: "whole id" });
  const used = select("used", [
    ["", "All"],
    ["yes", "Used"],
    ["no", "Not used"],
  ]);
  const submit = (event) => {
    event?.preventDefault();
    navigate({ view: "receipts", ...values(form) });
  };
  const form = h(
    "form",
    { class: "toolbar filter-bar", onsubmit: submit },
    field("Session", session),
    field("Lines", used),
    h("button", { type: "submit", class: "button" }, "Filter"),
  );
  used.addEventListener("change", submit);
  const summaryPlace = h("div", { class: "summary-grid" });
  const listPlace = h("div", { class: "stack", "aria-live": "polite" });
  replace(
    root,
    intro(
      "Every line that Rekindle gave to an agent, with its reason, its cost, and whether the session made use of it.",
    ),
    summaryPlace,
    form,
    listPlace,
  );

  let asked = {};
  /** Lines that are listed, all pages together. */
  let shown = PAGE;

  const load = async () => {
    const { limit: _, used: __, ...where } = asked;
    await Promise.all([
      fill(summaryPlace, async () => {
        const { summary } = await call("receipts", { ...where, summary: true }, { signal });
        const sums = totals(summary);
        return sums ? [sums, ignored(summary)] : [];
      }),
      fill(listPlace, async () => {
        const page = await call("receipts", { ...asked, limit: Math.min(shown, LINES_MAX) }, { signal });
        if (!listed(page, asked).length && !page.next_cursor) {
          const filtered = Object.keys(asked).length > 1;
          return h(
            "div",
            { class: "card" },
            filtered
              ? empty("No receipt matches the filters", "Choose another project, session or time.")
              : empty(
                  "Nothing was injected yet",
                  prose(
                    "When a connected agent starts a session or runs a command, the text it gets is listed here. " +
                      "`rekindle install` connects an agent.",
                  ),
                ),
          );
        }
        const list = h(
          "ol",
          { class: "hits" },
          listed(page, asked).map((one) => asRow(receiptCard(one))),
        );
        let cursor = page.next_cursor;
        const more = button(
          "Show older",
          async () => {
            more.disabled = true;
            try {
              const next = await call("receipts", { ...asked, cursor }, { signal });
              list.append(...listed(next, asked).map((one) => asRow(receiptCard(one))));
              describe(list, signal).catch(() => {});
              cursor = next.next_cursor;
              shown += PAGE;
            } catch (error) {
              if (error.name !== "AbortError") more.after(problem(error));
            }
            more.disabled = false;
            more.hidden = !cursor;
          },
          { class: "button more" },
        );
        more.hidden = !cursor;
        describe(list, signal).catch(() => {});
        return [list, more];
      }),
    ]);
  };
  const update = (now, shared) => {
    session.value = now.get("session_id") ?? "";
    used.value = now.get("used") ?? "";
    asked = request(now, shared);
    shown = PAGE;
    return load();
  };
  await update(params, filters);
  return { update, refresh: load };
}
