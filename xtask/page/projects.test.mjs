// Projects and control: aliases, merge, split, pauses and purges.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { badBoxes, closeBrowser, Home, openPage, screenshot, seed, turn, until } from "./kit.mjs";
import { foreignElements, seedHostile } from "./seeds.mjs";

let home;

before(async () => {
  home = await Home.open();
});

after(async () => {
  await closeBrowser();
  await home.close();
});

const card = (page, name) => page.locator(".project", { has: page.getByRole("heading", { name, exact: true }) });
const manage = async (page, name) => {
  await card(page, name).waitFor();
  const details = card(page, name).locator("details");
  if (!(await details.evaluate((one) => one.open))) await details.locator("summary").click();
  return card(page, name);
};
const notes = async () => (await home.call("status", {})).notes.join();
const names = async () => (await home.call("list_projects", {})).projects.map((one) => one.name).sort();

test("without a project the page says where they come from", async () => {
  const page = await openPage(home, { path: "/?view=projects" });
  await page.getByRole("heading", { name: "No projects yet" }).waitFor();
  await screenshot(page, "projects-empty");
  await page.getByRole("link", { name: "Health" }).last().click();
  await page.getByRole("heading", { name: "Health", exact: true }).waitFor();
  await page.finish();
});

test("each project has its size, last activity and the ways that lead to it", async () => {
  await seed(home);
  // Of all ages, one of minutes takes the most room.
  await home.hooks(turn("recent", home.project("shop"), Date.now() - 25 * 60_000, { prompt: "Round the totals" }));
  const page = await openPage(home, { path: "/?view=projects" });
  const shop = await manage(page, "shop");
  const listed = (await home.call("list_projects", {})).projects.find((one) => one.name === "shop");
  const text = await shop.innerText();
  // Prompts are records too.
  for (const part of [listed.observations + listed.prompts, listed.sessions, listed.root]) {
    assert.ok(text.includes(String(part)), `${part} in ${text}`);
  }
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "projects");
  await shop.getByRole("link", { name: "Timeline" }).click();
  await until("the timeline of the project", () => new URL(page.url()).searchParams.get("project") === listed.path);
  await page.finish();
});

test("the details of a project name its last sessions, with their times", async () => {
  const page = await openPage(home, { path: "/?view=projects" });
  await card(page, "shop").getByRole("link", { name: "Details" }).click();
  const rows = page.getByRole("table", { name: "Last sessions of the project" }).locator("tbody tr");
  await rows.first().waitFor();
  const texts = await rows.allInnerTexts();
  const last = (await home.call("list_sessions", { project: "shop", limit: 10 })).sessions;
  assert.equal(texts.length, last.length);
  assert.ok(texts.some((text) => /Taxes for Switzerland.*ended.*\d\d:\d\d/s.test(text)), texts.join("\n"));
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "project-details");
  await rows.filter({ hasText: "Taxes for Switzerland" }).getByRole("link").click();
  await page.locator(".turn").first().waitFor();
  await page.finish();
});

// @page_pause
test("a pause everywhere is shown on every view until it ends, and has Undo", async () => {
  const page = await openPage(home, { path: "/?view=projects" });
  const banner = page.locator("#banner-pause");
  await page.getByLabel("Pause everywhere: how long").selectOption("2h");
  await page.getByRole("button", { name: "Pause everywhere" }).click();
  await banner.waitFor();
  assert.match(await notes(), /paused everywhere/);
  await page.getByRole("link", { name: "Search" }).first().click();
  await page.getByRole("searchbox", { name: "Search" }).waitFor();
  assert.ok(await banner.isVisible());
  await page.goBack();
  await page.getByRole("button", { name: "Resume everywhere" }).click();
  await until("resumed", async () => (await notes()) === "");
  await banner.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).last().click();
  await until("paused again, with an end", async () => /paused everywhere.* until 20/.test(await notes()));
  await page.getByRole("button", { name: "Resume everywhere" }).click();
  await until("resumed", async () => (await notes()) === "");
  await page.getByRole("button", { name: "Pause everywhere" }).click();
  await page.getByText("Paused everywhere.").waitFor();
  await page.getByRole("button", { name: "Undo" }).last().click();
  await until("Undo ends the pause", async () => (await notes()) === "");
  await page.finish();
});

test("a project can be excluded from recording until it is resumed", async () => {
  const page = await openPage(home, { path: "/?view=projects" });
  const site = await manage(page, "site");
  await site.getByRole("button", { name: "Never record site" }).click();
  await site.locator(".notice", { hasText: "Not recorded until you resume it" }).waitFor();
  const count = async () => (await home.call("list_projects", {})).projects.find((one) => one.name === "site").prompts;
  const before = await count();
  const event = { session_id: "after-pause", cwd: home.project("site"), prompt: "not recorded" };
  await home.hook("UserPromptSubmit", event);
  assert.equal(await count(), before);
  await screenshot(page, "projects-paused");
  await site.getByRole("button", { name: "Resume site" }).click();
  await site.locator(".notice").waitFor({ state: "detached" });
  await home.hook("UserPromptSubmit", { ...event, prompt: "recorded again" });
  assert.equal(await count(), before + 1);
  await page.finish();
});

test("an alias is added and removed with Undo, and one of another project is refused with the reason", async () => {
  const page = await openPage(home, { path: "/?view=projects" });
  const shop = await manage(page, "shop");
  await shop.getByRole("button", { name: "Add an alias" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("webshop");
  await page.keyboard.press("Enter");
  const alias = shop.getByText("webshop", { exact: true });
  await alias.waitFor();
  const undo = () => page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await undo();
  await alias.waitFor({ state: "detached" });
  await home.call("alias_project", { project: "shop", alias: "webshop" });
  await page.reload();
  await manage(page, "shop");
  await shop.getByRole("button", { name: "Remove the alias webshop" }).click();
  await alias.waitFor({ state: "detached" });
  await undo();
  await alias.waitFor();
  await shop.getByRole("button", { name: "Add an alias" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill(home.project("site"));
  await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
  await page.locator(".toast", { hasText: "site" }).waitFor();
  await page.finish();
});

test("a merge is undone, and a root is split off and merged again", async () => {
  const page = await openPage(home, { path: "/?view=projects" });
  const infra = await manage(page, "infra");
  await infra.getByRole("button", { name: "Merge into another project: infra" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual(await names(), ["infra", "shop", "site"]);
  await infra.getByRole("button", { name: "Merge into another project: infra" }).click();
  await page.getByLabel("Merge into", { exact: true }).selectOption({ label: `shop (${home.project("shop")})` });
  await screenshot(page, "projects-merge");
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await page.locator(".toast", { hasText: "moved to shop" }).waitFor();
  assert.deepEqual(await names(), ["shop", "site"]);
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await card(page, "infra").waitFor();
  assert.deepEqual(await names(), ["infra", "shop", "site"]);
  await home.call("merge_projects", { from: "infra", into: "shop" });
  await page.reload();
  const shop = await manage(page, "shop");
  // Its own directory cannot leave a project.
  assert.equal(await shop.getByRole("button", { name: /^Split off/ }).count(), 1);
  await shop.getByRole("button", { name: `Split off ${home.project("infra")}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Split" }).click();
  await card(page, "infra").waitFor();
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await until("merged again", async () => (await names()).length === 2);
  await page.finish();
});

test("a merge of a project without a directory says that it cannot be undone", async () => {
  const other = await Home.open();
  await other.hooks(turn("in-shop", other.project("shop"), Date.now() - 60_000, { prompt: "Add a cart", step: 1 }));
  await other.call("set_relevant_context", { session_id: "nowhere", setName: "ports", items: ["3000"] });
  const page = await openPage(other, { path: "/?view=projects" });
  const unknown = await manage(page, "unknown");
  await unknown.getByRole("button", { name: "Merge into another project: unknown" }).click();
  await page.getByRole("dialog").getByText("This cannot be undone").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await page.locator(".toast", { hasText: "moved to shop" }).waitFor();
  assert.equal(await page.locator(".toast").getByRole("button", { name: "Undo" }).count(), 0);
  await page.finish();
  await other.close();
});

// @page_purge
test("a purge counts, shows samples, and deletes only after its number is typed", async () => {
  const page = await openPage(home, { path: "/?view=projects" });
  const form = page.locator("#purge");
  await form.getByRole("button", { name: "Count what would be deleted" }).click();
  await form.getByText("Choose at least one filter").waitFor();
  await form.getByLabel("Contains the words").fill("coupon");
  await form.getByLabel("Project").selectOption({ label: "shop" });
  await page.keyboard.press("Enter");
  await form.getByRole("button", { name: "Count what would be deleted" }).click();
  await form.getByRole("heading", { name: "This would be deleted" }).waitFor();
  assert.ok((await form.locator("tbody tr").count()) > 0, "samples");
  await screenshot(page, "projects-purge");
  const dry = await home.call("purge", { search: "coupon", project: "shop" });
  const number = dry.observations + dry.prompts;
  assert.ok(number > 2);
  await form.getByRole("button", { name: `Delete ${number} records` }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This cannot be undone.").waitFor();
  const accept = dialog.getByRole("button", { name: "Delete" });
  assert.ok(await accept.isDisabled());
  await dialog.getByRole("textbox").fill(String(number + 1));
  assert.ok(await accept.isDisabled(), "a wrong number deletes nothing");
  await page.keyboard.press("Enter");
  await dialog.getByText(`That is not ${number}`).waitFor();
  await screenshot(page, "projects-purge-confirm");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual((await home.call("purge", { search: "coupon", project: "shop" })).observations, dry.observations);
  // A record that arrives while the question is open was not counted, so nothing is deleted.
  await form.getByRole("button", { name: `Delete ${number} records` }).click();
  await home.hooks(turn("late", home.project("shop"), Date.now(), { prompt: "One more coupon" }));
  await dialog.getByRole("textbox").fill(String(number));
  await accept.click();
  await form.getByText("nothing was deleted").waitFor();
  const more = await home.call("purge", { search: "coupon", project: "shop" });
  const now = more.observations + more.prompts;
  assert.ok(now > number, "the new record, and nothing was deleted");
  await form.getByRole("button", { name: "Count again" }).click();
  await form.getByRole("button", { name: `Delete ${now} records` }).click();
  await dialog.getByRole("textbox").fill(String(now));
  await accept.click();
  await form.getByText(`${now} records deleted.`).waitFor();
  assert.equal((await home.call("purge", { search: "coupon", project: "shop" })).observations, 0);
  await form.getByLabel("Records").fill("3, abc");
  await form.getByRole("button", { name: "Count what would be deleted" }).click();
  await form.getByText("“abc” is no record").waitFor();
  await form.getByLabel("Records").fill("#7");
  await form.getByLabel("Before").fill("not a time");
  await form.getByRole("button", { name: "Count what would be deleted" }).click();
  await form.locator(".error").waitFor();
  await page.finish();
});

test("the link of a project opens the purge with it, and hostile names stay text", async () => {
  await seedHostile(home);
  await home.hooks(
    turn("twin", home.project("nested/shop"), Date.now() - 60_000, { prompt: "a project of the same name" }),
  );
  const page = await openPage(home, { path: "/?view=projects", width: 360 });
  await page.locator(".project").first().waitFor();
  for (const details of await page.locator(".project summary").all()) await details.click();
  assert.deepEqual(await foreignElements(page), []);
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "projects-hostile");
  await page.locator(".project", { hasText: "evil" }).getByRole("link", { name: "Purge records…" }).click();
  await until("the project is chosen", async () => {
    const label = await page.locator("#purge select[name=project] option:checked").innerText();
    return label.startsWith("evil");
  });
  await page.finish();
});
