// Statistics: records over time and by kind, failures, injected tokens, and a week by hour.

import { call } from "/api.js";
import { toast } from "/dialog.js";
import { h, link, replace } from "/dom.js";
import { clockTime, dayKey, now, number, plural } from "/format.js";
import { empty, field, fill, intro, percent, select, typeName } from "/parts.js";
import { bars, columns, week } from "/plot.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Range without a time filter, and the longest range that is shown by hour. */
const DEFAULT_DAYS = 30;
const HOURLY_DAYS = 7;
/** Longest ranking; the rest is one bar. */
const TOP = 10;
/** Types with a colour of their own; the others are one. */
const SERIES = 5;

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
  hourCycle: "h23",
});

/** The range that is shown, and why it is shorter than the chosen one. */
function rangeText({ from, to, tooLong }, filters, bucket) {
  const range = `${dayLong.format(from)} to ${dayLong.format(to - 1)}`;
  const days = bucket === "hour" ? HOURLY_DAYS : DEFAULT_DAYS;
  if (tooLong) return `${range}: by hour, the last ${days} days of the chosen time`;
  return filters.from ? range : `${range}: the last ${days} days, unless you choose a time above`;
}

/** The rows of a ranking, the largest first; everything after the tenth is one row. */
function ranking(counts, nameOf = (name) => name) {
  const rows = Object.entries(counts)
    .map(([id, value]) => ({ id, name: nameOf(id), value }))
    .sort((a, b) => b.value - a.value);
  if (rows.length <= TOP) return rows;
  const rest = rows.slice(TOP - 1).reduce((sum, row) => sum + row.value, 0);
  return [...rows.slice(0, TOP - 1), { id: null, name: "others", value: rest }];
}

/** All buckets of the period in order, with their times in milliseconds. The reply leaves out those without a record. */
function allBuckets({ from, to, bucket, buckets, injected }) {
  const step = bucket === "hour" ? HOUR : DAY;
  const byStart = (list) => new Map(list.map((one) => [Date.parse(one.start), one]));
  const [records, texts] = [byStart(buckets), byStart(injected)];
  const result = [];
  for (let start = Date.parse(from); start < Date.parse(to); start += step) {
    const { count = 0, failed = 0, by = {} } = records.get(start) ?? {};
    const { tokens = 0, used = 0, tracked = 0 } = texts.get(start) ?? {};
    result.push({ start, count, failed, by, tokens, used, tracked });
  }
  return result;
}

/** The used share of the tokens whose use is recorded; a dash if there are none. */
const usedShare = ({ used, tracked }) => (tracked ? percent(used / tracked) : "–");

function figures(stats) {
  const sum = (name) => stats.injected.reduce((all, one) => all + one[name], 0);
  const all = [
    [number(stats.records), "prompts, answers and actions"],
    [percent(stats.records ? stats.failed / stats.records : 0), "failed"],
    [number(sum("tokens")), "tokens injected"],
    [usedShare({ used: sum("used"), tracked: sum("tracked") }), "of the tracked tokens used"],
  ];
  const items = all.map(([value, name]) => h("li", {}, h("strong", {}, value), h("span", { class: "muted" }, name)));
  return h("div", { class: "card" }, h("ul", { class: "figures" }, items));
}

/** Opens the timeline at the latest hour of a weekday that has records. */
async function openHour(day, hour, asked, timeline) {
  const { buckets } = await call("activity_stats", { ...asked, bucket: "hour" });
  const latest = buckets.findLast((one) => {
    const date = new Date(one.start);
    return (date.getDay() + 6) % 7 === day && date.getHours() === hour;
  });
  const start = latest && Date.parse(latest.start);
  if (latest) timeline({ from: new Date(start).toISOString(), to: new Date(start + HOUR).toISOString() });
  else toast("Nothing was recorded at this hour.");
}

function plots(stats, asked, navigate) {
  const isHour = stats.bucket === "hour";
  const rows = allBuckets(stats).map((one) => {
    const { start } = one;
    // Noon is in the same local day, also if the clocks change in the period.
    const label = isHour ? `${dayShort.format(start)}, ${clockTime(start / 1000)}` : dayShort.format(start + 12 * HOUR);
    return { ...one, label, name: isHour ? hourLong.format(start) : dayLong.format(start + 12 * HOUR) };
  });
  const rowTitle = isHour ? "Hour" : "Day";
  const per = isHour ? "hour" : "day";
  const times = ({ start }) => {
    if (isHour) return { from: new Date(start).toISOString(), to: new Date(start + HOUR).toISOString() };
    const day = dayKey(new Date(start + 12 * HOUR));
    return { from: day, to: day };
  };
  const timeline = (params) => navigate({ view: "timeline", ...params });
  const types = ranking(stats.by_type, typeName);
  const main = types.filter((type) => type.id).slice(0, SERIES);
  const series = [...main.map(({ name }) => ({ name })), { name: "Others" }];
  const byType = rows.map((row) => {
    const parts = main.map(({ id }) => row.by[id] ?? 0);
    return { ...row, parts: [...parts, row.count - parts.reduce((sum, part) => sum + part, 0)] };
  });
  // The period that is counted, which may be shorter than the chosen one.
  const from = isHour ? stats.from : dayKey(new Date(Date.parse(stats.from) + 12 * HOUR));
  const top = (title, rowName, data, filter, noPick) =>
    data.length
      ? bars({ title, rowTitle: rowName, data, noPick, pick: filter && ((row) => row.id && timeline({ ...filter(row.id), from })) })
      : null;
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
      extra: { title: "Share", cell: (row) => percent(row.count ? row.failed / row.count : 0) },
    }),
    columns({
      title: `Tokens injected per ${per}`,
      lead: [
        "The use of every line is tracked, but for the context of resumed sessions. All lines: ",
        link({ view: "receipts" }, "receipts"),
        ".",
      ],
      data: rows.map((row) => {
        const { tokens, tracked, used } = row;
        return { ...row, parts: [used, tracked - used, tokens - tracked] };
      }),
      series: [{ name: "Used" }, { name: "Not used", kind: 1 }, { name: "Not tracked", kind: 5 }],
      unit: "tokens",
      rowTitle,
      pick: (row) => navigate({ view: "receipts", ...times(row) }),
      pickHint: "Choose a column to see its receipts.",
      extra: { title: "Share used", cell: (row) => usedShare(row) },
    }),
    week({
      title: "A week by hour",
      lead: "Records of the whole period by weekday and hour, in your time zone.",
      counts: stats.week,
      pick: (day, hour) => openHour(day, hour, asked, timeline).catch((error) => toast(error.message)),
    }),
    top("By type", "Type", types, (type) => ({ type })),
    // The timeline does not filter by tool: a tool has records of several types, and a type those of several tools.
    top("By tool", "Tool", ranking(stats.by_tool), null, "The timeline has no filter for tools; choose a type above."),
    top("By project", "Project", ranking(stats.by_project), (project) => ({ project })),
    top("By agent", "Agent", ranking(stats.by_agent), (agent) => ({ agent })),
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
  let chosen = [];
  const load = (...given) => {
    chosen = given;
    const [current, shared] = chosen;
    const by = current.get("bucket") === "hour" ? "hour" : "day";
    bucket.value = by;
    const range = period(shared, by);
    note.textContent = rangeText(range, shared, by);
    const offset = new Date(range.to).getTimezoneOffset();
    // Days are counted at the offset of the end. If the clocks change before, the first day begins an hour off.
    const shift = by === "day" ? (offset - new Date(range.from).getTimezoneOffset()) * MINUTE : 0;
    const asked = {
      project: shared.project || "*",
      from: new Date(range.from + shift).toISOString(),
      to: new Date(range.to - 1).toISOString(),
      utc_offset: -offset,
    };
    return fill(place, async () => {
      const stats = await call("activity_stats", { ...asked, bucket: by }, { signal });
      if (!stats.records && stats.injected.length === 0) {
        return empty("Nothing was recorded in this time", "Choose another time or project above.", [
          "If no agent is connected yet, ",
          link({ view: "health" }, "Health"),
          " says how.",
        ]);
      }
      return [figures(stats), plots(stats, asked, navigate)];
    });
  };
  await load(params, filters);
  return { update: load, refresh: () => load(...chosen) };
}
