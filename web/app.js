// The page: asks the daemon for its status and shows it, and how to connect an agent to it.

import { pickUpKey, post } from "/session.js";

const REFRESH_MS = 5000;

const byId = (id) => document.getElementById(id);

/** Calls an operation; an error of the daemon becomes an exception with its message. */
async function call(method, params = {}) {
  const response = await post("/rpc", JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  const answer = await response.json();
  if (answer.error) throw new Error(answer.error.data?.hint ?? answer.error.message);
  return answer.result;
}

function duration(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0 s";
  const parts = [];
  for (const [name, size] of units.slice(first, first + 2)) {
    parts.push(`${Math.floor(seconds / size)} ${name}`);
    seconds %= size;
  }
  return parts.join(" ");
}

function lastEvent(event) {
  if (!event) return "none yet";
  const session = event.session ? ` of session ${event.session}` : "";
  return `${event.name}${session}, ${new Date(event.at).toLocaleString()}`;
}

function showFacts(status) {
  const facts = [
    ["Version", status.version],
    ["Process", `${status.pid} (${status.mode})`],
    ["Address", location.origin],
    ["Database", status.database],
    ["Up for", duration(status.uptime_seconds)],
    ["Connections", status.connections],
    ["Agent sessions", status.sessions],
    ["Last hook event", lastEvent(status.last_event)],
  ];
  byId("facts").replaceChildren(
    ...facts.flatMap(([name, value]) => {
      const term = document.createElement("dt");
      const detail = document.createElement("dd");
      term.textContent = name;
      detail.textContent = String(value);
      return [term, detail];
    }),
  );
  const notices = status.notices.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  });
  byId("notices").replaceChildren(...notices);
  byId("notices").hidden = notices.length === 0;
}

function showState(text, kind) {
  byId("state").textContent = text;
  byId("state").className = kind;
}

async function refresh() {
  if (document.hidden) return;
  try {
    showFacts(await call("status"));
    showState("The daemon is running.", "good");
  } catch (error) {
    const gone = error instanceof TypeError;
    showState(gone ? "The daemon does not respond. Start it with: rekindle up" : error.message, "bad");
  }
}

function showConnecting() {
  const url = `${location.origin}/mcp`;
  byId("mcp").textContent = `${url}\nAuthorization: Bearer TOKEN`;
  byId("curl").textContent = [
    `curl ${location.origin}/rpc \\`,
    `  -H "Authorization: Bearer TOKEN" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"jsonrpc":"2.0","id":1,"method":"status"}'`,
  ].join("\n");
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select and copy";
  }
});
document.addEventListener("visibilitychange", () => byId("facts") && refresh());

async function start() {
  const isOpen = byId("facts") !== null;
  const gotKey = await pickUpKey().catch(() => false);
  if (isOpen) {
    showConnecting();
    refresh();
    setInterval(refresh, REFRESH_MS);
  } else if (gotKey) {
    // A link that was opened from another site arrives without the cookie; a reload of the page sends it.
    location.reload();
  }
}

start();
