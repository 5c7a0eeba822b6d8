// The timeline: rows, filters, live records, bursts, long lists, hostile text.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { badBoxes, closeBrowser, Home, HOSTILE, openPage, screenshot, seed, turn, until } from "./kit.mjs";

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

const texts = (page) => page.locator(".tl-item").allTextContents();

test("rows show prompts, answers, edits, commands and commits with time, project and agent", async () => {
  const page = await openPage(home);
  await page.waitForSelector(".tl-item");
  const rows = await texts(page);
  const row = (part) => rows.find((text) => text.includes(part)) ?? assert.fail(`${part}: ${rows.join("\n")}`);
  assert.match(row("The importer drops the last row"), /Prompt.*shop.*claude-code/);
  assert.match(row("Fixed. The parser emitted"), /Answer/);
  assert.match(row("src/csv.rs"), /Edited src\/csv\.rs/);
  // The three edits of the file share one row.
  assert.match(row("let total = round_half_up"), /×3/);
  const failed = page.locator(".tl-item.tl-failed").first();
  assert.match(await failed.textContent(), /failed, exit 101/);
  assert.equal(await failed.locator(".badge-failed svg").count(), 1, "a sign, not only a colour");
  const times = page.locator(".tl-item time").first();
  assert.match(await times.getAttribute("title"), /\d{4}/);
  assert.match(await times.getAttribute("aria-label"), /\d{4}/);
  assert.deepEqual((await page.locator(".tl-day").allTextContents()).slice(0, 2), ["Today", "Yesterday"]);
  await page.finish();
});

test("a row opens the whole record, which can be pinned and unpinned again", async () => {
  const page = await openPage(home);
  await page.click(".tl-failed .tl-main");
  await page.waitForSelector(".tl-item.is-open .record-error");
  assert.match(await page.textContent(".tl-item.is-open .record-error"), /Exit code 101/);
  await screenshot(page, "timeline-open-1280-light");
  assert.deepEqual(await badBoxes(page), []);
  // No row is drawn over the opened one.
  const overlaps = await page.evaluate(() => {
    const boxes = [...document.querySelectorAll(".tl-list > *")].map((row) => row.getBoundingClientRect());
    return boxes.filter((box, at) => at > 0 && box.top < boxes[at - 1].bottom - 1).length;
  });
  assert.equal(overlaps, 0);
  await page.click(".is-open >> text=Pin");
  await page.waitForSelector(".is-open >> text=pinned");
  await page.click(".toast >> text=Undo");
  await page.waitForFunction(() => !document.querySelector(".is-open .tl-badges .badge-accent"));
  await page.click(".is-open .tl-main");
  await page.waitForFunction(() => !document.querySelector(".is-open"));
  await page.click(".tl-count >> nth=0");
  await page.waitForFunction(() => document.querySelectorAll(".is-open .record").length === 3);
  await page.click(".is-open >> text=Open alone >> nth=0");
  await page.waitForFunction(() => location.search.includes("view=record"));
  await page.goBack();
  await page.waitForSelector(".tl-item");
  await page.finish();
});

test("filters by type, agent and failure are in the address", async () => {
  const page = await openPage(home);
  await page.selectOption("#tl-type", "user_prompt");
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".tl-item")].every((row) => row.matches(".tl-prompt")),
  );
  assert.match(page.url(), /type=user_prompt/);
  await page.selectOption("#tl-agent", "codex");
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".tl-agent")].every((agent) => agent.textContent === "codex"),
  );
  assert.equal(await page.locator(".tl-item").count(), 2);
  await page.reload();
  await page.settled();
  assert.equal(await page.inputValue("#tl-type"), "user_prompt");
  await page.selectOption("#tl-type", "");
  await page.selectOption("#tl-agent", "");
  await page.check("#tl-failed");
  await until("only failures", async () => (await page.locator(".tl-item:not(.tl-failed)").count()) === 0);
  // One of the seven sessions is of an agent that reports no failures.
  assert.equal(await page.locator(".tl-item").count(), 6);
  // Memories are no activity, so the filter does not offer them.
  const offered = await page.locator("#tl-type option").evaluateAll((all) => all.map(({ value }) => value));
  assert.ok(offered.includes("marker") && offered.includes("tool_other"));
  for (const declared of ["memory", "ghap", "experience", "value"]) assert.ok(!offered.includes(declared), declared);
  await page.open("/?type=nonsense");
  await page.waitForSelector("#main .error");
  await page.open("/?project=shop&from=2020-01-01&to=2020-01-02");
  await page.waitForSelector("text=No record matches");
  await page.click("text=Show everything");
  await page.waitForSelector(".tl-item");
  await page.finish();
});

// @page_timeline
test("records appear live at the top, and wait behind a count while the reader is further down", async () => {
  const page = await openPage(home, { height: 600 });
  await page.waitForSelector(".is-live");
  const { session, cwd } = sessions[6];
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "Live number one", step: 1 }));
  await page.waitForSelector("text=Live number one");
  assert.equal(await page.locator(".tl-new").isVisible(), false);
  await page.mouse.move(700, 400);
  await page.mouse.wheel(0, 900);
  await page.waitForFunction(() => scrollY > 500);
  const place = await page.evaluate(() => {
    const row = [...document.querySelectorAll(".tl-item")].find((one) => one.getBoundingClientRect().top > 100);
    return [row.textContent, row.getBoundingClientRect().top];
  });
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "Live number two", actions: [["run", "make"]], step: 1 }));
  await page.waitForSelector(".tl-new >> text=2 new");
  assert.equal(await page.locator("text=Live number two").count(), 0);
  const later = await page.evaluate(
    (text) =>
      [...document.querySelectorAll(".tl-item")].find((one) => one.textContent === text).getBoundingClientRect().top,
    place[0],
  );
  assert.equal(later, place[1], "nothing jumped");
  await screenshot(page, "timeline-new-1280-light");
  await page.click(".tl-new");
  await page.waitForSelector("text=Live number two");
  assert.equal(await page.evaluate(() => scrollY), 0);
  assert.equal(await page.locator(".tl-new").isVisible(), false);
  await page.finish();
});

/** Writes the prompts of a session as Claude Code stores them, a minute apart. Returns the path. */
function transcript(owner, cwd, at, prompts) {
  const file = path.join(owner.dir, "home/.claude/projects/-old/old.jsonl");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const lines = prompts.map((content, index) => ({
    type: "user",
    uuid: `old-${index}`,
    promptId: `old-${index}`,
    sessionId: "old-session",
    cwd,
    timestamp: new Date(at + index * 60_000).toISOString(),
    isSidechain: false,
    version: "2.1.239",
    message: { role: "user", content },
  }));
  fs.writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

// @page_timeline
test("imported and late records are at their time, in a new page and in an open one", async () => {
  const other = await Home.open();
  const cwd = other.project("import");
  const events = [];
  for (let at = 0; at < 130; at += 1) {
    events.push(...turn("today", cwd, Date.now() - 130_000 + at * 1000, { actions: [["run", `echo today ${at}`]] }));
  }
  await other.hooks(events);
  const watching = await openPage(other);
  await watching.waitForSelector("text=echo today 129");
  await watching.waitForSelector(".is-live");
  const prompts = Array.from({ length: 120 }, (_, at) => `old prompt ${at}`);
  await other.run("import", "--yes", transcript(other, cwd, Date.now() - 200 * 86_400_000, prompts));
  await other.hooks(turn("late", cwd, Date.now() - 86_400_000, { prompt: "Spooled yesterday", step: 1 }));
  await watching.waitForSelector("text=121 records since");
  const opened = await openPage(other);
  await opened.waitForSelector(".tl-item");
  // Long enough for a message about records that the page would take for new ones.
  await opened.waitForTimeout(600);
  for (const page of [watching, opened]) {
    assert.equal((await page.locator(".tl-day").allTextContents())[0], "Today");
    assert.match((await texts(page))[0], /echo today 129/);
    assert.equal(await page.locator(".tl-new").isVisible(), false);
  }
  assert.equal(await opened.locator("text=records since").count(), 0, "nothing is new to a page that was just opened");
  await watching.finish();
  const seen = new Set();
  const days = [];
  await until("the first record", async () => {
    for (const text of await texts(opened)) seen.add(/(old prompt|echo today) \d+|Spooled yesterday/.exec(text)?.[0]);
    for (const day of await opened.locator(".tl-day").allTextContents()) if (!days.includes(day)) days.push(day);
    await opened.mouse.move(700, 400);
    await opened.mouse.wheel(0, 500);
    const isDown = await opened.evaluate(() => scrollY + innerHeight >= document.documentElement.scrollHeight - 1);
    return isDown && opened.locator("text=This is the first record.").isVisible();
  });
  assert.equal(seen.size, 251, "each record is on one page");
  assert.deepEqual(days.slice(0, 2), ["Today", "Yesterday"]);
  await opened.finish();
  await other.close();
});

// @page_timeline
test("a record that arrives late is put between those that are shown, under its day", async () => {
  const other = await Home.open();
  const cwd = other.project("late");
  const noon = new Date(Date.now() - 86_400_000).setHours(12, 0, 0, 0);
  const runs = (at, command) => turn("late", cwd, at, { actions: [["run", command]] });
  await other.hooks([...runs(noon, "make first"), ...runs(noon + 60_000, "make twice"), ...runs(noon + 120_000, "make twice")]);
  const page = await openPage(other);
  await page.waitForSelector("text=make first");
  await page.waitForSelector(".is-live");
  const rows = () =>
    page.locator(".tl-list > *").evaluateAll((all) => {
      all.sort((a, b) => a.getAttribute("aria-posinset") - b.getAttribute("aria-posinset"));
      return all.map((one) => one.querySelector("h2")?.textContent ?? one.querySelector(".tl-subject").textContent);
    });
  assert.deepEqual(await rows(), ["Yesterday", "make twice", "make first"]);
  await other.hooks([
    ...runs(noon + 90_000, "make between"),
    ...runs(Date.now() - 3 * 86_400_000, "make oldest"),
    ...runs(Date.now(), "make now"),
  ]);
  await page.waitForSelector("text=make now");
  await page.waitForSelector("text=make oldest");
  const expected = ["Today", "make now", "Yesterday", "make twice", "make between", "make twice", "make first"];
  const shown = await rows();
  assert.deepEqual([shown.slice(0, 7), shown[8]], [expected, "make oldest"]);
  await page.reload();
  await page.settled();
  assert.deepEqual((await rows()).slice(0, 7), expected, "as the daemon lists them");
  await page.finish();
  await other.close();
});

test("records of other filters stay away, live too", async () => {
  const page = await openPage(home, { path: "/?project=site" });
  await page.waitForSelector(".is-live");
  const [shop, site] = [sessions[6], sessions[4]];
  await home.hooks(turn(shop.session, shop.cwd, Date.now(), { prompt: "Not for this filter", step: 1 }));
  await home.hooks(turn(site.session, site.cwd, Date.now(), { prompt: "For this filter", step: 1, agent: "codex" }));
  await page.waitForSelector("text=For this filter");
  assert.equal(await page.locator("text=Not for this filter").count(), 0);
  await page.finish();
});

test("a reply that comes late, or never, does not replace a later one", async () => {
  const page = await openPage(home);
  await page.waitForSelector(".tl-item");
  const held = [];
  await page.route("**/rpc", async (route) => {
    const body = route.request().postData() ?? "";
    if (body.includes('"activity"') && body.includes('"file_read"')) held.push(route);
    else await route.continue();
  });
  await page.selectOption("#tl-type", "file_read");
  await until("the call is held", () => held.length > 0);
  await page.selectOption("#tl-type", "user_prompt");
  await page.waitForFunction(
    () =>
      document.querySelectorAll(".tl-item").length > 0 &&
      [...document.querySelectorAll(".tl-item")].every((row) => row.matches(".tl-prompt")),
  );
  for (const route of held) await route.continue().catch(() => {});
  await page.waitForTimeout(500);
  const types = await page.evaluate(() =>
    [...document.querySelectorAll(".tl-item")].every((row) => row.matches(".tl-prompt")),
  );
  assert.ok(types);
  await page.unroute("**/rpc");
  await page.finish();
});

test("going back returns to the same place", async () => {
  const other = await Home.open();
  const cwd = other.project("back");
  const events = [];
  for (let at = 0; at < 600; at += 1) {
    events.push(...turn("back", cwd, Date.now() - 1_000_000 + at * 1000, { actions: [["run", `echo step ${at}`]] }));
  }
  await other.hooks(events);
  const page = await openPage(other);
  await page.waitForSelector(".tl-item");
  await page.evaluate(async () => {
    for (let step = 0; step < 60; step += 1) {
      scrollBy(0, 200);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 10)));
    }
  });
  const place = await page.evaluate(() => scrollY);
  assert.ok(place > 5000, `${place} px`);
  await page.evaluate(() => document.elementFromPoint(1200, 400).closest("a").click());
  await page.waitForSelector(".turn");
  await page.goBack();
  await page.waitForFunction((wanted) => Math.abs(scrollY - wanted) < 5, place);
  await page.finish();
  await other.close();
});

test("a session that is deleted elsewhere disappears from the list", async () => {
  const page = await openPage(home);
  const cwd = home.project("gone");
  const session = "99999999-dead-4000-8000-000000000000";
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "To be deleted soon", answer: "Yes.", step: 1 }));
  await page.waitForSelector("text=To be deleted soon");
  await home.call("delete_session", { session_id: session, confirm: true });
  await page.waitForFunction(() => !document.querySelector(".tl-list").textContent.includes("To be deleted soon"));
  await page.finish();
});

test("an empty store says how to connect an agent, and fills live", async () => {
  const empty = await Home.open();
  for (const [width, scheme] of [
    [1280, "light"],
    [360, "dark"],
  ]) {
    const page = await openPage(empty, { width, height: 740, scheme });
    await page.waitForSelector("text=Nothing is recorded yet");
    await page.getByRole("button", { name: "Copy: rekindle install" }).click();
    await page.waitForSelector(".toast >> text=Command copied");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "rekindle install");
    await page.click(".toast-close");
    await screenshot(page, `timeline-empty-${width}-${scheme}`);
    assert.deepEqual(await badBoxes(page), []);
    await page.finish();
  }
  const page = await openPage(empty);
  await page.waitForSelector(".is-live");
  await empty.hooks(turn("first", empty.project("new"), Date.now(), { prompt: "The first prompt ever", step: 1 }));
  await page.waitForSelector("text=The first prompt ever");
  assert.equal(await page.locator("text=Nothing is recorded yet").count(), 0);
  await page.finish();
  await empty.close();
});

// @page_hostile_text
test("hostile text in every field is shown as text", async () => {
  const other = await Home.open();
  const cwd = other.project("plain");
  const events = [];
  for (const [index, text] of HOSTILE.entries()) {
    const session = `hostile-${index}`;
    events.push(
      ...turn(session, cwd, Date.now() - 60_000, {
        prompt: `${text} prompt`,
        answer: `${text} answer`,
        step: 1,
        actions: [
          ["run", `echo ${text}`, text],
          ["fail", `false ${text}`, `Exit code 1\n${text}`],
          ["edit", path.join(cwd, `${text.replaceAll("/", "_")}.js`), text],
          ["grep", text],
          ["web", `https://example.com/${text}`],
        ],
      }),
    );
  }
  events.push(...turn("long", cwd, Date.now(), { prompt: "x".repeat(1_000_000), step: 1 }));
  await other.hooks(events);
  const page = await openPage(other);
  await page.waitForSelector(".tl-item");
  // From the last one up: rows below an opened one move.
  for (let row = 14; row >= 0; row -= 1) await page.locator(".tl-item .tl-main").nth(row).click();
  await page.waitForFunction(() => document.querySelectorAll(".is-open .record").length > 2);
  assert.equal(await page.locator("#main img, #main script, #main iframe").count(), 0);
  const sideways = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.ok(sideways <= 0);
  const shown = await page.textContent("#main");
  assert.doesNotMatch(shown, /[\u202a-\u202e\u2066-\u2069\u0000]/);
  const hrefs = await page.evaluate(() => [...document.querySelectorAll("a[href]")].map((link) => link.protocol));
  assert.ok(
    hrefs.every((protocol) => protocol === "http:"),
    [...new Set(hrefs)].join(),
  );
  await screenshot(page, "timeline-hostile-1280-light");
  await page.setViewportSize({ width: 360, height: 740 });
  await page.waitForTimeout(300);
  await screenshot(page, "timeline-hostile-360-light");
  assert.doesNotMatch(await page.title(), /owned/);
  await page.finish();
  await other.close();
});

/** The longest task and the sum of all tasks of the main thread, in milliseconds. */
const watchTasks = (page) =>
  page.evaluate(() => {
    globalThis.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
    }).observe({ type: "longtask" });
  });

const heap = (page) =>
  page.evaluate(async () => {
    for (let round = 0; round < 3; round += 1) {
      gc();
      await new Promise((done) => setTimeout(done, 30));
    }
    return performance.memory.usedJSHeapSize;
  });

/** Time of the main thread in seconds, since the first call for a page. */
async function mainThread(page) {
  if (!page.metrics) {
    page.metrics = await page.context().newCDPSession(page);
    await page.metrics.send("Performance.enable");
  }
  const { metrics } = await page.metrics.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value;
}

/** Sends this many records in ten seconds. */
async function pour(target, { session, cwd }, count, seconds = 10) {
  const begun = Date.now();
  const size = 100;
  for (let sent = 0; sent < count; sent += size) {
    const events = [];
    for (let at = 0; at < size; at += 1) {
      events.push(...turn(session, cwd, Date.now(), { actions: [["run", `echo burst ${sent + at}`, "ok"]] }));
    }
    await target.hooks(events);
    const due = begun + ((sent + size) / count) * seconds * 1000;
    if (due > Date.now()) await new Promise((done) => setTimeout(done, due - Date.now()));
  }
  return (Date.now() - begun) / 1000;
}

/** What a page spends on 10,000 records if it only parses their frames. */
async function parsesOnly(target, session) {
  const blank = await openPage(target, { path: "/?view=unknown" });
  await blank.evaluate(async () => {
    const { subscribe } = await import("/live.js");
    subscribe("activity/subscribe", { project: "*" }, () => {});
  });
  await watchTasks(blank);
  const begun = await mainThread(blank);
  await pour(target, session, 10_000);
  const spent = (await mainThread(blank)) - begun;
  const longest = await blank.evaluate(() => globalThis.longest);
  await blank.finish();
  return { spent, longest };
}

// @page_flood
test(
  "10,000 records in ten seconds are shown or counted, without a long task and without growing",
  { timeout: 180_000 },
  async () => {
    const other = await Home.open();
    const one = (await seed(other)).at(-1);
    const page = await openPage(other);
    await page.waitForSelector(".is-live");
    const arrived = () => page.evaluate(() => Number(document.querySelector(".tl-status").dataset.arrived ?? 0));
    await pour(other, one, 1000, 1);
    await until("the first thousand", async () => (await arrived()) === 1000);
    const small = await heap(page);
    await watchTasks(page);
    // Other programs take time from both pages, but not at the same moments: the best of three rounds counts.
    let ratio = Infinity;
    for (let round = 1; round <= 3 && ratio > 5; round += 1) {
      const begun = await mainThread(page);
      const seconds = await pour(other, one, 10_000);
      await until("all records", async () => (await arrived()) === 20_000 * round - 9000, { ms: 20_000 });
      const spent = (await mainThread(page)) - begun;
      const longest = await page.evaluate(() => globalThis.longest);
      const large = await heap(page);
      const blank = await parsesOnly(other, one);
      ratio = Math.min(ratio, spent / blank.spent);
      console.log(
        `# 10,000 records in ${seconds.toFixed(1)} s: ${spent.toFixed(2)} s of the main thread, ` +
          `${blank.spent.toFixed(2)} s in a blank page; longest task ${longest} ms, ${blank.longest} ms in the blank page; ` +
          `heap ${(small / 1e6).toFixed(1)} MB, then ${(large / 1e6).toFixed(1)} MB`,
      );
      // On a busy computer the browser pauses for a while in any page.
      assert.ok(longest <= 100 + blank.longest, `a task took ${longest} ms`);
      assert.ok(large <= small * 1.2, `${small} bytes became ${large}`);
      await page.waitForFunction(() => document.querySelector(".tl-item").textContent.includes("burst 9999"));
      // The blank page's records arrive here, too.
      await until("its records", async () => (await arrived()) === 1000 + round * 20_000, { ms: 20_000 });
    }
    assert.ok(ratio <= 5, `${ratio} times a blank page`);
    await page.finish();
    await other.close();
  },
);

// @page_scrolls
test("100,000 records scroll from end to end with at most 300 rows in the document", { timeout: 600_000 }, async () => {
  const total = Number(process.env.REKINDLE_PAGE_RECORDS ?? 100_000);
  const other = await Home.open();
  const cwd = other.project("long");
  const base = Date.now() - 10 * 86_400_000;
  for (let from = 0; from < total; from += 5000) {
    const events = [];
    for (let at = from; at < Math.min(total, from + 5000); at += 1) {
      events.push({
        event: "PostToolUse",
        agent: "claude-code",
        at: base + at * 5000,
        payload: {
          session_id: `long-${at % 10_000}`,
          cwd,
          tool_name: "Bash",
          tool_input: { command: `echo ${at}` },
          tool_response: { stdout: "ok", stderr: "" },
        },
      });
    }
    await other.hooks(events);
  }
  const page = await openPage(other);
  await page.waitForSelector(".tl-item");

  // The first list takes about as long as with a small store.
  const first = async (opened) => {
    const times = [];
    for (let round = 0; round < 5; round += 1) {
      const begun = Date.now();
      await opened.reload();
      await opened.locator(".tl-item").first().waitFor();
      times.push(Date.now() - begun);
    }
    return times.sort((a, b) => a - b)[2];
  };
  const small = await openPage(home);
  await first(small);
  const [few, many] = [await first(small), await first(page)];
  await small.finish();
  assert.ok(many <= few * 2, `the first list takes ${few} ms, with ${total} records ${many} ms`);

  const walk = (steps) =>
    page.evaluate(async (count) => {
      let most = 0;
      const costs = [];
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      for (let step = 0; step < count; step += 1) {
        const begun = performance.now();
        scrollBy(0, 600);
        await frame();
        costs.push(performance.now() - begun);
        most = Math.max(most, document.querySelectorAll(".tl-list > *").length);
      }
      costs.sort((a, b) => a - b);
      return { most, median: costs[Math.floor(costs.length / 2)] };
    }, steps);
  // Warm up, then measure at the start.
  await walk(30);
  const start = await walk(100);
  const most = await page.evaluate(async () => {
    let rows = 0;
    const until = Date.now() + 400_000;
    const atEnd = () => document.querySelector(".tl-end").textContent.includes("This is the first record");
    while (!atEnd() && Date.now() < until) {
      scrollTo(0, document.documentElement.scrollHeight);
      await new Promise((done) => requestAnimationFrame(done));
      rows = Math.max(rows, document.querySelectorAll(".tl-list > *").length);
    }
    scrollTo(0, document.documentElement.scrollHeight);
    for (let frame = 0; frame < 3; frame += 1) await new Promise((done) => requestAnimationFrame(done));
    return atEnd() && document.querySelector(".tl-list").textContent.includes("echo 0") ? rows : -1;
  });
  assert.ok(most > 0 && most <= 300, `${most} rows`);
  await page.evaluate(() => scrollBy(0, -80_000));
  await walk(20);
  const end = await walk(100);
  console.log(
    `# ${total} records: first list ${many} ms, ${few} ms in a small store; ` +
      `at most ${Math.max(most, start.most, end.most)} rows; ` +
      `a frame takes ${start.median.toFixed(2)} ms at the start, ${end.median.toFixed(2)} ms at the end`,
  );
  assert.ok(end.most <= 300 && start.most <= 300);
  assert.ok(end.median <= start.median * 1.5, `${start.median} ms, then ${end.median} ms`);
  await page.finish();
  await other.close();
});

// @page_timeline
test("midnight makes yesterday of a heading that said today", async () => {
  const page = await openPage(home, { path: "/?view=nonsense" });
  await page.clock.install();
  const { session, cwd } = sessions[6];
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "Shortly before midnight", step: 1 }));
  await page.open("/");
  await page.waitForSelector("text=Shortly before midnight");
  assert.equal(await page.locator(".tl-day").first().textContent(), "Today");
  // No reply tells the page that its clock was changed.
  await page.route("**/rpc", () => undefined);
  await page.clock.fastForward(86_400_000);
  await until("yesterday", async () => (await page.locator(".tl-day").first().textContent()) === "Yesterday");
  assert.ok(!(await page.locator(".tl-day").allTextContents()).includes("Today"));
  await page.finish();
});

test("the count of new records can be clicked in a narrow window, below what stays at the top", async () => {
  const page = await openPage(home, { width: 360, height: 740 });
  await page.waitForSelector(".is-live");
  await page.evaluate(() => scrollTo(0, 900));
  const { session, cwd } = sessions[6];
  await home.hooks(turn(session, cwd, Date.now(), { prompt: "Live in a narrow window", step: 1 }));
  await page.waitForSelector(".tl-new >> text=/new/");
  assert.equal(await page.evaluate(() => scrollY), 900);
  const hit = await page.evaluate(() => {
    const { left, top, width, height } = document.querySelector(".tl-new").getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2)?.className;
  });
  assert.equal(hit, "tl-new");
  await page.finish();
});
