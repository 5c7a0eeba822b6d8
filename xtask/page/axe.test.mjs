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
