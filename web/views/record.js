// One entry by its path: a record with its surroundings, or the text of any other entry.

import { call } from "/api.js";
import { confirm, copy, endUndo, toast } from "/dialog.js";
import { breakable, entryLink, h, link, linked, noted, prose, replace } from "/dom.js";
import { dayAndTime, exact, number, oneLine, plural, time } from "/format.js";
import {
  badge,
  button,
  empty,
  facts,
  fileLink,
  fill,
  intro,
  sessionLink,
  table,
  typeBadge,
  typeName,
  undoable,
} from "/parts.js";
import { errorText, failedBadge, isFailed, metadataFacts, passedBadge, stateBadge } from "/records.js";
import { panels, RECORD_PANELS } from "/views/search.js";

/** Longest text that is shown at once, in characters; a click shows the rest. */
const SHOWN = 20_000;

/** A text of any length; a long one is shown in part first. */
function longText(text, props = {}) {
  const body = h("pre", { class: "text", ...props }, linked(text.slice(0, SHOWN)));
  if (text.length <= SHOWN) return body;
  const more = button(`Show all ${plural(text.length, "character")}`, () => {
    body.textContent = "";
    body.append(...h("p", {}, text).childNodes);
    more.remove();
  });
  return h("div", {}, body, more);
}

const isEmpty = (value) =>
  value === null || value === undefined || value === "" || (typeof value === "object" && !Object.keys(value).length);

/** The attributes of an entry that is not a record. */
function attributes(entry) {
  const shown = Object.entries(entry.attributes ?? {}).filter(([, value]) => !isEmpty(value));
  return facts(
    shown.map(([name, value]) => {
      const label = name.replaceAll("_", " ");
      if (/_at$/.test(name)) return [label, time(value)];
      if (name === "session_id") return [label, sessionLink(value)];
      if (typeof value === "object") return [label, h("code", { class: "break" }, JSON.stringify(value))];
      return [label, linked(String(value))];
    }),
  );
}

/** The view where entries of a kind are listed and changed. */
const HOMES = {
  hint: ["hints", "All hints"],
  ghap: ["learning", "All ghaps"],
  experience: ["learning", "All ghaps"],
  memory: ["learning", "All memories"],
  value: ["learning", "All values"],
  fix: ["learning", "All fixes"],
  project: ["projects", "All projects"],
};

const TABS = { ghap: "ghaps", experience: "ghaps", memory: "memories", value: "values", fix: "fixes" };

/** The words for the kinds of entries. */
const KINDS = {
  project: "Project",
  hint: "Hint",
  memory: "Memory",
  value: "Value",
  ghap: "Ghap",
  experience: "Experience",
  fix: "Fix",
  context: "Context",
};

function titleOf({ path, attributes }) {
  const kind = path.split(":")[0];
  if (kind === "obs") return `Record #${attributes?.id}`;
  if (kind === "project" && attributes?.name) return `Project ${oneLine(attributes.name, 60)}`;
  return KINDS[kind] ?? "Entry";
}

/** The sessions of a project that were active last, as the list of sessions names them. */
const SESSIONS_SHOWN = 10;

async function lastSessions(path, signal) {
  const { sessions } = await call("list_sessions", { project: path, limit: SESSIONS_SHOWN }, { signal });
  if (sessions.length === 0) return h("p", { class: "muted" }, "No session began here.");
  return table("Last sessions of the project", [
    {
      title: "Session",
      wide: true,
      cell: ({ session_id: id, name, intent }) => link({ session: id }, oneLine(name || intent || "No prompt yet", 120)),
    },
    { title: "State", cell: ({ state }) => stateBadge(state) },
    { title: "Last active", cell: ({ last_at: at }) => time(at, dayAndTime) },
  ], sessions);
}

/** A project: its names, the number of its records by type, and its last sessions. */
function projectCard(entry, signal) {
  const { name, key, root, aliases = [], observations = {} } = entry.attributes;
  const counts = Object.entries(observations).sort(([, a], [, b]) => b - a);
  const path = (text) => h("code", { class: "break" }, breakable(text));
  const sessions = h("div", {});
  fill(sessions, () => lastSessions(entry.path, signal));
  return [
    intro(`The project ${name}: its names, records and last sessions.`),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Names"),
      facts([
        ["Directory", root ? path(root) : null],
        ["Known by", path(key)],
        ["Leads here", h("ul", { class: "plain-list" }, aliases.map((one) => h("li", {}, path(one))))],
      ]),
      h("p", {}, link({ view: "timeline", project: entry.path }, "Timeline"), " · ", homeLink(entry.path)),
    ),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Records without prompts, by type"),
      facts(counts.map(([type, count]) => [typeName(type), number(count)])),
    ),
    h("section", { class: "card" }, h("h2", {}, "Last sessions"), sessions),
  ];
}

function homeLink(path) {
  const kind = path.split(":")[0];
  if (!HOMES[kind]) return null;
  const [view, text] = HOMES[kind];
  return link({ view, tab: TABS[kind] }, text);
}

function recordCard(entry, signal, reload, leave) {
  const record = entry.attributes;
  const hit = { ...record, id: record.id, file_path: record.file_path };
  const pin = button(record.is_pinned ? "Unpin" : "Pin", async () => {
    const [there, back] = record.is_pinned
      ? ["unpin_observation", "pin_observation"]
      : ["pin_observation", "unpin_observation"];
    try {
      await call(there, { id: record.id });
      await reload();
      undoable(
        record.is_pinned ? "Unpinned. The record can expire now." : "Pinned. The record is kept for good.",
        async () => {
          await call(back, { id: record.id });
          await reload();
        },
      );
    } catch (error) {
      toast(error.message);
    }
  });
  const remove = button(
    "Delete…",
    async () => {
      const yes = await confirm({
        title: `Delete record #${record.id}?`,
        text: "It is overwritten in the database and removed from the search. This cannot be undone.",
        danger: true,
      });
      if (!yes) return;
      try {
        await call("purge", { ids: [record.id], confirm: true });
        endUndo();
        toast(`Record #${record.id} is deleted.`);
        leave({ view: "timeline" });
      } catch (error) {
        toast(error.message);
      }
    },
    { class: "button button-danger" },
  );
  const all = [
    ["Surroundings", RECORD_PANELS.surroundings],
    ["Similar records", RECORD_PANELS.similar],
  ];
  if (record.file_path) all.push(["File history", RECORD_PANELS.fileHistory]);
  return [
    intro(
      `A record of the project ${record.project}.`,
      pin,
      button("Copy text", () => copy(entry.body, "Text")),
      remove,
    ),
    h(
      "article",
      { class: "card hit" },
      h(
        "div",
        { class: "meta" },
        typeBadge(record.obs_type),
        time(record.timestamp),
        record.project,
        isFailed(record) ? failedBadge(record) : null,
        !isFailed(record) && record.metadata?.run?.result === "passed" ? passedBadge() : null,
        record.is_pinned ? badge("Pinned") : null,
      ),
      longText(entry.body),
      errorText(record),
      panels(hit, signal, all),
    ),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Details"),
      facts([
        ["Time", exact(record.timestamp)],
        ["Project", record.project],
        ["Session", record.session_id ? sessionLink(record.session_id) : null],
        ["Agent", record.agent],
        ["Subagent", record.agent_id],
        ["Tool", record.tool_name],
        ["Hook event", record.source_event],
        ["File", record.file_path ? fileLink(record.file_path) : null],
        [
          "Caused by",
          record.prompt_id && record.prompt_id !== record.id
            ? entryLink(`obs://${record.prompt_id}`, `prompt #${record.prompt_id}`)
            : null,
        ],
        ["Note", record.note ? noted(record.note) : null],
        ["Path", h("code", {}, entry.path)],
        ...metadataFacts(record),
      ]),
    ),
  ];
}

/** A hint: its value and why it is there. It is changed in the view of the hints, where its variants are. */
function hintCard(entry, [, component, key]) {
  const { meta = {}, version, updated_at: updated, note } = entry.attributes;
  const text = entry.media_type === "application/json" ? pretty(entry.body) : String(entry.body ?? "");
  const home = link({ view: "hints", hint: `${component}/${key}` }, "Edit or delete it in Hints", { class: "button" });
  return [
    intro(
      `The hint ${key} of ${component}.`,
      button("Copy value", () => copy(text, "Value")),
      home,
    ),
    h(
      "article",
      { class: "card" },
      longText(text),
      note && h("p", { class: "muted" }, prose(note)),
    ),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Details"),
      facts([
        ["Component", component],
        ["Key", key],
        ["Reason", meta.reason],
        ["Tags", meta.tags?.join(", ")],
        ["Priority", meta.priority],
        ["Confidence", meta.confidence],
        ["Version", version],
        ["Changed", updated ? time(updated) : null],
        ["Path", h("code", { class: "break" }, entry.path)],
      ]),
      h("p", {}, homeLink(entry.path)),
    ),
  ];
}

/** The path of a hint with its component and key; null if it is none. */
function hintName(path) {
  try {
    return /^hint:\/\/([^/]+)\/([^/]+)$/.exec(path)?.map(decodeURIComponent) ?? null;
  } catch {
    return null;
  }
}

function otherCard(entry) {
  const text = entry.media_type === "application/json" ? pretty(entry.body) : String(entry.body ?? "");
  return [
    intro(
      entry.path,
      button("Copy text", () => copy(text, "Text")),
    ),
    h("article", { class: "card" }, longText(text)),
    h("section", { class: "card" }, h("h2", {}, "Details"), attributes(entry), h("p", {}, homeLink(entry.path))),
  ];
}

function pretty(body) {
  if (typeof body === "object") return JSON.stringify(body, null, 2);
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return String(body);
  }
}

function missing(path, error) {
  const [, component, key] = hintName(path) ?? [];
  return empty(
    `There is no entry ${path}`,
    // The error of an unknown entry only says that again.
    error.code !== "not_found" && prose(`${error.message[0]?.toUpperCase() ?? ""}${error.message.slice(1)}.`),
    "It may have been deleted, or the address has a mistake.",
    component && ["A hint for another place is in ", link({ view: "hints", hint: `${component}/${key}` }, "Hints"), "."],
    [link({ view: "timeline" }, "Go to the timeline"), " or ", link({ view: "search" }, "search"), "."],
  );
}

export async function open(root, { params, signal, leave, setTitle }) {
  let path = params.get("path") ?? "";
  const reload = () =>
    fill(root, async () => {
      if (!path) return missing("without a path", { message: "The address names no path, such as “obs://24”" });
      let entry;
      try {
        ({ entry } = await call("get", { path }, { signal }));
      } catch (error) {
        if (["not_found", "invalid", "scope_invalid", "too_large"].includes(error.code)) return missing(path, error);
        throw error;
      }
      setTitle(titleOf(entry));
      return path.startsWith("obs://") && entry.attributes?.id
        ? recordCard(entry, signal, reload, leave)
        : path.startsWith("project://") && entry.attributes?.key
          ? projectCard(entry, signal)
          : hintName(entry.path)
            ? hintCard(entry, hintName(entry.path))
            : otherCard(entry);
    });
  await reload();
  return {
    update: (next) => {
      if ((next.get("path") ?? "") === path) return undefined;
      path = next.get("path") ?? "";
      return replace(root) && reload();
    },
  };
}
