// Helpers of the browser tests: a daemon in a home of its own, events of agents, and a signed-in page in Chromium.
//
// REKINDLE_BIN       the binary under test
// REKINDLE_NODE      a directory with node_modules that has playwright-core and axe-core
// REKINDLE_CHROMIUM  the browser, by default /usr/bin/chromium
// REKINDLE_WEB_DIR   if set, the files of the page are read from there instead of from the binary
// REKINDLE_PAGE_OUT  directory of the screenshots, by default target/page

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const binary = process.env.REKINDLE_BIN ?? path.join(root, "target/release/rekindle");
const modules = createRequire(path.join(process.env.REKINDLE_NODE ?? root, "node_modules", "x.js"));
const webDir = process.env.REKINDLE_WEB_DIR;
/** The directory of the screenshots. */
export const OUT = process.env.REKINDLE_PAGE_OUT ?? path.join(root, "target/page");

export const { chromium } = modules("playwright-core");
export const axeSource = () => fs.readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8");

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** The policy that the server sends with the page. */
export const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
  "trusted-types 'none'";

/** Waits until the function returns something truthy. */
export async function until(what, probe, { ms = 10_000, every = 50 } = {}) {
  const end = Date.now() + ms;
  let last;
  for (;;) {
    try {
      last = await probe();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) assert.fail(`${what}: not within ${ms} ms (last: ${last})`);
    await new Promise((done) => setTimeout(done, every));
  }
}

async function freePort() {
  const server = net.createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Daemons that run; a test file that ends early must not leave one behind. */
const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(1));

/** A home of its own with a daemon. */
export class Home {
  static async open({ port } = {}) {
    const home = new Home();
    home.dir = fs.mkdtempSync(path.join(os.tmpdir(), "rekindle-page-"));
    for (const name of ["home", "run", "tmp"]) fs.mkdirSync(path.join(home.dir, name), { mode: 0o700 });
    const inside = (...parts) => path.join(home.dir, ...parts);
    home.env = {
      PATH: process.env.PATH,
      HOME: inside("home"),
      TMPDIR: inside("tmp"),
      XDG_RUNTIME_DIR: inside("run"),
      XDG_DATA_HOME: inside("home/.local/share"),
      XDG_CONFIG_HOME: inside("home/.config"),
      XDG_STATE_HOME: inside("home/.local/state"),
      XDG_CACHE_HOME: inside("home/.cache"),
      REKINDLE_HOME: inside("data"),
      REKINDLE_NO_AUTOSTART: "1",
      LANG: "C.UTF-8",
    };
    await home.start(port);
    return home;
  }

  /** Runs a command and returns its standard output. */
  async run(...args) {
    const { stdout } = await promisify(execFile)(binary, args, { env: this.env, maxBuffer: 1 << 26 });
    return stdout;
  }

  /** Starts the daemon, at the same port as before unless another one is given. */
  async start(port) {
    this.port = port ?? this.port ?? (await freePort());
    this.child = spawn(binary, ["serve", "--http", "--strict-port", "--port", String(this.port)], {
      env: this.env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const { child } = this;
    running.add(child);
    child.once("exit", () => running.delete(child));
    // A test that fails before it closes its home does not keep the process running.
    child.unref();
    child.stderr.unref();
    this.said = "";
    this.child.stderr.on("data", (data) => {
      this.said += data;
    });
    await until("the daemon starts", async () => {
      if (this.child.exitCode !== null) assert.fail(this.said);
      return (await fetch(`http://127.0.0.1:${this.port}/health`)).ok;
    });
    this.token = await until("a token", () => fs.readFileSync(path.join(this.dir, "data/token"), "utf8").trim());
  }

  /** Ends the daemon: TERM for a clean end, KILL for a crash. */
  async stop(signal = "SIGTERM") {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.ref();
    const gone = new Promise((done) => this.child.once("exit", done));
    this.child.kill(signal);
    await gone;
  }

  /** Sends JSON-RPC requests as one batch with the token. */
  async post(body) {
    const response = await fetch(`http://127.0.0.1:${this.port}/rpc`, {
      method: "POST",
      headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.json();
  }

  /** Calls an operation with the token. */
  async call(method, params = {}) {
    const answer = await this.post({ jsonrpc: "2.0", id: 1, method, params });
    if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  /** A directory for a project, a git repository. */
  project(name) {
    const dir = path.join(this.dir, "home", name);
    fs.mkdirSync(path.join(dir, ".git"), { recursive: true });
    fs.writeFileSync(path.join(dir, ".git/HEAD"), "ref: refs/heads/main\n");
    fs.writeFileSync(path.join(dir, ".git/config"), "[core]\n");
    fs.mkdirSync(path.join(dir, ".git/objects"), { recursive: true });
    fs.mkdirSync(path.join(dir, ".git/refs"), { recursive: true });
    return dir;
  }

  /** Sends one event of an agent's hook, as it happened at `at` (milliseconds since 1970). */
  async hook(event, payload, { at = Date.now(), agent = "claude-code" } = {}) {
    return (await this.hooks([{ event, payload, at, agent }]))[0];
  }

  /** Sends many events in a few requests. */
  async hooks(events) {
    const results = [];
    for (let from = 0; from < events.length; from += 100) {
      const batch = events.slice(from, from + 100).map(({ event, payload, at, agent = "claude-code" }, index) => ({
        jsonrpc: "2.0",
        id: index,
        method: "hook",
        params: {
          event,
          payload: { hook_event_name: event, ...payload },
          at,
          agent,
          id: randomBytes(16).toString("hex"),
        },
      }));
      const answers = await this.post(batch);
      answers.sort((a, b) => a.id - b.id);
      for (const answer of answers) {
        if (answer.error) throw new Error(JSON.stringify(answer.error));
        results.push(answer.result);
      }
    }
    return results;
  }

  /** A one-time link of the page. */
  async link(query = "") {
    const page = JSON.parse(await this.run("web", "--json")).page;
    return page + (query ? `&${query}` : "");
  }

  async close() {
    await this.stop("SIGKILL");
    fs.rmSync(this.dir, { recursive: true, force: true });
  }
}

/** The events of one turn: a prompt, its actions and the answer. */
export function turn(session, cwd, at, { prompt, actions = [], answer, agent = "claude-code", step = 20_000 }) {
  const events = [];
  let now = at;
  const add = (event, payload) => {
    events.push({ event, agent, at: now, payload: { session_id: session, cwd, ...payload } });
    now += step;
  };
  if (prompt !== undefined) add("UserPromptSubmit", { prompt });
  for (const action of actions) {
    const [kind, ...rest] = action;
    const file = (name) => (name.startsWith("/") ? name : path.join(cwd, name));
    if (kind === "read") {
      add("PostToolUse", {
        tool_name: "Read",
        tool_input: { file_path: file(rest[0]) },
        tool_response: { type: "text" },
      });
    } else if (kind === "grep") {
      add("PostToolUse", { tool_name: "Grep", tool_input: { pattern: rest[0] }, tool_response: { numFiles: 2 } });
    } else if (kind === "edit") {
      add("PostToolUse", {
        tool_name: "Edit",
        tool_response: { filePath: file(rest[0]) },
        tool_input: { file_path: file(rest[0]), old_string: rest[2] ?? "x", new_string: rest[1] },
      });
    } else if (kind === "write") {
      add("PostToolUse", {
        tool_name: "Write",
        tool_input: { file_path: file(rest[0]), content: rest[1] },
        tool_response: { type: "create" },
      });
    } else if (kind === "run") {
      add("PostToolUse", {
        tool_name: "Bash",
        tool_input: { command: rest[0] },
        tool_response: { stdout: rest[1] ?? "", stderr: "", interrupted: false },
      });
    } else if (kind === "fail") {
      add("PostToolUseFailure", { tool_name: "Bash", tool_input: { command: rest[0] }, error: rest[1] });
    } else if (kind === "web") {
      add("PostToolUse", { tool_name: "WebFetch", tool_input: { url: rest[0], prompt: "read" }, tool_response: {} });
    } else {
      throw new Error(`unknown action ${kind}`);
    }
  }
  if (answer !== undefined) add("Stop", { stop_hook_active: false, last_assistant_message: answer });
  return events;
}

const DAY = 86_400_000;
const HOUR = 3_600_000;

const WORK = [
  [
    "shop",
    26,
    "Why is the checkout total off by one cent?",
    "src/cart.rs",
    "cargo test cart",
    "Exit code 101\nassertion failed: left 1999, right 2000",
    "Every line was rounded; now only the sum is.",
    "cart: round once, half up",
  ],
  [
    "infra",
    19,
    "The nightly backup of the database fails, find out why",
    "deploy/backup.sh",
    "terraform plan",
    "Exit code 1\nError: no valid credential sources found",
    "The disk was full. We keep seven dumps from now on.",
    "backup: keep seven dumps",
  ],
  [
    "site",
    12,
    "Write the page about refunds",
    "src/refunds.md",
    "npm run build",
    "Exit code 2\nsrc/refunds.md: missing front matter",
    "The page is written and linked from the footer.",
    "site: page about refunds",
  ],
  [
    "shop",
    8,
    "Taxes for Switzerland are computed with the wrong rate",
    "src/tax.rs",
    "cargo test tax",
    "Exit code 101\ntest tax::swiss_rate ... FAILED",
    "The rate was that of 2023. It is 8.1 % now.",
    "tax: Swiss rate of 2024",
  ],
  [
    "site",
    4,
    "Make the header readable on phones",
    "src/header.css",
    "npm test",
    "Exit code 1\n2 tests failed",
    "The menu is a button below 40em now.",
    "header: menu button on phones",
  ],
  [
    "shop",
    1,
    "Add coupons to the cart: a code reduces the sum by a percentage",
    "src/cart.rs",
    "cargo test coupon",
    "Exit code 101\ntest coupon::expired ... FAILED",
    "Coupons work; expired ones are refused. Should a coupon be usable twice?",
    null,
  ],
  [
    "shop",
    0,
    "The importer drops the last row of every CSV file. Find out why and fix it, with a test.",
    "src/csv.rs",
    "cargo test import",
    "Exit code 101\ntest import::keeps_last_row ... FAILED",
    "Fixed. The parser emitted a row only at a line break; the end of the file counts as one now.",
    null,
  ],
];

/** Fills a home with a few weeks of work on three projects. Returns the sessions, oldest first. */
export async function seed(home, { now = Date.now() } = {}) {
  const sessions = [];
  const events = [];
  for (const [index, [name, days, prompt, file, command, error, answer, commit]] of WORK.entries()) {
    const cwd = home.project(name);
    const session = `${String(index + 1).repeat(8)}-aaaa-4000-8000-00000000000${index}`;
    const agent = index === 4 ? "codex" : "claude-code";
    const at = now - days * DAY - 2 * HOUR;
    events.push({ event: "SessionStart", agent, at, payload: { session_id: session, cwd, source: "startup" } });
    events.push(
      ...turn(session, cwd, at + 60_000, {
        agent,
        prompt,
        answer,
        actions: [
          ["grep", "fn total"],
          ["read", file],
          ["edit", file, "let total = round(sum);"],
          ["edit", file, "let total = 1;"],
          ["edit", file, "let total = round_half_up(sum);"],
          ["fail", command, error],
          ["edit", "src/money.rs", `pub fn round_half_up(amount: Decimal) -> Decimal { amount.round_dp(${index}) }`],
          ["run", command, "test result: ok. 3 passed; 0 failed"],
          ...(commit
            ? [["run", `git commit -am '${commit}'`, `[main 4be01d${index}] ${commit}\n 1 file changed`]]
            : []),
        ],
      }),
    );
    events.push(
      ...turn(session, cwd, at + 20 * 60_000, {
        agent,
        prompt: "Now write the changelog",
        actions: [
          ["read", "CHANGELOG.md"],
          ["write", "CHANGELOG.md", `- ${prompt}`],
          ["web", "https://keepachangelog.com"],
        ],
        answer: "The changelog has a line about it.",
      }),
    );
    if (days > 0) {
      const payload = { session_id: session, cwd, reason: "exit" };
      events.push({ event: "SessionEnd", agent, at: at + 40 * 60_000, payload });
    }
    sessions.push({ session, cwd, project: name, prompt, answer });
  }
  await home.hooks(events);
  const last = sessions.at(-1);
  await home.call("set_relevant_context", {
    session_id: last.session,
    setName: "files",
    items: ["src/csv.rs", "src/import.rs", "docs/import.md"].map((name) => path.join(last.cwd, name)),
  });
  await home.call("set_relevant_context", { session_id: last.session, setName: "ports", items: ["8080"] });
  return sessions;
}

let browser = null;

/** The one browser of a test file. */
export async function openBrowser() {
  browser ??= await chromium.launch({
    executablePath: process.env.REKINDLE_CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--js-flags=--expose-gc",
      "--enable-precise-memory-info",
      // Files that a test serves in place of the daemon have no address; without this they could not open a WebSocket.
      ...(webDir ? ["--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets"] : []),
    ],
  });
  return browser;
}

export async function closeBrowser() {
  await browser?.close();
  browser = null;
}

/** Serves the files of the page from a directory instead of from the binary. */
async function serveFrom(context, dir) {
  const pattern = (url) =>
    url.hostname === "127.0.0.1" && (url.pathname === "/" || /\.(js|css|svg)$/.test(url.pathname));
  await context.route(pattern, async (route) => {
    const url = new URL(route.request().url());
    // A link has to reach the daemon, which answers with a cookie and another address.
    if (url.searchParams.has("link")) return route.continue();
    const file = path.join(dir, url.pathname.slice(1));
    if (url.pathname === "/") {
      const answer = await route.fetch().catch(() => null);
      if (!answer) return route.abort("connectionrefused");
      const isClosed = (await answer.text()).includes("not signed in");
      const headers = { ...answer.headers(), "content-security-policy": POLICY };
      delete headers["content-length"];
      const body = fs.readFileSync(path.join(dir, isClosed ? "closed.html" : "index.html"));
      return route.fulfill({ status: answer.status(), headers, body });
    }
    if (!(await alive(url))) return route.abort("connectionrefused");
    if (!fs.existsSync(file)) return route.fulfill({ status: 404, body: "not found" });
    const headers = {
      "Content-Security-Policy": POLICY,
      "Content-Type": `${TYPES[path.extname(file)]}; charset=utf-8`,
    };
    return route.fulfill({ status: 200, headers, body: fs.readFileSync(file) });
  });
}

const alive = (url) =>
  fetch(`${url.origin}/health`).then(
    () => true,
    () => false,
  );

/**
 * A signed-in page. Every console error, exception, dialog and foreign request is collected in `errors`;
 * `finish` fails if there was one.
 */
export async function openPage(
  home,
  { path: target = "/", width = 1280, height = 900, scheme = "light", context, allow = [], clock } = {},
) {
  const owner = context ?? (await newContext({ width, height, scheme }));
  const page = await owner.newPage();
  const errors = [];
  const requests = [];
  const tolerated = (text) => page.tolerated.some((pattern) => pattern.test(text));
  page.tolerated = [...allow];
  page.on("console", (message) => {
    const text = `${message.text()} ${message.location().url}`;
    if (["error", "warning"].includes(message.type()) && !tolerated(text)) errors.push(`console: ${text}`);
  });
  page.on("pageerror", (error) => tolerated(String(error)) || errors.push(`exception: ${error.stack ?? error}`));
  page.on("dialog", (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    requests.push(request);
    const url = new URL(request.url());
    if (!["data:", "blob:"].includes(url.protocol) && url.hostname !== "127.0.0.1") {
      errors.push(`foreign request: ${request.url()}`);
    }
  });
  if (clock) await page.clock.setFixedTime(clock);
  const signedIn = context?.signedIn?.has(home);
  await page.goto(
    signedIn
      ? `http://127.0.0.1:${home.port}${target}`
      : await home.link(target.startsWith("/?") ? target.slice(2) : ""),
  );
  (owner.signedIn ??= new Set()).add(home);
  page.errors = errors;
  page.requests = requests;
  page.open = async (to) => {
    await page.goto(`http://127.0.0.1:${home.port}${to}`);
    await page.settled();
  };
  /** Waits until the view is shown. */
  page.settled = async () => {
    await page.waitForFunction(
      () => document.querySelector("#main > .view") && !document.querySelector("#main > .loading"),
    );
  };
  page.finish = async () => {
    assert.deepEqual(errors, []);
    if (context) await page.close();
    else await owner.close();
  };
  await page.settled();
  return page;
}

/** A browser context: a profile of its own. */
export async function newContext({ width = 1280, height = 900, scheme = "light", timezoneId } = {}) {
  const context = await (
    await openBrowser()
  ).newContext({
    viewport: { width, height },
    colorScheme: scheme,
    timezoneId,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(10_000);
  if (webDir) await serveFrom(context, webDir);
  return context;
}

/** Takes a screenshot and fails if it is blank, or if the page scrolls sideways. */
export async function screenshot(page, name, { full = false } = {}) {
  fs.mkdirSync(path.dirname(path.join(OUT, name)), { recursive: true });
  const sideways = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.ok(sideways <= 0, `${name} scrolls sideways by ${sideways} px`);
  const png = await page.screenshot({ path: path.join(OUT, `${name}.png`), fullPage: full });
  const digest = createHash("sha256").update(png).digest("hex");
  assert.ok(png.length > 5000, `${name} is blank`);
  return digest;
}

/** Texts of controls and links that are cut off, that overlap another control, or badges outside of their row. */
export async function badBoxes(page) {
  return page.evaluate(() => {
    const problems = [];
    // A dialog covers the page.
    const scope = document.querySelector("dialog[open]") ?? document;
    const seen = [...scope.querySelectorAll("button, a, input, select, textarea, h1, h2, h3")].filter((element) => {
      const box = element.getBoundingClientRect();
      return (
        box.width > 1 &&
        box.height > 1 &&
        element.checkVisibility({ visibilityProperty: true }) &&
        !element.closest(".sr, .skip")
      );
    });
    const name = (element) =>
      `${element.tagName}.${element.className}: ${(element.textContent || element.id).slice(0, 40)}`;
    for (const element of seen) {
      const box = element.getBoundingClientRect();
      if (box.right > document.documentElement.clientWidth + 1 || box.left < -1)
        problems.push(`outside: ${name(element)}`);
    }
    for (const badge of scope.querySelectorAll(".badge")) {
      // A row of the timeline is higher than its button on narrow screens, and its badges are in the second line.
      const row = badge.closest(".tl-row") ?? badge.closest("button, summary, li");
      if (!row || !badge.checkVisibility()) continue;
      const [inner, outer] = [badge.getBoundingClientRect(), row.getBoundingClientRect()];
      const isInside =
        inner.left > outer.left - 2 && inner.right < outer.right + 2 && inner.top > outer.top - 2 && inner.bottom < outer.bottom + 2;
      if (!isInside) problems.push(`badge outside its row: ${name(badge)} of ${row.textContent.slice(0, 60)}`);
    }
    for (const row of scope.querySelectorAll(".tl-row")) {
      const [badges, session] = [row.querySelector(".tl-badges"), row.querySelector(".tl-session")];
      if (!badges || !session) continue;
      const [one, other] = [badges.getBoundingClientRect(), session.getBoundingClientRect()];
      const isApart = one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top;
      if (one.width > 0 && !isApart) problems.push(`badges over the session: ${row.textContent.slice(0, 60)}`);
    }
    for (const table of scope.querySelectorAll(".plot-table")) {
      if (table.checkVisibility() && table.scrollWidth > table.clientWidth + 1)
        problems.push(`a table that is cut off: ${table.textContent.slice(0, 40)}`);
    }
    for (const card of scope.querySelectorAll(".card")) {
      const edge = card.getBoundingClientRect().right;
      const texts = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const parent = text.parentElement;
        // Hidden text, and text that its element cuts off on purpose or scrolls.
        if (!text.data.trim() || !parent.checkVisibility() || parent.closest(".sr, .cut, .plot-table, pre, svg")) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        if (range.getBoundingClientRect().right > edge + 1)
          problems.push(`text outside its card: ${text.data.trim().slice(0, 40)}`);
      }
    }
    const controls = seen.filter((element) => !/^H\d$/.test(element.tagName));
    for (const [index, one] of controls.entries()) {
      for (const other of controls.slice(index + 1)) {
        if (one.contains(other) || other.contains(one)) continue;
        const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
        const fixed = (element) =>
          ["fixed", "sticky"].includes(
            getComputedStyle(element.closest(".side, .context-footer, .toasts, .stuck") ?? element).position,
          );
        if (fixed(one) !== fixed(other)) continue;
        const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (width > 2 && height > 2) problems.push(`overlap: ${name(one)} / ${name(other)}`);
      }
    }
    return problems;
  });
}

/** Texts that must never become markup, a request, or a change of the reading direction. */
export const HOSTILE = [
  `<img src=x onerror="alert(1)">`,
  `"><script>document.title='owned'</script>`,
  `javascript:alert(1)`,
  `' onmouseover='alert(1)`,
  `{{constructor.constructor('alert(1)')()}}`,
  `\u202egnp.exe\u2066 reversed`,
  `&lt;b&gt;bold&amp;`,
  `\u0000nul\u0007bell`,
  `%3Cscript%3E%26%23`,
];
