// One file: the sessions that touched it, and why.

import { call } from "/api.js";
import { copy } from "/dialog.js";
import { breakable, h, link, replace } from "/dom.js";
import { baseName, oneLine, plural, time } from "/format.js";
import { isFailed, typeIcon, typeLabel, failedBadge, subject } from "/records.js";

const TOUCHES = 50;

export async function open(root, { params, signal, setTitle }) {
  const path = params.get("path");
  const session = params.get("session");
  const back = session
    ? link({ session }, "To the session", { class: "button" })
    : link({}, "To the timeline", { class: "button" });
  if (!path) {
    replace(
      root,
      h(
        "div",
        { class: "empty" },
        h("h2", {}, "No file was named"),
        h("p", {}, "The address needs a path."),
        h("div", { class: "toolbar" }, back),
      ),
    );
    return {};
  }
  setTitle(baseName(path));
  const history = await call("file_history", { file_path: path, project: "*", limit: TOUCHES }, { signal });
  const touched = history.sessions;
  const asked = session && touched.length === 0 ? call("get_session", { session_id: session }, { signal }) : null;
  const isDeclared = (await asked?.catch(() => null))?.meta.context.files?.includes(path);
  replace(
    root,
    h(
      "div",
      { class: "stack" },
      h(
        "div",
        { class: "toolbar" },
        h("code", { class: "file-path" }, breakable(path)),
        h("button", { type: "button", class: "button", onclick: () => copy(path, "Path") }, "Copy path"),
        back,
      ),
      history.earlier_names?.length > 0 &&
        h(
          "p",
          { class: "muted" },
          "Earlier names: ",
          history.earlier_names.map(({ file_path: name }) => name).join(", "),
        ),
      touched.length === 0 &&
        h(
          "div",
          { class: "empty" },
          h("h2", {}, "No session touched this file"),
          h("p", {}, isDeclared ? "It was declared as relevant, but no recorded action names it." : "No recorded action names it."),
        ),
      touched.map((one) =>
        h(
          "section",
          { class: "card" },
          h("h2", {}, link({ session: one.session_id }, oneLine(one.summary_intent || one.touches[0]?.prompt_content || one.session_id, 160))),
          h(
            "p",
            { class: "muted small" },
            one.project,
            " · ",
            time(one.started_at),
            ` · ${plural(one.touches.length, "touch", "touches")}`,
          ),
          h(
            "ul",
            { class: "acts" },
            one.touches.map((touch) => {
              const { main, more } = subject({ ...touch, content: touch.content_preview });
              return h(
                "li",
                {},
                link(
                  { view: "record", path: `obs://${touch.observation_id}` },
                  [
                    h("span", { class: "tl-icon" }, typeIcon(touch.obs_type)),
                    h(
                      "span",
                      { class: "cut grow" },
                      h("span", { class: "tl-label" }, typeLabel(touch.obs_type)),
                      " ",
                      h("span", { class: "mono" }, more || main),
                    ),
                    isFailed(touch) && failedBadge(touch),
                    time(touch.timestamp),
                  ],
                  { class: "act", "data-row": "" },
                ),
              );
            }),
          ),
        ),
      ),
    ),
  );
  return {};
}
