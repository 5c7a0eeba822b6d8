// Faults between the page and its daemon: replies that come late, in another order or never, messages that come
// twice, sleep and wake, many tabs, a session deleted in another tab, and a browser with a wrong clock.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { closeBrowser, Home, newContext, openPage, seed, turn, until } from "./kit.mjs";
import { seedLearned } from "./seeds.mjs";

const DAY = 86_400_000;
const HOUR = 3_600_000;

let home;
let sessions;

before(async () => {
  home = await Home.open();
  sessions = await seed(home);
  await seedLearned(home);
});

after(async () => {
  await closeBrowser();
  await home.close();
});

/** Refused connections are reported by the browser itself while a daemon is down. */
const DOWN = [/ERR_CONNECTION_REFUSED/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /WebSocket connection to/];

/** Lets requests of a method through to `handle`; the others go on to the daemon. */
async function intercept(page, method, handle) {
  await page.route("**/rpc", async (route) => {
    const asked = JSON.parse(route.request().postData() ?? "{}");
    if (asked.method === method) await handle(route, asked.params);
    else await route.fallback();
  });
}

/** Chooses an address as a click on a link does, without waiting for its replies. */
const choose = (page, to) =>
  page.evaluate((href) => {
    const link = document.createElement("a");
    link.href = href;
    document.body.append(link);
    link.click();
    link.remove();
  }, to);

/** Views with a choice: its operation, two addresses, and a text that only the second one shows. */
const CHOICES = [
  ["sessions", "list_sessions", "/?view=sessions&q=refunds", "/?view=sessions&q=coupons", "Add coupons", "refunds"],
  ["memories", "list_memories", "/?view=learning&tab=memories&category=decision", "/?view=learning&tab=memories&category=preference", "Use pnpm", "Round after tax"],
  ["ghaps", "list_ghap_entries", "/?view=learning&outcome=falsified", "/?view=learning&outcome=hypothesis", "drops the last row", "login test is flaky"],
  ["hints", "query_hints", "/?view=hints&os=darwin", "/?view=hints&os=linux", "appear for system linux", "appear for system darwin"],
  ["receipts", "receipts", "/?view=receipts&used=no", "/?view=receipts&from=2020-01-01&to=2020-01-02", "No receipt matches", "Reason"],
  ["stats", "activity_stats", "/?view=stats&project=shop", "/?view=stats&from=2020-01-01&to=2020-01-02", "Nothing was recorded in this time", "Records per day"],
];

for (const [view, method, first, second, wanted, unwanted] of CHOICES) {
  // @page_replies
  test(`${view}: a reply that comes after a later one does not replace it`, async () => {
    const page = await openPage(home, { path: first.replace(/&(q|category|outcome|os|used|project)=[^&]*/g, "") });
    await page.waitForFunction(() => !document.querySelector("[aria-busy=true]"));
    const held = [];
    let isHolding = true;
    await intercept(page, method, async (route) => {
      if (!isHolding) return route.fallback();
      // The daemon answers now, and the reply arrives later.
      const response = await route.fetch();
      held.push(() => route.fulfill({ response }));
    });
    await choose(page, first);
    await until("a call is held", () => held.length > 0);
    isHolding = false;
    await choose(page, second);
    const main = page.locator("#main");
    await main.getByText(wanted).first().waitFor();
    for (const reply of held) await reply().catch(() => {});
    // Whatever the late reply starts is over when a frame and another call are.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300))));
    const shown = await main.innerText();
    assert.ok(shown.includes(wanted), shown);
    assert.ok(!shown.includes(unwanted), shown);
    await page.finish();
  });
}

/** Views and the operation without which they have nothing to show, and a text that is there after it. */
const LOADS = () => [
  ["timeline", "activity", "/", ".tl-item"],
  ["sessions", "list_sessions", "/?view=sessions", ".s-item"],
  ["session", "session_trace", `/?session=${sessions[0].session}`, ".turn"],
  ["search", "search", "/?view=search&q=round", ".hit"],
  ["hints", "export_hints", "/?view=hints", ".hint"],
  ["learning", "list_ghap_entries", "/?view=learning", "#main .card"],
  ["receipts", "receipts", "/?view=receipts", ".receipt"],
  ["stats", "activity_stats", "/?view=stats", ".plot"],
  ["projects", "status", "/?view=projects", ".project"],
  ["health", "memory_stats", "/?view=health", "text=Last sweep"],
  ["file", "file_history", "/?view=file&path=src/cart.rs", "#main .card"],
  ["record", "get", "/?view=record&path=obs%3A%2F%2F3", "text=Details"],
];

// @page_replies
test("a reply that never comes leads to a sentence and another try, in every view", { timeout: 240_000 }, async () => {
  for (const [view, method, address, content] of LOADS()) {
    const page = await openPage(home, { path: "/?view=nonsense" });
    await page.clock.install();
    const lost = [];
    let isLost = true;
    await intercept(page, method, (route) => {
      if (!isLost) return route.fallback();
      lost.push(route);
      return undefined;
    });
    await page.goto(`http://127.0.0.1:${home.port}${address}`);
    await until(`${view} asks`, () => lost.length > 0);
    assert.equal(await page.locator(content).count(), 0, view);
    await page.clock.fastForward(31_000);
    const main = page.locator("#main");
    await main.getByText("did not reply within 30 seconds").first().waitFor();
    isLost = false;
    const again = main.getByRole("button", { name: "Try again" });
    while ((await again.count()) > 0) await again.first().click();
    await page.locator(content).first().waitFor();
    assert.equal(await main.getByText("did not reply").count(), 0, view);
    await page.finish();
  }
});

// @page_replies
test("a name that was changed meanwhile stays, whatever older reply arrives", async () => {
  const { session, cwd } = sessions[2];
  const page = await openPage(home, { path: `/?session=${session}` });
  await page.waitForSelector(".turn");
  await page.waitForSelector(".is-live");
  const held = [];
  let isHolding = true;
  await intercept(page, "get_session", async (route) => {
    if (!isHolding) return route.fallback();
    const response = await route.fetch();
    held.push(() => route.fulfill({ response }));
  });
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "One more question", step: 1 }));
  await until("the session is read again", () => held.length > 0);
  isHolding = false;
  await page.getByRole("button", { name: "Rename" }).click();
  await page.fill("#ask-text", "Refund page");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.title.includes("Refund page"));
  for (const reply of held) await reply();
  await page.getByText("One more question").first().waitFor();
  assert.match(await page.title(), /Refund page/);
  await home.call("update_session", { session_id: session, name: "" });
  await page.finish();
});

/** Passes the messages of the tab's WebSocket through `pass`, which gets a message and the functions that deliver it. */
async function relay(page, pass) {
  await page.routeWebSocket(/\/ws$/, (tab) => {
    const daemon = tab.connectToServer();
    tab.onMessage((message) => pass(message, { toTab: false, send: (text) => daemon.send(text) }));
    daemon.onMessage((message) => pass(message, { toTab: true, send: (text) => tab.send(text) }));
  });
}

// @page_replies
test("a message that comes twice is shown and counted once", async () => {
  const page = await openPage(home, { path: "/?view=nonsense" });
  let doubled = 0;
  await relay(page, (message, { toTab, send }) => {
    send(message);
    if (!toTab || !String(message).includes("activity/new")) return;
    doubled += 1;
    send(message);
  });
  await page.open("/");
  await page.waitForSelector(".is-live");
  const { session, cwd } = sessions[5];
  const say = (text) => home.hooks(turn(session, cwd, Date.now(), { prompt: text, step: 1 }));
  await say("Twice on the wire");
  await page.waitForSelector("text=Twice on the wire");
  await until("a message is doubled", () => doubled > 0);
  assert.equal(await page.getByText("Twice on the wire").count(), 1);
  assert.match(await page.locator(".tl-status").textContent(), /^1 record /);
  await page.evaluate(() => scrollTo(0, 400));
  await say("Twice while reading");
  await page.waitForFunction(() => /^1 new/.test(document.querySelector(".tl-new").textContent));
  await until("the second one is doubled", () => doubled > 1);
  await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
  assert.match(await page.locator(".tl-new").textContent(), /^1 new/);
  await page.finish();
});

// @page_survives_the_daemon
test("after sleep the page notices its dead connection and closes the gap", async () => {
  const page = await openPage(home, { path: "/?view=nonsense" });
  await page.clock.install();
  let isAsleep = false;
  // A connection that died in sleep loses messages in both directions and reports no end.
  await relay(page, (message, { send }) => isAsleep || send(message));
  await page.open("/");
  await page.waitForSelector(".is-live");
  isAsleep = true;
  const { session, cwd } = sessions[5];
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "While the computer slept", step: 1 }));
  assert.equal(await page.getByText("While the computer slept").count(), 0);
  // The network is back before the page runs again; only the old connection is dead.
  await page.clock.fastForward(8 * HOUR);
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await page.clock.fastForward(8_500);
  await page.waitForSelector(".is-lost");
  isAsleep = false;
  const woke = Date.now();
  await page.waitForSelector("text=While the computer slept");
  await page.waitForSelector(".is-live");
  assert.ok(Date.now() - woke < 10_000);
  await page.finish();
});

test("ten tabs with different views survive a restart of the daemon", { timeout: 120_000 }, async () => {
  const context = await newContext();
  const views = LOADS().map(([, , address, content]) => [address, content]);
  const pages = [];
  for (let tab = 0; tab < 10; tab += 1) {
    const [address, content] = views[tab];
    const page = await openPage(home, { context, path: address, allow: DOWN });
    if (tab === 0) await page.open(address);
    await page.locator(content).first().waitFor();
    pages.push(page);
  }
  await home.stop("SIGKILL");
  for (const page of pages) await page.waitForSelector(".is-lost");
  await home.start();
  const back = Date.now();
  for (const page of pages) await page.waitForSelector(".is-live");
  assert.ok(Date.now() - back < 10_000, "within ten seconds");
  for (const [tab, page] of pages.entries()) {
    await page.locator(views[tab][1]).first().waitFor();
    assert.deepEqual(page.errors, []);
  }
  await context.close();
});

// @page_unknown_address
test("a session that is deleted in another tab leaves a way back in every view that shows it", async () => {
  const cwd = home.project("doomed");
  const id = "dddddddd-0000-4000-8000-000000000000";
  const actions = [["edit", "src/doomed.rs", "let doomed = true;"]];
  await home.hooks(turn(id, cwd, Date.now() - HOUR, { prompt: "A doomed walrus", actions, answer: "Doomed." }));
  const [prompt] = (await home.call("search", { query: "doomed walrus", project: "*", limit: 1 })).results;
  const context = await newContext();
  const tabs = {};
  for (const [name, path] of Object.entries({
    renaming: `/?session=${id}`,
    search: "/?view=search&q=doomed%20walrus",
    record: `/?view=record&path=${encodeURIComponent(`obs://${prompt.id}`)}`,
    file: `/?view=file&path=src/doomed.rs&session=${id}`,
    sessions: "/?view=sessions",
  })) {
    tabs[name] = await openPage(home, { context, path });
    await tabs[name].locator("#main").getByText("oomed").first().waitFor();
  }
  await tabs.renaming.getByRole("button", { name: "Rename" }).click();
  await tabs.renaming.fill("#ask-text", "Too late");

  const other = await openPage(home, { context, path: `/?session=${id}` });
  await other.waitForSelector(".turn");
  await other.getByRole("button", { name: "Delete" }).click();
  await other.locator("dialog").getByRole("button", { name: "Delete" }).click();
  await other.waitForSelector("text=The session was deleted");

  await tabs.sessions.waitForFunction(() => !document.querySelector(".s-list").textContent.includes("doomed"));
  await tabs.renaming.waitForSelector("text=This session was deleted");
  // The form that was open meanwhile is refused with the reason, and the sentence stays.
  await tabs.renaming.keyboard.press("Enter");
  await tabs.renaming.locator(".toast").first().waitFor();
  await tabs.renaming.getByRole("link", { name: "To the sessions" }).click();
  await tabs.renaming.waitForSelector(".s-item");
  await tabs.search.locator(".hit a[href*='session=']").first().click();
  await tabs.search.waitForSelector("text=This session does not exist");
  await tabs.record.locator("#main a[href*='session=']").first().click();
  await tabs.record.waitForSelector("text=This session does not exist");
  await tabs.file.getByRole("link", { name: "To the session" }).first().click();
  await tabs.file.waitForSelector("text=This session does not exist");
  for (const page of [...Object.values(tabs), other]) assert.deepEqual(page.errors, []);
  await context.close();
});

for (const [name, offset] of [
  ["behind", -DAY],
  ["ahead", DAY],
]) {
  // @page_address
  test(`a browser clock that is a day ${name} filters, counts and names the right days`, async () => {
    const { session, cwd } = sessions[5];
    const text = `Clock a day ${name}`;
    await home.hooks(turn(session, cwd, Date.now() - 60_000, { prompt: text, step: 1 }));
    const clock = new Date(Date.now() + offset);
    for (const address of ["/?from=24h", "/?from=today"]) {
      // The daemon's midnight may have passed a minute ago; then the record is of yesterday.
      if (address.includes("today") && new Date(Date.now() - 120_000).getDate() !== new Date().getDate()) continue;
      const page = await openPage(home, { path: "/?view=nonsense", clock });
      await page.open(address);
      await page.getByText(text).first().waitFor();
      assert.equal(await page.locator(".tl-day").first().textContent(), "Today");
      await page.finish();
    }
    const page = await openPage(home, { path: "/?view=nonsense", clock });
    await page.open("/?view=stats");
    await page.waitForSelector(".plot");
    const today = new Intl.DateTimeFormat("en-US", { weekday: "short", day: "numeric", month: "short" });
    const range = () => page.locator("#main [role=status]").first().textContent();
    await until("the stats end today", async () => (await range()).includes(`to ${today.format(new Date())}:`));
    await page.finish();
  });
}
