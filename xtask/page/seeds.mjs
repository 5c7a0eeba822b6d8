// More content for the tests of the views: hints, memories, ghaps, and texts that must stay texts.

import { HOSTILE, turn } from "./kit.mjs";

const GHAP = {
  domain: "debugging",
  strategy: "root-cause-analysis",
  goal: "Find why the login test is flaky",
  hypothesis: "The clock of the test host runs ahead",
  action: "Freeze the clock in the login tests",
  prediction: "The login tests pass with a frozen clock",
};

/** Stores five hints, three memories and two ghaps in the project `shop`. */
export async function seedLearned(home) {
  const cwd = home.project("shop");
  const hint = (component, key, value, meta = {}) =>
    home.call("set_hint", { component, key, value, meta: { ttl: "forever", ...meta } });
  await hint("shop", "build", "cargo build --release", { reason: "the debug build is too slow", tags: ["build"] });
  await hint("shop", "build", "cargo build --target aarch64-apple-darwin", { scope: { os: ["darwin"] } });
  await hint("shop", "test", { type: "command", cmd: "cargo test cart" });
  await hint("api", "log", { type: "template", format: "mustache", body: "kubectl logs {{pod}}" }, { ttl: "PT2H" });
  await hint("http-proxy", "directory", { type: "path", abs: "/srv/http-proxy" }, { scope: { branch: ["release/*"] } });
  const first = { content: "Round once, half up, after the sum.", category: "decision", tags: ["money"], cwd };
  const { id } = await home.call("store_memory", first);
  await home.call("store_memory", { content: "Round after tax.", category: "decision", supersedes: [id], cwd });
  await home.call("store_memory", { content: "Use pnpm in web projects.", category: "preference", cwd });
  await home.call("start_ghap", { ...GHAP, session_id: "ghap-1", cwd });
  await home.call("resolve_ghap", {
    status: "falsified",
    result: "They still fail",
    surprise: "The clock is right",
    root_cause: { category: "test-isolation", description: "Two tests share one user" },
    lesson: { what_worked: "A user for each test", takeaway: "Give each test its own user" },
    session_id: "ghap-1",
  });
  await home.call("start_ghap", { ...GHAP, goal: "The importer drops the last row", session_id: "ghap-2", cwd });
}

/** A text of a megabyte without a space. */
export const LONG = "x".repeat(1 << 20);

/** Stores hostile texts in every field that the views show. */
export async function seedHostile(home) {
  const name = `evil"><img src=x onerror=alert(1)>`;
  const cwd = home.project(name.replaceAll("/", ""));
  const at = Date.now() - 3_600_000;
  for (const [index, text] of HOSTILE.entries()) {
    const session = `evil-${index}-${text.replace(/[^a-z<>"'=]/g, "")}`;
    const actions = [
      ["edit", `src/${text.replaceAll("/", "_").replaceAll("\0", "")}.rs`, `hostile ${text}`],
      ["fail", `hostile ${text}`, `Exit code 1\n${text}`],
      ["run", `hostile ${text}`, text],
      ["fail", "cargo test", `Exit code 101\ntest hostile${index}::${text} ... FAILED`],
    ];
    await home.hooks(turn(session, cwd, at + index * 300_000, { prompt: `hostile ${text}`, actions, answer: `hostile ${text}` }));
    const clean = text.replaceAll("\0", "").replaceAll("\u0007", "");
    await home.call("set_hint", {
      component: `hostile${index}`,
      key: "key",
      value: clean,
      meta: { ttl: "forever", reason: clean },
    });
    await home.call("store_memory", { content: `hostile ${clean}`, category: "fact", cwd });
    await home.call("start_ghap", { ...GHAP, goal: `hostile ${clean}`, session_id: `evil-ghap-${index}`, cwd });
  }
  await home.hooks(turn("evil-long", cwd, at, { prompt: `hostile ${LONG}`, actions: [["run", `echo ${LONG}`, "ok"]] }));
}

/** Fails if a stored text became an element, a handler or a changed title. */
export async function foreignElements(page) {
  return page.evaluate(() => {
    const inside = [...document.querySelectorAll("#main img, #main script, #main iframe, #main b, #main [onerror]")];
    const links = [...document.querySelectorAll("a[href]")].filter((a) => new URL(a.href).origin !== location.origin);
    const hidden = /[\u0000\u0007\u202e\u2066]/.test(document.body.innerText);
    const spoken = [...document.querySelectorAll("[title], [aria-label], [placeholder]")].filter((element) =>
      ["title", "aria-label", "placeholder"].some((name) => /[\u0000\u0007\u202e\u2066]/.test(element.getAttribute(name))),
    );
    return [...inside, ...links, ...spoken].map((element) => element.outerHTML).concat(hidden ? ["a hidden character"] : []);
  });
}
