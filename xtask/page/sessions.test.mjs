// The list of sessions and one session: search, states, editing, undo, deletion.

import assert from "node:assert/strict";
import path from "node:path";
import fs from "node:fs";
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

const open = (session) => `/?session=${encodeURIComponent(session)}`;
const meta = async (session) => (await home.call("get_session", { session_id: session })).meta;

// @page_sessions
test("the list has unseen sessions first, and is filtered by state, project, words and time", async () => {
  await home.call("observe_session", { session_id: sessions[5].session });
  const page = await openPage(home, { path: "/?view=sessions" });
  await page.waitForSelector(".s-item");
  const rows = await page.locator(".s-item").allTextContents();
  assert.equal(rows.length, 7);
  assert.match(rows.at(-1), /Add coupons to the cart/, "the one that was seen comes last");
  assert.equal(await page.locator(".s-item.is-unseen").count(), 6);
  await screenshot(page, "sessions-1280-light");
  assert.deepEqual(await badBoxes(page), []);
  await page.click("text=Idle");
  await page.waitForFunction(() => document.querySelectorAll(".s-item").length === 1);
  assert.match(await page.textContent(".s-item"), /The importer drops/);
  await page.click("text=Ended");
  await page.waitForFunction(() => document.querySelectorAll(".s-item").length === 6);
  await page.click("button:has-text('Not seen')");
  await page.waitForFunction(
    () => document.querySelectorAll(".s-item").length === 6 && !document.querySelector(".s-item:not(.is-unseen)"),
  );
  await page.click("text=All >> nth=-1");
  await page.fill("#sessions-query", "swtzrlnd");
  await page.waitForFunction(() => document.querySelectorAll(".s-item").length === 1);
  assert.match(await page.textContent(".s-item"), /Taxes for Switzerland/);
  assert.match(page.url(), /q=swtzrlnd/);
  await page.fill("#sessions-query", "");
  await page.waitForFunction(() => document.querySelectorAll(".s-item").length === 7);
  await page.check("#sessions-group");
  await page.waitForFunction(() => document.querySelectorAll(".s-head").length >= 2);
  await page.finish();
});

test("a session is marked as seen in the list, and by opening it", async () => {
  const page = await openPage(home, { path: "/?view=sessions" });
  await page.waitForSelector(".s-item.is-unseen");
  const before = await page.locator(".s-item.is-unseen").count();
  await page.click(".is-unseen >> text=Seen >> nth=0");
  await page.waitForFunction((count) => document.querySelectorAll(".is-unseen").length === count - 1, before);
  await page.click(".is-unseen .s-main >> nth=0");
  await page.waitForSelector(".turn");
  await page.goBack();
  await page.waitForFunction((count) => document.querySelectorAll(".is-unseen").length === count - 2, before);
  await page.finish();
});

// @page_sessions
test("a session shows each prompt with its actions and its answer, and more beside them", async () => {
  const { session } = sessions[6];
  const page = await openPage(home, { path: open(session) });
  await page.waitForSelector(".turn");
  const turns = await page.locator(".turn").allTextContents();
  assert.equal(turns.length, 2);
  assert.match(turns[0], /Now write the changelog.*3 actions.*Read CHANGELOG\.md.*Answer.*The changelog has a line/s);
  assert.match(turns[1], /The importer drops.*8 actions.*1 failed.*Fixed\. The parser/s);
  await page.click(".turn >> nth=1 >> summary");
  await page.waitForSelector(".turn >> nth=1 >> text=cargo test import >> nth=0");
  await page.click(".turn .act.tl-failed");
  await page.waitForSelector(".record-error");
  assert.match(await page.textContent(".record-error"), /keeps_last_row/);
  const aside = await page.textContent(".ses-aside");
  assert.match(aside, /Summary.*Outcome.*The changelog has a line/s);
  assert.match(aside, /csv\.rs.*changed 3×/s);
  assert.match(aside, /Injected text.*tokens/s);
  await page.click(".receipts summary >> nth=0");
  await page.waitForSelector(".receipts .entry-link");
  await page.evaluate(() => scrollTo(0, 0));
  await screenshot(page, "session-1280-light");
  assert.deepEqual(await badBoxes(page), []);
  await page.finish();
});

test("a name is changed, undone, and shown in the list", async () => {
  const { session } = sessions[0];
  const page = await openPage(home, { path: open(session) });
  await page.click("text=Rename");
  await page.fill("#ask-text", "Cart rounding");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("title").textContent === "Cart rounding");
  assert.equal((await meta(session)).name, "Cart rounding");
  await page.click(".toast >> text=Undo");
  await until("the name is gone", async () => (await meta(session)).name === "");
  await page.click("text=Rename");
  await page.fill("#ask-text", "Not this");
  await page.keyboard.press("Escape");
  assert.equal((await meta(session)).name, "");
  await page.finish();
});

test("sets and the environment hint are edited with undo, and files are suggested", async () => {
  const { session, cwd } = sessions[5];
  fs.mkdirSync(path.join(cwd, "src"), { recursive: true });
  fs.writeFileSync(path.join(cwd, "src/cart.rs"), "x");
  const page = await openPage(home, { path: open(session) });
  await page.fill("[data-set=ports]", "3000");
  await page.keyboard.press("Enter");
  await until("the port is stored", async () => JSON.stringify((await meta(session)).context.ports) === '["3000"]');
  await page.waitForSelector(".set-items >> text=3000");
  await page.click("[aria-label='Remove 3000']");
  await until("the port is removed", async () => (await meta(session)).context.ports === undefined);
  await page.click(".toast:has-text('Removed from ports') >> text=Undo");
  await until("the port is back", async () => JSON.stringify((await meta(session)).context.ports) === '["3000"]');
  await page.click("text=Suggest files");
  await page.click("dialog >> text=Add >> nth=0");
  await until("the file is declared", async () => (await meta(session)).context.files?.length === 1);
  await page.keyboard.press("Escape");
  await page.waitForSelector("#contextFooter.has-context >> text=cart.rs");
  await page.click("text=Add a set");
  await page.fill("#ask-text", "endpoints");
  await page.keyboard.press("Enter");
  await page.waitForSelector("text=First item");
  await page.fill("#ask-text", "GET /cart");
  await page.keyboard.press("Enter");
  await until(
    "the set is stored",
    async () => JSON.stringify((await meta(session)).context.endpoints) === '["GET /cart"]',
  );
  await page.click(".set:has-text('Environment hint') >> text=Add");
  await page.fill("#ask-text", "source .env");
  await page.click("dialog >> text=Save");
  await until("the hint is stored", async () => (await meta(session)).envHint === "source .env");
  await page.click(".toast:has-text('environment hint') >> text=Undo");
  await until("the hint is removed", async () => !(await meta(session)).envHint);
  await page.finish();
});

test("a refusal of the daemon is shown and changes nothing", async () => {
  const { session } = sessions[5];
  const page = await openPage(home, { path: open(session) });
  await page.fill("[data-set=endpoints]", "AKIAIOSFODNN7EXAMPLE");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".toast");
  assert.ok(!JSON.stringify((await meta(session)).context).includes("AKIA"));
  await page.finish();
});

test("pin, mark, resume block and handoff", async () => {
  const { session } = sessions[6];
  const page = await openPage(home, { path: open(session) });
  await page.waitForSelector(".turn");
  await page.click("text=Copy resume block");
  await page.waitForSelector(".toast >> text=Resume block copied");
  const resume = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(resume, /SESSION RESUMED/);
  await page.click("text=Copy handoff");
  await page.waitForSelector(".toast >> text=Handoff copied");
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /importer/);
  await page.click("text=Add a mark");
  await page.fill("#ask-text", "The end of the file counts as a line break");
  await page.click("dialog >> text=Save");
  await page.click(".toast >> text=Show");
  await page.waitForFunction(() => document.querySelector("#main").textContent.includes("The end of the file counts"));
  await page.goBack();
  await page.waitForSelector(".turn");
  const isPinned = async () => (await home.call("get", { path: `session://${session}` })).entry.attributes.is_pinned;
  await page.click(".ses-head >> text=Pin");
  await until("it is pinned", isPinned);
  await page.waitForSelector(".ses-head >> text=Unpin");
  await page.click(".toast:has-text('Pinned') >> text=Undo");
  await until("it is not pinned", async () => !(await isPinned()));
  await page.finish();
});

test("a session is live: a turn in progress appears, and a new idle turn counts as seen", async () => {
  const { session, cwd } = sessions[6];
  const page = await openPage(home, { path: open(session) });
  await page.waitForSelector(".is-live");
  await home.hooks(
    turn(session, cwd, Date.now(), { prompt: "And now live", actions: [["run", "make live"]], step: 5 }),
  );
  await page.waitForSelector(".turn >> text=And now live");
  await page.waitForSelector(".turn >> text=make live");
  await home.hooks(turn(session, cwd, Date.now(), { answer: "Live answer.", step: 5 }));
  await page.waitForSelector(".turn >> text=Live answer.");
  // A control keeps the focus while the view is drawn again.
  await page.focus(".ses-head >> text=Copy handoff");
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "One more", step: 5 }));
  await page.waitForSelector(".turn >> text=One more");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Copy handoff");
  await until("it is seen", async () => !(await meta(session)).isUnobserved);
  await page.finish();
});

test("a session with thousands of actions shows its last turn, live", async () => {
  const session = "very-long";
  const cwd = home.project("shop");
  const at = Date.now() - 100_000;
  const many = (name, count) => Array.from({ length: count }, (_, index) => ["run", `echo ${name} ${index}`]);
  await home.hooks([
    ...turn(session, cwd, at, { prompt: "The first long task", actions: many("first", 3500), answer: "One.", step: 1 }),
    ...turn(session, cwd, at + 10_000, { prompt: "The second long task", actions: many("second", 3500), step: 1 }),
  ]);
  const page = await openPage(home, { path: open(session) });
  await page.waitForSelector(".turn");
  const turns = await page.locator(".turn").allTextContents();
  assert.equal(turns.length, 2);
  assert.match(turns[0], /The second long task.*3,500 actions/s);
  assert.match(turns[1], /The first long task.*3,500 actions/s);
  assert.ok((await page.evaluate(() => document.querySelectorAll(".act").length)) <= 300);
  await home.hooks(
    turn(session, cwd, Date.now(), { prompt: "A third task", actions: [["run", "echo third"]], step: 1 }),
  );
  await page.waitForSelector(".turn >> text=echo third");
  assert.equal(await page.locator(".turn").count(), 3);
  assert.match(await page.locator(".turn").nth(1).textContent(), /3,500 actions/);
  await page.finish();
});

// @page_sessions
test("a deletion asks with the numbers, and other tabs notice it", async () => {
  const session = "delete-me";
  const cwd = home.project("shop");
  await home.hooks(
    turn(session, cwd, Date.now() - 9000, { prompt: "Delete this", actions: [["run", "ls"]], answer: "Ok.", step: 5 }),
  );
  const context = await newContext();
  const page = await openPage(home, { context, path: open(session) });
  const other = await openPage(home, { context, path: open(session) });
  await other.waitForSelector(".turn");
  await page.bringToFront();
  await page.click(".ses-head .button-danger");
  await page.waitForSelector("dialog >> text=1 prompt, 1 answer and 1 observation");
  await screenshot(page, "session-delete-1280-light");
  await page.click("dialog >> text=Cancel");
  assert.equal((await meta(session)).name, "");
  await page.click(".ses-head .button-danger");
  await page.click("dialog .button-danger");
  await page.waitForFunction(() => document.getElementById("title").textContent === "Sessions");
  await other.waitForSelector("text=This session was deleted");
  await assert.rejects(meta(session), /not found/i);
  assert.deepEqual([...page.errors, ...other.errors], []);
  await context.close();
});

test("the first characters of an id lead to the session", async () => {
  const page = await openPage(home);
  await page.open("/?session=77777777");
  await page.waitForSelector(".turn");
  assert.match(page.url(), /session=77777777-aaaa/);
  await page.finish();
});

// @page_hostile_text
test("hostile names, prompts, sets and hints are shown as text", async () => {
  const session = `h"><img src=x onerror=alert(1)>`;
  const cwd = home.project("hostile");
  await home.hooks([
    ...HOSTILE.flatMap((text) =>
      turn(session, cwd, Date.now(), {
        prompt: `${text} p`,
        answer: `${text} a`,
        step: 1,
        actions: [
          ["run", text],
          ["fail", text, text],
        ],
      }),
    ),
    ...turn(session, cwd, Date.now(), { prompt: "w".repeat(1_000_000), step: 1 }),
  ]);
  await home.call("update_session", {
    session_id: session,
    name: HOSTILE[0],
    env_hint: HOSTILE[1],
    context: {
      [HOSTILE[0]]: HOSTILE,
      files: [path.join(cwd, HOSTILE[3])],
      ports: ["z".repeat(1024)],
    },
  });
  for (const width of [1280, 360]) {
    const page = await openPage(home, { path: open(session), width, height: 800 });
    await page.waitForSelector(".turn");
    for (const summary of await page.locator("#main summary").all()) await summary.click();
    await page.waitForTimeout(200);
    assert.equal(await page.locator("#main img, #main script, #main iframe").count(), 0);
    await screenshot(page, `session-hostile-${width}-light`);
    assert.doesNotMatch(await page.textContent("body"), /[\u202a-\u202e\u2066-\u2069\u0000]/);
    await page
      .click("nav a.nav-link[href*='view=sessions']", { force: true })
      .catch(() => page.open("/?view=sessions"));
    await page.waitForSelector(".s-item");
    await screenshot(page, `sessions-hostile-${width}-light`);
    assert.doesNotMatch(await page.title(), /owned/);
    await page.finish();
  }
});

test("the list has few rows in the document for thousands of sessions", { timeout: 120_000 }, async () => {
  const other = await Home.open();
  const cwd = other.project("many");
  const events = [];
  for (let at = 0; at < 3000; at += 1) {
    events.push({
      event: "UserPromptSubmit",
      at: Date.now() - at * 60_000,
      payload: { session_id: `many-${at}`, cwd, prompt: `Task ${at}` },
    });
  }
  await other.hooks(events);
  const page = await openPage(other, { path: "/?view=sessions" });
  await page.waitForSelector(".s-item");
  const most = await page.evaluate(async () => {
    let rows = 0;
    for (let step = 0; step < 1500 && !document.querySelector(".s-list").textContent.includes("Task 2999"); step += 1) {
      scrollTo(0, document.documentElement.scrollHeight);
      await new Promise((done) => requestAnimationFrame(done));
      rows = Math.max(rows, document.querySelectorAll(".s-list > *").length);
    }
    return document.querySelector(".s-list").textContent.includes("Task 2999") ? rows : -1;
  });
  assert.ok(most > 0 && most <= 300, `${most} rows`);
  await page.finish();
  await other.close();
});
