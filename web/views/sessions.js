// The list of sessions: those with an unseen turn first, then the others; by time, or below their projects.

import { call, isAborted } from "/api.js";
import { confirm, problem, toast, tryAgain } from "/dialog.js";
import { address, h, link, replace } from "/dom.js";
import { oneLine, plural, time } from "/format.js";
import { virtualList } from "/list.js";
import { onNotification } from "/live.js";
import { stateBadge } from "/records.js";

const PAGE = 100;
/** Calls that are in flight at a time while many sessions are marked as seen. */
const OBSERVED_AT_ONCE = 10;
const HEADING_PX = 48;
const TYPING_MS = 200;
const CHANGED_MS = 400;

const STATES = [
  ["", "All"],
  ["unobserved", "Not seen"],
  ["active", "Busy"],
  ["idle", "Idle"],
  ["ended", "Ended"],
];

/** Rows of sessions below headings. By project, the unseen sessions are the first of their project. */
function arrange(unseen, others, isGrouped) {
  const rows = [];
  const section = (title, sessions) => {
    if (sessions.length === 0) return;
    rows.push({ key: `#${title}`, header: title });
    for (const session of sessions) rows.push({ key: session.session_id, session });
  };
  if (!isGrouped) {
    section("Not seen since their last turn", unseen);
    section(unseen.length > 0 ? "Others" : "Last active first", others);
    return rows;
  }
  const byProject = new Map();
  for (const session of [...unseen, ...others]) {
    if (!byProject.has(session.project)) byProject.set(session.project, []);
    byProject.get(session.project).push(session);
  }
  for (const [project, sessions] of byProject) section(project || "No project", sessions);
  return rows;
}

export async function open(root, { params: firstParams, filters: firstFilters, signal, navigate }) {
  let params = firstParams;
  let filters = firstFilters;
  let unseen = [];
  let others = [];
  let next = null;
  let rows = [];
  let isLoading = false;
  let controller = new AbortController();
  let typing = 0;
  let changing = 0;

  const search = h("input", {
    type: "search",
    class: "field grow",
    id: "sessions-query",
    placeholder: "Name, intent or directory",
    "aria-label": "Search by name, intent or directory",
    value: params.get("q") ?? "",
    oninput: () => {
      clearTimeout(typing);
      typing = setTimeout(() => change("q", search.value.trim(), true), TYPING_MS);
    },
  });
  const tabs = h("div", { class: "tabs", role: "group", "aria-label": "State" });
  const tools = h("div", { class: "toolbar" });
  const listRoot = h("div", { class: "s-list" });
  const end = h("div", {});
  replace(root, h("div", { class: "toolbar s-toolbar" }, search, tools), tabs, listRoot, end);

  const list = virtualList(listRoot, {
    rowHeight: () => (matchMedia("(max-width: 52rem)").matches ? 92 : 64),
    special: (index) => (rows[index].header ? HEADING_PX : null),
    count: () => rows.length,
    key: (index) => rows[index]?.key,
    render: (index) => renderRow(rows[index]),
    more: () => loadMore(),
    label: "Sessions",
  });

  function change(name, value, isReplaced = false) {
    const wanted = new URLSearchParams(params);
    wanted.delete(name);
    if (value) wanted.set(name, value);
    navigate(wanted, { replace: isReplaced });
  }

  function showTools() {
    const state = params.get("state") ?? "";
    const focused = document.activeElement?.id;
    replace(
      tabs,
      STATES.map(([value, text]) =>
        h(
          "button",
          {
            type: "button",
            id: `sessions-${value || "all"}`,
            "aria-current": value === state ? "true" : null,
            onclick: () => change("state", value),
          },
          text,
        ),
      ),
    );
    replace(
      tools,
      h(
        "label",
        { class: "check", for: "sessions-group" },
        h("input", {
          type: "checkbox",
          id: "sessions-group",
          checked: params.get("group") === "project",
          onchange: (event) => change("group", event.target.checked ? "project" : ""),
        }),
        "By project",
      ),
      unseen.length > 0 &&
        h(
          "button",
          { type: "button", class: "button", id: "sessions-seen", onclick: observeListed },
          "Mark all as seen",
        ),
    );
    if (focused?.startsWith("sessions-")) document.getElementById(focused)?.focus();
    if (document.activeElement !== search) search.value = params.get("q") ?? "";
  }

  function renderRow(row) {
    if (row.header) {
      return h("div", { class: "s-head" }, h("h2", {}, row.header));
    }
    const { session } = row;
    const title = oneLine(session.name || session.intent || "No prompt yet", 200);
    return h(
      "div",
      { class: `s-item${session.unobserved ? " is-unseen" : ""}` },
      h(
        "a",
        { class: "s-main", "data-row": "", href: address({ session: session.session_id }) },
        h(
          "span",
          { class: "s-title cut" },
          session.unobserved && h("span", { class: "s-dot", "aria-hidden": "true" }),
          title,
        ),
        h(
          "span",
          { class: "s-about cut" },
          h("span", { class: "s-project" }, session.project || "no project"),
          " · ",
          session.agent,
          ` · ${plural(session.actions, "action")}`,
          session.name && session.intent && ` · ${oneLine(session.intent, 120)}`,
        ),
      ),
      h(
        "div",
        { class: "s-end" },
        session.unobserved &&
          h(
            "button",
            {
              type: "button",
              class: "button button-small",
              "aria-label": `Mark as seen: ${title}`,
              onclick: () => observe(session.session_id),
            },
            "Mark as seen",
          ),
        stateBadge(session.state),
        time(session.last_at),
      ),
    );
  }

  async function observe(id) {
    try {
      await call("observe_session", { session_id: id });
      await refresh();
    } catch (error) {
      if (!isAborted(error)) toast(error.message);
    }
  }

  /** Marks all unseen sessions of this list as seen, after a question with their number: it has no Undo. */
  async function observeListed() {
    try {
      const ids = [];
      let cursor = null;
      do {
        const page = await call("list_sessions", { ...query(), unobserved: true, ...(cursor ? { cursor } : {}) }, { signal });
        ids.push(...page.sessions.map(({ session_id: id }) => id));
        cursor = page.next;
      } while (cursor);
      const counted = plural(ids.length, "session");
      const text = isFiltered()
        ? "These are the unseen sessions that match the filters. It cannot be undone."
        : "These are all unseen sessions. It cannot be undone.";
      if (!(await confirm({ title: `Mark ${counted} as seen?`, text, yes: "Mark as seen" }))) return;
      for (let from = 0; from < ids.length; from += OBSERVED_AT_ONCE) {
        const some = ids.slice(from, from + OBSERVED_AT_ONCE);
        await Promise.all(some.map((id) => call("observe_session", { session_id: id })));
      }
      toast(`Marked ${counted} as seen.`);
      await refresh();
    } catch (error) {
      if (!isAborted(error)) toast(error.message);
    }
  }

  const isFiltered = () =>
    Boolean(["q", "state"].some((name) => params.get(name)) || filters.project || filters.from || filters.to);

  const query = () => {
    const state = params.get("state") ?? "";
    return {
      project: filters.project ?? "*",
      limit: PAGE,
      ...(params.get("q") ? { query: params.get("q") } : {}),
      ...(["active", "idle", "ended"].includes(state) ? { state } : {}),
      ...(filters.from ? { after: filters.from } : {}),
      ...(filters.to ? { before: filters.to } : {}),
    };
  };

  function show() {
    const seen = new Set(unseen.map(({ session_id: id }) => id));
    const rest = others.filter(({ session_id: id }) => !seen.has(id));
    rows = arrange(unseen, rest, params.get("group") === "project");
    list.redraw();
    showTools();
    if (rows.length > 0) {
      replace(end, next && h("p", { class: "muted small" }, "Loading more…"));
      return;
    }
    replace(
      end,
      h(
        "div",
        { class: "empty" },
        h("h2", {}, isFiltered() ? "No session matches" : "No session is recorded yet"),
        h(
          "p",
          {},
          isFiltered()
            ? "Search matches characters in this order, in any case. Try fewer of them, or another state."
            : ["Run ", h("code", {}, "rekindle install"), ", then start an agent in a project."],
        ),
        isFiltered() &&
          h(
            "div",
            { class: "toolbar" },
            link({ view: "sessions", project: "", from: "", to: "" }, "Show all sessions", {
              class: "button",
              onclick: (event) => {
                event.preventDefault();
                navigate({ view: "sessions", project: "", from: "", to: "" });
              },
            }),
          ),
      ),
    );
  }

  /** Reads the first page; rows of later pages stay as they are. */
  async function refresh({ isNew = false } = {}) {
    controller.abort();
    controller = new AbortController();
    const { signal: ours } = controller;
    signal.addEventListener("abort", () => controller.abort(), { once: true });
    isLoading = true;
    const ended = () => {
      // An aborted call has a successor, which is loading.
      if (!ours.aborted) isLoading = false;
    };
    const only = params.get("state") === "unobserved";
    const [waiting, page] = await Promise.all([
      call("list_sessions", { ...query(), unobserved: true }, { signal: ours }),
      only ? { sessions: [] } : call("list_sessions", query(), { signal: ours }),
    ]).finally(ended);
    unseen = waiting.sessions;
    if (isNew || others.length <= PAGE) {
      others = page.sessions;
      next = page.next ?? null;
    } else {
      const fresh = new Set(page.sessions.map(({ session_id: id }) => id));
      others = [...page.sessions, ...others.slice(PAGE).filter(({ session_id: id }) => !fresh.has(id))];
    }
    show();
  }

  async function loadMore() {
    if (!next || isLoading) return;
    isLoading = true;
    const { signal: ours } = controller;
    try {
      const page = await call("list_sessions", { ...query(), cursor: next }, { signal: ours });
      const known = new Set(others.map(({ session_id: id }) => id));
      others.push(...page.sessions.filter(({ session_id: id }) => !known.has(id)));
      next = page.next ?? null;
      isLoading = false;
      show();
    } catch (error) {
      if (ours.aborted) return;
      isLoading = false;
      replace(end, problem(error, tryAgain(loadMore)));
    }
  }

  const unlisten = onNotification("session/list_changed", ({ reason, sessionId }) => {
    if (reason === "deleted") others = others.filter(({ session_id: id }) => id !== sessionId);
    clearTimeout(changing);
    changing = setTimeout(() => refresh().catch(() => {}), CHANGED_MS);
  });

  const close = () => {
    clearTimeout(typing);
    clearTimeout(changing);
    controller.abort();
    unlisten();
    list.close();
  };

  showTools();
  try {
    await refresh({ isNew: true });
  } catch (error) {
    close();
    throw error;
  }

  async function update(nextParams, nextFilters) {
    params = nextParams;
    filters = nextFilters;
    showTools();
    try {
      await refresh({ isNew: true });
    } catch (error) {
      if (isAborted(error)) return;
      const again = () => update(params, filters);
      replace(end, problem(error, tryAgain(again)));
    }
  }

  return { isLive: true, update, refresh: () => refresh(), close };
}
