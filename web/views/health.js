// A view that is not written yet.

import { h, replace } from "/dom.js";

export async function open(root) {
  replace(root, h("p", { class: "empty" }, "Nothing is here yet."));
  return {};
}
