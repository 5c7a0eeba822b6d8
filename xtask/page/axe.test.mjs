// axe (WCAG 2.2 A and AA) on every view, in both colour schemes, at 360 and 1280 pixels.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { axeSource, badBoxes, closeBrowser, Home, newContext, openPage, OUT, screenshot, seed } from "./kit.mjs";
import { seedLearned } from "./seeds.mjs";

let home;
let empty;
const counts = {};

before(async () => {
  home = await Home.open();
  await seed(home);
  await seedLearned(home);
  empty = await Home.open();
});

after(async () => {
  fs.mkdirSync(OUT, { recursive: true });
  fs.writeFileSync(path.join(OUT, "axe.json"), JSON.stringify(counts, null, 2));
  await closeBrowser();
  await home.close();
  await empty.close();
});

const SESSION = "77777777-aaaa-4000-8000-000000000006";

/** Each view, with the controls that open the rest of it. */
const VIEWS = {
  timeline: ["/"],
  sessions: ["/?view=sessions"],
  session: [`/?session=${SESSION}`],
  search: ["/?view=search&q=round", ["Why this hit", "Surroundings", "Similar records"]],
  file: ["/?view=file&path=src/cart.rs"],
  record: ["/?view=record&path=obs%3A%2F%2F13", ["Surroundings"]],
  unknown: ["/?view=nonsense&a=b"],
  missing: ["/?view=record&path=obs%3A%2F%2F99999"],
  hints: ["/?view=hints&os=darwin&branch=main", ["New hint"]],
  receipts: ["/?view=receipts"],
  stats: ["/?view=stats"],
  hours: ["/?view=stats&bucket=hour"],
  ghaps: ["/?view=learning", [], "summary"],
  memories: ["/?view=learning&tab=memories"],
  values: ["/?view=learning&tab=values"],
  fixes: ["/?view=learning&tab=fixes"],
  projects: ["/?view=projects", ["Count what would be deleted"], "summary"],
  health: ["/?view=health", ["Run the checks"]],
};

/** Views inside a session, whose footer shares a small window with them. */
const INSIDE = {
  session: [`/?session=${SESSION}`],
  file: [`/?session=${SESSION}&view=file&path=src/csv.rs`],
  search: [`/?session=${SESSION}&view=search&q=round`],
  sessions: [`/?session=${SESSION}&view=sessions`],
  timeline: [`/?session=${SESSION}&view=timeline`],
};

/** Each view as it opens. */
const FIRST = Object.fromEntries(Object.entries(VIEWS).map(([name, [address]]) => [name, [address]]));

async function violations(page) {
  await page.evaluate(axeSource());
  const { violations: found, passes } = await page.evaluate(() =>
    window.axe.run(document, {
      runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"] },
    }),
  );
  const texts = found.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html} ${node.failureSummary}`));
  return { texts, passes: passes.length };
}

const isIdle = (page) =>
  page.waitForFunction(() => !document.querySelector("[aria-busy=true]") && !document.querySelector("#main .loading"));

for (const scheme of ["light", "dark"]) {
  for (const width of [360, 1280]) {
    const stores = [["full", VIEWS]];
    // An empty store has little to show: two of the four combinations reach all of it.
    if ((scheme === "light") === (width === 360)) stores.push(["empty", FIRST]);
    for (const [store, views] of stores) {
      // @page_accessible
      test(`no violation with the ${store} store, ${scheme}, ${width} px`, async () => {
        const context = await newContext({ width, height: 900, scheme });
        const page = await openPage(store === "full" ? home : empty, { context });
        const problems = [];
        for (const [name, [address, buttons = [], opener]] of Object.entries(views)) {
          await page.open(address);
          await isIdle(page);
          if (opener) await page.locator(`#main ${opener}`).first().click();
          for (const button of buttons)
            await page.locator("#main").getByRole("button", { name: button }).first().click();
          await isIdle(page);
          const id = `${name}-${store}-${scheme}-${width}`;
          const { texts, passes } = await violations(page);
          counts[id] = { violations: texts.length, passes };
          problems.push(...texts.map((text) => `${id}: ${text}`));
          problems.push(...(await badBoxes(page)).map((text) => `${id}: ${text}`));
          await screenshot(page, `axe/${id}`, { full: !buttons.includes("New hint") });
        }
        assert.deepEqual(problems, []);
        await page.finish();
        await context.close();
      });
    }
  }
}

// @page_accessible
test("no violation in small windows, at the top and further down", async () => {
  const context = await newContext({ width: 360, height: 640 });
  const page = await openPage(home, { context });
  const problems = [];
  for (const [name, [address]] of Object.entries({ ...FIRST, ...INSIDE })) {
    await page.open(address);
    await isIdle(page);
    for (const height of [640, 700, 740]) {
      await page.setViewportSize({ width: 360, height });
      await page.evaluate(() => scrollTo(0, 0));
      const { texts } = await violations(page);
      problems.push(...texts.map((text) => `${name}, ${height} px: ${text}`));
    }
    problems.push(...(await badBoxes(page)).map((text) => `${name}: ${text}`));
  }
  assert.deepEqual(problems, []);
  await page.finish();
  await context.close();
});

// @page_accessible
test("a control with the focus is not behind the bars above and below", async () => {
  const hidden = [];
  for (const width of [360, 1280]) {
    const context = await newContext({ width, height: 640 });
    const page = await openPage(home, { context });
    for (const [name, [address]] of Object.entries({ ...INSIDE, all: ["/?view=sessions"] })) {
      await page.open(address);
      await isIdle(page);
      for (const [key, times] of [
        ["Tab", 45],
        ["Shift+Tab", 25],
      ]) {
        for (let time = 0; time < times; time += 1) {
          await page.keyboard.press(key);
          const covered = await page.evaluate(() => {
            const focused = document.activeElement;
            if (!focused || focused === document.body || focused.closest(".side, .context-footer, .skip")) return null;
            const box = focused.getBoundingClientRect();
            const ends = [box.top + 3, box.bottom - 3].map((y) => document.elementFromPoint(box.left + 3, y));
            const covers = ends.some((one) => one?.closest(".side, .context-footer"));
            return covers ? `${focused.tagName} ${focused.textContent.slice(0, 40)}` : null;
          });
          if (covered) hidden.push(`${name}, ${width} px, ${key}: ${covered}`);
        }
      }
    }
    await page.finish();
    await context.close();
  }
  assert.deepEqual(hidden, []);
});
