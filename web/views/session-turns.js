// The turns of a session: each prompt with its actions and its answer. What is open stays open while the agent works.

import { arrange, h, icon, link, linked, renew, replace } from "/dom.js";
import { clockTime, number, plural, shortNames, time } from "/format.js";
import { failedBadge, passedBadge, readRecords, subject, typeIcon, typeLabel, wholeRecord } from "/records.js";

const TURNS_SHOWN = 50;
const ACTIONS_SHOWN = 200;

const isFailure = (observation) => observation.obs_type === "command_error";

/** Neighbouring observations of the same type and subject as one, with all their ids. */
function fold(observations) {
  const groups = [];
  for (const observation of observations) {
    const last = groups.at(-1);
    const isRepeat =
      last &&
      last.obs_type === observation.obs_type &&
      last.file_path === observation.file_path &&
      (observation.file_path || last.content_preview === observation.content_preview);
    if (isRepeat) last.ids.push(observation.id);
    else groups.push({ ...observation, ids: [observation.id] });
  }
  return groups;
}

const FILE_TYPES = ["file_edit", "file_write", "file_read"];

/** The files of a trace with the number of changes and reads, most changed first. */
export function filesOf(turns) {
  const files = new Map();
  for (const { observations } of turns) {
    for (const { file_path: path, obs_type: type } of observations) {
      // A search names the directory that it searched.
      if (!path || !FILE_TYPES.includes(type)) continue;
      const file = files.get(path) ?? { path, edits: 0, reads: 0 };
      if (type === "file_edit" || type === "file_write") file.edits += 1;
      else file.reads += 1;
      files.set(path, file);
    }
  }
  return [...files.values()].sort((a, b) => b.edits - a.edits || b.reads - a.reads);
}

/**
 * Shows turns below an element.
 * @param {HTMLElement} root
 * @param {{ signal: AbortSignal, guard: (action: Function) => Function }} about
 * @returns {(trace: object) => void} shows a trace; turns and actions that it had before keep their elements
 */
export function turnsOf(root, { signal, guard }) {
  let trace = { prompts: [] };
  let turnsShown = TURNS_SHOWN;
  /** Turns in the document by the id of their prompt. */
  const turns = new Map();
  /** Commands that are shown and whose result is not read yet, by id: the place of the badge. */
  const runs = new Map();
  /** The names of the files in the rows. */
  let names = new Map();

  /** Adds the results of test and build runs: the turns themselves have none. */
  async function showRuns() {
    const places = new Map(runs);
    runs.clear();
    const ids = [...places.keys()];
    for (let from = 0; from < ids.length; from += 50) {
      for (const record of await readRecords(ids.slice(from, from + 50), signal)) {
        if (record.metadata?.run?.result === "passed") replace(places.get(record.id), passedBadge());
      }
    }
  }

  /** The row of an action. `show` shows it again after equal ones followed. */
  function actionRow(first) {
    let action = first;
    const badges = h("span", { class: "act-badges" });
    if (first.obs_type === "command") runs.set(first.ids[0], badges);
    const whole = h("div", { class: "act-whole", hidden: true });
    const read = new Set();
    const readWhole = async () => {
      const unread = action.ids.filter((id) => !read.has(id));
      for (const id of unread) read.add(id);
      if (unread.length === 0) return;
      for (const record of await readRecords(unread, signal)) whole.append(wholeRecord(record, { isInSession: true }));
    };
    const button = h("button", {
      type: "button",
      class: `act${isFailure(first) ? " tl-failed" : ""}`,
      "data-row": "",
      "aria-expanded": "false",
      onclick: guard(async () => {
        whole.hidden = !whole.hidden;
        button.setAttribute("aria-expanded", String(!whole.hidden));
        if (!whole.hidden) await readWhole();
      }),
    });
    const show = (next) => {
      action = next;
      const { main, more } = subject(action);
      const isFile = FILE_TYPES.includes(action.obs_type) && action.file_path;
      renew(
        button,
        h("span", { class: "tl-icon" }, typeIcon(action.obs_type)),
        h(
          "span",
          { class: "cut grow" },
          h("span", { class: "tl-label" }, typeLabel(action.obs_type)),
          " ",
          h("span", { class: "mono" }, (isFile && names.get(action.file_path)) || main),
          more && h("span", { class: "tl-more mono" }, " ", more),
        ),
        isFailure(action) && failedBadge(action),
        badges,
        action.is_pinned && h("span", { class: "badge badge-accent" }, icon("pin"), "pinned"),
        action.ids.length > 1 && h("span", { class: "badge" }, `×${action.ids.length}`),
        time(action.timestamp, clockTime),
      );
      if (!whole.hidden) guard(readWhole)();
    };
    return { element: h("li", {}, button, whole), show };
  }

  function answerOf(observation) {
    const text = h("div", { class: "answer-text" }, linked(observation.content_preview));
    const isCut = observation.content_preview.endsWith("…") || observation.content_preview.length >= 195;
    const more =
      isCut &&
      h(
        "button",
        {
          type: "button",
          class: "button button-small",
          onclick: guard(async () => {
            const [record] = await readRecords([observation.id], signal);
            replace(text, linked(record?.content ?? "This record was deleted."));
            more.remove();
          }),
        },
        "Show all",
      );
    return h("div", { class: "answer" }, h("h3", { class: "answer-title" }, icon("answer"), "Answer"), text, more);
  }

  /** The list of a turn's actions. */
  function actionList() {
    const body = h("ul", { class: "acts" });
    const rows = new Map();
    let groups = [];
    let max = ACTIONS_SHOWN;
    const more = h("button", {
      type: "button",
      class: "button button-small",
      onclick: () => {
        max = Infinity;
        show(groups);
      },
    });
    const last = h("li", {}, more);
    const show = (next) => {
      groups = next;
      const elements = groups.slice(0, max).map((action) => {
        const key = action.ids[0];
        if (!rows.has(key)) rows.set(key, actionRow(action));
        const row = rows.get(key);
        row.show(action);
        return row.element;
      });
      renew(more, `Show ${number(groups.length - max)} more`);
      arrange(body, elements, groups.length > max && last);
      showRuns().catch(() => {});
    };
    return { body, show };
  }

  /** The element of a turn, and what shows it again when it went on. */
  function turnOf(isOpen) {
    const head = h("div", { class: "turn-head" });
    const summary = h("summary", { "data-row": "" });
    const { body, show: showActions } = actionList();
    let groups = [];
    const details = h(
      "details",
      { class: "turn-actions", open: isOpen, ontoggle: () => details.open && showActions(groups) },
      summary,
      body,
    );
    const answers = new Map();
    const element = h("section", { class: "card turn" }, head);
    const show = (turn) => {
      const actions = turn.observations.filter(({ obs_type: type }) => type !== "answer");
      const failures = actions.filter(isFailure).length;
      const title =
        turn.source === "user" ? "Prompt" : turn.source === "agent" ? "Prompt of an agent" : "Outside of a prompt";
      element.setAttribute("aria-label", title);
      renew(
        head,
        h("span", { class: "tl-icon turn-icon" }, icon(turn.content === null ? "sessions" : "prompt")),
        h(
          "div",
          { class: "grow" },
          turn.content ? h("div", { class: "turn-prompt" }, linked(turn.content)) : h("div", { class: "muted" }, title),
        ),
        turn.prompt_id
          ? link({ view: "record", path: `obs://${turn.prompt_id}` }, time(turn.timestamp), { class: "turn-time" })
          : h("span", { class: "turn-time" }, time(turn.timestamp)),
      );
      renew(
        summary,
        plural(actions.length, "action"),
        failures > 0 && [" ", h("span", { class: "badge badge-failed" }, icon("failed"), `${failures} failed`)],
      );
      groups = fold(actions);
      if (details.open) showActions(groups);
      for (const one of turn.observations) {
        if (one.obs_type === "answer" && !answers.has(one.id)) answers.set(one.id, answerOf(one));
      }
      arrange(element, head, actions.length > 0 && details, [...answers.values()]);
    };
    return { element, show, made: "" };
  }

  const earlier = h("button", {
    type: "button",
    class: "button",
    onclick: () => {
      turnsShown += TURNS_SHOWN;
      show(trace);
    },
  });
  const partial = h("p", { class: "muted" }, "The session is very long: its last part is only in the timeline.");
  const none = h(
    "div",
    { class: "empty" },
    h("h2", {}, "No prompt yet"),
    h("p", {}, "Prompts, actions and answers of this session appear here as they happen."),
  );

  /** Shows the newest turns first. */
  function show(next) {
    trace = next;
    const listed = trace.prompts
      .map((turn) => ({ ...turn, key: turn.prompt_id ?? `at-${turn.timestamp}` }))
      .filter(
        ({ content, observations }) => content || observations.some(({ obs_type: type }) => type !== "session_start"),
      )
      .reverse();
    names = shortNames(filesOf(trace.prompts).map(({ path }) => path));
    const elements = listed.slice(0, turnsShown).map((turn, index) => {
      if (!turns.has(turn.key)) turns.set(turn.key, turnOf(index === 0));
      const known = turns.get(turn.key);
      const made = `${turn.observation_count} ${turn.observations.at(-1)?.id} ${turn.content?.length}`;
      if (known.made !== made) known.show(turn);
      known.made = made;
      return known.element;
    });
    const rest = listed.length - elements.length;
    renew(earlier, `Show ${number(Math.min(rest, TURNS_SHOWN))} earlier prompts`);
    arrange(root, elements, trace.partial && partial, rest > 0 && earlier, elements.length === 0 && none);
  }

  return show;
}
