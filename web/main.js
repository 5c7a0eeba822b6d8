// The shell of the page: views and their addresses, filters that all views share, the connection, keys and themes.

import { ApiError, call, isAborted } from "/api.js";
import { problem, toast, undoLast } from "/dialog.js";
import { address, encoded, h, icon, link, replace } from "/dom.js";
import { clockTime, dayAndTime, dayKey, now, oneLine, plural, time, visible } from "/format.js";
import { connection, onNotification, onState, signedOut, start as startLive } from "/live.js";
import { pickUpKey } from "/session.js";

/**
 * The views in the navigation: a later view is a module `views/ID.js` and a line. `filters` names the shared filters that it
 * uses; one that is `isPlain` needs no rule of `views.css`.
 */
export const VIEWS = [
  { id: "timeline", title: "Timeline", key: "t", isPlain: true },
  { id: "sessions", title: "Sessions", key: "s", isPlain: true },
  { id: "search", title: "Search", key: "f" },
  { id: "hints", title: "Hints", key: "h", filters: [] },
  { id: "learning", title: "Learning", key: "l", filters: ["project"] },
  { id: "receipts", title: "Receipts", key: "r" },
  { id: "stats", title: "Stats", key: "a" },
  { id: "projects", title: "Projects", key: "p", filters: [] },
  { id: "health", title: "Health", key: "d", filters: [] },
];

/** Views that other views lead to. */
const INNER = [
  { id: "session", title: "Session", filters: [], isPlain: true },
  { id: "file", title: "File", filters: [], isPlain: true },
  { id: "record", title: "Record", filters: [] },
  { id: "unknown", title: "Not found", filters: [], isPlain: true },
];

const STATUS_MS = 60_000;
const FILTERS = ["project", "from", "to"];
const RANGES = [
  ["", "Any time"],
  ["today", "Today"],
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
  ["days", "Choose days…"],
];

const byId = (id) => document.getElementById(id);

/** The open view: its entry, parameters, the controller that ends its calls, and its handle. */
let current = null;
let footer = null;
let unobserved = 0;
let viewTitle = "Rekindle";
let projects = null;
let build = null;
let filtersAreOld = false;

// ---- Addresses

/** The entry of the view that an address names. */
function entryOf(params) {
  const id = params.get("view") ?? params.get("applet") ?? (params.get("session") ? "session" : "timeline");
  const entry = [...VIEWS, ...INNER].find((one) => one.id === id);
  return entry ?? INNER.find((one) => one.id === "unknown");
}

/** A point in time as RFC 3339, from a day, a range such as `7d`, or RFC 3339; null if it is none of them. */
function resolveTime(text, isEnd) {
  if (!text) return null;
  const range = /^(\d{1,4})([hd])$/.exec(text);
  if (range) return new Date(now() - range[1] * (range[2] === "h" ? 3_600_000 : 86_400_000)).toISOString();
  const day = text === "today" ? dayKey(new Date(now())) : text;
  if (/^\d{4}-\d\d-\d\d$/.test(day)) {
    const date = new Date(`${day}T00:00:00`);
    if (Number.isNaN(date.getTime())) return null;
    if (isEnd) date.setDate(date.getDate() + 1);
    return date.toISOString();
  }
  const ms = Date.parse(day);
  return Number.isFinite(ms) ? new Date(ms).toISOString() : null;
}

/** The filters of an address: the project, and from when to when as RFC 3339. */
function filtersOf(params) {
  return {
    project: params.get("project") || null,
    from: resolveTime(params.get("from"), false),
    to: resolveTime(params.get("to"), true),
  };
}

/** What is wrong with the times of an address, as a sentence; null if nothing is. */
function timeProblem(params) {
  const shape = "Write a day such as 2026-11-18, or a duration such as 12h or 7d.";
  for (const name of ["from", "to"]) {
    const text = params.get(name);
    if (text && !resolveTime(text, false)) return `“${oneLine(text, 40)}” is no time, so it is ignored. ${shape}`;
  }
  const { from, to } = filtersOf(params);
  return from && to && from >= to ? "The last day is before the first one, so there is nothing to show." : null;
}

/**
 * Opens another address. Filters that it does not name are kept; an empty one is removed.
 * @param {URLSearchParams | Record<string, string | null>} to
 * @param {{ replace?: boolean }} [options]
 */
export function navigate(to, options = {}) {
  const params = new URLSearchParams();
  const given =
    to instanceof URLSearchParams
      ? to
      : new URLSearchParams(Object.entries(to).filter(([, value]) => value !== null && value !== undefined));
  for (const [name, value] of given) if (value !== "") params.append(name, value);
  for (const name of FILTERS) {
    const kept = current?.params.get(name);
    if (kept && !given.has(name)) params.set(name, kept);
  }
  const target = encoded(params);
  if (target !== location.pathname + location.search) {
    const from = location.search;
    history.replaceState({ ...history.state, scroll: scrollY }, "");
    if (options.replace) history.replaceState(history.state, "", target);
    else history.pushState({ from }, "", target);
  }
  route({ scroll: options.replace ? null : 0, focus: !options.replace });
}

/**
 * Leaves a view of which nothing is left, as after a deletion: back to the list that led to it, at the same place. Otherwise
 * to another address, if the browser came from elsewhere or if `isList` refuses the view.
 */
function leave(otherwise, isList = () => true) {
  const from = history.state?.from;
  if (typeof from === "string" && isList(new URLSearchParams(from))) history.back();
  else navigate(otherwise);
}

/** What a view navigates with: a change of its own address stays inside the session in which the view was opened. */
const navigateFrom = ({ entry, session }) => (to, options) => {
  const isOwn = session && !(to instanceof URLSearchParams) && to.view === entry.id;
  navigate(isOwn ? { session, ...to } : to, options);
};

/** Opens the view of the address in the address bar. */
async function route({ scroll = null, focus = false } = {}) {
  const params = new URLSearchParams(location.search);
  const entry = entryOf(params);
  const filters = filtersOf(params);
  const session = params.get("session");
  // The session itself and an unknown view are no views to come back to.
  const isView = entry.id !== "session" && entry.id !== "unknown";
  chooseSession(session, isView ? { view: entry.id, params } : null);
  showFilters(entry, params);
  showNavigation(entry, params);
  closeMenu();
  if (current?.entry === entry && current.handle?.update && current.session === session) {
    current.params = params;
    const updated = current;
    await current.handle.update(params, filters);
    if (scroll !== null) scrollTo(0, scroll);
    if (current === updated) showReadAt();
    return;
  }
  const isOther = current?.entry !== entry;
  close();
  const root = h("div", { class: `view view-${entry.id}` });
  const loading = h("p", { class: "loading" }, "Loading…");
  replace(byId("main"), loading, root);
  replace(byId("read-at"));
  const controller = new AbortController();
  const opened = { entry, params, session, controller, handle: null };
  current = opened;
  setTitle(entry.title);
  if (focus && isOther) byId("title").focus({ preventScroll: true });
  if (scroll === 0) scrollTo(0, 0);
  try {
    const [found, isThere] = await Promise.all([
      load(pathOf(entry)),
      !session || !isView || hasSession(session, controller.signal),
      entry.isPlain || readStyle(),
    ]);
    // The view of the session says that there is none.
    const module = isThere ? found : await load("/views/session.js");
    if (current !== opened) return;
    const about = {
      params,
      filters,
      signal: controller.signal,
      navigate: navigateFrom(opened),
      leave,
      setTitle,
    };
    const handle = await module.open(root, about);
    if (current !== opened) handle?.close?.();
    else opened.handle = handle ?? {};
    if (current === opened) showReadAt();
  } catch (error) {
    if (current === opened && !isAborted(error)) replace(root, failure(error));
  } finally {
    loading.remove();
  }
  if (current === opened && scroll) restoreScroll(opened, scroll);
}

/** Whether a session exists; if that cannot be found out now, its view says why. */
const hasSession = (id, signal) =>
  call("get_session", { session_id: id }, { signal }).then(
    () => true,
    ({ code }) => code !== "not_found" && code !== "invalid",
  );

/** How often a module could not be read, by its path. */
const lost = new Map();

/**
 * Reads a module. A browser remembers a module that it could not read, so the next attempt uses another address; a module
 * that this one imports may have been lost, too, and then only reading the page again helps.
 */
async function load(path) {
  const times = lost.get(path) ?? 0;
  try {
    return await import(times ? `${path}?again=${times}` : path);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    lost.set(path, times + 1);
    throw new ApiError("gone", "The daemon does not respond, so this view could not be read.", "It opens when the daemon is back.");
  }
}

let style = null;

/** Reads the rules of the views that are not plain, before the first of them is shown. */
function readStyle() {
  style ??= new Promise((resolve, reject) => {
    const onerror = () => {
      sheet.remove();
      style = null;
      reject(new ApiError("gone", "The daemon does not respond, so this view could not be read.", "It opens when the daemon is back."));
    };
    const sheet = h("link", { rel: "stylesheet", href: "/views.css", onload: resolve, onerror });
    document.head.append(sheet);
  });
  return style;
}

const pathOf = (entry) => `/views/${entry.id}.js`;

/** The last choice of a session, which the footer shows as soon as its module is there. */
let chosen = [null, null];

/** Tells the context footer which session is chosen. Its module is read with the first session. */
function chooseSession(...choice) {
  chosen = choice;
  if (footer) footer.choose(...chosen);
  else if (chosen[0]) {
    const opened = load("/footer.js").then(({ openFooter }) => {
      footer ??= openFooter(byId("contextFooter"));
      footer.choose(...chosen);
    });
    quietly(opened);
  }
}

/** Goes back to a place in a list that reads its rows while it is scrolled. */
async function restoreScroll(opened, scroll) {
  for (let round = 0; round < 30 && current === opened; round += 1) {
    scrollTo(0, scroll);
    if (Math.abs(scrollY - scroll) < 2) return;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/**
 * Reads again what may have changed while the connection was lost, or what the reader asks for. What was typed and
 * opened stays, and what could not be read is tried again.
 */
async function refresh(isAsked = false) {
  const refreshed = current;
  if (!refreshed?.handle) return reopen();
  for (const again of document.querySelectorAll("#main [data-again]")) again.click();
  const isRead = await refreshed.handle.refresh?.(isAsked);
  if (current === refreshed && isRead !== false) showReadAt();
}

/** Says how old the content is, in a view that does not follow changes. */
function showReadAt() {
  const { handle } = current;
  const isStill = handle?.refresh && !handle.isLive;
  const again = () => quietly(refresh(true));
  replace(
    byId("read-at"),
    isStill && [
      h("span", {}, "Read ", time(new Date(now()))),
      h("button", { type: "button", class: "button button-small button-quiet", onclick: again }, "Refresh"),
    ],
  );
}

/** Ends the open view and its calls. */
function close() {
  const closing = current;
  current = null;
  closing?.controller.abort();
  closing?.handle?.close?.();
}

/** Opens the view of this address again. */
function reopen() {
  if (current && lost.get(pathOf(current.entry)) > 1 && connection().connected) return location.reload();
  close();
  route();
}

function failure(error) {
  // Without the filters, which may be the reason.
  const toTimeline = (event) => {
    event.preventDefault();
    navigate(Object.fromEntries(FILTERS.map((name) => [name, ""])));
  };
  return problem(
    error,
    h(
      "div",
      { class: "toolbar" },
      h("button", { type: "button", class: "button", onclick: reopen }, "Try again"),
      link({}, "To the timeline", { class: "button", onclick: toTimeline }),
    ),
  );
}

document.addEventListener("click", (event) => {
  const anchor = event.target.closest?.("a[href]");
  if (!anchor || event.defaultPrevented || event.button !== 0) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || anchor.target) return;
  const url = new URL(anchor.href);
  if (url.origin !== location.origin || url.pathname !== "/" || url.hash) return;
  event.preventDefault();
  navigate(url.searchParams);
});

addEventListener("popstate", (event) => route({ scroll: event.state?.scroll ?? 0 }));

// ---- Title and navigation

function setTitle(text) {
  viewTitle = text;
  replace(byId("title"), text);
  showTitle();
}

function showTitle() {
  document.title = `${unobserved > 0 ? `(${unobserved}) ` : ""}${visible(viewTitle)} · Rekindle`;
}

function showNavigation(entry, params) {
  const kept = Object.fromEntries(FILTERS.map((name) => [name, params.get(name)]));
  const open = { session: "sessions", file: "sessions" }[entry.id] ?? entry.id;
  const items = VIEWS.map(({ id, title }) =>
    h(
      "a",
      {
        href: address({ view: id === "timeline" ? null : id, ...kept }),
        class: "nav-link",
        "aria-current": id === open ? "page" : null,
      },
      icon(id),
      h("span", {}, title),
      id === "sessions" &&
        unobserved > 0 &&
        h(
          "span",
          { class: "nav-count", title: `${plural(unobserved, "session")} not seen since the last turn` },
          unobserved,
          h("span", { class: "sr" }, " not seen"),
        ),
    ),
  );
  replace(byId("nav"), items);
}

function setUnobserved(count) {
  if (!Number.isInteger(count) || count === unobserved) return;
  unobserved = count;
  showTitle();
  if (current) showNavigation(current.entry, current.params);
}

function closeMenu() {
  byId("side").classList.remove("is-open");
  byId("menu").setAttribute("aria-expanded", "false");
}

// ---- Filters

/**
 * The fields of the first and the last day. A day that is typed counts when it is complete: with Enter, or when the
 * focus leaves both fields. One that is chosen in the calendar counts at once.
 */
function dayFields(shown, change) {
  let isTyping = false;
  const fields = {};
  const apply = () => {
    isTyping = false;
    const { from, to } = fields;
    // An incomplete day has no value, but it is not empty.
    if (from.validity.badInput || to.validity.badInput) return;
    if (from.value !== shown.from || to.value !== shown.to) change({ from: from.value, to: to.value });
  };
  const dayField = (name, label) => {
    fields[name] = h("input", {
      type: "date",
      class: "field",
      id: `filter-${name}`,
      value: shown[name],
      onkeydown: (event) => {
        isTyping = event.key !== "Enter";
        if (!isTyping) apply();
      },
      onpointerdown: () => {
        isTyping = false;
      },
      onchange: () => isTyping || apply(),
      onfocusout: (event) => {
        // After the event the next control has the focus, and keeps it.
        if (!Object.values(fields).includes(event.relatedTarget)) setTimeout(() => fields.from.isConnected && apply());
      },
    });
    return h("label", { class: "filter filter-day" }, h("span", {}, label), fields[name]);
  };
  return [dayField("from", "From"), dayField("to", "to")];
}

function showFilters(entry, params) {
  const form = byId("filters");
  const used = entry.filters ?? ["project", "time"];
  // A filter without effect would promise something; it stays in the address for the next view.
  form.hidden = used.length === 0;
  if (form.hidden) {
    setBanner("filter", null);
    return;
  }
  const wanted = params.get("project") ?? "";
  if (!projects) quietly(loadProjects());
  const options = [["", "All projects"], ...(projects ?? []).map(({ value, label }) => [value, label])];
  if (wanted && !options.some(([value]) => value === wanted)) options.push([wanted, wanted]);
  const from = params.get("from") ?? "";
  const to = params.get("to") ?? "";
  const known = !to && RANGES.some(([value]) => value === from);
  const chosen = known ? from : "days";
  const day = (text, isEnd) => {
    const at = resolveTime(text, false);
    return at ? dayKey(isEnd && !/^\d{4}-\d\d-\d\d$/.test(text) ? new Date(Date.parse(at) - 1) : at) : "";
  };
  const select = (id, label, list, value, onchange) =>
    h(
      "label",
      { class: "filter" },
      h("span", { class: "sr" }, label),
      h(
        "select",
        { id, class: "field", value, onchange },
        list.map(([name, text]) => h("option", { value: name }, text)),
      ),
    );
  const change = (changed) => {
    const next = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changed)) next.set(name, value);
    // Set before `navigate`, which keeps filters that are not named.
    for (const name of FILTERS) if (!next.has(name)) next.set(name, "");
    navigate(next);
  };
  const isTimed = used.includes("time");
  setBanner("filter", isTimed && timeProblem(params), "bad");
  const days =
    isTimed && chosen === "days" && dayFields({ from: day(from, false), to: day(to, true) }, (changed) => change(changed));
  const focused = document.activeElement?.id;
  replace(
    form,
    select("filter-project", "Project", options, wanted, (event) => change({ project: event.target.value })),
    isTimed &&
      select("filter-time", "Time", RANGES, chosen, (event) => {
        const value = event.target.value;
        change(
          value === "days" ? { from: dayKey(new Date(now())), to: dayKey(new Date(now())) } : { from: value, to: "" },
        );
      }),
    days,
    (wanted || (isTimed && (from || to))) &&
      h(
        "button",
        { type: "button", class: "button button-quiet", onclick: () => change({ project: "", from: "", to: "" }) },
        "Clear",
      ),
  );
  if (focused?.startsWith("filter-")) byId(focused)?.focus();
}

/** Reads the projects for the filter. A name that several projects share is listed with its exact path. */
async function loadProjects() {
  projects ??= [];
  const listed = (await call("list_projects", { counts: false })).projects;
  const names = new Map();
  for (const { name } of listed) names.set(name, (names.get(name) ?? 0) + 1);
  projects = listed.map(({ name, path, root }) =>
    names.get(name) > 1 ? { value: path, label: `${name} (${root ?? path})` } : { value: name, label: name },
  );
  // A field that is in use stays as it is; `focusout` shows the filters again.
  filtersAreOld = byId("filters").contains(document.activeElement);
  if (current && !filtersAreOld) showFilters(current.entry, current.params);
}

function leaveFilters(event) {
  if (!filtersAreOld || byId("filters").contains(event.relatedTarget)) return;
  filtersAreOld = false;
  // After the fields have applied their values.
  setTimeout(() => current && showFilters(current.entry, current.params));
}

// ---- Connection, notices

let lostAt = null;

function showConnection(state) {
  const text = byId("connection-text");
  byId("connection").className = `connection ${state.connected ? "is-live" : state.ever ? "is-lost" : ""}`;
  if (state.connected) {
    replace(text, "Connected");
    setBanner("connection", null);
    return;
  }
  if (!state.ever && !state.signedOut) return;
  const since = clockTime(new Date(state.since));
  replace(text, state.ever ? `Stale since ${since}` : "Not connected");
  setBanner(
    "connection",
    state.signedOut
      ? [
          "This browser is not signed in. To sign in again, run ",
          h("code", {}, "rekindle web --open"),
          ".",
        ]
      : [
          h("strong", {}, `Stale since ${since}. `),
          state.isOther
            ? "The daemon at this address has another database; the page waits for its own. "
            : "The daemon does not respond; the page tries again by itself. ",
          "Start it with ",
          h("code", {}, "rekindle up"),
          ". If it uses another port now, run ",
          h("code", {}, "rekindle web"),
          ".",
        ],
    "bad",
  );
}

/** Shows a line above every view, or removes it. */
function setBanner(name, content, kind = "note") {
  const id = `banner-${name}`;
  const next = content ? h("div", { id, class: `banner banner-${kind}`, role: "alert" }, content) : null;
  // A banner that says the same stays: a new one would be read aloud again.
  if (byId(id)?.textContent === next?.textContent) return;
  byId(id)?.remove();
  if (next) byId("banners").append(next);
}

let pauseTimer = 0;

/** Shows the pauses that hold, in the reader's time zone. One that ends by itself is removed at its end. */
function showPauses(pauses) {
  const sentence = ({ name, ends_at: end }) => [
    name ? `Recording is paused in ${name} until ` : "Recording is paused everywhere until ",
    end ? time(end, dayAndTime) : "you resume it",
    ". ",
  ];
  setBanner("pause", pauses.length > 0 && [pauses.map(sentence), link({ view: "projects" }, "Change this")], "pause");
  const ends = pauses.map(({ ends_at: end }) => end * 1000 - now()).filter((ms) => ms < STATUS_MS);
  clearTimeout(pauseTimer);
  // A second later, because the end is rounded down to seconds.
  if (ends.length > 0) pauseTimer = setTimeout(() => quietly(refreshStatus()), Math.max(0, Math.min(...ends)) + 1000);
}

/** Reads what every view shows: pauses and other notes, projects, and sessions that were not seen. */
async function refreshStatus() {
  const [status, overview] = await Promise.all([call("status"), call("sessions_overview", { project: "*", limit: 1 })]);
  setUnobserved(overview.unobservedCount);
  showPauses(status.pauses ?? []);
  const version = `${status.version} ${status.build ?? ""}`;
  if (build && build !== version) {
    toast("Rekindle was updated.", { stay: true, action: { text: "Reload", run: () => location.reload() } });
  }
  build = version;
}

const quietly = (promise) =>
  promise.catch((error) => {
    if (!isAborted(error) && error.code !== "gone" && error.code !== "unauthenticated") toast(error.message);
  });

/** Removes the content: a browser that was forgotten shows no data. */
function showNothing() {
  close();
  chooseSession(null, null);
  projects = null;
  setUnobserved(0);
  replace(byId("filters"));
  replace(byId("read-at"));
  setTitle("Signed out");
  replace(
    byId("main"),
    h(
      "div",
      { class: "view empty" },
      h("h2", {}, "This browser is signed out"),
      h("p", {}, "To sign in again, run ", h("code", {}, "rekindle web --open"), " in a terminal on this computer."),
      h("p", {}, "It opens the page in a browser; ", h("code", {}, "rekindle web"), " prints a link for another one. This tab then continues by itself."),
    ),
  );
}

function connectionChanged(state) {
  showConnection(state);
  if (state.signedOut && current) showNothing();
  if (state.connected && (lostAt !== null || !current)) {
    lostAt = null;
    quietly(refreshStatus());
    if (projects) quietly(loadProjects());
    // Views with a feed close their gap themselves.
    if (!current) route();
    else quietly(refresh());
  } else if (!state.connected && state.ever) {
    lostAt ??= state.since;
  }
}

// ---- Keys and themes

const keysAreOn = () => localStorage.getItem("rekindle-keys") !== "off";
let pending = null;

const isField = (element) => element?.closest?.("input, textarea, select, [contenteditable]");

function moveRow(step) {
  const rows = [...document.querySelectorAll("#main [data-row]")].filter((row) => row.getClientRects().length > 0);
  if (rows.length === 0) return;
  const at = rows.indexOf(document.activeElement?.closest?.("[data-row]") ?? document.activeElement);
  let next = at + step;
  if (at < 0) next = rows.findIndex((row) => row.getBoundingClientRect().bottom > 120);
  const row = rows[Math.max(0, Math.min(rows.length - 1, next))];
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest", behavior: "instant" });
}

async function goToSearch() {
  const field = () => document.querySelector("#main input[type=search]");
  if (entryOf(new URLSearchParams(location.search)).id !== "search" || !field()) {
    navigate({ view: "search" });
    for (let wait = 0; wait < 40 && !field(); wait += 1) await new Promise((done) => setTimeout(done, 50));
  }
  // The view may have given it the focus already, and the user may be typing.
  if (document.activeElement === field()) return;
  field()?.focus();
  field()?.select();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") {
    closeMenu();
    if (isField(event.target)) event.target.blur();
    else current?.handle?.escape?.();
    return;
  }
  if (isField(event.target) || !keysAreOn()) return;
  const isSecond = pending !== null;
  clearTimeout(pending);
  pending = null;
  const view = isSecond && VIEWS.find(({ key }) => key === event.key);
  if (view) navigate({ view: view.id === "timeline" ? null : view.id });
  else if (event.key === "g")
    pending = setTimeout(() => {
      pending = null;
    }, 1500);
  else if (event.key === "/") goToSearch();
  else if (event.key === "?") showHelp();
  else if (event.key === "u" && undoLast()) event.preventDefault();
  else if (event.key === "j") moveRow(1);
  else if (event.key === "k") moveRow(-1);
  else return;
  event.preventDefault();
});

/** The keys, which few starts need. */
const showHelp = () => quietly(load("/keys.js").then(({ showKeys }) => showKeys({ views: VIEWS, isOn: keysAreOn() })));

function startTheme() {
  const select = byId("theme");
  select.value = localStorage.getItem("rekindle-theme") ?? "system";
  select.addEventListener("change", () => {
    if (select.value === "system") {
      localStorage.removeItem("rekindle-theme");
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem("rekindle-theme", select.value);
      document.documentElement.dataset.theme = select.value;
    }
  });
}

// ---- Start

async function start() {
  history.scrollRestoration = "manual";
  startTheme();
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("focusout", leaveFilters);
  byId("help").addEventListener("click", showHelp);
  byId("menu").addEventListener("click", () => {
    const isOpen = byId("side").classList.toggle("is-open");
    byId("menu").setAttribute("aria-expanded", String(isOpen));
  });
  await pickUpKey().catch(() => false);
  onState(connectionChanged);
  showConnection(connection());
  onNotification("session/list_changed", ({ unobservedCount, reason }) => {
    setUnobserved(unobservedCount);
    if (reason === "started" && projects) quietly(loadProjects());
  });
  onNotification("pause/changed", () => quietly(refreshStatus()));
  document.addEventListener("rekindle:status", () => {
    quietly(refreshStatus());
    if (projects) quietly(loadProjects());
  });
  document.addEventListener("rekindle:changed", () => quietly(refresh()));
  document.addEventListener("rekindle:signed-out", signedOut);
  document.addEventListener("rekindle:clock", reopen);
  startLive();
  route();
  quietly(refreshStatus());
  setInterval(() => document.hidden || !connection().connected || quietly(refreshStatus()), STATUS_MS);
}

start();
