// A list that has only the rows near the visible part in the document, so that 100,000 rows scroll as fast as 100.

/** The most rows in the document at a time. */
const ROWS_MAX = 300;

/** How many pixels above and below the visible part are filled. */
const MARGIN_PX = 600;

/**
 * Shows rows of a fixed height below `root`; a row that is expanded has its own height.
 * @param {HTMLElement} root
 * @param {{
 *   rowHeight: number | (() => number),
 *   special?: (index: number) => number | null,
 *   count: () => number,
 *   render: (index: number) => HTMLElement,
 *   key?: (index: number) => unknown,
 *   more?: () => void,
 *   label?: string,
 * }} options
 *   `key` identifies a row when others are put before it; `special` is the height of a row that is not as high as the
 *   others, such as a heading; `more` is called when the end of the list comes near.
 */
export function virtualList(
  root,
  { rowHeight, count, render, key = (index) => index, special = () => null, more, label },
) {
  const height = typeof rowHeight === "function" ? rowHeight : () => rowHeight;
  root.classList.add("virtual");
  root.setAttribute("role", "list");
  if (label) root.setAttribute("aria-label", label);

  /** Rows in the document by key. */
  const shown = new Map();
  /** Heights of expanded rows by key. */
  const tall = new Map();
  /** Rows of another height as pairs of index and extra height, in order. */
  let extras = [];
  let row = height();
  let total = 0;
  /** The first row in view and its distance from the top of the window, to keep the place. */
  let anchor = null;
  let frame = 0;

  const offset = (index) => {
    let sum = index * row;
    for (const [at, extra] of extras) if (at < index) sum += extra;
    return sum;
  };

  const indexAt = (position) => {
    let rest = position;
    let before = 0;
    for (const [at, extra] of extras) {
      const start = at * row + before;
      if (position < start) break;
      if (position < start + row + extra) return at;
      before += extra;
      rest = position - before;
    }
    return Math.max(0, Math.floor(rest / row));
  };

  /** Finds the rows of another height, from an index on. */
  const findExtras = (from = 0) => {
    if (from === 0) extras = [];
    for (let index = from; index < total; index += 1) {
      const size = (tall.size > 0 && tall.get(key(index))) || special(index);
      if (size) extras.push([index, size - row]);
    }
  };

  /** Observes expanded rows: their content arrives later than the row. */
  const sizes = new ResizeObserver((entries) => {
    let changed = false;
    for (const { target } of entries) {
      const size = Math.ceil(target.getBoundingClientRect().height);
      const name = target.rowKey;
      if (size === 0 || !tall.has(name) || tall.get(name) === size) continue;
      tall.set(name, size);
      changed = true;
    }
    if (changed) {
      findExtras();
      paint();
    }
  });

  function paint() {
    cancelAnimationFrame(frame);
    frame = 0;
    const size = total === 0 ? 0 : offset(total);
    const sizeText = `${size}px`;
    if (root.style.height !== sizeText) root.style.height = sizeText;
    const top = root.getBoundingClientRect().top;
    const first = Math.max(0, indexAt(-top - MARGIN_PX));
    let last = Math.min(total, indexAt(-top + innerHeight + MARGIN_PX) + 1);
    last = Math.min(last, first + ROWS_MAX - 1);
    const wanted = new Set();
    let before = null;
    for (let index = first; index < last; index += 1) {
      const name = key(index);
      wanted.add(name);
      let element = shown.get(name);
      if (!element) {
        element = render(index);
        element.rowKey = name;
        element.setAttribute("role", "listitem");
        shown.set(name, element);
        if (tall.has(name)) sizes.observe(element);
      }
      const y = `translateY(${offset(index)}px)`;
      if (element.style.transform !== y) element.style.transform = y;
      element.setAttribute("aria-posinset", index + 1);
      element.setAttribute("aria-setsize", more ? -1 : total);
      const next = before ? before.nextSibling : root.firstChild;
      if (next !== element) root.insertBefore(element, next);
      before = element;
    }
    for (const [name, element] of shown) {
      if (wanted.has(name)) continue;
      // The row that has the focus stays, so that the keyboard does not lose its place.
      if (element.contains(document.activeElement) && shown.size <= ROWS_MAX && exists(name)) continue;
      sizes.unobserve(element);
      element.remove();
      shown.delete(name);
    }
    const visible = indexAt(-top);
    anchor = top < 0 && visible < total ? { name: key(visible), top: top + offset(visible) } : null;
    if (more && total > 0 && top + size < innerHeight * 1.5) more();
  }

  let known = null;
  const exists = (name) => {
    if (!known) {
      known = new Set();
      for (let index = 0; index < total; index += 1) known.add(key(index));
      queueMicrotask(() => {
        known = null;
      });
    }
    return known.has(name);
  };

  const schedule = () => {
    frame ||= requestAnimationFrame(paint);
  };

  /** Reads the number of rows again and keeps the place if rows were put on top. */
  function refresh() {
    total = count();
    known = null;
    findExtras();
    if (anchor) {
      for (let index = 0; index < total; index += 1) {
        if (key(index) !== anchor.name) continue;
        root.style.height = `${offset(total)}px`;
        const moved = root.getBoundingClientRect().top + offset(index) - anchor.top;
        if (moved !== 0) scrollBy({ top: moved, behavior: "instant" });
        break;
      }
    }
    paint();
  }

  /** Reads the number of rows again after rows were put at the end. */
  function grow() {
    const from = total;
    total = count();
    findExtras(from);
    known = null;
    paint();
  }

  const resized = () => {
    const next = height();
    if (next !== row) {
      row = next;
      redraw();
    } else {
      schedule();
    }
  };

  /** Renders all rows again. */
  function redraw() {
    const focused = [...shown].find(([, element]) => element.contains(document.activeElement))?.[0];
    for (const element of shown.values()) {
      sizes.unobserve(element);
      element.remove();
    }
    shown.clear();
    refresh();
    if (focused !== undefined) shown.get(focused)?.querySelector("[data-row]")?.focus({ preventScroll: true });
  }

  addEventListener("scroll", schedule, { passive: true });
  addEventListener("resize", resized, { passive: true });
  refresh();

  return {
    refresh,
    grow,
    redraw,
    /** Renders one row again. */
    update(name) {
      const element = shown.get(name);
      if (!element) return;
      const focused = element.contains(document.activeElement);
      sizes.unobserve(element);
      element.remove();
      shown.delete(name);
      paint();
      if (focused) shown.get(name)?.querySelector("[data-row]")?.focus({ preventScroll: true });
    },
    /** Gives a row its own height, or the usual one again. */
    expand(name, isExpanded) {
      if (isExpanded) tall.set(name, row);
      else tall.delete(name);
      findExtras();
      this.update(name);
      paint();
    },
    isExpanded: (name) => tall.has(name),
    close() {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", schedule);
      removeEventListener("resize", resized);
      sizes.disconnect();
    },
  };
}
