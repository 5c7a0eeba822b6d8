// Statistics: records over time and by kind, failures, injected tokens, and a week by hour.

import { call } from "/api.js";
import { h, link, replace } from "/dom.js";
import { dayKey, now, number, plural } from "/format.js";
import { empty, field, fill, intro, percent, select, typeName } from "/parts.js";
import { bars, columns, week } from "/plot.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Range without a time filter, and the longest range that is shown by hour. */
const DEFAULT_DAYS = 30;
const HOURLY_DAYS = 7;
/** Longest ranking; the rest is one bar. */
const TOP = 10;
/** Types with a colour of their own; the others are one. */
const SERIES = 5;

/** The type that a record of a tool has: the timeline filters by type. */
const TOOL_TYPES = {
  Read: "file_read",
  Edit: "file_edit",
  MultiEdit: "file_edit",
  Write: "file_write",
  Bash: "command",
  Grep: "search",
  Glob: "search",
  WebFetch: "web_fetch",
  WebSearch: "web_search",
  Task: "task_spawn",
};

const toolType = (tool) => TOOL_TYPES[tool] ?? (tool.startsWith("mcp__") ? "mcp_call" : "tool_other");

/** The period: from the shared filter, else the last weeks; its start is the start of a local day. */
function period(filters, bucket) {
  const to = filters.to ? Date.parse(filters.to) : now();
  const days = bucket === "hour" ? HOURLY_DAYS : DEFAULT_DAYS;
  let from = filters.from ? Date.parse(filters.from) : startOfDay(to - (days - 1) * DAY);
  const tooLong = bucket === "hour" && to - from > HOURLY_DAYS * DAY + HOUR;
  if (tooLong) from = startOfDay(to - (HOURLY_DAYS - 1) * DAY);
  return { from, to, tooLong };
}

function startOfDay(ms) {
  const date = new Date(ms);
  date.setHours(0, 0, 0, 0);
  return date.getTime();
}

const dayShort = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayLong = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });
const hourLong = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** All buckets of the period in order, also the empty ones. */
function fillBuckets(buckets, { from, to }, bucket) {
  const known = new Map(buckets.map((one) => [one.at * 1000, one]));
  const result = [];
  const date = new Date(startOfDay(from));
  if (bucket === "hour") date.setTime(Math.floor(from / HOUR) * HOUR);
  while (date.getTime() < to) {
    const at = date.getTime();
    result.push({ at, records: 0, failed: 0, by_type: {}, ...known.get(at), start: at });
    if (bucket === "hour") date.setTime(at + HOUR);
    else date.setDate(date.getDate() + 1);
  }
  return result;
}

/** The names and numbers of an object, the largest first; everything after the tenth is one row. */
function ranking(counts, name) {
  const rows = Object.entries(counts ?? {})
    .map(([id, value]) => ({ id, name: name(id), value }))
    .filter((row) => row.value > 0)
    .sort((a, b) => b.value - a.value);
  if (rows.length <= TOP) return rows;
  const rest = rows.slice(TOP - 1).reduce((sum, row) => sum + row.value, 0);
  return [...rows.slice(0, TOP - 1), { id: null, name: "others", value: rest }];
}

function figures(stats) {
  const share = stats.tokens ? percent(stats.tokens_used / stats.tokens) : null;
  const all = [
    [number(stats.records), "records"],
    [percent(stats.records ? stats.failed / stats.records : 0), "failed"],
    [number(stats.tokens), "tokens injected"],
    share && [share, "of them used"],
  ].filter(Boolean);
  const items = all.map(([value, name]) => h("li", {}, h("strong", {}, value), h("span", { class: "muted" }, name)));
  return h("div", { class: "card" }, h("ul", { class: "figures" }, items));
}

/** The reply of `activity_stats` with sums of the whole period. */
function read(reply) {
  const sum = (name) => reply.buckets.reduce((total, one) => total + (one[name] ?? 0), 0);
  return {
    ...reply,
    records: sum("records"),
    failed: sum("failed"),
    tokens: sum("tokens"),
    tokens_used: sum("tokens_used"),
  };
}

function plots(stats, hourly, range, bucket, navigate) {
  const isHour = bucket === "hour";
  const rows = fillBuckets(stats.buckets, range, bucket).map((one) => ({
    ...one,
    label: isHour ? `${new Date(one.start).getHours()}:00` : dayShort.format(one.start),
    name: isHour ? hourLong.format(one.start) : dayLong.format(one.start),
  }));
  const rowTitle = isHour ? "Hour" : "Day";
  const per = isHour ? "hour" : "day";
  const times = (row) =>
    isHour
      ? { from: new Date(row.start).toISOString(), to: new Date(row.start + HOUR).toISOString() }
      : { from: dayKey(new Date(row.start)), to: dayKey(new Date(row.start)) };
  const timeline = (params) => navigate({ view: "timeline", ...params });
  const types = ranking(stats.by_type, typeName);
  const main = types.filter((row) => row.id).slice(0, SERIES);
  const series = [...main.map((row) => ({ name: row.name })), { name: "Others" }];
  const byType = rows.map((row) => {
    const parts = main.map((type) => row.by_type?.[type.id] ?? 0);
    const rest = row.records - parts.reduce((sum, part) => sum + part, 0);
    return { ...row, parts: [...parts, Math.max(0, rest)] };
  });
  const counts = Array.from({ length: 7 }, () => Array(24).fill(0));
  const latest = new Map();
  for (const one of hourly) {
    const date = new Date(one.at * 1000);
    const day = (date.getDay() + 6) % 7;
    counts[day][date.getHours()] += one.records;
    latest.set(day * 24 + date.getHours(), one.at * 1000);
  }
  const top = (title, rowName, counted, name, pick) => {
    const data = ranking(counted, name);
    return data.length ? bars({ title, rowTitle: rowName, data, pick: (row) => row.id && pick(row.id) }) : null;
  };
  return [
    columns({
      title: `Records per ${per}, by type`,
      data: byType,
      series,
      rowTitle,
      pick: (row) => timeline(times(row)),
    }),
    columns({
      title: `Failures per ${per}`,
      lead: `${plural(stats.failed, "record")} of ${number(stats.records)} failed.`,
      data: rows.map((row) => ({ ...row, parts: [row.failed] })),
      series: [{ name: "Failed", kind: "failed" }],
      unit: "failed",
      rowTitle,
      pick: (row) => timeline({ ...times(row), failed: "1" }),
      extra: { title: "Share", cell: (row) => percent(row.records ? row.failed / row.records : 0) },
    }),
    columns({
      title: `Tokens injected per ${per}`,
      lead: ["What they were is in the ", link({ view: "receipts" }, "receipts"), "."],
      data: rows.map((row) => {
        const used = row.tokens_used ?? 0;
        return { ...row, parts: [used, Math.max(0, (row.tokens ?? 0) - used)] };
      }),
      series: [{ name: "Used" }, { name: "Not used", kind: 5 }],
      unit: "tokens",
      rowTitle,
      pick: (row) => timeline(times(row)),
      extra: { title: "Share used", cell: (row) => (row.tokens ? percent(row.tokens_used / row.tokens) : "–") },
    }),
    week({
      title: "A week by hour",
      lead: "Records of the whole period by weekday and hour, in your time zone.",
      counts,
      pick: (day, hour) => {
        const at = latest.get(day * 24 + hour);
        if (at) timeline({ from: new Date(at).toISOString(), to: new Date(at + HOUR).toISOString() });
      },
    }),
    top("By type", "Type", stats.by_type, typeName, (type) => timeline({ type })),
    top(
      "By tool",
      "Tool",
      stats.by_tool,
      (tool) => tool,
      (tool) => timeline({ type: toolType(tool) }),
    ),
    top(
      "By project",
      "Project",
      stats.by_project,
      (project) => project,
      (project) => timeline({ project }),
    ),
    top(
      "By agent",
      "Agent",
      stats.by_agent,
      (agent) => agent || "unknown",
      (agent) => timeline({ agent }),
    ),
  ];
}

export async function open(root, { params, filters, signal, navigate }) {
  const bucket = select("bucket", [
    ["day", "by day"],
    ["hour", "by hour"],
  ]);
  bucket.addEventListener("change", () => navigate({ view: "stats", bucket: bucket.value }));
  const place = h("div", { class: "stack" });
  const note = h("p", { class: "muted", role: "status" });
  replace(
    root,
    intro("What was recorded and injected, over time and by kind. Choose a value to see its records."),
    h("div", { class: "toolbar filter-bar" }, field("Over time", bucket), note),
    place,
  );
  const load = (current, shared) => {
    const by = current.get("bucket") === "hour" ? "hour" : "day";
    bucket.value = by;
    const range = period(shared, by);
    note.textContent = range.tooLong
      ? `By hour, the last ${HOURLY_DAYS} days of the period are shown.`
      : `${dayLong.format(range.from)} to ${dayLong.format(range.to - 1)}`;
    const asked = {
      project: shared.project || "*",
      from: new Date(range.from).toISOString(),
      to: new Date(range.to).toISOString(),
      utc_offset: -new Date(range.to).getTimezoneOffset(),
    };
    return fill(place, async () => {
      try {
        const [daily, hourly] = await Promise.all([
          call("activity_stats", { ...asked, bucket: by }, { signal }),
          by === "hour" ? null : call("activity_stats", { ...asked, bucket: "hour" }, { signal }),
        ]);
        const stats = read(daily);
        if (!stats.records && !stats.tokens) {
          return empty("Nothing was recorded in this time", "Choose another time or project above.", [
            "If no agent is connected yet, ",
            link({ view: "health" }, "Health"),
            " says how.",
          ]);
        }
        return [figures(stats), ...plots(stats, (hourly ?? daily).buckets, range, by, navigate)];
      } catch (error) {
        if (error.code !== "-32601") throw error;
        return empty("This daemon does not count activity yet", "Update it, then reload the page.");
      }
    });
  };
  await load(params, filters);
  return { update: load };
}
