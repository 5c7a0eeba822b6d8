// Hints: variants, the situation check, set, edit with a conflict, delete with Undo.

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

const dialog = (page) => page.getByRole("dialog");
const card = (page, value) => page.locator(".hint", { hasText: value });
const stored = async (component, key) => {
  const { payload } = await home.call("export_hints", {});
  const one = payload.components[component];
  return one?.hints[key] && [one.hints[key], ...(one.variants?.[key] ?? [])];
};

test("an empty store says how to make the first hint, and the form stores it", async () => {
  const page = await openPage(home, { path: "/?view=hints" });
  await page.getByRole("heading", { name: "No hints yet" }).waitFor();
  await screenshot(page, "hints-empty");
  await page.getByRole("button", { name: "New hint" }).click();
  await dialog(page).getByLabel("Component").fill("web");
  await dialog(page).getByLabel("Key").fill("build");
  await dialog(page).getByLabel("Kind").selectOption("command");
  await dialog(page).getByLabel("Value", { exact: true }).fill("npm run build");
  await dialog(page).getByLabel("Reason").fill("vite needs it");
  await dialog(page).getByLabel("Tags").fill("build, web");
  await dialog(page).getByLabel("Priority").fill("7");
  await dialog(page).getByLabel("Branches").fill("main, release/*");
  await dialog(page).getByLabel("linux").check();
  await screenshot(page, "hints-form");
  assert.deepEqual(await badBoxes(page), []);
  await page.keyboard.press("Tab");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await card(page, "npm run build").waitFor();
  const [hint] = await stored("web", "build");
  assert.deepEqual(hint.value, { type: "command", cmd: "npm run build" });
  assert.deepEqual(hint.meta.scope, { branch: ["main", "release/*"], os: ["linux"] });
  assert.deepEqual([hint.meta.priority, hint.meta.tags, hint.meta.ttl], [7, ["build", "web"], "forever"]);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("heading", { name: "No hints yet" }).waitFor();
  assert.equal(await stored("web", "build"), undefined);
  await page.finish();
});

test("every variant is listed with scope, lifetime and use", async () => {
  await seed(home);
  await seedLearned(home);
  await home.call("bump_hint", { component: "shop", key: "test", delta: 3 });
  const page = await openPage(home, { path: "/?view=hints" });
  await card(page, "cargo build --target").waitFor();
  assert.match(await card(page, "cargo build --target").innerText(), /Only for system darwin/);
  assert.match(
    await card(page, "cargo build --release").innerText(),
    /Applies everywhere[^]*kept for good[^]*never used/,
  );
  assert.match(await card(page, "cargo test cart").innerText(), /used 3 times/);
  assert.match(await card(page, "kubectl logs").innerText(), /Template[^]*for 2 hours/);
  assert.match(await page.locator("#main").innerText(), /5 hints under 4 keys/);
  await page.getByLabel("Find").fill("kubectl");
  await until("one hint", async () => (await page.locator(".hint").count()) === 1);
  assert.equal(new URL(page.url()).searchParams.get("q"), "kubectl");
  await page.getByLabel("Find").fill("nothing like this");
  await page.getByRole("heading", { name: "No hint contains these words" }).waitFor();
  await page.getByLabel("Find").fill("");
  await card(page, "kubectl").waitFor();
  assert.deepEqual(await badBoxes(page), []);
  await screenshot(page, "hints");
  await page.finish();
});

// @page_hints
test("the check shows score and reasons, or the failing condition", async () => {
  const page = await openPage(home, { path: "/?view=hints" });
  await page.getByLabel("System", { exact: true }).selectOption("darwin");
  await page.getByLabel("Branch").fill("main");
  await page.getByRole("button", { name: "Check" }).click();
  const verdict = (value) => card(page, value).locator(".verdict");
  await verdict("cargo build --target").waitFor();
  assert.match(await verdict("cargo build --target").innerText(), /Appears, score 0\.\d\d: .*the system darwin fits/);
  assert.match(await verdict("cargo build --release").innerText(), /another variant ranks higher/);
  assert.match(await verdict("/srv/http-proxy").innerText(), /Does not appear: the branch is main, but it needs release\/\*/);
  await screenshot(page, "hints-check");
  await page.getByLabel("System", { exact: true }).selectOption("linux");
  await page.getByLabel("Branch").fill("release/2");
  await page.getByLabel("Project", { exact: true }).last().selectOption({ label: "shop" });
  await page.getByRole("button", { name: "Check" }).click();
  await until("it appears", async () => /Appears/.test(await verdict("/srv/http-proxy").innerText()));
  assert.match(await verdict("cargo build --target").innerText(), /Does not appear/);
  await page.reload();
  await verdict("/srv/http-proxy").waitFor();
  assert.match(await page.getByText(/would appear for/).innerText(), /project shop, branch release\/2, system linux/);
  await page.getByRole("button", { name: "Clear" }).last().click();
  await until("no verdicts", async () => (await page.locator(".verdict").count()) === 0);
  await page.finish();
});

test("an edit keeps the rest of the hint and can be undone", async () => {
  const page = await openPage(home, { path: "/?view=hints" });
  await card(page, "cargo build --release").getByRole("button", { name: "Edit shop/build" }).click();
  await dialog(page).getByLabel("Value", { exact: true }).fill("cargo build --release --locked");
  await dialog(page).getByLabel("Value", { exact: true }).press("Tab");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await card(page, "--locked").waitFor();
  const edited = (await stored("shop", "build")).find((hint) => hint.value.includes("--locked"));
  assert.deepEqual(
    [edited.version, edited.meta.tags, edited.meta.reason],
    [2, ["build"], "the debug build is too slow"],
  );
  assert.equal((await stored("shop", "build")).length, 2, "the other variant is untouched");
  await page.getByRole("button", { name: "Undo" }).click();
  await until("the old value is back", async () => (await card(page, "--locked").count()) === 0);
  assert.ok((await stored("shop", "build")).some((hint) => hint.value === "cargo build --release"));
  await page.finish();
});

// @page_hints
test("a hint that changed meanwhile is shown, and nothing is overwritten", async () => {
  const page = await openPage(home, { path: "/?view=hints" });
  await card(page, "cargo test cart").getByRole("button", { name: "Edit" }).click();
  const command = (cmd) => ({ component: "shop", key: "test", value: { type: "command", cmd } });
  await home.call("set_hint", command("cargo nextest run"));
  await dialog(page).getByLabel("Value", { exact: true }).fill("make test");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await dialog(page).getByText("This hint was changed meanwhile.").waitFor();
  assert.match(await dialog(page).locator(".error").innerText(), /cargo nextest run/);
  assert.equal((await stored("shop", "test"))[0].value.cmd, "cargo nextest run");
  await screenshot(page, "hints-conflict");
  await dialog(page).getByRole("button", { name: "Use the stored value" }).click();
  assert.equal(await dialog(page).getByLabel("Value", { exact: true }).inputValue(), "cargo nextest run");
  await home.call("set_hint", command("just test"));
  await dialog(page).getByLabel("Value", { exact: true }).fill("make test");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await dialog(page)
    .getByRole("button", { name: /^Replace version/ })
    .click();
  await card(page, "make test").waitFor();
  assert.equal((await stored("shop", "test"))[0].value.cmd, "make test");
  await page.getByRole("button", { name: "New hint" }).click();
  await dialog(page).getByLabel("Component").fill("shop");
  await dialog(page).getByLabel("Key").fill("test");
  await dialog(page).getByLabel("Value", { exact: true }).fill("overwritten");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await dialog(page).getByText("There is already a hint with this name and scope.").waitFor();
  await page.keyboard.press("Escape");
  await until("closed", async () => (await dialog(page).count()) === 0);
  assert.equal((await stored("shop", "test"))[0].value.cmd, "make test");
  await page.finish();
});

test("bad input is refused in the form with the reason", async () => {
  const page = await openPage(home, { path: "/?view=hints" });
  await page.getByRole("button", { name: "New hint" }).click();
  await dialog(page).getByLabel("Component").fill("x");
  await dialog(page).getByLabel("Key").fill("y");
  await dialog(page).getByLabel("Kind").selectOption("json");
  await dialog(page).getByLabel("Value", { exact: true }).fill("{not json");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await dialog(page).getByText("The value is not JSON").waitFor();
  await dialog(page).getByLabel("Value", { exact: true }).fill('{"a": 1}');
  await dialog(page).getByLabel("Variables with values").fill("novalue");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await dialog(page).getByText("is not of the form NAME=value").waitFor();
  await dialog(page).getByLabel("Variables with values").fill("STAGE=dev|test");
  await dialog(page).getByLabel("Lifetime").fill("two weeks");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await dialog(page).locator(".error").waitFor();
  await dialog(page).getByLabel("Lifetime").fill("P14D");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await card(page, '"a": 1').waitFor();
  assert.deepEqual((await stored("x", "y"))[0].meta.scope, { env_match: { STAGE: ["dev", "test"] } });
  await page.finish();
});

// @page_hints
test("a deleted variant comes back whole with Undo", async () => {
  const before = await stored("shop", "build");
  const page = await openPage(home, { path: "/?view=hints" });
  await card(page, "cargo build --target").getByRole("button", { name: "Delete" }).click();
  await until("deleted", async () => (await card(page, "cargo build --target").count()) === 0);
  assert.equal((await stored("shop", "build")).length, 1);
  await page.getByRole("button", { name: "Undo" }).click();
  await card(page, "cargo build --target").waitFor();
  assert.deepEqual(await stored("shop", "build"), before);
  await card(page, "cargo build --target").getByRole("button", { name: "Copy" }).click();
  await page.getByText("Value copied.").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "cargo build --target aarch64-apple-darwin");
  await page.finish();
});

// @page_hints
test("hints that an agent changes appear, and Undo restores exactly what it replaced", async () => {
  const name = { component: "zzz", key: "k" };
  const set = (value) => home.call("set_hint", { ...name, value, meta: { ttl: "forever" } });
  const value = async () => (await stored("zzz", "k"))?.[0].value;
  await set("v1 of zzz");
  const page = await openPage(home, { path: "/?view=hints" });
  await card(page, "v1 of zzz").waitFor();
  // The second value is stored, and the list does not show it yet.
  const held = [];
  let isHolding = true;
  await page.route("**/rpc", (route) => {
    const isList = (route.request().postData() ?? "").includes('"export_hints"');
    return isHolding && isList ? held.push(route) : route.fallback();
  });
  await set("v2 of zzz");
  await until("the page reads the change", () => held.length > 0);
  isHolding = false;
  await card(page, "v1 of zzz").getByRole("button", { name: "Delete zzz/k" }).click();
  await page.getByText("It had been changed to version 2").waitFor();
  assert.equal(await value(), undefined);
  await page.getByRole("button", { name: "Undo" }).click();
  await until("the deleted value is back", async () => (await value()) === "v2 of zzz");
  for (const route of held) await route.fallback().catch(() => {});
  await page.unroute("**/rpc");
  await card(page, "v2 of zzz").getByRole("button", { name: "Edit zzz/k" }).click();
  await dialog(page).getByLabel("Value", { exact: true }).fill("mine of zzz");
  await set("theirs of zzz");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await dialog(page).getByRole("button", { name: /^Replace version/ }).click();
  await until("replaced", async () => (await value()) === "mine of zzz");
  await page.getByRole("button", { name: "Undo" }).click();
  await until("what was replaced is back", async () => (await value()) === "theirs of zzz");
  await card(page, "theirs of zzz").waitFor();
  await page.getByRole("button", { name: "Delete zzz/k" }).click();
  await page.getByText("Deleted zzz/k").waitFor();
  await set("newer of zzz");
  await card(page, "newer of zzz").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("was stored again meanwhile").waitFor();
  assert.equal(await value(), "newer of zzz");
  await home.call("delete_hint", name);
  await page.finish();
});

// @page_keys
test("a deletion by key is undone by key, and the focus comes back", async () => {
  await home.call("set_hint", { component: "zzx", key: "k", value: "by key", meta: { ttl: "forever" } });
  const page = await openPage(home, { path: "/?view=hints" });
  const remove = page.getByRole("button", { name: "Delete zzx/k" });
  await remove.focus();
  await page.keyboard.press("Enter");
  await card(page, "by key").waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement.textContent === "Undo");
  await page.keyboard.press("Enter");
  await card(page, "by key").waitFor();
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-label") === "Delete zzx/k");
  await remove.click();
  await page.getByText("Deleted zzx/k").waitFor();
  await page.keyboard.press("u");
  await card(page, "by key").waitFor();
  await home.call("delete_hint", { component: "zzx", key: "k" });
  await card(page, "by key").waitFor({ state: "detached" });
  await page.finish();
});

test("a long value is folded until it is asked for", async () => {
  await home.call("set_hint", { component: "long", key: "k", value: "y".repeat(60_000), meta: { ttl: "forever" } });
  const page = await openPage(home, { path: "/?view=hints" });
  const all = page.getByRole("button", { name: "Show all (60 KB)" });
  await all.waitFor();
  const length = async () => (await page.locator("#main").innerText()).length;
  assert.ok((await length()) < 10_000, "folded");
  await all.click();
  assert.ok((await length()) > 60_000, "unfolded");
  await home.call("delete_hint", { component: "long", key: "k" });
  await page.finish();
});

test("a secret is masked until it is asked for, and hostile text stays text", async () => {
  const secret = { component: "vault", key: "token", value: "hunter2-hunter2", meta: { sensitivity: "secret" } };
  await home.call("set_hint", secret);
  await seedHostile(home);
  const page = await openPage(home, { path: "/?view=hints", width: 360 });
  await page.getByRole("button", { name: "Show the secret text" }).waitFor();
  assert.equal((await page.locator("#main").innerText()).includes("hunter2"), false);
  await page.getByRole("button", { name: "Show the secret text" }).click();
  assert.match(await page.locator("#main").innerText(), /hunter2/);
  assert.deepEqual(await foreignElements(page), []);
  const shown = await page.locator("#main").innerText();
  for (const text of HOSTILE.slice(0, 5)) assert.ok(shown.includes(text), text);
  await screenshot(page, "hints-hostile");
  await page.locator(".hint", { hasText: HOSTILE[0] }).first().getByRole("button", { name: "Edit" }).click();
  assert.equal(await dialog(page).getByLabel("Value", { exact: true }).inputValue(), HOSTILE[0]);
  assert.deepEqual(await badBoxes(page), []);
  await page.finish();
});
