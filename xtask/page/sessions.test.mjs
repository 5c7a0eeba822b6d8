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
  await page.waitForFunction(() => document.querySelectorAll(".s-head").length === 3);
  const grouped = await page.locator(".s-list > *").evaluateAll((rows) => {
    const found = [];
    for (const row of rows) {
      if (row.matches(".s-head")) found.push([row.textContent]);
      else found.at(-1).push(`${row.querySelector(".s-project").textContent} ${row.matches(".is-unseen") ? "new" : "seen"}`);
    }
    return found;
  });
  // The sessions of a project are together, whether or not they were seen.
  assert.deepEqual(grouped, [
    ["shop", "shop new", "shop new", "shop new", "shop seen"],
    ["site", "site new", "site new"],
    ["infra", "infra new"],
  ]);
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

test("all unseen sessions of the filtered list are marked as seen after a question with their number", async () => {
  const cwd = home.project("notes");
  const turns = (session) => turn(session, cwd, Date.now(), { prompt: `In ${session}`, answer: "Done.", step: 1 });
  await home.hooks([...turns("notes-1"), ...turns("notes-2")]);
  const unseen = async () => (await home.call("sessions_overview", { project: "*", limit: 1 })).unobservedCount;
  const before = await unseen();
  assert.ok(before > 2);
  const page = await openPage(home, { path: "/?view=sessions&project=notes" });
  await page.waitForFunction(() => document.querySelectorAll(".is-unseen").length === 2);
  await page.click("text=Mark all as seen");
  await page.getByRole("heading", { name: "Mark 2 sessions as seen?" }).waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await unseen(), before);
  await page.click("text=Mark all as seen");
  await page.click("dialog >> text=Mark as seen >> nth=-1");
  await page.waitForSelector(".toast >> text=Marked 2 sessions as seen.");
  await page.waitForFunction(() => document.querySelectorAll(".is-unseen").length === 0);
  assert.equal(await unseen(), before - 2);
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
  await page.waitForSelector(".receipts details[open] li");
  await page.evaluate(() => scrollTo(0, 0));
  await screenshot(page, "session-1280-light");
  assert.deepEqual(await badBoxes(page), []);
  await page.finish();
});

// @page_hostile_text
test("the title of the window shows controls of the reading direction as text", async () => {
  const { session } = sessions[1];
  await home.call("update_session", { session_id: session, name: "\u202egnp.exe" });
  const page = await openPage(home, { path: open(session) });
  await page.waitForFunction(() => document.title.includes("gnp.exe"));
  assert.match(await page.title(), /⟨U\+202E⟩gnp\.exe/);
  await home.call("update_session", { session_id: session, name: "" });
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

// @page_sessions
test("Undo of a new name leaves the name that an agent gave meanwhile", async () => {
  const { session } = sessions[0];
  const page = await openPage(home, { path: open(session) });
  await page.click("text=Rename");
  await page.fill("#ask-text", "By hand");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("title").textContent === "By hand");
  await home.call("update_session", { session_id: session, name: "By an agent" });
  await page.click(".toast >> text=Undo");
  await page.waitForSelector("text=The session was renamed meanwhile");
  assert.equal((await meta(session)).name, "By an agent");
  await home.call("update_session", { session_id: session, name: "" });
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

// @page_context_items
test("a session that used no file says so when files are suggested", async () => {
  const cwd = home.project("talk");
  await home.hooks(turn("talk-only", cwd, Date.now(), { prompt: "Only a question", answer: "Only an answer.", step: 1 }));
  const page = await openPage(home, { path: open("talk-only") });
  await page.click("text=Suggest files");
  await page.waitForSelector("dialog >> text=Nothing to suggest: the session used no file that still exists.");
  await page.finish();
});

// @page_tells_apart
test("the start and the end of a session are named once", async () => {
  const cwd = home.project("reasons");
  const session = "reasons-1";
  const at = Date.now() - 5000;
  await home.hook("SessionStart", { session_id: session, cwd, source: "startup" }, { at });
  await home.hooks(turn(session, cwd, at + 100, { actions: [["run", "make before", "ok"]], step: 1 }));
  await home.hook("SessionEnd", { session_id: session, cwd, reason: "logout" }, { at: at + 1000 });
  const page = await openPage(home, { path: open(session) });
  const row = (text) => page.locator("button.act", { hasText: text });
  await row("make before").waitFor();
  for (const label of ["Session started", "Session ended"])
    assert.equal((await row(label).locator(".cut").innerText()).trim(), label);
  await page.finish();
});

// @page_accessible
test("the path of a file and the aliases of a project are whole at 360 pixels", async () => {
  const long = "/srv/" + "a-directory-with-a-long-name/".repeat(4) + "x".repeat(90) + ".rs";
  const page = await openPage(home, { path: `/?view=file&path=${encodeURIComponent(long)}`, width: 360 });
  const shown = await page.locator(".file-path").evaluate((element) => {
    const box = element.getBoundingClientRect();
    return { text: element.textContent, width: box.width, cut: element.scrollWidth - element.clientWidth, right: box.right };
  });
  assert.equal(shown.text.replaceAll("\u200b", ""), long);
  assert.ok(shown.width > 250 && shown.cut <= 0 && shown.right <= 360, JSON.stringify(shown));
  assert.deepEqual(await badBoxes(page), []);
  const { projects } = await home.call("list_projects", { counts: false });
  await home.call("alias_project", { project: projects[0].path, alias: long });
  await page.open("/?view=projects");
  for (const summary of await page.locator("#main details > summary").all()) await summary.click();
  const alias = page.locator("li code", { hasText: "a-directory-with" });
  const card = await page.locator("#main .hits > li", { has: alias }).boundingBox();
  const box = await alias.boundingBox();
  assert.ok(box.x >= card.x && box.x + box.width <= card.x + card.width, JSON.stringify({ box, card }));
  assert.equal(await alias.evaluate((element) => element.scrollWidth - element.clientWidth), 0);
  assert.deepEqual(await badBoxes(page), []);
  await page.finish();
});

test("an edit of a set keeps what the agent adds meanwhile, and so does its Undo", async () => {
  const session = "context-edits";
  const cwd = home.project("shop");
  const merge = (setName, items) => home.call("set_relevant_context", { session_id: session, setName, items, mode: "merge" });
  const files = async () => (await meta(session)).context.files?.map((file) => path.basename(file)).join() ?? "";
  await home.hook("SessionStart", { session_id: session, cwd, source: "startup" });
  await merge("files", [path.join(cwd, "a.md")]);
  const page = await openPage(home, { path: open(session) });
  await page.fill("[data-set=files]", "mine.md");
  await merge("files", ["agent1.md", "agent2.md"].map((name) => path.join(cwd, name)));
  await page.waitForSelector(".set-items >> text=agent2.md");
  assert.equal(await page.inputValue("[data-set=files]"), "mine.md", "typed text stays");
  await page.press("[data-set=files]", "Enter");
  await until("added", async () => (await files()) === "a.md,agent1.md,agent2.md,mine.md");
  await merge("files", [path.join(cwd, "agent3.md")]);
  await page.click(".toast:has-text('Added to files') >> text=Undo");
  await until("removed again", async () => (await files()) === "a.md,agent1.md,agent2.md,agent3.md");
  await page.click(`[aria-label='Remove ${path.join(cwd, "a.md")}']`);
  await until("removed", async () => (await files()) === "agent1.md,agent2.md,agent3.md");
  await merge("ports", ["8080"]);
  await merge("files", [path.join(cwd, "agent4.md")]);
  await page.click(".toast:has-text('Removed from files') >> text=Undo");
  await until("it is back", async () => (await files()) === "agent1.md,agent2.md,agent3.md,agent4.md,a.md");
  await page.click(`[aria-label='Remove ${path.join(cwd, "agent2.md")}']`);
  await until("removed once more", async () => (await files()) === "agent1.md,agent3.md,agent4.md,a.md");
  await page.locator(".toast", { hasText: "Removed from files" }).last().getByRole("button", { name: "Undo" }).click();
  await until("in its place", async () => (await files()) === "agent1.md,agent2.md,agent3.md,agent4.md,a.md");
  assert.deepEqual((await meta(session)).context.ports, ["8080"]);
  await page.waitForSelector("[aria-label='Remove 8080']");
  await page.fill("[data-set=ports]", "8080");
  await page.press("[data-set=ports]", "Enter");
  const toast = page.locator(".toast", { hasText: "Nothing new in ports" });
  await toast.waitFor();
  assert.equal(await toast.getByText("Undo").count(), 0);
  await page.click("[aria-label='Clear files']");
  await until("cleared", async () => (await files()) === "");
  await page.click(".toast:has-text('Cleared files') >> text=Undo");
  await until("all are back", async () => (await files()).split(",").length === 5);
  await page.finish();
});

// @page_keeps_place
test("what is opened, typed and selected in a session stays while its agent works", async () => {
  const session = "keeps-place";
  const cwd = home.project("shop");
  const at = Date.now() - 600_000;
  const files = Array.from({ length: 20 }, (_, index) => ["edit", `src/part${index}.rs`, "x"]);
  await home.hook("SessionStart", { session_id: session, cwd, source: "startup" });
  await home.hooks(turn(session, cwd, at, { prompt: "Split the parts", actions: [...files, ["run", "cargo check"]], step: 1000 }));
  const page = await openPage(home, { path: open(session) });
  await page.locator(".act", { hasText: "cargo check" }).click();
  await page.locator(".act-whole .record", { hasText: "cargo check" }).waitFor();
  await page.click(".receipts summary >> nth=0");
  await page.click("text=Show 5 more");
  await page.fill("[data-set=ports]", "3000");
  const selected = () => page.evaluate(() => String(getSelection()));
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector(".turn-prompt")));
  assert.equal(await selected(), "Split the parts");
  await page.evaluate(() => {
    document.querySelector(".act-whole .record").dataset.same = "yes";
  });
  for (const command of ["cargo check", "cargo test later"]) {
    const count = await page.locator(".turn summary").first().textContent();
    await home.hooks(turn(session, cwd, Date.now(), { actions: [["run", command]], step: 1 }));
    await page.waitForFunction((before) => document.querySelector(".turn summary").textContent !== before, count);
  }
  await page.locator(".act", { hasText: "cargo test later" }).waitFor();
  assert.ok(await page.locator(".act-whole .record[data-same=yes]").isVisible(), "the opened action is not drawn again");
  assert.equal(await page.locator(".act", { hasText: "cargo check" }).getAttribute("aria-expanded"), "true");
  assert.ok(await page.locator(".receipts details[open]").isVisible());
  assert.equal(await page.inputValue("[data-set=ports]"), "3000");
  assert.equal(await selected(), "Split the parts");
  assert.equal(await page.locator("text=Show 5 more").count(), 0, "all files stay shown");
  await page.finish();
});

test("a session can be read at 360 pixels: prompts have the width, and paths break at their slashes", async () => {
  const session = "narrow-prompt";
  const cwd = home.project("a-project-with-a-long-name-for-a-narrow-window");
  const path = `${cwd}/crates/checkout-service/src/rounding_of_totals.rs`;
  const prompt = "The importer drops the last row of every file. Find out why, and write a test for it.";
  await home.hooks(
    turn(session, cwd, Date.now() - 50 * 60_000, { prompt, actions: [["read", path]], answer: `It is in ${path} now.`, step: 1 }),
  );
  const page = await openPage(home, { path: open(session), width: 360 });
  await page.waitForSelector(".answer-text");
  const box = (selector) => page.locator(selector).first().boundingBox();
  const [text, time] = [await box(".turn-prompt"), await box(".turn-time")];
  assert.ok(text.width > 240, `the prompt has ${text.width} px`);
  assert.ok(time.y >= text.y + text.height - 1, "the time is below the prompt");
  // The first letters of each line: a line begins a name of the path, or a word.
  const starts = await page.evaluate(() => {
    const found = [];
    for (const selector of [".ses-facts code", ".answer-text"]) {
      const texts = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
      let [top, before] = [null, " "];
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        for (let at = 0; at < text.data.length; at += 1) {
          const range = document.createRange();
          range.setStart(text, at);
          range.setEnd(text, at + 1);
          const [rect] = range.getClientRects();
          if (rect && top !== null && rect.top > top + 4) found.push(before);
          if (rect) top = rect.top;
          before = text.data[at];
        }
      }
    }
    return found;
  });
  assert.ok(starts.length >= 3, `${starts.length} line breaks`);
  assert.ok(starts.every((sign) => /[\s/-]/.test(sign)), `lines break after ${JSON.stringify(starts)}`);
  await screenshot(page, "session-360-light");
  assert.deepEqual(await badBoxes(page), []);
  await page.finish();
});

test("badges of actions are in their rows on narrow screens, too", async () => {
  const session = "narrow-badges";
  const actions = [
    ["run", "cargo test one", "test result: ok. 3 passed; 0 failed"],
    ["run", "cargo test two", "test result: ok. 3 passed; 0 failed"],
    ["fail", "cargo test three", "Exit code 101\ntest three ... FAILED"],
  ];
  await home.hooks(turn(session, home.project("shop"), Date.now() - 60_000, { prompt: "Test all", actions, step: 1 }));
  for (const width of [832, 360]) {
    const page = await openPage(home, { path: open(session), width });
    await page.locator(".act", { hasText: "cargo test two" }).getByText("passed").waitFor();
    assert.deepEqual(await badBoxes(page), []);
    await screenshot(page, `session-badges-${width}-light`);
    await page.finish();
  }
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
  await page.waitForSelector(".toast >> text=in this session");
  const marks = { project: "*", session_id: session, obs_type: "marker" };
  assert.deepEqual(
    (await home.call("activity", marks)).records.map(({ content }) => content),
    ["The end of the file counts as a line break"],
  );
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
  await page.waitForSelector("dialog >> text=1 prompt, 1 answer and 1 other record");
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

test("the first characters of an id are not the address of a session", async () => {
  const page = await openPage(home);
  await page.open("/?session=77777777");
  await page.waitForSelector("text=This session does not exist");
  await page.open(open(sessions[6].session));
  await page.waitForSelector(".turn");
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

// @page_tells_apart
test("files of one name, passed runs and parallel sessions can be told apart", async () => {
  const cwd = home.project("apart");
  const at = Date.now() - 600_000;
  const [one, two] = ["apart-one-aaaa", "apart-two-bbbb"];
  const grep = { tool_name: "Grep", tool_input: { pattern: "fn", path: `${cwd}/src` }, tool_response: { numFiles: 2 } };
  await home.hooks([
    ...turn(one, cwd, at, {
      prompt: "Move the parser",
      actions: [
        ["edit", "src/cart/mod.rs", "pub mod a;"],
        ["edit", "src/tax/mod.rs", "pub mod b;"],
        ["run", "cargo test parser", "test result: ok. 3 passed; 0 failed"],
        ["fail", "cargo test lexer", "Exit code 101\nfirst line\nsecond line"],
      ],
    }),
    { event: "PostToolUse", at: at + 200_000, payload: { session_id: one, cwd, ...grep } },
    ...turn(two, cwd, at + 1000, { prompt: "Meanwhile another one" }),
  ]);
  const page = await openPage(home, { path: "/?project=apart" });
  await page.waitForSelector("text=Meanwhile another one");
  const marks = new Set(await page.locator(".tl-mark").allTextContents());
  assert.deepEqual([...marks].sort(), ["aaaa", "bbbb"]);
  await page.open(`/?session=${one}`);
  await page.getByRole("heading", { name: "Files (2)" }).waitFor();
  for (const name of ["cart/mod.rs", "tax/mod.rs"]) assert.ok((await page.getByText(name, { exact: true }).count()) > 1, name);
  await page.locator(".act", { hasText: "cargo test parser" }).getByText("passed").waitFor();
  const failed = (await home.call("activity", { project: "apart", failed: true, limit: 1 })).records[0];
  await page.open(`/?view=record&path=${encodeURIComponent(`obs://${failed.id}`)}`);
  assert.match(await page.locator(".record-error").innerText(), /first line\nsecond line/);
  assert.ok(!(await page.textContent("#main")).includes("\\n"));
  await page.finish();
});

// @page_marks_alone
test("a mark outside of a session links to none", async () => {
  await home.call("mark", { text: "Round once, at the end", project: "shop" });
  const page = await openPage(home, { path: "/?type=marker" });
  await page.waitForSelector("text=Round once, at the end");
  assert.equal(await page.locator("a[href*='marks']").count(), 0);
  await page.open("/?view=search&q=Round%20once%20at%20the%20end");
  await page.getByText("outside of a session").first().waitFor();
  assert.equal(await page.locator("a[href*='marks']").count(), 0);
  const marked = await page.locator("#main mark").allTextContents();
  assert.ok(marked.length > 0 && !marked.some((word) => /^(at|the)$/i.test(word)), marked.join(" "));
  await page.finish();
});
