// The context of a session: its sets, the open view and the environment hint. An edit changes only the item that it names, so
// that it does not delete what an agent adds meanwhile.

import { call } from "/api.js";
import { ask, show as showDialog, toast } from "/dialog.js";
import { arrange, breakable, h, link, renew, replace } from "/dom.js";
import { baseName, oneLine, plural, shortNames } from "/format.js";

/** The usual sets; a session may have others. */
const SETS = ["files", "endpoints", "ports"];

/**
 * Shows the context of a session in a card.
 * @param {HTMLElement} card
 * @param {{ id: string, session: () => object, readSession: () => Promise<void>, signal: AbortSignal,
 *   guard: (action: Function) => Function }} about
 * @returns {() => void} shows the context as it is now; a field that is being filled in stays
 */
export function contextOf(card, { id, session, readSession, signal, guard }) {
  const itemsOf = (name) => session().meta.context[name] ?? [];

  /** Adds items to a set. Undo removes those that are new. */
  async function add(name, items, said) {
    const before = itemsOf(name);
    const done = await call("set_relevant_context", { session_id: id, setName: name, items, mode: "merge" });
    await readSession();
    const isNew = (done.context[name] ?? []).some((item) => !before.includes(item));
    const dropped = done.dropped.length > 0 ? ` ${plural(done.dropped.length, "item")} did not fit.` : "";
    const text = isNew ? said : `Nothing new in ${name}.`;
    toast(`${text}${dropped}${done.warning ? ` ${done.warning}` : ""}`, {
      undo: isNew && (() => removeItems(name, items)),
    });
  }

  async function removeItems(name, items) {
    await call("clear_context", { session_id: id, setName: name, items });
    await readSession();
  }

  /** Removes items of a set. Undo puts them back in their places; if the set changed meanwhile, at its end. */
  async function remove(name, items, said) {
    const before = itemsOf(name);
    await removeItems(name, items);
    const left = JSON.stringify(itemsOf(name));
    toast(said, {
      undo: async () => {
        await readSession();
        const same = JSON.stringify(itemsOf(name)) === left;
        const restored = same ? { items: before, mode: "replace" } : { items, mode: "merge" };
        await call("set_relevant_context", { session_id: id, setName: name, ...restored });
        await readSession();
      },
    });
  }

  /** Removes the open view. It has one value, so Undo replaces it, unless another view was opened meanwhile. */
  async function clearView() {
    const items = itemsOf("applet");
    await call("clear_context", { session_id: id, setName: "applet" });
    await readSession();
    toast("Cleared the view.", {
      undo: async () => {
        await readSession();
        if (itemsOf("applet").length > 0) return;
        await call("set_relevant_context", { session_id: id, setName: "applet", items });
        await readSession();
      },
    });
  }

  /** A set with a field to add to it. */
  function setOf(name) {
    const field = h("input", {
      class: "field grow",
      "aria-label": `Add to ${name}`,
      placeholder: `Add to ${name}`,
      maxlength: 1024,
      autocomplete: "off",
      "data-set": name,
    });
    const onsubmit = async (event) => {
      event.preventDefault();
      const added = field.value.trim();
      if (!added) return;
      field.value = "";
      await guard(async () => {
        try {
          await add(name, [added], `Added to ${name}.`);
        } catch (error) {
          field.value = added;
          throw error;
        }
      })();
    };
    const head = h("div", { class: "set-head" });
    const list = h("ul", { class: "set-items" });
    const form = h("form", { class: "set-add", onsubmit }, field, h("button", { type: "submit", class: "button" }, "Add"));
    const clear = h(
      "button",
      {
        type: "button",
        class: "button button-small button-quiet",
        "aria-label": `Clear ${name}`,
        onclick: guard(() => remove(name, itemsOf(name), `Cleared ${name}.`)),
      },
      "Clear",
    );
    const show = () => {
      const items = itemsOf(name);
      const names = shortNames(items);
      arrange(head, head.firstChild ?? h("h3", {}, name), items.length > 0 && clear);
      renew(
        list,
        items.map((item) =>
          h(
            "li",
            {},
            name === "files"
              ? link({ session: id, view: "file", path: item }, names.get(item), { title: item, class: "cut" })
              : h("span", { class: "cut", title: item }, oneLine(item, 200)),
            h(
              "button",
              {
                type: "button",
                class: "x",
                "aria-label": `Remove ${oneLine(item, 80)}`,
                onclick: guard(() => remove(name, [item], `Removed from ${name}.`)),
              },
              "✕",
            ),
          ),
        ),
      );
    };
    return { element: h("section", { class: "set" }, head, list, form), show, isFilled: () => field.value !== "" };
  }

  async function addSet() {
    const name = await ask({
      title: "Add a set",
      label: "Name of the set, for example endpoints",
      max: 64,
      yes: "Next",
    });
    if (!name?.trim()) return;
    const item = await ask({ title: `Add to ${name.trim()}`, label: "First item", max: 1024, yes: "Add" });
    if (item?.trim()) await add(name.trim(), [item.trim()], `Added ${name.trim()}.`);
  }

  async function editHint() {
    const before = session().meta.envHint ?? "";
    const hint = await ask({
      title: "Environment hint",
      label: "Commands that prepare a shell for the work (empty removes it)",
      value: before,
      max: 1024,
      lines: 4,
    });
    if (hint === null || hint === before) return;
    const update = (env_hint) => call("update_session", { session_id: id, env_hint });
    await update(hint);
    await readSession();
    const mine = session().meta.envHint;
    toast("The environment hint was changed.", {
      undo: async () => {
        await readSession();
        if (session().meta.envHint !== mine) throw new Error("It was changed again meanwhile, and stays so.");
        await update(before);
        await readSession();
      },
    });
  }

  async function suggest() {
    const { files } = await call("suggest_context", { session_id: id }, { signal });
    const nothing =
      itemsOf("files").length > 0
        ? "Nothing to suggest: the session used no other file that still exists."
        : "Nothing to suggest: the session used no file that still exists.";
    const place = h("div", {});
    const known = () => itemsOf("files");
    const render = () =>
      replace(
        place,
        files.length === 0
          ? h("p", { class: "muted" }, `${nothing} Lock files and build output are never suggested.`)
          : h(
              "ul",
              { class: "set-items" },
              files.map(({ path, count, edits }) =>
                h(
                  "li",
                  {},
                  h("span", { class: "grow mono" }, breakable(path)),
                  h("span", { class: "muted small" }, `used ${count}×${edits > 0 ? `, changed ${edits}×` : ""}`),
                  h(
                    "button",
                    {
                      type: "button",
                      class: "button button-small",
                      disabled: known().includes(path),
                      onclick: guard(async () => {
                        await add("files", [path], `Added ${baseName(path)}.`);
                        render();
                      }),
                    },
                    known().includes(path) ? "Added" : "Add",
                  ),
                ),
              ),
            ),
      );
    render();
    showDialog({ title: "Files that this session used most", content: place });
  }

  const sets = new Map();
  const head = h(
    "div",
    { class: "set-head" },
    h("h2", {}, "Context"),
    h(
      "div",
      { class: "toolbar" },
      h("button", { type: "button", class: "button button-small", onclick: guard(suggest) }, "Suggest files"),
      h("button", { type: "button", class: "button button-small", onclick: guard(addSet) }, "Add a set"),
    ),
  );
  const note = h("p", { class: "muted small" }, "A resumed session gets this back.");
  const view = h("section", { class: "set" });
  const hint = h("section", { class: "set" });

  /** The heading of a part that is not a set, with its button. */
  const partHead = (title, label, onclick, quiet = "") =>
    h(
      "div",
      { class: "set-head" },
      h("h3", {}, title),
      h("button", { type: "button", class: `button button-small${quiet}`, onclick: guard(onclick) }, label),
    );

  return () => {
    const { context, envHint } = session().meta;
    const filled = [...sets.keys()].filter((name) => sets.get(name).isFilled());
    const names = [...new Set([...SETS, ...Object.keys(context), ...filled])].filter((name) => name !== "applet");
    for (const name of names) {
      if (!sets.has(name)) sets.set(name, setOf(name));
      sets.get(name).show();
    }
    const applet = context.applet ?? [];
    renew(view, partHead("View", "Clear", clearView, " button-quiet"), h("code", {}, oneLine(applet.join(" "), 200)));
    renew(hint, partHead("Environment hint", envHint ? "Edit" : "Add", editHint), envHint && h("pre", {}, envHint));
    arrange(card, head, note, names.map((name) => sets.get(name).element), applet.length > 0 && view, hint);
  };
}
