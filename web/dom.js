// Builds elements. Text always becomes a text node, so that stored text is never read as markup.

import { visible } from "/format.js";

const SVG = "http://www.w3.org/2000/svg";

/** Attributes with a text for people. */
const SPOKEN = /^(title|placeholder|alt|aria-(label|description|valuetext|roledescription))$/;

/** Sets one property of an element; functions become listeners, true and false become boolean attributes. */
function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function" && name.startsWith("on")) {
    element.addEventListener(name.slice(2).toLowerCase(), value);
  } else if (name === "value" || name === "checked" || name === "selected") {
    element[name] = value;
  } else {
    const text = value === true ? "" : String(value);
    // A browser shows or speaks these as it does the text of the page.
    element.setAttribute(name === "className" ? "class" : name, SPOKEN.test(name) ? visible(text) : text);
  }
}

/** Children as nodes: elements as they are, arrays in order, everything else as text. */
function* nodes(children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === true) continue;
    yield child instanceof Node ? child : new Text(visible(String(child)));
  }
}

function append(element, children) {
  for (const node of nodes(children)) element.append(node);
}

/**
 * An HTML element with its properties and children.
 * @param {string} tag
 * @param {Record<string, unknown>} [props]
 * @param {...unknown} children
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  append(element, children);
  // After the children: a `value` of a select needs its options.
  for (const [name, value] of Object.entries(props ?? {})) set(element, name, value);
  return element;
}

/**
 * An SVG element with its properties and children.
 * @param {string} tag
 * @param {Record<string, unknown>} [props]
 * @param {...unknown} children
 * @returns {SVGElement}
 */
export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props ?? {})) set(element, name, value);
  append(element, children);
  return element;
}

/** The name of a control, by which it is found again after its view was drawn again. */
const nameOf = (control) => control.id || control.getAttribute("aria-label") || control.textContent;

/** Gives the focus back to a control that was replaced by an equal one, so that a keyboard keeps its place. */
export function refocus(parent, control) {
  const equal = [...parent.querySelectorAll(control.tagName)].find((other) => nameOf(other) === nameOf(control));
  (parent.contains(control) ? control : equal)?.focus({ preventScroll: true });
}

/** Changes the content of an element, and keeps the focus in it. */
function keepFocus(parent, change) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  change();
  if (focused && focused !== parent && document.activeElement !== focused) refocus(parent, focused);
  return parent;
}

/** Replaces the content of an element. */
export function replace(parent, ...children) {
  return keepFocus(parent, () => {
    parent.replaceChildren();
    append(parent, children);
  });
}

/**
 * Makes these nodes the content of an element. Those that it has already are not touched: they keep their selection, their
 * typed text and what is opened in them.
 */
export function arrange(parent, ...children) {
  const wanted = [...nodes(children)];
  const kept = new Set(wanted);
  return keepFocus(parent, () => {
    for (const node of [...parent.childNodes]) if (!kept.has(node)) node.remove();
    let at = parent.firstChild;
    for (const node of wanted) {
      if (node === at) at = at.nextSibling;
      else parent.insertBefore(node, at);
    }
  });
}

/**
 * Changes the content of an element to these children. A child that looks as before stays as it is, with its listeners: they
 * must not depend on data that cannot be seen in it.
 */
export function renew(parent, ...children) {
  const given = [...nodes(children)];
  const left = [...parent.childNodes].filter((node) => !given.includes(node));
  const wanted = given.map((node) => {
    const same = node.parentNode === parent ? -1 : left.findIndex((one) => one.isEqualNode(node));
    return same < 0 ? node : left.splice(same, 1)[0];
  });
  return arrange(parent, wanted);
}

/** The address of a query, percent-encoded: a space is `%20`, not `+`. */
export function encoded(query) {
  const text = query.toString().replaceAll("+", "%20");
  return text ? `/?${text}` : "/";
}

/** The address of a view with these parameters; values that are null or empty are left out. */
export function address(params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  return encoded(query);
}

/** A link inside the page. The router opens it without loading the page again. */
export function link(params, text, props = {}) {
  return h("a", { ...props, href: address(params) }, text);
}

/** Whether an id names a session that can be opened; the one that holds a project's marks made outside of a session cannot. */
export const isSession = (id) => Boolean(id) && !String(id).startsWith("marks:");

/** The most characters of a text that is searched for long paths. */
const BREAKABLE_MAX = 20_000;

/** Entries without a page of their own, in words. */
const NAMED = { "ghap://new": "Advice to write down a hypothesis" };

/** The link to the entry at a path such as `obs://24`, `hint://build/test` or `session://ID`. */
export function entryLink(path, text = path) {
  if (Object.hasOwn(NAMED, path)) return h("span", {}, NAMED[path]);
  const session = /^session:\/\/([^/]+)$/.exec(path);
  const id = session && decoded(session[1]);
  if (id && !isSession(id)) return h("span", {}, "outside of a session");
  return link(id ? { session: id } : { view: "record", path }, text, { class: "entry-link" });
}

/** Puts a place for a line break between the parts of a text. */
const withBreaks = (parts) => parts.flatMap((part, at) => (at > 0 ? [h("wbr"), part] : [part]));

/** A path that breaks after its slashes, not inside of a name. */
export const breakable = (path) => withBreaks(String(path).split(/(?<=[/\\])(?=[^/\\])/));

/** A text whose long paths and addresses break after a slash; a very long text would get too many elements. */
const prosePart = (text) =>
  text.length > BREAKABLE_MAX ? text : withBreaks(text.split(/(?<=\S{10}[/\\])(?=[^\s/\\])/));

/** The note of a record, such as `answers #24`, in which each number is a link to its record. */
export function noted(note) {
  const plain = note.replace(/resulted from (#\d+)/, "the commit that followed from $1");
  return plain.split(/(#\d+)/).map((part, at) => (at % 2 ? entryLink(`obs://${part.slice(1)}`, part) : part));
}

/** A percent-decoded part of a path; the text itself if it is not encoded correctly. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Sets text with `code` in backquotes as text and code elements. */
export function prose(text) {
  return String(text)
    .split("`")
    .map((part, index) => (index % 2 ? h("code", {}, part) : part));
}

/** Text in which every entry path is a link, and long paths break after a slash. */
export function linked(text) {
  const parts = String(text).split(/((?:obs|hint|session|ghap|memory|value|experience|context|fix|project):\/\/[^\s"'`<>()]+)/);
  return parts.map((part, at) => {
    if (at % 2 === 0) return prosePart(part);
    const [, path, rest] = /^(.*?)([.,;:!?]*)$/s.exec(part);
    return [entryLink(path), rest];
  });
}

const PATHS = {
  prompt: "M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z",
  answer: "M3 8.5l3.2 3.2L13 4.8",
  edit: "M3 13l.6-2.8 7-7 2.2 2.2-7 7z M9.4 4.4l2.2 2.2",
  file: "M4 2.5h5l3 3v8H4z M9 2.5v3h3",
  command: "M3 4.5l3.5 3.5L3 11.5 M8.5 12H13",
  commit: "M8 5.4a2.6 2.6 0 1 1 0 5.2 2.6 2.6 0 0 1 0-5.2z M1.5 8h3.9 M10.6 8h3.9",
  search: "M7 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8z M10 10l3.5 3.5",
  web: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z M2.5 8h11 M8 2.5c3.2 3.2 3.2 7.8 0 11c-3.2-3.2-3.2-7.8 0-11",
  tool: "M10.5 2.8a3.2 3.2 0 0 0-3 4.2L2.9 11.6l1.5 1.5L9 8.5a3.2 3.2 0 0 0 4.2-3.9l-1.9 1.9-1.6-.4-.4-1.6z",
  mark: "M4.5 2.5h7v11L8 10.8l-3.5 2.7z",
  pin: "M8 9.5v4.5 M5 9.5h6l-1-2.5v-4H6v4z",
  failed: "M4 4l8 8 M12 4l-8 8",
  timeline: "M3 4h10 M3 8h7 M3 12h9",
  sessions: "M2.5 3.5h11v7.5h-11z M6 13.5h4",
  hints: "M8 2.5a4 4 0 0 1 2 7.4V11.5H6V9.9A4 4 0 0 1 8 2.5z M6.5 13.5h3",
  receipts: "M4 2.5h8v11l-2-1.2-2 1.2-2-1.2-2 1.2z M6 5.5h4 M6 8h4",
  stats: "M3.5 13V8.5 M8 13V3.5 M12.5 13V6.5",
  learning: "M2 6l6-3 6 3-6 3z M4.5 7.5v3.2c2 1.7 5 1.7 7 0V7.5",
  projects: "M2.5 4h4l1.2 1.5h5.8v7h-11z",
  health: "M2 8.5h3l1.5-4 3 7 1.5-3h3",
  menu: "M2.5 4.5h11 M2.5 8h11 M2.5 11.5h11",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11z M8 2.5a5.5 5.5 0 0 1 0 11",
  keys: "M2 4.5h12v7H2z M4.5 7h.1 M7 7h.1 M9.5 7h.1 M11.5 7h.1 M5 9.5h6",
  copy: "M5.5 5.5h7v8h-7z M3.5 10.5v-8h7",
  trash: "M3.5 4.5h9 M6.5 4.5v-2h3v2 M4.5 4.5l.6 9h5.8l.6-9",
  open: "M6 4l4 4-4 4",
};

/** A small line icon that screen readers skip. */
export function icon(name) {
  const shape = { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "icon" };
  return svg("svg", shape, svg("path", { d: PATHS[name] ?? PATHS.tool }));
}
