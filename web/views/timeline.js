// The timeline: what agents do, everywhere or filtered, newest first and live.

import { call, isAborted } from "/api.js";
import { copy, problem, tryAgain } from "/dialog.js";
import { h, icon, isSession, link, replace } from "/dom.js";
import { clockTime, dayKey, dayName, exact, now, number, plural, showAges, time, toMs } from "/format.js";
import { virtualList } from "/list.js";
import { onNotification, subscribe } from "/live.js";
import {
  AGENTS,
  failedBadge,
  isFailed,
  passedBadge,
  readRecords,
  subject,
  TYPE_CHOICES,
  typeIcon,
  typeLabel,
  wholeRecord,
} from "/records.js";

/** Records of the first page, which fills a window, and of a later one. */
const PAGE = 50;
const LATER_PAGE = 200;

/** Rows held while the reader is at the top; older ones are read again when they are scrolled to. */
const TOP_ROWS_MAX = 400;

/** In a burst the list is drawn again at most this often, and the count more often. */
const BURST_MS = 3000;
const COUNT_MS = 1000;


/** The height of the heading of a day. */
const DAY_PX = 40;

/** How far down a reader counts as reading: new records then wait. */
const READING_PX = 40;

/** The part of a record that a row shows. The whole record is read when the row is opened. */
function slim(record) {
  const { main, more } = subject(record);
  return {
    id: record.id,
    at: record.timestamp,
    type: record.obs_type,
    session: record.session_id,
    project: record.project,
    agent: record.agent,
    failed: isFailed(record),
    path: record.file_path,
    main,
    more,
    count: record.metadata?.count ?? 1,
    pinned: record.is_pinned,
    code: record.metadata?.exit_code,
    run: record.metadata?.run?.result,
  };
}

/** One of six colours for a session. Its letters beside the colour tell parallel sessions apart, too. */
const hue = (session) => [...session].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 9973, 7) % 6;

/** Whether two neighbours are the same action, so that they share a row. */
const isRepeat = (one, other) =>
  one.session === other.session &&
  one.type === other.type &&
  one.failed === other.failed &&
  one.path === other.path &&
  (one.path ? true : one.main === other.main);

/** Whether a record is above another one: the newer of two, and of equal times the one that was recorded last. */
const isAbove = (one, other) => one.at > other.at || (one.at === other.at && one.id > other.id);

/** Rows of the list: days and groups of equal records, newest first. */
class Feed {
  constructor() {
    this.clear();
  }

  clear() {
    this.rows = [];
    this.ids = new Set();
    this.serial = 0;
  }

  group(record) {
    this.serial += 1;
    return { key: this.serial, records: [record], day: dayKey(record.at) };
  }

  dayRow(record) {
    this.serial += 1;
    return { key: this.serial, day: dayKey(record.at), isHeading: true, at: record.at };
  }

  add(record) {
    if (this.ids.has(record.id)) return null;
    this.ids.add(record.id);
    return slim(record);
  }

  /** Adds an older record at the end. */
  append(full) {
    const record = this.add(full);
    if (!record) return;
    const last = this.rows.at(-1);
    if (last?.records && last.day === dayKey(record.at) && isRepeat(last.records.at(-1), record)) {
      last.records.push(record);
      return;
    }
    if (last?.day !== dayKey(record.at)) this.rows.push(this.dayRow(record));
    this.rows.push(this.group(record));
  }

  /**
   * Adds a record at its time, which is at the top unless it arrived late. One that is older than all rows is added only if
   * `isEnd`: otherwise it is on a later page. Returns the key of a row that changed.
   */
  place(full, isEnd) {
    const record = slim(full);
    const at = this.rows.findIndex((row) => row.records && isAbove(record, row.records.at(-1)));
    if (at < 0) {
      if (isEnd) this.append(full);
      return null;
    }
    if (!this.add(full)) return null;
    const row = this.rows[at];
    const inside = row.records.findIndex((one) => isAbove(record, one));
    if (isRepeat(row.records[0], record) && row.day === dayKey(record.at)) {
      row.records.splice(inside, 0, record);
      return row.key;
    }
    if (inside > 0) {
      // It happened between two equal ones, which are two rows from now on.
      const older = { ...this.group(record), records: row.records.splice(inside) };
      this.rows.splice(at + 1, 0, this.group(record), older);
      return row.key;
    }
    this.insert(at, record);
    return null;
  }

  /** Adds a record as a row above the group at this index, with a heading if its day has none. */
  insert(at, record) {
    const day = dayKey(record.at);
    if (this.rows[at].day === day) {
      this.rows.splice(at, 0, this.group(record));
      return;
    }
    // The group is the first of its day: the record is above that heading, at the end of its own day.
    const isKnown = at > 1 && this.rows[at - 2].day === day;
    this.rows.splice(at - 1, 0, ...(isKnown ? [] : [this.dayRow(record)]), this.group(record));
  }

  /** The oldest record, from where the next page starts. */
  oldest() {
    return this.rows.at(-1)?.records?.at(-1)?.id;
  }

  /** Keeps the newest rows only. Returns whether rows were dropped. */
  trim(max) {
    if (this.rows.length <= max) return false;
    this.rows.length = max;
    while (this.rows.length > 0 && !this.rows.at(-1).records) this.rows.pop();
    this.ids = new Set(this.rows.flatMap((row) => row.records?.map(({ id }) => id) ?? []));
    return true;
  }

  /** Removes the records of a deleted session. */
  forget(session) {
    const kept = this.rows.filter((row) => !row.records || row.records[0].session !== session);
    this.rows = kept.filter((row, at) => row.records || kept[at + 1]?.records);
  }
}

const INSTALL = "rekindle install";

/** How to connect an agent, for a store without records. */
function connecting() {
  return h(
    "div",
    { class: "empty" },
    h("h2", {}, "Nothing is recorded yet"),
    h("p", {}, "Connect an agent; each prompt, edit and command then appears here as it happens."),
    h(
      "div",
      { class: "command" },
      h("code", {}, INSTALL),
      h("button", { type: "button", class: "button", "aria-label": `Copy: ${INSTALL}`, onclick: () => copy(INSTALL, "Command") }, "Copy"),
    ),
    h("p", {}, "This adds hooks to the agents on this computer. An agent that speaks MCP starts this command itself:"),
    h("pre", {}, h("code", {}, "rekindle serve")),
    h(
      "p",
      {},
      "Over HTTP it connects to ",
      h("code", {}, `${location.origin}/mcp`),
      " with the header ",
      h("code", {}, "Authorization: Bearer TOKEN"),
      ". TOKEN is the content of the file ",
      h("code", {}, "token"),
      " in the data directory; ",
      h("code", {}, "rekindle up"),
      " prints its path.",
    ),
  );
}

export async function open(root, { params: firstParams, filters: firstFilters, signal, navigate }) {
  let params = firstParams;
  let filters = firstFilters;
  const feed = new Feed();
  const expanded = new Map();
  let controller = new AbortController();
  let unsubscribe = () => {};
  let isDone = false;
  let isLoading = false;
  let waiting = 0;
  let arrived = 0;
  /** The record up to which this page has heard of all: live records are those after it. */
  let lastId = 0;
  const openedAt = clockTime(new Date(now()));

  const toolbar = h("div", { class: "toolbar tl-toolbar" });
  const pill = h("button", { type: "button", class: "tl-new", hidden: true, onclick: () => reload({ toTop: true }) });
  const status = h("p", { class: "muted small tl-status", role: "status" });
  const listRoot = h("div", { class: "tl-list" });
  const end = h("div", { class: "tl-end" });
  replace(root, toolbar, h("div", { class: "tl-new-place stuck" }, pill), listRoot, end);

  /** The filters as the operation and its feed take them. */
  const query = () => ({
    project: filters.project ?? "*",
    ...(params.get("type") ? { obs_type: params.get("type") } : {}),
    ...(params.get("failed") ? { failed: true } : {}),
    ...(params.get("agent") ? { agent: params.get("agent") } : {}),
  });

  const isFiltered = () =>
    Boolean(
      filters.project || filters.from || filters.to || ["type", "failed", "agent"].some((name) => params.get(name)),
    );

  const list = virtualList(listRoot, {
    rowHeight: () => (matchMedia("(max-width: 52rem)").matches ? 60 : 40),
    special: (index) => (feed.rows[index].isHeading ? DAY_PX : null),
    count: () => feed.rows.length,
    key: (index) => feed.rows[index]?.key,
    render: (index) => renderRow(feed.rows[index]),
    more: () => loadMore(),
    label: "Records",
  });

  function renderRow(row) {
    if (row.isHeading) {
      const day = new Date(toMs(row.at)).toISOString();
      return h("div", { class: "tl-day" }, h("h2", { "data-day": day }, dayName(row.at)));
    }
    const record = row.records[0];
    const isOpen = expanded.has(row.key);
    const count = row.records.reduce((sum, { count }) => sum + count, 0);
    const kind = record.type === "user_prompt" ? "prompt" : record.type === "answer" ? "answer" : "action";
    const item = h(
      "div",
      { class: `tl-item tl-${kind}${record.failed ? " tl-failed" : ""}${isOpen ? " is-open" : ""}` },
      h(
        "div",
        { class: "tl-row" },
        h(
          "button",
          {
            type: "button",
            class: "tl-main",
            "data-row": "",
            "aria-expanded": String(isOpen),
            onclick: () => toggle(row),
          },
          time(record.at, clockTime),
          h("span", { class: "tl-icon" }, typeIcon(record.type)),
          h(
            "span",
            { class: "tl-text cut" },
            h("span", { class: "tl-label" }, typeLabel(record.type)),
            " ",
            h(
              "span",
              { class: record.path || record.type.startsWith("command") ? "tl-subject mono" : "tl-subject" },
              record.main,
            ),
            record.more && h("span", { class: "tl-more mono" }, " ", record.more),
          ),
          h(
            "span",
            { class: "tl-badges" },
            record.failed && failedBadge({ metadata: { exit_code: record.code } }),
            !record.failed && record.run === "passed" && passedBadge(),
            record.pinned && h("span", { class: "badge badge-accent" }, icon("pin"), "pinned"),
            count > 1 &&
              h("span", { class: "badge tl-count", title: `${number(count)} times in a row` }, `×${number(count)}`),
          ),
        ),
        isSession(record.session)
          ? link(
              { session: record.session },
              [
                h("span", { class: "cut" }, record.project),
                h("span", { class: `tl-mark mark-${hue(record.session)}` }, record.session.slice(-4)),
                h("span", { class: "tl-agent" }, record.agent),
              ],
              { class: "tl-session", title: `Session ${record.session}` },
            )
          : h("span", { class: "tl-session" }, record.project),
      ),
      isOpen && expanded.get(row.key),
    );
    return item;
  }

  async function toggle(row) {
    if (expanded.has(row.key)) {
      expanded.delete(row.key);
      list.expand(row.key, false);
      return;
    }
    const place = h("div", { class: "tl-whole" }, h("p", { class: "muted" }, "Loading…"));
    expanded.set(row.key, place);
    list.expand(row.key, true);
    try {
      const records = await readRecords(
        row.records.map(({ id }) => id),
        signal,
      );
      const changed = (record) => {
        const shown = row.records.find(({ id }) => id === record.id);
        if (shown) shown.pinned = record.is_pinned;
        list.update(row.key);
      };
      replace(
        place,
        records.map((record) => wholeRecord(record, { onChange: changed })),
        records.length === 0 && h("p", { class: "muted" }, "This record was deleted."),
        row.records.length > 50 && h("p", { class: "muted" }, `${number(row.records.length - 50)} more like these.`),
      );
    } catch (error) {
      if (!isAborted(error)) replace(place, problem(error));
    }
  }

  const isReading = () =>
    scrollY > READING_PX || expanded.size > 0 || listRoot.querySelector(":focus-visible") !== null;

  function showStatus() {
    pill.hidden = waiting === 0;
    replace(pill, `${number(waiting)} new`, h("span", { class: "sr" }, ": show them"));
    replace(status, arrived === 0 ? "" : `${plural(arrived, "record")} since ${openedAt}`);
  }

  function showEnd() {
    if (feed.rows.length > 0) {
      replace(
        end,
        isDone
          ? h(
              "p",
              { class: "muted small" },
              filters.from ? `No earlier records since ${exact(filters.from)}.` : "This is the first record.",
            )
          : h("p", { class: "muted small" }, "Loading more…"),
      );
    } else if (isLoading) {
      replace(end);
    } else if (isFiltered()) {
      replace(
        end,
        h(
          "div",
          { class: "empty" },
          h("h2", {}, "No record matches these filters"),
          h("p", {}, "Choose another type, agent, project or time."),
          h(
            "div",
            { class: "toolbar" },
            h(
              "button",
              { type: "button", class: "button", onclick: () => navigate({ project: "", from: "", to: "" }) },
              "Show everything",
            ),
          ),
        ),
      );
    } else {
      replace(end, connecting());
    }
  }

  /** Appends a page of older records. A record before the chosen time ends the list. */
  function take(page) {
    const from = filters.from ? Date.parse(filters.from) / 1000 : 0;
    const records = page.records.filter(({ timestamp }) => timestamp >= from);
    for (const record of records) feed.append(record);
    isDone = page.next === undefined || page.next === null || records.length < page.records.length;
  }

  async function loadMore() {
    if (isDone || isLoading) return;
    const before = feed.oldest();
    if (before === undefined) return;
    isLoading = true;
    const { signal: ours } = controller;
    try {
      take(await call("activity", { ...query(), before, limit: LATER_PAGE }, { signal: ours }));
      isLoading = false;
      list.grow();
      showEnd();
    } catch (error) {
      if (ours.aborted) return;
      isLoading = false;
      replace(end, problem(error, tryAgain(() => loadMore())));
    }
  }

  /** Reads the list from its top. */
  async function reload({ toTop = false } = {}) {
    controller.abort();
    controller = new AbortController();
    signal.addEventListener("abort", () => controller.abort(), { once: true });
    const { signal: ours } = controller;
    isLoading = true;
    const start = filters.to ? { before: filters.to } : {};
    const page = await call("activity", { ...query(), ...start, limit: PAGE }, { signal: ours }).finally(() => {
      // An aborted call has a successor, which is loading.
      if (!ours.aborted) isLoading = false;
    });
    waiting = 0;
    stash = null;
    feed.clear();
    expanded.clear();
    take(page);
    lastId = page.last_id;
    list.redraw();
    if (toTop) scrollTo(0, 0);
    showStatus();
    showEnd();
  }

  /** Records that arrived and are not drawn yet; `isWhole` if they are more than a message has, so that the list is read again. */
  let stash = null;
  let drawing = 0;
  let counting = 0;

  function draw() {
    drawing = 0;
    if (!stash) return;
    const { records, isWhole, count } = stash;
    stash = null;
    if (isReading()) {
      // The reader went down meanwhile: these records wait, too.
      waiting += count;
      countSoon();
      return;
    }
    if (isWhole) {
      readTop(count);
      return;
    }
    const changed = new Set();
    for (const record of [...records].reverse()) changed.add(feed.place(record, isDone));
    if (feed.trim(TOP_ROWS_MAX)) isDone = false;
    list.refresh();
    // The first record after midnight makes yesterday of the heading below it.
    showAges();
    for (const key of changed) if (key !== null) list.update(key);
    showEnd();
  }

  /** Whether the newest records are being read again: records that arrive meanwhile are drawn after them. */
  let isReadingTop = false;

  /** Reads the newest records again in a burst. They wait if that fails, or if the reader goes down meanwhile. */
  async function readTop(count) {
    isReadingTop = true;
    const { signal: ours } = controller;
    const page = await call("activity", { ...query(), limit: PAGE }, { signal: ours }).catch(() => null);
    isReadingTop = false;
    if (signal.aborted) return;
    drawing = setTimeout(draw, BURST_MS);
    // Another list was read meanwhile: it has these records.
    if (ours.aborted) return;
    if (!page || isReading() || isLoading) {
      waiting += count;
      countSoon();
      return;
    }
    feed.clear();
    take(page);
    list.redraw();
    showEnd();
  }

  function countSoon() {
    status.dataset.arrived = String(arrived);
    counting ||= setTimeout(
      () => {
        counting = 0;
        showStatus();
      },
      arrived > 200 ? COUNT_MS : 0,
    );
  }

  function receive({ records: all, count: sent, last_id: last }) {
    // A message that comes twice counts once. Its records may be in the list before it arrives.
    if (filters.to || last <= lastId) return;
    lastId = last;
    // Imported records may be older than the chosen time.
    const from = filters.from ? Date.parse(filters.from) / 1000 : 0;
    const records = all.filter(({ timestamp }) => timestamp >= from);
    const count = sent - (all.length - records.length);
    if (count === 0) return;
    arrived += count;
    if (isReading()) {
      waiting += count;
    } else {
      // A burst has more records than a message: the list starts again with the newest ones of all, and the others are
      // read when they are scrolled to.
      const isWhole = sent > all.length;
      const held = stash ?? { records: [], isWhole: false, count: 0 };
      stash = {
        records: [...records, ...held.records].slice(0, TOP_ROWS_MAX),
        isWhole: isWhole || held.isWhole,
        count: held.count + count,
      };
      if (!drawing && !isReadingTop) draw();
    }
    countSoon();
  }

  function follow() {
    unsubscribe();
    const filter = query();
    unsubscribe = filters.to
      ? () => {}
      : subscribe("activity/subscribe", () => ({ ...filter, after_id: lastId }), receive);
  }

  function showToolbar() {
    const change = (name, value) => {
      const next = new URLSearchParams(params);
      next.delete(name);
      if (value) next.set(name, value);
      navigate(next);
    };
    const select = (name, label, choices) =>
      h(
        "label",
        { class: "filter" },
        h("span", { class: "sr" }, label),
        h(
          "select",
          {
            class: "field",
            id: `tl-${name}`,
            value: params.get(name) ?? "",
            onchange: (event) => change(name, event.target.value),
          },
          choices.map(([value, text]) => h("option", { value }, text)),
        ),
      );
    const focused = document.activeElement?.id;
    replace(
      toolbar,
      select("type", "Type", [["", "Everything"], ...TYPE_CHOICES]),
      select("agent", "Agent", [["", "All agents"], ...AGENTS.map((agent) => [agent, agent])]),
      h(
        "label",
        { class: "check", for: "tl-failed" },
        h("input", {
          type: "checkbox",
          id: "tl-failed",
          checked: Boolean(params.get("failed")),
          onchange: (event) => change("failed", event.target.checked ? "1" : ""),
        }),
        "Failures only",
      ),
      status,
    );
    if (focused?.startsWith("tl-")) document.getElementById(focused)?.focus();
  }

  const unlisten = onNotification("session/list_changed", ({ reason, sessionId }) => {
    if (reason !== "deleted") return;
    if (sessionId === "*") {
      reload().catch(() => {});
      return;
    }
    feed.forget(sessionId);
    list.redraw();
    showEnd();
  });

  const close = () => {
    controller.abort();
    clearTimeout(drawing);
    clearTimeout(counting);
    unsubscribe();
    unlisten();
    list.close();
  };

  showToolbar();
  try {
    await reload();
  } catch (error) {
    close();
    throw error;
  }
  follow();

  async function update(nextParams, nextFilters) {
    params = nextParams;
    filters = nextFilters;
    arrived = 0;
    showToolbar();
    unsubscribe();
    unsubscribe = () => {};
    try {
      await reload();
      follow();
    } catch (error) {
      if (isAborted(error)) return;
      feed.clear();
      list.redraw();
      replace(end, problem(error, tryAgain(() => update(params, filters))));
    }
  }

  return {
    isLive: true,
    update,
    escape() {
      const keys = [...expanded.keys()];
      expanded.clear();
      for (const key of keys) list.expand(key, false);
    },
    close,
  };
}
