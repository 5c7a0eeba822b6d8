// Health: the daemon, its store, agents and events, the doctor's findings, and how to connect an agent.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { badBoxes, closeBrowser, Home, openPage, screenshot, seed, until } from "./kit.mjs";
import { foreignElements, seedHostile } from "./seeds.mjs";

let home;

before(async () => {
  home = await Home.open();
});

after(async () => {
  await closeBrowser();
  await home.close();
});

const card = (page, title) =>
  page.locator("section.card", { has: page.getByRole("heading", { name: title, exact: true }) });

test("a store without events says how to connect an agent", async () => {
  const page = await openPage(home, { path: "/?view=health" });
  await page.getByRole("heading", { name: "No event arrived yet" }).waitFor();
  await card(page, "Connect an agent").getByRole("button", { name: "Copy: rekindle install" }).click();
  await page.getByText("Command copied.").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "rekindle install");
  assert.match(await card(page, "Connect an agent").innerText(), new RegExp(`127\\.0\\.0\\.1:${home.port}/mcp`));
  await screenshot(page, "health-empty");
  await page.finish();
});

// @page_health
test("daemon, database, agents and the last event of each hook are shown", async () => {
  await seed(home);
  const page = await openPage(home, { path: "/?view=health" });
  const status = await home.call("status", {});
  await card(page, "Database").waitFor();
  assert.ok((await card(page, "Daemon").innerText()).includes(`${status.pid}`));
  assert.ok((await card(page, "Database").innerText()).includes(status.database));
  const events = await card(page, "Agents and hooks").innerText();
  for (const name of ["claude-code", "codex", "UserPromptSubmit", "PostToolUseFailure", "Stop", "SessionEnd"]) {
    assert.ok(events.includes(name), name);
  }
  await page.getByRole("button", { name: "Refresh" }).click();
  await card(page, "Daemon").waitFor();
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "health");
  await page.finish();
});

// @page_health
test("daemon and agents are shown before the records of a large store are counted", async () => {
  const page = await openPage(home);
  let release;
  await page.route("**/rpc", async (route) => {
    if (JSON.parse(route.request().postData()).method === "memory_stats")
      await new Promise((done) => {
        release = done;
      });
    await route.fallback().catch(() => {});
  });
  await page.click("nav a.nav-link[href*='view=health']");
  await card(page, "Agents and hooks").getByText("UserPromptSubmit").waitFor();
  await card(page, "Daemon").getByText("Version").waitFor();
  const database = card(page, "Database");
  assert.doesNotMatch(await database.innerText(), /Oldest record/);
  await until("the records are being counted", () => release);
  release();
  await database.getByText("Oldest record").waitFor();
  const heads = await page.locator("#main section > h2").allInnerTexts();
  assert.ok(heads.indexOf("Agents and hooks") < heads.indexOf("Doctor"), heads.join());
  await page.finish();
});

// @page_health
test("opening a view counts no record of a project and checks nothing", async () => {
  const page = await openPage(home);
  const calls = [];
  page.on("request", (request) => {
    const { method, params } = request.url().endsWith("/rpc") ? JSON.parse(request.postData()) : {};
    if (method === "doctor" || method === "list_projects") calls.push([method, params]);
  });
  for (const view of ["hints", "sessions", "learning", "health"]) await page.open(`/?view=${view}`);
  await card(page, "Agents and hooks").getByText("UserPromptSubmit").waitFor();
  assert.deepEqual(
    calls.filter(([method, params]) => method === "list_projects" && params?.counts !== false),
    [],
  );
  assert.deepEqual(
    calls.filter(([method]) => method === "doctor"),
    [["doctor", { checks: false }]],
  );
  assert.ok(calls.length >= 4, JSON.stringify(calls));
  await page.finish();
});

// @page_health
test("the checks run on request, and a finding has the command that fixes it", async () => {
  fs.writeFileSync(path.join(home.dir, "data/spool-note.txt"), "x");
  fs.chmodSync(path.join(home.dir, "data/token"), 0o644);
  const page = await openPage(home, { path: "/?view=health" });
  const doctor = card(page, "Doctor");
  assert.equal(await doctor.locator(".check-row").count(), 0);
  await doctor.getByRole("button", { name: "Run the checks" }).click();
  await doctor.locator(".check-row").first().waitFor();
  const expected = await home.call("doctor", {});
  assert.equal(await doctor.locator(".check-row").count(), expected.checks.length);
  for (const check of expected.checks.filter((one) => one.status !== "ok")) {
    const row = doctor.locator(".check-row", { hasText: check.name }).first();
    for (const [, command] of check.hint?.matchAll(/`([^`]+ [^`]+)`/g) ?? []) {
      await row.locator(".command code", { hasText: command }).first().waitFor();
    }
  }
  await screenshot(page, "health-doctor");
  await doctor.getByRole("button", { name: "Run again" }).click();
  await until("done", async () => !(await doctor.getByRole("button", { name: "Run again" }).isDisabled()));
  await page.finish();
});

test("an agent is shown with its hooks, and what is missing with the command that adds it", async () => {
  const settings = path.join(home.dir, "home/.claude/settings.json");
  fs.mkdirSync(path.dirname(settings), { recursive: true });
  await home.run("install", "claude-code", "--yes");
  const page = await openPage(home, { path: "/?view=health" });
  const agent = card(page, "Doctor").locator(".connection-card", { hasText: "Claude Code" });
  await page.getByRole("button", { name: "Run the checks" }).click();
  await agent.getByText("✓ connected").waitFor();
  assert.match(await agent.locator("tr", { hasText: "UserPromptSubmit" }).innerText(), /ago/);
  assert.match(await agent.locator("tr", { hasText: "SubagentStop" }).innerText(), /none yet/);
  const stored = JSON.parse(fs.readFileSync(settings, "utf8"));
  delete stored.hooks.Stop;
  fs.writeFileSync(settings, JSON.stringify(stored));
  await page.getByRole("button", { name: "Run again" }).click();
  await agent.getByText("! in part").waitFor();
  assert.match(await agent.innerText(), /Missing\s+Stop/);
  const fix = card(page, "Doctor").getByRole("button", { name: "Copy: rekindle install claude-code" });
  await fix.click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "rekindle install claude-code");
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "health-agents", { full: true });
  await page.finish();
});

test("notices are shown, and hostile text stays text", async () => {
  await seedHostile(home);
  await home.call("pause", { duration: "1h" });
  const page = await openPage(home, { path: "/?view=health", width: 360 });
  await card(page, "Notices").waitFor();
  assert.match(await card(page, "Notices").innerText(), /paused everywhere/);
  await page.getByRole("button", { name: "Run the checks" }).click();
  await page.locator(".check-row").first().waitFor();
  assert.deepEqual(await foreignElements(page), []);
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "health-narrow");
  await page.finish();
});
