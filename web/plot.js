// Plots as SVG. Each has a title, a table with the same values next to it, and values that the keyboard reaches:
// Tab enters the plot, the arrow keys, Home and End move, Enter does what a click does.

import { h, replace, svg } from "/dom.js";
import { number } from "/format.js";
import { percent } from "/parts.js";

const LEFT = 44;
const BOTTOM = 24;
const TOP = 12;
const HEIGHT = 220;
/** Least distance of two labels on the x axis, in pixels. */
const LABEL_DISTANCE = 64;
/** Width of a letter of a label, in pixels. */
const LETTER = 6.5;
/** Widest column, in pixels: a single day must not be a wall. */
const COLUMN_WIDTH = 48;

/** Ends of a scale from 0: at most four steps of 1, 2 or 5 times a power of ten. */
export function scale(most) {
  const rough = Math.max(most, 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((factor) => factor * power >= rough) * power);
  const top = Math.ceil(Math.max(most, 1) / step) * step;
  const ticks = [];
  for (let tick = 0; tick <= top; tick += step) ticks.push(tick);
  return { top, ticks };
}

/** Moves the focus among the marks of a plot. `rows` is the number of marks per line of a grid. */
function keys(marks, perRow) {
  return (event) => {
    const at = marks.indexOf(event.target.closest("[data-mark]"));
    if (at < 0) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -perRow, ArrowDown: perRow };
    let to;
    if (event.key in steps) to = at + steps[event.key];
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = marks.length - 1;
    else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      return;
    } else return;
    event.preventDefault();
    if (to < 0 || to >= marks.length) return;
    marks[at].setAttribute("tabindex", "-1");
    marks[to].setAttribute("tabindex", "0");
    marks[to].focus();
  };
}

/**
 * The frame of a plot: title, drawing, the value under the pointer or focus, table.
 * `draw(width)` returns the SVG children and the marks; it is called again when the width changes.
 */
function frame({ title, lead, legend, table, draw, height, perRow, hint, wide }) {
  const value = h("p", { class: "plot-value muted", "aria-hidden": "true" }, hint);
  const canvas = h("div", { class: "plot-canvas" });
  let drawn = 0;
  const redraw = () => {
    const width = Math.floor(canvas.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    const focused = [...canvas.querySelectorAll("[data-mark]")].indexOf(document.activeElement);
    const { children, marks, tall = height } = draw(width);
    marks.forEach((mark, index) => {
      mark.setAttribute("data-mark", String(index));
      mark.setAttribute("tabindex", index === Math.max(focused, 0) ? "0" : "-1");
    });
    const show = (event) => {
      const mark = event.target.closest?.("[data-mark]");
      value.textContent = mark ? mark.getAttribute("aria-label") : hint;
    };
    replace(
      canvas,
      svg(
        "svg",
        {
          width,
          height: tall,
          viewBox: `0 0 ${width} ${tall}`,
          role: "group",
          "aria-label": `${title}. The arrow keys move between the values.`,
          onkeydown: keys(marks, perRow ?? 1),
          onmouseover: show,
          onfocusin: show,
          onmouseleave: show,
          onfocusout: show,
        },
        ...children,
      ),
    );
    if (focused >= 0) marks[focused]?.focus();
  };
  const observer = new ResizeObserver(redraw);
  observer.observe(canvas);
  return h(
    "figure",
    { class: "plot card" },
    h("figcaption", {}, h("h2", {}, title), lead ? h("p", { class: "muted" }, lead) : null),
    legend ?? null,
    h(
      "div",
      { class: wide ? "plot-body plot-body-wide" : "plot-body" },
      h("div", { class: "plot-drawing" }, canvas, value),
      h("div", { class: "plot-table", tabindex: "0", role: "region", "aria-label": `Table: ${title}` }, table),
    ),
  );
}

/** A table without cards: few short columns, the first one has the names of the rows. */
function plainTable(caption, titles, rows) {
  return h(
    "table",
    { class: "plain" },
    h("caption", { class: "sr" }, caption),
    h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title)))),
    h(
      "tbody",
      {},
      ...rows.map(([first, ...rest]) =>
        h("tr", {}, h("th", { scope: "row" }, first), ...rest.map((cell, index) => h("td", { "data-label": titles[index + 1] }, cell))),
      ),
    ),
  );
}

function legendOf(series) {
  return h(
    "ul",
    { class: "legend" },
    ...series.map((one, index) =>
      h(
        "li",
        {},
        svg(
          "svg",
          { width: 12, height: 12, "aria-hidden": "true" },
          svg("rect", { class: `series series-${one.kind ?? index}`, width: 12, height: 12, rx: 2 }),
        ),
        one.name,
      ),
    ),
  );
}

/** The role of a mark: a button if something happens, else a picture. */
const role = (pick) => (pick ? "button" : "img");

/** The hatching of failures: they differ by more than their colour. */
const hatch = () =>
  svg(
    "defs",
    {},
    svg(
      "pattern",
      { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { class: "hatch-back", width: 5, height: 5 }),
      svg("rect", { class: "hatch-line", width: 2, height: 5 }),
    ),
  );

/**
 * Stacked columns over time.
 * `data`: `{ label, name, parts }`, with a number in `parts` for each of `series` (`{ name, kind? }`).
 */
export function columns({ title, lead, data, series, pick, rowTitle = "Time", unit = "records", extra, pickHint }) {
  const total = (row) => row.parts.reduce((sum, part) => sum + part, 0);
  const describe = (row) => {
    const parts = series.length > 1 ? series.map((one, i) => `${one.name} ${number(row.parts[i])}`).join(", ") : "";
    return `${row.name}: ${number(total(row))} ${unit}${parts ? ` (${parts})` : ""}`;
  };
  const draw = (width) => {
    const { top, ticks } = scale(Math.max(0, ...data.map(total)));
    const inner = HEIGHT - TOP - BOTTOM;
    const y = (amount) => TOP + inner - (amount / top) * inner;
    const slot = (width - LEFT) / Math.max(data.length, 1);
    const bar = Math.max(1, Math.min(COLUMN_WIDTH, slot * 0.76));
    const distance = Math.max(LABEL_DISTANCE, LETTER * Math.max(0, ...data.map((row) => row.label.length)) + 16);
    const every = Math.ceil(distance / slot);
    const grid = ticks.flatMap((tick) => [
      svg("line", { class: "grid-line", x1: LEFT, x2: width, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "axis", x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, number(tick)),
    ]);
    const labels = data.flatMap((row, index) => {
      const x = LEFT + slot * (index + 0.5);
      const fits = x + distance / 2 <= width + 8;
      if (index % every || !fits) return [];
      return [svg("text", { class: "axis", x, y: HEIGHT - 6, "text-anchor": "middle" }, row.label)];
    });
    const marks = data.map((row, index) => {
      const x = LEFT + slot * index + (slot - bar) / 2;
      let below = 0;
      const stack = row.parts.map((part, i) => {
        below += part;
        const height = (part / top) * inner;
        const kind = series[i].kind ?? i;
        return svg("rect", { class: `series series-${kind}`, x, y: y(below), width: bar, height });
      });
      return svg(
        "g",
        { role: role(pick), "aria-label": describe(row), class: "mark", onclick: pick ? () => pick(row) : undefined },
        svg("rect", { class: "mark-area", x: LEFT + slot * index, y: TOP, width: slot, height: inner }),
        ...stack,
      );
    });
    return { children: [hatch(), ...grid, ...labels, ...marks], marks };
  };
  const titles = [rowTitle, ...series.map((one) => one.name), ...(extra ? [extra.title] : [])];
  const rows = data.map((row) => [row.name, ...row.parts.map((p) => number(p)), ...(extra ? [extra.cell(row)] : [])]);
  const hint = pickHint ?? (pick ? "Choose a column to see its records in the timeline." : "");
  const legend = series.length > 1 ? legendOf(series) : null;
  // The latest rows first: a long table shows them without scrolling.
  const table = plainTable(title, titles, rows.reverse());
  return frame({ title, lead, legend, table, draw, height: HEIGHT, hint, wide: titles.length > 4 });
}

const BAR_ROW = 30;

/** Horizontal bars, the longest first. `data`: `{ name, value, failed? }`; `noPick` says why they lead nowhere. */
export function bars({ title, lead, data, pick, rowTitle, unit = "records", noPick = "" }) {
  const total = data.reduce((sum, row) => sum + row.value, 0);
  const share = (row) => percent(total && row.value / total);
  const describe = (row) => `${row.name}: ${number(row.value)} ${unit}, ${share(row)}`;
  const draw = (width) => {
    const most = Math.max(1, ...data.map((row) => row.value));
    const label = Math.min(160, Math.floor(width * 0.4));
    const room = width - label - 64;
    const fit = (text) => {
      const letters = Math.floor(label / 7.5);
      return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
    };
    const length = (row) => (row.value / most) * room;
    const marks = data.map((row, index) => {
      const y = index * BAR_ROW;
      return svg(
        "g",
        { role: role(pick), "aria-label": describe(row), class: "mark", onclick: pick ? () => pick(row) : undefined },
        svg("rect", { class: "mark-area", x: 0, y, width, height: BAR_ROW }),
        svg("rect", {
          class: "series series-0",
          x: label,
          y: y + 8,
          width: Math.max(2, length(row)),
          height: 14,
          rx: 2,
        }),
      );
    });
    // Beside the marks: a mark is named by its label, which says the same in words.
    const texts = data.flatMap((row, index) => [
      svg("text", { class: "bar-label", x: 0, y: index * BAR_ROW + 19 }, fit(row.name)),
      svg("text", { class: "bar-value", x: label + length(row) + 8, y: index * BAR_ROW + 19 }, number(row.value)),
    ]);
    const shown = svg("g", { class: "bar-texts", "aria-hidden": "true" }, ...texts);
    return { children: [...marks, shown], marks, tall: data.length * BAR_ROW };
  };
  const rows = data.map((row) => [row.name, number(row.value), share(row)]);
  const table = plainTable(title, [rowTitle, "Records", "Share"], rows);
  const hint = pick ? "Choose a bar to see its records in the timeline." : noPick;
  return frame({ title, lead, table, draw, height: data.length * BAR_ROW, hint });
}

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const LEVELS = 5;

/** A week by hour. `counts` has seven lists of 24 numbers, from Monday on. */
export function week({ title, lead, counts, pick }) {
  const most = Math.max(1, ...counts.flat());
  const level = (amount) => (amount ? Math.ceil((amount / most) * LEVELS) : 0);
  const hourName = (hour) => `${String(hour).padStart(2, "0")}:00`;
  const draw = (width) => {
    const left = width < 480 ? 28 : 84;
    const cell = (width - left) / 24;
    const tall = Math.max(20, Math.min(28, cell));
    const names = DAYS.map((day, row) =>
      svg("text", { class: "axis", x: 0, y: 20 + row * tall + tall / 2 + 4 }, left < 84 ? day.slice(0, 2) : day),
    );
    const every = cell < 16 ? 6 : 3;
    const hours = Array.from({ length: 24 }, (_, hour) => hour)
      .filter((hour) => hour % every === 0)
      .map((hour) => svg("text", { class: "axis", x: left + hour * cell, y: 12 }, hourName(hour)));
    const marks = counts.flatMap((row, day) =>
      row.map((amount, hour) =>
        svg(
          "g",
          {
            role: role(pick),
            "aria-label": `${DAYS[day]} ${hourName(hour)}: ${number(amount)} records`,
            class: "mark",
            onclick: pick ? () => pick(day, hour) : undefined,
          },
          svg("rect", {
            class: `cell level-${level(amount)}`,
            x: left + hour * cell + 1,
            y: 20 + day * tall + 1,
            width: Math.max(2, cell - 2),
            height: tall - 2,
            rx: 2,
          }),
        ),
      ),
    );
    return { children: [...names, ...hours, ...marks], marks, tall: Math.ceil(20 + 7 * tall) };
  };
  const periods = [0, 6, 12, 18];
  const between = (row, from) => row.slice(from, from + 6).reduce((sum, amount) => sum + amount, 0);
  const titles = ["Day", ...periods.map((from) => `${from}–${from + 6} h`)];
  const rows = counts.map((row, day) => [DAYS[day], ...periods.map((from) => number(between(row, from)))]);
  const hint = "Choose an hour to see its latest records in the timeline.";
  return frame({ title, lead, table: plainTable(title, titles, rows), draw, height: 20 + 7 * 28, perRow: 24, hint });
}
