// The context footer: the files and the view that a session declared, below every view inside that session.

import { call } from "/api.js";
import { address, encoded, h, replace } from "/dom.js";
import { shortNames } from "/format.js";
import { subscribe } from "/live.js";

/** Files shown before `+N more`. */
const FILES_MAX = 5;

/** The most items of a set, and characters of an item. */
const ITEMS_MAX = 10;
const ITEM_CHARS_MAX = 1024;

/** Where this browser remembers which applets its pages have set: as hashes, because storage holds no text of the user. */
const MARKS = "rekindle-applets";
const MARKS_MAX = 100;

/** Parameters that an applet does not carry: they belong to the address of the page. */
const OWN = ["session", "view", "applet", "link", "project", "from", "to"];

/** The links of a context, in the order of the footer. */
function linksOf(session, context) {
  const files = Array.isArray(context.files) ? context.files : [];
  const shown = files.slice(0, FILES_MAX);
  const names = shortNames(shown);
  const links = shown.map((path) =>
    h("a", { href: address({ session, view: "file", path }), title: path }, names.get(path)),
  );
  if (files.length > FILES_MAX) links.push(h("span", { class: "context-more" }, `+${files.length - FILES_MAX} more`));
  const [slug, ...params] = Array.isArray(context.applet) ? context.applet : [];
  if (slug) {
    const query = new URLSearchParams({ session, view: slug });
    for (const param of params) {
      const at = param.indexOf("=");
      const name = at < 0 ? param : param.slice(0, at);
      const value = at < 0 ? "" : param.slice(at + 1);
      if (!["session", "view", "link"].includes(name)) query.append(name === "applet" ? "view" : name, value);
    }
    links.push(h("a", { href: encoded(query), class: "context-applet" }, `[${slug}]`));
  }
  return links;
}

/** The items of the set `applet` for a view that is open inside a session. */
function appletItems(view, params) {
  const items = [view];
  for (const [name, value] of params) {
    const item = `${name}=${value}`;
    if (!OWN.includes(name) && item.length <= ITEM_CHARS_MAX) items.push(item);
  }
  return items.slice(0, ITEMS_MAX);
}

/** A short hash that stands for an applet of a session. */
async function markOf(id, items) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify([id, items])));
  return Array.from(new Uint8Array(digest).slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const marks = () => (localStorage.getItem(MARKS) ?? "").split(" ").filter(Boolean);

function storeMarks(all) {
  localStorage.setItem(MARKS, all.slice(-MARKS_MAX).join(" "));
}

/**
 * Shows the context of the chosen session in the element.
 * @param {HTMLElement} element
 */
export function openFooter(element) {
  const links = element.querySelector(".context-links");
  let session = null;
  let unsubscribe = () => {};
  /** The version of the context that is shown; a frame that comes late has a lower one. */
  let version = 0;

  const render = (context) => {
    const shown = session ? linksOf(session, context ?? {}) : [];
    replace(
      links,
      shown.map((one, at) => [at > 0 && h("span", { class: "context-sep" }, "·"), one]),
    );
    element.classList.toggle("has-context", shown.length > 0);
  };

  const follow = (id) => {
    // The first message has the context that the session has now; without one it never had any.
    unsubscribe = subscribe("session/subscribe", { session_id: id }, (message) => {
      if (session !== id || message.version < version) return;
      version = message.version;
      render(message.event.data.context);
    });
  };

  /** Writes run one after the other: the last view that was opened counts. */
  let writing = Promise.resolve();

  const setApplet = (id, items) =>
    call("update_session", { session_id: id, set_context: { setName: "applet", items } }).catch(() => {});

  /**
   * Stores the view that is open inside the session, or removes the one that a page of this browser stored. A value
   * that an agent or a person set stays as it is.
   */
  const capture = async (id, open) => {
    const items = open?.view ? appletItems(open.view, open.params) : [];
    if (items[0]?.length > ITEM_CHARS_MAX) return;
    // No page of this browser stored a view, so there is none to remove.
    if (items.length === 0 && marks().length === 0) return;
    const read = await call("get_session", { session_id: id }).catch(() => null);
    if (!read) return;
    const stored = read.meta.context.applet ?? [];
    if (JSON.stringify(stored) === JSON.stringify(items)) return;
    const mark = stored.length > 0 ? await markOf(id, stored) : null;
    if (mark && !marks().includes(mark)) return;
    const kept = marks().filter((one) => one !== mark);
    storeMarks(items.length > 0 ? [...kept, await markOf(id, items)] : kept);
    await setApplet(id, items);
  };

  return {
    /**
     * Chooses a session, or none. The footer is empty until the context of the new session arrives.
     * @param {string | null} id
     * @param {{ view: string, params: URLSearchParams } | null} open the view that is open inside the session
     */
    choose(id, open) {
      if (id !== session) {
        session = id;
        version = 0;
        unsubscribe();
        unsubscribe = () => {};
        render({});
        if (id) follow(id);
      }
      if (id) writing = writing.then(() => capture(id, open));
    },
  };
}
