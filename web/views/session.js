// One session: its prompts with the actions and the answer of each, and beside them its facts and its context.

import { call, isAborted } from "/api.js";
import { ask, confirm, copy, problem, show, toast } from "/dialog.js";
import { entryLink, h, icon, link, linked, replace } from "/dom.js";
import { baseName, number, oneLine, plural, time } from "/format.js";
import { onNotification, onState, subscribe } from "/live.js";
import { failedBadge, readRecords, stateBadge, subject, typeIcon, typeLabel, wholeRecord } from "/records.js";

const TURNS_SHOWN = 50;
const ACTIONS_SHOWN = 200;
const FILES_SHOWN = 15;
const RECEIPTS_SHOWN = 10;
const REFRESH_MS = 700;

/** The most pages of a trace that are read; a page has 5,000 records. */
const TRACE_PAGES = 10;

/** The usual sets; a session may have others. */
const SETS = ["files", "endpoints", "ports"];

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

/** The files of a trace with the number of changes and reads, most changed first. */
function filesOf(turns) {
  const files = new Map();
  for (const { observations } of turns) {
    for (const { file_path: path, obs_type: type } of observations) {
      if (!path) continue;
      const file = files.get(path) ?? { path, edits: 0, reads: 0 };
      if (type === "file_edit" || type === "file_write") file.edits += 1;
      else file.reads += 1;
      files.set(path, file);
    }
  }
  return [...files.values()].sort((a, b) => b.edits - a.edits || b.reads - a.reads);
}

export async function open(root, { params, signal, navigate, setTitle }) {
  const asked = params.get("session");
  let session;
  try {
    session = await call("get_session", { session_id: asked }, { signal });
  } catch (error) {
    if (error.code !== "not_found" && error.code !== "invalid") throw error;
    setTitle("No such session");
    replace(
      root,
      h(
        "div",
        { class: "empty" },
        h("h2", {}, "This session does not exist"),
        h("p", {}, "No session has the id ", h("code", {}, oneLine(asked, 80)), ". It may have been deleted."),
        h(
          "div",
          { class: "toolbar" },
          link({ view: "sessions" }, "To the sessions", { class: "button" }),
          link({}, "To the timeline", { class: "button" }),
        ),
      ),
    );
    return {};
  }
  const id = session.sessionId;
  if (id !== asked) {
    // The address named its first characters.
    queueMicrotask(() => navigate({ session: id }, { replace: true }));
    return {};
  }

  let trace = { prompts: [], summary: null };
  let turnsShown = TURNS_SHOWN;
  let isGone = false;
  let timer = 0;
  /** Turns in the document by the id of their prompt: the element, and what it was made of. */
  const turns = new Map();
  const opened = new Set();

  const head = h("section", { class: "ses-head" });
  const turnsRoot = h("div", { class: "stack" });
  const aside = h("aside", { class: "stack ses-aside", "aria-label": "About this session" });
  const summaryCard = h("section", { class: "card" });
  const contextCard = h("section", { class: "card" });
  const filesCard = h("section", { class: "card" });
  const receiptsCard = h("section", { class: "card" });
  replace(aside, summaryCard, contextCard, filesCard, receiptsCard);
  replace(root, head, h("div", { class: "ses-columns" }, turnsRoot, aside));

  const guard =
    (action) =>
    async (...args) => {
      try {
        await action(...args);
      } catch (error) {
        if (!isAborted(error)) toast(error.hint ? `${error.message} ${error.hint}` : error.message);
      }
    };

  const update = (changes) => call("update_session", { session_id: id, ...changes });

  // ---- Head: name, state, actions

  const titleOf = () => session.meta.name || trace.summary?.intent || session.meta.currentIntent || "Session";

  function showHead() {
    setTitle(oneLine(titleOf(), 90));
    const { meta } = session;
    replace(
      head,
      h(
        "div",
        { class: "ses-facts" },
        stateBadge(session.state),
        meta.isUnobserved && h("span", { class: "badge badge-accent" }, "not seen"),
        link({ view: "timeline", project: session.project }, session.project || "no project"),
        h("span", { class: "muted" }, meta.model ? `${session.agent}, ${meta.model}` : session.agent),
        h("span", { class: "muted" }, "started ", time(meta.startedAt), ", last active ", time(meta.updatedAt)),
        session.cwd && h("code", { class: "muted" }, session.cwd),
        meta.parent && h("span", {}, "forked from ", link({ session: meta.parent }, meta.parent.slice(0, 8))),
      ),
      h(
        "div",
        { class: "toolbar" },
        h("button", { type: "button", class: "button", onclick: guard(rename) }, "Rename"),
        meta.isUnobserved && h("button", { type: "button", class: "button", onclick: guard(observe) }, "Mark as seen"),
        h(
          "button",
          { type: "button", class: "button", onclick: guard(pin) },
          icon("pin"),
          session.isPinned ? "Unpin" : "Pin",
        ),
        h("button", { type: "button", class: "button", onclick: guard(mark) }, icon("mark"), "Add a mark"),
        h("button", { type: "button", class: "button", onclick: guard(copyResume) }, icon("copy"), "Copy resume block"),
        h("button", { type: "button", class: "button", onclick: guard(copyHandoff) }, icon("copy"), "Copy handoff"),
        h("button", { type: "button", class: "button button-danger", onclick: guard(remove) }, icon("trash"), "Delete"),
      ),
    );
  }

  async function rename() {
    const before = session.meta.name;
    const name = await ask({ title: "Rename the session", label: "Name (empty removes it)", value: before, max: 200 });
    if (name === null || name === before) return;
    await update({ name });
    await readSession();
    toast(name ? "Renamed." : "The name was removed.", {
      undo: async () => {
        await update({ name: before });
        await readSession();
      },
    });
  }

  async function observe() {
    await call("observe_session", { session_id: id });
    await readSession();
  }

  /** The record of the session itself: it has the intent and the outcome. Only the search gives its id. */
  async function summaryRecord() {
    const query = [trace.summary?.intent, trace.summary?.outcome].filter(Boolean).join(" ").slice(0, 300);
    if (!query) return null;
    const found = await call(
      "search",
      { project: "*", session_id: id, obs_type: "session_summary", query, limit: 1 },
      { signal },
    );
    return found.results[0] ?? null;
  }

  async function pin() {
    const record = await summaryRecord();
    if (!record) {
      toast("This session has no summary to pin yet. Pin one of its records instead.");
      return;
    }
    const set = async (isPinned) => {
      await call(isPinned ? "pin_observation" : "unpin_observation", { id: record.id });
      session.isPinned = isPinned;
      showHead();
    };
    const before = record.is_pinned;
    await set(!before);
    toast(before ? "Unpinned." : "Pinned: briefings show this session first.", { undo: () => set(before) });
  }

  async function mark() {
    const text = await ask({
      title: "Add a mark",
      label: "A decision or lesson, as one sentence",
      lines: 3,
      max: 2000,
    });
    if (!text?.trim()) return;
    const made = await call("mark", { text: text.trim(), project: session.project });
    toast(`Stored as obs://${made.id} in ${made.project}.`, {
      action: { text: "Show", run: () => navigate({ view: "record", path: `obs://${made.id}` }) },
    });
  }

  async function copyResume() {
    const resumed = await call("resume_session", { session_id: id });
    await copy(resumed.command ? `${resumed.text}\n\n${resumed.command}` : resumed.text, "Resume block");
  }

  async function copyHandoff() {
    await copy((await call("handoff", { session_id: id })).text, "Handoff");
  }

  async function remove() {
    const counted = await call("delete_session", { session_id: id });
    const parts = [
      [counted.prompts, "prompt"],
      [counted.answers, "answer"],
      [counted.observations, "observation"],
      [counted.items, "item of its context", "items of its context"],
      [counted.receipts, "receipt"],
    ]
      .filter(([count]) => count > 0)
      .map((part) => plural(...part));
    const all = parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : (parts[0] ?? "no records");
    const isSure = await confirm({
      title: "Delete this session?",
      danger: true,
      text: [
        h("p", {}, `This deletes the session with ${all}.`),
        counted.wasActive && h("p", {}, "Its agent is at work: a new event creates the session again."),
        h("p", {}, "It cannot be undone."),
      ],
    });
    if (!isSure) return;
    // The message about the deletion arrives before the reply.
    isGone = true;
    try {
      await call("delete_session", { session_id: id, confirm: true });
    } catch (error) {
      isGone = false;
      throw error;
    }
    toast("The session was deleted.");
    navigate({ view: "sessions" });
  }

  // ---- Turns

  function showAction(action) {
    const { main, more } = subject(action);
    const failed = isFailure(action);
    const whole = h("div", { class: "act-whole", hidden: true });
    const button = h(
      "button",
      {
        type: "button",
        class: `act${failed ? " tl-failed" : ""}`,
        "data-row": "",
        "aria-expanded": "false",
        onclick: guard(async () => {
          whole.hidden = !whole.hidden;
          button.setAttribute("aria-expanded", String(!whole.hidden));
          if (whole.hidden || whole.childElementCount > 0) return;
          replace(
            whole,
            (await readRecords(action.ids, signal)).map((record) => wholeRecord(record, { isInSession: true })),
          );
        }),
      },
      h("span", { class: "tl-icon" }, typeIcon(action.obs_type)),
      h(
        "span",
        { class: "cut grow" },
        h("span", { class: "tl-label" }, typeLabel(action.obs_type)),
        " ",
        h("span", { class: "mono" }, main),
        more && h("span", { class: "tl-more mono" }, " ", more),
      ),
      failed && failedBadge(action),
      action.is_pinned && h("span", { class: "badge badge-accent" }, icon("pin"), "pinned"),
      action.ids.length > 1 && h("span", { class: "badge" }, `×${action.ids.length}`),
      time(action.timestamp, (at) =>
        new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }),
      ),
    );
    return h("li", {}, button, whole);
  }

  function showAnswer(observation) {
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

  function showTurn(turn, isOpen) {
    const answers = turn.observations.filter(({ obs_type: type }) => type === "answer");
    const actions = turn.observations.filter(({ obs_type: type }) => type !== "answer");
    const failures = actions.filter(isFailure).length;
    const groups = fold(actions);
    const body = h("ul", { class: "acts" });
    const fill = (max) =>
      replace(
        body,
        groups.slice(0, max).map(showAction),
        groups.length > max &&
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "button button-small", onclick: () => fill(Infinity) },
              `Show ${number(groups.length - max)} more`,
            ),
          ),
      );
    const details =
      actions.length > 0 &&
      h(
        "details",
        {
          class: "turn-actions",
          open: isOpen,
          ontoggle: () => {
            if (details.open && body.childElementCount === 0) fill(ACTIONS_SHOWN);
            if (details.open) opened.add(turn.key);
            else opened.delete(turn.key);
          },
        },
        h(
          "summary",
          { "data-row": "" },
          plural(actions.length, "action"),
          failures > 0 && [" ", h("span", { class: "badge badge-failed" }, icon("failed"), `${failures} failed`)],
        ),
        body,
      );
    if (details && isOpen) fill(ACTIONS_SHOWN);
    const title =
      turn.source === "user" ? "Prompt" : turn.source === "agent" ? "Prompt of an agent" : "Outside of a prompt";
    return h(
      "section",
      { class: "card turn", "aria-label": title },
      h(
        "div",
        { class: "turn-head" },
        h("span", { class: "tl-icon turn-icon" }, icon(turn.content === null ? "sessions" : "prompt")),
        h(
          "div",
          { class: "grow" },
          turn.content ? h("div", { class: "turn-prompt" }, linked(turn.content)) : h("div", { class: "muted" }, title),
        ),
        turn.prompt_id
          ? link({ view: "record", path: `obs://${turn.prompt_id}` }, time(turn.timestamp), { class: "turn-time" })
          : h("span", { class: "turn-time" }, time(turn.timestamp)),
      ),
      details,
      answers.map(showAnswer),
    );
  }

  /** Shows the newest turns first. A turn that did not change keeps its element. */
  function showTurns() {
    const listed = trace.prompts
      .map((turn) => ({ ...turn, key: turn.prompt_id ?? `at-${turn.timestamp}` }))
      .filter(
        ({ content, observations }) => content || observations.some(({ obs_type: type }) => type !== "session_start"),
      )
      .reverse();
    const first = listed[0]?.key;
    const elements = listed.slice(0, turnsShown).map((turn) => {
      const last = turn.observations.at(-1);
      const made = `${turn.observation_count} ${last?.id} ${turn.content?.length}`;
      const known = turns.get(turn.key);
      if (known?.made === made) return known.element;
      const isOpen = known ? opened.has(turn.key) : turn.key === first;
      if (isOpen) opened.add(turn.key);
      const element = showTurn(turn, isOpen);
      turns.set(turn.key, { made, element });
      return element;
    });
    const rest = listed.length - elements.length;
    replace(
      turnsRoot,
      elements,
      trace.partial && h("p", { class: "muted" }, "The session is very long: its last part is only in the timeline."),
      rest > 0 &&
        h(
          "button",
          {
            type: "button",
            class: "button",
            onclick: () => {
              turnsShown += TURNS_SHOWN;
              showTurns();
            },
          },
          `Show ${number(Math.min(rest, TURNS_SHOWN))} earlier prompts`,
        ),
      elements.length === 0 &&
        h(
          "div",
          { class: "empty" },
          h("h2", {}, "No prompt yet"),
          h("p", {}, "Prompts, actions and answers of this session appear here as they happen."),
        ),
    );
  }

  // ---- Beside: summary, context, files, injected text

  function showSummary() {
    const { summary } = trace;
    const rows = summary
      ? [
          ["Outcome", summary.outcome],
          ["Commits", summary.completed],
          ["Errors", summary.notes],
          ["Marks", summary.learned],
          ["Next", summary.next_steps],
        ].filter(([, value]) => value?.length > 0)
      : [];
    replace(
      summaryCard,
      h("h2", {}, "Summary"),
      rows.length === 0
        ? h("p", { class: "muted" }, "There is no summary yet.")
        : h(
            "dl",
            { class: "ses-summary" },
            rows.map(([name, value]) => [
              h("dt", {}, name),
              h(
                "dd",
                {},
                Array.isArray(value)
                  ? h(
                      "ul",
                      {},
                      value.map((one) => h("li", {}, linked(one))),
                    )
                  : linked(value),
              ),
            ]),
          ),
    );
  }

  /** Stores one set, with Undo for the whole context. */
  const setItems = async (setName, items, said) => {
    const before = session.meta.context;
    const done = await update({ set_context: { setName, items } });
    await readSession();
    const dropped = done.dropped.length > 0 ? ` ${plural(done.dropped.length, "item")} did not fit.` : "";
    toast(`${said}${dropped}${done.warning ? ` ${done.warning}` : ""}`, {
      undo: async () => {
        await update({ context: before });
        await readSession();
      },
    });
  };

  function setEditor(name, items) {
    const field = h("input", {
      class: "field grow",
      "aria-label": `Add to ${name}`,
      placeholder: `Add to ${name}`,
      maxlength: 1024,
      autocomplete: "off",
      "data-set": name,
    });
    return h(
      "section",
      { class: "set" },
      h(
        "div",
        { class: "set-head" },
        h("h3", {}, name),
        items.length > 0 &&
          h(
            "button",
            {
              type: "button",
              class: "button button-small button-quiet",
              "aria-label": `Clear ${name}`,
              onclick: guard(() => setItems(name, [], `Cleared ${name}.`)),
            },
            "Clear",
          ),
      ),
      h(
        "ul",
        { class: "set-items" },
        items.map((item) =>
          h(
            "li",
            {},
            name === "files"
              ? link({ session: id, view: "file", path: item }, baseName(item), { title: item, class: "cut" })
              : h("span", { class: "cut", title: item }, oneLine(item, 200)),
            h(
              "button",
              {
                type: "button",
                class: "x",
                "aria-label": `Remove ${oneLine(item, 80)}`,
                onclick: guard(() =>
                  setItems(
                    name,
                    items.filter((one) => one !== item),
                    `Removed from ${name}.`,
                  ),
                ),
              },
              "✕",
            ),
          ),
        ),
      ),
      h(
        "form",
        {
          class: "set-add",
          onsubmit: (event) => {
            event.preventDefault();
            const added = field.value.trim();
            if (!added) return;
            field.value = "";
            guard(async () => {
              try {
                await setItems(name, [...items, added], `Added to ${name}.`);
                contextCard.querySelector(`[data-set=${CSS.escape(name)}]`)?.focus();
              } catch (error) {
                field.value = added;
                throw error;
              }
            })();
          },
        },
        field,
        h("button", { type: "submit", class: "button" }, "Add"),
      ),
    );
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
    if (item?.trim()) await setItems(name.trim(), [item.trim()], `Added ${name.trim()}.`);
  }

  async function editHint() {
    const before = session.meta.envHint ?? "";
    const hint = await ask({
      title: "Environment hint",
      label: "Commands that prepare a shell for the work (empty removes it)",
      value: before,
      max: 1024,
      lines: 4,
    });
    if (hint === null || hint === before) return;
    await update({ env_hint: hint });
    await readSession();
    toast("The environment hint was changed.", {
      undo: async () => {
        await update({ env_hint: before });
        await readSession();
      },
    });
  }

  async function suggest() {
    const { files } = await call("suggest_context", { session_id: id }, { signal });
    const place = h("div", {});
    const known = () => session.meta.context.files ?? [];
    const render = () =>
      replace(
        place,
        files.length === 0
          ? h("p", { class: "muted" }, "Every file that this session used, and that still exists, is declared.")
          : h(
              "ul",
              { class: "set-items" },
              files.map(({ path, count, edits }) =>
                h(
                  "li",
                  {},
                  h("span", { class: "grow mono" }, path),
                  h("span", { class: "muted small" }, `used ${count}×, changed ${edits}×`),
                  h(
                    "button",
                    {
                      type: "button",
                      class: "button button-small",
                      disabled: known().includes(path),
                      onclick: guard(async () => {
                        await setItems("files", [...known(), path], `Added ${baseName(path)}.`);
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
    show({ title: "Files that this session used most", content: place });
  }

  function showContext() {
    // A field that is being filled in stays.
    if (contextCard.contains(document.activeElement) && document.activeElement.value) return;
    const { context, envHint } = session.meta;
    const names = [...new Set([...SETS, ...Object.keys(context)])].filter((name) => name !== "applet");
    replace(
      contextCard,
      h(
        "div",
        { class: "set-head" },
        h("h2", {}, "Context"),
        h(
          "div",
          { class: "toolbar" },
          h("button", { type: "button", class: "button button-small", onclick: guard(suggest) }, "Suggest files"),
          h("button", { type: "button", class: "button button-small", onclick: guard(addSet) }, "Add a set"),
        ),
      ),
      h("p", { class: "muted small" }, "A resumed session gets this back."),
      names.map((name) => setEditor(name, context[name] ?? [])),
      context.applet?.length > 0 &&
        h(
          "section",
          { class: "set" },
          h(
            "div",
            { class: "set-head" },
            h("h3", {}, "View"),
            h(
              "button",
              {
                type: "button",
                class: "button button-small button-quiet",
                onclick: guard(() => setItems("applet", [], "Cleared the view.")),
              },
              "Clear",
            ),
          ),
          h("code", {}, oneLine(context.applet.join(" "), 200)),
        ),
      h(
        "section",
        { class: "set" },
        h(
          "div",
          { class: "set-head" },
          h("h3", {}, "Environment hint"),
          h(
            "button",
            { type: "button", class: "button button-small", onclick: guard(editHint) },
            envHint ? "Edit" : "Add",
          ),
        ),
        envHint && h("pre", {}, envHint),
      ),
    );
  }

  function showFiles() {
    const files = filesOf(trace.prompts);
    const render = (max) =>
      replace(
        filesCard,
        h("h2", {}, `Files (${number(files.length)})`),
        files.length === 0 && h("p", { class: "muted" }, "No file was touched."),
        h(
          "ul",
          { class: "set-items" },
          files
            .slice(0, max)
            .map(({ path, edits, reads }) =>
              h(
                "li",
                {},
                link({ session: id, view: "file", path }, baseName(path), { title: path, class: "cut" }),
                h(
                  "span",
                  { class: "muted small" },
                  [edits > 0 && `changed ${edits}×`, reads > 0 && `read ${reads}×`].filter(Boolean).join(", "),
                ),
              ),
            ),
        ),
        files.length > max &&
          h(
            "button",
            { type: "button", class: "button button-small", onclick: () => render(Infinity) },
            `Show ${number(files.length - max)} more`,
          ),
      );
    render(FILES_SHOWN);
  }

  async function showReceipts() {
    const { receipts } = await call("receipts", { session_id: id, limit: 200 }, { signal });
    const render = (max) =>
      replace(
        receiptsCard,
        h("h2", {}, "Injected text"),
        receipts.length === 0 && h("p", { class: "muted" }, "Nothing was injected into this session."),
        h(
          "ul",
          { class: "receipts" },
          receipts.slice(0, max).map((receipt) =>
            h(
              "li",
              {},
              h(
                "details",
                {},
                h(
                  "summary",
                  {},
                  time(receipt.at),
                  ` · ${plural(receipt.tokens, "token")} · `,
                  plural(receipt.items.length, "entry", "entries"),
                ),
                h(
                  "ul",
                  {},
                  receipt.items.map((item) =>
                    h(
                      "li",
                      {},
                      entryLink(item.path),
                      " ",
                      h("span", { class: "muted" }, item.reason),
                      " ",
                      h("span", { class: item.used ? "badge badge-good" : "badge" }, item.used ? "used" : "not used"),
                    ),
                  ),
                ),
              ),
            ),
          ),
        ),
        receipts.length > max &&
          h(
            "button",
            { type: "button", class: "button button-small", onclick: () => render(Infinity) },
            `Show ${number(receipts.length - max)} more`,
          ),
      );
    render(RECEIPTS_SHOWN);
  }

  // ---- Reading

  let reads = 0;

  async function readSession() {
    reads += 1;
    const mine = reads;
    const read = await call("get_session", { session_id: id }, { signal });
    // A later call asked again: its reply counts, in whatever order they arrive.
    if (mine !== reads) return;
    session = { ...read, isPinned: session.isPinned };
    showHead();
    showContext();
  }

  /** Reads the turns. After the first time only the last turn and later ones are read. */
  async function readTrace() {
    const last = trace.prompts.findLast(({ prompt_id: prompt }) => prompt);
    const since = last ? last.timestamp - 1 : null;
    const found = new Map();
    for (const turn of trace.prompts)
      if (turn.prompt_id !== last?.prompt_id) found.set(turn.prompt_id ?? `at-${turn.timestamp}`, turn);
    let from = since;
    let part = null;
    let open = null;
    for (let page = 0; page < TRACE_PAGES && (!part || part.partial); page += 1) {
      part = await call("session_trace", { session_id: id, ...(from === null ? {} : { after: from }) }, { signal });
      for (const turn of part.prompts) {
        if (turn.prompt_id) {
          open = { ...turn, observations: [...turn.observations] };
          found.set(turn.prompt_id, open);
        } else if (page > 0 && open) {
          // A page that begins inside of a turn does not name its prompt.
          const known = new Set(open.observations.map((one) => one.id));
          open.observations.push(...turn.observations.filter((one) => !known.has(one.id)));
          open.observation_count = open.observations.length;
        } else if (since === null) {
          found.set(`at-${turn.timestamp}`, turn);
        }
      }
      const end = part.prompts.at(-1)?.observations.at(-1)?.timestamp;
      // Records of the last second may be on both pages.
      if (end === undefined || end - 1 === from) break;
      from = end - 1;
    }
    trace = { ...part, prompts: [...found.values()].sort((a, b) => a.timestamp - b.timestamp) };
    showHead();
    showTurns();
    showSummary();
    showFiles();
  }

  /** Tells the daemon that a person sees this session. */
  async function seen() {
    if (document.hidden || isGone) return;
    if (session.meta.isUnobserved) await observe();
  }

  function showGone() {
    if (isGone) return;
    isGone = true;
    replace(
      root,
      h(
        "div",
        { class: "empty" },
        h("h2", {}, "This session was deleted"),
        h("p", {}, "It was deleted in another window or by a command."),
        h("div", { class: "toolbar" }, link({ view: "sessions" }, "To the sessions", { class: "button" })),
      ),
    );
  }

  /** One refresh at a time: replies of two could arrive in the wrong order. A change during one starts the next. */
  let isReading = true;
  let isChanged = false;

  const endReading = () => {
    isReading = false;
    if (isChanged) soon();
    isChanged = false;
  };

  async function refresh() {
    if (isGone) return;
    if (isReading) {
      isChanged = true;
      return;
    }
    isReading = true;
    try {
      await Promise.all([readSession(), readTrace(), showReceipts()]);
      await seen();
    } catch (error) {
      if (error.code === "not_found") showGone();
      else if (!isAborted(error) && error.code !== "gone") toast(error.message);
    } finally {
      endReading();
    }
  }

  /** Reads again soon: many records arrive at once. */
  const soon = () => {
    if (timer || isGone) return;
    timer = setTimeout(() => {
      timer = 0;
      refresh();
    }, REFRESH_MS);
  };

  showHead();
  showContext();
  const unsubscribe = [
    subscribe("activity/subscribe", { project: "*", session_id: id }, soon),
    subscribe("session/subscribe", { session_id: id }, ({ event }) => {
      if (isGone) return;
      session.meta.context = event.data.context;
      showContext();
    }),
    onNotification("session/list_changed", ({ reason, sessionId }) => {
      if (sessionId !== id && sessionId !== "*") return;
      if (reason === "deleted" && sessionId === id) showGone();
      else soon();
    }),
    onState(({ connected }) => connected && soon()),
  ];
  const visible = () => seen().catch(() => {});
  document.addEventListener("visibilitychange", visible);

  await Promise.all([
    readTrace(),
    showReceipts().catch((error) => {
      if (!isAborted(error)) replace(receiptsCard, h("h2", {}, "Injected text"), problem(error));
    }),
  ]);
  call("get", { path: `session://${encodeURIComponent(id)}` }, { signal }).then(
    ({ entry }) => {
      session.isPinned = entry.attributes?.is_pinned ?? false;
      if (!isGone) showHead();
    },
    () => {},
  );
  endReading();
  seen().catch(() => {});

  return {
    isLive: true,
    close() {
      clearTimeout(timer);
      isGone = true;
      document.removeEventListener("visibilitychange", visible);
      for (const end of unsubscribe) end();
    },
  };
}
