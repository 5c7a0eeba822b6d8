// Learning: ghaps, memories, values and fixes.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { badBoxes, closeBrowser, HOSTILE, Home, openPage, screenshot, seed, until } from "./kit.mjs";
import { foreignElements, seedHostile, seedLearned } from "./seeds.mjs";

let home;

before(async () => {
  home = await Home.open();
});

after(async () => {
  await closeBrowser();
  await home.close();
});

const item = (page, text) => page.locator(".hits > .card", { hasText: text });
const tab = (page, name) => page.getByRole("navigation", { name: "What was learned" }).getByRole("link", { name });

test("each empty list says where its entries come from", async () => {
  const page = await openPage(home, { path: "/?view=learning" });
  for (const [name, title] of [
    ["Ghaps", "No ghaps yet"],
    ["Memories", "No memories yet"],
    ["Values", "No values yet"],
    ["Fixes", "No failures yet"],
  ]) {
    await tab(page, name).click();
    await page.getByRole("heading", { name: title }).waitFor();
    await screenshot(page, `learning-empty-${name.toLowerCase()}`);
  }
  await page.open("/?view=learning&tab=nonsense");
  await page.getByRole("heading", { name: "There is no such list" }).waitFor();
  await page.finish();
});

test("active and resolved ghaps have their hypothesis, result and lesson", async () => {
  await seed(home);
  await seedLearned(home);
  const page = await openPage(home, { path: "/?view=learning" });
  await item(page, "The importer drops").locator(".badge", { hasText: "active" }).waitFor();
  const resolved = item(page, "Find why the login test is flaky");
  await resolved.locator(".badge", { hasText: "falsified" }).waitFor();
  // The tier is said in words, and a tooltip explains it.
  await resolved.locator("[title^='Silver:'], [title^='Gold:']", { hasText: "proved by a run" }).waitFor();
  await resolved.getByText("Hypothesis, result and lesson").click();
  await resolved.getByText("Two tests share one user").waitFor();
  assert.match(await resolved.innerText(), /The clock is right[^]*Give each test its own user/);
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "learning");
  await page.getByLabel("Result").selectOption("falsified");
  await until("resolved ones only", async () => (await item(page, "The importer").count()) === 0);
  await page.getByLabel("Result").selectOption("hypothesis");
  await until("active ones only", async () => (await item(page, "login test").count()) === 0);
  await page.getByLabel("Kind of work").selectOption("security");
  await page.getByRole("heading", { name: "No ghap matches the filters" }).waitFor();
  await page.finish();
});

test("what is stored meanwhile appears, unless the reader has opened something", async () => {
  const page = await openPage(home, { path: "/?view=learning&tab=memories" });
  await tab(page, "Memories").waitFor();
  await page.getByRole("navigation", { name: "What was learned" }).waitFor();
  const store = (content) =>
    home.call("store_memory", { content, category: "fact", session_id: "live", cwd: home.project("shop") });
  await store("The invoices are printed at noon");
  await item(page, "invoices are printed at noon").waitFor();
  await tab(page, "Ghaps").click();
  const details = item(page, "login test is flaky").locator("details");
  await details.locator("summary").click();
  await home.call("start_ghap", {
    domain: "debugging",
    strategy: "ask-user",
    goal: "Find why the export is late",
    hypothesis: "The queue is drained only at noon",
    action: "Read the schedule",
    prediction: "The schedule says noon",
    session_id: "live",
    cwd: home.project("shop"),
  });
  // Far longer than the list waits after an event.
  await page.evaluate(() => new Promise((done) => setTimeout(done, 1500)));
  assert.equal(await details.evaluate((element) => element.open), true);
  await details.locator("summary").click();
  await page.locator("#read-at").getByRole("button", { name: "Refresh" }).click();
  await item(page, "Find why the export is late").waitFor();
  await page.finish();
});

test("a ghap is deleted after a question that says it is final", async () => {
  const page = await openPage(home, { path: "/?view=learning" });
  await item(page, "login test")
    .getByRole("button", { name: /^Delete/ })
    .click();
  await page.getByRole("dialog").getByText("This cannot be undone.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  assert.equal((await home.call("list_ghap_entries", { project: "*" })).count, 1);
  await item(page, "login test")
    .getByRole("button", { name: /^Delete/ })
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await until("gone", async () => (await item(page, "login test").count()) === 0);
  assert.equal((await home.call("list_ghap_entries", { project: "*" })).count, 0);
  await page.finish();
});

test("a superseded memory follows its successor, and holds again without it", async () => {
  const page = await openPage(home, { path: "/?view=learning&tab=memories" });
  await item(page, "Round after tax.").waitFor();
  const order = await page.locator(".hits > .card .record-text").allInnerTexts();
  const at = order.indexOf("Round after tax.");
  assert.equal(order[at + 1], "Round once, half up, after the sum.");
  assert.match(await item(page, "Round once").innerText(), /superseded[^]*Replaced by a newer memory/);
  await screenshot(page, "learning-memories");
  await item(page, "Round once").getByRole("link", { name: "Whole text" }).click();
  await page.getByRole("heading", { name: "Memory", exact: true }).waitFor();
  await page.getByText("Round once, half up, after the sum.").waitFor();
  await page.goBack();
  await item(page, "Round after tax.")
    .getByRole("button", { name: /^Delete/ })
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await until("it holds again", async () => !/superseded/.test(await item(page, "Round once").innerText()));
  await page.getByLabel("Category").selectOption("preference");
  await until("one memory", async () => (await page.locator(".hits > .card").count()) === 1);
  await page.finish();
});

test("a fix shows the failure, the run that passed, and what changed in between", async () => {
  const page = await openPage(home, { path: "/?view=learning&tab=fixes" });
  const fix = item(page, "cargo test tax");
  await fix.waitFor();
  assert.match(await fix.innerText(), /swiss_rate[^]*Passed later[^]*src\/money\.rs/);
  await screenshot(page, "learning-fixes");
  await fix.getByRole("button", { name: /^Delete/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await until("gone", async () => (await fix.count()) === 0);
  await page.finish();
});

test("hostile text stays text in every list", async () => {
  await seedHostile(home);
  const page = await openPage(home, { path: "/?view=learning", width: 360 });
  for (const name of ["Ghaps", "Memories", "Fixes"]) {
    await tab(page, name).click();
    await page.locator(".hits > .card", { hasText: HOSTILE[2] }).first().waitFor();
    assert.deepEqual(await foreignElements(page), []);
    assert.deepEqual(await badBoxes(page), []);
    await screenshot(page, `learning-hostile-${name.toLowerCase()}`);
  }
  await page.finish();
});
