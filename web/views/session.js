// One session: its prompts with the actions and the answer of each, and beside them its facts and its context.

import { call, isAborted } from "/api.js";
import { ask, confirm, copy, endUndo, problem, toast } from "/dialog.js";
import { arrange, breakable, entryLink, h, icon, link, linked, renew, replace } from "/dom.js";
import { number, oneLine, plainReason, plural, shortNames, time } from "/format.js";
import { onNotification, onState, subscribe } from "/live.js";
import { stateBadge, usedMark } from "/records.js";
import { contextOf } from "/views/session-context.js";
import { filesOf, turnsOf } from "/views/session-turns.js";

const FILES_SHOWN = 15;
const RECEIPTS_SHOWN = 10;
const REFRESH_MS = 700;

/** The most pages of a trace that are read; a page has 5,000 records. */
const TRACE_PAGES = 10;

export async function open(root, { params, signal, navigate, leave, setTitle }) {
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
    // The address named its path, `session://ID`.
    queueMicrotask(() => navigate({ session: id }, { replace: true }));
    return {};
  }

  let trace = { prompts: [], summary: null };
  let isGone = false;
  let timer = 0;

  const factsLine = h("div", { class: "ses-facts" });
  const tools = h("div", { class: "toolbar" });
  const head = h("section", { class: "ses-head" }, factsLine, tools);
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

  /** Before the summary is written, the first prompt says what a session is about, as in the list of sessions. */
  const intent = () => trace.summary?.intent || trace.prompts.find(({ content }) => content)?.content;
  const titleOf = () => session.meta.name || intent() || session.meta.currentIntent || "Session";

  function showHead() {
    setTitle(oneLine(titleOf(), 90));
    const { meta } = session;
    renew(
      factsLine,
      stateBadge(session.state),
      meta.isUnobserved && h("span", { class: "badge badge-accent" }, "not seen"),
      link({ view: "timeline", project: session.project }, session.project || "no project"),
      h("span", { class: "muted" }, meta.model ? `${session.agent}, ${meta.model}` : session.agent),
      h("span", { class: "muted" }, "started ", time(meta.startedAt), ", last active ", time(meta.updatedAt)),
      session.cwd && h("code", { class: "muted" }, breakable(session.cwd)),
      meta.parent && h("span", {}, "forked from ", link({ session: meta.parent }, meta.parent.slice(0, 8))),
    );
    renew(
      tools,
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
    );
  }

  async function rename() {
    const before = session.meta.name;
    const name = await ask({ title: "Rename the session", label: "Name (empty removes it)", value: before, max: 200 });
    if (name === null || name === before) return;
    await update({ name });
    await readSession();
    const mine = session.meta.name;
    toast(name ? "Renamed." : "The name was removed.", {
      undo: async () => {
        await readSession();
        if (session.meta.name !== mine) throw new Error("The session was renamed meanwhile; its new name stays.");
        await update({ name: before });
        await readSession();
      },
    });
  }

  async function observe() {
    await call("observe_session", { session_id: id });
    showSeen();
  }

  function showSeen() {
    if (isGone) return;
    session.meta.isUnobserved = false;
    showHead();
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
    const made = await call("mark", { text: text.trim(), session_id: id });
    toast(`Stored as obs://${made.id} in this session.`, {
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
      [counted.observations, counted.prompts + counted.answers > 0 ? "other record" : "record"],
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
    endUndo();
    toast("The session was deleted.");
    leave({ view: "sessions" }, (from) => from.get("view") === "sessions");
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
    renew(
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

  /** A button that shows all of a list that is cut off. */
  const moreButton = (showAll) => h("button", { type: "button", class: "button button-small", onclick: showAll });

  let filesShown = FILES_SHOWN;
  const fileList = h("ul", { class: "set-items" });
  const moreFiles = moreButton(() => {
    filesShown = Infinity;
    showFiles();
  });

  function showFiles() {
    const files = filesOf(trace.prompts);
    const names = shortNames(files.map(({ path }) => path));
    renew(
      fileList,
      files
        .slice(0, filesShown)
        .map(({ path, edits, reads }) =>
          h(
            "li",
            {},
            link({ session: id, view: "file", path }, names.get(path), { title: path, class: "cut" }),
            h(
              "span",
              { class: "muted small" },
              [edits > 0 && `changed ${edits}×`, reads > 0 && `read ${reads}×`].filter(Boolean).join(", "),
            ),
          ),
        ),
    );
    renew(moreFiles, `Show ${number(files.length - filesShown)} more`);
    renew(
      filesCard,
      h("h2", {}, `Files (${number(files.length)})`),
      files.length === 0 && h("p", { class: "muted" }, "No file was touched."),
      fileList,
      files.length > filesShown && moreFiles,
    );
  }

  let receipts = [];
  let receiptsShown = RECEIPTS_SHOWN;
  /** The receipts in the document by time and entries: one that is open stays open. */
  const receiptItems = new Map();
  const receiptList = h("ul", { class: "receipts" });
  const moreReceipts = moreButton(() => {
    receiptsShown = Infinity;
    renderReceipts();
  });

  /** The row of a receipt; `lines` are its entries, whose use changes. */
  function receiptItem(receipt) {
    const lines = h("ul", {});
    const summary = h(
      "summary",
      {},
      time(receipt.at),
      ` · ${plural(receipt.tokens, "token")} · `,
      plural(receipt.items.length, "entry", "entries"),
    );
    return { element: h("li", {}, h("details", {}, summary, lines)), lines };
  }

  function renderReceipts() {
    const seen = new Map();
    const elements = receipts.slice(0, receiptsShown).map((receipt) => {
      const text = `${receipt.at} ${receipt.items.map(({ path }) => path).join(" ")}`;
      seen.set(text, (seen.get(text) ?? 0) + 1);
      const key = `${seen.get(text)} ${text}`;
      if (!receiptItems.has(key)) receiptItems.set(key, receiptItem(receipt));
      const { element, lines } = receiptItems.get(key);
      renew(
        lines,
        receipt.items.map((item) =>
          h("li", {}, entryLink(item.path), " ", h("span", { class: "muted" }, plainReason(item.reason)), " ", usedMark(item)),
        ),
      );
      return element;
    });
    arrange(receiptList, elements);
    renew(moreReceipts, `Show ${number(receipts.length - receiptsShown)} more`);
    renew(
      receiptsCard,
      h("h2", {}, "Injected text"),
      receipts.length === 0 && h("p", { class: "muted" }, "Nothing was injected into this session."),
      receiptList,
      receipts.length > receiptsShown && moreReceipts,
    );
  }

  async function showReceipts() {
    ({ receipts } = await call("receipts", { session_id: id, limit: 200 }, { signal }));
    renderReceipts();
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
    showTurns(trace);
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
    setTitle("Deleted session");
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

  const showTurns = turnsOf(turnsRoot, { signal, guard });
  const showContext = contextOf(contextCard, { id, session: () => session, readSession, signal, guard });
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
      else if (reason === "observed") showSeen();
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
