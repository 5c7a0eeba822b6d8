// How records look: the words and icons of each type, and a whole record with its facts.

import { call } from "/api.js";
import { toast } from "/dialog.js";
import { breakable, h, icon, isSession, link, linked, noted, replace } from "/dom.js";
import { baseName, exact, number, oneLine } from "/format.js";

/** Types of records: icon, what a row says, and the name of the type in filters of activity; null if it has none. */
const TYPES = {
  user_prompt: ["prompt", "Prompt", "Prompts"],
  answer: ["answer", "Answer", "Answers"],
  file_edit: ["edit", "Edited", "Edits"],
  file_write: ["file", "Wrote", "New files"],
  file_read: ["file", "Read", "Reads"],
  command: ["command", "Ran", "Commands that passed"],
  command_error: ["command", "Ran", "Commands that failed"],
  git_commit: ["commit", "Committed", "Commits"],
  git_push: ["commit", "Pushed", "Pushes"],
  github: ["commit", "GitHub", "GitHub"],
  search: ["search", "Searched", "Searches in files"],
  web_fetch: ["web", "Fetched", "Fetched pages"],
  web_search: ["web", "Searched the web", "Searches on the web"],
  mcp_call: ["tool", "Called", "MCP calls"],
  task_spawn: ["tool", "Started a subtask", "Subtasks"],
  tool_other: ["tool", "Used a tool", "Other tools"],
  marker: ["mark", "Mark", "Marks"],
  memory: ["mark", "Memory", null],
  ghap: ["learning", "Ghap", null],
  experience: ["learning", "Experience", null],
  value: ["learning", "Value", null],
  session_summary: ["sessions", "Summary", null],
  session_start: ["sessions", "Session started", null],
  session_resume: ["sessions", "Session resumed", null],
  session_clear: ["sessions", "Context cleared", null],
  session_compact: ["sessions", "Context compacted", null],
  session_fork: ["sessions", "Session forked", null],
  session_end: ["sessions", "Session ended", null],
};

/** Types that can be chosen in a filter, as pairs of value and text. */
export const TYPE_CHOICES = Object.entries(TYPES)
  .filter(([, [, , many]]) => many)
  .map(([type, [, , many]]) => [type, many]);

export const AGENTS = ["claude-code", "codex", "gemini-cli", "cursor", "opencode"];

export const typeIcon = (type) => icon(TYPES[type]?.[0] ?? "tool");

/** What a row says before the text, as `Edited`. */
export const typeLabel = (type) => TYPES[type]?.[1] ?? type;

/** Whether a record reports a failure. */
export const isFailed = (record) => record.obs_type === "command_error" || record.metadata?.failed === true;

/** The badge of a failure: a sign and a word, so that it does not depend on colour. */
export function failedBadge(record) {
  const code = record.metadata?.exit_code;
  return h(
    "span",
    { class: "badge badge-failed" },
    icon("failed"),
    h("span", {}, "failed", Number.isInteger(code) && h("span", { class: "exit-code" }, `, exit ${code}`)),
  );
}

/** The message of a `git commit` command; the command itself if it has none. */
function commitMessage(command) {
  const given = /\bcommit\b.*?\s-[a-z]*m\s+(["'])(.*?)\1/.exec(command);
  return given?.[2] || command;
}

/** The subject of a record in one line: the path for files, else the text. */
export function subject(record) {
  const text = oneLine(record.content ?? record.content_preview);
  // The label says that a session started or ended; the word of the agent for it adds nothing.
  if (/^session_(start|resume|clear|compact|fork|end)$/.test(record.obs_type)) return { main: "" };
  const path = record.file_path;
  if (!path && record.obs_type === "git_commit") return { main: commitMessage(text) };
  if (!path) return { main: text };
  const stripped = text.replace(/^(Edit|Write|Read) /, "");
  const colon = stripped.indexOf(": ");
  const main = colon > 0 ? stripped.slice(0, colon) : stripped || baseName(path);
  return { main, more: colon > 0 ? stripped.slice(colon + 2) : "" };
}

/** Members of metadata that are not shown as facts: they are elsewhere, or say nothing to a person. */
const HIDDEN_FACTS = new Set([
  "failed",
  "error",
  "count",
  "hash",
  "command",
  "first_at",
  "last_timestamp",
  "run",
  "program",
  "subcommand",
  "actions",
]);

/** The result of a test or build run with its counts, as `failed, 3 passed, 1 failed`. */
function result(run) {
  const counts = ["passed", "failed"]
    .filter((name) => Number.isInteger(run[name]))
    .map((name) => `${run[name]} ${name}`);
  return [run.result, ...counts].join(", ");
}

/** A value of metadata as text: a list with commas, and the members of an object by name. */
function factText(value) {
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.map(factText).join(", ");
  return Object.entries(value)
    .map(([name, one]) => `${name.replaceAll("_", " ")}: ${factText(one)}`)
    .join(", ");
}

/** What the metadata of a record says, as pairs of name and text. */
export function metadataFacts({ metadata }) {
  const rows = [
    metadata?.run?.result && ["Result", result(metadata.run)],
    metadata?.count > 1 && ["Happened", `${number(metadata.count)} times`],
    metadata?.last_timestamp && ["Last time", exact(metadata.last_timestamp)],
  ].filter(Boolean);
  for (const [name, value] of Object.entries(metadata ?? {})) {
    if (HIDDEN_FACTS.has(name) || value === null || value === "") continue;
    const title = name.replaceAll("_", " ");
    rows.push([title[0].toUpperCase() + title.slice(1), factText(value)]);
  }
  return rows;
}

/** The badge of a test or build run that passed. */
export const passedBadge = () => h("span", { class: "badge badge-good" }, icon("answer"), "passed");

/** The error of a failed record, as its program printed it. */
export const errorText = ({ metadata }) =>
  metadata?.error ? [h("h3", {}, "Error"), h("pre", { class: "record-error" }, metadata.error)] : null;

function facts(record) {
  const session = isSession(record.session_id) ? record.session_id : null;
  const rows = [
    ["When", exact(record.timestamp)],
    record.file_path && [
      "File",
      link({ view: "file", path: record.file_path, session }, breakable(record.file_path), { class: "mono" }),
    ],
    record.tool_name && ["Tool", record.tool_name],
    ["Project", record.project],
    session && ["Session", link({ session }, session, { class: "mono" })],
    ["Agent", record.agent_id ? `${record.agent}, subagent ${record.agent_id}` : record.agent],
    record.prompt_id &&
      record.prompt_id !== record.id && [
        "Prompt",
        link({ view: "record", path: `obs://${record.prompt_id}` }, `obs://${record.prompt_id}`),
      ],
    ...metadataFacts(record),
  ].filter(Boolean);
  return h(
    "dl",
    { class: "facts" },
    rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

/** Pins or unpins a record, with Undo. */
export async function togglePin(record, changed) {
  const set = async (pinned) => {
    const done = await call(pinned ? "pin_observation" : "unpin_observation", { id: record.id });
    record.is_pinned = done.is_pinned;
    changed(record);
  };
  const before = record.is_pinned;
  try {
    await set(!before);
    toast(before ? "Unpinned: the record can expire." : "Pinned: the record does not expire.", {
      undo: () => set(before),
    });
  } catch (error) {
    toast(error.message);
  }
}

/**
 * A whole record: its text, error and facts, and what can be done with it.
 * @param {object} record
 * @param {{ onChange?: (record: object) => void, isAlone?: boolean, isInSession?: boolean }} [options]
 */
export function wholeRecord(record, { onChange = () => {}, isAlone = false, isInSession = false } = {}) {
  const root = h("article", { class: "record" });
  const render = () =>
    replace(
      root,
      record.damaged && h("p", { class: "error" }, "A part of this record is damaged in the database."),
      record.note && h("p", { class: "badge badge-accent" }, noted(record.note)),
      h("pre", { class: "record-text" }, linked(record.content || "(no text)")),
      errorText(record),
      facts(record),
      h(
        "div",
        { class: "toolbar" },
        h(
          "button",
          {
            type: "button",
            class: "button button-small",
            onclick: () =>
              togglePin(record, (changed) => {
                render();
                onChange(changed);
              }),
          },
          icon("pin"),
          record.is_pinned ? "Unpin" : "Pin",
        ),
        !isAlone &&
          link({ view: "record", path: `obs://${record.id}` }, "Open alone", { class: "button button-small" }),
        isSession(record.session_id) &&
          !isInSession &&
          link({ session: record.session_id }, "Open the session", { class: "button button-small" }),
        h("span", { class: "muted mono small" }, `obs://${record.id}`),
      ),
    );
  render();
  return root;
}

/** Reads whole records by id, at most 50. */
export async function readRecords(ids, signal) {
  return (await call("get_observations", { ids: ids.slice(0, 50) }, { signal })).results;
}

/** Sources whose use is not recorded: the declared context of a session that is resumed. */
const UNTRACKED = ["session", "context"];

/** Whether the use of a source, or of the entry at a path, is recorded. */
export const isTracked = (path) => !UNTRACKED.includes(path.split(":")[0]);

/** Whether an injected line was used, as a badge. */
export function usedMark({ path, used }) {
  if (used) return h("span", { class: "badge badge-good" }, "✓ used");
  return h("span", { class: "badge" }, isTracked(path) ? "not used" : "not tracked");
}

/** The state of a session as a badge with a sign and a word. */
export function stateBadge(state) {
  const [kind, text] = {
    active: ["badge badge-good", "busy"],
    idle: ["badge badge-info", "idle"],
    ended: ["badge", "ended"],
  }[state] ?? ["badge", state];
  return h("span", { class: kind }, h("span", { class: `state-${state}`, "aria-hidden": "true" }), text);
}
