// The frame of the page: addresses, filters, the connection, keys, themes and sign-in.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { badBoxes, closeBrowser, Home, HOSTILE, newContext, openPage, screenshot, seed, turn, until } from "./kit.mjs";

let home;
let sessions;

before(async () => {
  home = await Home.open();
  sessions = await seed(home);
});

after(async () => {
  await closeBrowser();
  await home.close();
});

const VIEWS = ["timeline", "sessions", "search", "hints", "learning", "receipts", "stats", "projects", "health"];

/** Refused connections are reported by the browser itself while a daemon is down. */
const DOWN = [
  /ERR_CONNECTION_REFUSED/,
  /ERR_CONNECTION_RESET/,
  /ERR_EMPTY_RESPONSE/,
  /WebSocket connection to/,
  /ERR_FAILED/,
];

// @page_start_is_small
test("the page starts with few small requests to its own daemon", async () => {
  const full = await Home.open();
  await seed(full);
  const cwd = full.project("long");
  const long = (index) => `Prompt ${index}: ${"why does the importer drop the last row of it? ".repeat(12)}`;
  const events = Array.from({ length: 60 }, (_, index) =>
    turn("long", cwd, Date.now() - (90 - index) * 1000, { prompt: long(index), answer: long(index), step: 1 }),
  );
  await full.hooks(events.flat());
  for (const [address, content] of [
    ["/", ".tl-item"],
    ["/?session=77777777-aaaa-4000-8000-000000000006", ".turn"],
  ]) {
    const page = await openPage(full, { path: address });
    await page.waitForSelector(content);
    // The first visit also redeems the link; this is every later one.
    const start = page.requests.length;
    await page.reload();
    await page.waitForSelector(content);
    await page.waitForSelector(".is-live");
    // Until what a change causes would be read again.
    await page.waitForTimeout(1500);
    const own = page.requests.slice(start);
    const sizes = await Promise.all(
      own.map(async (request) => {
        const response = await request.response();
        return response ? (await response.body().catch(() => Buffer.alloc(0))).length : 0;
      }),
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    console.log(`# start of ${address}: ${own.length} requests, ${bytes} bytes`);
    assert.ok(own.length <= 25, `${own.length} requests: ${own.map((request) => request.url()).join(" ")}`);
    assert.ok(bytes <= 200_000, `${address}: ${bytes} bytes`);
    await page.finish();
  }
  await full.close();
});

// @page_address
test("every view opens by its link, by its keys, by reload and by going back", async () => {
  const page = await openPage(home);
  for (const view of VIEWS) {
    await page.click(`nav a.nav-link[href*="${view === "timeline" ? "/" : `view=${view}`}"]`);
    await page.settled();
    const title = view[0].toUpperCase() + view.slice(1);
    assert.equal(await page.textContent("#title"), title);
    assert.equal(await page.getAttribute("nav [aria-current=page] span", "class"), null);
  }
  await page.reload();
  await page.settled();
  assert.equal(await page.textContent("#title"), "Health");
  await page.goBack();
  await page.settled();
  assert.equal(await page.textContent("#title"), "Projects");
  await page.goForward();
  await page.settled();
  assert.equal(await page.textContent("#title"), "Health");
  for (const [key, title] of [
    ["s", "Sessions"],
    ["h", "Hints"],
    ["a", "Stats"],
    ["t", "Timeline"],
  ]) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.waitForFunction((text) => document.getElementById("title").textContent === text, title);
  }
  await page.finish();
});

// @page_address
test("the filter of project and time is in the address and holds for all views", async () => {
  const page = await openPage(home);
  await page.waitForSelector("#filter-project option[value=site]", { state: "attached" });
  await page.selectOption("#filter-project", "site");
  await page.waitForFunction(() => location.search.includes("project=site"));
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll(".tl-session > :first-child")].length > 0 &&
      [...document.querySelectorAll(".tl-session > :first-child")].every((element) => element.textContent === "site"),
  );
  await page.selectOption("#filter-time", "7d");
  await page.waitForFunction(() => location.search.includes("from=7d"));
  await page.click("nav a.nav-link[href*='view=sessions']");
  await page.waitForSelector(".s-item");
  assert.equal(await page.locator(".s-item").count(), 1);
  assert.match(page.url(), /project=site/);
  assert.match(page.url(), /from=7d/);
  await page.selectOption("#filter-time", "days");
  await page.waitForSelector("#filter-from");
  await page.fill("#filter-from", "2020-01-01");
  await page.fill("#filter-to", "2020-01-31");
  await page.waitForSelector("text=No session matches");
  await page.reload();
  await page.settled();
  assert.equal(await page.inputValue("#filter-from"), "2020-01-01");
  assert.equal(await page.inputValue("#filter-to"), "2020-01-31");
  await page.click("text=Clear");
  await page.waitForFunction(() => document.querySelectorAll(".s-item").length === 7);
  await page.goBack();
  await page.waitForSelector("text=No session matches");
  await page.finish();
});

// @page_unknown_address
test("unknown views, sessions, records and projects get a sentence and a way back", async () => {
  const page = await openPage(home);
  for (const [address, text] of [
    ["/?view=nothing", "no such view"],
    ["/?view=__proto__", "no such view"],
    ["/?session=no-such-session", "does not exist"],
    [`/?session=${encodeURIComponent("a/b\\c")}`, "does not exist"],
    ["/?session=no-such-session&view=file&path=/a.rs", "does not exist"],
    ["/?session=no-such-session&view=search&q=x", "does not exist"],
    ["/?view=record&path=obs://99999999", "obs://99999999"],
    ["/?view=record&path=nonsense", "nonsense"],
    ["/?view=file", "No file was named"],
    ["/?project=no-such-project", "No project is called no-such-project"],
    ["/?view=stats&project=no-such-project", "Choose a project above, or show all projects"],
  ]) {
    await page.open(address);
    await page.waitForFunction((part) => document.querySelector("#main").textContent.includes(part), text);
    const ways = await page.locator("#main a[href^='/'], #main button").count();
    assert.ok(ways > 0, `${address} has no way back`);
  }
  for (const address of ["/?view=nothing", "/?view=timeline&project=nosuch", "/?project=nosuch&from=7d"]) {
    await page.open(address);
    await page.click("#main >> text=To the timeline");
    await page.waitForSelector(".tl-item");
  }
  assert.doesNotMatch(page.url(), /nosuch|7d/);
  await page.open("/?view=sessions&project=nosuch&from=30d");
  assert.doesNotMatch(await page.innerText("#main"), /\*|Known are/);
  await page.click("#main >> text=show all projects");
  await page.waitForSelector(".s-item");
  assert.match(page.url(), /view=sessions&from=30d$/);
  page.tolerated.push(/404 \(Not Found\)/);
  assert.equal((await page.goto(`http://127.0.0.1:${home.port}/nonsense`)).status(), 404);
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  await screenshot(page, "no-such-page");
  await page.getByRole("link", { name: "To the timeline" }).click();
  await page.waitForSelector(".tl-item");
  await page.finish();
});

// @page_title
test("the title counts sessions that were not seen, live", async () => {
  const page = await openPage(home);
  await page.waitForFunction(() => /^\(7\) Timeline/.test(document.title));
  await page.click("nav a.nav-link[href*='view=sessions']");
  await page.click("text=Mark all as seen");
  await page.click("dialog >> text=Mark as seen >> nth=-1");
  await page.waitForFunction(() => /^Sessions/.test(document.title));
  const { session, cwd } = sessions[0];
  await home.hooks(turn(session, cwd, Date.now() + 1000, { prompt: "Once more", answer: "Done.", step: 10 }));
  await page.waitForFunction(() => /^\(1\) Sessions/.test(document.title));
  await home.call("observe_session", { session_id: "*" });
  await page.waitForFunction(() => /^Sessions/.test(document.title));
  await page.finish();
});

// @page_survives_the_daemon
test("content stays while the daemon is gone, says since when, and continues without a gap", async () => {
  const page = await openPage(home, { allow: DOWN });
  await page.waitForSelector(".tl-item");
  await page.waitForSelector(".is-live");
  const rows = await page.locator(".tl-item").count();
  await home.stop("SIGKILL");
  await page.waitForSelector("text=/Stale since \\d/");
  assert.equal(await page.locator(".tl-item").count(), rows);
  await screenshot(page, "stale-1280-light");
  await home.start();
  const { session, cwd } = sessions[6];
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "Written while the page was away", step: 1 }));
  const begun = Date.now();
  await page.waitForSelector(".is-live", { timeout: 10_000 });
  await page.waitForSelector("text=Written while the page was away", { timeout: 10_000 });
  assert.ok(Date.now() - begun < 10_000);
  assert.equal(await page.locator("#banner-connection").count(), 0);
  // A view without a feed is read again.
  await page.click("nav a.nav-link[href*='view=sessions']");
  await page.waitForSelector(".s-item");
  await home.stop("SIGTERM");
  await page.waitForSelector("text=/Stale since \\d/");
  await home.start();
  await home.call("update_session", { session_id: session, name: "Renamed while away" });
  await page.waitForSelector("text=Renamed while away", { timeout: 10_000 });
  await page.finish();
});

// @page_survives_the_daemon
test("a view that is opened for the first time while the daemon is gone appears when it is back", async () => {
  const page = await openPage(home, { allow: DOWN });
  await page.waitForSelector(".is-live");
  await home.stop("SIGKILL");
  await page.waitForSelector("text=/Stale since \\d/");
  await page.click("nav a.nav-link[href*='view=health']");
  await page.waitForSelector("text=this view could not be read");
  await home.start();
  await page.waitForSelector("#main h2 >> text=Doctor", { timeout: 10_000 });
  await page.finish();
});

test("a daemon that hangs makes the page stale, and the page continues with it", async () => {
  const page = await openPage(home, { allow: DOWN });
  await page.waitForSelector(".is-live");
  home.child.kill("SIGSTOP");
  // Nobody touches the page: it asks by itself. Ten seconds, and some for a busy machine.
  await page.waitForSelector("text=/Stale since \\d/", { timeout: 13_000 });
  home.child.kill("SIGCONT");
  await page.waitForSelector(".is-live");
  const { session, cwd } = sessions[6];
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "After the pause", step: 1 }));
  await page.waitForSelector("text=After the pause");
  await page.finish();
});

test("an updated daemon is announced with a way to reload", async () => {
  const page = await openPage(home, { allow: DOWN });
  await page.waitForSelector(".is-live");
  let build = null;
  await page.route("**/rpc", async (route) => {
    if (!(route.request().postData() ?? "").includes('"status"') || !build) return route.continue();
    const response = await route.fetch();
    const answer = await response.json();
    answer.result.build = build;
    return route.fulfill({ response, json: answer });
  });
  build = "another-build";
  await home.stop();
  await page.waitForSelector("text=/Stale since \\d/");
  await home.start();
  await page.waitForSelector(".toast >> text=Rekindle was updated");
  build = null;
  await page.click(".toast >> text=Reload");
  await page.waitForSelector(".is-live");
  assert.equal(await page.locator(".toast").count(), 0);
  await page.unroute("**/rpc");
  await page.finish();
});

test("two homes do not sign each other out", async () => {
  const other = await Home.open();
  const context = await newContext();
  const pages = [await openPage(home, { context }), await openPage(other, { context })];
  for (const page of pages) {
    await page.reload();
    await page.waitForSelector(".is-live");
  }
  await pages[0].waitForSelector(".tl-item");
  await pages[1].waitForSelector("text=Nothing is recorded yet");
  assert.deepEqual([...pages[0].errors, ...pages[1].errors], []);
  await context.close();
  await other.close();
});

for (const isKnown of [false, true]) {
  // @page_survives_the_daemon
  test(`a page of one home is stale while another home has its port, ${isKnown ? "signed in there" : "not signed in there"}`, async () => {
    const [mine, other] = [await Home.open(), await Home.open()];
    const { port } = mine;
    const context = await newContext();
    await seed(mine);
    const swap = async (from, to) => {
      await from.stop();
      await to.stop();
      await to.start(port);
    };
    if (isKnown) {
      await swap(mine, other);
      await (await openPage(other, { context })).close();
      await swap(other, mine);
    }
    const page = await openPage(mine, { context, allow: [/401/, ...DOWN] });
    await page.waitForSelector(".is-live");
    await page.waitForSelector(".tl-item");
    const rows = await page.locator(".tl-item").count();
    await swap(mine, other);
    await page.waitForSelector("#banner-connection >> text=another database", { timeout: 20_000 });
    await other.hooks(turn("elsewhere", other.project("far"), Date.now(), { prompt: "Of another home", step: 1 }));
    assert.match(await page.textContent("#connection-text"), /^Stale since/);
    assert.equal(await page.locator(".tl-item").count(), rows, "the content stays");
    await swap(other, mine);
    await mine.hooks(turn("here", mine.project("shop"), Date.now(), { prompt: "At home again", step: 1 }));
    await page.waitForSelector("text=At home again", { timeout: 15_000 });
    assert.equal(await page.getByText("Of another home").count(), 0);
    assert.equal(await page.locator("#banner-connection").count(), 0);
    assert.deepEqual(page.errors, []);
    await context.close();
    for (const one of [mine, other]) await one.close();
  });
}

test("main paths work with the keyboard alone", async () => {
  const page = await openPage(home);
  await page.waitForSelector(".tl-item");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.waitForSelector(".s-item");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".turn summary");
  await until("the keys reach an action", async () => {
    await page.keyboard.press("j");
    const place = await page.evaluate(() => {
      const { activeElement: row } = document;
      return row.matches(".act") ? "action" : row.parentElement.open === false ? "closed" : "open";
    });
    if (place === "closed") await page.keyboard.press("Enter");
    return place === "action";
  });
  await page.keyboard.press("Enter");
  await page.waitForSelector(".act-whole .record-text");
  const tabTo = async (text) => {
    for (let step = 0; step < 80; step += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((name) => document.activeElement.textContent === name, text)) return;
    }
    assert.fail(`no way to ${text} with the keyboard`);
  };
  await page.focus("#title");
  await tabTo("Rename");
  await page.keyboard.press("Enter");
  await page.keyboard.type("By keyboard");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("title").textContent === "By keyboard");
  await tabTo("Delete");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open]");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Cancel");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.querySelector("dialog"));
  assert.equal(await page.textContent("#title"), "By keyboard");
  await page.finish();
});

// @page_survives_the_daemon
test("a view that is opened while the daemon is gone says so below the banner, and opens when it is back", async () => {
  const other = await Home.open();
  await seed(other);
  const page = await openPage(other, { allow: DOWN });
  await page.waitForSelector(".is-live");
  // A view that this page has read before, and one that it has not.
  await page.click("nav a.nav-link[href*='view=sessions']");
  await page.waitForSelector(".s-item");
  await page.click("nav a.nav-link[href='/']");
  await page.waitForSelector(".tl-item");
  await other.stop("SIGKILL");
  await page.waitForSelector("#banner-connection >> text=Stale since");
  for (const [view, row] of [
    ["sessions", ".s-item"],
    ["stats", ".plot"],
  ]) {
    await page.click(`nav a.nav-link[href*='view=${view}']`);
    await page.waitForSelector("#main >> text=The daemon does not respond");
    assert.equal(await page.locator(`#main ${row}`).count(), 0);
    assert.ok(await page.isVisible("#banner-connection"), view);
    assert.match(await page.innerText("#main"), /when (it|the daemon) is back/);
  }
  await page.goBack();
  await page.waitForFunction(() => location.search.includes("view=sessions"));
  await page.waitForSelector("#main >> text=The daemon does not respond");
  assert.ok(await page.isVisible("#banner-connection"));
  await other.start();
  await page.waitForSelector(".s-item", { timeout: 15_000 });
  await page.waitForFunction(() => !document.getElementById("banner-connection"));
  await page.finish();
  await other.close();
});

// @page_survives_the_daemon
test("a daemon at another port leaves the page stale, and a new link works", async () => {
  const other = await Home.open();
  const first = other.port;
  await seed(other);
  const context = await newContext();
  const page = await openPage(other, { context, allow: DOWN });
  await page.waitForSelector(".is-live");
  await other.stop();
  other.port = undefined;
  await other.start();
  assert.notEqual(other.port, first);
  await page.waitForSelector("#banner-connection >> text=rekindle web");
  const again = await openPage(other, { context: await newContext() });
  await again.waitForSelector(".tl-item");
  await again.context().close();
  // The sign-in at the other port does not replace that of the first one.
  context.signedIn.delete(other);
  const here = await openPage(other, { context });
  await here.waitForSelector(".tl-item");
  await here.close();
  await other.stop();
  await other.start(first);
  await page.reload();
  await page.waitForSelector(".tl-item");
  await context.close();
  assert.deepEqual([...page.errors, ...again.errors], []);
  await other.close();
});

// @page_asks_to_sign_in
test("a browser that was forgotten says how to sign in, and recovers with a new link", async () => {
  const context = await newContext();
  const page = await openPage(home, { context, allow: [/401/, /WebSocket connection/, ...DOWN] });
  await page.waitForSelector(".tl-item");
  await home.run("web", "--forget");
  // Nothing is clicked: the daemon closes the connection.
  await page.waitForSelector("#banner-connection >> text=not signed in");
  await home.hooks(turn(sessions[5].session, sessions[5].cwd, Date.now(), { prompt: "After the end", step: 1 }));
  const text = await page.textContent("#main");
  assert.match(text, /To sign in again, run rekindle web --open in a terminal/);
  for (const { prompt } of [...sessions, { prompt: "After the end" }]) assert.ok(!text.includes(prompt), prompt);
  assert.equal(await page.locator("#filter-project").count(), 0, "no name of a project is left");
  assert.ok(!/^\(\d/.test(await page.title()), await page.title());
  await page.click("nav a.nav-link[href*='view=sessions']");
  context.signedIn.clear();
  const fresh = await openPage(home, { context });
  await fresh.waitForSelector(".tl-item");
  await page.bringToFront();
  await page.waitForFunction(() => !document.getElementById("banner-connection"), null, { timeout: 15_000 });
  assert.deepEqual([...page.errors, ...fresh.errors], []);
  await context.close();
});

// @page_asks_to_sign_in
test("a browser without a cookie shows no data and says how to get a link", async () => {
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${home.port}/?session=${sessions[0].session}`);
  await page.waitForSelector("text=rekindle web");
  const text = await page.textContent("body");
  for (const { prompt } of sessions) assert.ok(!text.includes(prompt));
  await screenshot(page, "closed-1280-light");
  await context.close();
});

test("ten tabs work at once", async () => {
  const context = await newContext();
  const pages = [];
  for (let tab = 0; tab < 10; tab += 1) pages.push(await openPage(home, { context }));
  const { session, cwd } = sessions[5];
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "Seen in ten tabs", step: 1 }));
  for (const page of pages) await page.waitForSelector("text=Seen in ten tabs");
  for (const page of pages) assert.deepEqual(page.errors, []);
  await context.close();
});

// @page_keys
test("keys move through rows, open them, and can be turned off", async () => {
  const page = await openPage(home);
  await page.waitForSelector(".tl-item");
  await page.keyboard.press("j");
  const focused = () => page.evaluate(() => document.activeElement.closest(".tl-item")?.textContent ?? "");
  const first = await focused();
  assert.ok(first);
  await page.keyboard.press("j");
  const second = await focused();
  assert.notEqual(second, first);
  await page.keyboard.press("k");
  assert.equal(await focused(), first);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".tl-item.is-open .record-text");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector(".tl-item.is-open"));
  for (let step = 0; step < 60; step += 1) await page.keyboard.press("j");
  const box = await page.evaluate(() => {
    const { top, bottom } = document.activeElement.getBoundingClientRect();
    return { top, bottom, height: innerHeight };
  });
  assert.ok(box.top >= 0 && box.bottom <= box.height, JSON.stringify(box));
  await page.keyboard.press("/");
  await page.waitForFunction(() => document.activeElement?.type === "search");
  await page.keyboard.type("gsj?");
  assert.equal(await page.evaluate(() => document.activeElement.value), "gsj?");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open] >> text=Keyboard shortcuts");
  await screenshot(page, "help-1280-light");
  await page.uncheck("#keys-on");
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.keyboard.press("?");
  assert.equal(await page.locator("dialog[open]").count(), 0);
  assert.equal(await page.textContent("#title"), "Search");
  await page.click("#help");
  await page.check("#keys-on");
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.waitForFunction(() => document.getElementById("title").textContent === "Sessions");
  await page.finish();
});

// @page_theme
test("the theme follows the system until one is chosen, and is remembered", async () => {
  const context = await newContext({ scheme: "dark" });
  const page = await openPage(home, { context });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await paper();
  await page.selectOption("#theme", "light");
  const light = await paper();
  assert.notEqual(light, dark);
  await page.reload();
  await page.settled();
  assert.equal(await paper(), light);
  await page.selectOption("#theme", "dark");
  assert.equal(await paper(), dark);
  await page.selectOption("#theme", "system");
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await paper(), light);
  assert.deepEqual(page.errors, []);
  await context.close();
});

// @page_pause
test("a pause is shown on every view at once, in the time of the reader, until it is ended", async () => {
  const context = await newContext({ timezoneId: "Asia/Tokyo" });
  const page = await openPage(home, { context });
  await page.waitForSelector(".is-live");
  await home.run("pause", "30m");
  const banner = page.locator("#banner-pause");
  // Sooner than the page asks by itself.
  await banner.waitFor({ timeout: 8000 });
  const [pause] = (await home.call("status", {})).pauses;
  const shown = new Intl.DateTimeFormat("en", { timeStyle: "short", hourCycle: "h23", timeZone: "Asia/Tokyo" });
  const text = await banner.innerText();
  assert.ok(text.includes(shown.format(pause.ends_at * 1000)), text);
  assert.match(text, /^Recording is paused everywhere until .*\. Change this$/);
  await page.click("nav a.nav-link[href*='view=receipts']");
  assert.equal(await banner.count(), 1);
  await home.run("pause", "off");
  await banner.waitFor({ state: "detached", timeout: 8000 });
  await page.finish();
  await context.close();
});

// @page_days
test("days are typed, and count when they are complete", async () => {
  const page = await openPage(home);
  await page.selectOption("#filter-time", "days");
  await page.waitForSelector("#filter-from");
  const query = () => new URL(page.url()).searchParams;
  const before = query().get("from");
  await page.focus("#filter-from");
  await page.keyboard.type("11052025", { delay: 20 });
  assert.equal(await page.inputValue("#filter-from"), "2025-11-05");
  assert.equal(await page.evaluate(() => document.activeElement.id), "filter-from");
  assert.equal(query().get("from"), before, "not while it is typed");
  await page.keyboard.press("Enter");
  await until("Enter applies it", () => query().get("from") === "2025-11-05");
  assert.equal(await page.evaluate(() => document.activeElement.id), "filter-from", "the focus stays");
  await page.focus("#filter-to");
  await page.keyboard.type("11012025", { delay: 20 });
  await page.focus("#filter-project");
  await until("leaving the field applies it", () => query().get("to") === "2025-11-01");
  assert.equal(await page.evaluate(() => document.activeElement.id), "filter-project");
  await page.waitForSelector("#banner-filter >> text=The last day is before the first one");
  await page.fill("#filter-to", "2025-11-30");
  await until("a day of the calendar applies at once", () => query().get("to") === "2025-11-30");
  await page.waitForFunction(() => !document.getElementById("banner-filter"));
  await page.open("/?view=stats&from=zzz");
  await page.waitForSelector("#banner-filter >> text=“zzz” is no time");
  await page.finish();
});

test("a browser clock that is off by a day changes no age", async () => {
  const page = await openPage(home, { path: "/?view=sessions", clock: new Date(Date.now() - 86_400_000) });
  await page.waitForSelector(".s-item");
  const ages = await page.locator(".s-item time").allTextContents();
  assert.ok(
    ages.some((age) => /^(just now|\d+ (min|h) ago)$/.test(age)),
    ages.join(", "),
  );
  await page.finish();
});

// @page_hostile_text
test("hostile text in the address becomes no element, request or dialog", async () => {
  const page = await openPage(home);
  for (const text of HOSTILE) {
    for (const address of [
      { view: text },
      { session: text },
      { view: "record", path: text },
      { view: "file", path: text },
      { project: text },
      { from: text, to: text },
      { view: "sessions", q: text },
      { session: text, view: text, [text]: text },
    ]) {
      const query = Object.entries(address)
        .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
        .join("&");
      // As going back to such an address, without loading the page again.
      await page.evaluate((to) => {
        history.pushState(null, "", to);
        dispatchEvent(new PopStateEvent("popstate", { state: null }));
      }, `/?${query}`);
      await page.settled();
    }
  }
  assert.equal(await page.locator("#main img, #main script").count(), 0);
  assert.doesNotMatch(await page.title(), /owned/);
  await page.finish();
});

test("the frame fits from 360 px up in both schemes", async () => {
  for (const [width, scheme] of [
    [360, "light"],
    [360, "dark"],
    [1280, "light"],
    [1280, "dark"],
  ]) {
    const page = await openPage(home, { width, height: width < 500 ? 740 : 900, scheme });
    await page.waitForSelector(".tl-item");
    await screenshot(page, `timeline-${width}-${scheme}`);
    assert.deepEqual(await badBoxes(page), []);
    if (width === 360) {
      await page.click("#menu");
      await page.waitForSelector("nav a.nav-link[href*='view=health']");
      await screenshot(page, `menu-${width}-${scheme}`);
      assert.deepEqual(await badBoxes(page), []);
      await page.click("nav a.nav-link[href*='view=sessions']");
      await page.waitForSelector(".s-item");
      assert.equal(await page.getAttribute("#menu", "aria-expanded"), "false");
    }
    await page.finish();
  }
});

// @page_does_not_grow
test("views can be switched 200 times without growing", async () => {
  const page = await openPage(home);
  await page.waitForSelector(".tl-item");
  const heap = async () =>
    page.evaluate(async () => {
      for (let round = 0; round < 3; round += 1) {
        gc();
        await new Promise((done) => setTimeout(done, 30));
      }
      return performance.memory.usedJSHeapSize;
    });
  const visit = async (times) => {
    for (let round = 0; round < times; round += 1) {
      for (const view of ["sessions", null]) {
        await page.evaluate(
          (name) => document.querySelector(name ? `nav a.nav-link[href*='view=${name}']` : "nav a.nav-link").click(),
          view,
        );
        // A handle of an element would keep its view alive.
        await page
          .locator(view ? ".s-item" : ".tl-item")
          .first()
          .waitFor();
      }
    }
  };
  await visit(20);
  const start = await heap();
  await visit(100);
  const end = await heap();
  assert.ok(end <= start * 1.2, `${start} bytes became ${end}`);
  await page.finish();
});
