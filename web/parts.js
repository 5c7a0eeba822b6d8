// Parts that several views share: headings, messages, tables, form fields and lines of records.

import { call, isAborted } from "/api.js";
import { copy as copyText, problem, toast, tryAgain } from "/dialog.js";
import { breakable, entryLink, h, isSession, link, replace, svg } from "/dom.js";
import { time, visible } from "/format.js";

/** The types of records in the words of the page. */
export const TYPES = {
  file_read: "File read",
  file_write: "File written",
  file_edit: "Edit",
  command: "Command",
  command_error: "Failed command",
  git_commit: "Commit",
  git_push: "Push",
  github: "GitHub",
  search: "Search",
  task_spawn: "Subagent",
  web_fetch: "Web page",
  web_search: "Web search",
  mcp_call: "MCP call",
  tool_other: "Other tool",
  user_prompt: "Prompt",
  answer: "Answer",
  session_start: "Session start",
  session_resume: "Session resumed",
  session_clear: "Session cleared",
  session_compact: "Session compacted",
  session_fork: "Session forked",
  session_end: "Session end",
  session_summary: "Session summary",
  marker: "Mark",
  experience: "Experience",
  ghap: "Active ghap",
  value: "Value",
  memory: "Memory",
};

export const typeName = (type) => TYPES[type] ?? String(type ?? "unknown");

/** One sentence about a view and its main actions. The title itself is above, next to the shared filters. */
export function intro(lead, ...actions) {
  return h(
    "div",
    { class: "intro" },
    h("p", { class: "muted" }, lead),
    actions.length ? h("div", { class: "toolbar" }, actions) : null,
  );
}

/** A card with a heading. */
export function section(title, ...children) {
  return h("section", { class: "card" }, h("h2", {}, title), children);
}

/** An empty state: what is missing, and what to do next. */
export const empty = (title, ...children) =>
  h(
    "div",
    { class: "empty" },
    h("h2", {}, title),
    children.filter(Boolean).map((child) => h("p", {}, child)),
  );

/** The last call of `fill` for each element. Replies may arrive in another order than they were asked for. */
const fills = new WeakMap();

/**
 * Shows "Loading…" below `root`, then the result of `build`, or the reason why there is none and a way to try again.
 * If `root` is filled again meanwhile, the result is dropped. `build` gets a function that says whether that happened.
 */
export async function fill(root, build) {
  const mine = Symbol("fill");
  fills.set(root, mine);
  const isStale = () => fills.get(root) !== mine;
  root.setAttribute("aria-busy", "true");
  if (!root.firstChild) replace(root, h("p", { class: "muted loading" }, "Loading…"));
  try {
    const content = await build(isStale);
    if (isStale()) return;
    replace(root, ...[content].flat());
  } catch (error) {
    if (isAborted(error) || isStale()) return;
    const again = tryAgain(() => fill(replace(root), build));
    replace(root, problem(error, h("div", { class: "toolbar" }, again)));
  }
  root.removeAttribute("aria-busy");
}

export function button(label, onclick, props = {}) {
  return h("button", { type: "button", class: "button", onclick, ...props }, label);
}

let fieldIds = 0;

/** A labelled control; `help` is read with it. */
export function field(label, control, help) {
  fieldIds += 1;
  control.id ||= `field-${fieldIds}`;
  control.classList.add("field");
  const note = help ? h("span", { class: "muted small", id: `${control.id}-help` }, help) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "form-field" }, h("label", { class: "label", for: control.id }, label), control, note);
}

/** A selection; `options` are `[value, label]`. */
export function select(name, options, value = "", props = {}) {
  const control = h(
    "select",
    { name, ...props },
    ...options.map(([option, label]) => h("option", { value: option }, label)),
  );
  control.value = value ?? "";
  if (control.selectedIndex < 0) control.selectedIndex = 0;
  return control;
}

export function input(name, value = "", props = {}) {
  const control = h("input", { name, type: "text", autocomplete: "off", spellcheck: "false", ...props });
  control.value = value ?? "";
  return control;
}

export function checkbox(name, label, checked = false) {
  const control = h("input", { type: "checkbox", name });
  control.checked = checked;
  return h("label", { class: "check" }, control, h("span", {}, label));
}

/** The values of a form by name; empty ones are left out. */
export function values(form) {
  const result = {};
  for (const control of form.elements) {
    if (!control.name) continue;
    const value = control.type === "checkbox" ? control.checked : control.value.trim();
    if (value !== "") result[control.name] = value;
  }
  return result;
}

/**
 * A table whose rows become cards on narrow screens. A column is `{ title, cell(row), number?, wide? }`.
 * The caption is read by screen readers.
 */
export function table(caption, columns, rows, props = {}) {
  const align = (column) => ({ class: [column.number && "num", column.wide && "wide"].filter(Boolean).join(" ") });
  return h(
    "table",
    { class: "table", ...props },
    h("caption", { class: "sr" }, caption),
    h("thead", {}, h("tr", {}, ...columns.map((column) => h("th", { scope: "col", ...align(column) }, column.title)))),
    h(
      "tbody",
      {},
      ...rows.map((row) =>
        h(
          "tr",
          {},
          ...columns.map((column) =>
            h("td", { "data-label": column.title, ...align(column) }, h("div", {}, column.cell(row))),
          ),
        ),
      ),
    ),
  );
}

/** Names and values in two columns; entries without a value are left out. */
export function facts(entries) {
  const shown = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h(
    "dl",
    { class: "facts" },
    ...shown.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, ...[value].flat())]),
  );
}

export const badge = (text, kind) => h("span", { class: kind ? `badge badge-${kind}` : "badge" }, text);

/** The badge of a record's type; failures are named, not only coloured. */
export const typeBadge = (type) => badge(typeName(type), type === "command_error" ? "failed" : undefined);

/** A share between 0 and 1 in percent. Few of many are not none. */
export const percent = (share) => (share > 0 && share < 0.005 ? "< 1 %" : `${Math.round((share ?? 0) * 100)} %`);

/** A horizontal bar for a share between 0 and 1. The number next to it has the value for screen readers. */
export function meter(share) {
  const width = Math.max(0, Math.min(1, share || 0)) * 100;
  return svg(
    "svg",
    { class: "meter", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "meter-back", x: 0, y: 0, width: 100, height: 6, rx: 3 }),
    svg("rect", { class: "meter-fill", x: 0, y: 0, width, height: 6, rx: 3 }),
  );
}

/** A shell command with a button that copies it. */
export function command(text) {
  const copy = button("Copy", () => copyText(text, "Command"), { "aria-label": `Copy: ${visible(text)}` });
  return h("div", { class: "command" }, h("code", {}, text), copy);
}

/** The end of a path that fits a line; the whole path is the link's title. */
export function shortPath(path) {
  const parts = String(path).split("/").filter(Boolean);
  return parts.length > 3 ? `…/${parts.slice(-3).join("/")}` : String(path);
}

/** A link to the history of a file. */
export const fileLink = (path) =>
  link({ view: "file", path }, breakable(shortPath(path)), { title: visible(path), class: "mono break" });

/** A link to a session by the beginning of its id; the words for a record that belongs to none. */
export const sessionLink = (id) =>
  isSession(id)
    ? link({ session: id }, String(id).slice(0, 8), { class: "mono", title: visible(id) })
    : h("span", { class: "muted" }, "outside of a session");

/** Makes a card a row for the keys `j` and `k`: they focus its first control, and Enter opens that. */
export function asRow(card, control = "a, summary, button") {
  card.querySelector(control)?.setAttribute("data-row", "");
  return card;
}

/** One record as a line: type, time, text and its place. `record` is a hit, a touch or a whole record. */
export function recordLine(record, { mark, current } = {}) {
  const id = record.id ?? record.observation_id;
  const text = String(record.content_preview ?? record.content ?? "");
  const shown = text.length > 600 ? `${text.slice(0, 600)}…` : text;
  return h(
    "li",
    { class: current ? "record-line current" : "record-line", "aria-current": current ? "true" : undefined },
    h(
      "div",
      { class: "meta" },
      typeBadge(record.obs_type),
      time(record.timestamp),
      entryLink(`obs://${id}`, `#${id}`),
      record.is_pinned ? badge("Pinned") : null,
    ),
    h("p", { class: "record-text" }, ...(mark ? mark(shown) : [shown])),
  );
}

/** The names of the projects, for a selection. */
export async function projectOptions(signal, first = ["", "All projects"]) {
  const { projects } = await call("list_projects", { counts: false }, { signal });
  return [first, ...projects.map((project) => [project.path, project.name])];
}

/** Reports a change with Undo. */
export const undoable = (text, undo) => toast(text, { undo });
