// The help about keys.

import { show } from "/dialog.js";
import { h } from "/dom.js";

/**
 * Shows the keys of all views, and the switch of the shortcuts of one key.
 * @param {{ views: { key: string, title: string }[], isOn: boolean }} about
 */
export function showKeys({ views, isOn }) {
  const keys = [
    ["/", "Search"],
    ["j", "Next row"],
    ["k", "Previous row"],
    ["Enter", "Open the row"],
    ...views.map(({ key, title }) => [`g ${key}`, title]),
    ["u", "Undo, while its notice is shown"],
    ["?", "This help"],
    ["Esc", "Close, or leave a field"],
  ];
  const toggle = h("input", {
    type: "checkbox",
    id: "keys-on",
    checked: isOn,
    onchange: () => {
      if (toggle.checked) localStorage.removeItem("rekindle-keys");
      else localStorage.setItem("rekindle-keys", "off");
    },
  });
  show({
    title: "Keyboard shortcuts",
    content: [
      h(
        "dl",
        { class: "keys" },
        keys.map(([key, text]) =>
          h(
            "div",
            {},
            h(
              "dt",
              {},
              key.split(" ").map((part) => [h("kbd", {}, part), " "]),
            ),
            h("dd", {}, text),
          ),
        ),
      ),
      h("label", { class: "check", for: "keys-on" }, toggle, "Shortcuts of one key are on"),
    ],
  });
}
