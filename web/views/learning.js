// What was learned: ghaps with their results, memories, values, and fixes of failures. Each can be deleted.

import { call } from "/api.js";
import { confirm, problem, toast } from "/dialog.js";
import { entryLink, h, link, linked, prose, replace } from "/dom.js";
import { number, plural, time } from "/format.js";
import { subscribe } from "/live.js";
import { asRow, badge, button, empty, facts, field, fileLink, fill, intro, meter, select } from "/parts.js";

const TABS = [
  ["ghaps", "Ghaps"],
  ["memories", "Memories"],
  ["values", "Values"],
  ["fixes", "Fixes"],
];
const PAGE = 50;
/** How long a list waits after an event, so that several events are one reload. */
const CHANGED_MS = 300;
/** The events that change a list. */
const CHANGED_BY = { ghaps: "ghap/", memories: "memory/", values: "value/" };

/** Whether more than the first page of a list is shown. */
const isLong = (place) => place.querySelectorAll("li").length > PAGE;

/** What the entries of each list are; an empty list says more. */
const MEANINGS = {
  ghaps: "A ghap is a goal, a hypothesis, an action and a prediction, written down before the work and resolved after it.",
  memories: "A memory is a text that later sessions recall: a preference, a fact, a decision.",
  values: "A value is a rule that an agent drew from many experiences.",
  fixes: "A failed test or build, the run that passed afterwards, and what changed in between.",
};

/** How well a result is proved: the words for its tier, and how it got it. */
const PROOFS = {
  gold: ["proved by a run", "Gold: the last test run or build before the result agrees with it."],
  silver: ["not proved by a run", "Silver: no test run or build shortly before the result proves it."],
  bronze: ["vague hypothesis", "Bronze: the hypothesis or the prediction has fewer than three words, or only repeats the goal."],
  abandoned: ["given up", "The hypothesis was given up before it had a result."],
};

function proofOf(tier) {
  if (!tier) return null;
  const [words, why] = PROOFS[tier] ?? [tier, tier];
  return h("span", { title: why }, words);
}

const OUTCOMES = {
  hypothesis: ["active", "accent"],
  confirmed: ["✓ confirmed", "good"],
  falsified: ["✕ falsified", "failed"],
  abandoned: ["abandoned", undefined],
};

function outcomeBadge(status) {
  const [text, kind] = OUTCOMES[status] ?? [status];
  return badge(text, kind);
}

/** Asks, deletes and reloads. Nothing of this kind can be restored. */
async function remove({ what, text, method, params }, reload) {
  const yes = await confirm({
    title: `Delete this ${what}?`,
    text: [h("p", {}, text), h("p", {}, "This cannot be undone.")],
    danger: true,
  });
  if (!yes) return;
  try {
    const { deleted } = await call(method, params);
    toast(deleted ? `The ${what} is deleted.` : `The ${what} was deleted already.`);
  } catch (error) {
    toast(error.message);
  }
  await reload();
}

const removeButton = (label, onclick) =>
  button("Delete…", onclick, { class: "button button-quiet", "aria-label": `Delete ${label}` });

function ghapDetails(ghap, proof) {
  const list = (items, show) =>
    items?.length
      ? h(
          "ul",
          {},
          items.map((item) => h("li", {}, show(item))),
        )
      : null;
  const text = (item) => (typeof item === "string" ? item : (item.text ?? item.note ?? JSON.stringify(item)));
  return facts([
    ["Hypothesis", ghap.hypothesis],
    ["Action", ghap.action],
    ["Prediction", ghap.prediction],
    ["Result", ghap.result],
    ["Surprise", ghap.surprise],
    ["Root cause", ghap.root_cause ? `${ghap.root_cause.category}: ${ghap.root_cause.description}` : null],
    ["What worked", ghap.lesson?.what_worked],
    ["Lesson", ghap.lesson?.takeaway],
    ["Strategy", ghap.strategy],
    ["Iterations", number(ghap.iteration_count ?? 1)],
    ["Proof so far", proof],
    ["Notes", list(ghap.notes, text)],
    ["Earlier versions", list(ghap.history, (item) => item.hypothesis ?? text(item))],
    [
      "Runs",
      list(ghap.evidence, (item) => [
        item.command ?? text(item),
        " ",
        item.result ?? item.outcome ?? "",
        item.id ? [" ", entryLink(`obs://${item.id}`, `#${item.id}`)] : null,
      ]),
    ],
    ["Session", ghap.session_id ? link({ session: ghap.session_id }, ghap.session_id) : null],
    ["Path", entryLink(`ghap://${ghap.id}`)],
  ]);
}

function ghapItem(entry, signal, reload) {
  const body = h("div", { class: "panel" });
  const details = h(
    "details",
    {
      ontoggle: () => {
        if (!details.open || body.firstChild) return;
        fill(body, async () => {
          const { ghap, proof } = await call("get_ghap", { ghap_id: entry.id }, { signal });
          return ghapDetails(ghap, proof);
        });
      },
    },
    h("summary", {}, "Hypothesis, result and lesson"),
    body,
  );
  return h(
    "li",
    { class: "card" },
    h(
      "div",
      { class: "card-line" },
      h(
        "div",
        {},
        h(
          "div",
          { class: "meta" },
          outcomeBadge(entry.outcome_status),
          badge(entry.domain),
          proofOf(entry.confidence_tier),
          time(entry.captured_at ?? entry.created_at),
        ),
        h("p", { class: "record-text" }, entry.goal),
      ),
      removeButton(entry.goal, () =>
        remove(
          {
            what: "ghap",
            text: entry.goal,
            method: "delete_ghap",
            params: { ghap_id: entry.id },
          },
          reload,
        ),
      ),
    ),
    details,
  );
}

async function ghaps(project, params, signal, reload) {
  const outcome = params.get("outcome") ?? "";
  const domain = params.get("domain") || undefined;
  const asked = { project, limit: 100, domain };
  const [active, resolved] = await Promise.all([
    !outcome || outcome === "hypothesis"
      ? call("list_ghap_entries", { ...asked, outcome: "hypothesis" }, { signal })
      : { results: [] },
    outcome === "hypothesis"
      ? { results: [] }
      : call("list_ghap_entries", { ...asked, outcome: outcome || undefined }, { signal }),
  ]);
  if (!active.results.length && !resolved.results.length) {
    return outcome || domain
      ? empty("No ghap matches the filters", "Choose another result or kind of work.")
      : empty(
          "No ghaps yet",
          "A ghap is a goal, a hypothesis, an action and a prediction that an agent writes down before it acts.",
          prose("Agents start one with the tool `start_ghap`; you can with `rekindle ghap start`."),
        );
  }
  const part = (title, entries) =>
    entries.length
      ? h(
          "section",
          {},
          h("h2", {}, title, h("span", { class: "muted" }, ` ${number(entries.length)}`)),
          h(
            "ul",
            { class: "hits" },
            entries.map((entry) => asRow(ghapItem(entry, signal, reload), "summary")),
          ),
        )
      : null;
  return [part("Active", active.results), part("Resolved", resolved.results)];
}

function memoryItem(memory, signal, reload) {
  const old = memory.status === "superseded";
  const text = h("p", { class: "record-text" }, linked(memory.preview));
  return h(
    "li",
    { class: old ? "card superseded" : "card" },
    h(
      "div",
      { class: "card-line" },
      h(
        "div",
        {},
        h(
          "div",
          { class: "meta" },
          badge(memory.category),
          old ? badge("superseded") : null,
          h("span", {}, `importance ${memory.importance}`),
          time(memory.created_at),
          (memory.tags ?? []).map((tag) => badge(`#${tag}`)),
          entryLink(`memory://${memory.id}`, "Whole text"),
        ),
        text,
        old
          ? h(
              "p",
              { class: "muted small" },
              "Replaced by ",
              entryLink(`memory://${memory.superseded_by}`, "a newer memory"),
              ".",
            )
          : null,
      ),
      removeButton(memory.preview, () =>
        remove(
          {
            what: "memory",
            text: [memory.preview, " Memories that it replaced hold again."],
            method: "delete_memory",
            params: { memory_id: memory.id },
          },
          reload,
        ),
      ),
    ),
  );
}

async function memories(project, params, signal, reload) {
  const asked = { project, limit: PAGE, category: params.get("category") || undefined };
  const first = await call("list_memories", asked, { signal });
  if (!first.results.length) {
    return asked.category
      ? empty("No memory of this category", "Choose another category.")
      : empty(
          "No memories yet",
          "A memory is a text that later sessions recall: a preference, a fact, a decision.",
          prose("Agents store one with the tool `store_memory`; you can with `rekindle memory add`."),
        );
  }
  const list = h(
    "ul",
    { class: "hits" },
    first.results.map((memory) => asRow(memoryItem(memory, signal, reload))),
  );
  let offset = first.results.length;
  const more = button(
    "Show more",
    async () => {
      more.disabled = true;
      try {
        const next = await call("list_memories", { ...asked, offset }, { signal });
        list.append(...next.results.map((memory) => asRow(memoryItem(memory, signal, reload))));
        offset += next.results.length;
        more.hidden = offset >= next.total || !next.results.length;
      } catch (error) {
        if (error.name !== "AbortError") more.after(problem(error));
      }
      more.disabled = false;
    },
    { class: "button more" },
  );
  more.hidden = offset >= first.total;
  return [h("p", { class: "muted" }, plural(first.total, "memory", "memories")), list, more];
}

async function learnedValues(project, _params, signal, reload) {
  const { results } = await call("list_values", { project, limit: 100 }, { signal });
  if (!results.length) {
    return empty(
      "No values yet",
      "A value is a rule that an agent drew from a cluster of at least 20 experiences.",
      prose("`rekindle value clusters` shows the clusters; an agent stores a rule with the tool `store_value`."),
    );
  }
  return h(
    "ul",
    { class: "hits" },
    results.map((value) =>
      h(
        "li",
        { class: "card" },
        h(
          "div",
          { class: "card-line" },
          h(
            "div",
            {},
            h(
              "div",
              { class: "meta" },
              badge(value.axis),
              value.cluster_id,
              time(value.created_at),
              value.distance_to_centroid === undefined
                ? null
                : h(
                    "span",
                    { class: "with-meter" },
                    meter(1 - value.distance_to_centroid),
                    `fits its cluster ${(1 - value.distance_to_centroid).toFixed(2)}`,
                  ),
            ),
            h("p", { class: "record-text" }, value.text),
          ),
          removeButton(value.text, () =>
            remove(
              {
                what: "value",
                text: value.text,
                method: "delete_value",
                params: { value_id: value.id },
              },
              reload,
            ),
          ),
        ),
      ),
    ),
  );
}

/** Deletes the failed run, without which the failure and its fix are no longer known. */
async function removeFix(failure, reload) {
  const id = Number(failure.path.replace("fix://", ""));
  const yes = await confirm({
    title: "Delete this failure and its fix?",
    text: [
      h("p", {}, failure.command),
      h("p", {}, `The record of the failed run, #${id}, is deleted. This cannot be undone.`),
    ],
    danger: true,
  });
  if (!yes) return;
  try {
    await call("purge", { ids: [id], confirm: true });
    toast("The failure is deleted.");
  } catch (error) {
    toast(error.message);
  }
  await reload();
}

async function fixes(project, _params, signal, reload) {
  const { failures } = await call("find_fix", { project, limit: 100 }, { signal });
  if (!failures.length) {
    return empty("No failures yet", "Failed tests and builds, and the run that passed afterwards, are listed here.");
  }
  return h(
    "ul",
    { class: "hits" },
    failures.map((failure) =>
      h(
        "li",
        { class: "card" },
        h(
          "div",
          { class: "card-line" },
          h(
            "div",
            {},
            h(
              "div",
              { class: "meta" },
              badge("Failed", "failed"),
              h("span", {}, `seen ${plural(failure.seen, "time")}`),
              time(failure.last_at),
              entryLink(failure.path),
            ),
            h("p", { class: "record-text" }, h("code", { class: "break" }, failure.command)),
            h("pre", { class: "text" }, failure.error),
          ),
          removeButton(failure.command, () => removeFix(failure, reload)),
        ),
        failure.fix
          ? facts([
              [
                "Passed later",
                [
                  h("code", { class: "break" }, failure.fix.command),
                  " ",
                  time(failure.fix.at),
                  " ",
                  entryLink(`obs://${failure.fix.id}`, `#${failure.fix.id}`),
                ],
              ],
              [
                "Changed in between",
                failure.fix.files?.length
                  ? h(
                      "ul",
                      { class: "plain-list" },
                      failure.fix.files.map((file) => h("li", {}, fileLink(file))),
                    )
                  : null,
              ],
              [
                "Run in between",
                failure.fix.commands?.length
                  ? h(
                      "ul",
                      { class: "plain-list" },
                      failure.fix.commands.map((one) => h("li", {}, h("code", { class: "break" }, one))),
                    )
                  : null,
              ],
            ])
          : h("p", { class: "muted" }, "No run of this kind has passed since."),
      ),
    ),
  );
}

const LISTS = { ghaps, memories, values: learnedValues, fixes };

const DOMAINS = [
  "debugging",
  "refactoring",
  "feature",
  "testing",
  "configuration",
  "documentation",
  "performance",
  "security",
  "integration",
];
const CATEGORIES = ["preference", "fact", "event", "workflow", "context", "error", "decision"];

const same = (names) => names.map((name) => [name, name]);

export async function open(root, { params, filters, signal, navigate }) {
  const tabs = h("nav", { class: "tabs", "aria-label": "What was learned" });
  const bar = h("div", {});
  const place = h("div", { class: "stack", "aria-live": "polite" });
  replace(
    root,
    intro("What agents believed, tried and found out. Later sessions get it when it fits."),
    tabs,
    bar,
    place,
  );
  let current = params;
  let shared = filters;
  let tab = "";
  const choose = (name, options) => {
    const control = select(name, options, current.get(name) ?? "");
    control.addEventListener("change", () =>
      navigate({ view: "learning", ...Object.fromEntries(current), [name]: control.value }),
    );
    return control;
  };
  const load = () => {
    const wanted = current.get("tab") || "ghaps";
    const list = LISTS[wanted];
    replace(
      tabs,
      TABS.map(([id, title]) =>
        link({ view: "learning", tab: id }, title, { "aria-current": id === wanted ? "page" : undefined }),
      ),
    );
    const bars = {
      ghaps: () => [
        field(
          "Result",
          choose("outcome", [["", "All"], ["hypothesis", "Active"], ...same(["confirmed", "falsified", "abandoned"])]),
        ),
        field("Kind of work", choose("domain", [["", "All"], ...same(DOMAINS)])),
      ],
      memories: () => [field("Category", choose("category", [["", "All"], ...same(CATEGORIES)]))],
    };
    replace(
      bar,
      MEANINGS[wanted] && h("p", { class: "muted small" }, MEANINGS[wanted]),
      bars[wanted] && h("div", { class: "toolbar filter-bar" }, bars[wanted]()),
    );
    if (tab !== wanted) replace(place);
    tab = wanted;
    return fill(place, async () => {
      if (!list) return empty("There is no such list", "Choose one above.");
      return list(shared.project || "*", current, signal, load);
    });
  };
  await load();
  // A list in which something is opened stays until the reader asks; the head of the view says how old it is.
  const isInUse = () =>
    place.querySelector("details[open]") || isLong(place) || root.contains(document.activeElement?.closest?.("select"));
  const refresh = (isAsked) => (isAsked || !isInUse()) && load();
  let changing = 0;
  const changed = () => {
    clearTimeout(changing);
    changing = setTimeout(() => document.dispatchEvent(new Event("rekindle:changed")), CHANGED_MS);
  };
  const ends = Object.entries(CHANGED_BY).map(([of, prefix]) =>
    subscribe("events/subscribe", { kind: prefix }, ({ kind }) => tab === of && kind.startsWith(prefix) && changed()),
  );
  return {
    refresh,
    update: (next, now) => {
      current = next;
      shared = now ?? shared;
      return load();
    },
    close: () => {
      clearTimeout(changing);
      for (const end of ends) end();
    },
  };
}
