// Questions before a deletion, short notices with Undo, and copying text.

import { encoded, h, prose, refocus, replace } from "/dom.js";
import { oneLine } from "/format.js";

const TOAST_MS = 8000;

let closeLastUndo = () => {};
let lastUndo = null;

/** Removes the last Undo: what it would change was deleted. */
export const endUndo = () => closeLastUndo();

/** Undoes the last change while its notice is shown. Returns whether there was one. */
export function undoLast() {
  if (!lastUndo?.isConnected) return false;
  lastUndo.click();
  return true;
}

/** The control that was used last, and whether by a key: a click by a key has no position. */
let used = { control: null, byKey: false };
addEventListener(
  "click",
  ({ target, detail }) => {
    const control = target.closest?.("button, a, summary");
    if (control && !control.closest(".toasts")) used = { control, byKey: detail === 0 };
  },
  true,
);

/** Gives the focus back from a notice: to where it was, or to the control that is there in place of a removed one. */
function focusBack(control) {
  if (control) refocus(document.body, control);
  if (document.activeElement === document.body) document.getElementById("title").focus({ preventScroll: true });
}

/**
 * Asks a question in a dialog.
 * @param {{ title: string, text: unknown, number?: number, danger?: boolean, yes?: string }} question
 *   With `number`, the answer counts only after this number was typed.
 * @returns {Promise<boolean>}
 */
export function confirm({ title, text, number, danger = false, yes = danger ? "Delete" : "OK" }) {
  return new Promise((resolve) => {
    const accept = h(
      "button",
      { type: "submit", value: "yes", class: danger ? "button button-danger" : "button" },
      yes,
    );
    const typed =
      number === undefined
        ? null
        : h("input", {
            class: "field",
            id: "confirm-number",
            inputmode: "numeric",
            autocomplete: "off",
            oninput: () => {
              accept.disabled = typed.value.replace(/[\s,.]/g, "") !== String(number);
            },
          });
    accept.disabled = typed !== null;
    const wrong = h("p", { class: "muted small", role: "alert" });
    const dialog = h(
      "dialog",
      { class: "dialog", "aria-labelledby": "confirm-title" },
      h(
        "form",
        { method: "dialog" },
        h("h2", { id: "confirm-title" }, title),
        h("div", { class: "dialog-text" }, text),
        typed && [h("label", { class: "label", for: "confirm-number" }, `Type ${number} to go on`, typed), wrong],
        h(
          "div",
          { class: "dialog-buttons" },
          // No button of the form: Enter in the field would press it.
          h("button", { type: "button", class: "button", autofocus: !typed, onclick: () => dialog.close("no") }, "Cancel"),
          accept,
        ),
      ),
    );
    typed?.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !accept.disabled) return;
      replace(wrong, `That is not ${number}, so nothing was deleted.`);
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
    typed?.focus();
  });
}

/**
 * Asks for a text in a dialog.
 * @param {{ title: string, label: string, value?: string, max?: number, yes?: string, lines?: number }} question
 * @returns {Promise<string | null>} null if it was cancelled
 */
export function ask({ title, label, value = "", max, yes = "Save", lines = 1 }) {
  return new Promise((resolve) => {
    const props = { class: "field", id: "ask-text", maxlength: max, value, autocomplete: "off" };
    const field = lines > 1 ? h("textarea", { ...props, rows: lines }) : h("input", props);
    const dialog = h(
      "dialog",
      { class: "dialog", "aria-labelledby": "ask-title" },
      h(
        "form",
        { method: "dialog" },
        h("h2", { id: "ask-title" }, title),
        h("label", { class: "label", for: "ask-text" }, label, field),
        h(
          "div",
          { class: "dialog-buttons" },
          h("button", { type: "button", class: "button", onclick: () => dialog.close("no") }, "Cancel"),
          h("button", { type: "submit", value: "yes", class: "button button-main" }, yes),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? field.value : null);
    });
    document.body.append(dialog);
    dialog.showModal();
    field.select();
  });
}

/** Shows content in a dialog with a button that closes it. */
export function show({ title, content, actions = [] }) {
  const dialog = h(
    "dialog",
    { class: "dialog dialog-wide", "aria-labelledby": "show-title" },
    h(
      "form",
      { method: "dialog" },
      h("h2", { id: "show-title" }, title),
      h("div", { class: "dialog-text" }, content),
      h("div", { class: "dialog-buttons" }, actions, h("button", { type: "submit", class: "button" }, "Close")),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Shows a short notice, with Undo if there is something to undo.
 * @param {string} text
 * @param {{ undo?: () => unknown, action?: { text: string, run: () => unknown }, stay?: boolean }} [options]
 */
export function toast(text, { undo, action, stay = false } = {}) {
  const act = undo ? { text: "Undo", run: undo } : action;
  let timer = 0;
  let back = null;
  const close = () => {
    clearTimeout(timer);
    const wasInside = item.contains(document.activeElement);
    item.remove();
    if (wasInside) focusBack(back);
  };
  const run = async () => {
    const wasInside = item.contains(document.activeElement);
    close();
    try {
      await act.run();
    } catch (error) {
      if (error.name !== "AbortError") toast(error.message);
    }
    // What was removed may be there again.
    if (wasInside) focusBack(back);
  };
  const acting = act && h("button", { type: "button", class: "toast-button", onclick: run }, act.text);
  const onkeydown = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  };
  const item = h(
    "div",
    { class: "toast", onkeydown },
    h("span", {}, text),
    acting,
    h("button", { type: "button", class: "toast-close", "aria-label": "Dismiss", onclick: close }, "✕"),
  );
  const wait = () => {
    clearTimeout(timer);
    if (!stay) timer = setTimeout(close, TOAST_MS);
  };
  item.addEventListener("mouseenter", () => clearTimeout(timer));
  item.addEventListener("mouseleave", wait);
  item.addEventListener("focusin", () => clearTimeout(timer));
  item.addEventListener("focusout", wait);
  if (undo) {
    // Only the last change can be undone: an earlier Undo would revert later changes, too.
    closeLastUndo();
    closeLastUndo = close;
    lastUndo = acting;
    acting.setAttribute("aria-keyshortcuts", "u");
  }
  document.getElementById("toasts").append(item);
  wait();
  if (undo && used.byKey && !used.control.isConnected && !document.querySelector("dialog[open]")) {
    // The control that a key pressed is gone, and the notice is far from its place.
    const now = document.activeElement;
    back = now === document.body ? used.control : now;
    acting.focus({ preventScroll: true });
  }
  return close;
}

/** Copies a text and says so; if the browser refuses, shows the text to copy it by hand. */
export async function copy(text, what = "Text") {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied.`);
  } catch {
    const area = h("textarea", { class: "field mono", rows: 12, readonly: true, "aria-label": what, value: text });
    show({ title: `Copy: ${what}`, content: area });
    area.select();
  }
}

/** The button below an error that reads again; the shell presses it when the connection is back. */
export const tryAgain = (onclick) =>
  h("button", { type: "button", class: "button", "data-again": "", onclick }, "Try again");

/** A project in the address that does not exist: what it is called there, and how to choose another one. */
function unknownProject(params, more) {
  const name = oneLine(params.get("project"), 80);
  // The empty value removes the filter, which addresses otherwise keep.
  params.set("project", "");
  return replace(
    h("div", { class: "error", role: "alert" }),
    h("p", {}, "No project is called ", h("strong", {}, name), "."),
    h(
      "p",
      { class: "muted" },
      "It may have been merged, or the address may be misspelled. Choose a project above, or ",
      h("a", { href: encoded(params) }, "show all projects"),
      ".",
    ),
    more,
  );
}

/** Shows an error as a paragraph; the hint of the daemon follows. */
export function problem(error, ...more) {
  const params = new URLSearchParams(location.search);
  if (error.param === "project" && error.code === "not_found" && params.get("project")) return unknownProject(params, more);
  return replace(
    h("div", { class: "error", role: "alert" }),
    h("p", {}, error.message ?? String(error)),
    error.hint && h("p", { class: "muted" }, prose(error.hint)),
    more,
  );
}
