// Times, numbers and texts as people read them.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How far the daemon's clock is ahead of the browser's, in milliseconds. Ages count from the daemon's clock. */
let clockOffset = 0;

export function setClock(serverMs) {
  const offset = serverMs - Date.now();
  // A reply is on its way for a moment: a small difference says nothing about the clocks.
  const next = Math.abs(offset) < 5000 ? 0 : offset;
  const isOther = Math.abs(next - clockOffset) > MINUTE * 1000;
  clockOffset = next;
  // A filter such as "today" was computed with the wrong time.
  if (isOther) document.dispatchEvent(new CustomEvent("rekindle:clock"));
}

/** The present time of the daemon, in milliseconds since 1970. */
export const now = () => Date.now() + clockOffset;

/** Milliseconds since 1970 of seconds, RFC 3339 text or a Date. */
export function toMs(at) {
  if (at instanceof Date) return at.getTime();
  return typeof at === "number" ? at * 1000 : Date.parse(at);
}

/** One form of the clock everywhere: tables, axes and sentences stand beside each other. */
const hourCycle = "h23";
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long", hourCycle });

/** Hours and minutes, as `14:05`. */
export const clockTime = (at) => clock.format(toMs(at));

/** The time of today, or the day and the time, as `18 Nov, 14:05`. */
export function dayAndTime(at) {
  const isToday = dayKey(at) === dayKey(new Date(now()));
  return isToday ? clockTime(at) : `${dayOfYear.format(toMs(at))}, ${clockTime(at)}`;
}

/** The exact time in the reader's zone, for tooltips and screen readers. */
export function exact(at) {
  const ms = toMs(at);
  return Number.isFinite(ms) ? whole.format(ms) : "an unknown time";
}

/** The local day of a time, as `2026-11-18`. */
export function dayKey(at) {
  const date = new Date(toMs(at));
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The local day as people say it: Today, Yesterday, or the date. */
export function dayName(at) {
  const key = dayKey(at);
  if (key === dayKey(new Date(now()))) return "Today";
  if (key === dayKey(new Date(now() - DAY * 1000))) return "Yesterday";
  return weekday.format(toMs(at));
}

/** A short age, or the date if it is long ago. */
export function age(at) {
  const ms = toMs(at);
  if (!Number.isFinite(ms)) return "unknown";
  const seconds = (now() - ms) / 1000;
  if (seconds < -MINUTE) return dayAndYear.format(ms);
  if (seconds < MINUTE) return "just now";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`;
  if (seconds < 7 * DAY) return `${Math.floor(seconds / DAY)} d ago`;
  const sameYear = new Date(ms).getFullYear() === new Date(now()).getFullYear();
  return (sameYear ? dayOfYear : dayAndYear).format(ms);
}

/**
 * A time as an element: a short age, or the text of `show`. The exact time is in its tooltip and for screen readers.
 * @param {number | string | Date} at seconds since 1970, RFC 3339 or a Date
 * @param {(at: number | string | Date) => string} [show]
 */
export function time(at, show = age) {
  const element = document.createElement("time");
  const ms = toMs(at);
  if (Number.isFinite(ms)) element.dateTime = new Date(ms).toISOString();
  element.title = exact(at);
  element.setAttribute("aria-label", exact(at));
  element.textContent = show(at);
  if (show === age) element.dataset.age = "";
  return element;
}

/** Recomputes the ages in the document, and the names of days, of which midnight makes others. */
export function showAges() {
  const show = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };
  for (const element of document.querySelectorAll("time[data-age]")) show(element, age(element.dateTime));
  for (const element of document.querySelectorAll("[data-day]")) show(element, dayName(element.dataset.day));
}

setInterval(showAges, MINUTE * 1000);

const numbers = new Intl.NumberFormat("en");

/** A number with separators, as `12,345`. */
export const number = (value) => numbers.format(value ?? 0);

/** A size, as `1.2 MB`. */
export function bytes(count) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = count ?? 0;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** A duration in seconds in its two largest units, as `2 h 5 min`. */
export function duration(seconds) {
  const units = [
    ["d", DAY],
    ["h", HOUR],
    ["min", MINUTE],
    ["s", 1],
  ];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0 s";
  const parts = [];
  let rest = seconds;
  for (const [name, size] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${name}`);
    rest %= size;
  }
  return parts.join(" ");
}

/** A count with its noun, as `1 record` or `2 records`. */
export function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The text with control characters and bidirectional controls replaced by visible signs. */
export function visible(text) {
  return String(text).replace(HIDDEN, (sign) => {
    const code = sign.codePointAt(0);
    if (code === 0x0d) return "";
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
  });
}

/** The text as one line of at most `max` characters. */
export function oneLine(text, max = 300) {
  const head = String(text ?? "")
    .slice(0, max * 4)
    .replace(/\s+/g, " ")
    .trim();
  return head.length > max ? `${head.slice(0, max).trimEnd()}…` : head;
}

/** The reason of an injected line in words that do not need the documentation. */
export function plainReason(reason) {
  return String(reason).replace("failed without a ghap", "a run failed, and no hypothesis was written down");
}

/** The last part of a path; paths of Windows have backslashes. */
export const baseName = (path) => String(path).split(/[/\\]/).filter(Boolean).pop() ?? String(path);

/** The shortest end of each path that tells it from the others of the list, by path. */
export function shortNames(paths) {
  const parts = new Map([...new Set(paths)].map((path) => [path, String(path).split(/[/\\]/).filter(Boolean)]));
  const names = new Map();
  for (const [path, own] of parts) {
    const others = [...parts.values()].filter((other) => other !== own && other.at(-1) === own.at(-1));
    let length = 1;
    const isShared = (other) => other.slice(-length).join("/") === own.slice(-length).join("/");
    while (length < own.length && others.some(isShared)) length += 1;
    names.set(path, own.slice(-length).join("/") || String(path));
  }
  return names;
}
