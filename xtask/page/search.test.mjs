// Search and the view of one record.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { badBoxes, closeBrowser, HOSTILE, Home, openPage, screenshot, seed, turn, until } from "./kit.mjs";
import { foreignElements, seedHostile } from "./seeds.mjs";

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

const hits = (page) => page.locator(".hits > .hit");
const texts = (page, selector) => page.locator(selector).allInnerTexts();
const param = (page, name) => new URL(page.url()).searchParams.get(name);

async function search(page, words) {
  await page.getByRole("searchbox", { name: "Search" }).fill(words);
  await page.keyboard.press("Enter");
  await page.locator(".hits > .hit, .empty h2", { hasNotText: "Search what" }).first().waitFor();
}

// @page_search
test("the slash key leads to the search, and matched words are marked", async () => {
  const page = await openPage(home);
  await page.keyboard.press("/");
  await page.getByRole("searchbox", { name: "Search" }).waitFor();
  await page.keyboard.type("checkout total");
  await page.keyboard.press("Enter");
  await hits(page).first().waitFor();
  assert.equal(param(page, "q"), "checkout total");
  const marks = (await texts(page, ".hit mark")).map((text) => text.toLowerCase());
  assert.ok(marks.includes("checkout") && marks.includes("total"), marks.join());
  assert.ok(
    marks.every((text) => /^(checkout|total)/.test(text)),
    marks.join(),
  );
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "search");
  await page.goBack();
  await page.getByRole("heading", { name: /^Search what your agents/ }).waitFor();
  await page.goBack();
  await until("the timeline is back", async () => !param(page, "view"));
  await page.goForward();
  await page.goForward();
  await hits(page).first().waitFor();
  await page.reload();
  await hits(page).first().waitFor();
  assert.equal(await page.getByRole("searchbox", { name: "Search" }).inputValue(), "checkout total");
  await page.finish();
});

// @page_search
test("each filter narrows the hits and is in the address", async () => {
  const page = await openPage(home, { path: "/?view=search" });
  await search(page, "test");
  const badges = () => texts(page, ".hit-head .meta > .badge:first-child");
  const shows = async (what, check) => until(what, async () => (await hits(page).count()) > 0 && check());

  await page.getByLabel("Type").selectOption("git_commit");
  await search(page, "round");
  await shows("commits only", async () => (await badges()).every((text) => text === "Commit"));
  assert.equal(param(page, "type"), "git_commit");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await until("no filter", () => param(page, "type") === null);

  await search(page, "test");
  await page.getByLabel("Outcome").selectOption("failed");
  await shows("failures only", async () => (await badges()).every((text) => text === "Failed command"));
  await page.getByLabel("Outcome").selectOption("succeeded");
  await shows("no failures", async () => (await badges()).every((text) => text !== "Failed command"));
  await page.getByLabel("Outcome").selectOption("");

  await page.getByLabel("Agent").fill("codex");
  await page.getByLabel("Agent").press("Enter");
  await until("hits of codex", async () => param(page, "agent") === "codex");
  const codex = sessions.find((one) => one.prompt.includes("header"));
  await shows("hits of codex", async () =>
    (await texts(page, ".hit .meta a.mono")).every((id) => codex.session.startsWith(id)),
  );
  await page.getByLabel("Agent").fill("");

  await page.getByLabel("File", { exact: true }).fill("src/tax.rs");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await search(page, "round");
  await shows("the file only", async () =>
    (await texts(page, ".hit > p > a.mono")).every((path) => path.endsWith("src/tax.rs")),
  );
  await page.getByLabel("File", { exact: true }).fill("");

  await page.getByLabel("Session", { exact: true }).fill(sessions[0].session);
  await search(page, "test");
  await shows("one session", async () =>
    (await texts(page, ".hit .meta a.mono")).every((id) => sessions[0].session.startsWith(id)),
  );
  await page.getByLabel("Session", { exact: true }).fill("");

  await search(page, "round");
  await page.getByLabel("Order").selectOption("recent");
  await until("newest first", async () => {
    const times = await page.locator(".hit-head time").evaluateAll((all) => all.map((one) => one.dateTime));
    return times.length > 2 && times.every((at, index) => index === 0 || at <= times[index - 1]);
  });
  const folded = await hits(page).count();
  await page.getByLabel("Fold equal texts").uncheck();
  await until("the address says it", () => param(page, "fold") === "no");
  await until("as many or more", async () => (await hits(page).count()) >= folded);

  await page.locator("#filter-project").selectOption("site");
  await shows("one project", async () =>
    (await texts(page, ".hit-head .meta > span:not(.badge):not(.score)")).some((text) => text === "site"),
  );
  await page.finish();
});

// @page_search
test("a hit explains itself, shows its surroundings, its file and similar records", async () => {
  const page = await openPage(home, { path: "/?view=search&q=round_half_up&type=file_edit" });
  const hit = hits(page).first();
  await hit.waitFor();
  const toggle = (name) => hit.getByRole("button", { name });
  await toggle("Why this hit").click();
  assert.ok((await hit.locator(".reasons li").count()) > 0);
  assert.ok((await hit.locator(".score-parts dt").allInnerTexts()).includes("Words"));
  await toggle("Surroundings").focus();
  await page.keyboard.press("Enter");
  await hit.locator(".record-line.current").waitFor();
  assert.ok((await hit.locator(".record-line").count()) > 2);
  assert.equal(await toggle("Why this hit").getAttribute("aria-expanded"), "false");
  await toggle("Similar records").click();
  await hit
    .locator(".record-line .badge", { hasText: /similarity|duplicate/ })
    .first()
    .waitFor();
  await toggle("File history").click();
  await hit.locator(".group .record-line").first().waitFor();
  await screenshot(page, "search-panels");
  await toggle("File history").click();
  assert.equal(await hit.locator(".panel").isVisible(), false);
  await hit.locator(".meta").getByRole("link", { name: /^#/ }).click();
  await page.getByRole("heading", { name: /^Record #/ }).waitFor();
  await page.finish();
});

// @page_search
test("a window shows many hits, and their buttons are reached by keyboard and touch", async () => {
  for (const [width, most] of [
    [1280, 84],
    [360, 170],
  ]) {
    const page = await openPage(home, { path: "/?view=search&q=round+total+changelog&fold=no", width });
    await hits(page).first().waitFor();
    const heights = await hits(page).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    const mean = heights.reduce((sum, height) => sum + height, 0) / heights.length;
    assert.ok(mean <= most, `${width}: a hit has ${Math.round(mean)} px on average`);
    const sizes = await page.locator(".hit-tools button").evaluateAll((all) =>
      all.map((one) => one.checkVisibility() && Math.min(one.offsetHeight, one.offsetWidth)),
    );
    assert.ok(sizes.length > 30 && sizes.every((size) => size >= 24), "targets of 24 px");
    await hits(page).first().locator("a[href*=obs]").focus();
    const names = [];
    for (let step = 0; step < 8; step += 1) {
      await page.keyboard.press("Tab");
      names.push(await page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.textContent));
    }
    for (const name of ["Why this hit", "Surroundings", "Similar records"]) assert.ok(names.includes(name), names.join());
    assert.deepEqual(await badBoxes(page), []);
    await screenshot(page, `search-dense-${width}`);
    await page.finish();
  }
});

test("j and k move through the hits, and Enter opens one", async () => {
  const page = await openPage(home, { path: "/?view=search&q=round" });
  await hits(page).first().waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("j");
  const first = await focused();
  assert.match(first, /^#\d+$/);
  await page.keyboard.press("j");
  assert.notEqual(await focused(), first);
  await page.keyboard.press("k");
  assert.equal(await focused(), first);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Record ${first}` }).waitFor();
  await page.finish();
});

test("more hits are added below", async () => {
  const page = await openPage(home, { path: "/?view=search&q=round+total+changelog&fold=no" });
  await hits(page).first().waitFor();
  const first = await hits(page).count();
  await page.getByRole("button", { name: "Show more" }).click();
  await until("more hits", async () => (await hits(page).count()) > first);
  await page.finish();
});

test("without a hit the page says which filter excludes them", async () => {
  const page = await openPage(home, { path: "/?view=search&q=checkout&project=infra" });
  await page.getByText("There are hits without the project").waitFor();
  await page.open("/?view=search&q=zzzyyyxxqqq&type=git_push");
  await page.locator(".empty h2").waitFor();
  await page.open("/?view=search");
  await page.getByRole("heading", { name: /^Search what your agents/ }).waitFor();
  await screenshot(page, "search-empty");
  await page.finish();
});

test("a late reply does not replace the hits of a later query", async () => {
  const page = await openPage(home, { path: "/?view=search" });
  let release;
  await page.route("**/rpc", async (route) => {
    const { params } = JSON.parse(route.request().postData());
    if (params?.query === "backup")
      await new Promise((done) => {
        release = done;
      });
    await route.fallback().catch(() => {});
  });
  await page.getByRole("searchbox", { name: "Search" }).fill("backup");
  await page.keyboard.press("Enter");
  await until("the first search is sent", () => release);
  await page.getByRole("searchbox", { name: "Search" }).fill("coupons");
  await page.keyboard.press("Enter");
  await page
    .locator(".hit mark", { hasText: /coupons/i })
    .first()
    .waitFor();
  release();
  await page.waitForLoadState("networkidle");
  assert.equal(await page.locator(".hit mark", { hasText: /backup/i }).count(), 0);
  await page.finish();
});

test("a record has its details, can be pinned, and is deleted after a question", async () => {
  const found = await home.call("search", { query: "Swiss rate", project: "*", obs_type: "git_commit" });
  const { id } = found.results[0];
  const page = await openPage(home, { path: `/?view=record&path=obs%3A%2F%2F${id}` });
  await page.getByRole("heading", { name: `Record #${id}` }).waitFor();
  assert.match(await page.locator("#main").innerText(), /git commit -am/);
  await page.getByRole("button", { name: "Pin", exact: true }).click();
  await page.getByText("Pinned. The record is kept for good.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Pin", exact: true }).waitFor();
  assert.equal((await home.call("get_observations", { ids: [id] })).results[0].is_pinned, false);
  await page.getByRole("button", { name: "Surroundings" }).click();
  await page.locator(".record-line.current").waitFor();
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "record");
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  assert.equal((await home.call("get_observations", { ids: [id] })).results.length, 1);
  await page.getByRole("button", { name: "Pin", exact: true }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText(`Record #${id} is deleted.`).waitFor();
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0, "there is nothing left to unpin");
  assert.equal((await home.call("get_observations", { ids: [id] })).results.length, 0);
  await page.open(`/?view=record&path=obs%3A%2F%2F${id}`);
  await page.getByRole("heading", { name: /There is no entry/ }).waitFor();
  await page.getByRole("link", { name: "Go to the timeline" }).click();
  await until("the timeline", () => param(page, "view") !== "record");
  for (const path of ["", "nonsense", "obs://x", "hint://a/b", "javascript:alert(1)", "obs://99999999999999999999"]) {
    await page.open(`/?view=record&path=${encodeURIComponent(path)}`);
    await page.getByRole("heading", { name: /There is no entry/ }).waitFor();
  }
  await page.finish();
});

test("a deletion leads back to the list that led to the record, so that the next one can follow", async () => {
  const asked = { query: "changelog", project: "*", obs_type: "file_write" };
  const ids = (await home.call("search", asked)).results.map(({ id }) => id);
  assert.ok(ids.length >= 2, `${ids.length} hits`);
  const page = await openPage(home, { path: "/?view=search&q=changelog&type=file_write" });
  for (const id of ids.slice(0, 2)) {
    await page.getByRole("link", { name: `#${id}`, exact: true }).first().click();
    await page.getByRole("heading", { name: `Record #${id}` }).waitFor();
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText(`Record #${id} is deleted.`).waitFor();
    await until("the same search", () => param(page, "q") === "changelog" && param(page, "type") === "file_write");
    await page.getByText(/^\d+ results?/).waitFor();
    assert.equal(await page.getByRole("link", { name: `#${id}`, exact: true }).count(), 0);
  }
  // Nothing led to a record that was opened by its address.
  const [{ id }] = (await home.call("search", { ...asked, query: "CHANGELOG", obs_type: "file_read" })).results;
  await page.open(`/?view=record&path=obs%3A%2F%2F${id}`);
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await until("the timeline", () => param(page, "view") === "timeline");
  await page.finish();
});

test("a hint says why it is there, and leads to its place among the hints", async () => {
  const meta = { reason: "The router needs its own image", tags: ["build"], ttl: "forever" };
  await home.call("set_hint", { component: "http-proxy", key: "build", value: "docker compose build router", meta });
  await home.call("set_hint", { component: "http-proxy", key: "test", value: "make test", meta: {} });
  const page = await openPage(home, { path: `/?view=record&path=${encodeURIComponent("hint://http-proxy/build")}` });
  await page.getByText("docker compose build router").waitFor();
  const shown = await page.locator("#main").innerText();
  assert.ok(shown.includes("The router needs its own image") && !shown.includes("{"), shown);
  await page.getByRole("link", { name: "Edit or delete it in Hints" }).click();
  const chosen = page.locator(".hint-key[aria-current]");
  await chosen.waitFor();
  assert.match(await chosen.innerText(), /docker compose build router/);
  assert.equal(await page.locator(".hint-key").count(), 2);
  await until("the focus is on it", () => page.evaluate(() => Boolean(document.activeElement.closest("[aria-current]"))));
  await screenshot(page, "hint-chosen");
  await page.open(`/?view=record&path=${encodeURIComponent("hint://http-proxy/none")}`);
  await page.getByRole("heading", { name: /There is no entry/ }).waitFor();
  await page.locator("#main").getByRole("link", { name: "Hints" }).waitFor();
  await page.finish();
});

test("hostile text stays text in hits and records", async () => {
  await seedHostile(home);
  const page = await openPage(home, { path: "/?view=search&q=hostile&fold=no", width: 360 });
  await hits(page).first().waitFor();
  while (await page.getByRole("button", { name: "Show more" }).isVisible()) {
    const count = await hits(page).count();
    await page.getByRole("button", { name: "Show more" }).click();
    await until("more", async () => (await hits(page).count()) > count);
  }
  assert.deepEqual(await foreignElements(page), []);
  const shown = await page.locator("#main").innerText();
  for (const text of HOSTILE.slice(0, 5)) assert.ok(shown.includes(text), text);
  assert.ok(shown.includes("⟨U+202E⟩"), "bidirectional controls are visible");
  await screenshot(page, "search-hostile");
  for (const name of ["Surroundings", "Similar records", "File history"]) {
    const toggles = page.getByRole("button", { name });
    for (let at = 0; at < Math.min(4, await toggles.count()); at += 1) await toggles.nth(at).click();
  }
  await page.waitForLoadState("networkidle");
  assert.deepEqual(await foreignElements(page), []);
  const long = await home.call("search", { query: "hostile", session_id: "evil-long", project: "*" });
  await page.open(`/?view=record&path=obs%3A%2F%2F${long.results[0].id}`);
  await page.locator("pre.text").first().waitFor();
  assert.deepEqual(await foreignElements(page), []);
  await screenshot(page, "record-long");
  assert.equal(await page.title().then((title) => title.includes("owned")), false);
  await page.finish();
});

// @page_survives_the_daemon
test("a restart of the daemon leaves typed text, opened panels and loaded pages as they are", async () => {
  const other = await Home.open();
  const cwd = other.project("zoo");
  const prompts = Array.from({ length: 30 }, (_, index) =>
    turn("zoo", cwd, Date.now() - (60 - index) * 60_000, { prompt: `Walrus ${index} of the zoo`, step: 1 }),
  );
  await other.hooks(prompts.flat());
  const down = [/ERR_CONNECTION_REFUSED/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /WebSocket connection to/];
  const page = await openPage(other, { path: "/?view=search&q=walrus&fold=no", allow: down });
  const restart = async () => {
    await other.stop("SIGKILL");
    await page.waitForSelector(".is-lost");
    await other.start();
    await page.waitForSelector(".is-live");
    await page.waitForLoadState("networkidle");
  };
  await hits(page).first().waitFor();
  await page.getByRole("button", { name: "Show more" }).click();
  await until("the second page", async () => (await hits(page).count()) === 30);
  await hits(page).nth(25).getByRole("button", { name: "Why this hit" }).click();
  await page.locator(".panel .reasons").waitFor();
  await page.getByRole("searchbox", { name: "Search" }).fill("walrus and more");
  const scrolled = await page.evaluate(() => (scrollTo(0, 1200), scrollY));
  await restart();
  assert.equal(await page.getByRole("searchbox", { name: "Search" }).inputValue(), "walrus and more");
  assert.equal(await hits(page).count(), 30);
  assert.ok(await page.locator(".panel .reasons").isVisible(), "the panel is open");
  assert.equal(await page.evaluate(() => scrollY), scrolled);
  await page.open("/?view=hints");
  await page.getByLabel("Branch").fill("release/9");
  await restart();
  assert.equal(await page.getByLabel("Branch").inputValue(), "release/9");
  await page.open("/?view=receipts");
  await page.getByRole("textbox", { name: "Session" }).fill("zoo");
  await restart();
  assert.equal(await page.getByRole("textbox", { name: "Session" }).inputValue(), "zoo");
  await page.finish();
  await other.close();
});
