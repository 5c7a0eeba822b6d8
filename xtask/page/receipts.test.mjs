// Receipts: injected lines with reason, tokens and use; filters; entries that nobody used.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { badBoxes, closeBrowser, Home, openPage, screenshot, seed, turn, until } from "./kit.mjs";
import { foreignElements, seedHostile, seedLearned } from "./seeds.mjs";

let home;
let sessions;

before(async () => {
  home = await Home.open();
});

after(async () => {
  await closeBrowser();
  await home.close();
});

const receipts = (page) => page.locator(".receipt");
const param = (page, name) => new URL(page.url()).searchParams.get(name);

/** A session that gets a hint before its command, and uses it or runs another command. */
async function shown(session, cwd, command) {
  const event = { session_id: session, cwd };
  await home.hook("SessionStart", { ...event, source: "startup" });
  await home.hook("PreToolUse", { ...event, tool_name: "Bash", tool_input: { command: "cargo build" } });
  const tool = { tool_name: "Bash", tool_input: { command } };
  await home.hook("PostToolUse", {
    ...event,
    ...tool,
    tool_response: { stdout: "ok", stderr: "", interrupted: false },
  });
}

test("without a receipt the page says what will be listed", async () => {
  const page = await openPage(home, { path: "/?view=receipts" });
  await page.getByRole("heading", { name: "Nothing was injected yet" }).waitFor();
  await screenshot(page, "receipts-empty");
  await page.finish();
});

test("each line has its entry, reason, tokens and use", async () => {
  sessions = await seed(home);
  await seedLearned(home);
  await shown("uses-hint", home.project("shop"), "cargo build --release");
  await shown("ignores-hint", home.project("shop"), "ls");
  const page = await openPage(home, { path: "/?view=receipts" });
  await receipts(page).first().waitFor();
  const { receipts: stored } = await home.call("receipts", { limit: 50 });
  assert.equal(await receipts(page).count(), stored.length);
  const first = await receipts(page).first().innerText();
  assert.ok(first.includes(stored[0].items[0].reason) && first.includes(`${stored[0].tokens} token`), first);
  const record = page.locator(".receipt td", { has: page.getByRole("link", { name: /^obs:/ }) }).first();
  await until("the text of the record is shown", async () => (await record.innerText()).split("\n").length > 1);
  const summary = await home.call("receipts", { summary: true });
  for (const { shown: count, tokens } of summary.summary.sources) {
    const table = await page.locator(".summary-grid table").first().innerText();
    const numbers = [count, tokens].map((number) => number.toLocaleString("en"));
    assert.ok(numbers.every((number) => table.includes(number)), table);
  }
  // The use of records is recorded too: everywhere in the same words.
  const { shown: count, used } = summary.summary.sources.find(({ source }) => source === "obs");
  const row = page.locator(".summary-grid tbody tr", { hasText: "Records" }).first();
  assert.match(await row.innerText(), new RegExp(`${Math.round((used / count) * 100)} %`));
  assert.equal(await page.locator("#main").getByText("not tracked").count(), 0);
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "receipts");
  await page.locator(".receipt").getByRole("link", { name: /^obs:/ }).first().click();
  await page.getByRole("heading", { name: /^Record #/ }).waitFor();
  await page.finish();
});

test("an empty list of unused entries does not say that all were used", async () => {
  const other = await Home.open();
  const actions = [["fail", "cargo test", "Exit code 101\ntest one ... FAILED"]];
  for (const session of ["one", "two", "three"]) {
    await other.hooks(turn(session, other.project("shop"), Date.now() - 60_000, { prompt: "Test it", actions }));
  }
  const { summary } = await other.call("receipts", { summary: true });
  assert.deepEqual([summary.sources[0].shown, summary.sources[0].used, summary.ignored], [3, 0, []]);
  const page = await openPage(other, { path: "/?view=receipts" });
  await page.getByText("after five sessions in which it was shown and never used").waitFor();
  await page.finish();
  await other.close();
});

test("session, use, project and time narrow the list", async () => {
  const page = await openPage(home, { path: "/?view=receipts" });
  await receipts(page).first().waitFor();
  await page.getByLabel("Session", { exact: true }).fill("uses-hint");
  await page.keyboard.press("Enter");
  await until("one session", async () => {
    const ids = await page.locator(".receipt .meta a").allInnerTexts();
    return ids.length > 0 && ids.every((id) => "uses-hint".startsWith(id));
  });
  await page.getByLabel("Lines").selectOption("yes");
  await until("used lines only", async () => {
    const marks = await page.locator(".receipt td:last-child").allInnerTexts();
    return param(page, "used") === "yes" && marks.length > 0 && marks.every((text) => text.includes("✓ used"));
  });
  await page.getByLabel("Lines").selectOption("no");
  await until("unused lines only", async () => {
    const marks = await page.locator(".receipt td:last-child").allInnerTexts();
    return param(page, "used") === "no" && marks.every((text) => !text.includes("✓ used"));
  });
  await page.open("/?view=receipts&project=site");
  await receipts(page).first().waitFor();
  const of = sessions.filter((one) => one.project === "site").map((one) => one.session);
  for (const id of await page.locator(".receipt .meta a").allInnerTexts()) {
    assert.ok(
      of.some((session) => session.startsWith(id)),
      id,
    );
  }
  await page.open("/?view=receipts&from=2020-01-01&to=2020-01-02");
  await page.getByRole("heading", { name: "No receipt matches the filters" }).waitFor();
  await page.open("/?view=receipts&session_id=no-such-session");
  await page.locator(".empty, .error").first().waitFor();
  await page.finish();
});

test("older receipts are added below, each once", async () => {
  for (let index = 0; index < 40; index += 1) await shown(`many-${index}`, home.project("shop"), "ls");
  const page = await openPage(home, { path: "/?view=receipts" });
  await receipts(page).first().waitFor();
  const before = await receipts(page).count();
  const lines = () => page.locator(".receipt tbody tr").count();
  const first = await lines();
  await page.getByRole("button", { name: "Show older" }).click();
  await until("older ones", async () => (await receipts(page).count()) > before);
  while (await page.getByRole("button", { name: "Show older" }).isVisible()) {
    const count = await lines();
    await page.getByRole("button", { name: "Show older" }).click();
    await until(
      "more lines",
      async () => (await lines()) > count || page.getByRole("button", { name: "Show older" }).isHidden(),
    );
  }
  const all = (await home.call("receipts", { limit: 1000 })).receipts.reduce((sum, one) => sum + one.items.length, 0);
  assert.ok(first < all);
  assert.equal(await lines(), all);
  await page.finish();
});

test("entries that many sessions got and none used are listed, and lead to their entry", async () => {
  const { summary } = await home.call("receipts", { summary: true });
  assert.ok(summary.ignored.length > 0);
  const page = await openPage(home, { path: "/?view=receipts" });
  const card = page.locator("section", { has: page.getByRole("heading", { name: "Shown often, never used" }) });
  await card.locator("tbody tr").first().waitFor();
  assert.equal(await card.locator("tbody tr").count(), summary.ignored.length);
  await screenshot(page, "receipts-ignored");
  await page.finish();
});

test("hostile text stays text", async () => {
  await seedHostile(home);
  await shown('evil"><img src=x onerror=alert(1)>', home.project("shop"), "hostile <img src=x onerror=alert(1)>");
  const page = await openPage(home, { path: "/?view=receipts", width: 360 });
  await receipts(page).first().waitFor();
  await page.waitForLoadState("networkidle");
  assert.deepEqual(await foreignElements(page), []);
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "receipts-narrow");
  await page.finish();
});
