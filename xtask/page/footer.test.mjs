// The context footer: when it is shown, its links, live changes, and that it never shows another session's context.

import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";

import { badBoxes, closeBrowser, Home, HOSTILE, openPage, screenshot, seed, until } from "./kit.mjs";

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
const set = (session, setName, items) => home.call("set_relevant_context", { session_id: session, setName, items });
const shown = "#contextFooter.has-context";
const parts = (page) =>
  page.evaluate(() =>
    [...document.querySelector(".context-links").childNodes].map((node) => [
      node.tagName,
      node.className,
      node.textContent,
      node.getAttribute("href"),
      node.title,
    ]),
  );

// @page_footer
test("the footer is hidden without a session and without context", async () => {
  const page = await openPage(home);
  assert.equal(await page.locator(shown).count(), 0);
  await page.open(open(sessions[0].session));
  await page.waitForSelector(".turn");
  assert.equal(await page.locator(shown).count(), 0);
  assert.equal(await page.locator("#contextFooter").isVisible(), false);
  await page.open(open(sessions[6].session));
  await page.waitForSelector(shown);
  await page.click("nav a.nav-link >> nth=0");
  await page.waitForSelector(".tl-item");
  assert.equal(await page.locator(shown).count(), 0);
  await page.finish();
});

// @page_footer
test("files are base names with encoded links, then a count, then the applet", async () => {
  const session = "footer-links";
  const cwd = home.project("links");
  await home.hook("SessionStart", { session_id: session, cwd, source: "startup" });
  const files = ["a b&c.md", "x#y?.rs", "%41.txt", "é漢.js", "last.rs", "six.rs", "seven.rs"].map((name) =>
    path.join(cwd, name),
  );
  await set(session, "files", files);
  await set(session, "applet", [
    "git-diff",
    "path=/a b/c&d",
    "x=1=2",
    "session=evil",
    "view=evil",
    "link=evil",
    "flag",
  ]);
  await set(session, "ports", ["8080"]);
  const page = await openPage(home, { path: open(session) });
  await page.waitForSelector(shown);
  const query = (params) => `/?${params.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
  const link = (file) => [
    "A",
    "",
    path.basename(file),
    query([
      ["session", session],
      ["view", "file"],
      ["path", file],
    ]),
    file,
  ];
  const dot = ["SPAN", "context-sep", "·", null, ""];
  const expected = files.slice(0, 5).flatMap((file) => [link(file), dot]);
  expected.push(["SPAN", "context-more", "+2 more", null, ""], dot, [
    "A",
    "context-applet",
    "[git-diff]",
    query([
      ["session", session],
      ["view", "git-diff"],
      ["path", "/a b/c&d"],
      ["x", "1=2"],
      ["flag", ""],
    ]),
    "",
  ]);
  assert.deepEqual(await parts(page), expected);
  assert.equal(await page.locator(".context-links >> text=8080").count(), 0);
  await screenshot(page, "footer-1280-light");
  await page.click(".context-links a >> nth=0");
  await page.waitForFunction(() => document.querySelector("#title").textContent === "a b&c.md");
  assert.equal(new URL(page.url()).searchParams.get("path"), files[0]);
  await page.waitForSelector(shown);
  await page.finish();
});

test("an applet that is no view of the page lists its parameters", async () => {
  const session = sessions[2].session;
  await set(session, "applet", ["git-diff", "commit=abc", "note=<b>"]);
  const page = await openPage(home, { path: open(session) });
  await page.click(".context-applet");
  await page.waitForSelector("text=No view is called");
  const text = await page.textContent("#main");
  for (const part of ["git-diff", "commit", "abc", "note", "<b>"]) assert.ok(text.includes(part), part);
  await page.click("text=To the session");
  await page.waitForSelector(".turn");
  await page.finish();
});

test("changes are live, whoever makes them", async () => {
  const { session, cwd } = sessions[1];
  const page = await openPage(home, { path: open(session) });
  await page.waitForSelector(".is-live");
  assert.equal(await page.locator(shown).count(), 0);
  await set(session, "files", [path.join(cwd, "live.rs")]);
  await page.waitForSelector(`${shown} >> text=live.rs`);
  await home.run("context", "set", "files", path.join(cwd, "from-cli.rs"), "--session", session);
  await page.waitForSelector(`${shown} >> text=from-cli.rs`);
  assert.equal(await page.locator(".context-links >> text=live.rs").count(), 0);
  await set(session, "files", []);
  await page.waitForFunction(() => !document.querySelector("#contextFooter").classList.contains("has-context"));
  await page.finish();
});

// @page_footer
test("the footer stays live in a view that was opened from the session", async () => {
  const session = "footer-live-inside";
  const cwd = home.project("inside");
  await home.hook("SessionStart", { session_id: session, cwd, source: "startup" });
  await set(session, "files", [path.join(cwd, "first.rs")]);
  const page = await openPage(home, { path: open(session) });
  await page.click(`${shown} >> text=first.rs`);
  await page.waitForFunction(() => document.querySelector("#title").textContent === "first.rs");
  await set(session, "files", [path.join(cwd, "second.rs")]);
  await page.waitForSelector(`${shown} >> text=second.rs`);
  assert.equal(await page.locator(`${shown} >> text=first.rs`).count(), 0);
  // The sign is drawn; its text is there for those who copy or read the page by program.
  assert.equal((await page.textContent("#contextFooter > .context-icon")).trim(), "📎");
  assert.equal((await page.locator("#contextFooter > .context-icon svg").boundingBox()).width, 16);
  await page.finish();
});

// @page_footer
test("another session clears the footer at once, whatever reply is in flight", async () => {
  const [one, two] = [sessions[6], sessions[3]];
  await set(two.session, "files", []);
  const page = await openPage(home, { path: open(one.session) });
  await page.waitForSelector(`${shown} >> text=csv.rs`);
  const held = [];
  await page.route("**/rpc", async (route) => {
    const body = JSON.parse(route.request().postData() ?? "{}");
    if (body.method === "get_session") held.push(route);
    else await route.continue();
  });
  const go = (session) =>
    page.evaluate((id) => {
      const link = document.createElement("a");
      link.href = `/?session=${id}`;
      document.querySelector("#main").append(link);
      link.click();
      return document.querySelector("#contextFooter").classList.contains("has-context");
    }, session);
  assert.equal(await go(two.session), false, "cleared in the same task");
  await until("a reply is held", () => held.length > 0);
  assert.equal(await go(one.session), false);
  // The feed answers although the replies never come.
  await page.waitForSelector(`${shown} >> text=csv.rs`);
  assert.equal(await go(two.session), false);
  for (const route of held.splice(0)) await route.continue().catch(() => {});
  await page.waitForTimeout(500);
  assert.equal(await page.locator(shown).count(), 0, "a late reply of the first session shows nothing");
  await page.unroute("**/rpc");
  await page.finish();
});

test("a view inside a session is captured as its applet, and only that one is cleared", async () => {
  const { session, cwd } = sessions[4];
  const file = path.join(cwd, "src/header.css");
  const applet = async () => (await home.call("get_session", { session_id: session })).meta.context.applet;
  const page = await openPage(home, { path: `/?session=${session}&view=file&path=${encodeURIComponent(file)}` });
  await until(
    "the applet is stored",
    async () => JSON.stringify(await applet()) === JSON.stringify(["file", `path=${file}`]),
  );
  await page.waitForSelector(`${shown} >> text=[file]`);
  await page.click("#main >> text=To the session");
  await page.waitForSelector(".turn");
  await until("the applet is cleared", async () => (await applet()) === undefined);
  await set(session, "applet", ["mine", "a=b"]);
  await page.reload();
  await page.waitForSelector(`${shown} >> text=[mine]`);
  await page.click("nav a.nav-link >> nth=0");
  await page.waitForSelector(".tl-item");
  assert.deepEqual(await applet(), ["mine", "a=b"]);
  await page.finish();
});

// @page_footer_keeps_applets
test("an applet that an agent set stays, whatever is opened in its session", async () => {
  const { session, cwd } = sessions[3];
  const file = path.join(cwd, "src/tax.rs");
  const context = async () => (await home.call("get_session", { session_id: session })).meta.context;
  const dashboard = ["dashboard", "tab=latency"];
  await set(session, "files", [file]);
  await set(session, "applet", dashboard);
  const page = await openPage(home, { path: open(session) });
  const kept = async (when) => {
    // The page asks for the session before it would write: its last call is over.
    await page.waitForLoadState("networkidle");
    assert.deepEqual((await context()).applet, dashboard, when);
  };
  await page.click(`${shown} >> text=tax.rs`);
  await page.waitForFunction(() => document.querySelector("#title").textContent === "tax.rs");
  await kept("in a file of the session");
  assert.equal(await page.locator(`${shown} >> text=[dashboard]`).count(), 1);
  await page.goBack();
  await page.waitForSelector(".turn");
  await kept("back in the session");
  for (const unknown of [`/?applet=git-diff&a=b&session=${session}`, `/?view=nonsense&session=${session}`]) {
    await page.open(unknown);
    await page.waitForSelector("text=No view is called");
    await kept(unknown);
  }
  await set(session, "applet", []);
  await page.open(`/?applet=git-diff&a=b&session=${session}`);
  await page.waitForSelector("text=No view is called");
  await page.waitForLoadState("networkidle");
  assert.equal((await context()).applet, undefined, "an unknown view is not captured");
  await page.finish();
});

test("a view that this browser captured is replaced and cleared also after a reload", async () => {
  const { session, cwd } = sessions[2];
  const file = path.join(cwd, "src/refunds.md");
  await set(session, "applet", []);
  const applet = async () => (await home.call("get_session", { session_id: session })).meta.context.applet?.[0];
  const page = await openPage(home, { path: `/?session=${session}&view=file&path=${encodeURIComponent(file)}` });
  await until("captured", async () => (await applet()) === "file");
  await page.reload();
  await page.open(`/?session=${session}&view=stats`);
  await until("replaced", async () => (await applet()) === "stats");
  await page.open(open(session));
  await until("cleared", async () => (await applet()) === undefined);
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  assert.ok(!stored.includes("refunds"), "storage holds no text of the user");
  await page.finish();
});

// @page_tells_apart
test("files of one name have their folder in the footer", async () => {
  const { session, cwd } = sessions[1];
  await set(session, "files", ["src/a/mod.rs", "src/b/mod.rs", "src/lib.rs"].map((name) => path.join(cwd, name)));
  const page = await openPage(home, { path: open(session) });
  await page.waitForSelector(`${shown} >> text=a/mod.rs`);
  const names = await page.locator(`${shown} a:not(.context-applet)`).allTextContents();
  assert.deepEqual(names, ["a/mod.rs", "b/mod.rs", "lib.rs"]);
  await page.finish();
});

test("another query, filter or unit keeps the session in which a view was opened", async () => {
  const { session, cwd } = sessions[2];
  await set(session, "files", [path.join(cwd, "src/refunds.md")]);
  const inside = (page) => new URL(page.url()).searchParams.get("session") === session;
  const page = await openPage(home, { path: `/?session=${session}&view=search&q=csv` });
  await page.waitForSelector(`${shown} >> text=refunds.md`);
  await page.fill("#main input[type=search]", "coupon");
  await page.keyboard.press("Enter");
  await until("another query", () => page.url().includes("q=coupon"));
  assert.ok(inside(page), page.url());
  await page.open(`/?session=${session}&view=stats`);
  await page.getByLabel("Over time").selectOption("hour");
  await until("another unit", () => page.url().includes("bucket=hour"));
  assert.ok(inside(page), page.url());
  await page.waitForSelector(`${shown} >> text=refunds.md`);
  // The navigation leads out of the session.
  await page.click("nav a.nav-link[href*='view=stats']");
  await until("outside", () => !inside(page));
  await page.finish();
});

test("a session that is deleted elsewhere empties the footer", async () => {
  const session = "footer-deleted";
  const cwd = home.project("deleted");
  await home.hook("SessionStart", { session_id: session, cwd, source: "startup" });
  await set(session, "files", [path.join(cwd, "gone.rs")]);
  const page = await openPage(home, { path: open(session) });
  await page.waitForSelector(`${shown} >> text=gone.rs`);
  await home.call("delete_session", { session_id: session, confirm: true });
  await page.waitForFunction(() => !document.querySelector("#contextFooter").classList.contains("has-context"));
  await page.waitForSelector("text=This session was deleted");
  await page.finish();
});

test("hostile names stay text on one line, and links stay inside the page", async () => {
  const session = "footer-hostile";
  const cwd = home.project("hostile");
  await home.hook("SessionStart", { session_id: session, cwd, source: "startup" });
  const names = HOSTILE.filter((text) => !/[/]/.test(text)).slice(0, 5);
  await home.call("update_session", {
    session_id: session,
    context: {
      files: [...names.map((name) => path.join(cwd, name)), path.join(cwd, "y".repeat(900))],
      applet: [`"><img src=x onerror=alert(1)>`, `javascript:alert(1)=${HOSTILE[0]}`],
    },
  });
  for (const width of [1280, 360]) {
    const page = await openPage(home, { path: open(session), width, height: 740 });
    await page.waitForSelector(shown);
    const box = await page.locator("#contextFooter").boundingBox();
    assert.ok(box.height < 48, `${box.height} px high`);
    assert.equal(await page.locator("#contextFooter img, #contextFooter script").count(), 0);
    const links = await page.evaluate(() => [...document.querySelectorAll("#contextFooter a")].map(({ href }) => href));
    assert.ok(
      links.every((link) => link.startsWith(`http://127.0.0.1:${home.port}/?session=footer-hostile&view=`)),
      links.join("\n"),
    );
    await screenshot(page, `footer-hostile-${width}-light`);
    await page.finish();
  }
});

test("the footer fits below the content in both schemes", async () => {
  for (const [width, scheme] of [
    [360, "dark"],
    [1280, "dark"],
    [360, "light"],
  ]) {
    const page = await openPage(home, { path: open(sessions[6].session), width, height: 740, scheme });
    await page.waitForSelector(shown);
    await page.waitForSelector(".turn");
    const box = await page.locator("#contextFooter").boundingBox();
    const main = await page.locator("#main").boundingBox();
    // In a narrow window it would cover half of a button: it is above the content.
    if (width < 800) assert.ok(box.y > 48 && box.y + box.height <= main.y && main.y < 740, JSON.stringify({ box, main }));
    else assert.ok(Math.abs(box.y + box.height - 740) <= 1, "at the bottom of the window");
    await screenshot(page, `session-${width}-${scheme}`);
    assert.deepEqual(await badBoxes(page), []);
    await page.finish();
  }
});
