// The context footer: the files and the view that a session declared, below every view inside that session.

import { call } from "/api.js";
import { address, encoded, h, replace } from "/dom.js";
import { baseName } from "/format.js";
import { subscribe } from "/live.js";

/** Files shown before `+N more`. */
const FILES_MAX = 5;

/** The most items of a set, and characters of an item. */
const ITEMS_MAX = 10;
const ITEM_CHARS_MAX = 1024;

/** Parameters that an applet does not carry: they belong to the address of the page. */
const OWN = ["session", "view", "applet", "link", "project", "from", "to"];

/** The links of a context, in the order of the footer. */
function linksOf(session, context) {
  const files = Array.isArray(context.files) ? context.files : [];
  const links = files
    .slice(0, FILES_MAX)
    .map((path) => h("a", { href: address({ session, view: "file", path }), title: path }, baseName(path)));
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
  /** Applets that this page has set, by session; only these are cleared. */
  const applets = new Map();

  const render = (context) => {
    const shown = session ? linksOf(session, context ?? {}) : [];
    replace(
      links,
      shown.map((one, at) => [at > 0 && h("span", { class: "context-sep" }, "·"), one]),
    );
    element.classList.toggle("has-context", shown.length > 0);
  };

  const follow = async (id) => {
    const isCurrent = () => session === id;
    unsubscribe = subscribe("session/subscribe", { session_id: id }, (message) => {
      if (!isCurrent() || message.version < version) return;
      version = message.version;
      render(message.event.data.context);
    });
    const read = await call("get_session", { session_id: id }).catch(() => null);
    // A frame is newer than the reply, or as new.
    if (isCurrent() && version === 0 && read?.sessionId === id) render(read.meta.context);
  };

  /** Writes run one after the other: the last view that was opened counts. */
  let writing = Promise.resolve();

  const setApplet = (id, items) =>
    call("update_session", { session_id: id, set_context: { setName: "applet", items } }).catch(() => {});

  /** Stores the view that is open inside the session, or removes the one that this page stored. */
  const capture = async (id, open) => {
    if (open?.view) {
      const items = appletItems(open.view, open.params);
      if (items[0].length > ITEM_CHARS_MAX) return;
      applets.set(id, JSON.stringify(items));
      await setApplet(id, items);
    } else if (applets.has(id)) {
      const ours = applets.get(id);
      applets.delete(id);
      const read = await call("get_session", { session_id: id }).catch(() => null);
      if (read && JSON.stringify(read.meta.context.applet) === ours) await setApplet(id, []);
    }
  };

  return {
    /**
     * Chooses a session, or none. The footer is empty until the context of the new session arrives.
     * @param {string | null} id
     * @param {{ view: string | null, params: URLSearchParams } | null} open the view that is open inside the session
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
