// An address that names no view of this page; an applet that another program declared may be one.

import { h, link, replace } from "/dom.js";
import { oneLine } from "/format.js";

const OWN = ["view", "applet", "session", "link", "project", "from", "to"];

export async function open(root, { params, setTitle }) {
  const name = params.get("view") ?? params.get("applet") ?? "";
  const session = params.get("session");
  const rest = [...params].filter(([key]) => !OWN.includes(key));
  setTitle(oneLine(name, 60) || "Not found");
  replace(
    root,
    h(
      "div",
      { class: "empty" },
      h("h2", {}, "This page has no such view"),
      h("p", {}, "No view is called ", h("code", {}, oneLine(name, 120)), "."),
      rest.length > 0 && [
        h("p", {}, "The address has these parameters:"),
        h(
          "dl",
          { class: "facts" },
          rest.map(([key, value]) => [h("dt", {}, oneLine(key, 80)), h("dd", {}, oneLine(value, 500))]),
        ),
      ],
      h(
        "div",
        { class: "toolbar" },
        session && link({ session }, "To the session", { class: "button" }),
        link({}, "To the timeline", { class: "button" }),
      ),
    ),
  );
  return {};
}
