// The health of the daemon: process, database, spool, agents and their events, notices, and the doctor's findings.

import { call } from "/api.js";
import { h, link, prose, replace } from "/dom.js";
import { bytes, duration, number, plural, time } from "/format.js";
import { badge, button, command, empty, facts, fill, intro, section, table } from "/parts.js";

/** Commands in backquotes of a hint: each can be copied and run. */
function commandsOf(hint) {
  return [...String(hint ?? "").matchAll(/`([^`]+)`/g)].map(([, text]) => text).filter((text) => text.includes(" "));
}

const STATUS = {
  ok: ["✓ ok", "good"],
  warn: ["! warning", "warn"],
  fail: ["✕ failed", "failed"],
  error: ["✕ failed", "failed"],
};

function statusBadge(status) {
  const [text, kind] = STATUS[status] ?? [status];
  return badge(text, kind);
}

function daemonCard(status) {
  return section(
    "Daemon",
    facts([
      ["Version", status.version],
      ["Build", status.build],
      ["Process", `${status.pid} (${status.mode})`],
      ["Address", h("code", { class: "break" }, status.address ?? location.origin)],
      ["Up for", duration(status.uptime_seconds)],
      ["Started", time(status.started)],
      ["Connections", number(status.connections)],
      ["Live agent sessions", number(status.sessions)],
      ["Held until a clean end", status.held ? plural(status.held, "item") : null],
      ...Object.entries(status.plugins ?? {}).map(([name, text]) => [name[0].toUpperCase() + name.slice(1), text]),
    ]),
  );
}

/** The facts of the database that the daemon knows at once; `counts` has those that a large store counts for a moment. */
function storeCard(status, counts) {
  return section(
    "Database",
    facts([
      ["File", h("code", { class: "break" }, status.database)],
      ["Hook events, last 30 days", number(status.events)],
      ["Waiting in the spool", number(status.spooled)],
    ]),
    counts,
  );
}

function countsOf(stats) {
  return facts([
    ["Size", bytes(stats.database_bytes)],
    ["Records", `${number(stats.observations + stats.prompts)}, of which ${plural(stats.prompts, "prompt")}`],
    ["Sessions", number(stats.sessions)],
    ["Projects", number(stats.projects)],
    ["Pinned records", number(stats.pinned)],
    ["Per record", bytes(stats.bytes_per_observation)],
    ["Oldest record", stats.oldest_at ? time(stats.oldest_at) : null],
    ["Newest record", stats.newest_at ? time(stats.newest_at) : null],
    [
      "Last sweep",
      stats.sweeps?.length
        ? [time(stats.sweeps[0].at), `, ${plural(stats.sweeps[0].removed, "record")} deleted`]
        : null,
    ],
  ]);
}

function notes(status) {
  const all = [...(status.notices ?? []), ...(status.notes ?? [])];
  if (!all.length) return null;
  return section(
    "Notices",
    h(
      "ul",
      { class: "notices" },
      all.map((text) => h("li", { class: "notice" }, prose(text))),
    ),
  );
}

/** Whether the store has a session: an event during a pause, or of an excluded project, leaves none. */
async function isStored(session, signal) {
  if (!session) return false;
  return call("get_session", { session_id: session }, { signal }).then(
    () => true,
    () => false,
  );
}

/** The time of the last event of each agent and of each hook, as `doctor` reports them. */
function eventsCard(doctor, last, isLinked) {
  const agents = Object.entries(doctor.agents ?? {});
  const events = Object.entries(doctor.events ?? {});
  if (!agents.length && !events.length) {
    return section(
      "Agents",
      empty(
        "No event arrived yet",
        "Connect an agent as shown below, then start a new session of it.",
        "If you did, run the checks: they say which hook is missing.",
      ),
    );
  }
  return section(
    "Agents and hooks",
    h(
      "div",
      { class: "health-grid" },
      table(
        "Last event of each agent",
        [
          { title: "Agent", cell: ([name]) => name || "Not recorded: paused, excluded or deleted" },
          { title: "Last event", cell: ([, at]) => time(at) },
        ],
        agents,
      ),
      table(
        "Last event of each hook",
        [
          { title: "Hook event", cell: ([name]) => name },
          { title: "Last arrived", cell: ([, at]) => time(at) },
        ],
        events.sort(([, a], [, b]) => String(b).localeCompare(String(a))),
      ),
    ),
    last
      ? h(
          "p",
          { class: "muted" },
          `Last of all: ${last.name}`,
          isLinked ? [" of ", link({ session: last.session }, "this session")] : null,
          ".",
        )
      : null,
  );
}

const WIRED = { yes: ["✓ connected", "good"], no: ["not connected"], partly: ["! in part", "warn"] };

/** How an agent is connected: its missing parts, and the last event of each of its hooks. */
function connection(agent) {
  const parts = (title, all) =>
    all?.length ? [title, all.map((text) => h("p", {}, prose(String(text))))] : [title, null];
  const hooks = Object.entries(agent.events ?? {});
  return h(
    "div",
    { class: "connection-card" },
    h(
      "div",
      { class: "meta" },
      h("h3", {}, agent.title ?? agent.agent),
      badge(...(WIRED[agent.wired] ?? [agent.wired])),
    ),
    facts([
      ["Last event", agent.last_event ? time(agent.last_event) : "none yet"],
      parts("Missing", agent.missing),
      parts("Changed by hand", agent.altered),
      parts("Problems", agent.trouble),
      ["Directory", agent.found ? h("code", { class: "break" }, agent.found) : null],
    ]),
    hooks.length
      ? table(
          `Hooks of ${agent.title ?? agent.agent}`,
          [
            { title: "Hook", cell: ([name]) => name },
            {
              title: "Last event",
              cell: ([, { last }]) => (last ? time(last) : h("span", { class: "muted" }, "none yet")),
            },
          ],
          hooks,
        )
      : null,
  );
}

function connections(doctor) {
  if (!doctor.connections?.length) return null;
  return h("div", { class: "health-grid connections" }, doctor.connections.map(connection));
}

const SEVERITY = ["fail", "error", "warn", "ok"];

function findings(doctor) {
  const checks = [...(doctor.checks ?? [])].sort((a, b) => SEVERITY.indexOf(a.status) - SEVERITY.indexOf(b.status));
  const bad = checks.filter((check) => check.status !== "ok").length;
  return [
    h(
      "p",
      { role: "status" },
      bad
        ? `${bad} of ${plural(checks.length, "check")} ${bad === 1 ? "needs" : "need"} attention.`
        : `All ${plural(checks.length, "check")} passed.`,
    ),
    h(
      "ul",
      { class: "checks" },
      checks.map((check) =>
        h(
          "li",
          { class: "check-row" },
          statusBadge(check.status),
          h(
            "div",
            {},
            h("strong", {}, check.name),
            h("p", { class: "muted break" }, check.detail),
            check.hint ? h("p", {}, prose(check.hint)) : null,
            commandsOf(check.hint).map(command),
          ),
        ),
      ),
    ),
    connections(doctor),
  ];
}

function doctorCard(signal) {
  const place = h(
    "div",
    { "aria-live": "polite" },
    h(
      "p",
      { class: "muted" },
      "Checks settings, files, database, spool, permissions, agents and the clock. Nothing is changed.",
    ),
  );
  const run = button(
    "Run the checks",
    async () => {
      run.disabled = true;
      replace(place, h("p", { class: "muted" }, "Running…"));
      await fill(place, async () => findings(await call("doctor", {}, { signal })));
      run.disabled = false;
      run.textContent = "Run again";
    },
    { class: "button button-main" },
  );
  return section("Doctor", h("div", { class: "toolbar" }, run), place);
}

function connectCard() {
  const origin = location.origin;
  return section(
    "Connect an agent",
    h("h3", {}, "In one step"),
    h(
      "p",
      { class: "muted" },
      "Finds Claude Code, Codex, Gemini CLI, Cursor and OpenCode on this machine and registers hooks and tools.",
    ),
    command("rekindle install"),
    h("h3", {}, "As a command (MCP over stdio)"),
    h("p", { class: "muted" }, "The agent starts this command itself; all agents share this daemon."),
    command("rekindle serve"),
    h("h3", {}, "By address (MCP over HTTP)"),
    h(
      "p",
      { class: "muted" },
      prose("TOKEN is the content of the file `token` in the data directory; `rekindle up` prints its path."),
    ),
    command(`${origin}/mcp`),
    command("Authorization: Bearer TOKEN"),
    h("h3", {}, "From a script (JSON-RPC)"),
    command(
      `curl ${origin}/rpc -H "Authorization: Bearer TOKEN" -H "Content-Type: application/json" ` +
        `-d '{"jsonrpc":"2.0","id":1,"method":"status"}'`,
    ),
  );
}

export async function open(root, { signal }) {
  const cards = h("div", { class: "health-grid" });
  const events = h("div", {});
  const counts = h("div", { class: "counts" });
  const load = () => {
    // Both cards use the first reply; one that tries again asks again.
    let shared = call("status", {}, { signal });
    shared.catch(() => {
      shared = null;
    });
    const status = () => shared ?? call("status", {}, { signal });
    const counted = fill(counts, async () => countsOf(await call("memory_stats", {}, { signal })));
    const shown = Promise.all([
      fill(cards, async () => {
        const known = await status();
        return [notes(known), daemonCard(known), storeCard(known, counts)];
      }),
      fill(events, async () => {
        // The checks read the whole database: they run on request.
        const [doctor, known] = await Promise.all([call("doctor", { checks: false }, { signal }), status()]);
        return eventsCard(doctor, known.last_event, await isStored(known.last_event?.session, signal));
      }),
    ]);
    return { shown, all: Promise.all([shown, counted]) };
  };
  replace(
    root,
    intro("The daemon, its store, and whether the agents' events arrive."),
    cards,
    events,
    doctorCard(signal),
    connectCard(),
  );
  await load().shown;
  return { refresh: () => load().all };
}
