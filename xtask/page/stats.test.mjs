// Statistics: figures, plots with a table and keyboard access, and clicks that filter the timeline.

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

const plot = (page, title) => page.locator("figure", { has: page.getByRole("heading", { name: title, exact: true }) });
const param = (page, name) => new URL(page.url()).searchParams.get(name);
const offset = -new Date().getTimezoneOffset();
const number = (text) => Number(text.replace(/[^\d]/g, ""));

test("an empty store says so", async () => {
  const page = await openPage(home, { path: "/?view=stats" });
  await page.getByRole("heading", { name: "Nothing was recorded in this time" }).waitFor();
  await screenshot(page, "stats-empty");
  await page.finish();
});

test("the plots show the numbers of activity_stats, as bars and in a table", async () => {
  await seed(home);
  const page = await openPage(home, { path: "/?view=stats" });
  await plot(page, "Records per day, by type").locator("[data-mark]").first().waitFor();
  const stats = await home.call("activity_stats", { project: "*", bucket: "day", utc_offset: offset });
  const figures = await page.locator(".figures strong").allInnerTexts();
  assert.equal(number(figures[0]), stats.records);
  const injected = stats.injected.reduce((sum, { tokens }) => sum + tokens, 0);
  assert.equal(number(figures[2]), injected);
  assert.deepEqual(Object.keys(stats.buckets[0]).sort(), ["by", "count", "failed", "start"]);
  const byDay = plot(page, "Records per day, by type");
  const cells = await byDay
    .locator("tbody tr")
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.cells].slice(1).reduce((sum, cell) => sum + Number(cell.innerText.replace(/\D/g, "")), 0),
      ),
    );
  const { length } = cells;
  const days = (from, to) => (Date.parse(to) - Date.parse(from)) / 86_400_000;
  assert.equal(length, days(stats.from, stats.to));
  const expected = Array(length).fill(0);
  for (const { start, count } of stats.buckets) expected[days(stats.from, start)] = count;
  assert.deepEqual(cells, expected.reverse());
  assert.equal(await byDay.locator("[data-mark]").count(), length);
  for (const title of [
    "Failures per day",
    "Tokens injected per day",
    "A week by hour",
    "By type",
    "By tool",
    "By project",
    "By agent",
  ]) {
    const figure = plot(page, title);
    assert.ok((await figure.locator("svg [data-mark]").count()) > 0, title);
    assert.ok((await figure.locator("table tbody tr").count()) > 0, title);
    assert.match(await figure.locator(".plot-canvas svg").getAttribute("aria-label"), new RegExp(`^${title}\\.`));
  }
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "stats", { full: true });
  await page.finish();
});

test("the keyboard reaches each value, and Enter filters the timeline", async () => {
  const page = await openPage(home, { path: "/?view=stats" });
  const marks = plot(page, "Failures per day").locator("[data-mark]");
  await marks.first().waitFor();
  await marks.first().focus();
  await page.keyboard.press("End");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.mark), String((await marks.count()) - 1));
  const last = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.match(last, /: \d+ failed$/);
  assert.equal(await plot(page, "Failures per day").locator(".plot-value").innerText(), last);
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), last);
  await page.keyboard.press("Home");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.mark), "0");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await until("the timeline", () => param(page, "view") === "timeline" || param(page, "view") === null);
  assert.equal(param(page, "failed"), "1");
  assert.equal(param(page, "from"), param(page, "to"));
  assert.match(param(page, "from"), /^\d{4}-\d\d-\d\d$/);
  await page.goBack();
  const week = plot(page, "A week by hour").locator("[data-mark]");
  await week.first().waitFor();
  await week.first().focus();
  await page.keyboard.press("ArrowDown");
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^Tuesday 00:00/);
  await page.finish();
});

test("a click on a column, a bar or an hour opens its records", async () => {
  const page = await openPage(home, { path: "/?view=stats" });
  const click = async (title, label) => {
    const mark = plot(page, title).locator(`[data-mark][aria-label^="${label}"]`).first();
    await mark.waitFor();
    await mark.click();
  };
  await click("By type", "Edit");
  await until("by type", () => param(page, "type") === "file_edit");
  // The records that were counted, and no earlier ones.
  assert.match(param(page, "from"), /^\d{4}-\d\d-\d\d$/);
  await page.goBack();
  // A tool has records of several types, and the timeline does not filter by tool.
  await plot(page, "By tool").locator("[data-mark]").first().waitFor();
  assert.equal(await plot(page, "By tool").locator("[data-mark][role=button]").count(), 0);
  await click("By project", "site");
  await until("by project", () => param(page, "project") !== null);
  await page.goBack();
  await click("By agent", "codex");
  await until("by agent", () => param(page, "agent") === "codex");
  await page.goBack();
  const busy = plot(page, "A week by hour").locator("[data-mark]:not([aria-label$=': 0 records'])").first();
  await busy.waitFor();
  await busy.click();
  await until(
    "one hour",
    () =>
      param(page, "view") === "timeline" &&
      Date.parse(param(page, "to")) - Date.parse(param(page, "from")) === 3_600_000,
  );
  await page.locator("#main [data-row]").first().waitFor();
  await page.finish();
});

test("few of many are less than one percent, not none", async () => {
  const other = await Home.open();
  const cwd = other.project("shop");
  const many = Array.from({ length: 400 }, (_, index) => ["run", `make part${index}`]);
  await other.hooks(turn("many", cwd, Date.now() - 60_000, { actions: [["read", "src/a.rs"], ...many], step: 1 }));
  const page = await openPage(other, { path: "/?view=stats" });
  const row = plot(page, "By type").locator("tbody tr", { hasText: "File read" });
  await row.waitFor();
  assert.match(await row.innerText(), /1\s+< 1 %/);
  // A bar that leads nowhere does not look as if it did.
  const area = plot(page, "By tool").locator("[data-mark] .mark-area").first();
  const before = await area.evaluate((element) => getComputedStyle(element).fill);
  await area.hover({ position: { x: 8, y: 4 } });
  assert.equal(await area.evaluate((element) => getComputedStyle(element).fill), before);
  await page.finish();
  await other.close();
});

test("each day of a range is shown once if the clocks change in it", async () => {
  const other = await Home.open();
  const cwd = other.project("shop");
  // The days of the change, and others that begin at the other offset.
  for (const [zone, first, last, days] of [
    ["Europe/Berlin", "2025-10-24", "2025-10-27", 4],
    ["Europe/Berlin", "2025-03-28", "2025-03-31", 4],
    ["America/New_York", "2025-10-31", "2025-11-03", 4],
  ]) {
    const noon = Date.parse(`${last}T16:00:00Z`);
    await other.hooks(turn(`${zone}-${last}`.replace("/", "-"), cwd, noon, { actions: [["run", "make"]], step: 1 }));
    const page = await openPage(other, { path: `/?view=stats&from=${first}&to=${last}`, timezoneId: zone });
    const figure = plot(page, "Records per day, by type");
    await figure.locator("[data-mark]").first().waitFor();
    assert.equal(await figure.locator("[data-mark]").count(), days, `${zone} ${first}`);
    const named = await figure.locator("tbody th").allTextContents();
    assert.match(named.at(-1), new RegExp(`\\b${Number(first.slice(-2))}\\b`), named.join(" | "));
    await page.finish();
  }
  await other.close();
});

test("hours, project and time of the shared filter are respected", async () => {
  const page = await openPage(home, { path: "/?view=stats" });
  await page.getByLabel("Over time").selectOption("hour");
  await plot(page, "Records per hour, by type").locator("[data-mark]").first().waitFor();
  assert.equal(param(page, "bucket"), "hour");
  const axis = await plot(page, "Records per hour, by type").locator("text.axis[text-anchor=middle]").allTextContents();
  assert.ok(axis.length > 1 && axis.every((label) => /[A-Z][a-z]{2}.*, \d\d:\d\d$/.test(label)), axis.join(" | "));
  await page.getByText("the last 7 days, unless you choose a time above").waitFor();
  await screenshot(page, "stats-hours");
  await page.open("/?view=stats&project=site");
  await plot(page, "By project").locator("[data-mark]").first().waitFor();
  assert.equal(await plot(page, "By project").locator("[data-mark]").count(), 1);
  const today = await home.call("activity_stats", { project: "*", bucket: "day", from: "24h", utc_offset: offset });
  await page.open("/?view=stats&from=24h");
  await plot(page, "Records per day, by type").locator("[data-mark]").first().waitFor();
  assert.equal(
    await plot(page, "Records per day, by type").locator("[data-mark]").count(),
    (Date.parse(today.to) - Date.parse(today.from)) / 86_400_000,
  );
  await page.open("/?view=stats&from=2020-01-01&to=2020-02-01");
  await page.getByRole("heading", { name: "Nothing was recorded in this time" }).waitFor();
  await page.open("/?view=stats&from=2000-01-01&to=2026-01-01");
  await page.locator(".error, .empty").first().waitFor();
  await page.finish();
});

test("a plot fits its window, and hostile names stay text", async () => {
  await seedHostile(home);
  const tool = `mcp__evil__<img src=x onerror=alert(1)>"onclick="alert(1)`;
  const event = {
    session_id: "evil-tool",
    cwd: home.project("shop"),
    tool_name: tool,
    tool_input: {},
    tool_response: {},
  };
  await home.hook("PostToolUse", event);
  await home
    .hooks(turn("evil-agent", home.project("shop"), Date.now() - 1000, { agent: "<b>agent</b>", prompt: "x" }))
    .catch(() => {});
  const page = await openPage(home, { path: "/?view=stats", width: 1280 });
  await plot(page, "By tool").locator("[data-mark]").first().waitFor();
  assert.deepEqual(await foreignElements(page), []);
  await page.setViewportSize({ width: 360, height: 800 });
  await until("every plot is drawn for the narrow window", async () =>
    page
      .locator(".plot-canvas")
      .evaluateAll((all) => all.every((one) => Math.abs(one.firstChild.clientWidth - one.clientWidth) < 2)),
  );
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "stats-narrow", { full: true });
  await page.finish();
});

// @page_read_at
test("a view that does not follow changes says when it was read, and reads again on request", async () => {
  const page = await openPage(home, { path: "/?view=stats" });
  await plot(page, "By type").waitFor();
  await page.locator("#read-at", { hasText: "Read just now" }).waitFor();
  const records = () => page.locator("#main .figures strong").first().innerText();
  const before = await records();
  await home.hooks(turn("later", home.project("shop"), Date.now(), { prompt: "One more prompt", step: 1 }));
  await page.locator("#read-at").getByRole("button", { name: "Refresh" }).click();
  await until("the new record is counted", async () => (await records()) !== before);
  await page.click("nav a.nav-link >> nth=0");
  await page.waitForSelector(".tl-item");
  assert.equal(await page.locator("#read-at button").count(), 0, "the timeline is live");
  await page.finish();
});
